"""Splits: nobody twice, nobody lost, every group and site spread evenly, persons kept whole."""

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biobgt.base.errors import InputError
from biobgt.training.splits import Split, cross_validation, leave_one_site_out, random_splits


def _rows(split: Split) -> list[int]:
    return sorted(np.concatenate([split.train, split.validation, split.test]).tolist())


@pytest.fixture
def abide(shared_data: Path) -> pd.DataFrame:
    return pd.read_csv(shared_data / "abide_phenotypes.csv")


def test_random_splits_of_abide_are_80_10_10_in_every_site_and_group(abide: pd.DataFrame) -> None:
    splits = random_splits(abide["group"], abide["site"], n=10, seed=3)
    assert len(splits) == 10
    strata = (abide["site"] + abide["group"]).to_numpy()
    for split in splits:
        assert _rows(split) == list(range(899))
        assert {len(split.test), len(split.validation)} <= {89, 90}
        for part in (split.test, split.validation):
            for stratum, size in Counter(strata).items():
                assert (strata[part] == stratum).sum() in (size // 10, size // 10 + 1)
            for group, size in Counter(abide["group"]).items():
                assert (abide["group"].to_numpy()[part] == group).sum() in (size // 10, size // 10 + 1)
    tests = np.concatenate([split.test for split in splits])
    assert len(np.unique(tests)) > 500  # ten draws of a tenth reach 65 % of the subjects by chance


def test_random_splits_depend_on_the_seed_and_their_number_alone(abide: pd.DataFrame) -> None:
    few, many = (random_splits(abide["group"], abide["site"], n=n, seed=1) for n in (2, 5))
    np.testing.assert_array_equal(few[1].test, many[1].test)
    other = random_splits(abide["group"], abide["site"], n=2, seed=2)
    assert not np.array_equal(few[1].test, other[1].test)


def test_everyone_is_as_likely_to_be_tested() -> None:
    groups = ["NC"] * 17 + ["ASD"] * 8
    sites = ["A"] * 5 + ["B"] * 20
    counts = np.zeros(25)
    for split in random_splits(groups, sites, n=2000, seed=0):
        counts[split.test] += 1
    assert abs(counts / 2000 - 0.1).max() < 0.03  # 4.5 standard errors


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["NC", "ASD"]), st.sampled_from("ABCDE")), min_size=40, max_size=90),
    st.integers(2, 10),
    st.integers(0, 9),
)
def test_cross_validation_tests_everyone_once_and_spreads_groups(
    people: list[tuple[str, str]], folds: int, seed: int
) -> None:
    groups, sites = zip(*people, strict=True)
    if min(groups.count("NC"), groups.count("ASD")) < 3:
        return
    splits = cross_validation(groups, sites, folds=folds, seed=seed)
    assert sorted(np.concatenate([split.test for split in splits]).tolist()) == list(range(len(groups)))
    for split in splits:
        assert _rows(split) == list(range(len(groups)))
        rest = len(groups) - len(split.test)
        assert len(split.validation) in (rest // 9, -(-rest // 9))
        for stratum, size in Counter(people).items():
            tested = sum(people[i] == stratum for i in split.test)
            assert size // folds <= tested <= -(-size // folds)


def test_a_site_of_one_subject_is_pooled_and_not_dropped() -> None:
    groups = ["NC", "ASD"] * 10
    sites = [f"site {i}" for i in range(20)]
    for split in random_splits(groups, sites, n=20):
        assert _rows(split) == list(range(20))
        assert sorted(np.array(groups)[split.test]) == ["ASD", "NC"]
        assert sorted(np.array(groups)[split.validation]) == ["ASD", "NC"]


def test_leave_one_site_out_tests_whole_sites(abide: pd.DataFrame) -> None:
    splits = leave_one_site_out(abide["group"], abide["site"])
    assert [split.name for split in splits] == sorted(abide["site"].unique())
    for split in splits:
        assert set(abide["site"].to_numpy()[split.test]) == {split.name}
        assert split.name not in set(abide["site"].to_numpy()[np.concatenate([split.train, split.validation])])
        assert _rows(split) == list(range(899))
        rest = 899 - len(split.test)
        assert len(split.validation) in (rest // 10, rest // 10 + 1)
        assert split.notes == ()


def test_a_site_with_one_group_is_tested_with_a_note() -> None:
    groups = ["NC", "ASD"] * 6 + ["NC"] * 3
    sites = ["A"] * 6 + ["B"] * 6 + ["C"] * 3
    *others, last = leave_one_site_out(groups, sites)
    assert last.name == "C"
    assert last.test.tolist() == [12, 13, 14]
    assert "ASD" in last.notes[0]
    assert "AUC" in last.notes[0]
    assert all(split.notes == () for split in others)


def _copies() -> tuple[list[str], list[str], list[str]]:
    """Thirty persons: every third has copies in three groups, as simulated ones do, others two scans."""
    groups, sites, subjects = [], [], []
    for person in range(30):
        mine = ["NC", "MCI", "AD"] if person % 3 == 0 else [("MCI" if person % 2 else "AD")] * 2
        groups += mine
        sites += [f"site {person % 4}"] * len(mine)
        subjects += [f"person {person}"] * len(mine)
    order = np.random.default_rng(0).permutation(len(groups))
    return [groups[i] for i in order], [sites[i] for i in order], [subjects[i] for i in order]


@pytest.mark.parametrize("protocol", [random_splits, cross_validation, leave_one_site_out])
def test_rows_of_a_person_stay_together(protocol) -> None:
    groups, sites, subjects = _copies()
    ids = np.array(subjects)
    for split in protocol(groups, sites, subjects=subjects):
        parts = [set(ids[rows]) for rows in (split.train, split.validation, split.test)]
        assert sum(map(len, parts)) == 30
        assert _rows(split) == list(range(len(groups)))


def test_rows_without_ids_would_have_been_torn_apart() -> None:
    groups, sites, subjects = _copies()
    ids = np.array(subjects)
    split = random_splits(groups, sites, n=1)[0]
    assert set(ids[split.train]) & set(ids[split.test])


def test_few_subjects_leave_one_each_for_validation_and_test() -> None:
    for split in random_splits(["NC"] * 3 + ["ASD"] * 3, n=20):
        assert (len(split.train), len(split.validation), len(split.test)) == (4, 1, 1)


def test_bad_input_is_said_in_a_sentence() -> None:
    groups, sites = ["NC", "ASD"] * 10, ["A", "B"] * 10
    with pytest.raises(InputError, match="two parts"):
        Split("x", np.array([0, 1]), np.array([1]), np.array([2]))
    with pytest.raises(InputError, match="20 groups and 3 sites"):
        random_splits(groups, ["A"] * 3)
    with pytest.raises(InputError, match="Row 4 has no group"):
        random_splits([*groups[:3], None, *groups[4:]])
    with pytest.raises(InputError, match="at least 3 subjects"):
        random_splits(["NC", "ASD"])
    with pytest.raises(InputError, match="dealt into 21 folds"):
        cross_validation(groups, folds=21)
    with pytest.raises(InputError, match="one site"):
        leave_one_site_out(groups, ["A"] * 20)
    with pytest.raises(InputError, match="Row 20 has no site"):
        leave_one_site_out(groups, [*sites[:19], None])
    with pytest.raises(InputError, match="two sites"):
        leave_one_site_out(groups, sites, subjects=["P", "P", *map(str, range(18))])
    with pytest.raises(InputError, match="No subject of group NC is left to train on in 'A'"):
        leave_one_site_out(groups, sites)


def test_parts_cannot_be_changed() -> None:
    split = random_splits(["NC", "ASD"] * 10, n=1)[0]
    with pytest.raises(ValueError, match="read-only"):
        split.test[0] = 1
