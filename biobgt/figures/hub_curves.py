"""Hub measures over the regions of one subject, all or a random few, with its group's mean and spread behind.

Arrays in, a plotly figure out. A click on a point picks its region: every point carries the region's number, counted
from 0, in ``customdata``.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.figures.frame import (
    RegionOrder,
    Trace,
    axis_suffix,
    block_ticks,
    in_panel,
    layout,
    order_regions,
    stacked_axes,
)
from biobgt.figures.hubs import (
    CHOSEN_COLOUR,
    HUB_COLOUR,
    LEGEND,
    MEASURE_COLOURS,
    SHORT_NAMES,
    UNITS,
    UNSELECTED,
    Values,
)

CurveScale = Literal["z", "rank", "raw"]

_SCALE_TITLES: Mapping[str, str] = {"z": "z-score over regions", "rank": "rank (1 is the strongest hub)"}
_PANEL_TITLES: Mapping[str, str] = {"z": "z", "rank": "rank"}
_NUMBERS: Mapping[str, str] = {"z": "%{y:.2f}", "rank": "%{y}", "raw": "%{y:.3g}"}
# Grey enough to be seen on a light and on a dark page.
_DIVIDER = {"color": "rgba(128, 128, 128, 0.6)", "width": 1}


def order_by_value(values: Values) -> RegionOrder:
    """Put the highest region first; equal ones keep the atlas's order."""
    return RegionOrder(tuple(np.argsort(-values, kind="stable").tolist()))


def random_regions(n_regions: int, n_drawn: int, *, seed: int) -> frozenset[int]:
    """Draw some regions at random, all of them where there are no more; counted from 0."""
    if seed < 0:
        raise InputError(f"The seed is {seed}; it must be 0 or more.")
    drawn = np.random.default_rng(seed).choice(n_regions, min(n_drawn, n_regions), replace=False)
    return frozenset(drawn.tolist())


def only_regions(order: RegionOrder, chosen: frozenset[int]) -> RegionOrder:
    """Leave only some regions in an order; blocks without any of them go."""
    kept = tuple(region for region in order.order if region in chosen)
    blocks, position = [], 0
    for name, start, end in order.blocks:
        size = sum(region in chosen for region in order.order[start:end])
        if size:
            blocks.append((name, position, position + size))
        position += size
    return RegionOrder(kept, tuple(blocks))


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
) -> go.Figure:
    """Draw several hub measures over regions; names and values show on hover.

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
    """
    order = order or order_regions(len(regions))
    names = [escape(regions[i], quote=False) for i in order.order]
    in_panels = scale == "raw" or group is not None
    traces: list[Trace] = []
    for i, (measure, values) in enumerate(curves.items()):
        drawn = [_curve(measure, names, order, values, scale)]
        if group is not None:
            drawn = _group_band(measure, names, order, group[measure], group_name, first=i == 0) + drawn
        if i == 0:
            drawn += _marks(measure, regions, order, values, hubs, picked)
        traces += [trace | in_panel(i if in_panels else 0) for trace in drawn]
    axis_titles = [_axis_title(measure, scale, in_panels) for measure in curves]
    axes = _axes(axis_titles if in_panels else axis_titles[:1], names, order, order_title, reverse=scale == "rank")
    frame = layout(title, simulated, height=640 if in_panels else 460, top=104)
    dividers = [_divider(end) for _, _, end in order.blocks[:-1]]
    hovering = {"hovermode": "x unified", "hoversubplots": "axis"}
    return go.Figure(traces, {**frame, **axes, **hovering, "shapes": dividers, "legend": LEGEND})


def _axes(
    titles: Sequence[str], names: Sequence[str], order: RegionOrder, order_title: str, *, reverse: bool
) -> dict[str, Any]:
    """A panel for each title of a y-axis; regions are named below the lowest."""
    axes = stacked_axes(len(titles), gap=0.05)
    regions = {"type": "category", "categoryorder": "array", "categoryarray": names, "range": [-1, len(names)]}
    for panel, title in enumerate(titles):
        axes[f"xaxis{axis_suffix(panel)}"] |= regions | {"showgrid": False, "zeroline": False}
        axes[f"yaxis{axis_suffix(panel)}"] |= {"title": {"text": title}, "zeroline": False}
        if reverse:
            axes[f"yaxis{axis_suffix(panel)}"]["autorange"] = "reversed"
    ticks = block_ticks(order, names)
    if not order.blocks:
        ticks["title"] = {"text": f"{len(names)} regions {order_title}"}
    axes[f"xaxis{axis_suffix(len(titles) - 1)}"] |= {"automargin": True, **ticks}
    return axes


def _axis_title(measure: str, scale: CurveScale, in_panels: bool) -> str:
    if scale == "raw":
        return UNITS[measure]
    return f"{SHORT_NAMES[measure]}, {_PANEL_TITLES[scale]}" if in_panels else _SCALE_TITLES[scale]


def _curve(measure: str, names: Sequence[str], order: RegionOrder, values: Values, scale: CurveScale) -> Trace:
    main = measure == "node_entanglement"
    return {
        "type": "scatter",
        "x": names,
        "y": values[list(order.order)],
        # A line alone cannot be clicked: the points are what picks a region.
        "mode": "lines+markers",
        "name": SHORT_NAMES[measure],
        "line": {"color": MEASURE_COLOURS[measure], "width": 2.2 if main else 1.4},
        "marker": {"color": MEASURE_COLOURS[measure], "size": 4.5 if main else 3},
        "unselected": UNSELECTED,
        "customdata": list(order.order),
        "hovertemplate": f"{SHORT_NAMES[measure]} {_NUMBERS[scale]}<extra></extra>",
    }


def _marks(
    measure: str,
    regions: Sequence[str],
    order: RegionOrder,
    values: Values,
    hubs: NDArray[np.bool_],
    picked: int | None,
) -> list[Trace]:
    """Diamonds on the hubs, and a ring around the region that was picked."""
    marked = [region for region in order.order if hubs[region]]
    kinds = [
        (f"hubs by {SHORT_NAMES[measure]}", marked, {"color": HUB_COLOUR, "symbol": "diamond", "size": 8}, "a hub")
    ]
    if picked in order.order:
        ring = {"color": CHOSEN_COLOUR, "symbol": "circle-open", "size": 15, "line": {"width": 3}}
        kinds.append((escape(regions[picked], quote=False), [picked], ring, "picked"))
    return [
        {
            "type": "scatter",
            "x": [escape(regions[i], quote=False) for i in chosen],
            "y": values[chosen],
            "mode": "markers",
            "name": name,
            "marker": marker,
            "unselected": UNSELECTED,
            "customdata": chosen,
            "hovertemplate": f"{text}<extra></extra>",
        }
        for name, chosen, marker, text in kinds
    ]


def _group_band(
    measure: str,
    names: Sequence[str],
    order: RegionOrder,
    mean_and_sd: tuple[Values, Values],
    group_name: str,
    *,
    first: bool,
) -> list[Trace]:
    """Mean ± 1 SD as one closed outline, and the mean as a dashed line."""
    mean, sd = (values[list(order.order)] for values in mean_and_sd)
    name = escape(group_name, quote=False)
    band = {
        "type": "scatter",
        "x": [*names, *reversed(names)],
        "y": [*(mean + sd), *(mean - sd)[::-1]],
        "fill": "toself",
        "fillcolor": MEASURE_COLOURS[measure],
        "opacity": 0.2,
        "mode": "lines",
        "line": {"width": 0},
        "hoverinfo": "skip",
        "showlegend": False,
        "legendgroup": "group",
    }
    middle = {
        "type": "scatter",
        "x": names,
        "y": mean,
        "mode": "lines",
        "name": f"{name}, mean ± SD",
        "line": {"color": "#7A868C", "dash": "dash", "width": 1.3},
        "customdata": sd,
        "hovertemplate": f"{name} %{{y:.3g}} ± %{{customdata:.2g}}<extra></extra>",
        "showlegend": first,
        "legendgroup": "group",
    }
    return [band, middle]


def _divider(end: int) -> dict[str, object]:
    return {"type": "line", "x0": end - 0.5, "x1": end - 0.5, "yref": "paper", "y0": 0, "y1": 1, "line": _DIVIDER}
