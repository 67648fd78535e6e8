"""Modules are named by the network most of their regions belong to, and the strongest connections inside are found."""

import numpy as np
import pandas as pd
import pytest

from biobgt.base.errors import InputError
from biobgt.modules.partition import match_labels, module_names, strongest_within_modules


def test_majority_names_the_module():
    modules = [1, 1, 1, 2, 2, 3, 3, 4, 0]
    labels = ["default", "default", "occipital", "occipital", None, "motor", "default", None, "default"]
    assert module_names(modules, labels) == {
        1: "Module 1 · mostly default",
        2: "Module 2 · occipital",
        3: "Module 3 · default, motor",
        4: "Module 4 · unlabelled",
    }


def test_half_is_no_majority_and_only_two_are_named():
    assert module_names([2] * 6, ["c", "c", "c", "b", "b", "a"]) == {2: "Module 2 · c, b"}
    assert module_names([2] * 7, ["c", "c", "c", "c", "b", "b", "a"]) == {2: "Module 2 · mostly c"}


def test_without_labels_modules_are_numbered():
    assert module_names([1, 3, 0]) == {1: "Module 1", 3: "Module 3"}
    assert module_names([0, 0], ["a", "b"]) == {}


def test_labels_must_fit():
    with pytest.raises(InputError, match="2 functional labels for 3 regions"):
        module_names([1, 1, 2], ["a", "b"])


def test_labels_are_matched_one_to_one_for_the_most_regions_in_total():
    # b alone would take module 1 with 5; in total 4 (a with 1) + 4 (b with 2) is more than 5 + 1.
    counts = pd.DataFrame([[4, 5, 0], [1, 4, 0]], index=[1, 2], columns=["a", "b", "c"])
    assert match_labels(counts) == {"a": 1, "b": 2}
    assert match_labels(pd.DataFrame(np.zeros((0, 0)))) == {}


def test_strongest_connections_stay_within_modules():
    weights = np.zeros((5, 5))
    for i, j, weight in ((0, 1, 0.5), (0, 2, 0.9), (1, 2, 0.7), (3, 4, 0.6), (2, 3, 1.0), (0, 4, -0.8)):
        weights[i, j] = weights[j, i] = weight
    modules = [1, 1, 1, 2, 2]
    assert strongest_within_modules(weights, modules, most=3) == [(0, 2, 0.9), (1, 2, 0.7), (3, 4, 0.6)]
    assert len(strongest_within_modules(weights, modules, most=100)) == 4
    assert strongest_within_modules(weights, modules, most=0) == []
    assert strongest_within_modules(weights, [0] * 5, most=9) == []
    assert (0, 4, -0.8) not in strongest_within_modules(weights, [1] * 5, most=9)
