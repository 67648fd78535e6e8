"""Array files: ``.npy``, ``.npz``, MATLAB ``.mat`` (v5 and v7.3) and HDF5, cut into subjects.

A two-dimensional array is one subject; a three-dimensional one is a stack of subjects, along the axis whose slices are
symmetric or that has as many entries as there are subject names; otherwise the user is asked. Which array is read is
decided by what the file declares (:mod:`biobgt.readers.variables`); only that one is. MATLAB and HDF5 files are read in
a process of their own (:mod:`biobgt.readers.isolated`).
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from biobgt.errors import ChoiceNeeded, InputError
from biobgt.limits import Limits, current_limits
from biobgt.readers.isolated import read_isolated
from biobgt.readers.numpy_files import ArrayArchive, open_npz, read_npy_array
from biobgt.readers.reading import Reading
from biobgt.readers.variables import Declared, choose_variable

SubjectAxis = Literal["first", "last"]

_SUBJECT_KEYS = ("subject", "subjects", "subject_id", "subject_ids", "ids")
_COHORT_KEYS = ("series", "n_timepoints")
_IN_AN_ARCHIVE = "In a cohort archive 'series' holds real numbers and 'n_timepoints' whole ones."


def read_npy(path: Path, *, variable: str | None = None, subject_axis: SubjectAxis | None = None) -> list[Reading]:
    """Read a NumPy array file, which holds one array and so needs no variable.

    Parameters
    ----------
    path : Path
    variable : str, optional
        Has no meaning here.
    subject_axis : {"first", "last"}, optional
        Axis along which subjects are stacked, in an array of three dimensions.
    """
    limits = current_limits()
    array = read_npy_array(path, limits)
    choose_variable({path.stem: Declared(array.shape, array.dtype.kind, str(array.dtype))}, None, limits)
    return _cut(path.stem, array, subject_axis, None, limits)


def read_npz(path: Path, *, variable: str | None = None, subject_axis: SubjectAxis | None = None) -> list[Reading]:
    """Read a NumPy archive: one array, or a cohort (``series``, ``n_timepoints``, ``subject``).

    Parameters
    ----------
    path : Path
    variable : str, optional
        The array to read; needed where the archive holds several tables.
    subject_axis : {"first", "last"}, optional
        Axis along which subjects are stacked, in an array of three dimensions.
    """
    limits = current_limits()
    with open_npz(path, limits) as arrays:
        declared = {name: header.declared for name, header in arrays.headers.items()}
        subjects = _subject_names(arrays, limits)
        if set(_COHORT_KEYS) <= set(declared):
            series, counts = (_read_numbers(arrays, name) for name in _COHORT_KEYS)
            return _concatenated_series(series, counts, subjects, limits)
        name = choose_variable(declared, variable, limits)
        array = arrays.read(name)
    return _cut(name, array, subject_axis, subjects, limits)


def read_mat(path: Path, *, variable: str | None = None, subject_axis: SubjectAxis | None = None) -> list[Reading]:
    """Read a MATLAB file of version 5 (SciPy) or 7.3 (HDF5).

    Parameters
    ----------
    path : Path
    variable : str, optional
        The array to read; needed where the file holds several tables.
    subject_axis : {"first", "last"}, optional
        Axis along which subjects are stacked, in an array of three dimensions.
    """
    with path.open("rb") as file:
        is_hdf5 = b"MATLAB 7.3" in file.read(128)
    if is_hdf5:
        return read_hdf5(path, variable=variable, subject_axis=subject_axis, matlab=True)
    return _read_foreign("biobgt.readers.matlab", path, {"variable": variable}, subject_axis)


def read_hdf5(
    path: Path,
    *,
    variable: str | None = None,
    subject_axis: SubjectAxis | None = None,
    matlab: bool = False,
) -> list[Reading]:
    """Read the table in an HDF5 file; MATLAB stores it transposed.

    Parameters
    ----------
    path : Path
    variable : str, optional
        The dataset to read; needed where the file holds several tables.
    subject_axis : {"first", "last"}, optional
        Axis along which subjects are stacked, in an array of three dimensions.
    matlab : bool
        Whether MATLAB wrote the file.
    """
    return _read_foreign("biobgt.readers.hdf5", path, {"variable": variable, "matlab": matlab}, subject_axis)


def _read_foreign(
    module: str, path: Path, options: Mapping[str, object], subject_axis: SubjectAxis | None
) -> list[Reading]:
    reply = read_isolated(module, path, options)
    assert reply.array is not None
    return _cut(str(reply.answer["variable"]), reply.array, subject_axis, None, current_limits())


def _read_numbers(arrays: ArrayArchive, name: str) -> NDArray[Any]:
    if not arrays.headers[name].declared.is_numeric:
        raise InputError(_IN_AN_ARCHIVE)
    return arrays.read(name)


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
            values=_as_float(series[end - length : end]),
            columns_are_regions=True,
            subject=names[i] if names is not None else None,
            options={"array": "series", "rows": f"{end - length + 1}-{end}"},
        )
        for i, (length, end) in enumerate(zip(lengths, ends, strict=True))
    ]


def _cut(
    name: str, array: NDArray[Any], subject_axis: SubjectAxis | None, subjects: list[str] | None, limits: Limits
) -> list[Reading]:
    """Cut an array into subjects."""
    if array.ndim == 3 and 1 in array.shape:
        array = array.reshape([n for n in array.shape if n > 1])  # a stack of one
    if array.ndim != 2 and array.ndim != 3:
        raise InputError(f"The variable '{name[:80]}' has shape {array.shape}; a subject is a table.")
    if array.ndim == 2:
        limits.check_table(array.shape, f"The variable '{name[:80]}'")
        own = subjects[0] if subjects is not None and len(subjects) == 1 else None
        return [Reading(values=_as_float(array), subject=own, options={"array": name})]
    axis = _tell_subject_axis(array, subject_axis, n_names=None if subjects is None else len(subjects))
    stack = np.moveaxis(array, 0 if axis == "first" else -1, 0)
    limits.check("subjects", len(stack), "The file")
    limits.check_table(stack.shape[1:], f"Each subject in '{name[:80]}'")
    if subjects is not None and len(subjects) != len(stack):
        raise InputError(
            f"There are {len(subjects)} subject names and {len(stack)} matrices; the two numbers must be equal."
        )
    return [
        Reading(
            values=_as_float(values),
            subject=subjects[i] if subjects is not None else None,
            options={"array": name, "index": i + 1, "subject axis": axis},
        )
        for i, values in enumerate(stack)
    ]


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
    return matrix.shape[0] == matrix.shape[1] and bool(np.allclose(matrix, matrix.T, equal_nan=True))


def _subject_names(arrays: ArrayArchive, limits: Limits) -> list[str] | None:
    name = next((key for key in _SUBJECT_KEYS if key in arrays.headers), None)
    if name is None or arrays.headers[name].dtype.kind not in "USiuf":
        return None
    limits.check("subjects", arrays.headers[name].n_values, "The file")
    names = np.ascontiguousarray(np.ravel(arrays.read(name)))
    if (
        names.dtype.kind == "U"
        and (names.view(np.dtype("u4").newbyteorder(names.dtype.byteorder)) > sys.maxunicode).any()
    ):
        raise InputError(f"The names in '{name}' are no text; the file is damaged.")
    return [_as_name(name) for name in names.tolist()]


def _as_name(name: object) -> str:
    if isinstance(name, bytes):
        return name.decode("utf-8", "backslashreplace")
    return str(name).removesuffix(".0") if isinstance(name, float) else str(name)


def _as_float(array: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(array, dtype=np.float64)
