"""Whether two halves of a recording agree, by hand and against textbooks; and what the study found."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from assets.studies.split_half_reliability import (
    hub_likeness,
    intraclass_correlation,
    rank_likeness,
    split_half_reliability,
)
from biobgt.base.errors import InputError
from biobgt.data.atlas import load_atlas, numbered_atlas
from biobgt.data.cohort import Subject
from biobgt.data.connectivity import functional_connectivity, graph_from_connectivity
from biobgt.data.graph import ConnectomeSettings
from biobgt.hubs import HUB_MEASURES, fc_strength, node_efficiency
from biobgt.hubs.reliability import (
    HALVES,
    LEAST_TIMEPOINTS,
    _reliability_table,
    compare_halves,
    half_subjects,
    hub_values,
    measure_half,
    spearman_brown,
    study_reliability,
    why_not_split,
)

PROFILES = np.array([[1.0, 2, 3, 4, 5], [5, 4, 3, 2, 1], [3, 1, 4, 2, 5]])


def test_spearman_brown_by_hand():
    np.testing.assert_allclose(spearman_brown(np.array([0.0, 0.5, 1.0])), [0, 2 / 3, 1])
    assert np.isnan(spearman_brown(np.array([-1.0, np.nan]))).all()


def test_halves_that_repeat_are_perfectly_reliable():
    found = split_half_reliability(PROFILES, PROFILES * 2 + 1, top=0.4)
    assert found.within.mean == found.within.low == found.within.high == pytest.approx(1)
    assert (found.whole, found.identified, found.overlap_within.mean) == pytest.approx((1, 1, 1))
    others = [spearmanr(PROFILES[i], PROFILES[j])[0] for i in range(3) for j in range(3) if i != j]
    assert found.between.mean == pytest.approx(np.mean(others))
    # Top two of five: {3, 4}, {0, 1}, {2, 4}. Shared: none, one of two, none.
    assert found.overlap_between.mean == pytest.approx((0 + 0.5 + 0) / 3)


def test_a_profile_that_everybody_shares_tells_nobody_apart():
    rng = np.random.default_rng(0)
    common = np.linspace(0, 10, 50)
    first, second = (common + rng.normal(size=(40, 50)) for _ in range(2))
    found = split_half_reliability(first, second)
    assert found.within.mean > 0.9  # looks reliable
    assert found.between.mean == pytest.approx(found.within.mean, abs=0.02)  # and is the same in another person
    assert abs(np.median(found.icc)) < 0.1
    assert found.identified < 0.3


def test_icc_is_that_of_shrout_and_fleiss():
    """Judges 1 and 2 of their table of six targets, worked out by hand."""
    first, second = np.array([[9.0, 6, 8, 7, 10, 6]]).T, np.array([[2.0, 1, 4, 1, 5, 2]]).T
    # Sums of squares: people 23.4167 (5 df), halves 80.0833 (1 df), rest 3.4167 (5 df).
    people, halves, rest = 23.416667 / 5, 80.083333, 3.416667 / 5
    expected = (people - rest) / (people + rest + 2 * (halves - rest) / 6)
    assert intraclass_correlation(first, second)[0] == pytest.approx(expected, abs=1e-6)
    assert expected == pytest.approx(0.1257, abs=1e-4)


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(3, 30))
def test_icc_is_one_for_equal_halves_and_never_above(seed, n_people):
    rng = np.random.default_rng(seed)
    first = rng.normal(size=(n_people, 4))
    np.testing.assert_allclose(intraclass_correlation(first, first), 1)
    assert (intraclass_correlation(first, first + rng.normal(size=(n_people, 4))) < 1).all()
    assert (intraclass_correlation(first, first + 3) < 1).all()  # absolute agreement: a shift counts


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_likeness_of_own_halves_is_spearmans_over_regions_with_signal(seed):
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 6, size=(2, 4, 12)).astype(float)
    silent = rng.random((4, 12)) < 0.2
    first[silent] = second[silent] = np.nan
    found = rank_likeness(first, second)
    for i in range(4):
        known = ~silent[i]
        if np.ptp(first[i, known]) == 0 or np.ptp(second[i, known]) == 0:
            assert np.isnan(found[i, i])
        else:
            assert found[i, i] == pytest.approx(spearmanr(first[i, known], second[i, known])[0], abs=1e-9)


def test_order_of_people_and_of_regions_decides_nothing():
    rng = np.random.default_rng(5)
    first, second = rng.normal(size=(2, 12, 20)) + rng.normal(size=(12, 20))
    people, regions = rng.permutation(12), rng.permutation(20)
    one = split_half_reliability(first, second, n_boot=10)
    other = split_half_reliability(first[people][:, regions], second[people][:, regions], n_boot=10)
    for name in ("within", "between", "overlap_within", "overlap_between"):
        assert getattr(one, name).mean == pytest.approx(getattr(other, name).mean)
    assert (one.whole, one.identified) == pytest.approx((other.whole, other.identified))
    np.testing.assert_allclose(one.icc[regions], other.icc)


def test_what_measured_a_person_is_not_taken_for_the_person():
    """Two models of pure noise, each with a profile of its own: within one model nobody is like themselves."""
    rng = np.random.default_rng(2)
    models = np.repeat([0, 1], 60)
    first, second = 3 * rng.normal(size=(2, 40))[models] + rng.normal(size=(2, 120, 40))
    taken = split_half_reliability(first, second, n_boot=10)
    assert np.median(taken.icc) > 0.4  # the model, not the person
    assert taken.within.mean > taken.between.mean + 0.2
    found = split_half_reliability(first, second, batches=models.tolist(), n_boot=10)
    assert abs(np.median(found.icc)) < 0.1
    assert found.within.mean == pytest.approx(taken.within.mean)
    assert found.between.mean == pytest.approx(found.within.mean, abs=0.03)


def test_interval_is_over_people():
    rng = np.random.default_rng(0)
    first = rng.normal(size=(200, 30))
    second = first + rng.normal(size=(200, 30))
    found = split_half_reliability(first, second, n_boot=2000)
    own = np.diag(rank_likeness(first, second))
    half_width = 1.96 * own.std(ddof=1) / np.sqrt(200)
    assert found.within.high - found.within.mean == pytest.approx(half_width, rel=0.15)
    assert found.between.low < 0 < found.between.high


def test_ties_across_the_cut_are_no_hubs():
    flat = np.array([[1.0, 1, 1, 1, 1]])
    assert np.isnan(hub_likeness(flat, flat, top=0.2)).all()


def test_shapes_that_differ_are_named():
    with pytest.raises(InputError, match=r"\(2, 3\) and \(2, 4\)"):
        split_half_reliability(np.ones((2, 3)), np.ones((2, 4)))


@pytest.fixture
def subject():
    rng = np.random.default_rng(0)
    series = rng.normal(size=(121, 30)) + rng.normal(size=(121, 4)) @ rng.normal(size=(4, 30))
    series[:60, 7] = 0  # without signal in the first half only
    return Subject(id="s", series=series)


def test_halves_are_the_first_and_the_second_in_time(subject):
    first, second = half_subjects(subject)
    others = np.arange(30) != 7
    np.testing.assert_array_equal(first.series[:, others], subject.series[:60, others])
    np.testing.assert_array_equal(second.series[:, others], subject.series[60:120, others])
    assert first.silent_regions == second.silent_regions == (7,)


def test_own_halves_are_compared_on_every_measure(subject):
    first, second = (measure_half(subject, numbered_atlas(30), None, number) for number in HALVES)
    table = compare_halves(first, second, 0.5, measures=list(HUB_MEASURES)).set_index("measure")
    assert list(table.index) == list(HUB_MEASURES)
    known = np.arange(30) != 7
    fc = [functional_connectivity(half.series) for half in half_subjects(subject)]
    for name, values in {
        "fc_strength": [fc_strength(matrix)[known] for matrix in fc],
        "node_efficiency": [node_efficiency(graph_from_connectivity(matrix))[known] for matrix in fc],
    }.items():
        rho = spearmanr(*values)[0]
        assert table.loc[name, "halves"] == pytest.approx(rho)
        assert table.loc[name, "whole"] == pytest.approx(2 * rho / (1 + rho))
    values = hub_values(first, 0.5)
    assert np.isnan(values["degree"][7])
    # Turned, so that hubs are high.
    np.testing.assert_allclose(values["vertex_entanglement"][:7], -first.measures["vertex_entanglement"][:7])
    assert np.nanmax(values["vertex_entanglement"]) > 0


def test_who_cannot_be_split_is_told_why(subject):
    assert why_not_split(subject) is None
    short = replace(subject, series=subject.series[: LEAST_TIMEPOINTS - 1])
    assert "has 77 time points; a split half needs at least 78" in str(why_not_split(short))
    matrix = Subject(id="m", connectivity=np.eye(30))
    assert "has a connectivity matrix only" in str(why_not_split(matrix))
    assert "tangent" in str(why_not_split(subject, ConnectomeSettings(estimator="tangent")))
    for one in (short, matrix):
        with pytest.raises(InputError):
            measure_half(one, numbered_atlas(30), None, 0)


def test_every_measure_role_module_and_attention_is_there():
    table = _reliability_table()
    abide = set(table.loc[table["cohort"] == "ABIDE", "measure"])
    assert set(HUB_MEASURES) - {"node_entanglement"} <= abide
    assert {"node_entanglement γ=0.5", "within_z", "participation", "module", "role"} <= abide
    assert {"connectivity map", "attention map", "attention received"} <= abide
    assert table.groupby("cohort")["n_people"].unique().map(list).to_dict() == {"ABIDE": [899], "CNI-2019": [240]}
    assert "subject" not in table.columns
    assert (table["within_low"] <= table["within"]).all()
    assert (table["within"] <= table["within_high"]).all()
    assert (table["within"] > table["between"]).all(), "one person is more like itself than like others"


def test_ne_is_less_reliable_than_neff():
    study = study_reliability(ConnectomeSettings(), load_atlas("cc200"))
    for cohort in study.cohorts:
        whole = study.table[f"whole {cohort}"]
        assert whole["node_entanglement"] < whole["node_efficiency"]


@pytest.mark.parametrize(
    ("settings", "atlas", "words"),
    [
        (ConnectomeSettings(), "aal90", "the study is on CC200, this subject on AAL-90"),
        (ConnectomeSettings(level=0.2), "cc200", "the study has Pearson correlation; negative connections set to zero"),
    ],
)
def test_nothing_is_shown_for_graphs_of_another_kind(settings, atlas, words):
    study = study_reliability(settings, load_atlas(atlas))
    assert study.table is None
    assert words in study.note


@pytest.mark.parametrize(
    ("how", "note"), [({"gamma": 2.0}, "measured at γ ="), ({"perturbation": "remove"}, "control graph only")]
)
def test_ne_has_no_norm_where_it_was_not_measured(how, note):
    study = study_reliability(ConnectomeSettings(), load_atlas("cc200"), **how)
    assert "node_efficiency" in study.table.index
    assert "node_entanglement" not in study.table.index
    assert note in study.note
