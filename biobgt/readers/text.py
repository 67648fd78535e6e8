"""Text tables: ``.1D``, ``.csv``, ``.tsv``, ``.txt``, with or without a header, as labs and releases write them.

:mod:`biobgt.readers.layout` finds out how a table is written; the numbers are parsed by pandas' C parser. Where a table
cannot be parsed the line and the cell are looked for, so that the user can find them too.
"""

from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.limits import Limits, current_limits
from biobgt.readers.layout import MISSING, Header, Layout, find_layout, is_number
from biobgt.readers.reading import Reading

_BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def read_text(path: Path, *, header: Header | None = None) -> Reading:
    """Read one subject's table of numbers; ``header`` is the user's word on whether its first line is one."""
    data = path.read_bytes()
    check_lines(data, current_limits(), "The file")
    layout = find_layout(decode(data), header=header)
    del data
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
    )


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


def check_lines(data: bytes, limits: Limits, what: str) -> None:
    """Refuse text with a line longer than any table has, before it is split into cells."""
    ends = data.count(b"\n") + data.count(b"\r")
    longest = max(map(len, data.splitlines()), default=0) if ends else len(data)
    limits.check("line_characters", longest, what)


def _parse(layout: Layout) -> NDArray[np.float64]:
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
            na_values=[*MISSING, *map(str.upper, MISSING), *map(str.title, MISSING)],
        )
    except (ValueError, pd.errors.ParserError) as error:
        _explain(layout)
        raise InputError(f"The table cannot be parsed: {str(error).splitlines()[0][:150]}.") from None
    return table.to_numpy()


def _explain(layout: Layout) -> None:
    """Raise a sentence about the first cell that is no number, if there is one."""
    for number, line in layout.rows:
        cells = layout.split(line)
        for i in layout.regions:
            if not is_number(cells[i], layout.decimal):
                raise InputError(f"Line {number}, column {i + 1} holds '{cells[i][:40]}' where a number belongs.")
