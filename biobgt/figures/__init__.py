"""Figures: arrays in, a figure out; nothing is computed here beyond what drawing needs."""

from biobgt.figures.attention import attention_difference, attention_heatmaps, contrast_points
from biobgt.figures.attention_blocks import block_effects
from biobgt.figures.brain import brain_3d, brain_caption
from biobgt.figures.connectome import (
    colour_limit,
    connectivity_caption,
    connectivity_distribution,
    connectivity_heatmap,
    distribution_caption,
    graph_caption,
    series_caption,
    series_carpet,
)
from biobgt.figures.frame import RegionOrder, order_regions
from biobgt.figures.hub_captions import (
    RULE_TITLES,
    centralities_caption,
    correlation_text,
    curves_caption,
    scatter_caption,
    sweep_caption,
    table_caption,
)
from biobgt.figures.hub_curves import CurveScale, hub_curves, only_regions, order_by_value, random_regions
from biobgt.figures.hubs import SHORT_NAMES, gamma_sweep, hub_scatter
from biobgt.figures.module_chance import chance_caption, modularity_against_chance
from biobgt.figures.module_flow import flow_caption, group_flow_caption, module_flow
from biobgt.figures.module_sweep import resolution_caption, resolution_curves
from biobgt.figures.modules import module_caption, module_colours, module_heatmap, role_caption, role_map
from biobgt.figures.performance import probabilities_by_group, reliability, results_beside, roc_curves

__all__ = [
    "RULE_TITLES",
    "SHORT_NAMES",
    "CurveScale",
    "RegionOrder",
    "attention_difference",
    "attention_heatmaps",
    "block_effects",
    "brain_3d",
    "brain_caption",
    "centralities_caption",
    "chance_caption",
    "colour_limit",
    "connectivity_caption",
    "connectivity_distribution",
    "connectivity_heatmap",
    "contrast_points",
    "correlation_text",
    "curves_caption",
    "distribution_caption",
    "flow_caption",
    "gamma_sweep",
    "graph_caption",
    "group_flow_caption",
    "hub_curves",
    "hub_scatter",
    "modularity_against_chance",
    "module_caption",
    "module_colours",
    "module_flow",
    "module_heatmap",
    "only_regions",
    "order_by_value",
    "order_regions",
    "probabilities_by_group",
    "random_regions",
    "reliability",
    "resolution_caption",
    "resolution_curves",
    "results_beside",
    "roc_curves",
    "role_caption",
    "role_map",
    "scatter_caption",
    "series_caption",
    "series_carpet",
    "sweep_caption",
    "table_caption",
]
