"""Figures for the paper: the matplotlib twin of each figure of the screen, of exact size, with text that stays text.

Importing this package loads matplotlib, so :mod:`biobgt.figures` does not import it.
"""

from biobgt.figures.paper.brain import five_brains, glass_brain
from biobgt.figures.paper.connectome import connectivity_distribution, connectivity_heatmap, series_carpet
from biobgt.figures.paper.hubs import gamma_sweep, hub_scatter
from biobgt.figures.paper.module_chance import modularity_against_chance
from biobgt.figures.paper.module_flow import module_flow
from biobgt.figures.paper.module_heatmap import module_heatmap
from biobgt.figures.paper.module_sweep import resolution_curves
from biobgt.figures.paper.modules import role_map
from biobgt.figures.paper.region_curves import hub_curves
from biobgt.figures.paper.style import JOURNAL_WIDTHS_MM, PALETTES, FileFormat, PaperStyle, save_figure
from biobgt.figures.paper.why_region import entropy_comparison, neighbourhood_drawing, spectra_comparison

__all__ = [
    "JOURNAL_WIDTHS_MM",
    "PALETTES",
    "FileFormat",
    "PaperStyle",
    "connectivity_distribution",
    "connectivity_heatmap",
    "entropy_comparison",
    "five_brains",
    "gamma_sweep",
    "glass_brain",
    "hub_curves",
    "hub_scatter",
    "modularity_against_chance",
    "module_flow",
    "module_heatmap",
    "neighbourhood_drawing",
    "resolution_curves",
    "role_map",
    "save_figure",
    "series_carpet",
    "spectra_comparison",
]
