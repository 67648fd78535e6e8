"""Several brains side by side on the screen: nodes seen from one side, inside the outline of the cortex.

One brain turns; of several, each would need a canvas of its own, and browsers have few. These are flat, so that they
follow the pointer like any other plot.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.colours import PALE_GREY, RIM_GREY
from biobgt.data.cortex import HEMISPHERES, hemisphere_mesh
from biobgt.figures.brain import ABOVE, LEFT, NO_VALUE, Brain
from biobgt.figures.drawing import Axis, Drawing, Panel

Dictionary = dict[str, Any]
_DIAMETERS, _PLAIN_DIAMETER = (2.5, 10.0), 6.5  # px
_NODE: Dictionary = {"opacity": 1, "line": {"color": RIM_GREY, "width": 0.5}}
_OUTLINE: Dictionary = {
    "mode": "lines",
    "line": {"color": PALE_GREY, "width": 1},
    "fill": "toself",
    "fillcolor": "rgba(128, 128, 128, 0.1)",
    "hoverinfo": "skip",
    "showlegend": False,
}
_DIRECTIONS = 90  # in which the outline is looked for
# mm, across and up, as seen from above and from the side: the cortex, and the cerebellum below it.
_WIDE, _LONG, _HIGH = (-76.0, 76.0), (-116.0, 82.0), (-66.0, 86.0)


def with_flat_brains(drawing: Drawing) -> Drawing:
    """A drawing whose brains lie on panels, with the axes that these need.

    Parameters
    ----------
    drawing : Drawing
        Of several brains, one on each panel.
    """
    return replace(drawing, panels=[_with_axes(panel) for panel in drawing.panels], square_mm=1.0)


def _with_axes(panel: Panel) -> Panel:
    (brain,) = panel.marks or (None,)
    if not isinstance(brain, Brain):
        return panel
    across, up = (_WIDE, _LONG) if brain.side == ABOVE else (_LONG, _HIGH)
    turned = (-across[1], -across[0]) if brain.side == LEFT else across  # its front is on the left
    return replace(panel, x=Axis(hidden=True, limits=turned), y=Axis(hidden=True, limits=up))


def flat_brain(shown: Brain, axes: Mapping[str, str], named: set[str]) -> list[Dictionary]:
    """A brain as plotly's traces.

    Parameters
    ----------
    shown : Brain
    axes : mapping
        On which they lie.
    named : set of str
        What the legend names already; names are added.
    """
    traces: list[Dictionary] = [
        {"type": "scatter", **_OUTLINE, **dict(zip("xy", outline.astype(np.float32), strict=True)), **axes}
        for outline in _outlines(shown.side)
    ]
    seen, here = _seen(shown), _from_side(shown.coordinates, shown.side)
    diameters = shown.diameters(*_DIAMETERS, plain=_PLAIN_DIAMETER).astype(np.float32)
    for name, members, colour, symbol in shown.parts:
        members = members[seen[members]]
        marker: Dictionary = {"color": colour, "symbol": symbol, "size": diameters[members], **_NODE}
        told = escape(name, quote=False)
        if shown.shades is not None and name != NO_VALUE:
            assert shown.values is not None
            marker |= {"color": shown.values[members].astype(np.float32), "coloraxis": "coloraxis"}
            told = f"{escape(shown.quantity, quote=False)}: %{{marker.color:.3g}}"
        in_legend = (shown.groups is not None or name == NO_VALUE) and name not in named
        named |= {name} if in_legend else set()
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                **dict(zip("xy", here[members].T.astype(np.float32), strict=True)),
                "name": escape(name, quote=False),
                "legendgroup": name,
                "showlegend": in_legend,
                "marker": marker,
                "customdata": members,
                "text": [escape(shown.regions[region], quote=False) for region in members],
                "hovertemplate": f"<b>%{{text}}</b><br>{told}<extra></extra>",
                **axes,
            }
        )
    return traces


def _seen(shown: Brain) -> NDArray[np.bool_]:
    """Which regions are seen: from a side, those of that hemisphere and between the two."""
    x = shown.coordinates[:, 0]
    return np.ones(len(x), bool) if shown.side == ABOVE else x <= 0 if shown.side == LEFT else x >= 0


def _from_side(places: NDArray[np.floating], side: str) -> FloatArray:
    """Places as seen from a side, shape (n, 2): across and up."""
    x, y, z = places.T
    return np.stack((x, y) if side == ABOVE else (-y, z) if side == LEFT else (y, z), axis=1)


@lru_cache(maxsize=3)
def _outlines(side: str) -> list[FloatArray]:
    """The outline of the cortex, of both hemispheres or of the one that is seen, shape (2, n_points) each."""
    found = []
    for hemisphere in HEMISPHERES:
        if side not in (ABOVE, hemisphere):
            continue
        places = _from_side(hemisphere_mesh("pial", hemisphere)[0], side)
        middle = (places.min(axis=0) + places.max(axis=0)) / 2
        away = places - middle
        step = (np.arctan2(away[:, 1], away[:, 0]) / (2 * np.pi) * _DIRECTIONS).astype(int) % _DIRECTIONS
        farthest = [np.flatnonzero(step == one)[np.hypot(*away[step == one].T).argmax()] for one in np.unique(step)]
        found.append(places[[*farthest, farthest[0]]].T)
    return found
