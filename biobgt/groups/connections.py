"""How two groups differ in connectivity: connection by connection, or in the mean of one block of the matrix."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.base.files import write_csv
from biobgt.base.kept import Key, kept
from biobgt.base.wording import adjusted_for, capitalised, signed
from biobgt.data.cohort import average_by_person
from biobgt.data.graph import ConnectivityKind
from biobgt.groups.compare import ComparisonOptions, GroupComparison
from biobgt.groups.features import (
    CohortFeatures,
    PlannedComparison,
    compare_planned,
    plan_comparison,
    whole_connectivity,
)
from biobgt.inference.covariates import coded
from biobgt.inference.design import study_design
from biobgt.inference.edges import EdgeEffects, EdgeOptions, edge_effects
from biobgt.inference.permutation import group_effect
from biobgt.results.measured import Measured

_PAIRS_AT_ONCE = 20_000  # so that a fine atlas and many people fit in memory
_STEPS = 20  # in which a cohort is read


def block_mean(matrix: FloatArray, rows: Sequence[int], columns: Sequence[int]) -> float:
    """The mean over all cells of a block; regions with themselves, and gaps, are left out.

    Parameters
    ----------
    matrix : ndarray, shape (n_regions, n_regions)
    rows, columns : sequence of int
        Regions, counted from 0.

    Returns
    -------
    float
        NaN where no cell is left.

    Examples
    --------
    >>> round(block_mean(np.array([[1.0, 0.2, 0.4], [0.2, 1.0, 0.6], [0.4, 0.6, 1.0]]), [0, 1], [1, 2]), 3)
    0.4
    """
    cells = np.array(matrix[np.ix_(rows, columns)], dtype=np.float64)
    cells[np.equal.outer(rows, columns)] = np.nan
    known = cells[np.isfinite(cells)]
    return float(known.mean()) if len(known) else np.nan


def _whom(measured: Measured, options: ComparisonOptions, **about: Any) -> Hashable:
    """On what a comparison depends: groups and phenotypes may change while results are kept."""
    people = tuple((one.id, one.group) for one in measured.cohort)
    return options, people, write_csv(plan_comparison(measured.cohort, options).covariates.table), tuple(about.values())


def _of_everybody(
    measured: Measured, planned: PlannedComparison, take: Callable[[FloatArray], ArrayLike]
) -> NDArray[Any]:
    """What is taken of everybody's connectivity, of correlations Fisher z; NaN where there is no signal."""
    settings, taken = whole_connectivity(measured.cohort.kind), []
    for some in _steps(measured, len(planned.cohort), -(-len(planned.cohort) // _STEPS), "subjects read"):
        for subject in planned.cohort.subjects[some]:
            matrix = np.array(measured.of(subject.id, settings).connectivity(), dtype=np.float64)
            silent = list(subject.silent_regions)
            matrix[silent], matrix[:, silent] = np.nan, np.nan
            taken.append(take(matrix))
    return np.stack(taken)


def _steps(measured: Measured, n: int, step: int, what: str) -> Iterator[slice]:
    """Parts of long work; who waits sees how far it is, and it can be stopped before each."""
    for start in range(0, n, step):
        with measured.watch(Key(what, (n, start), f"{start:,} of {n:,} {what}…")):
            yield slice(start, start + step)


def connectivity_compared(kind: ConnectivityKind) -> str:
    """What groups are compared in, in words."""
    return "Fisher z" if kind.functional else f"{kind.key} connectivity"


@dataclass(frozen=True, eq=False)
class ConnectionEffects:
    """How two groups differ in every connection; nothing is tested.

    Attributes
    ----------
    difference, d : ndarray, shape (n_regions, n_regions)
        Second group minus first, adjusted for the covariates, as it is and in residual standard deviations; NaN on the
        diagonal, where somebody has no signal, and where nothing varies.
    between : tuple of two str
    n_subjects : dict of str to int
    covariates : tuple of str
    """

    difference: FloatArray
    d: FloatArray
    between: tuple[str, str]
    n_subjects: dict[str, int]
    covariates: tuple[str, ...]


@kept("Comparing every connection…", most=4, subject=False, graph=False, by=_whom)
def connection_effects(measured: Measured, options: ComparisonOptions) -> ConnectionEffects:
    """Compare two groups of a measured cohort in every connection, of correlations Fisher z.

    Parameters
    ----------
    measured : Measured
    options : ComparisonOptions
        Groups and covariates.
    """
    planned = plan_comparison(measured.cohort, options)
    people, n = planned.people, measured.atlas.n_regions
    people.design.check()
    pairs = np.triu_indices(n, 1)
    each = _of_everybody(measured, planned, lambda matrix: matrix[pairs].astype(np.float32))
    found = np.full((2, n, n), np.nan)
    for some in _steps(measured, each.shape[1], _PAIRS_AT_ONCE, "connections compared"):
        values = average_by_person(each[people.rows, some].astype(np.float64), people.owners)[people.complete]
        effects = group_effect(values, people.patients, people.design.columns, permutations=0, seed=0)
        found[:, pairs[0][some], pairs[1][some]] = effects[["difference", "d"]].to_numpy().T
    found = np.where(np.isnan(found), found.swapaxes(1, 2), found)
    return ConnectionEffects(found[0], found[1], options.groups, people.sizes, people.design.covariates)


@kept("Testing every connection…", most=4, subject=False, graph=False, by=_whom)
def connections_tested(measured: Measured, options: ComparisonOptions, how: EdgeOptions) -> EdgeEffects:
    """Test two groups of a measured cohort in every connection, of correlations Fisher z.

    Parameters
    ----------
    measured : Measured
    options : ComparisonOptions
        Groups and covariates.
    how : EdgeOptions
        The correction; statistics are positive where the second group is higher.
    """
    planned = plan_comparison(measured.cohort, options)
    planned.people.design.check()
    pairs = np.triu_indices(measured.atlas.n_regions, 1)
    each = _of_everybody(measured, planned, lambda matrix: matrix[pairs].astype(np.float32))
    known = coded(planned.covariates.table).reset_index(drop=True)
    known.columns = [f"covariate{number}" for number in range(known.shape[1])]  # whatever they are called
    order = [f"{options.groups.index(str(subject.group))}" for subject in planned.cohort]
    formula = " + ".join(["~ compared", *known.columns])
    persons = planned.cohort.persons
    design = study_design(known.assign(compared=order), formula, test="compared", persons=persons)
    return edge_effects(design, each, how)


@kept("Comparing a block…", most=64, subject=False, graph=False, by=_whom)
def compare_block(
    measured: Measured, options: ComparisonOptions, rows: tuple[int, ...], columns: tuple[int, ...]
) -> GroupComparison:
    """Compare two groups of a measured cohort in the mean connectivity of one block, of correlations Fisher z.

    Parameters
    ----------
    measured : Measured
    options : ComparisonOptions
        Groups, covariates, permutations and seed; what is compared is the block.
    rows, columns : tuple of int
        Regions, counted from 0.
    """
    planned = plan_comparison(measured.cohort, options)
    means = _of_everybody(measured, planned, lambda matrix: block_mean(matrix, rows, columns))
    features = CohortFeatures(means[:, None], ("block",), "the block")
    return compare_planned(planned, features, options)


def block_words(measured: Measured, options: ComparisonOptions, rows: tuple[int, ...], columns: tuple[int, ...]) -> str:
    """Say how two groups differ in a block: the effect with its interval and the test, in a sentence.

    Parameters
    ----------
    measured, options, rows, columns
        As for :func:`compare_block`.
    """
    try:
        found = compare_block(measured, options, rows, columns)
    except InputError as error:
        return str(error)
    (first, second), kind = found.between, measured.cohort.kind
    tested = found.table.iloc[0]
    what = capitalised(connectivity_compared(kind))
    if np.isnan(tested["p"]):
        return "It is not known of every subject, so the groups are not compared."
    sizes = ", ".join(f"{n} {group}" for group, n in found.n_subjects.items())
    interval = f"[{signed(tested['d_low'], 2)}, {signed(tested['d_high'], 2)}]"
    return (
        f"{what}, {second} − {first}: d = {signed(tested['d'], 2)} {interval}, p = {tested['p']:.2g} "
        f"({sizes}; this block alone, not corrected for its choice, {adjusted_for(found.covariates)})."
    )
