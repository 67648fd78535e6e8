"""The export: figures are added under their pictures, arranged, previewed, and bundled; own subjects stay theirs."""

import io
import zipfile
from dataclasses import replace
from types import SimpleNamespace

import export_results
import hub_brain
import module_brains
import module_chance
import module_groups
import numpy as np
import pandas as pd
import panels
import pytest
import state
from export_list import hub_request, module_request, named_request, request_of, ruled_request
from hub_results import group_members, keep_curves
from loaded import LoadedCohort, ModuleChoices, View
from module_results import group_difference, null_modularity, sweep_step
from page_contents import array, as_shown, assert_no_error, badges, captions, figure
from PIL import Image

from biobgt import Cohort, ConnectomeSettings, Subject, load_atlas
from biobgt.export import CohortRef, FigureRequest, cohort_sha256
from biobgt.export.bundle import make_files
from biobgt.export.connectome_recipes import QUANTITIES
from biobgt.export.hub_recipes import FIVE_MEASURES
from biobgt.export.recipes import FIGURES, make_figure
from biobgt.figures.paper.style import PaperStyle
from biobgt.model.pretrained import pretrained_names
from biobgt.simulate import demo_cohort


def png_bytes(picture: Image.Image) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, "png")
    return buffer.getvalue()


BUTTONS = {
    "subjects": {"connectivity": "connectivity_heatmap", "series": "series_carpet"}
    | {"distribution": "connectivity_distribution"},
    "hubs": {"hub_curves": "hub_curves", "ne_node_efficiency": "hub_scatter", "ne_fc_strength": "hub_scatter"}
    | {"gamma_sweep": "gamma_sweep", "hub_brain": "hub_brain", "why_before": "region_surroundings"}
    | {"why_after": "region_surroundings", "why_spectra": "region_spectra", "why_entropy": "region_entropy"},
    "modules": {"brain": "module_brain", "modules": "module_heatmap", "flow": "module_flow", "roles": "role_map"}
    | {"resolution_curves": "resolution_sweep"},
}
DEMO = CohortRef("ad", demo=True)
# In place of a glass brain, where only its buttons matter.
DOT = png_bytes(Image.new("RGB", (1, 1)))


def exported(page) -> list[FigureRequest]:
    return list(page.session_state[state.EXPORT_LIST])


def with_list(page, *requests):
    """Open the page of exports with these figures on its list."""
    page.session_state[state.EXPORT_LIST] = list(requests)
    return page.switch_page("views/export.py").run()


def bare_view(key="ad"):
    cohort = demo_cohort("ad", n_per_group=2)
    return View(LoadedCohort(key, cohort), cohort["sim-AD-002"], ConnectomeSettings())


def test_what_the_pages_and_the_recipes_say_twice_is_the_same():
    assert panels.QUANTITIES == QUANTITIES
    assert hub_brain.MEASURES == FIVE_MEASURES


def test_requests_of_the_pages_have_options_that_their_recipes_know():
    view, choices = bare_view(), ModuleChoices()
    requests = [
        request_of(view, "connectivity_heatmap", matrix="graph", order="dosenbach"),
        ruled_request(view, "hub_curves", scale="z", order="atlas", n_random=0, seed=0, group=False),
        ruled_request(view, "hub_scatter", measure="fc_strength"),
        hub_request(view, "gamma_sweep", gammas=state.GAMMAS),
        hub_request(view, "five_brains"),
        named_request(view, choices, "module_brain", connections=20),
        named_request(view, choices, "group_module_flow", first="NC", second="AD"),
        module_request(view, choices, "modularity_against_chance", null_graphs=100),
        named_request(view, choices, "group_module_brain", first="NC", second="AD", group="AD"),
        hub_request(view, "region_surroundings", region="Precuneus_L", perturbed=True),
        module_request(view, choices, "resolution_sweep", resolutions=state.RESOLUTIONS),
    ]
    for request in requests:
        assert request.cohort == DEMO
        FIGURES[request.figure].fill_in(request.options)


@pytest.mark.parametrize("page", list(BUTTONS))
def test_every_figure_with_a_recipe_can_be_added(open_page, page):
    opened = open_page(page, cohort="ad", subject="sim-MCI-003", level="0.4", gamma="2")
    assert_no_error(opened)
    if page == "modules":
        opened.button(key="sweep_start").click().run()
    for key in BUTTONS[page]:
        opened.button(key=f"{key}_export").click()
        opened.run()
        assert "Added to the export" in opened.toast[0].value
    found = exported(opened)
    assert [request.figure for request in found] == list(BUTTONS[page].values())
    for request in found:
        assert (request.cohort, request.subject, request.settings.level) == (DEMO, "sim-MCI-003", 0.4)
        FIGURES[request.figure].fill_in(request.options)
    opened.button(key=f"{next(iter(BUTTONS[page]))}_export").click().run()
    assert "already" in opened.toast[0].value
    assert len(exported(opened)) == len(found)


def assert_all_can_be_added(page, n_least):
    """Every figure and picture of the page has its buttons, the one that adds it to the export among them."""
    assert_no_error(page)
    keys = {button.key for button in page.button if button.key}
    figures = {key.removesuffix("_enlarge") for key in keys if key.endswith("_enlarge")}
    assert len(page.get("plotly_chart")) + len(page.get("image")) == len(figures)
    assert len(figures) >= n_least
    assert {key for key in figures if f"{key}_export" not in keys} == set(), "figures that cannot be exported"


@pytest.fixture
def own_page(open_page):
    """Open a page with six of the demo's subjects as a user's own: two groups of them are compared quickly."""

    def own_page(name):
        page = open_page("home", runs="2")
        page.session_state[state.OWN_COHORT] = LoadedCohort(state.OWN, demo_cohort("ad", n_per_group=2))
        page.session_state["next_cohort"] = state.OWN
        page.run()
        return page if name == "home" else page.switch_page(f"views/{name}.py").run()

    return own_page


@pytest.mark.parametrize(("name", "n_least"), [("home", 2), ("subjects", 3)])
def test_no_figure_is_without_its_export(own_page, name, n_least):
    assert_all_can_be_added(own_page(name), n_least)


def test_no_figure_of_hubs_is_without_its_export(own_page, monkeypatch):
    monkeypatch.setattr(hub_brain, "hub_picture", lambda *_: DOT)
    page = own_page("hubs")
    for kind in hub_brain.TITLES:
        page.segmented_control(key=state.BRAIN_SHOWN).set_value(kind).run()
        assert_all_can_be_added(page, 9)


def test_no_figure_of_modules_is_without_its_export(own_page, monkeypatch):
    monkeypatch.setattr(module_chance, "NULL_GRAPHS", 3)
    monkeypatch.setattr(module_brains, "keep", lambda *_: DOT)
    page = own_page("modules")
    assert_all_can_be_added(page, 4)
    for key in ("sweep_start", "modularity_test_start", "groups_start"):
        page.button(key=key).click()
    page.run()
    assert_all_can_be_added(page, 9)
    page.segmented_control(key=module_groups.GROUP_BRAIN).set_value(module_brains.GLASS).run()
    assert_all_can_be_added(page, 9)
    for key in ("modularity_null_export", "brain_second_glass_export"):
        page.button(key=key).click()
    page.run()
    added = {request.figure: request for request in exported(page)}
    chance, brain = added["modularity_against_chance"], added["group_module_brain"]
    cohort = page.session_state[state.OWN_COHORT].cohort
    drawn = array(figure(page, "modularity_null")["data"][0]["x"])
    np.testing.assert_allclose(make_figure(cohort, chance).numbers["modularity Q"][1:], drawn)
    assert (brain.subject, brain.cohort.own) == (None, True)
    assert [brain.options[name] for name in ("first", "second", "group")] == ["NC", "MCI", "MCI"]
    FIGURES[brain.figure].fill_in(brain.options)


def test_what_is_added_has_the_numbers_on_the_screen(open_page):
    page = open_page("hubs", cohort="ad", subject="sim-AD-004", gamma="3", perturbation="remove")
    page.segmented_control(key=state.CURVE_SCALE).set_value("rank")
    page.selectbox(key=state.CURVE_ORDER).set_value("by NE").run()
    page.button(key="hub_curves_export").click().run()
    request = exported(page)[0]
    made = make_figure(demo_cohort("ad"), request)
    curve = next(trace for trace in figure(page, "hub_curves")["data"] if trace.get("name") == "NE")
    np.testing.assert_array_equal(made.numbers["node_entanglement"], array(curve["y"]))
    assert as_shown(made.caption) in captions(page)


def test_page_without_figures_shows_where_to_add_some(open_page):
    page = open_page("export")
    assert_no_error(page)
    assert "No figure has been added yet" in page.info[0].value
    links = [link.proto.label for link in page.main.get("page_link")]
    assert links == ["Subjects", "Hubs", "Modules", "Attention", "Predict", "Models"]


def test_what_other_pages_measured_is_not_measured_again_and_gives_the_same_numbers():
    view, choices = bare_view(state.OWN), ModuleChoices(runs=2, seed=3)
    for number in range(2):
        null_modularity(view, choices, number)
    sweep_step(view, choices, 0.8)
    group_difference(view, choices, ("NC", "AD"))
    for subject in group_members(view):
        keep_curves(view, subject)
    groups = named_request(view, choices, "group_module_flow", first="NC", second="AD")
    measured = export_results.StoppableCohort(view.cohort, view.loaded)
    for request in (
        module_request(view, choices, "modularity_against_chance", null_graphs=2),
        module_request(view, choices, "resolution_sweep", resolutions=(0.8,)),
        replace(groups, subject=None),
        ruled_request(view, "hub_curves", group=True),
    ):
        found, anew = make_figure(measured, request), make_figure(view.cohort, request)
        pd.testing.assert_frame_equal(found.numbers, anew.numbers, check_exact=True)
        assert found.caption == anew.caption
    assert measured.n_measured == 0
    make_figure(measured, module_request(view, choices, "modularity_against_chance", null_graphs=3))
    assert measured.n_measured == 1


def test_what_a_model_said_on_its_page_is_not_asked_again():
    view, key = bare_view(state.OWN), ("model", "sha256", "sim-AD-002")
    for other in (("prediction", *key), ("attention", *key)):
        assert export_results.measured_before(view.loaded, other) is None
    view.loaded.model_results["row"] = {key: {"p_AD": 0.25}}
    view.loaded.model_results["seen"] = {key: SimpleNamespace(attention=np.arange(8).reshape(2, 4))}
    assert export_results.measured_before(view.loaded, ("prediction", *key)) == {"p_AD": 0.25}
    np.testing.assert_array_equal(export_results.measured_before(view.loaded, ("attention", *key)), [0, 1, 2, 3])


def test_model_that_was_trained_anew_is_left_out_in_a_sentence(open_page):
    if "adsim-aal90" not in pretrained_names():
        pytest.skip("the trained model adsim-aal90 is not on this machine")
    page = with_list(open_page(), FigureRequest("roc", CohortRef("adsim-aal90", model=True, sha256="0" * 64)))
    assert_no_error(page)
    assert "no longer the one it was" in page.warning[0].value


def test_figures_are_arranged_and_previewed_as_the_journal_wants_them(open_page):
    requests = [FigureRequest(name, DEMO, "sim-AD-001") for name in ("hub_scatter", "connectivity_distribution")]
    page = with_list(open_page(), *requests)
    assert_no_error(page)
    assert badges(page) >= 2
    page.button(key="export_down_0").click().run()
    assert exported(page) == requests[::-1]
    page.button(key="export_remove_0").click().run()
    assert exported(page) == requests[:1]
    page.segmented_control(key="export_width").set_value(174.0).run()
    assert_no_error(page)
    ((request, style), (png, caption)) = next(iter(page.session_state[state.EXPORT_PREVIEWS].items()))
    assert (request, style.width_mm) == (requests[0], 174.0)
    assert Image.open(io.BytesIO(png)).width == round(174 / 25.4 * export_results.PREVIEW_DPI)
    assert caption in captions(page)
    assert len(page.session_state[state.EXPORT_PREVIEWS]) == 1


def test_zip_is_made_step_by_step_and_holds_the_chosen_formats(open_page):
    requests = [FigureRequest("hub_scatter", DEMO, "sim-AD-001")]
    page = with_list(open_page(), *requests)
    page.segmented_control(key="export_formats").set_value(["pdf", "svg"]).run()
    assert not page.get("download_button")
    page.button(key="export_bundle_start").click().run()
    assert_no_error(page)
    assert len(page.get("download_button")) == 1
    (files,) = page.session_state[state.EXPORT_FILES].values()
    assert list(files.pictures) == ["svg", "pdf"]
    page.segmented_control(key="export_formats").set_value([]).run()
    assert "at least one format" in page.info[0].value


def test_own_subjects_that_are_gone_are_left_out_and_forgotten(open_page, rng):
    atlas = load_atlas("aal90")
    series = rng.standard_normal((60, 90))
    cohort = Cohort("Mine", tuple(Subject(f"s{i}", series=series + i * rng.random((60, 90))) for i in range(2)), atlas)
    own = CohortRef("Mine", sha256=cohort_sha256(cohort))
    requests = [
        FigureRequest("connectivity_distribution", ref, name) for ref, name in ((own, "s1"), (DEMO, "sim-AD-001"))
    ]
    page = open_page()
    page.session_state[state.OWN_COHORT] = LoadedCohort(state.OWN, cohort)
    page = with_list(page, *requests)
    assert_no_error(page)
    assert not page.warning
    assert page.toggle(key="export_data").value is False
    page.session_state[state.OWN_COHORT] = LoadedCohort(state.OWN, cohort.with_groups({"s0": "NC"}))
    page.run()
    assert "no longer loaded as they were" in page.warning[0].value
    assert {request for request, _ in page.session_state[state.EXPORT_PREVIEWS]} == {requests[1]}
    assert own not in page.session_state[state.EXPORT_MEASURED]


def test_lists_of_two_sessions_are_apart(open_page):
    one, other = open_page("hubs", cohort="ad"), open_page("hubs", cohort="ad")
    one.button(key="hub_curves_export").click().run()
    assert len(exported(one)) == 1
    assert state.EXPORT_LIST not in other.session_state


def test_bundle_of_the_page_is_a_zip_with_everything():
    cohort = demo_cohort("ad", n_per_group=2)
    ref = CohortRef("ad", demo=True, n_per_group=2)
    files = make_files(cohort, FigureRequest("hub_scatter", ref, "sim-AD-001"), style=PaperStyle(), formats=["svg"])
    with zipfile.ZipFile(
        io.BytesIO(export_results.bundle_file([files], {ref: cohort}, PaperStyle(), False))
    ) as archive:
        assert {"make_figures.sh", "methods.md", "references.bib", "captions.md", "provenance.json"} <= set(
            archive.namelist()
        )


def test_figures_of_a_model_are_added_and_previewed(open_page):
    if "adsim-aal90" not in pretrained_names():
        pytest.skip("the trained model adsim-aal90 is not on this machine")
    page = open_page("models", cohort="ad")
    page.button(key="roc_export").click().run()
    (request,) = exported(page)
    assert (request.figure, request.cohort.model, request.subject) == ("roc", True, None)
    page.switch_page("views/export.py").run()
    assert_no_error(page)
    assert badges(page) >= 2
    assert "sensitivity against 1 − specificity" in captions(page)
