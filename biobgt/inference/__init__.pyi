from .covariates import Covariates, covariates_of
from .design import StudyDesign, study_design
from .edges import EdgeEffects, EdgeOptions, edge_effects
from .effects import TermEffects, effects_of
from .formula import variables_of
from .harmonise import Combat, combat_of_saved, fit_combat, site_shares
from .maps import MapAgreement, MapOptions, map_agreement

__all__ = [
    "Combat",
    "Covariates",
    "EdgeEffects",
    "EdgeOptions",
    "MapAgreement",
    "MapOptions",
    "StudyDesign",
    "TermEffects",
    "combat_of_saved",
    "covariates_of",
    "edge_effects",
    "effects_of",
    "fit_combat",
    "map_agreement",
    "site_shares",
    "study_design",
    "variables_of",
]
