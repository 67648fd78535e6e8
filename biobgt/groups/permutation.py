"""The permutation test of Freedman and Lane for a group difference in a linear model with covariates.

The covariates are fitted without the group, the residuals are permuted, and the full model is fitted to each
permutation (Freedman & Lane 1983; Winkler et al., NeuroImage 2014). All features are permuted together, which keeps
their correlations and gives family-wise p from the largest statistic.

The statistic is that of Welch: the group's coefficient over a standard error in which each group has its own residual
variance. Where groups of unequal size differ in variance, the t of a pooled variance finds differences that are not
there; permuting does not help it, but a statistic that is studentised so holds its level (Janssen, Statistics &
Probability Letters 1997; ``assets/studies/null_tests.py``).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from biobgt.errors import InputError
from biobgt.false_discoveries import discovery_rates

_BLOCK = 4_000_000  # numbers held at once: 32 MB
_NOTHING = 1e-20  # a variance that is rounding
_TIE = 1e-9  # permutations that repeat the observed order must count, whatever the rounding


@dataclass(frozen=True, eq=False)
class GroupEffect:
    """A group's effect on each feature, all of shape (n_features,); NaN where a feature does not vary.

    Attributes
    ----------
    difference : ndarray
        Mean difference of patients and controls, adjusted for the covariates.
    d, d_low, d_high : ndarray
        The difference in residual standard deviations of both groups together (Cohen's d without covariates), and its
        95 % interval, for which each group has its own variance.
    t : ndarray
        Of the group in the linear model, each group with its own variance (Welch's t without covariates).
    p, p_family : ndarray
        Two-sided permutation p, of the feature alone and against the largest of all features.
    q : ndarray
        Benjamini and Hochberg's false discovery rate over the features.
    degrees : int
        Residual degrees of freedom.
    """

    difference: NDArray[np.float64]
    d: NDArray[np.float64]
    d_low: NDArray[np.float64]
    d_high: NDArray[np.float64]
    t: NDArray[np.float64]
    p: NDArray[np.float64]
    p_family: NDArray[np.float64]
    q: NDArray[np.float64]
    degrees: int


def group_effect(
    values: NDArray[np.float64],
    patients: NDArray[np.bool_],
    nuisance: NDArray[np.float64],
    *,
    beside: NDArray[np.float64] | None = None,
    permutations: int,
    seed: int,
) -> GroupEffect:
    """Test a group difference in each feature.

    Parameters
    ----------
    values : ndarray, shape (n_subjects, n_features)
        Independent subjects. A feature that is not finite for someone is not tested.
    patients : ndarray of bool, shape (n_subjects,)
    nuisance : ndarray, shape (n_subjects, n_columns)
        Covariates with a column of ones; columns may depend on each other.
    beside : ndarray, shape (n_subjects, n_features), optional
        One more covariate for each feature, its own.
    permutations, seed : int

    Returns
    -------
    GroupEffect
    """
    order = _smaller_first(patients)
    patients, values, nuisance = patients[order], values[order], nuisance[order]
    finite: NDArray[np.bool_] = np.asarray(np.isfinite(values).all(axis=0))
    if beside is None:
        models = [(np.flatnonzero(finite), _model(nuisance, patients))]
    else:
        beside = beside[order]
        known = np.flatnonzero(finite & np.isfinite(beside).all(axis=0))
        models = [
            (known[[i]], _model(np.column_stack([nuisance, beside[:, known[i]]]), patients)) for i in range(len(known))
        ]
    found = {name: np.full(len(finite), np.nan) for name in ("difference", "d", "half", "t")}
    tested = []
    for features, model in models:
        residuals, norms = model.residuals(values[:, features])
        varies = norms > 1e-9 * np.maximum(np.linalg.norm(values[:, features], axis=0), 1e-300)
        features, residuals = features[varies], residuals[varies] / norms[varies, None]
        found["difference"][features] = model.along(residuals)[0] * norms[varies] / model.length
        found["t"][features] = model.t(residuals)
        found["d"][features], found["half"][features] = model.size(residuals)
        tested.append((features, model, residuals))
    chosen = np.isfinite(found["t"])
    p, p_family, q = np.full((3, len(finite)), np.nan)
    alone, family = _exceedances(tested, np.abs(found["t"]), permutations=permutations, seed=seed)
    p[chosen] = (1 + alone[chosen]) / (1 + permutations)
    p_family[chosen] = (1 + family[chosen]) / (1 + permutations)
    q[chosen] = discovery_rates(p[chosen])
    return GroupEffect(
        difference=found["difference"],
        d=found["d"],
        d_low=found["d"] - found["half"],
        d_high=found["d"] + found["half"],
        t=found["t"],
        p=p,
        p_family=p_family,
        q=q,
        degrees=min((model.degrees for _, model in models), default=0),
    )


@dataclass(frozen=True, eq=False)
class _Model:
    """Covariates and group, and what residuals of both groups have for their variances; the smaller group stands first.

    Attributes
    ----------
    directions : ndarray, shape (n_directions, n_subjects)
        Orthonormal: the covariates, and last the group beyond them.
    length : float
        Of the group beyond the covariates.
    n_first : int
        People of the smaller group; 0 where both groups have one variance.
    own_degrees : ndarray, shape (2,)
        Residual degrees of freedom, one less leverage in sum, of the smaller group and the other.
    own_shares : ndarray, shape (2,)
        Of the squared length of the group beyond the covariates.
    """

    directions: NDArray[np.float64]
    length: float
    n_first: int
    own_degrees: NDArray[np.float64]
    own_shares: NDArray[np.float64]

    @property
    def degrees(self) -> int:
        """Residual degrees of freedom."""
        return self.directions.shape[1] - len(self.directions)

    def residuals(self, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What covariates leave of features, shape (n_features, n_subjects), and its length."""
        covariates = self.directions[:-1]
        left = values.T - (values.T @ covariates.T) @ covariates
        return left, np.linalg.norm(left, axis=1)

    def along(self, residuals: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How residuals of unit length, (..., n_subjects), go with the group; and both groups' variances, (..., 2)."""
        parts = residuals @ self.directions.T
        own = parts @ self.directions[:, : self.n_first]
        np.subtract(residuals[..., : self.n_first], own, out=own)
        squares = np.maximum(1 - np.einsum("...i,...i->...", parts, parts), _NOTHING)
        of_first = np.einsum("...i,...i->...", own, own)
        variances = np.stack([of_first, np.maximum(squares - of_first, 0)], axis=-1) / self.own_degrees
        return parts[..., -1], variances

    def t(self, residuals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Welch's t of the group, shape (...,)."""
        along, variances = self.along(residuals)
        return np.asarray(along / np.sqrt(np.maximum(variances @ self.own_shares, _NOTHING)))

    def size(self, residuals: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The difference in standard deviations of both groups together, and half of its 95 % interval."""
        from scipy import stats  # a second of import that a page's first start need not wait for

        along, variances = self.along(residuals)
        pooled = np.maximum(variances @ self.own_degrees / self.degrees, _NOTHING)
        d = along / (self.length * np.sqrt(pooled))
        of_difference = np.maximum(variances @ self.own_shares, _NOTHING)
        # Of the pooled SD, relative: 1 / 2 degrees where variances are equal, as in Hedges and Olkin's interval.
        of_sd = variances**2 @ self.own_degrees / (2 * self.degrees**2 * pooled**2)
        degrees = of_difference**2 / (variances**2 @ (self.own_shares**2 / self.own_degrees))  # Satterthwaite's
        error = np.sqrt(of_difference / (self.length**2 * pooled) + d**2 * of_sd)
        return d, np.asarray(stats.t.ppf(0.975, degrees) * error)


def _smaller_first(patients: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The order with the smaller group first, of two as large the first subject's, whoever is called a patient."""
    n = int(patients.sum())
    smaller = patients == (patients[0] if 2 * n == len(patients) else 2 * n < len(patients))
    return np.argsort(~smaller, kind="stable")


def _model(nuisance: NDArray[np.float64], patients: NDArray[np.bool_]) -> _Model:
    basis = _orthonormal(nuisance)
    group = patients - basis @ (basis.T @ patients)
    length = float(np.linalg.norm(group))
    if length < 1e-6 * np.sqrt(len(patients)) or len(patients) - basis.shape[1] - 1 < 1:
        raise InputError("The groups cannot be told apart from the covariates, or there are too few subjects for them.")
    directions = np.column_stack([basis, group / length]).T
    left = 1 - (directions**2).sum(axis=0)
    first = int((patients == patients[0]).sum())
    degrees = np.array([left[:first].sum(), left[first:].sum()])
    if degrees.min() < 1 - 1e-9:  # nothing to tell a group's own variance by: both have one
        return _Model(directions, length, 0, np.array([1.0, left.sum()]), np.array([0.0, 1.0]))
    own = directions[-1] ** 2
    return _Model(directions, length, first, degrees, np.array([own[:first].sum(), own[first:].sum()]))


def _exceedances(
    tested: Sequence[tuple[NDArray[np.int64], _Model, NDArray[np.float64]]],
    observed: NDArray[np.float64],
    *,
    permutations: int,
    seed: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Count the permutations whose |t| is as large, feature by feature and as a family.

    Parameters
    ----------
    tested : sequence of (features, model, residuals)
        Residuals of unit length without the covariates, shape (n_features, n_subjects).
    observed : ndarray, shape (n_all_features,)
        |t|, NaN where a feature is not tested.
    """
    rng = np.random.default_rng(seed)
    alone, family = np.zeros(len(observed)), np.zeros(len(observed))
    n_subjects = tested[0][2].shape[1] if tested else 0
    if not np.isfinite(observed).any():
        return alone, family
    block = max(1, _BLOCK // (n_subjects * max(len(features) for features, _, _ in tested)))
    for start in range(0, permutations, block):
        size = min(block, permutations - start)
        orders = rng.permuted(np.tile(np.arange(n_subjects), (size, 1)), axis=1)
        drawn = np.full((len(observed), size), -np.inf)
        for features, model, residuals in tested:
            drawn[features] = np.abs(model.t(residuals[:, orders])) * (1 + _TIE)
        alone += (drawn >= observed[:, None]).sum(axis=1)
        family += (drawn.max(axis=0) >= observed[:, None]).sum(axis=1)
    return alone, family


def _orthonormal(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return an orthonormal basis of the columns' span, shape (n_subjects, rank)."""
    q, r, _ = linalg.qr(columns, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(r))
    basis: NDArray[np.float64] = q[:, : int((sizes > 1e-9 * sizes[0]).sum())]
    return basis
