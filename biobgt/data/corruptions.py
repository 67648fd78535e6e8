"""Worse recordings of the same brain, made of a subject's own series.

What models say of some kinds of them is on their cards, and how far each kind may go before a prediction changes is on
the page Predict. White noise stands for thermal noise of the scanner and whatever else is independent between regions
and time points. The other corruptions are a scan that was stopped early, spikes as of sudden motion, a global signal as
of breathing or of preprocessing without global-signal regression, a filter that leaves out the fastest signals, drift
of the scanner, and regions outside the field of view. Every region is z-scored first, so that strengths are in units of
each region's own SD.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256

import numpy as np

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.base.options import Registry
from biobgt.data.cohort import Subject, is_silent

PURE = float("inf")  # nothing but noise
NOISE_LEVELS: Sequence[float] = (0.0, 0.25, 0.5, 1.0, 2.0, PURE)  # SD, in units of each region's own
SPIKES, SPIKE_SD = 0.03, 5.0  # share of time points, and how far they jump
# Of z-scored series, shape (n_timepoints, n_regions).
Corruption = Callable[[FloatArray, np.random.Generator], FloatArray]


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


def _noisy(scores: FloatArray, random: np.random.Generator, *, sd: float) -> FloatArray:
    noise = random.standard_normal(scores.shape)
    return noise if np.isinf(sd) else scores + sd * noise


def _stopped(scores: FloatArray, random: np.random.Generator, *, after: int) -> FloatArray:
    return scores[:after].copy()


def _spiky(scores: FloatArray, random: np.random.Generator, *, share: float) -> FloatArray:
    """Some time points jump up or down in all regions, in each by its own amount."""
    n, n_regions = scores.shape
    frames = random.choice(n, max(1, round(share * n)), replace=False)
    found = scores.copy()
    jumps = SPIKE_SD * random.choice([-1.0, 1.0], len(frames))
    found[frames] += np.outer(jumps, random.uniform(0.5, 1.5, n_regions))
    return found


def _global(scores: FloatArray, random: np.random.Generator, *, sd: float) -> FloatArray:
    """One signal in all regions; it has the regions' mean spectrum, so that it is as slow as they are."""
    n = len(scores)
    amplitudes = np.sqrt(np.square(np.abs(np.fft.rfft(scores, axis=0))).mean(axis=1))
    phases = random.uniform(0, 2 * np.pi, len(amplitudes))
    signal = np.fft.irfft(amplitudes * np.exp(1j * phases), n)
    return np.asarray(scores + sd * ((signal - signal.mean()) / (signal.std() or 1.0))[:, None])


def _drifting(scores: FloatArray, random: np.random.Generator, *, sd: float) -> FloatArray:
    """A straight line in each region, up or down by chance."""
    line = np.linspace(-np.sqrt(3), np.sqrt(3), len(scores))  # of SD 1
    return np.asarray(scores + sd * np.outer(line, random.standard_normal(scores.shape[1])))


def _cut(scores: FloatArray, random: np.random.Generator, *, share: float) -> FloatArray:
    return scores[: max(_FEWEST_LEFT, round((1 - share) * len(scores)))].copy()


def _slowed(scores: FloatArray, random: np.random.Generator, *, share: float) -> FloatArray:
    """The fastest frequencies are left out that hold a share of the power of all regions together."""
    spectrum = np.fft.rfft(scores, axis=0)
    power = np.square(np.abs(spectrum)).sum(axis=1)
    power[0] = 0
    faster = power[::-1].cumsum()[::-1]  # the power of each frequency and all faster ones
    spectrum[faster <= share * power.sum()] = 0
    return np.asarray(np.fft.irfft(spectrum, len(scores), axis=0))


def _uncovered(scores: FloatArray, random: np.random.Generator, *, share: float) -> FloatArray:
    n_regions, found = scores.shape[1], scores.copy()
    found[:, random.choice(n_regions, max(1, round(share * n_regions)), replace=False)] = 0
    return found


_LEFT = {f"first {n} time points": n for n in (60, 100, 150)}
CORRUPTIONS: Mapping[str, Corruption] = {
    **{kind: partial(_stopped, after=n) for kind, n in _LEFT.items()},
    f"spikes in {SPIKES:.0%} of time points".replace("%", " %"): partial(_spiky, share=SPIKES),
    "global signal, SD 0.25": partial(_global, sd=0.25),
    "global signal, SD 0.5": partial(_global, sd=0.5),
    "linear drift, SD 0.5": partial(_drifting, sd=0.5),
    "10 % of regions without signal": partial(_uncovered, share=0.1),
}


# How far a recording may be worse: kinds with strengths from hardly any to a lot.


_FEWEST_LEFT = 10  # time points


@dataclass(frozen=True)
class Worsening:
    """A kind of corruption, and strengths to try.

    Attributes
    ----------
    key : str
    name : str
    title : str
        What its strength is, for axes.
    words : str
        What is done, with a place for the strength, such as ``{} of the recording is left out``.
    strengths : tuple of float
        From the weakest.
    change : callable
        Takes ``share`` or ``sd``.
    by : str
        Which of them.
    """

    key: str
    name: str
    title: str
    words: str
    strengths: tuple[float, ...]
    change: Callable[..., FloatArray]
    by: str

    def said(self, strength: float) -> str:
        """What is done, in words.

        >>> WORSENINGS["noise"].said(0.5), WORSENINGS["short"].said(0.4)
        ('white noise of SD 0.5 is added', '40 % of the recording is left out')
        """
        return self.words.format(f"{strength:g}" if self.by == "sd" else f"{100 * strength:g} %")

    def tick(self, strength: float) -> str:
        """A strength on an axis of this title: a whole percentage, or an SD.

        >>> WORSENINGS["short"].tick(0.4), WORSENINGS["noise"].tick(0.125)
        ('40', '.125')
        """
        return f"{strength:g}".lstrip("0") if self.by == "sd" else f"{100 * strength:g}"

    def applied(self, subject: Subject, strength: float, *, seed: int) -> Subject:
        """The subject as a worse recording; with one seed, the same noise at every strength.

        Parameters
        ----------
        subject : Subject
            With series.
        strength : float
        seed : int
        """
        changed = _changed(subject, partial(self.change, **{self.by: strength}), self.key, seed)
        return replace(changed, simulated=True)


_LEVELS = (0.125, 0.25, 0.5, 1.0, 2.0)
WORSENINGS: Registry[Worsening] = Registry(
    "kind of corruption",
    Worsening(
        "short",
        "a shorter recording",
        "Left out at the end (%)",
        "{} of the recording is left out",
        (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8),
        _cut,
        "share",
    ),
    Worsening("noise", "white noise", "White noise (SD)", "white noise of SD {} is added", _LEVELS, _noisy, "sd"),
    Worsening(
        "spikes",
        "spikes",
        "Spikes (% of time points)",
        "{} of time points have spikes",
        (0.01, 0.02, 0.03, 0.05, 0.1),
        _spiky,
        "share",
    ),
    Worsening(
        "global", "a global signal", "Global signal (SD)", "a global signal of SD {} is added", _LEVELS, _global, "sd"
    ),
    Worsening(
        "filter",
        "a filter",
        "Filtered out (% of power)",
        "the fastest {} of the power is filtered out",
        (0.05, 0.1, 0.2, 0.4, 0.6),
        _slowed,
        "share",
    ),
)
