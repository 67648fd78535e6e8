"""Phenotype tables: groups, sites, ages, in the words of each release.

Reads ``.csv``, ``.tsv`` and ``.xlsx``, BIDS ``participants.tsv``, ABIDE's phenotypic file, ADHD-200's and CNI-2019's.
Numeric codes are translated only where a release's own columns say which release it is, and a note says how.
"""

import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pandas as pd

from biobgt.errors import InputError
from biobgt.readers.archives import check_unpacked_size
from biobgt.readers.text import decode, find_separator

# The column names of the releases, in lower case, in order of preference.
_ID_COLUMNS = ("file_id", "subject", "participant_id", "sub_id", "subj", "subject_id", "scandir id", "subjectid", "id")
_NO_ID = ("no_filename", "nan", "")
_GROUP_COLUMNS = ("group", "dx_group", "dx", "diagnosis", "dx_bl", "research group")
_RENAMED = {
    "site_id": "site",
    "age_at_scan": "age",
    "func_mean_fd": "mean_fd",
    "gender": "sex",
    "wisc_fsiq": "fiq",
    "full4 iq": "fiq",
}
_GROUP_NAMES = {
    "NC": {"nc", "hc", "cn", "tc", "td", "tdc", "control", "controls", "healthy control", "healthy", "typical"},
    "ASD": {"asd", "autism", "autism spectrum disorder"},
    "ADHD": {"adhd", "adhd-combined", "adhd-inattentive", "adhd-hyperactive/impulsive"},
    "MCI": {"mci", "emci", "lmci"},
    "AD": {"ad", "alzheimer's disease", "dementia"},
}
_ABIDE_GROUPS = {"1": "ASD", "2": "NC"}
_ABIDE_SEXES = {"1": "M", "2": "F"}
_ADHD200_GROUPS = {"0": "NC", "1": "ADHD", "2": "ADHD", "3": "ADHD"}


@dataclass(frozen=True, eq=False)
class Phenotypes:
    """A phenotype table in our own words: columns ``subject``, ``group`` (if known) and the rest in lower case.

    ``alternatives`` holds further ids of each row (ABIDE has two), ``notes`` what was decoded and how.
    """

    table: pd.DataFrame
    alternatives: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def read_phenotypes(path: str | Path) -> Phenotypes:
    """Read a phenotype table and translate the columns and codes of known releases."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"There is no phenotype table '{path.name}'.")
    raw = _read_table(path)
    if raw.empty:
        raise InputError(f"The phenotype table '{path.name}' has no rows.")
    raw.columns = raw.columns.str.strip().str.lower()
    if raw.columns.has_duplicates:
        repeated = raw.columns[raw.columns.duplicated()][0]
        raise InputError(f"The phenotype table '{path.name}' has two columns named '{repeated}'.")
    id_columns = [column for column in _ID_COLUMNS if column in raw.columns]
    if not id_columns:
        raise InputError(
            f"The phenotype table '{path.name}' has no column of subject ids. Name one 'subject' or 'participant_id'; "
            f"it has {', '.join(map(str, raw.columns[:8]))}."
        )
    notes: list[str] = []
    table = _decode_releases(raw, notes).rename(columns={k: v for k, v in _RENAMED.items() if v not in raw.columns})
    table = _with_group(table, notes)
    ids = raw[id_columns].astype(str).apply(lambda column: column.str.strip())
    table = table.drop(columns=[column for column in id_columns if column in table.columns])
    table.insert(0, "subject", ids.where(~ids.isin(_NO_ID)).bfill(axis=1).iloc[:, 0])
    _refuse_repeated_ids(table["subject"], path)
    alternatives = tuple(
        tuple(dict.fromkeys(name for name in row if name not in _NO_ID))
        for row in ids.itertuples(index=False, name=None)
    )
    return Phenotypes(table, alternatives, tuple(notes))


def join_phenotypes(tables: Iterable[Phenotypes]) -> Phenotypes:
    """Put tables one under another (CNI-2019 has one a subject)."""
    tables = list(tables)
    table = pd.concat([part.table for part in tables], ignore_index=True)
    notes = tuple(dict.fromkeys(note for part in tables for note in part.notes))
    return Phenotypes(table, tuple(names for part in tables for names in part.alternatives), notes)


def is_known(value: object) -> bool:
    """Tell a value from the ways in which tables say that there is none."""
    return str(value).strip().lower() not in {"", "n/a", "na", "nan", "none", "nat", "<na>", "-9999", "-999", "-9999.0"}


def _read_table(path: Path) -> pd.DataFrame:
    if path.suffix.lower() in {".xlsx", ".xlsm"}:
        try:
            with zipfile.ZipFile(path) as archive:
                check_unpacked_size(archive)
            return pd.read_excel(path, dtype=object)
        except (zipfile.BadZipFile, ValueError, KeyError):
            raise InputError(f"'{path.name}' cannot be read as an Excel workbook; save it again, or as CSV.") from None
    text = decode(path.read_bytes())
    lines = text.splitlines()
    separator, decimal = find_separator(lines[min(1, len(lines) - 1)])
    try:
        return pd.read_csv(StringIO(text), sep=separator, decimal=decimal, dtype=_id_types(text, separator))
    except (pd.errors.ParserError, ValueError) as error:
        first = str(error).splitlines()[0][:120]
        raise InputError(f"The phenotype table '{path.name}' cannot be read: {first}.") from None


def _id_types(text: str, separator: str) -> dict[str, type]:
    """Ids are text: '0050952' must keep its zeros."""
    names = text.splitlines()[0].split(separator if separator != " " else None)
    return {name.strip('"'): str for name in names if name.strip().strip('"').lower() in _ID_COLUMNS}


def _decode_releases(raw: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Translate numeric codes, only where the release's own columns say which release it is."""
    table = raw.copy()
    codes = {column: raw[column].astype(str).str.strip().str.removesuffix(".0") for column in raw.columns}
    if {"dx_group", "site_id"} <= set(raw.columns):
        table["dx_group"] = codes["dx_group"].map(_ABIDE_GROUPS)
        notes.append("ABIDE codes: DX_GROUP 1 is ASD, 2 is NC.")
        if "sex" in raw.columns:
            table["sex"] = codes["sex"].map(_ABIDE_SEXES)
    elif {"scandir id", "dx"} <= set(raw.columns):
        table["dx"] = codes["dx"].map(_ADHD200_GROUPS)
        notes.append("ADHD-200 codes: DX 0 is NC; 1, 2 and 3 (its subtypes) are ADHD.")
    return table


def _with_group(table: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    column = next((name for name in _GROUP_COLUMNS if name in table.columns), None)
    if column is None:
        return table
    names = {name: group for group, names in _GROUP_NAMES.items() for name in names}
    raw = table[column].map(lambda value: str(value).strip() if is_known(value) else None)
    group = raw.map(lambda value: names.get(value.lower(), value), na_action="ignore")
    changed = {before: after for before, after in zip(raw, group, strict=True) if is_known(before) and before != after}
    if changed:
        notes.append("Groups renamed: " + ", ".join(f"{before} to {after}" for before, after in changed.items()) + ".")
    return table.drop(columns=column).assign(group=group)


def _refuse_repeated_ids(ids: "pd.Series[str]", path: Path) -> None:
    repeated = ids[ids.notna() & ids.duplicated()]
    if len(repeated):
        raise InputError(
            f"The phenotype table '{path.name}' has two rows for '{repeated.iloc[0]}'. Keep one row a subject, "
            "or make the ids differ by session."
        )
