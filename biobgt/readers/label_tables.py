"""BIDS label tables (``*_dseg.tsv``): the names of an atlas's regions, beside the data that were extracted with it.

A table of numbers without a header is in the order of such a table, if it has as many regions. XCP-D puts the tables in
a folder ``atlases`` of the whole data set, other programs put them beside each file.
"""

import re
from functools import lru_cache
from pathlib import Path

import pandas as pd

from biobgt.errors import InputError
from biobgt.limits import current_limits
from biobgt.readers.phenotypes import read_table_of_words, read_words
from biobgt.readers.releases import LabelTable

_TABLE = re.compile(r"(?:.*[_-])?dseg\.tsv", re.IGNORECASE)
_ENTITY = re.compile(r"(?:^|_)(?:atlas|seg)-([A-Za-z0-9]+)(?=[_.])")
_NAME_COLUMNS = ("label", "name", "region")


def is_label_table(path: Path) -> bool:
    """Whether a file is a label table, by its name."""
    return bool(_TABLE.fullmatch(path.name))


def label_table_beside(path: Path, root: Path | None) -> LabelTable | None:
    """Find the label table that belongs to a file; None where there is none, or more than one may be meant.

    It lies in the file's folder, in one above it up to the folder that the user named, or in the folder ``atlases`` of
    that one; where file and table both name an atlas (``atlas-``, ``seg-``), the names must be the same.
    """
    own = _ENTITY.search(path.name)
    for folder in folders_above(path, root):
        tables = [table for table in _tables_in(folder) if _fits(own, table)]
        if own is not None and (same := [table for table in tables if _ENTITY.search(table.name)]):
            tables = same
        if len(tables) == 1:
            return _read(tables[0], tables[0].stat().st_mtime_ns)
        if tables:
            return None
    return None


def folders_above(path: Path, root: Path | None) -> list[Path]:
    """The folders in which a file's labels may lie, the nearest first; ``root`` is the one that the user named.

    A link among them that leads out of ``root`` is not followed.
    """
    if root is None:
        return [path.parent]
    above = [folder for folder in path.parents if folder == root or root in folder.parents]
    shared, named = root / "atlases", root.resolve()
    if not _is_folder_within(shared, named):
        return above
    return [*above, shared, *sorted(folder for folder in shared.iterdir() if _is_folder_within(folder, named))]


def _is_folder_within(folder: Path, named: Path) -> bool:
    return folder.is_dir() and folder.resolve().is_relative_to(named)


def _tables_in(folder: Path) -> list[Path]:
    tables = (path for path in folder.glob("*dseg.tsv") if is_label_table(path))
    return sorted(path for path in tables if path.is_file() and not path.is_symlink())


def _fits(own: re.Match[str] | None, table: Path) -> bool:
    """Whether a table may belong to a file: neither names another atlas than the other."""
    named = _ENTITY.search(table.name)
    return own is None or named is None or own[1].lower() == named[1].lower()


@lru_cache(maxsize=64)
def _read(path: Path, _changed: int) -> LabelTable | None:
    """Read a table's names; one that cannot be read, or that names a region twice, says nothing."""
    limits = current_limits()
    try:
        table = read_table_of_words(read_words(path, limits, f"'{path.name}'"), f"'{path.name}'")
        limits.check("regions", len(table), f"'{path.name}'")
    except InputError:
        return None
    table.columns = pd.Index([str(column).strip().lower() for column in table.columns])
    column = next((name for name in _NAME_COLUMNS if name in table.columns), None)
    if column is None:
        return None
    if "index" in table.columns:
        numbers = pd.to_numeric(table["index"], errors="coerce")
        table = table[numbers > 0].assign(index=numbers).sort_values("index")
    names = tuple(str(name).strip() for name in table[column])
    return LabelTable(path.name, names) if len(set(names)) == len(names) > 1 else None
