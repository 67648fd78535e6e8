"""Motion alone as a classifier: what mean framewise displacement says of the group, on the folds of a model.

Groups often differ in how much they move, and motion changes connectivity (Power et al., NeuroImage 59:2142, 2012).
What a model adds is what it has above this.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.cohort import Cohort
from biobgt.training.splits import Split

COLUMN = "mean_fd"
SIMULATED = (
    "The patients are simulated from controls drawn at random, so that motion can tell nothing about the groups."
)
UNKNOWN = "Mean framewise displacement is not known for this cohort, so that what motion alone gives is not known."


def mean_displacement(cohort: Cohort) -> NDArray[np.float64]:
    """Each subject's mean framewise displacement in mm, NaN where not known, shape (n_subjects,)."""
    values = [subject.phenotypes.get(COLUMN) for subject in cohort]
    return np.asarray(pd.to_numeric(pd.Series(values, dtype=object), errors="coerce"), dtype=np.float64)


def motion_out_of_fold(
    displacement: NDArray[np.float64], labels: NDArray[np.int64], splits: Sequence[Split]
) -> NDArray[np.float64]:
    """Out-of-fold probabilities of a logistic regression on log displacement; NaN where it is not known.

    Parameters
    ----------
    displacement : ndarray, shape (n_subjects,)
    labels : ndarray of int, shape (n_subjects,)
    splits : sequence of Split
        Fitted on training and validation subjects, as nothing is chosen on the latter.

    Returns
    -------
    ndarray, shape (n_subjects, n_groups)
    """
    from sklearn.linear_model import LogisticRegression

    known = np.isfinite(displacement) & (displacement > 0)
    logs = np.log(np.where(known, displacement, 1.0))[:, None]
    found = np.full((len(labels), int(labels.max()) + 1), np.nan)
    for split in splits:
        train = np.concatenate([split.train, split.validation])
        train, test = train[known[train]], split.test[known[split.test]]
        if len(np.unique(labels[train])) < found.shape[1] or not len(test):
            continue
        found[test] = LogisticRegression(C=1e4).fit(logs[train], labels[train]).predict_proba(logs[test])
    return found
