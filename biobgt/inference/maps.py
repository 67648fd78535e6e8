"""Whether two maps over regions agree more than maps that are as smooth: correlation with spatial null models.

Neighbours are alike in nearly every map of the brain, so two maps that have nothing to do with each other are often
correlated, and a p that takes regions as independent is far too small. Two null models keep how smooth a map is:

Spins turn the spheres of both hemispheres at random, the right one as the mirror image of the left (Alexander-Bloch et
al., NeuroImage 2018). A region takes the value of the region in which its centre comes to lie; centres on the medial
wall, or in a region without a value, are left out of that spin. No value is assigned by nearness, as other versions
do, among them that of Váša et al. (Cerebral Cortex 2018): these move values of the medial wall's neighbours into it.

Surrogates are made by Moran spectral randomisation (Wagner & Dray, Methods in Ecology and Evolution 2015): a map is
written as a sum of patterns from coarse to fine, and the sign of each is drawn anew, which keeps its power at every
scale. The patterns are eigenvectors of weights exp(-d / 20 mm), d the distance of two regions, plus half of the same
for the distance of one to the other's mirror image, since most maps are much alike in both hemispheres. They need the
places of regions alone, so that subcortex and cerebellum are included.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biobgt.base.arrays import FloatArray, ranks
from biobgt.base.errors import InputError
from biobgt.base.options import Options, option
from biobgt.base.wording import counted
from biobgt.data.atlas import Atlas
from biobgt.data.cortex import HEMISPHERES, has_surface, hemisphere_mesh, surface_labels
from biobgt.inference.permutation import TIE

Correlation = Literal["spearman", "pearson"]
SPEARMAN, PEARSON = get_args(Correlation)
Nulls = Literal["automatic", "spins", "surrogates"]
AUTOMATIC, SPINS, SURROGATES = get_args(Nulls)
FEWEST_REGIONS = 10
_SCALE_MM, _MIRRORED = 20.0, 0.5
_LEFT_OF_SPIN = 0.5  # of regions, at least, in most spins
_AT_ONCE = 500  # draws


@dataclass(frozen=True)
class MapOptions(Options):
    """How two maps over regions are compared."""

    correlation: Correlation = option(
        SPEARMAN,
        title="Correlation",
        help="Spearman's of ranks, or Pearson's of values.",
        shown={SPEARMAN: "Spearman", PEARSON: "Pearson"},
    )
    nulls: Nulls = option(
        AUTOMATIC,
        title="Null model",
        help="Spins of the sphere, for regions of atlases with surface labels; surrogates that are as smooth, for any "
        "regions with coordinates, subcortex included. Automatic: spins where all regions are on the surface and cover "
        "enough of it.",
        shown={AUTOMATIC: "Automatic", SPINS: "Spins of the sphere", SURROGATES: "Smooth surrogates (Moran)"},
    )
    draws: int = option(5000, title="Null maps", help="Number of null maps.", low=1, high=1_000_000)
    seed: int = option(0, title="Seed", help="Of the null maps.", low=0)


@dataclass(frozen=True, eq=False)
class MapAgreement:
    """The correlation of two maps over regions, and of null maps with the second.

    Attributes
    ----------
    r : float
    p : float
        Two-sided: (1 + null maps with a correlation at least as far from 0) / (1 + null maps).
    naive_p : float
        As if regions were independent, which they are not: to see the difference.
    null : ndarray, shape (n_draws,)
        Correlations of null maps of the first map with the second; NaN, counted as far from 0, where a spin left less
        than 3 regions.
    nulls : {"spins", "surrogates"}
    compared : ndarray of bool, shape (n_regions,)
    options : MapOptions
    notes : tuple of str
        Sentences on regions that were left out, and on the null model.
    """

    r: float
    p: float
    naive_p: float
    null: FloatArray
    nulls: Nulls
    compared: NDArray[np.bool_]
    options: MapOptions
    notes: tuple[str, ...]


def map_agreement(
    first: ArrayLike,
    second: ArrayLike,
    atlas: Atlas,
    options: MapOptions = MapOptions(),  # noqa: B008 — frozen
) -> MapAgreement:
    """Compare two maps over the regions of an atlas.

    Parameters
    ----------
    first : array-like, shape (n_regions,)
        The map of which null maps are made. NaN is a region without a value, left out with those of the second.
    second : array-like, shape (n_regions,)
    atlas : Atlas
    options : MapOptions
    """
    one, other = (_checked(values, atlas) for values in (first, second))
    both = np.isfinite(one) & np.isfinite(other)
    nulls = _nulls_for(both, atlas, options)
    if nulls == SURROGATES and atlas.coordinates is None:
        raise InputError(
            f"The places of the regions of atlas {atlas.name} are not known, so no null maps can be made that are as "
            "smooth. Choose an atlas with coordinates."
        )
    has_place = np.isin(np.arange(1, atlas.n_regions + 1), surface_labels(atlas)) if nulls == SPINS else atlas.placed
    compared = both & has_place
    _check_regions(one, other, compared)
    one, other = (np.where(compared, values, np.nan) for values in (one, other))
    ranked = options.correlation == SPEARMAN
    r, remarks = float(correlations(one, other, ranked=ranked)), []
    if nulls == SPINS:
        takes = _spins_of(atlas, options.draws, options.seed)
        remarks.append(_said_of_spins(_left_of_spins(takes, compared), int(compared.sum())))
        null = _correlations_of_spins(one, other, takes, ranked)
    else:
        assert atlas.coordinates is not None
        null = _correlations_of_surrogates(one[compared], other[compared], atlas.coordinates[compared], options, ranked)
    beyond = int((~(np.abs(null) < abs(r) * (1 - TIE))).sum())
    return MapAgreement(
        r=r,
        p=(1 + beyond) / (1 + len(null)),
        naive_p=_naive_p(one[compared], other[compared], ranked),
        null=null,
        nulls=nulls,
        compared=compared,
        options=options,
        notes=(*_notes_on_regions(both, compared, nulls), *remarks),
    )


# The correlation.


def correlations(first: FloatArray, second: FloatArray, *, ranked: bool) -> FloatArray:
    """Correlations of maps, each with its own regions where both have a value; NaN where these are fewer than 3.

    Parameters
    ----------
    first, second : ndarray, shape (..., n_regions)
        NaN where a region has no value.
    ranked : bool
        Spearman's, otherwise Pearson's.

    Returns
    -------
    ndarray, shape (...,)
    """
    first, second = np.broadcast_arrays(first, second)
    known = np.isfinite(first) & np.isfinite(second)
    n = known.sum(axis=-1, keepdims=True)
    parts = []
    for values in (first, second):
        own = np.where(known, values, np.nan)
        own = np.where(known, ranks(own) if ranked else own, 0.0)
        parts.append(np.where(known, own - own.sum(axis=-1, keepdims=True) / np.maximum(n, 1), 0.0))
    lengths = np.sqrt((parts[0] ** 2).sum(axis=-1) * (parts[1] ** 2).sum(axis=-1))
    products = (parts[0] * parts[1]).sum(axis=-1)
    told = (lengths > 0) & (n[..., 0] >= 3)
    return np.asarray(np.divide(products, lengths, out=np.full(lengths.shape, np.nan), where=told))


def _naive_p(first: FloatArray, second: FloatArray, ranked: bool) -> float:
    from scipy import stats

    return float((stats.spearmanr if ranked else stats.pearsonr)(first, second).pvalue)


# Spins.


@lru_cache(maxsize=2)
def _spins_of(atlas: Atlas, draws: int, seed: int) -> NDArray[np.int16]:
    spheres = [hemisphere_mesh("sphere", side)[0].astype(np.float64) for side in HEMISPHERES]
    return spins(surface_labels(atlas), spheres, atlas.n_regions, draws=draws, rng=np.random.default_rng(seed))


def spins(
    labels: NDArray[np.integer],
    spheres: list[FloatArray],
    n_regions: int,
    *,
    draws: int,
    rng: np.random.Generator,
) -> NDArray[np.int16]:
    """Turn both spheres at random, and say in which region the centre of each region comes to lie.

    Parameters
    ----------
    labels : ndarray of int, shape (n_vertices,)
        Region of each vertex, counted from 1; 0 is none. The left hemisphere's first.
    spheres : two ndarrays, shape (n_vertices / 2, 3)
        Vertices of the left and of the right sphere around the origin; x points to the right.
    n_regions, draws : int
    rng : Generator

    Returns
    -------
    ndarray of int, shape (draws, n_regions)
        Counted from 0; -1 where it is none, and for regions that are not on the surface.
    """
    from scipy.spatial import cKDTree
    from scipy.spatial.transform import Rotation

    turns = Rotation.from_quat(rng.standard_normal((draws, 4))).as_matrix()  # uniform over all directions
    found = np.full((draws, n_regions), -1, np.int16)
    mirror = np.diag([-1.0, 1.0, 1.0])
    for side, vertices in enumerate(spheres):
        own = labels[: len(vertices)] if side == 0 else labels[len(spheres[0]) :]
        regions, centres = _centres(own, vertices)
        tree = cKDTree(vertices)
        for start in range(0, draws, _AT_ONCE):
            some = turns[start : start + _AT_ONCE]
            turned = centres @ (some if side == 0 else mirror @ some @ mirror)
            found[start : start + _AT_ONCE, regions] = own[tree.query(turned)[1]].astype(np.int16) - 1
    return found


def _centres(labels: NDArray[np.integer], vertices: FloatArray) -> tuple[NDArray[np.int64], FloatArray]:
    """The regions of one hemisphere, counted from 0, and their centres on its sphere."""
    regions, owner = np.unique(labels[labels > 0], return_inverse=True)
    sums = np.stack([np.bincount(owner, axis) for axis in vertices[labels > 0].T], axis=1)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return regions.astype(np.int64) - 1, sums / lengths * np.linalg.norm(vertices, axis=1).mean()


def _left_of_spins(takes: NDArray[np.int16], compared: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many regions of each spin have a value in both maps."""
    return np.asarray((np.append(compared, False)[takes] & compared).sum(axis=1))  # -1 takes the last


def _correlations_of_spins(first: FloatArray, second: FloatArray, takes: NDArray[np.int16], ranked: bool) -> FloatArray:
    """Correlations of the turned first map with the second."""
    with_none = np.append(first, np.nan)
    some = (takes[start : start + _AT_ONCE] for start in range(0, len(takes), _AT_ONCE))
    return np.concatenate([correlations(with_none[own], second, ranked=ranked) for own in some])


def _said_of_spins(left: NDArray[np.int64], n_regions: int) -> str:
    if np.median(left) < _LEFT_OF_SPIN * n_regions:
        raise InputError(
            f"Most spins leave fewer than half of the {n_regions} regions that have a value in both maps: these cover "
            "too little of the cortex to be turned. Choose surrogates."
        )
    return (
        f"In a spin {np.mean(left):.0f} of {n_regions} regions have a value on average; the others lie on the medial "
        "wall, or in a region without one."
    )


# Surrogates.


def moran_patterns(coordinates: FloatArray) -> FloatArray:
    """Orthonormal patterns from coarse to fine, each with a mean of 0, shape (n_regions, n_patterns).

    Parameters
    ----------
    coordinates : ndarray, shape (n_regions, 3)
        In mm; x is 0 between the hemispheres.
    """
    mirrored = coordinates * [-1.0, 1.0, 1.0]
    distances = [np.linalg.norm(coordinates[:, None] - of[None], axis=2) for of in (coordinates, mirrored)]
    weights = np.exp(-distances[0] / _SCALE_MM) + _MIRRORED * np.exp(-distances[1] / _SCALE_MM)
    np.fill_diagonal(weights, 0)
    # In a basis of what has a mean of 0, so that the constant is not among the patterns.
    basis = np.linalg.qr(np.eye(len(weights)) - 1 / len(weights))[0][:, :-1]
    values, vectors = np.linalg.eigh(basis.T @ weights @ basis)
    return np.asarray((basis @ vectors)[:, np.argsort(-values)])


def _correlations_of_surrogates(
    first: FloatArray, second: FloatArray, coordinates: FloatArray, options: MapOptions, ranked: bool
) -> FloatArray:
    """Correlations of surrogates of the first map with the second; for Spearman's they are made of ranks."""
    patterns = moran_patterns(coordinates)
    parts = patterns.T @ (ranks(first) if ranked else first)
    null, rng = [], np.random.default_rng(options.seed)
    for start in range(0, options.draws, _AT_ONCE):
        signs = rng.choice([-1.0, 1.0], (min(_AT_ONCE, options.draws - start), len(parts)))
        null.append(correlations((signs * parts) @ patterns.T, second, ranked=ranked))
    return np.concatenate(null)


# What goes in, and what is said of it.


def _checked(values: ArrayLike, atlas: Atlas) -> FloatArray:
    array = np.asarray(values, np.float64)
    if array.shape != (atlas.n_regions,):
        raise InputError(
            f"A map has the shape {array.shape}, and atlas {atlas.name} has {counted(atlas.n_regions, 'region')}."
        )
    return np.where(np.isfinite(array), array, np.nan)


def _nulls_for(both: NDArray[np.bool_], atlas: Atlas, options: MapOptions) -> Nulls:
    """Spins where all regions with a value are on the surface and cover enough of it to be turned, unless chosen."""
    if options.nulls != AUTOMATIC:
        return options.nulls
    if not has_surface(atlas) or not np.isin(np.flatnonzero(both) + 1, surface_labels(atlas)).all():
        return SURROGATES
    left = _left_of_spins(_spins_of(atlas, options.draws, options.seed), both)
    return SPINS if np.median(left) >= _LEFT_OF_SPIN * both.sum() else SURROGATES


def _check_regions(first: FloatArray, second: FloatArray, compared: NDArray[np.bool_]) -> None:
    if compared.sum() < FEWEST_REGIONS:
        raise InputError(
            f"{counted(int(compared.sum()), 'region')} with a value in both maps and a known place; a comparison needs "
            f"{FEWEST_REGIONS}."
        )
    for name, values in (("first", first), ("second", second)):
        if np.ptp(values[compared]) <= 1e-12 * np.abs(values[compared]).max():
            raise InputError(f"The {name} map has the same value in all regions, so nothing can be compared.")


def _notes_on_regions(both: NDArray[np.bool_], compared: NDArray[np.bool_], nulls: Nulls) -> list[str]:
    notes = []
    if n := int((~both).sum()):
        notes.append(f"{counted(n, 'region')} without a value in both maps left out.")
    if n := int((both & ~compared).sum()):
        place = "that are not on the cortical surface" if nulls == SPINS else "whose place is not known"
        notes.append(f"{counted(n, 'region')} {place} left out.")
    return notes
