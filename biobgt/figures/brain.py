"""Regions in the brain, on the screen: nodes at their MNI coordinates inside a translucent cortex.

The cortex is FreeSurfer's fsaverage5 pial surface, which comes with nilearn: nothing is fetched. Regions carry either
a value (continuous colours) or a group, such as their module (a colour and a symbol each, named in the legend).
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from biobgt.figures.brain_nodes import (
    FIRST_COLOUR,
    GREY,
    LAST_COLOUR,
    NO_GROUP,
    NO_VALUE,
    Edges,
    NodeGroup,
    Values,
    check_nodes,
    colour_scale,
    node_diameters,
    node_groups,
    rank_ticks,
)
from biobgt.figures.frame import BAR_BOTTOM, Trace, bar_above, layout, whose
from biobgt.wording import counted

# In which brain regions are drawn, as captions say it.
CORTEX, GLASS_BRAIN = "the fsaverage5 cortex", "nilearn's glass brain, seen from four sides"
_HEIGHT = 560
_DIAMETERS = (5.0, 18.0)  # px, of the smallest and the largest node
_PLAIN_DIAMETER = 8.0
_EDGE_WIDTHS = (1.0, 2.5, 4.5)
_CORTEX = {"color": "#A9B2B8", "opacity": 0.1, "hoverinfo": "skip", "showlegend": False, "name": "cortex"}
_LEGEND = {"orientation": "h", "x": 0, "y": 0, "yanchor": "top", "itemsizing": "constant", "title": {"text": ""}}
_LETTER = 7  # px, of the widest font a page may have; plotly measures names before the font is there, and they touch
_LIGHT = {"ambient": 0.75, "diffuse": 0.5, "specular": 0.05, "roughness": 0.9, "fresnel": 0.1}
# From the left, the front and above: most of a hemisphere and the depth of the brain are seen at once.
_CAMERA = {"eye": {"x": -1.13, "y": 0.68, "z": 0.5}, "center": {"x": 0, "y": 0, "z": -0.06}}


def brain_3d(
    coordinates: Values,
    regions: Sequence[str],
    *,
    sizes: Values | None = None,
    values: Values | None = None,
    groups: Sequence[str | None] | None = None,
    group_colours: Mapping[str, str] | None = None,
    edges: Edges | None = None,
    quantity: str = "",
    limits: tuple[float, float] | None = None,
    ranked: bool = False,
    title: str = "",
    simulated: bool = False,
) -> go.Figure:
    """Draw regions inside a translucent cortex; names and values show on hover.

    Parameters
    ----------
    coordinates : ndarray, shape (n_regions, 3)
        MNI coordinates in mm.
    regions : sequence of str, length n_regions
    sizes : ndarray, shape (n_regions,), optional
        A node's area grows evenly from the smallest size to the largest; NaN is drawn smallest.
    values : ndarray, shape (n_regions,), optional
        Colours of the nodes; NaN is grey. With ``groups`` they show on hover only.
    groups : sequence of (str or None), length n_regions, optional
        A colour and a legend entry each; None is grey, "no module".
    group_colours : mapping of str to str, optional
        Colours of groups, as ``#rrggbb``, and their order; other groups take the house's palette in natural order.
    edges : sequence of (int, int, float), optional
        Two regions, counted from 0, and a weight: the stronger the thicker, dashed where negative.
    quantity : str
        What the values are.
    limits : (float, float), optional
        Ends of the colour scale; where not given, those of the values.
    ranked : bool
        The values are ranks: 1 is the strongest and strikes the eye first.
    title : str
    simulated : bool
        Adds the word to the title, so that a saved picture says so too.
    """
    check_nodes(coordinates, regions, sizes=sizes, values=values, groups=groups, edges=edges)
    diameters = node_diameters(len(regions), sizes, *_DIAMETERS, plain=_PLAIN_DIAMETER)
    hover = _hover_texts(regions, values, groups, quantity)
    traces = [_cortex(), *_edge_traces(coordinates, edges or ())]
    shaded = groups is None and values is not None
    for group in node_groups(len(regions), groups, group_colours, values):
        shades: Mapping[str, object] = {}
        if shaded and values is not None and group.name != NO_VALUE:
            shades = _shades(values, group, quantity, limits, ranked=ranked)
        traces.append(_nodes(coordinates, group, diameters, hover, shades, named=groups is not None))
    traces.append(_side_names())
    frame = {
        **layout(title, simulated, height=_HEIGHT, top=BAR_BOTTOM if shaded else 48),
        "scene": _scene(),
        "legend": _LEGEND | {"entrywidth": _LETTER * max(len(trace["name"]) for trace in traces)},
        "uirevision": "brain",  # a moved slider does not turn the brain back
    }
    return go.Figure(traces, frame)


def brain_caption(
    subject: str,
    n_regions: int,
    *,
    quantity: str = "",
    size: str = "",
    n_groups: int | None = None,
    n_edges: int = 0,
    where: str = CORTEX,
    simulated: bool = False,
) -> str:
    """Say in words what regions in a brain show.

    Parameters
    ----------
    subject : str
    n_regions : int
    quantity, size : str
        What the colours and the sizes of the nodes stand for; empty for nothing.
    n_groups : int, optional
        Number of modules, where the colours stand for those.
    n_edges : int
        Number of connections that are drawn.
    where : str
        In which brain: :data:`CORTEX` or :data:`GLASS_BRAIN`.
    simulated : bool
    """
    colour = f"the colour is {quantity}" if quantity else "all have one colour"
    if n_groups is not None:
        colour = f"the colour is the module, of {n_groups}; grey regions are in none"
    drawn = f" {counted(n_edges, 'connection')} drawn, thicker where stronger." if n_edges else ""
    return (
        f"{whose(subject, simulated)}: {counted(n_regions, 'region')} at their MNI coordinates inside {where}; "
        f"{colour}{f', and the size is {size}' if size else ''}.{drawn}"
    )


@lru_cache(maxsize=1)
def cortex_mesh() -> tuple[NDArray[np.float32], NDArray[np.uint16]]:
    """Vertices, shape (20484, 3), in MNI mm, and triangles, shape (40960, 3), of both hemispheres."""
    from nilearn.datasets import load_fsaverage  # brings scikit-learn, which the start of the app does without

    parts = load_fsaverage("fsaverage5")["pial"].parts
    left, right = parts["left"], parts["right"]
    vertices = np.vstack([left.coordinates, right.coordinates]).astype(np.float32)
    triangles = np.vstack([left.faces, right.faces + len(left.coordinates)]).astype(np.uint16)  # half the bytes sent
    return vertices, triangles


def _cortex() -> Trace:
    vertices, triangles = cortex_mesh()
    x, y, z = vertices.T
    i, j, k = triangles.T
    return {"type": "mesh3d", "x": x, "y": y, "z": z, "i": i, "j": j, "k": k, "lighting": _LIGHT, **_CORTEX}


def _hover_texts(
    regions: Sequence[str], values: Values | None, groups: Sequence[str | None] | None, quantity: str
) -> list[str]:
    texts = []
    for i, name in enumerate(regions):
        lines = [f"<b>{escape(name, quote=False)}</b>"]
        if groups is not None:
            lines.append(escape(groups[i] or NO_GROUP, quote=False))
        if values is not None:
            number = f"{values[i]:.4g}".replace("-", "−") if np.isfinite(values[i]) else "none"
            lines.append(f"{escape(quantity or 'value', quote=False)}: {number}")
        texts.append("<br>".join(lines))
    return texts


def _shades(
    values: Values, group: NodeGroup, quantity: str, limits: tuple[float, float] | None, *, ranked: bool
) -> dict[str, object]:
    """Continuous colours, with the bar that explains them."""
    named, low, high = colour_scale(values, limits)
    scale = [[0, FIRST_COLOUR], [1, LAST_COLOUR]] if ranked else named
    bar = bar_above(escape(quantity, quote=False), _HEIGHT)
    ticks: dict[str, object] = {"tickvals": rank_ticks(len(values))} if ranked else {}
    shades: dict[str, object] = {"color": values[list(group.members)], "colorscale": scale, "cmin": low, "cmax": high}
    return shades | {"colorbar": bar | {"outlinewidth": 1, "outlinecolor": GREY} | ticks}


def _nodes(
    coordinates: Values,
    group: NodeGroup,
    diameters: Values,
    hover: Sequence[str],
    shades: Mapping[str, object],
    *,
    named: bool,
) -> Trace:
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


def _edge_traces(coordinates: Values, edges: Edges) -> list[Trace]:
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
                "line": {"color": "#7A868C", "width": _EDGE_WIDTHS[step], "dash": "dash" if negative else "solid"},
            }
        )
    return traces


def _side_names() -> Trace:
    return {
        "type": "scatter3d",
        "x": [-62, 0],
        "y": [-18, 82],
        "z": [-62, 0],
        "mode": "text",
        "text": ["left", "front"],
        "textfont": {"color": "#7A868C", "size": 12},
        "name": "sides",
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _scene() -> dict[str, object]:
    hidden = {"visible": False, "showspikes": False}
    axes = {"xaxis": hidden, "yaxis": hidden, "zaxis": hidden}
    return axes | {"aspectmode": "data", "camera": _CAMERA, "bgcolor": "rgba(0, 0, 0, 0)", "dragmode": "orbit"}
