from .baselines import BASELINES, Baseline
from .calibration import calibrated, fit_temperature
from .ensemble import Ensemble, SubjectExplanation
from .group_results import GroupResults, load_groups
from .installed import InstalledModel, installed_model, installed_models
from .presets import PRESETS, Preset, preset_named
from .pretrained import load_card, load_pretrained, pretrained_names
from .transformer import AttentionMap, BioBGT, Explanation

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
    "calibrated",
    "fit_temperature",
    "installed_model",
    "installed_models",
    "load_card",
    "load_groups",
    "load_pretrained",
    "preset_named",
    "pretrained_names",
]
