"""Worse recordings of the same brain, made of a subject's own series: what a model says of them is on its card.

White noise stands for thermal noise of the scanner and whatever else is independent between regions and time points.
The other corruptions are a scan that was stopped early, spikes as of sudden motion, a global signal as of breathing or
of preprocessing without global-signal regression, drift of the scanner, and regions outside the field of view. Every
region is z-scored first, so that strengths are in units of each region's own SD.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from biobgt.cohort import Subject, is_silent
from biobgt.errors import InputError

PURE = float("inf")  # nothing but noise
NOISE_LEVELS: Sequence[float] = (0.0, 0.25, 0.5, 1.0, 2.0, PURE)  # SD, in units of each region's own
SPIKES, SPIKE_SD = 0.03, 5.0  # share of time points, and how far they jump
Series = NDArray[np.float64]
Corruption = Callable[[Series, np.random.Generator], Series]  # of z-scored series, shape (n_timepoints, n_regions)


def add_noise(subject: Subject, sd: float, *, seed: int) -> Subject:
    """The subject with white noise on its z-scored series.

    Parameters
    ----------
    subject : Subject
        With series; a region without signal stays without.
    sd : float
        In units of each region's own SD; 0 only z-scores, :data:`PURE` keeps nothing but the number of time points.
    seed : int
        With the subject's id and the SD it decides the noise.
    """
    if not sd >= 0:
        raise InputError(f"The SD of the noise is {sd:g}; it must be 0 or more.")
    return replace(_changed(subject, partial(_noisy, sd=sd), f"{sd:g}", seed), simulated=sd > 0)


def corrupt(subject: Subject, kind: str, *, seed: int) -> Subject | None:
    """The subject as a worse recording, or None where this one is no longer than what would be left of it.

    Parameters
    ----------
    subject : Subject
        With series; a region without signal stays without.
    kind : str
        A key of :data:`CORRUPTIONS`.
    seed : int
        With the subject's id and the kind it decides what chance decides.
    """
    worse = _changed(subject, CORRUPTIONS[kind], kind, seed)
    if kind in _LEFT and subject.n_timepoints == worse.n_timepoints:
        return None
    return replace(worse, simulated=True)


def _changed(subject: Subject, corruption: Corruption, kind: str, seed: int) -> Subject:
    if subject.series is None:
        raise InputError(
            f"Subject '{subject.id}' has a connectivity matrix only; noise can be added only to region series."
        )
    silent = is_silent(subject.series)
    spread = np.where(silent, 1.0, subject.series.std(axis=0))
    scores = (subject.series - subject.series.mean(axis=0)) / spread
    random = np.random.default_rng([seed, *sha256(f"{subject.id} {kind}".encode()).digest()[:8]])
    series = corruption(scores, random)
    series[:, silent] = 0
    return replace(subject, series=series)


def _noisy(scores: Series, random: np.random.Generator, *, sd: float) -> Series:
    noise = random.standard_normal(scores.shape)
    return noise if np.isinf(sd) else scores + sd * noise


def _stopped(scores: Series, random: np.random.Generator, *, after: int) -> Series:
    return scores[:after].copy()


def _spiky(scores: Series, random: np.random.Generator) -> Series:
    """Some time points jump up or down in all regions, in each by its own amount."""
    n, n_regions = scores.shape
    frames = random.choice(n, max(1, round(SPIKES * n)), replace=False)
    found = scores.copy()
    jumps = SPIKE_SD * random.choice([-1.0, 1.0], len(frames))
    found[frames] += np.outer(jumps, random.uniform(0.5, 1.5, n_regions))
    return found


def _global(scores: Series, random: np.random.Generator, *, sd: float) -> Series:
    """One signal in all regions; it has the regions' mean spectrum, so that it is as slow as they are."""
    n = len(scores)
    amplitudes = np.sqrt(np.square(np.abs(np.fft.rfft(scores, axis=0))).mean(axis=1))
    phases = random.uniform(0, 2 * np.pi, len(amplitudes))
    signal = np.fft.irfft(amplitudes * np.exp(1j * phases), n)
    return np.asarray(scores + sd * ((signal - signal.mean()) / (signal.std() or 1.0))[:, None])


def _drifting(scores: Series, random: np.random.Generator, *, sd: float) -> Series:
    """A straight line in each region, up or down by chance."""
    line = np.linspace(-np.sqrt(3), np.sqrt(3), len(scores))  # of SD 1
    return np.asarray(scores + sd * np.outer(line, random.standard_normal(scores.shape[1])))


def _uncovered(scores: Series, random: np.random.Generator, *, share: float) -> Series:
    n_regions, found = scores.shape[1], scores.copy()
    found[:, random.choice(n_regions, max(1, round(share * n_regions)), replace=False)] = 0
    return found


_LEFT = {f"first {n} time points": n for n in (60, 100, 150)}
CORRUPTIONS: Mapping[str, Corruption] = {
    **{kind: partial(_stopped, after=n) for kind, n in _LEFT.items()},
    f"spikes in {SPIKES:.0%} of time points".replace("%", " %"): _spiky,
    "global signal, SD 0.25": partial(_global, sd=0.25),
    "global signal, SD 0.5": partial(_global, sd=0.5),
    "linear drift, SD 0.5": partial(_drifting, sd=0.5),
    "10 % of regions without signal": partial(_uncovered, share=0.1),
}
