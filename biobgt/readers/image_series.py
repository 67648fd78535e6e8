"""Series of regions out of 4-D NIfTI images, with nilearn's maskers.

What an image's header declares is held against the file's size before a voxel is read. Runs in a reading process
(:mod:`biobgt.readers.isolated`).
"""

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.limits import Limits
from biobgt.readers.foreign import DamagedFile, allow_memory
from biobgt.readers.nifti_extensions import check_extensions

_COPIES = 6  # as stored, scaled, smoothed, resampled, masked, and the one that is being made
_LARGEST_LABEL = 2**31
_ROUNDING_MM = 2.0  # nilearn takes the voxel whose whole millimetres are the sphere's, too


def read(path: Path, options: Mapping[str, Any], limits: Limits) -> tuple[dict[str, Any], NDArray[np.float64]]:
    """Extract one subject's series.

    Parameters
    ----------
    path : Path
    options : mapping
        The fields of :class:`~biobgt.readers.images.ImageOptions`, with ``coordinates`` of an atlas and ``root``.
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
    cleaning: dict[str, Any] = {
        "smoothing_fwhm": options["smoothing_mm"],
        "low_pass": options["low_pass"],
        "high_pass": options["high_pass"],
        "t_r": tr,
        "standardize": None,  # nilearn's default, False, is to go
    }
    confounds, kept_volumes = _load_confounds(path, options["confounds"], Path(options["root"]))
    fit: dict[str, Any] = {"confounds": confounds, "sample_mask": kept_volumes}
    labels = None if options["labels"] is None else _load(Path(options["labels"]), limits)
    allow_memory(_COPIES * 8 * (_n_voxels(image) + (0 if labels is None else _n_voxels(labels))), limits)
    if labels is not None:
        series = _series_of_labels(image, labels, cleaning, fit, limits)
    else:
        series = _series_of_spheres(image, options, cleaning, fit)
    return {"tr": tr, "used": _used(options, tr, series, image)}, np.asarray(series, dtype=np.float64)


def _load(path: Path, limits: Limits) -> Any:
    """Open an image whose declared size fits the file's, and make sure that it can be read to its end."""
    try:
        check_extensions(path, limits)
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
) -> NDArray[np.float64]:
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
) -> NDArray[np.float64]:
    if options["coordinates"] is None:
        raise InputError(
            "An image needs regions: give a label image, or an atlas with MNI coordinates to put spheres around."
        )
    seeds = [tuple(map(float, xyz)) for xyz in options["coordinates"]]
    _check_reached(image, np.array(seeds), options["radius_mm"])
    from nilearn.maskers import NiftiSpheresMasker  # seconds, which an image that is refused does not need

    masker = NiftiSpheresMasker(seeds=seeds, radius=options["radius_mm"], allow_overlap=True, reports=False, **cleaning)
    return _run(masker, image, fit)


def _check_reached(image: Any, seeds: NDArray[np.float64], radius_mm: float) -> None:
    """Refuse an image that does not reach all spheres, which nilearn finds out after minutes.

    Parameters
    ----------
    image : nibabel image
    seeds : ndarray, shape (n_regions, 3)
        Centres of the spheres in mm.
    radius_mm : float
    """
    ends = [(0, n - 1) for n in image.shape[:3]]
    corners = np.array(list(product(*ends))) @ image.affine[:3, :3].T + image.affine[:3, 3]
    voxel_mm = np.abs(image.affine[:3, :3]).sum(axis=1)
    margin = radius_mm + voxel_mm + _ROUNDING_MM
    outside = ((seeds < corners.min(axis=0) - margin) | (seeds > corners.max(axis=0) + margin)).any(axis=1)
    if outside.any():
        raise InputError(
            f"The regions could not be extracted: {outside.sum()} of {len(seeds)} spheres are empty, as they lie "
            "outside the image. Give an image in MNI space that covers the whole brain, or a label image of its own "
            "space."
        )


def _run(masker: Any, image: Any, fit: dict[str, Any]) -> NDArray[np.float64]:
    try:
        _check_not_empty(image)
        return np.asarray(masker.fit_transform(image, **fit), dtype=np.float64)
    except (InputError, MemoryError):
        raise
    except Exception as error:  # nilearn, scipy and nibabel on headers and voxels that make no sense
        reason = (str(error).strip().splitlines() or [""])[0][:200] or type(error).__name__
        raise DamagedFile(f"The regions could not be extracted: {reason}") from None


def _check_not_empty(image: Any) -> None:
    """Refuse an image without a brain in it, which would take as long as any other."""
    for volume in (0, -1):
        values = np.asarray(image.dataobj[..., volume])
        if values.min() != values.max():
            return
    raise InputError(
        "The image is empty: all voxels of its first volume have one value, and all of its last. Give the preprocessed "
        "image."
    )


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
        if sidecar.is_symlink() and not _leads_into(sidecar, root):
            raise InputError(f"The confounds '{sidecar.name}' are a link that leads out of the folder. Copy the file.")
        if not sidecar.is_file():
            raise InputError(f"The confounds '{sidecar.name}' are no file. Remove what has this name.")
    try:
        confounds, kept = load_confounds_strategy(str(path), denoise_strategy=strategy)
        n_volumes, n_confounds = len(confounds) if kept is None else len(kept), confounds.shape[1]
    except Exception as error:  # nilearn and pandas each raise their own
        first = (str(error).strip().splitlines() or [""])[0][:200] or type(error).__name__
        raise InputError(
            f"The confounds for strategy '{strategy}' could not be loaded: {first} They are read from fMRIPrep's "
            "'_desc-confounds_timeseries.tsv' (and .json) beside the image."
        ) from None
    if n_confounds >= n_volumes - 1:
        raise InputError(
            f"The strategy '{strategy}' regresses out {n_confounds} confounds and keeps {n_volumes} volumes, "
            "which leaves no signal. Choose a milder strategy."
        )
    return confounds, kept


def _leads_into(link: Path, root: Path) -> bool:
    try:
        return link.resolve().is_relative_to(root.resolve())
    except (RuntimeError, OSError):  # a loop
        return False


def _used(
    options: Mapping[str, Any], tr: float | None, series: NDArray[np.float64], image: Any
) -> dict[str, str | float | bool]:
    """What was done, for the provenance."""
    labels = options["labels"]
    used: dict[str, str | float | bool] = {
        "regions": f"labels of {Path(labels).name}" if labels else f"spheres of {options['radius_mm']:g} mm",
        "confounds": options["confounds"] or "none",
        "volumes left out": image.shape[3] - len(series),
    }
    for name, value in (
        ("TR", tr),
        ("smoothing mm", options["smoothing_mm"]),
        ("low-pass Hz", options["low_pass"]),
        ("high-pass Hz", options["high_pass"]),
    ):
        if value is not None:
            used[name] = value
    return used
