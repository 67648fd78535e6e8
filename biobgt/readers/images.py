"""4-D NIfTI images to region series, with nilearn's maskers.

Regions come from a label image, or from spheres around an atlas's MNI coordinates. Confounds are those of fMRIPrep,
chosen by one of nilearn's denoising strategies. Nothing is smoothed, filtered or regressed unless it is asked for.
"""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from biobgt.atlas import Atlas
from biobgt.errors import InputError
from biobgt.readers.reading import Reading

Confounds = Literal["simple", "scrubbing", "compcor", "ica_aroma"]


@dataclass(frozen=True)
class ImageOptions:
    """How series are taken from images.

    Attributes
    ----------
    labels : Path or None
        A label image, one whole number a region. None: spheres around the atlas's coordinates.
    radius_mm : float
        Radius of those spheres.
    tr : float or None
        Seconds between volumes; None takes it from the image's header.
    smoothing_mm : float or None
        Full width at half maximum of a Gaussian kernel.
    low_pass, high_pass : float or None
        Band-pass limits in Hz.
    confounds : {"simple", "scrubbing", "compcor", "ica_aroma"} or None
        One of nilearn's strategies for the fMRIPrep confounds beside the image; None regresses nothing out.
    """

    labels: Path | str | None = None
    radius_mm: float = 5.0
    tr: float | None = None
    smoothing_mm: float | None = None
    low_pass: float | None = None
    high_pass: float | None = None
    confounds: Confounds | None = None

    def __post_init__(self) -> None:
        if self.confounds is not None and self.confounds not in get_args(Confounds):
            raise InputError(
                f"There is no confound strategy '{self.confounds}'. Choose one of: {', '.join(get_args(Confounds))}."
            )
        if self.low_pass is not None and self.high_pass is not None and self.high_pass >= self.low_pass:
            raise InputError(
                f"The band-pass keeps {self.high_pass} to {self.low_pass} Hz; high_pass must be the lower of the two."
            )
        for what, value in (("radius", self.radius_mm), ("TR", self.tr), ("smoothing", self.smoothing_mm)):
            if value is not None and value <= 0:
                raise InputError(f"The {what} is {value}; it must be above zero.")


def read_image(path: Path, *, atlas: Atlas | None = None, options: ImageOptions | None = None) -> Reading:
    """Extract one subject's series from a 4-D image."""
    options = options or ImageOptions()
    image = _load(path)
    if image.ndim != 4 or image.shape[3] < 2:
        raise InputError(f"The image has shape {image.shape}; series need a 4-D image, x by y by z by time.")
    tr = options.tr or _header_tr(image)
    if tr is None and (options.low_pass or options.high_pass or options.confounds == "scrubbing"):
        raise InputError("The image's header has no repetition time, which filtering needs. Give the TR.")
    cleaning: dict[str, Any] = {
        "smoothing_fwhm": options.smoothing_mm,
        "low_pass": options.low_pass,
        "high_pass": options.high_pass,
        "t_r": tr,
    }
    confounds, kept_volumes = _load_confounds(path, options.confounds)
    fit: dict[str, Any] = {"confounds": confounds, "sample_mask": kept_volumes}
    if options.labels is not None:
        series = _series_of_labels(image, _load(Path(options.labels)), cleaning, fit)
    else:
        series = _series_of_spheres(image, atlas, options.radius_mm, cleaning, fit)
    return Reading(values=series, columns_are_regions=True, tr=tr, options=_used(options, tr, series, image))


def _series_of_labels(image: Any, labels: Any, cleaning: dict[str, Any], fit: dict[str, Any]) -> NDArray[np.float64]:
    """Mean series of each label, in the order of the labels; NaN for one that the image does not reach."""
    from nilearn.maskers import NiftiLabelsMasker

    if labels.ndim != 3:
        raise InputError(f"The label image has shape {labels.shape}; it must be 3-D, one whole number a region.")
    numbers = np.unique(np.asarray(labels.dataobj))
    numbers = numbers[numbers != 0]
    if numbers.size < 2 or not np.allclose(numbers, np.round(numbers)):
        raise InputError(f"The label image holds {numbers.size} labels; it must hold a whole number for each region.")
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
    image: Any, atlas: Atlas | None, radius_mm: float, cleaning: dict[str, Any], fit: dict[str, Any]
) -> NDArray[np.float64]:
    from nilearn.maskers import NiftiSpheresMasker

    if atlas is None or atlas.coordinates is None:
        raise InputError(
            "An image needs regions: give a label image, or an atlas with MNI coordinates to put spheres around."
        )
    seeds = [tuple(map(float, xyz)) for xyz in atlas.coordinates]
    masker = NiftiSpheresMasker(seeds=seeds, radius=radius_mm, allow_overlap=True, reports=False, **cleaning)
    return _run(masker, image, fit)


def _run(masker: Any, image: Any, fit: dict[str, Any]) -> NDArray[np.float64]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # lost labels are handled by the caller, the rest is about resampling
            return np.asarray(masker.fit_transform(image, **fit), dtype=np.float64)
    except ValueError as error:
        raise InputError(f"The regions could not be extracted: {str(error).splitlines()[0][:200]}") from None


def _load(path: Path) -> Any:
    import nibabel

    try:
        image: Any = nibabel.load(path)
        np.asarray(image.dataobj[..., :1])  # a file that was cut off shows itself on reading, not on opening
        return image
    except FileNotFoundError:
        raise InputError(f"There is no image '{path.name}'.") from None
    except Exception as error:  # nibabel, gzip and zlib each raise their own
        raise InputError(
            f"'{path.name}' cannot be read as a NIfTI image ({type(error).__name__}); it may be damaged or cut off."
        ) from None


def _header_tr(image: Any) -> float | None:
    zooms = image.header.get_zooms()
    tr = float(zooms[3]) if len(zooms) > 3 else 0.0
    if image.header.get_xyzt_units()[1] == "msec":
        tr /= 1000
    return tr if 0 < tr < 100 else None


def _load_confounds(path: Path, strategy: Confounds | None) -> tuple[Any, Any]:
    if strategy is None:
        return None, None
    from nilearn.interfaces.fmriprep import load_confounds_strategy

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what they warn of, too few volumes left, is checked below
            confounds, kept = load_confounds_strategy(str(path), denoise_strategy=strategy)
    except ValueError as error:
        first = str(error).strip().splitlines()[0][:200]
        raise InputError(
            f"The confounds for strategy '{strategy}' could not be loaded: {first} They are read from fMRIPrep's "
            "'_desc-confounds_timeseries.tsv' (and .json) beside the image."
        ) from None
    n_volumes = len(confounds) if kept is None else len(kept)
    if confounds.shape[1] >= n_volumes - 1:
        raise InputError(
            f"The strategy '{strategy}' regresses out {confounds.shape[1]} confounds and keeps {n_volumes} volumes, "
            "which leaves no signal. Choose a milder strategy."
        )
    return confounds, kept


def _used(
    options: ImageOptions, tr: float | None, series: NDArray[np.float64], image: Any
) -> dict[str, str | float | bool]:
    """What was done, for the provenance."""
    used: dict[str, str | float | bool] = {
        "regions": f"labels of {Path(options.labels).name}"
        if options.labels
        else f"spheres of {options.radius_mm:g} mm",
        "confounds": options.confounds or "none",
        "volumes left out": image.shape[3] - len(series),
    }
    for name, value in (
        ("TR", tr),
        ("smoothing mm", options.smoothing_mm),
        ("low-pass Hz", options.low_pass),
        ("high-pass Hz", options.high_pass),
    ):
        if value is not None:
            used[name] = value
    return used
