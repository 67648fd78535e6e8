import warnings

import bct
import numpy as np
import pytest
from module_graphs import random_weights, ring_of_cliques
from sklearn.metrics import adjusted_mutual_info_score

from biobgt.base.errors import InputError
from biobgt.modules import canonical_labels, combine_partitions, consensus_modules, louvain_modules
from biobgt.modules import louvain as consensus

CLIQUES = [module for module in range(1, 7) for _ in range(5)]


def noisy(weights, seed, amount=0.3):
    return weights + amount * random_weights(len(weights), seed, density=1)


def test_agreement_by_hand():
    agreement = combine_partitions([[1, 1, 2, 0, 0], [1, 1, 1, 0, 0]]).agreement
    expected = np.zeros((5, 5))  # two regions in no module do not agree with one another
    expected[:3, :3] = [[0, 1, 0.5], [1, 0, 0.5], [0.5, 0.5, 0]]
    assert (agreement == expected).all()


def test_agreement_as_in_bctpy():
    labels = np.random.default_rng(0).integers(1, 5, (6, 20))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # bctpy sums a generator
        expected = bct.agreement(labels.T) / 6
    assert combine_partitions(list(labels)).agreement == pytest.approx(expected)


def test_chance_agreement_is_the_mean_over_shuffles():
    labels = [[1, 1, 1, 2, 2, 3, 0], [1, 1, 2, 2, 3, 3, 3]]
    rng = np.random.default_rng(0)
    pairs = ~np.eye(7, dtype=bool)
    shuffled = combine_partitions([rng.permutation(part) for part in labels])
    # Shuffling moves no pair in or out of a module, so each shuffle has the expected mean exactly.
    assert shuffled.agreement[pairs].mean() == pytest.approx(combine_partitions(labels).threshold)
    assert shuffled.threshold == pytest.approx(((6 + 2) + (2 + 2 + 6)) / 2 / 42)


def test_consensus_of_a_ring_of_cliques():
    partition = consensus_modules(ring_of_cliques(6, 5), runs=10)
    assert partition.labels.tolist() == CLIQUES
    assert partition.converged
    assert partition.similarity == pytest.approx(1)
    assert partition.n_partitions == 10
    assert partition.q == pytest.approx(louvain_modules(ring_of_cliques(6, 5)).q)
    with pytest.raises(ValueError, match="read-only"):
        partition.agreement[0, 1] = 2


@pytest.mark.parametrize("seed", [0, 1])
def test_consensus_as_in_bctpy(seed):
    weights = noisy(ring_of_cliques(6, 5), seed, amount=0.8)
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


def test_combining_by_hand():
    partition = combine_partitions([[1, 1, 2, 2], [2, 2, 1, 1], [1, 1, 1, 2]])
    assert partition.labels.tolist() == [1, 1, 2, 2]
    assert np.isnan(partition.q)
    assert partition.threshold == pytest.approx((4 + 4 + 6) / 12 / 3)


def test_regions_without_agreement_are_modules_of_their_own():
    partition = combine_partitions([[1, 1, 2, 3], [1, 1, 2, 2], [1, 1, 2, 1]], threshold=0.9)
    assert partition.labels.tolist() == [1, 1, 2, 3]


def test_no_agreement_at_all():
    assert combine_partitions([[1, 2, 3], [1, 2, 3]]).labels.tolist() == [1, 2, 3]
    assert combine_partitions([[0, 0], [0, 0]]).labels.tolist() == [0, 0]
    assert np.isnan(combine_partitions([[0, 0], [0, 0]]).similarity)


def test_the_majority_decides_who_is_in_no_module():
    rarely = combine_partitions([[1, 1, 1, 2, 2], [1, 1, 1, 2, 2], [1, 1, 0, 2, 2]])
    assert rarely.labels.tolist() == [1, 1, 1, 2, 2]
    mostly = combine_partitions([[1, 1, 1, 2, 2], [1, 1, 0, 2, 2], [1, 1, 0, 2, 2]])
    assert mostly.labels.tolist() == [1, 1, 0, 2, 2]
    half = combine_partitions([[1, 1, 1, 2, 2], [1, 1, 0, 2, 2]])
    assert half.labels.tolist() == [1, 1, 1, 2, 2]


def test_a_consensus_that_does_not_come_ends_and_says_so(monkeypatch):
    monkeypatch.setattr(consensus, "_MOST_ROUNDS", 1)
    ring = np.roll(np.eye(30), 1, axis=0) + np.roll(np.eye(30), -1, axis=0)
    partition = consensus_modules(ring, runs=10, threshold=0.0)
    assert not partition.converged
    assert partition.n_modules > 1


def test_bad_input():
    with pytest.raises(InputError, match="number of partitions is 1"):
        combine_partitions([[1, 2]])
    with pytest.raises(InputError, match="2 and 3 regions"):
        combine_partitions([[1, 2], [1, 2, 3]])
    with pytest.raises(InputError, match="between 0 and 1"):
        combine_partitions([[1, 2], [1, 2]], threshold=2)
