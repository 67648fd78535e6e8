"""The figures of one region's story hold what they were given, on paper as on the screen; words name its numbers."""

import networkx as nx
import numpy as np
import pytest
from drawn_figures import STYLE, drawn_by_both, entropies_of, of_story, on_screen, spectra_of, surroundings_of, traces
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex

from biobgt import InputError
from biobgt.data.atlas import Atlas
from biobgt.data.graph import BrainGraph
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.why_region import MOST_DRAWN, region_entropy, region_spectra, region_surroundings, story_sentences
from biobgt.hubs.measures import HubOptions
from biobgt.hubs.region import explain_region
from biobgt.hubs.table import measure_hubs

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
    after = region_surroundings.takes(perturbed=True)
    before = shown(region_surroundings, region_surroundings.takes(), story, simulated=True).caption
    assert before.startswith(
        f"Simulated subject s: R0 in the middle and the {MOST_DRAWN} strongest of its 20 neighbours"
    )
    assert "every pair is connected with the same weight" in shown(region_surroundings, after, story).caption
    removed = story_of(STAR, 0, perturbation="remove")
    assert "lost all its connections" in shown(region_surroundings, after, removed).caption
    assert "changes nothing here" in shown(region_surroundings, after, story_of(STAR, 1)).caption
    assert "21 eigenvalues" in shown(region_spectra, region_spectra.takes(), story).caption
    assert "γ = 0.5/mean(λ)" in shown(region_entropy, region_entropy.takes(), story).caption


# On paper.

NAMES = ("Middle", "A", "B", "C")
WEIGHTS = np.array([[0, 0.8, 0.4, 0], [0.8, 0, 0.2, 0], [0.4, 0.2, 0, 0.6], [0, 0, 0.6, 0.0]])
BEFORE, AFTER = np.array([0.0, 1.0, 2.0, 4.0]), np.array([0.0, 1.5, 2.0, 3.0])
GAMMAS = np.array([0.1, 1.0, 10.0])


def connections(axes):
    """Ends of every line as names of regions, with its width; by what kind of line it is."""
    (dots,) = (drawn for drawn in axes.collections if not isinstance(drawn, LineCollection))
    at = {tuple(place.round(6)): name for name, place in zip(NAMES, np.asarray(dots.get_offsets()), strict=False)}
    return {
        lines.get_label(): {
            frozenset(at[tuple(end.round(6))] for end in ends): width
            for ends, width in zip(lines.get_segments(), lines.get_linewidths(), strict=True)
        }
        for lines in axes.collections
        if isinstance(lines, LineCollection)
    }


def test_surroundings_connect_the_regions_of_the_matrix_thicker_where_stronger():
    axes = draw_on_paper(surroundings_of(NAMES, WEIGHTS), STYLE).axes[0]
    drawn = connections(axes)
    assert set(drawn["of the region"]) == {frozenset({"Middle", "A"}), frozenset({"Middle", "B"})}
    assert set(drawn["among its neighbours"]) == {frozenset({"A", "B"}), frozenset({"B", "C"})}
    widths = {pair: width for lines in drawn.values() for pair, width in lines.items()}
    steps = [widths[frozenset(pair)] for pair in (("A", "B"), ("Middle", "B"), ("B", "C"), ("Middle", "A"))]
    np.testing.assert_allclose(np.diff(steps), steps[1] - steps[0], err_msg="0.2, 0.4, 0.6, 0.8")
    half = draw_on_paper(surroundings_of(NAMES, WEIGHTS, 2 * WEIGHTS), STYLE).axes[0]
    assert connections(half)["of the region"][frozenset({"Middle", "A"})] == pytest.approx(steps[1])


def test_regions_stand_as_on_the_screen_beside_their_names():
    screen = on_screen(surroundings_of(NAMES, WEIGHTS))
    axes = draw_on_paper(surroundings_of(NAMES, WEIGHTS), STYLE).axes[0]
    (dots,) = (drawn for drawn in axes.collections if not isinstance(drawn, LineCollection))
    places = np.asarray(dots.get_offsets())
    theirs = np.column_stack([screen.data[-1].x, screen.data[-1].y])
    for axis in (0, 1):  # stretched, never mirrored
        np.testing.assert_allclose(
            places[:, axis] / places[:, axis].max(), theirs[:, axis] / theirs[:, axis].max(), atol=1e-9
        )
    assert [to_hex(colour) for colour in dots.get_facecolors()] == [
        colour.lower() for colour in screen.data[-1].marker.color
    ]
    named = {text.get_text(): np.array(text.get_position()) for text in axes.texts}
    assert set(named) == set(NAMES)
    for name, place in zip(NAMES, places, strict=True):
        distances = np.linalg.norm(places - named[name], axis=1)
        assert distances.argmin() == NAMES.index(name), f"{name} stands nearest to its own circle at {place}"


def test_a_region_without_neighbours_stands_alone():
    axes = draw_on_paper(surroundings_of(["Only"], np.zeros((1, 1))), STYLE).axes[0]
    assert [text.get_text() for text in axes.texts] == ["Only"]
    assert not any(lines for lines in connections(axes).values())


def test_spectra_and_their_change():
    screen, _ = drawn_by_both(spectra_of(BEFORE, AFTER))
    assert [list(trace.y) for trace in screen.data] == [BEFORE.tolist(), AFTER.tolist(), [0, 0.5, 0, -1]]
    assert list(screen.data[2].x) == [1, 2, 3, 4]


def test_entropies_and_the_chosen_gamma():
    before, after, typical = np.array([[5.0, 3.0, 1.0], [5.0, 3.5, 0.8], [0.1, 0.2, 0.1]])
    screen, printed = drawn_by_both(entropies_of(GAMMAS, before, after, typical=typical, gamma=3.0))
    drawn = {"S(G), as measured": before, "S(Gᵢ), perturbed": after, "|ΔS|, median region": typical}
    for name, values in (drawn | {"|ΔS| of this region": [0, 0.5, 0.2]}).items():
        np.testing.assert_allclose(traces(screen)[name].y, values)
    assert {(line.x0, line.x1) for line in screen.layout.shapes} == {(3.0, 3.0)}
    assert screen.layout.xaxis.type == screen.layout.xaxis2.type == "log"
    for axes in printed.axes:
        assert [line.get_xdata()[0] for line in axes.lines if len(set(line.get_xdata())) == 1] == [3.0]


def test_what_cannot_be_drawn_is_refused():
    names = [f"Region {i}" for i in range(MOST_DRAWN + 1)]
    low = PaperStyle(height_mm=40)
    with pytest.raises(InputError, match="no room for the regions' names; choose at least 4"):
        draw_on_paper(surroundings_of(names, np.ones((17, 17))), low)
