"""Regions in the brain hold what they were given: places, colours, sizes, names, connections, painted cortex."""

from dataclasses import replace
from itertools import combinations
from unittest.mock import patch

import numpy as np
import pytest
from drawn_figures import (
    CURVES,
    STYLE,
    brain_3d,
    brain_of,
    brains_on_one_scale,
    contrast,
    curves_of,
    drawing_of,
    glass_brain,
    on_screen,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import rgb_to_hsv, to_hex, to_rgb
from nilearn.datasets import load_fsaverage

from biobgt import ConnectomeSettings, InputError, load_atlas
from biobgt.base.colours import MODULE_COLOURS, PALE_GREY
from biobgt.data.atlas import BUNDLED, numbered_atlas
from biobgt.data.cohort import Cohort, Subject
from biobgt.data.cortex import N_VERTICES, has_surface, hemisphere_mesh, surface_labels
from biobgt.figures.attention.maps import attention_in_brain
from biobgt.figures.brain import (
    CORTEX,
    FIRST_COLOUR,
    GLASS_BRAIN,
    LAST_COLOUR,
    VIEWS,
    Brain,
    _rank_ticks,
    brain_caption,
    painted_triangles,
)
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.register import all_figures
from biobgt.figures.screen.brain import _cortex_mesh, _name_offsets, _region_names, _side_names
from biobgt.figures.screen.brain import _on_screen as seen_at
from biobgt.figures.screen.pen import draw_on_screen
from biobgt.model.pretrained import installed_model
from biobgt.results.measured import Measured

REGIONS = ("A", "<b>B</b>", "C", "D")
PLACES = np.array([[-40.0, 0, 10], [40, 5, 10], [-20, 50, 20], [10, -60, 0]])
UNPLACED = np.vstack([PLACES[:3], [np.nan] * 3])
VALUES = np.array([1.0, 2.0, np.nan, 4.0])
RANKS = np.array([3.0, 1.0, 4.0, 2.0])


def named(figure):
    return {trace.name: trace for trace in figure.data}


def places(trace):
    return np.column_stack([trace.x, trace.y, trace.z])


def test_cortex_is_fsaverage5_in_mni_millimetres():
    vertices, triangles = _cortex_mesh()
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
    nodes, colours = named(figure)["regions"], figure.layout.coloraxis
    np.testing.assert_array_equal(places(nodes), PLACES[[0, 1, 3]])
    np.testing.assert_array_equal(nodes.marker.color, [1, 2, 4])
    assert (colours.cmin, colours.cmax, nodes.marker.coloraxis) == (1, 4, "coloraxis")
    bar, above = colours.colorbar, figure.layout.margin.t / figure.layout.height
    assert (bar.title.text.split("<br>")[0], bar.orientation, bar.yref) == ("NE (bits)", "h", "container")
    assert bar.y > 1 - above, "it takes no width from the brain, which a narrow page would cut off"
    assert list(nodes.text) == [
        "<b>A</b><br>NE (bits): 1",
        "<b>&lt;b&gt;B&lt;/b&gt;</b><br>NE (bits): 2",
        "<b>D</b><br>NE (bits): 4",
    ]
    assert list(nodes.customdata) == [0, 1, 3], "the regions themselves"
    missing = named(figure)["no value"]
    assert missing.marker.color == PALE_GREY
    np.testing.assert_array_equal(places(missing), PLACES[[2]])
    assert figure.layout.title.text == "T · simulated"
    assert len(figure.to_json()) < 1_000_000, "light enough to send"
    assert figure.layout.scene.bgcolor == "rgba(0, 0, 0, 0)", "it lies on any page"


def test_first_rank_strikes_the_eye_on_a_white_page_and_on_a_black_one():
    colours = brain_3d(PLACES, REGIONS, values=RANKS, ranked=True).layout.coloraxis
    (first, last) = (to_rgb(colour) for _, colour in colours.colorscale)
    assert (colours.cmin, colours.cmax) == (1, 4)
    assert [place for place, _ in colours.colorscale] == [0, 1]
    assert rgb_to_hsv(first)[1] > 0.9 > 0.3 > rgb_to_hsv(last)[1]
    for page in ("#FFFFFF", "#0E1117"):
        assert contrast(first, page) > 3, "what WCAG asks of graphics"
    assert list(colours.colorbar.tickvals) == [1, 2, 3, 4]
    assert _rank_ticks(90) == [1, 20, 40, 60, 80]
    assert _rank_ticks(200) == [1, 50, 100, 150, 200]
    printed = glass_brain(PLACES, REGIONS, values=RANKS, ranked=True)
    front = [view for view in printed.axes if view.collections][1]
    drawn = [to_hex(colour) for colour in front.collections[-1].get_facecolors()[[0, -1]]]
    assert drawn == [LAST_COLOUR.lower(), FIRST_COLOUR.lower()], "the first lies on top"
    assert list(printed.axes[-1].get_xticks()) == [1, 2, 3, 4]


def test_groups_have_a_trace_a_colour_and_a_legend_entry_each():
    groups = ["Module 10", "Module 2", None, "Module 2"]
    colours = {"Module 2": "#112233", "Module 7": "#223344", "Module 10": "#334455"}
    figure = brain_3d(PLACES, REGIONS, groups=groups, group_colours=colours, values=VALUES, quantity="NE")
    assert figure.layout.legend.entrywidth >= 6.5 * len("Module 10"), "names do not touch"
    drawn = named(figure)
    assert [name for name, trace in drawn.items() if trace.showlegend] == ["Module 2", "Module 10", "no module"]
    np.testing.assert_array_equal(places(drawn["Module 2"]), PLACES[[1, 3]])
    assert [trace.marker.color for trace in drawn.values() if trace.showlegend] == ["#112233", "#334455", PALE_GREY]
    assert drawn["Module 10"].text[0] == "<b>A</b><br>Module 10<br>NE: 1"


def test_a_colour_that_comes_again_comes_with_another_symbol():
    parts = brain_of(np.zeros((18, 3)), "abcdefghijklmnopqr", groups=[f"Module {i}" for i in range(1, 19)]).parts
    assert [part.name for part in parts] == [f"Module {i}" for i in range(1, 19)]
    assert len({(part.colour, part.symbol) for part in parts}) == 18
    assert parts[8].colour == parts[0].colour == MODULE_COLOURS[0]


def test_areas_grow_evenly_with_sizes():
    brain = brain_of(PLACES, REGIONS, sizes=np.array([0.0, 5.0, 10.0, np.nan]))
    np.testing.assert_allclose(brain.diameters(2.0, 4.0, plain=3.0) ** 2, [4, 10, 16, 4])
    alike = replace(brain, sizes=np.full(4, 7.0))
    np.testing.assert_array_equal(alike.diameters(2.0, 4.0, plain=3.0), [3, 3, 3, 3])


@pytest.mark.parametrize(
    ("values", "limits", "expected"),
    [
        ([1.0, 3.0], None, ("Viridis", 1, 3)),
        ([-1.0, 3.0], None, ("RdBu_r", -3, 3)),
        ([-4.0, np.nan], (-4.0, 3.0), ("RdBu_r", -4, 4)),
        ([2.0, 2.0], None, ("Viridis", 1.5, 2.5)),
        ([np.nan, np.nan], None, ("Viridis", 0, 1)),
        ([1.0, 3.0], (0.0, 9.0), ("Viridis", 0, 9)),
    ],
)
def test_colours_are_white_at_zero_only_where_values_have_both_signs(values, limits, expected):
    shades = brain_of(PLACES[:2], "AB", values=np.array(values), limits=limits).shades
    assert (shades.colours, shades.low, shades.high) == expected


def test_connections_run_between_their_regions_and_stronger_ones_are_thicker():
    figure = brain_3d(PLACES, REGIONS, edges=[(0, 1, 0.1), (1, 2, -0.9), (2, 3, 0.9)])
    lines = [trace for trace in figure.data if trace.name == "connections"]
    drawn = {(trace.line.width, trace.line.dash): places(trace) for trace in lines}
    assert len(drawn) == 3
    np.testing.assert_array_equal(drawn[(1.0, "solid")][:2], PLACES[[0, 1]])
    np.testing.assert_array_equal(drawn[(4.5, "dash")][:2], PLACES[[1, 2]])
    np.testing.assert_array_equal(drawn[(4.5, "solid")][:2], PLACES[[2, 3]])
    assert [trace.showlegend for trace in lines] == [True, False, False]


def test_captions_say_what_colours_and_sizes_are():
    brain, subject = brain_of(PLACES, REGIONS, edges=[(0, 1, 1.0)]), Subject("S1", series=np.eye(4), simulated=True)
    assert brain_caption(brain, subject, CORTEX, colour="rank", size="NE") == (
        "Simulated subject S1: 4 regions at their MNI coordinates inside the fsaverage5 cortex; the colour is rank, "
        "and the size is NE. 1 connection drawn, thicker where stronger."
    )
    assert "inside nilearn's glass brain, seen from four sides;" in brain_caption(
        brain, subject, GLASS_BRAIN, colour=""
    )
    painted = Brain.of(ATLAS, "pial", edges=[(0, 1, 1.0)])
    assert brain_caption(painted, subject, GLASS_BRAIN, colour="rank", size="NE").endswith(
        "100 regions painted on the pial fsaverage5 cortex, seen from the side and from the middle; the colour is "
        "rank. Cortex of no region is light grey."
    )
    shown = drawing_of(brain)
    assert (shown.caption, shown.for_paper(PaperStyle()).caption) == (CORTEX, GLASS_BRAIN)


def test_a_region_without_a_place_is_left_out_of_the_brain_and_of_nothing_else():
    edges = [(0, 1, 1.0), (0, 3, 2.0)]
    figure = brain_3d(UNPLACED, REGIONS, values=VALUES, edges=edges)
    drawn = [trace for trace in figure.data if trace.name in ("regions", "no value")]
    assert sum(len(trace.x) for trace in drawn) == 3
    (lines,) = [trace for trace in figure.data if getattr(trace, "mode", "") == "lines"]
    assert np.isfinite(lines.x).sum() == 2, "one connection, and none to nowhere"
    assert list(named(figure)["regions"].marker.color) == [1, 2]
    grouped = brain_of(UNPLACED, REGIONS, groups=["a", "a", "b", "c"], edges=edges)
    draw_on_paper(drawing_of(grouped), PaperStyle()).canvas.draw()
    assert [part.name for part in grouped.parts] == ["a", "b"], "a group without a place is in no legend"
    assert grouped.left_out == " 1 region without known coordinates is left out of the drawing."
    assert brain_of(PLACES, REGIONS).left_out == ""


def test_brains_of_an_atlas_of_which_56_regions_have_no_place(rng):
    cohort = Cohort("4S", (Subject("s1", series=rng.standard_normal((60, 156))),), load_atlas("4s156"))
    measured = Measured(cohort).of("s1", ConnectomeSettings())
    for key in ("hub_brain", "module_brain", "five_brains"):
        drawn = all_figures()[key](measured, all_figures()[key].takes())
        assert "56 regions without known coordinates are left out" in drawn.caption
        assert len(drawn.numbers()) == 156
        draw_on_paper(drawn, PaperStyle(dpi=72))
        draw_on_screen(drawn)


def test_attention_received_gives_its_range_and_claims_nothing():
    measured = Measured(installed_model("abide-cc200").cohort).of(None)
    regions, received = measured.atlas.regions, np.linspace(0.95, 1.05, 200)
    with patch("biobgt.figures.attention.maps.attention_received", return_value=received):
        shown = attention_in_brain(measured, attention_in_brain.takes())
    assert " NC, mean over layers and heads, on the fsaverage5 cortex;" in shown.caption
    assert "0.95 to 1.05, which is 10 % of the mean" in shown.caption
    assert f"No region was tested; the highest values are those of {regions[-1]}, {regions[-2]}" in shown.caption
    assert shown.for_paper(PaperStyle()).caption == shown.caption.replace(CORTEX, GLASS_BRAIN)
    np.testing.assert_array_equal(shown.numbers()["attention received"], received)


# Names of regions on the screen lie on no other name, and on no hub that is named.

LETTER, LINE, NODE, WIDTH = 6.0, 14.0, 8.0, 484.0  # px; a letter of the page's font, and what a page 800 px wide draws


def boxes(points: np.ndarray, letters: list[int]) -> list[tuple[float, float, float, float]]:
    """Left, top, right and bottom of each name."""
    moved = points + np.array(_name_offsets(points, letters))
    return [
        (x - LETTER * n / 2, y - LINE / 2, x + LETTER * n / 2, y + LINE / 2)
        for (x, y), n in zip(moved, letters, strict=True)
    ]


def meet(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(-200, 200), st.floats(-150, 150), st.integers(4, 22)), min_size=1, max_size=10))
def test_ten_names_are_all_read_wherever_their_regions_are(named) -> None:
    points, letters = np.array([place[:2] for place in named]), [place[2] for place in named]
    found = boxes(points, letters)
    assert not any(meet(one, other) for one, other in combinations(found, 2))
    nodes = [(x - NODE, y - NODE, x + NODE, y + NODE) for x, y in points]
    assert not any(meet(name, node) for name in found for node in nodes)
    assert all(left > -WIDTH / 2 and right < WIDTH / 2 for left, _, right, _ in found)


def test_a_lone_name_is_beside_its_region_and_leads_away_from_the_middle() -> None:
    ((across, down),) = _name_offsets(np.array([[0.0, -100.0]]), [10])
    assert across == 0
    assert -30 < down < -15


def test_names_point_at_their_regions_and_regions_without_a_place_have_none() -> None:
    atlas = load_atlas("4s156")
    named = [*range(5), *range(atlas.n_regions - 5, atlas.n_regions)]
    placed = [i for i in named if np.isfinite(atlas.coordinates[i]).all()]
    found = _region_names(Brain.of(atlas, "nodes", named=named), around=_cortex_mesh()[0], height=500)
    assert [one["text"] for one in found] == [atlas.regions[i] for i in placed]
    assert [(one["x"], one["y"], one["z"]) for one in found] == [tuple(atlas.coordinates[i]) for i in placed]


def test_left_and_front_are_read_whole_on_a_narrow_page() -> None:
    words, height = _side_names(), 512
    sides = np.column_stack([words[axis] for axis in "xyz"]).astype(float)
    around = np.vstack([_cortex_mesh()[0], sides])
    seen = dict(zip(words["text"], seen_at(sides, around, height), strict=True))
    for text in ("left", "front"):
        across, down = seen[text]
        assert abs(across) + LETTER * len(text) / 2 < WIDTH / 2
        assert abs(down) + LINE / 2 < height / 2


# Regions painted on the cortex: each triangle has its region's colour, on screen and on paper; labels fit tables.

WITH_SURFACE = [key for key, bundled in BUNDLED.items() if bundled.surface]
ATLAS = load_atlas("schaefer100")
SPREAD = np.linspace(-1, 1, 100)


def painted_drawing(**how):
    return drawing_of(Brain.of(ATLAS, "inflated", **how))


def test_meshes_are_those_that_nilearn_loads():
    meshes = load_fsaverage("fsaverage5")
    for surface in ("inflated", "pial"):
        for side, mesh in meshes[surface].parts.items():
            vertices, triangles = hemisphere_mesh(surface, side)
            np.testing.assert_array_equal(vertices, mesh.coordinates)
            np.testing.assert_array_equal(triangles, mesh.faces)


@pytest.mark.parametrize("key", WITH_SURFACE)
def test_labels_count_regions_as_the_table_does(key):
    """The mean of a label's pial vertices lies nearest to its own row of the table, or close to it, on its side.

    Counted over the regions that have vertices. A parcel that is curved has its centre outside itself, and small
    neighbours are then nearer: so not all are, but no other order of the regions comes near.
    """
    atlas = load_atlas(key)
    labels = surface_labels(atlas)
    assert labels.shape == (2 * N_VERTICES,)
    vertices = np.vstack([hemisphere_mesh("pial", side)[0] for side in ("left", "right")])
    painted = np.unique(labels[labels > 0])
    centres = np.array([vertices[labels == region].mean(axis=0) for region in painted])
    distances = np.linalg.norm(centres[:, None] - atlas.coordinates[None], axis=2)
    distances = np.where(np.isnan(distances), np.inf, distances)
    assert np.median(distances[np.arange(len(painted)), painted - 1]) < 10
    assert (np.sign(centres[:, 0]) == np.sign(atlas.coordinates[painted - 1, 0])).all()
    assert (np.nanargmin(distances, axis=1) == painted - 1).mean() > 0.85
    assert len(painted) >= 68


def test_every_triangle_is_painted_once_with_its_regions_value():
    drawing = painted_drawing(values=SPREAD, quantity="z")
    figure = on_screen(drawing)
    for scene, (side, _) in enumerate(VIEWS):
        name = f"scene{scene + 1 if scene else ''}"
        pieces = [trace for trace in figure.data if (trace.scene or "scene") == name]
        assert sum(len(piece.i) for piece in pieces) == len(hemisphere_mesh("inflated", side)[1])
        regions = painted_triangles(drawing.marks[0], side)[2]
        painted = next(piece for piece in pieces if piece.name == "regions")
        np.testing.assert_allclose(painted.intensity, SPREAD[regions[regions > 0] - 1], atol=1e-6)
        names = [ATLAS.regions[region - 1] for region in regions[regions > 0]]
        assert all(name in text for name, text in zip(names, painted.text, strict=True))
    assert len(figure.to_json()) < 8_000_000


def test_a_colour_on_the_cortex_is_that_of_the_bar():
    """On the screen no light but an even one; on paper the pixels of every region have the colour of its value."""
    drawing = painted_drawing(values=SPREAD, quantity="z")
    even = {"ambient": 1, "diffuse": 0, "specular": 0, "roughness": 1, "fresnel": 0}
    assert all(trace["lighting"] == even for trace in draw_on_screen(drawing)["data"])
    figure = draw_on_paper(drawing, PaperStyle(width_mm=170, dpi=150))
    figure.canvas.draw()
    pixels = {tuple(pixel) for pixel in np.asarray(figure.canvas.buffer_rgba())[..., :3].reshape(-1, 3).tolist()}
    bar = next(axes for axes in figure.axes if axes.name != "3d").collections[-1]
    colours = [tuple(round(255 * part) for part in bar.to_rgba(value)[:3]) for value in SPREAD]
    assert np.mean([colour in pixels for colour in colours]) > 0.95  # a few parcels hide in a fold


def test_modules_have_their_colours_and_one_entry_of_the_legend_each_and_no_value_is_bare():
    """The third stands in the right hemisphere alone, which is not seen first."""
    groups = [None if i == 3 else f"Module {1 + i // 34}" for i in range(100)]
    colours = {"Module 1": "#112233", "Module 2": "#445566", "Module 3": "#778899"}
    figure = on_screen(painted_drawing(groups=groups, group_colours=colours))
    in_legend = sorted((trace for trace in figure.data if trace.showlegend), key=lambda trace: trace.legendrank)
    assert [trace.name for trace in in_legend] == ["Module 1", "Module 2", "Module 3", "no module"]
    assert {trace.color for trace in figure.data if trace.name == "Module 1"} == {"#112233"}
    bare = on_screen(painted_drawing(values=np.where(np.arange(100) == 0, np.nan, SPREAD)))
    assert all(np.isfinite(trace.intensity).all() for trace in bare.data)
    assert not any(ATLAS.regions[0] in text for trace in bare.data if trace.name == "regions" for text in trace.text)


@pytest.mark.parametrize("valued", [True, False])
def test_paper_has_four_views_and_one_bar_or_the_names(valued):
    grouped = {"groups": ["Module 1", "Module 2"] * 50, "group_colours": {"Module 1": "#112233", "Module 2": "#445566"}}
    figure = draw_on_paper(painted_drawing(**({"values": SPREAD} if valued else grouped)), PaperStyle(width_mm=120))
    views = [axes for axes in figure.axes if axes.name == "3d"]
    names = [axes.texts[0].get_text() for axes in views]
    assert names == ["left lateral", "left medial", "right medial", "right lateral"]
    assert all(axes.collections[0].get_rasterized() for axes in views)
    assert len(figure.axes) - len(views) == valued
    legends = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert legends == ([] if valued else ["Module 1", "Module 2"])


def test_some_of_an_atlas_regions_are_painted_and_the_others_are_bare():
    kept = (0, 2, 50)
    some = replace(ATLAS, regions=tuple(ATLAS.regions[i] for i in kept), coordinates=ATLAS.coordinates[list(kept)])
    some = replace(some, labels={}, also={})
    whole, left = surface_labels(ATLAS), surface_labels(some)
    np.testing.assert_array_equal(left == 2, whole == 3)
    np.testing.assert_array_equal(left == 3, whole == 51)
    assert (left[~np.isin(whole, [1, 3, 51])] == 0).all()
    assert Brain.of(some, "pial").n_drawn == 3
    assert not has_surface(replace(some, regions=("here", "there", "elsewhere")))


def test_regions_outside_the_cortex_are_counted():
    outside = " 14 regions outside the cortical surface are not painted."
    assert Brain.of(load_atlas("desikan82"), "pial").left_out == outside
    assert Brain.of(ATLAS, "pial").left_out == ""


def test_what_has_no_surface_or_no_places_says_so():
    assert has_surface(ATLAS)
    assert not has_surface(load_atlas("cc200"))
    assert not has_surface(numbered_atlas(100))
    lost = replace(load_atlas("aal90"), coordinates=np.full((90, 3), np.nan))
    for atlas, kind, lacks in (
        (load_atlas("cc200"), "pial", "surface labels"),
        (numbered_atlas(5), "nodes", "coordinates"),
        (lost, "nodes", "coordinates"),
    ):
        with pytest.raises(InputError, match=lacks):
            Brain.of(atlas, kind)


# On paper as on the screen.


def view(figure, k):
    """The k-th view of a glass brain; nilearn's frame is the first of the figure's axes."""
    return figure.axes[1 + k]


def nodes(axes):
    """Offsets of all nodes in one view, and their colours and sizes; connections leave nodes of size 0."""
    drawn = [dots for dots in axes.collections if len(dots.get_offsets()) and dots.get_sizes().max() > 0]
    offsets = np.vstack([dots.get_offsets() for dots in drawn])
    colours = np.vstack([np.broadcast_to(dots.get_facecolors(), (len(dots.get_offsets()), 4)) for dots in drawn])
    return offsets, colours, np.concatenate([dots.get_sizes() for dots in drawn])


def test_glass_brain_draws_each_region_at_its_place_in_its_colour():
    about = {"values": VALUES, "sizes": CURVES["node_efficiency"], "quantity": "NE"}
    screen = brain_3d(PLACES, "ABCD", **about).layout.coloraxis
    figure = glass_brain(PLACES, "ABCD", **about, style=STYLE)
    seen = {}
    for k, kept in ((1, [0, 2]), (3, [0, 1])):  # from the front and from above
        offsets, colours, sizes = nodes(view(figure, k))
        for region, place in enumerate(PLACES[:, kept]):
            here = np.flatnonzero((offsets == place).all(axis=1))
            assert len(here) == 1
            seen.setdefault(region, set()).add((to_hex(colours[here[0]]), sizes[here[0]].round(6)))
    colours = [next(iter(seen[region]))[0] for region in range(4)]
    sizes = np.array([next(iter(seen[region]))[1] for region in range(4)])
    assert [len(seen[region]) for region in range(4)] == [1, 1, 1, 1], "the same in every view"
    assert colours[0] == "#440154", "the lowest of viridis"
    assert colours[2] == "#9aa5ab", "grey without a value"
    assert colours[3] == "#fde725", "the highest of viridis"
    np.testing.assert_allclose(np.diff(sizes), np.diff(sizes)[0], err_msg="areas grow evenly")
    bar = figure.axes[-1]
    assert bar.get_xlim() == (screen.cmin, screen.cmax)
    assert bar.get_xlabel() == "NE"


def test_glass_brain_shows_a_hemisphere_its_own_regions_and_names_the_modules():
    groups = ["Module 1", "Module 2", None, "Module 1"]
    figure = glass_brain(PLACES, "ABCD", groups=groups, style=replace(STYLE, titles=True), title="T", simulated=True)
    left, colours, _ = nodes(view(figure, 0))
    assert {tuple(place) for place in left} == {(0, 10), (50, 20)}
    right, _, _ = nodes(view(figure, 2))
    assert {tuple(place) for place in right} == {(5, 10), (-60, 0)}
    legend = figure.legends[0]
    assert [text.get_text() for text in legend.get_texts()] == ["Module 1", "Module 2", "no module"]
    marks = [to_hex(handle.get_color()) for handle in legend.legend_handles]
    assert marks == ["#0072b2", "#e69f00", "#9aa5ab"]
    assert {to_hex(colour) for colour in colours} == {"#0072b2", "#9aa5ab"}
    assert "T · simulated" in [text.get_text() for text in figure.texts]


def test_glass_brain_draws_connections():
    edges = [(0, 1, 0.1), (1, 3, -0.9)]
    figure = glass_brain(PLACES, "ABCD", edges=edges, style=STYLE)
    above = {
        (frozenset(map(tuple, line.get_xydata().tolist())), line.get_linewidth(), line.get_linestyle())
        for line in view(figure, 3).lines
    }
    assert above == {
        (frozenset({(-40.0, 0.0), (40.0, 5.0)}), 0.3, "-"),
        (frozenset({(40.0, 5.0), (10.0, -60.0)}), 1.2, "--"),
    }
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["connections"]


@pytest.mark.parametrize(("side", "seen"), [("above", [0, 1, 2, 3]), ("left", [0, 2]), ("right", [1, 3])])
def test_several_brains_are_flat_on_the_screen_and_know_their_regions(side, seen):
    panels = {"one": VALUES, "two": np.array([4.0, 2.0, 1.0, 8.0])}
    drawing = brains_on_one_scale(panels, PLACES, REGIONS, quantity="z")
    turned = [replace(mark, side=side, size_limits=(1.0, 8.0)) for mark in drawing.marks]
    drawing = replace(drawing, columns=2, panels=[replace(drawing.panels[i], marks=[turned[i]]) for i in (0, 1)])
    figure = on_screen(drawing)
    assert {trace.type for trace in figure.data} == {"scatter"}
    first = [trace for trace in figure.data if trace.customdata is not None and trace.xaxis == "x"]
    assert sorted(np.concatenate([trace.customdata for trace in first]).tolist()) == seen
    (nodes,) = (one for one in figure.data if one.customdata is not None and one.xaxis == "x2")
    x, y, z = PLACES[seen].T
    across, up = {"above": (x, y), "left": (-y, z), "right": (y, z)}[side]
    np.testing.assert_allclose([nodes.x, nodes.y], [across, up])
    np.testing.assert_array_equal(nodes.marker.color, panels["two"][seen])
    areas = np.array(nodes.marker.size) ** 2
    share = (areas - 2.5**2) / (10**2 - 2.5**2)
    np.testing.assert_allclose(share, (panels["two"][seen] - 1) / 7, atol=1e-6)
    assert nodes.text[-1] == REGIONS[seen[-1]]
    outlines = [trace for trace in figure.data if trace.fill == "toself" and trace.xaxis == "x2"]
    assert len(outlines) == (2 if side == "above" else 1)
    reach = np.ptp(np.concatenate([outline.x for outline in outlines]))
    low, high = figure.layout.xaxis2.range
    assert reach < high - low < 1.5 * reach
    assert figure.layout.yaxis2.scaleanchor == "x2"


@pytest.mark.parametrize("width", [85, 174])
def test_five_brains_share_a_scale_and_have_a_caption_each(width):
    names = ("DC: degree centrality", "BC", "CC", "EC", "NE")
    panels = {name: np.arange(4.0) * (i + 1) for i, name in enumerate(names)}
    style = PaperStyle(width_mm=width, dpi=100)
    figure = draw_on_paper(brains_on_one_scale(panels, PLACES, "ABCD", quantity="z", simulated=True), style)
    texts = [text.get_text() for text in figure.texts]
    assert texts == ["simulated", "a DC: degree centrality", "b BC", "c CC", "d EC", "e NE"]
    assert figure.axes[-1].get_xlim() == (0, 15)
    highest = []
    for k in range(5):
        offsets, colours, _ = nodes(figure.axes[5 * k + 4])  # a frame and four views each; the last is from above
        highest.append(to_hex(colours[(offsets == PLACES[3, :2]).all(axis=1)][0]))
    assert highest[-1] == "#fde725"
    assert len(set(highest)) == 5, "one scale for all: the same rank has another colour in each"
    rows = {round(axes.get_position().y0, 6) for axes in figure.axes[:-1:5]}
    assert len(rows) == (5 if width == 85 else 3)


def test_a_given_height_is_kept():
    style = PaperStyle(height_mm=93, dpi=100)
    for figure in (
        draw_on_paper(curves_of("ABCD", scale="raw"), style),
        glass_brain(PLACES, "ABCD", values=VALUES, style=style),
    ):
        assert figure.get_figheight() * 25.4 == pytest.approx(93)
