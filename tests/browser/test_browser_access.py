"""The keyboard reaches what the mouse does. Faults that axe-core finds are sought wherever a page is opened whole."""

from collections.abc import Callable

import pytest
from access_faults import assert_accessible
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

Open = Callable[..., Page]
MOST_TABS = 60


def test_keyboard_alone_starts_the_tour_which_leads_from_page_to_page(open_app: Open) -> None:
    page = open_app("")
    button = page.get_by_role("button", name="Look around with the demo")
    expect(button).to_be_visible()
    assert_accessible(page)
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if button.evaluate("element => element === document.activeElement"):
            break
    expect(button).to_be_focused()
    style = button.evaluate("element => [getComputedStyle(element).boxShadow, getComputedStyle(element).outlineStyle]")
    assert style != ["none", "none"], "where the keyboard is cannot be seen"
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Subjects", exact=True)).to_be_visible()
    page.get_by_role("button", name="Next: Hubs").click()
    expect(page.get_by_role("heading", name="Hubs", exact=True)).to_be_visible()
    expect(page.get_by_text("2 of 5")).to_be_visible()
    page.get_by_role("button", name="Skip the tour").click()
    expect(page.get_by_text("2 of 5")).to_have_count(0)
    expect(page.get_by_role("heading", name="Hubs", exact=True)).to_be_visible()
