"""Louvain modules, sweeps of the resolution and consensus: by hand, and against bctpy and networkx."""

import warnings
from itertools import product

import bct
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from module_graphs import bridged_cliques, communities, karate_club, random_weights, ring_of_cliques, weight_matrices
from sklearn.metrics import adjusted_mutual_info_score

from biobgt import load_atlas
from biobgt.base.errors import InputError
from biobgt.data.graph import BrainGraph
from biobgt.modules import (
    canonical_labels,
    combine_partitions,
    consensus_modules,
    louvain,
    louvain_modules,
    modularity,
    module_agreement,
    resolution_sweep,
)

CLIQUES = [module for module in range(1, 7) for _ in range(5)]
ISOLATED = np.pad(bridged_cliques(4), 1)
# bctpy's own objective divides by the sum of weights, and returns every region as a module where that is zero or less.
SUM_OF_ZERO = np.array([[0, 1, -1, 0], [1, 0, 0, -1], [-1, 0, 0, 1], [0, -1, 1, 0.0]])
SUM_BELOW = np.kron(2 * np.eye(3) - 1, np.ones((4, 4))) - np.eye(12)


@pytest.mark.parametrize(
    ("weights", "labels", "q"),
    [
        # 12 of 13 connections inside; each module holds half of the strength.
        (bridged_cliques(4), [1] * 4 + [2] * 4, 12 / 13 - 2 * (1 / 2) ** 2),
        (ring_of_cliques(6, 5), CLIQUES, 60 / 66 - 6 * (22 / 132) ** 2),
        (nx.to_numpy_array(nx.barbell_graph(5, 0)), [1] * 5 + [2] * 5, 20 / 21 - 1 / 2),
        (1 - np.eye(6), [1] * 6, 0),
        (np.eye(5) - 1, [1, 2, 3, 4, 5], 1 / 5),  # negative weights alone keep all regions apart
        (SUM_OF_ZERO, [1, 1, 2, 2], None),
        (SUM_BELOW, [1] * 4 + [2] * 4 + [3] * 4, None),
        (ISOLATED, [0, 1, 1, 1, 1, 2, 2, 2, 2, 0], 12 / 13 - 1 / 2),  # isolated regions are in no module
        (np.zeros((4, 4)), [0, 0, 0, 0], np.nan),
    ],
)
def test_modules_that_are_seen_with_the_eye(weights, labels, q):
    partition = louvain_modules(weights, runs=5)
    assert partition.labels.tolist() == labels
    assert q is None or partition.q == pytest.approx(q, abs=1e-12, nan_ok=True)
    assert partition.signed == (weights < 0).any()
    assert partition.n_modules == len(set(labels) - {0})


def test_karate_club_reaches_the_known_optimum():
    partition = louvain_modules(karate_club(), runs=50)
    assert partition.n_modules == 4
    assert partition.q == pytest.approx(0.4197896, abs=1e-6)


@pytest.mark.parametrize(
    ("resolution", "signed", "own"),
    [(0.5, False, "modularity"), (1.0, False, "modularity"), (1.7, False, "modularity"), (1.0, True, "negative_asym")],
)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_modules_as_in_bctpy_itself(resolution, signed, own, seed):
    weights = random_weights(40, seed, signed=signed) + 0.3 * signed * (1 - np.eye(40))
    labels, q = bct.community_louvain(weights, gamma=resolution, B=own, seed=seed)
    partition = louvain_modules(weights, resolution=resolution, seed=seed, runs=1)
    assert (partition.labels == canonical_labels(labels)).all()
    assert partition.q == pytest.approx(q, abs=1e-10)


@given(weight_matrices(least=0), st.data())
def test_modularity_as_in_networkx(weights, data):
    labels = data.draw(st.lists(st.integers(1, 3), min_size=len(weights), max_size=len(weights)))
    q = modularity(weights, labels, resolution=1.3)
    if not weights.any():
        assert np.isnan(q)
        return
    graph = nx.from_numpy_array(weights)
    assert q == pytest.approx(nx.community.modularity(graph, communities(weights, labels), resolution=1.3), abs=1e-10)


def test_signed_modularity_by_hand():
    weights = random_weights(8, 3, signed=True)
    labels = [1, 1, 1, 2, 2, 2, 3, 3]
    plus, minus = np.maximum(weights, 0), np.maximum(-weights, 0)
    expected = 0.0
    for i, j in product(range(8), repeat=2):
        if labels[i] == labels[j]:
            expected += (plus[i, j] - plus[i].sum() * plus[j].sum() / plus.sum()) / plus.sum()
            expected -= (minus[i, j] - minus[i].sum() * minus[j].sum() / minus.sum()) / (plus.sum() + minus.sum())
    assert modularity(weights, labels) == pytest.approx(expected, abs=1e-12)


def test_regions_labelled_zero_share_a_module_with_nobody():
    weights = bridged_cliques()
    assert modularity(weights, [0, 0, 1, 1, 2, 2, 0, 2]) == pytest.approx(
        modularity(weights, [3, 4, 1, 1, 2, 2, 5, 2]), abs=1e-12
    )


@given(weight_matrices(), st.randoms(use_true_random=False))
def test_relabelling_the_regions_permutes_everything(weights, random):
    order = list(range(len(weights)))
    random.shuffle(order)
    partition = louvain_modules(weights, runs=1)
    moved = modularity(weights[np.ix_(order, order)], partition.labels[order])
    assert moved == pytest.approx(partition.q, abs=1e-10, nan_ok=True)
    assert ((partition.labels == 0) == ~weights.any(axis=0)).all()


@given(weight_matrices())
def test_q_is_that_of_the_labels_and_no_worse_than_singletons_or_one_module(weights):
    partition = louvain_modules(weights, runs=3)
    assert partition.q == pytest.approx(modularity(weights, partition.labels), abs=1e-10, nan_ok=True)
    if weights.any():
        assert partition.q >= modularity(weights, np.arange(1, len(weights) + 1)) - 1e-9


@pytest.mark.parametrize("scale", [2.0**-40, 2.0**40])
def test_the_unit_of_the_weights_does_not_matter(scale):
    weights = random_weights(30, 4)
    assert (louvain_modules(weights * scale, runs=1).labels == louvain_modules(weights, runs=1).labels).all()


def test_the_seed_decides():
    weights = random_weights(60, 5, density=0.2)
    again = [louvain_modules(weights, seed=3, runs=1).labels for _ in range(2)]
    assert (again[0] == again[1]).all()
    assert len({tuple(louvain_modules(weights, seed=seed, runs=1).labels) for seed in range(10)}) > 1


def test_the_global_random_state_is_left_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    louvain_modules(random_weights(20, 5), seed=4, runs=3)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


def test_more_runs_keep_the_best():
    weights = random_weights(60, 6, density=0.2)
    qualities = [louvain_modules(weights, seed=1, runs=runs).q for runs in (1, 5, 20)]
    assert qualities == sorted(qualities)
    assert qualities[0] < qualities[-1]


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"resolution": 0}, "resolution is 0"),
        ({"resolution": np.nan}, "resolution is nan"),
        ({"runs": 0}, "runs is 0"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_bad_options(options, word):
    with pytest.raises(InputError, match=word):
        louvain_modules(bridged_cliques(), **options)
    with pytest.raises(InputError, match="runs is 1"):
        resolution_sweep(bridged_cliques(), [1.0], runs=1)


def test_sweep_of_a_ring_of_cliques_and_of_an_empty_graph():
    coarse, fine = resolution_sweep(ring_of_cliques(6, 5), [0.1, 1.0], runs=4).itertuples()
    assert (coarse.resolution, fine.resolution) == (0.1, 1.0)
    assert coarse.n_modules < fine.n_modules == 6
    assert fine.stability == 1
    (nothing,) = resolution_sweep(np.zeros((4, 4)), [1.0], runs=2).itertuples()
    assert nothing.n_modules == 0
    assert np.isnan([nothing.q, nothing.stability]).all()


def test_sweep_rows_are_louvain_modules_and_all_pairs():
    graph = BrainGraph(random_weights(90, 7, density=0.2), load_atlas("aal90"))
    row = resolution_sweep(graph, [1.2], runs=5, seed=9).iloc[0]
    best = louvain_modules(graph, resolution=1.2, runs=5, seed=9)
    assert row["q"] == best.q
    assert row["n_modules"] == best.n_modules
    for name in ("dosenbach", "paper"):
        assert row[f"ami {name}"] == pytest.approx(module_agreement(best, graph.atlas, name).ami)
    stream = np.random.RandomState(9)
    runs = [bct.community_louvain(graph.weights, gamma=1.2, seed=stream)[0] for _ in range(5)]
    pairs = [adjusted_mutual_info_score(runs[i], runs[j]) for i in range(5) for j in range(i)]
    assert row["stability"] == pytest.approx(np.mean(pairs), abs=1e-10)


def test_agreement_as_in_bctpy():
    labels = np.random.default_rng(0).integers(1, 5, (6, 20))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # bctpy sums a generator
        expected = bct.agreement(labels.T) / 6
    assert combine_partitions(list(labels)).agreement == pytest.approx(expected)


def test_agreement_and_its_mean_over_shuffles_by_hand():
    agreement = combine_partitions([[1, 1, 2, 0, 0], [1, 1, 1, 0, 0]]).agreement
    expected = np.zeros((5, 5))  # two regions in no module do not agree with one another
    expected[:3, :3] = [[0, 1, 0.5], [1, 0, 0.5], [0.5, 0.5, 0]]
    assert (agreement == expected).all()
    labels = [[1, 1, 1, 2, 2, 3, 0], [1, 1, 2, 2, 3, 3, 3]]
    rng = np.random.default_rng(0)
    shuffled = combine_partitions([rng.permutation(part) for part in labels])
    # Shuffling moves no pair in or out of a module, so each shuffle has the expected mean exactly.
    mean = shuffled.agreement[~np.eye(7, dtype=bool)].mean()
    assert mean == pytest.approx(combine_partitions(labels).threshold)
    assert shuffled.threshold == pytest.approx(((6 + 2) + (2 + 2 + 6)) / 2 / 42)


def test_consensus_of_a_ring_of_cliques():
    partition = consensus_modules(ring_of_cliques(6, 5), runs=10)
    assert partition.labels.tolist() == CLIQUES
    assert partition.converged
    assert partition.q == pytest.approx(louvain_modules(ring_of_cliques(6, 5)).q)
    with pytest.raises(ValueError, match="read-only"):
        partition.agreement[0, 1] = 2


@pytest.mark.parametrize("seed", [0, 1])
def test_consensus_as_in_bctpy(seed):
    weights = ring_of_cliques(6, 5) + 0.8 * random_weights(30, seed, density=1)
    partition = consensus_modules(weights, runs=20, seed=seed, threshold=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        expected = bct.consensus_und(partition.agreement.copy(), 0.5, reps=20, seed=seed)
    assert (partition.labels == canonical_labels(expected)).all()


def test_consensus_is_steadier_than_single_runs():
    weights = random_weights(60, 3, density=0.2)

    def similarity(partitions):
        labels = [partition.labels for partition in partitions]
        return np.mean([adjusted_mutual_info_score(labels[i], labels[j]) for i in range(6) for j in range(i)])

    single = similarity([louvain_modules(weights, seed=seed, runs=1) for seed in range(6)])
    partitions = [consensus_modules(weights, runs=20, seed=100 * seed) for seed in range(6)]
    assert all(partition.converged for partition in partitions)
    assert single < similarity(partitions)


@pytest.mark.parametrize(
    ("partitions", "expected"),
    [
        ([[1, 1, 2, 2], [2, 2, 1, 1], [1, 1, 1, 2]], [1, 1, 2, 2]),
        ([[1, 2, 3], [1, 2, 3]], [1, 2, 3]),  # no agreement at all
        ([[0, 0], [0, 0]], [0, 0]),
        # The majority decides who is in no module, and half is none.
        ([[1, 1, 1, 2, 2], [1, 1, 1, 2, 2], [1, 1, 0, 2, 2]], [1, 1, 1, 2, 2]),
        ([[1, 1, 1, 2, 2], [1, 1, 0, 2, 2], [1, 1, 0, 2, 2]], [1, 1, 0, 2, 2]),
        ([[1, 1, 1, 2, 2], [1, 1, 0, 2, 2]], [1, 1, 1, 2, 2]),
    ],
)
def test_combining_by_hand(partitions, expected):
    partition = combine_partitions(partitions)
    assert partition.labels.tolist() == expected
    assert np.isnan(partition.q)


def test_regions_without_agreement_are_modules_of_their_own():
    partition = combine_partitions([[1, 1, 2, 3], [1, 1, 2, 2], [1, 1, 2, 1]], threshold=0.9)
    assert partition.labels.tolist() == [1, 1, 2, 3]


def test_a_consensus_that_does_not_come_ends_and_says_so(monkeypatch):
    monkeypatch.setattr(louvain, "_MOST_ROUNDS", 1)
    ring = np.roll(np.eye(30), 1, axis=0) + np.roll(np.eye(30), -1, axis=0)
    partition = consensus_modules(ring, runs=10, threshold=0.0)
    assert not partition.converged
    assert partition.n_modules > 1


@pytest.mark.parametrize(
    ("partitions", "options", "word"),
    [
        ([[1, 2]], {}, "partitions is 1"),
        ([[1, 2], [1, 2, 3]], {}, "2 and 3 regions"),
        ([[1, 2], [1, 2]], {"threshold": 2}, "between 0 and 1"),
    ],
)
def test_partitions_that_cannot_be_combined(partitions, options, word):
    with pytest.raises(InputError, match=word):
        combine_partitions(partitions, **options)
