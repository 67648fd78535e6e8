"""Subjects and cohorts: what was measured, on whom, in which group, and from which file.

A :class:`Subject` holds either region time series or a connectivity matrix, already checked. A :class:`Cohort` holds
subjects that share an atlas, and everything a reader needs to say about how it came to be: what was refused and why,
which ids did not match, which files were set aside. People are the unit of every mean, interval and test: several
recordings of one person are averaged first.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError, Refusal
from biobgt.base.wording import counted, without_controls
from biobgt.data.atlas import CHOOSE_ITS_ATLAS, Atlas
from biobgt.data.graph import ESTIMATED, KINDS, ConnectivityKind, GivenKind, told_kind

GROUP_TITLES: Mapping[str, str] = {
    "NC": "normal controls",
    "ASD": "autism spectrum disorder",
    "ADHD": "attention deficit hyperactivity disorder",
    "MCI": "mild cognitive impairment",
    "AD": "Alzheimer's disease",
}
ATLAS_DECIDED_BY = "atlas decided by"  # among the options of a source: region names, a layout, the user, a number
ATLAS_BY_COUNT, ATLAS_BY_NAMES = "the number of regions alone", "the region names"
FEWEST_COMPARED = 2  # people in each of two groups that are compared
_RECORDING = re.compile(r"_(?:ses-|run-|session_).*")


def person_of(subject: str) -> str:
    """Say whose recording it is: the id without BIDS's session and run, and without ADHD-200's session."""
    return _RECORDING.sub("", subject)


def kind_of_group(group: str) -> str:
    """The group without the cohort in brackets behind it: ``NC`` for ``NC (ABIDE)``."""
    return group.split(" (")[0]


def is_silent(series: FloatArray) -> NDArray[np.bool_]:
    """Tell the regions without signal: constant up to rounding, shape (n_regions,)."""
    largest = np.abs(series).max(axis=0, initial=0)
    return np.asarray(np.ptp(series, axis=0) <= 1e-10 * largest)


@dataclass(frozen=True)
class Source:
    """Where a subject's numbers came from.

    ``file`` is relative to what the user named, so that no path of their machine enters an export.
    """

    file: str
    n_bytes: int
    sha256: str
    reader: str
    options: Mapping[str, str | float | bool] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Subject:
    """One person's data: region time series, or a connectivity matrix where no series were brought.

    Attributes
    ----------
    id : str
    series : ndarray, shape (n_timepoints, n_regions), or None
        Finite, and read-only, since results of them are kept; a region without signal is all zero.
    connectivity : ndarray, shape (n_regions, n_regions), or None
        Finite and symmetric; its diagonal is as brought, or zero where that was not finite.
    missing_regions : tuple of int
        Regions (counted from 0) that were entirely missing in the file and are zero here.
    lengths : ndarray, shape (n_regions, n_regions), or None
        Mean length of the tracts between regions in mm, where it was given with a structural matrix.
    group : str or None
    phenotypes : mapping
        Further columns of the phenotype table (site, age, sex, ...).
    tr : float or None
        Seconds between two time points, where known.
    source : Source or None
        None for a subject that was not read from a file.
    simulated : bool
        True for drawn subjects. Whatever shows them must say so.
    """

    id: str
    series: FloatArray | None = None
    connectivity: FloatArray | None = None
    missing_regions: tuple[int, ...] = ()
    lengths: FloatArray | None = None
    group: str | None = None
    phenotypes: Mapping[str, object] = field(default_factory=dict)
    tr: float | None = None
    source: Source | None = None
    simulated: bool = False

    def __post_init__(self) -> None:
        if (self.series is None) == (self.connectivity is None):
            raise ValueError("A subject has either series or connectivity.")
        if self.series is not None and self.series.flags.writeable:
            series = self.series.view()
            series.flags.writeable = False
            object.__setattr__(self, "series", series)
        object.__setattr__(self, "id", without_controls(self.id))
        object.__setattr__(self, "group", self.group and without_controls(self.group))

    @property
    def n_regions(self) -> int:
        """Number of regions."""
        return int(self._values.shape[1])

    @property
    def n_timepoints(self) -> int | None:
        """Number of time points, None for a connectivity matrix."""
        return None if self.series is None else int(self.series.shape[0])

    @property
    def kind(self) -> str:
        """``series`` or ``connectivity``."""
        return "connectivity" if self.series is None else "series"

    @property
    def origin(self) -> str:
        """The file it was read from, or its id where it was not."""
        return self.id if self.source is None else self.source.file

    @property
    def silent_regions(self) -> tuple[int, ...]:
        """Regions (counted from 0) without signal: constant series, or no connection at all."""
        if self.series is not None:
            return tuple(np.flatnonzero(is_silent(self.series)).tolist())
        connections = self._values - np.diag(np.diag(self._values))
        return tuple(np.flatnonzero(~connections.any(axis=0)).tolist())

    @property
    def _values(self) -> FloatArray:
        values = self.series if self.series is not None else self.connectivity
        assert values is not None
        return values


@dataclass(frozen=True, eq=False)
class Cohort:
    """Subjects that share an atlas, with the story of how they were read.

    Attributes
    ----------
    name : str
    subjects : tuple of Subject
        In the order in which they were read; ids are unique.
    atlas : Atlas
    refused : tuple of Refusal
        What was not loaded, and why.
    notes : tuple of str
        Sentences about choices made while reading, for the user to check.
    unmatched_subjects : tuple of str
        Subjects without a row in the phenotype table (empty when there was no table).
    unmatched_rows : tuple of str
        Ids in the phenotype table that no subject has.
    given : {"functional", "structural", "other"} or None
        What the connectivity matrices are that were brought; by default as their values tell, and where these do not,
        "functional" beside series and "other" otherwise. None where there are none.
    """

    name: str
    subjects: tuple[Subject, ...]
    atlas: Atlas
    refused: tuple[Refusal, ...] = ()
    notes: tuple[str, ...] = ()
    unmatched_subjects: tuple[str, ...] = ()
    unmatched_rows: tuple[str, ...] = ()
    given: GivenKind | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", without_controls(self.name))
        repeated = [name for name, count in Counter(self.ids).items() if count > 1]
        if repeated:
            raise InputError(f"The subject id '{repeated[0]}' stands twice in cohort '{self.name}'; ids must differ.")
        for subject in self.subjects:
            if subject.n_regions != self.atlas.n_regions:
                raise InputError(
                    f"Subject '{subject.id}' has {subject.n_regions} regions and atlas {self.atlas.name} has "
                    f"{self.atlas.n_regions}. {CHOOSE_ITS_ATLAS}"
                )
        matrices = [subject.connectivity for subject in self.subjects if subject.connectivity is not None]
        beside_series = 0 < len(matrices) < len(self.subjects)
        told = self.given or told_kind(*matrices) or ("functional" if beside_series else "other")
        object.__setattr__(self, "given", told if matrices else None)
        if self.given == "structural" and beside_series:
            raise InputError(
                f"Cohort '{self.name}' would have region series and structural connectivity matrices. One cohort has "
                "one kind of connectivity: read the two apart, for example with a pattern of file names."
            )

    def __len__(self) -> int:
        return len(self.subjects)

    def __iter__(self) -> Iterator[Subject]:
        return iter(self.subjects)

    def __getitem__(self, subject_id: str) -> Subject:
        for subject in self.subjects:
            if subject.id == subject_id:
                return subject
        raise InputError(f"There is no subject '{subject_id}' in cohort '{self.name}'.")

    @property
    def ids(self) -> tuple[str, ...]:
        """The subjects' ids, in order."""
        return tuple(subject.id for subject in self.subjects)

    @property
    def persons(self) -> tuple[str, ...]:
        """Whose recording each subject is, in order: sessions and runs of one person have the same name."""
        return tuple(person_of(subject.id) for subject in self.subjects)

    @property
    def kind(self) -> ConnectivityKind:
        """What its connectivity is: estimated here, or as the matrices are that were brought."""
        return KINDS[self.given or ESTIMATED]

    def kind_of(self, subject: Subject) -> ConnectivityKind:
        """What the connectivity of one subject is."""
        return KINDS[ESTIMATED] if subject.connectivity is None else self.kind

    @property
    def simulated(self) -> bool:
        """True if any subject is simulated."""
        return any(subject.simulated for subject in self.subjects)

    @property
    def atlas_decided_by(self) -> str:
        """What decided on the atlas (region names, a layout, the user, ...); empty where no file was read."""
        sources = (subject.source for subject in self.subjects if subject.source is not None)
        said = (str(source.options.get(ATLAS_DECIDED_BY, "")) for source in sources)
        return " and ".join(sorted({by for by in said if by}))

    @property
    def atlas_is_sure(self) -> bool:
        """Whether names, a layout or the user decided on every subject's atlas, not the number of regions alone."""
        return ATLAS_BY_COUNT not in self.atlas_decided_by

    @property
    def group_sizes(self) -> Mapping[str, int]:
        """Number of recordings in each group; controls first, those without a group left out."""
        counts = Counter(subject.group for subject in self.subjects if subject.group is not None)
        titles = list(GROUP_TITLES)
        known = sorted((g for g in counts if kind_of_group(g) in titles), key=lambda g: titles.index(kind_of_group(g)))
        return {group: counts[group] for group in [*known, *sorted(set(counts) - set(known))]}

    @property
    def group_people(self) -> Mapping[str, int]:
        """Number of people in each group, however many recordings they have; in the order of ``group_sizes``."""
        return {group: len(set(self.group(group).persons)) for group in self.group_sizes}

    def select(self, keep: Callable[[Subject], bool]) -> "Cohort":
        """Return the cohort of those subjects for which ``keep`` is true."""
        return replace(self, subjects=tuple(subject for subject in self.subjects if keep(subject)))

    def group(self, name: str) -> "Cohort":
        """Return the cohort of one group's subjects."""
        if name not in self.group_sizes:
            groups = ", ".join(self.group_sizes) or "none"
            raise InputError(f"Cohort '{self.name}' has no group '{name}'. Its groups: {groups}.")
        return self.select(lambda subject: subject.group == name)

    def noted(self, note: str, **changes: Any) -> "Cohort":
        """Return the cohort with a further note, and with other attributes changed."""
        return replace(self, notes=(*self.notes, note), **changes)

    def with_groups(self, groups: Mapping[str, str | None]) -> "Cohort":
        """Return the cohort with the group of the named subjects set."""
        for subject_id in groups:
            self[subject_id]  # says which id is not there
        changed = (
            replace(subject, group=groups[subject.id]) if subject.id in groups else subject for subject in self.subjects
        )
        return replace(self, subjects=tuple(changed))

    def table(self) -> pd.DataFrame:
        """One row per subject: id, group, what was measured, and the phenotypes."""
        rows = [
            {
                "subject": subject.id,
                "group": subject.group,
                "data": subject.kind,
                "time points": subject.n_timepoints,
                "regions": subject.n_regions,
                "simulated": subject.simulated,
                **subject.phenotypes,
            }
            for subject in self.subjects
        ]
        return pd.DataFrame(rows).astype({"time points": "Int64"})


def one_given_kind(cohorts: Iterable[Cohort]) -> GivenKind | None:
    """What the matrices of several cohorts are, which must be the same; None where none has any."""
    given = {cohort.given: cohort.name for cohort in cohorts if cohort.given is not None}
    if len(given) > 1:
        (one, other), names = sorted(given), list(given.values())
        raise InputError(
            f"The connectivity of '{names[0]}' and '{names[-1]}' is {one} and {other}. One cohort has one kind of "
            "connectivity: read them apart."
        )
    return next(iter(given), None)


def join_cohorts(cohorts: Iterable[Cohort], *, name: str) -> Cohort:
    """Put cohorts on the same atlas together under one name."""
    cohorts = tuple(cohorts)
    if not cohorts:
        raise InputError("There is no cohort to join.")
    sizes = {cohort.atlas.n_regions for cohort in cohorts}
    if len(sizes) > 1:
        raise InputError(f"Cohorts with {sorted(sizes)} regions cannot be joined; they need the same atlas.")
    return Cohort(
        name=name,
        subjects=tuple(subject for cohort in cohorts for subject in cohort),
        atlas=cohorts[0].atlas,
        refused=tuple(refusal for cohort in cohorts for refusal in cohort.refused),
        notes=tuple(note for cohort in cohorts for note in cohort.notes),
        unmatched_subjects=tuple(name for cohort in cohorts for name in cohort.unmatched_subjects),
        unmatched_rows=tuple(name for cohort in cohorts for name in cohort.unmatched_rows),
        given=one_given_kind(cohorts),
    )


# People, who may have several recordings each.

Recording = TypeVar("Recording")


def by_person(recordings: Iterable[Recording], persons: Iterable[str]) -> dict[str, list[Recording]]:
    """Every person's recordings, or whatever there is of each of them; people in the order of their first ones.

    >>> by_person(["one", "two", "three"], ["b", "a", "b"])
    {'b': ['one', 'three'], 'a': ['two']}
    """
    owned: dict[str, list[Recording]] = {}
    for recording, person in zip(recordings, persons, strict=True):
        owned.setdefault(person, []).append(recording)
    return owned


def people_in_order(persons: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the people in the order of their first recordings, and where those stand."""
    rows = by_person(range(len(persons)), persons)
    return tuple(rows), np.array([own[0] for own in rows.values()], dtype=np.int64)


def average_by_person(values: ArrayLike, persons: Sequence[str]) -> FloatArray:
    """Average the recordings of each person.

    Parameters
    ----------
    values : array-like, shape (n_recordings, ...)
        What is NaN in one recording is taken from the person's others.
    persons : sequence of str, length n_recordings
        Whose recording each is.

    Returns
    -------
    ndarray, shape (n_people, ...)
        In the order of the people's first recordings.
    """
    array = np.asarray(values)
    if len(array) != len(persons):
        raise InputError(f"There are {len(array)} recordings and {len(persons)} names of people for them.")
    rows = by_person(range(len(persons)), persons)
    averaged = np.empty((len(rows), *array.shape[1:]), dtype=np.float64)
    for place, own in enumerate(rows.values()):
        numbers = array[own].astype(np.float64)
        known = ~np.isnan(numbers)
        totals, counts = np.where(known, numbers, 0).sum(axis=0), known.sum(axis=0)
        averaged[place] = np.divide(totals, counts, out=np.full(totals.shape, np.nan), where=counts > 0)
    return averaged


def counted_people(n_people: int, n_recordings: int) -> str:
    """Say how many there are: ``6 subjects``, or ``24 recordings of 6 people`` where somebody has several.

    Parameters
    ----------
    n_people, n_recordings : int

    Examples
    --------
    >>> counted_people(6, 6), counted_people(6, 24)
    ('6 subjects', '24 recordings of 6 people')
    """
    if n_people == n_recordings:
        return counted(n_people, "subject")
    return f"{n_recordings:,} recordings of {number_of_people(n_people)}"


def number_of_people(n_people: int) -> str:
    """Say ``1 person``, ``2 people``."""
    return "1 person" if n_people == 1 else f"{n_people:,} people"
