"""The demo cohorts: deterministic, marked simulated, and made of nobody's data."""

import numpy as np
import pytest

from biobgt.base.errors import InputError
from biobgt.base.files import asset
from biobgt.data.simulate import DEMO_COHORTS, _draw_factor, demo_cohort, draw_series, load_parameters

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


def connectome_of(parameters, group, rng):
    """The true connectome of the subject that the same state of the generator draws series of."""
    factor = _draw_factor(parameters, group, rng)
    return factor @ factor.T


def test_the_progression_is_called_invented():
    cohort = demo_cohort("ad", n_per_group=3)
    assert "invented progression, not measured on patients" in cohort.notes[1]
    severity = {subject.id: subject.phenotypes["simulated severity"] for subject in cohort}
    assert severity["sim-NC-001"] == 0
    assert severity["sim-AD-001"] > 0


@every_cohort
def test_the_same_seed_gives_the_same_subjects_however_many(name):
    few, many = demo_cohort(name, n_per_group=1, seed=5), demo_cohort(name, n_per_group=3, seed=5)
    for subject in few:
        np.testing.assert_array_equal(subject.series, many[subject.id].series)


def test_seeds_subjects_groups_and_cohorts_differ():
    cohorts = [demo_cohort("asd", n_per_group=2, seed=seed) for seed in (0, 1)] + [demo_cohort("adhd", n_per_group=2)]
    starts = [subject.series[:5, :5].tobytes() for cohort in cohorts for subject in cohort]
    assert len(set(starts)) == len(starts) == 12


@every_cohort
def test_a_drawn_connectome_is_a_correlation_matrix(name, rng):
    parameters = load_parameters(name)
    connectome = connectome_of(parameters, "NC", rng)
    np.testing.assert_allclose(connectome, connectome.T)
    np.testing.assert_allclose(np.diag(connectome), 1)
    assert np.linalg.eigvalsh(connectome).min() > -1e-10
    assert np.linalg.matrix_rank(connectome) == min(parameters.individual_dof, parameters.n_regions)


def test_series_are_a_sample_of_the_connectome_drawn_from_the_same_state():
    parameters = load_parameters("ad")
    series = draw_series(parameters, "NC", np.random.default_rng(2))
    connectome = connectome_of(parameters, "NC", np.random.default_rng(2))
    other = connectome_of(parameters, "NC", np.random.default_rng(3))
    upper = np.triu_indices(90, 1)
    measured = np.corrcoef(series.T)[upper]
    own_fit = np.corrcoef(measured, connectome[upper])[0, 1]
    assert own_fit > 0.8
    assert own_fit > np.corrcoef(measured, other[upper])[0, 1] + 0.2


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
    n_groups = 1 if name == "ad" else 2
    n_connections = ATLAS[name][1] * (ATLAS[name][1] - 1) // 2
    with np.load(asset("demo", f"{name}.npz"), allow_pickle=False) as stored:
        shapes = {key: stored[key].shape for key in stored.files}
        assert stored["components"].shape[0] * 5 < stored["n_subjects"].sum()
    assert shapes == {
        "groups": (n_groups,),
        "n_subjects": (n_groups,),
        "mean_z": (n_groups, n_connections),
        "components": (16, n_connections),
        "individual_dof": (),
        "spectrum": (65,),
        "n_timepoints": (),
        "tr": (),
    }


def test_the_parameters_are_small():
    assert {path.name for path in asset("demo").glob("*.npz")} == {"asd.npz", "adhd.npz", "ad.npz"}
    assert sum(path.stat().st_size for path in asset("demo").iterdir() if path.is_file()) < 3e6


def test_saved_parameters_are_read_back(tmp_path, monkeypatch):
    parameters = load_parameters("ad")
    parameters.save(tmp_path / "again.npz")
    monkeypatch.setattr("biobgt.data.simulate.asset", lambda *parts: tmp_path / parts[-1])
    again = load_parameters("again")
    assert (again.groups, again.n_subjects, again.tr) == (("NC",), (462,), 2.0)
    np.testing.assert_array_equal(again.components, parameters.components)
    np.testing.assert_array_equal(again.mean_z, parameters.mean_z)


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
