"""The pinned region on the screen: a ring around its points, a frame around its row, nothing where it is not."""

import numpy as np
import pytest

from biobgt.data.simulate import demo_cohort
from biobgt.figures.attention.maps import attention_maps
from biobgt.figures.register import all_figures
from biobgt.figures.screen.page import _mark_region
from biobgt.figures.screen.pen import draw_on_screen
from biobgt.model.pretrained import installed_model
from biobgt.results.measured import Measured

REGION = 7


@pytest.fixture(scope="module")
def measured():
    cohort = demo_cohort("ad", n_per_group=2)
    return Measured(cohort).of(cohort.ids[0])


def marks(contents):
    """The rings and the frames of the pinned region."""
    rings = [trace for trace in contents["data"] if trace.get("name") == "pinned"]
    return rings, [shape for shape in contents["layout"].get("shapes", ()) if shape.get("name") == "pinned"]


def marked(measured, key, region=REGION, **options):
    """A figure with a region marked."""
    figure = all_figures()[key]
    contents = draw_on_screen(figure(measured, figure.takes(**options)))
    _mark_region(contents, region)
    return contents


@pytest.mark.parametrize("key", ["hub_brain", "module_brain"])
def test_a_ring_stands_around_the_region_in_the_brain(measured, key):
    contents = marked(measured, key)
    (ring,), frames = marks(contents)
    assert not frames
    np.testing.assert_allclose([ring[axis][0] for axis in "xyz"], measured.atlas.coordinates[REGION])
    nodes = next(trace for trace in contents["data"] if REGION in trace.get("customdata", ()))
    size = np.broadcast_to(nodes["marker"]["size"], len(nodes["customdata"]))[list(nodes["customdata"]).index(REGION)]
    assert ring["marker"]["size"] > size
    assert not ring["showlegend"]


def test_every_curve_of_the_region_has_a_ring(measured):
    contents = marked(measured, "hub_curves", order="atlas")
    rings, _ = marks(contents)
    curves = [trace for trace in contents["data"] if len(trace.get("customdata", ())) == measured.atlas.n_regions]
    assert [ring["y"][0] for ring in rings] == [curve["y"][REGION] for curve in curves]
    assert len(rings) == 3
    assert {ring["x"][0] for ring in rings} == {measured.atlas.regions[REGION]}


def test_a_matrix_has_the_row_and_the_column_framed_where_they_are_drawn(measured):
    contents = marked(measured, "module_heatmap")
    rings, (row, column) = marks(contents)
    names = contents["data"][0]["y"]
    at = list(names).index(measured.atlas.regions[REGION])
    assert not rings
    assert (row["y0"], row["y1"]) == (column["x0"], column["x1"]) == (at - 0.5, at + 0.5)


def test_series_have_a_row_and_no_column_and_every_panel_is_marked(measured):
    _, frames = marks(marked(measured, "series_carpet"))
    assert [frame["yref"] for frame in frames] == ["y"]
    groups = Measured(installed_model("adsim-aal90").cohort)
    contents = draw_on_screen(attention_maps(groups, attention_maps.takes()))
    _mark_region(contents, REGION)
    assert len(marks(contents)[1]) == 2 * sum(trace["type"] == "heatmap" for trace in contents["data"])


def test_what_has_no_regions_is_left_alone(measured):
    figure = all_figures()["gamma_sweep"]
    before = draw_on_screen(figure(measured, figure.takes()))
    n_traces, n_shapes = len(before["data"]), len(before["layout"]["shapes"])
    _mark_region(before, REGION)
    assert (len(before["data"]), len(before["layout"]["shapes"])) == (n_traces, n_shapes)
