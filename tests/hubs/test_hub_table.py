"""The hub table of a subject: its columns, ranks and hubs; and the curves of groups."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from hub_graphs import CLIQUE, STAR, random_weights
from scipy.stats import rankdata, zscore

from biobgt.base.errors import InputError
from biobgt.data.atlas import load_atlas, numbered_atlas
from biobgt.data.connectivity import brain_graph, graph_from_connectivity, subject_connectivity
from biobgt.data.graph import ConnectomeSettings
from biobgt.data.simulate import demo_cohort
from biobgt.figures import CurveScale as DrawnScale
from biobgt.hubs import HUB_MEASURES, gamma_unit, hub_table, node_entanglement, vertex_entanglement
from biobgt.hubs.measures import COMPARED, HubAnalysisOptions, HubOptions
from biobgt.hubs.table import CurveScale, SubjectCurves, group_curves, measure_curves, measure_hubs
from biobgt.results.measured import Measured
from biobgt.results.tables import analyse_hubs

ALL_EDGES = ConnectomeSettings(threshold="none")


@pytest.fixture
def graph():
    return graph_from_connectivity(random_weights(90, 0.3, 0), ALL_EDGES, atlas=load_atlas("aal90"), subject="s")


def test_one_row_a_region_with_every_measure(graph):
    table = hub_table(graph)
    assert list(table["region"]) == list(graph.atlas.regions)
    assert {"x", "y", "z", "hemisphere", "dosenbach", "paper"} <= set(table.columns)
    columns = [f"{measure}{end}" for measure in HUB_MEASURES for end in ("", "_rank", "_z", "_hub")]
    assert table[columns].notna().all(axis=None)


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
    strengths = graph.weights.sum(axis=1) / 89
    table = hub_table(graph, connectivity=graph.weights - 0.1, gamma=0.2, perturbation="remove")
    np.testing.assert_allclose(table["fc_strength"], strengths - 0.1)
    assert table.attrs["fc_strength"] == "full connectivity"
    assert (table.attrs["gamma"], table.attrs["perturbation"]) == (0.2, "remove")
    expected = node_entanglement(graph, gamma=0.2, perturbation="remove")
    np.testing.assert_allclose(table["node_entanglement"], expected, rtol=0, atol=1e-12)
    absolute = hub_table(graph, absolute_gamma=0.2, perturbation="remove")
    assert absolute.attrs["absolute_gamma"] == pytest.approx(0.2)
    assert absolute.attrs["gamma"] == pytest.approx(0.2 / gamma_unit(graph))
    expected = node_entanglement(graph, absolute_gamma=0.2, perturbation="remove")
    np.testing.assert_allclose(absolute["node_entanglement"], expected, rtol=1e-9)
    assert absolute.attrs["fc_strength"] == "full connectivity"  # that the graph was made of
    brought = hub_table(replace(graph, connectivity=None))
    assert brought.attrs["fc_strength"] == "weights of the graph"
    np.testing.assert_allclose(brought["fc_strength"], strengths)


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


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"atlas": load_atlas("aal116")}, "aal116"),
        ({"rule": "best"}, "rule"),
        *(({"share": share}, "share") for share in (0, 1.1, float("nan"))),
        ({"connectivity": np.eye(2)}, "2 regions"),
    ],
)
def test_bad_options_are_refused_with_a_sentence(graph, options, word):
    with pytest.raises(InputError, match=word):
        hub_table(graph, **options)


def test_graphs_without_hubs_are_refused(silent_connectivity, graph):
    with pytest.raises(InputError, match="negative"):
        hub_table(graph_from_connectivity(silent_connectivity, ConnectomeSettings(sign="signed")))
    with pytest.raises(InputError, match="diffusion time"):
        measure_hubs(graph, None).entanglement(-1)


CURVE_GAMMAS = (0.5, 3.0)


@pytest.fixture(scope="module")
def cohort():
    return demo_cohort("ad", n_per_group=3).group("NC")


@pytest.fixture(scope="module")
def curves(cohort):
    return [measure_curves(brain_graph(one, cohort.atlas), subject_connectivity(one), CURVE_GAMMAS) for one in cohort]


def by_hand(entanglement):
    return SubjectCurves(
        (1.0,), {"node_entanglement": np.array([entanglement], float)}, {"node_efficiency": np.zeros(3)}
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
    for measure in COMPARED:
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
