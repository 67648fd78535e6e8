"""Arrays of numbers: what they are called in signatures, where many are kept, ranks, and false discovery rates."""

import mmap
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
Ties = Literal["average", "min", "max"]
KeepArray = Callable[[FloatArray], FloatArray]  # gives the same numbers, kept elsewhere
_CHUNK = 2**28  # bytes of a file


class ArraysOnDisk:
    """Keeps arrays on the disk instead of in memory, in files without a name that go with the process, however it ends.

    Parameters
    ----------
    folder : Path
        On the disk that is to take them.

    Examples
    --------
    >>> keep = ArraysOnDisk(Path("."))
    >>> keep(np.array([[1.0, 2.0]])).tolist()
    [[1.0, 2.0]]
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._maps: list[NDArray[np.uint8]] = []
        self._used = 0

    def __call__(self, values: FloatArray) -> FloatArray:
        """The same numbers, read-only, on the disk; a full one raises OSError."""
        if any(np.may_share_memory(values, one) for one in self._maps):
            return values
        whole = np.ascontiguousarray(values, dtype=np.float64)
        if not self._maps or self._used + whole.nbytes > len(self._maps[-1]):
            self._file = TemporaryFile(dir=self._folder)  # noqa: SIM115 — open as long as arrays come
            size = max(_CHUNK, whole.nbytes)
            self._file.truncate(size)
            self._maps.append(np.frombuffer(mmap.mmap(self._file.fileno(), size, access=mmap.ACCESS_READ), np.uint8))
            self._used = 0
        start, self._used = self._used, self._used + whole.nbytes
        self._file.seek(start)
        self._file.write(whole.data)
        self._file.flush()
        return self._maps[-1][start : self._used].view(np.float64).reshape(whole.shape)


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
