"""Workbooks of a few kilobytes that would keep the server busy for minutes: refused with a sentence, the rest loads."""

import io
import re
import zipfile

import numpy as np
import openpyxl
import pytest

from biobgt import InputError, read_cohort
from biobgt.base.limits import Limits
from biobgt.data.atlas import numbered_atlas
from biobgt.readers import foreign_tables as workbook_cells
from biobgt.readers import read_phenotypes
from biobgt.readers import tables as workbooks

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


@pytest.mark.parametrize(
    ("part", "content", "sentence"),
    [
        (
            "xl/workbook.xml",
            f'<workbook xmlns="{MAIN}"><sheets>' + '<sheet name="S" sheetId="1"/>' * 20_000 + "</sheets></workbook>",
            r"'people\.xlsx' has 20,000 sheets; at most 100 .*BIOBGT_MAX_WORKBOOK_SHEETS",
        ),
        (
            "xl/workbook.xml",
            f'<x:workbook xmlns:x="{MAIN}"><x:sheets>' + "<x:sheet/>" * 101 + "</x:sheets></x:workbook>",
            "has 101 sheets",
        ),
        (
            "xl/styles.xml",
            f'<styleSheet xmlns="{MAIN}"><cellXfs>' + "<xf/>" * 80_000 + "</cellXfs></styleSheet>",
            r"has 80,002 XML elements of styles; at most 70,000 .*BIOBGT_MAX_WORKBOOK_STYLES",
        ),
        (
            "xl/worksheets/sheet1.xml",
            SHEET % (("<row>" + "<c/>" * 1_900 + "</row>") * 760),
            r"has 1,44\d,\d\d\d XML elements; at most 400,000 .*BIOBGT_MAX_WORKBOOK_ELEMENTS",
        ),
    ],
    ids=["sheets", "sheets with a prefix", "styles", "cells"],
)
def test_a_workbook_that_takes_openpyxl_minutes_is_refused_before_it_is_read(
    tmp_path, monkeypatch, part, content, sentence
):
    subject(tmp_path)
    with_part(tmp_path / "people.xlsx", part, content)
    read = []
    monkeypatch.setattr(workbooks, "read_isolated", lambda *asked, **how: read.append(asked))
    cohort = read_cohort(tmp_path, atlas=numbered_atlas(3))
    assert cohort.ids == ("s1",)
    assert re.search(sentence, cohort.refused[0].reason)
    assert not read


def test_sheets_are_counted_across_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(workbooks, "_PIECE", 5)
    part = io.BytesIO(b'<sheets><sheet name="a"/><sheetData/><x:sheet/><sheet></sheet></sheets>')
    assert workbooks._count_elements(part, "p.xlsx") == (5, 3)


def test_a_table_as_large_as_documented_is_read(tmp_path):
    words = [f"word {i}" for i in range(49)]
    rows = [["subject", *(f"c{i}" for i in range(99))]]
    rows += [[f"s{i}", *words, *(float(j) + i / 7 for j in range(50))] for i in range(1_000)]
    workbook(tmp_path / "p.xlsx", rows)
    assert read_phenotypes(tmp_path / "p.xlsx").table.shape == (1_000, 100)


@pytest.mark.parametrize("refused", [False, True])
def test_a_cohort_reads_a_workbook_once(tmp_path, monkeypatch, refused):
    subject(tmp_path)
    workbook(tmp_path / "people.xlsx")
    original, read = workbooks.read_isolated, []

    def counted(*asked, **how):
        read.append(asked)
        if refused:
            raise InputError("It is damaged.")
        return original(*asked, **how)

    monkeypatch.setattr(workbooks, "read_isolated", counted)
    cohort = read_cohort(tmp_path, atlas=numbered_atlas(3))
    assert len(read) == 1
    assert [one.reason for one in cohort.refused] == (["It is damaged."] if refused else [])
    assert cohort["s1"].group == (None if refused else "AD")
    read_cohort(tmp_path, atlas=numbered_atlas(3))
    assert len(read) == 2  # nothing of a person is kept for the next cohort


def test_a_workbook_that_changes_is_read_again(tmp_path):
    with workbooks.each_workbook_once():
        workbook(tmp_path / "p.xlsx")
        first = read_phenotypes(tmp_path / "p.xlsx").table
        workbook(tmp_path / "p.xlsx", [*ROWS, ["s2", "NC"]])
        assert (len(first), len(read_phenotypes(tmp_path / "p.xlsx").table)) == (1, 2)


def test_tables_are_kept_up_to_the_size_of_one(tmp_path, monkeypatch):
    monkeypatch.setenv("BIOBGT_MAX_TABLE_CELLS", "5")
    for name in ("a.xlsx", "b.xlsx", "c.xlsx"):
        workbook(tmp_path / name)
    kept = workbooks._Kept()
    for name in ("a.xlsx", "b.xlsx", "c.xlsx"):
        kept.read(tmp_path / name)
    assert [path.name for path, _, _ in kept.outcomes] == ["a.xlsx", "b.xlsx"]
