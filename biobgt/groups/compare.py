"""Do two groups differ, and is it the diagnosis? What they are compared in, adjusted for what, over unique subjects.

Every result stands twice: adjusted for the covariates, and (columns ending in ``_unadjusted``) as it would look without
them, in the same subjects. A difference that is strong only without them is a difference in motion, age, sex or site.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.beyond import BEYOND, GIVEN_FC, beyond, beyond_words
from biobgt.base.errors import InputError
from biobgt.base.options import Options, option
from biobgt.base.wording import UNADJUSTED_DIFFERENCE, capitalised, counted, covariate_words
from biobgt.data.atlas import LABELLINGS
from biobgt.data.cohort import FEWEST_COMPARED, Cohort, average_by_person
from biobgt.hubs.measures import HUB_MEASURES, NE, EntanglementOptions
from biobgt.inference.covariates import ComparedPeople, Design, compared_people, covariates_of, offered_covariates
from biobgt.inference.permutation import group_effect
from biobgt.model.attention import OF_FC, SIMPLER_THAN_BLOCKS
from biobgt.modules.measures import PERMUTATIONS as MODULE_PERMUTATIONS
from biobgt.modules.measures import ModuleOptions

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


def comparable_groups(cohort: Cohort) -> tuple[str, ...]:
    """The groups of a cohort that have enough people to be compared."""
    return tuple(group for group, size in cohort.group_people.items() if size >= FEWEST_COMPARED)


def _covariate_title(name: str) -> str:
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
        default_of=lambda cohort: tuple(map(str, covariates_of(cohort.table()).table.columns)),
        shown=_covariate_title,
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


# The test, over unique subjects.


@dataclass(frozen=True, eq=False)
class GroupComparison:
    """Two groups compared, feature by feature.

    Attributes
    ----------
    table : DataFrame
        A row per feature: ``feature``; ``mean_<group>`` of both, as measured; then the columns of
        :func:`biobgt.inference.permutation.group_effect` adjusted for the covariates, and the same with
        ``_unadjusted``; a ``difference`` is second group minus first. Where features have a simpler quantity, the same
        with ``_given_fc``, of the feature with that as one more covariate, and ``beyond_fc``, the word of
        :func:`biobgt.base.beyond.beyond`. With connectivity beside the features, also with ``_of_fc``, of the
        connectivity. NaN for a feature that does not vary or is missing for someone.
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
    simpler : tuple of str
        Of :data:`biobgt.base.beyond.SIMPLER`: given which every feature was tested again.
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
    notes: tuple[str, ...]
    simpler: tuple[str, ...] = ()

    @property
    def beyond(self) -> str:
        """How many differences go beyond what is simpler, as a sentence; empty where none is found or none tested."""
        return beyond_words(self.table[BEYOND].tolist(), self.simpler) if BEYOND in self.table else ""

    def rows(self, *, simulated: bool) -> pd.DataFrame:
        """One row per feature that can stand alone: the test, n of both groups, covariates, permutations and seed.

        ``residual_degrees`` are those of the adjusted test, ``group_explained`` is the share of the group's variance
        that the covariates explain. The column ``simulated`` is that of the cohort.
        """
        table = self.table.copy()
        for place, (group, n) in enumerate(self.n_subjects.items(), start=1):
            table.insert(place, f"n_{group}", n)
        return table.assign(
            covariates=", ".join(self.covariates) or "none",
            residual_degrees=self.design.degrees,
            group_explained=self.design.explained,
            permutations=self.permutations,
            seed=self.seed,
            simulated=simulated,
        )


def compare_groups(
    values: ArrayLike,
    groups: Sequence[str | None],
    *,
    subjects: Sequence[str],
    between: tuple[str, str] = ("NC", "ASD"),
    covariates: pd.DataFrame | None = None,
    connectivity: ArrayLike | None = None,
    given: ArrayLike | None = None,
    simpler: tuple[str, ...] = (),
    features: Sequence[str] | None = None,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> GroupComparison:
    """Compare two groups in every feature with a linear model and permutations (Freedman & Lane).

    Refused where covariates leave fewer than :data:`biobgt.inference.covariates.LEAST_DEGREES` residual degrees of
    freedom, or cannot be told from the group.

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
        The connectivity beside each feature, tested likewise, and what is simpler than it.
    given : array-like, shape (n_rows, n_features, n_simpler), or None
        What is simpler than each feature: tested again with these as further covariates of the feature.
    simpler : tuple of str
        What these are, of :data:`biobgt.base.beyond.SIMPLER`.
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
    design.check()
    test = partial(group_effect, patients=patients, permutations=permutations, seed=seed)
    adjusted = test(kept, nuisance=design.columns)
    effects = {"": adjusted, "_unadjusted": adjusted}
    if design.covariates:
        effects["_unadjusted"] = test(kept, nuisance=design.columns[:, :1])
    if connectivity is not None:
        given = np.asarray(connectivity, dtype=np.float64)[..., None]
        simpler = SIMPLER_THAN_BLOCKS
    words: dict[str, NDArray[np.object_]] = {}
    if given is not None:
        beside = np.asarray(given, dtype=np.float64)
        if beside.shape[:2] != array.shape or beside.ndim != 3:
            raise InputError(f"Values have the shape {array.shape} and what stands beside them {beside.shape}.")
        flat = average_by_person(beside[people.rows].reshape(int(people.rows.sum()), -1), people.owners)
        beside = flat[people.complete].reshape(-1, *beside.shape[1:])
        if connectivity is not None:
            effects[OF_FC] = test(beside[..., 0], nuisance=design.columns)
        effects[GIVEN_FC] = test(kept, nuisance=design.columns, beside=beside)
        words[BEYOND] = beyond(*(one[name] for name in ("q", "d") for one in (adjusted, effects[GIVEN_FC])))
    means = {f"mean_{between[0]}": kept[~patients].mean(axis=0), f"mean_{between[1]}": kept[patients].mean(axis=0)}
    columns = [pd.DataFrame({"feature": names, **means}), *(one.add_suffix(end) for end, one in effects.items())]
    table = pd.concat(columns, axis="columns").assign(**words)
    return GroupComparison(
        table=table,
        between=between,
        n_subjects=people.sizes,
        n_dropped=people.n_dropped,
        n_repeated=people.n_repeated,
        covariates=design.covariates,
        permutations=permutations,
        seed=seed,
        design=design,
        notes=_notes(people, n_untested=int(table["t"].isna().sum())),
        simpler=simpler if given is not None else (),
    )


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


def _notes(people: ComparedPeople, n_untested: int) -> tuple[str, ...]:
    known, used, notes = people.covariates, people.design.covariates, []
    if known is not None and people.n_dropped:
        gaps = [str(name) for name in known.columns if known[name].isna().any()]
        notes.append(f"{counted(people.n_dropped, 'subject')} left out because {' or '.join(gaps)} is missing.")
    if people.n_repeated:
        notes.append(f"{counted(people.n_repeated, 'further row')} of the same subjects averaged before the test.")
    if not used:
        notes.append(UNADJUSTED_DIFFERENCE)
    elif known is not None and len(used) < known.shape[1]:
        same = [str(name) for name in known.columns if name not in used]
        notes.append(f"Not adjusted for {', '.join(same)}, the same in all subjects.")
    notes += people.design.notes
    if n_untested:
        notes.append(f"{counted(n_untested, 'feature')} not tested: missing for a subject, or the same in all.")
    return tuple(notes)
