"""Figures of why this region, of chance and of two groups have the library's numbers."""

import numpy as np
import pandas as pd
import pytest
from export_requests import SUBJECT, request_of

from biobgt.data.connectivity import brain_graph, subject_connectivity
from biobgt.export.bundle import _make_figure
from biobgt.hubs.measures import HubOptions
from biobgt.hubs.region import explain_region
from biobgt.hubs.table import measure_hubs
from biobgt.modules import find_modules, modularity_test, small_world
from biobgt.modules.compare import group_module_difference
from biobgt.modules.measures import ModuleOptions

REGION = "Precuneus_L"
HOW = {"gamma": 3.0, "perturbation": "remove"}
GAMMAS = (0.1, 1.0, 7.0)


@pytest.fixture(scope="module")
def graph(measured):
    return brain_graph(measured.cohort[SUBJECT], measured.atlas)


@pytest.fixture(scope="module")
def story(measured, graph):
    hubs = measure_hubs(graph, subject_connectivity(measured.cohort[SUBJECT]), perturbation="remove")
    return explain_region(
        graph, hubs, measured.atlas.regions.index(REGION), options=HubOptions(3.0, "remove"), gammas=GAMMAS
    )


def made_of_region(measured, figure, **options):
    return _make_figure(measured, request_of(figure, region=REGION, **HOW, **options))


@pytest.mark.parametrize("perturbed", [False, True])
def test_surroundings_are_the_regions_neighbours_before_and_after(measured, graph, perturbed):
    made = made_of_region(measured, "region_surroundings", perturbed=perturbed)
    weights = pd.DataFrame(graph.weights, measured.atlas.regions, measured.atlas.regions)
    for row in made.numbers.to_dict("records"):
        one, other = row["region"], row["other region"]
        assert row["weight as measured"] == weights.loc[one, other]
        assert row["weight perturbed"] == (0 if REGION in (one, other) else weights.loc[one, other])
    own = made.numbers[made.numbers["region"] == REGION]
    strongest = weights[REGION].sort_values(ascending=False, kind="stable")
    assert list(own["other region"]) == list(strongest[strongest > 0].index[:16])
    lines = {drawn.get_label(): drawn for drawn in made.figure.axes[0].collections}
    assert len(lines["of the region"].get_segments()) == (0 if perturbed else len(own))
    assert ("lost all its connections" in made.caption) == perturbed
    assert any("a region loses its connections" in sentence for sentence in made.methods)


def test_spectra_and_entropies_are_the_storys(measured, story):
    numbers = made_of_region(measured, "region_spectra").numbers
    np.testing.assert_allclose(numbers["as measured"], story.spectrum_before)
    np.testing.assert_allclose(numbers["perturbed"], story.spectrum_after)
    np.testing.assert_allclose(numbers["change"], story.spectrum_after - story.spectrum_before)
    made = made_of_region(measured, "region_entropy", gammas=GAMMAS)
    assert list(made.numbers["gamma"]) == list(GAMMAS)
    np.testing.assert_allclose(made.numbers["entropy perturbed (bits)"], story.entropy_after)
    np.testing.assert_allclose(made.numbers["change (bits)"], story.change, atol=1e-12)
    np.testing.assert_allclose(made.numbers["change of the median region (bits)"], story.typical_change, atol=1e-12)
    assert "γ = 3/mean(λ)" in made.caption


def test_without_a_name_it_is_the_strongest_hub(measured):
    made = _make_figure(measured, request_of("region_spectra", gamma=2.0))
    hubs = _make_figure(measured, request_of("hub_scatter", gamma=2.0)).numbers
    strongest = hubs.loc[hubs["node_entanglement"].idxmax(), "region"]
    assert strongest in made.caption


def test_roles_have_hubs_from_the_z_that_was_asked_for(measured):
    made = _make_figure(measured, request_of("role_map", hub_z=1.0))
    assert (made.numbers["hub"] == (made.numbers["within_z"] >= 1.0)).all()
    assert f"Hubs, with a z of at least 1: {made.numbers['hub'].sum()};" in made.caption
    assert made.figure.axes[0].lines[0].get_ydata()[0] == 1.0
    assert "hubs from z = 1 [@guimera2005]" in made.methods[-1]


def test_chance_is_the_test_taken_at_once(measured, graph):
    options = ModuleOptions(resolution=1.2, runs=3, seed=5)
    request = request_of("modularity_against_chance", null_graphs=3, resolution=1.2, runs=3, seed=5)
    made = _make_figure(measured, request)
    expected = modularity_test(graph, find_modules(graph, options), resolution=1.2, n_nulls=3, runs=3, seed=5)
    assert list(made.numbers["graph"]) == [SUBJECT, "null graph 1", "null graph 2", "null graph 3"]
    np.testing.assert_allclose(made.numbers["modularity Q"], [expected.q, *expected.null])
    assert list(made.numbers["seed"][1:]) == [5, 6, 7]
    assert f"p = {expected.p:.3g}" in made.caption
    assert "3 null graphs" in made.methods[-1]
    assert "the best of 3 Louvain runs" in made.methods[-1]
    assert "the best of 3 Louvain runs" in made.caption
    assert all(f"[@{key}]" in made.methods[-1] for key in ("guimera2004", "maslov2002", "rubinov2011"))


def test_small_worldness_is_the_one_measured_at_once(measured, graph):
    made = _make_figure(measured, request_of("small_worldness", null_graphs=2, seed=5))
    expected = small_world(graph, n_nulls=2, seed=5)
    values = made.numbers.set_index(["measure", "graph"])["value"]
    assert values.to_dict() == pytest.approx(
        {
            ("clustering C", "this subject"): expected.clustering,
            ("clustering C", "random graphs"): expected.random_clustering,
            ("clustering C", "lattices"): expected.lattice_clustering,
            ("path length L", "this subject"): expected.path_length,
            ("path length L", "random graphs"): expected.random_path_length,
            ("small-world σ", "this subject"): expected.sigma,
            ("small-world ω", "this subject"): expected.omega,
        }
    )
    assert f"is {expected.sigma:.2f}; it is above 1 in a small world" in made.caption
    assert "2 random graphs" in made.methods[-1]
    assert "from seed 5 on" in made.methods[-1]
    assert "Louvain" not in " ".join(made.methods), "modules have no part in it"
    assert all(f"[@{key}]" in made.methods[-1] for key in ("humphries2008", "telesford2011", "onnela2005"))


def test_each_groups_modules_are_drawn_with_matching_numbers(measured):
    options = ModuleOptions(runs=2, seed=1)
    own = {one.id: find_modules(brain_graph(one, measured.atlas), options) for one in measured.cohort.subjects}
    expected = group_module_difference(measured.cohort, ("NC", "AD"), own, seed=1)
    flow = _make_figure(measured, request_of("group_module_flow", runs=2, seed=1)).numbers
    assert flow["NC"].tolist() == expected.first.tolist()
    made = _make_figure(measured, request_of("group_module_brain", runs=2, seed=1, group="AD"))
    assert made.numbers["module"].tolist() == expected.second.tolist()
    np.testing.assert_array_equal(made.numbers[["x", "y", "z"]], measured.atlas.coordinates)
    n_modules = len(set(expected.second.tolist()) - {0})
    assert made.caption.startswith(f"AD: {n_modules} modules that its 2 simulated subjects agree on")
    assert "coloured as those of NC" in made.caption
    assert "glass brain" in made.caption
    legend = [text.get_text().replace("\n", " ") for text in made.figure.legends[0].get_texts()]
    names = made.numbers[made.numbers["module"] > 0].sort_values("module")["name"].unique()
    assert legend[:n_modules] == list(names)
    assert ("seen from four sides; grey" in made.caption) == (0 in expected.second)
    assert "seed 1; @alexanderbloch2012]" in made.methods[-1]
    assert "not adjusted for motion, age, sex or site" in made.methods[-1]
    assert "[AMI; @vinh2010]" in made.methods[-1]
