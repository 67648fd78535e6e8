"""A cohort with what was measured of it, so that figures of the same subject share what took long."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from biobgt.analysis import ModuleOptions, SubjectModules, find_modules, graph_for_modules, measure_modules
from biobgt.atlas import Atlas
from biobgt.cohort import Cohort, Subject
from biobgt.connectome import TangentSpace, graph_from_connectivity, subject_connectivity
from biobgt.graph import BrainGraph, ConnectomeSettings, Matrix
from biobgt.hubs.group_curves import SubjectCurves, measure_curves
from biobgt.hubs.perturbation import Perturbation
from biobgt.hubs.sweep import SubjectHubs, measure_hubs
from biobgt.modules.resolution import resolution_step

Result = TypeVar("Result")


class MeasuredCohort:
    """A cohort whose graphs, hubs and modules are measured when first asked for, and then kept."""

    def __init__(self, cohort: Cohort) -> None:
        self.cohort = cohort
        self._kept: dict[tuple[object, ...], Any] = {}

    @property
    def atlas(self) -> Atlas:
        """The cohort's atlas."""
        return self.cohort.atlas

    def keep(self, key: tuple[object, ...], measure: Callable[[], Result]) -> Result:
        """Measure what was not measured before."""
        if key not in self._kept:
            self._kept[key] = measure()
        return cast("Result", self._kept[key])

    def connectivity(self, subject: Subject, settings: ConnectomeSettings) -> Matrix:
        """The subject's connectivity by the settings' estimator, shape (n_regions, n_regions)."""
        if settings.estimator != "tangent":
            return subject_connectivity(subject, estimator=settings.estimator)
        space = self.keep(("tangent space",), lambda: TangentSpace.fit(self.cohort))
        return space.transform([subject])[0]

    def graph(self, subject: Subject, settings: ConnectomeSettings) -> BrainGraph:
        """The subject's brain graph."""
        return graph_from_connectivity(
            self.connectivity(subject, settings),
            settings,
            atlas=self.atlas,
            subject=subject.id,
            simulated=subject.simulated,
        )

    def hubs(self, subject: Subject, settings: ConnectomeSettings, perturbation: Perturbation) -> SubjectHubs:
        """The subject's hubs, at any γ; FC strength is on the Pearson matrix, as in the paper."""
        return self.keep(
            ("hubs", subject.id, settings, perturbation),
            lambda: measure_hubs(
                self.graph(subject, settings), subject_connectivity(subject), perturbation=perturbation
            ),
        )

    def curves(
        self, subject: Subject, settings: ConnectomeSettings, perturbation: Perturbation, gamma: float
    ) -> SubjectCurves:
        """The subject's hub curves at one γ."""
        return self.keep(
            ("curves", subject.id, settings, perturbation, gamma),
            lambda: measure_curves(
                self.graph(subject, settings), subject_connectivity(subject), [gamma], perturbation=perturbation
            ),
        )

    def modules(self, subject: Subject, settings: ConnectomeSettings, options: ModuleOptions) -> SubjectModules:
        """The subject's modules."""
        return self.keep(
            ("modules", subject.id, settings, options),
            lambda: measure_modules(self.graph(subject, settings), subject_connectivity(subject), options),
        )

    def labels(self, subject: Subject, settings: ConnectomeSettings, options: ModuleOptions) -> tuple[int, ...]:
        """The subject's modules as one number a region, without their measures."""
        return self.keep(
            ("labels", subject.id, settings, options),
            lambda: tuple(find_modules(self.graph(subject, settings), options).labels.tolist()),
        )

    def resolution_step(
        self, subject: Subject, settings: ConnectomeSettings, options: ModuleOptions
    ) -> dict[str, float]:
        """One resolution of the subject's sweep, that of the options."""
        return self.keep(
            ("resolution", subject.id, settings, options.signed, options.runs, options.seed, options.resolution),
            lambda: resolution_step(
                graph_for_modules(self.graph(subject, settings), options),
                options.resolution,
                runs=options.runs,
                seed=options.seed,
            ),
        )
