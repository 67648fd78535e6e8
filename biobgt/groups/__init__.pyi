from .compare import GroupComparison, compare_groups
from .design import Covariates, covariates_of
from .features import AttentionComparison, compare_attention

__all__ = [
    "AttentionComparison",
    "Covariates",
    "GroupComparison",
    "compare_attention",
    "compare_groups",
    "covariates_of",
]
