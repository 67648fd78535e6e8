"""What a card says in words: its first line, its limits, its README with the header of hubs, and no markup."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from markdown_it import MarkdownIt
from planted_model import PRESET

from biobgt.base.files import read_csv
from biobgt.data.cohort import Cohort
from biobgt.model.benchmark.linear import BASELINES
from biobgt.model.pretrained import CARD, is_doubtful, load_card, load_groups, pretrained_folder
from biobgt.training.card_text import card_readme, headline, limits
from biobgt.training.group_results import write_tests

CARDS = sorted(pretrained_folder().rglob(CARD))


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
    shown = MarkdownIt("commonmark").enable("table").render(card_readme(card))
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


def test_paired_differences_keep_the_names_of_linear_models(folder: Path) -> None:
    one = {"difference": -0.012, "low": -0.027, "high": 0.004}
    paired = {"ridge on log-Euclidean connectivity": one, "other": dict.fromkeys(one)}
    said = card_readme(load_card(folder) | {"paired": paired})
    assert "overlap: ridge on log-Euclidean connectivity −0.012 [−0.027, +0.004].\n" in said
    assert "overlap" not in card_readme(load_card(folder) | {"paired": {}})


def header_of(text: str) -> tuple[Any, str]:
    _, header, words = text.split("---\n", 2)
    return yaml.safe_load(header), words


@pytest.mark.parametrize("path", CARDS, ids=lambda path: path.parent.relative_to(pretrained_folder()).as_posix())
def test_readme_is_made_of_its_card(path: Path) -> None:
    card = json.loads(path.read_text(encoding="utf-8"))
    text = (path.parent / "README.md").read_text(encoding="utf-8")
    assert text == card_readme(card), f"Run: biobgt card --model {path.parent} --words-only"
    header, words = header_of(text)
    assert words.startswith("# ")
    assert header["library_name"] == "biobgt"
    assert header["license"] == "other"  # the data's terms bind the weights
    assert ("simulated-data" in header["tags"]) == card["simulated"]
    assert ("model-index" in header) == ("results" in card)
    if "results" in card:
        (index,) = header["model-index"]
        (result,) = index["results"]
        assert index["name"] == card["name"]
        assert result["dataset"]["type"] == card["data"]["cohort"]
        found = {one["type"]: one["value"] for one in result["metrics"]}
        assert found["roc_auc"] == pytest.approx(card["results"]["BioBGT"]["auc"]["value"], abs=5e-4)
        assert found["accuracy"] == pytest.approx(card["results"]["BioBGT"]["accuracy"]["value"], abs=5e-4)


def test_a_name_that_yaml_would_misread_stays_a_name_on_one_line(folder: Path) -> None:
    card = load_card(folder)
    card |= {"name": "no: [model]\n---", "data": card["data"] | {"title": "#1 & more"}}
    header, _ = header_of(card_readme(card))
    assert header["model-index"][0]["name"] == "no: [model] ---"
    assert header["model-index"][0]["results"][0]["dataset"]["name"] == "#1 & more"
