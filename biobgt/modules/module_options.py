"""How modules are found: the options of every table, figure, page and command about modules."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from biobgt.atlas import LABELLINGS
from biobgt.options import Options, option

RESOLUTIONS = tuple(round(0.5 + 0.1 * step, 1) for step in range(16))
RUN_NUMBERS = (5, 10, 20, 50, 100)
PERMUTATIONS = 10_000  # of groups whose modules are compared
SHUFFLES = 39  # after which consensus modules are found anew: lowest to highest is then the 95 % range
HUB_Z = 2.5  # of the within-module z, after Guimerà and Amaral
# What negative weights do to modules, where they count and where not.
NEGATIVE_WEIGHTS: Mapping[bool, str] = {
    True: "Negative weights count against a module (Rubinov and Sporns 2011).",
    False: "Negative weights are left out.",
}


@dataclass(frozen=True)
class ModuleOptions(Options):
    """How Louvain looks for modules, the best of ``runs`` or their ``consensus``, and which regions are their hubs."""

    resolution: float = option(
        1.0,
        title="Resolution",
        help="Louvain resolution. Above 1 finds more and smaller modules, below 1 fewer and larger ones.",
        steps=RESOLUTIONS,
        above=0.0,
        link="resolution",
    )
    runs: int = option(
        10, title="Runs", help="How often Louvain is run per subject.", steps=RUN_NUMBERS, low=1, link="runs"
    )
    hub_z: float = option(
        HUB_Z, title="Module hubs from z", help="Within-module z at and above which a region is a hub of its module."
    )
    seed: int = option(
        0,
        title="Seed",
        help="Seed of the random numbers: the same seed finds the same modules.",
        low=0,
        link="seed",
    )
    consensus: bool = option(
        False,
        title="Partition",
        help="Louvain finds different modules in every run. The best run has the highest modularity; the "
        "consensus is what the runs agree on (Lancichinetti and Fortunato 2012).",
        shown={False: "Best run", True: "Consensus"},
        link="consensus",
        flag="--consensus/--best-run",
    )
    signed: bool = option(
        True,
        title="Negative weights count",
        help=f"{NEGATIVE_WEIGHTS[True]} Otherwise they are left out. Only signed graphs have negative weights.",
        link="signed",
        flag="--signed/--unsigned",
    )


def null_graphs_option(default: int, *, help: str) -> Any:
    """The option of a test: how many null graphs are drawn."""
    return option(default, title="Number of null graphs", help=help, low=1)


@dataclass(frozen=True)
class NullGraphOptions(ModuleOptions):
    """With how many null graphs a graph is compared."""

    null_graphs: int = null_graphs_option(100, help="Null graphs in which modules are found as well.")

    @property
    def null_seeds(self) -> range:
        """The seed of each null graph."""
        return range(self.seed, self.seed + self.null_graphs)


@dataclass(frozen=True)
class SmallWorldOptions(NullGraphOptions):
    """With how many null graphs clustering and path length are compared."""

    null_graphs: int = null_graphs_option(5, help="Random graphs, and as many lattices.")


@dataclass(frozen=True)
class NamedModuleOptions(ModuleOptions):
    """How modules are found, and by which functional networks they are named."""

    labelling: str = option(
        next(iter(LABELLINGS)),
        title="Modules named by",
        help="A module is named by the functional network that most of its regions belong to.",
        choices_of=lambda cohort: tuple(cohort.atlas.labels),
        starts_with_first=True,
        shown=LABELLINGS,
        link="labelling",
    )
