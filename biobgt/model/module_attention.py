"""FM-Attn (Eq. 9): attention as a kernel smoother over module-aware embeddings h.

Scores are ⟨W_Q h_i, W_K h_j⟩ / √d. With one tied W they are a symmetric kernel, as in the source of Eq. 9 (Mialon et
al. 2021); with two, the module structure of h does not reach the attention (docs/model.md).
"""

from typing import Any

import torch
from torch import Tensor, nn

from biobgt.model.dropout import STEPS, drop_some, steps_of


class FunctionalModuleAttention(nn.Module):
    """Multi-head attention whose queries and keys come from ψ and whose values come from a linear function.

    Parameters
    ----------
    width : int
        Of the embeddings h, shared by the heads.
    heads : int
    stream : int
        Width of what is averaged and returned.
    tied : bool
        Whether keys are made by the matrix of the queries.
    dropout : float
        Share of the weights that are set to zero in training.
    """

    def __init__(self, width: int, heads: int, *, stream: int, tied: bool, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width, bias=False)
        self.separate_key = None if tied else nn.Linear(width, width, bias=False)
        self.value = nn.Linear(stream, width)
        self.output = nn.Linear(width, stream)
        self.dropped = steps_of(dropout)

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
        dropped = self.dropped if self.training else 0
        mixed, weights = _KernelSmoother.apply(query, key, value, mask, dropped)  # type: ignore[no-untyped-call]
        return self.output(mixed.transpose(1, 2).flatten(2)), weights

    @property
    def key(self) -> nn.Linear:
        """W_K, which is W_Q where they are tied."""
        return self.query if self.separate_key is None else self.separate_key

    def _split(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:-1], self.heads, -1).transpose(1, 2)


class _KernelSmoother(torch.autograd.Function):
    """Softmax of scores, dropout and the weighted mean of values, with a gradient of its own.

    The gradient of a softmax needs the sum over keys of (gradient × weight). That sum is gradient · output, n times
    smaller (Dao et al. 2022), and all that is left happens in place: on a CPU a training step of the published model
    takes 0.8 of the time that torch's own chain of operations takes. The weights it returns are for looking at: no
    gradient goes through them.
    """

    @staticmethod
    def forward(
        ctx: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropped: int
    ) -> tuple[Tensor, Tensor]:
        """Return the mixed values (B, heads, n, d) and the weights (B, heads, n, n), whose rows sum to 1."""
        scores = query @ key.transpose(-1, -2)
        if mask is not None:
            scores.masked_fill_(~mask[:, None, None, :], float("-inf"))
        weights = scores.softmax(dim=-1)
        kept = drop_some(weights, dropped)
        scale = STEPS / (STEPS - dropped)
        value = value * scale  # what is left keeps the mean
        mixed = kept @ value
        ctx.save_for_backward(query, key, value, weights, kept, mixed)
        ctx.scale = scale
        ctx.mark_non_differentiable(weights)
        return mixed, weights

    @staticmethod
    def backward(ctx: Any, gradient: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of queries, keys and values."""
        query, key, value, weights, kept, mixed = ctx.saved_tensors
        by_value = kept.transpose(-1, -2) @ gradient * ctx.scale
        by_score = (gradient @ value.transpose(-1, -2)).mul_(kept)
        by_score.addcmul_(weights, (gradient * mixed).sum(dim=-1, keepdim=True), value=-1)
        return by_score @ key, by_score.transpose(-1, -2) @ query, by_value, None, None
