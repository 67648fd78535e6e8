"""The page of subjects in a real browser: groups set in the table, a project saved as a file and opened by somebody."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from page_steps import assert_fits, badges, choose, move_into_the_middle, wait_until_idle
from playwright.sync_api import Page, expect
from test_browser_frame import title, upload, wait_until_drawn, write_abide

from biobgt.readers.project import open_project

pytestmark = pytest.mark.browser

Open = Callable[..., Page]
ROW_PX, TICK_PX = 35, 70
TABLE_TELLS_MS = 500  # a table tells its form what was ticked 150 ms later, before anybody else could press a button


def bring_subjects(page: Page, folder: Path) -> None:
    """Bring three subjects, two of them with a group."""
    groups = folder / "phenotypes.csv"
    groups.write_text("subject,group,site,age\nLab_0050000,ASD,here,12.5\nLab_0050001,NC,there,11\n")
    wait_until_drawn(page)
    page.locator(".st-key-phenotypes0 input[type=file]").set_input_files(groups)
    expect(page.get_by_text("Add the subjects' files as well")).to_be_visible()
    upload(page, *(write_abide(folder, f"Lab_005000{i}", seed=i) for i in range(3)))
    expect(page.get_by_text("Read 3 subjects on Craddock CC200: 1 NC, 1 ASD, 1 without a group.")).to_be_visible()
    expect(title(page)).to_have_text("Functional connectivity of Lab_0050000")
    expect(badges(page.locator("body"))).to_have_count(0)
    assert "Lab" not in page.url
    wait_until_drawn(page)


def tick(page: Page, row: int) -> None:
    """Tick a row of the table, which is a drawing: a click beside the tick, and from there with the keyboard."""
    wait_until_idle(page)
    table = page.get_by_test_id("stDataFrame").first
    move_into_the_middle(table)
    table.click(position={"x": TICK_PX + 40, "y": ROW_PX * (row + 1.5)})
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    page.wait_for_timeout(TABLE_TELLS_MS)


def test_group_of_any_name_is_set_for_ticked_subjects(open_app: Open, tmp_path: Path) -> None:
    page = open_app("subjects")
    bring_subjects(page, tmp_path)
    tick(page, 0)
    tick(page, 2)
    group = page.get_by_role("combobox", name=re.compile("Group of all ticked"))
    group.fill("first episode")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Set the groups").click()
    expect(page.get_by_text("Group set by hand: 2 subjects (Lab_0050000, Lab_0050002).")).to_be_visible()
    expect(page.get_by_text("Read 3 subjects on Craddock CC200: 1 NC, 2 first episode.")).to_be_visible()
    choose(page, "Subject", "Lab_0050002 · first episode")
    expect(title(page)).to_contain_text("Lab_0050002")


def test_folder_is_read_with_its_sub_folders_and_further_files_are_added(open_app: Open, tmp_path: Path) -> None:
    """What browsers send as the names of a folder's files is known only from a browser."""
    study = tmp_path / "study"
    for i in range(2):
        (study / f"sub-0{i}").mkdir(parents=True)
        write_abide(tmp_path, f"Lab_005000{i}", seed=i).rename(study / f"sub-0{i}" / "rois_cc200.1D")
    (study / ".git").mkdir()
    (study / ".git" / "config").write_text("hidden")
    (study / "participants.tsv").write_text("participant_id\tgroup\nsub-00\tNC\nsub-01\tASD\n")
    page = open_app("subjects")
    wait_until_drawn(page)
    page.locator(".st-key-folder0 input[type=file]").set_input_files(study)
    expect(page.get_by_text("Read 2 subjects on Craddock CC200: 1 NC, 1 ASD.")).to_be_visible()
    expect(title(page)).to_contain_text("sub-00")
    wait_until_drawn(page)
    page.get_by_test_id("stSidebarNav").get_by_text("Models").click()
    expect(page.get_by_role("heading", name="Models", exact=True)).to_be_visible()
    page.get_by_test_id("stSidebarNav").get_by_text("Subjects").click()
    page.locator("summary").filter(has_text="Add ").first.click()  # folded away, now that subjects are there
    expect(page.get_by_text("added to the 2 subjects loaded")).to_be_visible()
    upload(page, write_abide(tmp_path, "Lab_0050002", seed=2))
    expect(page.get_by_text("Read 3 subjects on Craddock CC200: 1 NC, 1 ASD, 1 without a group.")).to_be_visible()
    expect(page.get_by_text("Added: 1 subject (Lab_0050002).")).to_be_visible()


def test_project_is_saved_and_opened_by_somebody_else(open_app: Open, tmp_path: Path) -> None:
    mine = open_app("subjects?level=0.35")
    bring_subjects(mine, tmp_path)
    choose(mine, "Subject", "Lab_0050001 · NC")
    expect(title(mine)).to_contain_text("Lab_0050001")
    mine.get_by_text("Save or open a project").click()
    name = mine.get_by_role("textbox", name="Name of the project")
    name.fill("Our study")
    name.press("Enter")
    wait_until_drawn(mine)
    with mine.expect_download() as download:
        mine.get_by_role("button", name="Save the project").click()
    assert download.value.suggested_filename == "Our_study.biobgt"
    path = tmp_path / "Our_study.biobgt"
    download.value.save_as(path)
    project = open_project(path)
    assert project.cohort.ids == ("Lab_0050000", "Lab_0050001", "Lab_0050002")
    assert project.settings.level == 0.35

    yours = open_app("subjects", width=800, somebody_else=True)
    wait_until_drawn(yours)
    yours.get_by_text("Save or open a project").click()
    yours.locator(".st-key-project0 input[type=file]").set_input_files(path)
    expect(yours.get_by_text("Read 3 subjects on Craddock CC200: 1 NC, 1 ASD, 1 without a group.")).to_be_visible()
    expect(title(yours)).to_contain_text("Lab_0050001")
    expect(yours).to_have_url(re.compile("level=0.35"))
    assert "Lab" not in yours.url
    wait_until_drawn(yours)
    assert_fits(yours)


@pytest.mark.parametrize("width", [1280, 800])
def test_question_and_phenotype_box_are_in_sight_and_no_demo(open_app: Open, tmp_path: Path, width: int) -> None:
    """A table that can lie either way: the page asks, above the fold of the screen, and lists the file."""
    page = open_app("subjects", width=width)
    wait_until_drawn(page)
    table = tmp_path / "subject.csv"
    table.write_text("\n".join(",".join(str((7 * i * j) % 31 / 10) for j in range(30)) for i in range(40)))
    upload(page, table)
    expect(page.get_by_text("The table 'subject.csv' has 40 rows and 30 columns")).to_be_in_viewport()
    expect(page.locator(".st-key-phenotypes0")).to_be_in_viewport()
    expect(page.get_by_role("heading", name="Your files", exact=True)).to_be_visible()
    expect(page.get_by_role("heading", name="Quality")).to_have_count(0)
    assert_fits(page)
    page.get_by_text("rows are regions, columns are time points").click()
    expect(page.get_by_text(re.compile("Read 1 subject on 40 regions"))).to_be_visible()
    expect(title(page)).to_have_text("Functional connectivity of subject")
