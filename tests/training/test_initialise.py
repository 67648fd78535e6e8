"""Where training starts: the readout against scikit-learn's ridge, and ψ taught without labels."""

import numpy as np
import pytest
import torch
from planted_cohort import planted_cohort, small
from sklearn.linear_model import Ridge, RidgeCV

from biobgt.model.benchmark.linear import PENALTIES
from biobgt.model.inputs import prepare
from biobgt.model.network import BioBGT, GraphBatch
from biobgt.modules import module_contrast
from biobgt.training.initialise import best_penalty, initialise_readout, left_out, pretrain_extractor, sharpen_attention

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
    initialise_readout(model, graphs, groups, device=CPU)
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
    pretrain_extractor(model, graphs, torch.Generator().manual_seed(0), device=CPU)
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
    pretrain_extractor(model, graphs, torch.Generator().manual_seed(0), device=CPU)
    drawn = model.layers[0].attention.query.weight.clone()
    sharpen_attention(model, graphs, torch.Generator().manual_seed(0), device=CPU)
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
    sharpen_attention(model, graphs, torch.Generator().manual_seed(0), device=CPU)
    assert torch.equal(model.layers[0].attention.query.weight, drawn)
