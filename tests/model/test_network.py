"""The network: Φ, ψ, FM-Attn, the whole transformer and the bound of Theorem 2."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from planted_cohort import planted_cohort, small
from sklearn.metrics import roc_auc_score
from torch import Tensor
from torch.nn import functional

from assets.studies.attention_bound import attention_bound, head_bounds
from biobgt.base.errors import InputError
from biobgt.data.cohort import Subject
from biobgt.model.inputs import prepare
from biobgt.model.network import (
    BioBGT,
    Dropout,
    FunctionalModuleAttention,
    GraphBatch,
    ModuleExtractor,
    NodeImportanceEncoding,
    _drop_some,
    drop_edges,
    info_nce,
)
from biobgt.model.presets import PRESETS, Preset, preset_named
from biobgt.training.trainer import predict_logits, train_model


def _graphs(n: int = 7, batch: int = 2, *, density: float = 0.7, seed: int = 0):
    generator = torch.Generator().manual_seed(seed)
    weights = torch.rand(batch, n, n, generator=generator, dtype=torch.float64).triu(1) + 0.05
    weights = (weights * (torch.rand(batch, n, n, generator=generator) < density)).triu(1)
    return weights + weights.transpose(1, 2), torch.randint(0, 4, (batch, n), generator=generator)


def _loop_loss(first: Tensor, second: Tensor, modules: Tensor, anchors: Tensor, temperature: float):
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


@pytest.mark.parametrize(
    ("modules", "kept"), [([1, 1, 2], {(0, 1), (0, 2)}), ([1, 2, 2], {(1, 2), (0, 1)}), ([0, 0, 1], {(0, 1), (0, 2)})]
)
def test_the_weakest_edge_between_modules_is_the_first_to_go(modules, kept):
    weights = torch.tensor([[[0, 0.5, 0.2], [0.5, 0, 0.1], [0.2, 0.1, 0]]])
    view = drop_edges(weights, torch.tensor([modules]), 0.4, torch.zeros(1, 3, 3))[0]
    assert {(i, j) for i in range(3) for j in range(i + 1, 3) if view[i, j] > 0} == kept


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**31), share=st.floats(0, 1), n=st.integers(2, 9))
def test_edges_are_dropped_up_to_the_same_score_as_by_sorting(seed, share, n):
    weights, modules = _graphs(n, seed=seed)
    noise = torch.rand(weights.shape, generator=torch.Generator().manual_seed(seed), dtype=weights.dtype)
    views = drop_edges(weights, modules, share, noise)
    assert torch.equal(views, views.transpose(1, 2))
    for before, after, labels, drawn in zip(weights, views, modules, noise, strict=True):
        pairs = [(i, j) for i in range(n) for j in range(i + 1, n) if before[i, j] > 0]
        within = (labels[:, None] == labels[None]) & (labels > 0)  # at least as much as any between modules
        scores = before + torch.where(within, before.max(), -before.max()) + drawn * before.max()
        # Of a complete graph the strongest edge always stays.
        n_dropped = min(int(torch.tensor(len(pairs)) * share), n * (n - 1) // 2 - 1)
        left = set(sorted(pairs, key=lambda pair: float(scores[pair]))[n_dropped:])
        assert {(i, j) for i in range(n) for j in range(i + 1, n) if after[i, j] > 0} == left
        assert all(after[pair] == before[pair] for pair in left)


def test_extractor_is_the_graph_convolution_of_its_neighbours():
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
def test_info_nce_against_loops(seed: int, temperature: float):
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
def test_info_nce_is_finite_whatever_the_modules(name, modules: list[int], has_contrast: bool):
    torch.manual_seed(0)
    first, second = (torch.randn(1, 5, 3, requires_grad=True) for _ in range(2))
    loss = info_nce(first, second, torch.tensor([modules]), torch.arange(5)[None], temperature=0.5)
    loss.backward()
    assert torch.isfinite(loss), name
    for view in (first, second):
        assert torch.isfinite(view.grad).all()
        assert bool((view.grad != 0).any()) == has_contrast
    assert bool(loss != 0) == has_contrast


def test_info_nce_survives_embeddings_that_are_zero():
    first = torch.zeros(1, 4, 3, requires_grad=True)
    loss = info_nce(first, first, torch.tensor([[1, 1, 2, 2]]), torch.arange(4)[None], temperature=0.1)
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(first.grad).all()


def test_importance_is_told_apart_by_quantile():
    encoding = NodeImportanceEncoding(4, 3)
    encoding.learn_quantiles(torch.arange(100.0))
    assert encoding.edges.tolist() == pytest.approx([24.75, 49.5, 74.25])
    x, values = torch.randn(1, 5, 3), torch.tensor([[-5.0, 10, 30, 74, 1000]])
    expected = x[0] + encoding.embedding.weight[[0, 0, 1, 2, 3]]
    torch.testing.assert_close(encoding(x, values)[0], expected)


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_dropout_drops_its_share_and_keeps_the_mean(share: float):
    torch.manual_seed(0)
    dropout = Dropout(share)
    x = torch.ones(3, 101, 1001)  # not a multiple of the eight bytes that are drawn at once
    dropped = dropout(x)
    exact = round(share * 256) / 256
    assert float((dropped == 0).double().mean()) == pytest.approx(exact, abs=4e-3)
    assert torch.allclose(dropped[dropped != 0], torch.tensor(1 / (1 - exact)))
    assert torch.equal(dropout.eval()(x), x)
    torch.manual_seed(0)
    assert torch.equal(Dropout(share)(x), dropped)


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.5])
@pytest.mark.parametrize("tied", [False, True])
def test_attention_and_its_gradients_are_those_of_torch(tied, share, padded):
    torch.manual_seed(0)
    attention = FunctionalModuleAttention(6, 2, stream=4, tied=tied, dropout=share).double()
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2]) if padded else None
    h = torch.randn(2, 5, 6, dtype=torch.float64, requires_grad=True)
    values = torch.randn(2, 5, 4, dtype=torch.float64, requires_grad=True)
    torch.manual_seed(1)
    attended, weights = attention(h, values, mask)
    inputs = (h, values, *attention.parameters())
    found = torch.autograd.grad(attended.square().sum(), inputs)
    torch.manual_seed(1)
    slow, plain = _plain_attention(attention, h, values, mask)
    torch.testing.assert_close(attended, slow)
    torch.testing.assert_close(weights, plain)
    for ours, theirs in zip(found, torch.autograd.grad(slow.square().sum(), inputs), strict=True):
        torch.testing.assert_close(ours, theirs)
    assert not weights.requires_grad
    assert (attention.key is attention.query) == tied  # one matrix: a symmetric kernel


def _plain_attention(attention, h, values, mask):
    """The same by torch's own operations: what is attended to, and the weights before dropout."""
    query, key, value = (
        part.view(2, 5, 2, -1).transpose(1, 2)
        for part in (attention.query(h), attention.key(h), attention.value(values))
    )
    scores = query @ key.transpose(-1, -2) / 3**0.5
    if mask is not None:
        scores = scores.masked_fill(~mask[:, None, None, :], float("-inf"))
    weights = scores.softmax(dim=-1)
    kept = weights * (_drop_some(torch.ones_like(weights), attention.dropped) * 256 / (256 - attention.dropped))
    return attention.output((kept @ value).transpose(1, 2).flatten(2)), weights


GROUPS = torch.arange(2).repeat_interleave(8)


def _fresh(preset: Preset, graphs):
    """A model at its start, standardised by graphs."""
    torch.manual_seed(0)
    model = BioBGT(preset, n_regions=graphs.features.shape[2], n_groups=2)
    model.standardise(graphs)
    return model


def _model(preset: Preset, graphs):
    model = _fresh(preset, graphs)
    with torch.no_grad():  # as if it had been trained: nothing is at its starting value
        for parameter in model.parameters():
            parameter += 0.05 * torch.randn_like(parameter)
    return model.eval()


def _permuted(graphs, order: Tensor):
    moved = {field.name: getattr(graphs, field.name)[:, order] for field in fields(graphs)}
    return GraphBatch(**moved | {name: moved[name][:, :, order] for name in ("features", "values", "weights")})


def _permute_weights(model: BioBGT, order: Tensor):
    """Carry every weight that belongs to a region over to its new place."""
    n, state = len(order), {name: value.clone() for name, value in model.state_dict().items()}
    state["project.weight"] = state["project.weight"][:, order]
    state["value_mean"] = state["value_mean"][order][:, order]
    if model.preset.values == "log":  # the residual stream's features are regions too
        state["value_importance.embedding.weight"] = state["value_importance.embedding.weight"][:, order]
        state["region_weight"] = state["region_weight"][order]
        basis = state["noise_basis"].view(n, n, -1)
        state["noise_basis"] = basis[order][:, order].flatten(0, 1)
        for name in list(state):
            if name.endswith(("attention.value.weight", "feed_forward.0.weight")):
                state[name] = state[name][:, order]
            elif ".attention.output." in name or "_norm." in name or ".feed_forward.3." in name:
                state[name] = state[name][order]
        readout = state["readout.classify.weight"].view(-1, n, n)
        state["readout.classify.weight"] = readout[:, order][:, :, order].flatten(1)
    permuted = BioBGT(model.preset, n_regions=n, n_groups=2)
    permuted.load_state_dict(state)
    return permuted.eval()


@pytest.mark.parametrize("name", ["paper-abide", "best"])
def test_permuting_the_regions_permutes_attention_and_leaves_the_prediction(name, graphs):
    order = torch.randperm(16, generator=torch.Generator().manual_seed(1))
    model = _model(small(name), graphs)
    moved = _permute_weights(model, order)
    with torch.no_grad():
        before, after = model.explain(graphs), moved.explain(_permuted(graphs, order))
    torch.testing.assert_close(after.logits, before.logits, atol=1e-5, rtol=1e-4)
    for one, other in zip(before.attention, after.attention, strict=True):
        torch.testing.assert_close(other.weights, one.weights[:, order][:, :, order], atol=1e-6, rtol=1e-4)
    torch.testing.assert_close(after.embeddings, before.embeddings[:, order], atol=1e-5, rtol=1e-4)
    without = model(_permuted(graphs, order))
    assert not torch.allclose(without, before.logits, atol=1e-3)  # the regions' names do matter


def test_padding_leaves_the_prediction(graphs):
    """With the mean readout a graph may have fewer regions than others in its batch."""
    model = _model(small("paper-abide"), graphs)
    cut = {field.name: getattr(graphs, field.name)[:3, :11] for field in fields(graphs)}
    few = GraphBatch(**cut | {"weights": graphs.weights[:3, :11, :11]})
    with torch.no_grad():
        alone, together = model.explain(few), model.explain(GraphBatch.joined([few, graphs[3:6]]))
        expected_others = model(graphs[3:6])
    torch.testing.assert_close(together.logits[:3], alone.logits, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(together.logits[3:], expected_others, atol=1e-5, rtol=1e-4)
    for one, other in zip(alone.attention, together.attention, strict=True):
        torch.testing.assert_close(other.weights[:3, :11, :11], one.weights, atol=1e-6, rtol=1e-4)
        assert (other.weights[:3, :, 11:] == 0).all()


def _reached(model: BioBGT):
    return {
        name for name, value in model.named_parameters() if value.grad is not None and bool((value.grad != 0).any())
    }


def _step(model: BioBGT, graphs, optimiser: torch.optim.Optimizer):
    logits, contrast = model.losses(graphs, torch.Generator().manual_seed(0))
    optimiser.zero_grad()
    (functional.cross_entropy(logits, GROUPS) + 0.1 * contrast).backward()
    optimiser.step()


@pytest.mark.parametrize(("name", "waiting"), [("paper-abide", ()), ("best", (".feed_forward.0.", ".first_norm."))])
def test_gradient_reaches_every_parameter(name, waiting, graphs):
    """With the best preset the feed-forward's last layer starts at zero: what is before it learns from step 2 on."""
    model = _fresh(small(name), graphs)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
    expected = {name for name, _ in model.named_parameters()}
    _step(model, graphs, optimiser)
    assert _reached(model) == {name for name in expected if not any(part in name for part in waiting)}
    _step(model, graphs, optimiser)
    assert _reached(model) == expected


@pytest.mark.parametrize("name", ["paper-abide", "best"])
def test_the_contrastive_loss_alone_reaches_the_encoder(name, graphs):
    model = _fresh(small(name), graphs)
    model.contrastive_loss(graphs, torch.Generator().manual_seed(0)).backward()
    encoder = {name for name, _ in model.named_parameters() if name.startswith(("project", "importance", "extractor"))}
    assert _reached(model) == encoder


def test_the_contrastive_loss_pulls_modules_apart(graphs):
    model = _fresh(small("best"), graphs)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    generator, losses = torch.Generator().manual_seed(0), []
    for _ in range(40):
        loss = model.contrastive_loss(graphs, generator)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert np.mean(losses[-5:]) < np.mean(losses[:5]) - 0.3


def test_the_paper_model_has_the_size_of_the_papers_table():
    model = BioBGT(preset_named("paper-abide"), n_regions=200, n_groups=2)
    assert 450_000 <= sum(parameter.numel() for parameter in model.parameters()) <= 470_000
    assert (len(model.layers), model.preset.heads, model.preset.width, model.preset.ffn) == (3, 8, 128, 256)


def test_both_importance_encodings_know_the_training_subjects_quantiles(graphs):
    model = _fresh(small("best"), graphs)
    torch.testing.assert_close(model.value_importance.edges, model.importance.edges)


@pytest.mark.parametrize("name", list(PRESETS))
def test_explain_says_what_forward_says_and_keeps_nothing(name, graphs):
    model = _model(small(name), graphs)
    attributes = set(vars(model))
    with torch.no_grad():
        seen, logits = model.explain(graphs), model(graphs)
    torch.testing.assert_close(seen.logits, logits)
    assert set(vars(model)) == attributes
    assert [(one.layer, one.head) for one in seen.attention] == [
        (layer, head) for layer in range(model.preset.layers) for head in range(2)
    ]
    for one in seen.attention:
        torch.testing.assert_close(one.weights.sum(dim=-1), torch.ones(16, 16))
    mean = torch.stack([one.weights for one in seen.attention]).mean(dim=0)
    torch.testing.assert_close(seen.mean_attention().weights, mean)
    of_layer = (seen.attention[0].weights + seen.attention[1].weights) / 2
    torch.testing.assert_close(seen.mean_attention(0).weights, of_layer)


@pytest.mark.parametrize(
    "preset",
    [
        small("best"),
        replace(small("best"), ridge_start=False, epochs=15, learning_rate=2e-3),
        small("paper-abide", epochs=40, learning_rate=3e-3, dropout=0.1, attention_dropout=0.1, warmup_epochs=2),
    ],
    ids=["best", "best without ridge", "paper"],
)
def test_a_planted_module_signal_is_learned(preset: Preset):
    cohort = planted_cohort(40)
    graphs, groups = prepare(cohort.subjects, preset), torch.arange(2).repeat_interleave(40)
    place = torch.arange(80) % 40
    training, validation, test = place < 22, (place >= 22) & (place < 28), place >= 28
    model = train_model(
        (graphs[training], groups[training]), (graphs[validation], groups[validation]), preset, n_groups=2
    )
    logits = predict_logits(model, graphs[test])
    assert roc_auc_score(groups[test], (logits[:, 1] - logits[:, 0]).numpy()) > 0.9


def test_at_the_start_a_share_of_what_is_attended_to_is_added(graphs):
    """Width 16 keeps all 16 features: value and output layers undo each other, and only the averaging is left."""
    model = _fresh(small("best", heads=1, start_attended=-0.5), graphs).eval()
    with torch.no_grad():
        own = model.value_importance(model.steady_values(graphs), graphs.entanglement)
        attended = model.explain(graphs).attention[0].weights @ own
        torch.testing.assert_close(model.flat_stream(graphs), (own - 0.5 * attended).flatten(1), rtol=1e-4, atol=1e-4)


def _small_model(name, n_regions: int, *, scale: float = 1.0, **changes: int):
    torch.manual_seed(0)
    model = BioBGT(preset_named(name, **changes), n_regions=n_regions, n_groups=2).eval()
    with torch.no_grad():
        for layer in model.layers:
            layer.attention.query.weight *= scale
    return model


@pytest.fixture(scope="module")
def real_graphs(abide_series):
    return prepare([Subject(str(i), series=one) for i, one in enumerate(abide_series)], preset_named("best"))


@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("name", ["paper-abide", "best"])
def test_the_bound_holds_for_every_pair(name, scale, graphs):
    model = _small_model(name, 16, width=16, heads=2, scale=scale)
    pairs = ~np.eye(16, dtype=bool)
    for layer in range(len(model.layers)):
        for i in range(len(graphs)):
            found = attention_bound(model, graphs[i : i + 1], layer=layer)
            assert (found.ratios[:, pairs] <= found.constants[:, None]).all()  # and so none is infinite
            assert all((found.holds, found.paper_holds, found.sharp_holds))
            assert (found.largest_ratios > 0).all()


@pytest.mark.parametrize("name", ["paper-abide", "best"])
def test_the_bound_holds_for_every_pair_of_real_subjects(name, real_graphs):
    model = _small_model(name, 200)
    model.standardise(real_graphs)
    for i in range(len(real_graphs)):
        found = attention_bound(model, real_graphs[i : i + 1])
        assert all((found.holds, found.paper_holds, found.sharp_holds))
        assert found.ratios.shape == (8, 200, 200)
        assert np.isfinite(found.ratios).sum() >= 8 * 200 * 150


def test_the_ratio_is_that_of_the_attention_itself(graphs):
    """Regions 2 and 5 of one subject by hand, from what the model says it saw."""
    torch.manual_seed(0)
    model = BioBGT(small("best"), n_regions=16, n_groups=2).eval()
    one = graphs[:1]
    found = attention_bound(model, one)
    with torch.no_grad():
        seen = model.explain(one)
        stream = model.value_importance(model.standardised_values(one), one.entanglement)
        f = model.layers[0].attention.value(stream)[0].view(16, 2, 8)
        for head in range(2):
            mixed = seen.attention[head].weights[0] @ f[:, head]
            expected = (mixed[2] - mixed[5]).norm() / (seen.embeddings[0, 2] - seen.embeddings[0, 5]).norm()
            assert found.ratios[head, 2, 5] == pytest.approx(float(expected), rel=1e-4)
    np.testing.assert_allclose(found.paper_constants, found.constants / 4)  # √16
    np.testing.assert_allclose(found.sharp_constants, found.constants / 16)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**31), n=st.integers(2, 40), scale=st.floats(0.01, 30), tied=st.booleans())
def test_a_constant_without_n_is_enough(seed: int, n: int, scale: float, tied: bool):
    """Any embeddings and values at all: the paper's constant holds as well, since it is larger."""
    torch.manual_seed(seed)
    attention = FunctionalModuleAttention(4, 2, stream=3, tied=tied, dropout=0.0).double().requires_grad_(False)
    h = scale * torch.randn(n, 4, dtype=torch.float64)
    values = torch.randn(n, 3, dtype=torch.float64)
    _, weights = attention(h[None], values[None])
    mixed = weights[0] @ attention.value(values).view(n, 2, 2).transpose(0, 1)
    bounds = head_bounds(attention, h, values) / n
    moved = (mixed[:, :, None] - mixed[:, None]).norm(dim=-1)
    assert (moved <= bounds[:, None, None] * (h[:, None] - h[None]).norm(dim=-1) + 1e-12).all()


def test_the_constant_without_n_cannot_be_made_smaller():
    """Half of the regions at 1 and half at −1: weak attention moves by tanh(0.01), and the constant is 0.01."""
    attention = FunctionalModuleAttention(1, 1, stream=1, tied=False, dropout=0.0).double().requires_grad_(False)
    for weight, value in ((attention.query.weight, 0.01), (attention.key.weight, 1.0), (attention.value.weight, 1.0)):
        weight.fill_(value)
    attention.value.bias.zero_()
    h = torch.tensor([1.0] * 32 + [-1.0] * 32, dtype=torch.float64)[:, None]
    _, weights = attention(h[None], h[None])
    mixed = weights[0, 0] @ h
    assert float(mixed[0] - mixed[-1]) / 2 == pytest.approx(np.tanh(0.01))
    assert float(head_bounds(attention, h, h)) / 64 == pytest.approx(0.01)


def test_the_model_is_left_as_it_was(graphs):
    model = _small_model("best", 16, width=16, heads=2).train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    attention_bound(model, graphs[:1])
    assert model.training
    assert not model.layers[0].attention._forward_pre_hooks
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert model.layers[0].attention.query.weight.dtype == torch.float32


@pytest.mark.parametrize(("n", "layer", "word"), [(16, 0, "not of 16"), (1, 1, "no layer 1")])
def test_bad_questions_get_a_sentence(n, layer, word, graphs):
    with pytest.raises(InputError, match=word):
        attention_bound(_small_model("best", 16, width=16, heads=2), graphs[:n], layer=layer)
