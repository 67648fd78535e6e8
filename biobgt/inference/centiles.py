"""Centile curves over age and sex: where a person stands among others of the same age and sex.

A value y has the sinh-arcsinh distribution of Jones and Pewsey (2009): z = sinh(δ asinh((y − μ)/σ) − ε) is standard
normal. μ is a line or a natural cubic spline of log age with a shift for sex, log σ a constant or such a line, and the
shape (ε, δ) is that of a normal distribution or one for all ages. Of these eight forms the one with the lowest AIC,
corrected for few people, is kept. z rises with y, so centiles never cross. People of all sites are one distribution;
how far the means of sites lie apart in z, beyond chance, widens the intervals, since a further person comes from a
further site.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError

FEWEST_PEOPLE = 50  # with fewer, the 5th and the 95th centile rest on two people each
_KNOTS = (0.05, 0.35, 0.65, 0.95)  # quantiles of age
_Z_95 = 1.959963984540054
_BOUNDS = {"location": (None, None), "spread": (-6.0, 6.0), "shape": (-2.0, 2.0)}
_SHAPE_SD = 1.0  # of the weak prior on ε and log δ, which keeps few people from extreme shapes
_STEP = 1e-5  # of the numeric derivative of the gradient


class Form(NamedTuple):
    """Whether μ is a spline, σ changes with age and sex, and the shape is other than normal."""

    curved: bool
    varying: bool
    shaped: bool


FORMS = tuple(Form(*one) for one in product((False, True), repeat=3))


@dataclass(frozen=True)
class AgeAndSex:
    """The columns that curves are made of: 1, log age and sex, then the bends of the spline.

    Attributes
    ----------
    knots : tuple of float
        Of log age; two make a line.
    sexes : tuple of str
        One, or two.
    """

    knots: tuple[float, ...]
    sexes: tuple[str, ...]

    @classmethod
    def of(cls, ages: FloatArray, sexes: Sequence[str]) -> Self:
        """Put knots where the people are; few different ages have a line only."""
        logs = np.log(ages)
        knots = np.quantile(logs, _KNOTS)
        if np.diff(knots).min() < 0.01:
            knots = np.array([logs.min(), logs.max()])
        return cls(tuple(np.round(knots, 4).tolist()), tuple(sorted(set(sexes))))

    @property
    def n_line(self) -> int:
        """How many of the columns make a line with a shift for sex."""
        return 1 + len(self.sexes)

    def columns(self, ages: ArrayLike, sexes: Sequence[str]) -> FloatArray:
        """The columns of some people, shape (n_people, n_columns)."""
        t = np.array(self.knots)
        width = t[-1] - t[0]
        x = (np.log(np.asarray(ages, dtype=np.float64)) - t.mean()) / width
        t = (t - t.mean()) / width
        tails = [np.clip(x - knot, 0, None) ** 3 for knot in t]
        bends = [(tails[j] - tails[-1]) / (t[-1] - t[j]) for j in range(len(t) - 1)]
        shift = [np.where(np.asarray(sexes) == self.sexes[1], 0.5, -0.5)] if len(self.sexes) > 1 else []
        return np.column_stack([np.ones_like(x), x, *shift, *(bend - bends[-1] for bend in bends[:-1])])


@dataclass(frozen=True, eq=False)
class CentileCurve:
    """The distribution of one measure over age and sex.

    Attributes
    ----------
    terms : AgeAndSex
    location, spread : ndarray, shape (n_columns,)
        Coefficients of μ and of log σ, of the first columns of the terms.
    shape : ndarray, shape (0,) or (2,)
        ε and log δ; none for a normal distribution.
    error : ndarray, shape (n_parameters, n_parameters)
        A lower triangle whose product with its transpose is the covariance of all parameters, in this order.
    site_sd : float
        Between sites, in z.
    n_sites, n_people : int
        Few sites tell little of how far sites are apart: intervals have the quantile of t with one degree less.
    """

    terms: AgeAndSex
    location: FloatArray
    spread: FloatArray
    shape: FloatArray
    error: FloatArray
    site_sd: float
    n_sites: int
    n_people: int

    @property
    def form(self) -> str:
        """How it is made, in words."""
        curved = "a spline" if len(self.location) > self.terms.n_line else "a line"
        spread = "a spread that changes with age and sex" if len(self.spread) > 1 else "one spread"
        return f"{curved} over log age, {spread}, {'sinh-arcsinh' if len(self.shape) else 'normal'}"

    def scores(self, values: ArrayLike, ages: ArrayLike, sexes: Sequence[str]) -> tuple[FloatArray, FloatArray]:
        """Z of some people, and its standard error: of the parameters, and of the site they come from.

        Parameters
        ----------
        values, ages : array-like, shape (n_people,)
        sexes : sequence of str, length n_people

        Returns
        -------
        (ndarray, ndarray), shape (n_people,) each
        """
        parts = _Parts(self._parameters, self._sizes, np.asarray(values, np.float64), self.terms.columns(ages, sexes))
        by_parameters = parts.of_score() @ self.error
        return parts.z, np.sqrt(np.square(by_parameters).sum(axis=1) + self._site_error**2)

    @property
    def _site_error(self) -> float:
        from scipy.special import stdtrit

        return self.site_sd * float(stdtrit(self.n_sites - 1, 0.975)) / _Z_95 if self.n_sites > 1 else 0.0

    def centiles(self, values: ArrayLike, ages: ArrayLike, sexes: Sequence[str]) -> FloatArray:
        """Centile of some people, and the ends of its 95 % interval.

        Parameters
        ----------
        values, ages : array-like, shape (n_people,)
        sexes : sequence of str, length n_people

        Returns
        -------
        ndarray, shape (n_people, 3)
        """
        from scipy.special import ndtr

        z, error = self.scores(values, ages, sexes)
        return np.asarray(100 * ndtr(np.column_stack([z, z - _Z_95 * error, z + _Z_95 * error])))

    def values(self, z: ArrayLike, ages: ArrayLike, sexes: Sequence[str]) -> FloatArray:
        """The values that have a z at some ages, shape (n_people,).

        Parameters
        ----------
        z, ages : array-like, shape (n_people,)
        sexes : sequence of str, length n_people
        """
        parts = _Parts(self._parameters, self._sizes, 0.0, self.terms.columns(ages, sexes))
        return np.asarray(parts.mu + parts.sigma * np.sinh((np.arcsinh(z) + parts.skew) / parts.tail))

    def curve(self, centile: float, ages: ArrayLike, sex: str) -> FloatArray:
        """The values at a centile over age, and the ends of their 95 % interval.

        Parameters
        ----------
        centile : float
        ages : array-like, shape (n_ages,)
        sex : str

        Returns
        -------
        ndarray, shape (n_ages, 3)
        """
        from scipy.special import ndtri

        ages = np.asarray(ages, dtype=np.float64)
        sexes, z = [sex] * len(ages), ndtri(centile / 100)
        middle = self.values(z, ages, sexes)
        _, error = self.scores(middle, ages, sexes)
        return np.column_stack([middle, *(self.values(z + side * _Z_95 * error, ages, sexes) for side in (-1, 1))])

    @property
    def _parameters(self) -> FloatArray:
        return np.concatenate([self.location, self.spread, self.shape])

    @property
    def _sizes(self) -> tuple[int, int, int]:
        return len(self.location), len(self.spread), len(self.shape)

    def as_plain(self) -> dict[str, Any]:
        """As a file keeps it, without the terms, which all curves of a reference share."""
        lower = self.error[np.tril_indices(len(self.error))]
        rounded = {name: _digits(getattr(self, name), 7) for name in ("location", "spread", "shape")}
        about = {"site_sd": float(f"{self.site_sd:.4g}"), "n_sites": self.n_sites, "n_people": self.n_people}
        return {**rounded, "error": _digits(lower, 4), **about}

    @classmethod
    def from_plain(cls, terms: AgeAndSex, given: Mapping[str, Any]) -> Self:
        """What :meth:`as_plain` wrote."""
        location, spread, shape = (np.array(given[name], np.float64) for name in ("location", "spread", "shape"))
        error = np.zeros((len(location) + len(spread) + len(shape),) * 2)
        error[np.tril_indices(len(error))] = given["error"]
        about = {name: given[name] for name in ("site_sd", "n_sites", "n_people")}
        return cls(terms, location, spread, shape, error, **about)


def _digits(values: FloatArray, digits: int) -> list[float]:
    return [float(f"{value:.{digits}g}") for value in values]


def fit_centiles(
    values: ArrayLike,
    ages: ArrayLike,
    sexes: Sequence[str],
    sites: Sequence[str],
    terms: AgeAndSex,
    *,
    forms: Sequence[Form] = FORMS,
) -> CentileCurve:
    """Fit the curves of one measure.

    Parameters
    ----------
    values, ages : array-like, shape (n_people,)
        A value that is not finite leaves the person out.
    sexes, sites : sequence of str, length n_people
        Where sites are not known, all the same.
    terms : AgeAndSex
    forms : sequence of Form
        Those that are tried.
    """
    y = np.asarray(values, dtype=np.float64)
    known = np.isfinite(y)
    y, columns = y[known], terms.columns(ages, sexes)[known]
    if len(y) < FEWEST_PEOPLE:
        raise InputError(
            f"Centiles need at least {FEWEST_PEOPLE} people with a value, age and sex; there are {len(y)}."
        )
    middle, scale = float(np.median(y)), float(y.std())
    if not scale > 1e-12 * max(abs(middle), 1e-300):
        raise InputError("The measure is the same in everybody, so it has no centiles.")
    line, most = terms.n_line, columns.shape[1]
    tried = {(most if one.curved else line, line if one.varying else 1, 2 if one.shaped else 0) for one in forms}
    fits = [_fit((y - middle) / scale, columns, sizes) for sizes in sorted(tried)]
    _, sizes, parameters = min(fits, key=lambda fit: (fit[0], sum(fit[1])))
    parts = _Parts(parameters, sizes, (y - middle) / scale, columns)
    error = _error(parts)
    location, spread, shape = np.split(parameters, np.cumsum(sizes[:-1]))
    location, spread = location * scale, spread.copy()
    location[0] += middle
    spread[0] += np.log(scale)
    error[: len(location)] *= scale
    own_sites = np.asarray(sites)[known]
    between, n_sites = _between_sites(parts.z, own_sites), len(np.unique(own_sites))
    return CentileCurve(terms, location, spread, shape, error, between, n_sites, len(y))


class _Parts:
    """What likelihood, gradient and scores of some people are made of, at one set of parameters."""

    def __init__(self, parameters: FloatArray, sizes: tuple[int, int, int], y: ArrayLike, columns: FloatArray) -> None:
        self.parameters, self.sizes, self.y, self.columns = parameters, sizes, np.asarray(y), columns
        location, spread, shape = np.split(parameters, np.cumsum(sizes[:-1]))
        self.skew, self.tail = (float(shape[0]), float(np.exp(shape[1]))) if len(shape) else (0.0, 1.0)
        self.mu, self.log_sigma = columns[:, : sizes[0]] @ location, columns[:, : sizes[1]] @ spread
        self.sigma = np.exp(self.log_sigma)
        self.r = (self.y - self.mu) / self.sigma
        self.root = np.sqrt(1 + self.r**2)
        self.bent = self.tail * np.arcsinh(self.r)
        self.z, self.cosh = np.sinh(self.bent - self.skew), np.cosh(self.bent - self.skew)

    def at(self, parameters: FloatArray) -> "_Parts":
        """The same people at other parameters."""
        return _Parts(parameters, self.sizes, self.y, self.columns)

    @property
    def loss(self) -> float:
        """Minus the log likelihood, without its constant, and the prior of the shape."""
        shaped = -np.log(self.cosh) - np.log(self.tail) + np.log(self.root)
        prior = np.square(self._shape).sum() / (2 * _SHAPE_SD**2)
        return float((self.z**2 / 2 + self.log_sigma + shaped).sum() + prior)

    @property
    def gradients(self) -> FloatArray:
        """Of every person's loss, shape (n_people, n_parameters)."""
        by_bend = self.z * self.cosh - self.z / self.cosh
        by_r = by_bend * self.tail / self.root + self.r / self.root**2
        return self._by_parameter(by_r, -by_bend, by_bend * self.bent - 1) + self._of_log_sigma

    @property
    def gradient(self) -> FloatArray:
        """Of the loss, shape (n_parameters,)."""
        whole = self.gradients.sum(axis=0)
        whole[len(whole) - self.sizes[2] :] += self._shape / _SHAPE_SD**2
        return np.asarray(whole)

    def of_score(self) -> FloatArray:
        """How z changes with the parameters, shape (n_people, n_parameters)."""
        return self._by_parameter(self.cosh * self.tail / self.root, -self.cosh, self.cosh * self.bent)

    def _by_parameter(self, by_r: FloatArray, by_skew: FloatArray, by_log_tail: FloatArray) -> FloatArray:
        """Chain what depends on r, ε and log δ to all parameters."""
        location = -(by_r / self.sigma)[:, None] * self.columns[:, : self.sizes[0]]
        spread = -(by_r * self.r)[:, None] * self.columns[:, : self.sizes[1]]
        return np.column_stack([location, spread, by_skew, by_log_tail])[:, : sum(self.sizes)]

    @property
    def _of_log_sigma(self) -> FloatArray:
        found = np.zeros((len(self.columns), sum(self.sizes)))
        found[:, self.sizes[0] : sum(self.sizes[:2])] = self.columns[:, : self.sizes[1]]
        return found

    @property
    def _shape(self) -> FloatArray:
        return self.parameters[sum(self.sizes[:2]) :]


def _fit(
    y: FloatArray, columns: FloatArray, sizes: tuple[int, int, int]
) -> tuple[float, tuple[int, int, int], FloatArray]:
    """The AICc of one form, how many parameters it has of each part, and the parameters."""
    from scipy.optimize import minimize

    start = np.zeros(sum(sizes))
    start[: sizes[0]] = np.linalg.lstsq(columns[:, : sizes[0]], y, rcond=None)[0]
    start[sizes[0]] = np.log((y - columns[:, : sizes[0]] @ start[: sizes[0]]).std())
    bounds = [bound for part, size in zip(_BOUNDS.values(), sizes, strict=True) for bound in [part] * size]

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        parts = _Parts(parameters, sizes, y, columns)
        return parts.loss, parts.gradient

    found = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": 500, "ftol": 1e-11})
    n, k = len(y), sum(sizes)
    return 2 * float(found.fun) + 2 * k * n / (n - k - 1), sizes, np.asarray(found.x)


def _error(parts: _Parts) -> FloatArray:
    """A lower triangle of the covariance of the parameters, right where the form is not: the sandwich of White."""
    steps = _STEP * np.eye(len(parts.parameters))
    columns = [
        parts.at(parts.parameters + step).gradient - parts.at(parts.parameters - step).gradient for step in steps
    ]
    hessian = np.array(columns) / (2 * _STEP)
    gradients = parts.gradients
    inverse = np.linalg.pinv((hessian + hessian.T) / 2, hermitian=True)
    covariance = inverse @ (gradients.T @ gradients) @ inverse
    return np.linalg.cholesky(covariance + 1e-12 * np.trace(covariance) * np.eye(len(covariance)))


def _between_sites(z: FloatArray, sites: NDArray[Any]) -> float:
    """SD of the means of sites in z beyond chance, by the moments of DerSimonian and Laird (1986)."""
    names, places = np.unique(sites, return_inverse=True)
    sizes = np.bincount(places).astype(float)
    if len(names) < 2:
        return 0.0
    means = np.bincount(places, z) / sizes
    spread = float(sizes @ (means - sizes @ means / sizes.sum()) ** 2)  # the variance of z within a site is about 1
    beyond = (spread - (len(names) - 1)) / (sizes.sum() - np.square(sizes).sum() / sizes.sum())
    return float(np.sqrt(max(beyond, 0.0)))
