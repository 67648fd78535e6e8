"""How a text table is written: separator, decimal mark, header, row labels, columns that are not regions.

All lines are looked at before anything is decided: every one must have as many cells. A header is told from data by
its words, or by numbers that count while the data do not; where both fit the user is asked.
"""

import csv
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from biobgt.errors import ChoiceNeeded, InputError
from biobgt.limits import Limits, current_limits

Header = Literal["yes", "no"]
NumberedLine = tuple[int, str]

# What `biobgt demo` writes above the numbers, so that a drawn subject stays marked wherever it is read again.
SIMULATED_MARK = "# simulated:"
MISSING = ("", "nan", "na", "n/a", "-nan", "null", "none")
# Columns that releases and programs put beside the regions: ADHD-200 Athena's first two, row numbers, clocks.
_NOT_REGIONS = {"", "file", "sub-brick", "index", "unnamed: 0", "row"} | {
    *("time", "time (s)", "t", "tr", "volume", "vol", "frame", "scan", "timepoint", "time point", "timepoints"),
}
# Names that only count columns, or that count time: they do not say that the columns are regions.
_COUNTING_NAME = re.compile(
    r"(?:v|x|t|tr|time|timepoint|vol|volume|frame|scan|column|col)?[ _.\-]?\d+(?:\.0*)?", re.IGNORECASE
)
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+(?:[eE][-+]?\d+)?")
_SHORTEST_PROGRESSION = 5
_LOOKED_AT = 20  # lines, the last ones, from which the separator is told


@dataclass(frozen=True)
class Layout:
    """How a text table is written; ``rows`` are its lines of numbers, with their numbers in the file."""

    separator: str  # a tab, a semicolon, a comma, or a space for any white space
    decimal: str
    header: list[str] | None
    rows: list[NumberedLine]
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

    @property
    def names_left_out(self) -> list[str]:
        """The columns that are not read, by name or number."""
        return [(self.header[i] if self.header else "") or f"column {i + 1}" for i in sorted(self.left_out)]

    def split(self, line: str) -> list[str]:
        """Split a line into cells."""
        return split_cells(line, self.separator)


def find_layout(text: str, *, header: Header | None = None) -> Layout:
    """Find out how a table is written, or say which line does not fit."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line and not line.isspace()]
    if lines and re.fullmatch(r"sep=.", lines[0][1].strip(), re.IGNORECASE):
        lines = lines[1:]  # Excel's note to itself
    n_comments = next((i for i, (_, line) in enumerate(lines) if not line.lstrip().startswith("#")), len(lines))
    comments, rows = lines[:n_comments], lines[n_comments:]
    if not rows:
        raise InputError("The file has comments and no rows of numbers.")
    limits = current_limits()
    _check_shape(rows, limits)
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
    return Layout(separator, decimal, names, rows, n_columns, frozenset(left_out), row_names, simulated)


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
    if cell.lower() in MISSING:
        return True
    return bool(_NUMBER.fullmatch(cell.replace(",", ".") if decimal == "," else cell))


# Digits are matched in one way only: a long word that begins as a number takes no longer than its length.
_NUMBER = re.compile(
    r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?inf(?:inity)?",
    re.IGNORECASE,
)


def _is_header(rows: list[NumberedLine], separator: str, decimal: str) -> bool:
    """Words are a header. Numbers are one when they count up and the data below do not."""
    first = split_cells(rows[0][1], separator)
    named = [cell for cell in first if cell]
    n_words = sum(not is_number(cell, decimal) for cell in named)
    if not named or n_words > len(named) / 2:
        return True
    if n_words and not is_number(first[0], decimal):
        named = named[1:]  # a word over the row names, numbers over the rest
    if len(rows) < 2 or sum(not is_number(cell, decimal) for cell in named) or not _counts_up(named):
        return False
    below = [cell for _, line in rows[1:4] for cell in split_cells(line, separator)[len(first) - len(named) :]]
    if not all(_is_whole(cell, decimal) for cell in below):
        return True
    raise ChoiceNeeded(
        "The first line counts up in whole numbers, and the lines below are whole numbers too: "
        "it may be a header, or data.",
        option="header",
        choices=("yes", "no"),
    )


def _counts_up(cells: list[str]) -> bool:
    """Whole numbers from 0 upwards, each larger than the one before: column counts, or an atlas's codes."""
    if len(cells) < 3 or not all(re.fullmatch(r"\d+(?:\.0*)?", cell) for cell in cells):
        return False
    return all(after > before for before, after in pairwise(map(float, cells)))


def _is_whole(cell: str, decimal: str) -> bool:
    return cell.lower() in MISSING or (is_number(cell, decimal) and float(cell.replace(",", ".")).is_integer())


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


def _check_shape(rows: list[NumberedLine], limits: Limits) -> None:
    """Refuse a table of more rows or columns than are read, before its cells are looked at."""
    for _, line in (rows[0], *rows[-_LOOKED_AT:]):
        n_columns = max(len(line.split()), *(line.count(mark) for mark in "\t;,"))
        limits.check("timepoints", n_columns - 1, "The table")  # but for row names, one axis is time
    limits.check("timepoints", len(rows) - 1, "The table")


def _check_counts(rows: list[NumberedLine], separator: str) -> int:
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
    names: list[str] | None, rows: list[NumberedLine], separator: str, decimal: str
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
    if all(is_number(cell, decimal) and cell.lower() not in MISSING for cell in first) and _is_clock(first, decimal):
        left_out.add(0)
    return left_out, None


def _is_clock(cells: list[str], decimal: str) -> bool:
    """Row numbers or times: equal steps upwards, which no measured signal makes."""
    if len(cells) < _SHORTEST_PROGRESSION:
        return False
    numbers = [float(cell.replace(",", ".") if decimal == "," else cell) for cell in cells]
    step = numbers[1] - numbers[0]
    return step > 0 and all(abs(after - before - step) <= 1e-6 * step for before, after in pairwise(numbers))
