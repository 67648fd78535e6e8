"""A brain for the screen: nodes inside a translucent cortex, to be turned, or four views of a painted one.

The cortex is FreeSurfer's fsaverage5 pial surface, which comes with nilearn: nothing is fetched. Plotly writes names
wherever their regions are. Seen from the side, hubs of both hemispheres lie close together, so each name is moved away
from its region, with a line between the two, until it is free as the brain is first seen.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biobgt.base.colours import LINE_GREY, PALE_GREY
from biobgt.figures.brain import Brain
from biobgt.figures.brain_nodes import (
    FIRST_COLOUR,
    LAST_COLOUR,
    NO_GROUP,
    NO_VALUE,
    Edges,
    NodeGroup,
    Values,
    colour_scale,
    node_diameters,
    rank_ticks,
)
from biobgt.figures.frame import BAR_BOTTOM, TOOLBAR, Trace, bar_above
from biobgt.figures.surface import (
    BARE,
    HEMISPHERES,
    VIEWS,
    Surface,
    checked_labels,
    hemisphere_labels,
    hemisphere_mesh,
    triangle_regions,
)

_FLAT = {"type": "orthographic"}
PAINTED_HEIGHT = 480  # px
_LENGTH = 2.2  # of a hemisphere, so that it fills its part of a narrow page
_HOVER = "%{text}<extra></extra>"
# The same from all sides: a shadow would change a colour, and the colour is the value.
_EVEN_LIGHT = {"ambient": 1, "diffuse": 0, "specular": 0, "roughness": 1, "fresnel": 0}
_TITLE = 48  # px
_DIAMETERS = (5.0, 18.0)  # px, of the smallest and the largest node
_PLAIN_DIAMETER = 8.0
_LEGEND = {"orientation": "h", "x": 0, "y": 0, "yanchor": "top", "itemsizing": "constant", "title": {"text": ""}}
_WIDEST_LETTER = 7  # px; plotly measures names before the page's font is there, and they would touch


def brain_on_screen(shown: Brain, frame: Mapping[str, Any]) -> dict[str, Any]:
    """A brain as plotly's dictionary.

    Parameters
    ----------
    shown : Brain
    frame : mapping
        Title and margins.
    """
    top = TOOLBAR + (_TITLE if shown.shades is None else BAR_BOTTOM)
    height = TOOLBAR + (BRAIN_HEIGHT if shown.brain == "nodes" else PAINTED_HEIGHT)
    frame = {**frame, "height": height, "margin": {**frame["margin"], "t": top}}
    hover = hover_texts(shown.regions, shown.values, shown.groups, shown.quantity, shown.details)
    if shown.brain != "nodes":
        scenes = {**surface_scenes(shown.brain, shown.distance), "legend": _LEGEND, "uirevision": "surface"}
        return {"data": surface_traces(shown, shown.brain, hover), "layout": {**frame, **scenes}}
    diameters = node_diameters(len(shown.regions), shown.sizes, *_DIAMETERS, plain=_PLAIN_DIAMETER)
    traces = [cortex_trace(), *edge_traces(shown.coordinates, shown.connections)]
    for group in shown.parts:
        colours: Mapping[str, object] = {}
        if shown.shades is not None and group.name != NO_VALUE:
            colours = value_colours(shown.shades, group, shown.quantity, shown.limits, ranked=shown.ranked)
        traces.append(node_trace(shown.coordinates, group, diameters, hover, colours, named=shown.groups is not None))
    traces.append(side_names())
    named = region_names(shown.coordinates, shown.regions, shown.named, around=cortex_mesh()[0], height=height - top)
    width = _WIDEST_LETTER * max(len(trace["name"]) for trace in traces)
    look = {"scene": scene(shown.distance, named), "legend": _LEGEND | {"entrywidth": width}}
    return {"data": traces, "layout": {**frame, **look, "uirevision": "brain"}}  # a moved slider does not turn it back


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


# From the left, the front and above: most of a hemisphere and the depth of the brain are seen at once.
_CAMERA: Mapping[str, Mapping[str, float]] = {
    "eye": {"x": -1.13, "y": 0.68, "z": 0.5},
    "center": {"x": 0, "y": 0, "z": -0.06},
}
_FIELD = np.tan(np.pi / 8)  # half of plotly's field of view, 45 degrees
_NAME_COLOUR, _BEHIND_NAME = "white", "#C24E00"  # a contrast of 4.8 to 1, on light and on dark pages
_LETTER, _LINE = 6.6, 16.0  # px: width of a letter and height of a line, of names of 12 px
_HALF_WIDTH = 228.0  # px: what a narrow page shows on either side of the middle
_RADII = (12.0, 20.0, 30.0, 42.0, 56.0, 72.0, 90.0, 110.0, 132.0)  # px, from a region to its name
_DIRECTIONS = 16
_NODE = np.array([9.0, 9.0])  # px, half the size of a hub; no name covers one that is named


def scene(distance: float, names: Sequence[Mapping[str, object]] = ()) -> dict[str, object]:
    """Plotly's scene: no axes, and from where the brain is seen first, so many times the usual distance away."""
    hidden = {"visible": False, "showspikes": False}
    eye = {axis: distance * place for axis, place in _CAMERA["eye"].items()}
    frame: dict[str, object] = {"xaxis": hidden, "yaxis": hidden, "zaxis": hidden, "annotations": list(names)}
    camera = {**_CAMERA, "eye": eye}
    return frame | {"aspectmode": "data", "camera": camera, "bgcolor": "rgba(0, 0, 0, 0)", "dragmode": "orbit"}


def region_names(
    coordinates: Values, regions: Sequence[str], named: Sequence[int], *, around: NDArray[np.floating], height: float
) -> list[dict[str, object]]:
    """The names of some regions as plotly writes them, each with a line to its region.

    Parameters
    ----------
    coordinates : ndarray, shape (n_regions, 3)
        In MNI mm.
    regions : sequence of str, length n_regions
    named : sequence of int
        Counted from 0; the first has the first choice of its place. Regions without coordinates are left out.
    around : ndarray, shape (n_points, 3)
        All that is drawn; its extent decides how large a millimetre is on the screen.
    height : float
        Of the drawing, in pixels.
    """
    named = [region for region in named if np.isfinite(coordinates[region]).all()]
    points = _on_screen(coordinates[named], around, height)
    offsets = name_offsets(points, [len(regions[region]) for region in named])
    return [
        {
            **dict(zip("xyz", map(float, coordinates[region]), strict=True)),
            "text": escape(regions[region], quote=False),
            "ax": across,
            "ay": down,
            "xanchor": "center",
            "yanchor": "middle",
            "font": {"size": 12, "color": _NAME_COLOUR},
            "arrowhead": 0,
            "arrowwidth": 1,
            "arrowcolor": _BEHIND_NAME,
            "bgcolor": _BEHIND_NAME,
            "borderpad": 0,
        }
        for region, (across, down) in zip(named, offsets, strict=True)
    ]


def name_offsets(points: Values, letters: Sequence[int]) -> list[tuple[float, float]]:
    """How far each name is moved from its point, in pixels to the right and down, so that it lies on no other.

    Of all free places the nearest is taken, at one distance the one that leads most away from the middle. Names that
    find none, because there are too many, take the place with the least overlap.

    Parameters
    ----------
    points : ndarray, shape (n_names, 2)
        Pixels to the right of and below the middle.
    letters : sequence of int, length n_names
        Of each name.
    """
    angles = np.linspace(0, 2 * np.pi, _DIRECTIONS, endpoint=False)
    directions = np.tile(np.stack([np.cos(angles), np.sin(angles)], axis=1), (len(_RADII), 1))
    radii = np.repeat(_RADII, _DIRECTIONS)
    sizes = np.stack([_LETTER * np.asarray(letters, float) / 2, np.full(len(letters), _LINE / 2)], axis=1)
    taken = [(point, _NODE) for point in points]
    offsets = []
    for point, size in zip(points, sizes, strict=True):
        moves = directions * (radii[:, None] + size)
        overlap = sum(_overlap(point + moves, size, other, its) for other, its in taken)
        beyond = np.maximum(np.abs(point[0] + moves[:, 0]) + size[0] - _HALF_WIDTH, 0)
        best = np.lexsort((-moves @ point, radii, overlap + _LINE * beyond))[0]
        taken.append((point + moves[best], size))
        across, down = moves[best].round(1)
        offsets.append((float(across), float(down)))
    return offsets


def _overlap(centres: Values, size: Values, other: Values, its: Values) -> Values:
    """The area that boxes around these centres, of this half size, share with another box."""
    shared = np.maximum(size + its - np.abs(centres - other), 0)
    product: Values = shared[:, 0] * shared[:, 1]
    return product


def _on_screen(places: Values, around: NDArray[np.floating], height: float) -> Values:
    """Where places are first seen: pixels to the right of and below the middle."""
    low, high = np.nanmin(around, axis=0), np.nanmax(around, axis=0)
    size = np.prod(high - low) ** (1 / 3)  # plotly's unit of a scene that keeps proportions
    eye, centre = (np.array([_CAMERA[name][axis] for axis in "xyz"]) for name in ("eye", "center"))
    ahead = (centre - eye) / np.linalg.norm(centre - eye)
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    up = np.cross(right, ahead)
    seen = (places - (low + high) / 2) / size - eye
    depth = seen @ ahead
    pixels = height / 2 / _FIELD / depth
    found: Values = np.stack([seen @ right * pixels, -(seen @ up) * pixels], axis=1)
    return found


def surface_traces(shown: Brain, surface: Surface, hover: Sequence[str]) -> list[Trace]:
    """The four views: in each the bare cortex, and the painted regions or one piece for every group.

    Parameters
    ----------
    shown : Brain
    surface : {"inflated", "pial"}
    hover : sequence of str, length n_regions
        What shows where the mouse is.
    """
    texts = np.array(["no region", *hover], dtype=object)
    traces: list[Trace] = []
    for scene, (hemisphere, _) in enumerate(VIEWS):
        vertices, triangles = hemisphere_mesh(surface, hemisphere)
        regions = triangle_regions(hemisphere_labels(checked_labels(shown), hemisphere), triangles)
        for piece in _pieces(shown, regions):
            chosen = piece.pop("triangles")
            if not chosen.any():
                continue
            again = any(trace["name"] == piece["name"] for trace in traces)
            used, places = np.unique(triangles[chosen], return_inverse=True)
            x, y, z = vertices[used].T
            i, j, k = places.reshape(-1, 3).astype(np.uint16).T
            mesh = {"type": "mesh3d", "x": x, "y": y, "z": z, "i": i, "j": j, "k": k, "lighting": _EVEN_LIGHT}
            mesh |= {"scene": _scene_name(scene), "text": texts[regions[chosen]].tolist(), "hovertemplate": _HOVER}
            once = {part: piece[part] and not again for part in ("showlegend", "showscale")}
            traces.append({**mesh, "intensitymode": "cell", **piece, **once})
    return traces


def _pieces(shown: Brain, regions: NDArray[np.int16]) -> list[dict[str, Any]]:
    """What is painted alike in one view, with the triangles of each piece."""
    members = [np.array(group.members, dtype=int) + 1 for group in shown.parts if group.name != NO_VALUE]
    painted = np.isin(regions, np.concatenate(members)) if members else np.zeros(len(regions), dtype=bool)
    bare = {"triangles": ~painted, **_one_colour(BARE, ~painted), "name": "cortex", "showlegend": False}
    shades = shown.shades
    if shades is None:
        alike = [(group, np.isin(regions, np.array(group.members, dtype=int) + 1)) for group in shown.parts]
        return [bare] + [
            {
                "triangles": chosen,
                **_one_colour(group.colour, chosen),
                "name": escape(group.name, quote=False),
                "legendgroup": group.name,
                "legendrank": number,
                "showlegend": shown.groups is not None,
            }
            for number, (group, chosen) in enumerate(alike, start=1)
        ]
    intensity = np.concatenate([[np.nan], shades])[regions[painted]].astype(np.float32)
    scale = {**_scale(shown, shades), "intensity": intensity, "showscale": True}
    return [bare, {"triangles": painted, "name": "regions", "showlegend": False, **scale}]


def _one_colour(colour: str, chosen: NDArray[np.bool_]) -> dict[str, Any]:
    """One colour for some triangles; written as values of triangles too, so that the mouse finds these, not corners."""
    flat = {"colorscale": [[0, colour], [1, colour]], "cmin": 0, "cmax": 1, "showscale": False}
    return {"color": colour, "intensity": np.zeros(int(chosen.sum()), dtype=np.uint8), **flat}


def _scale(shown: Brain, shades: Values) -> dict[str, Any]:
    named, low, high = colour_scale(shades, shown.limits)
    colours = [[0, FIRST_COLOUR], [1, LAST_COLOUR]] if shown.ranked else named
    bar = bar_above(escape(shown.quantity, quote=False), PAINTED_HEIGHT) | {
        "outlinewidth": 1,
        "outlinecolor": PALE_GREY,
    }
    bar |= {"tickvals": rank_ticks(len(shades))} if shown.ranked else {}
    return {"colorscale": colours, "cmin": low, "cmax": high, "colorbar": bar}


def surface_scenes(surface: Surface, distance: float) -> dict[str, Any]:
    """Cameras of the four views, two by two, with their names, from so many times the usual distance."""
    hidden = {"visible": False, "showspikes": False}
    frame: dict[str, Any] = {"annotations": []}
    for number, (hemisphere, side) in enumerate(VIEWS):
        column, row = number % 2, number // 2
        from_left, extent = _from_left(hemisphere, side), np.ptp(hemisphere_mesh(surface, hemisphere)[0], axis=0)
        frame[_scene_name(number)] = {
            "domain": {"x": [column / 2, (column + 1) / 2], "y": [0.5 - row / 2, 1 - row / 2]},
            **dict.fromkeys(("xaxis", "yaxis", "zaxis"), hidden),
            "aspectmode": "manual",
            "aspectratio": dict(zip("xyz", (_LENGTH / distance * extent / extent[1]).tolist(), strict=True)),
            "camera": {"eye": {"x": -2 if from_left else 2, "y": 0, "z": 0}, "projection": _FLAT},
            "bgcolor": "rgba(0, 0, 0, 0)",
            "dragmode": "orbit",
        }
        place = {
            "x": column / 2 + 0.25,
            "y": 1 - row / 2,
            "xref": "paper",
            "yref": "paper",
            "yanchor": "top",
            "xanchor": "center",
        }
        frame["annotations"].append({**place, "text": f"{hemisphere} {side}", "showarrow": False})
    return frame


def _from_left(hemisphere: str, side: str) -> bool:
    return (hemisphere == "left") == (side == "lateral")


def _scene_name(number: int) -> str:
    return f"scene{number + 1 if number else ''}"
