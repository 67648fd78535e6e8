"""Adjusted mutual information of partitions.

The same number as scikit-learn's ``adjusted_mutual_info_score`` (arithmetic mean of the entropies), which takes
milliseconds a pair and so minutes for the pairs of a cohort, and half a second to import. The information expected by
chance is a sum over pairs of module sizes (Vinh et al. 2010, Eq. 24a), and few sizes occur: each term is computed once.
"""

import numpy as np
from numpy.typing import NDArray

from biobgt.modules.partition import UNASSIGNED

_LEAST = 1e-12


def pairwise_mutual_information(labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Adjusted mutual information of all pairs of partitions, over the regions that both assign.

    Parameters
    ----------
    labels : ndarray of int, shape (n_partitions, n_regions)
        :data:`~biobgt.modules.partition.UNASSIGNED` is no module.

    Returns
    -------
    ndarray, shape (n_partitions, n_partitions)
        Symmetric with a diagonal of 1; NaN where fewer than 2 regions are assigned by both.
    """
    modules = np.setdiff1d(labels, UNASSIGNED)
    members = (labels[:, None, :] == modules[:, None]).astype(np.float64)  # (n_partitions, n_modules, n_regions)
    chance = _ChanceTerms()
    similarity = np.eye(len(labels))
    for i in range(len(labels) - 1):
        overlaps = (members[i + 1 :] @ members[i].T).astype(np.int64)  # (n_others, n_modules, n_modules)
        similarity[i, i + 1 :] = similarity[i + 1 :, i] = _adjusted(overlaps, chance)
    return similarity


def mutual_information(first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    """Adjusted mutual information of two partitions, over the regions that both assign.

    Parameters
    ----------
    first, second : ndarray of int, shape (n_regions,)

    Returns
    -------
    float
        NaN where fewer than 2 regions are assigned by both.
    """
    return float(pairwise_mutual_information(np.stack([first, second]))[0, 1])


def _adjusted(overlaps: NDArray[np.int64], chance: "_ChanceTerms") -> NDArray[np.float64]:
    """Adjusted mutual information from tables of overlaps, shape (n_tables, n_modules, n_modules)."""
    n = overlaps.sum(axis=(1, 2))
    rows, columns = overlaps.sum(axis=2), overlaps.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):  # pairs that share no region end as NaN
        shares = (overlaps / n[:, None, None], rows / n[:, None], columns / n[:, None])
        joint, first, second = (_entropy(share).reshape(len(n), -1).sum(axis=1) for share in shares)
        expected = np.array([chance.expected(*sizes) for sizes in zip(n, rows, columns, strict=True)])
        most = (first + second) / 2 - expected
        found = (first + second - joint - expected) / most
    # Nothing to be gained over chance: both are one module, or every region of both is its own. A perfect match.
    return np.where(n > 1, np.where(most < _LEAST, 1.0, found), np.nan)


class _ChanceTerms:
    """What two modules add to the mutual information of random partitions, by the number of regions and their sizes."""

    def __init__(self) -> None:
        self._tables: dict[int, NDArray[np.float64]] = {}

    def expected(self, n: int, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> float:
        """Expected mutual information of partitions of n regions with modules of these sizes; 0 is no module."""
        if n < 2:
            return np.nan
        table = self._tables.setdefault(int(n), np.full((n + 1, n + 1), np.nan))
        sizes = np.ix_(rows[rows > 0], columns[columns > 0])
        for a, b in np.argwhere(np.isnan(table[sizes])):
            first, second = int(sizes[0][a, 0]), int(sizes[1][0, b])
            table[first, second] = table[second, first] = _chance_term(int(n), first, second)
        return float(table[sizes].sum())


def _chance_term(n: int, a: int, b: int) -> float:
    """Mean of (overlap / n) log(n overlap / (a b)) over the hypergeometric overlaps of two modules."""
    overlap = np.arange(max(1, a + b - n), min(a, b) + 1)
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    whole = log_factorial[[a, b, n - a, n - b]].sum() - log_factorial[n]
    parts = log_factorial[overlap] + log_factorial[a - overlap] + log_factorial[b - overlap]
    parts += log_factorial[n - a - b + overlap]
    return float((overlap / n * np.log(n * overlap / (a * b)) * np.exp(whole - parts)).sum())


def _entropy(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """What each share adds to the entropy, in nats; an empty one nothing."""
    return -shares * np.log(np.where(shares > 0, shares, 1))
