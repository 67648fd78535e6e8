"""One real subject, from connectivity to modules, roles and null graphs; values as first computed and checked."""

import bct
import numpy as np
import pytest

from biobgt.data.atlas import load_atlas
from biobgt.data.connectivity import functional_connectivity, graph_from_connectivity
from biobgt.data.graph import ConnectomeSettings
from biobgt.modules import (
    canonical_labels,
    consensus_modules,
    louvain_modules,
    modularity_test,
    module_agreement,
    node_roles,
    segregation,
)


@pytest.fixture(scope="module")
def connectivity(shared_data):
    with np.load(shared_data / "abide_cc200.npz", allow_pickle=False) as archive:
        series = archive["series"][: archive["n_timepoints"][0]].astype(np.float64)
    return functional_connectivity(series)


@pytest.fixture(scope="module")
def graph(connectivity):
    return graph_from_connectivity(connectivity, atlas=load_atlas("cc200"))


def test_louvain(graph):
    partition = louvain_modules(graph, runs=1)
    labels, q = bct.community_louvain(graph.weights, seed=0)
    assert (partition.labels == canonical_labels(labels)).all()
    assert partition.q == pytest.approx(q, abs=1e-10)
    assert partition.q == pytest.approx(0.5190563, abs=1e-6)
    assert partition.n_modules == 7


def test_signed_louvain(connectivity):
    settings = ConnectomeSettings(sign="signed", threshold="none")
    partition = louvain_modules(graph_from_connectivity(connectivity, settings), runs=1)
    assert partition.signed
    assert partition.q == pytest.approx(0.4656047, abs=1e-6)
    assert partition.n_modules == 3


def test_consensus_is_nearer_to_the_networks_than_chance(graph):
    partition = consensus_modules(graph, runs=20)
    agreement = module_agreement(partition, graph.atlas, "dosenbach")
    assert partition.converged
    assert 0.3 < agreement.ami < 0.45
    assert agreement.n_compared + agreement.n_unlabelled == 200
    assert agreement.n_unlabelled == graph.atlas.n_unlabelled("dosenbach")


def test_modules_are_beyond_chance_and_segregated(graph, connectivity):
    partition = louvain_modules(graph, runs=1)
    assert modularity_test(graph, partition, n_nulls=5).z > 20
    assert segregation(connectivity, partition).system_segregation == pytest.approx(0.81, abs=0.03)


def test_no_region_reaches_the_classic_hub_threshold(graph):
    partition = louvain_modules(graph, runs=10)
    assert not node_roles(graph, partition)["hub"].any()
    assert node_roles(graph, partition, hub_z=1.5)["hub"].sum() > 5
