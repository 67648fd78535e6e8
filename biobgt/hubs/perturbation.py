"""Perturbing one region of a graph: what changes in the Laplacian.

``control`` is the i-control graph of Huang et al. (2024), the paper's source: the closed neighbourhood of i
becomes a clique of the same total weight. ``remove`` takes i's edges away and leaves it as an isolated node,
so that the graph keeps its n nodes and gains a zero eigenvalue.
"""

from collections.abc import Iterator, Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Perturbation = Literal["control", "remove"]

PERTURBATIONS: Mapping[str, str] = {
    "control": "the closed neighbourhood becomes a clique of the same total weight",
    "remove": "the region loses its connections",
}


def laplacian_changes(
    weights: NDArray[np.float64], perturbation: Perturbation
) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.float64]]]:
    """Yield region, closed neighbourhood and what the perturbation adds to the Laplacian there.

    Regions that the perturbation leaves as they are (isolated; under ``control`` also those with a single
    neighbour, whose neighbourhood is a clique already) are passed over.

    Parameters
    ----------
    weights : ndarray, shape (n, n)
    perturbation : {"control", "remove"}

    Yields
    ------
    region : int
    members : ndarray, shape (k + 1,)
    change : ndarray, shape (k + 1, k + 1)
    """
    fewest = 2 if perturbation == "control" else 1
    connected = weights > 0
    np.fill_diagonal(connected, True)
    for i, row in enumerate(connected):
        members = np.flatnonzero(row)
        if len(members) <= fewest:
            continue
        if perturbation == "control":
            yield i, members, _to_clique(weights[np.ix_(members, members)])
        else:
            yield i, members, _without_star(weights[i, members], int(np.searchsorted(members, i)))


def _to_clique(inside: NDArray[np.float64]) -> NDArray[np.float64]:
    """Laplacian of the clique of the same total weight, minus the one of the neighbourhood."""
    size = len(inside)
    strengths = inside.sum(axis=1)
    # With k neighbours and total weight W every pair gets 2W / (k(k+1)); the strengths count W twice.
    pair = strengths.sum() / (size * (size - 1))
    change = inside - pair
    np.fill_diagonal(change, (size - 1) * pair - strengths)
    return change


def _without_star(spokes: NDArray[np.float64], centre: int) -> NDArray[np.float64]:
    """Minus the Laplacian of the star of a region's edges."""
    change = np.diag(-spokes)
    change[centre] = change[:, centre] = spokes
    change[centre, centre] = -spokes.sum()
    return change
