"""The command of studies: both levels, one after the other or in one, on files of a few people."""

import numpy as np
import pandas as pd
import pytest
from study_cohorts import contents, small_cohort

from biobgt.study import read_findings

FEW = ["--at", "0.3", "--at", "0.6", "--measure", "degree", "--runs", "2", "--permutations", "20", "--workers", "1"]


@pytest.fixture
def files(tmp_path):
    """Series of fourteen people as files, with a table of their groups."""
    folder = tmp_path / "study"
    folder.mkdir()
    cohort = small_cohort(14)
    for subject in cohort:
        np.savetxt(folder / f"{subject.id}_timeseries.tsv", subject.series, delimiter="\t")
    table = cohort.table().rename(columns={"subject": "participant_id"})
    table[["participant_id", "group", "age", "site"]].to_csv(folder / "participants.tsv", sep="\t", index=False)
    return folder


def test_both_levels_in_one_are_the_levels_one_after_the_other(files, tmp_path, run):
    words = ["study", str(files), "--atlas", "unknown", "--kind", "series", *FEW, "--design", "~ group + age"]
    whole = run(*words, str(tmp_path / "whole"))
    assert whole.code == 0, whole.err
    assert "Measured: 14 recordings" in whole.out
    parts = str(tmp_path / "parts")
    assert run(*words, parts, "participant", "--participant-label", "03").code == 0
    assert "Measured: 13 recordings, 1 were there" in run(*words, parts, "participant").out
    assert run(*words, parts, "group").code == 0
    assert contents(tmp_path / "whole") == contents(tmp_path / "parts")
    found = read_findings(tmp_path / "whole" / "group")
    assert found.designs[0].test == "group"
    assert set(found.regions["measure"]) == {"degree", "within_z", "participation"}
    recordings = pd.read_csv(tmp_path / "whole" / "recordings.tsv", sep="\t")
    assert recordings["group"].tolist() == ["NC", "ASD"] * 7


def test_what_cannot_be_done_is_said(files, tmp_path, run):
    empty = run("study", str(files), str(tmp_path / "nothing"), "group")
    assert empty.code == 2
    assert "participant level" in empty.err
    level = run("study", str(files), str(tmp_path / "out"), "--atlas", "unknown", "--kind", "series", "--level", "0.1")
    assert level.code == 2
    assert "--at" in level.err
    words = ["study", str(files), str(tmp_path / "out"), "--atlas", "unknown", "--kind", "series"]
    impossible = run(*words, *FEW, "--design", "~ group + iq")
    assert impossible.code == 2
    assert "iq" in impossible.err
    assert not (tmp_path / "out").exists()  # nothing was measured for it
