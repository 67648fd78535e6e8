"""Fetching from a server of our own that looks like the real one."""

import numpy as np
import pytest
from abide_mirror import abide_server

from biobgt import InputError, read_cohort
from biobgt.fetch import FetchOptions, abide_cohort, data_folder, fetch_abide


@pytest.fixture
def mirror(tmp_path, rng):
    """The server's address, and the list of files it was asked for."""
    with abide_server(tmp_path / "server", rng) as served:
        yield served


def test_fetch_gives_a_folder_that_reads_as_a_cohort(tmp_path, mirror):
    address, asked = mirror
    seen = []
    folder = fetch_abide(
        tmp_path / "out", FetchOptions(mirror=address), progress=lambda done, total: seen.append((done, total))
    )
    cohort = read_cohort(folder)
    assert cohort.ids == ("Pitt_0050003", "Pitt_0050004")  # the third failed ABIDE's quality check
    assert dict(cohort.group_sizes) == {"NC": 1, "ASD": 1}
    assert cohort["Pitt_0050004"].phenotypes["sex"] == "F"
    assert np.isfinite(cohort["Pitt_0050003"].series).all()
    assert seen == [(1, 2), (2, 2)]
    assert "Pitt_0050005_rois_cc200.1D" not in asked


def test_a_second_run_fetches_only_what_is_missing(tmp_path, mirror):
    address, asked = mirror
    fetch_abide(tmp_path / "out", FetchOptions(mirror=address, n_subjects=1))
    asked.clear()
    fetch_abide(tmp_path / "out", FetchOptions(mirror=address))
    assert asked == ["Pitt_0050004_rois_cc200.1D"]


def test_without_a_network_it_ends_with_a_sentence(tmp_path):
    with pytest.raises(InputError, match="ABIDE could not be fetched: its server was not reached"):
        fetch_abide(tmp_path, FetchOptions(mirror="http://127.0.0.1:9"))


def test_cohort_is_of_those_asked_for_whatever_lies_in_the_folder(tmp_path, mirror):
    address, _ = mirror
    fetch_abide(tmp_path / "out", FetchOptions(mirror=address))
    fetched, read = [], []
    cohort = abide_cohort(
        tmp_path / "out",
        FetchOptions(mirror=address, n_subjects=1),
        name="few",
        progress=lambda *told: fetched.append(told),
        reading=lambda *told: read.append(told),
    )
    assert (cohort.ids, cohort.name, cohort.atlas.name) == (("Pitt_0050003",), "few", "cc200")
    assert (cohort.subjects[0].group, cohort.subjects[0].phenotypes["site"]) == ("ASD", "PITT")
    assert (fetched, read) == ([(1, 1)], [(1, 1)])
    assert (cohort.unmatched_subjects, cohort.unmatched_rows) == ((), ())


def test_files_are_kept_where_nilearn_keeps_them(monkeypatch, tmp_path):
    monkeypatch.setenv("NILEARN_DATA", str(tmp_path / "data"))
    assert data_folder() == tmp_path / "data"
    monkeypatch.delenv("NILEARN_DATA")
    assert data_folder().name == "nilearn_data"
