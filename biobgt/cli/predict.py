"""Jobs that ask a trained model: which group a subject looks like, and where its attention goes.

Subjects go through the model a few at a time, so that memory does not grow with the cohort beyond its own data. One
that the model cannot be asked about is named with the reason, and the others are asked about.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import pandas as pd
import typer

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError, Refusal
from biobgt.base.files import file_names, write_csv
from biobgt.base.kept import NoStore
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
    results_file,
    results_folder,
    write_model,
    write_reading,
)
from biobgt.cli.screen import print_line, print_table, progress_bar
from biobgt.data.cohort import Cohort, Subject
from biobgt.results.measured import Measured

if TYPE_CHECKING:
    from biobgt.model.ensemble import SubjectExplanation
    from biobgt.model.installed import InstalledModel


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
    chosen, measured = _asked(cohort, model, device, results)
    with results_file(out) as file:
        with progress_bar("Predicting") as progress:
            table = measured.of(None).predictions(chosen, progress)
        write_csv(table, file, index=False, float_format="%.6f")
        write_model(chosen.card, file.with_name(f"{out.stem}_model.json"))
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
        seen = _Seen(cohort.atlas.labelling(next(iter(cohort.atlas.labels))) if cohort.atlas.labels else None)
        used = _look_at_each(measured, chosen, seen, folder)
        seen.write(used, folder)
        write_reading(used, folder)
        write_model(chosen.card, folder / "model.json")
    print_line(chosen.card["headline"])
    print_simulated(used)
    print_line(f"Attention of {counted(len(used), 'subject')} written to {out}. {NOT_A_DIAGNOSIS}")


def _asked(cohort: Cohort, model: str, device: str, results: Path | None) -> "tuple[InstalledModel, Measured]":
    """A model that can be asked about the cohort, and the cohort with what it said before; nothing is in memory."""
    from biobgt.model.installed import installed_model

    chosen = replace(installed_model(model), device=device)
    chosen.ensemble.check(cohort)
    return chosen, Measured(cohort, folder_store(results, cohort) or NoStore())


@dataclass
class _Seen:
    """What is kept of each subject's attention: a few numbers per region or module, not the matrices."""

    labels: Sequence[str | None] | None
    received: list[FloatArray] = field(default_factory=list)
    contrasts: list[float] = field(default_factory=list)
    blocks: list[FloatArray] = field(default_factory=list)
    modules: tuple[str, ...] = ()

    def add(self, own: "SubjectExplanation") -> None:
        """Take what a model saw in one subject."""
        from biobgt.model.attention import attention_received, select_attention
        from biobgt.modules import module_blocks, module_contrast

        mean = own.attention[0].mean(axis=(0, 1))
        self.received.append(attention_received(select_attention(own.attention[0])))
        self.contrasts.append(float(module_contrast(mean[None], own.modules)[0]))
        if self.labels is not None:
            blocks = module_blocks(mean[None], self.labels)
            self.blocks.append(blocks.values[0].ravel())
            self.modules = blocks.modules

    def write(self, cohort: Cohort, folder: Path) -> None:
        """Write the tables, a row per subject."""
        who = pd.DataFrame({"subject": cohort.ids, "group": [subject.group for subject in cohort]})
        contrasts = who.assign(within_over_between=self.contrasts)
        write_csv(contrasts, folder / "module_contrast.csv", index=False)
        regions = pd.DataFrame(np.stack(self.received), columns=list(cohort.atlas.regions))
        write_csv(pd.concat([who, regions], axis=1), folder / "attention_received.csv", index=False)
        if self.blocks:
            names = [f"{looking} -> {looked_at}" for looking in self.modules for looked_at in self.modules]
            values = pd.DataFrame(np.stack(self.blocks), columns=names)
            write_csv(pd.concat([who, values], axis=1), folder / "module_blocks.csv", index=False)


def _look_at_each(measured: Measured, model: "InstalledModel", seen: _Seen, folder: Path) -> Cohort:
    """Write each subject's attention and return the cohort of those that have one, the others among its refusals."""
    cohort = measured.cohort
    files = file_names(cohort.ids)
    kept: list[Subject] = []
    refused: list[Refusal] = []
    (folder / "attention").mkdir()
    with progress_bar("Attention") as progress:
        for number, subject in enumerate(cohort, start=1):
            try:
                own = measured.of(subject.id).explanation(model)
            except InputError as error:
                refused.append(Refusal(subject.origin, str(error)))
            else:
                np.savez_compressed(folder / "attention" / f"{files[subject.id]}.npz", attention=own.attention[0])
                seen.add(own)
                kept.append(subject)
            progress(number, len(cohort))
    if not kept:
        raise InputError(refused[0].reason)
    return replace(cohort, subjects=tuple(kept), refused=(*cohort.refused, *refused))
