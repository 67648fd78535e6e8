from .attention.maps import attention_in_brain, attention_maps, attention_systems, subject_attention
from .attention.tested import (
    attention_blocks,
    attention_contrast,
    attention_difference,
    attention_likeness,
    attention_spread,
)
from .brain import Brain, in_brain
from .connectivity import connectivity_distribution, connectivity_heatmap, connectivity_shades, series_carpet
from .groups import group_difference_brain, group_differences, group_module_brain, group_module_flow
from .hubs import CurveScale, five_brains, gamma_sweep, hub_brain, hub_curves, hub_scatter
from .models import model_results, noise_response, reliability, roc, subject_probability
from .modules import (
    modularity_against_chance,
    module_brain,
    module_colours,
    module_flow,
    module_heatmap,
    resolution_sweep,
    role_map,
    small_worldness,
)
from .regions import RegionOrder, only_regions, order_by_value, order_regions, random_regions

__all__ = [
    "Brain",
    "CurveScale",
    "RegionOrder",
    "attention_blocks",
    "attention_contrast",
    "attention_difference",
    "attention_in_brain",
    "attention_likeness",
    "attention_maps",
    "attention_spread",
    "attention_systems",
    "connectivity_distribution",
    "connectivity_heatmap",
    "connectivity_shades",
    "five_brains",
    "gamma_sweep",
    "group_difference_brain",
    "group_differences",
    "group_module_brain",
    "group_module_flow",
    "hub_brain",
    "hub_curves",
    "hub_scatter",
    "in_brain",
    "model_results",
    "modularity_against_chance",
    "module_brain",
    "module_colours",
    "module_flow",
    "module_heatmap",
    "noise_response",
    "only_regions",
    "order_by_value",
    "order_regions",
    "random_regions",
    "reliability",
    "resolution_sweep",
    "roc",
    "role_map",
    "series_carpet",
    "small_worldness",
    "subject_attention",
    "subject_probability",
]
