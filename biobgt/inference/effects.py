"""The test of a design in every feature: effects with intervals, p of rearrangements, and what could have been seen.

A difference is given in residual standard deviations (d), the effect of a number as a partial correlation (r), and that
of several columns at once as partial eta squared: the share of what the covariates leave that they explain.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from biobgt.base.arrays import FDR, FloatArray, discovery_rates
from biobgt.base.errors import InputError
from biobgt.base.wording import counted
from biobgt.inference.design import Contrast, StudyDesign
from biobgt.inference.formula import INTERCEPT
from biobgt.inference.permutation import (
    Exchange,
    Model,
    drawn_statistics,
    null_counts,
    permutation_p,
    residuals_of_features,
)
from biobgt.inference.tails import BELOW, tail_p

PERMUTATIONS = 5000
ALPHA, POWER = 0.05, 0.8
D, R, ETA = "d", "partial r", "partial eta squared"
_KEPT = 4_000_000  # statistics of rearrangements that are held at once, for their tails


@dataclass(frozen=True, eq=False)
class TermEffects:
    """A term tested in every feature.

    Attributes
    ----------
    table : DataFrame
        A row per contrast and feature: ``contrast``, ``feature``; ``estimate``, the difference or slope, adjusted;
        ``effect`` with its 95 % interval ``effect_low`` to ``effect_high``, in the measure that ``effect_kind`` names;
        ``statistic`` (``statistic_kind`` t or F); the permutation ``p`` of the feature alone, two-sided for t;
        ``p_family`` against the largest of all features; and ``q``, Benjamini and Hochberg's false discovery rate.
        All pairs of groups are one family; the test of all groups at once is one of its own. NaN where a feature is
        missing for somebody or does not vary.
    smallest : dict of str to float
        The smallest effect, by contrast, that this sample shows in one feature with a power of 80 % at 5 %.
    design : StudyDesign
    permutations, seed : int
    notes : tuple of str
        Those of the design, and on features that were not tested and tails that were not fitted.
    """

    table: pd.DataFrame
    smallest: dict[str, float]
    design: StudyDesign
    permutations: int
    seed: int
    notes: tuple[str, ...]

    def rows(self, contrast: str) -> pd.DataFrame:
        """The rows of one contrast."""
        return self.table[self.table["contrast"] == contrast].reset_index(drop=True)


def effects_of(
    design: StudyDesign,
    values: ArrayLike,
    *,
    features: Sequence[str] | None = None,
    beside: ArrayLike | None = None,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    tail: bool = False,
) -> TermEffects:
    """Test the term of a design in every feature.

    Parameters
    ----------
    design : StudyDesign
    values : array-like, shape (n_table_rows, n_features)
        In the order of the table that the design was made of.
    features : sequence of str, length n_features, optional
        Names; numbers from 1 if None.
    beside : array-like, shape (n_table_rows, n_features, n_own), optional
        Covariates of each feature, its own, besides those of the design: the same term given these.
    permutations, seed : int
    tail : bool
        Approximate small p by a generalised Pareto distribution, where it fits; see
        :func:`biobgt.inference.tails.tail_p`.
    """
    design.check()
    if permutations < 1:
        raise InputError(f"A permutation test needs permutations, not {permutations}.")
    kept = design.observations(values)
    names = [str(i + 1) for i in range(kept.shape[1])] if features is None else list(map(str, features))
    if len(names) != kept.shape[1]:
        raise InputError(f"There are {kept.shape[1]} features and {len(names)} names for them.")
    finite = np.flatnonzero(np.isfinite(kept).all(axis=0))
    given = None if beside is None else _beside(design, np.asarray(beside, np.float64), len(names))[:, finite]
    tables, nulls, unfitted = [], [], 0
    for contrast in design.contrasts:
        tested = residuals_of_features(design.model(contrast), kept, finite, given)
        table = pd.DataFrame(
            np.nan, index=range(len(names)), columns=["estimate", "effect", "effect_low", "effect_high"]
        )
        statistic = np.full(len(names), np.nan)
        for (own, model, residuals), norms in tested:
            table.iloc[own] = np.column_stack(effect_sizes(design, contrast, model, residuals, norms))
            statistic[own] = model.statistics(residuals)[:, 0]
        each = [one for one, _ in tested]
        counts, largest = null_counts(each, statistic, design.exchange, permutations=permutations, seed=seed)
        p = np.where(np.isnan(statistic), np.nan, (1 + counts) / (1 + permutations))
        for own, model, residuals in each if tail else []:
            p[own], left = tails_fitted(
                p[own], np.abs, model, residuals, design.exchange, permutations=permutations, seed=seed
            )
            unfitted += left
        table = table.assign(statistic=statistic, p=p)
        table.insert(0, "contrast", contrast.name)
        table.insert(1, "feature", names)
        table["effect_kind"], table["statistic_kind"] = effect_kind(design, contrast), "tF"[len(contrast.weights) > 1]
        tables.append(table)
        nulls.append(largest)
    return TermEffects(
        table=pd.concat(_with_families(tables, nulls), ignore_index=True),
        smallest={one.name: smallest_effect(design, one) for one in design.contrasts},
        design=design,
        permutations=permutations,
        seed=seed,
        notes=(
            *design.notes,
            *notes_on_tests(
                tables[0]["p"].to_numpy(),
                permutations,
                n_untested=int(tables[0]["p"].isna().sum()),
                n_unfitted=unfitted,
            ),
        ),
    )


def _beside(design: StudyDesign, beside: FloatArray, n_features: int) -> FloatArray:
    """Covariates of each feature in the rows of the design, shape (n_rows, n_features, n_own)."""
    if beside.ndim != 3 or beside.shape[1] != n_features:
        raise InputError(
            f"Covariates of single features have the shape {beside.shape}, and there are {n_features} features: give "
            "rows, features and covariates of each."
        )
    return design.observations(beside.reshape(len(beside), -1)).reshape(-1, *beside.shape[1:])


def tails_fitted(
    p: FloatArray,
    height: Callable[[FloatArray], FloatArray],
    model: Model,
    residuals: FloatArray,
    exchange: Exchange,
    *,
    permutations: int,
    seed: int,
) -> tuple[FloatArray, int]:
    """Approximate the small p of features by fitted tails; see :func:`biobgt.inference.tails.tail_p`.

    Parameters
    ----------
    p : ndarray, shape (n_features,)
        Counted.
    height : callable
        What is large of a statistic where there is an effect: its size, or the statistic itself.
    model : LinearModel or FeatureModels
    residuals : ndarray, shape (n_features, n_rows)
        Of unit length.
    exchange : Exchange
    permutations, seed : int

    Returns
    -------
    p : ndarray, shape (n_features,)
    unfitted : int
        Small p of features whose tail has another form, or that permutations are too few for.
    """
    p, unfitted = p.copy(), 0
    small, some = np.flatnonzero(p < BELOW), max(1, _KEPT // permutations)
    for start in range(0, len(small), some):
        chosen = small[start : start + some]
        own = model.some(chosen)
        part = [(np.arange(len(chosen)), own, residuals[chosen])]
        drawn = drawn_statistics(part, len(chosen), exchange, permutations=permutations, seed=seed)
        observed = height(own.statistics(residuals[chosen])[:, 0])
        fitted, found = tail_p(observed, height(np.hstack(list(drawn))))
        p[chosen[fitted]] = found[fitted]
        unfitted += int((~fitted).sum())
    return p, unfitted


def _with_families(tables: list[pd.DataFrame], nulls: list[FloatArray]) -> list[pd.DataFrame]:
    """Tables with p of families: all pairs together, and what has an F; NaN where nothing was tested."""
    tables = [table.assign(p_family=np.nan, q=np.nan) for table in tables]
    for kind in "tF":
        places = [i for i, table in enumerate(tables) if table["statistic_kind"].iloc[0] == kind]
        if not places or not len(nulls[places[0]]):
            continue
        largest = np.max([nulls[i] for i in places], axis=0)
        rates = discovery_rates(np.concatenate([tables[i]["p"].to_numpy() for i in places])).reshape(len(places), -1)
        for i, own in zip(places, rates, strict=True):
            tables[i] = tables[i].assign(
                p_family=permutation_p(tables[i]["statistic"].abs().to_numpy(), largest), q=own
            )
    return tables


def notes_on_tests(
    p: FloatArray, permutations: int, *, n_untested: int, n_unfitted: int, noun: str = "feature"
) -> list[str]:
    """Say what was not tested, which tails were not fitted, and where permutations are too few for the rate q.

    Parameters
    ----------
    p : ndarray
        Of all tests.
    permutations, n_untested, n_unfitted : int
    noun : str
    """
    notes, known = [], p[np.isfinite(p)]
    if n_untested:
        notes.append(f"{counted(n_untested, noun)} not tested: missing for somebody, or the same in all.")
    if n_unfitted:
        notes.append(
            f"The tail of {counted(n_unfitted, 'test')} is not that of a generalised Pareto distribution: p is the "
            "count of the permutations."
        )
    smallest = 1 / (1 + permutations)
    needed = math.ceil(len(known) * smallest / FDR - 1e-9)
    if 0 < np.count_nonzero(known <= smallest * (1 + 1e-9)) < needed and known.min() > smallest * (1 - 1e-9):
        notes.append(
            f"{permutations:,} permutations are few for the false discovery rate: of {counted(len(known), 'test')}, "
            f"{needed:,} would have to have the smallest p, {smallest:.2g}, for a q of {FDR}."
        )
    return notes


# Effect sizes.


def effect_kind(design: StudyDesign, contrast: Contrast) -> str:
    """In which measure the effect of a contrast is given."""
    if len(contrast.weights) > 1:
        return ETA
    return D if contrast.levels or design.tested == INTERCEPT else R


def effect_sizes(
    design: StudyDesign, contrast: Contrast, model: Model, residuals: FloatArray, norms: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Estimate of a contrast in each feature, effect size, and both ends of its 95 % interval.

    Parameters
    ----------
    design : StudyDesign
    contrast : Contrast
    model : LinearModel or FeatureModels
        Of the contrast.
    residuals : ndarray, shape (n_features, n_rows)
        Of unit length, see :func:`biobgt.inference.permutation.unit_residuals`.
    norms : ndarray, shape (n_features,)
    """
    from scipy import special, stats

    along = model.along(residuals)
    share = np.clip((along**2).sum(axis=1), 0, 1)  # of what the covariates leave
    if len(contrast.weights) > 1:
        several = model.n_tested
        f = share / several / np.maximum((1 - share) / model.degrees, 1e-20)
        ends = [special.ncfdtrinc(several, model.degrees, p, f) for p in (0.975, 0.025)]
        n = several + model.degrees + 1
        low, high = (np.nan_to_num(end) / (np.nan_to_num(end) + n) for end in ends)
        return (
            np.full(len(share), np.nan),
            share,
            np.where(stats.f.cdf(f, several, model.degrees) < 0.975, 0, low),
            high,
        )
    estimate = along[:, 0] * norms / model.length
    if effect_kind(design, contrast) == D:
        d, half = model.size(residuals)
        return estimate, d, d - half, d + half
    r, error = along[:, 0], 1 / np.sqrt(np.maximum(model.degrees - 1, 1))
    z = np.arctanh(np.clip(r, -1 + 1e-15, 1 - 1e-15))
    return estimate, r, np.tanh(z - 1.959964 * error), np.tanh(z + 1.959964 * error)


def smallest_effect(design: StudyDesign, contrast: Contrast, *, alpha: float = ALPHA, power: float = POWER) -> float:
    """The smallest true effect that a sample of this design shows with a given power, in one feature.

    Normal errors of one variance are assumed. It is said of the design, not of the data: no power after the fact.

    Parameters
    ----------
    design : StudyDesign
    contrast : Contrast
        One of the design's.
    alpha : float
        Of a two-sided t or of F; divide it by the number of features for a family-wise level.
    power : float

    Returns
    -------
    float
        In d, partial r or partial eta squared, as :attr:`TermEffects.table` has effects of this contrast.
    """
    from scipy import optimize, stats

    if not 0 < alpha < power < 1:
        raise InputError(f"A level of {alpha} and a power of {power} are not between 0 and 1, one below the other.")
    model = design.model(contrast)
    several, degrees = len(model.tested), model.degrees
    critical = stats.f.ppf(1 - alpha, several, degrees)
    highest = 10.0
    while stats.ncf.sf(critical, several, degrees, highest) < power:
        highest *= 2
    found = float(optimize.brentq(lambda nc: stats.ncf.sf(critical, several, degrees, nc) - power, 1e-9, highest))
    if effect_kind(design, contrast) == D:
        return math.sqrt(found) / model.length
    share = found / (found + several + degrees + 1)
    return share if several > 1 else math.sqrt(found / (found + degrees + 1))
