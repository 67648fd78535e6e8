"""Classical hub measures: FC strength, degree, efficiency, betweenness, closeness and eigenvector centrality.

They are here to compare node entanglement with: the paper holds that NE tells hubs apart better than these (Appendix
B). The definitions are bctpy's where bctpy has one, to which the tests hold them; SciPy and NumPy do the work because
bctpy's Dijkstra is pure Python. Lengths are 1/weight and efficiency the mean of 1/distance (Latora & Marchiori 2001).
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra, shortest_path

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.data.graph import BrainGraph, Graph, check_connectivity, nonnegative_weights


def hub_weights(graph: Graph) -> FloatArray:
    """Return a graph's weights, or say why hubs are not defined on it.

    Parameters
    ----------
    graph : BrainGraph or ndarray, shape (n, n)
        Symmetric, finite, nonnegative, zero on the diagonal.

    Returns
    -------
    ndarray, shape (n, n)
    """
    return nonnegative_weights(graph, what="A hub measure")


def full_connectivity(graph: BrainGraph, connectivity: FloatArray | None) -> FloatArray:
    """Return the connectivity behind a graph, checked: what is handed in, what the graph knows, or its own weights.

    Parameters
    ----------
    graph : BrainGraph
    connectivity : ndarray, shape (n, n), or None

    Returns
    -------
    ndarray, shape (n, n)
    """
    if connectivity is None:
        connectivity = graph.connectivity
    if connectivity is None:
        return graph.weights
    full = check_connectivity(connectivity, what=f"The connectivity of '{graph.subject}'")
    if full.shape != graph.weights.shape:
        raise InputError(
            f"The connectivity of '{graph.subject}' has {len(full)} regions and its graph has {graph.n_regions}."
        )
    return full


def node_efficiency(adjacency: Graph) -> FloatArray:
    """Nodal global efficiency, NEff(i) = Σ_{j≠i} 1/d(i, j) / (n − 1); its mean is the global efficiency.

    Parameters
    ----------
    adjacency : ndarray, shape (n, n), or BrainGraph
        Symmetric, nonnegative, zero diagonal.

    Returns
    -------
    ndarray, shape (n,)
        A region that cannot be reached adds 0, so an isolated region has NEff 0.
    """
    distances: FloatArray = shortest_path(_edge_lengths(adjacency))
    np.fill_diagonal(distances, np.inf)
    efficiency: FloatArray = (1 / distances).sum(axis=1) / (len(distances) - 1)
    return efficiency


def local_efficiency(adjacency: Graph) -> FloatArray:
    """Efficiency among each region's neighbours, once the region itself is taken out.

    The form is that of Wang et al. (2016), which ``bct.efficiency_wei(local=True)`` computes: with
    lengths w^(−1/3), the mean over pairs of neighbours (j, h) of (w_ij·w_ih)^(1/3) / d(j, h).

    Parameters
    ----------
    adjacency : ndarray, shape (n, n), or BrainGraph

    Returns
    -------
    ndarray, shape (n,)
        0 for a region with fewer than two neighbours.
    """
    weights = hub_weights(adjacency)
    roots = np.cbrt(weights)
    with np.errstate(divide="ignore"):
        lengths = 1 / roots
    np.fill_diagonal(lengths, 0)
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


def _edge_lengths(adjacency: Graph) -> csr_array:
    """The lengths of a graph's edges: 1/w for one of weight w."""
    edges = csr_array(hub_weights(adjacency))
    edges.data = 1 / edges.data
    return edges


def _relaxed(lengths: FloatArray) -> FloatArray:
    """Floyd-Warshall by rows: on matrices this small it beats the price of calling SciPy."""
    through = np.empty_like(lengths)
    for k in range(len(lengths)):
        np.add(lengths[:, k, None], lengths[k], out=through)
        np.minimum(lengths, through, out=lengths)
    return lengths


def fc_strength(connectivity: Graph) -> FloatArray:
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
    strength: FloatArray = (values.sum(axis=1) - np.diag(values)) / (len(values) - 1)
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


def closeness(adjacency: Graph) -> FloatArray:
    """Closeness: the inverse of the mean distance to the other regions.

    On a disconnected graph the mean runs over the r − 1 regions that can be reached, times their share
    (r − 1)/(n − 1) of all others (Wasserman & Faust 1994), so that small components do not look central.

    Parameters
    ----------
    adjacency : ndarray, shape (n, n), or BrainGraph

    Returns
    -------
    ndarray, shape (n,)
        0 for an isolated region.
    """
    distances: FloatArray = shortest_path(_edge_lengths(adjacency))
    reached = np.isfinite(distances)
    total = np.where(reached, distances, 0).sum(axis=1)
    others = reached.sum(axis=1) - 1
    share = others / (len(distances) - 1)
    return np.divide(others, total, out=np.zeros(len(total)), where=total > 0) * share


def eigenvector(adjacency: Graph) -> FloatArray:
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


def betweenness(adjacency: Graph) -> FloatArray:
    """Betweenness: over all ordered pairs of regions, the share of shortest paths that pass through.

    Brandes' algorithm (2001), one step for all sources together. As in bctpy the value is not normalised;
    divide by (n − 1)(n − 2) for a share.

    Parameters
    ----------
    adjacency : ndarray, shape (n, n), or BrainGraph

    Returns
    -------
    ndarray, shape (n,)
    """
    edges = _edge_lengths(adjacency)
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


def _precedes(distances: FloatArray, lengths: FloatArray, targets: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Row s: which regions are the last stop before ``targets[s]`` on a shortest path from s."""
    goal = distances[np.arange(len(distances)), targets]
    goal[np.isinf(goal)] = -1  # unreached: nothing precedes
    return distances + lengths[targets] == goal[:, None]
