"""Jobs about subjects: look at them, turn them into graphs, ask a trained model; draw a demo, fetch a public cohort.

A model is asked about a few subjects at a time, so that memory does not grow with the cohort beyond its own data. One
that it cannot be asked about is named with the reason, and the others are asked about.
"""

import json
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pandas as pd
import typer

from biobgt import __version__
from biobgt.base.errors import InputError, Refusal
from biobgt.base.files import file_names, write_csv
from biobgt.base.references import REFERENCES
from biobgt.base.wording import NOT_A_DIAGNOSIS, counted
from biobgt.cli.arguments import (
    DeviceOption,
    ModelOption,
    OutOption,
    ResultsOption,
    folder_store,
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

if TYPE_CHECKING:
    from biobgt.model.pretrained import InstalledModel


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


# What a trained model says: which group a subject looks like, and where its attention goes.


@reads_cohort
def predict(
    cohort: Cohort,
    model: ModelOption,
    out: Annotated[Path, typer.Option(help="Table of predictions, a .csv file.")],
    device: DeviceOption = "auto",
    results: ResultsOption = None,
    corrupted: Annotated[
        bool,
        typer.Option(
            "--corrupted",
            help="Also ask about worse recordings of each subject, to see how far the call is from flipping. Takes "
            "seconds a subject.",
        ),
    ] = False,
) -> None:
    """Write each subject's probability of every group, with a warning where it is not reliable.

    Beside it, NAME_model.json names the model and says whether its patients are simulated; NAME_corrupted.csv holds
    what the model says of worse recordings, where that was asked for.

    Examples
    --------
    biobgt predict study/ --model abide-cc200 --out predictions.csv
    biobgt predict sub-01.csv --model abide-cc200 --atlas cc200 --out predictions.csv
    """
    if out.suffix != ".csv":
        raise InputError(
            f"Predictions are written as a .csv file: give --out a name that ends in .csv, not '{out.name}'."
        )
    if out.is_dir():
        raise InputError(f"'{out}' is a folder: name a file in it.")
    chosen, measured = _asked(cohort, model, device, results)
    # A manifest is for folders of results, not for any folder in which somebody wants a table.
    with results_folder(out.parent, job=out.name, manifest=False) as folder:
        with progress_bar("Predicting") as progress:
            table = measured.of(None).predictions(chosen, progress)
        write_csv(table, folder / out.name, index=False, float_format="%.6f")
        _write_model(chosen.card, folder / f"{out.stem}_model.json")
        said = _write_corrupted(measured, chosen, folder / f"{out.stem}_corrupted.csv") if corrupted else {}
    print_line(chosen.card["headline"])
    print_simulated(cohort)
    print_table(table, title=f"Predictions of {chosen.card['name']}")
    if said:
        print_table(pd.DataFrame({"subject": list(said), "what": list(said.values())}), title="Worse recordings")
    if cohort.refused:
        print_table(refusals(cohort), title=f"Files that could not be read: {len(cohort.refused)}")
    refused = int((table["prediction"] == "").sum())
    if refused:
        print_line(f"Not predicted: {counted(refused, 'subject')}; the column 'warning' says why.")
    warned = int((table["warning"] != "").sum()) - refused
    if warned:
        print_line(f"With a warning: {counted(warned, 'subject')}; the column 'warning' says why.")
    print_line(f"{NOT_A_DIAGNOSIS} Written to {out}")


def _write_corrupted(measured: Measured, model: "InstalledModel", file: Path) -> dict[str, str]:
    """Write what a model says of worse recordings of every subject; what flips each call, or why that is not known."""
    from biobgt.model.passport import verdict

    tables, said = [], {}
    with progress_bar("Worse recordings") as progress:
        for number, subject in enumerate(measured.cohort.ids, start=1):
            try:
                table = measured.of(subject).passport(model)
            except InputError as error:
                said[subject] = str(error)
            else:
                said[subject] = verdict(table)
                tables.append(table.assign(subject=subject))
            progress(number, len(measured.cohort))
    if not tables:
        raise InputError(next(iter(said.values())))
    whole = pd.concat(tables, ignore_index=True)
    write_csv(whole[["subject", *whole.columns.drop("subject")]], file, index=False, float_format="%.6f")
    return said


@reads_cohort
def attention(
    cohort: Cohort, model: ModelOption, out: OutOption, device: DeviceOption = "auto", results: ResultsOption = None
) -> None:
    """Write each subject's attention, what each region receives, and the means over functional modules.

    attention_received.csv: mean from the other regions; 1 is uniform attention, 2 twice that.
    module_blocks.csv: mean weights, where all weights of a region sum to 1.
    module_contrast.csv: ratio of attention within to between the subject's own modules.
    model.json: which model it was, and whether its patients are simulated.

    Examples
    --------
    biobgt attention study/ --model abide-cc200 --out attention
    biobgt attention demo-subjects --model adsim-aal90 --out attention
    """
    chosen, measured = _asked(cohort, model, device, results)
    with results_folder(out, job="attention") as folder:
        used = _write_attention(measured, chosen, folder)
        write_reading(used, folder)
        _write_model(chosen.card, folder / "model.json")
    print_line(chosen.card["headline"])
    print_simulated(used)
    print_line(f"Attention of {counted(len(used), 'subject')} written to {out}. {NOT_A_DIAGNOSIS}")


def _asked(cohort: Cohort, model: str, device: str, results: Path | None) -> "tuple[InstalledModel, Measured]":
    """A model that can be asked about the cohort, and the cohort with what it said before."""
    from biobgt.model.pretrained import installed_model

    chosen = replace(installed_model(model), device=device)
    chosen.ensemble.check(cohort)
    return chosen, Measured(cohort, folder_store(results, cohort))


def _write_attention(measured: Measured, model: "InstalledModel", folder: Path) -> Cohort:
    """Write every subject's attention, and tables of a few numbers per region or module with a row per subject.

    Returns the cohort of those that have an attention, the others among its refusals.
    """
    from biobgt.model.attention import attention_received, select_attention
    from biobgt.modules import module_blocks, module_contrast

    cohort, files = measured.cohort, file_names(measured.cohort.ids)
    labels = cohort.atlas.labelling(next(iter(cohort.atlas.labels))) if cohort.atlas.labels else None
    kept, refused, received, contrasts, blocks = [], [], [], [], []
    (folder / "attention").mkdir()
    with progress_bar("Attention") as progress:
        for number, subject in enumerate(cohort, start=1):
            try:
                own = measured.of(subject.id).explanation(model)
            except InputError as error:
                refused.append(Refusal(subject.origin, str(error)))
            else:
                np.savez_compressed(folder / "attention" / f"{files[subject.id]}.npz", attention=own.attention[0])
                mean = own.attention[0].mean(axis=(0, 1))[None]
                kept.append(subject)
                received.append(attention_received(select_attention(own.attention[0])))
                contrasts.append(float(module_contrast(mean, own.modules)[0]))
                blocks += [] if labels is None else [module_blocks(mean, labels)]
            progress(number, len(cohort))
    if not kept:
        raise InputError(refused[0].reason)
    used = replace(cohort, subjects=tuple(kept), refused=(*cohort.refused, *refused))
    who = pd.DataFrame({"subject": used.ids, "group": [subject.group for subject in used]})
    write_csv(who.assign(within_over_between=contrasts), folder / "module_contrast.csv", index=False)
    tables = {"attention_received.csv": pd.DataFrame(np.stack(received), columns=list(cohort.atlas.regions))}
    if blocks:
        names = [f"{looking} -> {looked_at}" for looking in blocks[0].modules for looked_at in blocks[0].modules]
        tables["module_blocks.csv"] = pd.DataFrame([one.values[0].ravel() for one in blocks], columns=names)
    for file, values in tables.items():
        write_csv(pd.concat([who, values], axis=1), folder / file, index=False)
    return used


def _write_model(card: Mapping[str, Any], path: Path) -> None:
    """Write which model made a result, from its card, so that the result can be told from another model's."""
    said = {
        "model": card["name"],
        "weights_sha256": card["sha256"],
        "simulated": card["simulated"],
        "atlas": card["atlas"],
        "headline": card["headline"],
        "version": __version__,
    }
    path.write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


# Cohorts to begin with, and the atlases that are known.


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
