"""Evaluation and the benchmark: lines are done once and whole, comparisons count the overlap in, and nobody leaks."""

import csv
import itertools
import os
import re
import signal
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from full_disk import files_end_at
from planted_cohort import planted_cohort, small
from scipy import stats

from assets.studies import benchmark_tables
from assets.studies.attention_systems import mean_attention
from biobgt.base.errors import InputError
from biobgt.base.files import asset
from biobgt.data.cohort import Cohort
from biobgt.model.network import GraphBatch
from biobgt.model.presets import Preset, preset_named
from biobgt.model.systems import NETWORK_TRAINING, BioBGTSystem, NetworkSystem, System, benchmark_systems
from biobgt.training import evaluation
from biobgt.training.cohorts import Split, cross_validation
from biobgt.training.evaluation import (
    _check_possible,
    _fit_system,
    _Fitted,
    _graphs_for,
    _inputs_of,
    evaluate,
    paired_with_baselines,
    read_results,
    run_benchmark,
    summarise,
)
from biobgt.training.folds import LabelledGraphs, label_graphs
from biobgt.training.metrics import METRICS, calibrated, classification_metrics, paired_difference
from biobgt.training.tables import BenchmarkTables
from docs.tools.study_tables import with_tables

Splits = tuple[Split, ...]
Graphs = Callable[[Preset], LabelledGraphs]
PRESET = small("best", epochs=1, pretrain_steps=2)


@pytest.fixture
def splits(data: LabelledGraphs) -> Splits:
    return cross_validation([data.groups[label] for label in data.labels], folds=4)[:3]


@pytest.fixture
def trainings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The seeds of the trainings that were run."""
    seeds: list[int] = []
    original = evaluation.train_model

    def counted(*parts: object, seed: int, **options: object) -> object:
        seeds.append(seed)
        return original(*parts, seed=seed, **options)

    monkeypatch.setattr(evaluation, "train_model", counted)
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

    monkeypatch.setattr(evaluation, "_fit_system", guessed)  # a fork must not compute with torch
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
    with pytest.raises(InputError, match="Line 2 of"):
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


# Systems of the benchmark. ------------------------------------------------------------------------------------------

SYSTEMS = benchmark_systems()
SHORT = replace(NETWORK_TRAINING, learning_rate=2e-3, batch_size=8, epochs=3, warmup_epochs=0, patience=0)


def quick(key: str) -> System:
    """A system of the register that trains in a second."""
    system = SYSTEMS[key]
    if isinstance(system, NetworkSystem):
        return replace(system, training=SHORT)
    if isinstance(system, BioBGTSystem):
        name = "best" if key == "best" else "paper-abide"
        return replace(system, preset=small(name, epochs=2, warmup_epochs=0, learning_rate=2e-3, layers=1))
    return system


# One of each kind: classical, network with batch normalisation, BioBGT with another importance.
KINDS = tuple(map(quick, ("ridge-fisher-z", "braingb-gcn", "paper-pe-dc")))


@pytest.fixture(scope="module")
def graphs(cohort: Cohort) -> Graphs:
    """The cohort prepared as the networks take it, for every preset."""
    data = label_graphs(cohort, small("paper-abide"))
    return lambda preset: data


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which systems were fitted on which splits."""
    done: list[str] = []
    original = evaluation._fit_system

    def counted(system: System, data: object, graphs: object, split: Split, **options: object) -> object:
        done.append(f"{system.key} {split.name}")
        return original(system, data, graphs, split, **options)

    monkeypatch.setattr(evaluation, "_fit_system", counted)
    return done


def test_a_run_is_a_line_and_is_never_done_again(
    graphs: Graphs, splits: Splits, fits: list[str], tmp_path: Path
) -> None:
    run_benchmark(graphs, splits[:1], KINDS[:2], folder=tmp_path)
    assert fits == ["ridge-fisher-z fold 1", "braingb-gcn fold 1"]
    results = run_benchmark(graphs, splits[:2], KINDS[:2], folder=tmp_path)
    assert fits[2:] == ["ridge-fisher-z fold 2", "braingb-gcn fold 2"]
    assert len(results) == 4
    assert (results["seconds"] > 0).all()
    by_model = results.groupby("model")["parameters"].first()
    assert by_model["ridge-fisher-z"] == 2 * (16 * 15 // 2 + 1)  # a row of coefficients and an intercept per group


def test_lines_of_other_settings_or_seeds_are_refused(graphs: Graphs, splits: Splits, tmp_path: Path) -> None:
    run_benchmark(graphs, splits[:1], KINDS[1:2], folder=tmp_path)
    longer = replace(KINDS[1], training=replace(SHORT, epochs=4))
    for systems, seed in (([longer], 0), (KINDS[1:2], 1)):
        with pytest.raises(InputError, match="holds braingb-gcn on fold 1"):
            run_benchmark(graphs, splits[:1], systems, folder=tmp_path, seed=seed)


def test_impossible_rows_cannot_be_written(
    graphs: Graphs, splits: Splits, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    published = {"accuracy": 0.7106, "sensitivity": 0.8904, "specificity": 0.8424}  # BioBGT's row on ADHD-200
    with pytest.raises(ValueError, match=r"An accuracy of 0\.711 cannot be"):
        _check_possible(published, ("NC", "ADHD"))
    _check_possible({"accuracy": 0.75, "sensitivity": 0.5, "specificity": 1.0}, ("NC", "ASD"))
    _check_possible({"accuracy": 0.9, "sensitivity": float("nan"), "specificity": 0.9}, ("NC", "ASD"))
    monkeypatch.setattr(
        evaluation, "classification_metrics", lambda *given: {**classification_metrics(*given), **published}
    )
    with pytest.raises(ValueError, match="cannot be"):
        run_benchmark(graphs, splits[:1], KINDS[:1], folder=tmp_path)
    assert not (tmp_path / "results.csv").exists()


def test_systems_are_compared_on_common_splits_with_overlap_and_many_tests_counted_in() -> None:
    aucs = {"ridge-log": [0.7, 0.72, 0.74], "a": [0.75, 0.78, 0.79], "b": [0.69, 0.73, 0.74], "c": [0.8]}
    lines = [
        {"protocol": "random", "split": f"split {i + 1}", "model": model, "auc": auc}
        for model, values in aucs.items()
        for i, auc in enumerate(values)
    ]
    results = pd.DataFrame(lines)
    found = BenchmarkTables(results).compared().set_index("model")
    assert list(found.index) == ["a", "b"]  # one split says nothing of its spread
    expected = {name: paired_difference(aucs[name], aucs["ridge-log"]) for name in ("a", "b")}
    for name, one in expected.items():
        assert found.loc[name, "difference"] == pytest.approx(one["mean"])
        assert found.loc[name, ["low", "high"]].tolist() == pytest.approx([one["corrected_low"], one["corrected_high"]])
    rates = stats.false_discovery_control([expected["a"]["p"], expected["b"]["p"]])
    assert found["q"].tolist() == pytest.approx(rates.tolist())
    costs = dict.fromkeys(("accuracy", "f1", "sensitivity", "specificity", "brier", "ece"), 1.0)
    table = BenchmarkTables(results.assign(**costs, seconds=2.0, parameters=5)).over_splits().set_index("model")
    # By hand: mean 0.72, variance 4e-4, standard error sqrt((1/3 + 1/8) 4e-4), t of 2 degrees 4.3027.
    assert table.loc["ridge-log", ["auc_low", "auc_high"]].tolist() == pytest.approx([0.66174, 0.77826], abs=1e-4)
    assert np.isnan(table.loc["c", "auc_low"])
    wide = results[results["model"] == "a"].assign(auc=[0.1, 0.9, 0.95], **costs, seconds=2.0, parameters=5)
    ends = BenchmarkTables(wide).over_splits().loc[0, ["auc_low", "auc_high"]]
    assert ends.tolist() == [0, 1]  # t gives -0.70 to 2.00
    assert BenchmarkTables(results).compared(reference="nobody").empty


def test_each_kind_of_system_has_the_inputs_of_its_preset() -> None:
    assert _inputs_of(SYSTEMS["ridge-log"]).name == "best"
    assert _inputs_of(SYSTEMS["graphormer"]).name == "paper-abide"
    assert _inputs_of(SYSTEMS["paper-adhd"]).threshold == 0


def test_one_row_stands_for_the_two_presets_that_are_equal() -> None:
    assert replace(preset_named("paper-adni"), name="paper-adhd") == preset_named("paper-adhd")
    assert "paper-adni" not in SYSTEMS


# Leaks. -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", KINDS, ids=lambda one: one.key)
def test_labels_by_lot_in_training_give_chance(system: System, graphs: Graphs, splits: Splits, tmp_path: Path) -> None:
    """The test subjects keep their true labels: what finds them was not learnt from the training subjects."""
    data, split, aucs = graphs(small("paper-abide")), splits[0], []
    seen = np.concatenate([split.train, split.validation])
    for seed in range(4):
        labels = data.labels.copy()
        labels[seen] = np.random.default_rng(seed).permutation(labels[seen])
        lot = replace(data, labels=labels)
        results = run_benchmark(lambda preset, lot=lot: lot, [split], [system], folder=tmp_path / str(seed))
        aucs += results["auc"].tolist()
    assert 0.2 < np.mean(aucs) < 0.8


@pytest.mark.parametrize("system", [*KINDS, SYSTEMS["ridge-tangent"]], ids=lambda one: one.key)
def test_a_subject_is_told_the_same_whoever_else_is_tested(
    system: System, graphs: Graphs, splits: Splits, tmp_path: Path
) -> None:
    """All test subjects but one become another's copy with the other label: the one is told the same, to the digit."""
    data, split = graphs(small("paper-abide")), splits[0]
    one, others = split.test[0], split.test[1:]
    labels, matrices, shrunk = data.labels.copy(), data.matrices.copy(), data.shrunk.copy()
    labels[others], matrices[others], shrunk[others] = 1 - labels[others], matrices[one], shrunk[one]
    tensors = {field.name: getattr(data.graphs, field.name).clone() for field in fields(GraphBatch)}
    for tensor in tensors.values():
        tensor[torch.tensor(others)] = tensor[one].clone()
    changed = replace(data, labels=labels, matrices=matrices, shrunk=shrunk, graphs=GraphBatch(**tensors))
    told = []
    for name, given in (("as it is", data), ("changed", changed)):
        run_benchmark(lambda preset, given=given: given, [split], [system], folder=tmp_path / name)
        lines = pd.read_csv(tmp_path / name / "predictions.csv").set_index("subject")
        temperature = read_results(tmp_path / name)["temperature"].item()
        told.append([temperature, *lines.loc[data.subjects[one], ["logit_NC", "logit_ASD", "p_ASD"]]])
    np.testing.assert_allclose(told[0], told[1], rtol=1e-5)


@pytest.mark.parametrize("system", [*KINDS, quick("best")], ids=lambda one: one.key)
def test_the_model_is_equal_whoever_is_tested(system: System, cohort: Cohort, splits: Splits) -> None:
    """Test subjects get the recording of somebody else and the other group before anything is measured of them."""
    split, strangers = splits[0], planted_cohort(20, seed=7).subjects
    other = {"NC": "ASD", "ASD": "NC"}
    changed = list(cohort.subjects)
    for row in split.test:
        one = cohort.subjects[row]
        changed[row] = replace(one, series=strangers[row].series, group=other[str(one.group)])
    preset = small("best" if system.key == "best" else "paper-abide")
    models, logits = [], []
    for given in (cohort, Cohort(cohort.name, tuple(changed), cohort.atlas)):
        data = label_graphs(given, preset)
        fitted = _fit_system(system, data, _graphs_for(system, data), split, seed=3)
        models.append({} if fitted.network is None else fitted.network.state_dict())
        logits.append((fitted.validation, fitted.test))
    assert models[0].keys() == models[1].keys()
    for name, weights in models[0].items():
        assert torch.equal(weights, models[1][name]), name
    np.testing.assert_array_equal(logits[0][0], logits[1][0])
    assert not np.allclose(logits[0][1], logits[1][1])  # the strangers were asked


def test_the_committed_results_are_of_known_rows_once_each_and_possible() -> None:
    table = pd.read_csv(asset("studies", "benchmark_abide.csv"))
    assert set(table["model"]) <= {key for key, system in SYSTEMS.items() if not system.reason}
    assert not table.duplicated(["split", "model"]).any()
    assert len(table.drop_duplicates(["split", "n"])) == table["split"].nunique(), "tested on the same subjects"
    for line in table.to_dict("records"):
        _check_possible(line, ("NC", "ASD"))
        assert line["seconds"] > 0
        assert line["parameters"] > 0


def test_the_documented_tables_are_those_of_the_committed_results() -> None:
    page, shown = (file.read_text(encoding="utf-8") for file in (benchmark_tables.PAGE, benchmark_tables.SHOWN))
    again = "Run python assets/studies/benchmark_tables.py."
    assert page == with_tables(page, benchmark_tables.tables()), again
    assert shown == benchmark_tables.citations(), again


@pytest.mark.parametrize("page", ["model.md", "benchmark.md"])
def test_what_pages_say_of_the_linear_svm_is_its_result(page: str) -> None:
    table = pd.read_csv(asset("studies", "benchmark_abide.csv"))
    auc = table.loc[table["model"] == "svm", "auc"]
    assert len(auc) == 10
    text = " ".join((asset().parent / "docs" / page).read_text(encoding="utf-8").split())
    said = re.findall(r"a linear SVM has an AUC of (\d\.\d+) on ten splits", text)
    assert said == [f"{auc.mean():.2f}"]


@pytest.mark.parametrize("key", ["sat-pe", "graphormer", "best"])
def test_attention_on_test_subjects_is_the_mean_of_single_ones(key: str, graphs: Graphs, splits: Splits) -> None:
    system, split = quick(key), splits[0]
    data = graphs(_inputs_of(system))
    given = _graphs_for(system, data)
    fitted = _fit_system(system, data, given, split, seed=0)
    assert fitted.network is not None
    rows = torch.tensor(split.test[:3])
    found = mean_attention(fitted.network, given[rows])
    single = [mean_attention(fitted.network, given[row[None]]) for row in rows]
    np.testing.assert_allclose(found, np.mean(single, axis=0), atol=1e-5)
    own = 1 - 1 / 17 if key == "graphormer" else 1.0  # Graphormer also looks at the graph's token
    assert found.mean() == pytest.approx(own, abs=0.03)


def test_a_network_without_attention_is_told(graphs: Graphs) -> None:
    system = SYSTEMS["braingb-gcn"]
    assert isinstance(system, NetworkSystem)
    data = graphs(_inputs_of(system))
    with pytest.raises(InputError, match="has no attention between regions"):
        mean_attention(system.build(16, 2), _graphs_for(system, data))
