"""Where training starts: ψ taught without labels, attention as sharp as asked for, regions weighed, readout at ridge.

Gradient descent from a random readout needs many epochs to get where ridge regression is at once, and overfits on the
way. From there it goes on (:mod:`biobgt.training.trainer`), and what it adds is its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import brentq
from torch import Tensor
from torch.nn import functional

from biobgt.model.network import BioBGT, FunctionalModuleAttention, GraphBatch
from biobgt.model.systems import PENALTIES, margins_to_logits
from biobgt.modules import module_contrast

AT_ONCE = 64  # subjects that go through a model together, where nothing is learnt
_GAINS = np.geomspace(0.5, 4, 10)  # a kernel outside these is flat, or each region looks at itself only
_ASKED = 32  # training subjects that the sharpness of attention is measured on
_RATE = 0.03  # of the weights of regions
Part = tuple[GraphBatch, Tensor]  # graphs, and the number of each one's group, shape (n_subjects,)
Readouts = Sequence[Sequence[int]]


# Several cohorts in one model: the encoder sees all subjects, and each cohort has a readout of its own.
#
# The readouts are columns of one linear layer, one per group. A subject's probabilities are those of its own cohort's
# groups, so that nobody is ever told apart from another cohort's subjects, which scanners and preprocessing would do.
# A member with one of its readouts is an ordinary model of that cohort.


@dataclass(frozen=True, eq=False)
class ReadoutPart:
    """The subjects of one readout.

    Attributes
    ----------
    rows : ndarray of int, shape (n_subjects,)
        Where they stand among all subjects.
    columns : ndarray of int, shape (n_groups,)
        Their groups among all groups.
    labels : ndarray of int, shape (n_subjects,)
        Each one's group, as a position in ``columns``.
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    labels: NDArray[np.int64]


def readout_parts(labels: NDArray[np.int64], n_groups: int, readouts: Readouts = ()) -> list[ReadoutPart]:
    """Part subjects by the readout that their group belongs to; a readout without a subject is left out.

    Parameters
    ----------
    labels : ndarray of int, shape (n_subjects,)
        Each subject's group, counted over all readouts.
    n_groups : int
        Of all readouts together.
    readouts : sequence of sequence of int
        The groups of each readout; empty for one readout of all groups.
    """
    found = []
    for groups in readouts or (range(n_groups),):
        columns = np.array(list(groups), dtype=np.int64)
        rows = np.flatnonzero(np.isin(labels, columns))
        if len(rows):
            place = {int(column): i for i, column in enumerate(columns)}
            found.append(ReadoutPart(rows, columns, np.array([place[int(one)] for one in labels[rows]])))
    return found


def own_logits(logits: Tensor, groups: Tensor, readouts: Readouts) -> Tensor:
    """Logits, shape (B, n_groups), in which the groups of other readouts than a subject's own cannot be chosen.

    Parameters
    ----------
    logits : Tensor, shape (B, n_groups)
    groups : Tensor, shape (B,)
        The group of each subject.
    readouts : sequence of sequences of int
        The groups of each readout.
    """
    if not readouts:
        return logits
    same = torch.zeros(logits.shape[1], logits.shape[1], dtype=torch.bool, device=logits.device)
    for columns in readouts:
        chosen = torch.tensor(list(columns), device=logits.device)
        same[chosen[:, None], chosen] = True
    return logits.masked_fill(~same[groups], -torch.inf)


# Ridge regression from inner products of subjects, with each subject's prediction from all others in closed form.


def left_out(kernel: Tensor, targets: Tensor, penalty: float) -> tuple[Tensor, Tensor]:
    """Ridge at one penalty; gradients flow back to the kernel.

    Parameters
    ----------
    kernel : Tensor, shape (n_subjects, n_subjects)
        Of centred features.
    targets : Tensor, shape (n_subjects, n_groups)
        Centred.
    penalty : float
        In units of the mean squared norm of a subject's features.

    Returns
    -------
    dual, residual : Tensor, shape (n_subjects, n_groups)
        Coefficients of the subjects, and how far each target is from the prediction by all others.
    """
    size = kernel.trace() / len(kernel)
    inverse = torch.linalg.inv(kernel + penalty * size * torch.eye(len(kernel), dtype=kernel.dtype))
    # The intercept is fitted too: without it, leave-one-out on centred features favours interpolation.
    sums = inverse.sum(dim=1)
    inverse = inverse - torch.outer(sums, sums) / sums.sum()
    dual = inverse @ targets
    return dual, dual / inverse.diagonal()[:, None]


@torch.no_grad()
def _best_penalty(kernel: Tensor, targets: Tensor) -> float:
    """The penalty with the least leave-one-out error; :func:`left_out` for all of them from one decomposition."""
    values, vectors = torch.linalg.eigh(kernel)
    of_ones, of_targets = vectors.sum(dim=0), vectors.T @ targets
    errors = []
    for penalty in PENALTIES * float(values.mean()):
        scaled = vectors / (values + penalty)
        sums = scaled @ of_ones
        diagonal = (scaled * vectors).sum(dim=1) - sums.square() / sums.sum()
        dual = scaled @ of_targets - torch.outer(sums, sums @ targets) / sums.sum()
        errors.append(float((dual / diagonal[:, None]).square().mean()))
    return float(PENALTIES[int(np.argmin(errors))])


@torch.no_grad()
def ridge_weights(values: Tensor, groups: Tensor, n_groups: int) -> NDArray[np.float64]:
    """How much each connection counts in ridge regression: its absolute weight, mean over groups.

    Parameters
    ----------
    values : Tensor, shape (n_subjects, n_regions, n_regions)
    groups : Tensor of int, shape (n_subjects,)
    n_groups : int

    Returns
    -------
    ndarray, shape (n_regions, n_regions)
    """
    flat, targets = values.flatten(1), _targets(groups, n_groups)
    centred, wanted = flat - flat.mean(dim=0), targets - targets.mean(dim=0)
    kernel = (centred @ centred.T).double()
    dual, _ = left_out(kernel, wanted, _best_penalty(kernel, wanted))
    weights = (centred.T @ dual.to(centred)).abs().mean(dim=1)
    return np.asarray(weights.view(values.shape[1:]).double().numpy())


# How much each region counts: weights learnt before the readout starts, smooth over the brain's large networks.
#
# Ridge regression takes all connections for equally likely to matter. Here that of regions i and j is multiplied by
# w_i w_j first. A free weight for every region overfits at once, so log w is a combination of a few axes, the first
# eigenvectors of the training subjects' mean connectivity, and its coefficients go only a few steps down the
# leave-one-out error of ridge.


def _network_axes(connectivity: Tensor, n_axes: int) -> Tensor:
    """The eigenvectors with the largest eigenvalues, of mean square 1.

    Parameters
    ----------
    connectivity : Tensor, shape (n_regions, n_regions)
        Mean of the training subjects, with an empty diagonal.

    Returns
    -------
    Tensor, shape (n_regions, n_axes)
    """
    vectors = torch.linalg.eigh(connectivity.double())[1]
    return (vectors[:, -n_axes:] * len(vectors) ** 0.5).float()


def region_weights(
    values: Tensor, axes: Tensor, targets: Tensor, *, parts: Sequence[ReadoutPart] = ()
) -> Iterator[Tensor]:
    """Go down the leave-one-out error of ridge on weighted connections; the weights after every step, without end.

    Parameters
    ----------
    values : Tensor, shape (n_subjects, n_regions, n_regions)
        Symmetric.
    axes : Tensor, shape (n_regions, n_axes)
    targets : Tensor, shape (n_subjects, n_groups)
    parts : sequence of ReadoutPart
        Where several cohorts are trained together: each has a ridge of its own, and their errors are averaged over
        subjects. Empty for one ridge of all.

    Yields
    ------
    Tensor, shape (n_regions,)
        Of geometric mean 1.
    """
    rows, columns = torch.triu_indices(len(axes), len(axes))
    connections = values[:, rows, columns] * torch.where(rows == columns, 1.0, 2**0.5)
    ridges = []
    for part in parts or readout_parts(np.zeros(len(values), dtype=np.int64), targets.shape[1]):
        own, wanted = connections[part.rows], targets[part.rows][:, part.columns]
        own, wanted = own - own.mean(dim=0), (wanted - wanted.mean(dim=0)).double()
        ridges.append((own, wanted, _best_penalty((own @ own.T).double(), wanted), len(own) / len(values)))
    axes = axes - axes.mean(dim=0)
    coefficients = torch.zeros(axes.shape[1], requires_grad=True)
    optimiser = torch.optim.Adam([coefficients], lr=_RATE)
    while True:
        logarithm = axes @ coefficients
        weights = torch.exp(logarithm[rows] + logarithm[columns])
        errors = []
        for own, wanted, penalty, share in ridges:
            weighted = own * weights
            residual = left_out((weighted @ weighted.T).double(), wanted, penalty)[1]
            errors.append(share * residual.square().mean())
        optimiser.zero_grad()
        torch.stack(errors).sum().backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        yield torch.exp(axes @ coefficients.detach())


# The steps, each of which changes the model in place.


def initialise(
    model: BioBGT,
    training: Part,
    generator: torch.Generator,
    *,
    device: torch.device,
    readouts: Readouts,
) -> None:
    """Teach ψ without labels, sharpen attention, weigh regions, start the readout at ridge: all epoch 0.

    Parameters
    ----------
    model : BioBGT
        Changed in place.
    training : (GraphBatch, Tensor of int, shape (n_subjects,))
        Its training subjects, and the number of each one's group.
    generator : torch.Generator
    device : torch.device
    readouts : sequence of sequence of int
        The groups of each readout; empty for one readout of all groups.
    """
    preset, (graphs, groups) = model.preset, training
    if preset.pretrain_steps:
        _pretrain_extractor(model, graphs, generator, device=device)
    if preset.start_contrast:
        _sharpen_attention(model, graphs, generator, device=device)
    parts = readout_parts(groups.numpy(), model.readout.classify.out_features, readouts)
    if preset.region_axes:
        _weigh_regions(model, graphs, groups, parts, device=device)
    if preset.ridge_start:
        _initialise_readout(model, graphs, parts, device=device)


def _pretrain_extractor(model: BioBGT, graphs: GraphBatch, generator: torch.Generator, *, device: torch.device) -> None:
    """Teach ψ by its contrastive loss alone; labels are not needed and not given."""
    preset = model.preset
    learned = [*model.project.parameters(), *model.importance.parameters(), *model.extractor.parameters()]
    optimiser = torch.optim.AdamW(learned, lr=preset.pretrain_rate, weight_decay=preset.weight_decay)
    model.train()

    def batches() -> Iterator[Tensor]:  # without end, every subject once before any comes again
        while True:
            yield from torch.split(torch.randperm(len(graphs), generator=generator), preset.batch_size)

    for rows in islice(batches(), preset.pretrain_steps):
        loss = model.contrastive_loss(graphs[rows[: len(rows) // 2 + 1]].to(device), generator)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()


@torch.no_grad()
def _sharpen_attention(model: BioBGT, graphs: GraphBatch, generator: torch.Generator, *, device: torch.device) -> None:
    """Scale W_Q so that training subjects attend within their modules as much more as the preset asks for.

    The direction of attention is ψ's; how sharp the kernel is, a random W leaves to chance and to how alike a cohort's
    regions are. Thirty-two training subjects, drawn by lot, are asked. Where no scale gives the contrast, as with
    embeddings that know no modules, W_Q stays as it was drawn.
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


@torch.no_grad()
def _initialise_readout(
    model: BioBGT, graphs: GraphBatch, parts: Sequence[ReadoutPart], *, device: torch.device
) -> None:
    """Put each readout at the ridge solution of its own subjects for targets ±1, one per group.

    The penalty minimises the leave-one-out error; margins become logits by :func:`margins_to_logits`.
    """
    model.eval()
    starts = range(0, len(graphs), AT_ONCE)
    streams = [model.flat_stream(graphs[slice(start, start + AT_ONCE)].to(device)) for start in starts]
    everybody, classify = torch.cat(streams).double().cpu(), model.readout.classify
    for part in parts:
        centre = everybody[part.rows].mean(dim=0)
        features, targets = everybody[part.rows] - centre, _targets(torch.from_numpy(part.labels), len(part.columns))
        kernel, centred = features @ features.T, targets - targets.mean(dim=0)
        dual, residual = left_out(kernel, centred, _best_penalty(kernel, centred))
        found = margins_to_logits((targets - residual).numpy(), part.labels)
        matrix, shift = (torch.from_numpy(values) for values in found)
        weight = matrix @ (features.T @ dual).T
        classify.weight[part.columns] = weight.to(classify.weight)
        classify.bias[part.columns] = (matrix @ targets.mean(dim=0) + shift - weight @ centre).to(classify.weight)


def _weigh_regions(
    model: BioBGT, graphs: GraphBatch, groups: Tensor, parts: Sequence[ReadoutPart], *, device: torch.device
) -> None:
    """Set how much each region counts, as the preset says, from training subjects of all readouts."""
    with torch.no_grad():
        values = model.steady_values(graphs.to(device)).cpu()
    axes = _network_axes(graphs.features.mean(dim=0), model.preset.region_axes)
    steps = region_weights(values, axes, _targets(groups, model.readout.classify.out_features), parts=parts)
    *_, weights = islice(steps, model.preset.region_steps)
    with torch.no_grad():
        model.region_weight.copy_(weights)


def _targets(groups: Tensor, n_groups: int) -> Tensor:
    """±1, a column per group."""
    return 2 * functional.one_hot(groups, n_groups).double() - 1
