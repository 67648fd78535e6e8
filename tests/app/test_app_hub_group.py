"""The group behind the curves, some regions at random, hubs in the brain: the library's numbers, worked out once."""

import numpy as np
import pytest
from page_contents import array, as_shown, assert_no_error, captions, figure
from streamlit.testing.v1 import AppTest

from biobgt import ConnectomeSettings, InputError
from biobgt.data.simulate import demo_cohort
from biobgt.figures import random_regions
from biobgt.figures.paper_style import PaperStyle
from biobgt.hubs import table as group_curves
from biobgt.hubs.options import HubAnalysisOptions
from biobgt.results.tables import analyse_hubs
from session import cohorts as loaded_cohorts
from views.shared import widgets

MEASURES = {"NE": "node_entanglement", "NEff": "node_efficiency", "FC strength": "fc_strength"}


@pytest.fixture(scope="module")
def cohort():
    return demo_cohort("ad")


@pytest.fixture
def count_curves(monkeypatch):
    """Count whose curves are measured; nothing is left from other tests."""
    found = []
    loaded_cohorts._demo.clear()
    original = group_curves.measure_curves

    def measure_curves(graph, *args, **options):
        found.append(graph.subject)
        return original(graph, *args, **options)

    monkeypatch.setattr(group_curves, "measure_curves", measure_curves)
    yield found
    loaded_cohorts._demo.clear()


@pytest.fixture
def count_pictures(monkeypatch):
    """Count the pictures drawn, without drawing them."""
    drawn = []
    loaded_cohorts._demo.clear()
    pixel = bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000002000001e2"
        "21bc330000000049454e44ae426082"
    )

    def draw(figure, options, measured, width_mm):
        drawn.append((figure.key, measured.subject.id, options.gamma))
        return pixel, figure(measured, options).for_paper(PaperStyle()).caption

    monkeypatch.setattr(widgets, "_picture", draw)
    yield drawn
    loaded_cohorts._demo.clear()


def bands(page: AppTest):
    """Mean and SD that lie behind each measure, in the order of the panels."""
    drawn = figure(page, "hub_curves")["data"]
    means = [array(trace["y"]) for trace in drawn if "mean ± SD" in trace.get("name", "")]
    outlines = [array(trace["y"]) for trace in drawn if trace.get("fill") == "toself"]
    return [(mean, outline[: len(mean)] - mean) for mean, outline in zip(means, outlines, strict=True)]


def address_of(page: AppTest) -> dict[str, str]:
    return {name: value[0] if isinstance(value, list) else value for name, value in page.query_params.items()}


@pytest.mark.parametrize("gamma", ["0.5", "3"])
def test_group_behind_is_what_the_command_line_computes(open_page, cohort, gamma):
    page = open_page("hubs", cohort="ad", subject="sim-MCI-002", gamma=gamma, curve_order="atlas")
    assert bands(page) == []
    page.toggle(key="group_behind").set_value(True)
    page.segmented_control(key="curve_scale").select("raw").run()
    assert_no_error(page)
    expected = analyse_hubs(cohort.group("MCI"), ConnectomeSettings(), HubAnalysisOptions(gamma=float(gamma))).groups
    for (mean, sd), measure in zip(bands(page), MEASURES.values(), strict=True):
        np.testing.assert_allclose(mean, expected[f"{measure}_mean"])
        np.testing.assert_allclose(sd, expected[f"{measure}_sd"], atol=1e-12)
    assert "mean ± 1 SD of the 20 subjects of MCI, this one among them" in captions(page)


def test_group_is_measured_once_for_all_gammas_subjects_pages_and_sessions(open_page, cohort, count_curves):
    page = open_page("hubs", cohort="ad")
    assert count_curves == []
    page.toggle(key="group_behind").set_value(True).run()
    assert count_curves == list(cohort.group("NC").ids)
    for gamma in (0.1, 10.0):
        page.select_slider(key="gamma").set_value(gamma).run()
    page.segmented_control(key="curve_scale").select("rank").run()
    page.selectbox(key="subject").select("sim-NC-007").run()
    page.switch_page("views/home.py").run()
    page.switch_page("views/hubs.py").run()
    assert len(bands(page)) == 3
    other = open_page("hubs", cohort="ad")
    other.toggle(key="group_behind").set_value(True).run()
    assert len(count_curves) == 20
    page.segmented_control(key="perturbation").select("remove").run()
    assert len(count_curves) == 40
    assert not page.button or all(button.label != "Stop" for button in page.button)


def test_work_that_ended_early_goes_on_where_it_was(open_page, cohort, count_curves, monkeypatch):
    counting = group_curves.measure_curves

    def ends_early(graph, *args, **options):
        if graph.subject == "sim-NC-004":
            raise InputError("The fourth is broken.")
        return counting(graph, *args, **options)

    monkeypatch.setattr(group_curves, "measure_curves", ends_early)
    page = open_page("hubs", cohort="ad")
    page.toggle(key="group_behind").set_value(True).run()
    assert as_shown(page.error[0].value) == "The fourth is broken."
    monkeypatch.setattr(group_curves, "measure_curves", counting)
    page.run()
    assert_no_error(page)
    assert count_curves == list(cohort.group("NC").ids)
    assert len(bands(page)) == 3


def test_fifty_random_regions_are_those_of_the_seed(open_page, cohort):
    page = open_page("hubs", cohort="ad", curve_order="atlas")
    page.segmented_control(key="curve_regions").select(50).run()
    page.number_input(key="curve_seed").set_value(7).run()
    assert_no_error(page)
    (curve,) = (trace for trace in figure(page, "hub_curves")["data"] if trace["name"] == "NE")
    expected = [cohort.atlas.regions[i] for i in sorted(random_regions(90, 50, seed=7))]
    assert list(curve["x"]) == expected
    assert "50 of 90 regions, drawn with seed 7" in captions(page)
    every = analyse_hubs(cohort.select(lambda subject: subject.id == "sim-NC-001")).tables["sim-NC-001"]
    kept = every.set_index("region").loc[expected, "node_entanglement_z"]
    np.testing.assert_allclose(array(curve["y"]), kept, atol=1e-9)  # still over all regions


def test_hubs_stand_out_of_the_brain_with_ne_as_size_and_the_strongest_are_named(open_page, cohort):
    page = open_page("hubs", cohort="ad", hub_share="0.2")
    options = HubAnalysisOptions(share=0.2)
    one = cohort.select(lambda subject: subject.id == "sim-NC-001")
    table = analyse_hubs(one, ConnectomeSettings(), options).tables["sim-NC-001"]
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
    for kind, words in (("glass", "nilearn's glass brain, seen from four sides"), ("five", "DC (degree), BC")):
        page.segmented_control(key="brain_shown").select(kind).run()
        assert_no_error(page)
        assert words in captions(page)
    page.segmented_control(key="brain_shown").select("glass").run()
    page.switch_page("views/home.py").run()
    page.switch_page("views/hubs.py").run()
    assert count_pictures == [("hub_brain", "sim-NC-001", 0.5), ("five_brains", "sim-NC-001", 0.5)]
    page.select_slider(key="gamma").set_value(1.0).run()
    assert count_pictures[2:] == [("hub_brain", "sim-NC-001", 1.0)]
    (image,) = page.get("image")
    assert image.proto.imgs[0].alt.startswith("Simulated subject sim-NC-001")


def test_glass_brain_and_five_measures_are_real_pictures(open_page, cohort):
    page = open_page("hubs", cohort="ad")
    page.segmented_control(key="brain_shown").select("five").run()
    assert_no_error(page)
    assert len(page.get("image")) == 1


def test_atlas_without_coordinates_gets_a_sentence(open_page, rng):
    page = open_page("subjects")
    header = "\t".join(f"#{i}" for i in range(1, 34))
    rows = ("\t".join(f"{value:.6f}" for value in row) for row in rng.standard_normal((60, 33)))
    page.file_uploader(key="files0").set_value([("S_1.1D", "\n".join([header, *rows, ""]).encode(), "")])
    page.run()
    page.slider(key="absolute_level").set_value(0.1)
    page.switch_page("views/hubs.py").run()
    assert_no_error(page)
    assert any("has no coordinates" in as_shown(info.value) for info in page.info)
    assert page.toggle(key="group_behind").disabled
    assert not [control for control in page.segmented_control if control.key == "curve_regions"]
    page.switch_page("views/modules.py").run()
    assert_no_error(page)
    assert any("add an atlas table with coordinates" in as_shown(info.value) for info in page.info)


def test_own_groups_curves_stay_in_their_session(open_page, rng, count_curves):
    header = "\t".join(f"#{i}" for i in range(1, 91))
    files = []
    for name in ("a", "b"):
        rows = ("\t".join(f"{value:.6f}" for value in row) for row in rng.standard_normal((60, 90)))
        files.append((f"{name}_rois_aal90.1D", "\n".join([header, *rows, ""]).encode(), ""))
    page = open_page("subjects")
    page.file_uploader(key="files0").set_value(files)
    page.run()
    page.slider(key="absolute_level").set_value(0.1)
    page.switch_page("views/hubs.py").run()
    page.toggle(key="group_behind").set_value(True).run()
    assert_no_error(page)
    assert len(count_curves) == 2
    assert "of whole cohort" in captions(page)
    page.slider(key="absolute_level").set_value(0.12).run()
    assert len(count_curves) == 4
    assert "region" not in address_of(page)
