"""Correlation and covariance of region series, arrays of shape (n_timepoints, n_regions).

A region without signal has no correlation with any other, and counts as zero.
"""

import numpy as np
from numpy.typing import NDArray

from biobgt.cohort import is_silent
from biobgt.errors import InputError
from biobgt.wording import counted


def check_finite(series: NDArray[np.float64]) -> None:
    """Refuse series with holes, and name their columns."""
    holes = np.flatnonzero(~np.isfinite(series).all(axis=0))
    if holes.size:
        columns = ", ".join(str(column + 1) for column in holes[:5]) + (", …" if holes.size > 5 else "")
        raise InputError(
            f"The series of {counted(holes.size, 'region')} hold NaN or infinite values (column {columns}, counted "
            "from 1), so their connectivity is undefined. Interpolate or cut single time points; set a region that is "
            "missing throughout to zero, which connects it to nothing."
        )


def correlation_of(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pearson correlation; zero where a region has no signal (numpy.corrcoef gives NaN and a warning)."""
    centred = series - series.mean(axis=0)
    norms = np.sqrt(np.einsum("ij,ij->j", centred, centred))
    silent = is_silent(series) | (norms == 0)
    centred /= np.where(silent, 1, norms)
    centred[:, silent] = 0
    correlation = centred.T @ centred
    np.clip(correlation, -1, 1, out=correlation)
    np.fill_diagonal(correlation, ~silent)
    return correlation


def standardised(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean 0, SD 1: the scale of BOLD signals is arbitrary and must not steer the shrinkage."""
    centred = series - series.mean(axis=0)
    deviations = centred.std(axis=0, ddof=1)
    silent = is_silent(series) | (deviations == 0)
    return np.where(silent, 0, centred / np.where(silent, 1, deviations))


def shrunk_covariance(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """Covariance of standardised series, shrunk by Ledoit and Wolf (2004)."""
    from sklearn.covariance import LedoitWolf  # a second of import that most runs do not need

    covariance: NDArray[np.float64] = LedoitWolf(store_precision=False).fit(standardised(series)).covariance_
    return covariance


def partial_correlation(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Partial correlation of every pair of regions, given all others."""
    partial = -scaled_to_unit_diagonal(np.asarray(np.linalg.inv(covariance), dtype=np.float64))
    np.fill_diagonal(partial, 1)
    return symmetric(partial)


def scaled_to_unit_diagonal(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """A covariance as a correlation."""
    scale = np.sqrt(np.diag(matrix))
    scaled = symmetric(matrix / np.outer(scale, scale))
    np.fill_diagonal(scaled, 1)
    return scaled


def symmetric(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """A matrix without the rounding by which its two halves differ."""
    return (matrix + matrix.T) / 2
