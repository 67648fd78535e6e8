"""Hub measures: how hubs are measured and marked, and every measure of how much a region matters as one object."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.beyond import DEGREE, MODULE_SIZE, OVERALL, STRENGTH
from biobgt.base.colours import BLUE, BROWN, CHARCOAL, GREEN, MAGENTA, OLIVE, ORANGE, SKY, WINE
from biobgt.base.options import Options, Registry, imported_later, option
from biobgt.base.wording import capitalised, percent

if TYPE_CHECKING:
    from biobgt.data.graph import ConnectivityKind

# How a region is perturbed. ``control`` is the i-control graph of Huang et al. (2024), the paper's source: the closed
# neighbourhood of i becomes a clique of the same total weight. ``remove`` takes i's edges away and leaves it as an
# isolated node, so that the graph keeps its n nodes and gains a zero eigenvalue.
Perturbation = Literal["control", "remove"]
DEFAULT_PERTURBATION: Perturbation = "control"

# What happens to a perturbed region.
PERTURBATIONS: Mapping[Perturbation, str] = {
    "control": "a region and its neighbours become a clique of the same total weight",
    "remove": "a region loses its connections",
}

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
        False, title="Measure both halves", help="Measure both halves of each recording: are its hubs reliable?"
    )


# Hub measures: every measure of how much a region matters is one object here, and everything that lists them reads it.
#
# To add a centrality, register a :class:`HubMeasure`. It is then a column of the hub table, a curve, a scatter, a
# choice on the page of hubs and in its link, a measure of ``biobgt hubs`` and ``biobgt compare``, and cited where it
# is shown.


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
        The sentence of the methods text, with its citations.
    symbol : str
        Of its points, so that colour is never the only way to tell two measures apart.
    low_in_hubs : bool
        Whether hubs have the lowest values, instead of the highest.
    counts : bool
        Whether its numbers are whole.
    notes : tuple of str
        What else to know of its numbers, in sentences for tables and the methods text.
    simpler : tuple of str
        Of :data:`biobgt.base.beyond.SIMPLER`: given which differences in it are tested again.
    """

    key: str
    title: str
    short: str
    unit: str
    colour: str
    needs: Needs
    compute: Callable[[Any], RegionValues]
    definition: str
    symbol: str = "circle"
    low_in_hubs: bool = False
    counts: bool = False
    notes: tuple[str, ...] = ()
    simpler: tuple[str, ...] = (STRENGTH, DEGREE)

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
# Paths lead through the whole graph: they are longer in every region where connectivity is weaker overall.
_OF_PATHS = (STRENGTH, DEGREE, OVERALL)


def _classical(key: str, title: str, short: str, unit: str, colour: str, definition: str, **about: Any) -> HubMeasure:
    """A measure of the graph that :mod:`biobgt.hubs.classical` computes under its key."""
    compute = imported_later("biobgt.hubs.classical", key)
    return HubMeasure(key, title, short, unit, colour, "graph", compute, definition, **about)


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
        "region is perturbed [@peng2025; @huang2024].",
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
        f"when {PERTURBATIONS['control']} [@huang2024].",
        symbol="triangle-up",
        low_in_hubs=True,
    ),
    _classical(
        NEFF,
        "node efficiency",
        "NEff",
        "mean of 1/distance",
        ORANGE,
        "Node efficiency (NEff) is the mean inverse weighted path length from a region to all others "
        "[@latora2001; @rubinov2010].",
        notes=(_LENGTHS,),
        simpler=_OF_PATHS,
    ),
    _classical(
        "local_efficiency",
        "local efficiency",
        "local efficiency",
        "mean of 1/distance among neighbours",
        OLIVE,
        "Local efficiency is the mean inverse weighted path length among a region's neighbours [@latora2001], "
        "as bctpy defines it, with lengths of 1 / cube root of the weight [@rubinov2010].",
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
        "FC strength is the mean connectivity of a region with all others [@rubinov2010].",
        symbol="square",
        simpler=(MODULE_SIZE,),
    ),
    _classical(
        "degree",
        "degree",
        "degree",
        "connections",
        WINE,
        "Degree is the number of a region's connections [@rubinov2010].",
        symbol="cross",
        counts=True,
        simpler=(MODULE_SIZE,),
    ),
    _classical(
        "betweenness",
        "betweenness",
        "betweenness",
        "paths; every pair counts twice",
        MAGENTA,
        "Betweenness is the number of shortest weighted paths between other regions that pass through a region "
        "[@rubinov2010].",
        symbol="x",
        notes=(
            _LENGTHS,
            "Betweenness is not normalised: it counts the shortest paths through the region, from every region to "
            "every other and back, as bctpy does.",
        ),
        simpler=_OF_PATHS,
    ),
    _classical(
        "closeness",
        "closeness",
        "closeness",
        "1/mean distance",
        BROWN,
        "Closeness is the inverse of the mean weighted path length from a region to all others [@rubinov2010].",
        symbol="star",
        notes=(_LENGTHS,),
        simpler=_OF_PATHS,
    ),
    _classical(
        "eigenvector",
        "eigenvector centrality",
        "eigenvector",
        "part of a vector of length 1",
        CHARCOAL,
        "Eigenvector centrality is a region's part of the leading eigenvector of the weights [@rubinov2010].",
        symbol="pentagon",
    ),
)


def notes_on(measures: Iterable[str]) -> tuple[str, ...]:
    """What else to know of the numbers of some measures, each sentence once."""
    return tuple(dict.fromkeys(note for key in measures for note in HUB_MEASURES[key].notes))


# When FC strength has little to say: where the mean correlation is near zero, as after global-signal regression.
#
# Regressing the global signal out pulls the mean over all connections of every region towards zero. What is left of FC
# strength, the mean with signs, is then the small remainder of large positive and negative parts, and an agreement
# with it, or a lack of one, says little about hubs.


# Between two cohorts: the mean correlation was below 0.051 in all of 899 ABIDE subjects, whose global signal was
# regressed out, and above 0.062 in all of 240 CNI-2019 subjects, whose was not (assets/studies/beyond_strength.py).
LITTLE_MEAN_CONNECTIVITY = 0.056


def little_strength(why: str) -> str:
    """The sentence on FC strength, with whose mean connectivity is how low."""
    return f"FC strength has little left to compare NE with: {why}, near zero, as after global-signal regression."
