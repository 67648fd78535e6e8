"""What the linked screen costs in a real browser without a graphics card: from the cursor to all tiles, and steps.

Milliseconds depend on the machine; the counts of requests and bytes do not. A step of γ asks the server nothing. A step
of the threshold, from the key to the second frame after all tiles that follow it were drawn and are no longer greyed,
is compared with computing its numbers alone; and the first tile that can be seen with the first heading of a page of
words. Both are measured in turns, and the browser has been to both pages before. The cursor is followed at 200 regions,
and at 1,000 of a subject that is uploaded.
"""

import shutil
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
from playwright.sync_api import Browser, FilePayload, Page, sync_playwright
from rich.console import Console
from rich.table import Table

from benchmarks.timing import Ratio, print_ratios
from benchmarks.visitors import running_server
from biobgt.data.atlas import load_atlas
from biobgt.data.simulate import demo_cohort
from biobgt.figures.connectivity import connectivity_heatmap
from biobgt.figures.hubs import hub_brain, hub_curves
from biobgt.figures.register import Figure
from biobgt.results.measured import Measured

WAIT_MS = 300_000
HOVERS, STEPS, PAINTS = 50, 12, 5
LEVELS = (0.31, 0.33, 0.35, 0.37, 0.39)
FINE, N_TIMEPOINTS = "schaefer1000", 160
SCREEN = "document.querySelector('.linked').screen"
# Whether everything that follows the tiles is there as well, the facts at every γ last.
WHOLE = """(screen => screen?.frame && screen.isCurrent('facts')
    && screen.parts.get('facts_gamma')?.version === screen.frame.versions.facts
)(document.querySelector('.linked')?.screen)"""
TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
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
    explore = f"http://{address}/explore?cohort=asd"
    looks = ((f"http://{address}/?cohort=asd", "[data-testid=stHeading]"), (explore, ".linked-tile .main-svg"))
    for look in looks * 2:  # the first visits load scripts, which the browser keeps
        _paint(browser, *look)
    bare, first = zip(*([_paint(browser, *look) for look in looks] for _ in range(PAINTS)), strict=True)
    page = _whole(browser, explore)
    n_regions, light = _lights(page)
    frames: list[object] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: frames.append(frame)))
    page.reload()
    _wait_until_whole(page)
    before = len(frames)
    steps = [page.evaluate(STEP, i) for i in range(STEPS)]
    requests = len(frames) - before
    sent = page.evaluate(BYTES)
    fine = browser.contexts[0].new_page()
    _bring_fine_subject(fine, address)
    n_fine, light_fine = _lights(fine)
    table = Table("what", "median", "aim", title="Explore, in this browser", title_justify="left")
    table.add_row(f"from the cursor to all tiles lit, {n_regions} regions", f"{light:.0f} ms", "≤ 100 ms")
    table.add_row(f"the same, {n_fine:,} regions", f"{light_fine:.0f} ms", "≤ 250 ms")
    table.add_row(f"a step of γ, drawn, {n_regions} regions", f"{median(steps):.0f} ms", "≤ 150 ms")
    table.add_row(f"messages to the server in {STEPS} steps of γ", str(requests), "0")
    for name, sizes in sent.items():
        table.add_row(f"bytes held per step: {name}", f"{median(sizes):,.0f}", "")
    Console().print(table)
    asked, alone = zip(*((_threshold_step(page), _numbers_alone(level)) for level in LEVELS), strict=True)
    print_ratios(
        "Explore",
        [
            Ratio("first tile of Explore", "first heading of Home", median(first) / median(bare), "≤ 2"),
            Ratio("step of the threshold, drawn", "its numbers alone", median(asked) / median(alone), "≤ 2"),
        ],
    )


def _paint(browser: Browser, address: str, what: str) -> float:
    """Seconds until something of a page is there."""
    context = browser.contexts[0] if browser.contexts else browser.new_context()
    page = context.new_page()
    start = perf_counter()
    page.goto(address)
    page.locator(what).first.wait_for(timeout=WAIT_MS)
    seconds = perf_counter() - start
    page.close()
    return seconds


def _whole(browser: Browser, address: str) -> Page:
    page = browser.contexts[0].new_page()
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(address)
    _wait_until_whole(page)
    return page


def _wait_until_whole(page: Page) -> None:
    page.wait_for_function(WHOLE, timeout=WAIT_MS)
    page.wait_for_timeout(2000)


def _lights(page: Page) -> tuple[int, float]:
    """How many regions there are, and the median of the milliseconds from the cursor to all tiles."""
    n_regions = page.evaluate(f"{SCREEN}.frame.regions.length")
    taken = [page.evaluate(LIGHT, (7 * i) % n_regions) for i in range(HOVERS)]
    page.evaluate(f"{SCREEN}.hover(-1)")
    return n_regions, median(taken)


def _bring_fine_subject(page: Page, address: str) -> None:
    """Upload noise of a fine atlas, and look at Explore once it is drawn."""
    atlas = load_atlas(FINE)
    values = np.random.default_rng(0).standard_normal((N_TIMEPOINTS, atlas.n_regions))
    lines = [",".join(atlas.regions), *(",".join(f"{value:.3f}" for value in row) for row in values)]
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"http://{address}/subjects")
    series = FilePayload(name="sub-01_timeseries.csv", mimeType="text/csv", buffer="\n".join(lines).encode())
    page.locator(".st-key-files0 input[type=file]").set_input_files(series)
    page.get_by_text(atlas.title).first.wait_for(timeout=WAIT_MS)
    page.get_by_role("link", name="Explore").first.click()
    page.wait_for_function(
        "document.querySelector('.linked')?.screen?.tiles.get('explore_people')?.sent?.figure", timeout=WAIT_MS
    )
    page.wait_for_timeout(2000)


def _threshold_step(page: Page) -> float:
    """Seconds from a moved threshold to the other pictures."""
    curve = f"JSON.stringify({SCREEN}.tiles.get('explore_curves').sent.figure.data[0].y)"
    shown = f"!{SCREEN}.showing && !document.querySelector('.linked-busy, .linked-stale')"
    before = page.evaluate(curve)
    page.locator(".linked-control").filter(has_text="kept").locator("input").focus()
    start = perf_counter()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"before => {curve} !== before && {shown}", arg=before, timeout=WAIT_MS)
    page.evaluate(TWO_FRAMES)
    taken = perf_counter() - start
    _wait_until_whole(page)
    return taken


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
