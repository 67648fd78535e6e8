"""Tests taken one null graph at a time are those taken at once; so is a sweep taken one resolution at a time."""

import numpy as np
import pytest
from module_graphs import bridged_cliques, random_weights

from biobgt import load_atlas
from biobgt.base.errors import InputError
from biobgt.data.graph import BrainGraph
from biobgt.modules import louvain_modules, modularity_test, module_agreement, resolution_sweep, small_world
from biobgt.modules.louvain import resolution_step
from biobgt.modules.structure import pool_modularity_tests, pool_small_worlds


@pytest.mark.parametrize("signed", [False, True])
def test_pooled_modularity_test_is_the_whole_one(signed):
    weights = random_weights(20, seed=3, signed=signed)
    modules = louvain_modules(weights, runs=3)
    whole = modularity_test(weights, modules, n_nulls=6, seed=5)
    pooled = pool_modularity_tests([modularity_test(weights, modules, n_nulls=1, seed=5 + i) for i in range(6)])
    np.testing.assert_allclose(pooled.null, whole.null)
    assert (pooled.q, pooled.p, pooled.seed) == (whole.q, whole.p, whole.seed)
    assert pooled.z == pytest.approx(whole.z)


def test_pooled_test_of_nothing_has_no_number():
    modules = [0, 0, 0]
    pooled = pool_modularity_tests([modularity_test(np.zeros((3, 3)), modules, n_nulls=1, seed=i) for i in range(2)])
    assert np.isnan(pooled.z)
    assert np.isnan(pooled.p)


def test_pooled_small_world_is_the_whole_one():
    weights = random_weights(16, seed=2, density=0.6)
    whole = small_world(weights, n_nulls=3, seed=4)
    pooled = pool_small_worlds([small_world(weights, n_nulls=1, seed=4 + i) for i in range(3)])
    for name in ("sigma", "omega", "random_clustering", "random_path_length", "lattice_clustering"):
        assert getattr(pooled, name) == pytest.approx(getattr(whole, name)), name
    assert (pooled.n_nulls, pooled.seed) == (3, 4)


def test_different_questions_are_not_pooled():
    one, other = random_weights(10, seed=0), random_weights(10, seed=1)
    with pytest.raises(InputError, match="different modules"):
        pool_modularity_tests([modularity_test(graph, [1] * 5 + [2] * 5, n_nulls=1) for graph in (one, other)])
    with pytest.raises(InputError, match="different graphs"):
        pool_small_worlds([small_world(graph, n_nulls=1) for graph in (one, other)])
    with pytest.raises(InputError, match="no test to pool"):
        pool_modularity_tests([])


def test_steps_of_the_resolution_are_the_sweep():
    atlas = load_atlas("aal90")
    graph = BrainGraph(random_weights(90, seed=1, density=0.2), atlas)
    for row in resolution_sweep(graph, [0.8, 1.5], runs=4, seed=2).to_dict("records"):
        step = resolution_step(graph, row["resolution"], runs=4, seed=2)
        for name in ("n_modules", "q", "stability"):
            assert step[name] == pytest.approx(row[name]), name
        modules = louvain_modules(graph, resolution=row["resolution"], runs=4, seed=2)
        assert step["ami dosenbach"] == pytest.approx(module_agreement(modules, atlas, "dosenbach").ami)
        assert step["ami paper"] == pytest.approx(module_agreement(modules, atlas, "paper").ami)


def test_step_needs_two_runs():
    atlas = load_atlas("aal90")
    with pytest.raises(InputError, match="at least 2"):
        resolution_step(BrainGraph(bridged_cliques(45), atlas), 1.0, runs=1, seed=0)
