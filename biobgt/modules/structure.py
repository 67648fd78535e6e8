"""What modules do: roles of regions, segregation, small-worldness; and a subject's modules, found and measured."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import bct
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.data.connectivity import fisher_z
from biobgt.data.graph import (
    BrainGraph,
    Graph,
    check_connectivity,
    graph_weights,
    is_correlation,
    lattice_graph,
    nonnegative_weights,
    random_graph,
)
from biobgt.modules.louvain import consensus_modules, louvain_modules, modularity
from biobgt.modules.measures import (
    PARTICIPATION,
    REGION_MEASURES,
    WITHIN_Z,
    ModuleOptions,
    NullGraphOptions,
    SmallWorldOptions,
    measure_columns,
)
from biobgt.modules.partition import UNASSIGNED, Labels, Partition, check_count, module_agreement, module_labels

# Roles of regions in the modular structure: provincial hubs, connector hubs and the rest.
#
# Guimerà & Amaral (2005): the within-module strength z tells hubs from other regions, the participation coefficient P
# = 1 − Σ_m (k_im / k_i)² how evenly a region's connections spread over the modules. Both come from bctpy; the borders
# between the seven roles are the paper's.


_ROLES: Mapping[str, str] = {
    "R1": "ultra-peripheral",
    "R2": "peripheral",
    "R3": "connector",
    "R4": "kinless",
    "R5": "provincial hub",
    "R6": "connector hub",
    "R7": "kinless hub",
}
# Upper borders of P: R1, R2, R3 and then R4 for non-hubs; R5, R6 and then R7 for hubs.
_NON_HUB_BORDERS = (0.05, 0.62, 0.80)
_HUB_BORDERS = (0.30, 0.75)


def node_roles(graph: Graph, partition: Labels, *, hub_z: float = ModuleOptions.hub_z) -> pd.DataFrame:
    """Within-module strength, participation and role of every region.

    Of a signed graph only the positive connections count: P is a share of connections, and shares of both
    signs have no meaning. Connections to regions in no module are left out.

    Parameters
    ----------
    graph : BrainGraph or ndarray, shape (n_regions, n_regions)
    partition : Partition or sequence of int, length n_regions
    hub_z : float
        Regions of at least this within-module z are hubs. The paper's 2.5 was set on networks of thousands of
        nodes; in a module of 30 regions few or none reach it, and brain studies often take 1 to 1.5.

    Returns
    -------
    DataFrame
        One row per region, numbered from 1: ``region`` (for a BrainGraph), ``module``, the measures of
        :data:`biobgt.modules.measures.REGION_MEASURES` (``within_z``, ``participation``), ``role`` (R1 ... R7),
        ``role_name``, ``hub``. Where the regions of a module do not differ in strength, as in a
        module of one, z is 0. For a region in no module z and P are NaN and the role is None.
    """
    weights = np.maximum(graph_weights(graph), 0)
    labels = module_labels(partition, len(weights))
    if not np.isfinite(hub_z):
        raise InputError(f"The hub threshold is {hub_z}; it must be a number.")
    assigned = np.flatnonzero(labels != UNASSIGNED)
    measures = {key: np.full(len(weights), np.nan) for key in REGION_MEASURES}
    if len(assigned):
        inside, modules = weights[np.ix_(assigned, assigned)], labels[assigned]
        for key, values in measures.items():
            values[assigned] = REGION_MEASURES[key].compute(inside, modules)
    placed = zip(measures[WITHIN_Z], measures[PARTICIPATION], strict=True)
    roles = [_role(z, p, hub_z) for z, p in placed]
    frame = pd.DataFrame(
        {
            "module": labels,
            **measures,
            "role": pd.Series(roles, dtype=object),
            "role_name": pd.Series([role and _ROLES[role] for role in roles], dtype=object),
            "hub": measures[WITHIN_Z] >= hub_z,
        }
    )
    frame.index = pd.RangeIndex(1, len(frame) + 1, name="number")
    if isinstance(graph, BrainGraph):
        frame.insert(0, "region", graph.atlas.regions)
    return frame


def _role(within_z: float, participation: float, hub_z: float) -> str | None:
    """Role of one region, None where z or P is not known."""
    if np.isnan(within_z) or np.isnan(participation):
        return None
    if within_z >= hub_z:
        return f"R{5 + int(np.searchsorted(_HUB_BORDERS, participation))}"
    return f"R{1 + int(np.searchsorted(_NON_HUB_BORDERS, participation))}"


def participation(weights: FloatArray, modules: NDArray[np.int64]) -> FloatArray:
    """Participation coefficient, shape (n_regions,); see :func:`node_roles`."""
    with np.errstate(invalid="ignore"):  # 0/0 for a region without connections, which bctpy then sets to 0
        found: FloatArray = bct.participation_coef(weights, modules)
    return np.maximum(found, 0)  # rounding leaves -1e-16 where all connections stay in one module


def within_module_z(weights: FloatArray, modules: NDArray[np.int64]) -> FloatArray:
    """Within-module z, shape (n_regions,); see :func:`node_roles`."""
    with np.errstate(invalid="ignore", divide="ignore"):  # 0/0 in a module of one
        z: FloatArray = bct.module_degree_zscore(weights, modules)
    for module in np.unique(modules):
        members = modules == module
        strength = weights[np.ix_(members, members)].sum(axis=1)
        # Equal strengths differ by rounding, and dividing dust by dust makes hubs out of nothing.
        if np.ptp(strength) <= 1e-12 * strength.max():
            z[members] = 0
    return z


# How strongly the brain's systems keep to themselves, and whether its modularity is more than chance.
#
# System segregation (Chan et al. 2014) is (Z̄_w − Z̄_b) / Z̄_w, with the mean Fisher-z connectivity within and between
# systems. Modularity is compared with null graphs of the same degrees and strengths: even random graphs have a
# positive Q once modules are sought in them (Guimerà et al. 2004).


@dataclass(frozen=True, eq=False)
class ModularityTest:
    """Modularity against null graphs.

    Attributes
    ----------
    q : float
        Modularity of the modules on the graph.
    null : ndarray, shape (n_nulls,)
        Modularity of the null graphs. Read-only.
    seed : int
    """

    q: float
    null: FloatArray
    seed: int

    def __post_init__(self) -> None:
        self.null.setflags(write=False)

    @property
    def z(self) -> float:
        """(q − mean) / standard deviation of the null; NaN when the null does not vary or there are fewer than 2."""
        if len(self.null) < 2 or np.ptp(self.null) <= 1e-12:  # rounding only: the nulls are all alike
            return float("nan")
        return float((self.q - self.null.mean()) / self.null.std(ddof=1))

    @property
    def p(self) -> float:
        """(1 + number of nulls of at least q) / (1 + n_nulls); NaN without nulls."""
        if len(self.null) == 0 or np.isnan(self.q):
            return float("nan")
        return float((1 + (self.null >= self.q - 1e-12).sum()) / (1 + len(self.null)))

    def pooled_with(self, others: "Sequence[ModularityTest]") -> "ModularityTest":
        """The test against the null graphs of tests of the same modules as well.

        A test of a hundred null graphs takes seconds to minutes. Taken one null graph at a time, with seed, seed + 1
        and so on, it can show how far it is and be stopped.
        """
        if not all(np.isclose(one.q, self.q, equal_nan=True) for one in others):
            raise InputError("Tests of different modules cannot be pooled.")
        return replace(self, null=np.concatenate([self.null, *(one.null for one in others)]))


def modularity_test(
    graph: Graph,
    labels: Labels,
    *,
    resolution: float = ModuleOptions.resolution,
    n_nulls: int = NullGraphOptions.null_graphs,
    runs: int = ModuleOptions.runs,
    seed: int = 0,
) -> ModularityTest:
    """Compare the modularity of modules with that of null graphs (:func:`biobgt.data.graph.random_graph`).

    Modules are sought anew in each null graph: the fair comparison for modules that were themselves found by
    maximising Q.

    Parameters
    ----------
    graph : BrainGraph or ndarray, shape (n_regions, n_regions)
    labels : Partition or sequence of int, length n_regions
    resolution : float
    n_nulls : int
    runs : int
        Louvain runs in each null graph, of which the best counts. As many as found the modules: on 200 regions, the Q
        of null graphs is 0.008 higher in the best of ten runs than in one.
    seed : int
        Null graph i (from 0) is ``random_graph(graph, seed=seed + i)``.

    Returns
    -------
    ModularityTest
    """
    weights = graph_weights(graph)
    check_count("null graphs", n_nulls, least=0)
    q = modularity(weights, labels, resolution=resolution)
    drawn = ((one, random_graph(weights, seed=one)) for one in range(seed, seed + n_nulls))
    null = [louvain_modules(graph, resolution=resolution, seed=one, runs=runs).q for one, graph in drawn]
    return ModularityTest(q=q, null=np.array(null), seed=seed)


@dataclass(frozen=True, eq=False)
class Segregation:
    """Segregation of the modules, as a whole and one by one.

    Attributes
    ----------
    system_segregation : float
        (within − between) / within; NaN when it has no meaning, that is when ``within`` is not above 0.
    within, between : float
        Mean connectivity of all pairs of regions in the same module, and in different ones; NaN without pairs.
    modules : DataFrame
        A row per module: ``module``, ``n_regions``, ``within``, ``between`` (to all other modules) and ``segregation``.
    """

    system_segregation: float
    within: float
    between: float
    modules: pd.DataFrame


def segregation(connectivity: Graph, labels: Labels, *, fisher: bool = True) -> Segregation:
    """Measure how segregated modules are. Negative connectivity counts as 0, as in Chan et al.

    Parameters
    ----------
    connectivity : BrainGraph or ndarray, shape (n_regions, n_regions)
        Best the full FC, whose diagonal is ignored. In a thresholded graph the dropped pairs count as 0.
    labels : Partition or sequence of int, length n_regions
        Modules or functional systems; regions labelled 0 are left out of the means.
    fisher : bool
        Take Fisher's z of the connectivity first; a graph made with the Fisher-z estimator is taken as it is.

    Returns
    -------
    Segregation
    """
    if isinstance(connectivity, BrainGraph):
        weights, settings = connectivity.weights, connectivity.settings
        fisher = fisher and not (settings is not None and settings.estimator == "fisher-z")
    else:
        weights = check_connectivity(connectivity, what="The connectivity").copy()
        np.fill_diagonal(weights, 0)
    numbers = module_labels(labels, len(weights))
    if fisher:
        if np.abs(weights).max() > 1:
            raise InputError("Fisher's z needs correlations, and there are values beyond ±1. Set fisher=False.")
        weights = fisher_z(weights)
    z = np.maximum(weights, 0)
    within, between, whole = _segregation(z, numbers, numbers != UNASSIGNED)
    rows = [
        (module, int((numbers == module).sum()), *_segregation(z, numbers, numbers == module))
        for module in np.unique(numbers[numbers != UNASSIGNED]).tolist()
    ]
    columns = ["module", "n_regions", "within", "between", "segregation"]
    return Segregation(whole, within, between, pd.DataFrame(rows, columns=columns))


def _segregation(z: FloatArray, labels: NDArray[np.int64], members: NDArray[np.bool_]) -> tuple[float, float, float]:
    """Mean over pairs in one module and over pairs in two, with at least one region among ``members``, and both."""
    pairs = np.triu(np.ones(z.shape, dtype=bool), 1)
    pairs &= (labels != UNASSIGNED)[:, None] & (labels != UNASSIGNED)[None, :]
    pairs &= members[:, None] | members[None, :]
    same = labels[:, None] == labels[None, :]
    within, between = (
        float(values.mean()) if len(values) else float("nan") for values in (z[pairs & same], z[pairs & ~same])
    )
    return within, between, (within - between) / within if within > 0 else float("nan")


# Small-worldness: clustered as a lattice, yet with the short paths of a random graph.
#
# σ = (C/C_rand) / (L/L_rand) (Humphries & Gurney 2008) and ω = L_rand/L − C/C_latt (Telesford et al. 2011), with the
# mean clustering coefficient C (Onnela et al. 2005, from bctpy) and the characteristic path length L over connection
# lengths 1/w. σ above 1, or ω near 0, is called small-world; ω near −1 is a lattice, near 1 a random graph.


_MOST_LATTICES = 3


@dataclass(frozen=True)
class SmallWorld:
    """Clustering and path length of a graph's largest component, against null graphs.

    Weights are divided by the largest one first, so that nothing here depends on their unit.

    Attributes
    ----------
    clustering : float
        Mean clustering coefficient C.
    path_length : float
        Mean shortest path length L over all pairs.
    random_clustering, random_path_length, lattice_clustering : float
        Means over the null graphs. Where a random graph falls apart, L is over the pairs that stay connected.
    n_left_out : int
        Regions outside the largest component (the first one of equals); 0 for a connected graph.
    n_nulls : int
    seed : int
    """

    clustering: float
    path_length: float
    random_clustering: float
    random_path_length: float
    lattice_clustering: float
    n_left_out: int
    n_nulls: int
    seed: int

    @property
    def sigma(self) -> float:
        """(C/C_rand) / (L/L_rand); NaN without connections, or without triangles in the null graphs."""
        clustered = _ratio(self.clustering, self.random_clustering)
        return _ratio(clustered, _ratio(self.path_length, self.random_path_length))

    @property
    def omega(self) -> float:
        """L_rand/L − C/C_latt; NaN as σ is."""
        length = _ratio(self.random_path_length, self.path_length)
        return length - _ratio(self.clustering, self.lattice_clustering)

    def pooled_with(self, others: "Sequence[SmallWorld]") -> "SmallWorld":
        """The same graph against the mean over the null graphs of all, each of one random graph and one lattice.

        Up to three it is what :func:`small_world` says of as many; that function makes no more than three lattices.
        """
        parts = (self, *others)
        if any((one.clustering, one.path_length) != (self.clustering, self.path_length) for one in others):
            raise InputError("Small-worldness of different graphs cannot be pooled.")
        clustering, length, lattice = (
            float(np.mean([getattr(part, name) for part in parts]))
            for name in ("random_clustering", "random_path_length", "lattice_clustering")
        )
        return replace(
            self,
            random_clustering=clustering,
            random_path_length=length,
            lattice_clustering=lattice,
            n_nulls=sum(part.n_nulls for part in parts),
        )


def small_world(graph: Graph, *, n_nulls: int = SmallWorldOptions.null_graphs, seed: int = 0) -> SmallWorld:
    """Measure small-worldness.

    A graph in pieces has infinite path lengths, so its largest component is measured and the number of regions
    left out is in the result.

    Parameters
    ----------
    graph : BrainGraph or ndarray, shape (n_regions, n_regions)
        Without negative weights.
    n_nulls : int
        Random graphs, and as many lattices (lattices vary little: at most 3 are made).
    seed : int
        Null graph i (from 0) is drawn with ``seed + i``.

    Returns
    -------
    SmallWorld
    """
    weights = nonnegative_weights(graph, what="Small-worldness")
    check_count("null graphs", n_nulls, least=1)
    _, component = connected_components(csr_array(weights), directed=False)
    largest = np.flatnonzero(component == np.bincount(component).argmax())
    inside = weights[np.ix_(largest, largest)]
    seeds = range(seed, seed + n_nulls) if inside.any() else range(0)  # nothing to draw without connections
    inside = inside / inside.max() if inside.any() else inside
    randoms = [random_graph(inside, seed=one) for one in seeds]
    lattices = [lattice_graph(inside, seed=one) for one in seeds[:_MOST_LATTICES]]
    return SmallWorld(
        clustering=_mean_clustering(inside),
        path_length=characteristic_path_length(inside),
        random_clustering=_mean_over(_mean_clustering, randoms),
        random_path_length=_mean_over(characteristic_path_length, randoms),
        lattice_clustering=_mean_over(_mean_clustering, lattices),
        n_left_out=len(weights) - len(largest),
        n_nulls=n_nulls,
        seed=seed,
    )


def _mean_over(measure: Callable[[FloatArray], float], graphs: Sequence[FloatArray]) -> float:
    return float(np.mean([measure(graph) for graph in graphs])) if graphs else float("nan")


def _mean_clustering(weights: FloatArray) -> float:
    """Mean clustering coefficient (bctpy's ``clustering_coef_wu``; a region in no triangle counts as 0)."""
    return float(np.mean(bct.clustering_coef_wu(weights)))


def characteristic_path_length(weights: FloatArray) -> float:
    """Mean shortest path length over pairs that are connected, with lengths 1/w.

    ``bct.distance_wei`` gives the same distances a hundred times slower.

    Parameters
    ----------
    weights : ndarray, shape (n_regions, n_regions)
        Without negative weights.

    Returns
    -------
    float
        NaN when no pair is connected.
    """
    lengths = np.divide(1, weights, out=np.zeros_like(weights), where=weights > 0)
    distances = shortest_path(csr_array(lengths), directed=False)
    reached = distances[np.isfinite(distances) & ~np.eye(len(weights), dtype=bool)]
    return float(reached.mean()) if len(reached) else float("nan")


def _ratio(above: float, below: float) -> float:
    return above / below if below > 0 else float("nan")


# The modules of one subject: found on its brain graph as the options say, and measured.


@dataclass(frozen=True, eq=False)
class SubjectModules:
    """Modules of one subject.

    Attributes
    ----------
    partition : Partition
    roles : DataFrame
        One row per region, see :func:`biobgt.modules.node_roles`.
    measures : mapping of str to float
        By the columns of :func:`biobgt.modules.measures.measure_columns`.
    """

    partition: Partition
    roles: pd.DataFrame
    measures: Mapping[str, float]


def measure_modules(
    graph: BrainGraph, connectivity: FloatArray | None, options: ModuleOptions | None = None
) -> SubjectModules:
    """Find one subject's modules and measure them.

    Parameters
    ----------
    graph : BrainGraph
    connectivity : ndarray, shape (n_regions, n_regions), or None
        The full Pearson matrix behind it, for segregation; None where connectivity is not functional.
    options : ModuleOptions, optional

    Returns
    -------
    SubjectModules
        Its measures are those of :data:`biobgt.modules.measures.MODULE_MEASURES`: ``ami``, ``ari`` and ``vi``
        with the name of each labelling of the atlas, ``system segregation`` only where the connectivity holds
        correlations.
    """
    options = options or ModuleOptions()
    graph = graph_for_modules(graph, options)
    partition = find_modules(graph, options)
    known = connectivity is not None and is_correlation(connectivity)  # segregation is on Fisher z
    agreements = {name: module_agreement(partition, graph.atlas, name) for name in graph.atlas.labels}
    measures: dict[str, float] = {}
    for column, (measure, labelling) in measure_columns(graph.atlas.labels).items():
        if measure.needs == "partition":
            measures[column] = measure.compute(partition)
        elif measure.needs == "labels":
            measures[column] = measure.compute(agreements[labelling])
        elif known:
            measures[column] = measure.compute(connectivity, partition)
    return SubjectModules(partition, node_roles(graph, partition, hub_z=options.hub_z), measures)


def graph_for_modules(graph: BrainGraph, options: ModuleOptions) -> BrainGraph:
    """The graph in which modules are sought: without its negative weights, unless these are to count."""
    return graph if options.signed else replace(graph, weights=np.maximum(graph.weights, 0))


def find_modules(graph: BrainGraph, options: ModuleOptions) -> Partition:
    """The best of Louvain's runs on a graph, or the consensus of all of them."""
    find = consensus_modules if options.consensus else louvain_modules
    return find(graph_for_modules(graph, options), resolution=options.resolution, runs=options.runs, seed=options.seed)
