"""From every subject's agreement to a cohort's: means, bootstrap intervals, and the distance to null graphs.

Takes the tidy table that :func:`biobgt.hubs.subject_plausibility` makes, one subject or many, however they were
computed; so a study can run in parallel and be put together here.
"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.cohort import person_of
from biobgt.hubs.agreement import AGREEMENT_MEASURES
from biobgt.hubs.rank_correlation import check_confidence
from biobgt.people import average_by_person, people_in_order

CONDITION = ["level", "perturbation", "signed", "gamma", "reference"]


def summarise_plausibility(
    subjects: pd.DataFrame, *, n_boot: int = 2000, seed: int = 0, confidence: float = 0.95
) -> pd.DataFrame:
    """Average agreement over people, with bootstrap intervals; recordings of one person are averaged first.

    Parameters
    ----------
    subjects : DataFrame
        Tables of :func:`biobgt.hubs.subject_plausibility`, one below the other.
    n_boot : int
        Bootstrap samples of subjects.
    seed : int
    confidence : float
        Coverage of the intervals.

    Returns
    -------
    DataFrame
        One row for each condition and measure: ``mean``, ``sd``, ``low``, ``high``, ``n_subjects`` (people for whom
        the measure is defined) and ``n_recordings`` of theirs; and, where null graphs were drawn, ``null_mean`` and
        the ``excess`` of the own graph over the mean of its nulls with its interval. Intervals are NaN for a single
        person.
    """
    check_confidence(confidence)
    long = _long(subjects)
    recordings = _by_subject(long[long["null"] == 0])
    nulls = _by_subject(long[long["null"] > 0]).reindex(index=recordings.index, columns=recordings.columns)
    own, nulls = _by_person(recordings), _by_person(nulls)
    table = pd.DataFrame(
        {"mean": own.mean(), "sd": own.std(), "n_subjects": own.notna().sum(), "null_mean": nulls.mean()}
    )
    excess = own - nulls
    table["excess"] = excess.mean()
    draws = _bootstrap_counts(len(own), n_boot, seed)
    for prefix, values in (("", own), ("excess_", excess)):
        table[f"{prefix}low"], table[f"{prefix}high"] = _interval(values.to_numpy(), draws, confidence)
    table["n_recordings"] = recordings.notna().sum()
    order = ["mean", "sd", "low", "high", "n_subjects", "null_mean", "excess", "excess_low", "excess_high"]
    order.append("n_recordings")
    return table[order].reset_index()


def compare_with_nulls(subjects: pd.DataFrame) -> pd.DataFrame:
    """Set each subject's agreement beside that of its own null graphs.

    Parameters
    ----------
    subjects : DataFrame
        As for :func:`summarise_plausibility`.

    Returns
    -------
    DataFrame
        One row for each subject, condition and measure: ``value``, ``null_mean``, ``null_sd``, ``z``, and ``p``, the
        share of graphs (the own one counted in) that agree at least as well. Empty without null graphs.
    """
    long = _long(subjects).dropna(subset="value")
    keys = ["subject", *CONDITION, "measure"]
    own = long[long["null"] == 0].rename(columns={"value": "own"}).drop(columns="null")
    beside = long[long["null"] > 0].merge(own, on=keys)
    beside["as_good"] = beside["value"] >= beside["own"]
    groups = beside.groupby(keys, dropna=False, sort=False)
    table = groups.agg(
        value=("own", "first"),
        null_mean=("value", "mean"),
        null_sd=("value", "std"),
        n_nulls=("value", "size"),
        as_good=("as_good", "sum"),
    )
    table["z"] = (table["value"] - table["null_mean"]) / table["null_sd"].where(table["null_sd"] > 0)
    table["p"] = (1 + table["as_good"]) / (1 + table["n_nulls"])
    return table.drop(columns="as_good").reset_index()


def _long(subjects: pd.DataFrame) -> pd.DataFrame:
    """One row a value: subject, null, condition, measure."""
    return subjects.melt(
        id_vars=["subject", "null", *CONDITION], value_vars=list(AGREEMENT_MEASURES), var_name="measure"
    )


def _by_subject(long: pd.DataFrame) -> pd.DataFrame:
    """Subjects in rows, conditions and measures in columns; several null graphs are averaged."""
    keys = [*CONDITION, "measure"]
    means = long.groupby(["subject", *keys], dropna=False, sort=False)["value"].mean()
    return means.unstack(keys)  # noqa: PD010 - pivot_table drops conditions that are NaN for everyone


def _by_person(values: pd.DataFrame) -> pd.DataFrame:
    """People in rows, in the order of their first recordings."""
    persons = [person_of(str(subject)) for subject in values.index]
    return pd.DataFrame(
        average_by_person(values.to_numpy(np.float64), persons),
        index=list(people_in_order(persons)[0]),
        columns=values.columns,
    )


def _bootstrap_counts(n_subjects: int, n_boot: int, seed: int) -> NDArray[np.float64]:
    """How often each subject stands in each bootstrap sample, shape (n_boot, n_subjects)."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(n_subjects, np.full(n_subjects, 1 / n_subjects), size=n_boot).astype(np.float64)


def _interval(
    values: NDArray[np.float64], draws: NDArray[np.float64], confidence: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Percentile interval of the mean over subjects, for each column; NaN with fewer than two subjects."""
    defined = np.isfinite(values)
    totals, counts = draws @ np.where(defined, values, 0), draws @ defined
    means = np.divide(totals, counts, out=np.full(totals.shape, np.nan), where=counts > 0)
    enough = defined.sum(axis=0) > 1
    edges = np.full((2, values.shape[1]), np.nan)
    tail = (1 - confidence) / 2
    edges[:, enough] = np.nanquantile(means[:, enough], [tail, 1 - tail], axis=0)
    return edges[0], edges[1]
