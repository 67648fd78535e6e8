"""Hub measures over the regions of one subject, drawn for paper."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from biobgt.figures.hub_curves import HubCurves
from biobgt.figures.hub_words import GROUP_COLOUR, HUB_COLOUR
from biobgt.figures.paper.block_names import name_blocks, reserve_names
from biobgt.figures.paper.hub_agreement_drawings import ring_region
from biobgt.figures.paper.paper_frame import BLOCK_LINE, MARKERS, add_legend, finish, fit_height, new_figure, set_title
from biobgt.figures.paper.saving import drawing
from biobgt.figures.paper_style import PaperStyle
from biobgt.hubs.measures import HUB_MEASURES, NE


def draw_hub_curves(shown: HubCurves, style: PaperStyle) -> Figure:
    """Draw the curves, in one panel or in one per measure."""
    n_panels = shown.paper_panels(style)
    apart = n_panels > 1
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, shown.title, shown.simulated, style)
        panels = list(figure.subplots(n_panels, sharex=True, squeeze=False)[:, 0])
        for i, measure in enumerate(shown.curves):
            axes = panels[i if apart else 0]
            _draw_group(axes, shown, measure, style, named=i == 0)
            about, values = (
                HUB_MEASURES[measure].in_words_of(shown.kind),
                shown.curves[measure][list(shown.order.order)],
            )
            width = 1.2 if measure == NE else 0.7
            axes.plot(values, color=style.colour(about.colour), linewidth=width, label=about.short)
            if i == 0:
                _mark(axes, shown, measure, style)
            axes.set_ylabel(shown.axis_title(measure, in_panels=apart))
            if shown.options.scale == "rank" and (apart or i == 0):
                axes.invert_yaxis()
        _finish_panels(figure, panels, shown, style)
        return finish(figure, style)


def _finish_panels(figure: Figure, panels: Sequence[Axes], shown: HubCurves, style: PaperStyle) -> None:
    """Legend, blocks and their names, once all curves are there."""
    order = shown.order
    panels[-1].set_xlim(-1, len(order.order))
    for axes in panels:
        for place in np.flatnonzero(shown.hubs[list(order.order)]) if len(panels) > 1 else ():
            axes.axvline(place, color=style.colour(HUB_COLOUR), alpha=0.35, linewidth=0.4, zorder=0)
        for _, _, end in order.blocks[:-1]:
            axes.axvline(end - 0.5, **BLOCK_LINE)
        axes.tick_params(bottom=False)
    entries = [entry for axes in panels for entry in zip(*axes.get_legend_handles_labels(), strict=True)]
    add_legend(figure, [handle for handle, _ in entries], [name for _, name in entries], style)
    reserve_names(panels[-1], order, along="x", otherwise=f"{len(order.order)} regions {shown.order_title}")
    figure.align_ylabels(panels)
    panel_mm = (0.2 if len(panels) > 1 else 0.4) * min(style.width_mm, 174) + 8
    fit_height(figure, panels, style, panel_mm=panel_mm)
    name_blocks(panels[-1], order, style, along="x")
    fit_height(figure, panels, style, panel_mm=panel_mm)  # names that fit side by side need less room


def _draw_group(axes: Axes, shown: HubCurves, measure: str, style: PaperStyle, *, named: bool) -> None:
    """Mean ± 1 SD as a band, and the mean as a dashed line."""
    if shown.group is None:
        return
    drawn = list(shown.order.order)
    mean, sd = shown.group.mean[measure][drawn], shown.group.sd[measure][drawn]
    colour = style.colour(HUB_MEASURES[measure].colour)
    axes.fill_between(np.arange(len(mean)), mean - sd, mean + sd, color=colour, alpha=0.2, linewidth=0)
    label = f"{shown.group.name}, mean ± SD" if named else "_nolegend_"
    axes.plot(mean, color=GROUP_COLOUR, linestyle="--", linewidth=0.7, label=label)


def _mark(axes: Axes, shown: HubCurves, measure: str, style: PaperStyle) -> None:
    """Diamonds on the hubs, and a ring around the region that was picked."""
    drawn = list(shown.order.order)
    hubs, values = shown.hubs[drawn], shown.curves[measure]
    axes.plot(
        np.flatnonzero(hubs),
        values[drawn][hubs],
        color=style.colour(HUB_COLOUR),
        marker=MARKERS["diamond"],
        markersize=2.5,
        markeredgewidth=0,
        linestyle="none",
        zorder=3,
        label=f"hubs by {HUB_MEASURES[measure].in_words_of(shown.kind).short}",
    )
    if shown.picked is not None:
        ring_region(axes, drawn.index(shown.picked), values[shown.picked], shown.regions[shown.picked], style)
