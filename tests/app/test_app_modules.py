"""The page of modules: what it shows is what the command line computes."""

import re
from collections import Counter

import numpy as np
import pytest
from page_contents import array, badges, buttons, captions, figure, metrics, table_with, words
from page_hands import turn_to, visit

from biobgt.base.colours import MODULE_COLOURS
from biobgt.data.atlas import numbered_atlas
from biobgt.data.cohort import Cohort
from biobgt.data.connectivity import brain_graph, functional_connectivity, subject_connectivity
from biobgt.data.simulate import demo_cohort
from biobgt.figures.modules import _strongest_within_modules
from biobgt.modules import (
    MODULE_MEASURES,
    ModuleMeasure,
    louvain,
    measure_modules,
    modularity_test,
    module_agreement,
    resolution_sweep,
    structure,
)
from biobgt.modules.measures import ModuleOptions, NullGraphOptions, SmallWorldOptions
from biobgt.modules.partition import module_names
from biobgt.modules.structure import small_world
from biobgt.results.measured import Measured
from session import cohorts as loaded_cohorts


@pytest.fixture(scope="module")
def subject():
    return demo_cohort("asd").subjects[0]


@pytest.fixture(scope="module")
def expected(subject):
    atlas = demo_cohort("asd", n_per_group=1).atlas
    return measure_modules(brain_graph(subject, atlas), functional_connectivity(subject.series), ModuleOptions())


def test_measures_stand_beside_real_groups_and_say_who_is_simulated(look_at, subject, expected):
    page = look_at("modules", module_tab="groups")
    measures = table_with(page, "Measure").set_index("Measure")
    assert measures.loc["Modularity Q"].iloc[0] == f"{expected.measures['q']:.3f}"
    assert measures.loc["Modules"].iloc[0] == str(expected.measures["modules"])
    assert measures.loc["Segregation", "ABIDE NC, real"] == "0.800 ± 0.026"
    assert "462 NC and 437 ASD" in captions(page)
    assert "of the Louvain modules, not of the functional networks" in captions(page)
    assert list(measures.columns) == [f"{subject.id}, simulated", "ABIDE NC, real", "ABIDE ASD, real"]
    assert re.fullmatch(r"\d\.\d ± \d\.\d", measures.loc["Modules", "ABIDE NC, real"])
    assert badges(page) == 1


def test_a_button_goes_back_to_the_settings_of_the_real_groups(open_page):
    page = open_page("modules", resolution="1.5", sign="absolute", level="0.4", module_tab="groups")
    assert "ABIDE NC, real" not in table_with(page, "Measure").columns
    page.button(key="norm_settings").click().run()
    assert "ABIDE NC, real" in table_with(page, "Measure").columns
    assert (page.select_slider(key="resolution").value, page.slider(key="absolute_level").value) == (1.0, 0.3)
    assert "norm_settings" not in buttons(page)
    assert "norm_settings" not in buttons(open_page("modules", cohort="ad", resolution="1.5", module_tab="groups"))


def test_the_heatmap_is_sorted_by_module_and_roles_are_those_of_the_library(look_at, subject, expected):
    page = look_at("modules")
    shown = figure(page, "modules")
    regions = demo_cohort("asd", n_per_group=1).atlas.regions
    positions = [regions.index(name) for name in shown["data"][0]["y"]]
    modules = expected.partition.labels[positions]
    assert (np.diff(modules[modules > 0]) >= 0).all()
    fc = functional_connectivity(subject.series)
    np.testing.assert_allclose(array(shown["data"][0]["z"]), fc[np.ix_(positions, positions)], atol=1e-6)
    page = look_at("modules", module_tab="roles")
    traces = figure(page, "roles")["data"]
    assert len(traces) == expected.partition.n_modules
    found = np.concatenate([array(trace["x"]) for trace in traces])
    np.testing.assert_allclose(np.sort(found), np.sort(expected.roles["participation"].dropna()), atol=1e-6)
    assert table_with(page, "Participation")["Module"].tolist() == expected.partition.labels.tolist()


def test_real_groups_are_those_of_the_same_resolution_and_of_signed_graphs_too(open_page):
    page = open_page("modules", module_tab="groups")
    before = int(table_with(page, "Measure").set_index("Measure").loc["Modules"].iloc[0])
    page.select_slider(key="resolution").set_value(2.0).run()
    after = table_with(page, "Measure").set_index("Measure")
    assert int(after.loc["Modules"].iloc[0]) > before
    assert "ABIDE NC, real" in after.columns
    assert "at resolution 2, graphs made" in captions(page)
    page = open_page("modules", sign="signed", threshold="none", module_tab="groups")
    assert "ABIDE ASD, real" in table_with(page, "Measure").columns


def test_signed_follows_the_sign_rule_and_says_so(open_page):
    page = open_page("modules", cohort="ad")
    assert page.toggle(key="signed").disabled
    assert "This graph has no negative weights: under the sign rule Positive" in captions(page)
    page = open_page("modules", cohort="ad", sign="signed", threshold="none")
    assert not page.toggle(key="signed").disabled
    assert "Negative weights count against a module (Rubinov and Sporns 2011)." in captions(page)
    turn_to(page, "groups")
    counted = table_with(page, "Measure").set_index("Measure").loc["Modularity Q"].iloc[0]
    page.toggle(key="signed").set_value(False).run()
    assert "Negative weights are left out." in captions(turn_to(page, "modules"))
    turn_to(page, "groups")
    assert table_with(page, "Measure").set_index("Measure").loc["Modularity Q"].iloc[0] != counted
    assert "ABIDE NC, real" not in table_with(page, "Measure").columns
    page = open_page("modules", cohort="ad", sign="signed", level="0.85")
    assert "none passed the threshold" in captions(page)


def test_graph_that_loses_all_connections_is_refused(open_page, may_fail):
    page = open_page("modules", cohort="ad", level="1")
    assert not page.exception
    assert "no connection left" in words(page.error)
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
        page = open_page("modules", module_tab="groups")
        measures = table_with(page, "Measure").set_index("Measure")
        assert int(measures.loc["Largest module"].iloc[0]) > 0
        assert measures.loc["Largest module", "ABIDE NC, real"] == "not measured"
        assert "the one of the most regions" in captions(page)
    loaded_cohorts._demo.clear()


@pytest.fixture(scope="module")
def cohort():
    return demo_cohort("ad")


@pytest.fixture(scope="module")
def graph(cohort):
    return brain_graph(cohort.subjects[0], cohort.atlas)


@pytest.fixture(scope="module")
def modules(cohort, graph):
    return measure_modules(graph, subject_connectivity(cohort.subjects[0]), ModuleOptions(runs=5, seed=1))


@pytest.fixture
def counted(monkeypatch) -> Counter:
    """How often each piece of work was asked for, and not what that asks for in turn."""
    counts, running = Counter(), []

    def count(module, name: str) -> None:
        do = getattr(module, name)

        def counting(*given, **options):
            counts.update([] if running else [name])
            running.append(name)
            try:
                return do(*given, **options)
            finally:
                running.pop()

        monkeypatch.setattr(module, name, counting)

    for name in ("measure_modules", "find_modules", "modularity_test", "small_world"):
        count(structure, name)
    count(louvain, "resolution_step")
    return counts


@pytest.fixture
def open_modules(open_page):
    def open_modules(**parameters):
        return open_page("modules", **({"cohort": "ad", "runs": "5", "seed": "1"} | parameters))

    return open_modules


def test_brain_shows_modules_by_name_and_colour(open_modules, cohort, graph, modules):
    page = open_modules()
    page.select_slider(key="brain_edges").set_value(40).run()
    drawn = {trace["name"]: trace for trace in figure(page, "brain")["data"] if trace.get("mode") == "markers"}
    names = module_names(modules.partition, cohort.atlas.labels["dosenbach"])
    assert list(drawn) == list(names.values())
    for number, name in names.items():
        members = modules.partition.labels == number
        np.testing.assert_allclose(array(drawn[name]["x"]), cohort.atlas.coordinates[members, 0])
        assert drawn[name]["marker"]["color"] == MODULE_COLOURS[number - 1]
        first = cohort.atlas.regions[int(np.flatnonzero(members)[0])]
        assert first in drawn[name]["text"][0]
    lines = [trace for trace in figure(page, "brain")["data"] if trace.get("mode") == "lines"]
    ends = np.concatenate([array(trace["x"]).astype(float) for trace in lines])
    edges = _strongest_within_modules(graph.weights, modules.partition.labels, most=40)
    places = cohort.atlas.coordinates[:, 0]
    expected = sorted(x for i, j, _ in edges for x in (places[i], places[j]))
    np.testing.assert_allclose(np.sort(ends[np.isfinite(ends)]), expected, atol=1e-5)
    assert "40 connections drawn" in captions(page)


def test_flow_and_numbers_are_the_agreement(open_modules, cohort, modules):
    page = open_modules(module_tab="networks")
    agreement = module_agreement(modules.partition, cohort.atlas, "dosenbach")
    sankey = figure(page, "flow")["data"][0]
    counts = np.zeros(agreement.contingency.shape)
    links = (array(sankey["link"][name]) for name in ("source", "target", "value"))
    for source, target, value in zip(*links, strict=True):
        counts[source, target - len(counts)] = value
    np.testing.assert_array_equal(counts, agreement.contingency.to_numpy())
    assert sankey["node"]["label"][len(counts) :] == list(agreement.contingency.columns)
    numbers = table_with(page, "ARI")
    each = [module_agreement(modules.partition, cohort.atlas, labels) for labels in cohort.atlas.labels]
    assert len(each) == 4
    assert numbers["AMI"].tolist() == pytest.approx([one.ami for one in each])
    assert numbers["VI (bits)"].tolist() == pytest.approx([one.vi for one in each])
    page.selectbox(key="labelling").select("paper").run()
    assert "visual cortex" in figure(page, "flow")["data"][0]["node"]["label"]
    turn_to(page, "modules")
    assert any("visual cortex" in name for name in figure(page, "modules")["layout"]["yaxis"]["ticktext"])


def test_sweep_is_the_librarys_waits_until_it_is_asked_for_and_nothing_is_measured_twice(open_modules, graph, counted):
    page = open_modules(seed="9", module_tab="chance")
    assert not counted, "only what the tab shows"
    page.button(key="sweep_start").click().run()
    assert counted == {"resolution_step": 16}
    curves = {trace["name"]: trace for trace in figure(page, "resolution_curves")["data"]}
    visit(page, "home", "modules")
    page.select_slider(key="resolution").set_value(1.1).run()
    page.select_slider(key="resolution").set_value(1.0).run()
    open_modules(seed="9", module_tab="chance")  # another visitor of the demo
    assert counted == {"measure_modules": 1, "resolution_step": 16}, "the modules are Home's"
    page.number_input(key="seed").set_value(5).run()
    assert counted["resolution_step"] == 16, "another seed waits until it is asked for, too"
    assert "sweep_start" in buttons(page)
    sweep = resolution_sweep(graph, [0.5, 1.2, 2.0], runs=5, seed=9)
    at = [array(curves["Modularity Q"]["x"]).tolist().index(value) for value in (0.5, 1.2, 2.0)]
    names = {"n_modules": "Number of modules", "q": "Modularity Q", "stability": "Stability: AMI between runs"}
    for column, name in names.items():
        np.testing.assert_allclose(array(curves[name]["y"])[at], sweep[column], err_msg=name)


def test_chance_is_tested_on_request(open_modules, graph, modules, counted, monkeypatch):
    monkeypatch.setattr(NullGraphOptions, "null_graphs", 4)
    monkeypatch.setattr(SmallWorldOptions, "null_graphs", 2)
    page = open_modules(module_tab="chance")
    assert "modularity_test" not in counted
    page.button(key="modularity_test_start").click().run()
    expected = modularity_test(graph, modules.partition, n_nulls=4, runs=5, seed=1)
    assert array(figure(page, "modularity_null")["data"][0]["y"]).sum() == len(expected.null)
    assert f"against {expected.null.mean():.3f} on average" in captions(page)
    assert f"p = {expected.p:.3g}" in captions(page)
    assert counted["modularity_test"] == 4
    assert "small_world" not in counted
    page.button(key="small_world_start").click().run()
    world = small_world(graph, n_nulls=2, seed=1)
    assert metrics(page)["Small-world σ"] == f"{world.sigma:.2f}"
    assert metrics(page)["Small-world ω"] == f"{world.omega:.2f}".replace("-", "−")
    bars = [array(bar["y"])[0] for bar in figure(page, "small_worldness")["data"]]
    clustering = [world.clustering, world.random_clustering, world.lattice_clustering]
    np.testing.assert_allclose(bars, [*clustering, world.path_length, world.random_path_length])
    assert "Means over 2 null graphs of each kind, seed 1" in captions(page)
    assert "small_worldness_export" in buttons(page)
    page.run()
    assert (counted["modularity_test"], counted["small_world"]) == (4, 2)


def test_small_world_of_a_signed_graph_is_refused_with_a_sentence(open_modules, monkeypatch, may_fail):
    monkeypatch.setattr(SmallWorldOptions, "null_graphs", 2)
    page = open_modules(sign="signed", threshold="none", module_tab="chance")
    page.button(key="small_world_start").click().run()
    assert "not defined for negative weights" in words(page.error)


def test_own_subjects_on_an_unknown_atlas(open_own, cohort, counted):
    own = Cohort("mine", cohort.subjects[:2], numbered_atlas(90))
    page = open_own("modules", own)
    assert "cannot be drawn in the brain" in words(page.info)
    assert figure(page, "modules")["layout"]["yaxis"]["ticktext"][0].startswith("Module 1 ")
    assert counted["measure_modules"] == 1
    assert "no functional labels" in words(turn_to(page, "networks").info)
    measured = page.session_state["own_cohort"].measured
    assert [measured.of(name).is_kept(Measured.modules, ModuleOptions()) for name in own.ids] == [True, False]
