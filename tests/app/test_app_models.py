"""The pages of predictions and models: what they show is what the models' folders hold."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from page_contents import (
    address_of,
    array,
    as_shown,
    badges,
    buttons,
    captions,
    chart,
    figure,
    heatmaps,
    in_atlas_order,
    metrics,
    words,
)
from page_hands import turn_to, visit
from streamlit.testing.v1 import AppTest

from assets.studies.citation_tables import NETWORKS, TITLES
from biobgt import ConnectomeSettings
from biobgt.base.wording import NOT_A_DIAGNOSIS
from biobgt.data.atlas import load_atlas
from biobgt.data.simulate import demo_cohort
from biobgt.export import FigureRequest
from biobgt.export.bundle import _make_figure
from biobgt.figures.models import HERE, PAPER
from biobgt.model import folder as model_files
from biobgt.model.attention import network_table
from biobgt.model.folder import load_pretrained, load_region_weights, pretrained_folder
from biobgt.model.own import add_model
from biobgt.model.systems import benchmark_systems
from biobgt.training.tables import PAPER_MARK
from session import cohorts as loaded_cohorts
from session.view import EXPORT_LIST

MODELS = ("abide-cc200", "adsim-aal90")


pytestmark = pytest.mark.usefixtures("models")


def table_with(page: AppTest, column: str) -> pd.DataFrame:
    """The table of a page that has this column."""
    return next(element.value for element in page.table if column in element.value.columns)


def test_predictions_are_the_librarys_and_never_a_diagnosis(open_page) -> None:
    page = open_page("predict", cohort="ad")
    assert NOT_A_DIAGNOSIS in page.warning[0].value
    expected = load_pretrained("adsim-aal90").predict(demo_cohort("ad")).set_index("subject")
    for group in ("NC", "MCI", "AD"):
        assert metrics(page)[f"Probability of {group}"] == f"{expected.loc['sim-NC-001', f'p_{group}']:.0%}"
    page.button(key="predict_all_start").click().run()
    table = page.dataframe[-1].value.set_index("Subject")
    np.testing.assert_allclose(table["P AD"], expected.loc[table.index, "p_AD"], atol=6e-4)
    assert len(table) == len(expected)
    assert as_shown(captions(page)).count("simulated subject") >= 1
    assert badges(page) == 1


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
    assert expected in words(page.warning)
    assert "Caution" in words(page.warning)


def test_models_page_has_the_card_headline_first(look_at, folder) -> None:
    page = look_at("models")
    card = json.loads((folder / "abide-cc200" / "card.json").read_text(encoding="utf-8"))
    assert as_shown(page.info[0].value) == f"**{card['headline']}**"
    assert page.info[0].icon == ":material/warning:"
    table = table_with(page, "AUC")
    auc = card["results"]["BioBGT"]["auc"]
    assert as_shown(table["AUC"].iloc[0]) == f"{auc['value']:.3f} [{auc['low']:.2f},\u00a0{auc['high']:.2f}]"
    assert as_shown(table["Accuracy"].iloc[-1]) == "0.740 ±\u00a00.020"
    assert "The model is an ensemble of 2 members" in captions(page)
    assert "0.25 for always predicting 50 %" in captions(page)
    points = figure(page, "results")["data"][0]
    assert array(points["x"])[0] == pytest.approx(auc["value"])
    codes = [code.value for code in look_at("models", model_tab="data").code]
    assert card["training"]["command"] in codes
    assert card["sha256"] in codes


def test_reliability_and_roc_are_of_out_of_fold_probabilities(look_at, groups) -> None:
    page = look_at("models")
    roc = figure(page, "roc")["data"][1]
    area = np.trapezoid(array(roc["y"]), array(roc["x"]))
    asd, nc = (groups.probabilities[groups.labels == k, 1] for k in (1, 0))
    assert area == pytest.approx(np.mean([float(a > b) + 0.5 * float(a == b) for a in asd for b in nc]))
    observed = figure(page, "reliability")["data"][1]
    assert sum(map(int, observed["text"])) == len(groups.labels)


def test_networks_stand_in_the_order_of_their_weights(look_at, folder) -> None:
    shown = table_with(look_at("models", model_tab="attention"), "Over members")
    weights = load_region_weights(folder / "abide-cc200")
    table = network_table(weights, load_atlas("cc200").labelling("dosenbach"))
    assert [as_shown(name) for name in shown.index] == table["Network"].tolist()
    assert [as_shown(text) for text in shown["Weight"]] == table["Weight"].tolist()
    assert len(set(table["Weight"])) > 3


def test_model_is_kept_over_pages_and_in_the_link(open_page) -> None:
    page = open_page()
    assert "model" not in page.query_params
    page.selectbox(key="model").select("adsim-aal90").run()
    for name in ("models", "attention", "models"):
        visit(page, name)
        assert page.selectbox(key="model").value == address_of(page)["model"] == "adsim-aal90"
    opened = open_page("models", model="adsim-aal90")
    assert "Simulated:" in as_shown(opened.info[0].value)


def test_home_shows_the_models_worth_and_attention(open_page, groups) -> None:
    page = open_page()
    said = words([*page.warning, *page.info])
    assert "At or near chance" in said
    assert "Simulated: NC / MCI / AD" in said
    assert len(heatmaps(figure(page, "first_attention_maps"))) == 2


def test_damaged_weights_are_a_sentence(open_page, folder, may_fail) -> None:
    weights = folder / "abide-cc200" / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-1] + b"x")
    (folder / "abide-cc200" / "card.json").touch()
    try:
        page = open_page("predict", subject="sim-NC-002")
        assert "damaged" in words(page.error)
    finally:
        weights.write_bytes(whole)


def test_the_papers_comparison_stands_beside_every_card(open_page) -> None:
    page = open_page("models", model_tab="paper")
    assert "The paper's comparison, done again" in [element.value for element in page.subheader]
    drawn = figure(page, "benchmark")
    assert [trace["name"] for trace in drawn["data"]] == [HERE, PAPER]
    table = table_with(page, f"AUC (95 %) {PAPER_MARK}")
    assert [as_shown(title) for title in table.index] == [row.title for row in benchmark_systems().values()]
    epochs = table_with(page, "paper: s per epoch")
    assert epochs.loc["Gradformer", "paper: parameters"] == "455,000"
    citations = table_with(page, "paper: F1 / acc. / AUC")
    assert [len(rows) for _, rows in citations.groupby(level=0)] == [len(TITLES)] * len(NETWORKS)
    for said in ("MCST-GCN and GroupBNA contradict each other", "Planetoid", "NVIDIA A6000"):
        assert said in captions(page)
    assert "another selection of 1,009 ABIDE subjects" in page.subheader[0].help


def test_models_that_cannot_be_used_are_named_with_the_reason(open_page, monkeypatch, tmp_path) -> None:
    shipped = pretrained_folder() / "adsim-aal90"
    card = json.loads((shipped / "card.json").read_text(encoding="utf-8"))
    for name, text in (("broken", "{"), ("elsewhere", json.dumps(card | {"atlas": "ours"}))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "card.json").write_text(text, encoding="utf-8")
    monkeypatch.setattr(model_files, "pretrained_folder", lambda: tmp_path)
    page = open_page("models")
    first, second = (as_shown(warning.value) for warning in page.warning)
    assert first == (
        "The model in the folder broken cannot be used. The card of model 'broken' cannot be read (JSONDecodeError)."
    )
    assert second.startswith("The model in the folder elsewhere cannot be used. ")
    assert "'ours'" in second
    for name in ("home", "attention", "models"):
        visit(page, name)
    assert "No trained model is installed" in page.info[0].value
    shutil.rmtree(tmp_path / "broken")
    page.run()
    assert [as_shown(warning.value) for warning in page.warning] == [second]


def export_all(page: AppTest, *tabs: str) -> dict[str, FigureRequest]:
    """Click the export button of every figure of a page, or of some of its tabs; the requests by the figures' names."""
    if tabs:
        for tab in tabs:
            found = export_all(turn_to(page, tab))
        return found
    keys = [key.removesuffix("_enlarge") for key in buttons(page) if key.endswith("_enlarge")]
    assert len(keys) >= len(page.get("plotly_chart"))
    assert {f"{key}_export" for key in keys} <= buttons(page), "every figure can be exported"
    for key in keys:
        if not page.button(key=f"{key}_export").disabled:
            page.button(key=f"{key}_export").click()
    page.run()
    requests = page.session_state[EXPORT_LIST]
    assert len(requests) >= len(keys)
    return {request.figure: request for request in requests}


def made(request: FigureRequest):
    """The figure as `biobgt figure` makes it, from the request's JSON alone."""
    again = FigureRequest.from_json(request.to_json())
    assert again == request
    return _make_figure(again.cohort.draw(), again)


def test_every_figure_of_attention_is_exported_with_the_options_of_the_page(open_page, groups) -> None:
    page = in_atlas_order(open_page("attention", subject="sim-ASD-001"))
    page.selectbox(key="attention_layer").select(2)
    page.selectbox(key="attention_head").select(1).run()
    turn_to(page, "brain").segmented_control(key="received_group").set_value("ASD").run()
    turn_to(page, "subject").toggle(key="own_attention").set_value(True).run()
    requests = export_all(page, "groups", "contrast", "difference", "brain", "subject")
    blocks, received, own = (
        requests[figure] for figure in ("attention_blocks", "attention_received", "subject_attention")
    )
    exported = made(own)
    maps = heatmaps(figure(page, "own_attention_map"))
    for (_, part), panel in zip(exported.numbers.groupby("of", sort=False), maps, strict=True):
        np.testing.assert_allclose(part.drop(columns=["of", "region"]), array(panel["z"]), rtol=1e-4)
    assert exported.caption == chart(page, "own_attention_map").alt
    turn_to(page, "difference")
    assert dict(blocks.options) == {"first": "NC", "second": "ASD"}
    effects, printed = figure(page, "block_effects")["data"][0], made(blocks).figure.axes[0]
    modules = [text.get_text() for text in printed.get_yticklabels()]
    at = [modules.index(module) for module in effects["y"]]
    np.testing.assert_allclose(printed.images[0].get_array()[np.ix_(at, at)], array(effects["z"]))
    turn_to(page, "brain")
    nodes = next(trace for trace in figure(page, "received")["data"] if trace.get("name") == "regions")
    np.testing.assert_allclose(made(received).numbers["attention received"], array(nodes["marker"]["color"]))
    page.segmented_control(key="received_brain").set_value("Glass brain").run()
    assert page.button(key="received_glass_export").label == "Added", "the same figure, whichever brain is on the page"
    assert page.session_state[EXPORT_LIST].count(received) == 1


def test_every_figure_of_the_models_page_is_exported(open_page) -> None:
    page = open_page("models", model="adsim-aal90")
    requests = export_all(page)
    said = {element.proto.alt for element in page.get("plotly_chart")}
    assert {made(request).caption for request in requests.values()} == said
    assert {"attention_contrast", "benchmark_results"} <= set(export_all(page, "attention", "paper"))
    turn_to(page, "results")
    observed = array(figure(page, "reliability")["data"][1]["y"])
    np.testing.assert_allclose(made(requests["reliability"]).numbers["observed"], observed)
    points = made(requests["model_results"]).numbers
    auc = points.loc[points["metric"] == "auc", "value"]
    own, others = figure(page, "results")["data"][:2]
    np.testing.assert_allclose(auc, [*array(own["x"]), *array(others["x"])])


def test_place_of_a_subject_is_exported_with_the_model_and_its_hash(open_page, folder) -> None:
    loaded_cohorts._demo.clear()  # where all subjects are predicted there are more figures
    page = open_page("predict", cohort="ad", subject="sim-MCI-002", level="0.4")
    page.segmented_control(key="probability_of").set_value("MCI").run()
    (request,) = export_all(page).values()
    sha256 = json.loads((folder / "adsim-aal90" / "card.json").read_text(encoding="utf-8"))["sha256"]
    assert dict(request.options) == {"model": "adsim-aal90", "model_sha256": sha256, "group": "MCI"}
    exported = made(request)
    assert exported.caption == chart(page, "place").alt
    assert NOT_A_DIAGNOSIS in exported.caption
    (line,) = figure(page, "place")["layout"]["shapes"]
    assert exported.numbers["p_MCI of the subject"].iloc[0] == pytest.approx(line["x0"], rel=1e-6)
    assert request.settings == ConnectomeSettings(), "a model makes its own graph, whatever the page's threshold"


def test_an_own_model_is_offered_beside_the_shipped_ones(open_page, folder, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    add_model(folder / "adsim-aal90", "mine")
    page = open_page("models", model="mine", model_tab="all")
    assert [as_shown(name) for name in table_with(page, "How well it does").index] == [*MODELS, "mine"]
    assert any("mine" in option for option in page.selectbox(key="model").options)
    own, shipped = (open_page("predict", cohort="ad", model=name) for name in ("mine", "adsim-aal90"))
    assert metrics(own) == metrics(shipped)
    offered = [
        open_page("models", model=name, model_tab="data").get("download_button") for name in ("mine", "adsim-aal90")
    ]
    assert [[one.proto.label for one in buttons if "model" in one.proto.label] for buttons in offered] == [
        ["Download this model"],
        [],
    ]
