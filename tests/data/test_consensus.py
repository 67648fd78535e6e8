"""The consensus of structural connectomes, by hand, by properties and on real ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from biobgt.base.errors import InputError
from biobgt.data.consensus import distance_consensus, share_consensus

connectomes = arrays(np.bool_, st.tuples(st.integers(1, 8), st.integers(1, 30)))


def test_a_share_of_people_by_hand():
    present = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1], [1, 0, 0]], dtype=bool)
    assert share_consensus(present, 0.5).tolist() == [True, True, False]
    assert share_consensus(present, 1.0).tolist() == [True, False, False]
    with pytest.raises(InputError, match="above 0"):
        share_consensus(present, 0)


def test_long_connections_are_kept_that_a_share_of_people_would_lose(rng):
    lengths = np.concatenate([np.full(40, 20.0), np.full(40, 120.0)]) + rng.uniform(0, 5, 80)
    often = np.concatenate([np.full(40, 0.9), np.linspace(0.1, 0.4, 40)])
    present = rng.random((50, 80)) < often
    kept = distance_consensus(present, lengths)
    assert not share_consensus(present, 0.5)[40:].any()
    expected = present[:, 40:].sum() / 50
    assert kept[40:].sum() == pytest.approx(expected, abs=2)
    assert present[:, 40:][:, kept[40:]].mean() > present[:, 40:].mean()


def test_kinds_are_chosen_by_themselves(rng):
    present = rng.random((20, 60)) < np.repeat([0.8, 0.2], 30)
    kinds = np.repeat([0, 1], 30)
    kept = distance_consensus(present, rng.uniform(10, 100, 60), kinds)
    for kind in (0, 1):
        assert kept[kinds == kind].sum() == pytest.approx(present[:, kinds == kind].sum() / 20, abs=1)


@given(connectomes)
def test_it_keeps_about_as_many_as_a_person_has_and_only_what_somebody_has(present):
    kept = distance_consensus(present, np.arange(present.shape[1]) * 1.5)
    assert not kept[~present.any(axis=0)].any()
    assert kept.sum() <= round(present.sum() / len(present))
    assert not distance_consensus(present, np.full(present.shape[1], np.nan)).any()


@given(arrays(np.bool_, st.integers(1, 30)))
def test_one_person_keeps_all(own):
    np.testing.assert_array_equal(distance_consensus(own[None], np.linspace(5, 90, len(own))), own)
