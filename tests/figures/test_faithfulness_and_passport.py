"""Figures of whether attention is faithful, and of what flips a call: both pens draw the numbers they are given."""

from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from drawn_figures import drawn_by_both

from biobgt.base.errors import InputError
from biobgt.data.corruptions import WORSENINGS
from biobgt.figures.attention.faithfulness import attention_faithfulness
from biobgt.figures.passport import prediction_passport
from biobgt.figures.register import NoOptions
from biobgt.model.passport import AS_RECORDED


def mean(value: float) -> dict[str, float]:
    return {"value": value, "low": value - 0.01, "high": value + 0.01}


MOVED = {"attention": 0.06, "random": 0.05, "strength": 0.07, "gradient": 0.2}
FAITHFULNESS = {
    "n": 40,
    "people": 38,
    "ahead": mean(0.005),
    "removed": [
        {"order": order, "share": share, "regions": 9, "deletion": mean(value + share), "insertion": mean(0.3 - share)}
        for order, value in MOVED.items()
        for share in (0.1, 0.3)
    ],
    "randomised": [
        {"part": part, "correlation": mean(r)} for part, r in (("readout", 0.98), ("W", 0.9), ("W and ψ", 0.7))
    ],
    "agreement": [
        {"with": whom, "map": mean(0.9), "received": mean(0.6), "top": mean(0.3)}
        for whom in ("members", "linear model")
    ],
}


def model_of(**card):
    return SimpleNamespace(
        name="m",
        simulated=False,
        simulates=lambda groups: False,
        group_names=("NC", "ASD"),
        readouts={},
        atlas=SimpleNamespace(n_regions=4, title="a toy", cites=()),
        card={"protocol": "", **card},
    )


def faithfulness_of(**card):
    with patch("biobgt.figures.attention.faithfulness.model_of", return_value=model_of(**card)):
        return attention_faithfulness(SimpleNamespace(), NoOptions())


def test_curves_and_rows_have_the_cards_numbers() -> None:
    drawing = faithfulness_of(faithfulness=FAITHFULNESS)
    screen, printed = drawn_by_both(drawing)
    removed, kept = (
        [one for one in screen.data if one.name == "gradient × input" and one.mode and one.xaxis == axis]
        for axis in ("x2", "x3")
    )
    np.testing.assert_allclose(removed[-1].y, [0.3, 0.5])
    np.testing.assert_allclose(kept[-1].y, [0.2, 0.0])
    rows = [label.get_text() for label in printed.axes[0].get_yticklabels()]
    assert rows[:4] == ["readout shuffled", "W shuffled", "W and ψ shuffled", "members: maps"]
    assert "no more than chance" in drawing.line
    numbers = drawing.numbers()
    assert len(numbers) == 2 * 8 + 9
    assert numbers.loc[numbers["what"] == "members: received", "value"].tolist() == [0.6]


@pytest.mark.parametrize("card", [{}, {"faithfulness": None}])
def test_an_older_card_says_that_it_was_not_measured(card) -> None:
    with pytest.raises(InputError, match="has not been measured"):
        faithfulness_of(**card)


def passport_of(shares: dict[str, list[float]], warned: dict[str, int]):
    """The figure of a subject called NC as recorded, by the probabilities of ASD and the first step with a warning."""
    rows = [(AS_RECORDED, 0.0, 0.2, "")]
    for kind, worsening in WORSENINGS.items():
        values = shares.get(kind, [0.2] * len(worsening.strengths))
        for step, (strength, value) in enumerate(zip(worsening.strengths, values, strict=True)):
            rows.append((kind, strength, value, "odd" if step >= warned.get(kind, 99) else ""))
    table = pd.DataFrame(rows, columns=["kind", "strength", "p_ASD", "warning"])
    table["p_NC"] = 1 - table["p_ASD"]
    table["prediction"] = np.where(table["p_ASD"] > 0.5, "ASD", "NC")
    said = {"warning": ""}
    measured = SimpleNamespace(
        subject=SimpleNamespace(id="s", simulated=False), passport=lambda model: table, prediction=lambda model: said
    )
    with patch("biobgt.figures.passport.asked_model", return_value=model_of()):
        return prediction_passport(measured, prediction_passport.takes(model="m"))


def test_what_flips_the_call_is_marked_where_it_does_and_warnings_are_hollow() -> None:
    spikes = [0.3, 0.6, 0.7, 0.7, 0.8]
    drawing = passport_of({"spikes": spikes}, {"spikes": 2, "noise": 0})
    drawn_by_both(drawing)
    panel = drawing.panels[list(WORSENINGS).index("spikes")]
    (flip,) = [mark.x for mark in panel.marks if getattr(mark, "x", None) is not None and np.isscalar(mark.x)]
    assert flip == 2, "the second step"
    hollow = [mark for mark in panel.marks if getattr(mark, "hollow", False)]
    np.testing.assert_allclose(hollow[0].y, spikes[2:])
    assert drawing.line == "The call flips when 2 % of time points have spikes; no warning would say so."
    assert "2 % of time points have spikes (to ASD, without a warning)" in drawing.caption
    assert "white noise: not by what was tried" in drawing.caption
    assert list(drawing.panels[0].x.names)[:2] == ["0", "10"]
