"""HDF5 files, and MATLAB's 7.3, which are HDF5: the numeric datasets that a file holds itself.

HDF5 can keep a dataset's numbers in any other file (external storage, virtual datasets, external links). Such a file
would read whatever the server may read, so it is refused. Soft links stay within the file and only name again what is
found under its own name: they are not followed. Runs in a reading process (:mod:`biobgt.readers.isolated`).
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.limits import Limits
from biobgt.readers.foreign import allow_memory, library
from biobgt.readers.variables import Declared, choose_variable, structure_error

_COPIES = 3  # HDF5's buffers, the array, and the array turned round


def read(path: Path, options: Mapping[str, Any], limits: Limits) -> tuple[dict[str, Any], NDArray[Any]]:
    """Read the one dataset that holds the data.

    Parameters
    ----------
    path : Path
    options : mapping
        ``variable``: the user's word on which dataset, or None. ``matlab``: whether arrays are stored transposed.
    limits : Limits

    Returns
    -------
    dict
        ``variable``: the dataset's name.
    ndarray
    """
    matlab: bool = options["matlab"]
    variable = options["variable"] and options["variable"].strip("/")
    with library("HDF5", "; it may have been cut off."), h5py.File(path, "r") as file:
        datasets = dict(_datasets(file, limits))
        declared = {name: _declare(item, matlab=matlab) for name, item in datasets.items()}
        numeric = {name: about for name, about in declared.items() if about.is_numeric and about.shape}
        if not numeric and variable is None:
            _refuse_structs(file)
        name = choose_variable(numeric if variable is None else declared, variable, limits)
        item = datasets[name]
        n_values = int(np.prod([int(n) for n in item.shape], dtype=object))
        limits.check_growth(item.id.get_storage_size(), n_values * item.dtype.itemsize, f"The variable '{name[:80]}'")
        allow_memory(_COPIES * n_values * max(8, item.dtype.itemsize), limits)
        array = np.asarray(item[()])
    return {"variable": name}, array.T if matlab else array


def _datasets(file: h5py.File, limits: Limits) -> Iterator[tuple[str, h5py.Dataset]]:
    """Walk through the file's own objects, each once, and refuse what lies elsewhere."""
    waiting: list[tuple[str, h5py.Group]] = [("", file)]
    met = {_address(file)}
    while waiting:
        prefix, group = waiting.pop()
        for name in group:
            where = f"{prefix}/{name}" if prefix else name
            link = group.get(name, getlink=True)
            if isinstance(link, h5py.ExternalLink):
                raise _points_elsewhere(where, "a link to another file")
            if not isinstance(link, h5py.HardLink):
                continue
            item = group[name]
            if (address := _address(item)) in met:
                continue
            met.add(address)
            limits.check("objects", len(met), "The file")
            if isinstance(item, h5py.Group):
                limits.check("nesting", where.count("/") + 1, "The file")
                waiting.append((where, item))
            # MATLAB keeps what cells and structs point to under '#refs#', and text as numbers.
            elif isinstance(item, h5py.Dataset) and not where.startswith("#") and not _is_text(item):
                _refuse_elsewhere(where, item)
                yield where, item


def _refuse_elsewhere(where: str, item: h5py.Dataset) -> None:
    """Look at how a dataset is stored; even asking a virtual one for its shape would open the other files."""
    creation = item.id.get_create_plist()
    if creation.get_layout() == h5py.h5d.VIRTUAL:
        raise _points_elsewhere(where, "a virtual dataset, whose numbers lie in other files")
    if creation.get_external_count():
        raise _points_elsewhere(where, "a dataset whose numbers lie in another file")


def _points_elsewhere(where: str, what: str) -> InputError:
    return InputError(
        f"'{where[:80]}' in the file is {what}, which is never followed. Save the numbers themselves into one file."
    )


def _declare(item: h5py.Dataset, *, matlab: bool) -> Declared:
    try:
        kind, name = item.dtype.kind, str(item.dtype)
    except TypeError:  # a type that NumPy does not have
        kind, name = "O", "other"
    shape = tuple(int(n) for n in item.shape or ())
    return Declared(shape[::-1] if matlab else shape, kind, name)


def _is_text(item: h5py.Dataset) -> bool:
    return item.attrs.get("MATLAB_class") in (b"char", "char")


def _address(item: h5py.HLObject) -> int:
    return int(h5py.h5o.get_info(item.id).addr)


def _refuse_structs(file: h5py.File) -> None:
    for name in file:
        if isinstance(file.get(name, getlink=True), h5py.HardLink) and isinstance(file[name], h5py.Group):
            raise structure_error(name, "struct")
