"""Jobs about networks: hubs and modules of a subject or a cohort, as tables."""

from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from biobgt.analysis import HubOptions, ModuleOptions, analyse_hubs, analyse_modules
from biobgt.cli.arguments import OutOption, reads_cohort, takes_settings, takes_workers
from biobgt.cli.results import file_names, print_settings, write_reading
from biobgt.cli.screen import print_line, print_table, progress_bar
from biobgt.cohort import Cohort
from biobgt.graph import ConnectomeSettings
from biobgt.hubs.perturbation import Perturbation
from biobgt.hubs.table import HubRule
from biobgt.output import make_folder
from biobgt.wording import counted


@reads_cohort
@takes_settings
@takes_workers
def hubs(
    cohort: Cohort,
    settings: ConnectomeSettings,
    where: dict[str, Any],
    out: OutOption,
    gamma: Annotated[float, typer.Option(help="Diffusion time of NE, in units of 1/mean eigenvalue.")] = 0.5,
    perturbation: Annotated[Perturbation, typer.Option(help="How NE perturbs a region.")] = "control",
    rule: Annotated[HubRule, typer.Option(help="Hubs: the top share of regions, or mean + 1 SD.")] = "top",
    share: Annotated[float, typer.Option(help="Share of regions that are hubs under 'top'.")] = 0.1,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
) -> None:
    """Write each subject's hub table, each group's mean hubs, and whether NE agrees with NEff and FC strength."""
    options = HubOptions(gamma=gamma, perturbation=perturbation, rule=rule, share=share, seed=seed)
    make_folder(out)
    with progress_bar("Hubs") as progress:
        result = analyse_hubs(cohort, settings, options, progress=progress, **where)
    files = file_names(cohort.ids)
    for subject, table in result.tables.items():
        _write(table.reset_index(), out / "hubs" / f"{files[subject]}.csv")
    _write(result.groups, out / "hub_groups.csv")
    _write(result.agreement, out / "hub_agreement.csv")
    _write(result.summary, out / "hub_agreement_summary.csv")
    _write_settings(cohort, settings, options.as_dict(), out / "hub_settings.csv")
    write_reading(cohort, out)
    print_settings(cohort, settings)
    print_table(result.summary, title="Agreement of node entanglement over subjects")
    print_line(f"Hub tables of {counted(len(result.tables), 'subject')} written to {out}")


@reads_cohort
@takes_settings
@takes_workers
def modules(
    cohort: Cohort,
    settings: ConnectomeSettings,
    where: dict[str, Any],
    out: OutOption,
    resolution: Annotated[float, typer.Option(help="Louvain resolution.")] = 1.0,
    runs: Annotated[int, typer.Option(help="Louvain runs a subject; the best is kept.")] = 10,
    hub_z: Annotated[float, typer.Option(help="Within-module z from which a region is a hub.")] = 2.5,
    seed: Annotated[int, typer.Option(help="Seed of Louvain.")] = 0,
) -> None:
    """Write each subject's modules and roles, each group's consensus, and agreement with functional labels."""
    options = ModuleOptions(resolution=resolution, runs=runs, hub_z=hub_z, seed=seed)
    make_folder(out)
    with progress_bar("Modules") as progress:
        result = analyse_modules(cohort, settings, options, progress=progress, **where)
    files = file_names(cohort.ids)
    for subject, roles in result.roles.items():
        _write(roles.reset_index(), out / "modules" / f"{files[subject]}.csv")
    _write(result.summary, out / "module_summary.csv")
    _write(result.groups, out / "module_groups.csv")
    _write_settings(cohort, settings, options.as_dict(), out / "module_settings.csv")
    write_reading(cohort, out)
    print_settings(cohort, settings)
    shown = ["subject", "group", "modules", "q", "system segregation"]
    shown += [str(column) for column in result.summary if str(column).startswith("ami ")]
    print_table(result.summary.reindex(columns=shown), title="Modules (AMI: agreement with functional labels)")
    print_line(f"Modules of {counted(len(result.roles), 'subject')} written to {out}")


def _write(frame: pd.DataFrame, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.to_csv(path, index=False, float_format="%.8g")


def _write_settings(cohort: Cohort, settings: ConnectomeSettings, options: dict[str, Any], path: Path) -> None:
    rows = {
        "cohort": cohort.name,
        "simulated": cohort.simulated,
        "atlas": cohort.atlas.name,
        **settings.as_dict(),
        **options,
    }
    _write(pd.DataFrame({"setting": list(rows), "value": list(rows.values())}), path)
