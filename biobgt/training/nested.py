"""What new subjects get, measured: nested folds, a whole ensemble for each.

Results out of fold are of one member, whereas a new subject is given the mean of all. Here a tenth of the subjects is
kept apart, an ensemble is trained on the rest as :func:`biobgt.training.folds.train_ensemble` trains the shipped
one, temperature and all, and its mean answers for those kept apart. Beside it stands the first of its members, at the
same temperature. Every outer fold costs as much as a whole ensemble; a run that was stopped goes on.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from biobgt.cohort import Cohort
from biobgt.errors import InputError
from biobgt.model.batch import GraphBatch
from biobgt.model.calibration import calibrated
from biobgt.model.presets import Preset
from biobgt.model.pretrained import CARD
from biobgt.model.training_settings import FOLDS
from biobgt.output import write_atomically
from biobgt.spreadsheets import read_csv, write_csv
from biobgt.training.cards import measured, write_card
from biobgt.training.data import LabelledGraphs
from biobgt.training.folds import TrainedEnsemble, train_ensemble
from biobgt.training.identity import run_identity
from biobgt.training.protocols import CROSS_VALIDATION
from biobgt.training.splits import Split
from biobgt.training.trainer import predict_logits
from biobgt.training.training_cohorts import protocol_splits

NESTED_FILE = "nested.csv"


def evaluate_nested(
    cohort: Cohort,
    data: LabelledGraphs,
    preset: Preset,
    *,
    folder: Path,
    n_outer: int = FOLDS,
    seed: int = 0,
    device: torch.device | str = "cpu",
    progress: Callable[[str], None] | None = None,
) -> pd.DataFrame:
    """Train an ensemble without each of the first outer folds; what the folder holds already is not done again.

    Parameters
    ----------
    cohort : Cohort
    data : LabelledGraphs
        Of the same subjects in the same order.
    preset : Preset
    folder : Path
        Where every outer fold's members and answers are kept.
    n_outer : int
        Outer folds to do, of ten.
    seed : int
        Of the outer folds, the inner folds and the members, as in ``biobgt train``.
    device : torch.device or str
    progress : callable, optional
        Told in words how far it is.

    Returns
    -------
    DataFrame
        One row per subject kept apart, without its name and in no particular order within a fold: ``fold``, ``run``,
        ``person`` (a number within the fold), ``group``, and for each group the probability by the mean of members,
        ``p_<group>``, and by the first of them, ``single_p_<group>``.
    """
    file = folder / NESTED_FILE
    outer = protocol_splits(cohort, CROSS_VALIDATION, n=FOLDS, seed=seed)
    for number, split in enumerate(outer[:n_outer], start=1):
        run = run_identity(data, split, {"preset": preset.as_dict(), "seed": seed, "members": FOLDS})
        if _holds(file, number, run):
            continue
        rest = np.sort(np.concatenate([split.train, split.validation]))
        inner = replace(cohort, subjects=tuple(cohort.subjects[row] for row in rest))
        trained = train_ensemble(
            data.select(rest),
            protocol_splits(inner, CROSS_VALIDATION, n=FOLDS, seed=seed),
            preset,
            folder=folder / f"outer {number}",
            seed=seed,
            device=device,
            resume=True,
            progress=_about(number, progress),
        )
        table = _answers(cohort, data, split, trained, seed=seed, device=device)
        table.insert(0, "run", run)
        table.insert(0, "fold", number)
        before = file.read_text(encoding="utf-8") if file.exists() else ""
        write_atomically(file, before + write_csv(table, header=not before, index=False, float_format="%.5f"))
    return read_csv(file)


def _about(number: int, progress: Callable[[str], None] | None) -> Callable[[str], None]:
    """Tell progress with the number of the outer fold before it."""

    def tell(said: str) -> None:
        if progress is not None:
            progress(f"outer fold {number}, {said}")

    return tell


def mean_of_members(trained: TrainedEnsemble, graphs: GraphBatch, *, device: torch.device | str) -> NDArray[np.float64]:
    """Calibrated logits of each member, shape (n_members, n_subjects, n_groups); the model's answer is their mean.

    Parameters
    ----------
    trained : TrainedEnsemble
    graphs : GraphBatch
        Of subjects that no member has met.
    device : torch.device or str
    """
    logits = [predict_logits(member.to(device), graphs, device=device).double().numpy() for member in trained.members]
    return np.stack(logits) / trained.temperature


def _answers(
    cohort: Cohort,
    data: LabelledGraphs,
    split: Split,
    trained: TrainedEnsemble,
    *,
    seed: int,
    device: torch.device | str,
) -> pd.DataFrame:
    logits = mean_of_members(trained, data.part(split.test)[0], device=device)
    persons, _ = pd.factorize(np.array(cohort.persons)[split.test])
    table = pd.DataFrame({"person": persons, "group": [data.groups[label] for label in data.labels[split.test]]})
    for prefix, values in (("p", logits.mean(axis=0)), ("single_p", logits[0])):
        table[[f"{prefix}_{group}" for group in data.groups]] = calibrated(values, 1.0)
    return table.sample(frac=1, random_state=seed)  # nobody is found again by position


def _holds(file: Path, fold: int, run: str) -> bool:
    if not file.exists():
        return False
    found = pd.read_csv(file, dtype={"run": str}).query("fold == @fold")["run"].unique()
    if len(found) and found.tolist() != [run]:
        raise InputError(
            f"'{file}' holds fold {fold} of other subjects, settings or another seed. Name another folder with --out."
        )
    return bool(len(found))


def nested_summary(results: pd.DataFrame, groups: tuple[str, ...]) -> dict[str, Any]:
    """Metrics over all subjects kept apart so far, as a card holds them: the mean of members, and a single one."""
    labels = np.array([groups.index(group) for group in results["group"]])
    persons = (results["fold"].astype(str) + " " + results["person"].astype(str)).tolist()
    metrics = {
        name: measured(labels, _columns(results, prefix, groups), groups, persons)
        for name, prefix in (("mean", "p"), ("single", "single_p"))
    }
    return {
        "outer_folds": int(results["fold"].nunique()),
        "folds": FOLDS,
        "members": FOLDS,
        "n": len(results),
        **metrics,
    }


def add_nested(folder: Path, results: pd.DataFrame) -> dict[str, Any]:
    """Put the summary on the card in a folder, and the lines beside it."""
    card = dict(json.loads((folder / CARD).read_text(encoding="utf-8")))
    card["nested"] = nested_summary(results, tuple(card["groups"]))
    write_atomically(folder / NESTED_FILE, write_csv(results, index=False, float_format="%.5f"))
    write_card(folder, card)
    return card


def _columns(results: pd.DataFrame, prefix: str, groups: tuple[str, ...]) -> NDArray[np.float64]:
    """Probabilities, shape (n_subjects, n_groups), that sum to 1 in spite of the file's rounding."""
    values = results[[f"{prefix}_{group}" for group in groups]].to_numpy(dtype=np.float64)
    return np.asarray(values / values.sum(axis=1, keepdims=True))
