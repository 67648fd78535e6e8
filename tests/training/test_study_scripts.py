"""The scripts behind docs/model.md: what they write is complete, and a stopped run goes on without repeating itself."""

import importlib.util
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest
from planted_cohort import planted_cohort, small

from assets.studies.citation_tables import NETWORKS, TITLES, shown_citations

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


def test_the_committed_citations_are_complete() -> None:
    """Every setting with the seeds that choose, the chosen ones with all, each line once and with its own metrics."""
    study = _script("citation_graphs")
    lines = pd.read_csv(study.FILE)
    assert list(lines.columns) == study.COLUMNS
    assert not lines.duplicated(study.WHICH).any()
    known = {(*which, training.epochs) for which, (_, training) in study.SETTINGS.items()}
    assert set(lines[["system", "settings", "most_epochs"]].itertuples(index=False, name=None)) == known
    seeds = lines.groupby(["data", "system", "settings"])["seed"].agg(set)
    assert len(seeds) == len(NETWORKS) * len(known)
    chosen = set(study.chosen_settings(lines)[list(seeds.index.names)].itertuples(index=False, name=None))
    for which, found in seeds.items():
        assert set(range(study.SEEDS if which in chosen else study.SEEDS_TO_CHOOSE)) <= found
    # A share of 1,000 test papers has three digits; F1, a mean over classes, has more.
    assert (lines["accuracy"] == lines["accuracy"].round(3)).all()
    assert (lines["f1"] != lines["f1"].round(3)).mean() > 0.5


def test_a_stopped_run_over_citations_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study, asked = _script("citation_graphs"), []
    monkeypatch.setattr(study, "FILE", tmp_path / "lines.csv")
    monkeypatch.setattr(study, "read_citations", lambda file, kept: file.stem)
    best = "kernel, dropout 0.5, rate 0.01"

    def fitted(network: str, build: object, training: object, *, seed: int) -> dict[str, float]:
        settings = next(name for (_, name), given in study.SETTINGS.items() if given == (build, training))
        asked.append((network, settings, seed))
        found = {"accuracy": 0.4, "auc": 0.5, "f1": 0.3, "epoch": 7, "parameters": 9}  # in any order
        return {**found, "validation_accuracy": 0.7 if settings == best else 0.6}

    monkeypatch.setattr(study, "fit_nodes", fitted)
    study.main(tmp_path, tmp_path)
    table = shown_citations(pd.read_csv(study.FILE)).set_index(["network", "system"])
    assert table.loc[("Cora", "BioBGT"), ["settings", "seeds"]].tolist() == [best, "10"]
    assert table.loc[("Cora", "GAT"), ["settings", "seeds"]].tolist() == ["as published", "10"]
    assert table["accuracy"].eq("40.0 ± 0.0").all()
    assert table["F1"].eq("30.0 ± 0.0").all()
    n, n_systems = len(asked), len(TITLES)
    assert n == len(NETWORKS) * (len(study.SETTINGS) * 2 + n_systems * 8)  # two seeds each, the best with eight more
    study.main(tmp_path, tmp_path)
    assert len(asked) == n  # nothing is done twice
    longer = {which: (build, replace(training, epochs=9)) for which, (build, training) in study.SETTINGS.items()}
    monkeypatch.setattr(study, "SETTINGS", longer)
    study.run("cora", "cora", "gat", "as published", 0)
    assert len(asked) == n + 1  # trained for longer, it is another run
