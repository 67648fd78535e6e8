"""One partition out of many: of repeated Louvain runs on a subject, or of a group's subjects.

The agreement of two regions is the share of partitions that put them in the same module. Agreement no better
than chance is dropped, the rest is partitioned many times, and this repeats until all partitions are one
(Lancichinetti & Fortunato 2012). This is ``bct.consensus_und`` with two repairs: that function never returns
when the partitions do not become one, and fails when no agreement is left.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.graph import Graph, graph_weights
from biobgt.modules.louvain import louvain_runs, modularity
from biobgt.modules.module_options import ModuleOptions
from biobgt.modules.mutual_information import mutual_information
from biobgt.modules.partition import UNASSIGNED, Labels, Partition, canonical_labels, check_count, module_labels

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

    agreement: NDArray[np.float64]
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
    labels, _ = louvain_runs(weights, resolution=resolution, seed=seed, runs=runs)
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
    agreement: NDArray[np.float64]
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


def _recluster(agreement: NDArray[np.float64], least: float, seed: int) -> tuple[NDArray[np.int64], bool]:
    for round_ in range(_MOST_ROUNDS):
        kept = np.where(agreement >= least, agreement, 0)
        labels, qualities = louvain_runs(kept, resolution=1.0, seed=(seed + round_) % 2**32, runs=_RECLUSTERINGS)
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


def _agreement(labels: NDArray[np.int64]) -> NDArray[np.float64]:
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
