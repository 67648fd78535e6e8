"""Text tables: ``.1D``, ``.csv``, ``.tsv``, ``.txt``, with or without a header, as labs and releases write them.

:mod:`biobgt.readers.layout` finds out how a table is written; the numbers are parsed by pandas' C parser. Where a table
cannot be parsed the line and the cell are looked for, so that the user can find them too.
"""

import hashlib
import math
from io import StringIO
from itertools import chain
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.limits import Limits, current_limits
from biobgt.readers.layout import MISSING, Header, Layout, find_layout, is_number
from biobgt.readers.reading import Reading

_NOT_NUMBERS = [*MISSING, *map(str.upper, MISSING), *map(str.title, MISSING)]
_BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}

_LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"  # all marks at which str.splitlines cuts


def read_text(file: BinaryIO, *, header: Header | None = None) -> Reading:
    """Read one subject's table of numbers; ``header`` is the user's word on whether its first line is one."""
    data = file.read()
    digest = hashlib.sha256(data).hexdigest()
    check_lines(data, current_limits(), "The file")
    text = decode(data)
    del data
    check_line_count(text, "timepoints", current_limits(), "The file")
    layout = find_layout(text, header=header)
    del text
    values = _parse(layout)
    options: dict[str, str | float | bool] = {
        "separator": {"\t": "tab", " ": "space"}.get(layout.separator, layout.separator),
        "header": "yes" if layout.header is not None else "no",
    }
    if layout.decimal == ",":
        options["decimal mark"] = ","
    if layout.left_out:
        options["columns left out"] = ", ".join(layout.names_left_out)
    return Reading(
        values=values,
        region_names=layout.region_names,
        row_names=layout.row_names,
        simulated=layout.simulated,
        options=options,
        sha256=digest,
    )


def decode(data: bytes) -> str:
    """Decode text by its byte-order mark, or as UTF-8, or (old spreadsheets) as Latin-1."""
    if not data or data.isspace():
        raise InputError("The file is empty.")
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS.items() if data.startswith(mark)), None)
    if encoding is None and b"\x00" in data[:4096]:
        raise InputError("The file is not text, or it is UTF-16 without a byte-order mark. Save it as CSV in UTF-8.")
    try:
        return data.decode(encoding or "utf-8")
    except UnicodeDecodeError:
        if encoding is not None:
            raise InputError(
                "The file begins as Unicode text and is damaged further on. Save it again as UTF-8."
            ) from None
        return data.decode("latin-1")


def check_lines(data: bytes, limits: Limits, what: str) -> None:
    """Refuse text with a line longer than any table has, before it is split into cells.

    It goes from line end to line end in the largest steps allowed, so that no list of lines is made.

    Parameters
    ----------
    data : bytes
    limits : Limits
    what : str
        The subject of a refusal's sentence.
    """
    longest, start = limits.line_characters, 0
    while len(data) - start > longest:
        end = max(data.rfind(mark, start, start + longest + 1) for mark in (b"\n", b"\r"))
        if end < 0:
            ends = [at for mark in (b"\n", b"\r") if (at := data.find(mark, start)) >= 0]
            limits.check("line_characters", min(ends, default=len(data)) - start, what)
        start = end + 1


def check_line_count(text: str, limit: str, limits: Limits, what: str) -> None:
    """Refuse text of far more lines than a table may have rows, before a list of them is made.

    Parameters
    ----------
    text : str
    limit : str
        The field of :class:`~biobgt.limits.Limits` that says how many rows are read.
    limits : Limits
    what : str
        The subject of a refusal's sentence.
    """
    limits.check_lines(limit, sum(map(text.count, _LINE_ENDS)) - text.count("\r\n"), what)


def _parse(layout: Layout) -> NDArray[np.float64]:
    if not layout.regions:
        raise InputError("The file has no column of numbers.")
    lines = [line for _, line in layout.rows]
    try:
        if layout.left_out or any('"' in line for line in lines):
            return _parse_columns(lines, layout)
        return _parse_cells(lines, layout)
    except (ValueError, pd.errors.ParserError):
        return np.array([_parse_line(number, line, layout) for number, line in layout.rows])


def _parse_cells(lines: list[str], layout: Layout) -> NDArray[np.float64]:
    """Parse all cells as one long column: making a column for every region takes pandas as long as the numbers do."""
    if layout.separator == " ":
        column = "\n".join(chain.from_iterable(map(str.split, lines)))
    else:
        column = "\n".join(lines).replace(layout.separator, "\n")
    separator = "\t" if layout.separator == " " else layout.separator  # of which none is left
    table = _read_csv(column + "\n", separator, layout.decimal, names=[0], skip_blank_lines=False)
    return table[0].to_numpy().reshape(len(lines), layout.n_columns)


def _parse_columns(lines: list[str], layout: Layout) -> NDArray[np.float64]:
    """Parse the columns that are not left out; pandas knows about quotes."""
    separator = r"\s+" if layout.separator == " " else layout.separator
    return _read_csv("\n".join(lines), separator, layout.decimal, usecols=layout.regions).to_numpy()


def _read_csv(text: str, separator: str, decimal: str, **options: Any) -> pd.DataFrame:
    return pd.read_csv(
        StringIO(text),
        sep=separator,
        decimal=decimal,
        header=None,
        dtype=np.float64,
        low_memory=False,  # else every column is parsed in pieces and joined
        na_values=_NOT_NUMBERS,
        **options,
    )


def _parse_line(number: int, line: str, layout: Layout) -> list[float]:
    """Parse cell by cell what pandas cannot, such as 'nan' before a space, and name the cell that is no number."""
    cells = layout.split(line)
    for i in layout.regions:
        if not is_number(cells[i], layout.decimal):
            raise InputError(
                f"Line {number}, column {i + 1} holds '{cells[i][:40]}' where a number belongs. Correct it, or write "
                "NaN where a value is missing."
            )
    wanted = [cells[i].replace(layout.decimal, ".") for i in layout.regions]
    return [math.nan if cell.lower() in MISSING else float(cell) for cell in wanted]
