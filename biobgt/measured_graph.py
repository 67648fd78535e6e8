"""One subject of a cohort, or all of it, seen with one kind of brain graph: connectivity and the graph itself."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, TypeVar

from biobgt.atlas import Atlas
from biobgt.cohort import Cohort, Subject
from biobgt.connectome import TangentSpace, graph_from_connectivity, subject_connectivity
from biobgt.errors import InputError
from biobgt.graph import (
    ESTIMATORS,
    PEARSON,
    BrainGraph,
    ConnectivityKind,
    ConnectomeSettings,
    Matrix,
    has_unit_diagonal,
)
from biobgt.kept_results import CONNECTIVITY, GRAPH, MEAN_CONNECTIVITY, TANGENT_SPACE, Key, Kind

if TYPE_CHECKING:
    from biobgt.measured import MeasuredCohort

Result = TypeVar("Result")


def connectivity_key(subject: Subject, estimator: str) -> Key:
    """The key of a subject's connectivity, which depends on no other setting of a graph."""
    return Key(CONNECTIVITY, subject.id, None, estimator)


@dataclass(frozen=True, eq=False)
class MeasuredGraph:
    """What was measured of one subject of a cohort, or of all of it, with one kind of brain graph.

    Attributes
    ----------
    whole : MeasuredCohort
    one : Subject or None
        None where it is about the cohort.
    settings : ConnectomeSettings
    """

    whole: "MeasuredCohort"
    one: Subject | None
    settings: ConnectomeSettings

    @property
    def cohort(self) -> Cohort:
        """The cohort."""
        return self.whole.cohort

    @property
    def atlas(self) -> Atlas:
        """The cohort's atlas."""
        return self.cohort.atlas

    @property
    def subject(self) -> Subject:
        """The subject; there must be one."""
        if self.one is None:
            raise InputError("This is about one subject: name the subject.")
        return self.one

    @property
    def kind(self) -> ConnectivityKind:
        """What the connectivity of the subject, or of the cohort, is."""
        return self.cohort.kind if self.one is None else self.cohort.kind_of(self.one)

    @property
    def quantity(self) -> str:
        """What values of the subject's connectivity are called on scales and axes: r only where these are correlations.

        A matrix stands for itself, whatever the estimator, unless it was transformed to Fisher z.
        """
        given, estimator = self.subject.connectivity, ESTIMATORS[self.settings.estimator]
        correlated = given is None or (self.kind.functional and has_unit_diagonal(given))
        return estimator.quantity if correlated or estimator.key != PEARSON else self.kind.quantity

    def of(self, subject: str) -> Self:
        """Look at another subject of the cohort."""
        return type(self)(self.whole, self.cohort[subject], self.settings)

    def keep(self, kind: Kind, how: Hashable, measure: Callable[[], Result]) -> Result:
        """Measure what is not kept of this subject's graph, and keep it.

        Parameters
        ----------
        kind : Kind
        how : hashable
            What the result depends on beside the subject and the graph.
        measure : callable
            Computes the result.
        """
        return self.whole.keep(self.key(kind, how), measure)

    def has(self, kind: Kind, how: Hashable = None) -> bool:
        """Whether a result is kept."""
        return self.whole.store.get(self.key(kind, how)) is not None

    def key(self, kind: Kind, how: Hashable = None) -> Key:
        """The key of a result of this subject's graph."""
        return Key(kind, "" if self.one is None else self.one.id, self.settings, how)

    def connectivity(self) -> Matrix:
        """Connectivity by the settings' estimator, shape (n_regions, n_regions)."""
        subject, estimator = self.subject, self.settings.estimator
        if estimator != PEARSON and not self.kind.functional:
            raise InputError(
                f"{ESTIMATORS[estimator].title} is for functional connectivity, and the matrix of subject "
                f"'{subject.id}' is not ({self.kind.key}). Choose {ESTIMATORS[PEARSON].title}, which takes a matrix as "
                "it is."
            )

        def measure() -> Matrix:
            if estimator != "tangent":
                return subject_connectivity(subject, estimator=estimator)
            space = self.whole.keep(Key(TANGENT_SPACE), lambda: TangentSpace.fit(self.cohort))
            return space.transform([subject])[0]

        return self.whole.keep(connectivity_key(subject, estimator), measure)

    def pearson(self) -> Matrix:
        """The Pearson matrix, or connectivity as brought: FC strength is on it, as in the paper, whatever the graph."""
        subject = self.subject
        return self.whole.keep(
            connectivity_key(subject, "pearson"), lambda: subject_connectivity(subject, estimator="pearson")
        )

    def mean_connectivity(self) -> tuple[float, float]:
        """Mean of the Pearson connectivity, and of its absolute values, over all pairs of regions with signal."""
        from biobgt.quality import mean_connectivity

        subject = self.subject
        return self.whole.keep(Key(MEAN_CONNECTIVITY, subject.id), lambda: mean_connectivity(subject))

    def graph(self) -> BrainGraph:
        """The brain graph."""
        return self.keep(
            GRAPH,
            None,
            lambda: graph_from_connectivity(
                self.connectivity(),
                self.settings,
                atlas=self.atlas,
                subject=self.subject.id,
                simulated=self.subject.simulated,
                whole=self.pearson(),
                kind=self.kind,
            ),
        )
