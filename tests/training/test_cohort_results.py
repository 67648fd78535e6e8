"""A model in a cohort whose groups are known: who counts, what is counted, and what stands beside it."""

from dataclasses import replace

import numpy as np
import pytest

from biobgt import Cohort, InputError, Subject
from biobgt.base.wording import NOT_A_DIAGNOSIS
from biobgt.data.atlas import load_atlas, numbered_atlas
from biobgt.figures.model_figure import AskedModelOptions
from biobgt.figures.models import cohort_reliability, cohort_roc
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.screen import draw_on_screen
from biobgt.model.installed import InstalledModel, installed_model
from biobgt.training.card_tables import FEWEST_PER_GROUP, THE_CARD, THIS_COHORT, CohortResults, cohort_results
from biobgt.training.metrics import classification_metrics

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
    return cohort_results(cohort_of(*["NC"] * 6, *["ASD"] * 6), GROUPS, [said(p) for p in P_ASD])


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
    found = cohort_results(cohort_of("NC", "ASD", "ADHD", "ASD"), GROUPS, predictions)
    assert (found.labels.tolist(), found.n_left_out) == ([0], 3)
    assert not found.is_enough


def test_groups_of_a_readout_are_known_without_their_cohort() -> None:
    p = {"prediction": "ASD", "p_NC (ABIDE)": 0.3, "p_ASD": 0.7}
    found = cohort_results(cohort_of("NC", "ASD"), ("NC (ABIDE)", "ASD"), [p, p])
    assert found.labels.tolist() == [0, 1]


@pytest.mark.parametrize(("n", "enough"), [(FEWEST_PER_GROUP, True), (FEWEST_PER_GROUP - 1, False)])
def test_a_few_of_every_group_are_needed(n, enough) -> None:
    cohort = cohort_of(*["NC"] * 9, *["ASD"] * n)
    assert cohort_results(cohort, GROUPS, [said(0.5)] * len(cohort)).is_enough is enough


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
    asked = AskedModelOptions(model=model.name, model_sha256=model.sha256)
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
        assert "peng2025" in figure.citations


def test_figures_of_few_subjects_or_of_another_atlas_are_refused() -> None:
    asked = AskedModelOptions(model="abide-cc200")
    with pytest.raises(InputError, match=f"{FEWEST_PER_GROUP} subjects of every group"):
        cohort_roc(told(n_patients=FEWEST_PER_GROUP - 1), asked)
    with pytest.raises(InputError, match="was trained on"):
        cohort_roc(Told(cohort_of("NC", "ASD"), {}), asked)
