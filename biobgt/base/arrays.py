"""Arrays of numbers: what they are called in signatures, their ranks, and false discovery rates."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
Ties = Literal["average", "min", "max"]


def ranks(values: FloatArray, *, ties: Ties = "average") -> FloatArray:
    """Rank numbers along the last axis; the lowest has rank 1.

    The ranks are those of SciPy's ``rankdata``, without the second that importing SciPy's statistics takes.

    Parameters
    ----------
    values : ndarray, shape (..., n)
        NaN has no rank: it stays NaN, and the others are ranked as if it were not there.
    ties : {"average", "min", "max"}
        Which of the ranks that equal numbers share each of them is given.

    Returns
    -------
    ndarray, shape (..., n)

    Examples
    --------
    >>> ranks(np.array([0.5, 0.1, 0.5, 0.9]))
    array([2.5, 1. , 2.5, 4. ])
    """
    values = np.asarray(values, dtype=np.float64)
    if values.shape[-1] == 0:
        return values.copy()
    order = np.argsort(values, axis=-1, kind="stable")  # puts NaN last
    ordered = np.take_along_axis(values, order, axis=-1)
    starts = np.ones(values.shape, dtype=bool)
    starts[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    ends = np.ones(values.shape, dtype=bool)
    ends[..., :-1] = starts[..., 1:]
    places = np.arange(1, values.shape[-1] + 1)
    first = np.maximum.accumulate(np.where(starts, places, 0), axis=-1)
    last = np.minimum.accumulate(np.where(ends, places, len(places))[..., ::-1], axis=-1)[..., ::-1]
    found = np.empty(values.shape)
    np.put_along_axis(found, order, {"average": (first + last) / 2, "min": first, "max": last}[ties], axis=-1)
    return np.where(np.isnan(values), np.nan, found)


FDR = 0.05  # the false discovery rate at which a feature is called different, in all tests


def discovery_rates(p: ArrayLike) -> FloatArray:
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
