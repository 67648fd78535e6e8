"""Workbooks of a few kilobytes that would keep the server busy for minutes: refused with a sentence, the rest loads."""

import zipfile

import numpy as np
import openpyxl
import pytest

from biobgt import InputError, read_cohort
from biobgt.atlas import numbered_atlas
from biobgt.limits import Limits
from biobgt.readers import read_phenotypes, workbook_cells, workbooks

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SHEET = f'<worksheet xmlns="{MAIN}"><sheetData>%s</sheetData></worksheet>'
ROWS = [["subject", "group"], ["s1", "AD"]]


def workbook(path, rows=ROWS):
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for row in rows:
        sheet.append(row)
    book.save(path)


def with_part(path, part, content):
    """Write a good workbook, one of whose parts has another content."""
    workbook(path.with_name("good.xlsx"))
    with zipfile.ZipFile(path.with_name("good.xlsx")) as old, zipfile.ZipFile(path, "w", 8) as new:
        for name in old.namelist():
            new.writestr(name, content if name == part else old.read(name))
    path.with_name("good.xlsx").unlink()


def subject(folder):
    np.savetxt(folder / "s1.csv", np.random.default_rng(0).standard_normal((20, 3)), "%.4f", ",")


def test_a_row_of_a_very_high_number_is_refused_where_excel_ends(tmp_path):
    sheet = SHEET % '<row r="2000000000"><c r="A2000000000"><v>1</v></c></row>'
    with_part(tmp_path / "p.xlsx", "xl/worksheets/sheet1.xml", sheet)
    with pytest.raises(InputError, match="rows beyond 1,048,576, the last one of Excel"):
        read_phenotypes(tmp_path / "p.xlsx")


def test_empty_cells_before_far_ones_are_counted():
    """Each row is 18,278 cells that hold nothing; the eleventh one is not looked at."""
    taken = []

    def far_rows():
        for number in range(300_000):
            taken.append(number)
            yield (None,) * 18_278

    with pytest.raises(InputError, match=r"201,058 cells; at most 200,000.*BIOBGT_MAX_TABLE_CELLS"):
        workbook_cells._rows_within(far_rows(), Limits(table_cells=200_000))
    assert len(taken) == 11


def test_what_a_workbook_is_refused_for_reaches_the_user(tmp_path, monkeypatch):
    subject(tmp_path)
    workbook(tmp_path / "people.xlsx")
    limits = []

    def too_slow(*asked, limit):
        limits.append(limit)
        raise InputError("Reading it took longer than 20 seconds, so it was stopped.")

    monkeypatch.setattr(workbooks, "read_isolated", too_slow)
    cohort = read_cohort(tmp_path, atlas=numbered_atlas(3))
    assert cohort.ids == ("s1",)
    assert [(one.file, one.reason) for one in cohort.refused] == [
        ("people.xlsx", "Reading it took longer than 20 seconds, so it was stopped.")
    ]
    assert set(limits) == {"workbook_seconds"}


def test_a_file_that_is_only_named_as_a_workbook_is_left_aside_as_before(tmp_path):
    """Excel leaves such files beside a workbook that is open."""
    subject(tmp_path)
    (tmp_path / "~$people.xlsx").write_bytes(b"\x05owner" + bytes(159))
    cohort = read_cohort(tmp_path, atlas=numbered_atlas(3))
    assert cohort.refused == ()
    assert any("1 × .xlsx" in note for note in cohort.notes)
