"""Weights of regions: learnt from leave-one-out errors, along the axes of large networks, and from nothing else."""

from itertools import islice

import numpy as np
import pytest
import torch
from planted_cohort import planted_cohort, small
from sklearn.linear_model import Ridge

from biobgt.base.errors import InputError
from biobgt.model.benchmark.linear import PENALTIES
from biobgt.model.inputs import prepare
from biobgt.model.network import BioBGT
from biobgt.training.initialise import best_penalty, left_out, network_axes, region_weights, weigh_regions

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
    weigh_regions(model, graphs, groups, device=torch.device("cpu"))
    by_module = model.region_weight.detach().reshape(4, 4).mean(dim=1)
    assert by_module.argmax() == 0
    assert float(by_module[0]) > 1.05


def test_weights_need_connections_to_weigh() -> None:
    with pytest.raises(InputError, match="log-Euclidean values"):
        small("paper-abide", region_axes=7)
