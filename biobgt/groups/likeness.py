"""How alike two group differences are: the correlation over features of one disorder's difference and another's.

Features such as blocks of attention depend on each other, so that two differences without any meaning correlate, too.
What correlation chance gives, permutations say: covariates are fitted without the group, residuals are permuted within
each cohort (Freedman & Lane 1983), all features together, and the differences are computed again. Two disorders of one
cohort are compared with the same controls, which makes their differences alike by itself; they are permuted together,
so that this is in what is expected by chance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.groups.comparison_options import PERMUTATIONS

_BLOCK = 4_000_000  # numbers held at once: 32 MB
_TIE = 1e-10


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

    values: NDArray[np.float64]
    groups: NDArray[np.str_]
    controls: str
    nuisance: NDArray[np.float64]

    @property
    def patients(self) -> tuple[str, ...]:
        """The groups that are not the controls, in the order in which they come."""
        return tuple(dict.fromkeys(group for group in self.groups.tolist() if group != self.controls))


@dataclass(frozen=True)
class Likeness:
    """How alike two differences are.

    Attributes
    ----------
    first, second : (str, str)
        Controls and patients of each difference.
    r : float
        Pearson's correlation over features of the differences in residual standard deviations.
    expected : float
        Mean of the same over permutations: what chance gives.
    p : float
        Two-sided, of a correlation as far from the expected one.
    """

    first: tuple[str, str]
    second: tuple[str, str]
    r: float
    expected: float
    p: float


def difference_likeness(
    cohorts: Sequence[CohortDifferences], *, permutations: int = PERMUTATIONS, seed: int = 0
) -> tuple[Likeness, ...]:
    """Correlate every two differences from controls, within a cohort and between cohorts.

    Parameters
    ----------
    cohorts : sequence of CohortDifferences
        With the same features; people of different cohorts are permuted independently.
    permutations, seed : int

    Returns
    -------
    tuple of Likeness
        One for each pair of disorders, in the order of cohorts.
    """
    if len({one.values.shape[1] for one in cohorts}) != 1:
        raise InputError("Differences of several cohorts can be compared only over the same features.")
    random = np.random.default_rng(seed)
    named: list[tuple[str, str]] = []
    observed, drawn = [], []
    for one in cohorts:
        named += [(one.controls, patients) for patients in one.patients]
        own, by_chance = _differences(one, permutations, random)
        observed += list(own)
        drawn += list(by_chance.swapaxes(0, 1))
    pairs = [(i, j) for i in range(len(named)) for j in range(i + 1, len(named))]
    return tuple(
        _likeness(named[i], named[j], _correlation(observed[i], observed[j]), _correlation(drawn[i], drawn[j]))
        for i, j in pairs
    )


def _likeness(
    first: tuple[str, str], second: tuple[str, str], r: NDArray[np.float64], by_chance: NDArray[np.float64]
) -> Likeness:
    expected = float(by_chance.mean())
    as_far = int((np.abs(by_chance - expected) + _TIE >= abs(float(r) - expected)).sum())
    return Likeness(first, second, float(r), expected, (1 + as_far) / (1 + len(by_chance)))


def _differences(
    one: CohortDifferences, permutations: int, random: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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


def _correlation(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pearson's over the last axis."""
    one, other = (values - values.mean(axis=-1, keepdims=True) for values in (first, second))
    sizes = np.linalg.norm(one, axis=-1) * np.linalg.norm(other, axis=-1)
    return np.asarray((one * other).sum(axis=-1) / sizes)


def as_card(
    found: Sequence[Likeness], *, blocks: int, permutations: int, covariates: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Likenesses as a card holds them.

    Parameters
    ----------
    found : sequence of Likeness
    blocks : int
        How many features were correlated over.
    permutations : int
    covariates : mapping of str to str
        Of each cohort, what was adjusted for.
    """
    return [
        {
            "first": list(one.first),
            "second": list(one.second),
            "r": round(one.r, 4),
            "expected": round(one.expected, 4),
            "p": round(one.p, 5),
            "blocks": blocks,
            "permutations": permutations,
            "covariates": dict(covariates),
        }
        for one in found
    ]
