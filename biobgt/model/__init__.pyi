from .ensemble import Ensemble, SubjectExplanation
from .folder import load_card, load_pretrained, pretrained_names
from .group_results import GroupResults, load_groups
from .network import AttentionMap, BioBGT, Explanation
from .presets import PRESETS, Preset, preset_named
from .pretrained import InstalledModel, installed_model, installed_models
from .systems import BASELINES, Baseline

__all__ = [
    "BASELINES",
    "PRESETS",
    "AttentionMap",
    "Baseline",
    "BioBGT",
    "Ensemble",
    "Explanation",
    "GroupResults",
    "InstalledModel",
    "Preset",
    "SubjectExplanation",
    "installed_model",
    "installed_models",
    "load_card",
    "load_groups",
    "load_pretrained",
    "preset_named",
    "pretrained_names",
]
