"""Explore asks no more of the server than it must, and says what it waits for."""

import pytest
from page_contents import buttons, parts, words

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
