"""Exact entropies of a graph and of its perturbation at every region, by the cheaper of two ways.

By eigenvalues (:class:`biobgt.hubs.spectra.Spectra`): one eigenvalue problem for each region, then any diffusion time.
By resolvents (:class:`Resolvents`): one eigenvalue problem in all, then a little for each diffusion time. Both give the
same entropies to 1e-10 bits; :func:`biobgt.hubs.cost.resolvents_are_cheaper` says which is taken.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from biobgt.graph import Graph, check_choice
from biobgt.hubs.cost import resolvents_are_cheaper
from biobgt.hubs.entropy import clean_eigenvalues, laplacian, spectral_entropy
from biobgt.hubs.hub_options import DEFAULT_GAMMA, GAMMAS
from biobgt.hubs.perturbation import DEFAULT_PERTURBATION, Perturbation
from biobgt.hubs.resolvents import trace_changes
from biobgt.hubs.spectra import Gammas, Spectra, control_spectra, diffusion_times, gamma_unit, perturbed_spectrum
from biobgt.hubs.weights import hub_weights

Values = NDArray[np.float64]

# γλ up to which resolvents are exact: beyond it rounding of a zero eigenvalue counts, which eigenvalues are cleaned of.
_LARGEST_DECAY = 1e4
# Two entropies that differ by less are equal; otherwise rounding would rank regions.
_ROUNDING_BITS = 1e-12


@dataclass(frozen=True, eq=False)
class Resolvents:
    """A graph whose perturbed entropies are taken from its resolvents, and are remembered.

    Attributes
    ----------
    weights : ndarray, shape (n, n)
    original : ndarray, shape (n,)
        Laplacian eigenvalues, ascending, with an exact zero for each connected component.
    vectors : ndarray, shape (n, n)
        Their eigenvectors, in columns.
    perturbation : {"control", "remove"}
    """

    weights: Values
    original: Values
    vectors: Values
    perturbation: Perturbation
    _known: dict[float, Values] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, adjacency: Graph, *, perturbation: Perturbation = DEFAULT_PERTURBATION) -> "Resolvents":
        """Take the one eigendecomposition that is needed.

        Parameters
        ----------
        adjacency : ndarray, shape (n, n), or BrainGraph
        perturbation : {"control", "remove"}
        """
        check_choice("perturbation", perturbation, get_args(Perturbation))
        weights = hub_weights(adjacency)
        eigenvalues, vectors = np.linalg.eigh(laplacian(weights))
        return cls(weights, clean_eigenvalues(eigenvalues), vectors, perturbation)

    @cached_property
    def gamma_unit(self) -> float:
        """The natural unit of γ, 1/mean(λ)."""
        return gamma_unit(self.weights)

    def spectrum_after(self, region: int) -> Values:
        """Laplacian eigenvalues after the perturbation of one region, shape (n,), ascending."""
        return perturbed_spectrum(self.weights, region, self.perturbation)

    def entropy(self, gammas: Gammas = DEFAULT_GAMMA, *, absolute_gammas: Gammas | None = None) -> Values:
        """Entropy of the unperturbed graph in bits, shape (n_gammas,); γ is given as in :meth:`entropy_change`."""
        times = diffusion_times(gammas, absolute_gammas, unit=self.gamma_unit)
        return np.array([spectral_entropy(self.original, time) for time in times])

    def entropy_change(self, gammas: Gammas = DEFAULT_GAMMA, *, absolute_gammas: Gammas | None = None) -> Values:
        """ΔS = S(G_i) − S(G) in bits, with its sign.

        Parameters
        ----------
        gammas : float or sequence of float, length n_gammas
            In units of 1/mean(λ).
        absolute_gammas : float or sequence of float, length n_gammas, optional
            The same as absolute numbers, in place of ``gammas``.

        Returns
        -------
        ndarray, shape (n_gammas, n)
        """
        times = diffusion_times(gammas, absolute_gammas, unit=self.gamma_unit)
        self._measure(np.unique([time for time in times if time not in self._known]))
        return np.stack([self._known[time] for time in times])

    def knows(self, gammas: Gammas) -> bool:
        """Whether nothing is left to measure at these γ, in units of 1/mean(λ)."""
        return all(time in self._known for time in diffusion_times(gammas, None, unit=self.gamma_unit))

    def _measure(self, times: Values) -> None:
        with np.errstate(over="ignore"):
            long = times * self.original[-1] > _LARGEST_DECAY
        if long.any():
            self._known.update(zip(times[long], self._spectra.entropy_change(absolute_gammas=times[long]), strict=True))
        short = times[~long & (times > 0)]
        if len(short):
            self._known.update(zip(short, self._changes(short), strict=True))
        if (times == 0).any():
            self._known[0.0] = np.zeros(len(self.weights))

    def _changes(self, times: Values) -> Values:
        found = trace_changes(self.weights, self.original, self.vectors, times, perturbation=self.perturbation)
        decay = times[:, None] * self.original
        partition = np.exp(-decay).sum(axis=1, keepdims=True)
        energy = (decay * np.exp(-decay)).sum(axis=1, keepdims=True)
        after = (energy + found.energy) / (partition + found.partition)
        change: Values = (np.log1p(found.partition / partition) + after - energy / partition) / np.log(2)
        change[np.abs(change) < _ROUNDING_BITS] = 0
        return change

    @cached_property
    def _spectra(self) -> Spectra:
        return control_spectra(self.weights, perturbation=self.perturbation)


PerturbedGraphs = Spectra | Resolvents
ExactWay = Literal["cheaper", "eigenvalues", "resolvents"]


def perturbed_graphs(
    adjacency: Graph,
    gammas: Gammas = GAMMAS,
    *,
    absolute_gammas: Gammas | None = None,
    perturbation: Perturbation = DEFAULT_PERTURBATION,
    way: ExactWay = "cheaper",
) -> PerturbedGraphs:
    """Prepare the exact entropies of a graph and its perturbations.

    Parameters
    ----------
    adjacency : ndarray, shape (n, n), or BrainGraph
    gammas : float or sequence of float, length n_gammas
        That will be asked for, in units of 1/mean(λ); any other can be asked for too.
    absolute_gammas : float or sequence of float, length n_gammas, optional
        The same as absolute numbers, in place of ``gammas``.
    perturbation : {"control", "remove"}
    way : {"cheaper", "eigenvalues", "resolvents"}
        The values do not depend on it.
    """
    weights = hub_weights(adjacency)
    times = diffusion_times(gammas, absolute_gammas, unit=gamma_unit(adjacency))
    check_choice("way", way, get_args(ExactWay))
    check_choice("perturbation", perturbation, get_args(Perturbation))
    if way == "resolvents" or (way == "cheaper" and resolvents_are_cheaper(weights, times)):
        return Resolvents.of(adjacency, perturbation=perturbation)
    return control_spectra(adjacency, perturbation=perturbation)
