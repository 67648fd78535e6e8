"""Commands about models: predictions, attention, the benchmark."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from ended_jobs import refused

from biobgt import __version__
from biobgt.cli.arguments import typed_command
from biobgt.data.connectivity import functional_connectivity
from biobgt.model.ensemble import OF_SIMULATED, Ensemble
from biobgt.model.folder import load_card


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("--data /home/me/abide --out pretrained/mine --resume", "--data DATA --out pretrained/mine"),
        ("--data=x --out=/home/me/models/mine --threads 2", "--data DATA --out mine"),
        ("--data x --out o --phenotypes /home/me/table.csv", "--data DATA --out o --phenotypes table.csv"),
        ("--data x --out o --runs=/scratch/r --seed 3", "--data DATA --out o --seed 3"),
    ],
)
def test_no_path_of_the_machine_is_on_a_card(typed: str, said: str) -> None:
    assert typed_command(["train", "--cohort", "abide", *typed.split()]) == f"biobgt train --cohort abide {said}"


def test_the_benchmark_prints_its_tables_and_why_a_row_is_empty(done, simulated, tmp_path):
    asked = ("--cohort", "folder", "--data", simulated, "--out", tmp_path, "--threads", 1, "--splits", 2)
    ended = done("benchmark", *asked, "--models", "ridge-fisher-z,gtsp,ridge-log", "--device", "cpu")
    assert "Test results" in ended.out
    assert "GTSP: GTSP prunes tokens" in ended.out
    assert "GTSP: not run." in ended.err
    lines = pd.read_csv(tmp_path / "results.csv")
    assert lines["model"].tolist() == ["ridge-fisher-z", "ridge-fisher-z", "ridge-log", "ridge-log"]
    assert {"accuracy", "auc", "f1", "sensitivity", "specificity", "brier", "seconds", "parameters"} <= set(lines)


def test_the_benchmark_lists_the_keys_of_its_models(done, tmp_path):
    ended = done("benchmark", "--cohort", "folder", "--data", tmp_path, "--out", tmp_path / "out", "--models", "list")
    for key in ("ridge-log", "paper-without-ne", "graphormer", "braingb-gcn"):
        assert key in ended.out
    assert not (tmp_path / "out").exists()


MODEL = "adsim-aal90"
MATRICES = ("--kind", "connectivity", "--atlas", "aal90")  # nameless, so the files do not say it


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


def test_one_bad_subject_has_a_row_with_the_reason_and_the_others_are_predicted(done, mixed, tmp_path):
    ended = done("predict", mixed, *MATRICES, "--model", MODEL, "--out", tmp_path / "p.csv")
    table = pd.read_csv(tmp_path / "p.csv", keep_default_na=False)
    assert list(table.columns) == ["subject", "p_NC", "p_MCI", "p_AD", "prediction", "warning"]
    assert table["subject"].tolist() == ["a", "b", "c"]
    assert table.loc[1, ["p_NC", "p_MCI", "p_AD", "prediction"]].tolist() == [""] * 4
    assert table.loc[1, "warning"].startswith("Subject 'b' has a matrix with values beyond ±1")
    for row in (0, 2):
        p = table.loc[row, ["p_NC", "p_MCI", "p_AD"]].astype(float)
        assert p.sum() == pytest.approx(1, abs=1e-5)
        assert table.loc[row, "prediction"] == p.idxmax().removeprefix("p_")
        assert table.loc[row, "warning"].split("; ")[0] == OF_SIMULATED == "model trained on simulated patients"
    assert "Not predicted: 1 subject;" in ended.out
    assert "With a warning: 2 subjects;" in ended.out
    expected = {"model": MODEL, "weights_sha256": load_card(MODEL)["sha256"], "simulated": True}
    assert _model_of(tmp_path / "p_model.json") == expected | {"version": __version__}


def test_worse_recordings_are_asked_about_where_there_are_series(done, run, simulated, mixed, tmp_path):
    asked = ("--model", MODEL, "--out", tmp_path / "p.csv", "--corrupted")
    one = next(file for file in sorted(simulated.iterdir()) if file.name.startswith("sim-"))
    ended = done("predict", one, "--atlas", "aal90", *asked)
    table = pd.read_csv(tmp_path / "p_corrupted.csv", keep_default_na=False)
    assert list(table.columns) == ["subject", "kind", "strength", "p_NC", "p_MCI", "p_AD", "prediction", "warning"]
    plain = pd.read_csv(tmp_path / "p.csv")
    first = table.iloc[0]
    assert (first["kind"], first["warning"]) == ("as recorded", "")
    assert float(first["p_AD"]) == pytest.approx(plain["p_AD"].iloc[0], abs=2e-6)
    assert set(table["kind"]) == {"as recorded", "short", "noise", "spikes", "global", "filter"}
    flips = table.loc[(table["prediction"] != first["prediction"]) & (table["prediction"] != ""), "kind"]
    told = " ".join(ended.out.partition("Worse recordings")[2].replace("│", " ").split())
    assert ("The call flips when" in told) == bool(len(flips))
    assert ("No corruption that was tried" in told) != bool(len(flips))
    matrix = run("predict", mixed / "a.csv", *MATRICES, "--model", MODEL, "--out", tmp_path / "m.csv", "--corrupted")
    refused(matrix, "region series alone")
    assert not (tmp_path / "m.csv").exists()


def test_a_file_that_cannot_be_read_is_named(done, mixed, tmp_path):
    for file in mixed.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "d.csv").write_text("1,x\nx,1\n")
    ended = done("predict", tmp_path, *MATRICES, "--model", MODEL, "--out", tmp_path / "out" / "p.csv")
    assert "Files that could not be read: 1" in ended.out
    assert "d.csv" in ended.out
    assert pd.read_csv(tmp_path / "out" / "p.csv")["subject"].tolist() == ["a", "b", "c"]


def test_attention_of_the_others_is_written_and_the_bad_one_is_refused(done, mixed, tmp_path):
    ended = done("attention", mixed, *MATRICES, "--model", MODEL, "--out", tmp_path)
    assert sorted(path.name for path in (tmp_path / "attention").iterdir()) == ["a.npz", "c.npz"]
    for table in ("module_contrast", "attention_received", "module_blocks", "sources"):
        assert pd.read_csv(tmp_path / f"{table}.csv")["subject"].tolist() == ["a", "c"]
    (why,) = pd.read_csv(tmp_path / "refused.csv").to_dict("records")
    assert why["file"] == "b.csv"
    assert "values beyond ±1" in why["why"]
    assert "Attention of 2 subjects" in ended.out
    assert _model_of(tmp_path / "model.json")["simulated"] is True


@pytest.mark.parametrize(
    ("job", "out", "runs", "n_runs"), [("predict", "p.csv", "probabilities", 1), ("attention", "", "explain", 2)]
)
def test_what_a_model_said_is_kept_in_a_folder_and_the_same(thrice, mixed, monkeypatch, job, out, runs, n_runs):
    said, ask = [], getattr(Ensemble, runs)

    def counted(*arguments, **options):
        found = ask(*arguments, **options)  # refuses b
        said.append(found)
        return found

    monkeypatch.setattr(Ensemble, runs, counted)
    assert thrice(said, job, mixed, *MATRICES, "--model", MODEL, out=out) == [n_runs, n_runs, 0]


def test_attention_of_nobody_is_refused(run, mixed, tmp_path):
    refused(run("attention", mixed / "b.csv", *MATRICES, "--model", MODEL, "--out", tmp_path / "new"), "beyond ±1")
    assert not (tmp_path / "new").exists()


def test_no_prediction_where_only_a_number_of_regions_speaks_for_the_atlas(run, done, tmp_path, bold):
    """A nameless table of 200 regions, or of 200 time points: a model of CC200 is asked once the user said that."""
    predict = ("predict", tmp_path / "s.npy", "--model", "abide-cc200", "--out", tmp_path / "out" / "p.csv")
    np.save(tmp_path / "s.npy", bold(200, 102))
    by_shape = "time-region (200 time points of 102 regions) or region-time (102 time points of 200 regions)"
    refused(run(*predict), by_shape, "in 2,278 of 2,278 real series", "Answer with --orientation.")
    refused(run(*predict, "--orientation", "time-region"), "has 102 (unknown102). Choose a model of that atlas.")
    np.save(tmp_path / "s.npy", bold(150, 200))
    several = "200 regions fit more than one atlas: Craddock CC200; Schaefer"
    refused(run(*predict, "--orientation", "time-region"), several, "Answer with --atlas.")
    unknown = ("--orientation", "time-region", "--atlas", "unknown")
    refused(run(*predict, *unknown), "trained on atlas cc200; cohort 's' is on unknown200")
    assert not (tmp_path / "out").exists()
    done(*predict, "--atlas", "cc200")
    assert pd.read_csv(tmp_path / "out" / "p.csv")["subject"].tolist() == ["s"]


def test_a_network_of_two_cohorts_is_trained_and_measured_again(run, done, small, small_cohort, tmp_path, monkeypatch):
    def cohort_of(kind, *_, **__):
        rng, several = np.random.default_rng(len(kind)), enumerate([*small_cohort] * 5)
        subjects = [replace(one, id=f"{kind}{i}", series=one.series + rng.normal(size=(150, 12))) for i, one in several]
        return replace(small_cohort, name=kind, subjects=tuple(subjects))

    monkeypatch.setattr("biobgt.cli.models.training_cohort", cohort_of)
    net = tmp_path / "net"
    both = ("--cohort", "abide", "--cohort", "adni", "--data", small[0], "--out", net, "--threads", 1)
    refused(run("train", *both, "--phenotypes", "groups.csv"), "leave out --phenotypes")
    done("train", *both, "--folds", 3, "--epochs", 1, "--device", "cpu")
    files = ("model.safetensors", "tests.csv", "abide/tests.csv", "adni/groups.npz")
    written = [(net / name).read_bytes() for name in files]
    cards = [net / "abide" / "card.json", net / "adni" / "card.json"]
    faithful = [load_card(card.parent)["faithfulness"] for card in cards]
    assert [one["n"] for one in faithful] == [len(small_cohort) * 5] * 2
    for card in cards:
        card.write_text(json.dumps(load_card(card.parent) | {"faithfulness": None}), encoding="utf-8")
    ended = done("card", "--model", net, "--data", small[0], "--threads", 1, "--no-faithfulness")
    assert [load_card(card.parent)["faithfulness"] for card in cards] == [None, None]
    assert "has not been measured" in (net / "abide" / "README.md").read_text()
    only = done("card", "--model", net, "--data", small[0], "--threads", 1, "--faithfulness-only")
    assert "Checks of adni" not in only.err
    assert [load_card(card.parent)["faithfulness"] for card in cards] == faithful, "the same from the same seed"
    assert "Checks of adni" in ended.err
    assert "Cards and tests written" in ended.out
    assert [(net / name).read_bytes() for name in files] == written
    refused(run("card", "--model", net / "abide", "--data", small[0]), "is a readout of net")
