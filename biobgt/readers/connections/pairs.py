"""Connections of people as rows of a table: one column per pair of regions, as many share their connectomes.

n regions have n(n - 1)/2 pairs, and n(n + 1)/2 where each region and itself counts too. Names of columns may say which
pair each column is (``Vis_1__Vis_2``, ``edge_1_2``). Where they do not, two orders are usual, and both fill a matrix
without any sign of error: the user is asked which it is (:class:`~biobgt.base.errors.ChoiceNeeded`). What the values
suggest is said with the question and never taken for the answer, except for a diagonal of one and the same value.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import ChoiceNeeded, InputError
from biobgt.base.limits import current_limits
from biobgt.base.wording import counted
from biobgt.data.atlas import CHOOSE_ITS_ATLAS, Atlas
from biobgt.readers.measurement import Reading

Triangle = Literal["upper", "lower", "upper-diagonal", "lower-diagonal"]
TRIANGLES: Mapping[Triangle, str] = {
    "upper": "upper triangle row by row (1-2, 1-3, 1-4 …), which is the lower one column by column, as "
    "numpy.triu_indices, MATLAB's squareform and R's lower.tri give it",
    "lower": "lower triangle row by row (2-1, 3-1, 3-2 …), which is the upper one column by column, as "
    "numpy.tril_indices, MATLAB's triu and R's upper.tri give it",
    "upper-diagonal": "upper triangle row by row with the diagonal (1-1, 1-2, 1-3 …)",
    "lower-diagonal": "lower triangle row by row with the diagonal (1-1, 2-1, 2-2 …), as nilearn gives it",
}
_FEWEST = 3  # regions whose pairs tell anything
_FEWEST_COUNTED = 4  # regions of columns that are told by counting names alone
_LOOKED_AT = 50  # people whose mean is looked at
_MIRRORED_MM = 15.0  # how far a region may lie from the mirror image of another
_NO_CORRELATIONS = -0.05  # smallest eigenvalue of correlations, with the rounding of half precision


@dataclass(frozen=True, eq=False)
class Pairs:
    """Which pair of regions each of some columns is.

    Attributes
    ----------
    n_regions : int
    first, second : ndarray, shape (n_columns,)
        The two regions of each column, counted from 0.
    decided_by : str
        What said so, for the provenance.
    regions : tuple of str or None
        Their names, where columns have them.
    """

    n_regions: int
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    decided_by: str
    regions: tuple[str, ...] | None = None

    def matrix(self, values: FloatArray) -> FloatArray:
        """One person's matrix, shape (n_regions, n_regions); a diagonal that no column gives is zero.

        Where columns give both directions of a pair, each stands where it belongs.
        """
        matrix = np.zeros((self.n_regions, self.n_regions))
        matrix[self.second, self.first] = values
        matrix[self.first, self.second] = values
        return matrix


def regions_of_pairs(n_pairs: int) -> int | None:
    """How many regions have so many pairs; None where no number of regions has.

    >>> regions_of_pairs(19_900), regions_of_pairs(19_901)
    (200, None)
    """
    n = (1 + isqrt(1 + 8 * n_pairs)) // 2
    return n if n_pairs > 0 and n * (n - 1) // 2 == n_pairs else None


def may_be_pairs(n_columns: int) -> bool:
    """Whether a number of columns is one of pairs of regions."""
    return (regions_of_pairs(n_columns) or 0) >= _FEWEST


def _in_triangle(triangle: Triangle, n_columns: int, decided_by: str) -> Pairs:
    """Columns in the order of a triangle; their number must be one of pairs.

    Parameters
    ----------
    triangle : str
        One of :data:`TRIANGLES`.
    n_columns : int
    decided_by : str
        What said so, for the provenance.
    """
    below, with_diagonal = triangle.startswith("lower"), triangle.endswith("diagonal")
    n = (regions_of_pairs(n_columns) or 0) - with_diagonal
    if n < 2:
        raise not_pairs(n_columns)
    indices = np.tril_indices(n, 0 if with_diagonal else -1) if below else np.triu_indices(n, 0 if with_diagonal else 1)
    return Pairs(n, *indices, decided_by=f"{TRIANGLES[triangle]}; {decided_by}")


def not_pairs(n_columns: int) -> InputError:
    """That so many columns are no pairs of regions."""
    n = (1 + isqrt(1 + 8 * n_columns)) // 2
    return InputError(
        f"It has {n_columns:,} columns of numbers for each person, which is no number of pairs: {n} regions have "
        f"{n * (n - 1) // 2:,} and {n + 1} have {n * (n + 1) // 2:,}. Leave one column for each pair, and name those "
        "that hold something else, such as age."
    )


def readings_of_people(values: FloatArray, pairs: Pairs, *, options: Mapping[str, str | float | bool]) -> list[Reading]:
    """One reading per person.

    Parameters
    ----------
    values : ndarray, shape (n_people, n_columns)
    pairs : Pairs
    options : mapping
        How the table was read, for the provenance.
    """
    limits, n = current_limits(), pairs.n_regions
    limits.check("subjects", len(values), "The table")
    limits.check("regions", n, "The table")
    limits.check("cohort_bytes", len(values) * n * n * 8, "The table, as one matrix per person,")
    return [
        Reading(
            values=pairs.matrix(row),
            region_names=pairs.regions,
            row_names=pairs.regions,
            content="connectivity",
            options={**options, "row": i, "order of pairs": pairs.decided_by},
        )
        for i, row in enumerate(np.asarray(values, dtype=np.float64), start=1)
    ]


# Columns whose names say which pair they are, or that they are pairs.


_SEPARATORS = ("<->", "-->", "->", "___", "__", "--", "~", "|", ":", " - ", " vs ", "_vs_", "_to_", " to ", "_and_")
_WEAK_SEPARATORS = (".", "-", "_", "/", " ")  # which names of phenotypes have, too
_WHAT = r"edges?|fc|sc|conn|connections?|connectivity|corr|correlations?|pairs?|links?"
_PREFIX = re.compile(rf"(?:{_WHAT}|r|z|w|weight)[_.: -]+", re.IGNORECASE)
_COUNTED_PAIR = re.compile(rf"(?:{_WHAT})[_.: -]?#", re.IGNORECASE)
_MOST_ABSENT = 0.1  # of the pairs: with more, the names are taken to mean something else


def named_pairs(names: Sequence[str]) -> tuple[list[int], Pairs] | None:
    """Find the columns that are named by pairs of regions.

    Parameters
    ----------
    names : sequence of str
        Of all columns.

    Returns
    -------
    columns : list of int
    pairs : Pairs

    Raises
    ------
    InputError
        Where nearly all pairs have a column, and some have none, or more than one.
    """
    if len(names) < _FEWEST:
        return None
    for split, fewest in _splits(names):
        if len(split) >= fewest * (fewest - 1) // 2 and (found := _all_pairs(split, fewest, names)) is not None:
            return found
    return None


def _splits(names: Sequence[str]) -> Iterator[tuple[dict[int, tuple[str, str]], int]]:
    """Ways to read names as pairs: by what stands between two names, or as two numbers."""
    bare = [_PREFIX.sub("", name, count=1) if _PREFIX.match(name) else name for name in names]
    for separator in (*_SEPARATORS, *_WEAK_SEPARATORS):
        fewest = _FEWEST if separator in _SEPARATORS else _FEWEST_COUNTED
        for written in (names, bare):
            parts = {i: name.split(separator) for i, name in enumerate(written) if separator in name}
            yield {i: (a.strip(), b.strip()) for i, (a, b) in _of_two(parts) if a.strip() and b.strip()}, fewest
    numbered: dict[str, dict[int, tuple[str, str]]] = defaultdict(dict)
    for i, name in enumerate(names):
        numbers = re.findall(r"\d+", name)
        if len(numbers) == 2:
            numbered[re.sub(r"\d+", "#", name)][i] = (str(int(numbers[0])), str(int(numbers[1])))
    for split in numbered.values():
        yield split, _FEWEST


def _of_two(parts: Mapping[int, list[str]]) -> Iterator[tuple[int, list[str]]]:
    return ((i, pair) for i, pair in parts.items() if len(pair) == 2)


def _all_pairs(
    split: Mapping[int, tuple[str, str]], fewest: int, names: Sequence[str]
) -> tuple[list[int], Pairs] | None:
    """The columns of all pairs of some regions; None where too many pairs have none."""
    others: dict[str, set[str]] = defaultdict(set)
    for a, b in split.values():
        others[a].add(b)
        others[b].add(a)
    degrees = {name: len(known - {name}) for name, known in others.items()}
    most = max(degrees.values(), default=0)
    regions = {name for name, degree in degrees.items() if degree > most / 2}
    kept = {i: pair for i, pair in split.items() if regions.issuperset(pair)}
    n = len(regions)
    there = {frozenset(pair) for pair in kept.values() if pair[0] != pair[1]}
    n_absent = n * (n - 1) // 2 - len(there)
    if n < fewest or n_absent > _MOST_ABSENT * n * (n - 1) / 2:
        return None
    if n_absent:
        a = next(a for a in others if a in regions and len(others[a] & regions - {a}) < n - 1)
        b = next(b for b in others if b in regions - others[a] - {a})
        raise InputError(
            f"Its columns name pairs of {n} regions, and {counted(n_absent, 'pair')} of them, such as '{a}' with "
            f"'{b}', have no column. Write NaN in a column where values are missing."
        )
    counts = Counter(kept.values())
    if (twice := next((pair for pair, count in counts.items() if count > 1), None)) is not None:
        same = [names[i] for i, pair in kept.items() if pair == twice]
        raise InputError(f"Two columns, '{same[0]}' and '{same[1]}', are the same pair of regions. Leave one of them.")
    ordered, named = _in_order(list(kept.values()), regions)
    place = {name: i for i, name in enumerate(ordered)}
    first, second = (np.array([place[pair[side]] for pair in kept.values()]) for side in (0, 1))
    return list(kept), Pairs(n, first, second, "names of columns", tuple(ordered) if named else None)


def _in_order(pairs: Sequence[tuple[str, str]], regions: set[str]) -> tuple[list[str], bool]:
    """Regions in the order that the columns have them in, and whether they have names that do more than count."""
    if all(name.isdigit() for name in regions):
        ordered = sorted(regions, key=int)
        counts = [int(name) for name in ordered]
        return ordered, counts not in (list(range(len(counts))), list(range(1, len(counts) + 1)))
    seen = list(dict.fromkeys(name for pair in pairs for name in pair))
    before = Counter(a for a, b in pairs if a != b)
    if sorted(before[name] for name in regions) != list(range(len(regions))):  # in no one direction throughout
        return seen, True
    downwards = max(before[name] for name in pairs[0]) == len(regions) - 1  # the first pair has the first region
    return sorted(seen, key=lambda name: -before[name] if downwards else before[name]), True


def counted_pairs(names: Sequence[str], *, any_name: bool = False) -> list[int] | None:
    """Find the columns that only count (``edge_1``, ``edge_2``), as many as some regions have pairs.

    Parameters
    ----------
    names : sequence of str
    any_name : bool
        Whether names before the numbers may be any, as the user said that they are pairs.
    """
    runs: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for i, name in enumerate(names):
        number = re.search(r"(\d+)(?:\.0*)?$", name)
        if number is not None:
            runs[f"{name[: number.start()]}#"].append((i, int(number[1])))
    for what, run in sorted(runs.items(), key=lambda item: -len(item[1])):
        numbers = [number for _, number in run]
        counts = numbers == list(range(numbers[0], numbers[0] + len(numbers))) and numbers[0] in (0, 1)
        enough = (regions_of_pairs(len(run)) or 0) >= _FEWEST_COUNTED
        if counts and enough and (any_name or _COUNTED_PAIR.fullmatch(what)):
            return [i for i, _ in run]
    return None


# Columns without names of pairs: in the order of which triangle they are.


def settle_triangle(values: FloatArray, said: Triangle | None, atlas: Atlas | None, *, decided: bool) -> Pairs:
    """Say which pair each column is, as the user or the diagonal says, or ask.

    Parameters
    ----------
    values : ndarray, shape (n_people, n_columns)
    said : Triangle or None
        The user's word.
    atlas : Atlas or None
        Of the data, as far as it is known before they are read.
    decided : bool
        Whether the user said that it is that atlas; otherwise it is taken as evidence alone.

    Raises
    ------
    ChoiceNeeded
        Where both orders are possible.
    """
    n_columns = values.shape[1]
    with_none = regions_of_pairs(n_columns)
    if with_none is None:
        raise not_pairs(n_columns)
    current_limits().check("regions", with_none - 1, "The table")
    if said is not None:
        return _in_triangle(said, n_columns, "the user")
    offered = {one: _in_triangle(one, n_columns, "") for one in get_args(Triangle)} if with_none > _FEWEST else {}
    offered = offered or {one: _in_triangle(one, n_columns, "") for one in ("upper", "lower")}
    if decided and atlas is not None:
        offered = {one: pairs for one, pairs in offered.items() if pairs.n_regions == atlas.n_regions}
        if not offered:
            raise InputError(
                f"Its {n_columns:,} columns are the pairs of {with_none} regions, or with the diagonal of "
                f"{with_none - 1}, and the chosen atlas has {atlas.n_regions}. {CHOOSE_ITS_ATLAS}"
            )
    looked_at = np.asarray(values[:_LOOKED_AT], dtype=np.float64)
    by_diagonal = [one for one, pairs in offered.items() if _has_one_diagonal(looked_at, pairs)]
    if len(by_diagonal) == 1:
        return _in_triangle(by_diagonal[0], n_columns, "the one value on the diagonal")
    known = np.isfinite(looked_at)
    mean = np.where(known, looked_at, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    raise ChoiceNeeded(
        f"Each person has {n_columns:,} values, and nothing says which pair of regions each of them is."
        f"{''.join(f' {said}' for said in _suggestions(mean, offered, atlas))}",
        option="triangle",
        choices={one: f"{pairs.n_regions} regions, {TRIANGLES[one]}" for one, pairs in offered.items()},
    )


def _has_one_diagonal(values: FloatArray, pairs: Pairs) -> bool:
    """Whether each person's diagonal, in this order, is one and the same value, and the pairs are not."""
    diagonal = pairs.first == pairs.second
    if not diagonal.any():
        return False
    own, others = values[:, diagonal], values[:, ~diagonal]
    same = np.isnan(own).all() or bool((np.ptp(own, axis=1) <= 1e-6 * np.abs(own).max(initial=1e-300)).all())
    return same and bool((np.nanmax(others, axis=1) > np.nanmin(others, axis=1)).any())


def _suggestions(mean: FloatArray, offered: Mapping[Triangle, Pairs], atlas: Atlas | None) -> Iterator[str]:
    """What the mean over people says for one order or the other, in sentences."""
    matrices = {one: pairs.matrix(mean) for one, pairs in offered.items() if not one.endswith("diagonal")}
    matrices = matrices or {one: pairs.matrix(mean) for one, pairs in offered.items()}
    if np.abs(mean).max(initial=0) <= 1 and mean.min(initial=0) < 0:
        smallest = {}
        for one, matrix in matrices.items():
            full = matrix.copy()
            np.fill_diagonal(full, 1)
            smallest[one] = float(np.linalg.eigvalsh(full)[0])
        numbers = " and ".join(f"{value:.2f} for {one}" for one, value in smallest.items())
        fitting = [one for one, value in smallest.items() if value >= _NO_CORRELATIONS]
        if len(fitting) == 1:
            yield (
                f"The smallest eigenvalue of the mean matrix is {numbers}; a matrix of correlations has none below 0, "
                f"which suggests {fitting[0]}."
            )
    if atlas is None or any(pairs.n_regions != atlas.n_regions for one, pairs in offered.items() if one in matrices):
        return
    mirrored = _mirrored_regions(atlas)
    if mirrored is not None:
        left, right = mirrored
        numbers = " and ".join(f"{matrix[left, right].mean():.3g} for {one}" for one, matrix in matrices.items())
        yield (
            f"If the regions are those of {atlas.title}, the mean connection between mirrored regions of the two "
            f"hemispheres is {numbers}, of all pairs {mean.mean():.3g}; mirrored regions are usually connected most."
        )
    if atlas.labels:
        labels = np.array([label or "" for label in next(iter(atlas.labels.values()))])
        same = (labels[:, None] == labels) & (labels != "") & ~np.eye(len(labels), dtype=bool)
        if same.any():
            numbers = " and ".join(f"{matrix[same].mean():.3g} for {one}" for one, matrix in matrices.items())
            yield f"Within its networks ({next(iter(atlas.labels))}) the mean connection is {numbers}."


def _mirrored_regions(atlas: Atlas) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Regions of the left hemisphere, and of the right the nearest to each one's mirror image."""
    if atlas.coordinates is None or not atlas.placed.all():
        return None
    sides = np.array(atlas.hemispheres)
    left, right = np.flatnonzero(sides == "L"), np.flatnonzero(sides == "R")
    if not left.size or not right.size:
        return None
    apart = np.linalg.norm((atlas.coordinates[left] * (-1, 1, 1))[:, None] - atlas.coordinates[right], axis=2)
    near = apart.min(axis=1) <= _MIRRORED_MM
    return (left[near], right[apart.argmin(axis=1)[near]]) if near.any() else None
