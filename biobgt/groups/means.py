"""The functional modules of a group's mean connectivity."""

import numpy as np
from numpy.typing import NDArray

from biobgt.atlas import Atlas
from biobgt.connectome import graph_from_connectivity
from biobgt.graph import LEVELS, ConnectomeSettings
from biobgt.model.attention_views import functional_labels
from biobgt.modules import find_modules
from biobgt.modules.module_options import ModuleOptions
from biobgt.modules.naming import module_names


def louvain_labels(
    connectivity: NDArray[np.float32], atlas: Atlas, *, level: float = LEVELS["absolute"].default, seed: int = 0
) -> list[str]:
    """Louvain modules of a group's mean connectivity, named by the networks in them.

    Parameters
    ----------
    connectivity : ndarray, shape (n_regions, n_regions)
    atlas : Atlas
        Its first functional labelling gives the names.
    level : float
        Positive connections of at least this weight make the graph.
    seed : int
        Of Louvain's runs.

    Returns
    -------
    list of str, length n_regions
        Regions without connections are "no module".
    """
    graph = graph_from_connectivity(connectivity.astype(np.float64), ConnectomeSettings(level=level), atlas=atlas)
    partition = find_modules(graph, ModuleOptions(seed=seed))
    networks = functional_labels(atlas, next(iter(atlas.labels))) if atlas.labels else None
    names = module_names(partition, networks)
    return [names.get(module, "no module") for module in partition.labels.tolist()]
