"""The register of file formats: how files of a format end and begin, how they are read, and whether apart.

Everything that looks at files reads :data:`READERS`: which files of a folder hold data, what the app's uploader names,
which limit holds for a file, what a renamed file really is. A new format is one object there. Libraries that may crash
on a damaged file, or run what a file says, read it in a process of their own (:mod:`biobgt.readers.isolated`); each
reader says whether it does.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from biobgt.readers.arrays import read_hdf5, read_mat, read_npy, read_npz
from biobgt.readers.cifti import read_cifti
from biobgt.readers.gifti import read_gifti
from biobgt.readers.images import read_image
from biobgt.readers.reading import Reading
from biobgt.readers.text import read_text
from biobgt.registry import Registry

if TYPE_CHECKING:
    from biobgt.atlas import Atlas
    from biobgt.readers.read_options import ReadOptions


@dataclass(frozen=True, eq=False)
class Asked:
    """How a file shall be read: the user's word, the atlas where it is known, and the folder that the user named.

    ``file`` is the file, open at its beginning, for readers that take its bytes.
    """

    file: BinaryIO
    options: "ReadOptions"
    atlas: "Atlas | None" = None
    root: Path | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
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
        Reads every subject a file holds, given its path and what was asked.
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
        The field of :class:`~biobgt.limits.Limits` for the size of a file.
    """

    key: str
    title: str
    suffixes: tuple[str, ...]
    read: Callable[[Path, Asked], list[Reading]]
    apart: bool
    alone: bool = False
    begins: tuple[bytes, ...] = ()
    always_begins: bool = True
    images: bool = False
    one_side: bool = False
    limit: str = "file_bytes"


def _text(path: Path, asked: Asked) -> list[Reading]:
    return [read_text(asked.file, header=asked.options.header)]


def _image(path: Path, asked: Asked) -> list[Reading]:
    return [read_image(path, atlas=asked.atlas, options=asked.options.image, root=asked.root)]


def _cifti(path: Path, asked: Asked) -> list[Reading]:
    return [read_cifti(path, labels=asked.options.image.label_file)]


def _gifti(path: Path, asked: Asked) -> list[Reading]:
    return [read_gifti(path, options=asked.options.image, root=asked.root)]


def _arrays(read: Callable[..., list[Reading]]) -> Callable[[Path, Asked], list[Reading]]:
    def cut(path: Path, asked: Asked) -> list[Reading]:
        return read(path, variable=asked.options.variable, subject_axis=asked.options.subject_axis)

    return cut


_HDF5, _GZIP, _ZIP = b"\x89HDF", b"\x1f\x8b", b"PK\x03\x04"

READERS: Registry[Reader] = Registry(
    "file format",
    Reader(
        key="text",
        title="a text table",
        suffixes=(".1d", ".csv", ".tsv", ".txt"),
        read=_text,
        apart=False,
        limit="text_bytes",
    ),
    Reader(
        key="npy",
        title="a NumPy array",
        suffixes=(".npy",),
        read=_arrays(read_npy),
        apart=False,
        begins=(b"\x93NUMPY",),
    ),
    Reader(
        key="npz",
        title="a NumPy archive",
        suffixes=(".npz",),
        read=_arrays(read_npz),
        apart=False,
        begins=(_ZIP,),
    ),
    Reader(
        key="hdf5",
        title="an HDF5 file",
        suffixes=(".h5", ".hdf5"),
        read=_arrays(read_hdf5),
        apart=True,
        begins=(_HDF5,),
    ),
    Reader(
        key="matlab",
        title="a MATLAB file",
        suffixes=(".mat",),
        read=_arrays(read_mat),
        apart=True,
        begins=(b"MATLAB", _HDF5),
        always_begins=False,  # version 4 has no mark
    ),
    Reader(
        key="cifti",
        title="a CIFTI file",
        suffixes=(".ptseries.nii", ".pconn.nii", ".dtseries.nii"),
        read=_cifti,
        apart=True,
        alone=True,
        limit="image_file_bytes",
    ),
    Reader(
        key="gifti",
        title="a GIfTI file of series",
        suffixes=(".func.gii", ".time.gii"),
        read=_gifti,
        apart=True,
        alone=True,
        one_side=True,
        limit="image_file_bytes",
    ),
    Reader(
        key="nifti",
        title="a NIfTI image",
        suffixes=(".nii",),
        read=_image,
        apart=True,
        alone=True,
        images=True,
        limit="image_file_bytes",
    ),
    Reader(
        key="nifti_gz",
        title="a compressed NIfTI image",
        suffixes=(".nii.gz",),
        read=_image,
        apart=True,
        alone=True,
        begins=(_GZIP,),
        images=True,
        limit="image_file_bytes",
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


def is_read_ahead(path: Path) -> bool:
    """Whether a file is read by a process of its own while another one is."""
    reader = reader_of(path)
    return reader is not None and reader.apart and not reader.alone


def beginnings() -> dict[bytes, tuple[str, tuple[str, ...]]]:
    """What a file is by its first bytes, and how the name of such a file may end."""
    found = dict(_OTHERS)
    for reader in READERS.values():
        for begins in reader.begins:
            what, suffixes = found.get(begins, (reader.title, ()))
            found[begins] = (what, (*suffixes, *reader.suffixes))
    return found
