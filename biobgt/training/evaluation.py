"""Evaluate BioBGT, the baselines and every system of the benchmark on the same splits, one line per system and split.

A test subject is seen by nothing that is fitted: not the model, not the scale of its inputs, not the temperature, not
the choice of the epoch. Results are written as they come, and a run that was stopped goes on with the splits it has not
done; what is of other subjects or settings is refused.
"""

import csv
import io
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from biobgt.base.errors import InputError
from biobgt.base.files import read_csv, write_atomically, write_csv
from biobgt.model.network import GraphBatch
from biobgt.model.peers import encode, n_parameters, with_importance
from biobgt.model.presets import Preset, preset_named
from biobgt.model.systems import (
    BASELINES,
    Baseline,
    BioBGTSystem,
    ClassicalSystem,
    NetworkSystem,
    System,
    baseline_titles,
)
from biobgt.training.cohorts import RANDOM, Split, tested_to_trained
from biobgt.training.folds import LabelledGraphs, run_identity
from biobgt.training.metrics import (
    METRICS,
    calibrated,
    classification_metrics,
    fit_temperature,
    fold_temperatures,
    is_possible,
    paired_difference,
)
from biobgt.training.trainer import Epoch, predict_logits, train_model, train_network

_Progress = Callable[[str], None]
_LINE = ("protocol", "split", "model")


# Out of fold, for a model's card.


def baselines_out_of_fold(data: LabelledGraphs, splits: Sequence[Split]) -> dict[str, NDArray[np.float64]]:
    """Out-of-fold probabilities of every baseline, shape (n_subjects, n_groups) each, by its title."""
    found = {}
    for baseline in _possible_baselines(data):
        logits = np.full((len(data.labels), len(data.groups)), np.nan)
        for split in splits:
            logits[split.test] = _fit_baseline(baseline, data, split).test
        temperatures, _ = fold_temperatures(logits, [split.test for split in splits], data.labels)
        found[baseline.title] = calibrated(logits / temperatures, 1.0)
    return found


# On splits, line by line.


class _ResultFiles:
    """``results.csv``, a line per split and model, and ``predictions.csv``, a line per tested subject."""

    def __init__(self, folder: Path, protocol: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.protocol = folder, protocol

    def missing(self, data: LabelledGraphs, split: Split, model: str, settings: dict[str, Any]) -> dict[str, str]:
        """The first columns of a line that is not written yet: protocol, split, model and run; else nothing.

        Raises
        ------
        InputError
            Where the line is of another run.
        """
        where = {"protocol": self.protocol, "split": split.name, "model": model}
        file, run = self.folder / "results.csv", run_identity(data, split, settings)
        table = _read_lines(file)
        known = None if table is None else table[(table[list(where)] == pd.Series(where)).all(axis=1)]
        if known is None or known.empty:
            return where | {"run": run}
        if list(known.get("run", [])) != [run]:
            raise InputError(
                f"'{file}' holds {model} on {split.name} from other subjects, settings or another "
                "seed. Name another folder with --out."
            )
        return {}

    def write(
        self,
        where: dict[str, str],
        data: LabelledGraphs,
        split: Split,
        fitted: "_Fitted",
        *,
        measured: Mapping[str, float] | None = None,
    ) -> None:
        """Write one split's test results of one model: predictions first, so that a line of results is complete.

        ``where`` are the first columns of the line, ``measured`` its last.
        """
        rows, logits = split.test, fitted.test
        temperature = fit_temperature(fitted.validation, data.labels[split.validation])
        probabilities = calibrated(logits, temperature)
        tested = pd.DataFrame({**where, "subject": [data.subjects[row] for row in rows]})
        tested["group"] = [data.groups[label] for label in data.labels[rows]]
        for column, group in enumerate(data.groups):
            tested[f"p_{group}"] = probabilities[:, column]
            tested[f"logit_{group}"] = logits[:, column]
        # What a run that was stopped between the two files has left goes.
        _append(tested, self.folder / "predictions.csv", instead_of={name: where[name] for name in _LINE})
        metrics = classification_metrics(data.labels[rows], probabilities, data.groups)
        _check_possible(metrics, data.groups)
        line = {**where, "n": len(rows), "temperature": temperature, **metrics, **(measured or {})}
        _append(pd.DataFrame([line]), self.folder / "results.csv")

    def lines(self) -> pd.DataFrame:
        """All lines of the protocol."""
        table = read_results(self.folder)
        return table[table["protocol"] == self.protocol].reset_index(drop=True)


def _check_possible(metrics: Mapping[str, float], groups: Sequence[str]) -> None:
    """Refuse metrics that no classification can have: accuracy lies between sensitivity and specificity.

    Of two groups accuracy is the mean of the two, weighted by the groups' sizes.
    """
    accuracy, sensitivity, specificity = (metrics[name] for name in ("accuracy", "sensitivity", "specificity"))
    if len(groups) == 2 and not is_possible(accuracy, sensitivity, specificity):
        raise ValueError(
            f"An accuracy of {accuracy:.3f} cannot be, with sensitivity {sensitivity:.3f} and specificity "
            f"{specificity:.3f}: it lies between them."
        )


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
    progress: _Progress | None = None,
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
    files = _ResultFiles(folder, protocol)
    own = BioBGTSystem(preset.name, preset.name, "BioBGT", preset=preset)
    systems: list[tuple[System, dict[str, Any]]] = [(own, {"preset": preset.as_dict()})]
    if linear:
        systems[:0] = [
            (replace(ClassicalSystem.of(one), key=one.name), {"features": one.key, "shrinkage": data.shrinkage})
            for one in _possible_baselines(data)
        ]
    for number, split in enumerate(splits, start=seed):
        for system, settings in systems:
            settings = {**settings, "seed": number} if system is own else settings
            if where := files.missing(data, split, system.key, settings):
                told = replace(system, title=f"{system.key}, {split.name}")
                fitted = _fit_system(told, data, data.graphs, split, seed=number, device=device, progress=progress)
                files.write(where, data, split, fitted)
        if progress is not None:
            progress(f"{protocol}: {split.name} done")
    return files.lines()


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

    See :func:`biobgt.training.metrics.paired_difference`.

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
        ratio = tested_to_trained(str(protocol), len(by_model))
        for other in [name for name in baseline_titles() if name in by_model and model in by_model]:
            found = paired_difference(by_model[model], by_model[other], test_train_ratio=ratio)
            numbers = (found[name] for name in ("mean", "corrected_low", "corrected_high"))
            rows.append((protocol, other, int(found["n"]), *numbers))
    table = pd.DataFrame(rows, columns=["protocol", "baseline", "splits", "difference", "low", "high"])
    return table[table["splits"] > 1].reset_index(drop=True)


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


# A system on a split: fitted on the training subjects, its epoch chosen on the validation subjects.


@dataclass(frozen=True, eq=False)
class _Fitted:
    """What a system says of a split's validation and test subjects, and how much it learnt.

    Attributes
    ----------
    validation, test : ndarray, shape (n_subjects, n_groups)
        Logits, not yet calibrated.
    parameters : float
        Numbers learnt: weights, coefficients, or nodes of trees; NaN where a model does not count them.
    network : Module, optional
        None for a model of scikit-learn's.
    """

    validation: NDArray[np.float64]
    test: NDArray[np.float64]
    parameters: float
    network: torch.nn.Module | None = None


def _inputs_of(system: System) -> Preset:
    """The preset whose inputs a system is given: its own, and for all others that of the published or best model.

    Networks read the graphs of the paper's model for ABIDE, classical models the matrices beside the preset ``best``.
    """
    if isinstance(system, BioBGTSystem):
        return system.preset
    return preset_named("best" if isinstance(system, ClassicalSystem) else "paper-abide")


def run_benchmark(
    prepared: Callable[[Preset], LabelledGraphs],
    splits: Sequence[Split],
    systems: Sequence[System],
    *,
    folder: Path,
    seed: int = 0,
    device: torch.device | str = "cpu",
    progress: _Progress | None = None,
) -> pd.DataFrame:
    """Run what the folder's results do not hold yet, system by system and split by split.

    Parameters
    ----------
    prepared : callable
        From a preset to the cohort prepared for it.
    splits : sequence of Split
    systems : sequence of System
        In the order in which they are run. Those that could not be built are passed over.
    folder : Path
    seed : int
        Split i trains with seed + i.
    device : torch.device or str
    progress : callable, optional
        Told in words how far it is.

    Returns
    -------
    DataFrame
        All lines of random splits in ``results.csv``: metrics, ``seconds`` of processor time of a run, and
        ``parameters``.
    """
    files, say = _ResultFiles(folder, RANDOM), progress or (lambda sentence: None)
    for system in systems:
        if system.reason:
            say(f"{system.title}: not run. {system.reason}")
            continue
        data, graphs = prepared(_inputs_of(system)), None
        for number, split in enumerate(splits, start=seed):
            where = files.missing(data, split, system.key, {**system.settings, "seed": number})
            if not where:
                continue
            graphs = _graphs_for(system, data) if graphs is None else graphs
            start = time.process_time()
            fitted = _fit_system(system, data, graphs, split, seed=number, device=device, progress=say)
            measured = {"seconds": time.process_time() - start, "parameters": fitted.parameters}
            files.write(where, data, split, fitted, measured=measured)
            say(f"{system.title}: {split.name} done")
    return files.lines()


def _graphs_for(system: System, data: LabelledGraphs) -> GraphBatch:
    """All subjects' graphs as the system takes them; a subject's depend on nobody else."""
    if isinstance(system, NetworkSystem):
        return encode(data.graphs, system.encoding)
    return with_importance(data.graphs, system.importance) if isinstance(system, BioBGTSystem) else data.graphs


def _fit_system(
    system: System,
    data: LabelledGraphs,
    graphs: GraphBatch | None,
    split: Split,
    *,
    seed: int,
    device: torch.device | str = "cpu",
    progress: _Progress | None = None,
) -> _Fitted:
    """Fit a system on the training subjects of a split, and ask it about the others.

    Parameters
    ----------
    system : System
    data : LabelledGraphs
        Prepared for :func:`_inputs_of` the system.
    graphs : GraphBatch or None
        :func:`_graphs_for` the system; a model of scikit-learn's does without.
    split : Split
    seed : int
    device : torch.device or str
    progress : callable, optional
        Told in words how far it is.
    """
    if isinstance(system, ClassicalSystem):
        if system.baseline.shrunk and data.shrunk is None:
            raise InputError(
                f"{system.title} needs region series, and one subject has a connectivity matrix only. Leave it out."
            )
        return _fit_baseline(system.baseline, data, split)
    assert graphs is not None

    def tell(epoch: Epoch) -> None:
        if progress is not None:
            progress(f"{system.title}, epoch {epoch.epoch}: validation loss {epoch.validation_loss:.3f}")

    given = replace(data, graphs=graphs)
    training, validating = given.part(split.train), given.part(split.validation)
    network: torch.nn.Module
    if isinstance(system, BioBGTSystem):
        network = train_model(
            training, validating, system.preset, n_groups=len(data.groups), seed=seed, device=device, progress=tell
        )
    else:
        assert isinstance(system, NetworkSystem)
        build = partial(system.build, graphs.features.shape[2], len(data.groups))
        network = train_network(build, training, validating, system.training, seed=seed, device=device, progress=tell)
    validation, test = (
        predict_logits(network, given.part(rows)[0], device=device).double().numpy()
        for rows in (split.validation, split.test)
    )
    return _Fitted(validation, test, n_parameters(network), network)


def _possible_baselines(data: LabelledGraphs) -> list[Baseline]:
    """The baselines that the data allow: shrunk correlations need series."""
    return [baseline for baseline in BASELINES.values() if not baseline.shrunk or data.shrunk is not None]


def _fit_baseline(baseline: Baseline, data: LabelledGraphs, split: Split) -> _Fitted:
    matrices = data.shrunk if baseline.shrunk and data.shrunk is not None else data.matrices
    model = baseline.build(data.shrinkage)
    model.fit(matrices[split.train].astype(np.float64), data.labels[split.train])
    validation, test = (model.logits(matrices[rows].astype(np.float64)) for rows in (split.validation, split.test))
    return _Fitted(validation, test, model.n_learnt() if hasattr(model, "n_learnt") else float("nan"))
