"""Disorders beside their own controls: maps are mean minus mean, and what stands beside a cell is of that cell."""

import base64

import numpy as np
import pytest

from biobgt.figures.attention import tested
from biobgt.figures.attention.disorders import (
    attention_minus_controls,
    block_rates,
    block_words,
    compared_controls,
    groups_in_a_row,
    pairs_beside,
    reach,
)
from biobgt.figures.attention.maps import AttentionOptions
from biobgt.figures.attention.region import region_attention, region_attention_by_group
from biobgt.figures.screen import linked
from biobgt.model.pretrained import installed_model
from biobgt.results.measured import Measured

FIVE = installed_model("five-groups-aal90")
TWO = installed_model("abide-cc200")
ROW, COLUMN = 3, 61
ASD = ("NC (ABIDE)", "ASD")


def mean_map(model, group):
    """Attention of a group in multiples of uniform attention, by the definition."""
    return model.groups.attention[group].astype(float).mean(axis=(0, 1)) * model.atlas.n_regions


def test_disorders_stand_in_one_order_behind_controls_minus_controls():
    assert groups_in_a_row(FIVE) == ("NC (CNI-2019)", "ADHD", "ASD", "MCI (simulated)", "AD (simulated)")
    assert pairs_beside(FIVE) == [
        ("NC (ABIDE)", "NC (CNI-2019)"),
        ("NC (CNI-2019)", "ADHD"),
        ASD,
        ("NC (simulated)", "MCI (simulated)"),
        ("NC (simulated)", "AD (simulated)"),
    ]
    assert compared_controls(TWO) is None
    assert (groups_in_a_row(TWO), pairs_beside(TWO)) == (("NC", "ASD"), [("NC", "ASD")])


@pytest.mark.parametrize("model", [FIVE, TWO], ids=lambda one: one.name)
def test_a_difference_is_mean_minus_mean_on_one_scale_with_the_marked_blocks(model):
    drawn = attention_minus_controls(Measured(model.cohort), AttentionOptions())
    (limit,) = {mark.shades.high for mark in drawn.marks}
    widest = 0.0
    for panel, pair in zip(drawn.panels, pairs_beside(model), strict=True):
        (mark,) = panel.marks
        at = list(mark.ids).index
        whole = mean_map(model, pair[1]) - mean_map(model, pair[0])
        assert mark.z[at(ROW), at(COLUMN)] == pytest.approx(whole[ROW, COLUMN])
        assert f"±{reach(whole):.2f}" in panel.title
        assert all(group in panel.title for group in pair)
        assert len(mark.frames) == len(tested.tested_blocks(model, pair).marked)
        widest = max(widest, reach(whole))
    assert limit == pytest.approx(widest)
    assert drawn.simulated == model.simulates(model.group_names)


def test_what_differs_between_controls_is_larger_than_any_disorder():
    drawn = attention_minus_controls(Measured(FIVE.cohort), AttentionOptions())
    controls, *disorders = (reach(panel.marks[0].z) for panel in drawn.panels)
    assert controls > 3 * max(disorders)
    assert "controls minus controls" in drawn.line


def test_beside_a_cell_stand_its_own_fc_and_q_of_its_block_as_tested():
    cells = linked.map_cells(FIVE)
    n = FIVE.atlas.n_regions

    def told(which, name):
        place = cells[which]["names"].index(name)
        numbers = np.frombuffer(base64.b64decode(cells[which]["values"][place]["bdata"]), np.int16)
        return numbers.reshape(n, n) / cells[which]["per"]

    fc = FIVE.groups.connectivity["ADHD"]
    np.testing.assert_allclose(told("groups", "ADHD"), fc, atol=0.0006)
    rates = told("differences", "ASD − NC (ABIDE)")
    labels = FIVE.atlas.labelling(next(iter(FIVE.atlas.labels)))
    looking, looked_at = labels.index("default"), labels.index("occipital")
    blocks = tested.tested_blocks(FIVE, ASD).blocks.set_index(["module", "other_module"])["q"]
    assert rates[looking, looked_at] == pytest.approx(blocks["default", "occipital"], abs=0.0006)
    unlabelled = labels.index(None)
    assert np.isnan(block_rates(FIVE, ASD)[unlabelled]).all()
    assert (rates[unlabelled] < -1).all(), "the least number stands for a block that was not tested"


def test_a_region_looks_as_its_row_says_and_differs_as_the_rows_do():
    measured, takes = Measured(FIVE.cohort), region_attention.takes
    region = FIVE.atlas.regions[ROW]
    shown = region_attention(measured, takes(region=region, shown="ASD")).marks[0]
    np.testing.assert_allclose(shown.values, mean_map(FIVE, "ASD")[ROW])
    minus = region_attention(measured, takes(region=region, shown="ASD − NC (ABIDE)"))
    difference = mean_map(FIVE, "ASD")[ROW] - mean_map(FIVE, "NC (ABIDE)")[ROW]
    np.testing.assert_allclose(minus.marks[0].values, difference, atol=1e-12)
    assert "462 NC (ABIDE), 437 ASD" in minus.caption
    assert not minus.simulated


@pytest.mark.parametrize("compared", ["groups", "differences"])
def test_a_region_looks_in_every_group_as_its_rows_say_on_one_scale(compared):
    measured, takes = Measured(FIVE.cohort), region_attention_by_group.takes
    drawn = region_attention_by_group(measured, takes(region=FIVE.atlas.regions[ROW], compared=compared))
    pairs = pairs_beside(FIVE)
    rows = [mean_map(FIVE, group)[ROW] for group in groups_in_a_row(FIVE)]
    if compared == "differences":
        rows = [(mean_map(FIVE, second) - mean_map(FIVE, first))[ROW] for first, second in pairs]
    assert len(drawn.marks) == len(rows) == 5
    for brain, row in zip(drawn.marks, rows, strict=True):
        np.testing.assert_allclose(brain.values, row, atol=1e-12)
        np.testing.assert_array_equal(brain.ids, np.arange(FIVE.atlas.n_regions))
    assert len({(brain.limits, brain.size_limits) for brain in drawn.marks}) == 1
    if compared == "differences":
        limit = attention_minus_controls(measured, AttentionOptions()).marks[0].shades.high
        assert drawn.marks[0].limits == pytest.approx((-limit, limit)), "as wide as that of the maps"
        assert [panel.title.split("\n")[0] for panel in drawn.panels] == [second for _, second in pairs]
    table = drawn.numbers()
    np.testing.assert_allclose(table[table.columns[-1]], rows[-1])


def test_a_block_of_functional_modules_says_what_was_tested_and_another_that_nothing_was():
    labels = FIVE.atlas.labelling(next(iter(FIVE.atlas.labels)))
    looking, looked_at = ([i for i, label in enumerate(labels) if label == name] for name in ("default", "occipital"))
    said = block_words(FIVE, looking, looked_at[::-1])
    row = tested.tested_blocks(FIVE, ASD).blocks.set_index(["module", "other_module"]).loc["default", "occipital"]
    assert f"ASD − NC (ABIDE) d = {row['d']:.2f}, q = {row['q']:.2g}".replace("-", "−") in said.replace("-", "−")
    assert said.count("q = ") == sum(tested.tested_blocks(FIVE, pair) is not None for pair in pairs_beside(FIVE))
    assert "cannot be" in block_words(FIVE, looking[1:], looked_at)
