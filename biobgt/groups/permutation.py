"""The permutation test of Freedman and Lane for a group difference in a linear model with covariates.

The covariates are fitted without the group, the residuals are permuted, and the full model is fitted to each
permutation (Freedman & Lane 1983; Winkler et al., NeuroImage 2014). All features are permuted together, which keeps
their correlations and gives family-wise p from the largest statistic.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from biobgt.errors import InputError
from biobgt.false_discoveries import discovery_rates

_BLOCK = 4_000_000  # numbers held at once: 32 MB
_TIE = 1e-10  # permutations that repeat the observed order must count, whatever the rounding


@dataclass(frozen=True, eq=False)
class GroupEffect:
    """A group's effect on each feature, all of shape (n_features,); NaN where a feature does not vary.

    Attributes
    ----------
    difference : ndarray
        Mean difference of patients and controls, adjusted for the covariates.
    d, d_low, d_high : ndarray
        The difference in residual standard deviations (Cohen's d without covariates), and its 95 % interval.
    t : ndarray
        Of the group in the linear model.
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
    permutations, seed : int

    Returns
    -------
    GroupEffect
    """
    from scipy import stats  # a second of import that a page's first start need not wait for

    basis = _orthonormal(nuisance)
    group = patients - basis @ (basis.T @ patients)
    length = float(np.linalg.norm(group))
    degrees = len(patients) - basis.shape[1] - 1
    if length < 1e-6 * np.sqrt(len(patients)) or degrees < 1:
        raise InputError("The groups cannot be told apart from the covariates, or there are too few subjects for them.")
    unit = group / length
    finite = np.isfinite(values).all(axis=0)
    centred = np.where(finite, values, 0)
    residuals = centred - basis @ (basis.T @ centred)
    norms = np.linalg.norm(residuals, axis=0)
    tested = finite & (norms > 1e-9 * np.maximum(np.linalg.norm(centred, axis=0), 1e-300))
    residuals, norms = residuals[:, tested] / norms[tested], norms[tested]
    correlation = unit @ residuals
    alone, family = _exceedances(residuals, basis, unit, np.abs(correlation), permutations=permutations, seed=seed)
    t = correlation * np.sqrt(degrees / np.maximum(1 - correlation**2, 1e-300))
    d = t / length
    half = stats.norm.ppf(0.975) * np.sqrt(1 / length**2 + d**2 / (2 * degrees))
    p = (1 + alone) / (1 + permutations)
    q = discovery_rates(p)
    return GroupEffect(
        difference=_placed(correlation * norms / length, tested),
        d=_placed(d, tested),
        d_low=_placed(d - half, tested),
        d_high=_placed(d + half, tested),
        t=_placed(t, tested),
        p=_placed(p, tested),
        p_family=_placed((1 + family) / (1 + permutations), tested),
        q=_placed(q, tested),
        degrees=degrees,
    )


def _exceedances(
    residuals: NDArray[np.float64],
    basis: NDArray[np.float64],
    unit: NDArray[np.float64],
    observed: NDArray[np.float64],
    *,
    permutations: int,
    seed: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Count the permutations that correlate with the group as strongly, feature by feature and as a family.

    With Q the covariates' basis, u the group beyond them and e the residuals of unit length, the full model's partial
    correlation of a permutation P is uᵀPe / √(1 − ‖QᵀPe‖²); |t| rises with it. Permuting the rows of Q and u instead
    of e makes it one product of matrices for many permutations.
    """
    rng = np.random.default_rng(seed)
    n_subjects, n_features = residuals.shape
    directions = np.column_stack([basis, unit]).T
    block = max(1, _BLOCK // (len(directions) * max(n_subjects, n_features)))
    alone, family = np.zeros(n_features), np.zeros(n_features)
    if not n_features:
        return alone, family
    for start in range(0, permutations, block):
        size = min(block, permutations - start)
        orders = rng.permuted(np.tile(np.arange(n_subjects), (size, 1)), axis=1)
        products = directions[:, orders].reshape(-1, n_subjects) @ residuals
        products = products.reshape(len(directions), size, n_features)
        left = np.maximum(1 - (products[:-1] ** 2).sum(axis=0), 1e-12)
        drawn = np.abs(products[-1]) / np.sqrt(left) + _TIE
        alone += (drawn >= observed).sum(axis=0)
        family += (drawn.max(axis=1, keepdims=True) >= observed).sum(axis=0)
    return alone, family


def _orthonormal(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return an orthonormal basis of the columns' span, shape (n_subjects, rank)."""
    q, r, _ = linalg.qr(columns, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(r))
    basis: NDArray[np.float64] = q[:, : int((sizes > 1e-9 * sizes[0]).sum())]
    return basis


def _placed(column: NDArray[np.float64], tested: NDArray[np.bool_]) -> NDArray[np.float64]:
    placed = np.full(len(tested), np.nan)
    placed[tested] = column
    return placed
