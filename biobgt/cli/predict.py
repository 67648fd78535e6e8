"""Jobs that ask a trained model: which group a subject looks like, and where its attention goes.

Subjects go through the model a few at a time, so that memory does not grow with the cohort beyond its own data. One
that the model cannot be asked about is named with the reason, and the others are asked about.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pandas as pd
import typer

from biobgt import __version__
from biobgt.base.errors import InputError, Refusal
from biobgt.base.files import file_names, write_csv
from biobgt.base.wording import NOT_A_DIAGNOSIS, counted
from biobgt.cli.arguments import (
    DeviceOption,
    ModelOption,
    OutOption,
    ResultsOption,
    folder_store,
    print_simulated,
    reads_cohort,
    refusals,
    results_folder,
    write_reading,
)
from biobgt.cli.main import print_line, print_table, progress_bar
from biobgt.data.cohort import Cohort
from biobgt.results.measured import Measured

if TYPE_CHECKING:
    from biobgt.model.pretrained import InstalledModel


@reads_cohort
def predict(
    cohort: Cohort,
    model: ModelOption,
    out: Annotated[Path, typer.Option(help="Table of predictions, a .csv file.")],
    device: DeviceOption = "auto",
    results: ResultsOption = None,
) -> None:
    """Write each subject's probability of every group, with a warning where it is not reliable.

    Beside it, NAME_model.json names the model and says whether its patients are simulated.

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
    print_line(chosen.card["headline"])
    print_simulated(cohort)
    print_table(table, title=f"Predictions of {chosen.card['name']}")
    if cohort.refused:
        print_table(refusals(cohort), title=f"Files that could not be read: {len(cohort.refused)}")
    refused = int((table["prediction"] == "").sum())
    if refused:
        print_line(f"Not predicted: {counted(refused, 'subject')}; the column 'warning' says why.")
    warned = int((table["warning"] != "").sum()) - refused
    if warned:
        print_line(f"With a warning: {counted(warned, 'subject')}; the column 'warning' says why.")
    print_line(f"{NOT_A_DIAGNOSIS} Written to {out}")


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
