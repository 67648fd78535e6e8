"""A card as tables and sentences, by hand."""

import numpy as np
import pytest

from biobgt.training.card_views import (
    PAPER,
    calibration_words,
    chance_level,
    evaluation_table,
    group_curves,
    observed_share,
    results_points,
    results_table,
    share_below,
)

METRICS = ("accuracy", "auc", "f1", "sensitivity", "specificity", "brier", "ece")


def measured(value, low=None, high=None):
    return {metric: {"value": value, "low": low, "high": high} for metric in METRICS}


@pytest.fixture
def card():
    return {
        "results": {"BioBGT": measured(0.7, 0.6, 0.8), "ridge": measured(0.65)},
        "paper": {"accuracy": "74.00 ± 2.01", "auc": "73.33"},
        "evaluation": [
            {"protocol": "10 splits", "model": "BioBGT", "splits": 10, "auc": {"mean": 0.7, "sd": None}},
        ],
        "data": {"subjects": {"NC": 30, "ASD": 10}},
    }


def test_points_stand_beside_linear_models_and_the_paper(card) -> None:
    points = results_points(card).set_index(["metric", "model"])
    assert points.loc[("auc", "BioBGT"), ["value", "low", "high"]].tolist() == [0.7, 0.6, 0.8]
    assert np.isnan(points.loc[("auc", "ridge"), "low"])
    assert points.loc[("accuracy", PAPER), "low"] == pytest.approx(0.7199)
    assert np.isnan(points.loc[("auc", PAPER), "high"])
    assert results_points(card | {"paper": None})["model"].tolist() == ["BioBGT", "ridge"] * 2


def test_tables_say_what_is_known(card) -> None:
    table = results_table(card).set_index("Model")
    assert table.loc["BioBGT", "AUC"] == "0.700 [0.600, 0.800]"
    assert table.loc["ridge", "AUC"] == "0.650"
    assert table.loc[PAPER, ["Accuracy", "F1"]].tolist() == ["74.00 ± 2.01 %", "–"]
    row = evaluation_table(card).iloc[0]
    assert (row["AUC"], row["Accuracy"], row["Splits"]) == ("0.700", "–", 10)
    assert evaluation_table(card | {"evaluation": []}).empty
    assert chance_level(card) == {"auc": 0.5, "accuracy": 0.75}


def test_words_of_calibration(card) -> None:
    said = calibration_words(card)
    assert "differ by 70 percentage points" in said
    assert "AUC 0.70 (95 % interval 0.60 to 0.80)" in said


def test_probability_is_set_beside_what_became_of_others() -> None:
    p = np.array([0.62, 0.65, 0.68, 0.66, 0.1])
    labels = np.array([1, 1, 1, 0, 0])
    said = observed_share(labels, np.column_stack([1 - p, p]), ("NC", "ASD"), 0.64, "ASD")
    assert "a probability of 64%" in said
    assert "Of 4 training subjects whom it gave 60% to 70%" in said
    assert "75% were ASD" in said
    assert "95 % interval 30% to 95%" in said  # Wilson, 3 of 4
    nobody = observed_share(labels, np.column_stack([1 - p, p]), ("NC", "ASD"), 0.95, "ASD")
    assert "No training subject was given one like it" in nobody
    assert share_below(labels, p, ("NC", "ASD"), 0.64) == "50% of NC, 33% of ASD lie below."


def test_three_groups_have_a_curve_each() -> None:
    probabilities = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7], [0.5, 0.3, 0.2]])
    labels = np.array([0, 1, 2, 0])
    curves = group_curves(labels, probabilities, ("NC", "MCI", "AD"))
    assert list(curves) == ["NC against the others", "MCI against the others", "AD against the others"]
    assert all(curve["true_positive_rate"].max() == 1 for curve in curves.values())
    assert list(group_curves(labels[:2], probabilities[:2, :2] + 0.05, ("NC", "AD"))) == ["AD against NC"]
