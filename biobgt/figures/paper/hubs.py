"""One subject's hubs in the paper: node entanglement against another measure, and the γ-sweep.

Each function is the twin of the one of the same name in :mod:`biobgt.figures.hubs`, and draws the same numbers.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from numpy.typing import NDArray

from biobgt.figures.hubs import CHOSEN_COLOUR, HUB_COLOUR, MEASURE_COLOURS, SHORT_NAMES, UNITS, Values
from biobgt.figures.paper.frame import MARKERS, add_legend, finish, fit_height, new_figure, set_title
from biobgt.figures.paper.style import PaperStyle, drawing

_PLAIN = PaperStyle()
_SYMBOLS: Mapping[str, str] = {"node_efficiency": "circle", "fc_strength": "square"}
_GAMMA_TICKS = (0.1, 0.3, 1, 3, 10, 30, 100)


def hub_scatter(
    values: Values,
    entanglement: Values,
    regions: Sequence[str],
    hubs: NDArray[np.bool_],
    *,
    measure: str,
    subtitle: str,
    picked: int | None = None,
    simulated: bool = False,
    style: PaperStyle = _PLAIN,
) -> Figure:
    """Draw node entanglement against another measure, a point a region.

    Parameters
    ----------
    values, entanglement : ndarray, shape (n_regions,)
        The other measure, and node entanglement in bits.
    regions : sequence of str, length n_regions
        Only the picked one is named.
    hubs : ndarray of bool, shape (n_regions,)
    measure : str
        The other measure, of :data:`biobgt.figures.SHORT_NAMES`.
    subtitle : str
        The correlation, in words.
    picked : int, optional
        A region, counted from 0, to ring.
    simulated : bool
    style : PaperStyle
    """
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, f"NE against {SHORT_NAMES[measure]}", simulated, style, subtitle=subtitle)
        axes = figure.add_subplot()
        for name, chosen, colour, symbol in (
            ("other regions", ~hubs, MEASURE_COLOURS["node_entanglement"], "circle"),
            ("hubs by NE", hubs, HUB_COLOUR, "diamond"),
        ):
            axes.scatter(
                values[chosen],
                entanglement[chosen],
                s=12,
                color=style.colour(colour),
                marker=MARKERS[symbol],
                alpha=0.75,
                linewidths=0,
                label=name,
            )
        if picked is not None:
            ring_region(axes, values[picked], entanglement[picked], regions[picked], style)
        axes.set_xlabel(UNITS[measure])
        axes.set_ylabel(UNITS["node_entanglement"])
        add_legend(figure, *axes.get_legend_handles_labels(), style)
        fit_height(figure, [axes], style, panel_mm=0.55 * min(style.width_mm, 140))
        return finish(figure, style)


def gamma_sweep(
    sweep: pd.DataFrame,
    references: Mapping[str, str],
    *,
    chosen: float,
    study: pd.DataFrame | None = None,
    title: str = "",
    simulated: bool = False,
    style: PaperStyle = _PLAIN,
) -> Figure:
    """Draw how well node entanglement agrees with other measures, over diffusion times.

    Parameters
    ----------
    sweep : DataFrame
        ``reference``, ``gamma`` (in units of 1/mean(λ)) and ``spearman`` of one subject.
    references : mapping of str to str
        Measures of :data:`biobgt.figures.SHORT_NAMES`, and what ``reference`` calls them.
    chosen : float
        The γ to mark.
    study : DataFrame, optional
        ``reference``, ``gamma``, ``mean`` and ``sd`` over the subjects of a study, drawn behind.
    title : str
    simulated : bool
    style : PaperStyle
    """
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, title, simulated, style)
        axes = figure.add_subplot()
        for measure, reference in references.items():
            if study is not None:
                _draw_study(axes, measure, study[study["reference"] == reference], style)
        axes.plot([chosen, chosen], [-1, 1], color=style.colour(CHOSEN_COLOUR), linestyle=":", label=f"γ = {chosen:g}")
        for measure, reference in references.items():
            _draw_sweep(axes, measure, sweep[sweep["reference"] == reference], style)
        axes.set_xscale("log")
        low, high = axes.get_xlim()
        ticks = [tick for tick in _GAMMA_TICKS if low <= tick <= high]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.axhline(0, color="#7A868C", linewidth=0.4, zorder=0)
        axes.set_xlabel("γ (in units of 1/mean(λ))")
        axes.set_ylabel("Spearman's ρ with NE")
        axes.set_ylim(-1.02, 1.02)
        add_legend(figure, *axes.get_legend_handles_labels(), style)
        fit_height(figure, [axes], style, panel_mm=0.55 * min(style.width_mm, 140))
        return finish(figure, style)


def ring_region(axes: Axes, x: float, y: float, name: str, style: PaperStyle) -> None:
    """Draw a ring around one region's point."""
    ring: dict[str, Any] = {
        "marker": "o",
        "markersize": 6,
        "markerfacecolor": "none",
        "markeredgewidth": 1.2,
        "linestyle": "none",
    }
    axes.plot([x], [y], markeredgecolor=style.colour(CHOSEN_COLOUR), label=name, zorder=4, **ring)


def _draw_study(axes: Axes, measure: str, study: pd.DataFrame, style: PaperStyle) -> None:
    """Mean ± 1 SD as a band, and the mean as a dashed line."""
    colour = style.colour(MEASURE_COLOURS[measure])
    gamma, mean, sd = (study[column].to_numpy() for column in ("gamma", "mean", "sd"))
    axes.fill_between(gamma, mean - sd, mean + sd, color=colour, alpha=0.18, linewidth=0)
    name = f"{SHORT_NAMES[measure]}, ABIDE mean ± SD"
    axes.plot(gamma, mean, color=colour, linestyle="--", linewidth=0.7, label=name)


def _draw_sweep(axes: Axes, measure: str, sweep: pd.DataFrame, style: PaperStyle) -> None:
    axes.plot(
        sweep["gamma"].to_numpy(),
        sweep["spearman"].to_numpy(),
        color=style.colour(MEASURE_COLOURS[measure]),
        marker=MARKERS[_SYMBOLS[measure]],
        markersize=2.5,
        linewidth=1.2,
        label=f"{SHORT_NAMES[measure]}, this subject",
    )
