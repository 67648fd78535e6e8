import bct
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from module_graphs import bridged_cliques, random_weights, star, weight_matrices

from biobgt.base.errors import InputError
from biobgt.data.graph import lattice_graph, random_graph
from biobgt.modules import small_world
from biobgt.modules.structure import _mean_clustering, characteristic_path_length


def test_bridged_cliques_by_hand():
    result = small_world(bridged_cliques(4), n_nulls=2)
    # Six regions have clustering 1, the bridge's ends 3 of 6 pairs of neighbours.
    assert result.clustering == pytest.approx((6 * 1 + 2 * 0.5) / 8)
    # 13 pairs at 1, 3 + 3 at 2, 9 at 3.
    assert result.path_length == pytest.approx((13 + 6 * 2 + 9 * 3) / 28)
    assert result.n_left_out == 0


@given(weight_matrices(least=0.0))
def test_path_length_as_in_bctpy(weights):
    lengths = bct.weight_conversion(weights, "lengths")
    distances, _ = bct.distance_wei(lengths)
    reached = [
        distances[i, j]
        for i in range(len(weights))
        for j in range(len(weights))
        if i != j and np.isfinite(distances[i, j]) and distances[i, j] > 0
    ]
    expected = np.mean(reached) if reached else np.nan
    assert characteristic_path_length(weights) == pytest.approx(expected, abs=1e-10, nan_ok=True)


def test_clustering_as_in_networkx():
    weights = random_weights(20, 0)
    weights /= weights.max()
    expected = nx.average_clustering(nx.from_numpy_array(weights), weight="weight")
    assert _mean_clustering(weights) == pytest.approx(expected)


def test_sigma_and_omega_from_the_nulls():
    weights = random_weights(25, 1, density=0.3)
    weights /= weights.max()
    result = small_world(weights, n_nulls=3, seed=4)
    randoms = [random_graph(weights, seed=seed) for seed in (4, 5, 6)]
    lattices = [lattice_graph(weights, seed=seed) for seed in (4, 5, 6)]
    clustering, length = (np.mean([f(g) for g in randoms]) for f in (_mean_clustering, characteristic_path_length))
    lattice = np.mean([_mean_clustering(g) for g in lattices])
    assert result.sigma == pytest.approx((result.clustering / clustering) / (result.path_length / length))
    assert result.omega == pytest.approx(length / result.path_length - result.clustering / lattice)


def test_watts_and_strogatz():
    lattice, small, random = (
        small_world(nx.to_numpy_array(nx.connected_watts_strogatz_graph(60, 6, p, seed=0)), n_nulls=3)
        for p in (0.0, 0.1, 1.0)
    )
    assert lattice.omega < -0.3 < small.omega < 0.5 < random.omega
    assert small.sigma > 2 > random.sigma
    assert random.sigma == pytest.approx(1, abs=0.35)


def test_the_unit_of_the_weights_does_not_matter():
    weights = random_weights(15, 2)
    assert small_world(weights, n_nulls=2) == small_world(weights * 4, n_nulls=2)


def test_unweighted():
    weights = random_weights(15, 3)
    assert small_world(weights, n_nulls=2, weighted=False).clustering == pytest.approx(
        bct.clustering_coef_bu((weights > 0).astype(float)).mean()
    )


def test_the_largest_component_is_measured_and_said():
    weights = np.zeros((12, 12))
    weights[:3, :3] = 1 - np.eye(3)
    weights[3:11, 3:11] = bridged_cliques(4)
    result = small_world(weights, n_nulls=2)
    whole = small_world(bridged_cliques(4), n_nulls=2)
    assert (result.n_regions, result.n_left_out) == (8, 4)
    assert (result.clustering, result.path_length, result.sigma) == (whole.clustering, whole.path_length, whole.sigma)


def test_no_triangles():
    result = small_world(star(6), n_nulls=2)
    assert result.clustering == 0
    assert result.path_length == pytest.approx((5 + 10 * 2) / 15)
    assert np.isnan([result.sigma, result.omega]).all()


def test_no_connections():
    result = small_world(np.zeros((4, 4)))
    assert (result.n_regions, result.n_left_out) == (1, 3)
    assert np.isnan([result.path_length, result.sigma, result.omega]).all()


def test_two_regions():
    assert small_world(np.array([[0, 0.5], [0.5, 0]]), n_nulls=1).path_length == 1


def test_the_seed_decides():
    weights = random_weights(20, 4, density=0.3)
    assert small_world(weights, n_nulls=2, seed=1) == small_world(weights, n_nulls=2, seed=1)
    assert small_world(weights, n_nulls=2, seed=1) != small_world(weights, n_nulls=2, seed=2)


def test_bad_input():
    with pytest.raises(InputError, match=r"Small-worldness is not defined for negative weights.*regions 1 and 2"):
        small_world(np.array([[0, -1], [-1, 0.0]]))
    with pytest.raises(InputError, match="number of null graphs is 0"):
        small_world(bridged_cliques(), n_nulls=0)
