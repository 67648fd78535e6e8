"""Node entanglement (NE): how much the spectral entropy changes when one region is perturbed.

NE(i) = |S(G_i) − S(G)| in bits (Definition 1), with G_i the graph after a perturbation of region i and S the
entropy of Eq. 5. Whether NE agrees with other hub measures depends on γ: see docs/plausibility.md.
"""

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from biobgt.graph import Graph, check_choice
from biobgt.hubs.hub_options import DEFAULT_GAMMA
from biobgt.hubs.perturbation import DEFAULT_PERTURBATION, Perturbation
from biobgt.hubs.perturbed_graphs import perturbed_graphs
from biobgt.hubs.spectra import Gammas, SpectrumMethod, control_spectra

EntanglementMethod = Literal["exact", "first-order", "mean-field"]


def node_entanglement(
    adjacency: Graph,
    *,
    gamma: float = DEFAULT_GAMMA,
    absolute_gamma: float | None = None,
    perturbation: Perturbation = DEFAULT_PERTURBATION,
    method: EntanglementMethod = "exact",
    signed: bool = False,
) -> NDArray[np.float64]:
    """Node entanglement of every region, at one diffusion time.

    Parameters
    ----------
    adjacency : ndarray, shape (n, n), or BrainGraph
        Symmetric, nonnegative, zero diagonal.
    gamma : float
        Diffusion time in units of 1/mean(λ), λ the Laplacian eigenvalues.
    absolute_gamma : float, optional
        The same as an absolute number, in place of ``gamma``.
    perturbation : {"control", "remove"}
        ``control``: i's closed neighbourhood becomes a clique of the same total weight (each pair of i and its
        k neighbours gets 2W/(k(k+1))). ``remove``: i loses its edges and stays as an isolated node.
    method : {"exact", "first-order", "mean-field"}
        The entropy of every perturbed graph, from its eigenvalues or from resolvents of the graph, whichever takes less
        (:mod:`biobgt.hubs.perturbed_graphs`); first-order perturbation of the graph's eigenvalues; or Theorem 1 with
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
    return entanglement_sweep(
        adjacency, gamma, absolute_gammas=absolute_gamma, perturbation=perturbation, method=method, signed=signed
    )[0]


def entanglement_sweep(
    adjacency: Graph,
    gammas: Gammas = DEFAULT_GAMMA,
    *,
    absolute_gammas: Gammas | None = None,
    perturbation: Perturbation = DEFAULT_PERTURBATION,
    method: EntanglementMethod = "exact",
    signed: bool = False,
) -> NDArray[np.float64]:
    """Node entanglement over many diffusion times; what they share is computed once.

    Parameters
    ----------
    adjacency : ndarray, shape (n, n), or BrainGraph
    gammas : float or sequence of float, length n_gammas
        In units of 1/mean(λ).
    absolute_gammas : float or sequence of float, length n_gammas, optional
        The same as absolute numbers, in place of ``gammas``.
    perturbation, method, signed
        As in :func:`node_entanglement`.

    Returns
    -------
    ndarray, shape (n_gammas, n)
        In bits.
    """
    check_choice("method", method, get_args(EntanglementMethod))
    if method == "exact":
        exact = perturbed_graphs(adjacency, gammas, absolute_gammas=absolute_gammas, perturbation=perturbation)
        change = exact.entropy_change(gammas, absolute_gammas=absolute_gammas)
    else:
        spectrum_method: SpectrumMethod = "first-order" if method == "first-order" else "exact"
        spectra = control_spectra(adjacency, perturbation=perturbation, method=spectrum_method)
        change = spectra.entropy_change(gammas, absolute_gammas=absolute_gammas, mean_field=method == "mean-field")
    return change if signed else np.abs(change)
