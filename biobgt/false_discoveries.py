"""False discovery rates, and the one at which a feature is called different: one number and one rule for all tests."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

FDR = 0.05


def discovery_rates(p: ArrayLike) -> NDArray[np.float64]:
    """The q of each p, over all that are known (Benjamini and Hochberg); NaN where p is.

    >>> discovery_rates([0.01, float("nan"), 0.04]).round(3).tolist()
    [0.02, nan, 0.04]
    """
    from scipy.stats import false_discovery_control

    rates = np.array(p, np.float64)
    known = np.isfinite(rates)
    if known.any():
        rates[known] = false_discovery_control(rates[known])
    return rates


def passes(q: ArrayLike) -> NDArray[np.bool_]:
    """Whether each q (Benjamini and Hochberg) is at most :data:`FDR`; one that is not known does not pass.

    >>> passes([0.01, 0.05, 0.051, float("nan")]).tolist()
    [True, True, False, False]
    """
    return np.asarray(np.asarray(q, np.float64) <= FDR)
