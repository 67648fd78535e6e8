"""A card as tables and sentences, by hand."""

import numpy as np
import pytest

from biobgt.model.benchmark.linear import BASELINES
from biobgt.training.card_tables import (
    PAPER,
    chance_level,
    evaluation_table,
    group_curves,
    results_points,
    results_table,
)
from biobgt.training.card_text import (
    calibration_words,
    evaluation_words,
    members_words,
    metrics_words,
    observed_share,
    paper_note,
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
            {"protocol": "random", "model": "best", "splits": 10, "auc": {"mean": 0.7, "sd": 0.05}},
            {"protocol": "official", "model": "linear log", "splits": 1, "auc": {"mean": 0.6, "sd": None}},
        ],
        "data": {"subjects": {"NC": 30, "ASD": 10}},
        "groups": ["NC", "ASD"],
        "simulated": False,
        "temperatures": [1.0, 1.0, 1.0],
    }


def test_points_stand_beside_linear_models_and_the_paper(card) -> None:
    points = results_points(card).set_index(["metric", "model"])
    assert points.loc[("auc", "BioBGT"), ["value", "low", "high"]].tolist() == [0.7, 0.6, 0.8]
    assert np.isnan(points.loc[("auc", "ridge"), "low"])
    assert points.loc[("accuracy", PAPER), "low"] == pytest.approx(0.7199)
    assert np.isnan(points.loc[("auc", PAPER), "high"])
    assert "not directly comparable" in paper_note(card)
    for other in (card | {"paper": None}, card | {"simulated": True}):  # nothing compares with simulated patients
        assert results_points(other)["model"].tolist() == ["BioBGT", "ridge"] * 2
        assert results_table(other)["Model"].tolist() == ["BioBGT", "ridge"]
        assert paper_note(other) == ""


def test_tables_say_what_is_known(card) -> None:
    table = results_table(card).set_index("Model")
    assert table.loc["BioBGT", "AUC"] == "0.700 [0.60,\u00a00.80]"
    assert table.loc["ridge", "AUC"] == "0.650"
    assert table.loc[PAPER, ["Accuracy", "AUC", "F1"]].tolist() == ["0.740 ±\u00a00.020", "0.733", "–"]
    assert chance_level(card) == {"auc": 0.5, "accuracy": 0.75}


def test_evaluation_is_named_in_words_and_its_caption_speaks_of_what_is_there(card) -> None:
    table = evaluation_table(card)
    assert table[["Split", "Model", "AUC", "Accuracy"]].to_numpy().tolist() == [
        ["10 random 80/10/10 splits", "BioBGT", "0.700 ±\u00a00.050", "–"],
        ["the cohort's own split", "ridge on log-Euclidean connectivity", "0.600", "–"],
    ]
    said = evaluation_words(card)
    assert "A random split trains on 80 %" in said
    assert "own split" in said
    assert "site" not in said
    assert "no SD" in evaluation_words(card | {"evaluation": card["evaluation"][1:]})
    sites = {"protocol": "sites", "model": "paper-abide", "splits": 19}
    assert evaluation_table(card | {"evaluation": [sites]}).iloc[0, :2].tolist() == [
        "one site left out, for each of 19 sites",
        "BioBGT as published",
    ]
    assert "trained on no subject of that site" in evaluation_words(card | {"evaluation": [sites]})
    assert evaluation_table(card | {"evaluation": []}).empty


def test_linear_models_have_the_names_of_the_baselines() -> None:
    names = ["paper-abide, stopped early", *(f"linear {key}" for key in BASELINES)]
    rows = [{"protocol": "random", "model": name, "splits": 1} for name in names]
    shown = evaluation_table({"evaluation": rows})["Model"].tolist()
    assert shown == ["BioBGT as published, stopped early", *(baseline.title for baseline in BASELINES.values())]
    assert "ridge on log-Euclidean connectivity" in shown


def test_metrics_and_members_are_explained_for_the_groups_at_hand(card) -> None:
    two, three = metrics_words(card), metrics_words(card | {"groups": ["NC", "MCI", "AD"]})
    assert "share of ASD called ASD" in two
    assert "0.25 for always predicting 50 %" in two
    assert "mean over the 3 groups" in three
    assert "summed over groups (0.67" in three  # (1 − 1/3)² + 2 (1/3)²
    assert "most probable group" in three
    assert "The model is an ensemble of 3 members" in members_words(card)


def test_words_of_calibration(card) -> None:
    said = calibration_words(card)
    assert "differ by 70 percentage points" in said
    assert "AUC 0.70 (95 % interval 0.60 to 0.80)" in said
    assert "chance" not in said.split(". AUC")[0]
    own = card["results"]["BioBGT"]
    by_chance = card | {"results": {"BioBGT": own | {"ece": own["ece"] | {"by_chance": 0.04}}}}
    assert "on average (4 would be expected by chance in so many subjects)" in calibration_words(by_chance)


def test_probability_is_set_beside_what_became_of_others() -> None:
    p = np.array([0.62, 0.65, 0.68, 0.66, 0.1])
    labels = np.array([1, 1, 1, 0, 0])
    said = observed_share(labels, np.column_stack([1 - p, p]), ("NC", "ASD"), 0.64, "ASD")
    assert "a probability of 64 %, from the mean log-odds of all members" in said
    assert "Of 4 held-out subjects to whom a single member gave 60 % to 70 %" in said
    assert "75 % were ASD" in said
    assert "95 % interval 30 % to 95 %" in said  # Wilson, 3 of 4
    nobody = observed_share(labels, np.column_stack([1 - p, p]), ("NC", "ASD"), 0.95, "ASD")
    assert "No held-out subject got a similar probability" in nobody
    assert share_below(labels, p, ("NC", "ASD"), 0.64) == "50 % of NC, 33 % of ASD lie below."


def test_three_groups_have_a_curve_each() -> None:
    probabilities = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7], [0.5, 0.3, 0.2]])
    labels = np.array([0, 1, 2, 0])
    curves = group_curves(labels, probabilities, ("NC", "MCI", "AD"))
    assert list(curves) == ["NC against the others", "MCI against the others", "AD against the others"]
    assert all(curve["true_positive_rate"].max() == 1 for curve in curves.values())
    assert list(group_curves(labels[:2], probabilities[:2, :2] + 0.05, ("NC", "AD"))) == ["AD against NC"]
