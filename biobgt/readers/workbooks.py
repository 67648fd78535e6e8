"""Excel workbooks to tables of words: the first sheet, whose first row is the header.

The workbook's parts are held to their limits before openpyxl sees them; it reads them in a process of its own.
"""

import datetime
import math
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any

import pandas as pd

from biobgt.base.errors import InputError
from biobgt.base.limits import ZIP_ERRORS, Limits, current_limits, open_archive
from biobgt.readers.foreign.isolate import read_isolated

_PIECE = 2**20
_OVERLAP = len(b"<!DOCTYPE") - 1  # what may be cut in two between pieces
_SHEET = re.compile(rb"[<:]sheet[\s/>]")  # no <sheetData>; the name may have a prefix
_STYLES = "xl/styles.xml"  # where openpyxl looks for them, whatever the workbook says
# What became of the workbooks that were read, tables and refusals, by path, time and size of the file.
_Kept = dict[tuple[Path, int, int], pd.DataFrame | InputError]
_KEPT: ContextVar[_Kept | None] = ContextVar("workbooks that were read", default=None)


@contextmanager
def each_workbook_once() -> Iterator[_Kept]:
    """Keep what is read until the context ends: a cohort asks for a workbook three times."""
    kept: _Kept = {}
    token = _KEPT.set(kept)
    try:
        yield kept
    finally:
        _KEPT.reset(token)


def read_workbook(path: Path) -> pd.DataFrame:
    """Read the first sheet; a column without a name is called by its number, an empty cell is NaN.

    The table may be handed out again (:func:`each_workbook_once`), so it must not be changed; tables together are kept
    up to the size of one.
    """
    kept, status = _KEPT.get(), path.stat()
    if kept is None:
        return _read_sheet(path)
    key = (path, status.st_mtime_ns, status.st_size)
    outcome = kept.get(key)
    if outcome is None:
        try:
            outcome = _read_sheet(path)
        except InputError as error:
            outcome = error
        tables = [one for one in (*kept.values(), outcome) if isinstance(one, pd.DataFrame)]
        if sum(table.size for table in tables) <= current_limits().table_cells:
            kept[key] = outcome
    if isinstance(outcome, InputError):
        raise outcome.with_traceback(None)
    return outcome


def _read_sheet(path: Path) -> pd.DataFrame:
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
    answer, _ = read_isolated("biobgt.readers.foreign.tables:read_cells", path, {}, limit="workbook_seconds")
    rows: list[list[Any]] = answer["rows"]
    if not rows:
        return pd.DataFrame()
    for row in rows:
        for i, cell in enumerate(row):
            if isinstance(cell, dict):
                row[i] = datetime.datetime.fromisoformat(cell["date"])
            elif cell is None:
                row[i] = math.nan
    n_columns = max(map(len, rows))
    limits.check("table_cells", n_columns * len(rows), f"'{path.name}'")
    padded = [row + [math.nan] * (n_columns - len(row)) for row in rows]
    names = [f"column {i}" if pd.isna(name) else str(name) for i, name in enumerate(padded[0], start=1)]
    return pd.DataFrame(padded[1:], columns=range(n_columns), dtype=object).set_axis(names, axis=1)


def _check_elements(archive: zipfile.ZipFile, name: str, limits: Limits) -> None:
    """Refuse a workbook of more elements than are read: openpyxl would take minutes over what packs into kilobytes.

    Every mark that opens an element counts, in all parts: cells, rows and shared strings. Sheets are counted because
    each is opened, also when all name the same part.
    """
    n_elements = n_sheets = 0
    for entry in archive.infolist():
        with archive.open(entry) as part:
            in_part, sheets_in_part = _count_elements(part, name)
        n_elements, n_sheets = n_elements + in_part, n_sheets + sheets_in_part
        if entry.filename == _STYLES:
            limits.check("workbook_styles", in_part, f"'{name}'")
        limits.check("workbook_elements", n_elements, f"'{name}'")
        limits.check("workbook_sheets", n_sheets, f"'{name}'")


def _count_elements(part: IO[bytes], name: str) -> tuple[int, int]:
    """Count all elements of a part, and those that are sheets.

    Excel declares no document types, whose entities would be elements that are not written out.
    """
    n_elements = n_sheets = 0
    before = b""
    while piece := part.read(_PIECE):
        seen = (before + piece).replace(b"\0", b"")  # UTF-16, too
        if b"<!DOCTYPE" in seen:
            raise InputError(f"'{name}' declares a document type, which no workbook does. Save it as CSV.")
        n_elements += seen.count(b"<") - seen.count(b"</") - before.count(b"<") + before.count(b"</")
        n_sheets += len(_SHEET.findall(seen)) - len(_SHEET.findall(before))
        before = seen[-_OVERLAP:]
    return n_elements, n_sheets
