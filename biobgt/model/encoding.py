"""Φ, node importance encoding (Eq. 7): x' = x + x_NE, with a learnable vector for the region's node entanglement.

A vector per value would not generalise, so NE is told apart by quantile of the training subjects' values.
"""

import torch
from torch import Tensor, nn


def quantile_edges(entanglement: Tensor, bins: int) -> Tensor:
    """Inner edges of quantile bins, shape (bins - 1,), from training subjects' NE of any shape."""
    shares = torch.linspace(0, 1, bins + 1, dtype=torch.float64)[1:-1]
    return torch.quantile(entanglement.flatten().double(), shares).float()


class NodeImportanceEncoding(nn.Module):
    """Add to each region's features the embedding of its NE."""

    edges: Tensor

    def __init__(self, bins: int, width: int) -> None:
        super().__init__()
        self.register_buffer("edges", torch.linspace(0, 1, bins + 1)[1:-1].clone())
        self.embedding = nn.Embedding(bins, width)
        nn.init.normal_(self.embedding.weight, std=0.02)

    def forward(self, x: Tensor, entanglement: Tensor) -> Tensor:
        """Encode.

        Parameters
        ----------
        x : Tensor, shape (B, n, width)
        entanglement : Tensor, shape (B, n)

        Returns
        -------
        Tensor, shape (B, n, width)
        """
        return x + self.embedding(torch.bucketize(entanglement.contiguous(), self.edges))
