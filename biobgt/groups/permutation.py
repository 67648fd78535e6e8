"""Permutation tests: of a group difference in a linear model, and of how alike two such differences are.

The difference is tested after Freedman and Lane: the covariates are fitted without the group, the residuals are
permuted, and the full model is fitted to each permutation (Freedman & Lane 1983; Winkler et al., NeuroImage 2014). All
features are permuted together, which keeps their correlations and gives family-wise p from the largest statistic.

The statistic is that of Welch: the group's coefficient over a standard error in which each group has its own residual
variance. Where groups of unequal size differ in variance, the t of a pooled variance finds differences that are not
there; permuting does not help it, but a statistic that is studentised so holds its level (Janssen, Statistics &
Probability Letters 1997; ``assets/studies/null_tests.py``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import linalg

from biobgt.base.arrays import FloatArray, discovery_rates
from biobgt.base.errors import InputError

EFFECT_COLUMNS = ("difference", "d", "d_low", "d_high", "t", "p", "p_family", "q")

_BLOCK = 4_000_000  # numbers held at once: 32 MB
_NOTHING = 1e-20  # a variance that is rounding
_TIE = 1e-9  # permutations that repeat the observed order must count, whatever the rounding


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
    beside : ndarray, shape (n_subjects, n_features), optional
        One more covariate for each feature, its own.
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
    if beside is None:
        models = [(np.flatnonzero(finite), _model(nuisance, patients))]
    else:
        beside = beside[order]
        known = np.flatnonzero(finite & np.isfinite(beside).all(axis=0))
        models = [
            (known[[i]], _model(np.column_stack([nuisance, beside[:, known[i]]]), patients)) for i in range(len(known))
        ]
    found = {name: np.full(len(finite), np.nan) for name in EFFECT_COLUMNS}
    tested = []
    for features, model in models:
        residuals, norms = model.residuals(values[:, features])
        varies = norms > 1e-9 * np.maximum(np.linalg.norm(values[:, features], axis=0), 1e-300)
        features, residuals = features[varies], residuals[varies] / norms[varies, None]
        d, half = model.size(residuals)
        found["difference"][features] = model.along(residuals)[0] * norms[varies] / model.length
        found["d"][features], found["d_low"][features], found["d_high"][features] = d, d - half, d + half
        found["t"][features] = model.t(residuals)
        tested.append((features, model, residuals))
    chosen = np.isfinite(found["t"])
    alone, family = _exceedances(tested, np.abs(found["t"]), permutations, seed)
    found["p"][chosen] = (1 + alone[chosen]) / (1 + permutations)
    found["p_family"][chosen] = (1 + family[chosen]) / (1 + permutations)
    found["q"][chosen] = discovery_rates(found["p"][chosen])
    return pd.DataFrame(found)


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

    directions: FloatArray
    length: float
    n_first: int
    own_degrees: FloatArray
    own_shares: FloatArray

    @property
    def degrees(self) -> int:
        """Residual degrees of freedom."""
        return self.directions.shape[1] - len(self.directions)

    def residuals(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What covariates leave of features, shape (n_features, n_subjects), and its length."""
        covariates = self.directions[:-1]
        left = values.T - (values.T @ covariates.T) @ covariates
        return left, np.linalg.norm(left, axis=1)

    def along(self, residuals: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How residuals of unit length, (..., n_subjects), go with the group; and both groups' variances, (..., 2)."""
        parts = residuals @ self.directions.T
        own = parts @ self.directions[:, : self.n_first]
        np.subtract(residuals[..., : self.n_first], own, out=own)
        squares = np.maximum(1 - np.einsum("...i,...i->...", parts, parts), _NOTHING)
        of_first = np.einsum("...i,...i->...", own, own)
        variances = np.stack([of_first, np.maximum(squares - of_first, 0)], axis=-1) / self.own_degrees
        return parts[..., -1], variances

    def t(self, residuals: FloatArray) -> FloatArray:
        """Welch's t of the group, shape (...,)."""
        along, variances = self.along(residuals)
        return np.asarray(along / np.sqrt(np.maximum(variances @ self.own_shares, _NOTHING)))

    def size(self, residuals: FloatArray) -> tuple[FloatArray, FloatArray]:
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


def _model(nuisance: FloatArray, patients: NDArray[np.bool_]) -> _Model:
    """The model of covariates, whose columns may depend on each other, and the group."""
    q, r, _ = linalg.qr(nuisance, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(r))
    basis = q[:, : int((sizes > 1e-9 * sizes[0]).sum())]
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
    tested: Sequence[tuple[NDArray[np.int64], _Model, FloatArray]], observed: FloatArray, permutations: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Count the permutations whose |t| is as large as the observed, feature by feature and as a family.

    Tested are features with their model and residuals of unit length, shape (n_features, n_subjects).
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
