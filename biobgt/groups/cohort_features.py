"""What two groups of a cohort can be compared in: connectivity between networks, segregation, hubs.

Each function makes a row of numbers a subject, in the cohort's order; :func:`compare_features` puts them to the test of
:func:`biobgt.groups.compare_groups` and :func:`comparison_rows` makes of it a table that says all that a reader must
know. Several recordings of one person are averaged before the test.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.atlas import LABELLINGS, Atlas
from biobgt.cohort import Cohort
from biobgt.errors import InputError
from biobgt.graph import PEARSON, ConnectivityKind, ConnectomeSettings
from biobgt.groups.comparison import GroupComparison, check_groups, compare_groups
from biobgt.groups.comparison_options import PERMUTATIONS
from biobgt.hubs.measures import HUB_MEASURES, NE
from biobgt.measured import MeasuredCohort
from biobgt.modules import module_blocks
from biobgt.modules.module_measures import MODULE_MEASURES, ModuleMeasure
from biobgt.people import FEWEST_COMPARED
from biobgt.wording import counted


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

    values: NDArray[np.float64]
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
    cohort: Cohort, labelling: str | None = None, *, whole: MeasuredCohort | None = None
) -> CohortFeatures:
    """Mean connectivity, of correlations Fisher z, within every functional network and between every two.

    Parameters
    ----------
    cohort : Cohort
    labelling : str, optional
        Of the atlas; its first one by default.
    whole : MeasuredCohort, optional
        What was measured of these subjects.
    """
    whole = whole or MeasuredCohort(cohort)
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


def module_segregation(cohort: Cohort, summary: pd.DataFrame, *, whole: MeasuredCohort | None = None) -> CohortFeatures:
    """How segregated each brain is: by its own modules and, where the atlas has labels, by functional networks.

    Features are the measures of modules that are ``compared``: the number of modules, Q, and system segregation (Chan
    et al. 2014), this of the subject's own modules and of each labelling. A subject brought as a matrix that holds no
    correlations has no segregation.

    Parameters
    ----------
    cohort : Cohort
    summary : DataFrame
        That of :class:`biobgt.cohort_tables.CohortModules`.
    whole : MeasuredCohort, optional
        What was measured of these subjects.
    """
    whole = whole or MeasuredCohort(cohort)
    summary = summary.set_index("subject").loc[list(cohort.ids)]
    columns: dict[str, NDArray[np.float64]] = {}
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
    whole: MeasuredCohort, names: Sequence[str], measure: ModuleMeasure, labelling: str, own: NDArray[np.float64]
) -> NDArray[np.float64]:
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
