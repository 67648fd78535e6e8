"""Known lesions, planted in people who have none: a network loses connections, a hub is cut off, segregation falls.

Series are lesioned where there are any: a part of a region's variance becomes noise of its own spectrum, so that its
correlations fall by a known share in expectation. A matrix of correlations R becomes a mixture of correlation
matrices, which is one again: D R D plus a diagonal where connections are lost, (1 − s) R + s J where segregation
falls, J being equal correlations of the same mean. Structural weights are multiplied. Nothing is projected.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args
from zlib import crc32

import numpy as np

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.data.atlas import Atlas
from biobgt.data.cohort import Subject
from biobgt.data.simulate import fade_connectivity, fade_series, phase_randomised

LesionKind = Literal["network", "hub", "segregation"]
NETWORK, HUB, SEGREGATION = get_args(LesionKind)
PLANTED = "planted lesion"  # the phenotype that holds its size
LESIONS: dict[str, str] = {
    NETWORK: "A network loses connections",
    HUB: "A hub is cut off",
    SEGREGATION: "Segregation falls",
}


@dataclass(frozen=True)
class Lesion:
    """What is planted, and where.

    Attributes
    ----------
    kind : {"network", "hub", "segregation"}
    place : str
        Name of the network or region; empty where the whole brain is lesioned.
    regions : tuple of int
        Those that lose connections, counted from 0; none where segregation falls.
    """

    kind: LesionKind
    place: str
    regions: tuple[int, ...]

    def words(self, size: float) -> str:
        """What a lesion of a size does, within a sentence.

        >>> Lesion("hub", "Precuneus_L", (66,)).words(0.5)
        'Precuneus_L loses 50 % of its connections'
        """
        share = f"{100 * size:g} %"
        if self.kind == NETWORK:
            return f"{self.place} loses {share} of the connections within it"
        if self.kind == HUB:
            return f"{self.place} loses {share} of its connections"
        return f"what connections differ from their mean by falls by {share}"


def network_lesion(atlas: Atlas, labelling: str, network: str = "") -> Lesion:
    """A lesion of a functional network.

    Parameters
    ----------
    atlas : Atlas
    labelling : str
        Labels of the atlas that name networks.
    network : str
        Default: the one of most regions.
    """
    labels = atlas.labelling(labelling)
    sizes = {name: labels.count(name) for name in sorted({label for label in labels if label})}
    if not sizes or (network and network not in sizes):
        raise InputError(f"There is no network '{network}'. The networks: {', '.join(sizes) or 'none'}.")
    chosen = network or max(sizes, key=lambda name: sizes[name])
    return Lesion(NETWORK, chosen, tuple(i for i, label in enumerate(labels) if label == chosen))


def hub_lesion(atlas: Atlas, region: int) -> Lesion:
    """A lesion of one region, counted from 0."""
    return Lesion(HUB, str(atlas.regions[region]), (region,))


def lesioned(
    subject: Subject, lesion: Lesion, size: float, *, noise: float = 0.0, seed: int = 0, functional: bool = True
) -> Subject:
    """Plant a lesion in a subject.

    Parameters
    ----------
    subject : Subject
    lesion : Lesion
    size : float
        From 0 (nothing changes) to 1. Of a network: the share by which connections within it fall; those to others fall
        by less, 1 − √(1 − size). Of a hub: the share by which its connections fall. Of segregation: the share by which
        every connection is drawn to the mean of all.
    noise : float
        Standard deviation of the size over people; sizes stay within 0 and 1.
    seed : int
        The same seed plants the same in the same person.
    functional : bool
        Whether a matrix is one of correlations, of which all pairs are known, and no weights of connections.

    Returns
    -------
    Subject
        Marked simulated, with the ``planted lesion`` among its phenotypes.
    """
    if not 0 <= size <= 1:
        raise InputError(f"The size of a lesion is {size:g}; it must lie between 0 and 1.")
    rng = np.random.default_rng([seed, crc32(subject.id.encode()), crc32(lesion.kind.encode())])
    own = float(np.clip(size + noise * rng.standard_normal(), 0, 1)) if noise else size
    series, connectivity = subject.series, subject.connectivity
    if own > 0 and lesion.kind == SEGREGATION:
        series = None if series is None else _levelled_series(series, own, rng)
        connectivity = None if connectivity is None else levelled(connectivity, own, functional=functional)
    elif own > 0:
        # Both ends of a connection within a network fade, of a hub's connections one: its square is what is left.
        lost = own if lesion.kind == NETWORK else 1 - (1 - own) ** 2
        of_regions = np.zeros(subject.n_regions)
        of_regions[list(lesion.regions)] = 1
        series = None if series is None else fade_series(series, of_regions, lost, seed=rng)
        connectivity = None if connectivity is None else fade_connectivity(connectivity, of_regions, lost)
    return replace(
        subject,
        series=series,
        connectivity=connectivity,
        phenotypes={**subject.phenotypes, PLANTED: round(own, 3)},
        simulated=True,
    )


def levelled(connectivity: FloatArray, size: float, *, functional: bool = True) -> FloatArray:
    """Draw connections to their mean, so that what parts networks falls by a share and the mean stays.

    Parameters
    ----------
    connectivity : ndarray, shape (n_regions, n_regions)
    size : float
        From 0 to 1.
    functional : bool
        Correlations stay correlations. Of other weights only the connections that there are have a mean and change.
    """
    off = ~np.eye(len(connectivity), dtype=bool)
    if not functional:
        off &= connectivity != 0
    found = np.array(connectivity, dtype=np.float64)
    known = off & np.isfinite(found)
    if known.any():
        found[known] += size * (found[known].mean() - found[known])
    return found


def _levelled_series(series: FloatArray, size: float, rng: np.random.Generator) -> FloatArray:
    """Series whose correlations are drawn to their mean: mixed with noise of which all regions share a part.

    Parameters
    ----------
    series : ndarray, shape (n_timepoints, n_regions)
    size : float
    rng : numpy.random.Generator
    """
    spread = series.std(axis=0)
    known = spread > 0
    if known.sum() < 2:
        return series
    centred = (series[:, known] - series[:, known].mean(axis=0)) / spread[known]
    correlations = centred.T @ centred / len(series)
    n = len(correlations)
    shared = max(0.0, float((correlations.sum() - n) / (n * (n - 1))))  # series cannot share less than nothing
    common = phase_randomised(centred[:, [int(rng.integers(n))]], seed=rng)
    noise = np.sqrt(shared) * common + np.sqrt(1 - shared) * phase_randomised(centred, seed=rng)
    found = np.array(series, dtype=np.float64)
    mixed = np.sqrt(1 - size) * centred + np.sqrt(size) * noise
    found[:, known] = series[:, known].mean(axis=0) + spread[known] * mixed
    return found


def strongest_region(connectivity: Sequence[FloatArray]) -> int:
    """The region of the highest mean connectivity with all others, over people, counted from 0.

    Parameters
    ----------
    connectivity : sequence of ndarray, shape (n_regions, n_regions)
        One of each person.
    """
    total = np.sum([np.nan_to_num(one).sum(axis=1) - np.nan_to_num(np.diag(one)) for one in connectivity], axis=0)
    return int(np.argmax(total))
