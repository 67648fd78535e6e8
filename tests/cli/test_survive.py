"""The command of specifications: what it says before and after, and that it goes on where it was."""

import json

import numpy as np
import pytest
from study_cohorts import small_cohort

from biobgt.specifications.folder import VERDICT

FINDING = ["--finding", "mean-connectivity", "--first", "NC", "--second", "ASD", "--permutations", "99"]
FEW = [*FINDING, "--workers", "1", "--atlas", "unknown", "--kind", "series"]


@pytest.fixture
def files(tmp_path):
    """Series of fourteen people as files, with a table of their groups."""
    folder = tmp_path / "people"
    folder.mkdir()
    cohort = small_cohort(14)
    for subject in cohort:
        np.savetxt(folder / f"{subject.id}_timeseries.tsv", subject.series, delimiter="\t")
    table = cohort.table().rename(columns={"subject": "participant_id"})
    table[["participant_id", "group", "age"]].to_csv(folder / "participants.tsv", sep="\t", index=False)
    return folder


def test_it_says_what_it_will_do_and_what_it_found(files, tmp_path, run):
    out = tmp_path / "out"
    planned = run("survive", str(files), str(out), *FEW, "--plan")
    assert planned.code == 0, planned.err
    assert "2 specifications: 28 graphs of 14 recordings" in planned.out
    assert "global signal (2, global-signal)" in planned.err
    assert not out.exists()
    found = run("survive", str(files), str(out), *FEW)
    assert found.code == 0, found.err
    verdict = json.loads((out / VERDICT).read_text(encoding="utf-8"))
    assert verdict["sentence"] in found.out
    assert verdict["ways"] == 2
    assert 0 < verdict["joint_test"]["median_p"] <= 1
    alone = run("survive", str(files), str(out), *FEW, "--off", "global-signal")
    assert "Not varied: global signal" in alone.err
    assert "1 specification: 14 graphs" in alone.out


def test_what_it_cannot_do_is_said(files, tmp_path, run):
    for words, said in ((["--finding", "hub"], "--region"), (["--off", "moon"], "moon"), (["--finding", "x"], "x")):
        refused = run("survive", str(files), str(tmp_path / "out"), "--atlas", "unknown", "--kind", "series", *words)
        assert refused.code == 2
        assert said in refused.err
