"""How good a trained model is, drawn for paper: results beside other models, ROC, reliability, noise, one subject."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from biobgt.base.colours import MODULE_COLOURS
from biobgt.figures.model_figure import OTHER_COLOUR, OWN_COLOUR, OWN_MODEL
from biobgt.figures.model_results import TITLES, ResultsBeside
from biobgt.figures.noise import ADDED_NOISE, MEAN_PROBABILITY, WARNED, NoiseResponse
from biobgt.figures.paper.paper_frame import (
    MARKERS,
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
from biobgt.figures.performance import (
    AS_CLAIMED,
    CHANCE,
    FALSE_POSITIVES,
    TRUE_POSITIVES,
    ObservedShares,
    Reliability,
    RocCurves,
)
from biobgt.figures.subject_probability import MARKED_COLOUR, SHARE, SubjectProbability

_CHANCE = {"color": OTHER_COLOUR, "linestyle": ":", "linewidth": 0.8}
_SQUARE_MM, _NOISE_MM = 70.0, 50.0
_ROW_MM = 5.0
_NAME_SHARE = 0.33  # of the figure's width, for the names of models


def draw_roc(shown: RocCurves, style: PaperStyle) -> Figure:
    """Draw ROC curves with the line of chance."""
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, shown.title, shown.simulated, style)
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1], label=CHANCE, **_CHANCE)  # type: ignore[arg-type]
        for i, (name, curve) in enumerate(shown.curves.items()):
            axes.step(
                curve["false_positive_rate"].to_numpy(),
                curve["true_positive_rate"].to_numpy(),
                where="post",
                color=style.colour(MODULE_COLOURS[i % len(MODULE_COLOURS)]),
                label=name,
            )
        axes.set(xlabel=FALSE_POSITIVES, ylabel=TRUE_POSITIVES, xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
        add_legend(figure, *axes.get_legend_handles_labels(), style)
        fit_height(figure, [axes], style, panel_mm=_SQUARE_MM, square=True)
        return finish(figure, style)


def draw_reliability(shown: Reliability, style: PaperStyle) -> Figure:
    """Draw observed shares against claimed probabilities, with Wilson intervals."""
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, shown.title, shown.simulated, style)
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1], label=AS_CLAIMED, **_CHANCE)  # type: ignore[arg-type]
        for shares in shown.observed:
            _draw_observed(axes, shares, style)
        x, y = shown.axis_titles
        axes.set(xlabel=x, ylabel=y, xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
        add_legend(figure, *axes.get_legend_handles_labels(), style)
        fit_height(figure, [axes], style, panel_mm=_SQUARE_MM, square=True)
        return finish(figure, style)


def _draw_observed(axes: Axes, shares: ObservedShares, style: PaperStyle) -> None:
    """Points with Wilson intervals."""
    low, observed, high = (shares.curve[name].to_numpy() for name in ("observed_low", "observed", "observed_high"))
    axes.errorbar(
        shares.curve["predicted"].to_numpy(),
        observed,
        yerr=np.maximum([observed - low, high - observed], 0),  # rounding may leave a bound a hair on the wrong side
        color=style.colour(shares.colour),
        marker=MARKERS[shares.symbol],
        markersize=3,
        linestyle="-" if shares.joined else "none",
        linewidth=0.7,
        elinewidth=0.7,
        label=shares.name,
    )


def draw_results(shown: ResultsBeside, style: PaperStyle) -> Figure:
    """Draw a model's results beside those of other models, with intervals, one panel per metric."""
    points, chance = shown.points, shown.chance
    metrics, models = (list(dict.fromkeys(points[column])) for column in ("metric", "model"))
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, shown.title, shown.simulated, style)
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


def draw_noise(shown: NoiseResponse, style: PaperStyle) -> Figure:
    """Draw the mean probability of each group, and the share with a warning, at every level of noise."""
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, shown.title, shown.simulated, style)
        axes = figure.add_subplot()
        for curve in shown.curves:
            colour, marker = style.colour(curve.colour), "s" if curve.name == WARNED else "o"
            levels = [str(level).replace(" ", "\n") for level in curve.x]  # narrow enough for one column
            line = {"color": colour, "marker": marker, "markersize": 3, **curve.paper_line}
            axes.plot(levels, curve.y, label=curve.name, **line)
        axes.set(xlabel=ADDED_NOISE, ylabel=MEAN_PROBABILITY, ylim=(-0.01, 1.01))
        add_legend(figure, *axes.get_legend_handles_labels(), style)
        fit_height(figure, [axes], style, panel_mm=_NOISE_MM)
        return finish(figure, style)


def draw_probability(shown: SubjectProbability, style: PaperStyle) -> Figure:
    """Draw how a group's probability spreads over the subjects of each true group, and where one subject lies."""
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, shown.title, shown.simulated, style)
        axes = figure.add_subplot()
        for curve in shown.curves:
            colour = style.colour(curve.colour)
            axes.fill_between(curve.x, curve.y, color=colour, alpha=0.25, linewidth=0)
            axes.plot(curve.x, curve.y, color=colour, label=curve.name, **curve.paper_line)
        axes.axvline(shown.value, color=MARKED_COLOUR, linewidth=1.2, label=shown.subject)
        axes.set(xlabel=shown.x_title, ylabel=SHARE, xlim=(0, 1))
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        add_legend(figure, *axes.get_legend_handles_labels(), style)
        fit_height(figure, [axes], style, panel_mm=0.5 * min(style.width_mm, 140))
        return finish(figure, style)
