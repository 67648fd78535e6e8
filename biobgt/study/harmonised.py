"""The data of a study without what sites add: ComBat on every measure, preserving what is tested and adjusted for.

Edges, the regions of one measure at one level, and each number of the network are harmonised by themselves, since
shifts and scales are drawn towards those of features of one kind. How much sites explain before and after is kept.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.base.wording import listed
from biobgt.inference.design import COMPARED, StudyDesign
from biobgt.inference.formula import INTERCEPT
from biobgt.inference.harmonise import Combat, fit_combat, site_shares
from biobgt.study.data import StudyData
from biobgt.study.design import ROBUST, DesignOptions, PlannedStudy, variables_in


@dataclass(frozen=True, eq=False)
class HarmonisedStudy:
    """The data of a study without what sites add.

    Attributes
    ----------
    data : StudyData
        Recordings that are not tested are as they were.
    shares : DataFrame
        See :attr:`biobgt.study.findings.StudyFindings.harmonised`.
    overall : DataFrame
        See :attr:`biobgt.study.findings.StudyFindings.overall_by_site`.
    notes : list of str
    """

    data: StudyData
    shares: pd.DataFrame
    overall: pd.DataFrame
    notes: list[str]


def harmonise_study(data: StudyData, plan: PlannedStudy, options: DesignOptions) -> HarmonisedStudy:
    """Take away what sites add to the recordings that are tested, or refuse where sites and what is tested are one.

    Parameters
    ----------
    data : StudyData
    plan : PlannedStudy
    options : DesignOptions
    """
    harmoniser = _Harmoniser(data, plan, options)
    edges = harmoniser.harmonised("edges", np.nan, data.edges)
    overall = harmoniser.harmonised("overall connectivity", np.nan, data.overall[:, None])[:, 0]
    regions, network = (
        {
            name: np.stack(
                [harmoniser.harmonised(name, level, own) for level, own in _levels(data, values)], axis=1
            ).reshape(values.shape)
            for name, values in measures.items()
        }
        for measures in (data.regions, data.network)
    )
    simpler = {
        name: np.stack([harmoniser.harmonised(name, level, own, told=False) for level, own in _levels(data, values)], 1)
        for name, values in data.simpler.items()
    }
    rows = harmoniser.rows
    return HarmonisedStudy(
        replace(data, edges=edges, overall=overall, regions=regions, network=network, simpler=simpler),
        pd.concat(harmoniser.shares, ignore_index=True),
        pd.DataFrame(
            {
                "subject": data.table["subject"].to_numpy()[rows],
                "site": harmoniser.sites,
                "before": data.overall[rows],
                "after": overall[rows],
            }
        ),
        list(harmoniser.notes),
    )


def _levels(data: StudyData, values: FloatArray) -> Iterator[tuple[float, FloatArray]]:
    """What was measured at each level, shape (n_recordings, n_features)."""
    for place, level in enumerate(data.levels):
        yield level, values[:, place].reshape(len(values), -1)


class _Harmoniser:
    """Harmonises one set of features after the other, and remembers what sites explain of them."""

    def __init__(self, data: StudyData, plan: PlannedStudy, options: DesignOptions) -> None:
        by, design = options.harmonise_by, plan.main
        if by not in plan.variables or plan.variables[by].isna().all():
            raise InputError(
                f"There is no variable '{by}' to harmonise by. The table has: {', '.join(map(str, plan.variables))}."
            )
        if by in variables_in(design.tested):
            raise InputError(f"{by} is tested, and harmonising takes away what it adds. Choose no harmonisation.")
        places = _rows_of_design(design)
        known = plan.variables[by].notna().to_numpy()
        if (lost := (places >= 0) & ~known).any():
            raise InputError(
                f"{by} is not known of recording '{data.table['subject'].iloc[int(np.argmax(lost))]}', so what it adds "
                "cannot be taken away. Complete it, or name it in the design, which leaves such recordings out."
            )
        self.rows = np.flatnonzero(places >= 0)
        self.sites = plan.variables[by].to_numpy(object)[self.rows].tolist()
        self.persons = tuple(np.array(data.persons, object)[self.rows])
        self.preserved = _preserved(design, by).iloc[places[self.rows]].reset_index(drop=True)
        self.robust = options.harmonise == ROBUST
        self.fitted = _fitted_on(plan, options)[self.rows]
        self.shares: list[pd.DataFrame] = []
        self.notes: dict[str, None] = {}
        if not any(by in variables_in(name) for name in design.terms if name != INTERCEPT):
            self.notes[
                f"{by} is harmonised and no covariate. What ComBat preserves is then found too often where it is not "
                f"balanced over the values of {by}: add {by} to the design."
            ] = None

    def harmonised(self, measure: str, level: float, values: NDArray[Any], *, told: bool = True) -> NDArray[Any]:
        """Values without what sites add, shape (n_recordings, n_features); NaN where that is not known.

        What is only adjusted for, such as strength, is not told of.
        """
        own = values[self.rows]
        found = values.copy()
        if not np.isfinite(own).any():
            return found
        try:
            combat = self._fit(own)
        except InputError:
            if measure == "edges":  # who, which sites and what is preserved are the same for all measures
                raise
            what = "not tested" if told else "not adjusted for"
            self.notes[f"{measure} is not harmonised, so {what}: in a site all people have the same value."] = None
            found[self.rows] = np.nan
            return found
        found[self.rows] = combat.harmonised(own, self.sites, self.preserved)
        if not told:
            return found
        if measure == "edges":
            self.notes |= dict.fromkeys(combat.notes)
        before, after = (
            site_shares(np.asarray(one, np.float64), self.sites, self.preserved) for one in (own, found[self.rows])
        )
        self.shares.append(
            pd.DataFrame(
                {
                    "measure": measure,
                    "level": level,
                    "feature": np.arange(1, own.shape[1] + 1),
                    "before": before[0],
                    "after": after[0],
                    "spread_before": before[1],
                    "spread_after": after[1],
                }
            )
        )
        return found

    def _fit(self, values: NDArray[Any]) -> Combat:
        on = np.flatnonzero(self.fitted)
        sites, persons = ([of[row] for row in on] for of in (self.sites, self.persons))
        return fit_combat(values[on], sites, self.preserved.iloc[on], persons=persons, robust=self.robust)


def _fitted_on(plan: PlannedStudy, options: DesignOptions) -> NDArray[np.bool_]:
    """The rows of the table on which ComBat is fitted."""
    if not options.harmonise_on:
        return np.ones(len(plan.variables), bool)
    groups = plan.variables["group"] if "group" in plan.variables else pd.Series([None] * len(plan.variables))
    if not (found := (groups == options.harmonise_on).to_numpy(bool)).any():
        there = listed(sorted({str(one) for one in groups.dropna()})) or "none"
        raise InputError(
            f"There is no group '{options.harmonise_on}' to fit the harmonisation on. The groups: {there}."
        )
    return found


def _rows_of_design(design: StudyDesign) -> NDArray[np.int64]:
    """The row of the design that each row of the table is part of, -1 for those left out."""
    found = np.full(len(design.persons), -1)
    if design.recordings == COMPARED:
        found[design.kept] = np.arange(design.kept.sum())
        return found
    places = {name: place for place, name in enumerate(design.names)}
    return np.array([places.get(name, -1) for name in design.persons])


def _preserved(design: StudyDesign, by: str) -> pd.DataFrame:
    """The columns of the design, what is tested first, without those of sites and those that say what others do."""
    chosen: dict[str, FloatArray] = {}
    names = [design.tested, *design.covariates]
    for name in (name for name in names if name != INTERCEPT and by not in variables_in(name)):
        for number, column in enumerate(design.columns[:, design.terms[name]].T):
            together = np.column_stack([np.ones(len(column)), *chosen.values(), column])
            if np.linalg.matrix_rank(together / np.linalg.norm(together, axis=0)) == together.shape[1]:
                chosen[name if number == 0 else f"{name} ({number + 1})"] = column
    return pd.DataFrame(chosen, index=range(len(design.columns)))
