"""Do two groups differ, and is it the diagnosis? Tests over unique subjects, with and without covariates.

Every result stands twice: adjusted for the covariates, and (columns ending in ``_unadjusted``) as it would look without
them, in the same subjects. A difference that is strong only without them is a difference in motion, age, sex or site.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from biobgt.covariate_words import UNADJUSTED_DIFFERENCE
from biobgt.errors import InputError
from biobgt.groups.compared_people import compared_people
from biobgt.groups.comparison_options import PERMUTATIONS
from biobgt.groups.design import Design, check_design, design_notes
from biobgt.groups.permutation import GroupEffect, group_effect
from biobgt.model.attention_views import GIVEN_FC, OF_FC
from biobgt.people import average_by_person
from biobgt.wording import counted

EFFECT_COLUMNS = ("difference", "d", "d_low", "d_high", "t", "p", "p_family", "q")


@dataclass(frozen=True, eq=False)
class GroupComparison:
    """Two groups compared, feature by feature.

    Attributes
    ----------
    table : DataFrame
        A row per feature: ``feature``; ``mean_<group>`` of both, as measured; then :data:`EFFECT_COLUMNS` adjusted for
        the covariates, and the same with ``_unadjusted``: the ``difference`` (second group minus first), ``d`` in
        residual standard deviations with its 95 % interval, Welch's ``t``, and permutation ``p``, ``p_family``
        (family-wise, largest statistic) and ``q`` (false discovery rate). With connectivity beside the features, the
        same with ``_of_fc``, of the connectivity, and with ``_given_fc``, of the feature with its connectivity
        as one more covariate. NaN for a feature that does not vary or is missing for someone.
    between : tuple of two str
    n_subjects : dict of str to int
        Unique subjects of each group that were used.
    n_dropped : int
        Subjects of the two groups left out because a covariate is missing.
    n_repeated : int
        Rows beyond the first of a subject; they were averaged before the test.
    covariates : tuple of str
        Those that were adjusted for.
    permutations, seed : int
    design : Design
        What the covariates take, and how far they and the group are confounded.
    notes : tuple of str
        Sentences on what was left out, averaged, confounded or could not be tested.
    """

    table: pd.DataFrame
    between: tuple[str, str]
    n_subjects: dict[str, int]
    n_dropped: int
    n_repeated: int
    covariates: tuple[str, ...]
    permutations: int
    seed: int
    design: Design
    notes: tuple[str, ...] = ()


def compare_groups(
    values: ArrayLike,
    groups: Sequence[str | None],
    *,
    subjects: Sequence[str],
    between: tuple[str, str] = ("NC", "ASD"),
    covariates: pd.DataFrame | None = None,
    connectivity: ArrayLike | None = None,
    features: Sequence[str] | None = None,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> GroupComparison:
    """Compare two groups in every feature with a linear model and permutations (Freedman & Lane).

    Refused where covariates leave fewer than :data:`biobgt.groups.design.LEAST_DEGREES` residual degrees of freedom, or
    cannot be told from the group.

    Parameters
    ----------
    values : array-like, shape (n_rows, n_features)
    groups : sequence of str or None, length n_rows
        Rows of other groups are left out.
    subjects : sequence of str, length n_rows
        Whose row each is. Rows of one person are averaged first: the test is over persons, not over scans.
    between : tuple of two str
        Controls and patients; a positive difference is higher in the second.
    covariates : DataFrame, n_rows rows, or None
        In the order of ``values``, see :func:`biobgt.groups.covariates_of`. Numbers are standardised; words, and the
        columns ``sex`` and ``site``, coded by value. Subjects with a missing one are left out of both tests.
    connectivity : array-like, shape (n_rows, n_features), or None
        The connectivity beside each feature, tested likewise and adjusted for.
    features : sequence of str, length n_features, or None
        Names; numbers from 1 if None.
    permutations, seed : int

    Returns
    -------
    GroupComparison

    Examples
    --------
    In the second of two features, patients are higher by three standard deviations.

    >>> groups = ["NC"] * 10 + ["ASD"] * 10
    >>> values = np.random.default_rng(0).normal(size=(20, 2))
    >>> values[10:, 1] += 3
    >>> found = compare_groups(values, groups, subjects=[str(i) for i in range(20)], permutations=999)
    >>> (found.table["p_family"] < 0.05).tolist()
    [False, True]
    """
    array = _checked(values, groups, subjects, covariates, between, permutations)
    names = [str(i + 1) for i in range(array.shape[1])] if features is None else list(map(str, features))
    if len(names) != array.shape[1]:
        raise InputError(f"There are {array.shape[1]} features and {len(names)} names for them.")
    people = compared_people(groups, subjects=subjects, between=between, covariates=covariates)
    kept = average_by_person(array[people.rows], people.owners)[people.complete]
    patients, design = people.patients, people.design
    check_design(design, len(kept))
    test = partial(group_effect, patients=patients, permutations=permutations, seed=seed)
    adjusted = test(kept, nuisance=design.columns)
    effects = {"": adjusted, "_unadjusted": adjusted}
    if design.covariates:
        effects["_unadjusted"] = test(kept, nuisance=design.columns[:, :1])
    if connectivity is not None:
        beside = np.asarray(connectivity, dtype=np.float64)
        if beside.shape != array.shape:
            raise InputError(f"Values have the shape {array.shape} and the connectivity beside them {beside.shape}.")
        beside = average_by_person(beside[people.rows], people.owners)[people.complete]
        effects[OF_FC] = test(beside, nuisance=design.columns)
        effects[GIVEN_FC] = test(kept, nuisance=design.columns, beside=beside)
    comparison = GroupComparison(
        table=_table(names, kept, patients, between, effects),
        between=between,
        n_subjects=people.sizes,
        n_dropped=people.n_dropped,
        n_repeated=people.n_repeated,
        covariates=design.covariates,
        permutations=permutations,
        seed=seed,
        design=design,
    )
    return replace(comparison, notes=_notes(comparison, people.covariates))


def _checked(
    values: ArrayLike,
    groups: Sequence[str | None],
    subjects: Sequence[str],
    covariates: pd.DataFrame | None,
    between: tuple[str, str],
    permutations: int,
) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2:
        raise InputError(f"Values have a row per subject and a column per feature, not shape {array.shape}.")
    lengths = {"groups": len(groups), "subject ids": len(subjects)}
    if covariates is not None:
        lengths["rows of covariates"] = len(covariates)
    for what, length in lengths.items():
        if length != len(array):
            raise InputError(f"There are {len(array)} rows of values and {length} {what}; they must be the same rows.")
    if pd.isna(pd.Series(list(subjects), dtype=object)).any():
        raise InputError("A row has no subject id; the test is over persons, so it must be known whose each row is.")
    check_groups(between, sorted({str(name) for name in groups if not pd.isna(name)}))
    if permutations < 1:
        raise InputError(f"A permutation test needs permutations, not {permutations}.")
    return array


def check_groups(between: tuple[str, str], known: Collection[str]) -> None:
    """Refuse a group that nobody is of, and one that was named as both."""
    for name in between:
        if name not in known:
            raise InputError(f"No subject is of group '{name}'. The groups here: {', '.join(known) or 'none'}.")
    if between[0] == between[1]:
        raise InputError(f"A group cannot be compared with itself; {between[0]} was named twice.")


def _table(
    names: list[str],
    values: NDArray[np.float64],
    patients: NDArray[np.bool_],
    between: tuple[str, str],
    effects: Mapping[str, GroupEffect],
) -> pd.DataFrame:
    columns: dict[str, object] = {
        "feature": names,
        f"mean_{between[0]}": values[~patients].mean(axis=0),
        f"mean_{between[1]}": values[patients].mean(axis=0),
    }
    for suffix, effect in effects.items():
        columns |= {column + suffix: getattr(effect, column) for column in EFFECT_COLUMNS}
    return pd.DataFrame(columns)


def _notes(comparison: GroupComparison, known: pd.DataFrame | None) -> tuple[str, ...]:
    notes = []
    if comparison.n_dropped and known is not None:
        gaps = [str(name) for name in known.columns if known[name].isna().any()]
        left_out = counted(comparison.n_dropped, "subject")
        notes.append(f"{left_out} left out because {' or '.join(gaps)} is missing.")
    if comparison.n_repeated:
        notes.append(f"{counted(comparison.n_repeated, 'further row')} of the same subjects averaged before the test.")
    if not comparison.covariates:
        notes.append(UNADJUSTED_DIFFERENCE)
    elif known is not None and len(comparison.covariates) < known.shape[1]:
        same = [str(name) for name in known.columns if name not in comparison.covariates]
        notes.append(f"Not adjusted for {', '.join(same)}, the same in all subjects.")
    notes += design_notes(comparison.design)
    untested = int(comparison.table["t"].isna().sum())
    if untested:
        notes.append(f"{counted(untested, 'feature')} not tested: missing for a subject, or the same in all.")
    return tuple(notes)
