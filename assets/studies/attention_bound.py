"""Theorem 2 (Eq. 10) on a trained model: regions that are close in h stay close after attention.

‖FM-Attn(a) − FM-Attn(b)‖ ≤ C_M ‖h_a − h_b‖ for every pair of regions, head by head. The constant comes from the weights
(:func:`head_bounds`); the largest ratio that a subject shows says how loose it is.

Three constants stand side by side, all C C_ψ ‖W_Q‖ ‖W_K‖ / √d times a factor. Step by step the paper's proof gives n;
the paper prints √n, because a sum over regions is lost on the way; and neither is needed. When scores move by δ,
attention weights p move by Σ_i p_i |δ_i − Σ_j p_j δ_j| ≤ max|δ| in sum, step by step along the whole way. Hence
‖FM-Attn(a) − FM-Attn(b)‖ ≤ C max_i |z_ai − z_bi| / √d, and the factor 1 is enough: Eq. 10 holds with the paper's
constant too, though not by the paper's proof.
"""

from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from biobgt.base.errors import InputError
from biobgt.model.network import BioBGT, FunctionalModuleAttention, GraphBatch

# Two regions this close, relative to the longest h, differ by rounding alone and have no ratio.
_SAME = 1e-6


@dataclass(frozen=True, eq=False)
class AttentionBound:
    """C_M of one layer, and what one subject shows.

    Attributes
    ----------
    layer : int
    constants : ndarray, shape (n_heads,)
        C_M of each head, as the proof's steps give it (factor n).
    paper_constants : ndarray, shape (n_heads,)
        As the paper prints it (factor √n).
    sharp_constants : ndarray, shape (n_heads,)
        Factor 1, which no number of regions loosens.
    ratios : ndarray, shape (n_heads, n_regions, n_regions)
        ‖FM-Attn(a) − FM-Attn(b)‖ / ‖h_a − h_b‖; NaN on the diagonal and where h_a is h_b.
    """

    layer: int
    constants: NDArray[np.float64]
    paper_constants: NDArray[np.float64]
    sharp_constants: NDArray[np.float64]
    ratios: NDArray[np.float64]

    @property
    def largest_ratios(self) -> NDArray[np.float64]:
        """The largest ratio over pairs of regions, shape (n_heads,); 0 where no two regions differ in h."""
        return np.asarray(np.nan_to_num(self.ratios).max(axis=(1, 2)))

    @property
    def holds(self) -> bool:
        """Whether Eq. 10 holds for every pair of regions and every head."""
        return bool((self.largest_ratios <= self.constants).all())

    @property
    def paper_holds(self) -> bool:
        """Whether it holds with the paper's constant."""
        return bool((self.largest_ratios <= self.paper_constants).all())

    @property
    def sharp_holds(self) -> bool:
        """Whether it holds with the sharp constant."""
        return bool((self.largest_ratios <= self.sharp_constants).all())


@torch.no_grad()
def attention_bound(model: BioBGT, graph: GraphBatch, *, layer: int = 0) -> AttentionBound:
    """Compute the constant of Theorem 2 and the ratios it bounds, on one subject.

    Parameters
    ----------
    model : BioBGT
    graph : GraphBatch
        Of one subject, see :func:`biobgt.model.inputs.prepare`.
    layer : int
        Counted from 0.

    Returns
    -------
    AttentionBound
    """
    if len(graph) != 1:
        raise InputError(f"The bound is computed of one subject at a time, not of {len(graph)}.")
    if not 0 <= layer < len(model.layers):
        raise InputError(f"The model has layers 0 to {len(model.layers) - 1}, and no layer {layer}.")
    attention, h, values = _seen(model, graph, layer)
    mixed = _mixed(attention, h, values)
    distance = torch.cdist(h, h, compute_mode="donot_use_mm_for_euclid_dist")
    distance[distance <= _SAME * h.norm(dim=-1).max()] = torch.nan
    ratios = torch.cdist(mixed, mixed, compute_mode="donot_use_mm_for_euclid_dist") / distance
    constants = head_bounds(attention, h, values).cpu().numpy()
    return AttentionBound(
        layer=layer,
        constants=constants,
        paper_constants=constants / len(h) ** 0.5,
        sharp_constants=constants / len(h),
        ratios=ratios.cpu().numpy(),
    )


def head_bounds(attention: FunctionalModuleAttention, h: Tensor, values: Tensor) -> Tensor:
    """C_M of Theorem 2 for each head, before the heads are mixed by the output layer.

    C_M = n C C_ψ ‖W_Q‖ ‖W_K‖ / √d, with C_ψ the largest ‖h_i‖ and C the largest ‖f(v_i)‖: what the steps of the paper's
    proof give when its sum over regions is kept.

    Parameters
    ----------
    attention : FunctionalModuleAttention
        One layer.
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


def _seen(model: BioBGT, graph: GraphBatch, layer: int) -> tuple[FunctionalModuleAttention, Tensor, Tensor]:
    """The attention of a layer with its inputs h and values, in double precision, without padding."""
    inputs: list[tuple[Tensor, Tensor]] = []
    block = model.layers[layer]
    assert isinstance(block, nn.Module)
    attention = block.attention
    assert isinstance(attention, FunctionalModuleAttention)
    watch = attention.register_forward_pre_hook(lambda _, given: inputs.append((given[0], given[1])))
    was_training = model.training
    try:
        model.eval()(graph.to(model.project.weight.device))
    finally:
        watch.remove()
        model.train(was_training)
    kept = graph.mask[0].to(inputs[0][0].device)
    h, values = (part[0][kept].double() for part in inputs[0])
    return deepcopy(attention).double().eval(), h, values


def _mixed(attention: FunctionalModuleAttention, h: Tensor, values: Tensor) -> Tensor:
    """What each head gives each region before the output layer mixes the heads, shape (n_heads, n_regions, width)."""
    _, weights = attention(h[None], values[None])
    value = attention.value(values).view(len(h), attention.heads, -1).transpose(0, 1)
    return torch.as_tensor(weights[0] @ value)
