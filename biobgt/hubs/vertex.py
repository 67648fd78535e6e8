"""Vertex entanglement (VE) of Huang, Wang, Ren & Lü, Communications Physics 7:19 (2024).

VE(i) = min over β of S(G_i) − S(G), with the control graph's eigenvalues to first order. It is the source of
the paper's node entanglement, and differs from it: VE keeps the sign, looks at all diffusion times and takes
the lowest. The key players are the regions with the *most negative* VE.
"""

import numpy as np
from numpy.typing import NDArray

from biobgt.graph import Graph
from biobgt.hubs.spectra import control_spectra

_STEPS = 100


def vertex_entanglement(adjacency: Graph, *, betas: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Vertex entanglement of every region, in bits; the most negative regions are the key players.

    Parameters
    ----------
    adjacency : ndarray, shape (n, n), or BrainGraph
        Symmetric, nonnegative, zero diagonal.
    betas : ndarray, shape (n_betas,), optional
        Diffusion times to take the minimum over; by default :func:`default_betas`.

    Returns
    -------
    ndarray, shape (n,)
        0 or less with the default β, which start at 0 where nothing differs.
    """
    spectra = control_spectra(adjacency, method="first-order")
    if betas is None:
        betas = default_betas(spectra.original)
    lowest: NDArray[np.float64] = spectra.entropy_change(absolute_gammas=betas).min(axis=0)
    return lowest


def default_betas(eigenvalues: NDArray[np.float64]) -> NDArray[np.float64]:
    """Huang's grid: 100 values from 0 to 5/λ₊ and 100 from there to 10/λ₊, the shared one once.

    Parameters
    ----------
    eigenvalues : ndarray, shape (n,)
        Laplacian spectrum with exact zeros; λ₊ is its smallest non-zero value.

    Returns
    -------
    ndarray, shape (199,), or (1,) with the value 0 for a graph without edges
    """
    nonzero = eigenvalues[eigenvalues > 0]
    if not len(nonzero):
        return np.zeros(1)
    middle = 5 / nonzero.min()
    return np.concatenate([np.linspace(0, middle, _STEPS), np.linspace(middle, 2 * middle, _STEPS)[1:]])
