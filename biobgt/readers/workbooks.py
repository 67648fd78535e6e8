"""Excel workbooks to tables of words: the first sheet, whose first row is the header.

The workbook's parts are held to their limits before openpyxl sees them; it reads them in a process of its own.
"""

import datetime
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any

import pandas as pd

from biobgt.errors import InputError
from biobgt.limits import Limits, current_limits
from biobgt.readers.archives import ZIP_ERRORS, open_archive
from biobgt.readers.isolated import read_isolated

_PIECE = 2**20
_OVERLAP = len(b"<!DOCTYPE") - 1  # what may be cut in two between pieces
_SHEET = re.compile(rb"[<:]sheet[\s/>]")  # no <sheetData>; the name may have a prefix
_STYLES = "xl/styles.xml"  # where openpyxl looks for them, whatever the workbook says


class _Kept:
    """What became of the workbooks that were read, for as long as a cohort is read."""

    def __init__(self) -> None:
        self.outcomes: dict[tuple[Path, int, int], pd.DataFrame | InputError] = {}
        self.n_cells = 0

    def read(self, path: Path) -> pd.DataFrame:
        """Read a workbook, or take what was read before; tables together are kept up to the size of one."""
        status = path.stat()
        key = (path, status.st_mtime_ns, status.st_size)
        if key in self.outcomes:
            outcome = self.outcomes[key]
        else:
            outcome = _outcome(path)
            n_cells = 0 if isinstance(outcome, InputError) else outcome.size
            if self.n_cells + n_cells <= current_limits().table_cells:
                self.outcomes[key], self.n_cells = outcome, self.n_cells + n_cells
        if isinstance(outcome, InputError):
            raise outcome.with_traceback(None)
        return outcome


_KEPT: ContextVar[_Kept | None] = ContextVar("workbooks that were read", default=None)


@contextmanager
def each_workbook_once() -> Iterator[None]:
    """Keep what is read, tables and refusals, until the context ends: a cohort asks for a workbook three times."""
    token = _KEPT.set(_Kept())
    try:
        yield
    finally:
        _KEPT.reset(token)


def read_workbook(path: Path) -> pd.DataFrame:
    """Read the first sheet; a column without a name is called by its number, an empty cell is NaN.

    The table may be handed out again (:func:`each_workbook_once`), so it must not be changed.
    """
    kept = _KEPT.get()
    return _read(path) if kept is None else kept.read(path)


def _outcome(path: Path) -> pd.DataFrame | InputError:
    try:
        return _read(path)
    except InputError as error:
        return error


def _read(path: Path) -> pd.DataFrame:
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


def _value_of(cell: Any) -> Any:
    if cell is None:
        return float("nan")
    return datetime.datetime.fromisoformat(cell["date"]) if isinstance(cell, dict) else cell
