"""Regions painted on the cortex: four views of the fsaverage5 surface, inflated or pial.

The meshes come with nilearn and the labels of the vertices with the atlas: nothing is fetched. A vertex outside every
region, such as those of the medial wall, and a region without a value are grey.
"""

from collections.abc import Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from biobgt.base.errors import InputError
from biobgt.base.options import option
from biobgt.base.wording import counted
from biobgt.data.atlas import BUNDLED
from biobgt.figures.brain_nodes import (
    Values,
    left_out_words,
    n_placed,
)
from biobgt.figures.gaps import GAP_COLOUR

if TYPE_CHECKING:
    from biobgt.data.atlas import Atlas
    from biobgt.figures.brain import Brain

BrainKind = Literal["nodes", "inflated", "pial"]
Surface = Literal["inflated", "pial"]
NODES = "nodes"
BRAIN_KINDS: Mapping[str, str] = {NODES: "Nodes", "inflated": "Inflated cortex", "pial": "Pial cortex"}
N_VERTICES = 10242  # of each hemisphere
HEMISPHERES = ("left", "right")
# Hemisphere and side from which it is seen, row by row.
VIEWS = (("left", "lateral"), ("right", "lateral"), ("left", "medial"), ("right", "medial"))
BARE = GAP_COLOUR  # cortex of no region
_FILES = {"inflated": "infl", "pial": "pial"}


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


def checked_labels(shown: "Brain") -> NDArray[np.int16]:
    """The labels of a drawing's vertices, shape (20484,), or what is wrong with them."""
    labels = shown.surface_labels
    if labels is None or labels.shape != (2 * N_VERTICES,) or labels.max() > len(shown.regions):
        raise InputError(f"Surface labels are {2 * N_VERTICES:,} numbers of regions, one per vertex of fsaverage5.")
    return labels
