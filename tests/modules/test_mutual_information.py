"""Adjusted mutual information of many pairs, against scikit-learn's of each."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import adjusted_mutual_info_score

from biobgt.modules.partition import pairwise_mutual_information


def _one_by_one(labels: np.ndarray) -> np.ndarray:
    expected = np.eye(len(labels))
    for i, j in zip(*np.triu_indices(len(labels), 1), strict=True):
        both = (labels[i] > 0) & (labels[j] > 0)
        value = adjusted_mutual_info_score(labels[i][both], labels[j][both]) if both.sum() > 1 else np.nan
        expected[i, j] = expected[j, i] = value
    return expected


@pytest.mark.parametrize(("n_regions", "n_modules"), [(90, 5), (200, 8), (200, 40)])
def test_pairs_of_brains(n_regions: int, n_modules: int) -> None:
    rng = np.random.default_rng(0)
    shared = rng.integers(1, n_modules + 1, n_regions)
    labels = np.stack([np.where(rng.random(n_regions) < 0.6, shared, rng.permutation(shared)) for _ in range(8)])
    labels[5:, ::7] = 0  # regions without a module
    np.testing.assert_allclose(pairwise_mutual_information(labels), _one_by_one(labels), atol=1e-10)


@settings(max_examples=60, deadline=None)
@given(arrays(np.int64, st.tuples(st.integers(2, 4), st.integers(1, 9)), elements=st.integers(0, 4)))
def test_any_labels(labels: np.ndarray) -> None:
    np.testing.assert_allclose(pairwise_mutual_information(labels), _one_by_one(labels), atol=1e-7)


def test_two_alike_two_apart() -> None:
    labels = np.array([[1, 1, 2, 2], [2, 2, 1, 1], [1, 2, 1, 2]])
    found = pairwise_mutual_information(labels)
    assert found[0, 1] == pytest.approx(1.0)
    assert found[0, 2] < 0
