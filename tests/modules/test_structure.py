"""Roles of regions, segregation, modularity against chance and small-worldness: by hand, and against oracles."""

from itertools import permutations

import bct
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from module_graphs import bridged_cliques, karate_club, random_weights, ring_of_cliques, star, weight_matrices

from biobgt.base.errors import InputError
from biobgt.data.atlas import numbered_atlas
from biobgt.data.connectivity import graph_from_connectivity
from biobgt.data.graph import BrainGraph, ConnectomeSettings, lattice_graph, random_graph
from biobgt.modules import louvain_modules, modularity_test, node_roles, segregation, small_world
from biobgt.modules.structure import _ROLES, _mean_clustering, _role, characteristic_path_length

HALVES = [1, 1, 1, 1, 2, 2, 2, 2]


@pytest.mark.parametrize(
    ("z", "p", "role"),
    [
        (0, 0.0, "R1"), (0, 0.05, "R1"), (0, 0.06, "R2"), (2.49, 0.62, "R2"), (0, 0.63, "R3"), (0, 0.8, "R3"),
        (0, 0.81, "R4"), (2.5, 0.0, "R5"), (3, 0.3, "R5"), (3, 0.31, "R6"), (3, 0.75, "R6"), (3, 0.76, "R7"),
        (np.nan, 0.3, None), (1, np.nan, None),
    ],
)  # fmt: skip
def test_borders_of_the_roles(z, p, role):
    assert _role(z, p, 2.5) == role


def test_roles_in_bridged_cliques_by_hand():
    roles = node_roles(bridged_cliques(), HALVES)
    # Only the two ends of the bridge have a connection outside: 3 of 4 inside.
    ends = 1 - (3 / 4) ** 2 - (1 / 4) ** 2
    assert roles["participation"].tolist() == pytest.approx([0, 0, 0, ends, ends, 0, 0, 0])
    assert roles["within_z"].tolist() == [0] * 8  # inside a clique all are equal
    assert roles["role"].tolist() == ["R1", "R1", "R1", "R2", "R2", "R1", "R1", "R1"]
    assert roles.index.tolist() == list(range(1, 9))


def test_the_centre_of_a_star_is_a_provincial_hub_and_joined_to_another_a_connector():
    roles = node_roles(star(12), [1] * 12)
    # Strengths 11 and eleven times 1: z of the centre is the square root of 11.
    assert roles["within_z"].iloc[0] == pytest.approx(np.sqrt(11))
    assert roles["role_name"].iloc[0] == "provincial hub"
    assert roles["hub"].tolist() == [True] + [False] * 11
    joined = np.kron(np.eye(2), star(12))
    joined[0, 12:18] = joined[12:18, 0] = 1
    names = node_roles(joined, [1] * 12 + [2] * 12)["role_name"]
    assert (names.iloc[0], names.iloc[12]) == ("connector hub", "provincial hub")


@given(weight_matrices(least=0), st.data())
def test_roles_as_in_slow_loops(weights, data):
    n = len(weights)
    labels = data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    roles = node_roles(weights, labels)
    for i in range(n):
        strength = sum(weights[i])
        shares = [sum(weights[i, j] for j in range(n) if labels[j] == m) / strength for m in (1, 2, 3) if strength]
        expected = 1 - sum(share**2 for share in shares) if strength else 0
        assert roles["participation"].iloc[i] == pytest.approx(expected, abs=1e-10)
        fellows = [j for j in range(n) if labels[j] == labels[i]]
        inside = {j: sum(weights[j, k] for k in fellows) for j in fellows}
        spread = np.std(list(inside.values()))
        expected = (inside[i] - np.mean(list(inside.values()))) / spread if spread > 1e-12 else 0
        assert roles["within_z"].iloc[i] == pytest.approx(expected, abs=1e-6)


def test_rounding_makes_no_hubs():
    clique = 0.1 * (1 - np.eye(37))
    assert np.abs(bct.module_degree_zscore(clique, np.ones(37))).max() > 0.5  # the sums differ in the last digit
    assert node_roles(clique, [1] * 37)["within_z"].tolist() == [0] * 37


def test_modules_of_one_and_regions_in_none():
    roles = node_roles(bridged_cliques(), [1, 1, 1, 2, 3, 3, 3, 0])
    assert roles["within_z"].iloc[3] == 0
    nowhere = roles.iloc[7]
    assert nowhere[["within_z", "participation"]].isna().all()
    assert (nowhere["role"], nowhere["role_name"], nowhere["hub"]) == (None, None, False)
    # The connections of region 5 to the region in no module do not count: 2 inside, 1 to module 2.
    assert roles["participation"].iloc[4] == pytest.approx(1 - (2 / 3) ** 2 - (1 / 3) ** 2)


def test_negative_connections_do_not_count():
    weights = random_weights(12, 1, signed=True)
    labels = np.arange(12) % 3 + 1
    assert node_roles(weights, labels).equals(node_roles(np.maximum(weights, 0), labels))


def test_the_hub_threshold_is_an_option():
    weights = random_weights(40, 2, density=0.3)
    labels = np.arange(40) % 2 + 1
    assert not node_roles(weights, labels)["hub"].any()
    low = node_roles(weights, labels, hub_z=1.0)
    assert low["hub"].any()
    assert set(low.loc[low["hub"], "role"]) <= {"R5", "R6", "R7"}
    with pytest.raises(InputError, match="hub threshold"):
        node_roles(weights, labels, hub_z=np.nan)


def test_region_names_come_along():
    graph = BrainGraph(weights=bridged_cliques(), atlas=numbered_atlas(8, names="abcdefgh"))
    roles = node_roles(graph, HALVES)
    assert roles["region"].tolist() == list("abcdefgh")
    assert set(roles["role_name"]) <= set(_ROLES.values())


@given(weight_matrices(), st.randoms(use_true_random=False))
def test_relabelling_the_regions_permutes_the_roles(weights, random):
    labels = np.arange(len(weights)) % 2 + 1
    order = list(range(len(weights)))
    random.shuffle(order)
    moved = node_roles(weights[np.ix_(order, order)], labels[order])
    expected = node_roles(weights, labels).iloc[order]
    for column in ("within_z", "participation"):
        assert moved[column].to_numpy() == pytest.approx(expected[column].to_numpy(), abs=1e-6)


PAIRS = [1, 1, 2, 2]


def correlations(within=0.6, between=0.2):
    matrix = np.full((4, 4), between)
    matrix[:2, :2] = matrix[2:, 2:] = within
    np.fill_diagonal(matrix, 1)
    return matrix


def test_segregation_by_hand():
    result = segregation(correlations(), PAIRS)
    within, between = np.arctanh(0.6), np.arctanh(0.2)
    whole = (within - between) / within
    assert (result.within, result.between, result.system_segregation) == pytest.approx((within, between, whole))
    expected = [[1, 2, within, between, whole], [2, 2, within, between, whole]]
    np.testing.assert_allclose(result.modules.to_numpy(), expected)


def test_segregation_as_in_slow_loops():
    matrix = random_weights(15, 0, density=1, signed=True) * 0.9
    labels = np.arange(15) % 4  # 0 is in no module
    result = segregation(matrix, labels)
    inside, across = {m: [] for m in (1, 2, 3)}, {m: [] for m in (1, 2, 3)}
    for i, j in permutations(range(15), 2):
        if labels[i] and labels[j]:
            pairs = inside if labels[i] == labels[j] else across
            pairs[labels[i]].append(np.arctanh(max(matrix[i, j], 0)))
    for row in result.modules.itertuples():
        assert row.within == pytest.approx(np.mean(inside[row.module]))
        assert row.between == pytest.approx(np.mean(across[row.module]))
    assert result.within == pytest.approx(np.mean(np.concatenate([*inside.values()])))
    assert result.between == pytest.approx(np.mean(np.concatenate([*across.values()])))


def test_negative_connectivity_counts_as_zero():
    result = segregation(correlations(between=-0.2), PAIRS)
    assert (result.between, result.system_segregation) == (0, 1)


def test_fisher_z_is_taken_once():
    matrix = correlations()
    once = segregation(matrix, PAIRS)
    graph = graph_from_connectivity(
        np.arctanh(np.where(np.eye(4) == 1, 0, matrix)),
        ConnectomeSettings(estimator="fisher-z", threshold="none"),
        atlas=numbered_atlas(4),
    )
    assert segregation(graph, PAIRS).within == pytest.approx(once.within)
    assert segregation(matrix, PAIRS, fisher=False).within == pytest.approx(0.6)
    with pytest.raises(InputError, match="±1"):
        segregation(2 * matrix, PAIRS)


@pytest.mark.parametrize(
    ("labels", "missing"),
    [([1, 1, 1, 1], ("between",)), ([1, 2, 3, 4], ("within",)), ([0, 0, 0, 0], ("within", "between"))],
)
def test_segregation_without_pairs_has_no_number(labels, missing):
    result = segregation(correlations(), labels)
    assert np.isnan([result.system_segregation, *(getattr(result, name) for name in missing)]).all()
    assert len(result.modules) == len(set(labels) - {0})


def test_modularity_of_cliques_is_beyond_chance():
    weights = ring_of_cliques(6, 5)
    partition = louvain_modules(weights, runs=1)
    test = modularity_test(weights, partition, n_nulls=19)
    assert test.q == pytest.approx(partition.q)
    assert test.p == pytest.approx(1 / 20)
    assert test.z > 5
    assert (test.null < test.q).all()


def test_modularity_of_a_random_graph_is_chance():
    weights = random_graph(karate_club(), seed=50)
    test = modularity_test(weights, louvain_modules(weights, runs=1), n_nulls=19)
    assert test.p > 0.05
    assert test.null.mean() > 0.2  # and yet far above zero: why nulls are needed


def test_nulls_can_be_made_again():
    weights = karate_club()
    labels = louvain_modules(weights, runs=1).labels
    fitted = modularity_test(weights, labels, n_nulls=3, seed=7)
    nulls = {s: random_graph(weights, seed=s) for s in (7, 8, 9)}
    assert fitted.null.tolist() == [louvain_modules(null, seed=s, runs=10).q for s, null in nulls.items()]
    once = modularity_test(weights, labels, n_nulls=3, seed=7, runs=1)
    assert once.null.tolist() == [louvain_modules(null, seed=s, runs=1).q for s, null in nulls.items()]
    assert (once.null <= fitted.null).all()
    assert once.null.mean() < fitted.null.mean()  # so that modules that are the best of ten need nulls of ten
    assert once.z == pytest.approx((once.q - once.null.mean()) / once.null.std(ddof=1))


def test_p_counts_nulls_that_are_as_modular():
    # Nothing in a clique can be swapped: every null is the graph itself.
    test = modularity_test(1 - np.eye(5), [1] * 5, n_nulls=4)
    assert test.p == 1
    assert np.isnan(test.z)


def test_without_nulls_or_connections_there_is_no_p():
    test = modularity_test(bridged_cliques(), HALVES, n_nulls=0)
    assert np.isnan([test.z, test.p]).all()
    assert test.q == pytest.approx(12 / 13 - 0.5)
    empty = modularity_test(np.zeros((3, 3)), [1, 1, 2], n_nulls=2)
    assert np.isnan([segregation(np.zeros((3, 3)), [1, 1, 2]).system_segregation, empty.q, empty.z, empty.p]).all()


def test_the_number_of_null_graphs_is_checked():
    with pytest.raises(InputError, match="null graphs is -1"):
        modularity_test(bridged_cliques(), [1] * 8, n_nulls=-1)
    with pytest.raises(InputError, match="null graphs is 0"):
        small_world(bridged_cliques(), n_nulls=0)


@pytest.mark.parametrize(
    ("weights", "clustering", "path_length", "n_left_out"),
    [
        # Six regions have clustering 1, the bridge's ends 3 of 6 pairs of neighbours; 13 pairs at 1, 6 at 2, 9 at 3.
        (bridged_cliques(4), (6 * 1 + 2 * 0.5) / 8, (13 + 6 * 2 + 9 * 3) / 28, 0),
        (star(6), 0, (5 + 10 * 2) / 15, 0),  # no triangles
        (np.array([[0, 0.5], [0.5, 0]]), 0, 1, 0),
        (np.zeros((4, 4)), 0, np.nan, 3),
    ],
)
def test_small_world_by_hand(weights, clustering, path_length, n_left_out):
    result = small_world(weights, n_nulls=2)
    assert result.clustering == pytest.approx(clustering)
    assert result.path_length == pytest.approx(path_length, nan_ok=True)
    assert result.n_left_out == n_left_out
    assert (np.isnan([result.sigma, result.omega]) == (clustering == 0)).all()


@given(weight_matrices(least=0.0))
def test_path_length_as_in_bctpy(weights):
    distances, _ = bct.distance_wei(bct.weight_conversion(weights, "lengths"))
    reached = distances[np.isfinite(distances) & (distances > 0)]
    expected = reached.mean() if len(reached) else np.nan
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


def test_small_world_does_not_depend_on_the_unit_of_the_weights():
    weights = random_weights(15, 2)
    assert small_world(weights, n_nulls=2) == small_world(weights * 4, n_nulls=2)


def test_the_largest_component_is_measured_and_said():
    weights = np.zeros((12, 12))
    weights[:3, :3] = 1 - np.eye(3)
    weights[3:11, 3:11] = bridged_cliques(4)
    result = small_world(weights, n_nulls=2)
    whole = small_world(bridged_cliques(4), n_nulls=2)
    assert result.n_left_out == 4
    assert (result.clustering, result.path_length, result.sigma) == (whole.clustering, whole.path_length, whole.sigma)


def test_small_world_has_no_negative_weights():
    with pytest.raises(InputError, match="negative"):
        small_world(np.array([[0, -1], [-1, 0.0]]))


@pytest.mark.parametrize("signed", [False, True])
def test_pooled_modularity_test_is_the_whole_one(signed):
    weights = random_weights(20, seed=3, signed=signed)
    modules = louvain_modules(weights, runs=3)
    whole = modularity_test(weights, modules, n_nulls=6, seed=5)
    first, *others = (modularity_test(weights, modules, n_nulls=1, seed=5 + i) for i in range(6))
    pooled = first.pooled_with(others)
    np.testing.assert_allclose(pooled.null, whole.null)
    assert (pooled.q, pooled.p, pooled.seed) == (whole.q, whole.p, whole.seed)
    assert pooled.z == pytest.approx(whole.z)


def test_pooled_small_world_is_the_whole_one():
    weights = random_weights(16, seed=2, density=0.6)
    whole = small_world(weights, n_nulls=3, seed=4)
    first, *others = (small_world(weights, n_nulls=1, seed=4 + i) for i in range(3))
    pooled = first.pooled_with(others)
    for name in ("sigma", "omega", "random_clustering", "random_path_length", "lattice_clustering"):
        assert getattr(pooled, name) == pytest.approx(getattr(whole, name)), name
    assert (pooled.n_nulls, pooled.seed) == (3, 4)


def test_different_questions_are_not_pooled():
    one, other = random_weights(10, seed=0), random_weights(10, seed=1)
    tests = [modularity_test(graph, [1] * 5 + [2] * 5, n_nulls=1) for graph in (one, other)]
    with pytest.raises(InputError, match="different modules"):
        tests[0].pooled_with(tests[1:])
    with pytest.raises(InputError, match="different graphs"):
        small_world(one, n_nulls=1).pooled_with([small_world(other, n_nulls=1)])
