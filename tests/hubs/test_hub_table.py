"""The hub table of a subject: its columns, agreement of measures over regions and γ, curves of groups, one region."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from hub_graphs import BARBELL, CLIQUE, EMPTY, PATH, STAR, TWO_PARTS, correlations, random_weights, weighted_graphs
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, rankdata, spearmanr, zscore

from assets.studies.plausibility import subject_plausibility
from biobgt.base.errors import InputError
from biobgt.data.atlas import load_atlas, numbered_atlas
from biobgt.data.connectivity import brain_graph, graph_from_connectivity, subject_connectivity
from biobgt.data.graph import BrainGraph, ConnectomeSettings
from biobgt.data.simulate import demo_cohort
from biobgt.figures import CurveScale as DrawnScale
from biobgt.hubs import (
    HUB_MEASURES,
    gamma_unit,
    hub_table,
    node_entanglement,
    rank_agreement,
    spectral_entropy,
    vertex_entanglement,
)
from biobgt.hubs.agreement import REFERENCES, _counted_spearman, _rank_correlation, hub_correlation, subject_sweep
from biobgt.hubs.measures import HubAnalysisOptions, HubOptions
from biobgt.hubs.region import _region_neighbourhood, explain_region
from biobgt.hubs.table import CurveScale, SubjectCurves, group_curves, measure_curves, measure_hubs
from biobgt.results.measured import Measured
from biobgt.results.tables import analyse_hubs

ALL_EDGES = ConnectomeSettings(threshold="none")


@pytest.fixture
def graph():
    return graph_from_connectivity(random_weights(90, 0.3, 0), ALL_EDGES, atlas=load_atlas("aal90"), subject="s")


def test_one_row_a_region_with_every_measure(graph):
    table = hub_table(graph)
    assert len(table) == 90
    assert list(table["region"]) == list(graph.atlas.regions)
    assert {"x", "y", "z", "hemisphere", "dosenbach", "paper"} <= set(table.columns)
    for metric in HUB_MEASURES:
        assert {metric, f"{metric}_rank", f"{metric}_z", f"{metric}_hub"} <= set(table.columns)
    assert not table.filter(regex="|".join(HUB_MEASURES)).isna().any().any()


def test_ranks_z_and_hubs_of_node_entanglement(graph):
    table = hub_table(graph)
    ne = node_entanglement(graph)
    # The table is ready for any γ and has eigenvalues, one γ alone is cheaper by resolvents.
    np.testing.assert_allclose(table["node_entanglement"], ne, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(table["node_entanglement_rank"], rankdata(-ne))
    np.testing.assert_allclose(table["node_entanglement_z"], zscore(ne, ddof=1))
    assert set(np.flatnonzero(table["node_entanglement_hub"])) == set(np.argsort(-ne)[:9])
    by_sd = hub_table(graph, rule="sd")
    np.testing.assert_array_equal(by_sd["node_entanglement_hub"], ne > ne.mean() + ne.std(ddof=1))


def test_most_negative_vertex_entanglement_ranks_first(graph):
    table = hub_table(graph)
    first = int(np.flatnonzero(table["vertex_entanglement_rank"] == 1)[0])
    assert first == vertex_entanglement(graph).argmin()
    assert table["vertex_entanglement_z"].iloc[first] > 0
    assert table["vertex_entanglement_hub"].iloc[first]


def test_star_centre_is_the_hub_and_its_leaves_tie():
    table = hub_table(graph_from_connectivity(STAR, ALL_EDGES), share=0.4)
    assert list(table["degree_hub"]) == [True, False, False, False, False]
    assert list(table["degree_rank"]) == [1, 2, 2, 2, 2]


@pytest.mark.parametrize("rule", ["top", "sd"])
def test_no_hub_where_all_regions_are_alike(rule):
    table = hub_table(graph_from_connectivity(CLIQUE, ALL_EDGES), rule=rule)
    assert not table.filter(like="_hub").any().any()
    assert not table.filter(regex="_z$").any().any()


def test_says_where_fc_strength_and_gamma_come_from(graph):
    connectivity = graph.weights - 0.1
    table = hub_table(graph, connectivity=connectivity, gamma=0.2, perturbation="remove")
    np.testing.assert_allclose(table["fc_strength"], graph.weights.sum(axis=1) / 89 - 0.1)
    assert table.attrs["fc_strength"] == "full connectivity"
    assert (table.attrs["gamma"], table.attrs["perturbation"]) == (0.2, "remove")
    np.testing.assert_allclose(
        table["node_entanglement"], node_entanglement(graph, gamma=0.2, perturbation="remove"), rtol=0, atol=1e-12
    )
    absolute = hub_table(graph, absolute_gamma=0.2, perturbation="remove")
    assert absolute.attrs["absolute_gamma"] == pytest.approx(0.2)
    assert absolute.attrs["gamma"] == pytest.approx(0.2 / gamma_unit(graph))
    np.testing.assert_allclose(
        absolute["node_entanglement"], node_entanglement(graph, absolute_gamma=0.2, perturbation="remove"), rtol=1e-9
    )
    assert hub_table(graph).attrs["fc_strength"] == "full connectivity"  # that it was made of
    brought = replace(graph, connectivity=None)
    assert hub_table(brought).attrs["fc_strength"] == "weights of the graph"
    np.testing.assert_allclose(hub_table(brought)["fc_strength"], graph.weights.sum(axis=1) / 89)


@pytest.mark.parametrize(
    "settings",
    [ConnectomeSettings(), ConnectomeSettings("partial", threshold="proportional"), ConnectomeSettings("tangent")],
    ids=lambda settings: settings.estimator,
)
def test_a_script_finds_the_hubs_of_the_page(settings):
    """The table of a graph, without another word, is the one that pages and commands show."""
    cohort = demo_cohort("ad", n_per_group=2)
    for subject in cohort.ids[:3]:
        measured = Measured(cohort).of(subject, settings)
        pd.testing.assert_frame_equal(hub_table(measured.graph()), measured.hub_table(HubOptions()), rtol=1e-9)


def test_another_atlas_may_name_the_regions(graph):
    assert hub_table(graph, numbered_atlas(90))["region"].iloc[0] == "Region 1"
    with pytest.raises(InputError, match="aal116"):
        hub_table(graph, load_atlas("aal116"))


def test_bad_options_are_refused_with_a_sentence(graph):
    with pytest.raises(InputError, match="rule"):
        hub_table(graph, rule="best")
    for share in (0, 1.1, float("nan")):
        with pytest.raises(InputError, match="share"):
            hub_table(graph, share=share)
    with pytest.raises(InputError, match="2 regions"):
        hub_table(graph, connectivity=np.eye(2))


@settings(max_examples=40, deadline=None)
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


@pytest.fixture(scope="module")
def silent_connectivity():
    matrix = np.zeros((32, 32))  # the last two regions are silent
    matrix[:30, :30] = correlations(30, 0)
    return matrix


@pytest.fixture(scope="module")
def silent_graph(silent_connectivity):
    return graph_from_connectivity(silent_connectivity, ConnectomeSettings(level=0.2))


@pytest.mark.parametrize("perturbation", ["control", "remove"])
@pytest.mark.parametrize("rule", ["top", "sd"])
@pytest.mark.parametrize("gamma", [0.5, 30.0])
def test_table_is_the_hub_table(silent_graph, silent_connectivity, perturbation, rule, gamma):
    hubs = measure_hubs(silent_graph, silent_connectivity, perturbation=perturbation)
    how = {"connectivity": silent_connectivity, "perturbation": perturbation, "rule": rule}
    found = hubs.table(HubOptions(gamma, perturbation, rule))
    for expected in (
        hub_table(silent_graph, gamma=gamma, **how),
        hub_table(silent_graph, absolute_gamma=gamma * gamma_unit(silent_graph), **how),
    ):
        expected.attrs = {}
        pd.testing.assert_frame_equal(found, expected, check_exact=False, rtol=1e-9)


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


@settings(max_examples=40, deadline=None)
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
    nothing = np.eye(
        len(silent_connectivity)
    )  # connections that a threshold removes all are an error; here there were none
    empty = graph_from_connectivity(nothing, ConnectomeSettings(threshold="none"))
    hubs = measure_hubs(empty, silent_connectivity)
    assert subject_sweep(hubs, (0.5, 1.0))["spearman"].isna().all()
    assert np.isnan(hub_correlation(hubs, 0.5, "fc_strength").low)
    assert not hubs.table()["node_entanglement_hub"].any()


def test_graphs_without_hubs_are_refused(silent_connectivity):
    signed = graph_from_connectivity(silent_connectivity, ConnectomeSettings(sign="signed"))
    with pytest.raises(InputError, match="negative"):
        measure_hubs(signed, silent_connectivity)
    plain = graph_from_connectivity(random_weights(8, 1.0, 0), atlas=numbered_atlas(8))
    with pytest.raises(InputError, match="32 regions"):
        measure_hubs(plain, silent_connectivity)
    with pytest.raises(InputError, match="diffusion time"):
        measure_hubs(plain, plain.weights).entanglement(-1)


def test_real_subject_agrees_up_to_gamma_one_and_hardly_beyond(real_graph, real_connectivity):
    hubs = measure_hubs(real_graph, real_connectivity)
    sweep = subject_sweep(hubs, (0.5, 30.0)).set_index(["reference", "gamma"])["spearman"]
    found = hub_correlation(hubs, 0.5, "node_efficiency")
    assert found.rho == pytest.approx(sweep["node efficiency", 0.5])
    assert found.low > 0.5 > 0.4 > sweep["node efficiency", 30.0]


CURVE_GAMMAS = (0.5, 3.0)
MEASURES = ("node_entanglement", "node_efficiency", "fc_strength")


@pytest.fixture(scope="module")
def cohort():
    return demo_cohort("ad", n_per_group=3).group("NC")


@pytest.fixture(scope="module")
def curves(cohort):
    return [
        measure_curves(brain_graph(subject, cohort.atlas), subject_connectivity(subject), CURVE_GAMMAS)
        for subject in cohort
    ]


def by_hand(entanglement):
    rest = np.zeros(len(entanglement))
    return SubjectCurves(
        (1.0,), {"node_entanglement": np.array([entanglement], float)}, {"node_efficiency": rest, "fc_strength": rest}
    )


def test_subjects_curves_are_those_of_the_hub_table(cohort, curves):
    graph = brain_graph(cohort.subjects[0], cohort.atlas)
    hubs = measure_hubs(graph, subject_connectivity(cohort.subjects[0]))
    for gamma in CURVE_GAMMAS:
        table = hubs.table(HubOptions(gamma))
        for measure, values in curves[0].at(gamma).items():
            np.testing.assert_allclose(values, table[measure], rtol=0, atol=1e-12)  # NE has two exact ways


@pytest.mark.parametrize(("gamma", "scale"), [(0.5, "raw"), (3.0, "raw"), (0.5, "z"), (0.5, "rank")])
def test_mean_and_sd_are_those_of_the_cohort_analysis(cohort, curves, gamma, scale):
    expected = analyse_hubs(cohort, options=HubAnalysisOptions(gamma=gamma))
    mean, sd = group_curves(curves, gamma, persons=cohort.persons, scale=scale)
    for measure in MEASURES:
        column = measure if scale == "raw" else f"{measure}_{scale}"
        values = np.stack([table[column] for table in expected.tables.values()])
        np.testing.assert_allclose(mean[measure], values.mean(axis=0), atol=1e-12)
        np.testing.assert_allclose(sd[measure], values.std(axis=0, ddof=1), atol=1e-12)
        if scale == "raw":
            np.testing.assert_allclose(mean[measure], expected.groups[f"{measure}_mean"])
            np.testing.assert_allclose(sd[measure], expected.groups[f"{measure}_sd"], atol=1e-12)


def test_ranks_by_hand():
    mean, sd = group_curves([by_hand([3, 2, 1]), by_hand([3, 1, 2])], 1.0, persons="ab", scale="rank")
    np.testing.assert_allclose(mean["node_entanglement"], [1, 2.5, 2.5])
    np.testing.assert_allclose(sd["node_entanglement"], [0, np.sqrt(0.5), np.sqrt(0.5)])
    np.testing.assert_allclose(mean["node_efficiency"], 1)  # all tie


def test_equal_values_have_z_of_zero_and_one_subject_has_no_spread():
    mean, sd = group_curves([by_hand([2, 2, 2])], 1.0, persons="a", scale="z")
    np.testing.assert_array_equal(mean["node_entanglement"], 0)
    assert np.isnan(sd["node_entanglement"]).all()


@pytest.mark.parametrize(
    ("n", "gamma", "scale", "word"), [(0, 0.5, "z", "subjects"), (1, 7, "z", "γ = 7"), (1, 0.5, "loud", "scale")]
)
def test_groups_without_a_mean_are_refused(curves, n, gamma, scale, word):
    with pytest.raises(InputError, match=word):
        group_curves(curves[:n], gamma, persons="a"[:n], scale=scale)


def test_scales_are_those_that_can_be_drawn():
    assert get_args(CurveScale) == get_args(DrawnScale)


STORY_GAMMAS = (0.1, 0.5, 2.0, 30.0)


def story_of(weights, region, *, perturbation="control", gamma=0.5):
    graph = BrainGraph(weights, numbered_atlas(len(weights)), subject="s")
    hubs = measure_hubs(graph, weights, perturbation=perturbation)
    return explain_region(graph, hubs, region, options=HubOptions(gamma), gammas=STORY_GAMMAS)


def perturbed_weights(weights, region, perturbation):
    """The whole graph after the perturbation, written out."""
    found = _region_neighbourhood(weights, region, perturbation)
    whole = weights.copy()
    whole[np.ix_(found.members, found.members)] = found.after
    return whole


def test_star_becomes_a_clique_of_the_same_weight():
    found = _region_neighbourhood(STAR, 0, "control")
    assert found.members == (0, 1, 2, 3, 4)
    assert (found.n_neighbours, found.n_pairs, found.n_connected) == (4, 10, 4)
    assert found.total_weight == 4
    np.testing.assert_allclose(found.after, 0.4 * (1 - np.eye(5)))


def test_removed_region_is_cut_off_and_its_neighbours_are_left_alone():
    found = _region_neighbourhood(TWO_PARTS, 1, "remove")
    assert set(found.members) == {0, 1, 2}
    assert found.members[0] == 1
    np.testing.assert_array_equal(found.after, [[0, 0, 0], [0, 0, 1], [0, 1, 0]])


def test_neighbours_come_strongest_first():
    weights = np.zeros((4, 4))
    weights[2, [0, 1, 3]] = weights[[0, 1, 3], 2] = [0.2, 0.9, 0.5]
    assert _region_neighbourhood(weights, 2, "control").members == (2, 1, 3, 0)


@pytest.mark.parametrize(("weights", "region"), [(PATH, 0), (CLIQUE, 3), (EMPTY, 1)])
def test_even_surroundings_stay_as_they_are(weights, region):
    story = story_of(weights, region)
    np.testing.assert_allclose(story.neighbourhood.after, story.neighbourhood.before, atol=1e-12)
    assert story.n_changed == 0
    np.testing.assert_array_equal(story.change, 0)


def test_unknown_region_is_named():
    with pytest.raises(InputError, match="region 9"):
        _region_neighbourhood(BARBELL, 9, "control")


@settings(deadline=None)  # every measure of the hub table is computed, and machines differ
@given(weights=weighted_graphs, data=st.data(), perturbation=st.sampled_from(["control", "remove"]))
def test_drawn_graph_has_the_spectrum_and_entropy_that_the_story_tells(weights, data, perturbation):
    region = data.draw(st.integers(0, len(weights) - 1))
    altered = perturbed_weights(weights, region, perturbation)
    if perturbation == "control":
        assert altered.sum() == pytest.approx(weights.sum())
    story = story_of(weights, region, perturbation=perturbation)
    spectrum = np.linalg.eigvalsh(np.diag(altered.sum(axis=1)) - altered)
    np.testing.assert_allclose(story.spectrum_after, spectrum, atol=1e-9)
    unit = len(weights) / weights.sum() if weights.any() else 1.0
    entropies = [spectral_entropy(np.maximum(spectrum, 0), gamma * unit) for gamma in STORY_GAMMAS]
    np.testing.assert_allclose(story.entropy_after, entropies, atol=1e-9)


@pytest.mark.parametrize("perturbation", ["control", "remove"])
def test_difference_is_node_entanglement_and_standings_are_the_tables(perturbation):
    weights = random_weights(14, 0.5, seed=3)
    unit = len(weights) / weights.sum()
    for region in range(len(weights)):
        story = story_of(weights, region, perturbation=perturbation, gamma=2.0)
        expected = node_entanglement(weights, absolute_gamma=2.0 * unit, perturbation=perturbation)
        before, after = story.chosen_entropies
        assert abs(after - before) == pytest.approx(expected[region], abs=1e-12)
        assert story.change[STORY_GAMMAS.index(2.0)] == pytest.approx(expected[region], abs=1e-12)
        assert story.typical_change[STORY_GAMMAS.index(2.0)] == pytest.approx(np.median(expected))
        assert set(story.standings) == set(HUB_MEASURES)
        standing = story.standings["node_entanglement"]
        assert standing.value == pytest.approx(expected[region])
        assert standing.rank == 1 + (expected > expected[region]).sum()
        assert story.standings["degree"].value == np.count_nonzero(weights[region])


def test_real_region_with_many_neighbours(real_graph, real_connectivity):
    hubs = measure_hubs(real_graph, real_connectivity)
    region = int(hubs.measures["degree"].argmax())
    story = explain_region(real_graph, hubs, region, gammas=STORY_GAMMAS)
    around = story.neighbourhood
    assert around.n_neighbours == hubs.measures["degree"][region]
    assert np.triu(around.after).sum() == pytest.approx(around.total_weight)
    assert story.name == real_graph.atlas.regions[region]
    np.testing.assert_array_equal(np.diff(around.before[0, 1:]) <= 0, True)
