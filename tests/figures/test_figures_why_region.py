"""The figures of one region's story hold what they were given, and the words name its numbers."""

import networkx as nx
import numpy as np
import pytest
from hub_figures import entropies_of, of_story, on_screen, spectra_of, surroundings_of

from biobgt.data.atlas import Atlas
from biobgt.data.graph import BrainGraph
from biobgt.figures.why_region import (
    MOST_DRAWN,
    EntropyOptions,
    RegionOptions,
    SurroundingsOptions,
    region_entropy,
    region_spectra,
    region_surroundings,
    story_sentences,
)
from biobgt.hubs.measures import HubOptions
from biobgt.hubs.table import explain_region, measure_hubs

STAR = nx.to_numpy_array(nx.star_graph(4))


def story_of(weights, region, *, perturbation="control", gamma=0.5):
    names = tuple(f"R{i}" for i in range(len(weights)))
    graph = BrainGraph(weights, Atlas("a", "A", names), subject="s")
    hubs = measure_hubs(graph, weights, perturbation=perturbation)
    return explain_region(graph, hubs, region, options=HubOptions(gamma), gammas=(0.1, 0.5, 5.0))


def lines(figure):
    """Width and colour of every straight line drawn."""
    drawn = [trace for trace in figure.data if trace.mode == "lines"]
    return [(trace.line.width, trace.line.color) for trace in drawn for x in trace.x if np.isnan(x)]


def test_drawing_has_a_line_a_connection_and_thicker_ones_are_stronger():
    weights = np.array([[0, 0.9, 0.2], [0.9, 0, 0.5], [0.2, 0.5, 0]])
    figure = on_screen(surroundings_of(["A", "<b>B</b>", "C"], weights, simulated=True))
    widths = sorted(lines(figure))
    assert len(widths) == 3
    blue = sorted(width for width, colour in widths if colour == "#0072B2")
    (grey,) = (width for width, colour in widths if colour == "#7A868C")
    assert blue[0] < grey < blue[1]
    circles = figure.data[-1]
    assert (circles.x[0], circles.y[0]) == (0, 0)
    assert list(circles.hovertext) == [
        "A<br>the region itself",
        "&lt;b&gt;B&lt;/b&gt;<br>weight 0.9",
        "C<br>weight 0.2",
    ]
    assert [note.text for note in figure.layout.annotations] == ["<b>A</b>"]
    assert list(circles.text) == ["", "&lt;b&gt;B&lt;/b&gt;", "C"]
    assert figure.layout.title.text == "A: as measured · simulated"


def test_clique_is_drawn_evenly_and_a_region_alone_without_lines():
    clique = 0.3 * (1 - np.eye(4))
    assert len({width for width, _ in lines(on_screen(surroundings_of("ABCD", clique)))}) == 1
    assert lines(on_screen(surroundings_of("A", np.zeros((1, 1))))) == []


def test_lines_are_as_thick_before_as_after():
    before, after = 0.3 * (1 - np.eye(3)), 0.9 * (1 - np.eye(3))
    thin, thick = (lines(on_screen(surroundings_of("ABC", before, after, perturbed=p)))[0][0] for p in (False, True))
    assert thin < thick == lines(on_screen(surroundings_of("ABC", after)))[0][0]


def test_long_names_keep_both_ends():
    figure = on_screen(surroundings_of(["A", "Frontal_Inf_Oper_L (123)"], 1 - np.eye(2)))
    assert figure.data[-1].text[1] == "Frontal_In…er_L (123)"


def test_spectra_and_their_change():
    figure = on_screen(spectra_of(np.array([0.0, 1.0, 3.0]), np.array([0.0, 1.5, 2.5])))
    before, after, change = figure.data
    np.testing.assert_allclose(before.y, [0, 1, 3])
    np.testing.assert_allclose(after.y, [0, 1.5, 2.5])
    np.testing.assert_allclose(change.y, [0, 0.5, -0.5])
    assert list(change.x) == [1, 2, 3]


def test_entropies_their_difference_and_the_chosen_gamma():
    gammas = np.array([0.1, 1.0, 10.0])
    figure = on_screen(
        entropies_of(
            gammas, np.array([3.0, 2.0, 1.0]), np.array([3.0, 2.5, 0.8]), typical=np.array([0, 0.1, 0.1]), gamma=1.0
        )
    )
    drawn = {trace.name: trace for trace in figure.data}
    np.testing.assert_allclose(drawn["S(G), as measured"].y, [3, 2, 1])
    np.testing.assert_allclose(drawn["S(Gᵢ), perturbed"].y, [3, 2.5, 0.8])
    np.testing.assert_allclose(drawn["|ΔS| of this region"].y, [0, 0.5, 0.2])
    np.testing.assert_allclose(drawn["|ΔS|, median region"].y, [0, 0.1, 0.1])
    assert {(line.x0, line.x1) for line in figure.layout.shapes} == {(1.0, 1.0)}
    assert figure.layout.xaxis.type == figure.layout.xaxis2.type == "log"


def test_story_of_a_star_in_words():
    # The star of 4 has eigenvalues 0, 1, 1, 1, 5; the clique of weight 0.4 has 0 and four times 2.
    surroundings, perturbation, spectra, entropies, _, standings = story_sentences(story_of(STAR, 0))
    assert surroundings == (
        "R0 has 4 neighbours, the strongest connection being 1. Among these 5 regions 4 of 10 pairs are connected, "
        "with a total weight of 4."
    )
    assert "connects all 10 pairs with weight 0.4 each" in perturbation
    assert spectra.startswith("This changes 4 of the graph's 5 Laplacian eigenvalues")
    assert spectra.endswith("one from 5 to 2.")
    story = story_of(STAR, 0)
    assert f"{story.standings['node_entanglement'].value:.3f} bit, is its node entanglement: rank 1 of 5" in entropies
    assert "rank 1 by vertex entanglement, 1 by node efficiency" in standings


def test_story_of_a_removed_region_in_words():
    words = " ".join(story_sentences(story_of(STAR, 0, perturbation="remove")))
    assert "Removing it takes away 4 connections with a total weight of 4" in words
    assert "clique" not in words


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (STAR, "R1 has 1 neighbour. Among these 2 regions 1 of 1 pair is connected, with a total weight of 1."),
        (STAR, "These surroundings are already a clique with equal weights"),
        (STAR, "the entropy stays at"),
        (np.zeros((3, 3)), "R1 has no neighbours"),
        (np.zeros((3, 3)), "There is nothing to perturb, so its node entanglement is 0."),
        (np.zeros((3, 3)), "None of the graph's 3 Laplacian eigenvalues changes."),
    ],
)
def test_where_nothing_changes_the_words_say_so(weights, sentence):
    words = " ".join(story_sentences(story_of(weights, 1)))
    assert sentence in words
    assert "nan" not in words


def shown(figure, options, story, **about):
    return of_story(figure, options, story, [f"R{i}" for i in range(story.n_regions)], **about)


def test_captions_say_whose_and_how_many():
    story = story_of(nx.to_numpy_array(nx.star_graph(20)), 0)
    after = SurroundingsOptions(perturbed=True)
    before = shown(region_surroundings, SurroundingsOptions(), story, simulated=True).caption
    assert before.startswith(
        f"Simulated subject s: R0 in the middle and the {MOST_DRAWN} strongest of its 20 neighbours"
    )
    assert "every pair is connected with the same weight" in shown(region_surroundings, after, story).caption
    removed = story_of(STAR, 0, perturbation="remove")
    assert "lost all its connections" in shown(region_surroundings, after, removed).caption
    assert "changes nothing here" in shown(region_surroundings, after, story_of(STAR, 1)).caption
    assert "21 eigenvalues" in shown(region_spectra, RegionOptions(), story).caption
    assert "γ = 0.5/mean(λ)" in shown(region_entropy, EntropyOptions(), story).caption
