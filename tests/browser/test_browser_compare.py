"""The page that compares groups in a real browser: it loads whole, work can be stopped, choices are in the link."""

import re
from collections.abc import Callable

import pytest
from page_steps import assert_fits, badges, wait_for_figures
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

Open = Callable[..., Page]
PAGE = "compare?cohort=ad&second_group=AD"


@pytest.mark.parametrize("width", [1280, 800])
def test_page_loads_whole(open_app: Open, width: int) -> None:
    page = open_app(PAGE, width=width)
    wait_for_figures(page, "group_differences")
    expect(page.get_by_test_id("stAlert")).to_have_count(0)
    expect(badges(page.locator("body"))).to_have_count(1)
    assert_fits(page)


# The demo is shared, so each has a measure that nobody has measured yet.
@pytest.mark.parametrize(("width", "measure"), [(1280, "closeness"), (800, "degree")])
def test_regions_are_drawn_and_the_choice_is_in_the_link(open_app: Open, width: int, measure: str) -> None:
    page = open_app(f"{PAGE}&compared_measure={measure}", width=width)
    wait_for_figures(page, "group_differences")
    page.get_by_text("Hubs", exact=True).last.click()
    expect(page).to_have_url(re.compile("compared=hubs"))
    page.get_by_role("button", name="Compare 40 subjects").click()
    wait_for_figures(page, "group_differences", "difference_brain_shown")
    assert_fits(page)


def test_modules_can_be_stopped_and_stand_side_by_side(open_app: Open) -> None:
    # The demo is shared, so this seed is this test's own.
    page = open_app("compare?cohort=ad&compared=modules&runs=100&seed=4242")
    page.get_by_role("button", name=re.compile("Find the modules of 40 subjects")).click()
    expect(page.get_by_text(re.compile("Subject [2-9] of 40"))).to_be_visible()
    page.locator(".st-key-groups_stop").get_by_role("button").click()
    expect(page.get_by_role("button", name=re.compile(r"\d+ of 40 left"))).to_be_visible()
    expect(page.locator(".st-key-groups_stop")).to_have_count(0)
    page = open_app("compare?cohort=ad&compared=modules&runs=5")
    page.get_by_role("button", name=re.compile("Find the modules of 40 subjects")).click()
    wait_for_figures(page, "brain_first", "brain_second", "group_flow")
    expect(page.get_by_text("Permutation p")).to_be_visible()
    assert_fits(page)
