"""Differences of two groups drawn for paper: effect sizes with intervals, a row per feature."""

import numpy as np
from matplotlib.figure import Figure

from biobgt.base.statistics import FDR, passes
from biobgt.figures.group_differences import EFFECT, GroupDifferences
from biobgt.figures.hub_words import GROUP_COLOUR, HUB_COLOUR
from biobgt.figures.paper.paper_frame import (
    POINTS_PER_MM,
    add_legend,
    finish,
    fit_height,
    line_height,
    new_figure,
    set_title,
    wrapped,
)
from biobgt.figures.paper.saving import drawing
from biobgt.figures.paper_style import PaperStyle

_NAME_SHARE = 0.38  # of the figure's width, for the names of features
_ROW_MM = 3.4


def draw_group_differences(shown: GroupDifferences, style: PaperStyle) -> Figure:
    """Draw effect sizes with intervals, the clearest first, and their false discovery rates beside them."""
    drawn = shown.drawn
    differs = passes(drawn["q"])
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, shown.title, shown.simulated, style)
        axes = figure.add_subplot()
        axes.axvline(0, color=GROUP_COLOUR, linestyle=":", linewidth=0.8)
        for chosen, colour, marker, label in (
            (differs, style.colour(HUB_COLOUR), "D", f"q ≤ {FDR:g}"),
            (~differs, GROUP_COLOUR, "o", f"q > {FDR:g}"),
        ):
            if not chosen.any():
                continue
            own, places = drawn[chosen], np.flatnonzero(chosen)
            d = own["d"].to_numpy()
            reach = np.stack([d - own["d_low"].to_numpy(), own["d_high"].to_numpy() - d])
            face = colour if marker == "D" else "white"
            axes.errorbar(
                d,
                places,
                xerr=reach,
                color=colour,
                linestyle="none",
                elinewidth=0.7,
                marker=marker,
                markersize=3,
                markerfacecolor=face,
                markeredgewidth=0.7,
                label=label,
            )
        width = _NAME_SHARE * style.width_mm * POINTS_PER_MM
        names = [wrapped(str(name), width, style.tick_size, style) for name in drawn["feature"]]
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        for place, q in enumerate(drawn["q"]):
            axes.annotate(
                f"q {q:.2g}",
                (1, place),
                xycoords=axes.get_yaxis_transform(),
                xytext=(3, 0),
                textcoords="offset points",
                va="center_baseline",
                fontsize=style.tick_size,
            )
        axes.set_xlabel(EFFECT)
        add_legend(figure, *axes.get_legend_handles_labels(), style)
        lines = max(name.count("\n") + 1 for name in names)
        row_mm = max(_ROW_MM, (lines + 0.3) * line_height(style.tick_size) / POINTS_PER_MM)
        fit_height(figure, [axes], style, panel_mm=max(15.0, row_mm * len(names)))
        return finish(figure, style)
