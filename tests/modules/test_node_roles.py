import bct
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from module_graphs import bridged_cliques, random_weights, star, weight_matrices

from biobgt.base.errors import InputError
from biobgt.data.atlas import numbered_atlas
from biobgt.data.graph import BrainGraph
from biobgt.modules import ROLES, guimera_amaral_role, node_roles

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
    assert guimera_amaral_role(z, p) == role


def test_bridged_cliques_by_hand():
    roles = node_roles(bridged_cliques(), HALVES)
    # Only the two ends of the bridge have a connection outside: 3 of 4 inside.
    ends = 1 - (3 / 4) ** 2 - (1 / 4) ** 2
    assert roles["participation"].tolist() == pytest.approx([0, 0, 0, ends, ends, 0, 0, 0])
    assert roles["within_z"].tolist() == [0] * 8  # inside a clique all are equal
    assert roles["role"].tolist() == ["R1", "R1", "R1", "R2", "R2", "R1", "R1", "R1"]
    assert roles.index.tolist() == list(range(1, 9))


def test_the_centre_of_a_star_is_a_provincial_hub():
    roles = node_roles(star(12), [1] * 12)
    # Strengths 11 and eleven times 1: z of the centre is the square root of 11.
    assert roles["within_z"].iloc[0] == pytest.approx(np.sqrt(11))
    assert roles["role_name"].iloc[0] == "provincial hub"
    assert roles["hub"].tolist() == [True] + [False] * 11


def test_two_joined_stars_have_connector_hubs():
    weights = np.kron(np.eye(2), star(12))
    weights[0, 12:18] = weights[12:18, 0] = 1
    roles = node_roles(weights, [1] * 12 + [2] * 12)
    assert roles["role_name"].iloc[0] == "connector hub"
    assert roles["role_name"].iloc[12] == "provincial hub"


@given(weight_matrices(least=0), st.data())
def test_slow_loops(weights, data):
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


def test_bctpy():
    weights = random_weights(30, 0)
    labels = np.arange(30) % 4 + 1
    roles = node_roles(weights, labels)
    assert roles["within_z"].to_numpy() == pytest.approx(bct.module_degree_zscore(weights, labels), abs=1e-10)
    assert roles["participation"].to_numpy() == pytest.approx(bct.participation_coef(weights, labels), abs=1e-10)


def test_rounding_makes_no_hubs():
    clique = 0.1 * (1 - np.eye(37))
    assert np.abs(bct.module_degree_zscore(clique, np.ones(37))).max() > 0.5  # the sums differ in the last digit
    assert node_roles(clique, [1] * 37)["within_z"].tolist() == [0] * 37


def test_modules_of_one_and_regions_in_none():
    weights = bridged_cliques()
    roles = node_roles(weights, [1, 1, 1, 2, 3, 3, 3, 0])
    assert roles["within_z"].iloc[3] == 0
    assert roles.iloc[7][["within_z", "participation"]].isna().all()
    assert roles["role"].iloc[7] is None
    assert roles["role_name"].iloc[7] is None
    assert not roles["hub"].iloc[7]
    # The connections of region 5 to the region in no module do not count: 2 inside, 1 to module 2.
    assert roles["participation"].iloc[4] == pytest.approx(1 - (2 / 3) ** 2 - (1 / 3) ** 2)


def test_an_empty_graph():
    roles = node_roles(np.zeros((3, 3)), [0, 0, 0])
    assert roles["role"].isna().all()
    assert node_roles(np.zeros((3, 3)), [1, 1, 2])["participation"].tolist() == [0, 0, 0]


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
    assert set(roles["role_name"]) <= set(ROLES.values())


@given(weight_matrices(), st.randoms(use_true_random=False))
def test_relabelling_the_regions_permutes_the_roles(weights, random):
    labels = np.arange(len(weights)) % 2 + 1
    order = list(range(len(weights)))
    random.shuffle(order)
    moved = node_roles(weights[np.ix_(order, order)], labels[order])
    expected = node_roles(weights, labels).iloc[order]
    for column in ("within_z", "participation"):
        assert moved[column].to_numpy() == pytest.approx(expected[column].to_numpy(), abs=1e-6)
