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
from biobgt.options import Options, option
from biobgt.readers.isolated import read_isolated
from biobgt.readers.reading import Reading
from biobgt.wording import counted

Confounds = Literal["simple", "scrubbing", "compcor", "ica_aroma"]


def _labels_title(labels: Path | str) -> str:
    return BUNDLED[str(labels)].title if str(labels) in BUNDLED else str(labels)


@dataclass(frozen=True)
class ImageOptions(Options):
    """How series are taken from images; by default nothing is smoothed, filtered or regressed out."""

    labels: Path | str | None = option(
        None,
        type_=(str, Path),
        title="Bundled label image or surface labels",
        shown=_labels_title,
        help="Label image of the regions, with one whole number per region, or a bundled one by its atlas's name "
        "(schaefer200). Surface files take the atlas's labels of fsaverage5's vertices. Default: spheres around the "
        "atlas's coordinates.",
    )
    radius_mm: float = option(
        5.0,
        title="Radius of spheres (mm)",
        help="Radius of the spheres around the atlas's coordinates, mm.",
        above=0,
        unit="mm",
        step=0.5,
        flag="--radius",
    )
    tr: float | None = option(
        None,
        type_=float,
        title="TR (s)",
        help="Repetition time: seconds between volumes. Default: the TR in the header.",
        above=0,
        unit="s",
        step=0.01,
    )
    smoothing_mm: float | None = option(
        None,
        type_=float,
        title="Smoothing (mm FWHM)",
        help="Full width at half maximum of a Gaussian kernel, mm.",
        above=0,
        unit="mm",
        step=0.5,
        flag="--smoothing",
    )
    high_pass: float | None = option(
        None, type_=float, title="High-pass (Hz)", help="High-pass limit, Hz.", above=0, unit="Hz", step=0.001
    )
    low_pass: float | None = option(
        None, type_=float, title="Low-pass (Hz)", help="Low-pass limit, Hz.", above=0, unit="Hz", step=0.001
    )
    confounds: Confounds | None = option(
        None,
        type_=str,
        choices=get_args(Confounds),
        title="fMRIPrep confounds",
        help="Nilearn strategy that selects the fMRIPrep confounds to regress out; add their files with the images. "
        "Default: none.",
    )

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
        super().__post_init__()
        if self.low_pass is not None and self.high_pass is not None and self.high_pass >= self.low_pass:
            raise InputError(
                f"The band-pass keeps {self.high_pass} to {self.low_pass} Hz; high_pass must be the lower of the two."
            )


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
