"""Group attention, module tables, and statistics between groups.

Arrays in, tables out: what the model's attention (or connectivity, or any measure a subject) is in each group, by
functional module, and whether two groups differ once motion, age, sex and site are accounted for.
"""

from biobgt.groups.attention import AttentionComparison, compare_attention
from biobgt.groups.comparison import GroupComparison, compare_groups
from biobgt.groups.covariates import Covariates, covariates_of
from biobgt.groups.module_means import GroupMean, ModuleBlocks, group_means, module_blocks, module_contrast

__all__ = [
    "AttentionComparison",
    "Covariates",
    "GroupComparison",
    "GroupMean",
    "ModuleBlocks",
    "compare_attention",
    "compare_groups",
    "covariates_of",
    "group_means",
    "module_blocks",
    "module_contrast",
]
