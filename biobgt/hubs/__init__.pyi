from . import classical, entanglement, evidence, measures, resolvents, table
from .classical import betweenness, closeness, degree, eigenvector, fc_strength, local_efficiency, node_efficiency
from .entanglement import (
    Spectra,
    control_spectra,
    default_betas,
    entanglement_sweep,
    gamma_unit,
    mean_field_entropy,
    node_entanglement,
    spectral_entropy,
    vertex_entanglement,
)
from .evidence import summarise_plausibility
from .measures import GAMMAS, HUB_MEASURES, PERTURBATIONS, HubMeasure, HubOptions, HubRule, Perturbation
from .table import AGREEMENT_MEASURES, SubjectHubs, hub_table, measure_hubs, rank_agreement

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
    "betweenness",
    "classical",
    "closeness",
    "control_spectra",
    "default_betas",
    "degree",
    "eigenvector",
    "entanglement",
    "entanglement_sweep",
    "evidence",
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
    "resolvents",
    "spectral_entropy",
    "summarise_plausibility",
    "table",
    "vertex_entanglement",
]
