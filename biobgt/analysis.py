"""Hubs and modules of every subject of a cohort, in parallel, with what they say of groups.

The command line and the app both come here, so that a table made in the browser can be made again in a script. Each
subject is one job for :mod:`biobgt.scale`; groups are put together from the subjects' results.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.cohort import Cohort, Subject, person_of
from biobgt.connectome import cohort_graphs, is_correlation, subject_connectivity
from biobgt.errors import InputError
from biobgt.graph import BrainGraph, ConnectomeSettings
from biobgt.hubs import HUB_METRICS, gamma_unit, hub_table, rank_agreement, summarise_plausibility
from biobgt.hubs.evidence import agreement_beyond_strength
from biobgt.hubs.perturbation import Perturbation
from biobgt.hubs.split_half import compare_halves, half_hubs, why_not_split
from biobgt.hubs.sweep import REFERENCES
from biobgt.hubs.table import HubRule
from biobgt.modules import (
    UNASSIGNED,
    Partition,
    combine_partitions,
    consensus_modules,
    louvain_modules,
    match_modules,
    module_agreement,
    node_roles,
    segregation,
)
from biobgt.modules.difference import partitions_by_person
from biobgt.modules.partition import module_labels
from biobgt.nulls import check_seed
from biobgt.people import average_by_person
from biobgt.scale import map_subjects

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class HubOptions:
    """How hubs are measured; γ is in units of 1/mean(λ) of each graph.

    ``nulls`` null graphs test whether NE agrees with NEff beyond strength and degree, and ``halves`` measures both
    halves of each recording as well; either takes as long as the hubs themselves, for each null graph and each half.
    """

    gamma: float = 0.5
    perturbation: Perturbation = "control"
    rule: HubRule = "top"
    share: float = 0.1
    seed: int = 0
    nulls: int = 0
    halves: bool = False

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if self.nulls < 0:
            raise InputError(f"The number of null graphs is {self.nulls}; it must be 0 or more.")
        if not self.gamma > 0:
            raise InputError(f"The diffusion time γ is {self.gamma}; it must be above zero.")

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for provenance."""
        return asdict(self)


@dataclass(frozen=True)
class ModuleOptions:
    """How modules are found: the best of ``runs``, or their ``consensus``; negative weights count if ``signed``."""

    resolution: float = 1.0
    runs: int = 10
    hub_z: float = 2.5
    seed: int = 0
    consensus: bool = False
    signed: bool = True

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for provenance."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class CohortHubs:
    """Hubs of a cohort.

    Attributes
    ----------
    tables : mapping of str to DataFrame
        Each subject's :func:`biobgt.hubs.hub_table`.
    groups : DataFrame
        One row per group and region: mean and SD of each measure over people, and the share of people's recordings in
        which it is a hub; a person's recordings are averaged first.
    agreement : DataFrame
        One row a subject and reference (node efficiency, FC strength): Spearman, Kendall, overlap of hubs, and
        ``partial``, Spearman given strength and degree, with its range in null graphs and p where these were drawn.
    summary : DataFrame
        The same over subjects, with bootstrap intervals.
    halves : DataFrame
        One row per subject and measure: how alike the halves of its recording are, see
        :func:`biobgt.hubs.split_half.compare_halves`, or in ``why_not`` why they were not measured. Empty where
        halves were not asked for.
    """

    tables: Mapping[str, pd.DataFrame]
    groups: pd.DataFrame
    agreement: pd.DataFrame
    summary: pd.DataFrame
    halves: pd.DataFrame


@dataclass(frozen=True, eq=False)
class SubjectModules:
    """Modules of one subject: the partition, every region's role, and one number a measure."""

    partition: Partition
    roles: pd.DataFrame
    measures: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class CohortModules:
    """Modules of a cohort.

    Attributes
    ----------
    partitions : mapping of str to Partition
    roles : mapping of str to DataFrame
        Each subject's :func:`biobgt.modules.node_roles`.
    summary : DataFrame
        One row a subject: number of modules, Q, agreement with each functional labelling, segregation.
    groups : DataFrame
        One row a region: each group's consensus module, numbered alike across groups.
    """

    partitions: Mapping[str, Partition]
    roles: Mapping[str, pd.DataFrame]
    summary: pd.DataFrame
    groups: pd.DataFrame


def analyse_hubs(
    cohort: Cohort,
    settings: ConnectomeSettings | None = None,
    options: HubOptions | None = None,
    *,
    workers: int | None = 1,
    scheduler: str | None = None,
    progress: Progress | None = None,
    tell: Callable[[str], None] | None = None,
) -> CohortHubs:
    """Measure the hubs of every subject."""
    settings, options = settings or ConnectomeSettings(), options or HubOptions()
    job = partial(_subject_hubs, options=options)
    results = map_subjects(
        job, _graphs(cohort, settings), workers=workers, scheduler=scheduler, progress=progress, tell=tell
    )
    tables = {subject.id: found.table for subject, found in zip(cohort, results, strict=True)}
    agreement = pd.concat([found.agreement for found in results], ignore_index=True)
    summary = _agreement_summary(agreement, options)
    halves = pd.concat([found.halves for found in results], ignore_index=True)
    return CohortHubs(tables, _group_hubs(cohort, tables), agreement, summary, halves)


def analyse_modules(
    cohort: Cohort,
    settings: ConnectomeSettings | None = None,
    options: ModuleOptions | None = None,
    *,
    workers: int | None = 1,
    scheduler: str | None = None,
    progress: Progress | None = None,
    tell: Callable[[str], None] | None = None,
) -> CohortModules:
    """Find the modules of every subject and of every group."""
    settings, options = settings or ConnectomeSettings(), options or ModuleOptions()
    job = partial(_subject_modules, options=options)
    results = map_subjects(
        job, _graphs(cohort, settings), workers=workers, scheduler=scheduler, progress=progress, tell=tell
    )
    found = dict(zip(cohort.ids, results, strict=True))
    partitions = {name: modules.partition for name, modules in found.items()}
    summary = [{"subject": subject.id, "group": subject.group, **found[subject.id].measures} for subject in cohort]
    return CohortModules(
        partitions=partitions,
        roles={name: modules.roles for name, modules in found.items()},
        summary=pd.DataFrame(summary),
        groups=_group_modules(cohort, partitions, options),
    )


def measure_modules(
    graph: BrainGraph, connectivity: NDArray[np.float64], options: ModuleOptions | None = None
) -> SubjectModules:
    """Find one subject's modules and measure them.

    Parameters
    ----------
    graph : BrainGraph
    connectivity : ndarray, shape (n_regions, n_regions)
        The full Pearson matrix behind it, for segregation.
    options : ModuleOptions, optional

    Returns
    -------
    SubjectModules
        Its measures are ``modules``, ``q``, ``unassigned regions``; ``ami``, ``ari`` and ``vi`` with the name of each
        labelling of the atlas; and ``system segregation`` where the connectivity holds correlations.
    """
    options = options or ModuleOptions()
    graph = graph_for_modules(graph, options)
    partition = find_modules(graph, options)
    measures: dict[str, float] = {
        "modules": partition.n_modules,
        "q": partition.q,
        "unassigned regions": int(np.count_nonzero(partition.labels == UNASSIGNED)),
    }
    for name in graph.atlas.labels:
        agreement = module_agreement(partition, graph.atlas, name)
        measures |= {f"ami {name}": agreement.ami, f"ari {name}": agreement.ari, f"vi {name}": agreement.vi}
    if is_correlation(connectivity):  # segregation is on Fisher z, which only correlations have
        measures["system segregation"] = segregation(connectivity, partition).system_segregation
    return SubjectModules(partition, node_roles(graph, partition, hub_z=options.hub_z), measures)


def graph_for_modules(graph: BrainGraph, options: ModuleOptions) -> BrainGraph:
    """The graph in which modules are sought: without its negative weights, unless these are to count."""
    return graph if options.signed else replace(graph, weights=np.maximum(graph.weights, 0))


def find_modules(graph: BrainGraph, options: ModuleOptions) -> Partition:
    """The best of Louvain's runs on a graph, or the consensus of all of them."""
    find = consensus_modules if options.consensus else louvain_modules
    return find(graph_for_modules(graph, options), resolution=options.resolution, runs=options.runs, seed=options.seed)


@dataclass(frozen=True, eq=False)
class _GraphOfSubject:
    """A graph with the full connectivity behind it."""

    graph: BrainGraph
    connectivity: NDArray[np.float64]
    subject: Subject


@dataclass(frozen=True, eq=False)
class _SubjectHubs:
    """One subject's hub table, its agreement, and how alike the halves of its recording are."""

    table: pd.DataFrame
    agreement: pd.DataFrame
    halves: pd.DataFrame


def _graphs(cohort: Cohort, settings: ConnectomeSettings) -> list[_GraphOfSubject]:
    if not len(cohort):
        raise InputError("The cohort is empty.")
    graphs = cohort_graphs(cohort, settings)
    return [_GraphOfSubject(graph, _full(subject), subject) for graph, subject in zip(graphs, cohort, strict=True)]


def _full(subject: Subject) -> NDArray[np.float64]:
    """FC strength and segregation are on the Pearson matrix, as in the paper, whatever the graph is made of."""
    return subject_connectivity(subject)


def _subject_hubs(item: _GraphOfSubject, *, options: HubOptions) -> _SubjectHubs:
    table = hub_table(
        item.graph,
        connectivity=item.connectivity,
        gamma=options.gamma * gamma_unit(item.graph),
        perturbation=options.perturbation,
        rule=options.rule,
        share=options.share,
    )
    has_signal = np.asarray((item.connectivity - np.diag(np.diag(item.connectivity))).any(axis=1))
    entanglement = table.loc[has_signal, "node_entanglement"].to_numpy(float)
    beyond = agreement_beyond_strength(
        item.graph,
        table,
        has_signal=has_signal,
        gamma=options.gamma,
        perturbation=options.perturbation,
        n_nulls=options.nulls,
        seed=options.seed,
    )
    rows = []
    for column, reference in REFERENCES.items():
        measures = rank_agreement(entanglement[None], table.loc[has_signal, column].to_numpy(float), top=options.share)
        plain = {name: float(values[0]) for name, values in measures.items()}
        rows.append({"reference": reference, **plain, **beyond[reference]})
    settings = item.graph.settings
    where = {
        "subject": item.graph.subject,
        "level": settings.level if settings else np.nan,
        "null": 0,
        "n_regions": int(has_signal.sum()),
        "perturbation": options.perturbation,
        "signed": False,
        "gamma": options.gamma,
    }
    agreement = pd.DataFrame([{**where, **row} for row in rows])
    return _SubjectHubs(table, agreement, _subject_halves(item, options) if options.halves else pd.DataFrame())


def _subject_halves(item: _GraphOfSubject, options: HubOptions) -> pd.DataFrame:
    """How alike the halves of one recording are, or why they were not measured."""
    graph, subject = item.graph, item.subject
    if reason := why_not_split(subject, graph.settings):
        return pd.DataFrame([{"subject": subject.id, "why_not": reason}])
    first, second = half_hubs(subject, graph.atlas, graph.settings, perturbation=options.perturbation)
    table = compare_halves(first, second, options.gamma, measures=list(HUB_METRICS), top=options.share)
    return table.assign(subject=subject.id, why_not="")[["subject", *table.columns, "why_not"]]


def _agreement_summary(agreement: pd.DataFrame, options: HubOptions) -> pd.DataFrame:
    """Means over subjects with intervals; the partial correlation is summarised as Spearman's is."""
    columns = ["reference", "measure", "mean", "sd", "low", "high", "n_subjects"]
    whole = summarise_plausibility(agreement, seed=options.seed)[columns]
    partial = summarise_plausibility(agreement.assign(spearman=agreement["partial"]), seed=options.seed)[columns]
    given = partial[partial["measure"] == "spearman"].assign(measure="partial")
    return pd.concat([whole, given], ignore_index=True)


def _subject_modules(item: _GraphOfSubject, *, options: ModuleOptions) -> SubjectModules:
    return measure_modules(item.graph, item.connectivity, options)


def _group_hubs(cohort: Cohort, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    frames = []
    for group, members in _members(cohort).items():
        persons = [person_of(name) for name in members]
        n_people = len(set(persons))
        frame = pd.DataFrame({"group": group, "n_subjects": n_people, "n_recordings": len(members)}, index=range(1))
        frame = frame.merge(pd.DataFrame({"region": cohort.atlas.regions}), how="cross")
        for metric in HUB_METRICS:
            recorded = np.stack([tables[name][metric].to_numpy(float) for name in members])
            hubs = np.stack([tables[name][f"{metric}_hub"].to_numpy(float) for name in members])
            values = average_by_person(recorded, persons)
            frame[f"{metric}_mean"] = values.mean(axis=0)
            frame[f"{metric}_sd"] = values.std(axis=0, ddof=1) if n_people > 1 else np.nan
            frame[f"{metric}_hub_share"] = average_by_person(hubs, persons).mean(axis=0)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def _group_modules(cohort: Cohort, partitions: Mapping[str, Partition], options: ModuleOptions) -> pd.DataFrame:
    """Consensus of each group's people, numbered like the first one's."""
    frame = pd.DataFrame({"region": cohort.atlas.regions})
    reference = None
    for group, members in _members(cohort).items():
        recorded = [partitions[name] for name in members]
        own = partitions_by_person(recorded, [person_of(name) for name in members], seed=options.seed)
        consensus = own[0] if len(own) == 1 else combine_partitions(own, seed=options.seed)
        labels = module_labels(consensus) if reference is None else match_modules(consensus, reference)
        reference = labels if reference is None else reference
        frame[group] = labels
    return frame


def _members(cohort: Cohort) -> dict[str, list[str]]:
    """Ids by group; a cohort without groups is one group, 'all'."""
    groups = {group: list(cohort.group(group).ids) for group in cohort.group_sizes}
    return groups or {"all": list(cohort.ids)}
