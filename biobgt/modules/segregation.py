"""How strongly the brain's systems keep to themselves, and whether its modularity is more than chance.

System segregation (Chan et al. 2014) is (Z̄_w − Z̄_b) / Z̄_w, with the mean Fisher-z connectivity within and between
systems. Modularity is compared with null graphs of the same degrees and strengths: even random graphs have a
positive Q once modules are sought in them (Guimerà et al. 2004).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.connectome import fisher_z
from biobgt.errors import InputError
from biobgt.graph import BrainGraph, Graph, check_connectivity, graph_weights
from biobgt.modules.louvain import louvain_modules, modularity
from biobgt.modules.module_options import ModuleOptions, NullGraphOptions
from biobgt.modules.partition import UNASSIGNED, Labels, check_count, module_labels
from biobgt.nulls import random_graph

Negatives = Literal["zero", "keep"]


@dataclass(frozen=True, eq=False)
class ModularityTest:
    """Modularity against null graphs.

    Attributes
    ----------
    q : float
        Modularity of the modules on the graph.
    null : ndarray, shape (n_nulls,)
        Modularity of the null graphs.
    z : float
        (q − mean) / standard deviation of the null; NaN when the null does not vary or there are fewer than 2.
    p : float
        (1 + number of nulls of at least q) / (1 + n_nulls); NaN without nulls.
    refitted : bool
        True when modules were sought anew in each null graph, False when the given ones were kept.
    seed : int
    """

    q: float
    null: NDArray[np.float64]
    z: float
    p: float
    refitted: bool
    seed: int


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
    modularity : ModularityTest
    n_left_out : int
        Regions in no module.
    """

    system_segregation: float
    within: float
    between: float
    modules: pd.DataFrame
    modularity: ModularityTest
    n_left_out: int


def segregation(
    connectivity: Graph,
    labels: Labels,
    *,
    fisher: bool = True,
    negatives: Negatives = "zero",
    resolution: float = ModuleOptions.resolution,
    n_nulls: int = 0,
    refit: bool = True,
    runs: int = ModuleOptions.runs,
    seed: int = 0,
) -> Segregation:
    """Measure how segregated modules are.

    Parameters
    ----------
    connectivity : BrainGraph or ndarray, shape (n_regions, n_regions)
        Best the full FC, whose diagonal is ignored. In a thresholded graph the dropped pairs count as 0.
    labels : Partition or sequence of int, length n_regions
        Modules or functional systems; regions labelled 0 are left out of the means.
    fisher : bool
        Take Fisher's z of the connectivity first; a graph made with the Fisher-z estimator is taken as it is.
    negatives : {"zero", "keep"}
        Count negative connectivity as 0, as Chan et al. do, or as it is. It does not touch Q, where
        negative weights always count against a module.
    resolution, n_nulls, refit, runs, seed
        See :func:`modularity_test`; Q is taken of the connectivity as given, before Fisher's z.

    Returns
    -------
    Segregation
    """
    weights = _off_diagonal(connectivity)
    numbers = module_labels(labels, len(weights))
    z = _z_values(connectivity, weights, fisher=fisher, negatives=negatives)
    within, between = _pair_means(z, numbers, numbers != UNASSIGNED)
    return Segregation(
        system_segregation=_segregation(within, between),
        within=within,
        between=between,
        modules=_module_table(z, numbers),
        modularity=modularity_test(
            weights, numbers, resolution=resolution, n_nulls=n_nulls, refit=refit, runs=runs, seed=seed
        ),
        n_left_out=int((numbers == UNASSIGNED).sum()),
    )


def modularity_test(
    graph: Graph,
    labels: Labels,
    *,
    resolution: float = ModuleOptions.resolution,
    n_nulls: int = NullGraphOptions.null_graphs,
    refit: bool = True,
    runs: int = ModuleOptions.runs,
    seed: int = 0,
) -> ModularityTest:
    """Compare the modularity of modules with that of null graphs (:func:`biobgt.nulls.random_graph`).

    Parameters
    ----------
    graph : BrainGraph or ndarray, shape (n_regions, n_regions)
    labels : Partition or sequence of int, length n_regions
    resolution : float
    n_nulls : int
    refit : bool
        Seek modules anew in each null graph: the fair comparison for modules that were themselves found by maximising
        Q. For labels known beforehand, an atlas's, False keeps them.
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
    null = np.empty(n_nulls)
    for i in range(n_nulls):
        randomised = random_graph(weights, seed=seed + i)
        if refit:
            null[i] = louvain_modules(randomised, resolution=resolution, seed=seed + i, runs=runs).q
        else:
            null[i] = modularity(randomised, labels, resolution=resolution)
    null.setflags(write=False)
    return ModularityTest(q=q, null=null, z=_z_score(q, null), p=_p_value(q, null), refitted=refit, seed=seed)


def pool_modularity_tests(tests: Sequence[ModularityTest]) -> ModularityTest:
    """Pool tests of the same modules against different null graphs.

    A test of a hundred null graphs takes seconds to minutes. Taken one null graph at a time it can show how far it is
    and be stopped.

    Parameters
    ----------
    tests : sequence of ModularityTest
        ``modularity_test(..., n_nulls=1, seed=seed + i)`` for i from 0, in order.

    Returns
    -------
    ModularityTest
        That of ``modularity_test(..., n_nulls=len(tests), seed=seed)``.
    """
    if not tests:
        raise InputError("There is no test to pool.")
    first = tests[0]
    if any(test.refitted != first.refitted or not np.isclose(test.q, first.q, equal_nan=True) for test in tests):
        raise InputError("Tests of different modules cannot be pooled.")
    null = np.concatenate([test.null for test in tests])
    null.setflags(write=False)
    return replace(first, null=null, z=_z_score(first.q, null), p=_p_value(first.q, null))


def _off_diagonal(connectivity: Graph) -> NDArray[np.float64]:
    if isinstance(connectivity, BrainGraph):
        return connectivity.weights
    weights = check_connectivity(connectivity, what="The connectivity").copy()
    np.fill_diagonal(weights, 0)
    return weights


def _z_values(
    connectivity: Graph, weights: NDArray[np.float64], *, fisher: bool, negatives: Negatives
) -> NDArray[np.float64]:
    if negatives not in get_args(Negatives):
        raise InputError(f"There is no rule '{negatives}' for negatives. Choose one of: zero, keep.")
    settings = connectivity.settings if isinstance(connectivity, BrainGraph) else None
    if fisher and not (settings is not None and settings.estimator == "fisher-z"):
        if np.abs(weights).max() > 1:
            raise InputError("Fisher's z needs correlations, and there are values beyond ±1. Set fisher=False.")
        weights = fisher_z(weights)
    return np.maximum(weights, 0) if negatives == "zero" else weights


def _pair_means(z: NDArray[np.float64], labels: NDArray[np.int64], members: NDArray[np.bool_]) -> tuple[float, float]:
    """Mean over pairs in one module and over pairs in two, with at least one region among ``members``."""
    pairs = np.triu(np.ones(z.shape, dtype=bool), 1)
    pairs &= (labels != UNASSIGNED)[:, None] & (labels != UNASSIGNED)[None, :]
    pairs &= members[:, None] | members[None, :]
    same = labels[:, None] == labels[None, :]
    return _mean(z[pairs & same]), _mean(z[pairs & ~same])


def _module_table(z: NDArray[np.float64], labels: NDArray[np.int64]) -> pd.DataFrame:
    rows = []
    for module in np.unique(labels[labels != UNASSIGNED]).tolist():
        within, between = _pair_means(z, labels, labels == module)
        rows.append((module, int((labels == module).sum()), within, between, _segregation(within, between)))
    return pd.DataFrame(rows, columns=["module", "n_regions", "within", "between", "segregation"])


def _segregation(within: float, between: float) -> float:
    return (within - between) / within if within > 0 else float("nan")


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _z_score(q: float, null: NDArray[np.float64]) -> float:
    if len(null) < 2 or np.ptp(null) <= 1e-12:  # rounding only: the nulls are all alike
        return float("nan")
    return float((q - null.mean()) / null.std(ddof=1))


def _p_value(q: float, null: NDArray[np.float64]) -> float:
    if len(null) == 0 or np.isnan(q):
        return float("nan")
    return float((1 + (null >= q - 1e-12).sum()) / (1 + len(null)))
