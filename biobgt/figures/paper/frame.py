"""What paper figures share: fonts, exact sizes, titles and legends that fit, named blocks, bytes that repeat."""

import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from math import log10
from pathlib import Path
from threading import RLock
from typing import Any, BinaryIO, Literal, cast

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator
from PIL import Image
from scipy.optimize import isotonic_regression

from biobgt.base.colours import DARK_GREY, SEQUENTIAL
from biobgt.base.errors import InputError
from biobgt.base.files import asset
from biobgt.base.wording import power_of_ten
from biobgt.figures.drawing import RegionOrder, Shades
from biobgt.figures.paper_style import BUNDLED_FONT, FALLBACK_FONT, FILE_FORMATS, FileFormat, PaperStyle

# Fonts of figures for the paper: those that come with the project, and those that journals ask for.


_USUAL = ("Arial", "Helvetica", "Times New Roman", "Liberation Serif", "DejaVu Serif")

for _file in sorted(asset("fonts").glob("*.ttf")):
    fontManager.addfont(_file)


@cache
def installed_fonts() -> tuple[str, ...]:
    """The usual fonts of journals that this machine has; the two that come with the project are always first."""
    return (BUNDLED_FONT, FALLBACK_FONT, *(font for font in _USUAL if is_installed(font)))


def is_installed(font: str) -> bool:
    """Whether matplotlib finds a font by its name."""
    try:
        findfont(FontProperties(family=font), fallback_to_default=False)
    except ValueError:
        return False
    return True


# How a figure for the paper is drawn and written: exact size in mm, text that stays text, bytes that repeat.
#
# Figures are drawn on ``matplotlib.figure.Figure`` itself, never through pyplot. matplotlib's settings are
# nevertheless one for the whole process, so drawing and writing wait for each other: see :func:`drawing`.


MM_PER_INCH = 25.4
PaperFigure = Figure  # for those who hand a figure on, and draw none
_LOCK = RLock()


@contextmanager
def drawing(style: PaperStyle) -> Iterator[None]:
    """Apply a style while a figure is drawn or written, one figure at a time.

    matplotlib's settings belong to the process, and two users of the app may ask for figures at once.
    """
    with _LOCK, matplotlib.rc_context(cast(Any, style.settings())):
        yield


def save_figure(figure: Figure, target: str | Path | BinaryIO, format: FileFormat, style: PaperStyle) -> None:
    """Write a figure at the size it was drawn in; the same figure always gives the same bytes.

    Parameters
    ----------
    figure : matplotlib Figure
        From one of the functions of :mod:`biobgt.figures.paper`.
    target : str, Path or binary file
    format : {"svg", "pdf", "png", "tiff"}
        SVG and PDF keep text as text; PDF embeds its fonts; PNG and TIFF state their dpi.
    style : PaperStyle
        The style the figure was drawn in.
    """
    if format not in FILE_FORMATS:
        raise InputError(f"Figures cannot be written as '{format}'; choose one of {', '.join(FILE_FORMATS)}.")
    buffer = io.BytesIO()
    with drawing(style):
        if format == "svg":
            figure.savefig(buffer, format="svg", dpi=style.dpi, metadata={"Date": None})
        elif format == "pdf":
            figure.savefig(buffer, format="pdf", dpi=style.dpi, metadata={"CreationDate": None})
        else:
            _save_pixels(figure, buffer, format, style.dpi)
    if isinstance(target, str | Path):
        Path(target).write_bytes(buffer.getvalue())
    else:
        target.write(buffer.getvalue())


def _save_pixels(figure: Figure, buffer: io.BytesIO, format: str, dpi: int) -> None:
    """Round the size to whole pixels, where matplotlib would cut, and leave transparency out: journals refuse it."""
    size = figure.get_size_inches()
    picture = io.BytesIO()
    try:
        # A thousandth of a pixel more keeps 1004 pixels from becoming 1003.999.
        figure.set_size_inches((round(size[0] * dpi) + 1e-3) / dpi, (round(size[1] * dpi) + 1e-3) / dpi)
        figure.savefig(picture, format="png", dpi=dpi)
    finally:
        figure.set_size_inches(*size)
    options = {"compression": "tiff_lzw"} if format == "tiff" else {}
    Image.open(picture).convert("RGB").save(buffer, format=format, dpi=(dpi, dpi), **options)


# What figures for the paper share: the blank figure, titles that fit, legends in as many columns as fit, named blocks.
#
# Sizes are known before anything is drawn, so a label that would not fit is wrapped, moved aside or turned, never cut.


POINTS_PER_MM = 72 / MM_PER_INCH
# What the screen calls the symbols.
MARKERS = {
    "circle": "o",
    "diamond": "D",
    "square": "s",
    "cross": "P",
    "x": "X",
    "star": "*",
    "pentagon": "p",
    "triangle-up": "^",
    "triangle-down": "v",
}
BLOCK_LINE: Mapping[str, Any] = {"color": DARK_GREY, "alpha": 0.6, "linewidth": 0.5}
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

    Parameters
    ----------
    figure : Figure
    panels : sequence of Axes
    style : PaperStyle
    panel_mm : float
        Height of one panel, in mm.
    square : bool
        Whether panels are as high as they are wide.
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


def full_title(title: str, simulated: bool, style: PaperStyle) -> str:
    """Join the title, where the style has one, and the word that marks simulated data.

    Parameters
    ----------
    title : str
    simulated : bool
        Adds the word, with a title or without.
    style : PaperStyle
        Whose figures have titles or none.
    """
    parts = (title if style.titles else "", "simulated" if simulated else "")
    return " · ".join(part for part in parts if part)


def set_title(figure: Figure, title: str, simulated: bool, style: PaperStyle, *, subtitle: str = "") -> None:
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
    size, width = style.font_size + 1, (style.width_mm - 2 * _MARGIN_MM) * POINTS_PER_MM
    parts = [full_title(title, simulated, style), subtitle]
    text = "\n".join(wrapped(part, width, size, style) for part in parts if part)
    if text:
        left = _MARGIN_MM / style.width_mm
        figure.suptitle(text, x=left, ha="left", fontsize=size, linespacing=_LINE_SPACING)


def text_width(text: str, size: float, style: PaperStyle) -> float:
    """Width of one line of text, in points.

    Parameters
    ----------
    text : str
    size : float
        Of the font, in points.
    style : PaperStyle
    """
    properties = FontProperties(family=[style.font, FALLBACK_FONT], size=size)
    return float(text_to_path.get_text_width_height_descent(text, properties, ismath=False)[0])


def line_height(size: float) -> float:
    """Height of one line of text, in points."""
    return _LINE_SPACING * size


def wrapped(text: str, width: float, size: float, style: PaperStyle) -> str:
    """Break text into lines of at most ``width`` points; a word that is too long for a line is broken too.

    Parameters
    ----------
    text : str
    width : float
        Of a line, in points.
    size : float
        Of the font, in points.
    style : PaperStyle
    """
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
    """Put a legend below everything else, in as many columns as the figure's width holds.

    Parameters
    ----------
    figure : Figure
    handles : sequence of Artist, length n_entries
    labels : sequence of str, length n_entries
    style : PaperStyle
    place : {"outside lower left", "lower left"}
        As matplotlib names it.
    """
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


def scale_of(shades: Shades) -> ScalarMappable:
    """Colours of values, as matplotlib has them."""
    norm = LogNorm(shades.low, shades.high) if shades.log else Normalize(shades.low, shades.high)
    if not isinstance(shades.colours, str):
        return ScalarMappable(norm, LinearSegmentedColormap.from_list("ends", shades.colours))
    return ScalarMappable(norm, shades.colours.lower() if shades.colours == SEQUENTIAL else shades.colours)


def add_colour_bar(
    figure: Figure,
    shades: ScalarMappable,
    axes: Axes | Sequence[Axes],
    quantity: str,
    *,
    length_mm: float,
    marked: float | None = None,
) -> None:
    """Put a colour bar below the axes, as on the screen.

    Parameters
    ----------
    figure : Figure
    shades : ScalarMappable
        What the colours are of.
    axes : Axes or sequence of Axes
        Below which it stands.
    quantity : str
        What the values are.
    length_mm : float
        In mm.
    marked : float, optional
        A value that has a tick wherever the scale reaches it, because the quantity is read against it.
    """
    share = min(0.8, length_mm / (figure.get_figwidth() * MM_PER_INCH))
    bar = figure.colorbar(
        shades, ax=axes, location="bottom", fraction=0.04, pad=0.02, aspect=length_mm / _BAR_MM, shrink=share
    )
    low, high = shades.get_clim()
    if isinstance(shades.norm, LogNorm):
        tick_powers(bar.ax.xaxis)
    elif marked is None or low is None or high is None or not low <= marked <= high:
        bar.locator = MaxNLocator(4)
    else:
        bar.set_ticks(_ticks_around(marked, low, high))
    bar.set_label(quantity)
    bar.outline.set_linewidth(0.5)


def tick_powers(axis: Axis) -> None:
    """Tick a logarithmic axis at a few powers of ten, in plain letters: formulas are not set here."""
    axis.set_major_locator(LogLocator(numticks=6))
    axis.set_major_formatter(FuncFormatter(lambda value, _: power_of_ten(round(log10(value)))))
    axis.set_minor_locator(NullLocator())


def _ticks_around(marked: float, low: float, high: float) -> list[float]:
    """Round values from low to high, with the marked one in place of those too near to it to be read beside it."""
    usual = MaxNLocator(4).tick_values(low, high)
    apart = 0.6 * (usual[1] - usual[0])
    return sorted([marked, *(float(one) for one in usual if low <= one <= high and abs(one - marked) >= apart)])


# The names of blocks of regions beside an axis, with brackets, where there is room for them.


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
    line: dict[str, Any] = {"clip_on": False, "color": DARK_GREY, "linewidth": 0.6, "solid_capstyle": "butt"}
    lines = [([-2 * point] * 2, list(span)), ([-2 * point, -5 * point], [middle, place])]
    for away, at in lines:
        x, y = (at, away) if along == "x" else (away, at)
        transform = axes.get_xaxis_transform() if along == "x" else axes.get_yaxis_transform()
        axes.add_line(Line2D(x, y, transform=transform, **line))
