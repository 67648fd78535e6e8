"""The pen for paper: a drawing becomes a matplotlib figure of exact size in millimetres.

Every mark has one function, in :data:`_PENS`. What is around the marks, titles, legends, names of blocks and the height
that all of it needs, is :mod:`biobgt.figures.paper.frame`'s.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log10
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator, PercentFormatter
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from biobgt.base.colours import BLACKISH, DARK_GREY, LINE_GREY, ink_on
from biobgt.base.errors import InputError
from biobgt.base.wording import power_of_ten
from biobgt.figures import drawing as draw
from biobgt.figures.brain import Brain
from biobgt.figures.paper.brain import brains_on_paper
from biobgt.figures.paper.frame import (
    LINE_SPACING,
    MARGIN_MM,
    MARKERS,
    MM_PER_INCH,
    POINTS_PER_MM,
    add_legend,
    drawing,
    full_title,
    line_height,
    new_figure,
    scale_of,
    text_width,
    wrapped,
)
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.regions import RegionOrder

_DASHES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-."}
_WIDTH, _THIN = 1.2, 0.7  # points, of lines
_POINTS_PER_PX = 0.45  # of the diameter of a point
_SMALLER = {"diamond": 0.75}  # matplotlib measures its side, the screen its diagonal
_BLOCK_LINE: Mapping[str, Any] = {"color": DARK_GREY, "alpha": 0.6, "linewidth": 0.5}
_BAR_MM, _LOWEST_PANEL_MM, _CLOSE_ENOUGH_MM = 2.0, 10.0, 0.1
_WIDEST_MM = 140.0  # a wider figure is no higher
_NAME_SHARE = 0.4  # of the figure's width, for names of rows
_ROW_MM, _LOWEST_ROWS_MM = 3.4, 20.0


@dataclass
class _Sheet:
    """A figure under way; a mark that needs a height of its own writes it here."""

    figure: Figure
    style: PaperStyle
    drawing: draw.Drawing
    panel_mm: float
    named: set[str] = field(default_factory=set)

    def label(self, mark: draw.Mark) -> str:
        """What the legend says of a mark: its name, unless another mark has said it."""
        if not mark.name or mark.name in self.named:
            return "_nolegend_"
        self.named.add(mark.name)
        return mark.name


def draw_on_paper(drawn: draw.Drawing, style: PaperStyle) -> Figure:
    """Draw for paper, at the style's width and at the height that suits the drawing.

    Parameters
    ----------
    drawn : Drawing
    style : PaperStyle
    """
    shown = drawn.for_paper(style)
    if any(isinstance(mark, Brain) for mark in shown.marks):
        return brains_on_paper(shown, style)
    with drawing(style):
        figure = new_figure(style)
        _set_title(figure, shown.title, shown.simulated, style, subtitle=shown.subtitle)
        panels = _subplots(figure, shown)
        sheet = _Sheet(figure, style, shown, shown.square_mm or shown.aspect * min(style.width_mm, _WIDEST_MM))
        for axes, panel in zip(panels, shown.panels, strict=True):
            for mark in panel.marks:
                _PENS[type(mark)](mark, axes, panel, sheet)
        _set_axes(panels, sheet)
        _explain(panels, sheet)
        _settle(panels, sheet)
        _write_cells(panels, sheet)
        return _finish(figure, style)


def _set_title(figure: Figure, title: str, simulated: bool, style: PaperStyle, *, subtitle: str = "") -> None:
    """Write the title at the top left, in as many lines as it needs.

    Parameters
    ----------
    figure : Figure
    title : str
    simulated : bool
        Adds the word to the title.
    style : PaperStyle
    subtitle : str
        Smaller, on lines of its own; empty for none.
    """
    size, width = style.font_size + 1, (style.width_mm - 2 * MARGIN_MM) * POINTS_PER_MM
    parts = [full_title(title, simulated, style), subtitle]
    text = "\n".join(wrapped(part, width, size, style) for part in parts if part)
    if text:
        left = MARGIN_MM / style.width_mm
        figure.suptitle(text, x=left, ha="left", fontsize=size, linespacing=LINE_SPACING)


def _subplots(figure: Figure, shown: draw.Drawing) -> list[Axes]:
    """The panels, row by row; those of a column share their x-axis, those of a row their y-axis, unless square."""
    n, columns = len(shown.panels), shown.columns
    heights = [shown.panels[first].height for first in range(0, n, columns)]
    own = {"sharex": "col", "sharey": "row" if columns > 1 and not shown.own_y else False}
    share: dict[str, Any] = {} if shown.square_mm else own
    grid = figure.subplots(len(heights), columns, squeeze=False, height_ratios=heights, **share)
    for place, empty in enumerate(grid.ravel()):
        if place >= n or not shown.panels[place].marks:
            empty.set_axis_off()
    return list(grid.ravel()[:n])


def _set_axes(panels: Sequence[Axes], sheet: _Sheet) -> None:
    shown = sheet.drawing
    for number, (axes, panel) in enumerate(zip(panels, shown.panels, strict=True)):
        lowest, first = number + shown.columns >= len(panels), number % shown.columns == 0 or shown.own_y
        if not panel.marks or isinstance(panel.marks[0], draw.Flow):
            continue
        for which, axis, said in (("x", panel.x, lowest), ("y", panel.y, first)):
            if axis.hidden:
                axes.set_axis_off()
            else:
                _set_axis(axes, which, axis, sheet, said=said)
        if shown.square_mm:
            axes.set_aspect("equal")
    sheet.figure.align_ylabels(panels)


def _set_axis(axes: Axes, which: str, axis: draw.Axis, sheet: _Sheet, *, said: bool) -> None:
    """Scale, ends and ticks of one axis; what is said beside it is said by one panel of those that share it."""
    along, set_limits = (axes.xaxis, axes.set_xlim) if which == "x" else (axes.yaxis, axes.set_ylim)
    if said and not (axis.order is not None and axis.order.blocks):
        along.set_label_text(axis.title)
    if axis.log:
        axes.set(**{f"{which}scale": "log"})
    if axis.limits != (None, None):
        set_limits(*axis.limits)
    if axis.ticks is not None:
        low, high = sorted(along.get_view_interval())
        ticks = [tick for tick in axis.ticks if low <= tick <= high]
        along.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
        along.set_minor_locator(NullLocator())
    elif axis.log:
        _tick_powers(along)
    elif not axis.names:
        n, columns = len(sheet.drawing.panels), sheet.drawing.columns
        few = n > columns if which == "y" else columns > 1
        along.set_major_locator(MaxNLocator(4 if few else "auto", steps=[1, 2, 2.5, 5, 10], integer=axis.whole))
    if axis.percent:
        along.set_major_formatter(PercentFormatter(1, decimals=0))
    if axis.reversed and not along.get_inverted():
        along.set_inverted(True)
    if axis.zero:
        (axes.axhline if which == "y" else axes.axvline)(0, color=LINE_GREY, linewidth=0.4, zorder=0)
    if axis.order is not None:
        _part_blocks(axes, which, axis, sheet, said=said)
    elif axis.names and said:
        _write_places(axes, which, axis.names, sheet)
    elif axis.names and sheet.drawing.square_mm:
        along.set_ticks([])
    for place, text in enumerate(axis.beside):
        at: dict[str, Any] = {"xycoords": axes.get_yaxis_transform(), "xytext": (3, 0), "textcoords": "offset points"}
        axes.annotate(text, (1, place), va="center_baseline", fontsize=sheet.style.tick_size, **at)


def _part_blocks(axes: Axes, which: str, axis: draw.Axis, sheet: _Sheet, *, said: bool) -> None:
    """Lines between blocks of regions, and the room for their names; a map names them beside its rows alone."""
    assert axis.order is not None
    for _, _, end in axis.order.blocks[:-1]:
        (axes.axvline if which == "x" else axes.axhline)(end - 0.5, **_BLOCK_LINE)
    axes.tick_params(axis=which, length=0)  # type: ignore[arg-type]
    if which == "x" and sheet.drawing.shades is not None:
        axes.set_xticks([])
        axes.set_xlabel("")
    elif said:  # the room that their names need; without blocks, what the order is
        along, blocks = axes.xaxis if which == "x" else axes.yaxis, axis.order.blocks
        along.set_ticks([(start + end - 1) / 2 for _, start, end in blocks], [name for name, _, _ in blocks])
        along.set_tick_params(length=0, pad=6, labelrotation=90 if which == "x" else 0)
        if not blocks:
            along.set_label_text(axis.title)
    else:
        axes.set(**{f"{which}ticks": []})


def _write_places(axes: Axes, which: str, names: Sequence[str], sheet: _Sheet) -> None:
    """Names of places: beside rows in several lines, below columns too, or slanted where too long for that."""
    style, width = sheet.style, sheet.style.width_mm * POINTS_PER_MM
    if which == "y":
        lines = [wrapped(name, _NAME_SHARE * width, style.tick_size, style) for name in names]
        most = max(name.count("\n") + 1 for name in lines)
        row_mm = max(_ROW_MM, (most + 0.4) * line_height(style.tick_size) / POINTS_PER_MM)
        if not sheet.drawing.square_mm:
            sheet.panel_mm = max(_LOWEST_ROWS_MM, row_mm * len(names))
        axes.set_yticks(range(len(names)), lines)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        return
    across = 0.8 * width / sheet.drawing.columns
    room = min(across, sheet.drawing.square_mm * POINTS_PER_MM or across) / len(names)
    longest = max(text_width(word, style.tick_size, style) for name in names for word in name.split())
    if longest <= room:
        axes.set_xticks(range(len(names)), [wrapped(name, room, style.tick_size, style) for name in names])
    else:
        slant: dict[str, Any] = {"rotation": 90} if sheet.drawing.square_mm else {"rotation": 30, "ha": "right"}
        axes.set_xticks(range(len(names)), names, **slant)


def _explain(panels: Sequence[Axes], sheet: _Sheet) -> None:
    """One colour bar, below the panels as on the screen, and one legend for all of them."""
    shades, figure = sheet.drawing.shades, sheet.figure
    if shades is not None:
        length = 0.6 * min(sheet.style.width_mm, 120)
        bar = figure.colorbar(
            scale_of(shades),
            ax=[axes for axes in panels if axes.images],
            location="bottom",
            fraction=0.04,
            pad=0.02,
            aspect=length / _BAR_MM,
            shrink=min(0.8, length / (figure.get_figwidth() * MM_PER_INCH)),
        )
        if shades.log:
            _tick_powers(bar.ax.xaxis)
        elif shades.marked is None or not shades.low <= shades.marked <= shades.high:
            bar.locator = MaxNLocator(4)
        else:  # the marked value in place of those too near to it to be read beside it
            usual = [float(one) for one in MaxNLocator(4).tick_values(shades.low, shades.high)]
            apart, within = 0.6 * (usual[1] - usual[0]), [one for one in usual if shades.low <= one <= shades.high]
            bar.set_ticks(sorted([shades.marked, *(one for one in within if abs(one - shades.marked) >= apart)]))
        bar.set_label(shades.quantity)
        bar.outline.set_linewidth(0.5)
    entries = [entry for axes in panels for entry in zip(*axes.get_legend_handles_labels(), strict=True)]
    if entries and sheet.drawing.legend != "none":
        add_legend(figure, [handle for handle, _ in entries], [name for _, name in entries], sheet.style)


def _tick_powers(axis: Axis) -> None:
    """Tick a logarithmic axis at a few powers of ten, in plain letters: formulas are not set here."""
    axis.set_major_locator(LogLocator(numticks=6))
    axis.set_major_formatter(FuncFormatter(lambda value, _: power_of_ten(round(log10(value)))))
    axis.set_minor_locator(NullLocator())


def _settle(panels: Sequence[Axes], sheet: _Sheet) -> None:
    """Find the height; names of blocks that fit side by side need less of it."""
    shown = sheet.drawing
    column = list(panels[:: shown.columns])
    _fit_height(sheet.figure, column, sheet.style, panel_mm=sheet.panel_mm, square=bool(shown.square_mm))
    titled = [(axes, panel.title) for axes, panel in zip(panels, shown.panels, strict=True) if panel.title]
    for axes, title in titled:
        room = max(axes.get_position().width, 0.9 / shown.columns - 0.1) * sheet.style.width_mm * POINTS_PER_MM
        axes.set_title("\n".join(wrapped(line, room, sheet.style.font_size, sheet.style) for line in title.split("\n")))
    if titled:
        _fit_height(sheet.figure, column, sheet.style, panel_mm=sheet.panel_mm, square=bool(shown.square_mm))
    if shown.shades is not None:
        for axes, panel in zip(column, shown.panels[:: shown.columns], strict=True):
            if panel.y.order is not None:
                _name_blocks(axes, panel.y.order, sheet.style, along="y")
                _colour_blocks(axes, panel.y, sheet)
        return
    order = shown.panels[-1].x.order
    if order is not None and order.blocks:
        _name_blocks(panels[-1], order, sheet.style, along="x")
        _fit_height(sheet.figure, column, sheet.style, panel_mm=sheet.panel_mm)


def _fit_height(
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


def _finish(figure: Figure, style: PaperStyle) -> Figure:
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


# The names of blocks of regions beside an axis, with brackets, where there is room for them.


def _spread(positions: Sequence[float], gap: float, low: float, high: float) -> list[float]:
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


def _name_blocks(axes: Axes, order: RegionOrder, style: PaperStyle, *, along: str) -> None:
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
    figure = axes.get_figure()
    assert isinstance(figure, Figure)
    _lay_out(figure)
    box, (width, height) = axes.get_position(), (72 * inches for inches in figure.get_size_inches())
    length, across = box.width * width, box.height * height  # in points
    if along == "y":
        length, across = across, length
    point = len(order.order) / length  # in regions along the axis
    if along == "x" and _fit_side_by_side(order, style, point):
        axis.set_tick_params(labelrotation=0)
        blocks, gap = list(order.blocks), 0.0
    else:
        gap = line_height(style.tick_size) * point
        room = max(1, int(len(order.order) // gap))  # names; the largest blocks have them
        blocks = sorted(sorted(order.blocks, key=lambda block: block[1] - block[2])[:room], key=lambda block: block[1])
    middles = [(start + end - 1) / 2 for _, start, end in blocks]
    places = _spread(middles, gap, gap / 2 - 0.5, len(order.order) - 0.5 - gap / 2)
    axis.set_ticks(places, [name for name, _, _ in blocks])
    for (_, start, end), middle, place in zip(blocks, middles, places, strict=True):
        inset = min((end - start) / 3, 0.8 * point)  # neighbouring brackets stay apart
        span = (start - 0.5 + inset, end - 0.5 - inset)
        _bracket(axes, span, middle, place, point=1 / across, along=along)


def _fit_side_by_side(order: RegionOrder, style: PaperStyle, point: float) -> bool:
    """Tell whether the names, each below its block's middle, leave room between them."""
    reach = [(text_width(name, style.tick_size, style) + style.tick_size) * point / 2 for name, _, _ in order.blocks]
    middles = [(start + end - 1) / 2 for _, start, end in order.blocks]
    ends = [-0.5, *(middle + half for middle, half in zip(middles, reach, strict=True))]
    starts = [*(middle - half for middle, half in zip(middles, reach, strict=True)), len(order.order) - 0.5]
    return all(end <= start for end, start in zip(ends, starts, strict=True))


def _bracket(axes: Axes, span: tuple[float, float], middle: float, place: float, *, point: float, along: str) -> None:
    """Mark a block's regions beside the axis, 2 points away, and lead from there to its name."""
    line: dict[str, Any] = {"clip_on": False, "color": DARK_GREY, "linewidth": 0.6, "solid_capstyle": "butt"}
    lines = [([-2 * point] * 2, list(span)), ([-2 * point, -5 * point], [middle, place])]
    for away, at in lines:
        x, y = (at, away) if along == "x" else (away, at)
        transform = axes.get_xaxis_transform() if along == "x" else axes.get_yaxis_transform()
        axes.add_line(Line2D(x, y, transform=transform, **line))


def _colour_blocks(axes: Axes, axis: draw.Axis, sheet: _Sheet) -> None:
    """A bar beside the rows of each block, in its colour."""
    assert axis.order is not None
    point = 1 / (72 * axes.get_position().width * sheet.figure.get_figwidth())  # as a share of the map's width
    for (_, start, end), colour in zip(axis.order.blocks, axis.colours, strict=False):
        bar = Line2D([-2 * point] * 2, [start - 0.3, end - 0.7], color=sheet.style.colour(colour), linewidth=2.5)
        bar.set(solid_capstyle="butt", zorder=3, transform=axes.get_yaxis_transform(), clip_on=False)
        axes.add_line(bar)


# Marks.


def _curve(mark: draw.Curve, axes: Axes, panel: draw.Panel, sheet: _Sheet) -> None:
    colour, x, y = sheet.style.colour(mark.colour), np.asarray(mark.x), np.asarray(mark.y)
    look: dict[str, Any] = {"linestyle": _DASHES[mark.dash], "linewidth": _THIN if mark.thin else _WIDTH}
    if mark.symbol:
        look |= {"marker": MARKERS[mark.symbol], "markersize": 2.5}
    if mark.filled:
        axes.fill_between(x, y, color=colour, alpha=0.25, linewidth=0)
    axes.plot(x, y, color=colour, label=sheet.label(mark), drawstyle="steps-post" if mark.steps else None, **look)


def _band(mark: draw.Band, axes: Axes, panel: draw.Panel, sheet: _Sheet) -> None:
    colour = sheet.style.colour(mark.colour)
    axes.fill_between(np.asarray(mark.x), mark.low, mark.high, color=colour, alpha=0.2, linewidth=0)


def _points(mark: draw.Points, axes: Axes, panel: draw.Panel, sheet: _Sheet) -> None:
    colour, x, y = sheet.style.colour(mark.colour), np.asarray(mark.x), np.asarray(mark.y)
    if mark.low is not None and mark.high is not None:
        lines, at = (axes.vlines, x) if mark.across == "y" else (axes.hlines, y)
        lines(at, mark.low, mark.high, color=colour, linewidth=0.8)
    diameter = _POINTS_PER_PX * mark.size * _SMALLER.get(mark.symbol, 1.0)
    look: dict[str, Any] = {"marker": MARKERS[mark.symbol], "markersize": diameter, "markeredgewidth": 0.0}
    if mark.edged:
        look |= {"markeredgecolor": "black", "markeredgewidth": 0.5}
    if mark.hollow:
        look |= {"markerfacecolor": "none", "markeredgewidth": 0.08 * mark.size, "markeredgecolor": colour}
    look |= {"linestyle": "-" if mark.joined else "none", "linewidth": 0.7, "zorder": 4 if mark.hollow else 3}
    axes.plot(x, y, color=colour, alpha=mark.opacity, label=sheet.label(mark), **look)
    for label, place in zip(mark.labels, zip(x, y, strict=True), strict=False):
        axes.annotate(label, place, xytext=(diameter / 2 + 3, 0), textcoords="offset points", va="center")


def _bars(mark: draw.Bars, axes: Axes, panel: draw.Panel, sheet: _Sheet) -> None:
    """Bars on those that came before in the same places."""
    before = panel.marks[: panel.marks.index(mark)]
    under = [np.asarray(one.y) for one in before if isinstance(one, draw.Bars) and np.array_equal(one.x, mark.x)]
    y = np.nan_to_num(np.asarray(mark.y, dtype=float))
    look: dict[str, Any] = {"hatch": "///", "edgecolor": "white"} if mark.hatched else {}
    bars = axes.bar(
        np.asarray(mark.x),
        y,
        np.asarray(mark.width),
        np.sum(under, axis=0) if under else 0.0,
        color=sheet.style.colour(mark.colour),
        label=sheet.label(mark),
        **look,
    )
    if mark.labels:
        axes.bar_label(bars, labels=list(mark.labels))
        axes.margins(y=0.15)


def _boxes(mark: draw.Boxes, axes: Axes, panel: draw.Panel, sheet: _Sheet) -> None:
    values = np.asarray(mark.values)
    look = {"showfliers": False, "medianprops": {"color": "black"}, "manage_ticks": False}
    axes.boxplot([values[np.isfinite(values)]], positions=[mark.x], widths=0.5, **look)  # type: ignore[arg-type]


def _heatmap(mark: draw.Heatmap, axes: Axes, panel: draw.Panel, sheet: _Sheet) -> None:
    scale = scale_of(mark.shades)
    shown = np.clip(mark.z, mark.shades.low, None) if mark.shades.log else mark.z
    look: dict[str, Any] = {"cmap": scale.cmap, "norm": scale.norm, "interpolation": "nearest"}
    if mark.x is not None:
        x = np.asarray(mark.x, dtype=float)
        step = x[1] - x[0] if len(x) > 1 else 1.0
        look["extent"] = (x[0] - step / 2, x[-1] + step / 2, len(shown) - 0.5, -0.5)
    axes.imshow(shown, aspect="equal" if sheet.drawing.square_mm else "auto", **look)
    axes.spines[["top", "right"]].set_visible(True)  # a map is a field, not a curve
    if panel.y.order is not None:  # of regions; a table without them has empty cells, and no gaps
        axes.set_facecolor(draw.GAP_COLOUR)
    for top, bottom, left, right in mark.frames:
        corner = (left - 0.5, top - 0.5)
        axes.add_patch(Rectangle(corner, right - left, bottom - top, fill=False, edgecolor=BLACKISH, linewidth=1.2))


def _write_cells(panels: Sequence[Axes], sheet: _Sheet) -> None:
    """Write into cells, small enough to stand apart, once the panels' size is known."""
    style = sheet.style
    for axes, panel in zip(panels, sheet.drawing.panels, strict=True):
        for mark in (mark for mark in panel.marks if isinstance(mark, draw.Heatmap) and mark.cells):
            room = 0.9 * axes.get_position().width * style.width_mm * POINTS_PER_MM / mark.z.shape[1]
            texts = [text for row in mark.cells for text in row if text]
            lines = [line for text in texts for line in text.split("\n")]
            widest = max((text_width(line, style.tick_size, style) for line in lines), default=0.0)
            size = min(style.tick_size, style.tick_size * room / max(widest, 1e-9))
            reach = max(abs(mark.shades.low), abs(mark.shades.high))
            for row, words in enumerate(mark.cells):
                for column, text in enumerate(words):
                    colour = ink_on(float(mark.z[row, column]) / reach)
                    written = axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=size)
                    written.set_in_layout(False)  # they take no room beside the panel, and are many


def _rule(mark: draw.Rule, axes: Axes, panel: draw.Panel, sheet: _Sheet) -> None:
    look: dict[str, Any] = {"color": sheet.style.colour(mark.colour), "linestyle": _DASHES[mark.dash]}
    look |= {"linewidth": 0.4 if mark.thin else 0.9, "zorder": 0}
    if mark.opacity < 1:
        look["alpha"] = mark.opacity
    if mark.x is not None:
        axes.axvline(mark.x, label=sheet.label(mark), **look)
        return
    assert mark.y is not None
    axes.axhline(mark.y, **look)
    above: dict[str, Any] = {"xytext": (0, 2), "textcoords": "offset points", "ha": "right", "va": "bottom"}
    axes.annotate(mark.name, (1, mark.y), xycoords=axes.get_yaxis_transform(), fontsize=sheet.style.tick_size, **above)


_THINNEST, _THICKEST = 0.3, 2.4  # lines of connections, in points
_CIRCLE_MM, _NEIGHBOUR_MM = 4.0, 2.0  # across
_BESIDE_MM = 0.8  # between a circle and its name
_NARROWEST_MM, _WIDEST_CIRCLE_MM, _LOWEST_MM = 12.0, 28.0, 18.0  # from the middle to a neighbour, aside and up


def _surroundings(mark: draw.Surroundings, axes: Axes, panel: draw.Panel, sheet: _Sheet) -> None:
    """A region in the middle of its neighbours; names that are too long lose their middle."""
    style, places = sheet.style, mark.places
    axes.set_axis_off()
    line = line_height(style.font_size) / POINTS_PER_MM
    on_right = np.sort(places[1:][places[1:, 0] > 0, 1])
    nearest = float(np.diff(on_right).min()) if len(on_right) > 1 else 2.0  # two names on a side, in radii
    up = max(_LOWEST_MM, line / nearest)
    sheet.panel_mm = 2 * up + line
    _fit_height(sheet.figure, [axes], style, panel_mm=sheet.panel_mm)
    up = _room_upwards(sheet.figure, axes, line, least=up if style.height_mm else 0.0)
    width = axes.get_position().width * style.width_mm
    longest = max((text_width(name, style.font_size, style) for name in mark.names[1:]), default=0) / POINTS_PER_MM
    beside = _NEIGHBOUR_MM / 2 + _BESIDE_MM
    aside = float(np.clip(width / 2 - beside - longest, _NARROWEST_MM, _WIDEST_CIRCLE_MM))
    # From here on the axes count in millimetres from the middle.
    axes.set(xlim=(-width / 2, width / 2), ylim=(-up - line / 2, up + line / 2))
    places = places * (aside, up)
    own, near, among = map(style.colour, mark.colours)
    (rows, columns), widths = mark.connections, _THINNEST + mark.shares * (_THICKEST - _THINNEST)
    segments = np.stack([places[rows], places[columns]], axis=1)
    for name, chosen, colour, opacity in (
        ("among its neighbours", rows != 0, among, 0.4),
        ("of the region", rows == 0, near, 0.85),
    ):
        lines: dict[str, Any] = {"linewidths": widths[chosen].tolist(), "colors": colour, "alpha": opacity}
        axes.add_collection(LineCollection(list(segments[chosen]), label=name, **lines), autolim=False)
    across = np.array([_CIRCLE_MM] + [_NEIGHBOUR_MM] * (len(places) - 1)) * POINTS_PER_MM
    look: dict[str, Any] = {"edgecolors": "white", "linewidths": 0.5, "zorder": 3, "clip_on": False}
    axes.scatter(places[:, 0], places[:, 1], s=across**2, c=[own] + [near] * (len(places) - 1), label="regions", **look)
    _write_names(axes, mark.names, places, width / 2, style, colour=own)


def _room_upwards(figure: Figure, axes: Axes, line: float, *, least: float) -> float:
    """Millimetres from the middle to the highest neighbour; a height that was asked for may leave too few."""
    height = figure.get_figheight() * MM_PER_INCH
    up = (axes.get_position().height * height - line) / 2
    if up < least - 0.1:
        raise InputError(
            f"A height of {height:g} mm leaves no room for the regions' names; choose at least "
            f"{np.ceil(height + 2 * (least - up)):g} mm, or none to let the figure choose."
        )
    return float(up)


def _write_names(
    axes: Axes, names: Sequence[str], places: NDArray[np.float64], edge: float, style: PaperStyle, *, colour: str
) -> None:
    """Names beside their circles, up to ``edge``; that of the region itself above its own, on its colour."""
    beside = _NEIGHBOUR_MM / 2 + _BESIDE_MM
    for name, (x, y) in zip(names[1:], places[1:], strict=True):
        right = x > 0
        shown = _shortened(name, (edge - abs(x) - beside) * POINTS_PER_MM, style)
        axes.text(x + (beside if right else -beside), y, shown, ha="left" if right else "right", va="center")
    aside = places[1:, 0].max() if len(places) > 1 else edge
    own = _shortened(names[0], 2 * (aside - beside) * POINTS_PER_MM, style)
    box = {"facecolor": colour, "edgecolor": "none", "pad": 1.0}
    axes.text(0, _CIRCLE_MM / 2 + _BESIDE_MM, own, ha="center", va="bottom", bbox=box, zorder=4)


def _shortened(name: str, room: float, style: PaperStyle) -> str:
    """A name that fits in ``room`` points; its middle goes, because the end tells the side or has a number."""
    shown, kept = name, len(name) - 1
    while text_width(shown, style.font_size, style) > room and kept > 1:
        kept -= 1
        shown = f"{name[: kept // 2]}…{name[-(kept - kept // 2) :]}"
    return shown


_RING_MM, _ARC_POINTS = 45.0, 3.5  # from the middle to the names, at most; and how thick its arcs are, in points


def _chords(mark: draw.Chords, axes: Axes, panel: draw.Panel, sheet: _Sheet) -> None:
    """Chords in a ring; names of its arcs stand beside it, and the ring takes the width that they leave."""
    style = sheet.style
    axes.set_axis_off()
    line = line_height(style.tick_size) / POINTS_PER_MM
    longest = max((text_width(name, style.tick_size, style) for name, _, _ in mark.arcs), default=0) / POINTS_PER_MM
    width = axes.get_position().width * style.width_mm
    radius = max(min(_RING_MM, width / 2 - longest - 1) / draw.NAMES_AT, _NARROWEST_MM)
    sheet.panel_mm = 2 * draw.NAMES_AT * radius + line
    _fit_height(sheet.figure, [axes], style, panel_mm=sheet.panel_mm)
    high = axes.get_position().height * sheet.figure.get_figheight() * MM_PER_INCH
    radius = min(radius, (high - line) / 2 / draw.NAMES_AT)
    # From here on the axes count in radii.
    axes.set(xlim=(-width / 2 / radius, width / 2 / radius), ylim=(-high / 2 / radius, high / 2 / radius))
    axes.set_aspect("equal")
    for sign, (name, colour) in mark.signs.items():
        chosen = np.sign(mark.weights) == sign
        if chosen.any():
            look: dict[str, Any] = {"colors": style.colour(colour), "alpha": 0.6, "capstyle": "butt"}
            widths = (_THIN + mark.shares[chosen] * (_THICKEST - _THIN)).tolist()
            dash = "-" if sign > 0 else (0, (2, 1))
            lines = LineCollection(list(mark.curves[chosen]), linewidths=widths, linestyles=[dash], label=name, **look)
            axes.add_collection(lines, autolim=False)
    arcs = [draw.round_circle(arc, draw.ARC_AT) for _, _, arc in mark.arcs]
    colours = [style.colour(colour) for _, colour, _ in mark.arcs]
    axes.add_collection(LineCollection(arcs, colors=colours, linewidths=_ARC_POINTS, capstyle="butt"), autolim=False)
    axes.scatter(mark.places[:, 0], mark.places[:, 1], s=1.5, c=LINE_GREY, linewidths=0, zorder=3)
    for name, ends in mark.labels(line / radius):
        axes.plot(*ends.T, color=LINE_GREY, linewidth=0.4, clip_on=False)
        shift: dict[str, Any] = {"xytext": (1.5 if ends[1, 0] > 0 else -1.5, 0), "textcoords": "offset points"}
        shift |= {"ha": "left" if ends[1, 0] > 0 else "right", "va": "center", "fontsize": style.tick_size}
        axes.annotate(name, ends[1], **shift)


_NODE_WIDTH = 0.04  # of the diagram's width
_FLOWS_MM = 30.0  # of all ribbons together, one below the other
_BETWEEN_MM = 1.0  # two nodes, and two names


def _flow(mark: draw.Flow, axes: Axes, panel: draw.Panel, sheet: _Sheet) -> None:
    """A ribbon for each pair that shares regions; the axes count in millimetres from the top, and regions likewise."""
    style, counts = sheet.style, mark.counts
    scale = _FLOWS_MM / counts.sum()
    sizes = counts.sum(axis=1) * scale, counts.sum(axis=0) * scale
    line_mm = line_height(style.font_size) / POINTS_PER_MM
    named = [np.array([(name.count("\n") + 1) * line_mm for name in side]) for side in mark.lines]
    # A node takes the room of its regions or of its name, whichever is more.
    rooms = [np.maximum(size, names) + _BETWEEN_MM for size, names in zip(sizes, named, strict=True)]
    sheet.panel_mm = height = float(max(room.sum() for room in rooms))
    left, right = ([style.colour(colour) for colour in side] for side in mark.colours)
    tops = []
    for size, room, order in zip(sizes, rooms, (np.arange(len(counts)), mark.order), strict=True):
        middles = np.empty(len(order))
        middles[order] = np.cumsum(room[order]) - room[order] / 2 + (height - room.sum()) / 2
        tops.append(middles - size / 2)
    _ribbons(axes, counts * scale, tops[0].copy(), tops[1].copy(), left)
    both = zip((axes, axes.twinx()), (0, 1 - _NODE_WIDTH), (left, right), sizes, tops, mark.lines, strict=True)
    for side, x, colours, size, top, names in both:
        for colour, start, length in zip(colours, top, size, strict=True):
            axes.add_patch(Rectangle((x, start), _NODE_WIDTH, length, color=colour, linewidth=0))
        side.set_ylim(height, 0)
        side.set_yticks(top + size / 2, names)
        side.tick_params(axis="y", length=0, labelsize=style.font_size)
        side.spines[:].set_visible(False)
    for where, title in zip(("left", "right"), mark.sides, strict=True):
        axes.set_title(title, loc=where, fontweight="bold")  # type: ignore[arg-type]
    axes.set_xlim(0, 1)
    axes.set_xticks([])


def _ribbons(
    axes: Axes,
    widths: NDArray[np.float64],
    leave: NDArray[np.float64],
    arrive: NDArray[np.float64],
    colours: Sequence[str],
) -> None:
    """A ribbon for each pair that shares regions, below those that leave or arrive at the same node before it."""
    x0, x1, curve = _NODE_WIDTH, 1 - _NODE_WIDTH, [Path.CURVE4] * 3
    downwards = np.argsort(arrive, kind="stable")
    for i, row in enumerate(widths):
        for j in (j for j in downwards if row[j]):
            start, end, width = leave[i], arrive[j], row[j]
            corners = [
                *((x0, start), (0.5, start), (0.5, end), (x1, end)),
                *((x1, end + width), (0.5, end + width), (0.5, start + width), (x0, start + width)),
                (x0, start),
            ]
            ribbon = Path(corners, [Path.MOVETO, *curve, Path.LINETO, *curve, Path.CLOSEPOLY])
            axes.add_patch(PathPatch(ribbon, facecolor=colours[i], alpha=0.45, linewidth=0))
            leave[i] += width
            arrive[j] += width


_PENS: Mapping[type[draw.Mark], Callable[[Any, Axes, draw.Panel, _Sheet], None]] = {
    draw.Curve: _curve,
    draw.Band: _band,
    draw.Points: _points,
    draw.Bars: _bars,
    draw.Boxes: _boxes,
    draw.Heatmap: _heatmap,
    draw.Rule: _rule,
    draw.Surroundings: _surroundings,
    draw.Flow: _flow,
    draw.Chords: _chords,
}
