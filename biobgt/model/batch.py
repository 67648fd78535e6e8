"""A dense batch of brain graphs, as the model takes it."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Self

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class GraphBatch:
    """Graphs of up to n regions, padded where they have fewer.

    Attributes
    ----------
    features : Tensor, shape (B, n, n_features)
        A region's correlation profile.
    values : Tensor, shape (B, n, n_features)
        What attention averages: a region's row of log-Euclidean connectivity, or the features again.
    weights : Tensor, shape (B, n, n)
        The brain graph: non-negative, symmetric, zero diagonal.
    entanglement : Tensor, shape (B, n)
        Node entanglement of each region.
    modules : Tensor of int, shape (B, n)
        Louvain modules; 0 is no module.
    mask : Tensor of bool, shape (B, n)
        False for padding.
    """

    features: Tensor
    values: Tensor
    weights: Tensor
    entanglement: Tensor
    modules: Tensor
    mask: Tensor

    def __len__(self) -> int:
        return len(self.features)

    def __getitem__(self, rows: Tensor | slice) -> Self:
        return type(self)(*(getattr(self, field.name)[rows] for field in fields(self)))

    def to(self, device: torch.device | str) -> Self:
        """Return the batch on a device."""
        return type(self)(*(getattr(self, field.name).to(device) for field in fields(self)))


def join_batches(batches: Sequence[GraphBatch]) -> GraphBatch:
    """Put batches together, padding graphs to the largest number of regions."""
    n = max(batch.features.shape[1] for batch in batches)
    padded = [_pad(batch, n) for batch in batches]
    return GraphBatch(*(torch.cat([getattr(batch, field.name) for batch in padded]) for field in fields(GraphBatch)))


def _pad(batch: GraphBatch, n: int) -> GraphBatch:
    missing = n - batch.features.shape[1]
    pad = torch.nn.functional.pad
    return GraphBatch(
        features=pad(batch.features, (0, 0, 0, missing)),
        values=pad(batch.values, (0, 0, 0, missing)),
        weights=pad(batch.weights, (0, missing, 0, missing)),
        entanglement=pad(batch.entanglement, (0, missing)),
        modules=pad(batch.modules, (0, missing)),
        mask=pad(batch.mask, (0, missing)),
    )
