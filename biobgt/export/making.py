"""Make the figure that a request names: for paper, with its numbers and words.

The app shows the same objects, so that the exported numbers are those on the screen.
"""

from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure as PaperFigure
from threadpoolctl import threadpool_limits

from biobgt.base.errors import InputError
from biobgt.base.options import Options
from biobgt.base.references import Citation
from biobgt.data.cohort import Cohort
from biobgt.export.request import FigureRequest
from biobgt.figures.catalogue import FIGURES
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.register import Figure
from biobgt.results.measured import Measured


@dataclass(frozen=True, eq=False)
class MadeFigure:
    """A figure for the paper with what goes with it.

    Attributes
    ----------
    figure : matplotlib Figure
    numbers : DataFrame
        What is drawn, one row per region, pair or step.
    caption : str
    methods : tuple of str
        Sentences on how it was computed; figures that share a sentence say it once.
    citations : tuple of Citation
    """

    figure: PaperFigure
    numbers: pd.DataFrame
    caption: str
    methods: tuple[str, ...]
    citations: tuple[Citation, ...]


def options_in_full(request: FigureRequest) -> Options:
    """All options of a request's figure, the given ones checked and the others by default."""
    figure = FIGURES.named(request.figure)
    return figure.takes.from_plain(request.options, of=f"The figure '{figure.name}'")


def make_figure(cohort: Cohort | Measured, request: FigureRequest, style: PaperStyle | None = None) -> MadeFigure:
    """Make a figure for the paper.

    Parameters
    ----------
    cohort : Cohort or Measured
        The one that the request names; a measured one keeps what takes long for the next figure.
    request : FigureRequest
    style : PaperStyle, optional
    """
    figure, options = FIGURES.named(request.figure), options_in_full(request)
    if figure.of_subject and request.subject is None:
        raise InputError(f"The figure '{request.figure}' is of one subject: name the subject.")
    style = style or PaperStyle()
    _check_width(figure, style)
    measured = cohort if isinstance(cohort, Measured) else Measured(cohort)
    with threadpool_limits(1, user_api="blas"):  # sums in one order, whatever the number of cores
        whom = measured.of(request.subject if figure.of_subject else None, request.settings)
        if isinstance(figure, Figure):
            drawn = figure(whom, options).for_paper(style)
            picture, words = draw_on_paper(drawn, style), (tuple(drawn.methods), tuple(drawn.citations))
            return MadeFigure(picture, drawn.numbers(), drawn.caption, *words)
        made = figure.of(whom, options)
        return MadeFigure(made.matplotlib(style), made.numbers, made.paper_caption(style), made.methods, made.citations)


def _check_width(figure: Figure, style: PaperStyle) -> None:
    """Refuse a width at which the figure's words would be cut or lie on each other."""
    needed = style.needed_mm(figure.least_mm)
    if style.width_mm < needed:
        raise InputError(
            f"The figure '{figure.name}' cannot be read at a width of {style.width_mm:g} mm: with labels of "
            f"{style.font_size:g} points it needs {needed:.0f} mm. Choose a wider figure or smaller labels."
        )
