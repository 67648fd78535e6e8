from .attention import AttentionComparison, compare_attention
from .compare import GroupComparison, compare_groups
from .design import Covariates, covariates_of

__all__ = [
    "AttentionComparison",
    "Covariates",
    "GroupComparison",
    "compare_attention",
    "compare_groups",
    "covariates_of",
]
