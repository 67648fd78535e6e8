"""Tables, workbooks and atlases made to do harm are refused in a sentence, and quickly."""

import datetime
import io
import re
import zipfile

import numpy as np
import openpyxl
import pytest
from reading import as_text, read_beside_a_good_one, reasons, refused, save_table, workbook, zipped

from biobgt import InputError, ReadOptions, load_atlas, read_cohort
from biobgt.base.errors import ReaderFault
from biobgt.base.limits import Limits
from biobgt.readers import cohort as subject_files
from biobgt.readers import read_atlas, read_phenotypes, workbooks
from biobgt.readers.foreign import tables as workbook_cells
from biobgt.readers.formats import read_file

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SHARED_STRINGS = (
    b'<Override PartName="/xl/sharedStrings.xml" ContentType="application/vnd.openxmlformats-officedocument.'
    b'spreadsheetml.sharedStrings+xml"/>'
)
SHEET = f'<worksheet xmlns="{MAIN}"><sheetData>%s</sheetData></worksheet>'
SHEET_1, WORKBOOK, STYLES = "xl/worksheets/sheet1.xml", "xl/workbook.xml", "xl/styles.xml"
CONTENT_TYPES = "[Content_Types].xml"
ELEMENTS = r"has 1,[46]\d\d,\d\d\d XML elements; at most 400,000 .*BIOBGT_MAX_WORKBOOK_ELEMENTS"
AFFINE = np.diag([4.0, 4.0, 4.0, 1.0])


@pytest.mark.parametrize("separator", [",", "\t", " ", ";"])
def test_a_million_columns_are_refused_before_they_are_split(tmp_path, separator):
    for cell, sentence in {"0.1234567": r"line.*BIOBGT_MAX_LINE_CHARACTERS", "1": "BIOBGT_MAX_TIMEPOINTS"}.items():
        (tmp_path / "x.csv").write_text((separator.join([cell] * 1_000_000) + "\n") * 2)
        refused(sentence, read_file, tmp_path / "x.csv", ReadOptions())


def test_a_line_and_a_table_without_end_are_refused(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"1.5," * 20_000_000)
    refused("80,000,000 characters in one line", read_file, tmp_path / "x.csv", ReadOptions())
    refused(r"has 76\.3 MB; at most 64 MB", read_phenotypes, tmp_path / "x.csv")
    (tmp_path / "x.csv").write_text("1,2,3\n" * 150_000)
    refused("149,999 time points", read_file, tmp_path / "x.csv", ReadOptions())


@pytest.mark.parametrize(
    "content", [b"\xef\xbb\xbf", b"\xef\xbb\xbf\n\n", b",,,,\n,,,,\n", b"\t\t\n", b";;;", b'"",""\n', b"\xff\xfe"]
)
def test_marks_and_separators_alone_get_a_sentence(tmp_path, content):
    for name, read in (("p.csv", read_phenotypes), ("a.csv", read_atlas), ("a.node", read_atlas)):
        (tmp_path / name).write_bytes(content)
        refused(name, read, tmp_path / name)
    (tmp_path / "s.csv").write_bytes(content)
    with pytest.raises(InputError):
        read_file(tmp_path / "s.csv", ReadOptions())


@pytest.mark.parametrize(
    ("columns", "rows", "limit"), [(20_000, 10, "COLUMNS"), (3, 200_000, "ROWS"), (900, 9_000, "CELLS")]
)
def test_phenotypes_beyond_the_limits_are_refused_at_once(tmp_path, columns, rows, limit):
    header = ",".join(["subject", *(f"c{i}" for i in range(columns - 1))])
    row = "," + ",".join(["1"] * (columns - 1))
    (tmp_path / "p.csv").write_text(header + "\n" + "".join(f"s{i}{row}\n" for i in range(rows)))
    refused(f"BIOBGT_MAX_TABLE_{limit}", read_phenotypes, tmp_path / "p.csv")


@pytest.mark.parametrize("name", ["p.csv", "p.xlsx"])
def test_a_table_as_large_as_documented_is_read(tmp_path, name):
    rows = [["subject", *(f"c{i}" for i in range(99))]]
    rows += [[f"s{i}", *["a word"] * 49, *(float(j) + i / 7 for j in range(50))] for i in range(1_000)]
    if name == "p.xlsx":
        workbook(tmp_path / name, rows)
    else:
        (tmp_path / name).write_text("\n".join(",".join(map(str, row)) for row in rows))
    assert read_phenotypes(tmp_path / name).table.shape == (1_000, 100)


@pytest.mark.parametrize(
    ("name", "text"), [("a.csv", "x,y,z,label\n" + "1,2,3,same\n" * 60_000), ("a.node", "1 2 3 4 5 same\n" * 60_000)]
)
def test_an_atlas_of_sixty_thousand_rows_is_refused(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    refused("60,000 regions", read_atlas, tmp_path / name)


def test_an_atlas_whose_labels_are_missing_or_twice(tmp_path):
    (tmp_path / "a.csv").write_text("x,y,z,label\n1,2,3,A\n4,5,6,n/a\n7,8,9,\n")
    assert read_atlas(tmp_path / "a.csv").regions == ("A", "Region (2)", "Region (3)")
    (tmp_path / "a.csv").write_text("x,x,y,z,label\n1,1,2,3,A\n4,4,5,6,B\n")
    refused("two columns named 'x'", read_atlas, tmp_path / "a.csv")


def test_a_workbook_is_read_as_its_table_is(tmp_path):
    header, when = ["subject", "group", "age", None, "seen"], datetime.date(2026, 1, 31)
    rows = [header, ["007", "AD", 70.5, 1, None], [], [50952.0, "NC", 71.0, None, when]]
    table = read_phenotypes(workbook(tmp_path / "p.xlsx", rows)).table
    assert table["subject"].tolist() == ["007", "50952"]
    assert table["group"].tolist() == ["AD", "NC"]
    assert table["age"].tolist() == [70.5, 71]
    assert table["seen"].iloc[1] == datetime.datetime(2026, 1, 31)
    assert list(table.columns) == ["subject", "age", "column 4", "seen", "group"]


def test_a_workbook_with_one_far_cell_is_its_few_cells(tmp_path):
    book = openpyxl.Workbook()
    book.active["A1"], book.active["B1"], book.active["A2"], book.active["B2"] = "subject", "group", "s1", "AD"
    book.active["A1048576"] = "s2"
    book.save(tmp_path / "p.xlsx")
    assert read_phenotypes(tmp_path / "p.xlsx").table["subject"].tolist() == ["s1", "s2"]
    book.active["XFD1048576"] = "far"
    book.save(tmp_path / "p.xlsx")
    refused("BIOBGT_MAX_TABLE_COLUMNS", read_phenotypes, tmp_path / "p.xlsx")


def with_parts(path, parts, rows=(("subject", "group"), ("s1", "AD"))):
    """Write a good workbook, some of whose parts have another content, or that has more of them."""
    with zipfile.ZipFile(workbook(path, rows)) as old:
        contents = {name: old.read(name) for name in old.namelist()}
    changed = {part: made(contents) if callable(made) else made for part, made in parts.items()}
    path.write_bytes(zipped(contents | changed))


def test_a_workbook_of_repeated_strings_is_refused(tmp_path):
    """One long text, named by three thousand cells: a small file, and many megabytes of words."""
    parts = {
        SHEET_1: lambda was: re.sub(rb' t="n"><v>[0-9]+', b' t="s"><v>0', was[SHEET_1]),
        CONTENT_TYPES: lambda was: was[CONTENT_TYPES].replace(b"</Types>", SHARED_STRINGS + b"</Types>"),
        "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}"><si><t>{"y" * 30_000}</t></si></sst>',
    }
    with_parts(tmp_path / "p.xlsx", parts, [[i] for i in range(1, 3001)])
    assert (tmp_path / "p.xlsx").stat().st_size < 50_000
    refused(r"first sheet has 64 MB.*BIOBGT_MAX_TABLE_BYTES", read_phenotypes, tmp_path / "p.xlsx")


@pytest.mark.parametrize(
    ("part", "content", "sentence"),
    [
        (SHEET_1, SHEET % (("<row>" + '<c t="s"><v>0</v></c>' * 2_000 + "</row>") * 400), ELEMENTS),
        (SHEET_1, SHEET % (("<row>" + "<c/>" * 1_900 + "</row>") * 760), ELEMENTS),
        ("xl/sharedStrings.xml", f'<sst xmlns="{MAIN}">' + "<si><t>ab</t></si>" * 800_000 + "</sst>", ELEMENTS),
        (SHEET_1, SHEET % ("<row/>" * 1_600_000), ELEMENTS),
        (SHEET_1, (SHEET % ("<row/>" * 1_600_000)).encode("utf-16"), ELEMENTS),
        (
            WORKBOOK,
            f'<workbook xmlns="{MAIN}"><sheets>' + '<sheet name="S" sheetId="1"/>' * 20_000 + "</sheets></workbook>",
            r"'people\.xlsx' has 20,000 sheets; at most 100 .*BIOBGT_MAX_WORKBOOK_SHEETS",
        ),
        (
            WORKBOOK,
            f'<x:workbook xmlns:x="{MAIN}"><x:sheets>' + "<x:sheet/>" * 101 + "</x:sheets></x:workbook>",
            "has 101 sheets",
        ),
        (
            STYLES,
            f'<styleSheet xmlns="{MAIN}"><cellXfs>' + "<xf/>" * 80_000 + "</cellXfs></styleSheet>",
            r"has 80,002 XML elements of styles; at most 70,000 .*BIOBGT_MAX_WORKBOOK_STYLES",
        ),
    ],
    ids=["cells", "empty cells", "strings", "rows", "UTF-16", "sheets", "sheets with a prefix", "styles"],
)
def test_a_workbook_that_takes_openpyxl_minutes_is_refused_before_it_is_read(
    tmp_path, monkeypatch, part, content, sentence
):
    with_parts(tmp_path / "people.xlsx", {part: content})
    assert (tmp_path / "people.xlsx").stat().st_size < 300_000
    monkeypatch.setattr(workbooks, "read_isolated", lambda *_, **__: pytest.fail("it was read"))
    assert re.search(sentence, reasons(read_beside_a_good_one(tmp_path))["people.xlsx"])


ENTITY = '<!DOCTYPE worksheet [<!ENTITY a "<row/>">]>' + SHEET % ("&a;" * 10)
FAR_ROW = SHEET % '<row r="2000000000"><c r="A2000000000"><v>1</v></c></row>'


@pytest.mark.parametrize(
    ("sheet", "sentence"),
    [
        (ENTITY.encode(), "declares a document type"),
        (ENTITY.encode("utf-16"), "declares a document type"),
        (FAR_ROW, "rows beyond 1,048,576, the last one of Excel"),
    ],
    ids=["document type", "document type in UTF-16", "far row"],
)
def test_a_sheet_that_excel_does_not_write_is_refused(tmp_path, sheet, sentence):
    with_parts(tmp_path / "p.xlsx", {SHEET_1: sheet})
    refused(sentence, read_phenotypes, tmp_path / "p.xlsx")


@pytest.mark.parametrize("part", [WORKBOOK, SHEET_1, CONTENT_TYPES, STYLES])
@pytest.mark.parametrize(
    "content", [b"", b"<a", b"\xff" * 50, b"<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>"]
)
def test_damaged_parts_of_a_workbook_get_a_sentence(tmp_path, part, content):
    with_parts(tmp_path / "phenotypes.xlsx", {part: content})
    cohort = read_beside_a_good_one(tmp_path)
    words = " ".join([*reasons(cohort).values(), *cohort.notes, str(cohort.subjects[0].phenotypes)])
    assert "fault of this program" not in words
    assert "root:" not in words


def test_links_that_lead_in_circles_or_out_are_refused_and_the_rest_is_read(tmp_path):
    outside = {"passwd.csv": "/etc/passwd", "participants.tsv": "/etc/passwd"}
    links = {"a.csv": "b.csv", "b.csv": "a.csv", "me.csv": "me.csv", "again": tmp_path, **outside}
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)
    found = reasons(read_beside_a_good_one(tmp_path))
    assert set(found) == set(links)
    assert all("link" in reason for reason in found.values())


def test_what_no_reader_foresaw_is_one_refused_file(tmp_path, monkeypatch):
    """The last line of defence: an error of our own costs one file, says so, and is told apart."""
    original = subject_files.read_file

    def read(path, *arguments, **options):
        if path.name == "bad.csv":
            raise RecursionError
        return original(path, *arguments, **options)

    monkeypatch.setattr(subject_files, "read_file", read)
    save_table(tmp_path / "bad.csv")
    assert ReaderFault.FAULT in reasons(read_beside_a_good_one(tmp_path))["bad.csv"]


def test_a_table_of_too_many_named_regions_is_one_refused_file(tmp_path, bold):
    """Numbers under two thousand names, as a phenotype table may have them, are no other atlas of the cohort."""
    regions = load_atlas("aal90").regions
    for name, header in {"a": regions, "b": regions, "c": ["x" * 600, *regions[1:]]}.items():
        (tmp_path / f"{name}.csv").write_text(",".join(header) + "\n" + as_text(bold(120, 90)))
    wide = [["subject", *(f"c{i}" for i in range(2000))], ["1", *["2.5"] * 2000], ["2", *["1.5"] * 2000]]
    (tmp_path / "scores.tsv").write_text("\n".join("\t".join(row) for row in wide))
    cohort = read_cohort(tmp_path)
    assert cohort.ids == ("a", "b")
    assert "2,001 regions; at most 1,200" in reasons(cohort)["scores.tsv"]
    assert "600 characters in a region's name" in reasons(cohort)["c.csv"]


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


def test_a_file_that_is_only_named_as_a_workbook_is_left_aside_as_before(tmp_path):
    """Excel leaves such files beside a workbook that is open."""
    (tmp_path / "~$people.xlsx").write_bytes(b"\x05owner" + bytes(159))
    cohort = read_beside_a_good_one(tmp_path)
    assert cohort.refused == ()
    assert any("1 × .xlsx" in note for note in cohort.notes)


def test_sheets_are_counted_across_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(workbooks, "_PIECE", 5)
    part = io.BytesIO(b'<sheets><sheet name="a"/><sheetData/><x:sheet/><sheet></sheet></sheets>')
    assert workbooks._count_elements(part, "p.xlsx") == (5, 3)


@pytest.mark.parametrize("refused", [False, True])
def test_a_cohort_reads_a_workbook_once_and_says_what_it_is_refused_for(tmp_path, monkeypatch, refused):
    workbook(tmp_path / "people.xlsx")
    original, read = workbooks.read_isolated, []

    def counted(*asked, limit):
        read.append(limit)
        if refused:
            raise InputError("It is damaged.")
        return original(*asked, limit=limit)

    monkeypatch.setattr(workbooks, "read_isolated", counted)
    for times in (1, 2):  # nothing of a person is kept for the next cohort
        cohort = read_beside_a_good_one(tmp_path)
        assert read == ["workbook_seconds"] * times
        assert reasons(cohort) == ({"people.xlsx": "It is damaged."} if refused else {})
        assert cohort["s1"].group == (None if refused else "AD")


def test_a_workbook_that_changes_is_read_again(tmp_path):
    with workbooks.each_workbook_once():
        first = read_phenotypes(workbook(tmp_path / "p.xlsx")).table
        workbook(tmp_path / "p.xlsx", [["subject", "group"], ["s1", "AD"], ["s2", "NC"]])
        assert (len(first), len(read_phenotypes(tmp_path / "p.xlsx").table)) == (1, 2)


def test_tables_are_kept_up_to_the_size_of_one(tmp_path, monkeypatch):
    monkeypatch.setenv("BIOBGT_MAX_TABLE_CELLS", "5")
    with workbooks.each_workbook_once() as kept:
        for name in ("a.xlsx", "b.xlsx", "c.xlsx"):
            read_phenotypes(workbook(tmp_path / name))
    assert [path.name for path, _, _ in kept] == ["a.xlsx", "b.xlsx"]
