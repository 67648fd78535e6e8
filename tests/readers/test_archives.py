"""Zip archives: a folder of subjects inside, and the ways in which an archive can be hostile or broken."""

import io
import stat
import struct
import zipfile

import numpy as np
import pytest
from reading import as_text, refused, zipped

from biobgt import InputError, read_cohort


@pytest.fixture
def table(bold):
    return as_text(bold(120, 90))


def archive(tmp_path, entries):
    (tmp_path / "study.zip").write_bytes(zipped(entries))
    return tmp_path / "study.zip"


def test_an_archive_is_read_like_its_folder(tmp_path, table):
    path = archive(
        tmp_path,
        {
            "data/sub-01.csv": table,
            "data/sub-02.csv": table,
            "data/participants.tsv": "participant_id\tgroup\nsub-01\tNC\nsub-02\tMCI\n",
            "__MACOSX/data/._sub-01.csv": b"\x00\x05",
        },
    )
    cohort = read_cohort(path, atlas="aal90")
    assert cohort.ids == ("sub-01", "sub-02")
    assert dict(cohort.group_sizes) == {"NC": 1, "MCI": 1}
    assert cohort.name == "study"
    assert cohort.subjects[0].source.file == "data/sub-01.csv"


@pytest.mark.parametrize("name", ["../evil.csv", "a/../../evil.csv", "/etc/evil.csv", "..\\evil.csv", "C:/evil.csv"])
def test_paths_that_lead_out_are_refused_and_the_rest_is_read(tmp_path, table, name):
    path = archive(tmp_path, {"sub-01.csv": table, name: table})
    before = sorted(tmp_path.rglob("*"))
    cohort = read_cohort(path, atlas="aal90")
    assert cohort.ids == ("sub-01",)
    assert [(refusal.file, "leads out" in refusal.reason) for refusal in cohort.refused] == [(name, True)]
    assert sorted(tmp_path.rglob("*")) == before


def test_links_are_refused(tmp_path, table):
    link = zipfile.ZipInfo("link.csv")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    path = tmp_path / "study.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("sub-01.csv", table)
        file.writestr(link, "/etc/passwd")
    cohort = read_cohort(path, atlas="aal90")
    assert cohort.ids == ("sub-01",)
    assert "It is a link" in cohort.refused[0].reason


@pytest.mark.parametrize("name", ["bomb.zip", "bomb.npz"])
def test_an_archive_that_grows_to_gigabytes_is_refused(tmp_path, name):
    path = tmp_path / name
    chunk = bytes(2**24)
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file,
        file.open("series.npy", "w", force_zip64=True) as entry,
    ):
        for _ in range(20):
            entry.write(chunk)
    refused("would grow from", read_cohort, path)


def test_a_cut_off_archive_gets_a_sentence(tmp_path, table):
    path = archive(tmp_path, {"sub-01.csv": table})
    path.write_bytes(path.read_bytes()[:-200])
    refused("not a complete zip archive", read_cohort, path)


def test_a_damaged_entry_is_refused_and_the_rest_is_read(tmp_path, table):
    path = archive(tmp_path, {"sub-01.csv": table, "sub-02.csv": table})
    data = bytearray(path.read_bytes())
    data[200:240] = bytes(40)
    path.write_bytes(data)
    cohort = read_cohort(path, atlas="aal90")
    assert cohort.ids == ("sub-02",)
    assert cohort.refused[0].file == "sub-01.csv"
    assert np.isfinite(cohort.subjects[0].series).all()


def test_an_archive_without_data_gets_a_sentence(tmp_path):
    refused("nothing to read", read_cohort, archive(tmp_path, {"paper.pdf": b"%PDF"}))


@pytest.mark.parametrize("limit", ["COHORT_ARCHIVE_BYTES", "COHORT_MEMBERS"])
def test_archives_are_bounded_together_too(tmp_path, table, monkeypatch, limit):
    """Each is small enough alone; one that is too much together with those before it is refused, and says so."""
    folder = tmp_path / "study"
    folder.mkdir()
    for i in range(3):
        archive(tmp_path, {f"sub-{i}{j}.csv": table for j in range(2)}).rename(folder / f"site{i}.zip")
    assert len(read_cohort(folder, atlas="aal90")) == 6
    monkeypatch.setenv(f"BIOBGT_MAX_{limit}", str(3 if limit == "COHORT_MEMBERS" else 3 * len(table)))
    cohort = read_cohort(folder, atlas="aal90")
    assert cohort.ids == ("sub-00", "sub-01")
    assert [refusal.file for refusal in cohort.refused] == ["site1.zip", "site2.zip"]
    for refusal in cohort.refused:
        assert refusal.reason.startswith("The cohort, with this archive, has ")
        assert f"set BIOBGT_MAX_{limit}=" in refusal.reason
    several = read_cohort(sorted(folder.iterdir()), atlas="aal90")
    assert len(several) == 2, "named one by one, too"


def test_lzma_is_refused_before_it_takes_what_it_asks_for(tmp_path, table):
    """An entry may ask for a dictionary of four gigabytes; the fuzzer found one that did."""
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("good.csv", table)
        archive.writestr("bad.csv", table, zipfile.ZIP_LZMA)
    cohort = read_cohort(path, atlas="aal90")
    assert cohort.ids == ("good",)
    assert cohort.refused[0].file == "bad.csv"
    assert "packed by LZMA" in cohort.refused[0].reason
    with zipfile.ZipFile(tmp_path / "y.npz", "w", zipfile.ZIP_LZMA) as archive:
        stream = io.BytesIO()
        np.save(stream, np.zeros((30, 20)))
        archive.writestr("a.npy", stream.getvalue())
    refused("packed by LZMA", read_cohort, tmp_path / "y.npz")


def listed_again(path, times):
    """List an archive's only file several times more, under other names, with the same bytes."""
    data = path.read_bytes()
    end = data.rindex(b"PK\x05\x06")
    n_listed, start = struct.unpack_from("<LL", data, end + 12)
    one = data[start : start + n_listed]
    listed = one + b"".join(one.replace(b"sub-00", b"sub-%02d" % (i + 1)) for i in range(times))
    record = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, times + 1, times + 1, len(listed), start, 0)
    path.write_bytes(data[:start] + listed + record)


def test_files_that_share_their_bytes_are_refused(tmp_path, table):
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "good.csv").write_text(table)
    evil = archive(tmp_path, {"sub-00.csv": table}).rename(folder / "evil.zip")
    listed_again(evil, 20)
    with zipfile.ZipFile(evil) as file:
        assert len(file.namelist()) == 21
    cohort = read_cohort(folder, atlas="aal90")
    assert cohort.ids == ("good",)
    assert [refusal.file for refusal in cohort.refused] == ["evil.zip"]
    assert "overlaps what comes after it" in cohort.refused[0].reason


def test_an_archive_behind_other_bytes_is_read(tmp_path, table):
    """As self-extracting archives are; the list's word on places is off by the length of these bytes."""
    path = archive(tmp_path, {"sub-01.csv": table, "sub-02.csv": table, "empty/": b""})
    path.write_bytes(b"#!/bin/sh\n" + path.read_bytes())
    assert read_cohort(path, atlas="aal90").ids == ("sub-01", "sub-02")


def end_records(n_files, listed, start, comment=b""):
    """The records at the end of an archive with a 64-bit one among them."""
    long = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, n_files, n_files, len(listed), start)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, start + len(listed), 1)
    most = 2**16 - 1, 2**16 - 1, 2**32 - 1, 2**32 - 1
    return long + locator + struct.pack("<4s2H2H2LH", b"PK\x05\x06", 0, 0, *most, len(comment)) + comment


@pytest.mark.parametrize("comment", [b"", b"PK\x06\x06" + bytes(60), b"PK\x06\x07" + bytes(60)])
def test_a_false_record_does_not_hide_how_long_the_list_is(tmp_path, table, monkeypatch, comment):
    path = archive(tmp_path, {f"sub-{i:02}.csv": table for i in range(12)})
    data = path.read_bytes()
    n_listed, start = struct.unpack_from("<LL", data, data.rindex(b"PK\x05\x06") + 12)
    listed = data[start : start + n_listed]
    path.write_bytes(data[:start] + listed + end_records(12, listed, start, comment))
    assert len(read_cohort(path, atlas="aal90")) == 12
    monkeypatch.setenv("BIOBGT_MAX_MEMBERS", "1")
    with pytest.raises(InputError, match=f"The archive has {n_listed / 512:.0f} files"):  # not 12: it was not read
        read_cohort(path, atlas="aal90")


def test_a_list_of_unknown_length_is_refused(tmp_path, table):
    path = archive(tmp_path, {"sub-00.csv": table})
    data = bytearray(path.read_bytes())
    struct.pack_into("<LL", data, data.rindex(b"PK\x05\x06") + 12, 2**32 - 1, 2**32 - 1)
    path.write_bytes(data)
    refused("not a complete zip archive", read_cohort, path)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_entries_that_cannot_be_unpacked_are_refused_and_the_rest_is_read(tmp_path, table, method):
    data = bytearray(zipped({"bad.csv": table, "good.csv": table}, method))
    data[200:400] = b"\xff" * 200  # zlib.error, OSError, BadZipFile: each its own
    (tmp_path / "x.zip").write_bytes(data)
    cohort = read_cohort(tmp_path / "x.zip", atlas="aal90")
    assert cohort.ids == ("good",)
    assert cohort.refused[0].file == "bad.csv"


def test_methods_and_names_that_python_does_not_know(tmp_path, table):
    whole = zipped({"bäd.csv": table, "good.csv": table}, zipfile.ZIP_STORED)
    unknown_method = bytearray(whole)
    for signature, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        where = unknown_method.find(signature) + offset
        unknown_method[where : where + 2] = (97).to_bytes(2, "little")
    (tmp_path / "x.zip").write_bytes(unknown_method)  # NotImplementedError
    assert read_cohort(tmp_path / "x.zip", atlas="aal90").ids == ("good",)
    (tmp_path / "x.zip").write_bytes(whole.replace("ä".encode(), b"\xff\xff"))  # UnicodeDecodeError
    refused("not a complete zip archive", read_cohort, tmp_path / "x.zip", atlas="aal90")


def test_folders_in_folders_in_an_archive_are_refused(tmp_path, table):
    names = ("/".join(["d"] * 40) + "/deep.csv", "a\x00b.csv", "n" * 300 + ".csv", "good.csv")
    cohort = read_cohort(archive(tmp_path, dict.fromkeys(names, table)), atlas="aal90")
    assert "good" in cohort.ids
    assert sum("too long" in refusal.reason for refusal in cohort.refused) == 2


def test_an_entry_without_a_name_and_an_archive_that_is_none_cost_no_other(tmp_path, table):
    data = zipped({"q": table, "good.csv": table}, zipfile.ZIP_STORED)
    (tmp_path / "x.zip").write_bytes(data.replace(b"\x01\x00\x00\x00q", b"\x00\x00\x01\x00q"))  # a name of length 0
    (tmp_path / "bad.zip").write_bytes(b"PK\x03\x04 and nothing else")
    (tmp_path / "alone.csv").write_text(table)
    cohort = read_cohort([tmp_path / "bad.zip", tmp_path / "alone.csv", tmp_path / "x.zip"], atlas="aal90")
    assert "alone" in cohort.ids
    assert "bad.zip" in [refusal.file for refusal in cohort.refused]
