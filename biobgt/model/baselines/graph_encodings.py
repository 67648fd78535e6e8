"""What graph transformers are told of a graph beside features and weights: positions, distances and paths.

All of it follows from one subject's graph, so that nothing of another subject can enter.
"""

from dataclasses import dataclass, fields

import torch
from torch import Tensor

from biobgt.model.baselines.system import Encoding
from biobgt.model.batch import GraphBatch

MOST_HOPS = 8  # further, and where no path leads, counts as this
_AT_ONCE = 32


@dataclass(frozen=True, eq=False)
class EncodedBatch(GraphBatch):
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


def encode(graphs: GraphBatch, encoding: Encoding) -> EncodedBatch:
    """Add encodings to graphs."""
    weights = graphs.weights
    nothing = weights.new_zeros(len(weights), 0, 0)
    hops, path_weights = shortest_paths(weights) if encoding.paths else (nothing.to(torch.uint8), nothing)
    return EncodedBatch(
        **{field.name: getattr(graphs, field.name) for field in fields(GraphBatch)},
        positions=positions(weights, encoding),
        hops=hops,
        path_weights=path_weights,
    )


def positions(weights: Tensor, encoding: Encoding) -> Tensor:
    """Positional encodings of a batch of graphs, shape (B, n, k)."""
    if not encoding.positions:
        return weights.new_zeros(*weights.shape[:2], 0)
    if encoding.positions == "random-walk":
        return random_walk_returns(weights, encoding.size)
    values, vectors = laplacian_eigenvectors(weights, encoding.size)
    if encoding.positions == "laplacian":
        return vectors
    return torch.cat([vectors, values[:, None, :].expand_as(vectors)], dim=2)


def laplacian_eigenvectors(weights: Tensor, k: int) -> tuple[Tensor, Tensor]:
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
    return tuple(torch.nn.functional.pad(part, missing).float() for part in (values, vectors))  # type: ignore[return-value]


def random_walk_returns(weights: Tensor, steps: int) -> Tensor:
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


def shortest_paths(weights: Tensor) -> tuple[Tensor, Tensor]:
    """Hop distances and the mean weight along shortest paths, each of shape (B, n, n).

    Where several shortest paths join two regions the mean is over all of them, so that it does not depend on the order
    of the regions.
    """
    parts = [_paths(part) for part in torch.split(weights, _AT_ONCE)]
    return torch.cat([part[0] for part in parts]), torch.cat([part[1] for part in parts])


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
