"""Modules of one graph: the Louvain method on bctpy, for positive and signed weights.

For a graph without negative weights Q = Σᵢⱼ (wᵢⱼ − γ kᵢkⱼ/2m) δ(mᵢ, mⱼ) / 2m (Newman 2006, with the resolution
γ of Reichardt & Bornholdt 2006). Negative weights count against a module with the asymmetric weighting of
Rubinov & Sporns (2011), Q* = Q⁺ − s⁻/(s⁺ + s⁻) Q⁻, bctpy's ``negative_asym``. Louvain is greedy and its result
depends on the seed: several runs, :func:`resolution_sweep` and :mod:`biobgt.modules.consensus` show by how much.
"""

from collections.abc import Iterable

import bct
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.graph import BrainGraph, Graph, graph_weights
from biobgt.modules.label_agreement import module_agreement
from biobgt.modules.module_options import ModuleOptions
from biobgt.modules.mutual_information import pairwise_mutual_information
from biobgt.modules.partition import UNASSIGNED, Labels, Partition, canonical_labels, check_count, module_labels
from biobgt.nulls import check_seed


def louvain_modules(
    graph: Graph, *, resolution: float = ModuleOptions.resolution, seed: int = 0, runs: int = ModuleOptions.runs
) -> Partition:
    """Find the modules of a graph with the Louvain method.

    Parameters
    ----------
    graph : BrainGraph or ndarray, shape (n_regions, n_regions)
        Weights of either sign; negative ones count against a module.
    resolution : float
        Above 1 finds more and smaller modules, below 1 fewer and larger ones.
    seed : int
        The same seed gives the same modules.
    runs : int
        How often to run; the partition of the highest Q is kept, the first of equals.

    Returns
    -------
    Partition
        A region without connections is in no module (label 0). A graph without connections has no module and
        its Q is NaN.

    Examples
    --------
    Two triangles without a connection between them are two modules.

    >>> triangles = np.kron(np.eye(2), np.ones((3, 3))) - np.eye(6)
    >>> found = louvain_modules(triangles)
    >>> found.labels.tolist(), found.q
    ([1, 1, 1, 2, 2, 2], 0.5)
    """
    weights = graph_weights(graph)
    partitions, qualities = louvain_runs(weights, resolution=resolution, seed=seed, runs=runs)
    best = int(np.argmax(qualities))
    return Partition(
        labels=partitions[best],
        q=float(qualities[best]),
        resolution=resolution,
        seed=seed,
        signed=bool((weights < 0).any()),
    )


def louvain_runs(
    weights: NDArray[np.float64], *, resolution: float, seed: int, runs: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Run Louvain several times on checked weights.

    The runs draw from one random stream, so that the first of ten runs is the run of ``runs=1``.

    Parameters
    ----------
    weights : ndarray, shape (n_regions, n_regions)
        Symmetric with a zero diagonal, of either sign.
    resolution : float
        Above 1 finds more and smaller modules.
    seed : int
    runs : int

    Returns
    -------
    labels : ndarray of int, shape (runs, n_regions)
        Canonical labels of each run.
    q : ndarray, shape (runs,)
    """
    _check_resolution(resolution)
    check_count("runs", runs, least=1)
    check_seed(seed)
    labels = np.full((runs, len(weights)), UNASSIGNED, dtype=np.int64)
    connected = np.flatnonzero(weights.any(axis=0))
    if len(connected) == 0:
        return labels, np.full(runs, np.nan)
    objective = modularity_matrix(weights[np.ix_(connected, connected)], resolution=resolution)
    # bctpy reads a matrix only from a list (an array fails in its comparison with names of objectives). Of its
    # first argument it then takes nothing but the sum, which must be 1 so that its first Q has the scale of the
    # later ones: with its own 'negative_asym' a sum near zero or below ends the search early, or at once.
    unit = np.full(objective.shape, 1 / objective.size)
    scaled = (objective / np.abs(objective).max()).tolist()
    stream = np.random.RandomState(seed)
    for run in labels:
        found, _ = bct.community_louvain(unit, B=scaled, seed=stream)
        run[connected] = canonical_labels(found)
    return labels, np.array([_quality(objective, run[connected]) for run in labels])


def modularity(graph: Graph, labels: Labels, *, resolution: float = ModuleOptions.resolution) -> float:
    """Modularity Q of any partition of a graph, as :func:`louvain_modules` maximises it.

    Parameters
    ----------
    graph : BrainGraph or ndarray, shape (n_regions, n_regions)
    labels : Partition or sequence of int, length n_regions
        A region labelled 0 shares a module with nobody.
    resolution : float

    Returns
    -------
    float
        NaN for a graph without connections.
    """
    weights = graph_weights(graph)
    _check_resolution(resolution)
    numbers = module_labels(labels, len(weights))
    return _quality(modularity_matrix(weights, resolution=resolution), numbers)


def modularity_matrix(weights: NDArray[np.float64], *, resolution: float) -> NDArray[np.float64]:
    """The matrix B whose sum over the pairs within modules is Q.

    Parameters
    ----------
    weights : ndarray, shape (n_regions, n_regions)
        Symmetric with a zero diagonal.
    resolution : float

    Returns
    -------
    ndarray, shape (n_regions, n_regions)
        NaN everywhere for a graph without connections.
    """
    total = np.abs(weights).sum()
    if total == 0:
        return np.full(weights.shape, np.nan)
    positive, negative = np.maximum(weights, 0), np.maximum(-weights, 0)
    matrix = np.zeros(weights.shape)
    if positive.any():
        matrix += _above_expected(positive, resolution) / positive.sum()
    if negative.any():
        matrix -= _above_expected(negative, resolution) / total
    return matrix


def resolution_sweep(
    graph: Graph, resolutions: Iterable[float], *, runs: int = ModuleOptions.runs, seed: int = 0
) -> pd.DataFrame:
    """How modules change with the resolution, and where they are stable.

    Parameters
    ----------
    graph : BrainGraph or ndarray, shape (n_regions, n_regions)
    resolutions : iterable of float
    runs : int
        Louvain runs at each resolution, at least 2.
    seed : int

    Returns
    -------
    DataFrame
        A row per resolution: ``resolution``; ``n_modules``, ``n_singletons`` (modules of one region) and ``q`` of the
        best run, which is ``louvain_modules(graph, resolution=..., runs=runs, seed=seed)``; ``mean_n_modules`` over
        the runs; ``stability``, the mean adjusted mutual information of all pairs of runs (1 when all agree).
    """
    weights = graph_weights(graph)
    check_count("runs", runs, least=2)
    return pd.DataFrame([_sweep_row(weights, float(value), runs, seed)[1] for value in resolutions])


def resolution_step(graph: BrainGraph, resolution: float, *, runs: int, seed: int) -> dict[str, float]:
    """One resolution of a sweep, with the agreement with an atlas's labels, so that a sweep can be taken in steps.

    Parameters
    ----------
    graph : BrainGraph
    resolution : float
    runs : int
        At least 2.
    seed : int

    Returns
    -------
    dict of str to float
        ``resolution``, ``n_modules``, ``q`` and ``stability`` as in :func:`resolution_sweep`, and
        ``ami <labelling>``, the agreement of the best run's modules with each labelling of the atlas.
    """
    check_count("runs", runs, least=2)
    best, row = _sweep_row(graph.weights, float(resolution), runs, seed)
    kept = {name: row[name] for name in ("resolution", "n_modules", "q", "stability")}
    return kept | {f"ami {name}": module_agreement(best, graph.atlas, name).ami for name in graph.atlas.labels}


def stability(labels: NDArray[np.int64]) -> float:
    """Mean adjusted mutual information of all pairs of partitions.

    Regions in no module (0 in each partition alike) are left out.

    Parameters
    ----------
    labels : ndarray of int, shape (n_partitions, n_regions)
        Canonical labels.

    Returns
    -------
    float
        NaN when no region is in a module.
    """
    labels = labels[:, labels.any(axis=0)]
    if labels.shape[1] == 0:
        return float("nan")
    # Louvain often finds the same partition again: each distinct pair is compared once and weighted.
    distinct, counts = np.unique(labels, axis=0, return_counts=True)
    similar = pairwise_mutual_information(distinct)
    return float(counts @ similar @ counts - len(labels)) / (len(labels) * (len(labels) - 1))


def _sweep_row(
    weights: NDArray[np.float64], resolution: float, runs: int, seed: int
) -> tuple[NDArray[np.int64], dict[str, float]]:
    """Labels of the best run, and what is said of all runs."""
    labels, qualities = louvain_runs(weights, resolution=resolution, seed=seed, runs=runs)
    best = int(np.argmax(qualities))
    sizes = np.bincount(labels[best])[1:]
    return labels[best], {
        "resolution": resolution,
        "n_modules": len(sizes),
        "n_singletons": int((sizes == 1).sum()),
        "mean_n_modules": float(labels.max(axis=1).mean()),
        "q": float(qualities[best]),
        "stability": stability(labels),
    }


def _above_expected(weights: NDArray[np.float64], resolution: float) -> NDArray[np.float64]:
    strength = weights.sum(axis=0)
    return weights - resolution * np.outer(strength, strength) / strength.sum()


def _quality(objective: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    same = labels[:, None] == labels[None, :]
    alone = labels == UNASSIGNED
    same[alone] = False
    same[alone, alone] = True
    return float(objective[same].sum())


def _check_resolution(resolution: float) -> None:
    if not np.isfinite(resolution) or resolution <= 0:
        raise InputError(f"The resolution is {resolution}; it must be above 0.")
