"""The page of hubs in a real browser: it loads whole, γ moves the curve, and the choices are kept."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect
from test_browser_frame import badges, choose, clipped_texts

pytestmark = pytest.mark.browser

Open = Callable[..., Page]
FIGURES = (
    *("hub_curves", "ne_node_efficiency", "ne_fc_strength", "gamma_sweep"),
    *("why_before", "why_after", "why_spectra", "why_entropy"),
)
CURVE = "JSON.stringify(document.querySelector('.st-key-hub_curves .js-plotly-plot').data[0].y)"


def wait_until_drawn(page: Page) -> None:
    for key in FIGURES:
        expect(page.locator(f".st-key-{key} .js-plotly-plot .main-svg").first).to_be_visible()
    expect(page.locator(".st-key-hub_brain canvas").first).to_be_visible()
    expect(page.get_by_test_id("stDataFrame")).to_have_count(2)
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)


def gamma(page: Page) -> Locator:
    return page.locator(".st-key-gamma").get_by_role("slider")


@pytest.mark.parametrize("width", [1280, 800])
def test_page_loads_whole_and_raw_values_fit_too(open_app: Open, width: int) -> None:
    page = open_app("hubs?cohort=ad", width=width)
    wait_until_drawn(page)
    assert_whole(page)
    page.get_by_text("Raw", exact=True).click()
    expect(page.locator(".st-key-hub_curves").get_by_text("NE (bits)")).to_be_visible()
    page.get_by_role("combobox", name="Regions in order").fill("Dosenbach")
    page.get_by_role("option", name="By Dosenbach's six networks").click()
    expect(page.locator(".st-key-hub_curves").get_by_text("sensorimotor")).to_be_visible()
    assert_whole(page)


def assert_whole(page: Page) -> None:
    """No alarm, every badge, nothing wider than the page, no text of a figure cut."""
    expect(page.get_by_test_id("stException")).to_have_count(0)
    for kind in ("Error", "Warning"):  # that FC strength has little left to compare with is a notice
        expect(page.get_by_test_id(f"stAlertContent{kind}")).to_have_count(0)
    expect(badges(page.get_by_test_id("stMain"))).to_have_count(8)
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


def click_highest_point(page: Page, key: str) -> str:
    """Click the highest point of a figure's first curve, where no other is near; return the region it stands for."""
    plot = page.locator(f".st-key-{key} .js-plotly-plot")
    plot.evaluate("plot => plot.scrollIntoView({block: 'center'})")
    x, y, region = plot.evaluate(
        """plot => {
            const {xaxis, yaxis} = plot._fullLayout, curve = plot._fullData[0], box = plot.getBoundingClientRect();
            const number = curve.y.indexOf(Math.max(...curve.y));
            const name = curve.text ? curve.text[number] : curve.x[number];
            return [box.left + xaxis._offset + xaxis.d2p(curve.x[number]),
                    box.top + yaxis._offset + yaxis.d2p(curve.y[number]), name];
        }"""
    )
    page.mouse.move(x - 2, y - 2)
    page.mouse.move(x, y)
    expect(plot.locator(".hoverlayer .legend, .hoverlayer .hovertext").first).to_be_visible()
    page.mouse.click(x, y)
    return str(region)


def test_click_on_a_point_picks_its_region(open_app: Open, server: str) -> None:
    page = open_app("hubs?cohort=ad&region=Precuneus_L")
    wait_until_drawn(page)
    for key in ("hub_curves", "ne_fc_strength"):
        region = click_highest_point(page, key)
        expect(page.get_by_text("Picked now:")).to_contain_text(region)
        expect(page).to_have_url(re.compile(f"region={region}"))
        expect(page.locator(".st-key-why_before .annotation-text").get_by_text(region, exact=True)).to_be_visible()
        expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)
    page.get_by_role("link", name="Why this region?").first.click()
    expect(page.get_by_role("heading", name="Why this region?")).to_be_in_viewport()
    expect(page.get_by_text(f"{region} has ")).to_be_visible()
    theirs = open_app(page.url.removeprefix(f"{server}/").split("#")[0], somebody_else=True)
    wait_until_drawn(theirs)
    expect(theirs.get_by_text("Picked now:")).to_contain_text(region)


def test_region_is_found_by_name_and_a_figure_enlarged(open_app: Open) -> None:
    page = open_app("hubs?cohort=ad")
    wait_until_drawn(page)
    # A list that opens at the lower edge of the window closes when the page scrolls.
    page.locator(".st-key-region").evaluate("box => box.scrollIntoView({block: 'center'})")
    choose(page, "Region, by name", "Precuneus_R")
    expect(page.get_by_text("Precuneus_R has ")).to_be_visible()
    page.locator(".st-key-why_entropy_enlarge").get_by_role("button").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    small, large = (
        place.locator(".js-plotly-plot").first.bounding_box() for place in (page.locator(".st-key-why_entropy"), dialog)
    )
    assert small is not None
    assert large is not None
    assert large["width"] > 2 * small["width"]
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_group_and_five_measures_are_shown_on_request(open_app: Open) -> None:
    page = open_app("hubs?cohort=ad")
    wait_until_drawn(page)
    page.get_by_text("NC behind: mean ± SD of 20 subjects").click()
    expect(page.locator(".st-key-hub_curves").get_by_text("NC, mean ± SD")).to_be_visible()
    page.get_by_text("Five measures", exact=True).click()
    picture = page.get_by_role("img", name=re.compile("DC .degree., BC .betweenness."))
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.naturalWidth") > 1000
