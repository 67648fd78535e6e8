"""Attention between all regions of a dense batch, and the block around it, shared by the graph transformers.

Sizes are those of BioBGT's table (three layers, eight heads, width 128, feed-forward 256), so that systems differ in
what they know and not in how large they are. Attention weights are not dropped: drawing them takes a third of a step.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from biobgt.model.dropout import Dropout

LAYERS, HEADS, WIDTH, FEED_FORWARD, DROPOUT = 3, 8, 128, 256, 0.5


class DenseAttention(nn.Module):
    """Multi-head attention whose scores may be biased, and whose weights may be damped after the softmax."""

    def __init__(self, width: int = WIDTH, heads: int = HEADS) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))

    def forward(
        self,
        x: Tensor,
        values: Tensor | None = None,
        *,
        bias: Tensor | None = None,
        damping: Tensor | None = None,
    ) -> Tensor:
        """Attend, shape (B, n, width).

        Parameters
        ----------
        x : Tensor, shape (B, n, width)
            What queries and keys are made of.
        values : Tensor, shape (B, n, width), optional
            What is averaged; x where it is not given.
        bias : Tensor, of a shape that broadcasts to (B, heads, n, n), optional
            Added to the scores; minus infinity keeps a pair apart.
        damping : Tensor, of a shape that broadcasts to (B, heads, n, n), optional
            Multiplied with the weights.
        """
        value = self.split(self.value(x if values is None else values))
        if damping is None:  # torch's own takes half the time, and does not tell the weights
            query, key = self.split(self.query(x)), self.split(self.key(x))
            mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=bias)
        else:
            mixed = (self.weights(x, bias=bias) * damping) @ value
        return torch.as_tensor(self.output(mixed.transpose(1, 2).flatten(2)))

    def weights(self, x: Tensor, *, bias: Tensor | None = None) -> Tensor:
        """Attention weights before any damping, shape (B, heads, n, n); rows sum to 1."""
        scale = (x.shape[-1] / self.heads) ** -0.5
        scores = self.split(self.query(x) * scale) @ self.split(self.key(x)).transpose(-1, -2)
        return (scores if bias is None else scores + bias).softmax(dim=-1)

    def split(self, x: Tensor) -> Tensor:
        """One part per head, shape (B, heads, n, width / heads)."""
        return x.view(*x.shape[:-1], self.heads, -1).transpose(1, 2)


def limited_softmax(scores: Tensor, allowed: Tensor) -> Tensor:
    """Softmax over the allowed columns; rows that allow none are zero."""
    return scores.masked_fill(~allowed, -1e9).softmax(dim=-1) * allowed


class RegionNorm(nn.BatchNorm1d):
    """Batch normalisation of features over all regions of all graphs, shape (B, n, width)."""

    def forward(self, x: Tensor) -> Tensor:
        """Normalise."""
        return super().forward(x.flatten(0, 1)).view_as(x)


class FeedForward(nn.Module):
    """Two linear layers with a residual connection and a norm behind.

    Parameters
    ----------
    norm : nn.Module
        Applied to the sum.
    width, inner : int
        Of what comes in and goes out, and between the two layers.
    """

    def __init__(self, norm: nn.Module, width: int = WIDTH, inner: int = FEED_FORWARD) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(width, inner), nn.ReLU(), Dropout(DROPOUT), nn.Linear(inner, width))
        self.norm = norm

    def forward(self, x: Tensor) -> Tensor:
        """Transform, shape (B, n, width)."""
        return torch.as_tensor(self.norm(x + self.layers(x)))


def mean_readout(width: int, n_groups: int) -> nn.Module:
    """Dropout and a linear layer, for the mean over regions."""
    return nn.Sequential(Dropout(DROPOUT), nn.Linear(width, n_groups))


def flip_signs(positions: Tensor, *, training: bool) -> Tensor:
    """Turn eigenvectors round by lot in training, since their sign is free, shape (B, n, k)."""
    if not training:
        return positions
    signs = torch.randint(0, 2, (len(positions), 1, positions.shape[2]), device=positions.device) * 2 - 1
    return positions * signs
