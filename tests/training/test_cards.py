"""A model folder as written: the card against its schema and the numbers, and the model loaded from it."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
from full_disk import files_end_at
from planted_cohort import planted_cohort, small
from planted_model import PRESET, write_planted

from biobgt.base.errors import InputError
from biobgt.base.files import asset
from biobgt.data.atlas import numbered_atlas
from biobgt.data.cohort import Cohort
from biobgt.model.benchmark.linear import BASELINES, Baseline, kinds_of_baselines
from biobgt.model.calibration import calibrated
from biobgt.model.ensemble import TRAINED_ON
from biobgt.model.pretrained import load_card, load_groups, load_pretrained
from biobgt.training.card_text import CardText
from biobgt.training.cards import add_evaluation, check_evaluated, check_same_attention, group_tests
from biobgt.training.evaluation import baselines_out_of_fold, evaluate, paired_with_baselines
from biobgt.training.folds import LabelledGraphs, TrainedEnsemble, out_of_fold_attention
from biobgt.training.metrics import METRICS, classification_metrics
from biobgt.training.splits import Split
from biobgt.training.tables import CardTables
from biobgt.training.trainer import predict_logits

Splits = tuple[Split, ...]


def test_the_card_passes_its_schema(folder: Path) -> None:
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"), parse_constant=lambda name: pytest.fail(name))
    jsonschema.Draft202012Validator.check_schema(json.loads(asset("model_card.schema.json").read_text()))
    jsonschema.validate(card, json.loads(asset("model_card.schema.json").read_text()))
    assert load_card(folder) == card
    for key in ("headline", "limits", "sha256"):
        broken = {name: value for name, value in card.items() if name != key}
        with pytest.raises(jsonschema.ValidationError, match=key):
            jsonschema.validate(broken, json.loads(asset("model_card.schema.json").read_text()))


class GroupShares:
    """Gives everybody the shares of the groups in training."""

    def fit(self, matrices: np.ndarray, groups: np.ndarray) -> None:
        self.shares = np.bincount(groups) / len(groups)

    def logits(self, matrices: np.ndarray) -> np.ndarray:
        return np.tile(np.log(self.shares), (len(matrices), 1))


def test_a_baseline_is_one_object_found_in_the_evaluation_and_on_the_card(
    cohort: Cohort, data: LabelledGraphs, trained: TrainedEnsemble, splits: Splits, tmp_path: Path
) -> None:
    guessing = Baseline("shares", "the shares of the groups", lambda shrinkage: GroupShares(), family="constant")
    with BASELINES.temporarily(guessing):
        results = evaluate(data, splits[:2], PRESET, protocol="folds", folder=tmp_path / "runs")
        lines = results[results["model"] == "constant shares"]
        assert lines["split"].tolist() == [split.name for split in splits[:2]]
        assert lines["auc"].tolist() == [0.5, 0.5]
        compared = paired_with_baselines(results, PRESET.name)
        assert compared["baseline"].tolist() == ["linear fisher-z", "linear tangent", "linear log", "constant shares"]
        write_planted(tmp_path / "model", cohort, data, trained, splits)
        card = add_evaluation(tmp_path / "model", results)
        assert "the shares of the groups" in CardTables(card).evaluation()["Model"].tolist()
        shown = CardTables(load_card(tmp_path / "model")).results().set_index("Model")
        guessed = baselines_out_of_fold(data, splits)["the shares of the groups"]
        auc = classification_metrics(data.labels, guessed, data.groups)["auc"]
        assert shown.loc["the shares of the groups", "AUC"].startswith(f"{auc:.3f} [")
    assert "shares" not in BASELINES


def test_the_card_says_what_was_measured(
    folder: Path, data: LabelledGraphs, trained: TrainedEnsemble, splits: Splits
) -> None:
    card = load_card(folder)
    measured = classification_metrics(data.labels, trained.probabilities, data.groups)
    for metric in METRICS:
        assert card["results"]["BioBGT"][metric]["value"] == pytest.approx(measured[metric], abs=1e-4)
    for model, probabilities in baselines_out_of_fold(data, splits).items():
        expected = classification_metrics(data.labels, probabilities, data.groups)["auc"]
        assert card["results"][model]["auc"]["value"] == pytest.approx(expected, abs=1e-4)
    assert len(card["results"]) == 4
    assert card["groups"] == ["NC", "ASD"]
    assert card["data"]["subjects"] == {"NC": 20, "ASD": 20}
    assert card["attention"]["NC"] == pytest.approx(np.nanmean(trained.contrast[data.labels == 0]))
    readme = (folder / "README.md").read_text()
    assert card["headline"] in readme
    assert all(limit in readme for limit in card["limits"])


def test_the_loaded_model_gives_the_members_mean(
    folder: Path, cohort: Cohort, data: LabelledGraphs, trained: TrainedEnsemble
) -> None:
    loaded = load_pretrained(folder, "cpu")
    table = loaded.predict(cohort)
    logits = [predict_logits(member, data.graphs).double().numpy() / trained.temperature for member in trained.members]
    expected = calibrated(np.mean(logits, axis=0), 1.0)
    np.testing.assert_allclose(table[["p_NC", "p_ASD"]].to_numpy(), expected, atol=1e-3)
    assert list(table.columns) == ["subject", "p_NC", "p_ASD", "prediction", "warning"]
    assert table["prediction"].tolist() == [("NC", "ASD")[best] for best in expected.argmax(axis=1)]
    assert table["warning"].str.startswith(TRAINED_ON).all()
    familiar = f"{TRAINED_ON}; 80 time points; fewer than 100 are unreliable"  # and nothing more
    assert (table["warning"] == familiar).sum() >= 32  # those it was trained on are familiar
    seen = loaded.explain(cohort.subjects[:2])
    np.testing.assert_allclose(seen.probabilities, table[["p_NC", "p_ASD"]].to_numpy()[:2], atol=1e-5)
    np.testing.assert_allclose(seen.attention.sum(axis=-1), 1, rtol=1e-5)


def test_group_results_come_back(folder: Path, data: LabelledGraphs, trained: TrainedEnsemble) -> None:
    groups = load_groups(folder)
    assert groups.n == {"NC": 20, "ASD": 20}
    for label, group in enumerate(data.groups):
        own = data.labels == label
        np.testing.assert_allclose(groups.attention[group], trained.attention[label], atol=1e-3)
        np.testing.assert_allclose(groups.connectivity[group], data.matrices[own].mean(axis=0), atol=2e-3)
        entanglement = data.graphs.entanglement.numpy()[own].astype(np.float64)  # kept in single precision
        np.testing.assert_allclose(groups.entanglement[group], entanglement.mean(axis=0), rtol=1e-6)
        np.testing.assert_allclose(groups.contrast[group], trained.contrast[own].mean(axis=0), rtol=1e-5)
    stored = np.column_stack([groups.labels, groups.probabilities])
    known = np.column_stack([data.labels, trained.probabilities])
    np.testing.assert_allclose(stored[np.lexsort(stored.T)], known[np.lexsort(known.T)], atol=1e-6)
    assert set(groups.tests["family"]) == {"block", "contrast"}
    assert set(groups.tests["between"]) == {"NC - ASD"}


def test_an_evaluation_goes_on_the_card(folder: Path, data: LabelledGraphs, splits: Splits, tmp_path: Path) -> None:
    results = evaluate(data, splits[:2], PRESET, protocol="random", folder=tmp_path)
    add_evaluation(folder, results)
    rows = {row["model"]: row for row in load_card(folder)["evaluation"]}
    assert rows["best"]["splits"] == 2
    own = results.loc[results["model"] == "best", "auc"]
    assert rows["best"]["auc"] == pytest.approx({"mean": own.mean(), "sd": own.std()}, abs=1e-4)


def test_a_full_disk_keeps_the_card_as_it_was(folder: Path, tmp_path: Path) -> None:
    mine = Path(shutil.copytree(folder, tmp_path / "mine"))
    before = {path.name: path.read_bytes() for path in mine.iterdir()}
    line = {"protocol": "random", "split": "split 1", "model": "best", **dict.fromkeys(METRICS, 0.5)}
    with files_end_at(1500), pytest.raises(OSError, match="File too large"):
        add_evaluation(mine, pd.DataFrame([line]))
    assert {path.name: path.read_bytes() for path in mine.iterdir()} == before


def test_a_card_takes_only_the_evaluation_of_its_own_subjects(folder: Path, cohort: Cohort) -> None:
    card = load_card(folder)
    check_evaluated(card, cohort, PRESET)
    check_evaluated(card, cohort, small("paper-abide"))  # another preset may stand beside
    with pytest.raises(InputError, match="preset's settings of 'planted'"):
        check_evaluated(card, cohort, replace(PRESET, shrinkage=0.2))
    with pytest.raises(InputError, match="numbers of subjects of 'planted'"):
        check_evaluated(card, cohort.select(lambda subject: subject.id != cohort.ids[0]), PRESET)


def test_an_atlas_without_modules_makes_a_model_too(
    data: LabelledGraphs, trained: TrainedEnsemble, splits: Splits, tmp_path: Path
) -> None:
    nameless = replace(planted_cohort(20), atlas=numbered_atlas(16))
    card = write_planted(tmp_path, nameless, data, trained, splits)
    assert card["atlas"] == "unknown16"
    assert load_groups(tmp_path).tests.empty


def test_a_baseline_that_is_not_linear_is_not_called_so() -> None:
    measured = {
        "BioBGT": {"auc": {"value": 0.7, "low": 0.66, "high": 0.74}, "accuracy": {"value": 0.7}},
        BASELINES["log"].title: {"auc": {"value": 0.75}},
        "a kernel machine": {"auc": {"value": 0.8}},
    }
    card = {"results": measured, "data": {"subjects": {"NC": 462, "ASD": 437}}, "simulated": False}
    kernel = Baseline("kernel", "a kernel machine", lambda shrinkage: GroupShares(), family="additive")
    with BASELINES.temporarily(kernel):
        assert CardText(card).headline.endswith("; an additive model is better (0.80).")
        assert kinds_of_baselines() == "linear and additive models"
        assert kinds_of_baselines(["a kernel machine"]) == "additive models"
    assert kinds_of_baselines() == "linear models"
    assert CardText(card).headline.endswith("; a baseline model is better (0.80).")


def test_attention_of_a_trained_model_can_be_made_again_from_its_weights(
    folder: Path, cohort: Cohort, data: LabelledGraphs, trained: TrainedEnsemble, splits: Splits
) -> None:
    members = load_pretrained(folder, "cpu").members
    again, contrasts = out_of_fold_attention(members, data, splits)
    np.testing.assert_allclose(contrasts, trained.contrast.mean(axis=(1, 2)), rtol=1e-4)
    np.testing.assert_allclose(again, trained.mean_attention, rtol=1e-4)
    check_same_attention(again, data, load_groups(folder))
    kept = pd.read_csv(folder / "tests.csv")
    pd.testing.assert_frame_equal(
        group_tests(cohort, data, again)[["feature", "d", "p"]], kept[["feature", "d", "p"]], rtol=1e-3
    )
    with pytest.raises(InputError, match="is not the one in the model's folder"):
        check_same_attention(out_of_fold_attention(members[::-1], data, splits)[0], data, load_groups(folder))
