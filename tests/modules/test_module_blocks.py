"""Means by module: by hand, and against slow loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biobgt.base.errors import InputError
from biobgt.modules import module_blocks, module_contrast, segregation


def test_blocks_of_four_regions_by_hand() -> None:
    matrix = np.array([[9, 1, 2, 7], [3, 9, 4, 7], [5, 6, 9, 7], [7, 7, 7, 7]], dtype=float)
    blocks = module_blocks(matrix[None], ["b", "b", "a", None])
    assert blocks.modules == ("a", "b")
    assert blocks.n_regions == (1, 2)
    np.testing.assert_array_equal(blocks.values, [[[np.nan, 5.5], [3.0, 2.0]]])
    # within: 1 and 3; between: 2, 4, 5 and 6
    assert module_contrast(matrix[None], ["b", "b", "a", None]) == pytest.approx(2 / 4.25)


def _slow_contrast(matrix: np.ndarray, labels: list[str | None]) -> float:
    within, between = [], []
    for i, a in enumerate(labels):
        for j, b in enumerate(labels):
            if i != j and a is not None and b is not None:
                (within if a == b else between).append(matrix[i, j])
    return float(np.mean(within) / np.mean(between)) if within and between else float("nan")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["x", "y", "z", None]), min_size=2, max_size=9), st.integers(0, 99))
def test_blocks_and_contrast_equal_slow_loops(labels: list[str | None], seed: int) -> None:
    matrices = np.random.default_rng(seed).random((3, len(labels), len(labels)))
    matrices[:, range(len(labels)), range(len(labels))] = np.nan  # never read
    if not any(labels):
        with pytest.raises(InputError, match="No region belongs"):
            module_blocks(matrices, labels)
        return
    blocks = module_blocks(matrices, labels)
    for s, matrix in enumerate(matrices):
        for i, a in enumerate(blocks.modules):
            for j, b in enumerate(blocks.modules):
                cells = [
                    matrix[u, v]
                    for u in range(len(labels))
                    for v in range(len(labels))
                    if u != v and labels[u] == a and labels[v] == b
                ]
                expected = np.mean(cells) if cells else np.nan
                np.testing.assert_allclose(blocks.values[s, i, j], expected)
    slow = [_slow_contrast(matrix, labels) for matrix in matrices]
    np.testing.assert_allclose(module_contrast(matrices, labels), slow)


def test_contrast_agrees_with_segregation() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.random((8, 8))
    matrix = (matrix + matrix.T) / 2
    labels = [1, 1, 2, 2, 2, 3, 3, 0]
    whole = segregation(matrix, labels, fisher=False)
    assert module_contrast(matrix[None], labels)[0] == pytest.approx(whole.within / whole.between)


def test_each_subject_may_have_modules_of_its_own() -> None:
    rng = np.random.default_rng(1)
    matrices = rng.random((2, 5, 5))
    own = np.array([[1, 1, 2, 2, 0], [1, 2, 2, 1, 1]])
    expected = [module_contrast(matrices[i : i + 1], own[i])[0] for i in range(2)]
    np.testing.assert_allclose(module_contrast(matrices, own), expected)
    assert expected[0] != pytest.approx(module_contrast(matrices, own[1])[0])
    with pytest.raises(InputError, match="2 matrices and 1 sets"):
        module_contrast(matrices, own[:1])


def test_modules_make_no_difference_is_one_and_planted_modules_are_seen() -> None:
    labels = ["a"] * 4 + ["b"] * 4
    assert module_contrast(np.ones((1, 8, 8)), labels)[0] == pytest.approx(1)
    same = np.equal.outer(labels, labels)
    assert module_contrast(np.where(same, 5.0, 2.0)[None], labels)[0] == pytest.approx(2.5)
    assert np.isnan(module_contrast(np.where(same, 5.0, -2.0)[None], labels)[0])
    assert np.isnan(module_contrast(np.ones((1, 8, 8)), ["a"] * 8)[0])


def test_bad_input_is_said_in_a_sentence() -> None:
    with pytest.raises(InputError, match="One square matrix per subject is expected"):
        module_blocks(np.ones((3, 3)), ["a"] * 3)
    with pytest.raises(InputError, match="2 module labels for 3 regions"):
        module_blocks(np.ones((1, 3, 3)), ["a"] * 2)
