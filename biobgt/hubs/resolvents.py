"""Entropies of all perturbed graphs from resolvents of the one graph: no eigenvalue problem for each region.

The perturbation of region i changes the Laplacian only within i's closed neighbourhood N: A_i = A − γE with A = −γL and
E on N × N. So, with G the N × N block of (A − z)⁻¹,

    log det (A_i − z) − log det (A − z) = log det (I − γGE),

and one eigendecomposition of L gives G for all regions. Traces of exp(A_i) and of A_i exp(A_i), which is all that the
entropy needs, are sums of such logarithms at five to nine points z (:mod:`biobgt.hubs.contour`). A logarithm is known
up to turns of 2πi, and the right one lies within ½(γ‖E‖/d)² of −γ tr GE, d being the distance of z from the negative
axis: on the way from A to A_i the second derivative is no larger. Where that leaves more than one, at large γ, the
derivative with respect to z is taken instead, γ tr (I − γGE)⁻¹G₂E with G₂ the block of (A − z)⁻², and poles in place of
logarithms; it takes about twice as long.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biobgt.hubs.contour import HALF_DECADE, Contour, Kind, contour_weights, shortest_contour
from biobgt.hubs.perturbation import Neighbourhoods, Perturbation, changed_regions, neighbourhoods

Values = NDArray[np.float64]

# Radians within which a logarithm's imaginary part has to be known: half a turn, and a little less for rounding.
_HALF_TURN = 3.0
# Numbers in the resolvents that are held at once, 64 MB; what is cut out for a batch is used for all of them.
_MOST_HELD = 2**22


@dataclass(frozen=True, eq=False)
class TraceChanges:
    """How the perturbation of every region changes two traces.

    Attributes
    ----------
    partition : ndarray, shape (n_times, n)
        Tr exp(−γL_i) − Tr exp(−γL).
    energy : ndarray, shape (n_times, n)
        Tr γL_i exp(−γL_i) − Tr γL exp(−γL).
    """

    partition: Values
    energy: Values


def trace_changes(
    weights: Values, eigenvalues: Values, vectors: Values, times: Values, *, perturbation: Perturbation
) -> TraceChanges:
    """Compute both changes at some diffusion times.

    Parameters
    ----------
    weights : ndarray, shape (n, n)
    eigenvalues : ndarray, shape (n,)
        Of the Laplacian, with exact zeros.
    vectors : ndarray, shape (n, n)
        Its eigenvectors, in columns.
    times : ndarray, shape (n_times,)
        Absolute γ, above 0.
    perturbation : {"control", "remove"}
    """
    found = np.zeros((2, len(times), len(weights)))
    largest = float(eigenvalues[-1]) + largest_added(weights)
    for chosen, middle in time_windows(times):
        contour = shortest_contour(middle * largest, alone=bool(np.ptp(times[chosen]) <= 1e-12 * middle))
        relative = [round(float(time), 12) for time in times[chosen] / middle]
        points = _Points(contour, middle, eigenvalues, vectors)
        for kind, batches in _batches_by_kind(weights, perturbation, points).items():
            fitted = np.stack([contour_weights(contour, kind, time) for time in relative], axis=1)
            for batch, value in points.changes(weights, batches, kind, perturbation):
                found[:, chosen[:, None], batch.regions] += np.einsum("ftk,kb->ftb", fitted, value).real
    return TraceChanges(found[0], -found[1])  # y·exp(y) has y = −γλ


def largest_added(weights: Values) -> float:
    """The most that perturbations add to the largest eigenvalue: a clique of m members has m times its weight."""
    inside = (weights > 0).astype(np.float64)
    np.fill_diagonal(inside, 1)
    strengths = np.einsum("ij,ij->i", inside @ weights, inside)
    return float((strengths / np.maximum(inside.sum(axis=1) - 1, 1)).max())


def time_windows(times: Values) -> Iterator[tuple[NDArray[np.intp], float]]:
    """Yield times that share the points of one contour, by their places, and the middle of them.

    Parameters
    ----------
    times : ndarray, shape (n_times,)
        Above 0, in any order.
    """
    order = np.argsort(times, kind="stable")
    while len(order):
        near = times[order] <= times[order[0]] * HALF_DECADE[0].widest * (1 + 1e-9)
        yield order[near], float(np.sqrt(times[order[near]].min() * times[order[near]].max()))
        order = order[~near]


def _batches_by_kind(
    weights: Values, perturbation: Perturbation, points: "_Points"
) -> dict[Kind, list[Neighbourhoods]]:
    """Neighbourhoods whose logarithms are known to the turn, and those for which poles are needed."""
    regions = changed_regions(weights, perturbation)
    unclear = np.zeros(len(weights), dtype=bool)
    for batch in neighbourhoods(weights, regions):
        squares = (batch.changes(weights, perturbation) ** 2).sum(axis=(1, 2))
        unclear[batch.regions] = squares * points.gamma**2 > 2 * _HALF_TURN * points.contour.distances.min() ** 2
    return {
        "logarithms": neighbourhoods(weights, regions[~unclear[regions]]),
        "poles": neighbourhoods(weights, regions[unclear[regions]]),
    }


@dataclass(frozen=True, eq=False)
class _Points:
    """The resolvents of one graph at the points of a contour."""

    contour: Contour
    gamma: float
    eigenvalues: Values
    vectors: Values

    def changes(
        self, weights: Values, batches: list[Neighbourhoods], kind: Kind, perturbation: Perturbation
    ) -> Iterator[tuple[Neighbourhoods, NDArray[np.complex128]]]:
        """Yield each batch with the change of every region's logarithm, or pole, at every point, (n_points, n_batch).

        Parameters
        ----------
        weights : ndarray, shape (n, n)
        batches : list of Neighbourhoods
        kind : {"logarithms", "poles"}
        perturbation : {"control", "remove"}

        Yields
        ------
        batch : Neighbourhoods
            Several times: points that are not held at the time have changes of 0.
        changes : ndarray, shape (n_points, n_batch)
        """
        n_points = self.contour.n_points if batches else 0
        held = max(1, _MOST_HELD // (len(weights) ** 2 * (1 if kind == "logarithms" else 2)))
        for start in range(0, n_points, held):
            some = range(start, min(start + held, n_points))
            resolvents = [self._resolvent(k, kind) for k in some]
            for batch in batches:
                here = Neighbourhoods(batch.regions, batch.members, batch.filled, batch.n_regions)
                scaled = self.gamma * here.changes(weights, perturbation)
                found = np.zeros((n_points, len(here.regions)), dtype=np.complex128)
                found[some.start : some.stop] = [_change(here, scaled, *matrices) for matrices in resolvents]
                yield here, found

    def _resolvent(self, k: int, kind: Kind) -> list[NDArray[np.complex128]]:
        """(A − z)⁻¹ at a point z = x + ib and, where poles are asked for, its square.

        Im 1/(y − z) is positive and −Re 1/(y − z) is so with a little of it added, so that both parts are products of
        a matrix with its own transpose, which take half the time of others.
        """
        point = self.contour.points[k]
        poles = 1 / (-self.gamma * self.eigenvalues - point)
        share = max(-point.real, 0.0) / point.imag
        found = [np.empty(self.vectors.shape, dtype=np.complex128)]
        found[0].imag = imaginary = _gram(self.vectors, poles.imag)
        found[0].real = share * imaginary - _gram(self.vectors, share * poles.imag - poles.real)
        if kind == "poles":
            found.append(np.empty_like(found[0]))
            found[1].real, found[1].imag = (
                (self.vectors * part) @ self.vectors.T for part in ((poles**2).real, (poles**2).imag)
            )
        return found


def _gram(vectors: Values, positive: Values) -> Values:
    """Σ_j p_j v_j v_jᵀ with p ≥ 0."""
    rooted = vectors * np.sqrt(np.maximum(positive, 0))
    product: Values = rooted @ rooted.T
    return product


def _change(
    batch: Neighbourhoods,
    scaled: Values,
    resolvent: NDArray[np.complex128],
    squared: NDArray[np.complex128] | None = None,
) -> NDArray[np.complex128]:
    """The change of the logarithm in every region of a batch or, with the squared resolvent, of the pole.

    Parameters
    ----------
    batch : Neighbourhoods
    scaled : ndarray, shape (n_batch, size, size)
        γE of each region.
    resolvent, squared : ndarray, shape (n, n)

    Returns
    -------
    ndarray, shape (n_batch,)
    """
    block = batch.block(resolvent)
    # Real times complex as one real product, of real and imaginary parts in turn; the transpose of GE is EG.
    matrix = -(scaled @ block.view(np.float64)).view(np.complex128)
    if squared is None:
        return _log_determinant(matrix)
    places = np.arange(matrix.shape[-1])
    matrix[:, places, places] += 1
    solved = np.linalg.solve(matrix, scaled.astype(np.complex128))
    trace: NDArray[np.complex128] = np.einsum("bij,bij->b", solved, batch.block(squared))
    return trace


def _log_determinant(matrix: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Log det (I + M) of a stack of matrices M, which is changed; the imaginary part is the one near that of tr M."""
    places = np.arange(matrix.shape[-1])
    expected = matrix[:, places, places].imag.sum(axis=1)
    matrix[:, places, places] += 1
    phase, size = np.linalg.slogdet(matrix)
    angle = np.angle(phase)
    return size + 1j * (angle + 2 * np.pi * np.round((expected - angle) / (2 * np.pi)))
