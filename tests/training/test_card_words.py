"""What a card says in words: its first line, its limits, and names that are no markup."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from markdown_it import MarkdownIt
from planted_model import PRESET

from biobgt.base.files import read_csv
from biobgt.data.cohort import Cohort
from biobgt.model.benchmark.linear import BASELINES
from biobgt.model.pretrained import is_doubtful, load_card, load_groups
from biobgt.training.card_text import headline, limits, paired_words, readme
from biobgt.training.group_results import write_tests


def test_limits_name_what_was_set_and_what_is_off(cohort: Cohort) -> None:
    off = {"value": 0.11, "low": None, "high": None, "by_chance": 0.046}
    said = " ".join(limits(cohort, replace(PRESET, start_contrast=3.0), {"NC": 2.8, "ASD": 3.1}, off))
    assert "attention within modules is 3 times that between" in said
    assert "off by 0.11 on average in held-out subjects, where 0.05 would be chance alone" in said
    plain = " ".join(
        limits(cohort, replace(PRESET, start_contrast=0.0), {"NC": 1.0, "ASD": 1.0}, off | {"value": 0.05})
    )
    assert "set on training subjects" not in plain
    flat = " ".join(limits(cohort, replace(PRESET, start_contrast=3.0), {"NC": 1.06, "ASD": None}, off))
    assert "was to be 3 times that between them, and is 1.06 times in held-out subjects" in flat
    assert "off by" not in plain


@pytest.mark.parametrize(
    ("auc", "low", "simulated", "opening", "ending"),
    [
        (0.80, 0.76, False, "Tells NC / ASD apart better than chance", "; a linear model is worse (0.75)."),
        (0.745, 0.7, False, "Tells NC / ASD apart better than chance", "; a linear model does as well (0.75)."),
        (0.70, 0.66, False, "Tells NC / ASD apart better than chance", "; a linear model is better (0.75)."),
        (0.55, 0.51, False, "Hardly tells NC / ASD apart", "; a linear model is better (0.75)."),
        (0.62, 0.49, False, "At or near chance", "accuracy 0.70)."),
        (0.99, 0.98, True, "Simulated: NC / ASD", "; a linear model is worse (0.75)."),
    ],
)
def test_the_first_line_says_what_it_is_worth(
    auc: float, low: float, simulated: bool, opening: str, ending: str
) -> None:
    measured = {
        "BioBGT": {"auc": {"value": auc, "low": low, "high": 1.0}, "accuracy": {"value": 0.7}},
        BASELINES["tangent"].title: {"auc": {"value": 0.6}},
        BASELINES["log"].title: {"auc": {"value": 0.75}},
    }
    said = headline(measured, {"NC": 462, "ASD": 437}, simulated=simulated)
    assert said.startswith(opening)
    assert said.endswith(ending)
    assert f"AUC {auc:.2f}" in said
    few = headline(measured, {"NC": 300, "ASD": 19}, simulated=simulated)
    assert few.startswith("Simulated" if simulated else "Too few subjects to tell what this model is worth (300 NC, 19")


@pytest.mark.parametrize(
    ("auc", "low", "fewest", "simulated", "doubtful"),
    [
        (0.70, 0.66, 20, False, False),
        (0.65, 0.51, 20, False, False),
        (0.64, 0.60, 20, False, True),
        (0.70, 0.50, 20, False, True),
        (0.70, None, 20, False, True),
        (0.70, 0.66, 19, False, True),
        (0.70, 0.66, 20, True, True),
    ],
)
def test_a_card_is_doubted_for_its_numbers_whatever_its_words(
    auc: float, low: float | None, fewest: int, simulated: bool, doubtful: bool
) -> None:
    card = {
        "headline": "Tells NC / ASD apart" if doubtful else "At or near chance",
        "results": {"BioBGT": {"auc": {"value": auc, "low": low, "high": 0.9}}},
        "data": {"subjects": {"NC": 300, "ASD": fewest}},
        "simulated": simulated,
    }
    assert is_doubtful(card) == doubtful
    network = {"headline": "One network for 3 cohorts", "data": card["data"], "simulated": simulated}
    assert not is_doubtful(network)


@pytest.mark.parametrize(
    ("low", "high", "ending"),
    [(-0.027, 0.004, "; a linear model does as well (0.75)."), (-0.027, -0.001, "; a linear model is better (0.75).")],
)
def test_the_interval_of_the_difference_decides_who_is_better(low: float, high: float, ending: str) -> None:
    title = BASELINES["log"].title
    measured = {
        "BioBGT": {"auc": {"value": 0.73, "low": 0.7, "high": 0.76}, "accuracy": {"value": 0.7}},
        title: {"auc": {"value": 0.75}},
    }
    paired = {title: {"difference": -0.02, "low": low, "high": high}}
    assert headline(measured, {"NC": 462, "ASD": 437}, simulated=False, paired=paired).endswith(ending)


def test_names_of_groups_and_models_are_no_markup_and_no_formulas(folder: Path, tmp_path: Path) -> None:
    card = load_card(folder)
    evil = "=<img src=x>|[a](http://x)`*b*"
    card |= {
        "name": evil,
        "headline": f"Tells {evil} apart",
        "groups": ["NC", evil],
        "attention": {"NC": 1.0, evil: 2.0},
        "data": card["data"] | {"subjects": {"NC": 20, evil: 20}},
        "training": card["training"] | {"command": f"biobgt train --name '{evil}'"},
    }
    shown = MarkdownIt("commonmark").enable("table").render(readme(card))
    assert "<img" not in shown
    assert "<a " not in shown
    assert "<em>" not in shown
    assert shown.count("&lt;img src=x&gt;") == 6
    tests = load_groups(folder).tests.assign(between="=1+1")
    write_tests(tests, tmp_path)
    assert "'=1+1" in (tmp_path / "tests.csv").read_text(encoding="utf-8")
    assert "," + "=1+1" not in (tmp_path / "tests.csv").read_text(encoding="utf-8")
    assert set(read_csv(tmp_path / "tests.csv")["between"]) == {"=1+1"}


def test_tests_are_a_table_one_can_read(folder: Path) -> None:
    table = pd.read_csv(folder / "tests.csv")
    assert {"feature", "p", "q", "covariates", "n_subjects"} <= set(table.columns)
    assert (table["n_subjects"] == 40).all()
    assert (table[["n_NC", "n_ASD"]] == 20).all(axis=None)


def test_paired_differences_keep_the_names_of_linear_models() -> None:
    one = {"difference": -0.012, "low": -0.027, "high": 0.004}
    said = paired_words({"paired": {"ridge on log-Euclidean connectivity": one, "other": dict.fromkeys(one)}})
    assert said.endswith("overlap: ridge on log-Euclidean connectivity −0.012 [−0.027, +0.004].")
    assert paired_words({}) == ""
