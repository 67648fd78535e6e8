"""Figures of how good a model is draw the numbers they are given, on the screen and for the paper."""

from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from drawn_figures import RELIABILITY, drawn_by_both, on_screen

from biobgt.base.errors import InputError
from biobgt.base.wording import NOT_A_DIAGNOSIS
from biobgt.figures.drawing import Drawing
from biobgt.figures.models import (
    OBSERVED,
    _claim_words,
    _observed_shares,
    _reliability_of,
    _results_panels,
    _results_words,
    _roc_of,
    model_results,
    reliability,
    roc,
    subject_probability,
)
from biobgt.figures.register import NoOptions, all_figures
from biobgt.model.pretrained import installed_model
from biobgt.results.measured import Measured

CURVES = {"AD against NC": pd.DataFrame({"false_positive_rate": [0, 0.5, 1], "true_positive_rate": [0, 0.8, 1]})}
POINTS = pd.DataFrame(
    [("auc", "BioBGT", 0.7, 0.6, 0.8), ("auc", "ridge", 0.65, np.nan, np.nan), ("accuracy", "BioBGT", 0.6, 0.5, 0.7)],
    columns=["metric", "model", "value", "low", "high"],
)
PROBABILITIES = np.array([0.11, 0.12, 0.61, 0.93])
LABELS = np.array([0, 0, 1, 1])


MODEL = SimpleNamespace(
    name="m",
    simulated=False,
    group_names=("NC", "AD"),
    groups=SimpleNamespace(labels=LABELS, probabilities=np.column_stack([1 - PROBABILITIES, PROBABILITIES])),
    atlas=SimpleNamespace(n_regions=4, title="a toy", cites=()),
    card={"protocol": "", "results": {"BioBGT": {"ece": {"value": 0.04}}}},
    simulates=lambda groups: False,
    readouts={},
)


def probability_of(p_ad: float = 0.4, subject: str = "s1", warning: str = "") -> Drawing:
    said = {"prediction": "AD", "p_NC": 1 - p_ad, "p_AD": p_ad, "warning": warning}
    measured = SimpleNamespace(subject=SimpleNamespace(id=subject, simulated=False), prediction=lambda model: said)
    with patch("biobgt.figures.models.asked_model", return_value=MODEL):
        return subject_probability(measured, subject_probability.takes(model="m"))


def test_figures_of_models_are_in_the_register_and_of_no_subject() -> None:
    of_groups = {
        key for key, figure in all_figures().items() if not (figure.of_graph or figure.of_subject or figure.of_study)
    }
    assert of_groups == {
        *("attention_maps", "attention_difference", "attention_blocks", "attention_contrast", "attention_received"),
        *("attention_spread", "attention_likeness", "attention_systems", "attention_faithfulness"),
        *("attention_minus_controls", "region_attention", "own_attention", "own_attention_difference"),
        *("region_attention_by_group", "own_region_attention", "benchmark_results", "bench_power"),
        *("model_results", "roc", "reliability", "noise_response", "cohort_roc", "cohort_reliability"),
    }


def test_roc_and_reliability_draw_their_tables() -> None:
    curves, _ = drawn_by_both(Drawing(title="T", **_roc_of(CURVES)))
    np.testing.assert_array_equal(curves.data[1].y, [0, 0.8, 1])
    observed = Drawing(title="T", **_reliability_of("AD", _observed_shares(OBSERVED, RELIABILITY, "#0072B2")))
    screen, printed = drawn_by_both(observed)
    trace = screen.data[1]
    np.testing.assert_allclose(trace.error_y.array, [0.25, 0.2])
    np.testing.assert_allclose(trace.error_y.arrayminus, [0.15, 0.2])
    bars = printed.axes[0].collections[0]
    np.testing.assert_allclose([segment[:, 1] for segment in bars.get_segments()], [[0.1, 0.5], [0.4, 0.8]])


@pytest.mark.parametrize("figure", [roc, reliability, model_results])
def test_a_network_that_cohorts_share_says_where_their_results_are(figure) -> None:
    measured = Measured(installed_model("five-groups-aal90").cohort)
    with pytest.raises(InputError, match="model:five-groups-aal90/cni-adhd"):
        figure(measured, NoOptions())


def test_results_stand_beside_each_other_and_beside_chance() -> None:
    panels = _results_panels(POINTS, {"auc": 0.5})
    figure, _ = drawn_by_both(Drawing(title="T", panels=panels, columns=2, legend="none"))
    own, other, accuracy, _ = figure.data
    assert (list(own.x), list(other.x), list(accuracy.x)) == ([0.7], [0.65], [0.6])
    assert (list(own.y), list(other.y), accuracy.xaxis) == (["BioBGT"], ["ridge"], "x2")
    np.testing.assert_allclose(own.error_x.array[0], 0.1)
    assert [shape.x0 for shape in figure.layout.shapes] == [0.5]
    # On a page 800 px wide a panel has about 125 px, and a number with the room beside it takes 30.
    assert max(figure.layout.xaxis.nticks, figure.layout.xaxis2.nticks) <= 125 / 30


def test_shares_of_each_group_and_the_subjects_line() -> None:
    figure = on_screen(probability_of(subject="<b>s1"))
    controls, patients = (np.asarray(trace.y)[::2] for trace in figure.data)
    assert controls.tolist()[2] == 1
    assert (patients[12], patients[18], patients.sum()) == (0.5, 0.5, 1)
    assert figure.layout.shapes[0].x0 == 0.4
    assert figure.layout.annotations[0].text == "&lt;b&gt;s1"
    _, printed = drawn_by_both(probability_of())
    assert {"AD (n = 2)", "s1"} <= {line.get_label() for line in printed.axes[0].lines}


def test_prediction_is_said_to_be_no_diagnosis_and_doubtful_where_unlike() -> None:
    said = probability_of(0.614, warning="short").caption
    assert "subject s1, given 61 % by the mean of all members' log-odds: 100 % of NC, 50 % of AD lie below. Its" in said
    assert "may be meaningless: short." in said
    assert said.endswith(NOT_A_DIAGNOSIS)
    assert "may be meaningless" not in probability_of().caption


def test_captions_say_whose_probabilities_they_are() -> None:
    one = "the one ensemble member that was not trained on that subject"
    assert _claim_words("the most probable group").startswith("how often the most probable group was the true one")
    with (
        patch("biobgt.figures.models.model_of", return_value=MODEL),
        patch("biobgt.training.metrics.reliability_curve", return_value=RELIABILITY),
        patch("biobgt.training.tables.CardTables.claimed_event", "AD"),
    ):
        said = reliability(SimpleNamespace(), NoOptions()).caption
    assert "how often subjects were AD, against the claimed probability of AD, in" in said
    assert "4.0 percentage points" in said
    assert one in said
    assert "mean log-odds of all members instead" in said
    assert "17 subjects" in said
    assert one in probability_of().caption
    assert "paper" not in _results_words(POINTS, "")
    assert _results_words(POINTS, "The paper's.").endswith("The paper's.")
