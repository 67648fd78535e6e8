"""Small-worldness: clustered as a lattice, yet with the short paths of a random graph.

σ = (C/C_rand) / (L/L_rand) (Humphries & Gurney 2008) and ω = L_rand/L − C/C_latt (Telesford et al. 2011), with the
mean clustering coefficient C (Onnela et al. 2005, from bctpy) and the characteristic path length L over connection
lengths 1/w. σ above 1, or ω near 0, is called small-world; ω near −1 is a lattice, near 1 a random graph.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import bct
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

from biobgt.errors import InputError
from biobgt.graph import Graph, nonnegative_weights
from biobgt.modules.module_options import SmallWorldOptions
from biobgt.modules.partition import check_count
from biobgt.nulls import lattice_graph, random_graph

_MOST_LATTICES = 3


@dataclass(frozen=True)
class SmallWorld:
    """Clustering and path length of a graph's largest component, against null graphs.

    Weights are divided by the largest one first, so that nothing here depends on their unit.

    Attributes
    ----------
    clustering : float
        Mean clustering coefficient C.
    path_length : float
        Mean shortest path length L over all pairs.
    sigma, omega : float
        NaN where a ratio has no meaning: no connection, or no triangle in the null graphs.
    random_clustering, random_path_length, lattice_clustering : float
        Means over the null graphs. Where a random graph falls apart, L is over the pairs that stay connected.
    n_regions : int
        Regions in the largest component, to which all of this applies (the first one of equals).
    n_left_out : int
        Regions outside it; 0 for a connected graph.
    weighted : bool
    n_nulls : int
    seed : int
    """

    clustering: float
    path_length: float
    sigma: float
    omega: float
    random_clustering: float
    random_path_length: float
    lattice_clustering: float
    n_regions: int
    n_left_out: int
    weighted: bool
    n_nulls: int
    seed: int


def small_world(
    graph: Graph, *, n_nulls: int = SmallWorldOptions.null_graphs, seed: int = 0, weighted: bool = True
) -> SmallWorld:
    """Measure small-worldness.

    A graph in pieces has infinite path lengths, so its largest component is measured and the number of regions
    left out is in the result.

    Parameters
    ----------
    graph : BrainGraph or ndarray, shape (n_regions, n_regions)
        Without negative weights.
    n_nulls : int
        Random graphs, and as many lattices (lattices vary little: at most 3 are made).
    seed : int
        Null graph i (from 0) is drawn with ``seed + i``.
    weighted : bool
        False takes every connection as 1.

    Returns
    -------
    SmallWorld
    """
    weights = nonnegative_weights(graph, what="Small-worldness")
    check_count("null graphs", n_nulls, least=1)
    component = _largest_component(weights)
    inside = _in_units_of_the_largest(weights[np.ix_(component, component)], weighted=weighted)
    clustering, length = mean_clustering(inside), characteristic_path_length(inside)
    seeds = range(seed, seed + n_nulls) if inside.any() else range(0)  # nothing to draw without connections
    randoms = [random_graph(inside, seed=one) for one in seeds]
    lattices = [lattice_graph(inside, seed=one) for one in seeds[:_MOST_LATTICES]]
    random_clustering = _mean([mean_clustering(null) for null in randoms])
    random_length = _mean([characteristic_path_length(null) for null in randoms])
    lattice_clustering = _mean([mean_clustering(null) for null in lattices])
    return SmallWorld(
        clustering=clustering,
        path_length=length,
        sigma=_ratio(_ratio(clustering, random_clustering), _ratio(length, random_length)),
        omega=_ratio(random_length, length) - _ratio(clustering, lattice_clustering),
        random_clustering=random_clustering,
        random_path_length=random_length,
        lattice_clustering=lattice_clustering,
        n_regions=len(component),
        n_left_out=len(weights) - len(component),
        weighted=weighted,
        n_nulls=n_nulls,
        seed=seed,
    )


def pool_small_worlds(parts: Sequence[SmallWorld]) -> SmallWorld:
    """Pool small-worldness of the same graph against different null graphs.

    Parameters
    ----------
    parts : sequence of SmallWorld
        ``small_world(graph, n_nulls=1, seed=seed + i)`` for i from 0, in order.

    Returns
    -------
    SmallWorld
        Against the mean over all their null graphs. Up to three it is ``small_world(graph, n_nulls=len(parts))``;
        that function makes no more than three lattices, here there is one for each part.
    """
    if not parts:
        raise InputError("There is no test to pool.")
    first = parts[0]
    if any((part.clustering, part.path_length) != (first.clustering, first.path_length) for part in parts):
        raise InputError("Small-worldness of different graphs cannot be pooled.")
    clustering, length, lattice = (
        float(np.mean([getattr(part, name) for part in parts]))
        for name in ("random_clustering", "random_path_length", "lattice_clustering")
    )
    return replace(
        first,
        sigma=_ratio(_ratio(first.clustering, clustering), _ratio(first.path_length, length)),
        omega=_ratio(length, first.path_length) - _ratio(first.clustering, lattice),
        random_clustering=clustering,
        random_path_length=length,
        lattice_clustering=lattice,
        n_nulls=sum(part.n_nulls for part in parts),
    )


def mean_clustering(weights: NDArray[np.float64]) -> float:
    """Mean clustering coefficient (bctpy's ``clustering_coef_wu``; a region in no triangle counts as 0)."""
    return float(np.mean(bct.clustering_coef_wu(weights)))


def characteristic_path_length(weights: NDArray[np.float64]) -> float:
    """Mean shortest path length over pairs that are connected, with lengths 1/w.

    ``bct.distance_wei`` gives the same distances a hundred times slower.

    Parameters
    ----------
    weights : ndarray, shape (n_regions, n_regions)
        Without negative weights.

    Returns
    -------
    float
        NaN when no pair is connected.
    """
    lengths = np.divide(1, weights, out=np.zeros_like(weights), where=weights > 0)
    distances = shortest_path(csr_array(lengths), directed=False)
    reached = distances[np.isfinite(distances) & ~np.eye(len(weights), dtype=bool)]
    return float(reached.mean()) if len(reached) else float("nan")


def _largest_component(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    _, component = connected_components(csr_array(weights), directed=False)
    return np.flatnonzero(component == np.bincount(component).argmax())


def _in_units_of_the_largest(weights: NDArray[np.float64], *, weighted: bool) -> NDArray[np.float64]:
    if not weighted:
        return (weights > 0).astype(np.float64)
    return weights / weights.max() if weights.any() else weights


def _ratio(above: float, below: float) -> float:
    return above / below if below > 0 else float("nan")


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")
