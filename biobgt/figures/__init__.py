"""Figures: arrays in, a figure out; nothing is computed here beyond what drawing needs."""

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
    correlation_text,
    curves_caption,
    scatter_caption,
    sweep_caption,
    table_caption,
)
from biobgt.figures.hubs import (
    SHORT_NAMES,
    CurveScale,
    gamma_sweep,
    hub_curves,
    hub_scatter,
    order_by_value,
)
from biobgt.figures.modules import module_caption, role_caption, role_map

__all__ = [
    "RULE_TITLES",
    "SHORT_NAMES",
    "CurveScale",
    "RegionOrder",
    "colour_limit",
    "connectivity_caption",
    "connectivity_distribution",
    "connectivity_heatmap",
    "correlation_text",
    "curves_caption",
    "distribution_caption",
    "gamma_sweep",
    "graph_caption",
    "hub_curves",
    "hub_scatter",
    "module_caption",
    "order_by_value",
    "order_regions",
    "role_caption",
    "role_map",
    "scatter_caption",
    "series_caption",
    "series_carpet",
    "sweep_caption",
    "table_caption",
]
