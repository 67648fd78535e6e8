"""Vertex entanglement against a plain loop over regions, eigenvectors and β."""

import math

import numpy as np
import pytest
from hub_graphs import EMPTY, NAMED, STAR, random_weights, weighted_graphs
from hypothesis import given, settings

from biobgt.hubs import default_betas, vertex_entanglement


def plain_entropy(eigenvalues, beta):
    weights = [math.exp(-beta * value) for value in eigenvalues]
    total = sum(weights)
    return -sum(w / total * math.log2(w / total) for w in weights if w > 0)


def plain_vertex_entanglement(weights, betas):
    n = len(weights)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    values, vectors = np.linalg.eigh(laplacian)
    values[values < 1e-12] = 0
    result = []
    for i in range(n):
        members = [j for j in range(n) if j == i or weights[i, j] > 0]
        inside = weights[np.ix_(members, members)]
        k = len(members) - 1
        pair = inside.sum() / (k * (k + 1)) if k else 0
        clique = np.full((k + 1, k + 1), pair) - pair * np.eye(k + 1)
        change = np.diag((clique - inside).sum(axis=1)) - (clique - inside)
        moved = [values[j] + vectors[members, j] @ change @ vectors[members, j] for j in range(n)]
        result.append(min(plain_entropy(moved, beta) - plain_entropy(values, beta) for beta in betas))
    return np.array(result)


@pytest.mark.parametrize(("n", "density"), [(10, 0.3), (12, 0.6), (15, 1.0), (20, 0.15)])
def test_matches_the_plain_loop(n, density):
    weights = random_weights(n, density, n)
    eigenvalues = np.linalg.eigvalsh(np.diag(weights.sum(axis=1)) - weights)
    smallest = eigenvalues[eigenvalues > 1e-10].min()
    grid = [*np.linspace(0, 5 / smallest, 100), *np.linspace(5 / smallest, 10 / smallest, 100)[1:]]
    np.testing.assert_allclose(vertex_entanglement(weights), plain_vertex_entanglement(weights, grid), atol=1e-10)
    own = np.array([0.1, 0.5, 2.0])
    np.testing.assert_allclose(
        vertex_entanglement(weights, betas=own), plain_vertex_entanglement(weights, own), atol=1e-10
    )


def test_default_grid_counts_the_shared_value_once():
    betas = default_betas(np.array([0.0, 0.0, 0.5, 2.0]))
    assert len(betas) == 199
    assert (betas[0], betas[99], betas[-1]) == (0, 10, 20)
    assert (np.diff(betas) > 0).all()


def test_star_centre_is_the_key_player():
    ve = vertex_entanglement(STAR)
    assert ve.argmin() == 0
    np.testing.assert_array_equal(ve[1:], 0)


@pytest.mark.parametrize("name", NAMED)
def test_never_positive_and_finite(name):
    ve = vertex_entanglement(NAMED[name])
    assert np.isfinite(ve).all()
    assert (ve <= 0).all()


def test_empty_graph_is_zero():
    assert not vertex_entanglement(EMPTY).any()


@settings(max_examples=25, deadline=None)
@given(weighted_graphs)
def test_relabelling_permutes_and_scaling_changes_nothing(weights):
    order = np.random.default_rng(0).permutation(len(weights))
    ve = vertex_entanglement(weights)
    np.testing.assert_allclose(vertex_entanglement(weights[np.ix_(order, order)]), ve[order], atol=1e-9)
    np.testing.assert_allclose(vertex_entanglement(weights * 7), ve, atol=1e-9)
