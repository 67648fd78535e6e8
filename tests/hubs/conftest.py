"""The real subject that regression values are taken from, and a small one with two silent regions."""

from pathlib import Path

import numpy as np
import pytest
from hub_graphs import correlations, load_connectivity
from numpy.typing import NDArray

from biobgt.data.atlas import load_atlas
from biobgt.data.connectivity import graph_from_connectivity
from biobgt.data.graph import BrainGraph, ConnectomeSettings


@pytest.fixture(scope="session")
def real_connectivity(shared_data: Path) -> NDArray[np.float64]:
    """Pearson correlations of CMU_a_0050642, the first ABIDE subject, CC200."""
    return load_connectivity(shared_data, 0)


@pytest.fixture(scope="session")
def real_graph(real_connectivity: NDArray[np.float64]) -> BrainGraph:
    return graph_from_connectivity(real_connectivity, atlas=load_atlas("cc200"), subject="CMU_a_0050642")


@pytest.fixture(scope="session")
def silent_connectivity() -> NDArray[np.float64]:
    return np.pad(correlations(30, 0), (0, 2))


@pytest.fixture(scope="session")
def silent_graph(silent_connectivity: NDArray[np.float64]) -> BrainGraph:
    return graph_from_connectivity(silent_connectivity, ConnectomeSettings(level=0.2))
