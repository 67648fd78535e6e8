"""Attention of trained networks of the benchmark on the subjects of a split's test part."""

from typing import Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.model.baselines.graph_encodings import EncodedBatch
from biobgt.model.batch import GraphBatch
from biobgt.model.transformer import BioBGT

_AT_ONCE = 16


@runtime_checkable
class Attending(Protocol):
    """A network that can say where its regions look."""

    def attention(self, batch: EncodedBatch) -> torch.Tensor:
        """Mean over layers and heads, shape (B, n_regions, n_regions); rows look."""


@torch.no_grad()
def mean_attention(
    network: torch.nn.Module, graphs: GraphBatch, *, device: torch.device | str = "cpu"
) -> NDArray[np.float64]:
    """Mean attention over layers, heads and subjects, in multiples of uniform attention, shape (n_regions, n_regions).

    Parameters
    ----------
    network : Module
        BioBGT, or a network of the benchmark that attends.
    graphs : GraphBatch
        As the network takes them.
    device : torch.device or str
    """
    network.eval().to(device)
    total = torch.zeros(graphs.weights.shape[1:], dtype=torch.float64)
    for start in range(0, len(graphs), _AT_ONCE):
        batch = graphs[slice(start, start + _AT_ONCE)].to(device)
        if isinstance(network, BioBGT):
            maps = torch.stack([one.weights for one in network.explain(batch).attention]).mean(dim=0)
        elif isinstance(network, Attending) and isinstance(batch, EncodedBatch):
            maps = network.attention(batch)
        else:
            raise InputError(f"A {type(network).__name__} has no attention between regions.")
        total += maps.double().cpu().sum(dim=0)
    return np.asarray(total / len(graphs) * len(total))
