"""The pages' logic: what is in the figures is what the library computes, and the view survives."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from page_contents import array, as_shown, badges, buttons, captions, figure, matrix, words
from page_hands import bring, csv_file, turn_to, visit
from plotly.basedatatypes import BaseFigure

from biobgt import (
    Cohort,
    ConnectomeSettings,
    ImageOptions,
    InputError,
    brain_graph,
    functional_connectivity,
    load_atlas,
)
from biobgt.base.references import GLOSSARY
from biobgt.data.atlas import numbered_atlas
from biobgt.data.connectivity import TangentSpace
from biobgt.data.simulate import demo_cohort
from biobgt.export import CohortRef, FigureRequest
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.screen.pen import ScreenHeight
from biobgt.hubs.measures import HubOptions
from biobgt.modules.measures import ModuleOptions
from biobgt.readers.fetch import FetchOptions
from biobgt.results.measured import Measured
from session.cohorts import OWN
from session.view import EXPORT_LIST, linked_options
from views.page_map import PAGES
from views.shared.figures import _height_rule
from views.shared.sidebar import STOPS
from views.shared.widgets import explained

# On the others figures are of two groups, of models and their real groups, on one screen, or chosen for export.
SUBJECT_PAGES = sorted(set(PAGES) - {"attention", "compare", "explore", "export", "home", "models", "predict", "study"})
TERMS = {
    "subjects": {"atlas", "region-series"},
    "hubs": {"hub", "ne", "neff", "fc-strength", "gamma", "agreement", "null-graph", "control-graph"},
    "modules": {"louvain", "resolution", "modularity", "ami", "participation"},
    "compare": {"covariate", "residual-degrees", "effect-size", "fdr"},
    "study": {"covariate", "fdr"},
    "attention": {"attention", "fdr"},
    "predict": {"calibration", "out-of-fold"},
    "models": {"out-of-fold", "tangent-space"},
}
WIDGETS = ("number_input", "selectbox", "segmented_control", "toggle", "select_slider")
# By page: the group, how keys are made of names, and what the page does not ask for.
OPTIONS_OF_PAGES = {
    "images": ("subjects", ImageOptions, "{}0", {"labels"}),
    "fetching": ("subjects", FetchOptions, "fetch_{}", {"mirror"}),
    "look": ("export", PaperStyle, "export_{}", {"height_mm"}),
}
STARTS = {"n_subjects": 20}  # where a page starts elsewhere than a script
APP = Path(__file__).resolve().parents[2] / "app"
COMPUTING = {"bct", "dask", "networkx", "nilearn", "numpy", "scipy", "sklearn", "torch", "torch_geometric"}
ATLAS = load_atlas("schaefer100")
KINDS = ["Interactive 3-D", "Glass brain", "Inflated cortex", "Pial cortex"]


@pytest.fixture(scope="module")
def asd():
    return demo_cohort("asd")


@pytest.fixture(scope="module")
def subject(asd):
    return asd.subjects[0]


@pytest.mark.parametrize("name", SUBJECT_PAGES)
def test_every_page_opens_with_a_badge_wherever_simulated_data_show(look_at, name) -> None:
    page = look_at(name)
    assert badges(page) == badges(page.main) == 1
    every = [element.proto for element in page.get("plotly_chart")]
    charts = [chart for chart in every if not chart.alt.startswith("Model ")]
    assert len(charts) >= 2
    for chart in charts:
        assert json.loads(chart.spec)["layout"]["title"]["text"].endswith("simulated")
        assert chart.alt.startswith("Simulated subject")
        assert '"format": "svg"' in chart.config


def test_home_opens_on_three_figures_of_the_subjects_own_numbers_with_one_badge(look_at, asd, subject) -> None:
    page = look_at("home")
    assert badges(page) == badges(page.main) == 1
    keys = [element.proto.id.rpartition("-first_")[2] for element in page.get("plotly_chart")]
    assert keys == ["module_brain", "hub_curves", "attention_maps"]
    links = [link.proto for link in page.get("page_link") if link.proto.help]
    assert [link.page for link in links] == ["modules", "hubs", "attention"]
    assert [button.label for button in page.main.button] == ["Bring my subjects", "Look around with the demo"]
    adjusted = "adjusted for overall connectivity, motion (log mean FD), age, sex and site, as far as these are known"
    assert f"module blocks differ, {adjusted}" in words(page.markdown)
    measured = Measured(asd).of(subject.id, ConnectomeSettings())
    ne = measured.hub_table(HubOptions(), ("node_entanglement",))["node_entanglement_z"].to_numpy()
    curve = figure(page, "first_hub_curves")["data"][0]
    shown = array(curve["customdata"])
    np.testing.assert_allclose(array(curve["y"]), ne[shown])
    assert len(shown) == 50
    assert (np.diff(array(curve["y"])) <= 0).all()
    modules = measured.modules(ModuleOptions()).partition.labels
    brain = figure(page, "first_module_brain")["data"]
    sizes = [len(array(trace["x"])) for trace in brain if trace["name"].startswith("Module ")]
    assert sorted(sizes) == sorted(np.bincount(modules)[1:])


@pytest.mark.parametrize(("group", "shown"), [("NC", ["NC", "MCI"]), ("AD", ["NC", "AD"])])
def test_home_shows_the_controls_beside_the_subjects_group(open_page, group, shown) -> None:
    page = open_page(cohort="ad", subject=f"sim-{group}-002")
    titles = figure(page, "first_attention_maps")["layout"]["annotations"]
    assert [title["text"].partition(" ")[0] for title in titles] == shown


def test_home_without_coordinates_says_so_and_leads_on(open_own, asd) -> None:
    page = open_own("home", Cohort("mine", asd.subjects[:2], numbered_atlas(200)))
    assert "cannot be drawn in the brain" in captions(page)
    assert len(page.get("plotly_chart")) == 2


@pytest.mark.parametrize("name", ["home", "hubs", "attention"])
def test_a_page_that_is_looked_at_again_draws_no_figure_again(open_page, monkeypatch, name) -> None:
    page = open_page(name)
    first = [element.proto.spec for element in page.get("plotly_chart")]
    drawn, contents = [], BaseFigure.to_dict
    monkeypatch.setattr(BaseFigure, "to_dict", lambda figure: drawn.append(figure) or contents(figure))
    again = [element.proto.spec for element in page.run().get("plotly_chart")]
    assert drawn == []
    assert again
    assert again == first


@pytest.mark.parametrize("name", sorted(PAGES))
def test_every_figure_has_its_description_as_a_caption(look_at, name) -> None:
    page = look_at(name)
    helps = [as_shown(link.proto.help) for link in page.get("page_link")]  # of Home's small figures
    shown = "\n".join([captions(page), *helps])
    for element in page.get("plotly_chart"):
        assert element.proto.alt in shown
    for table in (*page.dataframe, *page.table):
        assert table.proto.alt, f"a table of the page {name} has no name for a screen reader"


def test_subjects_page_shows_connectivity_in_an_order_and_the_threshold_changes_the_graph(
    open_page, asd, subject
) -> None:
    page = open_page("subjects", region_order="paper")
    shown = figure(page, "connectivity")
    heatmap, scale = shown["data"][0], shown["layout"]["coloraxis"]
    positions = [asd.atlas.regions.index(name) for name in heatmap["y"]]
    expected = functional_connectivity(subject.series)[np.ix_(positions, positions)]
    np.testing.assert_allclose(array(heatmap["z"]), expected, atol=1e-6)
    assert (scale["cmin"], scale["cmax"]) == (-1, 1)
    labels = [asd.atlas.labelling("paper")[i] or "unlabelled" for i in positions]
    blocks = [label for i, label in enumerate(labels) if i == 0 or labels[i - 1] != label]
    assert list(shown["layout"]["yaxis"]["ticktext"]) == blocks
    page.selectbox(key="region_order").select("atlas").run()
    heatmap = figure(page, "connectivity")["data"][0]
    assert tuple(heatmap["x"]) == tuple(heatmap["y"]) == asd.atlas.regions
    page.segmented_control(key="matrix_shown").select("graph").run()
    edges = []
    for level in (0.3, 0.5):
        page.slider(key="absolute_level").set_value(level).run()
        graph = brain_graph(subject, asd.atlas, ConnectomeSettings(level=level))
        np.testing.assert_allclose(matrix(page), graph.weights, atol=1e-6)
        kept, dropped = figure(page, "distribution")["data"]
        assert array(kept["y"]).sum() == graph.n_edges
        assert array(kept["y"]).sum() + array(dropped["y"]).sum() == 200 * 199 / 2
        assert f"{graph.n_edges:,} connections" in captions(page)
        edges.append(graph.n_edges)
    assert edges[0] > edges[1] > 0


def test_every_choice_of_the_sidebar_reaches_the_graph_until_another_cohort_is_chosen(open_page, asd) -> None:
    page = open_page("subjects")
    page.selectbox(key="subject").select("sim-ASD-003")
    page.slider(key="absolute_level").set_value(0.42)
    page.selectbox(key="estimator").select("partial")
    page.segmented_control(key="sign").select("signed")
    page.segmented_control(key="threshold").select("proportional")
    page.run()
    assert page.slider(key="proportional_level").value == 0.1
    page.slider(key="proportional_level").set_value(0.05)
    page.toggle(key="backbone").set_value(True)
    page.selectbox(key="region_order").select("atlas")
    page.segmented_control(key="matrix_shown").select("graph").run()
    settings = ConnectomeSettings("partial", "signed", "proportional", 0.05, True)
    graph = brain_graph(asd["sim-ASD-003"], asd.atlas, settings)
    np.testing.assert_allclose(matrix(page), graph.weights, atol=1e-6)
    page.segmented_control(key="threshold").select("absolute").run()
    assert page.slider(key="absolute_level").value == 0.42, "each rule remembers its level"
    page.selectbox(key="cohort").select("ad").run()
    assert page.selectbox(key="subject").value == "sim-NC-001"
    assert len(matrix(page)) == 90


def test_tangent_space_is_fitted_on_the_cohort(open_page) -> None:
    cohort = demo_cohort("ad")
    page = open_page("subjects", cohort="ad", estimator="tangent")
    page.selectbox(key="region_order").select("atlas").run()
    expected = TangentSpace.fit(cohort).transform(cohort.subjects[:1])[0]
    np.testing.assert_allclose(matrix(page), expected, atol=1e-5)


def test_subjects_page_shows_series_and_quality(look_at, subject) -> None:
    page = look_at("subjects")
    carpet = figure(page, "series")["data"][0]
    regions = load_atlas("cc200").regions
    i, region = 5, carpet["y"][5]
    series = subject.series[:, regions.index(region)]
    np.testing.assert_allclose(array(carpet["z"])[i], (series - series.mean()) / series.std(), atol=1e-5)
    np.testing.assert_allclose(array(carpet["x"])[:3], [0, subject.tr, 2 * subject.tr])
    table = page.dataframe[0].value
    assert list(table["subject"])[:1] == [subject.id]
    assert len(table) == 40
    shown = [f"{mean:.3f}" for mean in table["mean FC"]]
    assert "0.000" in shown
    assert "-0.000" not in shown


@pytest.fixture
def nothing_kept(monkeypatch) -> None:
    """A demo is shared by all tests: without this, what an earlier one measured would not be measured again."""
    monkeypatch.setattr("biobgt.base.kept.MemoryStore.get", lambda store, key: None)


@pytest.mark.usefixtures("nothing_kept")
def test_input_error_is_a_sentence_and_the_rest_of_the_page_stays(open_page, monkeypatch, may_fail) -> None:
    def refuse(*_, **__):
        raise InputError("The *matrix* of ![x](http://example.org/x.png) is odd.")

    monkeypatch.setattr("biobgt.results.measured.subject_connectivity", refuse)
    page = open_page("subjects")
    (error,) = page.error
    assert as_shown(error.value) == "The *matrix* of ![x](http://example.org/x.png) is odd."
    assert "\\!\\[x\\]\\(" in error.value
    assert page.title[0].value == "Subjects"
    assert len(page.dataframe) == 1


@pytest.mark.usefixtures("nothing_kept")
def test_bug_is_an_apology_with_a_report_and_no_traceback(open_page, monkeypatch, caplog, may_fail) -> None:
    def fail(*_, **__):
        raise ZeroDivisionError("by naught")

    monkeypatch.setattr("biobgt.results.measured.subject_connectivity", fail)
    page = open_page()
    assert not page.exception
    assert "sorry" in page.error[0].value
    report = next(code.value for code in page.code if "ZeroDivisionError" in code.value)
    assert report.startswith("ZeroDivisionError: by naught\nbiobgt ")
    assert re.search(r"^  measured\.py:\d+ in connectivity_by$", report, re.MULTILINE)
    assert re.search(r"^  home\.py:\d+ in _show_page$", report, re.MULTILINE)  # which of the files of that name
    assert "raise" not in report  # no line of any file
    assert "/" not in report  # no path of this machine
    assert "A page failed" in caplog.text


def test_first_figure_comes_before_anything_heavy_is_imported_and_torch_with_a_model_that_runs() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import streamlit as st\n"
        "from streamlit.testing.v1 import AppTest\n"
        "heavy, shown = ('torch', 'nilearn', 'matplotlib', 'sklearn', 'scipy.stats'), st.plotly_chart\n"
        "def show(*a, **k):\n"
        "    print('figure', *[name for name in heavy if name in sys.modules])\n"
        "    return shown(*a, **k)\n"
        "st.plotly_chart = show\n"
        "page = AppTest.from_file(sys.argv[1] + '/Home.py', default_timeout=120).run()\n"
        "for name in ('home', 'attention', 'models'):\n"
        "    page.switch_page(f'views/{name}.py').run()\n"
        "    assert not page.error and page.get('plotly_chart')\n"
        "    print('page', *[name for name in ('torch', 'matplotlib') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(APP)], capture_output=True, text=True, check=True)
    said = ran.stdout.splitlines()
    assert said[0] == "figure"
    assert [line for line in said if line.startswith("page")] == ["page"] * 3, "no model runs there"


def helps(page) -> str:
    return "\n".join(element.help for element in (*page.title, *page.subheader) if element.help)


def tabs_of(page) -> list[str]:
    """What the option of the page's tabs offers; nothing where it has none."""
    control = next((one for one in page.segmented_control if one.key.endswith("_tab")), None)
    return (
        []
        if control is None
        else [name for name, title in linked_options()[control.key].shown.items() if title in control.options]
    )


@pytest.mark.parametrize("name", TERMS)
def test_terms_are_explained_once_at_the_first_heading_that_uses_them(open_page, name) -> None:
    page = open_page(name)
    said = [helps(page), *(helps(turn_to(page, tab)) for tab in tabs_of(page))]
    for key in TERMS[name]:
        assert max(text.count(explained(key)) for text in said) == 1, key


def test_an_unknown_term_is_a_bug() -> None:
    with pytest.raises(Exception, match="entanglemnt"):
        explained("entanglemnt")
    assert explained() is None


def test_whole_glossary_opens_from_the_sidebar(open_page) -> None:
    page = open_page("export")
    assert keys(page) == set(), "no tour without asking"
    assert not [text for text in page.markdown if GLOSSARY["ve"].definition in text.value]
    page.sidebar.button(key="glossary").click().run()
    shown = [text.value for text in page.markdown if text.value.startswith("**") and "**: " in text.value]
    assert [text.partition("**: ")[0] for text in shown] == [f"**{term.term}" for term in GLOSSARY.values()]
    assert any(text.endswith("(Huang et al. 2024)") for text in shown)


def keys(page) -> set[str]:
    return {key for key in buttons(page) if key.startswith("tour_")}


def test_looking_around_goes_to_the_first_stop_with_a_demo(open_own) -> None:
    assert len(set(STOPS)) == 5
    page = open_own("home", demo_cohort("ad", n_per_group=2))
    assert page.session_state["cohort"] == OWN
    page.button(key="look_around").click().run()
    assert page.title[0].value == "Subjects"
    assert page.session_state["cohort"] != OWN
    assert f"1 of 5 · Subjects {PAGES['subjects'].shows}" in words(page.main.markdown).replace("**", "")
    assert keys(page) == {"tour_next", "tour_skip"}


@pytest.mark.parametrize(
    ("step", "name", "pressed", "title", "left"),
    [
        (0, "subjects", "tour_next", "Hubs", {"tour_next", "tour_skip"}),
        (4, "export", "tour_skip", "Export", set()),
        (4, "export", "tour_end", "Subjects", set()),  # to one's own
        (0, "export", "tour_back", "Subjects", {"tour_next", "tour_skip"}),
    ],
)
def test_tour_goes_on_back_or_ends(open_page, step, name, pressed, title, left) -> None:
    page = open_page(name)
    page.session_state["tour_step"] = step
    page.run()
    assert keys(page) == {"tour_skip", *({pressed} - {"tour_skip"} or {"tour_end"})}
    page.button(key=pressed).click().run()
    assert page.title[0].value == title
    assert keys(page) == left
    assert ("tour_step" in page.session_state) == bool(left)


def widgets_of(page):
    return {widget.key: widget for kind in WIDGETS for widget in getattr(page, kind)}


@pytest.mark.parametrize("case", OPTIONS_OF_PAGES)
def test_every_option_is_asked_for_as_it_is_declared(open_page, case):
    where, kind, key, left_out = OPTIONS_OF_PAGES[case]
    page = open_page("subjects")
    if where == "export":
        page.session_state[EXPORT_LIST] = [FigureRequest("hub_curves", CohortRef("ad", demo=True), "sim-NC-001")]
        visit(page, "export")
    shown = widgets_of(page)
    for name, one in kind.declared().items():
        if name in left_out:
            assert key.format(name) not in shown
            continue
        widget = shown[key.format(name)]
        assert (widget.label, widget.help or "") == (one.title, one.help)
        assert widget.value == STARTS.get(name, one.default)
        if widget.type == "number_input" and one.low is not None:
            assert (widget.min, widget.max) == (one.low, one.high)
        if widget.type == "number_input" and one.above is not None:
            assert widget.min > one.above
        if one.choices is not None:
            texts = [one.text(choice) for choice in one.choices]
            assert list(widget.options)[-len(texts) :] == texts


def test_what_was_answered_stays_and_can_be_taken_back(open_page):
    page = open_page("subjects")
    page.number_input(key="tr0").set_value(2.0).run()
    page.selectbox(key="confounds0").set_value("compcor").run()
    page.number_input(key="high_pass0").set_value(0.01).run()
    shown = widgets_of(page)
    assert [shown[key].value for key in ("tr0", "confounds0", "high_pass0", "low_pass0")] == [
        2.0,
        "compcor",
        0.01,
        None,
    ]
    page.number_input(key="tr0").set_value(None).run()
    page.selectbox(key="confounds0").set_value(None).run()
    shown = widgets_of(page)
    assert [shown[key].value for key in ("tr0", "confounds0", "high_pass0")] == [None, None, 0.01]


def imported(source: str) -> set[str]:
    """The top-level packages that a source imports, wherever in it."""
    nodes = list(ast.walk(ast.parse(source)))
    modules = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    modules += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {module.partition(".")[0] for module in modules}


def test_every_page_is_in_the_map_and_every_entry_has_its_page() -> None:
    found = [*APP.glob("views/*/page.py"), *APP.glob("views/*.py")]
    pages = {path.relative_to(APP).as_posix() for path in found} - {"views/page_map.py"}
    assert pages == {entry.script for entry in PAGES.values()}
    assert list(PAGES) == [entry.name for entry in PAGES.values()]


@pytest.mark.parametrize("path", sorted(APP.rglob("*.py")), ids=lambda path: path.relative_to(APP).as_posix())
def test_the_app_computes_nothing_and_a_session_knows_nothing_of_pages(path: Path) -> None:
    refused = COMPUTING | ({"views"} if path.parent.name == "session" else set())
    assert not imported(path.read_text(encoding="utf-8")) & refused


def test_rule_of_style_says_the_same_and_takes_no_foreign_words():
    rule = _height_rule("maps_<b>{}", ScreenHeight(around=100, beside=30, share=0.5, largest=300))
    assert ".st-key-maps_-b---_frame {container-type: inline-size}" in rule
    assert "calc(100px + min(300px, (100cqw - 30px) * 0.50000))" in rule
    assert ScreenHeight(100, 30, 0.5, 300).at(230) == 200
    assert ScreenHeight(100, 30, 0.5, 300).at(2000) == 400


def own_parcels(open_page):
    """The page of subjects with four on the parcels of Schaefer's atlas."""
    table = b"subject,group\n" + b"".join(f"s{i},{'NC' if i < 2 else 'ASD'}\n".encode() for i in range(4))
    series = np.random.default_rng(0).standard_normal((4, 60, ATLAS.n_regions)).cumsum(axis=1)
    files = [csv_file(f"s{i}.csv", one, ATLAS.regions) for i, one in enumerate(series)]
    return bring(open_page("subjects"), *files, phenotypes=("p.csv", table, "text/csv"))


def assert_painted(shown: dict) -> None:
    meshes = [trace for trace in shown["data"] if trace["type"] == "mesh3d"]
    assert {trace.get("scene", "scene") for trace in meshes} == {"scene", "scene2", "scene3", "scene4"}
    named = {text.split("</b>")[0].removeprefix("<b>") for trace in meshes for text in trace["text"]}
    assert set(ATLAS.regions) <= named


def test_hubs_and_modules_are_painted_on_request(open_page):
    without = open_page("hubs", cohort="ad").segmented_control(key="brain_shown")
    assert list(without.options) == [*KINDS[:2], "Five measures"], "an atlas without surface labels has no cortex"
    page = own_parcels(open_page)
    visit(page, "hubs")
    choice = page.selectbox(key="brain_shown")
    assert list(choice.options) == [*KINDS, "Five measures"]
    choice.select("inflated").run()
    assert_painted(figure(page, "hub_brain"))
    assert "100 regions painted on the inflated fsaverage5 cortex, seen from the side" in captions(page)
    visit(page, "modules")
    choice = page.segmented_control(key="brain_kind")
    assert list(choice.options) == KINDS
    choice.set_value("pial").run()
    assert_painted(figure(page, "brain"))
