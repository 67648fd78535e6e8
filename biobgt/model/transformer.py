"""BioBGT: a transformer on brain graphs whose input knows the hubs and whose attention knows the modules.

Φ encodes node importance (Eq. 7), ψ extracts module-aware embeddings (Eq. 8), FM-Attn attends over them (Eq. 9), and
x̃ = Φ(x) + FM-Attn (Eq. 4) goes through the feed-forward network. Nothing is kept on the module between calls:
:meth:`BioBGT.explain` returns what it saw.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from biobgt.model.batch import GraphBatch
from biobgt.model.dropout import Dropout
from biobgt.model.encoding import NodeImportanceEncoding, quantile_edges
from biobgt.model.extractor import ModuleExtractor, drop_edges, info_nce
from biobgt.model.module_attention import FunctionalModuleAttention
from biobgt.model.noise_directions import noise_directions
from biobgt.model.presets import Preset


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

    readout: "_MeanReadout | _RegionsReadout"
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
        readout = _MeanReadout if preset.readout == "mean" else _RegionsReadout
        self.readout = readout(preset, stream, n_regions, n_groups)

    def standardise(self, training: GraphBatch) -> None:
        """Take the quantiles of NE and the scale of values from training subjects."""
        edges = quantile_edges(training.entanglement, self.preset.entanglement_bins)
        self.importance.edges.copy_(edges)
        if self.preset.values == "log":
            self.value_importance.edges.copy_(edges)
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
        return self._run(batch)[0]

    def explain(self, batch: GraphBatch) -> Explanation:
        """Return logits with the attention of every layer and head, and the embeddings."""
        logits, weights, embeddings = self._run(batch)
        maps = [
            AttentionMap(layer, head, one[:, head])
            for layer, one in enumerate(weights)
            for head in range(self.preset.heads)
        ]
        return Explanation(logits, tuple(maps), embeddings)

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
        # Chance is drawn on the CPU, so that a seed means the same on every device.
        first, second = (
            self.extractor(
                x,
                drop_edges(
                    batch.weights,
                    batch.modules,
                    share,
                    torch.rand(batch.weights.shape, generator=generator).to(x.device),
                ),
            )
            for share in preset.drop_edges
        )
        n = x.shape[1]
        order = torch.rand(len(x), n, generator=generator).argsort(dim=1)
        anchors = order[:, : preset.contrast_anchors or n].to(x.device)
        return info_nce(first, second, batch.modules, anchors, temperature=preset.contrast_temperature)

    def _run(self, batch: GraphBatch) -> tuple[Tensor, list[Tensor], Tensor]:
        stream, attention, embeddings = self._transform(self._encode(batch), batch)
        return self.readout(stream, batch.mask), attention, embeddings

    def _encode(self, batch: GraphBatch) -> Tensor:
        """Encoded features x' of Eq. 7."""
        return self.importance(self.project(batch.features), batch.entanglement)

    def _transform(self, x: Tensor, batch: GraphBatch) -> tuple[Tensor, list[Tensor], Tensor]:
        attention, embeddings = [], []
        padding = None if bool(batch.mask.all()) else batch.mask
        stream = self._values(batch) if self.preset.values == "log" else x
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

    def _values(self, batch: GraphBatch) -> Tensor:
        """The residual stream of log-Euclidean connectivity, regions weighed, with the node importance encoding."""
        values = self.steady_values(batch)
        if self.preset.region_axes:
            values = values * torch.outer(self.region_weight, self.region_weight)
        return self.value_importance(values, batch.entanglement)


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


class _MeanReadout(nn.Module):
    """Mean over regions, then a linear layer."""

    def __init__(self, preset: Preset, stream: int, n_regions: int, n_groups: int) -> None:
        super().__init__()
        self.dropout = Dropout(preset.dropout)
        self.classify = nn.Linear(stream, n_groups)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        return self.classify(self.dropout(x.sum(dim=1) / mask.sum(dim=1, keepdim=True)))


class _RegionsReadout(nn.Module):
    """A linear layer over all regions' features; it starts near zero."""

    def __init__(self, preset: Preset, stream: int, n_regions: int, n_groups: int) -> None:
        super().__init__()
        self.dropout = Dropout(preset.dropout)
        self.classify = nn.Linear(n_regions * stream, n_groups)
        nn.init.normal_(self.classify.weight, std=1e-3)
        nn.init.zeros_(self.classify.bias)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        return self.classify(self.dropout(x.flatten(1)))
