"""How sure a rank correlation over one brain's regions is."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.nulls import check_seed


@dataclass(frozen=True)
class RankCorrelation:
    """Spearman's ρ over regions, with its bootstrap interval; NaN where either side is constant."""

    rho: float
    low: float
    high: float
    n_regions: int


def rank_correlation(
    values: NDArray[np.float64],
    reference: NDArray[np.float64],
    *,
    n_boot: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> RankCorrelation:
    """Spearman's ρ over regions with a percentile bootstrap interval.

    Parameters
    ----------
    values, reference : ndarray, shape (n_regions,)
    n_boot : int
        Samples of regions, drawn with replacement; a sample in which either side is constant is left out.
    seed : int
    confidence : float

    Notes
    -----
    Regions are not independent, neighbours share signal: the interval describes one brain and says nothing about
    other subjects.
    """
    check_seed(seed)
    check_confidence(confidence)
    n_regions = len(values)
    if n_regions < 2:
        return RankCorrelation(np.nan, np.nan, np.nan, n_regions)
    rho = _counted_spearman(values, reference, np.ones((1, n_regions), dtype=np.int64))[0]
    sampled = _counted_spearman(values, reference, _draws(n_regions, n_boot, seed))
    sampled = sampled[np.isfinite(sampled)]
    if np.isnan(rho) or not len(sampled):
        return RankCorrelation(np.nan, np.nan, np.nan, n_regions)
    low, high = np.quantile(sampled, [(1 - confidence) / 2, (1 + confidence) / 2])
    return RankCorrelation(float(rho), float(low), float(high), n_regions)


@lru_cache(maxsize=2)
def _draws(n_regions: int, n_boot: int, seed: int) -> NDArray[np.int64]:
    """How often each region is in each sample, shape (n_boot, n_regions): the same for every pair of measures."""
    rng = np.random.default_rng(seed)
    draws = rng.multinomial(n_regions, np.full(n_regions, 1 / n_regions), size=n_boot)
    draws.setflags(write=False)
    return draws


def check_confidence(confidence: float) -> None:
    """Refuse what cannot be the confidence of an interval."""
    if not 0 < confidence < 1:
        raise InputError(f"The confidence of an interval lies between 0 and 1, not {confidence}.")


def _counted_spearman(
    values: NDArray[np.float64], reference: NDArray[np.float64], counts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Spearman's ρ in samples that hold region i ``counts[:, i]`` times, shape (n_samples,).

    A value's rank in a sample is the number of lower ones plus half of those that are equal; no sample is sorted.
    """
    first, second = _counted_ranks(values, counts), _counted_ranks(reference, counts)
    weights = counts / counts.sum(axis=1, keepdims=True)
    first -= np.einsum("ij,ij->i", weights, first)[:, None]
    second -= np.einsum("ij,ij->i", weights, second)[:, None]
    shared = np.einsum("ij,ij,ij->i", weights, first, second)
    spread = np.einsum("ij,ij,ij->i", weights, first, first) * np.einsum("ij,ij,ij->i", weights, second, second)
    # Two ranks differ by a half at least: less is rounding around a constant.
    varies = spread > 1e-9
    return np.divide(shared, np.sqrt(spread), out=np.full(len(counts), np.nan), where=varies)


def _counted_ranks(values: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.diff(values[order], prepend=-np.inf))
    equal = np.add.reduceat(counts[:, order], starts, axis=1)
    ranks = equal.cumsum(axis=1) - equal / 2
    place = np.searchsorted(values[order][starts], values)
    return ranks[:, place]
