"""The tests of a finding on people, in every way at once, and the joint test of the whole curve.

Hundreds of specifications of one finding are no hundreds of findings: they are made of the same people. So people are
rearranged once for all specifications, after Freedman and Lane, and each time the whole curve is looked at: its median
estimate, and the share of specifications that are significant in the direction of most (Simonsohn, Simmons & Nelson
2020). The p of a specification by itself is of the same rearrangements.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray, ranks
from biobgt.base.errors import InputError
from biobgt.base.wording import counted, listed
from biobgt.data.cohort import FEWEST_COMPARED, average_by_person, by_person
from biobgt.groups.compare import USUAL
from biobgt.inference.covariates import (
    LEAST_DEGREES,
    coded,
    compared_people,
    complete_covariates,
    covariates_of,
    design_matrix,
    known_characteristics,
    one_value_per_person,
    person_values,
)
from biobgt.inference.linear_model import LinearModel, linear_model
from biobgt.inference.permutation import unit_residuals
from biobgt.specifications.findings import Estimate
from biobgt.specifications.options import EXCLUDED, LINEAR, LOGARITHM, NO_MOTION, FindingOptions
from biobgt.specifications.ways import MOST_FD, Situation, Way

ALPHA = 0.05
_AT_ONCE = 250  # rearrangements
_FD, _LOG_FD, _OVERALL = "mean_fd", "log_mean_fd", "mean_abs_fc"


@dataclass(frozen=True)
class JointTest:
    """The curve against rearranged people.

    Attributes
    ----------
    median : float
        Of the estimates.
    median_low, median_high : float
        95 % range of the median over rearrangements.
    median_p : float
        Two-sided.
    share : float
        Of specifications that are significant in the direction of most.
    share_expected : float
        Mean of the same over rearrangements.
    share_p : float
    permutations : int
    curve_low, curve_high : tuple of float, length n_tested
        95 % range of each place of the curve, estimates in order, over rearrangements.
    """

    median: float
    median_low: float
    median_high: float
    median_p: float
    share: float
    share_expected: float
    share_p: float
    permutations: int
    curve_low: tuple[float, ...] = ()
    curve_high: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class TestedPeople:
    """Who is tested, in the order of what is tested, so that people who are left out change little else.

    Attributes
    ----------
    recordings : tuple of str
        Whose each recording is, in the cohort's order.
    order : ndarray of int, shape (n_people,)
        Of the people, as their first recordings come, those who are tested.
    tested : ndarray, shape (n_people,)
        Group, 0 and 1, or score.
    covariates : DataFrame, n_people rows
        Mean FD and its logarithm, where they are known, and the others.
    two_groups : bool
    notes : tuple of str
    """

    recordings: tuple[str, ...]
    order: NDArray[np.int64]
    tested: FloatArray
    covariates: pd.DataFrame
    two_groups: bool
    notes: tuple[str, ...]

    def adjusted_for(self, ways: Sequence[Way]) -> tuple[str, ...]:
        """The covariates that all ways have."""
        motion = {LINEAR: _FD, LOGARITHM: _LOG_FD}
        codings = {motion.get(way.motion, "") for way in ways}
        alike = codings if len(codings) == 1 else set()
        others = [str(name) for name in self.covariates if name not in (_FD, _LOG_FD)]
        return (*filter(None, alike), *others, *((_OVERALL,) if all(way.overall for way in ways) else ()))

    def columns(self, way: Way, overall: FloatArray) -> tuple[NDArray[np.int64], FloatArray]:
        """Who a way tests, and its covariates with a column of ones.

        Parameters
        ----------
        way : Way
        overall : ndarray, shape (n_people,)
            Mean |FC| of each, as the way measures it.
        """
        motion = {LINEAR: [_FD], LOGARITHM: [_LOG_FD]}.get(way.motion, [])
        others = [name for name in self.covariates if name not in (_FD, _LOG_FD)]
        table = self.covariates[[*motion, *others]]
        if way.overall:
            table = table.assign(**{_OVERALL: overall})
        rows = np.arange(len(table))
        if way.motion == EXCLUDED:
            rows = np.flatnonzero(self.covariates[_FD].to_numpy(float) <= MOST_FD)
        return rows, design_matrix(table.iloc[rows].reset_index(drop=True), len(rows))[0]


def people_tested(situation: Situation) -> TestedPeople:
    """Find who is tested: the people of two groups, or with a score, who have all covariates of any way.

    Parameters
    ----------
    situation : Situation
        Whose cohort has these people only.
    """
    cohort, asked = situation.cohort, situation.asked
    covariates, notes = one_value_per_person(_covariates(situation), cohort.persons)
    if asked.score:
        tested, known, persons = _scores(situation, covariates)
    else:
        people = compared_people(
            [subject.group for subject in cohort],
            subjects=cohort.persons,
            between=asked.groups,
            covariates=covariates if covariates.shape[1] else None,
        )
        tested, persons = (people.groups == asked.second).astype(np.float64), tuple(dict.fromkeys(people.owners))
        known = people.covariates if people.covariates is not None else pd.DataFrame(index=range(len(persons)))
    complete = known.notna().all(axis=1).to_numpy() & np.isfinite(tested)
    if left := int((~complete).sum()):
        notes = (*notes, f"{counted(left, 'subject')} left out because a covariate or the score is missing.")
    order = np.flatnonzero(complete)
    order = order[np.argsort(tested[order], kind="stable")]
    table = known.iloc[order].reset_index(drop=True)
    return TestedPeople(cohort.persons, order, tested[order], table, not asked.score, tuple(notes))


def check_people(situation: Situation) -> None:
    """Refuse what cannot be tested at the settings at which the finding was seen, before anything is measured."""
    people = people_tested(situation)
    rows, nuisance = people.columns(replace(situation.reference, overall=False), np.zeros(len(people.order)))
    _model(nuisance, people.tested[rows], two_groups=people.two_groups)


def _covariates(situation: Situation) -> pd.DataFrame:
    """All covariates of any way, a row per recording."""
    table, asked = situation.cohort.table(), situation.asked
    usual = covariates_of(table).table
    if asked.covariates == (USUAL,):
        others = usual.drop(columns=_LOG_FD, errors="ignore")
    else:
        named = [name for name in asked.covariates if name.lower() != NO_MOTION]
        others = complete_covariates(table, named, leave_out_incomplete=True).table
    others = others.drop(columns=[_LOG_FD, _FD, asked.score.lower()], errors="ignore")
    if situation.knows_motion:
        displacement = pd.to_numeric(known_characteristics(table)[_FD], errors="coerce")
        known = displacement.where(displacement > 0)
        own = pd.DataFrame({_FD: known, _LOG_FD: np.log(known)})
        others = pd.concat([own.reset_index(drop=True), others.reset_index(drop=True)], axis=1)
    return coded(others)


def _scores(situation: Situation, covariates: pd.DataFrame) -> tuple[FloatArray, pd.DataFrame, tuple[str, ...]]:
    """Each person's score and covariates."""
    table, asked = situation.cohort.table(), situation.asked
    column = complete_covariates(table, [asked.score], leave_out_incomplete=True).table.iloc[:, 0]
    if not pd.api.types.is_numeric_dtype(column):
        raise InputError(f"'{asked.score}' holds words; a score is a column of numbers.")
    owners = pd.Series(list(situation.cohort.persons))
    people = by_person(range(len(owners)), owners)
    score = average_by_person(column.to_numpy(float)[:, None], list(owners))[:, 0]
    if int(np.isfinite(score).sum()) < 2 * FEWEST_COMPARED + 2 or np.nanstd(score) == 0:
        raise InputError(f"'{asked.score}' is known of {int(np.isfinite(score).sum())} people, or is the same in all.")
    known = person_values(covariates, owners) if covariates.shape[1] else pd.DataFrame(index=list(people))
    return score, known.reset_index(drop=True), tuple(people)


@dataclass(frozen=True, eq=False)
class _Design:
    """Specifications that are tested in one model: their places, and what covariates leave of their values."""

    places: NDArray[np.int64]
    rows: NDArray[np.int64]
    model: LinearModel
    residuals: FloatArray

    @property
    def pooled(self) -> LinearModel:
        """The model in which all have one variance, whose t says the size of an effect."""
        everybody = np.zeros(len(self.rows), np.int64)
        return replace(self.model, kinds=everybody, own_degrees=np.array([float(self.model.degrees)]))

    def sizes(self, t: FloatArray, *, two_groups: bool) -> FloatArray:
        """d, or partial r, of the t of one variance."""
        if two_groups:
            return t / self.model.length
        return t / np.sqrt(t**2 + self.model.degrees)


def all_ways_tested(
    people: TestedPeople,
    ways: Sequence[Way],
    values: Mapping[Way, FloatArray],
    overall: Mapping[Way, FloatArray],
    *,
    permutations: int,
    seed: int,
) -> tuple[list[Estimate], JointTest | None]:
    """Test every specification, and the curve as a whole.

    Parameters
    ----------
    people : TestedPeople
    ways : sequence of Way
    values, overall : mapping of Way to ndarray, shape (n_recordings,)
        What each way measures of recordings, by :attr:`Way.measured`, and their mean |FC|.
    permutations, seed : int

    Returns
    -------
    estimates : list of Estimate
        d, or the partial correlation of a score, with 95 % intervals.
    joint : JointTest or None
        None where not one way can be tested.
    """
    found: list[Estimate] = [Estimate(float("nan"))] * len(ways)
    designs = _designs(people, ways, values, overall, found)
    if not designs:
        return found, None
    places = np.concatenate([design.places for design in designs])
    observed = _effects(people, designs)
    t, sizes = _rearranged(people, designs, permutations=permutations, seed=seed)
    t = np.round(np.abs(t), 9) * np.sign(t)
    p = ranks(-np.abs(t), ties="max") / (1 + permutations)
    for place, (size, low, high), own in zip(places, observed, p[:, 0], strict=True):
        found[place] = Estimate(size, low, high, float(own))
    return found, _joint(sizes, p, permutations)


def _designs(
    people: TestedPeople,
    ways: Sequence[Way],
    values: Mapping[Way, FloatArray],
    overall: Mapping[Way, FloatArray],
    found: list[Estimate],
) -> list[_Design]:
    """The models of the ways that can be tested; of the others ``found`` is told why not."""
    alike: dict[tuple[object, ...], list[int]] = {}
    for place, way in enumerate(ways):
        data = (way.global_signal, way.part) if way.overall else ()
        alike.setdefault((way.motion, way.overall, *data), []).append(place)
    designs = []
    for own in alike.values():
        first = ways[own[0]]
        mean = _of_people(people, overall[first.measured])
        rows, nuisance = people.columns(first, mean)
        try:
            model = _model(nuisance, people.tested[rows], two_groups=people.two_groups)
        except InputError as error:
            for place in own:
                found[place] = Estimate(float("nan"), why=str(error))
            continue
        measured = np.column_stack([_of_people(people, values[ways[place].measured])[rows] for place in own])
        finite = np.isfinite(measured).all(axis=0)
        varies, residuals, _ = unit_residuals(model, measured[:, finite])
        tested = np.flatnonzero(finite)[varies]
        for place in np.setdiff1d(np.arange(len(own)), tested):
            found[own[place]] = Estimate(float("nan"), why="It is not defined for somebody, or the same in all.")
        if len(tested):
            designs.append(_Design(np.array(own)[tested], rows, model, residuals))
    return designs


def _of_people(people: TestedPeople, values: FloatArray) -> FloatArray:
    return average_by_person(values[:, None], people.recordings)[people.order, 0]


def _model(nuisance: FloatArray, tested: FloatArray, *, two_groups: bool) -> LinearModel:
    """The model of covariates and what is tested; each group, or each person, with a variance of its own."""
    if two_groups and min((tested == 1).sum(), (tested == 0).sum()) < FEWEST_COMPARED:
        raise InputError(f"A group has fewer than {FEWEST_COMPARED} people left.")
    columns = np.column_stack([nuisance, tested])
    last = np.eye(columns.shape[1])[-1:]
    kinds = tested.astype(np.int64) if two_groups else np.arange(len(tested))
    model = linear_model(columns, last, absorbed=np.zeros(len(tested), np.int64), kinds=kinds)
    if len(model.nuisance) and model.degrees < LEAST_DEGREES:
        raise InputError(
            f"{counted(len(tested), 'subject')} with these covariates leave {model.degrees} residual degrees of "
            f"freedom, and {LEAST_DEGREES} are needed. Leave covariates out, or add people."
        )
    return model


def _effects(people: TestedPeople, designs: Sequence[_Design]) -> list[tuple[float, float, float]]:
    """Effects with both ends of their 95 % intervals."""
    found = []
    for design in designs:
        if people.two_groups:
            d, half = design.model.size(design.residuals)
            found += list(zip(d.tolist(), (d - half).tolist(), (d + half).tolist(), strict=True))
            continue
        r = design.residuals @ design.model.tested[0]
        z, error = np.arctanh(np.clip(r, -1 + 1e-12, 1 - 1e-12)), 1 / np.sqrt(max(design.model.degrees - 1, 1))
        low, high = np.tanh(z - 1.959964 * error), np.tanh(z + 1.959964 * error)
        found += list(zip(r.tolist(), low.tolist(), high.tolist(), strict=True))
    return found


def _rearranged(
    people: TestedPeople, designs: Sequence[_Design], *, permutations: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    """The t of every specification, as it is and in every rearrangement, and its size, (n_ways, 1 + permutations).

    Every person draws a number, and people stand in its order, whoever a specification leaves out.
    """
    rng, n_ways = np.random.default_rng(seed), sum(len(design.places) for design in designs)
    t, sizes = np.empty((2, n_ways, 1 + permutations))
    for start in range(0, 1 + permutations, _AT_ONCE):
        size = min(_AT_ONCE, 1 + permutations - start)
        drawn, first = rng.random((size, len(people.order))), 0
        if start == 0:
            drawn[0] = np.arange(len(people.order))  # as it is
        for design in designs:
            orders = np.argsort(drawn[:, design.rows], axis=1)
            own = slice(first, first + len(design.places)), slice(start, start + size)
            t[own] = design.model.statistics(design.residuals, orders)
            pooled = design.pooled.statistics(design.residuals, orders)
            sizes[own] = design.sizes(pooled, two_groups=people.two_groups)
            first += len(design.places)
    return t, sizes


def _joint(sizes: FloatArray, p: FloatArray, permutations: int) -> JointTest:
    medians = np.median(sizes, axis=0)
    clear = p < ALPHA
    shares = np.maximum((clear & (sizes > 0)).mean(axis=0), (clear & (sizes < 0)).mean(axis=0))
    low, high = np.quantile(medians[1:], (0.025, 0.975))
    curves = np.quantile(np.sort(sizes[:, 1:], axis=0), (0.025, 0.975), axis=1)
    return JointTest(
        median=float(medians[0]),
        median_low=float(low),
        median_high=float(high),
        median_p=float((np.abs(medians) >= abs(medians[0]) - 1e-9).mean()),
        share=float(shares[0]),
        share_expected=float(shares[1:].mean()),
        share_p=float((shares >= shares[0] - 1e-9).mean()),
        permutations=permutations,
        curve_low=tuple(curves[0].tolist()),
        curve_high=tuple(curves[1].tolist()),
    )


def mean_in_all_ways(persons: Sequence[str], ways: Sequence[Way], values: Mapping[Way, FloatArray]) -> list[Estimate]:
    """The mean over people in every way, with its 95 % interval and p by Student's t.

    Parameters
    ----------
    persons : sequence of str, length n_recordings
    ways : sequence of Way
    values : mapping of Way to ndarray, shape (n_recordings,)
    """
    from scipy import stats

    found = []
    for way in ways:
        own = average_by_person(values[way.measured][:, None], persons)[:, 0]
        lacking = int((~np.isfinite(own)).sum())
        if lacking or len(own) < FEWEST_COMPARED:
            why = f"It is not defined for {counted(lacking, 'subject')}." if lacking else "There are too few people."
            found.append(Estimate(float("nan"), why=why))
            continue
        mean, error = float(own.mean()), float(own.std(ddof=1) / np.sqrt(len(own)))
        half = float(stats.t.ppf(0.975, len(own) - 1)) * error
        p = float(2 * stats.t.sf(abs(mean) / error, len(own) - 1)) if error > 0 else float("nan")
        found.append(Estimate(mean, mean - half, mean + half, p))
    return found


def people_words(asked: FindingOptions, people: TestedPeople) -> str:
    """Who is tested, for a caption: "40 NC and 41 ASD"."""
    if not people.two_groups:
        return f"{len(people.order)} people with {asked.score}"
    sizes = [int((people.tested == number).sum()) for number in (0, 1)]
    return listed([f"{n} {group}" for n, group in zip(sizes, asked.groups, strict=True)])
