"""People are the unit of every mean, interval and test: several recordings of one person are averaged first.

Whose recording a subject is, :func:`biobgt.cohort.person_of` says.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biobgt.errors import InputError
from biobgt.wording import counted

FEWEST_COMPARED = 2  # people in each of two groups that are compared


def people_in_order(persons: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the people in the order of their first recordings, and where those stand."""
    first: dict[str, int] = {}
    for row, person in enumerate(persons):
        first.setdefault(person, row)
    return tuple(first), np.array(list(first.values()), dtype=np.int64)


def average_by_person(values: ArrayLike, persons: Sequence[str]) -> NDArray[np.float64]:
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
    rows: dict[str, list[int]] = {}
    for row, person in enumerate(persons):
        rows.setdefault(person, []).append(row)
    averaged = np.empty((len(rows), *array.shape[1:]), dtype=np.float64)
    for place, own in enumerate(rows.values()):
        averaged[place] = array[own[0]] if len(own) == 1 else _mean_of_known(array[own])
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


def _mean_of_known(recordings: NDArray[np.generic]) -> NDArray[np.float64]:
    """Mean over the first axis of what is not NaN; NaN where nothing is."""
    numbers = recordings.astype(np.float64)
    known = ~np.isnan(numbers)
    totals, counts = np.where(known, numbers, 0).sum(axis=0), known.sum(axis=0)
    return np.divide(totals, counts, out=np.full(totals.shape, np.nan), where=counts > 0)
