"""The export in a real browser: a figure is added, the zip downloaded, every file parsed, and its script run."""

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from page_steps import assert_fits
from PIL import Image
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

Open = Callable[..., Page]
BIN = Path(sys.executable).parent


def test_figure_is_added_downloaded_in_every_format_and_made_again_by_the_script(
    open_app: Open, tmp_path: Path
) -> None:
    page = open_app("hubs?cohort=ad&subject=sim-AD-003&gamma=2&hub_tab=agreement")
    page.locator(".st-key-ne_fc_strength_export").get_by_role("button", name="Add to export").first.click()
    expect(page.get_by_test_id("stToast")).to_contain_text("Added to the export")
    page.get_by_role("link", name="Export").click()
    listed = page.locator(".st-key-export_0")
    expect(listed).to_contain_text("sim-AD-003")
    expect(listed.locator("img")).to_be_visible()
    page.get_by_role("button", name="Make the zip of 1 figure").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the zip of 1 figure").click()
    assert download.value.suggested_filename == "biobgt_figures.zip"
    download.value.save_as(tmp_path / "bundle.zip")
    for width in (1280, 800):
        page.set_viewport_size({"width": width, "height": 900})
        expect(listed.locator("img")).to_be_visible()
        assert_fits(page)
    folder = tmp_path / "bundle"
    with zipfile.ZipFile(tmp_path / "bundle.zip") as archive:
        archive.extractall(folder)
    check_formats(folder / "figures", "01_hub_scatter")
    check_script(folder)


def check_formats(folder: Path, name: str) -> None:
    svg = (folder / f"{name}.svg").read_text()
    assert re.search(r"<text[^>]*>simulated</text>", svg)  # no title by default, but who is simulated is always said
    pdf = (folder / f"{name}.pdf").read_bytes()
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf
    for suffix in ("png", "tiff"):
        with Image.open(folder / f"{name}.{suffix}") as picture:
            assert picture.width == round(85 / 25.4 * 300)
            assert [round(float(number)) for number in picture.info["dpi"]] == [300, 300]
            assert picture.mode == "RGB"


def check_script(folder: Path) -> None:
    env = {"PATH": f"{BIN}{os.pathsep}/usr/bin{os.pathsep}/bin", "HOME": str(folder)}
    finished = subprocess.run(["sh", str(folder / "make_figures.sh")], capture_output=True, text=True, env=env)
    assert finished.returncode == 0, finished.stderr
    first, again = (pd.read_csv(where / "numbers" / "01_hub_scatter.csv") for where in (folder, folder / "remade"))
    pd.testing.assert_frame_equal(first, again, rtol=0, atol=1e-12)
    assert len(first) == 90
