"""Hub measures over the regions of one subject in the paper: the twin of :mod:`biobgt.figures.hub_curves`."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from biobgt.figures.frame import RegionOrder, order_regions
from biobgt.figures.hub_curves import CurveScale
from biobgt.figures.hubs import HUB_COLOUR, MEASURE_COLOURS, SHORT_NAMES, UNITS, Values
from biobgt.figures.paper.frame import (
    BLOCK_LINE,
    MARKERS,
    add_legend,
    finish,
    fit_height,
    name_blocks,
    new_figure,
    reserve_names,
    set_title,
)
from biobgt.figures.paper.hubs import ring_region
from biobgt.figures.paper.style import PaperStyle, drawing

_PLAIN = PaperStyle()
_SCALE_TITLES: Mapping[str, str] = {"z": "z-score over regions", "rank": "rank (1 is the strongest hub)"}
_PANEL_TITLES: Mapping[str, str] = {"z": "z", "rank": "rank"}
_GROUP_COLOUR = "#7A868C"


def hub_curves(
    curves: Mapping[str, Values],
    regions: Sequence[str],
    hubs: NDArray[np.bool_],
    *,
    scale: CurveScale = "z",
    order: RegionOrder | None = None,
    order_title: str = "in atlas order",
    group: Mapping[str, tuple[Values, Values]] | None = None,
    group_name: str = "group",
    picked: int | None = None,
    title: str = "",
    simulated: bool = False,
    style: PaperStyle = _PLAIN,
) -> Figure:
    """Draw several hub measures over regions.

    Parameters
    ----------
    curves : mapping of str to ndarray, shape (n_regions,)
        By the measures of :data:`biobgt.figures.SHORT_NAMES`, already on the scale that is named.
    regions : sequence of str, length n_regions
    hubs : ndarray of bool, shape (n_regions,)
        Regions to mark on the first curve.
    scale : {"z", "rank", "raw"}
        Z-scores and ranks share an axis; raw values have a panel each, because their units differ.
    order : RegionOrder, optional
        Regions that are not in it are not drawn.
    order_title : str
        Says what the order is, where it has no blocks to name.
    group : mapping of str to (ndarray, ndarray), each of shape (n_regions,), optional
        Mean and SD over a group by measure, on the same scale, drawn behind; then every measure has a panel.
    group_name : str
    picked : int, optional
        A region, counted from 0, to ring on the first curve.
    title : str
    simulated : bool
    style : PaperStyle
    """
    order = order or order_regions(len(regions))
    drawn = list(order.order)
    in_panels = scale == "raw" or group is not None
    n_rows = len(curves) if in_panels else 1
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, title, simulated, style)
        panels = list(figure.subplots(n_rows, sharex=True, squeeze=False)[:, 0])
        for i, (measure, values) in enumerate(curves.items()):
            axes = panels[i if in_panels else 0]
            if group is not None:
                mean, sd = group[measure]
                _draw_group(axes, measure, mean[drawn], sd[drawn], group_name if i == 0 else None, style)
            _draw_curve(axes, measure, values[drawn], style)
            if i == 0:
                _mark_hubs(axes, measure, values[drawn], hubs[drawn], style)
                if picked in drawn:
                    ring_region(axes, drawn.index(picked), values[picked], regions[picked], style)
            axes.set_ylabel(_axis_title(measure, scale, in_panels))
            if scale == "rank" and (in_panels or i == 0):
                axes.invert_yaxis()
        _finish_panels(figure, panels, order, order_title, style)
        return finish(figure, style)


def _finish_panels(
    figure: Figure, panels: Sequence[Axes], order: RegionOrder, order_title: str, style: PaperStyle
) -> None:
    """Legend, blocks and their names, once all curves are there."""
    panels[-1].set_xlim(-1, len(order.order))
    for axes in panels:
        for _, _, end in order.blocks[:-1]:
            axes.axvline(end - 0.5, **BLOCK_LINE)
        axes.tick_params(bottom=False)
    entries = [entry for axes in panels for entry in zip(*axes.get_legend_handles_labels(), strict=True)]
    add_legend(figure, [handle for handle, _ in entries], [name for _, name in entries], style)
    reserve_names(panels[-1], order, along="x", otherwise=f"{len(order.order)} regions {order_title}")
    figure.align_ylabels(panels)
    panel_mm = (0.2 if len(panels) > 1 else 0.4) * min(style.width_mm, 174) + 8
    fit_height(figure, panels, style, panel_mm=panel_mm)
    name_blocks(panels[-1], order, style, along="x")
    fit_height(figure, panels, style, panel_mm=panel_mm)  # names that fit side by side need less room


def _axis_title(measure: str, scale: CurveScale, in_panels: bool) -> str:
    if scale == "raw":
        return UNITS[measure]
    return f"{SHORT_NAMES[measure]}, {_PANEL_TITLES[scale]}" if in_panels else _SCALE_TITLES[scale]


def _draw_curve(axes: Axes, measure: str, values: Values, style: PaperStyle) -> None:
    width = 1.2 if measure == "node_entanglement" else 0.7
    axes.plot(values, color=style.colour(MEASURE_COLOURS[measure]), linewidth=width, label=SHORT_NAMES[measure])


def _draw_group(axes: Axes, measure: str, mean: Values, sd: Values, name: str | None, style: PaperStyle) -> None:
    """Mean ± 1 SD as a band, and the mean as a dashed line."""
    colour = style.colour(MEASURE_COLOURS[measure])
    axes.fill_between(np.arange(len(mean)), mean - sd, mean + sd, color=colour, alpha=0.2, linewidth=0)
    label = "_nolegend_" if name is None else f"{name}, mean ± SD"
    axes.plot(mean, color=_GROUP_COLOUR, linestyle="--", linewidth=0.7, label=label)


def _mark_hubs(axes: Axes, measure: str, values: Values, hubs: NDArray[np.bool_], style: PaperStyle) -> None:
    axes.plot(
        np.flatnonzero(hubs),
        values[hubs],
        color=style.colour(HUB_COLOUR),
        marker=MARKERS["diamond"],
        markersize=2.5,
        markeredgewidth=0,
        linestyle="none",
        zorder=3,
        label=f"hubs by {SHORT_NAMES[measure]}",
    )
