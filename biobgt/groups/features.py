"""What two groups of a cohort can be compared in, and the comparison of a measured cohort."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import numpy as np
import pandas as pd

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.base.files import write_csv
from biobgt.base.kept import kept
from biobgt.base.wording import counted
from biobgt.data.atlas import LABELLINGS, Atlas
from biobgt.data.cohort import FEWEST_COMPARED, Cohort
from biobgt.data.graph import PEARSON, ConnectivityKind, ConnectomeSettings
from biobgt.groups.compare import (
    HUBS,
    MODULES,
    NETWORKS,
    PERMUTATIONS,
    ComparisonOptions,
    GroupComparison,
    check_groups,
    compare_groups,
)
from biobgt.groups.design import ComparedPeople, Covariates, compared_people, complete_covariates
from biobgt.hubs.measures import HUB_MEASURES, NE
from biobgt.hubs.options import EntanglementOptions
from biobgt.modules import module_blocks
from biobgt.modules.measures import MODULE_MEASURES, ModuleMeasure, ModuleOptions
from biobgt.results.measured import Measured

# What two groups of a cohort can be compared in: connectivity between networks, segregation, hubs.
#
# Each function makes a row of numbers a subject, in the cohort's order; :func:`compare_features` puts them to the test
# of :func:`biobgt.groups.compare_groups` and :func:`comparison_rows` makes of it a table that says all that a reader
# must know. Several recordings of one person are averaged before the test.


# Networks are compared in the whole connectivity, whatever graphs are made of it elsewhere.
def whole_connectivity(kind: ConnectivityKind) -> ConnectomeSettings:
    """The settings of it: correlations as Fisher z, other weights as they are."""
    return ConnectomeSettings(estimator="fisher-z" if kind.functional else PEARSON, sign="signed", threshold="none")


@dataclass(frozen=True, eq=False)
class CohortFeatures:
    """Numbers in which groups can be compared.

    Attributes
    ----------
    values : ndarray, shape (n_subjects, n_features)
        In the order of the cohort; NaN where a measure is not defined.
    names : tuple of str, length n_features
    measured : str
        What they are, in words.
    """

    values: FloatArray
    names: tuple[str, ...]
    measured: str


def two_groups(cohort: Cohort, between: tuple[str, str]) -> Cohort:
    """Return the subjects of two groups, or say why they cannot be compared."""
    sizes = cohort.group_sizes
    if not sizes:
        raise InputError(f"No subject of '{cohort.name}' has a group. Name a table of groups with --phenotypes.")
    check_groups(between, sizes)
    chosen = cohort.select(lambda subject: subject.group in between)
    for name in between:
        n_persons = len(set(chosen.group(name).persons))
        if n_persons < FEWEST_COMPARED:
            raise InputError(
                f"Group '{name}' has {counted(n_persons, 'subject')}; a comparison needs {FEWEST_COMPARED} in each "
                "group."
            )
    return chosen


def network_connectivity(
    cohort: Cohort, labelling: str | None = None, *, whole: Measured | None = None
) -> CohortFeatures:
    """Mean connectivity, of correlations Fisher z, within every functional network and between every two.

    Parameters
    ----------
    cohort : Cohort
    labelling : str, optional
        Of the atlas; its first one by default.
    whole : Measured, optional
        What was measured of these subjects.
    """
    whole = whole or Measured(cohort)
    name = _labelling(cohort.atlas, labelling)
    settings = whole_connectivity(cohort.kind)
    matrices = [whole.of(name, settings).connectivity() for name in cohort.ids]
    blocks = module_blocks(np.stack(matrices), cohort.atlas.labelling(name))
    pairs = [
        (a, b)
        for a in range(len(blocks.modules))
        for b in range(a, len(blocks.modules))
        if a != b or blocks.n_regions[a] > 1  # a network of one region has no pair within
    ]
    return CohortFeatures(
        values=np.stack([blocks.values[:, a, b] for a, b in pairs], axis=1),
        names=tuple(f"{blocks.modules[a]} – {blocks.modules[b]}" for a, b in pairs),
        measured=f"{'Fisher-z' if cohort.kind.functional else cohort.kind.key} connectivity by "
        f"{LABELLINGS.get(name, name)}",
    )


def module_segregation(cohort: Cohort, summary: pd.DataFrame, *, whole: Measured | None = None) -> CohortFeatures:
    """How segregated each brain is: by its own modules and, where the atlas has labels, by functional networks.

    Features are the measures of modules that are ``compared``: the number of modules, Q, and system segregation (Chan
    et al. 2014), this of the subject's own modules and of each labelling. A subject brought as a matrix that holds no
    correlations has no segregation.

    Parameters
    ----------
    cohort : Cohort
    summary : DataFrame
        That of :class:`biobgt.results.tables.CohortModules`.
    whole : Measured, optional
        What was measured of these subjects.
    """
    whole = whole or Measured(cohort)
    summary = summary.set_index("subject").loc[list(cohort.ids)]
    columns: dict[str, FloatArray] = {}
    for measure in MODULE_MEASURES.values():
        if not measure.compared:
            continue
        if measure.needs == "labels":
            for name in cohort.atlas.labels:
                title = f"{measure.title}, {LABELLINGS.get(name, name)}"
                columns[title] = summary[measure.column(name)].to_numpy(float)
            continue
        own = summary.reindex(columns=[measure.key])[measure.key].to_numpy(float)
        if measure.needs == "partition":
            columns[measure.title] = own
            continue
        columns[f"{measure.title}, own modules"] = own
        for name in cohort.atlas.labels:
            columns[f"{measure.title}, {LABELLINGS.get(name, name)}"] = _of_networks(
                whole, cohort.ids, measure, name, own
            )
    return CohortFeatures(np.column_stack(list(columns.values())), tuple(columns), "modularity and segregation")


def _of_networks(
    whole: Measured, names: Sequence[str], measure: ModuleMeasure, labelling: str, own: FloatArray
) -> FloatArray:
    """A measure of the functional networks, shape (n_subjects,); NaN where it is not defined of the own modules."""
    labels = whole.atlas.labels[labelling]
    numbers = {label: i for i, label in enumerate(sorted({label for label in labels if label}), start=1)}
    systems = [numbers.get(label, 0) if label else 0 for label in labels]
    return np.array(
        [
            np.nan if np.isnan(known) else measure.compute(whole.of(name).pearson(), systems)
            for name, known in zip(names, own, strict=True)
        ]
    )


def regional_hubs(cohort: Cohort, tables: Mapping[str, pd.DataFrame], measure: str = NE) -> CohortFeatures:
    """One hub measure in every region, a column of :func:`biobgt.hubs.hub_table`.

    Parameters
    ----------
    cohort : Cohort
    tables : mapping of str to DataFrame
        Hub tables by the subjects' ids.
    measure : str
        A key of :data:`biobgt.hubs.HUB_MEASURES`.

    Returns
    -------
    CohortFeatures
        One feature per region, values of shape (n_subjects, n_regions); NaN in the regions that a subject lacks.
    """
    title = HUB_MEASURES.named(measure).title
    values = np.stack([tables[name][measure].to_numpy(float) for name in cohort.ids])
    for row, subject in zip(values, cohort, strict=True):
        row[list(subject.silent_regions)] = np.nan
    return CohortFeatures(values, tuple(cohort.atlas.regions), f"{cohort.kind.named(title)} of each region")


def compare_features(
    cohort: Cohort,
    features: CohortFeatures,
    between: tuple[str, str],
    *,
    covariates: pd.DataFrame | None = None,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> GroupComparison:
    """Compare two groups of a cohort in every feature; see :func:`biobgt.groups.compare_groups`.

    Parameters
    ----------
    cohort : Cohort
    features : CohortFeatures
        Of the cohort's subjects, in their order.
    between : (str, str)
        Controls and patients; a positive difference is higher in the second.
    covariates : DataFrame, n_subjects rows, optional
        In the order of the cohort, see :func:`biobgt.groups.covariates_of`.
    permutations, seed : int

    Returns
    -------
    GroupComparison
        A note says where subjects are too few for a small p.
    """
    found = compare_groups(
        features.values,
        [subject.group for subject in cohort],
        subjects=cohort.persons,
        between=between,
        covariates=covariates,
        features=features.names,
        permutations=permutations,
        seed=seed,
    )
    ways = _ways_to_share_out(found.n_subjects[between[0]], found.n_subjects[between[1]])
    if ways >= permutations or found.covariates:
        return found
    few = (
        f"With so few subjects there are only {ways:,} ways to permute the groups, so p cannot be smaller than about "
        f"{1 / ways:.2g}."
    )
    return replace(found, notes=(*found.notes, few))


def _ways_to_share_out(first: int, second: int) -> int:
    """In how many ways people can form the two groups; of equal groups the exchanged ones count once."""
    ways = math.comb(first + second, first)
    return ways // 2 if first == second else ways


def comparison_rows(found: GroupComparison, *, simulated: bool) -> pd.DataFrame:
    """One row per feature that can stand alone: the test, n of both groups, covariates, permutations and seed.

    ``residual_degrees`` are those of the adjusted test, ``group_explained`` is the share of the group's variance that
    the covariates explain. The column ``simulated`` is that of the cohort.
    """
    table = found.table.copy()
    for place, (group, n) in enumerate(found.n_subjects.items(), start=1):
        table.insert(place, f"n_{group}", n)
    return table.assign(
        covariates=", ".join(found.covariates) or "none",
        residual_degrees=found.design.degrees,
        group_explained=found.design.explained,
        permutations=found.permutations,
        seed=found.seed,
        simulated=simulated,
    )


def _labelling(atlas: Atlas, name: str | None) -> str:
    if name is None and not atlas.labels:
        raise InputError(f"Atlas {atlas.name} has no functional labels, so there are no networks to compare.")
    return next(iter(atlas.labels)) if name is None else name


# Two groups of a measured cohort compared, subject by subject, each result once.
#
# A comparison is planned before anything is measured: :func:`plan_comparison` finds the people, counts what covariates
# take and refuses what cannot be compared. The page and its figures then measure one subject after the other, and the
# command line many at once; :func:`biobgt.groups.features.compare_features` tests both alike.


@dataclass(frozen=True, eq=False)
class PlannedComparison:
    """What is known of a comparison before anything is measured.

    Attributes
    ----------
    cohort : Cohort
        The subjects of the two groups.
    covariates : Covariates
        One row per recording.
    people : ComparedPeople
    """

    cohort: Cohort
    covariates: Covariates
    people: ComparedPeople

    @property
    def covariates_sha256(self) -> str:
        """SHA-256 of what is adjusted for; empty where that is nothing."""
        table = self.covariates.table
        return sha256(write_csv(table, lineterminator="\n").encode()).hexdigest() if table.shape[1] else ""


def plan_comparison(cohort: Cohort, options: ComparisonOptions) -> PlannedComparison:
    """Find who is compared, adjusted for what; whether that can be done, ``check_design`` of the people's design says.

    Covariates have no part in a comparison of modules.
    """
    chosen = two_groups(cohort, options.groups)
    named = options.named_covariates
    if options.of == MODULES:
        if named:
            raise InputError(
                "The test of modules permutes the groups of people and cannot adjust for covariates. Leave them out."
            )
        named = ()
    known = complete_covariates(
        chosen.table(), named, without=options.without, leave_out_incomplete=options.leave_out_incomplete
    )
    people = compared_people(
        [subject.group for subject in chosen], subjects=chosen.persons, between=options.groups, covariates=known.table
    )
    return PlannedComparison(chosen, known, people)


def subject_features(measured: Measured, options: ComparisonOptions) -> CohortFeatures:
    """What one subject brings to a comparison, values of shape (1, n_features)."""
    function, *asked = _question(options)
    return function(measured, *asked)


def has_features(measured: Measured, options: ComparisonOptions) -> bool:
    """Whether the same is kept."""
    function, *asked = _question(options)
    return measured.is_kept(function, *asked)


def _question(options: ComparisonOptions) -> tuple[Callable[..., CohortFeatures], *tuple[Any, ...]]:
    """Which features are measured, and of what they depend; connectivity between networks not on the graph."""
    if options.of == NETWORKS:
        return _subject_networks, options.labelling
    if options.of == HUBS:
        return _subject_hubs, options.part(EntanglementOptions), options.measure
    return _subject_segregation, options.part(ModuleOptions)


@kept(most=6000, graph=False)  # two numbers per pair of networks
def _subject_networks(measured: Measured, labelling: str) -> CohortFeatures:
    return network_connectivity(_alone(measured), labelling or None, whole=measured)


@kept(most=6000)  # two numbers per region
def _subject_hubs(measured: Measured, options: EntanglementOptions, measure: str) -> CohortFeatures:
    table = pd.DataFrame({measure: measured.hub_values(options, measure)})
    return regional_hubs(_alone(measured), {measured.subject.id: table}, measure)


@kept(most=6000)
def _subject_segregation(measured: Measured, options: ModuleOptions) -> CohortFeatures:
    summary = pd.DataFrame([{"subject": measured.subject.id, **measured.modules(options).measures}])
    return module_segregation(_alone(measured), summary, whole=measured)


def _alone(measured: Measured) -> Cohort:
    return measured.cohort.select(lambda one: one.id == measured.subject.id)


def compare_measured(
    measured: Measured, options: ComparisonOptions, known: Sequence[CohortFeatures] = ()
) -> tuple[str, GroupComparison]:
    """Compare two groups of a measured cohort: in which features, in words, and how they differ.

    Parameters
    ----------
    measured : Measured
        The cohort with one kind of graph; subjects that were not measured yet are.
    options : ComparisonOptions
        Of anything but modules, which :meth:`biobgt.results.measured.Measured.module_difference` compares.
    known : sequence of CohortFeatures, optional
        The :func:`subject_features` of everybody compared, in their order, where other processes measured them.
    """
    planned = plan_comparison(measured.cohort, options)
    if options.covariates_sha256 not in ("", planned.covariates_sha256):
        raise InputError(
            f"The covariates of '{measured.cohort.name}' are not those that the figure was adjusted for: values, "
            "subjects or columns differ. Bring the same table of phenotypes, or compare the groups anew."
        )
    options = replace(options, covariates_sha256="")
    each = known or [subject_features(measured.of(name), options) for name in planned.cohort.ids]
    features = CohortFeatures(np.vstack([one.values for one in each]), each[0].names, each[0].measured)
    return features.measured, _comparison(measured, options, planned, features)


@kept(
    "Permuting the groups…",
    most=16,
    subject=False,
    # Groups and phenotypes may change while results are kept.
    by=lambda measured, options, planned, features: (
        options,
        tuple((subject.id, subject.group) for subject in planned.cohort),
        write_csv(planned.covariates.table),
    ),
)
def _comparison(
    measured: Measured, options: ComparisonOptions, planned: PlannedComparison, features: CohortFeatures
) -> GroupComparison:
    return compare_features(
        planned.cohort,
        features,
        options.groups,
        covariates=planned.covariates.table,
        permutations=options.n_permutations,
        seed=options.seed,
    )
