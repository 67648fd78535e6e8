"""Regions that subjects lack are named on the page of subjects, where the user chooses what is done about them."""

import numpy as np
from page_contents import array, as_shown, assert_no_error, figure
from subjects_page import cohort_of, press

from biobgt import load_atlas

ATLAS = load_atlas("schaefer100")
ABSENT = (3, 10, 55, 70, 99)


def series_file(subject: str, seed: int, absent: tuple[int, ...] = ()) -> tuple[str, bytes, str]:
    series = np.random.default_rng(seed).standard_normal((60, ATLAS.n_regions)).cumsum(axis=0)
    kept = [i for i in range(ATLAS.n_regions) if i not in absent]
    rows = [",".join(f"{value:.4f}" for value in row) for row in series[:, kept]]
    return f"{subject}.csv", "\n".join([",".join(ATLAS.regions[i] for i in kept), *rows]).encode(), "text/csv"


def bring(open_page):
    page = open_page("subjects")
    page.file_uploader(key="files0").set_value([series_file("s1", 1, ABSENT), series_file("s2", 2)])
    page.run()
    assert_no_error(page)
    return page


def warned(page) -> bool:
    return any("5 regions of 100 are missing in 1 of 2 subjects" in as_shown(box.value) for box in page.warning)


def test_a_subject_with_five_absent_parcels_is_drawn_with_gaps(open_page):
    page = bring(open_page)
    assert cohort_of(page).atlas is ATLAS
    assert warned(page)
    page.selectbox(key="region_order").select("atlas").run()
    heatmap = figure(page, "connectivity")["data"][0]
    gaps = np.flatnonzero(np.isnan(array(heatmap["z"]).astype(float)).all(axis=0))
    assert gaps.tolist() == list(ABSENT)


def test_the_shared_regions_are_kept_on_request(open_page):
    page = press(bring(open_page), "Keep only the 95 regions that all subjects have")
    assert_no_error(page)
    assert cohort_of(page).atlas.n_regions == 95
    assert not warned(page)


def test_subjects_who_lack_regions_are_removed_on_request(open_page):
    page = press(bring(open_page), "Remove the 1 subject with missing regions")
    assert_no_error(page)
    assert cohort_of(page).ids == ("s2",)
    assert cohort_of(page).atlas is ATLAS
