"""Edge lists: one row per connection, with its two regions and its weight, of one subject or of many.

A list is told by the names of its columns (``from,to,weight``), or by two words before a number; lists of numbers alone
are asked about. A pair that is not listed has no connection, which is said. Both directions of a pair must agree.
"""

from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import ChoiceNeeded, InputError, first_line
from biobgt.base.limits import current_limits
from biobgt.base.wording import percent
from biobgt.data.atlas import CHOOSE_ITS_ATLAS, Atlas
from biobgt.readers.measurement import Reading
from biobgt.readers.tables import NOT_NUMBERS, begins_with, checked_text, find_separator, is_number, split_cells

if TYPE_CHECKING:
    from biobgt.readers.formats import ReadContext

EDGES: Final = "edges"  # what the user says such a table is
_ENDS = [("from", "to", ""), ("source", "target", ""), ("row", "col", ""), ("row", "column", ""), ("start", "end", "")]
_ENDS += [("i", "j", "k")]  # with the name of a third: columns that go on are regions, and no list
_ENDS += [
    (f"{what}{mark}{one}", f"{what}{mark}{other}", f"{what}{mark}{third}" if third else "")
    for what in ("node", "region", "roi", "parcel", "label", "area")
    for mark in ("", "_", " ", ".")
    for one, other, third in (("1", "2", "3"), ("a", "b", "c"), ("i", "j", "k"), ("from", "to", ""))
]
_WEIGHTS = ("weight", "weights", "w", "value", "strength", "connectivity", "correlation", "r", "z", "fc", "sc", "count")
_SUBJECTS = ("subject", "participant_id", "subject_id", "sub_id", "subj", "id", "participant", "sub")


@dataclass(frozen=True)
class _Columns:
    """Where a list has its regions, weights and subjects, by the numbers of columns."""

    first: int
    second: int
    weight: int
    subject: int | None
    n: int
    has_header: bool


def names_edges(names: list[str]) -> tuple[int, int] | None:
    """The two columns that name the ends of connections, by the header; None where it has none.

    >>> names_edges(["subject", "From", "To", "weight"]), names_edges(["roi1", "roi2", "roi3"])
    ((1, 2), None)
    """
    lower = [name.strip().lower() for name in names]
    found = ((a, b) for a, b, third in _ENDS if a in lower and b in lower and not (third and third in lower))
    return next(((lower.index(a), lower.index(b)) for a, b in found), None)


def read_edges(context: "ReadContext", path: Path) -> list[Reading] | None:
    """Read a list of connections; None where a table is none.

    Parameters
    ----------
    context : ReadContext
    path : Path

    Raises
    ------
    ChoiceNeeded
        Where numbers alone may be a list, or several columns may be the weights.
    """
    first = begins_with(context.file, 2)
    if not first or context.options.kind not in (None, EDGES):
        return None
    separator, decimal = find_separator(first[-1:])
    columns = _find_columns([split_cells(line, separator) for line in first], decimal, context)
    if columns is None:
        return None
    table = _parse(context, columns, separator, decimal)
    names = _names(table["a"]) | _names(table["b"])
    regions, place, numbered = _regions(names, context)
    readings = []
    groups = [(None, table)] if columns.subject is None else table.groupby("subject", observed=True, sort=False)
    subjects = 1 if columns.subject is None else table["subject"].nunique()
    limits = current_limits()
    limits.check("regions", len(regions), "The list")
    limits.check("subjects", subjects, "The list")
    limits.check("cohort_bytes", subjects * len(regions) ** 2 * 8, "The list, as one matrix per person,")
    for name, rows in groups:
        ends = [_places(rows[side], place) for side in ("a", "b")]
        matrix, n_listed = _matrix(ends[0], ends[1], rows["weight"].to_numpy(float), regions)
        n_pairs = len(regions) * (len(regions) - 1) // 2
        left_out = percent((n_pairs - n_listed) / max(1, n_pairs), 1)
        options: dict[str, str | float | bool] = {"connections": n_listed, "pairs not listed, and 0": left_out}
        notes = []
        if numbered is not None:
            options["regions numbered from"] = numbered
            notes.append(f"'{path.name}' numbers regions from {numbered}, up to {max(map(int, names))}.")
        if n_listed < n_pairs:
            notes.append(f"Pairs of regions that '{path.name}' does not list have no connection.")
        readings.append(
            Reading(
                values=matrix,
                region_names=None if numbered is not None else regions,
                row_names=None if numbered is not None else regions,
                content="connectivity",
                subject=None if name is None else str(name),
                options=options,
                notes=tuple(notes),
            )
        )
    return readings


def _find_columns(lines: list[list[str]], decimal: str, context: "ReadContext") -> _Columns | None:
    header, kind = lines[0], context.options.kind
    ends = names_edges(header)
    if ends is not None:
        lower = [name.strip().lower() for name in header]
        subject = next((lower.index(name) for name in _SUBJECTS if name in lower), None)
        return _Columns(
            *ends, _weight_column(header, lines[-1], {*ends, subject}, decimal, context), subject, len(header), True
        )
    if len(header) != 3:
        if kind == EDGES:
            raise InputError(
                "It has no two columns that name the regions of a connection. Name its columns from, to and weight, "
                "and subject where it lists those of many."
            )
        return None
    numbers = [[is_number(cell, decimal) and cell != "" for cell in line] for line in lines]
    if all(row == [False, False, True] for row in numbers) or kind == EDGES:
        return _Columns(0, 1, 2, None, 3, False)
    whole = all(cell.isdigit() for line in lines for cell in line[:2])
    if whole and all(all(row) for row in numbers) and not all(line[2].isdigit() for line in lines):
        raise ChoiceNeeded(
            "The table has two columns of whole numbers and one of weights, and no header.",
            option="kind",
            choices={
                EDGES: "each row is a connection: its two regions, by number, and its weight",
                "series": "it is the time series of three regions",
            },
        )
    return None


def _weight_column(
    header: list[str], first: list[str], taken: set[int | None], decimal: str, context: "ReadContext"
) -> int:
    """The column of weights: by its name, by the user's word, or the only one of numbers."""
    said = context.options.variable
    if said is not None and said in header:
        return header.index(said)
    lower = [name.strip().lower() for name in header]
    numbers = [i for i in range(min(len(header), len(first))) if i not in taken and is_number(first[i], decimal)]
    named = [i for i in numbers if lower[i] in _WEIGHTS]
    candidates = named if len(named) == 1 else numbers
    if not candidates:
        raise InputError("The list of connections has no column of weights. Add one, of ones where they have none.")
    if len(candidates) > 1:
        choices = [header[i] for i in candidates]
        raise ChoiceNeeded("Several columns may be the weights of connections.", option="variable", choices=choices)
    return candidates[0]


def _parse(context: "ReadContext", columns: _Columns, separator: str, decimal: str) -> pd.DataFrame:
    text = checked_text(context.file.read(), "connections")
    while text.lstrip().startswith("#"):
        text = text.lstrip().partition("\n")[2]
    named = {columns.first: "a", columns.second: "b", columns.weight: "weight"}
    if columns.subject is not None:
        named[columns.subject] = "subject"
    try:
        table = pd.read_csv(
            StringIO(text),
            sep=r"\s+" if separator == " " else separator,
            decimal=decimal,
            header=None,
            skiprows=int(columns.has_header),
            dtype=cast(Any, dict.fromkeys((i for i in range(columns.n) if i != columns.weight), "category")),
            keep_default_na=False,
            na_values=cast(Any, {columns.weight: NOT_NUMBERS}),
            index_col=False,
        )
    except (ValueError, pd.errors.ParserError) as error:
        raise InputError(f"The list of connections cannot be read ({first_line(error)}). Correct that line.") from None
    table = table[list(named)].set_axis(list(named.values()), axis=1)
    current_limits().check("connections", len(table), "The list")
    if table.empty:
        raise InputError("The list has no connection: there is no row below its header.")
    if not pd.api.types.is_numeric_dtype(table["weight"]):
        bad = next(str(word) for word in table["weight"] if pd.isna(pd.to_numeric(word, errors="coerce")))
        raise InputError(f"A weight of the list is '{bad[:40]}', which is no number. Correct it, or leave the row out.")
    if table["weight"].isna().any():
        row = int(np.flatnonzero(table["weight"].isna())[0]) + 1
        raise InputError(f"Connection {row} of the list has no weight. Add it, or leave the row out.")
    for side in ("a", "b"):
        if "" in _names(table[side]):
            raise InputError("A connection of the list has no name for one of its regions. Add it.")
    return table


def _names(ends: "pd.Series[Any]") -> set[str]:
    return {str(name).strip() for name in ends.cat.categories}


def _places(ends: "pd.Series[Any]", place: dict[str, int]) -> NDArray[np.int64]:
    """Where each end stands among the regions."""
    of_category = np.array([place[str(name).strip()] for name in ends.cat.categories])
    return of_category[ends.cat.codes.to_numpy()]


def _regions(names: set[str], context: "ReadContext") -> tuple[tuple[str, ...], dict[str, int], int | None]:
    """All regions, the place of each name among them, and the number of the first where they go by number."""
    limits, atlas = current_limits(), context.atlas
    if all(name.isascii() and name.isdigit() and len(name) < 10 for name in names):
        numbers = sorted({int(name) for name in names})
        if atlas is None and numbers[-1] > limits.regions:  # codes of an atlas
            ordered = tuple(map(str, numbers))
            return ordered, {name: numbers.index(int(name)) for name in names}, None
        start, n = _numbering(numbers, atlas, context)
        if numbers[-1] - start >= n:
            raise InputError(f"The list has a region {numbers[-1]}, and the chosen atlas has {n}. {CHOOSE_ITS_ATLAS}")
        return tuple(f"Region {i}" for i in range(1, n + 1)), {name: int(name) - start for name in names}, start
    if atlas is None:
        ordered = tuple(sorted(names))
        return ordered, {name: i for i, name in enumerate(ordered)}, None
    where = {region: i for i, region in enumerate(atlas.regions)}
    place = {name: where.get(atlas.own_names([name])[0], -1) for name in names}
    other = next((name for name in sorted(names) if place[name] < 0), None)
    if other is not None:
        raise InputError(f"The list has a region '{other}', which {atlas.title} has not. {CHOOSE_ITS_ATLAS}")
    return atlas.regions, place, None


def _numbering(numbers: list[int], atlas: Atlas | None, context: "ReadContext") -> tuple[int, int]:
    """The number of the first region, and how many there are."""
    said = context.options.numbering
    if said is not None:
        start = int(said)
        if numbers[0] < start:
            raise InputError(f"The list has a region {numbers[0]}, so regions are not numbered from {start}.")
    elif numbers[0] == 0 or atlas is None or numbers[-1] >= atlas.n_regions:
        start = min(1, numbers[0])
    else:
        raise ChoiceNeeded(
            f"The list has regions {numbers[0]} to {numbers[-1]} of the {atlas.n_regions} of {atlas.title}, so that "
            "the first one may be 0 or 1.",
            option="numbering",
            choices={"0": f"region 0 is {atlas.regions[0]}", "1": f"region 1 is {atlas.regions[0]}"},
        )
    return start, numbers[-1] - start + 1 if atlas is None else atlas.n_regions


def _matrix(
    first: NDArray[np.int64], second: NDArray[np.int64], weights: FloatArray, regions: tuple[str, ...]
) -> tuple[FloatArray, int]:
    """One subject's matrix, zero where nothing is listed, and how many pairs are."""
    n = len(regions)
    pair = np.minimum(first, second) * n + np.maximum(first, second)
    order = np.argsort(pair, kind="stable")
    same = pair[order][1:] == pair[order][:-1]
    unlike = np.abs(np.diff(weights[order])) > 1e-6 * np.abs(weights).max(initial=0)
    if (same & unlike).any():
        at = order[int(np.flatnonzero(same & unlike)[0])]
        one, other = regions[first[at]], regions[second[at]]
        said = weights[pair == pair[at]]
        raise InputError(
            f"'{one}' and '{other}' are listed more than once, with weights that differ ({said[0]:.4g} and "
            f"{said[said != said[0]][0]:.4g}). Directed connectivity is not supported: average the two first."
        )
    matrix = np.zeros((n, n))
    matrix[first, second] = weights
    matrix[second, first] = weights
    return matrix, len(np.unique(pair[first != second]))
