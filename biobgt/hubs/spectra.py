"""Laplacian spectra of a graph and of its perturbation at every region.

The spectra do not depend on γ: they are computed once, and any diffusion time is then cheap. They are all that
node entanglement needs, and they answer "why this region?": its spectrum and entropy before and after.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from biobgt.graph import Graph, check_choice
from biobgt.hubs.entropy import check_gammas, clean_eigenvalues, entropy_curve, laplacian, mean_field_entropy
from biobgt.hubs.first_order import first_order_spectra
from biobgt.hubs.perturbation import Perturbation, laplacian_changes
from biobgt.hubs.weights import hub_weights

SpectrumMethod = Literal["exact", "first-order"]

# Default diffusion time, in units of 1/mean(λ): below the scales at which NE and NEff part ways.
DEFAULT_GAMMA = 0.5
# Two entropies of some bits each are equal when they differ by less; otherwise rounding would rank regions.
_ROUNDING_BITS = 1e-13


@dataclass(frozen=True, eq=False)
class Spectra:
    """Laplacian eigenvalues of a graph and of its perturbation at every region.

    Attributes
    ----------
    original : ndarray, shape (n,)
        Ascending, with an exact zero for each connected component.
    perturbed : ndarray, shape (n, n)
        Row i: the graph after the perturbation of region i. Ascending, or to first order in the order of the
        original eigenvalues they come from.
    perturbation : {"control", "remove"}
    method : {"exact", "first-order"}
    """

    original: NDArray[np.float64]
    perturbed: NDArray[np.float64]
    perturbation: Perturbation
    method: SpectrumMethod

    @property
    def gamma_unit(self) -> float:
        """The natural unit of γ, 1/mean(λ); 1 for a graph without edges, where γ changes nothing."""
        mean = float(self.original.mean())
        return 1 / mean if mean > 0 else 1.0

    @property
    def default_gamma(self) -> float:
        """γ used when none is given: 0.5/mean(λ)."""
        return DEFAULT_GAMMA * self.gamma_unit

    def entropy(self, gammas: float | NDArray[np.float64]) -> NDArray[np.float64]:
        """Entropy of the unperturbed graph in bits, shape (n_gammas,)."""
        return entropy_curve(self.original[None], check_gammas(gammas))[:, 0]

    def entropy_change(self, gammas: float | NDArray[np.float64], *, mean_field: bool = False) -> NDArray[np.float64]:
        """ΔS = S(G_i) − S(G) in bits, with its sign.

        Parameters
        ----------
        gammas : float or ndarray, shape (n_gammas,)
        mean_field : bool
            Take both entropies in the mean-field approximation of Theorem 1.

        Returns
        -------
        ndarray, shape (n_gammas, n)
        """
        times = check_gammas(gammas)
        graphs = np.vstack([self.original, self.perturbed])
        if mean_field:
            entropy = np.stack([mean_field_entropy(graphs, gamma) for gamma in times])
        else:
            entropy = entropy_curve(graphs, times)
        change = entropy[:, 1:] - entropy[:, :1]
        change[np.abs(change) < _ROUNDING_BITS] = 0
        return change


def gamma_unit(adjacency: Graph) -> float:
    """Return the natural unit of γ without any spectrum: the mean eigenvalue is the mean strength."""
    strength = float(hub_weights(adjacency).sum(axis=0).mean())
    return 1 / strength if strength > 0 else 1.0


def control_spectra(
    adjacency: Graph, *, perturbation: Perturbation = "control", method: SpectrumMethod = "exact"
) -> Spectra:
    """Compute the spectra behind node entanglement: the graph's own, and one for each perturbed region.

    Parameters
    ----------
    adjacency : ndarray, shape (n, n), or BrainGraph
    perturbation : {"control", "remove"}
    method : {"exact", "first-order"}
        Eigenvalues of every perturbed Laplacian, or first-order perturbation of the original ones.

    Returns
    -------
    Spectra
    """
    weights = hub_weights(adjacency)
    check_choice("perturbation", perturbation, get_args(Perturbation))
    check_choice("method", method, get_args(SpectrumMethod))
    if method == "exact":
        original, perturbed = _exact_spectra(weights, perturbation)
    else:
        original, perturbed = first_order_spectra(weights, perturbation)
    return Spectra(clean_eigenvalues(original), clean_eigenvalues(perturbed), perturbation, method)


def _exact_spectra(
    weights: NDArray[np.float64], perturbation: Perturbation
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    matrix = laplacian(weights)
    original = np.asarray(np.linalg.eigvalsh(matrix), dtype=np.float64)
    perturbed = np.tile(original, (len(weights), 1))
    for i, members, change in laplacian_changes(weights, perturbation):
        altered = matrix.copy()
        altered[np.ix_(members, members)] += change
        perturbed[i] = np.linalg.eigvalsh(altered)
    return original, perturbed
