"""A real server, started as a user would from some other folder, and a real browser."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect, sync_playwright

HOME = Path(__file__).resolve().parents[2] / "app" / "Home.py"
START_S = 60
ACTION_MS = 120_000  # a machine without a graphics card draws brains slowly
expect.set_options(timeout=ACTION_MS)  # for all files: it is one setting of the process


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running app."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    port = _free_port()
    # No copies of what one test brings: they would be offered to the next. tests/served has their tests.
    copies = elsewhere / "data" / "biobgt" / "autosave"
    copies.mkdir(parents=True)
    (copies / "off").touch()
    surroundings = {**os.environ, "XDG_DATA_HOME": str(elsewhere / "data")}
    command = [sys.executable, "-m", "streamlit", "run", str(HOME)]
    options = ["--server.port", str(port), "--server.headless", "true"]
    log = elsewhere / "server.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [*command, *options], cwd=elsewhere, env=surroundings, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            address = f"http://localhost:{port}"
            _wait_until_healthy(address, process, log)
            yield address
        finally:
            process.terminate()
            process.wait(timeout=START_S)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, without a window; gone before tests of another folder, which may need the event loop."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.fail("The browser tests need Chromium. Install it with: sudo apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def visitor(browser: Browser) -> BrowserContext:
    """One visitor, whose cache saves loading the scripts for every test; each page is a session of its own."""
    return browser.new_context(color_scheme="light")


@pytest.fixture
def open_app(browser: Browser, visitor: BrowserContext, server: str) -> Iterator[Callable[..., Page]]:
    """Open a page of the app, ``open_app("subjects?cohort=ad")``; no page may fail or ask anything of the network."""
    pages: list[Page] = []
    problems: list[str] = []

    def note_request(request: Request) -> None:
        if not request.url.startswith((server, "data:", "blob:")):
            problems.append(f"{request.url} was asked for")

    def open_app(path: str = "", *, width: int = 1280, somebody_else: bool = False) -> Page:
        page = (browser.new_context(color_scheme="light") if somebody_else else visitor).new_page()
        pages.append(page)
        page.set_viewport_size({"width": width, "height": 900})
        page.set_default_timeout(ACTION_MS)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", note_request)
        page.goto(f"{server}/{path}")
        return page

    yield open_app
    for page in pages:
        page.close()
        if page.context is not visitor:
            page.context.close()
    assert problems == []


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return int(probe.getsockname()[1])


def _wait_until_healthy(address: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health"):
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    pytest.fail(f"The server did not start:\n{log.read_text()}")
