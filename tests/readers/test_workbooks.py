"""Tables, workbooks and atlases made to do harm are refused in a sentence, and quickly."""

import gzip
import io
import re
import zipfile

import nibabel
import numpy as np
import openpyxl
import pytest
from reading import refused, save_table, workbook

from biobgt import ImageOptions, InputError, ReadOptions, load_atlas, read_cohort
from biobgt.base.limits import Limits
from biobgt.data.atlas import numbered_atlas
from biobgt.readers import foreign_tables as workbook_cells
from biobgt.readers import read_atlas, read_phenotypes
from biobgt.readers import tables as workbooks
from biobgt.readers.formats import read_file

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SHARED_STRINGS = (
    b'<Override PartName="/xl/sharedStrings.xml" ContentType="application/vnd.openxmlformats-officedocument.'
    b'spreadsheetml.sharedStrings+xml"/>'
)
SHEET = f'<worksheet xmlns="{MAIN}"><sheetData>%s</sheetData></worksheet>'
SHEET_1, WORKBOOK, STYLES = "xl/worksheets/sheet1.xml", "xl/workbook.xml", "xl/styles.xml"
ELEMENTS = r"has 1,[46]\d\d,\d\d\d XML elements; at most 400,000 .*BIOBGT_MAX_WORKBOOK_ELEMENTS"
AFFINE = np.diag([4.0, 4.0, 4.0, 1.0])


@pytest.mark.parametrize("separator", [",", "\t", " ", ";"])
def test_a_million_columns_are_refused_before_they_are_split(tmp_path, separator):
    (tmp_path / "x.csv").write_text((separator.join(["0.1234567"] * 1_000_000) + "\n") * 2)
    refused(r"characters in one line.*BIOBGT_MAX_LINE_CHARACTERS", read_file, tmp_path / "x.csv", ReadOptions())
    (tmp_path / "x.csv").write_text((separator.join(["1"] * 1_000_000) + "\n") * 2)
    refused(r"time points.*BIOBGT_MAX_TIMEPOINTS", read_file, tmp_path / "x.csv", ReadOptions())


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
    words = [f"word {i}" for i in range(49)]
    rows = [["subject", *(f"c{i}" for i in range(99))]]
    rows += [[f"s{i}", *words, *(float(j) + i / 7 for j in range(50))] for i in range(1_000)]
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
    import datetime

    workbook(
        tmp_path / "p.xlsx",
        [
            ["subject", "group", "age", None, "seen"],
            ["007", "AD", 70.5, 1, None],
            [],
            [50952.0, "NC", 71.0, None, datetime.date(2026, 1, 31)],
        ],
    )
    table = read_phenotypes(tmp_path / "p.xlsx").table
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


def test_a_workbook_of_repeated_strings_is_refused(tmp_path):
    """One long text, named by three thousand cells: a small file, and many megabytes of words."""
    workbook(tmp_path / "numbers.xlsx", [[i] for i in range(1, 3001)])
    with zipfile.ZipFile(tmp_path / "numbers.xlsx") as old, zipfile.ZipFile(tmp_path / "p.xlsx", "w", 8) as new:
        for name in old.namelist():
            content = old.read(name)
            if name == SHEET_1:
                content = re.sub(rb' t="n"><v>[0-9]+', b' t="s"><v>0', content)
            if name == "[Content_Types].xml":
                content = content.replace(b"</Types>", SHARED_STRINGS + b"</Types>")
            new.writestr(name, content)
        new.writestr("xl/sharedStrings.xml", f'<sst xmlns="{MAIN}"><si><t>{"y" * 30_000}</t></si></sst>')
    assert (tmp_path / "p.xlsx").stat().st_size < 50_000
    refused(r"first sheet has 64 MB.*BIOBGT_MAX_TABLE_BYTES", read_phenotypes, tmp_path / "p.xlsx")


def with_part(path, part, content):
    """Write a good workbook, one of whose parts has another content, or that has one more."""
    workbook(path.with_name("good.xlsx"))
    with zipfile.ZipFile(path.with_name("good.xlsx")) as old, zipfile.ZipFile(path, "w", 8) as new:
        for name in {**dict.fromkeys(old.namelist()), part: None}:
            new.writestr(name, content if name == part else old.read(name))
    path.with_name("good.xlsx").unlink()


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
    save_table(tmp_path / "s1.csv")
    with_part(tmp_path / "people.xlsx", part, content)
    assert (tmp_path / "people.xlsx").stat().st_size < 300_000
    read = []
    monkeypatch.setattr(workbooks, "read_isolated", lambda *asked, **how: read.append(asked))
    cohort = read_cohort(tmp_path, atlas=numbered_atlas(3))
    assert cohort.ids == ("s1",)
    assert re.search(sentence, cohort.refused[0].reason)
    assert not read


def test_elements_are_counted_across_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(workbooks, "_PIECE", 7)
    with zipfile.ZipFile(workbook(tmp_path / "p.xlsx")) as archive:
        parts = [archive.read(name) for name in archive.namelist()]
        n_elements = sum(len(re.findall(rb"<(?!/)", part)) for part in parts)
        workbooks._check_elements(archive, "p.xlsx", Limits(workbook_elements=n_elements))
        limits = Limits(workbook_elements=n_elements - 1)
        refused(f"has {n_elements} XML elements", workbooks._check_elements, archive, "p.xlsx", limits)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_workbook_with_a_document_type_is_refused(tmp_path, encoding):
    sheet = '<!DOCTYPE worksheet [<!ENTITY a "<row/>">]>' + SHEET % ("&a;" * 10)
    with_part(tmp_path / "p.xlsx", SHEET_1, sheet.encode(encoding))
    refused("declares a document type", read_phenotypes, tmp_path / "p.xlsx")


@pytest.mark.parametrize("part", [WORKBOOK, SHEET_1, "[Content_Types].xml", STYLES])
@pytest.mark.parametrize(
    "content", [b"", b"<a", b"\xff" * 50, b"<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>"]
)
def test_damaged_parts_of_a_workbook_get_a_sentence(tmp_path, part, content):
    with_part(tmp_path / "phenotypes.xlsx", part, content)
    save_table(tmp_path / "s1.csv")
    cohort = read_cohort(tmp_path, atlas=numbered_atlas(3))
    assert cohort.ids == ("s1",)
    words = " ".join([*(one.reason for one in cohort.refused), *cohort.notes, str(cohort.subjects[0].phenotypes)])
    assert "fault of this program" not in words
    assert "root:" not in words


@pytest.fixture
def labels(tmp_path):
    data = np.zeros((6, 5, 4), np.int16)
    data[:3], data[3:] = 1, 2
    nibabel.save(nibabel.Nifti1Image(data, AFFINE), tmp_path / "labels.nii")
    return ImageOptions(labels=tmp_path / "labels.nii")


def image(path, shape=(6, 5, 4, 10), dtype=np.int16):
    nibabel.save(nibabel.Nifti1Image(np.ones(shape, dtype), AFFINE), path)
    return bytearray(path.read_bytes())


def test_an_image_that_declares_more_than_its_file_has_takes_no_memory(tmp_path, labels):
    content = image(tmp_path / "x.nii")
    content[42:50] = np.array([900, 900, 900, 2], "<i2").tobytes()  # dim[1] to dim[4]
    (tmp_path / "x.nii").write_bytes(content)
    with pytest.raises(InputError, match="its header declares 2,916,000,000 bytes and the file has"):
        read_file(tmp_path / "x.nii", ReadOptions(image=labels))
    content[42:50] = np.array([30_000, 30_000, 30_000, 2], "<i2").tobytes()
    (tmp_path / "x.nii").write_bytes(content)
    refused("BIOBGT_MAX_VOXELS", read_file, tmp_path / "x.nii", ReadOptions(image=labels))


def test_an_image_that_unpacks_to_gigabytes_is_refused_by_its_header(tmp_path, labels):
    content = image(tmp_path / "x.nii")
    content[42:50] = np.array([500, 500, 500, 5], "<i2").tobytes()
    with gzip.open(tmp_path / "x.nii.gz", "wb", 9) as file:
        file.write(bytes(content) + bytes(2**27))
    refused("BIOBGT_MAX_RATIO", read_file, tmp_path / "x.nii.gz", ReadOptions(image=labels))


@pytest.mark.parametrize(
    ("where", "what"),
    [
        (40, b"\xff\xff"),
        (70, b"\x00\x00"),
        (70, b"\x80\x00"),
        (108, b"\x00\x00\x80\x7f"),
        (123, b"\xff"),
        (254, b"\xff\x7f"),
        (0, b"\x00"),
        (344, b"ni1\x00"),
    ],
    ids=["dimensions", "no type", "colours", "offset", "unit", "code", "length", "pair"],
)
def test_damaged_headers_of_images_get_a_sentence_or_are_read(tmp_path, labels, where, what):
    content = image(tmp_path / "x.nii")
    content[where : where + len(what)] = what
    (tmp_path / "x.nii").write_bytes(content)
    np.savetxt(tmp_path / "good.csv", np.random.default_rng(0).standard_normal((20, 2)), "%.4f", ",", header="a,b")
    cohort = read_cohort(
        [tmp_path / "good.csv", tmp_path / "x.nii"], atlas=numbered_atlas(2), options=ReadOptions(image=labels)
    )
    assert "good" in cohort.ids
    assert not any("fault of this program" in refusal.reason for refusal in cohort.refused)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 1e30, 2.5])
def test_labels_that_are_no_whole_numbers_get_a_sentence(tmp_path, value):
    image(tmp_path / "x.nii")
    data = np.zeros((6, 5, 4), np.float32)
    data[:3], data[3:] = 1, value
    nibabel.save(nibabel.Nifti1Image(data, AFFINE), tmp_path / "l.nii")
    with pytest.raises(InputError, match="must hold a whole number for each region"):
        read_file(tmp_path / "x.nii", ReadOptions(image=ImageOptions(labels=tmp_path / "l.nii")))


def test_confounds_that_are_links_out_of_the_folder_are_not_read(tmp_path, labels):
    folder = tmp_path / "study"
    folder.mkdir()
    name = "sub-01_task-rest_desc-preproc_bold.nii"
    image(folder / name)
    (folder / "sub-01_task-rest_desc-confounds_timeseries.tsv").symlink_to("/etc/passwd")
    options = ImageOptions(labels=labels.labels, confounds="simple")
    refused("link that leads out of the folder", read_file, folder / name, ReadOptions(image=options))


def test_links_that_lead_in_circles_or_out_are_refused_and_the_rest_is_read(tmp_path):
    folder = tmp_path / "study"
    folder.mkdir()
    save_table(folder / "good.csv")
    (folder / "a.csv").symlink_to("b.csv")
    (folder / "b.csv").symlink_to("a.csv")
    (folder / "me.csv").symlink_to("me.csv")
    (folder / "again").symlink_to(folder, target_is_directory=True)
    (folder / "passwd.csv").symlink_to("/etc/passwd")
    (folder / "participants.tsv").symlink_to("/etc/passwd")
    cohort = read_cohort(folder, atlas=numbered_atlas(3))
    assert cohort.ids == ("good",)
    reasons = {refusal.file: refusal.reason for refusal in cohort.refused}
    assert set(reasons) == {"a.csv", "b.csv", "me.csv", "again", "passwd.csv", "participants.tsv"}
    assert all("link" in reason for reason in reasons.values())


def test_what_no_reader_foresaw_is_one_refused_file(tmp_path, monkeypatch):
    """The last line of defence: an error of our own costs one file, says so, and is told apart."""
    from biobgt.base.errors import ReaderFault
    from biobgt.readers import cohort as subject_files

    original = subject_files.read_file

    def read(path, *arguments, **options):
        if path.name == "bad.csv":
            raise RecursionError
        return original(path, *arguments, **options)

    monkeypatch.setattr(subject_files, "read_file", read)
    for name in ("bad", "good"):
        save_table(tmp_path / f"{name}.csv")
    cohort = read_cohort(tmp_path, atlas=numbered_atlas(3))
    assert cohort.ids == ("good",)
    assert ReaderFault.FAULT in cohort.refused[0].reason


def test_a_table_of_too_many_named_regions_is_one_refused_file(tmp_path, bold):
    """Numbers under twenty thousand names, as a phenotype table may have them, are no other atlas of the cohort."""
    for name in ("a", "b"):
        np.savetxt(
            tmp_path / f"{name}.csv",
            bold(120, 90),
            "%.4f",
            ",",
            header=",".join(load_atlas("aal90").regions),
            comments="",
        )
    wide = [["subject", *(f"c{i}" for i in range(2000))], ["1", *["2.5"] * 2000], ["2", *["1.5"] * 2000]]
    (tmp_path / "scores.tsv").write_text("\n".join("\t".join(row) for row in wide))
    long = ["x" * 600, *(f"r{i}" for i in range(89))]
    np.savetxt(tmp_path / "c.csv", bold(120, 90), "%.4f", ",", header=",".join(long), comments="")
    cohort = read_cohort(tmp_path)
    assert cohort.ids == ("a", "b")
    reasons = {one.file: one.reason for one in cohort.refused}
    assert "2,001 regions; at most 1,200" in reasons["scores.tsv"]
    assert "600 characters in a region's name" in reasons["c.csv"]


def test_a_row_of_a_very_high_number_is_refused_where_excel_ends(tmp_path):
    with_part(tmp_path / "p.xlsx", SHEET_1, SHEET % '<row r="2000000000"><c r="A2000000000"><v>1</v></c></row>')
    refused("rows beyond 1,048,576, the last one of Excel", read_phenotypes, tmp_path / "p.xlsx")


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
    save_table(tmp_path / "s1.csv")
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
    save_table(tmp_path / "s1.csv")
    (tmp_path / "~$people.xlsx").write_bytes(b"\x05owner" + bytes(159))
    cohort = read_cohort(tmp_path, atlas=numbered_atlas(3))
    assert cohort.refused == ()
    assert any("1 × .xlsx" in note for note in cohort.notes)


def test_sheets_are_counted_across_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(workbooks, "_PIECE", 5)
    part = io.BytesIO(b'<sheets><sheet name="a"/><sheetData/><x:sheet/><sheet></sheet></sheets>')
    assert workbooks._count_elements(part, "p.xlsx") == (5, 3)


@pytest.mark.parametrize("refused", [False, True])
def test_a_cohort_reads_a_workbook_once(tmp_path, monkeypatch, refused):
    save_table(tmp_path / "s1.csv")
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
        first = read_phenotypes(workbook(tmp_path / "p.xlsx")).table
        workbook(tmp_path / "p.xlsx", [["subject", "group"], ["s1", "AD"], ["s2", "NC"]])
        assert (len(first), len(read_phenotypes(tmp_path / "p.xlsx").table)) == (1, 2)


def test_tables_are_kept_up_to_the_size_of_one(tmp_path, monkeypatch):
    monkeypatch.setenv("BIOBGT_MAX_TABLE_CELLS", "5")
    with workbooks.each_workbook_once() as kept:
        for name in ("a.xlsx", "b.xlsx", "c.xlsx"):
            read_phenotypes(workbook(tmp_path / name))
    assert [path.name for path, _, _ in kept] == ["a.xlsx", "b.xlsx"]
