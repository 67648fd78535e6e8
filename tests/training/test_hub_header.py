"""READMEs of the shipped models say what their cards say, with the header that model hubs read."""

import json
from pathlib import Path

import pytest
import yaml

from biobgt.model.pretrained import CARD, pretrained_folder
from biobgt.training.card_text import hub_header
from biobgt.training.cards import card_readme

CARDS = sorted(pretrained_folder().rglob(CARD))


def header_of(text):
    _, header, words = text.split("---\n", 2)
    return yaml.safe_load(header), words


@pytest.mark.parametrize("path", CARDS, ids=lambda path: path.parent.relative_to(pretrained_folder()).as_posix())
def test_readme_is_made_of_its_card(path: Path):
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


def test_a_name_that_yaml_would_misread_stays_a_name_on_one_line():
    card = {
        "name": "no: [model]\n---",
        "simulated": False,
        "data": {"cohort": "folder", "title": "#1 & more"},
        "results": {"BioBGT": {"auc": {"value": 0.5}, "accuracy": {"value": None}}},
    }
    header = yaml.safe_load(hub_header(card).removeprefix("---\n").rpartition("---\n")[0])
    assert header["model-index"][0]["name"] == "no: [model] ---"
    assert header["model-index"][0]["results"][0]["dataset"]["name"] == "#1 & more"
    assert header["metrics"] == ["roc_auc"]
