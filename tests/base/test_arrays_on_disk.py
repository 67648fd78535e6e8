"""Arrays kept on the disk: the same numbers, in no memory of the process, in files that nobody sees."""

import numpy as np
import pytest
from full_disk import files_end_at
from study_cohorts import small_cohort

from biobgt import ReadOptions, read_cohort
from biobgt.base import arrays
from biobgt.base.arrays import ArraysOnDisk


def test_arrays_are_the_same_and_their_files_have_no_name(tmp_path, rng, monkeypatch):
    monkeypatch.setattr(arrays, "_CHUNK", 4096)
    keep = ArraysOnDisk(tmp_path)
    given = [rng.standard_normal(shape) for shape in ((10, 8), (30, 20), (8, 10), (40, 40))]
    kept = [keep(one) for one in given]
    for one, other in zip(given, kept, strict=True):
        assert np.array_equal(one, other)
        assert not other.flags.owndata
        assert not other.flags.writeable
        assert keep(other) is other
        assert keep(other.T).base is not None  # turned, and still there
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_an_error(tmp_path, rng, monkeypatch):
    monkeypatch.setattr(arrays, "_CHUNK", 4096)
    keep = ArraysOnDisk(tmp_path)
    with files_end_at(2048), pytest.raises(OSError, match="large"):
        keep(rng.standard_normal((100, 100)))


def test_a_cohort_that_is_kept_on_the_disk_is_the_same(tmp_path):
    for subject in small_cohort():
        np.savetxt(tmp_path / f"{subject.id}_timeseries.tsv", subject.series.T, delimiter="\t")
    how = {"atlas": "unknown", "name": "small"}
    options = ReadOptions(kind="series", orientation="region-time")
    plain = read_cohort(tmp_path, options=options, **how)
    kept = read_cohort(tmp_path, options=options, **how, keep=ArraysOnDisk(tmp_path))
    for one, other in zip(plain, kept, strict=True):
        assert np.array_equal(one.series, other.series)
        assert one.source == other.source
        owner = other.series
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        assert not owner.flags.owndata
