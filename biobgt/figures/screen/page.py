"""A drawing as pages of the app show it: smaller, with the region that a user pinned, its numbers as bytes.

A pinned region has a ring around its points and a frame around its row, in whatever a figure draws. A painted cortex
has no place of its own for a region, and stays as it is.
"""

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np

from biobgt.base.colours import PURPLE
from biobgt.figures.drawing import Drawing
from biobgt.figures.screen.pen import Dictionary, draw_on_screen

_MOST_NAMED = 5  # entries of a legend that fit below a third of a page
_SMALL, _SMALLER = 12, 10  # px, of letters there
_SMALL_BAR, _PANEL_TITLE, _EDGE = 52, 18, 4  # px, of a colour bar with its words and numbers, and around
_TYPED = {"float64": "f8", "float32": "f4", "int32": "i4", "int16": "i2", "uint16": "u2", "int8": "i1", "uint8": "u1"}
_RING = {"color": PURPLE, "width": 3}
_LARGER = 7  # px, than what it surrounds
_OWN_AXES = ("xaxis", "yaxis", "scene")


def page_contents(drawing: Drawing, *, small: int = 0, pinned: int | None = None) -> Dictionary:
    """A drawing as a page of the app keeps it: numbers as bytes, and plotly's template, which the page's theme fills.

    Parameters
    ----------
    drawing : Drawing
    small : int
        Height in px of a drawing for a third of a page; 0 for a whole one.
    pinned : int, optional
        A region to be marked in every plot that has it, counted from 0.
    """
    from plotly.io import templates  # takes a while, and only pages need it

    contents = draw_on_screen(drawing)
    if pinned is not None:
        _mark_region(contents, pinned)
    contents = packed(_compact(contents, height=small) if small else contents)
    contents["layout"]["template"] = templates[templates.default].to_plotly_json()
    return contents


def plotly_figure(contents: Dictionary, **layout: Any) -> Any:
    """What was drawn before as a figure of plotly, as ``st.plotly_chart`` takes it; of a dictionary it would check all.

    Parameters
    ----------
    contents : dict
        Not to be changed, because sessions share it.
    **layout
        In the place of what its layout says.
    """
    from plotly.basedatatypes import BaseFigure

    shown = {**contents, "layout": {**contents["layout"], **layout}}

    class Drawn(BaseFigure):  # type: ignore[misc]
        """Streamlit asks it for its contents, and for nothing else."""

        def __init__(self) -> None:
            pass

        def to_dict(self) -> Dictionary:
            return shown

    return Drawn()


def _compact(contents: Dictionary, *, height: int) -> Dictionary:
    """The same as small as a third of a page, with less around it.

    The title, the names of networks, long legends and the toolbar's room are left out; whoever shows it says beside it
    whose it is, and whether that is simulated. What the figure shows stays as it was drawn.

    Parameters
    ----------
    contents : dict
        Of :func:`biobgt.figures.screen.pen.draw_on_screen`.
    height : int
        In px.
    """
    layout, letters = contents["layout"], {"size": _SMALLER}
    frame = {**layout, "title": {"text": ""}, "height": height}
    top = _EDGE
    n_named = sum(bool(trace.get("name")) and trace.get("showlegend") is not False for trace in contents["data"])
    if "coloraxis" in layout:
        bar = layout["coloraxis"]["colorbar"]
        small = {"thickness": 6, "len": 0.9, "y": 1, "tickfont": letters, "title": {**bar["title"], "font": letters}}
        frame["coloraxis"] = {**layout["coloraxis"], "colorbar": bar | small}
        top += _SMALL_BAR + _PANEL_TITLE
    elif not 0 < n_named <= _MOST_NAMED:
        frame["showlegend"] = False
    else:
        place = {"font": letters, "y": 0 if "scene" in layout else -0.12, "yanchor": "top"}
        frame["legend"] = {name: one for name, one in layout["legend"].items() if name != "entrywidth"} | place
    frame["margin"] = {"l": _EDGE, "r": _EDGE, "t": top, "b": _EDGE}
    frame["annotations"] = [note | {"font": {"size": _SMALL}} for note in layout.get("annotations", ())]
    squares = any(trace["type"] == "heatmap" for trace in contents["data"])
    for name in (name for name in layout if name.startswith(("xaxis", "yaxis"))):
        frame[name] = layout[name] | {"tickfont": letters, "title": {**layout[name].get("title", {}), "font": letters}}
        if squares and name.startswith("yaxis"):
            frame[name]["showticklabels"] = False
    return {**contents, "layout": frame}


def packed(value: Any) -> Any:
    """The same with numbers as bytes, which a browser reads at once and which take half of their letters."""
    if isinstance(value, Mapping):
        return {name: packed(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [packed(one) for one in value]
    if not isinstance(value, np.ndarray):
        return value.item() if isinstance(value, np.generic) else value
    if value.dtype.name == "int64" and (not value.size or np.abs(value).max() < 2**31):
        value = value.astype(np.int32)
    if value.dtype.name not in _TYPED:
        return value.tolist()
    shape = {"shape": ", ".join(map(str, value.shape))} if value.ndim > 1 else {}
    return {"dtype": _TYPED[value.dtype.name], "bdata": base64.b64encode(value.tobytes()).decode(), **shape}


# The pinned region.


def _mark_region(contents: Dictionary, region: int) -> None:
    """Mark a region in a figure, in place: in every trace that knows its regions.

    Parameters
    ----------
    contents : dict
        Of plotly, its arrays not packed yet.
    region : int
        Counted from 0.
    """
    traces, layout = contents["data"], contents["layout"]
    rings = [ring for trace in traces if (ring := _ring(trace, region))]
    frames = [frame for trace in traces for frame in _frames(trace, region)]
    contents["data"] = [*traces, *rings]
    layout["shapes"] = [*layout.get("shapes", ()), *frames]


def _ring(trace: Dictionary, region: int) -> Dictionary | None:
    """A ring around the region's points in a trace; None where it has none."""
    if not trace["type"].startswith("scatter") or "customdata" not in trace:
        return None
    at = np.flatnonzero(np.asarray(trace["customdata"]) == region)
    if not len(at):
        return None
    sizes = trace.get("marker", {}).get("size", 6)
    size = float(np.broadcast_to(sizes, len(trace["customdata"]))[at].max()) + _LARGER
    return {
        "type": trace["type"],
        "mode": "markers",
        **{name: np.asarray(trace[name])[at] for name in "xyz" if name in trace},
        **{name: trace[name] for name in _OWN_AXES if name in trace},
        "marker": {"symbol": "circle-open", "color": PURPLE, "size": size, "line": _RING},
        "customdata": [region],
        "name": "pinned",
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _frames(trace: Dictionary, region: int) -> list[Dictionary]:
    """A frame around the region's row of a map, and around its column where columns are the same regions."""
    regions = trace.get("meta", {}).get("regions", [])
    if region not in regions:
        return []
    at, x, y = regions.index(region), trace["xaxis"], trace["yaxis"]
    frame = {"type": "rect", "name": "pinned", "line": {"color": PURPLE, "width": 1.5}}
    ends = at - 0.5, at + 0.5
    row = {**frame, "xref": f"{x} domain", "x0": 0, "x1": 1, "yref": y, "y0": ends[0], "y1": ends[1]}
    if not np.array_equal(trace["x"], trace["y"]):
        return [row]
    return [row, {**frame, "xref": x, "x0": ends[0], "x1": ends[1], "yref": f"{y} domain", "y0": 0, "y1": 1}]
