"""A cohort with what was worked out of it, and the view of it that pages show.

What is kept here lives as long as the cohort does: a demo's for all sessions, a user's own in that user's session.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import pandas as pd
import streamlit as st

from biobgt import Atlas, BrainGraph, Cohort, ConnectomeSettings, Subject
from biobgt.connectome import TangentSpace, graph_from_connectivity, subject_connectivity
from biobgt.export import cohort_sha256
from biobgt.graph import Estimator, Matrix
from biobgt.quality import mean_connectivity, quality_table

if TYPE_CHECKING:  # they bring SciPy's statistics, a second of start that only the pages of hubs and modules need
    from hub_results import KeptHubs

    from biobgt.hubs import HubRule, Perturbation
    from biobgt.hubs.group_curves import SubjectCurves

FITTING = ""  # in place of a model: whichever fits the cohort
STRONGEST = ""  # in place of a region: whichever has the highest NE
KEPT_MEANS = 1000  # two numbers each

Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")


@dataclass(frozen=True)
class HubChoices:
    """How hubs are measured and marked, and which region is asked about; γ is in units of 1/mean(λ)."""

    gamma: float = 0.5
    perturbation: "Perturbation" = "control"
    rule: "HubRule" = "top"
    region: str = STRONGEST


@dataclass(frozen=True)
class ModuleChoices:
    """How modules are found, and by which functional labels they are named."""

    resolution: float = 1.0
    consensus: bool = False
    signed: bool = True
    runs: int = 10
    seed: int = 0
    labelling: str = "dosenbach"


@dataclass(eq=False)
class LoadedCohort:
    """A cohort with what is worked out once for all of its subjects, when it is first asked for."""

    key: str
    cohort: Cohort
    # Hubs of a user's own subjects stay with those subjects, in the session, and go when they go.
    own_hubs: "dict[tuple[str, ConnectomeSettings, Perturbation], KeptHubs]" = field(default_factory=dict)
    own_curves: "dict[tuple[ConnectomeSettings, Perturbation], dict[str, SubjectCurves]]" = field(default_factory=dict)
    own_pictures: "dict[tuple[object, ...], bytes]" = field(default_factory=dict)
    # What the page of modules measured, by kind: with a demo for all sessions, with own subjects in this one.
    module_results: "dict[str, dict[tuple[object, ...], object]]" = field(default_factory=dict)
    # Null graphs and halves of recordings that the page of hubs measured, in the same way.
    hub_evidence: "dict[str, dict[tuple[object, ...], object]]" = field(default_factory=dict)
    # What models said of the subjects, in the same way.
    model_results: "dict[str, dict[tuple[object, ...], object]]" = field(default_factory=dict)
    # The connectivity of the last few subjects, and graphs of it.
    matrices: "dict[tuple[str, Estimator], Matrix]" = field(default_factory=dict)
    graphs: "dict[tuple[str, ConnectomeSettings], BrainGraph]" = field(default_factory=dict)
    # The mean connectivity and mean strength of subjects that were looked at.
    means: "dict[str, tuple[float, float]]" = field(default_factory=dict)

    @cached_property
    def quality(self) -> pd.DataFrame:
        """The quality table, one row a subject."""
        return quality_table(self.cohort)

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the cohort's numbers, by which an export recognises it."""
        return cohort_sha256(self.cohort)

    @cached_property
    def tangent_space(self) -> TangentSpace:
        """The tangent space at this cohort's mean, which takes a tenth of a second a subject."""
        with st.spinner(f"Fitting the tangent space to {len(self.cohort)} subjects…", show_time=True):
            return TangentSpace.fit(self.cohort)

    def changed_to(self, cohort: Cohort) -> "LoadedCohort":
        """The cohort after a change: what was measured is kept only where no subject's numbers and no region changed.

        Groups may have. Nothing that is kept depends on them but through the ids of a group's members.
        """
        if not _same_measurements(self.cohort, cohort):
            return LoadedCohort(self.key, cohort)
        changed = replace(self, cohort=cohort)
        if "tangent_space" in self.__dict__:
            changed.__dict__["tangent_space"] = self.tangent_space
        return changed


@dataclass(frozen=True, eq=False)
class View:
    """What is looked at: one subject of one cohort, how its graph is made, and how its hubs are measured."""

    loaded: LoadedCohort
    subject: Subject
    settings: ConnectomeSettings
    hubs: HubChoices = field(default_factory=HubChoices)
    modules: ModuleChoices | None = None  # None is what the session says
    model: str = FITTING

    @property
    def cohort(self) -> Cohort:
        """The subject's cohort."""
        return self.loaded.cohort

    @property
    def atlas(self) -> Atlas:
        """The cohort's atlas."""
        return self.cohort.atlas

    def connectivity(self) -> Matrix:
        """The subject's connectivity, shape (n_regions, n_regions)."""
        estimator = self.settings.estimator

        def measure() -> Matrix:
            if estimator == "tangent":
                return self.loaded.tangent_space.transform([self.subject])[0]
            return subject_connectivity(self.subject, estimator=estimator)

        return keep_few(self.loaded.matrices, (self.subject.id, estimator), measure)

    def graph(self, connectivity: Matrix) -> BrainGraph:
        """The subject's brain graph, from its connectivity as :meth:`connectivity` has it."""

        def make() -> BrainGraph:
            return graph_from_connectivity(
                connectivity,
                self.settings,
                atlas=self.atlas,
                subject=self.subject.id,
                simulated=self.subject.simulated,
            )

        return keep_few(self.loaded.graphs, (self.subject.id, self.settings), make)

    def mean_connectivity(self) -> tuple[float, float]:
        """Mean of the subject's Pearson connectivity, and mean of its strength, over all pairs with signal."""
        kept = self.loaded.means
        return keep_few(kept, self.subject.id, lambda: mean_connectivity(self.subject), most=KEPT_MEANS)


def keep_few(kept: dict[Key, Result], key: Key, make: Callable[[], Result], *, most: int = 4) -> Result:
    """Make what was not made before, and keep it in place of the oldest."""
    found = kept.get(key)  # in one step: a demo is shared, and another session may drop it
    if found is None:
        found = make()
        while len(kept) >= most:
            kept.pop(next(iter(kept)), None)
        kept[key] = found
    return found


def _same_measurements(one: Cohort, other: Cohort) -> bool:
    return one.atlas is other.atlas and [
        (subject.id, id(subject.series), id(subject.connectivity)) for subject in one
    ] == [(subject.id, id(subject.series), id(subject.connectivity)) for subject in other]
