"""Ensembles: everyone is described by the member that never met them, and a killed run goes on."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from planted_cohort import small
from planted_model import train_ensemble

import biobgt.training.folds
from biobgt.base.errors import InputError
from biobgt.modules import module_contrast
from biobgt.training.cohorts import Split
from biobgt.training.folds import LabelledGraphs, TrainedEnsemble, _open_run
from biobgt.training.metrics import fit_temperature
from biobgt.training.trainer import predict_logits

Splits = tuple[Split, ...]
PRESET = small("best", epochs=2, pretrain_steps=2, layers=2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def trained(data: LabelledGraphs, splits: Splits, folder: Path) -> TrainedEnsemble:
    return train_ensemble(data, splits, PRESET, folder=folder, seed=5)


def test_group_means_of_attention_are_those_of_subjects_never_met(
    data: LabelledGraphs, splits: Splits, trained: TrainedEnsemble
) -> None:
    maps = np.zeros((len(data.labels), 2, 2, 16, 16))
    for member, split in zip(trained.members, splits, strict=True):
        for row in split.test:
            with torch.no_grad():
                seen = member.explain(data.part(np.array([row]))[0])
            for one in seen.attention:
                maps[row, one.layer, one.head] = one.weights[0]
    for label in (0, 1):
        np.testing.assert_allclose(trained.attention[label], maps[data.labels == label].mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(trained.mean_attention, maps.mean(axis=(1, 2)), atol=1e-6)
    modules = list(data.graphs.modules.numpy())
    for layer, head in np.ndindex(2, 2):
        np.testing.assert_allclose(
            trained.contrast[:, layer, head], module_contrast(maps[:, layer, head], modules), rtol=1e-4
        )


def test_probabilities_are_out_of_fold_and_calibrated_on_the_other_folds(
    data: LabelledGraphs, splits: Splits, trained: TrainedEnsemble
) -> None:
    assert np.isfinite(trained.logits).all()
    said = np.full_like(trained.logits, np.nan)
    for member, split in zip(trained.members, splits, strict=True):
        said[split.test] = predict_logits(member, data.part(split.test)[0]).double().numpy()
    for split in splits:
        others = np.setdiff1d(np.arange(len(said)), split.test)
        temperature = fit_temperature(said[others], data.labels[others])
        np.testing.assert_allclose(trained.logits[split.test], said[split.test] / temperature, rtol=1e-3, atol=1e-4)
    assert trained.temperature == pytest.approx(fit_temperature(said, data.labels), rel=1e-3)
    np.testing.assert_allclose(trained.probabilities.sum(axis=1), 1)


def test_embedding_contrast_against_loops(data: LabelledGraphs, trained: TrainedEnsemble, splits: tuple) -> None:
    row = int(splits[0].test[0])
    with torch.no_grad():
        h = trained.members[0].explain(data.part(np.array([row]))[0]).embeddings[0].double().numpy()
    modules = data.graphs.modules[row].tolist()
    within, between = [], []
    for i in range(16):
        for j in range(16):
            if i != j and modules[i] and modules[j]:
                cosine = h[i] @ h[j] / np.linalg.norm(h[i]) / np.linalg.norm(h[j])
                (within if modules[i] == modules[j] else between).append(cosine)
    assert trained.embedding_contrast[row] == pytest.approx(np.mean(within) - np.mean(between), rel=1e-4)


def test_finished_folds_are_kept_and_the_unfinished_one_goes_on(
    data: LabelledGraphs, splits: Splits, trained: TrainedEnsemble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill(sentence: str) -> None:
        if sentence.startswith("fold 2, epoch 1"):
            raise InterruptedError

    with pytest.raises(InterruptedError):
        train_ensemble(data, splits, PRESET, folder=tmp_path, seed=5, progress=kill)
    told: list[str] = []
    resumed = train_ensemble(data, splits, PRESET, folder=tmp_path, seed=5, resume=True, progress=told.append)
    assert [sentence.split(":")[0] for sentence in told] == ["fold 2, epoch 2", "fold 3, epoch 1", "fold 3, epoch 2"]
    np.testing.assert_array_equal(resumed.logits, trained.logits)
    for label in (0, 1):
        np.testing.assert_array_equal(resumed.attention[label], trained.attention[label])
    # All folds done: nothing is trained, and the seconds an epoch took are still known.
    monkeypatch.setattr(biobgt.training.folds, "train_model", None)
    again = train_ensemble(data, splits, PRESET, folder=tmp_path, seed=5, resume=True)
    np.testing.assert_array_equal(again.logits, trained.logits)
    assert again.seconds_an_epoch > 0


def test_another_runs_members_are_never_taken_up(
    data: LabelledGraphs, splits: Splits, trained: TrainedEnsemble, folder: Path, tmp_path: Path
) -> None:
    """A member of another seed has other test subjects: it may have been trained on those of this one."""
    runs = shutil.copytree(folder, tmp_path / "runs")
    told = "was trained on other subjects"
    others = [
        (data, splits, PRESET, 6),
        (data, splits[::-1], PRESET, 5),
        (data, splits, replace(PRESET, shrinkage=0.2), 5),
        (replace(data, labels=1 - data.labels), splits, PRESET, 5),
    ]
    for given, parts, preset, seed in others:
        with pytest.raises(InputError, match=told):
            train_ensemble(given, parts, preset, folder=runs, seed=seed, resume=True)
    (runs / "fold 1" / "run.json").write_text("{")
    with pytest.raises(InputError, match=told):
        train_ensemble(data, splits, PRESET, folder=runs, seed=5, resume=True)


def test_a_run_that_starts_anew_leaves_nothing_of_the_old_one(folder: Path, tmp_path: Path) -> None:
    run = shutil.copytree(folder / "fold 1", tmp_path / "fold 1")
    _open_run(run, "another", resume=False)
    assert not list(run.glob("*.safetensors"))
    _open_run(run, "another", resume=True)  # killed before its first epoch, it may go on


def test_test_subjects_do_not_move_their_own_member(
    data: LabelledGraphs, splits: Splits, trained: TrainedEnsemble, tmp_path: Path
) -> None:
    labels = data.labels.copy()
    labels[splits[0].test] = 1 - labels[splits[0].test]
    other = train_ensemble(replace(data, labels=labels), splits, PRESET, folder=tmp_path, seed=5)
    for name, value in trained.members[0].state_dict().items():
        assert torch.equal(other.members[0].state_dict()[name], value), name
