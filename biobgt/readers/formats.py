"""The register of file formats, the user's word on what files do not say, and one file to readings.

Everything that looks at files reads :data:`READERS`: which files of a folder hold data, what the app's uploader names,
which limit holds for a file, what a renamed file really is. A new format is one object there. Libraries that may crash
on a damaged file, or run what a file says, read it in a process of their own
(:mod:`biobgt.readers.foreign.isolate`); each reader says whether it does.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, Literal, get_args

import numpy as np

from biobgt.base.errors import InputError
from biobgt.base.files import sha256
from biobgt.base.limits import current_limits
from biobgt.base.options import Options, Registry, option
from biobgt.base.wording import counted
from biobgt.data.atlas import BUNDLED, Atlas, BundledAtlas, load_atlas
from biobgt.data.edits import MISSING_RULES, RECORDING_RULES, MissingRule, RecordingRule, check_run
from biobgt.data.graph import KINDS, GivenKind
from biobgt.readers.arrays import SubjectAxis, read_foreign, read_npy, read_npz
from biobgt.readers.connections.edges import read_edges
from biobgt.readers.connections.pairs import Triangle
from biobgt.readers.connections.people import read_people
from biobgt.readers.foreign.isolate import read_isolated
from biobgt.readers.measurement import FileName, Orientation, Reading
from biobgt.readers.recognise import folders_above
from biobgt.readers.region_files import is_weights, unpacked, with_centres
from biobgt.readers.tables import Header, read_text

Rows = Literal["in-order", "apart"]
Kind = Literal["series", "connectivity", "pairs", "edges"]
Confounds = Literal["simple", "scrubbing", "compcor", "ica_aroma"]
LABEL_SUFFIX = ".label.gii"
_CIFTI, _GIFTI = (".ptseries.nii", ".pconn.nii", ".dtseries.nii"), (".func.gii", ".time.gii")
_OF_ONE_SIDE = (*_GIFTI, LABEL_SUFFIX)
_SIDES = {"L": "left", "R": "right"}
_MARK = re.compile(r"(?:(?<=hemi-)|(?<![A-Za-z0-9-]))(?:[LR]|[lr]h)(?![A-Za-z0-9])")
_OTHER = {"L": "R", "R": "L", "lh": "rh", "rh": "lh"}


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


def _listed(rules: Mapping[Any, str]) -> str:
    return "; ".join(f"{name}: {meaning}" for name, meaning in rules.items()) + "."


@dataclass(frozen=True)
class ReadOptions(Options):
    """What files contain and how they lie, which are read, what becomes of missing regions and several recordings."""

    kind: Kind | None = option(
        None,
        shown={
            "series": "region time series",
            "connectivity": "a connectivity matrix",
            "pairs": "one row per person, one column per pair of regions",
            "edges": "one row per connection",
        },
        title="Content",
        help="What the files contain, where they do not say.",
    )
    connectivity: GivenKind | None = option(
        None,
        shown={key: KINDS[key].meaning for key in get_args(GivenKind)},
        title="Matrices are",
        help="What connectivity matrices hold, where their values do not tell, or tell it wrongly.",
    )
    orientation: Orientation | None = option(
        None,
        shown={
            "time-region": "rows are time points, columns are regions",
            "region-time": "rows are regions, columns are time points",
        },
        title="Rows and columns",
        help="What rows and columns are, where the files do not say.",
    )
    header: Header | None = option(
        None,
        shown={"yes": "the first line is a header", "no": "the first line is data"},
        title="First line",
        help="Whether a table's first line is a header, where unclear.",
    )
    subject_axis: SubjectAxis | None = option(
        None,
        shown={"first": "subjects lie along the first axis", "last": "subjects lie along the last axis"},
        title="Axis of the subjects",
        help="Axis of the subjects in a three-dimensional array, or in one of people and pairs of regions.",
    )
    triangle: Triangle | None = option(
        None,
        shown=str.capitalize,
        title="Order of pairs",
        help="Order in which a person's row has the pairs of regions: upper or lower triangle row by row, without or "
        "with the diagonal.",
    )
    numbering: Literal["0", "1"] | None = option(
        None,
        shown={"0": "regions are numbered from 0", "1": "regions are numbered from 1"},
        title="First region's number",
        help="Number of the first region in lists of connections, where they do not say.",
    )
    variable: str | None = option(
        None,
        title="Array",
        help="Array to read from an .npz, .mat or .h5 file, or column of weights in a list of connections.",
    )
    pattern: str | None = option(None, title="Files", help="Which files of a folder to read, such as '*_cc200*'.")
    missing: MissingRule = option(
        "gaps",
        choices=MISSING_RULES,
        title="Missing regions",
        help=f"Where subjects lack regions: {_listed(MISSING_RULES)}",
    )
    recordings: RecordingRule = option(
        "apart",
        choices=RECORDING_RULES,
        title="Several recordings",
        help=f"Several sessions or runs of one person: {_listed(RECORDING_RULES)}",
    )
    run: str | None = option(
        None,
        title="Recordings to keep",
        help="Which recordings to keep, such as run-1, ses-2 or ses-2_run-1. Default: all.",
    )
    rows: Rows | None = option(
        None,
        shown={"in-order": "its rows are the subjects, in order", "apart": "its rows are not to be used"},
        title="Rows of the table",
        help="Whether the rows of a phenotype table or design matrix are the subjects of one file without names, in "
        "their order.",
    )
    image: ImageOptions = field(default_factory=ImageOptions)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_run(self.run)


@dataclass(frozen=True, eq=False)
class ReadContext:
    """How a file shall be read: the user's word, the atlas where it is known, and the folder that the user named.

    ``file`` is the file, open at its beginning, for readers that take its bytes.
    """

    file: BinaryIO
    options: ReadOptions
    atlas: Atlas | None = None
    root: Path | None = None

    def likely_atlas(self, path: Path, n_regions: int | None) -> tuple[Atlas | None, bool]:
        """The atlas that the user named, or that a file's name gives; and whether it was the user."""
        if self.atlas is not None or n_regions is None:
            return self.atlas, self.atlas is not None
        named = FileName.of(path).atlases(n_regions)
        return (load_atlas(named.bundled[0]) if named is not None and named.bundled else None), False


@dataclass(frozen=True, eq=False)
class Reader:
    """A file format.

    Attributes
    ----------
    key : str
    title : str
        What such a file is, for sentences: "a NumPy array".
    suffixes : tuple of str
        How names of such files end, in lower case, with the dot.
    read : callable
        Reads every subject a file holds, given its path and how it shall be read.
    apart : bool
        Whether it is read by a process of its own, so that a damaged file ends that process and not this one.
    alone : bool
        Whether no other file is read meanwhile, because one may take all memory.
    begins : tuple of bytes
        What the first bytes of such a file may be; empty where any may.
    always_begins : bool
        Whether every such file begins so, and one that does not was renamed or cut off.
    images : bool
        Whether files hold brain images, from which series are taken at the regions of an atlas.
    limit : str
        The field of :class:`~biobgt.base.limits.Limits` for the size of a file.
    """

    key: str
    title: str
    suffixes: tuple[str, ...]
    read: Callable[[Path, ReadContext], list[Reading]]
    _: KW_ONLY
    apart: bool = False
    alone: bool = False
    begins: tuple[bytes, ...] = ()
    always_begins: bool = True
    images: bool = False
    limit: str = "file_bytes"


# Files of one hemisphere each. BIDS writes ``hemi-L``, the Human Connectome Project ``100307.L.func.gii``, FreeSurfer
# ``lh.name``.


def side_of(path: Path) -> str | None:
    """The hemisphere, L or R, that the name of a GIfTI file gives; None where it gives none."""
    mark = _mark_of(path)
    return None if mark is None else "L" if mark[0] in ("L", "lh") else "R"


def without_side(path: Path) -> str:
    """A file's name without the hemisphere in it, so that both hemispheres have the same.

    >>> [without_side(Path(name)) for name in ("sub-01_hemi-L_bold.func.gii", "lh.rest.func.gii", "100307.L.func.gii")]
    ['sub-01_bold.func.gii', 'rest.func.gii', '100307.func.gii']
    """
    mark = _mark_of(path)
    if mark is None:
        return path.name
    before, after = path.name[: mark.start()].removesuffix("hemi-"), path.name[mark.end() :]
    return before[:-1] + after if before else after[1:]


def file_of_other_side(path: Path, root: Path | None) -> Path | None:
    """The other hemisphere's file beside this one; None where there is none, or a link leads out of ``root``."""
    mark = _mark_of(path)
    if mark is None:
        return None
    other = path.with_name(path.name[: mark.start()] + _OTHER[mark[0]] + path.name[mark.end() :])
    if not other.is_file():
        return None
    leads_out = other.is_symlink() and not other.resolve().is_relative_to((root or path.parent).resolve())
    return None if leads_out else other


def _mark_of(path: Path) -> re.Match[str] | None:
    return next(reversed([*_MARK.finditer(path.name)]), None) if path.name.lower().endswith(_OF_ONE_SIDE) else None


# Images to region series, by :mod:`biobgt.readers.foreign.images`. Nothing is smoothed, filtered or regressed unless it
# is asked for.


def _read_apart(reader: str, path: Path, about: dict[str, Any], *, limit: str = "seconds") -> Reading:
    answer, array = read_isolated(f"biobgt.readers.foreign.images:{reader}", path, about, limit=limit)
    names = answer.get("names")
    return Reading(
        values=np.asarray(array, dtype=np.float64),
        region_names=None if names is None else tuple(names),
        columns_are_regions=True,
        tr=answer.get("tr"),
        options=answer["used"],
    )


def _read_image(path: Path, context: ReadContext) -> list[Reading]:
    """Series of a 4-D NIfTI image, of a label image's regions or of spheres around the atlas's coordinates."""
    options, atlas = context.options.image, context.atlas
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
        "root": str(context.root or path.parent),  # confounds that are links are read from within it only
    }
    return [_read_apart("read_nifti", path, about, limit="image_seconds")]


def _read_cifti(path: Path, context: ReadContext) -> list[Reading]:
    labels = context.options.image.label_file
    return [_read_apart("read_cifti", path, {"labels": None if labels is None else str(labels)})]


def _read_gifti(path: Path, context: ReadContext) -> list[Reading]:
    """Series of both hemispheres' regions, or of the one there is.

    Regions come from label files, named by the user or lying with the data, or from an atlas's bundled surface labels.
    """
    options = context.options.image
    other = file_of_other_side(path, context.root)
    files = sorted([path, *([other] if other else [])], key=lambda file: side_of(file) or "")
    described = [{"path": str(file), "side": side_of(file)} for file in files]
    if options.bundled is not None:
        labels = _bundled_labels(files, options.bundled)
    else:
        named = Path(options.labels) if options.labels is not None else _labels_beside(files[0], context.root)
        if not named.name.lower().endswith(LABEL_SUFFIX):
            raise InputError(
                f"'{named.name}' is no label file of vertices. Give one that ends in {LABEL_SUFFIX}, or the name of an "
                "atlas with surface labels."
            )
        labels = {"labels": [str(_label_of(file, named, n_files=len(files))) for file in files]}
    reading = _read_apart("read_gifti", path, {"files": described, **labels})
    used = dict(reading.options)
    if other is not None:
        used["joined with"] = f"{other.name} (SHA-256 {sha256(other)})"
    elif (side := side_of(path)) is not None:
        used["hemispheres"] = f"the {_SIDES[side]} one alone: no file of the other lies beside it"
    return [replace(reading, tr=options.tr, options=used)]


def _bundled_labels(files: Sequence[Path], about: BundledAtlas) -> dict[str, Any]:
    numbers = about.surface_labels
    if numbers is None:
        there = ", ".join(name for name, atlas in BUNDLED.items() if atlas.surface)
        raise InputError(f"No surface labels of {about.title} are bundled. There are surface labels of: {there}.")
    halves = dict(zip(_SIDES, np.split(numbers, 2), strict=True))
    own = [halves[_known_side(file)].tolist() for file in files]
    return {"numbers": own, "names": list(about.atlas.regions), "of": f"{about.title} on fsaverage5"}


def _known_side(file: Path) -> str:
    side = side_of(file)
    if side is None:
        raise InputError(
            f"'{file.name}' does not say which hemisphere it is of: name the hemisphere in the file's name (hemi-L, lh "
            "or .L.)."
        )
    return side


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


def _label_of(file: Path, label: Path, *, n_files: int) -> Path:
    """The label file of one hemisphere's series."""
    own, named = side_of(file), side_of(label)
    if own == named or (n_files == 1 and None in (own, named)):
        return label
    side, other = _known_side(label), file_of_other_side(label, None)
    if own is None or other is None:
        raise InputError(
            f"The label file '{label.name}' is of the {_SIDES[side]} hemisphere, and the one of the other hemisphere "
            "does not lie beside it."
        )
    return other


def _read_text(path: Path, context: ReadContext) -> list[Reading]:
    """People and pairs of regions, or a list of connections, where a table is either; else one subject."""
    if is_weights(path):
        return [with_centres(read_text(unpacked(path), header="no"), path)]
    several = read_people(context, path) or read_edges(context, path)
    return several or [read_text(context.file, header=context.options.header)]


_HDF5, _GZIP, _ZIP = b"\x89HDF", b"\x1f\x8b", b"PK\x03\x04"
_ONE_IMAGE: Mapping[str, Any] = {"apart": True, "alone": True, "limit": "image_file_bytes"}

READERS: Registry[Reader] = Registry(
    "file format",
    Reader(
        "text",
        "a text table",
        (".1d", ".csv", ".tsv", ".txt"),
        _read_text,
        limit="text_bytes",
    ),
    Reader(
        "text_bz2",
        "a text table compressed by bzip2",
        (".txt.bz2",),
        lambda path, context: _read_text(path, replace(context, file=unpacked(path))),
        begins=(b"BZh",),
        limit="text_bytes",
    ),
    Reader("npy", "a NumPy array", (".npy",), read_npy, begins=(b"\x93NUMPY",)),
    Reader("npz", "a NumPy archive", (".npz",), read_npz, begins=(_ZIP,)),
    Reader("hdf5", "an HDF5 file", (".h5", ".hdf5"), read_foreign, apart=True, begins=(_HDF5,)),
    Reader(  # version 4 has no mark
        "matlab", "a MATLAB file", (".mat",), read_foreign, apart=True, begins=(b"MATLAB", _HDF5), always_begins=False
    ),
    Reader("cifti", "a CIFTI file", _CIFTI, _read_cifti, **_ONE_IMAGE),
    Reader("gifti", "a GIfTI file of series", _GIFTI, _read_gifti, **_ONE_IMAGE),
    Reader("nifti", "a NIfTI image", (".nii",), _read_image, images=True, **_ONE_IMAGE),
    Reader(
        "nifti_gz", "a compressed NIfTI image", (".nii.gz",), _read_image, begins=(_GZIP,), images=True, **_ONE_IMAGE
    ),
)
# What files that nobody reads as a subject's begin with, and how they may end.
_OTHERS: Mapping[bytes, tuple[str, tuple[str, ...]]] = {
    _ZIP: ("a zip archive (or an Excel workbook)", (".zip", ".xlsx")),
    _GZIP: ("a gzip file", ()),
    b"%PDF": ("a PDF document", ()),
    b"\x89PNG": ("a picture", ()),
}


def readable_suffixes() -> tuple[str, ...]:
    """How the names of files that are read end, in the order of the register."""
    return tuple(suffix for reader in READERS.values() for suffix in reader.suffixes)


def suffix_of(path: Path) -> str:
    """Return the extension in lower case, with one of two parts, such as ``.nii.gz``, as one where it is read."""
    name = path.name.lower()
    of_two_parts = (suffix for suffix in readable_suffixes() if suffix.count(".") > 1)
    return next((suffix for suffix in of_two_parts if name.endswith(suffix)), Path(name).suffix)


def reader_of(path: Path) -> Reader | None:
    """The reader of a file, by its name; None where there is none."""
    suffix = suffix_of(path)
    return next((reader for reader in READERS.values() if suffix in reader.suffixes), None)


_PICKLE_STARTS = tuple(b"\x80" + bytes([protocol]) for protocol in range(2, 6))


def read_file(
    path: Path, options: ReadOptions, atlas: Atlas | None = None, *, root: Path | None = None
) -> list[Reading]:
    """Read every subject a file holds, without deciding yet what the numbers mean; ``root`` is the folder named.

    Parameters
    ----------
    path : Path
    options : ReadOptions
        The user's word on what the file alone does not say.
    atlas : Atlas, optional
        Gives images their spheres, where there is no label image.
    root : Path, optional
        The folder that the user named, where the file was found in one.
    """
    reader = reader_of(path)
    if reader is None:
        readable = ", ".join(sorted(readable_suffixes()))
        raise InputError(f"Files ending in '{suffix_of(path) or path.name}' are not read. Readable: {readable}.")
    n_bytes = path.stat().st_size
    if n_bytes == 0:
        raise InputError("The file is empty.")
    current_limits().check(reader.limit, n_bytes, "The file")
    with path.open("rb") as file:
        _check_beginning(file.read(8), suffix_of(path), reader)
        file.seek(0)
        return reader.read(path, ReadContext(file, options, atlas, root))


def _check_beginning(start: bytes, suffix: str, reader: Reader) -> None:
    if start.startswith(_PICKLE_STARTS):
        raise InputError(
            "The file is a Python pickle, which can run code when opened and is never loaded. "
            "Save the array with numpy.save, or as CSV."
        )
    known = dict(_OTHERS)
    for one in READERS.values():
        for begins in one.begins:
            what, suffixes = known.get(begins, (one.title, ()))
            known[begins] = (what, (*suffixes, *one.suffixes))
    for begins, (what, suffixes) in known.items():
        if start.startswith(begins) and suffix not in suffixes:
            advice = f" Rename it to end in {' or '.join(sorted(suffixes))}." if suffixes else ""
            raise InputError(f"The file is named {suffix} and is {what}.{advice}")
    if reader.begins and reader.always_begins and not start.startswith(reader.begins):
        raise InputError(f"The file is named {suffix} and its content is something else. Was it renamed or cut off?")
