"""Networks that classify the nodes of one large sparse graph: GAT, SAT with positions, BioBGT, and linear models.

The paper's last table is about citation networks. They have thousands of nodes and few edges, so that convolutions take
the edges, and attention between all nodes never writes down its n × n weights (torch's fused attention); in the last
layer only the nodes that are asked about look around. Weights and formulas are those of the networks over brain graphs.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import GATConv

from biobgt.model.network import (
    Dropout,
    FunctionalModuleAttention,
    ModuleExtractor,
    NodeImportanceEncoding,
    info_nce,
    kept_edges,
)
from biobgt.model.peers import _DenseAttention
from biobgt.model.presets import preset_named

PAPER = preset_named("paper-abide")  # for what the paper says of brain graphs and not of citations
HEADS, GAT_WIDTH = PAPER.heads, 8  # GAT as published: eight heads of eight

AnyAttention = TypeVar("AnyAttention", _DenseAttention, FunctionalModuleAttention)


@dataclass(frozen=True, eq=False)
class NodeGraph:
    """One graph whose nodes are classified.

    Attributes
    ----------
    features : Tensor, sparse, shape (n, n_features)
    edges : Tensor of int, shape (2, n_edges)
        Each edge once; none from a node to itself.
    entanglement : Tensor, shape (n,)
        Node entanglement.
    modules : Tensor of int, shape (n,)
        Louvain modules; 0 is no module.
    positions : Tensor, shape (n, k)
        Return probabilities of random walks.
    """

    features: Tensor
    edges: Tensor
    entanglement: Tensor
    modules: Tensor
    positions: Tensor

    def __len__(self) -> int:
        return len(self.entanglement)

    @cached_property
    def adjacency(self) -> Tensor:
        """D^-½ (A + I) D^-½ of all edges, sparse, shape (n, n)."""
        return self.view(torch.ones(self.edges.shape[1], dtype=torch.bool))

    def view(self, kept: Tensor) -> Tensor:
        """The same of the edges that are kept, a boolean each."""
        edges = self.edges[:, kept]
        loops = torch.arange(len(self)).expand(2, -1)
        both = torch.cat([edges, edges.flip(0), loops], dim=1)
        scale = torch.bincount(both[0], minlength=len(self)).float().rsqrt()
        return sparse_matrix(both, scale[both[0]] * scale[both[1]], (len(self), len(self)))


def sparse_matrix(indices: Tensor, values: Tensor, shape: tuple[int, int]) -> Tensor:
    """A sparse matrix.

    Parameters
    ----------
    indices : Tensor of int, shape (2, n_values)
        Rows and columns, within the shape; each pair stands once.
    values : Tensor, shape (n_values,)
    shape : (int, int)
    """
    return torch.sparse_coo_tensor(indices, values, shape, check_invariants=False).coalesce()


class NodeNetwork(nn.Module, ABC):
    """A network from one graph to logits of the nodes that are asked about."""

    @abstractmethod
    def forward(self, graph: NodeGraph, asked: Tensor) -> Tensor:
        """Return logits, shape (n_asked, n_classes)."""

    def added_loss(self, graph: NodeGraph) -> Tensor:
        """What is added to the cross-entropy in training, shape ()."""
        return torch.zeros(())


class NodeLinear(NodeNetwork):
    """A linear model of a node's features, or of features averaged over edges (SGC; Wu et al. 2019).

    Parameters
    ----------
    graph : NodeGraph
    n_classes : int
    hops : int
        How often features are averaged, node and neighbours, before the model; 0 for the node's own.
    """

    def __init__(self, graph: NodeGraph, n_classes: int, *, hops: int) -> None:
        super().__init__()
        averaged = graph.features.to_dense()
        for _ in range(hops):
            averaged = graph.adjacency @ averaged
        self.averaged = averaged
        self.classify = nn.Linear(averaged.shape[1], n_classes)

    def forward(self, graph: NodeGraph, asked: Tensor) -> Tensor:
        """Return logits, shape (n_asked, n_classes)."""
        return torch.as_tensor(self.classify(self.averaged[asked]))


class _OnFeatures(NodeNetwork):
    """What the other three begin with: features, some dropped in training, times a matrix."""

    def __init__(self, graph: NodeGraph, *, width: int, dropout: float) -> None:
        super().__init__()
        self.project = nn.Linear(graph.features.shape[1], width)
        self.dropout = Dropout(dropout)
        nn.init.xavier_uniform_(self.project.weight)

    def projected(self, graph: NodeGraph) -> Tensor:
        """Projected features, shape (n, width)."""
        given = graph.features
        if self.training:
            given = torch.sparse_coo_tensor(
                given.indices(), self.dropout(given.values()), given.shape, is_coalesced=True, check_invariants=False
            )
        return given @ self.project.weight.T + self.project.bias


class NodeGAT(_OnFeatures):
    """Two layers of graph attention, as published for these networks (Veličković et al. 2018).

    Parameters
    ----------
    graph : NodeGraph
        Its number of features is that of the network.
    n_classes : int
    dropout : float
        Share of the features, and of the attention weights, dropped in training.
    """

    def __init__(self, graph: NodeGraph, n_classes: int, *, dropout: float) -> None:
        super().__init__(graph, width=GAT_WIDTH * HEADS, dropout=dropout)
        self.first = GATConv(GAT_WIDTH * HEADS, GAT_WIDTH, heads=HEADS, dropout=dropout)
        self.first.lin = nn.Identity()  # the features are projected already, as a sparse matrix
        self.second = GATConv(GAT_WIDTH * HEADS, n_classes, heads=1, concat=False, dropout=dropout)

    def forward(self, graph: NodeGraph, asked: Tensor) -> Tensor:
        """Return logits, shape (n_asked, n_classes)."""
        edges = torch.cat([graph.edges, graph.edges.flip(0)], dim=1)
        x = functional.elu(self.first(self.projected(graph), edges))
        return torch.as_tensor(self.second(self.dropout(x), edges)[asked])


class _Transformer(_OnFeatures):
    """What SAT and BioBGT share: attention between all nodes whose queries and keys come from a graph encoder.

    With a gain above 0 the encoder's embeddings have one length, and the matrices of queries and keys start as one
    orthogonal matrix times the gain: attention starts as a kernel that is narrow enough to tell thousands of nodes
    apart. From matrices drawn as usual it starts uniform, and stays near it.
    """

    def __init__(
        self, graph: NodeGraph, n_classes: int, *, width: int, layers: int, dropout: float, gain: float
    ) -> None:
        super().__init__(graph, width=width, dropout=dropout)
        self.start, self.classify = nn.LayerNorm(width), nn.Linear(width, n_classes)
        self.first_norms, self.second_norms = (
            nn.ModuleList(nn.LayerNorm(width) for _ in range(layers)) for _ in range(2)
        )
        self.forwards = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), Dropout(dropout), nn.Linear(2 * width, width))
            for _ in range(layers)
        )
        self.gain = gain

    def kernel(self, attention: AnyAttention) -> AnyAttention:
        """Let an attention start as a kernel, where there is a gain."""
        if self.gain:
            nn.init.orthogonal_(attention.query.weight, gain=self.gain)
            with torch.no_grad():
                attention.key.weight.copy_(attention.query.weight)
        return attention

    def compared(self, h: Tensor) -> Tensor:
        """What queries and keys are made of: the embeddings, of one length where there is a gain."""
        return functional.normalize(h, dim=-1) * h.shape[-1] ** 0.5 if self.gain else h

    def asked_in(self, layer: int, graph: NodeGraph, asked: Tensor) -> Tensor:
        """The nodes that look around in a layer: in the last one only those asked about."""
        return asked if layer == len(self.forwards) - 1 else torch.arange(len(graph))


class NodeSAT(_Transformer):
    """The structure-aware transformer (Chen et al. 2022) with positions; layer instead of batch normalisation.

    Parameters
    ----------
    graph : NodeGraph
        Its numbers of features and positions are those of the network.
    n_classes, width, layers : int
    dropout : float
        Share dropped in training.
    gain : float
        Of the kernel that attention starts as; 0 for matrices drawn as usual.
    """

    def __init__(
        self, graph: NodeGraph, n_classes: int, *, width: int, layers: int, dropout: float, gain: float = 0.0
    ) -> None:
        super().__init__(graph, n_classes, width=width, layers=layers, dropout=dropout, gain=gain)
        self.place = nn.Linear(graph.positions.shape[1], width, bias=False)
        self.surroundings = nn.ModuleList(ModuleExtractor(width, PAPER.encoder_layers) for _ in range(layers))
        self.attentions = nn.ModuleList(self.kernel(_DenseAttention(width, HEADS)) for _ in range(layers))

    def forward(self, graph: NodeGraph, asked: Tensor) -> Tensor:
        """Return logits, shape (n_asked, n_classes)."""
        degree = torch.bincount(graph.edges.flatten(), minlength=len(graph))
        share = degree.clamp(min=1).float().rsqrt()[:, None]
        x = self.start(self.projected(graph)) + self.place(graph.positions)
        for i, attention in enumerate(self.attentions):
            h = self.surroundings[i].embed(x, graph.adjacency)  # type: ignore[operator]
            rows = self.asked_in(i, graph, asked)
            mixed = attend(attention, self.compared(h), x, rows)  # type: ignore[arg-type]
            x = self.first_norms[i](x[rows] + share[rows] * mixed)
            x = self.second_norms[i](x + self.forwards[i](x))
        return torch.as_tensor(self.classify(self.dropout(x)))


class NodeBioBGT(_Transformer):
    """BioBGT: NE encoded into the features (Eq. 7), ψ taught by contrast between modules (Eq. 8), FM-Attn (Eq. 9).

    Parameters
    ----------
    graph : NodeGraph
        Its number of features is that of the network, and its NE gives the quantiles of the encoding.
    n_classes, width, layers : int
    dropout : float
        Share dropped in training.
    gain : float
        Of the kernel that attention starts as, with one matrix for queries and keys; 0 for two, drawn as usual.
    """

    def __init__(
        self, graph: NodeGraph, n_classes: int, *, width: int, layers: int, dropout: float, gain: float = 0.0
    ) -> None:
        super().__init__(graph, n_classes, width=width, layers=layers, dropout=dropout, gain=gain)
        self.importance = NodeImportanceEncoding(PAPER.entanglement_bins, width)
        self.importance.learn_quantiles(graph.entanglement)
        self.extractor = ModuleExtractor(width, PAPER.encoder_layers)
        self.attentions = nn.ModuleList(
            self.kernel(FunctionalModuleAttention(width, HEADS, stream=width, tied=gain > 0, dropout=0.0))
            for _ in range(layers)
        )

    def forward(self, graph: NodeGraph, asked: Tensor) -> Tensor:
        """Return logits, shape (n_asked, n_classes)."""
        x = self._encoded(graph)
        for i, attention in enumerate(self.attentions):
            h, rows = self.extractor.embed(x, graph.adjacency), self.asked_in(i, graph, asked)
            x = self.first_norms[i](x[rows] + attend(attention, self.compared(h), h, rows))  # type: ignore[arg-type]
            x = self.second_norms[i](self.forwards[i](x))
        return torch.as_tensor(self.classify(self.dropout(x)))

    def _encoded(self, graph: NodeGraph) -> Tensor:
        return self.importance(self.start(self.projected(graph)), graph.entanglement)

    def added_loss(self, graph: NodeGraph) -> Tensor:
        """The contrastive loss of ψ (Eq. 8), on two views of the graph."""
        x = self._encoded(graph)
        weights, within = torch.ones(1, graph.edges.shape[1]), graph.modules[graph.edges]
        same = (within[0] == within[1])[None]
        first, second = (
            self.extractor.embed(x, graph.view(kept_edges(weights, same, share, torch.rand_like(weights))[0]))
            for share in PAPER.drop_edges
        )
        anchors = torch.randperm(len(graph))[: PAPER.contrast_anchors]
        return info_nce(
            first[None], second[None], graph.modules[None], anchors[None], temperature=PAPER.contrast_temperature
        )


def attend(attention: _DenseAttention | FunctionalModuleAttention, h: Tensor, values: Tensor, asked: Tensor) -> Tensor:
    """What some nodes attend to among all, without their weights being written down, shape (n_asked, stream).

    Parameters
    ----------
    attention : _DenseAttention or FunctionalModuleAttention
        Whose matrices are used.
    h : Tensor, shape (n, width)
        What queries and keys are made of.
    values : Tensor, shape (n, stream)
    asked : Tensor of int, shape (n_asked,)
    """
    parts = (attention.query(h[asked]), attention.key(h), attention.value(values))
    query, key, value = (part.view(len(part), attention.heads, -1).transpose(0, 1)[None] for part in parts)
    mixed = functional.scaled_dot_product_attention(query, key, value)
    return torch.as_tensor(attention.output(mixed[0].transpose(0, 1).flatten(1)))
