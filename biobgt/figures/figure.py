"""What every figure is: data that are drawn, with their words, and the two drawings of them.

A figure is made of what was measured and of options, ``RoleMap.of(measured, options)``. It then knows its caption,
the numbers behind it, the sentences of the methods and what to cite, and draws itself for the screen with
:meth:`Figure.plotly` and for paper with :meth:`Figure.matplotlib`. The app, ``biobgt figure`` and the export all show
figures of the register :data:`FIGURES`, and know nothing else of them.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from biobgt.base.errors import InputError
from biobgt.base.options import Options
from biobgt.base.references import Citation
from biobgt.data.graph import ESTIMATED, KINDS, ConnectivityKind
from biobgt.figures.register import FIGURES, NoOptions
from biobgt.figures.screen import ScreenHeight

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.results.measured import Measured


@dataclass(frozen=True, eq=False, kw_only=True)
class Figure(ABC):
    """A figure; its own fields are what is drawn.

    Attributes
    ----------
    key : str
        The name of its kind, for ``biobgt figure`` and in files.
    name : str
        What the figure is, for lists and above its caption.
    takes : type of Options
        The options it has.
    of_subject : bool
        Whether it shows one subject, instead of a cohort, its groups or a model.
    of_graph : bool
        Whether it depends on the settings of the brain graph; trained models make their own.
    page : str
        The page of the app that shows it below its own panels, with widgets for its options; empty where a page shows
        it in a panel of its own.
    on_paper_only : bool
        Whether the screen, too, shows the drawing for paper.
    least_mm : float
        The narrowest drawing for paper whose words can all be read, at the usual size of labels.
    options : Options
    title : str
        Above the drawing.
    simulated : bool
        Whether anybody in it is; the drawing says so.
    methods : tuple of str
        Sentences on how it was computed; figures that share a sentence say it once.
    citations : tuple of Citation
    kind : ConnectivityKind
        What the connectivity behind it is: measures are called by its words.
    """

    key: ClassVar[str]
    name: ClassVar[str]
    takes: ClassVar[type[Options]] = NoOptions
    of_subject: ClassVar[bool] = True
    of_graph: ClassVar[bool] = True
    of_model: ClassVar[bool] = False
    page: ClassVar[str] = ""
    on_paper_only: ClassVar[bool] = False
    least_mm: ClassVar[float] = 50.0

    options: Any
    title: str = ""
    simulated: bool = False
    methods: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()
    kind: ConnectivityKind = KINDS[ESTIMATED]

    @classmethod
    @abstractmethod
    def of(cls, measured: "Measured", options: Any) -> Self:
        """Make the figure of what was measured of a subject or a cohort, with the given options."""

    @property
    @abstractmethod
    def caption(self) -> str:
        """What the figure shows, in words; also for screen readers."""

    @property
    @abstractmethod
    def numbers(self) -> "pd.DataFrame":
        """What is drawn, one row per region, pair or step."""

    def paper_caption(self, style: "PaperStyle") -> str:
        """The caption of the drawing for paper, where that shows something else than the screen."""
        return self.caption

    @property
    def screen_height(self) -> ScreenHeight | None:
        """How its height on the screen follows its width; None where the height is always the same."""
        return None

    def plotly(self) -> "go.Figure":
        """Draw it for the screen."""
        raise InputError(f"The figure '{self.name}' is drawn for paper only: take its matplotlib drawing.")

    @abstractmethod
    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""


AnyFigure = TypeVar("AnyFigure", bound=type[Figure])


def registered(figure: AnyFigure) -> AnyFigure:
    """Add a figure to the register, as the decorator of its class."""
    FIGURES.register(figure)
    return figure
