"""First-order eigenvalues of every perturbed Laplacian: λ_j + v_jᵀ ΔL v_j.

One eigendecomposition of the original graph serves all regions (Huang et al. 2024). The quadratic forms are
written as matrix products over all regions and eigenvectors together.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from biobgt.hubs.entropy import laplacian
from biobgt.hubs.perturbation import Perturbation, laplacian_changes

# Eigenvalues closer than this share of the largest are one eigenvalue: their vectors are not told apart.
_SAME_EIGENVALUE = 1e-10
# Below this share of connected pairs, as among citing papers, a product over connections is much the faster one.
_SPARSE = 0.01


def first_order_spectra(
    weights: NDArray[np.float64], perturbation: Perturbation
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the original eigenvalues and, to first order, those after the perturbation of each region.

    Where an eigenvalue is repeated its eigenvectors are an arbitrary basis, and the first order is given by the
    eigenvalues of VᵀΔLV on the eigenspace; so the result does not depend on the order of the regions.

    Parameters
    ----------
    weights : ndarray, shape (n, n)
    perturbation : {"control", "remove"}

    Returns
    -------
    original : ndarray, shape (n,)
    perturbed : ndarray, shape (n, n)
        Row i for region i, in the order of the original eigenvalues.
    """
    original, vectors = np.linalg.eigh(laplacian(weights))
    shift = (_control_shift if perturbation == "control" else _remove_shift)(weights, vectors)
    repeated = _repeated_eigenvalues(original)
    if repeated:
        for i, members, change in laplacian_changes(weights, perturbation):
            for block in repeated:
                shift[i, block] = _shift_of_repeated(vectors[members, block], change)
    return original, original + shift


def _control_shift(weights: NDArray[np.float64], vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """v_jᵀ ΔL_i v_j for all regions i and eigenvectors j, where i's neighbourhood S becomes a clique.

    With m = |S| and p the weight of each pair, the clique gives p(m·Σ_S v² − (Σ_S v)²), and what was there
    before takes away Σ_S d v² − v_SᵀWv_S, d being the strengths within S.
    """
    member = (weights > 0).astype(np.float64)
    np.fill_diagonal(member, 1)
    size = member.sum(axis=1, keepdims=True)
    near = _multiplier(member)
    strength_inside = member * (near @ weights)
    # An isolated region has no pair; its strength is zero too.
    pair = strength_inside.sum(axis=1, keepdims=True) / np.maximum(size * (size - 1), 1)
    squares = vectors**2
    clique = pair * (size * (near @ squares) - (near @ vectors) ** 2)
    strengths = _multiplier(strength_inside) @ squares
    shift: NDArray[np.float64] = clique - strengths + _form_inside(weights, vectors, member)
    shift[size[:, 0] <= 2] = 0  # a neighbourhood of one edge is a clique already: keep rounding out of it
    return shift


def _form_inside(
    weights: NDArray[np.float64], vectors: NDArray[np.float64], member: NDArray[np.float64]
) -> NDArray[np.float64]:
    """v_jᵀWv_j with W and v_j restricted to each neighbourhood.

    Where a neighbourhood holds more than half of the regions the form is taken on all of them and the outside
    is subtracted: vᵀWv − 2v_RᵀWv + v_RᵀWv_R.
    """
    products = vectors * (_multiplier(weights) @ vectors)
    large = member.mean(axis=1) > 0.5
    forms = np.zeros_like(weights)
    forms[large] = products.sum(axis=0) - 2 * (1 - member[large]) @ products
    for i, is_large in enumerate(large):
        few = np.flatnonzero(member[i] == (0 if is_large else 1))
        local = vectors[few]
        forms[i] += np.einsum("aj,aj->j", local, weights[np.ix_(few, few)] @ local)
    return forms


def _remove_shift(weights: NDArray[np.float64], vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """−Σ_b w_ib (v_i − v_b)² for all regions i and eigenvectors j."""
    strength, near = weights.sum(axis=1, keepdims=True), _multiplier(weights)
    shift: NDArray[np.float64] = 2 * vectors * (near @ vectors) - strength * vectors**2 - near @ vectors**2
    return shift


def _multiplier(matrix: NDArray[np.float64]) -> "NDArray[np.float64] | csr_array":
    """The matrix as it multiplies fastest: by its few entries, or as it is."""
    return csr_array(matrix) if np.count_nonzero(matrix) < _SPARSE * matrix.size else matrix


def _shift_of_repeated(vectors: NDArray[np.float64], change: NDArray[np.float64]) -> NDArray[np.float64]:
    """Eigenvalues of VᵀΔLV, shape (k,), for the k eigenvectors of a repeated eigenvalue.

    ΔL is zero outside of m regions. Where these are fewer than the eigenvectors, Vᵀ = QR gives the m eigenvalues of
    RΔLRᵀ, and the others are zero.

    Parameters
    ----------
    vectors : ndarray, shape (m, k)
        Rows of the m regions that change.
    change : ndarray, shape (m, m)
        ΔL there.
    """
    m, k = vectors.shape
    if m >= k:
        return np.asarray(np.linalg.eigvalsh(vectors.T @ change @ vectors), dtype=np.float64)
    triangle = np.asarray(np.linalg.qr(vectors.T, mode="r"), dtype=np.float64)
    return np.sort(np.append(np.linalg.eigvalsh(triangle @ change @ triangle.T), np.zeros(k - m)))


def _repeated_eigenvalues(eigenvalues: NDArray[np.float64]) -> list[slice]:
    """Runs of equal eigenvalues, without the zeros: on those no perturbation has any effect to first order."""
    gap = _SAME_EIGENVALUE * eigenvalues[-1]
    edges = np.flatnonzero(np.diff(eigenvalues) > gap) + 1
    starts, stops = np.r_[0, edges], np.r_[edges, len(eigenvalues)]
    return [
        slice(start, stop)
        for start, stop in zip(starts, stops, strict=True)
        if stop - start > 1 and eigenvalues[start] > gap
    ]
