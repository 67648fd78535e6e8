"""A group's curves: the mean and SD of what the hub table says of each subject."""

from typing import get_args

import numpy as np
import pytest

from biobgt import ConnectomeSettings, InputError
from biobgt.data.connectivity import cohort_graphs, subject_connectivity
from biobgt.data.simulate import demo_cohort
from biobgt.figures import CurveScale as DrawnScale
from biobgt.hubs.measures import HubAnalysisOptions, HubOptions
from biobgt.hubs.table import CurveScale, SubjectCurves, group_curves, measure_curves, measure_hubs
from biobgt.results.tables import analyse_hubs

GAMMAS = (0.5, 3.0)
MEASURES = ("node_entanglement", "node_efficiency", "fc_strength")


@pytest.fixture(scope="module")
def cohort():
    return demo_cohort("ad", n_per_group=3).group("NC")


@pytest.fixture(scope="module")
def curves(cohort):
    graphs = cohort_graphs(cohort, ConnectomeSettings())
    return [
        measure_curves(graph, subject_connectivity(subject), GAMMAS)
        for graph, subject in zip(graphs, cohort, strict=True)
    ]


def by_hand(entanglement):
    rest = np.zeros(len(entanglement))
    return SubjectCurves(
        (1.0,), {"node_entanglement": np.array([entanglement], float)}, {"node_efficiency": rest, "fc_strength": rest}
    )


def test_subjects_curves_are_those_of_the_hub_table(cohort, curves):
    graph = next(cohort_graphs(cohort))
    hubs = measure_hubs(graph, subject_connectivity(cohort.subjects[0]))
    for gamma in GAMMAS:
        table = hubs.table(HubOptions(gamma))
        for measure, values in curves[0].at(gamma).items():
            np.testing.assert_allclose(values, table[measure], rtol=0, atol=1e-12)  # NE has two exact ways


@pytest.mark.parametrize("gamma", GAMMAS)
def test_raw_mean_and_sd_are_those_of_the_cohort_analysis(cohort, curves, gamma):
    expected = analyse_hubs(cohort, options=HubAnalysisOptions(gamma=gamma)).groups
    found = group_curves(curves, gamma, scale="raw")
    assert found.n_subjects == 3
    for measure in MEASURES:
        np.testing.assert_allclose(found.mean[measure], expected[f"{measure}_mean"])
        np.testing.assert_allclose(found.sd[measure], expected[f"{measure}_sd"], atol=1e-12)


@pytest.mark.parametrize("scale", ["z", "rank"])
def test_scales_are_those_of_each_subjects_table(cohort, curves, scale):
    tables = analyse_hubs(cohort).tables.values()
    found = group_curves(curves, 0.5, scale=scale)
    for measure in MEASURES:
        values = np.stack([table[f"{measure}_{scale}"] for table in tables])
        np.testing.assert_allclose(found.mean[measure], values.mean(axis=0), atol=1e-12)
        np.testing.assert_allclose(found.sd[measure], values.std(axis=0, ddof=1), atol=1e-12)


def test_ranks_by_hand():
    found = group_curves([by_hand([3, 2, 1]), by_hand([3, 1, 2])], 1.0, scale="rank")
    np.testing.assert_allclose(found.mean["node_entanglement"], [1, 2.5, 2.5])
    np.testing.assert_allclose(found.sd["node_entanglement"], [0, np.sqrt(0.5), np.sqrt(0.5)])
    np.testing.assert_allclose(found.mean["node_efficiency"], 1)  # all tie


def test_equal_values_have_z_of_zero_and_one_subject_has_no_spread():
    found = group_curves([by_hand([2, 2, 2])], 1.0)
    np.testing.assert_array_equal(found.mean["node_entanglement"], 0)
    assert np.isnan(found.sd["node_entanglement"]).all()


def test_bad_input_is_named(curves):
    with pytest.raises(InputError, match="no subjects"):
        group_curves([], 0.5)
    with pytest.raises(InputError, match="not measured at γ = 7"):
        group_curves(curves, 7.0)
    with pytest.raises(InputError, match="scale"):
        group_curves(curves, 0.5, scale="loud")


def test_scales_are_those_that_can_be_drawn():
    assert get_args(CurveScale) == get_args(DrawnScale)
