"""Groups, atlas and members set by hand: what changes, what stays, and what is noted."""

from dataclasses import replace

import numpy as np
import pytest

from biobgt import Atlas, Cohort, InputError, Subject, load_atlas
from biobgt.base.errors import Refusal
from biobgt.data.atlas import numbered_atlas
from biobgt.data.cohort import Source
from biobgt.data.edits import (
    add_subjects,
    change_atlas,
    confirm_atlas,
    edit_again,
    group_name,
    hand_edits,
    remove_subjects,
    set_groups,
)


@pytest.fixture
def cohort(rng) -> Cohort:
    matrix = np.array([[1, 0.1, 0.2], [0.1, 1, 0.3], [0.2, 0.3, 1]])
    subjects = (
        Subject("a", series=np.array([[1.0, 2, 0], [4, 5, 0]]), missing_regions=(2,), group="NC"),
        Subject("b", connectivity=matrix, group="ASD"),
        Subject("c", series=rng.standard_normal((4, 3))),
    )
    return Cohort("x", subjects, numbered_atlas(3, names=["L", "M", "R"]), notes=("Read.",), unmatched_subjects=("c",))


@pytest.mark.parametrize(
    ("text", "name"),
    [("NC", "NC"), (" adhd", "ADHD"), ("first\n episode ", "first episode"), ("", None), ("  ", None), (None, None)],
)
def test_group_names_are_tidied(text, name) -> None:
    assert group_name(text) == name


def test_endless_group_name_is_a_sentence() -> None:
    with pytest.raises(InputError, match="61 letters"):
        group_name("x" * 61)


def test_groups_are_set_and_noted(cohort) -> None:
    changed = set_groups(cohort, {"a": "nc", "b": None, "c": "first episode"})
    assert [subject.group for subject in changed] == ["NC", None, "first episode"]
    assert changed.notes == ("Read.", "Group set by hand: 2 subjects (b, c).")
    assert [subject.series is before.series for subject, before in zip(changed, cohort, strict=True)] == [True] * 3
    assert set_groups(cohort, {"a": "NC"}) is cohort
    with pytest.raises(InputError, match="no subject 'z'"):
        set_groups(cohort, {"z": "NC"})


def test_removed_subjects_are_gone_and_noted(cohort) -> None:
    left = remove_subjects(cohort, {"c", "a", "nobody"})
    assert left.ids == ("b",)
    assert left.unmatched_subjects == ()
    assert left.notes[-1] == "Removed by hand: 2 subjects (a, c)."
    assert remove_subjects(cohort, ["nobody"]) is cohort
    with pytest.raises(InputError, match="at least one subject"):
        remove_subjects(cohort, cohort.ids)


def test_other_names_are_names_of_the_same_columns(cohort) -> None:
    atlas = Atlas("mine", "Mine", ("x", "y", "z"))
    changed = change_atlas(cohort, atlas)
    assert changed.atlas is atlas
    assert changed.subjects == cohort.subjects
    assert changed.notes[-1] == "Atlas changed by hand from 3 regions, atlas not known to Mine."


def test_the_same_names_in_another_order_take_their_data_along(cohort) -> None:
    changed = change_atlas(cohort, Atlas("mine", "Mine", ("R", "L", "M")))
    np.testing.assert_array_equal(changed["a"].series, [[0, 1, 2], [0, 4, 5]])
    assert changed["a"].missing_regions == (0,)
    np.testing.assert_array_equal(changed["b"].connectivity, [[1, 0.2, 0.3], [0.2, 1, 0.1], [0.3, 0.1, 1]])
    assert "put in that order" in changed.notes[-1]
    back = change_atlas(changed, cohort.atlas)
    np.testing.assert_array_equal(back["c"].series, cohort["c"].series)
    assert back["a"].missing_regions == (2,)


@pytest.mark.parametrize("decided_by", ["the user", "the region names"])
def test_two_orders_of_one_atlas_move_data_only_where_names_told_the_regions(rng, decided_by) -> None:
    """Who takes nameless columns for the wrong order of Glasser's areas, and says so, gets other names for them."""
    source = Source("s.csv", 1, "0", "csv", {"atlas decided by": decided_by})
    subject = Subject("a", series=rng.standard_normal((5, 360)), source=source)
    cohort = Cohort("x", (subject,), load_atlas("glasser360"))
    changed = change_atlas(cohort, load_atlas("glasser360_hcp"))
    moved = decided_by == "the region names"
    expected = np.roll(subject.series, 180, axis=1) if moved else subject.series
    np.testing.assert_array_equal(changed["a"].series, expected)
    back = change_atlas(changed, load_atlas("glasser360"))
    np.testing.assert_array_equal(back["a"].series, subject.series)


def test_a_confirmed_atlas_is_sure() -> None:
    source = Source("s.csv", 1, "0", "csv", {"atlas decided by": "the number of regions alone"})
    cohort = Cohort("x", (Subject("a", connectivity=np.eye(3), source=source),), numbered_atlas(3))
    assert not cohort.atlas_is_sure
    confirmed = confirm_atlas(cohort)
    assert confirmed.atlas_is_sure
    assert confirmed.atlas_decided_by == "the user"
    assert confirmed.notes == ("Atlas: 3 regions, atlas not known, confirmed by you.",)


def test_atlas_of_another_size_is_a_sentence(cohort) -> None:
    with pytest.raises(InputError, match="3 regions, and Craddock CC200 has 200"):
        change_atlas(cohort, load_atlas("cc200"))
    with pytest.raises(InputError, match="3 regions"):
        change_atlas(cohort, replace(cohort.atlas, regions=("only",)))


def read(names: str, *, sha256: str = "1", atlas: Atlas | None = None, **of_all: object) -> Cohort:
    """A cohort as a reader makes it: a letter per subject, each from a file of its own."""
    subjects = tuple(
        Subject(
            name,
            series=np.full((3, 3), float(ord(name))),
            source=Source(f"{name}.csv", 9, f"{name}{sha256}", "csv"),
            **of_all,
        )
        for name in names
    )
    return Cohort("read", subjects, atlas or numbered_atlas(3, names=["L", "M", "R"]), notes=("Read.",))


def test_edits_are_told_from_what_was_read_and_made_again() -> None:
    as_read = read("abcd", group="NC")
    now = remove_subjects(set_groups(as_read, {"a": "AD", "b": None}), ["c"])
    edits = hand_edits(as_read, now)
    assert edits.groups == {"a": "AD", "b": None}
    assert edits.removed == {"c": "c1"}
    assert edits.atlas is None
    again = edit_again(read("abcde", group="ASD"), edits)
    assert {subject.id: subject.group for subject in again} == {"a": "AD", "b": None, "d": "ASD", "e": "ASD"}
    assert again.notes[-1] == "Removed by hand: 1 subject (c)."
    assert edit_again(as_read, hand_edits(as_read, as_read)) is as_read


def test_other_file_of_a_removed_subject_s_name_was_not_removed() -> None:
    edits = hand_edits(read("ab"), remove_subjects(read("ab"), ["a"]))
    assert edit_again(read("ab", sha256="2"), edits).ids == ("a", "b")
    assert edit_again(read("a"), edits).ids == ("a",)  # nobody would be left


def test_atlas_set_by_hand_is_set_again_unless_another_was_read() -> None:
    mine, other = Atlas("mine", "Mine", ("x", "y", "z")), Atlas("other", "Other", ("u", "v", "w"))
    edits = hand_edits(read("a"), change_atlas(read("a"), mine))
    assert edit_again(read("ab"), edits).atlas is mine
    assert edit_again(read("ab", atlas=other), edits).atlas is other


def test_further_subjects_are_added_and_nobody_is_lost() -> None:
    first = set_groups(read("ab"), {"a": "AD"})
    further = replace(read("bc", group="NC", phenotypes={"age": 7}), refused=(Refusal("x.csv", "Empty."),))
    both = add_subjects(first, further)
    assert {subject.id: subject.group for subject in both} == {"a": "AD", "b": "NC", "c": "NC"}
    assert both["b"].series is first["b"].series
    assert (both["a"].phenotypes, both["b"].phenotypes) == ({}, {"age": 7})
    assert both.notes == ("Read.", "Group set by hand: 1 subject (a).", "Added: 1 subject (c).")
    assert both.refused == (Refusal("x.csv", "Empty."),)


def test_other_file_of_a_loaded_subject_s_name_is_refused() -> None:
    both = add_subjects(read("ab"), read("bc", sha256="2"))
    assert both.ids == ("a", "b", "c")
    assert [refusal.file for refusal in both.refused] == ["b.csv"]
    assert "loaded already, from another file" in both.refused[0].reason


def test_unmatched_names_are_those_of_all() -> None:
    first = replace(read("ab"), unmatched_subjects=("b",), unmatched_rows=("c", "z"))
    further = replace(read("c"), unmatched_subjects=("c",), unmatched_rows=("a", "y"))
    both = add_subjects(first, further)
    assert both.unmatched_subjects == ("b", "c")
    assert both.unmatched_rows == ("z", "y")


def test_regions_in_another_order_are_put_right_and_other_regions_are_a_sentence() -> None:
    turned = numbered_atlas(3, names=["R", "L", "M"])
    further = replace(read("c", atlas=turned), subjects=(Subject("c", series=np.array([[3.0, 1, 2], [6, 4, 5]])),))
    both = add_subjects(read("a"), further)
    np.testing.assert_array_equal(both["c"].series, [[1, 2, 3], [4, 5, 6]])
    with pytest.raises(InputError, match="One cohort has one atlas"):
        add_subjects(read("a"), read("c", atlas=Atlas("mine", "Mine", ("x", "y", "z"))))
