"""What two groups of a cohort are compared in, and the comparison of a measured cohort or of attention.

A comparison is planned before anything is measured: :func:`plan_comparison` finds the people, counts what covariates
take and refuses what cannot be compared. :func:`subject_features` makes a row of numbers per subject, one after the
other on the page and many at once on the command line; :func:`compare_features` puts them to the test of
:func:`biobgt.groups.compare_groups`, and :meth:`biobgt.groups.GroupComparison.rows` makes of it a table that says all
that a reader must know. Several recordings of one person are averaged before the test.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.beyond import DEGREE, MODULE_SIZE, OVERALL
from biobgt.base.errors import InputError
from biobgt.base.files import write_csv
from biobgt.base.kept import kept
from biobgt.base.wording import counted
from biobgt.data.atlas import LABELLINGS
from biobgt.data.cohort import FEWEST_COMPARED, Cohort
from biobgt.data.connectivity import fisher_z
from biobgt.data.graph import PEARSON, ConnectivityKind, ConnectomeSettings
from biobgt.data.quality import OVERALL_CONNECTIVITY
from biobgt.groups.compare import (
    HUBS,
    MODULES,
    NETWORKS,
    PERMUTATIONS,
    SEGREGATION,
    ComparisonOptions,
    GroupComparison,
    check_groups,
    compare_groups,
)
from biobgt.hubs.agreement import strength_and_degree
from biobgt.hubs.measures import HUB_MEASURES, EntanglementOptions
from biobgt.inference.covariates import ComparedPeople, Covariates, compared_people, complete_covariates
from biobgt.model.attention import connectivity_attention
from biobgt.modules.measures import MODULE_MEASURES, ModuleOptions
from biobgt.modules.partition import ModuleBlocks, ModuleLabels, module_blocks, module_contrast, module_sizes
from biobgt.results.measured import Measured


def whole_connectivity(kind: ConnectivityKind) -> ConnectomeSettings:
    """The settings in which networks are compared, whatever graphs are made elsewhere; correlations as Fisher z."""
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
    given : ndarray, shape (n_subjects, n_features, n_simpler), or None
        What is simpler than each feature; None where nothing is.
    simpler : tuple of str
        What these are, of :data:`biobgt.base.beyond.SIMPLER`.
    """

    values: FloatArray
    names: tuple[str, ...]
    measured: str
    given: FloatArray | None = None
    simpler: tuple[str, ...] = ()

    @classmethod
    def of_all(cls, each: "Sequence[CohortFeatures]") -> "CohortFeatures":
        """Those of several subjects, in their order."""
        given = [one.given for one in each if one.given is not None]
        together = np.concatenate(given) if given else None
        return replace(each[0], values=np.vstack([one.values for one in each]), given=together)


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
    """Find who is compared, adjusted for what; whether that can be done, the people's design says.

    Covariates have no part in a comparison of modules.
    """
    if not cohort.group_sizes:
        raise InputError(f"No subject of '{cohort.name}' has a group. Name a table of groups with --phenotypes.")
    check_groups(options.groups, cohort.group_sizes)
    chosen = cohort.select(lambda subject: subject.group in options.groups)
    for name in options.groups:
        n_persons = len(set(chosen.group(name).persons))
        if n_persons < FEWEST_COMPARED:
            raise InputError(
                f"Group '{name}' has {counted(n_persons, 'subject')}; a comparison needs {FEWEST_COMPARED} in each "
                "group."
            )
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
    """What one subject brings to a comparison, values of shape (1, n_features), with what is simpler than they are."""
    function, *asked = _question(options)
    found: CohortFeatures = function(measured, *asked)
    simpler = _simpler(options)
    if not simpler:
        return found
    given = [simpler_quantity(measured, key, options.part(ModuleOptions)) for key in simpler]
    together = np.stack([np.broadcast_to(one, found.values.shape[1:]) for one in given], axis=-1)
    return replace(found, given=together[None], simpler=simpler)


def has_features(measured: Measured, options: ComparisonOptions) -> bool:
    """Whether the same is kept."""
    function, *asked = _question(options)
    known = [measured.is_kept(function, *asked)]
    if MODULE_SIZE in _simpler(options):
        known.append(measured.is_kept(Measured.module_labels, options.part(ModuleOptions)))
    return all(known)


def _simpler(options: ComparisonOptions) -> tuple[str, ...]:
    """What is simpler than the features; nothing is simpler than connectivity."""
    if options.of == HUBS:
        return HUB_MEASURES.named(options.measure).simpler
    if options.of != SEGREGATION:
        return ()
    return tuple(dict.fromkeys(key for one in MODULE_MEASURES.values() if one.compared for key in one.simpler))


def simpler_quantity(measured: Measured, key: str, options: ModuleOptions) -> FloatArray:
    """What is simpler than a measure of one subject, shape (n_regions,), or () of the whole brain.

    Parameters
    ----------
    measured : Measured
        Of one subject.
    key : str
        Of :data:`biobgt.base.beyond.SIMPLER`.
    options : ModuleOptions
        How modules are found, whose sizes are asked for; a region in none has the size 0.
    """
    if key == OVERALL:
        return np.asarray(measured.mean_connectivity()[1])
    if key == MODULE_SIZE:
        found = module_sizes(np.array(measured.module_labels(options)))
    else:
        found = strength_and_degree(measured.graph())[int(key == DEGREE)]
    found[list(measured.subject.silent_regions)] = np.nan
    return found


def _question(options: ComparisonOptions) -> tuple[Callable[..., CohortFeatures], *tuple[Any, ...]]:
    """Which features are measured, and of what they depend; connectivity between networks not on the graph."""
    if options.of == NETWORKS:
        return _network_connectivity, options.labelling
    if options.of == HUBS:
        return regional_hubs, options.part(EntanglementOptions), options.measure
    return segregation_features, options.part(ModuleOptions)


@kept(most=6000, graph=False)  # some numbers each
def _network_connectivity(measured: Measured, labelling: str) -> CohortFeatures:
    """Mean connectivity, of correlations Fisher z, within every functional network and between every two."""
    atlas, kind = measured.atlas, measured.cohort.kind
    if not labelling and not atlas.labels:
        raise InputError(f"Atlas {atlas.name} has no functional labels, so there are no networks to compare.")
    name = labelling or next(iter(atlas.labels))
    matrix = measured.of(measured.subject.id, whole_connectivity(kind)).connectivity()
    blocks = module_blocks(matrix[None], atlas.labelling(name))
    first, second = _module_pairs(blocks)
    return CohortFeatures(
        values=blocks.values[:, first, second],
        names=tuple(f"{blocks.modules[a]} – {blocks.modules[b]}" for a, b in zip(first, second, strict=True)),
        measured=f"{'Fisher-z' if kind.functional else kind.key} connectivity by {LABELLINGS.get(name, name)}",
    )


@kept(most=6000)
def regional_hubs(measured: Measured, options: EntanglementOptions, measure: str) -> CohortFeatures:
    """One hub measure in every region, a column of :func:`biobgt.hubs.hub_table`; NaN in regions without signal.

    Parameters
    ----------
    measured : Measured
        Of one subject.
    options : EntanglementOptions
    measure : str
        Of :data:`biobgt.hubs.HUB_MEASURES`.
    """
    title = measured.cohort.kind.named(HUB_MEASURES.named(measure).title)
    values = measured.hub_values(options, measure).copy()
    values[list(measured.subject.silent_regions)] = np.nan
    return CohortFeatures(values[None], tuple(measured.atlas.regions), f"{title} of each region")


@kept(most=6000)
def segregation_features(measured: Measured, options: ModuleOptions) -> CohortFeatures:
    """How segregated the brain is: by its own modules and, where the atlas has labels, by functional networks.

    Features are the measures of modules that are ``compared``: the number of modules, Q, and system segregation (Chan
    et al. 2014), this of the subject's own modules and of each labelling. A subject brought as a matrix that holds no
    correlations has no segregation.
    """
    own, labels = measured.modules(options).measures, measured.atlas.labels
    found: dict[str, float] = {}
    for measure in (one for one in MODULE_MEASURES.values() if one.compared):
        by_network = {name: f"{measure.title}, {LABELLINGS.get(name, name)}" for name in labels}
        value = own.get(measure.key, np.nan)
        if measure.needs == "labels":
            found |= {title: own[f"{measure.key} {name}"] for name, title in by_network.items()}
        elif measure.needs == "partition":
            found[measure.title] = value
        else:
            found[f"{measure.title}, own modules"] = value
            for name, title in by_network.items():
                numbers = {label: i for i, label in enumerate(sorted(set(filter(None, labels[name]))), start=1)}
                systems = [numbers.get(label or "", 0) for label in labels[name]]
                found[title] = np.nan if np.isnan(value) else measure.compute(measured.pearson(), systems)
    return CohortFeatures(np.array([list(found.values())], dtype=float), tuple(found), "modularity and segregation")


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
        given=features.given,
        simpler=features.simpler,
        features=features.names,
        permutations=permutations,
        seed=seed,
    )
    first, second = found.n_subjects.values()
    ways = math.comb(first + second, first) // (2 if first == second else 1)  # equal groups can be exchanged
    if ways >= permutations or found.covariates:
        return found
    few = (
        f"With so few subjects there are only {ways:,} ways to permute the groups, so p cannot be smaller than about "
        f"{1 / ways:.2g}."
    )
    return replace(found, notes=(*found.notes, few))


def compare_planned(
    planned: PlannedComparison, features: CohortFeatures, options: ComparisonOptions
) -> GroupComparison:
    """Compare the people that were planned for, adjusted for what was planned.

    Parameters
    ----------
    planned : PlannedComparison
    features : CohortFeatures
        Of the planned subjects, in their order.
    options : ComparisonOptions
    """
    return compare_features(
        planned.cohort,
        features,
        options.groups,
        covariates=planned.covariates.table,
        permutations=options.n_permutations,
        seed=options.seed,
    )


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
    features = CohortFeatures.of_all(each)
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
    return compare_planned(planned, features, options)


# Attention of two groups, compared between functional modules, with overall connectivity adjusted for and without.
#
# Attention is made from connectivity. Beside every test stands that of the connectivity (FC) of the same block, and
# the test given it: what attention shows that FC of the same regions does not.


@dataclass(frozen=True, eq=False)
class AttentionComparison:
    """Attention of two groups compared between modules, and in how closely it keeps to them.

    Attributes
    ----------
    blocks : GroupComparison
        A feature for each pair of modules; the table also says ``module`` and ``other_module``. Symmetric matrices have
        each pair once; of others, ``module`` is the one that looks and ``other_module`` the one looked at. Where
        connectivity was given, columns that end in ``_of_fc`` are of its mean Fisher z in the same block, and in
        ``_given_fc`` of attention given that.
    contrast : GroupComparison
        One feature, the mean within modules over the mean between them: a question of its own, so not one of
        the family of blocks. Beside it stands that of :func:`biobgt.model.attention.connectivity_attention`.
    without_connectivity : AttentionComparison or None
        The same, not adjusted for overall connectivity; None where that was not given.
    """

    blocks: GroupComparison
    contrast: GroupComparison
    without_connectivity: "AttentionComparison | None" = None


def compare_attention(
    matrices: ArrayLike,
    labels: ModuleLabels,
    groups: Sequence[str | None],
    *,
    subjects: Sequence[str],
    overall_connectivity: ArrayLike | None,
    connectivity: ArrayLike | None = None,
    between: tuple[str, str] = ("NC", "ASD"),
    covariates: pd.DataFrame | None = None,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> AttentionComparison:
    """Compare two groups' attention, or connectivity, between functional modules.

    Parameters
    ----------
    matrices : array-like, shape (n_rows, n_regions, n_regions)
        A matrix a row: one layer and head, or their mean.
    labels : sequence of str or None, length n_regions
        See :func:`biobgt.modules.module_blocks`.
    overall_connectivity : array-like, shape (n_rows,), or None
        Mean |FC| of each row (:func:`biobgt.inference.covariates.overall_connectivity`), adjusted for besides the
        covariates: attention differs where connectivity is stronger overall. None for matrices that are connectivity.
    connectivity : array-like, shape (n_rows, n_regions, n_regions), or None
        Correlations of the same rows, to set FC of the same block beside each test.
    groups, subjects, between, covariates, permutations, seed
        See :func:`compare_groups`.

    Returns
    -------
    AttentionComparison
    """
    how: dict[str, Any] = {"subjects": subjects, "between": between, "permutations": permutations, "seed": seed}
    if overall_connectivity is not None:
        known = pd.DataFrame({OVERALL_CONNECTIVITY: np.asarray(overall_connectivity, dtype=np.float64)})
        if covariates is not None:
            known = pd.concat([known, covariates.reset_index(drop=True)], axis=1)
        how |= {"overall_connectivity": None, "connectivity": connectivity}
        adjusted, without = (
            compare_attention(matrices, labels, groups, covariates=one, **how) for one in (known, covariates)
        )
        return replace(adjusted, without_connectivity=without)
    blocks = module_blocks(matrices, labels)
    symmetric = np.allclose(blocks.values, blocks.values.swapaxes(1, 2), rtol=1e-4, atol=0, equal_nan=True)
    first, second = _module_pairs(blocks, once=symmetric)
    if not len(first):
        raise InputError("There is no pair of regions with modules to compare; choose labels that cover more regions.")
    of_blocks = of_contrast = None
    if connectivity is not None:
        correlations = np.asarray(connectivity)
        of_blocks = module_blocks([fisher_z(own) for own in correlations], labels).values[:, first, second]
        of_contrast = module_contrast([connectivity_attention(own) for own in correlations], labels)[:, None]
    modules, arrow = np.array(blocks.modules), "–" if symmetric else "→"
    names = [f"{a} {arrow} {b}" for a, b in zip(modules[first], modules[second], strict=True)]
    how |= {"groups": groups, "covariates": covariates}
    by_block = compare_groups(blocks.values[:, first, second], connectivity=of_blocks, features=names, **how)
    table = by_block.table.copy()
    table.insert(1, "module", modules[first])
    table.insert(2, "other_module", modules[second])
    ratio = module_contrast(matrices, labels)[:, None]
    contrast = compare_groups(ratio, connectivity=of_contrast, features=["within / between modules"], **how)
    return AttentionComparison(replace(by_block, table=table), contrast)


def _module_pairs(blocks: ModuleBlocks, *, once: bool = True) -> tuple[NDArray[np.intp], ...]:
    """Places of the pairs of modules that have pairs of regions, each of two modules once or in both directions."""
    pairs = np.ones((len(blocks.modules),) * 2, dtype=bool)
    np.fill_diagonal(pairs, np.array(blocks.n_regions) > 1)  # a module of one region has no pair within
    return np.nonzero(np.triu(pairs) if once else pairs)
