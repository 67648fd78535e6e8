"""Weights of regions by network: a hand-checked table, and the shipped models'."""

import numpy as np
import pytest
from safetensors.torch import load_file

from biobgt.base.errors import InputError
from biobgt.model.attention import network_table, network_weights
from biobgt.model.pretrained import load_card, load_region_weights, model_folder, n_members, pretrained_names


def test_a_network_has_the_mean_of_its_regions_and_the_range_of_members() -> None:
    weights = np.array([[1.0, 3.0, 0.5, 1.0], [2.0, 2.0, 0.3, 1.0]], dtype=np.float32)
    table = network_weights(weights, ["default", "default", "visual", None])
    assert table["network"].tolist() == ["default", "no network", "visual"]
    assert table["regions"].tolist() == [2, 1, 1]
    assert table["weight"].tolist() == pytest.approx([2.0, 1.0, 0.4])
    assert table["lowest"].tolist() == pytest.approx([2.0, 1.0, 0.3])
    assert table["highest"].tolist() == pytest.approx([2.0, 1.0, 0.5])
    words = network_table(weights, ["default", "default", "visual", None])
    assert words.iloc[2].tolist() == ["visual", "1", "0.40", "0.30 to 0.50"]


@pytest.mark.parametrize("name", pretrained_names())
def test_weights_are_read_as_they_are_stored(name: str) -> None:
    weights, stored = load_region_weights(name), load_file(model_folder(name) / "model.safetensors")
    assert weights is not None
    assert weights.shape == (n_members(load_card(name)), load_card(name)["n_regions"])
    np.testing.assert_array_equal(weights[3], stored["member3.region_weight"].numpy())
    assert np.exp(np.log(weights).mean(axis=1)) == pytest.approx(1, abs=0.02)


def test_damaged_weights_get_a_sentence(tmp_path) -> None:
    folder = model_folder("abide-cc200")
    (tmp_path / "card.json").write_bytes((folder / "card.json").read_bytes())
    with pytest.raises(InputError, match="missing or damaged"):
        load_region_weights(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(InputError, match="missing or damaged"):
        load_region_weights(tmp_path)
