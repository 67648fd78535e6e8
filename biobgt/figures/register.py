"""The register of figures: a figure is one function, and everything that shows figures finds it here.

``@figure("hub_scatter", "NE against another measure", takes=_HubScatterOptions)`` above a function
``(measured, options) -> Drawing`` is all that a figure takes: pages, ``biobgt figure``, links, the export and the
gallery read the register, and know nothing else of figures.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from biobgt.base.options import Options, Registry
from biobgt.figures.drawing import Drawing

if TYPE_CHECKING:
    from biobgt.results.measured import Measured


@dataclass(frozen=True)
class NoOptions(Options):
    """The options of a figure that has none."""


_Options = TypeVar("_Options", bound=Options)


@dataclass(frozen=True, kw_only=True)
class Figure(Generic[_Options]):
    """A figure of the register; called, it draws what was measured of a subject, a cohort or a model's cohort.

    Attributes
    ----------
    key : str
        Its name, for ``biobgt figure`` and in files.
    name : str
        What it is, for lists and above its caption.
    draw : callable
        ``(measured, options) -> Drawing``.
    takes : type of Options
        The options it has.
    of_subject : bool
        Whether it shows one subject, instead of a cohort, its groups or a model.
    of_graph : bool
        Whether it depends on the settings of the brain graph; trained models make their own.
    of_model : bool
        Whether it shows a trained model, whose cohort it is then made of.
    of_study : bool
        Whether it shows a finished study, of which it is then made.
    page : str
        The page of the app that shows it below its own panels, with widgets for its options; empty where a page shows
        it in a panel of its own.
    on_paper_only : bool
        Whether the screen, too, shows the drawing for paper.
    least_mm : float
        The narrowest drawing for paper whose words can all be read, at the usual size of labels.
    example_of : str
        The model that examples show, where not every model has what the figure needs.
    """

    key: str
    name: str
    draw: "Callable[[Measured, _Options], Drawing]"
    takes: type[_Options]
    of_subject: bool = True
    of_graph: bool = True
    of_model: bool = False
    of_study: bool = False
    page: str = ""
    on_paper_only: bool = False
    least_mm: float = 50.0
    example_of: str = ""

    def __call__(self, measured: "Measured", options: _Options) -> Drawing:
        """Draw it."""
        return self.draw(measured, options)


_FAMILIES = (
    *(
        "attention.disorders",
        "attention.faithfulness",
        "attention.maps",
        "attention.own_groups",
        "attention.region",
        "attention.tested",
        "bench",
        "centiles",
        "connectivity",
        "connectogram",
    ),
    *(
        "groups",
        "group_maps",
        "hubs",
        "models",
        "modules",
        "passport",
        "people",
        "specifications",
        "studies.design",
        "studies.edges",
        "studies.effects",
        "why_region",
    ),
)
_FIGURES: Registry[Figure[Any]] = Registry("figure")


def all_figures() -> Registry[Figure[Any]]:
    """Every figure there is, by its key: a family registers its figures when it is imported."""
    for family in _FAMILIES:
        import_module(f"biobgt.figures.{family}")
    return _FIGURES


class _Register(Protocol):
    def __call__(self, draw: "Callable[[Measured, _Options], Drawing]") -> Figure[_Options]:
        """The figure that a function draws."""


def figure(key: str, name: str, *, takes: type[Options] = NoOptions, **about: Any) -> _Register:
    """Put the function below into the register.

    Parameters
    ----------
    key, name : str
    takes : type of Options
        Those of the function.
    **about
        Further attributes of :class:`Figure`.
    """

    def register(draw: "Callable[[Measured, Any], Drawing]") -> Figure[Any]:
        return _FIGURES.register(Figure(key=key, name=name, draw=draw, takes=takes, **about))

    return register


def model_figure(key: str, name: str, **about: Any) -> _Register:
    """Put the function below into the register, as a figure of a trained model."""
    return figure(key, name, of_subject=False, of_graph=False, of_model=True, **about)
