"""How well a trained model does in a cohort whose groups are known, beside what its card says of it.

The card's numbers are of subjects left out of training; these are of other people, scanned and preprocessed elsewhere,
and usually of few. Who has no group that the model knows, or no prediction, is left out and counted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.cohort import Cohort, kind_of_group
from biobgt.training.card_views import METRIC_TITLES, result_cell
from biobgt.training.intervals import Interval, bootstrap_intervals
from biobgt.training.metrics import classification_metrics

THIS_COHORT, THE_CARD = "This cohort", "The model's card"
DRAWS = 500  # of the bootstrap
FEWEST = 5  # subjects of every group: with fewer a ROC curve has a step or two


@dataclass(frozen=True, eq=False)
class CohortResults:
    """Predictions of subjects whose groups are known.

    Attributes
    ----------
    groups : tuple of str
        The model's, controls first.
    labels : ndarray of int, shape (n_subjects,)
        Columns of the true groups.
    probabilities : ndarray, shape (n_subjects, n_groups)
    people : tuple of str, length n_subjects
        Whose recordings these are.
    n_left_out : int
        Subjects of another group, or of none, or without a prediction.
    """

    groups: tuple[str, ...]
    labels: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    people: tuple[str, ...]
    n_left_out: int

    @property
    def is_enough(self) -> bool:
        """Whether every group has enough subjects to be judged by."""
        return bool((np.bincount(self.labels, minlength=len(self.groups)) >= FEWEST).all())

    @property
    def confusion(self) -> pd.DataFrame:
        """How many subjects of each true group (rows) were most probably of each group (columns)."""
        counts = np.zeros((len(self.groups), len(self.groups)), dtype=np.int64)
        np.add.at(counts, (self.labels, self.probabilities.argmax(axis=1)), 1)
        return pd.DataFrame(counts, index=list(self.groups), columns=list(self.groups))

    def table(self, card: Mapping[str, Any], *, seed: int = 0) -> pd.DataFrame:
        """One row per metric: this cohort's value with its 95 % bootstrap interval over people, and the card's.

        Parameters
        ----------
        card : mapping
            Of the model.
        seed : int
            Of the bootstrap.
        """
        found = bootstrap_intervals(
            partial(classification_metrics, groups=self.groups),
            self.labels,
            self.probabilities,
            subjects=self.people,
            draws=DRAWS,
            seed=seed,
        )
        of_model = next(iter(card["results"].values()))
        rows = [
            {"Metric": title, THIS_COHORT: result_cell(_plain(found[name], with_interval=name != "ece"))}
            | {THE_CARD: result_cell(of_model[name])}
            for name, title in METRIC_TITLES.items()
        ]
        return pd.DataFrame(rows)


def cohort_results(
    cohort: Cohort, groups: Sequence[str], predictions: Sequence[Mapping[str, Any] | None]
) -> CohortResults:
    """Take the predictions of those whose group the model knows.

    Parameters
    ----------
    cohort : Cohort
    groups : sequence of str
        The model's, controls first.
    predictions : sequence of (mapping or None), length n_subjects
        With ``prediction`` and ``p_GROUP``, in the cohort's order; None where there is none yet.
    """
    column = {kind_of_group(group): k for k, group in enumerate(groups)}
    rows = [
        (column[subject.group], [float(said[f"p_{group}"]) for group in groups], person)
        for subject, said, person in zip(cohort, predictions, cohort.persons, strict=True)
        if said is not None and said["prediction"] and subject.group in column
    ]
    return CohortResults(
        tuple(groups),
        np.array([label for label, _, _ in rows], dtype=np.int64),
        np.array([shares for _, shares, _ in rows], dtype=np.float64).reshape(len(rows), len(groups)),
        tuple(person for _, _, person in rows),
        len(cohort) - len(rows),
    )


def _plain(found: Interval, *, with_interval: bool) -> dict[str, float | None]:
    """A result as cards have it; what is not defined is None, and so is an interval of what only rises by chance."""
    value, low, high = (None if number != number else number for number in (found.value, found.low, found.high))
    return {"value": value, "low": low if with_interval else None, "high": high if with_interval else None}
