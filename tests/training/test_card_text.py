"""A card in words and tables: its first line, its limits, its README, its results, and no markup."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from markdown_it import MarkdownIt
from planted_model import PRESET

from biobgt import Cohort, InputError, Subject
from biobgt.base.files import read_csv
from biobgt.base.wording import NOT_A_DIAGNOSIS
from biobgt.data.atlas import load_atlas, numbered_atlas
from biobgt.figures.models import cohort_reliability, cohort_roc
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.screen.pen import draw_on_screen
from biobgt.figures.which_model import ChosenModelOptions
from biobgt.model.folder import CARD, load_card, pretrained_folder
from biobgt.model.group_results import load_groups
from biobgt.model.pretrained import InstalledModel, installed_model, is_doubtful
from biobgt.model.systems import BASELINES
from biobgt.training.card_text import CardText, observed_share, share_below, with_interval
from biobgt.training.cards import _limits, _write_tests
from biobgt.training.metrics import classification_metrics
from biobgt.training.tables import (
    FEWEST_PER_GROUP,
    PAPER,
    THE_CARD,
    THIS_COHORT,
    CardTables,
    CohortResults,
    group_curves,
)

CARDS = sorted(pretrained_folder().rglob(CARD))


def test_limits_name_what_was_set_and_what_is_off(cohort: Cohort) -> None:
    off = {"value": 0.11, "low": None, "high": None, "by_chance": 0.046}
    said = " ".join(_limits(cohort, replace(PRESET, start_contrast=3.0), {"NC": 2.8, "ASD": 3.1}, off))
    assert "attention within modules is 3 times that between" in said
    assert "off by 0.11 on average in held-out subjects, where 0.05 would be chance alone" in said
    plain = " ".join(
        _limits(cohort, replace(PRESET, start_contrast=0.0), {"NC": 1.0, "ASD": 1.0}, off | {"value": 0.05})
    )
    assert "set on training subjects" not in plain
    flat = " ".join(_limits(cohort, replace(PRESET, start_contrast=3.0), {"NC": 1.06, "ASD": None}, off))
    assert "was to be 3 times that between them, and is 1.06 times in held-out subjects" in flat
    assert "off by" not in plain


def _headlined(auc: float, low: float | None, high: float) -> dict[str, Any]:
    """What a first line is made of: a model beside ridge with an AUC of 0.75."""
    own = {"auc": {"value": auc, "low": low, "high": high}, "accuracy": {"value": 0.7}}
    results = {"BioBGT": own, BASELINES["log"].title: {"auc": {"value": 0.75}}}
    return {"results": results, "data": {"subjects": {"NC": 462, "ASD": 437}}, "simulated": False}


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
    tangent = {BASELINES["tangent"].title: {"auc": {"value": 0.6}}}
    card = _headlined(auc, low, 1.0) | {"simulated": simulated}
    card["results"] |= tangent
    said = CardText(card).headline
    assert said.startswith(opening)
    assert said.endswith(ending)
    assert f"AUC {auc:.2f}" in said
    few = CardText(card | {"data": {"subjects": {"NC": 300, "ASD": 19}}}).headline
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
    card = _headlined(auc, low, 0.9) | {"data": {"subjects": {"NC": 300, "ASD": fewest}}, "simulated": simulated}
    card["headline"] = "Tells NC / ASD apart" if doubtful else "At or near chance"
    assert is_doubtful(card) == doubtful
    network = {"headline": "One network for 3 cohorts", "data": card["data"], "simulated": simulated}
    assert not is_doubtful(network)


@pytest.mark.parametrize(
    ("low", "high", "ending"),
    [(-0.027, 0.004, "; a linear model does as well (0.75)."), (-0.027, -0.001, "; a linear model is better (0.75).")],
)
def test_the_interval_of_the_difference_decides_who_is_better(low: float, high: float, ending: str) -> None:
    paired = {BASELINES["log"].title: {"difference": -0.02, "low": low, "high": high}}
    assert CardText(_headlined(0.73, 0.7, 0.76) | {"paired": paired}).headline.endswith(ending)


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
    shown = MarkdownIt("commonmark").enable("table").render(CardText(card).readme)
    assert "<img" not in shown
    assert "<a " not in shown
    assert "<em>" not in shown
    assert shown.count("&lt;img src=x&gt;") == 6
    table = load_groups(folder).tests
    assert {"feature", "p", "q", "covariates"} <= set(table.columns)
    assert (table[["n_subjects", "n_NC", "n_ASD"]] == [40, 20, 20]).all(axis=None)
    tests = table.assign(between="=1+1")
    _write_tests(tmp_path, tests)
    assert "'=1+1" in (tmp_path / "tests.csv").read_text(encoding="utf-8")
    assert ",=1+1" not in (tmp_path / "tests.csv").read_text(encoding="utf-8")
    assert set(read_csv(tmp_path / "tests.csv")["between"]) == {"=1+1"}


def test_paired_differences_keep_the_names_of_linear_models(folder: Path) -> None:
    one = {"difference": -0.012, "low": -0.027, "high": 0.004}
    paired = {"ridge on log-Euclidean connectivity": one, "other": dict.fromkeys(one)}
    said = CardText(load_card(folder) | {"paired": paired}).readme
    assert "overlap: ridge on log-Euclidean connectivity −0.012 [−0.027, +0.004].\n" in said
    assert "overlap" not in CardText(load_card(folder) | {"paired": {}}).readme


def header_of(text: str) -> tuple[Any, str]:
    _, header, words = text.split("---\n", 2)
    return yaml.safe_load(header), words


@pytest.mark.parametrize("path", CARDS, ids=lambda path: path.parent.relative_to(pretrained_folder()).as_posix())
def test_readme_is_made_of_its_card(path: Path) -> None:
    card = json.loads(path.read_text(encoding="utf-8"))
    text = (path.parent / "README.md").read_text(encoding="utf-8")
    assert text == CardText(card).readme, f"Run: biobgt card --model {path.parent} --words-only"
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
    header, _ = header_of(CardText(card).readme)
    assert header["model-index"][0]["name"] == "no: [model] ---"
    assert header["model-index"][0]["results"][0]["dataset"]["name"] == "#1 & more"


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
    points = CardTables(card).results_points().set_index(["metric", "model"])
    assert points.loc[("auc", "BioBGT"), ["value", "low", "high"]].tolist() == [0.7, 0.6, 0.8]
    assert np.isnan(points.loc[("auc", "ridge"), "low"])
    assert points.loc[("accuracy", PAPER), "low"] == pytest.approx(0.7199)
    assert np.isnan(points.loc[("auc", PAPER), "high"])
    assert "not directly comparable" in CardText(card).paper_note
    for other in (card | {"paper": None}, card | {"simulated": True}):  # nothing compares with simulated patients
        assert CardTables(other).results_points()["model"].tolist() == ["BioBGT", "ridge"] * 2
        assert CardTables(other).results()["Model"].tolist() == ["BioBGT", "ridge"]
        assert CardText(other).paper_note == ""


def test_tables_say_what_is_known(card) -> None:
    table = CardTables(card).results().set_index("Model")
    assert table.loc["BioBGT", "AUC"] == "0.700 [0.60,\u00a00.80]"
    assert table.loc["ridge", "AUC"] == "0.650"
    assert table.loc[PAPER, ["Accuracy", "AUC", "F1"]].tolist() == ["0.740 ±\u00a00.020", "0.733", "–"]
    assert CardTables(card).chance_level == {"auc": 0.5, "accuracy": 0.75}


def test_evaluation_is_named_in_words_and_its_caption_speaks_of_what_is_there(card) -> None:
    table = CardTables(card).evaluation()
    assert table[["Split", "Model", "AUC", "Accuracy"]].to_numpy().tolist() == [
        ["10 random 80/10/10 splits", "BioBGT", "0.700 ±\u00a00.050", "–"],
        ["the cohort's own split", "ridge on log-Euclidean connectivity", "0.600", "–"],
    ]
    said = CardText(card).evaluation
    assert "A random split trains on 80 %" in said
    assert "own split" in said
    assert "site" not in said
    assert "no SD" in CardText(card | {"evaluation": card["evaluation"][1:]}).evaluation
    sites = {"protocol": "sites", "model": "paper-abide", "splits": 19}
    assert CardTables(card | {"evaluation": [sites]}).evaluation().iloc[0, :2].tolist() == [
        "one site left out, for each of 19 sites",
        "BioBGT as published",
    ]
    assert "trained on no subject of that site" in CardText(card | {"evaluation": [sites]}).evaluation
    assert CardTables(card | {"evaluation": []}).evaluation().empty


def test_linear_models_have_the_names_of_the_baselines() -> None:
    names = ["paper-abide, stopped early", *(f"linear {key}" for key in BASELINES)]
    rows = [{"protocol": "random", "model": name, "splits": 1} for name in names]
    shown = CardTables({"evaluation": rows}).evaluation()["Model"].tolist()
    assert shown == ["BioBGT as published, stopped early", *(baseline.title for baseline in BASELINES.values())]
    assert "ridge on log-Euclidean connectivity" in shown


def test_metrics_and_members_are_explained_for_the_groups_at_hand(card) -> None:
    two, three = CardText(card).metrics, CardText(card | {"groups": ["NC", "MCI", "AD"]}).metrics
    assert "share of ASD called ASD" in two
    assert "0.25 for always predicting 50 %" in two
    assert "mean over the 3 groups" in three
    assert "summed over groups (0.67" in three  # (1 − 1/3)² + 2 (1/3)²
    assert "most probable group" in three
    assert "The model is an ensemble of 3 members" in CardText(card).members


def test_a_metric_that_is_not_defined_is_said_to_be_so() -> None:
    """As the AUC of the first nested fold of a few subjects, who may all be of one group."""
    assert with_interval({"value": None, "low": None, "high": None}, 3) == "not defined"
    assert with_interval({"value": 0.7, "low": None, "high": None}, 2) == "0.70"
    assert with_interval({"value": 0.7, "low": 0.6, "high": 0.8}, 2) == "0.70 [0.60, 0.80]"


def test_words_of_calibration(card) -> None:
    said = CardText(card).calibration
    assert "differ by 70 percentage points" in said
    assert "AUC 0.70 (95 % interval 0.60 to 0.80)" in said
    assert "chance" not in said.split(". AUC")[0]
    own = card["results"]["BioBGT"]
    by_chance = card | {"results": {"BioBGT": own | {"ece": own["ece"] | {"by_chance": 0.04}}}}
    assert "on average (4 would be expected by chance in so many subjects)" in CardText(by_chance).calibration


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


GROUPS = ("NC", "ASD")
# Six controls, of whom one is taken for a patient, and six patients, of whom two are taken for controls.
P_ASD = (0.1, 0.2, 0.3, 0.4, 0.45, 0.7, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9)


def said(p: float) -> dict[str, object]:
    return {"prediction": "ASD" if p > 0.5 else "NC", "p_NC": 1 - p, "p_ASD": p}


def cohort_of(*groups: str | None) -> Cohort:
    series = np.random.default_rng(0).standard_normal((20, 5))
    subjects = tuple(Subject(f"s{i}", series=series, group=group) for i, group in enumerate(groups))
    return Cohort("own", subjects, numbered_atlas(5))


@pytest.fixture(scope="module")
def found() -> CohortResults:
    return CohortResults.of(cohort_of(*["NC"] * 6, *["ASD"] * 6), GROUPS, [said(p) for p in P_ASD])


def test_confusion_is_counted_by_hand(found) -> None:
    assert found.confusion.to_numpy().tolist() == [[5, 1], [2, 4]]
    assert list(found.confusion.index) == list(found.confusion.columns) == list(GROUPS)


def test_metrics_are_those_of_the_library_beside_the_cards(found) -> None:
    card = installed_model("abide-cc200").card
    table = found.table(card).set_index("Metric")
    expected = classification_metrics(found.labels, found.probabilities, GROUPS)
    assert expected["accuracy"] == pytest.approx(9 / 12)
    assert table.loc["Accuracy", THIS_COHORT].startswith(f"{expected['accuracy']:.3f} [")
    assert table.loc["AUC", THIS_COHORT].startswith(f"{expected['auc']:.3f} [")
    assert table.loc["AUC", THE_CARD].startswith(f"{card['results']['BioBGT']['auc']['value']:.3f} [")
    assert "[" not in table.loc["Calibration error", THIS_COHORT]


def test_who_has_no_group_or_no_prediction_is_left_out_and_counted() -> None:
    predictions = [said(0.2), None, said(0.6), {"prediction": "", "p_NC": None, "p_ASD": None}]
    found = CohortResults.of(cohort_of("NC", "ASD", "ADHD", "ASD"), GROUPS, predictions)
    assert (found.labels.tolist(), found.n_left_out) == ([0], 3)
    assert not found.is_enough


def test_groups_of_a_readout_are_known_without_their_cohort() -> None:
    p = {"prediction": "ASD", "p_NC (ABIDE)": 0.3, "p_ASD": 0.7}
    found = CohortResults.of(cohort_of("NC", "ASD"), ("NC (ABIDE)", "ASD"), [p, p])
    assert found.labels.tolist() == [0, 1]


@pytest.mark.parametrize(("n", "enough"), [(FEWEST_PER_GROUP, True), (FEWEST_PER_GROUP - 1, False)])
def test_a_few_of_every_group_are_needed(n, enough) -> None:
    cohort = cohort_of(*["NC"] * 9, *["ASD"] * n)
    assert CohortResults.of(cohort, GROUPS, [said(0.5)] * len(cohort)).is_enough is enough


class Told:
    """A measured cohort of which a model has said what it is told to."""

    def __init__(self, cohort: Cohort, answers: dict[str, dict[str, object]], subject: str = "") -> None:
        self.cohort, self.answers, self.subject = cohort, answers, subject

    def of(self, subject: str) -> "Told":
        return Told(self.cohort, self.answers, subject)

    def prediction(self, model: InstalledModel) -> dict[str, object]:
        return self.answers[self.subject]


def told(n_patients: int = 6) -> Told:
    cohort = cohort_of(*["NC"] * 6, *["ASD"] * n_patients)
    atlas, series = load_atlas("cc200"), np.random.default_rng(0).standard_normal((20, 200))
    subjects = tuple(replace(subject, series=series) for subject in cohort)
    cohort = replace(cohort, atlas=atlas, subjects=subjects)
    return Told(cohort, {subject: said(p) for subject, p in zip(cohort.ids, P_ASD, strict=False)})


def test_figures_show_both_and_say_whose_they_are() -> None:
    model = installed_model("abide-cc200")
    asked = ChosenModelOptions(model=model.name, model_sha256=model.sha256)
    roc = cohort_roc(told(), asked)
    names = [trace["name"] for trace in draw_on_screen(roc)["data"]]
    assert names == ["chance", "ASD against NC, card", "ASD against NC, this cohort"]
    assert roc.title == "ROC in this cohort, abide-cc200", "with the cohort's name it was cut beside another figure"
    assert set(roc.numbers()["curve"]) == set(names[1:])
    assert "12 subjects of this cohort (own)" in roc.caption
    assert any("12 subjects of known group (6 NC and 6 ASD)" in sentence for sentence in roc.methods)
    reliability = cohort_reliability(told(), asked)
    drawn = {mark.name.partition(":")[0]: mark for mark in reliability.marks}
    n_card = len(model.groups.labels)
    assert sum(map(int, drawn["this cohort"].texts)) == 12
    assert drawn["this cohort"].colour == roc.marks[2].colour
    assert sum(map(int, drawn["card"].texts)) == n_card
    assert reliability.numbers().groupby("of")["n"].sum().to_dict() == {"card": n_card, "this cohort": 12}
    for figure in (roc, reliability):
        labels = draw_on_paper(figure, PaperStyle()).axes[0].get_legend_handles_labels()[1]
        assert sorted(labels) == sorted(mark.name for mark in figure.marks)
        assert figure.caption.endswith(NOT_A_DIAGNOSIS)
        assert "[@peng2025]" in figure.methods[0]


def test_figures_of_few_subjects_or_of_another_atlas_are_refused() -> None:
    asked = ChosenModelOptions(model="abide-cc200")
    with pytest.raises(InputError, match=f"{FEWEST_PER_GROUP} subjects of every group"):
        cohort_roc(told(n_patients=FEWEST_PER_GROUP - 1), asked)
    with pytest.raises(InputError, match="was trained on"):
        cohort_roc(Told(cohort_of("NC", "ASD"), {}), asked)
