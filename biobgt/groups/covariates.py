"""What else differs between groups: motion, age, sex and site, as columns of a linear model.

ASD subjects move more in the scanner, and motion changes connectivity: an effect that is motion must not be taken
for one of the diagnosis. Motion enters as the logarithm of mean framewise displacement (FD), which is skewed: where
groups differ in log FD, a linear term leaves a part of it to the group (``assets/studies/null_tests.py``).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.cohort import Cohort
from biobgt.errors import InputError
from biobgt.quality import mean_connectivity
from biobgt.readers.phenotypes import is_known
from biobgt.wording import counted

LOG_MOTION = "log_mean_fd"
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
CATEGORICAL = ("sex", "site")  # even where they are coded as numbers


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
        As :meth:`biobgt.cohort.Cohort.table` makes it, or a phenotype table in the cohort's order.

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
    table = table.rename(columns={_MOTION: LOG_MOTION}).dropna(axis="columns", how="all")
    usual = (LOG_MOTION if name == _MOTION else name for name in USUAL_NAMES)
    return Covariates(table, tuple(name for name in usual if name not in table))


def covariate_names(cohort_table: pd.DataFrame) -> tuple[str, ...]:
    """The covariates that a cohort's table offers: the usual ones, then its other columns of numbers or few words.

    A column with a word for nearly everybody, such as a second id, is not offered: it would take every degree of
    freedom. Nor is one whose name has a comma, which parts the names in links.
    """
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


def overall_connectivity(cohort: Cohort) -> NDArray[np.float64]:
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
        As :meth:`biobgt.cohort.Cohort.table` makes it.
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
                f"such as '{lacking[0]}'. {_NO_LOGARITHM if name == LOG_MOTION else ''}Complete it, "
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


def design_matrix(covariates: pd.DataFrame | None, n_subjects: int) -> tuple[NDArray[np.float64], tuple[str, ...]]:
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
    if name not in CATEGORICAL:
        numbers = pd.to_numeric(column.where(known), errors="coerce").astype(np.float64)
        if np.isinf(numbers).any():
            raise InputError(f"The covariate '{name}' has infinite values; leave those subjects out.")
        if numbers[known].notna().all():
            return numbers
    return column.astype(object).where(known, None).map(str, na_action="ignore")
