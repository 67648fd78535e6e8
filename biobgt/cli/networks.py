"""Jobs about networks: hubs and modules as tables, and two groups compared."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer

from biobgt.base.arrays import FDR, passes
from biobgt.base.beyond import BEYOND
from biobgt.base.files import file_names
from biobgt.base.wording import capitalised, counted, not_ruled_out, signed
from biobgt.cli.arguments import (
    OutOption,
    Where,
    print_settings,
    reads_cohort,
    results_folder,
    takes_options,
    takes_settings,
    takes_workers,
    write_reading,
    write_settings,
    write_table,
)
from biobgt.cli.main import print_line, print_table, progress_bar
from biobgt.data.cohort import Cohort, counted_people
from biobgt.data.graph import ConnectomeSettings
from biobgt.groups.compare import COMPARED_IN, HUBS, MODULES, NETWORKS, NOTHING, ComparedOptions, ComparisonOptions
from biobgt.groups.features import (
    CohortFeatures,
    PlannedComparison,
    compare_measured,
    plan_comparison,
    subject_features,
    whole_connectivity,
)
from biobgt.hubs.agreement import SIGNIFICANT
from biobgt.hubs.measures import (
    HUB_MEASURES,
    LITTLE_MEAN_CONNECTIVITY,
    NEFF,
    NULL_GRAPHS,
    EntanglementOptions,
    HubAnalysisOptions,
    little_strength,
)
from biobgt.hubs.reliability import StudyReliability, study_reliability
from biobgt.inference.covariates import confounding_notes
from biobgt.modules.compare import UNADJUSTED
from biobgt.modules.measures import SHUFFLES, ModuleOptions, measure_columns
from biobgt.results.measured import Measured
from biobgt.results.tables import analyse_hubs, analyse_modules, measure_each

# Jobs about networks: hubs and modules of a subject or a cohort, as tables.


@reads_cohort
@takes_settings
@takes_workers
@takes_options("options", HubAnalysisOptions, panel="Hubs")
def hubs(
    cohort: Cohort, settings: ConnectomeSettings, options: HubAnalysisOptions, where: Where, out: OutOption
) -> None:
    """Write each subject's hub table, each group's mean hubs, and whether NE agrees with NEff and FC strength.

    Examples
    --------
    biobgt hubs study/ --out hubs
    biobgt hubs demo:asd --out hubs --gamma 1 --workers 4
    """
    with results_folder(out, job="hubs") as folder:
        with progress_bar("Hubs") as progress:
            result = analyse_hubs(cohort, settings, options, progress=progress, **where.of(cohort))
        files = file_names(cohort.ids)
        for subject, table in result.tables.items():
            write_table(table.reset_index(), folder / "hubs" / f"{files[subject]}.csv")
        write_table(result.groups, folder / "hub_groups.csv")
        write_table(result.agreement, folder / "hub_agreement.csv")
        write_table(result.summary, folder / "hub_agreement_summary.csv")
        how: dict[str, Any] = {"gamma": options.gamma, "perturbation": options.perturbation, "kind": cohort.kind}
        norms = study_reliability(settings, cohort.atlas, **how)
        if norms.table is not None:
            write_table(norms.table.reset_index(), folder / "hub_reliability_study.csv")
        if options.halves:
            write_table(result.halves, folder / "hub_reliability.csv")
        write_settings(cohort, settings, options.as_dict(), folder / "hub_settings.csv")
        write_reading(cohort, folder)
    print_settings(cohort, settings)
    print_table(result.summary, title="Agreement of node entanglement over people")
    print_line(_agreement_sentence(result.agreement, options.nulls))
    little = sum(mean < LITTLE_MEAN_CONNECTIVITY for mean in result.mean_connectivity.values())
    if little and cohort.kind.functional:
        of_all = f"{little} of {counted(len(cohort), 'subject')}"
        print_line(little_strength(f"the mean connectivity of {of_all} is below {LITTLE_MEAN_CONNECTIVITY:g}"))
    _print_reliability(cohort, norms, result.halves)
    print_line(f"Hub tables of {counted_people(len(set(cohort.persons)), len(cohort))} written to {out}")


def _agreement_sentence(agreement: pd.DataFrame, n_nulls: int) -> str:
    """Say over the subjects of a cohort how NE agrees with NEff beyond strength and degree."""
    rows = agreement[agreement["reference"] == HUB_MEASURES[NEFF].title]
    if not rows["partial"].notna().any():
        return "Agreement beyond strength and degree is not defined in these graphs."
    said = (
        f"NE with NEff: Spearman's ρ is {signed(rows['spearman'].mean())} on average, and given strength and "
        f"degree {signed(rows['partial'].mean())}; only the second is evidence that they agree"
    )
    if not n_nulls:
        return f"{said}. It was not compared with null graphs; --nulls {NULL_GRAPHS} does so."
    if 2 / (1 + n_nulls) > SIGNIFICANT:
        return (
            f"{said}. With {n_nulls} null graphs p cannot go below {2 / (1 + n_nulls):.2g}; --nulls {NULL_GRAPHS} can."
        )
    known = rows[rows["p"].notna()]
    marked = known[known["p"] <= SIGNIFICANT]
    above = int((marked["partial"] > marked["null_high"]).sum())
    return (
        f"{said}. Beyond their null graphs (p ≤ {SIGNIFICANT:g}, two-sided) it is higher in {above} and lower in "
        f"{len(marked) - above} of {counted(len(known), 'subject')}."
    )


def _print_reliability(cohort: Cohort, norms: StudyReliability, halves: pd.DataFrame) -> None:
    """Print how reliable each measure is in the study, where that applies, and in these subjects, where asked."""
    if norms.table is not None:
        print_table(norms.table.reset_index(), title="Reliability of hub measures in the study")
    print_line(norms.note)
    if halves.empty:
        if any(subject.series is not None for subject in cohort):
            print_line("The reliability of these subjects' own hubs was not measured; --halves measures it.")
        return
    known = halves[halves["why_not"] == ""]
    if len(known):
        means = known.groupby("measure", sort=False)[["halves", "whole", "overlap"]].mean().reset_index()
        n_subjects = counted(known["subject"].nunique(), "subject")
        print_table(means, title=f"Halves of each recording, {n_subjects}")
    for reason in dict.fromkeys(halves.loc[halves["why_not"] != "", "why_not"]):
        print_line(str(reason))


@reads_cohort
@takes_settings
@takes_workers
@takes_options("options", ModuleOptions, panel="Modules")
def modules(cohort: Cohort, settings: ConnectomeSettings, options: ModuleOptions, where: Where, out: OutOption) -> None:
    """Write each subject's modules and roles, each group's consensus, and agreement with functional labels.

    Examples
    --------
    biobgt modules study/ --out modules
    biobgt modules study/ --out modules --consensus --resolution 1.2
    """
    with results_folder(out, job="modules") as folder:
        with progress_bar("Modules") as progress:
            result = analyse_modules(cohort, settings, options, progress=progress, **where.of(cohort))
        files = file_names(cohort.ids)
        for subject, roles in result.roles.items():
            write_table(roles.reset_index(), folder / "modules" / f"{files[subject]}.csv")
        write_table(result.summary, folder / "module_summary.csv")
        write_table(result.groups, folder / "module_groups.csv")
        write_settings(cohort, settings, options.as_dict(), folder / "module_settings.csv")
        write_reading(cohort, folder)
    print_settings(cohort, settings)
    columns = measure_columns(cohort.atlas.labels).items()
    shown = [column for column, (measure, labelling) in columns if measure.shown and not labelling]
    shown += [column for column, (measure, labelling) in columns if measure.shown and labelling]
    print_table(
        result.summary.reindex(columns=["subject", "group", *shown]),
        title="Modules (AMI: agreement with functional labels)",
    )
    print_line(f"Modules of {counted_people(len(set(cohort.persons)), len(cohort))} written to {out}")


# The job that compares two groups of a cohort: their connectivity, segregation, hubs or modules.
#
# The test of Freedman and Lane adjusts for covariates. Where one is missing for somebody, or they take more degrees of
# freedom than the subjects have, the job says so and stops, rather than compare something else than was asked for.


@reads_cohort
@takes_options("asked", ComparedOptions, panel="What to compare")
@takes_settings
@takes_workers
@takes_options("modules", ModuleOptions, panel="Modules")
@takes_options("entanglement", EntanglementOptions, panel="Node entanglement")
def compare(
    cohort: Cohort,
    asked: ComparedOptions,
    settings: ConnectomeSettings,
    modules: ModuleOptions,
    where: Where,
    groups: Annotated[tuple[str, str], typer.Option(help="Two groups, controls first, such as NC ASD.")],
    out: OutOption,
    entanglement: EntanglementOptions,
) -> None:
    """Compare two groups: one row per feature with n, effect, p, false discovery rate, and the covariates.

    Examples
    --------
    biobgt compare study/ --groups NC ASD --of segregation --out comparison
    biobgt compare study/ --groups NC AD --of hubs --without site --out comparison
    """
    chosen = {**asked.as_dict(), **modules.as_dict(), **entanglement.as_dict()}
    options = ComparisonOptions(first=groups[0], second=groups[1], **chosen)
    planned = plan_comparison(cohort, options)
    planned.people.design.check()
    settings = whole_connectivity(cohort.kind) if options.of == NETWORKS else settings
    with results_folder(out, job=f"compare {options.of}") as folder:
        path = folder / f"compare_{options.of}.csv"
        (_compare_modules if options.of == MODULES else _compare_measure)(planned, options, settings, where, path)
        used = {"compared": options.of, "groups": " - ".join(groups), **_used(planned.cohort, options)}
        write_settings(planned.cohort, settings, used, folder / f"compare_{options.of}_settings.csv")
        write_reading(planned.cohort, folder)
    print_settings(planned.cohort, settings)
    print_line(f"Comparison of {groups[0]} and {groups[1]} written to {out}")


_SHOWN = ("d", "d_low", "d_high", "p", "q", BEYOND)


def _compare_measure(
    planned: PlannedComparison, options: ComparisonOptions, settings: ConnectomeSettings, where: Where, path: Path
) -> None:
    """Compare the groups feature by feature, adjusted for covariates."""
    cohort, groups, run = planned.cohort, options.groups, where.of(planned.cohort)
    known: list[CohortFeatures] = []
    if options.of != NETWORKS:  # these take some hundredths of a second each
        with progress_bar(COMPARED_IN[options.of]) as progress:
            known = measure_each(partial(subject_features, options=options), cohort, settings, progress=progress, **run)
    measured = Measured(cohort, run["store"]).of(None, settings)
    words, found = compare_measured(measured, options, known)
    rows = found.rows(simulated=cohort.simulated)
    write_table(rows, path)
    sizes = ", ".join(f"{n} {group}" for group, n in found.n_subjects.items())
    shown = rows.sort_values("p", kind="stable")
    shown = shown.reindex(columns=["feature", *(f"mean_{group}" for group in groups), *_SHOWN])
    shown = shown.drop(columns=[] if BEYOND in rows else BEYOND)
    print_table(shown, title=f"{capitalised(words)}: {groups[1]} against {groups[0]} ({sizes})")
    n_differ = int(passes(rows["q"]).sum())
    print_line(f"Of {len(rows)} features, {n_differ} differ at a false discovery rate of {100 * FDR:g} %.")
    if found.beyond:
        print_line(found.beyond)
    print_line(
        f"Adjusted for: {', '.join(found.covariates) or 'none'}. {found.design.degrees} residual degrees of freedom, "
        f"{found.permutations:,} permutations, seed {found.seed}."
    )
    if planned.covariates.absent:
        print_line(not_ruled_out(planned.covariates.absent))
    if options.without:
        print_line(f"Not adjusted for, as requested, so not ruled out: {', '.join(options.without)}.")
    for note in found.notes:
        print_line(note)


def _compare_modules(
    planned: PlannedComparison, options: ComparisonOptions, settings: ConnectomeSettings, where: Where, path: Path
) -> None:
    """Compare modules as the app does: each group's consensus, and whether subjects are more alike within groups."""
    from biobgt.figures.groups import changed_words

    cohort, groups, run = planned.cohort, options.groups, where.of(planned.cohort)
    asked = partial(Measured.module_labels, options=options.part(ModuleOptions))
    with progress_bar(COMPARED_IN[MODULES]) as progress:
        labels = dict(zip(cohort.ids, measure_each(asked, cohort, settings, progress=progress, **run), strict=True))
    measured = Measured(cohort, run["store"]).of(None, settings)
    found = measured.module_difference(options, groups, n_permutations=options.n_permutations, labels=labels)
    shuffled = []
    with progress_bar("Permutations of the groups") as progress:
        for number in range(SHUFFLES):
            shuffled.append(measured.shuffled_changes(options, groups, number, labels))
            progress(number + 1, SHUFFLES)
    found = replace(found, shuffled=tuple(shuffled))
    row = {f"n_{group}": n for group, n in zip(groups, found.n_subjects, strict=True)} | {
        "ami": found.agreement.ami,
        "ari": found.agreement.ari,
        "vi": found.agreement.vi,
        "regions_compared": found.agreement.n_compared,
        "regions_changed": len(found.changed),
        "changed_low": min(found.shuffled),
        "changed_high": max(found.shuffled),
        "changed_p": found.p_changed,
        "similarity_within": found.within,
        "similarity_between": found.between,
        "p": found.p,
        "q": found.p,  # one question, so nothing to correct for
    }
    made = {"covariates": NOTHING, "permutations": found.n_permutations, "seed": found.seed}
    write_table(pd.DataFrame([{**row, **made, "simulated": cohort.simulated}]), path)
    regions = pd.DataFrame({"region": cohort.atlas.regions, groups[0]: found.first, groups[1]: found.second})
    regions["changed"] = np.isin(np.arange(len(regions)), found.changed)
    write_table(regions, path.with_name("compare_modules_regions.csv"))
    print_table(pd.DataFrame([row]), title=f"Modules of {groups[0]} and {groups[1]} (AMI: 1 is the same modules)")
    print_line(f"{changed_words(found)}.")
    print_line(f"Adjusted for: none. {UNADJUSTED} {found.n_permutations:,} permutations, seed {found.seed}.")
    for note in confounding_notes(cohort, groups):
        print_line(note)


def _used(cohort: Cohort, options: ComparisonOptions) -> dict[str, Any]:
    """The options that had a part in the result."""
    if options.of == HUBS:
        hubs = HubAnalysisOptions(options.gamma, options.perturbation, seed=options.seed)
        return {"measure": options.measure, **hubs.as_dict()}
    if options.of == NETWORKS:
        return {"labelling": options.labelling or next(iter(cohort.atlas.labels)), "seed": options.seed}
    return options.part(ModuleOptions).as_dict()
