from collections import Counter
from math import log2

import bct
import numpy as np
import pytest
from hypothesis import given
from module_graphs import bridged_cliques, label_pairs
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

from biobgt.base.errors import InputError
from biobgt.data.atlas import Atlas, load_atlas
from biobgt.modules import compare_modules, louvain_modules, module_agreement


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


def test_equal_divisions():
    agreement = compare_modules([2, 2, 1, 1, 3], ["x", "x", "y", "y", "z"])
    assert agreement.ami == pytest.approx(1)
    assert agreement.ari == pytest.approx(1)
    assert agreement.vi == 0


@given(label_pairs())
def test_oracles(pair):
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
def test_with_itself(pair):
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


def test_bad_input():
    atlas = load_atlas("cc200")
    with pytest.raises(InputError, match="3 regions and atlas cc200 has 200"):
        module_agreement([1, 1, 2], atlas)
    with pytest.raises(InputError, match="no labelling 'yeo'"):
        module_agreement(np.ones(200, dtype=int), atlas, "yeo")
