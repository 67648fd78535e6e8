"""Classify the papers of a citation network, as in the paper's last table: reading, training, one line per run.

A network is trained on the nodes of the public split's training part; its epoch is the one with the least loss on the
validation nodes; among settings :func:`biobgt.training.tables.chosen_settings` takes the one with the best
validation accuracy. Test nodes are asked once.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch.nn import functional

from assets.studies.citation_tables import CITATION_METRICS
from assets.studies.node_networks import NodeGraph, NodeNetwork, sparse_matrix
from biobgt.base.errors import InputError
from biobgt.hubs import node_entanglement
from biobgt.model.inputs import GAMMA, LOUVAIN_RUNS, LOUVAIN_SEED
from biobgt.model.peers import n_parameters
from biobgt.model.systems import RANDOM_WALK
from biobgt.modules import louvain_modules
from biobgt.training.metrics import classification_metrics

Build = Callable[[NodeGraph, int], NodeNetwork]


@dataclass(frozen=True, eq=False)
class CitationNetwork:
    """A citation network with classes and the public split.

    Attributes
    ----------
    graph : NodeGraph
    classes : Tensor of int, shape (n,)
        −1 for a node of no class, which is in no part.
    parts : mapping of str to Tensor of int
        Nodes for ``train``, ``validation`` and ``test``.
    """

    graph: NodeGraph
    classes: torch.Tensor
    parts: Mapping[str, torch.Tensor]

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return int(self.classes.max()) + 1


@dataclass(frozen=True)
class NodeTraining:
    """How a network over nodes is trained: Adam on all training nodes at once.

    Attributes
    ----------
    learning_rate, weight_decay : float
    epochs : int
    patience : int
        Training ends when the validation loss has not improved for so many epochs.
    pretraining : int
        Steps in which the added loss alone is taught, without any class.
    added : float
        Weight of the added loss in training.
    """

    learning_rate: float = 5e-3
    weight_decay: float = 5e-4
    epochs: int = 300
    patience: int = 50
    pretraining: int = 0
    added: float = 0.0


def read_citations(file: Path, *, kept: Path | None = None) -> CitationNetwork:
    """Read a citation network, and find NE, modules and positions of its nodes.

    NE is first-order, on the control graph, at the γ of brain graphs; for 3,000 nodes it takes five to ten seconds, and
    Louvain's modules five to fifteen.

    Parameters
    ----------
    file : Path
        An ``.npz`` with ``shape``, ``feature_row``, ``feature_col``, ``edges``, ``label``, ``train``, ``validation``
        and ``test``.
    kept : Path, optional
        Folder that keeps NE, modules and positions.
    """
    if not file.exists():
        raise InputError(f"There is no file '{file}'. Name the folder that holds cora.npz and citeseer.npz.")
    with np.load(file, allow_pickle=False) as stored:
        data = {name: stored[name] for name in stored.files}
    n, n_features = (int(size) for size in data["shape"])
    rows, columns = data["feature_row"].astype(np.int64), data["feature_col"].astype(np.int64)
    share = (1 / np.bincount(rows, minlength=n).clip(min=1))[rows].astype(np.float32)  # a paper's words sum to 1
    features = sparse_matrix(torch.from_numpy(np.stack([rows, columns])), torch.from_numpy(share), (n, n_features))
    edges = data["edges"].astype(np.int64)
    edges = edges[edges[:, 0] != edges[:, 1]]
    found = _measured(edges, n, None if kept is None else kept / f"{file.stem}.npz")
    graph = NodeGraph(features, torch.from_numpy(edges.T.copy()), *(torch.from_numpy(one) for one in found))
    parts = {part: torch.from_numpy(data[part].astype(np.int64)) for part in ("train", "validation", "test")}
    return CitationNetwork(graph, torch.from_numpy(data["label"].astype(np.int64)), parts)


def _measured(edges: NDArray[np.int64], n: int, file: Path | None) -> list[NDArray[Any]]:
    """NE, modules and positions of all nodes."""
    if file is not None and file.exists():
        with np.load(file, allow_pickle=False) as stored:
            return [stored[name] for name in ("entanglement", "modules", "positions")]
    weights = np.zeros((n, n))
    weights[edges[:, 0], edges[:, 1]] = weights[edges[:, 1], edges[:, 0]] = 1
    entanglement = node_entanglement(weights, gamma=GAMMA, method="first-order").astype(np.float32)
    modules = louvain_modules(weights, seed=LOUVAIN_SEED, runs=LOUVAIN_RUNS).labels.astype(np.int64)
    positions = sparse_walk_returns(weights, RANDOM_WALK.size).astype(np.float32)
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        np.savez(file, entanglement=entanglement, modules=modules, positions=positions)
    return [entanglement, modules, positions]


def sparse_walk_returns(weights: NDArray[np.float64], steps: int) -> NDArray[np.float64]:
    """How probable a random walk is back after 1, 2, … steps, shape (n, steps), by the edges of a sparse graph.

    Parameters
    ----------
    weights : ndarray, shape (n, n)
    steps : int
    """
    walk = csr_array(weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-12))
    power, returns = walk.toarray(), []
    for _ in range(steps):
        returns.append(power.diagonal().copy())
        power = walk @ power
    return np.stack(returns, axis=1)


def fit_nodes(data: CitationNetwork, build: Build, training: NodeTraining, *, seed: int) -> dict[str, float]:
    """Train one network and test it.

    Parameters
    ----------
    data : CitationNetwork
    build : callable
        From the graph and the number of classes to a network that is not trained yet.
    training : NodeTraining
    seed : int
        Of the initial weights and the dropout.

    Returns
    -------
    dict of str to float
        ``validation_accuracy`` and ``epoch`` of the epoch taken, ``accuracy``, ``f1`` and ``auc`` of the test nodes
        (mean over classes, each against all others), and ``parameters``.
    """
    torch.manual_seed(seed)
    network = build(data.graph, data.n_classes)
    optimiser = torch.optim.Adam(network.parameters(), lr=training.learning_rate, weight_decay=training.weight_decay)
    for _ in range(training.pretraining):
        _step(optimiser, network.train().added_loss(data.graph))
    best, best_loss, best_epoch, accuracy = network.state_dict(), math.inf, 0, math.nan
    for epoch in range(1, training.epochs + 1):
        network.train()
        loss = functional.cross_entropy(network(data.graph, data.parts["train"]), data.classes[data.parts["train"]])
        _step(optimiser, loss + training.added * network.added_loss(data.graph) if training.added else loss)
        logits, truth = _asked(network, data, "validation")
        if (now := float(functional.cross_entropy(logits, truth))) < best_loss:
            best_loss, best_epoch, accuracy = now, epoch, float((logits.argmax(dim=1) == truth).float().mean())
            best = {name: value.clone() for name, value in network.state_dict().items()}
        if epoch - best_epoch >= training.patience:
            break
    network.load_state_dict(best)
    logits, truth = _asked(network, data, "test")
    names = [str(number) for number in range(data.n_classes)]
    metrics = classification_metrics(truth.numpy(), logits.double().softmax(dim=1).numpy(), names)
    tested = {name: metrics[name] for name in CITATION_METRICS}
    return {"validation_accuracy": accuracy, "epoch": best_epoch, **tested, "parameters": n_parameters(network)}


def _step(optimiser: torch.optim.Optimizer, loss: torch.Tensor) -> None:
    optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimiser.step()


@torch.no_grad()
def _asked(network: NodeNetwork, data: CitationNetwork, part: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits of a part's nodes and their classes."""
    nodes = data.parts[part]
    return network.eval()(data.graph, nodes), data.classes[nodes]
