"""The design of a study: who is in it, what is tested, and all that is to be known before anything is computed.

A design is a formula over a table of phenotypes and the one term of it that is tested. Of a variable of words every two
values are compared, and of more than two all of them first (F). Several recordings of a person are averaged, or, where
what is tested differs between them, compared within each person: then people are their own controls, and rearranging
stays within each person.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.base.wording import counted, covariate_words, listed, percent
from biobgt.data.cohort import FEWEST_COMPARED, average_by_person, number_of_people
from biobgt.inference.covariates import LEAST_DEGREES, NOTED_SHARE, one_group_only, overstatement, person_values
from biobgt.inference.formula import (
    INTERCEPT,
    Factor,
    Term,
    check_variables,
    is_missing,
    level_codes,
    levels_of,
    parse_formula,
    term_columns,
    term_name,
    words_of,
)
from biobgt.inference.linear_model import LinearModel, linear_model, without_means
from biobgt.inference.permutation import Exchange

Recordings = Literal["averaged", "compared"]
AVERAGED, COMPARED = get_args(Recordings)
_HIGH_LEVERAGE = 3.0  # times the mean
_FEW_WAYS = 10_000
_MOST_PAIRED = 12  # values of a variable of which every two are compared


@dataclass(frozen=True, eq=False)
class Contrast:
    """What is tested at once.

    Attributes
    ----------
    name : str
        ``ASD - NC`` for a difference, the term for an effect of a number (per unit) or of several columns.
    weights : ndarray, shape (n_tested, n_columns)
        Combinations of coefficients, zero where there is no effect; one row has a t, several an F.
    levels : tuple of str
        The two values whose difference it is; none for other effects.
    """

    name: str
    weights: FloatArray
    levels: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class StudyDesign:
    """A linear model of people, or of their recordings, and the term that is tested.

    Attributes
    ----------
    formula : str
        The terms as they are fitted.
    tested : str
        Of the terms; ``1`` is the mean.
    recordings : {"averaged", "compared"}
    names : tuple of str, length n_rows
        Whose each row is.
    columns : ndarray, shape (n_rows, n_columns)
    terms : dict of str to slice
        Which columns each term has.
    contrasts : tuple of Contrast
        Of more than two groups, all of them first, then every two.
    sizes : dict of str to int
        Rows of each value, or combination of values, of the words that are tested.
    exchange : Exchange
        How residuals are rearranged.
    kinds : ndarray of int, shape (n_rows,), or None
        Rows of one kind have one variance; None is one variance for all.
    remarks : tuple of str
        Sentences on who was left out or averaged.
    one_group : dict of str to tuple of str
        Values of other variables, such as sites, that have rows of one tested group only.
    persons : tuple of str, length n_table_rows
        Whose each row of the table is.
    kept : ndarray of bool
        Which people are in it; of compared recordings, which rows.
    """

    formula: str
    tested: str
    recordings: Recordings
    names: tuple[str, ...]
    columns: FloatArray
    terms: dict[str, slice]
    contrasts: tuple[Contrast, ...]
    sizes: dict[str, int]
    exchange: Exchange
    kinds: NDArray[np.int64] | None
    remarks: tuple[str, ...]
    one_group: dict[str, tuple[str, ...]]
    persons: tuple[str, ...]
    kept: NDArray[np.bool_]

    @property
    def centring(self) -> NDArray[np.int64] | None:
        """Blocks of rows whose means are covariates: each person's, or all rows; None where the mean is tested."""
        if self.tested == INTERCEPT:
            return None
        if self.recordings == COMPARED:
            return np.unique(self.names, return_inverse=True)[1]
        return np.zeros(len(self.names), np.int64)

    @property
    def covariates(self) -> tuple[str, ...]:
        """The terms that are not tested, without the intercept."""
        return tuple(name for name in self.terms if name not in (INTERCEPT, self.tested))

    def model(self, contrast: Contrast) -> LinearModel:
        """The linear model in which a contrast is tested."""
        absorbed = None if self.exchange.flips else self.centring  # turned signs do not leave means as they are
        return linear_model(self.columns, contrast.weights, absorbed=absorbed, kinds=self.kinds)

    @cached_property
    def degrees(self) -> int:
        """Residual degrees of freedom."""
        spans = self._centred(slice(None))
        blocks = 0 if self.centring is None else int(self.centring.max()) + 1
        return len(self.columns) - blocks - int(np.linalg.matrix_rank(spans))

    @cached_property
    def explained(self) -> float:
        """Share of what is tested that the other terms explain: the largest squared canonical correlation."""
        others = [name for name in self.terms if name != self.tested]
        return self._share_explained(others)

    @property
    def inflation(self) -> float:
        """How many times the other terms inflate the variance of the tested effect (variance inflation factor)."""
        return math.inf if self.explained >= 1 - 1e-9 else 1 / (1 - self.explained)

    @cached_property
    def leverage(self) -> FloatArray:
        """How much each row decides its own fitted value, shape (n_rows,); 1 is alone."""
        q = _orthonormal(self._centred(slice(None)))
        own = (q**2).sum(axis=1)
        return own if self.centring is None else own + 1 / np.bincount(self.centring)[self.centring]

    def observations(self, values: ArrayLike) -> FloatArray:
        """Values of the rows of the design, of those of the rows of the table.

        Parameters
        ----------
        values : array-like, shape (n_table_rows, n_features)

        Returns
        -------
        ndarray, shape (n_rows, n_features)
            Recordings of a person averaged, unless they are compared; people who were left out are not there.
        """
        array = np.asarray(values)
        if array.ndim != 2 or len(array) != len(self.persons):
            raise InputError(
                f"Values have the shape {array.shape}, and the design is of {counted(len(self.persons), 'row')}, with "
                "a column per feature."
            )
        if self.recordings == COMPARED or len(set(self.persons)) == len(self.persons):
            return np.asarray(array[self.kept], np.float64)
        return average_by_person(array, self.persons)[self.kept]

    def check(self) -> None:
        """Refuse a design in which the term cannot be told from others, or with too few residual degrees of freedom."""
        for level, n in self.sizes.items():
            if n < FEWEST_COMPARED:
                raise InputError(
                    f"'{level}' has {counted(n, 'row')} of {self.tested} that can be used, and a test needs "
                    f"{FEWEST_COMPARED}. Leave it out, or join it with another."
                )
        what = "the mean" if self.tested == INTERCEPT else self.tested
        if self._lost(list(self.covariates)):
            if self.recordings == COMPARED and self._lost([]):
                raise InputError(
                    f"{what} is the same in all recordings of each person, so it cannot be compared within people. "
                    f"Let recordings be {AVERAGED}."
                )
            alone = [name for name in self.covariates if self._lost([name])]
            named = alone[:1] or list(self.covariates)
            raise InputError(
                f"{what} cannot be told apart from {listed(named) or 'the intercept'}: "
                f"{'together they say' if len(named) > 1 else 'it says'} all that {what} does. Leave "
                f"{listed(named, 'or') or what} out, or add people in whom they differ."
            )
        if self.degrees < (LEAST_DEGREES if self.covariates else 1):
            by_cost = sorted(self.covariates, key=lambda name: self.terms[name].start - self.terms[name].stop)
            costs = ", ".join(
                f"{name} has {counted(self.terms[name].stop - self.terms[name].start, 'column')}" for name in by_cost
            )
            raise InputError(
                f"{counted(len(self.columns), 'row')} with these terms leave "
                f"{counted(max(self.degrees, 0), 'residual degree')} of freedom, and {LEAST_DEGREES} are needed"
                f"{': ' + costs if costs else ''}. Leave covariates out, or add people."
            )

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on who is left out, on confounding, inflated variance, leverage, and what is not estimable."""
        notes = list(self.remarks)
        notes += [
            f"{one_group_only(name, values)}: within {name}, they say nothing about {self.tested}."
            for name, values in self.one_group.items()
        ]
        if NOTED_SHARE <= self.explained < 1 - 1e-9:
            names = listed([covariate_words(name) for name in self.covariates])
            notes.append(
                f"{self.tested} and the covariates are partly confounded: {names} "
                f"{'explains' if len(self.covariates) == 1 else 'explain'} {percent(self.explained)} of "
                f"{self.tested}, which inflates the variance of its effect {self.inflation:.1f} times."
            )
        others = self._centred_terms(self.covariates)
        if others.size and (redundant := others.shape[1] - int(np.linalg.matrix_rank(others))):
            notes.append(
                f"{counted(redundant, 'column')} of the covariates {'says' if redundant == 1 else 'say'} what others "
                f"do already: {listed(list(self.covariates))} are adjusted for together."
            )
        mean = self.leverage.mean()
        high = np.flatnonzero(self.leverage > min(_HIGH_LEVERAGE * mean, 1 - 1e-6))
        if len(high):
            first = self.names[high[np.argmax(self.leverage[high])]]
            notes.append(
                f"{counted(len(high), 'row')} with a leverage above {_HIGH_LEVERAGE:.0f} times the mean: the fit rests "
                f"much on single people, most on '{first}' (leverage {self.leverage.max():.2f})."
            )
        if 2 <= self.degrees < LEAST_DEGREES:
            notes.append(
                f"With {self.degrees} residual degrees of freedom effect sizes are overstated, by about "
                f"{percent(overstatement(self.degrees))} on average."
            )
        ways = self.exchange.ways(self.columns[:, self.terms[self.tested]])
        if ways < _FEW_WAYS:
            notes.append(
                f"There are only {ways:,.0f} ways to rearrange these people, so p cannot be smaller than about "
                f"{1 / ways:.2g}."
            )
        return tuple(notes)

    def _centred(self, some: slice) -> FloatArray:
        """Columns in unit length, beyond what is absorbed."""
        columns = self.columns[:, some]
        centred = without_means(columns, self.centring)
        lengths, whole = np.linalg.norm(centred, axis=0), np.linalg.norm(columns, axis=0)
        return np.asarray(centred / np.where(lengths > 1e-9 * whole, lengths, np.inf))

    def _centred_terms(self, names: Sequence[str]) -> FloatArray:
        return np.hstack([np.zeros((len(self.columns), 0)), *(self._centred(self.terms[name]) for name in names)])

    def _share_explained(self, names: Sequence[str]) -> float:
        tested, others = self._centred(self.terms[self.tested]), self._centred_terms(names)
        if not others.size:
            return 0.0
        both = _orthonormal(tested).T @ _orthonormal(others)
        return float(np.linalg.norm(both, 2) ** 2) if both.size else 0.0

    def _lost(self, names: Sequence[str]) -> bool:
        """Whether a part of what is tested cannot be told from these terms."""
        tested, others = self._centred(self.terms[self.tested]), self._centred_terms(names)
        rank = np.linalg.matrix_rank(others) if others.size else 0
        return bool(np.linalg.matrix_rank(np.hstack([others, tested])) - rank < tested.shape[1])


def _orthonormal(columns: FloatArray) -> FloatArray:
    u, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(u[:, sizes > 1e-9 * max(float(sizes.max(initial=0)), 1e-9)])


def study_design(
    variables: pd.DataFrame,
    formula: str,
    *,
    test: str,
    persons: Sequence[str],
    recordings: Recordings = "averaged",
    within: str = "",
    unequal_variances: bool = True,
) -> StudyDesign:
    """Make the design of a study; whether it can be tested, :meth:`StudyDesign.check` says.

    Parameters
    ----------
    variables : DataFrame, n_table_rows rows
        From :func:`biobgt.inference.formula.variables_of`.
    formula : str
        Such as ``~ group + age + sex + motion + site``.
    test : str
        A term of the formula: ``group``, ``age``, ``score:sex``; ``1`` is the mean, whose signs are turned.
    persons : sequence of str, length n_table_rows
        Whose recording each row is.
    recordings : {"averaged", "compared"}
        Several recordings of a person are averaged, or compared within each person.
    within : str
        A variable of words, such as ``site``: people are permuted within its values. Empty is freely.
    unequal_variances : bool
        Let each tested group have its own variance, and for numbers each person (Welch, HC2), and turn the signs of
        residuals instead of permuting them: permuting gives everybody's variance to everybody, and where variances
        differ the largest of many statistics then comes out too small. Otherwise all have one variance.

    Examples
    --------
    >>> table = pd.DataFrame({"group": ["NC", "AD"] * 10, "age": np.arange(20.0)})
    >>> design = study_design(table, "~ group + age", test="group", persons=[f"s{i}" for i in range(20)])
    >>> design.contrasts[0].name, design.degrees, design.sizes
    ('AD - NC', 17, {'NC': 10, 'AD': 10})
    """
    if len(persons) != len(variables):
        raise InputError(f"There are {len(variables)} rows of the table and {len(persons)} names of people for them.")
    terms = parse_formula(formula)
    check_variables(terms, variables)
    chosen = _chosen_term(terms, test)
    if within and within not in variables.columns:
        raise InputError(f"There is no variable '{within}' within whose values people could be permuted.")
    if chosen == () and (within or recordings == COMPARED):
        raise InputError("A test of the mean turns signs: it permutes nothing within sites or people.")
    if within and recordings == COMPARED:
        raise InputError(f"Recordings that are compared are permuted within each person, not within {within} as well.")
    named = list(dict.fromkeys([factor.variable for term in terms for factor in term] + ([within] if within else [])))
    table, owners, remarks = variables[named].reset_index(drop=True), list(map(str, persons)), []
    if recordings == AVERAGED and len(set(owners)) < len(owners):
        remarks.append(f"{counted(len(owners) - len(set(owners)), 'further row')} of the same people averaged.")
        table = person_values(table, pd.Series(owners)).reset_index(drop=True)
        owners = list(dict.fromkeys(owners))
    factors = list(dict.fromkeys(factor for term in terms for factor in term))
    missing = {factor: is_missing(factor, table).to_numpy() for factor in factors}
    if within:
        missing[Factor(within)] = table[within].isna().to_numpy()
    kept = ~np.logical_or.reduce([np.zeros(len(table), bool), *missing.values()])
    if not kept.all():
        gaps = listed([str(factor) for factor, gap in missing.items() if gap.any()], "or")
        first = owners[int(np.flatnonzero(~kept)[0])]
        remarks.append(f"{counted(int((~kept).sum()), 'row')} left out because {gaps} is not known, such as '{first}'.")
    if recordings == COMPARED:
        counts = Counter(name for name, known in zip(owners, kept, strict=True) if known)
        single = kept & np.array([counts[name] == 1 for name in owners])
        if single.any():
            remarks.append(f"{number_of_people(int(single.sum()))} with one recording left out: nothing to compare.")
        kept &= ~single
    if kept.sum() < 2:
        raise InputError(f"{number_of_people(int(kept.sum()))} of {len(table):,} have all that the formula names.")
    names, table = tuple(np.array(owners, object)[kept].tolist()), table[kept].reset_index(drop=True)
    columns, places, remarks_of_terms = _columns(terms, chosen, table)
    blocks = table[within].map(str) if within else pd.Series(names) if recordings == COMPARED else None
    words = [factor for factor in chosen if levels_of(factor, table)]
    groups = _joint_levels(words, table)
    if within and unequal_variances:
        remarks.append(
            f"People are permuted within {within}: where variances differ between groups, or along a score, "
            "family-wise p is too small."
        )
    return StudyDesign(
        formula="~ " + " + ".join(name for name in places if name != INTERCEPT or len(places) == 1),
        tested=term_name(chosen),
        recordings=recordings,
        names=names,
        columns=columns,
        terms=places,
        contrasts=_contrasts(chosen, table, places, columns.shape[1]),
        sizes={} if groups is None else {level: int((groups == level).sum()) for level in dict.fromkeys(groups)},
        exchange=Exchange(
            len(table),
            None if blocks is None else np.unique(blocks.to_numpy(), return_inverse=True)[1],
            flips=chosen == () or (unequal_variances and blocks is None),
        ),
        kinds=_kinds(groups, len(table)) if unequal_variances and chosen else None,
        remarks=(*remarks, *remarks_of_terms),
        one_group=_one_sided([*factors, *([Factor(within)] if within else [])], words, table, groups),
        persons=tuple(map(str, persons)),
        kept=kept,
    )


def _chosen_term(terms: Sequence[Term], test: str) -> Term:
    """The term that is tested, however its factors are ordered and written."""
    written = test.strip()
    asked = () if written in (INTERCEPT, "intercept") else parse_formula(f"~ {written.replace(':', '*')}")[-1]
    found = next((term for term in terms if set(term) == set(asked)), None)
    if found is None:
        raise InputError(
            f"The formula has no term '{written}' to test. Its terms: {', '.join(map(term_name, terms))}, of which 1 "
            "is the mean."
        )
    return found


def _columns(
    terms: Sequence[Term], chosen: Term, table: pd.DataFrame
) -> tuple[FloatArray, dict[str, slice], list[str]]:
    """All columns, which of them each term has, and what is said of terms that vary in nobody."""
    found, places, remarks, at = [], {}, [], 0
    same = {factor for term in terms for factor in term if table[factor.variable].nunique() < 2}
    for factor in sorted(same, key=str):
        if factor in chosen:
            raise InputError(f"{factor} is the same in all {len(table):,} rows, so nothing can be tested.")
        remarks.append(f"Not adjusted for {factor}, the same in all.")
    for term in terms:
        if same & set(term):
            continue
        own = term_columns(term, table)
        at += own.shape[1]
        if at > len(table) + 1:
            raise InputError(
                f"The formula has more columns than there are rows ({len(table):,}): {term_name(term)} is one too many."
            )
        places[term_name(term)] = slice(at - own.shape[1], at)
        found.append(own)
    return np.hstack(found), places, remarks


def _joint_levels(words: Sequence[Factor], table: pd.DataFrame) -> NDArray[np.object_] | None:
    """The value, or combination of values, of the words of each row."""
    each = [words_of(factor, table) for factor in words]
    return np.array([", ".join(values) for values in zip(*each, strict=True)], dtype=object) if each else None


def _contrasts(chosen: Term, table: pd.DataFrame, places: dict[str, slice], n_columns: int) -> tuple[Contrast, ...]:
    """What is tested: a slope, a difference, or all columns at once and then every two values."""
    own = places[term_name(chosen)]
    unit = np.eye(n_columns)[own]
    if chosen == ():
        return (Contrast("mean", unit),)
    levels = [levels_of(factor, table) for factor in chosen]
    if len(chosen) == 1 and levels[0]:
        codes = level_codes(len(levels[0]))
        pairs = tuple(
            Contrast(
                f"{levels[0][second]} - {levels[0][first]}",
                (codes[second] - codes[first])[None] @ unit,
                (levels[0][first], levels[0][second]),
            )
            for first, second in combinations(range(len(levels[0])), 2)
        )
        if len(levels[0]) == 2:
            return pairs
        return (Contrast(term_name(chosen), unit), *(pairs if len(levels[0]) <= _MOST_PAIRED else ()))
    if len(unit) > 1 or not any(levels):
        return (Contrast(term_name(chosen), unit),)
    # An interaction of one column: the difference between two values, of slopes or of differences.
    two = [own for own in levels if own]
    named = ", ".join(f"{second} - {first}" for first, second in two)
    return (Contrast(f"{term_name(chosen)} ({named})", 2 ** len(two) * unit),)


def _kinds(groups: NDArray[np.object_] | None, n_rows: int) -> NDArray[np.int64]:
    """Whose variance is whose: each tested group's, or each row's."""
    return np.arange(n_rows) if groups is None else np.unique(groups.astype(str), return_inverse=True)[1]


def _one_sided(
    others: Sequence[Factor], words: Sequence[Factor], table: pd.DataFrame, groups: NDArray[np.object_] | None
) -> dict[str, tuple[str, ...]]:
    """Values of the other variables of words that have rows of one tested group only."""
    found = {}
    for factor in others:
        levels = levels_of(factor, table)
        if groups is None or factor in words or len(levels) < 2:
            continue
        values = words_of(factor, table)
        if alone := tuple(level for level in levels if len(set(groups[values == level])) == 1):
            found[str(factor)] = alone
    return found
