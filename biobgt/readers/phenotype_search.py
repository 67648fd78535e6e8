"""Phenotype tables found by what is in them, whatever they are called and wherever they lie.

A table is one where a column is named as subject ids are and another holds words or what phenotype tables hold (group,
age, site); or where a column's values are the names of the subjects at hand. Region tables are neither: below their
header there are numbers, in columns named after regions.
"""

import zipfile
from collections.abc import Collection
from pathlib import Path

import pandas as pd

from biobgt.errors import InputError
from biobgt.limits import current_limits
from biobgt.readers.layout import find_separator, is_number, split_cells
from biobgt.readers.phenotype_matching import same_person
from biobgt.readers.phenotypes import (
    GROUP_COLUMNS,
    ID_COLUMNS,
    PHENOTYPE_COLUMNS,
    TABLE_SUFFIXES,
    is_known,
    read_table,
    read_table_of_words,
    text_of_table,
)
from biobgt.readers.text import decode

_SNIFFED_BYTES = 2**16  # the beginning of a file, enough for a header of a thousand names and some rows
_LARGEST_BYTES = 2**24  # a table of people is smaller
_KEPT_BYTES = 2**26  # of all tables together


class TableSearch:
    """Looks for phenotype tables among the files of a cohort; what it read of one it does not read again.

    Tables of numbers, the most files of a cohort, are known after their first lines and not kept.
    """

    def __init__(self) -> None:
        self._kept: dict[Path, bytes | None] = {}
        self._n_bytes = 0

    def holds_phenotypes(self, path: Path) -> bool:
        """Tell a phenotype table by its header and the beginning of its columns.

        A workbook that is refused counts as one: whoever reads it tells the user why.
        """
        try:
            table = self._beginning(path)
        except InputError:
            return True
        if table is None:
            return False
        named = set(map(str, table.columns))
        ids = named & set(ID_COLUMNS)
        others = [column for column in table.columns if column not in ID_COLUMNS]
        has_words = any(_is_words(table[column]) for column in others)
        if ids:
            return has_words or bool(named & PHENOTYPE_COLUMNS)
        return has_words and bool(named & set(GROUP_COLUMNS))

    def column_of_subjects(self, path: Path, subjects: Collection[str]) -> str | None:
        """Name the column of a table whose values are the subjects at hand; None where none is, or one is named so.

        Numbers are names only in a table that has a column of phenotypes: any other table may number its rows.
        """
        if not subjects or path.stat().st_size > _LARGEST_BYTES:
            return None
        try:
            table = self._beginning(path)
            if table is None or not set(table.columns) & set(ID_COLUMNS):  # else the rest need not be looked at
                table = self._beginning(path, whole=True)
        except InputError:  # a workbook that is refused where it is read
            return None
        if table is None:
            return None
        named = set(map(str, table.columns))
        if named & set(ID_COLUMNS):
            return None
        persons, most = {same_person(name) for name in subjects}, current_limits().id_characters
        for column in table.columns:
            values = [str(value) for value in table[column] if is_known(value)]
            if all(value.isdigit() for value in values) and not named & PHENOTYPE_COLUMNS:
                continue
            shared = persons & {same_person(value) for value in values if len(value) <= most}
            if len(set(values)) == len(values) and len(shared) >= min(2, len(persons)):
                return str(column)
        return None

    def _beginning(self, path: Path, *, whole: bool = False) -> pd.DataFrame | None:
        """Read the first rows of a table with names over its columns; None where it is no such table.

        A workbook is read as a whole, and raises what it is refused for: too large, too slow, damaged.
        """
        if path.suffix.lower() not in TABLE_SUFFIXES or not path.is_file():  # opening a pipe would wait for ever
            return None
        if path.suffix.lower() == ".xlsx":
            table = read_table(path) if zipfile.is_zipfile(path) else None
        else:
            table = self._beginning_of_text(path, whole=whole)
        if table is None:
            return None
        names = [str(column).strip().lower() for column in table.columns]
        unnamed = sum(is_number(name, ".") for name in names)
        if len(names) < 2 or table.empty or unnamed > len(names) / 2 or len(set(names)) < len(names):
            return None
        return table.set_axis(names, axis=1)

    def _beginning_of_text(self, path: Path, *, whole: bool) -> pd.DataFrame | None:
        try:
            data = self._content(path)
            if data is None:
                return None
            text = text_of_table(data, current_limits(), "The table") if whole else decode(_first_lines(data))
            return read_table_of_words(text, "The table")
        except (InputError, OSError):
            return None

    def _content(self, path: Path) -> bytes | None:
        """The bytes of a table, no more than one of people may have; None where its first lines are numbers."""
        if path in self._kept:
            return self._kept[path]
        with path.open("rb") as file:
            data = file.read(_SNIFFED_BYTES)
            content = data + file.read(_LARGEST_BYTES - len(data)) if _may_be_of_people(data) else None
        if content is None or self._n_bytes + len(content) <= _KEPT_BYTES:
            self._kept[path] = content
            self._n_bytes += len(content or b"")
        return content


def _first_lines(data: bytes) -> bytes:
    """The beginning of a table, which ends with a line where the table goes on."""
    start = data[:_SNIFFED_BYTES]
    return start if len(start) < _SNIFFED_BYTES else start[: start.rfind(b"\n")]


def _may_be_of_people(data: bytes) -> bool:
    """Look at the first two lines alone: a folder may hold thousands of tables of numbers."""
    try:
        lines = [line for line in decode(_first_lines(data)).splitlines() if line.strip()][:2]
    except InputError:  # no text
        return False
    if len(lines) < 2:
        return False
    separator, _ = find_separator(lines[:1])
    names, first = (split_cells(line, separator) for line in lines)
    of_people = {name.lower() for name in names} & {*ID_COLUMNS, *PHENOTYPE_COLUMNS}
    return bool(of_people) or not all(is_number(cell, ",") for cell in first)


def _is_words(column: "pd.Series[str]") -> bool:
    """Whether most of what a column holds is no number."""
    known = [str(value).strip() for value in column if is_known(value)]
    return sum(not is_number(value, ",") for value in known) > len(known) / 2
