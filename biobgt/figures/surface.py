"""Regions painted on the cortex: four views of the fsaverage5 surface, inflated or pial.

The meshes come with nilearn and the labels of the vertices with the atlas: nothing is fetched. A vertex outside every
region, such as those of the medial wall, and a region without a value are grey.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from biobgt.base.colours import PALE_GREY
from biobgt.base.errors import InputError
from biobgt.base.options import option
from biobgt.base.wording import counted
from biobgt.data.atlas import BUNDLED
from biobgt.figures.brain_nodes import (
    FIRST_COLOUR,
    LAST_COLOUR,
    NO_VALUE,
    Values,
    colour_scale,
    left_out_words,
    n_placed,
    rank_ticks,
)
from biobgt.figures.frame import Trace, bar_above
from biobgt.figures.gaps import GAP_COLOUR

if TYPE_CHECKING:
    from biobgt.data.atlas import Atlas
    from biobgt.figures.brain import BrainDrawing

BrainKind = Literal["nodes", "inflated", "pial"]
Surface = Literal["inflated", "pial"]
NODES = "nodes"
BRAIN_KINDS: Mapping[str, str] = {NODES: "Nodes", "inflated": "Inflated cortex", "pial": "Pial cortex"}
N_VERTICES = 10242  # of each hemisphere
HEMISPHERES = ("left", "right")
# Hemisphere and side from which it is seen, row by row.
VIEWS = (("left", "lateral"), ("right", "lateral"), ("left", "medial"), ("right", "medial"))
BARE = GAP_COLOUR  # cortex of no region
_FLAT = {"type": "orthographic"}
PAINTED_HEIGHT = 480  # px
_LENGTH = 2.2  # of a hemisphere, so that it fills its part of a narrow page
_FILES = {"inflated": "infl", "pial": "pial"}
_HOVER = "%{text}<extra></extra>"
# The same from all sides: a shadow would change a colour, and the colour is the value.
_LIGHT = {"ambient": 1, "diffuse": 0, "specular": 0, "roughness": 1, "fresnel": 0}


def brain_option() -> Any:
    """The option of a figure: how its brain is drawn."""
    return option(
        NODES,
        title="Brain",
        help="Regions as nodes at their places, or painted on the inflated or the pial cortex where the atlas has "
        "surface labels.",
        choices=tuple(BRAIN_KINDS),
        shown=BRAIN_KINDS,
    )


def has_surface(atlas: "Atlas") -> bool:
    """Whether the regions of an atlas can be painted on the cortex."""
    return _labels(atlas) is not None


def surface_labels_of(atlas: "Atlas", brain: str) -> NDArray[np.int16] | None:
    """Region of every vertex, counted from 1, shape (20484,); None for a brain of nodes.

    Parameters
    ----------
    atlas : Atlas
    brain : str
        One of :data:`BRAIN_KINDS`.
    """
    if brain == NODES:
        return None
    labels = _labels(atlas)
    if labels is None:
        raise InputError(
            f"Atlas {atlas.name} has no surface labels, so its regions cannot be painted on the cortex; draw them as "
            "nodes."
        )
    return labels


def _labels(atlas: "Atlas") -> NDArray[np.int16] | None:
    """Labels of a bundled atlas or of some of its regions; a user's own of the same name and other regions has none."""
    bundled = BUNDLED.get(atlas.name)
    labels = None if bundled is None else bundled.surface_labels
    if bundled is None or labels is None or not set(atlas.regions) <= set(bundled.atlas.regions):
        return None
    if bundled.atlas.regions == atlas.regions:
        return labels
    numbers = {region: number for number, region in enumerate(atlas.regions, start=1)}
    kept = np.array([0, *(numbers.get(region, 0) for region in bundled.atlas.regions)], dtype=np.int16)
    return kept[labels]


def n_drawn(coordinates: Values, labels: NDArray[np.int16] | None) -> int:
    """Number of regions that are drawn: those with a place or, on a painted cortex, with a vertex."""
    return n_placed(coordinates) if labels is None else len(np.unique(labels[labels > 0]))


def not_drawn_words(coordinates: Values, labels: NDArray[np.int16] | None) -> str:
    """A sentence on the regions that are not drawn, with a space before it; empty where all are."""
    if labels is None:
        return left_out_words(coordinates)
    n = len(coordinates) - n_drawn(coordinates, labels)
    return f" {counted(n, 'region')} outside the cortical surface {'is' if n == 1 else 'are'} not painted." if n else ""


@lru_cache(maxsize=4)
def hemisphere_mesh(surface: Surface, hemisphere: str) -> tuple[NDArray[np.float32], NDArray[np.uint16]]:
    """Vertices, shape (10242, 3), and triangles, shape (20480, 3), of one hemisphere."""
    import nibabel

    file = _nilearn_folder() / "datasets" / "data" / "fsaverage5" / f"{_FILES[surface]}_{hemisphere}.gii.gz"
    mesh: Any = nibabel.load(file)
    vertices, triangles = mesh.agg_data(("pointset", "triangle"))
    return vertices.astype(np.float32), triangles.astype(np.uint16)


def _nilearn_folder() -> Path:
    """Where nilearn is, without importing it: its own loader brings scikit-learn, and reads all ten meshes for one."""
    found = find_spec("nilearn")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("nilearn is not installed.")
    return Path(found.origin).parent


def hemisphere_labels(labels: NDArray[np.int16], hemisphere: str) -> NDArray[np.int16]:
    """Labels of one hemisphere's vertices, shape (10242,)."""
    start = HEMISPHERES.index(hemisphere) * N_VERTICES
    return labels[start : start + N_VERTICES]


def triangle_regions(labels: NDArray[np.int16], triangles: NDArray[np.uint16]) -> NDArray[np.int16]:
    """Region of each triangle, that of two of its vertices or of the first; no colour is made of two regions'.

    Parameters
    ----------
    labels : ndarray, shape (n_vertices,)
    triangles : ndarray, shape (n_triangles, 3)
    """
    first, second, third = labels[triangles].T
    return np.where(second == third, second, first)


def surface_traces(shown: "BrainDrawing", surface: Surface, hover: Sequence[str]) -> list[Trace]:
    """The four views: in each the bare cortex, and the painted regions or one piece for every group.

    Parameters
    ----------
    shown : BrainDrawing
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
            mesh = {"type": "mesh3d", "x": x, "y": y, "z": z, "i": i, "j": j, "k": k, "lighting": _LIGHT}
            mesh |= {"scene": _scene_name(scene), "text": texts[regions[chosen]].tolist(), "hovertemplate": _HOVER}
            once = {part: piece[part] and not again for part in ("showlegend", "showscale")}
            traces.append({**mesh, "intensitymode": "cell", **piece, **once})
    return traces


def _pieces(shown: "BrainDrawing", regions: NDArray[np.int16]) -> list[dict[str, Any]]:
    """What is painted alike in one view, with the triangles of each piece."""
    members = [np.array(group.members, dtype=int) + 1 for group in shown.parts if group.name != NO_VALUE]
    painted = np.isin(regions, np.concatenate(members)) if members else np.zeros(len(regions), dtype=bool)
    bare = {"triangles": ~painted, **_plain(BARE, ~painted), "name": "cortex", "showlegend": False}
    shades = shown.shades
    if shades is None:
        alike = [(group, np.isin(regions, np.array(group.members, dtype=int) + 1)) for group in shown.parts]
        return [bare] + [
            {
                "triangles": chosen,
                **_plain(group.colour, chosen),
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


def _plain(colour: str, chosen: NDArray[np.bool_]) -> dict[str, Any]:
    """One colour for some triangles; written as values of triangles too, so that the mouse finds these, not corners."""
    flat = {"colorscale": [[0, colour], [1, colour]], "cmin": 0, "cmax": 1, "showscale": False}
    return {"color": colour, "intensity": np.zeros(int(chosen.sum()), dtype=np.uint8), **flat}


def _scale(shown: "BrainDrawing", shades: Values) -> dict[str, Any]:
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


def checked_labels(shown: "BrainDrawing") -> NDArray[np.int16]:
    """The labels of a drawing's vertices, shape (20484,), or what is wrong with them."""
    labels = shown.surface_labels
    if labels is None or labels.shape != (2 * N_VERTICES,) or labels.max() > len(shown.regions):
        raise InputError(f"Surface labels are {2 * N_VERTICES:,} numbers of regions, one per vertex of fsaverage5.")
    return labels
