"""Regions of a stack of matrices, in the files that the NBS toolbox has beside it: ``nodeLabels.txt`` and ``COG.txt``.

A file counts only where it has as many lines as the matrices have regions.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.base.limits import current_limits
from biobgt.readers.measurement import Reading
from biobgt.readers.tables import decode

_LABELS, _PLACES = "nodelabels.txt", "cog.txt"
_STACKS = (".mat", ".npy", ".npz", ".h5", ".hdf5")
_FARTHEST_MM = 200.0


def is_beside_matrices(path: Path) -> bool:
    """Whether a file has the names or places of the regions of matrices that lie beside it."""
    if path.name.lower() not in (_LABELS, _PLACES):
        return False
    return any(file.suffix.lower() in _STACKS for file in path.parent.iterdir())


def with_regions(readings: Sequence[Reading], path: Path) -> list[Reading]:
    """Give matrices the names and places of regions that lie beside their file, where there are as many.

    Parameters
    ----------
    readings : sequence of Reading
        All of one file.
    path : Path
        The file.
    """
    n = len(readings[0].values)
    if any(one.values.shape != (n, n) or one.names is not None for one in readings):
        return list(readings)
    names, places = _names(path, n), _places(path, n)
    if names is None:
        return list(readings)
    return [replace(one, region_names=names, row_names=names, coordinates=places) for one in readings]


def _lines(path: Path, name: str) -> list[str]:
    found = (file for file in path.parent.iterdir() if file.name.lower() == name)
    file = next((one for one in found if one.is_file() and not one.is_symlink()), None)
    if file is None or file.stat().st_size > current_limits().table_bytes:
        return []
    try:
        return [line.strip() for line in decode(file.read_bytes()).splitlines() if line.strip()]
    except InputError:
        return []


def _names(path: Path, n_regions: int) -> tuple[str, ...] | None:
    lines = _lines(path, _LABELS)
    if len(lines) != n_regions:
        return None
    return tuple(f"{name} ({i})" if lines.count(name) > 1 else name for i, name in enumerate(lines, start=1))


def _places(path: Path, n_regions: int) -> FloatArray | None:
    try:
        places = np.array([[float(cell) for cell in line.replace(",", " ").split()] for line in _lines(path, _PLACES)])
    except ValueError:
        return None
    if places.shape != (n_regions, 3) or not np.isfinite(places).all() or np.abs(places).max() > _FARTHEST_MM:
        return None
    return places
