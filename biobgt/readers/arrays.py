"""Array files: ``.npy``, ``.npz``, MATLAB ``.mat`` (v5 and v7.3) and HDF5, cut into subjects.

Which array holds the subject's numbers is told from the sizes and types that the file declares: a file that declares
more than fits in memory is refused before memory is taken. A two-dimensional array is one subject; a three-dimensional
one is a stack of subjects, along the axis whose slices are symmetric or that has as many entries as there are subject
names; otherwise the user is asked. Nothing is unpickled: arrays of objects are refused. MATLAB and HDF5 files are read
in a process of their own (:mod:`biobgt.readers.foreign.isolate`).
"""

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tokenize import TokenError
from typing import IO, TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from biobgt.base.errors import ChoiceNeeded, InputError, first_line
from biobgt.base.limits import ZIP_ERRORS, Limits, current_limits, open_archive
from biobgt.readers.connections.pairs import (
    may_be_pairs,
    not_pairs,
    readings_of_people,
    regions_of_pairs,
    settle_triangle,
)
from biobgt.readers.connections.people import PAIRS, kind_question
from biobgt.readers.foreign.isolate import read_isolated
from biobgt.readers.measurement import Reading, filled_triangle
from biobgt.readers.region_files import with_regions

if TYPE_CHECKING:
    from biobgt.readers.formats import ReadContext

SubjectAxis = Literal["first", "last"]

_SUBJECT_KEYS = ("subject", "subjects", "subject_id", "subject_ids", "ids")
_COHORT_KEYS = ("series", "n_timepoints")
_IN_AN_ARCHIVE = "In a cohort archive 'series' holds real numbers and 'n_timepoints' whole ones."
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
_AT_ONCE = 2**20
_SHOWN = 20  # a hostile file may hold ten thousand variables with names of a page each
_OFFERED = 100  # QSIRecon writes four matrices for each of a dozen atlases
_NAMES = "_region_labels"  # behind an atlas's name, and how names of its matrices end
_MATRIX = "_connectivity"
_WORDS = {"c": "complex numbers", "b": "true or false", "U": "text", "S": "text", "O": "objects"}


@dataclass(frozen=True)
class Declared:
    """What a file says about one of its arrays: its shape, and its type as NumPy's kind (``f``) and name."""

    shape: tuple[int, ...]
    kind: str
    type_name: str

    @property
    def is_numeric(self) -> bool:
        """Whether it holds real numbers."""
        return self.kind in "fiu"

    @property
    def is_table(self) -> bool:
        """Whether it may be a subject's table, or a stack of them."""
        shape = self.shape
        return self.is_numeric and len(shape) in (2, 3) and 0 not in shape and sum(n > 1 for n in shape) >= 2

    @property
    def size(self) -> str:
        """Its shape in words: 200 × 200."""
        return " × ".join(map(str, self.shape))


def choose_variable(declared: Mapping[str, Declared], variable: str | None, limits: Limits) -> str:
    """Return the name of the array that holds the data, and make sure that it may be read.

    Parameters
    ----------
    declared : mapping of str to Declared
        Every array of the file: its shape and type, by name.
    variable : str or None
        The user's choice.
    limits : Limits

    Raises
    ------
    ChoiceNeeded
        When the file holds several tables.
    """
    if variable is not None and variable not in declared:
        names = [name[:80] for name in list(declared)[:_SHOWN]] + ["…"] * (len(declared) > _SHOWN)
        raise InputError(f"There is no variable '{variable}' in the file. It holds: {', '.join(names) or 'nothing'}.")
    candidates = [variable] if variable is not None else [name for name, about in declared.items() if about.is_table]
    if len(candidates) > 1:
        shapes = ", ".join(f"{name[:80]} {declared[name].size}" for name in candidates[:_SHOWN])
        more = f" and {len(candidates) - _SHOWN} more" if len(candidates) > _SHOWN else ""
        raise ChoiceNeeded(
            f"The file holds more than one table of numbers ({shapes}{more}).",
            option="variable",
            choices=candidates[:_OFFERED],
        )
    if not candidates:
        found = ", ".join(
            f"{name[:80]} ({about.size or 'one value'}, {_WORDS.get(about.kind, about.type_name)})"
            for name, about in list(declared.items())[:_SHOWN]
        )
        raise InputError(
            f"The file holds no table of real numbers, regions by time or by regions. It holds: {found or 'nothing'}."
        )
    (name,) = candidates
    about, what = declared[name], f"The variable '{name[:80]}'"
    if not about.is_numeric:
        raise InputError(f"{what} holds {about.type_name} values, not real numbers.")
    if len(about.shape) not in (2, 3):
        raise InputError(f"{what} has shape {about.shape}; a subject is a table of two dimensions.")
    if 0 in about.shape:
        raise InputError(f"{what} is empty: its shape is {about.shape}.")
    limits.check_array(about.shape, what)
    wide = sorted(n for n in about.shape if n > 1)
    if len(wide) == 2 and not any(map(may_be_pairs, wide)):  # or it may hold people and pairs of regions
        limits.check_table(wide, what)
    return name


# NumPy's own files: an array is read only if its header declares what may be read, and the file is as long as that.


def name_of_labels(declared: Mapping[str, Declared], chosen: str) -> str | None:
    """The variable with the names of a matrix's regions, as QSIRecon writes it; None where there is none.

    >>> about = Declared((68, 68), "f", "double")
    >>> found = {"aal116_sift_radius2_count_connectivity": about, "aal116_region_labels": about}
    >>> name_of_labels(found, "aal116_sift_radius2_count_connectivity")
    'aal116_region_labels'
    """
    atlases = (name.removesuffix(_NAMES) for name in declared if name.endswith(_NAMES))
    own = [atlas for atlas in atlases if atlas and chosen.startswith(f"{atlas}_") and chosen.endswith(_MATRIX)]
    return f"{max(own, key=len)}{_NAMES}" if own else None


@dataclass(frozen=True)
class _Header:
    """What an array's header declares, and how many bytes come before the numbers."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fortran: bool
    n_before: int

    @property
    def declared(self) -> Declared:
        """The header in the words of every format."""
        return Declared(self.shape, self.dtype.kind, str(self.dtype)[:80])


@contextmanager
def _array_errors() -> Iterator[None]:
    """Turn what NumPy and zipfile raise on damaged files into a sentence."""
    try:
        yield
    except InputError:
        raise
    except (*HEADER_ERRORS, *ZIP_ERRORS) as error:
        raise InputError(f"The array cannot be read ({first_line(error)}); the file may have been cut off.") from None


def _read_header(stream: IO[bytes]) -> _Header:
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
    return _Header(tuple(int(n) for n in shape), dtype, bool(fortran), stream.tell())


def _read_values(stream: IO[bytes], header: _Header, n_file: int, what: str, limits: Limits) -> NDArray[Any]:
    """Read the numbers behind a header, which must be as many as it declares."""
    limits.check_array(header.shape, what)
    n_bytes = math.prod(header.shape) * header.dtype.itemsize
    limits.check("cells", n_bytes / 8, what)  # text may take far more than a number
    if n_file - header.n_before < n_bytes:
        raise InputError(
            f"{what} is {n_bytes:,} bytes long by its header and the file has {n_file - header.n_before:,}; "
            "the file may have been cut off."
        )
    content, n_read = bytearray(n_bytes), 0
    while n_read < n_bytes and (piece := stream.read(min(_AT_ONCE, n_bytes - n_read))):
        content[n_read : n_read + len(piece)] = piece
        n_read += len(piece)
    if n_read < n_bytes:
        raise InputError(f"{what} ends before its header says; the file may have been cut off.")
    values = np.frombuffer(content, header.dtype, count=math.prod(header.shape))
    return values.reshape(header.shape, order="F" if header.fortran else "C")


def read_npy(path: Path, context: "ReadContext") -> list[Reading]:
    """Read a NumPy array file, which holds one array and so needs no variable."""
    limits = current_limits()
    with _array_errors(), path.open("rb") as stream:
        array = _read_values(stream, _read_header(stream), path.stat().st_size, "The array", limits)
    choose_variable({path.stem: Declared(array.shape, array.dtype.kind, str(array.dtype))}, None, limits)
    return _cut(path.stem, array, path, context, None)


def read_npz(path: Path, context: "ReadContext") -> list[Reading]:
    """Read a NumPy archive: one array, or a cohort (``series``, ``n_timepoints``, ``subject``)."""
    limits = current_limits()
    with _array_errors(), open_archive(path, limits) as archive:
        entries = {
            entry.filename.removesuffix(".npy"): entry
            for entry in archive.infolist()
            if entry.filename.endswith(".npy")
        }
        headers: dict[str, _Header] = {}
        for name, entry in entries.items():
            with archive.open(entry) as stream:
                headers[name] = _read_header(stream)

        def read(name: str) -> NDArray[Any]:
            with archive.open(entries[name]) as stream:
                stream.read(headers[name].n_before)
                what = f"The array '{name[:80]}'"
                return _read_values(stream, headers[name], entries[name].file_size, what, limits)

        subjects = _subject_names(headers, read, limits)
        if set(_COHORT_KEYS) <= set(headers):
            if not all(headers[name].declared.is_numeric for name in _COHORT_KEYS):
                raise InputError(_IN_AN_ARCHIVE)
            return _concatenated_series(read("series"), read("n_timepoints"), subjects, limits)
        declared = {name: header.declared for name, header in headers.items()}
        name = choose_variable(declared, context.options.variable, limits)
        array = read(name)
    return _cut(name, array, path, context, subjects)


def read_foreign(path: Path, context: "ReadContext") -> list[Reading]:
    """Read an HDF5 file, or a MATLAB one of version 5 (SciPy) or 7.3 (HDF5, with arrays stored transposed)."""
    matlab = path.suffix.lower() == ".mat"
    reader = "read_matlab" if matlab and b"MATLAB 7.3" not in context.file.read(128) else "read_hdf5"
    options = {"variable": context.options.variable, "matlab": matlab}
    answer, array = read_isolated(f"biobgt.readers.foreign.tables:{reader}", path, options)
    readings = _cut(str(answer["variable"]), array, path, context, None)
    names = answer.get("names")
    if names is None or any(one.values.shape != (len(names), len(names)) for one in readings):
        return readings
    return [replace(one, region_names=tuple(names), row_names=tuple(names)) for one in readings]


def _concatenated_series(
    series: NDArray[Any], counts: NDArray[Any], names: list[str] | None, limits: Limits
) -> list[Reading]:
    """All subjects one after another along time, as cohorts are often shipped."""
    if counts.dtype.kind not in "iu":
        raise InputError(_IN_AN_ARCHIVE)
    limits.check("subjects", counts.size, "The file")
    lengths = [int(length) for length in counts.ravel()]  # Python's integers do not overflow
    if series.ndim != 2 or counts.ndim != 1 or sum(lengths) != len(series) or min(lengths, default=0) < 1:
        raise InputError(
            f"The lengths in 'n_timepoints' add up to {sum(lengths)} and 'series' has shape {series.shape}; "
            "the subjects' lengths must add up to its rows."
        )
    if names is not None and len(names) != len(lengths):
        raise InputError(
            f"There are {len(names)} subject names and {len(lengths)} lengths; the two numbers must be equal."
        )
    ends = [int(end) for end in np.cumsum(lengths)]
    return [
        Reading(
            values=np.asarray(series[end - length : end], dtype=np.float64),
            columns_are_regions=True,
            subject=names[i] if names is not None else None,
            options={"array": "series", "rows": f"{end - length + 1}-{end}"},
        )
        for i, (length, end) in enumerate(zip(lengths, ends, strict=True))
    ]


def _cut(
    name: str, array: NDArray[Any], path: Path, context: "ReadContext", subjects: list[str] | None
) -> list[Reading]:
    """Cut an array into subjects."""
    limits = current_limits()
    if array.ndim == 3 and 1 in array.shape:
        array = array.reshape([n for n in array.shape if n > 1])  # a stack of one
    if array.ndim != 2 and array.ndim != 3:
        raise InputError(f"The variable '{name[:80]}' has shape {array.shape}; a subject is a table.")
    if array.ndim == 2:
        n_names = 1 if subjects is None else len(subjects)
        people = _axis_of_people(array.shape, context, n_names=n_names)
        if people is not None:
            return _people(name, array if people == "first" else array.T, path, context, subjects)
        limits.check_table(array.shape, f"The variable '{name[:80]}'")
        own = subjects[0] if subjects is not None and len(subjects) == 1 else None
        return [Reading(values=np.asarray(array, dtype=np.float64), subject=own, options={"array": name})]
    axis = _tell_subject_axis(array, context.options.subject_axis, n_names=None if subjects is None else len(subjects))
    stack = np.moveaxis(array, 0 if axis == "first" else -1, 0)
    limits.check("subjects", len(stack), "The file")
    limits.check_table(stack.shape[1:], f"Each subject in '{name[:80]}'")
    if subjects is not None and len(subjects) != len(stack):
        raise InputError(
            f"There are {len(subjects)} subject names and {len(stack)} matrices; the two numbers must be equal."
        )
    readings = [
        Reading(
            values=np.asarray(values, dtype=np.float64),
            subject=subjects[i] if subjects is not None else None,
            options={"array": name, "index": i + 1, "subject axis": axis},
        )
        for i, values in enumerate(stack)
    ]
    return with_regions(readings, path)


def _people(
    name: str, values: NDArray[Any], path: Path, context: "ReadContext", subjects: list[str] | None
) -> list[Reading]:
    """One row per person and one column per pair of regions."""
    current_limits().check("subjects", len(values), f"The variable '{name[:80]}'")
    if subjects is not None and len(subjects) != len(values):
        raise InputError(
            f"There are {len(subjects)} subject names and {len(values)} rows of connections; the two numbers must be "
            "equal."
        )
    likely, decided = context.likely_atlas(path, regions_of_pairs(values.shape[1]))
    pairs = settle_triangle(values, context.options.triangle, likely, decided=decided)
    readings = readings_of_people(values, pairs, options={"array": name})
    return [replace(one, subject=subjects[i]) for i, one in enumerate(readings)] if subjects is not None else readings


def _axis_of_people(shape: Sequence[int], context: "ReadContext", *, n_names: int) -> SubjectAxis | None:
    """The axis of people, where the other one is pairs of regions; None where it is one subject's table."""
    axes: tuple[SubjectAxis, SubjectAxis] = ("first", "last")
    lengths = dict(zip(axes, shape, strict=True))
    counts = dict(zip(axes, reversed(shape), strict=True))  # of columns, if people lie along that axis
    fits = [axis for axis in axes if may_be_pairs(counts[axis])]
    kind, said, atlas = context.options.kind, context.options.subject_axis, context.atlas
    if kind == PAIRS and not fits:
        raise not_pairs(max(shape))
    if kind not in (None, PAIRS) or not fits or (shape[0] == shape[1] and kind is None):
        return None
    named = [axis for axis in fits if n_names == lengths[axis] and n_names > 1]
    if len(named) == 1:
        return named[0]
    if atlas is not None:
        of_atlas = [axis for axis in fits if 0 <= (regions_of_pairs(counts[axis]) or 0) - atlas.n_regions <= 1]
        if len(of_atlas) == 1 and (kind == PAIRS or atlas.n_regions not in shape):
            return of_atlas[0]
        if kind is None and not of_atlas:
            return None
    if kind is None:
        longest = max(counts[axis] for axis in fits)
        if longest <= current_limits().regions:
            return None
        raise kind_question(f"The array has {shape[0]:,} rows and {shape[1]:,} columns", longest)
    if len(fits) == 1 or said in fits:
        return said if said in fits else fits[0]
    raise ChoiceNeeded(
        f"The array of {shape[0]:,} × {shape[1]:,} holds people and pairs of regions, and either axis may be the "
        "people's.",
        option="subject_axis",
        choices={
            axis: f"{lengths[axis]:,} people and the pairs of {regions_of_pairs(counts[axis])} regions" for axis in fits
        },
    )


def _tell_subject_axis(array: NDArray[Any], said: SubjectAxis | None, *, n_names: int | None) -> SubjectAxis:
    if said is not None:
        return said
    by_symmetry: list[SubjectAxis] = []
    if _is_symmetric(array[0]) and _is_symmetric(array[-1]):
        by_symmetry.append("first")
    if _is_symmetric(array[..., 0]) and _is_symmetric(array[..., -1]):
        by_symmetry.append("last")
    if len(by_symmetry) == 1:
        return by_symmetry[0]
    if n_names is not None and (array.shape[0] == n_names) != (array.shape[-1] == n_names):
        return "first" if array.shape[0] == n_names else "last"
    shape = " × ".join(map(str, array.shape))
    raise ChoiceNeeded(
        f"The array of {shape} is a stack of subjects, and it does not say along which axis they lie.",
        option="subject_axis",
        choices=("first", "last"),
    )


def _is_symmetric(matrix: NDArray[Any]) -> bool:
    """Whether it is a matrix of connections, of which one triangle alone may be filled."""
    if matrix.shape[0] != matrix.shape[1]:
        return False
    return bool(np.allclose(matrix, matrix.T, equal_nan=True)) or bool(filled_triangle(matrix))


def _subject_names(
    headers: Mapping[str, _Header], read: Callable[[str], NDArray[Any]], limits: Limits
) -> list[str] | None:
    name = next((key for key in _SUBJECT_KEYS if key in headers), None)
    if name is None or headers[name].dtype.kind not in "USiuf":
        return None
    limits.check("subjects", math.prod(headers[name].shape), "The file")
    names = np.ascontiguousarray(np.ravel(read(name)))
    if (
        names.dtype.kind == "U"
        and (names.view(np.dtype("u4").newbyteorder(names.dtype.byteorder)) > sys.maxunicode).any()
    ):
        raise InputError(f"The names in '{name}' are no text; the file is damaged.")
    texts = [one.decode("utf-8", "backslashreplace") if isinstance(one, bytes) else str(one) for one in names.tolist()]
    return [text.removesuffix(".0") for text in texts] if names.dtype.kind == "f" else texts
