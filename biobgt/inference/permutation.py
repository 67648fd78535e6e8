"""Permutation tests of effects in a linear model.

An effect is tested after Freedman and Lane: the covariates are fitted without it, the residuals are rearranged, and the
full model is fitted to each rearrangement (Freedman & Lane 1983; Winkler et al., NeuroImage 2014). All features are
rearranged together, which keeps their correlations and gives family-wise p from the largest statistic. An effect of one
column has a t, one of several an F. A difference of two groups is the smallest case.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray, discovery_rates
from biobgt.inference.beside import FeatureModels, feature_models
from biobgt.inference.linear_model import LinearModel, linear_model

EFFECT_COLUMNS = ("difference", "d", "d_low", "d_high", "t", "p", "p_family", "q")

_BLOCK = 4_000_000  # numbers held at once: 32 MB
TIE = 1e-9  # permutations that repeat the observed order must count, whatever the rounding


# How residuals may be rearranged where there is no effect.


@dataclass(frozen=True, eq=False)
class Exchange:
    """How residuals may be rearranged: freely, within blocks, or by turning their signs.

    Attributes
    ----------
    n_rows : int
    blocks : ndarray of int, shape (n_rows,), or None
        Rows are permuted within each block, such as a site or a person; None is freely.
    flips : bool
        Signs are turned instead, each row's by itself: for means and paired differences, and where variances differ,
        since a row's variance then stays its own (the wild bootstrap).
    """

    n_rows: int
    blocks: NDArray[np.int64] | None = None
    flips: bool = False

    def draw(self, size: int, rng: np.random.Generator) -> tuple[NDArray[np.int64] | None, FloatArray | None]:
        """Draw rearrangements: which row comes to each place, and its sign; each (size, n_rows) or None."""
        if self.flips:
            return None, rng.choice([-1.0, 1.0], (size, self.n_rows))
        if self.blocks is None:
            return rng.permuted(np.tile(np.arange(self.n_rows), (size, 1)), axis=1), None
        orders = np.tile(np.arange(self.n_rows), (size, 1))
        for block in np.unique(self.blocks):
            own = np.flatnonzero(self.blocks == block)
            orders[:, own] = rng.permuted(orders[:, own], axis=1)
        return orders, None

    def ways(self, tested: FloatArray) -> float:
        """How many rearrangements differ in what is tested, shape (n_rows, n_columns); infinite above 1e12."""
        if self.flips:
            return _bounded(self.n_rows * math.log(2))
        same = np.unique(tested.round(9), axis=0, return_inverse=True)[1].ravel()
        blocks = np.zeros(self.n_rows, np.int64) if self.blocks is None else self.blocks
        logarithm = 0.0
        for block in np.unique(blocks):
            counts = np.bincount(same[blocks == block])
            logarithm += math.lgamma(counts.sum() + 1) - sum(math.lgamma(n + 1) for n in counts)
        return _bounded(logarithm)


def _bounded(logarithm: float) -> float:
    return float(round(math.exp(logarithm))) if logarithm < math.log(1e12) else math.inf


# Features under the rearrangements.


Model: TypeAlias = LinearModel | FeatureModels  # of all features, or one for each
Tested: TypeAlias = (
    "Sequence[tuple[NDArray[np.int64], Model, FloatArray]]"  # features, their model, residuals of unit length
)


def unit_residuals(model: Model, values: FloatArray) -> tuple[NDArray[np.bool_], FloatArray, FloatArray]:
    """What covariates leave of the features that vary, in unit length.

    Parameters
    ----------
    model : LinearModel or FeatureModels
    values : ndarray, shape (n_rows, n_features)

    Returns
    -------
    varies : ndarray of bool, shape (n_features,)
    residuals : ndarray, shape (n_varying, n_rows)
    norms : ndarray, shape (n_varying,)
    """
    residuals, norms = model.residuals(values)
    varies = norms > 1e-9 * np.maximum(np.linalg.norm(values, axis=0), 1e-300)
    return varies, residuals[varies] / norms[varies, None], norms[varies]


def residuals_of_features(
    model: LinearModel, values: FloatArray, known: NDArray[np.int64], beside: FloatArray | None = None
) -> list[tuple[tuple[NDArray[np.int64], Model, FloatArray], FloatArray]]:
    """Features with the models in which they are tested, their residuals of unit length, and the lengths these had.

    Parameters
    ----------
    model : LinearModel
        With the covariates that all features share.
    values : ndarray, shape (n_rows, n_features)
    known : ndarray of int, shape (n_known,)
        Features that are known of everybody.
    beside : ndarray, shape (n_rows, n_known) or (n_rows, n_known, n_own), optional
        Covariates of each of them, its own.
    """
    models: list[tuple[NDArray[np.int64], Any]] = [(np.arange(len(known)), model)]
    if beside is not None:
        models = list(feature_models(model, beside.reshape(*beside.shape[:2], -1)))
    found = []
    for places, own in models:
        varies, residuals, norms = unit_residuals(own, values[:, known[places]])
        found.append(((known[places[varies]], own.some(varies), residuals), norms))
    return found


def drawn_statistics(
    tested: Tested, n_features: int, exchange: Exchange, *, permutations: int, seed: int, at_once: int = 0
) -> Iterator[FloatArray]:
    """Rearrange all features together, some rearrangements at a time, so that memory is bounded.

    Parameters
    ----------
    tested : sequence of (ndarray of int, LinearModel or FeatureModels, ndarray)
        Features, counted from 0, with their model and residuals of unit length, shape (n_some, n_rows).
    n_features : int
    exchange : Exchange
    permutations, seed : int
    at_once : int
        Rearrangements at a time; 0 is as many as memory is meant for.

    Yields
    ------
    ndarray, shape (n_features, n_drawn)
        Their t, with its sign, or F; NaN for features that are not tested.
    """
    rng = np.random.default_rng(seed)
    widest = max((model.width for _, model, _ in tested), default=1)
    at_once = at_once or max(1, _BLOCK // max(n_features, exchange.n_rows * widest))
    for start in range(0, permutations, at_once):
        size = min(at_once, permutations - start)
        orders, signs = exchange.draw(size, rng)
        drawn = np.full((n_features, size), np.nan)
        some = max(1, _BLOCK // (size * widest))
        for features, model, residuals in tested:
            for first in range(0, len(features), some):
                part = slice(first, first + some)
                drawn[features[part]] = model.some(part).statistics(residuals[part], orders, signs)
        yield drawn


def null_counts(
    tested: Tested, observed: FloatArray, exchange: Exchange, *, permutations: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Count the rearrangements whose |t| or F is as large as the observed, and keep the largest of all features.

    Parameters
    ----------
    tested : sequence of (ndarray of int, LinearModel, ndarray)
        See :func:`drawn_statistics`.
    observed : ndarray, shape (n_features,)
        NaN for features that are not tested.
    exchange : Exchange
    permutations, seed : int

    Returns
    -------
    counts : ndarray, shape (n_features,)
    largest : ndarray, shape (permutations,)
        Of each rearrangement, over all features; empty where none is tested.
    """
    counts, largest = np.zeros(len(observed)), np.empty(0)
    if not np.isfinite(observed).any():
        return counts, largest
    size = np.abs(observed)
    for drawn in drawn_statistics(tested, len(observed), exchange, permutations=permutations, seed=seed):
        np.abs(drawn, out=drawn)
        drawn *= 1 + TIE
        counts += (drawn >= size[:, None]).sum(axis=1)
        largest = np.concatenate([largest, np.nanmax(drawn, axis=0)])
    return counts, largest


def permutation_p(observed: FloatArray, largest: FloatArray) -> FloatArray:
    """The p of statistics, such as |t|, against one distribution, that of the largest of all features; never 0.

    >>> permutation_p(np.array([2.5, 0.5, np.nan]), np.array([1.0, 2.0, 3.0]))
    array([0.5, 1. , nan])
    """
    below = np.searchsorted(np.sort(largest), observed)
    return np.where(np.isnan(observed), np.nan, (1 + len(largest) - below) / (1 + len(largest)))


# A difference of two groups.


def group_effect(
    values: FloatArray,
    patients: NDArray[np.bool_],
    nuisance: FloatArray,
    *,
    beside: FloatArray | None = None,
    permutations: int,
    seed: int,
) -> pd.DataFrame:
    """Test a group difference in each feature.

    Parameters
    ----------
    values : ndarray, shape (n_subjects, n_features)
        Independent subjects. A feature that is not finite for someone is not tested.
    patients : ndarray of bool, shape (n_subjects,)
    nuisance : ndarray, shape (n_subjects, n_columns)
        Covariates with a column of ones; columns may depend on each other.
    beside : ndarray, shape (n_subjects, n_features) or (n_subjects, n_features, n_own), optional
        One or several more covariates for each feature, its own.
    permutations, seed : int

    Returns
    -------
    DataFrame, n_features rows
        With :data:`EFFECT_COLUMNS`: the mean ``difference`` of patients and controls, adjusted for the covariates;
        ``d``, the same in residual standard deviations of both groups together (Cohen's d without covariates), with
        its 95 % interval ``d_low`` to ``d_high``, for which each group has its own variance; ``t`` of the group in the
        linear model, each group with its own variance (Welch's t without covariates); the two-sided permutation ``p``
        of the feature alone, and ``p_family`` against the largest of all features; and ``q``, Benjamini and
        Hochberg's false discovery rate over the features. NaN where a feature does not vary.
    """
    # The smaller group stands first, of two as large the first subject's, whoever is called a patient.
    n = int(patients.sum())
    smaller = patients == (patients[0] if 2 * n == len(patients) else 2 * n < len(patients))
    order = np.argsort(~smaller, kind="stable")
    patients, values, nuisance = patients[order], values[order], nuisance[order]
    finite: NDArray[np.bool_] = np.asarray(np.isfinite(values).all(axis=0))
    known = np.flatnonzero(finite)
    found = {name: np.full(len(finite), np.nan) for name in EFFECT_COLUMNS}
    own = None if beside is None else beside[order][:, known]
    tested = residuals_of_features(_two_groups(nuisance, patients), values, known, own)
    for (features, model, residuals), norms in tested:
        d, half = model.size(residuals)
        found["difference"][features] = model.along(residuals)[:, 0] * norms / model.length
        found["d"][features], found["d_low"][features], found["d_high"][features] = d, d - half, d + half
        found["t"][features] = model.statistics(residuals)[:, 0]
    chosen = np.isfinite(found["t"])
    exchange, each = Exchange(len(patients)), [one for one, _ in tested]
    counts, largest = null_counts(each, found["t"], exchange, permutations=permutations, seed=seed)
    found["p"][chosen] = (1 + counts[chosen]) / (1 + permutations)
    found["p_family"] = permutation_p(np.abs(found["t"]), largest)
    found["q"][chosen] = discovery_rates(found["p"][chosen])
    return pd.DataFrame(found)


def _two_groups(nuisance: FloatArray, patients: NDArray[np.bool_]) -> LinearModel:
    """The model of covariates, of which the first is ones, and the group."""
    columns = np.column_stack([nuisance, patients])
    last = np.eye(columns.shape[1])[-1:]
    everybody = np.zeros(len(patients), np.int64)
    return linear_model(columns, last, absorbed=everybody, kinds=patients.astype(np.int64))
