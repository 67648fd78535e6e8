"""Classical hub measures: FC strength, degree, betweenness, closeness and eigenvector centrality.

The definitions are bctpy's where bctpy has one. They are here to compare node entanglement with: the paper
holds that NE tells hubs apart better than these (Appendix B).
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from biobgt.graph import BrainGraph, Graph, check_connectivity
from biobgt.hubs.efficiency import path_lengths
from biobgt.hubs.weights import hub_weights


def fc_strength(connectivity: Graph) -> NDArray[np.float64]:
    """Mean connectivity of a region to all others (Appendix D.4).

    The paper takes the mean Pearson correlation on the full matrix, signs included: hand in the connectivity
    before any threshold. Given a graph, the mean is over the weights that its threshold left.

    Parameters
    ----------
    connectivity : ndarray, shape (n, n), or BrainGraph
        Symmetric, of any sign; the diagonal is ignored.

    Returns
    -------
    ndarray, shape (n,)
        0 for a region without signal.
    """
    if isinstance(connectivity, BrainGraph):
        values = connectivity.weights
    else:
        values = check_connectivity(connectivity, what="The connectivity")
    strength: NDArray[np.float64] = (values.sum(axis=1) - np.diag(values)) / (len(values) - 1)
    return strength


def degree(adjacency: Graph) -> NDArray[np.int64]:
    """Number of neighbours of every region.

    Parameters
    ----------
    adjacency : ndarray, shape (n, n), or BrainGraph

    Returns
    -------
    ndarray of int, shape (n,)
    """
    return np.count_nonzero(hub_weights(adjacency), axis=1).astype(np.int64)


def closeness(adjacency: Graph, *, weighted: bool = True) -> NDArray[np.float64]:
    """Closeness: the inverse of the mean distance to the other regions.

    On a disconnected graph the mean runs over the r − 1 regions that can be reached, times their share
    (r − 1)/(n − 1) of all others (Wasserman & Faust 1994), so that small components do not look central.

    Parameters
    ----------
    adjacency : ndarray, shape (n, n), or BrainGraph
    weighted : bool
        Lengths 1/weight; otherwise every edge has length 1.

    Returns
    -------
    ndarray, shape (n,)
        0 for an isolated region.
    """
    distances = path_lengths(hub_weights(adjacency), weighted=weighted)
    reached = np.isfinite(distances)
    total = np.where(reached, distances, 0).sum(axis=1)
    others = reached.sum(axis=1) - 1
    share = others / (len(distances) - 1)
    return np.divide(others, total, out=np.zeros(len(total)), where=total > 0) * share


def eigenvector(adjacency: Graph) -> NDArray[np.float64]:
    """Eigenvector centrality: the leading eigenvector of the weights, of length 1.

    Where several components share the largest eigenvalue the eigenvector is not unique; the projection of the
    all-ones vector is taken, which treats equal components alike.

    Parameters
    ----------
    adjacency : ndarray, shape (n, n), or BrainGraph

    Returns
    -------
    ndarray, shape (n,)
        0 outside the leading component, and everywhere on a graph without edges.
    """
    weights = hub_weights(adjacency)
    if not weights.any():
        return np.zeros(len(weights))
    values, vectors = np.linalg.eigh(weights)
    leading = vectors[:, values > values[-1] * (1 - 1e-10)]
    centrality = np.abs(leading @ leading.sum(axis=0))
    return centrality / np.linalg.norm(centrality)


def betweenness(adjacency: Graph, *, weighted: bool = True) -> NDArray[np.float64]:
    """Betweenness: over all ordered pairs of regions, the share of shortest paths that pass through.

    Brandes' algorithm (2001), one step for all sources together. As in bctpy the value is not normalised;
    divide by (n − 1)(n − 2) for a share.

    Parameters
    ----------
    adjacency : ndarray, shape (n, n), or BrainGraph
    weighted : bool
        Lengths 1/weight; otherwise every edge has length 1.

    Returns
    -------
    ndarray, shape (n,)
    """
    edges = csr_array(hub_weights(adjacency))
    edges.data = 1 / edges.data if weighted else np.ones_like(edges.data)
    # Dijkstra adds lengths outwards from the source, as the test for a tie below does: equal means equal.
    distances = dijkstra(edges)
    lengths = np.where(edges.toarray() > 0, edges.toarray(), np.inf)
    order = np.argsort(distances, axis=1, kind="stable")
    sources = np.arange(len(lengths))
    paths = np.eye(len(lengths))
    for targets in order.T[1:]:
        paths[sources, targets] = (_precedes(distances, lengths, targets) * paths).sum(axis=1)
    passing = np.zeros_like(paths)
    for targets in order.T[:0:-1]:
        n_paths = paths[sources, targets]
        reached = n_paths > 0
        share = np.divide(1 + passing[sources, targets], n_paths, out=np.zeros(len(paths)), where=reached)
        passing += _precedes(distances, lengths, targets) * paths * share[:, None]
    np.fill_diagonal(passing, 0)
    return passing.sum(axis=0)


def _precedes(
    distances: NDArray[np.float64], lengths: NDArray[np.float64], targets: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Row s: which regions are the last stop before ``targets[s]`` on a shortest path from s."""
    goal = distances[np.arange(len(distances)), targets]
    goal[np.isinf(goal)] = -1  # unreached: nothing precedes
    return distances + lengths[targets] == goal[:, None]
