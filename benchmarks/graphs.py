"""Graphs to measure on: clustered as brain graphs are, of any size and density."""

import numpy as np

from biobgt.data.connectivity import functional_connectivity, graph_from_connectivity
from biobgt.data.graph import BrainGraph, ConnectomeSettings


def brain_like_graph(n_regions: int, density: float = 0.1) -> BrainGraph:
    """Correlations of random series with eight modules and a global signal, cut to a density."""
    rng = np.random.default_rng(n_regions)
    modules = rng.standard_normal((150, 8))
    series = rng.standard_normal((150, n_regions)) + 0.3 * rng.standard_normal((150, 1))
    series += 0.5 * modules[:, rng.integers(0, 8, n_regions)]
    settings = ConnectomeSettings(sign="absolute", threshold="proportional", level=density)
    return graph_from_connectivity(functional_connectivity(series), settings)
