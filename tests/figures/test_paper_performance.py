"""Figures of a model for the paper: no text is cut or lies on another, and each is as wide as it was asked to be."""

import numpy as np
import pandas as pd
import pytest
from paper_texts import texts_inside_and_apart
from test_paper_layout import LONG

from biobgt.figures.drawing import Drawing
from biobgt.figures.models import (
    OBSERVED,
    _benchmark_panel,
    _group_shares,
    _noise_panel,
    _observed_shares,
    _probability_panel,
    _reliability_of,
    _results_panels,
)
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.paper_style import PaperStyle
from biobgt.results.studies import study_table
from biobgt.training.tables import BenchmarkTables

RNG = np.random.default_rng(0)
MODELS = ("BioBGT", "ridge on tangent space (Ledoit-Wolf)", "ridge on log-Euclidean connectivity", "Paper (its own)")


def points() -> pd.DataFrame:
    rows = [(metric, model, 0.7, 0.65, 0.75) for metric in ("auc", "accuracy") for model in MODELS]
    return pd.DataFrame(rows, columns=["metric", "model", "value", "low", "high"])


CURVE = pd.DataFrame(
    {
        "predicted": [0.2, 0.7],
        "observed": [0.25, 0.6],
        "observed_low": [0.1, 0.4],
        "observed_high": [0.5, 0.8],
        "n": [3, 4],
    }
)
LEVELS = ("none", "SD 0.25", "SD 0.5", "SD 1", "SD 2", "noise alone")
NOISE = pd.DataFrame(
    [(level, group, 0.4, 0.9) for level in LEVELS for group in ("NC", "MCI", "AD")],
    columns=["noise", "group", "probability", "warned"],
)


SAID = {"title": LONG, "simulated": True}
BENCHMARK = BenchmarkTables(study_table("benchmark_abide"))
CASES = {
    "noise": Drawing(panels=[_noise_panel(NOISE)], **SAID),
    "benchmark": Drawing(panels=[_benchmark_panel(BENCHMARK.beside_paper)], **SAID),
    "results": Drawing(panels=_results_panels(points(), {"auc": 0.5}), columns=2, legend="none", **SAID),
    "reliability": Drawing(
        **_reliability_of("the most probable group", _observed_shares(OBSERVED, CURVE, "#0072B2")), **SAID
    ),
    "probabilities": Drawing(
        panels=[
            _probability_panel(
                _group_shares(RNG.random(90), np.repeat([0, 1, 2], 30), ("NC", "MCI", "AD")),
                "sub-0051234 of a site with a long name",
                "MCI",
                0.5,
            )
        ],
        **SAID,
    ),
}


@pytest.mark.parametrize(("width", "font_size"), [(85, 7), (85, 10), (174, 7)])
@pytest.mark.parametrize("case", CASES)
def test_texts_lie_inside_the_figure_and_apart(case, width, font_size, monkeypatch) -> None:
    figure = draw_on_paper(CASES[case], PaperStyle(width_mm=width, font_size=font_size, dpi=150))
    assert figure.get_figwidth() * 25.4 == pytest.approx(width)
    assert any("simulated" in text for text in texts_inside_and_apart(figure, monkeypatch))
