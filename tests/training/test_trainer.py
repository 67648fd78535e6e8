"""Training: where it starts, the log, the checkpoint, a run that is killed, two processes, and no leakage."""

import csv
import subprocess
import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from planted_cohort import planted_cohort, small
from planted_model import draw_model
from safetensors.torch import load_file
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.metrics import roc_auc_score
from torch.nn import functional

from biobgt.base.errors import InputError
from biobgt.model.inputs import prepare
from biobgt.model.network import BioBGT, GraphBatch
from biobgt.model.presets import Preset
from biobgt.model.systems import PENALTIES
from biobgt.modules import module_contrast
from biobgt.training.cards import _with_readout
from biobgt.training.cohorts import JoinedCohorts, cross_validation
from biobgt.training.folds import LabelledGraphs
from biobgt.training.start import (
    _best_penalty,
    _initialise_readout,
    _network_axes,
    _pretrain_extractor,
    _sharpen_attention,
    _weigh_regions,
    left_out,
    own_logits,
    readout_parts,
    region_weights,
)
from biobgt.training.trainer import Epoch, predict_logits, train_model

PRESETS = {
    "best": small("best", epochs=4, patience=4, learning_rate=1e-3),
    "paper": small("paper-abide", epochs=4, warmup_epochs=1, dropout=0.3),
}


def _train(data: LabelledGraphs, preset: Preset, **options: object) -> torch.nn.Module:
    split = cross_validation([data.groups[label] for label in data.labels], folds=5)[0]
    return train_model(data.part(split.train), data.part(split.validation), preset, n_groups=2, **options)


def _same_weights(first: torch.nn.Module, second: torch.nn.Module) -> bool:
    return all(torch.equal(second.state_dict()[key], value) for key, value in first.state_dict().items())


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
    def kill(epoch: Epoch) -> None:
        if epoch.epoch == killed_after:
            raise InterruptedError

    preset, model, folder = whole
    with pytest.raises(InterruptedError):
        _train(data, preset, seed=3, folder=tmp_path, progress=kill)
    torch.manual_seed(99)  # whatever the new process has drawn before
    seen: list[Epoch] = []
    resumed = _train(data, preset, seed=3, folder=tmp_path, resume=True, progress=seen.append)
    assert [epoch.epoch for epoch in seen] == list(range(killed_after + 1, 5))
    assert _same_weights(model, resumed)
    assert _lines(tmp_path) == _lines(folder)
    first, second = (load_file(run / "checkpoint.safetensors") for run in (tmp_path, folder))
    assert all(torch.equal(first[key], second[key]) for key in second)


def test_a_seed_is_a_result(data: LabelledGraphs) -> None:
    first, again, other = (_train(data, PRESETS["paper"], seed=seed) for seed in (0, 0, 1))
    assert _same_weights(first, again)
    assert not _same_weights(first, other)


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


def test_without_patience_all_epochs_are_trained_and_with_it_those_that_improve(data: LabelledGraphs) -> None:
    """The published recipe: 200 epochs, whatever validation says; stopping early is its beginning."""
    whole, stopped, at_ridge = [], [], []
    settings = {"epochs": 6, "learning_rate": 0.0, "warmup_epochs": 0}
    _train(data, replace(PRESETS["best"], **settings, patience=3), progress=at_ridge.append)
    assert len(at_ridge) == 3  # its start, epoch 0, is the best
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
    assert _same_weights(whole, gone_on)


def test_divergence_gets_a_sentence(data: LabelledGraphs) -> None:
    with pytest.raises(InputError, match="diverged in epoch 1"):
        _train(data, replace(PRESETS["paper"], learning_rate=1e20, warmup_epochs=0, clip=0.0))


def test_a_damaged_checkpoint_gets_a_sentence(data: LabelledGraphs, tmp_path: Path) -> None:
    (tmp_path / "checkpoint.safetensors").write_bytes(b"not a checkpoint")
    with pytest.raises(InputError, match="damaged"):
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
from biobgt.training.folds import train_members
from biobgt.training.cohorts import cross_validation

torch.set_num_threads(1)
folder, preset = Path(sys.argv[1]), small("best", epochs=2, batch_size=7)
with process_group():
    data = label_graphs(planted_cohort(8), preset, kept=folder / "features")
    splits = cross_validation([data.groups[label] for label in data.labels], folds=2)
    members = train_members(data, splits, preset, folder=folder, seed=0)
    rank = torch.distributed.get_rank()
    assert is_first() == (rank == 0)
    save_file(dict(members[1].state_dict()), folder / f"rank{rank}.safetensors")
"""


def test_two_processes_train_one_model_and_write_one_set_of_files(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(TWO_PROCESSES)
    tests = Path(__file__).resolve().parents[1]
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command += [str(script), str(tmp_path / "run"), str(tests)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
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


CPU = torch.device("cpu")


@pytest.fixture(scope="module", params=[2, 3])
def started(request: pytest.FixtureRequest) -> tuple[BioBGT, GraphBatch, torch.Tensor]:
    """A model at the ridge solution for a signal that is hard to see, so that the penalty is neither end."""
    preset = small("best")
    graphs = prepare(planted_cohort(12, difference=0.04, groups=request.param, seed=5).subjects, preset)
    model = draw_model(preset, graphs, request.param)
    groups = torch.arange(request.param).repeat_interleave(12)
    _initialise_readout(model, graphs, readout_parts(groups.numpy(), request.param), device=CPU)
    return model, graphs, groups


def _ridges(model: BioBGT, graphs: GraphBatch, groups: torch.Tensor) -> tuple[np.ndarray, np.ndarray, float]:
    """Features, targets ±1, and the unit of penalties."""
    with torch.no_grad():
        features = model.eval().flat_stream(graphs).double().numpy()
    targets = 2.0 * np.eye(int(groups.max()) + 1)[groups.numpy()] - 1
    return features, targets, float(np.square(features - features.mean(axis=0)).sum(axis=1).mean())


def _mixed(weights: np.ndarray, ridge: Ridge | RidgeCV) -> tuple[np.ndarray, float]:
    """The mix of a ridge's rows that is nearest to the readout's, and how far it is."""
    mix = np.linalg.lstsq(ridge.coef_.T, weights.T, rcond=1e-6)[0].T
    return mix, np.abs(weights - mix @ ridge.coef_).max() / np.abs(weights).max()


def test_the_readout_starts_at_scikit_learns_ridge(started: tuple[BioBGT, GraphBatch, torch.Tensor]) -> None:
    """At the penalty it chooses, up to the map from margins to logits: of two groups a positive scale."""
    model, graphs, groups = started
    features, targets, size = _ridges(model, graphs, groups)
    with torch.no_grad():
        logits = model(graphs).double().numpy()
    weights = model.readout.classify.weight.detach().double().numpy()
    chosen = RidgeCV(alphas=PENALTIES * size).fit(features, targets)
    mix, misfit = _mixed(weights, chosen)
    assert misfit < 2e-3
    shift, near = logits - chosen.predict(features) @ mix.T, 2e-3 * np.abs(logits).max()
    np.testing.assert_allclose(shift, shift[:1].repeat(len(shift), axis=0), atol=near)
    if len(weights) == 2:
        assert mix[0, 0] - mix[0, 1] > 0
        np.testing.assert_allclose(shift, 0, atol=near)
    others = [Ridge(alpha=alpha).fit(features, targets) for alpha in PENALTIES * size if alpha != chosen.alpha_]
    assert min(_mixed(weights, other)[1] for other in others) > 1e-2  # the other penalties are told apart


def test_the_extractor_learns_modules_without_labels() -> None:
    """The readout and the value stream stay as they were; attention comes to follow modules."""
    preset = small("best", width=32, pretrain_steps=90, pretrain_rate=3e-3)
    graphs = prepare(planted_cohort(10).subjects, preset)
    model = draw_model(preset, graphs)
    before = {name: value.clone() for name, value in model.state_dict().items()}

    def contrast() -> float:
        with torch.no_grad():
            attention = model.eval().explain(graphs).mean_attention().weights.numpy()
        return float(np.mean(module_contrast(attention, list(graphs.modules.numpy()))))

    at_first = contrast()
    _pretrain_extractor(model, graphs, torch.Generator().manual_seed(0), device=CPU)
    changed = {name for name, value in model.state_dict().items() if not torch.equal(value, before[name])}
    assert changed
    assert all(name.startswith(("project", "importance", "extractor")) for name in changed)
    assert contrast() > at_first + 0.2


def test_attention_starts_as_sharp_as_asked_for() -> None:
    preset = small("best", start_contrast=1.6, pretrain_steps=60)
    graphs = prepare(planted_cohort(12).subjects, preset)
    model = draw_model(preset, graphs)
    _pretrain_extractor(model, graphs, torch.Generator().manual_seed(0), device=CPU)
    drawn = model.layers[0].attention.query.weight.clone()
    _sharpen_attention(model, graphs, torch.Generator().manual_seed(0), device=CPU)
    with torch.no_grad():
        attention = model.explain(graphs).mean_attention().weights.numpy()
    assert module_contrast(attention, graphs.modules.numpy()).mean() == pytest.approx(1.6, abs=0.05)
    gain = (model.layers[0].attention.query.weight / drawn).detach()
    assert float(gain.max() - gain.min()) < 1e-3 < abs(float(gain.mean()) - 1)  # its direction stays


def test_a_contrast_out_of_reach_leaves_attention_asdraw_model() -> None:
    preset = small("best", start_contrast=50.0)
    graphs = prepare(planted_cohort(4).subjects, preset)
    model = draw_model(preset, graphs)
    drawn = model.layers[0].attention.query.weight.clone()
    _sharpen_attention(model, graphs, torch.Generator().manual_seed(0), device=CPU)
    assert torch.equal(model.layers[0].attention.query.weight, drawn)


N_REGIONS = 12
NETWORKS = np.repeat(np.arange(3), 4)


def _values(rng: np.random.Generator, labels: np.ndarray) -> torch.Tensor:
    """Symmetric noise; patients' connections within the first network are stronger."""
    noise = rng.standard_normal((len(labels), N_REGIONS, N_REGIONS))
    noise = (noise + noise.transpose(0, 2, 1)) / np.sqrt(2)
    noise[:, :4, :4] += 0.9 * labels[:, None, None]
    return torch.from_numpy(noise).float()


@pytest.fixture(scope="module")
def axes() -> torch.Tensor:
    same = NETWORKS[:, None] == NETWORKS[None, :]
    connectivity = 0.5 * same + 0.02 * np.random.default_rng(1).random((N_REGIONS, N_REGIONS))
    return _network_axes(torch.from_numpy((connectivity + connectivity.T) / 2), 3)


def test_axes_are_the_networks(axes: torch.Tensor) -> None:
    np.testing.assert_allclose((axes.T @ axes / N_REGIONS).numpy(), np.eye(3), atol=1e-5)
    network = torch.from_numpy(np.eye(3)[NETWORKS]).float()
    explained = axes @ (axes.T @ network) / N_REGIONS
    np.testing.assert_allclose(explained.numpy(), network.numpy(), atol=0.05)


def test_the_network_that_differs_comes_to_count_most_and_new_subjects_gain(axes: torch.Tensor) -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(240) % 2
    values, targets = _values(rng, labels), torch.from_numpy(2.0 * labels[:, None] - 1)
    train, test = slice(0, 80), slice(80, None)
    errors = []
    for weights in [torch.ones(N_REGIONS), *islice(region_weights(values[train], axes, targets[train]), 8)]:
        assert float(weights.log().mean()) == pytest.approx(0, abs=1e-5)
        features = (values * torch.outer(weights, weights)).flatten(1).double().numpy()
        centred = torch.from_numpy(features[train] - features[train].mean(axis=0))
        penalty = _best_penalty(centred @ centred.T, targets[train] - targets[train].mean())
        size = float(centred.square().sum(dim=1).mean())
        ridge = Ridge(alpha=penalty * size).fit(features[train], targets[train].numpy().ravel())
        errors.append(float(np.square(ridge.predict(features[test]) - targets[test].numpy().ravel()).mean()))
    by_network = weights.reshape(3, 4).mean(dim=1)
    assert by_network.argmax() == 0
    assert errors[-1] < errors[0] - 0.01


def test_left_out_is_ridge_fitted_without_the_subject() -> None:
    rng = np.random.default_rng(2)
    features, targets = rng.standard_normal((20, 30)), rng.standard_normal((20, 2))
    centred = torch.from_numpy(features - features.mean(axis=0))
    kernel = (centred @ centred.T).requires_grad_()
    _, residual = left_out(kernel, torch.from_numpy(targets - targets.mean(axis=0)), 0.3)
    alpha = 0.3 * float(centred.square().sum(dim=1).mean())
    for row in range(20):
        others = np.arange(20) != row
        said = Ridge(alpha=alpha).fit(features[others], targets[others]).predict(features[row : row + 1])[0]
        np.testing.assert_allclose(residual[row].detach().numpy(), targets[row] - said, atol=1e-8)
    residual.square().mean().backward()
    assert kernel.grad is not None
    assert float(kernel.grad.abs().max()) > 0


def test_the_best_penalty_is_that_with_the_least_error() -> None:
    rng = np.random.default_rng(3)
    for n_features in (5, 40):
        features = torch.from_numpy(rng.standard_normal((30, n_features)))
        features = features - features.mean(dim=0)
        targets = features.sum(dim=1, keepdim=True) + n_features**0.5 * torch.from_numpy(rng.standard_normal((30, 1)))
        kernel, targets = features @ features.T, targets - targets.mean()
        errors = [float(left_out(kernel, targets, penalty)[1].square().mean()) for penalty in PENALTIES]
        assert _best_penalty(kernel, targets) == PENALTIES[int(np.argmin(errors))]
        assert 0 < np.argmin(errors) < len(errors) - 1


def test_a_model_comes_to_weigh_the_module_that_differs() -> None:
    preset = small("best", region_axes=4, region_steps=6)
    graphs = prepare(planted_cohort(30, difference=0.1).subjects, preset)
    groups = torch.arange(2).repeat_interleave(30)
    model = draw_model(preset, graphs)
    _weigh_regions(model, graphs, groups, readout_parts(groups.numpy(), 2), device=CPU)
    by_module = model.region_weight.detach().reshape(4, 4).mean(dim=1)
    assert by_module.argmax() == 0
    assert float(by_module[0]) > 1.05


def test_weights_need_connections_to_weigh() -> None:
    with pytest.raises(InputError, match="log-Euclidean values"):
        small("paper-abide", region_axes=7)


READOUTS = ((0, 2), (1, 3, 4))


def _labels(joined: JoinedCohorts) -> tuple[torch.Tensor, list[list[int]]]:
    """The number of each subject's group, and those of each cohort's groups."""
    names = list(joined.whole.group_sizes)
    readouts = [[names.index(group) for group in own] for own in joined.readouts]
    return torch.tensor([names.index(str(one.group)) for one in joined.whole]), readouts


def test_subjects_are_parted_by_the_readout_of_their_group() -> None:
    labels = np.array([3, 0, 2, 4, 1])
    first, second = readout_parts(labels, 5, READOUTS)
    assert first.rows.tolist() == [1, 2]
    assert first.labels.tolist() == [0, 1]
    assert second.rows.tolist() == [0, 3, 4]
    assert second.labels.tolist() == [1, 2, 0]
    (all_of_them,) = readout_parts(labels, 5)
    assert all_of_them.labels.tolist() == labels.tolist()
    assert len(readout_parts(np.array([0, 2]), 5, READOUTS)) == 1  # nobody of the second


def test_nobody_is_told_apart_from_another_cohorts_subjects() -> None:
    logits = torch.randn(3, 5, generator=torch.Generator().manual_seed(0), requires_grad=True)
    groups = torch.tensor([2, 3, 0])
    loss = functional.cross_entropy(own_logits(logits, groups, READOUTS), groups, reduction="sum")
    own = [(0, (0, 2), 1), (1, (1, 3, 4), 1), (2, (0, 2), 0)]
    expected = sum(functional.cross_entropy(logits[i, list(c)][None], torch.tensor([k])) for i, c, k in own)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-6)
    loss.backward()
    for row, columns, _ in own:
        others = [column for column in range(5) if column not in columns]
        assert logits.grad[row, others].abs().max() == 0
        assert logits.grad[row, list(columns)].abs().min() > 0


def test_each_readout_starts_where_its_cohort_alone_would(both: JoinedCohorts) -> None:
    preset = small("best")
    graphs = prepare(both.whole.subjects, preset)
    model, (labels, readouts) = draw_model(preset, graphs, 5), _labels(both)
    parts = readout_parts(labels.numpy(), 5, readouts)
    _initialise_readout(model, graphs, parts, device=CPU)
    for part in parts:
        alone = _with_readout(model, part.columns.tolist())
        expected = alone.readout.classify.weight.clone()
        torch.nn.init.zeros_(alone.readout.classify.weight)
        own = readout_parts(part.labels, len(part.columns))
        _initialise_readout(alone, graphs[torch.from_numpy(part.rows)], own, device=CPU)
        torch.testing.assert_close(alone.readout.classify.weight, expected)


def test_two_cohorts_that_are_the_same_weigh_regions_as_one_does() -> None:
    rng = np.random.default_rng(0)
    values = rng.standard_normal((30, 16, 16))
    values = torch.from_numpy(values + values.transpose(0, 2, 1)).float()
    targets = 2.0 * torch.eye(2).double()[torch.arange(30) % 2] - 1
    axes = _network_axes(values.mean(dim=0), 3)
    *_, alone = islice(region_weights(values, axes, targets), 3)
    labels = np.concatenate([np.arange(30) % 2, 2 + np.arange(30) % 2])
    both = torch.zeros(60, 4).double()
    both[:30, :2], both[30:, 2:] = targets, targets
    parts = readout_parts(labels, 4, ((0, 1), (2, 3)))
    *_, together = islice(region_weights(torch.cat([values, values]), axes, both, parts=parts), 3)
    torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-5)
    assert float((alone - 1).abs().max()) > 0.01


def test_training_learns_both_readouts_and_other_subjects_do_not_matter(both: JoinedCohorts) -> None:
    """The encoder sees all, and each readout tells its own groups apart."""
    preset = small("best", epochs=1, pretrain_steps=2)
    graphs = prepare(both.whole.subjects, preset)
    labels, readouts = _labels(both)
    model = train_model((graphs, labels), (graphs, labels), preset, n_groups=5, readouts=readouts)
    with torch.no_grad():
        logits = model(graphs)
    for part in readout_parts(labels.numpy(), 5, readouts):
        called = logits[part.rows][:, part.columns].argmax(dim=1).numpy()
        assert (called == part.labels).mean() > 0.8
