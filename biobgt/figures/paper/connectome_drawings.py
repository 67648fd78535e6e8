"""One subject's connectivity, series and connections, drawn for paper."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from numpy.typing import NDArray

from biobgt.base.colours import SEQUENTIAL
from biobgt.figures.connection_strengths import PAIRS_TITLE, ConnectivityDistribution
from biobgt.figures.connectivity_heatmap import ColourScale, ConnectivityHeatmap
from biobgt.figures.gaps import GAP_COLOUR
from biobgt.figures.paper.block_names import name_blocks, reserve_names
from biobgt.figures.paper.paper_frame import (
    BLOCK_LINE,
    add_colour_bar,
    add_legend,
    finish,
    fit_height,
    new_figure,
    set_title,
    tick_powers,
)
from biobgt.figures.paper.saving import drawing
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.region_order import RegionOrder
from biobgt.figures.series_carpet import SERIES_LIMIT_SD, SeriesCarpet

_LARGEST_MATRIX_MM = 110.0


def draw_connectivity_heatmap(shown: ConnectivityHeatmap, style: PaperStyle) -> Figure:
    """Draw a connectivity matrix, with its blocks named."""
    return draw_matrix(
        shown.matrix,
        shown.order,
        scale=shown.scale,
        quantity=shown.quantity,
        title=shown.title,
        simulated=shown.simulated,
        style=style,
    )


def draw_matrix(
    matrix: NDArray[np.float64],
    order: RegionOrder,
    *,
    scale: ColourScale,
    quantity: str,
    title: str,
    simulated: bool,
    style: PaperStyle,
) -> Figure:
    """Draw a matrix of regions in order, with its blocks named; other figures add to it.

    Parameters
    ----------
    matrix : ndarray, shape (n_regions, n_regions)
    order : RegionOrder
    scale : ColourScale
    quantity, title : str
        What the colours stand for, and the figure's title.
    simulated : bool
        Adds the word to the title.
    style : PaperStyle
    """
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, title, simulated, style)
        axes = figure.add_subplot()
        colours = {"norm": LogNorm(scale.low, scale.high)} if scale.log else {"vmin": scale.low, "vmax": scale.high}
        shown = matrix[np.ix_(order.order, order.order)]
        shown = np.clip(shown, scale.low, None) if scale.log else shown
        cmap = SEQUENTIAL.lower() if scale.colours == SEQUENTIAL else scale.colours
        picture = axes.imshow(shown, cmap=cmap, interpolation="nearest", **colours)
        _frame(axes)
        axes.set_facecolor(GAP_COLOUR)
        axes.set_xticks([])
        add_colour_bar(figure, picture, axes, quantity, length_mm=0.6 * min(style.width_mm, 120))
        reserve_names(axes, order, along="y", otherwise=order.title)
        fit_height(figure, [axes], style, panel_mm=_LARGEST_MATRIX_MM, square=True)
        name_blocks(axes, order, style, along="y")
        for _, _, end in order.blocks[:-1]:
            axes.axhline(end - 0.5, **BLOCK_LINE)
            axes.axvline(end - 0.5, **BLOCK_LINE)
        return finish(figure, style)


def draw_series_carpet(shown: SeriesCarpet, style: PaperStyle) -> Figure:
    """Draw region series as a carpet."""
    order = shown.order
    first, step = (0.0, shown.tr) if shown.tr else (1.0, 1.0)
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, shown.title, shown.simulated, style)
        axes = figure.add_subplot()
        picture = axes.imshow(
            shown.standardised,
            cmap="gray",
            vmin=-SERIES_LIMIT_SD,
            vmax=SERIES_LIMIT_SD,
            aspect="auto",
            interpolation="nearest",
            extent=(first - step / 2, first + (len(shown.series) - 0.5) * step, len(order.order) - 0.5, -0.5),
        )
        _frame(axes)
        axes.set_xlabel(shown.time_title)
        add_colour_bar(figure, picture, axes, "signal (SD)", length_mm=0.6 * min(style.width_mm, 120))
        reserve_names(axes, order, along="y", otherwise=order.title)
        fit_height(figure, [axes], style, panel_mm=0.5 * min(style.width_mm, 174))
        name_blocks(axes, order, style, along="y")
        for _, _, end in order.blocks[:-1]:
            axes.axhline(end - 0.5, **BLOCK_LINE)
        return finish(figure, style)


def draw_connectivity_distribution(shown: ConnectivityDistribution, style: PaperStyle) -> Figure:
    """Draw how often each strength occurs among pairs of regions."""
    edges = shown.bins
    kept, dropped = shown.bars
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, shown.title, shown.simulated, style)
        axes = figure.add_subplot()
        below, width = np.zeros(len(edges) - 1), np.diff(edges)
        for bars, colour in ((kept, style.colour(kept.colour)), (dropped, dropped.colour)):
            axes.bar(edges[:-1], bars.counts, width, below, align="edge", color=colour, label=bars.name)
            below = below + bars.counts
        if shown.scale.log:
            axes.set_xscale("log")
            tick_powers(axes.xaxis)
        axes.set_xlabel(shown.quantity)
        axes.set_ylabel(PAIRS_TITLE)
        add_legend(figure, *axes.get_legend_handles_labels(), style)
        fit_height(figure, [axes], style, panel_mm=0.5 * min(style.width_mm, 140))
        return finish(figure, style)


def _frame(axes: Axes) -> None:
    """Draw all four sides: a matrix is a field, not a curve."""
    axes.spines[["top", "right"]].set_visible(True)
