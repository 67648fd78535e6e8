"""Further files are added to those loaded, or take their place; edits made before stay."""

import numpy as np
from page_contents import as_shown, assert_no_error, captions
from subjects_page import N_REGIONS, cohort_of, edit, press, table_file

from biobgt import Cohort, Subject
from biobgt.data.atlas import numbered_atlas
from biobgt.data.edits import remove_subjects, set_groups
from session.cohorts import take_in

EDITED = {"sub-00": "AD", "sub-02": "ASD", "sub-03": None}


def bring(page, series: np.ndarray, *numbers: int):
    """Let these files lie in the uploader; their ids are those of their names, as they were not sent anew."""
    page.file_uploader(key="files0").set_value([table_file(series, i) for i in numbers])
    return page.run()


def adding(page):
    return page.radio(key="adding")


def edit_by_hand(page) -> None:
    press(edit(page, {0: {"group": "AD"}}), "Set the groups")
    press(edit(page, {1: {"ticked": True}}), "Remove the ticked subjects")
    assert {subject.id: subject.group for subject in cohort_of(page)} == EDITED


def test_further_files_are_added_and_edits_stay(own, series) -> None:
    edit_by_hand(own)
    more = np.concatenate([series, series[:1] + 1])
    bring(own, more, 4)  # in an uploader that lost the others, as when one comes back to the page
    assert_no_error(own)
    assert adding(own).options == ["added to the 3 subjects loaded", "read instead of them"]
    assert {subject.id: subject.group for subject in cohort_of(own)} == {**EDITED, "sub-04": None}
    np.testing.assert_array_equal(cohort_of(own)["sub-04"].series, more[4])
    assert "Added: 1 subject (sub-04)." in captions(own)
    press(edit(own, {3: {"group": "MCI"}}), "Set the groups")
    adding(own).set_value(False).run()
    assert {subject.id: subject.group for subject in cohort_of(own)} == {"sub-04": "MCI"}
    adding(own).set_value(True).run()
    assert {subject.id: subject.group for subject in cohort_of(own)} == {**EDITED, "sub-04": "MCI"}


def test_edits_made_after_further_files_came_outlast_a_change_of_mind(series) -> None:
    """Edits of the subjects loaded before, who are away while the new files stand in their place."""
    subjects = tuple(Subject(f"s{i}", series=series[i], group="NC") for i in range(4))
    loaded, new = (Cohort("x", some, numbered_atlas(N_REGIONS)) for some in (subjects[:3], subjects[3:]))
    files = frozenset("d")
    cohort, batch = take_in(new, loaded, None, file_ids=files, adding=True)
    cohort = remove_subjects(set_groups(cohort, {"s0": "AD", "s3": "MCI"}), ["s1"])
    cohort, batch = take_in(new, cohort, batch, file_ids=files, adding=False)
    assert {subject.id: subject.group for subject in cohort} == {"s3": "MCI"}
    cohort = set_groups(cohort, {"s3": "NC"})  # what is undone stays undone
    cohort, batch = take_in(new, cohort, batch, file_ids=files, adding=True)
    assert {subject.id: subject.group for subject in cohort} == {"s0": "AD", "s2": "NC", "s3": "NC"}
    cohort = set_groups(cohort, {"s0": "NC"})
    for adding in (False, True):
        cohort, batch = take_in(new, cohort, batch, file_ids=files, adding=adding)
    assert {subject.id: subject.group for subject in cohort} == {"s0": "NC", "s2": "NC", "s3": "NC"}


def test_new_files_take_the_place_of_those_loaded_when_asked_to(own, series) -> None:
    edit_by_hand(own)
    own.file_uploader(key="files0").set_value([])
    own.run()
    adding(own).set_value(False).run()
    assert cohort_of(own).ids == tuple(EDITED)  # nothing happens before the files come
    bring(own, series, 1)
    assert {subject.id: subject.group for subject in cohort_of(own)} == {"sub-01": "NC"}


def test_files_of_other_regions_are_a_sentence_and_nobody_is_lost(own, rng) -> None:
    edit_by_hand(own)
    rows = [",".join(f"{value:.4f}" for value in row) for row in rng.standard_normal((30, 9))]
    header = ",".join(f"place{i}" for i in range(9))
    own.file_uploader(key="files0").set_value([("x.csv", "\n".join([header, *rows]).encode(), "text/csv")])
    own.run()
    assert "One cohort has one atlas" in as_shown(own.error[0].value)
    assert {subject.id: subject.group for subject in cohort_of(own)} == EDITED
    adding(own).set_value(False).run()
    assert_no_error(own)
    assert cohort_of(own).ids == ("x",)


def test_batch_that_grows_is_read_again_and_edits_are_made_again(series) -> None:
    """What an uploader that still holds the first files does: the same files, and one more."""
    subjects = tuple(Subject(f"s{i}", series=series[i], group="NC") for i in range(4))
    first = Cohort("x", subjects[:3], numbered_atlas(N_REGIONS))
    cohort, batch = take_in(first, None, None, file_ids=frozenset("abc"), adding=True)
    assert cohort is first
    edited = remove_subjects(set_groups(cohort, {"s0": "AD"}), ["s1"])
    grown = Cohort("x", subjects, first.atlas)
    cohort, batch = take_in(grown, edited, batch, file_ids=frozenset("abcd"), adding=True)
    assert {subject.id: subject.group for subject in cohort} == {"s0": "AD", "s2": "NC", "s3": "NC"}
    assert batch.earlier is None
    shrunk = Cohort("x", subjects[2:], first.atlas)  # two files were taken out of the uploader
    cohort, _ = take_in(shrunk, cohort, batch, file_ids=frozenset("cd"), adding=True)
    assert cohort.ids == ("s2", "s3")
