"""Regions painted on the cortex: each triangle has its region's colour, on screen and on paper; labels fit tables."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from nilearn.datasets import load_fsaverage

from biobgt.base.errors import InputError
from biobgt.data.atlas import BUNDLED, load_atlas, numbered_atlas
from biobgt.figures.brain import BrainDrawing, brain_caption
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.surface import (
    N_VERTICES,
    VIEWS,
    has_surface,
    hemisphere_labels,
    hemisphere_mesh,
    n_drawn,
    not_drawn_words,
    surface_labels_of,
    triangle_regions,
)

WITH_SURFACE = [key for key, bundled in BUNDLED.items() if bundled.surface]
ATLAS = load_atlas("schaefer100")
VALUES = np.linspace(-1, 1, 100)


def drawing(**how):
    labels = surface_labels_of(ATLAS, "inflated")
    return BrainDrawing(ATLAS.coordinates, ATLAS.regions, brain="inflated", surface_labels=labels, **how)


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
    labels = surface_labels_of(atlas, "pial")
    vertices = np.vstack([hemisphere_mesh("pial", side)[0] for side in ("left", "right")])
    painted = np.unique(labels[labels > 0])
    centres = np.array([vertices[labels == region].mean(axis=0) for region in painted])
    distances = np.linalg.norm(centres[:, None] - atlas.coordinates[None], axis=2)
    distances = np.where(np.isnan(distances), np.inf, distances)
    own = distances[np.arange(len(painted)), painted - 1]
    assert np.median(own) < 10
    side = np.sign(atlas.coordinates[painted - 1, 0])
    assert (np.sign(centres[:, 0]) == side).all()
    assert (np.nanargmin(distances, axis=1) == painted - 1).mean() > 0.85
    assert len(painted) >= 68


def test_every_triangle_is_painted_once_with_its_regions_value():
    figure = drawing(values=VALUES, quantity="z", title="t").plotly()
    for scene, (side, _) in enumerate(VIEWS):
        name = f"scene{scene + 1 if scene else ''}"
        pieces = [trace for trace in figure.data if (trace.scene or "scene") == name]
        assert sum(len(piece.i) for piece in pieces) == len(hemisphere_mesh("inflated", side)[1])
        painted = next(piece for piece in pieces if piece.name == "regions")
        _, triangles = hemisphere_mesh("inflated", side)
        regions = triangle_regions(hemisphere_labels(surface_labels_of(ATLAS, "inflated"), side), triangles)
        np.testing.assert_allclose(painted.intensity, VALUES[regions[regions > 0] - 1], atol=1e-6)
        named = [ATLAS.regions[region - 1] for region in regions[regions > 0]]
        assert all(name in text for name, text in zip(named, painted.text, strict=True))
    assert sum(bool(trace.showscale) for trace in figure.data) == 1
    assert len(figure.to_json()) < 8_000_000


def test_a_colour_on_the_cortex_is_that_of_the_bar():
    """On the screen no light but an even one; on paper the pixels of every region have the colour of its value."""
    for trace in drawing(values=VALUES, quantity="z").plotly().data:
        assert trace.lighting.to_plotly_json() == {
            "ambient": 1,
            "diffuse": 0,
            "specular": 0,
            "roughness": 1,
            "fresnel": 0,
        }
    figure = drawing(values=VALUES, quantity="z").matplotlib(PaperStyle(width_mm=170))
    figure.set_dpi(150)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = {tuple(pixel) for pixel in np.asarray(canvas.buffer_rgba())[..., :3].reshape(-1, 3).tolist()}
    bar = next(axes for axes in figure.axes if axes.name != "3d").collections[-1]
    colours = [tuple(round(255 * part) for part in bar.to_rgba(value)[:3]) for value in VALUES]
    assert np.mean([colour in pixels for colour in colours]) > 0.95  # a few parcels hide in a fold


def test_modules_have_their_colours_and_one_entry_of_the_legend_each():
    """The third stands in the right hemisphere alone, which is not seen first."""
    groups = [None if i == 3 else f"Module {1 + i // 34}" for i in range(100)]
    figure = drawing(groups=groups, group_colours={"Module 1": "#112233"}, title="t").plotly()
    in_legend = sorted((trace for trace in figure.data if trace.showlegend), key=lambda trace: trace.legendrank)
    named = [trace.name for trace in in_legend]
    assert named == ["Module 1", "Module 2", "Module 3", "no module"]
    assert {trace.color for trace in figure.data if trace.name == "Module 1"} == {"#112233"}


def test_a_region_without_a_value_is_bare():
    figure = drawing(values=np.where(np.arange(100) == 0, np.nan, VALUES), title="t").plotly()
    assert all(np.isfinite(trace.intensity).all() for trace in figure.data)
    assert not any(ATLAS.regions[0] in text for trace in figure.data if trace.name == "regions" for text in trace.text)


@pytest.mark.parametrize("what", [{"values": VALUES, "quantity": "z"}, {"groups": ["Module 1", "Module 2"] * 50}])
def test_paper_has_four_views_and_one_bar_or_the_names(what):
    figure = drawing(title="Hubs of s1", **what).matplotlib(PaperStyle(width_mm=120))
    views = [axes for axes in figure.axes if axes.name == "3d"]
    assert [axes.texts[0].get_text() for axes in views] == [
        "left lateral",
        "left medial",
        "right medial",
        "right lateral",
    ]
    assert all(axes.collections[0].get_rasterized() for axes in views)
    assert len(figure.axes) - len(views) == ("values" in what)
    legends = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert legends == ([] if "values" in what else ["Module 1", "Module 2"])


def test_some_of_an_atlas_regions_are_painted_and_the_others_are_bare():
    kept = (0, 2, 50)
    some = replace(ATLAS, regions=tuple(ATLAS.regions[i] for i in kept), coordinates=ATLAS.coordinates[list(kept)])
    some = replace(some, labels={}, also={})
    whole, left = surface_labels_of(ATLAS, "pial"), surface_labels_of(some, "pial")
    np.testing.assert_array_equal(left == 2, whole == 3)
    np.testing.assert_array_equal(left == 3, whole == 51)
    assert (left[~np.isin(whole, [1, 3, 51])] == 0).all()
    assert n_drawn(some.coordinates, left) == 3
    assert not has_surface(replace(some, regions=("here", "there", "elsewhere")))


def test_regions_outside_the_cortex_are_counted():
    atlas = load_atlas("desikan82")
    labels = surface_labels_of(atlas, "pial")
    assert not_drawn_words(atlas.coordinates, labels) == " 14 regions outside the cortical surface are not painted."
    assert not_drawn_words(ATLAS.coordinates, surface_labels_of(ATLAS, "pial")) == ""


def test_what_has_no_surface_says_so():
    assert has_surface(ATLAS)
    assert not has_surface(load_atlas("cc200"))
    assert not has_surface(numbered_atlas(100))
    assert surface_labels_of(numbered_atlas(5), "nodes") is None
    with pytest.raises(InputError, match="no surface labels"):
        surface_labels_of(load_atlas("cc200"), "pial")
    with pytest.raises(InputError, match="one per vertex"):
        BrainDrawing(ATLAS.coordinates, ATLAS.regions, brain="pial", surface_labels=np.zeros(5, np.int16)).plotly()
    assert "painted on the pial fsaverage5 cortex" in brain_caption("s1", 100, quantity="NE", brain="pial")
    assert surface_labels_of(ATLAS, "pial").shape == (2 * N_VERTICES,)
