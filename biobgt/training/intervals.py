"""How sure one can be of a metric: over other subjects, and between two models on the same splits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from biobgt.errors import InputError
from biobgt.training.protocols import RANDOM


@dataclass(frozen=True)
class Interval:
    """A value and its bootstrap interval."""

    value: float
    low: float
    high: float
    confidence: float


def bootstrap_intervals(
    measure: Callable[[Any, Any], dict[str, float]],
    truth: ArrayLike,
    probabilities: ArrayLike,
    *,
    subjects: Sequence[str] | None = None,
    draws: int = 2000,
    confidence: float = 0.95,
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
    confidence : float
    seed : int

    Returns
    -------
    dict of str to Interval
        Percentile intervals over persons drawn with replacement within each group, NaN draws left out. They do not
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
    table = pd.DataFrame(drawn)
    measured = measure(labels, values)
    return {
        name: Interval(float(value), *_percentiles(table[name].to_numpy(float), confidence), confidence)
        for name, value in measured.items()
    }


def paired_difference(
    a: ArrayLike,
    b: ArrayLike,
    *,
    test_train_ratio: float = 1 / 8,
    draws: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
) -> dict[str, float]:
    """Compare two models on the same splits.

    Parameters
    ----------
    a, b : array-like, shape (n_splits,)
        A metric of each model, split by split; splits in which either is NaN are left out.
    test_train_ratio : float
        Subjects tested over subjects trained on; 10/80 by default.
    draws, confidence, seed
        Of the bootstrap over splits.

    Returns
    -------
    dict of str to float
        ``mean`` of a − b and ``n``, the number of splits; ``t``, ``p``, ``corrected_low`` and ``corrected_high`` of the
        corrected resampled t-test (Nadeau & Bengio, Machine Learning 2003), which counts in that training sets
        overlap; ``low`` and ``high``, the plain bootstrap over splits, which does not and is too narrow. NaN where
        undefined.
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise InputError(f"Paired splits need two lists of one length, not shapes {first.shape} and {second.shape}.")
    difference = first - second
    difference = difference[np.isfinite(difference)]
    n = len(difference)
    result = dict.fromkeys(("mean", "low", "high", "t", "p", "corrected_low", "corrected_high"), float("nan"))
    if n:
        result["mean"] = float(difference.mean())
    if n > 1:
        rng = np.random.default_rng(seed)
        means = difference[rng.integers(n, size=(draws, n))].mean(axis=1)
        result["low"], result["high"] = _percentiles(means, confidence)
        error = float(np.sqrt((1 / n + test_train_ratio) * difference.var(ddof=1)))
        reach = error * float(stats.t.ppf((1 + confidence) / 2, n - 1))
        result["corrected_low"], result["corrected_high"] = result["mean"] - reach, result["mean"] + reach
        if error > 1e-15:  # otherwise all differences are the same but for rounding
            result["t"] = result["mean"] / error
            result["p"] = float(2 * stats.t.sf(abs(result["t"]), n - 1))
    return {**result, "n": float(n)}


def _percentiles(drawn: NDArray[np.float64], confidence: float) -> tuple[float, float]:
    drawn = drawn[np.isfinite(drawn)]
    if not len(drawn):
        return float("nan"), float("nan")
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def tested_to_trained(protocol: str, n_splits: int) -> float:
    """Subjects tested over subjects trained on: 10 to 80, or a site to nine tenths of the others."""
    if protocol == RANDOM:
        return 1 / 8
    return (1 / n_splits) / (0.9 * (1 - 1 / n_splits)) if n_splits > 1 else 1.0
