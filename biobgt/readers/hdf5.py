"""HDF5 files, and MATLAB's 7.3, which are HDF5: the numeric datasets that a file holds itself.

HDF5 can keep a dataset's numbers in any other file (external storage, virtual datasets, external links). Such a file
would read whatever the server may read, so it is refused. Soft links stay within the file and only name again what is
found under its own name: they are not followed. h5py's low-level interface opens exactly what is asked for, in a third
of the time. Runs in a reading process (:mod:`biobgt.readers.isolated`).
"""

import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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
    with library("HDF5", "; it may have been cut off."), _opened(path) as root:
        datasets = dict(_datasets(root, limits, matlab=matlab))
        declared = {name: _declare(item, matlab=matlab) for name, item in datasets.items()}
        numeric = {name: about for name, about in declared.items() if about.is_numeric and about.shape}
        if not numeric and variable is None:
            _refuse_structs(root)
        name = choose_variable(numeric if variable is None else declared, variable, limits)
        array = _values(name, datasets[name], limits)
    return {"variable": name}, array.T if matlab else array


@contextmanager
def _opened(path: Path) -> Iterator[h5py.h5g.GroupID]:
    """Open a file and yield its root; everything that is still open in it is closed with it."""
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_fclose_degree(h5py.h5f.CLOSE_STRONG)
    file = h5py.h5f.open(os.fsencode(path), h5py.h5f.ACC_RDONLY, access)
    try:
        yield h5py.h5g.open(file, b"/")
    finally:
        file.close()


def _values(name: str, item: h5py.h5d.DatasetID, limits: Limits) -> NDArray[Any]:
    """Read a dataset, unless it declares far more than is stored of it."""
    n_bytes = math.prod(map(int, item.shape)) * item.dtype.itemsize
    limits.check_growth(item.get_storage_size(), n_bytes, f"The variable '{name[:80]}'")
    allow_memory(_COPIES * n_bytes, limits)
    array = np.empty(item.shape, item.dtype)
    item.read(h5py.h5s.ALL, h5py.h5s.ALL, array)
    return array


def _datasets(root: h5py.h5g.GroupID, limits: Limits, *, matlab: bool) -> Iterator[tuple[str, h5py.h5d.DatasetID]]:
    """Walk through the file's own objects, each once, and refuse what lies elsewhere."""
    waiting: list[tuple[str, h5py.h5g.GroupID]] = [("", root)]
    met = {_address(root)}
    while waiting:
        prefix, group = waiting.pop()
        for name in group:
            where = f"{prefix}/{_text(name)}" if prefix else _text(name)
            kind = group.links.get_info(name).type
            if kind == h5py.h5l.TYPE_EXTERNAL:
                raise _points_elsewhere(where, "a link to another file")
            if kind != h5py.h5l.TYPE_HARD:
                continue
            item = h5py.h5o.open(group, name)
            if (address := _address(item)) in met:
                continue
            met.add(address)
            limits.check("objects", len(met), "The file")
            if isinstance(item, h5py.h5g.GroupID):
                limits.check("nesting", where.count("/") + 1, "The file")
                waiting.append((where, item))
            # MATLAB keeps what cells and structs point to under '#refs#', and text as numbers.
            elif isinstance(item, h5py.h5d.DatasetID) and not where.startswith("#"):
                _refuse_elsewhere(where, item)
                if not (matlab and _is_matlab_text(item)):
                    yield where, item


def _refuse_elsewhere(where: str, item: h5py.h5d.DatasetID) -> None:
    """Look at how a dataset is stored; even asking a virtual one for its shape would open the other files."""
    creation = item.get_create_plist()
    if creation.get_layout() == h5py.h5d.VIRTUAL:
        raise _points_elsewhere(where, "a virtual dataset, whose numbers lie in other files")
    if creation.get_external_count():
        raise _points_elsewhere(where, "a dataset whose numbers lie in another file")


def _points_elsewhere(where: str, what: str) -> InputError:
    return InputError(
        f"'{where[:80]}' in the file is {what}, which is never followed, for security. "
        "Save the numbers themselves into one file."
    )


def _declare(item: h5py.h5d.DatasetID, *, matlab: bool) -> Declared:
    try:
        kind, name = item.dtype.kind, str(item.dtype)
    except TypeError:  # a type that NumPy does not have
        kind, name = "O", "other"
    shape = tuple(int(n) for n in item.shape or ())
    return Declared(shape[::-1] if matlab else shape, kind, name)


def _is_matlab_text(item: h5py.h5d.DatasetID) -> bool:
    return h5py.Dataset(item).attrs.get("MATLAB_class") in (b"char", "char")


def _address(item: h5py.h5g.GroupID | h5py.h5d.DatasetID) -> int:
    return int(h5py.h5o.get_info(item).addr)


def _text(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace")


def _refuse_structs(root: h5py.h5g.GroupID) -> None:
    for name in root:
        hard = root.links.get_info(name).type == h5py.h5l.TYPE_HARD
        if hard and isinstance(h5py.h5o.open(root, name), h5py.h5g.GroupID):
            raise structure_error(_text(name), "struct")
