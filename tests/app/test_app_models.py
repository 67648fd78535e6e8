"""The pages of attention, predictions and models: what they show is what the models' folders hold."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from page_contents import array, as_shown, assert_no_error, badges, captions, chart, figure, heatmaps, in_atlas_order
from streamlit.testing.v1 import AppTest

from biobgt.atlas import load_atlas
from biobgt.figures.attention_words import connectivity_words
from biobgt.figures.benchmark_results import HERE, PAPER
from biobgt.model import pretrained
from biobgt.model.attention_views import (
    attention_received,
    beside_connectivity,
    colour_limits,
    functional_labels,
    select_attention,
)
from biobgt.model.baselines.systems import benchmark_systems
from biobgt.model.group_results import load_groups
from biobgt.model.pretrained import load_pretrained, load_region_weights
from biobgt.model.region_views import network_table
from biobgt.simulate import demo_cohort
from biobgt.training.benchmark_views import PAPER_MARK
from biobgt.training.card_words import NE_SHUFFLED, NO_ATTENTION, NOT_MEASURED
from biobgt.training.cards import seal_card
from biobgt.training.citation_views import NETWORKS, TITLES
from biobgt.wording import percent
from session.loaded_cohorts import OWN
from session.view import LoadedCohort

APP = Path(__file__).resolve().parents[2] / "app"
MODELS = ("abide-cc200", "adsim-aal90")
pytestmark = pytest.mark.usefixtures("models")
NOT_A_DIAGNOSIS = "Research use only, not a diagnostic device."


def table_with(page: AppTest, column: str) -> pd.DataFrame:
    """The table of a page that has this column."""
    return next(element.value for element in page.table if column in element.value.columns)


def test_groups_stand_side_by_side_on_one_scale(open_page, groups) -> None:
    page = in_atlas_order(open_page("attention"))
    assert_no_error(page)
    shown = figure(page, "attention_abide-cc200")
    panels = heatmaps(shown)
    assert [panel["coloraxis"] for panel in panels] == ["coloraxis"] * 2
    for panel, group in zip(panels, ("NC", "ASD"), strict=True):
        np.testing.assert_allclose(array(panel["z"]), select_attention(groups.attention[group]), rtol=1e-5)
    other = figure(page, "attention_adsim-aal90")
    assert len(heatmaps(other)) == 3
    scales = [{end: one["layout"]["coloraxis"][end] for end in ("cmin", "cmax")} for one in (shown, other)]
    maps = [select_attention(one) for name in MODELS for one in load_groups(name).attention.values()]
    assert scales[0] == scales[1]  # one scale for models, too: 1 is uniform attention in all of them
    assert tuple(scales[0].values()) == pytest.approx(colour_limits(maps), abs=1e-4)
    assert "One colour scale for all groups of all models shown" in captions(page)
    page.multiselect(key="models_shown").set_value(["adsim-aal90"]).run()
    alone = figure(page, "attention_adsim-aal90")["layout"]["coloraxis"]
    assert (alone["cmin"], alone["cmax"]) == pytest.approx(colour_limits(maps[-3:]), abs=1e-4)
    assert "of all models shown" not in captions(page)
    assert shown["layout"]["title"]["text"] == "Attention of abide-cc200"
    assert figure(page, "attention_adsim-aal90")["layout"]["title"]["text"].endswith("simulated")
    assert badges(page.main) >= 2


def test_the_page_says_what_attention_is_made_of_and_what_it_does(open_page, groups, folder) -> None:
    page = open_page("attention")
    assert_no_error(page)
    text = " ".join(element.value for element in page.markdown)
    assert "learns whom to look at" not in text
    assert "They do not explain why a subject is assigned to a group" in text
    assert NOT_MEASURED in text.replace("\\", "")  # the tiny models' cards were never completed
    labels = functional_labels(load_atlas("cc200"), next(iter(load_atlas("cc200").labels)))
    found = {
        group: beside_connectivity(select_attention(groups.attention[group]), groups.connectivity[group], labels)
        for group in ("NC", "ASD")
    }
    assert connectivity_words(found) in captions(page)
    part = {"largest_change": 0.03, "mean_change": 0.01, "correlation": 0.9991, "changed_calls": 2}
    beside = {"correlation": 0.7, "contrast": 3.0, "connectivity_contrast": 4.5}
    parts = {
        "members_at_start": 1,
        "without": {NE_SHUFFLED: part, NO_ATTENTION: part},
        "connectivity": dict.fromkeys(groups.n, beside),
    }
    file = folder / "abide-cc200" / "card.json"
    before = file.read_text(encoding="utf-8")
    file.write_text(json.dumps({**json.loads(before), "parts": parts}), encoding="utf-8")
    try:
        page = open_page("attention")
        text = " ".join(element.value for element in page.markdown).replace("\\", "")
        assert "Setting attention to zero changes probabilities by 0.010 on average and 0.030 at most" in text
        assert "1 of 2 members took no training step from the subjects' groups" in text
        assert "gives 4.50 (NC) and 4.50 (ASD); a subject's attention" in captions(page)
        assert "Setting attention to zero" in " ".join(m.value for m in open_page("models").markdown)
    finally:
        file.write_text(before, encoding="utf-8")


def test_layer_and_head_are_those_chosen(open_page, groups) -> None:
    page = in_atlas_order(open_page("attention"))
    page.selectbox(key="attention_layer").select(2)
    page.selectbox(key="attention_head").select(1).run()
    assert_no_error(page)
    first = heatmaps(figure(page, "attention_abide-cc200"))[0]
    np.testing.assert_allclose(array(first["z"]), 200 * groups.attention["NC"][1, 0], rtol=1e-5)
    assert "layer 2, head 1" in captions(page)
    assert "The test is of the mean over layers and heads" not in captions(page)  # no block is framed in this order


def test_difference_frames_the_blocks_that_pass_and_says_what_was_adjusted_for(open_page, groups, folder) -> None:
    tests = folder / "abide-cc200" / "tests.csv"
    before = tests.read_text(encoding="utf-8")
    table = groups.tests.copy()
    blocks = table.index[table["family"] == "block"]
    table.loc[blocks, ["q", "q_unadjusted"]] = 0.5
    marked = table.index[table["feature"] == "default → occipital"][0]
    table.loc[marked, ["q", "q_unadjusted"]] = 0.01, 0.5
    without = table.assign(covariates="mean_fd, age")  # not adjusted for overall connectivity, all blocks differ
    without.loc[blocks, "q"] = 0.02
    table["covariates"] = "mean_abs_fc, mean_fd, age"
    pd.concat([table, without]).to_csv(tests, index=False)
    seal_card(folder / "abide-cc200")  # as if it were trained anew, so that it is read anew
    try:
        page = open_page("attention")
        shown = figure(page, "attention_difference")
    finally:
        tests.write_text(before, encoding="utf-8")
        seal_card(folder / "abide-cc200")
    z, names = array(shown["data"][0]["z"]), list(shown["data"][0]["y"])
    positions = [demo_cohort("asd", n_per_group=1).atlas.regions.index(name) for name in names]
    nc, asd = (select_attention(groups.attention[group]) for group in ("NC", "ASD"))
    np.testing.assert_allclose(z, (asd - nc)[np.ix_(positions, positions)], atol=1e-4)
    (frame,) = [shape for shape in shown["layout"]["shapes"] if shape.get("name") == "marked"]
    labels = demo_cohort("asd", n_per_group=1).atlas.labelling("dosenbach")
    inside = [labels[positions[row]] for row in range(200) if frame["y0"] < row < frame["y1"]]
    across = [labels[positions[row]] for row in range(200) if frame["x0"] < row < frame["x1"]]
    assert (set(inside), set(across)) == ({"default"}, {"occipital"})
    said = captions(page)
    assert "adjusted for overall connectivity, motion and age: 1 of 36 module blocks differs at" in said
    assert "Without adjusting for overall connectivity (mean |FC|), 36 differ; unadjusted, 0." in said
    assert "Not adjusted for sex and site" in said
    panels = figure(page, "block_effects")["data"]
    assert [sum("✱" in text for row in one["text"] for text in row) for one in panels] == [1, 36, 0]
    effects = panels[0]
    above = list(dict.fromkeys(label for label in labels if label))
    assert list(effects["y"]) == above == list(effects["x"]), "modules in the order of the maps above"
    block_table = next(element.value for element in page.dataframe if "FDR q" in element.value.columns)
    assert block_table.iloc[0, 0] == f"{above[0]} → {above[0]}"
    assert block_table["FDR q, without overall connectivity"].eq(0.02).all()


def test_patient_groups_are_compared_with_each_other_either_way(open_page) -> None:
    page = open_page("attention", cohort="ad")
    page.selectbox(key="attention_first_group").select("AD").run()
    page.selectbox(key="attention_second_group").select("MCI").run()
    assert_no_error(page)
    rows = load_groups("adsim-aal90").tests
    rows = rows[(rows["between"] == "MCI - AD") & (rows["family"] == "block")].set_index("feature")
    shown = figure(page, "block_effects")["data"][0]
    at = list(shown["y"]).index("default"), list(shown["x"]).index("occipital")
    assert array(shown["z"])[at] == pytest.approx(-rows.loc["default → occipital", "d"])
    assert "among 3 AD, 3 MCI" in captions(page)
    assert "AD against MCI: d =" in captions(page)


def test_contrast_and_attention_received_are_the_folders(look_at, groups) -> None:
    page = look_at("attention")
    traces = figure(page, "contrast")["data"]
    np.testing.assert_allclose(array(traces[0]["y"]), groups.contrast["NC"].ravel(), rtol=1e-6)
    assert array(traces[3]["y"])[0] == pytest.approx(float(groups.contrast["ASD"].mean()), rel=1e-6)
    nodes = next(trace for trace in figure(page, "received")["data"] if trace.get("name") == "regions")
    expected = attention_received(select_attention(groups.attention["NC"]))
    np.testing.assert_allclose(array(nodes["marker"]["color"]), expected, rtol=1e-5)
    assert f"which is {percent(np.ptp(expected) / expected.mean())} of the mean" in captions(page)


def test_own_subject_stands_beside_its_group(open_page, groups) -> None:
    page = in_atlas_order(open_page("attention", subject="sim-ASD-001"))
    page.toggle(key="own_attention").set_value(True).run()
    assert_no_error(page)
    own, beside = heatmaps(figure(page, "own_attention_map"))
    subject = demo_cohort("asd")["sim-ASD-001"]
    expected = select_attention(load_pretrained("abide-cc200").explain([subject]).attention[0])
    np.testing.assert_allclose(array(own["z"]), expected, rtol=1e-4)
    np.testing.assert_allclose(array(beside["z"]), select_attention(groups.attention["ASD"]), rtol=1e-5)


def test_subject_on_another_atlas_gets_a_sentence(open_page) -> None:
    for page in ("attention", "predict"):
        shown = open_page(page, cohort="ad", model="abide-cc200")
        assert_no_error(shown)
        said = " ".join(as_shown(info.value) for info in shown.info)
        assert "Model abide-cc200 was trained on Craddock CC200 with 200 regions" in said
        assert "AAL-90 (cerebrum) with 90" in said


def test_predictions_are_the_librarys_and_never_a_diagnosis(open_page) -> None:
    page = open_page("predict", cohort="ad")
    assert_no_error(page)
    assert NOT_A_DIAGNOSIS in page.warning[0].value
    expected = load_pretrained("adsim-aal90").predict(demo_cohort("ad")).set_index("subject")
    metrics = {metric.label: metric.value for metric in page.metric}
    for group in ("NC", "MCI", "AD"):
        assert metrics[f"Probability of {group}"] == f"{expected.loc['sim-NC-001', f'p_{group}']:.0%}"
    page.button(key="predict_all_start").click().run()
    table = page.dataframe[-1].value.set_index("Subject")
    np.testing.assert_allclose(table["P AD"], expected.loc[table.index, "p_AD"], atol=6e-4)
    assert len(table) == len(expected)
    assert as_shown(captions(page)).count("simulated subject") >= 1
    assert badges(page.main) >= 3


def test_subject_is_marked_among_out_of_fold_probabilities(look_at, groups) -> None:
    page = look_at("predict")
    shown = figure(page, "place")
    curve = array(shown["data"][1]["y"])[::2]
    own = groups.probabilities[groups.labels == 1, 1]
    np.testing.assert_allclose(curve, np.histogram(own, bins=np.linspace(0, 1, 21))[0] / len(own))
    p = load_pretrained("abide-cc200").predict(demo_cohort("asd")).iloc[0]["p_ASD"]
    (line,) = shown["layout"]["shapes"]
    assert line["x0"] == pytest.approx(p, abs=1e-6)


def test_unlike_subject_is_warned_of(open_page) -> None:
    page = open_page("predict", model="abide-cc200", cohort="adhd")
    expected = load_pretrained("abide-cc200").predict(demo_cohort("adhd")).iloc[0]["warning"]
    assert expected, "the demo ADHD cohort has another length, so it must be told apart"
    warnings = " ".join(as_shown(warning.value) for warning in page.warning)
    assert expected in warnings
    assert "Caution" in warnings


def test_models_page_has_the_card_headline_first(look_at, folder) -> None:
    page = look_at("models")
    assert_no_error(page)
    card = json.loads((folder / "abide-cc200" / "card.json").read_text(encoding="utf-8"))
    assert as_shown(page.info[0].value) == f"**{card['headline']}**"
    assert page.info[0].icon == ":material/warning:"
    table = table_with(page, "AUC")
    auc = card["results"]["BioBGT"]["auc"]
    assert as_shown(table["AUC"].iloc[0]) == f"{auc['value']:.3f} [{auc['low']:.2f},\u00a0{auc['high']:.2f}]"
    assert as_shown(table["Accuracy"].iloc[-1]) == "0.740 ±\u00a00.020"
    assert "The model is an ensemble of 2 members" in " ".join(element.value for element in page.markdown)
    assert "0.25 for always predicting 50 %" in captions(page)
    points = figure(page, "results")["data"][0]
    assert array(points["x"])[0] == pytest.approx(auc["value"])
    codes = [code.value for code in page.code]
    assert card["training"]["command"] in codes
    assert card["sha256"] in codes


def test_reliability_and_roc_are_of_out_of_fold_probabilities(look_at, groups) -> None:
    page = look_at("models")
    roc = figure(page, "roc")["data"][1]
    area = np.trapezoid(array(roc["y"]), array(roc["x"]))
    asd, nc = (groups.probabilities[groups.labels == k, 1] for k in (1, 0))
    assert area == pytest.approx(np.mean([float(a > b) + 0.5 * float(a == b) for a in asd for b in nc]))
    observed = figure(page, "reliability")["data"][1]
    assert array(observed["customdata"]).sum() == len(groups.labels)


def test_networks_stand_in_the_order_of_their_weights(look_at, folder) -> None:
    shown = table_with(look_at("models"), "Over members")
    weights = load_region_weights(folder / "abide-cc200")
    table = network_table(weights, load_atlas("cc200").labelling("dosenbach"))
    assert [as_shown(name) for name in shown.index] == table["Network"].tolist()
    assert [as_shown(text) for text in shown["Weight"]] == table["Weight"].tolist()
    assert len(set(table["Weight"])) > 3


def test_evaluation_rows_show_where_there_are_any(open_page, folder) -> None:
    file = folder / "abide-cc200" / "card.json"
    before = file.read_text(encoding="utf-8")
    assert "Other ways to split" not in " ".join(element.value for element in open_page("models").markdown)
    card = json.loads(before)
    row = {"protocol": "sites", "model": "best", "splits": 19}
    card["evaluation"] = [row | {metric: {"mean": 0.61, "sd": 0.05} for metric in ("accuracy", "auc")}]
    file.write_text(json.dumps(card), encoding="utf-8")
    try:
        page = open_page("models")
        table = next(element.value for element in page.dataframe if "Split" in element.value.columns)
        shown = table.iloc[0].tolist()
        assert shown[:5] == [
            "one site left out, for each of 19 sites",
            "BioBGT",
            "0.610 ±\u00a00.050",
            "0.610 ±\u00a00.050",
            "–",
        ]
        assert "trained on no subject of that site" in captions(page)
    finally:
        file.write_text(before, encoding="utf-8")


def test_model_is_kept_over_pages_and_in_the_link(open_page) -> None:
    page = open_page()
    assert "model" not in page.query_params
    page.selectbox(key="model").select("adsim-aal90").run()
    for name in ("models", "attention", "models"):
        page.switch_page(f"views/{name}/page.py").run()
        assert page.selectbox(key="model").value == "adsim-aal90"
        assert page.query_params["model"] in ("adsim-aal90", ["adsim-aal90"])
    opened = open_page("models", model="adsim-aal90")
    assert "Simulated:" in as_shown(opened.info[0].value)


def test_unknown_model_in_the_link_is_named(open_page) -> None:
    page = open_page(model="../secret")
    assert_no_error(page)
    assert "model '../secret' is not available here" in " ".join(as_shown(warning.value) for warning in page.warning)


def test_home_shows_the_models_worth_and_attention(open_page, groups) -> None:
    page = open_page()
    assert_no_error(page)
    said = " ".join(as_shown(element.value) for element in [*page.warning, *page.info])
    assert "At or near chance" in said
    assert "Simulated: NC / MCI / AD" in said
    assert len(heatmaps(figure(page, "first_attention_maps"))) == 2


def test_pages_say_so_without_any_model(open_page, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(pretrained, "pretrained_folder", lambda: tmp_path)
    for name in ("home", "attention", "models"):
        page = open_page(name)
        assert_no_error(page)
    assert "No trained model is installed" in page.info[0].value


def test_every_figure_has_its_description_as_a_caption(look_at) -> None:
    for name in ("attention", "models", "predict"):
        page = look_at(name)
        for element in page.get("plotly_chart"):
            assert element.proto.alt in captions(page)
    assert chart(page, "place").alt.startswith("Model abide-cc200")


def test_damaged_weights_are_a_sentence(open_page, folder) -> None:
    weights = folder / "abide-cc200" / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-1] + b"x")
    (folder / "abide-cc200" / "card.json").touch()
    try:
        page = open_page("predict", subject="sim-NC-002")
        assert any("damaged" in as_shown(error.value) for error in page.error)
    finally:
        weights.write_bytes(whole)


def test_the_papers_comparison_stands_below_every_card(open_page) -> None:
    page = open_page("models")
    assert_no_error(page)
    assert "The paper's comparison, done again" in [element.value for element in page.subheader]
    drawn = figure(page, "benchmark")
    assert [trace["name"] for trace in drawn["data"]] == [HERE, PAPER]
    table = table_with(page, f"AUC (95 %) {PAPER_MARK}")
    assert [as_shown(title) for title in table.index] == [row.title for row in benchmark_systems().values()]
    epochs = table_with(page, "paper: s per epoch")
    assert epochs.loc["Gradformer", "paper: parameters"] == "455,000"
    citations = table_with(page, "paper: F1 / acc. / AUC")
    assert [len(rows) for _, rows in citations.groupby(level=0)] == [len(TITLES)] * len(NETWORKS)
    for words in ("MCST-GCN and GroupBNA contradict each other", "Planetoid", "NVIDIA A6000"):
        assert words in captions(page)
    assert "another selection of 1,009 ABIDE subjects" in " ".join(element.value for element in page.markdown)


def test_torch_is_not_imported_where_no_model_runs(folder) -> None:
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1])\n"
        "from biobgt.model import pretrained; pretrained.pretrained_folder = lambda: Path(sys.argv[2])\n"
        "from streamlit.testing.v1 import AppTest\n"
        "page = AppTest.from_file(sys.argv[1] + '/Home.py', default_timeout=120).run()\n"
        "for name in ('home', 'attention', 'models'):\n"
        "    page.switch_page(f'views/{name}/page.py').run()\n"
        "    assert not page.error and page.get('plotly_chart')\n"
        "    print(name, 'torch' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(APP), str(folder)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["home False", "attention False", "models False"]


def tabs(page) -> list[str]:
    """Those that every model has."""
    return [tab.label for tab in page.main.tabs if tab.label not in ("People", "Other networks")]


def test_attention_has_its_sections_in_tabs_and_ones_own_subject_first(open_page, models) -> None:
    page = open_page("attention")
    assert_no_error(page)
    groups = ["Groups side by side", "Difference", "Within modules", "In the brain"]
    assert tabs(page) == [*groups, "One subject"]
    page.session_state["own_cohort"] = LoadedCohort(OWN, demo_cohort("asd", n_per_group=1))
    page.session_state["next_cohort"] = OWN
    page.run()
    assert_no_error(page)
    assert tabs(page) == ["Your subject", *groups]
