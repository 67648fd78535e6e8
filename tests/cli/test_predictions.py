"""What a model says in tables: which model it was, whether it is simulated, and who could not be asked about."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biobgt import __version__
from biobgt.connectome import functional_connectivity
from biobgt.model.ensemble import OF_SIMULATED
from biobgt.model.pretrained import load_card

MODEL = "adsim-aal90"


@pytest.fixture(scope="module")
def mixed(simulated_cohort, tmp_path_factory) -> Path:
    """Matrices of three people; that of b is in Fisher z."""
    folder = tmp_path_factory.mktemp("mixed")
    for name, subject in zip("abc", simulated_cohort, strict=False):
        matrix = functional_connectivity(subject.series)
        if name == "b":
            matrix[3, 4] = matrix[4, 3] = 1.5
        np.savetxt(folder / f"{name}.csv", matrix, delimiter=",")
    return folder


def _model_of(file: Path) -> dict[str, object]:
    said = json.loads(file.read_text(encoding="utf-8"))
    return {key: said[key] for key in ("model", "weights_sha256", "simulated", "version")}


def test_one_bad_subject_has_a_row_with_the_reason_and_the_others_are_predicted(run, mixed, tmp_path):
    ended = run("predict", mixed, "--kind", "connectivity", "--model", MODEL, "--out", tmp_path / "p.csv")
    assert ended.code == 0, ended.err
    table = pd.read_csv(tmp_path / "p.csv", keep_default_na=False)
    assert list(table.columns) == ["subject", "p_NC", "p_MCI", "p_AD", "prediction", "warning"]
    assert table["subject"].tolist() == ["a", "b", "c"]
    assert table.loc[1, ["p_NC", "p_MCI", "p_AD", "prediction"]].tolist() == [""] * 4
    assert table.loc[1, "warning"].startswith("Subject 'b' was brought as a matrix with values beyond ±1")
    for row in (0, 2):
        p = table.loc[row, ["p_NC", "p_MCI", "p_AD"]].astype(float)
        assert p.sum() == pytest.approx(1, abs=1e-5)
        assert table.loc[row, "prediction"] == p.idxmax().removeprefix("p_")
        assert table.loc[row, "warning"].split("; ")[0] == OF_SIMULATED == "model trained on simulated patients"
    assert "Not predicted: 1 subject;" in ended.out
    assert "To be taken with care: 2 subjects;" in ended.out
    expected = {"model": MODEL, "weights_sha256": load_card(MODEL)["sha256"], "simulated": True}
    assert _model_of(tmp_path / "p_model.json") == expected | {"version": __version__}


def test_a_file_that_cannot_be_read_is_named(run, mixed, tmp_path):
    for file in mixed.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "d.csv").write_text("1,x\nx,1\n")
    ended = run("predict", tmp_path, "--kind", "connectivity", "--model", MODEL, "--out", tmp_path / "out" / "p.csv")
    assert ended.code == 0, ended.err
    assert "Files that could not be read: 1" in ended.out
    assert "d.csv" in ended.out
    assert pd.read_csv(tmp_path / "out" / "p.csv")["subject"].tolist() == ["a", "b", "c"]


def test_attention_of_the_others_is_written_and_the_bad_one_is_refused(run, mixed, tmp_path):
    ended = run("attention", mixed, "--kind", "connectivity", "--model", MODEL, "--out", tmp_path)
    assert ended.code == 0, ended.err
    assert sorted(path.name for path in (tmp_path / "attention").iterdir()) == ["a.npz", "c.npz"]
    for table in ("module_contrast", "attention_received", "module_blocks", "sources"):
        assert pd.read_csv(tmp_path / f"{table}.csv")["subject"].tolist() == ["a", "c"]
    (refused,) = pd.read_csv(tmp_path / "refused.csv").to_dict("records")
    assert refused["file"] == "b.csv"
    assert "values beyond ±1" in refused["why"]
    assert "Attention of 2 subjects" in ended.out
    assert _model_of(tmp_path / "model.json")["simulated"] is True


def test_attention_of_nobody_is_refused(run, mixed, tmp_path):
    ended = run("attention", mixed / "b.csv", "--kind", "connectivity", "--model", MODEL, "--out", tmp_path / "new")
    assert ended.code == 2
    assert "values beyond ±1" in ended.err
    assert not (tmp_path / "new").exists()
