"""How a model answers to noise, in the paper: the twin of :mod:`biobgt.figures.noise`, of the same numbers."""

import pandas as pd
from matplotlib.figure import Figure

from biobgt.figures.attention import group_colour
from biobgt.figures.noise import WARNED, WARNED_COLOUR, X_TITLE, Y_TITLE
from biobgt.figures.paper.frame import add_legend, finish, fit_height, new_figure, set_title
from biobgt.figures.paper.style import PaperStyle, drawing

_PLAIN = PaperStyle()
_PANEL_MM = 50.0
_LINES = ("-", "--", ":")


def noise_response(
    points: pd.DataFrame, *, title: str = "", simulated: bool = False, style: PaperStyle = _PLAIN
) -> Figure:
    """Draw the mean probability of each group, and the share of subjects with a warning, at every level of noise.

    Parameters
    ----------
    points : DataFrame
        ``noise``, ``group``, ``probability`` and ``warned``.
    title : str
    simulated : bool
    style : PaperStyle
    """
    groups = list(dict.fromkeys(points["group"]))
    points = points.assign(noise=points["noise"].str.replace(" ", "\n"))  # narrow enough for one column
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, title, simulated, style)
        axes = figure.add_subplot()
        for k, group in enumerate(groups):
            rows = points[points["group"] == group]
            line = _LINES[k % len(_LINES)]
            colour = style.colour(group_colour(group))
            axes.plot(rows["noise"], rows["probability"], line, color=colour, marker="o", markersize=3, label=group)
        warned = points[points["group"] == groups[0]]
        colour = style.colour(WARNED_COLOUR)
        axes.plot(warned["noise"], warned["warned"], "-.", color=colour, marker="s", markersize=2.5, label=WARNED)
        axes.set(xlabel=X_TITLE, ylabel=Y_TITLE, ylim=(-0.01, 1.01))
        add_legend(figure, *axes.get_legend_handles_labels(), style)
        fit_height(figure, [axes], style, panel_mm=_PANEL_MM)
        return finish(figure, style)
