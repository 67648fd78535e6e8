"""Array files: ``.npy``, ``.npz``, MATLAB ``.mat`` (v5 and v7.3) and HDF5.

Nothing is unpickled: object arrays are refused. A two-dimensional array is one subject; a three-dimensional one is
a stack of subjects along its first axis (its last in MATLAB). Sizes are checked before anything is unpacked.
"""

import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import scipy.io
from numpy.typing import NDArray

from biobgt.errors import ChoiceNeeded, InputError
from biobgt.readers.archives import check_unpacked_size
from biobgt.readers.reading import Reading

MAX_ARRAY_BYTES = 4 * 2**30
_SUBJECT_KEYS = ("subject", "subjects", "subject_id", "subject_ids", "ids")


def read_npy(path: Path, *, variable: str | None = None) -> list[Reading]:
    """Read a NumPy array file."""
    return _subjects_in({path.stem: _load_numpy(path)}, variable=None)


def read_npz(path: Path, *, variable: str | None = None) -> list[Reading]:
    """Read a NumPy archive: one array, or a cohort (``series``, ``n_timepoints``, ``subject``)."""
    try:
        with zipfile.ZipFile(path) as archive:
            check_unpacked_size(archive)
    except zipfile.BadZipFile:
        raise InputError("The file is not a complete .npz archive; it may have been cut off.") from None
    arrays = _load_numpy(path)
    if {"series", "n_timepoints"} <= set(arrays):
        return _concatenated_series(arrays)
    return _subjects_in(arrays, variable=variable, subjects=_subject_names(arrays))


def read_mat(path: Path, *, variable: str | None = None) -> list[Reading]:
    """Read a MATLAB file of version 5 (SciPy) or 7.3 (HDF5)."""
    with path.open("rb") as file:
        if b"MATLAB 7.3" in file.read(128):
            return read_hdf5(path, variable=variable, matlab=True)
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
    arrays = {name: np.asarray(value) for name, value in contents.items() if not name.startswith("__")}
    return _subjects_in(arrays, variable=variable, stack_axis=-1)


def read_hdf5(path: Path, *, variable: str | None = None, matlab: bool = False) -> list[Reading]:
    """Read the numeric datasets of an HDF5 file; MATLAB stores them transposed."""
    try:
        with h5py.File(path, "r") as file:
            arrays = _numeric_datasets(file, variable)
    except OSError as error:
        raise InputError(f"The file cannot be read as HDF5 ({_short(error)}); it may have been cut off.") from None
    if matlab:
        arrays = {name: array.T for name, array in arrays.items()}
    return _subjects_in(arrays, variable=variable, stack_axis=-1 if matlab else 0)


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
    series, lengths = arrays["series"], arrays["n_timepoints"].astype(int)
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
    subjects: list[str] | None = None,
    stack_axis: int = 0,
) -> list[Reading]:
    """Choose the array that holds the data and cut it into subjects."""
    name, array = _choose(arrays, variable)
    if array.ndim == 2:
        return [Reading(values=_as_float(array), options={"array": name})]
    stack = np.moveaxis(array, _stack_axis(array, usual=stack_axis), 0)
    if subjects is not None and len(subjects) != len(stack):
        raise InputError(f"There are {len(subjects)} subject names and {len(stack)} matrices; they must be as many.")
    return [
        Reading(
            values=_as_float(values),
            subject=subjects[i] if subjects is not None else None,
            options={"array": name, "index": i + 1},
        )
        for i, values in enumerate(stack)
    ]


def _stack_axis(array: NDArray[Any], *, usual: int) -> int:
    """Find the axis of the subjects: the one whose slices are symmetric, else the format's usual one."""
    for axis in (usual, 0, -1):
        matrix = np.take(array, 0, axis=axis)
        if matrix.shape[0] == matrix.shape[1] and np.allclose(matrix, matrix.T, equal_nan=True):
            return axis
    return usual


def _choose(arrays: Mapping[str, NDArray[Any]], variable: str | None) -> tuple[str, NDArray[Any]]:
    if variable is not None:
        if variable not in arrays:
            raise InputError(
                f"There is no variable '{variable}' in the file. It holds: {', '.join(arrays) or 'nothing'}."
            )
        candidates = {variable: arrays[variable]}
    else:
        candidates = {
            name: array
            for name, array in arrays.items()
            if array.ndim in (2, 3) and min(array.shape) > 1 and _numeric(array)
        }
    if len(candidates) > 1:
        shapes = ", ".join(f"{name} {' × '.join(map(str, array.shape))}" for name, array in candidates.items())
        raise ChoiceNeeded(
            f"The file holds more than one table of numbers ({shapes}).", option="variable", choices=tuple(candidates)
        )
    if not candidates:
        found = ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "nothing"
        raise InputError(
            f"The file holds no table of numbers, regions by time or regions by regions. It holds: {found}."
        )
    name, array = next(iter(candidates.items()))
    if not _numeric(array):
        raise InputError(f"The variable '{name}' holds {array.dtype} values, not real numbers.")
    if array.ndim not in (2, 3):
        raise InputError(f"The variable '{name}' has shape {array.shape}; a subject is a table of two dimensions.")
    return name, array


def _numeric_datasets(file: h5py.File, variable: str | None) -> dict[str, NDArray[Any]]:
    datasets: dict[str, h5py.Dataset] = {}

    def collect(name: str, item: h5py.HLObject) -> None:
        # MATLAB keeps what cells and structs point to under '#refs#'.
        if isinstance(item, h5py.Dataset) and not name.startswith("#"):
            datasets[name] = item

    file.visititems(collect)
    if variable is not None:
        datasets = {name: item for name, item in datasets.items() if name == variable}
    numeric = {name: item for name, item in datasets.items() if item.dtype.kind in "fiu" and item.ndim > 0}
    for name, item in numeric.items():
        _check_size(name, item.shape, itemsize=item.dtype.itemsize)
    if not numeric and any(isinstance(item, h5py.Group) for item in file.values()):
        _refuse_structs(dict.fromkeys(file, "struct"), variable)
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
    return None if names is None else [str(name) for name in np.ravel(names)]


def _check_size(name: str, shape: tuple[int, ...], *, itemsize: int) -> None:
    n_bytes = itemsize * float(np.prod([float(n) for n in shape]))
    if n_bytes > MAX_ARRAY_BYTES:
        raise InputError(f"The variable '{name}' would take {n_bytes / 2**30:.0f} GB in memory; at most 4 GB are read.")


def _numeric(array: NDArray[Any]) -> bool:
    return array.dtype.kind in "fiu"


def _as_float(array: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(array, dtype=np.float64)


def _short(error: Exception) -> str:
    return str(error).splitlines()[0][:120] if str(error) else type(error).__name__
