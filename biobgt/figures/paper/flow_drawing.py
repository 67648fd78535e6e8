"""Two divisions of the brain as a flow, drawn for paper."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path
from numpy.typing import NDArray

from biobgt.figures.module_flow import FLOW_OPACITY, Flow
from biobgt.figures.paper.paper_frame import POINTS_PER_MM, finish, fit_height, line_height, new_figure, set_title
from biobgt.figures.paper.saving import drawing
from biobgt.figures.paper_style import PaperStyle

_NODE_WIDTH = 0.04  # of the diagram's width
_FLOWS_MM = 30.0  # of all ribbons together, one below the other
_GAP_MM = 1.0  # between two nodes, and between two names


def draw_flow(shown: Flow, style: PaperStyle) -> Figure:
    """Draw a ribbon for each pair that shares regions."""
    counts = shown.counts
    left, right = ([style.colour(colour) for colour in side] for side in shown.colours)
    called = [[_in_lines(name) for name in side] for side in shown.called]
    line_mm = line_height(style.font_size) / POINTS_PER_MM
    named = [np.array([(name.count("\n") + 1) * line_mm for name in side]) for side in called]
    height, places = _places(counts, (named[0], named[1]))
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, shown.title, shown.simulated, style)
        axes = figure.add_subplot()
        opposite = axes.twinx()
        _draw_flows(axes, counts, places, left)
        _draw_nodes(axes, counts, places, (left, right))
        for side, own, ends, where in zip((axes, opposite), called, places, ("left", "right"), strict=True):
            sums = counts.sum(axis=1 if where == "left" else 0)
            side.set_ylim(height, 0)
            side.set_yticks([start + share / 2 for start, share in zip(ends[0], sums * ends[1], strict=True)], own)
            side.tick_params(axis="y", length=0, labelsize=style.font_size)
            side.spines[:].set_visible(False)
        axes.set_title(shown.sides[0], loc="left", fontweight="bold")
        axes.set_title(shown.sides[1], loc="right", fontweight="bold")
        axes.set_xlim(0, 1)
        axes.set_xticks([])
        fit_height(figure, [axes], style, panel_mm=height)
        return finish(figure, style)


Side = tuple[NDArray[np.float64], float]  # top of each node, and mm per region


def _places(
    counts: NDArray[np.int64], named: tuple[NDArray[np.float64], NDArray[np.float64]]
) -> tuple[float, tuple[Side, Side]]:
    """Height of the diagram and where nodes start, from the top in mm; the right side in the order of what flows there.

    A node takes the room of its regions or of its name, whichever is more.
    """
    rank = (counts * np.arange(len(counts))[:, None]).sum(axis=0) / np.maximum(counts.sum(axis=0), 1)
    orders = np.arange(len(counts)), np.argsort(rank, kind="stable")
    scale = _FLOWS_MM / counts.sum()
    sizes = [counts.sum(axis=1) * scale, counts.sum(axis=0) * scale]
    rooms = [np.maximum(size, names) + _GAP_MM for size, names in zip(sizes, named, strict=True)]
    height = float(max(room.sum() for room in rooms))
    tops = []
    for size, room, order in zip(sizes, rooms, orders, strict=True):
        middles = np.cumsum(room[order]) - room[order] / 2 + (height - room.sum()) / 2
        placed = np.empty(len(order))
        placed[order] = middles - size[order] / 2
        tops.append(placed)
    return height, ((tops[0], scale), (tops[1], scale))


def _draw_nodes(
    axes: Axes, counts: NDArray[np.int64], places: tuple[Side, Side], colours: tuple[Sequence[str], Sequence[str]]
) -> None:
    for x, (tops, scale), shades, axis in zip((0, 1 - _NODE_WIDTH), places, colours, (1, 0), strict=True):
        for top, size, colour in zip(tops, counts.sum(axis=axis), shades, strict=True):
            axes.add_patch(Rectangle((x, top), _NODE_WIDTH, size * scale, color=colour, linewidth=0))


def _draw_flows(axes: Axes, counts: NDArray[np.int64], places: tuple[Side, Side], colours: Sequence[str]) -> None:
    """A ribbon for each pair that shares regions, as wide at both ends as they are many."""
    (from_tops, scale), (to_tops, _) = places
    leave, arrive = from_tops.copy(), to_tops.copy()
    for i in range(len(counts)):
        for j in np.argsort(to_tops, kind="stable"):
            if not counts[i, j]:
                continue
            width = counts[i, j] * scale
            path = _ribbon(leave[i], arrive[j], width)
            axes.add_patch(PathPatch(path, facecolor=colours[i], alpha=FLOW_OPACITY, linewidth=0))
            leave[i] += width
            arrive[j] += width


def _ribbon(start: float, end: float, width: float) -> Path:
    x0, x1 = _NODE_WIDTH, 1 - _NODE_WIDTH
    corners = [
        *((x0, start), (0.5, start), (0.5, end), (x1, end)),
        *((x1, end + width), (0.5, end + width), (0.5, start + width), (x0, start + width)),
        (x0, start),
    ]
    curve = [Path.CURVE4] * 3
    return Path(corners, [Path.MOVETO, *curve, Path.LINETO, *curve, Path.CLOSEPOLY])


def _in_lines(name: str) -> str:
    """A name with each of its parts on a line, so that a narrow figure keeps room for the flows."""
    return name.replace(" · ", "\n").replace(", ", ",\n")
