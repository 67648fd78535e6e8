"""Subjects that were never scanned: demo cohorts, the progression, worse recordings."""

from pathlib import Path

import bct
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biobgt.base.errors import InputError
from biobgt.base.files import asset
from biobgt.data.atlas import Atlas, load_atlas
from biobgt.data.cohort import Subject
from biobgt.data.connectivity import functional_connectivity
from biobgt.data.simulate import (
    DEMO_COHORTS,
    SEVERITY,
    _draw_factor,
    _draw_severity,
    demo_cohort,
    draw_series,
    fade_connectivity,
    fade_series,
    load_parameters,
    phase_randomised,
    simulate_progression,
    vulnerability,
)

GROUPS = {"asd": ("NC", "ASD"), "adhd": ("NC", "ADHD"), "ad": ("NC", "MCI", "AD")}
ATLAS = {"asd": ("cc200", 200), "adhd": ("cc200", 200), "ad": ("aal90", 90)}
every_cohort = pytest.mark.parametrize("name", GROUPS)


@every_cohort
def test_a_demo_cohort_says_what_it_is(name):
    cohort = demo_cohort(name, n_per_group=2)
    assert cohort.group_sizes == dict.fromkeys(GROUPS[name], 2)
    assert cohort.ids[:3] == ("sim-NC-001", "sim-NC-002", f"sim-{GROUPS[name][1]}-001")
    assert (cohort.atlas.name, cohort.atlas.n_regions) == ATLAS[name]
    assert all(subject.simulated for subject in cohort)
    assert cohort.name == DEMO_COHORTS[name]
    assert "simulated" in cohort.name
    assert "All subjects are simulated" in cohort.notes[0]
    parameters = load_parameters(name)
    for subject in cohort:
        assert subject.series.shape == (parameters.n_timepoints, ATLAS[name][1])
        assert np.isfinite(subject.series).all()
        assert subject.tr == parameters.tr
        assert subject.silent_regions == ()


def test_the_progression_is_called_invented():
    cohort = demo_cohort("ad", n_per_group=3)
    assert "invented progression, not measured on patients" in cohort.notes[1]
    severity = {subject.id: subject.phenotypes["simulated severity"] for subject in cohort}
    assert severity["sim-NC-001"] == 0 < severity["sim-AD-001"]


@every_cohort
def test_the_same_seed_gives_the_same_subjects_however_many(name):
    few, many = demo_cohort(name, n_per_group=1, seed=5), demo_cohort(name, n_per_group=3, seed=5)
    for subject in few:
        np.testing.assert_array_equal(subject.series, many[subject.id].series)


def test_seeds_subjects_groups_and_cohorts_differ():
    cohorts = [demo_cohort("asd", n_per_group=2, seed=seed) for seed in (0, 1)] + [demo_cohort("adhd", n_per_group=2)]
    starts = [subject.series[:5, :5].tobytes() for cohort in cohorts for subject in cohort]
    assert len(set(starts)) == len(starts) == 12


def connectome_of(parameters, seed):
    """The true connectome of the control that the same seed draws series of."""
    factor = _draw_factor(parameters, "NC", np.random.default_rng(seed))
    return factor @ factor.T


@every_cohort
def test_a_drawn_connectome_is_a_correlation_matrix(name):
    parameters = load_parameters(name)
    connectome = connectome_of(parameters, 0)
    np.testing.assert_allclose(connectome, connectome.T)
    np.testing.assert_allclose(np.diag(connectome), 1)
    assert np.linalg.eigvalsh(connectome).min() > -1e-10
    assert np.linalg.matrix_rank(connectome) == min(parameters.individual_dof, parameters.n_regions)


def test_series_are_a_sample_of_the_connectome_drawn_from_the_same_state():
    parameters, upper = load_parameters("ad"), np.triu_indices(90, 1)
    measured = np.corrcoef(draw_series(parameters, "NC", np.random.default_rng(2)).T)[upper]
    own, other = (np.corrcoef(measured, connectome_of(parameters, seed)[upper])[0, 1] for seed in (2, 3))
    assert own > 0.8
    assert own > other + 0.2


@every_cohort
def test_series_have_unit_variance_and_the_stored_spectrum(name):
    parameters = load_parameters(name)
    stack = np.array([draw_series(parameters, "NC", np.random.default_rng(i)) for i in range(10)])
    np.testing.assert_allclose(stack.mean(axis=1), 0, atol=1e-10)
    assert stack.var(axis=1).mean() == pytest.approx(1, abs=0.05)
    power = (np.abs(np.fft.rfft(stack, axis=1)) ** 2).mean(axis=(0, 2))
    frequencies = np.fft.rfftfreq(parameters.n_timepoints)
    stored = np.interp(frequencies, np.linspace(0, 0.5, len(parameters.spectrum)), parameters.spectrum)
    assert np.corrcoef(power, stored)[0, 1] > 0.98


@every_cohort
def test_only_group_level_arrays_are_stored(name):
    """No array has a row per subject: only groups, components, connections and frequencies."""
    n_groups, n_regions = 1 if name == "ad" else 2, ATLAS[name][1]
    n_connections = n_regions * (n_regions - 1) // 2
    with np.load(asset("demo", f"{name}.npz"), allow_pickle=False) as stored:
        shapes = {key: stored[key].shape for key in stored.files}
        assert stored["components"].shape[0] * 5 < stored["n_subjects"].sum()
    per_group = {"groups": (n_groups,), "n_subjects": (n_groups,), "mean_z": (n_groups, n_connections)}
    of_all = {"components": (16, n_connections), "spectrum": (65,), "individual_dof": (), "n_timepoints": (), "tr": ()}
    assert shapes == per_group | of_all


def test_the_parameters_are_small():
    assert {path.name for path in asset("demo").glob("*.npz")} == {"asd.npz", "adhd.npz", "ad.npz"}
    assert sum(path.stat().st_size for path in asset("demo").iterdir() if path.is_file()) < 3e6


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("adni", {}, "no demo cohort 'adni'. Choose one of: asd, adhd, ad"),
        ("asd", {"n_per_group": 0}, "at least 1 subject per group, not 0"),
        ("asd", {"seed": -1}, "seed is -1"),
    ],
)
def test_impossible_demos_are_refused(name, options, sentence):
    with pytest.raises(InputError, match=sentence):
        demo_cohort(name, **options)


N_PER_GROUP = 60
N_PARTITIONED = 40
FILES = {
    "asd": ("abide_cc200.npz", "abide_phenotypes.csv", 200),
    "adhd": ("cni2019_cc200.npz", "cni2019_phenotypes.csv", 200),
    "ad": ("abide_aal116.npz", "abide_phenotypes.csv", 90),
}
# The bounds that docs/simulation.md states.
SMALLEST_R = 0.95
BOUNDS = {"strength": {"rel": 0.10}, "spread": {"rel": 0.12}, "modularity": {"abs": 0.05}}


def summarise(correlations: np.ndarray) -> dict[str, np.ndarray | float]:
    """Take a group's correlations, shape (n_subjects, n_regions, n_regions), NaN where a region is silent."""
    upper = np.triu_indices(correlations.shape[1], 1)
    edges = correlations[:, upper[0], upper[1]]
    z = np.arctanh(np.clip(edges, -0.999, 0.999))
    chosen = np.linspace(0, len(correlations) - 1, N_PARTITIONED).astype(int)
    return {
        "mean_z": np.nanmean(z, axis=0),
        "strength": np.nanmean(np.abs(edges)),
        "spread": np.nanmean(np.nanstd(z, axis=0)),
        "modularity": np.mean([louvain_q(correlations[i]) for i in chosen]),
    }


def louvain_q(correlation: np.ndarray) -> float:
    weights = np.where(np.nan_to_num(correlation) >= 0.3, correlation, 0)
    np.fill_diagonal(weights, 0)
    return bct.community_louvain(weights, seed=0)[1]


def real_correlations(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return all subjects' correlations as float32, and their groups."""
    series_file, phenotype_file, n_regions = FILES[name]
    with np.load(folder / series_file, allow_pickle=False) as stored:
        series, lengths = stored["series"][:, :n_regions], stored["n_timepoints"]
    parts = np.split(series, np.cumsum(lengths)[:-1])
    with np.errstate(invalid="ignore", divide="ignore"):
        stack = np.array([np.corrcoef(part.astype(np.float32).T, dtype=np.float32) for part in parts])
    return stack, pd.read_csv(folder / phenotype_file)["group"].to_numpy()


@pytest.fixture(scope="module", params=FILES)
def real_and_simulated(request, shared_data) -> dict[str, tuple[dict, dict]]:
    stack, labels = real_correlations(shared_data, request.param)
    cohort = demo_cohort(request.param, n_per_group=N_PER_GROUP)
    # There are no real MCI and AD subjects to compare with.
    groups = [group for group in cohort.group_sizes if group in labels]
    return {
        group: (
            summarise(stack[labels == group]),
            summarise(np.array([functional_connectivity(subject.series) for subject in cohort.group(group)])),
        )
        for group in groups
    }


def test_group_means_strength_spread_and_modularity_are_reproduced(real_and_simulated):
    assert "NC" in real_and_simulated
    for group, (real, simulated) in real_and_simulated.items():
        assert np.corrcoef(real["mean_z"], simulated["mean_z"])[0, 1] > SMALLEST_R, group
        for what, bound in BOUNDS.items():
            assert simulated[what] == pytest.approx(real[what], **bound), (group, what)


@pytest.mark.parametrize("real_and_simulated", ["asd", "adhd"], indirect=True)
def test_the_groups_differ_in_the_real_direction(real_and_simulated):
    (real_nc, nc), (real_patients, patients) = real_and_simulated.values()
    difference, simulated = real_patients["mean_z"] - real_nc["mean_z"], patients["mean_z"] - nc["mean_z"]
    assert np.corrcoef(difference, simulated)[0, 1] > 0.2


def test_a_default_cohort_already_has_the_real_means(shared_data):
    stack, labels = real_correlations(shared_data, "adhd")
    upper = np.triu_indices(200, 1)
    cohort = demo_cohort("adhd")
    for group in ("NC", "ADHD"):
        real = np.arctanh(np.clip(stack[labels == group][:, *upper], -0.999, 0.999)).mean(axis=0)
        drawn = np.mean([np.arctanh(np.corrcoef(s.series.T)[upper]) for s in cohort.group(group)], axis=0)
        assert np.corrcoef(real, drawn)[0, 1] > SMALLEST_R


THREE = np.array([[1.0, 0.6, -0.3], [0.6, 1.0, 0.2], [-0.3, 0.2, 1.0]])


def three_regions(networks):
    return Atlas(name="three", title="", regions=("a", "b", "c"), labels={"dosenbach": networks})


def correlated_series(n_timepoints, rng):
    return rng.standard_normal((n_timepoints, 3)) @ np.linalg.cholesky(THREE).T


def test_vulnerability_is_half_hub_rank_and_half_default_mode():
    # Positive strengths are 0.6, 0.8 and 0.2: ranks 1/2, 1 and 0.
    v = vulnerability(THREE, three_regions(("default", None, "occipital")))
    np.testing.assert_allclose(v, [0.25 + 0.5, 0.5, 0.0])
    with pytest.raises(InputError, match="3 regions and atlas aal90 has 90"):
        vulnerability(THREE, load_atlas("aal90"))


def test_fading_a_matrix_by_hand():
    # a = 0.5 · (1, 0.5, 0) = (0.5, 0.25, 0)
    faded = fade_connectivity(THREE, np.array([1.0, 0.5, 0.0]), 0.5)
    ab, ac, bc = 0.6 * np.sqrt(0.5 * 0.75), -0.3 * np.sqrt(0.5), 0.2 * np.sqrt(0.75)
    np.testing.assert_allclose(faded, [[1, ab, ac], [ab, 1, bc], [ac, bc, 1]], atol=1e-15)
    v = np.array([1.0, 0.5, 0.1])
    np.testing.assert_array_equal(fade_connectivity(THREE, v, 0), THREE)


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
    np.testing.assert_array_equal(fade_series(series, np.array([1.0, 0.5, 0.1]), 0, seed=1), series)


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
    drawn = {group: [_draw_severity(group, seed=seed) for seed in range(200)] for group in SEVERITY}
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
    severity = _draw_severity("MCI", seed=0)
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
    with pytest.raises(InputError, match="no group 'ASD'"):
        _draw_severity("ASD", seed=0)
