"""The benchmark's rows for paper: a dot with its interval each, and the paper's number as a hollow mark."""

from matplotlib.figure import Figure

from biobgt.figures.benchmark_results import AUC, CHANCE_AUC, HERE, PAPER, BenchmarkResults
from biobgt.figures.model_figure import OTHER_COLOUR, OWN_COLOUR
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

_NAME_SHARE = 0.5  # of the figure's width, for the names of systems


def draw_benchmark(shown: BenchmarkResults, style: PaperStyle) -> Figure:
    """Draw every row, from top to bottom."""
    rows, own = shown.rows, style.colour(OWN_COLOUR)
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, shown.title, shown.simulated, style)
        axes = figure.add_subplot()
        places = range(len(rows))
        axes.hlines(places, rows["auc_low"], rows["auc_high"], color=own, linewidth=0.8)
        axes.plot(rows["auc"], places, "o", color=own, markersize=3.5, label=HERE)
        axes.plot(rows["paper_auc"], places, "o", mfc="none", mec=OTHER_COLOUR, mew=0.8, markersize=3.5, label=PAPER)
        axes.axvline(CHANCE_AUC, color=OTHER_COLOUR, linestyle=":", linewidth=0.8)
        names = [
            wrapped(name, _NAME_SHARE * style.width_mm * POINTS_PER_MM, style.tick_size, style) for name in shown.names
        ]
        axes.set_yticks(places, names)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlabel(AUC)
        add_legend(figure, *axes.get_legend_handles_labels(), style)
        lines = max(name.count("\n") + 1 for name in names)
        row_mm = (lines + 0.4) * line_height(style.tick_size) / POINTS_PER_MM
        fit_height(figure, [axes], style, panel_mm=max(20.0, row_mm * len(rows)))
        return finish(figure, style)
