from .covariates import Covariates, covariates_of
from .design import StudyDesign, study_design
from .edges import EdgeEffects, EdgeOptions, edge_effects
from .effects import TermEffects, effects_of
from .formula import variables_of

__all__ = [
    "Covariates",
    "EdgeEffects",
    "EdgeOptions",
    "StudyDesign",
    "TermEffects",
    "covariates_of",
    "edge_effects",
    "effects_of",
    "study_design",
    "variables_of",
]
