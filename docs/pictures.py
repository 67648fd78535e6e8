"""Take the pictures of the app's pages that the README shows, on the simulated demo cohorts.

python -m docs.pictures            all of them, into docs/img
python -m docs.pictures hubs home  some of them

A real server is started and a real browser (Debian's Chromium) looks at it; nothing is fetched.
"""

import io
import shutil
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

from benchmarks.visitors import Server, running_server

IMAGES = Path(__file__).parent / "img"
WIDTH, HEIGHT, SCREEN_HEIGHT = 1280, 1500, 800
HUB = "Cingulum_Ant_R"
LONGEST_MS = 300_000  # a machine without a graphics card draws brains slowly
STILL_MS = 3_000
UNDRAWN = ".stPlotlyChart:not(:has(.main-svg))"  # a figure that has come and is not drawn yet
QUALITY = 82


def main(*names: str) -> None:
    """Take the pictures of these names, or all."""
    unknown = set(names) - set(PICTURES)
    if unknown:
        sys.exit(f"There is no picture {', '.join(sorted(unknown))}. Choose from: {', '.join(PICTURES)}.")
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("The pictures need Chromium. Install it with: sudo apt-get install chromium")
    expect.set_options(timeout=LONGEST_MS)
    with TemporaryDirectory() as folder, started(Path(folder)) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name in names or PICTURES:
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
            page.set_default_timeout(LONGEST_MS)
            PICTURES[name](page, f"http://{server.address}")
            wait_until_still(page)
            save(page.screenshot(), IMAGES / f"{name}.webp")
            page.close()
        browser.close()


def started(folder: Path) -> AbstractContextManager[Server]:
    """A server that keeps no copies of what is brought: where they are is not for pictures."""
    copies = folder / "data" / "biobgt" / "autosave"
    copies.mkdir(parents=True)
    (copies / "off").touch()
    return running_server(folder)


def seen_at(path: str) -> Callable[[Page, str], None]:
    """A page as its address opens it."""

    def look(page: Page, address: str) -> None:
        page.goto(f"{address}/{path}")

    return look


def see_explore(page: Page, address: str) -> None:
    """The linked screen in a window that it fills, with a strong hub kept."""
    page.set_viewport_size({"width": WIDTH, "height": SCREEN_HEIGHT})
    page.goto(f"{address}/explore?cohort=ad&region={HUB}")
    expect(page.locator(".linked-tile .main-svg:first-child")).to_have_count(4)
    expect(page.locator(".linked-line strong")).to_have_text(HUB)


def see_export(page: Page, address: str) -> None:
    """The page of exports, with three figures of the Hubs page."""
    page.goto(f"{address}/hubs?hub_tab=agreement")
    wait_until_still(page)
    for i in range(3):
        page.get_by_role("button", name="Add to export").nth(i).click()
        expect(page.get_by_test_id("stToast").last).to_contain_text("Added to the export")
        wait_until_still(page)
    page.get_by_role("link", name="Export").click()
    expect(page.locator(".st-key-export_2 img")).to_be_visible()


def wait_until_still(page: Page) -> None:
    """Wait until the server has answered, everything is drawn, and no figure grows any more."""
    expect(page.locator("h1, .linked").first).to_be_visible()
    before = b""
    while True:
        expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
        expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
        page.wait_for_function(f"document.querySelectorAll('{UNDRAWN}').length === 0")
        page.wait_for_timeout(STILL_MS)
        now = page.screenshot()
        if now == before:
            return
        before = now


def save(picture: bytes, path: Path) -> None:
    """Write a picture as WebP, a fifth of the size of a PNG."""
    Image.open(io.BytesIO(picture)).convert("RGB").save(path, quality=QUALITY, method=6)
    print(f"{path}: {path.stat().st_size // 1000} kB")


PICTURES: dict[str, Callable[[Page, str], None]] = {
    "explore": see_explore,
    "home": seen_at(""),
    "subjects": seen_at("subjects"),
    "hubs": seen_at("hubs"),
    "modules": seen_at("modules"),
    "compare": seen_at("compare"),
    "attention": seen_at("attention"),
    "predict": seen_at("predict"),
    "models": seen_at("models"),
    "export": see_export,
}

if __name__ == "__main__":
    main(*sys.argv[1:])
