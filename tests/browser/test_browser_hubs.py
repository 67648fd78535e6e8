"""The page of hubs in a real browser: it loads whole, γ moves the curve, and the choices are kept."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect
from test_browser_frame import badges, clipped_texts

pytestmark = pytest.mark.browser
expect.set_options(timeout=30_000)

Open = Callable[..., Page]
FIGURES = ("hub_curves", "ne_node_efficiency", "ne_fc_strength", "gamma_sweep")
CURVE = "JSON.stringify(document.querySelector('.st-key-hub_curves .js-plotly-plot').data[0].y)"


def wait_until_drawn(page: Page) -> None:
    for key in FIGURES:
        expect(page.locator(f".st-key-{key} .js-plotly-plot .main-svg").first).to_be_visible()
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)


def gamma(page: Page) -> Locator:
    return page.locator(".st-key-gamma").get_by_role("slider")


@pytest.mark.parametrize("width", [1280, 800])
@pytest.mark.parametrize("scale", ["z-score", "Raw"])
def test_page_loads_whole(open_app: Open, width: int, scale: str) -> None:
    page = open_app("hubs?cohort=ad", width=width)
    wait_until_drawn(page)
    if scale == "Raw":
        page.get_by_text("Raw", exact=True).click()
        expect(page.locator(".st-key-hub_curves").get_by_text("NE (bits)")).to_be_visible()
        page.get_by_role("combobox", name="Regions in order").fill("Dosenbach")
        page.get_by_role("option", name="By Dosenbach's six networks").click()
        expect(page.locator(".st-key-hub_curves").get_by_text("sensorimotor")).to_be_visible()
    expect(page.get_by_test_id("stException")).to_have_count(0)
    expect(page.get_by_test_id("stAlert")).to_have_count(0)
    expect(badges(page.get_by_test_id("stMain"))).to_have_count(4)
    assert page.evaluate("(m => m.scrollWidth - m.clientWidth)(document.querySelector('[data-testid=stMain]'))") == 0
    assert clipped_texts(page) == []


def test_moving_gamma_changes_the_curve_and_the_address(open_app: Open) -> None:
    page = open_app("hubs?cohort=ad")
    wait_until_drawn(page)
    before = page.evaluate(CURVE)
    sweep = page.get_by_text("At the chosen γ = 0.5")
    expect(sweep).to_be_visible()
    gamma(page).press("ArrowRight")
    page.wait_for_function(f"before => {CURVE} !== before", arg=before)
    expect(page).to_have_url(re.compile("gamma=0.6"))
    expect(page.get_by_text("At the chosen γ = 0.6")).to_be_visible()
    gamma(page).press("ArrowLeft")
    page.wait_for_function(f"before => {CURVE} === before", arg=before)


def test_choices_are_kept_around_the_pages_and_in_the_link(open_app: Open, server: str) -> None:
    page = open_app("hubs?cohort=ad")
    wait_until_drawn(page)
    page.get_by_text("Remove", exact=True).click()
    expect(page.get_by_text("of NE (remove, |ΔS|)")).to_be_visible()
    page.get_by_text("Mean + 1 SD", exact=True).click()
    gamma(page).press("ArrowLeft")
    address = re.compile("gamma=0.4&perturbation=remove&hub_rule=sd")
    expect(page).to_have_url(address)
    expect(page.get_by_text("At the chosen γ = 0.4")).to_be_visible()
    for name, heading in (("Home", "BioBGT Explorer"), ("Subjects", "Subjects"), ("Hubs", "Hubs")):
        page.get_by_test_id("stSidebarNav").get_by_role("link", name=re.compile(name)).click()
        expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
        expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)
        expect(page).to_have_url(address)
    wait_until_drawn(page)
    expect(page.get_by_text("At the chosen γ = 0.4")).to_be_visible()
    expect(page.get_by_text("of NE (remove, |ΔS|)")).to_be_visible()
    curve = page.evaluate(CURVE)
    theirs = open_app(page.url.removeprefix(f"{server}/"), somebody_else=True)
    wait_until_drawn(theirs)
    assert theirs.evaluate(CURVE) == curve
