"""Groups, atlas and members set by hand: what changes, what stays, and what is noted."""

from dataclasses import replace

import numpy as np
import pytest

from biobgt import Atlas, Cohort, InputError, Subject, load_atlas
from biobgt.atlas import numbered_atlas
from biobgt.cohort_edits import change_atlas, group_name, remove_subjects, set_groups


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


def test_atlas_of_another_size_is_a_sentence(cohort) -> None:
    with pytest.raises(InputError, match="3 regions, and Craddock CC200 has 200"):
        change_atlas(cohort, load_atlas("cc200"))
    with pytest.raises(InputError, match="3 regions"):
        change_atlas(cohort, replace(cohort.atlas, regions=("only",)))
