"""What a journal asks of a figure beyond its size: a usual font, no title, marks that hide nothing, legible curves."""

import io
import warnings
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.font_manager import FontProperties, findfont
from matplotlib.ft2font import FT2Font

from biobgt.base.errors import InputError
from biobgt.base.files import asset
from biobgt.export import CohortRef, FigureRequest
from biobgt.export.making import _make_figure
from biobgt.figures.paper.frame import installed_fonts, save_figure
from biobgt.figures.paper_style import BUNDLED_FONT, PaperStyle
from biobgt.results.measured import Measured

DEMO = CohortRef("ad", demo=True, n_per_group=1, seed=3)
SUBJECT = "sim-AD-001"
STYLE = PaperStyle(width_mm=85, dpi=100)


@pytest.fixture(scope="module")
def measured():
    return Measured(DEMO.draw())


def made(measured, figure, style, **options):
    return _make_figure(measured, FigureRequest(figure, DEMO, SUBJECT, options=options), style).figure


def texts(figure):
    return [text.get_text() for text in (figure._suptitle, *figure.texts) if text is not None]


def test_a_font_as_wide_as_arial_comes_with_the_project_and_its_licence(measured):
    assert PaperStyle().font == BUNDLED_FONT == installed_fonts()[0]
    found = findfont(FontProperties(family=BUNDLED_FONT), fallback_to_default=False)
    assert found.endswith("LiberationSans-Regular.ttf")
    assert "SIL OPEN FONT LICENSE Version 1.1" in asset("fonts", "LICENSE.txt").read_text()
    buffer = io.BytesIO()
    save_figure(made(measured, "hub_scatter", STYLE), buffer, "pdf", STYLE)
    assert b"LiberationSans" in buffer.getvalue()
    assert b"DejaVu" not in buffer.getvalue(), "Greek letters and signs are in the same font"
    with pytest.raises(InputError, match=f"choose '{BUNDLED_FONT}'"):
        PaperStyle(font="No Such Font")


@pytest.mark.parametrize("weight", ["Regular", "Bold"])
def test_the_font_has_the_signs_that_figures_write(weight):
    has = FT2Font(asset("fonts", f"LiberationSans-{weight}.ttf")).get_charmap()
    assert [sign for sign in "ργλΔρ−±×·–…≤≥→²′°ä" if ord(sign) not in has] == []


def test_a_sign_that_the_font_lacks_comes_from_another_and_is_no_box(measured):
    style = STYLE
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # matplotlib warns of a glyph that no font has
        figure = made(measured, "hub_scatter", style)
        figure.axes[0].set_xlabel("10⁻³ ∝ ⟨k⟩")
        save_figure(figure, io.BytesIO(), "pdf", style)


@pytest.mark.parametrize(("figure", "title"), [("hub_scatter", "NE against NEff"), ("hub_brain", SUBJECT)])
def test_without_its_title_a_figure_still_says_that_it_is_simulated(measured, figure, title):
    said = " ".join(texts(made(measured, figure, replace(STYLE, titles=True))))
    untitled = " ".join(texts(made(measured, figure, STYLE)))  # as journals want it
    assert title in said
    assert title not in untitled
    assert "simulated" in untitled


def test_the_script_leaves_out_the_same_titles():
    for titles in (True, False):
        style = replace(STYLE, titles=titles)
        assert ("--no-title" in style.command_line()) == (not titles)


@pytest.mark.parametrize("width", [60, 85, 174])
def test_sides_are_marked_beside_the_outline(measured, width):
    figure = made(measured, "hub_brain", replace(STYLE, width_mm=width))
    figure.draw_without_rendering()
    marks = [(axes, text) for axes in figure.axes for text in axes.texts if text.get_text() in ("L", "R")]
    assert [text.get_text() for _, text in marks] == ["L", "R", "L", "R"]
    for axes, text in marks:
        box = text.get_window_extent()
        for outline in axes.patches:
            path = outline.get_transform().transform_path(outline.get_path()).interpolated(20)
            assert not any(box.contains(x, y) for x, y in path.vertices)


def test_curves_of_narrow_regions_stand_apart_and_hubs_are_seen_in_all(measured):
    together, apart = made(measured, "hub_curves", replace(STYLE, width_mm=174)), made(measured, "hub_curves", STYLE)
    assert len(together.axes) == 1  # 90 regions on 174 mm
    assert len(apart.axes) == 3
    assert [axes.get_ylabel() for axes in apart.axes] == ["NE, z", "NEff, z", "FC strength, z"]
    curves = [next(line for line in axes.lines if len(line.get_xdata()) == 90) for axes in apart.axes]
    for one, other in zip(
        curves, [line for line in together.axes[0].lines if len(line.get_xdata()) == 90], strict=True
    ):
        np.testing.assert_array_equal(one.get_ydata(), other.get_ydata())
    marked = [{line.get_xdata()[0] for line in axes.lines if line.get_alpha() == 0.35} for axes in apart.axes]
    assert len(marked[0]) == 9
    assert marked[0] == marked[1] == marked[2]
