"""Whether two groups have the same modules: their consensus, and a permutation test over subjects.

The consensus of each group is compared with :func:`biobgt.modules.compare_modules`. Whether the groups differ by more
than two random groups would is asked of the subjects (Alexander-Bloch et al. 2012): the mean similarity (adjusted
mutual information) of subjects of the same group minus that of subjects of different groups, against the same
difference after the groups were shuffled.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.modules.agreement import ModuleAgreement, compare_modules
from biobgt.modules.consensus import combine_partitions
from biobgt.modules.matching import match_modules
from biobgt.modules.mutual_information import pairwise_mutual_information
from biobgt.modules.partition import UNASSIGNED, Labels, check_count, module_labels
from biobgt.nulls import check_seed

PERMUTATIONS = 10_000


@dataclass(frozen=True, eq=False)
class ModuleDifference:
    """The modules of two groups, numbered alike, and how far they agree.

    Attributes
    ----------
    first, second : ndarray of int, shape (n_regions,)
        Consensus modules; those of the second group carry the numbers of the first one's they match.
    agreement : ModuleAgreement
        Of the two; the table has a row a module of the first group and a column a module of the second.
    changed : tuple of int
        Regions (counted from 0) in modules of different numbers.
    within, between : float
        Mean similarity of two subjects of the same group, and of different groups; NaN without such pairs.
    p : float
        Share of ``n_permutations`` shuffled groups, and the groups as they are, whose (within − between) is at least
        as large. NaN when no similarity is defined.
    n_permutations, seed : int
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    agreement: ModuleAgreement
    changed: tuple[int, ...]
    within: float
    between: float
    p: float
    n_permutations: int
    seed: int


def module_difference(
    first: Sequence[Labels], second: Sequence[Labels], *, n_permutations: int = PERMUTATIONS, seed: int = 0
) -> ModuleDifference:
    """Compare the modules of two groups.

    Parameters
    ----------
    first, second : sequence of Partition or of labels, length n_regions
        One partition a subject, at least 2 in each group.
    n_permutations : int
        How often groups are shuffled.
    seed : int
        Of the consensus and of the shuffling.

    Returns
    -------
    ModuleDifference
    """
    check_seed(seed)
    check_count("permutations", n_permutations, least=1)
    for group in (first, second):
        check_count("subjects of a group", len(group), least=2)
    one = combine_partitions(first, seed=seed)
    other = match_modules(combine_partitions(second, seed=seed), one)
    similarity = partition_similarity([*first, *second])
    within, between, p = _permutation_test(similarity, len(first), n_permutations, seed)
    assigned = (one.labels != UNASSIGNED) & (other != UNASSIGNED)
    return ModuleDifference(
        first=one.labels,
        second=other,
        agreement=compare_modules(one, [label or None for label in other.tolist()]),
        changed=tuple(np.flatnonzero(assigned & (one.labels != other)).tolist()),
        within=within,
        between=between,
        p=p,
        n_permutations=n_permutations,
        seed=seed,
    )


def partition_similarity(partitions: Sequence[Labels]) -> NDArray[np.float64]:
    """Adjusted mutual information of all pairs of partitions, over the regions that both assign.

    Parameters
    ----------
    partitions : sequence of Partition or of labels, length n_regions

    Returns
    -------
    ndarray, shape (n_partitions, n_partitions)
        Symmetric with a diagonal of 1; NaN where fewer than 2 regions are assigned by both.
    """
    labels = [module_labels(partition) for partition in partitions]
    if len({len(one) for one in labels}) > 1:
        raise InputError("Partitions of different numbers of regions cannot be compared.")
    return pairwise_mutual_information(np.stack(labels))


def _permutation_test(
    similarity: NDArray[np.float64], n_first: int, n_permutations: int, seed: int
) -> tuple[float, float, float]:
    """Mean similarity within and between groups, and the p of their difference."""
    known = np.isfinite(similarity) & ~np.eye(len(similarity), dtype=bool)
    values = np.where(known, similarity, 0)
    in_first = np.arange(len(similarity)) < n_first
    rng = np.random.default_rng(seed)
    shuffled = rng.permuted(np.tile(in_first, (n_permutations, 1)), axis=1)
    within, between = _pair_means(values, known, np.vstack([in_first, shuffled]))
    difference = within - between
    if not np.isfinite(difference[0]):
        return float(within[0]), float(between[0]), float("nan")
    # Groupings whose difference is the same up to rounding count as equal.
    p = float((difference >= difference[0] - 1e-12).mean())
    return float(within[0]), float(between[0]), p


def _pair_means(
    values: NDArray[np.float64], known: NDArray[np.bool_], groupings: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means over pairs in the same group and in different ones, for each grouping, shape (n_groupings,)."""
    sides = np.where(groupings, 1.0, -1.0)  # the product of two sides is 1 in the same group and −1 otherwise
    signed_sum = np.einsum("gi,gi->g", sides @ values, sides)
    signed_count = np.einsum("gi,gi->g", sides @ known.astype(float), sides)
    with np.errstate(invalid="ignore", divide="ignore"):  # no pair at all is NaN
        within = (values.sum() + signed_sum) / (known.sum() + signed_count)
        between = (values.sum() - signed_sum) / (known.sum() - signed_count)
    return within, between
