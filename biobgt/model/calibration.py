"""Probabilities that mean what they say: temperature scaling.

One number T, fitted on subjects who do not test it, divides the logits (Guo et al., ICML 2017). It changes how sure the
model claims to be, never which group it prefers, so accuracy stays as it was; with two groups AUC does too.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from biobgt.base.errors import InputError

# A few validation subjects all classified right would ask for T = 0, certainty; all wrong, for no opinion at all.
TEMPERATURES = (0.05, 20.0)
NO_OPINION = TEMPERATURES[1]
_CHI_SQUARED = 3.84  # 95 % of a likelihood ratio with one free number, where nothing is to be known


def fit_temperature(logits: ArrayLike, truth: ArrayLike) -> float:
    """Find the temperature that gives the highest likelihood.

    Parameters
    ----------
    logits : array-like, shape (n_subjects, n_groups)
        Of other subjects than those who are tested.
    truth : array-like of int, shape (n_subjects,)
        Columns of the true groups.

    Returns
    -------
    float
        Within :data:`TEMPERATURES`; 1 where no temperature does better, as with logits that are all alike.
    """
    values = _checked(logits)
    columns = np.asarray(truth, dtype=np.int64)
    if columns.shape != (len(values),) or not len(values):
        raise InputError(f"{len(values)} rows of logits need as many true groups, not shape {columns.shape}.")
    if columns.min() < 0 or columns.max() >= values.shape[1]:
        raise InputError(f"True groups are columns from 0 to {values.shape[1] - 1} of the logits.")

    def loss(log_temperature: float) -> float:
        likelihoods = log_softmax(values / np.exp(log_temperature), axis=1)
        return float(-likelihoods[np.arange(len(columns)), columns].mean())

    # In 1/T the loss is convex, so in log T it has a single valley.
    found = minimize_scalar(loss, bounds=np.log(TEMPERATURES), method="bounded", options={"xatol": 1e-6})
    return float(np.exp(found.x)) if found.fun < loss(0.0) - 1e-12 else 1.0


def fold_temperatures(
    logits: NDArray[np.float64], test: Sequence[NDArray[np.int64]], truth: NDArray[np.int64]
) -> tuple[list[float], float]:
    """Find a temperature a fold, from what the members of the other folds said of their own test subjects.

    A fold's validation subjects would not do: they have chosen the epoch, so a member is surer and righter about them
    than about anybody else. scikit-learn's ``CalibratedClassifierCV(ensemble=False)`` fits its calibration the same
    way, on out-of-fold predictions. A temperature that is no better than no opinion by a likelihood-ratio test (5 %) is
    luck, and no opinion is taken instead: otherwise, at chance, the folds that happen to be right make a member sure of
    the fold that happens to be wrong.

    Parameters
    ----------
    logits : ndarray, shape (n_subjects, n_groups)
        Of each subject, by the member of the fold that tests it.
    test : sequence of ndarray of int, shape (n_tested,) each
        The rows that each fold tests; every subject is in one of them.
    truth : ndarray of int, shape (n_subjects,)

    Returns
    -------
    temperatures : list of float
        One a fold, for its test subjects, who have no part in it.
    shared : float
        From all subjects, for new ones.
    """
    temperatures = [_believed_temperature(np.delete(logits, rows, axis=0), np.delete(truth, rows)) for rows in test]
    return temperatures, _believed_temperature(logits, truth)


def _believed_temperature(logits: NDArray[np.float64], truth: NDArray[np.int64]) -> float:
    """The most likely temperature, if it is told from no opinion."""
    found = fit_temperature(logits, truth)
    rows = np.arange(len(truth))
    gained = log_softmax(logits / found, axis=1)[rows, truth].sum() - len(truth) * np.log(1 / logits.shape[1])
    return found if 2 * gained > _CHI_SQUARED else NO_OPINION


def calibrated(logits: ArrayLike, temperature: float) -> NDArray[np.float64]:
    """Return the probabilities at a temperature, shape (n_subjects, n_groups).

    Examples
    --------
    >>> calibrated([[0.0, 2.0]], 1.0).round(2).tolist()
    [[0.12, 0.88]]
    >>> calibrated([[0.0, 2.0]], 2.0).round(2).tolist()  # less sure, of the same group
    [[0.27, 0.73]]
    """
    if not temperature > 0:
        raise InputError(f"A temperature is above 0, not {temperature}.")
    probabilities: NDArray[np.float64] = softmax(_checked(logits) / temperature, axis=1)
    return probabilities


def _checked(logits: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(logits, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] < 2:
        raise InputError(f"Logits have a row per subject and a column per group, not shape {values.shape}.")
    if not np.isfinite(values).all():
        raise InputError("Some logits are not finite; the model's training has failed.")
    return values


# From the margins of a ridge regression to logits of groups.
#
# Ridge is fitted to targets ±1, one per group. With three groups in an order, such as stages of a disease, the middle
# one hardly ever has the largest margin, however well it can be told apart: it is masked (Hastie, Tibshirani and
# Friedman, *The Elements of Statistical Learning*, section 4.2). A logistic regression on the margins that each
# training subject got from all others brings it back, and says how sure a margin is.


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
    if margins.shape[1] == 2:

        def loss(scale: float) -> float:
            logits = scale * margins
            chosen = logits[np.arange(len(groups)), groups]
            return float(np.mean(np.logaddexp.reduce(logits, axis=1) - chosen))

        found = minimize_scalar(loss, bounds=TEMPERATURES, method="bounded")
        return float(found.x) * np.eye(2), np.zeros(2)
    from sklearn.linear_model import LogisticRegression

    spread = float(np.sqrt(np.square(margins - margins.mean(axis=0)).mean())) or 1.0
    model = LogisticRegression(max_iter=1000).fit(margins / spread, groups)
    return np.asarray(model.coef_ / spread), np.asarray(model.intercept_)
