"""The job that compares two groups of a cohort: their connectivity, segregation, hubs or modules.

The test of Freedman and Lane adjusts for covariates. Where one is missing for somebody, or they take more degrees of
freedom than the subjects have, the job says so and stops, rather than compare something else than was asked for.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer

from biobgt.cli.arguments import (
    OutOption,
    Where,
    reads_cohort,
    takes_options,
    takes_settings,
    takes_workers,
)
from biobgt.cli.results import print_settings, results_folder, write_reading, write_settings, write_table
from biobgt.cli.screen import print_line, print_table, progress_bar
from biobgt.cohort import Cohort
from biobgt.cohort_tables import measure_each
from biobgt.covariate_words import not_ruled_out
from biobgt.false_discoveries import FDR, passes
from biobgt.graph import ConnectomeSettings
from biobgt.groups.cohort_features import CohortFeatures, comparison_rows, whole_connectivity
from biobgt.groups.comparison_options import (
    COMPARED_IN,
    HUBS,
    MODULES,
    NETWORKS,
    NOTHING,
    ComparedOptions,
    ComparisonOptions,
)
from biobgt.groups.design import check_design, confounding_notes
from biobgt.groups.measured_comparison import PlannedComparison, compare_measured, plan_comparison, subject_features
from biobgt.hubs.hub_options import EntanglementOptions, HubAnalysisOptions
from biobgt.measured import Measured, MeasuredCohort
from biobgt.modules.difference import UNADJUSTED, ModuleDifference
from biobgt.modules.module_options import SHUFFLES, ModuleOptions
from biobgt.wording import capitalised


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
    check_design(planned.people.design, sum(planned.people.sizes.values()))
    settings = whole_connectivity(cohort.kind) if options.of == NETWORKS else settings
    with results_folder(out, job=f"compare {options.of}") as folder:
        path = folder / f"compare_{options.of}.csv"
        (_compare_modules if options.of == MODULES else _compare_measure)(planned, options, settings, where, path)
        used = {"compared": options.of, "groups": " - ".join(groups), **_used(planned.cohort, options)}
        write_settings(planned.cohort, settings, used, folder / f"compare_{options.of}_settings.csv")
        write_reading(planned.cohort, folder)
    print_settings(planned.cohort, settings)
    print_line(f"Comparison of {groups[0]} and {groups[1]} written to {out}")


def _compare_measure(
    planned: PlannedComparison,
    options: ComparisonOptions,
    settings: ConnectomeSettings,
    where: Where,
    path: Path,
) -> None:
    """Compare the groups feature by feature, adjusted for covariates."""
    cohort, groups, run = planned.cohort, options.groups, where.of(planned.cohort)
    known: list[CohortFeatures] = []
    if options.of != NETWORKS:  # these take some hundredths of a second each
        with progress_bar(COMPARED_IN[options.of]) as progress:
            known = measure_each(partial(subject_features, options=options), cohort, settings, progress=progress, **run)
    measured = MeasuredCohort(cohort, run["store"]).of(None, settings)
    words, found = compare_measured(measured, options, known)
    rows = comparison_rows(found, simulated=cohort.simulated)
    write_table(rows, path)
    sizes = ", ".join(f"{n} {group}" for group, n in found.n_subjects.items())
    shown = rows.sort_values("p", kind="stable")
    shown = shown[["feature", *(f"mean_{group}" for group in groups), "d", "d_low", "d_high", "p", "q"]]
    print_table(shown, title=f"{capitalised(words)}: {groups[1]} against {groups[0]} ({sizes})")
    n_differ = int(passes(rows["q"]).sum())
    print_line(f"Of {len(rows)} features, {n_differ} differ at a false discovery rate of {100 * FDR:g} %.")
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


def _hub_options(options: ComparisonOptions) -> HubAnalysisOptions:
    return HubAnalysisOptions(options.gamma, options.perturbation, seed=options.seed)


def _compare_modules(
    planned: PlannedComparison,
    options: ComparisonOptions,
    settings: ConnectomeSettings,
    where: Where,
    path: Path,
) -> None:
    """Compare modules as the app does: each group's consensus, and whether subjects are more alike within groups."""
    from biobgt.figures.module_groups import changed_words  # brings plotly

    cohort, groups, run = planned.cohort, options.groups, where.of(planned.cohort)
    asked = partial(Measured.module_labels, options=options.part(ModuleOptions))
    with progress_bar(COMPARED_IN[MODULES]) as progress:
        labels = dict(zip(cohort.ids, measure_each(asked, cohort, settings, progress=progress, **run), strict=True))
    measured = MeasuredCohort(cohort, run["store"]).of(None, settings)
    found = measured.module_difference(options, groups, n_permutations=options.n_permutations, labels=labels)
    shuffled = []
    with progress_bar("Permutations of the groups") as progress:
        for number in range(SHUFFLES):
            shuffled.append(measured.shuffled_changes(options, groups, number, labels))
            progress(number + 1, SHUFFLES)
    found = replace(found, shuffled=tuple(shuffled))
    row = {f"n_{group}": n for group, n in zip(groups, found.n_subjects, strict=True)} | _difference_row(found)
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


def _difference_row(found: ModuleDifference) -> dict[str, float]:
    return {
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


def _used(cohort: Cohort, options: ComparisonOptions) -> dict[str, Any]:
    """The options that had a part in the result."""
    if options.of == HUBS:
        return {"measure": options.measure, **_hub_options(options).as_dict()}
    if options.of == NETWORKS:
        return {"labelling": options.labelling or next(iter(cohort.atlas.labels)), "seed": options.seed}
    return options.part(ModuleOptions).as_dict()
