"""Attention of groups drawn for paper: every person's contrast of modules, and how alike disorders' differences are."""

import numpy as np
from matplotlib.figure import Figure

from biobgt.base.colours import DIVERGING, ink_on
from biobgt.figures.attention_contrast import RATIO
from biobgt.figures.attention_likeness import CORRELATION, AttentionLikeness
from biobgt.figures.attention_spread import AttentionSpread
from biobgt.figures.model_figure import OTHER_COLOUR, group_colour
from biobgt.figures.paper.paper_frame import add_colour_bar, finish, fit_height, new_figure, set_title
from biobgt.figures.paper.saving import drawing
from biobgt.figures.paper_style import PaperStyle

_LIKENESS_MM = 80.0


def draw_spread(shown: AttentionSpread, style: PaperStyle) -> Figure:
    """Draw every person's contrast of modules, a box and the mean of each group."""
    aside = shown.strewn()
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, shown.title, shown.simulated, style)
        axes = figure.add_subplot()
        for place, (group, people) in enumerate(shown.people.items()):
            ratios, colour = people[:, 0], style.colour(group_colour(group))
            known = ratios[np.isfinite(ratios)]
            axes.scatter(place + aside[group], ratios, s=4, color=colour, alpha=0.4, linewidths=0)
            axes.boxplot(
                [known],
                positions=[place],
                widths=0.5,
                showfliers=False,
                medianprops={"color": "black"},
                manage_ticks=False,
            )
            axes.scatter([place], [known.mean()], s=28, color=colour, marker="D", edgecolors="black", linewidths=0.5)
        axes.axhline(1, color=OTHER_COLOUR, linestyle=":", linewidth=0.8)
        crowded = len(shown.people) > 3
        axes.set_xticks(range(len(shown.people)), list(shown.people), rotation=30 if crowded else 0)
        if crowded:
            for label in axes.get_xticklabels():
                label.set_horizontalalignment("right")
        axes.set_xlim(-0.6, len(shown.people) - 0.4)
        axes.set_ylabel(RATIO)
        fit_height(figure, [axes], style, panel_mm=0.55 * min(style.width_mm, 140))
        return finish(figure, style)


def draw_likeness(shown: AttentionLikeness, style: PaperStyle) -> Figure:
    """Draw the correlations of disorders' differences, with what chance gives and p."""
    names, values = shown.disorders, shown.square("r")
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, shown.title, shown.simulated, style)
        axes = figure.add_subplot()
        picture = axes.imshow(values[1:, :-1], cmap=DIVERGING, vmin=-1, vmax=1, interpolation="nearest")
        for row, words in enumerate(shown.texts("\n")[1:]):
            for column, text in enumerate(words[:-1]):
                colour = ink_on(values[row + 1, column])
                axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=style.tick_size)
        axes.set_xticks(range(len(names) - 1), names[:-1], rotation=30)
        for label in axes.get_xticklabels():
            label.set_horizontalalignment("right")
        axes.set_yticks(range(len(names) - 1), names[1:])
        axes.tick_params(length=0)
        add_colour_bar(figure, picture, axes, CORRELATION, length_mm=0.6 * min(style.width_mm, 120))
        fit_height(figure, [axes], style, panel_mm=_LIKENESS_MM, square=True)
        return finish(figure, style)
