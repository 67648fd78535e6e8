"""One subject's verdict: whether its node entanglement agrees with node efficiency beyond strength and degree.

The subject's graph and its null graphs, in which every region keeps its degree and closely its strength, are treated
alike: Spearman's ρ of NE with NEff, the same given strength and degree, and ρ of NE with FC strength over the
connections of that graph. One null graph at a time, so that the work can show how far it is and be stopped.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.graph import Graph
from biobgt.hubs.agreement import spearman
from biobgt.hubs.efficiency import node_efficiency
from biobgt.hubs.partial_agreement import partial_spearman, strength_and_degree
from biobgt.hubs.perturbation import DEFAULT_PERTURBATION, Perturbation
from biobgt.hubs.perturbed_graphs import PerturbedGraphs, perturbed_graphs
from biobgt.hubs.weights import hub_weights
from biobgt.nulls import random_graph

Values = NDArray[np.float64]
COMPARISONS: Mapping[str, str] = {
    "efficiency": "NE with NEff",
    "partial": "NE with NEff, given strength and degree",
    "strength": "NE with FC strength over the graph's connections",
}


@dataclass(frozen=True, eq=False)
class GraphAgreement:
    """Agreement of node entanglement in one graph, over diffusion times.

    Attributes
    ----------
    gammas : tuple of float
        In units of 1/mean(λ).
    rhos : mapping of str to ndarray, shape (n_gammas,)
        By the names of :data:`COMPARISONS`; NaN where nothing varies.
    """

    gammas: tuple[float, ...]
    rhos: Mapping[str, Values]

    def at(self, gamma: float) -> dict[str, float]:
        """Every comparison at one γ of the grid."""
        if gamma not in self.gammas:
            raise InputError(f"Agreement was not measured at γ = {gamma:g}; it was at {len(self.gammas)} others.")
        place = self.gammas.index(gamma)
        return {name: float(values[place]) for name, values in self.rhos.items()}


@dataclass(frozen=True)
class AgainstNulls:
    """One correlation beside that of null graphs.

    Attributes
    ----------
    rho : float
    null_low, null_high, null_mean : float
        Lowest, highest and mean ρ over the null graphs.
    p : float
        Two-sided: twice the share of graphs, the own one counted in, that lie at least as far on the same side.
    n_nulls : int
    """

    rho: float
    null_low: float
    null_high: float
    null_mean: float
    p: float
    n_nulls: int


def graph_agreement(
    graph: Graph,
    gammas: Sequence[float],
    *,
    has_signal: NDArray[np.bool_] | None = None,
    perturbation: Perturbation = DEFAULT_PERTURBATION,
    spectra: PerturbedGraphs | None = None,
) -> GraphAgreement:
    """Measure how node entanglement agrees in one graph, own or null.

    Parameters
    ----------
    graph : BrainGraph or ndarray, shape (n, n)
        Of nonnegative weights.
    gammas : sequence of float
        In units of 1/mean(λ).
    has_signal : ndarray of bool, shape (n,), optional
        Regions to compare; all by default.
    perturbation : {"control", "remove"}
    spectra : Spectra or Resolvents, optional
        Of this graph, where they are known.
    """
    weights = hub_weights(graph)
    signal = np.ones(len(weights), dtype=bool) if has_signal is None else has_signal
    spectra = spectra or perturbed_graphs(weights, gammas, perturbation=perturbation)
    entanglement = np.abs(spectra.entropy_change(gammas))[:, signal]
    held = strength_and_degree(weights)[:, signal]
    efficiency = node_efficiency(weights)[signal]
    if signal.sum() < 2:
        nothing = np.full(len(entanglement), np.nan)
        return GraphAgreement(tuple(gammas), dict.fromkeys(COMPARISONS, nothing))
    rhos = {
        "efficiency": spearman(entanglement, efficiency),
        "partial": partial_spearman(entanglement, efficiency, held),
        "strength": spearman(entanglement, held[0]),
    }
    return GraphAgreement(tuple(gammas), rhos)


def null_agreement(
    graph: Graph,
    gammas: Sequence[float],
    *,
    seed: int,
    has_signal: NDArray[np.bool_] | None = None,
    perturbation: Perturbation = DEFAULT_PERTURBATION,
) -> GraphAgreement:
    """Measure the same in one null graph that keeps every region's degree and, closely, its strength.

    Parameters
    ----------
    graph : BrainGraph or ndarray, shape (n_regions, n_regions)
        The subject's own graph, whose degrees and strengths are kept.
    gammas : sequence of float
        In units of 1/mean(λ).
    seed : int
        Each seed gives another null graph.
    has_signal : ndarray of bool, shape (n_regions,), optional
        Regions to compare; all by default.
    perturbation : {"control", "remove"}
    """
    null = random_graph(hub_weights(graph), seed=seed, keep_strengths=True)
    return graph_agreement(null, gammas, has_signal=has_signal, perturbation=perturbation)


def set_against_nulls(own: GraphAgreement, nulls: Sequence[GraphAgreement], gamma: float) -> dict[str, AgainstNulls]:
    """Set a subject's agreement at one γ beside that of its null graphs, by the names of :data:`COMPARISONS`.

    Null graphs in which a correlation is not defined are left out of it.

    Parameters
    ----------
    own : GraphAgreement
        Of the subject's graph.
    nulls : sequence of GraphAgreement
        Of its null graphs, at the same γ.
    gamma : float
        One of ``own.gammas``.
    """
    at_gamma = [null.at(gamma) for null in nulls]
    found = {}
    for name, rho in own.at(gamma).items():
        known = np.array([null[name] for null in at_gamma if not np.isnan(null[name])])
        found[name] = _against(rho, known)
    return found


def _against(rho: float, nulls: Values) -> AgainstNulls:
    if np.isnan(rho) or not len(nulls):
        return AgainstNulls(rho, np.nan, np.nan, np.nan, np.nan, len(nulls))
    as_high, as_low = (nulls >= rho - 1e-12).sum(), (nulls <= rho + 1e-12).sum()
    p = min(1.0, 2 * (1 + min(as_high, as_low)) / (1 + len(nulls)))
    return AgainstNulls(rho, float(nulls.min()), float(nulls.max()), float(nulls.mean()), float(p), len(nulls))
