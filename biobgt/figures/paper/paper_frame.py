"""What figures for the paper share: the blank figure, titles that fit, legends in as many columns as fit, named blocks.

Sizes are known before anything is drawn, so a label that would not fit is wrapped, moved aside or turned, never cut.
"""

import warnings
from collections.abc import Mapping, Sequence
from math import log10
from typing import Any, Literal

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.legend import Legend
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from biobgt.base.colours import DARK_GREY, SEQUENTIAL
from biobgt.base.errors import InputError
from biobgt.base.wording import power_of_ten
from biobgt.figures.drawing import Shades
from biobgt.figures.paper.saving import MM_PER_INCH
from biobgt.figures.paper_style import FALLBACK_FONT, PaperStyle

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
        crowded = lay_out(figure)
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
    lay_out(figure)
    width, height = (72 * inches for inches in figure.get_size_inches())
    for axes in figure.axes:
        box = axes.get_position()
        for label, room in ((axes.xaxis.label, box.width * width), (axes.yaxis.label, box.height * height)):
            label.set_text(wrapped(label.get_text(), room, style.font_size, style))
    lay_out(figure)
    figure.set_layout_engine("none")
    return figure


def lay_out(figure: Figure) -> bool:
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
