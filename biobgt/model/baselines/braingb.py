"""BrainGB's graph convolution (Cui et al. 2023): connection profiles as features, regions kept apart in the readout.

Of the benchmark's designs this is the usual one: messages weighted by edges, h ← ReLU(BN(Â h W)), two layers; every
region is reduced to eight numbers, and those of all regions are concatenated for a perceptron (concat pooling).
"""

from itertools import pairwise

from torch import Tensor, nn
from torch.nn import functional

from biobgt.model.baselines.dense_attention import RegionNorm
from biobgt.model.baselines.graph_encodings import EncodedBatch
from biobgt.model.baselines.graph_network import GraphNetwork
from biobgt.model.extractor import normalised

WIDTH, KEPT, HIDDEN, DROPOUT = 128, 8, 256, 0.5


class ConnectionProfileNetwork(GraphNetwork):
    """Two graph convolutions and a perceptron over all regions."""

    def __init__(self, n_regions: int, n_groups: int) -> None:
        super().__init__()
        widths = (n_regions, WIDTH, KEPT)
        pairs = list(pairwise(widths))
        self.convolutions = nn.ModuleList(nn.Linear(before, after) for before, after in pairs)
        self.norms = nn.ModuleList(RegionNorm(after) for _, after in pairs)
        self.classify = nn.Sequential(
            nn.Linear(n_regions * KEPT, HIDDEN), nn.ReLU(), nn.Dropout(DROPOUT), nn.Linear(HIDDEN, n_groups)
        )

    def forward(self, batch: EncodedBatch) -> Tensor:
        """Return logits, shape (B, n_groups)."""
        x, adjacency = batch.features, normalised(batch.weights)
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            x = functional.relu(norm(adjacency @ convolution(x)))
        return self.classify(x.flatten(1))
