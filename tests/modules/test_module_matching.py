from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from module_graphs import label_pairs

from biobgt.base.errors import InputError
from biobgt.modules import canonical_labels, match_modules


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
def test_matching_renames_and_does_nothing_else(pair):
    labels, reference = pair
    matched = match_modules(labels, reference)
    assert (canonical_labels(matched) == canonical_labels(labels)).all()


@given(label_pairs(least=0))
def test_matching_is_idempotent(pair):
    labels, reference = pair
    matched = match_modules(labels, reference)
    assert (match_modules(matched, reference) == matched).all()
    assert (match_modules(labels, labels) == labels).all()


@given(label_pairs())
def test_no_other_numbering_shares_more(pair):
    labels, reference = pair[0] % 3 + 1, pair[1] % 3 + 1
    best = max((np.array((0, *order))[labels] == reference).sum() for order in permutations((1, 2, 3)))
    assert (match_modules(labels, reference) == reference).sum() == best


def test_bad_input():
    with pytest.raises(InputError, match="3 module labels for 2 regions"):
        match_modules([1, 2, 3], [1, 2])
