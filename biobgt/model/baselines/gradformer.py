"""Gradformer (Liu et al. 2024): attention damped by a power of the hop distance, beside a graph convolution.

Attention weights are multiplied by λ^ψ, where ψ is how far two regions lie beyond the reach of a head: hops − s where
that is positive, with a learnt s and a learnt λ per head. As in its framework a graph convolution runs beside
attention, and both are added; positions are return probabilities of random walks.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from biobgt.model.baselines.dense_attention import (
    HEADS,
    LAYERS,
    WIDTH,
    DenseAttention,
    FeedForward,
    RegionNorm,
    mean_readout,
)
from biobgt.model.baselines.graph_encodings import EncodedBatch
from biobgt.model.baselines.graph_network import GraphNetwork
from biobgt.model.baselines.structure_aware import placed_features
from biobgt.model.extractor import ModuleExtractor

START = 0.6  # of λ


class Gradformer(GraphNetwork):
    """A transformer whose attention fades with distance.

    Parameters
    ----------
    n_regions, n_groups : int
    positions : int
        How many positions a region has.
    """

    def __init__(self, n_regions: int, n_groups: int, *, positions: int) -> None:
        super().__init__()
        self.project = nn.Linear(n_regions + positions, WIDTH)
        self.reach = nn.Parameter(torch.linspace(0, 1, HEADS))
        self.fading = nn.Parameter(torch.full((HEADS,), START).logit())
        self.attentions = nn.ModuleList(DenseAttention() for _ in range(LAYERS))
        self.convolutions = nn.ModuleList(ModuleExtractor(WIDTH, 1) for _ in range(LAYERS))
        self.norms = nn.ModuleList(RegionNorm(WIDTH) for _ in range(2 * LAYERS))
        self.forwards = nn.ModuleList(FeedForward(RegionNorm(WIDTH)) for _ in range(LAYERS))
        self.readout = mean_readout(WIDTH, n_groups)

    def forward(self, batch: EncodedBatch) -> Tensor:
        """Return logits, shape (B, n_groups)."""
        x = self.project(placed_features(batch))
        beyond = functional.relu(batch.hops[:, None].float() - self.reach[:, None, None])
        damping = torch.exp(beyond * functional.logsigmoid(self.fading)[:, None, None])
        for i, attention in enumerate(self.attentions):
            near = self.norms[2 * i](x + functional.relu(self.convolutions[i](x, batch.weights)))
            far = self.norms[2 * i + 1](x + attention(x, damping=damping))
            x = self.forwards[i](near + far)
        return self.readout(x.mean(dim=1))
