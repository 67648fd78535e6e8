"""Why this region: the surroundings, spectra and entropies of the story are those that node entanglement compares."""

import numpy as np
import pytest
from hub_graphs import BARBELL, CLIQUE, EMPTY, PATH, STAR, TWO_PARTS, random_weights, weighted_graphs
from hypothesis import given, settings
from hypothesis import strategies as st

from biobgt import InputError
from biobgt.data.atlas import numbered_atlas
from biobgt.data.graph import BrainGraph
from biobgt.hubs import HUB_MEASURES, HubOptions, node_entanglement, spectral_entropy
from biobgt.hubs.entanglement import laplacian
from biobgt.hubs.table import _region_neighbourhood, explain_region, measure_hubs

GAMMAS = (0.1, 0.5, 2.0, 30.0)


def story_of(weights, region, *, perturbation="control", gamma=0.5):
    graph = BrainGraph(weights, numbered_atlas(len(weights)), subject="s")
    hubs = measure_hubs(graph, weights, perturbation=perturbation)
    return explain_region(graph, hubs, region, options=HubOptions(gamma), gammas=GAMMAS)


def perturbed_weights(weights, region, perturbation):
    """The whole graph after the perturbation, written out."""
    found = _region_neighbourhood(weights, region, perturbation=perturbation)
    whole = weights.copy()
    whole[np.ix_(found.members, found.members)] = found.after
    return whole


def test_star_becomes_a_clique_of_the_same_weight():
    found = _region_neighbourhood(STAR, 0)
    assert found.members == (0, 1, 2, 3, 4)
    assert (found.n_neighbours, found.n_pairs, found.n_connected) == (4, 10, 4)
    assert found.total_weight == 4
    np.testing.assert_allclose(found.after, 0.4 * (1 - np.eye(5)))


def test_removed_region_is_cut_off_and_its_neighbours_are_left_alone():
    found = _region_neighbourhood(TWO_PARTS, 1, perturbation="remove")
    assert set(found.members) == {0, 1, 2}
    assert found.members[0] == 1
    np.testing.assert_array_equal(found.after, [[0, 0, 0], [0, 0, 1], [0, 1, 0]])


def test_neighbours_come_strongest_first():
    weights = np.zeros((4, 4))
    weights[2, [0, 1, 3]] = weights[[0, 1, 3], 2] = [0.2, 0.9, 0.5]
    assert _region_neighbourhood(weights, 2).members == (2, 1, 3, 0)


@pytest.mark.parametrize(("weights", "region"), [(PATH, 0), (CLIQUE, 3), (EMPTY, 1)])
def test_even_surroundings_stay_as_they_are(weights, region):
    story = story_of(weights, region)
    np.testing.assert_allclose(story.neighbourhood.after, story.neighbourhood.before, atol=1e-12)
    assert story.n_changed == 0
    np.testing.assert_array_equal(story.change, 0)


def test_unknown_region_is_named():
    with pytest.raises(InputError, match="no region 9; the graph has regions 0 to 8"):
        _region_neighbourhood(BARBELL, 9)


@settings(deadline=None)  # every measure of the hub table is computed, and machines differ
@given(weights=weighted_graphs, data=st.data(), perturbation=st.sampled_from(["control", "remove"]))
def test_drawn_graph_has_the_spectrum_and_entropy_that_the_story_tells(weights, data, perturbation):
    region = data.draw(st.integers(0, len(weights) - 1))
    altered = perturbed_weights(weights, region, perturbation)
    if perturbation == "control":
        assert altered.sum() == pytest.approx(weights.sum())
    story = story_of(weights, region, perturbation=perturbation)
    spectrum = np.linalg.eigvalsh(laplacian(altered))
    np.testing.assert_allclose(story.spectrum_after, spectrum, atol=1e-9)
    unit = len(weights) / weights.sum() if weights.any() else 1.0
    entropies = [spectral_entropy(np.maximum(spectrum, 0), gamma * unit) for gamma in GAMMAS]
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
        assert story.change[GAMMAS.index(2.0)] == pytest.approx(expected[region], abs=1e-12)
        assert story.typical_change[GAMMAS.index(2.0)] == pytest.approx(np.median(expected))
        assert set(story.standings) == set(HUB_MEASURES)
        standing = story.standings["node_entanglement"]
        assert standing.value == pytest.approx(expected[region])
        assert standing.rank == 1 + (expected > expected[region]).sum()
        assert story.standings["degree"].value == np.count_nonzero(weights[region])


def test_real_region_with_many_neighbours(real_graph, real_connectivity):
    hubs = measure_hubs(real_graph, real_connectivity)
    region = int(hubs.measures["degree"].argmax())
    story = explain_region(real_graph, hubs, region, gammas=GAMMAS)
    around = story.neighbourhood
    assert around.n_neighbours == hubs.measures["degree"][region]
    assert np.triu(around.after).sum() == pytest.approx(around.total_weight)
    assert story.name == real_graph.atlas.regions[region]
    np.testing.assert_array_equal(np.diff(around.before[0, 1:]) <= 0, True)
