"""Speed of BioBGT and of the networks beside it: dense batches against messages, epochs, a subject from its file on.

The plain way is written with PyTorch Geometric's ``MessagePassing`` on complete graphs: all graphs of a batch as one
large graph, which is how PyTorch Geometric batches, or graph by graph, which spares memory. It has the same weights,
and all ways must give the same logits and gradients to 1e-4.
"""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import softmax

from benchmarks.timing import Ratio, compare, print_ratios, timed
from biobgt.base.kept import MemoryStore
from biobgt.data.cohort import Subject
from biobgt.hubs import gamma_unit, node_entanglement
from biobgt.hubs.entanglement import EntanglementMethod
from biobgt.model.ensemble import Ensemble
from biobgt.model.inputs import GAMMA, LOUVAIN_RUNS, LOUVAIN_SEED, prepare
from biobgt.model.network import BioBGT, FunctionalModuleAttention, GraphBatch, ModuleExtractor
from biobgt.model.peers import encode, n_parameters, with_importance
from biobgt.model.presets import Preset, preset_named
from biobgt.model.systems import SYSTEMS, BioBGTSystem, NetworkSystem, System
from biobgt.modules import louvain_modules
from biobgt.readers import read_cohort
from biobgt.training.cohorts import cross_validation
from biobgt.training.evaluation import _inputs_of
from biobgt.training.faithfulness import measure_faithfulness
from biobgt.training.faithfulness_tables import ORDERS, SHARES
from biobgt.training.folds import LabelledGraphs
from biobgt.training.tables import EPOCH_REGIONS, EPOCH_SUBJECTS

N_REGIONS, BATCH, N_MEMBERS, N_FAITHFUL = EPOCH_REGIONS, 16, 10, 40
RUNS, LEAST_RATIO = 5, 20  # messages over a dense batch, in every run
MOST_SECONDS = 30  # processor time of an epoch on one thread

_STORE = MemoryStore()  # NE and modules of the graphs, computed once


def run() -> None:
    """Print the ratios, single-threaded and with all cores, and the processor time of epochs on one thread."""
    cores = torch.get_num_threads()
    for title, threads, clock in (("one thread", 1, process_time), ("all cores", cores, perf_counter)):
        torch.set_num_threads(threads)
        with threadpool_limits(threads):
            ratios = [*step_ratios(N_REGIONS, BATCH, clock), *subject_ratios(), faithfulness_ratio()]
            print_ratios(f"Model, {title}", ratios)
    torch.set_num_threads(1)
    with threadpool_limits(1):
        print_epochs()


def step_ratios(n_regions: int, batch: int, clock: Callable[[], float]) -> list[Ratio]:
    """Forward and backward pass of the paper's model, as messages over as a dense batch, each way run before.

    Batches of messages take 5 GB at 16 graphs of 200 regions. Memory that a process has already used is quicker than
    new memory: graph by graph, the first step of a process takes twice as long as those after it.
    """
    torch.manual_seed(0)
    model = BioBGT(preset_named("paper-abide"), n_regions=n_regions, n_groups=2).eval()
    graphs = _graphs(n_regions, batch, model.preset)
    expected, against = _step(model, graphs, _dense_logits), f"dense batch, forward and backward, n = {n_regions}"
    found = []
    for what, logits, promised in (
        (f"{batch} graphs in one batch, MessagePassing on all pairs", _plain_logits, f"≥ {LEAST_RATIO}"),
        (f"{batch} graphs one by one, MessagePassing on all pairs", _one_by_one, ""),
    ):
        _check_same(_step(model, graphs, logits), expected)
        ratios = [
            timed(lambda: _step(model, graphs, logits), repeats=1, clock=clock)[0]  # noqa: B023
            / timed(lambda: _step(model, graphs, _dense_logits), clock=clock)[0]
            for _ in range(RUNS)
        ]
        found.append(Ratio(f"{what}, least of {RUNS} runs (most {max(ratios):.1f} ×)", against, min(ratios), promised))
    return found


def _check_same(found: list[Tensor], expected: list[Tensor]) -> None:
    for one, other in zip(found, expected, strict=True):
        difference = float((one - other).abs().max() / other.abs().max().clamp(min=1e-3))
        if difference > 1e-4:
            raise AssertionError(f"The two ways differ by {difference}.")


def print_epochs() -> None:
    """Print the processor time of an epoch of every network of the benchmark, as many steps as an ABIDE split has."""
    title = f"An epoch of {EPOCH_SUBJECTS} subjects, n = {N_REGIONS}, one thread; classical models have no epochs"
    table = Table(
        "system", "parameters", "the paper's", "CPU seconds", "promised", "", title=title, title_justify="left"
    )
    for system, parameters, seconds in epoch_costs():
        verdict = "kept" if seconds <= MOST_SECONDS else "MISSED"
        papers = f"{system.paper.parameters:,}" if system.paper.parameters else "–"
        table.add_row(system.title, f"{parameters:,}", papers, f"{seconds:.1f}", f"≤ {MOST_SECONDS}", verdict)
    Console().print(table)


def epoch_costs() -> Iterator[tuple[System, int, float]]:
    """Every network of the benchmark, its parameters and the processor seconds of an epoch, from single steps."""
    for system in SYSTEMS.values():
        if (stepped := _network_step(system)) is not None:
            network, step = stepped
            step()
            seconds = timed(step, repeats=5, clock=process_time)[0] * EPOCH_SUBJECTS / BATCH
            yield system, n_parameters(network), seconds


def _network_step(system: System) -> tuple[nn.Module, Callable[[], object]] | None:
    """A network and one training step of it; None for a system that is no network."""
    if not isinstance(system, NetworkSystem | BioBGTSystem):
        return None
    graphs, groups = _graphs(N_REGIONS, BATCH, _inputs_of(system)), torch.arange(BATCH) % 2
    network: nn.Module
    losses: Callable[[], tuple[Tensor, Tensor]]
    if isinstance(system, NetworkSystem):
        own, encoded = system.build(N_REGIONS, 2), encode(graphs, system.encoding)
        network, losses = own, lambda: own.losses(encoded, groups)
    else:
        given, chance = with_importance(graphs, system.importance), torch.Generator()
        model = BioBGT(system.preset, n_regions=N_REGIONS, n_groups=2, n_features=given.features.shape[2])
        network, losses = model, lambda: model.losses(given, chance)
    optimiser = torch.optim.AdamW(network.parameters())

    def step() -> None:
        optimiser.zero_grad()
        logits, added = losses()
        (nn.functional.cross_entropy(logits, groups) + added).backward()  # type: ignore[no-untyped-call]
        optimiser.step()

    return network.train(), step


def subject_ratios() -> list[Ratio]:
    """A subject from its file to prediction and attention of ten members, over its NE and Louvain modules alone.

    The promise is about NE as :func:`biobgt.hubs.node_entanglement` computes it, exactly. The model reads the
    first-order approximation; the second ratio is over that.
    """
    preset = preset_named("best")
    members = tuple(BioBGT(preset, n_regions=N_REGIONS, n_groups=2).eval() for _ in range(N_MEMBERS))
    ensemble = Ensemble("benchmark", preset, "cc200", ("NC", "ASD"), members, (1.0,) * N_MEMBERS)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "subject.npy"
        np.save(file, _series(N_REGIONS, seed=0))

        def asked() -> object:
            cohort = read_cohort(file, atlas="cc200")
            ensemble.check(cohort)
            return ensemble.explain(cohort.subjects)

        subject = Subject("subject", series=_series(N_REGIONS, seed=0))
        weights = prepare([subject], preset).weights[0].double().numpy()
        weights = (weights + weights.T) / 2

        def network(method: EntanglementMethod) -> None:
            node_entanglement(weights, absolute_gamma=GAMMA * gamma_unit(weights), method=method)
            louvain_modules(weights, seed=LOUVAIN_SEED, runs=LOUVAIN_RUNS)

        asked()
        exact = compare(asked, lambda: network("exact"))
        first_order = compare(asked, lambda: network("first-order"), repeats=7)
    what = f"file to prediction and attention, {N_MEMBERS} members"
    return [
        Ratio(what, "its exact NE and Louvain alone", exact, "≤ 2"),
        Ratio(what, "first-order NE and Louvain, as the model reads them", first_order),
    ]


def faithfulness_ratio() -> Ratio:
    """The faithfulness of a model of ten members, over the time it takes to predict its subjects for each deletion."""
    preset = preset_named("best")
    graphs = _graphs(N_REGIONS, N_FAITHFUL, preset)
    labels = np.arange(N_FAITHFUL) % 2
    data = LabelledGraphs(
        graphs=graphs,
        matrices=graphs.features.numpy(),
        shrunk=None,
        shrinkage=preset.shrinkage,
        labels=labels,
        groups=("NC", "ASD"),
        subjects=tuple(map(str, range(N_FAITHFUL))),
    )
    members = tuple(BioBGT(preset, n_regions=N_REGIONS, n_groups=2).eval() for _ in range(N_MEMBERS))
    ensemble = Ensemble("benchmark", preset, "cc200", data.groups, members, (1.0,) * N_MEMBERS)
    splits = cross_validation([data.groups[label] for label in labels], folds=N_MEMBERS)
    deletions = 2 * len(ORDERS) * len(SHARES)
    ratio = compare(
        lambda: measure_faithfulness(members, ensemble.temperatures, data, splits, seed=0),
        lambda: ensemble.probabilities(graphs),
        repeats=3,
    )
    what = f"faithfulness of attention, {N_MEMBERS} members, {N_FAITHFUL} subjects, {deletions} deletions"
    return Ratio(what, "prediction of the subjects, once for each deletion", ratio / deletions, "≤ 2")


class _PlainConvolution(MessagePassing):  # type: ignore[misc]  # PyTorch Geometric has no types
    """One graph convolution of ψ: a message an edge, self-loops among them."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__(aggr="add", node_dim=0)
        self.layer = layer

    def forward(self, x: Tensor, edges: Tensor, scale: Tensor) -> Tensor:
        return self.propagate(edges, x=self.layer(x), scale=scale)

    def message(self, x_j: Tensor, scale: Tensor) -> Tensor:
        return x_j * scale[:, None]


class _PlainAttention(MessagePassing):  # type: ignore[misc]
    """FM-Attn as messages: a region receives from every region what its kernel lets through."""

    def __init__(self, attention: FunctionalModuleAttention) -> None:
        super().__init__(aggr="add", node_dim=0)
        self.attention = attention

    def forward(self, h: Tensor, edges: Tensor) -> Tensor:
        parts = (self.attention.query(h), self.attention.key(h), self.attention.value(h))
        query, key, value = (part.view(len(h), self.attention.heads, -1) for part in parts)
        return self.attention.output(self.propagate(edges, query=query, key=key, value=value).flatten(1))

    def message(self, query_i: Tensor, key_j: Tensor, value_j: Tensor, index: Tensor) -> Tensor:
        scores = (query_i * key_j).sum(dim=-1) / query_i.shape[-1] ** 0.5
        return value_j * softmax(scores, index)[:, :, None]


def _plain_logits(model: BioBGT, graphs: GraphBatch) -> Tensor:
    """The paper's model on the disjoint union of graphs, shape (B, n_groups)."""
    batch, n = graphs.weights.shape[:2]
    within = torch.cartesian_prod(torch.arange(n), torch.arange(n)).T.flip(0)  # from, to: every region to every region
    pairs = (within[:, None] + n * torch.arange(batch)[None, :, None]).flatten(1)
    looped = graphs.weights + torch.eye(n)
    degree = looped.sum(dim=2).flatten()
    scale = looped[:, within[0], within[1]].flatten() / (degree[pairs[0]] * degree[pairs[1]]).sqrt()
    kept = scale > 0
    x = model.importance(model.project(graphs.features), graphs.entanglement).flatten(0, 1)
    extractor = model.extractor
    assert isinstance(extractor, ModuleExtractor)
    for layer in model.layers:
        h = x
        for i, convolution in enumerate(extractor.convolutions):
            h = _PlainConvolution(convolution)(h if i == 0 else h.relu(), pairs[:, kept], scale[kept])
        attended = _PlainAttention(layer.attention)(h, pairs)  # type: ignore[arg-type]
        x = layer.first_norm(x + attended)  # type: ignore[operator]
        x = layer.second_norm(layer.feed_forward(x))  # type: ignore[operator]
    return torch.as_tensor(model.readout.classify(x.view(batch, n, -1).mean(dim=1)))


def _one_by_one(model: BioBGT, graphs: GraphBatch) -> Tensor:
    return torch.cat([_plain_logits(model, graphs[slice(i, i + 1)]) for i in range(len(graphs))])


def _dense_logits(model: BioBGT, graphs: GraphBatch) -> Tensor:
    return torch.as_tensor(model(graphs))


def _step(model: BioBGT, graphs: GraphBatch, logits_of: Callable[[BioBGT, GraphBatch], Tensor]) -> list[Tensor]:
    """Logits and gradients of one training step, dropout aside."""
    model.zero_grad()
    logits = logits_of(model, graphs)
    loss = nn.functional.cross_entropy(logits, torch.arange(len(graphs)) % 2)
    loss.backward()  # type: ignore[no-untyped-call]
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    return [logits.detach(), *(gradient.clone() for gradient in gradients)]


def _graphs(n_regions: int, batch: int, preset: Preset) -> GraphBatch:
    subjects = [Subject(str(seed), series=_series(n_regions, seed=seed)) for seed in range(batch)]
    return prepare(subjects, preset, store=_STORE)


def _series(n_regions: int, *, seed: int) -> np.ndarray:
    """Series of eight modules, as long as an ABIDE subject's."""
    rng = np.random.default_rng(seed)
    signals = rng.standard_normal((180, 8))[:, np.arange(n_regions) % 8]
    return np.asarray(0.7 * signals + rng.standard_normal((180, n_regions)))
