"""What node entanglement compares for one region: by hand, and against spectra and entropies of the drawn graph."""

import numpy as np
import pytest
from hub_graphs import BARBELL, CLIQUE, EMPTY, PATH, STAR, TWO_PARTS, random_weights, weighted_graphs
from hypothesis import given
from hypothesis import strategies as st

from biobgt.base.errors import InputError
from biobgt.data.atlas import numbered_atlas
from biobgt.data.graph import BrainGraph
from biobgt.hubs import HUB_MEASURES, measure_hubs, node_entanglement, spectral_entropy
from biobgt.hubs.measures import HubOptions
from biobgt.hubs.region import explain_region

STORY_GAMMAS = (0.1, 0.5, 2.0, 30.0)


def story_of(weights, region, *, perturbation="control", gamma=0.5):
    graph = BrainGraph(weights, numbered_atlas(len(weights)), subject="s")
    hubs = measure_hubs(graph, weights, perturbation=perturbation)
    return explain_region(graph, hubs, region, options=HubOptions(gamma), gammas=STORY_GAMMAS)


def test_star_becomes_a_clique_of_the_same_weight():
    found = story_of(STAR, 0).neighbourhood
    assert found.members == (0, 1, 2, 3, 4)
    assert (found.n_neighbours, found.n_pairs, found.n_connected, found.total_weight) == (4, 10, 4, 4)
    np.testing.assert_allclose(found.after, 0.4 * (1 - np.eye(5)))


def test_removed_region_is_cut_off_and_its_neighbours_are_left_alone():
    found = story_of(TWO_PARTS, 1, perturbation="remove").neighbourhood
    assert found.members == (1, 0, 2)
    np.testing.assert_array_equal(found.after, [[0, 0, 0], [0, 0, 1], [0, 1, 0]])


def test_neighbours_come_strongest_first():
    weights = np.zeros((4, 4))
    weights[2, [0, 1, 3]] = weights[[0, 1, 3], 2] = [0.2, 0.9, 0.5]
    assert story_of(weights, 2).neighbourhood.members == (2, 1, 3, 0)


@pytest.mark.parametrize(("weights", "region"), [(PATH, 0), (CLIQUE, 3), (EMPTY, 1)])
def test_even_surroundings_stay_as_they_are(weights, region):
    story = story_of(weights, region)
    np.testing.assert_allclose(story.neighbourhood.after, story.neighbourhood.before, atol=1e-12)
    assert story.n_changed == 0
    np.testing.assert_array_equal(story.change, 0)


def test_unknown_region_is_named():
    with pytest.raises(InputError, match="region 9"):
        story_of(BARBELL, 9)


@given(weights=weighted_graphs, data=st.data(), perturbation=st.sampled_from(["control", "remove"]))
def test_drawn_graph_has_the_spectrum_and_entropy_that_the_story_tells(weights, data, perturbation):
    region = data.draw(st.integers(0, len(weights) - 1))
    story = story_of(weights, region, perturbation=perturbation)
    altered, members = weights.copy(), story.neighbourhood.members
    altered[np.ix_(members, members)] = story.neighbourhood.after
    if perturbation == "control":
        assert altered.sum() == pytest.approx(weights.sum())
    spectrum = np.linalg.eigvalsh(np.diag(altered.sum(axis=1)) - altered)
    np.testing.assert_allclose(story.spectrum_after, spectrum, atol=1e-9)
    unit = len(weights) / weights.sum() if weights.any() else 1.0
    entropies = [spectral_entropy(np.maximum(spectrum, 0), gamma * unit) for gamma in STORY_GAMMAS]
    np.testing.assert_allclose(story.entropy_after, entropies, atol=1e-9)


@pytest.mark.parametrize("perturbation", ["control", "remove"])
def test_difference_is_node_entanglement_and_standings_are_the_tables(perturbation):
    weights = random_weights(14, 0.5, seed=3)
    unit, chosen = len(weights) / weights.sum(), STORY_GAMMAS.index(2.0)
    expected = node_entanglement(weights, absolute_gamma=2.0 * unit, perturbation=perturbation)
    for region in range(len(weights)):
        story = story_of(weights, region, perturbation=perturbation, gamma=2.0)
        before, after = story.chosen_entropies
        assert abs(after - before) == pytest.approx(expected[region], abs=1e-12)
        assert story.change[chosen] == pytest.approx(expected[region], abs=1e-12)
        assert story.typical_change[chosen] == pytest.approx(np.median(expected))
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
