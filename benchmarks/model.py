"""Speed of BioBGT: dense batches against one message a pair of regions, and a subject from its file to its attention.

The plain way is written with PyTorch Geometric's ``MessagePassing``, graph by graph on the complete graph; it has the
same weights, and both must give the same logits and gradients to 1e-4.
"""

import tempfile
from pathlib import Path

import numpy as np
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import softmax

from benchmarks.timing import Ratio, compare, print_ratios, timed
from biobgt.cohort import Subject
from biobgt.connectome import functional_connectivity
from biobgt.hubs import gamma_unit, node_entanglement
from biobgt.hubs.entanglement import EntanglementMethod
from biobgt.model.attention import FunctionalModuleAttention
from biobgt.model.batch import GraphBatch
from biobgt.model.ensemble import Ensemble
from biobgt.model.extractor import ModuleExtractor
from biobgt.model.inputs import GAMMA, LOUVAIN_SEED, correlations, prepare_matrices
from biobgt.model.presets import preset_named
from biobgt.model.transformer import BioBGT
from biobgt.modules import louvain_modules
from biobgt.readers import read_cohort

N_REGIONS, BATCH, N_MEMBERS = 200, 16, 10


def run() -> None:
    """Print the ratios, single-threaded and with all cores."""
    cores = torch.get_num_threads()
    for title, threads in (("one thread", 1), ("all cores", cores)):
        torch.set_num_threads(threads)
        with threadpool_limits(threads):
            print_ratios(f"Model, {title}", [step_ratio(N_REGIONS, BATCH), *subject_ratios()])


def step_ratio(n_regions: int, batch: int) -> Ratio:
    """Forward and backward pass of the paper's model, as messages over as a dense batch."""
    torch.manual_seed(0)
    model = BioBGT(preset_named("paper-abide"), n_regions=n_regions, n_groups=2).eval()
    graphs = _graphs(n_regions, batch)
    plain, expected = timed(lambda: _step(model, graphs, dense=False), repeats=1)
    dense, found = timed(lambda: _step(model, graphs, dense=True))
    for one, other in zip(found, expected, strict=True):
        difference = float((one - other).abs().max() / other.abs().max().clamp(min=1e-3))
        if difference > 1e-4:
            raise AssertionError(f"The two ways differ by {difference}.")
    what = f"{batch} graphs one by one, MessagePassing on all pairs"
    return Ratio(what, f"dense batch, forward and backward, n = {n_regions}", plain / dense, "≥ 20")


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
        weights = prepare_matrices([correlations(subject)], preset).weights[0].double().numpy()
        weights = (weights + weights.T) / 2

        def network(method: EntanglementMethod) -> None:
            node_entanglement(weights, gamma=GAMMA * gamma_unit(weights), method=method)
            louvain_modules(weights, seed=LOUVAIN_SEED)

        asked()
        exact = compare(asked, lambda: network("exact"))
        first_order = compare(asked, lambda: network("first-order"), repeats=7)
    what = f"file to prediction and attention, {N_MEMBERS} members"
    return [
        Ratio(what, "its exact NE and Louvain alone", exact, "≤ 2"),
        Ratio(what, "first-order NE and Louvain, as the model reads them", first_order),
    ]


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


def _plain_logits(model: BioBGT, graphs: GraphBatch, number: int) -> Tensor:
    """The paper's model on one graph, shape (n_groups,)."""
    weights = graphs.weights[number]
    n = len(weights)
    pairs = torch.cartesian_prod(torch.arange(n), torch.arange(n)).T.flip(0)  # from, to: every region to every region
    looped = weights + torch.eye(n)
    degree = looped.sum(dim=1)
    scale = looped[pairs[0], pairs[1]] / (degree[pairs[0]] * degree[pairs[1]]).sqrt()
    kept = scale > 0
    x = model.importance(model.project(graphs.features[number]), graphs.entanglement[number])
    extractor = model.extractor
    assert isinstance(extractor, ModuleExtractor)
    for layer in model.layers:
        h = x
        for i, convolution in enumerate(extractor.convolutions):
            h = _PlainConvolution(convolution)(h if i == 0 else h.relu(), pairs[:, kept], scale[kept])
        attended = _PlainAttention(layer.attention)(h, pairs)  # type: ignore[arg-type]
        x = layer.first_norm(x + attended)  # type: ignore[operator]
        x = layer.second_norm(layer.feed_forward(x))  # type: ignore[operator]
    return torch.as_tensor(model.readout.classify(x.mean(dim=0)))


def _step(model: BioBGT, graphs: GraphBatch, *, dense: bool) -> list[Tensor]:
    """Logits and gradients of one training step, dropout aside."""
    model.zero_grad()
    if dense:
        logits = model(graphs)
    else:
        logits = torch.stack([_plain_logits(model, graphs, number) for number in range(len(graphs))])
    loss = nn.functional.cross_entropy(logits, torch.arange(len(graphs)) % 2)
    loss.backward()  # type: ignore[no-untyped-call]
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    return [logits.detach(), *(gradient.clone() for gradient in gradients)]


def _graphs(n_regions: int, batch: int) -> GraphBatch:
    matrices = [functional_connectivity(_series(n_regions, seed=seed)) for seed in range(batch)]
    return prepare_matrices(matrices, preset_named("paper-abide"))


def _series(n_regions: int, *, seed: int) -> np.ndarray:
    """Series of eight modules, as long as an ABIDE subject's."""
    rng = np.random.default_rng(seed)
    signals = rng.standard_normal((180, 8))[:, np.arange(n_regions) % 8]
    return np.asarray(0.7 * signals + rng.standard_normal((180, n_regions)))
