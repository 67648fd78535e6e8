"""The cortex of fsaverage5: its meshes and its sphere, which come with nilearn, and the region of each vertex.

A vertex outside every region, such as those of the medial wall, has number 0. Nothing is fetched.
"""

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biobgt.base.errors import InputError
from biobgt.data.atlas import BUNDLED, Atlas

N_VERTICES = 10242  # of each hemisphere
HEMISPHERES = ("left", "right")
_FILES = {"inflated": "infl", "pial": "pial", "sphere": "sphere"}


def has_surface(atlas: Atlas) -> bool:
    """Whether the regions of an atlas can be painted on the cortex."""
    return _labels(atlas) is not None


def surface_labels(atlas: Atlas) -> NDArray[np.int16]:
    """Region of every vertex, counted from 1, shape (20484,), or a sentence where they are not known."""
    labels = _labels(atlas)
    if labels is None:
        raise InputError(
            f"Atlas {atlas.name} has no surface labels, so its regions cannot be painted on the cortex; draw them as "
            "nodes."
        )
    return labels


def _labels(atlas: Atlas) -> NDArray[np.int16] | None:
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


def hemisphere_labels(labels: NDArray[np.int16], hemisphere: str) -> NDArray[np.int16]:
    """Labels of one hemisphere's vertices, shape (10242,)."""
    start = HEMISPHERES.index(hemisphere) * N_VERTICES
    return labels[start : start + N_VERTICES]


@lru_cache(maxsize=4)
def hemisphere_mesh(surface: str, hemisphere: str) -> tuple[NDArray[np.float32], NDArray[np.uint16]]:
    """Vertices, shape (10242, 3), and triangles, shape (20480, 3), of one hemisphere: inflated, pial, or its sphere."""
    import nibabel

    # Found without importing nilearn: its own loader brings scikit-learn, and reads all ten meshes for one.
    found = find_spec("nilearn")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("nilearn is not installed.")
    folder = Path(found.origin).parent / "datasets" / "data" / "fsaverage5"
    mesh: Any = nibabel.load(folder / f"{_FILES[surface]}_{hemisphere}.gii.gz")
    vertices, triangles = mesh.agg_data(("pointset", "triangle"))
    return vertices.astype(np.float32), triangles.astype(np.uint16)
