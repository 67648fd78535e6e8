"""Pages behind Explore's tiles in a real browser: they open on a picture, keep controls in sight, and are short."""

from collections.abc import Callable

import pytest
from access_faults import assert_accessible
from page_steps import assert_fits, badges, wait_until_idle
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

Open = Callable[..., Page]
HIGHEST = 2500  # px, of a page of 1280
PAGES = ("subjects", "hubs", "modules", "compare", "attention", "models")
MAIN = "document.querySelector('[data-testid=stMain]')"
# A plot or a picture, of which at least a hand's breadth is above the fold.
PICTURED = """() => [...document.querySelectorAll('.js-plotly-plot, [data-testid=stMain] img')].some(shown =>
    shown.getBoundingClientRect().height > 0 && innerHeight - shown.getBoundingClientRect().top > 200)"""


@pytest.mark.parametrize("name", PAGES)
def test_every_tab_is_short_with_one_badge_and_its_controls_in_sight(open_app: Open, name: str) -> None:
    page = open_app(f"{name}?cohort=ad")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.wait_for_function(PICTURED)
    expect(badges(page.locator("body"))).to_have_count(1)
    expect(page.get_by_test_id("stMain").get_by_role("link", name="Back to Explore")).to_be_visible()
    tabs = page.locator(".st-key-controls").get_by_role("radiogroup", name="Show").get_by_role("radio")
    for place in range(max(tabs.count(), 1)):
        if place:  # what the page opens on is not in its address
            before = page.url
            tabs.nth(place).click()
            page.wait_for_url(lambda url, before=before: url != before)
            page.reload()  # what was clicked is in its usual colours again
            expect(tabs.nth(place)).to_be_checked()
        wait_until_idle(page)
        expect(page.get_by_test_id("stAlertContentError")).to_have_count(0)
        assert page.evaluate(f"{MAIN}.scrollHeight") <= HIGHEST, f"{name}, tab {place}"
        assert_fits(page)
        assert_accessible(page)
        page.evaluate(f"{MAIN}.scrollTo(0, {HIGHEST})")
        if tabs.count():
            expect(tabs.first).to_be_in_viewport()
        page.evaluate(f"{MAIN}.scrollTo(0, 0)")


def test_a_tile_leads_to_its_details_and_the_region_goes_along_and_back(open_app: Open) -> None:
    page = open_app("explore?cohort=ad&region=Insula_L")
    page.locator("[data-tile=explore_brain]").get_by_role("button", name="Details on the page Hubs").click()
    expect(page.get_by_role("heading", name="Hubs", exact=True)).to_be_visible()
    marked = page.get_by_test_id("stMain").locator(".stMarkdownBadge").filter(has_text="Insula_L", visible=True)
    expect(marked).to_be_visible()
    page.get_by_role("link", name="Back to Explore").click()
    expect(page.locator(".linked-tile .main-svg").first).to_be_visible()
    assert "region=Insula_L" in page.url
