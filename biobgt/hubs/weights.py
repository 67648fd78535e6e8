"""What hub measures are computed on: nonnegative weights, and the full connectivity behind them."""

import numpy as np
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.graph import BrainGraph, Graph, check_connectivity, nonnegative_weights


def hub_weights(graph: Graph) -> NDArray[np.float64]:
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


def full_connectivity(graph: BrainGraph, connectivity: NDArray[np.float64] | None) -> NDArray[np.float64]:
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
