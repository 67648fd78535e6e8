"""Who is compared with whom, and with which covariates: all that is known before anything is measured.

People are compared, not recordings: several recordings of a person are averaged. Whoever lacks a covariate is left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.groups.covariates import coded
from biobgt.groups.design import Design, group_design
from biobgt.people import FEWEST_COMPARED


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
    design : Design
        Of those who are not left out.
    """

    between: tuple[str, str]
    rows: NDArray[np.bool_]
    owners: tuple[str, ...]
    groups: NDArray[np.object_]
    covariates: pd.DataFrame | None
    complete: NDArray[np.bool_]
    design: Design

    @property
    def patients(self) -> NDArray[np.bool_]:
        """Who is of the second group, of those who are not left out."""
        return np.asarray(self.groups[self.complete] == self.between[1])

    @property
    def sizes(self) -> dict[str, int]:
        """People of each group who are not left out."""
        return _sizes(self.groups[self.complete], self.between)

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
        Whether the design can be compared with, :func:`biobgt.groups.design.check_design` says.
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
        known = _by_person(coded(covariates.reset_index(drop=True))[chosen].reset_index(drop=True), rows["subject"])
    complete = np.ones(len(own), dtype=bool) if known is None else known.notna().all(axis=1).to_numpy()
    if known is not None and not complete.any():
        worst = str(known.isna().mean().idxmax())
        raise InputError(f"No subject has all covariates; '{worst}' is missing most often. Leave it out.")
    sizes = _sizes(own[complete], between)
    if min(sizes.values()) < FEWEST_COMPARED:
        whom = "people" if known is None else "people with all covariates"
        counts = ", ".join(f"{name} has {n}" for name, n in sizes.items())
        raise InputError(f"Each group needs {FEWEST_COMPARED} {whom}; {counts}.")
    design = group_design(None if known is None else known[complete], own[complete] == between[1])
    return ComparedPeople(between, chosen, tuple(rows["subject"]), own, known, complete, design)


def _by_person(known: pd.DataFrame, owners: "pd.Series[str]") -> pd.DataFrame:
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


def _sizes(groups: NDArray[np.object_], between: tuple[str, str]) -> dict[str, int]:
    return {name: int((groups == name).sum()) for name in between}
