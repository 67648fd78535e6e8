"""The page of hubs in a real browser: it loads whole, γ moves the curve, and the choices are kept."""

import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from access_faults import assert_accessible
from page_steps import (
    assert_fits,
    badges,
    choose,
    full_caption,
    move_into_the_middle,
    turn_to,
    wait_for_figures,
    wait_until_idle,
)
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from biobgt import load_atlas
from biobgt.figures.brain import FIRST_COLOUR, LAST_COLOUR

pytestmark = pytest.mark.browser

Open = Callable[..., Page]
FIGURES = {
    "Agreement": ("ne_node_efficiency", "ne_fc_strength", "gamma_sweep"),
    "One region": ("why_before", "why_after", "why_spectra", "why_entropy"),
    "Brain and curves": ("hub_curves",),
}
CURVE = "JSON.stringify(document.querySelector('.st-key-hub_curves .js-plotly-plot').data[0].y)"


def wait_until_drawn(page: Page) -> None:
    expect(page.locator(".st-key-hub_brain canvas").first).to_be_visible()
    wait_for_figures(page, "hub_curves")


def gamma(page: Page) -> Locator:
    return page.locator(".st-key-gamma").get_by_role("slider")


@pytest.mark.parametrize("width", [1280, 800])
def test_page_loads_whole_and_raw_values_fit_too(open_app: Open, width: int) -> None:
    page = open_app("hubs?cohort=ad", width=width)
    wait_until_drawn(page)
    assert_whole(page)
    if width == 1280:
        assert_accessible(page)
    for tab, figures in FIGURES.items():
        turn_to(page, tab)
        wait_for_figures(page, *figures)
        assert_whole(page)
    page.get_by_text("Raw", exact=True).click()
    expect(page.locator(".st-key-hub_curves").get_by_text("NE (bits)")).to_be_visible()
    choose(page, "Order of regions", "By Dosenbach's six networks", typed="Dosenbach")
    expect(page.locator(".st-key-hub_curves").get_by_text("sensorimotor")).to_be_visible()
    assert_whole(page)


def assert_whole(page: Page) -> None:
    """No alarm, one badge, nothing wider than the page, no text of a figure cut."""
    expect(page.get_by_test_id("stException")).to_have_count(0)
    for kind in ("Error", "Warning"):  # that FC strength has little left to compare with is a notice
        expect(page.get_by_test_id(f"stAlertContent{kind}")).to_have_count(0)
    expect(badges(page.locator("body"))).to_have_count(1)
    assert_fits(page)


def test_moving_gamma_changes_the_curve_and_the_address(open_app: Open) -> None:
    page = open_app("hubs?cohort=ad")
    wait_until_drawn(page)
    before = page.evaluate(CURVE)
    gamma(page).press("ArrowRight")
    page.wait_for_function(f"before => {CURVE} !== before", arg=before)
    expect(page).to_have_url(re.compile("gamma=0.6"))
    turn_to(page, "Agreement")
    wait_for_figures(page, "gamma_sweep")
    assert "At the chosen γ = 0.6" in full_caption(page, "gamma_sweep")
    turn_to(page, "Brain and curves")
    wait_until_drawn(page)
    gamma(page).press("ArrowLeft")
    page.wait_for_function(f"before => {CURVE} === before", arg=before)


def click_highest_point(page: Page, key: str) -> str:
    """Click the highest point of a figure's first curve, where no other is near; return the region it stands for."""
    plot = page.locator(f".st-key-{key} .js-plotly-plot")
    move_into_the_middle(plot)
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
    for tab, key in {"Brain and curves": "hub_curves", "Agreement": "ne_fc_strength"}.items():
        turn_to(page, tab)
        wait_for_figures(page, *FIGURES[tab])
        region = click_highest_point(page, key)
        expect(pinned(page)).to_have_text(re.compile(region))
        expect(page).to_have_url(re.compile(f"region={region}"))
    turn_to(page, "One region")
    expect(page.locator(".st-key-why_before .annotation-text").get_by_text(region, exact=True)).to_be_visible()
    expect(page.get_by_text(f"{region} has ")).to_be_visible()
    theirs = open_app(page.url.removeprefix(f"{server}/").split("#")[0], somebody_else=True)
    wait_for_figures(theirs, *FIGURES["One region"])
    expect(pinned(theirs)).to_have_text(re.compile(region))
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Modules").click()
    wait_for_figures(page, "modules")
    expect(pinned(page)).to_have_text(re.compile(region))
    frames = "document.querySelector('.st-key-modules .js-plotly-plot').layout.shapes.filter(s => s.name === 'pinned')"
    assert page.evaluate(f"{frames}.length") == 2, "its row and its column"


def pinned(page: Page) -> Locator:
    """The region that the page says it marks."""
    return page.get_by_test_id("stMain").locator(".stMarkdownBadge").filter(has_not_text="Simulated", visible=True)


def test_region_is_found_by_name_and_a_figure_enlarged(open_app: Open) -> None:
    page = open_app("hubs?cohort=ad&hub_tab=region")
    wait_for_figures(page, *FIGURES["One region"])
    choose(page, "Region: choose it here", "Precuneus_R")
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
    page.get_by_text("Show NC in the background: mean ± SD of 20 subjects").click()
    expect(page.locator(".st-key-hub_curves").get_by_text("NC, mean ± SD")).to_be_visible()
    page.get_by_text("Five measures", exact=True).click()
    picture = page.get_by_role("img", name=re.compile("DC .degree., BC .betweenness."))
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.naturalWidth") > 1000


def test_cortex_is_painted_in_the_colours_of_the_bar_and_names_its_regions(open_app: Open, tmp_path: Path) -> None:
    """Under the mouse stands a region and its rank, and the pixel there has the colour of that rank on the bar."""
    page = open_app("subjects")
    page.locator(".st-key-files0 input[type=file]").set_input_files([named_series(tmp_path)])
    expect(page.get_by_test_id("stSidebar").get_by_text("Schaefer 100")).to_be_visible()
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Hubs").click()
    expect(page.locator(".st-key-hub_brain canvas").first).to_be_visible()
    choose(page, "Brain", "Inflated cortex")
    plot = page.locator(".st-key-hub_brain .js-plotly-plot")
    page.wait_for_function(
        "document.querySelectorAll('.st-key-hub_brain .js-plotly-plot .gl-container > div').length == 4"
    )
    wait_until_idle(page)
    move_into_the_middle(plot)
    shot = Image.open(BytesIO(page.screenshot())).convert("RGB")
    x, y, colour = middle_of_a_region(shot, plot)
    page.mouse.move(x - 2, y)
    page.mouse.move(x, y)
    said = plot.locator("g.hovertext")
    expect(said).to_contain_text("LH_")
    rank = float(re.search(r"rank by NE: ([\d.]+)", said.text_content() or "")[1])  # type: ignore[index]
    ends = [[int(end[i : i + 2], 16) for i in (1, 3, 5)] for end in (FIRST_COLOUR, LAST_COLOUR)]
    of_bar = [first + (rank - 1) / 99 * (last - first) for first, last in zip(*ends, strict=True)]
    assert colour == pytest.approx(of_bar, abs=3)


def middle_of_a_region(shot: Image.Image, plot: Locator) -> tuple[int, int, tuple[int, ...]]:
    """A place in the first view with one colour, of neither page nor bare cortex, all around; and that colour."""
    left, top, width, height = plot.evaluate(
        """plot => {
            const box = plot.getBoundingClientRect(), {l, t, w, h} = plot._fullLayout._size;
            return [box.left + l, box.top + t, w, h].map(Math.round);
        }"""
    )
    pixels = np.asarray(shot)
    around = 7
    for y in range(top + height // 10, top + height // 2 - around, 2):
        for x in range(left + around, left + width // 2 - around, 2):
            part = pixels[y - around : y + around + 1, x - around : x + around + 1].reshape(-1, 3)
            if (part == part[0]).all() and part[0].min() < 200:
                return x, y, tuple(part[0].tolist())
    pytest.fail("No region is painted.")


def named_series(folder: Path) -> Path:
    """A series whose columns are called as the parcels of Schaefer's atlas."""
    regions = load_atlas("schaefer100").regions
    series = np.random.default_rng(0).standard_normal((80, len(regions))).cumsum(axis=0)
    path = folder / "s1.csv"
    np.savetxt(path, series, fmt="%.4f", delimiter=",", header=",".join(regions), comments="")
    return path
