"""Graphs for the tests of hub measures: small ones to check by hand, random ones, and real connectivity."""

from pathlib import Path

import networkx as nx
import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from biobgt.data.connectivity import functional_connectivity

STAR = nx.to_numpy_array(nx.star_graph(4))
PATH = nx.to_numpy_array(nx.path_graph(4))
CLIQUE = nx.to_numpy_array(nx.complete_graph(5)) * 0.3
BARBELL = nx.to_numpy_array(nx.barbell_graph(4, 1), nodelist=range(9))  # cliques 0-3 and 5-8, bridge 4
KARATE = nx.to_numpy_array(nx.karate_club_graph())
TWO_PARTS = np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3))
EMPTY = np.zeros((4, 4))
PAIR = np.array([[0, 0.7], [0.7, 0]])
NAMED = {
    "star": STAR,
    "path": PATH,
    "clique": CLIQUE,
    "barbell": BARBELL,
    "karate": KARATE,
    "two parts": TWO_PARTS,
    "empty": EMPTY,
    "pair": PAIR,
}


def random_weights(n: int, density: float, seed: int) -> NDArray[np.float64]:
    """A random weighted graph; sparse ones fall apart and have isolated nodes."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.uniform(0.1, 1, (n, n)) * (rng.random((n, n)) < density), 1)
    return upper + upper.T


def correlations(n: int, seed: int) -> NDArray[np.float64]:
    """Correlations of noise with three components in common."""
    rng = np.random.default_rng(seed)
    series = rng.normal(size=(40, n)) + rng.normal(size=(40, 3)) @ rng.normal(size=(3, n))
    return np.corrcoef(series.T)


weighted_graphs = st.builds(
    random_weights, n=st.integers(2, 14), density=st.floats(0, 1), seed=st.integers(0, 2**32 - 1)
)


def load_connectivity(shared_data: Path, position: int) -> NDArray[np.float64]:
    """Pearson correlations of one ABIDE subject, CC200."""
    with np.load(shared_data / "abide_cc200.npz", allow_pickle=False) as archive:
        stops = np.cumsum(archive["n_timepoints"])
        start = stops[position] - archive["n_timepoints"][position]
        series = archive["series"][start : stops[position]].astype(np.float64)
    return functional_connectivity(series)
