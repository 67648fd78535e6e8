"""Modules in the paper: the cartography of regions, the twin of the one in :mod:`biobgt.figures.modules`."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from biobgt.figures.brain_nodes import SYMBOLS
from biobgt.figures.modules import MODULE_COLOURS, module_colours
from biobgt.figures.paper.frame import MARKERS, add_legend, finish, fit_height, new_figure, set_title
from biobgt.figures.paper.style import PaperStyle, drawing

_PLAIN = PaperStyle()


def role_map(
    participation: NDArray[np.float64],
    within_z: NDArray[np.float64],
    modules: Sequence[int],
    regions: Sequence[str],
    *,
    hub_z: float,
    names: Mapping[int, str] | None = None,
    title: str = "",
    simulated: bool = False,
    style: PaperStyle = _PLAIN,
) -> Figure:
    """Draw the regions by participation and within-module z (Guimerà & Amaral 2005), coloured by module.

    Parameters
    ----------
    participation, within_z : ndarray, shape (n_regions,)
        NaN for a region in no module, which is not drawn.
    modules : sequence of int, length n_regions
    regions : sequence of str, length n_regions
        Named on the screen only.
    hub_z : float
        Where the line between hubs and others lies.
    names : mapping of int to str, optional
        What each module is called.
    title : str
    simulated : bool
    style : PaperStyle
    """
    labels = np.asarray(modules)
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, title, simulated, style)
        axes = figure.add_subplot()
        for module, colour in module_colours(sorted(set(labels.tolist()) - {0})).items():
            members = labels == module
            axes.scatter(
                participation[members],
                within_z[members],
                s=12,
                color=style.colour(colour),
                marker=MARKERS[SYMBOLS[((module - 1) // len(MODULE_COLOURS)) % len(SYMBOLS)]],
                linewidths=0,
                label=(names or {}).get(module, f"Module {module}"),
            )
        axes.axhline(hub_z, color="#7A868C", linestyle=":", linewidth=0.8)
        axes.annotate(
            "hubs above",
            (1, hub_z),
            xycoords=axes.get_yaxis_transform(),
            xytext=(0, 2),
            textcoords="offset points",
            ha="right",
            va="bottom",
            fontsize=style.tick_size,
        )
        axes.set_xlim(-0.03, 1)
        axes.set_xlabel("Participation")
        axes.set_ylabel("Within-module z")
        handles, entries = axes.get_legend_handles_labels()
        if handles:
            add_legend(figure, handles, entries, style)
        fit_height(figure, [axes], style, panel_mm=0.6 * min(style.width_mm, 140))
        return finish(figure, style)
