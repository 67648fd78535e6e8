"""What every hub measure is computed on: nonnegative, symmetric weights with an empty diagonal.

Measures accept a matrix or a :class:`~biobgt.connectome.BrainGraph`; both pass through here, once, so that
no measure has to check for itself and none can return silent nonsense for NaN, self-connections or
anticorrelations.
"""

import numpy as np
from numpy.typing import NDArray

from biobgt.connectome import BrainGraph, check_connectivity
from biobgt.errors import InputError

Adjacency = NDArray[np.float64] | BrainGraph


def full_connectivity(graph: BrainGraph, connectivity: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Return the connectivity behind a graph, checked; the graph's own weights where it was not handed in.

    Parameters
    ----------
    graph : BrainGraph
    connectivity : ndarray, shape (n, n), or None

    Returns
    -------
    ndarray, shape (n, n)
    """
    if connectivity is None:
        return graph.weights
    full = check_connectivity(connectivity, what=f"The connectivity of '{graph.subject}'")
    if full.shape != graph.weights.shape:
        raise InputError(
            f"The connectivity of '{graph.subject}' has {len(full)} regions and its graph has {graph.n_regions}."
        )
    return full


def nonnegative_weights(adjacency: Adjacency) -> NDArray[np.float64]:
    """Return the weights of a graph, or say why hub measures are not defined on it.

    Parameters
    ----------
    adjacency : ndarray, shape (n, n), or BrainGraph
        Symmetric, finite, nonnegative, zero on the diagonal.

    Returns
    -------
    ndarray, shape (n, n)
    """
    if isinstance(adjacency, BrainGraph):
        weights, what = adjacency.weights, f"The graph of '{adjacency.subject}'"
    else:
        what = "The adjacency matrix"
        weights = check_connectivity(adjacency, what=what)
        if np.diag(weights).any():
            region = int(np.flatnonzero(np.diag(weights))[0]) + 1
            raise InputError(f"{what} connects region {region} to itself; set the diagonal to zero.")
    if weights.min() < 0:
        row, column = np.unravel_index(weights.argmin(), weights.shape)
        raise InputError(
            f"{what} has a negative weight ({weights[row, column]:.4g} between regions {row + 1} and {column + 1}). "
            "Hubs are measured on nonnegative weights: keep the positive ones or take absolute values first."
        )
    return weights
