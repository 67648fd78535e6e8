"""Two groups of a measured cohort compared, subject by subject, each result once.

A comparison is planned before anything is measured: :func:`plan_comparison` finds the people, counts what covariates
take and refuses what cannot be compared. The page and its figures then measure one subject after the other, and the
command line many at once; :func:`biobgt.groups.cohort_features.compare_features` tests both alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

import numpy as np
import pandas as pd

from biobgt.cohort import Cohort
from biobgt.errors import InputError
from biobgt.groups.cohort_features import (
    CohortFeatures,
    compare_features,
    module_segregation,
    network_connectivity,
    regional_hubs,
    two_groups,
)
from biobgt.groups.compared_people import ComparedPeople, compared_people
from biobgt.groups.comparison import GroupComparison
from biobgt.groups.comparison_options import HUBS, MODULES, NETWORKS, ComparisonOptions
from biobgt.groups.covariates import Covariates, complete_covariates
from biobgt.hubs.hub_options import EntanglementOptions
from biobgt.kept_results import COMPARISON, FEATURES, Key
from biobgt.measured import Measured
from biobgt.modules.module_options import ModuleOptions
from biobgt.spreadsheets import write_csv


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
    return measured.whole.keep(_features_key(measured, options), lambda: _measure(measured, options))


def has_features(measured: Measured, options: ComparisonOptions) -> bool:
    """Whether the same is kept."""
    return measured.whole.store.get(_features_key(measured, options)) is not None


def compare_measured(
    measured: Measured, options: ComparisonOptions, known: Sequence[CohortFeatures] = ()
) -> tuple[str, GroupComparison]:
    """Compare two groups of a measured cohort: in which features, in words, and how they differ.

    Parameters
    ----------
    measured : Measured
        The cohort with one kind of graph; subjects that were not measured yet are.
    options : ComparisonOptions
        Of anything but modules, which :meth:`biobgt.measured.Measured.module_difference` compares.
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

    def compare() -> GroupComparison:
        return compare_features(
            planned.cohort,
            features,
            options.groups,
            covariates=planned.covariates.table,
            permutations=options.n_permutations,
            seed=options.seed,
        )

    # Groups and phenotypes may change while results are kept, so they are part of the key.
    who = tuple((subject.id, subject.group) for subject in planned.cohort)
    how = (options, who, write_csv(planned.covariates.table))
    return features.measured, measured.whole.keep(Key(COMPARISON, "", measured.settings, how), compare)


def _measure(measured: Measured, options: ComparisonOptions) -> CohortFeatures:
    subject = measured.subject
    alone = measured.cohort.select(lambda one: one.id == subject.id)
    if options.of == NETWORKS:
        return network_connectivity(alone, options.labelling or None, whole=measured.whole)
    if options.of == HUBS:
        table = pd.DataFrame({options.measure: measured.hub_values(options, options.measure)})
        return regional_hubs(alone, {subject.id: table}, options.measure)
    measures = measured.modules(options.part(ModuleOptions)).measures
    return module_segregation(alone, pd.DataFrame([{"subject": subject.id, **measures}]), whole=measured.whole)


def _features_key(measured: Measured, options: ComparisonOptions) -> Key:
    """What the features of a subject depend on: connectivity between networks not on the graph."""
    if options.of == NETWORKS:
        return Key(FEATURES, measured.subject.id, None, (NETWORKS, options.labelling))
    if options.of == HUBS:
        how = (HUBS, options.measure, options.part(EntanglementOptions))
        return Key(FEATURES, measured.subject.id, measured.settings, how)
    return Key(FEATURES, measured.subject.id, measured.settings, (options.of, options.part(ModuleOptions)))
