"""The page of hubs: its numbers are the library's, γ costs no new spectra, and own subjects' results stay theirs."""

import json

import numpy as np
import pandas as pd
import pytest
from page_contents import (
    DOT,
    address_of,
    array,
    assert_no_error,
    buttons,
    captions,
    figure,
    table_with,
    traces,
    words,
)
from page_hands import abide_file, bring, press, turn_to, visit
from streamlit.testing.v1 import AppTest

from biobgt import ConnectomeSettings, InputError
from biobgt.data.connectivity import brain_graph, subject_connectivity
from biobgt.data.simulate import demo_cohort
from biobgt.export.bundle import _make_figure
from biobgt.figures import random_regions
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.why_region import story_sentences
from biobgt.hubs import HUB_MEASURES
from biobgt.hubs import table as hub_tables
from biobgt.hubs.agreement import graph_agreement, set_against_nulls
from biobgt.hubs.measures import GAMMAS, HubAnalysisOptions, HubOptions
from biobgt.hubs.region import explain_region
from biobgt.hubs.table import measure_hubs
from biobgt.model import pretrained
from biobgt.results.tables import analyse_hubs
from session import cohorts as loaded_cohorts
from session.view import EXPORT_LIST
from views.page_map import PAGES
from views.shared import figures

CURVES = {"NE": "node_entanglement", "NEff": "node_efficiency", "FC strength": "fc_strength"}
FIGURES = {
    "regions": ("hub_brain", "hub_curves"),
    "agreement": ("ne_node_efficiency", "ne_fc_strength", "gamma_sweep"),
    "region": ("why_before", "why_after", "why_spectra", "why_entropy"),
}
SUBJECT = "sim-NC-001"
REGION = "Precuneus_L"


@pytest.fixture(scope="module")
def cohort():
    return demo_cohort("ad")


def hubs_of(cohort, subject, settings=None, **options):
    """Hubs and agreement as the command line computes them."""
    one = cohort.select(lambda other: other.id == subject)
    found = analyse_hubs(one, settings or ConnectomeSettings(), HubAnalysisOptions(**options))
    return found.tables[subject], found.agreement.set_index("reference")["spearman"]


def hub_table(page):
    """The table of all regions, which is the first of its tab."""
    return turn_to(page, "table").dataframe[0].value


def every_figure(page):
    """All figures of all tabs, by their keys."""
    shown = {}
    for tab, keys in FIGURES.items():
        shown |= {key: figure(turn_to(page, tab), key) for key in keys}
    return shown


def test_gammas_are_even_steps_with_the_default_among_them():
    assert HubAnalysisOptions().gamma in GAMMAS
    np.testing.assert_allclose(np.diff(np.log10(GAMMAS)), 0.1, atol=0.035)


@pytest.mark.parametrize("options", [{}, {"gamma": 3.0, "perturbation": "remove", "rule": "sd"}])
def test_curves_scatter_sweep_and_table_are_what_the_command_line_computes(open_page, cohort, options):
    names = {"gamma": "gamma", "perturbation": "perturbation", "rule": "hub_rule"}
    parameters = {names[option]: f"{value:g}" if option == "gamma" else value for option, value in options.items()}
    page = open_page("hubs", cohort="ad", subject="sim-MCI-002", curve_order="atlas", **parameters)
    table, spearman = hubs_of(cohort, "sim-MCI-002", **options)
    drawn = traces(page, "hub_curves")
    for name, measure in CURVES.items():
        np.testing.assert_allclose(array(drawn[name]["y"]), table[f"{measure}_z"], atol=1e-9)
        assert tuple(drawn[name]["x"]) == cohort.atlas.regions
    assert list(drawn["hubs by NE"]["x"]) == list(table.loc[table["node_entanglement_hub"], "region"])
    gamma = options.get("gamma", 0.5)
    turn_to(page, "agreement")
    for short, measure in list(CURVES.items())[1:]:
        reference = HUB_MEASURES[measure].title
        points = figure(page, f"ne_{measure}")["data"]
        found = np.sort(np.concatenate([array(points[0]["x"]), array(points[1]["x"])]))
        np.testing.assert_allclose(found, np.sort(table[measure]))
        curve = traces(page, "gamma_sweep")[f"{short}, this subject"]
        at_gamma = array(curve["y"])[list(array(curve["x"])).index(gamma)]
        assert at_gamma == pytest.approx(spearman[reference])
        subtitle = figure(page, f"ne_{measure}")["layout"]["title"]["subtitle"]["text"]
        assert subtitle.startswith(f"ρ = {spearman[reference]:.2f}".replace("-", "−"))
    shown = hub_table(page)
    expected = table.sort_values("node_entanglement_rank", kind="stable")
    columns = [f"{measure}{what}" for measure in CURVES.values() for what in ("", "_rank", "_hub")]
    pd.testing.assert_frame_equal(shown[["region", *columns]], expected[["region", *columns]])
    counts = [f"{table[f'{measure}_hub'].sum()} by {short}" for short, measure in CURVES.items()]
    assert f", by each measure on its own: {', '.join(counts)}. Rank 1 is" in captions(page)


def test_any_gamma_is_read_from_spectra_computed_once(open_page, cohort, count):
    measured = count(hub_tables, "measure_hubs")
    page = open_page("hubs", cohort="ad", curve_order="atlas")
    curves = []
    for gamma in (0.5, 0.1, 10.0):
        page.select_slider(key="gamma").set_value(gamma).run()
        curves.append(array(traces(page, "hub_curves")["NE"]["y"]))
        sweep = traces(turn_to(page, "agreement"), "gamma_sweep")
        turn_to(page, "regions")
        own = len(measured)
        expected = hubs_of(cohort, "sim-NC-001", gamma=gamma)[0]
        del measured[own:]  # those of the table that is expected are not the page's
        np.testing.assert_allclose(curves[-1], expected["node_entanglement_z"], atol=1e-9)
        assert array(sweep[f"γ = {gamma:g}"]["x"]).tolist() == [gamma, gamma]
    assert not np.allclose(curves[0], curves[2], atol=0.1)
    page.segmented_control(key="hub_rule").select("sd").run()
    visit(page, "home", "hubs")
    open_page("hubs", cohort="ad")  # another session shares the demo
    assert measured == ["sim-NC-001"]
    page.segmented_control(key="perturbation").select("remove").run()
    page.slider(key="absolute_level").set_value(0.4).run()
    page.selectbox(key="subject").select("sim-NC-002").run()
    assert measured == ["sim-NC-001"] * 3 + ["sim-NC-002"]


def test_choices_survive_a_round_through_the_pages_and_are_in_the_link(open_page):
    page = open_page("hubs", cohort="ad")
    page.select_slider(key="gamma").set_value(2.5)
    page.segmented_control(key="perturbation").select("remove")
    page.segmented_control(key="hub_rule").select("sd")
    page.segmented_control(key="curve_scale").select("rank")
    page.selectbox(key="curve_order").select("by NE")
    page.multiselect(key="measures").set_value(["node_entanglement", "node_efficiency", "fc_strength", "degree"]).run()
    before = every_figure(page)
    assert figure(turn_to(page, "agreement"), "ne_degree")
    address = address_of(page)
    assert (address["gamma"], address["perturbation"], address["hub_rule"]) == ("2.5", "remove", "sd")
    for name in ("home", "subjects", "hubs"):
        page.switch_page(PAGES[name].script).run()
        assert address_of(page)["gamma"] == "2.5"
    assert address_of(page)["hub_tab"] == "agreement", "where one was"
    assert every_figure(page) == before
    assert "degree" in hub_table(page).columns
    assert address["measures"] == "node_entanglement,node_efficiency,fc_strength,degree"
    shared = open_page("hubs", **address)
    assert not shared.warning
    assert "degree" in hub_table(shared).columns
    assert every_figure(shared) == before


@pytest.mark.parametrize(
    ("parameters", "sentence", "study_shown"),
    [
        ({}, "real ABIDE subjects (CC200, Pearson correlation, positive connections of at least 0.3, control", True),
        ({"threshold": "none", "perturbation": "remove"}, "connections of at least 0, remove, |ΔS|", True),
        ({"cohort": "ad"}, "No norm is shown: ABIDE was measured on the 200 regions of Craddock CC200", False),
    ],
)
def test_caption_says_which_study_lies_behind(open_page, parameters, sentence, study_shown):
    page = open_page("hubs", hub_tab="agreement", **parameters)
    assert sentence in captions(page)
    assert ("NEff, ABIDE mean ± SD" in traces(page, "gamma_sweep")) == study_shown


@pytest.mark.parametrize(
    ("graph", "said"),
    [({"sign": "signed"}, "not defined for negative weights"), ({"level": "1"}, "no connection left")],
)
def test_graph_without_hubs_is_refused_with_the_librarys_sentence(open_page, graph, said, may_fail):
    page = open_page("hubs", cohort="ad", **graph)
    assert not page.exception
    assert said in words(page.error)
    assert not page.get("plotly_chart")
    page.segmented_control(key="sign").select("absolute")
    page.slider(key="absolute_level").set_value(0.3).run()
    assert_no_error(page)
    assert every_figure(page)


def test_fc_strength_is_of_the_correlations_whatever_the_estimator(open_page, cohort):
    page = open_page("hubs", cohort="ad", estimator="tangent", level="0.05", curve_order="atlas")
    table = hubs_of(cohort, "sim-NC-001")[0]
    np.testing.assert_allclose(array(traces(page, "hub_curves")["FC strength"]["y"]), table["fc_strength_z"])


def test_page_opens_on_the_brain_and_the_curves_by_network(look_at, cohort):
    page = look_at("hubs", cohort="ad")
    keys = [chart.proto.id.rpartition("-")[2] for chart in page.get("plotly_chart")]
    assert keys == ["hub_brain", "hub_curves"]
    shown = figure(page, "hub_curves")
    networks = next(iter(cohort.atlas.labels.values()))
    labels = [networks[region] or "unlabelled" for region in array(traces(page, "hub_curves")["NE"]["customdata"])]
    runs = [name for i, name in enumerate(labels) if i == 0 or labels[i - 1] != name]
    assert len(runs) == len(set(runs)), "the regions of a network stand together"
    assert list(shown["layout"]["xaxis"]["ticktext"]) == runs


def test_page_without_measures_says_so(open_page, may_fail):
    page = open_page("hubs", cohort="ad")
    page.multiselect(key="measures").set_value([]).run()
    assert not page.exception
    assert words(page.error) == "Choose at least one hub measure."
    page.multiselect(key="measures").set_value(["degree"]).run()
    assert_no_error(page)
    assert "hubs by degree" in traces(page, "hub_curves")
    assert not hub_table(page).isna().any().any()
    turn_to(page, "regions")
    page.multiselect(key="measures").set_value(["node_entanglement"]).run()
    assert figure(page, "hub_curves")["data"]
    turn_to(page, "agreement")
    assert "diffusion times does NE agree" not in words(page.subheader), "NE alone is compared with nothing"


def test_own_subjects_results_stay_in_their_session(open_page, rng, count):
    measured = count(hub_tables, "measure_hubs")
    mine, yours = rng.standard_normal((2, 60, 90)).round(6)
    pages = [bring(open_page("subjects"), abide_file("S_1_rois_aal90.1D", series)) for series in (mine, yours)]
    for page in pages:
        page.slider(key="absolute_level").set_value(0.1)
        visit(page, "hubs")
        page.select_slider(key="gamma").set_value(1.0).run()
    assert len(measured) == 2  # the same name and settings, and yet computed for each
    first, second = (array(traces(page, "hub_curves")["NE"]["y"]) for page in pages)
    assert not np.allclose(first, second)
    strength = hub_table(pages[0])["fc_strength"].sort_index()
    np.testing.assert_allclose(strength, (np.corrcoef(mine.T).sum(axis=1) - 1) / 89)
    assert "subject" not in pages[0].query_params
    assert address_of(pages[0])["gamma"] == "1"


def test_many_regions_are_asked_about_before_anything_is_computed(open_page, count, monkeypatch) -> None:
    """Above a number of regions the page says what they cost and waits for a click; below, it never asks."""
    measured = count(hub_tables, "measure_hubs")
    usual = open_page("hubs")
    assert "measure_hubs" not in buttons(usual)
    n_regions = 90
    measured.clear()
    monkeypatch.setattr("biobgt.hubs.resolvents.ASK_ABOVE", n_regions - 1)
    page = open_page("hubs", cohort="ad")
    assert "the 90 regions: the first figures of one subject take about 5 seconds" in words(page.info)
    assert not page.get("plotly_chart")
    assert measured == []
    page.button(key="measure_hubs").click().run()
    assert len(measured) == 1
    assert figure(page, "hub_curves")
    assert "measure_hubs" not in buttons(page)
    page.selectbox(key="subject").select_index(1).run()
    assert len(measured) == 2, "one answer holds for the cohort"


def test_a_rerun_looks_for_models_once(open_page, monkeypatch) -> None:
    looked, folders = [], pretrained.installed_folders
    page = open_page("hubs")
    monkeypatch.setattr(pretrained, "installed_folders", lambda: looked.append(0) or folders())
    assert_no_error(page.run())
    assert len(looked) == 1, "the sidebar offers them"


@pytest.fixture
def count_pictures(monkeypatch):
    """Count the pictures drawn, without drawing them."""
    drawn = []
    loaded_cohorts._demo.clear()

    def draw(figure, options, measured, width_mm):
        drawn.append((figure.key, measured.subject.id, options.gamma))
        shown = figure(measured, options).for_paper(PaperStyle())
        return DOT, shown.line, shown.caption

    monkeypatch.setattr(figures, "_draw_picture", draw)
    yield drawn
    loaded_cohorts._demo.clear()


def bands(page: AppTest):
    """Mean and SD that lie behind each measure, in the order of the panels."""
    drawn = figure(page, "hub_curves")["data"]
    means = [array(trace["y"]) for trace in drawn if "mean ± SD" in trace.get("name", "")]
    outlines = [array(trace["y"]) for trace in drawn if trace.get("fill") == "toself"]
    return [(mean, outline[: len(mean)] - mean) for mean, outline in zip(means, outlines, strict=True)]


@pytest.mark.parametrize("gamma", ["0.5", "3"])
def test_group_behind_is_what_the_command_line_computes(open_page, cohort, gamma):
    page = open_page("hubs", cohort="ad", subject="sim-MCI-002", gamma=gamma, curve_order="atlas")
    assert bands(page) == []
    page.toggle(key="group_behind").set_value(True)
    page.segmented_control(key="curve_scale").select("raw").run()
    expected = analyse_hubs(cohort.group("MCI"), ConnectomeSettings(), HubAnalysisOptions(gamma=float(gamma))).groups
    for (mean, sd), measure in zip(bands(page), CURVES.values(), strict=True):
        np.testing.assert_allclose(mean, expected[f"{measure}_mean"])
        np.testing.assert_allclose(sd, expected[f"{measure}_sd"], atol=1e-12)
    assert "mean ± 1 SD of the 20 subjects of MCI, this one among them" in captions(page)


def test_group_is_measured_once_for_all_gammas_subjects_pages_and_sessions(open_page, cohort, count):
    measured = count(hub_tables, "measure_curves")
    page = open_page("hubs", cohort="ad")
    assert measured == []
    page.toggle(key="group_behind").set_value(True).run()
    assert measured == list(cohort.group("NC").ids)
    for gamma in (0.1, 10.0):
        page.select_slider(key="gamma").set_value(gamma).run()
    page.segmented_control(key="curve_scale").select("rank").run()
    page.selectbox(key="subject").select("sim-NC-007").run()
    visit(page, "home", "hubs")
    assert len(bands(page)) == 3
    other = open_page("hubs", cohort="ad")
    other.toggle(key="group_behind").set_value(True).run()
    assert len(measured) == 20
    page.segmented_control(key="perturbation").select("remove").run()
    assert len(measured) == 40
    assert not page.button or all(button.label != "Stop" for button in page.button)


def test_work_that_ended_early_goes_on_where_it_was(open_page, cohort, count, monkeypatch, may_fail):
    measured = count(hub_tables, "measure_curves")
    counting = hub_tables.measure_curves

    def ends_early(graph, *args, **options):
        if graph.subject == "sim-NC-004":
            raise InputError("The fourth is broken.")
        return counting(graph, *args, **options)

    monkeypatch.setattr(hub_tables, "measure_curves", ends_early)
    page = open_page("hubs", cohort="ad")
    page.toggle(key="group_behind").set_value(True).run()
    assert words(page.error) == "The fourth is broken."
    monkeypatch.setattr(hub_tables, "measure_curves", counting)
    page.run()
    assert_no_error(page)
    assert measured == list(cohort.group("NC").ids)
    assert len(bands(page)) == 3


def test_fifty_random_regions_are_those_of_the_seed(open_page, cohort):
    page = open_page("hubs", cohort="ad", curve_order="atlas")
    page.segmented_control(key="curve_regions").select(50).run()
    page.number_input(key="curve_seed").set_value(7).run()
    curve = traces(page, "hub_curves")["NE"]
    expected = [cohort.atlas.regions[i] for i in sorted(random_regions(90, 50, seed=7))]
    assert list(curve["x"]) == expected
    assert "50 of 90 regions, drawn with seed 7" in captions(page)
    kept = hubs_of(cohort, "sim-NC-001")[0].set_index("region").loc[expected, "node_entanglement_z"]
    np.testing.assert_allclose(array(curve["y"]), kept, atol=1e-9)  # still over all regions


def test_share_of_hubs_reaches_curves_and_brain_where_size_is_ne_and_the_strongest_are_named(open_page, cohort):
    page = open_page("hubs", cohort="ad", curve_order="atlas")
    assert "9 in all: the top 10 % of regions" in captions(page)
    page.select_slider(key="hub_share").set_value(0.2).run()
    assert "18 in all: the top 20 % of regions" in captions(page)
    assert address_of(page)["hub_share"] == "0.2"
    table = hubs_of(cohort, "sim-NC-001", share=0.2)[0]
    expected = list(table.loc[table["node_entanglement_hub"], "region"])
    assert list(traces(page, "hub_curves")["hubs by NE"]["x"]) == expected
    brain = figure(page, "hub_brain")
    drawn = {trace["name"]: trace for trace in brain["data"]}
    is_hub = table["node_entanglement_hub"].to_numpy()
    for name, members in (("hubs by NE", is_hub), ("other regions", ~is_hub)):
        np.testing.assert_allclose(array(drawn[name]["x"]), cohort.atlas.coordinates[members, 0])
        order = np.argsort(-array(drawn[name]["marker"]["size"]), kind="stable")
        np.testing.assert_array_equal(order[:5], np.argsort(-table["node_entanglement"].to_numpy()[members])[:5])
    assert drawn["hubs by NE"]["marker"]["color"] != drawn["other regions"]["marker"]["color"] == "#9AA5AB"
    strongest = table.sort_values("node_entanglement_rank")["region"].tolist()[:10]
    assert [name["text"] for name in brain["layout"]["scene"]["annotations"]] == strongest
    assert f"The strongest: {', '.join(strongest)}." in captions(page)


def test_pictures_are_drawn_once_and_say_what_they_show(open_page, count_pictures):
    page = open_page("hubs", cohort="ad")
    assert count_pictures == []
    for kind, said in (("glass", "nilearn's glass brain, seen from four sides"), ("five", "DC (degree), BC")):
        page.segmented_control(key="brain_shown").select(kind).run()
        assert said in captions(page)
    page.segmented_control(key="brain_shown").select("glass").run()
    visit(page, "home", "hubs")
    assert count_pictures == [("hub_brain", "sim-NC-001", 0.5), ("five_brains", "sim-NC-001", 0.5)]
    page.select_slider(key="gamma").set_value(1.0).run()
    assert count_pictures[2:] == [("hub_brain", "sim-NC-001", 1.0)]
    (image,) = page.get("image")
    assert image.proto.imgs[0].alt.startswith("Simulated subject sim-NC-001")


def test_atlas_without_coordinates_gets_a_sentence(open_page, rng):
    page = bring(open_page("subjects"), abide_file("S_1.1D", rng.standard_normal((60, 33))))
    page.slider(key="absolute_level").set_value(0.1)
    visit(page, "hubs")
    assert "has no coordinates" in words(page.info)
    assert page.toggle(key="group_behind").disabled
    assert not [control for control in page.segmented_control if control.key == "curve_regions"]
    visit(page, "modules")
    assert "add an atlas table with coordinates" in words(page.info)


def test_own_groups_curves_stay_in_their_session(open_page, rng, count):
    measured = count(hub_tables, "measure_curves")
    files = [abide_file(f"{name}_rois_aal90.1D", rng.standard_normal((60, 90))) for name in "ab"]
    page = bring(open_page("subjects"), *files)
    page.slider(key="absolute_level").set_value(0.1)
    visit(page, "hubs")
    page.toggle(key="group_behind").set_value(True).run()
    assert len(measured) == 2
    assert "of whole cohort" in captions(page)
    page.slider(key="absolute_level").set_value(0.12).run()
    assert len(measured) == 4
    assert "region" not in address_of(page)


@pytest.fixture
def few_nulls(monkeypatch):
    """Three null graphs instead of 39."""
    monkeypatch.setattr("biobgt.hubs.measures.NULL_SEEDS", range(3))


def test_partial_correlation_is_said_at_once_and_null_graphs_when_asked_for(open_page, few_nulls):
    page = open_page("hubs", cohort="ad", subject=SUBJECT, hub_tab="agreement")
    cohort = demo_cohort("ad")
    graph = brain_graph(cohort[SUBJECT], cohort.atlas)
    own = graph_agreement(graph, (0.5,))
    partial = f"{own.at(0.5)['partial']:.2f}".replace("-", "−")
    assert f"the partial ρ given strength and degree is {partial}" in words(page.markdown)
    assert "with these held" not in words(page.markdown)
    press(page, "null graphs")
    nulls = [graph_agreement(graph, (0.5,), null=number) for number in range(3)]
    expected = set_against_nulls(own, nulls, 0.5)["partial"]
    said = words(page.markdown)
    assert said.count("with these held") == 1
    assert "the partial ρ" not in said, "one verdict, not two"
    assert f"of 3 null graphs (p = {expected.p:.2g}" in said
    shown = table_with(page, "Comparison").set_index("Comparison").loc["NE with NEff, given strength and degree"]
    low, high = (f"{end:.2f}".replace("-", "−") for end in (expected.null_low, expected.null_high))
    assert shown["Null graphs"] == f"{low} to {high}"
    assert "seed 0" in captions(page)
    page.select_slider(key="gamma").set_value(3.0).run()  # null graphs are known at every γ
    assert "γ = 3/mean(λ), perturbation control. Only the row with strength and degree held decides" in captions(page)


def test_near_zero_mean_connectivity_is_said_and_study_reliability_shows_where_it_applies(open_page):
    page = open_page("hubs", cohort="asd")
    said = "FC strength has little left to compare NE with"
    assert "below 0.056" in captions(page)
    assert said in captions(page)
    assert captions(turn_to(page, "agreement")).count(said) == 2  # scatter, sweep
    turn_to(page, "table")
    shown = table_with(page, "ABIDE ICC")
    assert list(shown["Measure"]) == [measure.title for measure in HUB_MEASURES.values()]
    values = shown.set_index("Measure")["ABIDE"]
    assert values["node entanglement"] < values["node efficiency"]
    assert "Split-half reliability of a whole recording, ABIDE:" in page.dataframe[0].proto.columns
    for parameters in ({"cohort": "ad"}, {"cohort": "asd", "level": "0.2"}):
        other = open_page("hubs", hub_tab="table", **parameters)
        assert "Reliability was not measured for graphs like these" in captions(other)
        assert table_with(other, "ABIDE ICC") is None
        assert "Split-half reliability" not in other.dataframe[0].proto.columns
    at_other_gamma = open_page("hubs", cohort="asd", gamma="2", hub_tab="table")
    assert np.isnan(table_with(at_other_gamma, "ABIDE ICC")["ABIDE"][0])
    assert "NE was measured at γ = 0.1, 0.5, 1, 3, 10, 30 only." in captions(at_other_gamma)


def test_the_hub_table_spells_the_papers_out_and_own_halves_are_those_of_the_command_line(open_page):
    page = open_page("hubs", cohort="ad", subject=SUBJECT, hub_tab="table")
    columns = list(table_with(page, "node_entanglement").columns)
    assert columns[:2] == ["region", "node_entanglement"]
    assert columns.index("paper") > columns.index("fc_strength_hub"), "measures come before networks"
    configured = json.loads(page.dataframe[0].proto.columns)
    assert "CC: cognition control" in configured["paper"]["help"]
    assert configured["yeo7"]["help"] == "Yeo's 7 networks"
    press(page, "two halves of this recording")
    one = demo_cohort("ad").select(lambda subject: subject.id == SUBJECT)
    expected = analyse_hubs(one, ConnectomeSettings(), HubAnalysisOptions(halves=True)).halves
    shown = table_with(page, "This subject")
    np.testing.assert_allclose(shown["This subject"], expected["whole"])
    np.testing.assert_allclose(shown["Its hubs"], expected["overlap"])
    assert f"the reliability of this recording is {expected['whole'][0]:.2f} for NE" in captions(page)


def story_of(cohort, region, *, perturbation="control", gamma=0.5):
    graph = brain_graph(cohort.subjects[0], cohort.atlas)
    hubs = measure_hubs(graph, subject_connectivity(cohort.subjects[0]), perturbation=perturbation)
    return explain_region(graph, hubs, cohort.atlas.regions.index(region), options=HubOptions(gamma, perturbation))


def picked(page: AppTest) -> str:
    """The region that is explained."""
    turn_to(page, "region")
    return figure(page, "why_before")["data"][-1]["hovertext"][0].split("<br>")[0]


@pytest.mark.parametrize("options", [{}, {"perturbation": "remove", "gamma": 3.0}])
def test_story_is_the_librarys_and_so_is_its_export(open_page, cohort, options):
    parameters = {name: f"{value:g}" if name == "gamma" else value for name, value in options.items()}
    page = open_page("hubs", cohort="ad", region=REGION, hub_tab="region", **parameters)
    story = story_of(cohort, REGION, **options)
    for sentence in story_sentences(story):
        assert sentence in words(page.markdown)
    before, after, change = figure(page, "why_spectra")["data"]
    np.testing.assert_allclose(array(before["y"]), story.spectrum_before)
    np.testing.assert_allclose(array(after["y"]), story.spectrum_after)
    np.testing.assert_allclose(array(change["y"]), story.spectrum_after - story.spectrum_before)
    entropies = {trace["name"]: array(trace["y"]) for trace in figure(page, "why_entropy")["data"]}
    np.testing.assert_allclose(entropies["|ΔS| of this region"], story.change, atol=1e-12)
    np.testing.assert_allclose(entropies["S(G), as measured"], story.entropy_before)
    lines = figure(page, "why_entropy")["layout"]["shapes"]
    assert {line["x0"] for line in lines} == {options.get("gamma", 0.5)}
    shown = figure(page, "why_before")["data"][-1]["hovertext"]
    names = [cohort.atlas.regions[member] for member in story.neighbourhood.members]
    assert [text.split("<br>")[0] for text in shown] == names
    table = page.dataframe[0].value
    assert list(table["Rank"]) == [story.standings[measure].rank for measure in HUB_MEASURES]
    units = dict(zip(HUB_MEASURES, table["Unit"], strict=True))
    assert units["node_entanglement"] == "bits"
    assert "lower is stronger" in units["vertex_entanglement"]
    assert "counts twice" in units["betweenness"]
    assert REGION in captions(page)
    keys = ("why_before", "why_after", "why_spectra", "why_entropy")
    for key in keys:
        page.button(key=f"{key}_export").click()
        page.run()
    made = dict(zip(keys, (_make_figure(cohort, one) for one in page.session_state[EXPORT_LIST]), strict=True))
    for one in made.values():
        assert one.caption in captions(page)
    np.testing.assert_allclose(made["why_spectra"].numbers["perturbed"], story.spectrum_after)
    np.testing.assert_allclose(made["why_entropy"].numbers["gamma"], GAMMAS)
    np.testing.assert_allclose(made["why_entropy"].numbers["change (bits)"], story.change, atol=1e-12)
    for key, column in (("why_before", "weight as measured"), ("why_after", "weight perturbed")):
        own = made[key].numbers.query("region == @REGION")
        texts = dict(text.split("<br>") for text in figure(page, key)["data"][-1]["hovertext"][1:])
        weights = dict(zip(own["other region"], own[column], strict=True))
        assert texts == {name: f"weight {weight:.3g}" for name, weight in weights.items()}


def test_strongest_hub_is_asked_about_until_another_is_picked(open_page):
    page = open_page("hubs", cohort="ad")
    strongest = hub_table(page).iloc[0]["region"]
    assert picked(page) == strongest
    assert "region" not in page.query_params
    page.selectbox(key="region").select(REGION).run()
    assert picked(page) == REGION
    for key, shown in every_figure(page).items():
        if key in ("hub_curves", "ne_node_efficiency", "ne_fc_strength"):
            assert REGION in [trace.get("name") for trace in shown["data"]]
    assert hub_table(page).iloc[0]["region"] == REGION, "its row comes first"
    turn_to(page, "region")
    address = address_of(page)
    assert address["region"] == REGION
    page.select_slider(key="gamma").set_value(3.0).run()
    visit(page, "home")
    assert address_of(page)["region"] == REGION
    visit(page, "hubs")
    assert picked(page) == REGION
    assert picked(open_page("hubs", **address)) == REGION
    page.selectbox(key="region").select("").run()
    assert "region" not in page.query_params


def test_region_of_another_atlas_makes_way_for_the_strongest(open_page):
    unknown = open_page("hubs", cohort="asd", region=REGION)
    assert f"region '{REGION}' is not available here, so none is shown" in words(unknown.warning)
    page = open_page("hubs", cohort="ad", region=REGION)
    page.selectbox(key="cohort").select("asd").run()
    assert picked(page) == picked(unknown)
    assert picked(page) == hub_table(page).iloc[0]["region"]
    assert "region" not in page.query_params


def test_region_without_connections_has_a_story_too(open_page):
    page = open_page("hubs", cohort="ad", level="0.85", region="Precentral_L", hub_tab="region")
    assert "has no neighbours" in words(page.markdown)
    assert "nan" not in words(page.markdown)


def test_figures_can_be_enlarged(open_page):
    page = open_page("hubs", cohort="ad")
    for tab, key in {"regions": "hub_curves", "agreement": "gamma_sweep", "region": "why_spectra"}.items():
        turn_to(page, tab)
        small = figure(page, key)
        page.button(key=f"{key}_enlarge").click().run()
        large = figure(page, f"{key}_large")
        assert large["data"] == small["data"]
        assert large["layout"]["height"] > small["layout"]["height"]
