"""4-D NIfTI images to region series: what the user may choose, and what comes back.

Regions come from a label image, or from spheres around an atlas's MNI coordinates. Confounds are those of fMRIPrep,
chosen by one of nilearn's denoising strategies. Nothing is smoothed, filtered or regressed unless it is asked for. The
work is done by :mod:`biobgt.readers.image_series`, in a process of its own.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from biobgt.atlas import Atlas
from biobgt.errors import InputError
from biobgt.readers.isolated import read_isolated
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


def read_image(
    path: Path, *, atlas: Atlas | None = None, options: ImageOptions | None = None, root: Path | None = None
) -> Reading:
    """Extract one subject's series from a 4-D image.

    Parameters
    ----------
    path : Path
    atlas : Atlas, optional
        Where spheres are put, unless the options name a label image.
    options : ImageOptions, optional
    root : Path, optional
        The folder that the user named: confounds that are links are read from within it only. None: the image's own.
    """
    options = options or ImageOptions()
    coordinates = None if atlas is None or atlas.coordinates is None else atlas.coordinates.tolist()
    about = {
        **asdict(options),
        "labels": None if options.labels is None else str(options.labels),
        "coordinates": coordinates,
        "root": str(root or path.parent),
    }
    reply = read_isolated("image", path, about, limit="image_seconds")
    assert reply.array is not None
    return Reading(
        values=np.asarray(reply.array, dtype=np.float64),
        columns_are_regions=True,
        tr=reply.answer["tr"],
        options=reply.answer["used"],
    )
