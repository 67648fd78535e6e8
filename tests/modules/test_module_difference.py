"""Two groups of subjects: those whose modules differ are told apart, those whose modules do not are not."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import adjusted_mutual_info_score

from biobgt.errors import InputError
from biobgt.modules.difference import module_difference, partition_similarity

HALVES = [1] * 10 + [2] * 10
SHIFTED = [1] * 7 + [2] * 13


def noisy(labels, seed, n=1):
    """The labels with two regions exchanged at random, as subjects differ."""
    rng = np.random.default_rng(seed)
    subjects = []
    for _ in range(n):
        own = np.array(labels)
        first, second = rng.choice(np.flatnonzero(own == 1)), rng.choice(np.flatnonzero(own == 2))
        own[first], own[second] = own[second], own[first]
        subjects.append(own)
    return subjects


def test_regions_that_change_are_found_and_colours_match():
    # The second group counts its modules the other way round; what changed are regions 7, 8 and 9.
    turned = [3 - label for label in SHIFTED]
    found = module_difference([HALVES] * 3, [turned] * 3, n_permutations=100)
    assert found.first.tolist() == HALVES
    assert found.second.tolist() == SHIFTED
    assert found.changed == (7, 8, 9)
    assert found.agreement.contingency.to_numpy().tolist() == [[7, 3], [0, 10]]
    assert found.agreement.ami == pytest.approx(adjusted_mutual_info_score(HALVES, SHIFTED))
    assert found.within == pytest.approx(1)
    assert found.between == pytest.approx(adjusted_mutual_info_score(HALVES, SHIFTED))


def test_p_is_the_share_of_groupings_that_part_as_well():
    # Of the 20 ways to part six subjects in threes, two part these: as they are, and exchanged.
    found = module_difference([HALVES] * 3, [SHIFTED] * 3, n_permutations=20_000, seed=1)
    assert found.p == pytest.approx(2 / 20, abs=0.01)


def test_difference_is_that_of_an_obvious_loop():
    subjects = [*noisy(HALVES, 0, 4), *noisy(SHIFTED, 1, 3)]
    found = module_difference(subjects[:4], subjects[4:], n_permutations=10)
    within, between = [], []
    for i, j in combinations(range(7), 2):
        (within if (i < 4) == (j < 4) else between).append(adjusted_mutual_info_score(subjects[i], subjects[j]))
    assert found.within == pytest.approx(np.mean(within))
    assert found.between == pytest.approx(np.mean(between))


def test_alike_groups_are_not_told_apart_and_different_ones_are():
    alike = module_difference(noisy(HALVES, 0, 8), noisy(HALVES, 1, 8), n_permutations=999)
    other = module_difference(noisy(HALVES, 0, 8), noisy([1, 2] * 10, 1, 8), n_permutations=999)
    assert alike.p > 0.05
    assert other.p < 0.005
    assert alike.changed == ()


def test_regions_in_no_module_do_not_count():
    first = [0, *HALVES[1:]]
    similarity = partition_similarity([first, HALVES, [0] * 20])
    assert similarity[0, 1] == pytest.approx(1)
    assert np.isnan(similarity[0, 2])
    found = module_difference([first] * 2, [HALVES] * 2, n_permutations=10)
    assert found.changed == ()
    assert found.agreement.n_compared == 19
    nothing = module_difference([[0] * 4] * 2, [[0] * 4] * 2, n_permutations=10)
    assert np.isnan(nothing.p)


def test_groups_need_two_subjects_of_the_same_regions():
    with pytest.raises(InputError, match="subjects of a group is 1"):
        module_difference([HALVES], [HALVES, HALVES])
    with pytest.raises(InputError, match="different numbers of regions"):
        partition_similarity([[1, 1], [1, 1, 2]])
