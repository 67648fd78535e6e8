"""The page of studies: the design is said first and refused early; what was found is shown tab by tab."""

from dataclasses import replace

import pytest
from page_contents import badges, buttons, captions, figure, metrics, words
from page_hands import press, turn_to

from biobgt.data.simulate import demo_cohort
from biobgt.figures.register import all_figures
from biobgt.study.background import BackgroundStudy, RunState
from session.view import EXPORT_LIST
from tests.made_study import made_study

TABS = ("edges", "regions", "network", "cohort", "report")


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Studies of these tests are in no user's folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


@pytest.fixture
def started(monkeypatch):
    """What was started, without starting it."""
    calls = []
    monkeypatch.setattr(BackgroundStudy, "start", lambda self, *about: calls.append(about))
    return calls


def with_ages(site_of=lambda i, group: "AB"[i % 2]):
    """Two groups with age and site."""
    cohort = demo_cohort("ad", n_per_group=8)
    subjects = [
        replace(one, phenotypes={"age": 20.0 + i % 8, "site": site_of(i, one.group)})
        for i, one in enumerate(cohort.subjects)
        if one.group in ("NC", "AD")
    ]
    return replace(cohort, subjects=tuple(subjects), name="mine")


def test_the_formula_and_what_it_says_stand_there_before_anything_is_started(open_own, started):
    page = open_own("study", with_ages())
    assert page.code[0].value == "~ group + age + site    tested: group"
    shown = metrics(page)
    assert (shown["People of NC"], shown["People of AD"], shown["Residual degrees of freedom"]) == ("8", "8", "12")
    assert "motion and sex" in words(page.markdown), "what is not known cannot be ruled out"
    assert badges(page) == 1
    page.multiselect(key="study_covariates").set_value(["age"]).run()
    page.selectbox(key="study_interaction").select("age").run()
    assert page.code[0].value == "~ group * age    tested: group:age"
    press(page, "Start the study")
    ((cohort, _, (measured, design)),) = started
    assert (cohort.name, design.design, design.test) == ("mine", "~ group * age", "group:age")
    assert measured.levels == (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)


def test_a_design_that_cannot_be_tested_is_refused_and_cannot_be_started(open_own, may_fail):
    page = open_own("study", with_ages(site_of=lambda i, group: group))
    assert "group cannot be told apart from site" in words(page.error)
    assert "study_start" not in buttons(page)


def test_how_far_it_is_and_how_it_ended_is_said(open_page, monkeypatch):
    progress = {"level": "participant", "done": 3, "total": 40, "per_second": 0.5, "seconds_left": 74}
    monkeypatch.setattr(BackgroundStudy, "look", lambda self: RunState("stopped", progress))
    page = open_page("study", cohort="ad")
    assert "3 of 40 recordings are measured, and stay" in words(page.info)
    assert page.button(key="study_start").label == "Go on"


@pytest.mark.parametrize("tab", TABS)
def test_what_was_found_is_shown_in_pictures_that_can_be_exported(open_page, monkeypatch, tmp_path, tab):
    found = made_study()
    monkeypatch.setattr(BackgroundStudy, "look", lambda self: RunState("finished", {}))
    monkeypatch.setattr(BackgroundStudy, "report", tmp_path / "report.html")
    (tmp_path / "report.html").write_text("<p>")
    monkeypatch.setattr("session.studies.finished_study", lambda folder: found)
    page = open_page("study", cohort="ad", study_tab=tab)
    keys = [one.proto.id for one in page.get("plotly_chart")]
    assert keys
    if tab == "edges":
        assert figure(page, "study_connectogram")["data"]
        assert "3 edges among 4 regions" in captions(page)
        page.button(key="study_connectogram_export").click().run()
        (request,) = page.session_state[EXPORT_LIST]
        assert request.cohort.study
        assert request.cohort.sha256 == found.sha256
        assert all_figures()[request.figure].of_study
        turn_to(page, "network")
        assert figure(page, "study_network")["data"]
