"""SAT, the structure-aware transformer (Chen et al. 2022), with and without positions.

Queries and keys come from a graph network over a region's surroundings of k edges (the k-subtree extractor, here graph
convolutions), values from the features; the attended sum is added over √degree: x ← BN(x + Attn/√d), then the
feed-forward network. Positions are return probabilities of random walks of 1 to 20 steps.
"""

import torch
from torch import Tensor, nn

from biobgt.model.baselines.dense_attention import (
    LAYERS,
    WIDTH,
    DenseAttention,
    FeedForward,
    RegionNorm,
    mean_readout,
)
from biobgt.model.baselines.graph_encodings import EncodedBatch
from biobgt.model.baselines.graph_network import GraphNetwork
from biobgt.model.extractor import ModuleExtractor

SUBTREE = 2


class StructureAwareTransformer(GraphNetwork):
    """Attention between regions by what surrounds them.

    Parameters
    ----------
    n_regions, n_groups : int
    positions : int
        How many positions a region has; 0 for none.
    """

    def __init__(self, n_regions: int, n_groups: int, *, positions: int = 0) -> None:
        super().__init__()
        self.project = nn.Linear(n_regions + positions, WIDTH)
        self.surroundings = nn.ModuleList(ModuleExtractor(WIDTH, SUBTREE) for _ in range(LAYERS))
        self.attentions = nn.ModuleList(DenseAttention() for _ in range(LAYERS))
        self.norms = nn.ModuleList(RegionNorm(WIDTH) for _ in range(LAYERS))
        self.forwards = nn.ModuleList(FeedForward(RegionNorm(WIDTH)) for _ in range(LAYERS))
        self.readout = mean_readout(WIDTH, n_groups)

    def forward(self, batch: EncodedBatch) -> Tensor:
        """Return logits, shape (B, n_groups)."""
        return self._run(batch)

    def attention(self, batch: EncodedBatch) -> Tensor:
        """Mean attention over layers and heads, shape (B, n, n)."""
        maps: list[Tensor] = []
        self._run(batch, maps)
        return torch.stack(maps).mean(dim=0)

    def _run(self, batch: EncodedBatch, maps: list[Tensor] | None = None) -> Tensor:
        x = self.project(placed_features(batch))
        share = (batch.weights > 0).sum(dim=-1).clamp(min=1).float().rsqrt()[:, :, None]
        for i, attention in enumerate(self.attentions):
            h = self.surroundings[i](x, batch.weights)
            assert isinstance(attention, DenseAttention)
            if maps is not None:
                maps.append(attention.weights(h).mean(dim=1))
            x = self.forwards[i](self.norms[i](x + share * attention(h, x)))
        return self.readout(x.mean(dim=1))


def placed_features(batch: EncodedBatch) -> Tensor:
    """A region's features and, behind them, its positions, shape (B, n, n_features + k)."""
    return torch.cat([batch.features, batch.positions], dim=2)
