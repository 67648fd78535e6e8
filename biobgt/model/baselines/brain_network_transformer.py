"""Brain Network Transformer (Kan et al. 2022): plain attention over connection profiles, read out by clusters.

Two transformer layers of four heads over the rows of the correlation matrix, without positions. Each region is then
assigned softly to clusters by its inner products with orthonormal centres (OCRead), and the clusters' sums, reduced to
eight numbers each, go through a small perceptron. Centres are orthonormal at the start and learnt from there.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from biobgt.model.baselines.graph_encodings import EncodedBatch
from biobgt.model.baselines.graph_network import GraphNetwork

LAYERS, HEADS, FEED_FORWARD, CLUSTERS, KEPT = 2, 4, 1024, 10, 8


class BrainNetworkTransformer(GraphNetwork):
    """Attention over connection profiles and a readout of clusters."""

    def __init__(self, n_regions: int, n_groups: int) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(n_regions, HEADS, FEED_FORWARD, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        centres = torch.empty(min(CLUSTERS, n_regions), n_regions)
        nn.init.orthogonal_(nn.init.xavier_uniform_(centres))
        self.centres = nn.Parameter(centres)
        self.reduce = nn.Linear(n_regions, KEPT)
        self.classify = nn.Sequential(
            nn.Linear(KEPT * len(centres), 256), nn.LeakyReLU(), nn.Linear(256, 32), nn.LeakyReLU(),
            nn.Linear(32, n_groups),
        )  # fmt: skip

    def forward(self, batch: EncodedBatch) -> Tensor:
        """Return logits, shape (B, n_groups)."""
        x = self.encoder(batch.features)
        belongs = (x @ functional.normalize(self.centres, dim=1).T).softmax(dim=2)
        clusters = belongs.transpose(1, 2) @ x
        return self.classify(functional.leaky_relu(self.reduce(clusters)).flatten(1))
