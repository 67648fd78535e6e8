"""The figures hold what they were given, in the order they say, and their captions name the numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex

from biobgt.data.connectivity import graph_from_connectivity
from biobgt.data.graph import ConnectomeSettings
from biobgt.data.simulate import demo_cohort
from biobgt.figures import (
    ColourScale,
    ConnectivityDistribution,
    ConnectivityHeatmap,
    RegionOrder,
    SeriesCarpet,
    colour_scale,
    order_regions,
    paper,
)
from biobgt.figures.connectivity_heatmap import HeatmapOptions
from biobgt.figures.shared_options import RegionOrderOptions
from biobgt.results.measured import MeasuredCohort

MATRIX = np.array([[1.0, 0.5, -0.2], [0.5, 1.0, 0.1], [-0.2, 0.1, 1.0]])
REGIONS = ("A", "B", "C")
STYLE = paper.PaperStyle(dpi=100)
FOUR = np.array([[1, 0.5, -0.2, 0.1], [0.5, 1, 0.3, 0.31], [-0.2, 0.3, 1, 0.9], [0.1, 0.31, 0.9, 1]])
FOUR_REGIONS = ("A", "B", "C", "D")
ORDER = order_regions(4, ["x", "y", "x", None])


def heatmap_of(matrix=MATRIX, regions=REGIONS, *, order=None, **about):
    return ConnectivityHeatmap(matrix=matrix, regions=regions, order=order or order_regions(len(matrix)), **about)


def carpet_of(series, regions=REGIONS, *, order=None, **about):
    return SeriesCarpet(series=series, regions=regions, order=order or order_regions(series.shape[1]), **about)


def distribution_of(matrix, kept, **about):
    return ConnectivityDistribution(matrix=matrix, kept=kept, **about)


def test_regions_of_a_label_stand_together_and_unlabelled_ones_last() -> None:
    order = order_regions(5, ["Vis", None, "MC", "Vis", "MC"])
    assert order == RegionOrder((0, 3, 2, 4, 1), (("Vis", 0, 2), ("MC", 2, 4), ("unlabelled", 4, 5)))


def test_atlas_order_has_no_blocks() -> None:
    assert order_regions(3) == RegionOrder((0, 1, 2))


@given(labels=st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=30))
def test_order_is_a_permutation_and_blocks_cover_it(labels) -> None:
    order = order_regions(len(labels), labels)
    assert sorted(order.order) == list(range(len(labels)))
    for name, start, end in order.blocks:
        assert {labels[i] or "unlabelled" for i in order.order[start:end]} == {name}
    assert [end for *_, end in order.blocks[:-1]] == [start for _, start, _ in order.blocks[1:]]
    assert (order.blocks[0][1], order.blocks[-1][2]) == (0, len(labels))


def test_heatmap_is_the_matrix_in_order() -> None:
    figure = heatmap_of(order=order_regions(3, ["x", "y", "x"]), title="T", simulated=True).plotly()
    heatmap = figure.data[0]
    np.testing.assert_allclose(heatmap.z, [[1, -0.2, 0.5], [-0.2, 1, 0.1], [0.5, 0.1, 1]], atol=1e-7)
    assert list(heatmap.x) == list(heatmap.y) == ["A", "C", "B"]
    assert (heatmap.zmin, heatmap.zmax) == (-1, 1)
    assert list(figure.layout.yaxis.ticktext) == ["x", "y"]
    assert list(figure.layout.yaxis.tickvals) == ["A", "B"]  # the middle region of each block
    assert next((line.y0, line.y1) for line in figure.layout.shapes) == (1.5, 1.5)
    assert figure.layout.title.text == "T · simulated"


def test_names_from_a_file_are_text_in_the_figure() -> None:
    names = ("<b>A</b>", "B & C", "C")
    figure = heatmap_of(regions=names, title="<i>t</i>").plotly()
    assert list(figure.data[0].x) == ["&lt;b&gt;A&lt;/b&gt;", "B &amp; C", "C"]
    assert figure.layout.title.text == "&lt;i&gt;t&lt;/i&gt;"


@pytest.mark.parametrize(
    ("largest", "estimator", "limit"),
    [(0.9, "pearson", 1), (40.0, "pearson", 40), (2.5, "fisher-z", 1.5), (0.1, "partial", 0.3)],
)
def test_colour_scale_is_fixed_but_for_matrices_in_other_units(largest, estimator, limit) -> None:
    matrix = np.array([[99.0, -largest], [-largest, 99.0]])  # the diagonal does not count
    assert colour_scale(matrix, estimator=estimator) == ColourScale(-limit, limit)


def test_carpet_is_standardised_by_region_and_a_silent_one_is_flat() -> None:
    series = np.array([[1.0, 10.0, 5.0], [3.0, 30.0, 5.0]])
    figure = carpet_of(series, tr=2.0).plotly()
    np.testing.assert_allclose(figure.data[0].z, [[-1, 1], [-1, 1], [0, 0]])
    np.testing.assert_allclose(figure.data[0].x, [0, 2])
    assert figure.layout.xaxis.title.text == "Time (s)"
    volumes = carpet_of(series).plotly()
    np.testing.assert_allclose(volumes.data[0].x, [1, 2])
    assert volumes.layout.xaxis.title.text == "Volume"


def test_distribution_counts_each_pair_once() -> None:
    kept = np.array([[False, True, False], [True, False, False], [False, False, False]])
    figure = distribution_of(MATRIX, kept).plotly()
    in_graph, dropped = figure.data
    assert (in_graph.y.sum(), dropped.y.sum()) == (1, 2)
    assert in_graph.x[np.argmax(in_graph.y)] == pytest.approx(0.5, abs=0.04)
    assert len(in_graph.x) == 48, "12 bins of the 0.5 that was kept, as near to 50 in all as there is"


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("level", [0.05, 0.3, 0.77])
def test_no_bin_lies_across_the_threshold(signed, level, rng) -> None:
    matrix = np.triu(rng.uniform(-1, 1, (60, 60)), 1)
    matrix[0, 1], matrix[0, 2] = level, -level  # the threshold itself is kept
    matrix += matrix.T
    kept = np.abs(matrix) >= level if signed else matrix >= level
    in_graph, dropped = distribution_of(matrix, kept).plotly().data
    assert in_graph.y.sum() == np.triu(kept, 1).sum()
    assert in_graph.y.sum() + dropped.y.sum() == 60 * 59 // 2
    assert not (in_graph.y * dropped.y).any()
    lowest = np.abs(in_graph.x[in_graph.y > 0]).min() - in_graph.width / 2
    assert lowest == pytest.approx(level)


def test_graph_of_all_pairs_or_of_none_has_the_usual_bins() -> None:
    matrix = np.array([[0.0, 1e-7], [1e-7, 0.0]])
    for kept in (matrix > 0, matrix > 1):
        figure = distribution_of(matrix, kept).plotly()
        assert len(figure.data[0].x) == 50
        assert figure.data[0].y.sum() == kept[0, 1]


def test_title_starts_below_the_toolbar_and_ends_above_the_plot() -> None:
    for figure in (heatmap_of(title="T").plotly(), distribution_of(MATRIX, MATRIX > 0).plotly()):
        title = figure.layout.title
        assert (title.y, title.yanchor, title.yref) == (1, "top", "container")
        assert title.pad.t >= 34, "plotly's buttons end at 28, and letters begin 5 above"
        assert figure.layout.margin.t >= title.pad.t + 1.5 * title.font.size


def test_distribution_reaches_values_beyond_the_limit() -> None:
    matrix = np.array([[0.0, -3.3], [-3.3, 0.0]])
    figure = distribution_of(matrix, matrix == 0).plotly()
    assert figure.data[1].y.sum() == 1
    assert figure.data[1].x[np.argmax(figure.data[1].y)] == pytest.approx(-3.3, abs=0.04)


def test_captions_say_whose_what_and_how_many() -> None:
    graph = graph_from_connectivity(MATRIX, ConnectomeSettings(level=0.3), subject="s1", simulated=True)
    of_graph = heatmap_of(graph.weights, subject="s1", simulated=True, graph=graph).caption
    assert of_graph.startswith("Simulated subject s1: brain graph of 3 regions with 1 connections (33.3 %")
    assert "at least 0.3" in of_graph
    assert heatmap_of(subject="s1").caption.startswith("Subject s1: connectivity, between 3 regions. Red")
    spread = distribution_of(MATRIX, graph.weights != 0, mean=0.13, mean_strength=0.27).caption
    assert "3 pairs" in spread
    assert "Mean r 0.13, mean |r| 0.27. The graph keeps 1 of the pairs (33.3 %)" in spread
    assert "7 time points of 3 regions" in carpet_of(np.zeros((7, 3))).caption


@pytest.mark.parametrize("order", [None, ORDER])
def test_heatmap_on_paper_is_that_on_the_screen(order):
    shown = heatmap_of(FOUR, FOUR_REGIONS, order=order, scale=ColourScale(-0.7, 0.7), title="T", simulated=True)
    screen, figure = shown.plotly(), shown.matplotlib(STYLE)
    picture = figure.axes[0].images[0]
    np.testing.assert_allclose(picture.get_array(), screen.data[0].z, rtol=1e-6)
    assert picture.get_clim() == (-0.7, 0.7)
    assert to_hex(picture.to_rgba(0.7)) == "#67001f", "the highest is red"
    assert figure.get_suptitle() == "simulated"
    if order is not None:
        np.testing.assert_array_equal(picture.get_array(), FOUR[np.ix_([0, 2, 1, 3], [0, 2, 1, 3])])
        labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
        assert labels == ["x", "y", "unlabelled"]
        assert [line.get_ydata()[0] for line in figure.axes[0].lines if len(set(line.get_xdata())) > 1][-2:] == [
            1.5,
            2.5,
        ]
    else:
        assert figure.axes[0].get_ylabel() == "4 regions in atlas order"


@pytest.mark.parametrize("tr", [None, 2.5])
def test_carpet_on_paper_is_that_on_the_screen(tr, rng):
    series = rng.standard_normal((6, 4)) * 5 + 3
    series[:, 2] = 1.0
    shown = carpet_of(series, FOUR_REGIONS, order=ORDER, tr=tr)
    screen, figure = shown.plotly(), shown.matplotlib(STYLE)
    picture = figure.axes[0].images[0]
    np.testing.assert_allclose(picture.get_array(), screen.data[0].z, rtol=1e-5, atol=1e-7)
    left, right, bottom, top = picture.get_extent()
    middles = left + (np.arange(6) + 0.5) * (right - left) / 6
    np.testing.assert_allclose(middles, screen.data[0].x)
    assert (bottom, top) == (3.5, -0.5)
    assert figure.axes[0].get_xlabel() == ("Time (s)" if tr else "Volume")


def test_distribution_on_paper_is_that_on_the_screen():
    shown = distribution_of(FOUR, FOUR > 0.3, scale=ColourScale(-0.5, 0.5))
    screen, axes = shown.plotly(), shown.matplotlib(STYLE).axes[0]
    below = np.zeros(len(screen.data[0].y))
    for bars, trace in zip(axes.containers, screen.data, strict=True):
        np.testing.assert_array_equal([bar.get_height() for bar in bars], trace.y)
        np.testing.assert_array_equal([bar.get_y() for bar in bars], below)
        np.testing.assert_allclose([bar.get_x() + bar.get_width() / 2 for bar in bars], trace.x)
        assert bars.get_label() == trace.name
        below = below + trace.y
    assert below.sum() == 6


@pytest.fixture(scope="module")
def measured():
    return MeasuredCohort(demo_cohort("ad", n_per_group=1)).of("sim-NC-001", ConnectomeSettings(level=0.4))


def test_figures_of_a_subject_hold_what_was_measured_of_it(measured) -> None:
    regions = measured.atlas.regions
    order = order_regions(90, measured.atlas.labelling("dosenbach"))
    shown = ConnectivityHeatmap.of(measured, HeatmapOptions(matrix="graph", order="dosenbach"))
    assert shown.title == "Brain graph of sim-NC-001"
    assert shown.simulated
    np.testing.assert_array_equal(
        shown.numbers.drop(columns="region"), measured.graph().weights[np.ix_(order.order, order.order)]
    )
    assert list(shown.numbers["region"]) == [regions[i] for i in order.order]
    carpet = SeriesCarpet.of(measured, RegionOrderOptions())
    np.testing.assert_array_equal(carpet.numbers[list(regions)], measured.subject.series)
    spread = ConnectivityDistribution.of(measured, ConnectivityDistribution.takes())
    assert spread.numbers["kept"].sum() == measured.graph().n_edges
    first, second = spread.numbers.loc[0, ["region", "other region"]]
    assert spread.numbers.loc[0, "connectivity"] == measured.connectivity()[regions.index(first), regions.index(second)]


def test_page_starts_with_functional_networks_and_a_script_with_the_atlas(measured) -> None:
    order = HeatmapOptions.declared()["order"]
    assert order.default_for(measured.cohort) == next(iter(measured.atlas.labels))
    assert order.default == "atlas"
    assert order.text("our own networks") == "By our own networks"
