"""The false discovery rate at which a feature is called different: one number, and one rule for all tests."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

FDR = 0.05


def passes(q: ArrayLike) -> NDArray[np.bool_]:
    """Whether each q (Benjamini and Hochberg) is at most :data:`FDR`; one that is not known does not pass.

    >>> passes([0.01, 0.05, 0.051, float("nan")]).tolist()
    [True, True, False, False]
    """
    return np.asarray(np.asarray(q, np.float64) <= FDR)
