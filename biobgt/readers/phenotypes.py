"""Phenotype tables: groups, sites, ages, in the words of each release.

Reads ``.csv``, ``.tsv`` and ``.xlsx``, BIDS ``participants.tsv``, ABIDE's phenotypic file, ADHD-200's and CNI-2019's.
Numeric codes are translated only where a release's own columns say which release it is, and a note says how.
"""

import math
import re
import tomllib
import zipfile
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import Any

import pandas as pd

from biobgt.base.errors import InputError
from biobgt.base.files import asset, meant
from biobgt.base.limits import current_limits
from biobgt.base.wording import counted
from biobgt.data.cohort import Cohort, Subject
from biobgt.readers.connections.edges import names_edges
from biobgt.readers.connections.pairs import counted_pairs, named_pairs
from biobgt.readers.foreign.isolate import one_refused_file
from biobgt.readers.tables import (
    UNKNOWN,
    begins_with,
    decode,
    find_separator,
    is_known,
    is_number,
    lines_of_cells,
    read_table_of_words,
    read_words,
    split_cells,
)
from biobgt.readers.workbooks import read_workbook

TABLE_SUFFIXES = (".csv", ".tsv", ".txt", ".xlsx")
_WORDS = tomllib.loads(asset("phenotypes.toml").read_text(encoding="utf-8"))
ID_COLUMNS, _GROUP_COLUMNS = _WORDS["id_columns"], _WORDS["group_columns"]
_RENAMED: dict[str, str] = _WORDS["renamed"]
_GROUPS = {name: group for group, names in _WORDS["groups"].items() for name in names}
# Columns by which a table is known to be about people.
_PHENOTYPE_COLUMNS = frozenset({*_GROUP_COLUMNS, *_RENAMED, *_RENAMED.values()})
_NO_ID = ("no_filename", "nan", "")


@dataclass(frozen=True, eq=False)
class Phenotypes:
    """A phenotype table in our own words: columns ``subject``, ``group`` (if known) and the rest in lower case.

    ``alternatives`` holds further ids of each row (ABIDE has two), ``notes`` what was decoded and how. Rows of a design
    matrix have no ids (``has_ids``), and go by number.
    """

    table: pd.DataFrame
    alternatives: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    has_ids: bool = True


def read_phenotypes(path: str | Path, *, id_column: str | None = None) -> Phenotypes:
    """Read a phenotype table and translate the columns and codes of known releases.

    ``id_column`` is the column of subject ids, in lower case, where it is not named as such columns are.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"There is no phenotype table '{path.name}'.")
    with one_refused_file(f"The phenotype table '{path.name}'"):
        raw = _read_table(path)
        if all(is_number(str(name), ".") for name in raw.columns) and is_design(path):
            return _read_design(path)
        return as_phenotypes(meant(raw).dropna(how="all"), path, id_column)


def as_phenotypes(raw: pd.DataFrame, path: Path, id_column: str | None) -> Phenotypes:
    """Translate the columns and codes of a table.

    Parameters
    ----------
    raw : DataFrame
        As it was read.
    path : Path
        Of the table, for sentences.
    id_column : str or None
        The column of subject ids, where it is not named as such columns are.
    """
    if raw.empty:
        raise InputError(f"The phenotype table '{path.name}' has no rows.")
    raw.columns = pd.Index([str(column).strip().lower() for column in raw.columns])
    if raw.columns.has_duplicates:
        repeated = raw.columns[raw.columns.duplicated()][0]
        raise InputError(f"The phenotype table '{path.name}' has two columns named '{repeated}'.")
    id_columns = [column for column in (id_column, *ID_COLUMNS) if column is not None and column in raw.columns]
    if not id_columns:
        raise InputError(
            f"The phenotype table '{path.name}' has no column of subject ids. Name one 'subject' or 'participant_id'; "
            f"it has {', '.join(map(str, raw.columns[:8]))}."
        )
    notes = [] if id_column is None else [f"Subject ids in '{path.name}' are those of its column '{id_column}'."]
    ids = raw[id_columns].map(as_id)
    longest = int(ids.map(len).to_numpy().max())
    current_limits().check("id_characters", longest, f"The phenotype table '{path.name}'")
    alternatives = [tuple(dict.fromkeys(name for name in row if name not in _NO_ID)) for row in ids.to_numpy()]
    named = pd.Series([names[0] if names else None for names in alternatives], index=raw.index, dtype=object)
    table = _decode_releases(raw, notes).rename(columns={k: v for k, v in _RENAMED.items() if v not in raw.columns})
    table = _with_group(table, notes).drop(columns=id_columns)
    table.insert(0, "subject", named)
    kept = named.notna().to_numpy()
    twice = named[kept][named[kept].duplicated()]
    if len(twice):
        raise InputError(
            f"The phenotype table '{path.name}' has two rows for '{twice.iloc[0]}'. Keep one row per subject, "
            "or make the ids differ by session."
        )
    return Phenotypes(
        table[kept].reset_index(drop=True),
        tuple(names for names, keep in zip(alternatives, kept, strict=True) if keep),
        tuple(notes),
    )


def is_design(path: Path) -> bool:
    """Whether a table is a design matrix: numbers alone, without a header."""
    if path.suffix.lower() not in (".csv", ".tsv", ".txt") or not path.is_file():
        return False
    with path.open("rb") as file:
        first = begins_with(file, 2)
    separator, decimal = find_separator(first[-1:]) if first else (" ", ".")
    return bool(first) and all(is_number(cell, decimal) for line in first for cell in split_cells(line, separator))


def _read_design(path: Path) -> Phenotypes:
    """A row per subject and no ids; a column of ones and zeros for each group makes groups."""
    with path.open("rb") as file:
        lines = lines_of_cells(file, header="no")
    current_limits().check("table_cells", len(lines.rows) * lines.n_columns, f"The phenotype table '{path.name}'")
    values = lines.numbers(range(lines.n_columns))
    names = [f"design {i}" for i in range(1, lines.n_columns + 1)]
    table = pd.DataFrame(values, columns=names)
    indicators = [name for name in names if set(table[name]) == {0.0, 1.0}]
    notes = []
    if len(indicators) > 1 and (table[indicators].sum(axis=1) == 1).all():
        table = table.assign(group=table[indicators].idxmax(axis=1)).drop(columns=indicators)
        notes.append(f"Groups are named by the columns of ones in '{path.name}': {', '.join(indicators)}.")
    rows = [str(i) for i in range(1, len(table) + 1)]
    table.insert(0, "subject", rows)
    return Phenotypes(table, tuple((row,) for row in rows), tuple(notes), has_ids=False)


def give_rows(cohort: Cohort, phenotypes: Phenotypes, places: Sequence[int]) -> Cohort:
    """Give each subject the row at its place, and its id where rows have one: the user says that they are in order.

    Parameters
    ----------
    cohort : Cohort
    phenotypes : Phenotypes
    places : sequence of int
        The row of each subject, counted from 0.
    """
    rows = [phenotypes.table.iloc[place] for place in places]
    subjects = [_with_row(subject, row) for subject, row in zip(cohort, rows, strict=True)]
    if phenotypes.has_ids:
        subjects = [replace(one, id=str(row["subject"])) for one, row in zip(subjects, rows, strict=True)]
    note = f"Rows of the phenotype table were given to {counted(len(rows), 'subject')} in their order, as you said."
    return replace(cohort, subjects=tuple(subjects), notes=(*cohort.notes, *phenotypes.notes, note))


def as_id(value: object) -> str:
    """Ids are text; a spreadsheet's 50952.0 is 50952."""
    text = "" if pd.isna(value) else str(value).strip()  # type: ignore[call-overload]
    return text.removesuffix(".0") if text.removesuffix(".0").isdigit() else text


def _read_table(path: Path) -> pd.DataFrame:
    """Read a table as it is written, from a workbook or from text."""
    if path.suffix.lower() in {".xlsx", ".xlsm"}:
        return read_workbook(path)
    what = f"The phenotype table '{path.name}'"
    return read_table_of_words(read_words(path, what), what)


def _decode_releases(raw: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Translate numeric codes, where the columns say which release it is and every code is one of its own."""
    known = (one for one in _WORDS["releases"] if set(one["columns"]) <= set(raw.columns))
    release: dict[str, Any] = next(known, {"codes": {}})
    table = raw.copy()
    for column, meanings in release["codes"].items():
        codes = raw[column].map(as_id) if column in raw.columns else pd.Series(dtype=str)
        if len(codes) and set(codes) - UNKNOWN <= set(meanings):
            table[column] = codes.map(meanings)
            if column == release["group_column"]:
                notes.append(release["note"])
    return table


def _with_group(table: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    column = next((name for name in _GROUP_COLUMNS if name in table.columns), None)
    if column is None:
        return table
    raw = table[column].map(lambda value: as_id(value) if is_known(value) else None)
    group = raw.map(lambda value: _GROUPS.get(value.lower(), value), na_action="ignore")
    changed = {before: after for before, after in zip(raw, group, strict=True) if is_known(before) and before != after}
    if changed:
        notes.append("Groups renamed: " + ", ".join(f"{before} to {after}" for before, after in changed.items()) + ".")
    return table.drop(columns=column).assign(group=group)


# Whose row is whose: subject ids that no two releases write alike.
#
# Ids are compared exactly, then without ``sub-``, session and run, then without leading zeros, then by the number
# behind a site's prefix (``NYU_0050952`` and ``50952``), then without an ending that all files share (``p01_ts``,
# ``p02_ts``). A form counts only where it is one person's on both sides, and a row that was taken by a closer form is
# not given again. What stays unmatched is listed.


def match_phenotypes(cohort: Cohort, phenotypes: Phenotypes) -> Cohort:
    """Give each subject its row of the table, by id; the cohort lists what is left on both sides."""
    subjects = cohort.subjects
    row_of: dict[str, int] = {}
    notes = []
    for form, described in (*_FORMS, _without_ending(subject.id for subject in subjects)):
        taken = set(row_of.values())
        left = [subject.id for subject in subjects if subject.id not in row_of]
        found = _match_by(form, left, phenotypes.alternatives)
        found = {subject: row for subject, row in found.items() if row not in taken}
        if found and described:
            subject, row = next(iter(found.items()))
            example = f"'{subject}' to '{phenotypes.table['subject'].iloc[row]}'"
            notes.append(
                f"Matched to the phenotype table {described}: {counted(len(found), 'subject')}, such as {example}."
            )
        row_of |= found
    used = set(row_of.values())
    matched = (
        _with_row(subject, phenotypes.table.iloc[row_of[subject.id]]) if subject.id in row_of else subject
        for subject in subjects
    )
    return replace(
        cohort,
        subjects=tuple(matched),
        notes=(*cohort.notes, *phenotypes.notes, *notes),
        unmatched_subjects=tuple(subject.id for subject in subjects if subject.id not in row_of),
        unmatched_rows=tuple(str(name) for i, name in enumerate(phenotypes.table["subject"]) if i not in used),
    )


def _match_by(
    form: Callable[[str], str | None], subjects: Sequence[str], rows: Sequence[tuple[str, ...]]
) -> dict[str, int]:
    """Match by one form of the id, where it is one row's and one person's (sessions of a person share a row)."""
    rows_with: dict[str, set[int]] = defaultdict(set)
    for row, names in enumerate(rows):
        for name in names:
            if (value := form(name)) is not None:
                rows_with[value].add(row)
    subjects_with: dict[str, list[str]] = defaultdict(list)
    for name in subjects:
        if (value := form(name)) is not None:
            subjects_with[value].append(name)
    return {
        name: next(iter(rows_with[value]))
        for value, names in subjects_with.items()
        if len(rows_with.get(value, ())) == 1 and len({_person(name) for name in names}) == 1
        for name in names
        # Two prefixes that differ (HC_01, PAT_01) are two people; a number alone may be either's.
        if form is not _number or any(_person(one).isdigit() for one in (name, *rows[next(iter(rows_with[value]))]))
    }


def _person(identifier: str) -> str:
    """The id without ``sub-``, session and run."""
    bare = re.sub(r"^sub-", "", identifier, flags=re.IGNORECASE)
    return _RECORDING.sub("", bare).lower()


# To the very end, over ends of lines too: a search that could fail there would begin anew at every "_ses-".
_RECORDING = re.compile(r"_(?:ses|session|run|rest)[-_].*", re.IGNORECASE | re.DOTALL)


def _same_person(identifier: str) -> str:
    """Return what is the same in all ways to write a person's id, but for a site's prefix."""
    return _person(identifier).lstrip("0") or "0"


def _number(identifier: str) -> str | None:
    """The number that is the whole id, or that stands behind a site's prefix and an underscore."""
    match = re.fullmatch(r"(?:[a-z]\w*_)?(\d+)", _person(identifier))
    return (match.group(1).lstrip("0") or "0") if match else None


_FORMS: tuple[tuple[Callable[[str], str | None], str], ...] = (
    (str, ""),
    (_person, ""),
    (_same_person, ""),
    (_number, "by the number in their ids alone"),
)


def _without_ending(names: Iterable[str]) -> tuple[Callable[[str], str | None], str]:
    """The form of an id without the ending, from a separator on, that the names of two or more files share."""
    endings = [{name[at.start() :] for at in re.finditer("[_.-]", name)} for name in set(names)]
    ending = max(set.intersection(*endings), key=len, default="") if len(endings) > 1 else ""

    def form(identifier: str) -> str | None:
        return _same_person(identifier.removesuffix(ending)) if ending else None

    return form, f"without the '{ending}' at the end of their names"


def values_of_row(row: "pd.Series[str]") -> tuple[str | None, dict[str, Any]]:
    """The group that a row gives, and whatever else is known in it."""
    values: dict[str, Any] = {
        str(key): value.item() if hasattr(value, "item") else value
        for key, value in row.items()
        if key not in {"subject", "group"} and is_known(value)
    }
    group = row.get("group")
    return str(group) if is_known(group) else None, values


def _with_row(subject: Subject, row: "pd.Series[str]") -> Subject:
    group, values = values_of_row(row)
    return replace(subject, group=group or subject.group, phenotypes={**subject.phenotypes, **values})


# Several phenotype tables to one: rows of other subjects below, columns of the same subjects beside.
#
# CNI-2019 has one table per subject; some studies keep groups and scores apart. Tables are added one by one, each in a
# time that grows with its own cells alone, and the frame is made once at the end.


_WHAT = "The phenotype table, with those read before it,"


class JoinedPhenotypes:
    """Phenotype tables that are put together; a value that is missing in one table is taken from the next."""

    def __init__(self) -> None:
        self._first: Phenotypes | None = None
        self._n_tables = 0
        self._names: dict[str, tuple[str, ...]] = {}  # the ids of each row, by its subject
        self._columns: dict[str, dict[str, Any]] = {}  # the values that are there, by subject
        self._of_objects: set[str] = set()  # columns whose values are kept as they are
        self._notes: dict[str, None] = {}

    def check_size(self, other: Phenotypes) -> None:
        """Refuse a table with which all together would be larger than one table may be."""
        n_rows = len(self._names) + sum(str(name) not in self._names for name in other.table["subject"])
        n_columns = len(self._columns) + sum(column not in self._columns for column in other.table.columns)
        limits = current_limits()
        limits.check("table_rows", n_rows, _WHAT)
        limits.check("table_columns", n_columns, _WHAT)
        limits.check("table_cells", n_rows * n_columns, _WHAT)

    def add(self, other: Phenotypes) -> None:
        """Add a table, unless it contradicts those before it."""
        subjects = list(map(str, other.table["subject"]))
        present = {  # what each column says, by subject, without those of whom it says nothing
            str(name): dict(compress(zip(subjects, column.tolist(), strict=True), column.notna()))
            for name, column in other.table.drop(columns="subject").items()
        }
        for column, theirs in present.items():
            ours = self._columns.get(column, {})
            for name, value in theirs.items():
                if name in ours and not _agree(ours[name], value):
                    raise InputError(
                        f"Two phenotype tables disagree on '{column}' of '{name}': {ours[name]} and {value}."
                    )
        self._first, self._n_tables = self._first or other, self._n_tables + 1
        for name, names in zip(subjects, other.alternatives, strict=True):
            self._names.setdefault(name, names)
        for column, values in present.items():
            known = self._columns.setdefault(column, {})
            known.update({name: value for name, value in values.items() if name not in known})
        self._of_objects |= {column for column in present if other.table[column].dtype == object}
        self._notes |= dict.fromkeys(other.notes)

    def result(self) -> Phenotypes | None:
        """Return all tables as one; None where there is none."""
        if self._n_tables < 2:
            return self._first
        columns = {
            column: pd.Series(
                [values.get(name, math.nan) for name in self._names],
                dtype=object if column in self._of_objects else None,
            )
            for column, values in self._columns.items()
        }
        table = pd.DataFrame({"subject": list(self._names), **columns})
        return Phenotypes(table, tuple(self._names.values()), tuple(self._notes))


def _agree(one: Any, other: Any) -> bool:
    """Numbers agree however a table keeps them: a column with gaps has 70.0 for 70. Unknown agrees with everything."""
    return bool(one == other) or str(one) == str(other) or not (is_known(one) and is_known(other))


# Phenotype tables found by what is in them, whatever they are called and wherever they lie.
#
# A table is one where a column is named as subject ids are and another holds words or what phenotype tables hold
# (group, age, site); or where a column's values are the names of the subjects at hand. Region tables are neither:
# below their header there are numbers, in columns named after regions.


_SNIFFED_BYTES = 2**16  # the beginning of a file, enough for a header of a thousand names and some rows
_LARGEST_BYTES = 2**24  # a table of people is smaller
_KEPT_BYTES = 2**26  # of all tables together


class TableSearch:
    """Looks for phenotype tables among the files of a cohort; what it read of one it does not read again.

    Tables of numbers, the most files of a cohort, are known after their first lines and not kept.
    """

    def __init__(self, *, of_pairs: bool = False) -> None:
        self._kept: dict[Path, bytes | None] = {}
        self._n_bytes = 0
        self._of_pairs = of_pairs  # the user says that tables hold connections of people

    def _holds_connections(self, table: pd.DataFrame) -> bool:
        """Whether columns are pairs of regions: then it holds data, and the phenotypes in it are read with them."""
        names = list(map(str, table.columns))
        try:
            counting = counted_pairs(names, any_name=self._of_pairs)
            return counting is not None or names_edges(names) is not None or named_pairs(names) is not None
        except InputError:  # which is said where it is read
            return True

    def holds_phenotypes(self, path: Path) -> bool:
        """Tell a phenotype table by its header and the beginning of its columns.

        A workbook that is refused counts as one: whoever reads it tells the user why.
        """
        try:
            table = self._beginning(path)
        except InputError:
            return True
        if table is None or self._holds_connections(table):
            return False
        named = set(map(str, table.columns))
        ids = named & set(ID_COLUMNS)
        others = [column for column in table.columns if column not in ID_COLUMNS]
        has_words = any(_is_words(table[column]) for column in others)
        if ids:
            return has_words or bool(named & _PHENOTYPE_COLUMNS)
        return has_words and bool(named & set(_GROUP_COLUMNS))

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
        if table is None or self._holds_connections(table):
            return None
        named = set(map(str, table.columns))
        if named & set(ID_COLUMNS):
            return None
        persons, most = {_same_person(name) for name in subjects}, current_limits().id_characters
        for column in table.columns:
            values = [str(value) for value in table[column] if is_known(value)]
            if all(value.isdigit() for value in values) and not named & _PHENOTYPE_COLUMNS:
                continue
            shared = persons & {_same_person(value) for value in values if len(value) <= most}
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
            table = _read_table(path) if zipfile.is_zipfile(path) else None
        else:
            try:
                table, data = None, self._content(path)
                if data is not None:
                    text = read_words(data, "The table") if whole else decode(_first_lines(data))
                    table = read_table_of_words(text, "The table")
            except (InputError, OSError):
                return None
        if table is None:
            return None
        names = [str(column).strip().lower() for column in table.columns]
        unnamed = sum(is_number(name, ".") for name in names)
        if len(names) < 2 or table.empty or unnamed > len(names) / 2 or len(set(names)) < len(names):
            return None
        return table.set_axis(names, axis=1)

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
    of_people = {name.lower() for name in names} & {*ID_COLUMNS, *_PHENOTYPE_COLUMNS}
    return bool(of_people) or not all(is_number(cell, ",") for cell in first)


def _is_words(column: "pd.Series[str]") -> bool:
    """Whether most of what a column holds is no number."""
    known = [str(value).strip() for value in column if is_known(value)]
    return sum(not is_number(value, ",") for value in known) > len(known) / 2
