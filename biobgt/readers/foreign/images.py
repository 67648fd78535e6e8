"""NIfTI, CIFTI-2 and GIfTI files, read in a process of its own."""

import math
import re
import struct
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
from nibabel.cifti2 import cifti2_axes
from nibabel.cifti2.cifti2 import Cifti2Image
from nibabel.gifti.parse_gifti_fast import GiftiImageParser
from nibabel.nifti1 import intent_codes
from nibabel.openers import ImageOpener
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError, first_line
from biobgt.base.limits import DamagedFile, Limits, allow_memory, library

# What lies between the header and the numbers of a NIfTI-2 file: a CIFTI file's XML, which is parsed as it is opened.
#
# A plain image may carry it too, and whoever opens the image parses it. Runs in a reading process
# (:mod:`biobgt.readers.foreign.isolate`).


_HEADER_BYTES, _FLAG_AT, _OFFSET_AT = 544, 540, 168
_SHORTEST = 16


def _check_extensions(path: Path, limits: Limits) -> None:
    """Refuse a file whose XML is longer than any atlas needs, or has no end, before it is parsed."""
    with ImageOpener(str(path)) as file:
        start = file.read(_HEADER_BYTES)
        order = "<" if start[:4] == struct.pack("<i", _FLAG_AT) else ">"
        is_nifti2 = start[:4] == struct.pack(f"{order}i", _FLAG_AT) and len(start) == _HEADER_BYTES
        if not is_nifti2 or not start[_FLAG_AT]:
            return  # nothing lies there
        (offset,) = struct.unpack_from(f"{order}q", start, _OFFSET_AT)
        left = offset - _HEADER_BYTES
        limits.check("header_bytes", left, f"The XML of '{path.name}'")
        while left >= _SHORTEST:
            n_bytes, _ = struct.unpack(f"{order}ii", file.read(8))
            if not _SHORTEST <= n_bytes <= left:
                left = -1
                break
            left -= n_bytes
            file.seek(n_bytes - 8, 1)
    if left < 0:
        raise InputError(f"The header of '{path.name}' does not end where its numbers begin; it may be damaged.")


# Series of regions out of 4-D NIfTI images, with nilearn's maskers.
#
# What an image's header declares is held against the file's size before a voxel is read. Runs in a reading process
# (:mod:`biobgt.readers.foreign.isolate`).


_NIFTI_COPIES = 6  # as stored, scaled, smoothed, resampled, masked, and the one that is being made
_LARGEST_LABEL = 2**31
_ROUNDING_MM = 2.0  # nilearn takes the voxel whose whole millimetres are the sphere's, too


def read_nifti(path: Path, options: Mapping[str, Any], limits: Limits) -> tuple[dict[str, Any], FloatArray]:
    """Extract one subject's series.

    Parameters
    ----------
    path : Path
    options : mapping
        The fields of :class:`~biobgt.readers.formats.ImageOptions`, with ``coordinates`` of an atlas and ``root``.
    limits : Limits

    Returns
    -------
    dict
        ``tr``, and ``used``: what was done, for the provenance.
    ndarray, shape (n_timepoints, n_regions)
    """
    image = _load(path, limits)
    if image.ndim != 4 or image.shape[3] < 2:
        raise InputError(f"The image has shape {image.shape}; series need a 4-D image, x by y by z by time.")
    limits.check("timepoints", image.shape[3], "The image")
    tr = options["tr"] or _header_tr(image)
    if tr is None and (options["low_pass"] or options["high_pass"] or options["confounds"] == "scrubbing"):
        raise InputError("The image's header has no repetition time, which filtering needs. Give the TR.")
    cleaning = {"low_pass": options["low_pass"], "high_pass": options["high_pass"], "t_r": tr}
    cleaning |= {"smoothing_fwhm": options["smoothing_mm"], "standardize": None}  # whose default, False, is to go
    confounds, kept_volumes = _load_confounds(path, options["confounds"], Path(options["root"]))
    fit: dict[str, Any] = {"confounds": confounds, "sample_mask": kept_volumes}
    labels_path = Path(options["labels"] or "")
    labels = None if options["labels"] is None else _load(labels_path, limits)
    allow_memory(_NIFTI_COPIES * 8 * (_n_voxels(image) + (0 if labels is None else _n_voxels(labels))), limits)
    series = (
        _series_of_spheres(image, options, cleaning, fit)
        if labels is None
        else _series_of_labels(image, labels, cleaning, fit, limits)
    )
    used = {  # for the provenance
        "regions": f"spheres of {options['radius_mm']:g} mm" if labels is None else f"labels of {labels_path.name}",
        "confounds": options["confounds"] or "none",
        "volumes left out": image.shape[3] - len(series),
        "TR": tr,
        "smoothing mm": options["smoothing_mm"],
        "low-pass Hz": options["low_pass"],
        "high-pass Hz": options["high_pass"],
    }
    return {"tr": tr, "used": {name: value for name, value in used.items() if value is not None}}, series


def _load(path: Path, limits: Limits) -> Any:
    """Open an image whose declared size fits the file's, and make sure that it can be read to its end."""
    try:
        _check_extensions(path, limits)
        image: Any = nibabel.load(path)
        _check_size(image, path, limits)
        # A file that was cut off shows itself on reading, not on opening.
        np.asarray(image.dataobj[tuple([slice(0, 1)] * (image.ndim - 1) + [slice(-1, None)])])
        return image
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"There is no image '{path.name}'.") from None
    except Exception as error:  # nibabel, gzip and zlib each raise their own
        raise DamagedFile(
            f"'{path.name}' cannot be read as a NIfTI image ({type(error).__name__}); it may be damaged or cut off."
        ) from None


def _check_size(image: Any, path: Path, limits: Limits) -> None:
    what = f"'{path.name}'"
    if not 2 < len(image.shape) < 8 or min(image.shape) < 1:
        raise InputError(f"{what} has shape {image.shape}, which no image has.")
    dtype = image.get_data_dtype()
    if dtype.kind not in "fiu":
        raise InputError(f"{what} holds voxels of type {str(dtype)[:80]}, not real numbers.")
    limits.check("voxels", _n_voxels(image), what)
    n_bytes = _n_voxels(image) * dtype.itemsize
    n_file = path.stat().st_size
    if path.name.lower().endswith(".gz"):
        computed = 0 if image.ndim < 4 else 4 * _n_voxels(image)  # a series of bytes becomes one of single precision
        limits.check_growth(n_file, max(n_bytes, computed), what)
    elif n_bytes > n_file:
        raise InputError(
            f"{what} cannot be read as a NIfTI image: its header declares {n_bytes:,} bytes and the file has "
            f"{n_file:,}; it may have been cut off."
        )


def _n_voxels(image: Any) -> int:
    return int(np.prod([int(n) for n in image.shape], dtype=object))


def _series_of_labels(
    image: Any, labels: Any, cleaning: dict[str, Any], fit: dict[str, Any], limits: Limits
) -> FloatArray:
    """Mean series of each label, in the order of the labels; NaN for one that the image does not reach."""
    if labels.ndim != 3:
        raise InputError(f"The label image has shape {labels.shape}; it must be 3-D, with one whole number per region.")
    numbers = np.unique(np.asarray(labels.dataobj))
    numbers = numbers[numbers != 0]
    finite = bool(np.isfinite(numbers).all()) and bool((np.abs(numbers.astype(float)) < _LARGEST_LABEL).all())
    if numbers.size < 2 or not finite or not np.allclose(numbers, np.round(numbers)):
        raise InputError(f"The label image holds {numbers.size} labels; it must hold a whole number for each region.")
    limits.check("regions", numbers.size, "The label image")
    from nilearn.maskers import NiftiLabelsMasker  # seconds, which an image that is refused does not need

    masker = NiftiLabelsMasker(labels_img=labels, reports=False, **cleaning)
    extracted = _run(masker, image, fit)
    # Small labels vanish when resampled to the image: their columns must not shift the others.
    series = np.full((len(extracted), len(numbers)), np.nan)
    columns = {round(float(number)): i for i, number in enumerate(numbers)}
    for column, number in masker.region_ids_.items():
        if column != "background":
            series[:, columns[round(float(number))]] = extracted[:, int(column)]
    return series


def _series_of_spheres(
    image: Any, options: Mapping[str, Any], cleaning: dict[str, Any], fit: dict[str, Any]
) -> FloatArray:
    if options["coordinates"] is None:
        raise InputError(
            "An image needs regions: give a label image, or an atlas with MNI coordinates to put spheres around."
        )
    seeds = np.array(options["coordinates"], dtype=float)
    # An image that does not reach all spheres is refused here: nilearn finds it out after minutes.
    ends = [(0, n - 1) for n in image.shape[:3]]
    corners = np.array(list(product(*ends))) @ image.affine[:3, :3].T + image.affine[:3, 3]
    margin = options["radius_mm"] + np.abs(image.affine[:3, :3]).sum(axis=1) + _ROUNDING_MM
    outside = ((seeds < corners.min(axis=0) - margin) | (seeds > corners.max(axis=0) + margin)).any(axis=1)
    if outside.any():
        raise InputError(
            f"The regions could not be extracted: {outside.sum()} of {len(seeds)} spheres are empty, as they lie "
            "outside the image. Give an image in MNI space that covers the whole brain, or a label image of its own "
            "space."
        )
    from nilearn.maskers import NiftiSpheresMasker  # seconds, which an image that is refused does not need

    places, radius = list(map(tuple, seeds.tolist())), options["radius_mm"]
    masker = NiftiSpheresMasker(seeds=places, radius=radius, allow_overlap=True, reports=False, **cleaning)
    return _run(masker, image, fit)


def _run(masker: Any, image: Any, fit: dict[str, Any]) -> FloatArray:
    try:
        volumes = (np.asarray(image.dataobj[..., volume]) for volume in (0, -1))
        if all(values.min() == values.max() for values in volumes):  # no brain, which would take as long as any other
            raise InputError(
                "The image is empty: all voxels of its first volume have one value, and all of its last. Give the "
                "preprocessed image."
            )
        return np.asarray(masker.fit_transform(image, **fit), dtype=np.float64)
    except (InputError, MemoryError):
        raise
    except Exception as error:  # nilearn, scipy and nibabel on headers and voxels that make no sense
        raise DamagedFile(f"The regions could not be extracted: {first_line(error, 200)}") from None


def _header_tr(image: Any) -> float | None:
    try:
        zooms, unit = image.header.get_zooms(), image.header.get_xyzt_units()[1]
    except KeyError:  # a code for the unit that the format does not have
        return None
    tr = float(zooms[3]) if len(zooms) > 3 else 0.0
    if unit == "msec":
        tr /= 1000
    return tr if 0 < tr < 100 else None


def _load_confounds(path: Path, strategy: str | None, root: Path) -> tuple[Any, Any]:
    if strategy is None:
        return None, None
    from nilearn.interfaces.fmriprep import load_confounds_strategy

    for sidecar in path.parent.glob("*confounds*"):
        try:
            leads_out = sidecar.is_symlink() and not sidecar.resolve().is_relative_to(root.resolve())
        except (RuntimeError, OSError):  # a loop
            leads_out = True
        if leads_out:
            raise InputError(f"The confounds '{sidecar.name}' are a link that leads out of the folder. Copy the file.")
        if not sidecar.is_file():
            raise InputError(f"The confounds '{sidecar.name}' are no file. Remove what has this name.")
    try:
        confounds, kept = load_confounds_strategy(str(path), denoise_strategy=strategy)
        n_volumes, n_confounds = len(confounds) if kept is None else len(kept), confounds.shape[1]
    except Exception as error:  # nilearn and pandas each raise their own
        raise InputError(
            f"The confounds for strategy '{strategy}' could not be loaded: {first_line(error, 200)} They are read from "
            "fMRIPrep's '_desc-confounds_timeseries.tsv' (and .json) beside the image."
        ) from None
    if n_confounds >= n_volumes - 1:
        raise InputError(
            f"The strategy '{strategy}' regresses out {n_confounds} confounds and keeps {n_volumes} volumes, "
            "which leaves no signal. Choose a milder strategy."
        )
    return confounds, kept


# CIFTI-2 files of the Human Connectome Project and XCP-D: series and connectivity of parcels, series of grayordinates.
#
# A parcellated file names its regions itself. A dense series needs a label file (``.dlabel.nii``): vertices are
# matched by structure and number, voxels by their place in the grid, and each label is the mean of what carries it.
# Runs in a reading process (:mod:`biobgt.readers.foreign.isolate`).


_CIFTI_COPIES = 4  # as stored, scaled, chosen, and the one that is being made
_ADVICE = "; it may be damaged or cut off."
_AT_ONCE = 2**24  # values of a dense series in memory at a time


def read_cifti(path: Path, options: Mapping[str, Any], limits: Limits) -> tuple[dict[str, Any], FloatArray]:
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
        ``names`` of the parcels, ``tr`` in seconds where it is known, and ``used``.
    ndarray, shape (n_timepoints, n_parcels) or (n_parcels, n_parcels)
    """
    image = _open(path, limits)
    axes = _axes(image)
    if all(isinstance(axis, cifti2_axes.ParcelsAxis) for axis in axes):
        limits.check("regions", len(axes[1]), "The file")
        return {"names": list(map(str, axes[1].name)), "used": {}}, _values(image, limits)
    series = next((axis for axis in axes if isinstance(axis, cifti2_axes.SeriesAxis)), None)
    if series is None:
        raise InputError("The CIFTI file holds neither series nor connectivity of parcels.")
    time = 0 if axes[0] is series else 1
    limits.check("timepoints", image.shape[time], "The file")
    in_seconds = str(series.unit).upper() == "SECOND" and 0 < series.step < 100
    answer: dict[str, Any] = {"tr": float(series.step) if in_seconds else None, "used": {}}
    other = axes[1 - time]
    if isinstance(other, cifti2_axes.ParcelsAxis):
        limits.check("regions", len(other), "The file")
        values = _values(image, limits)
        return {**answer, "names": list(map(str, other.name))}, values if time == 0 else values.T
    if options["labels"] is None:
        raise InputError("A dense series needs its parcels: give a label file that ends in .dlabel.nii.")
    labels = Path(options["labels"])
    names, own = _labels_of(other, _open(labels, limits), limits)
    means = _cifti_means(image, time, own, len(names), limits)
    return {**answer, "names": names, "used": {"regions": f"labels of {labels.name}"}}, means


def _open(path: Path, limits: Limits) -> Any:
    """Open a CIFTI file of two axes whose declared size fits the file's."""
    if not path.is_file():
        raise InputError(f"There is no file '{path.name}'.")
    with library("a CIFTI file", _ADVICE):
        _check_extensions(path, limits)
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


def _values(image: Any, limits: Limits) -> FloatArray:
    """All values of a matrix that is small enough to be kept."""
    limits.check_array(image.shape, "The file")
    allow_memory(_CIFTI_COPIES * 8 * int(image.shape[0]) * int(image.shape[1]), limits)
    with library("a CIFTI file", _ADVICE):
        return np.asarray(image.dataobj, dtype=np.float64)


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


def _cifti_means(image: Any, time: int, own: NDArray[np.int64], n_labels: int, limits: Limits) -> FloatArray:
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
    allow_memory(_CIFTI_COPIES * 8 * step * len(own) + 8 * n_timepoints * n_labels, limits)
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


# Mean series of regions out of GIfTI files, one time point after another: a recording need not fit in memory.
#
# A GIfTI file is XML. One that names another file as the place of its numbers is refused, as are declared entities and
# numbers that the file's size does not explain. Runs in a reading process (:mod:`biobgt.readers.foreign.isolate`).


_GIFTI_COPIES = 6  # as text, decoded, unpacked, as an array, turned, and the one that is being made
_SURFACES = frozenset({"NIFTI_INTENT_POINTSET", "NIFTI_INTENT_TRIANGLE"})
_NO_REGION = re.compile(
    r"(?:[LR]_|[lr]h[._])?(?:\?+|unknown|medial[_ .]?wall|corpuscallosum|background.*)", re.IGNORECASE
)
_MOST_LEFT_OUT = 100  # of their names are told
_SIDES = {"L": "CortexLeft", "R": "CortexRight"}


@dataclass(frozen=True, eq=False)
class _Parcels:
    """The regions of one hemisphere: their names, and of each vertex the place of its own among them, or -1."""

    names: tuple[str, ...]
    own: NDArray[np.int64]
    left_out: tuple[str, ...] = ()


def read_gifti(path: Path, options: Mapping[str, Any], limits: Limits) -> tuple[dict[str, Any], FloatArray]:
    """Read one subject's regions.

    Parameters
    ----------
    path : Path
        Not used: the files are among the options.
    options : mapping
        ``files``: path and side of each hemisphere; ``labels``: path of each one's label file, or ``numbers``,
        ``names`` and ``of`` of bundled labels.
    limits : Limits

    Returns
    -------
    dict
        ``names`` of the regions and ``used``.
    ndarray, shape (n_timepoints, n_regions)
    """
    files = options["files"]
    parcels = [_parcels(options, place, limits) for place in range(len(files))]
    limits.check("regions", sum(len(part.names) for part in parcels), "The labels")
    means = []
    for file, part in zip(files, parcels, strict=True):
        parser = _Parser(Path(file["path"]), limits, part)
        parser.read(file["side"])
        what = f"'{Path(file['path']).name}'"
        if not parser.arrays:
            raise InputError(f"{what} holds no series.")
        means.append(np.concatenate(parser.arrays))
        limits.check("timepoints", len(means[-1]), what)
    if len({len(part) for part in means}) > 1:
        raise InputError(
            f"The left hemisphere has {len(means[0])} time points and the right one {len(means[1])}; the two files are "
            "not of the same recording."
        )
    said = " and ".join(Path(label).name for label in options.get("labels", ()))
    used = {"regions": f"labels of {said}" if said else f"surface labels of {options['of']}"}
    if left_out := sorted({name for part in parcels for name in part.left_out}):
        used["labels that are no region"] = ", ".join(name[:80] for name in left_out[:_MOST_LEFT_OUT])
    sides = ("lh_", "rh_") if len(parcels) == 2 and set(parcels[0].names) & set(parcels[1].names) else ("", "")
    names = [f"{side}{name}" for side, part in zip(sides, parcels, strict=False) for name in part.names]
    return {"names": names, "used": used}, np.concatenate(means, axis=1)


def _parcels(options: Mapping[str, Any], place: int, limits: Limits) -> _Parcels:
    if "labels" not in options:
        numbers = np.array(options["numbers"][place], dtype=np.int64)
        return _as_parcels(numbers, dict(enumerate(options["names"], start=1)), "The bundled labels", limits)
    label = Path(options["labels"][place])
    parser = _Parser(label, limits)
    image = parser.read(options["files"][place]["side"])
    if len(parser.arrays) != 1 or parser.arrays[0].ndim != 1:
        raise InputError(f"'{label.name}' has {len(parser.arrays)} maps; a label file of one map is needed.")
    values = parser.arrays[0]
    if not np.array_equal(values, np.round(values)):
        raise InputError(f"'{label.name}' holds values that are no whole numbers, so they are no labels.")
    table = {int(item.key): str(item.label or "") for item in image.labeltable.labels}
    return _as_parcels(values.astype(np.int64), table, f"'{label.name}'", limits)


def _as_parcels(numbers: NDArray[np.int64], table: Mapping[int, str], what: str, limits: Limits) -> _Parcels:
    """Take the labels that vertices carry, in the order of their numbers; 0 and the medial wall are no regions."""
    carried = [int(key) for key in np.unique(numbers) if key > 0]
    unnamed = next((key for key in carried if not table.get(key)), None)
    if unnamed is not None:
        raise InputError(f"{what}: vertices carry the label {unnamed}, which the label table does not name.")
    regions = [key for key in carried if not _NO_REGION.fullmatch(table[key])]
    if not regions:
        raise InputError(f"{what}: no vertex carries the label of a region.")
    limits.check("regions", len(regions), what)
    names = tuple(table[key] for key in regions)
    twice, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise InputError(f"{what}: the name '{twice[:80]}' stands twice in the label table; names must differ.")
    places = np.minimum(np.searchsorted(regions, numbers), len(regions) - 1)  # a label may be any number
    own = np.where(np.asarray(regions)[places] == numbers, places, -1)
    return _Parcels(names, own, tuple(table[key] for key in carried if _NO_REGION.fullmatch(table[key])))


_NibabelParser: Any = GiftiImageParser  # which has no types


class _Parser(_NibabelParser):  # type: ignore[misc]
    """nibabel's parser, which reads nothing but its file and keeps of a time point only the means of regions."""

    HANDLER_NAMES = [*_NibabelParser.HANDLER_NAMES, "EntityDeclHandler"]  # noqa: RUF012 - as nibabel declares it

    def __init__(self, path: Path, limits: Limits, parcels: _Parcels | None = None) -> None:
        super().__init__(mmap=False)
        self.arrays: list[FloatArray] = []
        self._path, self._limits, self._parcels = path, limits, parcels
        self._declared = 0

    def read(self, side: str | None) -> Any:
        """Parse the file, which must not say itself that it is of the other hemisphere; numbers are in `arrays`."""
        if not self._path.is_file():
            raise InputError(f"There is no file '{self._path.name}'.")
        self._limits.check("image_file_bytes", self._path.stat().st_size, f"'{self._path.name}'")
        with library("a GIfTI file", _ADVICE), self._path.open("rb") as file:
            self.parse(fptr=file)
        if self.img is None:
            raise InputError(f"'{self._path.name}' is XML and no GIfTI file.")
        metadata = (self.img.meta, *(array.meta for array in self.img.darrays))
        said = {str(item.get("AnatomicalStructurePrimary", "")) for item in metadata}
        other = next((name for key, name in _SIDES.items() if side is not None and key != side), "")
        if other and other in said and _SIDES[str(side)] not in said:
            raise InputError(f"'{self._path.name}' says that it is of {other}, and its name says the other hemisphere.")
        return self.img

    def EntityDeclHandler(self, *_: object) -> None:  # noqa: N802 - expat's name
        """Refuse entities: they may grow, or stand for another file, and no GIfTI file needs one."""
        raise InputError(f"'{self._path.name}' declares XML entities, which no GIfTI file needs.")

    def StartElementHandler(self, name: str, attrs: dict[str, str]) -> None:  # noqa: N802 - expat's name
        """Refuse numbers that lie elsewhere, or that the file's size does not explain, before they are read."""
        super().StartElementHandler(name, attrs)
        if name != "DataArray":
            return
        if attrs.get("ExternalFileName") or attrs.get("Encoding") == "ExternalFileBinary":
            raise InputError(f"The numbers of '{self._path.name}' lie in another file; save it with its numbers in it.")
        if intent_codes.niistring[self.da.intent] in _SURFACES:
            raise InputError(f"'{self._path.name}' holds a surface, not values of its vertices.")
        dtype = np.dtype(attrs.get("DataType", "NIFTI_TYPE_FLOAT32").removeprefix("NIFTI_TYPE_").lower())
        if dtype.kind not in "fiu" or len(self.da.dims) not in (1, 2) or min(self.da.dims) < 1:
            raise InputError(f"'{self._path.name}' holds a data array that is no table of real numbers.")
        self._limits.check_array(self.da.dims, f"'{self._path.name}'")
        n_values = math.prod(self.da.dims)
        self._declared += n_values * dtype.itemsize
        self._limits.check("voxels", self._declared // dtype.itemsize, f"'{self._path.name}'")
        self._limits.check_growth(self._path.stat().st_size, self._declared, f"'{self._path.name}'")
        allow_memory(_GIFTI_COPIES * 8 * n_values, self._limits)

    def EndElementHandler(self, name: str) -> None:  # noqa: N802 - expat's name
        """Keep what is needed of a data array, and let go of the rest."""
        super().EndElementHandler(name)
        if name != "DataArray":
            return
        if self.da.data is None:
            raise InputError(f"'{self._path.name}' has a data array without numbers.")
        values = np.asarray(self.da.data, dtype=np.float64)
        self.da.data = None
        self.arrays.append(values if self._parcels is None else self._averaged(values))

    def _averaged(self, values: FloatArray) -> FloatArray:
        """Means of regions over vertices that have a value, shape (n_timepoints, n_regions)."""
        assert self._parcels is not None
        own, n_regions = self._parcels.own, len(self._parcels.names)
        table = values.reshape(len(values), -1)  # vertices by time points, of which there may be one
        if len(table) != len(own) and table.shape[1] == len(own):
            table = table.T
        if len(table) != len(own):
            raise InputError(
                f"'{self._path.name}' has {max(values.shape):,} vertices and its labels have {len(own):,}; they are of "
                "different meshes. Give labels of the mesh of the series."
            )
        means = np.full((table.shape[1], n_regions), np.nan)
        for time, column in enumerate(table.T):
            known = (own >= 0) & np.isfinite(column)
            counts = np.bincount(own[known], minlength=n_regions)
            sums = np.bincount(own[known], weights=column[known], minlength=n_regions)
            np.divide(sums, counts, out=means[time], where=counts > 0)
        return means
