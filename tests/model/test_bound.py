"""Theorem 2 (Eq. 10): the inequality for every pair of regions, on random and on real subjects."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from planted_cohort import small

from assets.studies.attention_bound import attention_bound, head_bounds
from biobgt.base.errors import InputError
from biobgt.data.connectivity import functional_connectivity
from biobgt.model.inputs import prepare_matrices
from biobgt.model.network import BioBGT, FunctionalModuleAttention, GraphBatch
from biobgt.model.presets import preset_named


def _model(name: str, n_regions: int, *, scale: float = 1.0, **changes: int) -> BioBGT:
    torch.manual_seed(0)
    model = BioBGT(preset_named(name, **changes), n_regions=n_regions, n_groups=2).eval()
    with torch.no_grad():
        for layer in model.layers:
            layer.attention.query.weight *= scale
    return model


@pytest.fixture(scope="module")
def real_graphs(shared_data: Path) -> GraphBatch:
    """The first four ABIDE subjects, CC200."""
    with np.load(shared_data / "abide_cc200.npz", allow_pickle=False) as archive:
        stops = np.cumsum(archive["n_timepoints"])[:4]
        series = np.split(archive["series"][: stops[-1]].astype(np.float64), stops[:-1])
    return prepare_matrices([functional_connectivity(one) for one in series], preset_named("best"))


@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("name", ["paper-abide", "best"])
def test_the_bound_holds_for_every_pair(name: str, scale: float, graphs: GraphBatch) -> None:
    model = _model(name, 16, width=16, heads=2, scale=scale)
    for layer in range(len(model.layers)):
        for i in range(len(graphs)):
            found = attention_bound(model, graphs[i : i + 1], layer=layer)
            pairs = ~np.eye(16, dtype=bool)
            assert np.isfinite(found.ratios[:, pairs]).all()
            assert (found.ratios[:, pairs] <= found.constants[:, None]).all()
            assert found.holds
            assert found.paper_holds
            assert found.sharp_holds
            assert (found.largest_ratios > 0).all()


@pytest.mark.parametrize("name", ["paper-abide", "best"])
def test_the_bound_holds_for_every_pair_of_real_subjects(name: str, real_graphs: GraphBatch) -> None:
    model = _model(name, 200)
    model.standardise(real_graphs)
    for i in range(len(real_graphs)):
        found = attention_bound(model, real_graphs[i : i + 1])
        assert found.holds
        assert found.paper_holds
        assert found.sharp_holds
        assert found.ratios.shape == (8, 200, 200)
        assert np.isfinite(found.ratios).sum() >= 8 * 200 * 150


def test_the_ratio_is_that_of_the_attention_itself(graphs: GraphBatch) -> None:
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
def test_a_constant_without_n_is_enough(seed: int, n: int, scale: float, tied: bool) -> None:
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


def test_the_constant_without_n_cannot_be_made_smaller() -> None:
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


def test_the_model_is_left_as_it_was(graphs: GraphBatch) -> None:
    model = _model("best", 16, width=16, heads=2).train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    attention_bound(model, graphs[:1])
    assert model.training
    assert not model.layers[0].attention._forward_pre_hooks
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert model.layers[0].attention.query.weight.dtype == torch.float32


def test_bad_questions_get_a_sentence(graphs: GraphBatch) -> None:
    model = _model("best", 16, width=16, heads=2)
    with pytest.raises(InputError, match="one subject at a time, not of 16"):
        attention_bound(model, graphs)
    with pytest.raises(InputError, match="no layer 1"):
        attention_bound(model, graphs[:1], layer=1)
