"""Modules by the Louvain method on bctpy, for positive and signed weights, and one partition out of many.

For a graph without negative weights Q = Σᵢⱼ (wᵢⱼ − γ kᵢkⱼ/2m) δ(mᵢ, mⱼ) / 2m (Newman 2006, with the resolution γ of
Reichardt & Bornholdt 2006). Negative weights count against a module with the asymmetric weighting of Rubinov &
Sporns (2011), Q* = Q⁺ − s⁻/(s⁺ + s⁻) Q⁻, bctpy's ``negative_asym``. Louvain is greedy and its result depends on the
seed: several runs, :func:`resolution_sweep` and :func:`consensus_modules` show by how much.

A consensus is of repeated runs on a subject, or of a group's subjects. The agreement of two regions is the share of
partitions that put them in the same module. Agreement no better than chance is dropped, the rest is partitioned many
times, and this repeats until all partitions are one (Lancichinetti & Fortunato 2012). This is ``bct.consensus_und``
with two repairs: that function never returns when the partitions do not become one, and fails when no agreement is
left.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

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
    pairwise_mutual_information,
)

_RECLUSTERINGS = 20  # partitions of the agreement in each round of a consensus
_MOST_ROUNDS = 50


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
    numbers = module_labels(labels, len(weights))
    return _quality(_modularity_matrix(weights, resolution), numbers)


def _modularity_matrix(weights: FloatArray, resolution: float) -> FloatArray:
    """The matrix B whose sum over the pairs within modules is Q; NaN everywhere for a graph without connections."""
    if not np.isfinite(resolution) or resolution <= 0:
        raise InputError(f"The resolution is {resolution}; it must be above 0.")
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


def _above_expected(weights: FloatArray, resolution: float) -> FloatArray:
    strength = weights.sum(axis=0)
    return weights - resolution * np.outer(strength, strength) / strength.sum()


def _quality(objective: FloatArray, labels: NDArray[np.int64]) -> float:
    same = labels[:, None] == labels[None, :]
    alone = labels == UNASSIGNED
    same[alone] = False
    same[alone, alone] = True
    return float(objective[same].sum())


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
    labels, qualities = _louvain_runs(weights, resolution=resolution, seed=seed, runs=runs)
    best = int(np.argmax(qualities))
    return Partition(
        labels=labels[best],
        q=float(qualities[best]),
        resolution=resolution,
        seed=seed,
        signed=bool((weights < 0).any()),
    )


def _louvain_runs(
    weights: FloatArray, *, resolution: float, seed: int, runs: int, least: int = 1
) -> tuple[NDArray[np.int64], FloatArray]:
    """Canonical labels, shape (runs, n_regions), and Q, shape (runs,), of several runs on checked weights.

    The runs draw from one random stream, so that the first of ten runs is the run of ``runs=1``.
    """
    check_count("runs", runs, least=least)
    check_seed(seed)
    labels = np.full((runs, len(weights)), UNASSIGNED, dtype=np.int64)
    connected = np.flatnonzero(weights.any(axis=0))
    objective = _modularity_matrix(weights[np.ix_(connected, connected)], resolution)
    if len(connected) == 0:
        return labels, np.full(runs, np.nan)
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
        A row per resolution, see :func:`resolution_step`.
    """
    return pd.DataFrame([resolution_step(graph, float(value), runs=runs, seed=seed) for value in resolutions])


def resolution_step(graph: Graph, resolution: float, *, runs: int, seed: int) -> dict[str, float]:
    """One resolution of a sweep, so that a sweep can be taken in steps.

    Parameters
    ----------
    graph : BrainGraph or ndarray, shape (n_regions, n_regions)
    resolution : float
    runs : int
        At least 2.
    seed : int

    Returns
    -------
    dict of str to float
        ``resolution``; ``n_modules`` and ``q`` of the best run, which is ``louvain_modules(graph, resolution=...,
        runs=runs, seed=seed)``; ``stability``, the mean adjusted mutual information of all pairs of runs (1 when all
        agree, NaN when no region is in a module). Of a BrainGraph, also ``ami <labelling>``, the agreement of the best
        run's modules with each labelling of the atlas.
    """
    labels, qualities = _louvain_runs(graph_weights(graph), resolution=resolution, seed=seed, runs=runs, least=2)
    best = int(np.argmax(qualities))
    row = {
        "resolution": resolution,
        "n_modules": int(labels[best].max()),
        "q": float(qualities[best]),
        "stability": _stability(labels),
    }
    if isinstance(graph, BrainGraph):
        row |= {f"ami {name}": module_agreement(labels[best], graph.atlas, name).ami for name in graph.atlas.labels}
    return row


def _stability(labels: NDArray[np.int64]) -> float:
    """Mean adjusted mutual information of all pairs of partitions, without regions that are in no module."""
    labels = labels[:, labels.any(axis=0)]
    if labels.shape[1] == 0:
        return float("nan")
    # Louvain often finds the same partition again: each distinct pair is compared once and weighted.
    distinct, counts = np.unique(labels, axis=0, return_counts=True)
    similar = pairwise_mutual_information(distinct)
    return float(counts @ similar @ counts - len(labels)) / (len(labels) * (len(labels) - 1))


@dataclass(frozen=True, eq=False)
class ConsensusPartition(Partition):
    """A partition that many partitions agree on.

    ``q`` is the modularity of the consensus on the graph it came from; NaN when only partitions were given.

    Attributes
    ----------
    agreement : ndarray, shape (n_regions, n_regions)
        Share of the partitions in which two regions are in the same module; zero diagonal. Read-only.
    threshold : float
        Agreement below this was dropped.
    converged : bool
        False when the rounds ended without one partition; the one of the highest Q was then taken.
    """

    agreement: FloatArray
    threshold: float
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
    labels, _ = _louvain_runs(weights, resolution=resolution, seed=seed, runs=runs, least=2)
    found = _combine(labels, threshold, seed, signed=bool((weights < 0).any()))
    return replace(found, q=modularity(weights, found, resolution=resolution), resolution=resolution)


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
    stack = [module_labels(partition) for partition in partitions]
    sizes = sorted({len(labels) for labels in stack})
    if len(sizes) > 1:
        raise InputError(f"Partitions of {' and '.join(map(str, sizes))} regions cannot be combined.")
    signed = any(isinstance(partition, Partition) and partition.signed for partition in partitions)
    return _combine(np.stack([canonical_labels(labels) for labels in stack]), threshold, seed, signed=signed)


def _combine(labels: NDArray[np.int64], threshold: float | None, seed: int, *, signed: bool) -> ConsensusPartition:
    """Consensus of canonical labels of shape (n_partitions, n_regions)."""
    if threshold is not None and not 0 <= threshold <= 1:
        raise InputError(f"The agreement threshold is {threshold}; it is a share between 0 and 1.")
    agreement = _agreement(labels)
    least = _chance_agreement(labels) if threshold is None else threshold
    assigned = np.flatnonzero((labels != UNASSIGNED).mean(axis=0) >= 0.5)
    consensus = np.full(labels.shape[1], UNASSIGNED, dtype=np.int64)
    converged = True
    if len(assigned):
        consensus[assigned], converged = _recluster(agreement[np.ix_(assigned, assigned)], least, seed)
    return ConsensusPartition(
        labels=canonical_labels(consensus),
        q=float("nan"),
        resolution=float("nan"),
        seed=seed,
        signed=signed,
        agreement=agreement,
        threshold=least,
        converged=converged,
    )


def _recluster(agreement: FloatArray, least: float, seed: int) -> tuple[NDArray[np.int64], bool]:
    """Partition the agreement of at least ``least`` until all runs are one, and whether they became it."""
    for round_ in range(_MOST_ROUNDS):
        kept = np.where(agreement >= least, agreement, 0)
        labels, qualities = _louvain_runs(kept, resolution=1.0, seed=(seed + round_) % 2**32, runs=_RECLUSTERINGS)
        for run in labels:  # a region without any agreement is a module of its own
            alone = np.flatnonzero(run == UNASSIGNED)
            run[alone] = run.max() + 1 + np.arange(len(alone))
        if (labels == labels[0]).all():
            return labels[0], True
        agreement = _agreement(labels)
    return labels[int(np.argmax(qualities))], False


def _agreement(labels: NDArray[np.int64]) -> FloatArray:
    n_regions = labels.shape[1]
    together = np.zeros((n_regions, n_regions))
    for run in labels:
        together += (run[:, None] == run[None, :]) & (run != UNASSIGNED)
    np.fill_diagonal(together, 0)
    return together / len(labels)


def _chance_agreement(labels: NDArray[np.int64]) -> float:
    """Expected agreement of two regions if every partition kept its module sizes and was otherwise shuffled.

    For module sizes n_m of N regions it is the mean over partitions of Σ_m n_m(n_m − 1) / N(N − 1), the mean of the
    permutation null of Bassett et al. (2013) without drawing it.
    """
    n_regions = labels.shape[1]
    sizes = [np.bincount(run)[1:] for run in labels]
    together = [float((size * (size - 1.0)).sum()) for size in sizes]
    return float(np.mean(together)) / max(1, n_regions * (n_regions - 1))
