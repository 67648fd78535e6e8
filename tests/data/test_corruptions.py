"""Worse recordings: they do what they say, the same for the same seed, and the stronger the worse."""

import numpy as np
import pytest

from biobgt.base.errors import InputError
from biobgt.data.cohort import Subject
from biobgt.data.corruptions import CORRUPTIONS, PURE, SPIKE_SD, SPIKES, WORSENINGS, add_noise, corrupt


@pytest.fixture
def subject(rng) -> Subject:
    series = 7 + 3 * (rng.standard_normal((2000, 12)) + rng.standard_normal((2000, 1)))
    series[:, 5] = 0
    return Subject("s", series=series)


@pytest.mark.parametrize(("sd", "left"), [(0.0, 1.0), (1.0, 0.5), (2.0, 0.2)])
def test_it_divides_correlations_by_one_plus_its_variance(subject: Subject, sd: float, left: float) -> None:
    heard = np.delete(np.arange(12), 5)
    before, after = (np.corrcoef(one.series[:, heard].T) for one in (subject, add_noise(subject, sd, seed=0)))
    pairs = np.triu_indices(len(heard), 1)
    np.testing.assert_allclose(after[pairs], left * before[pairs], atol=1e-12 if sd == 0 else 0.08)


def test_noise_is_decided_by_its_seed_and_leaves_the_length_and_silence(subject: Subject) -> None:
    noisy, pure = add_noise(subject, 1.0, seed=0), add_noise(subject, PURE, seed=0)
    assert noisy.silent_regions == (5,)
    assert noisy.simulated
    assert not add_noise(subject, 0.0, seed=0).simulated
    np.testing.assert_array_equal(noisy.series, add_noise(subject, 1.0, seed=0).series)
    assert not np.allclose(noisy.series, add_noise(subject, 1.0, seed=1).series)
    assert pure.series.shape == subject.series.shape
    assert np.abs(np.corrcoef(np.delete(pure.series, 5, axis=1).T)[np.triu_indices(11, 1)]).max() < 0.1
    with pytest.raises(InputError, match="added only to region series"):
        add_noise(Subject("m", connectivity=np.eye(4)), 1.0, seed=0)
    with pytest.raises(InputError, match="SD of the noise is -1"):
        add_noise(subject, -1, seed=0)


@pytest.mark.parametrize("kind", CORRUPTIONS)
def test_a_corruption_is_the_same_for_the_same_seed_and_leaves_silence(subject: Subject, kind: str) -> None:
    worse = corrupt(subject, kind, seed=0)
    assert worse.simulated
    assert 5 in worse.silent_regions
    np.testing.assert_array_equal(worse.series, corrupt(subject, kind, seed=0).series)
    assert kind.startswith("first") or not np.allclose(worse.series, corrupt(subject, kind, seed=1).series)


def test_corruptions_do_what_they_say(subject: Subject) -> None:
    clean = add_noise(subject, 0.0, seed=0).series
    heard = np.delete(np.arange(12), 5)
    np.testing.assert_array_equal(corrupt(subject, "first 60 time points", seed=0).series, clean[:60])
    short = Subject("short", series=subject.series[:60])
    assert corrupt(short, "first 60 time points", seed=0) is None, "nothing to cut"
    spikes = corrupt(subject, "spikes in 3 % of time points", seed=0).series - clean
    jumped = np.flatnonzero(spikes[:, 0])
    assert len(jumped) == round(SPIKES * 2000)
    assert np.abs(spikes[jumped][:, heard]).min() >= SPIKE_SD / 2
    shared = corrupt(subject, "global signal, SD 0.5", seed=0).series - clean
    np.testing.assert_allclose(shared[:, heard], shared[:, [0]] * np.ones(11), atol=1e-12)
    assert shared[:, 0].std() == pytest.approx(0.5)
    drift = corrupt(subject, "linear drift, SD 0.5", seed=0).series - clean
    np.testing.assert_allclose(np.diff(drift, n=2, axis=0), 0, atol=1e-12)
    assert len(corrupt(subject, "10 % of regions without signal", seed=1).silent_regions) in (1, 2)


@pytest.mark.parametrize("kind", WORSENINGS)
def test_a_worsening_keeps_silence_and_is_the_worse_the_stronger(subject: Subject, kind: str) -> None:
    worsening, clean = WORSENINGS[kind], add_noise(subject, 0.0, seed=0).series
    heard = np.delete(np.arange(12), 5)
    likeness = []
    for strength in worsening.strengths:
        worse = worsening.applied(subject, strength, seed=0)
        assert worse.simulated
        assert worse.silent_regions == (5,)
        np.testing.assert_array_equal(worse.series, worsening.applied(subject, strength, seed=0).series)
        n = len(worse.series)
        likeness.append(n / len(clean) * np.corrcoef(worse.series[:, heard].ravel(), clean[:n, heard].ravel())[0, 1])
    assert sorted(likeness, reverse=True) == likeness
    assert likeness[0] < 1


def test_worsenings_take_away_the_share_that_they_say(subject: Subject) -> None:
    clean = add_noise(subject, 0.0, seed=0).series
    np.testing.assert_array_equal(WORSENINGS["short"].applied(subject, 0.4, seed=0).series, clean[:1200])
    slow = WORSENINGS["filter"].applied(subject, 0.4, seed=0).series
    assert np.square(slow).sum() / np.square(clean).sum() == pytest.approx(0.6, abs=0.01)
    spectra = [np.square(np.abs(np.fft.rfft(one, axis=0))).sum(axis=1) for one in (clean, slow)]
    left = np.flatnonzero(spectra[1] > 1e-6 * spectra[0].max())
    np.testing.assert_allclose(spectra[1][left], spectra[0][left], rtol=1e-6)
    assert left.max() + 1 == len(left) + left.min(), "the slowest are left, whole"
    few = Subject("few", series=subject.series[:12])
    assert WORSENINGS["short"].applied(few, 0.8, seed=0).n_timepoints == 10
