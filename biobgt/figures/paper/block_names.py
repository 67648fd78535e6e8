"""The names of blocks of regions beside an axis, with brackets, where there is room for them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy.optimize import isotonic_regression

from biobgt.base.colours import DARK_GREY
from biobgt.figures.paper.paper_frame import lay_out, line_height, text_width
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.regions import RegionOrder


def spread(positions: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move ordered positions apart until none is nearer than ``gap`` to the next, as little as possible in squares.

    Parameters
    ----------
    positions : sequence of float, length n
        In ascending order.
    gap : float
        The least distance of neighbours.
    low, high : float
        Between which all positions stay.
    """
    steps = gap * np.arange(len(positions))
    apart = isotonic_regression(np.asarray(positions, dtype=float) - steps).x
    return (np.clip(apart, low, max(low, high - steps[-1])) + steps).tolist() if len(positions) else []


def reserve_names(axes: Axes, order: RegionOrder, *, along: str, otherwise: str) -> None:
    """Take the room that the names of blocks need beside an axis; without blocks, say what the order is there.

    Parameters
    ----------
    axes : Axes
    order : RegionOrder
    along : {"x", "y"}
        The axis along which regions are drawn.
    otherwise : str
        What stands there where the order has no blocks.
    """
    axis = axes.xaxis if along == "x" else axes.yaxis
    axis.set_ticks([(start + end - 1) / 2 for _, start, end in order.blocks], [name for name, _, _ in order.blocks])
    axis.set_tick_params(length=0, pad=6, labelrotation=90 if along == "x" else 0)
    if not order.blocks:
        axis.set_label_text(otherwise)


def name_blocks(axes: Axes, order: RegionOrder, style: PaperStyle, *, along: str) -> None:
    """Name the blocks of regions beside the axis with brackets, once their room was taken and the height is known.

    Names are moved apart where blocks are narrow. Where even that leaves too little room, the smallest blocks go
    without a name.

    Parameters
    ----------
    axes : matplotlib Axes
        Region k is drawn at k on the axis.
    order : RegionOrder
    style : PaperStyle
    along : {"x", "y"}
    """
    if not order.blocks:
        return
    axis = axes.xaxis if along == "x" else axes.yaxis
    length, across = _axes_points(axes, along)
    point = len(order.order) / length  # in regions along the axis
    if along == "x" and _fit_side_by_side(order, style, point):
        axis.set_tick_params(labelrotation=0)
        blocks, gap = list(order.blocks), 0.0
    else:
        gap = line_height(style.tick_size) * point
        blocks = _nameable(order, int(len(order.order) // gap))
    middles = [(start + end - 1) / 2 for _, start, end in blocks]
    places = spread(middles, gap, gap / 2 - 0.5, len(order.order) - 0.5 - gap / 2)
    axis.set_ticks(places, [name for name, _, _ in blocks])
    for (_, start, end), middle, place in zip(blocks, middles, places, strict=True):
        inset = min((end - start) / 3, 0.8 * point)  # neighbouring brackets stay apart
        span = (start - 0.5 + inset, end - 0.5 - inset)
        _bracket(axes, span, middle, place, point=1 / across, along=along)


def _axes_points(axes: Axes, along: str) -> tuple[float, float]:
    """Length of the axes along an axis and across it, in points, once everything has taken its room."""
    figure = axes.get_figure()
    assert isinstance(figure, Figure)
    lay_out(figure)
    box = axes.get_position()
    width, height = (72 * inches for inches in figure.get_size_inches())
    sides = box.width * width, box.height * height
    return sides if along == "x" else (sides[1], sides[0])


def _fit_side_by_side(order: RegionOrder, style: PaperStyle, point: float) -> bool:
    """Tell whether the names, each below its block's middle, leave room between them."""
    reach = [(text_width(name, style.tick_size, style) + style.tick_size) * point / 2 for name, _, _ in order.blocks]
    middles = [(start + end - 1) / 2 for _, start, end in order.blocks]
    ends = [-0.5, *(middle + half for middle, half in zip(middles, reach, strict=True))]
    starts = [*(middle - half for middle, half in zip(middles, reach, strict=True)), len(order.order) - 0.5]
    return all(end <= start for end, start in zip(ends, starts, strict=True))


def _nameable(order: RegionOrder, room: int) -> list[tuple[str, int, int]]:
    """The blocks there is room to name, the largest first to be kept, in the order they are drawn."""
    largest = sorted(order.blocks, key=lambda block: block[1] - block[2])[: max(1, room)]
    return sorted(largest, key=lambda block: block[1])


def _bracket(axes: Axes, span: tuple[float, float], middle: float, place: float, *, point: float, along: str) -> None:
    """Mark a block's regions beside the axis, 2 points away, and lead from there to its name."""
    line: dict[str, Any] = {"clip_on": False, "color": DARK_GREY, "linewidth": 0.6, "solid_capstyle": "butt"}
    lines = [([-2 * point] * 2, list(span)), ([-2 * point, -5 * point], [middle, place])]
    for away, at in lines:
        x, y = (at, away) if along == "x" else (away, at)
        transform = axes.get_xaxis_transform() if along == "x" else axes.get_yaxis_transform()
        axes.add_line(Line2D(x, y, transform=transform, **line))
