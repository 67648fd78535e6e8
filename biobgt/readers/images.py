"""4-D NIfTI images to region series: what the user may choose, and what comes back.

Regions come from a label image, or from spheres around an atlas's MNI coordinates. Confounds are those of fMRIPrep,
chosen by one of nilearn's denoising strategies. Nothing is smoothed, filtered or regressed unless it is asked for. The
work is done by :mod:`biobgt.readers.image_series`, in a process of its own.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from biobgt.atlas import BUNDLED, Atlas, BundledAtlas
from biobgt.errors import InputError
from biobgt.readers.isolated import read_isolated
from biobgt.readers.reading import Reading
from biobgt.wording import counted

Confounds = Literal["simple", "scrubbing", "compcor", "ica_aroma"]


@dataclass(frozen=True)
class ImageOptions:
    """How series are taken from images.

    Attributes
    ----------
    labels : Path, str or None
        A label image with one whole number per region, or the name of a bundled atlas that has one (``schaefer200``).
        None: spheres around the atlas's coordinates.
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

    @property
    def bundled(self) -> BundledAtlas | None:
        """The bundled atlas whose label image was named, where it was no file's name."""
        return BUNDLED.get(str(self.labels)) if self.labels is not None else None

    @property
    def label_file(self) -> Path | None:
        """The label image to read."""
        if self.bundled is not None and self.bundled.label_image is None:
            there = ", ".join(key for key, about in BUNDLED.items() if about.label_image is not None)
            raise InputError(f"No label image of {self.bundled.title} is bundled. There are label images of: {there}.")
        if self.bundled is not None:
            return self.bundled.label_image
        return None if self.labels is None else Path(self.labels)

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
    if options.labels is None and atlas is not None and atlas.coordinates is not None and not atlas.placed.all():
        missing = atlas.n_regions - int(atlas.placed.sum())
        raise InputError(
            f"{counted(missing, 'region')} of {atlas.title} have no known coordinates, so no spheres can be put around "
            "them. Give a label image of this atlas."
        )
    coordinates = None if atlas is None or atlas.coordinates is None else atlas.coordinates.tolist()
    about = {
        **asdict(options),
        "labels": None if options.label_file is None else str(options.label_file),
        "coordinates": coordinates,
        "root": str(root or path.parent),
    }
    reply = read_isolated("biobgt.readers.image_series", path, about, limit="image_seconds")
    assert reply.array is not None
    return Reading(
        values=np.asarray(reply.array, dtype=np.float64),
        columns_are_regions=True,
        tr=reply.answer["tr"],
        options=reply.answer["used"],
    )
