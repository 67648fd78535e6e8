"""Graphormer (Ying et al. 2021): degree added to features, hop distance and path weights added to attention scores.

A learnt vector for a region's degree is added to its features (centrality encoding); a learnt number for the hop
distance of two regions, and the mean weight along their shortest paths times a learnt number, are added to the scores
of every head (spatial and edge encoding), the same in all layers. A further token that is one hop from everybody is
read out. Norms stand before attention and feed-forward network.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from biobgt.model.baselines.dense_attention import (
    DROPOUT,
    FEED_FORWARD,
    HEADS,
    LAYERS,
    WIDTH,
    DenseAttention,
    mean_readout,
)
from biobgt.model.baselines.graph_encodings import MOST_HOPS, EncodedBatch
from biobgt.model.baselines.graph_network import GraphNetwork
from biobgt.model.dropout import Dropout


class Graphormer(GraphNetwork):
    """A transformer that is told degrees, distances and paths."""

    def __init__(self, n_regions: int, n_groups: int) -> None:
        super().__init__()
        self.project, self.degree = nn.Linear(n_regions, WIDTH), nn.Embedding(n_regions, WIDTH)
        self.graph_token = nn.Parameter(torch.randn(WIDTH) * 0.02)
        self.distance = nn.Embedding(MOST_HOPS + 1, HEADS)
        self.path, self.to_token = nn.Parameter(torch.zeros(HEADS)), nn.Parameter(torch.zeros(HEADS))
        for embedding in (self.degree, self.distance):
            nn.init.normal_(embedding.weight, std=0.02)
        self.layers = nn.ModuleList(_Layer() for _ in range(LAYERS))
        self.last_norm = nn.LayerNorm(WIDTH)
        self.readout = mean_readout(WIDTH, n_groups)

    def forward(self, batch: EncodedBatch) -> Tensor:
        """Return logits, shape (B, n_groups)."""
        return self._run(batch)

    def attention(self, batch: EncodedBatch) -> Tensor:
        """Mean attention between regions over layers and heads, the graph's token left out, shape (B, n, n)."""
        maps: list[Tensor] = []
        self._run(batch, maps)
        return torch.stack(maps).mean(dim=0)[:, 1:, 1:]

    def _run(self, batch: EncodedBatch, maps: list[Tensor] | None = None) -> Tensor:
        x = self.project(batch.features) + self.degree((batch.weights > 0).sum(dim=-1))
        x = torch.cat([self.graph_token.expand(len(x), 1, -1), x], dim=1)
        bias = self._bias(batch)
        for layer in self.layers:
            assert isinstance(layer, _Layer)
            if maps is not None:
                maps.append(layer.attention.weights(layer.first_norm(x), bias=bias).mean(dim=1))
            x = layer(x, bias)
        return self.readout(self.last_norm(x[:, 0]))

    def _bias(self, batch: EncodedBatch) -> Tensor:
        """What is added to the scores, shape (B, heads, n + 1, n + 1)."""
        # One table look-up per head: an embedding of all pairs would be copied to bring the heads to the front.
        hops = batch.hops.long()
        near = torch.stack([self.distance.weight[:, head][hops] for head in range(HEADS)], dim=1)
        bias = near + self.path[:, None, None] * batch.path_weights[:, None]
        padded = functional.pad(bias, (1, 0, 1, 0))
        token = functional.pad(torch.zeros_like(bias[:, :1]), (1, 0, 1, 0), value=1.0)
        return padded + token * self.to_token[:, None, None]


class _Layer(nn.Module):
    """Attention and feed-forward network, each behind its norm."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = DenseAttention()
        self.first_norm, self.second_norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.feed_forward = nn.Sequential(
            nn.Linear(WIDTH, FEED_FORWARD), nn.GELU(), Dropout(DROPOUT), nn.Linear(FEED_FORWARD, WIDTH)
        )

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        x = x + self.attention(self.first_norm(x), bias=bias)
        return x + self.feed_forward(self.second_norm(x))
