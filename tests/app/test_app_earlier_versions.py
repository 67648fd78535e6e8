"""Projects and links that earlier versions wrote open with the same view."""

from pathlib import Path

import numpy as np
import pytest
from page_contents import array, assert_no_error, figure
from streamlit.testing.v1 import AppTest

from biobgt import ConnectomeSettings
from biobgt.connectome import brain_graph, subject_connectivity
from biobgt.hubs import hub_table
from biobgt.hubs.hub_options import HubOptions
from biobgt.modules.module_options import NamedModuleOptions
from biobgt.project import open_project
from session.address import link_of_project
from session.loaded_cohorts import OWN
from session.view import LoadedCohort, View

PROJECT = Path(__file__).resolve().parents[1] / "earlier" / "project.biobgt"
# As the address bar had them.
HUBS = {
    **{"cohort": "ad", "subject": "sim-MCI-005", "estimator": "fisher-z", "sign": "absolute"},
    **{"threshold": "proportional", "level": "0.2", "backbone": "true"},
    **{"gamma": "2.5", "perturbation": "remove", "hub_rule": "sd", "region": "Precuneus_L"},
    **{"resolution": "1.3", "consensus": "true", "signed": "false", "runs": "5", "seed": "12", "labelling": "paper"},
    **{"curve_scale": "rank", "curve_order": "by NE", "curve_regions": "random", "curve_seed": "12"},
    **{"group_behind": "false", "brain_shown": "glass"},
}


def widget_values(page: AppTest) -> dict[str, object]:
    """What the widgets of a page show, by their keys."""
    kinds = ("selectbox", "segmented_control", "select_slider", "slider", "toggle", "number_input")
    return {widget.key: widget.value for kind in kinds for widget in page.get(kind)}


def test_project_opens_with_its_view():
    project = open_project(PROJECT)
    link = link_of_project(project)
    assert link.problems == ()
    assert (link.cohort, link.subject, link.settings.threshold, link.settings.level) == (OWN, "s2", "proportional", 0.4)
    view = View(LoadedCohort(OWN, project.cohort), project.cohort["s2"], link.settings, link.choices)
    assert view.options(HubOptions) == HubOptions(2.5, "remove", "sd")
    modules = view.options(NamedModuleOptions)
    assert (modules.resolution, modules.consensus, modules.signed) == (1.3, True, False)
    assert (modules.runs, modules.seed) == (5, 12)
    assert link.choices["region"] == project.cohort.atlas.regions[3]


def test_project_opens_through_the_page(open_page):
    page = open_page("subjects")
    uploader = next(item for item in page.file_uploader if item.key.startswith("project"))
    uploader.set_value((PROJECT.name, PROJECT.read_bytes(), "application/octet-stream")).run()
    assert_no_error(page)
    assert not page.warning
    shown = {"cohort": OWN, "subject": "s2", "threshold": "proportional", "proportional_level": 0.4}
    assert {name: widget_values(page).get(name) for name in shown} == shown
    page.selectbox(key="region_order").select("atlas").run()
    cohort = open_project(PROJECT).cohort
    drawn = array(figure(page, "connectivity")["data"][0]["z"])
    np.testing.assert_allclose(drawn, subject_connectivity(cohort["s2"]), atol=1e-6)
    page.switch_page("views/hubs/page.py").run()
    assert_no_error(page)
    shown = {"gamma": 2.5, "perturbation": "remove", "hub_rule": "sd", "region": "Region 4"}
    assert {name: widget_values(page).get(name) for name in shown} == shown
    graph = brain_graph(cohort["s2"], cohort.atlas, ConnectomeSettings(threshold="proportional", level=0.4))
    expected = hub_table(graph, gamma=2.5, perturbation="remove", rule="sd").set_index("region")
    table = page.dataframe[-1].value.set_index("region").loc[expected.index]
    np.testing.assert_allclose(table["node_entanglement"], expected["node_entanglement"], rtol=1e-6)
    assert table["node_entanglement_hub"].tolist() == expected["node_entanglement_hub"].tolist()
    page.switch_page("views/modules/page.py").run()
    assert_no_error(page)
    shown = {"resolution": 1.3, "consensus": True, "signed": False, "runs": 5, "seed": 12}
    assert {name: widget_values(page).get(name) for name in shown} == shown


def test_link_opens_with_its_view(open_page):
    page = open_page("hubs", **HUBS)
    assert_no_error(page)
    assert not page.warning
    assert page.selectbox(key="subject").value == "sim-MCI-005"
    assert page.slider(key="proportional_level").value == 0.2
    assert page.select_slider(key="gamma").value == 2.5
    assert page.segmented_control(key="hub_rule").value == "sd"
    assert page.segmented_control(key="curve_regions").value == 50
    assert page.number_input(key="curve_seed").value == 12
    assert page.selectbox(key="curve_order").value == "by NE"
    assert page.selectbox(key="region").value == "Precuneus_L"
    assert page.segmented_control(key="brain_shown").value == "glass"
    page.switch_page("views/modules/page.py").run()
    assert page.select_slider(key="resolution").value == 1.3
    assert page.selectbox(key="labelling").value == "paper"


# A page, its link as the address bar had it, and what the widgets then show.
OTHER_PAGES = [
    (
        "subjects",
        {"subject": "sim-AD-002", "matrix_shown": "Brain graph", "region_order": "atlas", "level": "0.4"},
        {"subject": "sim-AD-002", "matrix_shown": "graph", "region_order": "atlas", "absolute_level": 0.4},
    ),
    (
        "modules",
        {"brain_kind": "Glass brain", "brain_edges": "20", "group_brain_kind": "3-D, to turn", "runs": "5"}
        | {"resolution": "1.3", "labelling": "paper", "first_group": "NC", "second_group": "AD"},
        {"brain_kind": "glass", "brain_edges": 20, "runs": 5, "resolution": 1.3, "labelling": "paper"},
    ),
    (
        "compare",
        {"first_group": "MCI", "second_group": "AD", "compared": "hubs", "compared_measure": "degree"}
        | {"sign": "absolute", "threshold": "proportional", "level": "0.2"},
        {"first_group": "MCI", "second_group": "AD", "compared": "hubs", "compared_measure": "degree"}
        | {"sign": "absolute", "proportional_level": 0.2},
    ),
    (
        "attention",
        {"model": "adsim-aal90", "attention_order": "paper", "attention_layer": "1", "attention_head": "2"}
        | {"attention_first_group": "NC", "attention_second_group": "AD", "received_group": "MCI"},
        {"model": "adsim-aal90", "attention_order": "paper", "attention_layer": 1, "attention_head": 2}
        | {"attention_second_group": "AD", "received_group": "MCI"},
    ),
    (
        "predict",
        {"model": "adsim-aal90", "subject": "sim-MCI-002", "probability_of": "MCI"},
        {"model": "adsim-aal90", "subject": "sim-MCI-002", "probability_of": "MCI"},
    ),
    ("models", {"model": "abide-cc200"}, {"model": "abide-cc200"}),
    (
        "export",
        {"subject": "sim-MCI-002", "estimator": "fisher-z", "level": "0.4", "backbone": "true"},
        {"subject": "sim-MCI-002", "estimator": "fisher-z", "absolute_level": 0.4, "backbone": True},
    ),
]


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize(("page", "link", "shown"), OTHER_PAGES, ids=[page for page, *_ in OTHER_PAGES])
def test_links_of_other_pages_open_with_their_values(open_page, page, link, shown):
    opened = open_page(page, cohort="ad", **link)
    assert_no_error(opened)
    assert not [warning for warning in opened.warning if "link" in warning.value]
    assert {name: widget_values(opened).get(name) for name in shown} == shown
