"""Agreement of node entanglement with other measures, drawn for paper."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from biobgt.figures.frame import GAMMA_TICKS, GAMMA_TITLE
from biobgt.figures.gamma_sweep import AGREEMENT_TITLE, GammaSweep
from biobgt.figures.hub_scatter import HubScatter
from biobgt.figures.hub_words import CHOSEN_COLOUR, GROUP_COLOUR, HUB_COLOUR
from biobgt.figures.paper.paper_frame import MARKERS, add_legend, finish, fit_height, new_figure, set_title
from biobgt.figures.paper.saving import drawing
from biobgt.figures.paper_style import PaperStyle
from biobgt.hubs.measures import HUB_MEASURES, NE


def draw_hub_scatter(shown: HubScatter, style: PaperStyle) -> Figure:
    """Draw node entanglement against another measure; of the regions only the picked one is named."""
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, shown.title, shown.simulated, style, subtitle=shown.subtitle)
        axes = figure.add_subplot()
        for name, chosen, colour, symbol in (
            ("other regions", ~shown.hubs, HUB_MEASURES[NE].colour, "circle"),
            ("hubs by NE", shown.hubs, HUB_COLOUR, "diamond"),
        ):
            axes.scatter(
                shown.values[chosen],
                shown.entanglement[chosen],
                s=12,
                color=style.colour(colour),
                marker=MARKERS[symbol],
                alpha=0.75,
                linewidths=0,
                label=name,
            )
        if (picked := shown.picked) is not None:
            ring_region(axes, shown.values[picked], shown.entanglement[picked], shown.regions[picked], style)
        axes.set_xlabel(HUB_MEASURES[shown.options.measure].in_words_of(shown.kind).axis)
        axes.set_ylabel(HUB_MEASURES[NE].axis)
        add_legend(figure, *axes.get_legend_handles_labels(), style)
        fit_height(figure, [axes], style, panel_mm=0.55 * min(style.width_mm, 140))
        return finish(figure, style)


def draw_gamma_sweep(shown: GammaSweep, style: PaperStyle) -> Figure:
    """Draw agreement over diffusion times."""
    chosen = shown.options.gamma
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, shown.title, shown.simulated, style)
        axes = figure.add_subplot()
        for measure in shown.measures:
            _draw_study(axes, shown, measure, style)
        axes.plot([chosen, chosen], [-1, 1], color=style.colour(CHOSEN_COLOUR), linestyle=":", label=shown.mark_name)
        for measure in shown.measures:
            _draw_sweep(axes, shown, measure, style)
        set_gamma_axis(axes)
        axes.axhline(0, color=GROUP_COLOUR, linewidth=0.4, zorder=0)
        axes.set_ylabel(AGREEMENT_TITLE)
        axes.set_ylim(-1.02, 1.02)
        add_legend(figure, *axes.get_legend_handles_labels(), style)
        fit_height(figure, [axes], style, panel_mm=0.55 * min(style.width_mm, 140))
        return finish(figure, style)


def ring_region(axes: Axes, x: float, y: float, name: str, style: PaperStyle) -> None:
    """Draw a ring around one region's point.

    Parameters
    ----------
    axes : Axes
    x, y : float
        The region's point, in the units of the axes.
    name : str
        Of the region, for the legend.
    style : PaperStyle
    """
    axes.plot(
        [x],
        [y],
        marker="o",
        markersize=6,
        markerfacecolor="none",
        markeredgewidth=1.2,
        markeredgecolor=style.colour(CHOSEN_COLOUR),
        linestyle="none",
        label=name,
        zorder=4,
    )


def set_gamma_axis(axes: Axes) -> None:
    """Make the x-axis one of diffusion times, on a logarithmic scale with readable numbers."""
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    ticks = [tick for tick in GAMMA_TICKS if low <= tick <= high]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(GAMMA_TITLE)


def _draw_study(axes: Axes, shown: GammaSweep, measure: str, style: PaperStyle) -> None:
    """Mean ± 1 SD as a band, and the mean as a dashed line; nothing where the study has none."""
    found = shown.study_curve(measure)
    if found is None:
        return
    curve, sd = found
    colour = style.colour(curve.colour)
    axes.fill_between(curve.x, curve.y - sd, curve.y + sd, color=colour, alpha=0.18, linewidth=0)
    axes.plot(curve.x, curve.y, color=colour, label=curve.name, **curve.paper_line)


def _draw_sweep(axes: Axes, shown: GammaSweep, measure: str, style: PaperStyle) -> None:
    curve = shown.curve(measure)
    axes.plot(
        curve.x,
        curve.y,
        color=style.colour(curve.colour),
        marker=MARKERS[HUB_MEASURES[measure].symbol],
        markersize=2.5,
        label=curve.name,
        **curve.paper_line,
    )
