"""Classical hub measures against bctpy and networkx, and by hand."""

import bct
import networkx as nx
import numpy as np
import pytest
from hub_graphs import BARBELL, CLIQUE, EMPTY, KARATE, NAMED, PATH, STAR, TWO_PARTS, random_weights, weighted_graphs
from hypothesis import given, settings

from biobgt.base.errors import InputError
from biobgt.data.connectivity import graph_from_connectivity
from biobgt.hubs import betweenness, closeness, degree, eigenvector, fc_strength, local_efficiency, node_efficiency


def test_fc_strength_takes_signs_and_leaves_the_diagonal_out():
    connectivity = np.array([[1.0, 0.6, -0.2], [0.6, 1.0, 0.1], [-0.2, 0.1, 1.0]])
    np.testing.assert_allclose(fc_strength(connectivity), [0.2, 0.35, -0.05])
    graph = graph_from_connectivity(connectivity)
    np.testing.assert_allclose(fc_strength(graph), [0.3, 0.3, 0.0])


def test_fc_strength_of_a_real_subject_is_the_mean_correlation(real_connectivity):
    n = len(real_connectivity)
    expected = [np.delete(real_connectivity[i], i).mean() for i in range(n)]
    np.testing.assert_allclose(fc_strength(real_connectivity), expected, atol=1e-14)


def test_betweenness_by_hand():
    np.testing.assert_allclose(betweenness(STAR), [12, 0, 0, 0, 0])  # all 4 × 3 ordered pairs of leaves
    np.testing.assert_allclose(betweenness(PATH), [0, 4, 4, 0])
    square = nx.to_numpy_array(nx.cycle_graph(4))
    np.testing.assert_allclose(betweenness(square), 1)  # two shortest paths between opposite corners


def bct_node_efficiency(weights):
    distances = bct.distance_wei(bct.weight_conversion(weights, "lengths"))[0]
    np.fill_diagonal(distances, np.inf)
    return (1 / distances).sum(axis=1) / (len(weights) - 1)


# The last two have ties between paths.
@pytest.mark.parametrize(
    "weights", [*(random_weights(30, density, 30) for density in (0.08, 0.1, 0.3, 0.4, 1.0)), KARATE, BARBELL]
)
def test_measures_match_bctpy(weights):
    lengths, edges = bct.weight_conversion(weights, "lengths"), (weights > 0).astype(float)
    np.testing.assert_array_equal(degree(weights), bct.degrees_und(weights))
    for found, expected in (
        (betweenness(weights), bct.betweenness_wei(lengths)),
        (betweenness(edges), bct.betweenness_bin(edges)),
        (eigenvector(weights), bct.eigenvector_centrality_und(weights)),
        (node_efficiency(weights), bct_node_efficiency(weights)),
        (node_efficiency(weights).mean(), bct.efficiency_wei(weights)),
        (node_efficiency(edges).mean(), bct.efficiency_bin(edges)),
        (local_efficiency(weights), bct.efficiency_wei(weights, local=True)),
        (local_efficiency(edges), bct.efficiency_bin(edges, local=True)),
    ):
        np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("weights", [KARATE, BARBELL, TWO_PARTS, random_weights(20, 0.08, 1), EMPTY])
def test_closeness_matches_networkx(weights):
    graph = nx.from_numpy_array(np.divide(1, weights, out=np.zeros_like(weights), where=weights > 0))
    expected = list(nx.closeness_centrality(graph, distance="weight").values())
    np.testing.assert_allclose(closeness(weights), expected, atol=1e-12)


def test_eigenvector_treats_equal_components_alike():
    np.testing.assert_allclose(eigenvector(TWO_PARTS), 1 / np.sqrt(6), atol=1e-12)


def test_eigenvector_is_zero_outside_the_leading_component():
    weights = np.zeros((5, 5))
    weights[:3, :3] = 1 - np.eye(3)
    weights[3, 4] = weights[4, 3] = 0.5
    np.testing.assert_allclose(eigenvector(weights), [1 / np.sqrt(3)] * 3 + [0, 0], atol=1e-12)


ALL = (betweenness, closeness, degree, eigenvector, fc_strength, node_efficiency, local_efficiency)


@pytest.mark.parametrize("measure", ALL)
def test_defined_on_every_graph_which_is_not_changed(measure):
    for weights in NAMED.values():
        before = weights.copy()
        assert np.isfinite(measure(weights)).all()
        np.testing.assert_array_equal(weights, before)
    assert not measure(EMPTY).any()


@settings(max_examples=30)
@given(weighted_graphs)
def test_relabelling_permutes(weights):
    order = np.random.default_rng(0).permutation(len(weights))
    shuffled = weights[np.ix_(order, order)]
    for measure in ALL:
        np.testing.assert_allclose(measure(shuffled), measure(weights)[order], atol=1e-7)


@pytest.mark.parametrize("measure", [one for one in ALL if one is not fc_strength])
def test_negative_weights_are_refused(measure):
    with pytest.raises(InputError, match="negative"):
        measure(np.array([[0, -1.0], [-1.0, 0]]))


def test_efficiency_of_a_path_by_hand():
    np.testing.assert_allclose(node_efficiency(PATH), np.array([1 + 1 / 2 + 1 / 3, 2.5, 2.5, 1 + 1 / 2 + 1 / 3]) / 3)


def test_weighted_detour_by_hand():
    # The direct edge is 1/0.1 = 10 long, the way round by the third region 2 + 2 = 4.
    weights = np.array([[0, 0.1, 0.5], [0.1, 0, 0.5], [0.5, 0.5, 0]])
    np.testing.assert_allclose(node_efficiency(weights), [(1 / 4 + 1 / 2) / 2, (1 / 4 + 1 / 2) / 2, 1 / 2])


def test_local_efficiency_by_hand():
    np.testing.assert_array_equal(local_efficiency(STAR), 0)  # leaves are not connected among themselves
    np.testing.assert_allclose(local_efficiency(CLIQUE), 0.3)  # (w·w)^⅓ · w^⅓


@settings(max_examples=30)
@given(weighted_graphs)
def test_efficiency_grows_with_the_weights(weights):
    for measure in (node_efficiency, local_efficiency):
        np.testing.assert_allclose(measure(weights * 3), measure(weights) * 3, atol=1e-12)
    assert (node_efficiency(weights) >= weights.sum(axis=1) / (len(weights) - 1) - 1e-12).all()
    assert (node_efficiency(weights)[weights.sum(axis=1) == 0] == 0).all()


def test_efficiency_of_a_real_subject_matches_bctpy(real_graph):
    np.testing.assert_allclose(node_efficiency(real_graph), bct_node_efficiency(real_graph.weights), atol=1e-10)
