"""Attention on the screen: groups side by side, the difference of two, the contrast with modules.

Arrays in, a plotly figure out. Attention is in multiples of even attention (1 is even); rows look, columns are looked
at. Groups stand on one colour scale, or they could not be compared. Captions are in
:mod:`biobgt.figures.attention_captions`.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from biobgt.figures.frame import (
    BAR_BOTTOM,
    UNLABELLED,
    Axes,
    RegionOrder,
    Trace,
    axis_suffix,
    bar_above,
    block_brackets,
    block_lines,
    block_ticks,
    horizontal_line,
    in_panel,
    layout,
    note_at_right,
    panel_titles,
    side_by_side_axes,
)
from biobgt.figures.modules import MODULE_COLOURS, label_rows

Matrix = NDArray[np.float64]

QUANTITY, RECEIVED = "attention (1 = even)", "attention received (1 = even)"
GROUP_COLOURS: Mapping[str, str] = {
    "NC": "#0072B2",
    "ASD": "#D55E00",
    "ADHD": "#E69F00",
    "MCI": "#CC79A7",
    "AD": "#882255",
}
_SEQUENTIAL, DIVERGING = "Viridis", "RdBu_r"  # both are safe for the colour-blind
_OTHER_COLOUR = "#7A868C"
_UNNAMED_COLOUR = "#9AA5AB"
_MARK_LINE = {"color": "#111111", "width": 2.5}
PANEL_GAP = 0.03
# Square maps are as high as they are wide, and a figure's height has to be given: it fits this width, that of a page in
# a window of 1280 px. What is wider would only part the maps, and what is narrower leaves room below them.
PAGE_WIDTH = 820
_NAMES_WIDTH, _LARGEST_MAP = 130, 408
_NAME_SHARE = {1: 1 / 19, 2: 1 / 10}  # of a panel's height on a narrow page, for a name


def group_colour(group: str) -> str:
    """Colour of a group, the same in all figures."""
    return GROUP_COLOURS.get(group, _OTHER_COLOUR)


def attention_heatmaps(
    maps: Mapping[str, Matrix],
    regions: Sequence[str],
    *,
    order: RegionOrder,
    limits: tuple[float, float],
    title: str = "",
    quantity: str = QUANTITY,
    simulated: bool = False,
) -> go.Figure:
    """Draw attention of several groups side by side on one colour scale; regions show on hover.

    Parameters
    ----------
    maps : mapping of str to ndarray, shape (n_regions, n_regions)
        By what stands above each, such as ``NC (n = 462)``.
    regions : sequence of str, length n_regions
    order : RegionOrder
        The same for all maps.
    limits : (float, float)
        Ends of the colour scale.
    title, quantity : str
    simulated : bool
        Adds the word to the title, so that a saved picture says so too.
    """
    names = [escape(regions[i], quote=False) for i in order.order]
    traces = [
        {
            "type": "heatmap",
            "z": matrix[np.ix_(order.order, order.order)].astype(np.float32),
            "x": names,
            "y": names,
            "name": name,
            "coloraxis": "coloraxis",
            "hovertemplate": "%{y} looks at<br>%{x}<br>%{z:.2f} × even<extra></extra>",
            **in_panel(panel),
        }
        for panel, (name, matrix) in enumerate(maps.items())
    ]
    axes = _square_axes(order, names, panels=len(maps))
    top = BAR_BOTTOM + 22
    height = top + 8 + _map_side(len(maps))
    bar = bar_above(quantity, height)
    scale = {"colorscale": _SEQUENTIAL, "cmin": limits[0], "cmax": limits[1], "colorbar": bar}
    frame = {
        **layout(title, simulated, height=height, top=top),
        **axes,
        "shapes": [shape for panel in range(len(maps)) for shape in _block_shapes(order, panel)],
        "annotations": panel_titles([escape(name, quote=False) for name in maps], axes),
        "coloraxis": scale,
    }
    return go.Figure(traces, frame)


def _map_side(panels: int) -> int:
    """How wide square maps side by side are on a page, in pixels."""
    beside = (PAGE_WIDTH - _NAMES_WIDTH) * (1 - PANEL_GAP * (panels - 1)) / panels
    return min(_LARGEST_MAP, round(beside))


def attention_difference(
    difference: Matrix,
    regions: Sequence[str],
    *,
    order: RegionOrder,
    limit: float,
    marked: Sequence[tuple[str, str]] = (),
    title: str = "",
    simulated: bool = False,
) -> go.Figure:
    """Draw the difference of two groups' attention, with a frame around the blocks of modules that differ.

    Parameters
    ----------
    difference : ndarray, shape (n_regions, n_regions)
        Second group minus first, in multiples of even attention.
    regions : sequence of str, length n_regions
    order : RegionOrder
    limit : float
        The colours run from −limit to limit.
    marked : sequence of (str, str)
        Modules of blocks to frame, looking and looked at; those that are no block of the order are left out.
    title : str
    simulated : bool
    """
    names, height = [escape(regions[i], quote=False) for i in order.order], 540
    heatmap = {
        "type": "heatmap",
        "z": difference[np.ix_(order.order, order.order)].astype(np.float32),
        "x": names,
        "y": names,
        "zmin": -limit,
        "zmax": limit,
        "colorscale": DIVERGING,
        "hovertemplate": "%{y} looks at<br>%{x}<br>%{z:+.3f} × even<extra></extra>",
        "colorbar": bar_above("difference (× even attention)", height),
        **in_panel(0),
    }
    frame = {
        **layout(title, simulated, height=height, top=BAR_BOTTOM + 6),
        **_square_axes(order, names),
        "shapes": [*_block_shapes(order, 0), *_marks(order, marked)],
    }
    return go.Figure([heatmap], frame)


def _marks(order: RegionOrder, marked: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """Frames around blocks."""
    spans = {name: (start - 0.5, end - 0.5) for name, start, end in order.blocks}
    marks: list[dict[str, Any]] = []
    for looking, looked_at in marked:
        if looking in spans and looked_at in spans:
            (y0, y1), (x0, x1) = spans[looking], spans[looked_at]
            place = {"x0": x0, "x1": x1, "y0": y0, "y1": y1}
            marks.append({"type": "rect", **place, "line": _MARK_LINE, "name": "marked"})
    return marks


def contrast_points(
    contrast: Mapping[str, NDArray[np.float32]], *, title: str = "", simulated: bool = False
) -> go.Figure:
    """Draw how much more regions look within their module than between modules, a point a head.

    Parameters
    ----------
    contrast : mapping of str to ndarray, shape (n_layers, n_heads)
        Mean over the subjects of each group.
    title : str
    simulated : bool
    """
    frame = {
        **layout(title, simulated, height=400),
        "xaxis": {"type": "category", "range": [-0.5, len(contrast) - 0.5]},
        "yaxis": {"title": {"text": "Attention within / between modules"}},
        "shapes": [horizontal_line(1, {"color": _OTHER_COLOUR, "dash": "dot"})],
        "annotations": [note_at_right(1, "no modules")],
    }
    return go.Figure([trace for group in contrast for trace in _contrast_of(group, contrast[group])], frame)


def _contrast_of(group: str, values: NDArray[np.float32]) -> list[Trace]:
    """A group's heads as points, and their mean with its number beside it."""
    shown, colour = escape(group, quote=False), group_colour(group)
    layers, heads = values.shape
    each = {
        "type": "scatter",
        "x": [shown] * values.size,
        "y": values.ravel().astype(float),
        "text": [f"layer {layer + 1}, head {head + 1}" for layer in range(layers) for head in range(heads)],
        "mode": "markers",
        "name": f"{shown}, each head",
        "marker": {"color": colour, "size": 8, "opacity": 0.45},
        "hovertemplate": "%{x}, %{text}<br>%{y:.2f}<extra></extra>",
        "showlegend": False,
    }
    mean = {
        "type": "scatter",
        "x": [shown],
        "y": [float(np.nanmean(values))],
        "mode": "markers+text",
        "name": f"{shown}, mean",
        "text": [f"  {np.nanmean(values):.2f}"],
        "textposition": "middle right",
        "marker": {"color": colour, "size": 15, "symbol": "diamond", "line": {"width": 1}},
        "hovertemplate": "%{x}, mean of heads<br>%{y:.2f}<extra></extra>",
        "showlegend": False,
    }
    return [each, mean]


def block_colours(order: RegionOrder) -> list[str]:
    """A colour for each block of regions; grey for those without a label."""
    named = [name for name, _, _ in order.blocks if name != UNLABELLED]
    colours = {name: MODULE_COLOURS[i % len(MODULE_COLOURS)] for i, name in enumerate(named)}
    return [colours.get(name, _UNNAMED_COLOUR) for name, _, _ in order.blocks]


def _square_axes(order: RegionOrder, names: Sequence[str], *, panels: int = 1) -> Axes:
    """Axes of square panels side by side, with the names of blocks beside the first."""
    axes = side_by_side_axes(panels, gap=PANEL_GAP)
    axis = {"type": "category", "showgrid": False, "zeroline": False, "constrain": "domain"}
    for panel in range(panels):
        suffix = axis_suffix(panel)
        ticks = {"tickvals": []} if panel else _names_apart(order, names, panels)
        anchor = {"scaleanchor": f"x{suffix}", "scaleratio": 1, "constraintoward": "top"}
        axes[f"xaxis{suffix}"] |= {**axis, "tickvals": []}
        axes[f"yaxis{suffix}"] |= {**axis, **ticks, **anchor, "autorange": "reversed"}
    return axes


def _block_shapes(order: RegionOrder, panel: int) -> list[dict[str, Any]]:
    """Lines between the blocks of a panel, and coloured brackets beside it."""
    x, y = f"x{axis_suffix(panel)}", f"y{axis_suffix(panel)}"
    lines = [{**line, "xref": x, "yref": y} for line in block_lines(order, both_ways=True)]
    brackets = block_brackets(order, block_colours(order))
    return lines + [{**bracket, "xref": f"{x} domain", "yref": y} for bracket in brackets]


def _names_apart(order: RegionOrder, names: Sequence[str], panels: int) -> dict[str, Any]:
    """One name a block in the bracket's colour, moved apart where panels side by side leave little height."""
    ticks: dict[str, Any] = dict(block_ticks(order, names))
    if not order.blocks:
        return ticks
    rows = label_rows(order, min(_NAME_SHARE.get(panels, 1 / 7), 1 / len(order.blocks)))
    coloured = zip(ticks["ticktext"], block_colours(order), strict=True)
    return {
        "tickvals": [names[row] for row in rows],
        "ticktext": [f'{name} <span style="color:{colour}">■</span>' for name, colour in coloured],
        "ticks": "",
        "ticklabelstandoff": 8,
        "tickfont": {"size": 11 if panels < 3 else 10},
    }
