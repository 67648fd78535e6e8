"""Whether to believe hubs: agreement beyond strength, and reliability, by hand, against oracles, and in the studies."""

import importlib.util
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hub_graphs import KARATE, correlations, load_connectivity
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, rankdata, spearmanr

from assets.studies.plausibility import subject_plausibility
from assets.studies.split_half_reliability import (
    hub_likeness,
    intraclass_correlation,
    rank_likeness,
    split_half_reliability,
)
from biobgt.base.errors import InputError
from biobgt.base.files import asset
from biobgt.data.atlas import load_atlas, numbered_atlas
from biobgt.data.cohort import Subject
from biobgt.data.connectivity import functional_connectivity, graph_from_connectivity
from biobgt.data.graph import ConnectomeSettings, random_graph
from biobgt.hubs import (
    HUB_MEASURES,
    control_spectra,
    fc_strength,
    node_efficiency,
    node_entanglement,
    summarise_plausibility,
)
from biobgt.hubs.agreement import (
    COMPARISONS,
    GraphAgreement,
    graph_agreement,
    partial_spearman,
    set_against_nulls,
    strength_and_degree,
    verdict_sentence,
)
from biobgt.hubs.measures import LITTLE_MEAN_CONNECTIVITY, NULL_GRAPHS
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


def first_order_partial(x, y, z):
    """The textbook formula for one variable held."""
    xy, xz, yz = (spearmanr(*pair)[0] for pair in ((x, y), (x, z), (y, z)))
    return (xy - xz * yz) / np.sqrt((1 - xz**2) * (1 - yz**2))


@settings(max_examples=40, deadline=None)
@given(st.integers(8, 40), st.integers(0, 10_000))
def test_one_held_variable_gives_the_textbook_formula(n, seed):
    rng = np.random.default_rng(seed)
    x, y, z = rng.normal(size=(3, n)) + rng.normal(size=n)
    assert partial_spearman(x, y, z[None])[0] == pytest.approx(first_order_partial(x, y, z), abs=1e-10)


def test_two_held_variables_leave_what_two_regressions_leave():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 60))
    values, reference = np.stack([a + b + rng.normal(size=60), a - b]), a + 2 * b + rng.normal(size=60)
    design = np.column_stack([np.ones(60), rankdata(a), rankdata(b)])
    hat = design @ np.linalg.pinv(design)
    left = [rankdata(row) - hat @ rankdata(row) for row in (*values, reference)]
    expected = [np.corrcoef(left[i], left[2])[0, 1] for i in range(2)]
    np.testing.assert_allclose(partial_spearman(values, reference, np.stack([a, b])), expected, atol=1e-12)


def test_nothing_is_left_of_what_is_itself_held():
    rng = np.random.default_rng(0)
    x, strength, degree = rng.normal(size=(3, 30))
    held = np.stack([strength, degree])
    assert np.isnan(partial_spearman(x, np.exp(strength), held)).all()  # the same ranks
    assert np.isnan(partial_spearman(np.ones((1, 30)), x, held)).all()


def test_agreement_through_strength_alone_is_no_agreement_beyond_it():
    rng = np.random.default_rng(3)
    strength = rng.normal(size=2000)
    x, y = strength + 0.5 * rng.normal(size=2000), strength + 0.5 * rng.normal(size=2000)
    assert spearmanr(x, y)[0] > 0.7
    assert abs(partial_spearman(x, y, np.stack([strength, rng.normal(size=2000)]))[0]) < 0.06


def test_strength_and_degree_by_hand():
    weights = np.array([[0, 0.5, 0.25], [0.5, 0, 0], [0.25, 0, 0]])
    np.testing.assert_array_equal(strength_and_degree(weights), [[0.75, 0.5, 0.25], [2, 1, 1]])


def test_a_graph_and_its_null_are_measured_alike():
    own = graph_agreement(KARATE, (0.5, 3.0))
    ne, neff, held = node_entanglement(KARATE), node_efficiency(KARATE), strength_and_degree(KARATE)
    assert own.at(0.5)["efficiency"] == pytest.approx(spearmanr(ne, neff)[0])
    assert own.at(0.5)["partial"] == pytest.approx(partial_spearman(ne, neff, held)[0])
    assert own.at(0.5)["strength"] == pytest.approx(spearmanr(ne, held[0])[0])
    again = graph_agreement(KARATE, (0.5, 3.0), spectra=control_spectra(KARATE))
    assert again.at(3.0) == own.at(3.0)
    null = graph_agreement(KARATE, (0.5,), null=4)
    assert null.at(0.5) == graph_agreement(random_graph(KARATE, seed=4), (0.5,)).at(0.5)
    with pytest.raises(InputError, match="γ = 2"):
        own.at(2.0)


def test_regions_without_signal_are_left_out():
    with_silent = np.zeros((36, 36))
    with_silent[:34, :34] = KARATE
    signal = np.arange(36) < 34
    ne, neff, held = (
        measure(with_silent)[..., signal] for measure in (node_entanglement, node_efficiency, strength_and_degree)
    )
    found = graph_agreement(with_silent, (0.5,), has_signal=signal).at(0.5)
    assert found["partial"] == pytest.approx(partial_spearman(ne, neff, held)[0])
    assert found["efficiency"] == pytest.approx(spearmanr(ne, neff)[0])
    assert found["efficiency"] < graph_agreement(with_silent, (0.5,)).at(0.5)["efficiency"]  # zeros feign agreement


def agreement(value):
    return GraphAgreement((0.5,), {name: np.array([value]) for name in COMPARISONS})


@pytest.mark.parametrize(
    ("own", "nulls", "p"),
    [
        (0.9, np.linspace(0, 0.5, 39), 0.05),  # above all: 2 · 1/40
        (-0.9, np.linspace(0, 0.5, 39), 0.05),  # below all counts as much
        (0.25, np.linspace(0, 0.5, 39), 1.0),
        (0.5, np.array([0.1, 0.5, 0.9]), 1.0),
    ],
)
def test_p_is_two_sided_and_counts_the_own_graph(own, nulls, p):
    found = set_against_nulls(agreement(own), [agreement(value) for value in nulls], 0.5)["partial"]
    assert (found.rho, found.n_nulls) == (own, len(nulls))
    assert found.p == pytest.approx(p)
    assert (found.null_low, found.null_high) == (nulls.min(), nulls.max())
    assert found.null_mean == pytest.approx(nulls.mean())


def test_p_can_reach_five_percent_and_is_none_where_nothing_is_defined():
    nulls = [agreement(value) for value in np.linspace(0, 0.5, NULL_GRAPHS)]
    assert set_against_nulls(agreement(0.9), nulls, 0.5)["partial"].p == pytest.approx(0.05)
    assert set_against_nulls(agreement(0.9), nulls[1:], 0.5)["partial"].p > 0.05
    for own, null in ((np.nan, 0.5), (0.5, np.nan)):
        assert np.isnan(set_against_nulls(agreement(own), [agreement(null)], 0.5)["partial"].p)


@pytest.mark.parametrize(
    ("partial", "said", "p"),
    [
        (-0.19, "account for", "p = 0.05, the smallest that 39 null graphs can give"),
        (0.3, "goes beyond", "p = 0.05, the smallest that 39 null graphs can give"),
        (0.0, "No agreement", "p = 1"),
        (0.092, "No agreement", "p = 0.1"),
    ],
)
def test_one_sentence_is_the_verdict(partial, said, p):
    """ρ lies above that of its null graphs in every case; what is left with strength and degree held decides."""
    nulls = [
        GraphAgreement((0.5,), {"efficiency": np.array([0.5]), "partial": np.array([value])})
        for value in np.linspace(-0.095, 0.095, NULL_GRAPHS)
    ]
    own = GraphAgreement((0.5,), {"efficiency": np.array([0.68]), "partial": np.array([partial])})
    sentence = verdict_sentence(set_against_nulls(own, nulls, 0.5))
    assert sentence.count(".") == sentence.count("0.") + 1, "one sentence"
    assert said in sentence
    assert f"({p})" in sentence
    assert "(ρ = 0.68)" in sentence.replace("+", "")


def test_subject_table_holds_what_the_measures_give():
    fc = correlations(30, 0)
    table = subject_plausibility(fc, subject="s", gammas=(0.5, 3), levels=(0.0, 0.2), perturbations=("control",))
    assert len(table) == 2 * 2 * 2 * 2  # levels, signs, references, γ
    graph = graph_from_connectivity(fc, ConnectomeSettings(level=0.2))
    row = table.query("level == 0.2 and gamma == 0.5 and not signed and reference == 'node efficiency'").iloc[0]
    expected = spearmanr(node_entanglement(graph), node_efficiency(graph))[0]
    assert row["spearman"] == pytest.approx(expected, abs=1e-12)
    row = table.query("level == 0.2 and gamma == 0.5 and signed and reference == 'FC strength'").iloc[0]
    expected = kendalltau(node_entanglement(graph, signed=True), fc_strength(fc))[0]
    assert row["kendall"] == pytest.approx(expected, abs=1e-12)


def test_silent_regions_are_left_out_and_counted():
    silent = np.zeros((32, 32))
    silent[:30, :30] = correlations(30, 0)
    table = subject_plausibility(silent, levels=(0.2,), gammas=(0.5,), perturbations=["control"])
    assert set(table["n_regions"]) == {30}
    graph = graph_from_connectivity(silent, ConnectomeSettings(level=0.2))
    ne, neff = node_entanglement(graph), node_efficiency(graph)
    assert (ne[30:] == 0).all()
    value = table.query("not signed and reference == 'node efficiency'")["spearman"].item()
    assert value == pytest.approx(spearmanr(ne[:30], neff[:30])[0], abs=1e-12)
    assert abs(value - spearmanr(ne, neff)[0]) > 1e-3


def test_bootstrap_interval_is_that_of_a_mean():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "subject": [f"s{i}" for i in range(400)],
            "level": 0.3,
            "perturbation": "control",
            "signed": False,
            "gamma": 0.5,
            "reference": "node efficiency",
            "spearman": rng.normal(0.5, 0.2, 400),
            "kendall": np.nan,
            "overlap": 0.5,
        }
    )
    summary = summarise_plausibility(frame, n_boot=4000).set_index("measure")
    half_width = 1.96 * frame["spearman"].std() / np.sqrt(400)
    assert summary.loc["spearman", "high"] - summary.loc["spearman", "mean"] == pytest.approx(half_width, rel=0.1)
    assert summary.loc["overlap", "low"] == summary.loc["overlap", "high"] == 0.5
    assert summary.loc["kendall", "n_subjects"] == 0
    assert np.isnan(summary.loc["kendall", "low"])


def test_agreement_depends_on_gamma_in_real_subjects(shared_data):
    """The measured claim behind the defaults, on three of its subjects: agreement up to γ = 1, hardly beyond."""
    tables = [
        subject_plausibility(
            load_connectivity(shared_data, i),
            subject=str(i),
            levels=(0.3,),
            gammas=(0.5, 30),
            perturbations=["control"],
        )
        for i in range(3)
    ]
    summary = summarise_plausibility(pd.concat(tables), n_boot=100)
    chosen = summary.query("measure == 'spearman' and not signed and reference == 'node efficiency'")
    mean = chosen.set_index("gamma")["mean"]
    assert mean[0.5] > 0.5
    assert mean[30] < 0.4


def test_a_study_refuses_what_it_cannot_measure():
    fc = correlations(15, 0)
    with pytest.raises(InputError, match="largest weight"):
        subject_plausibility(fc, levels=(1.0,), gammas=(0.5,))
    with pytest.raises(InputError, match="diffusion time"):
        subject_plausibility(fc, gammas=(-1,))
    with pytest.raises(InputError, match="confidence"):
        summarise_plausibility(subject_plausibility(fc, levels=(0.1,)), confidence=95)


PROFILES = np.array([[1.0, 2, 3, 4, 5], [5, 4, 3, 2, 1], [3, 1, 4, 2, 5]])


def test_spearman_brown_by_hand():
    np.testing.assert_allclose(spearman_brown(np.array([0.0, 0.5, 1.0])), [0, 2 / 3, 1])
    assert np.isnan(spearman_brown(np.array([-1.0, np.nan]))).all()


def test_halves_that_repeat_are_perfectly_reliable():
    found = split_half_reliability(PROFILES, PROFILES * 2 + 1, top=0.4)
    assert found.within.mean == found.within.low == found.within.high == pytest.approx(1)
    assert found.whole == pytest.approx(1)
    assert found.identified == 1
    assert found.overlap_within.mean == 1
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


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(3, 30))
def test_icc_is_one_for_equal_halves_and_never_above(seed, n_people):
    rng = np.random.default_rng(seed)
    first = rng.normal(size=(n_people, 4))
    np.testing.assert_allclose(intraclass_correlation(first, first), 1)
    assert (intraclass_correlation(first, first + rng.normal(size=(n_people, 4))) < 1).all()
    assert (intraclass_correlation(first, first + 3) < 1).all()  # absolute agreement: a shift counts


@settings(max_examples=20, deadline=None)
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
    halves = half_subjects(subject)
    fc = [functional_connectivity(half.series) for half in halves]
    graphs = [graph_from_connectivity(matrix) for matrix in fc]
    for name, values in {
        "fc_strength": [fc_strength(matrix)[known] for matrix in fc],
        "node_efficiency": [node_efficiency(graph)[known] for graph in graphs],
    }.items():
        rho = spearmanr(*values)[0]
        assert table.loc[name, "halves"] == pytest.approx(rho)
        assert table.loc[name, "whole"] == pytest.approx(2 * rho / (1 + rho))
    assert np.isnan(hub_values(first, 0.5)["degree"][7])


def test_vertex_entanglement_is_turned_so_that_hubs_are_high(subject):
    first = measure_half(subject, numbered_atlas(30), None, 0)
    turned = hub_values(first, 0.5)["vertex_entanglement"]
    assert np.nanmax(turned) > 0
    np.testing.assert_allclose(turned[:7], -first.measures["vertex_entanglement"][:7])


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
    assert study.table is not None
    for cohort in study.cohorts:
        assert (
            study.table.loc["node_entanglement", f"whole {cohort}"]
            < study.table.loc["node_efficiency", f"whole {cohort}"]
        )


@pytest.mark.parametrize(
    ("settings", "atlas", "words"),
    [
        (ConnectomeSettings(), "aal90", "the study is on CC200, this subject on AAL-90"),
        (ConnectomeSettings(level=0.2), "cc200", "the study has Pearson correlation; negative connections set to zero"),
        (ConnectomeSettings(threshold="proportional", level=0.1), "power264", "the study is on CC200"),
    ],
)
def test_nothing_is_shown_for_graphs_of_another_kind(settings, atlas, words):
    study = study_reliability(settings, load_atlas(atlas))
    assert study.table is None
    assert words in study.note


def test_ne_has_no_norm_at_a_scale_that_was_not_measured():
    at_two = study_reliability(ConnectomeSettings(), load_atlas("cc200"), gamma=2.0)
    assert at_two.table is not None
    assert "node_entanglement" not in at_two.table.index
    removed = study_reliability(ConnectomeSettings(), load_atlas("cc200"), perturbation="remove")
    assert removed.table is not None
    assert "node_entanglement" not in removed.table.index
    assert "control graph only" in removed.note


STUDIES = asset("studies")
PAGE = STUDIES.parents[1] / "docs" / "plausibility.md"
REGRESSED = "CNI-2019, global signal regressed"


def script(name):
    """A study's script as a module."""
    spec = importlib.util.spec_from_file_location(name, STUDIES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def table():
    return pd.read_csv(STUDIES / "plausibility_beyond_strength.csv")


def at(table, cohort, graphs, reference, measure="NE", gamma=0.5):
    chosen = (table["cohort"] == cohort) & (table["graphs"] == graphs) & (table["reference"] == reference)
    chosen &= (table["measure"] == measure) & ((table["gamma"] == gamma) | table["gamma"].isna())
    return table[chosen].iloc[0]


def test_no_subject_and_every_condition(table):
    assert "subject" not in table.columns
    assert set(table["cohort"]) == {"ABIDE", "CNI-2019", REGRESSED}
    assert set(table["graphs"]) == {"at least 0", "at least 0.3", "strongest 15%"}
    assert {"NE", "VE"} <= set(table["measure"])
    assert table["n_people"].min() >= 40


def test_nothing_is_left_of_the_agreement_once_strength_and_degree_are_held(table):
    for cohort in ("ABIDE", REGRESSED):
        for graphs in ("at least 0.3", "strongest 15%"):
            row = at(table, cohort, graphs, "NEff")
            assert row["spearman"] > 0.6
            assert row["partial_high"] < 0
            assert row["partial_excess_high"] < 0  # nor more than in null graphs
    assert at(table, "CNI-2019", "at least 0.3", "NEff")["partial_high"] < 0.1


def test_the_global_signal_decides_whether_ne_follows_fc_strength(table):
    reference = "FC strength, all connections"
    kept, regressed = (at(table, cohort, "at least 0.3", reference) for cohort in ("CNI-2019", REGRESSED))
    assert kept["spearman_low"] > 0.7
    assert regressed["spearman_high"] < 0.2


def test_the_limit_of_mean_connectivity_lies_between_the_cohorts():
    table = pd.read_csv(STUDIES / "plausibility_connectivity.csv")
    means = table[table["value"] == "mean correlation"].set_index("cohort")
    assert means.loc["ABIDE", "highest"] < LITTLE_MEAN_CONNECTIVITY < means.loc["CNI-2019", "lowest"]
    assert means.loc[REGRESSED, "highest"] < LITTLE_MEAN_CONNECTIVITY
    assert means["n_people"].to_dict() == {"ABIDE": 899, "CNI-2019": 240, REGRESSED: 240}


def test_regressing_the_global_signal_out_leaves_nothing_of_it():
    rng = np.random.default_rng(0)
    series = rng.normal(size=(80, 12)) + rng.normal(size=(80, 1)) * rng.uniform(0.5, 2, 12)
    series[:, 3] = 0
    left = script("beyond_strength").without_global_signal(series)
    active = np.arange(12) != 3
    signal = series[:, active].mean(axis=1)
    np.testing.assert_allclose(left.T @ (signal - signal.mean()), 0, atol=1e-9)
    assert (left[:, 3] == 0).all()
    assert np.abs(np.corrcoef(series[:, active].T)).mean() > 2 * abs(np.corrcoef(left[:, active].T).mean())


def test_the_page_holds_the_tables_as_they_are_written(tmp_path, monkeypatch):
    tables = script("tables")
    copy = tmp_path / "plausibility.md"
    shutil.copy(PAGE, copy)
    monkeypatch.setattr(tables, "PAGE", Path(copy))
    tables.main()
    assert copy.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")
