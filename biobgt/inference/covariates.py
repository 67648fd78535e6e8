"""Who is compared with whom, adjusted for which covariates, what these cost, and how far they are confounded."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.base.wording import counted, covariate_words, listed, percent
from biobgt.data.cohort import FEWEST_COMPARED, Cohort, people_in_order
from biobgt.data.quality import mean_connectivity
from biobgt.readers.tables import is_known

# What else differs between groups: motion, age, sex and site, as columns of a linear model.
#
# ASD subjects move more in the scanner, and motion changes connectivity: an effect that is motion must not be taken
# for one of the diagnosis. Motion enters as the logarithm of mean framewise displacement (FD), which is skewed: where
# groups differ in log FD, a linear term leaves a part of it to the group (``assets/studies/null_tests.py``).


_LOG_MOTION = "log_mean_fd"
_MOTION = "mean_fd"
# The names under which releases and readers keep them, in lower case with _ for blanks, in order of preference.
USUAL_NAMES: Mapping[str, tuple[str, ...]] = {
    _MOTION: ("mean_fd", "func_mean_fd", "meanfd", "fd_mean", "mean_framewise_displacement"),
    "age": ("age", "age_at_scan", "age_years"),
    "sex": ("sex", "gender"),
    "site": ("site", "site_id", "scanner_site"),
}
# Columns of a cohort's table that are about the recording, and the group itself.
_NO_COVARIATES = frozenset({"subject", "group", "data", "regions", "simulated"})
_NO_LOGARITHM = "A mean FD that is not above 0 has no logarithm and counts as missing. "
SEXES: Mapping[str, str] = {"m": "male", "male": "male", "f": "female", "female": "female"}  # as tables write them
_CATEGORICAL = ("sex", "site")  # even where they are coded as numbers


@dataclass(frozen=True, eq=False)
class Covariates:
    """The covariates a cohort has.

    Attributes
    ----------
    table : DataFrame
        A row per subject in the order of the cohort, a column per covariate; unknown values are missing.
    absent : tuple of str
        The usual ones that the cohort does not have: what cannot be ruled out.
    """

    table: pd.DataFrame
    absent: tuple[str, ...]


def known_characteristics(cohort_table: pd.DataFrame) -> pd.DataFrame:
    """Pick motion (mean FD in mm), age, sex and site by their usual names, as far as somebody's is known."""
    columns = {str(column).strip().lower().replace(" ", "_"): column for column in cohort_table.columns}
    picked = {}
    for covariate, names in USUAL_NAMES.items():
        found = next((columns[name] for name in names if name in columns), None)
        if found is not None and not (values := _known(cohort_table[found], covariate)).isna().all():
            picked[covariate] = values
    return pd.DataFrame(picked, index=cohort_table.index).reset_index(drop=True)


def covariates_of(cohort_table: pd.DataFrame) -> Covariates:
    """Pick log motion, age, sex and site from a cohort's table by their usual names.

    Parameters
    ----------
    cohort_table : DataFrame
        As :meth:`biobgt.data.cohort.Cohort.table` makes it, or a phenotype table in the cohort's order.

    Returns
    -------
    Covariates
        Motion is the logarithm of mean FD, ``log_mean_fd``; an FD that is not above 0 counts as missing, for
        no head is that still. A column without a single known value counts as absent.
    """
    table = known_characteristics(cohort_table)
    if _MOTION in table:
        displacement = pd.to_numeric(table[_MOTION], errors="coerce")
        table[_MOTION] = np.log(displacement.where(displacement > 0))
    table = table.rename(columns={_MOTION: _LOG_MOTION}).dropna(axis="columns", how="all")
    usual = (_LOG_MOTION if name == _MOTION else name for name in USUAL_NAMES)
    return Covariates(table, tuple(name for name in usual if name not in table))


def offered_covariates(cohort: Cohort) -> tuple[str, ...]:
    """All that a comparison can be adjusted for: the usual covariates, then other columns of numbers or few words.

    A column with a word for nearly everybody, such as a second id, is not offered: it would take every degree of
    freedom. Nor is one whose name has a comma, which parts the names in links.
    """
    cohort_table = cohort.table()
    usual = covariates_of(cohort_table).table
    taken = {name for names in USUAL_NAMES.values() for name in names} | _NO_COVARIATES
    others = []
    for column in cohort_table.columns:
        name = str(column).strip().lower()
        if name.replace(" ", "_") in taken or "," in name:
            continue
        values = _known(cohort_table[column], name)
        n_values = values.nunique()
        if n_values > 1 and (pd.api.types.is_numeric_dtype(values) or n_values <= len(values) / 2):
            others.append(name)
    return (*map(str, usual.columns), *others)


def overall_connectivity(cohort: Cohort) -> FloatArray:
    """Mean |FC| of each subject over its pairs of regions with signal, shape (n_subjects,).

    Attention is made from connectivity: where one group's is stronger overall, as after motion or without global-signal
    regression, its attention differs too, and that says nothing about modules.
    """
    return np.array([mean_connectivity(subject)[1] for subject in cohort])


def complete_covariates(
    cohort_table: pd.DataFrame,
    names: Sequence[str] | None = None,
    *,
    without: Sequence[str] = (),
    leave_out_incomplete: bool = False,
) -> Covariates:
    """Pick covariates that every subject has, or say who lacks one.

    Parameters
    ----------
    cohort_table : DataFrame
        As :meth:`biobgt.data.cohort.Cohort.table` makes it.
    names : sequence of str, optional
        Usual names (log_mean_fd, age, sex, site) or columns of the table, such as mean_fd for motion that is not in
        logarithms. None takes the usual ones that there are.
    without : sequence of str
        Covariates, usual or named, that are left out.
    leave_out_incomplete : bool
        Allow missing values; the test then leaves those subjects out.
    """
    usual = covariates_of(cohort_table)
    picked = usual.table
    if names is not None:
        columns = {str(column).strip().lower(): column for column in cohort_table.columns}
        picked = pd.DataFrame(index=usual.table.index)
        for name in names:
            found = usual.table.get(name.lower())
            if found is None and (name.lower() not in columns or name.lower() in _NO_COVARIATES):
                there = sorted({*usual.table.columns, *columns} - _NO_COVARIATES)
                raise InputError(f"There is no covariate '{name}'. The phenotypes have: {', '.join(there) or 'none'}.")
            own = _known(cohort_table[columns[name.lower()]], name) if found is None else found
            picked[name.lower()] = own.to_numpy()
    for name in without:
        if name.lower() not in picked.columns:
            left = ", ".join(picked.columns) or "none"
            raise InputError(f"There is no covariate '{name}' to leave out. The covariates here: {left}.")
        picked = picked.drop(columns=name.lower())
    for name in () if leave_out_incomplete else picked.columns:
        lacking = cohort_table["subject"].to_numpy()[picked[name].isna().to_numpy()]
        if len(lacking):
            raise InputError(
                f"The covariate '{name}' is missing for {len(lacking)} of {counted(len(picked), 'subject')}, "
                f"such as '{lacking[0]}'. {_NO_LOGARITHM if name == _LOG_MOTION else ''}Complete it, "
                f"leave it out (on the command line --without {name}), or leave out the subjects "
                "that lack it (--leave-out-incomplete)."
            )
    return Covariates(picked, tuple(name for name in usual.absent if name not in picked.columns))


def coded(covariates: pd.DataFrame) -> pd.DataFrame:
    """Make unknown values missing, and every column of numbers numeric; sex and site stay words."""
    table = {str(name): _known(covariates[name], str(name)) for name in covariates.columns}
    return pd.DataFrame(table, index=covariates.index)


def one_value_per_person(covariates: pd.DataFrame, persons: Sequence[str]) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Give all recordings of a person the same value of a categorical covariate, for tests over people.

    Whoever was recorded at two sites counts for the one of most recordings, the first of these where several have as
    many. Numbers stay: a person's are averaged.

    Parameters
    ----------
    covariates : DataFrame, n_recordings rows
    persons : sequence of str, length n_recordings
        Whose recording each is.

    Returns
    -------
    DataFrame
        The same rows and columns.
    notes : tuple of str
        A sentence for each covariate in which somebody's recordings disagree.
    """
    table, notes = coded(covariates.reset_index(drop=True)), []
    owners = pd.Series(list(persons))
    for name in table.columns:
        if pd.api.types.is_numeric_dtype(table[name]):
            continue
        of_person = table[name].groupby(owners, sort=False)
        n_values = of_person.nunique()
        if n_values.max() < 2:
            continue
        for person in n_values.index[n_values > 1]:
            own = table.loc[owners == person, name]
            table.loc[own.index, name] = Counter(own.dropna()).most_common(1)[0][0]
        n = int((n_values > 1).sum())
        notes.append(
            f"{'1 person has' if n == 1 else f'{n:,} people have'} recordings with different values of {name}: the "
            "value of most recordings counts, or the first."
        )
    return table, tuple(notes)


def design_matrix(covariates: pd.DataFrame | None, n_subjects: int) -> tuple[FloatArray, tuple[str, ...]]:
    """Code covariates for a linear model.

    Parameters
    ----------
    covariates : DataFrame, n_subjects rows, or None
        From :func:`coded`, nothing missing.

    Returns
    -------
    columns : ndarray, shape (n_subjects, n_columns)
        A column of ones first; continuous covariates standardised, categorical ones a column for each value but the
        first.
    used : tuple of str
        The covariates that vary; the others have nothing to explain and no column.
    """
    columns, used = [np.ones(n_subjects)], []
    for name, values in () if covariates is None else covariates.items():
        if values.nunique() < 2:
            continue
        used.append(str(name))
        if pd.api.types.is_numeric_dtype(values):
            numbers = values.to_numpy(dtype=np.float64)
            columns.append((numbers - numbers.mean()) / numbers.std())
        else:
            dummies = pd.get_dummies(values.astype(str), drop_first=True, dtype=np.float64)
            columns.extend(dummies.to_numpy().T)
    return np.column_stack(columns), tuple(used)


def _known(column: "pd.Series", name: str) -> "pd.Series":
    """Return numbers where all known values are numbers, words otherwise; what is not known is missing."""
    known = column.notna() & column.map(is_known)
    if name not in _CATEGORICAL:
        numbers = pd.to_numeric(column.where(known), errors="coerce").astype(np.float64)
        if np.isinf(numbers).any():
            raise InputError(f"The covariate '{name}' has infinite values; leave those subjects out.")
        if numbers[known].notna().all():
            return numbers
    return column.astype(object).where(known, None).map(str, na_action="ignore")


# The design of an adjusted comparison: what covariates cost, and how far they are confounded with the group.
#
# Every column of covariates takes a residual degree of freedom. With few left, a difference is divided by a residual
# standard deviation that is nearly nothing, and the effect size d is large whatever the data. With too few a
# comparison is refused; where covariates and group are confounded in part it is made, and the notes say so.


# d overstates a true effect by 1 / J(degrees) − 1 (Hedges 1981): a twelfth at 10 residual degrees of freedom, a quarter
# at 4, without limit at 1. Of effects that are nothing 1 % have |d| > 2 at 10, 10 % at 4 and 47 % at 1, while p of the
# permutations keeps its level throughout (assets/studies/design_degrees.py). Few subjects without covariates are not
# refused: there n says how little d rests on, which covariates hide.
LEAST_DEGREES = 10
# Variance inflation 1.25: from here on covariates take a fifth of what there is to tell the groups apart by.
NOTED_SHARE = 0.2
_ALL_OF_IT = 1 - 1e-9
_NAMED = 6  # values of a covariate that a sentence names


@dataclass(frozen=True, eq=False)
class Design:
    """Covariates of a comparison of two groups, counted.

    Attributes
    ----------
    columns : ndarray, shape (n_subjects, n_columns)
        Of the linear model, a column of ones first; see :func:`biobgt.inference.covariates.design_matrix`.
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

    columns: FloatArray
    taken: Mapping[str, int]
    degrees: int
    explained: float
    explained_by: Mapping[str, float]
    one_group: Mapping[str, tuple[str, ...]]

    @property
    def covariates(self) -> tuple[str, ...]:
        """The covariates that vary, in order."""
        return tuple(self.taken)

    def check(self) -> None:
        """Refuse covariates that cannot be told from the group, or that leave too few residual degrees of freedom."""
        if not self.covariates:
            return
        if named := _confounded_completely(self):
            why = "together they say which group a subject is of"
            if len(named) == 1:
                (name,) = named
                one_side = f"every value of {name} has subjects of one group only"
                why = one_side if name in self.one_group else f"{name} is one number for each group"
            raise InputError(
                f"The groups cannot be told apart from {listed(named)}: {why}. Leave {listed(named)} out "
                f"({_without(named)}), or add subjects of both groups who are alike in "
                f"{'it' if len(named) == 1 else 'them'}."
            )
        if self.degrees < LEAST_DEGREES:
            n_subjects = len(self.columns)
            by_cost = sorted(self.taken.items(), key=lambda pair: -pair[1])
            takes = ", ".join(f"{name} takes {n} of {n_subjects}" for name, n in by_cost)
            left, costly = self.degrees, []
            for name, cost in by_cost:  # until enough degrees are left or no covariate remains
                if left < LEAST_DEGREES:
                    costly.append(name)
                    left += cost
            raise InputError(
                f"{counted(n_subjects, 'subject')} with these covariates leave "
                f"{counted(max(self.degrees, 0), 'residual degree')} of freedom, and an adjusted comparison needs at "
                f"least {LEAST_DEGREES}: {takes}, intercept and group 2. With fewer the effect size d is inflated. "
                f"Leave {listed(costly)} out ({_without(costly)}), or add more subjects."
            )

    @property
    def notes(self) -> tuple[str, ...]:
        """Say where covariates and group are confounded in part, what that does, and where d is overstated."""
        notes = [
            f"{one_group_only(name, values)}: adjusted for {name}, those subjects say nothing about the group."
            for name, values in self.one_group.items()
        ]
        if self.explained >= NOTED_SHARE:
            notes.append(
                f"{_partly_confounded(self)}, which inflates the variance of the "
                f"adjusted difference {1 / (1 - self.explained):.1f} times."
            )
        if self.degrees < LEAST_DEGREES:
            notes.append(
                f"With {self.degrees} residual degrees of freedom the effect size d is overstated, by about "
                f"{percent(overstatement(self.degrees))} on average."
            )
        return tuple(notes)


def group_design(covariates: pd.DataFrame | None, patients: NDArray[np.bool_]) -> Design:
    """Code covariates for a comparison of two groups and count what they take.

    Parameters
    ----------
    covariates : DataFrame, n_subjects rows, or None
        From :func:`biobgt.inference.covariates.coded`, nothing missing.
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
    notes = [f"{one_group_only(name, values)}." for name, values in design.one_group.items()]
    if design.explained >= NOTED_SHARE:
        notes.append(f"{_partly_confounded(design)}.")
    return tuple(notes)


def one_group_only(name: str, values: Sequence[str]) -> str:
    """Say which values of a covariate, such as sites, have subjects of one group only."""
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


def _share_explained(columns: FloatArray, patients: NDArray[np.bool_]) -> float:
    """R² of the group in a linear model of these columns, of which the first is ones."""
    group = patients - patients.mean()
    left = group - columns @ np.linalg.lstsq(columns, group, rcond=None)[0]
    return float(np.clip(1 - left @ left / (group @ group), 0, 1))


def _without(names: Sequence[str]) -> str:
    return "on the command line " + " ".join(f"--without {name}" for name in names)


# Who is compared with whom, and with which covariates: all that is known before anything is measured.
#
# People are compared, not recordings: several recordings of a person are averaged. Whoever lacks a covariate is left
# out.


@dataclass(frozen=True, eq=False)
class ComparedPeople:
    """The people of two groups, in the order of their first recordings.

    Attributes
    ----------
    between : (str, str)
    rows : ndarray of bool, shape (n_rows,)
        Which of all rows are of the two groups.
    owners : tuple of str
        Whose each of those rows is.
    groups : ndarray of str, shape (n_people,)
    covariates : DataFrame, n_people rows, or None
        Means and common values over each person's rows; None without covariates.
    complete : ndarray of bool, shape (n_people,)
        Who has all covariates; the others are left out.
    sizes : dict of str to int
        People of each group who are not left out.
    design : Design
        Of those who are not left out.
    """

    between: tuple[str, str]
    rows: NDArray[np.bool_]
    owners: tuple[str, ...]
    groups: NDArray[np.object_]
    covariates: pd.DataFrame | None
    complete: NDArray[np.bool_]
    sizes: dict[str, int]
    design: Design

    @property
    def patients(self) -> NDArray[np.bool_]:
        """Who is of the second group, of those who are not left out."""
        return np.asarray(self.groups[self.complete] == self.between[1])

    @property
    def n_dropped(self) -> int:
        """People left out because a covariate is missing."""
        return int((~self.complete).sum())

    @property
    def n_repeated(self) -> int:
        """Rows beyond the first of a person."""
        return len(self.owners) - len(self.groups)


def compared_people(
    groups: Sequence[str | None],
    *,
    subjects: Sequence[str],
    between: tuple[str, str],
    covariates: pd.DataFrame | None = None,
) -> ComparedPeople:
    """Find the people of two groups and count what the covariates take.

    Parameters
    ----------
    groups : sequence of str or None, length n_rows
        Rows of other groups are left out.
    subjects : sequence of str, length n_rows
        Whose row each is.
    between : (str, str)
        Controls and patients.
    covariates : DataFrame, n_rows rows, or None
        See :func:`biobgt.groups.compare_groups`.

    Returns
    -------
    ComparedPeople
        Whether the design can be compared with, :meth:`Design.check` says.
    """
    rows = pd.DataFrame({"subject": list(map(str, subjects)), "group": list(groups)})
    chosen = rows["group"].isin(between).to_numpy()
    rows = rows[chosen].reset_index(drop=True)
    of_person = rows.groupby("subject", sort=False)["group"]
    both = of_person.nunique()
    if both.max() > 1:
        raise InputError(
            f"Subject '{both.idxmax()}' stands in both {between[0]} and {between[1]}. This test compares different "
            "people: keep one group of each person."
        )
    own = of_person.first().to_numpy()
    known = None
    if covariates is not None and covariates.shape[1]:
        known = person_values(coded(covariates.reset_index(drop=True))[chosen].reset_index(drop=True), rows["subject"])
    complete = np.ones(len(own), dtype=bool) if known is None else known.notna().all(axis=1).to_numpy()
    if known is not None and not complete.any():
        worst = str(known.isna().mean().idxmax())
        raise InputError(f"No subject has all covariates; '{worst}' is missing most often. Leave it out.")
    sizes = {name: int((own[complete] == name).sum()) for name in between}
    if min(sizes.values()) < FEWEST_COMPARED:
        whom = "people" if known is None else "people with all covariates"
        counts = ", ".join(f"{name} has {n}" for name, n in sizes.items())
        raise InputError(f"Each group needs {FEWEST_COMPARED} {whom}; {counts}.")
    design = group_design(None if known is None else known[complete], own[complete] == between[1])
    return ComparedPeople(between, chosen, tuple(rows["subject"]), own, known, complete, sizes, design)


def person_values(known: pd.DataFrame, owners: "pd.Series[str]") -> pd.DataFrame:
    """Mean of each person's numbers, and the one word of each person."""
    merged = {}
    for name in known.columns:
        column = known[name].groupby(owners, sort=False)
        if pd.api.types.is_numeric_dtype(known[name]):
            merged[name] = column.mean()
            continue
        n_values = column.nunique()
        if n_values.max() > 1:
            raise InputError(f"Subject '{n_values.idxmax()}' has two values of '{name}'; keep one per person.")
        merged[name] = column.first()
    return pd.DataFrame(merged)
