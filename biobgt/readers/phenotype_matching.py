"""Whose row is whose: subject ids that no two releases write alike.

Ids are compared exactly, then without ``sub-``, session and run, then without leading zeros, then by the number behind
a site's prefix (``NYU_0050952`` and ``50952``), then without an ending that all files share (``p01_ts``, ``p02_ts``).
A form counts only where it is one person's on both sides, and a row that was taken by a closer form is not given again.
What stays unmatched is listed.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from biobgt.cohort import Subject
from biobgt.readers.phenotypes import Phenotypes, is_known
from biobgt.wording import counted


@dataclass(frozen=True, eq=False)
class Matched:
    """Subjects with their phenotypes, what did not match on either side, and how the loosest matches were made."""

    subjects: tuple[Subject, ...]
    unmatched_subjects: tuple[str, ...]
    unmatched_rows: tuple[str, ...]
    notes: tuple[str, ...] = ()


def match_phenotypes(subjects: Iterable[Subject], phenotypes: Phenotypes) -> Matched:
    """Give each subject its row of the table, by id, and list what is left on both sides."""
    subjects = tuple(subjects)
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
    unmatched = tuple(subject.id for subject in subjects if subject.id not in row_of)
    used = set(row_of.values())
    rows = tuple(str(name) for i, name in enumerate(phenotypes.table["subject"]) if i not in used)
    matched = tuple(
        _with_row(subject, phenotypes.table.iloc[row_of[subject.id]]) if subject.id in row_of else subject
        for subject in subjects
    )
    return Matched(matched, unmatched, rows, tuple(notes))


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
        if form is not _number or _one_is_bare(name, rows[next(iter(rows_with[value]))])
    }


def same_person(identifier: str) -> str:
    """Return what is the same in all ways to write a person's id, but for a site's prefix."""
    return _without_zeros(identifier) or ""


def _exact(identifier: str) -> str | None:
    return identifier


def _person(identifier: str) -> str | None:
    """The id without ``sub-``, session and run."""
    bare = re.sub(r"^sub-", "", identifier, flags=re.IGNORECASE)
    return _RECORDING.sub("", bare).lower()


# To the very end, over ends of lines too: a search that could fail there would begin anew at every "_ses-".
_RECORDING = re.compile(r"_(?:ses|session|run|rest)[-_].*", re.IGNORECASE | re.DOTALL)


def _without_zeros(identifier: str) -> str | None:
    person = _person(identifier)
    return None if person is None else (person.lstrip("0") or "0")


def _number(identifier: str) -> str | None:
    """The number that is the whole id, or that stands behind a site's prefix and an underscore."""
    person = _person(identifier)
    match = re.fullmatch(r"(?:[a-z]\w*_)?(\d+)", person or "")
    return (match.group(1).lstrip("0") or "0") if match else None


def _one_is_bare(subject: str, row_names: tuple[str, ...]) -> bool:
    """Two prefixes that differ (``HC_01``, ``PAT_01``) are two people; a number alone may be either's."""
    return any((_person(name) or "").isdigit() for name in (subject, *row_names))


_FORMS: tuple[tuple[Callable[[str], str | None], str], ...] = (
    (_exact, ""),
    (_person, ""),
    (_without_zeros, ""),
    (_number, "by the number in their ids alone"),
)


def _without_ending(names: Iterable[str]) -> tuple[Callable[[str], str | None], str]:
    """The form of an id without the ending, from a separator on, that the names of two or more files share."""
    endings = [{name[at.start() :] for at in re.finditer("[_.-]", name)} for name in set(names)]
    ending = max(set.intersection(*endings), key=len, default="") if len(endings) > 1 else ""

    def form(identifier: str) -> str | None:
        return _without_zeros(identifier.removesuffix(ending)) if ending else None

    return form, f"without the '{ending}' at the end of their names"


def _with_row(subject: Subject, row: "pd.Series[str]") -> Subject:
    values = {
        str(key): _plain(value) for key, value in row.items() if key not in {"subject", "group"} and is_known(value)
    }
    group = row.get("group")
    return replace(
        subject,
        group=str(group) if is_known(group) else subject.group,
        phenotypes={**subject.phenotypes, **values},
    )


def _plain(value: object) -> object:
    return value.item() if hasattr(value, "item") else value
