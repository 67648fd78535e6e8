"""The resolution sweep in the paper: the twin of the one in :mod:`biobgt.figures.module_sweep`."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from biobgt.figures.module_sweep import _COUNT, _LABELLINGS, _MARK, _QUALITY, _STABLE
from biobgt.figures.paper.frame import add_legend, finish, fit_height, new_figure, set_title
from biobgt.figures.paper.style import PaperStyle, drawing

_PLAIN = PaperStyle()


def resolution_curves(
    sweep: pd.DataFrame,
    labellings: Mapping[str, str],
    *,
    chosen: float,
    title: str = "",
    simulated: bool = False,
    style: PaperStyle = _PLAIN,
) -> Figure:
    """Draw the number of modules, and below it Q, stability and agreement with functional labels, over the resolution.

    Parameters
    ----------
    sweep : DataFrame
        A row a resolution: ``resolution``, ``n_modules``, ``q``, ``stability``, and ``ami <labelling>``.
    labellings : mapping of str to str
        Title of each labelling whose agreement is drawn.
    chosen : float
        The resolution of the other figures, marked by a dotted line.
    title : str
    simulated : bool
    style : PaperStyle
    """
    sweep = sweep.sort_values("resolution")
    curves = [
        ("n_modules", "Number of modules", _COUNT, 0),
        ("q", "Modularity Q", _QUALITY, 1),
        ("stability", "Stability: AMI between runs", _STABLE, 1),
    ]
    for i, (name, label) in enumerate(labellings.items()):
        curves.append((f"ami {name}", f"AMI with {label}", _LABELLINGS[i % len(_LABELLINGS)], 1))
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, title, simulated, style)
        panels = list(figure.subplots(2, sharex=True, height_ratios=[0.4, 0.6]))
        for column, label, colour, row in curves:
            panels[row].plot(
                sweep["resolution"].to_numpy(),
                sweep[column].to_numpy(float),
                color=style.colour(colour),
                linestyle=":" if column.startswith("ami ") else "-",
                marker="o",
                markersize=2,
                label=label,
            )
        for axes in panels:
            axes.axvline(chosen, color=_MARK, linestyle=":", linewidth=0.8, zorder=0)
        panels[0].set_ylim(bottom=0)
        panels[0].yaxis.set_major_locator(MaxNLocator(4, integer=True))
        panels[0].set_ylabel("Modules")
        panels[1].set_ylim(-0.03, 1.03)
        panels[1].set_ylabel("Q, AMI")
        panels[1].set_xlabel("Resolution")
        entries = [entry for axes in panels for entry in zip(*axes.get_legend_handles_labels(), strict=True)]
        add_legend(figure, [handle for handle, _ in entries], [label for _, label in entries], style)
        figure.align_ylabels(panels)
        fit_height(figure, panels, style, panel_mm=0.3 * min(style.width_mm, 140))
        return finish(figure, style)
