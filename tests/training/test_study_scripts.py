"""The scripts behind docs/model.md: what they write is complete, and a stopped run goes on without repeating itself."""

import importlib.util
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest
from planted_cohort import planted_cohort, small

STUDIES = Path(__file__).resolve().parents[2] / "assets" / "studies"


def _script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, STUDIES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_ablation_covers_every_variant_with_and_without_ne() -> None:
    variants = set(_script("model_ablation").VARIANTS)
    assert {"NE shuffled over regions", "no NE: one vector for all regions"} <= variants
    table = pd.read_csv(STUDIES / "model_ablation.csv")
    lines = {(variant, fold) for variant, fold in zip(table["variant"], table["fold"], strict=True)}
    assert lines == {(variant, f"fold {number}") for variant in variants for number in (1, 2, 3)}
    assert len(lines) == len(table)


def test_one_training_gives_the_result_of_every_stopping_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    study = _script("paper_presets")
    paper = replace(small("paper-abide"), epochs=5, learning_rate=5e-2, warmup_epochs=0)
    monkeypatch.setattr(study, "RESULTS", tmp_path / "results.csv")
    monkeypatch.setattr(study, "PAPER", paper)
    monkeypatch.setattr(study, "STOPS_EARLY", replace(paper, patience=1))
    monkeypatch.setattr(study, "training_cohort", lambda kind, data: planted_cohort(16))
    study.main(tmp_path, tmp_path / "work", 1, None)
    assert capsys.readouterr().out.count("epoch") == 5  # every epoch was trained once
    table = pd.read_csv(tmp_path / "results.csv").set_index("rule")
    assert list(table.index) == [study.EARLY, study.BEST_EPOCH, study.LAST_EPOCH]
    epochs = pd.read_csv(next((tmp_path / "work").iterdir()) / "epochs.csv")["validation_loss"]
    trained = int(table.loc[study.EARLY, "epochs_trained"])
    assert table["epochs_trained"].tolist() == [trained, 5, 5]
    assert trained < 5
    assert table.loc[study.EARLY, "epoch_tested"] == epochs[:trained].argmin() + 1
    assert table.loc[study.BEST_EPOCH, "epoch_tested"] == epochs.argmin() + 1
    assert table.loc[study.LAST_EPOCH, "epoch_tested"] == 5
    study.main(tmp_path, tmp_path / "work", 1, None)
    assert capsys.readouterr().out == ""  # nothing is done twice
    assert len(pd.read_csv(tmp_path / "results.csv")) == 3


def test_the_documented_citations_are_those_of_the_committed_lines() -> None:
    study = _script("citation_graphs")
    lines = pd.read_csv(study.FILE)
    assert not lines.duplicated(["data", "system", "settings", "seed"]).any()
    assert {(system, settings) for system, settings in zip(lines["system"], lines["settings"], strict=True)} <= set(
        study.SETTINGS
    )
    documented = (STUDIES.parents[1] / "docs" / "benchmark.md").read_text(encoding="utf-8")
    table = study.table_lines(study.chosen_settings(lines))
    assert table in documented, "Run assets/studies/citation_graphs.py with --table and put it into docs/benchmark.md."


def test_a_stopped_run_over_citations_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study, asked = _script("citation_graphs"), []
    monkeypatch.setattr(study, "FILE", tmp_path / "lines.csv")
    monkeypatch.setattr(study, "read_citations", lambda file, kept: file.stem)
    best = "kernel, dropout 0.5, rate 0.01"

    def fitted(network: str, build: object, training: object, *, seed: int) -> dict[str, float]:
        settings = next(name for (_, name), given in study.SETTINGS.items() if given == (build, training))
        asked.append((network, settings, seed))
        return {"validation_accuracy": 0.7 if settings == best else 0.6, "accuracy": 0.5, "f1": 0.5, "auc": 0.5}

    monkeypatch.setattr(study, "fit_nodes", fitted)
    study.main(tmp_path, tmp_path)
    table = study.table_lines(study.chosen_settings(pd.read_csv(study.FILE)))
    assert f"BioBGT | {best} | 10 |" in table
    assert "GAT | as published | 10 |" in table
    n = len(asked)
    assert n == 2 * (10 + 2 * (8 * 2 + 8))  # GAT; eight settings with two seeds, and the best with eight more
    study.main(tmp_path, tmp_path)
    assert len(asked) == n  # nothing is done twice
