"""Zip archives: a folder of subjects inside, and the ways in which an archive can be hostile or broken."""

import stat
import struct
import zipfile

import numpy as np
import pytest
from reading import as_text, reasons, refused, zipped

from biobgt import InputError, read_cohort

END = b"PK\x05\x06"  # of the list of files


@pytest.fixture
def table(bold):
    return as_text(bold(120, 90))


def archive(tmp_path, entries):
    (tmp_path / "study.zip").write_bytes(zipped(entries))
    return tmp_path / "study.zip"


def read(path):
    return read_cohort(path, atlas="aal90")


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
    cohort = read(path)
    assert (cohort.ids, cohort.name) == (("sub-01", "sub-02"), "study")
    assert dict(cohort.group_sizes) == {"NC": 1, "MCI": 1}
    assert cohort.subjects[0].source.file == "data/sub-01.csv"
    refused("nothing to read", read_cohort, archive(tmp_path, {"paper.pdf": b"%PDF"}))


@pytest.mark.parametrize("name", ["../evil.csv", "a/../../evil.csv", "/etc/evil.csv", "..\\evil.csv", "C:/evil.csv"])
def test_paths_that_lead_out_are_refused_and_the_rest_is_read(tmp_path, table, name):
    path = archive(tmp_path, {"sub-01.csv": table, name: table})
    before = sorted(tmp_path.rglob("*"))
    cohort = read(path)
    assert cohort.ids == ("sub-01",)
    assert [(file, "leads out" in why) for file, why in reasons(cohort).items()] == [(name, True)]
    assert sorted(tmp_path.rglob("*")) == before


def link():
    entry = zipfile.ZipInfo("bad.csv")
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


@pytest.mark.parametrize(
    ("entry", "method", "reason"), [(link(), None, "It is a link"), ("bad.csv", zipfile.ZIP_LZMA, "packed by LZMA")]
)
def test_links_and_what_lzma_packs_are_refused_and_the_rest_is_read(tmp_path, table, entry, method, reason):
    """LZMA may ask for a dictionary of four gigabytes; the fuzzer found an entry that did."""
    with zipfile.ZipFile(tmp_path / "study.zip", "w") as file:
        file.writestr("good.csv", table)
        file.writestr(entry, table, method)
    cohort = read(tmp_path / "study.zip")
    assert cohort.ids == ("good",)
    assert reason in reasons(cohort)["bad.csv"]


def test_an_array_that_lzma_packs_is_refused(tmp_path):
    (tmp_path / "x.npz").write_bytes(zipped({"a.npy": b""}, zipfile.ZIP_LZMA))
    refused("packed by LZMA", read_cohort, tmp_path / "x.npz")


@pytest.mark.parametrize("name", ["bomb.zip", "bomb.npz", "bomb.biobgt"])
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


@pytest.mark.parametrize("limit", ["COHORT_ARCHIVE_BYTES", "COHORT_MEMBERS"])
def test_archives_are_bounded_together_too(tmp_path, table, monkeypatch, limit):
    """Each is small enough alone; one that is too much together with those before it is refused, and says so."""
    folder = tmp_path / "study"
    folder.mkdir()
    for i in range(3):
        archive(tmp_path, {f"sub-{i}{j}.csv": table for j in range(2)}).rename(folder / f"site{i}.zip")
    assert len(read(folder)) == 6
    monkeypatch.setenv(f"BIOBGT_MAX_{limit}", str(3 if limit == "COHORT_MEMBERS" else 3 * len(table)))
    cohort = read(folder)
    assert cohort.ids == ("sub-00", "sub-01")
    assert list(reasons(cohort)) == ["site1.zip", "site2.zip"]
    for reason in reasons(cohort).values():
        assert reason.startswith("The cohort, with this archive, has ")
        assert f"set BIOBGT_MAX_{limit}=" in reason
    assert len(read(sorted(folder.iterdir()))) == 2, "named one by one, too"


def listed_in(data):
    """What an archive's bytes list, and where the list begins."""
    n_listed, start = struct.unpack_from("<LL", data, data.rindex(END) + 12)
    return data[start : start + n_listed], start


def test_files_that_share_their_bytes_are_refused(tmp_path, table):
    """An archive that lists its only file twenty times more, under other names."""
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "good.csv").write_text(table)
    data = zipped({"sub-00.csv": table})
    one, start = listed_in(data)
    listed = b"".join(one.replace(b"sub-00", b"sub-%02d" % i) for i in range(21))
    record = struct.pack("<4s4H2LH", END, 0, 0, 21, 21, len(listed), start, 0)
    (folder / "evil.zip").write_bytes(data[:start] + listed + record)
    with zipfile.ZipFile(folder / "evil.zip") as file:
        assert len(file.namelist()) == 21
    cohort = read(folder)
    assert cohort.ids == ("good",)
    assert "overlaps what comes after it" in reasons(cohort)["evil.zip"]


def test_an_archive_behind_other_bytes_is_read(tmp_path, table):
    """As self-extracting archives are; the list's word on places is off by the length of these bytes."""
    path = archive(tmp_path, {"sub-01.csv": table, "sub-02.csv": table, "empty/": b""})
    path.write_bytes(b"#!/bin/sh\n" + path.read_bytes())
    assert read(path).ids == ("sub-01", "sub-02")


def end_records(n_files, listed, start, comment=b""):
    """The records at the end of an archive with a 64-bit one among them."""
    long = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, n_files, n_files, len(listed), start)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, start + len(listed), 1)
    most = 2**16 - 1, 2**16 - 1, 2**32 - 1, 2**32 - 1
    return long + locator + struct.pack("<4s2H2H2LH", END, 0, 0, *most, len(comment)) + comment


@pytest.mark.parametrize("comment", [b"", b"PK\x06\x06" + bytes(60), b"PK\x06\x07" + bytes(60)])
def test_a_false_record_does_not_hide_how_long_the_list_is(tmp_path, table, monkeypatch, comment):
    path = archive(tmp_path, {f"sub-{i:02}.csv": table for i in range(12)})
    data = path.read_bytes()
    listed, start = listed_in(data)
    path.write_bytes(data[:start] + listed + end_records(12, listed, start, comment))
    assert len(read(path)) == 12
    monkeypatch.setenv("BIOBGT_MAX_MEMBERS", "1")
    with pytest.raises(InputError, match=f"The archive has {len(listed) / 512:.0f} files"):  # not 12: it was not read
        read(path)


def of_unknown_length(data):
    struct.pack_into("<LL", data, data.rindex(END) + 12, 2**32 - 1, 2**32 - 1)
    return data


@pytest.mark.parametrize(
    "damaged",
    [lambda data: data[:-200], of_unknown_length, lambda data: data.replace("ä".encode(), b"\xff\xff")],
    ids=["cut off", "a list of unknown length", "a name that is no text"],
)
def test_what_is_no_complete_archive_gets_a_sentence(tmp_path, table, damaged):
    whole = bytearray(zipped({"bäd.csv": table, "good.csv": table}, zipfile.ZIP_STORED))
    (tmp_path / "x.zip").write_bytes(damaged(whole))
    refused("not a complete zip archive", read, tmp_path / "x.zip")


def of_unknown_method(data):
    for signature, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        where = data.find(signature) + offset
        data[where : where + 2] = (97).to_bytes(2, "little")


def overwritten(data):
    data[200:400] = b"\xff" * 200


@pytest.mark.parametrize(
    ("method", "damage"),  # each raises an error of its own
    [
        (zipfile.ZIP_STORED, overwritten),
        (zipfile.ZIP_DEFLATED, overwritten),
        (zipfile.ZIP_BZIP2, overwritten),
        (zipfile.ZIP_STORED, of_unknown_method),
    ],
)
def test_entries_that_cannot_be_unpacked_are_refused_and_the_rest_is_read(tmp_path, table, method, damage):
    data = bytearray(zipped({"bad.csv": table, "good.csv": table}, method))
    damage(data)
    (tmp_path / "x.zip").write_bytes(data)
    cohort = read(tmp_path / "x.zip")
    assert (cohort.ids, list(reasons(cohort))) == (("good",), ["bad.csv"])
    assert np.isfinite(cohort["good"].series).all()


def test_folders_in_folders_in_an_archive_are_refused(tmp_path, table):
    names = ("/".join(["d"] * 40) + "/deep.csv", "a\x00b.csv", "n" * 300 + ".csv", "good.csv")
    cohort = read(archive(tmp_path, dict.fromkeys(names, table)))
    assert "good" in cohort.ids
    assert sum("too long" in reason for reason in reasons(cohort).values()) == 2


def test_an_entry_without_a_name_and_an_archive_that_is_none_cost_no_other(tmp_path, table):
    data = zipped({"q": table, "good.csv": table}, zipfile.ZIP_STORED)
    (tmp_path / "x.zip").write_bytes(data.replace(b"\x01\x00\x00\x00q", b"\x00\x00\x01\x00q"))  # a name of length 0
    (tmp_path / "bad.zip").write_bytes(b"PK\x03\x04 and nothing else")
    (tmp_path / "alone.csv").write_text(table)
    cohort = read([tmp_path / "bad.zip", tmp_path / "alone.csv", tmp_path / "x.zip"])
    assert "alone" in cohort.ids
    assert "bad.zip" in reasons(cohort)
