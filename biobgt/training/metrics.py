"""Probabilities that mean what they say, how good a classification is, and how sure one can be of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.metrics import roc_auc_score, roc_curve

from biobgt.base.errors import InputError

# How good a classification is.
#
# AUC is taken from probabilities, never from hard labels. What a set of subjects cannot tell (AUC of one group) is
# NaN. With two groups the second, the patients, is the positive one; with more, each group stands against all others
# and the mean is taken over groups (macro).


METRICS = ("accuracy", "auc", "f1", "sensitivity", "specificity", "brier", "ece")
CALIBRATION_BINS = 10
_CONFIDENCE = 0.95  # of intervals


def classification_metrics(truth: ArrayLike, probabilities: ArrayLike, groups: Sequence[str]) -> dict[str, float]:
    """Measure a classification.

    Parameters
    ----------
    truth : array-like of int or str, shape (n_subjects,)
        Columns or names of the true groups.
    probabilities : array-like, shape (n_subjects, n_groups)
        The predicted group is the most probable one.
    groups : sequence of str
        Names of the columns; of two, the second is the patients.

    Returns
    -------
    dict of str to float
        In the order of :data:`METRICS`, NaN where undefined. ``brier`` is the mean square of p(patient) − truth;
        with three or more groups the squares are summed over groups. ``ece`` is the expected calibration error over
        ten bins of equal width, of p(patient); with three or more groups, of the predicted group's probability
        (Guo et al. 2017). In few subjects it is above 0 even for a perfectly calibrated model.

    Examples
    --------
    >>> truth, probabilities = [0, 0, 1, 1], [[0.9, 0.1], [0.6, 0.4], [0.7, 0.3], [0.2, 0.8]]
    >>> found = classification_metrics(truth, probabilities, ["NC", "ASD"])
    >>> found["accuracy"], found["auc"], found["sensitivity"], found["specificity"]
    (0.75, 0.75, 0.5, 1.0)
    """
    values = _checked_probabilities(probabilities)
    if values.shape[1] != len(groups):
        raise InputError(f"There are {values.shape[1]} columns of probabilities and {len(groups)} groups.")
    known = np.asarray(truth)
    _check_one_each(known, len(values))
    named = known.dtype.kind in "UO"
    columns = pd.Index(list(groups)).get_indexer(pd.Index(known)) if named else known.astype(np.int64)
    if len(values) and not 0 <= columns.min() <= columns.max() < len(groups):
        raise InputError(f"Every true group must be one of {', '.join(groups)}, by name or by column.")
    if not len(values):
        return dict.fromkeys(METRICS, float("nan"))
    predicted = values.argmax(axis=1)
    positives = range(1, 2) if len(groups) == 2 else range(len(groups))
    each = pd.DataFrame([_one_against_all(columns == k, predicted == k, values[:, k]) for k in positives])
    means = {name: float(each[name].mean(skipna=False)) for name in each.columns}
    squares = (values - np.eye(len(groups))[columns]) ** 2
    brier = squares[:, 1].mean() if len(groups) == 2 else squares.sum(axis=1).mean()
    all_metrics = {
        "accuracy": float((predicted == columns).mean()),
        **means,
        "brier": float(brier),
        "ece": calibration_error(columns, values),
    }
    return {name: all_metrics[name] for name in METRICS}


def is_possible(accuracy: float, sensitivity: float, specificity: float, *, room: float = 1e-9) -> bool:
    """Whether an accuracy of two groups lies between sensitivity and specificity, or one of these is not known.

    Parameters
    ----------
    accuracy, sensitivity, specificity : float
    room : float
        How far outside it may lie.
    """
    ends = sensitivity, specificity
    return not np.isfinite(ends).all() or min(ends) - room <= accuracy <= max(ends) + room


def calibration_error(truth: ArrayLike, probabilities: ArrayLike, *, bins: int = CALIBRATION_BINS) -> float:
    """Mean distance between claimed and observed frequency over the bins of :func:`reliability_curve`.

    Parameters
    ----------
    truth : array-like of int, shape (n_subjects,)
        Columns of the true groups.
    probabilities : array-like, shape (n_subjects, n_groups)
    bins : int
    """
    happened, claimed = _event(truth, probabilities)
    if not len(claimed):
        return float("nan")
    sums = np.bincount(_bin_numbers(claimed, bins), weights=claimed - happened)
    return float(np.abs(sums).sum() / len(claimed))


def calibration_error_by_chance(probabilities: ArrayLike, *, draws: int = 200, seed: int = 0) -> float:
    """The calibration error that a perfectly calibrated model shows on so many subjects: above 0, and higher in few.

    Parameters
    ----------
    probabilities : array-like, shape (n_subjects, n_groups)
        Groups are drawn from them, so they are right by construction.
    draws : int
        Cohorts to draw; their mean error is returned.
    seed : int
    """
    values = _checked_probabilities(probabilities)
    if not len(values):
        return float("nan")
    luck = np.random.default_rng(seed).random((draws, len(values), 1))
    drawn = (luck > values.cumsum(axis=1)[:, :-1]).sum(axis=2)  # the first group whose cumulated probability is reached
    return float(np.mean([calibration_error(truth, values) for truth in drawn]))


def reliability_curve(truth: ArrayLike, probabilities: ArrayLike, *, bins: int = CALIBRATION_BINS) -> pd.DataFrame:
    """Set the claimed probabilities beside what happened.

    Parameters
    ----------
    truth : array-like of int, shape (n_subjects,)
    probabilities : array-like, shape (n_subjects,) or (n_subjects, n_groups)
        p(patient), or one column per group. With three or more groups the curve is of the predicted group's
        probability and of whether it was right.
    bins : int
        Bins of equal width from 0 to 1; an edge belongs to the bin below it.

    Returns
    -------
    DataFrame
        A row a bin that holds subjects: ``low``, ``high``, ``n``, ``predicted`` (mean), ``observed`` (share), and the
        95 % Wilson interval of the share, ``observed_low`` and ``observed_high``.
    """
    happened, claimed = _event(truth, probabilities)
    number, edges = _bin_numbers(claimed, bins), np.linspace(0, 1, bins + 1)
    rows = []
    for i in np.unique(number).tolist():
        here = number == i
        n, hits = int(here.sum()), int(happened[here].sum())
        share = stats.binomtest(hits, n).proportion_ci(method="wilson")
        rows.append((edges[i], edges[i + 1], n, claimed[here].mean(), hits / n, share.low, share.high))
    names = ["low", "high", "n", "predicted", "observed", "observed_low", "observed_high"]
    return pd.DataFrame(rows, columns=names).astype(dict.fromkeys(names, "float64") | {"n": "int64"})


def roc_points(truth: ArrayLike, probabilities: ArrayLike) -> pd.DataFrame:
    """Trace the ROC curve.

    Parameters
    ----------
    truth : array-like of int, shape (n_subjects,)
        1 for patients. Of three groups, draw one at a time: ``roc_points(truth == k, probabilities[:, k])``.
    probabilities : array-like, shape (n_subjects,) or (n_subjects, 2)

    Returns
    -------
    DataFrame
        ``threshold`` (falling, the first one above every probability), ``false_positive_rate`` and
        ``true_positive_rate``; no rows where all subjects are of one group.
    """
    if np.ndim(probabilities) == 2 and np.shape(probabilities)[1] != 2:
        raise InputError("A ROC curve is of one group against the others: give that group's probabilities alone.")
    happened, claimed = _event(truth, probabilities)
    names = ["threshold", "false_positive_rate", "true_positive_rate"]
    if happened.all() or not happened.any():
        return pd.DataFrame(columns=names, dtype=np.float64)
    false_positives, true_positives, thresholds = roc_curve(happened, claimed)
    return pd.DataFrame(dict(zip(names, (thresholds, false_positives, true_positives), strict=True)))


def _one_against_all(
    true: NDArray[np.bool_], predicted: NDArray[np.bool_], probability: NDArray[np.float64]
) -> dict[str, float]:
    both = true.any() and not true.all()
    shares = {
        "f1": (2 * (true & predicted).sum(), true.sum() + predicted.sum()),
        "sensitivity": ((true & predicted).sum(), true.sum()),
        "specificity": ((~true & ~predicted).sum(), (~true).sum()),
    }
    return {
        "auc": float(roc_auc_score(true, probability)) if both else float("nan"),
        **{name: float(part / whole) if whole else float("nan") for name, (part, whole) in shares.items()},
    }


def _bin_numbers(claimed: NDArray[np.float64], bins: int) -> NDArray[np.int64]:
    """Return which of the bins from 0 to 1 each probability falls into; an edge belongs to the bin below it."""
    if bins < 1:
        raise InputError(f"A reliability curve needs at least one bin, not {bins}.")
    return np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], claimed, side="left")


def _event(truth: ArrayLike, probabilities: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return what is claimed with which probability and whether it happened, both of shape (n_subjects,)."""
    raw = np.asarray(probabilities, dtype=np.float64)
    values = _checked_probabilities(np.column_stack([1 - raw, raw]) if raw.ndim == 1 else raw)
    columns = np.asarray(truth).astype(np.int64)
    _check_one_each(columns, len(values))
    if values.shape[1] == 2:
        return columns == 1, values[:, 1]
    return values.argmax(axis=1) == columns, values.max(axis=1)


def _checked_probabilities(probabilities: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(probabilities, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] < 2:
        raise InputError(f"Probabilities have a row per subject and a column per group, not shape {values.shape}.")
    if not np.isfinite(values).all() or (values < -1e-6).any() or (values > 1 + 1e-6).any():
        raise InputError("Probabilities lie between 0 and 1, and some do not.")
    if (np.abs(values.sum(axis=1) - 1) > 1e-3).any():  # float16 rounds by that much
        raise InputError("Each subject's probabilities must sum to 1; pass logits through softmax first.")
    return values


def _check_one_each(truth: NDArray[Any], n_rows: int) -> None:
    if truth.shape != (n_rows,):
        raise InputError(f"{n_rows} predictions need as many true groups, not shape {truth.shape}.")


# Temperature scaling: probabilities that mean what they say.
#
# One number T, fitted on subjects who do not test it, divides the logits (Guo et al., ICML 2017). It changes how sure
# the model claims to be, never which group it prefers, so accuracy stays as it was; with two groups AUC does too.


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
    values = _checked_logits(logits)
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
) -> tuple[NDArray[np.float64], float]:
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
    temperatures : ndarray, shape (n_subjects, 1)
        Each subject's, that of the fold that tests it, whose test subjects have no part in it.
    shared : float
        From all subjects, for new ones.
    """
    temperatures = np.ones((len(truth), 1))
    for rows in test:
        temperatures[rows] = _believed_temperature(np.delete(logits, rows, axis=0), np.delete(truth, rows))
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
    probabilities: NDArray[np.float64] = softmax(_checked_logits(logits) / temperature, axis=1)
    return probabilities


def _checked_logits(logits: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(logits, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] < 2:
        raise InputError(f"Logits have a row per subject and a column per group, not shape {values.shape}.")
    if not np.isfinite(values).all():
        raise InputError("Some logits are not finite; the model's training has failed.")
    return values


# How sure one can be of a metric: over other subjects, and between two models on the same splits.


@dataclass(frozen=True)
class Interval:
    """A value and its 95 % bootstrap interval."""

    value: float
    low: float
    high: float


def bootstrap_intervals(
    measure: Callable[[Any, Any], dict[str, float]],
    truth: ArrayLike,
    probabilities: ArrayLike,
    *,
    subjects: Sequence[str] | None = None,
    draws: int = 2000,
    seed: int = 0,
) -> dict[str, Interval]:
    """Say how far metrics would move with other subjects of the same groups.

    Parameters
    ----------
    measure : callable
        From (truth, probabilities) to metrics by name.
    truth : array-like of int, shape (n_rows,)
    probabilities : array-like, shape (n_rows, ...)
    subjects : sequence of str, length n_rows, or None
        Whose row each is: persons are drawn, with all their rows. None: each row is a person.
    draws : int
    seed : int

    Returns
    -------
    dict of str to Interval
        95 % percentile intervals over persons drawn with replacement within each group, NaN draws left out. They do not
        hold what another training run would change.
    """
    labels, values = np.asarray(truth, dtype=np.int64), np.asarray(probabilities, dtype=np.float64)
    names = list(range(len(labels))) if subjects is None else list(subjects)
    if not len(labels) == len(values) == len(names):
        raise InputError(f"There are {len(labels)} true groups, {len(values)} predictions and {len(names)} subjects.")
    rows = pd.Series(np.arange(len(labels))).groupby(pd.factorize(np.array(names))[0]).agg(list)
    mixes = rows.map(lambda own: tuple(sorted(set(labels[own].tolist()))))
    strata = [np.array(members) for members in mixes.groupby(mixes).groups.values()]
    of_person = [np.array(own) for own in rows]
    rng = np.random.default_rng(seed)
    drawn: list[dict[str, float]] = []
    for _ in range(draws):
        persons = np.concatenate([rng.choice(members, len(members)) for members in strata])
        sample = np.concatenate([of_person[person] for person in persons])
        drawn.append(measure(labels[sample], values[sample]))
    ends = pd.DataFrame(drawn).quantile([(1 - _CONFIDENCE) / 2, (1 + _CONFIDENCE) / 2])  # without NaN
    return {name: Interval(float(value), *map(float, ends[name])) for name, value in measure(labels, values).items()}


def paired_difference(a: ArrayLike, b: ArrayLike, *, test_train_ratio: float = 1 / 8) -> dict[str, float]:
    """Compare two models on the same splits.

    Parameters
    ----------
    a, b : array-like, shape (n_splits,)
        A metric of each model, split by split; splits in which either is NaN are left out.
    test_train_ratio : float
        Subjects tested over subjects trained on; 10/80 by default.

    Returns
    -------
    dict of str to float
        ``mean`` of a − b and ``n``, the number of splits; ``t``, ``p``, and the 95 % interval, ``corrected_low`` and
        ``corrected_high``, of the corrected resampled t-test (Nadeau & Bengio, Machine Learning 2003), which counts in
        that training sets overlap. NaN where undefined.
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise InputError(f"Paired splits need two lists of one length, not shapes {first.shape} and {second.shape}.")
    difference = first - second
    difference = difference[np.isfinite(difference)]
    n = len(difference)
    result = dict.fromkeys(("mean", "t", "p", "corrected_low", "corrected_high"), float("nan"))
    if n:
        result["mean"] = float(difference.mean())
    if n > 1:
        error = float(np.sqrt((1 / n + test_train_ratio) * difference.var(ddof=1)))
        reach = error * float(stats.t.ppf(0.975, n - 1))
        result["corrected_low"], result["corrected_high"] = result["mean"] - reach, result["mean"] + reach
        if error > 1e-15:  # otherwise all differences are the same but for rounding
            result["t"] = result["mean"] / error
            result["p"] = float(2 * stats.t.sf(abs(result["t"]), n - 1))
    return {**result, "n": float(n)}
