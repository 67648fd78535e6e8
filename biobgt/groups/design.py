"""The design of an adjusted comparison: what covariates cost, and how far they are confounded with the group.

Every column of covariates takes a residual degree of freedom. With few left, a difference is divided by a residual
standard deviation that is nearly nothing, and the effect size d is large whatever the data. With too few a comparison
is refused; where covariates and group are confounded in part it is made, and the notes say so.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.cohort import Cohort
from biobgt.covariate_words import covariate_words
from biobgt.errors import InputError
from biobgt.groups.covariates import coded, covariates_of, design_matrix
from biobgt.people import people_in_order
from biobgt.wording import counted, listed, percent

# d overstates a true effect by 1 / J(degrees) − 1 (Hedges 1981): a twelfth at 10 residual degrees of freedom, a quarter
# at 4, without limit at 1. Of effects that are nothing 1 % have |d| > 2 at 10, 10 % at 4 and 47 % at 1, while p of the
# permutations keeps its level throughout (assets/studies/design_degrees.py). Few subjects without covariates are not
# refused: there n says how little d rests on, which covariates hide.
LEAST_DEGREES = 10
# Variance inflation 1.25: from here on covariates take a fifth of what there is to tell the groups apart by.
NOTED_SHARE = 0.2
_ALL_OF_IT = 1 - 1e-9
_NAMED = 6  # values of a covariate that a sentence names


class DesignError(InputError):
    """Covariates that two groups cannot be compared with; without some of them they can."""


@dataclass(frozen=True, eq=False)
class Design:
    """Covariates of a comparison of two groups, counted.

    Attributes
    ----------
    columns : ndarray, shape (n_subjects, n_columns)
        Of the linear model, a column of ones first; see :func:`biobgt.groups.covariates.design_matrix`.
    taken : mapping of str to int
        Degrees of freedom that each covariate takes beyond the ones before it; 0 where they say the same.
    degrees : int
        Residual degrees of freedom, with intercept, covariates and group fitted.
    explained : float
        Share of the group's variance that the covariates explain, R²; 1 where group and covariates are one.
    explained_by : mapping of str to float
        The same for each covariate alone.
    one_group : mapping of str to tuple of str
        Values of a categorical covariate, such as sites, that have subjects of one group only.
    """

    columns: NDArray[np.float64]
    taken: Mapping[str, int]
    degrees: int
    explained: float
    explained_by: Mapping[str, float]
    one_group: Mapping[str, tuple[str, ...]]

    @property
    def covariates(self) -> tuple[str, ...]:
        """The covariates that vary, in order."""
        return tuple(self.taken)


def group_design(covariates: pd.DataFrame | None, patients: NDArray[np.bool_]) -> Design:
    """Code covariates for a comparison of two groups and count what they take.

    Parameters
    ----------
    covariates : DataFrame, n_subjects rows, or None
        From :func:`biobgt.groups.covariates.coded`, nothing missing.
    patients : ndarray of bool, shape (n_subjects,)
    """
    columns, used = design_matrix(covariates, len(patients))
    taken, alone, one_group = {}, {}, {}
    rank = 1
    for name in used:
        assert covariates is not None
        through = design_matrix(covariates[list(used[: used.index(name) + 1])], len(patients))[0]
        taken[name] = int(np.linalg.matrix_rank(through)) - rank
        rank += taken[name]
        alone[name] = _share_explained(design_matrix(covariates[[name]], len(patients))[0], patients)
        if not pd.api.types.is_numeric_dtype(covariates[name]):
            values = covariates[name].astype(str).to_numpy()
            sides = {value: set(patients[values == value].tolist()) for value in sorted(set(values))}
            one_group[name] = tuple(value for value, both in sides.items() if len(both) == 1)
    return Design(
        columns=columns,
        taken=taken,
        degrees=len(patients) - rank - 1,
        explained=_share_explained(columns, patients),
        explained_by=alone,
        one_group={name: values for name, values in one_group.items() if values},
    )


def check_design(design: Design, n_subjects: int) -> None:
    """Refuse covariates that cannot be told from the group, or that leave too few residual degrees of freedom."""
    if not design.covariates:
        return
    if named := _confounded_completely(design):
        raise DesignError(
            f"The groups cannot be told apart from {listed(named)}: {_why_confounded(design, named)}. Leave "
            f"{listed(named)} out ({_without(named)}), or add subjects of both groups who are alike in "
            f"{'it' if len(named) == 1 else 'them'}."
        )
    if design.degrees < LEAST_DEGREES:
        takes = ", ".join(f"{name} takes {n} of {n_subjects}" for name, n in _by_cost(design))
        costly = _enough_to_leave_out(design)
        raise DesignError(
            f"{counted(n_subjects, 'subject')} with these covariates leave "
            f"{counted(max(design.degrees, 0), 'residual degree')} of freedom, and an adjusted comparison needs at "
            f"least {LEAST_DEGREES}: {takes}, intercept and group 2. With fewer the effect size d is inflated. Leave "
            f"{listed(costly)} out ({_without(costly)}), or add more subjects."
        )


def design_notes(design: Design) -> tuple[str, ...]:
    """Say where covariates and group are confounded in part, what that does, and where d is overstated."""
    notes = [
        f"{_one_group_only(name, values)}: adjusted for {name}, those subjects say nothing about the group."
        for name, values in design.one_group.items()
    ]
    if design.explained >= NOTED_SHARE:
        notes.append(
            f"{_partly_confounded(design)}, which inflates the variance of the "
            f"adjusted difference {1 / (1 - design.explained):.1f} times."
        )
    if design.degrees < LEAST_DEGREES:
        notes.append(
            f"With {design.degrees} residual degrees of freedom the effect size d is overstated, by about "
            f"{percent(overstatement(design.degrees))} on average."
        )
    return tuple(notes)


def overstatement(degrees: int) -> float:
    """By which share of a true effect d overstates it on average, with 2 residual degrees of freedom or more."""
    # Hedges 1981: J(m) = Γ(m/2) / (√(m/2) Γ((m − 1)/2)), and the mean of d is δ / J.
    half = degrees / 2
    return math.exp(math.lgamma(half - 0.5) - math.lgamma(half)) * math.sqrt(half) - 1


def confounding_notes(cohort: Cohort, between: tuple[str, str]) -> tuple[str, ...]:
    """Say how far motion, age, sex and site are confounded with the group, for a test that cannot adjust for them.

    Subjects who lack one of them are left out of the count; nothing is said where fewer than two of a group are left.
    """
    chosen = cohort.select(lambda subject: subject.group in between)
    known = coded(covariates_of(chosen.table()).table)
    first = people_in_order(chosen.persons)[1]
    known, patients = known.iloc[first], np.array([subject.group == between[1] for subject in chosen])[first]
    complete = known.notna().all(axis=1).to_numpy()
    if known.shape[1] == 0 or min(patients[complete].sum(), (~patients[complete]).sum()) < 2:
        return ()
    design = group_design(known[complete].reset_index(drop=True), patients[complete])
    if whole := _confounded_completely(design):
        return (
            f"Group and {listed(whole)} are confounded completely: no test can tell which of them makes a difference.",
        )
    notes = [f"{_one_group_only(name, values)}." for name, values in design.one_group.items()]
    if design.explained >= NOTED_SHARE:
        notes.append(f"{_partly_confounded(design)}.")
    return tuple(notes)


def _one_group_only(name: str, values: Sequence[str]) -> str:
    shown = ", ".join(values[:_NAMED]) + (", …" if len(values) > _NAMED else "")
    counts = counted(len(values), "site") if name == "site" else f"{counted(len(values), 'value')} of {name}"
    return f"{counts} with subjects of one group only ({shown})"


def _partly_confounded(design: Design) -> str:
    strongest = max(design.explained_by, key=lambda name: design.explained_by[name])
    names = listed([covariate_words(name) for name in design.covariates])
    said = "Group and covariates are partly confounded:"
    if len(design.covariates) == 1:
        return f"{said} {names} explains {percent(design.explained)} of the group's variance"
    alone = f"{covariate_words(strongest)} alone {percent(design.explained_by[strongest])}"
    return f"{said} {names} explain {percent(design.explained)} of the group's variance ({alone})"


def _confounded_completely(design: Design) -> list[str]:
    """The covariates that say which group a subject is of: one that does alone, else all together, else none."""
    if design.explained <= _ALL_OF_IT:
        return []
    whole = [name for name, share in design.explained_by.items() if share > _ALL_OF_IT]
    return whole[:1] or list(design.covariates)


def _share_explained(columns: NDArray[np.float64], patients: NDArray[np.bool_]) -> float:
    """R² of the group in a linear model of these columns, of which the first is ones."""
    group = patients - patients.mean()
    left = group - columns @ np.linalg.lstsq(columns, group, rcond=None)[0]
    return float(np.clip(1 - left @ left / (group @ group), 0, 1))


def _why_confounded(design: Design, named: Sequence[str]) -> str:
    if len(named) == 1 and named[0] in design.one_group:
        return f"every value of {named[0]} has subjects of one group only"
    if len(named) == 1:
        return f"{named[0]} is one number for each group"
    return "together they say which group a subject is of"


def _by_cost(design: Design) -> list[tuple[str, int]]:
    return sorted(design.taken.items(), key=lambda pair: -pair[1])


def _enough_to_leave_out(design: Design) -> list[str]:
    """The covariates to leave out, those that take most first, until enough degrees are left or none remains."""
    left, chosen = design.degrees, []
    for name, cost in _by_cost(design):
        if left >= LEAST_DEGREES:
            break
        chosen.append(name)
        left += cost
    return chosen


def _without(names: Sequence[str]) -> str:
    return "on the command line " + " ".join(f"--without {name}" for name in names)
