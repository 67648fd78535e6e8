"""The register of figures that can be exported, and the one function that makes any of them.

A recipe calls the same functions of the library as the page of the app that shows the figure, so that the exported
numbers are those on the screen.
"""

from collections.abc import Mapping

from threadpoolctl import threadpool_limits

from biobgt.cohort import Cohort
from biobgt.errors import InputError
from biobgt.export.chance_recipes import CHANCE_FIGURES
from biobgt.export.connectome_recipes import CONNECTOME_FIGURES
from biobgt.export.group_recipes import GROUP_FIGURES
from biobgt.export.hub_recipes import HUB_FIGURES
from biobgt.export.making import MadeFigure, Order, Recipe
from biobgt.export.measured import MeasuredCohort
from biobgt.export.model_recipes import MODEL_FIGURES
from biobgt.export.module_recipes import MODULE_FIGURES
from biobgt.export.performance_recipes import PERFORMANCE_FIGURES
from biobgt.export.received_recipes import RECEIVED_FIGURES
from biobgt.export.requests import FigureRequest
from biobgt.export.subject_model_recipes import SUBJECT_MODEL_FIGURES
from biobgt.export.why_recipes import WHY_FIGURES
from biobgt.figures.paper.style import PaperStyle

FIGURES: Mapping[str, Recipe] = {
    **CONNECTOME_FIGURES,
    **HUB_FIGURES,
    **WHY_FIGURES,
    **MODULE_FIGURES,
    **CHANCE_FIGURES,
    **GROUP_FIGURES,
    **MODEL_FIGURES,
    **RECEIVED_FIGURES,
    **PERFORMANCE_FIGURES,
    **SUBJECT_MODEL_FIGURES,
}


def recipe_of(figure: str) -> Recipe:
    """A recipe by its name."""
    if figure not in FIGURES:
        raise InputError(f"There is no figure '{figure}'. Choose one of: {', '.join(FIGURES)}.")
    return FIGURES[figure]


def make_figure(cohort: Cohort | MeasuredCohort, request: FigureRequest, style: PaperStyle | None = None) -> MadeFigure:
    """Make a figure for the paper.

    Parameters
    ----------
    cohort : Cohort or MeasuredCohort
        The one that the request names; a measured one keeps what takes long for the next figure.
    request : FigureRequest
    style : PaperStyle, optional
    """
    recipe = recipe_of(request.figure)
    measured = cohort if isinstance(cohort, MeasuredCohort) else MeasuredCohort(cohort)
    order = Order(measured, request, recipe.fill_in(request.options))
    with threadpool_limits(1, user_api="blas"):  # sums in one order, whatever the number of cores
        return recipe.make(order, style or PaperStyle())
