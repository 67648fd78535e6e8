"""The page of modules: what it shows is what the command line computes."""

import re

import numpy as np
import pytest
from page_contents import array, as_shown, assert_no_error, badges, captions, figure

from biobgt.data.connectivity import brain_graph, functional_connectivity
from biobgt.data.simulate import demo_cohort
from biobgt.modules import MODULE_MEASURES, ModuleMeasure, measure_modules
from biobgt.modules.measures import ModuleOptions
from session import cohorts as loaded_cohorts


@pytest.fixture(scope="module")
def subject():
    return demo_cohort("asd").subjects[0]


@pytest.fixture(scope="module")
def expected(subject):
    atlas = demo_cohort("asd", n_per_group=1).atlas
    return measure_modules(brain_graph(subject, atlas), functional_connectivity(subject.series), ModuleOptions())


def table(page, column):
    """The first table with this column."""
    return next(element.value for element in page.dataframe if column in element.value.columns)


def test_measures_stand_beside_real_groups(look_at, expected):
    page = look_at("modules")
    assert_no_error(page)
    measures = table(page, "Measure").set_index("Measure")
    assert measures.loc["Modularity Q"].iloc[0] == f"{expected.measures['q']:.3f}"
    assert measures.loc["Modules"].iloc[0] == str(expected.measures["modules"])
    assert measures.loc["Segregation", "ABIDE NC, real"] == "0.800 ± 0.026"
    assert "462 NC and 437 ASD" in captions(page)
    assert "of the Louvain modules, not of the functional networks" in captions(page)


def test_a_button_goes_back_to_the_settings_of_the_real_groups(open_page):
    page = open_page("modules", resolution="1.5", sign="absolute", level="0.4")
    assert "ABIDE NC, real" not in table(page, "Measure").columns
    page.button(key="norm_settings").click().run()
    assert_no_error(page)
    assert "ABIDE NC, real" in table(page, "Measure").columns
    assert (page.select_slider(key="resolution").value, page.slider(key="absolute_level").value) == (1.0, 0.3)
    assert "norm_settings" not in {button.key for button in page.button}


def test_no_button_where_no_settings_have_real_groups(open_page):
    page = open_page("modules", cohort="ad", resolution="1.5")
    assert "norm_settings" not in {button.key for button in page.button}


def test_measures_say_who_is_simulated_and_who_is_real(look_at, subject):
    page = look_at("modules")
    measures = table(page, "Measure").set_index("Measure")
    assert list(measures.columns) == [f"{subject.id}, simulated", "ABIDE NC, real", "ABIDE ASD, real"]
    assert re.fullmatch(r"\d\.\d ± \d\.\d", measures.loc["Modules", "ABIDE NC, real"])
    assert badges(page.main) == len(page.subheader) - 1, "the heading of the real groups has no badge"


def test_the_heatmap_is_sorted_by_module(look_at, subject, expected):
    shown = figure(look_at("modules"), "modules")
    regions = demo_cohort("asd", n_per_group=1).atlas.regions
    positions = [regions.index(name) for name in shown["data"][0]["y"]]
    modules = expected.partition.labels[positions]
    assert (np.diff(modules[modules > 0]) >= 0).all()
    fc = functional_connectivity(subject.series)
    np.testing.assert_allclose(array(shown["data"][0]["z"]), fc[np.ix_(positions, positions)], atol=1e-6)


def test_roles_are_those_of_the_library(look_at, expected):
    page = look_at("modules")
    traces = figure(page, "roles")["data"]
    assert len(traces) == expected.partition.n_modules
    np.testing.assert_allclose(
        np.sort(np.concatenate([array(trace["x"]) for trace in traces])),
        np.sort(expected.roles["participation"].dropna()),
        atol=1e-6,
    )
    assert table(page, "Participation")["Module"].tolist() == expected.partition.labels.tolist()


def test_another_resolution_finds_other_modules_beside_real_groups_at_the_same(open_page):
    page = open_page("modules")
    before = int(table(page, "Measure").set_index("Measure").loc["Modules"].iloc[0])
    page.select_slider(key="resolution").set_value(2.0).run()
    assert_no_error(page)
    after = table(page, "Measure").set_index("Measure")
    assert int(after.loc["Modules"].iloc[0]) > before
    assert "ABIDE NC, real" in after.columns
    assert "at resolution 2, graphs made" in captions(page)


def test_signed_graphs_have_modules_too(open_page):
    page = open_page("modules", sign="signed", threshold="none")
    assert_no_error(page)
    assert "ABIDE ASD, real" in table(page, "Measure").columns


def test_signed_follows_the_sign_rule_and_says_so(open_page):
    page = open_page("modules", cohort="ad")
    assert page.toggle(key="signed").disabled
    assert "This graph has no negative weights: under the sign rule Positive" in captions(page)
    page = open_page("modules", cohort="ad", sign="signed", threshold="none")
    assert not page.toggle(key="signed").disabled
    assert "Negative weights count against a module (Rubinov and Sporns 2011)." in captions(page)
    counted = table(page, "Measure").set_index("Measure").loc["Modularity Q"].iloc[0]
    page.toggle(key="signed").set_value(False).run()
    assert_no_error(page)
    assert "Negative weights are left out." in captions(page)
    assert table(page, "Measure").set_index("Measure").loc["Modularity Q"].iloc[0] != counted
    assert "ABIDE NC, real" not in table(page, "Measure").columns
    page = open_page("modules", cohort="ad", sign="signed", level="0.85")
    assert "none passed the threshold" in captions(page)


def test_graph_that_loses_all_connections_is_refused(open_page):
    page = open_page("modules", cohort="ad", level="1")
    assert not page.exception
    assert all("no connection left" in as_shown(error.value) for error in page.error)
    assert page.error
    assert not page.get("plotly_chart")


def test_a_new_measure_of_modules_stands_on_the_page(open_page):
    loaded_cohorts._demo.clear()  # what other visitors measured knows nothing of it
    largest = ModuleMeasure(
        "largest module",
        "size of the largest module",
        "Largest module",
        "regions",
        "partition",
        lambda partition: max(partition.sizes.values()),
        "The largest module is the one of the most regions.",
    )
    with MODULE_MEASURES.temporarily(largest):
        page = open_page("modules")
        assert_no_error(page)
        measures = table(page, "Measure").set_index("Measure")
        assert int(measures.loc["Largest module"].iloc[0]) > 0
        assert measures.loc["Largest module", "ABIDE NC, real"] == "not measured"
        assert "the one of the most regions" in captions(page)
    loaded_cohorts._demo.clear()
