"""Tables of the hubs and modules of every subject of a cohort, made in parallel, and of its groups.

The command line and the studies come here. Each subject is one job for :mod:`biobgt.base.parallel`, which asks
:mod:`biobgt.results.measured`, as the app does; groups are put together from the subjects' results.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypedDict, TypeVar, Unpack

import numpy as np
import pandas as pd

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.base.kept import Store, warn_not_kept
from biobgt.base.parallel import map_subjects
from biobgt.data.cohort import Cohort, average_by_person, person_of
from biobgt.data.graph import ConnectomeSettings
from biobgt.hubs import rank_agreement, summarise_plausibility
from biobgt.hubs.agreement import REFERENCES, agreement_beyond_strength
from biobgt.hubs.measures import HUB_MEASURES, NE, HubAnalysisOptions
from biobgt.hubs.reliability import why_not_split
from biobgt.modules import Partition, combine_partitions, match_modules
from biobgt.modules.compare import partitions_by_person
from biobgt.modules.measures import ModuleOptions
from biobgt.modules.partition import module_labels
from biobgt.results.measured import Measured

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class _CohortHubs:
    """Hubs of a cohort.

    Attributes
    ----------
    tables : mapping of str to DataFrame
        Each subject's :func:`biobgt.hubs.hub_table`.
    groups : DataFrame
        One row per group and region: mean and SD of each measure over people, and the share of people's recordings in
        which it is a hub; a person's recordings are averaged first.
    agreement : DataFrame
        One row per subject and reference (node efficiency, FC strength): Spearman, Kendall, overlap of hubs, and
        ``partial``, Spearman given strength and degree, with its range in null graphs and p where these were drawn.
    summary : DataFrame
        The same over subjects, with bootstrap intervals.
    halves : DataFrame
        One row per subject and measure: how alike the halves of its recording are, see
        :func:`biobgt.hubs.reliability.compare_halves`, or in ``why_not`` why they were not measured. Empty where
        halves were not asked for.
    mean_connectivity : mapping of str to float
        Each subject's mean over all pairs of regions with signal.
    """

    tables: Mapping[str, pd.DataFrame]
    groups: pd.DataFrame
    agreement: pd.DataFrame
    summary: pd.DataFrame
    halves: pd.DataFrame
    mean_connectivity: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class _CohortModules:
    """Modules of a cohort.

    Attributes
    ----------
    partitions : mapping of str to Partition
    roles : mapping of str to DataFrame
        Each subject's :func:`biobgt.modules.node_roles`.
    summary : DataFrame
        One row per subject: the measures of :data:`biobgt.modules.measures.MODULE_MEASURES`.
    groups : DataFrame
        One row per region: each group's consensus module, numbered alike across groups.
    """

    partitions: Mapping[str, Partition]
    roles: Mapping[str, pd.DataFrame]
    summary: pd.DataFrame
    groups: pd.DataFrame


class Run(TypedDict, total=False):
    """Where a job runs, and whom it tells.

    Attributes
    ----------
    workers : int or None
        Processes, one by default; None takes all cores.
    scheduler : str or None
        Address of a Dask cluster that does the work instead.
    progress : callable or None
        Told (done, total) after each subject.
    tell : callable or None
        Told in a sentence what is going on.
    """

    workers: int | None
    scheduler: str | None
    progress: Callable[[int, int], None] | None
    tell: Callable[[str], None] | None


def analyse_hubs(
    cohort: Cohort,
    settings: ConnectomeSettings | None = None,
    options: HubAnalysisOptions | None = None,
    *,
    store: Store | None = None,
    **run: Unpack[Run],
) -> _CohortHubs:
    """Measure the hubs of every subject.

    Parameters
    ----------
    cohort : Cohort
    settings : ConnectomeSettings, optional
        How brain graphs are made; by default as is usual for the cohort's kind of connectivity.
    options : HubAnalysisOptions, optional
        What a hub is, and the diffusion times at which measures are compared.
    store : Store, optional
        Where results are kept, and found again: a :class:`biobgt.results.store.FolderStore`. By default nowhere.
    **run
        See :class:`Run`.
    """
    options = options or HubAnalysisOptions()
    results = measure_each(partial(_subject_hubs, options=options), cohort, settings, store=store, **run)
    subject_tables, agreements, halves, means = zip(*results, strict=True)
    agreement = pd.concat(agreements, ignore_index=True)
    tables = dict(zip(cohort.ids, subject_tables, strict=True))
    return _CohortHubs(
        tables=tables,
        groups=_group_hubs(cohort, tables),
        agreement=agreement,
        summary=_agreement_summary(agreement, options.seed),
        halves=pd.concat(halves, ignore_index=True),
        mean_connectivity=dict(zip(cohort.ids, means, strict=True)),
    )


def analyse_modules(
    cohort: Cohort,
    settings: ConnectomeSettings | None = None,
    options: ModuleOptions | None = None,
    *,
    store: Store | None = None,
    **run: Unpack[Run],
) -> _CohortModules:
    """Find the modules of every subject, and of every group.

    Parameters
    ----------
    cohort : Cohort
    settings : ConnectomeSettings, optional
        How brain graphs are made; by default as is usual for the cohort's kind of connectivity.
    options : ModuleOptions, optional
        How modules are found.
    store : Store, optional
        As for :func:`analyse_hubs`.
    **run
        See :class:`Run`.
    """
    options = options or ModuleOptions()
    results = measure_each(partial(Measured.modules, options=options), cohort, settings, store=store, **run)
    found = dict(zip(cohort.ids, results, strict=True))
    partitions = {name: modules.partition for name, modules in found.items()}
    summary = [{"subject": subject.id, "group": subject.group, **found[subject.id].measures} for subject in cohort]
    return _CohortModules(
        partitions=partitions,
        roles={name: modules.roles for name, modules in found.items()},
        summary=pd.DataFrame(summary),
        groups=_group_modules(cohort, partitions, options.seed),
    )


def measure_each(
    question: Callable[[Measured], Result],
    cohort: Cohort,
    settings: ConnectomeSettings | None = None,
    *,
    store: Store | None = None,
    **run: Unpack[Run],
) -> list[Result]:
    """Ask the same of every subject of a cohort and return the answers in its order.

    Parameters
    ----------
    question : callable
        Gets a subject with its graph; importable by name, since it runs in other processes.
    cohort : Cohort
    settings : ConnectomeSettings, optional
    store : Store, optional
        As for :func:`analyse_hubs`.
    **run
        See :class:`Run`.
    """
    if not len(cohort):
        raise InputError("The cohort is empty.")
    whole = Measured(cohort, store, settings=settings)
    tangent = whole.settings.estimator == "tangent"  # which depends on the whole cohort
    jobs = [
        (Cohort(cohort.name, (subject,), cohort.atlas), whole.of(subject.id).connectivity() if tangent else None)
        for subject in cohort
    ]
    run.setdefault("workers", 1)
    ask = partial(_ask, question=question, settings=whole.settings, store=store)
    answers = map_subjects(ask, jobs, **run)
    if (troubles := [trouble for _, trouble in answers if trouble]) and store is not None and not store.trouble:
        warn_not_kept(troubles[0])  # which other processes leave to this one
    return [answer for answer, _ in answers]


def _ask(
    job: tuple[Cohort, FloatArray | None],
    *,
    question: Callable[[Measured], Result],
    settings: ConnectomeSettings,
    store: Store | None,
) -> tuple[Result, str]:
    """The answer on the one subject of a cohort, whose tangent matrix is given, and why results are no longer kept."""
    alone, tangent = job
    one = Measured(alone, store, subject=alone.ids[0], settings=settings)
    if tangent is not None:
        one.store.put(one.key(Measured.connectivity_by, settings.estimator), tangent)
    return question(one), "" if store is None else store.trouble


def _subject_hubs(
    measured: Measured, *, options: HubAnalysisOptions
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, float]:
    """One subject's hub table, its agreement, how alike the halves of its recording are, and its mean connectivity."""
    table, has_signal = measured.hub_table(options), measured.hubs(options.perturbation).has_signal
    entanglement = table.loc[has_signal, NE].to_numpy(float)
    beyond = agreement_beyond_strength(
        measured.graph(),
        table,
        has_signal=has_signal,
        gamma=options.gamma,
        nulls=[
            measured.null_agreement(options.perturbation, seed, gammas=measured.gammas_with(options.gamma))
            for seed in range(options.seed, options.seed + options.nulls)
        ],
    )
    rows = []
    for column in REFERENCES:
        reference = HUB_MEASURES[column].title
        measures = rank_agreement(entanglement[None], table.loc[has_signal, column].to_numpy(float), top=options.share)
        plain = {name: float(values[0]) for name, values in measures.items()}
        rows.append({"reference": measured.kind.named(reference), **plain, **beyond[reference]})
    where = {
        "subject": measured.subject.id,
        "level": measured.settings.level,
        "null": 0,
        "n_regions": int(has_signal.sum()),
        "perturbation": options.perturbation,
        "signed": False,
        "gamma": options.gamma,
    }
    agreement = pd.DataFrame([{**where, **row} for row in rows])
    halves = _subject_halves(measured, options) if options.halves else pd.DataFrame()
    return table, agreement, halves, measured.mean_connectivity()[0]


def _subject_halves(measured: Measured, options: HubAnalysisOptions) -> pd.DataFrame:
    """How alike the halves of one recording are, or why they were not measured."""
    subject = measured.subject
    if reason := why_not_split(subject, measured.settings):
        return pd.DataFrame([{"subject": subject.id, "why_not": reason}])
    table = measured.halves_compared(options)
    return table.assign(subject=subject.id, why_not="")[["subject", *table.columns, "why_not"]]


def _agreement_summary(agreement: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Means over subjects with intervals; the partial correlation is summarised as Spearman's is."""
    columns = ["reference", "measure", "mean", "sd", "low", "high", "n_subjects"]
    whole = summarise_plausibility(agreement, seed=seed)[columns]
    partial = summarise_plausibility(agreement.assign(spearman=agreement["partial"]), seed=seed)[columns]
    given = partial[partial["measure"] == "spearman"].assign(measure="partial")
    return pd.concat([whole, given], ignore_index=True)


def _group_hubs(cohort: Cohort, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    frames = []
    for group, members in _members(cohort).items():
        persons = [person_of(name) for name in members]
        n_people = len(set(persons))
        frame = pd.DataFrame({"group": group, "n_subjects": n_people, "n_recordings": len(members)}, index=range(1))
        frame = frame.merge(pd.DataFrame({"region": cohort.atlas.regions}), how="cross")
        for metric in HUB_MEASURES:
            recorded = np.stack([tables[name][metric].to_numpy(float) for name in members])
            hubs = np.stack([tables[name][f"{metric}_hub"].to_numpy(float) for name in members])
            values = average_by_person(recorded, persons)
            frame[f"{metric}_mean"] = values.mean(axis=0)
            frame[f"{metric}_sd"] = values.std(axis=0, ddof=1) if n_people > 1 else np.nan
            frame[f"{metric}_hub_share"] = average_by_person(hubs, persons).mean(axis=0)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def _group_modules(cohort: Cohort, partitions: Mapping[str, Partition], seed: int) -> pd.DataFrame:
    """Consensus of each group's people, numbered like the first one's."""
    frame = pd.DataFrame({"region": cohort.atlas.regions})
    reference = None
    for group, members in _members(cohort).items():
        recorded = [partitions[name] for name in members]
        own = partitions_by_person(recorded, [person_of(name) for name in members], seed=seed)
        consensus = own[0] if len(own) == 1 else combine_partitions(own, seed=seed)
        labels = module_labels(consensus) if reference is None else match_modules(consensus, reference)
        reference = labels if reference is None else reference
        frame[group] = labels
    return frame


def _members(cohort: Cohort) -> dict[str, list[str]]:
    """Ids by group; a cohort without groups is one group, 'all'."""
    groups = {group: list(cohort.group(group).ids) for group in cohort.group_sizes}
    return groups or {"all": list(cohort.ids)}
