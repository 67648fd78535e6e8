"""One file to readings: the right reader by extension, after a look at whether the content is what it says."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from biobgt.atlas import Atlas
from biobgt.cohort import Source
from biobgt.errors import InputError
from biobgt.limits import current_limits
from biobgt.readers.arrays import SubjectAxis, read_hdf5, read_mat, read_npy, read_npz
from biobgt.readers.images import ImageOptions, read_image
from biobgt.readers.layout import Header
from biobgt.readers.reading import Kind, Reading
from biobgt.readers.text import read_text
from biobgt.readers.time_axis import Orientation

TEXT_SUFFIXES = frozenset({".1d", ".csv", ".tsv", ".txt"})
IMAGE_SUFFIXES = frozenset({".nii", ".nii.gz"})

_ARRAY_READERS: dict[str, Callable[..., list[Reading]]] = {
    ".npy": read_npy,
    ".npz": read_npz,
    ".mat": read_mat,
    ".h5": read_hdf5,
    ".hdf5": read_hdf5,
}
READABLE_SUFFIXES = TEXT_SUFFIXES | IMAGE_SUFFIXES | frozenset(_ARRAY_READERS)

# What a file's first bytes say it is, and the extensions it may then have.
_SIGNATURES: tuple[tuple[bytes, str, frozenset[str]], ...] = (
    (b"\x93NUMPY", "a NumPy array", frozenset({".npy"})),
    (b"PK\x03\x04", "a zip archive (or an Excel workbook)", frozenset({".npz", ".zip", ".xlsx"})),
    (b"MATLAB", "a MATLAB file", frozenset({".mat"})),
    (b"\x89HDF", "an HDF5 file", frozenset({".h5", ".hdf5", ".mat"})),
    (b"\x1f\x8b", "a gzip file", frozenset({".nii.gz"})),
    (b"%PDF", "a PDF document", frozenset()),
    (b"\x89PNG", "a picture", frozenset()),
)
_PICKLE_STARTS = tuple(b"\x80" + bytes([protocol]) for protocol in range(2, 6))


@dataclass(frozen=True)
class ReadOptions:
    """The user's word on what files alone do not say.

    Attributes
    ----------
    kind : {"series", "connectivity"} or None
    orientation : {"time-region", "region-time"} or None
    header : {"yes", "no"} or None
        Whether a text table's first line is a header.
    variable : str or None
        Which array of an ``.npz``, ``.mat`` or ``.h5`` file holds the data.
    subject_axis : {"first", "last"} or None
        Along which axis of a three-dimensional array the subjects lie.
    pattern : str or None
        Which files of a folder to read, for example ``*_cc200*``.
    image : ImageOptions
    """

    kind: Kind | None = None
    orientation: Orientation | None = None
    header: Header | None = None
    variable: str | None = None
    subject_axis: SubjectAxis | None = None
    pattern: str | None = None
    image: ImageOptions = field(default_factory=ImageOptions)


def suffix_of(path: Path) -> str:
    """Return the extension in lower case, with ``.nii.gz`` as one."""
    name = path.name.lower()
    return ".nii.gz" if name.endswith(".nii.gz") else Path(name).suffix


def read_file(
    path: Path, options: ReadOptions, atlas: Atlas | None = None, *, root: Path | None = None
) -> list[Reading]:
    """Read every subject a file holds, without deciding yet what the numbers mean; ``root`` is the folder named."""
    suffix = suffix_of(path)
    if suffix not in READABLE_SUFFIXES:
        raise InputError(
            f"Files ending in '{suffix or path.name}' are not read. Readable: {', '.join(sorted(READABLE_SUFFIXES))}."
        )
    _check_content(path, suffix)
    if suffix in TEXT_SUFFIXES:
        return [read_text(path, header=options.header)]
    if suffix in IMAGE_SUFFIXES:
        return [read_image(path, atlas=atlas, options=options.image, root=root)]
    return _ARRAY_READERS[suffix](path, variable=options.variable, subject_axis=options.subject_axis)


def describe_source(path: Path, *, name: str) -> Source:
    """Record where numbers came from; the hash is over the whole file."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Source(file=name, n_bytes=path.stat().st_size, sha256=digest, reader=suffix_of(path).lstrip("."))


def _check_content(path: Path, suffix: str) -> None:
    n_bytes = path.stat().st_size
    if n_bytes == 0:
        raise InputError("The file is empty.")
    limit = "image_file_bytes" if suffix in IMAGE_SUFFIXES else "file_bytes"
    current_limits().check("text_bytes" if suffix in TEXT_SUFFIXES else limit, n_bytes, "The file")
    with path.open("rb") as file:
        start = file.read(8)
    if start.startswith(_PICKLE_STARTS):
        raise InputError(
            "The file is a Python pickle, which can run code when opened and is never loaded. "
            "Save the array with numpy.save, or as CSV."
        )
    for signature, what, suffixes in _SIGNATURES:
        if start.startswith(signature) and suffix not in suffixes:
            advice = f" Rename it to end in {' or '.join(sorted(suffixes))}." if suffixes else ""
            raise InputError(f"The file is named {suffix} and is {what}.{advice}")
    wanted = next(
        (signature for signature, _, suffixes in _SIGNATURES if suffix in suffixes and suffix != ".mat"), None
    )
    if wanted is not None and not start.startswith(wanted):
        raise InputError(f"The file is named {suffix} and its content is something else. Was it renamed or cut off?")
