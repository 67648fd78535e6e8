"""Why this region: the page tells the library's story of the region that is picked, and the link keeps it."""

import numpy as np
import pytest
from page_contents import array, as_shown, assert_no_error, badges, captions, figure
from streamlit.testing.v1 import AppTest

from biobgt.data.connectivity import cohort_graphs, subject_connectivity
from biobgt.data.simulate import demo_cohort
from biobgt.export.making import make_figure
from biobgt.figures.why_region import story_sentences
from biobgt.hubs import HUB_MEASURES
from biobgt.hubs.options import GAMMAS, HubOptions
from biobgt.hubs.table import explain_region, measure_hubs
from session.view import EXPORT_LIST

REGION = "Precuneus_L"


@pytest.fixture(scope="module")
def cohort():
    return demo_cohort("ad", n_per_group=1)


def story_of(cohort, region, *, perturbation="control", gamma=0.5):
    graph = next(cohort_graphs(cohort))
    hubs = measure_hubs(graph, subject_connectivity(cohort.subjects[0]), perturbation=perturbation)
    return explain_region(graph, hubs, cohort.atlas.regions.index(region), options=HubOptions(gamma, perturbation))


def texts(page: AppTest) -> str:
    return as_shown("\n".join(text.value for text in page.markdown))


def picked(page: AppTest) -> str:
    (line,) = (line for line in texts(page).splitlines() if "Selected:" in line)
    return line.split("**")[1]


def address_of(page: AppTest) -> dict[str, str]:
    return {name: value[0] if isinstance(value, list) else value for name, value in page.query_params.items()}


@pytest.mark.parametrize("options", [{}, {"perturbation": "remove", "gamma": 3.0}])
def test_story_is_the_librarys(open_page, cohort, options):
    parameters = {name: f"{value:g}" if name == "gamma" else value for name, value in options.items()}
    page = open_page("hubs", cohort="ad", region=REGION, **parameters)
    assert_no_error(page)
    story = story_of(cohort, REGION, **options)
    for sentence in story_sentences(story):
        assert sentence in texts(page)
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


def test_what_is_added_to_the_export_has_the_numbers_on_the_screen(open_page):
    page = open_page("hubs", cohort="ad", subject="sim-MCI-002", region=REGION, perturbation="remove", gamma="3")
    shown = {key: figure(page, key) for key in ("why_before", "why_after", "why_spectra", "why_entropy")}
    for key in shown:
        page.button(key=f"{key}_export").click()
        page.run()
    requests = page.session_state[EXPORT_LIST]
    assert [request.figure for request in requests] == ["region_surroundings"] * 2 + ["region_spectra"] + [
        "region_entropy"
    ]
    cohort = demo_cohort("ad")
    made = dict(zip(shown, (make_figure(cohort, request) for request in requests), strict=True))
    for one in made.values():
        assert as_shown(one.caption) in captions(page)
    numbers = made["why_spectra"].numbers
    np.testing.assert_allclose(numbers["perturbed"], array(shown["why_spectra"]["data"][1]["y"]))
    entropies = {trace["name"]: array(trace["y"]) for trace in shown["why_entropy"]["data"]}
    numbers = made["why_entropy"].numbers
    np.testing.assert_allclose(numbers["gamma"], GAMMAS)
    np.testing.assert_allclose(numbers["change (bits)"], entropies["|ΔS| of this region"], atol=1e-12)
    for key, column in (("why_before", "weight as measured"), ("why_after", "weight perturbed")):
        numbers = made[key].numbers
        own = numbers[numbers["region"] == REGION]
        texts = dict(text.split("<br>") for text in shown[key]["data"][-1]["hovertext"][1:])
        weights = dict(zip(own["other region"], own[column], strict=True))
        assert texts == {name: f"weight {weight:.3g}" for name, weight in weights.items()}


def test_strongest_hub_is_asked_about_until_another_is_picked(open_page):
    page = open_page("hubs", cohort="ad")
    strongest = page.dataframe[-1].value.iloc[0]["region"]
    assert picked(page) == strongest
    assert "region" not in page.query_params
    page.selectbox(key="region").select(REGION).run()
    assert_no_error(page)
    assert picked(page) == REGION
    for key in ("hub_curves", "ne_node_efficiency", "ne_fc_strength"):
        assert REGION in [trace.get("name") for trace in figure(page, key)["data"]]
    address = address_of(page)
    assert address["region"] == REGION
    page.select_slider(key="gamma").set_value(3.0).run()
    page.switch_page("views/home.py").run()
    assert address_of(page)["region"] == REGION
    page.switch_page("views/hubs.py").run()
    assert picked(page) == REGION
    assert picked(open_page("hubs", **address)) == REGION
    page.selectbox(key="region").select("").run()
    assert "region" not in page.query_params


def test_region_of_another_atlas_makes_way_for_the_strongest(open_page):
    page = open_page("hubs", cohort="ad", region=REGION)
    page.selectbox(key="cohort").select("asd").run()
    assert_no_error(page)
    assert picked(page) == page.dataframe[-1].value.iloc[0]["region"]
    assert "region" not in page.query_params


def test_unknown_region_in_a_link_is_named(open_page):
    page = open_page("hubs", cohort="ad", region="Atlantis")
    assert_no_error(page)
    assert "region 'Atlantis' is not available here, so the strongest hub is shown" in as_shown(page.warning[0].value)
    assert picked(page) == page.dataframe[-1].value.iloc[0]["region"]


def test_every_section_has_its_badge_but_that_on_real_cohorts(open_page):
    page = open_page("hubs", cohort="ad")
    assert badges(page.main) == len(page.subheader) - 1 == 7


def test_region_without_connections_has_a_story_too(open_page):
    page = open_page("hubs", cohort="ad", level="0.85", region="Precentral_L")
    assert_no_error(page)
    assert "has no neighbours" in texts(page)
    assert "nan" not in texts(page)


def test_figures_can_be_enlarged(open_page):
    page = open_page("hubs", cohort="ad")
    for key in ("hub_curves", "gamma_sweep", "why_spectra"):
        small = figure(page, key)
        page.button(key=f"{key}_enlarge").click().run()
        assert_no_error(page)
        large = figure(page, f"{key}_large")
        assert large["data"] == small["data"]
        assert large["layout"]["height"] > small["layout"]["height"]
