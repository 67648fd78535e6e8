"""Ranks are SciPy's, with ties and without numbers that are missing."""

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import rankdata

from biobgt.base.arrays import Ties, ranks

# Few different numbers, so that many are equal.
NUMBERS = arrays(
    np.float64,
    st.tuples(st.integers(1, 4), st.integers(1, 9)),
    elements=st.sampled_from([-1.5, 0.0, 0.25, 3.0, np.nan]),
)


@pytest.mark.parametrize("ties", get_args(Ties))
@given(values=NUMBERS)
def test_ranks_are_those_of_scipy(ties: Ties, values: np.ndarray) -> None:
    np.testing.assert_array_equal(ranks(values, ties=ties), rankdata(values, method=ties, axis=1, nan_policy="omit"))


def test_one_row_and_no_row() -> None:
    assert ranks(np.array([3.0, 1.0, 3.0])).tolist() == [2.5, 1.0, 2.5]
    assert ranks(np.empty((3, 0))).shape == (3, 0)
