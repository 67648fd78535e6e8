"""Project files (``.biobgt``): a cohort with its settings, as one zip of ``project.json`` and NumPy arrays.

A project file is an ``.npz`` archive with a JSON document in it; ``numpy.load`` opens its arrays. Nothing in it is ever
unpacked to the disk or unpickled: arrays are float64 numbers behind a header that is checked, and each has its SHA-256
in the document. This module knows the file and reads the cohort in it; :mod:`biobgt.project` reads the settings too,
and writes.
"""

import hashlib
import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from biobgt.cohort import Cohort
from biobgt.errors import InputError
from biobgt.limits import current_limits
from biobgt.readers.archives import ZIP_ERRORS, open_archive
from biobgt.readers.guarding import one_refused_file
from biobgt.readers.numpy_files import HEADER_ERRORS
from biobgt.readers.project_documents import cohort_from_document, field_of

PROJECT_SUFFIX = ".biobgt"
FORMAT = "biobgt project"
VERSION = 1
DOCUMENT = "project.json"
_ARRAY_NAME = re.compile(r"arrays/[0-9a-z_]{1,40}\.npy")
_ENCRYPTED = 0x1
_LOCKED = "The project file is protected by a password. Save it without one."
_ALWAYS_UNPACKED = 2**20  # bytes of a document


@dataclass(frozen=True, eq=False)
class ProjectFile:
    """An open project file: its document, checked as far as the archive goes, and its arrays, read when asked for."""

    document: Mapping[str, Any]
    archive: zipfile.ZipFile

    def cohort(self) -> Cohort:
        """Read the cohort."""
        limits = current_limits()
        n_bytes = sum(entry.file_size for entry in self.archive.infolist())
        limits.check("cohort_bytes", n_bytes, "The project")
        cohort = cohort_from_document(field_of(self.document, "cohort", dict), self.array)
        limits.check("regions", cohort.atlas.n_regions, "The project's atlas")
        limits.check("id_characters", max(map(len, cohort.ids)), "The project")
        return cohort

    def array(self, name: str) -> NDArray[np.float64]:
        """Read one array, and make sure that it is the one that was saved.

        Returns
        -------
        ndarray of float64, of the shape that the document says
        """
        about = field_of(field_of(self.document, "arrays", dict), name, dict)
        content = self.archive.read(name)
        if hashlib.sha256(content).hexdigest() != field_of(about, "sha256", str):
            raise InputError(
                f"The project file is damaged: '{name}' is not what was saved (its SHA-256 differs). "
                "Take another copy of the file."
            )
        return _decode(content, name, tuple(field_of(about, "shape", list)))


@contextmanager
def open_project_file(source: str | Path | BinaryIO) -> Iterator[ProjectFile]:
    """Open a project file; whatever is wrong with it, now or while it is read, ends as a sentence.

    Raises
    ------
    InputError
        For a file that is no project, was cut off or changed, or was written by another version.
    """
    with one_refused_file("The project file"):
        try:
            with open_archive(source, current_limits()) as archive:
                document = _read_document(archive)
                _check_entries(archive, document)
                yield ProjectFile(document, archive)
        except ZIP_ERRORS as error:
            if isinstance(error, OSError) and error.strerror:
                raise
            raise InputError(
                f"This is not a whole project file: it was cut off, damaged, or is no {PROJECT_SUFFIX} file at all. "
                "Take another copy of it."
            ) from None


def read_project_cohort(source: str | Path | BinaryIO) -> Cohort:
    """Read the cohort of a project file, and nothing else of it."""
    with open_project_file(source) as project:
        return project.cohort()


def encode_array(values: NDArray[np.float64]) -> bytes:
    """Write an array as the bytes of an ``.npy`` file: float64, rows first."""
    buffer = io.BytesIO()
    np.save(buffer, np.ascontiguousarray(values, dtype="<f8"), allow_pickle=False)
    return buffer.getvalue()


def _read_document(archive: zipfile.ZipFile) -> Mapping[str, Any]:
    """Read the JSON document, and tell projects from other archives and from those of another version."""
    names = archive.namelist()
    if DOCUMENT not in names:
        raise InputError(
            f"This is a zip archive and not a project: there is no {DOCUMENT} in it. If it holds subjects' files, "
            "rename it to end in .zip and open that."
        )
    entry = archive.getinfo(DOCUMENT)
    if entry.flag_bits & _ENCRYPTED:
        raise InputError(_LOCKED)
    content = _unpacked_document(archive, entry)
    try:
        document = json.loads(content.decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise InputError(f"The project file is damaged: its {DOCUMENT} cannot be read as JSON.") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InputError(f"This is not a BioBGT project: its {DOCUMENT} is something else's.")
    version = field_of(document, "version", int)
    if version != VERSION:
        raise InputError(
            f"This project was saved by another version of BioBGT Explorer (file format {version}; this one reads "
            f"{VERSION}). Open it with that version, or update BioBGT Explorer."
        )
    return document


def _unpacked_document(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Unpack the JSON document, unless it is mostly air or has more values than are read."""
    limits, what = current_limits(), f"The project's {DOCUMENT}"
    limits.check("document_bytes", entry.file_size, what)
    if entry.file_size > max(_ALWAYS_UNPACKED, limits.ratio * entry.compress_size):
        raise InputError(
            f"{what} would grow more than {limits.ratio} times as it is unpacked, as no saved project does; the file "
            "is damaged, or made to do harm. Take another copy of it."
        )
    content = archive.read(entry)
    limits.check_document(content, what)
    return content


def _check_entries(archive: zipfile.ZipFile, document: Mapping[str, Any]) -> None:
    """Make sure that the archive holds exactly what its document says: nothing twice, missing, hidden or besides."""
    names = Counter(archive.namelist())
    declared = set(field_of(document, "arrays", dict))
    if any(not _ARRAY_NAME.fullmatch(name) for name in declared):
        raise InputError("The project file is damaged: an array in it has a name that no project uses.")
    if names.total() != len(names) or set(names) != declared | {DOCUMENT}:
        odd = sorted(set(names) ^ (declared | {DOCUMENT})) or [name for name, count in names.items() if count > 1]
        raise InputError(
            f"The project file was changed or damaged: '{odd[0][:80]}' is missing, twice there, or does not belong. "
            "Take another copy of it."
        )
    if any(entry.flag_bits & _ENCRYPTED for entry in archive.infolist()):
        raise InputError(_LOCKED)


def _decode(content: bytes, name: str, shape: tuple[object, ...]) -> NDArray[np.float64]:
    """Read the bytes of an ``.npy`` file; only float64 of the stated shape and size is ever read."""
    stream = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(stream)  # type: ignore[no-untyped-call]
        if version != (1, 0):
            raise ValueError("another version of the format")
        header = np.lib.format.read_array_header_1_0(stream)  # type: ignore[no-untyped-call]
        found, fortran, dtype = header
        if found != shape or fortran or dtype != np.dtype("<f8"):
            raise ValueError("another shape or type")
        # A copy, so that it can be written to, as every other reader's arrays can.
        return np.frombuffer(content, dtype, offset=stream.tell()).reshape(found).astype(np.float64)
    except HEADER_ERRORS:
        raise InputError(f"The project file is damaged: '{name}' is not the table of numbers it should be.") from None


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")
