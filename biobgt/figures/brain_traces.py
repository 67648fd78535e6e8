"""What plotly is given to draw a brain: the cortex, nodes with their colours and hover texts, connections, sides.

The cortex is FreeSurfer's fsaverage5 pial surface, which comes with nilearn: nothing is fetched.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape

import numpy as np
from numpy.typing import NDArray

from biobgt.base.colours import LINE_GREY, PALE_GREY
from biobgt.figures.brain_nodes import (
    FIRST_COLOUR,
    LAST_COLOUR,
    NO_GROUP,
    NO_VALUE,
    Edges,
    NodeGroup,
    Values,
    colour_scale,
    rank_ticks,
)
from biobgt.figures.frame import Trace, bar_above
from biobgt.figures.surface import HEMISPHERES, hemisphere_mesh

BRAIN_HEIGHT = 560
_EDGE_WIDTHS = (1.0, 2.5, 4.5)
_CORTEX = {"color": "#A9B2B8", "opacity": 0.1, "hoverinfo": "skip", "showlegend": False, "name": "cortex"}
_LIGHT = {"ambient": 0.75, "diffuse": 0.5, "specular": 0.05, "roughness": 0.9, "fresnel": 0.1}


@lru_cache(maxsize=1)
def cortex_mesh() -> tuple[NDArray[np.float32], NDArray[np.uint16]]:
    """Vertices, shape (20484, 3), in MNI mm, and triangles, shape (40960, 3), of both hemispheres."""
    (left, left_triangles), (right, right_triangles) = (hemisphere_mesh("pial", side) for side in HEMISPHERES)
    # 20484 vertices are counted in two bytes: half of what is usually sent.
    return np.vstack([left, right]), np.vstack([left_triangles, right_triangles + np.uint16(len(left))])


def cortex_trace() -> Trace:
    """The cortex, to be seen through."""
    vertices, triangles = cortex_mesh()
    x, y, z = vertices.T
    i, j, k = triangles.T
    return {"type": "mesh3d", "x": x, "y": y, "z": z, "i": i, "j": j, "k": k, "lighting": _LIGHT, **_CORTEX}


def hover_texts(
    regions: Sequence[str],
    values: Values | None,
    groups: Sequence[str | None] | None,
    quantity: str,
    details: Sequence[str],
) -> list[str]:
    """What is said of each region under the pointer.

    Parameters
    ----------
    regions : sequence of str, length n_regions
    values : ndarray, shape (n_regions,), or None
    groups : sequence of (str or None), length n_regions, or None
    quantity : str
        What the values are.
    details : sequence of str, length n_regions or 0
        A further line per region.
    """
    texts = []
    for i, name in enumerate(regions):
        lines = [f"<b>{escape(name, quote=False)}</b>"]
        if groups is not None:
            lines.append(escape(groups[i] or NO_GROUP, quote=False))
        if values is not None:
            number = f"{values[i]:.4g}".replace("-", "−") if np.isfinite(values[i]) else "none"
            lines.append(f"{escape(quantity or 'value', quote=False)}: {number}")
        if details:
            lines.append(escape(details[i], quote=False))
        texts.append("<br>".join(lines))
    return texts


def value_colours(
    values: Values, group: NodeGroup, quantity: str, limits: tuple[float, float] | None, *, ranked: bool
) -> dict[str, object]:
    """Continuous colours, with the bar that explains them.

    Parameters
    ----------
    values : ndarray, shape (n_regions,)
    group : NodeGroup
        Whose members are coloured.
    quantity : str
        What the values are.
    limits : (float, float) or None
        Of the colours; None is the range of the values.
    ranked : bool
        Whether values are ranks, of which the first stands out.
    """
    named, low, high = colour_scale(values, limits)
    scale = [[0, FIRST_COLOUR], [1, LAST_COLOUR]] if ranked else named
    bar = bar_above(escape(quantity, quote=False), BRAIN_HEIGHT)
    ticks: dict[str, object] = {"tickvals": rank_ticks(len(values))} if ranked else {}
    shades: dict[str, object] = {"color": values[list(group.members)], "colorscale": scale, "cmin": low, "cmax": high}
    return shades | {"colorbar": bar | {"outlinewidth": 1, "outlinecolor": PALE_GREY} | ticks}


def node_trace(
    coordinates: Values,
    group: NodeGroup,
    diameters: Values,
    hover: Sequence[str],
    shades: Mapping[str, object],
    *,
    named: bool,
) -> Trace:
    """The nodes of one group.

    Parameters
    ----------
    coordinates : ndarray, shape (n_regions, 3)
    group : NodeGroup
    diameters : ndarray, shape (n_regions,)
        In pixels.
    hover : sequence of str, length n_regions
    shades : mapping
        Colours by value, in place of the group's colour; empty for that.
    named : bool
        Whether the legend names the group.
    """
    members = list(group.members)
    x, y, z = coordinates[members].T
    marker = {"color": group.colour, "symbol": group.symbol, "size": diameters[members], "opacity": 1}
    return {
        "type": "scatter3d",
        "x": x,
        "y": y,
        "z": z,
        "mode": "markers",
        "name": escape(group.name, quote=False),
        "marker": marker | {"line": {"color": "#8A959C", "width": 1}} | dict(shades),
        "text": [hover[i] for i in members],
        "hovertemplate": "%{text}<extra></extra>",
        "showlegend": named or group.name == NO_VALUE,
    }


def edge_traces(coordinates: Values, edges: Edges) -> list[Trace]:
    """Lines in three widths by strength, because a trace has one width; None parts one line from the next."""
    strongest = max((abs(weight) for _, _, weight in edges), default=0.0)
    classes: dict[tuple[int, bool], list[tuple[int, int]]] = {}
    for i, j, weight in sorted(edges, key=lambda edge: abs(edge[2])):
        step = min(int(3 * abs(weight) / strongest), 2) if strongest else 0
        classes.setdefault((step, weight < 0), []).append((i, j))
    traces: list[Trace] = []
    for (step, negative), pairs in classes.items():
        points = np.array([[coordinates[i], coordinates[j], [np.nan] * 3] for i, j in pairs]).reshape(-1, 3)
        x, y, z = points.T
        traces.append(
            {
                "type": "scatter3d",
                "x": x,
                "y": y,
                "z": z,
                "mode": "lines",
                "name": "connections",
                "legendgroup": "connections",
                "showlegend": not traces,
                "hoverinfo": "skip",
                "connectgaps": False,
                "line": {"color": LINE_GREY, "width": _EDGE_WIDTHS[step], "dash": "dash" if negative else "solid"},
            }
        )
    return traces


def side_names() -> Trace:
    """The words left and front, below those sides: before the brain, a narrow page would cut the second off.

    A third point without a word is before the brain. All that is drawn decides how large a millimetre is, and a narrow
    page has no room for a larger brain.
    """
    return {
        "type": "scatter3d",
        "x": [-62, 0, 0],
        "y": [-18, 60, 82],
        "z": [-62, -50, 0],
        "mode": "text",
        "text": ["left", "front", ""],
        "textfont": {"color": LINE_GREY, "size": 12},
        "name": "sides",
        "hoverinfo": "skip",
        "showlegend": False,
    }
