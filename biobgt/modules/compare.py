"""Whether two groups have the same modules: their consensus, and a permutation test over subjects.

The consensus of each group is compared with :func:`biobgt.modules.compare_modules`. Whether the groups differ by more
than two random groups would is asked of the subjects (Alexander-Bloch et al. 2012): the mean similarity (adjusted
mutual information) of subjects of the same group minus that of subjects of different groups, against the same
difference after the groups were shuffled. How many regions change module is set beside the same in shuffled groups,
for each of which both consensus are found anew (:func:`shuffled_changes`). Several recordings of one person count as
one subject. Neither holds covariates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.base.wording import ANY_USUAL_COVARIATE
from biobgt.data.cohort import FEWEST_COMPARED, Cohort, by_person
from biobgt.data.graph import check_seed
from biobgt.modules.louvain import combine_partitions
from biobgt.modules.measures import PERMUTATIONS
from biobgt.modules.partition import (
    UNASSIGNED,
    Labels,
    ModuleAgreement,
    check_count,
    compare_modules,
    match_modules,
    module_labels,
    pairwise_mutual_information,
)

UNADJUSTED = f"The test is not adjusted for {ANY_USUAL_COVARIATE}, so a difference may be one of those."


@dataclass(frozen=True, eq=False)
class ModuleDifference:
    """The modules of two groups, numbered alike, and how far they agree.

    Attributes
    ----------
    first, second : ndarray of int, shape (n_regions,)
        Consensus modules; those of the second group carry the numbers of the first one's they match.
    agreement : ModuleAgreement
        Of the two; the table has a row per module of the first group and a column per module of the second.
    changed : tuple of int
        Regions (counted from 0) in modules of different numbers.
    within, between : float
        Mean similarity of two subjects of the same group, and of different groups; NaN without such pairs.
    n_subjects : (int, int)
        People of each group, however many recordings they have.
    p : float
        Share of ``n_permutations`` shuffled groups, and the groups as they are, whose (within − between) is at least
        as large. NaN when no similarity is defined.
    n_permutations, seed : int
    shuffled : tuple of int
        How many regions change module between shuffled groups, one :func:`shuffled_changes` each; empty where that was
        not asked for.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    agreement: ModuleAgreement
    changed: tuple[int, ...]
    within: float
    between: float
    p: float
    n_subjects: tuple[int, int]
    n_permutations: int
    seed: int
    shuffled: tuple[int, ...] = ()

    @property
    def p_changed(self) -> float:
        """Share of the shuffled groups, and the groups as they are, between which as many regions change module."""
        return (1 + sum(n >= len(self.changed) for n in self.shuffled)) / (1 + len(self.shuffled))


def group_module_difference(
    cohort: Cohort,
    groups: tuple[str, str],
    partitions: Mapping[str, Labels],
    *,
    n_permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> ModuleDifference:
    """Compare the modules of two groups of a cohort, person by person.

    The similarity of two people is the mean over their recordings, whole people are shuffled, and each has one voice
    in the group's consensus.

    Parameters
    ----------
    cohort : Cohort
    groups : (str, str)
        Of at least 2 people each; nobody may be in both.
    partitions : mapping of str to Partition or to labels, length n_regions
        By the subjects' ids; those of other groups are not looked at.
    n_permutations : int
        How often groups are shuffled.
    seed : int
        Of the consensus and of the shuffling.
    """
    check_seed(seed)
    check_count("permutations", n_permutations, least=1)
    first, second = (cohort.group(group) for group in groups)
    n_first, n_second = len(set(first.persons)), len(set(second.persons))
    check_count("subjects of a group", min(n_first, n_second), least=FEWEST_COMPARED)
    if both := sorted(set(first.persons) & set(second.persons)):
        raise InputError(
            f"Subject '{both[0]}' has recordings in both groups. This test compares groups of different people: keep "
            "one group of each person."
        )
    one, other = _both_modules(*_people(cohort, groups, partitions, seed), seed)
    recorded = np.stack([module_labels(partitions[name]) for name in (*first.ids, *second.ids)])
    similarity = _person_similarity(pairwise_mutual_information(recorded), [*first.persons, *second.persons])
    within, between, p = _permutation_test(similarity, n_first, n_permutations, seed)
    return ModuleDifference(
        first=one,
        second=other,
        agreement=compare_modules(one, [label or None for label in other.tolist()]),
        changed=_changed(one, other),
        within=within,
        between=between,
        p=p,
        n_subjects=(n_first, n_second),
        n_permutations=n_permutations,
        seed=seed,
    )


def shuffled_changes(
    cohort: Cohort, groups: tuple[str, str], partitions: Mapping[str, Labels], *, number: int, seed: int = 0
) -> int:
    """Count the regions that change module between two groups into which people were shuffled.

    Parameters
    ----------
    cohort : Cohort
    groups : (str, str)
    partitions : mapping of str to Partition or to labels, length n_regions
        By the subjects' ids; those of other groups are not looked at.
    number : int
        Of the shuffle: each is another one.
    seed : int
        Of the shuffles, and of every consensus, as for :func:`group_module_difference`.
    """
    first, second = _people(cohort, groups, partitions, seed)
    people = [*first, *second]
    order = np.random.default_rng([seed, number]).permutation(len(people))
    mixed = [people[i] for i in order]
    return len(_changed(*_both_modules(mixed[: len(first)], mixed[len(first) :], seed)))


def partitions_by_person(partitions: Sequence[Labels], persons: Sequence[str], *, seed: int) -> list[Labels]:
    """What a person's recordings agree on, person by person in the order of their first recordings.

    Parameters
    ----------
    partitions : sequence of Partition or of labels, length n_regions
        One per recording.
    persons : sequence of str, length n_recordings
        Whose recording each is.
    seed : int
        Of the consensus over a person's recordings.
    """
    recordings = by_person(partitions, persons).values()
    return [own[0] if len(own) == 1 else combine_partitions(own, seed=seed) for own in recordings]


def _people(
    cohort: Cohort, groups: tuple[str, str], partitions: Mapping[str, Labels], seed: int
) -> tuple[list[Labels], list[Labels]]:
    """One partition per person, for each of the two groups."""
    first, second = (
        partitions_by_person([partitions[name] for name in one.ids], one.persons, seed=seed)
        for one in map(cohort.group, groups)
    )
    return first, second


def _both_modules(
    first: Sequence[Labels], second: Sequence[Labels], seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Consensus modules of two groups of people, the second's with the numbers of the first's."""
    one = combine_partitions(first, seed=seed)
    return one.labels, match_modules(combine_partitions(second, seed=seed), one)


def _changed(first: NDArray[np.int64], second: NDArray[np.int64]) -> tuple[int, ...]:
    """Regions in modules of different numbers."""
    assigned = (first != UNASSIGNED) & (second != UNASSIGNED)
    return tuple(np.flatnonzero(assigned & (first != second)).tolist())


def _person_similarity(similarity: FloatArray, persons: Sequence[str]) -> FloatArray:
    """Mean similarity over the recordings of any two people, in the order of their first ones; NaN if none is known."""
    of_person = np.array([[one == person for one in persons] for person in dict.fromkeys(persons)], dtype=float)
    known = np.isfinite(similarity)
    counts = of_person @ known @ of_person.T
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(of_person @ np.where(known, similarity, 0) @ of_person.T / counts, dtype=np.float64)


def _permutation_test(
    similarity: FloatArray, n_first: int, n_permutations: int, seed: int
) -> tuple[float, float, float]:
    """Mean similarity within and between groups, and the p of their difference."""
    known = np.isfinite(similarity) & ~np.eye(len(similarity), dtype=bool)
    values = np.where(known, similarity, 0)
    in_first = np.arange(len(similarity)) < n_first
    shuffled = np.random.default_rng(seed).permuted(np.tile(in_first, (n_permutations, 1)), axis=1)
    # The product of two sides is 1 in the same group and −1 otherwise.
    sides = np.where(np.vstack([in_first, shuffled]), 1.0, -1.0)
    signed_sum = np.einsum("gi,gi->g", sides @ values, sides)
    signed_count = np.einsum("gi,gi->g", sides @ known.astype(float), sides)
    with np.errstate(invalid="ignore", divide="ignore"):  # no pair at all is NaN
        within = (values.sum() + signed_sum) / (known.sum() + signed_count)
        between = (values.sum() - signed_sum) / (known.sum() - signed_count)
    difference = within - between
    # Groupings whose difference is the same up to rounding count as equal.
    p = (difference >= difference[0] - 1e-12).mean() if np.isfinite(difference[0]) else np.nan
    return float(within[0]), float(between[0]), float(p)
