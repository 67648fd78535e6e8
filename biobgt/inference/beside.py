"""Linear models of features that each have covariates of their own, such as the strength of the same region.

By Frisch, Waugh and Lovell the test of a term given one more covariate is that of what the covariate leaves of both
the feature and the term. Covariates that all features share are fitted once; what is left of each feature, of its own
covariates and of the tested term then gives a model per feature, all of them computed together. Rearrangements are
those of :mod:`biobgt.inference.permutation`: residuals of the covariates, its own among them, are rearranged, and the
full model is fitted to each (Freedman & Lane 1983).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.inference.linear_model import (
    LinearModel,
    interval_of,
    kinds_or_one,
    pooled_statistics,
    studentised,
    without_means,
)

_AT_ONCE = 4_000_000  # numbers held at once: 32 MB
_LOST = 1e-6  # of a tested column of unit length: less is left of it than can be told from rounding
_DEPENDENT = 1e-9


@dataclass(frozen=True, eq=False)
class FeatureModels:
    """As :class:`biobgt.inference.linear_model.LinearModel`, one for each feature.

    Attributes
    ----------
    shared : LinearModel
        Covariates that all features share, and what is tested beyond them.
    own : ndarray, shape (n_features, n_own, n_rows)
        Covariates of each feature, orthonormal beyond the shared; zeros where one says what others do.
    tested : ndarray, shape (n_features, n_tested, n_rows)
        Orthonormal beyond all of them.
    length, degrees : ndarray, shape (n_features,)
    kinds : ndarray of int, shape (n_rows,)
    own_degrees : ndarray, shape (n_features, n_kinds)
    """

    shared: LinearModel
    own: FloatArray
    tested: FloatArray
    length: FloatArray
    degrees: NDArray[np.int64]
    kinds: NDArray[np.int64]
    own_degrees: FloatArray

    def some(self, chosen: Any) -> "FeatureModels":
        """Those of some features, by places, a slice, or which."""
        own = {name: getattr(self, name)[chosen] for name in ("own", "tested", "length", "degrees", "own_degrees")}
        return replace(self, **own)

    @property
    def n_tested(self) -> int:
        """How many columns are tested at once."""
        return self.tested.shape[1]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of tested columns whose covariances a statistic needs."""
        return self.shared.pairs

    @property
    def width(self) -> int:
        """Columns that a rearrangement needs."""
        columns = len(self.shared.nuisance) + self.own.shape[1] + self.n_tested
        return columns * (1 + (self.own_degrees.shape[1] > 1) * len(self.pairs)) + len(self.pairs)

    @property
    def directions(self) -> FloatArray:
        """All covariates and last what is tested, shape (n_features, n_directions, n_rows)."""
        shared = self.shared.nuisance
        return np.concatenate([np.broadcast_to(shared, (len(self.own), *shared.shape)), self.own, self.tested], axis=1)

    @property
    def weights(self) -> FloatArray:
        """What each row's squared residual adds to the covariances, shape (n_features, n_pairs, n_rows)."""
        own = np.stack([self.tested[:, a] * self.tested[:, b] for a, b in self.pairs], axis=1)
        return np.asarray((self._by_kind(own) / self.own_degrees[:, None])[..., self.kinds])

    def _by_kind(self, values: FloatArray) -> FloatArray:
        """Sums over the rows of each kind, the last axis."""
        starts = np.concatenate([[0], np.cumsum(np.bincount(self.kinds))[:-1]])
        return np.add.reduceat(values[..., np.argsort(self.kinds, kind="stable")], starts, axis=-1)

    def residuals(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What covariates leave of features (n_rows, n_features), shape (n_features, n_rows), and its length."""
        left, _ = self.shared.residuals(values)
        left = left - np.einsum("fk,fkn->fn", np.einsum("fn,fkn->fk", left, self.own), self.own)
        return left, np.linalg.norm(left, axis=1)

    def along(self, residuals: FloatArray) -> FloatArray:
        """Coefficients of what is tested, shape (n_features, n_tested), of residuals of unit length."""
        return np.asarray(np.einsum("fn,ftn->ft", residuals, self.tested))

    def statistics(
        self, residuals: FloatArray, orders: NDArray[np.int64] | None = None, signs: FloatArray | None = None
    ) -> FloatArray:
        """The t or F of residuals of unit length as they are rearranged, shape (n_features, n_drawn).

        Parameters
        ----------
        residuals : ndarray, shape (n_features, n_rows)
        orders : ndarray of int, shape (n_drawn, n_rows), or None
            Which row comes to each place.
        signs : ndarray, shape (n_drawn, n_rows), or None
        """
        directions, pooled = self.directions, self.own_degrees.shape[1] == 1
        n, weights = directions.shape[1], self.weights
        # The squared residual of a row is written out, as in LinearModel: products with columns are all that is needed.
        weighted = [] if pooled else [weights[:, [place]] * directions for place in range(len(self.pairs))]
        squared = [part @ directions.swapaxes(1, 2) for part in weighted]
        columns, found = np.concatenate([directions, *weighted], axis=1), []
        for products, squares in _rearranged(residuals, columns, weights, orders, signs, squares=not pooled):
            parts = products[..., :n]
            if pooled:
                found.append(pooled_statistics(parts, self.n_tested, self.degrees[:, None]))
                continue
            for place, quadratic in enumerate(squared, start=1):
                rest = parts @ quadratic - 2 * products[..., place * n : (place + 1) * n]
                squares[..., place - 1] += np.einsum("...i,...i->...", rest, parts)
            found.append(studentised(parts[..., -self.n_tested :], squares, self.pairs))
        return np.hstack(found)

    def size(self, residuals: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The difference in standard deviations of all groups together, and half of its 95 % interval.

        Parameters
        ----------
        residuals : ndarray, shape (n_features, n_rows)
            Of unit length; one column is tested.
        """
        directions = self.directions
        parts = np.einsum("fn,fcn->fc", residuals, directions)
        squares = (residuals - np.einsum("fc,fcn->fn", parts, directions)) ** 2
        variances, shares = self._by_kind(squares) / self.own_degrees, self._by_kind(self.tested[:, 0] ** 2)
        return interval_of(parts[:, -1], variances, shares, self.own_degrees, self.degrees, self.length)


def _rearranged(
    residuals: FloatArray,
    columns: FloatArray,
    weights: FloatArray,
    orders: NDArray[np.int64] | None,
    signs: FloatArray | None,
    *,
    squares: bool,
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Products of rearranged residuals with each feature's columns, and of their squares with its weights.

    Each is of shape (n_features, n_drawn, ...), some rearrangements at a time, so that memory is bounded.
    """
    n_features, n_columns, n_rows = columns.shape
    of_squares = np.einsum("fn,fpn->fp", residuals**2, weights)[:, None]
    if orders is None and signs is None:
        yield np.einsum("fn,fcn->fc", residuals, columns)[:, None], of_squares
    elif orders is None and signs is not None:
        multiplied = (residuals[:, None] * columns).reshape(-1, n_rows)
        at_once = max(1, _AT_ONCE // len(multiplied))
        for start in range(0, len(signs), at_once):
            some = (multiplied @ signs[start : start + at_once].T).reshape(n_features, n_columns, -1).swapaxes(1, 2)
            yield some, np.repeat(of_squares, some.shape[1], axis=1)  # squares know no sign
    elif orders is not None:
        at_once = max(1, _AT_ONCE // residuals.size)
        for start in range(0, len(orders), at_once):
            turned = residuals[:, orders[start : start + at_once]]
            of_turned = turned**2 @ weights.swapaxes(1, 2) if squares else of_squares
            yield turned @ columns.swapaxes(1, 2), of_turned


def feature_models(shared: LinearModel, beside: FloatArray) -> list[tuple[NDArray[np.int64], FeatureModels]]:
    """The model of each feature, given covariates of its own.

    Parameters
    ----------
    shared : LinearModel
        With the covariates that all features share.
    beside : ndarray, shape (n_rows, n_features, n_own)

    Returns
    -------
    list of (ndarray of int, FeatureModels)
        Places of features with their models. Not there are features of which a covariate is missing for somebody or
        says all that is tested, and those that leave no degree of freedom. Features whose kinds of rows have too few
        degrees of freedom for variances of their own come apart.
    """
    places = np.flatnonzero(np.isfinite(beside).all(axis=(0, 2)))
    own = _orthonormal_beyond(shared, beside[:, places])
    tested, length, told = _tested_beyond(shared, own)
    degrees = shared.degrees - (np.abs(own).max(axis=2, initial=0) > 0).sum(axis=1)
    told &= degrees >= 1
    places, own, tested, length, degrees = places[told], own[told], tested[told], length[told], degrees[told]
    freedom = 1 - (shared.nuisance**2).sum(axis=0) - (own**2).sum(axis=1) - (tested**2).sum(axis=1)
    if shared.absorbed is not None:
        freedom -= 1 / np.bincount(shared.absorbed)[shared.absorbed]
    kinds, n_kinds = shared.kinds, int(shared.kinds.max()) + 1
    of_kinds = np.stack([freedom[:, kinds == kind].sum(axis=1) for kind in range(n_kinds)], axis=1)
    enough = np.array([kinds_or_one(row, len(kinds)) for row in of_kinds], bool)
    found = []
    for chosen, of_rows, own_degrees in (
        (enough, kinds, of_kinds),
        (~enough, np.zeros_like(kinds), degrees[:, None].astype(np.float64)),
    ):
        if chosen.any():
            model = FeatureModels(shared, own, tested, length, degrees, of_rows, own_degrees)
            found.append((places[chosen], model.some(chosen)))
    return found


def _orthonormal_beyond(shared: LinearModel, beside: FloatArray) -> FloatArray:
    """Own covariates orthonormal beyond the shared ones, shape (n_features, n_own, n_rows); zeros where dependent."""
    n_rows, n_features, n_own = beside.shape
    found = np.zeros((n_features, n_own, n_rows))
    for place in range(n_own):
        column = beside[:, :, place]
        left = without_means(column, shared.absorbed).T
        whole = np.maximum(np.linalg.norm(column, axis=0), 1e-300)
        for _ in range(2):  # the second time takes away what rounding left
            left = left - (left @ shared.nuisance.T) @ shared.nuisance
            left = left - np.einsum("fk,fkn->fn", np.einsum("fn,fkn->fk", left, found), found)
        sizes = np.linalg.norm(left, axis=1)
        new = sizes > _DEPENDENT * whole
        found[new, place] = left[new] / sizes[new, None]
    return found


def _tested_beyond(shared: LinearModel, own: FloatArray) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """What is tested beyond own covariates, orthonormal; the length of one column; and where it can be told at all."""
    left = shared.tested - np.einsum("ftk,fkn->ftn", np.einsum("tn,fkn->ftk", shared.tested, own), own)
    if len(shared.tested) == 1:
        sizes = np.linalg.norm(left[:, 0], axis=1)
        told = sizes > _LOST
        return left / np.where(told, sizes, 1)[:, None, None], shared.length * sizes, told
    q, r = np.linalg.qr(left.swapaxes(1, 2))
    told = np.abs(np.diagonal(r, axis1=1, axis2=2)).min(axis=1) > _LOST
    return np.ascontiguousarray(q.swapaxes(1, 2)), np.full(len(own), np.nan), told
