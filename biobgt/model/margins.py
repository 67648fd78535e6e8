"""From the margins of a ridge regression to logits of groups.

Ridge is fitted to targets ±1, one per group. With three groups in an order, such as stages of a disease, the middle one
hardly ever has the largest margin, however well it can be told apart: it is masked (Hastie, Tibshirani and Friedman,
*The Elements of Statistical Learning*, section 4.2). A logistic regression on the margins that each training subject
got from all others brings it back, and says how sure a margin is.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar


def margins_to_logits(
    margins: NDArray[np.float64], groups: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Find the linear map from margins to logits: ``logits = margins @ matrix.T + offset``.

    Parameters
    ----------
    margins : ndarray, shape (n_subjects, n_groups)
        Of each training subject, from a ridge fitted to all others. Where regions were weighed first, the weights have
        seen them all, and the map is a little too sure; a temperature from other subjects follows.
    groups : ndarray of int, shape (n_subjects,)
        Columns of the true groups.

    Returns
    -------
    matrix : ndarray, shape (n_groups, n_groups)
        With two groups, whose margins are one number, a positive scale: chance must not turn a margin round.
    offset : ndarray, shape (n_groups,)
    """
    n_groups = margins.shape[1]
    if n_groups == 2:
        return _scale(margins, groups) * np.eye(2), np.zeros(2)
    from sklearn.linear_model import LogisticRegression

    spread = float(np.sqrt(np.square(margins - margins.mean(axis=0)).mean())) or 1.0
    model = LogisticRegression(max_iter=1000).fit(margins / spread, groups)
    return np.asarray(model.coef_ / spread), np.asarray(model.intercept_)


def _scale(margins: NDArray[np.float64], groups: NDArray[np.int64]) -> float:
    def loss(scale: float) -> float:
        logits = scale * margins
        chosen = logits[np.arange(len(groups)), groups]
        return float(np.mean(np.logaddexp.reduce(logits, axis=1) - chosen))

    return float(minimize_scalar(loss, bounds=(0.05, 20), method="bounded").x)
