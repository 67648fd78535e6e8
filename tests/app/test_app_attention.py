"""The page of attention: what it shows is what the models' folders hold."""

import json

import numpy as np
import pandas as pd
import pytest
from page_contents import address_of, array, badges, captions, figure, heatmaps, in_atlas_order, table_with, words
from page_hands import turn_to

from biobgt.base.wording import percent
from biobgt.data.atlas import load_atlas
from biobgt.data.simulate import demo_cohort
from biobgt.figures.attention.maps import _connectivity_words, colour_limits
from biobgt.model.attention import (
    attention_received,
    beside_connectivity,
    functional_labels,
    select_attention,
)
from biobgt.model.folder import load_card, load_pretrained
from biobgt.model.group_results import load_groups
from biobgt.training.card_text import CardText
from biobgt.training.cards import _seal_card

pytestmark = pytest.mark.usefixtures("models")


def _mean(value: float) -> dict[str, float]:
    return {"value": value, "low": value - 0.01, "high": value + 0.01}


FAITHFULNESS = {
    "n": 20,
    "people": 20,
    "ahead": _mean(0.04),
    "removed": [
        {
            "order": order,
            "share": share,
            "regions": round(200 * share),
            "deletion": _mean(moved),
            "insertion": _mean(0.3),
        }
        for order, change in (("attention", 0.06), ("random", 0.02), ("strength", 0.03), ("gradient", 0.2))
        for share, moved in ((0.1, change), (0.5, 0.1))
    ],
    "randomised": [{"part": part, "correlation": _mean(0.9)} for part in ("readout", "W", "W and ψ")],
    "agreement": [
        {"with": whom, **{what: _mean(0.5) for what in ("map", "received", "top")}}
        for whom in ("members", "linear model")
    ],
}


def test_groups_stand_side_by_side_on_one_scale_by_layer_and_head(open_page, groups) -> None:
    page = in_atlas_order(open_page("attention"))
    shown = figure(page, "attention_abide-cc200")
    panels = heatmaps(shown)
    assert [panel["coloraxis"] for panel in panels] == ["coloraxis"] * 2
    for panel, group in zip(panels, ("NC", "ASD"), strict=True):
        np.testing.assert_allclose(array(panel["z"]), select_attention(groups.attention[group]), rtol=1e-5)
    assert shown["layout"]["title"]["text"] == "Attention of abide-cc200"
    scale = shown["layout"]["coloraxis"]
    maps = [select_attention(groups.attention[group]) for group in ("NC", "ASD")]
    assert (scale["cmin"], scale["cmax"]) == pytest.approx(colour_limits(maps), abs=1e-4)
    page.selectbox(key="attention_layer").select(2)
    page.selectbox(key="attention_head").select(1).run()
    first = heatmaps(figure(page, "attention_abide-cc200"))[0]
    np.testing.assert_allclose(array(first["z"]), 200 * groups.attention["NC"][1, 0], rtol=1e-5)
    assert "layer 2, head 1" in captions(page)
    assert "The test is of the mean over layers and heads" not in captions(page)  # no block is framed in this order


def test_one_selector_says_whose_attention_all_tabs_show(open_page) -> None:
    page = open_page("attention")
    assert not page.main.multiselect, "a second selector could say another model"
    page.selectbox(key="model").select("adsim-aal90").run()
    assert address_of(page)["model"] == "adsim-aal90", "the address keeps it"
    assert len(heatmaps(figure(page, "attention_adsim-aal90"))) == 3
    assert figure(page, "attention_adsim-aal90")["layout"]["title"]["text"].endswith("simulated")
    assert badges(page) == 1
    assert not [one for one in page.get("plotly_chart") if "abide-cc200" in one.proto.id]
    turn_to(page, "subject")
    assert "Model adsim-aal90 was trained on AAL-90" in words(page.info), "the tab of the subject follows, too"
    assert "Other networks" not in tabs(page), "measured beside abide-cc200 alone"


def test_the_page_says_what_attention_is_made_of_and_what_it_does(open_page, groups) -> None:
    page = open_page("attention")
    assert "They do not explain why a subject is assigned to a group" in page.title[0].help
    assert CardText({}).ablation in captions(page)  # the tiny models' cards were never completed
    labels = functional_labels(load_atlas("cc200"), next(iter(load_atlas("cc200").labels)))
    found = {
        group: beside_connectivity(select_attention(groups.attention[group]), groups.connectivity[group], labels)
        for group in ("NC", "ASD")
    }
    assert _connectivity_words(found) in captions(page)
    assert CardText({}).ablation in words(open_page("models", model_tab="data").markdown)


def test_difference_frames_the_blocks_that_pass_and_says_what_was_adjusted_for(open_page, groups, folder) -> None:
    tests = folder / "abide-cc200" / "tests.csv"
    before = tests.read_text(encoding="utf-8")
    table = groups.tests.copy()
    blocks = table.index[table["family"] == "block"]
    table.loc[blocks, ["q", "q_unadjusted", "q_given_fc"]] = 0.5
    marked = table.index[table["feature"] == "default → occipital"][0]
    table.loc[marked, ["q", "q_unadjusted"]] = 0.01, 0.5
    without = table.assign(covariates="log_mean_fd, age")  # not adjusted for overall connectivity, all blocks differ
    without.loc[blocks, ["q", "q_of_fc"]] = 0.02
    table["covariates"] = "mean_abs_fc, log_mean_fd, age"
    pd.concat([table, without]).to_csv(tests, index=False)
    _seal_card(folder / "abide-cc200")  # as if it were trained anew, so that it is read anew
    try:
        page = open_page("attention", attention_tab="difference")
        shown = figure(page, "attention_difference")
    finally:
        tests.write_text(before, encoding="utf-8")
        _seal_card(folder / "abide-cc200")
    z, names = array(shown["data"][0]["z"]), list(shown["data"][0]["y"])
    positions = [demo_cohort("asd", n_per_group=1).atlas.regions.index(name) for name in names]
    nc, asd = (select_attention(groups.attention[group]) for group in ("NC", "ASD"))
    np.testing.assert_allclose(z, (asd - nc)[np.ix_(positions, positions)], atol=1e-4)
    (frame,) = [shape for shape in shown["layout"]["shapes"] if shape.get("name") == "marked"]
    labels = demo_cohort("asd", n_per_group=1).atlas.labelling("dosenbach")
    inside = {labels[positions[row]] for row in range(200) if frame["y0"] < row < frame["y1"]}
    assert inside == {"default"}
    said = captions(page)
    assert "adjusted for overall connectivity, motion (log mean FD) and age: 1 of 36 module blocks differs at" in said
    assert "Without adjusting for overall connectivity (mean |FC|), 36 differ; unadjusted, 0." in said
    assert "Not adjusted for sex and site" in said
    shown = figure(page, "block_effects")
    marked = [note["yref"] for note in shown["layout"]["annotations"] if "✱" in note["text"]]
    assert [marked.count(panel) for panel in ("y", "y2", "y3", "y4")] == [1, 0, 36, 0]  # given FC; FC itself
    effects = shown["data"][0]
    above = list(dict.fromkeys(label for label in labels if label))
    assert list(effects["y"]) == above == list(effects["x"]), "modules in the order of the maps above"
    block_table = table_with(page, "FDR q")
    assert block_table.iloc[0, 0] == f"{above[0]} → {above[0]}"
    assert block_table["FDR q, without overall connectivity"].eq(0.02).all()


def test_patient_groups_are_compared_with_each_other_either_way(open_page) -> None:
    page = open_page("attention", cohort="ad", attention_tab="difference")
    page.selectbox(key="attention_first_group").select("AD").run()
    page.selectbox(key="attention_second_group").select("MCI").run()
    rows = load_groups("adsim-aal90").tests
    rows = rows[(rows["between"] == "MCI - AD") & (rows["family"] == "block")].set_index("feature")
    shown = figure(page, "block_effects")["data"][0]
    at = list(shown["y"]).index("default"), list(shown["x"]).index("occipital")
    assert array(shown["z"])[at] == pytest.approx(-rows.loc["default → occipital", "d"])
    assert "among 3 AD, 3 MCI" in captions(page)
    assert "AD against MCI: d =" in captions(turn_to(page, "contrast"))


def test_contrast_and_attention_received_are_the_folders(look_at, groups) -> None:
    page = look_at("attention", attention_tab="contrast")
    traces = figure(page, "contrast")["data"]
    np.testing.assert_allclose(array(traces[0]["y"]), groups.contrast["NC"].ravel(), rtol=1e-6)
    assert array(traces[3]["y"])[0] == pytest.approx(float(groups.contrast["ASD"].mean()), rel=1e-6)
    page = look_at("attention", attention_tab="brain")
    nodes = next(trace for trace in figure(page, "received")["data"] if trace.get("name") == "regions")
    expected = attention_received(select_attention(groups.attention["NC"]))
    np.testing.assert_allclose(array(nodes["marker"]["color"]), expected, rtol=1e-5)
    assert f"which is {percent(np.ptp(expected) / expected.mean())} of the mean" in captions(page)


def test_own_subject_stands_beside_its_group(open_page, groups) -> None:
    page = in_atlas_order(open_page("attention", subject="sim-ASD-001", attention_tab="subject"))
    page.toggle(key="own_attention").set_value(True).run()
    own, beside = heatmaps(figure(page, "own_attention_map"))
    subject = demo_cohort("asd")["sim-ASD-001"]
    expected = select_attention(load_pretrained("abide-cc200").explain([subject]).attention[0])
    np.testing.assert_allclose(array(own["z"]), expected, rtol=1e-4)
    np.testing.assert_allclose(array(beside["z"]), select_attention(groups.attention["ASD"]), rtol=1e-5)


def test_subject_on_another_atlas_gets_a_sentence(open_page) -> None:
    for page in ("attention", "predict"):
        shown = open_page(page, cohort="ad", model="abide-cc200", attention_tab="subject")
        assert "Model abide-cc200 was trained on Craddock CC200 with 200 regions" in words(shown.info)
        assert "AAL-90 (cerebrum) with 90" in words(shown.info)


def tabs(page) -> list[str]:
    """What there is to choose from."""
    return page.segmented_control(key="attention_tab").options


def test_a_tab_is_part_of_the_address_and_only_it_is_drawn(open_page) -> None:
    page = open_page("attention")
    assert [tab for tab in tabs(page) if tab not in ("People", "Other networks")] == [
        *("Groups", "Difference", "Within modules", "In the brain", "Is it faithful?", "One subject")
    ]
    assert "attention_tab" not in address_of(page)
    turn_to(page, "contrast")
    assert address_of(page)["attention_tab"] == "contrast"
    (only,) = page.get("plotly_chart")
    assert only.proto.id.endswith("-contrast")
    other = open_page("attention", attention_tab="disorders")  # of a network with several cohorts
    assert "attention_tab 'disorders' is not available here" in words(other.warning)
    assert figure(other, "attention_abide-cc200")


def test_whether_attention_is_faithful_is_said_where_it_was_measured(open_page, folder) -> None:
    for name, tab in (("attention", {"attention_tab": "faithful"}), ("models", {"model_tab": "attention"})):
        page = open_page(name, **tab)
        assert "Whether attention shows what predictions rest on has not been measured." in words(page.markdown)
        assert not [one for one in page.get("plotly_chart") if "faithful_" in one.proto.id]
    measured = load_card("abide-cc200") | {"faithfulness": FAITHFULNESS}
    file = folder / "abide-cc200" / "card.json"
    before = file.read_text(encoding="utf-8")
    file.write_text(json.dumps(measured), encoding="utf-8")
    try:
        for name, tab in (("attention", {"attention_tab": "faithful"}), ("models", {"model_tab": "attention"})):
            page = open_page(name, **tab)
            shown = figure(page, "faithful_abide-cc200")
            curves = [trace for trace in shown["data"] if trace.get("name") == "attention received"]
            assert any(list(array(trace["y"])) == [0.06, 0.1] for trace in curves)
            assert "changes p by 0.060, a random tenth by 0.020: 3.0 times as much." in captions(page)
    finally:
        file.write_text(before, encoding="utf-8")
