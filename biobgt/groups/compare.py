"""Do two groups differ, and is it the diagnosis? Options, permutation tests, and how alike differences are."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from biobgt.base.arrays import FloatArray, discovery_rates
from biobgt.base.errors import InputError
from biobgt.base.options import Options, option
from biobgt.base.wording import UNADJUSTED_DIFFERENCE, capitalised, counted, covariate_words
from biobgt.data.atlas import LABELLINGS
from biobgt.data.cohort import FEWEST_COMPARED, average_by_person
from biobgt.groups.design import Design, check_design, compared_people, design_notes
from biobgt.hubs.measures import HUB_MEASURES, NE, EntanglementOptions
from biobgt.model.attention import GIVEN_FC, OF_FC
from biobgt.modules.measures import PERMUTATIONS as MODULE_PERMUTATIONS
from biobgt.modules.measures import ModuleOptions

if TYPE_CHECKING:
    from biobgt.data.cohort import Cohort

# What two groups are compared in, and adjusted for what: the options of the command, the page and its figures.


Compared = Literal["fc-blocks", "segregation", "hubs", "modules"]
NETWORKS, SEGREGATION, HUBS, MODULES = get_args(Compared)
COMPARED_IN: Mapping[str, str] = {
    NETWORKS: "Connectivity of networks",
    SEGREGATION: "Segregation",
    HUBS: "Hubs",
    MODULES: "Modules",
}
PERMUTATIONS = 5000
USUAL, NOTHING = "usual", "none"


def comparable_groups(cohort: "Cohort") -> tuple[str, ...]:
    """The groups of a cohort that have enough people to be compared."""
    return tuple(group for group, size in cohort.group_people.items() if size >= FEWEST_COMPARED)


def _usual_covariates(cohort: "Cohort") -> tuple[str, ...]:
    """Log motion, age, sex and site, as far as they are known of the cohort."""
    from biobgt.groups.design import covariates_of

    return tuple(map(str, covariates_of(cohort.table()).table.columns))


def offered_covariates(cohort: "Cohort") -> tuple[str, ...]:
    """All that a comparison can be adjusted for, the usual ones first."""
    from biobgt.groups.design import covariate_names  # brings SciPy, which the start of the app does without

    return covariate_names(cohort.table())


def covariate_title(name: str) -> str:
    """A covariate as a list of choices names it."""
    return capitalised(covariate_words(name))


@dataclass(frozen=True)
class TwoGroups(Options):
    """Which groups are compared; a request names both."""

    first: str = option("", title="First group", choices_of=comparable_groups, link="first_group")
    second: str = option(
        "",
        title="Second group",
        choices_of=comparable_groups,
        default_of=lambda cohort: (*comparable_groups(cohort), "", "")[1],
        link="second_group",
    )

    @property
    def groups(self) -> tuple[str, str]:
        """Both groups."""
        return self.first, self.second


@dataclass(frozen=True)
class ComparedOptions(Options):
    """What groups are compared in, and what the test is adjusted for."""

    of: Compared = option(
        NETWORKS,
        title="Compare",
        help="Connectivity of networks (fc-blocks): mean Fisher-z connectivity within and between functional networks. "
        "Segregation: modularity Q, number of modules and system segregation. Hubs: one hub measure in every region. "
        "Modules: whether both groups have the same modules.",
        shown=COMPARED_IN,
        link="compared",
    )
    labelling: str = option(
        "",
        title="Functional networks",
        help="Networks within and between which connectivity is averaged. Default: the first labels of the atlas.",
        choices_of=lambda cohort: tuple(cohort.atlas.labels),
        shown=LABELLINGS,
        link="compared_networks",
    )
    measure: str = option(
        NE,
        title="Hub measure",
        help="Hub measure that is compared in every region.",
        choices=HUB_MEASURES,
        shown=lambda key: HUB_MEASURES[key].title,
        link="compared_measure",
    )
    covariates: tuple[str, ...] = option(
        (USUAL,),
        title="Adjust for",
        help="Covariates of the test: motion (log_mean_fd, the logarithm of mean FD), age, sex, site or any other "
        "column of the phenotypes, such as mean_fd itself. Default: the first four, where the phenotypes have "
        f"them. On the command line one option per covariate, or '{NOTHING}'.",
        choices_of=offered_covariates,
        default_of=_usual_covariates,
        shown=covariate_title,
        link="adjusted_for",
        flag="--covariate",
    )
    without: tuple[str, ...] = option(
        (), title="Do not adjust for", help="Covariates not to adjust for, one option per covariate."
    )
    leave_out_incomplete: bool = option(
        False,
        title="Exclude subjects with missing covariates",
        help="Exclude subjects with missing covariates. Otherwise the comparison is refused.",
        link="leave_out_incomplete",
        flag="--leave-out-incomplete",
    )
    permutations: int = option(
        0,
        title="Permutations",
        help=f"Number of permutations. 0: {PERMUTATIONS}, and {MODULE_PERMUTATIONS} for modules.",
        low=0,
    )

    @property
    def named_covariates(self) -> tuple[str, ...] | None:
        """The covariates that were named; None is the usual ones that the cohort has."""
        if self.covariates == (USUAL,):
            return None
        return tuple(name for name in self.covariates if name.lower() != NOTHING)

    @property
    def n_permutations(self) -> int:
        """How often groups are permuted."""
        return self.permutations or (MODULE_PERMUTATIONS if self.of == MODULES else PERMUTATIONS)


@dataclass(frozen=True)
class ComparisonOptions(EntanglementOptions, ModuleOptions, ComparedOptions, TwoGroups):
    """All that a comparison of two groups depends on beside their subjects and graphs."""

    covariates_sha256: str = option(
        "",
        title="SHA-256 of the covariates",
        help="Of the covariates of the people compared; a figure that is made again refuses others.",
    )


# The permutation test of Freedman and Lane for a group difference in a linear model with covariates.
#
# The covariates are fitted without the group, the residuals are permuted, and the full model is fitted to each
# permutation (Freedman & Lane 1983; Winkler et al., NeuroImage 2014). All features are permuted together, which keeps
# their correlations and gives family-wise p from the largest statistic.
#
# The statistic is that of Welch: the group's coefficient over a standard error in which each group has its own
# residual variance. Where groups of unequal size differ in variance, the t of a pooled variance finds differences that
# are not there; permuting does not help it, but a statistic that is studentised so holds its level (Janssen,
# Statistics & Probability Letters 1997; ``assets/studies/null_tests.py``).


_BLOCK = 4_000_000  # numbers held at once: 32 MB
_NOTHING = 1e-20  # a variance that is rounding
_TIE = 1e-9  # permutations that repeat the observed order must count, whatever the rounding


@dataclass(frozen=True, eq=False)
class _GroupEffect:
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

    difference: FloatArray
    d: FloatArray
    d_low: FloatArray
    d_high: FloatArray
    t: FloatArray
    p: FloatArray
    p_family: FloatArray
    q: FloatArray
    degrees: int


def group_effect(
    values: FloatArray,
    patients: NDArray[np.bool_],
    nuisance: FloatArray,
    *,
    beside: FloatArray | None = None,
    permutations: int,
    seed: int,
) -> _GroupEffect:
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
    return _GroupEffect(
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


def _smaller_first(patients: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The order with the smaller group first, of two as large the first subject's, whoever is called a patient."""
    n = int(patients.sum())
    smaller = patients == (patients[0] if 2 * n == len(patients) else 2 * n < len(patients))
    return np.argsort(~smaller, kind="stable")


def _model(nuisance: FloatArray, patients: NDArray[np.bool_]) -> _Model:
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
    tested: Sequence[tuple[NDArray[np.int64], _Model, FloatArray]],
    observed: FloatArray,
    *,
    permutations: int,
    seed: int,
) -> tuple[FloatArray, FloatArray]:
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


def _orthonormal(columns: FloatArray) -> FloatArray:
    """Return an orthonormal basis of the columns' span, shape (n_subjects, rank)."""
    q, r, _ = linalg.qr(columns, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(r))
    basis: FloatArray = q[:, : int((sizes > 1e-9 * sizes[0]).sum())]
    return basis


# Do two groups differ, and is it the diagnosis? Tests over unique subjects, with and without covariates.
#
# Every result stands twice: adjusted for the covariates, and (columns ending in ``_unadjusted``) as it would look
# without them, in the same subjects. A difference that is strong only without them is a difference in motion, age, sex
# or site.


EFFECT_COLUMNS = ("difference", "d", "d_low", "d_high", "t", "p", "p_family", "q")


@dataclass(frozen=True, eq=False)
class GroupComparison:
    """Two groups compared, feature by feature.

    Attributes
    ----------
    table : DataFrame
        A row per feature: ``feature``; ``mean_<group>`` of both, as measured; then :data:`EFFECT_COLUMNS` adjusted for
        the covariates, and the same with ``_unadjusted``: the ``difference`` (second group minus first), ``d`` in
        residual standard deviations with its 95 % interval, Welch's ``t``, and permutation ``p``, ``p_family``
        (family-wise, largest statistic) and ``q`` (false discovery rate). With connectivity beside the features, the
        same with ``_of_fc``, of the connectivity, and with ``_given_fc``, of the feature with its connectivity
        as one more covariate. NaN for a feature that does not vary or is missing for someone.
    between : tuple of two str
    n_subjects : dict of str to int
        Unique subjects of each group that were used.
    n_dropped : int
        Subjects of the two groups left out because a covariate is missing.
    n_repeated : int
        Rows beyond the first of a subject; they were averaged before the test.
    covariates : tuple of str
        Those that were adjusted for.
    permutations, seed : int
    design : Design
        What the covariates take, and how far they and the group are confounded.
    notes : tuple of str
        Sentences on what was left out, averaged, confounded or could not be tested.
    """

    table: pd.DataFrame
    between: tuple[str, str]
    n_subjects: dict[str, int]
    n_dropped: int
    n_repeated: int
    covariates: tuple[str, ...]
    permutations: int
    seed: int
    design: Design
    notes: tuple[str, ...] = ()


def compare_groups(
    values: ArrayLike,
    groups: Sequence[str | None],
    *,
    subjects: Sequence[str],
    between: tuple[str, str] = ("NC", "ASD"),
    covariates: pd.DataFrame | None = None,
    connectivity: ArrayLike | None = None,
    features: Sequence[str] | None = None,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> GroupComparison:
    """Compare two groups in every feature with a linear model and permutations (Freedman & Lane).

    Refused where covariates leave fewer than :data:`biobgt.groups.design.LEAST_DEGREES` residual degrees of freedom, or
    cannot be told from the group.

    Parameters
    ----------
    values : array-like, shape (n_rows, n_features)
    groups : sequence of str or None, length n_rows
        Rows of other groups are left out.
    subjects : sequence of str, length n_rows
        Whose row each is. Rows of one person are averaged first: the test is over persons, not over scans.
    between : tuple of two str
        Controls and patients; a positive difference is higher in the second.
    covariates : DataFrame, n_rows rows, or None
        In the order of ``values``, see :func:`biobgt.groups.covariates_of`. Numbers are standardised; words, and the
        columns ``sex`` and ``site``, coded by value. Subjects with a missing one are left out of both tests.
    connectivity : array-like, shape (n_rows, n_features), or None
        The connectivity beside each feature, tested likewise and adjusted for.
    features : sequence of str, length n_features, or None
        Names; numbers from 1 if None.
    permutations, seed : int

    Returns
    -------
    GroupComparison

    Examples
    --------
    In the second of two features, patients are higher by three standard deviations.

    >>> groups = ["NC"] * 10 + ["ASD"] * 10
    >>> values = np.random.default_rng(0).normal(size=(20, 2))
    >>> values[10:, 1] += 3
    >>> found = compare_groups(values, groups, subjects=[str(i) for i in range(20)], permutations=999)
    >>> (found.table["p_family"] < 0.05).tolist()
    [False, True]
    """
    array = _checked(values, groups, subjects, covariates, between, permutations)
    names = [str(i + 1) for i in range(array.shape[1])] if features is None else list(map(str, features))
    if len(names) != array.shape[1]:
        raise InputError(f"There are {array.shape[1]} features and {len(names)} names for them.")
    people = compared_people(groups, subjects=subjects, between=between, covariates=covariates)
    kept = average_by_person(array[people.rows], people.owners)[people.complete]
    patients, design = people.patients, people.design
    check_design(design, len(kept))
    test = partial(group_effect, patients=patients, permutations=permutations, seed=seed)
    adjusted = test(kept, nuisance=design.columns)
    effects = {"": adjusted, "_unadjusted": adjusted}
    if design.covariates:
        effects["_unadjusted"] = test(kept, nuisance=design.columns[:, :1])
    if connectivity is not None:
        beside = np.asarray(connectivity, dtype=np.float64)
        if beside.shape != array.shape:
            raise InputError(f"Values have the shape {array.shape} and the connectivity beside them {beside.shape}.")
        beside = average_by_person(beside[people.rows], people.owners)[people.complete]
        effects[OF_FC] = test(beside, nuisance=design.columns)
        effects[GIVEN_FC] = test(kept, nuisance=design.columns, beside=beside)
    comparison = GroupComparison(
        table=_table(names, kept, patients, between, effects),
        between=between,
        n_subjects=people.sizes,
        n_dropped=people.n_dropped,
        n_repeated=people.n_repeated,
        covariates=design.covariates,
        permutations=permutations,
        seed=seed,
        design=design,
    )
    return replace(comparison, notes=_notes(comparison, people.covariates))


def _checked(
    values: ArrayLike,
    groups: Sequence[str | None],
    subjects: Sequence[str],
    covariates: pd.DataFrame | None,
    between: tuple[str, str],
    permutations: int,
) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2:
        raise InputError(f"Values have a row per subject and a column per feature, not shape {array.shape}.")
    lengths = {"groups": len(groups), "subject ids": len(subjects)}
    if covariates is not None:
        lengths["rows of covariates"] = len(covariates)
    for what, length in lengths.items():
        if length != len(array):
            raise InputError(f"There are {len(array)} rows of values and {length} {what}; they must be the same rows.")
    if pd.isna(pd.Series(list(subjects), dtype=object)).any():
        raise InputError("A row has no subject id; the test is over persons, so it must be known whose each row is.")
    check_groups(between, sorted({str(name) for name in groups if not pd.isna(name)}))
    if permutations < 1:
        raise InputError(f"A permutation test needs permutations, not {permutations}.")
    return array


def check_groups(between: tuple[str, str], known: Collection[str]) -> None:
    """Refuse a group that nobody is of, and one that was named as both."""
    for name in between:
        if name not in known:
            raise InputError(f"No subject is of group '{name}'. The groups here: {', '.join(known) or 'none'}.")
    if between[0] == between[1]:
        raise InputError(f"A group cannot be compared with itself; {between[0]} was named twice.")


def _table(
    names: list[str],
    values: FloatArray,
    patients: NDArray[np.bool_],
    between: tuple[str, str],
    effects: Mapping[str, _GroupEffect],
) -> pd.DataFrame:
    columns: dict[str, object] = {
        "feature": names,
        f"mean_{between[0]}": values[~patients].mean(axis=0),
        f"mean_{between[1]}": values[patients].mean(axis=0),
    }
    for suffix, effect in effects.items():
        columns |= {column + suffix: getattr(effect, column) for column in EFFECT_COLUMNS}
    return pd.DataFrame(columns)


def _notes(comparison: GroupComparison, known: pd.DataFrame | None) -> tuple[str, ...]:
    notes = []
    if comparison.n_dropped and known is not None:
        gaps = [str(name) for name in known.columns if known[name].isna().any()]
        left_out = counted(comparison.n_dropped, "subject")
        notes.append(f"{left_out} left out because {' or '.join(gaps)} is missing.")
    if comparison.n_repeated:
        notes.append(f"{counted(comparison.n_repeated, 'further row')} of the same subjects averaged before the test.")
    if not comparison.covariates:
        notes.append(UNADJUSTED_DIFFERENCE)
    elif known is not None and len(comparison.covariates) < known.shape[1]:
        same = [str(name) for name in known.columns if name not in comparison.covariates]
        notes.append(f"Not adjusted for {', '.join(same)}, the same in all subjects.")
    notes += design_notes(comparison.design)
    untested = int(comparison.table["t"].isna().sum())
    if untested:
        notes.append(f"{counted(untested, 'feature')} not tested: missing for a subject, or the same in all.")
    return tuple(notes)


# How alike two group differences are: the correlation over features of one disorder's difference and another's.
#
# Features such as blocks of attention depend on each other, so that two differences without any meaning correlate,
# too. What correlation chance gives, permutations say: covariates are fitted without the group, residuals are permuted
# within each cohort (Freedman & Lane 1983), all features together, and the differences are computed again. Two
# disorders of one cohort are compared with the same controls, which makes their differences alike by itself; they are
# permuted together, so that this is in what is expected by chance.


_LIKENESS_TIE = 1e-10


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


def _likeness(first: tuple[str, str], second: tuple[str, str], r: FloatArray, by_chance: FloatArray) -> Likeness:
    expected = float(by_chance.mean())
    as_far = int((np.abs(by_chance - expected) + _LIKENESS_TIE >= abs(float(r) - expected)).sum())
    return Likeness(first, second, float(r), expected, (1 + as_far) / (1 + len(by_chance)))


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
