"""Modules by the Louvain method on bctpy, and one partition out of many."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import bct
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.data.graph import BrainGraph, Graph, check_seed, graph_weights
from biobgt.modules.measures import ModuleOptions
from biobgt.modules.partition import (
    UNASSIGNED,
    Labels,
    Partition,
    canonical_labels,
    check_count,
    module_agreement,
    module_labels,
    mutual_information,
    pairwise_mutual_information,
)

# Modules of one graph: the Louvain method on bctpy, for positive and signed weights.
#
# For a graph without negative weights Q = Σᵢⱼ (wᵢⱼ − γ kᵢkⱼ/2m) δ(mᵢ, mⱼ) / 2m (Newman 2006, with the resolution γ of
# Reichardt & Bornholdt 2006). Negative weights count against a module with the asymmetric weighting of Rubinov &
# Sporns (2011), Q* = Q⁺ − s⁻/(s⁺ + s⁻) Q⁻, bctpy's ``negative_asym``. Louvain is greedy and its result depends on the
# seed: several runs, :func:`resolution_sweep` and :mod:`biobgt.modules.louvain` show by how much.


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
    partitions, qualities = _louvain_runs(weights, resolution=resolution, seed=seed, runs=runs)
    best = int(np.argmax(qualities))
    return Partition(
        labels=partitions[best],
        q=float(qualities[best]),
        resolution=resolution,
        seed=seed,
        signed=bool((weights < 0).any()),
    )


def _louvain_runs(
    weights: FloatArray, *, resolution: float, seed: int, runs: int
) -> tuple[NDArray[np.int64], FloatArray]:
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
    objective = _modularity_matrix(weights[np.ix_(connected, connected)], resolution=resolution)
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
    return _quality(_modularity_matrix(weights, resolution=resolution), numbers)


def _modularity_matrix(weights: FloatArray, *, resolution: float) -> FloatArray:
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
    weights: FloatArray, resolution: float, runs: int, seed: int
) -> tuple[NDArray[np.int64], dict[str, float]]:
    """Labels of the best run, and what is said of all runs."""
    labels, qualities = _louvain_runs(weights, resolution=resolution, seed=seed, runs=runs)
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


def _above_expected(weights: FloatArray, resolution: float) -> FloatArray:
    strength = weights.sum(axis=0)
    return weights - resolution * np.outer(strength, strength) / strength.sum()


def _quality(objective: FloatArray, labels: NDArray[np.int64]) -> float:
    same = labels[:, None] == labels[None, :]
    alone = labels == UNASSIGNED
    same[alone] = False
    same[alone, alone] = True
    return float(objective[same].sum())


def _check_resolution(resolution: float) -> None:
    if not np.isfinite(resolution) or resolution <= 0:
        raise InputError(f"The resolution is {resolution}; it must be above 0.")


# One partition out of many: of repeated Louvain runs on a subject, or of a group's subjects.
#
# The agreement of two regions is the share of partitions that put them in the same module. Agreement no better than
# chance is dropped, the rest is partitioned many times, and this repeats until all partitions are one (Lancichinetti &
# Fortunato 2012). This is ``bct.consensus_und`` with two repairs: that function never returns when the partitions do
# not become one, and fails when no agreement is left.


_RECLUSTERINGS = 20  # partitions of the agreement in each round
_MOST_ROUNDS = 50


@dataclass(frozen=True, eq=False)
class ConsensusPartition(Partition):
    """A partition that many partitions agree on.

    ``q`` is the modularity of the consensus on the graph it came from, or the mean over the group's graphs;
    NaN when only partitions were given.

    Attributes
    ----------
    agreement : ndarray, shape (n_regions, n_regions)
        Share of the partitions in which two regions are in the same module; zero diagonal. Read-only.
    threshold : float
        Agreement below this was dropped.
    n_partitions : int
    similarity : float
        Mean adjusted mutual information of the partitions with the consensus, over the regions both assign.
    converged : bool
        False when the rounds ended without one partition; the one of the highest Q was then taken.
    """

    agreement: FloatArray
    threshold: float
    n_partitions: int
    similarity: float
    converged: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        self.agreement.setflags(write=False)


def consensus_modules(
    graph: Graph,
    *,
    resolution: float = ModuleOptions.resolution,
    runs: int = ModuleOptions.runs,
    seed: int = 0,
    threshold: float | None = None,
) -> ConsensusPartition:
    """Modules of one graph that many Louvain runs agree on.

    Parameters
    ----------
    graph : BrainGraph or ndarray, shape (n_regions, n_regions)
    resolution : float
    runs : int
        At least 2.
    seed : int
    threshold : float, optional
        See :func:`combine_partitions`.

    Returns
    -------
    ConsensusPartition
    """
    weights = graph_weights(graph)
    check_count("runs", runs, least=2)
    labels, _ = _louvain_runs(weights, resolution=resolution, seed=seed, runs=runs)
    found = _combine(labels, threshold, seed)
    signed = bool((weights < 0).any())
    q = modularity(weights, found.labels, resolution=resolution)
    return found.as_partition(q=q, resolution=resolution, seed=seed, signed=signed)


def combine_partitions(
    partitions: Sequence[Labels], *, threshold: float | None = None, seed: int = 0
) -> ConsensusPartition:
    """Consensus of partitions of the same regions.

    Parameters
    ----------
    partitions : sequence of Partition or of labels, length n_regions
        At least 2.
    threshold : float, optional
        Agreement below this share of the partitions is dropped. None: the agreement expected if every
        partition kept its module sizes and was otherwise shuffled.
    seed : int

    Returns
    -------
    ConsensusPartition
        Its ``q`` and ``resolution`` are NaN, for no graph was given. A region that more than half of the partitions
        leave in no module is in no module. A region that agrees with no other above the threshold is a
        module of its own.
    """
    check_count("partitions", len(partitions), least=2)
    found = _combine(_stacked(partitions), threshold, seed)
    signed = any(isinstance(partition, Partition) and partition.signed for partition in partitions)
    return found.as_partition(q=float("nan"), resolution=float("nan"), seed=seed, signed=signed)


@dataclass(frozen=True, eq=False)
class _Consensus:
    labels: NDArray[np.int64]
    agreement: FloatArray
    threshold: float
    n_partitions: int
    similarity: float
    converged: bool

    def as_partition(self, *, q: float, resolution: float, seed: int, signed: bool) -> ConsensusPartition:
        return ConsensusPartition(q=q, resolution=resolution, seed=seed, signed=signed, **vars(self))


def _combine(labels: NDArray[np.int64], threshold: float | None, seed: int) -> _Consensus:
    """Consensus of labels of shape (n_partitions, n_regions)."""
    if threshold is not None and not 0 <= threshold <= 1:
        raise InputError(f"The agreement threshold is {threshold}; it is a share between 0 and 1.")
    agreement = _agreement(labels)
    least = _chance(labels) if threshold is None else threshold
    assigned = np.flatnonzero((labels != UNASSIGNED).mean(axis=0) >= 0.5)
    consensus = np.full(labels.shape[1], UNASSIGNED, dtype=np.int64)
    converged = True
    if len(assigned):
        consensus[assigned], converged = _recluster(agreement[np.ix_(assigned, assigned)], least, seed)
    return _Consensus(
        labels=canonical_labels(consensus),
        agreement=agreement,
        threshold=least,
        n_partitions=len(labels),
        similarity=_mean_similarity(labels, consensus),
        converged=converged,
    )


def _recluster(agreement: FloatArray, least: float, seed: int) -> tuple[NDArray[np.int64], bool]:
    for round_ in range(_MOST_ROUNDS):
        kept = np.where(agreement >= least, agreement, 0)
        labels, qualities = _louvain_runs(kept, resolution=1.0, seed=(seed + round_) % 2**32, runs=_RECLUSTERINGS)
        labels = np.stack([_singletons_numbered(run) for run in labels])
        if (labels == labels[0]).all():
            return labels[0], True
        agreement = _agreement(labels)
    return labels[int(np.argmax(qualities))], False


def _singletons_numbered(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Make a region without any agreement above the threshold a module of its own."""
    labels = labels.copy()
    alone = np.flatnonzero(labels == UNASSIGNED)
    labels[alone] = labels.max() + 1 + np.arange(len(alone))
    return labels


def _agreement(labels: NDArray[np.int64]) -> FloatArray:
    n_regions = labels.shape[1]
    together = np.zeros((n_regions, n_regions))
    for run in labels:
        together += (run[:, None] == run[None, :]) & (run != UNASSIGNED)
    np.fill_diagonal(together, 0)
    return together / len(labels)


def _chance(labels: NDArray[np.int64]) -> float:
    """Expected agreement of two regions if every partition kept its module sizes and was otherwise shuffled.

    For module sizes n_m of N regions it is the mean over partitions of Σ_m n_m(n_m − 1) / N(N − 1), the mean of the
    permutation null of Bassett et al. (2013) without drawing it.
    """
    n_regions = labels.shape[1]
    sizes = [np.bincount(run)[1:] for run in labels]
    together = [float((size * (size - 1.0)).sum()) for size in sizes]
    return float(np.mean(together)) / max(1, n_regions * (n_regions - 1))


def _mean_similarity(labels: NDArray[np.int64], consensus: NDArray[np.int64]) -> float:
    distinct, counts = np.unique(labels, axis=0, return_counts=True)
    similar = np.array([mutual_information(run, consensus) for run in distinct])
    compared = np.isfinite(similar)
    return float(np.average(similar[compared], weights=counts[compared])) if compared.any() else float("nan")


def _stacked(partitions: Sequence[Labels]) -> NDArray[np.int64]:
    stack = [module_labels(partition) for partition in partitions]
    sizes = sorted({len(labels) for labels in stack})
    if len(sizes) > 1:
        raise InputError(f"Partitions of {' and '.join(map(str, sizes))} regions cannot be combined.")
    return np.stack([canonical_labels(labels) for labels in stack])
