from .attention_tests import AttentionComparison, compare_attention
from .comparison import GroupComparison, compare_groups
from .covariates import Covariates, covariates_of
from .means import GroupMean, group_means

__all__ = [
    "AttentionComparison",
    "Covariates",
    "GroupComparison",
    "GroupMean",
    "compare_attention",
    "compare_groups",
    "covariates_of",
    "group_means",
]
