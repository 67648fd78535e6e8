"""One subject's hubs, measured once and then read at any diffusion time γ.

The spectra behind node entanglement (Definition 1, Eq. 5) and the other hub measures do not depend on γ, so a slider
of γ costs next to nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.graph import BrainGraph
from biobgt.hubs.agreement import number_of_hubs, spearman
from biobgt.hubs.entropy import check_gammas
from biobgt.hubs.perturbation import Perturbation
from biobgt.hubs.rank_correlation import RankCorrelation, rank_correlation
from biobgt.hubs.spectra import Spectra, control_spectra
from biobgt.hubs.table import HubRule, judged_table, lasting_measures
from biobgt.hubs.weights import full_connectivity

# What node entanglement is compared with: columns of the hub table, and their names in the studies.
REFERENCES: Mapping[str, str] = {"node_efficiency": "node efficiency", "fc_strength": "FC strength"}


@dataclass(frozen=True, eq=False)
class SubjectHubs:
    """Everything about one subject's hubs that does not depend on γ.

    Attributes
    ----------
    regions : DataFrame
        One row a region: name, coordinates, side and labels as far as known.
    spectra : Spectra
    measures : mapping of str to ndarray, shape (n_regions,)
        Every measure of :data:`biobgt.hubs.HUB_METRICS` but node entanglement.
    has_signal : ndarray of bool, shape (n_regions,)
        Regions with any connectivity; correlations over regions leave the others out.
    """

    regions: pd.DataFrame
    spectra: Spectra
    measures: Mapping[str, NDArray[np.float64] | NDArray[np.int64]]
    has_signal: NDArray[np.bool_]

    def entanglement(self, gammas: float | Sequence[float]) -> NDArray[np.float64]:
        """Node entanglement in bits, shape (n_gammas, n_regions), with γ in units of 1/mean(λ)."""
        units = check_gammas(np.asarray(gammas, dtype=np.float64))
        return np.abs(self.spectra.entropy_change(units * self.spectra.gamma_unit))

    def table(self, gamma: float, *, rule: HubRule = "top", share: float = 0.1) -> pd.DataFrame:
        """The table of :func:`biobgt.hubs.hub_table`, with γ in units of 1/mean(λ)."""
        n_hubs = number_of_hubs(len(self.regions), share)
        values = {"node_entanglement": self.entanglement(gamma)[0], **self.measures}
        return judged_table(self.regions, values, rule=rule, n_hubs=n_hubs)


def measure_hubs(
    graph: BrainGraph, connectivity: NDArray[np.float64], *, perturbation: Perturbation = "control"
) -> SubjectHubs:
    """Measure one subject's hubs, for any γ.

    Parameters
    ----------
    graph : BrainGraph
        Of nonnegative weights.
    connectivity : ndarray, shape (n_regions, n_regions)
        The full matrix behind the graph, for FC strength as the paper has it.
    perturbation : {"control", "remove"}
    """
    full = full_connectivity(graph, connectivity)
    spectra = control_spectra(graph, perturbation=perturbation)
    measures = lasting_measures(graph, full)
    has_signal = np.asarray((full - np.diag(np.diag(full))).any(axis=1))
    return SubjectHubs(graph.atlas.table(), spectra, measures, has_signal)


def subject_sweep(hubs: SubjectHubs, gammas: Sequence[float]) -> pd.DataFrame:
    """Correlate node entanglement with node efficiency and with FC strength over γ.

    Parameters
    ----------
    hubs : SubjectHubs
    gammas : sequence of float
        In units of 1/mean(λ).

    Returns
    -------
    DataFrame
        One row for each reference and γ: ``reference``, ``gamma``, ``spearman`` (NaN where either is constant).
    """
    values = hubs.entanglement(gammas)[:, hubs.has_signal]
    frames = []
    for column, reference in REFERENCES.items():
        known = np.asarray(hubs.measures[column], dtype=np.float64)[hubs.has_signal]
        rho = spearman(values, known) if len(known) > 1 else np.full(len(values), np.nan)
        frames.append(pd.DataFrame({"reference": reference, "gamma": np.asarray(gammas, float), "spearman": rho}))
    return pd.concat(frames, ignore_index=True)


def hub_correlations(hubs: SubjectHubs, gamma: float) -> dict[str, RankCorrelation]:
    """Correlate node entanglement at one γ with each of :data:`REFERENCES`, over the regions with signal."""
    values = hubs.entanglement(gamma)[0][hubs.has_signal]
    return {
        column: rank_correlation(values, np.asarray(hubs.measures[column], dtype=np.float64)[hubs.has_signal])
        for column in REFERENCES
    }
