"""Exponentials on (−∞, 0] as sums of logarithms or of poles, for entropies without eigenvalues.

With z_k on a curve around the negative axis, exp(ty) and ty·exp(ty) are, up to a constant, near
Σ Re(a_k log(y − z_k)) and near Σ Re(b_k / (y − z_k)), uniformly for y ≤ 0, or with fewer points for −b ≤ y ≤ 0: a pole
is what remains of Cauchy's integral, and a logarithm is its antiderivative. The curve is Talbot's with the parameters
fitted, as Weideman and Trefethen (2007) fit theirs, and the weights are fitted by least squares, both functions at the
same z_k. Best poles (Cody, Meinardus and Varga 1969; Carathéodory-Fejér) are two fewer for exp alone; these serve both
functions and logarithms, with weights that stay small, so that rounding does too.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["logarithms", "poles"]


@dataclass(frozen=True)
class Contour:
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
    def distances(self) -> NDArray[np.float64]:
        """The distance of each point from the negative axis, shape (n_points,)."""
        return np.where(self.points.real > 0, np.abs(self.points), self.points.imag)


# For one diffusion time and for all within half a decade, each for graphs whose largest γλ is 2, 6, 20 or any.
ONE_TIME = (
    Contour(5, -0.6513, 0.4824, 0.4685, 0.3095, 1.0, 2.0),
    Contour(6, -0.6271, 0.4748, 0.4855, 0.3178, 1.0, 6.0),
    Contour(8, -0.6447, 0.505, 0.5551, 0.3078, 1.0, 20.0),
    Contour(9, -0.6221, 0.5047, 0.5942, 0.2948, 1.0),
)
HALF_DECADE = (
    Contour(6, -0.8641, 0.3931, 0.3704, 0.171, 10**0.5, 2.0),
    Contour(8, -0.5771, 0.3073, 0.4166, 0.1815, 10**0.5, 6.0),
    Contour(16, -0.8286, 0.5033, 0.5589, 0.1631, 10**0.5),
)


def shortest_contour(largest_decay: float, *, alone: bool) -> Contour:
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
def contour_weights(contour: Contour, kind: Kind, time: float) -> NDArray[np.complex128]:
    """Fit the weights of exp(ty) and of ty·exp(ty).

    Parameters
    ----------
    contour : Contour
    kind : {"logarithms", "poles"}
    time : float
        t, within the contour's range.

    Returns
    -------
    ndarray, shape (2, n_points)
        Those of exp(ty), then of ty·exp(ty); the real part of weight times logarithm (or pole) is summed.
    """
    y = _fitted_at(contour.longest)
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


def _fitted_at(longest: float) -> NDArray[np.float64]:
    """Points of [−longest, 0]: close where exponentials bend, and out to where nothing changes any more."""
    if math.isfinite(longest):
        return -longest * (1 - np.cos(np.linspace(0, np.pi, 300))) / 2
    bending = [np.geomspace(1e-6, 1e-3, 15), np.geomspace(1.1e-3, 200, 900)]
    return -np.concatenate([[0.0], *bending, np.geomspace(210, 1e8, 200)])
