"""Null graphs: what hub measures look like when only each region's number of connections is kept.

Edges are rewired by double-edge swaps (Maslov & Sneppen 2002): a-b and c-d become a-d and c-b, which leaves all
degrees as they are. The weights are then dealt out anew over the edges, so that the null keeps the degrees and
the distribution of weights and nothing else; strengths follow degrees up to chance.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from biobgt.hubs.weights import Adjacency, nonnegative_weights

_ROUNDS = 40


def degree_preserving_null(adjacency: Adjacency, *, seed: int | Sequence[int] = 0) -> NDArray[np.float64]:
    """Draw a random graph with the same degrees and the same weights.

    In every round all edges are paired at random and swapped together, but for pairs whose new edges exist
    already, join a region to itself or are wanted twice. There are 40 rounds, so each edge is tried 40 times. A
    complete graph cannot be rewired, and there only its weights change place.

    Parameters
    ----------
    adjacency : ndarray, shape (n, n), or BrainGraph
    seed : int or sequence of int

    Returns
    -------
    ndarray, shape (n, n)
    """
    weights = nonnegative_weights(adjacency)
    rng = np.random.default_rng(seed)
    rows, columns = np.nonzero(np.triu(weights))
    values = weights[rows, columns]
    for _ in range(_ROUNDS):
        rows, columns = _swap_round(rows, columns, len(weights), rng)
    null = np.zeros_like(weights)
    null[rows, columns] = rng.permutation(values)
    return null + null.T


def _swap_round(
    rows: NDArray[np.intp], columns: NDArray[np.intp], n: int, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pair all edges at random and swap the partners of each pair where that is allowed."""
    turned = rng.random(len(rows)) < 0.5  # an edge has no direction: both ways of swapping must be possible
    start, end = np.where(turned, columns, rows), np.where(turned, rows, columns)
    shuffled = rng.permutation(len(rows))
    half = len(rows) // 2
    first, second = shuffled[:half], shuffled[half : 2 * half]
    ends = np.stack([end[second], end[first]])  # a-b, c-d become a-d, c-b
    starts = np.stack([start[first], start[second]])
    wanted = np.minimum(starts, ends) * n + np.maximum(starts, ends)
    existing = np.minimum(rows, columns) * n + np.maximum(rows, columns)
    _, position, count = np.unique(wanted, return_inverse=True, return_counts=True)
    free = (starts != ends) & ~np.isin(wanted, existing) & (count[position].reshape(wanted.shape) == 1)
    allowed = free.all(axis=0)
    end[first[allowed]], end[second[allowed]] = ends[0, allowed], ends[1, allowed]
    return start, end
