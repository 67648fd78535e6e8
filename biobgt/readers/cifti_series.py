"""CIFTI-2 files of the Human Connectome Project and XCP-D: series and connectivity of parcels, series of grayordinates.

A parcellated file names its regions itself. A dense series needs a label file (``.dlabel.nii``): vertices are matched
by structure and number, voxels by their place in the grid, and each label is the mean of what carries it. Runs in a
reading process (:mod:`biobgt.readers.isolated`).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
from nibabel.cifti2 import cifti2_axes
from nibabel.cifti2.cifti2 import Cifti2Image
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.limits import Limits
from biobgt.readers.foreign import allow_memory, library
from biobgt.readers.nifti_extensions import check_extensions

_COPIES = 4  # as stored, scaled, chosen, and the one that is being made
_ADVICE = "; it may be damaged or cut off."
_SECONDS = {"SECOND": 1.0}
_AT_ONCE = 2**24  # values of a dense series in memory at a time


def read(path: Path, options: Mapping[str, Any], limits: Limits) -> tuple[dict[str, Any], NDArray[np.float64]]:
    """Read one subject's parcels.

    Parameters
    ----------
    path : Path
    options : mapping
        ``labels``: the label file of a dense series, or None.
    limits : Limits

    Returns
    -------
    dict
        ``names`` of the parcels, ``tr`` in seconds or None, ``kind`` (series or connectivity), and ``used``.
    ndarray, shape (n_timepoints, n_parcels) or (n_parcels, n_parcels)
    """
    image = _open(path, limits)
    axes = _axes(image)
    if all(isinstance(axis, cifti2_axes.ParcelsAxis) for axis in axes):
        return _answer(_names(axes[1], limits), None, "connectivity", {}), _values(image, limits)
    series = next((axis for axis in axes if isinstance(axis, cifti2_axes.SeriesAxis)), None)
    if series is None:
        raise InputError("The CIFTI file holds neither series nor connectivity of parcels.")
    time = 0 if axes[0] is series else 1
    limits.check("timepoints", image.shape[time], "The file")
    tr = float(series.step) * _SECONDS.get(str(series.unit).upper(), np.nan)
    if isinstance(axes[1 - time], cifti2_axes.ParcelsAxis):
        names = _names(axes[1 - time], limits)
        values = _values(image, limits)
        return _answer(names, tr, "series", {}), values if time == 0 else values.T
    if options["labels"] is None:
        raise InputError("A dense series needs its parcels: give a label file that ends in .dlabel.nii.")
    labels = Path(options["labels"])
    names, own = _labels_of(axes[1 - time], _open(labels, limits), limits)
    means = _means(image, time, own, len(names), limits)
    return _answer(names, tr, "series", {"regions": f"labels of {labels.name}"}), means


def _open(path: Path, limits: Limits) -> Any:
    """Open a CIFTI file of two axes whose declared size fits the file's."""
    if not path.is_file():
        raise InputError(f"There is no file '{path.name}'.")
    with library("a CIFTI file", _ADVICE):
        check_extensions(path, limits)
        image: Any = nibabel.load(path)
    if not isinstance(image, Cifti2Image):
        raise InputError(f"'{path.name}' is a NIfTI image and no CIFTI file.")
    if len(image.shape) != 2 or min(image.shape) < 1:
        raise InputError(f"'{path.name}' has shape {image.shape}; a matrix was expected.")
    n, dtype = int(image.shape[0]) * int(image.shape[1]), image.nifti_header.get_data_dtype()
    if dtype.kind not in "fiu":
        raise InputError(f"'{path.name}' holds values of type {str(dtype)[:80]}, not real numbers.")
    n_bytes = n * dtype.itemsize
    limits.check("voxels", n, f"'{path.name}'")
    if n_bytes > path.stat().st_size:
        raise InputError(
            f"'{path.name}' declares {n_bytes:,} bytes and the file has {path.stat().st_size:,}; it may be cut off."
        )
    return image


def _axes(image: Any) -> list[Any]:
    """What lies along each side of the matrix; the header is parsed only now, so its damage shows only now."""
    with library("a CIFTI file", _ADVICE):
        axes = [image.header.get_axis(side) for side in range(2)]
    if tuple(len(axis) for axis in axes) != tuple(image.shape):
        raise InputError(
            f"The CIFTI header describes {len(axes[0])} × {len(axes[1])} values, "
            "which is not the size of the data; the file may be damaged."
        )
    return axes


def _values(image: Any, limits: Limits) -> NDArray[np.float64]:
    """All values of a matrix that is small enough to be kept."""
    limits.check_array(image.shape, "The file")
    allow_memory(_COPIES * 8 * int(image.shape[0]) * int(image.shape[1]), limits)
    with library("a CIFTI file", _ADVICE):
        return np.asarray(image.dataobj, dtype=np.float64)


def _names(axis: Any, limits: Limits) -> list[str]:
    limits.check("regions", len(axis), "The file")
    return [str(name) for name in axis.name]


def _labels_of(dense: Any, labels: Any, limits: Limits) -> tuple[list[str], NDArray[np.int64]]:
    """Names of the labels, and of each grayordinate of the series the place of its label among them, or -1."""
    axes = _axes(labels)
    if not isinstance(axes[0], cifti2_axes.LabelAxis) or not isinstance(axes[1], cifti2_axes.BrainModelAxis):
        raise InputError("The label file holds no labels of grayordinates: a .dlabel.nii file is needed.")
    if not isinstance(dense, cifti2_axes.BrainModelAxis):
        raise InputError("The series are neither of parcels nor of grayordinates.")
    table = {int(key): str(name) for key, (name, _) in axes[0].label[0].items() if int(key) != 0}
    limits.check("regions", len(table), "The label file")
    columns = {key: column for column, key in enumerate(sorted(table))}
    numbers = _values(labels, limits)[0]
    places = {place: int(number) for place, number in zip(_places(axes[1]), numbers, strict=True)}
    carried = [places.get(place, 0) for place in _places(dense)]
    if not any(carried):
        raise InputError("No grayordinate of the series is in the label file; they may be on another mesh.")
    return [table[key] for key in sorted(table)], np.array([columns.get(key, -1) for key in carried])


def _means(image: Any, time: int, own: NDArray[np.int64], n_labels: int, limits: Limits) -> NDArray[np.float64]:
    """Mean series of each label, some time points after others; NaN for a label that no grayordinate carries.

    Parameters
    ----------
    image : Cifti2Image
        Of a dense series.
    time : int
        Which of its two sides is time.
    own : ndarray of int, shape (n_grayordinates,)
        Column of each grayordinate's label, or -1.
    n_labels : int
    limits : Limits

    Returns
    -------
    ndarray, shape (n_timepoints, n_labels)
    """
    n_timepoints = int(image.shape[time])
    limits.check_array((n_timepoints, n_labels), "The file")
    step = max(1, _AT_ONCE // len(own))
    allow_memory(_COPIES * 8 * step * len(own) + 8 * n_timepoints * n_labels, limits)
    means = np.full((n_timepoints, n_labels), np.nan)
    members = [(label, np.flatnonzero(own == label)) for label in np.unique(own[own >= 0])]
    for first in range(0, n_timepoints, step):
        part = slice(first, first + step)
        with library("a CIFTI file", _ADVICE):
            values = image.dataobj[part] if time == 0 else image.dataobj[:, part].T
        for label, carriers in members:
            means[part, label] = values[:, carriers].mean(axis=1, dtype=np.float64)
    return means


def _places(axis: Any) -> list[tuple[str, int, int, int]]:
    """Where each grayordinate is: its structure and its vertex, or its voxel."""
    rows = zip(axis.volume_mask, axis.name, axis.vertex, axis.voxel, strict=True)
    return [
        ("", int(voxel[0]), int(voxel[1]), int(voxel[2])) if in_volume else (str(structure), int(vertex), -1, -1)
        for in_volume, structure, vertex, voxel in rows
    ]


def _answer(names: list[str], tr: float | None, kind: str, used: dict[str, str]) -> dict[str, Any]:
    known = tr is not None and np.isfinite(tr) and 0 < tr < 100
    return {"names": names, "tr": tr if known else None, "kind": kind, "used": used}
