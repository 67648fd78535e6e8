"""Uploaded files on the disk: where they lie while they are read, under which names, and that nothing stays."""

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
from session.uploads import UploadedFiles, read_uploaded, safe_name, safe_path


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


def test_file_in_the_place_of_a_folder_is_a_sentence(abide) -> None:
    with pytest.raises(InputError, match=r"'x\.1D' could not be stored"):
        read_uploaded(UploadedFiles([Uploaded("a", b"1"), Uploaded("a/x.1D", abide[0].content)]), name="Your files")
