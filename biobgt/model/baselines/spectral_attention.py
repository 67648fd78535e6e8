"""SAN, the spectral attention network (Kreuzer et al. 2021): positions learnt from the Laplacian's spectrum.

Each region's row of (eigenvalue, eigenvector) pairs goes through a small transformer, whose sum over pairs is its
position. Attention is full, with queries and keys of their own for pairs that are edges and for pairs that are not;
the two softmaxes are mixed in the shares 1/(1 + γ) and γ/(1 + γ), γ being learnt.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from biobgt.model.baselines.dense_attention import (
    HEADS,
    LAYERS,
    WIDTH,
    FeedForward,
    RegionNorm,
    flip_signs,
    mean_readout,
)
from biobgt.model.baselines.graph_encodings import EncodedBatch
from biobgt.model.baselines.graph_network import GraphNetwork

PLACE = 16  # numbers that a region's place is learnt in
_APART = -1e9  # added to the score of a pair that does not count


class SpectralAttentionNetwork(GraphNetwork):
    """Full attention that tells edges from other pairs."""

    def __init__(self, n_regions: int, n_groups: int) -> None:
        super().__init__()
        self.project = nn.Linear(n_regions, WIDTH - PLACE)
        self.place = _LearntPosition()
        self.attentions = nn.ModuleList(_TwoAttentions() for _ in range(LAYERS))
        self.norms = nn.ModuleList(RegionNorm(WIDTH) for _ in range(LAYERS))
        self.forwards = nn.ModuleList(FeedForward(RegionNorm(WIDTH)) for _ in range(LAYERS))
        self.readout = mean_readout(WIDTH, n_groups)

    def forward(self, batch: EncodedBatch) -> Tensor:
        """Return logits, shape (B, n_groups)."""
        vectors, values = batch.positions.chunk(2, dim=2)
        place = self.place(flip_signs(vectors, training=self.training), values)
        x = torch.cat([self.project(batch.features), place], dim=2)
        for attention, norm, forward in zip(self.attentions, self.norms, self.forwards, strict=True):
            x = forward(norm(x + attention(x, batch.weights)))
        return self.readout(x.mean(dim=1))


class _LearntPosition(nn.Module):
    """A transformer layer over a region's pairs of eigenvalue and component."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(2, PLACE)
        self.query, self.key, self.value = (nn.Linear(PLACE, PLACE) for _ in range(3))
        self.feed_forward = nn.Sequential(nn.Linear(PLACE, 2 * PLACE), nn.ReLU(), nn.Linear(2 * PLACE, PLACE))

    def forward(self, vectors: Tensor, values: Tensor) -> Tensor:
        pairs = self.embed(torch.stack([vectors, values], dim=-1))
        scores = self.query(pairs) @ self.key(pairs).transpose(-1, -2) * PLACE**-0.5
        pairs = pairs + scores.softmax(dim=-1) @ self.value(pairs)
        return (pairs + self.feed_forward(pairs)).sum(dim=2)


class _TwoAttentions(nn.Module):
    """One attention over edges and one over all other pairs, each region's with itself among these.

    A mixture of weights gives the mixture of what they attend to, so that torch's own attention can be used for both.
    """

    def __init__(self) -> None:
        super().__init__()
        self.queries, self.keys = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(WIDTH, 2 * WIDTH)
        self.value, self.output = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mixing = nn.Parameter(torch.zeros(()))

    def forward(self, x: Tensor, weights: Tensor) -> Tensor:
        query, key = (self._split(part(x), 2 * HEADS).chunk(2, dim=1) for part in (self.queries, self.keys))
        value, edges = self._split(self.value(x), HEADS), (weights > 0)[:, None]
        apart = torch.full_like(weights[:, None], _APART)
        along = functional.scaled_dot_product_attention(
            query[0], key[0], value, attn_mask=torch.where(edges, weights[:, None].clamp(min=1e-6).log(), apart)
        )
        others = functional.scaled_dot_product_attention(
            query[1], key[1], value, attn_mask=torch.where(edges, apart, torch.zeros_like(apart))
        )
        gamma = functional.softplus(self.mixing)
        has_edges = edges.any(dim=-1, keepdim=True)
        mixed = (along * has_edges + gamma * others) / (1 + gamma)
        return self.output(mixed.transpose(1, 2).flatten(2))

    @staticmethod
    def _split(x: Tensor, parts: int) -> Tensor:
        return x.view(*x.shape[:-1], parts, -1).transpose(1, 2)
