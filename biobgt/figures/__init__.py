"""Figures: arrays in, a figure out; nothing is computed here beyond what drawing needs."""

from biobgt.figures.connectome import (
    RegionOrder,
    colour_limit,
    connectivity_caption,
    connectivity_distribution,
    connectivity_heatmap,
    distribution_caption,
    graph_caption,
    order_regions,
    series_caption,
    series_carpet,
)

__all__ = [
    "RegionOrder",
    "colour_limit",
    "connectivity_caption",
    "connectivity_distribution",
    "connectivity_heatmap",
    "distribution_caption",
    "graph_caption",
    "order_regions",
    "series_caption",
    "series_carpet",
]
