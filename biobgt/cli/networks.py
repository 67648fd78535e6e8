"""Jobs about networks: hubs and modules of a subject or a cohort, as tables."""

from typing import Any

import pandas as pd

from biobgt.cli.arguments import (
    OutOption,
    Where,
    reads_cohort,
    takes_options,
    takes_settings,
    takes_workers,
)
from biobgt.cli.results import (
    print_settings,
    results_folder,
    write_reading,
    write_settings,
    write_table,
)
from biobgt.cli.screen import print_line, print_table, progress_bar
from biobgt.cohort import Cohort
from biobgt.cohort_tables import analyse_hubs, analyse_modules
from biobgt.graph import ConnectomeSettings
from biobgt.hubs.hub_options import HubAnalysisOptions
from biobgt.modules.module_measures import measure_columns
from biobgt.modules.module_options import ModuleOptions
from biobgt.output import file_names
from biobgt.people import counted_people
from biobgt.study_reliability import StudyReliability, study_reliability
from biobgt.wording import counted


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
    from biobgt.figures.agreement_words import agreement_sentence, little_strength_of  # brings plotly

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
    print_line(agreement_sentence(result.agreement, n_nulls=options.nulls))
    for sentence in little_strength_of(result.mean_connectivity.values()) if cohort.kind.functional else ():
        print_line(sentence)
    _print_reliability(cohort, norms, result.halves)
    print_line(f"Hub tables of {counted_people(len(set(cohort.persons)), len(cohort))} written to {out}")


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
