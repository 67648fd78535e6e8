"""Array files: ``.npy``, ``.npz``, MATLAB ``.mat`` (v5 and v7.3) and HDF5.

Nothing is unpickled: object arrays are refused. A two-dimensional array is one subject; a three-dimensional one is a
stack of subjects, along the axis whose slices are symmetric or that has as many entries as there are subject names;
otherwise the user is asked. Sizes are checked before anything is unpacked.
"""

import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import h5py
import numpy as np
from numpy.typing import NDArray

from biobgt.errors import ChoiceNeeded, InputError
from biobgt.readers.archives import check_unpacked_size
from biobgt.readers.reading import Reading

SubjectAxis = Literal["first", "last"]

MAX_ARRAY_BYTES = 4 * 2**30
_SUBJECT_KEYS = ("subject", "subjects", "subject_id", "subject_ids", "ids")


def read_npy(path: Path, *, variable: str | None = None, subject_axis: SubjectAxis | None = None) -> list[Reading]:
    """Read a NumPy array file, which holds one array and so needs no variable."""
    return _subjects_in({path.stem: _load_numpy(path)}, variable=None, subject_axis=subject_axis)


def read_npz(path: Path, *, variable: str | None = None, subject_axis: SubjectAxis | None = None) -> list[Reading]:
    """Read a NumPy archive: one array, or a cohort (``series``, ``n_timepoints``, ``subject``)."""
    try:
        with zipfile.ZipFile(path) as archive:
            check_unpacked_size(archive)
    except zipfile.BadZipFile:
        raise InputError("The file is not a complete .npz archive; it may have been cut off.") from None
    arrays = {name: array for name, array in _load_numpy(path).items() if isinstance(array, np.ndarray)}
    if {"series", "n_timepoints"} <= set(arrays):
        return _concatenated_series(arrays)
    return _subjects_in(arrays, variable=variable, subject_axis=subject_axis, subjects=_subject_names(arrays))


def read_mat(path: Path, *, variable: str | None = None, subject_axis: SubjectAxis | None = None) -> list[Reading]:
    """Read a MATLAB file of version 5 (SciPy) or 7.3 (HDF5)."""
    with path.open("rb") as file:
        if b"MATLAB 7.3" in file.read(128):
            return read_hdf5(path, variable=variable, subject_axis=subject_axis, matlab=True)
    import scipy.io  # a quarter of a second that other files do not need

    try:
        declared = {name: (shape, kind) for name, shape, kind in scipy.io.whosmat(str(path))}
        _refuse_structs({name: kind for name, (_, kind) in declared.items()}, variable)
        for name, (shape, _) in declared.items():
            _check_size(name, shape, itemsize=8)
        contents = scipy.io.loadmat(str(path), mat_dtype=False)
    except InputError:
        raise
    except Exception as error:  # SciPy raises many types on damaged files
        raise InputError(f"The file cannot be read as MATLAB data ({_short(error)}). Save it again with -v7.") from None
    arrays = {name: _dense(value) for name, value in contents.items() if not name.startswith("__")}
    return _subjects_in(arrays, variable=variable, subject_axis=subject_axis)


def read_hdf5(
    path: Path,
    *,
    variable: str | None = None,
    subject_axis: SubjectAxis | None = None,
    matlab: bool = False,
) -> list[Reading]:
    """Read the numeric datasets of an HDF5 file; MATLAB stores them transposed."""
    try:
        with h5py.File(path, "r") as file:
            arrays = _numeric_datasets(file)
    except InputError:
        raise
    except (OSError, RuntimeError, KeyError, ValueError) as error:
        raise InputError(f"The file cannot be read as HDF5 ({_short(error)}); it may have been cut off.") from None
    if matlab:
        arrays = {name: array.T for name, array in arrays.items()}
    return _subjects_in(arrays, variable=variable and variable.strip("/"), subject_axis=subject_axis)


def _load_numpy(path: Path) -> Any:
    """Load ``.npy`` to an array and ``.npz`` to a dict of arrays, without pickles."""
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        with loaded:
            return {name: loaded[name] for name in loaded.files}
    except ValueError as error:
        if "pickle" in str(error).lower() or "object arrays" in str(error).lower():
            raise InputError(
                "The file holds Python objects (a pickle), which can run code when opened and are never loaded. "
                "Save a plain numeric array with numpy.save."
            ) from None
        raise InputError(f"The array cannot be read ({_short(error)}); the file may have been cut off.") from None
    except (EOFError, OSError, zipfile.BadZipFile, zlib.error, KeyError, SyntaxError, MemoryError) as error:
        raise InputError(f"The array cannot be read ({_short(error)}); the file may have been cut off.") from None


def _concatenated_series(arrays: Mapping[str, NDArray[Any]]) -> list[Reading]:
    """All subjects one after another along time, as cohorts are often shipped."""
    series, counts = arrays["series"], arrays["n_timepoints"]
    if not _numeric(series) or counts.dtype.kind not in "iu":
        raise InputError("In a cohort archive 'series' holds real numbers and 'n_timepoints' whole ones.")
    lengths = counts.astype(int)
    names = _subject_names(arrays)
    if series.ndim != 2 or lengths.ndim != 1 or lengths.sum() != len(series) or (lengths < 1).any():
        raise InputError(
            f"The lengths in 'n_timepoints' add up to {lengths.sum()} and 'series' has shape {series.shape}; "
            "the subjects' lengths must add up to its rows."
        )
    if names is not None and len(names) != len(lengths):
        raise InputError(f"There are {len(names)} subject names and {len(lengths)} lengths; they must be as many.")
    ends = np.cumsum(lengths)
    return [
        Reading(
            values=_as_float(series[end - length : end]),
            columns_are_regions=True,
            subject=names[i] if names is not None else None,
            options={"array": "series", "rows": f"{end - length + 1}-{end}"},
        )
        for i, (length, end) in enumerate(zip(lengths, ends, strict=True))
    ]


def _subjects_in(
    arrays: Mapping[str, NDArray[Any]],
    *,
    variable: str | None,
    subject_axis: SubjectAxis | None,
    subjects: list[str] | None = None,
) -> list[Reading]:
    """Choose the array that holds the data and cut it into subjects."""
    name, array = _choose(arrays, variable)
    if array.ndim == 3 and 1 in array.shape:
        array = array.reshape([n for n in array.shape if n > 1])  # a stack of one
    if array.ndim == 2:
        own = subjects[0] if subjects is not None and len(subjects) == 1 else None
        return [Reading(values=_as_float(array), subject=own, options={"array": name})]
    axis = _tell_subject_axis(array, subject_axis, n_names=None if subjects is None else len(subjects))
    stack = np.moveaxis(array, 0 if axis == "first" else -1, 0)
    if subjects is not None and len(subjects) != len(stack):
        raise InputError(f"There are {len(subjects)} subject names and {len(stack)} matrices; they must be as many.")
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


def _choose(arrays: Mapping[str, NDArray[Any]], variable: str | None) -> tuple[str, NDArray[Any]]:
    if variable is not None:
        if variable not in arrays:
            raise InputError(
                f"There is no variable '{variable}' in the file. It holds: {', '.join(arrays) or 'nothing'}."
            )
        candidates = {variable: arrays[variable]}
    else:
        candidates = {name: array for name, array in arrays.items() if _is_table(array)}
    if len(candidates) > 1:
        shapes = ", ".join(f"{name} {' × '.join(map(str, array.shape))}" for name, array in candidates.items())
        raise ChoiceNeeded(
            f"The file holds more than one table of numbers ({shapes}).", option="variable", choices=tuple(candidates)
        )
    if not candidates:
        found = ", ".join(f"{name} ({_describe(array)})" for name, array in arrays.items()) or "nothing"
        raise InputError(f"The file holds no table of real numbers, regions by time or by regions. It holds: {found}.")
    name, array = next(iter(candidates.items()))
    if not _numeric(array):
        raise InputError(f"The variable '{name}' holds {array.dtype} values, not real numbers.")
    if array.ndim not in (2, 3):
        raise InputError(f"The variable '{name}' has shape {array.shape}; a subject is a table of two dimensions.")
    return name, array


def _numeric_datasets(file: h5py.File) -> dict[str, NDArray[Any]]:
    datasets: dict[str, h5py.Dataset] = {}

    def collect(name: str, item: h5py.HLObject) -> None:
        # MATLAB keeps what cells and structs point to under '#refs#', and text as numbers.
        is_text = item.attrs.get("MATLAB_class") in (b"char", "char")
        if isinstance(item, h5py.Dataset) and not name.startswith("#") and not is_text:
            datasets[name] = item

    file.visititems(collect)
    numeric = {name: item for name, item in datasets.items() if item.dtype.kind in "fiu" and item.ndim > 0}
    for name, item in numeric.items():
        _check_size(name, item.shape, itemsize=item.dtype.itemsize)
    if not numeric and any(isinstance(item, h5py.Group) for item in file.values()):
        _refuse_structs(dict.fromkeys(file, "struct"), None)
    return {name: np.asarray(item[()]) for name, item in numeric.items()}


def _refuse_structs(kinds: Mapping[str, str], variable: str | None) -> None:
    chosen = {name: kind for name, kind in kinds.items() if variable is None or name == variable}
    if chosen and all(kind in {"struct", "cell", "object", "function"} for kind in chosen.values()):
        name, kind = next(iter(chosen.items()))
        raise InputError(
            f"The variable '{name}' is a MATLAB {kind}, which has no single table of numbers in it. "
            "Save the matrix itself, for example: x = s.connectivity; save('subject.mat', 'x')."
        )


def _subject_names(arrays: Mapping[str, NDArray[Any]]) -> list[str] | None:
    names = next((arrays[key] for key in _SUBJECT_KEYS if key in arrays), None)
    if names is None:
        return None
    return [str(name).removesuffix(".0") if names.dtype.kind == "f" else str(name) for name in np.ravel(names)]


def _check_size(name: str, shape: tuple[int, ...], *, itemsize: int) -> None:
    n_bytes = itemsize * float(np.prod([float(n) for n in shape]))
    if n_bytes > MAX_ARRAY_BYTES:
        raise InputError(f"The variable '{name}' would take {n_bytes / 2**30:.0f} GB in memory; at most 4 GB are read.")


def _is_table(array: NDArray[Any]) -> bool:
    wide = [n for n in array.shape if n > 1]
    return _numeric(array) and array.ndim in (2, 3) and len(wide) >= 2


def _describe(array: NDArray[Any]) -> str:
    kind = {"c": "complex numbers", "b": "true or false", "U": "text", "S": "text", "O": "objects"}.get(
        array.dtype.kind, str(array.dtype)
    )
    return f"{' × '.join(map(str, array.shape)) or 'one value'}, {kind}"


def _dense(value: Any) -> NDArray[Any]:
    return np.asarray(value.toarray() if hasattr(value, "toarray") else value)


def _numeric(array: NDArray[Any]) -> bool:
    return array.dtype.kind in "fiu"


def _as_float(array: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(array, dtype=np.float64)


def _short(error: Exception) -> str:
    return str(error).splitlines()[0][:120] if str(error) else type(error).__name__
