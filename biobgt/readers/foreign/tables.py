"""HDF5, MATLAB and Excel files, read in a process of its own."""

import datetime
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import openpyxl
import scipy.io
import scipy.sparse
from numpy.typing import NDArray

from biobgt.base.errors import InputError
from biobgt.base.limits import Limits, allow_memory, library
from biobgt.readers.arrays import Declared, choose_variable, name_of_labels

# HDF5 files, and MATLAB's 7.3, which are HDF5: the numeric datasets that a file holds itself.
#
# HDF5 can keep a dataset's numbers in any other file (external storage, virtual datasets, external links). Such a file
# would read whatever the server may read, so it is refused. Soft links stay within the file and only name again what
# is found under its own name: they are not followed. h5py's low-level interface opens exactly what is asked for, in a
# third of the time. Runs in a reading process (:mod:`biobgt.readers.foreign.isolate`).


_HDF5_COPIES = 3  # HDF5's buffers, the array, and the array turned round


def read_hdf5(path: Path, options: Mapping[str, Any], limits: Limits) -> tuple[dict[str, Any], NDArray[Any]]:
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
        if matlab and not numeric and variable is None:
            for entry in root:
                hard = root.links.get_info(entry).type == h5py.h5l.TYPE_HARD
                if hard and isinstance(h5py.h5o.open(root, entry), h5py.h5g.GroupID):
                    raise _structure_error(_text(entry), "struct")
        name = choose_variable(numeric if variable is None else declared, variable, limits)
        item = datasets[name]
        n_bytes = math.prod(map(int, item.shape)) * item.dtype.itemsize
        # What declares far more than is stored of it is not read.
        limits.check_growth(item.get_storage_size(), n_bytes, f"The variable '{name[:80]}'")
        allow_memory(_HDF5_COPIES * n_bytes, limits)
        array = np.empty(item.shape, item.dtype)
        item.read(h5py.h5s.ALL, h5py.h5s.ALL, array)
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
                creation = item.get_create_plist()  # even asking a virtual one for its shape would open other files
                if creation.get_layout() == h5py.h5d.VIRTUAL:
                    raise _points_elsewhere(where, "a virtual dataset, whose numbers lie in other files")
                if creation.get_external_count():
                    raise _points_elsewhere(where, "a dataset whose numbers lie in another file")
                if not (matlab and h5py.Dataset(item).attrs.get("MATLAB_class") in (b"char", "char")):
                    yield where, item


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


def _address(item: h5py.h5g.GroupID | h5py.h5d.DatasetID) -> int:
    return int(h5py.h5o.get_info(item).addr)


def _text(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace")


def _structure_error(name: str, kind: str) -> InputError:
    """Say that a MATLAB struct or cell is no table."""
    return InputError(
        f"The variable '{name[:80]}' is a MATLAB {kind}, which has no single table of numbers in it. "
        "Save the matrix itself, for example: x = s.connectivity; save('subject.mat', 'x')."
    )


# MATLAB files of version 5 (and 4), read by SciPy.
#
# Only the variable that holds the data is read. Runs in a reading process (:mod:`biobgt.readers.foreign.isolate`):
# SciPy's reader crashes on damaged headers and on cells within cells within cells.


_STRUCTURES = frozenset({"struct", "cell", "object", "function", "opaque"})
_KINDS = {"double": "f", "single": "f", "sparse": "f", "logical": "u", "char": "U"}
_KINDS |= {f"int{bits}": "i" for bits in (8, 16, 32, 64)} | {f"uint{bits}": "u" for bits in (8, 16, 32, 64)}
_UNPACKED, _WRITTEN_OUT = "Save it without compression", "Save it as a full matrix (in MATLAB: full), uncompressed"
_MATLAB_COPIES = 3  # the bytes as packed, as unpacked, and the array


def read_matlab(path: Path, options: Mapping[str, Any], limits: Limits) -> tuple[dict[str, Any], NDArray[Any]]:
    """Read the one variable that holds the data.

    Parameters
    ----------
    path : Path
    options : mapping
        ``variable``: the user's word on which one, or None.
    limits : Limits

    Returns
    -------
    dict
        ``variable``: its name.
    ndarray
    """
    with library("MATLAB data", ". Save it again with -v7."), path.open("rb") as file:
        classes = {name: (shape, kind) for name, shape, kind in scipy.io.whosmat(file)}
        limits.check("objects", len(classes), "The file")
        wanted = {name: kind for name, (_, kind) in classes.items() if options["variable"] in (None, name)}
        if wanted and all(kind in _STRUCTURES for kind in wanted.values()):
            raise _structure_error(*next(iter(wanted.items())))
        declared = {
            name: Declared(tuple(int(n) for n in shape), _KINDS.get(kind, "O"), kind)
            for name, (shape, kind) in classes.items()
        }
        name = choose_variable(declared, options["variable"], limits)
        labels = name_of_labels(declared, name)
        n_bytes = 8 * math.prod(declared[name].shape)
        advice = _WRITTEN_OUT if declared[name].type_name == "sparse" else _UNPACKED
        limits.check_growth(path.stat().st_size, n_bytes, f"The variable '{name[:80]}'", advice=advice)
        allow_memory(_MATLAB_COPIES * n_bytes, limits)
        file.seek(0)
        array = _dense(scipy.io.loadmat(file, mat_dtype=False, variable_names=[name])[name], name)
        found = Declared(array.shape, array.dtype.kind, str(array.dtype))
        answer: dict[str, Any] = {"variable": choose_variable({name: found}, name, limits)}
        if labels is not None and math.prod(declared[labels].shape) <= limits.regions * limits.region_characters:
            file.seek(0)
            written = scipy.io.loadmat(file, variable_names=[labels])[labels]
            if written.dtype.kind == "U":
                answer["names"] = [str(one).strip() for one in written.ravel()]
    return answer, array


def _dense(value: Any, name: str) -> NDArray[Any]:
    """Write a sparse matrix out, once its indices are known to lie within it."""
    if not scipy.sparse.issparse(value):
        return np.asarray(value)
    try:
        value.check_format(full_check=True)
    except (ValueError, IndexError) as error:
        raise InputError(f"The sparse matrix '{name[:80]}' is damaged ({str(error)[:80]}). Save it again.") from None
    return np.asarray(value.toarray())


# The cells of an Excel workbook's first sheet, row by row, never more than a table may have.
#
# openpyxl reads the sheet as a stream. Runs in a reading process (:mod:`biobgt.readers.foreign.isolate`).


Row = list[Any]

_EXCEL_ROWS = 1_048_576  # the last row that a sheet of Excel's has
_WHAT = "The workbook's first sheet"


def read_cells(path: Path, options: Mapping[str, Any], limits: Limits) -> tuple[dict[str, list[Row]], None]:
    """Read the rows that hold anything.

    Parameters
    ----------
    path : Path
    options : mapping
        No option applies to a workbook.
    limits : Limits

    Returns
    -------
    dict
        ``rows``: lists of text, numbers, truth values, None, and dates as ``{"date": "2026-01-31T00:00:00"}``.
    """
    with library("an Excel workbook", "; save it again, or as CSV."), path.open("rb") as file:
        workbook = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
        sheet = workbook.worksheets[0]
        sheet.reset_dimensions()  # the sheet's own word on its size may be anything
        rows = _rows_within(sheet.iter_rows(values_only=True), limits)
    return {"rows": rows}, None


def _rows_within(sheet_rows: Iterable[tuple[Any, ...]], limits: Limits) -> list[Row]:
    """Keep the rows that hold anything; every cell counts, also those that openpyxl fills in before a far one."""
    rows: list[Row] = []
    n_cells = n_characters = 0
    for number, row in enumerate(sheet_rows, start=1):
        if number > _EXCEL_ROWS:
            raise InputError(
                f"{_WHAT} has rows beyond {_EXCEL_ROWS:,}, the last one of Excel. Save it again, or as CSV."
            )
        n_cells += len(row)
        limits.check("table_cells", n_cells, _WHAT)
        cells = [_plain(value) for value in row]
        while cells and cells[-1] is None:
            cells.pop()
        if not cells:
            continue
        n_characters += sum(len(cell) for cell in cells if isinstance(cell, str))
        limits.check("table_columns", len(cells), _WHAT)
        limits.check("table_bytes", n_characters, _WHAT)
        rows.append(cells)
        limits.check("table_rows", len(rows) - 1, _WHAT)
    return rows


def _plain(value: Any) -> Any:
    """Write a cell as JSON can hold it; a whole number that the sheet keeps as 3.0 is 3."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if value is None or isinstance(value, bool | int | float | str):
        return None if value == "" else value
    if isinstance(value, datetime.datetime | datetime.date):
        return {"date": value.isoformat()}
    return str(value)
