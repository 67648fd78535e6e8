"""GAT, the graph attention network (Veličković et al. 2018), on the thresholded brain graph.

Scores are LeakyReLU(aᵀ[W h_i ‖ W h_j]) over neighbours and the region itself: the sum of a number of i and one of j, so
that a dense batch needs no message per edge. Two layers of eight heads; the mean over regions is classified.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from biobgt.model.baselines.dense_attention import DROPOUT, HEADS, WIDTH, limited_softmax, mean_readout
from biobgt.model.baselines.graph_encodings import EncodedBatch
from biobgt.model.baselines.graph_network import GraphNetwork

SLOPE = 0.2


class DenseGraphAttention(nn.Module):
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
        scores = functional.leaky_relu(target[..., :, None] + source[..., None, :], SLOPE)
        loops = torch.eye(x.shape[1], dtype=torch.bool, device=x.device)
        weights = limited_softmax(scores, (edges | loops)[:, None])
        return (weights @ h.transpose(1, 2)).transpose(1, 2).flatten(2)


class GraphAttentionNetwork(GraphNetwork):
    """Two layers of attention along edges."""

    def __init__(self, n_regions: int, n_groups: int) -> None:
        super().__init__()
        self.first = DenseGraphAttention(n_regions, WIDTH, HEADS)
        self.second = DenseGraphAttention(WIDTH, WIDTH, HEADS)
        self.dropout = nn.Dropout(DROPOUT)
        self.readout = mean_readout(WIDTH, n_groups)

    def forward(self, batch: EncodedBatch) -> Tensor:
        """Return logits, shape (B, n_groups)."""
        edges = batch.weights > 0
        x = self.dropout(functional.elu(self.first(batch.features, edges)))
        return self.readout(functional.elu(self.second(x, edges)).mean(dim=1))
