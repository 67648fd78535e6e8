"""How a figure for the paper looks and how it is written: exact size in mm, text that stays text, bytes that repeat.

Figures are drawn on ``matplotlib.figure.Figure`` itself, never through pyplot. matplotlib's settings are nevertheless
one for the whole process, so drawing and writing wait for each other: see :func:`drawing`.
"""

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any, BinaryIO, Literal, cast, get_args

import matplotlib
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager
from PIL import Image

from biobgt.assets import asset
from biobgt.errors import InputError
from biobgt.figures.modules import MODULE_COLOURS

FileFormat = Literal["svg", "pdf", "png", "tiff"]

MM_PER_INCH = 25.4
JOURNAL_WIDTHS_MM: Mapping[str, float] = {
    "one column": 85.0,
    "one and a half": 114.0,
    "one and a half, of wider pages": 120.0,
    "two columns": 174.0,
    "two columns, of wider pages": 180.0,
}
NARROWEST_MM = 40.0
# Colours of one palette stand where the other's counterparts do, so that a figure can change from one to the other.
PALETTES: Mapping[str, tuple[str, ...]] = {
    "okabe-ito": MODULE_COLOURS,
    "tol-muted": ("#332288", "#DDCC77", "#117733", "#AA4499", "#88CCEE", "#CC6677", "#999933", "#882255"),
}
FALLBACK_FONT = "DejaVu Sans"  # comes with matplotlib, and has Greek letters and mathematical signs
# Has the widths of Arial and Helvetica, and comes with the project: assets/fonts.
BUNDLED_FONT = "Liberation Sans"
for _file in sorted(asset("fonts").glob("*.ttf")):
    fontManager.addfont(_file)
_BOUNDS: Mapping[str, tuple[float, float, str]] = {
    "width_mm": (NARROWEST_MM, 400, "mm"),
    "height_mm": (30, 400, "mm"),
    "font_size": (5, 24, "points"),
    "dpi": (72, 1200, "dots per inch"),
}
_LOCK = RLock()


@dataclass(frozen=True)
class PaperStyle:
    """What a journal asks of a figure.

    Attributes
    ----------
    width_mm : float
        Width of the whole figure, between 40 and 400 mm.
    height_mm : float or None
        Height of the whole figure, between 30 and 400 mm; None takes the height that suits the figure.
    font : str
        Name of an installed font.
    font_size : float
        Size of labels, in points, from 5 to 24; titles are a point larger, numbers at axes a point smaller.
    dpi : int
        Dots per inch of PNG and TIFF, from 72 to 1200.
    palette : str
        One of :data:`PALETTES`, all of them safe for the colour-blind.
    titles : bool
        Whether the figure's title stands above it; many journals want it in the caption. The word that marks simulated
        data stays.
    """

    width_mm: float = 85.0
    height_mm: float | None = None
    font: str = FALLBACK_FONT
    font_size: float = 7.0
    dpi: int = 300
    palette: str = "okabe-ito"
    titles: bool = True

    def __post_init__(self) -> None:
        for name, (low, high, unit) in _BOUNDS.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                what = name.removesuffix("_mm").replace("_", " ")
                raise InputError(f"The figure's {what} is {value:g}; choose one from {low:g} to {high:g} {unit}.")
        if self.palette not in PALETTES:
            raise InputError(f"There is no palette '{self.palette}'; choose one of {', '.join(PALETTES)}.")
        try:
            findfont(FontProperties(family=self.font), fallback_to_default=False)
        except ValueError as error:
            raise InputError(
                f"The font '{self.font}' is not installed on this machine; install it, or choose '{BUNDLED_FONT}' or "
                f"'{FALLBACK_FONT}', which come with the project."
            ) from error

    @property
    def tick_size(self) -> float:
        """Size of the numbers at axes, in points."""
        return max(5.0, self.font_size - 1)

    def colour(self, house: str) -> str:
        """Give the palette's counterpart of one of the house's colours; other colours stay as they are."""
        return PALETTES[self.palette][MODULE_COLOURS.index(house)] if house in MODULE_COLOURS else house

    def settings(self) -> dict[str, object]:
        """List matplotlib's settings for this style."""
        return {
            "font.family": [self.font, FALLBACK_FONT],
            "font.size": self.font_size,
            "axes.titlesize": self.font_size,
            "axes.labelsize": self.font_size,
            "xtick.labelsize": self.tick_size,
            "ytick.labelsize": self.tick_size,
            "legend.fontsize": self.font_size,
            "figure.titlesize": self.font_size + 1,
            "axes.linewidth": 0.5,
            "xtick.major.width": 0.5,
            "ytick.major.width": 0.5,
            "xtick.major.size": 2.0,
            "ytick.major.size": 2.0,
            "lines.linewidth": 0.9,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.facecolor": "white",
            "figure.facecolor": "white",
            "savefig.facecolor": "white",
            "savefig.bbox": None,  # "tight" would change the size
            "text.parse_math": False,  # a dollar sign in a region's name is a dollar sign
            "text.hinting": "none",
            "svg.fonttype": "none",
            "pdf.fonttype": 42,
            "svg.hashsalt": "biobgt",
        }


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
    if format not in get_args(FileFormat):
        raise InputError(f"Figures cannot be written as '{format}'; choose one of {', '.join(get_args(FileFormat))}.")
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
