"""Both pens draw every mark from the same numbers; the screen's pen escapes, and sends numbers as bytes."""

import base64
import json

import numpy as np
import pytest
from hub_figures import on_screen

from biobgt.base.colours import SEQUENTIAL
from biobgt.figures import screen
from biobgt.figures.brain import Brain
from biobgt.figures.drawing import (
    GAP_COLOUR,
    Axis,
    Band,
    Bars,
    Boxes,
    Curve,
    Drawing,
    Heatmap,
    Mark,
    Panel,
    Points,
    Rule,
    Shades,
    order_regions,
)
from biobgt.figures.paper import pen
from biobgt.figures.paper_style import PaperStyle

STYLE = PaperStyle(dpi=72)
BLUE = "#0072B2"
X = np.array([1.0, 2.0, 4.0])


def drawn(*marks, x=None, y=None, **about):
    panel = Panel(marks=marks, x=x or Axis(), y=y or Axis())
    shown = Drawing(title="A <b> & c", panels=[panel], **about)
    return on_screen(shown), pen.draw_on_paper(shown, STYLE)


def test_every_mark_is_drawn_by_both_pens():
    whole_pages = {Brain}
    marks = set(Mark.__subclasses__()) - whole_pages
    assert marks == set(screen._PENS) == set(pen._PENS)


def test_a_name_is_said_once_and_its_marks_go_together():
    marks = [
        Band(name="NC", colour=BLUE, x=X, low=X - 1, high=X + 1),
        Curve(name="NC", colour=BLUE, x=X, y=X),
        Curve(name="NC", colour=BLUE, x=X, y=-X),
        Curve(colour=BLUE, x=X, y=0 * X),
    ]
    figure, printed = drawn(*marks)
    assert [trace.showlegend for trace in figure.data] == [False, True, False, False]
    assert [trace.legendgroup for trace in figure.data] == ["NC", "NC", "NC", None]
    assert [text.get_text() for text in printed.legends[0].get_texts()] == ["NC"]


def test_texts_of_a_drawing_are_plain():
    names = ["<i>", "b\nc"]
    points = Points(name="<b>", x=[0, 1], y=[1, 2], colour=BLUE, texts=names, hover="%{text}\n%{y}", ids=[7, 3])
    figure, printed = drawn(points, x=Axis(names=names))
    (trace,) = figure.data
    assert figure.layout.title.text == "A &lt;b&gt; &amp; c"
    assert (trace.name, list(trace.x)) == ("&lt;b&gt;", ["&lt;i&gt;", "b<br>c"])
    assert list(trace.text) == ["&lt;i&gt;", "b<br>c"]
    assert trace.hovertemplate == "%{text}<br>%{y}<extra></extra>"
    assert list(trace.customdata) == [7, 3]
    assert printed.axes[0].lines[0].get_xydata().tolist() == [[0, 1], [1, 2]]
    assert [label.get_text() for label in printed.axes[0].get_xticklabels()] == ["<i>", "b c"]


def test_bars_stand_on_each_other():
    low, high = Bars(colour=BLUE, x=X, y=[1, 2, 3], width=0.5), Bars(colour=BLUE, x=X, y=[4, np.nan, 6], width=0.5)
    figure, printed = drawn(low, high)
    assert figure.layout.barmode == "stack"
    bottoms = [[bar.get_y() for bar in bars] for bars in printed.axes[0].containers]
    assert bottoms == [[0, 0, 0], [1, 2, 3]]


def test_intervals_reach_from_low_to_high():
    points = Points(colour=BLUE, x=X, y=[0, 1, 2], low=X - 0.5, high=X + 1, across="x")
    figure, printed = drawn(points, y=Axis(names=["a", "b", "c"], reversed=True))
    np.testing.assert_allclose(figure.data[0].error_x.array, 1)
    np.testing.assert_allclose(figure.data[0].error_x.arrayminus, 0.5)
    segments = printed.axes[0].collections[0].get_segments()
    np.testing.assert_allclose([segment[:, 0] for segment in segments], np.column_stack([X - 0.5, X + 1]))
    assert printed.axes[0].yaxis_inverted(), "the first row is on top"


@pytest.mark.parametrize(
    ("rule", "axis"), [(Rule(name="here", x=2, colour=BLUE), "x"), (Rule(name="here", y=2, colour=BLUE), "y")]
)
def test_a_rule_is_named_on_both(rule, axis):
    figure, printed = drawn(Curve(colour=BLUE, x=X, y=X), rule, x=Axis(limits=(0, 3)))
    (line,) = figure.layout.shapes
    assert line[f"{axis}0"] == line[f"{axis}1"] == 2
    assert figure.layout.annotations[0].text == "here"
    said = printed.legends[0].get_texts() if axis == "x" else printed.axes[0].texts
    assert [text.get_text() for text in said] == ["here"]


def heat(z, shades=None, **about):
    names = [f"r{i}" for i in range(len(z))]
    order = order_regions(len(z), ["one"] * (len(z) - 1) + ["two"])
    axes = {"x": Axis(names=names, order=order), "y": Axis(names=names, order=order, reversed=True)}
    mark = Heatmap(z=z, shades=shades or Shades(quantity="r", low=-1, high=1), **about)
    return drawn(mark, **axes, square_mm=60)


def test_maps_show_the_same_cells_with_gaps_frames_and_words():
    z = np.array([[1.0, 0.5, np.nan], [-0.5, 1.0, 0.2], [0.1, -0.9, 1.0]])
    figure, printed = heat(z, cells=[["a", "", ""], ["", "b", ""], ["", "", "c"]], frames=[(0, 2, 2, 3)])
    trace, axes = figure.data[0], printed.axes[0]
    np.testing.assert_allclose(trace.z, z, rtol=1e-6)
    np.testing.assert_array_equal(axes.images[0].get_array().filled(np.nan), z)
    assert figure.layout.plot_bgcolor == GAP_COLOUR
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == axes.images[0].get_clim() == (-1, 1)
    assert [note.text for note in figure.layout.annotations] == ["a", "b", "c"]
    assert [text.get_text() for text in axes.texts if text.get_text()] == ["a", "b", "c"]
    assert axes.texts[0].get_color() == figure.layout.annotations[0].font.color == "white"
    (frame,) = (shape for shape in figure.layout.shapes if shape.name == "marked")
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (1.5, 2.5, -0.5, 1.5)
    assert axes.patches[0].get_bbox().extents.tolist() == [1.5, -0.5, 2.5, 1.5]
    assert list(figure.layout.yaxis.ticktext) == ["one", "two"]


def test_weights_over_decades_have_logarithmic_colours():
    z = np.array([[0.0, 1.0], [10.0, 100.0]])
    figure, printed = heat(z, Shades(quantity="w", low=1, high=100, colours=SEQUENTIAL, log=True))
    np.testing.assert_allclose(figure.data[0].z, [[0, 0], [1, 2]])
    np.testing.assert_allclose(figure.data[0].customdata, z)
    assert list(figure.layout.coloraxis.colorbar.tickvals) == [0, 1, 2]
    assert (printed.axes[0].images[0].norm.vmin, printed.axes[0].images[0].norm.vmax) == (1, 100)


def test_boxes_are_of_known_values():
    values = np.array([1.0, 2.0, 3.0, np.nan])
    figure, printed = drawn(Boxes(colour=BLUE, x=0, values=values), x=Axis(names=["NC"]))
    np.testing.assert_array_equal(figure.data[0].y, values)
    assert any(2 in np.unique(line.get_ydata()) for line in printed.axes[0].lines), "the median"


def test_numbers_are_sent_as_bytes():
    contents = {"x": X, "names": ["a"], "many": [{"n": np.arange(4).reshape(2, 2)}], "text": np.array(["b"], object)}
    sent = screen._packed(contents)
    json.dumps(sent)
    np.testing.assert_array_equal(np.frombuffer(base64.b64decode(sent["x"]["bdata"]), sent["x"]["dtype"]), X)
    assert sent["many"][0]["n"]["shape"] == "2, 2"
    assert (sent["names"], sent["text"]) == (["a"], ["b"])
