"""The app in a real browser: it loads, reacts, keeps its settings, opens links, reads files, keeps sessions apart."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from access_faults import assert_accessible
from page_steps import assert_fits, badges, choose, full_caption, wait_for_figures, wait_until_idle
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser
SMALL_FIGURES = ("first_module_brain", "first_hub_curves", "first_attention_maps")

Open = Callable[..., Page]


def heatmap(page: Page) -> Locator:
    return page.locator(".st-key-connectivity .js-plotly-plot")


def wait_until_drawn(page: Page) -> None:
    wait_for_figures(page, "connectivity", "distribution")


def title(page: Page) -> Locator:
    return heatmap(page).locator(".gtitle").first  # while it changes, the old one is there too


COUNTS = "JSON.stringify(document.querySelector('.st-key-distribution .js-plotly-plot').data[0].y)"


def other_counts(page: Page, before: str) -> str:
    """Wait until the distribution holds other numbers than before, and return them."""
    page.wait_for_function(f"before => {COUNTS} !== before", arg=before)
    return str(page.evaluate(COUNTS))


def write_abide(folder: Path, subject: str, seed: int) -> Path:
    """Write a file as ABIDE's Preprocessed Connectomes Project does."""
    series = np.random.default_rng(seed).standard_normal((80, 200))
    path = folder / f"{subject}_rois_cc200.1D"
    header = "\t".join(f"#{i}" for i in range(1, 201))
    np.savetxt(path, series, fmt="%.6f", delimiter="\t", header=header, comments="")
    return path


def upload(page: Page, *files: Path) -> None:
    page.locator(".st-key-files0 input[type=file]").set_input_files(list(files))


def alarms(page: Page) -> Locator:
    """Warnings and errors; what a model is worth stands in a blue box, which is neither."""
    return page.get_by_test_id("stAlertContentError").or_(page.get_by_test_id("stAlertContentWarning"))


@pytest.mark.parametrize("path", ["attention", "models", "export"])
def test_page_of_models_loads_without_an_alarm(open_app: Open, path: str) -> None:
    page = open_app(path, width=800)
    expect(page.get_by_role("heading", name=path.capitalize(), exact=True)).to_be_visible()
    wait_until_idle(page)
    expect(page.get_by_test_id("stException")).to_have_count(0)
    expect(alarms(page)).to_have_count(0)
    assert_accessible(page)


def test_page_of_predictions_shows_probabilities_and_says_what_they_are_not(open_app: Open) -> None:
    page = open_app("predict", width=800)
    expect(page.locator(".st-key-place .js-plotly-plot .main-svg").first).to_be_visible()
    expect(page.get_by_text("Research use only, not a diagnostic device").first).to_be_visible()
    shares = page.get_by_test_id("stMetricValue").all_inner_texts()
    assert len(shares) == 2
    assert sum(int(share.removesuffix("%")) for share in shares) in (99, 100, 101)
    expect(page.get_by_test_id("stException")).to_have_count(0)
    expect(page.get_by_test_id("stAlertContentError")).to_have_count(0)
    assert_fits(page)
    assert_accessible(page)


def assert_whole(page: Page) -> None:
    """Nothing failed, warns, sticks out or is cut off, and what is simulated says so, once."""
    expect(page.get_by_test_id("stException")).to_have_count(0)
    expect(alarms(page)).to_have_count(0)
    expect(badges(page.locator("body"))).to_have_count(1)
    assert_fits(page)


@pytest.mark.parametrize("width", [1280, 800])
def test_home_opens_on_three_figures_above_the_fold(open_app: Open, width: int) -> None:
    page = open_app(width=width)
    wait_for_figures(page, *SMALL_FIGURES)
    assert_whole(page)
    if width == 1280:
        boxes = [page.locator(f".st-key-{key}").bounding_box() for key in SMALL_FIGURES]
        assert max(box["y"] + box["height"] for box in boxes if box) < 800
        assert len({box["y"] for box in boxes if box}) == 1, "not side by side"


@pytest.mark.parametrize("width", [1280, 800])
def test_page_of_subjects_loads_whole(open_app: Open, width: int) -> None:
    page = open_app("subjects", width=width)
    wait_until_drawn(page)
    assert_whole(page)
    # The theme comes from the folder of the app; the server was started in another.
    sidebar = page.get_by_test_id("stSidebar")
    assert sidebar.evaluate("element => getComputedStyle(element).backgroundColor") == "rgb(242, 246, 247)"
    if width == 1280:
        assert_accessible(page)


def test_subject_and_threshold_change_the_figures(open_app: Open) -> None:
    page = open_app("subjects")
    wait_until_drawn(page)
    expect(title(page)).to_contain_text("sim-NC-001")
    assert "The graph keeps 2,461" in full_caption(page, "distribution")
    before = page.evaluate(COUNTS)
    choose(page, "Subject", "sim-ASD-002 · ASD")
    expect(title(page)).to_contain_text("sim-ASD-002")
    after_subject = other_counts(page, before)
    caption = full_caption(page, "distribution")
    assert "subject sim-ASD-002: connectivity over 19,900 pairs" in caption
    page.get_by_role("slider").press("ArrowRight")
    expect(page).to_have_url(re.compile("level=0.31"))
    other_counts(page, after_subject)
    assert full_caption(page, "distribution") != caption


def test_settings_are_kept_around_the_pages(open_app: Open) -> None:
    page = open_app("subjects")
    wait_until_drawn(page)
    choose(page, "Subject", "sim-ASD-005 · ASD")
    page.get_by_test_id("stSidebar").get_by_text("Share", exact=True).click()
    expect(page.get_by_text("Share of pairs kept")).to_be_visible()
    expect(page).to_have_url(re.compile("subject=sim-ASD-005.*threshold=proportional.*level=0.1"))
    for name, heading in (("Home", "BioBGT Explorer"), ("Subjects", "Subjects")):
        page.get_by_test_id("stSidebarNav").get_by_role("link", name=re.compile(name)).click()
        expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
        if name == "Subjects":
            wait_until_drawn(page)
            expect(title(page)).to_contain_text("sim-ASD-005")
            assert "(10.0 %), drawn in blue" in full_caption(page, "distribution")
        else:
            expect(page.get_by_text("Shown: sim-ASD-005")).to_be_visible()
        expect(page).to_have_url(re.compile("subject=sim-ASD-005.*threshold=proportional.*level=0.1"))


def test_bad_address_says_what_is_shown_instead_as_plain_text(open_app: Open) -> None:
    page = open_app("subjects?cohort=%3Cimg%20src=x%3E&subject=%5Ba%5D(http://example.org)&level=9")
    wait_until_drawn(page)
    warning = page.get_by_test_id("stAlertContentWarning")
    expect(warning).to_contain_text("The link's cohort '<img src=x>' is not available here")
    expect(warning).to_contain_text(re.compile(r"'\[a\]\(http:.?//example\.org\)'"))  # parted, or it became a link
    expect(warning).to_contain_text("'9'")
    assert warning.locator("img, a").count() == 0
    expect(title(page)).to_contain_text("sim-NC-001")


def test_broken_file_is_a_sentence(open_app: Open, tmp_path: Path) -> None:
    broken = tmp_path / "broken.1D"
    broken.write_text("#1\t#2\n1.0\tpear\n2.0\t3.0\n")
    page = open_app("subjects")
    wait_until_drawn(page)
    upload(page, broken)
    expect(page.get_by_test_id("stAlert")).to_contain_text(
        "'broken.1D' could not be read. Line 2, column 2 holds 'pear' where a number belongs."
    )
    expect(page.get_by_role("heading", name="Your files")).to_be_visible()  # in the place of the demo
    expect(title(page)).to_have_count(0)


def test_sessions_at_once_never_see_each_other(open_app: Open, tmp_path: Path) -> None:
    pages = {name: open_app("subjects", somebody_else=bool(name)) for name in ("Mine_0050001", "Yours_0050002", "")}
    for name, page in pages.items():
        wait_until_drawn(page)
        if name:
            upload(page, write_abide(tmp_path, name, seed=1))
    for name, page in pages.items():
        expect(title(page)).to_contain_text(name or "sim-NC-001")
        text = page.locator("body").inner_text()
        assert [other for other in pages if other and other != name and other in text] == []
        page.get_by_role("combobox", name=re.compile("Cohort")).click()
        expect(page.get_by_role("option")).to_have_count(4 if name else 3)
        page.keyboard.press("Escape")
        page.get_by_role("combobox", name=re.compile("Subject")).click()
        expect(page.get_by_role("option", name=re.compile(name or "sim-NC-001")).first).to_be_visible()
        assert page.get_by_role("option", name=re.compile("_0050")).count() == bool(name)


def sidebar_width(page: Page) -> float:
    box = page.get_by_test_id("stSidebar").bounding_box()
    assert box is not None
    return box["width"]


def test_sidebar_leaves_a_narrow_page_to_the_figures(open_app: Open) -> None:
    page = open_app("models", width=800)
    wait_until_idle(page)
    narrow = "document.querySelector('[data-testid=stSidebar]').getBoundingClientRect().width <= 240"
    page.wait_for_function(narrow)  # of 800 px; Streamlit's own takes 300
    inside = page.evaluate(
        "[...document.querySelectorAll('[data-testid=stSidebarUserContent] *')]"
        ".map(one => one.getBoundingClientRect().right).reduce((one, other) => Math.max(one, other))"
    )
    assert inside <= sidebar_width(page) + 1, "nothing in it is cut"
    page.set_viewport_size({"width": 1280, "height": 900})
    page.wait_for_function("document.querySelector('[data-testid=stSidebar]').getBoundingClientRect().width === 300")
