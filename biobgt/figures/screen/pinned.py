"""The region that a user pinned, marked in whatever a figure draws: a ring around its points, a frame of its row.

A painted cortex has no place of its own for a region, and stays as it is.
"""

from typing import Any

import numpy as np

from biobgt.base.colours import PURPLE

Dictionary = dict[str, Any]

_RING = {"color": PURPLE, "width": 3}
_LARGER = 7  # px, than what it surrounds
_OWN_AXES = ("xaxis", "yaxis", "scene")


def mark_region(contents: Dictionary, region: int) -> None:
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
