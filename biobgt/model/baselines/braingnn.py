"""BrainGNN (Li et al. 2021): convolutions that differ from region to region, and pooling that keeps half of them.

A region's convolution matrix is a mixture of K learnt ones, by its soft membership in K communities (Ra-GConv). Regions
are scored by their projection on a learnt unit vector and the better half is kept, features weighed by the score
(R-pool); two such blocks, whose means and maxima are classified. Added to the cross-entropy: the top-k loss, which
pushes the scores of kept and dropped regions apart, and group-level consistency, which asks the subjects of a group
for similar scores of their regions in the first block. The unit-length loss is met by construction. The perceptron has
layer instead of batch normalisation, which works for a batch of one subject, too.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from biobgt.model.baselines.graph_encodings import EncodedBatch
from biobgt.model.baselines.graph_network import GraphNetwork

COMMUNITIES, WIDTH, HIDDEN, KEPT, DROPOUT = 8, 32, 512, 0.5, 0.5
TOP_K, CONSISTENCY = 0.1, 0.1  # weights of the losses
_SMALL = 1e-6


class BrainGNN(GraphNetwork):
    """Two blocks of region-aware convolution and pooling."""

    def __init__(self, n_regions: int, n_groups: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([_Block(n_regions, n_regions), _Block(n_regions, WIDTH)])
        self.classify = nn.Sequential(
            nn.Linear(4 * WIDTH, WIDTH), nn.ReLU(), nn.LayerNorm(WIDTH), nn.Dropout(DROPOUT),
            nn.Linear(WIDTH, HIDDEN), nn.ReLU(), nn.LayerNorm(HIDDEN), nn.Dropout(DROPOUT),
            nn.Linear(HIDDEN, n_groups),
        )  # fmt: skip

    def forward(self, batch: EncodedBatch) -> Tensor:
        """Return logits, shape (B, n_groups)."""
        return self._run(batch)[0]

    def losses(self, batch: EncodedBatch, groups: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits and the weighted losses of pooling.

        Parameters
        ----------
        batch : EncodedBatch
        groups : Tensor of int, shape (B,)
        """
        logits, scores = self._run(batch)
        apart = sum((_top_k_loss(score) for score in scores[1:]), _top_k_loss(scores[0]))
        return logits, TOP_K * apart + CONSISTENCY * _inconsistency(scores[0], groups)

    def _run(self, batch: EncodedBatch) -> tuple[Tensor, list[Tensor]]:
        n = batch.features.shape[1]
        regions = torch.arange(n, device=batch.features.device).expand(len(batch), n)
        x, weights, read, scores = batch.features, batch.weights, [], []
        for block in self.blocks:
            x, weights, regions, score = block(x, weights, regions)
            read += [x.mean(dim=1), x.amax(dim=1)]
            scores.append(score)
        return self.classify(torch.cat(read, dim=1)), scores


class _Block(nn.Module):
    """A convolution with a matrix per region, and the pooling behind it."""

    def __init__(self, n_regions: int, width_in: int) -> None:
        super().__init__()
        self.membership = nn.Embedding(n_regions, COMMUNITIES)
        self.basis = nn.Parameter(torch.empty(COMMUNITIES, width_in, WIDTH))
        self.bias, self.direction = nn.Parameter(torch.zeros(WIDTH)), nn.Parameter(torch.randn(WIDTH))
        nn.init.xavier_uniform_(self.basis)

    def forward(self, x: Tensor, weights: Tensor, regions: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        # The mixture of matrices is applied as a mixture of products: no matrix per region and subject is made.
        member = functional.relu(self.membership(regions))
        products = torch.einsum("bni,kio->bnko", x, self.basis)
        x = (products * member[..., None]).sum(dim=2)
        share = weights / weights.sum(dim=-1, keepdim=True).clamp(min=_SMALL)
        x = functional.relu(x + share @ x + self.bias)
        score = torch.sigmoid(_standardised(x @ functional.normalize(self.direction, dim=0)))
        kept = score.topk(max(1, int(KEPT * score.shape[1])), dim=1).indices
        x = _at(x, kept) * score.gather(1, kept)[:, :, None]
        joined = weights + weights @ weights  # a dropped region joins its neighbours
        return x, _at(_at(joined, kept).transpose(1, 2), kept), regions.gather(1, kept), score


def _at(x: Tensor, rows: Tensor) -> Tensor:
    """Rows of each subject's matrix, shape (B, k, width)."""
    return x.gather(1, rows[:, :, None].expand(-1, -1, x.shape[2]))


def _standardised(score: Tensor) -> Tensor:
    return (score - score.mean(dim=1, keepdim=True)) / score.std(dim=1, keepdim=True).clamp(min=_SMALL)


def _top_k_loss(score: Tensor) -> Tensor:
    """Cross-entropy of scores with being among the better half."""
    ordered = score.sort(dim=1, descending=True).values.clamp(_SMALL, 1 - _SMALL)
    kept = max(1, int(KEPT * score.shape[1]))
    return -(ordered[:, :kept].log().sum(dim=1) + (1 - ordered[:, kept:]).log().sum(dim=1)).mean() / score.shape[1]


def _inconsistency(score: Tensor, groups: Tensor) -> Tensor:
    """Mean squared distance of the scores of two subjects of one group, per region."""
    distances = (score[:, None] - score[None]).square().mean(dim=2)
    same = (groups[:, None] == groups[None]) & ~torch.eye(len(groups), dtype=torch.bool, device=score.device)
    return (distances * same).sum() / same.sum().clamp(min=1)
