"""Uploaded files on the disk: where they lie while they are read, under which names, and that nothing stays."""

import errno
import io
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from brought_files import BROKEN, Uploaded
from hypothesis import given
from hypothesis import strategies as st

from biobgt import ChoiceNeeded, InputError
from session.cohorts import UploadedFiles, _write_all, read_uploaded, safe_name, safe_path


def test_zip_and_own_atlas(rng) -> None:
    matrix = np.corrcoef(rng.standard_normal((7, 100)))
    text = "\n".join(",".join(map(str, row)) for row in matrix.tolist())
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("lab/sub-01.csv", text)
        file.writestr("../outside.csv", text)
    atlas = b"x,y,z,label,network\n" + b"".join(b"%d,0,0,R%d,N%d\n" % (i, i, i % 2) for i in range(7))
    cohort = read_uploaded(
        UploadedFiles([Uploaded("lab.zip", archive.getvalue())], atlas_table=Uploaded("mine.csv", atlas)),
        name="Your files",
    )
    assert cohort.ids == ("sub-01",)
    assert cohort.atlas.labelling("network")[:2] == ("N0", "N1")
    assert [refusal.file for refusal in cohort.refused] == ["../outside.csv"]


def test_files_of_one_name_are_both_read(abide) -> None:
    twins = [Uploaded("rois.1D", abide[0].content), Uploaded("rois.1D", abide[1].content)]
    assert len(read_uploaded(UploadedFiles(twins, atlas="cc200"), name="Your files")) == 2


@pytest.mark.parametrize("files", [[BROKEN], [], [Uploaded("subject.csv", b"1,2,3\n4,5,7\n8,9,1\n2,2,1\n")]])
def test_nothing_stays_on_the_disk(files, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises((InputError, ChoiceNeeded)) as caught:
        read_uploaded(UploadedFiles(files), name="Your files")
    assert str(tmp_path) not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("sub-01.1D", "sub-01.1D"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\x\\sub.csv", "sub.csv"),
        (".hidden.csv", "hidden.csv"),
        ("..", "file"),
        ("", "file"),
        ("a\x00b\n.csv", "a_b_.csv"),
        ("x" * 400 + ".nii.gz", "x" * 143 + ".nii.gz"),
        ("脑" * 90 + ".csv", "脑" * 65 + ".csv"),
    ],
)
def test_safe_name(name, safe) -> None:
    assert safe_name(name) == safe


@given(name=st.text())
def test_safe_name_stays_in_its_folder(name) -> None:
    folder = Path("folder").resolve()
    assert (folder / safe_name(name)).resolve().parent == folder


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("study/sub-01/x.tsv", "study/sub-01/x.tsv"),
        ("a\\b.csv", "a/b.csv"),
        ("/etc/passwd.csv", "etc/passwd.csv"),
        ("C:/x/y.csv", "C_/x/y.csv"),
        ("x.csv", "x.csv"),
        (".hidden.csv", "hidden.csv"),
        ("study/.DS_Store", None),
        ("study/.git/x.csv", None),
        ("../x.csv", None),
        ("study/../../x.csv", None),
        ("a/" * 40 + "x.csv", "a/" * 11 + "x.csv"),
    ],
)
def test_safe_path(name, place) -> None:
    assert safe_path(name) == (None if place is None else Path(place))


@given(name=st.text(alphabet="a./\\ :\x00~-", max_size=30))
def test_safe_path_stays_in_its_folder(name) -> None:
    folder = Path("folder").resolve()
    place = safe_path(name)
    assert place is None or folder in (folder / place).resolve().parents


def test_a_file_that_cannot_be_stored_is_refused_and_the_rest_is_read(abide) -> None:
    in_place_of_a_folder = [Uploaded("a.1D", abide[0].content), Uploaded("a.1D/x.1D", abide[1].content)]
    half_a_letter = Uploaded("\ud800.1D", abide[1].content)
    cohort = read_uploaded(UploadedFiles([*in_place_of_a_folder, half_a_letter], atlas="cc200"), name="Your files")
    assert cohort.ids == ("a",)
    assert [refusal.file for refusal in cohort.refused] == ["a.1D/x.1D", "\\ud800.1D"]
    assert "'x.1D' could not be stored for reading" in cohort.refused[0].reason
    with pytest.raises(InputError, match=r"could not be stored for reading \(its name is not a valid file name\)"):
        read_uploaded(UploadedFiles([half_a_letter]), name="Your files")


def test_a_file_that_was_stored_in_part_is_not_read(abide, monkeypatch) -> None:
    """As on a disk that fills up."""
    whole = Path.write_bytes

    def write_bytes(path: Path, content: memoryview) -> int:
        if path.name != "second.1D":
            return whole(path, content)
        whole(path, content[: len(content) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", write_bytes)
    files = [Uploaded("first.1D", abide[0].content), Uploaded("second.1D", abide[1].content)]
    cohort = read_uploaded(UploadedFiles(files, atlas="cc200"), name="Your files")
    assert cohort.ids == ("first",)
    assert cohort.refused[0].reason == "'second.1D' could not be stored for reading (No space left on device)."


def test_a_name_of_many_bytes_is_cut_and_read(abide) -> None:
    long = Uploaded("脑" * 90 + ".1D", abide[1].content)
    cohort = read_uploaded(UploadedFiles([Uploaded("a.1D", abide[0].content), long], atlas="cc200"), name="Your files")
    assert cohort.ids == ("a", "脑" * 65)
    assert cohort.refused == ()


def test_many_files_of_one_name_are_each_looked_for_once(tmp_path, monkeypatch) -> None:
    """From the last number on, not from the first again."""
    looked_for = []
    exists = Path.exists
    monkeypatch.setattr(Path, "exists", lambda path: looked_for.append(path) or exists(path))
    paths, refused = _write_all([Uploaded("a.x", b"%d" % i) for i in range(50)], tmp_path / "files")
    assert [path.read_bytes() for path in paths] == [b"%d" % i for i in range(50)]
    assert [path.name for path in paths[:3]] == ["a.x", "a (2).x", "a (3).x"]
    assert refused == []
    assert len(looked_for) == 50
