"""Modularity against chance in the paper: the twin of the one in :mod:`biobgt.figures.module_chance`."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from biobgt.errors import InputError
from biobgt.figures.paper.frame import add_legend, finish, fit_height, new_figure, set_title
from biobgt.figures.paper.style import PaperStyle, drawing

if TYPE_CHECKING:
    from biobgt.modules import ModularityTest

_PLAIN = PaperStyle()
_NULL, _OWN = "#9AA5AB", "#D55E00"
_MOST_BARS = 20


def modularity_against_chance(
    test: "ModularityTest", *, title: str = "", simulated: bool = False, style: PaperStyle = _PLAIN
) -> Figure:
    """Draw how Q spreads over null graphs, and where the subject's lies.

    Parameters
    ----------
    test : ModularityTest
    title : str
    simulated : bool
    style : PaperStyle
    """
    values = np.append(test.null, test.q)
    if np.isnan(values).any():
        raise InputError("Modularity is not defined in a graph without connections, so it cannot be drawn.")
    # Bars begin at round numbers, as on the screen.
    edges = list(MaxNLocator(_MOST_BARS, steps=[1, 2, 5, 10]).tick_values(test.null.min(), test.null.max()))
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, title, simulated, style)
        axes = figure.add_subplot()
        axes.hist(test.null, bins=edges, rwidth=0.95, color=_NULL, label="null graphs")
        own = style.colour(_OWN)
        axes.axvline(test.q, color=own, linewidth=1.4, label=f"this subject, Q = {test.q:.3f}")
        room = 0.08 * np.ptp(values) or 0.01
        axes.set_xlim(values.min() - room, values.max() + room)
        axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
        axes.set_xlabel("Modularity Q")
        axes.set_ylabel("Null graphs")
        add_legend(figure, *axes.get_legend_handles_labels(), style)
        fit_height(figure, [axes], style, panel_mm=0.45 * min(style.width_mm, 140))
        return finish(figure, style)
