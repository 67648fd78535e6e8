"""A measure of modules is one object: whatever is registered is found in every table that lists measures."""

import numpy as np
import pytest

from biobgt.base.references import REFERENCES
from biobgt.data.connectivity import brain_graph, subject_connectivity
from biobgt.data.simulate import demo_cohort
from biobgt.groups.compare import ComparisonOptions
from biobgt.groups.features import subject_features
from biobgt.modules import (
    MODULE_MEASURES,
    REGION_MEASURES,
    ModuleMeasure,
    ModuleOptions,
    measure_modules,
    module_agreement,
    node_roles,
    segregation,
)
from biobgt.modules.measures import measure_columns
from biobgt.results.measured import Measured
from biobgt.results.tables import analyse_modules

LARGEST = ModuleMeasure(
    "largest module",
    "size of the largest module",
    "Largest module",
    "regions",
    "partition",
    lambda partition: max(partition.sizes.values()),
    "The largest module is the one of the most regions.",
)
OVERLAP = ModuleMeasure(
    "overlap", "overlap", "Overlap", "share", "labels", lambda agreement: agreement.ari / 2, "Half the ARI."
)
WITHIN = ModuleMeasure(
    "within",
    "connectivity within",
    "Within",
    "Fisher z",
    "connectivity",
    lambda connectivity, systems: segregation(connectivity, systems).within,
    "The mean within modules.",
)


@pytest.fixture(scope="module")
def cohort():
    return demo_cohort("ad", n_per_group=2, seed=3)


@pytest.fixture(scope="module")
def modules(cohort):
    subject = cohort.subjects[0]
    return measure_modules(
        brain_graph(subject, cohort.atlas), subject_connectivity(subject), ModuleOptions(runs=2, seed=1)
    )


def test_measures_are_those_of_the_library(cohort, modules):
    partition, found = modules.partition, modules.measures
    assert list(cohort.atlas.labels) == ["dosenbach", "paper", "yeo7", "yeo17"]
    assert list(found) == [
        *("modules", "q", "unassigned regions"),
        *(
            f"{measure} {labels}"
            for labels in ("dosenbach", "paper", "yeo7", "yeo17")
            for measure in ("ami", "ari", "vi")
        ),
        "system segregation",
    ]
    assert (found["modules"], found["q"]) == (partition.n_modules, partition.q)
    assert found["unassigned regions"] == (partition.labels == 0).sum()
    agreement = module_agreement(partition, cohort.atlas, "paper")
    assert (found["ami paper"], found["ari paper"], found["vi paper"]) == (agreement.ami, agreement.ari, agreement.vi)
    full = subject_connectivity(cohort.subjects[0])
    assert found["system segregation"] == segregation(full, partition).system_segregation


def test_every_measure_says_what_it_is_and_cites_known_works():
    for measure in (*MODULE_MEASURES.values(), *REGION_MEASURES.values()):
        assert measure.definition.endswith(".")
        assert set(measure.citations) <= set(REFERENCES)


def test_matrix_without_correlations_has_no_segregation(cohort):
    subject = cohort.subjects[0]
    graph = brain_graph(subject, cohort.atlas)
    found = measure_modules(graph, 5 * subject_connectivity(subject), ModuleOptions(runs=1)).measures
    assert set(measure_columns(cohort.atlas.labels)) - set(found) == {"system segregation"}


def test_new_measure_is_in_the_summary_and_compared_between_groups(cohort):
    with (
        MODULE_MEASURES.temporarily(LARGEST),
        MODULE_MEASURES.temporarily(OVERLAP),
        MODULE_MEASURES.temporarily(WITHIN),
    ):
        found = analyse_modules(cohort, options=ModuleOptions(runs=1))
        first = cohort.ids[0]
        features = subject_features(
            Measured(cohort).of(first), ComparisonOptions(first="NC", second="AD", of="segregation", runs=1)
        )
    row = found.summary.set_index("subject").loc[first]
    assert row["largest module"] == max(found.partitions[first].sizes.values())
    assert row["overlap paper"] == row["ari paper"] / 2
    columns = dict(zip(features.names, features.values[0], strict=True))
    assert columns["size of the largest module"] == row["largest module"]
    assert columns["connectivity within, own modules"] == row["within"]
    assert np.isfinite(columns["connectivity within, Dosenbach's six networks"])
    assert "overlap, Dosenbach's six networks" in columns
    assert "largest module" not in analyse_modules(cohort, options=ModuleOptions(runs=1)).summary


def test_new_measure_of_regions_is_a_column_of_the_roles(modules, cohort):
    strength = ModuleMeasure(
        "strength",
        "strength",
        "Strength",
        "weight",
        "weights",
        lambda weights, labels: weights.sum(axis=1),
        "The sum of weights.",
    )
    graph = brain_graph(cohort.subjects[0], cohort.atlas)
    with REGION_MEASURES.temporarily(strength):
        roles = node_roles(graph, modules.partition)
    inside = modules.partition.labels > 0
    np.testing.assert_allclose(roles["strength"][inside], graph.weights[np.ix_(inside, inside)].sum(axis=1))
    assert list(roles.columns[2:5]) == ["within_z", "participation", "strength"]
