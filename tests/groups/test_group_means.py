"""Means over the subjects of a group, and the modules of a group's mean connectivity."""

import numpy as np
import pytest

from biobgt.atlas import load_atlas
from biobgt.errors import InputError
from biobgt.groups import group_means
from biobgt.groups.means import louvain_labels
from biobgt.model.attention_views import functional_labels


def test_group_means_by_hand() -> None:
    values = np.array([[[1.0, 2.0]], [[3.0, 2.0]], [[7.0, 0.0]], [[100.0, 100.0]]])
    means = group_means(values, ["NC", "NC", "ASD", None])
    assert list(means) == ["NC", "ASD"]
    np.testing.assert_allclose(means["NC"].mean, [[2, 2]])
    np.testing.assert_allclose(means["NC"].sd, [[np.sqrt(2), 0]])
    assert (means["NC"].n, means["ASD"].n) == (2, 1)
    assert np.isnan(means["ASD"].sd).all()


def test_scans_of_one_person_count_once() -> None:
    values = np.array([0.0, 2.0, 5.0], dtype=np.float16)
    means = group_means(values, ["NC"] * 3, subjects=["p", "p", "q"])
    assert means["NC"].n == 2
    assert means["NC"].mean == pytest.approx(3)  # of 1 and 5


def test_a_group_is_needed_for_every_row() -> None:
    with pytest.raises(InputError, match="one group"):
        group_means(np.ones(3), ["NC"])


def test_labels_are_in_words_and_louvain_finds_what_was_planted() -> None:
    atlas = load_atlas("aal90")
    assert "visual cortex" in functional_labels(atlas, "paper")
    planted = np.arange(90) % 3
    connectivity = np.where(planted[:, None] == planted, 0.8, 0.05).astype(np.float32)
    connectivity[-1] = connectivity[:, -1] = 0
    np.fill_diagonal(connectivity, 1)
    names = louvain_labels(connectivity, atlas)
    groups = {frozenset(np.flatnonzero(np.array(names[:89]) == name).tolist()) for name in names[:89]}
    assert groups == {frozenset(i for i in range(89) if i % 3 == k) for k in range(3)}
