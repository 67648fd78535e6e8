"""A brain for the screen: nodes inside a translucent cortex, to be turned, or four views of a painted one.

Plotly writes names wherever their regions are. Seen from the side, hubs of both hemispheres lie close together, so each
name is moved away from its region, with a line between the two, until it is free as the brain is first seen.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.colours import LINE_GREY, RIM_GREY
from biobgt.data.cortex import HEMISPHERES, hemisphere_mesh
from biobgt.figures.brain import (
    NO_GROUP,
    NO_VALUE,
    NODES,
    VIEWS,
    Brain,
    painted_triangles,
    seen_from_left,
)
from biobgt.figures.drawing import GAP_COLOUR

Dictionary = dict[str, Any]

_DIAMETERS, _PLAIN_DIAMETER = (5.0, 18.0), 8.0  # px, of the smallest and the largest node, and of all alike
_EDGE_WIDTHS = (1.0, 2.5, 4.5)
_CORTEX: Dictionary = {"color": "#A9B2B8", "opacity": 0.1, "hoverinfo": "skip", "showlegend": False, "name": "cortex"}
_LIGHT = {"ambient": 0.75, "diffuse": 0.5, "specular": 0.05, "roughness": 0.9, "fresnel": 0.1}
# On a painted cortex the same from all sides: a shadow would change a colour, and the colour is the value.
_EVEN_LIGHT = {"ambient": 1, "diffuse": 0, "specular": 0, "roughness": 1, "fresnel": 0}
_LEGEND = {"orientation": "h", "x": 0, "y": 0, "yanchor": "top", "itemsizing": "constant", "title": {"text": ""}}
_WIDEST_LETTER = 7  # px; plotly measures names before the page's font is there, and they would touch
_HOVER = "%{text}<extra></extra>"
_SCENE: Dictionary = {
    **{axis: {"visible": False, "showspikes": False} for axis in ("xaxis", "yaxis", "zaxis")},
    "bgcolor": "rgba(0, 0, 0, 0)",
    "dragmode": "orbit",
}


def brain_on_screen(shown: Brain, frame: Mapping[str, Any]) -> Dictionary:
    """A brain as plotly's dictionary.

    Parameters
    ----------
    shown : Brain
    frame : mapping
        Title, height, margins and the bar of its colours.
    """
    if shown.kind != NODES:
        look = {**_surface_scenes(shown), "legend": _LEGEND, "uirevision": "surface"}
        return {"data": _surface_traces(shown), "layout": {**frame, **look}}
    traces = [cortex(), *_edge_traces(shown), *_node_traces(shown), _side_names()]
    height = frame["height"] - frame["margin"]["t"]
    eye = {axis: shown.distance * place for axis, place in _CAMERA["eye"].items()}
    names = _region_names(shown, around=_cortex_mesh()[0], height=height)
    scene = {**_SCENE, "aspectmode": "data", "camera": {**_CAMERA, "eye": eye}, "annotations": names}
    width = _WIDEST_LETTER * max(len(trace["name"]) for trace in traces)
    # A moved slider does not turn the brain back.
    look = {"scene": scene, "legend": _LEGEND | {"entrywidth": width}, "uirevision": "brain"}
    return {"data": traces, "layout": {**frame, **look}}


def _plain(text: str) -> str:
    return escape(text, quote=False)


def _hover_texts(shown: Brain) -> list[str]:
    """What is said of each region under the pointer."""
    texts = []
    for i, name in enumerate(shown.regions):
        lines = [f"<b>{_plain(name)}</b>"]
        if shown.groups is not None:
            lines.append(_plain(shown.groups[i] or NO_GROUP))
        if shown.values is not None:
            value = shown.values[i]
            number = f"{value:.4g}".replace("-", "−") if np.isfinite(value) else "none"
            lines.append(f"{_plain(shown.quantity or 'value')}: {number}")
        texts.append("<br>".join([*lines, *map(_plain, shown.texts[i : i + 1])]))
    return texts


# Nodes inside the cortex.


@lru_cache(maxsize=1)
def _cortex_mesh() -> tuple[NDArray[np.float32], NDArray[np.uint16]]:
    """Vertices, shape (20484, 3), in MNI mm, and triangles, shape (40960, 3), of both hemispheres' pial surface."""
    (left, left_triangles), (right, right_triangles) = (hemisphere_mesh("pial", side) for side in HEMISPHERES)
    # 20484 vertices are counted in two bytes: half of what is usually sent.
    return np.vstack([left, right]), np.vstack([left_triangles, right_triangles + np.uint16(len(left))])


def cortex() -> Dictionary:
    """The trace of the translucent cortex, the same around all nodes."""
    return _mesh(*_cortex_mesh(), lighting=_LIGHT, **_CORTEX)


def _mesh(vertices: NDArray[np.float32], triangles: NDArray[np.uint16], **about: Any) -> Dictionary:
    corners = zip("xyzijk", (*vertices.T, *triangles.T), strict=True)
    return {"type": "mesh3d", **dict(corners), **about}


def _node_traces(shown: Brain) -> list[Dictionary]:
    """The nodes, one trace per group."""
    hover, diameters = _hover_texts(shown), shown.diameters(*_DIAMETERS, plain=_PLAIN_DIAMETER)
    traces = []
    for name, members, colour, symbol in shown.parts:
        marker: Dictionary = {"color": colour, "symbol": symbol, "size": diameters[members], "opacity": 1}
        marker["line"] = {"color": RIM_GREY, "width": 1}
        if shown.shades is not None and name != NO_VALUE:
            assert shown.values is not None
            marker |= {"color": shown.values[members], "coloraxis": "coloraxis"}
        traces.append(
            {
                "type": "scatter3d",
                **dict(zip("xyz", shown.coordinates[members].T, strict=True)),
                "mode": "markers",
                "name": _plain(name),
                "marker": marker,
                "customdata": members,
                "text": [hover[region] for region in members],
                "hovertemplate": _HOVER,
                "showlegend": shown.groups is not None or name == NO_VALUE,
            }
        )
    return traces


def _edge_traces(shown: Brain) -> list[Dictionary]:
    """Lines in three widths by strength, because a trace has one width; NaN parts one line from the next."""
    edges = sorted(shown.connections, key=lambda edge: abs(edge[2]))
    strongest = abs(edges[-1][2]) if edges else 0.0
    classes: dict[tuple[int, bool], list[tuple[int, int]]] = {}
    for i, j, weight in edges:
        step = min(int(3 * abs(weight) / strongest), 2) if strongest else 0
        classes.setdefault((step, weight < 0), []).append((i, j))
    traces: list[Dictionary] = []
    named: set[str] = set()
    for (step, negative), pairs in classes.items():
        ends = [[shown.coordinates[i], shown.coordinates[j], [np.nan] * 3] for i, j in pairs]
        name, colour = shown.signs.get(-1 if negative else 1, ("connections", LINE_GREY))
        traces.append(
            {
                "type": "scatter3d",
                **dict(zip("xyz", np.array(ends).reshape(-1, 3).T, strict=True)),
                "mode": "lines",
                "name": _plain(name),
                "legendgroup": name,
                "showlegend": name not in named,
                "hoverinfo": "skip",
                "connectgaps": False,
                "line": {"color": colour, "width": _EDGE_WIDTHS[step], "dash": "dash" if negative else "solid"},
            }
        )
        named.add(name)
    return traces


def _side_names() -> Dictionary:
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


# Names of regions, from where the brain is seen first.

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


def _region_names(shown: Brain, *, around: NDArray[np.floating], height: float) -> list[Dictionary]:
    """The names of the regions that have one as plotly writes them, each with a line to its region.

    Parameters
    ----------
    shown : Brain
        The first of its named regions has the first choice of its place. Those without coordinates are left out.
    around : ndarray, shape (n_points, 3)
        All that is drawn; its extent decides how large a millimetre is on the screen.
    height : float
        Of the drawing, in pixels.
    """
    named = [region for region in shown.named if np.isfinite(shown.coordinates[region]).all()]
    points = _on_screen(shown.coordinates[named], around, height)
    offsets = _name_offsets(points, [len(shown.regions[region]) for region in named])
    return [
        {
            **dict(zip("xyz", map(float, shown.coordinates[region]), strict=True)),
            "text": _plain(shown.regions[region]),
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


def _name_offsets(points: FloatArray, letters: Sequence[int]) -> list[tuple[float, float]]:
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
        # The area that a name in each place shares with what is there.
        shared = (np.maximum(size + its - np.abs(point + moves - other), 0) for other, its in taken)
        overlap = sum(sides.prod(axis=1) for sides in shared)
        beyond = np.maximum(np.abs(point[0] + moves[:, 0]) + size[0] - _HALF_WIDTH, 0)
        best = np.lexsort((-moves @ point, radii, overlap + _LINE * beyond))[0]
        taken.append((point + moves[best], size))
        across, down = moves[best].round(1)
        offsets.append((float(across), float(down)))
    return offsets


def _on_screen(places: FloatArray, around: NDArray[np.floating], height: float) -> FloatArray:
    """Where places are first seen: pixels to the right of and below the middle.

    Parameters
    ----------
    places : ndarray, shape (n, 3)
    around : ndarray, shape (m, 3)
        What the scene holds: the cortex.
    height : float
        Of the scene, in px.
    """
    low, high = np.nanmin(around, axis=0), np.nanmax(around, axis=0)
    size = np.prod(high - low) ** (1 / 3)  # plotly's unit of a scene that keeps proportions
    eye, centre = (np.array([_CAMERA[name][axis] for axis in "xyz"]) for name in ("eye", "center"))
    ahead = (centre - eye) / np.linalg.norm(centre - eye)
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    up = np.cross(right, ahead)
    seen = (places - (low + high) / 2) / size - eye
    pixels = height / 2 / _FIELD / (seen @ ahead)
    found: FloatArray = np.stack([seen @ right * pixels, -(seen @ up) * pixels], axis=1)
    return found


# Regions painted on the cortex.

_LENGTH = 2.2  # of a hemisphere, so that it fills its part of a narrow page


def _surface_traces(shown: Brain) -> list[Dictionary]:
    """The four views: in each the bare cortex, and the painted regions or one piece for every group.

    Every triangle knows its region.
    """
    texts, small = np.array(["no region", *_hover_texts(shown)], dtype=object), np.min_scalar_type(-len(shown.regions))
    traces: list[Dictionary] = []
    for number, (hemisphere, _) in enumerate(VIEWS):
        vertices, triangles, regions = painted_triangles(shown, hemisphere)
        for chosen, look in _pieces(shown, regions):
            if not chosen.any():
                continue
            again = any(trace["name"] == look["name"] for trace in traces)
            used, places = np.unique(triangles[chosen], return_inverse=True)
            about = {"scene": _scene_name(number), "text": texts[regions[chosen]].tolist(), "hovertemplate": _HOVER}
            about["customdata"] = (regions[chosen] - 1).astype(small)  # -1 is no region
            about |= look | {"showlegend": look["showlegend"] and not again}
            corners = places.reshape(-1, 3).astype(np.uint16)
            traces.append(_mesh(vertices[used], corners, lighting=_EVEN_LIGHT, intensitymode="cell", **about))
    return traces


def _pieces(shown: Brain, regions: NDArray[np.int16]) -> list[tuple[NDArray[np.bool_], Dictionary]]:
    """What is painted alike in one view: its triangles, and its look."""
    parts = [(part, np.isin(regions, part.members + 1)) for part in shown.parts if part.name != NO_VALUE]
    painted = np.any([chosen for _, chosen in parts], axis=0) if parts else np.zeros(len(regions), dtype=bool)
    bare = (~painted, {**_one_colour(GAP_COLOUR, ~painted), "name": "cortex", "showlegend": False})
    if shown.shades is None:
        named = [{"name": _plain(part.name), "legendgroup": part.name, "showlegend": True} for part, _ in parts]
        return [bare] + [
            (chosen, {**_one_colour(part.colour, chosen), **about, "legendrank": rank})
            for rank, ((part, chosen), about) in enumerate(zip(parts, named, strict=True), 1)
        ]
    assert shown.values is not None
    intensity = np.concatenate([[np.nan], shown.values])[regions[painted]].astype(np.float32)
    return [bare, (painted, {"intensity": intensity, "coloraxis": "coloraxis", "name": "regions", "showlegend": False})]


def _one_colour(colour: str, chosen: NDArray[np.bool_]) -> Dictionary:
    """One colour for some triangles; written as values of triangles too, so that the mouse finds these, not corners."""
    flat = {"colorscale": [[0, colour], [1, colour]], "cmin": 0, "cmax": 1, "showscale": False}
    return {"color": colour, "intensity": np.zeros(int(chosen.sum()), dtype=np.uint8), **flat}


def _surface_scenes(shown: Brain) -> Dictionary:
    """Cameras of the four views, two by two, with their names."""
    frame: Dictionary = {"annotations": []}
    for number, (hemisphere, side) in enumerate(VIEWS):
        column, row = number % 2, number // 2
        extent = np.ptp(hemisphere_mesh(shown.kind, hemisphere)[0], axis=0)
        eye = {"x": -2 if seen_from_left(hemisphere, side) else 2, "y": 0, "z": 0}
        frame[_scene_name(number)] = {
            **_SCENE,
            "domain": {"x": [column / 2, (column + 1) / 2], "y": [0.5 - row / 2, 1 - row / 2]},
            "aspectmode": "manual",
            "aspectratio": dict(zip("xyz", (_LENGTH / shown.distance * extent / extent[1]).tolist(), strict=True)),
            "camera": {"eye": eye, "projection": {"type": "orthographic"}},
        }
        place = {"x": column / 2 + 0.25, "y": 1 - row / 2, "xref": "paper", "yref": "paper"}
        name = {"text": f"{hemisphere} {side}", "yanchor": "top", "xanchor": "center", "showarrow": False}
        frame["annotations"].append(place | name)
    return frame


def _scene_name(number: int) -> str:
    return f"scene{number + 1 if number else ''}"
