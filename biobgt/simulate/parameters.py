"""Group-level parameters of real cohorts, and subjects drawn from them.

A subject's connectome is the group's mean (Fisher z) plus a draw from a low-rank subject covariance. What
those components leave out of a person's individuality is a Wishart draw around it, and its series are
Gaussian with the cohort's mean temporal spectrum, so that their correlations carry the sampling noise of a
scan of that length. The parameters hold averages and components over hundreds of subjects, and no subject.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from biobgt.assets import asset

# Correlations from tanh(mean + draw) need not belong together; eigenvalues below this are raised to it.
_SMALLEST_EIGENVALUE = 1e-6


@dataclass(frozen=True, eq=False)
class GroupParameters:
    """What is known of a cohort's groups; connections are ordered as ``numpy.triu_indices(n_regions, 1)``.

    Attributes
    ----------
    groups : tuple of str
    n_subjects : tuple of int
        How many real subjects each group's mean was taken over.
    mean_z : ndarray, shape (n_groups, n_connections)
        Mean Fisher-z connectome of each group.
    components : ndarray, shape (n_components, n_connections)
        Directions in which subjects differ within groups, each scaled by its standard deviation.
    individual_dof : int
        Degrees of freedom of the Wishart draw: the fewer, the more a subject differs from what the
        components say.
    spectrum : ndarray, shape (n_frequencies,)
        Mean power of the series, on an even grid from 0 to half a cycle per time point.
    n_timepoints : int
    tr : float
        Seconds between time points.
    """

    groups: tuple[str, ...]
    n_subjects: tuple[int, ...]
    mean_z: NDArray[np.float64]
    components: NDArray[np.float64]
    individual_dof: int
    spectrum: NDArray[np.float64]
    n_timepoints: int
    tr: float

    @property
    def n_regions(self) -> int:
        """Number of regions, from n (n − 1) / 2 connections."""
        return int((1 + np.sqrt(1 + 8 * self.mean_z.shape[1])) / 2)

    def mean_connectivity(self, group: str) -> NDArray[np.float64]:
        """Return a group's mean connectome as correlations, shape (n_regions, n_regions), unit diagonal."""
        return _correlation_matrix(self.mean_z[self.groups.index(group)], self.n_regions)

    def save(self, path: Path) -> None:
        """Write the parameters as a compressed ``.npz`` without objects."""
        np.savez_compressed(
            path,
            groups=np.array(self.groups),
            n_subjects=np.array(self.n_subjects, dtype=np.int32),
            mean_z=self.mean_z.astype(np.float32),
            components=self.components.astype(np.float16),
            individual_dof=np.int32(self.individual_dof),
            spectrum=self.spectrum.astype(np.float32),
            n_timepoints=np.int32(self.n_timepoints),
            tr=np.float32(self.tr),
        )


@cache
def load_parameters(name: str) -> GroupParameters:
    """Load the bundled parameters ``asd``, ``adhd`` or ``ad``."""
    with np.load(asset("demo", f"{name}.npz"), allow_pickle=False) as stored:
        return GroupParameters(
            groups=tuple(str(group) for group in stored["groups"]),
            n_subjects=tuple(int(count) for count in stored["n_subjects"]),
            mean_z=stored["mean_z"].astype(np.float64),
            components=stored["components"].astype(np.float64),
            individual_dof=int(stored["individual_dof"]),
            spectrum=stored["spectrum"].astype(np.float64),
            n_timepoints=int(stored["n_timepoints"]),
            tr=float(stored["tr"]),
        )


def draw_connectome(parameters: GroupParameters, group: str, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw one subject's true connectome.

    Parameters
    ----------
    parameters : GroupParameters
    group : str
        One of ``parameters.groups``.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray, shape (n_regions, n_regions)
        A correlation matrix: symmetric, positive semi-definite, unit diagonal.
    """
    factor = _draw_factor(parameters, group, rng)
    return factor @ factor.T


def draw_series(parameters: GroupParameters, group: str, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw one subject's region series.

    Parameters
    ----------
    parameters : GroupParameters
    group : str
        One of ``parameters.groups``.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray, shape (n_timepoints, n_regions)
        Gaussian, of mean zero and expected variance one. The same generator state gives
        :func:`draw_connectome` the connectome that these series are a finite sample of.
    """
    factor = _draw_factor(parameters, group, rng)
    amplitude = _amplitude(parameters.spectrum, parameters.n_timepoints)
    sources = _coloured_noise(amplitude, parameters.n_timepoints, factor.shape[1], rng)
    return sources @ factor.T


def _draw_factor(parameters: GroupParameters, group: str, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw F, shape (n_regions, individual_dof), whose rows have unit length: the connectome is F Fᵀ."""
    scores = rng.standard_normal(len(parameters.components))
    z = parameters.mean_z[parameters.groups.index(group)] + scores @ parameters.components
    expected = _factor(_correlation_matrix(z, parameters.n_regions))
    return _unit_rows(expected @ rng.standard_normal((parameters.n_regions, parameters.individual_dof)))


def _correlation_matrix(z: NDArray[np.float64], n_regions: int) -> NDArray[np.float64]:
    matrix = np.zeros((n_regions, n_regions))
    matrix[np.triu_indices(n_regions, 1)] = np.tanh(z)
    matrix += matrix.T
    np.fill_diagonal(matrix, 1)
    return matrix


def _factor(correlation: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return F with F Fᵀ the correlation matrix whose negative eigenvalues were clipped away."""
    values, vectors = np.linalg.eigh(correlation)
    # The symmetric root: the signs of eigenvectors differ between machines, and a seed must not.
    return _unit_rows((vectors * np.sqrt(np.maximum(values, _SMALLEST_EIGENVALUE))) @ vectors.T)


def _unit_rows(factor: NDArray[np.float64]) -> NDArray[np.float64]:
    return factor / np.linalg.norm(factor, axis=1, keepdims=True)


def _amplitude(spectrum: NDArray[np.float64], n_timepoints: int) -> NDArray[np.float64]:
    """Return the Fourier amplitudes that give the spectrum's shape, no mean and unit expected variance."""
    frequencies = np.fft.rfftfreq(n_timepoints)
    power = np.interp(frequencies, np.linspace(0, 0.5, len(spectrum)), spectrum)
    power[0] = 0
    # A real series has each frequency twice (f and −f) but for the highest one of an even length.
    times = np.where(frequencies == 0.5, 1, 2)
    return np.sqrt(power / (times * power).sum())


def _coloured_noise(
    amplitude: NDArray[np.float64], n_timepoints: int, n_series: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    real, imaginary = rng.standard_normal((2, len(amplitude), n_series)) / np.sqrt(2)
    if n_timepoints % 2 == 0:
        real[-1] *= np.sqrt(2)  # the highest frequency of an even length has no imaginary part
    coefficients = amplitude[:, None] * (real + 1j * imaginary)
    return np.fft.irfft(coefficients, n_timepoints, axis=0, norm="forward")
