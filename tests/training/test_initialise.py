"""Where training starts: readouts of several cohorts, ridge, weights of regions, ψ taught without labels."""

from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from planted_cohort import planted_cohort, small
from sklearn.linear_model import Ridge, RidgeCV
from torch.nn import functional

from biobgt.base.errors import InputError
from biobgt.data.cohort import Cohort
from biobgt.model.benchmark.linear import PENALTIES
from biobgt.model.inputs import prepare
from biobgt.model.network import BioBGT, GraphBatch
from biobgt.modules import module_contrast
from biobgt.training.cohorts import JoinedCohorts, join_training_cohorts, protocol_splits, training_cohort
from biobgt.training.trainer import (
    _initialise_readout,
    _own_logits,
    _pretrain_extractor,
    _sharpen_attention,
    _weigh_regions,
    best_penalty,
    left_out,
    network_axes,
    readout_parts,
    region_weights,
    train_model,
    with_readout,
)

CPU = torch.device("cpu")


@pytest.fixture(scope="module", params=[2, 3])
def started(request: pytest.FixtureRequest) -> tuple[BioBGT, GraphBatch, torch.Tensor]:
    """A model at the ridge solution for a signal that is hard to see, so that the penalty is neither end."""
    preset = small("best")
    graphs = prepare(planted_cohort(12, difference=0.04, groups=request.param, seed=5).subjects, preset)
    torch.manual_seed(0)
    model = BioBGT(preset, n_regions=16, n_groups=request.param)
    model.standardise(graphs)
    groups = torch.arange(request.param).repeat_interleave(12)
    _initialise_readout(model, graphs, readout_parts(groups.numpy(), request.param), device=CPU)
    return model, graphs, groups


def _features(model: BioBGT, graphs: GraphBatch) -> np.ndarray:
    with torch.no_grad():
        return model.eval().flat_stream(graphs).double().numpy()


def _ridges(model: BioBGT, graphs: GraphBatch, groups: torch.Tensor) -> tuple[np.ndarray, np.ndarray, float]:
    """Features, targets ±1, and the unit of penalties."""
    features = _features(model, graphs)
    targets = 2.0 * np.eye(int(groups.max()) + 1)[groups.numpy()] - 1
    return features, targets, float(np.square(features - features.mean(axis=0)).sum(axis=1).mean())


def _mixed(weights: np.ndarray, ridge: Ridge | RidgeCV) -> tuple[np.ndarray, float]:
    """The mix of a ridge's rows that is nearest to the readout's, and how far it is."""
    mix = np.linalg.lstsq(ridge.coef_.T, weights.T, rcond=1e-6)[0].T
    return mix, np.abs(weights - mix @ ridge.coef_).max() / np.abs(weights).max()


def test_the_readout_starts_at_scikit_learns_ridge(started: tuple[BioBGT, GraphBatch, torch.Tensor]) -> None:
    """At one of the penalties, up to the map from margins to logits: of two groups a positive scale."""
    model, graphs, groups = started
    features, targets, size = _ridges(model, graphs, groups)
    with torch.no_grad():
        logits = model(graphs).double().numpy()
    weights = model.readout.classify.weight.detach().double().numpy()
    misfits = {}
    for penalty in PENALTIES:
        ridge = Ridge(alpha=penalty * size).fit(features, targets)
        mix, misfits[penalty] = _mixed(weights, ridge)
        if misfits[penalty] < 2e-3:
            shift = logits - ridge.predict(features) @ mix.T
            np.testing.assert_allclose(shift, shift[:1].repeat(len(shift), axis=0), atol=2e-3 * np.abs(logits).max())
            if len(weights) == 2:
                assert mix[0, 0] - mix[0, 1] > 0
                np.testing.assert_allclose(shift, 0, atol=2e-3 * np.abs(logits).max())
    assert min(misfits.values()) < 2e-3
    assert sorted(misfits.values())[1] > 1e-2  # the other penalties are told apart


def test_the_penalty_is_the_one_scikit_learn_chooses(started: tuple[BioBGT, GraphBatch, torch.Tensor]) -> None:
    model, graphs, groups = started
    features, targets, size = _ridges(model, graphs, groups)
    chosen = RidgeCV(alphas=PENALTIES * size).fit(features, targets)
    assert _mixed(model.readout.classify.weight.detach().double().numpy(), chosen)[1] < 2e-3


def test_leave_one_out_of_labels_by_lot_is_at_chance() -> None:
    rng = np.random.default_rng(0)
    right = []
    for _ in range(5):
        features = rng.standard_normal((40, 400))
        features -= features.mean(axis=0)
        targets = 2.0 * np.eye(2)[rng.permutation(np.arange(40) % 2)] - 1
        kernel, wanted = torch.from_numpy(features @ features.T), torch.from_numpy(targets)
        _, residual = left_out(kernel, wanted, best_penalty(kernel, wanted))
        right.append(float(((wanted - residual).argmax(dim=1) == wanted.argmax(dim=1)).double().mean()))
    assert np.mean(right) < 0.65


def test_the_extractor_learns_modules_without_labels() -> None:
    """The readout and the value stream stay as they were; attention comes to follow modules."""
    preset = small("best", width=32, pretrain_steps=90, pretrain_rate=3e-3)
    graphs = prepare(planted_cohort(10).subjects, preset)
    torch.manual_seed(0)
    model = BioBGT(preset, n_regions=16, n_groups=2)
    model.standardise(graphs)
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
    torch.manual_seed(0)
    model = BioBGT(preset, n_regions=16, n_groups=2)
    model.standardise(graphs)
    _pretrain_extractor(model, graphs, torch.Generator().manual_seed(0), device=CPU)
    drawn = model.layers[0].attention.query.weight.clone()
    _sharpen_attention(model, graphs, torch.Generator().manual_seed(0), device=CPU)
    with torch.no_grad():
        attention = model.explain(graphs).mean_attention().weights.numpy()
    assert module_contrast(attention, graphs.modules.numpy()).mean() == pytest.approx(1.6, abs=0.05)
    gain = (model.layers[0].attention.query.weight / drawn).detach()
    assert float(gain.max() - gain.min()) < 1e-3 < abs(float(gain.mean()) - 1)  # its direction stays


def test_a_contrast_out_of_reach_leaves_attention_as_drawn() -> None:
    preset = small("best", start_contrast=50.0)
    graphs = prepare(planted_cohort(4).subjects, preset)
    torch.manual_seed(0)
    model = BioBGT(preset, n_regions=16, n_groups=2)
    model.standardise(graphs)
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
    return network_axes(torch.from_numpy((connectivity + connectivity.T) / 2), 3)


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
        penalty = best_penalty(centred @ centred.T, targets[train] - targets[train].mean())
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
        assert best_penalty(kernel, targets) == PENALTIES[int(np.argmin(errors))]
        assert 0 < np.argmin(errors) < len(errors) - 1


def test_a_model_comes_to_weigh_the_module_that_differs() -> None:
    preset = small("best", region_axes=4, region_steps=6)
    graphs = prepare(planted_cohort(30, difference=0.1).subjects, preset)
    groups = torch.arange(2).repeat_interleave(30)
    model = BioBGT(preset, n_regions=16, n_groups=2)
    model.standardise(graphs)
    _weigh_regions(model, graphs, groups, readout_parts(groups.numpy(), 2), device=CPU)
    by_module = model.region_weight.detach().reshape(4, 4).mean(dim=1)
    assert by_module.argmax() == 0
    assert float(by_module[0]) > 1.05


def test_weights_need_connections_to_weigh() -> None:
    with pytest.raises(InputError, match="log-Euclidean values"):
        small("paper-abide", region_axes=7)


READOUTS = ((0, 2), (1, 3, 4))


@pytest.fixture(scope="module")
def joined() -> JoinedCohorts:
    """Two planted cohorts; the second is simulated from the first's people."""
    first = replace(planted_cohort(8), name="abide")
    second = planted_cohort(8, groups=3, seed=1)
    subjects = tuple(replace(one, simulated=one.group != "NC") for one in second)
    return join_training_cohorts([first, replace(second, name="adsim", subjects=subjects)])


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
    loss = functional.cross_entropy(_own_logits(logits, groups, READOUTS), groups, reduction="sum")
    own = [(0, (0, 2), 1), (1, (1, 3, 4), 1), (2, (0, 2), 0)]
    expected = sum(functional.cross_entropy(logits[i, list(c)][None], torch.tensor([k])) for i, c, k in own)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-6)
    loss.backward()
    for row, columns, _ in own:
        others = [column for column in range(5) if column not in columns]
        assert logits.grad[row, others].abs().max() == 0
        assert logits.grad[row, list(columns)].abs().min() > 0


def test_each_readout_starts_where_its_cohort_alone_would(joined: JoinedCohorts) -> None:
    preset = small("best")
    graphs = prepare(joined.whole.subjects, preset)
    groups = [str(one.group) for one in joined.whole]
    names = list(joined.whole.group_sizes)
    labels = torch.tensor([names.index(group) for group in groups])
    readouts = [[names.index(group) for group in own] for own in joined.readouts]
    torch.manual_seed(0)
    model = BioBGT(preset, n_regions=16, n_groups=5)
    model.standardise(graphs)
    parts = readout_parts(labels.numpy(), 5, readouts)
    _initialise_readout(model, graphs, parts, device=CPU)
    for part in parts:
        alone = with_readout(model, part.columns.tolist())
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
    axes = network_axes(values.mean(dim=0), 3)
    *_, alone = islice(region_weights(values, axes, targets), 3)
    labels = np.concatenate([np.arange(30) % 2, 2 + np.arange(30) % 2])
    both = torch.zeros(60, 4).double()
    both[:30, :2], both[30:, 2:] = targets, targets
    parts = readout_parts(labels, 4, ((0, 1), (2, 3)))
    *_, together = islice(region_weights(torch.cat([values, values]), axes, both, parts=parts), 3)
    torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-5)
    assert float((alone - 1).abs().max()) > 0.01


def test_joined_cohorts_name_controls_by_their_study_and_keep_people_together(joined: JoinedCohorts) -> None:
    assert joined.whole.name == "abide+adsim"
    assert joined.readouts == (("NC (ABIDE)", "ASD (ABIDE)"), ("NC (simulated)", "ASD (simulated)", "MCI (simulated)"))
    assert joined.whole.ids[0] == "abide_NC-0"
    assert joined.parts[1].ids[0] == "abide_NC-0_ses-adsim"
    assert len(set(joined.whole.persons)) == 24  # 16 of both cohorts, 8 of the second alone
    persons = np.array(joined.whole.persons)
    for split in protocol_splits(joined.whole, "folds", n=3, seed=0):
        train, validation, test = (set(persons[rows]) for rows in (split.train, split.validation, split.test))
        assert not train & validation
        assert not (train | validation) & test
        for number, part in enumerate(joined.parts):
            own = split.within(joined.rows(number))
            assert [part.ids[row] for row in own.test] == [
                joined.whole.ids[row] for row in split.test if joined.whole.ids[row] in part.ids
            ]


def test_one_cohort_alone_or_twice_is_refused(joined: JoinedCohorts) -> None:
    for cohorts in (joined.parts[:1], (joined.parts[0], joined.parts[0])):
        with pytest.raises(InputError, match="two or more different"):
            join_training_cohorts(cohorts)


def test_training_learns_both_readouts_and_other_subjects_do_not_matter(joined: JoinedCohorts) -> None:
    """The encoder sees all, and each readout tells its own groups apart."""
    preset = small("best", epochs=1, pretrain_steps=2)
    graphs = prepare(joined.whole.subjects, preset)
    names = list(joined.whole.group_sizes)
    labels = torch.tensor([names.index(str(one.group)) for one in joined.whole])
    readouts = [[names.index(group) for group in own] for own in joined.readouts]
    model = train_model((graphs, labels), (graphs, labels), preset, n_groups=5, readouts=readouts)
    with torch.no_grad():
        logits = model(graphs)
    for part in readout_parts(labels.numpy(), 5, readouts):
        called = logits[part.rows][:, part.columns].argmax(dim=1).numpy()
        assert (called == part.labels).mean() > 0.8


def test_aal90_is_the_first_regions_of_the_shared_files(shared_data: Path) -> None:
    cut = training_cohort("cni-adhd", shared_data, atlas="aal90")
    whole = training_cohort("cni-adhd", shared_data, atlas="aal116")
    assert cut.atlas.name == "aal90"
    assert cut.ids == whole.ids
    np.testing.assert_array_equal(cut.subjects[3].series, whole.subjects[3].series[:, :90])


def test_groups_with_a_cohort_behind_them_stay_in_order(joined: JoinedCohorts) -> None:
    shuffled: Cohort = replace(joined.whole, subjects=joined.whole.subjects[::-1])
    kinds = [group.split(" (")[0] for group in shuffled.group_sizes]
    assert kinds == ["NC", "NC", "ASD", "ASD", "MCI"]
