"""Hub measures: every measure of how much a region matters is one object here, and everything that lists them reads it.

To add a centrality, register a :class:`HubMeasure`. It is then a column of the hub table, a curve, a scatter, a choice
on the page of hubs and in its link, a measure of ``biobgt hubs`` and ``biobgt compare``, and cited where it is shown.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.colours import BLUE, BROWN, CHARCOAL, GREEN, MAGENTA, OLIVE, ORANGE, SKY, WINE
from biobgt.base.options import Registry, imported_later
from biobgt.base.references import Citation
from biobgt.base.wording import capitalised
from biobgt.hubs.options import PERTURBATIONS

if TYPE_CHECKING:
    from biobgt.data.graph import BrainGraph, ConnectivityKind

RegionValues = FloatArray | NDArray[np.int64]
Needs = Literal["graph", "connectivity", "entropy change"]

NE, NEFF, FC_STRENGTH = "node_entanglement", "node_efficiency", "fc_strength"
# What is shown until the user chooses others: the paper's comparison.
COMPARED = (NE, NEFF, FC_STRENGTH)


@dataclass(frozen=True)
class HubMeasure:
    """A measure of how much a region matters in a brain graph.

    Attributes
    ----------
    key : str
        Its column in the hub table.
    title : str
        In full, as it stands within a sentence: "node efficiency".
    short : str
        For legends and axes: "NEff".
    unit : str
        What its numbers are in.
    colour : str
        Of its curves, ``#RRGGBB``.
    needs : {"graph", "connectivity", "entropy change"}
        What it is computed on: the brain graph; the full matrix behind it, shape (n_regions, n_regions); or the change
        of spectral entropy when a region is perturbed, in bits, shape (n_gammas, n_regions), which depends on γ.
    compute : callable
        From that to one number per region.
    definition : str
        The sentence of the methods text.
    citations : tuple of Citation
    symbol : str
        Of its points, so that colour is never the only way to tell two measures apart.
    low_in_hubs : bool
        Whether hubs have the lowest values, instead of the highest.
    counts : bool
        Whether its numbers are whole.
    notes : tuple of str
        What else to know of its numbers, in sentences for tables and the methods text.
    """

    key: str
    title: str
    short: str
    unit: str
    colour: str
    needs: Needs
    compute: Callable[[Any], RegionValues]
    definition: str
    citations: tuple[Citation, ...] = ()
    symbol: str = "circle"
    low_in_hubs: bool = False
    counts: bool = False
    notes: tuple[str, ...] = ()

    def in_words_of(self, kind: "ConnectivityKind") -> "HubMeasure":
        """The measure as it is called in a kind of connectivity."""
        named = kind.named
        return replace(self, title=named(self.title), short=named(self.short), definition=named(self.definition))

    @property
    def heading(self) -> str:
        """The title as it opens a line."""
        return capitalised(self.title)

    @property
    def depends_on_gamma(self) -> bool:
        """Whether it is another at another diffusion time γ."""
        return self.needs == "entropy change"

    @property
    def axis(self) -> str:
        """What an axis of raw values is called."""
        return f"{self.short} (bits)" if self.unit == "bits" else self.short


_LENGTHS = "The length of a connection is 1/weight."

HUB_MEASURES: Registry[HubMeasure] = Registry(
    "hub measure",
    HubMeasure(
        NE,
        "node entanglement",
        "NE",
        "bits",
        BLUE,
        "entropy change",
        np.abs,
        "Node entanglement (NE) of a region is the absolute change, in bits, of the graph's spectral entropy when the "
        "region is perturbed (Peng et al. 2025; Huang et al. 2024).",
        ("peng2025", "huang2024"),
    ),
    HubMeasure(
        "vertex_entanglement",
        "vertex entanglement",
        "VE",
        "bits; lower is stronger",
        SKY,
        "graph",
        imported_later("biobgt.hubs.entanglement", "vertex_entanglement"),
        "Vertex entanglement (VE) is the lowest change of spectral entropy over all diffusion times, to first order, "
        f"when {PERTURBATIONS['control']} (Huang et al. 2024).",
        ("huang2024",),
        symbol="triangle-up",
        low_in_hubs=True,
    ),
    HubMeasure(
        NEFF,
        "node efficiency",
        "NEff",
        "mean of 1/distance",
        ORANGE,
        "graph",
        imported_later("biobgt.hubs.classical", "node_efficiency"),
        "Node efficiency (NEff) is the mean inverse weighted path length from a region to all others (Latora and "
        "Marchiori 2001; Rubinov and Sporns 2010).",
        ("latora2001", "rubinov2010"),
        notes=(_LENGTHS,),
    ),
    HubMeasure(
        "local_efficiency",
        "local efficiency",
        "local efficiency",
        "mean of 1/distance among neighbours",
        OLIVE,
        "graph",
        imported_later("biobgt.hubs.classical", "local_efficiency"),
        "Local efficiency is the mean inverse weighted path length among a region's neighbours (Latora and Marchiori "
        "2001), as bctpy defines it, with lengths of 1 / cube root of the weight (Rubinov and Sporns 2010).",
        ("latora2001", "rubinov2010"),
        symbol="triangle-down",
    ),
    HubMeasure(
        FC_STRENGTH,
        "FC strength",
        "FC strength",
        "mean connectivity",
        GREEN,
        "connectivity",
        imported_later("biobgt.hubs.classical", "fc_strength"),
        "FC strength is the mean connectivity of a region with all others (Rubinov and Sporns 2010).",
        ("rubinov2010",),
        symbol="square",
    ),
    HubMeasure(
        "degree",
        "degree",
        "degree",
        "connections",
        WINE,
        "graph",
        imported_later("biobgt.hubs.classical", "degree"),
        "Degree is the number of a region's connections (Rubinov and Sporns 2010).",
        ("rubinov2010",),
        symbol="cross",
        counts=True,
    ),
    HubMeasure(
        "betweenness",
        "betweenness",
        "betweenness",
        "paths; every pair counts twice",
        MAGENTA,
        "graph",
        imported_later("biobgt.hubs.classical", "betweenness"),
        "Betweenness is the number of shortest weighted paths between other regions that pass through a region "
        "(Rubinov and Sporns 2010).",
        ("rubinov2010",),
        symbol="x",
        notes=(
            _LENGTHS,
            "Betweenness is not normalised: it counts the shortest paths through the region, from every region to "
            "every other and back, as bctpy does.",
        ),
    ),
    HubMeasure(
        "closeness",
        "closeness",
        "closeness",
        "1/mean distance",
        BROWN,
        "graph",
        imported_later("biobgt.hubs.classical", "closeness"),
        "Closeness is the inverse of the mean weighted path length from a region to all others (Rubinov and Sporns "
        "2010).",
        ("rubinov2010",),
        symbol="star",
        notes=(_LENGTHS,),
    ),
    HubMeasure(
        "eigenvector",
        "eigenvector centrality",
        "eigenvector",
        "part of a vector of length 1",
        CHARCOAL,
        "graph",
        imported_later("biobgt.hubs.classical", "eigenvector"),
        "Eigenvector centrality is a region's part of the leading eigenvector of the weights (Rubinov and Sporns "
        "2010).",
        ("rubinov2010",),
        symbol="pentagon",
    ),
)


class MeasuresWithoutGamma(Mapping[str, RegionValues]):
    """The measures of one graph that do not depend on γ, shape (n_regions,) each; computed when first asked for.

    Parameters
    ----------
    graph : BrainGraph
    connectivity : ndarray, shape (n_regions, n_regions)
        The full matrix behind the graph.
    """

    def __init__(self, graph: "BrainGraph", connectivity: FloatArray) -> None:
        self._given = {"graph": graph, "connectivity": connectivity}
        self._known: dict[str, RegionValues] = {}

    def __getitem__(self, key: str) -> RegionValues:
        if key not in self._known:
            measure = HUB_MEASURES[key] if key in self else None
            if measure is None:
                raise KeyError(key)
            self._known[key] = measure.compute(self._given[measure.needs])
        return self._known[key]

    def __contains__(self, key: object) -> bool:
        return any(key == one for one in self)

    def __iter__(self) -> Iterator[str]:
        return (key for key, measure in HUB_MEASURES.items() if measure.needs in self._given)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def known(self) -> tuple[str, ...]:
        """Those that were computed already."""
        return tuple(self._known)


def notes_on(measures: Iterable[str]) -> tuple[str, ...]:
    """What else to know of the numbers of some measures, each sentence once."""
    return tuple(dict.fromkeys(note for key in measures for note in HUB_MEASURES[key].notes))


def measures_without_gamma(
    graph: "BrainGraph", connectivity: FloatArray, measures: Collection[str] | None = None
) -> dict[str, RegionValues]:
    """Compute the measures that do not depend on the diffusion time γ.

    Parameters
    ----------
    graph : BrainGraph
    connectivity : ndarray, shape (n_regions, n_regions)
        The full matrix behind the graph.
    measures : collection of str, optional
        Only these; by default all.
    """
    found = MeasuresWithoutGamma(graph, connectivity)
    return {key: found[key] for key in found if measures is None or key in measures}


def measures_over_gamma(entropy_change: FloatArray) -> dict[str, FloatArray]:
    """Compute every measure that depends on γ, shape (n_gammas, n_regions), from the change of entropy in bits."""
    return {
        key: np.asarray(measure.compute(entropy_change), dtype=np.float64)
        for key, measure in HUB_MEASURES.items()
        if measure.depends_on_gamma
    }


# When FC strength has little to say: where the mean correlation is near zero, as after global-signal regression.
#
# Regressing the global signal out pulls the mean over all connections of every region towards zero. What is left of FC
# strength, the mean with signs, is then the small remainder of large positive and negative parts, and an agreement
# with it, or a lack of one, says little about hubs.


# Between two cohorts: the mean correlation was below 0.051 in all of 899 ABIDE subjects, whose global signal was
# regressed out, and above 0.062 in all of 240 CNI-2019 subjects, whose was not (assets/studies/beyond_strength.py).
LITTLE_MEAN_CONNECTIVITY = 0.056


def has_little_fc_strength(mean_connectivity: float) -> bool:
    """Whether a subject's mean correlation over all pairs of regions is too near zero for FC strength to mean much."""
    return mean_connectivity < LITTLE_MEAN_CONNECTIVITY


def little_strength(why: str) -> str:
    """The sentence on FC strength, with whose mean connectivity is how low."""
    return f"FC strength has little left to compare NE with: {why}, near zero, as after global-signal regression."
