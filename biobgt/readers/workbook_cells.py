"""The cells of an Excel workbook's first sheet, row by row, never more than a table may have.

openpyxl reads the sheet as a stream. Runs in a reading process (:mod:`biobgt.readers.isolated`).
"""

import datetime
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import openpyxl

from biobgt.errors import InputError
from biobgt.limits import Limits
from biobgt.readers.foreign import library

Row = list[Any]

_EXCEL_ROWS = 1_048_576  # the last row that a sheet of Excel's has
_WHAT = "The workbook's first sheet"


def read(path: Path, options: Mapping[str, Any], limits: Limits) -> tuple[dict[str, list[Row]], None]:
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
