"""One file to readings: the reader by the file's extension, after a check that the content is what it says."""

import hashlib
from pathlib import Path

from biobgt.atlas import Atlas
from biobgt.cohort import Source
from biobgt.errors import InputError
from biobgt.limits import current_limits
from biobgt.readers.formats import Asked, Reader, beginnings, readable_suffixes, reader_of, suffix_of
from biobgt.readers.read_options import ReadOptions
from biobgt.readers.reading import Reading

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
        return reader.read(path, Asked(file, options, atlas, root))


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
    for begins, (what, suffixes) in beginnings().items():
        if start.startswith(begins) and suffix not in suffixes:
            advice = f" Rename it to end in {' or '.join(sorted(suffixes))}." if suffixes else ""
            raise InputError(f"The file is named {suffix} and is {what}.{advice}")
    if reader.begins and reader.always_begins and not start.startswith(reader.begins):
        raise InputError(f"The file is named {suffix} and its content is something else. Was it renamed or cut off?")
