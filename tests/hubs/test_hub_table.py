"""The hub table: what stands in it, how hubs are marked, and where it came from."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hub_graphs import CLIQUE, STAR, random_weights
from scipy.stats import rankdata, zscore

from biobgt.base.errors import InputError
from biobgt.data.atlas import load_atlas, numbered_atlas
from biobgt.data.connectivity import cohort_graphs, graph_from_connectivity
from biobgt.data.graph import ConnectomeSettings
from biobgt.data.simulate import demo_cohort
from biobgt.hubs import HUB_MEASURES, gamma_unit, hub_table, node_entanglement, vertex_entanglement
from biobgt.hubs.measures import HubOptions
from biobgt.results.measured import Measured

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
    graphs = dict(zip(cohort.ids, cohort_graphs(cohort, settings), strict=True))
    for subject in cohort.ids[:3]:
        shown = Measured(cohort).of(subject, settings).hub_table(HubOptions())
        pd.testing.assert_frame_equal(hub_table(graphs[subject]), shown, rtol=1e-9)


def test_another_atlas_may_name_the_regions(graph):
    assert hub_table(graph, numbered_atlas(90))["region"].iloc[0] == "Region 1"
    with pytest.raises(InputError, match="90 regions and atlas aal116 has 116"):
        hub_table(graph, load_atlas("aal116"))


def test_bad_options_are_refused_with_a_sentence(graph):
    with pytest.raises(InputError, match=r"'rule' cannot be 'best'\. Choose one of: top, sd"):
        hub_table(graph, rule="best")
    for share in (0, 1.1, float("nan")):
        with pytest.raises(InputError, match="share"):
            hub_table(graph, share=share)
    with pytest.raises(InputError, match="2 regions and its graph has 90"):
        hub_table(graph, connectivity=np.eye(2))
