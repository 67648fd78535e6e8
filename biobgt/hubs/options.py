"""How a region is perturbed, how hubs are measured and marked: the options of everything about hubs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.options import Options, option
from biobgt.base.wording import percent

# Perturbing one region of a graph: what changes in the Laplacian.
#
# ``control`` is the i-control graph of Huang et al. (2024), the paper's source: the closed neighbourhood of i becomes
# a clique of the same total weight. ``remove`` takes i's edges away and leaves it as an isolated node, so that the
# graph keeps its n nodes and gains a zero eigenvalue.


Number = TypeVar("Number", np.float64, np.complex128)

Perturbation = Literal["control", "remove"]
DEFAULT_PERTURBATION: Perturbation = "control"

# What happens to a perturbed region.
PERTURBATIONS: Mapping[Perturbation, str] = {
    "control": "a region and its neighbours become a clique of the same total weight",
    "remove": "a region loses its connections",
}

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


def laplacian_changes(
    weights: FloatArray, perturbation: Perturbation
) -> Iterator[tuple[int, NDArray[np.intp], FloatArray]]:
    """Yield region, closed neighbourhood and what the perturbation adds to the Laplacian there.

    Only for :func:`changed_regions`.

    Parameters
    ----------
    weights : ndarray, shape (n, n)
    perturbation : {"control", "remove"}

    Yields
    ------
    region : int
    members : ndarray, shape (k + 1,)
    change : ndarray, shape (k + 1, k + 1)
    """
    connected = weights > 0
    np.fill_diagonal(connected, True)
    for i in changed_regions(weights, perturbation).tolist():
        members = np.flatnonzero(connected[i])
        if perturbation == "control":
            inside = weights[np.ix_(members, members)]
            yield i, members, _to_cliques(inside[None], np.ones((1, len(members)), dtype=bool))[0]
        else:
            yield i, members, _without_stars(weights[i, members][None], np.searchsorted(members, [i]))[0]


@dataclass(frozen=True, eq=False)
class Neighbourhoods:
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

    def block(self, matrix: NDArray[Number]) -> NDArray[Number]:
        """Rows and columns of a matrix (n, n) at each neighbourhood's members, shape (n_batch, size, size)."""
        return np.take(matrix, self.places, mode="clip")  # without a check of every place, which is right

    def changes(self, weights: FloatArray, perturbation: Perturbation) -> FloatArray:
        """What the perturbation of each region adds to the Laplacian, shape (n_batch, size, size); 0 where filled up.

        Parameters
        ----------
        weights : ndarray, shape (n, n)
        perturbation : {"control", "remove"}
        """
        if perturbation == "control":
            both = self.filled[:, :, None] & self.filled[:, None, :]
            return _to_cliques(np.where(both, self.block(weights), 0.0), self.filled)
        spokes = np.where(self.filled, weights[self.regions[:, None], self.members], 0.0)
        return _without_stars(spokes, np.argmax(self.members == self.regions[:, None], axis=1))


def neighbourhoods(weights: FloatArray, regions: NDArray[np.intp]) -> list[Neighbourhoods]:
    """Closed neighbourhoods of some regions, those of like size together.

    Parameters
    ----------
    weights : ndarray, shape (n, n)
    regions : ndarray of int, shape (n_some,)

    Returns
    -------
    list of Neighbourhoods
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
        found.append(_together(regions[batch], connected[batch]))
        order = order[len(batch) :]
    return found


def _together(regions: NDArray[np.intp], connected: NDArray[np.bool_]) -> Neighbourhoods:
    sizes = connected.sum(axis=1)
    filled = np.arange(sizes.max()) < sizes[:, None]
    members = np.repeat(regions[:, None], filled.shape[1], axis=1)
    members[filled] = np.nonzero(connected)[1]
    return Neighbourhoods(regions, members, filled, connected.shape[1])


def _to_cliques(inside: FloatArray, filled: NDArray[np.bool_]) -> FloatArray:
    """Laplacians of cliques of the same total weight, minus those of neighbourhoods, shape (n_batch, size, size)."""
    size = filled.sum(axis=1)
    strengths = inside.sum(axis=2)
    # With k neighbours and total weight W every pair gets 2W / (k(k+1)); the strengths count W twice.
    pair = strengths.sum(axis=1) / (size * (size - 1))
    changes = inside - np.where(filled[:, :, None] & filled[:, None, :], pair[:, None, None], 0.0)
    diagonal = np.where(filled, ((size - 1) * pair)[:, None] - strengths, 0.0)
    changes[:, np.arange(filled.shape[1]), np.arange(filled.shape[1])] = diagonal
    return changes


def _without_stars(spokes: FloatArray, centres: NDArray[np.intp]) -> FloatArray:
    """Minus the Laplacians of stars, shape (n_batch, size, size); ``spokes`` are their edges, (n_batch, size)."""
    batch, places = np.arange(len(spokes)), np.arange(spokes.shape[1])
    changes = np.zeros((*spokes.shape, spokes.shape[1]))
    changes[:, places, places] = -spokes
    changes[batch, centres] = changes[batch, :, centres] = spokes
    changes[batch, centres, centres] = -spokes.sum(axis=1)
    return changes


# How hubs are measured and marked: the options of every table, figure, page and command about hubs.


HubRule = Literal["top", "sd"]

# Below the scales at which NE and NEff part ways.
DEFAULT_GAMMA = 0.5
# Ten even steps per decade, rounded to readable numbers; in units of 1/mean(λ).
GAMMAS: tuple[float, ...] = (
    *(0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8),
    *(1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0),
    *(10.0, 12.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0, 80.0, 100.0),
)
DEFAULT_SHARE = 0.1
SHARES = (0.05, 0.1, 0.15, 0.2, 0.25)
NULL_GRAPHS = 39  # with fewer a two-sided p cannot reach 0.05
NULL_GRAPHS_KEEP = "keep every region's number of connections and, closely, its strength"
NULL_SEEDS = range(NULL_GRAPHS)  # of the null graphs of one subject


@dataclass(frozen=True)
class EntanglementOptions(Options):
    """How node entanglement is measured; γ is in units of 1/mean(λ) of each graph."""

    gamma: float = option(
        DEFAULT_GAMMA,
        title="Diffusion time γ, in units of 1/mean(λ)",
        help="Diffusion time of NE; λ are the eigenvalues of the graph's Laplacian. In units of 1/mean(λ). Small γ "
        "looks at a region's surroundings, large γ at the whole brain.",
        steps=GAMMAS,
        above=0.0,
        link="gamma",
    )
    perturbation: Perturbation = option(
        DEFAULT_PERTURBATION,
        title="Perturbation",
        help="How NE perturbs a region. "
        + " ".join(f"{name.capitalize()}: {what}." for name, what in PERTURBATIONS.items()),
        shown=str.capitalize,
        link="perturbation",
    )


@dataclass(frozen=True)
class HubOptions(EntanglementOptions):
    """How hubs are measured, and which regions are called hubs."""

    rule: HubRule = option(
        "top",
        title="Hub criterion",
        help="By each measure: the highest share of the regions, or those above the mean by more than one SD.",
        shown={"top": "Top share", "sd": "Mean + 1 SD"},
        link="hub_rule",
    )
    share: float = option(
        DEFAULT_SHARE,
        title="Share of regions",
        help="Share of the regions that are hubs, if hubs are the top share.",
        steps=SHARES,
        above=0.0,
        high=1.0,
        shown={share: percent(share) for share in SHARES},
        link="hub_share",
    )

    @property
    def hubs_are(self) -> str:
        """Which regions are hubs, in words."""
        top = f"the top {100 * self.share:g} % of regions"
        return top if self.rule == "top" else "regions above the mean + 1 SD"


@dataclass(frozen=True)
class HubAnalysisOptions(HubOptions):
    """How the hubs of a whole cohort are measured and tested.

    ``nulls`` null graphs test whether NE agrees with NEff beyond strength and degree, and ``halves`` measures both
    halves of each recording as well; either takes as long as the hubs themselves, for each null graph and each half.
    """

    seed: int = option(0, title="Seed", help="Seed of the bootstrap and of the null graphs.", low=0)
    nulls: int = option(
        0,
        title="Number of null graphs",
        help=f"Null graphs to test agreement against; {NULL_GRAPHS} for p down to 0.05. 0: none.",
        low=0,
    )
    halves: bool = option(
        False,
        title="Measure both halves",
        help="Measure both halves of each recording: are its hubs reliable?",
    )
