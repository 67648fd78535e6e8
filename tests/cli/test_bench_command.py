"""The command of the bench, on a few people of a file: its files as described, its sentences, and what it refuses."""

import numpy as np
import pandas as pd
import pytest

from biobgt.base.files import read_csv
from tests.docs.described_files import described_files, undescribed
from tests.planted_cohort import planted_cohort

FEW = [
    "--atlas",
    "unknown",
    "--kind",
    "series",
    "--orientation",
    "time-region",
    "--repetitions",
    "2",
    "--permutations",
    "19",
    "--workers",
    "1",
]


@pytest.fixture
def files(tmp_path):
    """Series of twelve people as files."""
    folder = tmp_path / "people"
    folder.mkdir()
    for subject in planted_cohort(6, difference=0.0):
        np.savetxt(folder / f"{subject.id}_timeseries.tsv", subject.series, delimiter="\t")
    return folder


def test_it_plants_looks_and_writes_what_is_described(files, tmp_path, run):
    out = tmp_path / "out"
    words = ["bench", str(files), str(out), "--lesion", "hub", "--size", "1", "--people", "3", "--people", "5", *FEW]
    done = run(*words)
    assert done.code == 0, done.err
    assert "loses 100 % of its connections, in some of 12 controls" in done.out
    described = {one.name: one for one in described_files()["biobgt bench"]}
    there = {path.name for path in out.iterdir() if not path.name.startswith(".")}
    assert there == set(described)
    for name in ("power.csv", "repetitions.csv"):
        assert undescribed(list(pd.read_csv(out / name).columns), described[name]) == ([], [])
    table = read_csv(out / "power.csv")
    assert set(table["people"]) == {3, 5}
    assert (table["repetitions"] == 2).all()
    assert (out / "power.svg").read_text().lstrip().startswith("<?xml")
    again = run(*words)
    assert again.code == 0
    assert read_csv(out / "power.csv").equals(table)


def test_what_cannot_be_planted_is_said_before_anything_is_measured(files, tmp_path, run):
    out = tmp_path / "out"
    many = run("bench", str(files), str(out), "--lesion", "hub", "--people", "20", *FEW)
    assert many.code == 2
    assert "need 40" in many.err
    network = run("bench", str(files), str(out), "--lesion", "network", "--people", "3", *FEW)
    assert network.code == 2
    assert "no functional labels" in network.err
    assert not out.exists()
