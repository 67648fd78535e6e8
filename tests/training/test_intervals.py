"""Intervals of metrics, and two models compared: by hand, against the binomial and scipy's t-test."""

import numpy as np
import pytest
from scipy.stats import ttest_rel

from biobgt.base.errors import InputError
from biobgt.training.metrics import Interval, bootstrap_intervals, paired_difference


def _accuracy(truth: np.ndarray, p: np.ndarray) -> dict[str, float]:
    return {"accuracy": float((p.argmax(axis=1) == truth).mean())}


def _interval(truth: np.ndarray, p: np.ndarray, **options: object) -> Interval:
    return bootstrap_intervals(_accuracy, truth, p, **options)["accuracy"]


def test_bootstrap_interval_of_accuracy_is_the_binomial_one() -> None:
    truth = np.repeat([0, 1], 200)
    right = np.tile([1, 1, 1, 0], 100)  # 75 % right in both groups
    p = np.eye(2)[np.where(right, truth, 1 - truth)]
    interval = _interval(truth, p, seed=1)
    half = 1.96 * np.sqrt(0.75 * 0.25 / 400)
    assert interval.value == 0.75
    assert interval.low == pytest.approx(0.75 - half, abs=0.008)
    assert interval.high == pytest.approx(0.75 + half, abs=0.008)
    assert interval == _interval(truth, p, seed=1)


def test_bootstrap_keeps_the_groups_and_the_persons() -> None:
    truth, p = np.repeat([0, 1], 20), np.random.default_rng(0).dirichlet([1, 1], 40)
    shares: list[float] = []

    def share(labels: np.ndarray, _: np.ndarray) -> dict[str, float]:
        shares.append(float(labels.mean()))
        return {"share": shares[-1]}

    bootstrap_intervals(share, truth, p, draws=50)
    assert set(shares) == {0.5}
    # Every person copied four times tells no more than once.
    once = _interval(truth, p, draws=1500)
    names = [f"person {i}" for i in range(40)] * 4
    copied = _interval(np.tile(truth, 4), np.tile(p, (4, 1)), subjects=names, draws=1500)
    torn = _interval(np.tile(truth, 4), np.tile(p, (4, 1)), draws=1500)
    width = once.high - once.low
    assert copied.high - copied.low == pytest.approx(width, rel=0.2)
    assert torn.high - torn.low < 0.7 * width


def test_paired_difference_by_hand() -> None:
    result = paired_difference([0.8, 0.7, 0.9], [0.7, 0.7, 0.7], test_train_ratio=1 / 6)
    # differences 0.1, 0, 0.2: mean 0.1, variance 0.01, standard error √((1/3 + 1/6) · 0.01)
    error = np.sqrt(0.5 * 0.01)
    assert result["mean"] == pytest.approx(0.1)
    assert result["n"] == 3
    assert result["t"] == pytest.approx(0.1 / error)
    assert result["p"] == pytest.approx(1 - (0.1 / error) / np.sqrt(2 + (0.1 / error) ** 2))  # t with 2 degrees
    assert result["corrected_high"] - 0.1 == pytest.approx(4.302653 * error, rel=1e-5)
    assert -1e-12 <= result["low"] < 0.1 < result["high"] <= 0.2 + 1e-12


def test_without_overlap_it_is_the_paired_t_test() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 10))
    result = paired_difference(a, b, test_train_ratio=0.0)
    expected = ttest_rel(a, b)
    assert result["t"] == pytest.approx(expected.statistic)
    assert result["p"] == pytest.approx(expected.pvalue)
    assert paired_difference(a, b)["p"] > result["p"] or abs(result["t"]) < 1e-9
    swapped = paired_difference(b, a)
    assert swapped["mean"] == pytest.approx(-result["mean"])
    with_gap = paired_difference([*a, np.nan], [*b, 1.0], test_train_ratio=0.0)
    assert with_gap["n"] == 10
    assert with_gap["t"] == pytest.approx(result["t"])


def test_paired_difference_where_nothing_can_be_told() -> None:
    same = paired_difference([0.7, 0.8], [0.7, 0.8])
    assert same["mean"] == 0
    assert np.isnan(same["p"])
    assert np.isnan(paired_difference([0.7], [0.6])["low"])
    assert np.isnan(paired_difference([], [])["mean"])
    with pytest.raises(InputError, match="one length"):
        paired_difference([0.7], [0.6, 0.5])
