"""How well two hub measures agree over the regions of one brain: rank correlations and shared hubs.

Written for many measures against one reference at a time, because a plausibility study compares hundreds of
diffusion times, thresholds and subjects.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.base.statistics import ranks
from biobgt.data.nulls import check_seed
from biobgt.hubs.options import DEFAULT_SHARE

AGREEMENT_MEASURES: Mapping[str, str] = {
    "spearman": "Spearman's ρ",
    "kendall": "Kendall's τ-b",
    "overlap": "share of the top hubs in common",
}


def rank_agreement(values: FloatArray, reference: FloatArray, *, top: float = DEFAULT_SHARE) -> dict[str, FloatArray]:
    """Compare hub measures with a reference.

    Parameters
    ----------
    values : ndarray, shape (n_measures, n)
        High where a region is a hub.
    reference : ndarray, shape (n,)
    top : float
        Share of the regions that count as hubs for the overlap; by chance it is about ``top``.

    Returns
    -------
    dict of str to ndarray, shape (n_measures,)
        ``spearman``, ``kendall`` (τ-b) and ``overlap``; NaN where either side is constant.
    """
    values = np.atleast_2d(values)
    if len(reference) < 2:
        return {name: np.full(len(values), np.nan) for name in AGREEMENT_MEASURES}
    varies = (np.ptp(values, axis=1) > 0) & (np.ptp(reference) > 0)
    agreement = {
        "spearman": spearman(values, reference),
        "kendall": kendall(values, reference),
        "overlap": _hub_overlap(values, reference, n_hubs=number_of_hubs(values.shape[1], top)),
    }
    return {name: np.where(varies, column, np.nan) for name, column in agreement.items()}


def spearman(values: FloatArray, reference: FloatArray) -> FloatArray:
    """Spearman's ρ of each row with the reference, shape (n_measures,)."""
    ranked = ranks(np.vstack([values, reference]))
    ranked -= ranked.mean(axis=1, keepdims=True)
    return _quotient(ranked[:-1] @ ranked[-1], np.linalg.norm(ranked[:-1], axis=1) * np.linalg.norm(ranked[-1]))


def kendall(values: FloatArray, reference: FloatArray) -> FloatArray:
    """Kendall's τ-b of each row with the reference, shape (n_measures,).

    Concordant minus discordant pairs, over the geometric mean of the numbers of untied pairs.
    """
    first, second = np.triu_indices(len(reference), 1)
    order = np.sign(reference[first] - reference[second])
    orders = np.sign(values[:, first] - values[:, second])
    untied = np.count_nonzero(orders, axis=1) * np.count_nonzero(order)
    return _quotient(orders @ order, np.sqrt(untied))


def _hub_overlap(values: FloatArray, reference: FloatArray, *, n_hubs: int) -> FloatArray:
    """Share of the ``n_hubs`` highest regions of each row that are among the reference's, shape (n_measures,).

    Parameters
    ----------
    values : ndarray, shape (n_measures, n_regions)
    reference : ndarray, shape (n_regions,)
    n_hubs : int
        Regions that count as hubs, in each row and in the reference.
    """
    hubs = np.argsort(-reference, kind="stable")[:n_hubs]
    rows = np.argsort(-values, axis=1, kind="stable")[:, :n_hubs]
    shared: FloatArray = np.isin(rows, hubs).mean(axis=1)
    return shared


def number_of_hubs(n_regions: int, top: float) -> int:
    """Number of regions in the top share: rounded, and at least one."""
    if not 0 < top <= 1:
        raise InputError(f"Hubs are a share above 0 and up to 1 of the regions, not {top}.")
    return max(1, round(top * n_regions))


def _quotient(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    return np.divide(numerator, denominator, out=np.full(len(numerator), np.nan), where=denominator > 0)


# How sure a rank correlation over one brain's regions is.


@dataclass(frozen=True)
class RankCorrelation:
    """Spearman's ρ over regions, with its bootstrap interval; NaN where either side is constant."""

    rho: float
    low: float
    high: float
    n_regions: int


def rank_correlation(
    values: FloatArray,
    reference: FloatArray,
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


def _counted_spearman(values: FloatArray, reference: FloatArray, counts: NDArray[np.int64]) -> FloatArray:
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


def _counted_ranks(values: FloatArray, counts: NDArray[np.int64]) -> FloatArray:
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.diff(values[order], prepend=-np.inf))
    equal = np.add.reduceat(counts[:, order], starts, axis=1)
    ranks = equal.cumsum(axis=1) - equal / 2
    place = np.searchsorted(values[order][starts], values)
    return ranks[:, place]
