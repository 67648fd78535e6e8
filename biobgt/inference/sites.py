"""What sites add to features: shifts and scales of each, as ComBat estimates them, and the variance they explain.

Features are fitted together wherever the same people have them. Sites have columns of their own in the linear model, so
a site's mean is adjusted for the covariates; its variance is that of its residuals.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray

FEWEST_OF_SITE = 5  # people; a variance of fewer says next to nothing
_AT_ONCE = 4_000_000  # numbers: 32 MB
_HUBER, _BIWEIGHT, _MAD = 1.345, 9.0, 1.4826  # 95 % efficient, and the usual constants
_STEPS = 200

_Values = NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class SiteStatistics:
    """Of each feature and site, what is fitted.

    Attributes
    ----------
    mean : ndarray, shape (n_features,)
        Of all sites, weighted by their people, where all covariates are 0; NaN where it cannot be harmonised.
    slopes : ndarray, shape (n_columns, n_features)
    sd : ndarray, shape (n_features,)
        Residual, of all sites; 1 for a feature that is the same in all.
    n : ndarray, shape (n_sites, n_features)
        People.
    shifts, variances : ndarray, shape (n_sites, n_features)
        In SD of the feature; 0 for one that is the same in all.
    """

    mean: FloatArray
    slopes: FloatArray
    sd: FloatArray
    n: FloatArray
    shifts: FloatArray
    variances: FloatArray


def site_statistics(
    values: _Values,
    codes: NDArray[np.int64],
    columns: FloatArray,
    weights: FloatArray,
    *,
    robust: bool,
) -> SiteStatistics:
    """Fit every feature; see :func:`biobgt.inference.harmonise.fit_combat`.

    Parameters
    ----------
    values : ndarray, shape (n_rows, n_features)
    codes : ndarray of int, shape (n_rows,)
        Sites, numbered from 0.
    columns : ndarray, shape (n_rows, n_columns)
        Covariates.
    weights : ndarray, shape (n_rows,)
    robust : bool
    """
    n_sites, n_features = int(codes.max()) + 1, values.shape[1]
    of_sites = (n_sites, n_features)
    found = SiteStatistics(
        mean=np.full(n_features, np.nan),
        slopes=np.full((columns.shape[1], n_features), np.nan),
        sd=np.ones(n_features),
        n=np.zeros(of_sites),
        shifts=np.zeros(of_sites),
        variances=np.zeros(of_sites),
    )
    design = np.hstack([codes[:, None] == np.arange(n_sites), columns]).astype(np.float64)
    for rows, some in _known_together(values):
        n = np.bincount(codes[rows], weights[rows], n_sites)
        own = design[rows]
        if n.min() < FEWEST_OF_SITE or np.linalg.matrix_rank(own / np.linalg.norm(own, axis=0)) < own.shape[1]:
            continue
        y = values[np.ix_(rows, some)].astype(np.float64)
        fit = _huber_fit if robust else _least_squares
        coefficients, variances = fit(y, own, weights[rows], codes[rows])
        mean = n / n.sum() @ coefficients[:n_sites]
        pooled = (n - 1) @ variances / n.sum()
        same = np.ptp(y, axis=0) <= 1e-12 * np.abs(y).max(axis=0)
        told = ~same & (pooled > 1e-24 * mean**2) & np.isfinite(variances).all(axis=0)
        for place, value in ((same, y[0]), (told, mean)):
            found.mean[some[place]] = value[place]
        found.slopes[:, some] = np.where(told, coefficients[n_sites:], 0)
        found.n[:, some] = n[:, None]
        sd = np.where(told, np.sqrt(pooled), 1.0)
        found.sd[some] = sd
        found.shifts[:, some] = np.where(told, (coefficients[:n_sites] - mean) / sd, 0)
        found.variances[:, some] = np.where(told, variances / sd**2, 0)
    return found


def _least_squares(
    y: FloatArray, design: FloatArray, weights: FloatArray, codes: NDArray[np.int64]
) -> tuple[FloatArray, FloatArray]:
    """Coefficients, and the residual variance of each site."""
    coefficients = _solving(design, weights) @ y
    squares = (y - design @ coefficients) ** 2 * weights[:, None]
    sums = np.array([squares[codes == site].sum(axis=0) for site in range(int(codes.max()) + 1)])
    return coefficients, sums / (np.bincount(codes, weights) - 1)[:, None]


def _huber_fit(
    y: FloatArray, design: FloatArray, weights: FloatArray, codes: NDArray[np.int64]
) -> tuple[FloatArray, FloatArray]:
    """Huber's M-estimates, and the biweight midvariance of each site; NaN where half of a site has the same value.

    Residuals beyond the limit are drawn in to it and least squares are fitted again, until nothing changes (Huber &
    Dutter 1974).
    """
    solving = _solving(design, weights)
    sites = [np.flatnonzero(codes == site) for site in range(int(codes.max()) + 1)]
    coefficients, limits, rounding = solving @ y, np.empty(y.shape), 1e-12 * np.abs(y).max(axis=0)
    for _ in range(_STEPS):
        fitted = design @ coefficients
        residuals = y - fitted
        for own in sites:
            limits[own] = _HUBER * _MAD * _weighted_median(np.abs(residuals[own]), weights[own])
        before = coefficients
        coefficients = solving @ (fitted + np.clip(residuals, -limits, limits))
        if (np.abs(design @ (coefficients - before)) <= 1e-7 * limits + rounding).all():
            break
    residuals = y - design @ coefficients
    return coefficients, np.array([_biweight_midvariance(residuals[own], weights[own]) for own in sites])


def _biweight_midvariance(residuals: FloatArray, weights: FloatArray) -> FloatArray:
    spread = _weighted_median(np.abs(residuals), weights)
    near = np.clip((residuals / (_BIWEIGHT * np.where(spread > 0, spread, np.nan))) ** 2, 0, 1)
    own = weights[:, None]
    inside = own * (1 - near) * np.where(near < 1, 1 - 5 * near, 0)
    return np.asarray(weights.sum() * (own * residuals**2 * (1 - near) ** 4).sum(axis=0) / inside.sum(axis=0) ** 2)


def _weighted_median(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Of each column, shape (n_columns,); of two middle values their mean."""
    order = np.argsort(values, axis=0)
    ordered = np.take_along_axis(values, order, axis=0)
    share = np.cumsum(weights[order], axis=0) / weights.sum()
    ends = [
        np.take_along_axis(ordered, (share < half).sum(axis=0)[None], axis=0)[0] for half in (0.5 - 1e-9, 0.5 + 1e-9)
    ]
    return np.asarray((ends[0] + ends[1]) / 2)


def _solving(design: FloatArray, weights: FloatArray) -> FloatArray:
    """The matrix that makes coefficients of weighted least squares of values, shape (n_columns, n_rows)."""
    root = np.sqrt(weights)[:, None]
    lengths = np.linalg.norm(root * design, axis=0)
    return np.asarray(np.linalg.pinv(root * design / lengths) / lengths[:, None] * root.T)


def drawn_together(n: FloatArray, shifts: FloatArray, variances: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Posterior shifts and variances of sites, each (n_sites, n_features), with priors of all features of a site.

    Shifts have a normal prior, variances an inverse gamma, with the moments that they have over features; the two
    conditional means are taken in turns until they agree (Johnson et al. 2007).

    Parameters
    ----------
    n, shifts, variances : ndarray, shape (n_sites, n_features)
        As :class:`SiteStatistics` has them, of features that vary.
    """
    centre, spread = shifts.mean(axis=1, keepdims=True), shifts.var(axis=1, ddof=1, keepdims=True)
    m, v = variances.mean(axis=1, keepdims=True), variances.var(axis=1, ddof=1, keepdims=True)
    found, variance = shifts, variances
    for _ in range(_STEPS):
        before = found, variance
        found = (spread * n * shifts + variance * centre) / (spread * n + variance)
        squares = (n - 1) * variances + n * (shifts - found) ** 2
        variance = (squares * v / 2 + m * v + m**3) / ((n / 2 + 1) * v + m**2)
        if max(np.abs(found - before[0]).max(), np.abs(variance - before[1]).max()) < 1e-10:
            break
    return found, variance


def _known_together(values: _Values) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Rows, and features whose values are known in just these."""
    for piece in pieces(values):
        known = np.isfinite(values[:, piece])
        packed = np.packbits(known, axis=0)
        owner = np.unique(packed, axis=1, return_inverse=True)[1].ravel()
        for one in range(owner.max() + 1):
            some = np.flatnonzero(owner == one)
            yield np.flatnonzero(known[:, some[0]]), piece.start + some


def pieces(values: _Values) -> Iterator[slice]:
    """Features that are worked on at once.

    Parameters
    ----------
    values : ndarray, shape (n_rows, n_features)
    """
    step = max(1, _AT_ONCE // len(values))
    for start in range(0, values.shape[1], step):
        yield slice(start, min(start + step, values.shape[1]))


def shares_of_sites(values: FloatArray, codes: NDArray[np.int64], columns: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The shares of variance that sites explain beyond covariates: of each feature, and of its absolute residuals.

    Parameters
    ----------
    values : ndarray, shape (n_rows, n_features)
    codes : ndarray of int, shape (n_rows,)
        Sites, numbered from 0.
    columns : ndarray, shape (n_rows, n_columns)
        Covariates.

    Returns
    -------
    means, spreads : ndarray, shape (n_features,)
        1 - (residual variance with sites) / (residual variance without them), so that they scatter around 0 where sites
        do not differ; NaN where a value is missing or all are the same.
    """
    without = np.column_stack([np.ones(len(values)), columns])
    both = np.column_stack([np.eye(int(codes.max()) + 1)[codes], columns])
    residuals, means = _share(values, without, both)
    return means, _share(np.abs(residuals), without, both)[1]


def _share(y: FloatArray, without: FloatArray, both: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Residuals with sites, and the share that these explain."""
    variances = []
    for design in (without, both):
        residuals = y - design @ (np.linalg.pinv(design) @ y)
        variances.append((residuals**2).sum(axis=0) / (len(y) - np.linalg.matrix_rank(design)))
    varies = variances[0] > 1e-20 * (y**2).mean(axis=0)
    return residuals, 1 - np.divide(variances[1], variances[0], out=np.full(len(varies), np.nan), where=varies)
