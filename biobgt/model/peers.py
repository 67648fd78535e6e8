"""The networks of the benchmark, each written anew from its paper: one class per peer.

First what they are given and what they share, then the peers, then what BioBGT is given in its ablations. Sizes are
those of BioBGT's table (three layers, eight heads, width 128, feed-forward 256), so that systems differ in what they
know and not in how large they are; where a peer has other sizes, they bear its name.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn.attention import PolynormerAttention

from biobgt.hubs.measures import HUB_MEASURES
from biobgt.model.network import Dropout, GraphBatch, ModuleExtractor, normalised
from biobgt.model.systems import Encoding, Importance

# What graph transformers are told of a graph beside features and weights: positions, distances and paths.
#
# All of it follows from one subject's graph, so that nothing of another subject can enter.


LAYERS, HEADS, WIDTH, FEED_FORWARD, DROPOUT = 3, 8, 128, 256, 0.5
MOST_HOPS = 8  # further, and where no path leads, counts as this
_AT_ONCE = 32


@dataclass(frozen=True, eq=False)
class _EncodedBatch(GraphBatch):
    """Graphs with encodings; those that a system does not take have no columns.

    Attributes
    ----------
    positions : Tensor, shape (B, n, k)
    hops : Tensor of int, shape (B, n, n) or (B, 0, 0)
        Edges on a shortest path, 0 on the diagonal, at most :data:`MOST_HOPS`.
    path_weights : Tensor, shape (B, n, n) or (B, 0, 0)
        Mean weight of the edges on shortest paths, over all of them; 0 where there is none.
    """

    positions: Tensor
    hops: Tensor
    path_weights: Tensor


def encode(graphs: GraphBatch, encoding: Encoding) -> _EncodedBatch:
    """Add encodings to graphs."""
    weights, positions = graphs.weights, graphs.weights.new_zeros(*graphs.weights.shape[:2], 0)
    if encoding.positions == "random-walk":
        positions = _random_walk_returns(weights, encoding.size)
    elif encoding.positions:
        values, positions = _laplacian_eigenvectors(weights, encoding.size)
        if encoding.positions == "spectrum":
            positions = torch.cat([positions, values[:, None, :].expand_as(positions)], dim=2)
    nothing = weights.new_zeros(len(weights), 0, 0)
    hops, path_weights = _shortest_paths(weights) if encoding.paths else (nothing.to(torch.uint8), nothing)
    return _EncodedBatch(
        **{field.name: getattr(graphs, field.name) for field in fields(GraphBatch)},
        positions=positions,
        hops=hops,
        path_weights=path_weights,
    )


def _laplacian_eigenvectors(weights: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The lowest eigenvalues but the first, shape (B, k), and their eigenvectors, shape (B, n, k).

    Of I − D^-½ W D^-½. A vector's sign is free: the component that is largest in size is made positive. A graph of
    fewer than k + 1 regions has zeros instead.

    Parameters
    ----------
    weights : Tensor, shape (B, n, n)
    k : int
    """
    n = weights.shape[-1]
    scale = weights.sum(dim=-1).double().clamp(min=1e-12).rsqrt() * (weights.sum(dim=-1) > 0)
    normalised = weights.double() * scale[:, :, None] * scale[:, None, :]
    parts = [torch.linalg.eigh(torch.eye(n) - part) for part in torch.split(normalised, _AT_ONCE)]
    values, vectors = (torch.cat([part[i] for part in parts])[..., 1 : k + 1] for i in (0, 1))
    largest = vectors.gather(1, vectors.abs().argmax(dim=1, keepdim=True))
    vectors = vectors * torch.where(largest < 0, -1.0, 1.0)
    missing = (0, k - values.shape[-1])
    return tuple(functional.pad(part, missing).float() for part in (values, vectors))  # type: ignore[return-value]


def _random_walk_returns(weights: Tensor, steps: int) -> Tensor:
    """How probable a random walk is back after 1, 2, … steps, shape (B, n, steps).

    Parameters
    ----------
    weights : Tensor, shape (B, n, n)
    steps : int
    """
    walk = weights / weights.sum(dim=-1, keepdim=True).clamp(min=1e-12)
    power, returns = walk, []
    for _ in range(steps):
        returns.append(power.diagonal(dim1=1, dim2=2))
        power = power @ walk
    return torch.stack(returns, dim=2)


def _shortest_paths(weights: Tensor) -> tuple[Tensor, Tensor]:
    """Hop distances and the mean weight along shortest paths, each of shape (B, n, n).

    Where several shortest paths join two regions the mean is over all of them, so that it does not depend on the order
    of the regions.
    """
    hops, means = zip(*(_paths(part) for part in torch.split(weights, _AT_ONCE)), strict=True)
    return torch.cat(hops), torch.cat(means)


def _paths(weights: Tensor) -> tuple[Tensor, Tensor]:
    weights = weights.double()  # counts of paths grow fast
    edges = (weights > 0).double()
    hops = torch.full(weights.shape, MOST_HOPS, dtype=torch.uint8)
    hops.diagonal(dim1=1, dim2=2).zero_()
    counts = torch.eye(weights.shape[-1], dtype=torch.float64).expand_as(weights)
    sums, means = torch.zeros_like(weights), torch.zeros_like(weights)
    for hop in range(1, MOST_HOPS):
        new = ((counts @ edges) > 0) & (hops == MOST_HOPS)
        sums, counts = (sums @ edges + counts @ weights) * new, (counts @ edges) * new
        hops[new] = hop
        means += torch.where(new, sums / (counts.clamp(min=1) * hop), 0.0)
        if not bool(new.any()):
            break
    return hops, means.float()


# What every network of the benchmark can do, and how many numbers it learns.


class GraphNetwork(nn.Module, ABC):
    """A network over brain graphs, from a dense batch to a logit per group."""

    @abstractmethod
    def forward(self, batch: _EncodedBatch) -> Tensor:
        """Return logits, shape (B, n_groups)."""

    def losses(self, batch: _EncodedBatch, groups: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits and what is added to the cross-entropy in training, shape ().

        Parameters
        ----------
        batch : EncodedBatch
        groups : Tensor of int, shape (B,)
        """
        logits = self(batch)
        return logits, logits.new_zeros(())


def n_parameters(network: nn.Module) -> int:
    """How many numbers a network learns."""
    return sum(parameter.numel() for parameter in network.parameters() if parameter.requires_grad)


# Attention between all regions of a dense batch, and the block around it, shared by the graph transformers.
#
# Attention weights are not dropped: drawing them takes a third of a step.


class _DenseAttention(nn.Module):
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
        value = _split(self.value(x if values is None else values), self.heads)
        if damping is None:  # torch's own takes half the time, and does not tell the weights
            query, key = _split(self.query(x), self.heads), _split(self.key(x), self.heads)
            mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=bias)
        else:
            mixed = (self.weights(x, bias=bias) * damping) @ value
        return torch.as_tensor(self.output(mixed.transpose(1, 2).flatten(2)))

    def weights(self, x: Tensor, *, bias: Tensor | None = None) -> Tensor:
        """Attention weights before any damping, shape (B, heads, n, n); rows sum to 1."""
        scale = (x.shape[-1] / self.heads) ** -0.5
        scores = _split(self.query(x) * scale, self.heads) @ _split(self.key(x), self.heads).transpose(-1, -2)
        return (scores if bias is None else scores + bias).softmax(dim=-1)


def _split(x: Tensor, heads: int) -> Tensor:
    """One part per head, shape (B, heads, n, width / heads)."""
    return x.view(*x.shape[:-1], heads, -1).transpose(1, 2)


class _RegionNorm(nn.BatchNorm1d):
    """Batch normalisation of features over all regions of all graphs, shape (B, n, width)."""

    def __init__(self, width: int = WIDTH) -> None:
        super().__init__(width)

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.flatten(0, 1)).view_as(x)


class _FeedForward(nn.Module):
    """Two linear layers with a residual connection and a norm behind, shape (B, n, width)."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(WIDTH, FEED_FORWARD), nn.ReLU(), Dropout(DROPOUT), nn.Linear(FEED_FORWARD, WIDTH)
        )
        self.norm = _RegionNorm()

    def forward(self, x: Tensor) -> Tensor:
        return torch.as_tensor(self.norm(x + self.layers(x)))


def _per_layer(part: Callable[[], nn.Module], n: int = LAYERS) -> nn.ModuleList:
    return nn.ModuleList(part() for _ in range(n))


def _mean_readout(n_groups: int) -> nn.Module:
    """Dropout and a linear layer, for the mean over regions."""
    return nn.Sequential(Dropout(DROPOUT), nn.Linear(WIDTH, n_groups))


def _flip_signs(positions: Tensor, *, training: bool) -> Tensor:
    """Turn eigenvectors round by lot in training, since their sign is free, shape (B, n, k)."""
    if not training:
        return positions
    signs = torch.randint(0, 2, (len(positions), 1, positions.shape[2]), device=positions.device) * 2 - 1
    return positions * signs


# GAT, the graph attention network (Veličković et al. 2018), on the thresholded brain graph.
#
# Scores are LeakyReLU(aᵀ[W h_i ‖ W h_j]) over neighbours and the region itself: the sum of a number of i and one of j,
# so that a dense batch needs no message per edge. Two layers of eight heads; the mean over regions is classified.


GAT_SLOPE = 0.2


class _DenseGraphAttention(nn.Module):
    """One layer; the same numbers as PyTorch Geometric's ``GATConv`` without bias, for a dense batch.

    Parameters
    ----------
    width_in, width_out : int
        Features of a region before and after; the second is shared by the heads.
    heads : int
    """

    def __init__(self, width_in: int, width_out: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(width_in, width_out, bias=False)
        self.source, self.target = (nn.Parameter(torch.empty(heads, width_out // heads)) for _ in range(2))
        nn.init.xavier_uniform_(self.project.weight)
        nn.init.xavier_uniform_(self.source)
        nn.init.xavier_uniform_(self.target)

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        """Attend along edges.

        Parameters
        ----------
        x : Tensor, shape (B, n, width_in)
        edges : Tensor of bool, shape (B, n, n)
            Symmetric; every region attends to itself, too.

        Returns
        -------
        Tensor, shape (B, n, width_out)
        """
        h = self.project(x).view(*x.shape[:2], self.heads, -1)
        source, target = ((h * part).sum(dim=-1).transpose(1, 2) for part in (self.source, self.target))
        scores = functional.leaky_relu(target[..., :, None] + source[..., None, :], GAT_SLOPE)
        loops = torch.eye(x.shape[1], dtype=torch.bool, device=x.device)
        weights = scores.masked_fill(~(edges | loops)[:, None], -1e9).softmax(dim=-1)
        return (weights @ h.transpose(1, 2)).transpose(1, 2).flatten(2)


class _GraphAttentionNetwork(GraphNetwork):
    """Two layers of attention along edges."""

    def __init__(self, n_regions: int, n_groups: int) -> None:
        super().__init__()
        self.first = _DenseGraphAttention(n_regions, WIDTH, HEADS)
        self.second = _DenseGraphAttention(WIDTH, WIDTH, HEADS)
        self.dropout = nn.Dropout(DROPOUT)
        self.readout = _mean_readout(n_groups)

    def forward(self, batch: _EncodedBatch) -> Tensor:
        """Return logits, shape (B, n_groups)."""
        edges = batch.weights > 0
        x = self.dropout(functional.elu(self.first(batch.features, edges)))
        return self.readout(functional.elu(self.second(x, edges)).mean(dim=1))


# Graph Transformer (Dwivedi and Bresson 2020): attention along edges, Laplacian eigenvectors as positions.
#
# h ← BN(h + O ‖ softmax(QK/√d over neighbours) V), then BN(h + FFN(h)); the mean over regions is classified. Weights
# of edges enter as a bias of the scores, the log of the weight, in place of the paper's features of chemical bonds.


class _GraphTransformer(GraphNetwork):
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
        self.attentions = _per_layer(_DenseAttention)
        self.norms = _per_layer(_RegionNorm)
        self.forwards = _per_layer(_FeedForward)
        self.readout = _mean_readout(n_groups)

    def forward(self, batch: _EncodedBatch) -> Tensor:
        """Return logits, shape (B, n_groups)."""
        x = self.project(batch.features) + self.place(_flip_signs(batch.positions, training=self.training))
        # Log of the edges' weights, a region's to itself being 1; minus infinity between other pairs.
        bias = (batch.weights + torch.eye(batch.weights.shape[-1], device=x.device)).log()[:, None]
        for attention, norm, forward in zip(self.attentions, self.norms, self.forwards, strict=True):
            x = forward(norm(x + attention(x, bias=bias)))
        return self.readout(x.mean(dim=1))


# Graphormer (Ying et al. 2021): degree added to features, hop distance and path weights added to attention scores.
#
# A learnt vector for a region's degree is added to its features (centrality encoding); a learnt number for the hop
# distance of two regions, and the mean weight along their shortest paths times a learnt number, are added to the
# scores of every head (spatial and edge encoding), the same in all layers. A further token that is one hop from
# everybody is read out. Norms stand before attention and feed-forward network.


class _Graphormer(GraphNetwork):
    """A transformer that is told degrees, distances and paths."""

    def __init__(self, n_regions: int, n_groups: int) -> None:
        super().__init__()
        self.project, self.degree = nn.Linear(n_regions, WIDTH), nn.Embedding(n_regions, WIDTH)
        self.graph_token = nn.Parameter(torch.randn(WIDTH) * 0.02)
        self.distance = nn.Embedding(MOST_HOPS + 1, HEADS)
        self.path, self.to_token = nn.Parameter(torch.zeros(HEADS)), nn.Parameter(torch.zeros(HEADS))
        for embedding in (self.degree, self.distance):
            nn.init.normal_(embedding.weight, std=0.02)
        self.layers = _per_layer(_GraphormerLayer)
        self.last_norm = nn.LayerNorm(WIDTH)
        self.readout = _mean_readout(n_groups)

    def forward(self, batch: _EncodedBatch) -> Tensor:
        """Return logits, shape (B, n_groups)."""
        x = self.project(batch.features) + self.degree((batch.weights > 0).sum(dim=-1))
        x = torch.cat([self.graph_token.expand(len(x), 1, -1), x], dim=1)
        # One table look-up per head: an embedding of all pairs would be copied to bring the heads to the front.
        hops = batch.hops.long()
        near = torch.stack([self.distance.weight[:, head][hops] for head in range(HEADS)], dim=1)
        bias = near + self.path[:, None, None] * batch.path_weights[:, None]
        token = functional.pad(torch.zeros_like(bias[:, :1]), (1, 0, 1, 0), value=1.0)
        bias = functional.pad(bias, (1, 0, 1, 0)) + token * self.to_token[:, None, None]
        for layer in self.layers:
            x = layer(x, bias)
        return self.readout(self.last_norm(x[:, 0]))


class _GraphormerLayer(nn.Module):
    """Attention and feed-forward network, each behind its norm."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = _DenseAttention()
        self.first_norm, self.second_norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.feed_forward = nn.Sequential(
            nn.Linear(WIDTH, FEED_FORWARD), nn.GELU(), Dropout(DROPOUT), nn.Linear(FEED_FORWARD, WIDTH)
        )

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        x = x + self.attention(self.first_norm(x), bias=bias)
        return x + self.feed_forward(self.second_norm(x))


# SAN, the spectral attention network (Kreuzer et al. 2021): positions learnt from the Laplacian's spectrum.
#
# Each region's row of (eigenvalue, eigenvector) pairs goes through a small transformer, whose sum over pairs is its
# position. Attention is full, with queries and keys of their own for pairs that are edges and for pairs that are not;
# the two softmaxes are mixed in the shares 1/(1 + γ) and γ/(1 + γ), γ being learnt.


SAN_PLACE = 16  # numbers that a region's place is learnt in
SAN_APART = -1e9  # added to the score of a pair that does not count


class _SpectralAttentionNetwork(GraphNetwork):
    """Full attention that tells edges from other pairs."""

    def __init__(self, n_regions: int, n_groups: int) -> None:
        super().__init__()
        self.project = nn.Linear(n_regions, WIDTH - SAN_PLACE)
        self.place = _LearntPosition()
        self.attentions = _per_layer(_TwoAttentions)
        self.norms = _per_layer(_RegionNorm)
        self.forwards = _per_layer(_FeedForward)
        self.readout = _mean_readout(n_groups)

    def forward(self, batch: _EncodedBatch) -> Tensor:
        """Return logits, shape (B, n_groups)."""
        vectors, values = batch.positions.chunk(2, dim=2)
        place = self.place(_flip_signs(vectors, training=self.training), values)
        x = torch.cat([self.project(batch.features), place], dim=2)
        for attention, norm, forward in zip(self.attentions, self.norms, self.forwards, strict=True):
            x = forward(norm(x + attention(x, batch.weights)))
        return self.readout(x.mean(dim=1))


class _LearntPosition(nn.Module):
    """A transformer layer over a region's pairs of eigenvalue and component."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(2, SAN_PLACE)
        self.query, self.key, self.value = (nn.Linear(SAN_PLACE, SAN_PLACE) for _ in range(3))
        self.feed_forward = nn.Sequential(
            nn.Linear(SAN_PLACE, 2 * SAN_PLACE), nn.ReLU(), nn.Linear(2 * SAN_PLACE, SAN_PLACE)
        )

    def forward(self, vectors: Tensor, values: Tensor) -> Tensor:
        pairs = self.embed(torch.stack([vectors, values], dim=-1))
        scores = self.query(pairs) @ self.key(pairs).transpose(-1, -2) * SAN_PLACE**-0.5
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
        query, key = (_split(part(x), 2 * HEADS).chunk(2, dim=1) for part in (self.queries, self.keys))
        value, edges = _split(self.value(x), HEADS), (weights > 0)[:, None]
        apart = torch.full_like(weights[:, None], SAN_APART)
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


# SAT, the structure-aware transformer (Chen et al. 2022), with and without positions.
#
# Queries and keys come from a graph network over a region's surroundings of k edges (the k-subtree extractor, here
# graph convolutions), values from the features; the attended sum is added over √degree: x ← BN(x + Attn/√d), then the
# feed-forward network. Positions are return probabilities of random walks of 1 to 20 steps.


SAT_SUBTREE = 2


class _StructureAwareTransformer(GraphNetwork):
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
        self.surroundings = _per_layer(lambda: ModuleExtractor(WIDTH, SAT_SUBTREE))
        self.attentions = _per_layer(_DenseAttention)
        self.norms = _per_layer(_RegionNorm)
        self.forwards = _per_layer(_FeedForward)
        self.readout = _mean_readout(n_groups)

    def forward(self, batch: _EncodedBatch) -> Tensor:
        """Return logits, shape (B, n_groups)."""
        x = self.project(torch.cat([batch.features, batch.positions], dim=2))
        share = (batch.weights > 0).sum(dim=-1).clamp(min=1).float().rsqrt()[:, :, None]
        for i, attention in enumerate(self.attentions):
            h = self.surroundings[i](x, batch.weights)
            x = self.forwards[i](self.norms[i](x + share * attention(h, x)))
        return self.readout(x.mean(dim=1))


# Gradformer (Liu et al. 2024): attention damped by a power of the hop distance, beside a graph convolution.
#
# Attention weights are multiplied by λ^ψ, where ψ is how far two regions lie beyond the reach of a head: hops − s
# where that is positive, with a learnt s and a learnt λ per head. As in its framework a graph convolution runs beside
# attention, and both are added; positions are return probabilities of random walks.


GRADFORMER_START = 0.6  # of λ


class _Gradformer(GraphNetwork):
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
        self.fading = nn.Parameter(torch.full((HEADS,), GRADFORMER_START).logit())
        self.attentions = _per_layer(_DenseAttention)
        self.convolutions = _per_layer(lambda: ModuleExtractor(WIDTH, 1))
        self.norms = _per_layer(_RegionNorm, 2 * LAYERS)
        self.forwards = _per_layer(_FeedForward)
        self.readout = _mean_readout(n_groups)

    def forward(self, batch: _EncodedBatch) -> Tensor:
        """Return logits, shape (B, n_groups)."""
        x = self.project(torch.cat([batch.features, batch.positions], dim=2))
        beyond = functional.relu(batch.hops[:, None].float() - self.reach[:, None, None])
        damping = torch.exp(beyond * functional.logsigmoid(self.fading)[:, None, None])
        for i, attention in enumerate(self.attentions):
            near = self.norms[2 * i](x + functional.relu(self.convolutions[i](x, batch.weights)))
            far = self.norms[2 * i + 1](x + attention(x, damping=damping))
            x = self.forwards[i](near + far)
        return self.readout(x.mean(dim=1))


# Polynormer (Deng et al. 2024): products of features with what attention brings, first locally, then globally.
#
# Local layers are graph attention over neighbours, x ← (1 − β) LN(h ⊙ a) + β a with h a gate and a the attended
# features; what they give is summed and goes through linear attention over all regions (PyTorch Geometric's
# ``PolynormerAttention``). The paper classifies nodes; here the mean over regions is classified.


POLYNORMER_LOCAL, POLYNORMER_GLOBAL, POLYNORMER_START = 3, 2, 0.9


class _Polynormer(GraphNetwork):
    """Local, then global polynomial layers."""

    def __init__(self, n_regions: int, n_groups: int) -> None:
        super().__init__()
        self.project = nn.Linear(n_regions, WIDTH)
        self.gates, self.skips = (_per_layer(lambda: nn.Linear(WIDTH, WIDTH), POLYNORMER_LOCAL) for _ in range(2))
        self.local = _per_layer(lambda: _DenseGraphAttention(WIDTH, WIDTH, HEADS), POLYNORMER_LOCAL)
        self.norms = _per_layer(lambda: nn.LayerNorm(WIDTH), POLYNORMER_LOCAL)
        self.shares = nn.Parameter(torch.full((POLYNORMER_LOCAL, WIDTH), POLYNORMER_START).logit())
        self.between = nn.LayerNorm(WIDTH)
        self.everywhere = _per_layer(
            lambda: PolynormerAttention(WIDTH, heads=HEADS, head_channels=WIDTH // HEADS, dropout=DROPOUT),
            POLYNORMER_GLOBAL,
        )
        self.dropout = nn.Dropout(DROPOUT)
        self.readout = _mean_readout(n_groups)

    def forward(self, batch: _EncodedBatch) -> Tensor:
        """Return logits, shape (B, n_groups)."""
        x, edges = self.project(batch.features), batch.weights > 0
        total = torch.zeros_like(x)
        for i, attention in enumerate(self.local):
            gate = functional.relu(self.gates[i](x))
            attended = self.dropout(functional.relu(attention(x, edges) + self.skips[i](x)))
            share = self.shares[i].sigmoid()
            x = (1 - share) * self.norms[i](gate * attended) + share * attended
            total = total + x
        x = self.between(total)
        for attention in self.everywhere:
            x = attention(x)
        return self.readout(x.mean(dim=1))


# Brain Network Transformer (Kan et al. 2022): plain attention over connection profiles, read out by clusters.
#
# Two transformer layers of four heads over the rows of the correlation matrix, without positions. Each region is then
# assigned softly to clusters by its inner products with orthonormal centres (OCRead), and the clusters' sums, reduced
# to eight numbers each, go through a small perceptron. Centres are orthonormal at the start and learnt from there.


BNT_LAYERS, BNT_HEADS, BNT_FEED_FORWARD, BNT_CLUSTERS, BNT_KEPT = 2, 4, 1024, 10, 8


class _BrainNetworkTransformer(GraphNetwork):
    """Attention over connection profiles and a readout of clusters."""

    def __init__(self, n_regions: int, n_groups: int) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(n_regions, BNT_HEADS, BNT_FEED_FORWARD, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, BNT_LAYERS, enable_nested_tensor=False)
        centres = torch.empty(min(BNT_CLUSTERS, n_regions), n_regions)
        nn.init.orthogonal_(nn.init.xavier_uniform_(centres))
        self.centres = nn.Parameter(centres)
        self.reduce = nn.Linear(n_regions, BNT_KEPT)
        self.classify = nn.Sequential(
            nn.Linear(BNT_KEPT * len(centres), 256), nn.LeakyReLU(), nn.Linear(256, 32), nn.LeakyReLU(),
            nn.Linear(32, n_groups),
        )  # fmt: skip

    def forward(self, batch: _EncodedBatch) -> Tensor:
        """Return logits, shape (B, n_groups)."""
        x = self.encoder(batch.features)
        belongs = (x @ functional.normalize(self.centres, dim=1).T).softmax(dim=2)
        clusters = belongs.transpose(1, 2) @ x
        return self.classify(functional.leaky_relu(self.reduce(clusters)).flatten(1))


# BrainGB's graph convolution (Cui et al. 2023): connection profiles as features, regions kept apart in the readout.
#
# Of the benchmark's designs this is the usual one: messages weighted by edges, h ← ReLU(BN(Â h W)), two layers; every
# region is reduced to eight numbers, and those of all regions are concatenated for a perceptron (concat pooling).


BRAINGB_WIDTH, BRAINGB_KEPT, BRAINGB_HIDDEN, BRAINGB_DROPOUT = 128, 8, 256, 0.5


class _ConnectionProfileNetwork(GraphNetwork):
    """Two graph convolutions and a perceptron over all regions."""

    def __init__(self, n_regions: int, n_groups: int) -> None:
        super().__init__()
        pairs = list(pairwise((n_regions, BRAINGB_WIDTH, BRAINGB_KEPT)))
        self.convolutions = nn.ModuleList(nn.Linear(before, after) for before, after in pairs)
        self.norms = nn.ModuleList(_RegionNorm(after) for _, after in pairs)
        self.classify = nn.Sequential(
            nn.Linear(n_regions * BRAINGB_KEPT, BRAINGB_HIDDEN),
            nn.ReLU(),
            nn.Dropout(BRAINGB_DROPOUT),
            nn.Linear(BRAINGB_HIDDEN, n_groups),
        )

    def forward(self, batch: _EncodedBatch) -> Tensor:
        """Return logits, shape (B, n_groups)."""
        x, adjacency = batch.features, normalised(batch.weights)
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            x = functional.relu(norm(adjacency @ convolution(x)))
        return self.classify(x.flatten(1))


# BrainGNN (Li et al. 2021): convolutions that differ from region to region, and pooling that keeps half of them.
#
# A region's convolution matrix is a mixture of K learnt ones, by its soft membership in K communities (Ra-GConv).
# Regions are scored by their projection on a learnt unit vector and the better half is kept, features weighed by the
# score (R-pool); two such blocks, whose means and maxima are classified. Added to the cross-entropy: the top-k loss,
# which pushes the scores of kept and dropped regions apart, and group-level consistency, which asks the subjects of a
# group for similar scores of their regions in the first block. The unit-length loss is met by construction. The
# perceptron has layer instead of batch normalisation, which works for a batch of one subject, too.


BRAINGNN_COMMUNITIES, BRAINGNN_WIDTH, BRAINGNN_HIDDEN, BRAINGNN_KEPT, BRAINGNN_DROPOUT = 8, 32, 512, 0.5, 0.5
BRAINGNN_TOP_K, BRAINGNN_CONSISTENCY = 0.1, 0.1  # weights of the losses
_SMALL = 1e-6


class _BrainGNN(GraphNetwork):
    """Two blocks of region-aware convolution and pooling."""

    def __init__(self, n_regions: int, n_groups: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([_BrainGNNBlock(n_regions, n_regions), _BrainGNNBlock(n_regions, BRAINGNN_WIDTH)])
        widths, dense = (4 * BRAINGNN_WIDTH, BRAINGNN_WIDTH, BRAINGNN_HIDDEN), list[nn.Module]()
        for before, after in pairwise(widths):
            dense += [nn.Linear(before, after), nn.ReLU(), nn.LayerNorm(after), nn.Dropout(BRAINGNN_DROPOUT)]
        self.classify = nn.Sequential(*dense, nn.Linear(BRAINGNN_HIDDEN, n_groups))

    def forward(self, batch: _EncodedBatch) -> Tensor:
        """Return logits, shape (B, n_groups)."""
        return self._run(batch)[0]

    def losses(self, batch: _EncodedBatch, groups: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits and the weighted losses of pooling.

        Parameters
        ----------
        batch : EncodedBatch
        groups : Tensor of int, shape (B,)
        """
        logits, scores = self._run(batch)
        apart = torch.stack([_top_k_loss(score) for score in scores]).sum()
        # Mean squared distance of the scores of two subjects of one group, per region.
        distances = (scores[0][:, None] - scores[0][None]).square().mean(dim=2)
        same = (groups[:, None] == groups[None]) & ~torch.eye(len(groups), dtype=torch.bool, device=distances.device)
        inconsistency = (distances * same).sum() / same.sum().clamp(min=1)
        return logits, BRAINGNN_TOP_K * apart + BRAINGNN_CONSISTENCY * inconsistency

    def _run(self, batch: _EncodedBatch) -> tuple[Tensor, list[Tensor]]:
        n = batch.features.shape[1]
        regions = torch.arange(n, device=batch.features.device).expand(len(batch), n)
        x, weights, read, scores = batch.features, batch.weights, [], []
        for block in self.blocks:
            x, weights, regions, score = block(x, weights, regions)
            read += [x.mean(dim=1), x.amax(dim=1)]
            scores.append(score)
        return self.classify(torch.cat(read, dim=1)), scores


class _BrainGNNBlock(nn.Module):
    """A convolution with a matrix per region, and the pooling behind it."""

    def __init__(self, n_regions: int, width_in: int) -> None:
        super().__init__()
        self.membership = nn.Embedding(n_regions, BRAINGNN_COMMUNITIES)
        self.basis = nn.Parameter(torch.empty(BRAINGNN_COMMUNITIES, width_in, BRAINGNN_WIDTH))
        self.bias, self.direction = nn.Parameter(torch.zeros(BRAINGNN_WIDTH)), nn.Parameter(torch.randn(BRAINGNN_WIDTH))
        nn.init.xavier_uniform_(self.basis)

    def forward(self, x: Tensor, weights: Tensor, regions: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        # The mixture of matrices is applied as a mixture of products: no matrix per region and subject is made.
        member = functional.relu(self.membership(regions))
        products = torch.einsum("bni,kio->bnko", x, self.basis)
        x = (products * member[..., None]).sum(dim=2)
        share = weights / weights.sum(dim=-1, keepdim=True).clamp(min=_SMALL)
        x = functional.relu(x + share @ x + self.bias)
        score = x @ functional.normalize(self.direction, dim=0)
        score = (score - score.mean(dim=1, keepdim=True)) / score.std(dim=1, keepdim=True).clamp(min=_SMALL)
        score = torch.sigmoid(score)
        kept = score.topk(max(1, int(BRAINGNN_KEPT * score.shape[1])), dim=1).indices
        x = _at(x, kept) * score.gather(1, kept)[:, :, None]
        joined = weights + weights @ weights  # a dropped region joins its neighbours
        return x, _at(_at(joined, kept).transpose(1, 2), kept), regions.gather(1, kept), score


def _at(x: Tensor, rows: Tensor) -> Tensor:
    """Rows of each subject's matrix, shape (B, k, width)."""
    return x.gather(1, rows[:, :, None].expand(-1, -1, x.shape[2]))


def _top_k_loss(score: Tensor) -> Tensor:
    """Cross-entropy of scores with being among the better half."""
    ordered = score.sort(dim=1, descending=True).values.clamp(_SMALL, 1 - _SMALL)
    kept = max(1, int(BRAINGNN_KEPT * score.shape[1]))
    return -(ordered[:, :kept].log().sum(dim=1) + (1 - ordered[:, kept:]).log().sum(dim=1)).mean() / score.shape[1]


# The register: a peer by the key of its row in the benchmark.


_NETWORKS: dict[str, type[GraphNetwork]] = {
    "graph-transformer": _GraphTransformer,
    "sat": _StructureAwareTransformer,
    "sat-pe": _StructureAwareTransformer,
    "san": _SpectralAttentionNetwork,
    "graphormer": _Graphormer,
    "gradformer": _Gradformer,
    "polynormer": _Polynormer,
    "brain-network-transformer": _BrainNetworkTransformer,
    "gat": _GraphAttentionNetwork,
    "braingnn": _BrainGNN,
    "braingb-gcn": _ConnectionProfileNetwork,
}


def _build_network(n_regions: int, n_groups: int, *, key: str, **sizes: int) -> GraphNetwork:
    """Make a network that is not trained yet.

    Parameters
    ----------
    n_regions, n_groups : int
    key : str
        Of its row in the benchmark.
    **sizes : int
        ``positions``: how many a region has, for networks that project them.
    """
    return _NETWORKS[key](n_regions, n_groups, **sizes)


# What BioBGT is given in the place of NE in its ablations (sections 4.3 and 4.4 of the paper).
#
# −NE gives every region the same importance; +PE, +DC, … put another measure in the place of NE.


ABLATION_POSITIONS = 10


def with_importance(graphs: GraphBatch, importance: Importance) -> GraphBatch:
    """Put another measure of importance in the place of NE.

    Laplacian eigenvectors become further features of a region, which the model projects linearly with the others: the
    sum of two linear maps, as positional encodings are added.
    """
    if importance == "ne":
        return graphs
    eigenvectors, _, measure = importance.rpartition("+") if importance != "pe" else ("pe", "+", "none")
    if eigenvectors:
        places = _laplacian_eigenvectors(graphs.weights, ABLATION_POSITIONS)[1]
        graphs = replace(graphs, features=torch.cat([graphs.features, places], dim=2))
    if measure == "none":
        return replace(graphs, entanglement=torch.zeros_like(graphs.entanglement))
    weights = graphs.weights.double().numpy()
    found = np.stack([HUB_MEASURES[measure].compute(one) for one in (weights + weights.transpose(0, 2, 1)) / 2])
    return replace(graphs, entanglement=torch.from_numpy(found.astype(np.float32)))
