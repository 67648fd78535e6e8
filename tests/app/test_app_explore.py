"""Explore asks no more of the server than it must, and says what it waits for."""

from dataclasses import replace

import pytest
from page_contents import buttons, parts, words

from biobgt.data.simulate import demo_cohort
from biobgt.hubs import table as hub_tables


def test_hubs_of_a_fine_atlas_wait_for_a_click_and_the_rest_does_not(open_page, count, monkeypatch) -> None:
    measured = count(hub_tables, "measure_hubs")
    for bound in ("ASK_ABOVE", "STEPS_ABOVE"):
        monkeypatch.setattr(f"biobgt.hubs.resolvents.{bound}", 89)
    page = open_page("explore", cohort="ad")
    shown = parts(page)
    assert measured == []
    assert "5 seconds" in words(page.info)
    assert "not measured" in shown["explore_brain"]["note"]
    assert shown["explore_matrix"]["figure"]
    assert "facts" not in shown
    page.button(key="measure_hubs").click().run()
    assert len(measured) == 1
    assert parts(page)["explore_brain"]["figure"]
    assert "measure_hubs" not in buttons(page)


@pytest.mark.parametrize(
    ("link", "value", "tile"), [("curve_order", "by NE", "explore_curves"), ("region_order", "atlas", "explore_matrix")]
)
def test_what_a_tile_asks_is_an_option_of_its_figure(open_page, link, value, tile) -> None:
    asked = parts(open_page("explore", cohort="ad", **{link: value}))[tile]["asks"]
    chosen = next(one for one in asked if one["name"] == link)
    assert chosen["choices"][chosen["value"]] in ("By NE, highest first", "Atlas order")


def test_one_person_has_no_difference_and_each_tile_of_the_cohort_says_so(open_own) -> None:
    cohort = demo_cohort("ad", n_per_group=1)
    alone = replace(cohort, subjects=cohort.subjects[:1])
    page = open_own("explore", alone, explore_mode="difference", explore_block={"rows": [1], "columns": [2]})
    shown = parts(page)
    for tile in ("explore_difference_brain", "explore_difference_matrix", "explore_difference_curves"):
        assert "Two groups" in shown[tile]["note"]
    assert not page.error
    assert "block" not in shown


def test_two_groups_have_a_map_of_their_difference_their_means_and_the_test_of_a_block(open_own) -> None:
    cohort = demo_cohort("ad", n_per_group=3)
    block = {"rows": [1, 2], "columns": [5, 6, 7]}
    for mode in ("difference", "subject"):
        shown = parts(open_own("explore", cohort, explore_mode=mode, explore_block=block, second_group="AD"))
        assert "AD − NC: d =" in shown["block"]["words"]
        assert list(shown["block"]["columns"]) == [5, 6, 7]
        if mode == "difference":
            assert "AD minus NC" in shown["explore_difference_matrix"]["caption"]
            assert "NC and AD" in shown["explore_difference_curves"]["caption"]
    beyond = {"rows": [1], "columns": [90]}
    assert "block" not in parts(open_own("explore", cohort, explore_block=beyond))


def test_own_groups_wait_for_a_click_and_the_model_that_fits_is_named(open_page) -> None:
    page = open_page("explore", cohort="ad", explore_mode="group", explore_whose="own")
    assert "has not run" in parts(page)["explore_group_maps"]["note"]
    assert page.button(key="own_attention_adsim-aal90_start").label == "Run adsim-aal90 on 40 subjects"
    page = open_page("explore", cohort="ad", explore_mode="group", explore_whose="own", model="abide-cc200")
    note = parts(page)["explore_group_difference"]["note"]
    assert "was trained on" in note
    assert "adsim-aal90" in note
    assert not any(key.startswith("own_attention") for key in buttons(page))
