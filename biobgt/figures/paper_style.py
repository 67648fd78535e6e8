"""What a journal asks of a figure: size, font, resolution, palette. Light to import: the command line lists them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from biobgt.base.colours import INDIGO, MAGENTA, MODULE_COLOURS, OLIVE, WINE
from biobgt.base.errors import InputError
from biobgt.base.options import Options, option

FileFormat = Literal["svg", "pdf", "png", "tiff"]
FILE_FORMATS: tuple[FileFormat, ...] = get_args(FileFormat)

JOURNAL_WIDTHS_MM: Mapping[str, float] = {
    "one column": 85.0,
    "one and a half": 114.0,
    "one and a half, of wider pages": 120.0,
    "two columns": 174.0,
    "two columns, of wider pages": 180.0,
}
FALLBACK_FONT = "DejaVu Sans"  # comes with matplotlib, and has Greek letters and mathematical signs
BUNDLED_FONT = "Liberation Sans"  # comes with the project: assets/fonts
_SMALLEST_POINTS, _USUAL_POINTS = 5.0, 7.0


class _Palette(NamedTuple):
    """Colours that stand where the house's counterparts do, so that a figure can change from one to the other."""

    title: str
    colours: tuple[str, ...]


PALETTES: Mapping[str, _Palette] = {
    "okabe-ito": _Palette("Okabe and Ito", MODULE_COLOURS),
    "tol-muted": _Palette("Tol, muted", (INDIGO, "#DDCC77", "#117733", MAGENTA, "#88CCEE", "#CC6677", OLIVE, WINE)),
}


@dataclass(frozen=True)
class PaperStyle(Options):
    """What a journal asks of a figure."""

    width_mm: float = option(
        JOURNAL_WIDTHS_MM["one column"],
        title="Width",
        help="Width of the whole figure in mm; usual in journals are "
        f"{'; '.join(f'{mm:g}: {name}' for name, mm in JOURNAL_WIDTHS_MM.items())}.",
        steps=tuple(JOURNAL_WIDTHS_MM.values()),
        shown=lambda mm: f"{mm:g} mm",
        in_a_row=True,
        low=40,
        high=400,
        unit="mm",
        flag="--width",
    )
    height_mm: float | None = option(
        None,
        title="Height",
        help="Height of the whole figure in mm. Default: what suits the figure.",
        low=30,
        high=400,
        unit="mm",
        flag="--height",
    )
    font: str = option(
        BUNDLED_FONT, title="Font", help=f"{BUNDLED_FONT} (as wide as Arial and Helvetica), or an installed font."
    )
    font_size: float = option(
        _USUAL_POINTS,
        title="Size (points)",
        help="Size of labels, in points; titles are a point larger, numbers at axes a point smaller.",
        low=_SMALLEST_POINTS,
        high=24,
        unit="points",
        step=0.5,
    )
    dpi: int = option(
        300,
        title="Dots per inch",
        help="Dots per inch of PNG and TIFF; SVG and PDF are vector graphics.",
        steps=(150, 300, 600, 1200),
        low=72,
        high=1200,
        unit="dots per inch",
    )
    palette: str = option(
        "okabe-ito",
        title="Palette",
        help="Colours of groups and modules; all palettes are safe for the colour-blind.",
        choices=PALETTES,
        shown=lambda name: PALETTES[name].title,
    )
    titles: bool = option(
        False,
        title="Titles",
        help="A title above every figure; most journals want it in the caption. Simulated figures are always marked.",
        flag="--title/--no-title",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        from biobgt.figures.paper.frame import is_installed  # loads matplotlib

        if not is_installed(self.font):
            raise InputError(
                f"The font '{self.font}' is not installed on this machine; install it, or choose '{BUNDLED_FONT}' or "
                f"'{FALLBACK_FONT}', which come with the project."
            )

    @property
    def tick_size(self) -> float:
        """Size of the numbers at axes, in points."""
        return max(_SMALLEST_POINTS, self.font_size - 1)

    def needed_mm(self, least_mm: float) -> float:
        """Width that a figure needs, in mm, by what it needs at the usual size of labels; larger ones take more."""
        return least_mm * max(1.0, self.font_size / _USUAL_POINTS)

    def colour(self, house: str) -> str:
        """Give the palette's counterpart of one of the house's colours; other colours stay as they are."""
        colours = PALETTES[self.palette].colours
        return colours[MODULE_COLOURS.index(house)] if house in MODULE_COLOURS else house

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
