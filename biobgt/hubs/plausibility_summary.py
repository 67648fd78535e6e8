"""From every subject's agreement to a cohort's: means over people and bootstrap intervals."""

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
        One row for each subject, condition and reference, with the measures of agreement.
    n_boot : int
        Bootstrap samples of subjects.
    seed : int
    confidence : float
        Coverage of the intervals.

    Returns
    -------
    DataFrame
        One row for each condition and measure: ``mean``, ``sd``, ``low``, ``high``, ``n_subjects`` (people for whom
        the measure is defined) and ``n_recordings`` of theirs. Intervals are NaN for a single person.
    """
    check_confidence(confidence)
    recordings = _by_subject(subjects)
    own = _by_person(recordings)
    table = pd.DataFrame({"mean": own.mean(), "sd": own.std()})
    draws = _bootstrap_counts(len(own), n_boot, seed)
    table["low"], table["high"] = _interval(own.to_numpy(), draws, confidence)
    table["n_subjects"], table["n_recordings"] = own.notna().sum(), recordings.notna().sum()
    return table.reset_index()


def _by_subject(subjects: pd.DataFrame) -> pd.DataFrame:
    """Subjects in rows, conditions and measures in columns."""
    keys = [*CONDITION, "measure"]
    long = subjects.melt(id_vars=["subject", *CONDITION], value_vars=list(AGREEMENT_MEASURES), var_name="measure")
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
