"""A subject's own series with white noise on top: what a model says of worse and worse recordings of the same brain.

Every region is z-scored first, so that noise of SD 1 is as strong as the signal. White noise stands for thermal noise
of the scanner and for whatever else is independent between regions and time points; motion and breathing are not like
that, and are not simulated here.
"""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from biobgt.cohort import Subject, is_silent
from biobgt.errors import InputError

PURE = float("inf")  # nothing but noise
NOISE_LEVELS: Sequence[float] = (0.0, 0.25, 0.5, 1.0, 2.0, PURE)  # SD, in units of each region's own


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
    if subject.series is None:
        raise InputError(
            f"Subject '{subject.id}' has a connectivity matrix only; noise can be added only to region series."
        )
    if not sd >= 0:
        raise InputError(f"The SD of the noise is {sd:g}; it must be 0 or more.")
    return replace(subject, series=_noisy(subject.series, sd, _random(subject.id, sd, seed)), simulated=sd > 0)


def _noisy(series: NDArray[np.float64], sd: float, random: np.random.Generator) -> NDArray[np.float64]:
    silent = is_silent(series)
    spread = np.where(silent, 1.0, series.std(axis=0))
    scores = (series - series.mean(axis=0)) / spread
    noise = random.standard_normal(series.shape)
    mixed = noise if np.isinf(sd) else scores + sd * noise
    mixed[:, silent] = 0
    return np.asarray(mixed)


def _random(name: str, sd: float, seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, *sha256(f"{name} {sd:g}".encode()).digest()[:8]])
