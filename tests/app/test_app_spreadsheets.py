"""Tables on the screen have a toolbar that saves them as CSV: what they hold runs in no spreadsheet either."""

from pathlib import Path

import pandas as pd
import pytest
from page_contents import assert_no_error
from start_page import start_at
from streamlit.testing.v1 import AppTest

from biobgt import Cohort, Subject
from biobgt.data.atlas import numbered_atlas
from session.cohorts import OWN, own_cohort
from session.view import NEXT_COHORT, OWN_COHORT, LoadedCohort
from views.subjects.table import GROUP, ID, TICK, _apply

HOME = Path(__file__).resolve().parents[2] / "app" / "Home.py"


@pytest.fixture
def hostile(rng) -> Cohort:
    series = rng.standard_normal((2, 60, 8)).cumsum(axis=1)
    names = ("=1+1", "@b")
    subjects = (Subject(name, series=one, group="=NC") for name, one in zip(names, series, strict=True))
    return Cohort("two", tuple(subjects), numbered_atlas(8))


def test_tables_on_the_page_of_subjects(hostile: Cohort) -> None:
    session = AppTest.from_file(str(HOME), default_timeout=120)
    session.session_state[OWN_COHORT] = LoadedCohort(OWN, hostile)
    session.session_state[NEXT_COHORT] = OWN
    page = start_at(session, "subjects").run()
    assert_no_error(page)
    shown = [table.value for table in page.dataframe if {"subject"} <= set(table.value.columns)]
    assert shown
    for table in shown:
        assert table["subject"].tolist() == ["'=1+1", "'@b"]
        assert set(table["group"]) == {"'=NC"}


def test_groups_that_are_set_in_the_table_come_back_as_they_were(hostile: Cohort, monkeypatch) -> None:
    changed: list[Cohort] = []
    monkeypatch.setattr("views.subjects.table.change_own_cohort", changed.append)
    monkeypatch.setattr("views.subjects.table.st.rerun", lambda: None)
    edited = pd.DataFrame({TICK: [False, False], ID: ["'=1+1", "'@b"], GROUP: ["'=AD", None]})
    _apply(hostile, edited, None, removing=False)
    assert {subject.id: subject.group for subject in changed[0]} == {"=1+1": "=AD", "@b": None}
    assert own_cohort() is None
