"""Spectral entropy of a graph: how evenly information spreads over its diffusion modes.

The density matrix is ρ = exp(−γL)/Z with L the Laplacian and Z = Tr exp(−γL) (Proposition 1), and the
entropy S = −Tr ρ log₂ ρ (Eq. 5). Both depend on the eigenvalues of L only, so everything here takes spectra.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from biobgt.errors import InputError

_LOG2 = float(np.log(2))
# exp(−750) is zero in double precision: beyond it a mode carries nothing, and γλ itself could overflow.
_DEAD_MODE = 750.0
_LONG_GRID = 32


def laplacian(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Graph Laplacian: strengths on the diagonal, minus the weights off it.

    Parameters
    ----------
    weights : ndarray, shape (n, n)

    Returns
    -------
    ndarray, shape (n, n)
    """
    matrix = -weights
    np.fill_diagonal(matrix, weights.sum(axis=1))
    return matrix


def clean_eigenvalues(eigenvalues: NDArray[np.float64]) -> NDArray[np.float64]:
    """Set to exactly zero what a solver cannot tell from zero.

    A Laplacian has one zero eigenvalue for each connected component. Rounding leaves dust of either sign,
    which a large γ would blow up, and which would be counted wrongly as components.

    Parameters
    ----------
    eigenvalues : ndarray, shape (..., n)

    Returns
    -------
    ndarray, shape (..., n)
    """
    n = eigenvalues.shape[-1]
    dust = n * np.finfo(np.float64).eps * eigenvalues.max(axis=-1, keepdims=True)
    return np.where(eigenvalues <= dust, 0.0, eigenvalues)


def spectral_entropy(eigenvalues: NDArray[np.float64], absolute_gamma: float) -> NDArray[np.float64]:
    """Von Neumann entropy of the density matrix (Eq. 5), in bits.

    Written as S = log₂ Z + γ⟨λ⟩/ln 2. The smallest eigenvalue of a Laplacian is 0, so exp(−γλ) lies in
    [0, 1] and Z in [1, n]: this is the log-sum-exp already shifted by its largest term, and no γ overflows.

    Parameters
    ----------
    eigenvalues : ndarray, shape (..., n)
        Laplacian spectra, nonnegative.
    absolute_gamma : float
        Diffusion time, not in units of 1/mean(λ); 0 gives log₂ n, infinity log₂ of the number of components.

    Returns
    -------
    ndarray, shape (...)
    """
    decay, propagator = _propagator(eigenvalues, absolute_gamma)
    partition = propagator.sum(axis=-1)
    energy = np.einsum("...j,...j->...", decay, propagator) / partition
    return (np.log(partition) + energy) / _LOG2


def entropy_curve(eigenvalues: NDArray[np.float64], gammas: NDArray[np.float64]) -> NDArray[np.float64]:
    """Spectral entropy of several graphs at several γ.

    On a long, evenly spaced grid exp(−(a+b)λ) = exp(−aλ)·exp(−bλ) leaves about √n_gammas exponentials to
    compute for each eigenvalue instead of n_gammas; a matrix product does the rest.

    Parameters
    ----------
    eigenvalues : ndarray, shape (n_graphs, n)
    gammas : ndarray, shape (n_gammas,)

    Returns
    -------
    ndarray, shape (n_gammas, n_graphs)
    """
    steps = np.diff(gammas)
    if len(gammas) < _LONG_GRID or not np.allclose(steps, steps[0], rtol=1e-9, atol=0):
        return np.stack([spectral_entropy(eigenvalues, gamma) for gamma in gammas])
    n_fine = round(np.sqrt(len(gammas)))
    fine = steps[0] * np.arange(n_fine)[:, None]
    coarse = gammas[::n_fine, None]
    partition = np.empty((len(eigenvalues), len(coarse) * n_fine))
    energy = np.empty_like(partition)
    with np.errstate(over="ignore"):
        for i, spectrum in enumerate(eigenvalues):
            slow, fast = np.exp(-coarse * spectrum), np.exp(-fine * spectrum)
            partition[i] = (slow @ fast.T).ravel()
            energy[i] = ((slow * spectrum) @ fast.T).ravel()
    partition, energy = partition[:, : len(gammas)], energy[:, : len(gammas)]
    return ((np.log(partition) + gammas * energy / partition) / _LOG2).T


def mean_field_entropy(eigenvalues: NDArray[np.float64], absolute_gamma: float) -> NDArray[np.float64]:
    """Entropy in the paper's mean-field approximation (proof of Theorem 1), in bits.

    S ≈ 2mγn²/(ln 2 (n−α)²) · (1 − α/Z) + log₂ Z, with 2m the trace of the Laplacian (twice the total weight)
    and α the number of components. The difference of two such entropies with the same m and α is Eq. 6 with
    the factor α that the last step of its proof drops: the bracket is α·ΔZ/(Z·Z_i).

    Parameters
    ----------
    eigenvalues : ndarray, shape (..., n)
    absolute_gamma : float
        Diffusion time, not in units of 1/mean(λ).

    Returns
    -------
    ndarray, shape (...)

    Notes
    -----
    The approximation orders regions, it does not measure them. Its first term sums n equal products of two
    means that are each taken over n−α modes and is then multiplied by n once more, so it is n²/(n−α) times
    what n−α modes would carry: at large γ it exceeds log₂ n, which no entropy can. This factor is the same
    for all regions and is kept as the theorem has it.
    """
    n = eigenvalues.shape[-1]
    partition = _propagator(eigenvalues, absolute_gamma)[1].sum(axis=-1)
    components = (eigenvalues == 0).sum(axis=-1)
    # Without any edge α = n: there is no mode to average over and the trace is zero.
    spread = np.maximum(n - components, 1)
    energy = absolute_gamma * eigenvalues.sum(axis=-1) * n**2 / spread**2 * (1 - components / partition)
    return (energy + np.log(partition)) / _LOG2


def check_gammas(gammas: float | Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return γ values as a vector, or say which one is not a diffusion time."""
    values = np.atleast_1d(np.asarray(gammas, dtype=np.float64))
    if values.ndim != 1 or not len(values):
        raise InputError(f"γ must be a number or a list of numbers, not an array of shape {values.shape}.")
    wrong = values[~(np.isfinite(values) & (values >= 0))]
    if len(wrong):
        raise InputError(f"γ is a diffusion time and must be finite and 0 or more, not {wrong[0]}.")
    return values


def _propagator(eigenvalues: NDArray[np.float64], gamma: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return γλ (cut off where a mode is dead) and exp(−γλ)."""
    with np.errstate(over="ignore"):
        decay = np.minimum(gamma * eigenvalues, _DEAD_MODE)
    return decay, np.exp(-decay)
