"""What all figures of studies share: which contrast is shown, of whom, adjusted for what, and how it is said."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self

from biobgt.base.colours import NEGATIVE, POSITIVE
from biobgt.base.errors import InputError
from biobgt.base.options import Options, option
from biobgt.base.references import in_brackets
from biobgt.base.wording import adjusted_for, counted
from biobgt.data.atlas import LABELLINGS
from biobgt.data.cohort import counted_people
from biobgt.figures.brain import Brain, in_brain
from biobgt.figures.drawing import Drawing
from biobgt.figures.register import figure
from biobgt.hubs.measures import HUB_MEASURES
from biobgt.inference.design import COMPARED
from biobgt.inference.formula import INTERCEPT
from biobgt.modules.measures import REGION_MEASURES, measure_columns
from biobgt.study.finished import FinishedStudy
from biobgt.study.options import ATTENTION

if TYPE_CHECKING:
    import pandas as pd

    from biobgt.results.measured import Measured
    from biobgt.study.findings import TestedContrast, TestedDesign

_OVERALL = {"as asked": "As in the study", "adjusted": "Adjusted for", "not adjusted": "Not adjusted for"}


@dataclass(frozen=True)
class StudyFigureOptions(Options):
    """Which contrast of a study is shown, and whether overall connectivity is adjusted for."""

    contrast: str = option("", title="Contrast", help="Name of a contrast of the design. Default: the first.")
    overall: Literal["as asked", "adjusted", "not adjusted"] = option(
        "as asked",
        title="Overall connectivity",
        help="Results with overall connectivity as a covariate, or without it. Both are always computed.",
        shown=_OVERALL,
    )


study_figure = partial(figure, of_subject=False, of_graph=False, of_study=True)


def study_of(measured: "Measured") -> FinishedStudy:
    """The study that a figure is asked about."""
    if not isinstance(measured, FinishedStudy):
        raise InputError("This figure shows a study: name the folder that biobgt study has written, as study:FOLDER.")
    return measured


@dataclass(frozen=True, eq=False)
class ShownContrast:
    """A contrast of a study, as it was tested with overall connectivity as a covariate or without."""

    study: FinishedStudy
    contrast: "TestedContrast"
    design: "TestedDesign"

    @classmethod
    def of(cls, measured: "Measured", options: StudyFigureOptions) -> Self:
        """What the options name."""
        study = study_of(measured)
        adjusted = {"as asked": None, "adjusted": True, "not adjusted": False}[options.overall]
        return cls(study, study.contrast(options.contrast), study.design(adjusted=adjusted))

    @property
    def title(self) -> str:
        """The contrast as a title writes it, with a true minus sign."""
        return self.contrast.name.replace(" - ", " − ")

    def rows(self, table: "pd.DataFrame") -> "pd.DataFrame":
        """The rows of a table of the findings that are about it."""
        return self.study.rows(table, self.contrast, adjusted=self.design.adjusted)

    @property
    def sides(self) -> Mapping[int, tuple[str, str]]:
        """What positive (1) and negative (-1) effects are called, with their colours."""
        name, levels = self.contrast.name, self.contrast.levels
        if self.contrast.statistic == "F":
            return {1: (f"F of {name}", POSITIVE)}
        if levels:
            return {1: (f"higher in {levels[1]}", POSITIVE), -1: (f"lower in {levels[1]}", NEGATIVE)}
        if name == "mean":
            return {1: ("above zero", POSITIVE), -1: ("below zero", NEGATIVE)}
        return {1: (f"rises with {name}", POSITIVE), -1: (f"falls with {name}", NEGATIVE)}

    @property
    def whom(self) -> str:
        """Who was tested, adjusted for what, with how many degrees of freedom; ends a caption."""
        design, noun = self.design, "simulated person" if self.study.simulated else "person"
        people = counted(design.n_people, noun).replace("persons", "people")
        if design.n_rows > design.n_people:
            people += f", {counted(design.n_rows, 'recording')}"
        sizes = ", ".join(f"{n:,} {level}" for level, n in design.sizes.items())
        return (
            f"{people}{f' ({sizes})' if sizes else ''}; {adjusted_for(design.covariates)}; "
            f"{design.degrees:,} residual degrees of freedom."
        )

    def drawing(self, said: str, **about: Any) -> Drawing:
        """A drawing whose caption ends with who was tested.

        Parameters
        ----------
        said : str
            The caption up to there.
        **about
            Further attributes of :class:`~biobgt.figures.drawing.Drawing`.
        """
        return Drawing(caption=f"{said}. {self.whom}", simulated=self.study.simulated, **about)

    def in_brain(self, brain: Brain, said: Callable[[str], str], **about: Any) -> Drawing:
        """The same of regions in a brain; ``said`` is told in which."""
        return in_brain(brain, lambda where: f"{said(where)} {self.whom}", simulated=self.study.simulated, **about)

    @property
    def methods(self) -> tuple[str, ...]:
        """How the design was tested, in sentences with citations."""
        options, design, atlas = self.study.findings.options, self.design, self.study.atlas
        within = options.within or ("people" if design.recordings == COMPARED else "")
        turned = design.test == INTERCEPT or (options.unequal_variances and not within)
        how = "turning the signs of" if turned else f"permuting, within {within}," if within else "permuting"
        variances = "each tested group having its own variance" if design.sizes else "allowing for unequal variances"
        return (
            f"A linear model, {design.formula}, was fitted to the data of "
            f"{counted_people(design.n_people, design.n_rows)}, in the {atlas.n_regions} regions of "
            f"{atlas.title}{in_brackets(atlas.cites)}; {design.test} was tested by {how} the residuals of the "
            f"covariates [@freedman1983; {options.permutations:,} permutations, seed {options.seed}]"
            f"{f', {variances}' if options.unequal_variances else ''}.",
            "Every test was made with overall connectivity as a covariate and without it.",
        )


def measure_words(study: FinishedStudy, key: str) -> str:
    """What a measure of regions or of the network is called, in the words of the study's connectivity.

    Parameters
    ----------
    study : FinishedStudy
    key : str
        As the tables of findings have it.
    """
    known = {key: one.title for key, one in HUB_MEASURES.items()}
    known |= {key: one.title for key, one in REGION_MEASURES.items()}
    known[ATTENTION] = f"attention received in model {study.data.model}"
    for column, (measure, labelling) in measure_columns(study.atlas.labels).items():
        known[column] = f"{measure.title}, {LABELLINGS.get(labelling, labelling)}" if labelling else measure.title
    named = key
    for labelling in study.atlas.labels:
        named = named.replace(f" {labelling}", f", {LABELLINGS.get(labelling, labelling)}")
    return study.kind.named(known.get(key, named.replace("_", " ")))
