"""Tables of text (``.1D``, ``.csv``, ``.tsv``, ``.txt``), as labs and releases write them.

Of a table of numbers all lines are looked at before anything is decided: every one must have as many cells. A header is
told from data by its words, or by numbers that count while the data do not; where both fit the user is asked. The
numbers are parsed by pandas' C parser; where it cannot, the line and the cell are looked for, so that the user can find
them too. Tables of words, such as phenotypes, have a header, and are read cell by cell.
"""

import csv
import hashlib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
import pandas as pd

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import ChoiceNeeded, InputError
from biobgt.base.limits import Limits, current_limits
from biobgt.readers.measurement import Reading

Header = Literal["yes", "no"]
_NumberedLine = tuple[int, str]

# What `biobgt demo` writes above the numbers, so that a drawn subject stays marked wherever it is read again.
SIMULATED_MARK = "# simulated:"
_MISSING = ("", "nan", "na", "n/a", "-nan", "null", "none")
NOT_NUMBERS = [*_MISSING, *map(str.upper, _MISSING), *map(str.title, _MISSING)]
UNKNOWN = frozenset({"", "n/a", "na", "nan", "none", "nat", "<na>", "-9999", "-999", "-9999.0"})
# Columns that releases and programs put beside the regions: ADHD-200 Athena's first two, row numbers, clocks.
ROW_NUMBERS = frozenset({"", "index", "unnamed: 0", "row"})
_NOT_REGIONS = ROW_NUMBERS | {
    *(
        "file",
        "sub-brick",
        "time",
        "time (s)",
        "t",
        "tr",
        "volume",
        "vol",
        "frame",
        "scan",
        "timepoint",
        "time point",
        "timepoints",
    )
}
# Names that only count columns, or that count time: they do not say that the columns are regions.
_COUNTING_NAME = re.compile(
    r"(?:v|x|t|tr|time|timepoint|vol|volume|frame|scan|column|col)?[ _.\-]?\d+(?:\.0*)?", re.IGNORECASE
)
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+(?:[eE][-+]?\d+)?")
# Digits are matched in one way only: a long word that begins as a number takes no longer than its length.
_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?inf(?:inity)?", re.IGNORECASE)
_SHORTEST_PROGRESSION = 5
_LOOKED_AT = 20  # lines, the last ones, from which the separator is told
_BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"  # all marks at which str.splitlines cuts

# Text, lines and cells.


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


def checked_text(data: bytes, rows: str) -> str:
    """Decode a table, unless it has a longer line than any table has, or far more lines than ``rows`` are read."""
    limits = current_limits()
    _check_lines(data, limits)
    text = decode(data)
    limits.check_lines(rows, sum(map(text.count, _LINE_ENDS)) - text.count("\r\n"), "The file")
    return text


def _check_lines(data: bytes, limits: Limits) -> None:
    """Refuse text with a line longer than any table has, before it is split into cells.

    It goes from line end to line end in the largest steps allowed, so that no list of lines is made.
    """
    longest, start = limits.line_characters, 0
    while len(data) - start > longest:
        end = max(data.rfind(mark, start, start + longest + 1) for mark in (b"\n", b"\r"))
        if end < 0:
            ends = [at for mark in (b"\n", b"\r") if (at := data.find(mark, start)) >= 0]
            limits.check("line_characters", min(ends, default=len(data)) - start, "The file")
        start = end + 1


def split_cells(line: str, separator: str) -> list[str]:
    """Split a line into cells, without quotes and surrounding space."""
    if separator == " ":
        return [cell.strip('"') for cell in line.split()]
    try:
        cells = next(csv.reader([line], delimiter=separator)) if '"' in line else line.split(separator)
    except csv.Error as error:
        raise InputError(f"The table's quotes do not match up ({error}).") from None
    return [cell.strip().strip('"') for cell in cells]


def find_separator(lines: list[str]) -> tuple[str, str]:
    """Tell the separator and the decimal mark from lines; what stands in quotes does not count."""
    bare = [re.sub(r'"[^"]*"', '""', line.strip()) for line in lines]
    for separator in "\t;":
        if all(separator in line for line in bare):
            if not any("," in line for line in bare):
                return separator, "."
            cells = [cell.strip() for line in bare for cell in line.split(separator)]
            comma = any(_DECIMAL_COMMA.fullmatch(cell) for cell in cells) and not any(
                re.fullmatch(r"[-+]?\d*\.\d+", cell) for cell in cells
            )
            return separator, "," if comma else "."
    words = [word for line in bare for word in line.split()]
    spaced = all(len(line.split()) > 1 for line in bare)
    if spaced and all(_DECIMAL_COMMA.fullmatch(word) or re.fullmatch(r"[-+]?\d+", word) for word in words):
        return " ", "," if any("," in word for word in words) else "."
    return ("," if any("," in line for line in bare) else " "), "."


def is_number(cell: str, decimal: str) -> bool:
    """Tell a number, or a way of saying that there is none, from words."""
    if cell.lower() in _MISSING:
        return True
    return bool(_NUMBER.fullmatch(cell.replace(",", ".") if decimal == "," else cell))


# Tables of numbers.


@dataclass(frozen=True)
class _Layout:
    """How a text table is written; ``rows`` are its lines of numbers, with their numbers in the file."""

    separator: str  # a tab, a semicolon, a comma, or a space for any white space
    decimal: str
    header: list[str] | None
    rows: list[_NumberedLine]
    n_columns: int
    left_out: frozenset[int]
    row_names: tuple[str, ...] | None
    simulated: bool

    @property
    def regions(self) -> list[int]:
        """The columns that hold numbers of regions (or of time points)."""
        return [i for i in range(self.n_columns) if i not in self.left_out]

    @property
    def region_names(self) -> tuple[str, ...] | None:
        """The header's names, unless they only count."""
        if self.header is None:
            return None
        names = [self.header[i] for i in self.regions]
        if all(_COUNTING_NAME.fullmatch(name) for name in names):
            return None
        return tuple(name.lstrip("#").strip() for name in names)


def _cut_lines(text: str) -> tuple[list[_NumberedLine], list[_NumberedLine]]:
    """Cut text into comments above a table, and its lines; blank ones are left out."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line and not line.isspace()]
    if lines and re.fullmatch(r"sep=.", lines[0][1].strip(), re.IGNORECASE):
        lines = lines[1:]  # Excel's note to itself
    n_comments = next((i for i, (_, line) in enumerate(lines) if not line.lstrip().startswith("#")), len(lines))
    return lines[:n_comments], lines[n_comments:]


def _find_layout(text: str, *, header: Header | None = None) -> _Layout:
    """Find out how a table is written, or say which line does not fit."""
    comments, rows = _cut_lines(text)
    if not rows:
        raise InputError("The file has comments and no rows of numbers.")
    limits = current_limits()
    for _, line in (rows[0], *rows[-_LOOKED_AT:]):  # before any cell is looked at
        widest = max(len(line.split()), *(line.count(mark) for mark in "\t;,"))
        limits.check("timepoints", widest - 1, "The table")  # but for row names, one axis is time
    limits.check("timepoints", len(rows) - 1, "The table")
    separator, decimal = find_separator([line for _, line in rows[-_LOOKED_AT:]])
    names = None
    if header == "yes" or (header is None and _is_header(rows, separator, decimal)):
        names, rows = split_cells(rows[0][1], separator), rows[1:]
    elif comments:
        names = _header_in_comment(comments[-1][1], separator, n_columns=_count_cells(rows[0][1], separator))
    if not rows:
        raise InputError("The file has a header and no rows of numbers.")
    n_columns = _check_counts(rows, separator)
    trailing = separator != " " and n_columns > 1 and all(line.rstrip(" ").endswith(separator) for _, line in rows)
    names = _fit_header(names, n_columns, trailing=trailing, line=rows[0][0])
    left_out, row_names = _columns_left_out(names, rows, separator, decimal)
    if trailing and (names is None or names[-1] == ""):
        left_out.add(n_columns - 1)
    limits.check_table((len(rows), n_columns - len(left_out)), "The table")
    simulated = any(line.startswith(SIMULATED_MARK) for _, line in comments)
    return _Layout(separator, decimal, names, rows, n_columns, frozenset(left_out), row_names, simulated)


def _is_header(rows: list[_NumberedLine], separator: str, decimal: str) -> bool:
    """Words are a header. Numbers are one when they count up and the data below do not."""
    first = split_cells(rows[0][1], separator)
    named = [cell for cell in first if cell]
    n_words = sum(not is_number(cell, decimal) for cell in named)
    if not named or n_words > len(named) / 2:
        return True
    if n_words and not is_number(first[0], decimal):
        named = named[1:]  # a word over the row names, numbers over the rest
    # Column counts, or an atlas's codes: whole numbers from 0 upwards, each larger than the one before.
    counts = len(named) > 2 and all(re.fullmatch(r"\d+(?:\.0*)?", cell) for cell in named)
    if len(rows) < 2 or not counts or not all(after > before for before, after in pairwise(map(float, named))):
        return False
    below = [cell for _, line in rows[1:4] for cell in split_cells(line, separator)[len(first) - len(named) :]]
    numbers = [cell for cell in below if cell.lower() not in _MISSING]
    if not all(is_number(cell, decimal) and float(cell.replace(",", ".")).is_integer() for cell in numbers):
        return True
    raise ChoiceNeeded(
        "The first line counts up in whole numbers, and the lines below are whole numbers too: "
        "it may be a header, or data.",
        option="header",
        choices=("yes", "no"),
    )


def _header_in_comment(line: str, separator: str, *, n_columns: int) -> list[str] | None:
    """ABIDE's header is ``#1 #2 ...``, numpy's is ``# name name``: comments with one word per column."""
    cells = split_cells(line, separator)
    if len(cells) == n_columns and all(cell.startswith("#") for cell in cells):
        return cells
    cells = split_cells(line.lstrip().removeprefix("#").strip(), separator)
    return cells if len(cells) == n_columns else None


def _fit_header(names: list[str] | None, n_columns: int, *, trailing: bool, line: int) -> list[str] | None:
    if names is None:
        return None
    if len(names) == n_columns - 1:
        # Either the rows end in a separator that the header does not have, or R left the row names' column unnamed.
        return [*names, ""] if trailing else ["", *names]
    if len(names) != n_columns:
        raise InputError(
            f"The header has {len(names)} names and line {line} has {n_columns} values; "
            "there must be one name per column."
        )
    return names


def _check_counts(rows: list[_NumberedLine], separator: str) -> int:
    """Return the number of cells that every line has."""
    n_columns = _count_cells(rows[0][1], separator)
    for number, line in rows:
        count = _count_cells(line, separator)
        if count != n_columns:
            cut = " The file may have been cut off." if number == rows[-1][0] else ""
            raise InputError(
                f"Line {number} has {count} values where line {rows[0][0]} has {n_columns}; "
                f"every line must have as many.{cut}"
            )
    return n_columns


def _count_cells(line: str, separator: str) -> int:
    if separator == " ":
        return len(line.split())
    return len(split_cells(line, separator)) if '"' in line else line.count(separator) + 1


def _columns_left_out(
    names: list[str] | None, rows: list[_NumberedLine], separator: str, decimal: str
) -> tuple[set[int], tuple[str, ...] | None]:
    """Find the columns that are not regions: by their name, row labels, and row numbers or a clock in front.

    Returns
    -------
    set of int
    tuple of str or None
        The row labels, where they are words.
    """
    left_out = {i for i, name in enumerate(names or []) if name.lower() in _NOT_REGIONS}
    maximum = 1 if separator != " " else None
    first = [(line.split(separator, 1) if maximum else line.split(None, 1))[0].strip().strip('"') for _, line in rows]
    if '"' in rows[0][1] and separator != " ":
        first = [split_cells(line, separator)[0] for _, line in rows]
    if not any(is_number(cell, decimal) for cell in first):
        return left_out | {0}, tuple(first)
    if len(first) >= _SHORTEST_PROGRESSION and all(
        is_number(cell, decimal) and cell.lower() not in _MISSING for cell in first
    ):
        numbers = [float(cell.replace(",", ".") if decimal == "," else cell) for cell in first]
        step = numbers[1] - numbers[0]  # equal steps upwards, which no measured signal makes, are row numbers or times
        if step > 0 and all(abs(after - before - step) <= 1e-6 * step for before, after in pairwise(numbers)):
            left_out.add(0)
    return left_out, None


def read_text(file: BinaryIO, *, header: Header | None = None) -> Reading:
    """Read one subject's table of numbers; ``header`` is the user's word on whether its first line is one."""
    data = file.read()
    digest = hashlib.sha256(data).hexdigest()
    text = checked_text(data, "timepoints")
    del data
    layout = _find_layout(text, header=header)
    del text
    values = _parse(layout)
    options: dict[str, str | float | bool] = {
        "separator": {"\t": "tab", " ": "space"}.get(layout.separator, layout.separator),
        "header": "yes" if layout.header is not None else "no",
    }
    if layout.decimal == ",":
        options["decimal mark"] = ","
    if layout.left_out:
        names = layout.header or [""] * layout.n_columns
        options["columns left out"] = ", ".join(names[i] or f"column {i + 1}" for i in sorted(layout.left_out))
    return Reading(
        values=values,
        region_names=layout.region_names,
        row_names=layout.row_names,
        simulated=layout.simulated,
        options=options,
        sha256=digest,
    )


def _parse(layout: _Layout) -> FloatArray:
    if not layout.regions:
        raise InputError("The file has no column of numbers.")
    lines = [line for _, line in layout.rows]
    try:
        if not layout.left_out and not any('"' in line for line in lines):
            return _parse_cells(lines, layout)
        separator = r"\s+" if layout.separator == " " else layout.separator  # pandas knows about quotes
        return _read_csv("\n".join(lines), separator, layout.decimal, usecols=layout.regions).to_numpy()
    except (ValueError, pd.errors.ParserError):
        return np.array([_parse_line(number, line, layout) for number, line in layout.rows])


def _parse_cells(lines: list[str], layout: _Layout) -> FloatArray:
    """Parse all cells as one long column: making a column for every region takes pandas as long as the numbers do."""
    if layout.separator == " ":
        column = "\n".join(chain.from_iterable(map(str.split, lines)))
    else:
        column = "\n".join(lines).replace(layout.separator, "\n")
    separator = "\t" if layout.separator == " " else layout.separator  # of which none is left
    table = _read_csv(column + "\n", separator, layout.decimal, names=[0], skip_blank_lines=False)
    return table[0].to_numpy().reshape(len(lines), layout.n_columns)


def _read_csv(text: str, separator: str, decimal: str, **options: Any) -> pd.DataFrame:
    return pd.read_csv(
        StringIO(text),
        sep=separator,
        decimal=decimal,
        header=None,
        dtype=np.float64,
        low_memory=False,  # else every column is parsed in pieces and joined
        na_values=NOT_NUMBERS,
        **options,
    )


def _parse_line(number: int, line: str, layout: _Layout) -> list[float]:
    """Parse cell by cell what pandas cannot, such as 'nan' before a space, and name the cell that is no number."""
    return _parse_words(number, split_cells(line, layout.separator), layout.regions, layout.decimal)


def _parse_words(number: int, cells: list[str], columns: Sequence[int], decimal: str) -> list[float]:
    for i in columns:
        if not is_number(cells[i], decimal):
            raise InputError(
                f"Line {number}, column {i + 1} holds '{cells[i][:40]}' where a number belongs. Correct it, or write "
                "NaN where a value is missing."
            )
    wanted = [cells[i].replace(decimal, ".") for i in columns]
    return [math.nan if cell.lower() in _MISSING else float(cell) for cell in wanted]


# Tables of people or connections: numbers in some columns, words in others.


@dataclass(frozen=True)
class LinesOfCells:
    """A table whose lines are cut into cells one by one, so that they are never all there at once.

    Attributes
    ----------
    names : list of str or None
        Of the columns, where there is a header.
    rows : list of (int, str)
        Lines below it, with their numbers in the file.
    n_columns : int
    separator, decimal : str
    """

    names: list[str] | None
    rows: list[_NumberedLine]
    n_columns: int
    separator: str
    decimal: str

    def cells(self, row: int) -> list[str]:
        """The cells of a row, counted from 0."""
        return split_cells(self.rows[row][1], self.separator)

    def numbers(self, columns: Sequence[int]) -> FloatArray:
        """Some columns as numbers, shape (n_rows, n_columns); NaN where there is none."""
        current_limits().check_array((len(self.rows), len(columns)), "The table")
        values = np.empty((len(self.rows), len(columns)))
        for i, (number, _) in enumerate(self.rows):
            cells = self.cells(i)
            wanted = [cells[column] for column in columns]
            try:
                if "_" in "".join(wanted):  # which Python allows in numbers
                    raise ValueError
                values[i] = np.fromiter(map(float, wanted), np.float64, len(wanted))
            except ValueError:
                values[i] = _parse_words(number, cells, columns, self.decimal)
        return values


def begins_with(file: BinaryIO, n_lines: int) -> list[str]:
    """The first lines of a table below its comments; none where it is no text. The file is at its beginning again."""
    longest = current_limits().line_characters
    lines: list[str] = []
    while len(lines) < n_lines and (line := file.readline(longest)):
        try:
            text = decode(line).strip("\r\n") if not line.isspace() else ""
        except InputError:
            lines = []
            break
        if text and not text.lstrip().startswith("#") and not re.fullmatch(r"sep=.", text.strip(), re.IGNORECASE):
            lines.append(text)
    file.seek(0)
    return lines


def lines_of_cells(file: BinaryIO, *, header: Header | None = None) -> LinesOfCells:
    """Read a table in which every line must have as many cells; ``header`` is the word on whether the first is one."""
    _, rows = _cut_lines(checked_text(file.read(), "timepoints"))
    if not rows:
        raise InputError("The file has comments and no rows of numbers.")
    separator, decimal = find_separator([line for _, line in rows[-_LOOKED_AT:]])
    names = None
    if header == "yes" or (header is None and _is_header(rows, separator, decimal)):
        names, rows = split_cells(rows[0][1], separator), rows[1:]
    if not rows:
        raise InputError("The file has a header and no rows of numbers.")
    n_columns = _check_counts(rows, separator)
    trailing = separator != " " and all(line.rstrip(" ").endswith(separator) for _, line in rows)
    return LinesOfCells(
        _fit_header(names, n_columns, trailing=trailing, line=rows[0][0]), rows, n_columns, separator, decimal
    )


# Tables of words.


def is_known(value: object) -> bool:
    """Tell a value from the ways in which tables say that there is none."""
    return str(value).strip().lower() not in UNKNOWN


def read_words(source: Path | bytes, what: str) -> str:
    """Read the text of a table with a header, from a file or its bytes, unless it is larger than such a table may be.

    ``what`` is the subject of a refusal's sentence.
    """
    n_bytes = len(source) if isinstance(source, bytes) else source.stat().st_size
    current_limits().check("table_bytes", n_bytes, what)
    try:
        return checked_text(source if isinstance(source, bytes) else source.read_bytes(), "table_rows")
    except InputError as error:
        raise InputError(f"{what} cannot be read. {error}") from None


def read_table_of_words(text: str, what: str) -> pd.DataFrame:
    """Read a text table with a header, cell by cell, so that no column can shift; numbers become numbers.

    Columns whose every value is a number are numeric, but for ids with leading zeros, which stay text.
    """
    limits = current_limits()
    lines = [line for line in text.removeprefix("\ufeff").splitlines() if line.strip()]
    if not lines or not lines[0].strip(' \t;,"'):
        raise InputError(f"{what} cannot be read: it has no header, a first line that names its columns.")
    separator, _ = find_separator(lines[:1])
    n_columns = lines[0].count(separator) + 1
    limits.check("table_rows", len(lines) - 1, what)
    limits.check("table_columns", n_columns, what)
    limits.check("table_cells", n_columns * len(lines), what)
    rows, n_cells = [], 0
    for line in lines:  # a row may have more cells than the header
        rows.append(split_cells(line, separator))
        n_cells += len(rows[-1])
        limits.check("table_cells", n_cells, what)
    header, *body = rows
    for number, row in enumerate(body, start=2):
        while len(row) > len(header) and row[-1] == "":
            row.pop()  # a separator at the end of the line
        if len(row) > len(header):
            raise InputError(f"{what} cannot be read: row {number} has {len(row)} cells and the header {len(header)}.")
        row += [""] * (len(header) - len(row))
    return table_of_cells(header, body)


def table_of_cells(names: Sequence[str], rows: list[list[str]]) -> pd.DataFrame:
    """A table of cells as they were written; columns whose every value is a number become numeric.

    Parameters
    ----------
    names : sequence of str
        Of the columns.
    rows : list of list of str
    """
    limits = current_limits()
    limits.check("table_cells", len(names) * len(rows), "The table")
    table = pd.DataFrame(rows, columns=list(names), dtype=object)
    return table.set_axis(list(names), axis=1).apply(_numeric_where_possible)


def _numeric_where_possible(column: "pd.Series[str]") -> "pd.Series[Any]":
    words = {str(word) for word in column.unique()}
    known = {word for word in words if is_known(word)}
    values = column.where(column.isin(known))
    if not known or any(word[:1] == "0" and word.isdigit() and len(word) > 1 for word in known):
        return values
    # 70,5 is 70.5: a comma left in a cell is no separator.
    numeric = pd.to_numeric(values.astype(object).str.replace(",", ".", regex=False), errors="coerce")
    return numeric if numeric.count() == values.count() else values
