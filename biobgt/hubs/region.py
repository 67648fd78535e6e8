"""Why this region? What node entanglement sees of one region: its surroundings, the spectra, the entropies over γ.

NE(i) = |S(G_i) − S(G)| (Definition 1) compares the graph G with G_i, in which the surroundings of region i are
perturbed. An explanation holds both sides of that comparison, so that it can be drawn and told in words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.data.graph import BrainGraph
from biobgt.hubs.classical import hub_weights
from biobgt.hubs.entanglement import check_gammas
from biobgt.hubs.measures import GAMMAS, HUB_MEASURES, HubOptions, Perturbation
from biobgt.hubs.resolvents import changed_regions, laplacian_change
from biobgt.hubs.table import SubjectHubs


@dataclass(frozen=True, eq=False)
class _Neighbourhood:
    """A region and its neighbours, before and after the perturbation of the region.

    Attributes
    ----------
    members : tuple of int
        Regions counted from 0: the region itself, then its neighbours, the most strongly connected first.
    before, after : ndarray, shape (k + 1, k + 1)
        Weights among the members.
    """

    members: tuple[int, ...]
    before: FloatArray
    after: FloatArray

    @property
    def n_neighbours(self) -> int:
        """Number of regions that the region is connected with."""
        return len(self.members) - 1

    @property
    def n_pairs(self) -> int:
        """Number of pairs of members."""
        return len(self.members) * (len(self.members) - 1) // 2

    @property
    def n_connected(self) -> int:
        """Number of pairs of members that are connected before."""
        return int(np.count_nonzero(np.triu(self.before)))

    @property
    def unchanged(self) -> bool:
        """Whether the perturbation changes nothing here."""
        return bool((np.abs(self.after - self.before) < 1e-12).all())

    @property
    def total_weight(self) -> float:
        """Total weight among the members before."""
        return float(np.triu(self.before).sum())


@dataclass(frozen=True)
class _Standing:
    """Where a region stands on one hub measure: its value, its rank (1 is the strongest hub), whether it is a hub."""

    value: float
    rank: int
    hub: bool


@dataclass(frozen=True, eq=False)
class RegionExplanation:
    """Everything that node entanglement compares for one region.

    Attributes
    ----------
    region : int
        Counted from 0.
    name : str
    n_regions : int
    perturbation : {"control", "remove"}
    neighbourhood : Neighbourhood
    spectrum_before, spectrum_after : ndarray, shape (n_regions,)
        Laplacian eigenvalues, ascending.
    gammas : ndarray, shape (n_gammas,)
        In units of 1/mean(λ).
    entropy_before, entropy_after : ndarray, shape (n_gammas,)
        S(G) and S(G_i), in bits.
    typical_change : ndarray, shape (n_gammas,)
        Median of |ΔS| over all regions, to compare with.
    gamma : float
        The chosen one, in units of 1/mean(λ).
    chosen_entropies : (float, float)
        S(G) and S(G_i) at the chosen γ.
    standings : mapping of str to Standing
        By the measures of :data:`biobgt.hubs.HUB_MEASURES`, at the chosen γ.
    """

    region: int
    name: str
    n_regions: int
    perturbation: Perturbation
    neighbourhood: _Neighbourhood
    spectrum_before: FloatArray
    spectrum_after: FloatArray
    gammas: FloatArray
    entropy_before: FloatArray
    entropy_after: FloatArray
    typical_change: FloatArray
    gamma: float
    chosen_entropies: tuple[float, float]
    standings: Mapping[str, _Standing]

    @property
    def change(self) -> FloatArray:
        """|ΔS| over γ, in bits, shape (n_gammas,)."""
        return np.abs(self.entropy_after - self.entropy_before)

    @property
    def n_changed(self) -> int:
        """Number of eigenvalues that the perturbation moves by more than a millionth of the largest."""
        moved = np.abs(self.spectrum_after - self.spectrum_before)
        return int(np.count_nonzero(moved > 1e-6 * max(self.spectrum_before.max(), np.finfo(float).tiny)))


def explain_region(
    graph: BrainGraph,
    hubs: SubjectHubs,
    region: int,
    *,
    options: HubOptions | None = None,
    gammas: Sequence[float] = GAMMAS,
) -> RegionExplanation:
    """Put together what node entanglement compares for one region.

    Parameters
    ----------
    graph : BrainGraph
        The one that ``hubs`` was measured on.
    hubs : SubjectHubs
    region : int
        Counted from 0.
    options : HubOptions, optional
        The chosen γ, and which regions count as hubs.
    gammas : sequence of float
        For the entropy curves, in units of 1/mean(λ).
    """
    spectra, options = hubs.spectra, options or HubOptions()
    times = check_gammas(np.asarray(gammas, dtype=np.float64))
    with_chosen = np.append(times, options.gamma)
    neighbourhood = _region_neighbourhood(hub_weights(graph), region, spectra.perturbation)
    change = spectra.entropy_change(with_chosen)
    before = spectra.entropy(with_chosen)
    after = before + change[:, region]
    row = hubs.table(options).iloc[region]
    return RegionExplanation(
        region=region,
        name=graph.atlas.regions[region],
        n_regions=graph.n_regions,
        perturbation=spectra.perturbation,
        neighbourhood=neighbourhood,
        spectrum_before=spectra.original,
        spectrum_after=spectra.spectrum_after(region),
        gammas=times,
        entropy_before=before[:-1],
        entropy_after=after[:-1],
        typical_change=np.median(np.abs(change[:-1]), axis=1),
        gamma=float(options.gamma),
        chosen_entropies=(float(before[-1]), float(after[-1])),
        standings={
            measure: _Standing(float(row[measure]), int(row[f"{measure}_rank"]), bool(row[f"{measure}_hub"]))
            for measure in HUB_MEASURES
        },
    )


def _region_neighbourhood(weights: FloatArray, region: int, perturbation: Perturbation) -> _Neighbourhood:
    """Cut out a region's closed neighbourhood, before and after the perturbation of the region."""
    if not 0 <= region < len(weights):
        raise InputError(f"There is no region {region}; the graph has regions 0 to {len(weights) - 1}.")
    after = weights.copy()
    if region in changed_regions(weights, perturbation):
        touched, change = laplacian_change(weights, region, perturbation)
        # A Laplacian has minus the weights off its diagonal.
        after[np.ix_(touched, touched)] -= change - np.diag(np.diag(change))
    neighbours = np.flatnonzero(weights[region])
    by_strength = neighbours[np.argsort(-weights[region, neighbours], kind="stable")]
    members = (region, *by_strength.tolist())
    inside = np.ix_(members, members)
    # Rounding may leave dust where a weight went away.
    clean = np.where(np.abs(after[inside]) < 1e-12, 0.0, after[inside])
    return _Neighbourhood(members, weights[inside], clean)
