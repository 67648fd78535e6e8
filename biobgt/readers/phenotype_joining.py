"""Several phenotype tables to one: rows of other subjects below, columns of the same subjects beside.

CNI-2019 has one table per subject; some studies keep groups and scores apart. Tables are added one by one, each in a
time that grows with its own cells alone, and the frame is made once at the end.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any

import pandas as pd

from biobgt.errors import InputError
from biobgt.limits import current_limits
from biobgt.readers.phenotypes import Phenotypes, is_known

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
        n_rows = len(self._names) + sum(name not in self._names for name in _subjects(other))
        columns = [column for column in _columns(other) if column not in self._columns]
        n_columns = 1 + len(self._columns) + len(columns)  # with the subject's
        limits = current_limits()
        limits.check("table_rows", n_rows, _WHAT)
        limits.check("table_columns", n_columns, _WHAT)
        limits.check("table_cells", n_rows * n_columns, _WHAT)

    def add(self, other: Phenotypes) -> None:
        """Add a table, unless it contradicts those before it."""
        subjects = _subjects(other)
        present = {column: _present(other, column, subjects) for column in _columns(other)}
        self._refuse_contradiction(present)
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

    def _refuse_contradiction(self, present: Mapping[str, Mapping[str, Any]]) -> None:
        for column, theirs in present.items():
            ours = self._columns.get(column, {})
            for name, value in theirs.items():
                if name in ours and not _agree(ours[name], value):
                    raise InputError(
                        f"Two phenotype tables disagree on '{column}' of '{name}': {ours[name]} and {value}."
                    )


def _agree(one: Any, other: Any) -> bool:
    """Numbers agree however a table keeps them: a column with gaps has 70.0 for 70. Unknown agrees with everything."""
    return bool(one == other) or str(one) == str(other) or not (is_known(one) and is_known(other))


def _subjects(phenotypes: Phenotypes) -> list[str]:
    return [str(name) for name in phenotypes.table["subject"]]


def _columns(phenotypes: Phenotypes) -> list[str]:
    return [column for column in phenotypes.table.columns if column != "subject"]


def _present(phenotypes: Phenotypes, column: str, subjects: Sequence[str]) -> dict[str, Any]:
    """What a column says, by subject, without those of whom it says nothing."""
    values = phenotypes.table[column]
    return dict(compress(zip(subjects, values.tolist(), strict=True), values.notna()))
