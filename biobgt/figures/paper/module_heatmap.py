"""Connectivity sorted by module in the paper: the twin of the one in :mod:`biobgt.figures.modules`."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from biobgt.figures.frame import RegionOrder, order_regions
from biobgt.figures.modules import module_colours
from biobgt.figures.paper.connectome import connectivity_heatmap
from biobgt.figures.paper.style import PaperStyle

_PLAIN = PaperStyle()
NO_MODULE = "no module"


def module_order(modules: Sequence[int], names: Mapping[int, str]) -> RegionOrder:
    """Regions by module, in the order of the modules' numbers; those in none come last."""
    # The word that all names share would take room from the matrix.
    short = {number: names[number].removeprefix("Module ") for number in sorted(set(modules) - {0})}
    numbers = list(short.values())
    called = [short[module] if module else NO_MODULE for module in modules]
    return order_regions(len(modules), called, first=numbers)


def module_heatmap(
    matrix: NDArray[np.float64],
    regions: Sequence[str],
    modules: Sequence[int],
    names: Mapping[int, str],
    *,
    limit: float = 1.0,
    title: str = "",
    quantity: str = "r",
    simulated: bool = False,
    style: PaperStyle = _PLAIN,
) -> Figure:
    """Draw connectivity sorted by module, with a named bracket in the module's colour beside its rows.

    Parameters
    ----------
    matrix : ndarray, shape (n_regions, n_regions)
    regions : sequence of str, length n_regions
    modules : sequence of int, length n_regions
        0 is a region in no module; these come last.
    names : mapping of int to str
        What each module is called.
    limit, title, quantity, simulated, style
        As for :func:`biobgt.figures.paper.connectivity_heatmap`.
    """
    order = module_order(modules, names)
    figure = connectivity_heatmap(
        matrix, regions, order=order, limit=limit, title=title, quantity=quantity, simulated=simulated, style=style
    )
    axes = figure.axes[0]
    point = 1 / (72 * axes.get_position().width * figure.get_figwidth())  # as a share of the matrix's width
    colours = module_colours(set(modules))
    for _, start, end in order.blocks:
        colour = style.colour(colours[modules[order.order[start]]])
        mark = Line2D(
            [-2 * point] * 2, [start - 0.3, end - 0.7], color=colour, linewidth=2.5, solid_capstyle="butt", zorder=3
        )
        mark.set(transform=axes.get_yaxis_transform(), clip_on=False)
        axes.add_line(mark)
    return figure
