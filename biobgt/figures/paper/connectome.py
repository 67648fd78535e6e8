"""One subject in the paper: the connectivity heatmap, the carpet plot of its series, the spread of its connections.

Each function is the twin of the one of the same name in :mod:`biobgt.figures.connectome`, and draws the same numbers.
"""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from biobgt.figures.connectome import SERIES_LIMIT_SD, strength_bins
from biobgt.figures.frame import RegionOrder, order_regions
from biobgt.figures.paper.frame import (
    BLOCK_LINE,
    add_colour_bar,
    add_legend,
    finish,
    fit_height,
    name_blocks,
    new_figure,
    reserve_names,
    set_title,
)
from biobgt.figures.paper.style import PaperStyle, drawing

_PLAIN = PaperStyle()
_DIVERGING = "RdBu_r"
_KEPT_COLOUR, _DROPPED_COLOUR = "#0072B2", "#B8BDC4"
_LARGEST_MATRIX_MM = 110.0


def connectivity_heatmap(
    matrix: NDArray[np.float64],
    regions: Sequence[str],
    *,
    order: RegionOrder | None = None,
    limit: float = 1.0,
    title: str = "",
    quantity: str = "r",
    simulated: bool = False,
    style: PaperStyle = _PLAIN,
) -> Figure:
    """Draw a connectivity matrix, with its blocks named.

    Parameters
    ----------
    matrix : ndarray, shape (n_regions, n_regions)
    regions : sequence of str, length n_regions
    order : RegionOrder, optional
        None draws the atlas's order.
    limit : float
        The colours run from −limit to limit.
    title, quantity : str
        The figure's title, and what the colours stand for.
    simulated : bool
        Adds the word to the title.
    style : PaperStyle
    """
    order = order or order_regions(len(regions))
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, title, simulated, style)
        axes = figure.add_subplot()
        picture = axes.imshow(
            matrix[np.ix_(order.order, order.order)], cmap=_DIVERGING, vmin=-limit, vmax=limit, interpolation="nearest"
        )
        _frame(axes)
        axes.set_xticks([])
        add_colour_bar(figure, picture, axes, quantity, length_mm=0.6 * min(style.width_mm, 120))
        reserve_names(axes, order, along="y", otherwise=f"{len(order.order)} regions in atlas order")
        fit_height(figure, [axes], style, panel_mm=_LARGEST_MATRIX_MM, square=True)
        name_blocks(axes, order, style, along="y")
        for _, _, end in order.blocks[:-1]:
            axes.axhline(end - 0.5, **BLOCK_LINE)
            axes.axvline(end - 0.5, **BLOCK_LINE)
        return finish(figure, style)


def series_carpet(
    series: NDArray[np.float64],
    regions: Sequence[str],
    *,
    order: RegionOrder | None = None,
    tr: float | None = None,
    title: str = "",
    simulated: bool = False,
    style: PaperStyle = _PLAIN,
) -> Figure:
    """Draw region series as a carpet (Power 2017): a row a region, a column a time point, grey the signal.

    Parameters
    ----------
    series : ndarray, shape (n_timepoints, n_regions)
        Each region is drawn in its own standard deviations.
    regions : sequence of str, length n_regions
    order : RegionOrder, optional
    tr : float, optional
        Seconds between time points; without it time is counted in volumes.
    title : str
    simulated : bool
    style : PaperStyle
    """
    order = order or order_regions(len(regions))
    deviations = series.std(axis=0)
    standardised = (series - series.mean(axis=0)) / np.where(deviations > 0, deviations, 1)
    first, step = (0.0, tr) if tr else (1.0, 1.0)
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, title, simulated, style)
        axes = figure.add_subplot()
        picture = axes.imshow(
            standardised[:, order.order].T,
            cmap="gray",
            vmin=-SERIES_LIMIT_SD,
            vmax=SERIES_LIMIT_SD,
            aspect="auto",
            interpolation="nearest",
            extent=(first - step / 2, first + (len(series) - 0.5) * step, len(order.order) - 0.5, -0.5),
        )
        _frame(axes)
        axes.set_xlabel("Time (s)" if tr else "Volume")
        add_colour_bar(figure, picture, axes, "signal (SD)", length_mm=0.6 * min(style.width_mm, 120))
        reserve_names(axes, order, along="y", otherwise=f"{len(order.order)} regions in atlas order")
        fit_height(figure, [axes], style, panel_mm=0.5 * min(style.width_mm, 174))
        name_blocks(axes, order, style, along="y")
        for _, _, end in order.blocks[:-1]:
            axes.axhline(end - 0.5, **BLOCK_LINE)
        return finish(figure, style)


def connectivity_distribution(
    matrix: NDArray[np.float64],
    kept: NDArray[np.bool_],
    *,
    limit: float = 1.0,
    title: str = "",
    quantity: str = "r",
    simulated: bool = False,
    style: PaperStyle = _PLAIN,
) -> Figure:
    """Draw how often each strength occurs among pairs of regions, and which pairs the brain graph keeps.

    Parameters
    ----------
    matrix : ndarray, shape (n_regions, n_regions)
    kept : ndarray of bool, shape (n_regions, n_regions)
        Pairs that are connected in the graph.
    limit : float
        The axis shows at least −limit to limit, in about 50 bins.
    title, quantity : str
    simulated : bool
    style : PaperStyle
    """
    pairs = np.triu_indices(len(matrix), 1)
    values, in_graph = matrix[pairs], kept[pairs]
    edges = strength_bins(values, in_graph, limit=limit)
    middles = (edges[:-1] + edges[1:]) / 2
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, title, simulated, style)
        axes = figure.add_subplot()
        below = np.zeros(len(middles))
        for name, chosen, colour in (
            ("kept in the graph", in_graph, style.colour(_KEPT_COLOUR)),
            ("dropped", ~in_graph, _DROPPED_COLOUR),
        ):
            counts = np.histogram(values[chosen], bins=edges)[0]
            axes.bar(middles, counts, width=edges[1] - edges[0], bottom=below, color=colour, label=name)
            below = below + counts
        axes.set_xlabel(quantity)
        axes.set_ylabel("Pairs of regions")
        add_legend(figure, *axes.get_legend_handles_labels(), style)
        fit_height(figure, [axes], style, panel_mm=0.5 * min(style.width_mm, 140))
        return finish(figure, style)


def _frame(axes: Axes) -> None:
    """Draw all four sides: a matrix is a field, not a curve."""
    axes.spines[["top", "right"]].set_visible(True)
