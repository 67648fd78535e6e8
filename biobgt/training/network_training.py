"""Train a network of the benchmark in the loop that trains BioBGT: same optimiser, schedule and choice of the epoch."""

from collections.abc import Callable

import torch
from torch import Tensor

from biobgt.model.baselines.graph_encodings import EncodedBatch
from biobgt.model.baselines.graph_network import GraphNetwork
from biobgt.model.training_settings import TrainingSettings
from biobgt.training.trainer import Epoch, Run


def train_network(
    build: Callable[[], GraphNetwork],
    training: tuple[EncodedBatch, Tensor],
    validation: tuple[EncodedBatch, Tensor],
    settings: TrainingSettings,
    *,
    seed: int = 0,
    device: torch.device | str = "cpu",
    progress: Callable[[Epoch], None] | None = None,
) -> GraphNetwork:
    """Train and return the network with the best validation loss.

    Parameters
    ----------
    build : callable
        Makes the network, whose weights are drawn with the seed.
    training, validation : (EncodedBatch, Tensor)
        Graphs with the encodings that it takes, and the number of each one's group, shape (n_subjects,).
    settings : TrainingSettings
    seed : int
        Of the initial weights, the order of subjects and the dropout.
    device : torch.device or str
    progress : callable, optional
        Told each epoch.
    """
    torch.manual_seed(seed)
    network, where = build().to(device), torch.device(device)
    run = _NetworkRun(network, settings, seed=seed, device=where, n_subjects=len(training[0]))
    run.to_the_end(training, validation, progress=progress)
    return network


class _NetworkRun(Run):
    """A run of a network that is not BioBGT."""

    model: GraphNetwork

    def losses(self, graphs: EncodedBatch, groups: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        return self.model.losses(graphs, groups)
