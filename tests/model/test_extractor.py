"""ψ against slow loops: edge scores, edge dropping, normalised graphs, graph convolutions, and the loss of Eq. 8."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from biobgt.model.network import ModuleExtractor, drop_edges, edge_scores, info_nce, normalised, same_module


def _graphs(n: int = 7, batch: int = 2, *, density: float = 0.7, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    weights = torch.rand(batch, n, n, generator=generator, dtype=torch.float64).triu(1) + 0.05
    weights = (weights * (torch.rand(batch, n, n, generator=generator) < density)).triu(1)
    return weights + weights.transpose(1, 2), torch.randint(0, 4, (batch, n), generator=generator)


def _loop_loss(first: Tensor, second: Tensor, modules: Tensor, anchors: Tensor, temperature: float) -> float:
    """Eq. 8 written out: anchor by anchor, positive by positive."""
    losses = []
    for graph in range(len(first)):
        views = [first[graph], second[graph]]
        labels = modules[graph].tolist()
        for i in anchors[graph].tolist():
            if labels[i] == 0:
                continue
            positives, negatives = [], []
            for number, view in enumerate(views):
                for j, label in enumerate(labels):
                    cosine = float(first[graph, i] @ view[j] / (first[graph, i].norm() * view[j].norm()))
                    if label == labels[i] and not (number == 0 and j == i):
                        positives.append(cosine / temperature)
                    elif label not in (0, labels[i]):
                        negatives.append(cosine / temperature)
            if positives and negatives:
                total = math.log(sum(math.exp(value) for value in negatives))
                losses.append(sum(total - value for value in positives) / len(positives))
    return sum(losses) / len(losses) if losses else 0.0


def test_edge_scores_of_a_hand_made_graph() -> None:
    weights = torch.tensor([[[0, 0.5, 0.2], [0.5, 0, 0.1], [0.2, 0.1, 0]]])
    modules = torch.tensor([[1, 1, 2]])
    scores = edge_scores(weights, same_module(modules, modules))[0]
    assert scores[0, 1] == pytest.approx(1.0)  # within a module: w + max(w)
    assert scores[0, 2] == pytest.approx(-0.3)  # between modules: w − max(w)
    assert scores[1, 2] == pytest.approx(-0.4)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**31), share=st.sampled_from([0.0, 0.25, 0.5, 0.75]), n=st.integers(2, 9))
def test_edges_are_dropped_up_to_the_same_score_as_by_sorting(seed: int, share: float, n: int) -> None:
    weights, modules = _graphs(n, seed=seed)
    noise = torch.rand(weights.shape, generator=torch.Generator().manual_seed(seed), dtype=weights.dtype)
    kept = drop_edges(weights, modules, share, noise)
    for graph in range(len(weights)):
        pairs = [(i, j) for i in range(n) for j in range(i + 1, n) if weights[graph, i, j] > 0]
        scores = edge_scores(weights, same_module(modules, modules))[graph] + noise[graph] * weights[graph].max()
        ranked = sorted(pairs, key=lambda pair: float(scores[pair]))
        left = set(ranked[int(len(pairs) * share) :])
        assert {(i, j) for i in range(n) for j in range(i + 1, n) if kept[graph, i, j] > 0} == left


def test_a_region_without_a_module_shares_none() -> None:
    weights = torch.tensor([[[0, 0.5], [0.5, 0]]])
    none = torch.tensor([[0, 0]])
    assert edge_scores(weights, same_module(none, none))[0, 0, 1] == 0


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**31), share=st.floats(0, 1), n=st.integers(2, 9))
def test_edges_between_modules_are_dropped_first(seed: int, share: float, n: int) -> None:
    weights, modules = _graphs(n, seed=seed)
    noise = torch.rand(weights.shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    views = drop_edges(weights, modules, share, noise)
    assert torch.equal(views, views.transpose(1, 2))
    for before, after, labels in zip(weights, views, modules, strict=True):
        edges = [(i, j) for i in range(n) for j in range(i + 1, n) if before[i, j] > 0]
        kept = [(i, j) for i, j in edges if after[i, j] > 0]
        assert all(after[i, j] == before[i, j] for i, j in kept)
        assert int((after > 0).sum()) == 2 * len(kept)  # no new edge
        dropped = set(edges) - set(kept)
        # Of a complete graph the strongest edge always stays.
        assert len(dropped) == min(int(torch.tensor(len(edges)) * share), n * (n - 1) // 2 - 1)
        within = {(i, j) for i, j in edges if labels[i] == labels[j] > 0}
        if dropped & within:  # then no edge between modules is left
            assert set(kept) <= within


def test_the_weakest_edge_within_its_kind_goes_first_without_noise() -> None:
    weights, modules = _graphs(8, density=1.0)
    modules = torch.ones_like(modules)
    view = drop_edges(weights, modules, 0.5, torch.zeros_like(weights))
    for before, after in zip(weights, view, strict=True):
        assert before[after > 0].min() >= before[(before > 0) & (after == 0)].max()


def test_two_draws_of_noise_give_two_views() -> None:
    weights, modules = _graphs(12)
    first, second = (drop_edges(weights, modules, 0.4, torch.rand(weights.shape)) for _ in range(2))
    assert not torch.equal(first, second)


def test_normalised_graph_against_loops() -> None:
    weights, _ = _graphs()
    found = normalised(weights)
    for graph, result in zip(weights, found, strict=True):
        looped = graph + torch.eye(len(graph))
        for i in range(len(graph)):
            for j in range(len(graph)):
                expected = looped[i, j] / math.sqrt(looped[i].sum() * looped[j].sum())
                assert result[i, j] == pytest.approx(float(expected))


def test_extractor_is_the_graph_convolution_of_its_neighbours() -> None:
    torch.manual_seed(0)
    extractor = ModuleExtractor(3, 2).double()
    weights, _ = _graphs(5, 1)
    x = torch.randn(1, 5, 3, dtype=torch.float64)
    looped = weights[0] + torch.eye(5)
    degree = looped.sum(dim=1)
    h = x[0]
    for number, layer in enumerate(extractor.convolutions):
        inputs = h if number == 0 else h.relu()
        messages = [layer(inputs[j]) for j in range(5)]
        h = torch.stack(
            [sum(looped[i, j] / (degree[i] * degree[j]).sqrt() * messages[j] for j in range(5)) for i in range(5)]
        )
    torch.testing.assert_close(extractor(x, weights)[0], h)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**31), temperature=st.sampled_from([0.2, 0.5, 1.0]))
def test_info_nce_against_loops(seed: int, temperature: float) -> None:
    _, modules = _graphs(6, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    first, second = (torch.randn(2, 6, 3, generator=generator, dtype=torch.float64) for _ in range(2))
    anchors = torch.stack([torch.randperm(6, generator=generator)[:4] for _ in range(2)])
    found = info_nce(first, second, modules, anchors, temperature=temperature)
    assert float(found) == pytest.approx(_loop_loss(first, second, modules, anchors, temperature), abs=1e-9)


@pytest.mark.parametrize(
    ("name", "modules", "has_contrast"),
    [
        ("modules of one region", [1, 2, 3, 4, 5], True),  # its positive is itself in the other view
        ("one module", [1, 1, 1, 1, 1], False),
        ("no module", [0, 0, 0, 0, 0], False),
        ("one region with a module", [1, 0, 0, 0, 0], False),
        ("two modules", [1, 1, 2, 2, 0], True),
    ],
)
def test_info_nce_is_finite_whatever_the_modules(name: str, modules: list[int], has_contrast: bool) -> None:
    torch.manual_seed(0)
    first, second = (torch.randn(1, 5, 3, requires_grad=True) for _ in range(2))
    loss = info_nce(first, second, torch.tensor([modules]), torch.arange(5)[None], temperature=0.5)
    loss.backward()
    assert torch.isfinite(loss), name
    for view in (first, second):
        assert view.grad is not None
        assert torch.isfinite(view.grad).all()
        assert bool((view.grad != 0).any()) == has_contrast
    assert bool(loss != 0) == has_contrast


def test_info_nce_survives_embeddings_that_are_zero() -> None:
    first = torch.zeros(1, 4, 3, requires_grad=True)
    loss = info_nce(first, first, torch.tensor([[1, 1, 2, 2]]), torch.arange(4)[None], temperature=0.1)
    loss.backward()
    assert torch.isfinite(loss)
    assert first.grad is not None
    assert torch.isfinite(first.grad).all()


def test_info_nce_prefers_embeddings_that_follow_the_modules() -> None:
    modules = torch.tensor([[1, 1, 2, 2]])
    along = torch.tensor([[[1.0, 0], [1, 0], [0, 1], [0, 1]]])
    across = torch.tensor([[[1.0, 0], [0, 1], [1, 0], [0, 1]]])
    good, bad = (info_nce(h, h, modules, torch.arange(4)[None], temperature=0.5) for h in (along, across))
    assert good < bad
