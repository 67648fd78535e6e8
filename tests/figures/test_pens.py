"""Both pens draw every mark from the same numbers; the screen's pen escapes, and sends numbers as bytes."""

import base64
import json

import numpy as np
import plotly.graph_objects as go
import pytest
from drawn_figures import on_screen

from biobgt import ConnectomeSettings
from biobgt.base.colours import SEQUENTIAL
from biobgt.base.errors import InputError
from biobgt.data.simulate import demo_cohort
from biobgt.figures import drawing as draw
from biobgt.figures.attention.maps import attention_maps
from biobgt.figures.brain import Brain
from biobgt.figures.hubs import HubCurvesOptions, hub_curves
from biobgt.figures.paper import pen
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.regions import order_regions
from biobgt.figures.screen import pen as screen
from biobgt.figures.screen.page import _compact, packed
from biobgt.figures.screen.pen import draw_on_screen
from biobgt.model.pretrained import installed_model, installed_models
from biobgt.results.measured import Measured

STYLE = PaperStyle(dpi=72)
BLUE = "#0072B2"
X = np.array([1.0, 2.0, 4.0])


def drawn(*marks, x=None, y=None, **about):
    panel = draw.Panel(marks=marks, x=x or draw.Axis(), y=y or draw.Axis())
    shown = draw.Drawing(title="A <b> & c", panels=[panel], **about)
    return on_screen(shown), pen.draw_on_paper(shown, STYLE)


def test_every_mark_is_drawn_by_both_pens():
    marks = set(draw.Mark.__subclasses__())
    assert marks == set(screen._PENS) == set(pen._PENS) | {Brain}  # on paper a brain is a page of its own


def test_a_name_is_said_once_and_its_marks_go_together():
    marks = [
        draw.Band(name="NC", colour=BLUE, x=X, low=X - 1, high=X + 1),
        draw.Curve(name="NC", colour=BLUE, x=X, y=X),
        draw.Curve(name="NC", colour=BLUE, x=X, y=-X),
        draw.Curve(colour=BLUE, x=X, y=0 * X),
    ]
    figure, printed = drawn(*marks)
    assert [trace.showlegend for trace in figure.data] == [False, True, False, False]
    assert [trace.legendgroup for trace in figure.data] == ["NC", "NC", "NC", None]
    assert [text.get_text() for text in printed.legends[0].get_texts()] == ["NC"]


def test_texts_of_a_drawing_are_plain():
    names = ["<i>", "b\nc"]
    points = draw.Points(name="<b>", x=[0, 1], y=[1, 2], colour=BLUE, texts=names, hover="%{text}\n%{y}", ids=[7, 3])
    figure, printed = drawn(points, x=draw.Axis(names=names))
    (trace,) = figure.data
    assert figure.layout.title.text == "A &lt;b&gt; &amp; c"
    assert (trace.name, list(trace.x)) == ("&lt;b&gt;", ["&lt;i&gt;", "b<br>c"])
    assert list(trace.text) == ["&lt;i&gt;", "b<br>c"]
    assert trace.hovertemplate == "%{text}<br>%{y}<extra></extra>"
    assert list(trace.customdata) == [7, 3]
    assert printed.axes[0].lines[0].get_xydata().tolist() == [[0, 1], [1, 2]]
    assert [label.get_text() for label in printed.axes[0].get_xticklabels()] == ["<i>", "b c"]


def test_bars_stand_on_each_other():
    low, high = (
        draw.Bars(colour=BLUE, x=X, y=[1, 2, 3], width=0.5),
        draw.Bars(colour=BLUE, x=X, y=[4, np.nan, 6], width=0.5),
    )
    figure, printed = drawn(low, high)
    assert figure.layout.barmode == "stack"
    bottoms = [[bar.get_y() for bar in bars] for bars in printed.axes[0].containers]
    assert bottoms == [[0, 0, 0], [1, 2, 3]]


def test_intervals_reach_from_low_to_high():
    points = draw.Points(colour=BLUE, x=X, y=[0, 1, 2], low=X - 0.5, high=X + 1, across="x")
    figure, printed = drawn(points, y=draw.Axis(names=["a", "b", "c"], reversed=True))
    np.testing.assert_allclose(figure.data[0].error_x.array, 1)
    np.testing.assert_allclose(figure.data[0].error_x.arrayminus, 0.5)
    segments = printed.axes[0].collections[0].get_segments()
    np.testing.assert_allclose([segment[:, 0] for segment in segments], np.column_stack([X - 0.5, X + 1]))
    assert printed.axes[0].yaxis_inverted(), "the first row is on top"


@pytest.mark.parametrize(
    ("rule", "axis"), [(draw.Rule(name="here", x=2, colour=BLUE), "x"), (draw.Rule(name="here", y=2, colour=BLUE), "y")]
)
def test_a_rule_is_named_on_both(rule, axis):
    figure, printed = drawn(draw.Curve(colour=BLUE, x=X, y=X), rule, x=draw.Axis(limits=(0, 3)))
    (line,) = figure.layout.shapes
    assert line[f"{axis}0"] == line[f"{axis}1"] == 2
    assert figure.layout.annotations[0].text == "here"
    said = printed.legends[0].get_texts() if axis == "x" else printed.axes[0].texts
    assert [text.get_text() for text in said] == ["here"]


def heat(z, shades=None, **about):
    names = [f"r{i}" for i in range(len(z))]
    order = order_regions(len(z), ["one"] * (len(z) - 1) + ["two"])
    axes = {"x": draw.Axis(names=names, order=order), "y": draw.Axis(names=names, order=order, reversed=True)}
    mark = draw.Heatmap(z=z, shades=shades or draw.Shades(quantity="r", low=-1, high=1), **about)
    return drawn(mark, **axes, square_mm=60)


def test_maps_show_the_same_cells_with_gaps_frames_and_words():
    z = np.array([[1.0, 0.5, np.nan], [-0.5, 1.0, 0.2], [0.1, -0.9, 1.0]])
    figure, printed = heat(z, cells=[["a", "", ""], ["", "b", ""], ["", "", "c"]], frames=[(0, 2, 2, 3)])
    trace, axes = figure.data[0], printed.axes[0]
    np.testing.assert_allclose(trace.z, z, rtol=1e-6)
    np.testing.assert_array_equal(axes.images[0].get_array().filled(np.nan), z)
    assert figure.layout.plot_bgcolor == draw.GAP_COLOUR
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
    figure, printed = heat(z, draw.Shades(quantity="w", low=1, high=100, colours=SEQUENTIAL, log=True))
    np.testing.assert_allclose(figure.data[0].z, [[0, 0], [1, 2]])
    np.testing.assert_allclose(figure.data[0].customdata, z)
    assert list(figure.layout.coloraxis.colorbar.tickvals) == [0, 1, 2]
    assert (printed.axes[0].images[0].norm.vmin, printed.axes[0].images[0].norm.vmax) == (1, 100)


def test_boxes_are_of_known_values():
    values = np.array([1.0, 2.0, 3.0, np.nan])
    figure, printed = drawn(draw.Boxes(colour=BLUE, x=0, values=values), x=draw.Axis(names=["NC"]))
    np.testing.assert_array_equal(figure.data[0].y, values)
    assert any(2 in np.unique(line.get_ydata()) for line in printed.axes[0].lines), "the median"


def test_numbers_are_sent_as_bytes():
    contents = {
        "x": X,
        "x0": np.int64(3),
        "names": ["a"],
        "many": [{"n": np.arange(4).reshape(2, 2)}],
        "text": np.array(["b"], object),
    }
    sent = packed(contents)
    json.dumps(sent)
    np.testing.assert_array_equal(np.frombuffer(base64.b64decode(sent["x"]["bdata"]), sent["x"]["dtype"]), X)
    assert sent["many"][0]["n"]["shape"] == "2, 2"
    assert (sent["names"], sent["text"], sent["x0"]) == (["a"], ["b"], 3)


# As small as a third of a page: the same numbers, with less around them.

HEIGHT = 300


def groups_of(name: str, *groups: str) -> draw.Drawing:
    model = installed_model(name)
    return attention_maps(Measured(model.cohort).of(None), attention_maps.takes(groups=groups))


def test_it_shows_the_same_numbers_in_less_room() -> None:
    cohort = demo_cohort("ad", n_per_group=1)
    curves = hub_curves(Measured(cohort).of(cohort.ids[0], ConnectomeSettings()), HubCurvesOptions())
    large = draw_on_screen(curves)
    small = _compact(large, height=HEIGHT)
    go.Figure(small)  # plotly knows every name
    assert small["layout"]["height"] == HEIGHT < large["layout"]["height"]
    assert not small["layout"]["title"]["text"]
    assert small["data"] == large["data"]
    assert large["layout"]["title"]["text"]  # that of the other drawing is as it was


def test_maps_lose_the_names_of_networks_and_keep_the_scale() -> None:
    figure = groups_of("adsim-aal90", "NC", "AD")
    small = go.Figure(_compact(draw_on_screen(figure), height=HEIGHT))
    assert small.layout.yaxis.showticklabels is False
    assert (small.layout.coloraxis.cmin, small.layout.coloraxis.cmax) == (figure.shades.low, figure.shades.high)


def test_groups_are_shown_in_the_order_asked_for() -> None:
    figure = groups_of("adsim-aal90", "AD", "NC")
    assert [panel.title.split()[0] for panel in figure.panels] == ["AD", "NC"]
    assert [panel.title.split()[0] for panel in groups_of("adsim-aal90").panels] == ["NC", "MCI", "AD"]
    assert "MCI" not in figure.caption
    with pytest.raises(InputError, match="no group 'ADHD'"):
        groups_of("adsim-aal90", "ADHD")


@pytest.mark.parametrize(
    ("name", "group", "pair"),
    [
        ("adsim-aal90", "AD", ("NC", "AD")),
        ("adsim-aal90", "NC", ("NC", "MCI")),
        ("adsim-aal90", None, ("NC", "MCI")),
        ("abide-cc200", "ADHD", ("NC", "ASD")),
    ],
)
def test_a_subjects_group_stands_beside_its_controls(name, group, pair) -> None:
    assert installed_model(name).pair_with(group) == pair


def test_of_a_shared_network_a_group_stands_beside_the_controls_of_its_cohort() -> None:
    networks = [model for model in installed_models().values() if model.readouts]
    for model in networks:
        for controls, *others in model.readouts.values():
            assert [model.pair_with(group) for group in others] == [(controls, group) for group in others]
