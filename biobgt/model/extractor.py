"""ψ, the functional module extractor (section 3.2.1, appendix C): a graph encoder taught by contrast between modules.

Two views of a graph lose edges, those between modules first; regions of one module are pulled together across the views
and regions of different modules pushed apart (Eq. 8).
"""

import torch
from torch import Tensor, nn
from torch.nn import functional


def edge_scores(weights: Tensor, within: Tensor) -> Tensor:
    """Importance of every edge (appendix C): w + max(w) within a module, w − max(w) between modules.

    Parameters
    ----------
    weights : Tensor, shape (B, ...)
        Of all pairs of regions, or of the edges one by one.
    within : Tensor of bool, shape (B, ...)
        Whether a pair is of one module.

    Returns
    -------
    Tensor, shape (B, ...)
    """
    largest = weights.amax(dim=tuple(range(1, weights.dim())), keepdim=True)
    return weights + torch.where(within, largest, -largest)


def same_module(left: Tensor, right: Tensor) -> Tensor:
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
    within = same_module(modules, modules)[:, rows, columns]
    edges = weights[:, rows, columns]
    view = torch.zeros_like(weights)
    view[:, rows, columns] = edges * kept_edges(edges, within, share, noise[:, rows, columns])
    return view + view.transpose(1, 2)


def kept_edges(edges: Tensor, within: Tensor, share: float, noise: Tensor) -> Tensor:
    """Tell the edges that :func:`drop_edges` keeps, where they are given one by one, shape (B, n_edges).

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
    scores = edge_scores(edges, within) + noise * edges.amax(dim=1, keepdim=True)
    scores = scores.masked_fill(edges == 0, float("inf"))
    n_dropped = ((edges != 0).sum(dim=1) * share).long()
    return scores >= _order_statistics(scores, n_dropped)[:, None]


def _order_statistics(scores: Tensor, n_below: Tensor) -> Tensor:
    """The value of each row that so many others of its row precede, shape (B,).

    Found without sorting the row, which takes a quarter off the time of dropping edges from brain graphs.
    """
    ranks = (n_below + 1).clamp(max=scores.shape[1]).tolist()
    return torch.stack([row.kthvalue(rank).values for row, rank in zip(scores, ranks, strict=True)])


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
    positive = same_module(own, both)
    positive.scatter_(2, anchors[:, :, None], False)
    negative = ~same_module(own, both) & (own[:, :, None] > 0) & (both[:, None, :] > 0)
    has_contrast = positive.any(dim=2) & negative.any(dim=2)
    # A finite stand-in: where there is no negative at all, -inf would turn the gradient into NaN before it is left out.
    against = similarity.masked_fill(~negative, -1e4).logsumexp(dim=2)
    towards = (similarity * positive).sum(dim=2) / positive.sum(dim=2).clamp(min=1)
    loss = (against - towards) * has_contrast
    return loss.sum() / has_contrast.sum().clamp(min=1)
