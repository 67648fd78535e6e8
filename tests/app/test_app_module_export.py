"""Figures of modules in the export: each can be added, and what the page measured is not measured again."""

from dataclasses import replace

import pandas as pd
import pytest
from page_contents import array, assert_no_error, figure

from biobgt import ConnectomeSettings
from biobgt.data.simulate import demo_cohort
from biobgt.export.making import make_figure, options_in_full
from biobgt.figures.modules import (
    ModuleComparisonOptions,
    ResolutionSweepOptions,
    group_module_flow,
    modularity_against_chance,
    resolution_sweep,
)
from biobgt.modules.measures import NullGraphOptions
from session import view as keys
from session.cohorts import OWN
from session.export_list import figure_request
from session.view import GLASS, LoadedCohort, View
from views.export.results import StoppableCohort
from views.shared import widgets

# In place of a glass brain, where only its buttons matter.
DOT = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000002000001e2"
    "21bc330000000049454e44ae426082"
)


@pytest.fixture
def own_page(open_page):
    """The page of modules with six of the demo's subjects as a user's own: two groups are compared quickly."""
    page = open_page("export", runs="2")
    page.session_state[keys.OWN_COHORT] = LoadedCohort(OWN, demo_cohort("ad", n_per_group=2))
    page.session_state["next_cohort"] = OWN
    page.run()
    return page.switch_page("views/modules.py").run()


def assert_all_can_be_added(page, n_least):
    """Every figure and picture of the page has its buttons, the one that adds it to the export among them."""
    assert_no_error(page)
    found = {button.key for button in page.button if button.key}
    figures = {key.removesuffix("_enlarge") for key in found if key.endswith("_enlarge")}
    assert len(page.get("plotly_chart")) + len(page.get("image")) == len(figures)
    assert len(figures) >= n_least
    assert {key for key in figures if f"{key}_export" not in found} == set(), "figures that cannot be exported"


def test_no_figure_of_modules_is_without_its_export(own_page, monkeypatch):
    monkeypatch.setattr(NullGraphOptions, "null_graphs", 3)
    monkeypatch.setattr(widgets, "_picture", lambda *_: (DOT, "A picture."))
    page = own_page
    assert_all_can_be_added(page, 4)
    for key in ("sweep_start", "modularity_test_start"):
        page.button(key=key).click()
    page.run()
    assert_all_can_be_added(page, 6)
    drawn = array(figure(page, "modularity_null")["data"][0]["y"])
    page.button(key="modularity_null_export").click().run()
    page.switch_page("views/compare.py").run()
    page.segmented_control(key="compared").set_value("modules").run()
    page.button(key="groups_start").click().run()
    assert_all_can_be_added(page, 3)
    page.segmented_control(key="group_brain_kind").set_value(GLASS).run()
    assert_all_can_be_added(page, 3)
    page.button(key="brain_second_glass_export").click().run()
    added = {request.figure: request for request in page.session_state[keys.EXPORT_LIST]}
    chance, brain = added["modularity_against_chance"], added["group_module_brain"]
    cohort = page.session_state[keys.OWN_COHORT].cohort
    assert len(make_figure(cohort, chance).numbers) == 1 + drawn.sum()
    assert (brain.subject, brain.cohort.own) == (None, True)
    assert [brain.options[name] for name in ("first", "second", "group")] == ["NC", "MCI", "MCI"]
    options_in_full(brain)


def test_what_the_page_measured_is_not_measured_again_and_gives_the_same_numbers():
    cohort = demo_cohort("ad", n_per_group=2)
    view = View(LoadedCohort(OWN, cohort), cohort["sim-AD-002"], ConnectomeSettings(), {"runs": 2, "seed": 3})
    shown = [
        (modularity_against_chance, view.options(NullGraphOptions, null_graphs=2)),
        (resolution_sweep, view.options(ResolutionSweepOptions, resolutions=(0.8,))),
        (group_module_flow, view.options(ModuleComparisonOptions, first="NC", second="AD")),
    ]
    captions = [one(view.measured, options).caption for one, options in shown]
    measured = StoppableCohort(view.cohort, view.loaded)
    for (one, options), caption in zip(shown, captions, strict=True):
        request = figure_request(view, one, options)
        found, anew = make_figure(measured, request), make_figure(view.cohort, request)
        pd.testing.assert_frame_equal(found.numbers, anew.numbers, check_exact=True)
        assert found.caption == anew.caption == caption
    assert measured.n_measured == 0
    request = figure_request(view, *shown[0])
    make_figure(measured, replace(request, options={**request.options, "null_graphs": 3}))
    assert measured.n_measured == 1
