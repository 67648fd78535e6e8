from .compare import GroupComparison, compare_groups
from .design import Covariates, covariates_of
from .edges import EdgeEffects, EdgeOptions, edge_effects
from .effects import TermEffects, effects_of
from .features import AttentionComparison, compare_attention
from .formula import variables_of
from .study import StudyDesign, study_design

__all__ = [
    "AttentionComparison",
    "Covariates",
    "EdgeEffects",
    "EdgeOptions",
    "GroupComparison",
    "StudyDesign",
    "TermEffects",
    "compare_attention",
    "compare_groups",
    "covariates_of",
    "edge_effects",
    "effects_of",
    "study_design",
    "variables_of",
]
