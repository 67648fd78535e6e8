"""Make the figures that requests name: for paper, with their numbers and words; several as the panels of one, too.

The app shows the same objects, so that the exported numbers are those on the screen.
"""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase

import pandas as pd
from threadpoolctl import threadpool_limits

from biobgt.base.errors import InputError
from biobgt.base.files import write_csv
from biobgt.base.options import Options
from biobgt.base.wording import counted, listed
from biobgt.data.cohort import Cohort
from biobgt.export.request import CohortRef, FigureRequest, PanelsRequest
from biobgt.figures.paper.frame import (
    MM_PER_INCH,
    PaperFigure,
    compose,
    fitting_columns,
    panel_widths_mm,
    save_figure,
    width_needed_mm,
)
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.paper_style import FILE_FORMATS, FileFormat, PaperStyle
from biobgt.figures.register import all_figures
from biobgt.results.measured import Measured


@dataclass(frozen=True, eq=False)
class _MadeFigure:
    """A figure for the paper with what goes with it.

    Attributes
    ----------
    figure : matplotlib Figure
    numbers : DataFrame
        What is drawn, one row per region, pair or step.
    caption : str
    methods : tuple of str
        Sentences on how it was computed; figures that share a sentence say it once.
    citations : tuple of str
    """

    figure: PaperFigure
    numbers: pd.DataFrame
    caption: str
    methods: tuple[str, ...]
    citations: tuple[str, ...]


def options_in_full(request: FigureRequest) -> Options:
    """All options of a request's figure, the given ones checked and the others by default."""
    figure = all_figures().named(request.figure)
    return figure.takes.from_plain(request.options, of=f"The figure '{figure.name}'")


def _make_figure(cohort: Cohort | Measured, request: FigureRequest, style: PaperStyle | None = None) -> _MadeFigure:
    """Make a figure for the paper.

    Parameters
    ----------
    cohort : Cohort or Measured
        The one that the request names; a measured one keeps what takes long for the next figure.
    request : FigureRequest
    style : PaperStyle, optional
    """
    figure, options = all_figures().named(request.figure), options_in_full(request)
    if figure.of_subject and request.subject is None:
        raise InputError(f"The figure '{request.figure}' is of one subject: name the subject.")
    style = style or PaperStyle()
    needed = style.needed_mm(figure.least_mm)
    if style.width_mm < needed:
        raise InputError(
            f"The figure '{figure.name}' cannot be read at a width of {style.width_mm:g} mm: with labels of "
            f"{style.font_size:g} points it needs {needed:.0f} mm. Choose a wider figure or smaller labels."
        )
    measured = cohort if isinstance(cohort, Measured) else Measured(cohort)
    with threadpool_limits(1, user_api="blas"):  # sums in one order, whatever the number of cores
        whom = measured.of(request.subject if figure.of_subject else None, request.settings)
        drawn = figure(whom, options).for_paper(style)
        picture, words = draw_on_paper(drawn, style), (tuple(drawn.methods), tuple(drawn.citations))
        return _MadeFigure(picture, drawn.numbers(), drawn.caption, *words)


@dataclass(frozen=True, eq=False)
class FigureFiles:
    """A figure written: its picture in every format, its numbers as CSV, and its words."""

    request: FigureRequest
    pictures: Mapping[FileFormat, bytes]
    numbers: bytes
    caption: str
    methods: tuple[str, ...]
    citations: tuple[str, ...]

    @property
    def title(self) -> str:
        """What the figure is."""
        return all_figures()[self.request.figure].name

    def files(self, name: str) -> dict[str, bytes]:
        """Its files by their paths, each called by the name."""
        return _picture_files(self.pictures, name) | {f"numbers/{name}.csv": self.numbers}


def make_files(
    cohort: Cohort | Measured, request: FigureRequest, *, style: PaperStyle, formats: Sequence[FileFormat]
) -> FigureFiles:
    """Make one figure and write it in every format, with its numbers as CSV.

    Parameters
    ----------
    cohort : Cohort or Measured
        The one that the request names.
    request : FigureRequest
    style : PaperStyle
    formats : sequence of {"svg", "pdf", "png", "tiff"}
    """
    if not formats:
        raise InputError(f"No format is chosen for the figures; choose at least one of {listed(FILE_FORMATS)}.")
    made = _make_figure(cohort, request, style)
    return _written(request, made, _pictures(made.figure, formats, style))


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

    def files(self, name: str) -> dict[str, bytes]:
        """Its files by their paths: the pictures called by the name, the numbers of panels by name and letter."""
        numbers = zip(ascii_lowercase, self.panels, strict=False)
        return _picture_files(self.pictures, name) | {
            f"numbers/{name}_{letter}.csv": panel.numbers for letter, panel in numbers
        }

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
    cohorts: Mapping[CohortRef, Cohort | Measured],
    request: PanelsRequest,
    *,
    style: PaperStyle,
    formats: Sequence[FileFormat],
) -> PanelFiles:
    """Make every panel for its width, arrange them and write the whole in every format.

    Parameters
    ----------
    cohorts : mapping of CohortRef to Cohort or Measured
        Of every panel.
    request : PanelsRequest
    style : PaperStyle
        Of the whole figure, whose height is that of its panels.
    formats : sequence of {"svg", "pdf", "png", "tiff"}
    """
    if style.height_mm is not None:
        raise InputError("The height of a figure of several panels is that of its panels: leave the height out.")
    least = [style.needed_mm(all_figures().named(panel.figure).least_mm) for panel in request.panels]
    columns = fitting_columns(least, request.columns, style.width_mm)
    widths = panel_widths_mm(len(request.panels), columns, style.width_mm)
    made = [
        _make_figure(cohorts[panel.cohort], panel, replace(style, width_mm=width))
        for panel, width in zip(request.panels, widths, strict=True)
    ]
    whole = compose([one.figure for one in made], columns=columns, letters=request.options.letters, style=style)
    pictures = _pictures(whole, formats, style)
    width, height = (float(inches) * MM_PER_INCH for inches in whole.get_size_inches())
    each = tuple(_written(panel, one, {}) for panel, one in zip(request.panels, made, strict=True))
    needed = width_needed_mm(least, request.columns)
    return PanelFiles(request, pictures, each, (width, height), columns, needed)


def _pictures(figure: PaperFigure, formats: Sequence[FileFormat], style: PaperStyle) -> dict[FileFormat, bytes]:
    pictures: dict[FileFormat, bytes] = {}
    for format in formats:
        buffer = io.BytesIO()
        save_figure(figure, buffer, format, style)
        pictures[format] = buffer.getvalue()
    return pictures


def _written(request: FigureRequest, made: _MadeFigure, pictures: Mapping[FileFormat, bytes]) -> FigureFiles:
    numbers = write_csv(made.numbers, index=False, lineterminator="\n").encode()
    return FigureFiles(request, pictures, numbers, made.caption, made.methods, made.citations)


def _picture_files(pictures: Mapping[FileFormat, bytes], name: str) -> dict[str, bytes]:
    return {f"figures/{name}.{format}": picture for format, picture in pictures.items()}
