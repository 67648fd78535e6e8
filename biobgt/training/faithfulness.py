"""How faithful a model's attention is: whether it shows what predictions rest on, and what training has to do with it.

Asked of held-out subjects, each of the member that was not trained on it. Regions are removed in the order in which
they are attended to, and in other orders; parts of the model are put out of order; members and a linear model are
compared. Nothing is trained.

A region is removed by giving it the mean over the subjects that the member was trained on: in all that the model reads
of it, which are its row and column of correlations, of log-Euclidean connectivity and of the graph, and its node
entanglement. So the model is told nothing that sets this person apart there, and sees no scan of a kind that it never
met, as it would with zeros: a region without signal is warned of by itself. Node entanglement and modules of the other
regions stay.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from biobgt.model.attention import attention_received
from biobgt.model.folder import load_card, load_pretrained
from biobgt.model.network import BioBGT, FunctionalModuleAttention, GraphBatch
from biobgt.training.cards import write_card
from biobgt.training.checks import drawn_tests
from biobgt.training.cohorts import Split
from biobgt.training.faithfulness_tables import ORDERS, SHARES, TOP, WITH_LINEAR, WITH_MEMBERS
from biobgt.training.folds import LabelledGraphs
from biobgt.training.metrics import bootstrap_intervals
from biobgt.training.start import ridge_weights

_AT_ONCE = 16
_DRAWS = 1000  # of the bootstrap over people
_READ = ("features", "values", "weights", "entanglement")  # what a removed region loses, matrices first
_Numbers = dict[str, NDArray[np.float64]]  # one of each subject, by name


def complete_faithfulness(
    folder: Path,
    data: LabelledGraphs,
    splits: Sequence[Split],
    *,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Measure how faithful the attention of the model in a folder is, put it on its card, and return the card.

    Parameters
    ----------
    folder : Path
        Of the model.
    data : LabelledGraphs
        Of the cohort that the model was trained on.
    splits : sequence of Split
        The folds that it was trained on, in the order of its members.
    seed : int
        Of the training; it also draws who is asked about, random orders and random weights.
    progress : callable, optional
        Told (done, total) after every fold.
    """
    ensemble = load_pretrained(folder, "cpu")
    found = measure_faithfulness(ensemble.members, ensemble.temperatures, data, splits, seed=seed, progress=progress)
    card = load_card(folder) | {"faithfulness": found}
    write_card(folder, card)
    return card


def measure_faithfulness(
    members: Sequence[BioBGT],
    temperatures: Sequence[float],
    data: LabelledGraphs,
    splits: Sequence[Split],
    *,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Measure what a card says of how faithful attention is, with 95 % intervals over people.

    Parameters
    ----------
    members : sequence of BioBGT
        One per fold.
    temperatures : sequence of float
        Of the members.
    data : LabelledGraphs
    splits : sequence of Split
    seed : int
    progress : callable, optional
        Told (done, total) after every fold.

    Returns
    -------
    dict
        As ``assets/model_card.schema.json`` describes it under ``faithfulness``.
    """
    parts: list[_Numbers] = []
    drawn = drawn_tests(splits, seed=seed)
    for number, (split, rows) in enumerate(zip(splits, drawn, strict=True)):
        training = data.part(split.train)[0]
        fold = _Fold(
            members=tuple(members),
            number=number,
            temperature=temperatures[number],
            mean=_mean_subject(training),
            randomised={name: change(members[number], seed=seed + number) for name, change in _RANDOMISED.items()},
            linear=ridge_weights(training.values, torch.from_numpy(data.labels[split.train]), len(data.groups)),
            random=np.random.default_rng([seed, number]),
        )
        parts += fold.numbers(data, rows)
        if progress is not None:
            progress(number + 1, len(splits))
    numbers = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    asked = np.concatenate(drawn)
    persons = [data.persons[row] for row in asked]
    return {"n": len(asked), "people": len(set(persons)), **_as_card(numbers, data, data.labels[asked], persons)}


def _as_card(
    numbers: _Numbers, data: LabelledGraphs, labels: NDArray[np.int64], persons: Sequence[str]
) -> dict[str, Any]:
    """Means over subjects with intervals over people, in the order in which a card holds them."""
    names = list(numbers)
    measure = partial(_means, names=names)
    found = bootstrap_intervals(
        measure, labels, np.column_stack(list(numbers.values())), subjects=persons, draws=_DRAWS
    )
    rounded = {
        name: {end: _rounded(getattr(one, end)) for end in ("value", "low", "high")} for name, one in found.items()
    }
    n_regions = data.matrices.shape[1]
    return {
        "ahead": rounded["ahead"],
        "removed": [
            {"order": order, "share": share, "regions": n_top(share, n_regions)}
            | {what: rounded[f"{what} {order} {share}"] for what in ("deletion", "insertion")}
            for order in ORDERS
            for share in SHARES
        ],
        "randomised": [{"part": part, "correlation": rounded[f"randomised {part}"]} for part in _RANDOMISED],
        "agreement": [
            {"with": whom} | {what: rounded[f"{what} {whom}"] for what in ("map", "received", "top")}
            for whom in (WITH_MEMBERS, WITH_LINEAR)
        ],
    }


def _means(_: NDArray[np.int64], values: NDArray[np.float64], *, names: Sequence[str]) -> dict[str, float]:
    """Means over subjects of what is defined, by name."""
    known = np.isfinite(values)
    sums, n = np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0)
    return {
        name: float(total / many) if many else float("nan") for name, total, many in zip(names, sums, n, strict=True)
    }


def _rounded(value: float) -> float | None:
    return round(value, 6) if np.isfinite(value) else None


def n_top(share: float, n_regions: int) -> int:
    """How many regions a share of them is, at least one."""
    return max(1, round(share * n_regions))


# One fold: its member, and what its test subjects say of it.


@dataclass(frozen=True, eq=False)
class _Fold:
    """A member, and what it is compared with.

    Attributes
    ----------
    members : tuple of BioBGT
        Of all folds.
    number : int
        Which of them was trained in this fold.
    temperature : float
    mean : GraphBatch
        One subject, the mean of those it was trained on.
    randomised : mapping of str to BioBGT
        The member with parts put out of order.
    linear : ndarray, shape (n_regions, n_regions)
        Weights of a linear model trained on the same subjects.
    random : Generator
    """

    members: tuple[BioBGT, ...]
    number: int
    temperature: float
    mean: GraphBatch
    randomised: Mapping[str, BioBGT]
    linear: NDArray[np.float64]
    random: np.random.Generator

    @property
    def member(self) -> BioBGT:
        """The member that was trained in this fold."""
        return self.members[self.number]

    def numbers(self, data: LabelledGraphs, rows: NDArray[np.int64]) -> Iterator[_Numbers]:
        """What is measured of test subjects, some at a time."""
        for start in range(0, len(rows), _AT_ONCE):
            graphs, _ = data.part(rows[start : start + _AT_ONCE])
            maps = mean_maps(self.member, graphs)
            yield self._removals(graphs, maps) | self._randomisation(graphs, maps) | self._agreement(graphs, maps)

    def _removals(self, graphs: GraphBatch, maps: NDArray[np.float64]) -> _Numbers:
        """How far probabilities move when the first regions of each order are removed, or are all that is kept."""
        whole = self._probabilities(graphs)
        found: _Numbers = {}
        for name, order in region_orders(self.member, graphs, maps, self.mean, self.random).items():
            place = order.argsort(axis=1)
            for share in SHARES:
                first = place < n_top(share, place.shape[1])
                for what, removed in (("deletion", first), ("insertion", ~first)):
                    changed = self._probabilities(without_regions(graphs, removed, self.mean))
                    found[f"{what} {name} {share}"] = np.abs(changed - whole).sum(axis=1) / 2
        tenth = [found[f"deletion {order} {TOP}"] for order in ("attention", "random")]
        return {"ahead": tenth[0] - tenth[1], **found}

    @torch.no_grad()
    def _probabilities(self, graphs: GraphBatch) -> NDArray[np.float64]:
        logits = self.member.eval()(graphs).double() / self.temperature
        return np.asarray(logits.softmax(dim=1).numpy())

    def _randomisation(self, graphs: GraphBatch, maps: NDArray[np.float64]) -> _Numbers:
        """How alike the maps are that the member makes with parts put out of order."""
        return {
            f"randomised {part}": _alike(_off_diagonal(maps), _off_diagonal(mean_maps(changed, graphs)))
            for part, changed in self.randomised.items()
        }

    def _agreement(self, graphs: GraphBatch, maps: NDArray[np.float64]) -> _Numbers:
        """How alike the other members' maps are, on average over them, and the weights of the linear model."""
        others = [mean_maps(other, graphs) for i, other in enumerate(self.members) if i != self.number]
        linear = np.broadcast_to(self.linear, maps.shape)
        found: _Numbers = {}
        for whom, compared in ((WITH_MEMBERS, others), (WITH_LINEAR, [linear])):
            each = np.array([_compared(maps, other) for other in compared]).reshape(-1, 3, len(maps))
            means = each.mean(axis=0) if len(each) else np.full((3, len(maps)), np.nan)
            found |= {f"{what} {whom}": values for what, values in zip(("map", "received", "top"), means, strict=True)}
        return found


# What is removed, and in which order.


def _mean_subject(training: GraphBatch) -> GraphBatch:
    """The mean of training subjects, as one subject; it has no modules."""
    means = {name: getattr(training, name).mean(dim=0, keepdim=True) for name in _READ}
    return replace(training[:1], **means)


def without_regions(graphs: GraphBatch, removed: NDArray[np.bool_], mean: GraphBatch) -> GraphBatch:
    """Give regions the mean of the training subjects in all that the model reads of them.

    Parameters
    ----------
    graphs : GraphBatch
    removed : ndarray of bool, shape (B, n_regions)
    mean : GraphBatch
        One subject.
    """
    lost = torch.from_numpy(removed)
    either = lost[:, :, None] | lost[:, None, :]
    changed = {
        name: torch.where(lost if name == "entanglement" else either, getattr(mean, name), getattr(graphs, name))
        for name in _READ
    }
    return replace(graphs, **changed)


def region_orders(
    member: BioBGT, graphs: GraphBatch, maps: NDArray[np.float64], mean: GraphBatch, random: np.random.Generator
) -> dict[str, NDArray[np.intp]]:
    """Each subject's regions, the most important first, in every order that is compared; shape (B, n_regions) each.

    Parameters
    ----------
    member : BioBGT
    graphs : GraphBatch
    maps : ndarray, shape (B, n_regions, n_regions)
        The member's attention.
    mean : GraphBatch
        One subject, which gradients are multiplied with the distance from.
    random : Generator
    """
    scores = {
        "attention": np.stack([attention_received(one) for one in maps]),
        "random": random.random(maps.shape[:2]),
        "strength": graphs.features.abs().sum(dim=2).double().numpy(),
        # Whatever its sign: attention has none.
        "gradient": np.abs(gradient_times_input(member, graphs, mean)),
    }
    return {order: np.argsort(-scores[order], axis=1, kind="stable") for order in ORDERS}


def gradient_times_input(member: BioBGT, graphs: GraphBatch, mean: GraphBatch) -> NDArray[np.float64]:
    """How much each region speaks for the group that a subject is called, to first order, shape (B, n_regions).

    The gradient of the log-odds of that group, times how far the subject is from the mean, summed over all entries that
    go with the region.

    Parameters
    ----------
    member : BioBGT
    graphs : GraphBatch
    mean : GraphBatch
        One subject.
    """
    inputs = {name: getattr(graphs, name).clone().requires_grad_() for name in _READ[:3]}
    logits = member.eval()(replace(graphs, **inputs))
    called = torch.nn.functional.one_hot(logits.argmax(dim=1), logits.shape[1]).bool()
    odds = logits[called] - logits.masked_fill(called, -torch.inf).logsumexp(dim=1)
    gradients = torch.autograd.grad(odds.sum(), list(inputs.values()), allow_unused=True)
    total = torch.zeros_like(graphs.features)
    for (name, values), gradient in zip(inputs.items(), gradients, strict=True):
        if gradient is not None:
            total += gradient * (values.detach() - getattr(mean, name))
    of_region = total.sum(dim=1) + total.sum(dim=2) - total.diagonal(dim1=1, dim2=2)
    return np.asarray(of_region.double().numpy())


# Parts of a member put out of order: their weights stay, each in a place by lot.


def _shuffled(tensors: Sequence[Tensor], *, seed: int) -> None:
    """Put the numbers of each tensor into an order by lot, in place."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for one in tensors:
            one.copy_(one.flatten()[torch.randperm(one.numel(), generator=generator)].view_as(one))


def _kernel_weights(member: BioBGT) -> list[Tensor]:
    """W of every layer: W_Q, and W_K where it is another."""
    parts = [part for part in member.modules() if isinstance(part, FunctionalModuleAttention)]
    return [linear.weight for part in parts for linear in dict.fromkeys((part.query, part.key))]


def randomised_readout(member: BioBGT, *, seed: int) -> BioBGT:
    """A copy of a member with the weights of its readout in an order by lot."""
    copied = deepcopy(member)
    _shuffled(list(copied.readout.parameters()), seed=seed)
    return copied


def randomised_kernel(member: BioBGT, *, seed: int) -> BioBGT:
    """A copy of a member with the weights of W, by which embeddings become attention, in an order by lot."""
    copied = deepcopy(member)
    _shuffled(_kernel_weights(copied), seed=seed)
    return copied


def randomised_encoder(member: BioBGT, *, seed: int) -> BioBGT:
    """A copy of a member with the weights of W and of ψ, which makes the embeddings, in an order by lot."""
    copied = randomised_kernel(member, seed=seed)
    _shuffled(list(copied.extractor.parameters()), seed=seed)
    return copied


_RANDOMISED: Mapping[str, Callable[..., BioBGT]] = {
    "readout": randomised_readout,
    "W": randomised_kernel,
    "W and ψ": randomised_encoder,
}


# How alike maps are.


@torch.no_grad()
def mean_maps(member: BioBGT, graphs: GraphBatch) -> NDArray[np.float64]:
    """Attention of subjects, mean over layers and heads, shape (B, n_regions, n_regions)."""
    return np.asarray(member.eval().explain(graphs).mean_attention().weights.double().numpy())


def _compared(maps: NDArray[np.float64], others: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Of each subject: the correlation of two maps, that of attention received, and the share of the top tenth."""
    received = [np.stack([attention_received(one) for one in each]) for each in (maps, others)]
    n = n_top(TOP, maps.shape[1])
    top = [np.argsort(-each, axis=1, kind="stable")[:, :n] for each in received]
    shared = np.array([len(np.intersect1d(*pair)) / n for pair in zip(*top, strict=True)])
    return [_alike(_off_diagonal(maps), _off_diagonal(others)), _alike(*received), shared]


def _off_diagonal(maps: NDArray[np.float64]) -> NDArray[np.float64]:
    """The entries between different regions, shape (B, n_pairs)."""
    return maps[:, ~np.eye(maps.shape[1], dtype=np.bool_)]


def _alike(ones: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pearson correlation of each subject's values, shape (B,); NaN where they do not vary."""
    first, second = (each - each.mean(axis=1, keepdims=True) for each in (ones, others))
    size = np.sqrt(np.square(first).sum(axis=1) * np.square(second).sum(axis=1))
    product = (first * second).sum(axis=1)
    return np.divide(product, size, out=np.full(len(product), np.nan), where=size > 0)
