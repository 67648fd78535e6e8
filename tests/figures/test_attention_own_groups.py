"""A cohort's own groups beside a model's: means are over people, a difference is mean minus mean, and q is its own."""

from dataclasses import replace

import numpy as np
import pytest

from biobgt.base.errors import InputError
from biobgt.data.cohort import Cohort
from biobgt.data.simulate import demo_cohort
from biobgt.figures.attention.own_groups import (
    own_attention,
    own_attention_difference,
    own_block_words,
    own_maps,
    own_tests,
)
from biobgt.figures.attention.region import own_region_attention
from biobgt.figures.screen import linked
from biobgt.model.pretrained import installed_model
from biobgt.results.measured import Measured

MODEL = installed_model("adsim-aal90")
GROUPS = ("NC", "AD")
ROW, COLUMN = 5, 44
N = 6


@pytest.fixture(scope="module")
def measured() -> Measured:
    """A cohort on whom the model ran already: what it said of each is known, and no network is loaded."""
    cohort = demo_cohort("ad", n_per_group=N)
    found, random = Measured(cohort), np.random.default_rng(0)
    for one in cohort:
        attention = random.gamma(4, 0.25, (MODEL.atlas.n_regions,) * 2) + (one.group == "AD") * 0.5
        of_one = found.of(one.id)
        found.store.put(of_one.key(Measured.attention_map, MODEL), attention.astype(np.float16))
    return found


def options(figure):
    return figure.takes(model=MODEL.name, first=GROUPS[0], second=GROUPS[1])


def mean_by_hand(measured: Measured, group: str, at: tuple[int, int]) -> float:
    return float(np.mean([float(measured.of(i).attention_map(MODEL)[at]) for i in measured.cohort.group(group).ids]))


def test_own_groups_stand_behind_the_models_on_one_scale(measured) -> None:
    drawn = own_attention(measured, options(own_attention))
    titles = [panel.title for panel in drawn.panels]
    assert titles == ["NC (n = 154)", "MCI (n = 154)", "AD (n = 154)", f"own NC (n = {N})", f"own AD (n = {N})"]
    assert len({(mark.shades.low, mark.shades.high) for mark in drawn.marks}) == 1
    last = drawn.marks[-1]
    at = list(last.ids).index
    assert last.z[at(ROW), at(COLUMN)] == pytest.approx(mean_by_hand(measured, "AD", (ROW, COLUMN)))
    assert drawn.simulated


def test_the_difference_is_mean_minus_mean_and_its_blocks_are_tested_over_the_same_people(measured) -> None:
    drawn = own_attention_difference(measured, options(own_attention_difference))
    last = drawn.marks[-1]
    at = list(last.ids).index
    by_hand = mean_by_hand(measured, "AD", (ROW, COLUMN)) - mean_by_hand(measured, "NC", (ROW, COLUMN))
    assert last.z[at(ROW), at(COLUMN)] == pytest.approx(by_hand)
    tests = own_tests(measured, MODEL, GROUPS)
    assert tests.n_subjects == {"NC": N, "AD": N}
    row = tests.blocks.iloc[0]
    labels = MODEL.atlas.labelling(next(iter(MODEL.atlas.labels)))
    inside = [[label == row[side] for label in labels] for side in ("module", "other_module")]
    pairs = np.outer(*inside) & ~np.eye(len(labels), dtype=bool)
    means = own_maps(measured, MODEL, GROUPS)
    assert row["difference_unadjusted"] == pytest.approx((means["AD"] - means["NC"])[pairs].mean(), abs=1e-3)
    assert len(last.frames) == len(tests.marked) > 0, "half of uniform attention was added"


@pytest.mark.parametrize("compared", ["groups", "differences"])
def test_one_region_of_own_groups_stands_behind_the_models(measured, compared) -> None:
    region = measured.atlas.regions[ROW]
    takes = own_region_attention.takes
    given = {"model": MODEL.name, "first": GROUPS[0], "second": GROUPS[1], "region": region, "compared": compared}
    drawn = own_region_attention(measured, takes(**given))
    first, second = (mean_by_hand(measured, group, (ROW, COLUMN)) for group in GROUPS)
    value = drawn.marks[-1].values[COLUMN]
    assert value == pytest.approx(second if compared == "groups" else second - first)
    assert [panel.title for panel in drawn.panels][-1] == ("own AD" if compared == "groups" else "own AD\n− own NC")
    assert len({brain.limits for brain in drawn.marks}) == 1
    assert f"{N} NC and {N} AD" in drawn.caption


def test_a_block_of_own_groups_is_tested_over_the_same_people(measured) -> None:
    rows, columns = (1, 2, 3), (3, 60)
    said = own_block_words(measured, MODEL, GROUPS, rows, columns)
    means = []
    for one in measured.cohort:
        if one.group in GROUPS:
            found = measured.of(one.id).attention_map(MODEL).astype(float)
            means.append((one.group, np.mean([found[i, j] for i in rows for j in columns if i != j])))
    first, second = (np.array([mean for group, mean in means if group == own]) for own in GROUPS)
    d = (second.mean() - first.mean()) / np.sqrt((first.var(ddof=1) + second.var(ddof=1)) / 2)
    assert f"own AD − own NC: d = {d:.2f}" in said
    assert f"{N} NC, {N} AD; this block alone" in said
    assert "adjusted for no covariate" in said
    assert "at least 10" in said, "why overall connectivity was left out"


def test_recordings_of_a_person_count_once(measured) -> None:
    cohort = measured.cohort
    first, second, *others = [one for one in cohort if one.group == "NC"]
    twice = (replace(first, id="sub-x_run-1"), replace(second, id="sub-x_run-2"), *others)
    joined = Cohort("joined", (*twice, *(one for one in cohort if one.group == "AD")), cohort.atlas)
    found = Measured(joined)
    for new, old in zip(joined.ids, [first.id, second.id, *joined.ids[2:]], strict=True):
        known = measured.of(old).attention_map(MODEL)
        found.store.put(found.of(new).key(Measured.attention_map, MODEL), known)
    each = [float(measured.of(one.id).attention_map(MODEL)[ROW, COLUMN]) for one in (first, second, *others)]
    by_person = np.mean([np.mean(each[:2]), *each[2:]])
    assert own_maps(found, MODEL, GROUPS)["NC"][ROW, COLUMN] == pytest.approx(by_person)


def test_cells_of_own_groups_come_behind_the_models(measured) -> None:
    cells = linked.own_cells(measured, MODEL, GROUPS)
    assert cells["groups"]["names"] == ["NC", "MCI", "AD", "own NC", "own AD"]
    assert cells["differences"]["names"] == ["MCI − NC", "AD − NC", "own AD − own NC"]


def test_a_model_of_another_atlas_is_refused(measured) -> None:
    with pytest.raises(InputError, match="trained on"):
        own_maps(measured, installed_model("abide-cc200"), GROUPS)
