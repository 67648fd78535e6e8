"""What figures share: titles that say when a subject is simulated, margins, panels, lines.

Traces and layouts are plain dictionaries, and a figure is made of them at once: plotly checks a figure whenever it is
changed, so that one put together piece by piece takes several times as long.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biobgt.base.colours import ink_on
from biobgt.base.wording import whose as whose  # for figures that are classes
from biobgt.figures.regions import RegionOrder

Trace = dict[str, Any]
Axes = dict[str, dict[str, Any]]
Values = NDArray[np.float64]

TOOLBAR = 34  # px; plotly lays its buttons over the upper right of a figure, so the title starts below them
BAR_BOTTOM = 104  # px below the toolbar, of a colour bar under the title with its numbers
# A click picks a point; the others do not fade, because all of them still count.
UNSELECTED = {"marker": {"opacity": 0.75}}
LEGEND = {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "title": {"text": ""}}
# Where a second line of legend above the plot would lie on something.
LEGEND_BELOW = {**LEGEND, "y": -0.2, "yanchor": "top"}
GAMMA_TICKS = (0.1, 0.3, 1, 3, 10, 30, 100)
GAMMA_TITLE = "γ (in units of 1/mean(λ))"
_BAR_TOP = 50
_SMALL_LINE = "<span style='font-size:3px'> </span>"  # plotly sets the last line of a bar's title onto the bar
_BLOCK_LINE = {"color": "rgba(60, 60, 60, 0.55)", "width": 1}


def layout(title: str, simulated: bool, *, height: int, top: int = 48) -> dict[str, Any]:
    """Title, height and margins, below the room for the toolbar; a simulated subject's title says so.

    Parameters
    ----------
    title : str
    simulated : bool
        Adds the word to the title.
    height, top : int
        Of the figure and of the room for title and legend, in pixels, without the toolbar.
    """
    text = escape(title, quote=False) + (" · simulated" if simulated else "")
    return {
        "title": {
            "text": text,
            "font": {"size": 15},
            "x": 0,
            "xanchor": "left",
            "y": 1,
            "yanchor": "top",
            "yref": "container",
            "pad": {"t": TOOLBAR},
        },
        "height": height + TOOLBAR,
        "margin": {"l": 8, "r": 12, "t": top + TOOLBAR, "b": 8},
    }


def bar_above(quantity: str, height: int) -> dict[str, Any]:
    """A colour bar below the title, where it takes no width from what is drawn and no square shrinks away from it.

    Parameters
    ----------
    quantity : str
    height : int
        Of the figure, as :func:`layout` is given it.
    """
    return {
        "orientation": "h",
        "thickness": 10,
        "len": 0.6,
        "yref": "container",
        "y": 1 - _BAR_TOP / height,
        "yanchor": "top",
        "ypad": 0,
        "title": {"text": f"{quantity}<br>{_SMALL_LINE}", "side": "top"},
    }


def block_ticks(order: RegionOrder, names: Sequence[str]) -> dict[str, Any]:
    """One tick per block, named; hundreds of region names would not be readable and show on hover instead."""
    if not order.blocks:
        return {"showticklabels": False, "ticks": "", "title": {"text": order.title}}
    middles = [names[(start + end - 1) // 2] for _, start, end in order.blocks]
    return {"tickvals": middles, "ticktext": [escape(name, quote=False) for name, _, _ in order.blocks]}


def cell_texts(
    shares: Values, texts: Sequence[Sequence[str]], names: Sequence[str], panel: Mapping[str, str]
) -> list[dict[str, Any]]:
    """What stands in the cells of a square map, black or white by the colour behind it; no theme's grey is.

    Parameters
    ----------
    shares : ndarray, shape (n, n)
        Values as shares of the end of the diverging scale.
    texts : sequence of sequence of str
        Of each cell; empty for none.
    names : sequence of str, length n
        Of rows and columns.
    panel : mapping of str to str
        The axes, as :func:`in_panel` names them.
    """
    at = {"xref": panel.get("xaxis", "x"), "yref": panel.get("yaxis", "y"), "showarrow": False}
    return [
        {**at, "x": names[column], "y": names[row], "text": text, "font": {"size": 12, "color": ink_on(share)}}
        for row, (values, words) in enumerate(zip(shares.tolist(), texts, strict=True))
        for column, (share, text) in enumerate(zip(values, words, strict=True))
        if text
    ]


def block_lines(order: RegionOrder, *, both_ways: bool) -> list[dict[str, object]]:
    """Lines between blocks, across the whole plot where only rows are regions."""
    span = {"x0": -0.5, "x1": len(order.order) - 0.5} if both_ways else {"xref": "paper", "x0": 0, "x1": 1}
    ends = [end - 0.5 for _, _, end in order.blocks[:-1]]
    lines = [{"type": "line", **span, "y0": end, "y1": end, "line": _BLOCK_LINE} for end in ends]
    if both_ways:
        down = {"y0": -0.5, "y1": len(order.order) - 0.5}
        lines += [{"type": "line", **down, "x0": end, "x1": end, "line": _BLOCK_LINE} for end in ends]
    return lines


def block_brackets(order: RegionOrder, colours: Sequence[str]) -> list[dict[str, Any]]:
    """A coloured bar beside the rows of each block."""
    beside = {
        "type": "rect",
        "xref": "x domain",  # beside the matrix wherever its square shape puts its edge
        "x0": -0.022,
        "x1": -0.008,
        "line": {"width": 0},
    }
    return [
        {**beside, "y0": start - 0.3, "y1": end - 0.7, "fillcolor": colour}
        for (_, start, end), colour in zip(order.blocks, colours, strict=True)
    ]


def axis_suffix(panel: int) -> str:
    """What plotly appends to the names of a panel's axes: nothing for the first, then 2, 3 and so on."""
    return str(panel + 1) if panel else ""


def stacked_axes(n_panels: int, *, gap: float, heights: Sequence[float] | None = None) -> Axes:
    """Axes of panels from top to bottom, all with the x-axis of the lowest, as plotly's ``make_subplots`` has them.

    Parameters
    ----------
    n_panels : int
    gap : float
        Between panels, as a share of the figure.
    heights : sequence of float, length n_panels, optional
        Relative to one another; by default all alike.
    """
    spans = _spans(n_panels, gap, heights and heights[::-1])[::-1]
    axes: Axes = {}
    for panel, span in enumerate(spans):
        suffix, last = axis_suffix(panel), axis_suffix(n_panels - 1)
        shared = {} if panel == n_panels - 1 else {"matches": f"x{last}", "showticklabels": False}
        axes[f"xaxis{suffix}"] = {"anchor": f"y{suffix}", "domain": [0.0, 1.0], **shared}
        axes[f"yaxis{suffix}"] = {"anchor": f"x{suffix}", "domain": span}
    return axes


def side_by_side_axes(n_panels: int, *, gap: float, shared: bool = False) -> Axes:
    """Axes of panels from left to right, as plotly's ``make_subplots`` has them, with a y-axis each or one for all.

    Parameters
    ----------
    n_panels : int
    gap : float
        Between panels, as a share of the figure.
    shared : bool
        Whether all have the y-axis of the first.
    """
    axes: Axes = {}
    for panel, span in enumerate(_spans(n_panels, gap)):
        suffix = axis_suffix(panel)
        first = {"matches": "y", "showticklabels": False} if shared and panel else {}
        axes[f"xaxis{suffix}"] = {"anchor": f"y{suffix}", "domain": span}
        axes[f"yaxis{suffix}"] = {"anchor": f"x{suffix}", "domain": [0.0, 1.0], **first}
    return axes


def in_panel(panel: int) -> dict[str, str]:
    """The axes on which a trace of a panel lies."""
    return {"xaxis": f"x{axis_suffix(panel)}", "yaxis": f"y{axis_suffix(panel)}"}


def panel_titles(titles: Sequence[str], axes: Axes) -> list[dict[str, Any]]:
    """What stands above each of the panels that are side by side, in one row or several."""
    above = {"xref": "paper", "yref": "paper", "xanchor": "center", "yanchor": "bottom", "showarrow": False}
    middles = [sum(axes[f"xaxis{axis_suffix(panel)}"]["domain"]) / 2 for panel in range(len(titles))]
    tops = [axes[f"yaxis{axis_suffix(panel)}"].get("domain", (0.0, 1.0))[1] for panel in range(len(titles))]
    return [
        {**above, "x": middle, "y": top, "text": title, "font": {"size": 13}}
        for middle, top, title in zip(middles, tops, titles, strict=True)
    ]


def vertical_line(x: float, line: Mapping[str, object], *, panel: int = 0) -> dict[str, Any]:
    """A line from the bottom of a panel to its top.

    Parameters
    ----------
    x : float
    line : mapping
        Colour, width and dash, as plotly names them.
    panel : int
        Counted from 0.
    """
    suffix = axis_suffix(panel)
    across = {"xref": f"x{suffix}", "x0": x, "x1": x}
    return {"type": "line", **across, "yref": f"y{suffix} domain", "y0": 0, "y1": 1, "line": dict(line)}


def horizontal_line(y: float, line: Mapping[str, object]) -> dict[str, Any]:
    """A line from one side of the plot to the other."""
    return {"type": "line", "xref": "x domain", "x0": 0, "x1": 1, "yref": "y", "y0": y, "y1": y, "line": dict(line)}


def note_at_top(x: float, text: str, *, anchor: str, font: Mapping[str, object]) -> dict[str, Any]:
    """Words beside the upper end of a vertical line.

    Parameters
    ----------
    x : float
    text : str
    anchor : {"left", "right"}
        The side of the words that is at x.
    font : mapping
        Colour and size, as plotly names them.
    """
    place = {"x": x, "xref": "x", "xanchor": anchor, "y": 1, "yref": "y domain", "yanchor": "top"}
    return {**place, "text": text, "font": dict(font), "showarrow": False}


def note_at_right(y: float, text: str) -> dict[str, Any]:
    """Words above the right end of a horizontal line."""
    place = {"x": 1, "xref": "x domain", "xanchor": "right", "y": y, "yref": "y", "yanchor": "bottom"}
    return {**place, "text": text, "showarrow": False}


def spread_band(x: NDArray[Any], mean: Values, sd: Values, colour: str, *, group: str) -> Trace:
    """Mean ± 1 SD as one closed outline, behind a curve.

    Parameters
    ----------
    x : ndarray, shape (n_points,)
    mean, sd : ndarray, shape (n_points,)
    colour : str
    group : str
        What is shown and hidden together in the legend.
    """
    return {
        "type": "scatter",
        "x": np.concatenate([x, x[::-1]]),
        "y": np.concatenate([mean + sd, (mean - sd)[::-1]]),
        "fill": "toself",
        "fillcolor": colour,
        "opacity": 0.2,
        "mode": "lines",
        "line": {"width": 0},
        "hoverinfo": "skip",
        "showlegend": False,
        "legendgroup": group,
    }


def error_bars(low: Values, value: Values, high: Values, colour: str) -> dict[str, Any]:
    """Error bars of different length on the two sides.

    Parameters
    ----------
    low, value, high : ndarray, shape (n_points,)
    colour : str
    """
    return {"type": "data", "array": high - value, "arrayminus": value - low, "color": colour, "thickness": 1.5}


def _spans(n_panels: int, gap: float, sizes: Sequence[float] | None = None) -> list[list[float]]:
    """Start and end of each panel, as shares of the figure."""
    filled = 1 - gap * (n_panels - 1)
    whole = float(sum(sizes)) if sizes else 0.0
    lengths = [filled * (size / whole) for size in sizes] if sizes else [filled / n_panels] * n_panels
    starts = [sum(lengths[:panel]) + panel * gap for panel in range(n_panels)]
    return [[start, min(start + length, 1.0)] for start, length in zip(starts, lengths, strict=True)]
