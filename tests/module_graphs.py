"""Small graphs whose modules can be seen with the eye."""

import networkx as nx
import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays


def bridged_cliques(size=4):
    """Two cliques joined by one connection."""
    graph = nx.disjoint_union(nx.complete_graph(size), nx.complete_graph(size))
    graph.add_edge(size - 1, size)
    return nx.to_numpy_array(graph)


def ring_of_cliques(n_cliques=6, size=5):
    return nx.to_numpy_array(nx.ring_of_cliques(n_cliques, size), weight=None)


def karate_club():
    return nx.to_numpy_array(nx.karate_club_graph(), weight=None)


def star(n=6):
    return nx.to_numpy_array(nx.star_graph(n - 1))


def random_weights(n, seed, *, density=0.5, signed=False):
    """A random symmetric matrix with a zero diagonal."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.uniform(-1 if signed else 0.05, 1, (n, n)) * (rng.random((n, n)) < density), 1)
    return upper + upper.T


def communities(matrix, labels):
    """Labels as networkx wants them: sets of nodes, each node in one."""
    return [set(np.flatnonzero(np.asarray(labels) == label)) for label in np.unique(labels)]


@st.composite
def weight_matrices(draw, *, least=-1.0, max_regions=9):
    """Symmetric matrices with a zero diagonal, many of whose entries are zero."""
    n = draw(st.integers(2, max_regions))
    values = st.one_of(st.just(0.0), st.floats(least, 1).map(lambda value: round(value, 3)))
    upper = np.triu(draw(arrays(np.float64, (n, n), elements=values)), 1)
    return upper + upper.T


@st.composite
def label_pairs(draw, *, least=1):
    """Two labellings of the same regions."""
    n = draw(st.integers(2, 15))
    labels = st.lists(st.integers(least, 5), min_size=n, max_size=n)
    return np.array(draw(labels)), np.array(draw(labels))
