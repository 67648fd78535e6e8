"""The model as published on ABIDE: the 200 epochs of the paper, beside training that stops early, from the same runs.

    python assets/studies/paper_presets.py DATA WORK [--splits 3] [--features FOLDER]

Split i of the ten random 80/10/10 splits trains with seed i, as in ``biobgt evaluate``. Training that stops when
validation has not improved for ten epochs is the beginning of training that does not, so each split is trained once
and tested three times: stopped early, at the epoch with the least validation loss of all 200, and after the last one.
Beside this script it writes ``paper_presets.csv``, one line per split and rule as it comes. Checkpoints go to the
folder WORK; run again, it goes on where it was.
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import torch
import typer
from numpy.typing import NDArray
from safetensors.torch import load_file

from biobgt.model.network import BioBGT
from biobgt.model.presets import PRESETS
from biobgt.training import classification_metrics
from biobgt.training.cohorts import Split, protocol_splits, training_cohort
from biobgt.training.folds import LabelledGraphs, label_graphs
from biobgt.training.metrics import METRICS, calibrated, fit_temperature
from biobgt.training.trainer import CHECKPOINT, Epoch, predict_logits, train_model

RESULTS = Path(__file__).with_name("paper_presets.csv")
PAPER = PRESETS["paper-abide"]
EARLY, BEST_EPOCH, LAST_EPOCH = "stopped early (patience 10)", "200 epochs, best validation", "200 epochs, last"
STOPS_EARLY = replace(PAPER, patience=10)


def main(
    data: Annotated[Path, typer.Argument(help="Folder of the real cohorts.")],
    work: Annotated[Path, typer.Argument(help="Folder of the checkpoints, outside the project.")],
    splits: Annotated[int, typer.Option(help="How many of the ten splits.")] = 3,
    features: Annotated[Path | None, typer.Option(help="Folder where NE and modules are kept.")] = None,
) -> None:
    """Train every split and test it three times."""
    torch.set_num_threads(1)
    cohort = training_cohort("abide", data)
    prepared = label_graphs(cohort, PAPER, kept=features)
    for number, split in enumerate(protocol_splits(cohort, "random", n=10, seed=0)[:splits]):
        folder = work / split.name.replace(" ", "-")
        for rule in (EARLY, BEST_EPOCH, LAST_EPOCH):
            if not _written(split, rule):
                _write(split, rule, prepared, _trained(rule, prepared, split, folder, seed=number), folder)


def _trained(rule: str, data: LabelledGraphs, split: Split, folder: Path, *, seed: int) -> BioBGT:
    """The model of one rule; what the folder's checkpoint holds is not trained again."""
    model = train_model(
        data.part(split.train),
        data.part(split.validation),
        STOPS_EARLY if rule == EARLY else PAPER,
        n_groups=len(data.groups),
        seed=seed,
        folder=folder,
        resume=True,
        progress=lambda epoch: _tell(split, epoch),
    )
    if rule == LAST_EPOCH:
        stored = load_file(folder / CHECKPOINT)
        last = {name.removeprefix("model."): value for name, value in stored.items() if name.startswith("model.")}
        model.load_state_dict(last)
    return model.eval()


def _tell(split: Split, epoch: Epoch) -> None:
    found = f"validation {epoch.validation_loss:.4f}, {epoch.seconds:.0f} s"
    print(f"{split.name}, epoch {epoch.epoch}: {found}", flush=True)


def _write(split: Split, rule: str, data: LabelledGraphs, model: BioBGT, folder: Path) -> None:
    """Calibrate on validation subjects, test, and write the line."""
    epochs = pd.read_csv(folder / "epochs.csv")
    best = int(epochs["epoch"].to_numpy()[epochs["validation_loss"].to_numpy().argmin()])
    validation, test = (
        predict_logits(model, data.part(rows)[0]).double().numpy() for rows in (split.validation, split.test)
    )
    temperature = fit_temperature(validation, data.labels[split.validation])
    metrics = classification_metrics(data.labels[split.test], calibrated(test, temperature), data.groups)
    line = {
        "split": split.name,
        "rule": rule,
        "epochs_trained": len(epochs),
        "epoch_tested": len(epochs) if rule == LAST_EPOCH else best,
        "n": len(split.test),
        "temperature": temperature,
        **{name: metrics[name] for name in METRICS},
        "validation_auc": _auc(data, split.validation, validation),
    }
    pd.DataFrame([line]).to_csv(RESULTS, mode="a", header=not RESULTS.exists(), index=False, float_format="%.6g")


def _auc(data: LabelledGraphs, rows: NDArray[np.int64], logits: NDArray[np.float64]) -> float:
    return classification_metrics(data.labels[rows], calibrated(logits, 1.0), data.groups)["auc"]


def _written(split: Split, rule: str) -> bool:
    if not RESULTS.exists():
        return False
    table = pd.read_csv(RESULTS)
    return bool(((table["split"] == split.name) & (table["rule"] == rule)).any())


if __name__ == "__main__":
    typer.run(main)
