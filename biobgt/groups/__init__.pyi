from .compare import GroupComparison, compare_groups
from .features import AttentionComparison, compare_attention

__all__ = ["AttentionComparison", "GroupComparison", "compare_attention", "compare_groups"]
