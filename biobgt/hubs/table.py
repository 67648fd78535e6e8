"""The hub table: every hub measure of every region, ranked, standardised and marked by a rule.

One row a region, ready for the app's tables and for export. The table says in its ``attrs`` how it was made.
"""

from collections.abc import Mapping
from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.atlas import Atlas
from biobgt.errors import InputError
from biobgt.graph import BrainGraph, check_choice
from biobgt.hubs.agreement import number_of_hubs
from biobgt.hubs.centrality import betweenness, closeness, degree, eigenvector, fc_strength
from biobgt.hubs.efficiency import local_efficiency, node_efficiency
from biobgt.hubs.perturbation import Perturbation
from biobgt.hubs.spectra import control_spectra
from biobgt.hubs.vertex import vertex_entanglement
from biobgt.hubs.weights import full_connectivity

HubRule = Literal["top", "sd"]

HUB_RULES: Mapping[str, str] = {"top": "the highest share of regions", "sd": "above the mean + 1 SD"}
HUB_METRICS: Mapping[str, str] = {
    "node_entanglement": "node entanglement",
    "vertex_entanglement": "vertex entanglement",
    "node_efficiency": "node efficiency",
    "local_efficiency": "local efficiency",
    "fc_strength": "FC strength",
    "degree": "degree",
    "betweenness": "betweenness",
    "closeness": "closeness",
    "eigenvector": "eigenvector centrality",
}
# Key players have the most negative vertex entanglement; all other measures are high in a hub.
LOW_IN_HUBS = frozenset({"vertex_entanglement"})


def hub_table(
    graph: BrainGraph,
    atlas: Atlas | None = None,
    *,
    connectivity: NDArray[np.float64] | None = None,
    gamma: float | None = None,
    perturbation: Perturbation = "control",
    rule: HubRule = "top",
    share: float = 0.1,
) -> pd.DataFrame:
    """Measure, rank and mark the hubs of one graph.

    Parameters
    ----------
    graph : BrainGraph
        Of nonnegative weights.
    atlas : Atlas, optional
        Names, coordinates and labels to show; the graph's own by default.
    connectivity : ndarray, shape (n, n), optional
        The full matrix behind the graph, for FC strength as the paper has it. Without it FC strength is the mean
        of the graph's own weights, and ``attrs["fc_strength"]`` says so.
    gamma, perturbation
        For node entanglement: see :func:`biobgt.hubs.node_entanglement`.
    rule : {"top", "sd"}
        Hubs are the top ``share`` of the regions, or those above the mean by more than one SD.
    share : float

    Returns
    -------
    DataFrame
        One row a region: ``region``, coordinates, side and labels as far as known; then, for each measure of
        :data:`HUB_METRICS`, its value, ``_rank`` (1 is the strongest hub), ``_z`` (higher is more hub-like, also
        for vertex entanglement, whose sign is turned) and ``_hub``. Under ``top`` regions that tie across the
        cut are not hubs, so that the order of the regions decides nothing.
    """
    atlas = atlas or graph.atlas
    if atlas.n_regions != graph.n_regions:
        raise InputError(f"The graph has {graph.n_regions} regions and atlas {atlas.name} has {atlas.n_regions}.")
    check_choice("rule for hubs", rule, get_args(HubRule))
    n_hubs = number_of_hubs(graph.n_regions, share)
    spectra = control_spectra(graph, perturbation=perturbation)
    gamma = spectra.default_gamma if gamma is None else gamma
    entanglement = np.abs(spectra.entropy_change(gamma)[0])
    values = {"node_entanglement": entanglement, **lasting_measures(graph, connectivity)}
    table = judged_table(atlas.table(), values, rule=rule, n_hubs=n_hubs)
    table.attrs = {
        "subject": graph.subject,
        "gamma": float(gamma),
        "gamma_in_units": float(gamma / spectra.gamma_unit),
        "perturbation": perturbation,
        "rule": f"top {share:.0%}" if rule == "top" else "mean + 1 SD",
        "fc_strength": "full connectivity" if connectivity is not None else "weights of the graph",
        "simulated": graph.simulated,
    }
    return table


def lasting_measures(
    graph: BrainGraph, connectivity: NDArray[np.float64] | None
) -> dict[str, NDArray[np.float64] | NDArray[np.int64]]:
    """Compute every measure of :data:`HUB_METRICS` that does not depend on γ."""
    return {
        "vertex_entanglement": vertex_entanglement(graph),
        "node_efficiency": node_efficiency(graph),
        "local_efficiency": local_efficiency(graph),
        "fc_strength": fc_strength(full_connectivity(graph, connectivity)),
        "degree": degree(graph),
        "betweenness": betweenness(graph),
        "closeness": closeness(graph),
        "eigenvector": eigenvector(graph),
    }


def judged_table(
    regions: pd.DataFrame,
    measures: Mapping[str, NDArray[np.float64] | NDArray[np.int64]],
    *,
    rule: HubRule,
    n_hubs: int,
) -> pd.DataFrame:
    """Set values, ranks, z and verdicts beside the regions; the columns of :func:`hub_table`."""
    columns = [_judged(name, values, rule, n_hubs) for name, values in measures.items()]
    return pd.concat([regions, *(part.set_index(regions.index) for part in columns)], axis=1)


def _judged(name: str, values: NDArray[np.float64] | NDArray[np.int64], rule: HubRule, n_hubs: int) -> pd.DataFrame:
    """Value, rank, z and verdict of one measure."""
    importance = pd.Series(-values if name in LOW_IN_HUBS else values, dtype=float)
    spread = importance.std()
    # Rounding alone spreads equal values a little; what is below it is no difference.
    varies = spread > 1e-12 * importance.abs().max()
    z = (importance - importance.mean()) / spread if varies else importance * 0
    within_top = importance.rank(ascending=False, method="max") <= n_hubs
    hub = (within_top & varies) if rule == "top" else z > 1
    return pd.DataFrame(
        {
            name: values,
            f"{name}_rank": importance.rank(ascending=False, method="min").astype(int),
            f"{name}_z": z,
            f"{name}_hub": hub,
        }
    )
