"""Polynormer (Deng et al. 2024): products of features with what attention brings, first locally, then globally.

Local layers are graph attention over neighbours, x ← (1 − β) LN(h ⊙ a) + β a with h a gate and a the attended features;
what they give is summed and goes through linear attention over all regions (PyTorch Geometric's
``PolynormerAttention``). The paper classifies nodes; here the mean over regions is classified.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn.attention import PolynormerAttention

from biobgt.model.baselines.dense_attention import DROPOUT, HEADS, WIDTH, mean_readout
from biobgt.model.baselines.gat import DenseGraphAttention
from biobgt.model.baselines.graph_encodings import EncodedBatch
from biobgt.model.baselines.graph_network import GraphNetwork

LOCAL, GLOBAL, START = 3, 2, 0.9


class Polynormer(GraphNetwork):
    """Local, then global polynomial layers."""

    def __init__(self, n_regions: int, n_groups: int) -> None:
        super().__init__()
        self.project = nn.Linear(n_regions, WIDTH)
        self.gates, self.skips = (nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(LOCAL)) for _ in range(2))
        self.local = nn.ModuleList(DenseGraphAttention(WIDTH, WIDTH, HEADS) for _ in range(LOCAL))
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(LOCAL))
        self.shares = nn.Parameter(torch.full((LOCAL, WIDTH), START).logit())
        self.between = nn.LayerNorm(WIDTH)
        self.everywhere = nn.ModuleList(
            PolynormerAttention(WIDTH, heads=HEADS, head_channels=WIDTH // HEADS, dropout=DROPOUT)
            for _ in range(GLOBAL)
        )
        self.dropout = nn.Dropout(DROPOUT)
        self.readout = mean_readout(WIDTH, n_groups)

    def forward(self, batch: EncodedBatch) -> Tensor:
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
