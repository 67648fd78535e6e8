"""Figures of models, exported: what is made from a request is what the page shows."""

import json

import numpy as np
import pytest
from page_contents import array, assert_no_error, chart, figure, heatmaps, in_atlas_order
from streamlit.testing.v1 import AppTest

from biobgt import ConnectomeSettings
from biobgt.base.wording import NOT_A_DIAGNOSIS
from biobgt.export import FigureRequest
from biobgt.export.making import make_figure
from session.view import EXPORT_LIST

pytestmark = pytest.mark.usefixtures("models")


def export_all(page: AppTest) -> dict[str, FigureRequest]:
    """Click the export button of every figure of a page; the requests by their recipes' names."""
    buttons = {button.key for button in page.button}
    keys = [key.removesuffix("_enlarge") for key in buttons if key.endswith("_enlarge")]
    assert len(keys) >= len(page.get("plotly_chart"))
    assert {f"{key}_export" for key in keys} <= buttons, "every figure can be exported"
    for key in keys:
        page.button(key=f"{key}_export").click()
    page.run()
    assert_no_error(page)
    requests = page.session_state[EXPORT_LIST]
    assert len(requests) == len(keys)
    return {request.figure: request for request in requests}


def made(request: FigureRequest):
    """The figure as `biobgt figure` makes it, from the request's JSON alone."""
    again = FigureRequest.from_json(request.to_json())
    assert again == request
    return make_figure(again.cohort.draw(), again)


def test_every_figure_of_attention_is_exported_with_the_options_of_the_page(open_page, groups) -> None:
    page = in_atlas_order(open_page("attention", subject="sim-ASD-001"))
    page.selectbox(key="attention_layer").select(2)
    page.selectbox(key="attention_head").select(1)
    page.segmented_control(key="received_group").set_value("ASD")
    page.toggle(key="own_attention").set_value(True).run()
    requests = export_all(page)
    blocks, received, own = (
        requests[figure] for figure in ("attention_blocks", "attention_received", "subject_attention")
    )
    assert dict(blocks.options) == {"first": "NC", "second": "ASD"}
    effects, printed = figure(page, "block_effects")["data"][0], made(blocks).figure.axes[0]
    modules = [text.get_text() for text in printed.get_yticklabels()]
    at = [modules.index(module) for module in effects["y"]]
    np.testing.assert_allclose(printed.images[0].get_array()[np.ix_(at, at)], array(effects["z"]))
    nodes = next(trace for trace in figure(page, "received")["data"] if trace.get("name") == "regions")
    np.testing.assert_allclose(made(received).numbers["attention received"], array(nodes["marker"]["color"]))
    exported = made(own)
    for (_, part), panel in zip(
        exported.numbers.groupby("of", sort=False), heatmaps(figure(page, "own_attention_map")), strict=True
    ):
        np.testing.assert_allclose(part.drop(columns=["of", "region"]), array(panel["z"]), rtol=1e-4)
    assert exported.caption == chart(page, "own_attention_map").alt
    page.segmented_control(key="received_brain").set_value("Glass brain").run()
    assert page.button(key="received_glass_export").label == "Added", "the same figure, whichever brain is on the page"
    assert page.session_state[EXPORT_LIST].count(received) == 1


def test_every_figure_of_the_models_page_is_exported(open_page) -> None:
    page = open_page("models", model="adsim-aal90")
    requests = export_all(page)
    said = {element.proto.alt for element in page.get("plotly_chart")}
    assert {made(request).caption for request in requests.values()} == said
    observed = array(figure(page, "reliability")["data"][1]["y"])
    np.testing.assert_allclose(made(requests["reliability"]).numbers["observed"], observed)
    points = made(requests["model_results"]).numbers
    auc = points.loc[points["metric"] == "auc", "value"]
    own, others = figure(page, "results")["data"][:2]
    np.testing.assert_allclose(auc, [*array(own["x"]), *array(others["x"])])


def test_place_of_a_subject_is_exported_with_the_model_and_its_hash(open_page, folder) -> None:
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
