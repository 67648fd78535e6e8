"""The connections that hold modules together, for drawing."""

import numpy as np

from biobgt.graph import Graph, graph_weights
from biobgt.modules.partition import UNASSIGNED, Labels, check_count, module_labels


def strongest_within_modules(graph: Graph, partition: Labels, *, most: int) -> list[tuple[int, int, float]]:
    """The strongest positive connections whose two regions are in the same module.

    Parameters
    ----------
    graph : BrainGraph or ndarray, shape (n_regions, n_regions)
    partition : Partition or sequence of int, length n_regions
    most : int
        How many at most, over all modules.

    Returns
    -------
    list of (int, int, float)
        Two regions, counted from 0, and the weight; the strongest first, ties by the regions' order.
    """
    weights = graph_weights(graph)
    labels = module_labels(partition, len(weights))
    check_count("connections", most, least=0)
    first, second = np.triu_indices(len(weights), 1)
    inside = (labels[first] == labels[second]) & (labels[first] != UNASSIGNED) & (weights[first, second] > 0)
    first, second = first[inside], second[inside]
    order = np.argsort(-weights[first, second], kind="stable")[:most]
    return [(int(i), int(j), float(weights[i, j])) for i, j in zip(first[order], second[order], strict=True)]
