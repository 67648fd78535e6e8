"""Where training starts: ψ taught without labels, and the readout at the ridge solution.

Gradient descent from a random readout needs many epochs to get where ridge regression is at once, and overfits on the
way. From there it goes on, and what it adds is its own.
"""

from collections.abc import Iterator
from itertools import islice

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from torch import Tensor

from biobgt.model.batch import GraphBatch
from biobgt.model.transformer import BioBGT

_PENALTIES = np.logspace(-2, 1, 13)  # in units of the mean squared norm of a subject's features
_AT_ONCE = 64


def pretrain_extractor(model: BioBGT, graphs: GraphBatch, generator: torch.Generator, *, device: torch.device) -> None:
    """Teach ψ by its contrastive loss alone; labels are not needed and not given."""
    preset = model.preset
    learned = [*model.project.parameters(), *model.importance.parameters(), *model.extractor.parameters()]
    optimiser = torch.optim.AdamW(learned, lr=preset.pretrain_rate, weight_decay=preset.weight_decay)
    model.train()
    batches = _batches(len(graphs), preset.batch_size, generator)
    for rows in islice(batches, preset.pretrain_steps):
        loss = model.contrastive_loss(graphs[rows[: len(rows) // 2 + 1]].to(device), generator)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()


def _batches(n: int, size: int, generator: torch.Generator) -> Iterator[Tensor]:
    """Batches without end, every subject once before any comes again."""
    while True:
        yield from torch.split(torch.randperm(n, generator=generator), size)


@torch.no_grad()
def start_at_ridge(model: BioBGT, graphs: GraphBatch, groups: Tensor, *, device: torch.device) -> None:
    """Put the readout at the ridge solution for targets ±1, one a group.

    The penalty minimises the leave-one-out error, and the scale of the logits their leave-one-out cross-entropy.
    """
    model.eval()
    parts = [model.flat_stream(graphs[slice(i, i + _AT_ONCE)].to(device)) for i in range(0, len(graphs), _AT_ONCE)]
    features = torch.cat(parts).double().cpu()
    centre = features.mean(dim=0)
    features -= centre
    targets = 2 * torch.nn.functional.one_hot(groups, model.readout.classify.out_features).double() - 1
    offset = targets.mean(dim=0)
    dual, left_out = _ridge(features @ features.T, targets - offset)
    scale = _logit_scale((left_out + offset).numpy(), groups.numpy())
    weight = scale * (features.T @ dual).T
    model.readout.classify.weight.copy_(weight)
    model.readout.classify.bias.copy_(scale * offset - weight @ centre)


def _ridge(kernel: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """Dual coefficients and leave-one-out predictions at the best penalty, both of shape (n_subjects, n_groups)."""
    size = kernel.trace() / len(kernel)
    best: tuple[float, Tensor, Tensor] | None = None
    for penalty in _PENALTIES:
        inverse = torch.linalg.inv(kernel + penalty * size * torch.eye(len(kernel), dtype=kernel.dtype))
        # The intercept is fitted too: without it, leave-one-out on centred features favours interpolation.
        sums = inverse.sum(dim=1)
        inverse -= torch.outer(sums, sums) / sums.sum()
        dual = inverse @ targets
        residual = dual / inverse.diagonal()[:, None]
        error = float(residual.square().mean())
        if best is None or error < best[0]:
            best = error, dual, targets - residual
    assert best is not None
    return best[1], best[2]


def _logit_scale(scores: NDArray[np.float64], groups: NDArray[np.int64]) -> float:
    def loss(scale: float) -> float:
        logits = scale * scores
        chosen = logits[np.arange(len(groups)), groups]
        return float(np.mean(np.logaddexp.reduce(logits, axis=1) - chosen))

    return float(minimize_scalar(loss, bounds=(0.05, 20), method="bounded").x)
