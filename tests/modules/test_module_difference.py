"""Two groups of subjects: those whose modules differ are told apart, those whose modules do not are not."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import adjusted_mutual_info_score

from biobgt import Cohort, Subject
from biobgt.base.errors import InputError
from biobgt.data.atlas import numbered_atlas
from biobgt.modules.compare import group_module_difference, shuffled_changes

HALVES = [1] * 10 + [2] * 10
SHIFTED = [1] * 7 + [2] * 13


def cohort_of(ids, groups, n_regions=20):
    subjects = tuple(
        Subject(id=name, group=group, connectivity=np.eye(n_regions)) for name, group in zip(ids, groups, strict=True)
    )
    return Cohort(name="c", subjects=subjects, atlas=numbered_atlas(n_regions))


def difference(first, second, *, persons=None, **how):
    """Of two groups of recordings, each of a person of its own unless said otherwise."""
    named = persons or [f"p{i}" for i in range(len(first) + len(second))]
    ids = [f"sub-{person}_run-{i}" for i, person in enumerate(named)]
    cohort = cohort_of(ids, ["NC"] * len(first) + ["AD"] * len(second), len(first[0]))
    return group_module_difference(cohort, ("NC", "AD"), dict(zip(ids, [*first, *second], strict=True)), **how)


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
    found = difference([HALVES] * 3, [turned] * 3, n_permutations=100)
    assert found.first.tolist() == HALVES
    assert found.second.tolist() == SHIFTED
    assert found.changed == (7, 8, 9)
    assert found.agreement.contingency.to_numpy().tolist() == [[7, 3], [0, 10]]
    assert found.agreement.ami == pytest.approx(adjusted_mutual_info_score(HALVES, SHIFTED))
    assert found.within == pytest.approx(1)
    assert found.between == pytest.approx(adjusted_mutual_info_score(HALVES, SHIFTED))


def test_p_is_the_share_of_groupings_that_part_as_well():
    # Of the 20 ways to part six subjects in threes, two part these: as they are, and exchanged.
    found = difference([HALVES] * 3, [SHIFTED] * 3, n_permutations=20_000, seed=1)
    assert found.p == pytest.approx(2 / 20, abs=0.01)


def test_difference_is_that_of_an_obvious_loop():
    subjects = [*noisy(HALVES, 0, 4), *noisy(SHIFTED, 1, 3)]
    found = difference(subjects[:4], subjects[4:], n_permutations=10)
    within, between = [], []
    for i, j in combinations(range(7), 2):
        (within if (i < 4) == (j < 4) else between).append(adjusted_mutual_info_score(subjects[i], subjects[j]))
    assert found.within == pytest.approx(np.mean(within))
    assert found.between == pytest.approx(np.mean(between))


def repeated_scans(seed, n_people=8):
    """Two scans a person, of modules all their own: people are alike in nothing but themselves, whatever the group."""
    rng = np.random.default_rng(seed)
    people = [rng.permutation(HALVES) for _ in range(n_people)]
    return [own for own in people for _ in range(2)]


def test_two_scans_of_a_person_are_no_two_subjects():
    persons = [f"p{i}" for i in range(8) for _ in range(2)]
    as_people, as_scans = [], []
    for seed in range(6):
        scans = repeated_scans(seed)
        as_people.append(difference(scans[:8], scans[8:], persons=persons, n_permutations=199, seed=seed).p)
        as_scans.append(difference(scans[:8], scans[8:], n_permutations=199, seed=seed).p)
    assert max(as_scans) < 0.05  # what counting scans would claim of nothing
    assert min(as_people) > 0.05
    assert 0.25 < np.mean(as_people) < 0.8


def test_people_are_compared_by_the_mean_over_their_scans():
    scans = [*noisy(HALVES, 0, 4), *noisy(SHIFTED, 1, 3)]
    persons = ["a", "b", "a", "c", "d", "e", "e"]
    found = difference(scans[:4], scans[4:], persons=persons, n_permutations=10)
    pairs = {True: [], False: []}
    for one, other in combinations("abcde", 2):
        alike = [
            adjusted_mutual_info_score(scans[i], scans[j])
            for i in range(7)
            for j in range(7)
            if (persons[i], persons[j]) == (one, other)
        ]
        pairs[(one in "abc") == (other in "abc")].append(np.mean(alike))
    assert (found.within, found.between) == (pytest.approx(np.mean(pairs[True])), pytest.approx(np.mean(pairs[False])))
    assert found.n_subjects == (3, 2)


def test_a_person_has_one_voice_in_the_consensus():
    # By scans the one with five of them outvotes three; by people it is one of four.
    scans = [*[SHIFTED] * 5, HALVES, HALVES, HALVES]
    persons = [*["a"] * 5, *"bcdef"]
    assert difference(scans, [HALVES] * 2, n_permutations=1).first.tolist() == [3 - label for label in SHIFTED]
    assert difference(scans, [HALVES] * 2, persons=persons, n_permutations=1).first.tolist() == HALVES


def test_nobody_is_in_both_groups_and_each_has_two_people():
    with pytest.raises(InputError, match="'sub-1' has recordings in both"):
        difference([HALVES] * 3, [HALVES] * 3, persons=["1", "2", "3", "1", "4", "5"])
    with pytest.raises(InputError, match="group is 1"):
        difference([HALVES], [HALVES, HALVES])
    with pytest.raises(InputError, match="group is 1"):
        difference([HALVES] * 2, [HALVES] * 2, persons=["1", "1", "2", "3"])


def test_alike_groups_are_not_told_apart_and_different_ones_are():
    alike = difference(noisy(HALVES, 0, 8), noisy(HALVES, 1, 8), n_permutations=999)
    other = difference(noisy(HALVES, 0, 8), noisy([1, 2] * 10, 1, 8), n_permutations=999)
    assert alike.p > 0.05
    assert other.p < 0.005
    assert alike.changed == ()


def test_regions_in_no_module_do_not_count():
    first = [0, *HALVES[1:]]
    found = difference([first] * 2, [HALVES] * 2, n_permutations=10)
    assert found.changed == ()
    assert found.agreement.n_compared == 19
    assert found.between == pytest.approx(1)
    nothing = difference([[0] * 4] * 2, [[0] * 4] * 2, n_permutations=10)
    assert np.isnan(nothing.p)


def test_regions_that_change_by_chance_are_those_of_people_shuffled_by_hand():
    ids = [f"sub-{i}" for i in range(9)]
    labels = dict(zip(ids, [*noisy(HALVES, 0, 5), *noisy(SHIFTED, 1, 4)], strict=True))
    cohort = cohort_of(ids, ["NC"] * 5 + ["AD"] * 4)
    drawn = [shuffled_changes(cohort, ("NC", "AD"), labels, number=number, seed=7) for number in range(10)]
    for number, changed in enumerate(drawn):
        order = np.random.default_rng([7, number]).permutation(9)
        mixed = [labels[ids[i]] for i in order]
        assert changed == len(difference(mixed[:5], mixed[5:], n_permutations=1, seed=7).changed)
    assert len(set(drawn)) > 1


def test_as_many_regions_change_between_equal_groups_as_between_shuffled_ones():
    ids = [f"sub-{i}" for i in range(12)]
    cohort, labels = cohort_of(ids, ["NC"] * 6 + ["AD"] * 6), dict(zip(ids, noisy(HALVES, 0, 12), strict=True))
    shuffled = tuple(shuffled_changes(cohort, ("NC", "AD"), labels, number=number) for number in range(39))
    found = group_module_difference(cohort, ("NC", "AD"), labels, n_permutations=10)
    assert replace(found, shuffled=shuffled).p_changed > 0.05
    assert replace(found, changed=tuple(range(20)), shuffled=shuffled).p_changed == 1 / 40
