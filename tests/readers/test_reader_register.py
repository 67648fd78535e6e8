"""A new file format is one object of the register; everything that looks at files finds it."""

import numpy as np
import pytest
from reading import refused
from typer.testing import CliRunner

from biobgt import read_cohort
from biobgt.cli.main import app
from biobgt.data.atlas import numbered_atlas
from biobgt.readers import READERS, Reader, arrays, formats
from biobgt.readers.formats import ReadOptions, read_file, readable_suffixes, suffix_of
from biobgt.readers.measurement import Reading
from tests.fuzz import corpus

VALUES = np.arange(40.0).reshape(10, 4) ** 2 % 17


def read_island(path, asked):
    """A table of numbers below a line that names the format."""
    return [Reading(np.loadtxt(path, skiprows=1), columns_are_regions=True)]


@pytest.fixture
def island():
    reader = Reader("island", "an island table", (".isl", ".isl.old"), read_island, begins=(b"ISLAND",))
    with READERS.temporarily(reader):
        yield reader


def write_island(path):
    lines = [" ".join(map(str, row)) for row in VALUES.tolist()]
    path.write_text("\n".join(["ISLAND 1", *lines]))
    return path


@pytest.mark.parametrize("name", ["s1.isl", "s1.ISL", "s1.isl.old"])
def test_a_folder_with_such_a_file_is_read(island, tmp_path, name):
    write_island(tmp_path / name)
    cohort = read_cohort(tmp_path, atlas=numbered_atlas(4))
    assert cohort.ids == ("s1",)
    np.testing.assert_array_equal(cohort["s1"].series, VALUES)
    assert cohort["s1"].source.reader == suffix_of(tmp_path / name).lstrip(".")


def test_info_shows_it(island, tmp_path):
    write_island(tmp_path / "s1.isl")
    shown = CliRunner().invoke(app, ["info", str(tmp_path / "s1.isl"), "--atlas", "unknown"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0, shown.output
    assert "s1" in shown.output


def test_it_is_among_the_formats_that_sentences_name(island, tmp_path):
    (tmp_path / "x.doc").write_text("words")
    refused(r"\.hdf5, \.isl, \.isl\.old, \.mat", read_file, tmp_path / "x.doc", ReadOptions())


def test_a_renamed_file_is_named(island, tmp_path):
    write_island(tmp_path / "x.csv")
    refused(r"is an island table\. Rename it to end in \.isl or", read_file, tmp_path / "x.csv", ReadOptions())
    (tmp_path / "x.isl").write_text("1 2\n3 4\n")
    refused(r"named \.isl and its content is something else", read_file, tmp_path / "x.isl", ReadOptions())


def test_its_limit_holds(island, tmp_path, monkeypatch):
    write_island(tmp_path / "x.isl")
    monkeypatch.setenv("BIOBGT_MAX_FILE_BYTES", "10")
    refused("BIOBGT_MAX_FILE_BYTES", read_file, tmp_path / "x.isl", ReadOptions())


class ReadApart(BaseException):
    """In place of the process that reads apart."""


@pytest.mark.parametrize("reader", READERS.values(), ids=list(READERS))
def test_a_reader_that_says_that_it_reads_apart_does(reader, tmp_path, monkeypatch, rng):
    """And one that reads here does not start a process."""

    def instead(*_, **__):
        raise ReadApart

    monkeypatch.setattr(arrays, "read_isolated", instead)
    monkeypatch.setattr(formats, "read_isolated", instead)
    write = {"matlab": "mat5.mat", "hdf5": "h5"}.get(reader.key, reader.suffixes[-1].lstrip("."))
    path = tmp_path / f"x{reader.suffixes[-1]}"
    corpus.FORMATS[write](path, rng)
    if reader.apart:
        with pytest.raises(ReadApart):
            read_file(path, ReadOptions(), corpus.atlas())
    else:
        assert read_file(path, ReadOptions(), corpus.atlas())


def test_libraries_that_can_crash_read_apart_and_images_one_at_a_time():
    apart = {key for key, reader in READERS.items() if reader.apart}
    assert apart == {"cifti", "gifti", "hdf5", "matlab", "nifti", "nifti_gz"}
    assert {key for key in apart if not READERS[key].alone} == {"matlab", "hdf5"}
    assert len(set(readable_suffixes())) == len(readable_suffixes()), "no two formats end alike"


@pytest.mark.parametrize("reader", READERS.values(), ids=list(READERS))
def test_every_format_is_in_the_corpus_of_the_fuzzer(reader):
    ends = {f".{name.lower()}" for name in corpus.FORMATS}
    assert any(end.endswith(suffix) for end in ends for suffix in reader.suffixes)
