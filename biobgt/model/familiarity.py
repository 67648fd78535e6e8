"""Whether a subject is like those a model was trained on: asked before anyone believes a probability.

What is looked at is what noise, motion and another preprocessing change: how strong connections are, how many
independent time points the series are worth, how far the connectivity lies from the training subjects' mean, and how
long the series are. Quality flags (:mod:`biobgt.quality`) say the rest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biobgt.autocorrelation import effective_timepoints
from biobgt.cohort import Subject
from biobgt.quality import mean_connectivity
from biobgt.wording import percent

Range = tuple[float, float]
_OUTSIDE = (0.005, 0.995)  # one in a hundred training subjects lies outside a range
UNCHECKED = (
    "only a connectivity matrix is known, so the number of time points and of independent time points cannot be checked"
)


@dataclass(frozen=True)
class Familiarity:
    """Where the training subjects lie; one in a hundred lies outside each range.

    Attributes
    ----------
    mean_correlation : (float, float)
        Of all pairs of regions of a subject.
    distance : (float, float)
        Of a subject's connectivity, as the model is given it and not as ψ embeds it, from the training subjects' mean:
        root mean square over all entries, which is 1 on average. Averaged or shrunk matrices lie too near.
    timepoints : (int, int) or None
        Shortest and longest series.
    strength : (float, float) or None
        Mean |FC| over pairs of regions with signal. None, here and below, on cards made before it was measured.
    effective_timepoints : (float, float) or None
        Independent time points that the series are worth: see :func:`biobgt.autocorrelation.effective_timepoints`.
    independent_share : (float, float) or None
        The same over the number of time points.
    """

    mean_correlation: Range
    distance: Range
    timepoints: Range | None = None
    strength: Range | None = None
    effective_timepoints: Range | None = None
    independent_share: Range | None = None

    @classmethod
    def from_card(cls, ranges: Mapping[str, Any]) -> "Familiarity":
        """Read the ranges of a card."""
        known: dict[str, Any] = {name: tuple(ends) if ends else None for name, ends in ranges.items()}
        return cls(**known)

    def as_dict(self) -> dict[str, list[float] | None]:
        """Plain values, for the card."""
        return {name: list(ends) if ends else None for name, ends in asdict(self).items()}

    def warnings(self, subject: Subject, *, mean_correlation: float, distance: float) -> list[str]:
        """Say in which ways a subject is unlike the training subjects.

        Parameters
        ----------
        subject : Subject
        mean_correlation, distance : float
            See :func:`biobgt.model.ensemble.position`.
        """
        said = []
        if _outside(mean_correlation, self.mean_correlation):
            said.append(f"mean correlation {mean_correlation:.3f} is outside {_words(self.mean_correlation, '.3f')}")
        if self.strength is not None:
            strength = mean_connectivity(subject)[1]
            if _outside(strength, self.strength):
                said.append(f"mean |FC| {strength:.3f} is outside {_words(self.strength, '.3f')}")
        if _outside(distance, self.distance):
            side = "closer to" if distance < self.distance[0] else "farther from"
            said.append(
                f"its connectivity pattern is {side} the training mean than that of 99.5 % of training subjects "
                f"({distance:.2f}; theirs {_words(self.distance, '.2f')})"
            )
        return said + self._length_warnings(subject)

    def _length_warnings(self, subject: Subject) -> list[str]:
        if self.timepoints is None:
            return []
        if subject.series is None:
            return [UNCHECKED]
        said, n = [], len(subject.series)
        if _outside(n, self.timepoints):
            said.append(f"{n} time points, training subjects had {_words(self.timepoints, '.0f')}")
        effective = effective_timepoints(subject.series)
        if self.effective_timepoints is not None and _outside(effective, self.effective_timepoints):
            said.append(
                f"its series are worth {effective:.0f} independent time points, those of training subjects "
                f"{_words(self.effective_timepoints, '.0f')}"
            )
        if self.independent_share is not None and _outside(effective / n, self.independent_share):
            kind = "white noise" if effective / n > self.independent_share[1] else "a slower signal or a filter"
            said.append(
                f"{percent(effective / n)} of its time points are independent, of training subjects' "
                f"{percent(self.independent_share[0])} to {percent(self.independent_share[1])}, which points to {kind}"
            )
        return said


def familiarity_of(
    subjects: Sequence[Subject], *, mean_correlations: NDArray[np.float64], distances: NDArray[np.float64]
) -> Familiarity:
    """Describe where training subjects lie.

    Parameters
    ----------
    subjects : sequence of Subject
        Those that the model was trained on.
    mean_correlations, distances : ndarray, shape (n_subjects,)
        Of :func:`biobgt.model.ensemble.position`.
    """
    series = [subject.series for subject in subjects if subject.series is not None]
    lengths = np.array([len(one) for one in series])
    effective = np.array([effective_timepoints(one) for one in series])
    return Familiarity(
        mean_correlation=_range(mean_correlations),
        distance=_range(distances),
        timepoints=(int(lengths.min()), int(lengths.max())) if series else None,
        strength=_range(np.array([mean_connectivity(subject)[1] for subject in subjects])),
        effective_timepoints=_range(effective) if series else None,
        independent_share=_range(effective / lengths) if series else None,
    )


def _range(values: NDArray[np.float64]) -> Range:
    low, high = np.quantile(values, _OUTSIDE)
    return round(float(low), 4), round(float(high), 4)


def _outside(value: float, ends: Range) -> bool:
    return not ends[0] <= value <= ends[1]


def _words(ends: Range, form: str) -> str:
    return f"{ends[0]:{form}} to {ends[1]:{form}}"
