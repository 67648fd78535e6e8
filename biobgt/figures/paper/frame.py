"""What paper figures share: fonts, exact sizes, words and legends that fit, panels of one figure, bytes that repeat.

Figures are drawn on ``matplotlib.figure.Figure`` itself, never through pyplot. matplotlib's settings are nevertheless
one for the whole process, so drawing and writing wait for each other: see :func:`drawing`. Sizes are known before
anything is drawn, so a label that would not fit is wrapped, moved aside or turned, never cut.
"""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from string import ascii_lowercase
from threading import RLock
from typing import Any, BinaryIO, Literal, cast

import matplotlib
from matplotlib.artist import Artist
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager
from matplotlib.legend import Legend
from matplotlib.textpath import text_to_path
from PIL import Image

from biobgt.base.colours import SEQUENTIAL
from biobgt.base.errors import InputError
from biobgt.base.files import asset
from biobgt.figures.drawing import Shades
from biobgt.figures.paper_style import BUNDLED_FONT, FALLBACK_FONT, FILE_FORMATS, FileFormat, PaperStyle

MM_PER_INCH = 25.4
PaperFigure = Figure  # for those who hand a figure on, and draw none
_LOCK = RLock()
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
MARGIN_MM = 1.0
LINE_SPACING = 1.25
_PROVISIONAL_HEIGHT_MM = 300.0
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


def new_figure(style: PaperStyle) -> Figure:
    """Open a blank figure of the style's width; where the style names no height, one is found later."""
    size = style.width_mm / MM_PER_INCH, (style.height_mm or _PROVISIONAL_HEIGHT_MM) / MM_PER_INCH
    figure = Figure(figsize=size, dpi=style.dpi, layout="constrained")
    FigureCanvasAgg(figure)
    pad = MARGIN_MM / MM_PER_INCH
    figure.get_layout_engine().set(w_pad=pad, h_pad=pad)  # type: ignore[union-attr, call-arg]
    return figure


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
    return LINE_SPACING * size


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
    room = (style.width_mm - 2 * MARGIN_MM) * POINTS_PER_MM
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


# Several figures as the lettered panels of one. Every panel is a whole figure, drawn for its own width and at the
# height that suits it; the composed figure draws it at its place. Text stays text, because panels go through the same
# renderer as everything else.

_MOST_PANELS = len(ascii_lowercase)
_PANEL_GAP_MM, _LETTER_GAP_MM = 4.0, 0.5  # between panels, and below a letter


class _ComposedFigure(Figure):
    """A figure that draws others at their places."""

    def __init__(self, **how: Any) -> None:
        self.panels: list[Figure] = []
        super().__init__(**how)

    @property
    def dpi(self) -> float:
        """Dots per inch; the panels always have the same, also where a part of a vector file is made of pixels."""
        return float(super().dpi)

    @dpi.setter
    def dpi(self, dpi: float) -> None:
        Figure.dpi.fset(self, dpi)  # type: ignore[attr-defined]  # the stubs take a property for a function
        for panel in self.panels:
            panel.dpi = dpi

    def place(self, panel: Figure, left_mm: float, top_mm: float) -> None:
        """Put a finished figure at its place.

        Parameters
        ----------
        panel : Figure
        left_mm, top_mm : float
            From the left and from the top of this figure to those of the panel.
        """
        width, height = panel.get_size_inches()
        left, bottom = left_mm / MM_PER_INCH, self.get_figheight() - top_mm / MM_PER_INCH - height
        panel.bbox_inches.p0 = (left, bottom)
        panel.bbox_inches.p1 = (left + width, bottom + height)
        self.panels.append(panel)
        panel.dpi = self.dpi

    def draw(self, renderer: RendererBase) -> None:
        """Draw what is its own, then the panels."""
        super().draw(renderer)
        for panel in self.panels:
            panel.draw(renderer)


def panel_widths_mm(n_panels: int, columns: int, width_mm: float) -> list[float]:
    """Width of each panel.

    Parameters
    ----------
    n_panels : int
    columns : int
    width_mm : float
        Of the whole figure.
    """
    if not 1 <= n_panels <= _MOST_PANELS:
        raise InputError(f"A figure has 1 to {_MOST_PANELS} panels, one for each letter, not {n_panels}.")
    rows = _rows([0.0] * n_panels, columns)
    return [(width_mm - _PANEL_GAP_MM * (len(row) - 1)) / len(row) for row in rows for _ in row]


def width_needed_mm(least_mm: Sequence[float], columns: int) -> float:
    """Width that the whole figure needs for every panel to be as wide as it must be.

    Parameters
    ----------
    least_mm : sequence of float, length n_panels
        The least width of each panel.
    columns : int
    """
    rows = _rows(least_mm, columns)
    return max(max(row) * len(row) + _PANEL_GAP_MM * (len(row) - 1) for row in rows)


def fitting_columns(least_mm: Sequence[float], columns: int, width_mm: float) -> int:
    """The most panels in a row, up to ``columns``, that leave each of them as wide as it must be; at least one.

    Parameters
    ----------
    least_mm : sequence of float, length n_panels
        The least width of each panel.
    columns : int
    width_mm : float
        Of the whole figure.
    """
    fits = (fewer for fewer in range(columns, 1, -1) if width_needed_mm(least_mm, fewer) <= width_mm)
    return next(fits, 1)


def compose(panels: Sequence[Figure], *, columns: int, letters: bool, style: PaperStyle) -> _ComposedFigure:
    """Arrange finished figures row by row, with a letter above each.

    Parameters
    ----------
    panels : sequence of matplotlib Figure
        Each as wide as :func:`panel_widths_mm` says.
    columns : int
        Panels in a row.
    letters : bool
        Whether a, b, c … stand above the panels.
    style : PaperStyle
        Of the whole figure.
    """
    size = style.font_size + 1
    above_mm = line_height(size) / POINTS_PER_MM + _LETTER_GAP_MM if letters else 0.0
    heights = [float(panel.get_figheight()) * MM_PER_INCH + above_mm for panel in panels]
    rows = _rows(heights, columns)
    total = sum(map(max, rows)) + _PANEL_GAP_MM * (len(rows) - 1)
    with drawing(style):
        whole = _ComposedFigure(figsize=(style.width_mm / MM_PER_INCH, total / MM_PER_INCH), dpi=style.dpi)
        FigureCanvasAgg(whole)
        top, number = 0.0, 0
        for row in rows:
            left = 0.0
            for _ in row:
                if letters:
                    x, y = left / style.width_mm, 1 - top / total
                    whole.text(x, y, ascii_lowercase[number], fontsize=size, fontweight="bold", ha="left", va="top")
                whole.place(panels[number], left, top + above_mm)
                left += float(panels[number].bbox_inches.width) * MM_PER_INCH + _PANEL_GAP_MM
                number += 1
            top += max(row) + _PANEL_GAP_MM
    return whole


def _rows(sizes: Sequence[float], columns: int) -> list[Sequence[float]]:
    """Sizes of the panels, row by row; those of a last row that is not full share its width."""
    return [sizes[start : start + columns] for start in range(0, len(sizes), columns)]
