"""Sessions and runs of one person: the page of subjects says who has several, and the user chooses."""

import numpy as np
import pytest
from page_contents import as_shown, assert_no_error
from subjects_page import cohort_of, press

from biobgt import load_atlas

ATLAS = load_atlas("schaefer100")


def series_file(name: str, seed: int) -> tuple[str, bytes, str]:
    series = np.random.default_rng(seed).standard_normal((30, ATLAS.n_regions)).cumsum(axis=0)
    rows = [",".join(f"{value:.4f}" for value in row) for row in series]
    return f"{name}.csv", "\n".join([",".join(ATLAS.regions), *rows]).encode(), "text/csv"


@pytest.fixture
def page(open_page):
    page = open_page("subjects")
    names = ("sub-01_run-1", "sub-01_run-2", "sub-02_run-1")
    page.file_uploader(key="files0").set_value([series_file(name, i) for i, name in enumerate(names)])
    page.run()
    assert_no_error(page)
    return page


def asked(page) -> bool:
    return any("There are 3 recordings of 2 people." in as_shown(text.value) for text in page.markdown)


def test_runs_are_kept_apart_until_the_user_chooses(page):
    assert asked(page)
    assert cohort_of(page).ids == ("sub-01_run-1", "sub-01_run-2", "sub-02_run-1")


def test_runs_are_averaged_on_request_and_asked_again_on_request(page):
    page = press(page, "Average each person's recordings")
    assert_no_error(page)
    assert cohort_of(page).ids == ("sub-01", "sub-02")
    assert cohort_of(page)["sub-01"].n_timepoints == 60
    assert not asked(page)
    page = press(page, "Ask me again")
    assert cohort_of(page).ids == ("sub-01_run-1", "sub-01_run-2", "sub-02_run-1")


def test_the_first_or_a_named_run_is_kept_on_request(page):
    page.selectbox(key="kept_run").select("run-2").run()
    page = press(page, "Keep only this one")
    assert_no_error(page)
    assert cohort_of(page).ids == ("sub-01_run-2",)
    page = press(press(page, "Ask me again"), "Keep each person's first")
    assert cohort_of(page).ids == ("sub-01_run-1", "sub-02_run-1")


def test_a_session_with_two_runs_is_kept_once_and_the_rest_is_asked_again(open_page):
    page = open_page("subjects")
    names = ("sub-01_ses-1_run-1", "sub-01_ses-1_run-2", "sub-01_ses-2_run-1", "sub-02_ses-1_run-1")
    page.file_uploader(key="files0").set_value([series_file(name, i) for i, name in enumerate(names)])
    page.run()
    page.selectbox(key="kept_run").select("ses-1").run()
    page = press(page, "Keep only this one")
    assert_no_error(page)
    assert cohort_of(page).ids == ("sub-01_ses-1_run-1", "sub-01_ses-1_run-2", "sub-02_ses-1_run-1")
    assert asked(page)
    assert len(set(cohort_of(page).notes)) == len(cohort_of(page).notes)
