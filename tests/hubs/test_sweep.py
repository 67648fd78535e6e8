"""Hubs read at any γ are those of the hub table; intervals are those of a plain bootstrap; the study is named right."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hub_graphs import random_weights
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from assets.studies.plausibility import subject_plausibility
from biobgt.base.errors import InputError
from biobgt.data.atlas import load_atlas, numbered_atlas
from biobgt.data.cohort import Subject
from biobgt.data.connectivity import graph_from_connectivity
from biobgt.data.graph import ConnectomeSettings
from biobgt.hubs import HubOptions, gamma_unit, hub_table, measure_hubs
from biobgt.hubs.table import REFERENCES, _counted_spearman, _rank_correlation, hub_correlation, subject_sweep
from biobgt.modules.measures import ModuleOptions
from biobgt.results.studies import study_modules, study_sweep, study_table

CC200 = load_atlas("cc200")


def correlations(n, seed):
    rng = np.random.default_rng(seed)
    series = rng.normal(size=(40, n)) + rng.normal(size=(40, 3)) @ rng.normal(size=(3, n))
    return np.corrcoef(series.T)


@pytest.fixture(scope="module")
def connectivity():
    matrix = np.zeros((32, 32))  # the last two regions are silent
    matrix[:30, :30] = correlations(30, 0)
    return matrix


@pytest.fixture(scope="module")
def graph(connectivity):
    return graph_from_connectivity(connectivity, ConnectomeSettings(level=0.2))


@pytest.mark.parametrize("perturbation", ["control", "remove"])
@pytest.mark.parametrize("rule", ["top", "sd"])
@pytest.mark.parametrize("gamma", [0.5, 30.0])
def test_table_is_the_hub_table(graph, connectivity, perturbation, rule, gamma):
    hubs = measure_hubs(graph, connectivity, perturbation=perturbation)
    how = {"connectivity": connectivity, "perturbation": perturbation, "rule": rule}
    found = hubs.table(HubOptions(gamma, perturbation, rule))
    for expected in (
        hub_table(graph, gamma=gamma, **how),
        hub_table(graph, absolute_gamma=gamma * gamma_unit(graph), **how),
    ):
        expected.attrs = {}
        pd.testing.assert_frame_equal(found, expected, check_exact=False, rtol=1e-9)


def test_sweep_is_that_of_the_plausibility_study(graph, connectivity):
    gammas = (0.1, 0.5, 3.0, 100.0)
    sweep = subject_sweep(measure_hubs(graph, connectivity, perturbation="remove"), gammas)
    study = subject_plausibility(connectivity, gammas=gammas, levels=(0.2,), perturbations=("remove",))
    expected = study[~study["signed"]].set_index(["reference", "gamma"])["spearman"]
    found = sweep.set_index(["reference", "gamma"])["spearman"]
    assert len(found) == 8
    pd.testing.assert_series_equal(found, expected[found.index])


def test_correlations_leave_silent_regions_out(graph, connectivity):
    hubs = measure_hubs(graph, connectivity)
    table = hubs.table()
    assert REFERENCES == ("node_efficiency", "fc_strength")
    for column in (*REFERENCES, "degree"):
        correlation = hub_correlation(hubs, 0.5, column)
        assert correlation.n_regions == 30
        assert correlation.rho == pytest.approx(spearmanr(table["node_entanglement"][:30], table[column][:30])[0])
        assert correlation.low < correlation.rho < correlation.high


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 25), n_values=st.integers(1, 30), seed=st.integers(0, 10_000))
def test_correlation_in_a_sample_is_that_of_the_repeated_regions(n, n_values, seed):
    rng = np.random.default_rng(seed)
    values, reference = rng.integers(0, n_values, (2, n)).astype(float)
    draws = rng.multinomial(n, np.full(n, 1 / n), size=5)
    found = _counted_spearman(values, reference, draws)
    for rho, counts in zip(found, draws, strict=True):
        first, second = np.repeat(values, counts), np.repeat(reference, counts)
        if np.ptp(first) == 0 or np.ptp(second) == 0:
            assert np.isnan(rho)
        else:
            assert rho == pytest.approx(spearmanr(first, second)[0], abs=1e-12)


def test_interval_is_that_of_a_plain_bootstrap():
    rng = np.random.default_rng(3)
    values = rng.normal(size=100)
    reference = values + rng.normal(size=100)
    found = _rank_correlation(values, reference, n_boot=3000)
    picks = rng.integers(0, 100, (3000, 100))
    plain = [spearmanr(values[pick], reference[pick])[0] for pick in picks]
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(plain, [0.025, 0.975])), abs=0.015)
    assert found.rho == pytest.approx(spearmanr(values, reference)[0])
    assert _rank_correlation(values, reference, n_boot=3000) == found  # the seed is fixed


def test_interval_is_wider_where_more_confidence_is_asked():
    rng = np.random.default_rng(3)
    values, reference = rng.normal(size=(2, 50))
    wide, narrow = (_rank_correlation(values, reference, confidence=c) for c in (0.99, 0.5))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_perfect_and_undefined_correlations():
    ramp = np.arange(10.0)
    perfect = _rank_correlation(ramp, ramp**3)
    assert (perfect.rho, perfect.low, perfect.high) == pytest.approx((1, 1, 1))
    opposite = _rank_correlation(ramp, -ramp)
    assert (opposite.rho, opposite.high) == pytest.approx((-1, -1))
    for values in (np.zeros(10), ramp[:1], ramp[:0]):
        assert np.isnan(_rank_correlation(values, ramp[: len(values)]).rho)


def test_graph_without_connections_has_undefined_agreement(connectivity):
    nothing = np.eye(len(connectivity))  # connections that a threshold removes all are an error; here there were none
    empty = graph_from_connectivity(nothing, ConnectomeSettings(threshold="none"))
    hubs = measure_hubs(empty, connectivity)
    assert subject_sweep(hubs, (0.5, 1.0))["spearman"].isna().all()
    assert np.isnan(hub_correlation(hubs, 0.5, "fc_strength").low)
    assert not hubs.table()["node_entanglement_hub"].any()


@pytest.mark.parametrize("perturbation", ["control", "remove"])
@pytest.mark.parametrize("level", [0.0, 0.2, 0.3, 0.4])
def test_study_of_the_same_threshold_and_perturbation_is_found(level, perturbation):
    found = study_sweep(ConnectomeSettings(level=level), CC200, perturbation=perturbation)
    study = study_table("abide_plausibility").query(
        "group == 'all' and level == @level and perturbation == @perturbation and not signed and measure == 'spearman'"
    )
    assert found.agreement is not None
    assert list(found.agreement["mean"]) == list(study["mean"])
    assert list(found.agreement["sd"]) == list(study["sd"])
    assert f"of at least {level:g}, {perturbation}, |ΔS|" in found.note
    assert f"{study['n_subjects'].max()} real ABIDE subjects" in found.note
    assert "this subject" not in found.note
    fewest = study["n_subjects"].min()
    assert (f"defined in only {fewest} of them" in found.note) == (fewest < study["n_subjects"].max())


def test_no_threshold_is_the_study_at_zero():
    every = study_sweep(ConnectomeSettings(threshold="none"), CC200)
    at_zero = study_sweep(ConnectomeSettings(level=0.0), CC200)
    pd.testing.assert_frame_equal(every.agreement, at_zero.agreement)


@pytest.mark.parametrize(
    "atlas", [load_atlas("aal90"), numbered_atlas(100), replace(numbered_atlas(100), name="cc200")]
)
def test_another_atlas_has_no_norm_and_the_note_says_why(atlas):
    found = study_sweep(ConnectomeSettings(), atlas)
    assert found.agreement is None
    assert found.note.startswith("No norm is shown: ABIDE was measured on the 200 regions of Craddock CC200")
    assert f"this subject has the {atlas.n_regions} of {atlas.title}" in found.note


def test_a_matrix_that_holds_no_correlations_has_no_norm():
    counts = np.random.default_rng(0).integers(0, 900, (200, 200)).astype(float)
    subject = Subject("s", connectivity=counts + counts.T)
    assert study_sweep(ConnectomeSettings(), CC200, subject=subject).agreement is None
    found = study_modules(ConnectomeSettings(), ModuleOptions(), CC200, subject=subject)
    assert found.measures is None
    assert "this subject's matrix holds something else" in found.note


@pytest.mark.parametrize(
    ("settings", "options", "graphs"),
    [
        ({}, {}, "positive, at least 0.3"),
        ({"threshold": "proportional", "level": 0.15}, {}, "positive, strongest 15 %"),
        ({"sign": "signed", "threshold": "none"}, {}, "signed, all"),
        ({"sign": "signed", "threshold": "none"}, {"signed": False}, None),
        ({}, {"runs": 50}, None),
        ({}, {"resolution": 1.2}, "positive, at least 0.3"),
        ({}, {"resolution": 2.5}, None),
        ({}, {"consensus": True}, None),
        ({"level": 0.25}, {}, None),
    ],
)
def test_modules_have_a_norm_only_where_they_were_found_alike(settings, options, graphs):
    how = replace(ConnectomeSettings(), **settings), ModuleOptions(**options)
    found = study_modules(*how, CC200)
    assert (None if found.measures is None else set(found.measures["graphs"])) == (graphs and {graphs})
    elsewhere = study_modules(*how, load_atlas("aal90"))
    assert elsewhere.measures is None
    assert "this subject has the 90 of" in elsewhere.note


@pytest.mark.parametrize(
    ("asked", "taken"), [(1.0, 1.0), (0.5, 0.5), (1.2, 1.2), (0.9, 1.0), (1.1, 1.0), (1.3, 1.2), (1.9, 1.8), (0.7, 0.8)]
)
def test_modules_at_any_resolution_have_the_nearest_norm_and_it_is_named(asked, taken):
    found = study_modules(ConnectomeSettings(), ModuleOptions(resolution=asked), CC200)
    assert set(found.measures["resolution"]) == {taken}
    assert f"at resolution {taken:g}" in found.note
    assert (f"the nearest measured to {asked:g}" in found.note) == (asked != taken)
    assert ("30 NC and 30 ASD" in found.note) == (taken != 1)
    assert {"ami yeo7", "ami yeo17"} < set(found.measures["measure"])


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"level": 0.25}, "it has thresholds 0, 0.2, 0.3, 0.4"),
        ({"threshold": "proportional", "level": 0.3}, "it has no proportional threshold"),
        ({"estimator": "partial"}, "it has Pearson correlation"),
        ({"sign": "absolute"}, "it has positive connections"),
        ({"backbone": True}, "it has no spanning tree"),
        ({"sign": "absolute", "level": 0.5}, "it has positive connections, it has thresholds"),
    ],
)
def test_graphs_made_otherwise_have_no_study_and_the_note_says_why(change, why):
    found = study_sweep(replace(ConnectomeSettings(), **change), CC200)
    assert found.agreement is None
    assert f"no graphs like these ({why}" in found.note


def test_bad_input_is_refused_with_a_sentence(connectivity):
    signed = graph_from_connectivity(connectivity, ConnectomeSettings(sign="signed"))
    with pytest.raises(InputError, match="not defined for negative weights"):
        measure_hubs(signed, connectivity)
    plain = graph_from_connectivity(random_weights(8, 1.0, 0), atlas=numbered_atlas(8))
    with pytest.raises(InputError, match="32 regions and its graph has 8"):
        measure_hubs(plain, connectivity)
    with pytest.raises(InputError, match="confidence"):
        _rank_correlation(np.arange(3.0), np.arange(3.0), confidence=95)
    with pytest.raises(InputError, match="diffusion time"):
        measure_hubs(plain, plain.weights).entanglement(-1)


def test_real_subject_agrees_up_to_gamma_one_and_hardly_beyond(real_graph, real_connectivity):
    hubs = measure_hubs(real_graph, real_connectivity)
    sweep = subject_sweep(hubs, (0.5, 30.0)).set_index(["reference", "gamma"])["spearman"]
    found = hub_correlation(hubs, 0.5, "node_efficiency")
    assert found.rho == pytest.approx(sweep["node efficiency", 0.5])
    assert found.low > 0.5 > 0.4 > sweep["node efficiency", 30.0]
