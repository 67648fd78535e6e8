"""BioBGT: a transformer on brain graphs whose input knows the hubs and whose attention knows the modules.

Φ encodes node importance (Eq. 7), ψ extracts module-aware embeddings (Eq. 8), FM-Attn attends over them (Eq. 9), and
x̃ = Φ(x) + FM-Attn (Eq. 4) goes through the feed-forward network. Nothing is kept on the module between calls:
:meth:`BioBGT.explain` returns what it saw.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from biobgt.model.presets import MOST_NOISE_DIRECTIONS, Preset


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

    @classmethod
    def joined(cls, batches: "Sequence[GraphBatch]") -> Self:
        """Put batches together, padding graphs to the largest number of regions."""
        n = max(batch.features.shape[1] for batch in batches)

        def padded(name: str, batch: "GraphBatch") -> Tensor:
            values: Tensor = getattr(batch, name)
            missing = n - values.shape[1]
            rows = (0, missing)  # of weights the columns are regions, too
            sides = {"features": (0, 0, *rows), "values": (0, 0, *rows), "weights": (*rows, *rows)}.get(name, rows)
            return functional.pad(values, sides)

        joined = {field.name: [padded(field.name, batch) for batch in batches] for field in fields(cls)}
        return cls(**{name: torch.cat(parts) for name, parts in joined.items()})


# Dropout whose chance is drawn one byte per number: in steps of 1/256, six times as fast as torch's own on a CPU.


_STEPS = 256


def _drop_some(x: Tensor, dropped: int) -> Tensor:
    """Set ``dropped`` / 256 of the numbers to zero, by lot; what is left is not scaled."""
    if not dropped:
        return x
    words = torch.empty(-(-x.numel() // 8), dtype=torch.int64, device=x.device).random_(-(2**63), None)
    chance = words.view(torch.uint8)[: x.numel()].view(x.shape)
    return x * (chance >= dropped)


class Dropout(nn.Module):
    """Drop a share while training, and scale what is left to keep the mean."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.dropped = round(share * _STEPS)

    def forward(self, x: Tensor) -> Tensor:
        """Drop, shape as it was."""
        if not self.training or not self.dropped:
            return x
        return _drop_some(x, self.dropped) * (_STEPS / (_STEPS - self.dropped))


# Φ, node importance encoding (Eq. 7): x' = x + x_NE, with a learnable vector for the region's node entanglement.
#
# A vector per value would not generalise, so NE is told apart by quantile of the training subjects' values.


class NodeImportanceEncoding(nn.Module):
    """Add to each region's features the embedding of its NE."""

    edges: Tensor

    def __init__(self, bins: int, width: int) -> None:
        super().__init__()
        self.register_buffer("edges", torch.linspace(0, 1, bins + 1)[1:-1].clone())
        self.embedding = nn.Embedding(bins, width)
        nn.init.normal_(self.embedding.weight, std=0.02)

    def learn_quantiles(self, entanglement: Tensor) -> None:
        """Tell NE apart by the quantiles of training subjects' values, of any shape."""
        shares = torch.linspace(0, 1, len(self.edges) + 2, dtype=torch.float64)[1:-1]
        self.edges.copy_(torch.quantile(entanglement.flatten().double(), shares))

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


# ψ, the functional module extractor (section 3.2.1, appendix C): a graph encoder taught by contrast between modules.
#
# Two views of a graph lose edges, those between modules first; regions of one module are pulled together across the
# views and regions of different modules pushed apart (Eq. 8).


def _same_module(left: Tensor, right: Tensor) -> Tensor:
    """Tell pairs of one module, shape (B, n_left, n_right); label 0 is no module."""
    return (left[:, :, None] == right[:, None, :]) & (left[:, :, None] > 0)


def drop_edges(weights: Tensor, modules: Tensor, share: float, noise: Tensor) -> Tensor:
    """Drop a share of a graph's edges, those between modules first, then the weakest, up to chance.

    Parameters
    ----------
    weights : Tensor, shape (B, n, n)
        Symmetric.
    modules : Tensor of int, shape (B, n)
    share : float
    noise : Tensor, shape (B, n, n)
        Uniform in [0, 1). Times max(w) it is added to the scores: it makes two views differ, and is too small to put
        an edge within a module below one between modules.

    Returns
    -------
    Tensor, shape (B, n, n)
        Symmetric, non-zero weights as they were.
    """
    n = weights.shape[-1]
    rows, columns = torch.triu_indices(n, n, 1, device=weights.device)
    within = _same_module(modules, modules)[:, rows, columns]
    edges = weights[:, rows, columns]
    view = torch.zeros_like(weights)
    view[:, rows, columns] = edges * kept_edges(edges, within, share, noise[:, rows, columns])
    return view + view.transpose(1, 2)


def kept_edges(edges: Tensor, within: Tensor, share: float, noise: Tensor) -> Tensor:
    """Tell the edges that :func:`drop_edges` keeps, where they are given one by one, shape (B, n_edges).

    The importance of an edge (appendix C) is w + max(w) within a module and w − max(w) between modules.

    Parameters
    ----------
    edges : Tensor, shape (B, n_edges)
        Weights; 0 is no edge.
    within : Tensor of bool, shape (B, n_edges)
        Whether an edge joins regions of one module.
    share : float
    noise : Tensor, shape (B, n_edges)
        Uniform in [0, 1).
    """
    largest = edges.amax(dim=1, keepdim=True)
    scores = edges + torch.where(within, largest, -largest) + noise * largest
    scores = scores.masked_fill(edges == 0, float("inf"))
    n_dropped = ((edges != 0).sum(dim=1) * share).long()
    # The value that so many others precede, found without sorting: a quarter less time.
    ranks = (n_dropped + 1).clamp(max=scores.shape[1]).tolist()
    least = torch.stack([row.kthvalue(rank).values for row, rank in zip(scores, ranks, strict=True)])
    return scores >= least[:, None]


class ModuleExtractor(nn.Module):
    """Graph convolutions h = Â σ(Â x W₁) W₂ …, with Â the graph with self-loops, normalised symmetrically."""

    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))

    def forward(self, x: Tensor, weights: Tensor) -> Tensor:
        """Embed.

        Parameters
        ----------
        x : Tensor, shape (B, n, width)
        weights : Tensor, shape (B, n, n)

        Returns
        -------
        Tensor, shape (B, n, width)
        """
        return self.embed(x, normalised(weights))

    def embed(self, x: Tensor, adjacency: Tensor) -> Tensor:
        """Embed on a graph that is normalised already, and may be sparse, shape (..., n, width)."""
        for i, convolution in enumerate(self.convolutions):
            x = adjacency @ convolution(x if i == 0 else functional.relu(x))
        return x


def normalised(weights: Tensor) -> Tensor:
    """D^-½ (W + I) D^-½ of a batch of graphs, shape (B, n, n)."""
    looped = weights + torch.eye(weights.shape[-1], dtype=weights.dtype, device=weights.device)
    scale = looped.sum(dim=-1).rsqrt()
    return looped * scale[:, :, None] * scale[:, None, :]


def info_nce(first: Tensor, second: Tensor, modules: Tensor, anchors: Tensor, *, temperature: float) -> Tensor:
    """The contrastive loss of Eq. 8, with cosine similarity.

    Positives of an anchor are the regions of its module in both views but itself in the first; negatives are the
    regions of other modules in both views. The loss is averaged over an anchor's positives, then over anchors. An
    anchor without a module, or in a graph of one module, has no contrast and is left out.

    Parameters
    ----------
    first, second : Tensor, shape (B, n, width)
        Embeddings of the two views.
    modules : Tensor of int, shape (B, n)
    anchors : Tensor of int, shape (B, a)
        Regions to take as anchors.
    temperature : float

    Returns
    -------
    Tensor, shape ()
        Zero where no anchor has a contrast.
    """
    first, second = functional.normalize(first, dim=-1), functional.normalize(second, dim=-1)
    anchor = first.gather(1, anchors[:, :, None].expand(-1, -1, first.shape[-1]))
    own = modules.gather(1, anchors)
    similarity = anchor @ torch.cat([first, second], dim=1).transpose(1, 2) / temperature
    both = modules.repeat(1, 2)
    positive = _same_module(own, both)
    positive.scatter_(2, anchors[:, :, None], False)
    negative = ~_same_module(own, both) & (own[:, :, None] > 0) & (both[:, None, :] > 0)
    has_contrast = positive.any(dim=2) & negative.any(dim=2)
    # A finite stand-in: where there is no negative at all, -inf would turn the gradient into NaN before it is left out.
    against = similarity.masked_fill(~negative, -1e4).logsumexp(dim=2)
    towards = (similarity * positive).sum(dim=2) / positive.sum(dim=2).clamp(min=1)
    loss = (against - towards) * has_contrast
    return loss.sum() / has_contrast.sum().clamp(min=1)


# FM-Attn (Eq. 9): attention as a kernel smoother over module-aware embeddings h.
#
# Scores are ⟨W_Q h_i, W_K h_j⟩ / √d. With one tied W they are a symmetric kernel, as in the source of Eq. 9 (Mialon et
# al. 2021); with two, the module structure of h does not reach the attention (docs/model.md).


class FunctionalModuleAttention(nn.Module):
    """Multi-head attention whose queries and keys come from ψ and whose values come from a linear function.

    Parameters
    ----------
    width : int
        Of the embeddings h, shared by the heads.
    heads : int
    stream : int
        Width of what is averaged and returned.
    tied : bool
        Whether keys are made by the matrix of the queries.
    dropout : float
        Share of the weights that are set to zero in training.
    """

    def __init__(self, width: int, heads: int, *, stream: int, tied: bool, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width, bias=False)
        self.separate_key = None if tied else nn.Linear(width, width, bias=False)
        self.value = nn.Linear(stream, width)
        self.output = nn.Linear(width, stream)
        self.dropped = round(dropout * _STEPS)

    def forward(self, h: Tensor, values: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Attend.

        Parameters
        ----------
        h : Tensor, shape (B, n, width)
            Module-aware embeddings, from ψ.
        values : Tensor, shape (B, n, stream)
            What the linear value function is applied to.
        mask : Tensor of bool, shape (B, n), optional
            False for padding, which nobody attends to.

        Returns
        -------
        attended : Tensor, shape (B, n, stream)
        weights : Tensor, shape (B, heads, n, n)
            Rows sum to 1.
        """
        scale = (h.shape[-1] / self.heads) ** -0.5  # 1/√d on the queries: there are n times fewer of them than scores
        parts = (self.query(h) * scale, self.key(h), self.value(values))
        query, key, value = (one.view(*one.shape[:-1], self.heads, -1).transpose(1, 2) for one in parts)
        dropped = self.dropped if self.training else 0
        mixed, weights = _KernelSmoother.apply(query, key, value, mask, dropped)  # type: ignore[no-untyped-call]
        return self.output(mixed.transpose(1, 2).flatten(2)), weights

    @property
    def key(self) -> nn.Linear:
        """W_K, which is W_Q where they are tied."""
        return self.query if self.separate_key is None else self.separate_key


class _KernelSmoother(torch.autograd.Function):
    """Softmax of scores, dropout and the weighted mean of values, with a gradient of its own.

    The gradient of a softmax needs the sum over keys of (gradient × weight). That sum is gradient · output, n times
    smaller (Dao et al. 2022), and all that is left happens in place: on a CPU a training step of the published model
    takes 0.8 of the time that torch's own chain of operations takes. The weights it returns are for looking at: no
    gradient goes through them.
    """

    @staticmethod
    def forward(
        ctx: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropped: int
    ) -> tuple[Tensor, Tensor]:
        """Return the mixed values (B, heads, n, d) and the weights (B, heads, n, n), whose rows sum to 1."""
        scores = query @ key.transpose(-1, -2)
        if mask is not None:
            scores.masked_fill_(~mask[:, None, None, :], float("-inf"))
        weights = scores.softmax(dim=-1)
        kept = _drop_some(weights, dropped)
        scale = _STEPS / (_STEPS - dropped)
        value = value * scale  # what is left keeps the mean
        mixed = kept @ value
        ctx.save_for_backward(query, key, value, weights, kept, mixed)
        ctx.scale = scale
        ctx.mark_non_differentiable(weights)
        return mixed, weights

    @staticmethod
    def backward(ctx: Any, gradient: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of queries, keys and values."""
        query, key, value, weights, kept, mixed = ctx.saved_tensors
        by_value = kept.transpose(-1, -2) @ gradient * ctx.scale
        by_score = (gradient @ value.transpose(-1, -2)).mul_(kept)
        by_score.addcmul_(weights, (gradient * mixed).sum(dim=-1, keepdim=True), value=-1)
        return by_score @ key, by_score.transpose(-1, -2) @ query, by_value, None, None


# Where white noise moves a subject: directions of log-Euclidean connectivity that a model can be told not to look at.
#
# Noise of variance v on z-scored series divides all correlations by 1 + v on average, which is the same as mixing them
# with more of the identity. A cohort's mean therefore moves along a curve, from itself to nothing, that can be
# computed from correlations alone. A readout that looks along that curve takes every noisy scan for the group with the
# weaker connections; one that is blind to it does not. Sampling error, which noise adds too, has no direction.


# What is left of a correlation without noise and with noise of SD 1, 2 and 4.
FADED = (1.0, 1 / 2, 1 / 5, 1 / 17)
assert len(FADED) == MOST_NOISE_DIRECTIONS
_AT_ONCE = 64


def noise_directions(correlations: Tensor, preset: Preset) -> Tensor:
    """Orthonormal directions spanned by the mean logarithm at the first few strengths of noise.

    Parameters
    ----------
    correlations : Tensor, shape (n_subjects, n_regions, n_regions)
        Of training subjects; the diagonal is taken as 1.
    preset : Preset

    Returns
    -------
    Tensor, shape (n_regions ** 2, preset.noise_directions)
    """
    n = correlations.shape[1]
    shares = [(1 - preset.shrinkage) * faded for faded in FADED[: preset.noise_directions]]
    sums = torch.zeros(len(shares), n, n, dtype=torch.float64)
    for part in torch.split(correlations, _AT_ONCE):
        whole = part.clone()
        whole.diagonal(dim1=1, dim2=2).fill_(1)
        values, vectors = torch.linalg.eigh(whole)
        for total, share in zip(sums, shares, strict=True):
            logarithms = torch.log(share * values.clamp(min=0) + 1 - share)
            total += ((vectors * logarithms[:, None, :]) @ vectors.transpose(1, 2)).sum(dim=0).cpu()
    basis, _ = torch.linalg.qr(sums.flatten(1).T)
    return basis.to(correlations)


# The model, and what it returns.


@dataclass(frozen=True, eq=False)
class AttentionMap:
    """Attention of one layer and head; ``None`` stands for the mean over all of them.

    Attributes
    ----------
    weights : Tensor, shape (B, n, n)
        Row i says where region i looks; rows sum to 1.
    """

    layer: int | None
    head: int | None
    weights: Tensor


@dataclass(frozen=True, eq=False)
class Explanation:
    """What the model saw.

    Attributes
    ----------
    logits : Tensor, shape (B, n_groups)
    attention : tuple of AttentionMap
        One for each layer and head.
    embeddings : Tensor, shape (B, n, width)
        The first layer's module-aware embeddings h, from ψ.
    """

    logits: Tensor
    attention: tuple[AttentionMap, ...]
    embeddings: Tensor

    def mean_attention(self, layer: int | None = None) -> AttentionMap:
        """Mean over the heads of one layer, or over all layers and heads."""
        maps = [one.weights for one in self.attention if layer is None or one.layer == layer]
        return AttentionMap(layer, None, torch.stack(maps).mean(dim=0))


class BioBGT(nn.Module):
    """The model of one atlas: ``n_regions`` regions with as many features each, or ``n_features``; a logit a group.

    Parameters
    ----------
    preset : Preset
    n_regions, n_groups : int
    n_features : int, optional
        Features of a region; as many as there are regions where it is not given.
    """

    readout: "_Readout"
    value_mean: Tensor
    value_spread: Tensor
    noise_basis: Tensor

    def __init__(self, preset: Preset, *, n_regions: int, n_groups: int, n_features: int | None = None) -> None:
        super().__init__()
        self.preset = preset
        width = preset.width
        self.project = nn.Linear(n_features or n_regions, width)
        self.importance = NodeImportanceEncoding(preset.entanglement_bins, width)
        self.extractor = ModuleExtractor(width, preset.encoder_layers)
        # Values are centred and scaled by the training subjects' mean and spread; see standardise().
        self.register_buffer("value_mean", torch.zeros(n_regions, n_regions))
        self.register_buffer("value_spread", torch.ones(()))
        if preset.noise_directions:  # orthonormal, of flattened values
            self.register_buffer("noise_basis", torch.zeros(n_regions**2, preset.noise_directions))
        stream = n_regions if preset.values == "log" else width
        if preset.values == "log":
            self.value_importance = NodeImportanceEncoding(preset.entanglement_bins, stream)
        if preset.region_axes:
            self.region_weight = nn.Parameter(torch.ones(n_regions))
        self.layers = nn.ModuleList(_Layer(preset, stream) for _ in range(preset.layers))
        self.readout = _Readout(preset, stream, n_regions, n_groups)

    def standardise(self, training: GraphBatch) -> None:
        """Take the quantiles of NE and the scale of values from training subjects."""
        self.importance.learn_quantiles(training.entanglement)
        if self.preset.values == "log":
            self.value_importance.learn_quantiles(training.entanglement)
        mean = training.values.mean(dim=0)
        self.value_mean.copy_(mean)
        self.value_spread.copy_((training.values - mean).square().mean().sqrt().clamp(min=1e-6))
        if self.preset.noise_directions:
            self.noise_basis.copy_(noise_directions(training.features, self.preset))

    def standardised_values(self, batch: GraphBatch) -> Tensor:
        """Values less the training subjects' mean, over their spread, shape (B, n, n_features)."""
        return (batch.values - self.value_mean) / self.value_spread

    def forward(self, batch: GraphBatch) -> Tensor:
        """Return logits, shape (B, n_groups)."""
        stream, _, _ = self._transform(self._encode(batch), batch)
        return self.readout(stream, batch.mask)

    def explain(self, batch: GraphBatch) -> Explanation:
        """Return logits with the attention of every layer and head, and the embeddings."""
        stream, weights, embeddings = self._transform(self._encode(batch), batch)
        maps = [
            AttentionMap(layer, head, one[:, head])
            for layer, one in enumerate(weights)
            for head in range(self.preset.heads)
        ]
        return Explanation(self.readout(stream, batch.mask), tuple(maps), embeddings)

    def flat_stream(self, batch: GraphBatch) -> Tensor:
        """What the readout that keeps regions apart is given, shape (B, n_regions * stream)."""
        stream, _, _ = self._transform(self._encode(batch), batch)
        return stream.flatten(1)

    def contrastive_loss(self, batch: GraphBatch, generator: torch.Generator) -> Tensor:
        """The loss of ψ alone (Eq. 8), for training without labels."""
        return self._contrast(self._encode(batch), batch, generator)

    def losses(self, batch: GraphBatch, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return the logits and the contrastive loss of one training step, which share the encoded features."""
        x = self._encode(batch)
        stream, _, _ = self._transform(x, batch)
        logits = self.readout(stream, batch.mask)
        if not self.preset.contrast_weight:
            return logits, logits.new_zeros(())
        n_graphs = self.preset.contrast_graphs or len(batch)
        return logits, self._contrast(x[:n_graphs], batch[:n_graphs], generator)

    def _contrast(self, x: Tensor, batch: GraphBatch, generator: torch.Generator) -> Tensor:
        preset = self.preset

        def view(share: float) -> Tensor:
            # Chance is drawn on the CPU, so that a seed means the same on every device.
            noise = torch.rand(batch.weights.shape, generator=generator).to(x.device)
            return self.extractor(x, drop_edges(batch.weights, batch.modules, share, noise))

        first, second = map(view, preset.drop_edges)
        n = x.shape[1]
        order = torch.rand(len(x), n, generator=generator).argsort(dim=1)
        anchors = order[:, : preset.contrast_anchors or n].to(x.device)
        return info_nce(first, second, batch.modules, anchors, temperature=preset.contrast_temperature)

    def _encode(self, batch: GraphBatch) -> Tensor:
        """Encoded features x' of Eq. 7."""
        return self.importance(self.project(batch.features), batch.entanglement)

    def _transform(self, x: Tensor, batch: GraphBatch) -> tuple[Tensor, list[Tensor], Tensor]:
        attention, embeddings = [], []
        padding = None if bool(batch.mask.all()) else batch.mask
        stream = x
        if self.preset.values == "log":  # regions weighed, with the node importance encoding
            values = self.steady_values(batch)
            if self.preset.region_axes:
                values = values * torch.outer(self.region_weight, self.region_weight)
            stream = self.value_importance(values, batch.entanglement)
        for layer in self.layers:
            h = self.extractor(x, batch.weights)
            if self.preset.bounded:
                h = functional.normalize(h, dim=-1) * h.shape[-1] ** 0.5
            embeddings.append(h)
            stream, weights = layer(stream, h, padding)
            x = stream if self.preset.values == "embeddings" else x
            attention.append(weights)
        return stream * batch.mask[:, :, None].to(stream.dtype), attention, embeddings[0]

    def steady_values(self, batch: GraphBatch) -> Tensor:
        """Standardised values without what white noise changes in everybody alike, shape (B, n, n_features)."""
        values = self.standardised_values(batch)
        if not self.preset.noise_directions:
            return values
        flat = values.flatten(1)
        return (flat - (flat @ self.noise_basis) @ self.noise_basis.T).view_as(values)


class _Layer(nn.Module):
    """Eq. 4 and the feed-forward network, each followed by a layer normalisation, which the paper leaves open."""

    def __init__(self, preset: Preset, stream: int) -> None:
        super().__init__()
        self.values = preset.values
        self.attention = FunctionalModuleAttention(
            preset.width, preset.heads, stream=stream, tied=preset.tied, dropout=preset.attention_dropout
        )
        self.first_norm = nn.LayerNorm(stream)
        if preset.values == "embeddings":
            self.second_norm = nn.LayerNorm(stream)
        last = nn.Linear(preset.ffn, stream)
        self.feed_forward = nn.Sequential(nn.Linear(stream, preset.ffn), nn.ReLU(), Dropout(preset.dropout), last)
        if preset.values == "log":
            # At the start a share of the attended values is added as they are; the feed-forward network adds nothing.
            nn.init.orthogonal_(self.attention.value.weight)
            with torch.no_grad():
                self.attention.output.weight.copy_(preset.start_attended * self.attention.value.weight.T)
            for constant in (self.attention.value.bias, self.attention.output.bias, last.bias, last.weight):
                nn.init.zeros_(constant)

    def forward(self, x: Tensor, h: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        if self.values == "log":  # the residual stream is never rescaled: its size carries signal
            attended, weights = self.attention(h, x, mask)
            x = x + attended
            return x + self.feed_forward(self.first_norm(x)), weights
        attended, weights = self.attention(h, h, mask)
        x = self.first_norm(x + attended)
        return self.second_norm(self.feed_forward(x)), weights


class _Readout(nn.Module):
    """A linear layer over the mean of regions, or over all regions' features, where it starts near zero."""

    def __init__(self, preset: Preset, stream: int, n_regions: int, n_groups: int) -> None:
        super().__init__()
        self.of_mean = preset.readout == "mean"
        self.dropout = Dropout(preset.dropout)
        self.classify = nn.Linear(stream if self.of_mean else n_regions * stream, n_groups)
        if not self.of_mean:
            nn.init.normal_(self.classify.weight, std=1e-3)
            nn.init.zeros_(self.classify.bias)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        x = x.sum(dim=1) / mask.sum(dim=1, keepdim=True) if self.of_mean else x.flatten(1)
        return self.classify(self.dropout(x))
