"""How good a classification is, and how sure one can be of it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_rel
from sklearn import metrics as oracle

from biobgt.base.errors import InputError
from biobgt.training.metrics import (
    METRICS,
    Interval,
    bootstrap_intervals,
    calibration_error,
    calibration_error_by_chance,
    classification_metrics,
    paired_difference,
    reliability_curve,
    roc_points,
)

TWO = ("NC", "ASD")
THREE = ("NC", "MCI", "AD")


def _drawn(n: int, n_groups: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(n) % n_groups)
    scores = rng.standard_normal((n, n_groups)) + 0.8 * np.eye(n_groups)[truth]
    weights = np.exp(scores)
    return truth, weights / weights.sum(axis=1, keepdims=True)


def test_six_subjects_by_hand() -> None:
    p = np.array([0.1, 0.4, 0.6, 0.3, 0.8, 0.9])
    result = classification_metrics([0, 0, 0, 1, 1, 1], np.column_stack([1 - p, p]), TWO)
    assert tuple(result) == METRICS
    assert result["accuracy"] == pytest.approx(4 / 6)
    assert result["auc"] == pytest.approx(7 / 9)  # 0.3 is beaten by 0.4 and 0.6
    assert result["sensitivity"] == pytest.approx(2 / 3)
    assert result["specificity"] == pytest.approx(2 / 3)
    assert result["f1"] == pytest.approx(2 / 3)
    assert result["brier"] == pytest.approx((0.01 + 0.16 + 0.36 + 0.49 + 0.04 + 0.01) / 6)
    assert result["ece"] == pytest.approx((0.1 + 0.4 + 0.6 + 0.7 + 0.2 + 0.1) / 6)  # each in a bin of its own


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("groups", [TWO, THREE], ids=["two", "three"])
def test_metrics_agree_with_scikit_learn(groups: tuple[str, ...], seed: int) -> None:
    truth, p = _drawn(90, len(groups), seed)
    predicted, two = p.argmax(axis=1), groups == TWO
    average, claimed = {"average": "binary" if two else "macro"}, p[:, 1] if two else p
    confusion = oracle.multilabel_confusion_matrix(truth, predicted)[1 if two else 0 :]
    result = classification_metrics(truth, p, groups)
    assert result["accuracy"] == pytest.approx(oracle.accuracy_score(truth, predicted))
    assert result["auc"] == pytest.approx(oracle.roc_auc_score(truth, claimed, multi_class="ovr"))
    assert result["f1"] == pytest.approx(oracle.f1_score(truth, predicted, **average))
    assert result["sensitivity"] == pytest.approx(oracle.recall_score(truth, predicted, **average))
    assert result["specificity"] == pytest.approx(np.mean([c[0, 0] / c[0].sum() for c in confusion]))
    assert result["brier"] == pytest.approx(oracle.brier_score_loss(truth, claimed, labels=range(len(groups))))
    happened, sure = (truth == 1, p[:, 1]) if two else (predicted == truth, p.max(axis=1))
    bins = np.ceil(sure * 10)
    slow = sum(abs(happened[bins == b].mean() - sure[bins == b].mean()) * (bins == b).sum() for b in set(bins)) / 90
    assert result["ece"] == pytest.approx(slow)


def test_names_and_columns_are_the_same_truth() -> None:
    truth, p = _drawn(30, 3, 0)
    named = classification_metrics([THREE[k] for k in truth], p, THREE)
    assert named == classification_metrics(truth, p, THREE)


def test_one_group_alone_leaves_nan_and_no_error() -> None:
    p = np.array([[0.8, 0.2], [0.4, 0.6]])
    result = classification_metrics([0, 0], p, TWO)
    assert np.isnan(result["auc"])
    assert np.isnan(result["sensitivity"])
    assert result["specificity"] == 0.5
    assert result["accuracy"] == 0.5
    three = classification_metrics([0, 1], [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]], THREE)
    assert np.isnan(three["sensitivity"])  # of AD nothing is known
    assert three["accuracy"] == 1.0
    assert all(np.isnan(value) for value in classification_metrics([], np.empty((0, 2)), TWO).values())


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4), st.integers(4, 40))
def test_metrics_stay_in_range_and_do_not_mind_the_order(seed: int, n_groups: int, n: int) -> None:
    truth, p = _drawn(n, n_groups, seed)
    groups = THREE[:2] if n_groups == 2 else tuple("ABCD"[:n_groups])
    result = classification_metrics(truth, p, groups)
    order = np.random.default_rng(seed).permutation(n)
    shuffled = classification_metrics(truth[order], p[order], groups)
    for name, value in result.items():
        assert 0 <= value <= (2 if name == "brier" else 1)
        assert shuffled[name] == pytest.approx(value)


def test_reliability_curve_by_hand() -> None:
    curve = reliability_curve([0, 1, 1, 1, 0], [0.1, 0.2, 0.7, 0.8, 1.0], bins=2)
    assert curve["n"].tolist() == [2, 3]
    np.testing.assert_allclose(curve["predicted"], [0.15, 2.5 / 3])
    np.testing.assert_allclose(curve["observed"], [1 / 2, 2 / 3])
    np.testing.assert_allclose(curve[["low", "high"]], [[0, 0.5], [0.5, 1]])
    assert (curve["observed_low"] < curve["observed"]).all()
    assert (curve["observed_high"] > curve["observed"]).all()
    assert calibration_error([0, 1, 1, 1, 0], [0.1, 0.2, 0.7, 0.8, 1.0], bins=2) == pytest.approx(
        0.4 * 0.35 + 0.6 * (2.5 / 3 - 2 / 3)
    )
    edge = reliability_curve([0, 1], [0.0, 0.5], bins=2)
    assert edge["high"].tolist() == [0.5]  # an edge belongs below
    assert reliability_curve([], [], bins=2).empty


def test_roc_points_enclose_the_auc() -> None:
    truth, p = _drawn(60, 2, 4)
    points = roc_points(truth, p)
    area = np.trapezoid(points["true_positive_rate"], points["false_positive_rate"])
    assert area == pytest.approx(classification_metrics(truth, p, TWO)["auc"])
    assert points.iloc[0, 1:].tolist() == [0, 0]
    assert points.iloc[-1, 1:].tolist() == [1, 1]
    assert roc_points([1, 1], [0.2, 0.4]).empty
    assert roc_points(np.array([True, False]), [0.2, 0.4]).shape == (3, 3)
    with pytest.raises(InputError, match="one group"):
        roc_points([0, 1, 2], np.full((3, 3), 1 / 3))


@pytest.mark.parametrize(
    ("truth", "p", "message"),
    [
        ([0, 1], [[0.5, 0.5]], "as many"),
        ([0], [[0.9, 0.9]], "sum to 1"),
        ([0], [[-1.0, 2.0]], "between 0 and 1"),
        ([2], [[0.5, 0.5]], "one of NC, ASD"),
        (["AD"], [[0.5, 0.5]], "one of NC, ASD"),
        ([0], [[0.5, 0.25, 0.25]], "3 columns"),
    ],
)
def test_bad_input_is_said_in_a_sentence(truth: list[int], p: list[list[float]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        classification_metrics(truth, p, TWO)


def test_chance_alone_makes_a_calibration_error() -> None:
    # Certain predictions cannot miss; a coin is off by E|k/n - 1/2|, about sqrt(1 / (2 pi n)).
    assert calibration_error_by_chance([[1.0, 0.0], [0.0, 1.0]]) == 0.0
    coin = calibration_error_by_chance(np.full((200, 2), 0.5), draws=2000)
    assert coin == pytest.approx(np.sqrt(1 / (2 * np.pi * 200)), rel=0.05)
    three = calibration_error_by_chance(np.tile([0.5, 0.25, 0.25], (200, 1)), draws=2000)
    assert three == pytest.approx(coin, rel=0.05)  # the first group is claimed, with 1/2


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
    assert (result["mean"], result["n"]) == (pytest.approx(0.1), 3)
    assert result["t"] == pytest.approx(0.1 / error)
    assert result["p"] == pytest.approx(1 - (0.1 / error) / np.sqrt(2 + (0.1 / error) ** 2))  # t with 2 degrees
    assert result["corrected_high"] - 0.1 == pytest.approx(4.302653 * error, rel=1e-5)


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
    assert np.isnan(paired_difference([0.7], [0.6])["corrected_low"])
    assert np.isnan(paired_difference([], [])["mean"])
    with pytest.raises(InputError, match="one length"):
        paired_difference([0.7], [0.6, 0.5])
