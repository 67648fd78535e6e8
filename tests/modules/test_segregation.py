import numpy as np
import pytest
from module_graphs import bridged_cliques, karate_club, random_weights, ring_of_cliques

from biobgt.base.errors import InputError
from biobgt.data.atlas import numbered_atlas
from biobgt.data.connectivity import graph_from_connectivity
from biobgt.data.graph import ConnectomeSettings, random_graph
from biobgt.modules import louvain_modules, modularity, modularity_test, segregation

HALVES = [1, 1, 2, 2]


def correlations(within=0.6, between=0.2):
    matrix = np.full((4, 4), between)
    matrix[:2, :2] = matrix[2:, 2:] = within
    np.fill_diagonal(matrix, 1)
    return matrix


def test_by_hand():
    result = segregation(correlations(), HALVES)
    within, between = np.arctanh(0.6), np.arctanh(0.2)
    assert result.within == pytest.approx(within)
    assert result.between == pytest.approx(between)
    assert result.system_segregation == pytest.approx((within - between) / within)
    assert result.modules["module"].tolist() == [1, 2]
    assert result.modules["n_regions"].tolist() == [2, 2]
    assert result.modules["within"].tolist() == pytest.approx([within, within])
    assert result.modules["segregation"].tolist() == pytest.approx([result.system_segregation] * 2)


def test_slow_loop():
    matrix = random_weights(15, 0, density=1, signed=True) * 0.9
    labels = np.arange(15) % 4  # 0 is in no module
    result = segregation(matrix, labels, negatives="keep")
    inside, across = {m: [] for m in (1, 2, 3)}, {m: [] for m in (1, 2, 3)}
    for i in range(15):
        for j in range(15):
            if i != j and labels[i] and labels[j]:
                (inside if labels[i] == labels[j] else across)[labels[i]].append(np.arctanh(matrix[i, j]))
    for row in result.modules.itertuples():
        assert row.within == pytest.approx(np.mean(inside[row.module]))
        assert row.between == pytest.approx(np.mean(across[row.module]))
    assert result.within == pytest.approx(np.mean(np.concatenate([*inside.values()])))
    assert result.between == pytest.approx(np.mean(np.concatenate([*across.values()])))
    assert result.n_left_out == 4


def test_negative_connectivity_counts_as_zero_unless_kept():
    matrix = correlations(between=-0.2)
    assert segregation(matrix, HALVES).between == 0
    assert segregation(matrix, HALVES).system_segregation == 1
    assert segregation(matrix, HALVES, negatives="keep").between == pytest.approx(np.arctanh(-0.2))
    assert segregation(matrix, HALVES).modularity.q == segregation(matrix, HALVES, negatives="keep").modularity.q


def test_fisher_z_is_taken_once():
    matrix = correlations()
    once = segregation(matrix, HALVES)
    graph = graph_from_connectivity(
        np.arctanh(np.where(np.eye(4) == 1, 0, matrix)),
        ConnectomeSettings(estimator="fisher-z", threshold="none"),
        atlas=numbered_atlas(4),
    )
    assert segregation(graph, HALVES).within == pytest.approx(once.within)
    assert segregation(matrix, HALVES, fisher=False).within == pytest.approx(0.6)


def test_degenerate_labels():
    one = segregation(correlations(), [1, 1, 1, 1])
    assert np.isnan(one.between)
    assert np.isnan(one.system_segregation)
    alone = segregation(correlations(), [1, 2, 3, 4])
    assert np.isnan(alone.within)
    assert np.isnan(alone.system_segregation)
    none = segregation(correlations(), [0, 0, 0, 0])
    assert none.n_left_out == 4
    assert len(none.modules) == 0


def test_bad_input():
    with pytest.raises(InputError, match="beyond ±1"):
        segregation(2 * correlations(), HALVES)
    with pytest.raises(InputError, match="no rule 'drop'"):
        segregation(correlations(), HALVES, negatives="drop")
    with pytest.raises(InputError, match="number of null graphs is -1"):
        modularity_test(bridged_cliques(), [1] * 8, n_nulls=-1)


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
    kept = modularity_test(weights, labels, n_nulls=3, seed=7, refit=False)
    assert kept.null.tolist() == [modularity(null, labels) for null in nulls.values()]
    assert kept.null.mean() < fitted.null.mean()
    assert kept.z == pytest.approx((kept.q - kept.null.mean()) / kept.null.std(ddof=1))


def test_p_counts_nulls_that_are_as_modular():
    # Nothing in a clique can be swapped: every null is the graph itself.
    test = modularity_test(1 - np.eye(5), [1] * 5, n_nulls=4)
    assert test.p == 1
    assert np.isnan(test.z)


def test_without_nulls():
    test = modularity_test(bridged_cliques(), [1] * 4 + [2] * 4, n_nulls=0)
    assert np.isnan([test.z, test.p]).all()
    assert test.q == pytest.approx(12 / 13 - 0.5)


def test_segregation_hands_the_test_on():
    result = segregation(bridged_cliques(), [1] * 4 + [2] * 4, fisher=False, n_nulls=5, seed=2)
    again = modularity_test(bridged_cliques(), [1] * 4 + [2] * 4, n_nulls=5, seed=2)
    assert (result.modularity.null == again.null).all()


def test_an_empty_graph():
    result = segregation(np.zeros((3, 3)), [1, 1, 2], n_nulls=2)
    assert np.isnan([result.system_segregation, result.modularity.q, result.modularity.p]).all()
