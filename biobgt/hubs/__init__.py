"""Hubs: which regions matter most, by node entanglement and by the classical measures, and whether they agree."""

from biobgt.hubs.agreement import AGREEMENT_MEASURES, rank_agreement
from biobgt.hubs.centrality import betweenness, closeness, degree, eigenvector, fc_strength
from biobgt.hubs.efficiency import local_efficiency, node_efficiency
from biobgt.hubs.entanglement import entanglement_sweep, node_entanglement
from biobgt.hubs.entropy import mean_field_entropy, spectral_entropy
from biobgt.hubs.perturbation import PERTURBATIONS, Perturbation
from biobgt.hubs.plausibility import Plausibility, plausibility, subject_plausibility
from biobgt.hubs.plausibility_summary import compare_with_nulls, summarise_plausibility
from biobgt.hubs.spectra import Spectra, control_spectra, gamma_unit
from biobgt.hubs.table import HUB_METRICS, HUB_RULES, HubRule, hub_table
from biobgt.hubs.vertex import default_betas, vertex_entanglement

__all__ = [
    "AGREEMENT_MEASURES",
    "HUB_METRICS",
    "HUB_RULES",
    "PERTURBATIONS",
    "HubRule",
    "Perturbation",
    "Plausibility",
    "Spectra",
    "betweenness",
    "closeness",
    "compare_with_nulls",
    "control_spectra",
    "default_betas",
    "degree",
    "eigenvector",
    "entanglement_sweep",
    "fc_strength",
    "gamma_unit",
    "hub_table",
    "local_efficiency",
    "mean_field_entropy",
    "node_efficiency",
    "node_entanglement",
    "plausibility",
    "rank_agreement",
    "spectral_entropy",
    "subject_plausibility",
    "summarise_plausibility",
    "vertex_entanglement",
]
