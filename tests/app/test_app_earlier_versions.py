"""Projects and links that earlier versions wrote open with the same view."""

from pathlib import Path

import pytest
from page_contents import assert_no_error

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


@pytest.mark.parametrize("page", ["modules", "attention", "subjects"])
def test_links_of_other_pages_name_nothing_unknown(open_page, page):
    asked = {
        "modules": {"brain_kind": "Glass brain", "brain_edges": "20", "group_brain_kind": "3-D, to turn"}
        | {"first_group": "NC", "second_group": "AD"},
        "attention": {"attention_order": "paper", "attention_layer": "1", "attention_head": "2"}
        | {"attention_first_group": "NC", "attention_second_group": "AD", "received_group": "MCI"},
        "subjects": {"matrix_shown": "Brain graph", "region_order": "atlas"},
    }[page]
    opened = open_page(page, cohort="ad", **asked)
    assert_no_error(opened)
    assert not [warning for warning in opened.warning if "link" in warning.value]
