"""The page of hubs: its numbers are the library's, γ costs no new spectra, and own subjects' results stay theirs."""

import numpy as np
import pandas as pd
import pytest
from page_contents import array, as_shown, assert_no_error, captions, figure

from biobgt import ConnectomeSettings, load_atlas
from biobgt.data.simulate import demo_cohort
from biobgt.hubs import table
from biobgt.hubs.options import GAMMAS, HubAnalysisOptions
from biobgt.model import pretrained
from biobgt.results.tables import analyse_hubs
from session import cohorts as loaded_cohorts
from views.page_map import PAGES

CURVES = {"NE": "node_entanglement", "NEff": "node_efficiency", "FC strength": "fc_strength"}
FIGURES = (
    *("hub_curves", "ne_node_efficiency", "ne_fc_strength", "gamma_sweep", "hub_brain"),
    *("why_before", "why_after", "why_spectra", "why_entropy"),
)


@pytest.fixture(scope="module")
def cohort():
    return demo_cohort("ad")


@pytest.fixture
def count_measurings(monkeypatch):
    """Count how often spectra are computed; nothing is left from other tests."""
    measured = []
    loaded_cohorts._demo.clear()
    original = table.measure_hubs

    def measure_hubs(graph, *args, **options):
        measured.append(graph.subject)
        return original(graph, *args, **options)

    monkeypatch.setattr(table, "measure_hubs", measure_hubs)
    yield measured
    loaded_cohorts._demo.clear()


def hubs_of(cohort, subject, settings=None, **options):
    """Hubs and agreement as the command line computes them."""
    one = cohort.select(lambda other: other.id == subject)
    found = analyse_hubs(one, settings or ConnectomeSettings(), HubAnalysisOptions(**options))
    return found.tables[subject], found.agreement.set_index("reference")["spearman"]


def traces(page, key):
    return {trace["name"]: trace for trace in figure(page, key)["data"] if "name" in trace}


def hub_table(page):
    """The table of all regions, which is the last on the page."""
    return page.dataframe[-1].value


def upload(page, name, series):
    header = "\t".join(f"#{i}" for i in range(1, series.shape[1] + 1))
    rows = ("\t".join(f"{value:.6f}" for value in row) for row in series)
    content = "\n".join([header, *rows, ""]).encode()
    page.file_uploader(key="files0").set_value([(name, content, "")])
    return page.run()


def test_gammas_are_even_steps_with_the_default_among_them():
    assert HubAnalysisOptions().gamma in GAMMAS
    np.testing.assert_allclose(np.diff(np.log10(GAMMAS)), 0.1, atol=0.035)


@pytest.mark.parametrize("options", [{}, {"gamma": 3.0, "perturbation": "remove", "rule": "sd"}])
def test_curves_scatter_sweep_and_table_are_what_the_command_line_computes(open_page, cohort, options):
    names = {"gamma": "gamma", "perturbation": "perturbation", "rule": "hub_rule"}
    parameters = {names[option]: f"{value:g}" if option == "gamma" else value for option, value in options.items()}
    page = open_page("hubs", cohort="ad", subject="sim-MCI-002", curve_order="atlas", **parameters)
    assert_no_error(page)
    table, spearman = hubs_of(cohort, "sim-MCI-002", **options)
    drawn = traces(page, "hub_curves")
    for name, measure in CURVES.items():
        np.testing.assert_allclose(array(drawn[name]["y"]), table[f"{measure}_z"], atol=1e-9)
        assert tuple(drawn[name]["x"]) == cohort.atlas.regions
    assert list(drawn["hubs by NE"]["x"]) == list(table.loc[table["node_entanglement_hub"], "region"])
    gamma = options.get("gamma", 0.5)
    for measure, reference, name in (
        ("node_efficiency", "node efficiency", "NEff, this subject"),
        ("fc_strength", "FC strength", "FC strength, this subject"),
    ):
        points = figure(page, f"ne_{measure}")["data"]
        found = np.sort(np.concatenate([array(points[0]["x"]), array(points[1]["x"])]))
        np.testing.assert_allclose(found, np.sort(table[measure]))
        curve = traces(page, "gamma_sweep")[name]
        at_gamma = array(curve["y"])[list(array(curve["x"])).index(gamma)]
        assert at_gamma == pytest.approx(spearman[reference])
        subtitle = figure(page, f"ne_{measure}")["layout"]["title"]["subtitle"]["text"]
        assert subtitle.startswith(f"ρ = {spearman[reference]:.2f}".replace("-", "−"))
    shown = hub_table(page)
    expected = table.sort_values("node_entanglement_rank", kind="stable")
    columns = [f"{measure}{what}" for measure in CURVES.values() for what in ("", "_rank", "_hub")]
    pd.testing.assert_frame_equal(shown[["region", *columns]], expected[["region", *columns]])


def test_any_gamma_is_read_from_spectra_computed_once(open_page, cohort, count_measurings):
    page = open_page("hubs", cohort="ad", curve_order="atlas")
    curves = []
    for gamma in (0.5, 0.1, 10.0):
        page.select_slider(key="gamma").set_value(gamma).run()
        assert_no_error(page)
        curves.append(array(traces(page, "hub_curves")["NE"]["y"]))
        measured = len(count_measurings)
        expected = hubs_of(cohort, "sim-NC-001", gamma=gamma)[0]
        del count_measurings[measured:]  # those of the table that is expected are not the page's
        np.testing.assert_allclose(curves[-1], expected["node_entanglement_z"], atol=1e-9)
        assert array(traces(page, "gamma_sweep")[f"γ = {gamma:g}"]["x"]).tolist() == [gamma, gamma]
    assert not np.allclose(curves[0], curves[2], atol=0.1)
    page.segmented_control(key="hub_rule").select("sd").run()
    page.switch_page("views/home.py").run()
    page.switch_page("views/hubs.py").run()
    open_page("hubs", cohort="ad")  # another session shares the demo
    assert count_measurings == ["sim-NC-001"]
    page.segmented_control(key="perturbation").select("remove").run()
    page.slider(key="absolute_level").set_value(0.4).run()
    page.selectbox(key="subject").select("sim-NC-002").run()
    assert count_measurings == ["sim-NC-001"] * 3 + ["sim-NC-002"]


def test_choices_survive_a_round_through_the_pages_and_are_in_the_link(open_page):
    page = open_page("hubs", cohort="ad")
    page.select_slider(key="gamma").set_value(2.5)
    page.segmented_control(key="perturbation").select("remove")
    page.segmented_control(key="hub_rule").select("sd")
    page.segmented_control(key="curve_scale").select("rank")
    page.selectbox(key="curve_order").select("by NE")
    page.multiselect(key="measures").set_value(["node_entanglement", "node_efficiency", "fc_strength", "degree"]).run()
    before = {key: figure(page, key) for key in (*FIGURES, "ne_degree")}
    address = {name: value[0] if isinstance(value, list) else value for name, value in page.query_params.items()}
    assert (address["gamma"], address["perturbation"], address["hub_rule"]) == ("2.5", "remove", "sd")
    for name in ("home", "subjects", "hubs"):
        page.switch_page(PAGES[name].script).run()
        assert_no_error(page)
        assert page.query_params["gamma"] in ("2.5", ["2.5"])
    assert {key: figure(page, key) for key in before} == before
    assert "degree" in hub_table(page).columns
    assert address["measures"] == "node_entanglement,node_efficiency,fc_strength,degree"
    shared = open_page("hubs", **address)
    assert not shared.warning
    assert "degree" in hub_table(shared).columns
    for key in (*FIGURES, "ne_degree"):
        assert figure(shared, key) == before[key]


def test_bad_values_in_a_link_are_named_and_replaced(open_page):
    page = open_page("hubs", gamma="0.77", perturbation="explode")
    assert_no_error(page)
    warning = as_shown(page.warning[0].value)
    assert "gamma '0.77'" in warning
    assert "perturbation 'explode'" in warning
    assert page.select_slider(key="gamma").value == 0.5


def test_ranks_raw_values_and_orders(open_page, cohort):
    page = open_page("hubs", cohort="ad")
    table = hubs_of(cohort, "sim-NC-001")[0]
    page.selectbox(key="curve_order").select("by NE")
    page.segmented_control(key="curve_scale").select("rank").run()
    drawn = traces(page, "hub_curves")
    by_rank = table.sort_values("node_entanglement_rank", kind="stable")
    assert list(drawn["FC strength"]["x"]) == list(by_rank["region"])
    assert list(array(drawn["NE"]["y"])) == list(range(1, 91))
    assert list(array(drawn["FC strength"]["y"])) == list(by_rank["fc_strength_rank"])
    page.selectbox(key="curve_order").select("paper")
    page.segmented_control(key="curve_scale").select("raw").run()
    drawn = figure(page, "hub_curves")
    (neff,) = (trace for trace in drawn["data"] if trace["name"] == "NEff")
    order = [cohort.atlas.regions.index(name) for name in neff["x"]]
    np.testing.assert_allclose(array(neff["y"]), table["node_efficiency"].to_numpy()[order])
    labels = [cohort.atlas.labelling("paper")[i] or "unlabelled" for i in order]
    assert list(drawn["layout"]["xaxis3"]["ticktext"]) == list(dict.fromkeys(labels))


@pytest.mark.parametrize(
    ("parameters", "sentence", "study_shown"),
    [
        ({}, "real ABIDE subjects (CC200, Pearson correlation, positive connections of at least 0.3, control", True),
        ({"threshold": "none", "perturbation": "remove"}, "connections of at least 0, remove, |ΔS|", True),
        ({"cohort": "ad"}, "No norm is shown: ABIDE was measured on the 200 regions of Craddock CC200", False),
        ({"level": "0.25"}, "no graphs like these (it has thresholds 0, 0.2, 0.3, 0.4), so no norm is shown", False),
        ({"threshold": "proportional"}, "no graphs like these (it has no proportional threshold)", False),
        ({"estimator": "fisher-z"}, "no graphs like these (it has Pearson correlation)", False),
    ],
)
def test_caption_says_which_study_lies_behind(open_page, parameters, sentence, study_shown):
    page = open_page("hubs", **parameters)
    assert_no_error(page)
    assert sentence in captions(page)
    assert ("NEff, ABIDE mean ± SD" in traces(page, "gamma_sweep")) == study_shown


def test_signed_graph_is_refused_with_the_librarys_sentence(open_page):
    page = open_page("hubs", cohort="ad", sign="signed")
    assert not page.exception
    (error,) = page.error
    assert as_shown(error.value).startswith("A hub measure is not defined for negative weights, and the graph of 'sim-")
    assert not page.get("plotly_chart")
    page.segmented_control(key="sign").select("absolute").run()
    assert_no_error(page)
    assert len(page.get("plotly_chart")) == len(FIGURES)


def test_graph_without_connections_is_said_to_have_no_hubs(open_page):
    page = open_page("hubs", cohort="ad", level="1")
    assert not page.exception
    assert not page.get("plotly_chart")
    assert "no connection left" in as_shown(page.error[0].value)


def test_fc_strength_is_of_the_correlations_whatever_the_estimator(open_page, cohort):
    page = open_page("hubs", cohort="ad", estimator="tangent", level="0.05", curve_order="atlas")
    table = hubs_of(cohort, "sim-NC-001")[0]
    np.testing.assert_allclose(array(traces(page, "hub_curves")["FC strength"]["y"]), table["fc_strength_z"])


def test_page_opens_on_the_brain_then_the_curves_by_network_then_agreement(look_at, cohort):
    page = look_at("hubs", cohort="ad")
    keys = [chart.proto.id.rpartition("-")[2] for chart in page.get("plotly_chart")]
    assert keys[:4] == ["hub_brain", "hub_curves", "ne_node_efficiency", "ne_fc_strength"]
    shown = figure(page, "hub_curves")
    networks = next(iter(cohort.atlas.labels.values()))
    labels = [networks[region] or "unlabelled" for region in array(traces(page, "hub_curves")["NE"]["customdata"])]
    runs = [name for i, name in enumerate(labels) if i == 0 or labels[i - 1] != name]
    assert len(runs) == len(set(runs)), "the regions of a network stand together"
    assert list(shown["layout"]["xaxis"]["ticktext"]) == runs


def test_page_without_measures_says_so(open_page):
    page = open_page("hubs", cohort="ad")
    page.multiselect(key="measures").set_value([]).run()
    assert not page.exception
    assert as_shown(page.error[0].value) == "Choose at least one hub measure."
    page.multiselect(key="measures").set_value(["degree"]).run()
    assert_no_error(page)
    assert "hubs by degree" in traces(page, "hub_curves")
    assert not hub_table(page).isna().any().any()


def test_share_of_hubs_reaches_figures_captions_and_the_link(open_page, cohort):
    page = open_page("hubs", cohort="ad", curve_order="atlas")
    assert "9 in all: the top 10 % of regions" in captions(page)
    page.select_slider(key="hub_share").set_value(0.2).run()
    assert_no_error(page)
    table = hubs_of(cohort, "sim-NC-001", share=0.2)[0]
    expected = list(table.loc[table["node_entanglement_hub"], "region"])
    assert list(traces(page, "hub_curves")["hubs by NE"]["x"]) == expected
    assert "18 in all: the top 20 % of regions" in captions(page)
    assert page.query_params["hub_share"] in ("0.2", ["0.2"])


def test_own_subjects_results_stay_in_their_session(open_page, rng, count_measurings):
    mine, yours = rng.standard_normal((2, 60, 90)).round(6)
    pages = [upload(open_page("subjects"), "S_1_rois_aal90.1D", series) for series in (mine, yours)]
    for page in pages:
        page.slider(key="absolute_level").set_value(0.1)
        page.switch_page("views/hubs.py").run()
        assert_no_error(page)
        page.select_slider(key="gamma").set_value(1.0).run()
    assert len(count_measurings) == 2  # the same name and settings, and yet computed for each
    first, second = (array(traces(page, "hub_curves")["NE"]["y"]) for page in pages)
    assert not np.allclose(first, second)
    pd.testing.assert_series_equal(
        hub_table(pages[0])["fc_strength"].sort_index(),
        pd.Series(
            (np.corrcoef(mine.T).sum(axis=1) - 1) / 89, index=load_atlas("aal90").table().index, name="fc_strength"
        ),
    )
    assert "subject" not in pages[0].query_params
    assert pages[0].query_params["gamma"] in ("1", ["1"])


def test_own_results_go_with_the_subjects(open_page, rng):
    page = upload(open_page("subjects"), "S_1_rois_aal90.1D", rng.standard_normal((60, 90)))
    page.switch_page("views/hubs.py").run()
    page.switch_page("views/subjects/page.py").run()
    next(button for button in page.button if button.label == "Forget these subjects").click().run()
    assert "own_cohort" not in page.session_state


def test_many_regions_are_asked_about_before_anything_is_computed(open_page, count_measurings, monkeypatch) -> None:
    """Above a number of regions the page says what they cost and waits for a click; below, it never asks."""
    usual = open_page("hubs")
    assert not [button for button in usual.button if button.key == "measure_hubs"]
    n_regions = 90
    count_measurings.clear()
    monkeypatch.setattr("biobgt.hubs.resolvents.ASK_ABOVE", n_regions - 1)
    page = open_page("hubs", cohort="ad")
    assert_no_error(page)
    assert "the 90 regions: the first figures of one subject take about 5 seconds" in as_shown(page.info[0].value)
    assert not page.get("plotly_chart")
    assert count_measurings == []
    page.button(key="measure_hubs").click().run()
    assert_no_error(page)
    assert len(count_measurings) == 1
    assert figure(page, "hub_curves")
    assert not [button for button in page.button if button.key == "measure_hubs"]
    page.selectbox(key="subject").select_index(1).run()
    assert len(count_measurings) == 2, "one answer holds for the cohort"


def test_page_of_ne_alone_compares_it_with_nothing(open_page):
    page = open_page("hubs", cohort="ad", measures="node_entanglement")
    assert_no_error(page)
    assert figure(page, "hub_curves")["data"]
    assert not any("diffusion times does NE agree" in as_shown(heading.value) for heading in page.subheader)


def test_a_rerun_looks_for_models_once(open_page, monkeypatch) -> None:
    looked, names = [], pretrained.pretrained_names
    page = open_page("hubs")
    monkeypatch.setattr(pretrained, "pretrained_names", lambda: looked.append(0) or names())
    assert_no_error(page.run())
    assert len(looked) == 1, "the sidebar offers them"
