"""NumPy's own files: ``.npy``, and the arrays of an ``.npz`` archive, each behind a header that is checked first.

Nothing is unpickled: arrays of objects are refused. An array is read only if its header declares what may be read, and
if the file is as long as the header says.
"""

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.limits import Limits
from biobgt.readers.archives import ZIP_ERRORS, open_archive
from biobgt.readers.variables import Declared

_PICKLE = (
    "The file holds Python objects (a pickle), which can run code when opened and are never loaded. "
    "Save a plain numeric array with numpy.save."
)
# What NumPy raises on headers that were damaged: it reads them as Python literals.
HEADER_ERRORS = (
    *(ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError, MemoryError),
    *(SyntaxError, TokenError, EOFError),
)
_MOST_DIMENSIONS = 32


@dataclass(frozen=True)
class Header:
    """What an array's header declares, and how many bytes come before the numbers."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fortran: bool
    n_before: int

    @property
    def n_values(self) -> int:
        """How many values there are; Python's integers do not overflow."""
        count = 1
        for n in self.shape:
            count *= n
        return count

    @property
    def declared(self) -> Declared:
        """The header in the words of every format."""
        return Declared(self.shape, self.dtype.kind, str(self.dtype)[:80])


class ArrayArchive:
    """An open ``.npz`` archive: what its arrays declare, and each array when it is asked for."""

    def __init__(self, archive: zipfile.ZipFile, limits: Limits) -> None:
        self._archive = archive
        self._limits = limits
        self._entries = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist() if _is_array(entry)}
        self.headers = {name: self._header(entry) for name, entry in self._entries.items()}

    def read(self, name: str) -> NDArray[Any]:
        """Read one array."""
        header, entry = self.headers[name], self._entries[name]
        with array_errors(), self._archive.open(entry) as stream:
            stream.read(header.n_before)
            return _read_values(stream, header, entry.file_size, f"The array '{name[:80]}'", self._limits)

    def _header(self, entry: zipfile.ZipInfo) -> Header:
        with array_errors(), self._archive.open(entry) as stream:
            return _read_header(stream)


@contextmanager
def open_npz(path: Path, limits: Limits) -> Iterator[ArrayArchive]:
    """Open an ``.npz`` archive without reading any of its arrays."""
    with array_errors(), open_archive(path, limits) as archive:
        yield ArrayArchive(archive, limits)


def read_npy_array(path: Path, limits: Limits) -> NDArray[Any]:
    """Read the array of an ``.npy`` file."""
    with array_errors(), path.open("rb") as stream:
        header = _read_header(stream)
        return _read_values(stream, header, path.stat().st_size, "The array", limits)


@contextmanager
def array_errors() -> Iterator[None]:
    """Turn what NumPy and zipfile raise on damaged files into a sentence."""
    try:
        yield
    except InputError:
        raise
    except (*HEADER_ERRORS, *ZIP_ERRORS) as error:
        reason = (str(error).strip().splitlines() or [""])[0][:120] or type(error).__name__
        raise InputError(f"The array cannot be read ({reason}); the file may have been cut off.") from None


def _is_array(entry: zipfile.ZipInfo) -> bool:
    return entry.filename.endswith(".npy")


def _read_header(stream: IO[bytes]) -> Header:
    """Read a header; NumPy itself refuses one of more than 10,000 characters."""
    version = np.lib.format.read_magic(stream)  # type: ignore[no-untyped-call]
    if version == (1, 0):
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)  # type: ignore[no-untyped-call]
    elif version in ((2, 0), (3, 0)):  # the two differ in the header's text encoding alone
        shape, fortran, dtype = np.lib.format.read_array_header_2_0(stream)  # type: ignore[no-untyped-call]
    else:
        raise InputError(f"The array is of version {version[0]}.{version[1]} of NumPy's format, which is not read.")
    if dtype.hasobject:
        raise InputError(_PICKLE)
    if len(shape) > _MOST_DIMENSIONS or any(isinstance(n, bool) or n < 0 for n in shape):
        raise InputError("The array's header is damaged: it declares a shape that no array has.")
    return Header(tuple(int(n) for n in shape), dtype, bool(fortran), stream.tell())


def _read_values(stream: IO[bytes], header: Header, n_file: int, what: str, limits: Limits) -> NDArray[Any]:
    """Read the numbers behind a header, which must be as many as it declares."""
    limits.check_array(header.shape, what)
    n_bytes = header.n_values * header.dtype.itemsize
    limits.check("cells", n_bytes / 8, what)  # text may take far more than a number
    if n_file - header.n_before < n_bytes:
        raise InputError(
            f"{what} is {n_bytes:,} bytes long by its header and the file has {n_file - header.n_before:,}; "
            "the file may have been cut off."
        )
    content = bytearray(n_bytes)
    if _fill(stream, memoryview(content)) < n_bytes:
        raise InputError(f"{what} ends before its header says; the file may have been cut off.")
    values = np.frombuffer(content, header.dtype, count=header.n_values)
    if header.fortran:
        return values.reshape(header.shape[::-1]).transpose()
    return values.reshape(header.shape)


def _fill(stream: IO[bytes], target: memoryview) -> int:
    if isinstance(stream, io.BufferedReader):
        return stream.readinto(target)
    n_read = 0
    while n_read < target.nbytes and (piece := stream.read(min(2**20, target.nbytes - n_read))):
        target[n_read : n_read + len(piece)] = piece
        n_read += len(piece)
    return n_read
