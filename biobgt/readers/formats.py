"""The register of file formats, the user's word on what files do not say, and one file to readings."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, get_args

from biobgt.base.errors import InputError
from biobgt.base.limits import current_limits
from biobgt.base.options import Options, Registry, option
from biobgt.data.atlas import Atlas
from biobgt.data.cohort import Source
from biobgt.data.edits import MISSING_RULES, RECORDING_RULES, MissingRule, RecordingRule, check_run
from biobgt.data.graph import KINDS, GivenKind
from biobgt.readers.arrays import SubjectAxis, read_hdf5, read_mat, read_npy, read_npz
from biobgt.readers.images import ImageOptions, read_cifti, read_gifti, read_image
from biobgt.readers.measurement import Kind, Orientation, Reading
from biobgt.readers.tables import Header, read_text

# The user's word on what files alone do not say.


def _listed(rules: Mapping[Any, str]) -> str:
    return "; ".join(f"{name}: {meaning}" for name, meaning in rules.items()) + "."


@dataclass(frozen=True)
class ReadOptions(Options):
    """What files contain and how they lie, which of them are read, and what becomes of gaps and several recordings."""

    kind: Kind | None = option(
        None,
        shown={"series": "region time series", "connectivity": "a connectivity matrix"},
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
        help="Axis of the subjects in a three-dimensional array.",
    )
    variable: str | None = option(None, title="Array", help="Array to read from an .npz, .mat or .h5 file.")
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
    image: ImageOptions = field(default_factory=ImageOptions)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_run(self.run)


# The register of file formats: how files of a format end and begin, how they are read, and whether apart.
#
# Everything that looks at files reads :data:`READERS`: which files of a folder hold data, what the app's uploader
# names, which limit holds for a file, what a renamed file really is. A new format is one object there. Libraries that
# may crash on a damaged file, or run what a file says, read it in a process of their own
# (:mod:`biobgt.readers.isolate`); each reader says whether it does.


@dataclass(frozen=True, eq=False)
class ReadContext:
    """How a file shall be read: the user's word, the atlas where it is known, and the folder that the user named.

    ``file`` is the file, open at its beginning, for readers that take its bytes.
    """

    file: BinaryIO
    options: "ReadOptions"
    atlas: "Atlas | None" = None
    root: Path | None = None


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
    one_side : bool
        Whether a file is of one hemisphere, and the other's file is read with it.
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
    one_side: bool = False
    limit: str = "file_bytes"


def _text(path: Path, context: ReadContext) -> list[Reading]:
    return [read_text(context.file, header=context.options.header)]


def _image(path: Path, context: ReadContext) -> list[Reading]:
    return [read_image(path, atlas=context.atlas, options=context.options.image, root=context.root)]


def _cifti(path: Path, context: ReadContext) -> list[Reading]:
    return [read_cifti(path, labels=context.options.image.label_file)]


def _gifti(path: Path, context: ReadContext) -> list[Reading]:
    return [read_gifti(path, options=context.options.image, root=context.root)]


_HDF5, _GZIP, _ZIP = b"\x89HDF", b"\x1f\x8b", b"PK\x03\x04"
_CIFTI, _GIFTI = (".ptseries.nii", ".pconn.nii", ".dtseries.nii"), (".func.gii", ".time.gii")
_IMAGES = "image_file_bytes"  # the limit of their size

READERS: Registry[Reader] = Registry(
    "file format",
    Reader("text", "a text table", (".1d", ".csv", ".tsv", ".txt"), _text, limit="text_bytes"),
    Reader("npy", "a NumPy array", (".npy",), read_npy, begins=(b"\x93NUMPY",)),
    Reader("npz", "a NumPy archive", (".npz",), read_npz, begins=(_ZIP,)),
    Reader("hdf5", "an HDF5 file", (".h5", ".hdf5"), read_hdf5, apart=True, begins=(_HDF5,)),
    Reader(  # version 4 has no mark
        "matlab", "a MATLAB file", (".mat",), read_mat, apart=True, begins=(b"MATLAB", _HDF5), always_begins=False
    ),
    Reader("cifti", "a CIFTI file", _CIFTI, _cifti, apart=True, alone=True, limit=_IMAGES),
    Reader("gifti", "a GIfTI file of series", _GIFTI, _gifti, apart=True, alone=True, one_side=True, limit=_IMAGES),
    Reader("nifti", "a NIfTI image", (".nii",), _image, apart=True, alone=True, images=True, limit=_IMAGES),
    Reader(
        "nifti_gz",
        "a compressed NIfTI image",
        (".nii.gz",),
        _image,
        apart=True,
        alone=True,
        begins=(_GZIP,),
        images=True,
        limit=_IMAGES,
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


def is_image(path: Path) -> bool:
    """Whether a file is a brain image, by its name."""
    reader = reader_of(path)
    return reader is not None and reader.images


def is_of_one_side(path: Path) -> bool:
    """Whether a file is of one hemisphere, and the other's file is read with it."""
    reader = reader_of(path)
    return reader is not None and reader.one_side


# One file to readings: the reader by the file's extension, after a check that the content is what it says.


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


def describe_source(path: Path, *, name: str, sha256: str = "") -> Source:
    """Record where numbers came from.

    Parameters
    ----------
    path : Path
    name : str
        Of the file within what the user named.
    sha256 : str
        Of the whole file, which is read where this is not known yet.
    """
    if not sha256:
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return Source(file=name, n_bytes=path.stat().st_size, sha256=sha256, reader=suffix_of(path).lstrip("."))


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
