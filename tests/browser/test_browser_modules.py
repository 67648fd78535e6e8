"""The page of modules in a real browser: it loads whole, work can be stopped, and the choices are in the link."""

import re
from collections.abc import Callable

import pytest
from access_faults import assert_accessible
from page_steps import assert_fits, badges, turn_to, wait_for_figures
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

Open = Callable[..., Page]
FIGURES = {"Networks": ("flow",), "Roles": ("roles",), "Modules": ("brain", "modules")}
# Few runs and the smaller atlas: what is tested is the page.
PAGE = "modules?cohort=ad&runs=5"
NODES = "document.querySelector('.st-key-brain .js-plotly-plot').data.filter(t => t.mode === 'markers').length"


@pytest.mark.parametrize("width", [1280, 800])
def test_page_loads_whole(open_app: Open, width: int) -> None:
    page = open_app(PAGE, width=width)
    for tab, figures in FIGURES.items():
        turn_to(page, tab)
        wait_for_figures(page, *figures)
        expect(page.get_by_test_id("stException")).to_have_count(0)
        expect(page.get_by_test_id("stAlert")).to_have_count(0)
        expect(badges(page.locator("body"))).to_have_count(1)
        assert_fits(page)
    if width == 1280:
        assert_accessible(page)


def test_resolution_changes_the_brain_and_the_address(open_app: Open) -> None:
    page = open_app(PAGE)
    wait_for_figures(page, *FIGURES["Modules"])
    before = page.evaluate(NODES)
    slider = page.locator(".st-key-resolution").get_by_role("slider")
    for _ in range(8):
        slider.press("ArrowRight")
    page.wait_for_function(f"before => {NODES} > before", arg=before)
    expect(page).to_have_url(re.compile("resolution=1.8"))
    page.get_by_text("Consensus", exact=True).click()
    expect(page).to_have_url(re.compile("consensus=true"))
