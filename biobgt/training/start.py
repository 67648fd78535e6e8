"""Where training starts: ψ taught without labels, attention as sharp as asked for, regions weighed, readout at ridge.

Gradient descent from a random readout needs many epochs to get where ridge regression is at once, and overfits on the
way. From there it goes on, and what it adds is its own.
"""

from collections.abc import Iterator
from itertools import islice

import numpy as np
import torch
from scipy.optimize import brentq
from torch import Tensor

from biobgt.model.batch import GraphBatch
from biobgt.model.margins import margins_to_logits
from biobgt.model.module_attention import FunctionalModuleAttention
from biobgt.model.transformer import BioBGT
from biobgt.modules import module_contrast
from biobgt.training.readouts import Readouts, readout_parts
from biobgt.training.region_weights import network_axes, region_weights
from biobgt.training.ridge import best_penalty, left_out

_AT_ONCE = 64
_GAINS = np.geomspace(0.5, 4, 10)  # a kernel outside these is flat, or each region looks at itself only
_ASKED = 32  # training subjects that the sharpness of attention is measured on


def pretrain_extractor(model: BioBGT, graphs: GraphBatch, generator: torch.Generator, *, device: torch.device) -> None:
    """Teach ψ by its contrastive loss alone; labels are not needed and not given.

    Parameters
    ----------
    model : BioBGT
        Changed in place.
    graphs : GraphBatch
        Of the training subjects.
    generator : torch.Generator
        Of the order of subjects and of the views.
    device : torch.device
    """
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


@torch.no_grad()
def sharpen_attention(model: BioBGT, graphs: GraphBatch, generator: torch.Generator, *, device: torch.device) -> None:
    """Scale W_Q so that training subjects attend within their modules as much more as the preset asks for.

    The direction of attention is ψ's; how sharp the kernel is, a random W leaves to chance and to how alike a cohort's
    regions are. Thirty-two training subjects, drawn by lot, are asked. Where no scale gives the contrast, as with
    embeddings that know no modules, W_Q stays as it was drawn.

    Parameters
    ----------
    model : BioBGT
        Changed in place.
    graphs : GraphBatch
        Of the training subjects.
    generator : torch.Generator
        Of the draw of subjects.
    device : torch.device
    """
    model.eval()
    asked = graphs[torch.randperm(len(graphs), generator=generator)[:_ASKED]]
    modules, given = asked.modules.numpy(), asked.to(device)
    queries = [part.query for part in model.modules() if isinstance(part, FunctionalModuleAttention)]
    drawn = [query.weight.clone() for query in queries]

    def missing(log_gain: float) -> float:  # sets the weights, too
        for query, weight in zip(queries, drawn, strict=True):
            query.weight.copy_(weight * np.exp(log_gain))
        attention = model.explain(given).mean_attention().weights.float().cpu().numpy()
        return float(np.nanmean(module_contrast(attention, modules))) - model.preset.start_contrast

    gains = np.log(_GAINS)
    found = np.array([missing(gain) for gain in gains])
    reached = np.flatnonzero(found >= 0)
    if not len(reached) or reached[0] == 0:
        missing(0.0)
    else:
        missing(float(brentq(missing, gains[reached[0] - 1], gains[reached[0]], xtol=0.01)))


def _batches(n: int, size: int, generator: torch.Generator) -> Iterator[Tensor]:
    """Batches without end, every subject once before any comes again."""
    while True:
        yield from torch.split(torch.randperm(n, generator=generator), size)


@torch.no_grad()
def start_at_ridge(
    model: BioBGT, graphs: GraphBatch, groups: Tensor, *, device: torch.device, readouts: Readouts = ()
) -> None:
    """Put each readout at the ridge solution of its own subjects for targets ±1, one per group.

    The penalty minimises the leave-one-out error; margins become logits by :func:`margins_to_logits`.

    Parameters
    ----------
    model : BioBGT
        Changed in place.
    graphs : GraphBatch
        Of the training subjects.
    groups : Tensor of int, shape (n_subjects,)
        The number of each one's group.
    device : torch.device
    readouts : sequence of sequence of int
        The groups of each cohort, where several are trained together.
    """
    model.eval()
    parts = [model.flat_stream(graphs[slice(i, i + _AT_ONCE)].to(device)) for i in range(0, len(graphs), _AT_ONCE)]
    features, classify = torch.cat(parts).double().cpu(), model.readout.classify
    for part in readout_parts(groups.numpy(), classify.out_features, readouts):
        columns = torch.from_numpy(part.columns)
        classify.weight[columns], classify.bias[columns] = (
            found.to(classify.weight) for found in _ridge(features[part.rows], torch.from_numpy(part.labels))
        )


def _ridge(features: Tensor, groups: Tensor) -> tuple[Tensor, Tensor]:
    """Weights, shape (n_groups, n_features), and constants of the logits of one readout."""
    centre = features.mean(dim=0)
    features = features - centre
    targets = _targets(groups, int(groups.max()) + 1)
    kernel, centred = features @ features.T, targets - targets.mean(dim=0)
    dual, residual = left_out(kernel, centred, best_penalty(kernel, centred))
    found = margins_to_logits((targets - residual).numpy(), groups.numpy())
    matrix, shift = (torch.from_numpy(values) for values in found)
    weight = matrix @ (features.T @ dual).T
    return weight, matrix @ targets.mean(dim=0) + shift - weight @ centre


def weigh_regions(
    model: BioBGT, graphs: GraphBatch, groups: Tensor, *, device: torch.device, readouts: Readouts = ()
) -> None:
    """Set how much each region counts, as the preset says, from training subjects of all readouts.

    Parameters
    ----------
    model : BioBGT
        Changed in place.
    graphs : GraphBatch
        Of the training subjects.
    groups : Tensor of int, shape (n_subjects,)
        The number of each one's group.
    device : torch.device
    readouts : sequence of sequence of int
        The groups of each cohort, where several are trained together.
    """
    with torch.no_grad():
        values = model.steady_values(graphs.to(device)).cpu()
    axes = network_axes(graphs.features.mean(dim=0), model.preset.region_axes)
    n_groups = model.readout.classify.out_features
    parts = readout_parts(groups.numpy(), n_groups, readouts)
    steps = region_weights(values, axes, _targets(groups, n_groups), parts=parts)
    *_, weights = islice(steps, model.preset.region_steps)
    with torch.no_grad():
        model.region_weight.copy_(weights)


def _targets(groups: Tensor, n_groups: int) -> Tensor:
    """±1, a column per group."""
    return 2 * torch.nn.functional.one_hot(groups, n_groups).double() - 1
