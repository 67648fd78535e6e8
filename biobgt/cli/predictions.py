"""Jobs that ask a trained model: which group a subject looks like, and where its attention goes.

Subjects go through the model a few at a time, so that memory does not grow with the cohort beyond its own data.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import pandas as pd
import typer
from numpy.typing import NDArray

from biobgt.cli.arguments import DeviceOption, OutOption, reads_cohort
from biobgt.cli.results import file_names, print_simulated, results_file, results_folder, write_reading
from biobgt.cli.screen import print_line, print_table, progress_bar
from biobgt.cohort import Cohort
from biobgt.errors import InputError
from biobgt.wording import counted

if TYPE_CHECKING:  # torch takes seconds to import, and other jobs do not need it
    from biobgt.model.ensemble import Ensemble

ModelOption = Annotated[str, typer.Option(help="A shipped model's name, or the folder of your own.")]
RESEARCH = "Research use only, not a diagnostic device."
AT_ONCE = 16  # subjects predicted together: the bar moves, and few of their graphs are in memory


@reads_cohort
def predict(
    cohort: Cohort,
    model: ModelOption,
    out: Annotated[Path, typer.Option(help="Table of predictions, a .csv file.")],
    device: DeviceOption = "auto",
) -> None:
    """Write each subject's probability of every group, and a warning where it should not be believed."""
    from biobgt.model.pretrained import load_card, load_pretrained

    if out.suffix != ".csv":
        raise InputError(f"Predictions are written as a .csv file, and '{out.name}' is none.")
    card, ensemble = load_card(model), load_pretrained(model, device)
    ensemble.check(cohort)
    with results_file(out) as file:
        table = _predict_in_parts(cohort, ensemble)
        table.to_csv(file, index=False, float_format="%.6f")
    print_line(card["headline"])
    print_simulated(cohort)
    print_table(table, title=f"Predictions of {ensemble.name}")
    warned = int((table["warning"] != "").sum())
    if warned:
        print_line(f"To be taken with care: {counted(warned, 'subject')}; the column 'warning' says why.")
    print_line(f"{RESEARCH} Written to {out}")


@reads_cohort
def attention(cohort: Cohort, model: ModelOption, out: OutOption, device: DeviceOption = "auto") -> None:
    """Write each subject's attention, what each region receives, and the means over functional modules."""
    from biobgt.model.pretrained import load_card, load_pretrained

    card, ensemble = load_card(model), load_pretrained(model, device)
    ensemble.check(cohort)
    with results_folder(out) as folder:
        (folder / "attention").mkdir()
        seen = _Seen(cohort.atlas.labelling(next(iter(cohort.atlas.labels))) if cohort.atlas.labels else None)
        files = file_names(cohort.ids)
        with progress_bar("Attention") as progress:
            for number, subject in enumerate(cohort, start=1):
                own = ensemble.explain([subject])
                np.savez_compressed(folder / "attention" / f"{files[subject.id]}.npz", attention=own.attention[0])
                seen.add(own.attention[0].mean(axis=(0, 1)), own.modules)
                progress(number, len(cohort))
        seen.write(cohort, folder)
        write_reading(cohort, folder)
    print_line(card["headline"])
    print_simulated(cohort)
    print_line(f"Attention of {counted(len(cohort), 'subject')} written to {out}. {RESEARCH}")


@dataclass
class _Seen:
    """What is kept of each subject's attention: a few numbers a region or module, not the matrices."""

    labels: Sequence[str | None] | None
    received: list[NDArray[np.float32]] = field(default_factory=list)
    contrasts: list[float] = field(default_factory=list)
    blocks: list[NDArray[np.float64]] = field(default_factory=list)
    modules: tuple[str, ...] = ()

    def add(self, mean: NDArray[np.float32], own_modules: NDArray[np.int64]) -> None:
        """Take a subject's mean over layers and heads, shape (n_regions, n_regions)."""
        from biobgt.groups import module_blocks, module_contrast

        self.received.append(mean.mean(axis=0))
        self.contrasts.append(float(module_contrast(mean[None], own_modules)[0]))
        if self.labels is not None:
            blocks = module_blocks(mean[None], self.labels)
            self.blocks.append(blocks.values[0].ravel())
            self.modules = blocks.modules

    def write(self, cohort: Cohort, folder: Path) -> None:
        """Write the tables, a row a subject."""
        who = pd.DataFrame({"subject": cohort.ids, "group": [subject.group for subject in cohort]})
        who.assign(within_over_between=self.contrasts).to_csv(folder / "module_contrast.csv", index=False)
        regions = pd.DataFrame(np.stack(self.received), columns=list(cohort.atlas.regions))
        pd.concat([who, regions], axis=1).to_csv(folder / "attention_received.csv", index=False)
        if self.blocks:
            names = [f"{looking} -> {looked_at}" for looking in self.modules for looked_at in self.modules]
            values = pd.DataFrame(np.stack(self.blocks), columns=names)
            pd.concat([who, values], axis=1).to_csv(folder / "module_blocks.csv", index=False)


def _predict_in_parts(cohort: Cohort, ensemble: "Ensemble") -> pd.DataFrame:
    """Predict a few subjects at a time; each is predicted by itself, so parts change nothing."""
    tables = []
    with progress_bar("Predicting") as progress:
        for start in range(0, len(cohort), AT_ONCE):
            part = replace(cohort, subjects=cohort.subjects[start : start + AT_ONCE])
            tables.append(ensemble.predict(part))
            progress(start + len(part), len(cohort))
    return pd.concat(tables, ignore_index=True)
