"""The hub table: every hub measure of every region, ranked, standardised and marked by a rule.

One row per region, ready for the app's tables and for export. The table says in its ``attrs`` how it was made.
"""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.atlas import Atlas
from biobgt.errors import InputError
from biobgt.graph import BrainGraph
from biobgt.hubs.agreement import number_of_hubs
from biobgt.hubs.cost import STEPS_ABOVE
from biobgt.hubs.hub_options import DEFAULT_GAMMA, DEFAULT_SHARE, GAMMAS, HubOptions, HubRule
from biobgt.hubs.measures import HUB_MEASURES, MeasuresWithoutGamma, Values, measures_over_gamma
from biobgt.hubs.perturbation import DEFAULT_PERTURBATION, Perturbation
from biobgt.hubs.perturbed_graphs import PerturbedGraphs, perturbed_graphs
from biobgt.hubs.resolvents import time_windows
from biobgt.hubs.weights import full_connectivity
from biobgt.ranks import ranks

# Diffusion times that are measured together, or a measure that does not depend on them.
HubStep = tuple[float, ...] | str


@dataclass(frozen=True, eq=False)
class SubjectHubs:
    """Everything about one subject's hubs that does not depend on γ.

    Attributes
    ----------
    regions : DataFrame
        One row per region: name, coordinates, side and labels as far as known.
    spectra : Spectra or Resolvents
    measures : mapping of str to ndarray, shape (n_regions,)
        Every measure of :data:`biobgt.hubs.HUB_MEASURES` that does not depend on γ; may be computed when asked for.
    has_signal : ndarray of bool, shape (n_regions,)
        Regions with any connectivity; correlations over regions leave the others out.
    """

    regions: pd.DataFrame
    spectra: PerturbedGraphs
    measures: Mapping[str, Values]
    has_signal: NDArray[np.bool_]

    def entanglement(self, gammas: float | Sequence[float]) -> NDArray[np.float64]:
        """Node entanglement in bits, shape (n_gammas, n_regions), with γ in units of 1/mean(λ)."""
        return np.abs(self.spectra.entropy_change(gammas))

    def values(self, gamma: float, measures: Collection[str] | None = None) -> dict[str, Values]:
        """Every measure at one γ, in units of 1/mean(λ), in the order of the register; shape (n_regions,) each.

        Parameters
        ----------
        gamma : float
        measures : collection of str, optional
            Only these; by default all.
        """
        asked = [key for key in HUB_MEASURES if measures is None or key in measures]
        perturbed = any(HUB_MEASURES[key].depends_on_gamma for key in asked)
        at_gamma = measures_over_gamma(self.spectra.entropy_change(gamma)) if perturbed else {}
        found: dict[str, Values] = {}
        for key in asked:
            if key in at_gamma:
                found[key] = at_gamma[key][0]
            elif key in self.measures:
                found[key] = self.measures[key]
        return found

    def steps(self, gammas: Sequence[float]) -> list[HubStep]:
        """All that there is to measure, step by step: diffusion times γ that go together, then measures.

        Parameters
        ----------
        gammas : sequence of float
            That will be asked for, in units of 1/mean(λ).
        """
        times = np.array(gammas, dtype=np.float64)
        return [*(tuple(times[chosen].tolist()) for chosen, _ in time_windows(times)), *self.measures]

    def has(self, step: HubStep) -> bool:
        """Whether a step was taken."""
        if not isinstance(step, str):
            return self.spectra.knows(step)
        return not isinstance(self.measures, MeasuresWithoutGamma) or step in self.measures.known

    def measure(self, step: HubStep) -> None:
        """Take a step; what was measured is remembered."""
        if isinstance(step, str):
            _ = self.measures[step]
        else:
            self.spectra.entropy_change(step)

    def table(self, options: HubOptions | None = None, measures: Collection[str] | None = None) -> pd.DataFrame:
        """The table of :func:`hub_table`.

        Parameters
        ----------
        options : HubOptions, optional
        measures : collection of str, optional
            Only these have columns; by default all.
        """
        options = options or HubOptions()
        n_hubs = number_of_hubs(len(self.regions), options.share)
        columns: dict[str, Any] = {str(name): column for name, column in self.regions.items()}
        for key, values in self.values(options.gamma, measures).items():
            columns |= rank_regions(key, values, rule=options.rule, n_hubs=n_hubs)
        return pd.DataFrame(columns, index=self.regions.index)


def measure_hubs(
    graph: BrainGraph, connectivity: NDArray[np.float64] | None, *, perturbation: Perturbation = DEFAULT_PERTURBATION
) -> SubjectHubs:
    """Measure one subject's hubs, for any γ; beyond :data:`biobgt.hubs.cost.STEPS_ABOVE` regions one γ at a time.

    Parameters
    ----------
    graph : BrainGraph
        Of nonnegative weights.
    connectivity : ndarray, shape (n_regions, n_regions), or None
        The full matrix behind the graph, for FC strength as the paper has it; None takes what the graph knows of it,
        or else its own weights.
    perturbation : {"control", "remove"}
    """
    full = full_connectivity(graph, connectivity)
    gammas = GAMMAS if graph.n_regions <= STEPS_ABOVE else DEFAULT_GAMMA
    spectra = perturbed_graphs(graph, gammas, perturbation=perturbation)
    has_signal = np.asarray((full - np.diag(np.diag(full))).any(axis=1))
    return SubjectHubs(graph.atlas.table(), spectra, MeasuresWithoutGamma(graph, full), has_signal)


def hub_table(
    graph: BrainGraph,
    atlas: Atlas | None = None,
    *,
    connectivity: NDArray[np.float64] | None = None,
    gamma: float = DEFAULT_GAMMA,
    absolute_gamma: float | None = None,
    perturbation: Perturbation = DEFAULT_PERTURBATION,
    rule: HubRule = HubOptions.rule,
    share: float = DEFAULT_SHARE,
) -> pd.DataFrame:
    """Measure, rank and mark the hubs of one graph.

    Parameters
    ----------
    graph : BrainGraph
        Of nonnegative weights.
    atlas : Atlas, optional
        Names, coordinates and labels to show; the graph's own by default.
    connectivity : ndarray, shape (n, n), optional
        The full matrix behind the graph, for FC strength as the paper has it; by default the one that the graph was
        made of. For a graph that was brought as it is, FC strength is the mean of its own weights, and
        ``attrs["fc_strength"]`` says so.
    gamma : float
        Diffusion time of node entanglement, in units of 1/mean(λ).
    absolute_gamma : float, optional
        The same as an absolute number, in place of ``gamma``.
    perturbation : {"control", "remove"}
        See :func:`biobgt.hubs.node_entanglement`.
    rule : {"top", "sd"}
        Hubs are the top ``share`` of the regions, or those above the mean by more than one SD.
    share : float

    Returns
    -------
    DataFrame
        One row per region: ``region``, coordinates, side and labels as far as known; then, for each measure of
        :data:`biobgt.hubs.HUB_MEASURES`, its value, ``_rank`` (1 is the strongest hub), ``_z`` (higher is more
        hub-like, also for vertex entanglement, whose sign is turned) and ``_hub``. Under ``top`` regions that tie
        across the cut are not hubs, so that the order of the regions decides nothing.

    Examples
    --------
    A star of five regions has one hub, its centre.

    >>> from biobgt.connectome import graph_from_connectivity
    >>> connectivity = np.eye(5)
    >>> connectivity[0, 1:] = connectivity[1:, 0] = 0.5
    >>> table = hub_table(graph_from_connectivity(connectivity), share=0.2)
    >>> table["node_efficiency_hub"].tolist()
    [True, False, False, False, False]
    """
    atlas = atlas or graph.atlas
    if atlas.n_regions != graph.n_regions:
        raise InputError(f"The graph has {graph.n_regions} regions and atlas {atlas.name} has {atlas.n_regions}.")
    HubOptions(gamma, perturbation, rule, share)  # says what is wrong with them before anything takes long
    hubs = measure_hubs(graph, connectivity, perturbation=perturbation)
    unit = hubs.spectra.gamma_unit
    options = HubOptions(gamma if absolute_gamma is None else absolute_gamma / unit, perturbation, rule, share)
    table = SubjectHubs(atlas.table(), hubs.spectra, hubs.measures, hubs.has_signal).table(options)
    table.attrs = _how_made(graph, options, unit, connectivity is not None or graph.connectivity is not None)
    return table


def rank_regions(key: str, values: Values, *, rule: HubRule, n_hubs: int) -> dict[str, NDArray[Any]]:
    """Value, rank, z-score and verdict of one measure in every region: its four columns of the hub table.

    Parameters
    ----------
    key : str
        Of the measure.
    values : ndarray, shape (n_regions,)
    rule : {"top", "sd"}
    n_hubs : int
        Of the rule ``top``.
    """
    importance = np.asarray(-values if HUB_MEASURES[key].low_in_hubs else values, dtype=np.float64)
    z, varies = _z_scores(importance)
    hub = (ranks(-importance, ties="max") <= n_hubs) & varies if rule == "top" else z > 1
    from_top = ranks(-importance, ties="min").astype(int)
    return {key: values, f"{key}_rank": from_top, f"{key}_z": z, f"{key}_hub": hub}


def _z_scores(importance: Values) -> tuple[Values, bool]:
    """Z-scores over regions, and whether they differ at all."""
    spread = importance.std(ddof=1) if len(importance) > 1 else 0.0
    # Rounding alone spreads equal values a little; what is below it is no difference.
    varies = bool(spread > 1e-12 * np.abs(importance).max(initial=0))
    return ((importance - importance.mean()) / spread if varies else importance * 0), varies


def _how_made(graph: BrainGraph, options: HubOptions, unit: float, full: bool) -> dict[Hashable, Any]:
    return {
        "subject": graph.subject,
        "gamma": options.gamma,
        "absolute_gamma": float(options.gamma * unit),
        "perturbation": options.perturbation,
        "rule": options.hubs_are,
        "fc_strength": "full connectivity" if full else "weights of the graph",
        "simulated": graph.simulated,
    }
