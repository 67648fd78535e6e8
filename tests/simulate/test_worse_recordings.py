"""Noise and other corruptions of a subject's own series: as strong as asked, the same for the same seed."""

import numpy as np
import pytest

from biobgt.base.errors import InputError
from biobgt.data.cohort import Subject
from biobgt.data.simulate import CORRUPTIONS, PURE, SPIKE_SD, SPIKES, add_noise, corrupt


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


def test_pure_noise_keeps_nothing_but_the_length(subject: Subject) -> None:
    pure = add_noise(subject, PURE, seed=0)
    assert pure.series.shape == subject.series.shape
    assert np.abs(np.corrcoef(np.delete(pure.series, 5, axis=1).T)[np.triu_indices(11, 1)]).max() < 0.1


def test_what_stays(subject: Subject) -> None:
    noisy = add_noise(subject, 1.0, seed=0)
    assert noisy.silent_regions == (5,)
    assert noisy.simulated
    assert not add_noise(subject, 0.0, seed=0).simulated
    np.testing.assert_array_equal(noisy.series, add_noise(subject, 1.0, seed=0).series)
    assert not np.allclose(noisy.series, add_noise(subject, 1.0, seed=1).series)


def test_refusals(subject: Subject) -> None:
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
