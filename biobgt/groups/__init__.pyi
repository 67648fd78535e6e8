from .attention_tests import AttentionComparison, compare_attention
from .comparison import GroupComparison, compare_groups
from .covariates import Covariates, covariates_of

__all__ = [
    "AttentionComparison",
    "Covariates",
    "GroupComparison",
    "compare_attention",
    "compare_groups",
    "covariates_of",
]
