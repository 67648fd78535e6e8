"""The job that compares two groups of a cohort: their connectivity, segregation, hubs or modules.

The test of Freedman and Lane adjusts for covariates. Where one is missing for somebody, or they take more degrees of
freedom than the subjects have, the job says so and stops, rather than compare something else than was asked for.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
import typer

from biobgt.analysis import HubOptions, ModuleOptions, analyse_hubs, analyse_modules
from biobgt.cli.arguments import (
    GammaOption,
    OutOption,
    PerturbationOption,
    reads_cohort,
    takes,
    takes_module_options,
    takes_settings,
    takes_workers,
)
from biobgt.cli.results import print_settings, results_folder, write_reading, write_settings, write_table
from biobgt.cli.screen import print_line, print_table, progress_bar
from biobgt.cohort import Cohort
from biobgt.errors import InputError
from biobgt.graph import ConnectomeSettings, check_choice
from biobgt.groups.cohort_features import (
    CohortFeatures,
    compare_features,
    comparison_rows,
    module_segregation,
    network_connectivity,
    regional_hubs,
    two_groups,
)
from biobgt.groups.covariates import complete_covariates
from biobgt.groups.design import confounding_notes
from biobgt.hubs import HUB_METRICS
from biobgt.modules.difference import PERMUTATIONS, UNADJUSTED, ModuleDifference, group_module_difference

Compared = Literal["fc-blocks", "segregation", "hubs", "modules"]
Groups = tuple[str, str]
NOTHING = "none"
# Networks are compared in the whole connectivity, whatever graphs are made of it elsewhere.
WHOLE = ConnectomeSettings(estimator="fisher-z", sign="signed", threshold="none")


@dataclass(frozen=True)
class _Asked:
    """What is compared, adjusted for what; ``covariates`` None is what the phenotypes have."""

    of: Compared
    labelling: str | None
    measure: str
    covariates: tuple[str, ...] | None
    without: tuple[str, ...]
    leave_out_incomplete: bool
    permutations: int | None


@dataclass(frozen=True)
class _How:
    """How subjects are measured, and where that is done."""

    settings: ConnectomeSettings
    modules: ModuleOptions
    hubs: HubOptions
    where: dict[str, Any]


def _asked(
    of: Annotated[
        Compared,
        typer.Option(
            help="fc-blocks: Fisher-z connectivity within and between functional networks. segregation: Q, number of "
            "modules, system segregation. hubs: one measure in every region. modules: do groups have the same modules?"
        ),
    ],
    labelling: Annotated[
        str | None, typer.Option(help="fc-blocks: functional labels of the atlas. Default: its first.")
    ] = None,
    measure: Annotated[str, typer.Option(help=f"hubs: one of {', '.join(HUB_METRICS)}.")] = "node_entanglement",
    covariate: Annotated[
        list[str] | None,
        typer.Option(
            help="Adjust for it: mean_fd, age, sex, site or any column of the phenotypes; may be repeated. 'none' "
            "adjusts for nothing. Default: those four, where the phenotypes have them."
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(help="Do not adjust for this one of the covariates; may be repeated."),
    ] = None,
    leave_out_incomplete: Annotated[
        bool, typer.Option("--leave-out-incomplete", help="Leave out the subjects that lack a covariate.")
    ] = False,
    permutations: Annotated[
        int | None, typer.Option(min=1, help="Shuffles of the test. Default: 5000, and 10000 for modules.")
    ] = None,
) -> _Asked:
    check_choice("hub measure", measure, tuple(HUB_METRICS))
    chosen = None if covariate is None else tuple(name for name in covariate if name.lower() != NOTHING)
    return _Asked(of, labelling, measure, chosen, tuple(without or ()), leave_out_incomplete, permutations)


@reads_cohort
@takes("asked", _asked)
@takes_settings
@takes_workers
@takes_module_options
def compare(
    cohort: Cohort,
    asked: _Asked,
    settings: ConnectomeSettings,
    options: ModuleOptions,
    where: dict[str, Any],
    groups: Annotated[Groups, typer.Option(help="Two groups, controls first, such as NC ASD.")],
    out: OutOption,
    gamma: GammaOption = 0.5,
    perturbation: PerturbationOption = "control",
) -> None:
    """Compare two groups: one row per feature with n, effect, p, false discovery rate, and the covariates."""
    chosen = two_groups(cohort, groups)
    hub_options = HubOptions(gamma=gamma, perturbation=perturbation, seed=options.seed)
    how = _How(WHOLE if asked.of == "fc-blocks" else settings, options, hub_options, where)
    with results_folder(out, job=f"compare {asked.of}") as folder:
        path = folder / f"compare_{asked.of}.csv"
        (_compare_modules if asked.of == "modules" else _compare_measure)(chosen, groups, asked, how, path)
        used = {"compared": asked.of, "groups": " - ".join(groups), **_used(chosen, asked, how)}
        write_settings(chosen, how.settings, used, folder / f"compare_{asked.of}_settings.csv")
        write_reading(chosen, folder)
    print_settings(chosen, how.settings)
    print_line(f"Comparison of {groups[0]} and {groups[1]} written to {out}")


def _compare_measure(cohort: Cohort, groups: Groups, asked: _Asked, how: _How, path: Path) -> None:
    """Compare the groups feature by feature, adjusted for covariates."""
    held = complete_covariates(
        cohort.table(), asked.covariates, without=asked.without, leave_out_incomplete=asked.leave_out_incomplete
    )
    features = _measure(cohort, asked, how)
    found = compare_features(
        cohort,
        features,
        groups,
        covariates=held.table,
        permutations=asked.permutations or 5000,
        seed=how.modules.seed,
    )
    rows = comparison_rows(cohort, found)
    write_table(rows, path)
    sizes = ", ".join(f"{n} {group}" for group, n in found.n_subjects.items())
    shown = rows.sort_values("p", kind="stable")
    shown = shown[["feature", *(f"mean_{group}" for group in groups), "d", "d_low", "d_high", "p", "q"]]
    title = features.measured[0].upper() + features.measured[1:]
    print_table(shown, title=f"{title}: {groups[1]} against {groups[0]} ({sizes})")
    print_line(f"Of {len(rows)} features, {int((rows['q'] < 0.05).sum())} differ at a false discovery rate of 5 %.")
    print_line(
        f"Adjusted for: {', '.join(found.covariates) or 'none'}. {found.design.degrees} residual degrees of freedom, "
        f"{found.permutations:,} permutations, seed {found.seed}."
    )
    if held.absent:
        print_line(f"Not known of these subjects, and so not ruled out: {', '.join(held.absent)}.")
    if asked.without:
        print_line(f"Left out as asked, and so not ruled out: {', '.join(asked.without)}.")
    for note in found.notes:
        print_line(note)


def _measure(cohort: Cohort, asked: _Asked, how: _How) -> CohortFeatures:
    if asked.of == "fc-blocks":
        return network_connectivity(cohort, asked.labelling)
    if asked.of == "hubs":
        with progress_bar("Hubs") as progress:
            hubs = analyse_hubs(cohort, how.settings, how.hubs, progress=progress, **how.where)
        return regional_hubs(cohort, hubs, asked.measure)
    with progress_bar("Modules") as progress:
        modules = analyse_modules(cohort, how.settings, how.modules, progress=progress, **how.where)
    return module_segregation(cohort, modules)


def _compare_modules(cohort: Cohort, groups: Groups, asked: _Asked, how: _How, path: Path) -> None:
    """Compare modules as the app does: each group's consensus, and whether subjects are more alike within groups."""
    if asked.covariates:
        raise InputError("The test of modules shuffles whole people and cannot adjust for covariates. Leave them out.")
    with progress_bar("Modules") as progress:
        modules = analyse_modules(cohort, how.settings, how.modules, progress=progress, **how.where)
    permutations = asked.permutations or PERMUTATIONS
    found = group_module_difference(
        cohort, groups, modules.partitions, n_permutations=permutations, seed=how.modules.seed
    )
    row = {f"n_{group}": n for group, n in zip(groups, found.n_subjects, strict=True)} | _difference_row(found)
    made = {"covariates": NOTHING, "permutations": found.n_permutations, "seed": found.seed}
    write_table(pd.DataFrame([{**row, **made, "simulated": cohort.simulated}]), path)
    regions = pd.DataFrame({"region": cohort.atlas.regions, groups[0]: found.first, groups[1]: found.second})
    regions["changed"] = np.isin(np.arange(len(regions)), found.changed)
    write_table(regions, path.with_name("compare_modules_regions.csv"))
    print_table(pd.DataFrame([row]), title=f"Modules of {groups[0]} and {groups[1]} (AMI: 1 is the same modules)")
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
        "similarity_within": found.within,
        "similarity_between": found.between,
        "p": found.p,
        "q": found.p,  # one question, so nothing to correct for
    }


def _used(cohort: Cohort, asked: _Asked, how: _How) -> dict[str, Any]:
    """The options that had a part in the result."""
    if asked.of == "hubs":
        return {"measure": asked.measure, **how.hubs.as_dict()}
    if asked.of == "fc-blocks":
        return {"labelling": asked.labelling or next(iter(cohort.atlas.labels)), "seed": how.modules.seed}
    return how.modules.as_dict()
