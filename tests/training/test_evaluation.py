"""Evaluation: what is written is not computed again, nothing stands twice, and nobody who is tested is learned from."""

import csv
import itertools
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from full_disk import files_end_at
from planted_cohort import small

import biobgt.training.evaluation
from biobgt.base.errors import InputError
from biobgt.model.calibration import calibrated
from biobgt.training.evaluation import _Fitted, evaluate, paired_with_baselines, read_results, summarise
from biobgt.training.folds import LabelledGraphs
from biobgt.training.metrics import METRICS, classification_metrics
from biobgt.training.splits import Split, cross_validation

Splits = tuple[Split, ...]
PRESET = small("best", epochs=1, pretrain_steps=2)


@pytest.fixture
def splits(data: LabelledGraphs) -> Splits:
    return cross_validation([data.groups[label] for label in data.labels], folds=4)[:3]


@pytest.fixture
def trainings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The seeds of the trainings that were run."""
    seeds: list[int] = []
    original = biobgt.training.evaluation.train_model

    def counted(*parts: object, seed: int, **options: object) -> object:
        seeds.append(seed)
        return original(*parts, seed=seed, **options)

    monkeypatch.setattr(biobgt.training.evaluation, "train_model", counted)
    return seeds


def _evaluate(data: LabelledGraphs, splits: Splits, folder: Path, **options: object) -> pd.DataFrame:
    return evaluate(data, splits, PRESET, protocol="folds", folder=folder, seed=10, **options)


def _texts(folder: Path) -> list[list[str]]:
    return [sorted((folder / name).read_text().splitlines()) for name in ("results.csv", "predictions.csv")]


def test_it_goes_on_where_it_was(data: LabelledGraphs, splits: Splits, trainings: list[int], tmp_path: Path) -> None:
    whole = _evaluate(data, splits, tmp_path / "whole")
    assert trainings == [10, 11, 12]
    assert len(whole) == 3 * 4  # three linear models and ours on each split
    trainings.clear()
    _evaluate(data, splits[:1], tmp_path / "stopped")
    _evaluate(data, splits, tmp_path / "stopped")
    assert trainings == [10, 11, 12]  # the first split only once
    _evaluate(data, splits, tmp_path / "stopped")
    assert len(trainings) == 3
    assert _texts(tmp_path / "stopped") == _texts(tmp_path / "whole")
    assert not whole.duplicated(["protocol", "split", "model"]).any()


def _killed_at(point: int, job: Callable[[], object], folder: Path) -> bool:
    """Do a job in a process that kills itself at its n-th call to the file system in a folder; True where it did."""
    child = os.fork()
    if child == 0:
        calls = 0

        def hook(event: str, given: tuple[object, ...]) -> None:
            nonlocal calls
            if (event == "open" or event.startswith("os.")) and str(folder) in str(given):
                calls += 1
                if calls == point:
                    os.kill(os.getpid(), signal.SIGKILL)

        try:
            sys.addaudithook(hook)
            job()
            os._exit(0)
        finally:
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -signal.SIGKILL)
    return code != 0


def test_killed_anywhere_its_lines_are_whole_and_the_next_run_ends_as_if_nothing_had_been(
    data: LabelledGraphs, splits: Splits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def guessed(system: object, data: LabelledGraphs, graphs: object, split: Split, **_: object) -> _Fitted:
        rng = np.random.default_rng(split.test[0])
        return _Fitted(*(rng.standard_normal((len(rows), 2)) for rows in (split.validation, split.test)), np.nan)

    monkeypatch.setattr(biobgt.training.evaluation, "fit_system", guessed)  # a fork must not compute with torch
    _evaluate(data, splits[:2], tmp_path / "whole", linear=False)
    for point in itertools.count(1):
        folder = tmp_path / f"killed-{point}"
        if not _killed_at(point, lambda folder=folder: _evaluate(data, splits[:2], folder, linear=False), folder):
            break
        for name, expected in zip(("results.csv", "predictions.csv"), _texts(tmp_path / "whole"), strict=True):
            if (folder / name).exists():
                assert set((folder / name).read_text().splitlines()) <= set(expected)
        for left in folder.glob(".*") if folder.exists() else ():
            os.utime(left, (0, 0))  # an empty one may be a living process's for a minute
        _evaluate(data, splits[:2], folder, linear=False)
        assert _texts(folder) == _texts(tmp_path / "whole")
        assert sorted(path.name for path in folder.iterdir()) == ["predictions.csv", "results.csv"]
    assert point > 20


def test_another_protocol_stands_beside(data: LabelledGraphs, splits: Splits, tmp_path: Path) -> None:
    _evaluate(data, splits[:1], tmp_path)
    other = evaluate(data, splits[:1], PRESET, protocol="sites", folder=tmp_path, linear=False)
    assert other["protocol"].tolist() == ["sites"]
    assert len(read_results(tmp_path)) == 5


def test_lines_of_another_run_are_not_taken_for_this_ones(data: LabelledGraphs, splits: Splits, tmp_path: Path) -> None:
    _evaluate(data, splits[:1], tmp_path)
    before = _texts(tmp_path)
    with pytest.raises(InputError, match="holds best on fold 1 from other subjects, settings or another seed"):
        evaluate(data, splits[:1], PRESET, protocol="folds", folder=tmp_path, seed=11)
    with pytest.raises(InputError, match="holds linear fisher-z on fold 1"):
        _evaluate(replace(data, labels=1 - data.labels), splits[:1], tmp_path)
    assert _texts(tmp_path) == before


def test_models_are_compared_split_by_split() -> None:
    aucs = {"best": 0.7, "linear log": 0.6}
    lines = [("random", f"split {i}", model, auc + 0.1 * i) for i in range(3) for model, auc in aucs.items()]
    lines += [("sites", "A", "best", 0.5), ("sites", "A", "linear log", 0.9)]  # one split says nothing of its spread
    table = paired_with_baselines(pd.DataFrame(lines, columns=["protocol", "split", "model", "auc"]), "best")
    assert table[["protocol", "baseline", "splits"]].to_numpy().tolist() == [["random", "linear log", 3]]
    assert table[["difference", "low", "high"]].to_numpy()[0] == pytest.approx([0.1, 0.1, 0.1])
    assert paired_with_baselines(pd.DataFrame(lines, columns=["protocol", "split", "model", "auc"]), "other").empty


def test_metrics_are_those_of_the_predictions_written(data: LabelledGraphs, splits: Splits, tmp_path: Path) -> None:
    results = _evaluate(data, splits, tmp_path)
    predictions = pd.read_csv(tmp_path / "predictions.csv")
    assert predictions.groupby(["split", "model"]).size().eq([len(s.test) for s in splits for _ in range(4)]).all()
    for row in results.to_dict("records"):
        tested = predictions[(predictions["split"] == row["split"]) & (predictions["model"] == row["model"])]
        probabilities = tested[["p_NC", "p_ASD"]].to_numpy()
        truth = (tested["group"] == "ASD").astype(int).to_numpy()
        expected = classification_metrics(truth, probabilities, ("NC", "ASD"))
        assert [row[name] for name in METRICS] == pytest.approx([expected[name] for name in METRICS], abs=1e-3)
        logits = tested[["logit_NC", "logit_ASD"]].to_numpy()
        np.testing.assert_allclose(calibrated(logits, row["temperature"]), probabilities, atol=1e-3)
    table = summarise(results)
    ours = results.loc[results["model"] == "best", "auc"]
    assert table.loc[table["model"] == "best", "auc mean"].item() == pytest.approx(ours.mean())
    assert table.loc[table["model"] == "best", "auc std"].item() == pytest.approx(ours.std())


@pytest.mark.parametrize("cut", [3, 30, 1], ids=["in a number", "in the names", "before the line's end"])
@pytest.mark.parametrize("name", ["results.csv", "predictions.csv"])
def test_a_line_that_was_cut_off_is_done_again_and_nothing_is_glued_to_it(
    data: LabelledGraphs, splits: Splits, trainings: list[int], tmp_path: Path, name: str, cut: int
) -> None:
    _evaluate(data, splits, tmp_path / "whole", linear=False)
    _evaluate(data, splits[:2], tmp_path / "cut", linear=False)
    text = (tmp_path / "cut" / name).read_text()
    (tmp_path / "cut" / name).write_text(text[:-cut])
    if name == "predictions.csv":  # a full disk: the line of results was not reached
        lines = (tmp_path / "cut" / "results.csv").read_text().splitlines(keepends=True)
        (tmp_path / "cut" / "results.csv").write_text("".join(lines[:-1]))
    assert len(read_results(tmp_path / "cut")) == 1
    trainings.clear()
    _evaluate(data, splits, tmp_path / "cut", linear=False)
    assert trainings == [11, 12]
    assert _texts(tmp_path / "cut") == _texts(tmp_path / "whole")


def test_a_damaged_line_in_the_middle_is_named(data: LabelledGraphs, splits: Splits, tmp_path: Path) -> None:
    _evaluate(data, splits[:2], tmp_path, linear=False)
    lines = (tmp_path / "results.csv").read_text().splitlines()
    (tmp_path / "results.csv").write_text(f"{lines[0]}\n{lines[1]}{lines[2]}\n{lines[2]}\n")
    with pytest.raises(InputError, match=r"Line 2 of .*results.csv' has .* values where .* Delete that line"):
        _evaluate(data, splits[:2], tmp_path, linear=False)


def test_a_full_disk_keeps_the_lines_that_were_done(
    data: LabelledGraphs, splits: Splits, trainings: list[int], tmp_path: Path
) -> None:
    _evaluate(data, splits[:1], tmp_path, linear=False)
    before = _texts(tmp_path)
    size = (tmp_path / "predictions.csv").stat().st_size
    with files_end_at(size + 50), pytest.raises(OSError, match="File too large"):
        _evaluate(data, splits, tmp_path, linear=False)
    assert _texts(tmp_path) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["predictions.csv", "results.csv"]


def test_results_that_are_not_there_yet_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "results.csv").write_text("protocol,spl")
    with pytest.raises(InputError, match="There are no results"):
        read_results(tmp_path)


def test_names_that_are_formulas_run_in_no_spreadsheet_and_are_found_again(
    data: LabelledGraphs, splits: Splits, trainings: list[int], tmp_path: Path
) -> None:
    """A site, groups and subjects from a phenotype table that somebody else filled in."""
    hostile = replace(data, groups=("=NC", "@ASD"), subjects=tuple(f"=1+{name}" for name in data.subjects))
    site = (replace(splits[0], name="=HYPERLINK(1)"),)
    first = _evaluate(hostile, site, tmp_path)
    for name in ("results.csv", "predictions.csv"):
        cells = [cell for row in csv.reader((tmp_path / name).open()) for cell in row]
        assert not [cell for cell in cells if cell.startswith(("=", "@", "+"))]
    again = _evaluate(hostile, site, tmp_path)
    assert trainings == [10], "what is written is found again under its name"
    assert set(again["split"]) == {"=HYPERLINK(1)"}
    pd.testing.assert_frame_equal(again, first)
