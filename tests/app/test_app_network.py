"""A network that several cohorts share, on the pages: controls first, then disorders; readouts are asked for."""

from pathlib import Path

import numpy as np
import pytest
from page_contents import array, as_shown, captions, figure, heatmaps
from page_hands import turn_to
from tiny_models import write_tiny_network

from biobgt.data.simulate import demo_cohort
from biobgt.model import folder as model_files
from biobgt.model.folder import load_card, load_pretrained
from biobgt.model.group_results import load_groups, load_spread

NETWORK = "two-aal90"


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one tiny network."""
    folder = tmp_path_factory.mktemp("pretrained")
    write_tiny_network(folder / "shipped" / NETWORK)
    return folder / "shipped"


@pytest.fixture(autouse=True)
def _shipped(networks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_files, "pretrained_folder", lambda: networks)


def test_attention_opens_on_the_network_cohort_by_cohort_then_controls_then_disorders(
    open_page,
) -> None:
    page = open_page("attention")  # of a demo on another atlas
    shown = figure(page, f"attention_{NETWORK}")
    groups = load_groups(NETWORK)
    titles = [note["text"] for note in shown["layout"]["annotations"]][:6]
    own = [group for one in load_card(NETWORK)["readouts"] for group in one["groups"]]
    assert [title.split("<br>")[0] for title in titles] == own
    maps = heatmaps(shown)
    assert len(maps) == 6
    tops = [shown["layout"][f"yaxis{i or ''}"]["domain"][1] for i in (0, 2, 3, 4, 5, 6)]
    assert tops[:3] == [1, 1, 1]
    assert max(tops[3:]) < 0.6  # the second cohort stands below the first
    tabs = page.segmented_control(key="attention_tab").options
    assert tabs.index("Controls") < tabs.index("Disorders")
    turn_to(page, "controls")
    between = figure(page, "controls_attention_difference")["layout"]["title"]["text"]
    assert between.startswith("NC (CNI-2019) minus NC (ABIDE)")
    turn_to(page, "disorders")
    assert "alike by that alone" in captions(page)
    page.selectbox(key="disorder").select("AD (CNI-2019)").run()
    beside = figure(page, "attention_difference")["layout"]["title"]["text"]
    assert beside.startswith("AD (CNI-2019) minus NC (CNI-2019)")
    turn_to(page, "groups")
    order = page.selectbox(key="attention_order").select("atlas").run()
    first = array(heatmaps(figure(order, f"attention_{NETWORK}"))[0]["z"])
    np.testing.assert_allclose(first, 90 * groups.attention[own[0]].mean(axis=(0, 1)), rtol=1e-3)


def test_median_maps_and_standard_errors_are_a_choice(open_page) -> None:
    page = open_page("attention", attention_order="atlas", attention_average="median", difference_unit="errors")
    spread = load_spread(NETWORK)
    assert spread is not None
    first = array(heatmaps(figure(page, f"attention_{NETWORK}"))[0]["z"])
    np.testing.assert_allclose(first, spread.median["NC (ABIDE)"], rtol=1e-4)
    assert "group median attention" in captions(page)
    turn_to(page, "disorders")
    shown = array(heatmaps(figure(page, "attention_difference"))[0]["z"])
    groups = load_groups(NETWORK)
    means = [90 * groups.attention[name].mean(axis=(0, 1)) for name in ("NC (ABIDE)", "MCI (ABIDE)")]
    error = np.hypot(spread.error["NC (ABIDE)"], spread.error["MCI (ABIDE)"])
    np.testing.assert_allclose(shown, (means[1] - means[0]) / error, rtol=1e-3, atol=1e-3)
    assert "standard error of its difference" in captions(page)
    turn_to(page, "people")
    dots = [trace for trace in figure(page, "spread")["data"] if trace["type"] == "scatter"]
    np.testing.assert_allclose(array(dots[0]["y"]), spread.people["NC (ABIDE)"][:, 0], rtol=1e-5)


def test_predict_asks_whose_controls_are_meant(open_page) -> None:
    page = open_page("predict", cohort="ad", model=NETWORK)
    assert not page.metric
    assert "has a readout for each" in " ".join(text.value for text in page.markdown)
    page.selectbox(key="readout").select("cni-adhd").run()
    said = " ".join(text.value for text in page.markdown)
    assert "6 controls of CNI-TLC 2019" in as_shown(said)
    subject = demo_cohort("ad").subjects[0]
    cohort = demo_cohort("ad").select(lambda one: one.id == subject.id)
    row = load_pretrained(f"{NETWORK}/cni-adhd").predict(cohort).iloc[0]
    assert page.metric[0].value == f"{row['p_NC (CNI-2019)']:.0%}"


def test_models_shows_the_card_of_the_readout_that_is_chosen(open_page) -> None:
    page = open_page("models", model=NETWORK)
    assert figure(page, "likeness"), "what its cohorts share"
    page.selectbox(key="readout").select("abide").run()
    assert figure(page, "results")
