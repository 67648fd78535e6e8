"""Text tables of people: one row per person and one column per pair of regions.

Such a table is told by its header, and by the user's word on its content. Columns of a table of people that are no
pairs (id, group, age …) are kept as phenotypes.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from biobgt.base.errors import ChoiceNeeded, InputError
from biobgt.base.files import meant
from biobgt.base.limits import current_limits
from biobgt.base.wording import counted
from biobgt.readers.connections.pairs import (
    counted_pairs,
    may_be_pairs,
    named_pairs,
    not_pairs,
    readings_of_people,
    regions_of_pairs,
    settle_triangle,
)
from biobgt.readers.measurement import Reading
from biobgt.readers.phenotypes import ID_COLUMNS, as_id, as_phenotypes, values_of_row
from biobgt.readers.tables import (
    ROW_NUMBERS,
    LinesOfCells,
    begins_with,
    find_separator,
    is_number,
    lines_of_cells,
    split_cells,
    table_of_cells,
)

if TYPE_CHECKING:
    from biobgt.readers.formats import ReadContext

PAIRS: Final = "pairs"  # what the user says such a table is
_SESSIONS = ("session_id", "session", "ses")


def read_people(context: "ReadContext", path: Path) -> list[Reading] | None:
    """Read a table of one row per person and one column per pair of regions; None where it is no such table.

    Parameters
    ----------
    context : ReadContext
    path : Path

    Raises
    ------
    ChoiceNeeded
        Where it may be one, or where nothing says which pair each column is.
    """
    first = begins_with(context.file, 2)
    if not first or context.options.kind not in (None, PAIRS):
        return None
    separator, decimal = find_separator(first[-1:])
    header = split_cells(first[0], separator)
    has_names = any(not is_number(cell, decimal) for cell in header) or context.options.header == "yes"
    said = context.options.kind == PAIRS
    found = named_pairs(header) if has_names else None
    counting = counted_pairs(header, any_name=said)
    if found is None and counting is None and not said:
        _ask_about_wide_table(first, separator, decimal, context)
        return None
    table = lines_of_cells(context.file, header=None if found is None and counting is None else "yes")
    names = table.names
    if names is not None:
        found, counting = named_pairs(names), counted_pairs(names, any_name=said)
    columns = found[0] if found is not None else counting
    if columns is None:  # the user says that it is one
        columns = _columns_of_numbers(table)
    values = table.numbers(columns)
    if found is not None:
        pairs = found[1]
    else:
        guessed, decided = context.likely_atlas(path, regions_of_pairs(len(columns)))
        pairs = settle_triangle(values, context.options.triangle, guessed, decided=decided)
    options = {"separator": {"\t": "tab", " ": "space"}.get(table.separator, table.separator)}
    readings = readings_of_people(values, pairs, options=options)
    others = [i for i in range(table.n_columns) if i not in set(columns)]
    return _with_phenotypes(readings, table, others, path)


def _ask_about_wide_table(first: list[str], separator: str, decimal: str, context: "ReadContext") -> None:
    """Ask what a table is whose columns are too many for regions, and as many as regions have pairs."""
    limits = current_limits()
    cells = split_cells(first[-1], separator)
    n_columns = sum(is_number(cell, decimal) for cell in cells)
    atlas = context.atlas
    if n_columns <= limits.regions or not may_be_pairs(n_columns):
        return
    n = regions_of_pairs(n_columns)
    if atlas is not None and atlas.n_regions not in (n, (n or 0) - 1):
        return
    raise kind_question(f"The table has {n_columns:,} columns of numbers", n_columns)


def kind_question(what: str, n_columns: int) -> ChoiceNeeded:
    """Ask whether a wide table holds series, or people and pairs of regions.

    Parameters
    ----------
    what : str
        The table's size, as the beginning of a sentence.
    n_columns : int
        As many as some regions have pairs.
    """
    n = regions_of_pairs(n_columns) or 0
    return ChoiceNeeded(
        f"{what}, which is the number of pairs of {n} regions (or of {n - 1} with the diagonal).",
        option="kind",
        choices={
            PAIRS: f"each row is a person, and each of the {n_columns:,} columns a pair of regions",
            "series": f"it is one subject, with {n_columns:,} time points or regions",
        },
    )


def _columns_of_numbers(table: LinesOfCells) -> list[int]:
    """The columns of a table without names, but for row labels in front."""
    first = table.cells(0)
    columns = [i for i, cell in enumerate(first) if is_number(cell, table.decimal)]
    names = [] if table.names is None else [table.names[i] for i in columns]
    if not all(is_number(name, table.decimal) for name in names):
        known = ", ".join(repr(name[:40]) for name in names[:3])
        raise InputError(
            f"The names of its columns ({known} …) neither name pairs of regions nor count them, so columns of pairs "
            "cannot be told from others. Name them like A__B, or edge_1, edge_2 and so on."
        )
    if not may_be_pairs(len(columns)):
        raise not_pairs(len(columns))
    return columns


def _with_phenotypes(readings: list[Reading], table: LinesOfCells, others: list[int], path: Path) -> list[Reading]:
    """Give each person the id, group and further columns of their row."""
    if not others:
        return readings
    names = [(table.names[i].strip().lower() if table.names else "") or f"column {i + 1}" for i in others]
    cells = [[row[i] for i in others] for row in map(table.cells, range(len(table.rows)))]
    what = f"The table '{path.name}'"
    people = meant(table_of_cells(names, cells))
    people = people.drop(columns=[name for name in people if _counts_rows(str(name), people[name])])
    names = list(map(str, people.columns))
    if not names:
        return readings
    ids = next((name for name in ID_COLUMNS if name in names), None) or _words_that_differ(people)
    if ids is None:
        people.insert(0, ID_COLUMNS[0], range(1, len(people) + 1))
    session = next((name for name in _SESSIONS if name in names), None)
    if ids is not None and session is not None and people[ids].duplicated().any():
        said = people[session].map(lambda value: str(value).removeprefix("ses-").removesuffix(".0"))
        people[ids] = people[ids].map(as_id) + "_ses-" + said
    known = as_phenotypes(people, path, ids)
    if len(known.table) < len(readings):
        without = len(readings) - len(known.table)
        raise InputError(f"{what} has {counted(without, 'row')} without a subject id. Give each row one.")
    made = []
    for i, reading in enumerate(readings):
        group, values = values_of_row(known.table.iloc[i])
        subject = None if ids is None else str(known.table["subject"].iloc[i])
        made.append(replace(reading, subject=subject, group=group, phenotypes=values, notes=known.notes))
    return made


def _counts_rows(name: str, values: "pd.Series[Any]") -> bool:
    """Whether a column without a name of its own numbers the rows."""
    unnamed = name in ROW_NUMBERS or name.startswith("column ")
    return unnamed and values.dtype != object and bool((values.diff().iloc[1:] == 1).all())


def _words_that_differ(table: pd.DataFrame) -> str | None:
    """The first column whose values are words, and no two the same."""
    words = (name for name in table.columns if table[name].map(lambda cell: isinstance(cell, str)).all())
    return next((str(name) for name in words if table[name].is_unique), None)
