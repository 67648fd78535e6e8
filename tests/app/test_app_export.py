"""The export: figures are added under their pictures, arranged, previewed, and bundled; own subjects stay theirs."""

import io
import zipfile
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import networkx
import pandas as pd
import pytest
from page_contents import DOT, array, assert_no_error, badges, buttons, captions, figure
from page_hands import turn_to, visit
from PIL import Image

from biobgt import Cohort, ConnectomeSettings, Subject, load_atlas
from biobgt.data.simulate import demo_cohort
from biobgt.export import CohortRef, FigureRequest, cohort_sha256
from biobgt.export.bundle import PanelFiles, _make_figure
from biobgt.export.graph_files import GRAPH_FORMATS
from biobgt.figures.groups import ModuleComparisonOptions, group_module_flow
from biobgt.figures.hubs import HubCurvesOptions, hub_curves
from biobgt.figures.models import subject_probability
from biobgt.figures.modules import modularity_against_chance, resolution_sweep
from biobgt.model.folder import pretrained_names
from biobgt.model.pretrained import InstalledModel, installed_model
from biobgt.modules.measures import NullGraphOptions
from biobgt.results.measured import Measured
from session import cohorts as loaded_cohorts
from session import view as keys
from session.cohorts import OWN
from session.view import GLASS, LoadedCohort, View
from views.export import _PREVIEW_DPI, _StoppableCohort
from views.page_map import PAGES
from views.shared import figures
from views.shared.figures import figure_request

# By page and tab.
BUTTONS = {
    ("subjects", ""): {"connectivity": "connectivity_heatmap", "series": "series_carpet"}
    | {"distribution": "connectivity_distribution"},
    ("hubs", "regions"): {"hub_curves": "hub_curves", "hub_brain": "hub_brain"},
    ("hubs", "agreement"): {"ne_node_efficiency": "hub_scatter", "ne_fc_strength": "hub_scatter"}
    | {"gamma_sweep": "gamma_sweep"},
    ("hubs", "region"): {"why_before": "region_surroundings", "why_after": "region_surroundings"}
    | {"why_spectra": "region_spectra", "why_entropy": "region_entropy"},
    ("modules", "modules"): {"brain": "module_brain", "modules": "module_heatmap"},
    ("modules", "networks"): {"flow": "module_flow"},
    ("modules", "roles"): {"roles": "role_map"},
    ("modules", "chance"): {"resolution_curves": "resolution_sweep"},
}
DEMO = CohortRef("ad", demo=True)


def exported(page) -> list[FigureRequest]:
    return list(page.session_state[keys.EXPORT_LIST])


def with_list(page, *requests):
    """Open the page of exports with these figures on its list."""
    page.session_state[keys.EXPORT_LIST] = list(requests)
    return visit(page, "export")


def bare_view(key="ad"):
    cohort = demo_cohort("ad", n_per_group=2)
    return View(LoadedCohort(key, cohort), cohort["sim-AD-002"], ConnectomeSettings())


@pytest.mark.parametrize(("page", "tab"), BUTTONS)
def test_every_figure_with_a_recipe_can_be_added(open_page, page, tab):
    opened = open_page(page, cohort="ad", subject="sim-MCI-003", level="0.4", gamma="2")
    shown = BUTTONS[page, tab]
    if tab:
        turn_to(opened, tab)
    if tab == "chance":
        opened.button(key="sweep_start").click().run()
    for key in shown:
        opened.button(key=f"{key}_export").click()
        opened.run()
        assert "Added to the export" in opened.toast[0].value
    found = exported(opened)
    assert [request.figure for request in found] == list(shown.values())
    for request in found:
        assert (request.cohort, request.subject, request.settings.level) == (DEMO, "sim-MCI-003", 0.4)
        request.full_options()
    added = [opened.button(key=f"{key}_export") for key in shown]
    assert {(button.label, button.disabled) for button in added} == {("Added", True)}
    opened.session_state["export_list"] = found[1:]
    opened.run()
    assert opened.button(key=f"{next(iter(shown))}_export").label == "Add to export"


def test_menu_counts_what_waits_for_export(monkeypatch):
    assert PAGES["export"].menu_title() == "Export"
    monkeypatch.setattr("views.page_map.listed_figures", lambda: ["one", "two"])
    assert PAGES["export"].menu_title() == "Export (2)"
    assert PAGES["hubs"].menu_title() == "Hubs"


def assert_all_can_be_added(page, n_least):
    """Every figure and picture of the page has its buttons, the one that adds it to the export among them."""
    shown = {key.removesuffix("_enlarge") for key in buttons(page) if key.endswith("_enlarge")}
    assert len(page.get("plotly_chart")) + len(page.get("image")) == len(shown) >= n_least
    assert {f"{key}_export" for key in shown} <= buttons(page), "figures that cannot be exported"


@pytest.fixture
def own_page(open_own, monkeypatch):
    """Open a page with six of the demo's subjects as a user's own, and dots in place of glass brains."""
    monkeypatch.setattr(figures, "_draw_picture", lambda *_: (DOT, "A line.", "A picture."))
    return lambda name: open_own(name, demo_cohort("ad", n_per_group=2), runs=2)


def test_no_figure_of_subjects_and_hubs_is_without_its_export(own_page):
    page = own_page("subjects")
    assert_all_can_be_added(page, 3)
    visit(page, "hubs")
    for kind in ("3d", "glass", "five"):
        page.segmented_control(key="brain_shown").set_value(kind).run()
        assert_all_can_be_added(page, 2)
    for tab, n_least in {"agreement": 3, "region": 4}.items():
        assert_all_can_be_added(turn_to(page, tab), n_least)


def test_page_without_figures_shows_where_to_add_some(open_page):
    page = open_page("export")
    assert "No figure has been added yet" in page.info[0].value
    _, *links = [link.proto.label for link in page.main.get("page_link")]  # the first leads to Explore
    assert links == ["Subjects", "Hubs", "Modules", "Compare", "Study", "Attention", "Predict", "Models"]


def test_what_a_model_said_on_its_page_is_not_asked_again(monkeypatch):
    asked = []

    def predict(cohort):
        asked.append(cohort.ids)
        row = {"subject": cohort.ids[0], "p_NC": 0.2, "p_MCI": 0.3, "p_AD": 0.5, "prediction": "AD", "warning": ""}
        return pd.DataFrame([row])

    stub = SimpleNamespace(predict=predict)
    monkeypatch.setattr(InstalledModel, "ensemble", property(lambda model: stub))
    view, model = bare_view(OWN), installed_model("adsim-aal90")
    assert not view.measured.is_kept(Measured.prediction, model)
    view.measured.prediction(model)
    options = subject_probability.takes(model=model.name, model_sha256=model.sha256)
    request = figure_request(view, subject_probability, options)
    exported = _make_figure(_StoppableCohort(view.cohort, view.loaded), request)
    assert exported.numbers["p_AD of the subject"].iloc[0] == 0.5
    assert asked == [("sim-AD-002",)]


def test_figure_of_a_model_is_previewed_and_left_out_in_a_sentence_where_it_was_trained_anew(open_page):
    if "adsim-aal90" not in pretrained_names():
        pytest.skip("the trained model adsim-aal90 is not on this machine")
    refs = [
        CohortRef("adsim-aal90", model=True, sha256=one) for one in (installed_model("adsim-aal90").sha256, "0" * 64)
    ]
    page = with_list(open_page(), *(FigureRequest("roc", ref) for ref in refs))
    assert "was changed or removed" in page.warning[0].value
    assert badges(page) == 1
    assert captions(page).count("sensitivity against 1 − specificity") == 1


def test_figures_are_arranged_and_previewed_as_the_journal_wants_them(open_page):
    requests = [FigureRequest(name, DEMO, "sim-AD-001") for name in ("hub_scatter", "connectivity_distribution")]
    page = with_list(open_page(), *requests)
    assert badges(page) == 1
    page.button(key="export_down_0").click().run()
    assert exported(page) == requests[::-1]
    page.button(key="export_remove_0").click().run()
    assert exported(page) == requests[:1]
    page.segmented_control(key="export_width_mm").set_value(174.0).run()
    ((request, style, _), files) = next(iter(page.session_state[keys.EXPORT_MADE].items()))
    png, caption = files.pictures["png"], files.caption
    assert (request, style.width_mm) == (requests[0], 174.0)
    assert Image.open(io.BytesIO(png)).width == round(174 / 25.4 * _PREVIEW_DPI)
    assert caption in captions(page)
    assert len(page.session_state[keys.EXPORT_MADE]) == 1
    assert not style.titles
    page.toggle(key="export_titles").set_value(True).run()
    ((_, style, _),) = page.session_state[keys.EXPORT_MADE]
    assert style.titles


def test_zip_is_made_step_by_step_and_holds_the_chosen_formats(open_page):
    requests = [FigureRequest("hub_scatter", DEMO, "sim-AD-001")]
    page = with_list(open_page(), *requests)
    page.segmented_control(key="export_formats").set_value(["pdf", "svg"]).run()
    assert not page.get("download_button")
    page.button(key="export_bundle_start").click().run()
    assert len(page.get("download_button")) == 1
    made = page.session_state[keys.EXPORT_MADE].values()
    assert [list(files.pictures) for files in made] == [["png"], ["svg", "pdf"]]
    page.segmented_control(key="export_formats").set_value([]).run()
    assert "at least one format" in page.info[0].value


def _panels(page) -> dict[tuple[str, ...], PanelFiles]:
    """What was made of several panels, by its formats."""
    made = page.session_state[keys.EXPORT_MADE].items()
    return {formats: files for (_, _, formats), files in made if isinstance(files, PanelFiles)}


def test_figures_are_the_panels_of_one(open_page):
    requests = [FigureRequest(name, DEMO, "sim-AD-001") for name in ("hub_scatter", "connectivity_distribution")]
    page = with_list(open_page(), *requests)
    assert page.multiselect(key="panel_figures").value == requests  # a few figures are, until another choice
    page.segmented_control(key="export_formats").set_value(["svg"])
    page.segmented_control(key="panel_columns").set_value(1)
    page.multiselect(key="panel_figures").set_value(requests[::-1]).run()
    (made,) = _panels(page).values()
    assert made.request.panels == tuple(requests[::-1])
    assert Image.open(io.BytesIO(made.pictures["png"])).width == round(85 / 25.4 * _PREVIEW_DPI)
    assert f"85.0 × {made.size_mm[1]:.1f} mm. a, Simulated subject sim-AD-001" in captions(page)
    page.button(key="export_bundle_start").click().run()
    assert list(_panels(page)) == [("png",), ("svg",)]
    page.segmented_control(key="panel_columns").set_value(4).run()
    assert_no_error(page)  # two panels stand side by side, whatever the number of columns
    page.button(key="export_remove_0").click().run()
    assert not page.multiselect, "one figure has no panels"


def test_own_subjects_that_are_gone_are_left_out_and_forgotten(open_page, rng):
    atlas = load_atlas("aal90")
    series = rng.standard_normal((60, 90))
    cohort = Cohort("Mine", tuple(Subject(f"s{i}", series=series + i * rng.random((60, 90))) for i in range(2)), atlas)
    own = CohortRef("Mine", sha256=cohort_sha256(cohort))
    requests = [
        FigureRequest("connectivity_distribution", ref, name) for ref, name in ((own, "s1"), (DEMO, "sim-AD-001"))
    ]
    page = open_page()
    page.session_state[keys.OWN_COHORT] = LoadedCohort(OWN, cohort)
    page = with_list(page, *requests)
    assert not page.warning
    assert page.toggle(key="export_data").value is False
    page.session_state[keys.OWN_COHORT] = LoadedCohort(OWN, cohort.with_groups({"s0": "NC"}))
    page.run()
    assert "no longer loaded, or were changed" in page.warning[0].value
    assert {request for request, _, _ in page.session_state[keys.EXPORT_MADE]} == {requests[1]}
    assert own not in page.session_state[keys.EXPORT_MEASURED]


def test_nothing_made_of_earlier_subjects_is_kept_when_others_come_or_they_are_forgotten(rng, monkeypatch):
    made = (keys.EXPORT_MADE, keys.EXPORT_MEASURED, keys.EXPORT_GRAPHS)
    cohort = Cohort("Mine", (Subject("s0", series=rng.standard_normal((60, 90))),), load_atlas("aal90"))
    for change in (partial(loaded_cohorts.keep_own_cohort, cohort), loaded_cohorts.forget_own_cohort):
        state = dict.fromkeys(made, "of earlier subjects")
        monkeypatch.setattr(loaded_cohorts.st, "session_state", state)
        change()
        assert not state.keys() & set(made)


def test_no_figure_of_modules_is_without_its_export(own_page, monkeypatch):
    monkeypatch.setattr(NullGraphOptions, "null_graphs", 3)
    page = own_page("modules")
    for tab, n_least in {"modules": 2, "networks": 1, "roles": 1, "chance": 0}.items():
        assert_all_can_be_added(turn_to(page, tab), n_least)
    for key in ("sweep_start", "modularity_test_start"):
        page.button(key=key).click()
    page.run()
    assert_all_can_be_added(page, 2)
    drawn = array(figure(page, "modularity_null")["data"][0]["y"])
    page.button(key="modularity_null_export").click().run()
    visit(page, "compare")
    page.segmented_control(key="compared").set_value("modules").run()
    page.button(key="groups_start").click().run()
    assert_all_can_be_added(page, 3)
    page.segmented_control(key="group_brain_kind").set_value(GLASS).run()
    assert_all_can_be_added(page, 3)
    page.button(key="brain_second_glass_export").click().run()
    added = {request.figure: request for request in page.session_state[keys.EXPORT_LIST]}
    chance, brain = added["modularity_against_chance"], added["group_module_brain"]
    cohort = page.session_state[keys.OWN_COHORT].cohort
    assert len(_make_figure(cohort, chance).numbers) == 1 + drawn.sum()
    assert (brain.subject, brain.cohort.own) == (None, True)
    assert [brain.options[name] for name in ("first", "second", "group")] == ["NC", "MCI", "MCI"]
    brain.full_options()


def test_what_the_page_measured_is_not_measured_again_and_gives_the_same_numbers():
    cohort = demo_cohort("ad", n_per_group=2)
    view = View(LoadedCohort(OWN, cohort), cohort["sim-AD-002"], ConnectomeSettings(), {"runs": 2, "seed": 3})
    shown = [
        (hub_curves, HubCurvesOptions(group=True)),
        (modularity_against_chance, view.options(NullGraphOptions, null_graphs=2)),
        (resolution_sweep, view.options(resolution_sweep.takes, resolutions=(0.8,))),
        (group_module_flow, view.options(ModuleComparisonOptions, first="NC", second="AD")),
    ]
    captions = [one(view.measured, options).caption for one, options in shown]
    measured = _StoppableCohort(view.cohort, view.loaded)
    for (one, options), caption in zip(shown, captions, strict=True):
        request = figure_request(view, one, options)
        found, anew = _make_figure(measured, request), _make_figure(view.cohort, request)
        pd.testing.assert_frame_equal(found.numbers, anew.numbers, check_exact=True)
        assert found.caption == anew.caption
        assert found.caption.startswith(caption)  # which on paper may say more
    assert measured.n_measured == 0
    request = figure_request(view, *shown[1])
    _make_figure(measured, replace(request, options={**request.options, "null_graphs": 3}))
    assert measured.n_measured == 1


def test_connectomes_are_written_in_the_chosen_format(open_page, monkeypatch):
    page = open_page("export", cohort="ad")
    choice = page.selectbox(key="graph_format")
    assert choice.options == [about.title for key, about in GRAPH_FORMATS.items() if key != "pscalar"], "no cortex"
    choice.select("graphml").run()
    page.button(key="graphs_start").click().run()
    (files,) = page.session_state["export_graphs"].values()
    read = networkx.parse_graphml(files[".graphml"].decode(), node_type=int)
    assert read.number_of_nodes() == 90
    assert {"name", "x", "module", "node_entanglement"} <= set(read.nodes[0])
    (download,) = page.get("download_button")
    assert download.proto.label == "Download 1 file of 1 subject"
    offered = []
    monkeypatch.setattr("streamlit.download_button", lambda label, data, **_: offered.append(data()))
    page.run()
    (entry,) = zipfile.ZipFile(io.BytesIO(offered[-1])).infolist()
    assert entry.external_attr >> 16 == 0o644, "others of a group can read what is unpacked"
    page.selectbox(key="graph_format").select("bids").run()
    kept = [ending for files in page.session_state["export_graphs"].values() for ending in files]
    assert ".graphml" not in kept, "what was made in another format is dropped"
