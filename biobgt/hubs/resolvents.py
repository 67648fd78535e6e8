"""Entropies of all perturbed graphs from resolvents of the one graph: no eigenvalue problem for each region.

The perturbation of region i changes the Laplacian only within i's closed neighbourhood N: A_i = A − γE with A = −γL
and E on N × N. So, with G the N × N block of (A − z)⁻¹,

    log det (A_i − z) − log det (A − z) = log det (I − γGE),

and one eigendecomposition of L gives G for all regions. Traces of exp(A_i) and of A_i exp(A_i), which is all that the
entropy needs, are sums of such logarithms at five to nine points z. A logarithm is known up to turns of 2πi, and the
right one lies within ½(γ‖E‖/d)² of −γ tr GE, d being the distance of z from the negative axis: on the way from A to A_i
the second derivative is no larger. Where that leaves more than one, at large γ, the derivative with respect to z is
taken instead, γ tr (I − γGE)⁻¹G₂E with G₂ the block of (A − z)⁻², and poles in place of logarithms; it takes about
twice as long.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.hubs.measures import Perturbation

_Form = Literal["logarithms", "poles"]
_Number = TypeVar("_Number", np.float64, np.complex128)

# What the perturbation of a region changes in the Laplacian: all of it lies within the closed neighbourhood.

# Numbers in the blocks that are worked on at once: some megabytes, which a processor's cache holds.
_LARGEST_BATCH = 2**17
# A region is left as it is by the perturbation where its closed neighbourhood has no more members than this.
_LARGEST_UNCHANGED: Mapping[str, int] = {"control": 2, "remove": 1}


def changed_regions(weights: FloatArray, perturbation: Perturbation) -> NDArray[np.intp]:
    """Regions that the perturbation does not leave as they are.

    Left as they are: isolated regions, and under ``control`` those with one neighbour, which is a clique already.

    Parameters
    ----------
    weights : ndarray, shape (n, n)
    perturbation : {"control", "remove"}
    """
    return np.flatnonzero(np.count_nonzero(weights, axis=1) + 1 > _LARGEST_UNCHANGED[perturbation])


@dataclass(frozen=True, eq=False)
class _Neighbourhoods:
    """Closed neighbourhoods of like size, to be worked on together.

    Attributes
    ----------
    regions : ndarray of int, shape (n_batch,)
    members : ndarray of int, shape (n_batch, size)
        Ascending; shorter ones are filled up with the region itself.
    filled : ndarray of bool, shape (n_batch, size)
        Where members are members.
    n_regions : int
        Of the graph.
    """

    regions: NDArray[np.intp]
    members: NDArray[np.intp]
    filled: NDArray[np.bool_]
    n_regions: int

    @cached_property
    def places(self) -> NDArray[np.intp]:
        """Where each pair of members stands in a matrix of all regions written in one row, (n_batch, size, size)."""
        return self.members[:, :, None] * self.n_regions + self.members[:, None, :]

    def block(self, matrix: NDArray[_Number]) -> NDArray[_Number]:
        """Rows and columns of a matrix (n, n) at each neighbourhood's members, shape (n_batch, size, size)."""
        return np.take(matrix, self.places, mode="clip")  # without a check of every place, which is right

    def changes(self, weights: FloatArray, perturbation: Perturbation) -> FloatArray:
        """What the perturbation of each region adds to the Laplacian, shape (n_batch, size, size); 0 where filled up.

        Parameters
        ----------
        weights : ndarray, shape (n, n)
        perturbation : {"control", "remove"}
        """
        diagonal = np.arange(self.members.shape[1])
        if perturbation == "control":  # a clique of the same total weight, minus what was there
            both = self.filled[:, :, None] & self.filled[:, None, :]
            inside = np.where(both, self.block(weights), 0.0)
            size, strengths = self.filled.sum(axis=1), inside.sum(axis=2)
            # With k neighbours and total weight W every pair gets 2W / (k(k+1)); the strengths count W twice.
            pair = strengths.sum(axis=1) / (size * (size - 1))
            changes = inside - np.where(both, pair[:, None, None], 0.0)
            changes[:, diagonal, diagonal] = np.where(self.filled, ((size - 1) * pair)[:, None] - strengths, 0.0)
            return changes
        # Minus the Laplacian of the star around the region.
        spokes = np.where(self.filled, weights[self.regions[:, None], self.members], 0.0)
        batch, centres = np.arange(len(spokes)), np.argmax(self.members == self.regions[:, None], axis=1)
        changes = np.zeros((*spokes.shape, len(diagonal)))
        changes[:, diagonal, diagonal] = -spokes
        changes[batch, centres] = changes[batch, :, centres] = spokes
        changes[batch, centres, centres] = -spokes.sum(axis=1)
        return changes


def _neighbourhoods(weights: FloatArray, regions: NDArray[np.intp]) -> list[_Neighbourhoods]:
    """Closed neighbourhoods of some regions, those of like size together.

    Parameters
    ----------
    weights : ndarray, shape (n, n)
    regions : ndarray of int, shape (n_some,)

    Returns
    -------
    list of _Neighbourhoods
        None of them larger than :data:`_LARGEST_BATCH` numbers, unless it is of one region.
    """
    connected = weights[regions] > 0
    connected[np.arange(len(regions)), regions] = True
    sizes = connected.sum(axis=1)
    found, order = [], np.argsort(sizes, kind="stable")
    while len(order):
        alike = sizes[order] <= 1.15 * sizes[order[0]] + 1
        largest = sizes[order[alike]].max()
        batch = order[alike][: max(1, _LARGEST_BATCH // largest**2)]
        filled = np.arange(sizes[batch].max()) < sizes[batch, None]
        members = np.repeat(regions[batch, None], filled.shape[1], axis=1)
        members[filled] = np.nonzero(connected[batch])[1]
        found.append(_Neighbourhoods(regions[batch], members, filled, len(weights)))
        order = order[len(batch) :]
    return found


def laplacian_change(
    weights: FloatArray, region: int, perturbation: Perturbation
) -> tuple[NDArray[np.intp], FloatArray]:
    """Return a changed region's closed neighbourhood and what its perturbation adds to the Laplacian there.

    Parameters
    ----------
    weights : ndarray, shape (n, n)
    region : int
        One of :func:`changed_regions`.
    perturbation : {"control", "remove"}

    Returns
    -------
    members : ndarray, shape (k + 1,)
    change : ndarray, shape (k + 1, k + 1)
    """
    (alone,) = _neighbourhoods(weights, np.array([region]))
    return alone.members[0], alone.changes(weights, perturbation)[0]


# Exponentials on (−∞, 0] as sums of logarithms or of poles, for entropies without eigenvalues.
#
# With z_k on a curve around the negative axis, exp(ty) and ty·exp(ty) are, up to a constant, near
# Σ Re(a_k log(y − z_k)) and near Σ Re(b_k / (y − z_k)), uniformly for y ≤ 0, or with fewer points for −b ≤ y ≤ 0: a
# pole is what remains of Cauchy's integral, and a logarithm is its antiderivative. The curve is Talbot's with the
# parameters fitted, as Weideman and Trefethen (2007) fit theirs, and the weights are fitted by least squares, both
# functions at the same z_k. Best poles (Cody, Meinardus and Varga 1969; Carathéodory-Fejér) are two fewer for exp
# alone; these serve both functions and logarithms, with weights that stay small, so that rounding does too.


@dataclass(frozen=True)
class _Contour:
    """A curve z(θ) = 2N(σ + μ θ cot(αθ) + iνθ), 0 < θ < π, with N points in the upper half-plane.

    Attributes
    ----------
    n_points : int
    sigma, mu, alpha, nu : float
        Fitted, so that the largest error for both functions is lowest.
    widest : float
        The largest time over the smallest for which it holds: t from 1/√widest to √widest.
    longest : float
        It holds for y from −longest to 0.
    """

    n_points: int
    sigma: float
    mu: float
    alpha: float
    nu: float
    widest: float
    longest: float = math.inf

    @property
    def points(self) -> NDArray[np.complex128]:
        """The points z_k, shape (n_points,)."""
        theta = (np.arange(self.n_points) + 0.5) * np.pi / self.n_points
        curve = self.sigma + self.mu * theta / np.tan(self.alpha * theta) + 1j * self.nu * theta
        return 2 * self.n_points * curve

    @property
    def distances(self) -> FloatArray:
        """The distance of each point from the negative axis, shape (n_points,)."""
        return np.where(self.points.real > 0, np.abs(self.points), self.points.imag)


# For one diffusion time and for all within half a decade, each for graphs whose largest γλ is 2, 6, 20 or any.
ONE_TIME = (
    _Contour(5, -0.6513, 0.4824, 0.4685, 0.3095, 1.0, 2.0),
    _Contour(6, -0.6271, 0.4748, 0.4855, 0.3178, 1.0, 6.0),
    _Contour(8, -0.6447, 0.505, 0.5551, 0.3078, 1.0, 20.0),
    _Contour(9, -0.6221, 0.5047, 0.5942, 0.2948, 1.0),
)
HALF_DECADE = (
    _Contour(6, -0.8641, 0.3931, 0.3704, 0.171, 10**0.5, 2.0),
    _Contour(8, -0.5771, 0.3073, 0.4166, 0.1815, 10**0.5, 6.0),
    _Contour(16, -0.8286, 0.5033, 0.5589, 0.1631, 10**0.5),
)


def _shortest_contour(largest_decay: float, *, alone: bool) -> _Contour:
    """The contour with the fewest points that holds.

    Parameters
    ----------
    largest_decay : float
        The largest γλ, with γ in the middle of the times.
    alone : bool
        For one diffusion time; otherwise for several within half a decade.
    """
    return next(contour for contour in (ONE_TIME if alone else HALF_DECADE) if largest_decay <= contour.longest)


@lru_cache(maxsize=64)
def _contour_weights(contour: _Contour, kind: _Form, time: float) -> NDArray[np.complex128]:
    """Fit the weights of exp(ty) and of ty·exp(ty).

    Parameters
    ----------
    contour : _Contour
    kind : {"logarithms", "poles"}
    time : float
        t, within the contour's range.

    Returns
    -------
    ndarray, shape (2, n_points)
        Those of exp(ty), then of ty·exp(ty); the real part of weight times logarithm (or pole) is summed.
    """
    if math.isfinite(contour.longest):
        y = -contour.longest * (1 - np.cos(np.linspace(0, np.pi, 300))) / 2
    else:  # close where exponentials bend, and out to where nothing changes any more
        bending = [np.geomspace(1e-6, 1e-3, 15), np.geomspace(1.1e-3, 200, 900)]
        y = -np.concatenate([[0.0], *bending, np.geomspace(210, 1e8, 200)])
    apart = y[:, None] - contour.points
    parts = np.log(apart) if kind == "logarithms" else 1 / apart
    real, imaginary = parts.real, -parts.imag
    if kind == "logarithms":  # far out all grow as log|y| together, so that their real weights have to add up to 0
        real = real[:, 1:] - real[:, :1]
    design = np.column_stack([real, imaginary, np.ones(len(y))])
    scale = np.linalg.norm(design, axis=0)
    decay = np.exp(time * y)
    found = np.linalg.lstsq(design / scale, np.column_stack([decay, time * y * decay]), rcond=1e-17)[0].T / scale
    if kind == "logarithms":
        found = np.column_stack([-found[:, : real.shape[1]].sum(axis=1), found])
    n = contour.n_points
    weights: NDArray[np.complex128] = found[:, :n] + 1j * found[:, n : 2 * n]
    weights.setflags(write=False)
    return weights


# How perturbations change the traces.

# Radians within which a logarithm's imaginary part has to be known: half a turn, and a little less for rounding.
_HALF_TURN = 3.0
# Numbers in the resolvents that are held at once, 64 MB; what is cut out for a batch is used for all of them.
_MOST_HELD = 2**22


def trace_changes(
    weights: FloatArray, eigenvalues: FloatArray, vectors: FloatArray, times: FloatArray, *, perturbation: Perturbation
) -> tuple[FloatArray, FloatArray]:
    """How the perturbation of every region changes two traces, at some diffusion times.

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

    Returns
    -------
    partition : ndarray, shape (n_times, n)
        Tr exp(−γL_i) − Tr exp(−γL).
    energy : ndarray, shape (n_times, n)
        Tr γL_i exp(−γL_i) − Tr γL exp(−γL).
    """
    found = np.zeros((2, len(times), len(weights)))
    regions = changed_regions(weights, perturbation)
    unclear = np.zeros(len(weights), dtype=bool)  # whose logarithms are not known to the turn: poles are needed
    forms: tuple[_Form, _Form] = ("logarithms", "poles")
    largest = float(eigenvalues[-1]) + _largest_added(weights)
    for chosen, middle in time_windows(times):
        contour = _shortest_contour(middle * largest, alone=bool(np.ptp(times[chosen]) <= 1e-12 * middle))
        relative = [round(float(time), 12) for time in times[chosen] / middle]
        points = _Points(contour, middle, eigenvalues, vectors)
        turns = 2 * _HALF_TURN * contour.distances.min() ** 2
        for batch in _neighbourhoods(weights, regions):
            squares = (batch.changes(weights, perturbation) ** 2).sum(axis=(1, 2))
            unclear[batch.regions] = squares * middle**2 > turns
        for kind, some in zip(forms, (regions[~unclear[regions]], regions[unclear[regions]]), strict=True):
            fitted = np.stack([_contour_weights(contour, kind, time) for time in relative], axis=1)
            for batch, value in points.changes(weights, _neighbourhoods(weights, some), kind, perturbation):
                found[:, chosen[:, None], batch.regions] += np.einsum("ftk,kb->ftb", fitted, value).real
    return found[0], -found[1]  # y·exp(y) has y = −γλ


def _largest_added(weights: FloatArray) -> float:
    """The most that perturbations add to the largest eigenvalue: a clique of m members has m times its weight."""
    inside = (weights > 0).astype(np.float64)
    np.fill_diagonal(inside, 1)
    strengths = np.einsum("ij,ij->i", inside @ weights, inside)
    return float((strengths / np.maximum(inside.sum(axis=1) - 1, 1)).max())


def time_windows(times: FloatArray) -> Iterator[tuple[NDArray[np.intp], float]]:
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


@dataclass(frozen=True, eq=False)
class _Points:
    """The resolvents of one graph at the points of a contour."""

    contour: _Contour
    gamma: float
    eigenvalues: FloatArray
    vectors: FloatArray

    def changes(
        self, weights: FloatArray, batches: list[_Neighbourhoods], kind: _Form, perturbation: Perturbation
    ) -> Iterator[tuple[_Neighbourhoods, NDArray[np.complex128]]]:
        """Yield each batch with the change of every region's logarithm, or pole, at every point, (n_points, n_batch).

        Parameters
        ----------
        weights : ndarray, shape (n, n)
        batches : list of _Neighbourhoods
        kind : {"logarithms", "poles"}
        perturbation : {"control", "remove"}

        Yields
        ------
        batch : _Neighbourhoods
            Several times: points that are not held at the time have changes of 0.
        changes : ndarray, shape (n_points, n_batch)
        """
        n_points = self.contour.n_points if batches else 0
        held = max(1, _MOST_HELD // (len(weights) ** 2 * (1 if kind == "logarithms" else 2)))
        for start in range(0, n_points, held):
            some = range(start, min(start + held, n_points))
            resolvents = [self._resolvent(k, kind) for k in some]
            for batch in batches:
                here = _Neighbourhoods(batch.regions, batch.members, batch.filled, batch.n_regions)
                scaled = self.gamma * here.changes(weights, perturbation)
                found = np.zeros((n_points, len(here.regions)), dtype=np.complex128)
                found[some.start : some.stop] = [_change(here, scaled, *matrices) for matrices in resolvents]
                yield here, found

    def _resolvent(self, k: int, kind: _Form) -> list[NDArray[np.complex128]]:
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


def _gram(vectors: FloatArray, positive: FloatArray) -> FloatArray:
    """Σ_j p_j v_j v_jᵀ with p ≥ 0."""
    rooted = vectors * np.sqrt(np.maximum(positive, 0))
    product: FloatArray = rooted @ rooted.T
    return product


def _change(
    batch: _Neighbourhoods,
    scaled: FloatArray,
    resolvent: NDArray[np.complex128],
    squared: NDArray[np.complex128] | None = None,
) -> NDArray[np.complex128]:
    """The change of the logarithm in every region of a batch or, with the squared resolvent, of the pole.

    Parameters
    ----------
    batch : _Neighbourhoods
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
    diagonal = np.arange(matrix.shape[-1])
    expected = matrix[:, diagonal, diagonal].imag.sum(axis=1)
    matrix[:, diagonal, diagonal] += 1
    if squared is not None:
        solved = np.linalg.solve(matrix, scaled.astype(np.complex128))
        trace: NDArray[np.complex128] = np.einsum("bij,bij->b", solved, batch.block(squared))
        return trace
    # Of all turns of the logarithm, the one whose imaginary part is near that of the trace.
    phase, size = np.linalg.slogdet(matrix)
    angle = np.angle(phase)
    return size + 1j * (angle + 2 * np.pi * np.round((expected - angle) / (2 * np.pi)))


# What measuring one subject's hubs costs, so that a page can say so before it begins.
#
# Node entanglement perturbs every region. Its time grows with the third power of the number of regions and with that
# of their neighbours, or with the fourth of the number of regions where every perturbed graph's eigenvalues are taken.


# Seconds of one core for the first figures of the Hubs page (NE at one γ, NEff, FC strength), by the number of regions,
# with 14 % of all pairs connected, as a threshold of 0.3 leaves them: `python -m benchmarks hubs_page`.
MEASURED_SECONDS: Mapping[int, float] = {400: 0.53, 600: 2.0, 800: 4.3, 1000: 9.5}
ASK_ABOVE = 1000  # regions: ten seconds, the longest that anybody waits without a word
# Regions beyond which one γ is measured first, and the others step by step, so that they can be stopped.
STEPS_ABOVE = 300

# Seconds of one core, fitted to the ways of `python -m benchmarks hubs`; only their ratios matter.
_EIGENVALUES_PER_SQUARE, _EIGENVALUES_PER_CUBE = 3e-8, 9e-11
_PER_POINT, _PER_CUBE, _PER_PAIR, _PER_TRIPLE = 1e-3, 1.1e-10, 3e-8, 2.5e-10
_LONGEST_TIME = 1e100  # beyond it the squares that resolvents need are no numbers
_LONG_TIME = 3.0  # in units of 1/mean(λ): beyond it poles take the place of logarithms


def _expected_seconds(n_regions: int) -> float:
    """Seconds of one core that one subject's first figures take: a power law between and beyond the measured sizes."""
    sizes, seconds = np.log(list(MEASURED_SECONDS)), np.log(list(MEASURED_SECONDS.values()))
    exponent, scale = np.polyfit(sizes, seconds, 1)
    return float(math.exp(scale) * n_regions**exponent)


def cost_sentence(n_regions: int) -> str:
    """Say what the first figures of one subject cost.

    >>> cost_sentence(1000)
    'Node entanglement perturbs each of the 1,000 regions: the first figures of one subject take about 10 seconds.'
    """
    seconds = _expected_seconds(n_regions)
    minutes = max(1, round(seconds / 60))
    in_minutes = "1 minute" if minutes == 1 else f"{minutes} minutes"
    said = in_minutes if seconds >= 55 else f"{max(5, 5 * round(seconds / 5))} seconds"
    return (
        f"Node entanglement perturbs each of the {n_regions:,} regions: the first figures of one subject take about "
        f"{said}."
    )


def resolvents_are_cheaper(weights: FloatArray, times: FloatArray) -> bool:
    """Whether resolvents give the entropies of all perturbed graphs sooner than eigenvalues do.

    Eigenvalues cost n eigenvalue problems of n regions, whatever the number of diffusion times. Resolvents cost, at
    every point of a contour, a product of n × n matrices and a determinant the size of each neighbourhood, twice as
    much at long times. So eigenvalues win where neighbourhoods are most of the graph, and where many times are asked
    for of a small graph.

    Parameters
    ----------
    weights : ndarray, shape (n, n)
    times : ndarray, shape (n_times,)
        Absolute γ that will be asked for.
    """
    if times.max(initial=0) > _LONGEST_TIME:
        return False
    n, sizes = len(weights), np.count_nonzero(weights, axis=1) + 1.0
    point = _PER_POINT + _PER_CUBE * n**3 + _PER_PAIR * (sizes**2).sum() + _PER_TRIPLE * (sizes**3).sum()
    strengths = weights.sum(axis=0)
    long = _LONG_TIME / max(float(strengths.mean()), np.finfo(float).tiny)
    points = sum(
        _shortest_contour(2 * float(middle) * float(strengths.max()), alone=len(chosen) == 1).n_points
        * (1 + (middle > long))
        for chosen, middle in time_windows(times[times > 0])
    )
    return bool(points * point < n * (_EIGENVALUES_PER_SQUARE * n**2 + _EIGENVALUES_PER_CUBE * n**3))
