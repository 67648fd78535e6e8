"""The modules of one subject: found on its brain graph as the options say, and measured."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.graph import BrainGraph, is_correlation
from biobgt.modules.consensus import consensus_modules
from biobgt.modules.louvain import louvain_modules
from biobgt.modules.module_measures import measure_partition
from biobgt.modules.module_options import ModuleOptions
from biobgt.modules.partition import Partition
from biobgt.modules.roles import node_roles


@dataclass(frozen=True, eq=False)
class SubjectModules:
    """Modules of one subject.

    Attributes
    ----------
    partition : Partition
    roles : DataFrame
        One row per region, see :func:`biobgt.modules.node_roles`.
    measures : mapping of str to float
        By the columns of :func:`biobgt.modules.module_measures.measure_columns`.
    """

    partition: Partition
    roles: pd.DataFrame
    measures: Mapping[str, float]


def measure_modules(
    graph: BrainGraph, connectivity: NDArray[np.float64] | None, options: ModuleOptions | None = None
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
        Its measures are those of :data:`biobgt.modules.module_measures.MODULE_MEASURES`: ``ami``, ``ari`` and ``vi``
        with the name of each labelling of the atlas, ``system segregation`` only where the connectivity holds
        correlations.
    """
    options = options or ModuleOptions()
    graph = graph_for_modules(graph, options)
    partition = find_modules(graph, options)
    known = connectivity is not None and is_correlation(connectivity)  # segregation is on Fisher z
    return SubjectModules(
        partition,
        node_roles(graph, partition, hub_z=options.hub_z),
        measure_partition(partition, graph.atlas, connectivity if known else None),
    )


def graph_for_modules(graph: BrainGraph, options: ModuleOptions) -> BrainGraph:
    """The graph in which modules are sought: without its negative weights, unless these are to count."""
    return graph if options.signed else replace(graph, weights=np.maximum(graph.weights, 0))


def find_modules(graph: BrainGraph, options: ModuleOptions) -> Partition:
    """The best of Louvain's runs on a graph, or the consensus of all of them."""
    find = consensus_modules if options.consensus else louvain_modules
    return find(graph_for_modules(graph, options), resolution=options.resolution, runs=options.runs, seed=options.seed)
