"""The cohorts that models are trained on: how they are read, joined and divided."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted_cohort import ATLAS, planted_cohort

from biobgt.base.errors import InputError
from biobgt.data.atlas import load_atlas, numbered_atlas
from biobgt.data.cohort import Cohort, Subject
from biobgt.data.graph import ConnectomeSettings
from biobgt.readers.project import save_project
from biobgt.training.cohorts import (
    JoinedCohorts,
    Split,
    _simulated_progression,
    _sites_of,
    cross_validation,
    folds_words,
    join_training_cohorts,
    leave_one_site_out,
    protocol_splits,
    random_splits,
    training_cohort,
    training_concerns,
)

HEADER = ",".join(f"R{i}" for i in range(16))


@pytest.fixture(scope="module")
def controls() -> Cohort:
    """Eleven controls and two patients on AAL-116."""
    rng = np.random.default_rng(0)
    shared = rng.standard_normal((60, 1))
    subjects = [
        Subject(
            f"s{i}",
            series=0.6 * shared + rng.standard_normal((60, 116)),
            group="NC" if i < 11 else "ASD",
            missing_regions=(3, 100) if i == 0 else (),
        )
        for i in range(13)
    ]
    return Cohort("abide", tuple(subjects), load_atlas("aal116"))


def test_nobody_appears_twice_in_the_simulated_progression_and_who_is_made_says_so(controls: Cohort) -> None:
    found = _simulated_progression(controls, seed=0)
    assert sorted(found.ids) == sorted(f"s{i}" for i in range(11))  # each control once, no patient
    assert dict(found.group_sizes) == {"NC": 4, "MCI": 4, "AD": 3}
    assert found.atlas.name == "aal90"
    assert {subject.n_regions for subject in found} == {90}
    assert found.simulated
    for subject in found:
        original = controls[subject.id].series[:, :90]
        assert subject.simulated == (subject.group != "NC")
        assert np.array_equal(subject.series, original) == (subject.group == "NC")
    assert found["s0"].missing_regions == (3,)  # region 101 is not in AAL-90
    groups = [[subject.group for subject in _simulated_progression(controls, seed=seed)] for seed in (0, 0, 1)]
    assert groups[0] == groups[1] != groups[2]


def test_the_simulation_refuses_what_it_is_not_defined_on(controls: Cohort) -> None:
    other = Cohort("x", controls.subjects, numbered_atlas(116))
    with pytest.raises(InputError, match="defined on AAL"):
        _simulated_progression(other, seed=0)
    matrix = Subject("m", connectivity=np.eye(116), group="NC")
    with pytest.raises(InputError, match="'m' has no series"):
        _simulated_progression(Cohort("x", (matrix,), controls.atlas), seed=0)


def test_real_controls_become_thirds(shared_data: Path) -> None:
    found = training_cohort("adsim", shared_data)
    sizes = list(found.group_sizes.values())
    assert list(found.group_sizes) == ["NC", "MCI", "AD"]
    assert max(sizes) - min(sizes) <= 1
    assert len(set(found.ids)) == len(found)
    assert found.name == "adsim"
    assert all(subject.simulated == (subject.group != "NC") for subject in found)


def test_a_folder_with_one_group_is_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for i in range(3):
        np.savetxt(tmp_path / f"sub-{i}.csv", rng.standard_normal((50, 16)), delimiter=",", header=HEADER, comments="")
    with pytest.raises(InputError, match=r"at least two groups.*--phenotypes"):
        training_cohort("folder", tmp_path)
    with pytest.raises(InputError, match="no cohort 'nobody'"):
        training_cohort("nobody", tmp_path)


def test_splits_by_the_name_of_a_protocol() -> None:
    cohort = planted_cohort(20)
    assert _sites_of(cohort) == ["A", "B"] * 20
    everyone = list(range(40))
    folds = protocol_splits(cohort, "folds", n=4)
    assert sorted(np.concatenate([split.test for split in folds]).tolist()) == everyone
    left_out = protocol_splits(cohort, "sites")
    assert len(left_out) == 2
    for split in left_out:
        assert len({cohort.subjects[row].phenotypes["site"] for row in split.test}) == 1
    assert len(protocol_splits(cohort, "random", n=3)) == 3
    with pytest.raises(InputError, match="no complete column 'split'"):
        protocol_splits(cohort, "official")


def _two_sessions(cohort: Cohort) -> Cohort:
    """Every second subject becomes another session of the one before."""
    ids = [f"sub-{i // 4}{'ab'[i % 2]}_ses-{i // 2 % 2}" for i in range(len(cohort))]
    return replace(cohort, subjects=tuple(replace(one, id=name) for one, name in zip(cohort, ids, strict=True)))


@pytest.mark.parametrize("protocol", ["folds", "random"])
def test_recordings_of_one_person_are_never_parted(protocol: str) -> None:
    cohort = _two_sessions(planted_cohort(20))
    persons = np.array(cohort.persons)
    assert len(set(persons)) == 20
    for split in protocol_splits(cohort, protocol, n=5):
        parts = [set(persons[rows]) for rows in (split.train, split.validation, split.test)]
        assert sum(map(len, parts)) == len(set.union(*parts)) == 20


def _twins(cohort: Cohort) -> Cohort:
    """Subject 2, of the first's site and group, holds the first one's scan."""
    first, second, third, *others = cohort.subjects
    return replace(cohort, subjects=(first, second, replace(third, series=first.series), *others))


@pytest.mark.parametrize("protocol", ["folds", "random", "sites"])
def test_the_same_scan_under_two_ids_is_never_parted_and_nobody_else_is_moved(protocol: str) -> None:
    cohort, parted = planted_cohort(20), 0
    for seed in range(12):
        before, after = (protocol_splits(one, protocol, n=10, seed=seed) for one in (cohort, _twins(cohort)))
        for (was, now), part in product(zip(before, after, strict=True), ("train", "validation", "test")):
            then, rows = set(getattr(was, part).tolist()), set(getattr(now, part).tolist())
            assert (0 in rows) == (2 in rows)
            if part == "test" or protocol != "folds":  # a fold deals its validation subjects from those left
                assert then - {2} == rows - {2}
            parted += (0 in then) != (2 in then)
    assert parted  # otherwise nothing was tested


def test_scans_that_link_three_people_keep_them_together() -> None:
    """The last one's two recordings are the first one's scan and that of somebody between them."""
    groups, subjects = ["NC", "ASD"] * 20 + ["NC"], [f"p{i}" for i in range(40)] + ["p39"]
    scans = [f"s{i}" for i in range(39)] + ["s0", "s20"]
    for split in cross_validation(groups, subjects=subjects, scans=scans, folds=5):
        for part in (split.train, split.validation, split.test):
            assert len({0, 20, 39, 40} & set(part.tolist())) in (0, 4)


def test_an_official_split_through_a_person_or_a_scan_is_refused() -> None:
    cohorts = {"'sub-0a' stand both": _two_sessions(planted_cohort(20)), "scan of 'NC-0'": _twins(planted_cohort(20))}
    for said, cohort in cohorts.items():
        parted = [replace(one, phenotypes={"split": "val" if i == 2 else "train"}) for i, one in enumerate(cohort)]
        with pytest.raises(InputError, match=said):
            protocol_splits(replace(cohort, subjects=tuple(parted)), "official")


def test_a_scan_of_two_sites_leaves_neither_out() -> None:
    cohort = _twins(planted_cohort(20))
    moved = [replace(one, phenotypes={"site": "B"}) if i == 2 else one for i, one in enumerate(cohort)]
    with pytest.raises(InputError, match="A scan of B is also one of A"):
        protocol_splits(replace(cohort, subjects=tuple(moved)), "sites")


def test_a_missing_site_does_not_lose_the_others() -> None:
    cohort = planted_cohort(20)
    assert folds_words(4, cohort) == "4-fold cross-validation, stratified by site and group"
    one, *others = cohort.subjects
    gap = replace(cohort, subjects=(replace(one, phenotypes={}), *others))
    assert _sites_of(gap) == [None, *["B", *["A", "B"] * 19]]
    assert folds_words(4, gap).endswith("by site and group (a site is not known of everybody)")
    assert sum(len(split.test) for split in protocol_splits(gap, "folds", n=4)) == 40
    with pytest.raises(InputError, match="Row 1 has no site"):
        protocol_splits(gap, "sites")
    none = replace(cohort, subjects=tuple(replace(subject, phenotypes={}) for subject in cohort))
    assert _sites_of(none) is None
    assert folds_words(4, none).endswith("by group (no site is known)")


def test_the_cohorts_own_split_keeps_its_test_subjects_out() -> None:
    cohort = planted_cohort(20)
    subjects = [
        Subject(s.id, series=s.series, group=s.group, phenotypes={"split": "train" if i % 4 else "validation"})
        for i, s in enumerate(cohort)
    ]
    (split,) = protocol_splits(Cohort("c", tuple(subjects), cohort.atlas), "official")
    assert sorted(split.test.tolist()) == list(range(0, 40, 4))
    assert sorted([*split.train, *split.validation]) == [row for row in range(40) if row % 4]
    assert len(split.validation) in (3, 4)


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


def test_few_subjects_leave_one_each_for_validation_and_test() -> None:
    for split in random_splits(["NC"] * 3 + ["ASD"] * 3, n=20):
        assert (len(split.train), len(split.validation), len(split.test)) == (4, 1, 1)


def test_bad_input_is_said_in_a_sentence() -> None:
    groups, sites = ["NC", "ASD"] * 10, ["A", "B"] * 10
    with pytest.raises(InputError, match="two parts"):
        Split("x", np.array([0, 1]), np.array([1]), np.array([2]))
    refused = {
        "20 groups and 3 sites": lambda: random_splits(groups, ["A"] * 3),
        "Row 4 has no group": lambda: random_splits([*groups[:3], None, *groups[4:]]),
        "at least 3 subjects": lambda: random_splits(["NC", "ASD"]),
        "dealt into 21 folds": lambda: cross_validation(groups, folds=21),
        "one site": lambda: leave_one_site_out(groups, ["A"] * 20),
        "Row 20 has no site": lambda: leave_one_site_out(groups, [*sites[:19], None]),
        "two sites": lambda: leave_one_site_out(groups, sites, subjects=["P", "P", *map(str, range(18))]),
        "No subject of group NC is left": lambda: leave_one_site_out(groups, sites),
    }
    for said, job in refused.items():
        with pytest.raises(InputError, match=said):
            job()


def test_parts_cannot_be_changed() -> None:
    split = random_splits(["NC", "ASD"] * 10, n=1)[0]
    with pytest.raises(ValueError, match="read-only"):
        split.test[0] = 1


def test_joined_cohorts_name_controls_by_their_study_and_keep_people_together(both: JoinedCohorts) -> None:
    assert both.whole.name == "abide+adsim"
    assert both.readouts == (("NC (ABIDE)", "ASD (ABIDE)"), ("NC (simulated)", "ASD (simulated)", "MCI (simulated)"))
    assert both.whole.ids[0] == "abide_NC-0"
    assert both.parts[1].ids[0] == "abide_NC-0_ses-adsim"
    assert len(set(both.whole.persons)) == 24  # 16 of both cohorts, 8 of the second alone
    persons = np.array(both.whole.persons)
    for split in protocol_splits(both.whole, "folds", n=3, seed=0):
        train, validation, test = (set(persons[rows]) for rows in (split.train, split.validation, split.test))
        assert not train & validation
        assert not (train | validation) & test
        for number, part in enumerate(both.parts):
            own = split.within(both.rows(number))
            assert [part.ids[row] for row in own.test] == [
                both.whole.ids[row] for row in split.test if both.whole.ids[row] in part.ids
            ]


def test_one_cohort_stays_as_it_is_and_twice_it_is_refused(both: JoinedCohorts) -> None:
    alone = join_training_cohorts(both.parts[:1])
    assert alone.whole is both.parts[0]
    assert alone.readouts == ()
    with pytest.raises(InputError, match="two or more different"):
        join_training_cohorts((both.parts[0], both.parts[0]))


def test_aal90_is_the_first_regions_of_the_shared_files(shared_data: Path) -> None:
    cut = training_cohort("cni-adhd", shared_data, atlas="aal90")
    whole = training_cohort("cni-adhd", shared_data, atlas="aal116")
    assert cut.atlas.name == "aal90"
    assert cut.ids == whole.ids
    np.testing.assert_array_equal(cut.subjects[3].series, whole.subjects[3].series[:, :90])


def test_groups_with_a_cohort_behind_them_stay_in_order(both: JoinedCohorts) -> None:
    shuffled: Cohort = replace(both.whole, subjects=both.whole.subjects[::-1])
    kinds = [group.split(" (")[0] for group in shuffled.group_sizes]
    assert kinds == ["NC", "NC", "ASD", "ASD", "MCI"]


def _people(n: dict[str, int], site: Callable[[str, int], str]) -> Cohort:
    """People of groups, with sites; their series are not looked at."""
    rng = np.random.default_rng(0)
    subjects = [
        Subject(f"{group}{i}", series=rng.standard_normal((20, 4)), group=group, phenotypes={"site": site(group, i)})
        for group, size in n.items()
        for i in range(size)
    ]
    return Cohort("folder", tuple(subjects), numbered_atlas(4))


def test_what_stands_against_training_is_said_before_it_starts() -> None:
    assert training_concerns(_people({"NC": 15, "AD": 16}, lambda _, i: "AB"[i % 2])) == ()
    (few,) = training_concerns(_people({"NC": 15, "AD": 14}, lambda _, i: "AB"[i % 2]))
    assert few.startswith("There are few people (14 of AD):")
    (sites,) = training_concerns(_people({"NC": 15, "AD": 15}, lambda group, _: group))
    assert "Group and site are confounded completely" in sites
    one, other = training_concerns(
        _people({"NC": 16, "MCI": 16, "AD": 16}, lambda group, i: group if group == "AD" else "AB"[i % 2])
    )
    assert one.startswith("NC and AD:")
    assert other.startswith("MCI and AD:")


def test_recordings_of_a_person_are_one_of_the_people() -> None:
    cohort = _people({"NC": 16, "AD": 14}, lambda _, i: "AB"[i % 2])
    twice = replace(cohort.subjects[-1], id="AD0_ses-2")
    concerns = training_concerns(replace(cohort, subjects=(*cohort.subjects, twice)))
    assert [one.split(":")[0] for one in concerns] == ["There are few people (14 of AD)"]


def test_the_interval_that_is_said_is_that_of_hanley_and_mcneil() -> None:
    a, n = 0.7, 15
    variance = (a * (1 - a) + (n - 1) * (a / (2 - a) - a**2) + (n - 1) * (2 * a**2 / (1 + a) - a**2)) / n**2
    assert round(1.96 * variance**0.5, 2) == 0.19


@pytest.mark.parametrize("given", ["structural", None])
def test_matrices_that_are_said_to_be_structural_are_refused(tmp_path: Path, given: Any) -> None:
    rng = np.random.default_rng(0)
    subjects = [
        Subject(f"s{i}", connectivity=np.corrcoef(rng.standard_normal((16, 60))), group="NC" if i % 2 else "AD")
        for i in range(8)
    ]
    cohort = Cohort("mine", tuple(subjects), ATLAS, given=given)
    save_project(cohort, ConnectomeSettings(), {}, tmp_path / "subjects.biobgt")
    if given is None:
        assert training_cohort("folder", tmp_path / "subjects.biobgt").ids == cohort.ids
    else:
        with pytest.raises(InputError, match="structural"):
            training_cohort("folder", tmp_path / "subjects.biobgt")
