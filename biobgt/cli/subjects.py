"""Jobs about subjects: look at them, turn them into brain graphs, draw a demo cohort, fetch a public one."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer

from biobgt.base.files import file_names, write_csv
from biobgt.base.references import REFERENCES
from biobgt.base.wording import counted
from biobgt.cli.arguments import (
    OutOption,
    print_settings,
    print_simulated,
    reads_cohort,
    refusals,
    results_folder,
    takes_options,
    takes_settings,
    write_reading,
)
from biobgt.cli.main import keeping, print_line, print_table, progress_bar
from biobgt.data.atlas import BUNDLED, LABELLINGS
from biobgt.data.cohort import Cohort, counted_people
from biobgt.data.graph import ConnectomeSettings
from biobgt.data.quality import quality_table
from biobgt.data.simulate import DEMO_COHORTS, DEMO_PER_GROUP, demo_cohort
from biobgt.export.graph_files import GRAPH_FORMATS, node_table
from biobgt.hubs.measures import HubOptions
from biobgt.modules.measures import NamedModuleOptions
from biobgt.readers.fetch import ABIDE_TERMS, FetchOptions, fetch_abide
from biobgt.readers.tables import SIMULATED_MARK
from biobgt.results.measured import Measured


@reads_cohort
def info(
    cohort: Cohort,
    out: Annotated[Path | None, typer.Option(help="Also write the tables as CSV into this folder.")] = None,
) -> None:
    """Show what is in a file, a folder or an archive: subjects, groups, atlas, quality, what was refused.

    Examples
    --------
    biobgt info study/
    biobgt info study.zip --atlas cc200 --phenotypes participants.tsv
    """
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
    for what, names in (
        ("Without a row in the phenotype table", cohort.unmatched_subjects),
        ("In the phenotype table, but without data", cohort.unmatched_rows),
    ):
        if names:
            print_line(f"{what} ({len(names)}): {', '.join(names[:10])}{', …' if len(names) > 10 else ''}")
    if cohort.refused:
        print_table(refusals(cohort), title=f"Refused: {len(cohort.refused)}", limit=50)


@reads_cohort
@takes_settings
def connectome(
    cohort: Cohort,
    settings: ConnectomeSettings,
    out: OutOption,
    format_: Annotated[
        str,
        typer.Option("--format", help="; ".join(f"{key}: {about.title}" for key, about in GRAPH_FORMATS.items()) + "."),
    ] = "csv",
) -> None:
    """Write one brain graph per subject: as a table with region names, or in a format of other programs.

    Examples
    --------
    biobgt connectome study/ --out graphs
    biobgt connectome study/ --out graphs --format graphml --sign signed
    """
    files, rows = file_names(cohort.ids), []
    format = GRAPH_FORMATS.named(format_)
    with results_folder(out, job="connectome") as folder, progress_bar("Graphs") as progress:
        (folder / "graphs").mkdir()
        for i, subject in enumerate(cohort.ids, start=1):
            one = Measured(cohort, settings=settings).of(subject)
            graph = one.graph()
            nodes = node_table(one, HubOptions(), NamedModuleOptions()) if format.of_nodes else None
            for ending, contents in format.write(graph, nodes).items():
                (folder / "graphs" / f"{files[graph.subject]}{ending}").write_bytes(contents)
            isolated = int(np.count_nonzero(~graph.weights.any(axis=0)))
            rows.append((graph.subject, graph.n_edges, graph.density, isolated))
            progress(i, len(cohort))
        write_reading(cohort, folder)
    print_settings(cohort, settings)
    print_table(pd.DataFrame(rows, columns=["subject", "edges", "density", "isolated regions"]), title="Brain graphs")
    print_line(f"{counted(len(rows), 'graph')} written to {out}")


def demo(
    out: OutOption,
    name: Annotated[str, typer.Argument(help=f"One of: {', '.join(DEMO_COHORTS)}.")] = next(iter(DEMO_COHORTS)),
    n_per_group: Annotated[int, typer.Option(help="Subjects per group.")] = DEMO_PER_GROUP,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 0,
) -> None:
    """Write a simulated demo cohort: one table of series per subject, and participants.tsv.

    Examples
    --------
    biobgt demo --out demo-subjects
    biobgt demo ad --n-per-group 5 --seed 1 --out small-demo
    """
    cohort = demo_cohort(name, n_per_group=n_per_group, seed=seed)
    with results_folder(out, job="demo") as folder:
        for subject in cohort:
            table = pd.DataFrame(subject.series, columns=cohort.atlas.regions)
            text = write_csv(table, sep="\t", index=False, float_format="%.6g")
            mark = f"{SIMULATED_MARK} drawn by biobgt demo {name}, seed {seed}; not a person\n"
            (folder / f"{subject.id}.tsv").write_text(mark + text)
        rows = [{"participant_id": subject.id, "group": subject.group} for subject in cohort]
        write_csv(pd.DataFrame(rows), folder / "participants.tsv", sep="\t", index=False)
    for note in cohort.notes:
        print_line(note)
    print_line(f"{len(cohort)} simulated subjects written to {out}")


def atlases() -> None:
    """List the bundled atlases and how many of their regions have a functional label.

    Examples
    --------
    biobgt atlases
    COLUMNS=160 biobgt atlases
    """
    rows = []
    for name, about in BUNDLED.items():
        atlas = about.atlas
        labelled = {label: atlas.n_regions - atlas.n_unlabelled(label) for label in LABELLINGS if label in atlas.labels}
        files = {"label image": about.label_image is not None, "surface": bool(about.surface)}
        rows.append(
            {
                "atlas": name,
                "title": atlas.title,
                "regions": atlas.n_regions,
                "with coordinates": int(atlas.placed.sum()),
                "with a label": ", ".join(f"{label} {count}" for label, count in labelled.items()),
                "files": ", ".join(what for what, there in files.items() if there),
                "cite": ", ".join(REFERENCES[cited].short for cited in atlas.cites),
            }
        )
    title = "Bundled atlases: how many regions have coordinates, and a functional label of each kind"
    print_table(pd.DataFrame(rows), title=title, limit=len(rows))


@takes_options("options", FetchOptions, panel="What to fetch")
def abide(options: FetchOptions, out: OutOption) -> None:
    """Fetch ABIDE's CC200 region series and phenotypes; run it again to continue where it stopped.

    Examples
    --------
    biobgt fetch abide --out abide
    biobgt fetch abide --out abide --n-subjects 20
    """
    print_line(ABIDE_TERMS)
    kept = f"Complete files are kept in '{out}': run the same command again to continue."
    with keeping(kept), progress_bar("Fetching") as progress:
        folder = fetch_abide(out, options, progress=progress)
    print_line(f"Fetched to {folder}. To see what it contains: biobgt info {folder}")
