"""The report of a study in a real browser: nothing is asked of the network, all fits, and the numbers are in it."""

import base64
import io
from pathlib import Path
from urllib.parse import unquote

import pandas as pd
import pytest
from access_faults import assert_no_faults
from playwright.sync_api import Browser, Page

from biobgt.export.report.page import report_of
from biobgt.export.report.parts import Figures
from tests.made_study import ATLAS, FOUND_EDGES, FOUND_REGIONS, write_made_study

pytestmark = pytest.mark.browser
WIDTHS = (1280, 400)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    study = write_made_study(folder)
    (folder / "report.html").write_text(report_of(Figures(study), folder), encoding="utf-8")
    return folder / "report.html"


def opened(browser: Browser, report: Path, width: int) -> tuple[Page, list[str]]:
    page, asked = browser.new_page(), []
    page.set_viewport_size({"width": width, "height": 800})
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: asked.append(str(error)))
    page.on("console", lambda message: asked.append(message.text))
    page.goto(report.as_uri())
    return page, [url for url in asked if not url.startswith(("file:", "data:"))]


@pytest.mark.parametrize("width", WIDTHS)
def test_it_opens_offline_and_nothing_is_wider_than_the_page(browser: Browser, report: Path, width: int) -> None:
    page, foreign = opened(browser, report, width)
    assert foreign == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for link in page.locator("nav a").all():
        assert page.locator(str(link.get_attribute("href"))).count() == 1
    ids = page.eval_on_selector_all("[id]:not(svg, svg *)", "all => all.map(one => one.id)")
    assert len(ids) == len(set(ids))
    assert_no_faults(page)
    page.close()


def test_what_is_found_can_be_read_and_the_numbers_taken(browser: Browser, report: Path) -> None:
    page, _ = opened(browser, report, WIDTHS[0])
    summary = page.locator("#summary").inner_text()
    assert f"{len(FOUND_EDGES)} edges among 4 regions" in summary
    assert f"Node entanglement: {len(FOUND_REGIONS)} of 89 regions" in summary
    assert "Its <b>file</b> is empty." in page.locator("#people").inner_text()
    assert "[To complete: approval and consent]" in page.locator("#cobidas mark").all_inner_texts()
    assert page.locator("#centiles td").all_inner_texts() == ["q", "24", "50", "4.2 %", "0.0 %"]
    assert "Zalesky, A." in page.locator("#references").inner_text()
    figures = page.locator("figure")
    assert figures.locator("svg[role=img]").count() == figures.count() >= 10
    ring = page.locator("figure", has_text="Edges of a study on a ring")
    link = str(ring.get_by_role("link", name="Numbers (CSV)").get_attribute("href"))
    numbers = pd.read_csv(io.BytesIO(base64.b64decode(unquote(link).split(",", 1)[1])))
    found = numbers[numbers["found"]]
    assert found["statistic"].tolist() == sorted(FOUND_EDGES.values(), key=abs, reverse=True)
    assert set(found["region"]) == {ATLAS.regions[0]}
    page.close()


def test_it_is_printed_without_what_only_a_screen_needs(browser: Browser, report: Path) -> None:
    page, _ = opened(browser, report, WIDTHS[0])
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.close()
