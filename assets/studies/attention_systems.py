"""Where Graphormer, SAT and BioBGT look on the same test subjects: the paper's figure 6, on ABIDE.

    python assets/studies/attention_systems.py DATA WORK [--features FOLDER]

Each network is trained on the first of the ten random 80/10/10 splits with seed 0, exactly as ``biobgt benchmark``
trains it, and its attention on the test subjects is averaged over layers, heads and subjects. A network that is done
is a file in the folder WORK; run again, the others follow. Beside this script it writes ``attention_systems.npz``:
one mean map per network, no map of a subject. One core, about half an hour.
"""

from pathlib import Path
from typing import Annotated

import numpy as np
import torch
import typer
from numpy.typing import NDArray

from biobgt.base.errors import InputError
from biobgt.model.network import BioBGT, GraphBatch
from biobgt.model.peers import _DenseAttention
from biobgt.model.systems import SYSTEMS
from biobgt.training import classification_metrics
from biobgt.training.cohorts import protocol_splits, training_cohort
from biobgt.training.evaluation import _fit_system, _graphs_for, _inputs_of
from biobgt.training.folds import label_graphs
from biobgt.training.metrics import calibrated

MEASURED = Path(__file__).with_name("attention_systems.npz")
MODEL = "abide-cc200"
COMPARED = ("graphormer", "sat-pe", "best")
_AT_ONCE = 16


def main(
    data: Annotated[Path, typer.Argument(help="Folder of the real cohorts.")],
    work: Annotated[Path, typer.Argument(help="Folder for what is done, outside the project.")],
    features: Annotated[Path | None, typer.Option(help="Folder where NE and modules are kept.")] = None,
) -> None:
    """Train the networks, and average their attention."""
    torch.set_num_threads(1)
    cohort = training_cohort("abide", data)
    split = protocol_splits(cohort, "random", n=10, seed=0)[0]
    work.mkdir(parents=True, exist_ok=True)
    for key in COMPARED:
        file = work / f"{key}.npz"
        if file.exists():
            continue
        system = SYSTEMS[key]
        prepared = label_graphs(cohort, _inputs_of(system), kept=features)
        graphs = _graphs_for(system, prepared)
        fitted = _fit_system(system, prepared, graphs, split, seed=0, progress=lambda words: print(words, flush=True))
        assert fitted.network is not None
        attention = mean_attention(fitted.network, graphs[torch.tensor(split.test)])
        metrics = classification_metrics(prepared.labels[split.test], calibrated(fitted.test, 1.0), prepared.groups)
        np.savez(file, attention=attention, auc=metrics["auc"])
    parts = [np.load(work / f"{key}.npz", allow_pickle=False) for key in COMPARED]
    np.savez_compressed(
        MEASURED,
        model=MODEL,
        split=split.name,
        n_subjects=len(split.test),
        systems=np.array(COMPARED),
        titles=np.array([SYSTEMS[key].title for key in COMPARED]),
        maps=np.stack([part["attention"] for part in parts]).astype(np.float16),
        auc=np.array([float(part["auc"]) for part in parts]),
    )


@torch.no_grad()
def mean_attention(
    network: torch.nn.Module, graphs: GraphBatch, *, device: torch.device | str = "cpu"
) -> NDArray[np.float64]:
    """Mean attention over layers, heads and subjects, in multiples of uniform attention, shape (n_regions, n_regions).

    Parameters
    ----------
    network : Module
        BioBGT, or a network of the benchmark that attends.
    graphs : GraphBatch
        As the network takes them.
    device : torch.device or str
    """
    network.eval().to(device)
    total = torch.zeros(graphs.weights.shape[1:], dtype=torch.float64)
    for start in range(0, len(graphs), _AT_ONCE):
        batch = graphs[slice(start, start + _AT_ONCE)].to(device)
        if isinstance(network, BioBGT):
            maps = torch.stack([one.weights for one in network.explain(batch).attention]).mean(dim=0)
        else:
            maps = _weights(network, batch)
        total += maps.double().cpu().sum(dim=0)
    return np.asarray(total / len(graphs) * len(total))


def _weights(network: torch.nn.Module, batch: GraphBatch) -> torch.Tensor:
    """Mean attention between regions over layers and heads, shape (B, n, n); a token before the regions is left out."""
    layers = [part for part in network.modules() if isinstance(part, _DenseAttention)]
    if not layers:
        raise InputError(f"A {type(network).__name__} has no attention between regions.")
    maps: list[torch.Tensor] = []

    def look(layer: _DenseAttention, given: tuple[torch.Tensor, ...], options: dict[str, torch.Tensor]) -> None:
        maps.append(layer.weights(given[0], bias=options.get("bias")).mean(dim=1))

    hooks = [layer.register_forward_pre_hook(look, with_kwargs=True) for layer in layers]
    network(batch)
    for hook in hooks:
        hook.remove()
    n = batch.weights.shape[1]
    return torch.stack(maps).mean(dim=0)[:, -n:, -n:]


if __name__ == "__main__":
    typer.run(main)
