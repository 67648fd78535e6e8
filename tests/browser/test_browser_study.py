"""The page Study in a real browser: a study runs on while the page is closed, is found again, stopped and deleted."""

import re
from collections.abc import Callable

import pytest
from access_faults import assert_accessible
from page_steps import assert_fits, badges, turn_to, wait_until_idle
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

Open = Callable[..., Page]


def test_a_study_runs_on_without_its_page_and_is_stopped_and_deleted_by_another(open_app: Open) -> None:
    page = open_app("study?cohort=ad")
    expect(page.get_by_test_id("stCode")).to_contain_text("~ group")
    wait_until_idle(page)
    expect(badges(page.locator("body"))).to_have_count(1)
    assert_fits(page)
    assert_accessible(page)
    page.get_by_role("button", name="Start the study").click()
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_visible()
    page.close()
    again = open_app("study?cohort=ad", width=800, somebody_else=True)
    expect(again.get_by_test_id("stProgress")).to_contain_text(re.compile("Reading the subjects|Measured"))
    again.get_by_role("button", name="Stop", exact=True).click()
    expect(again.get_by_text("The study was stopped.")).to_be_visible()
    expect(again.get_by_role("button", name="Go on")).to_be_visible()
    turn_to(again, "Edges")
    expect(again.get_by_text("Results will be here when the study has ended.")).to_be_visible()
    assert_fits(again)
    turn_to(again, "Design")
    again.get_by_text("Where this study is kept").click()
    again.get_by_role("button", name="Delete this study").click()
    expect(again.get_by_role("button", name="Start the study")).to_be_visible()
