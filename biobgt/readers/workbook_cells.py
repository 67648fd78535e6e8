"""The cells of an Excel workbook's first sheet, row by row, never more than a table may have.

openpyxl reads the sheet as a stream. Runs in a reading process (:mod:`biobgt.readers.isolated`).
"""

import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import openpyxl

from biobgt.limits import Limits
from biobgt.readers.foreign import library

Row = list[Any]


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
        rows: list[Row] = []
        n_cells = n_characters = 0
        for row in sheet.iter_rows(values_only=True):
            cells = [_plain(value) for value in row]
            while cells and cells[-1] is None:
                cells.pop()
            if not cells:
                continue
            n_cells += len(cells)
            n_characters += sum(len(cell) for cell in cells if isinstance(cell, str))
            limits.check("table_columns", len(cells), "The workbook's first sheet")
            limits.check("table_cells", n_cells, "The workbook's first sheet")
            limits.check("table_bytes", n_characters, "The workbook's first sheet")
            rows.append(cells)
            limits.check("table_rows", len(rows) - 1, "The workbook's first sheet")
    return {"rows": rows}, None


def _plain(value: Any) -> Any:
    """Write a cell as JSON can hold it; a whole number that the sheet keeps as 3.0 is 3."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if value is None or isinstance(value, bool | int | float | str):
        return None if value == "" else value
    if isinstance(value, datetime.datetime | datetime.date):
        return {"date": value.isoformat()}
    return str(value)
