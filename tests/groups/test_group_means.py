"""The modules of a group's mean connectivity."""

import numpy as np

from biobgt.data.atlas import load_atlas
from biobgt.groups.features import louvain_labels
from biobgt.model.attention import functional_labels


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
