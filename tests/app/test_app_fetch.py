"""A public cohort is fetched on the page of subjects when asked for, and is then the user's own."""

import numpy as np
import pytest
from abide_mirror import abide_server
from page_contents import as_shown, assert_no_error, captions

import biobgt.readers.fetch
from session.cohorts import OWN
from session.view import OWN_COHORT


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """What the server was asked for, which is ours; files are kept in a folder of this test."""
    monkeypatch.setenv("NILEARN_DATA", str(tmp_path / "kept"))
    with abide_server(tmp_path / "server", np.random.default_rng(0)) as (address, files):
        monkeypatch.setattr(biobgt.readers.fetch, "ABIDE_SERVER", address)
        yield files


def start(page):
    return next(button for button in page.button if button.key == "fetch_start")


def test_fetched_subjects_are_the_users_own(open_page, asked, tmp_path):
    page = open_page("subjects")
    said = captions(page)
    assert "asks a public server on the internet" in said
    assert "none of your data are sent" in said
    assert f"kept in {tmp_path / 'kept'} on the machine" in said
    assert asked == []  # nothing before the button is pressed
    page.number_input(key="fetch_n_subjects").set_value(2).run()
    assert start(page).label == "Fetch 2 subjects"
    start(page).click().run()
    assert_no_error(page)
    assert page.selectbox(key="cohort").value == OWN
    cohort = page.session_state[OWN_COHORT].cohort
    assert (cohort.ids, dict(cohort.group_sizes)) == (("Pitt_0050003", "Pitt_0050004"), {"ASD": 1, "NC": 1})
    assert cohort.name == "ABIDE, C-PAC"
    assert page.text_input(key="project_name_own1").value == "ABIDE, C-PAC"  # it can be saved
    assert "cohort" not in page.query_params
    assert (tmp_path / "kept" / "ABIDE_pcp" / "cpac" / "filt_global" / "Pitt_0050004_rois_cc200.1D").exists()
    assert "Pitt_0050005_rois_cc200.1D" not in asked  # did not pass ABIDE's raters


def test_without_a_network_it_ends_with_a_sentence(open_page, tmp_path, monkeypatch):
    monkeypatch.setenv("NILEARN_DATA", str(tmp_path / "kept"))
    monkeypatch.setattr(biobgt.readers.fetch, "ABIDE_SERVER", "http://127.0.0.1:9")
    page = open_page("subjects")
    start(page).click().run()
    (error,) = page.error
    assert "could not be fetched: its server was not reached" in as_shown(error.value)
    assert page.selectbox(key="cohort").value == "asd"
    page.number_input(key="fetch_n_subjects").set_value(3).run()
    assert not start(page).disabled
