"""NIfTI, CIFTI-2 and GIfTI files to region series: which belong together, and what may be chosen."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from biobgt.base.errors import InputError
from biobgt.base.files import sha256
from biobgt.base.options import Options, option
from biobgt.base.wording import counted
from biobgt.data.atlas import BUNDLED, Atlas, BundledAtlas
from biobgt.readers.isolate import read_isolated
from biobgt.readers.measurement import Reading
from biobgt.readers.recognise import folders_above

# Files of one hemisphere each: which one a file's name says, and how the other's file is called.
#
# BIDS writes ``hemi-L``, the Human Connectome Project ``100307.L.func.gii``, FreeSurfer ``lh.name``.


Side = Literal["L", "R"]

_MARK = re.compile(r"(?:(?<=hemi-)|(?<![A-Za-z0-9-]))(?:[LR]|[lr]h)(?![A-Za-z0-9])")
_OTHER = {"L": "R", "R": "L", "lh": "rh", "rh": "lh"}


def side_of(name: str) -> Side | None:
    """The hemisphere that a file's name gives; None where it gives none."""
    mark = _last_mark(name)
    return None if mark is None else "L" if mark[0] in ("L", "lh") else "R"


def _of_other_side(name: str) -> str | None:
    """How the file of the other hemisphere is called; None where the name gives no hemisphere.

    >>> of_other_side("sub-01_hemi-L_bold.func.gii"), of_other_side("rh.rest.func.gii"), of_other_side("rest.func.gii")
    ('sub-01_hemi-R_bold.func.gii', 'lh.rest.func.gii', None)
    """
    mark = _last_mark(name)
    return None if mark is None else name[: mark.start()] + _OTHER[mark[0]] + name[mark.end() :]


def without_side(name: str) -> str:
    """A name without the hemisphere in it, so that both hemispheres have the same.

    >>> without_side("sub-01_hemi-L_bold"), without_side("lh.rest"), without_side("100307.L")
    ('sub-01_bold', 'rest', '100307')
    """
    mark = _last_mark(name)
    if mark is None:
        return name
    before = name[: mark.start()].removesuffix("hemi-")
    after = name[mark.end() :]
    return before[:-1] + after if before else after[1:]


def file_of_other_side(path: Path, root: Path | None) -> Path | None:
    """The other hemisphere's file beside this one; None where there is none, or a link leads out of ``root``."""
    name = _of_other_side(path.name)
    if name is None or not (other := path.with_name(name)).is_file():
        return None
    if other.is_symlink() and not other.resolve().is_relative_to((root or path.parent).resolve()):
        return None
    return other


def _last_mark(name: str) -> re.Match[str] | None:
    return next(reversed([*_MARK.finditer(name)]), None)


# 4-D NIfTI images to region series: what the user may choose, and what comes back.
#
# Regions come from a label image, or from spheres around an atlas's MNI coordinates. Confounds are those of fMRIPrep,
# chosen by one of nilearn's denoising strategies. Nothing is smoothed, filtered or regressed unless it is asked for.
# The work is done by :mod:`biobgt.readers.foreign_images`, in a process of its own.


Confounds = Literal["simple", "scrubbing", "compcor", "ica_aroma"]


@dataclass(frozen=True)
class ImageOptions(Options):
    """How series are taken from images; by default nothing is smoothed, filtered or regressed out."""

    labels: str | Path | None = option(
        None,
        title="Bundled label image or surface labels",
        shown=lambda labels: BUNDLED[str(labels)].title if str(labels) in BUNDLED else str(labels),
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
        title="TR (s)",
        help="Repetition time: seconds between volumes. Default: the TR in the header.",
        above=0,
        unit="s",
        step=0.01,
    )
    smoothing_mm: float | None = option(
        None,
        title="Smoothing (mm FWHM)",
        help="Full width at half maximum of a Gaussian kernel, mm.",
        above=0,
        unit="mm",
        step=0.5,
        flag="--smoothing",
    )
    high_pass: float | None = option(
        None, title="High-pass (Hz)", help="High-pass limit, Hz.", above=0, unit="Hz", step=0.001
    )
    low_pass: float | None = option(
        None, title="Low-pass (Hz)", help="Low-pass limit, Hz.", above=0, unit="Hz", step=0.001
    )
    confounds: Confounds | None = option(
        None,
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


def _read_apart(reader: str, path: Path, about: dict[str, Any], *, limit: str = "seconds") -> Reading:
    """Have a file read by :mod:`biobgt.readers.foreign_images`, in a process of its own."""
    answer, array = read_isolated(f"biobgt.readers.foreign_images:{reader}", path, about, limit=limit)
    names = answer.get("names")
    return Reading(
        values=np.asarray(array, dtype=np.float64),
        region_names=None if names is None else tuple(names),
        columns_are_regions=True,
        tr=answer.get("tr"),
        options=answer["used"],
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
    coordinates = None if atlas is None else atlas.coordinates
    if options.labels is None and atlas is not None and coordinates is not None and not atlas.placed.all():
        missing = atlas.n_regions - int(atlas.placed.sum())
        raise InputError(
            f"{counted(missing, 'region')} of {atlas.title} have no known coordinates, so no spheres can be put around "
            "them. Give a label image of this atlas."
        )
    about = {
        **asdict(options),
        "labels": None if options.label_file is None else str(options.label_file),
        "coordinates": None if coordinates is None else coordinates.tolist(),
        "root": str(root or path.parent),
    }
    return _read_apart("read_nifti", path, about, limit="image_seconds")


def read_cifti(path: Path, *, labels: str | Path | None = None) -> Reading:
    """Read one subject's parcels.

    Parameters
    ----------
    path : Path
        A ``.ptseries.nii``, ``.pconn.nii`` or ``.dtseries.nii`` file.
    labels : path, optional
        The ``.dlabel.nii`` file that says to which parcel a grayordinate of a dense series belongs.
    """
    return _read_apart("read_cifti", path, {"labels": None if labels is None else str(labels)})


# GIfTI series of the cortex's vertices to region series: which files belong together, and whose labels hold.
#
# A recording is two files, one per hemisphere, which are joined. Regions come from label files (``.label.gii``), named
# by the user or lying with the data, or from the bundled surface labels of an atlas (fsaverage5). The work is done by
# :mod:`biobgt.readers.foreign_images`, in a process of its own.


LABEL_SUFFIX = ".label.gii"
_SIDES: dict[Side, str] = {"L": "left", "R": "right"}
_NAME_THEM = "name the hemisphere in the file's name (hemi-L, lh or .L.)"


def is_surface_labels(path: Path) -> bool:
    """Whether a file holds labels of vertices, by its name."""
    return path.name.lower().endswith(LABEL_SUFFIX)


def read_gifti(path: Path, *, options: ImageOptions | None = None, root: Path | None = None) -> Reading:
    """Read one subject's mean series of regions from both hemispheres, or from the one there is.

    Parameters
    ----------
    path : Path
        A ``.func.gii`` or ``.time.gii`` file; the other hemisphere's lies beside it.
    options : ImageOptions, optional
        ``labels``: a label file of either hemisphere, or the name of an atlas with bundled surface labels. ``tr``:
        seconds between time points, which such files do not give in a known unit.
    root : Path, optional
        The folder that the user named, where the file was found in one.
    """
    options = options or ImageOptions()
    other = file_of_other_side(path, root)
    files = sorted([path, *([other] if other else [])], key=lambda file: side_of(file.name) or "")
    described = [{"path": str(file), "side": side_of(file.name)} for file in files]
    reading = _read_apart("read_gifti", path, {"files": described, **_labels(files, options, root)})
    used = dict(reading.options)
    if other is not None:
        used["joined with"] = f"{other.name} (SHA-256 {sha256(other)})"
    elif (side := side_of(path.name)) is not None:
        used["hemispheres"] = f"the {_SIDES[side]} one alone: no file of the other lies beside it"
    return replace(reading, tr=options.tr, options=used)


def _labels(files: Sequence[Path], options: ImageOptions, root: Path | None) -> dict[str, Any]:
    """Where the labels of each file are: the user's word, or what lies with the data."""
    if options.bundled is not None:
        return _bundled_labels(files, options.bundled.key)
    label = Path(options.labels) if options.labels is not None else _labels_beside(files[0], root)
    if not is_surface_labels(label):
        raise InputError(
            f"'{label.name}' is no label file of vertices. Give one that ends in {LABEL_SUFFIX}, or the name of an "
            "atlas with surface labels."
        )
    return {"labels": [str(_label_of(file, label, n_files=len(files))) for file in files]}


def _bundled_labels(files: Sequence[Path], key: str) -> dict[str, Any]:
    about = BUNDLED.named(key)
    numbers = about.surface_labels
    if numbers is None:
        there = ", ".join(name for name, atlas in BUNDLED.items() if atlas.surface)
        raise InputError(f"No surface labels of {about.title} are bundled. There are surface labels of: {there}.")
    unmarked = next((file for file in files if side_of(file.name) is None), None)
    if unmarked is not None:
        raise _without_side(unmarked)
    halves = dict(zip(_SIDES, np.split(numbers, 2), strict=True))
    own = [halves[side].tolist() for file in files if (side := side_of(file.name)) is not None]
    return {"numbers": own, "names": list(about.atlas.regions), "of": f"{about.title} on fsaverage5"}


def _labels_beside(path: Path, root: Path | None) -> Path:
    """The label file that lies with the data: in the file's folder, or the nearest one above it."""
    for folder in folders_above(path, root):
        there = folder.glob(f"*{LABEL_SUFFIX}")
        found = sorted(file for file in there if file.is_file() and not file.is_symlink())
        parcellations = {frozenset({file, file_of_other_side(file, None) or file}): file for file in found}
        if len(parcellations) > 1:
            raise InputError(
                f"Several label files lie beside it: {', '.join(file.name for file in found[:4])}. Name the one that "
                "is meant as label image, or leave only that one."
            )
        if parcellations:
            return next(iter(parcellations.values()))
    raise InputError(
        "Series of vertices need their regions: put a label file of each hemisphere, which ends in "
        f"{LABEL_SUFFIX}, beside them, or name an atlas with surface labels as label image."
    )


def _without_side(file: Path) -> InputError:
    return InputError(f"'{file.name}' does not say which hemisphere it is of: {_NAME_THEM}.")


def _label_of(file: Path, label: Path, *, n_files: int) -> Path:
    """The label file of one hemisphere's series."""
    own, named = side_of(file.name), side_of(label.name)
    if own == named or (n_files == 1 and None in (own, named)):
        return label
    if named is None:
        raise _without_side(label)
    other = file_of_other_side(label, None)
    if own is None or other is None:
        raise InputError(
            f"The label file '{label.name}' is of the {_SIDES[named]} hemisphere, and the one of the other hemisphere "
            "does not lie beside it."
        )
    return other
