"""What a new user comes for, in eight clicks without scrolling: from the strongest hub to a figure of two panels."""

from pathlib import Path
from zipfile import ZipFile

import pytest
from page_steps import wait_until_idle
from playwright.sync_api import Locator, Page, expect
from test_browser_explore import SCREEN, Open, click_at, lit, name_of, open_screen

pytestmark = pytest.mark.browser

MOST_CLICKS = 8
SCROLLED = "document.querySelector('[data-testid=stMain]').scrollTop"
STRONGEST = f"""() => {{
    const {{customdata, y}} = {SCREEN}.tiles.get('explore_curves').plot._fullData.find(({{name}}) => name === 'NE');
    return customdata[y.indexOf(Math.max(...y))];
}}"""


class Hand:
    """Presses what is in sight, by pointer or by keys, and counts."""

    def __init__(self, page: Page, by: str) -> None:
        self.page, self.by, self.presses = page, by, 0

    def press(self, what: Locator, key: str = "Enter") -> None:
        expect(what).to_be_visible()
        if self.by == "pointer":
            what.click()
        else:
            what.focus()
            self.page.keyboard.press(key)
        self._count()

    def pin(self, region: int) -> None:
        if self.by == "pointer":
            click_at(self.page, "explore_curves", region)
        else:
            self.page.locator("[data-tile=explore_curves] .linked-plot").focus()
            for _ in range(region + 1):
                self.page.keyboard.press("ArrowRight")
            self.page.keyboard.press("Enter")
        self._count()

    def turn_to(self, mode: str, tile: str) -> None:
        self.press(self.page.get_by_role("radio", name=mode), "Space")
        expect(self.page.locator(f"[data-tile={tile}] .main-svg").first).to_be_attached()
        expect(self.page.locator(".linked")).to_have_count(1)

    def _count(self) -> None:
        self.presses += 1
        wait_until_idle(self.page)
        assert self.page.evaluate(SCROLLED) == 0


@pytest.mark.parametrize("by", ["pointer", "keys"])
def test_from_the_strongest_hub_to_a_figure_of_two_panels(open_app: Open, by: str, tmp_path: Path) -> None:
    page = open_screen(open_app)
    page.set_viewport_size({"width": 1280, "height": 800})
    hand, region = Hand(page, by), page.evaluate(STRONGEST)
    name = name_of(page, region)
    hand.pin(region)
    page.wait_for_url(lambda url: f"region={name}" in url)
    line = page.locator(".linked-line")
    expect(line.locator("strong")).to_have_text(name)
    expect(line).to_contain_text("module")
    expect(line).to_contain_text("NE rank 1 (hub)")
    expect(lit(page, "explore_brain").and_(page.locator("line")).first).to_be_attached()

    hand.turn_to("Group", "explore_group_brain")
    expect(lit(page, "explore_group_maps")).to_have_count(6)  # a cross in the maps of three groups
    looks = page.locator("[data-tile=explore_group_brain]")
    expect(looks.locator("> p").first).to_contain_text(f"Where {name} looks")
    hand.press(looks.get_by_role("button", name="Add to export"))
    expect(page.get_by_role("link", name="Export (1)")).to_be_visible()

    hand.turn_to("Difference", "explore_difference_brain")
    expect(line).to_contain_text("q 0.")
    people = page.locator("[data-tile=explore_people]")
    expect(people.locator("> p").first).to_contain_text("MCI − NC: d = ")
    hand.press(people.get_by_role("button", name="Add to export"))

    hand.press(page.get_by_role("link", name="Export (2)"))
    hand.press(page.get_by_role("button", name="Make the zip of 2 figures"))
    with page.expect_download() as download:
        hand.press(page.get_by_role("button", name="Download the zip of 2 figures"))
    assert hand.presses <= MOST_CLICKS
    download.value.save_as(tmp_path / "figures.zip")
    with ZipFile(tmp_path / "figures.zip") as written:
        captions = [written.read(one).decode() for one in written.namelist() if "caption" in one]
        assert any("panel" in one for one in written.namelist())
    assert sum(text.count(name) for text in captions) >= 2, "both panels are of the region that was pinned"
