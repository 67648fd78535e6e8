"""FM-Attn (Eq. 9): attention as a kernel smoother over module-aware embeddings h.

Scores are ⟨W_Q h_i, W_K h_j⟩ / √d. With one tied W they are a symmetric kernel, as in the source of Eq. 9 (Mialon et
al. 2021); with two, the module structure of h does not reach the attention (docs/model.md). :func:`head_bounds`
gives the constant of Theorem 2.
"""

import torch
from torch import Tensor, nn


class FunctionalModuleAttention(nn.Module):
    """Multi-head attention whose queries and keys come from ψ and whose values come from a linear function.

    Parameters
    ----------
    width : int
        Of the embeddings h, shared by the heads.
    stream : int
        Width of what is averaged and returned.
    """

    def __init__(self, width: int, heads: int, *, stream: int, tied: bool, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width, bias=False)
        self.separate_key = None if tied else nn.Linear(width, width, bias=False)
        self.value = nn.Linear(stream, width)
        self.output = nn.Linear(width, stream)
        self.dropout = WeightDropout(dropout)

    def forward(self, h: Tensor, values: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Attend.

        Parameters
        ----------
        h : Tensor, shape (B, n, width)
            Module-aware embeddings, from ψ.
        values : Tensor, shape (B, n, stream)
            What the linear value function is applied to.
        mask : Tensor of bool, shape (B, n), optional
            False for padding, which nobody attends to.

        Returns
        -------
        attended : Tensor, shape (B, n, stream)
        weights : Tensor, shape (B, heads, n, n)
            Rows sum to 1.
        """
        scale = (h.shape[-1] / self.heads) ** -0.5  # 1/√d on the queries: there are n times fewer of them than scores
        query, key, value = (self._split(part) for part in (self.query(h) * scale, self.key(h), self.value(values)))
        scores = query @ key.transpose(-1, -2)
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None, None, :], float("-inf"))
        weights = scores.softmax(dim=-1)
        mixed = self.dropout(weights) @ value
        return self.output(mixed.transpose(1, 2).flatten(2)), weights

    @property
    def key(self) -> nn.Linear:
        """W_K, which is W_Q where they are tied."""
        return self.query if self.separate_key is None else self.separate_key

    def _split(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:-1], self.heads, -1).transpose(1, 2)


class WeightDropout(nn.Module):
    """Dropout whose chance is drawn a byte a weight: in steps of 1/256, six times as fast as torch's own on a CPU."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.dropped = round(share * 256)

    def forward(self, x: Tensor) -> Tensor:
        """Drop while training, and scale what is left to keep the mean."""
        if not self.training or self.dropped == 0:
            return x
        words = torch.empty(-(-x.numel() // 8), dtype=torch.int64, device=x.device).random_(-(2**63), None)
        chance = words.view(torch.uint8)[: x.numel()].view(x.shape)
        return x * (chance >= self.dropped).to(x.dtype).mul_(256 / (256 - self.dropped))


def head_bounds(attention: FunctionalModuleAttention, h: Tensor, values: Tensor) -> Tensor:
    """C_M of Theorem 2 for each head, before the heads are mixed by the output layer.

    C_M = n C C_ψ ‖W_Q‖ ‖W_K‖ / √d, with C_ψ the largest ‖h_i‖ and C the largest ‖f(v_i)‖: what the steps of the paper's
    proof give when its sum over regions is kept. :mod:`biobgt.model.bound` puts smaller ones beside it.

    Parameters
    ----------
    h, values : Tensor, shape (n, width)

    Returns
    -------
    Tensor, shape (heads,)
    """
    heads, n = attention.heads, len(h)
    weights_q, weights_k = (part.weight.view(heads, -1, h.shape[-1]) for part in (attention.query, attention.key))
    spread = attention.value(values).view(n, heads, -1).norm(dim=-1).amax(dim=0)
    norms = torch.linalg.matrix_norm(weights_q, ord=2) * torch.linalg.matrix_norm(weights_k, ord=2)
    return n * spread * h.norm(dim=-1).max() * norms / weights_q.shape[1] ** 0.5
