"""What is shown of attention and of the weights of regions, by hand."""

import numpy as np
import pandas as pd
import pytest
from safetensors.torch import load_file
from shipped_predictions import asked_names

from biobgt.base.errors import InputError
from biobgt.model.attention import (
    all_block_tests,
    attention_received,
    beside_connectivity,
    block_tests,
    connectivity_attention,
    group_beside,
    map_correlation,
    network_table,
    select_attention,
)
from biobgt.model.folder import _n_members, load_card, load_region_weights, model_folder, pretrained_names
from biobgt.model.group_results import load_groups

EVEN = np.full((3, 3), 1 / 3)
SHARP = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
ATTENTION = np.stack([[EVEN, SHARP], [SHARP, SHARP]]).astype(np.float32)
TESTS = pd.DataFrame(
    {
        "feature": ["a → a", "a → b", "within / between modules"],
        "module": ["a", "a", None],
        "other_module": ["a", "b", None],
        **{f"{name}{suffix}": [0.1, -0.2, 0.3] for name in ("difference", "d", "t") for suffix in ("", "_unadjusted")},
        **{f"d_low{suffix}": [0.0, -0.5, 0.2] for suffix in ("", "_unadjusted")},
        **{f"d_high{suffix}": [0.2, 0.1, 0.4] for suffix in ("", "_unadjusted")},
        "q": [0.04, 0.2, 0.01],
        "q_unadjusted": [0.01, 0.05, 0.01],
        "family": ["block", "block", "contrast"],
        "between": ["NC - AD"] * 3,
        "covariates": ["age"] * 3,
    }
)


@pytest.mark.parametrize(
    ("layer", "head", "expected"),
    [
        (0, 0, 3 * EVEN),
        (1, 0, 3 * SHARP),
        (0, None, 1.5 * (EVEN + SHARP)),
        (None, 0, 1.5 * (EVEN + SHARP)),
        (None, None, 3 * (EVEN + 3 * SHARP) / 4),
    ],
)
def test_layer_head_or_mean_in_multiples_of_even_attention(layer, head, expected) -> None:
    np.testing.assert_allclose(select_attention(ATTENTION, layer=layer, head=head), expected, rtol=1e-6)


def test_what_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match="There is no layer 3; this model has 2"):
        select_attention(ATTENTION, layer=2)
    with pytest.raises(InputError, match=r"not shape \(3, 3\)"):
        select_attention(EVEN.astype(np.float32))


def test_received_is_the_mean_over_the_others() -> None:
    matrix = np.array([[9.0, 1.0, 0.0], [2.0, 9.0, 4.0], [4.0, 3.0, 9.0]])
    received = attention_received(matrix)
    np.testing.assert_allclose(received, [3.0, 2.0, 2.0])
    assert matrix[0, 0] == 9


def test_correlation_is_over_different_regions_that_vary():
    one = np.random.default_rng(0).random((5, 5))
    assert map_correlation(one + 50 * np.eye(5), 2 * one + 1) == pytest.approx(1)
    assert np.isnan(map_correlation(np.ones((3, 3)), np.arange(9.0).reshape(3, 3)))


CONNECTIVITY = np.array([[1.0, 0.6, 0.2, -0.4], [0.6, 1.0, -0.1, -0.2], [0.2, -0.1, 1.0, 0.3], [-0.4, -0.2, 0.3, 1.0]])


def test_connectivity_as_attention_by_hand() -> None:
    found = connectivity_attention(CONNECTIVITY)
    expected = [[0, 3 * 0.75, 3 * 0.25, 0], [3, 0, 0, 0], [3 * 0.4, 0, 0, 3 * 0.6], [0, 0, 3, 0]]
    np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(found.sum(axis=1), 3)
    alone = CONNECTIVITY.copy()
    alone[0, 1:] = alone[1:, 0] = -0.5
    np.testing.assert_allclose(connectivity_attention(alone)[0], [0, 1, 1, 1])


def test_attention_beside_connectivity_by_hand() -> None:
    """Modules {1, 2} and {3, 4}: rows of connectivity give 2.25, 3, 1.8 and 3 within, 0.75 and 1.2 between."""
    attention = 5 * CONNECTIVITY + 7  # the same map in another unit
    found = beside_connectivity(attention, CONNECTIVITY, ["a", "a", "b", "b"])
    assert found.correlation == pytest.approx(1)
    assert found.connectivity_contrast == pytest.approx(((2.25 + 3 + 1.8 + 3) / 4) / ((0.75 + 1.2) / 8))
    within, between = (0.6 + 0.3) / 2, (0.2 - 0.4 - 0.1 - 0.2) / 4
    assert found.contrast == pytest.approx((5 * within + 7) / (5 * between + 7))
    for unlabelled in (None, [None] * 4):
        bare = beside_connectivity(attention, CONNECTIVITY, unlabelled)
        assert np.isnan([bare.contrast, bare.connectivity_contrast]).all()


def test_tests_are_found_by_their_groups() -> None:
    found = block_tests(TESTS, ("NC", "AD"), {"NC": 10, "AD": 12})
    assert found.marked["feature"].tolist() == ["a → a"]
    assert found.n_marked_unadjusted == 2
    assert len(found.contrast) == 1
    assert dict(found.n_subjects) == {"NC": 10, "AD": 12}
    assert block_tests(TESTS, ("MCI", "AD"), {"MCI": 1, "AD": 1}) is None
    said = block_tests(TESTS.assign(n_NC=8, n_AD=9), ("NC", "AD"), {"NC": 10, "AD": 12})
    assert dict(said.n_subjects) == {"NC": 8, "AD": 9}


def test_tests_asked_the_other_way_round_change_their_sign() -> None:
    turned = block_tests(TESTS.assign(n_NC=8, n_AD=9), ("AD", "NC"), {"NC": 10, "AD": 12})
    assert turned.between == ("AD", "NC")
    assert list(turned.n_subjects.items()) == [("AD", 9), ("NC", 8)]
    for suffix in ("", "_unadjusted"):
        for name in ("difference", "d", "t"):
            assert turned.blocks[f"{name}{suffix}"].tolist() == [-0.1, 0.2]
        assert turned.blocks[f"d_low{suffix}"].tolist() == [-0.2, -0.1]
        assert turned.blocks[f"d_high{suffix}"].tolist() == [0.0, 0.5]
    assert turned.contrast["d"].tolist() == [-0.3]
    assert turned.marked["feature"].tolist() == ["a → a"]
    assert TESTS["d"].tolist() == [0.1, -0.2, 0.3]


def test_every_pair_that_was_compared_is_found_in_the_order_of_groups() -> None:
    sizes = {"NC": 10, "MCI": 11, "AD": 12}
    pairs = [TESTS.assign(between=between) for between in ("MCI - AD", "NC - AD")]
    found = all_block_tests(pd.concat(pairs), sizes)
    assert [one.between for one in found] == [("NC", "AD"), ("MCI", "AD")]
    assert dict(found[1].n_subjects) == {"MCI": 11, "AD": 12}


@pytest.mark.parametrize(("own", "expected"), [("AD", "AD"), ("ASD", "NC"), (None, "NC")])
def test_subject_stands_beside_its_group_or_the_controls(own, expected) -> None:
    assert group_beside(own, ["NC", "AD"]) == expected


@pytest.mark.parametrize("name", asked_names())
def test_shipped_models_are_tested_with_overall_connectivity_and_without(name) -> None:
    groups = load_groups(name)
    for test in all_block_tests(groups.tests, groups.n):
        assert test.covariates.startswith("mean_abs_fc, ")
        assert test.n_marked_without_connectivity is not None
        assert test.blocks["covariates_without_connectivity"].unique().tolist() == [
            test.covariates.removeprefix("mean_abs_fc, ")
        ]
        assert len(test.blocks) == test.blocks["module"].nunique() ** 2
        assert len(test.contrast) == 1


def test_a_network_has_the_mean_of_its_regions_and_the_range_of_members() -> None:
    weights = np.array([[1.0, 3.0, 0.5, 1.0], [2.0, 2.0, 0.3, 1.0]], dtype=np.float32)
    table = network_table(weights, ["default", "default", "visual", None])
    assert table.to_numpy().tolist() == [
        ["default", "2", "2.00", "2.00 to 2.00"],
        ["no network", "1", "1.00", "1.00 to 1.00"],
        ["visual", "1", "0.40", "0.30 to 0.50"],
    ]


@pytest.mark.parametrize("name", pretrained_names())
def test_weights_are_read_as_they_are_stored(name: str) -> None:
    weights, stored = load_region_weights(name), load_file(model_folder(name) / "model.safetensors")
    assert weights.shape == (_n_members(load_card(name)), load_card(name)["n_regions"])
    np.testing.assert_array_equal(weights[3], stored["member3.region_weight"].numpy())
    assert np.exp(np.log(weights).mean(axis=1)) == pytest.approx(1, abs=0.02)
