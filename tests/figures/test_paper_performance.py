"""Figures of a model for the paper: no text is cut or lies on another, and each is as wide as it was asked to be."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from test_paper_layout import LONG, drawn_texts

from biobgt.figures.paper.attention import block_effects
from biobgt.figures.paper.noise import noise_response
from biobgt.figures.paper.performance import probabilities_by_group, reliability, results_beside
from biobgt.figures.paper.style import PaperStyle

NETWORKS = ("occipital", "cingulo-opercular", "default", "fronto-parietal", "sensorimotor", "cerebellum")
RNG = np.random.default_rng(0)
MODELS = ("BioBGT", "ridge on tangent space (Ledoit-Wolf)", "ridge on log-Euclidean connectivity", "Paper (its own)")


def blocks() -> pd.DataFrame:
    pairs = [(one, other) for one in NETWORKS for other in NETWORKS]
    table = pd.DataFrame(pairs, columns=["module", "other_module"])
    for column in ("d", "d_unadjusted"):
        table[column] = RNG.uniform(-0.5, 0.5, len(table))
    return table.assign(q=0.01, q_unadjusted=0.01)


def points() -> pd.DataFrame:
    rows = [(metric, model, 0.7, 0.65, 0.75) for metric in ("auc", "accuracy") for model in MODELS]
    return pd.DataFrame(rows, columns=["metric", "model", "value", "low", "high"])


CURVE = pd.DataFrame(
    {"predicted": [0.2, 0.7], "observed": [0.25, 0.6], "observed_low": [0.1, 0.4], "observed_high": [0.5, 0.8]}
)
LEVELS = ("none", "SD 0.25", "SD 0.5", "SD 1", "SD 2", "noise alone")
NOISE = pd.DataFrame(
    [(level, group, 0.4, 0.9) for level in LEVELS for group in ("NC", "MCI", "AD")],
    columns=["noise", "group", "probability", "warned"],
)
CASES = {
    "noise": lambda s: noise_response(NOISE, title=LONG, simulated=True, style=s),
    "blocks": lambda s: block_effects(blocks(), title=LONG, simulated=True, style=s),
    "results": lambda s: results_beside(points(), chance={"auc": 0.5}, title=LONG, simulated=True, style=s),
    "reliability": lambda s: reliability(CURVE, event="the most probable group", title=LONG, simulated=True, style=s),
    "probabilities": lambda s: probabilities_by_group(
        RNG.random(90),
        np.repeat([0, 1, 2], 30),
        ("NC", "MCI", "AD"),
        group="MCI",
        marked=0.5,
        marked_name="sub-0051234 of a site with a long name",
        title=LONG,
        simulated=True,
        style=s,
    ),
}


@pytest.mark.parametrize(("width", "font_size"), [(85, 7), (85, 10), (174, 7)])
@pytest.mark.parametrize("case", CASES)
def test_texts_lie_inside_the_figure_and_apart(case, width, font_size, monkeypatch) -> None:
    figure = CASES[case](PaperStyle(width_mm=width, font_size=font_size, dpi=150))
    assert figure.get_figwidth() * 25.4 == pytest.approx(width)
    texts = drawn_texts(figure, monkeypatch)
    for text, box in texts:
        assert box.x0 >= 0, f"'{text}' is cut on the left"
        assert box.y0 >= 0, f"'{text}' is cut at the bottom"
        assert box.x1 <= figure.bbox.x1, f"'{text}' is cut on the right"
        assert box.y1 <= figure.bbox.y1, f"'{text}' is cut at the top"
    for (one, here), (other, there) in combinations(texts, 2):
        across = min(here.x1, there.x1) - max(here.x0, there.x0)
        along = min(here.y1, there.y1) - max(here.y0, there.y0)
        assert min(across, along) <= 1, f"'{one}' lies on '{other}'"
    assert any("simulated" in text for text, _ in texts)


@pytest.mark.parametrize("width", [85, 174])
def test_every_block_has_its_effect_and_its_mark(width) -> None:
    table = blocks().assign(q=lambda frame: np.where(frame["module"] == "default", 0.01, 0.5))
    figure = block_effects(table, style=PaperStyle(width_mm=width, dpi=72))
    held = [text.get_text() for text in figure.axes[0].texts]
    expected = [
        f"{d:.2f}".replace("-", "−") + ("*" if q < 0.05 else "") for d, q in zip(table["d"], table["q"], strict=True)
    ]
    assert held == [text.replace("−0.00", "0.00") for text in expected]
    np.testing.assert_array_equal(np.ravel(figure.axes[1].images[0].get_array()), table["d_unadjusted"])
