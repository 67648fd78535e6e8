"""Whose row is whose: subject ids that no two releases write alike.

Ids are compared exactly, then without ``sub-`` and session, then without leading zeros, then by the number behind a
site's prefix. A form of an id counts only where it is unique in the table; what stays unmatched is listed.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import pandas as pd

from biobgt.cohort import Subject
from biobgt.readers.phenotypes import Phenotypes, is_known

_N_FORMS = 4


@dataclass(frozen=True, eq=False)
class Matched:
    """Subjects with their phenotypes, and what did not match on either side."""

    subjects: tuple[Subject, ...]
    unmatched_subjects: tuple[str, ...]
    unmatched_rows: tuple[str, ...]


def match_phenotypes(subjects: Iterable[Subject], phenotypes: Phenotypes) -> Matched:
    """Give each subject its row of the table, by id, and list what is left on both sides."""
    rows_by_form = [_unique_forms(phenotypes.alternatives, depth) for depth in range(_N_FORMS)]
    matched: list[Subject] = []
    unmatched: list[str] = []
    used: set[int] = set()
    for subject in subjects:
        forms = _id_forms(subject.id)
        row = next((rows[form] for rows, form in zip(rows_by_form, forms, strict=True) if form in rows), None)
        if row is None:
            unmatched.append(subject.id)
            matched.append(subject)
            continue
        used.add(row)
        matched.append(_with_row(subject, phenotypes.table.iloc[row]))
    left = [str(phenotypes.table["subject"].iloc[i]) for i in range(len(phenotypes.table)) if i not in used]
    return Matched(tuple(matched), tuple(unmatched), tuple(left))


def _id_forms(identifier: str) -> tuple[str, ...]:
    """The ways one id is written, from the exact one to the bare number."""
    bare = re.sub(r"^sub-", "", identifier, flags=re.IGNORECASE)
    bare = re.sub(r"_(?:ses|session|run|rest)[-_].*$", "", bare, flags=re.IGNORECASE)
    number = re.search(r"(\d+)$", bare)
    return (
        identifier,
        bare.lower(),
        bare.lstrip("0").lower() or "0",
        (number.group(1).lstrip("0") or "0") if number else bare.lower(),
    )


def _unique_forms(alternatives: tuple[tuple[str, ...], ...], depth: int) -> Mapping[str, int]:
    rows: dict[str, int] = {}
    counts: Counter[str] = Counter()
    for i, names in enumerate(alternatives):
        for form in {_id_forms(name)[depth] for name in names}:
            rows[form] = i
            counts[form] += 1
    return {form: row for form, row in rows.items() if counts[form] == 1}


def _with_row(subject: Subject, row: "pd.Series[str]") -> Subject:
    values = {
        str(key): _plain(value) for key, value in row.items() if key not in {"subject", "group"} and is_known(value)
    }
    group = row.get("group")
    return replace(
        subject, group=str(group) if is_known(group) else subject.group, phenotypes={**subject.phenotypes, **values}
    )


def _plain(value: object) -> object:
    return value.item() if hasattr(value, "item") else value
