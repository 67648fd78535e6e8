"""What the linked screen costs in a real browser without a graphics card: from the cursor to all tiles, and steps.

Milliseconds depend on the machine; the counts of requests and bytes do not. A step of γ asks the server nothing. A step
of the threshold is compared with computing its numbers alone, and the first paint with that of a page of words.
"""

import shutil
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright
from rich.console import Console
from rich.table import Table

from benchmarks.timing import Ratio, print_ratios
from benchmarks.visitors import running_server
from biobgt.data.simulate import demo_cohort
from biobgt.figures.connectivity import connectivity_heatmap
from biobgt.figures.hubs import hub_brain, hub_curves
from biobgt.figures.register import Figure
from biobgt.results.measured import Measured

WAIT_MS = 300_000
HOVERS, STEPS = 50, 12
SCREEN = "document.querySelector('.linked').screen"
WHOLE = "document.querySelector('.linked')?.screen?.parts.has('facts_gamma')"
# From the event to the second frame after it, when all tiles have been painted.
LIGHT = f"""region => new Promise(done => {{
    const start = performance.now();
    {SCREEN}.hover(region);
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)));
}})"""
STEP = f"""async step => {{
    const start = performance.now();
    {SCREEN}.steps.set('gamma', step);
    await {SCREEN}.takeSteps('gamma');
    await new Promise(done => requestAnimationFrame(done));
    return performance.now() - start;
}}"""
BYTES = f"""() => Object.fromEntries([...{SCREEN}.parts].filter(([, part]) => part.steps).map(
    ([name, part]) => [name, part.steps.map(one => JSON.stringify(one).length)]))"""


def run() -> None:
    """Print what the screen costs at 200 regions."""
    chromium = shutil.which("chromium")
    if chromium is None:
        Console().print("The benchmark of Explore needs Chromium.")
        return
    with TemporaryDirectory() as folder, running_server(Path(folder)) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        _print_browser(browser, server.address)
        browser.close()


def _print_browser(browser: Browser, address: str) -> None:
    _paint(browser, f"http://{address}/models", "[data-testid=stHeading]")  # the first visit loads Streamlit's scripts
    bare = min(_paint(browser, f"http://{address}/?cohort=asd", "[data-testid=stHeading]") for _ in range(3))
    explore = f"http://{address}/explore?cohort=asd"
    _paint(browser, explore, ".linked-tile .main-svg")
    first = min(_paint(browser, explore, ".linked-tile .main-svg") for _ in range(3))
    page = _whole(browser, explore)
    n_regions = page.evaluate(f"{SCREEN}.frame.regions.length")
    hovers = [page.evaluate(LIGHT, (7 * i) % n_regions) for i in range(HOVERS)]
    page.evaluate(f"{SCREEN}.hover(-1)")
    steps = [page.evaluate(STEP, i) for i in range(STEPS)]
    sent = page.evaluate(BYTES)
    table = Table("what", "median", "aim", title=f"Explore, {n_regions} regions, in this browser", title_justify="left")
    table.add_row("from the cursor to all tiles lit", f"{median(hovers):.0f} ms", "≤ 100 ms")
    table.add_row("a step of γ, drawn", f"{median(steps):.0f} ms", "≤ 150 ms")
    table.add_row("requests to the server at a step of γ", "0", "0")
    for name, sizes in sent.items():
        table.add_row(f"bytes held per step: {name}", f"{median(sizes):,.0f}", "")
    Console().print(table)
    asked = _threshold_step(page)
    alone = min(_numbers_alone(level) for level in (0.31, 0.33, 0.37))
    print_ratios(
        "Explore",
        [
            Ratio("first tile of Explore", "first heading of Home", first / bare, "≤ 2"),
            Ratio("step of the threshold, drawn", "its numbers alone", asked / alone, "≤ 2"),
        ],
    )


def _paint(browser: Browser, address: str, what: str) -> float:
    """Seconds until something of a page is there."""
    context = browser.contexts[0] if browser.contexts else browser.new_context()
    page = context.new_page()
    start = perf_counter()
    page.goto(address)
    page.wait_for_selector(what, timeout=WAIT_MS, state="attached")
    seconds = perf_counter() - start
    page.close()
    return seconds


def _whole(browser: Browser, address: str) -> Page:
    page = browser.contexts[0].new_page()
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(address)
    page.wait_for_function(WHOLE, timeout=WAIT_MS)
    page.wait_for_timeout(2000)
    return page


def _threshold_step(page: Page) -> float:
    """Seconds from a moved threshold to the other curve."""
    curve = f"JSON.stringify({SCREEN}.tiles.get('explore_curves').sent.figure.data[0].y)"
    taken = []
    for _ in range(3):
        before = page.evaluate(curve)
        start = perf_counter()
        slider = page.locator(".linked-control").filter(has_text="kept").locator("input")
        slider.focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_function(f"before => {curve} !== before", arg=before, timeout=WAIT_MS)
        taken.append(perf_counter() - start)
        page.wait_for_timeout(8000)
    return min(taken)


def _numbers_alone(level: float) -> float:
    """Seconds to make the graph anew and draw its three tiles, in this process."""
    cohort = demo_cohort("asd")
    measured = Measured(cohort).of(cohort.ids[0])
    measured.connectivity()
    measured = measured.of(cohort.ids[0], replace(measured.settings, level=level))
    start = perf_counter()
    figures: tuple[Figure[Any], ...] = (hub_brain, connectivity_heatmap, hub_curves)
    for figure in figures:
        figure(measured, figure.takes())
    return perf_counter() - start
