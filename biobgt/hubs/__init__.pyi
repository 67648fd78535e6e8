from . import agreement, classical, entanglement, measures, region, reliability, resolvents, table
from .agreement import AGREEMENT_MEASURES, rank_agreement, summarise_plausibility
from .classical import betweenness, closeness, degree, eigenvector, fc_strength, local_efficiency, node_efficiency
from .entanglement import (
    Spectra,
    control_spectra,
    default_betas,
    gamma_unit,
    mean_field_entropy,
    node_entanglement,
    spectral_entropy,
    vertex_entanglement,
)
from .measures import GAMMAS, HUB_MEASURES, PERTURBATIONS, HubMeasure, HubOptions, HubRule, Perturbation
from .table import SubjectHubs, hub_table, measure_hubs

__all__ = [
    "AGREEMENT_MEASURES",
    "GAMMAS",
    "HUB_MEASURES",
    "PERTURBATIONS",
    "HubMeasure",
    "HubOptions",
    "HubRule",
    "Perturbation",
    "Spectra",
    "SubjectHubs",
    "agreement",
    "betweenness",
    "classical",
    "closeness",
    "control_spectra",
    "default_betas",
    "degree",
    "eigenvector",
    "entanglement",
    "fc_strength",
    "gamma_unit",
    "hub_table",
    "local_efficiency",
    "mean_field_entropy",
    "measure_hubs",
    "measures",
    "node_efficiency",
    "node_entanglement",
    "rank_agreement",
    "region",
    "reliability",
    "resolvents",
    "spectral_entropy",
    "summarise_plausibility",
    "table",
    "vertex_entanglement",
]
