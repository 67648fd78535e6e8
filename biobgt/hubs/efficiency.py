"""Efficiency: how short the paths from a region are, in the whole graph and among its neighbours.

Lengths are 1/weight and efficiency the mean of 1/distance (Latora & Marchiori 2001). The definitions are
bctpy's, to which the tests hold them; SciPy and NumPy do the work because bctpy's Dijkstra is pure Python.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from biobgt.graph import Graph
from biobgt.hubs.weights import hub_weights


def node_efficiency(adjacency: Graph, *, weighted: bool = True) -> NDArray[np.float64]:
    """Nodal global efficiency, NEff(i) = Σ_{j≠i} 1/d(i, j) / (n − 1); its mean is the global efficiency.

    Parameters
    ----------
    adjacency : ndarray, shape (n, n), or BrainGraph
        Symmetric, nonnegative, zero diagonal.
    weighted : bool
        Lengths 1/weight; otherwise every edge has length 1.

    Returns
    -------
    ndarray, shape (n,)
        A region that cannot be reached adds 0, so an isolated region has NEff 0.
    """
    distances = path_lengths(hub_weights(adjacency), weighted=weighted)
    np.fill_diagonal(distances, np.inf)
    efficiency: NDArray[np.float64] = (1 / distances).sum(axis=1) / (len(distances) - 1)
    return efficiency


def local_efficiency(adjacency: Graph, *, weighted: bool = True) -> NDArray[np.float64]:
    """Efficiency among each region's neighbours, once the region itself is taken out.

    The weighted form is that of Wang et al. (2016), which ``bct.efficiency_wei(local=True)`` computes: with
    lengths w^(−1/3), the mean over pairs of neighbours (j, h) of (w_ij·w_ih)^(1/3) / d(j, h).

    Parameters
    ----------
    adjacency : ndarray, shape (n, n), or BrainGraph
    weighted : bool
        Otherwise as ``bct.efficiency_bin(local=True)``: every edge counts 1.

    Returns
    -------
    ndarray, shape (n,)
        0 for a region with fewer than two neighbours.
    """
    weights = hub_weights(adjacency)
    roots = np.cbrt(weights) if weighted else (weights > 0).astype(np.float64)
    lengths = _lengths(roots)
    efficiency = np.zeros(len(weights))
    for i, row in enumerate(roots):
        neighbours = np.flatnonzero(row)
        degree = len(neighbours)
        if degree < 2:
            continue
        distances = _relaxed(lengths[np.ix_(neighbours, neighbours)])
        np.fill_diagonal(distances, np.inf)
        ties = row[neighbours]
        efficiency[i] = ties @ (1 / distances) @ ties / (degree * (degree - 1))
    return efficiency


def path_lengths(weights: NDArray[np.float64], *, weighted: bool = True) -> NDArray[np.float64]:
    """Lengths of the shortest paths between all pairs of regions.

    Parameters
    ----------
    weights : ndarray, shape (n, n)
        Nonnegative; an edge of weight w has length 1/w, or 1 where ``weighted`` is false.

    Returns
    -------
    ndarray, shape (n, n)
        Infinite between regions that no path connects, 0 on the diagonal.
    """
    edges = csr_array(weights)
    edges.data = 1 / edges.data if weighted else np.ones_like(edges.data)
    # "auto" takes Dijkstra on a sparse graph and Floyd-Warshall on a dense one.
    distances: NDArray[np.float64] = shortest_path(edges, method="auto", directed=True)
    return distances


def _lengths(strengths: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        lengths: NDArray[np.float64] = 1 / strengths
    np.fill_diagonal(lengths, 0)
    return lengths


def _relaxed(lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Floyd-Warshall by rows: on matrices this small it beats the price of calling SciPy."""
    through = np.empty_like(lengths)
    for k in range(len(lengths)):
        np.add(lengths[:, k, None], lengths[k], out=through)
        np.minimum(lengths, through, out=lengths)
    return lengths
