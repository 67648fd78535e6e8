"""Partitions compared, matched, named and averaged over: by hand, and against scikit-learn, bctpy and slow loops."""

from collections import Counter, defaultdict
from itertools import permutations, product
from math import log2

import bct
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from module_graphs import bridged_cliques, label_pairs
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

from biobgt.base.errors import InputError
from biobgt.data.atlas import Atlas, load_atlas
from biobgt.modules import (
    Partition,
    canonical_labels,
    compare_modules,
    louvain_modules,
    match_modules,
    module_agreement,
    module_blocks,
    module_contrast,
    segregation,
)
from biobgt.modules.partition import (
    match_labels,
    module_labels,
    module_names,
    pairwise_mutual_information,
)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([7, 7, 3], [1, 1, 2]),
        ([3, 7, 7], [2, 1, 1]),
        ([5, 5, 2, 2], [1, 1, 2, 2]),  # a tie: the module of the first region comes first
        ([0, 4, 4, 0], [0, 1, 1, 0]),
        ([0, 0], [0, 0]),
    ],
)
def test_canonical_labels(labels, expected):
    assert canonical_labels(labels).tolist() == expected


@given(label_pairs(least=0))
def test_canonical_labels_depend_on_the_division_only(pair):
    labels, _ = pair
    renamed = np.where(labels > 0, 9 - labels, 0)
    assert (canonical_labels(renamed) == canonical_labels(labels)).all()
    assert (canonical_labels(canonical_labels(labels)) == canonical_labels(labels)).all()


def test_a_partition_describes_itself_with_a_read_only_copy_of_its_labels():
    labels = np.array([1, 1, 3, 0])
    partition = Partition(labels=labels, q=0.1, resolution=1.0, seed=0, signed=False)
    assert (partition.n_modules, partition.modules, partition.unassigned) == (2, (1, 3), (3,))
    assert partition.sizes == {1: 2, 3: 1}
    labels[0] = 9
    assert partition.labels.tolist() == [1, 1, 3, 0]
    with pytest.raises(ValueError, match="read-only"):
        partition.labels[0] = 5


@pytest.mark.parametrize(("weights", "word"), [(np.full((2, 2), np.nan), "not finite"), (np.eye(2), "itself")])
def test_bad_graphs_are_refused(weights, word):
    with pytest.raises(InputError, match=word):
        louvain_modules(weights)


@pytest.mark.parametrize(
    ("labels", "word"),
    [
        ([1.5, 1], "whole"),
        ([-1, 1], "whole"),
        ([np.nan, 1], "whole"),
        (["a", "b"], "whole"),
        ([[1, 2]], "one number"),
        ([1, 1, 2], "3 module labels"),
    ],
)
def test_bad_labels_are_refused(labels, word):
    with pytest.raises(InputError, match=word):
        module_labels(labels, 2)


def _one_by_one(labels):
    expected = np.eye(len(labels))
    for i, j in permutations(range(len(labels)), 2):
        both = (labels[i] > 0) & (labels[j] > 0)
        expected[i, j] = adjusted_mutual_info_score(labels[i][both], labels[j][both]) if both.sum() > 1 else np.nan
    return expected


@pytest.mark.parametrize(("n_regions", "n_modules"), [(90, 5), (200, 8), (200, 40)])
def test_information_of_pairs_of_brains(n_regions, n_modules):
    rng = np.random.default_rng(0)
    shared = rng.integers(1, n_modules + 1, n_regions)
    labels = np.stack([np.where(rng.random(n_regions) < 0.6, shared, rng.permutation(shared)) for _ in range(8)])
    labels[5:, ::7] = 0  # regions without a module
    np.testing.assert_allclose(pairwise_mutual_information(labels), _one_by_one(labels), atol=1e-10)


@settings(max_examples=60)
@given(arrays(np.int64, st.tuples(st.integers(2, 4), st.integers(1, 9)), elements=st.integers(0, 4)))
def test_information_of_any_labels(labels):
    np.testing.assert_allclose(pairwise_mutual_information(labels), _one_by_one(labels), atol=1e-7)


def slow_variation_of_information(x, y):
    n = len(x)
    both, in_x, in_y = Counter(zip(x, y, strict=True)), Counter(x), Counter(y)
    return -sum(count / n * (log2(count / in_x[a]) + log2(count / in_y[b])) for (a, b), count in both.items())


def test_crossed_halves_by_hand():
    agreement = compare_modules([1, 1, 2, 2], ["a", "b", "a", "b"])
    assert agreement.vi == pytest.approx(2)  # one bit is missing each way
    assert agreement.vi_normalised == pytest.approx(1)
    assert agreement.ari == pytest.approx(-0.5)
    assert agreement.contingency.to_numpy().tolist() == [[1, 1], [1, 1]]


@given(label_pairs())
def test_agreement_as_in_scikit_learn_and_bctpy(pair):
    modules, labels = pair
    agreement = compare_modules(modules, labels.tolist())
    assert agreement.ami == pytest.approx(adjusted_mutual_info_score(labels, modules), abs=1e-10)
    assert agreement.ari == pytest.approx(adjusted_rand_score(labels, modules), abs=1e-10)
    assert agreement.vi == pytest.approx(slow_variation_of_information(modules.tolist(), labels.tolist()), abs=1e-10)
    with np.errstate(invalid="ignore"):  # its second result is 0/0 for one module
        expected, _ = bct.partition_distance(modules, labels)
    assert agreement.vi_normalised == pytest.approx(expected, abs=1e-10)
    assert agreement.contingency.to_numpy().sum() == len(modules)


@given(label_pairs())
def test_a_division_with_itself(pair):
    modules, _ = pair
    agreement = compare_modules(modules, modules.tolist())
    assert agreement.ami == pytest.approx(1)
    assert agreement.vi == pytest.approx(0, abs=1e-12)


def test_regions_left_out_are_counted_and_change_nothing():
    full = compare_modules([1, 1, 2, 2, 2], ["a", "a", "b", "b", "a"])
    more = compare_modules([1, 0, 1, 2, 2, 1, 2, 0], ["a", "a", "a", "b", "b", None, "a", None])
    assert (more.ami, more.ari, more.vi) == (full.ami, full.ari, full.vi)
    assert (more.n_compared, more.n_unlabelled, more.n_unassigned) == (5, 1, 2)
    assert more.contingency.equals(full.contingency)
    assert more.contingency.loc[1, "a"] == 2


@pytest.mark.parametrize("modules", [[0, 0, 0], [1, 0, 2]])
def test_nothing_to_compare(modules):
    agreement = compare_modules(modules, ["a", "b", None])
    assert np.isnan([agreement.ami, agreement.ari, agreement.vi, agreement.vi_normalised]).all()
    assert agreement.n_compared < 2


def test_atlas_labels():
    atlas = Atlas("eight", "Eight", tuple("abcdefgh"), labels={"halves": ("L",) * 4 + ("R",) * 3 + (None,)})
    agreement = module_agreement(louvain_modules(bridged_cliques()), atlas, "halves")
    assert agreement.ami == pytest.approx(1)
    assert agreement.n_unlabelled == 1
    assert list(agreement.contingency.columns) == ["L", "R"]


def test_every_bundled_labelling_counts_its_unlabelled_regions():
    atlas = load_atlas("cc200")
    for name in atlas.labels:
        agreement = module_agreement(np.ones(200, dtype=int), atlas, name)
        assert agreement.n_unlabelled == atlas.n_unlabelled(name)
        assert agreement.n_compared + agreement.n_unlabelled == 200


def test_labels_that_the_atlas_does_not_have():
    atlas = load_atlas("cc200")
    with pytest.raises(InputError, match="3 regions and atlas cc200 has 200"):
        module_agreement([1, 1, 2], atlas)
    with pytest.raises(InputError, match="no labelling 'yeo'"):
        module_agreement(np.ones(200, dtype=int), atlas, "yeo")


@pytest.mark.parametrize(
    ("labels", "reference", "expected"),
    [
        ([1, 1, 2, 2], [2, 2, 1, 1], [2, 2, 1, 1]),
        ([1, 1, 2, 2], [5, 5, 5, 5], [5, 5, 6, 6]),  # one of two takes the number, the other a new one
        ([1, 1, 1, 2, 3, 3], [4, 4, 4, 4, 4, 4], [4, 4, 4, 6, 5, 5]),  # new numbers: the larger module first
        ([1, 1, 0, 2], [3, 3, 1, 1], [3, 3, 0, 1]),
        ([1, 2], [0, 0], [1, 2]),
        ([0, 0], [1, 2], [0, 0]),
        ([1, 2, 0], [5, 0, 6], [5, 7, 0]),  # nothing in common with 6, so not 6
        # Greedy would give module 1 number 1 (3 shared); all in all 2 + 3 shared is better than 3 + 0.
        ([1, 1, 1, 1, 1, 2, 2, 2], [1, 1, 1, 2, 2, 1, 1, 1], [2, 2, 2, 2, 2, 1, 1, 1]),
    ],
)
def test_matching_by_hand(labels, reference, expected):
    assert match_modules(labels, reference).tolist() == expected


@given(label_pairs(least=0))
def test_matching_renames_once_and_does_nothing_else(pair):
    labels, reference = pair
    matched = match_modules(labels, reference)
    assert (canonical_labels(matched) == canonical_labels(labels)).all()
    assert (match_modules(matched, reference) == matched).all()
    assert (match_modules(labels, labels) == labels).all()


@given(label_pairs())
def test_no_other_numbering_shares_more(pair):
    labels, reference = pair[0] % 3 + 1, pair[1] % 3 + 1
    best = max((np.array((0, *order))[labels] == reference).sum() for order in permutations((1, 2, 3)))
    assert (match_modules(labels, reference) == reference).sum() == best


@pytest.mark.parametrize(
    ("modules", "labels", "expected"),
    [
        (
            [1, 1, 1, 2, 2, 0],
            ["default", "default", "occipital", "occipital", None, "default"],
            ["mostly default", "occipital"],
        ),
        ([1, 1, 2], ["motor", "default", None], ["default, motor", "unlabelled"]),
        # Half is no majority, and only two are named.
        ([1] * 6, [*"cccbba"], ["c, b"]),
        ([1] * 7, [*"ccccbba"], ["mostly c"]),
        ([0, 0], ["a", "b"], []),
    ],
)
def test_the_majority_names_the_module(modules, labels, expected):
    names = {number: f"Module {number} · {name}" for number, name in enumerate(expected, start=1)}
    assert module_names(modules, labels) == names


def test_without_labels_modules_are_numbered_and_labels_must_fit():
    assert module_names([1, 3, 0]) == {1: "Module 1", 3: "Module 3"}
    with pytest.raises(InputError, match="2 functional labels for 3 regions"):
        module_names([1, 1, 2], ["a", "b"])


def test_labels_are_matched_one_to_one_for_the_most_regions_in_total():
    # b alone would take module 1 with 5; in total 4 (a with 1) + 4 (b with 2) is more than 5 + 1.
    counts = pd.DataFrame([[4, 5, 0], [1, 4, 0]], index=[1, 2], columns=["a", "b", "c"])
    assert match_labels(counts) == {"a": 1, "b": 2}
    assert match_labels(pd.DataFrame(np.zeros((0, 0)))) == {}


def test_blocks_of_four_regions_by_hand():
    matrix = np.array([[9, 1, 2, 7], [3, 9, 4, 7], [5, 6, 9, 7], [7, 7, 7, 7]], dtype=float)
    blocks = module_blocks(matrix[None], ["b", "b", "a", None])
    assert blocks.modules == ("a", "b")
    assert blocks.n_regions == (1, 2)
    np.testing.assert_array_equal(blocks.values, [[[np.nan, 5.5], [3.0, 2.0]]])
    # within: 1 and 3; between: 2, 4, 5 and 6
    assert module_contrast(matrix[None], ["b", "b", "a", None]) == pytest.approx(2 / 4.25)


@settings(max_examples=60)
@given(st.lists(st.sampled_from(["x", "y", "z", None]), min_size=2, max_size=9), st.integers(0, 99))
def test_blocks_and_contrast_equal_slow_loops(labels, seed):
    matrices = np.random.default_rng(seed).random((3, len(labels), len(labels)))
    matrices[:, range(len(labels)), range(len(labels))] = np.nan  # never read
    if not any(labels):
        with pytest.raises(InputError, match="No region belongs"):
            module_blocks(matrices, labels)
        return
    blocks = module_blocks(matrices, labels)
    cells = defaultdict(list)  # of the three matrices, by the modules of a pair of regions
    for i, j in permutations(range(len(labels)), 2):
        if labels[i] and labels[j]:
            cells[labels[i], labels[j]].append(matrices[:, i, j])
            cells[labels[i] == labels[j]].append(matrices[:, i, j])
    nothing = np.full(3, np.nan)
    for place, pair in zip(np.ndindex(blocks.values.shape[1:]), product(blocks.modules, repeat=2), strict=True):
        expected = np.mean(cells[pair], axis=0) if cells[pair] else nothing
        np.testing.assert_allclose(blocks.values[:, *place], expected)
    both = cells[True] and cells[False]
    slow = np.mean(cells[True], axis=0) / np.mean(cells[False], axis=0) if both else nothing
    np.testing.assert_allclose(module_contrast(matrices, labels), slow)


def test_contrast_agrees_with_segregation():
    matrix = np.random.default_rng(0).random((8, 8))
    matrix = (matrix + matrix.T) / 2
    labels = [1, 1, 2, 2, 2, 3, 3, 0]
    whole = segregation(matrix, labels, fisher=False)
    assert module_contrast(matrix[None], labels)[0] == pytest.approx(whole.within / whole.between)


def test_each_subject_may_have_modules_of_its_own():
    rng = np.random.default_rng(1)
    matrices = rng.random((2, 5, 5))
    own = np.array([[1, 1, 2, 2, 0], [1, 2, 2, 1, 1]])
    expected = [module_contrast(matrices[i : i + 1], own[i])[0] for i in range(2)]
    np.testing.assert_allclose(module_contrast(matrices, own), expected)
    assert expected[0] != pytest.approx(module_contrast(matrices, own[1])[0])
    with pytest.raises(InputError, match="1 sets"):
        module_contrast(matrices, own[:1])


def test_modules_make_no_difference_is_one_and_planted_modules_are_seen():
    labels = ["a"] * 4 + ["b"] * 4
    assert module_contrast(np.ones((1, 8, 8)), labels)[0] == pytest.approx(1)
    same = np.equal.outer(labels, labels)
    assert module_contrast(np.where(same, 5.0, 2.0)[None], labels)[0] == pytest.approx(2.5)
    assert np.isnan(module_contrast(np.where(same, 5.0, -2.0)[None], labels)[0])
    assert np.isnan(module_contrast(np.ones((1, 8, 8)), ["a"] * 8)[0])


def test_blocks_of_bad_input():
    with pytest.raises(InputError, match="square matrix"):
        module_blocks(np.ones((3, 3)), ["a"] * 3)
    with pytest.raises(InputError, match="2 module labels"):
        module_blocks(np.ones((1, 3, 3)), ["a"] * 2)
