"""How a subject stands to those a model was trained on: unlike them, or one of them; either way a probability misleads.

Whether it is like them is asked of what noise, motion and another preprocessing change: how strong connections are, how
many independent time points the series are worth, how fast the signal is, whether it drifts, how far its largest frame
stands out, how far the connectivity lies from the training subjects' mean, and how long the series are. Quality flags
(:mod:`biobgt.data.quality`) say the rest.

A scan that a model was trained on is recognised by its fingerprint, 32 random sums over all correlations of a subject.
The same scan, read from another file or rounded otherwise, lies within 0.001; two different ABIDE scans are 0.5 apart
or more. From a fingerprint no correlation can be found again.

The same person in another session, or preprocessed anew, has another fingerprint and often the same id. Of ids a card
keeps 24 bits of a slow hash (scrypt), salted with the hash of the model's weights: nobody can read them off a card, or
see which models share subjects. Whoever already has a list of possible ids can try each, in milliseconds, as anybody
can who asks the model. Of foreign ids one in some 5,000 is recognised by chance (899 subjects), so that one match alone
is no proof.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from hashlib import scrypt
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from biobgt.base.wording import percent
from biobgt.data.cohort import Subject, is_silent, person_of
from biobgt.data.quality import effective_timepoints, mean_connectivity
from biobgt.model.network import BioBGT, GraphBatch

_Range = tuple[float, float]
_OUTSIDE = (0.005, 0.995)  # at most one in a hundred training subjects lies outside a range
_SHORTER = 0.05  # of training scans are shorter than the shortest that passes without a warning
_FASTEST = 0.75  # of the frequencies up to half the sampling rate are not among the fastest
# Shares that are never warned of: white noise of SD 0.06, series written with few digits; drift of SD 0.1.
_HARMLESS = {"fast_share": 0.001, "trend_share": 0.01}
UNCHECKED = (
    "only a connectivity matrix is known, so the number of time points and of independent time points cannot be checked"
)


@dataclass(frozen=True)
class TrainingRanges:
    """Where the training subjects lie; at most one in a hundred lies outside each range.

    Attributes
    ----------
    mean_correlation : (float, float)
        Of all pairs of regions of a subject.
    distance : (float, float)
        Of a subject's connectivity, as the model is given it and not as ψ embeds it, from the training subjects' mean:
        root mean square over all entries, which is 1 on average. Averaged or shrunk matrices lie too near.
    timepoints : (int, int) or None
        The length that at most one in twenty series is shorter than, and the longest.
    strength : (float, float) or None
        Mean |FC| over pairs of regions with signal. None, here and below, where only matrices are known.
    effective_timepoints : (float, float) or None
        Independent time points that the series are worth: see :func:`biobgt.data.quality.effective_timepoints`.
    independent_share : (float, float) or None
        The same over the number of time points.
    fast_share : (float, float) or None
        Share of the power in the fastest quarter of frequencies: what white noise adds, and a band-pass removes.
    trend_share : (float, float) or None
        Share of the variance that a straight line explains, mean over regions: drift that was not removed.
    largest_frame : (float, float) or None
        Of the time point that stands out most: root mean square over regions, in units of each region's SD.
    """

    mean_correlation: _Range
    distance: _Range
    timepoints: _Range | None = None
    strength: _Range | None = None
    effective_timepoints: _Range | None = None
    independent_share: _Range | None = None
    fast_share: _Range | None = None
    trend_share: _Range | None = None
    largest_frame: _Range | None = None

    @classmethod
    def of(cls, member: BioBGT, graphs: GraphBatch, scans: Iterable[Mapping[str, float]]) -> "TrainingRanges":
        """Where subjects lie whom a member was trained with.

        Parameters
        ----------
        member : BioBGT
        graphs : GraphBatch
        scans : iterable of mapping of str to float
            Of the same subjects, from :func:`scan_measures`.
        """
        means, distances = position(graphs, member)
        scans = list(scans)
        known = {name: np.array([scan[name] for scan in scans if name in scan]) for scan in scans for name in scan}
        ranges = {name: _range(values) for name, values in known.items() if name != "timepoints"}
        if "timepoints" in known:
            lengths = known["timepoints"]
            ranges |= {name: (ranges[name][0], max(ranges[name][1], least)) for name, least in _HARMLESS.items()}
            ranges["timepoints"] = (int(np.quantile(lengths, _SHORTER, method="lower")), int(lengths.max()))
        return cls(mean_correlation=_range(means), distance=_range(distances), **ranges)

    @classmethod
    def from_card(cls, ranges: Mapping[str, Any]) -> "TrainingRanges":
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
            See :func:`position`.
        """
        found = {"mean_correlation": mean_correlation, "distance": distance, **scan_measures(subject)}
        said = []
        for name, sentence in _SENTENCES.items():
            ends: _Range | None = getattr(self, name)
            if ends is None or name not in found or ends[0] <= found[name] <= ends[1]:
                continue
            if found[name] > ends[1] or name not in _HIGH_ONLY:
                said.append(sentence(found[name], *ends))
        return [*said, UNCHECKED] if self.timepoints is not None and subject.series is None else said


_HIGH_ONLY = ("fast_share", "trend_share", "largest_frame")
# By the measure that lies outside: what is said of it and of both ends of its range.
_SENTENCES: Mapping[str, Callable[[float, float, float], str]] = {
    "mean_correlation": "mean correlation {:.3f} is outside {:.3f} to {:.3f}".format,
    "strength": "mean |FC| {:.3f} is outside {:.3f} to {:.3f}".format,
    "distance": lambda value, low, high: (
        f"its connectivity pattern is {'closer to' if value < low else 'farther from'} the training mean than that of "
        f"99.5 % of training subjects ({value:.2f}; theirs {low:.2f} to {high:.2f})"
    ),
    "timepoints": "{:.0f} time points; at least 95 % of training subjects had {:.0f} to {:.0f}".format,
    "effective_timepoints": (
        "its series are worth {:.0f} independent time points, those of training subjects {:.0f} to {:.0f}".format
    ),
    "independent_share": lambda value, low, high: (
        f"{percent(value)} of its time points are independent, of training subjects' {percent(low)} to "
        f"{percent(high)}, which points to {'white noise' if value > high else 'a slower signal or a filter'}"
    ),
    "fast_share": lambda value, low, high: (
        f"{100 * value:.2g} % of its power is in the fastest quarter of frequencies, of training subjects' at most "
        f"{100 * high:.2g} %, which points to white noise or another filter"
    ),
    "trend_share": lambda value, low, high: (
        f"a straight line explains {100 * value:.2g} % of the variance of its series, of training subjects' at most "
        f"{100 * high:.2g} %, which points to drift"
    ),
    "largest_frame": lambda value, low, high: (
        f"one time point stands out by {value:.1f} SD over all regions, of training subjects by at most {high:.1f}, "
        "which points to motion"
    ),
}


def scan_measures(subject: Subject) -> dict[str, float]:
    """What is compared of a scan, by the names of :class:`TrainingRanges`; of a matrix only the strength."""
    strength = {"strength": mean_connectivity(subject)[1]}
    if subject.series is None:
        return strength
    n, effective = len(subject.series), effective_timepoints(subject.series)
    heard = subject.series[:, ~is_silent(subject.series)]
    scores = (heard - heard.mean(axis=0)) / heard.std(axis=0)
    power = np.square(np.abs(np.fft.rfft(scores, axis=0))).sum(axis=1)[1:]
    fastest = power[int(_FASTEST * len(power)) :].sum()
    line = np.linspace(-1, 1, n)
    explained = np.square(line @ scores).mean() / (n * line @ line) if heard.size else 0.0
    frames = np.square(scores).sum(axis=1) / max(1, scores.shape[1])
    return strength | {
        "timepoints": float(n),
        "effective_timepoints": effective,
        "independent_share": effective / n,
        "fast_share": float(fastest / (power.sum() or 1.0)),
        "trend_share": float(explained),
        "largest_frame": float(np.sqrt(frames.max())),
    }


@torch.no_grad()
def position(graphs: GraphBatch, member: BioBGT) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean correlation, and distance of the connectivity from the training mean, of each subject."""
    n = graphs.features.shape[1]
    means = graphs.features.sum(dim=(1, 2)) / (n * (n - 1))
    spread = member.standardised_values(graphs.to(member.project.weight.device)).square().mean(dim=(1, 2)).sqrt()
    return means.double().cpu().numpy(), spread.double().cpu().numpy()


def _range(values: NDArray[np.float64]) -> _Range:
    """Both ends are a subject's own, rounded outwards: of a small cohort nobody is outside."""
    low, high = np.quantile(values, _OUTSIDE[0], method="lower"), np.quantile(values, _OUTSIDE[1], method="higher")
    return math.floor(1e4 * float(low)) / 1e4, math.ceil(1e4 * float(high)) / 1e4


# A scan that the model was trained on, or a subject's id.


_SIZE = 32
_SAME_SCAN = 0.1
_DIGITS = 6  # hexadecimal: 24 bits
_TELLING = re.compile(r"[1-9]\d{4,}")  # a number long enough to be one person's: 50642 in CMU_a_0050642


def fingerprints(correlations: Tensor) -> Tensor:
    """Sum correlations with random signs.

    Parameters
    ----------
    correlations : Tensor, shape (n_subjects, n_regions, n_regions)

    Returns
    -------
    Tensor, shape (n_subjects, 32)
    """
    rows, columns = torch.triu_indices(correlations.shape[1], correlations.shape[1], 1)
    values = correlations[:, rows, columns].double().cpu()
    signs = torch.randint(2, (_SIZE, len(rows)), generator=torch.Generator().manual_seed(0)).double() * 2 - 1
    return (values @ signs.T / len(rows) ** 0.5).float()


def recognised(correlations: Tensor, known: Tensor) -> list[bool]:
    """Tell of each subject whether its scan is among the known fingerprints, shape (n_known, 32)."""
    distances = torch.cdist(fingerprints(correlations), known.float())
    return [bool(nearest < _SAME_SCAN) for nearest in distances.amin(dim=1)]


def id_hashes(ids: Iterable[str], salt: str) -> frozenset[str]:
    """Hashes of subjects' ids, whatever their case, session and run; and of the long numbers in them.

    Parameters
    ----------
    ids : iterable of str
    salt : str
        The SHA-256 of the model's weights.
    """
    persons = {person_of(one).casefold() for one in ids}
    forms = persons.union(*(_TELLING.findall(person) for person in persons))
    return frozenset(
        scrypt(form.encode("utf-8", "surrogatepass"), salt=salt.encode(), n=2**11, r=8, p=1, dklen=_DIGITS // 2).hex()
        for form in forms
    )


def read_hashes(text: str) -> frozenset[str]:
    """The hashes of ids on a card, where they stand sorted, one after the other."""
    return frozenset(text[start : start + _DIGITS] for start in range(0, len(text), _DIGITS))
