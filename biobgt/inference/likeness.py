"""How alike two group differences are: the correlation over features of one disorder's difference and another's.

Features such as blocks of attention depend on each other, so that two differences without any meaning correlate, too.
What correlation chance gives, permutations say: covariates are fitted without the group, residuals are permuted within
each cohort (Freedman & Lane 1983), all features together, and the differences are computed again. Two disorders of one
cohort are compared with the same controls, which makes their differences alike by itself; they are permuted together,
so that this is in what is expected by chance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError

_BLOCK = 4_000_000  # numbers held at once: 32 MB


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
