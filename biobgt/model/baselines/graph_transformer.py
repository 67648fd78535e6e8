"""Graph Transformer (Dwivedi and Bresson 2020): attention along edges, Laplacian eigenvectors as positions.

h ← BN(h + O ‖ softmax(QK/√d over neighbours) V), then BN(h + FFN(h)); the mean over regions is classified. Weights of
edges enter as a bias of the scores, the log of the weight, in place of the paper's features of chemical bonds.
"""

import torch
from torch import Tensor, nn

from biobgt.model.baselines.dense_attention import (
    LAYERS,
    WIDTH,
    DenseAttention,
    FeedForward,
    RegionNorm,
    flip_signs,
    mean_readout,
)
from biobgt.model.baselines.graph_encodings import EncodedBatch
from biobgt.model.baselines.graph_network import GraphNetwork


class GraphTransformer(GraphNetwork):
    """Attention along edges.

    Parameters
    ----------
    n_regions, n_groups : int
    positions : int
        How many positions a region has.
    """

    def __init__(self, n_regions: int, n_groups: int, *, positions: int) -> None:
        super().__init__()
        self.project, self.place = nn.Linear(n_regions, WIDTH), nn.Linear(positions, WIDTH)
        self.attentions = nn.ModuleList(DenseAttention() for _ in range(LAYERS))
        self.norms = nn.ModuleList(RegionNorm(WIDTH) for _ in range(LAYERS))
        self.forwards = nn.ModuleList(FeedForward(RegionNorm(WIDTH)) for _ in range(LAYERS))
        self.readout = mean_readout(WIDTH, n_groups)

    def forward(self, batch: EncodedBatch) -> Tensor:
        """Return logits, shape (B, n_groups)."""
        x = self.project(batch.features) + self.place(flip_signs(batch.positions, training=self.training))
        bias = edge_bias(batch.weights)
        for attention, norm, forward in zip(self.attentions, self.norms, self.forwards, strict=True):
            x = forward(norm(x + attention(x, bias=bias)))
        return self.readout(x.mean(dim=1))


def edge_bias(weights: Tensor) -> Tensor:
    """Log of the edges' weights for every head, a region's to itself being 1; minus infinity between other pairs.

    Returns
    -------
    Tensor, shape (B, 1, n, n)
    """
    return (weights + torch.eye(weights.shape[-1], device=weights.device)).log()[:, None]
