import bct
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from module_graphs import bridged_cliques, karate_club, random_weights, star, weight_matrices

from biobgt.base.errors import InputError
from biobgt.data.graph import lattice_graph, random_graph


def upper(weights):
    return np.sort(weights[np.triu_indices_from(weights, 1)])


@settings(max_examples=50)
@given(weight_matrices())
@pytest.mark.parametrize("null", [random_graph, lattice_graph])
def test_degrees_of_both_signs_and_all_weights_are_kept(null, weights):
    drawn = null(weights, seed=1)
    assert (drawn == drawn.T).all()
    assert (np.diag(drawn) == 0).all()
    assert ((drawn > 0).sum(axis=0) == (weights > 0).sum(axis=0)).all()
    assert ((drawn < 0).sum(axis=0) == (weights < 0).sum(axis=0)).all()
    assert (upper(drawn) == upper(weights)).all()


@pytest.mark.parametrize("signed", [False, True])
def test_strengths_are_kept_closely_and_connections_are_not(signed):
    weights = random_weights(80, 0, density=0.3, signed=signed)
    weights[:10] *= 3  # some regions are much stronger
    weights[:, :10] *= 3
    drawn = random_graph(weights, seed=0)
    for sign in (1, -1) if signed else (1,):
        before = np.maximum(sign * weights, 0).sum(axis=0)
        after = np.maximum(sign * drawn, 0).sum(axis=0)
        assert np.corrcoef(before, after)[0, 1] > 0.95
    kept = ((drawn != 0) & (weights != 0)).sum() / (weights != 0).sum()
    assert kept < 0.45  # 0.3 by chance


def test_a_complete_graph_changes_its_signs_or_moves_its_weights():
    weights = random_weights(40, 1, density=1, signed=True)
    agree = np.sign(random_graph(weights, seed=0)) == np.sign(weights)
    assert agree[np.triu_indices(40, 1)].mean() < 0.6
    weights = random_weights(20, 2, density=1)
    drawn = random_graph(weights, seed=0)
    assert (drawn[~np.eye(20, dtype=bool)] > 0).all()
    assert np.abs(drawn - weights).max() > 0.1


@pytest.mark.parametrize("null", [random_graph, lattice_graph])
@pytest.mark.parametrize("weights", [star(7), np.zeros((4, 4)), np.eye(2)[::-1], 1 - np.eye(5)])
def test_graphs_without_any_swap_come_back(null, weights):
    assert (null(weights, seed=0) == weights).all()


def test_every_graph_of_a_degree_sequence_is_drawn_equally_often():
    # A path of four has degrees 1, 2, 2, 1; exactly two graphs have them: 0-1-2-3 and 0-2-1-3.
    path = nx.to_numpy_array(nx.path_graph(4))
    straight = np.mean([random_graph(path, seed=seed)[0, 1] for seed in range(300)])
    assert 0.4 < straight < 0.6


def test_random_graphs_lose_their_clustering_and_lattices_gain_some():
    weights = karate_club()
    clustering = [bct.clustering_coef_bu(g).mean() for g in (random_graph(weights, seed=0), weights)]
    assert clustering[0] < clustering[1]
    sparse = nx.to_numpy_array(nx.random_regular_graph(4, 40, seed=0))
    assert bct.clustering_coef_bu(lattice_graph(sparse, seed=0)).mean() > 0.35  # a ring lattice has 0.5
    assert bct.clustering_coef_bu(sparse).mean() < 0.15


@pytest.mark.parametrize("null", [random_graph, lattice_graph])
def test_the_seed_decides(null):
    weights = karate_club()
    assert (null(weights, seed=3) == null(weights, seed=3)).all()
    assert (null(weights, seed=3) != null(weights, seed=4)).any()
    with pytest.raises(InputError, match="seed"):
        null(bridged_cliques(), seed=-1)
