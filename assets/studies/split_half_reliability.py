"""Reliability of a regional measure: whether two halves of a recording give the same answer, and tell people apart.

Three questions, because a measure may be good for one and useless for another. Does a person's *profile* over regions
come back in the other half, and does it more than another person's does? Do the *hubs* come back? And does a region's
value tell *people* apart, as a comparison of groups needs it (intraclass correlation over people, region by region)?
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import ranks
from biobgt.base.errors import InputError
from biobgt.data.graph import check_seed
from biobgt.hubs.measures import DEFAULT_SHARE
from biobgt.hubs.reliability import spearman_brown
from biobgt.hubs.table import number_of_hubs

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """A mean over people with its 95 % bootstrap interval over people."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class SplitHalf:
    """Split-half reliability of one regional measure.

    Attributes
    ----------
    n_people : int
        Those in whom the measure varies over regions in both halves.
    within, between : Interval
        Spearman's ρ over regions between the halves of one person, and between the first half of one person and the
        second half of another.
    whole : float
        Reliability of the profile of a whole recording: Spearman-Brown of ``within``.
    overlap_within, overlap_between : Interval
        Share of hubs in common (Dice), of one person and of two.
    identified : float
        Share of people whose second half correlates best, of all second halves, with their own first half.
    icc : ndarray, shape (n_regions,)
        ICC(2,1) of each region over people: two-way random effects, absolute agreement, single half (Shrout & Fleiss
        1979). NaN where fewer than three people have the region.
    """

    n_people: int
    within: Interval
    between: Interval
    whole: float
    overlap_within: Interval
    overlap_between: Interval
    identified: float
    icc: Values


def split_half_reliability(
    first: Values,
    second: Values,
    *,
    batches: Sequence[object] | None = None,
    top: float = DEFAULT_SHARE,
    n_boot: int = 2000,
    seed: int = 0,
) -> SplitHalf:
    """Measure the split-half reliability of one regional measure over people.

    Parameters
    ----------
    first, second : ndarray, shape (n_people, n_regions)
        Of each half, high in a hub; NaN for a region without signal. One row per person, in the same order.
    batches : sequence, length n_people, optional
        By what each person was measured, where that is not the same for all, as by one of several models. People are
        then compared with others of their own batch only, and ICC is of differences from the batch's mean.
    top : float
        Share of the regions that are hubs. Regions that tie across the cut are no hubs.
    n_boot : int
        Bootstrap samples of people.
    seed : int

    Returns
    -------
    SplitHalf
    """
    first, second = _checked(first, second)
    check_seed(seed)
    apart = different_batches(len(first), batches)
    likeness = np.where(apart, np.nan, rank_likeness(first, second))
    shared = np.where(apart, np.nan, hub_likeness(first, second, top=top))
    known = np.isfinite(np.diag(likeness))
    likeness, shared = likeness[np.ix_(known, known)], shared[np.ix_(known, known)]
    draws = bootstrap_people(len(likeness), n_boot, seed)
    within, between = within_and_between(likeness, draws)
    overlap_within, overlap_between = within_and_between(shared, draws)
    best = np.where(np.isfinite(likeness), likeness, -np.inf).argmax(axis=1)
    return SplitHalf(
        n_people=len(likeness),
        within=within,
        between=between,
        whole=float(spearman_brown(np.array(within.mean))),
        overlap_within=overlap_within,
        overlap_between=overlap_between,
        identified=float(np.mean(best == np.arange(len(best)))) if len(best) else np.nan,
        icc=intraclass_correlation(*without_batch_means(first, second, batches)),
    )


def different_batches(n_people: int, batches: Sequence[object] | None) -> NDArray[np.bool_]:
    """Which pairs of people are of different batches, shape (n_people, n_people); none where there are no batches."""
    if batches is None:
        return np.zeros((n_people, n_people), dtype=bool)
    _, batch = np.unique(np.asarray(batches), return_inverse=True)
    return np.asarray(batch[:, None] != batch[None, :])


def without_batch_means(first: Values, second: Values, batches: Sequence[object] | None) -> tuple[Values, Values]:
    """Subtract from every region the mean of both halves over the people of the same batch.

    Parameters
    ----------
    first, second : ndarray, shape (n_people, n_regions)
        One measure in the two halves of each recording.
    batches : sequence, length n_people, or None
        Such as sites; None leaves the values as they are.
    """
    if batches is None:
        return first, second
    one, other = first.copy(), second.copy()
    for batch in np.unique(np.asarray(batches)):
        members = np.asarray(batches) == batch
        mean = np.nanmean(np.stack([first[members], second[members]]), axis=(0, 1))
        one[members] -= mean
        other[members] -= mean
    return one, other


def intraclass_correlation(first: Values, second: Values) -> Values:
    """ICC(2,1) of each region over people, from the halves' two-way table (Shrout & Fleiss 1979).

    Parameters
    ----------
    first, second : ndarray, shape (n_people, n_regions)
        People with NaN in a region are left out of that region.

    Returns
    -------
    ndarray, shape (n_regions,)
        NaN with fewer than three people, or where all values are equal.
    """
    known = np.isfinite(first) & np.isfinite(second)
    n = known.sum(axis=0)
    halves = np.where(known, np.stack([first, second]), 0.0)
    some = np.maximum(n, 1)
    grand = halves.sum(axis=(0, 1)) / (2 * some)
    person = halves.mean(axis=0)
    half = halves.sum(axis=1) / some
    people = 2 * np.where(known, (person - grand) ** 2, 0).sum(axis=0)
    sides = some * ((half - grand) ** 2).sum(axis=0)
    rest = np.where(known, (halves - person - half[:, None] + grand) ** 2, 0).sum(axis=(0, 1))
    mean_people, mean_sides, mean_rest = people / np.maximum(n - 1, 1), sides, rest / np.maximum(n - 1, 1)
    total = mean_people + mean_rest + 2 * (mean_sides - mean_rest) / some
    defined = (n > 2) & (people + sides + rest > 0) & (total > 0)
    return np.divide(mean_people - mean_rest, total, out=np.full(len(n), np.nan), where=defined)


def rank_likeness(first: Values, second: Values) -> Values:
    """Correlation over regions of every first half (rows) with every second half (columns), on each half's ranks.

    Two people are compared on the regions that both have; a person's own halves give Spearman's ρ.

    Returns
    -------
    ndarray, shape (n_people, n_people)
        NaN where either side is constant.
    """
    return pairwise_correlation(ranks(first), ranks(second))


def pairwise_correlation(first: Values, second: Values) -> Values:
    """Pearson correlation of every row of one with every row of the other, over the columns that both have.

    Parameters
    ----------
    first : ndarray, shape (n_rows, n_columns)
    second : ndarray, shape (n_other_rows, n_columns)

    Returns
    -------
    ndarray, shape (n_rows, n_other_rows)
    """
    has_one, has_other = (np.isfinite(half).astype(np.float64) for half in (first, second))
    one = np.where(has_one > 0, first - np.nanmean(first, axis=1, keepdims=True), 0)
    other = np.where(has_other > 0, second - np.nanmean(second, axis=1, keepdims=True), 0)
    n = np.maximum(has_one @ has_other.T, 1)
    sum_one, sum_other = one @ has_other.T, has_one @ other.T
    shared = one @ other.T - sum_one * sum_other / n
    spread_one = one**2 @ has_other.T - sum_one**2 / n
    spread_other = has_one @ (other**2).T - sum_other**2 / n
    size = np.sqrt(np.maximum(spread_one, 0) * np.maximum(spread_other, 0))
    scale = np.sqrt((one**2).sum(axis=1)[:, None] * (other**2).sum(axis=1)[None, :])
    varies = size > 1e-9 * np.maximum(scale, np.finfo(float).tiny)  # less is rounding around a constant
    return np.divide(shared, size, out=np.full(size.shape, np.nan), where=varies)


def hub_likeness(first: Values, second: Values, *, top: float) -> Values:
    """Share of hubs in common (Dice) of every first half with every second half, shape (n_people, n_people).

    Parameters
    ----------
    first, second : ndarray, shape (n_people, n_regions)
        One measure in the two halves of each recording; high in a hub, NaN without signal.
    top : float
        Share of the regions that are hubs.
    """
    one, other = (_hubs(half, top).astype(np.float64) for half in (first, second))
    n_hubs = one.sum(axis=1)[:, None] + other.sum(axis=1)[None, :]
    return np.divide(2 * (one @ other.T), n_hubs, out=np.full(n_hubs.shape, np.nan), where=n_hubs > 0)


def within_and_between(likeness: Values, draws: NDArray[np.int64]) -> tuple[Interval, Interval]:
    """Mean of the diagonal and of everything else, with intervals over people.

    Parameters
    ----------
    likeness : ndarray, shape (n_people, n_people)
    draws : ndarray of int, shape (n_boot, n_people)
        How often each person stands in each bootstrap sample. A pair counts as often as both its people do.
    """
    own = np.diag(likeness)
    known = np.isfinite(likeness) & ~np.eye(len(likeness), dtype=bool)
    others = np.where(known, likeness, 0)
    counts = draws.astype(np.float64)
    pairs = np.einsum("bi,bi->b", counts @ known, counts)
    sums = np.einsum("bi,bi->b", counts @ others, counts)
    n_own = counts @ np.isfinite(own)
    own_sums = counts @ np.where(np.isfinite(own), own, 0)
    between = float(others.sum() / known.sum()) if known.any() else np.nan
    within = float(np.nanmean(own)) if np.isfinite(own).any() else np.nan
    return _interval(within, own_sums, n_own), _interval(between, sums, pairs)


def _interval(mean: float, sums: Values, counts: Values) -> Interval:
    if not (counts > 0).any() or np.isnan(mean):
        return Interval(mean, np.nan, np.nan)
    low, high = np.quantile(sums[counts > 0] / counts[counts > 0], [0.025, 0.975])
    return Interval(mean, float(low), float(high))


def bootstrap_people(n_people: int, n_boot: int, seed: int) -> NDArray[np.int64]:
    """Draw how often each person stands in each bootstrap sample, shape (n_boot, n_people); none for one person.

    Parameters
    ----------
    n_people : int
    n_boot : int
        Bootstrap samples.
    seed : int
    """
    if n_people < 2:
        return np.zeros((0, n_people), dtype=np.int64)
    draws = np.random.default_rng(seed).multinomial(n_people, np.full(n_people, 1 / n_people), size=n_boot)
    return np.asarray(draws, dtype=np.int64)


def _hubs(values: Values, top: float) -> NDArray[np.bool_]:
    """The highest share of each person's regions; those that tie across the cut are not hubs."""
    from_top = ranks(-values, ties="max")
    n_hubs = np.array([number_of_hubs(max(int(n), 1), top) for n in np.isfinite(values).sum(axis=1)])
    return np.asarray(np.nan_to_num(from_top, nan=np.inf) <= n_hubs[:, None])


def _checked(first: Values, second: Values) -> tuple[Values, Values]:
    """Both halves with the same regions: a region without signal in one half is left out of both."""
    first, second = np.array(first, dtype=np.float64), np.array(second, dtype=np.float64)
    if first.ndim != 2 or first.shape != second.shape:
        raise InputError(
            f"The halves have shapes {first.shape} and {second.shape}; both need one row per person and one column "
            "per region."
        )
    if not len(first):
        raise InputError("There is nobody to measure reliability on.")
    missing = ~(np.isfinite(first) & np.isfinite(second))
    first[missing] = second[missing] = np.nan
    return first, second
