"""Agreement of hub measures, and beyond strength: by hand, against SciPy, in null graphs, and in the studies."""

import importlib
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hub_graphs import (
    KARATE,
    correlations,
    load_connectivity,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, rankdata, spearmanr

from assets.studies.plausibility import subject_plausibility
from biobgt.base.errors import InputError
from biobgt.base.files import asset
from biobgt.data.connectivity import graph_from_connectivity
from biobgt.data.graph import ConnectomeSettings, random_graph
from biobgt.hubs import (
    control_spectra,
    fc_strength,
    measure_hubs,
    node_efficiency,
    node_entanglement,
    rank_agreement,
    summarise_plausibility,
)
from biobgt.hubs.agreement import (
    COMPARISONS,
    REFERENCES,
    GraphAgreement,
    _counted_spearman,
    _rank_correlation,
    graph_agreement,
    hub_correlation,
    partial_spearman,
    set_against_nulls,
    strength_and_degree,
    subject_sweep,
    verdict_sentence,
)
from biobgt.hubs.measures import LITTLE_MEAN_CONNECTIVITY, NULL_GRAPHS


@settings(max_examples=40)
@given(st.integers(3, 30), st.integers(0, 10_000), st.integers(1, 6))
def test_rank_correlations_match_scipy_with_ties(n, seed, n_values):
    rng = np.random.default_rng(seed)
    values, reference = rng.integers(0, n_values + 1, (3, n)).astype(float), rng.integers(0, 5, n).astype(float)
    agreement = rank_agreement(values, reference)
    for i, row in enumerate(values):
        if np.ptp(row) == 0 or np.ptp(reference) == 0:
            assert all(np.isnan(column[i]) for column in agreement.values())
        else:
            assert agreement["spearman"][i] == pytest.approx(spearmanr(row, reference)[0], abs=1e-12)
            assert agreement["kendall"][i] == pytest.approx(kendalltau(row, reference)[0], abs=1e-12)


def test_overlap_by_hand():
    reference = np.arange(10.0)
    values = np.array([reference, -reference, np.roll(reference, -1)])
    np.testing.assert_allclose(rank_agreement(values, reference, top=0.2)["overlap"], [1, 0, 0.5])
    nothing = rank_agreement(np.empty((2, 0)), np.empty(0))
    assert all(np.isnan(column).all() and len(column) == 2 for column in nothing.values())


def test_sweep_is_that_of_the_plausibility_study(silent_graph, silent_connectivity):
    gammas = (0.1, 0.5, 3.0, 100.0)
    sweep = subject_sweep(measure_hubs(silent_graph, silent_connectivity, perturbation="remove"), gammas)
    study = subject_plausibility(silent_connectivity, gammas=gammas, levels=(0.2,), perturbations=("remove",))
    expected = study[~study["signed"]].set_index(["reference", "gamma"])["spearman"]
    found = sweep.set_index(["reference", "gamma"])["spearman"]
    assert len(found) == 8
    pd.testing.assert_series_equal(found, expected[found.index])


def test_correlations_leave_silent_regions_out(silent_graph, silent_connectivity):
    hubs = measure_hubs(silent_graph, silent_connectivity)
    table = hubs.table()
    assert REFERENCES == ("node_efficiency", "fc_strength")
    for column in (*REFERENCES, "degree"):
        correlation = hub_correlation(hubs, 0.5, column)
        assert correlation.n_regions == 30
        assert correlation.rho == pytest.approx(spearmanr(table["node_entanglement"][:30], table[column][:30])[0])
        assert correlation.low < correlation.rho < correlation.high


@settings(max_examples=40)
@given(n=st.integers(2, 25), n_values=st.integers(1, 30), seed=st.integers(0, 10_000))
def test_correlation_in_a_sample_is_that_of_the_repeated_regions(n, n_values, seed):
    rng = np.random.default_rng(seed)
    values, reference = rng.integers(0, n_values, (2, n)).astype(float)
    draws = rng.multinomial(n, np.full(n, 1 / n), size=5)
    found = _counted_spearman(values, reference, draws)
    for rho, counts in zip(found, draws, strict=True):
        first, second = np.repeat(values, counts), np.repeat(reference, counts)
        if np.ptp(first) == 0 or np.ptp(second) == 0:
            assert np.isnan(rho)
        else:
            assert rho == pytest.approx(spearmanr(first, second)[0], abs=1e-12)


def test_interval_is_that_of_a_plain_bootstrap():
    rng = np.random.default_rng(3)
    values = rng.normal(size=100)
    reference = values + rng.normal(size=100)
    found = _rank_correlation(values, reference)
    picks = rng.integers(0, 100, (3000, 100))
    plain = [spearmanr(values[pick], reference[pick])[0] for pick in picks]
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(plain, [0.025, 0.975])), abs=0.015)
    assert found.rho == pytest.approx(spearmanr(values, reference)[0])
    assert _rank_correlation(values, reference) == found  # the seed is fixed


def test_perfect_and_undefined_correlations():
    ramp = np.arange(10.0)
    perfect = _rank_correlation(ramp, ramp**3)
    assert (perfect.rho, perfect.low, perfect.high) == pytest.approx((1, 1, 1))
    opposite = _rank_correlation(ramp, -ramp)
    assert (opposite.rho, opposite.high) == pytest.approx((-1, -1))
    for values in (np.zeros(10), ramp[:1], ramp[:0]):
        assert np.isnan(_rank_correlation(values, ramp[: len(values)]).rho)


def test_graph_without_connections_has_undefined_agreement(silent_connectivity):
    # Connections that a threshold removes all are an error; here there were none.
    empty = graph_from_connectivity(np.eye(32), ConnectomeSettings(threshold="none"))
    hubs = measure_hubs(empty, silent_connectivity)
    assert subject_sweep(hubs, (0.5, 1.0))["spearman"].isna().all()
    assert np.isnan(hub_correlation(hubs, 0.5, "fc_strength").low)
    assert not hubs.table()["node_entanglement_hub"].any()


def first_order_partial(x, y, z):
    """The textbook formula for one variable held."""
    xy, xz, yz = (spearmanr(*pair)[0] for pair in ((x, y), (x, z), (y, z)))
    return (xy - xz * yz) / np.sqrt((1 - xz**2) * (1 - yz**2))


@settings(max_examples=40)
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
    with_silent, signal = np.pad(KARATE, (0, 2)), np.arange(36) < 34
    ne, neff, held = (
        measure(with_silent)[..., signal] for measure in (node_entanglement, node_efficiency, strength_and_degree)
    )
    found = graph_agreement(with_silent, (0.5,), has_signal=signal).at(0.5)
    assert found["partial"] == pytest.approx(partial_spearman(ne, neff, held)[0])
    assert found["efficiency"] == pytest.approx(spearmanr(ne, neff)[0])
    assert found["efficiency"] < graph_agreement(with_silent, (0.5,)).at(0.5)["efficiency"]  # zeros feign agreement


def agreement(partial, efficiency=0.5):
    rhos = {name: np.array([partial]) for name in COMPARISONS}
    return GraphAgreement((0.5,), rhos | {"efficiency": np.array([efficiency])})


NULLS = np.linspace(0, 0.5, NULL_GRAPHS)


@pytest.mark.parametrize(
    ("own", "nulls", "p"),
    [
        (0.9, NULLS, 0.05),  # above all: 2 · 1/40
        (-0.9, NULLS, 0.05),  # below all counts as much
        (0.9, NULLS[1:], 2 / 39),  # with fewer p cannot reach 0.05
        (0.25, NULLS, 1.0),
        (0.5, np.array([0.1, 0.5, 0.9]), 1.0),
    ],
)
def test_p_is_two_sided_and_counts_the_own_graph(own, nulls, p):
    found = set_against_nulls(agreement(own), [agreement(value) for value in nulls], 0.5)["partial"]
    assert (found.rho, found.n_nulls) == (own, len(nulls))
    assert found.p == pytest.approx(p)
    assert (found.null_low, found.null_high) == (nulls.min(), nulls.max())
    assert found.null_mean == pytest.approx(nulls.mean())


@pytest.mark.parametrize(("own", "null"), [(np.nan, 0.5), (0.5, np.nan)])
def test_there_is_no_p_where_nothing_is_defined(own, null):
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
    nulls = [agreement(value) for value in np.linspace(-0.095, 0.095, NULL_GRAPHS)]
    sentence = verdict_sentence(set_against_nulls(agreement(partial, 0.68), nulls, 0.5))
    assert sentence.count(".") == sentence.count("0.") + 1, "one sentence"
    assert all(words in sentence.replace("+", "") for words in (said, f"({p})", "(ρ = 0.68)"))


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


def test_silent_regions_are_left_out_and_counted(silent_connectivity, silent_graph):
    table = subject_plausibility(silent_connectivity, levels=(0.2,), gammas=(0.5,), perturbations=["control"])
    assert set(table["n_regions"]) == {30}
    ne, neff = node_entanglement(silent_graph), node_efficiency(silent_graph)
    assert (ne[30:] == 0).all()
    value = table.query("not signed and reference == 'node efficiency'")["spearman"].item()
    assert value == pytest.approx(spearmanr(ne[:30], neff[:30])[0], abs=1e-12)
    assert abs(value - spearmanr(ne, neff)[0]) > 1e-3


def test_bootstrap_interval_is_that_of_a_mean():
    rng = np.random.default_rng(0)
    condition = {"level": 0.3, "perturbation": "control", "signed": False, "gamma": 0.5, "reference": "node efficiency"}
    found = {"spearman": rng.normal(0.5, 0.2, 400), "kendall": np.nan, "overlap": 0.5}
    frame = pd.DataFrame({"subject": [f"s{i}" for i in range(400)], **condition, **found})
    summary = summarise_plausibility(frame).set_index("measure")
    half_width = 1.96 * frame["spearman"].std() / np.sqrt(400)
    assert summary.loc["spearman", "high"] - summary.loc["spearman", "mean"] == pytest.approx(half_width, rel=0.1)
    assert summary.loc["overlap", "low"] == summary.loc["overlap", "high"] == 0.5
    assert summary.loc["kendall", "n_subjects"] == 0
    assert np.isnan(summary.loc["kendall", "low"])


def test_agreement_depends_on_gamma_in_real_subjects(shared_data):
    """The measured claim behind the defaults, on three of its subjects: agreement up to γ = 1, hardly beyond."""
    how = {"levels": (0.3,), "gammas": (0.5, 30), "perturbations": ["control"]}
    tables = [subject_plausibility(load_connectivity(shared_data, i), subject=str(i), **how) for i in range(3)]
    summary = summarise_plausibility(pd.concat(tables))
    chosen = summary.query("measure == 'spearman' and not signed and reference == 'node efficiency'")
    mean = chosen.set_index("gamma")["mean"]
    assert mean[0.5] > 0.5 > 0.4 > mean[30]


def test_a_study_refuses_what_it_cannot_measure():
    fc = correlations(15, 0)
    with pytest.raises(InputError, match="largest weight"):
        subject_plausibility(fc, levels=(1.0,), gammas=(0.5,))
    with pytest.raises(InputError, match="diffusion time"):
        subject_plausibility(fc, gammas=(-1,))


STUDIES = asset("studies")


PAGE = STUDIES.parents[1] / "docs" / "plausibility.md"


REGRESSED = "CNI-2019, global signal regressed"


def script(name):
    """A study's script as a module."""
    return importlib.import_module(f"assets.studies.{name}")


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
