"""Jobs that ask a trained model: which group a subject looks like, and where its attention goes."""

from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer

from biobgt.cli.arguments import OutOption, reads_cohort
from biobgt.cli.results import file_names, write_reading
from biobgt.cli.screen import print_line, print_table, progress_bar
from biobgt.cohort import Cohort
from biobgt.errors import InputError
from biobgt.output import make_folder
from biobgt.wording import counted

ModelOption = Annotated[str, typer.Option(help="A shipped model's name, or the folder of your own.")]
DeviceOption = Annotated[str, typer.Option(help="auto, cpu or cuda.")]
RESEARCH = "Research use only, not a diagnostic device."


@reads_cohort
def predict(
    cohort: Cohort,
    model: ModelOption,
    out: Annotated[Path, typer.Option(help="Table of predictions, a .csv file.")],
    device: DeviceOption = "auto",
) -> None:
    """Write each subject's probability of every group, and a warning where it is unlike the training subjects."""
    from biobgt.model.pretrained import load_card, load_pretrained

    if out.suffix != ".csv":
        raise InputError(f"Predictions are written as a .csv file, and '{out.name}' is none.")
    card, ensemble = load_card(model), load_pretrained(model, device)
    table = ensemble.predict(cohort)
    make_folder(out.parent)
    table.to_csv(out, index=False, float_format="%.6f")
    print_line(card["headline"])
    print_table(table, title=f"Predictions of {ensemble.name}")
    warned = int((table["warning"] != "").sum())
    if warned:
        print_line(f"Unlike the training subjects: {counted(warned, 'subject')}; the column 'warning' says how.")
    print_line(f"{RESEARCH} Written to {out}")


@reads_cohort
def attention(cohort: Cohort, model: ModelOption, out: OutOption, device: DeviceOption = "auto") -> None:
    """Write each subject's attention, what each region receives, and the means over functional modules."""
    from biobgt.groups import module_blocks, module_contrast
    from biobgt.model.pretrained import load_card, load_pretrained

    card, ensemble = load_card(model), load_pretrained(model, device)
    ensemble.check(cohort)
    make_folder(out)
    make_folder(out / "attention")
    files, received, blocks, contrasts = file_names(cohort.ids), [], [], []
    labels = cohort.atlas.labelling(next(iter(cohort.atlas.labels))) if cohort.atlas.labels else None
    with progress_bar("Attention") as progress:
        for number, subject in enumerate(cohort, start=1):
            seen = ensemble.explain([subject])
            np.savez_compressed(out / "attention" / f"{files[subject.id]}.npz", attention=seen.attention[0])
            mean = seen.attention[0].mean(axis=(0, 1))
            received.append(mean.mean(axis=0))
            contrasts.append(module_contrast(mean[None], seen.modules)[0])
            if labels is not None:
                blocks.append(module_blocks(mean[None], labels))
            progress(number, len(cohort))
    who = {"subject": cohort.ids, "group": [subject.group for subject in cohort]}
    pd.DataFrame({**who, "within_over_between": contrasts}).to_csv(out / "module_contrast.csv", index=False)
    regions = pd.DataFrame(np.stack(received), columns=list(cohort.atlas.regions))
    pd.concat([pd.DataFrame(who), regions], axis=1).to_csv(out / "attention_received.csv", index=False)
    if labels is not None:
        names = [f"{looking} -> {seen}" for looking in blocks[0].modules for seen in blocks[0].modules]
        values = pd.DataFrame(np.stack([block.values[0].ravel() for block in blocks]), columns=names)
        pd.concat([pd.DataFrame(who), values], axis=1).to_csv(out / "module_blocks.csv", index=False)
    write_reading(cohort, out)
    print_line(card["headline"])
    print_line(f"Attention of {counted(len(cohort), 'subject')} written to {out}. {RESEARCH}")
