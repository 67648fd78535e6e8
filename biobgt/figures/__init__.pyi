from .attention_blocks import AttentionBlocks
from .attention_contrast import AttentionContrast
from .attention_difference import AttentionDifference
from .attention_maps import AttentionMaps
from .attention_received import AttentionReceived
from .brain import BrainDrawing, brain_caption
from .connectivity import connectivity_distribution, connectivity_heatmap, connectivity_shades, series_carpet
from .hub_brains import five_brains, hub_brain
from .hubs import CurveScale, gamma_sweep, hub_curves, hub_scatter
from .models import model_results, noise_response, reliability, roc, subject_probability
from .module_brains import GroupModuleBrain, ModuleBrain
from .module_chance import ModularityAgainstChance
from .module_flow import GroupModuleFlow, ModuleFlow
from .module_sweep import ResolutionSweep
from .modules import module_colours, module_heatmap
from .region_order import RegionOrder, only_regions, order_by_value, order_regions, random_regions
from .role_map import RoleMap
from .small_worldness import SmallWorldness
from .subject_attention import SubjectAttention

__all__ = [
    "AttentionBlocks",
    "AttentionContrast",
    "AttentionDifference",
    "AttentionMaps",
    "AttentionReceived",
    "BrainDrawing",
    "CurveScale",
    "GroupModuleBrain",
    "GroupModuleFlow",
    "ModularityAgainstChance",
    "ModuleBrain",
    "ModuleFlow",
    "RegionOrder",
    "ResolutionSweep",
    "RoleMap",
    "SmallWorldness",
    "SubjectAttention",
    "brain_caption",
    "connectivity_distribution",
    "connectivity_heatmap",
    "connectivity_shades",
    "five_brains",
    "gamma_sweep",
    "hub_brain",
    "hub_curves",
    "hub_scatter",
    "model_results",
    "module_colours",
    "module_heatmap",
    "noise_response",
    "only_regions",
    "order_by_value",
    "order_regions",
    "random_regions",
    "reliability",
    "roc",
    "series_carpet",
    "subject_probability",
]
