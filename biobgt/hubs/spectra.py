"""Laplacian spectra of a graph and of its perturbation at every region.

The spectra do not depend on γ: they are computed once, and any diffusion time is then cheap. They are all that
node entanglement needs, and they answer "why this region?": its spectrum and entropy before and after.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from biobgt.graph import Graph, check_choice
from biobgt.hubs.entropy import check_gammas, clean_eigenvalues, entropy_curve, laplacian, mean_field_entropy
from biobgt.hubs.first_order import first_order_spectra
from biobgt.hubs.hub_options import DEFAULT_GAMMA
from biobgt.hubs.perturbation import (
    DEFAULT_PERTURBATION,
    Perturbation,
    changed_regions,
    laplacian_changes,
    neighbourhoods,
)
from biobgt.hubs.weights import hub_weights

SpectrumMethod = Literal["exact", "first-order"]
Gammas = float | Sequence[float] | NDArray[np.float64]

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

    def entropy(self, gammas: Gammas = DEFAULT_GAMMA, *, absolute_gammas: Gammas | None = None) -> NDArray[np.float64]:
        """Entropy of the unperturbed graph in bits, shape (n_gammas,); γ is given as in :meth:`entropy_change`."""
        return entropy_curve(self.original[None], diffusion_times(gammas, absolute_gammas, unit=self.gamma_unit))[:, 0]

    def entropy_change(
        self, gammas: Gammas = DEFAULT_GAMMA, *, absolute_gammas: Gammas | None = None, mean_field: bool = False
    ) -> NDArray[np.float64]:
        """ΔS = S(G_i) − S(G) in bits, with its sign.

        Parameters
        ----------
        gammas : float or sequence of float, length n_gammas
            In units of 1/mean(λ).
        absolute_gammas : float or sequence of float, length n_gammas, optional
            The same as absolute numbers, in place of ``gammas``.
        mean_field : bool
            Take both entropies in the mean-field approximation of Theorem 1.

        Returns
        -------
        ndarray, shape (n_gammas, n)
        """
        times = diffusion_times(gammas, absolute_gammas, unit=self.gamma_unit)
        graphs = np.vstack([self.original, self.perturbed])
        if mean_field:
            entropy = np.stack([mean_field_entropy(graphs, gamma) for gamma in times])
        else:
            entropy = entropy_curve(graphs, times)
        change = entropy[:, 1:] - entropy[:, :1]
        change[np.abs(change) < _ROUNDING_BITS] = 0
        return change

    def spectrum_after(self, region: int) -> NDArray[np.float64]:
        """Laplacian eigenvalues after the perturbation of one region, shape (n,), ascending."""
        return np.sort(self.perturbed[region])

    def knows(self, gammas: Gammas) -> bool:
        """Whether nothing is left to measure at these γ: eigenvalues serve any."""
        return True


def diffusion_times(gammas: Gammas, absolute_gammas: Gammas | None, *, unit: float) -> NDArray[np.float64]:
    """Return absolute γ, shape (n_gammas,), or say which is none.

    Parameters
    ----------
    gammas : float or sequence of float, length n_gammas
        In units of 1/mean(λ).
    absolute_gammas : float or sequence of float, length n_gammas, or None
        The same as absolute numbers, in place of ``gammas``.
    unit : float
        1/mean(λ).
    """
    return check_gammas(gammas) * unit if absolute_gammas is None else check_gammas(absolute_gammas)


def gamma_unit(adjacency: Graph) -> float:
    """Return the natural unit of γ without any spectrum: the mean eigenvalue is the mean strength."""
    strength = float(hub_weights(adjacency).sum(axis=0).mean())
    return 1 / strength if strength > 0 else 1.0


def control_spectra(
    adjacency: Graph, *, perturbation: Perturbation = DEFAULT_PERTURBATION, method: SpectrumMethod = "exact"
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


def perturbed_spectrum(weights: NDArray[np.float64], region: int, perturbation: Perturbation) -> NDArray[np.float64]:
    """Laplacian eigenvalues after the perturbation of one region, shape (n,), ascending and with exact zeros.

    Parameters
    ----------
    weights : ndarray, shape (n, n)
    region : int
        Counted from 0.
    perturbation : {"control", "remove"}
    """
    matrix = laplacian(weights)
    for batch in neighbourhoods(weights, np.intersect1d(changed_regions(weights, perturbation), [region])):
        members = batch.members[0]
        matrix[np.ix_(members, members)] += batch.changes(weights, perturbation)[0]
    return clean_eigenvalues(np.asarray(np.linalg.eigvalsh(matrix), dtype=np.float64))


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
