"""BioBGT, the biologically plausible brain graph transformer (ICLR 2025), and the simple models beside it.

Cards and group results are read without torch, which takes seconds to import; what needs it is imported when asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from biobgt.model.presets import PRESETS, Preset, preset_named
from biobgt.model.pretrained import GroupResults, load_card, load_groups, load_pretrained, pretrained_names

if TYPE_CHECKING:
    from biobgt.model.bound import AttentionBound, attention_bound
    from biobgt.model.classifier import BioBGTClassifier
    from biobgt.model.ensemble import Ensemble, SubjectExplanation
    from biobgt.model.transformer import AttentionMap, BioBGT, Explanation

_WITH_TORCH = {
    "AttentionBound": "bound",
    "attention_bound": "bound",
    "BioBGTClassifier": "classifier",
    "Ensemble": "ensemble",
    "SubjectExplanation": "ensemble",
    "AttentionMap": "transformer",
    "BioBGT": "transformer",
    "Explanation": "transformer",
}

__all__ = [
    "PRESETS",
    "AttentionBound",
    "AttentionMap",
    "BioBGT",
    "BioBGTClassifier",
    "Ensemble",
    "Explanation",
    "GroupResults",
    "Preset",
    "SubjectExplanation",
    "attention_bound",
    "load_card",
    "load_groups",
    "load_pretrained",
    "preset_named",
    "pretrained_names",
]


def __getattr__(name: str) -> object:
    if name in _WITH_TORCH:
        return getattr(import_module(f"biobgt.model.{_WITH_TORCH[name]}"), name)
    raise AttributeError(f"module 'biobgt.model' has no attribute '{name}'")
