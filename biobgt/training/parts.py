"""What the parts of a trained model do to its predictions: NE shuffled over regions, attention set to zero.

A part whose loss changes no prediction has no share in the model's accuracy, whatever it shows. Subjects are asked out
of fold, of the member that never met them.
"""

import json
import math
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from biobgt.model.attention_views import BesideConnectivity, beside_connectivity
from biobgt.model.batch import GraphBatch
from biobgt.model.calibration import calibrated, fold_temperatures
from biobgt.model.module_attention import FunctionalModuleAttention
from biobgt.model.pretrained import CARD, load_pretrained
from biobgt.model.transformer import BioBGT
from biobgt.training.card_words import NE_SHUFFLED, NO_ATTENTION
from biobgt.training.cards import write_card
from biobgt.training.data import LabelledGraphs
from biobgt.training.splits import Split

PARTS = (NE_SHUFFLED, NO_ATTENTION)
_AT_ONCE = 16
SHUFFLE_SEED = 0


def shuffle_entanglement(graphs: GraphBatch, *, seed: int) -> GraphBatch:
    """Give every subject's NE values to other regions of its own, by lot; all else stays."""
    generator = torch.Generator().manual_seed(seed)
    order = torch.rand(graphs.entanglement.shape, generator=generator).argsort(dim=1)
    return replace(graphs, entanglement=graphs.entanglement.gather(1, order.to(graphs.entanglement.device)))


def without_attention(member: BioBGT) -> BioBGT:
    """A copy of a member in which what regions attend to is multiplied by zero in every layer."""
    copied = deepcopy(member)
    with torch.no_grad():
        for part in copied.modules():
            if isinstance(part, FunctionalModuleAttention):
                part.output.weight.zero_()
                part.output.bias.zero_()
    return copied.eval()


@torch.no_grad()
def logits_without(member: BioBGT, graphs: GraphBatch) -> dict[str, NDArray[np.float64]]:
    """Logits of subjects when a part does nothing, by the name of the part, shape (n_subjects, n_groups) each.

    Graphs have as many regions as the model, none padded.
    """
    asked = {
        NE_SHUFFLED: (member, shuffle_entanglement(graphs, seed=SHUFFLE_SEED)),
        NO_ATTENTION: (without_attention(member), graphs),
    }
    return {part: model.eval()(given).double().cpu().numpy() for part, (model, given) in asked.items()}


def measure_parts(
    members: Sequence[BioBGT], data: LabelledGraphs, tests: Sequence[NDArray[np.int64]]
) -> dict[str, Any]:
    """What a card says of a model's parts, measured out of fold.

    Parameters
    ----------
    members : sequence of BioBGT
        One per fold.
    data : LabelledGraphs
    tests : sequence of ndarray of int, shape (n_tested,) each
        Each fold's test subjects, whom its member never met; together all subjects.

    Returns
    -------
    dict
        ``members_at_start``: how many members took no step from labels. ``without``: see :func:`part_effects`, one
        entry per part. ``connectivity``: see :func:`biobgt.model.attention_views.beside_connectivity`, the mean over
        each group's subjects, with their own connectivity and Louvain modules.
    """
    whole = np.full((len(data.labels), len(data.groups)), np.nan)
    without = {part: whole.copy() for part in PARTS}
    beside: list[BesideConnectivity | None] = [None] * len(data.labels)
    for member, rows in zip(members, tests, strict=True):
        for part in np.array_split(rows, math.ceil(len(rows) / _AT_ONCE)):
            graphs, _ = data.part(part)
            with torch.no_grad():
                seen = member.eval().explain(graphs)
            whole[part] = seen.logits.double().numpy()
            for name, logits in logits_without(member, graphs).items():
                without[name][part] = logits
            for row, attention in zip(part.tolist(), seen.mean_attention().weights.double().numpy(), strict=True):
                modules = data.graphs.modules[row].tolist()
                beside[row] = beside_connectivity(attention, data.matrices[row].astype(np.float64), modules)
    temperatures, _ = fold_temperatures(whole, list(tests), data.labels)
    scale = np.ones((len(whole), 1))
    for rows, temperature in zip(tests, temperatures, strict=True):
        scale[rows] = temperature
    changed = {part: calibrated(logits / scale, 1.0) for part, logits in without.items()}
    return {
        "members_at_start": sum(map(took_no_step, members)),
        "without": part_effects(calibrated(whole / scale, 1.0), changed),
        "connectivity": {
            group: _mean_beside([one for one, own in zip(beside, data.labels == label, strict=True) if own and one])
            for label, group in enumerate(data.groups)
        },
    }


def complete_parts(folder: Path, data: LabelledGraphs, splits: Sequence[Split]) -> dict[str, Any]:
    """Measure the parts of the model in a folder, put them on its card, and return the card.

    Parameters
    ----------
    folder : Path
        Of the model.
    data : LabelledGraphs
        Of the cohort that the model was trained on.
    splits : sequence of Split
        The folds that it was trained on, in the order of its members.
    """
    ensemble = load_pretrained(folder, "cpu")
    parts = measure_parts(ensemble.members, data, [split.test for split in splits])
    card = {**json.loads((folder / CARD).read_text(encoding="utf-8")), "parts": parts}
    write_card(folder, card)
    return card


def _mean_beside(found: Sequence[BesideConnectivity]) -> dict[str, float | None]:
    """Mean over subjects of what is defined, rounded as a card holds it."""
    means = {}
    for field in fields(BesideConnectivity):
        values = np.array([getattr(one, field.name) for one in found], dtype=np.float64)
        known = values[np.isfinite(values)]
        means[field.name] = round(float(known.mean()), 4) if len(known) else None
    return means


def part_effects(
    probabilities: NDArray[np.float64], without: Mapping[str, NDArray[np.float64]]
) -> dict[str, dict[str, float | None]]:
    """How far predictions move when a part does nothing.

    Parameters
    ----------
    probabilities : ndarray, shape (n_subjects, n_groups)
        Of the whole model.
    without : mapping of str to ndarray, shape (n_subjects, n_groups)
        Without each part.

    Returns
    -------
    dict of str to dict
        Of each part ``largest_change`` of any probability, ``mean_change``, the Pearson ``correlation`` of the
        probabilities over subjects (the lowest of any group; None where they do not vary), and ``changed_calls``, how
        many subjects are put into another group.
    """
    return {part: _effect(probabilities, changed) for part, changed in without.items()}


def _effect(whole: NDArray[np.float64], changed: NDArray[np.float64]) -> dict[str, float | None]:
    moved = np.abs(changed - whole)
    varies = [one.std() > 0 and other.std() > 0 for one, other in zip(whole.T, changed.T, strict=True)]
    pairs = zip(whole.T, changed.T, strict=True)
    return {
        "largest_change": round(float(moved.max()), 6),
        "mean_change": round(float(moved.mean()), 6),
        "correlation": round(min(float(np.corrcoef(*pair)[0, 1]) for pair in pairs), 6) if all(varies) else None,
        "changed_calls": int((whole.argmax(axis=1) != changed.argmax(axis=1)).sum()),
    }


def took_no_step(member: BioBGT) -> bool:
    """Whether validation kept the start, before any gradient step from labels.

    With log-Euclidean values the feed-forward network starts at exactly zero and any step moves it.
    """
    return member.preset.values == "log" and not any(
        bool(layer.feed_forward[-1].weight.any())  # type: ignore[index,union-attr]
        for layer in member.layers
    )
