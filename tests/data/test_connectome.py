import gc
from dataclasses import replace
from typing import get_args
from weakref import ref

import bct
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from nilearn.connectome import ConnectivityMeasure
from sklearn.covariance import EmpiricalCovariance, LedoitWolf

from biobgt.base.errors import InputError
from biobgt.data import connectivity as connectome
from biobgt.data.atlas import numbered_atlas
from biobgt.data.cohort import Cohort, Subject
from biobgt.data.connectivity import (
    TangentSpace,
    brain_graph,
    cohort_connectivity,
    functional_connectivity,
    graph_from_connectivity,
    subject_connectivity,
)
from biobgt.data.graph import (
    ESTIMATORS,
    KINDS,
    SIGN_RULES,
    BrainGraph,
    ConnectomeSettings,
    Estimator,
    SignRule,
    check_connectivity,
    estimators_for,
)
from biobgt.results.measured import Measured


@pytest.fixture
def series(rng):
    shared = rng.standard_normal((120, 1))
    return rng.standard_normal((120, 12)) + 0.8 * shared


@pytest.fixture
def cohort(rng):
    people = tuple(Subject(id=f"s{i}", series=rng.standard_normal((60, 8)).cumsum(axis=0)) for i in range(6))
    return Cohort(name="c", subjects=people, atlas=numbered_atlas(8))


def symmetric(values: np.ndarray) -> np.ndarray:
    matrix = np.triu(values, 1)
    return matrix + matrix.T


matrices = arrays(np.float64, (7, 7), elements=st.floats(-1, 1)).map(symmetric)


def test_pearson_by_hand_by_numpy_and_by_nilearn(series):
    three = np.array([[1.0, 2, 3], [2, 4, 2], [3, 6, 1], [4, 8, 0]])
    np.testing.assert_allclose(functional_connectivity(three), [[1, 1, -1], [1, 1, -1], [-1, -1, 1]])
    fc = functional_connectivity(series)
    np.testing.assert_allclose(fc, np.corrcoef(series.T), atol=1e-12)
    nilearn = ConnectivityMeasure(cov_estimator=EmpiricalCovariance(), kind="correlation")
    np.testing.assert_allclose(fc, nilearn.fit_transform([series])[0], atol=1e-10)


def standardised(series: np.ndarray) -> np.ndarray:
    return (series - series.mean(axis=0)) / series.std(axis=0, ddof=1)


@pytest.mark.parametrize(("estimator", "kind"), [("ledoit-wolf", "correlation"), ("partial", "partial correlation")])
def test_shrunk_estimators_equal_nilearn(series, estimator, kind):
    expected = ConnectivityMeasure(cov_estimator=LedoitWolf(), kind=kind).fit_transform([standardised(series)])[0]
    np.testing.assert_allclose(functional_connectivity(series, estimator=estimator), expected, atol=1e-10)


OF_ONE = pytest.mark.parametrize("estimator", ["pearson", "fisher-z", "partial", "ledoit-wolf"])


@OF_ONE
def test_the_scale_of_a_region_does_not_matter(series, estimator, rng):
    rescaled = series * rng.uniform(0.1, 100, 12) + rng.uniform(-1000, 1000, 12)
    before, after = (functional_connectivity(values, estimator=estimator) for values in (series, rescaled))
    np.testing.assert_allclose(after, before, atol=1e-9)


def test_fisher_z(series):
    z = functional_connectivity(series, estimator="fisher-z")
    off = ~np.eye(12, dtype=bool)
    np.testing.assert_allclose(np.tanh(z[off]), functional_connectivity(series)[off])
    assert (np.diag(z) == 0).all()
    identical = np.column_stack([series[:, 0], series[:, 0]])
    assert np.isfinite(functional_connectivity(identical, estimator="fisher-z")).all()


def test_tangent_equals_nilearn_and_applies_to_new_subjects(cohort):
    data = [standardised(subject.series) for subject in cohort]
    expected = ConnectivityMeasure(cov_estimator=LedoitWolf(), kind="tangent").fit(data[:4]).transform(data)
    space = TangentSpace.fit(cohort.subjects[:4])
    np.testing.assert_allclose(space.transform(cohort), expected, atol=1e-8)
    np.testing.assert_allclose(space.transform(cohort.subjects[5:])[0], expected[5], atol=1e-8)


@OF_ONE
def test_silent_regions_connect_to_nothing(series, estimator):
    series = series.copy()
    series[:, 3] = 0.1  # 0.1 has no exact binary form: centring leaves dust
    fc = functional_connectivity(series, estimator=estimator)
    assert np.isfinite(fc).all()
    np.testing.assert_allclose(np.delete(fc[3], 3), 0, atol=1e-12)


@OF_ONE
@pytest.mark.parametrize("rows", [slice(None), 5])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_holes_in_series_are_refused_by_column(series, estimator, rows, value):
    holed = series.copy()
    holed[rows, [2, 4]] = value
    with pytest.raises(InputError, match=r"2 regions hold NaN or infinite values \(column 3, 5, counted"):
        functional_connectivity(holed, estimator=estimator)
    with pytest.raises(InputError, match="column 3, 5"):
        TangentSpace.fit([Subject("holed", series=holed), Subject("whole", series=series)])


def test_a_brought_matrix_stands_for_itself():
    matrix = np.array([[1, 0.5, 0], [0.5, 1, -0.2], [0, -0.2, 1]])
    person = Subject(id="m", connectivity=matrix)
    np.testing.assert_array_equal(subject_connectivity(person), matrix)
    assert subject_connectivity(person, estimator="fisher-z")[0, 1] == pytest.approx(np.arctanh(0.5))
    with pytest.raises(InputError, match="needs its region series"):
        subject_connectivity(person, estimator="partial")
    counts = Subject(id="m", connectivity=matrix * 100)
    with pytest.raises(InputError, match="beyond ±1"):
        subject_connectivity(counts, estimator="fisher-z")


def test_whoever_asks_gets_the_same_matrix_for_as_long_as_the_subject_is_there(series):
    subject = Subject("one", series=series)
    matrix = subject_connectivity(subject)
    assert subject_connectivity(replace(subject, group="NC")) is matrix
    assert subject_connectivity(subject, estimator="fisher-z") is not matrix
    for shared in (matrix, subject.series):
        with pytest.raises(ValueError, match="read-only"):
            shared[0, 1] = 0
    gone = ref(matrix)
    del subject, matrix, shared
    gc.collect()
    assert gone() is None


def test_matrices_that_are_not_asked_for_again_take_little_room(cohort, monkeypatch):
    monkeypatch.setattr(connectome, "_RECENT_BYTES", 3 * cohort.atlas.n_regions**2 * 8)
    made = [ref(subject_connectivity(subject)) for subject in cohort]
    assert sum(matrix() is not None for matrix in made) <= 3 < len(made)


def test_cohort_connectivity_is_that_of_each_subject(cohort):
    stack = cohort_connectivity(cohort)
    assert stack.shape == (6, cohort.atlas.n_regions, cohort.atlas.n_regions)
    np.testing.assert_allclose(stack[2], np.corrcoef(cohort.subjects[2].series.T), atol=1e-12)


@given(matrices, st.floats(0, 1))
def test_absolute_threshold_keeps_what_is_strong(matrix, level):
    settings = ConnectomeSettings(sign="signed", threshold="absolute", level=level)
    kept = np.where(np.abs(matrix) >= level, matrix, 0)
    if matrix.any() and not kept.any():
        with pytest.raises(InputError, match="no connection left"):
            graph_from_connectivity(matrix, settings)
        return
    np.testing.assert_array_equal(graph_from_connectivity(matrix, settings).weights, kept)


@given(arrays(np.float64, (7, 7), elements=st.floats(0.01, 1), unique=True).map(symmetric), st.floats(0.05, 1))
def test_proportional_threshold_equals_bctpy(matrix, share):
    settings = ConnectomeSettings(threshold="proportional", level=share)
    ours = graph_from_connectivity(matrix, settings)
    assert ours.n_edges == round(share * 21)
    # bctpy counts both triangles and rounds to even, so the two agree where that makes no difference.
    if round(share * 42) == 2 * round(share * 21):
        np.testing.assert_array_equal(ours.weights, bct.threshold_proportional(matrix, share))


@given(matrices)
def test_sign_rules(matrix):
    for sign, expected in {"positive": np.maximum(matrix, 0), "absolute": np.abs(matrix), "signed": matrix}.items():
        settings = ConnectomeSettings(sign=sign, threshold="none")
        if matrix.any() and not expected.any():
            with pytest.raises(InputError, match="sign rule"):
                graph_from_connectivity(matrix, settings)
        else:
            np.testing.assert_array_equal(graph_from_connectivity(matrix, settings).weights, expected)


def test_proportional_threshold_ranks_signed_weights_by_strength():
    matrix = symmetric(np.array([[0, -0.9, 0.1], [0, 0, 0.2], [0, 0, 0]], dtype=float))
    settings = ConnectomeSettings(sign="signed", threshold="proportional", level=1 / 3)
    assert graph_from_connectivity(matrix, settings).weights[0, 1] == -0.9


@given(arrays(np.float64, (7, 7), elements=st.floats(0.01, 1), unique=True).map(symmetric))
def test_backbone_is_the_maximum_spanning_tree(matrix):
    settings = ConnectomeSettings(threshold="absolute", level=2.0, backbone=True)
    graph = graph_from_connectivity(matrix, settings)
    expected = nx.maximum_spanning_tree(nx.from_numpy_array(matrix))
    assert {frozenset(edge) for edge in np.argwhere(graph.weights)} == {frozenset(edge) for edge in expected.edges}


def test_graph_of_a_subject_is_read_only_and_knows_its_settings(series):
    graph = brain_graph(Subject(id="s", series=series, simulated=True), numbered_atlas(12))
    assert graph.settings == ConnectomeSettings()
    assert graph.simulated
    assert 0 < graph.density <= 1
    with pytest.raises(ValueError, match="read-only"):
        graph.weights[0, 1] = 1


def test_a_graph_in_the_tangent_space_of_its_cohort(cohort):
    settings = ConnectomeSettings(estimator="tangent", sign="signed", threshold="none")
    expected = cohort_connectivity(cohort, estimator="tangent")[3]
    np.fill_diagonal(expected, 0)
    graph = Measured(cohort, settings=settings).of(cohort.ids[3]).graph()
    np.testing.assert_allclose(graph.weights, expected, atol=1e-10)


@pytest.mark.parametrize(
    ("matrix", "sentence"),
    [
        (np.ones((2, 3)), "square"),
        (np.array([[0, 1], [0.5, 0]]), "not symmetric: 1 from region 1 to 2 and 0.5 back"),
        (np.array([[0, np.nan], [np.nan, 0]]), "not finite between regions 1 and 2"),
        (np.zeros((1, 1)), "at least 2"),
    ],
)
def test_bad_matrices_get_a_sentence(matrix, sentence):
    with pytest.raises(InputError, match=sentence):
        check_connectivity(matrix)


def test_graphs_refuse_loops_and_the_wrong_atlas_and_average_rounding():
    checked = check_connectivity(np.array([[0, 0.5], [0.5 + 1e-9, 0]]))
    assert checked[0, 1] == checked[1, 0]
    with pytest.raises(InputError, match="to itself"):
        BrainGraph(np.eye(3), numbered_atlas(3))
    with pytest.raises(InputError, match="3 regions and atlas unknown4 has 4"):
        BrainGraph(np.zeros((3, 3)), numbered_atlas(4))


@pytest.mark.parametrize(
    "settings",
    [
        {"estimator": "covariance"},
        {"sign": "negative"},
        {"threshold": "half"},
        {"level": -0.1},
        {"level": float("nan")},
        {"threshold": "proportional", "level": 1.5},
        {"backbone": "yes"},
        {"level": "0.3"},
        {"level": float("inf")},
    ],
)
def test_bad_settings_get_a_sentence(settings):
    with pytest.raises(InputError):
        ConnectomeSettings(**settings)


def test_every_threshold_has_its_own_level_by_default():
    levels = {rule: ConnectomeSettings(threshold=rule).level for rule in ("absolute", "proportional", "none")}
    assert levels == {"absolute": 0.3, "proportional": 0.1, "none": 0.3}
    assert ConnectomeSettings() == ConnectomeSettings(level=0.3)


def test_settings_in_words():
    assert tuple(ESTIMATORS) == get_args(Estimator)
    assert tuple(SIGN_RULES) == get_args(SignRule)
    words = "Pearson correlation; negative connections set to zero; connections of at least 0.3"
    assert ConnectomeSettings().describe() == words
    assert ConnectomeSettings(sign="signed").kept == "connections of at least 0.3 in absolute value"
    words = ConnectomeSettings(threshold="proportional", level=0.15, backbone=True).describe()
    assert "the strongest 15.0 % of pairs, with the maximum spanning tree" in words


def test_structural_weights_may_be_logarithms_or_ranks():
    counts = np.zeros((4, 4))
    for (row, column), count in {(0, 1): 2, (0, 2): 6, (1, 2): 2, (2, 3): 62}.items():
        counts[row, column] = counts[column, row] = count
    subject = Subject(id="s", connectivity=counts)
    pairs = np.triu_indices(4, 1)
    log = subject_connectivity(subject, estimator="log-weights")
    np.testing.assert_allclose(log[pairs], np.log([2, 4, 1, 2, 1, 32]))  # 1 + count / 2, and 0 without a connection
    ranked = subject_connectivity(subject, estimator="rank-weights")
    np.testing.assert_allclose(ranked[pairs], [1.5 / 4, 3 / 4, 0, 1.5 / 4, 0, 1])
    np.testing.assert_array_equal(ranked, ranked.T)
    scaled = Subject(id="s", connectivity=counts * 1e-7)  # normalised weights are as good as counts
    np.testing.assert_allclose(subject_connectivity(scaled, estimator="log-weights"), log)
    graph = brain_graph(
        subject, numbered_atlas(4), ConnectomeSettings("rank-weights", threshold="proportional", level=0.34)
    )
    assert graph.n_edges == 2
    with pytest.raises(InputError, match="negative"):
        subject_connectivity(Subject(id="s", connectivity=-counts), estimator="rank-weights")
    with pytest.raises(InputError, match="streamline counts"):
        functional_connectivity(np.random.default_rng(0).standard_normal((20, 4)), estimator="log-weights")


def test_only_estimators_that_fit_the_kind_of_connectivity_are_offered():
    assert estimators_for(KINDS["structural"]) == ("pearson", "log-weights", "rank-weights")
    assert estimators_for(KINDS["estimated"]) == ("pearson", "fisher-z", "partial", "ledoit-wolf", "tangent")
    weights = np.triu(np.arange(1.0, 10.0).reshape(3, 3), 1)
    cohort = Cohort("c", (Subject(id="s", connectivity=weights + weights.T),), numbered_atlas(3), given="structural")
    assert ConnectomeSettings.declared()["estimator"].offered(cohort) == ("pearson", "log-weights", "rank-weights")
    assert cohort.kind.named(ESTIMATORS["pearson"].title) == "Weights as given"
    measured = Measured(cohort, subject="s", settings=ConnectomeSettings("log-weights", threshold="none"))
    assert measured.quantity == "log weight"
    assert "log weight" in measured.settings.describe(cohort.kind)
    with pytest.raises(InputError, match="Choose one of: pearson, log-weights"):
        measured.of("s", ConnectomeSettings("partial")).connectivity()


def test_one_time_point_and_single_subject_tangent(series):
    with pytest.raises(InputError, match="at least 2 time points"):
        functional_connectivity(series[:1])
    with pytest.raises(InputError, match="fitted on a cohort"):
        functional_connectivity(series, estimator="tangent")
    with pytest.raises(InputError, match="at least 2 subjects"):
        TangentSpace.fit([Subject(id="s", series=series)])
