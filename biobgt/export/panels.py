"""Several requested figures as the panels a, b, c … of one figure: how they are arranged, made, and asked for again."""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from string import ascii_lowercase
from typing import Any

from biobgt.cohort import Cohort
from biobgt.errors import InputError
from biobgt.export.bundle import FigureFiles, files_of
from biobgt.export.making import make_figure
from biobgt.export.requests import NEWER, CohortRef, FigureRequest
from biobgt.figures.catalogue import FIGURES
from biobgt.figures.paper.composed import compose, fitting_columns, panel_widths_mm, width_needed_mm
from biobgt.figures.paper.saving import MM_PER_INCH, save_figure
from biobgt.figures.paper_style import FileFormat, PaperStyle
from biobgt.measured import MeasuredCohort
from biobgt.options import Options, option
from biobgt.wording import counted

FORMAT, VERSION = "biobgt-panels", 1
FEWEST_PANELS = 2
COLUMNS = (1, 2, 3, 4)


@dataclass(frozen=True)
class PanelOptions(Options):
    """How panels are arranged."""

    columns: int = option(
        2,
        title="Columns",
        help="Panels in a row, or as many as can be read side by side. Those of a last row that is not full share "
        "its width.",
        choices=COLUMNS,
    )
    letters: bool = option(True, title="Letters", help="The letters a, b, c … above the panels.")


@dataclass(frozen=True)
class PanelsRequest:
    """One figure of several panels: the request of each, in order, and how they are arranged."""

    panels: tuple[FigureRequest, ...]
    options: PanelOptions = field(default_factory=PanelOptions)

    def __post_init__(self) -> None:
        if len(self.panels) < FEWEST_PANELS:
            raise InputError(f"A figure of several panels needs at least {FEWEST_PANELS}: name more figures.")

    @property
    def columns(self) -> int:
        """Panels in a row as asked for: two panels never stand in three columns."""
        return min(self.options.columns, len(self.panels))

    def to_json(self) -> str:
        """Write as JSON; the same request is always the same text."""
        document = {
            "format": FORMAT,
            "version": VERSION,
            "options": self.options.as_dict(),
            "panels": [panel.as_dict() for panel in self.panels],
        }
        return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "PanelsRequest":
        """Read what :meth:`to_json` wrote; anything else ends with a sentence."""
        try:
            document = json.loads(text)
        except ValueError:
            document = None
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise InputError("This is no request of panels. Give requests/panels.json of an exported bundle.")
        if document.get("version") != VERSION:
            raise InputError(NEWER)
        try:
            panels = tuple(FigureRequest.from_json(json.dumps(panel)) for panel in document["panels"])
            options: dict[str, Any] = dict(document["options"])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"The request of panels is damaged ({error}). Export the figure again.") from None
        return cls(panels, PanelOptions.from_plain(options, of="A figure of panels"))


@dataclass(frozen=True, eq=False)
class PanelFiles:
    """A figure of several panels, written.

    Attributes
    ----------
    request : PanelsRequest
    pictures : mapping of file format to bytes
    panels : tuple of FigureFiles
        What was drawn, with its numbers and words; the pictures are of the whole alone.
    size_mm : (float, float)
        Width and height.
    columns : int
        Panels in a row: as many as were asked for, or fewer where these would be too narrow.
    needed_mm : float
        Width of the whole at which as many fit as were asked for.
    """

    request: PanelsRequest
    pictures: Mapping[FileFormat, bytes]
    panels: tuple[FigureFiles, ...]
    size_mm: tuple[float, float]
    columns: int
    needed_mm: float

    @property
    def numbers(self) -> dict[str, bytes]:
        """The numbers of each panel as CSV, by its letter."""
        return {letter: one.numbers for letter, one in zip(ascii_lowercase, self.panels, strict=False)}

    @property
    def size(self) -> str:
        """How large the figure is, and what would fit where fewer panels stand in a row than were asked for."""
        width, height = self.size_mm
        said = f"{width:.1f} × {height:.1f} mm"
        asked = self.request.columns
        if self.columns == asked:
            return said
        return f"{said}, in {counted(self.columns, 'column')}: {asked} columns need {self.needed_mm:.0f} mm"

    @property
    def caption(self) -> str:
        """The captions of all panels, behind their letters where these are drawn."""
        captions = [one.caption.rstrip(". ") for one in self.panels]
        if self.request.options.letters:
            captions = [f"{letter}, {said}" for letter, said in zip(ascii_lowercase, captions, strict=False)]
        return "; ".join(captions) + "."


def make_panels(
    cohorts: Mapping[CohortRef, Cohort | MeasuredCohort],
    request: PanelsRequest,
    *,
    style: PaperStyle,
    formats: Sequence[FileFormat],
) -> PanelFiles:
    """Make every panel for its width, arrange them and write the whole in every format.

    Parameters
    ----------
    cohorts : mapping of CohortRef to Cohort or MeasuredCohort
        Of every panel.
    request : PanelsRequest
    style : PaperStyle
        Of the whole figure, whose height is that of its panels.
    formats : sequence of {"svg", "pdf", "png", "tiff"}
    """
    if style.height_mm is not None:
        raise InputError("The height of a figure of several panels is that of its panels: leave the height out.")
    least = [style.needed_mm(FIGURES.named(panel.figure).least_mm) for panel in request.panels]
    columns = fitting_columns(least, request.columns, style.width_mm)
    widths = panel_widths_mm(len(request.panels), columns, style.width_mm)
    made = [
        make_figure(cohorts[panel.cohort], panel, replace(style, width_mm=width))
        for panel, width in zip(request.panels, widths, strict=True)
    ]
    whole = compose([one.figure for one in made], columns=columns, letters=request.options.letters, style=style)
    pictures: dict[FileFormat, bytes] = {}
    for format in formats:
        buffer = io.BytesIO()
        save_figure(whole, buffer, format, style)
        pictures[format] = buffer.getvalue()
    width, height = (float(inches) * MM_PER_INCH for inches in whole.get_size_inches())
    each = tuple(files_of(panel, one, {}) for panel, one in zip(request.panels, made, strict=True))
    needed = width_needed_mm(least, request.columns)
    return PanelFiles(request, pictures, each, (width, height), columns, needed)
