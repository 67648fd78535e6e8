"""Ridge regression from inner products of subjects, with each subject's prediction from all others in closed form."""

import numpy as np
import torch
from torch import Tensor

from biobgt.model.baselines import PENALTIES


def left_out(kernel: Tensor, targets: Tensor, penalty: float) -> tuple[Tensor, Tensor]:
    """Ridge at one penalty; gradients flow back to the kernel.

    Parameters
    ----------
    kernel : Tensor, shape (n_subjects, n_subjects)
        Of centred features.
    targets : Tensor, shape (n_subjects, n_groups)
        Centred.
    penalty : float
        In units of the mean squared norm of a subject's features.

    Returns
    -------
    dual, residual : Tensor, shape (n_subjects, n_groups)
        Coefficients of the subjects, and how far each target is from the prediction by all others.
    """
    size = kernel.trace() / len(kernel)
    inverse = torch.linalg.inv(kernel + penalty * size * torch.eye(len(kernel), dtype=kernel.dtype))
    # The intercept is fitted too: without it, leave-one-out on centred features favours interpolation.
    sums = inverse.sum(dim=1)
    inverse = inverse - torch.outer(sums, sums) / sums.sum()
    dual = inverse @ targets
    return dual, dual / inverse.diagonal()[:, None]


@torch.no_grad()
def best_penalty(kernel: Tensor, targets: Tensor) -> float:
    """The penalty with the least leave-one-out error; :func:`left_out` for all of them from one decomposition."""
    values, vectors = torch.linalg.eigh(kernel)
    of_ones, of_targets = vectors.sum(dim=0), vectors.T @ targets
    errors = []
    for penalty in PENALTIES * float(values.mean()):
        scaled = vectors / (values + penalty)
        sums = scaled @ of_ones
        diagonal = (scaled * vectors).sum(dim=1) - sums.square() / sums.sum()
        dual = scaled @ of_targets - torch.outer(sums, sums @ targets) / sums.sum()
        errors.append(float((dual / diagonal[:, None]).square().mean()))
    return float(PENALTIES[int(np.argmin(errors))])
