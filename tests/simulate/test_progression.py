"""The simulated progression: what it does to a matrix, to series and to whom."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biobgt.base.errors import InputError
from biobgt.data.atlas import Atlas, load_atlas
from biobgt.data.cohort import Subject
from biobgt.data.connectivity import functional_connectivity
from biobgt.data.simulate import (
    SEVERITY,
    draw_severity,
    fade_connectivity,
    fade_series,
    load_parameters,
    phase_randomised,
    simulate_progression,
    vulnerability,
)

THREE = np.array([[1.0, 0.6, -0.3], [0.6, 1.0, 0.2], [-0.3, 0.2, 1.0]])


def three_regions(networks):
    return Atlas(name="three", title="", regions=("a", "b", "c"), labels={"dosenbach": networks})


def correlated_series(n_timepoints, rng):
    return rng.standard_normal((n_timepoints, 3)) @ np.linalg.cholesky(THREE).T


def test_vulnerability_is_half_hub_rank_and_half_default_mode():
    # Positive strengths are 0.6, 0.8 and 0.2: ranks 1/2, 1 and 0.
    v = vulnerability(THREE, three_regions(("default", None, "occipital")))
    np.testing.assert_allclose(v, [0.25 + 0.5, 0.5, 0.0])


def test_vulnerability_needs_the_right_atlas():
    with pytest.raises(InputError, match="3 regions and atlas aal90 has 90"):
        vulnerability(THREE, load_atlas("aal90"))


def test_fading_a_matrix_by_hand():
    # a = 0.5 · (1, 0.5, 0) = (0.5, 0.25, 0)
    faded = fade_connectivity(THREE, np.array([1.0, 0.5, 0.0]), 0.5)
    ab, ac, bc = 0.6 * np.sqrt(0.5 * 0.75), -0.3 * np.sqrt(0.5), 0.2 * np.sqrt(0.75)
    np.testing.assert_allclose(faded, [[1, ab, ac], [ab, 1, bc], [ac, bc, 1]], atol=1e-15)


def test_no_severity_changes_nothing(rng):
    series, v = correlated_series(50, rng) + 7, np.array([1.0, 0.5, 0.1])
    np.testing.assert_array_equal(fade_connectivity(THREE, v, 0), THREE)
    np.testing.assert_array_equal(fade_series(series, v, 0, seed=1), series)


@given(seed=st.integers(0, 2**32 - 1), severity=st.floats(0, 1))
def test_a_faded_matrix_stays_positive_semidefinite_and_no_connection_grows(seed, severity):
    rng = np.random.default_rng(seed)
    correlation = functional_connectivity(rng.standard_normal((4, 8)))  # rank 3 of 8: on the very edge
    faded = fade_connectivity(correlation, rng.uniform(size=8), severity)
    assert np.linalg.eigvalsh(faded).min() > -1e-12
    np.testing.assert_array_equal(faded, faded.T)
    assert np.all(np.abs(faded) <= np.abs(correlation) + 1e-15)


def test_long_faded_series_have_the_faded_correlations(rng):
    series, v = correlated_series(60_000, rng), np.array([1.0, 0.5, 0.2])
    measured = functional_connectivity(fade_series(series, v, 0.8, seed=3))
    np.testing.assert_allclose(measured, fade_connectivity(functional_connectivity(series), v, 0.8), atol=0.015)


@pytest.mark.parametrize("n_timepoints", [100, 101])
def test_noise_has_each_regions_own_spectrum(n_timepoints, rng):
    series = np.cumsum(rng.standard_normal((n_timepoints, 3)), axis=0)
    noise = phase_randomised(series, seed=0)
    expected = np.abs(np.fft.rfft(series - series.mean(axis=0), axis=0))
    np.testing.assert_allclose(np.abs(np.fft.rfft(noise, axis=0)), expected, atol=1e-9)
    assert not np.allclose(noise, series - series.mean(axis=0))


def test_fading_keeps_the_mean_and_a_silent_region(rng):
    series = correlated_series(80, rng) + np.array([5, -2, 0])
    series[:, 2] = 4
    faded = fade_series(series, np.ones(3), 0.7, seed=0)
    np.testing.assert_allclose(faded.mean(axis=0), series.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(faded[:, 2], 4)


def test_connections_of_hubs_and_of_the_default_mode_fade_most():
    atlas, mean = load_atlas("aal90"), load_parameters("ad").mean_connectivity("NC")
    kept = fade_connectivity(mean, vulnerability(mean, atlas), 0.5) / mean
    networks = zip(atlas.regions, atlas.labelling("dosenbach"), strict=True)
    default = np.array([network == "default" and region != "Fusiform_L" for region, network in networks])
    strength = np.where(mean > 0, mean, 0).sum(axis=1)
    hubs = ~default & (strength > np.quantile(strength, 0.75))
    periphery = ~default & (strength < np.quantile(strength, 0.25))

    def kept_within(regions):
        block = kept[np.ix_(regions, regions)]
        return block[np.triu_indices(len(block), 1)].mean()

    assert default.sum() == 18
    assert kept_within(default) < kept_within(hubs) < kept_within(periphery)


def test_severities_are_ordered_and_spread():
    drawn = {group: [draw_severity(group, seed=seed) for seed in range(200)] for group in SEVERITY}
    assert set(drawn["NC"]) == {0.0}
    for group in ("MCI", "AD"):
        assert np.mean(drawn[group]) == pytest.approx(SEVERITY[group].mean, abs=0.03)
        assert np.std(drawn[group]) == pytest.approx(SEVERITY[group].sd, abs=0.03)
    assert np.mean(drawn["MCI"]) < np.mean(drawn["AD"])
    assert min(drawn["MCI"]) >= 0
    assert max(drawn["AD"]) <= 1


def test_a_simulated_patient_is_marked_and_keeps_who_it_came_from(rng):
    control = Subject(id="c1", series=correlated_series(100, rng), group="NC", phenotypes={"age": 70})
    patient = simulate_progression(control, "AD", np.ones(3), seed=4)
    assert (patient.id, patient.group, patient.simulated) == ("c1", "AD", True)
    assert patient.phenotypes["age"] == 70
    assert 0 < patient.phenotypes["simulated severity"] < 1
    again = simulate_progression(control, "AD", np.ones(3), seed=4)
    np.testing.assert_array_equal(patient.series, again.series)


def test_a_subject_brought_as_a_matrix_progresses_too():
    control = Subject(id="c1", connectivity=THREE, group="NC")
    patient = simulate_progression(control, "MCI", np.ones(3), seed=0)
    assert patient.series is None
    severity = draw_severity("MCI", seed=0)
    assert patient.connectivity[0, 1] == pytest.approx(0.6 * (1 - severity))


@pytest.mark.parametrize(
    ("v", "severity", "sentence"),
    [
        ([0.5, 0.5, 0.5], 1.2, "severity is 1.2"),
        ([0.5, 0.5, 0.5], float("nan"), "severity is nan"),
        ([0.5, 0.5], 0.2, r"shape \(2,\), expected \(3,\)"),
        ([0.5, 0.5, 1.5], 0.2, "outside 0 to 1"),
        ([0.5, 0.5, float("nan")], 0.2, "outside 0 to 1"),
    ],
)
def test_impossible_fading_is_refused(v, severity, sentence):
    with pytest.raises(InputError, match=sentence):
        fade_connectivity(THREE, np.array(v), severity)


def test_an_unknown_group_is_refused():
    with pytest.raises(InputError, match="no group 'ASD'"):
        draw_severity("ASD", seed=0)
