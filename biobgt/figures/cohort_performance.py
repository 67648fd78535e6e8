"""How well a trained model does in a cohort whose groups are known: ROC curves and reliability beside the card's.

Every subject is predicted by the model. The card's curves are of the subjects that were left out of training; those of
the cohort are of other people, and usually of few.
"""

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from biobgt.base.colours import MODULE_COLOURS
from biobgt.base.errors import InputError
from biobgt.base.wording import NOT_A_DIAGNOSIS, counted, listed
from biobgt.figures.figure import Figure, registered
from biobgt.figures.model_figure import AskedModelOptions, asked_model, subject_words
from biobgt.figures.performance import OBSERVED, ObservedShares, Reliability, RocCurves
from biobgt.figures.register import NoOptions
from biobgt.results.measured import MeasuredCohort

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.data.cohort import Cohort
    from biobgt.figures.paper_style import PaperStyle
    from biobgt.model.installed import InstalledModel
    from biobgt.results.measured import Measured
    from biobgt.training.card_tables import CohortResults

OF_CARD, OF_COHORT = "card", "this cohort"
COHORT_COLOUR = MODULE_COLOURS[1]  # that of the curve after the card's


@dataclass(frozen=True, eq=False, kw_only=True)
class CohortPerformance(Figure):
    """What the two figures share.

    Attributes
    ----------
    short : str
        What its title begins with: two of them stand side by side on a page, and a cohort's name may be long.
    cohort : str
        Name of the cohort.
    n_subjects : int
        Subjects of the cohort with a prediction and a group that the model knows.
    n_card : int
        Subjects of the card.
    drawn : RocCurves or Reliability
        The card's and the cohort's.
    subjects_simulated, model_simulated : bool
        Whether any subject of the cohort is simulated, and whether any group of the model is.
    """

    takes = AskedModelOptions
    of_subject = False
    of_graph = False
    short: ClassVar[str]

    options: AskedModelOptions = field(default_factory=AskedModelOptions)
    cohort: str
    n_subjects: int
    n_card: int
    drawn: RocCurves | Reliability
    subjects_simulated: bool = False
    model_simulated: bool = False

    @classmethod
    def of(cls, measured: "Measured", options: AskedModelOptions) -> Self:
        """Ask the model about every subject, and set the cohort's curves beside those of the card."""
        model, cohort = asked_model(options, cls), measured.cohort
        found, words = results_of(measured, model), subject_words(model)
        whose: dict[str, Any] = {
            "title": f"{cls.short}, {model.name}",
            "simulated": cohort.simulated or model.simulated,
        }
        return cls(
            **whose,
            options=options,
            methods=(*words["methods"], _asked_words(model, found)),
            citations=words["citations"],
            subjects_simulated=cohort.simulated,
            model_simulated=model.simulated,
            cohort=cohort.name,
            n_subjects=len(found.labels),
            n_card=len(model.groups.labels),
            drawn=replace(cls._beside(model, found), **whose),
        )

    @classmethod
    @abstractmethod
    def _beside(cls, model: "InstalledModel", found: "CohortResults") -> "RocCurves | Reliability":
        """The card's figure with the cohort's numbers in it."""

    def plotly(self) -> "go.Figure":
        """Draw it for the screen, the cohort in another colour."""
        return self.drawn.plotly()

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        return self.drawn.matplotlib(style)

    @property
    def of_whom(self) -> str:
        """Whose the two curves are, within a caption."""
        subject = "simulated subject" if self.subjects_simulated else "subject"
        return (
            f"in {counted(self.n_subjects, subject)} of this cohort ({self.cohort}) and in the {self.n_card:,} "
            "subjects of the model's card, out of fold"
        )

    @property
    def opening(self) -> str:
        """The model, as a caption opens."""
        return f"Model {self.options.model}{', with simulated patients' if self.model_simulated else ''}"

    @property
    def closing(self) -> str:
        """What a caption ends with."""
        return (
            f"If subjects of the cohort were among those that the model was trained on, the cohort's curve is too "
            f"good. {NOT_A_DIAGNOSIS}"
        )


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class RocBesideCard(CohortPerformance):
    """ROC curves of a cohort and of the card."""

    key = "cohort_roc"
    name = "ROC curves in a cohort"
    short = "ROC in this cohort"

    drawn: RocCurves

    @classmethod
    def _beside(cls, model: "InstalledModel", found: "CohortResults") -> RocCurves:
        from biobgt.training.card_tables import group_curves

        card = RocCurves.of(MeasuredCohort(model.cohort).of(None), NoOptions())
        own = group_curves(found.labels, found.probabilities, found.groups)
        curves = {f"{name}, {OF_CARD}": curve for name, curve in card.curves.items()}
        return replace(card, curves=curves | {f"{name}, {OF_COHORT}": curve for name, curve in own.items()})

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per threshold of every curve."""
        return self.drawn.numbers

    @property
    def caption(self) -> str:
        """Whose the curves are."""
        return f"{self.opening}: {self.drawn.what}, {self.of_whom}; the dotted line is chance. {self.closing}"


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class ReliabilityBesideCard(CohortPerformance):
    """Observed shares against claimed probabilities, of a cohort and of the card."""

    key = "cohort_reliability"
    name = "Reliability of probabilities in a cohort"
    short = "Reliability in this cohort"

    drawn: Reliability

    @classmethod
    def _beside(cls, model: "InstalledModel", found: "CohortResults") -> Reliability:
        from biobgt.training.metrics import reliability_curve

        card = Reliability.of(MeasuredCohort(model.cohort).of(None), NoOptions())
        curve = reliability_curve(found.labels, found.probabilities)
        own = ObservedShares(f"{OF_COHORT}: {OBSERVED}", curve, COHORT_COLOUR, symbol="diamond", joined=False)
        return replace(card, observed_name=f"{OF_CARD}: {OBSERVED}", beside=(own,))

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per bin of probabilities, of the card and of the cohort."""
        import pandas as pd

        parts = zip((OF_CARD, OF_COHORT), self.drawn.observed, strict=True)
        return pd.concat([shares.curve.assign(of=name) for name, shares in parts], ignore_index=True)

    @property
    def caption(self) -> str:
        """Whose the points are."""
        return (
            f"{self.opening}: {self.drawn.what}, {self.of_whom}, with 95 % Wilson intervals. The dotted line is a "
            f"probability that is right as often as it claims. {self.closing}"
        )


def results_of(measured: "Measured", model: "InstalledModel") -> "CohortResults":
    """What the model says of the cohort's subjects of known group; refused where it does not fit, or they are few."""
    from biobgt.training.card_tables import cohort_results

    cohort = measured.cohort
    if refusal := model.refusal(cohort):
        raise InputError(refusal)
    said = [measured.of(subject).prediction(model) for subject in cohort.ids]
    found = cohort_results(cohort, model.group_names, said)
    if not found.is_enough:
        raise InputError(too_few_words(cohort, model))
    return found


def too_few_words(cohort: "Cohort", model: "InstalledModel") -> str:
    """Say how many subjects of known group it takes."""
    from biobgt.training.card_tables import FEWEST_PER_GROUP

    return (
        f"To compare cohort '{cohort.name}' with the card of model {model.name}, {FEWEST_PER_GROUP} subjects of every "
        f"group of the model are needed ({', '.join(model.group_names)})."
    )


def _asked_words(model: "InstalledModel", found: "CohortResults") -> str:
    """The sentence of the methods on whom the model was asked about."""
    sizes = [f"{int((found.labels == k).sum())} {group}" for k, group in enumerate(found.groups)]
    others = counted(found.n_left_out, "other")
    left_out = f"; {others} had no prediction or no such group" if found.n_left_out else ""
    return (
        f"The model {model.name} was asked about {counted(len(found.labels), 'subject')} of known group "
        f"({listed(sizes)}){left_out}. Its card's results are of subjects left out of training."
    )
