"""How much each region counts: weights learnt before the readout starts, smooth over the brain's large networks.

Ridge regression takes all connections for equally likely to matter. Here that of regions i and j is multiplied by
w_i w_j first. A free weight for every region overfits at once, so log w is a combination of a few axes, the first
eigenvectors of the training subjects' mean connectivity, and its coefficients go only a few steps down the
leave-one-out error of ridge.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from biobgt.training.readouts import ReadoutPart, readout_parts
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


def region_weights(
    values: Tensor, axes: Tensor, targets: Tensor, *, parts: Sequence[ReadoutPart] = ()
) -> Iterator[Tensor]:
    """Go down the leave-one-out error of ridge on weighted connections; the weights after every step, without end.

    Parameters
    ----------
    values : Tensor, shape (n_subjects, n_regions, n_regions)
        Symmetric.
    axes : Tensor, shape (n_regions, n_axes)
    targets : Tensor, shape (n_subjects, n_groups)
    parts : sequence of ReadoutPart
        Where several cohorts are trained together: each has a ridge of its own, and their errors are averaged over
        subjects. Empty for one ridge of all.

    Yields
    ------
    Tensor, shape (n_regions,)
        Of geometric mean 1.
    """
    rows, columns = torch.triu_indices(len(axes), len(axes))
    connections = values[:, rows, columns] * torch.where(rows == columns, 1.0, 2**0.5)
    everybody = readout_parts(np.zeros(len(values), dtype=np.int64), targets.shape[1])
    cohorts = [_Ridge.of(connections, targets, part) for part in parts or everybody]
    axes = axes - axes.mean(dim=0)
    coefficients = torch.zeros(axes.shape[1], requires_grad=True)
    optimiser = torch.optim.Adam([coefficients], lr=_RATE)
    while True:
        logarithm = axes @ coefficients
        weights = torch.exp(logarithm[rows] + logarithm[columns])
        error = torch.stack([len(one.targets) / len(values) * one.error(weights) for one in cohorts]).sum()
        optimiser.zero_grad()
        error.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        yield torch.exp(axes @ coefficients.detach())


@dataclass(frozen=True, eq=False)
class _Ridge:
    """The ridge of one readout: connections, shape (n_subjects, n_connections), and targets, both centred."""

    connections: Tensor
    targets: Tensor
    penalty: float

    @classmethod
    def of(cls, connections: Tensor, targets: Tensor, part: ReadoutPart) -> "_Ridge":
        own, wanted = connections[part.rows], targets[part.rows][:, part.columns]
        own, wanted = own - own.mean(dim=0), (wanted - wanted.mean(dim=0)).double()
        return cls(own, wanted, best_penalty((own @ own.T).double(), wanted))

    def error(self, weights: Tensor) -> Tensor:
        """Mean squared leave-one-out error with weighted connections."""
        weighted = self.connections * weights
        return left_out((weighted @ weighted.T).double(), self.targets, self.penalty)[1].square().mean()
