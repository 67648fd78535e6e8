from .agreement import AGREEMENT_MEASURES, rank_agreement
from .centrality import betweenness, closeness, degree, eigenvector, fc_strength
from .efficiency import local_efficiency, node_efficiency
from .entanglement import entanglement_sweep, node_entanglement
from .entropy import mean_field_entropy, spectral_entropy
from .hub_options import GAMMAS, HubOptions, HubRule
from .measures import HUB_MEASURES, HubMeasure
from .perturbation import PERTURBATIONS, Perturbation
from .plausibility_summary import summarise_plausibility
from .spectra import Spectra, control_spectra, gamma_unit
from .table import SubjectHubs, hub_table, measure_hubs
from .vertex import default_betas, vertex_entanglement

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
    "closeness",
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
    "measure_hubs",
    "node_efficiency",
    "node_entanglement",
    "rank_agreement",
    "spectral_entropy",
    "summarise_plausibility",
    "vertex_entanglement",
]
