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
from plotly.subplots import make_subplots

from biobgt.figures.frame import UNLABELLED, RegionOrder, block_lines, block_ticks, layout
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
    figure = make_subplots(
        rows=1,
        cols=len(maps),
        subplot_titles=[escape(name, quote=False) for name in maps],
        horizontal_spacing=PANEL_GAP,
    )
    names = [escape(regions[i], quote=False) for i in order.order]
    for column, (name, matrix) in enumerate(maps.items(), start=1):
        heatmap = go.Heatmap(
            z=matrix[np.ix_(order.order, order.order)].astype(np.float32),
            x=names,
            y=names,
            name=name,
            coloraxis="coloraxis",
            hovertemplate="%{y} looks at<br>%{x}<br>%{z:.2f} × even<extra></extra>",
        )
        figure.add_trace(heatmap, row=1, col=column)
        _frame_panel(figure, order, names, column, panels=len(maps))
    figure.update_layout(
        coloraxis={
            "colorscale": _SEQUENTIAL,
            "cmin": limits[0],
            "cmax": limits[1],
            "colorbar": bar_below(quantity),
        },
        **room_below(title, simulated, height=480 if len(maps) < 3 else 400, bar=20),
    )
    figure.update_annotations(font_size=13)
    return figure


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
    names = [escape(regions[i], quote=False) for i in order.order]
    figure = make_subplots(rows=1, cols=1)
    heatmap = go.Heatmap(
        z=difference[np.ix_(order.order, order.order)].astype(np.float32),
        x=names,
        y=names,
        zmin=-limit,
        zmax=limit,
        colorscale=DIVERGING,
        hovertemplate="%{y} looks at<br>%{x}<br>%{z:+.3f} × even<extra></extra>",
        colorbar=bar_below("difference (× even attention)"),
    )
    figure.add_trace(heatmap, row=1, col=1)
    _frame_panel(figure, order, names, 1)
    spans = {name: (start - 0.5, end - 0.5) for name, start, end in order.blocks}
    for looking, looked_at in marked:
        if looking in spans and looked_at in spans:
            (y0, y1), (x0, x1) = spans[looking], spans[looked_at]
            figure.add_shape(type="rect", x0=x0, x1=x1, y0=y0, y1=y1, line=_MARK_LINE, name="marked")
    figure.update_layout(**room_below(title, simulated, height=540, bar=20, top=48))
    return figure


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
    figure = go.Figure()
    for group, values in contrast.items():
        layers, heads = values.shape
        spots = [f"layer {layer + 1}, head {head + 1}" for layer in range(layers) for head in range(heads)]
        figure.add_scatter(
            x=[escape(group, quote=False)] * values.size,
            y=values.ravel().astype(float),
            text=spots,
            mode="markers",
            name=f"{escape(group, quote=False)}, each head",
            marker={"color": group_colour(group), "size": 8, "opacity": 0.45},
            hovertemplate="%{x}, %{text}<br>%{y:.2f}<extra></extra>",
            showlegend=False,
        )
        figure.add_scatter(
            x=[escape(group, quote=False)],
            y=[float(np.nanmean(values))],
            mode="markers+text",
            name=f"{escape(group, quote=False)}, mean",
            text=[f"  {np.nanmean(values):.2f}"],
            textposition="middle right",
            marker={"color": group_colour(group), "size": 15, "symbol": "diamond", "line": {"width": 1}},
            hovertemplate="%{x}, mean of heads<br>%{y:.2f}<extra></extra>",
            showlegend=False,
        )
    figure.add_hline(y=1, line={"color": _OTHER_COLOUR, "dash": "dot"}, annotation_text="no modules")
    figure.update_xaxes(type="category", range=[-0.5, len(contrast) - 0.5])
    figure.update_yaxes(title_text="Attention within / between modules")
    figure.update_layout(**layout(title, simulated, height=400))
    return figure


def block_colours(order: RegionOrder) -> list[str]:
    """A colour for each block of regions; grey for those without a label."""
    named = [name for name, _, _ in order.blocks if name != UNLABELLED]
    colours = {name: MODULE_COLOURS[i % len(MODULE_COLOURS)] for i, name in enumerate(named)}
    return [colours.get(name, _UNNAMED_COLOUR) for name, _, _ in order.blocks]


def _frame_panel(figure: go.Figure, order: RegionOrder, names: Sequence[str], column: int, *, panels: int = 1) -> None:
    """Square axes, lines between blocks, and beside the first panel their names with coloured brackets."""
    suffix = "" if column == 1 else str(column)
    axis: dict[str, Any] = {"type": "category", "showgrid": False, "zeroline": False, "constrain": "domain"}
    figure.update_xaxes(**axis, tickvals=[], row=1, col=column)
    ticks = _names_apart(order, names, panels) if column == 1 else {"tickvals": []}
    anchor = {"scaleanchor": f"x{suffix}", "scaleratio": 1, "constraintoward": "top"}
    figure.update_yaxes(**axis, **ticks, **anchor, autorange="reversed", row=1, col=column)
    for line in block_lines(order, both_ways=True):
        figure.add_shape(line, row=1, col=column)
    for (_, start, end), colour in zip(order.blocks, block_colours(order), strict=True):
        figure.add_shape(
            type="rect",
            xref=f"x{suffix} domain",  # beside the matrix wherever its square shape puts its edge
            yref=f"y{suffix}",
            x0=-0.022,
            x1=-0.008,
            y0=start - 0.3,
            y1=end - 0.7,
            fillcolor=colour,
            line={"width": 0},
        )


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


def room_below(title: str, simulated: bool, *, height: int, bar: int, top: int = 74) -> dict[str, Any]:
    """Title, height and margins, with room for the colour bar below."""
    shared: dict[str, Any] = layout(title, simulated, height=height, top=top)
    shared["margin"] = {**shared["margin"], "b": bar}
    return shared


def bar_below(quantity: str, *, y: float = -0.04) -> dict[str, object]:
    """A colour bar below the panels."""
    return {
        "orientation": "h",
        "thickness": 10,
        "len": 0.6,
        "y": y,
        "yanchor": "top",
        "title": {"text": quantity, "side": "bottom"},
    }
