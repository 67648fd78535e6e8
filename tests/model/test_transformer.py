"""BioBGT as a whole: gradients, permuted regions, padding, size, and a signal that is there to be learned."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from planted_cohort import planted_cohort, small
from safetensors.torch import load_file, save_file
from sklearn.metrics import roc_auc_score
from torch import Tensor
from torch.nn import functional

from biobgt.model.ensemble import ensemble_tensors
from biobgt.model.inputs import prepare
from biobgt.model.network import BioBGT, GraphBatch, join_batches
from biobgt.model.presets import PRESETS, Preset, preset_named
from biobgt.training.trainer import predict_logits, train_model

GROUPS = torch.arange(2).repeat_interleave(8)


def _model(preset: Preset, graphs: GraphBatch, *, n_groups: int = 2, seed: int = 0) -> BioBGT:
    torch.manual_seed(seed)
    model = BioBGT(preset, n_regions=graphs.features.shape[2], n_groups=n_groups)
    model.standardise(graphs)
    with torch.no_grad():  # as if it had been trained: nothing is at its starting value
        for parameter in model.parameters():
            parameter += 0.05 * torch.randn_like(parameter)
    return model.eval()


def _permuted(graphs: GraphBatch, order: Tensor) -> GraphBatch:
    def both(matrices: Tensor) -> Tensor:
        return matrices[:, order][:, :, order]

    return GraphBatch(
        both(graphs.features),
        both(graphs.values),
        both(graphs.weights),
        graphs.entanglement[:, order],
        graphs.modules[:, order],
        graphs.mask[:, order],
    )


def _permute_weights(model: BioBGT, order: Tensor) -> BioBGT:
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
def test_permuting_the_regions_permutes_attention_and_leaves_the_prediction(name: str, graphs: GraphBatch) -> None:
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


def test_padding_leaves_the_prediction(graphs: GraphBatch) -> None:
    """With the mean readout a graph may have fewer regions than others in its batch."""
    model = _model(small("paper-abide"), graphs)
    few = GraphBatch(
        graphs.features[:3, :11],
        graphs.values[:3, :11],
        graphs.weights[:3, :11, :11],
        graphs.entanglement[:3, :11],
        graphs.modules[:3, :11],
        graphs.mask[:3, :11],
    )
    with torch.no_grad():
        alone, together = model.explain(few), model.explain(join_batches([few, graphs[3:6]]))
        expected_others = model(graphs[3:6])
    torch.testing.assert_close(together.logits[:3], alone.logits, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(together.logits[3:], expected_others, atol=1e-5, rtol=1e-4)
    for one, other in zip(alone.attention, together.attention, strict=True):
        torch.testing.assert_close(other.weights[:3, :11, :11], one.weights, atol=1e-6, rtol=1e-4)
        assert (other.weights[:3, :, 11:] == 0).all()


def _reached(model: BioBGT) -> set[str]:
    return {
        name for name, value in model.named_parameters() if value.grad is not None and bool((value.grad != 0).any())
    }


def _step(model: BioBGT, graphs: GraphBatch, optimiser: torch.optim.Optimizer) -> None:
    logits, contrast = model.losses(graphs, torch.Generator().manual_seed(0))
    optimiser.zero_grad()
    (functional.cross_entropy(logits, GROUPS) + 0.1 * contrast).backward()
    optimiser.step()


def test_gradient_reaches_every_parameter_of_the_paper_preset(graphs: GraphBatch) -> None:
    torch.manual_seed(0)
    model = BioBGT(small("paper-abide"), n_regions=16, n_groups=2).train()
    model.standardise(graphs)
    _step(model, graphs, torch.optim.AdamW(model.parameters(), lr=1e-3))
    assert _reached(model) == {name for name, _ in model.named_parameters()}


def test_gradient_reaches_every_parameter_of_the_best_preset(graphs: GraphBatch) -> None:
    """The last layer of the feed-forward starts at zero, so what lies before it learns from the second step on."""
    torch.manual_seed(0)
    model = BioBGT(small("best"), n_regions=16, n_groups=2).train()
    model.standardise(graphs)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
    expected = {name for name, _ in model.named_parameters()}
    waiting = {name for name in expected if ".feed_forward.0." in name or ".first_norm." in name}
    _step(model, graphs, optimiser)
    assert _reached(model) == expected - waiting
    _step(model, graphs, optimiser)
    assert _reached(model) == expected


@pytest.mark.parametrize("name", ["paper-abide", "best"])
def test_the_contrastive_loss_alone_reaches_the_encoder(name: str, graphs: GraphBatch) -> None:
    torch.manual_seed(0)
    model = BioBGT(small(name), n_regions=16, n_groups=2).train()
    model.standardise(graphs)
    model.contrastive_loss(graphs, torch.Generator().manual_seed(0)).backward()
    encoder = {name for name, _ in model.named_parameters() if name.startswith(("project", "importance", "extractor"))}
    assert _reached(model) == encoder


def test_the_contrastive_loss_pulls_modules_apart(graphs: GraphBatch) -> None:
    torch.manual_seed(0)
    model = BioBGT(small("best"), n_regions=16, n_groups=2)
    model.standardise(graphs)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    generator, losses = torch.Generator().manual_seed(0), []
    for _ in range(40):
        loss = model.contrastive_loss(graphs, generator)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert np.mean(losses[-5:]) < np.mean(losses[:5]) - 0.3


def test_the_paper_model_has_the_size_of_the_papers_table() -> None:
    model = BioBGT(preset_named("paper-abide"), n_regions=200, n_groups=2)
    assert 450_000 <= sum(parameter.numel() for parameter in model.parameters()) <= 470_000
    assert (len(model.layers), model.preset.heads, model.preset.width, model.preset.ffn) == (3, 8, 128, 256)


def test_both_importance_encodings_know_the_training_subjects_quantiles(graphs: GraphBatch) -> None:
    model = BioBGT(small("best"), n_regions=16, n_groups=2)
    model.standardise(graphs)
    torch.testing.assert_close(model.value_importance.edges, model.importance.edges)


@pytest.mark.parametrize("name", list(PRESETS))
def test_explain_says_what_forward_says_and_keeps_nothing(name: str, graphs: GraphBatch) -> None:
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
    torch.testing.assert_close(
        seen.mean_attention(0).weights, (seen.attention[0].weights + seen.attention[1].weights) / 2
    )


@pytest.mark.parametrize("name", ["paper-abide", "best"])
def test_saved_and_loaded_it_gives_the_same_logits(name: str, graphs: GraphBatch, tmp_path: object) -> None:
    model = _model(small(name), graphs)
    save_file(dict(ensemble_tensors([model])), f"{tmp_path}/model.safetensors")
    other = BioBGT(Preset.from_dict(model.preset.as_dict()), n_regions=16, n_groups=2).eval()
    state = load_file(f"{tmp_path}/model.safetensors")
    other.load_state_dict({name.removeprefix("member0."): value for name, value in state.items()})
    assert torch.equal(model(graphs), other(graphs))


@pytest.mark.parametrize(
    "preset",
    [
        small("best"),
        replace(small("best"), ridge_start=False, epochs=15, learning_rate=2e-3),
        small("paper-abide", epochs=40, learning_rate=3e-3, dropout=0.1, attention_dropout=0.1, warmup_epochs=2),
    ],
    ids=["best", "best without ridge", "paper"],
)
def test_a_planted_module_signal_is_learned(preset: Preset) -> None:
    cohort = planted_cohort(40)
    graphs, groups = prepare(cohort.subjects, preset), torch.arange(2).repeat_interleave(40)
    place = torch.arange(80) % 40
    training, validation, test = place < 22, (place >= 22) & (place < 28), place >= 28
    model = train_model(
        (graphs[training], groups[training]), (graphs[validation], groups[validation]), preset, n_groups=2
    )
    logits = predict_logits(model, graphs[test])
    assert roc_auc_score(groups[test], (logits[:, 1] - logits[:, 0]).numpy()) > 0.9


def test_at_the_start_a_share_of_what_is_attended_to_is_added(graphs: GraphBatch) -> None:
    """Width 16 keeps all 16 features: value and output layers undo each other, and only the averaging is left."""
    torch.manual_seed(0)
    model = BioBGT(small("best", heads=1, start_attended=-0.5), n_regions=16, n_groups=2).eval()
    model.standardise(graphs)
    with torch.no_grad():
        own = model.value_importance(model.steady_values(graphs), graphs.entanglement)
        attended = model.explain(graphs).attention[0].weights @ own
        torch.testing.assert_close(model.flat_stream(graphs), (own - 0.5 * attended).flatten(1), rtol=1e-4, atol=1e-4)
