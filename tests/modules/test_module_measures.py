"""Modules of a subject: found as the options say; whatever measure is registered is found in every table."""

from contextlib import ExitStack
from inspect import signature

import numpy as np
import pytest

import biobgt
from biobgt import BrainGraph, load_atlas
from biobgt.base.references import cited
from biobgt.data.connectivity import brain_graph, subject_connectivity
from biobgt.data.simulate import demo_cohort
from biobgt.groups.compare import ComparisonOptions
from biobgt.groups.features import subject_features
from biobgt.modules import (
    MODULE_MEASURES,
    REGION_MEASURES,
    ModuleMeasure,
    consensus_modules,
    louvain_modules,
    module_agreement,
    node_roles,
    segregation,
)
from biobgt.modules.measures import ModuleOptions, measure_columns
from biobgt.modules.structure import find_modules, graph_for_modules, measure_modules
from biobgt.results.measured import Measured
from biobgt.results.tables import analyse_modules


@pytest.fixture
def signed_graph(rng):
    upper = np.triu(rng.uniform(-0.6, 0.6, (90, 90)) * (rng.random((90, 90)) < 0.3), 1)
    return BrainGraph(upper + upper.T, load_atlas("aal90"), simulated=True)


@pytest.mark.parametrize("name", ["louvain_modules", "consensus_modules", "resolution_sweep"])
def test_runs_and_seed_have_one_default(name):
    parameters = signature(getattr(biobgt.modules, name)).parameters
    assert (parameters["runs"].default, parameters["seed"].default) == (ModuleOptions().runs, ModuleOptions().seed)


def test_consensus_is_that_of_all_runs(signed_graph):
    found = find_modules(signed_graph, ModuleOptions(resolution=1.2, runs=6, seed=3, consensus=True))
    expected = consensus_modules(signed_graph, resolution=1.2, runs=6, seed=3)
    np.testing.assert_array_equal(found.labels, expected.labels)
    assert found.q == expected.q


def test_negative_weights_count_only_if_asked_to(signed_graph):
    both = find_modules(signed_graph, ModuleOptions(runs=3))
    positive = find_modules(signed_graph, ModuleOptions(runs=3, signed=False))
    assert both.signed
    assert not positive.signed
    without = louvain_modules(np.maximum(signed_graph.weights, 0), runs=3)
    np.testing.assert_array_equal(positive.labels, without.labels)
    assert positive.q == without.q != both.q


def test_graph_without_negative_weights_is_the_same_but_for_them(signed_graph):
    assert graph_for_modules(signed_graph, ModuleOptions()) is signed_graph
    positive = graph_for_modules(signed_graph, ModuleOptions(signed=False))
    assert positive.simulated
    assert positive.atlas is signed_graph.atlas
    np.testing.assert_array_equal(positive.weights, np.where(signed_graph.weights > 0, signed_graph.weights, 0))


def test_measures_are_of_the_modules_that_were_asked_for(signed_graph):
    options = ModuleOptions(runs=4, consensus=True, signed=False)
    measured = measure_modules(signed_graph, np.clip(signed_graph.weights, -1, 1), options)
    np.testing.assert_array_equal(measured.partition.labels, find_modules(signed_graph, options).labels)
    assert measured.measures["modules"] == measured.partition.n_modules


def measure(key, needs, compute):
    return ModuleMeasure(key, key, key.capitalize(), "share", needs, compute, f"What {key} is.")


@pytest.fixture(scope="module")
def cohort():
    return demo_cohort("ad", n_per_group=2, seed=3)


@pytest.fixture(scope="module")
def modules(cohort):
    one = cohort.subjects[0]
    return measure_modules(brain_graph(one, cohort.atlas), subject_connectivity(one), ModuleOptions(runs=2, seed=1))


def test_measures_are_those_of_the_library(cohort, modules):
    partition, found = modules.partition, modules.measures
    labellings = ("dosenbach", "paper", "yeo7", "yeo17")
    assert tuple(cohort.atlas.labels) == labellings
    compared = [f"{measure} {labels}" for labels in labellings for measure in ("ami", "ari", "vi")]
    assert list(found) == ["modules", "q", "unassigned regions", *compared, "system segregation"]
    assert (found["modules"], found["q"]) == (partition.n_modules, partition.q)
    assert found["unassigned regions"] == (partition.labels == 0).sum()
    agreement = module_agreement(partition, cohort.atlas, "paper")
    assert (found["ami paper"], found["ari paper"], found["vi paper"]) == (agreement.ami, agreement.ari, agreement.vi)
    full = subject_connectivity(cohort.subjects[0])
    assert found["system segregation"] == segregation(full, partition).system_segregation


def test_every_measure_says_what_it_is_and_cites_known_works():
    for measure in (*MODULE_MEASURES.values(), *REGION_MEASURES.values()):
        assert measure.definition.endswith(".")
        assert "@" not in cited(measure.definition), "every key is that of a work"


def test_matrix_without_correlations_has_no_segregation(cohort):
    subject = cohort.subjects[0]
    graph = brain_graph(subject, cohort.atlas)
    found = measure_modules(graph, 5 * subject_connectivity(subject), ModuleOptions(runs=1)).measures
    assert set(measure_columns(cohort.atlas.labels)) - set(found) == {"system segregation"}


def test_new_measure_is_in_the_summary_and_compared_between_groups(cohort):
    asked, first = ComparisonOptions(first="NC", second="AD", of="segregation", runs=1), cohort.ids[0]
    with ExitStack() as registered:
        for new in (
            measure("largest module", "partition", lambda partition: max(partition.sizes.values())),
            measure("overlap", "labels", lambda agreement: agreement.ari / 2),
            measure("within", "connectivity", lambda *given: segregation(*given).within),
        ):
            registered.enter_context(MODULE_MEASURES.temporarily(new))
        found = analyse_modules(cohort, options=ModuleOptions(runs=1))
        features = subject_features(Measured(cohort).of(first), asked)
    row = found.summary.set_index("subject").loc[first]
    assert row["largest module"] == max(found.partitions[first].sizes.values())
    assert row["overlap paper"] == row["ari paper"] / 2
    columns = dict(zip(features.names, features.values[0], strict=True))
    assert columns["largest module"] == row["largest module"]
    assert columns["within, own modules"] == row["within"]
    assert np.isfinite(columns["within, Dosenbach's six networks"])
    assert "overlap, Dosenbach's six networks" in columns
    assert "largest module" not in analyse_modules(cohort, options=ModuleOptions(runs=1)).summary


def test_new_measure_of_regions_is_a_column_of_the_roles(modules, cohort):
    graph = brain_graph(cohort.subjects[0], cohort.atlas)
    with REGION_MEASURES.temporarily(measure("strength", "weights", lambda weights, labels: weights.sum(axis=1))):
        roles = node_roles(graph, modules.partition)
    inside = modules.partition.labels > 0
    np.testing.assert_allclose(roles["strength"][inside], graph.weights[np.ix_(inside, inside)].sum(axis=1))
    assert list(roles.columns[2:5]) == ["within_z", "participation", "strength"]
