"""Figures of how people spread and how alike disorders are: numbers, words, and the same on paper as on the screen."""

import numpy as np
import pytest

from biobgt.figures import paper
from biobgt.figures.attention_likeness import AttentionLikeness
from biobgt.figures.attention_spread import AttentionSpread
from biobgt.model.pretrained import people_summary

STYLE = paper.PaperStyle(dpi=100)
PEOPLE = {
    "NC (ABIDE)": np.column_stack([np.linspace(1.2, 3, 10), np.linspace(0.4, 0.1, 10)]),
    "ASD": np.column_stack([[1.5] * 9 + [10.0], np.linspace(0.2, 0.3, 10)]),
}
PAIRS = [
    {"first": ["NC a", "ASD"], "second": ["NC b", "ADHD"], "r": -0.5, "expected": 0.01, "p": 0.04},
    {"first": ["NC a", "ASD"], "second": ["NC c", "AD"], "r": 0.25, "expected": 0.0, "p": 0.5},
    {"first": ["NC b", "ADHD"], "second": ["NC c", "AD"], "r": 0.0, "expected": 0.0, "p": 1.0},
]


@pytest.fixture
def spread() -> AttentionSpread:
    return AttentionSpread(model="m", title="Contrast", people=PEOPLE)


@pytest.fixture
def likeness() -> AttentionLikeness:
    pairs = [{**one, "blocks": 36, "permutations": 99} for one in PAIRS]
    disorders = ["ASD", "ADHD", "AD"]
    return AttentionLikeness(model="m", title="Alike", pairs=pairs, disorders=disorders, words="How alike. Details.")


def test_one_person_can_make_a_mean() -> None:
    found = people_summary(PEOPLE["ASD"])
    assert found.mean == pytest.approx(2.35)
    assert found.median == 1.5
    assert found.top_share == pytest.approx(9 / 13.5)
    assert people_summary(PEOPLE["NC (ABIDE)"]).with_strength == pytest.approx(-1)
    assert np.isnan(people_summary(np.ones((3, 2))).top_share)
    with_gap = np.vstack([PEOPLE["ASD"], [np.nan, 0.2]])
    assert people_summary(with_gap) == found


def test_the_caption_says_whether_a_few_people_make_the_mean(spread: AttentionSpread) -> None:
    assert "2.10 and 2.10 (NC (ABIDE)) and 2.35 and 1.50 (ASD)" in spread.caption
    assert "67 % (ASD)" in spread.caption
    assert "−1.00 (NC (ABIDE))" in spread.caption


def test_every_group_is_named_below_its_box_on_a_narrow_page(spread: AttentionSpread) -> None:
    """Plotly leaves out a name that reaches the edge of the figure, unless told not to."""
    axis = spread.plotly().layout.xaxis
    assert axis.ticktext == ("NC<br>(ABIDE)", "ASD")
    assert axis.ticklabeloverflow == "allow"
    assert axis.automargin


def test_people_are_drawn_on_paper_where_they_are_on_the_screen(spread: AttentionSpread) -> None:
    screen = [trace for trace in spread.plotly().data if trace.type == "scatter"]
    drawn = [np.asarray(dots.get_offsets()) for dots in spread.matplotlib(STYLE).axes[0].collections]
    assert len(screen) == len(drawn) == 4
    for trace, offsets in zip(screen, drawn, strict=True):
        np.testing.assert_allclose(offsets, np.column_stack([trace.x, trace.y]))
    assert len(spread.numbers) == 20


def test_disorders_are_compared_once_each(likeness: AttentionLikeness) -> None:
    square = likeness.square("r")
    assert square[1, 0] == -0.5
    assert square[2, 0] == 0.25
    assert np.isnan(square[0, 1])
    screen = likeness.plotly()
    (heatmap,) = screen.data
    np.testing.assert_array_equal(np.asarray(heatmap.z, dtype=float), square)
    written = screen.layout.annotations[0]
    assert written.text == "r = −0.50<br>by chance 0.01<br>p = 0.040"
    assert (written.y, written.x) == (heatmap.y[1], heatmap.x[0])
    assert written.font.color == "black", "on a light blue"
    axes = likeness.matplotlib(STYLE).axes[0]
    np.testing.assert_array_equal(np.ma.filled(axes.images[0].get_array(), np.nan), square[1:, :-1])
    assert axes.texts[0].get_text() == "r = −0.50\nby chance 0.01\np = 0.040"
    assert likeness.numbers["difference"].tolist() == ["ASD minus NC a", "ASD minus NC a", "ADHD minus NC b"]
