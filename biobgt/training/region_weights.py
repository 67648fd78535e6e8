"""How much each region counts: weights learnt before the readout starts, smooth over the brain's large networks.

Ridge regression takes all connections for equally likely to matter. Here that of regions i and j is multiplied by
w_i w_j first. A free weight for every region overfits at once, so log w is a combination of a few axes, the first
eigenvectors of the training subjects' mean connectivity, and its coefficients go only a few steps down the
leave-one-out error of ridge.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from biobgt.training.ridge import best_penalty, left_out

_RATE = 0.03


def network_axes(connectivity: Tensor, n_axes: int) -> Tensor:
    """The eigenvectors with the largest eigenvalues, of mean square 1.

    Parameters
    ----------
    connectivity : Tensor, shape (n_regions, n_regions)
        Mean of the training subjects, with an empty diagonal.

    Returns
    -------
    Tensor, shape (n_regions, n_axes)
    """
    vectors = torch.linalg.eigh(connectivity.double())[1]
    return (vectors[:, -n_axes:] * len(vectors) ** 0.5).float()


def region_weights(values: Tensor, axes: Tensor, targets: Tensor) -> Iterator[Tensor]:
    """Go down the leave-one-out error of ridge on weighted connections; the weights after every step, without end.

    Parameters
    ----------
    values : Tensor, shape (n_subjects, n_regions, n_regions)
        Symmetric.
    axes : Tensor, shape (n_regions, n_axes)
    targets : Tensor, shape (n_subjects, n_groups)

    Yields
    ------
    Tensor, shape (n_regions,)
        Of geometric mean 1.
    """
    rows, columns = torch.triu_indices(len(axes), len(axes))
    connections = values[:, rows, columns] * torch.where(rows == columns, 1.0, 2**0.5)
    connections = connections - connections.mean(dim=0)
    centred = (targets - targets.mean(dim=0)).double()
    penalty = best_penalty((connections @ connections.T).double(), centred)
    axes = axes - axes.mean(dim=0)
    coefficients = torch.zeros(axes.shape[1], requires_grad=True)
    optimiser = torch.optim.Adam([coefficients], lr=_RATE)
    while True:
        logarithm = axes @ coefficients
        weighted = connections * torch.exp(logarithm[rows] + logarithm[columns])
        _, residual = left_out((weighted @ weighted.T).double(), centred, penalty)
        optimiser.zero_grad()
        residual.square().mean().backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        yield torch.exp(axes @ coefficients.detach())
