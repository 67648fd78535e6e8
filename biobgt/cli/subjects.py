"""Jobs about subjects: look at them, turn them into brain graphs, draw a demo cohort, fetch a public one."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer

from biobgt.atlas import BUNDLED, LABELLINGS, load_atlas
from biobgt.cli.arguments import OutOption, reads_cohort, takes_settings
from biobgt.cli.results import (
    file_names,
    print_settings,
    print_simulated,
    refusals,
    results_folder,
    write_reading,
)
from biobgt.cli.screen import print_line, print_table, progress_bar
from biobgt.cohort import Cohort
from biobgt.connectome import cohort_graphs
from biobgt.fetch import ABIDE_TERMS, FetchOptions, Pipeline, fetch_abide
from biobgt.graph import ConnectomeSettings
from biobgt.people import counted_people
from biobgt.quality import quality_table
from biobgt.readers.layout import SIMULATED_MARK
from biobgt.simulate import DEMO_COHORTS, demo_cohort
from biobgt.spreadsheets import write_csv
from biobgt.wording import counted


@reads_cohort
def info(
    cohort: Cohort,
    out: Annotated[Path | None, typer.Option(help="Also write the tables as CSV into this folder.")] = None,
) -> None:
    """Show what is in a file, a folder or an archive: subjects, groups, atlas, quality, what was refused."""
    with nullcontext() if out is None else results_folder(out, job="info") as folder:
        quality = quality_table(cohort)
        _print_cohort(cohort, quality)
        if folder is not None:
            write_csv(quality, folder / "quality.csv", index=False)
            write_reading(cohort, folder)
    if out is not None:
        print_line(f"Tables written to {out}")


def _print_cohort(cohort: Cohort, quality: pd.DataFrame) -> None:
    """Print all there is to say of a cohort."""
    groups = ", ".join(f"{count} {group}" for group, count in cohort.group_people.items()) or "none given"
    kinds = ", ".join(sorted({subject.kind for subject in cohort}))
    size = counted_people(len(set(cohort.persons)), len(cohort))
    print_line(f"{size} · {cohort.atlas.title} ({cohort.atlas.n_regions} regions) · {kinds}")
    print_simulated(cohort)
    print_line(f"Groups: {groups}")
    for note in cohort.notes:
        print_line(note)
    print_table(quality.drop(columns=["warnings", "notes"]), title="Subjects")
    for column in ("warnings", "notes"):
        flagged = quality[quality[column] != ""]
        if len(flagged):
            print_table(
                flagged[["subject", column]], title=f"Quality {column}: {counted(len(flagged), 'subject')}", limit=10
            )
    _print_names("No row in the phenotype table", cohort.unmatched_subjects)
    _print_names("In the phenotype table, not among the subjects", cohort.unmatched_rows)
    if cohort.refused:
        print_table(refusals(cohort), title=f"Refused: {len(cohort.refused)}", limit=50)


@reads_cohort
@takes_settings
def connectome(cohort: Cohort, settings: ConnectomeSettings, out: OutOption) -> None:
    """Write one brain graph a subject, as CSV with region names."""
    files = file_names(cohort.ids)
    rows = []
    with results_folder(out, job="connectome") as folder, progress_bar("Graphs") as progress:
        for i, graph in enumerate(cohort_graphs(cohort, settings), start=1):
            frame = pd.DataFrame(graph.weights, index=graph.atlas.regions, columns=graph.atlas.regions)
            (folder / "graphs").mkdir(exist_ok=True)
            write_csv(frame, folder / "graphs" / f"{files[graph.subject]}.csv", float_format="%.8g")
            isolated = int(np.count_nonzero(~graph.weights.any(axis=0)))
            rows.append(
                {
                    "subject": graph.subject,
                    "edges": graph.n_edges,
                    "density": graph.density,
                    "isolated regions": isolated,
                }
            )
            progress(i, len(cohort))
        write_reading(cohort, folder)
    print_settings(cohort, settings)
    print_table(pd.DataFrame(rows), title="Brain graphs")
    print_line(f"{counted(len(rows), 'graph')} written to {out}")


def demo(
    out: OutOption,
    name: Annotated[str, typer.Argument(help=f"One of: {', '.join(DEMO_COHORTS)}.")] = "asd",
    n_per_group: Annotated[int, typer.Option(help="Subjects a group.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 0,
) -> None:
    """Write a simulated demo cohort: one table of series a subject, and participants.tsv."""
    cohort = demo_cohort(name, n_per_group=n_per_group, seed=seed)
    with results_folder(out, job="demo") as folder:
        for subject in cohort:
            table = pd.DataFrame(subject.series, columns=cohort.atlas.regions)
            text = table.to_csv(sep="\t", index=False, float_format="%.6g")
            mark = f"{SIMULATED_MARK} drawn by biobgt demo {name}, seed {seed}; not a person\n"
            (folder / f"{subject.id}.tsv").write_text(mark + text)
        rows = [{"participant_id": subject.id, "group": subject.group} for subject in cohort]
        pd.DataFrame(rows).to_csv(folder / "participants.tsv", sep="\t", index=False)
    for note in cohort.notes:
        print_line(note)
    print_line(f"{len(cohort)} simulated subjects written to {out}")


def atlases() -> None:
    """List the bundled atlases and how many of their regions have a functional label."""
    rows = []
    for name in BUNDLED:
        atlas = load_atlas(name)
        labelled = {label: atlas.n_regions - atlas.n_unlabelled(label) for label in LABELLINGS}
        rows.append(
            {"atlas": name, "title": atlas.title, "regions": atlas.n_regions, **labelled, "cite": atlas.citation}
        )
    print_table(
        pd.DataFrame(rows), title="Bundled atlases (regions with a Dosenbach network, with a module of the paper)"
    )


def abide(
    out: OutOption,
    pipeline: Annotated[Pipeline, typer.Option(help="Preprocessing pipeline.")] = "cpac",
    band_pass: Annotated[bool, typer.Option(help="Band-passed series.")] = True,
    global_signal_regression: Annotated[bool, typer.Option(help="Series with the global signal removed.")] = True,
    quality_checked: Annotated[bool, typer.Option(help="Only subjects that passed ABIDE's raters.")] = True,
    n_subjects: Annotated[int | None, typer.Option(help="Fetch the first few only.")] = None,
    mirror: Annotated[str | None, typer.Option(help="Another address to fetch from.")] = None,
) -> None:
    """Fetch ABIDE's CC200 region series and phenotypes; run it again to go on where it stopped."""
    options = FetchOptions(pipeline, band_pass, global_signal_regression, quality_checked, n_subjects, mirror)
    print_line(ABIDE_TERMS)
    with progress_bar("Fetching") as progress:
        folder = fetch_abide(out, options, progress=progress)
    print_line(f"Fetched to {folder}. Look at it with: biobgt info {folder}")


def _print_names(what: str, names: tuple[str, ...]) -> None:
    if names:
        print_line(f"{what} ({len(names)}): {', '.join(names[:10])}{', …' if len(names) > 10 else ''}")
