"""Figures for the paper draw the numbers they are given, the same as their twins on the screen."""

from dataclasses import replace

import numpy as np
import pytest
from brain_drawings import brain_3d, five_glass_brains, glass_brain
from hub_figures import CURVES, STUDY, curves_of, group_behind, on_screen, scatter_of, sweep_of, traces
from matplotlib.colors import to_hex

from biobgt import InputError
from biobgt.figures import order_regions, paper
from biobgt.figures.paper.pen import draw_on_paper

STYLE = paper.PaperStyle(dpi=100)
REGIONS = ("A", "B", "C", "D")
ORDER = order_regions(4, ["x", "y", "x", None])
MATRIX = np.array([[1, 0.5, -0.2, 0.1], [0.5, 1, 0.3, 0.31], [-0.2, 0.3, 1, 0.9], [0.1, 0.31, 0.9, 1]])
PLACES = np.array([[-40.0, 0, 10], [40, 5, 10], [-20, 50, 20], [10, -60, 0]])
VALUES = np.array([2.0, 1.0, np.nan, 4.0])


def lines(axes):
    return {line.get_label(): line for line in axes.lines}


def view(figure, k):
    """The k-th view of a glass brain; nilearn's frame is the first of the figure's axes."""
    return figure.axes[1 + k]


def nodes(axes):
    """Offsets of all nodes in one view, and their colours and sizes; connections leave nodes of size 0."""
    drawn = [dots for dots in axes.collections if len(dots.get_offsets()) and dots.get_sizes().max() > 0]
    offsets = np.vstack([dots.get_offsets() for dots in drawn])
    colours = np.vstack([np.broadcast_to(dots.get_facecolors(), (len(dots.get_offsets()), 4)) for dots in drawn])
    return offsets, colours, np.concatenate([dots.get_sizes() for dots in drawn])


@pytest.mark.parametrize("scale", ["z", "rank", "raw"])
@pytest.mark.parametrize("with_group", [False, True])
def test_curves(scale, with_group):
    means, sds = ({name: values + 1 for name, values in CURVES.items()}, {n: v**2 for n, v in CURVES.items()})
    group = group_behind("NC", 2, means, sds) if with_group else None
    shown = curves_of(REGIONS, scale=scale, order=ORDER, group=group, region="D")
    screen, figure = traces(on_screen(shown)), draw_on_paper(shown, STYLE)
    assert len(figure.axes) == (3 if with_group or scale == "raw" else 1)
    drawn = {label: line for axes in reversed(figure.axes) for label, line in lines(axes).items()}
    for name in ("NE", "NEff", "FC strength", *(["NC, mean ± SD"] if with_group else [])):
        expected = CURVES["node_entanglement"][[0, 2, 1, 3]] + 1 if name.startswith("NC") else screen[name].y
        np.testing.assert_array_equal(drawn[name].get_ydata(), expected)
    np.testing.assert_array_equal(drawn["hubs by NE"].get_ydata(), screen["hubs by NE"].y)
    np.testing.assert_array_equal(drawn["hubs by NE"].get_xdata(), [2])
    assert drawn["D"].get_xydata().tolist() == [[3, 0.3]]
    assert figure.axes[0].yaxis_inverted() == (scale == "rank")
    if with_group:
        band = figure.axes[1].collections[0].get_paths()[0].vertices
        mean, sd = (values["node_efficiency"][[0, 2, 1, 3]] for values in (means, sds))
        for i in range(4):
            assert band[band[:, 0] == i, 1].min() == pytest.approx(mean[i] - sd[i])
            assert band[band[:, 0] == i, 1].max() == pytest.approx(mean[i] + sd[i])


def test_scatter():
    shown = scatter_of(REGIONS, region="A")
    screen, figure = traces(on_screen(shown)), draw_on_paper(shown, STYLE)
    drawn = lines(figure.axes[0])
    assert set(drawn) == {"hubs by NE", "other regions", "A"}
    for name, points in drawn.items():
        np.testing.assert_array_equal(points.get_xydata(), np.column_stack([screen[name].x, screen[name].y]))
    assert drawn["A"].get_xydata().tolist() == [[-1.0, 0.1]]
    assert figure.get_suptitle() == shown.subtitle
    titled = draw_on_paper(shown, replace(STYLE, titles=True))
    assert titled.get_suptitle() == f"NE against FC strength\n{shown.subtitle}"


def test_sweep():
    shown = sweep_of(0.5, study=STUDY)
    screen, axes = traces(on_screen(shown)), draw_on_paper(shown, STYLE).axes[0]
    drawn = lines(axes)
    for name, trace in screen.items():
        np.testing.assert_array_equal(drawn[name].get_xdata(), trace.x)
        np.testing.assert_array_equal(drawn[name].get_ydata(), trace.y)
    low = axes.collections[0].get_paths()[0].vertices
    assert {tuple(corner) for corner in low.round(9)} == {(0.1, 0.5), (0.1, 0.7), (10.0, 0.0), (10.0, 0.4)}
    assert axes.get_xscale() == "log"


def test_glass_brain_draws_each_region_at_its_place_in_its_colour():
    about = {"values": VALUES, "sizes": CURVES["node_efficiency"], "quantity": "NE"}
    screen = brain_3d(PLACES, REGIONS, **about).layout.coloraxis
    figure = glass_brain(PLACES, REGIONS, **about, style=STYLE)
    seen = {}
    for k, kept in ((1, [0, 2]), (3, [0, 1])):  # from the front and from above
        offsets, colours, sizes = nodes(view(figure, k))
        for region, place in enumerate(PLACES[:, kept]):
            here = np.flatnonzero((offsets == place).all(axis=1))
            assert len(here) == 1
            seen.setdefault(region, set()).add((to_hex(colours[here[0]]), sizes[here[0]].round(6)))
    colours = [next(iter(seen[region]))[0] for region in range(4)]
    sizes = np.array([next(iter(seen[region]))[1] for region in range(4)])
    assert [len(seen[region]) for region in range(4)] == [1, 1, 1, 1], "the same in every view"
    assert colours[1] == "#440154", "the lowest of viridis"
    assert colours[2] == "#9aa5ab", "grey without a value"
    assert colours[3] == "#fde725", "the highest of viridis"
    np.testing.assert_allclose(np.diff(sizes), np.diff(sizes)[0], err_msg="areas grow evenly")
    bar = figure.axes[-1]
    assert bar.get_xlim() == (screen.cmin, screen.cmax)
    assert bar.get_xlabel() == "NE"


def test_glass_brain_shows_a_hemisphere_its_own_regions_and_names_the_modules():
    groups = ["Module 1", "Module 2", None, "Module 1"]
    figure = glass_brain(PLACES, REGIONS, groups=groups, style=replace(STYLE, titles=True), title="T", simulated=True)
    left, colours, _ = nodes(view(figure, 0))
    assert {tuple(place) for place in left} == {(0, 10), (50, 20)}
    right, _, _ = nodes(view(figure, 2))
    assert {tuple(place) for place in right} == {(5, 10), (-60, 0)}
    legend = figure.legends[0]
    assert [text.get_text() for text in legend.get_texts()] == ["Module 1", "Module 2", "no module"]
    marks = [to_hex(handle.get_color()) for handle in legend.legend_handles]
    assert marks == ["#0072b2", "#e69f00", "#9aa5ab"]
    assert {to_hex(colour) for colour in colours} == {"#0072b2", "#9aa5ab"}
    assert "T · simulated" in [text.get_text() for text in figure.texts]


def test_glass_brain_draws_connections():
    edges = [(0, 1, 0.1), (1, 3, -0.9)]
    figure = glass_brain(PLACES, REGIONS, edges=edges, style=STYLE)
    above = {
        (frozenset(map(tuple, line.get_xydata().tolist())), line.get_linewidth(), line.get_linestyle())
        for line in view(figure, 3).lines
    }
    assert above == {
        (frozenset({(-40.0, 0.0), (40.0, 5.0)}), 0.3, "-"),
        (frozenset({(40.0, 5.0), (10.0, -60.0)}), 1.2, "--"),
    }
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["connections"]


@pytest.mark.parametrize("width", [85, 174])
def test_five_brains_share_a_scale_and_have_a_caption_each(width):
    names = ("DC: degree centrality", "BC", "CC", "EC", "NE")
    panels = {name: np.arange(4.0) * (i + 1) for i, name in enumerate(names)}
    style = paper.PaperStyle(width_mm=width, dpi=100)
    figure = five_glass_brains(panels, PLACES, REGIONS, quantity="z", simulated=True, style=style)
    texts = [text.get_text() for text in figure.texts]
    assert texts == ["simulated", "a DC: degree centrality", "b BC", "c CC", "d EC", "e NE"]
    assert figure.axes[-1].get_xlim() == (0, 15)
    highest = []
    for k in range(5):
        offsets, colours, _ = nodes(figure.axes[5 * k + 4])  # a frame and four views each; the last is from above
        highest.append(to_hex(colours[(offsets == PLACES[3, :2]).all(axis=1)][0]))
    assert highest[-1] == "#fde725"
    assert len(set(highest)) == 5, "one scale for all: the same rank has another colour in each"
    rows = {round(axes.get_position().y0, 6) for axes in figure.axes[:-1:5]}
    assert len(rows) == (5 if width == 85 else 3)


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(InputError, match="A height of 30 mm leaves no room"):
        draw_on_paper(curves_of(REGIONS, scale="raw"), paper.PaperStyle(height_mm=30))


def test_a_given_height_is_kept():
    style = paper.PaperStyle(height_mm=93, dpi=100)
    for figure in (
        draw_on_paper(curves_of(REGIONS, scale="raw"), style),
        glass_brain(PLACES, REGIONS, values=VALUES, style=style),
    ):
        assert figure.get_figheight() * 25.4 == pytest.approx(93)


def test_palette_changes_the_colours():
    style = paper.PaperStyle(palette="tol-muted", dpi=100)
    axes = draw_on_paper(curves_of(REGIONS), style).axes[0]
    assert lines(axes)["NE"].get_color() == "#332288"
