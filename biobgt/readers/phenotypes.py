"""Phenotype tables: groups, sites, ages, in the words of each release.

Reads ``.csv``, ``.tsv`` and ``.xlsx``, BIDS ``participants.tsv``, ABIDE's phenotypic file, ADHD-200's and CNI-2019's.
Numeric codes are translated only where a release's own columns say which release it is, and a note says how.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from biobgt.errors import InputError
from biobgt.limits import Limits, current_limits
from biobgt.readers.guarding import one_refused_file
from biobgt.readers.layout import find_separator, split_cells
from biobgt.readers.text import check_line_count, check_lines, decode
from biobgt.readers.workbooks import read_workbook
from biobgt.spreadsheets import meant

# The column names of the releases, in lower case, in order of preference.
ID_COLUMNS = (
    *("file_id", "subject", "participant_id", "sub_id", "subj", "subject_id", "scandir id", "subjectid", "id"),
    *("participant", "subject id", "participant id", "src_subject_id", "ptid", "record_id"),
)
_NO_ID = ("no_filename", "nan", "")
GROUP_COLUMNS = ("group", "dx_group", "dx", "diagnosis", "dx_bl", "research group")
_RENAMED = {
    "site_id": "site",
    "age_at_scan": "age",
    "func_mean_fd": "mean_fd",
    "gender": "sex",
    "wisc_fsiq": "fiq",
    "full4 iq": "fiq",
}
TABLE_SUFFIXES = (".csv", ".tsv", ".txt", ".xlsx")
_GROUP_NAMES = {
    "NC": {"nc", "hc", "cn", "tc", "td", "tdc", "control", "controls", "healthy control", "healthy", "typical"},
    "ASD": {"asd", "autism", "autism spectrum disorder"},
    "ADHD": {"adhd", "adhd-combined", "adhd-inattentive", "adhd-hyperactive/impulsive"},
    "MCI": {"mci", "emci", "lmci"},
    "AD": {"ad", "alzheimer's disease", "dementia"},
}
# Columns by which a table is known to be about people.
PHENOTYPE_COLUMNS = frozenset({*GROUP_COLUMNS, *_RENAMED, *_RENAMED.values()})
_UNKNOWN = frozenset({"", "n/a", "na", "nan", "none", "nat", "<na>", "-9999", "-999", "-9999.0"})


@dataclass(frozen=True)
class _Release:
    """A release that is known by two of its columns, and the codes of its groups."""

    name: str
    columns: frozenset[str]
    group_column: str
    groups: Mapping[str, str]
    note: str


_RELEASES = (
    _Release(
        "ABIDE",
        frozenset({"dx_group", "site_id"}),
        "dx_group",
        {"1": "ASD", "2": "NC"},
        "ABIDE codes: DX_GROUP 1 is ASD, 2 is NC.",
    ),
    _Release(
        "ADHD-200",
        frozenset({"scandir id", "dx"}),
        "dx",
        {"0": "NC", "1": "ADHD", "2": "ADHD", "3": "ADHD"},
        "ADHD-200 codes: DX 0 is NC; 1, 2 and 3 (its subtypes) are ADHD.",
    ),
)
_ABIDE_SEXES = {"1": "M", "2": "F"}


@dataclass(frozen=True, eq=False)
class Phenotypes:
    """A phenotype table in our own words: columns ``subject``, ``group`` (if known) and the rest in lower case.

    ``alternatives`` holds further ids of each row (ABIDE has two), ``notes`` what was decoded and how.
    """

    table: pd.DataFrame
    alternatives: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def read_phenotypes(path: str | Path, *, id_column: str | None = None) -> Phenotypes:
    """Read a phenotype table and translate the columns and codes of known releases.

    ``id_column`` is the column of subject ids, in lower case, where it is not named as such columns are.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"There is no phenotype table '{path.name}'.")
    with one_refused_file(f"The phenotype table '{path.name}'"):
        return _as_phenotypes(path, id_column)


def _as_phenotypes(path: Path, id_column: str | None) -> Phenotypes:
    raw = meant(read_table(path)).dropna(how="all")
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
    ids = raw[id_columns].map(_as_text)
    longest = int(ids.map(len).to_numpy().max())
    current_limits().check("id_characters", longest, f"The phenotype table '{path.name}'")
    alternatives = [tuple(dict.fromkeys(name for name in row if name not in _NO_ID)) for row in ids.to_numpy()]
    named = pd.Series([names[0] if names else None for names in alternatives], index=raw.index, dtype=object)
    table = _decode_releases(raw, notes).rename(columns={k: v for k, v in _RENAMED.items() if v not in raw.columns})
    table = _with_group(table, notes).drop(columns=id_columns)
    table.insert(0, "subject", named)
    kept = named.notna().to_numpy()
    _refuse_repeated_ids(named[kept], path)
    return Phenotypes(
        table[kept].reset_index(drop=True),
        tuple(names for names, keep in zip(alternatives, kept, strict=True) if keep),
        tuple(notes),
    )


def is_known(value: object) -> bool:
    """Tell a value from the ways in which tables say that there is none."""
    return str(value).strip().lower() not in _UNKNOWN


def _as_text(value: object) -> str:
    """Ids are text; a spreadsheet's 50952.0 is 50952."""
    text = "" if pd.isna(value) else str(value).strip()  # type: ignore[call-overload]
    return text.removesuffix(".0") if text.removesuffix(".0").isdigit() else text


def read_table(path: Path) -> pd.DataFrame:
    """Read a table as it is written, from a workbook or from text."""
    if path.suffix.lower() in {".xlsx", ".xlsm"}:
        return read_workbook(path)
    what = f"The phenotype table '{path.name}'"
    return read_table_of_words(read_words(path, current_limits(), what), what)


def read_words(path: Path, limits: Limits, what: str) -> str:
    """Read the text of a table with a header, unless it is larger than such a table may be.

    Parameters
    ----------
    path : Path
    limits : Limits
    what : str
        The subject of a refusal's sentence.
    """
    limits.check("table_bytes", path.stat().st_size, what)
    return text_of_table(path.read_bytes(), limits, what)


def text_of_table(data: bytes, limits: Limits, what: str) -> str:
    """Decode the text of a table with a header, unless it is larger than such a table may be.

    Parameters
    ----------
    data : bytes
    limits : Limits
    what : str
        The subject of a refusal's sentence.
    """
    limits.check("table_bytes", len(data), what)
    try:
        check_lines(data, limits, "The file")
        text = decode(data)
        check_line_count(text, "table_rows", limits, "The file")
        return text
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
    header, *body = _split_rows(lines, separator, limits, what)
    for number, row in enumerate(body, start=2):
        while len(row) > len(header) and row[-1] == "":
            row.pop()  # a separator at the end of the line
        if len(row) > len(header):
            raise InputError(f"{what} cannot be read: row {number} has {len(row)} cells and the header {len(header)}.")
        row += [""] * (len(header) - len(row))
    table = pd.DataFrame(body, columns=header, dtype=object)
    return table.set_axis(header, axis=1).apply(_numeric_where_possible)


def _split_rows(lines: Sequence[str], separator: str, limits: Limits, what: str) -> list[list[str]]:
    """Split lines into cells, which are counted on the way: a row may have more of them than the header."""
    rows = []
    n_cells = 0
    for line in lines:
        rows.append(split_cells(line, separator))
        n_cells += len(rows[-1])
        limits.check("table_cells", n_cells, what)
    return rows


def _numeric_where_possible(column: "pd.Series[str]") -> "pd.Series[Any]":
    words = {str(word) for word in column.unique()}
    known = {word for word in words if is_known(word)}
    values = column.where(column.isin(known))
    if not known or any(word[:1] == "0" and word.isdigit() and len(word) > 1 for word in known):
        return values
    # 70,5 is 70.5: a comma left in a cell is no separator.
    numeric = pd.to_numeric(values.astype(object).str.replace(",", ".", regex=False), errors="coerce")
    return numeric if numeric.count() == values.count() else values


def _decode_releases(raw: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Translate numeric codes, where the columns say which release it is and every code is one of its own."""
    table = raw.copy()
    for release in _RELEASES:
        if not release.columns <= set(raw.columns):
            continue
        codes = raw[release.group_column].map(_as_text)
        if set(codes) - _UNKNOWN <= set(release.groups):
            table[release.group_column] = codes.map(release.groups)
            notes.append(release.note)
        sexes = raw["sex"].map(_as_text) if "sex" in raw.columns else pd.Series(dtype=str)
        if release.name == "ABIDE" and len(sexes) and set(sexes) - _UNKNOWN <= set(_ABIDE_SEXES):
            table["sex"] = sexes.map(_ABIDE_SEXES)
        break
    return table


def _with_group(table: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    column = next((name for name in GROUP_COLUMNS if name in table.columns), None)
    if column is None:
        return table
    names = {name: group for group, names in _GROUP_NAMES.items() for name in names}
    raw = table[column].map(lambda value: _as_text(value) if is_known(value) else None)
    group = raw.map(lambda value: names.get(value.lower(), value), na_action="ignore")
    changed = {before: after for before, after in zip(raw, group, strict=True) if is_known(before) and before != after}
    if changed:
        notes.append("Groups renamed: " + ", ".join(f"{before} to {after}" for before, after in changed.items()) + ".")
    return table.drop(columns=column).assign(group=group)


def _refuse_repeated_ids(ids: "pd.Series[str]", path: Path) -> None:
    repeated = ids[ids.duplicated()]
    if len(repeated):
        raise InputError(
            f"The phenotype table '{path.name}' has two rows for '{repeated.iloc[0]}'. Keep one row per subject, "
            "or make the ids differ by session."
        )
