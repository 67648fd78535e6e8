"""NumPy files and archives that were damaged or made to fill the memory: one sentence each, and quickly."""

import io
import zipfile

import numpy as np
import pytest

from biobgt import InputError, read_cohort
from biobgt.data.atlas import numbered_atlas
from biobgt.readers.formats import ReadOptions, read_file
from biobgt.readers.project import open_project

OPTIONS = ReadOptions()


def npy(header: str, data: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    """An ``.npy`` file behind any header."""
    text = header.encode("latin-1")
    length = len(text).to_bytes(2 if version == b"\x01\x00" else 4, "little")
    return b"\x93NUMPY" + version + length + text + data


def described(shape: str, descr: str = "'<f8'", order: str = "False") -> str:
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"


HEADERS = {
    "TokenError": described("(2,"),
    "OverflowError": described("(99999999999999999999999, 2)"),
    "IndexError": described("(3, 2)", descr="('<f8',)"),
    "RecursionError": described("(" * 3000 + "2" + ")" * 3000),
    "negative": described("(-1, 5)"),
    "true": described("(True, 5)"),
    "no type": described("(3, 2)", descr="'no such type'"),
    "objects": described("(3, 2)", descr="'|O'"),
    "huge text": described("(3, 2)", descr="'<U999999999'"),
    "no tuple": described("7"),
    "words": "{'descr'",
    "null": "\x00" * 60,
    "nothing": "",
    "extra": described("(3, 2)") + "; import os",
    "dimensions": described("(1, " * 1 + ", ".join(["2"] * 60) + ")"),
    "no values": described("(0, 5)"),
    "a nothing type": described("(3, 2)", descr="'<U0'"),
}


@pytest.mark.parametrize("version", [b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x09\x00"])
@pytest.mark.parametrize("name", HEADERS)
def test_damaged_headers_get_a_sentence(tmp_path, name, version):
    content = npy(HEADERS[name], np.ones(30).tobytes(), version)
    (tmp_path / "x.npy").write_bytes(content)
    with pytest.raises(InputError) as of_array:
        read_file(tmp_path / "x.npy", OPTIONS)
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("data.npy", content)
    with pytest.raises(InputError) as of_archive:
        read_file(tmp_path / "x.npz", OPTIONS)
    assert all(str(error.value).endswith(".") for error in (of_array, of_archive))


@pytest.mark.parametrize("order", ["True", "False"])
def test_both_orders_come_back_as_numpy_reads_them(tmp_path, rng, order):
    values = rng.standard_normal((7, 5))
    np.save(tmp_path / "x.npy", np.asfortranarray(values) if order == "True" else values)
    np.testing.assert_array_equal(read_file(tmp_path / "x.npy", OPTIONS)[0].values, values)


def test_a_header_that_declares_more_than_the_file_has_takes_no_memory(tmp_path):
    (tmp_path / "x.npy").write_bytes(npy(described("(1200, 90000)"), bytes(100)))
    with pytest.raises(InputError, match=r"864,000,000 bytes long by its header and the file has 100"):
        read_file(tmp_path / "x.npy", OPTIONS)
    (tmp_path / "x.npy").write_bytes(npy(described("(22000, 22000)"), bytes(100)))
    with pytest.raises(InputError, match="BIOBGT_MAX_CELLS=484000000"):
        read_file(tmp_path / "x.npy", OPTIONS)


def test_only_what_is_needed_of_an_archive_is_read(tmp_path, rng):
    """An array of no use that is damaged does not keep the others from being read."""
    values = rng.standard_normal((30, 5))
    np.savez(tmp_path / "x.npz", data=values, note=np.ones(2_000))
    content = (tmp_path / "x.npz").read_bytes()
    where = content.rfind(np.ones(50).tobytes())
    (tmp_path / "x.npz").write_bytes(content[:where] + b"\xff" * 8 + content[where + 8 :])
    np.testing.assert_array_equal(read_file(tmp_path / "x.npz", OPTIONS)[0].values, values)


def test_a_cohort_that_declares_odd_lengths(tmp_path):
    for lengths in (
        np.array([2**63 - 1, 2**63 - 1, 6]),
        np.array([2**64 - 1, 5], "u8"),
        np.array([-4, 8]),
        np.zeros(0, int),
    ):
        np.savez(tmp_path / "x.npz", series=np.ones((4, 3)), n_timepoints=lengths)
        with pytest.raises(InputError, match="add up to"):
            read_file(tmp_path / "x.npz", OPTIONS)


def test_ten_million_subjects_of_two_regions_are_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((2_000_000, 2, 2), "i1"))
    with pytest.raises(InputError, match="BIOBGT_MAX_SUBJECTS"):
        read_file(tmp_path / "x.npy", OPTIONS)


def test_an_id_of_ten_thousand_characters_is_refused(tmp_path, rng):
    np.savez(tmp_path / "x.npz", series=rng.standard_normal((8, 3)), n_timepoints=[4, 4], subject=["a" * 10_000, "b"])
    with pytest.raises(InputError, match="10,000 characters in a subject's id"):
        read_cohort(tmp_path / "x.npz", atlas=numbered_atlas(3))


def test_names_that_are_no_text_are_refused(tmp_path, rng):
    names = np.array(["a", "b"])
    names.view("u4")[0] = 0xD800  # half of a pair
    np.savez(tmp_path / "x.npz", series=rng.standard_normal((8, 3)), n_timepoints=[4, 4], subject=names)
    with pytest.raises(InputError, match="not UTF-8 text"):
        read_cohort(tmp_path / "x.npz", atlas=numbered_atlas(3))
    names.view("u4")[0] = 0xFFFFFFFF  # no character at all
    np.savez(tmp_path / "x.npz", series=rng.standard_normal((8, 3)), n_timepoints=[4, 4], subject=names)
    with pytest.raises(InputError, match="are no text"):
        read_cohort(tmp_path / "x.npz", atlas=numbered_atlas(3))


def test_subjects_add_up_over_a_cohort(tmp_path, rng, monkeypatch):
    for i in range(6):
        np.save(tmp_path / f"{i}.npy", rng.standard_normal((100, 5)))
    monkeypatch.setenv("BIOBGT_MAX_COHORT_BYTES", "20000")
    with pytest.raises(InputError, match=r"The cohort has 19\.5 kB|BIOBGT_MAX_COHORT_BYTES=24000"):
        read_cohort(tmp_path, atlas=numbered_atlas(5))
    monkeypatch.setenv("BIOBGT_MAX_COHORT_BYTES", "24000")
    assert len(read_cohort(tmp_path, atlas=numbered_atlas(5))) == 6
    monkeypatch.setenv("BIOBGT_MAX_SUBJECTS", "5")
    with pytest.raises(InputError, match="BIOBGT_MAX_SUBJECTS=6"):
        read_cohort(tmp_path, atlas=numbered_atlas(5))


def test_too_many_regions_are_refused_with_the_way_to_raise_the_limit(tmp_path, rng, monkeypatch):
    np.save(tmp_path / "x.npy", rng.standard_normal((200, 1_500)))
    with pytest.raises(InputError, match=r"1,500 regions; at most 1,200 regions are read.*BIOBGT_MAX_REGIONS=1500"):
        read_cohort(tmp_path / "x.npy", atlas=numbered_atlas(1_500))
    monkeypatch.setenv("BIOBGT_MAX_REGIONS", "1500")
    assert read_cohort(tmp_path / "x.npy", atlas=numbered_atlas(1_500)).atlas.n_regions == 1_500


def entries(count: int, name: str) -> bytes:
    """An archive with so many entries; with one name, all are duplicates."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("project.json", "{}")
        for i in range(count):
            entry = zipfile.ZipInfo(name.format(i))
            archive.filelist.append(entry)  # in the list alone, where they cost
            entry.header_offset = entry.CRC = 0
    return stream.getvalue()


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_archives_of_very_many_files_are_refused_by_their_list_alone(tmp_path):
    (tmp_path / "x.zip").write_bytes(entries(90_000, "{:06}.csv"))
    with pytest.raises(InputError, match="BIOBGT_MAX_MEMBERS"):
        read_cohort(tmp_path / "x.zip")
    with pytest.raises(InputError, match="BIOBGT_MAX_MEMBERS"):
        open_project(io.BytesIO(entries(60_000, "arrays/x.npy")))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_very_many_duplicates_in_a_project_get_a_sentence(monkeypatch):
    monkeypatch.setenv("BIOBGT_MAX_MEMBERS", "100000")
    with pytest.raises(InputError, match="overlaps what comes after it"):
        open_project(io.BytesIO(entries(60_000, "arrays/x.npy")))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("project.json", '{"format": "biobgt project", "version": 1, "arrays": {"arrays/x.npy": {}}}')
        for _ in range(5_000):
            archive.writestr("arrays/x.npy", b"")
    with pytest.raises(InputError, match=r"'arrays/x\.npy' is missing, twice there, or does not belong"):
        open_project(stream)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_entries_that_cannot_be_unpacked_are_refused_and_the_rest_is_read(tmp_path, bold, method):
    table = "\n".join(",".join(f"{value:.6f}" for value in row) for row in bold(120, 90))
    with zipfile.ZipFile(tmp_path / "x.zip", "w", method) as archive:
        archive.writestr("bad.csv", table)
        archive.writestr("good.csv", table)
    data = bytearray((tmp_path / "x.zip").read_bytes())
    data[200:400] = b"\xff" * 200  # zlib.error, OSError, BadZipFile: each its own
    (tmp_path / "x.zip").write_bytes(data)
    cohort = read_cohort(tmp_path / "x.zip", atlas="aal90")
    assert cohort.ids == ("good",)
    assert cohort.refused[0].file == "bad.csv"


def test_methods_and_names_that_python_does_not_know(tmp_path, bold):
    table = "\n".join(",".join(f"{value:.6f}" for value in row) for row in bold(120, 90))
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("bäd.csv", table)
        archive.writestr("good.csv", table)
    whole = (tmp_path / "x.zip").read_bytes()
    unknown_method = bytearray(whole)
    for signature, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        where = unknown_method.find(signature) + offset
        unknown_method[where : where + 2] = (97).to_bytes(2, "little")
    (tmp_path / "x.zip").write_bytes(unknown_method)  # NotImplementedError
    assert read_cohort(tmp_path / "x.zip", atlas="aal90").ids == ("good",)
    (tmp_path / "x.zip").write_bytes(whole.replace("ä".encode(), b"\xff\xff"))  # UnicodeDecodeError
    with pytest.raises(InputError, match="not a complete zip archive"):
        read_cohort(tmp_path / "x.zip", atlas="aal90")


def test_folders_in_folders_in_an_archive_are_refused(tmp_path, bold):
    table = "\n".join(",".join(f"{value:.6f}" for value in row) for row in bold(120, 90))
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("/".join(["d"] * 40) + "/deep.csv", table)
        archive.writestr("a\x00b.csv", table)
        archive.writestr("n" * 300 + ".csv", table)
        archive.writestr("good.csv", table)
    cohort = read_cohort(tmp_path / "x.zip", atlas="aal90")
    assert "good" in cohort.ids
    assert sum("too long" in refusal.reason for refusal in cohort.refused) == 2


def test_an_entry_without_a_name_and_an_archive_that_is_none_cost_no_other(tmp_path, bold):
    table = "\n".join(",".join(f"{value:.6f}" for value in row) for row in bold(120, 90))
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("q", table)
        archive.writestr("good.csv", table)
    data = (tmp_path / "x.zip").read_bytes()
    (tmp_path / "x.zip").write_bytes(data.replace(b"\x01\x00\x00\x00q", b"\x00\x00\x01\x00q"))  # a name of length 0
    (tmp_path / "bad.zip").write_bytes(b"PK\x03\x04 and nothing else")
    (tmp_path / "alone.csv").write_text(table)
    cohort = read_cohort([tmp_path / "bad.zip", tmp_path / "alone.csv", tmp_path / "x.zip"], atlas="aal90")
    assert "alone" in cohort.ids
    assert "bad.zip" in [refusal.file for refusal in cohort.refused]
