"""How good a model is, in the paper: ROC, reliability, results beside other models, where a subject lies.

Each function is the twin of the one of the same name in :mod:`biobgt.figures.performance`, and draws the same numbers.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter
from numpy.typing import NDArray

from biobgt.figures.attention import group_colour
from biobgt.figures.modules import MODULE_COLOURS
from biobgt.figures.paper.frame import (
    POINTS_PER_MM,
    add_legend,
    finish,
    fit_height,
    line_height,
    new_figure,
    set_title,
    wrapped,
)
from biobgt.figures.paper.style import PaperStyle, drawing
from biobgt.figures.performance import OTHER_COLOUR, OWN_COLOUR, OWN_MODEL, TITLES, group_shares

_PLAIN = PaperStyle()
_CHANCE = {"color": OTHER_COLOUR, "linestyle": ":", "linewidth": 0.8}
_SQUARE_MM = 70.0
_ROW_MM = 5.0
_NAME_SHARE = 0.33  # of the figure's width, for the names of models
_LINES = ("-", "--", ":")


def roc_curves(
    curves: Mapping[str, pd.DataFrame], *, title: str = "", simulated: bool = False, style: PaperStyle = _PLAIN
) -> Figure:
    """Draw ROC curves with the line of chance.

    Parameters
    ----------
    curves : mapping of str to DataFrame
        ``false_positive_rate`` and ``true_positive_rate``.
    title : str
    simulated : bool
    style : PaperStyle
    """
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, title, simulated, style)
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1], label="chance", **_CHANCE)  # type: ignore[arg-type]
        for i, (name, curve) in enumerate(curves.items()):
            axes.step(
                curve["false_positive_rate"].to_numpy(),
                curve["true_positive_rate"].to_numpy(),
                where="post",
                color=style.colour(MODULE_COLOURS[i % len(MODULE_COLOURS)]),
                label=name,
            )
        axes.set(xlabel="1 − specificity", ylabel="Sensitivity", xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
        add_legend(figure, *axes.get_legend_handles_labels(), style)
        fit_height(figure, [axes], style, panel_mm=_SQUARE_MM, square=True)
        return finish(figure, style)


def reliability(
    curve: pd.DataFrame, *, event: str, title: str = "", simulated: bool = False, style: PaperStyle = _PLAIN
) -> Figure:
    """Draw observed shares against claimed probabilities, with Wilson intervals.

    Parameters
    ----------
    curve : DataFrame
        ``predicted``, ``observed``, ``observed_low``, ``observed_high`` and ``n``.
    event : str
        What is claimed, such as ``ASD``.
    title : str
    simulated : bool
    style : PaperStyle
    """
    observed = curve["observed"].to_numpy()
    reach = np.stack([observed - curve["observed_low"].to_numpy(), curve["observed_high"].to_numpy() - observed])
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, title, simulated, style)
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1], label="as claimed", **_CHANCE)  # type: ignore[arg-type]
        axes.errorbar(
            curve["predicted"].to_numpy(),
            observed,
            yerr=np.maximum(reach, 0),  # rounding may leave a bound a hair on the wrong side
            color=style.colour(OWN_COLOUR),
            marker="o",
            markersize=3,
            linewidth=0.7,
            elinewidth=0.7,
            label="observed, 95 % interval",
        )
        axes.set(xlabel=f"Claimed probability of {event}", ylabel=f"Observed share of {event}")
        axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
        add_legend(figure, *axes.get_legend_handles_labels(), style)
        fit_height(figure, [axes], style, panel_mm=_SQUARE_MM, square=True)
        return finish(figure, style)


def results_beside(
    points: pd.DataFrame,
    *,
    chance: Mapping[str, float],
    title: str = "",
    simulated: bool = False,
    style: PaperStyle = _PLAIN,
) -> Figure:
    """Draw a model's results beside those of other models, with intervals, a panel a metric.

    Parameters
    ----------
    points : DataFrame
        ``metric``, ``model``, ``value``, ``low`` and ``high`` (NaN for none).
    chance : mapping of str to float
        What guessing gives, by metric.
    title : str
    simulated : bool
    style : PaperStyle
    """
    metrics, models = (list(dict.fromkeys(points[column])) for column in ("metric", "model"))
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, title, simulated, style)
        panels = figure.subplots(1, len(metrics), sharey=True, squeeze=False)[0]
        for axes, metric in zip(panels, metrics, strict=True):
            for row in points[points["metric"] == metric].itertuples():
                own, place = row.model == OWN_MODEL, models.index(str(row.model))
                colour = style.colour(OWN_COLOUR) if own else OTHER_COLOUR
                axes.plot([row.low, row.high], [place, place], color=colour, linewidth=0.8)
                axes.plot([row.value], [place], color=colour, marker="D" if own else "o", markersize=4)
            if metric in chance:
                axes.axvline(chance[metric], **_CHANCE)
            axes.set_title(TITLES.get(metric, metric))
            axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
        width = _NAME_SHARE * style.width_mm * POINTS_PER_MM
        names = [wrapped(name, width, style.tick_size, style) for name in models]
        lines = max(name.count("\n") + 1 for name in names)
        panels[0].set_yticks(range(len(models)), names)
        panels[0].set_ylim(len(models) - 0.5, -0.5)
        row_mm = max(_ROW_MM, (lines + 0.6) * line_height(style.tick_size) / POINTS_PER_MM)
        fit_height(figure, list(panels[:1]), style, panel_mm=max(20.0, row_mm * len(models)))
        return finish(figure, style)


def probabilities_by_group(
    values: NDArray[np.float64],
    labels: NDArray[np.int64],
    groups: Sequence[str],
    *,
    group: str,
    marked: float | None = None,
    marked_name: str = "",
    title: str = "",
    simulated: bool = False,
    style: PaperStyle = _PLAIN,
) -> Figure:
    """Draw how a group's probability spreads over the subjects of each true group, and where one subject lies.

    Parameters
    ----------
    values : ndarray, shape (n_subjects,)
        Out-of-fold probability of ``group``.
    labels : ndarray of int, shape (n_subjects,)
    groups : sequence of str
    group : str
    marked : float, optional
        One subject's probability.
    marked_name : str
    title : str
    simulated : bool
    style : PaperStyle
    """
    shares = group_shares(values, labels, groups)
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, title, simulated, style)
        axes = figure.add_subplot()
        for k, name in enumerate(groups):
            own, colour = shares[shares["group"] == name], style.colour(group_colour(name))
            x, y = own[["from", "to"]].to_numpy().ravel(), np.repeat(own["share"].to_numpy(), 2)
            axes.fill_between(x, y, color=colour, alpha=0.25, linewidth=0)
            axes.plot(x, y, color=colour, linestyle=_LINES[k % 3], label=f"{name} (n = {own['subjects'].sum():,})")
        if marked is not None:
            axes.axvline(marked, color="#D0021B", linewidth=1.2, label=marked_name or "subject")
        axes.set(xlabel=f"Probability of {group}", ylabel="Share of each group", xlim=(0, 1))
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        add_legend(figure, *axes.get_legend_handles_labels(), style)
        fit_height(figure, [axes], style, panel_mm=0.5 * min(style.width_mm, 140))
        return finish(figure, style)
