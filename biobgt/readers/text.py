"""Text tables: ``.1D``, ``.csv``, ``.tsv``, ``.txt``, with or without a header, as labs and releases write them.

The numbers are parsed by pandas' C parser; this module finds out how the table is written (encoding, separator,
decimal mark, header, columns that are not regions) from its first lines, and where a table cannot be parsed it
looks for the line and the cell, so that the user can too.
"""

import csv
import re
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.readers.reading import Reading

# Columns that releases put beside the regions: ADHD-200 Athena's first two, row numbers, clocks.
_NOT_REGIONS = {"", "file", "sub-brick", "index", "time", "volume", "frame", "unnamed: 0"}
_MISSING = {"", "nan", "na", "n/a", "-nan", "null", "none"}
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+(?:[eE][-+]?\d+)?")
# What `biobgt demo` writes above the numbers, so that a drawn subject stays marked wherever it is read again.
SIMULATED_MARK = "# simulated:"
_BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


@dataclass(frozen=True)
class _Layout:
    """How a text table is written; ``rows`` are its lines of numbers, with their numbers in the file."""

    separator: str  # a tab, a semicolon, a comma, or a space for any white space
    decimal: str
    header: list[str] | None
    rows: list[tuple[int, str]]
    n_columns: int
    left_out: set[int]
    simulated: bool

    @property
    def regions(self) -> list[int]:
        return [i for i in range(self.n_columns) if i not in self.left_out]


def read_text(path: Path) -> Reading:
    """Read one subject's table of numbers."""
    layout = _find_layout(decode(path.read_bytes()))
    options: dict[str, str | float | bool] = {
        "separator": {"\t": "tab", " ": "space"}.get(layout.separator, layout.separator)
    }
    if layout.decimal == ",":
        options["decimal mark"] = ","
    if layout.left_out:
        options["columns left out"] = len(layout.left_out)
    names = None
    if layout.header is not None:
        names = tuple(layout.header[i].lstrip("#") for i in layout.regions)
    return Reading(values=_parse(layout), region_names=names, simulated=layout.simulated, options=options)


def decode(data: bytes) -> str:
    """Decode text by its byte-order mark, or as UTF-8, or (old spreadsheets) as Latin-1."""
    if not data.strip():
        raise InputError("The file is empty.")
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS.items() if data.startswith(mark)), None)
    if encoding is None and b"\x00" in data[:4096]:
        raise InputError("The file is not text, or it is UTF-16 without its mark. Save it as CSV in UTF-8.")
    try:
        return data.decode(encoding or "utf-8")
    except UnicodeDecodeError:
        if encoding is not None:
            raise InputError(
                "The file begins as Unicode text and is damaged further on. Save it again as UTF-8."
            ) from None
        return data.decode("latin-1")


def split_cells(line: str, separator: str) -> list[str]:
    """Split a line into cells, without quotes and surrounding space."""
    cells = line.split() if separator == " " else next(csv.reader([line], delimiter=separator))
    return [cell.strip().strip('"') for cell in cells]


def find_separator(line: str) -> tuple[str, str]:
    """Tell a line's separator and decimal mark."""
    for separator in "\t;":
        if separator in line:
            return separator, "," if "," in line and "." not in line else "."
    words = line.split()
    if len(words) > 1 and all(_DECIMAL_COMMA.fullmatch(word) for word in words):
        return " ", ","
    return ("," if "," in line else " "), "."


def _find_layout(text: str) -> _Layout:
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line and not line.isspace()]
    n_comments = next((i for i, (_, line) in enumerate(lines) if not line.lstrip().startswith("#")), len(lines))
    rows = lines[n_comments:]
    if not rows:
        raise InputError("The file has comments and no rows of numbers.")
    separator, decimal = find_separator(rows[min(1, len(rows) - 1)][1])
    first = split_cells(rows[0][1], separator)
    header: list[str] | None = None
    if _is_header(first, decimal):
        header, rows = first, rows[1:]
        if not rows:
            raise InputError("The file has a header and no rows of numbers.")
        first = split_cells(rows[0][1], separator)
        if len(header) == len(first) - 1:
            header = ["", *header]  # R writes row names without a name for their column
        if len(header) != len(first):
            raise InputError(
                f"The header has {len(header)} names and line {rows[0][0]} has {len(first)} values; "
                "there must be one name a column."
            )
    elif n_comments:
        header = _header_in_comment(lines[n_comments - 1][1], separator, n_columns=len(first))
    second = split_cells(rows[min(1, len(rows) - 1)][1], separator)
    left_out = _left_out(header, first, second, decimal)
    simulated = any(line.startswith(SIMULATED_MARK) for _, line in lines[:n_comments])
    return _Layout(separator, decimal, header, rows, len(first), left_out, simulated)


def _is_header(cells: list[str], decimal: str) -> bool:
    """Names are mostly not numbers; pandas and R also write plain column counts, 0, 1, 2, ... or 1, 2, 3, ..."""
    n_words = sum(not _is_number(cell, decimal) for cell in cells)
    if n_words > len(cells) / 2:
        return True
    counts = cells[1:] if not cells[0] else cells
    # Four numbers that count up may be data; more, or an unnamed column of row numbers before them, are not.
    return (len(counts) > 4 or counts is not cells) and counts in (
        [str(i + k) for i in range(len(counts))] for k in (0, 1)
    )


def _header_in_comment(line: str, separator: str, *, n_columns: int) -> list[str] | None:
    """ABIDE's header is ``#1 #2 ...``, numpy's is ``# name name``: comments with one word a column."""
    for candidate in (line, line.lstrip().removeprefix("#")):
        cells = split_cells(candidate.strip() if separator == " " else candidate, separator)
        if len(cells) == n_columns and (candidate != line or all(cell.startswith("#") for cell in cells)):
            return cells
    return None


def _left_out(header: list[str] | None, first: list[str], second: list[str], decimal: str) -> set[int]:
    """Columns that are not regions: by their name, row labels, and the empty one behind a trailing separator."""
    left_out = {i for i, name in enumerate(header or []) if name.lower() in _NOT_REGIONS}
    if not _is_number(first[0], decimal):
        left_out.add(0)
    if header is None and len(first) == len(second) > 1 and first[-1] == second[-1] == "":
        left_out.add(len(first) - 1)
    return left_out


def _parse(layout: _Layout) -> NDArray[np.float64]:
    if not layout.regions:
        raise InputError("The file has no column of numbers.")
    try:
        table = pd.read_csv(
            StringIO("\n".join(line for _, line in layout.rows)),
            sep=r"\s+" if layout.separator == " " else layout.separator,
            decimal=layout.decimal,
            header=None,
            usecols=layout.regions if layout.left_out else None,
            dtype=np.float64,
        )
    except (ValueError, pd.errors.ParserError):
        _explain(layout)
        raise
    values = table.to_numpy()
    if np.isnan(values).any():  # a short row is filled with NaN by pandas: tell the two apart
        _explain(layout)
    return values


def _explain(layout: _Layout) -> None:
    """Raise a sentence about the first line that does not fit, if there is one."""
    for number, line in layout.rows:
        cells = split_cells(line, layout.separator)
        if len(cells) != layout.n_columns:
            cut = " The file may have been cut off." if number == layout.rows[-1][0] else ""
            raise InputError(
                f"Line {number} has {len(cells)} values where the first has {layout.n_columns}; "
                f"every line must have as many.{cut}"
            )
        for i in layout.regions:
            if not _is_number(cells[i], layout.decimal):
                raise InputError(f"Line {number}, column {i + 1} holds '{cells[i][:40]}' where a number belongs.")


def _is_number(cell: str, decimal: str) -> bool:
    if cell.lower() in _MISSING:
        return True
    try:
        float(cell.replace(",", ".") if decimal == "," else cell)
    except ValueError:
        return False
    return True
