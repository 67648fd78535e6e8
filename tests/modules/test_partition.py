import numpy as np
import pytest
from hypothesis import given
from module_graphs import bridged_cliques, label_pairs

from biobgt.base.errors import InputError
from biobgt.data.atlas import numbered_atlas
from biobgt.data.graph import BrainGraph, graph_weights
from biobgt.modules import Partition, canonical_labels, louvain_modules
from biobgt.modules.partition import module_labels


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


def test_a_partition_describes_itself():
    partition = Partition(labels=np.array([1, 1, 3, 0]), q=0.1, resolution=1.0, seed=0, signed=False)
    assert partition.n_regions == 4
    assert partition.n_modules == 2
    assert partition.modules == (1, 3)
    assert partition.sizes == {1: 2, 3: 1}
    assert partition.unassigned == (3,)


def test_labels_are_a_read_only_copy():
    labels = np.array([1, 2])
    partition = Partition(labels=labels, q=0.0, resolution=1.0, seed=0, signed=False)
    labels[0] = 9
    assert partition.labels.tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        partition.labels[0] = 5


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda w: w.__setitem__((0, 1), np.nan), "not finite between regions 1 and 2"),
        (lambda w: w.__setitem__((2, 2), 1), "connects region 3 to itself"),
        (lambda w: w.__setitem__((0, 7), 1), "not symmetric"),
    ],
)
def test_bad_graphs_are_refused_with_a_sentence(spoil, sentence):
    weights = bridged_cliques()
    spoil(weights)
    with pytest.raises(InputError, match=sentence):
        louvain_modules(weights)


def test_shapes_that_are_no_graph():
    with pytest.raises(InputError, match="square"):
        louvain_modules(np.zeros((3, 4)))
    with pytest.raises(InputError, match="at least 2"):
        louvain_modules(np.zeros((1, 1)))


def test_a_brain_graph_and_its_weights_are_the_same_input():
    graph = BrainGraph(weights=bridged_cliques(), atlas=numbered_atlas(8))
    assert graph_weights(graph) is graph.weights
    assert (louvain_modules(graph).labels == louvain_modules(bridged_cliques()).labels).all()


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ([1.5, 1], "whole numbers"),
        ([-1, 1], "whole numbers"),
        ([np.nan, 1], "whole numbers"),
        (["a", "b"], "whole numbers"),
        ([[1, 2]], "one number per region"),
        ([1, 1, 2], "3 module labels for 2 regions"),
    ],
)
def test_bad_labels_are_refused_with_a_sentence(labels, sentence):
    with pytest.raises(InputError, match=sentence):
        module_labels(labels, 2)
