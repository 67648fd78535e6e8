"""Null graphs: what hubs, modularity or clustering would be if only the regions' degrees, or strengths, were given.

:func:`random_graph` swaps connections (Maslov & Sneppen 2002) and hands the weights out again so that strengths are
kept closely (Rubinov & Sporns 2011); :func:`lattice_graph` accepts only swaps that bring connections nearer to a
ring (Sporns & Zwi 2004). They are written here because bctpy's ``randmio_und`` and ``latmio_und`` never return for
a star, and its ``null_model_und_sign`` loses the negative weights. Every loop here has an end.
"""

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.data.graph import Graph, graph_weights

_RANDOM_ROUNDS = 40
_LATTICE_ROUNDS = 50
_MOST_LATTICE_STEPS = 40
_WEIGHT_BATCHES = 100

Ends = NDArray[np.int64]


def random_graph(graph: Graph, *, seed: int, keep_strengths: bool = True) -> FloatArray:
    """A random graph with the same degrees, the same weights and nearly the same strengths.

    Positive and negative degrees, and the weights as a whole, are kept exactly; the strengths of regions closely. In
    a complete graph without negative weights nothing can be swapped, and only the weights move.

    Parameters
    ----------
    graph : BrainGraph or ndarray, shape (n_regions, n_regions)
    seed : int
    keep_strengths : bool
        False deals the weights out at random, so that strengths follow degrees up to chance.

    Returns
    -------
    ndarray, shape (n_regions, n_regions)
    """
    weights = graph_weights(graph)
    check_seed(seed)
    rng = np.random.default_rng(seed)
    swapped = _swap(weights, rng, rounds=_RANDOM_ROUNDS)
    deal = _with_strengths if keep_strengths else _at_random
    positive = deal(swapped > 0, np.maximum(weights, 0), rng)
    negative = deal(swapped < 0, np.maximum(-weights, 0), rng)
    return positive - negative


def lattice_graph(graph: Graph, *, seed: int) -> FloatArray:
    """A lattice-like graph with the same degrees and the same weights, for the highest clustering they allow.

    The regions are put on a ring in random order, and connections are swapped as long as that brings the weight
    nearer to neighbours on the ring.

    Parameters
    ----------
    graph : BrainGraph or ndarray, shape (n_regions, n_regions)
    seed : int

    Returns
    -------
    ndarray, shape (n_regions, n_regions)
    """
    weights = graph_weights(graph)
    check_seed(seed)
    rng = np.random.default_rng(seed)
    place = rng.permutation(len(weights))
    apart = np.abs(place[:, None] - place[None, :])
    ring_distance = np.minimum(apart, len(weights) - apart).astype(np.float64)
    for _ in range(_MOST_LATTICE_STEPS):
        nearer = _swap(weights, rng, rounds=_LATTICE_ROUNDS, distance=ring_distance)
        settled = (nearer * ring_distance).sum() == (weights * ring_distance).sum()
        weights = nearer
        if settled:
            break
    return weights


def _swap(
    weights: FloatArray,
    rng: np.random.Generator,
    *,
    rounds: int,
    distance: FloatArray | None = None,
) -> FloatArray:
    """Swap ends of random pairs of connections: a-b, c-d become a-d, c-b, weights travelling along.

    In each round all connections are paired at random and every pair that may swap does. With ``distance`` a
    swap must not lengthen the two connections' weighted distance.
    """
    weights = weights.copy()
    for _ in range(rounds):
        ends = np.stack(np.nonzero(np.triu(weights)))
        half = ends.shape[1] // 2
        order = rng.permutation(ends.shape[1])
        (a, b), (c, d) = ends[:, order[:half]], ends[:, order[half : 2 * half]]
        turned = rng.random(half) < 0.5  # or c could only ever be the end with the smaller number
        c, d = np.where(turned, d, c), np.where(turned, c, d)
        allowed = _may_swap(weights, a, b, c, d)
        if distance is not None:
            ab, cd = weights[a, b], weights[c, d]
            allowed &= distance[a, d] * ab + distance[c, b] * cd <= distance[a, b] * ab + distance[c, d] * cd
        a, b, c, d = _without_collisions(np.stack([a, b, c, d])[:, allowed], len(weights))
        _exchange(weights, a, b, c, d)
    return weights


def _may_swap(weights: FloatArray, a: Ends, b: Ends, c: Ends, d: Ends) -> NDArray[np.bool_]:
    """Whether a-d and c-b may take the weights of a-b and c-d without changing any signed degree."""
    ab, cd, ad, cb = np.sign([weights[a, b], weights[c, d], weights[a, d], weights[c, b]])
    four_regions = (a != c) & (a != d) & (b != c) & (b != d)
    allowed: NDArray[np.bool_] = four_regions & (ab == cd) & (ad == cb) & (ab != ad)
    return allowed


def _without_collisions(swaps: Ends, n_regions: int) -> Ends:
    """Keep of swaps (4, n_swaps) made at once only those that share no pair of regions with an earlier one."""
    a, b, c, d = swaps
    pairs = np.stack([np.minimum(x, y) * n_regions + np.maximum(x, y) for x, y in ((a, b), (c, d), (a, d), (c, b))])
    # Pairs in the order of the swaps: the first swap to touch a pair may have it.
    _, first, which = np.unique(pairs.T.ravel(), return_index=True, return_inverse=True)
    owner = (first[which] // 4).reshape(-1, 4)
    return swaps[:, (owner == np.arange(len(owner))[:, None]).all(axis=1)]


def _exchange(weights: FloatArray, a: Ends, b: Ends, c: Ends, d: Ends) -> None:
    ab, cd, ad, cb = weights[a, b], weights[c, d], weights[a, d], weights[c, b]
    weights[a, d] = weights[d, a] = ab
    weights[c, b] = weights[b, c] = cd
    weights[a, b] = weights[b, a] = ad
    weights[c, d] = weights[d, c] = cb


def _at_random(connected: NDArray[np.bool_], original: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Hand the original weights out to the connected pairs in any order."""
    weights = np.zeros(original.shape)
    weights[np.nonzero(np.triu(connected))] = rng.permutation(original[np.triu(original) > 0])
    return weights + weights.T


def _with_strengths(connected: NDArray[np.bool_], original: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Hand the original weights out to the connected pairs so that strengths come out as they were.

    In each round a random hundredth of the weights goes to the pairs of the same rank in the product of the
    strengths still to be filled.
    """
    i, j = np.nonzero(np.triu(connected))
    remaining = np.sort(original[np.triu(original) > 0])
    missing = original.sum(axis=0)
    weights = np.zeros(original.shape)
    batch = max(1, len(remaining) // _WEIGHT_BATCHES)
    while len(remaining):
        order = np.argsort(missing[i] * missing[j], kind="stable")
        ranks = rng.permutation(len(remaining))[:batch]
        pairs = order[ranks]
        weights[i[pairs], j[pairs]] = remaining[ranks]
        for ends in (i, j):
            missing -= np.bincount(ends[pairs], weights=remaining[ranks], minlength=len(missing))
        np.maximum(missing, 0, out=missing)
        i, j, remaining = np.delete(i, pairs), np.delete(j, pairs), np.delete(remaining, ranks)
    return weights + weights.T


def check_seed(seed: int) -> None:
    """Refuse a seed that numpy's random states do not take."""
    if not 0 <= seed < 2**32:
        raise InputError(f"The seed is {seed}; it must be a whole number from 0 to 2³² - 1.")
