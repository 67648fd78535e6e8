"""Permutation tests: of effects in a linear model, and of how alike two differences of groups are.

An effect is tested after Freedman and Lane: the covariates are fitted without it, the residuals are rearranged, and the
full model is fitted to each rearrangement (Freedman & Lane 1983; Winkler et al., NeuroImage 2014). All features are
rearranged together, which keeps their correlations and gives family-wise p from the largest statistic. An effect of one
column has a t, one of several an F. A difference of two groups is the smallest case.

Where variances differ, the statistic is that of Welch: the coefficient over a standard error in which each group has
its own residual variance. Where groups of unequal size differ in variance, the t of a pooled variance finds differences
that are not there; permuting does not help it, but a statistic that is studentised so holds its level (Janssen,
Statistics & Probability Letters 1997; ``assets/studies/null_tests.py``). For the effect of a number every person is a
group of their own, which is the robust standard error HC2 (DiCiccio & Romano, JASA 2017). That is so of one feature;
the largest of many is still found too often, unless signs are turned instead (``benchmarks/null_studies.py``).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import linalg, sparse

from biobgt.base.arrays import FloatArray, discovery_rates
from biobgt.base.errors import InputError

if TYPE_CHECKING:
    from biobgt.inference.beside import FeatureModels

EFFECT_COLUMNS = ("difference", "d", "d_low", "d_high", "t", "p", "p_family", "q")

_BLOCK = 4_000_000  # numbers held at once: 32 MB
_NOTHING = 1e-20  # a variance that is rounding
_OWN_FREEDOM = 0.05  # of a person alone: with less, the person's variance is a guess, and all have one
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


# The linear model: covariates, what is tested beyond them, and whose variance is whose.


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Covariates and tested columns, orthonormal, and what residuals have for their variances.

    Attributes
    ----------
    absorbed : ndarray of int, shape (n_rows,), or None
        Means of these blocks of rows are taken away first, of all rows (zeros) or of each person; rearranging within
        the blocks leaves them as they are.
    nuisance : ndarray, shape (n_nuisance, n_rows)
        The other covariates.
    tested : ndarray, shape (n_tested, n_rows)
        What is tested, beyond the covariates.
    length : float
        The estimate of one tested column is its coefficient over this; NaN for several.
    degrees : int
        Residual degrees of freedom.
    kinds : ndarray of int, shape (n_rows,)
        Rows of one kind have one variance.
    own_degrees : ndarray, shape (n_kinds,)
        Residual degrees of freedom of each kind: one less leverage, in sum.
    """

    absorbed: NDArray[np.int64] | None
    nuisance: FloatArray
    tested: FloatArray
    length: float
    degrees: int
    kinds: NDArray[np.int64]
    own_degrees: FloatArray

    def some(self, chosen: Any) -> "LinearModel":
        """The model of some features: the same for all."""
        return self

    @property
    def n_tested(self) -> int:
        """How many columns are tested at once."""
        return len(self.tested)

    @property
    def width(self) -> int:
        """Columns that a rearrangement needs."""
        several = 1 + (len(self.own_degrees) > 1) * len(self.pairs)
        return len(self.directions) * several + len(self.pairs)

    def along(self, residuals: FloatArray) -> FloatArray:
        """Coefficients of what is tested, shape (n_features, n_tested), of residuals of unit length."""
        return residuals @ self.tested.T

    @property
    def directions(self) -> FloatArray:
        """Covariates that are not absorbed, and last what is tested."""
        return np.vstack([self.nuisance, self.tested])

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of tested columns whose covariances a statistic needs."""
        return list(combinations_with_replacement(range(len(self.tested)), 2))

    @property
    def weights(self) -> FloatArray:
        """What each row's squared residual adds to the covariances of tested columns, shape (n_pairs, n_rows)."""
        own = np.array([self.tested[a] * self.tested[b] for a, b in self.pairs])
        shares = np.stack([np.bincount(self.kinds, row, len(self.own_degrees)) for row in own])
        return (shares / self.own_degrees)[:, self.kinds]

    def residuals(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What covariates leave of features (n_rows, n_features), shape (n_features, n_rows), and its length."""
        left = without_means(values, self.absorbed).T
        left = left - (left @ self.nuisance.T) @ self.nuisance
        return left, np.linalg.norm(left, axis=1)

    def statistics(
        self,
        residuals: FloatArray,
        orders: NDArray[np.int64] | None = None,
        signs: FloatArray | None = None,
    ) -> FloatArray:
        """The t of one tested column, or the F of several, of residuals of unit length as they are rearranged.

        Parameters
        ----------
        residuals : ndarray, shape (n_features, n_rows)
        orders : ndarray of int, shape (n_drawn, n_rows), or None
            Which row comes to each place.
        signs : ndarray, shape (n_drawn, n_rows), or None

        Returns
        -------
        ndarray, shape (n_features, n_drawn)
            Of one column where nothing is rearranged.
        """
        # Instead of many residuals, the few columns of the model are rearranged, by the inverse.
        inverse = None if orders is None else np.argsort(orders, axis=1)
        parts = _products(residuals, self.directions, inverse, signs)
        if len(self.own_degrees) == 1:
            return pooled_statistics(parts, self.n_tested, self.degrees)
        return studentised(
            parts[..., -self.n_tested :], self._covariances(residuals, parts, inverse, signs), self.pairs
        )

    def _covariances(
        self,
        residuals: FloatArray,
        parts: FloatArray,
        inverse: NDArray[np.int64] | None,
        signs: FloatArray | None,
    ) -> FloatArray:
        """Covariances of the tested columns' coefficients, shape (n_features, n_drawn, n_pairs).

        The squared residual of a row, e - directions · parts, is written out, so that only products with columns are
        needed: Σ w e², − 2 parts · Σ w e direction, + parts · (Σ w direction direction) · parts.
        """
        directions, weights = self.directions, self.weights
        found = _products(residuals**2, weights, inverse, None if signs is None else signs**2)
        for place, weight in enumerate(weights):
            weighted = _products(residuals, weight * directions, inverse, signs)
            quadratic = parts @ ((weight * directions) @ directions.T)
            found[..., place] += np.einsum("...i,...i->...", quadratic - 2 * weighted, parts)
        return found

    def kind_variances(self, residuals: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Coefficients of what is tested, and variances of each kind of rows, of residuals as they are.

        Parameters
        ----------
        residuals : ndarray, shape (n_features, n_rows)
            Of unit length.

        Returns
        -------
        along : ndarray, shape (n_features, n_tested)
        variances : ndarray, shape (n_features, n_kinds)
        """
        parts = residuals @ self.directions.T
        squares = (residuals - parts @ self.directions) ** 2
        sums = np.add.reduceat(squares[:, np.argsort(self.kinds, kind="stable")], self._starts, axis=1)
        return parts[:, -len(self.tested) :], sums / self.own_degrees

    @property
    def _starts(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(np.bincount(self.kinds))[:-1]])

    def size(self, residuals: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The difference in standard deviations of all groups together, and half of its 95 % interval.

        Parameters
        ----------
        residuals : ndarray, shape (n_features, n_rows)
            Of unit length; one column is tested.
        """
        along, variances = self.kind_variances(residuals)
        shares = np.asarray(np.bincount(self.kinds, self.tested[0] ** 2, len(self.own_degrees)), np.float64)
        return interval_of(along[:, 0], variances, shares, self.own_degrees, self.degrees, self.length)


def pooled_statistics(parts: FloatArray, n_tested: int, degrees: int | NDArray[np.int64]) -> FloatArray:
    """The t or F of one variance, of products of residuals of unit length with all directions, shape (..., n).

    Parameters
    ----------
    parts : ndarray, shape (n_features, n_drawn, n_directions)
        Last what is tested.
    n_tested : int
    degrees : int, or ndarray, shape (n_features, 1)
    """
    along = parts[..., -n_tested:]
    left = np.maximum(1 - np.einsum("...i,...i->...", parts, parts), _NOTHING) / degrees
    if n_tested == 1:
        return np.asarray(along[..., 0] / np.sqrt(left))
    return np.asarray(np.einsum("...i,...i->...", along, along) / n_tested / left)


def studentised(along: FloatArray, found: FloatArray, pairs: Sequence[tuple[int, int]]) -> FloatArray:
    """The t of one coefficient, or the F of several, over their own covariances.

    Parameters
    ----------
    along : ndarray, shape (..., n_tested)
    found : ndarray, shape (..., n_pairs)
        Covariances of the pairs of coefficients.
    pairs : sequence of (int, int)
    """
    n_tested = along.shape[-1]
    if n_tested == 1:
        return np.asarray(along[..., 0] / np.sqrt(np.maximum(found[..., 0], _NOTHING)))
    covariances = np.empty((*found.shape[:-1], n_tested, n_tested))
    for place, (a, b) in enumerate(pairs):
        covariances[..., a, b] = covariances[..., b, a] = found[..., place]
    covariances += _NOTHING * np.eye(n_tested)
    solved = np.linalg.solve(covariances, along[..., None])[..., 0]
    return np.asarray(np.einsum("...i,...i->...", along, solved) / n_tested)


def interval_of(
    along: FloatArray,
    variances: FloatArray,
    shares: FloatArray,
    own_degrees: FloatArray,
    degrees: int | NDArray[np.int64],
    length: float | FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """A difference in standard deviations of all groups together, and half of its 95 % interval.

    Parameters
    ----------
    along : ndarray, shape (n_features,)
        Coefficient of what is tested.
    variances : ndarray, shape (n_features, n_kinds)
        Residual variance of each kind of rows.
    shares, own_degrees : ndarray, shape (n_kinds,) or (n_features, n_kinds)
        What of the tested column each kind has, and its residual degrees of freedom.
    degrees, length : number, or ndarray, shape (n_features,)
    """
    from scipy import stats  # a second of import that a page's first start need not wait for

    def over_kinds(values: FloatArray, weights: FloatArray) -> FloatArray:
        return values @ weights if weights.ndim == 1 else (values * weights).sum(axis=1)

    pooled = np.maximum(over_kinds(variances, own_degrees) / degrees, _NOTHING)
    d = along / (length * np.sqrt(pooled))
    of_difference = np.maximum(over_kinds(variances, shares), _NOTHING)
    # Of the pooled SD, relative: 1 / 2 degrees where variances are equal, as in Hedges and Olkin's interval.
    of_sd = over_kinds(variances**2, own_degrees) / (2 * degrees**2 * pooled**2)
    satterthwaite = of_difference**2 / over_kinds(variances**2, shares**2 / own_degrees)
    error = np.sqrt(of_difference / (length**2 * pooled) + d**2 * of_sd)
    return d, np.asarray(stats.t.ppf(0.975, satterthwaite) * error)


def kinds_or_one(own_degrees: FloatArray, n_rows: int) -> bool:
    """Whether each kind of rows has enough residual degrees of freedom for a variance of its own.

    Parameters
    ----------
    own_degrees : ndarray, shape (n_kinds,)
    n_rows : int
    """
    return bool(own_degrees.min() >= (_OWN_FREEDOM if len(own_degrees) == n_rows else 1 - 1e-9))


def without_means(values: FloatArray, blocks: NDArray[np.int64] | None) -> FloatArray:
    """Values, a row each, without the mean of their block of rows; as they are without blocks."""
    if blocks is None:
        return values
    n_rows, counts = len(blocks), np.bincount(blocks)
    average = sparse.csr_array((1 / counts[blocks], (blocks, np.arange(n_rows))), shape=(len(counts), n_rows))
    return np.asarray(values - (average @ values)[blocks])


def _products(
    residuals: FloatArray, columns: FloatArray, inverse: NDArray[np.int64] | None, signs: FloatArray | None
) -> FloatArray:
    """Products of rearranged residuals with columns (n_columns, n_rows), shape (n_features, n_drawn, n_columns)."""
    if inverse is None and signs is None:
        return (residuals @ columns.T)[:, None]
    turned = columns.T[:, None] if inverse is None else columns.T[inverse.T]
    if signs is not None:
        turned = turned * signs.T[:, :, None]
    flat = residuals @ turned.reshape(len(turned), -1)
    return np.asarray(flat.reshape(len(residuals), -1, len(columns)))


def linear_model(
    columns: FloatArray,
    contrast: FloatArray,
    *,
    absorbed: NDArray[np.int64] | None = None,
    kinds: NDArray[np.int64] | None = None,
) -> LinearModel:
    """Make a model in which combinations of coefficients are tested, beyond all else that the columns say.

    Parameters
    ----------
    columns : ndarray, shape (n_rows, n_columns)
        They may depend on each other, as long as what is tested can be told from the rest.
    contrast : ndarray, shape (n_tested, n_columns)
        A row per combination of coefficients that is zero where there is no effect.
    absorbed : ndarray of int, shape (n_rows,), optional
        Blocks of rows, numbered from 0, whose means are covariates.
    kinds : ndarray of int, shape (n_rows,), optional
        Rows of one kind have one variance, numbered from 0; None is one variance for all.
    """
    n_rows, n_tested = len(columns), len(contrast)
    centred, wanted = without_means(columns, absorbed), np.asarray(contrast, np.float64)
    lengths = np.linalg.norm(centred, axis=0)
    varies = lengths > 1e-9 * np.linalg.norm(columns, axis=0)
    centred, wanted = centred[:, varies] / lengths[varies], wanted[:, varies] / lengths[varies]
    rows = wanted @ np.linalg.pinv(centred, rcond=1e-9)  # their products with values are the estimates
    told = np.abs(rows @ centred - wanted).max(initial=0) < 1e-6 * np.abs(wanted).max(initial=0)
    tested = _basis(rows.T).T if told and not np.any(contrast[:, ~varies]) else rows[:0]
    degrees = n_rows - np.linalg.matrix_rank(centred, rtol=1e-9) - (0 if absorbed is None else int(absorbed.max()) + 1)
    if len(tested) < n_tested or degrees < 1:
        raise InputError(
            "What is tested, such as a difference of groups, cannot be told apart from the covariates, or there are "
            "too few subjects for them."
        )
    length = np.nan
    if n_tested == 1:
        length = 1 / float(np.linalg.norm(rows))
        tested = rows * length
    nuisance = _basis(centred - tested.T @ (tested @ centred), 1.0).T  # what is left of columns of unit length
    freedom = 1 - (nuisance**2).sum(axis=0) - (tested**2).sum(axis=0)
    if absorbed is not None:
        freedom -= 1 / np.bincount(absorbed)[absorbed]
    kinds = np.zeros(n_rows, np.int64) if kinds is None else kinds
    own_degrees: FloatArray = np.asarray(np.bincount(kinds, freedom), np.float64)
    if not kinds_or_one(own_degrees, n_rows):
        kinds, own_degrees = np.zeros(n_rows, np.int64), np.array([float(degrees)])
    return LinearModel(absorbed, nuisance, tested, length, degrees, kinds, own_degrees)


def _basis(columns: FloatArray, scale: float | None = None) -> FloatArray:
    """Orthonormal columns that span these, of which some may depend on others, or be rounding beside the scale."""
    if not columns.size:
        return np.zeros((len(columns), 0))
    q, r, _ = linalg.qr(columns, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(r))
    return np.asarray(q[:, : int((sizes > 1e-9 * (scale or sizes[0])).sum())])


# Features under the rearrangements.


Model: TypeAlias = "LinearModel | FeatureModels"  # of all features, or one for each
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
    from biobgt.inference.beside import feature_models

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


# How alike two group differences are: the correlation over features of one disorder's difference and another's.
#
# Features such as blocks of attention depend on each other, so that two differences without any meaning correlate,
# too. What correlation chance gives, permutations say: covariates are fitted without the group, residuals are permuted
# within each cohort (Freedman & Lane 1983), all features together, and the differences are computed again. Two
# disorders of one cohort are compared with the same controls, which makes their differences alike by itself; they are
# permuted together, so that this is in what is expected by chance.


@dataclass(frozen=True, eq=False)
class CohortDifferences:
    """What differences of groups from their own controls are estimated from, one cohort.

    Attributes
    ----------
    values : ndarray, shape (n_people, n_features)
    groups : ndarray of str, shape (n_people,)
    controls : str
    nuisance : ndarray, shape (n_people, n_columns)
        Covariates with a column of ones.
    """

    values: FloatArray
    groups: NDArray[np.str_]
    controls: str
    nuisance: FloatArray

    @property
    def patients(self) -> tuple[str, ...]:
        """The groups that are not the controls, in the order in which they come."""
        return tuple(dict.fromkeys(group for group in self.groups.tolist() if group != self.controls))


def difference_likeness(
    cohorts: Sequence[CohortDifferences], *, permutations: int, seed: int = 0
) -> list[dict[str, Any]]:
    """Correlate every two differences from controls, within a cohort and between cohorts.

    Parameters
    ----------
    cohorts : sequence of CohortDifferences
        With the same features; people of different cohorts are permuted independently.
    permutations, seed : int

    Returns
    -------
    list of dict
        One for each pair of disorders, in the order of cohorts: ``first`` and ``second``, controls and patients of
        each difference; ``r``, Pearson's correlation over features of the differences in residual standard
        deviations; ``expected``, the mean of the same over permutations: what chance gives; ``p``, two-sided, of a
        correlation as far from the expected one.
    """
    if len({one.values.shape[1] for one in cohorts}) != 1:
        raise InputError("Differences of several cohorts can be compared only over the same features.")
    random = np.random.default_rng(seed)
    named: list[list[str]] = []
    observed, drawn = [], []
    for one in cohorts:
        named += [[one.controls, patients] for patients in one.patients]
        own, by_chance = _differences(one, permutations, random)
        observed += list(own)
        drawn += list(by_chance.swapaxes(0, 1))
    found = []
    for i, j in combinations(range(len(named)), 2):
        r, by_chance = float(_correlation(observed[i], observed[j])), _correlation(drawn[i], drawn[j])
        expected = float(by_chance.mean())
        as_far = int((np.abs(by_chance - expected) + 1e-10 >= abs(r - expected)).sum())
        p = (1 + as_far) / (1 + permutations)
        found.append({"first": named[i], "second": named[j], "r": r, "expected": expected, "p": p})
    return found


def _differences(
    one: CohortDifferences, permutations: int, random: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Differences in residual SDs, shape (n_patient_groups, n_features), and those of permutations, one axis more."""
    basis, _ = np.linalg.qr(one.nuisance)
    groups = np.column_stack([one.groups == name for name in one.patients]).astype(np.float64)
    groups -= basis @ (basis.T @ groups)
    residuals = one.values - basis @ (basis.T @ one.values)
    spread = residuals.std(axis=0)
    if not (np.isfinite(spread).all() and (spread > 0).all()):
        raise InputError("A feature does not vary, or is not known for everybody, so that differences have no scale.")
    fit, residuals = np.linalg.pinv(groups), residuals / spread
    n_people, n_features = residuals.shape
    drawn = np.empty((permutations, len(fit), n_features))
    at_once = max(1, _BLOCK // (n_people * len(fit)))
    for start in range(0, permutations, at_once):
        size = min(at_once, permutations - start)
        orders = random.permuted(np.tile(np.arange(n_people), (size, 1)), axis=1)
        products = fit[:, orders].reshape(-1, n_people) @ residuals
        drawn[start : start + size] = products.reshape(len(fit), size, n_features).swapaxes(0, 1)
    return fit @ residuals, drawn


def _correlation(first: FloatArray, second: FloatArray) -> FloatArray:
    """Pearson's over the last axis."""
    one, other = (values - values.mean(axis=-1, keepdims=True) for values in (first, second))
    sizes = np.linalg.norm(one, axis=-1) * np.linalg.norm(other, axis=-1)
    return np.asarray((one * other).sum(axis=-1) / sizes)
