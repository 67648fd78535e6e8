"""Training: a run that is killed ends as if it had not been, the log, the checkpoint, two processes, and no leakage."""

import csv
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from planted_cohort import small
from safetensors.torch import load_file
from sklearn.metrics import roc_auc_score

from biobgt.base.errors import InputError
from biobgt.model.presets import Preset
from biobgt.training.folds import LabelledGraphs
from biobgt.training.splits import Split, cross_validation
from biobgt.training.trainer import Epoch, predict_logits, train_model

PRESETS = {
    "best": small("best", epochs=4, patience=4, learning_rate=1e-3),
    "paper": small("paper-abide", epochs=4, warmup_epochs=1, dropout=0.3),
}


class Killed(Exception):  # noqa: N818 - what happens, not what went wrong
    pass


def _kill_after(number: int):
    def tell(epoch: Epoch) -> None:
        if epoch.epoch == number:
            raise Killed

    return tell


def _split(data: LabelledGraphs) -> Split:
    return cross_validation([data.groups[label] for label in data.labels], folds=5)[0]


def _train(data: LabelledGraphs, preset: Preset, **options: object) -> torch.nn.Module:
    split = _split(data)
    return train_model(data.part(split.train), data.part(split.validation), preset, n_groups=2, **options)


def _lines(folder: Path) -> list[dict[str, str]]:
    with (folder / "epochs.csv").open() as stream:
        return [{key: value for key, value in row.items() if key != "seconds"} for row in csv.DictReader(stream)]


@pytest.fixture(scope="module", params=list(PRESETS))
def whole(
    request: pytest.FixtureRequest, data: LabelledGraphs, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Preset, torch.nn.Module, Path]:
    """A run that nobody stopped: its preset, its model and its folder."""
    preset, folder = PRESETS[request.param], tmp_path_factory.mktemp("whole")
    return preset, _train(data, preset, seed=3, folder=folder), folder


@pytest.mark.parametrize("killed_after", [1, 2, 4])
def test_a_killed_run_ends_as_if_nothing_had_happened(
    whole: tuple[Preset, torch.nn.Module, Path], killed_after: int, data: LabelledGraphs, tmp_path: Path
) -> None:
    preset, model, folder = whole
    with pytest.raises(Killed):
        _train(data, preset, seed=3, folder=tmp_path, progress=_kill_after(killed_after))
    torch.manual_seed(99)  # whatever the new process has drawn before
    seen: list[int] = []
    resumed = _train(
        data,
        preset,
        seed=3,
        folder=tmp_path,
        resume=True,
        progress=lambda epoch: seen.append(epoch.epoch),
    )
    assert seen == list(range(killed_after + 1, 5))
    for key, value in model.state_dict().items():
        assert torch.equal(resumed.state_dict()[key], value), key
    assert _lines(tmp_path) == _lines(folder)
    first, second = (load_file(run / "checkpoint.safetensors") for run in (tmp_path, folder))
    assert all(torch.equal(first[key], second[key]) for key in second)


def test_a_seed_is_a_result(data: LabelledGraphs) -> None:
    first, again, other = (_train(data, PRESETS["paper"], seed=seed) for seed in (0, 0, 1))
    weight = "layers.0.attention.query.weight"
    assert torch.equal(first.state_dict()[weight], again.state_dict()[weight])
    assert not torch.equal(first.state_dict()[weight], other.state_dict()[weight])


def test_every_epoch_is_a_line_with_warm_up_and_cosine(data: LabelledGraphs, tmp_path: Path) -> None:
    preset = replace(PRESETS["paper"], epochs=6, warmup_epochs=2, patience=6)
    _train(data, preset, folder=tmp_path)
    lines = _lines(tmp_path)
    assert [int(line["epoch"]) for line in lines] == [1, 2, 3, 4, 5, 6]
    rates = [float(line["learning_rate"]) for line in lines]  # of each epoch's last step
    assert rates[0] < rates[1] == pytest.approx(preset.learning_rate)
    assert rates[1] > rates[2] > rates[3] > rates[4] > rates[5] > 0
    assert not list(tmp_path.glob("*.part"))


def test_the_weights_with_the_best_validation_loss_are_kept(data: LabelledGraphs, tmp_path: Path) -> None:
    kept: dict[float, torch.Tensor] = {}
    preset = replace(PRESETS["paper"], epochs=10, learning_rate=5e-2, patience=10)

    def remember(epoch: Epoch) -> None:
        kept[epoch.validation_loss] = load_file(tmp_path / "checkpoint.safetensors")["model.readout.classify.weight"]

    model = _train(data, preset, folder=tmp_path, progress=remember)
    assert list(kept)[-1] > min(kept)  # the last epoch is not the best one
    assert torch.equal(model.readout.classify.weight, kept[min(kept)])


def test_training_stops_when_validation_has_not_improved(data: LabelledGraphs) -> None:
    seen: list[Epoch] = []
    _train(data, replace(PRESETS["best"], epochs=30, learning_rate=0.0, patience=3), progress=seen.append)
    assert len(seen) == 3


def test_without_patience_all_epochs_are_trained(data: LabelledGraphs) -> None:
    """The published recipe: 200 epochs, whatever validation says; stopping early is its beginning."""
    whole, stopped = [], []
    settings = {"epochs": 6, "learning_rate": 0.0, "warmup_epochs": 0}
    _train(data, replace(PRESETS["paper"], **settings), progress=whole.append)
    _train(data, replace(PRESETS["paper"], **settings, patience=2), progress=stopped.append)
    assert [epoch.epoch for epoch in whole] == [1, 2, 3, 4, 5, 6]
    assert [epoch.validation_loss for epoch in stopped] == [epoch.validation_loss for epoch in whole[:3]]


def test_a_run_that_stopped_early_can_go_on_to_the_end(data: LabelledGraphs, tmp_path: Path) -> None:
    """So one training gives both results."""
    paper = replace(PRESETS["paper"], epochs=5, learning_rate=5e-2, warmup_epochs=0)
    whole = _train(data, paper, folder=tmp_path / "whole")
    _train(data, replace(paper, patience=1), folder=tmp_path / "early")
    assert len(_lines(tmp_path / "early")) < 5
    gone_on = _train(data, paper, folder=tmp_path / "early", resume=True)
    assert _lines(tmp_path / "early") == _lines(tmp_path / "whole")
    for key, value in whole.state_dict().items():
        assert torch.equal(gone_on.state_dict()[key], value), key


def test_divergence_gets_a_sentence(data: LabelledGraphs) -> None:
    with pytest.raises(InputError, match=r"diverged in epoch 1.*Lower the learning rate"):
        _train(data, replace(PRESETS["paper"], learning_rate=1e20, warmup_epochs=0, clip=0.0))


def test_a_damaged_checkpoint_gets_a_sentence(data: LabelledGraphs, tmp_path: Path) -> None:
    (tmp_path / "checkpoint.safetensors").write_bytes(b"not a checkpoint")
    with pytest.raises(InputError, match=r"damaged or of another preset\. Delete it"):
        _train(data, PRESETS["paper"], folder=tmp_path, resume=True)


def test_shuffled_labels_end_at_chance(data: LabelledGraphs) -> None:
    """What is learned from labels by lot tells nobody apart; the true labels, on the same path, tell nearly all."""
    preset = small("best", epochs=1, pretrain_steps=2)
    rng = np.random.default_rng(0)

    def out_of_fold(labels: np.ndarray, seed: int) -> float:
        shuffled = replace(data, labels=labels)
        scores = np.zeros(len(labels))
        for split in cross_validation([str(label) for label in labels], folds=4, seed=seed):
            model = train_model(
                shuffled.part(split.train), shuffled.part(split.validation), preset, n_groups=2, seed=seed
            )
            logits = predict_logits(model, shuffled.part(split.test)[0])
            # Ranks within a fold: folds of balanced labels drift against each other.
            scores[split.test] = (logits[:, 1] - logits[:, 0]).argsort().argsort().numpy()
        return float(roc_auc_score(labels, scores))

    assert out_of_fold(data.labels, 0) > 0.85
    by_lot = [out_of_fold(rng.permutation(data.labels), seed) for seed in range(5)]
    assert 0.35 < np.mean(by_lot) < 0.65  # one has an SD of about 0.09


TWO_PROCESSES = """
import sys
from pathlib import Path
import torch
from safetensors.torch import save_file
sys.path.insert(0, sys.argv[2])
from planted_cohort import planted_cohort, small
from biobgt.training.folds import label_graphs
from biobgt.training.trainer import is_first, process_group
from biobgt.training.folds import train_ensemble
from biobgt.training.splits import cross_validation

torch.set_num_threads(1)
folder, preset = Path(sys.argv[1]), small("best", epochs=2, batch_size=7)
with process_group():
    data = label_graphs(planted_cohort(8), preset, kept=folder / "features")
    splits = cross_validation([data.groups[label] for label in data.labels], folds=2)
    trained = train_ensemble(data, splits, preset, folder=folder, seed=0)
    rank = torch.distributed.get_rank()
    assert is_first() == (rank == 0)
    save_file(dict(trained.members[1].state_dict()), folder / f"rank{rank}.safetensors")
"""


def test_two_processes_train_one_model_and_write_one_set_of_files(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(TWO_PROCESSES)
    tests = Path(__file__).resolve().parents[1]
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*command, str(script), str(tmp_path / "run"), str(tests)],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    run = tmp_path / "run"
    for fold in ("fold 1", "fold 2"):
        assert sorted(path.name for path in (run / fold).iterdir()) == [
            "checkpoint.safetensors",
            "epochs.csv",
            "member.safetensors",
            "run.json",
        ]
        assert len(_lines(run / fold)) == 2
    first, second = (load_file(run / f"rank{rank}.safetensors") for rank in (0, 1))
    assert all(torch.equal(first[key], second[key]) for key in first)  # both hold the same weights
    stored = load_file(run / "fold 2" / "member.safetensors")
    assert all(torch.equal(first[key], stored[key]) for key in first)
    assert len(list((run / "features").iterdir())) == 16
