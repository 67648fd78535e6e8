"""Efficiency against bctpy and by hand."""

import bct
import numpy as np
import pytest
from hub_graphs import CLIQUE, EMPTY, NAMED, PATH, STAR, random_weights, weighted_graphs
from hypothesis import given, settings

from biobgt.hubs import local_efficiency, node_efficiency


def bct_node_efficiency(weights):
    distances = bct.distance_wei(bct.weight_conversion(weights, "lengths"))[0]
    np.fill_diagonal(distances, np.inf)
    return (1 / distances).sum(axis=1) / (len(weights) - 1)


def test_path_by_hand():
    np.testing.assert_allclose(node_efficiency(PATH), np.array([1 + 1 / 2 + 1 / 3, 2.5, 2.5, 1 + 1 / 2 + 1 / 3]) / 3)


def test_weighted_detour_by_hand():
    # The direct edge is 1/0.1 = 10 long, the way round by the third region 2 + 2 = 4.
    weights = np.array([[0, 0.1, 0.5], [0.1, 0, 0.5], [0.5, 0.5, 0]])
    np.testing.assert_allclose(node_efficiency(weights), [(1 / 4 + 1 / 2) / 2, (1 / 4 + 1 / 2) / 2, 1 / 2])
    np.testing.assert_allclose(node_efficiency(weights, weighted=False), 1)


def test_local_efficiency_by_hand():
    np.testing.assert_array_equal(local_efficiency(STAR), 0)  # leaves are not connected among themselves
    np.testing.assert_allclose(local_efficiency(CLIQUE), 0.3)  # (w·w)^⅓ · w^⅓
    np.testing.assert_allclose(local_efficiency(CLIQUE, weighted=False), 1)


@pytest.mark.parametrize(("n", "density"), [(30, 0.1), (30, 0.4), (25, 1.0)])
def test_matches_bctpy(n, density):
    weights = random_weights(n, density, n)
    np.testing.assert_allclose(node_efficiency(weights), bct_node_efficiency(weights), atol=1e-10)
    np.testing.assert_allclose(local_efficiency(weights), bct.efficiency_wei(weights, local=True), atol=1e-10)
    edges = (weights > 0).astype(float)
    np.testing.assert_allclose(
        local_efficiency(weights, weighted=False), bct.efficiency_bin(edges, local=True), atol=1e-10
    )
    assert node_efficiency(weights).mean() == pytest.approx(bct.efficiency_wei(weights), abs=1e-10)
    assert node_efficiency(weights, weighted=False).mean() == pytest.approx(bct.efficiency_bin(edges), abs=1e-10)


@settings(max_examples=30, deadline=None)
@given(weighted_graphs)
def test_properties(weights):
    order = np.random.default_rng(0).permutation(len(weights))
    shuffled = weights[np.ix_(order, order)]
    for measure in (node_efficiency, local_efficiency):
        values = measure(weights)
        np.testing.assert_allclose(measure(shuffled), values[order], atol=1e-12)
        np.testing.assert_allclose(measure(weights * 3), values * 3, atol=1e-12)
    assert (node_efficiency(weights) >= weights.sum(axis=1) / (len(weights) - 1) - 1e-12).all()
    assert (node_efficiency(weights)[weights.sum(axis=1) == 0] == 0).all()


@pytest.mark.parametrize("name", NAMED)
def test_defined_on_every_graph(name):
    for measure in (node_efficiency, local_efficiency):
        assert np.isfinite(measure(NAMED[name])).all()


def test_empty_graph_is_zero():
    assert not node_efficiency(EMPTY).any()
    assert not local_efficiency(EMPTY).any()


def test_input_is_not_changed():
    weights = random_weights(10, 0.6, 0)
    before = weights.copy()
    node_efficiency(weights)
    local_efficiency(weights)
    np.testing.assert_array_equal(weights, before)


def test_real_subject_matches_bctpy(real_graph):
    np.testing.assert_allclose(node_efficiency(real_graph), bct_node_efficiency(real_graph.weights), atol=1e-10)
