"""FM-Attn (Eq. 9) and the node importance encoding (Eq. 7) against slow loops."""

import math

import pytest
import torch

from biobgt.model.network import Dropout, FunctionalModuleAttention, NodeImportanceEncoding, drop_some, quantile_edges


@pytest.mark.parametrize("tied", [True, False])
def test_attention_against_loops(tied: bool) -> None:
    torch.manual_seed(0)
    n, width, heads, stream = 5, 6, 2, 4
    attention = FunctionalModuleAttention(width, heads, stream=stream, tied=tied, dropout=0.0).double()
    h, values = torch.randn(1, n, width, dtype=torch.float64), torch.randn(1, n, stream, dtype=torch.float64)
    attention.requires_grad_(False)
    attended, weights = attention(h, values)
    size = width // heads
    for i in range(n):
        mixed = []
        for head in range(heads):
            rows = slice(head * size, (head + 1) * size)
            query = attention.query.weight[rows] @ h[0, i]
            keys = attention.query.weight[rows] if tied else attention.key.weight[rows]
            scores = [math.exp(float(query @ (keys @ h[0, j])) / math.sqrt(size)) for j in range(n)]
            shares = [score / sum(scores) for score in scores]
            assert weights[0, head, i].tolist() == pytest.approx(shares)
            f = [attention.value(values[0, j])[rows] for j in range(n)]
            mixed.append(sum(share * one for share, one in zip(shares, f, strict=True)))
        torch.testing.assert_close(attended[0, i], attention.output(torch.cat(mixed)))


def test_tied_weights_make_a_symmetric_kernel() -> None:
    torch.manual_seed(0)
    attention = FunctionalModuleAttention(6, 2, stream=6, tied=True, dropout=0.0)
    assert attention.key is attention.query
    h = torch.randn(1, 5, 6)
    _, weights = attention(h, h)
    logs = weights.log()
    scores = logs - logs.diagonal(dim1=-2, dim2=-1)[..., None]  # row constants fall out of s_ij − s_ii
    norms = torch.stack(
        [attention.query(h).view(1, 5, 2, 3)[0, :, head].square().sum(-1) / 3**0.5 for head in range(2)]
    )
    kernel = scores[0] + norms[:, :, None]
    torch.testing.assert_close(kernel, kernel.transpose(1, 2), atol=1e-5, rtol=1e-5)


def test_nobody_looks_at_padding() -> None:
    torch.manual_seed(0)
    attention = FunctionalModuleAttention(6, 2, stream=6, tied=True, dropout=0.0)
    h = torch.randn(1, 5, 6)
    mask = torch.tensor([[True, True, True, False, False]])
    attended, weights = attention(h, h, mask)
    assert (weights[..., 3:] == 0).all()
    alone, _ = attention(h[:, :3], h[:, :3])
    torch.testing.assert_close(attended[:, :3], alone)


def test_importance_is_told_apart_by_quantile() -> None:
    entanglement = torch.arange(100.0)
    edges = quantile_edges(entanglement, 4)
    assert edges.tolist() == pytest.approx([24.75, 49.5, 74.25])
    encoding = NodeImportanceEncoding(4, 3)
    encoding.edges.copy_(edges)
    x, values = torch.randn(1, 5, 3), torch.tensor([[-5.0, 10, 30, 74, 1000]])
    expected = x[0] + encoding.embedding.weight[[0, 0, 1, 2, 3]]
    torch.testing.assert_close(encoding(x, values)[0], expected)


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_dropout_drops_its_share_and_keeps_the_mean(share: float) -> None:
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
def test_gradients_of_attention_are_those_of_torch(share: float, padded: bool) -> None:
    torch.manual_seed(0)
    attention = FunctionalModuleAttention(6, 2, stream=4, tied=False, dropout=share).double()
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2]) if padded else None
    h = torch.randn(2, 5, 6, dtype=torch.float64, requires_grad=True)
    values = torch.randn(2, 5, 4, dtype=torch.float64, requires_grad=True)
    torch.manual_seed(1)
    attended, weights = attention(h, values, mask)
    inputs = (h, values, *attention.parameters())
    found = torch.autograd.grad(attended.square().sum(), inputs)
    torch.manual_seed(1)
    slow = _plain_attention(attention, h, values, mask)
    torch.testing.assert_close(attended, slow)
    for ours, theirs in zip(found, torch.autograd.grad(slow.square().sum(), inputs), strict=True):
        torch.testing.assert_close(ours, theirs)
    assert not weights.requires_grad


def _plain_attention(
    attention: FunctionalModuleAttention, h: torch.Tensor, values: torch.Tensor, mask: torch.Tensor | None
) -> torch.Tensor:
    """The same by torch's own operations."""
    query, key, value = (
        part.view(2, 5, 2, -1).transpose(1, 2)
        for part in (attention.query(h), attention.key(h), attention.value(values))
    )
    scores = query @ key.transpose(-1, -2) / 3**0.5
    if mask is not None:
        scores = scores.masked_fill(~mask[:, None, None, :], float("-inf"))
    weights = scores.softmax(dim=-1)
    weights = weights * (drop_some(torch.ones_like(weights), attention.dropped) * 256 / (256 - attention.dropped))
    return attention.output((weights @ value).transpose(1, 2).flatten(2))
