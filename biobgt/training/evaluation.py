"""Evaluate BioBGT beside the baselines on the same splits: train, calibrate on validation, test, one line at a time.

A test subject is seen by nothing that is fitted: not the model, not the scale of its inputs, not the temperature, not
the choice of the epoch. Results are written as they come, and a run that was stopped goes on with the splits it has not
done.
"""

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.model.baselines import baseline_titles
from biobgt.model.calibration import calibrated, fit_temperature
from biobgt.model.presets import Preset
from biobgt.output import write_atomically
from biobgt.spreadsheets import read_csv, write_csv
from biobgt.training.baseline_folds import baseline_logits, possible_baselines
from biobgt.training.data import LabelledGraphs
from biobgt.training.identity import run_identity
from biobgt.training.intervals import paired_difference, tested_to_trained
from biobgt.training.metrics import METRICS, check_possible, classification_metrics
from biobgt.training.splits import Split
from biobgt.training.trainer import Epoch, predict_logits, train_model

Progress = Callable[[str], None]
_LINE = ("protocol", "split", "model")


class ResultFiles:
    """``results.csv``, a line per split and model, and ``predictions.csv``, a line per tested subject."""

    def __init__(self, folder: Path) -> None:
        self.results, self.predictions = folder / "results.csv", folder / "predictions.csv"

    def holds(self, where: dict[str, str]) -> bool:
        """Whether a line is written already: of this protocol, split, model and run.

        Raises
        ------
        InputError
            Where the line is of another run.
        """
        table = _read_lines(self.results)
        if table is None:
            return False
        of_model = table[(table[list(_LINE)] == [where[name] for name in _LINE]).all(axis=1)]
        if of_model.empty:
            return False
        if list(of_model.get("run", [])) != [where["run"]]:
            raise InputError(
                f"'{self.results}' holds {where['model']} on {where['split']} from other subjects, settings or another "
                "seed. Name another folder with --out."
            )
        return True

    def write(
        self,
        where: dict[str, str],
        data: LabelledGraphs,
        rows: NDArray[np.int64],
        logits: NDArray[np.float64],
        temperature: float,
        *,
        measured: Mapping[str, float] | None = None,
    ) -> None:
        """Write one split's test results of one model: predictions first, so that a line of results is complete.

        Parameters
        ----------
        where : dict of str to str
            Model, protocol, split and run: the first columns of the line.
        data : LabelledGraphs
        rows : ndarray of int, shape (n_test,)
            The test subjects.
        logits : ndarray, shape (n_test, n_groups)
            Not yet calibrated.
        temperature : float
            From subjects who are not tested.
        measured : mapping of str to float, optional
            Further columns of the line, behind the metrics.
        """
        probabilities = calibrated(logits, temperature)
        tested = pd.DataFrame({**where, "subject": [data.subjects[row] for row in rows]})
        tested["group"] = [data.groups[label] for label in data.labels[rows]]
        for column, group in enumerate(data.groups):
            tested[f"p_{group}"] = probabilities[:, column]
            tested[f"logit_{group}"] = logits[:, column]
        # What a run that was stopped between the two files has left goes.
        _append(tested, self.predictions, instead_of={name: where[name] for name in _LINE})
        metrics = classification_metrics(data.labels[rows], probabilities, data.groups)
        check_possible(metrics, data.groups)
        line = {**where, "n": len(rows), "temperature": temperature, **{name: metrics[name] for name in METRICS}}
        _append(pd.DataFrame([{**line, **(measured or {})}]), self.results)


def evaluate(
    data: LabelledGraphs,
    splits: Iterable[Split],
    preset: Preset,
    *,
    protocol: str,
    folder: Path,
    linear: bool = True,
    seed: int = 0,
    device: torch.device | str = "cpu",
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Train and test on every split; what the folder's results hold already is not done again.

    Parameters
    ----------
    data : LabelledGraphs
        Prepared for the preset.
    splits : iterable of Split
    preset : Preset
    protocol : str
        Name of the kind of splits, for the table.
    folder : Path
    linear : bool
        Whether the baselines are evaluated on the same splits.
    seed : int
        Split i trains with seed + i.
    device : torch.device or str
    progress : callable, optional
        Told in words how far it is.

    Returns
    -------
    DataFrame
        All lines of this protocol in ``results.csv``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = ResultFiles(folder)
    for number, split in enumerate(splits):
        for baseline in possible_baselines(data) if linear else ():
            run = run_identity(data, split, {"features": baseline.key, "shrinkage": data.shrinkage})
            where = {"protocol": protocol, "split": split.name, "model": baseline.name, "run": run}
            if not files.holds(where):
                validation, test = baseline_logits(data, split, baseline)
                temperature = fit_temperature(validation, data.labels[split.validation])
                files.write(where, data, split.test, test, temperature)
        run = run_identity(data, split, {"preset": preset.as_dict(), "seed": seed + number})
        where = {"protocol": protocol, "split": split.name, "model": preset.name, "run": run}
        if not files.holds(where):
            test, temperature = _biobgt(data, split, preset, seed=seed + number, device=device, progress=progress)
            files.write(where, data, split.test, test, temperature)
        if progress is not None:
            progress(f"{protocol}: {split.name} done")
    table = read_results(folder)
    return table[table["protocol"] == protocol].reset_index(drop=True)


def read_results(folder: Path) -> pd.DataFrame:
    """Read ``results.csv``, one line per protocol, split and model; a last line that was cut off is left out."""
    whole = _whole_lines(folder / "results.csv")
    if not whole:
        raise InputError(f"There are no results in '{folder / 'results.csv'}' yet. Run the evaluation to its end.")
    return read_csv(io.StringIO(whole))


def summarise(results: pd.DataFrame) -> pd.DataFrame:
    """Mean and SD over splits of every metric, one row per protocol and model."""
    grouped = results.groupby(["protocol", "model"], sort=False)[list(METRICS)]
    table = grouped.agg(["mean", "std"])
    table.columns = pd.Index([" ".join(pair) for pair in table.columns.to_list()])
    return table.assign(splits=grouped.size()).reset_index()


def paired_with_baselines(results: pd.DataFrame, model: str) -> pd.DataFrame:
    """AUC of a model minus that of every baseline, split by split.

    See :func:`biobgt.training.intervals.paired_difference`.

    Parameters
    ----------
    results : DataFrame
        Lines of ``results.csv``.
    model : str

    Returns
    -------
    DataFrame
        One row per protocol and baseline: ``protocol``, ``baseline``, ``splits``, the mean ``difference`` and its
        interval, ``low`` and ``high``, corrected for training sets that overlap. Without rows where the model and a
        baseline have no two splits in common.
    """
    rows = []
    for protocol, lines in results.groupby("protocol", sort=False):
        by_model = lines.pivot_table(index="split", columns="model", values="auc")
        for other in [name for name in baseline_titles() if name in by_model and model in by_model]:
            found = paired_difference(
                by_model[model], by_model[other], test_train_ratio=tested_to_trained(str(protocol), len(by_model))
            )
            interval = found["corrected_low"], found["corrected_high"]
            rows.append((protocol, other, int(found["n"]), found["mean"], *interval))
    table = pd.DataFrame(rows, columns=["protocol", "baseline", "splits", "difference", "low", "high"])
    return table[table["splits"] > 1].reset_index(drop=True)


def _biobgt(
    data: LabelledGraphs,
    split: Split,
    preset: Preset,
    *,
    seed: int,
    device: torch.device | str,
    progress: Progress | None,
) -> tuple[NDArray[np.float64], float]:
    def tell(epoch: Epoch) -> None:
        if progress is not None:
            progress(f"{preset.name}, {split.name}, epoch {epoch.epoch}: validation loss {epoch.validation_loss:.3f}")

    model = train_model(
        data.part(split.train),
        data.part(split.validation),
        preset,
        n_groups=len(data.groups),
        seed=seed,
        device=device,
        progress=tell,
    )
    validation, test = (
        predict_logits(model, data.part(rows)[0], device=device).double().numpy()
        for rows in (split.validation, split.test)
    )
    return test, fit_temperature(validation, data.labels[split.validation])


def _append(frame: pd.DataFrame, path: Path, *, instead_of: dict[str, str] | None = None) -> None:
    """Write all lines anew with these behind them, so that no line is ever on the disk in part."""
    before = _read_lines(path)
    if before is not None and instead_of is not None:
        before = before[~(before[list(instead_of)] == pd.Series(instead_of)).all(axis=1)]
    text = "" if before is None else write_csv(before, index=False, lineterminator="\n")
    added = write_csv(frame, header=not text, index=False, float_format="%.6g", lineterminator="\n")
    write_atomically(path, text + added)


def _read_lines(path: Path) -> pd.DataFrame | None:
    """Read a table with every value as text, the digits as they were written; None where no line is complete."""
    whole = _whole_lines(path)
    return read_csv(io.StringIO(whole), dtype=str, keep_default_na=False) if whole else None


def _whole_lines(path: Path) -> str:
    """Read a table without a last line that was cut off, by a full disk or a kill; such a line is not done.

    Raises
    ------
    InputError
        Where a line before the last is damaged: what it was cannot be known.
    """
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    whole = text[: text.rfind("\n") + 1]
    rows = list(csv.reader(io.StringIO(whole)))
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise InputError(
                f"Line {number} of '{path}' has {len(row)} values where {len(rows[0])} columns are. Delete that line: "
                "what it stood for is computed again."
            )
    return whole
