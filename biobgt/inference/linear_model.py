"""The linear model that permutation tests fit: covariates, what is tested beyond them, and whose variance is whose.

Where variances differ, the statistic is that of Welch: the coefficient over a standard error in which each group has
its own residual variance. Where groups of unequal size differ in variance, the t of a pooled variance finds differences
that are not there; permuting does not help it, but a statistic that is studentised so holds its level (Janssen,
Statistics & Probability Letters 1997; ``assets/studies/null_tests.py``). For the effect of a number every person is a
group of their own, which is the robust standard error HC2 (DiCiccio & Romano, JASA 2017). That is so of one feature;
the largest of many is still found too often, unless signs are turned instead (``benchmarks/null_studies.py``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError

_NOTHING = 1e-20  # a variance that is rounding
_OWN_FREEDOM = 0.05  # of a person alone: with less, the person's variance is a guess, and all have one


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
