"""Set every system of the benchmark side by side: same subjects, same splits, same inputs, one line per run.

A run is one system on one split: fitted on the training subjects, its epoch chosen and its probabilities calibrated on
the validation subjects, tested once. Its line is written with the files of :mod:`biobgt.training.evaluation`, so that
what is finished is never done again, and what is of other subjects or settings is refused.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.model.baselines.biobgt_variants import with_importance
from biobgt.model.baselines.classical import CountedModel
from biobgt.model.baselines.graph_encodings import EncodedBatch, encode
from biobgt.model.baselines.graph_network import n_parameters
from biobgt.model.baselines.system import (
    BioBGTSystem,
    ClassicalSystem,
    NetworkSystem,
    System,
)
from biobgt.model.batch import GraphBatch
from biobgt.model.calibration import fit_temperature
from biobgt.model.presets import Preset, preset_named
from biobgt.training.baseline_folds import fitted_baseline
from biobgt.training.data import LabelledGraphs
from biobgt.training.evaluation import Progress, ResultFiles, read_results
from biobgt.training.identity import run_identity
from biobgt.training.network_training import train_network
from biobgt.training.protocols import RANDOM
from biobgt.training.splits import Split
from biobgt.training.trainer import Epoch, predict_logits, train_model


@dataclass(frozen=True, eq=False)
class Fitted:
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


def inputs_of(system: System) -> Preset:
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
    protocol: str = RANDOM,
    seed: int = 0,
    device: torch.device | str = "cpu",
    progress: Progress | None = None,
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
    protocol : str
        Name of the kind of splits, for the table.
    seed : int
        Split i trains with seed + i.
    device : torch.device or str
    progress : callable, optional
        Told in words how far it is.

    Returns
    -------
    DataFrame
        All lines of this protocol in ``results.csv``: metrics, ``seconds`` of processor time of a run, and
        ``parameters``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files, say = ResultFiles(folder), progress or (lambda sentence: None)
    for system in systems:
        if system.reason:
            say(f"{system.title}: not run. {system.reason}")
            continue
        data = prepared(inputs_of(system))
        todo = list(_missing(files, data, splits, system, protocol, seed))
        graphs = graphs_for(system, data) if todo else None
        for number, split, where in todo:
            start = time.process_time()
            fitted = fit_system(system, data, graphs, split, seed=seed + number, device=device, progress=say)
            measured = {"seconds": time.process_time() - start, "parameters": fitted.parameters}
            temperature = fit_temperature(fitted.validation, data.labels[split.validation])
            files.write(where, data, split.test, fitted.test, temperature, measured=measured)
            say(f"{system.title}: {split.name} done")
    table = read_results(folder)
    return table[table["protocol"] == protocol].reset_index(drop=True)


def _missing(
    files: ResultFiles, data: LabelledGraphs, splits: Sequence[Split], system: System, protocol: str, seed: int
) -> Iterator[tuple[int, Split, dict[str, str]]]:
    """The splits whose line is not written, with their numbers and the first columns of the line."""
    for number, split in enumerate(splits):
        run = run_identity(data, split, {**system.settings, "seed": seed + number})
        where = {"protocol": protocol, "split": split.name, "model": system.key, "run": run}
        if not files.holds(where):
            yield number, split, where


def graphs_for(system: System, data: LabelledGraphs) -> GraphBatch:
    """All subjects' graphs as the system takes them; a subject's depend on nobody else."""
    if isinstance(system, NetworkSystem):
        return encode(data.graphs, system.encoding)
    return with_importance(data.graphs, system.importance) if isinstance(system, BioBGTSystem) else data.graphs


def fit_system(
    system: System,
    data: LabelledGraphs,
    graphs: GraphBatch | None,
    split: Split,
    *,
    seed: int,
    device: torch.device | str = "cpu",
    progress: Progress,
) -> Fitted:
    """Fit a system on the training subjects of a split, and ask it about the others.

    Parameters
    ----------
    system : System
    data : LabelledGraphs
        Prepared for :func:`inputs_of` the system.
    graphs : GraphBatch or None
        :func:`graphs_for` the system; a model of scikit-learn's does without.
    split : Split
    seed : int
    device : torch.device or str
    progress : callable
        Told in words how far it is.
    """
    if isinstance(system, ClassicalSystem):
        if system.baseline.shrunk and data.shrunk is None:
            raise InputError(
                f"{system.title} needs region series, and one subject has a connectivity matrix only. Leave it out."
            )
        model, validation, test = fitted_baseline(data, split, system.baseline)
        learnt = model.n_learnt() if isinstance(model, CountedModel) else float("nan")
        return Fitted(validation, test, learnt)
    assert graphs is not None

    def part(rows: NDArray[np.int64]) -> tuple[GraphBatch, torch.Tensor]:
        chosen = torch.tensor(rows)
        return graphs[chosen], torch.tensor(data.labels)[chosen]

    network = _trained(system, part(split.train), part(split.validation), len(data.groups), seed, device, progress)
    validation, test = (
        predict_logits(network, part(rows)[0], device=device).double().numpy()
        for rows in (split.validation, split.test)
    )
    return Fitted(validation, test, n_parameters(network), network)


def _trained(
    system: System,
    training: tuple[GraphBatch, torch.Tensor],
    validation: tuple[GraphBatch, torch.Tensor],
    n_groups: int,
    seed: int,
    device: torch.device | str,
    progress: Progress,
) -> torch.nn.Module:
    def tell(epoch: Epoch) -> None:
        progress(f"{system.title}, epoch {epoch.epoch}: validation loss {epoch.validation_loss:.3f}")

    if isinstance(system, BioBGTSystem):
        return train_model(
            training, validation, system.preset, n_groups=n_groups, seed=seed, device=device, progress=tell
        )
    assert isinstance(system, NetworkSystem)
    encoded, checked = training[0], validation[0]
    assert isinstance(encoded, EncodedBatch)
    assert isinstance(checked, EncodedBatch)
    build, n_regions = system.build, encoded.features.shape[2]
    return train_network(
        lambda: build(n_regions, n_groups),
        (encoded, training[1]),
        (checked, validation[1]),
        system.training,
        seed=seed,
        device=device,
        progress=tell,
    )
