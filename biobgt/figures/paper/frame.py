"""What figures for the paper share: the blank figure, titles that fit, legends in as many columns as fit, named blocks.

Sizes are known before anything is drawn, so a label that would not fit is wrapped, moved aside or turned, never cut.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.textpath import text_to_path
from matplotlib.ticker import MaxNLocator
from scipy.optimize import isotonic_regression

from biobgt.errors import InputError
from biobgt.figures.frame import RegionOrder
from biobgt.figures.paper.style import FALLBACK_FONT, MM_PER_INCH, PaperStyle

POINTS_PER_MM = 72 / MM_PER_INCH
MARKERS = {"circle": "o", "diamond": "D", "square": "s", "cross": "P"}  # the screen's symbols
BLOCK_LINE: Mapping[str, Any] = {"color": "#3C3C3C", "alpha": 0.6, "linewidth": 0.5}
_MARGIN_MM = 1.0
_BAR_MM = 2.0
_PROVISIONAL_HEIGHT_MM = 300.0
_LOWEST_PANEL_MM = 10.0
_CLOSE_ENOUGH_MM = 0.1
_LINE_SPACING = 1.25


def new_figure(style: PaperStyle) -> Figure:
    """Open a blank figure of the style's width; where the style names no height, :func:`fit_height` finds one."""
    size = style.width_mm / MM_PER_INCH, (style.height_mm or _PROVISIONAL_HEIGHT_MM) / MM_PER_INCH
    figure = Figure(figsize=size, dpi=style.dpi, layout="constrained")
    FigureCanvasAgg(figure)
    pad = _MARGIN_MM / MM_PER_INCH
    figure.get_layout_engine().set(w_pad=pad, h_pad=pad)  # type: ignore[union-attr, call-arg]
    return figure


def fit_height(
    figure: Figure, panels: Sequence[Axes], style: PaperStyle, *, panel_mm: float, square: bool = False
) -> None:
    """Make the figure as high as its panels, of ``panel_mm`` each, and the words around them need.

    A square panel is at most as high as it is wide. Where the style names a height, that one stays, and is refused
    if it leaves no room for the panels.
    """
    for _ in range(3):  # the room of colour bars depends on the height
        crowded = _lay_out(figure)
        width, height = (inches * MM_PER_INCH for inches in figure.get_size_inches())
        boxes = [axes.get_position(original=True) for axes in panels]
        if style.height_mm is not None:
            if crowded or min(box.height * height for box in boxes) < _LOWEST_PANEL_MM:
                raise InputError(
                    f"A height of {height:g} mm leaves no room for what the figure shows; choose more, or none to "
                    "let the figure choose."
                )
            return
        wanted = sum(min(panel_mm, box.width * width) if square else panel_mm for box in boxes)
        missing = wanted - sum(box.height * height for box in boxes)
        figure.set_figheight((height + missing) / MM_PER_INCH)
        if abs(missing) < _CLOSE_ENOUGH_MM:
            return


def finish(figure: Figure, style: PaperStyle) -> Figure:
    """Settle where everything lies, once: a figure that is written twice is then the same twice."""
    _lay_out(figure)
    width, height = (72 * inches for inches in figure.get_size_inches())
    for axes in figure.axes:
        box = axes.get_position()
        for label, room in ((axes.xaxis.label, box.width * width), (axes.yaxis.label, box.height * height)):
            label.set_text(wrapped(label.get_text(), room, style.font_size, style))
    _lay_out(figure)
    figure.set_layout_engine("none")
    return figure


def _lay_out(figure: Figure) -> bool:
    """Let everything take its room; tell whether there was too little."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figure.draw_without_rendering()
    return any("constrained_layout not applied" in str(warning.message) for warning in caught)


def full_title(title: str, simulated: bool) -> str:
    """Join the title and the word that marks simulated data."""
    return " · ".join(part for part in (title, "simulated" if simulated else "") if part)


def set_title(figure: Figure, title: str, simulated: bool, style: PaperStyle, *, subtitle: str = "") -> None:
    """Write the title at the top left, in as many lines as it needs."""
    size, width = style.font_size + 1, (style.width_mm - 2 * _MARGIN_MM) * POINTS_PER_MM
    parts = [full_title(title, simulated), subtitle]
    text = "\n".join(wrapped(part, width, size, style) for part in parts if part)
    if text:
        left = _MARGIN_MM / style.width_mm
        figure.suptitle(text, x=left, ha="left", fontsize=size, linespacing=_LINE_SPACING)


def text_width(text: str, size: float, style: PaperStyle) -> float:
    """Width of one line of text, in points."""
    properties = FontProperties(family=[style.font, FALLBACK_FONT], size=size)
    return float(text_to_path.get_text_width_height_descent(text, properties, ismath=False)[0])


def line_height(size: float) -> float:
    """Height of one line of text, in points."""
    return _LINE_SPACING * size


def wrapped(text: str, width: float, size: float, style: PaperStyle) -> str:
    """Break text into lines of at most ``width`` points; a word that is too long for a line is broken too."""
    lines = [""]
    for word in text.split():
        joined = f"{lines[-1]} {word}".strip()
        if text_width(joined, size, style) <= width:
            lines[-1] = joined
            continue
        if lines[-1]:
            lines.append("")
        for letter in word:
            if lines[-1] and text_width(lines[-1] + letter, size, style) > width:
                lines.append("")
            lines[-1] += letter
    return "\n".join(lines)


def add_legend(
    figure: Figure,
    handles: Sequence[Artist],
    labels: Sequence[str],
    style: PaperStyle,
    *,
    place: Literal["outside lower left", "lower left"] = "outside lower left",
) -> Legend:
    """Put a legend below everything else, in as many columns as the figure's width holds."""
    em = style.font_size
    handle, gap = 1.6 * em, 0.5 * em  # the room legends leave beside a name, in points
    room = (style.width_mm - 2 * _MARGIN_MM) * POINTS_PER_MM
    texts = [wrapped(label, room - handle - 3 * gap, em, style) for label in labels]
    widest = max(text_width(line, em, style) for text in texts for line in text.split("\n"))
    columns = max(1, min(len(texts), int((room + gap) // (widest + handle + 3 * gap))))
    return figure.legend(
        handles,
        texts,
        loc=place,
        ncols=columns,
        frameon=False,
        fontsize=em,
        handlelength=1.6,
        handletextpad=0.5,
        columnspacing=1.0,
        labelspacing=0.3,
        borderpad=0.1,
        borderaxespad=0.4,
    )


def add_colour_bar(figure: Figure, shades: ScalarMappable, axes: Axes, quantity: str, *, length_mm: float) -> None:
    """Put a colour bar below the axes, as on the screen."""
    share = min(0.8, length_mm / (figure.get_figwidth() * MM_PER_INCH))
    bar = figure.colorbar(
        shades, ax=axes, location="bottom", fraction=0.04, pad=0.02, aspect=length_mm / _BAR_MM, shrink=share
    )
    bar.locator = MaxNLocator(4)
    bar.set_label(quantity)
    bar.outline.set_linewidth(0.5)


def spread(positions: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move ordered positions apart until none is nearer than ``gap`` to the next, as little as possible in squares."""
    steps = gap * np.arange(len(positions))
    apart = isotonic_regression(np.asarray(positions, dtype=float) - steps).x
    return (np.clip(apart, low, max(low, high - steps[-1])) + steps).tolist() if len(positions) else []


def reserve_names(axes: Axes, order: RegionOrder, *, along: str, otherwise: str) -> None:
    """Take the room that the names of blocks need beside an axis; without blocks, say what the order is there."""
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
    _lay_out(figure)
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
    line: dict[str, Any] = {"clip_on": False, "color": "#3C3C3C", "linewidth": 0.6, "solid_capstyle": "butt"}
    lines = [([-2 * point] * 2, list(span)), ([-2 * point, -5 * point], [middle, place])]
    for away, at in lines:
        x, y = (at, away) if along == "x" else (away, at)
        transform = axes.get_xaxis_transform() if along == "x" else axes.get_yaxis_transform()
        axes.add_line(Line2D(x, y, transform=transform, **line))
