"""How modules are found, and every number that is taken of them: options and module measures."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal

from biobgt.base.arrays import FloatArray
from biobgt.base.beyond import MODULE_SIZE, OVERALL
from biobgt.base.options import Options, Registry, imported_later, option
from biobgt.base.references import cited
from biobgt.data.atlas import LABELLINGS

if TYPE_CHECKING:
    from biobgt.modules.partition import Labels

# How modules are found: the options of every table, figure, page and command about modules.


RESOLUTIONS = tuple(round(0.5 + 0.1 * step, 1) for step in range(16))
PERMUTATIONS = 10_000  # of groups whose modules are compared
SHUFFLES = 39  # after which consensus modules are found anew: lowest to highest is then the 95 % range
# What negative weights do to modules, where they count and where not.
NEGATIVE_WEIGHTS: Mapping[bool, str] = {
    True: "Negative weights count against a module [@rubinov2011].",
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
        10, title="Runs", help="How often Louvain is run per subject.", steps=(5, 10, 20, 50, 100), low=1, link="runs"
    )
    hub_z: float = option(  # 2.5 after Guimerà and Amaral
        2.5, title="Module hubs from z", help="Within-module z at and above which a region is a hub of its module."
    )
    seed: int = option(
        0, title="Seed", help="Seed of the random numbers: the same seed finds the same modules.", low=0, link="seed"
    )
    consensus: bool = option(
        False,
        title="Partition",
        help=cited(
            "Louvain finds different modules in every run. The best run has the highest modularity; the "
            "consensus is what the runs agree on [@lancichinetti2012]."
        ),
        shown={False: "Best run", True: "Consensus"},
        link="consensus",
        flag="--consensus/--best-run",
    )
    signed: bool = option(
        True,
        title="Negative weights count",
        help=f"{cited(NEGATIVE_WEIGHTS[True])} Otherwise they are left out. Only signed graphs have negative weights.",
        link="signed",
        flag="--signed/--unsigned",
    )


@dataclass(frozen=True)
class NullGraphOptions(ModuleOptions):
    """With how many null graphs a graph is compared."""

    null_graphs: int = option(
        100, title="Number of null graphs", help="Null graphs in which modules are found as well.", low=1
    )

    @property
    def null_seeds(self) -> range:
        """The seed of each null graph."""
        return range(self.seed, self.seed + self.null_graphs)


@dataclass(frozen=True)
class SmallWorldOptions(NullGraphOptions):
    """With how many null graphs clustering and path length are compared."""

    null_graphs: int = option(5, title="Number of null graphs", help="Random graphs, and as many lattices.", low=1)


@dataclass(frozen=True)
class NamedModuleOptions(ModuleOptions):
    """How modules are found, and by which functional networks they are named."""

    labelling: str = option(
        next(iter(LABELLINGS)),
        title="Modules named by",
        help="A module is named by the functional network that most of its regions belong to.",
        choices_of=lambda cohort: tuple(cohort.atlas.labels),
        default_of=lambda cohort: next(iter(cohort.atlas.labels), next(iter(LABELLINGS))),
        shown=LABELLINGS,
        link="labelling",
    )


# Module measures: every number that is taken of a subject's modules is one object here, and every list reads it.
#
# To add one, register a :class:`ModuleMeasure` in :data:`MODULE_MEASURES` (one number per subject) or in
# :data:`REGION_MEASURES` (one number per region). It is then a column of the tables of ``biobgt modules``, a row on
# the page of modules and, where it is ``compared``, a feature of ``biobgt compare --of segregation``.


N_MODULES, Q, AMI, SEGREGATION = "modules", "q", "ami", "system segregation"
WITHIN_Z, PARTICIPATION = "within_z", "participation"


@dataclass(frozen=True)
class ModuleMeasure:
    """A measure of modules, or of what a region is in its module.

    Attributes
    ----------
    key : str
        Its column in tables; of one that compares with labels, the name of the labelling follows.
    title : str
        In full, as it stands within a sentence: "modularity Q".
    short : str
        For headings and axes.
    unit : str
        What its numbers are in.
    needs : {"partition", "labels", "connectivity", "weights"}
        What ``compute`` is given. A Partition; or, once for each labelling of the atlas, the ModuleAgreement with it;
        or the full matrix of correlations, shape (n_regions, n_regions), and a module of each region, 0 for none; or,
        for a number per region, weights of at least 0, shape (n_regions, n_regions), and the module of each, none 0.
    compute : callable
        From that to one number, or to one per region.
    definition : str
        The sentence of the methods text, with its citations.
    shown : bool
        Whether it stands among the few on the screen of ``biobgt modules`` and beside real groups in the app.
    compared : bool
        Whether ``biobgt compare --of segregation`` compares groups in it.
    simpler : tuple of str
        Of :data:`biobgt.base.beyond.SIMPLER`: given which differences in it are tested again.
    """

    key: str
    title: str
    short: str
    unit: str
    needs: Literal["partition", "labels", "connectivity", "weights"]
    compute: Callable[..., Any]
    definition: str
    shown: bool = True
    compared: bool = True
    simpler: tuple[str, ...] = (OVERALL,)

    @property
    def counts(self) -> bool:
        """Whether its numbers are whole."""
        return self.unit in ("modules", "regions")


def _segregation(connectivity: FloatArray, systems: "Labels") -> float:
    from biobgt.modules.structure import segregation

    return segregation(connectivity, systems).system_segregation


MODULE_MEASURES: Registry[ModuleMeasure] = Registry(
    "module measure",
    ModuleMeasure(
        N_MODULES,
        "number of modules",
        "Modules",
        "modules",
        "partition",
        attrgetter("n_modules"),
        "The number of modules is that of the partition found.",
    ),
    ModuleMeasure(
        Q,
        "modularity Q",
        "Modularity Q",
        "share of weight",
        "partition",
        attrgetter("q"),
        "Modularity Q is the share of the weight that lies within modules, beyond what is expected at random "
        "[@newman2004].",
    ),
    ModuleMeasure(
        "unassigned regions",
        "number of regions in no module",
        "Regions in no module",
        "regions",
        "partition",
        lambda partition: len(partition.unassigned),
        "Regions without any connection are in no module.",
        shown=False,
        compared=False,
    ),
    ModuleMeasure(
        AMI,
        "adjusted mutual information",
        "AMI",
        "1 for equal divisions",
        "labels",
        attrgetter("ami"),
        "The adjusted mutual information [AMI; @vinh2010] compares two divisions over the regions that both "
        "include: it is 1 where they are equal and about 0 by chance.",
        compared=False,
    ),
    ModuleMeasure(
        "ari",
        "adjusted Rand index",
        "ARI",
        "1 for equal divisions",
        "labels",
        attrgetter("ari"),
        "The adjusted Rand index [ARI; @hubert1985] of two divisions is 1 where they are equal and about 0 by chance.",
        shown=False,
        compared=False,
    ),
    ModuleMeasure(
        "vi",
        "variation of information",
        "VI",
        "bits",
        "labels",
        attrgetter("vi"),
        "The variation of information [VI; @meila2007] is a distance of two divisions in bits, 0 where they are equal.",
        shown=False,
        compared=False,
    ),
    ModuleMeasure(
        SEGREGATION,
        "system segregation",
        "Segregation",
        "share of connectivity within",
        "connectivity",
        _segregation,
        "System segregation [@chan2014] is (within − between) / within, of the mean Fisher-z connectivity "
        "within and between modules.",
    ),
)

REGION_MEASURES: Registry[ModuleMeasure] = Registry(
    "measure of regions in their modules",
    ModuleMeasure(
        WITHIN_Z,
        "within-module z",
        "Within-module z",
        "standard deviations",
        "weights",
        imported_later("biobgt.modules.structure", "within_module_z"),
        "Within-module z is a region's strength within its module, as a z-score over the module's regions "
        "[@guimera2005].",
        simpler=(MODULE_SIZE,),
    ),
    ModuleMeasure(
        PARTICIPATION,
        "participation",
        "Participation",
        "0 to 1",
        "weights",
        imported_later("biobgt.modules.structure", "participation"),
        "Participation is how evenly a region's connections spread over the modules [@guimera2005].",
    ),
)


def measure_columns(labellings: Iterable[str]) -> dict[str, tuple[ModuleMeasure, str]]:
    """The columns of a table of modules: of each its measure, and the labelling it compares with or an empty name."""
    found = {one.key: (one, "") for one in MODULE_MEASURES.values() if one.needs == "partition"}
    for name in labellings:
        found |= {f"{one.key} {name}": (one, name) for one in MODULE_MEASURES.values() if one.needs == "labels"}
    return found | {one.key: (one, "") for one in MODULE_MEASURES.values() if one.needs == "connectivity"}
