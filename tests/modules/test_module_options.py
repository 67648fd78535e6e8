"""How modules are found: the best run or the consensus, with negative weights or without."""

from inspect import signature

import numpy as np
import pytest

from biobgt import BrainGraph, load_atlas, modules
from biobgt.modules import consensus_modules, louvain_modules
from biobgt.modules.measures import ModuleOptions
from biobgt.modules.structure import find_modules, graph_for_modules, measure_modules


@pytest.fixture
def graph(rng):
    upper = np.triu(rng.uniform(-0.6, 0.6, (90, 90)) * (rng.random((90, 90)) < 0.3), 1)
    return BrainGraph(upper + upper.T, load_atlas("aal90"), simulated=True)


@pytest.mark.parametrize("name", ["louvain_modules", "consensus_modules", "resolution_sweep"])
def test_runs_and_seed_have_one_default(name):
    parameters = signature(getattr(modules, name)).parameters
    assert (parameters["runs"].default, parameters["seed"].default) == (ModuleOptions().runs, ModuleOptions().seed)


def test_consensus_is_that_of_all_runs(graph):
    found = find_modules(graph, ModuleOptions(resolution=1.2, runs=6, seed=3, consensus=True))
    expected = consensus_modules(graph, resolution=1.2, runs=6, seed=3)
    np.testing.assert_array_equal(found.labels, expected.labels)
    assert found.q == expected.q


def test_negative_weights_count_only_if_asked_to(graph):
    both = find_modules(graph, ModuleOptions(runs=3))
    positive = find_modules(graph, ModuleOptions(runs=3, signed=False))
    assert both.signed
    assert not positive.signed
    without = louvain_modules(np.maximum(graph.weights, 0), runs=3)
    np.testing.assert_array_equal(positive.labels, without.labels)
    assert positive.q == without.q != both.q


def test_graph_without_negative_weights_is_the_same_but_for_them(graph):
    assert graph_for_modules(graph, ModuleOptions()) is graph
    positive = graph_for_modules(graph, ModuleOptions(signed=False))
    assert positive.simulated
    assert positive.atlas is graph.atlas
    np.testing.assert_array_equal(positive.weights, np.where(graph.weights > 0, graph.weights, 0))


def test_measures_are_of_the_modules_that_were_asked_for(graph):
    options = ModuleOptions(runs=4, consensus=True, signed=False)
    measured = measure_modules(graph, np.clip(graph.weights, -1, 1), options)
    np.testing.assert_array_equal(measured.partition.labels, find_modules(graph, options).labels)
    assert measured.measures["modules"] == measured.partition.n_modules
