"""Node entanglement (NE): how much the spectral entropy changes when one region is perturbed.

NE(i) = |S(G_i) − S(G)| in bits (Definition 1), with G_i the graph after a perturbation of region i and S the
entropy of Eq. 5. Whether NE agrees with other hub measures depends on γ: see :mod:`biobgt.hubs.plausibility`.
"""

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from biobgt.graph import Graph, check_choice
from biobgt.hubs.perturbation import Perturbation
from biobgt.hubs.spectra import SpectrumMethod, control_spectra

EntanglementMethod = Literal["exact", "first-order", "mean-field"]


def node_entanglement(
    adjacency: Graph,
    *,
    gamma: float | None = None,
    perturbation: Perturbation = "control",
    method: EntanglementMethod = "exact",
    signed: bool = False,
) -> NDArray[np.float64]:
    """Node entanglement of every region, at one diffusion time.

    Parameters
    ----------
    adjacency : ndarray, shape (n, n), or BrainGraph
        Symmetric, nonnegative, zero diagonal.
    gamma : float, optional
        Diffusion time; by default 0.5/mean(λ), λ the Laplacian eigenvalues.
    perturbation : {"control", "remove"}
        ``control``: i's closed neighbourhood becomes a clique of the same total weight (each pair of i and its
        k neighbours gets 2W/(k(k+1))). ``remove``: i loses its edges and stays as an isolated node.
    method : {"exact", "first-order", "mean-field"}
        Eigenvalues of every perturbed graph; first-order perturbation of the original ones; or Theorem 1 with
        its factor α put right (see :func:`biobgt.hubs.mean_field_entropy` for what it is worth).
    signed : bool
        Keep the sign of ΔS = S(G_i) − S(G).

    Returns
    -------
    ndarray, shape (n,)
        In bits.

    Notes
    -----
    An isolated or silent region has NE 0, and so has, under ``control``, a region with one neighbour and every
    region of a complete graph with equal weights. A graph without edges has NE 0 everywhere.
    """
    gammas = None if gamma is None else np.array([gamma], dtype=np.float64)
    return entanglement_sweep(adjacency, gammas, perturbation=perturbation, method=method, signed=signed)[0]


def entanglement_sweep(
    adjacency: Graph,
    gammas: NDArray[np.float64] | None = None,
    *,
    perturbation: Perturbation = "control",
    method: EntanglementMethod = "exact",
    signed: bool = False,
) -> NDArray[np.float64]:
    """Node entanglement over many diffusion times; the spectra are computed once.

    Parameters
    ----------
    adjacency : ndarray, shape (n, n), or BrainGraph
    gammas : ndarray, shape (n_gammas,), optional
        Absolute values; multiply by ``Spectra.gamma_unit`` to give them in units of 1/mean(λ). By default the
        one value of :func:`node_entanglement`.
    perturbation, method, signed
        As in :func:`node_entanglement`.

    Returns
    -------
    ndarray, shape (n_gammas, n)
        In bits.
    """
    check_choice("method", method, get_args(EntanglementMethod))
    spectrum_method: SpectrumMethod = "first-order" if method == "first-order" else "exact"
    spectra = control_spectra(adjacency, perturbation=perturbation, method=spectrum_method)
    times = np.array([spectra.default_gamma]) if gammas is None else gammas
    change = spectra.entropy_change(times, mean_field=method == "mean-field")
    return change if signed else np.abs(change)
