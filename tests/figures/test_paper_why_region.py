"""Why this region, in the paper: the screen's numbers, and no text cut or covered."""

import numpy as np
import pytest
from hub_figures import entropies_of, on_screen, spectra_of, surroundings_of
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from paper_texts import texts_inside_and_apart

from biobgt import InputError
from biobgt.figures import paper
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.why_region import MOST_DRAWN

STYLE = paper.PaperStyle(dpi=100)
NAMES = ("Middle", "A", "B", "C")
WEIGHTS = np.array([[0, 0.8, 0.4, 0], [0.8, 0, 0.2, 0], [0.4, 0.2, 0, 0.6], [0, 0, 0.6, 0.0]])
BEFORE, AFTER = np.array([0.0, 1.0, 2.0, 4.0]), np.array([0.0, 1.5, 2.0, 3.0])
GAMMAS = np.array([0.1, 1.0, 10.0])
LINE_STYLES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-."}


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


def test_spectra_are_the_screens():
    shown = spectra_of(BEFORE, AFTER)
    screen = on_screen(shown)
    top, below = draw_on_paper(shown, STYLE).axes
    drawn = {line.get_label(): line for line in top.lines}
    for trace in screen.data[:2]:
        np.testing.assert_array_equal(drawn[trace.name].get_xdata(), trace.x)
        np.testing.assert_array_equal(drawn[trace.name].get_ydata(), trace.y)
        assert drawn[trace.name].get_color().lower() == trace.line.color.lower()
        assert drawn[trace.name].get_linestyle() == LINE_STYLES[trace.line.dash]
    (bars,) = below.containers
    np.testing.assert_array_equal([bar.get_height() for bar in bars], [0, 0.5, 0, -1])
    np.testing.assert_array_equal([bar.get_height() for bar in bars], screen.data[2].y)


def test_entropies_are_the_screens_and_the_chosen_gamma_is_marked():
    options = {"typical": np.array([0.1, 0.2, 0.1]), "gamma": 3.0}
    before, after = np.array([5.0, 3.0, 1.0]), np.array([5.0, 3.5, 0.8])
    shown = entropies_of(GAMMAS, before, after, **options)
    screen = on_screen(shown)
    panels = draw_on_paper(shown, STYLE).axes
    drawn = {line.get_label(): line for axes in panels for line in axes.lines}
    for trace in screen.data:
        np.testing.assert_array_equal(drawn[trace.name].get_ydata(), trace.y)
        np.testing.assert_array_equal(drawn[trace.name].get_xdata(), trace.x)
        assert drawn[trace.name].get_color().lower() == trace.line.color.lower()
        assert drawn[trace.name].get_linestyle() == LINE_STYLES[trace.line.dash]
    np.testing.assert_allclose(drawn["|ΔS| of this region"].get_ydata(), [0, 0.5, 0.2])
    for axes in panels:
        assert axes.get_xscale() == "log"
        assert [line.get_xdata()[0] for line in axes.lines if len(set(line.get_xdata())) == 1] == [3.0]


def test_what_cannot_be_drawn_is_refused():
    names = [f"Region {i}" for i in range(MOST_DRAWN + 1)]
    low = paper.PaperStyle(height_mm=40)
    with pytest.raises(InputError, match="no room for the regions' names; choose at least 4"):
        draw_on_paper(surroundings_of(names, np.ones((17, 17))), low)


MANY = [f"Temporal_Sup_Pole_L ({i})" for i in range(MOST_DRAWN + 1)]
CASES = {
    "surroundings": lambda s: draw_on_paper(surroundings_of(MANY, np.ones((17, 17)) - np.eye(17), simulated=True), s),
    "one neighbour": lambda s: draw_on_paper(surroundings_of(MANY[:2], np.ones((2, 2)) - np.eye(2), simulated=True), s),
    "spectra": lambda s: draw_on_paper(spectra_of(np.linspace(0, 30, 200), np.linspace(0, 29, 200), simulated=True), s),
    "entropies": lambda s: draw_on_paper(
        entropies_of(GAMMAS, GAMMAS / 1e4, GAMMAS / 2e4, typical=GAMMAS / 1e6, gamma=0.5, simulated=True), s
    ),
}


@pytest.mark.parametrize(("width", "font_size"), [(85, 7), (85, 10), (174, 7)])
@pytest.mark.parametrize("case", CASES)
def test_texts_lie_inside_the_figure_and_apart(case, width, font_size, monkeypatch):
    figure = CASES[case](paper.PaperStyle(width_mm=width, font_size=font_size, dpi=150))
    assert figure.get_figwidth() * 25.4 == pytest.approx(width)
    assert any("simulated" in text for text in texts_inside_and_apart(figure, monkeypatch))
