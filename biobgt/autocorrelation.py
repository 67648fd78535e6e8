"""How many independent time points a series is worth: BOLD is autocorrelated, and neighbours in time say the same.

The correlation of two autocorrelated series varies as much as that of fewer independent time points (Bartlett, J. R.
Stat. Soc. 98:536, 1935; Bayley and Hammersley, Suppl. J. R. Stat. Soc. 8:184, 1946). White noise has as many as time
points; band-passed BOLD a fraction.
"""

import numpy as np
from numpy.typing import NDArray

from biobgt.cohort import is_silent

LONGEST_LAG = 0.2  # of the length; later lags are noise (Pyper and Peterman, Can. J. Fish. Aquat. Sci. 55:2127, 1998)


def effective_timepoints(series: NDArray[np.float64]) -> float:
    """Number of independent time points that a typical pair of regions is worth.

    With ρ(k) the mean autocorrelation over regions at lag k, N_eff = N / (1 + 2 Σ_k (1 − k/N) ρ(k)²).

    Parameters
    ----------
    series : ndarray, shape (n_timepoints, n_regions)
        Regions without signal do not count.

    Returns
    -------
    float
        0 where no region has signal.
    """
    n = len(series)
    active = series[:, ~is_silent(series)]
    if not active.shape[1]:
        return 0.0
    scores = (active - active.mean(axis=0)) / active.std(axis=0)
    power = np.square(np.abs(np.fft.rfft(scores, 2 * n, axis=0))).mean(axis=1)
    lags = np.arange(1, int(LONGEST_LAG * n) + 1)
    autocorrelation = np.fft.irfft(power)[lags] / n
    return float(n / (1 + 2 * np.sum((1 - lags / n) * np.square(autocorrelation))))
