"""Regions in the brain hold what they were given: places, colours, sizes, names, connections."""

import json

import numpy as np
import pytest
from brain_drawings import brain_3d, glass_brain
from hub_figures import on_screen
from matplotlib.colors import rgb_to_hsv, to_hex, to_rgb

from biobgt import InputError, load_atlas
from biobgt.base.colours import MODULE_COLOURS, PALE_GREY
from biobgt.data.cohort import Cohort, Subject
from biobgt.export import CohortRef, FigureRequest
from biobgt.export.making import make_figure
from biobgt.figures import brain_caption
from biobgt.figures.brain import GLASS_BRAIN
from biobgt.figures.brain_nodes import (
    FIRST_COLOUR,
    LAST_COLOUR,
    colour_scale,
    left_out_words,
    natural_key,
    node_diameters,
    node_groups,
    rank_ticks,
)
from biobgt.figures.hub_brains import HubBrainOptions, hub_brain
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.screen_brain import cortex_mesh
from biobgt.results.measured import Measured

REGIONS = ("A", "<b>B</b>", "C", "D")
PLACES = np.array([[-40.0, 0, 10], [40, 5, 10], [0, 50, 20], [10, -60, 0]])
VALUES = np.array([1.0, 2.0, np.nan, 4.0])


def named(figure):
    return {trace.name: trace for trace in figure.data}


def places(trace):
    return np.column_stack([trace.x, trace.y, trace.z])


def test_cortex_is_fsaverage5_in_mni_millimetres():
    vertices, triangles = cortex_mesh()
    assert vertices.shape == (20484, 3)
    assert triangles.shape == (40960, 3)
    assert set(np.unique(triangles)) == set(range(20484)), "both hemispheres, every vertex in a triangle"
    assert np.abs(vertices).max() < 110
    # The left hemisphere comes first, on negative x; the right one's triangles stay in the right one.
    assert vertices[:10242, 0].mean() < -20
    assert vertices[10242:, 0].mean() > 20
    sides = triangles >= 10242
    assert (sides.all(axis=1) | ~sides.any(axis=1)).all()


def test_values_are_colours_with_a_named_bar():
    figure = brain_3d(PLACES, REGIONS, values=VALUES, quantity="NE (bits)", title="T", simulated=True)
    nodes = named(figure)["regions"]
    np.testing.assert_array_equal(places(nodes), PLACES[[0, 1, 3]])
    np.testing.assert_array_equal(nodes.marker.color, [1, 2, 4])
    assert (nodes.marker.cmin, nodes.marker.cmax) == (1, 4)
    bar, above = nodes.marker.colorbar, figure.layout.margin.t / figure.layout.height
    assert (bar.title.text.split("<br>")[0], bar.orientation, bar.yref) == ("NE (bits)", "h", "container")
    assert bar.y > 1 - above, "it takes no width from the brain, which a narrow page would cut off"
    assert list(nodes.text) == [
        "<b>A</b><br>NE (bits): 1",
        "<b>&lt;b&gt;B&lt;/b&gt;</b><br>NE (bits): 2",
        "<b>D</b><br>NE (bits): 4",
    ]
    missing = named(figure)["no value"]
    assert missing.marker.color == PALE_GREY
    np.testing.assert_array_equal(places(missing), PLACES[[2]])
    assert figure.layout.title.text == "T · simulated"


def test_first_rank_strikes_the_eye_on_a_white_page_and_on_a_black_one():
    ranks = np.array([3.0, 1.0, 4.0, 2.0])
    marker = named(brain_3d(PLACES, REGIONS, values=ranks, ranked=True))["regions"].marker
    (first, last) = (to_rgb(colour) for _, colour in marker.colorscale)
    assert (marker.cmin, marker.cmax) == (1, 4)
    assert [place for place, _ in marker.colorscale] == [0, 1]
    assert rgb_to_hsv(first)[1] > 0.9 > 0.3 > rgb_to_hsv(last)[1]
    for page in ("#FFFFFF", "#0E1117"):
        assert contrast(first, to_rgb(page)) > 3, "what WCAG asks of graphics"
    assert list(marker.colorbar.tickvals) == [1, 2, 3, 4]
    assert rank_ticks(90) == [1, 20, 40, 60, 80]
    assert rank_ticks(200) == [1, 50, 100, 150, 200]


def test_first_rank_has_the_same_colour_on_paper_and_lies_on_top():
    ranks = np.array([3.0, 1.0, 4.0, 2.0])
    figure = glass_brain(PLACES, REGIONS, values=ranks, ranked=True, display_mode="ortho")
    dots = next(view for view in figure.axes if view.collections).collections[-1]
    assert [to_hex(colour) for colour in dots.get_facecolors()[[0, -1]]] == [LAST_COLOUR.lower(), FIRST_COLOUR.lower()]
    assert list(figure.axes[-1].get_xticks()) == [1, 2, 3, 4]


def contrast(one, other):
    """Contrast ratio of two colours (WCAG 2)."""

    def luminance(colour):
        parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
        return np.dot(parts, [0.2126, 0.7152, 0.0722])

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_groups_have_a_trace_a_colour_and_a_legend_entry_each():
    groups = ["Module 10", "Module 2", None, "Module 2"]
    figure = brain_3d(PLACES, REGIONS, groups=groups, values=VALUES, quantity="NE")
    assert figure.layout.legend.entrywidth >= 6.5 * len("Module 10"), "names do not touch"
    drawn = named(figure)
    assert [name for name, trace in drawn.items() if trace.showlegend] == ["Module 2", "Module 10", "no module"]
    np.testing.assert_array_equal(places(drawn["Module 2"]), PLACES[[1, 3]])
    assert drawn["Module 2"].marker.color == MODULE_COLOURS[0]
    assert drawn["Module 10"].marker.color == MODULE_COLOURS[1]
    assert drawn["no module"].marker.color == PALE_GREY
    assert drawn["Module 10"].text[0] == "<b>A</b><br>Module 10<br>NE: 1"


def test_given_colours_are_used_and_set_the_order():
    groups = node_groups(3, ["a", "b", "c"], {"c": "#111111", "a": "#222222", "x": "#333333"})
    assert [(group.name, group.colour) for group in groups] == [
        ("c", "#111111"),
        ("a", "#222222"),
        ("b", MODULE_COLOURS[2]),
    ]


def test_a_colour_that_comes_again_comes_with_another_symbol():
    groups = node_groups(18, [f"Module {i}" for i in range(1, 19)])
    assert [group.name for group in groups] == [f"Module {i}" for i in range(1, 19)]
    looks = {(group.colour, group.symbol) for group in groups}
    assert len(looks) == 18
    assert groups[8].colour == groups[0].colour


def test_numbers_in_names_count_as_numbers():
    assert sorted(["M10", "M9", "M", "a2", "10"], key=natural_key) == ["10", "M", "M9", "M10", "a2"]


def test_areas_grow_evenly_with_sizes():
    diameters = node_diameters(4, np.array([0.0, 5.0, 10.0, np.nan]), 2.0, 4.0, plain=3.0)
    np.testing.assert_allclose(diameters**2, [4, 10, 16, 4])
    np.testing.assert_array_equal(node_diameters(2, np.array([7.0, 7.0]), 2.0, 4.0, plain=3.0), [3, 3])


@pytest.mark.parametrize(
    ("values", "limits", "expected"),
    [
        ([1.0, 3.0], None, ("Viridis", 1, 3)),
        ([-1.0, 3.0], None, ("RdBu_r", -3, 3)),
        ([-4.0, np.nan, 3.0], None, ("RdBu_r", -4, 4)),
        ([2.0, 2.0], None, ("Viridis", 1.5, 2.5)),
        ([np.nan, np.nan], None, ("Viridis", 0, 1)),
        ([1.0, 3.0], (0.0, 9.0), ("Viridis", 0, 9)),
    ],
)
def test_colour_scale_is_white_at_zero_only_where_values_have_both_signs(values, limits, expected):
    assert colour_scale(np.array(values), limits) == expected


def test_connections_run_between_their_regions_and_stronger_ones_are_thicker():
    figure = brain_3d(PLACES, REGIONS, edges=[(0, 1, 0.1), (1, 2, -0.9), (2, 3, 0.9)])
    lines = [trace for trace in figure.data if trace.name == "connections"]
    drawn = {(trace.line.width, trace.line.dash): places(trace) for trace in lines}
    assert len(drawn) == 3
    np.testing.assert_array_equal(drawn[(1.0, "solid")][:2], PLACES[[0, 1]])
    np.testing.assert_array_equal(drawn[(4.5, "dash")][:2], PLACES[[1, 2]])
    np.testing.assert_array_equal(drawn[(4.5, "solid")][:2], PLACES[[2, 3]])
    assert [trace.showlegend for trace in lines] == [True, False, False]


def test_figure_is_light_enough_to_send_and_lies_on_any_page():
    figure = brain_3d(PLACES, REGIONS, values=VALUES)
    text = figure.to_json()
    assert len(text) < 1_000_000
    assert json.loads(text)["layout"]["scene"]["bgcolor"] == "rgba(0, 0, 0, 0)"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"coordinates": PLACES[:, :2]}, "shape (4, 2), but 4 regions"),
        ({"coordinates": np.where(PLACES == 50, np.nan, PLACES)}, "Region 'C' has no finite MNI coordinates"),
        ({"values": VALUES[:3]}, "3 values for 4 regions"),
        ({"sizes": VALUES[:3]}, "3 sizes for 4 regions"),
        ({"groups": ["a"]}, "1 groups for 4 regions"),
        ({"edges": [(0, 4, 1.0)]}, "from region 0 to 4, but regions are counted from 0 to 3"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_sentence(change, message):
    with pytest.raises(InputError) as error:
        brain_3d(**({"coordinates": PLACES, "regions": REGIONS} | change))
    assert message in str(error.value)


def test_captions_say_what_colours_and_sizes_are():
    caption = brain_caption("S1", 200, quantity="rank", size="NE", n_edges=1, simulated=True)
    assert caption == (
        "Simulated subject S1: 200 regions at their MNI coordinates inside the fsaverage5 cortex; the colour is rank, "
        "and the size is NE. 1 connection drawn, thicker where stronger."
    )
    assert "inside nilearn's glass brain, seen from four sides; all" in brain_caption("S1", 2, where=GLASS_BRAIN)
    assert "the module, of 5." in brain_caption("S1", 200, n_groups=5)
    assert "the module, of 5; grey regions are in none." in brain_caption("S1", 200, n_groups=5, some_in_none=True)


UNPLACED = np.vstack([PLACES[:3], [np.nan] * 3])


def test_a_region_without_a_place_is_left_out_of_the_brain_and_of_nothing_else():
    figure = brain_3d(UNPLACED, REGIONS, values=VALUES, edges=[(0, 1, 1.0), (0, 3, 2.0)])
    drawn = [trace for trace in figure.data if trace.name in ("regions", "no value")]
    assert sum(len(trace.x) for trace in drawn) == 3
    (lines,) = [trace for trace in figure.data if getattr(trace, "mode", "") == "lines"]
    assert np.isfinite(lines.x).sum() == 2, "one connection, and none to nowhere"
    assert list(named(figure)["regions"].marker.color) == [1, 2]
    glass = glass_brain(UNPLACED, REGIONS, groups=["a", "a", "b", "c"], edges=[(0, 1, 1.0), (0, 3, 2.0)])
    glass.canvas.draw()
    assert left_out_words(UNPLACED) == " 1 region without known coordinates is left out of the drawing."
    assert left_out_words(PLACES) == ""


def test_groups_that_have_no_place_are_not_in_the_legend():
    shown = {trace.name for trace in brain_3d(UNPLACED, REGIONS, groups=["a", "a", "b", "c"]).data}
    assert {"a", "b"} <= shown
    assert "c" not in shown


def test_brains_of_an_atlas_of_which_56_regions_have_no_place(rng):
    cohort = Cohort("4S", (Subject("s1", series=rng.standard_normal((60, 156))),), load_atlas("4s156"))
    measured = Measured(cohort)
    for key in ("hub_brain", "module_brain", "five_brains"):
        made = make_figure(measured, FigureRequest(key, CohortRef("4S"), "s1"), PaperStyle(dpi=72))
        assert "56 regions without known coordinates are left out" in made.caption
        assert len(made.numbers) == 156
    on_screen(hub_brain(measured.of("s1"), HubBrainOptions()))
