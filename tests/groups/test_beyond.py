"""Beyond FC: planted differences in a measure, in what is simpler, and in both, and cohorts compared as users do."""

import numpy as np
import pytest

from biobgt.base.beyond import BEYOND, DEGREE, MODULE_SIZE, OVERALL, STRENGTH, beyond_words
from biobgt.base.errors import InputError
from biobgt.data.simulate import demo_cohort
from biobgt.groups.compare import ComparisonOptions, compare_groups
from biobgt.groups.features import CohortFeatures, compare_measured, simpler_quantity, subject_features
from biobgt.hubs import node_efficiency
from biobgt.hubs.measures import HUB_MEASURES
from biobgt.modules.measures import ModuleOptions
from biobgt.results.measured import Measured
from tests.planted_cohort import planted_cohort


def test_a_difference_of_what_is_simpler_alone_does_not_go_beyond_it(rng):
    patients = np.repeat([0.0, 1.0], 40)[:, None]
    simpler = rng.standard_normal((80, 4)) + patients * [2, 2, 0, 2]
    values = simpler + 0.4 * rng.standard_normal((80, 4))
    values[:, 1] += 2 * patients[:, 0]  # differs beyond it
    values[:, 3] = rng.standard_normal(80)  # does not differ
    given = simpler[..., None]
    given[0, 2] = np.nan
    values[:, 2] += 2 * patients[:, 0]  # differs, and what is simpler is not known of somebody
    found = compare_groups(
        values,
        ["NC"] * 40 + ["AD"] * 40,
        subjects=[f"s{i}" for i in range(80)],
        between=("NC", "AD"),
        given=given,
        simpler=(STRENGTH,),
        permutations=499,
    )
    assert found.table[BEYOND].tolist() == ["no", "yes", "not tested", "–"]
    assert found.beyond == (
        "Beyond FC: 1 of 3; given the region's strength, the other is no longer found. 1 could not be tested given it."
    )


def test_a_difference_that_turns_round_given_what_is_simpler_does_not_go_beyond_it(rng):
    patients = np.repeat([0.0, 1.0], 40)
    simpler = rng.standard_normal(80) + 6 * patients
    values = simpler - 3 * patients + 0.3 * rng.standard_normal(80)
    found = compare_groups(
        values[:, None],
        ["NC"] * 40 + ["AD"] * 40,
        subjects=[f"s{i}" for i in range(80)],
        between=("NC", "AD"),
        given=simpler[:, None, None],
        simpler=(DEGREE,),
        permutations=499,
    ).table
    assert found["d"][0] > 1
    assert found["d_given_fc"][0] < -1
    assert found["q_given_fc"][0] < 0.05
    assert found[BEYOND].tolist() == ["no"]


@pytest.mark.parametrize("measure", ["node_efficiency", "fc_strength"])
def test_hubs_are_tested_given_strength_and_degree_or_the_size_of_the_module(measure):
    cohort = demo_cohort("ad", n_per_group=6)
    options = ComparisonOptions(
        first="NC", second="AD", of="hubs", measure=measure, runs=1, permutations=99, covariates=("none",)
    )
    found = compare_measured(Measured(cohort), options)[1]
    whom = [*cohort.group("NC").ids, *cohort.group("AD").ids]
    graphs = [Measured(cohort).of(name).graph() for name in whom]
    if measure == "node_efficiency":
        values = np.stack([node_efficiency(graph) for graph in graphs])
        weights = np.stack([graph.weights for graph in graphs])
        overall = np.array([Measured(cohort).of(name).mean_connectivity()[1] for name in whom])
        strength = weights.sum(axis=2)
        given = np.stack([strength, (weights > 0).sum(axis=2), np.tile(overall[:, None], strength.shape[1])], axis=-1)
    else:
        own = [Measured(cohort).of(name) for name in whom]
        values = np.stack([one.hub_values(options, measure) for one in own])
        labels = [np.array(one.module_labels(ModuleOptions(runs=1))) for one in own]
        given = np.stack([[np.sum(one == label) for label in one] for one in labels])[..., None]
    expected = compare_groups(
        values,
        ["NC"] * 6 + ["AD"] * 6,
        subjects=whom,
        between=("NC", "AD"),
        given=given,
        permutations=99,
        features=cohort.atlas.regions,
    )
    assert found.simpler == HUB_MEASURES[measure].simpler
    for column in ("t", "t_given_fc", "q_given_fc"):
        np.testing.assert_allclose(found.table[column], expected.table[column], err_msg=column)
    assert found.table[BEYOND].tolist() == expected.table[BEYOND].tolist()
    assert BEYOND in found.rows(simulated=True)


def test_segregation_is_tested_given_overall_connectivity_and_connectivity_given_nothing():
    cohort = planted_cohort(6)
    asked = {"first": "NC", "second": "ASD", "runs": 1, "permutations": 99, "covariates": ("none",)}
    found = compare_measured(Measured(cohort), ComparisonOptions(of="segregation", **asked))[1]
    overall = [Measured(cohort).of(name).mean_connectivity()[1] for name in cohort.ids]
    each = [
        subject_features(Measured(cohort).of(name), ComparisonOptions(of="segregation", **asked)) for name in cohort.ids
    ]
    together = CohortFeatures.of_all(each)
    np.testing.assert_allclose(together.given[:, :, 0], np.tile(np.array(overall)[:, None], (1, len(together.names))))
    assert set(found.table[BEYOND]) <= {"yes", "no", "–", "not tested"}
    assert found.simpler == ("overall",)
    blocks = compare_measured(Measured(cohort), ComparisonOptions(of="fc-blocks", **asked))[1]
    assert BEYOND not in blocks.table
    assert blocks.beyond == ""


def test_regions_without_signal_have_no_simpler_quantity():
    cohort = planted_cohort(2)
    series = cohort.subjects[0].series.copy()
    series[:, 3] = 0
    subject = type(cohort.subjects[0])("silent", series=series, group="NC")
    own = Measured(type(cohort)("one", (subject, *cohort.subjects[1:]), cohort.atlas)).of("silent")
    for key in (STRENGTH, DEGREE, MODULE_SIZE):
        assert np.flatnonzero(np.isnan(simpler_quantity(own, key, ModuleOptions(runs=1)))).tolist() == [3]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["–", "–"], ""),
        (["yes", "yes"], "Beyond FC: 2 of 2; found given overall connectivity as well."),
        (["no"], "Beyond FC: none of 1; given overall connectivity, it is no longer found."),
        (["not tested"], "Beyond FC: none of 1; given overall connectivity. 1 could not be tested given it."),
    ],
)
def test_the_sentence_counts_what_goes_beyond(words, said):
    assert beyond_words(words, [OVERALL]) == said


def test_strength_and_degree_are_fc_and_go_beyond_the_size_of_their_module():
    assert HUB_MEASURES["degree"].simpler == (MODULE_SIZE,)
    assert beyond_words(["yes"], HUB_MEASURES["degree"].simpler).startswith("Beyond module size: 1 of 1")


def test_what_stands_beside_values_has_their_shape():
    with pytest.raises(InputError, match="what stands beside them"):
        compare_groups(
            np.zeros((4, 2)),
            ["NC", "NC", "AD", "AD"],
            subjects=list("abcd"),
            between=("NC", "AD"),
            given=np.zeros((4, 2)),
        )
