"""Temperature scaling: finds a known temperature, survives extremes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from biobgt.base.errors import InputError
from biobgt.training.metrics import (
    NO_OPINION,
    TEMPERATURES,
    calibrated,
    calibration_error,
    fit_temperature,
    fold_temperatures,
)


def _drawn(n: int, n_groups: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Logits of a perfectly calibrated model, and groups drawn from its probabilities."""
    rng = np.random.default_rng(seed)
    logits = rng.standard_normal((n, n_groups)) * 1.5
    truth = np.array([rng.choice(n_groups, p=row) for row in softmax(logits, axis=1)])
    return logits, truth


@pytest.mark.parametrize("n_groups", [2, 3])
@pytest.mark.parametrize("temperature", [0.4, 1.0, 3.0])
def test_a_known_temperature_is_found(n_groups: int, temperature: float) -> None:
    logits, truth = _drawn(4000, n_groups, seed=1)
    found = fit_temperature(logits * temperature, truth)
    assert found == pytest.approx(temperature, rel=0.1)
    before = calibration_error(truth, calibrated(logits * temperature, 1.0))
    after = calibration_error(truth, calibrated(logits * temperature, found))
    assert after < 0.03
    assert temperature == 1.0 or before > 2 * after


def test_two_subjects_by_hand() -> None:
    # Logit differences of 2, three right and one wrong: p = 3/4, so 2 / T = log 3.
    logits = np.array([[0.0, 2.0]] * 4)
    assert fit_temperature(logits, [1, 1, 1, 0]) == pytest.approx(2 / np.log(3), rel=1e-4)
    np.testing.assert_allclose(calibrated(logits[:1], 2 / np.log(3)), [[0.25, 0.75]])


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 1000), st.floats(0.05, 20))
def test_no_other_temperature_is_likelier(seed: int, other: float) -> None:
    logits, truth = _drawn(60, 3, seed=seed)
    rows = np.arange(60)
    best = np.log(calibrated(logits, fit_temperature(logits, truth))[rows, truth]).mean()
    assert best >= np.log(calibrated(logits, other)[rows, truth]).mean() - 1e-9


def test_extremes_stay_within_bounds() -> None:
    right = np.array([[0.5, 0.0], [0.0, 0.5]])
    assert TEMPERATURES[0] <= fit_temperature(right, [0, 1]) < 0.1
    assert 19 < fit_temperature(right, [1, 0]) <= TEMPERATURES[1]
    assert fit_temperature(np.zeros((3, 2)), [0, 1, 1]) == 1.0
    huge = np.array([[1e4, -1e4], [-1e4, 1e4]])
    assert np.isfinite(calibrated(huge, fit_temperature(huge, [0, 1]))).all()


def test_a_folds_temperature_is_of_the_other_folds_subjects() -> None:
    logits, truth = _drawn(3000, 2, seed=3)
    test = [np.arange(i, 3000, 3) for i in range(3)]
    logits[test[0]] *= 4.0  # the first fold's member is four times too sure
    temperatures, shared = fold_temperatures(logits, test, truth)
    assert temperatures[0] == pytest.approx(1.0, rel=0.1)
    for fold, rows in enumerate(test):
        others = np.setdiff1d(np.arange(3000), rows)
        assert temperatures[fold] == pytest.approx(fit_temperature(logits[others], truth[others]))
        changed = truth.copy()
        changed[rows] = 1 - truth[rows]
        assert fold_temperatures(logits, test, changed)[0][fold] == temperatures[fold]
    assert temperatures[0] < shared < temperatures[1]


def test_luck_is_no_opinion() -> None:
    """At chance nearly all folds get no opinion, though a likelier temperature is always found somewhere."""
    rng = np.random.default_rng(0)
    test = [np.arange(i, 200, 10) for i in range(10)]
    believed, likelier = [], []
    for _ in range(20):
        logits = rng.normal(scale=0.5, size=(200, 2))
        truth = rng.permutation(np.arange(200) % 2)
        temperatures, shared = fold_temperatures(logits, test, truth)
        believed += [temperature != NO_OPINION for temperature in (*temperatures.ravel(), shared)]
        likelier += [fit_temperature(np.delete(logits, rows, axis=0), np.delete(truth, rows)) < 10 for rows in test]
    assert np.mean(believed) < 0.15
    assert np.mean(likelier) > 0.3


REFUSED = {"shape": ([1, 2], [0, 1]), "finite": ([[np.nan, 1]], [0])}
REFUSED |= {"columns": ([[0, 1]], [2]), "as many": ([[0, 1]], [0, 1])}


@pytest.mark.parametrize("word", REFUSED)
def test_what_no_temperature_can_be_fitted_to(word):
    with pytest.raises(InputError, match=word):
        fit_temperature(*REFUSED[word])
    with pytest.raises(InputError, match="above 0"):
        calibrated([[0.0, 1.0]], 0.0)
