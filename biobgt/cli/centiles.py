"""The job that says where every subject of a cohort stands among people of its age and sex."""

from functools import partial

from biobgt.base.wording import counted
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
from biobgt.data.cohort import Cohort
from biobgt.data.graph import ConnectomeSettings
from biobgt.groups.centiles import BRAIN_NUMBERS, ReferenceOptions, all_questions, all_values
from biobgt.groups.standing import cohort_centiles
from biobgt.hubs.measures import EntanglementOptions
from biobgt.modules.measures import ModuleOptions
from biobgt.results.measured import Measured
from biobgt.results.tables import measure_each


@reads_cohort
@takes_options("among", ReferenceOptions, panel="Reference")
@takes_settings
@takes_workers
@takes_options("modules", ModuleOptions, panel="Modules")
@takes_options("entanglement", EntanglementOptions, panel="Node entanglement")
def centiles(
    cohort: Cohort,
    among: ReferenceOptions,
    settings: ConnectomeSettings,
    modules: ModuleOptions,
    where: Where,
    out: OutOption,
    entanglement: EntanglementOptions,
) -> None:
    """Write every subject's centiles among people of its age and sex, or why there are none.

    Examples
    --------
    biobgt centiles study/ --phenotypes participants.tsv --out centiles
    biobgt centiles study/ --reference NC --threshold proportional --out centiles
    """
    run = where.of(cohort)
    with results_folder(out, job="centiles") as folder:
        ask = partial(all_values, hubs=entanglement, modules=modules)
        with progress_bar("Hubs and modules") as progress:
            found = measure_each(ask, cohort, settings, progress=progress, **run)
        measured = Measured(cohort, run["store"], settings=settings)
        questions = all_questions(cohort.atlas, entanglement, modules, among)
        table = cohort_centiles(measured, questions, dict(zip(cohort.ids, found, strict=True)))
        write_table(table, folder / "centiles.csv")
        used = {**among.as_dict(), **entanglement.as_dict(), **modules.as_dict()}
        write_settings(cohort, settings, used, folder / "centile_settings.csv")
        write_reading(cohort, folder)
    print_settings(cohort, settings)
    shown = table[table["measure"].isin(BRAIN_NUMBERS)]
    print_table(shown[["subject", "measure", "value", "centile", "centile_low", "centile_high"]], title="Centiles")
    for why, rows in table[table["why_not"] != ""].groupby("why_not", sort=False):
        print_line(f"{counted(len(rows), 'value')}: {why}")
    print_line(f"Centiles of {counted(len(cohort), 'subject')} written to {out}")
