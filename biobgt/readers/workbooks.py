"""Excel workbooks to tables of words: the first sheet, whose first row is the header.

The workbook's parts are held to their limits before openpyxl sees them; it reads them in a process of its own.
"""

import datetime
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd

from biobgt.errors import InputError
from biobgt.limits import Limits, current_limits
from biobgt.readers.archives import ZIP_ERRORS, open_archive
from biobgt.readers.isolated import read_isolated

_PIECE = 2**20
_OVERLAP = len(b"<!DOCTYPE") - 1  # what may be cut in two between pieces


def read_workbook(path: Path) -> pd.DataFrame:
    """Read the first sheet; a column without a name is called by its number, an empty cell is NaN."""
    limits = current_limits()
    try:
        with open_archive(path, limits) as archive:
            n_bytes = sum(entry.file_size for entry in archive.infolist())
            limits.check("table_bytes", n_bytes, f"'{path.name}', once unpacked,")
            _check_elements(archive, path.name, limits)
    except InputError:
        raise
    except ZIP_ERRORS:
        raise InputError(f"'{path.name}' cannot be read as an Excel workbook; save it again, or as CSV.") from None
    cells = read_isolated("biobgt.readers.workbook_cells", path, {}, limit="workbook_seconds").answer["rows"]
    rows: list[list[Any]] = [[_value_of(cell) for cell in row] for row in cells]
    if not rows:
        return pd.DataFrame()
    n_columns = max(map(len, rows))
    limits.check("table_cells", n_columns * len(rows), f"'{path.name}'")
    padded = [row + [float("nan")] * (n_columns - len(row)) for row in rows]
    names = [f"column {i}" if pd.isna(name) else str(name) for i, name in enumerate(padded[0], start=1)]
    return pd.DataFrame(padded[1:], columns=range(n_columns), dtype=object).set_axis(names, axis=1)


def _check_elements(archive: zipfile.ZipFile, name: str, limits: Limits) -> None:
    """Refuse a workbook of more elements than are read: openpyxl would take minutes over what packs into kilobytes.

    Every mark that opens an element counts, in all parts: cells, rows and shared strings. Excel declares no document
    types, whose entities would be elements that are not written out.
    """
    n_elements = 0
    for entry in archive.infolist():
        with archive.open(entry) as part:
            before = b""
            while piece := part.read(_PIECE):
                seen = (before + piece).replace(b"\0", b"")  # UTF-16, too
                if b"<!DOCTYPE" in seen:
                    raise InputError(f"'{name}' declares a document type, which no workbook does. Save it as CSV.")
                n_elements += seen.count(b"<") - seen.count(b"</") - before.count(b"<") + before.count(b"</")
                before = seen[-_OVERLAP:]
        limits.check("workbook_elements", n_elements, f"'{name}'")


def _value_of(cell: Any) -> Any:
    if cell is None:
        return float("nan")
    return datetime.datetime.fromisoformat(cell["date"]) if isinstance(cell, dict) else cell
