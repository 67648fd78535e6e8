"""The figures hold what they were given, in the order they say, and their captions name the numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biobgt.connectome import graph_from_connectivity
from biobgt.figures import (
    RegionOrder,
    colour_limit,
    connectivity_caption,
    connectivity_distribution,
    connectivity_heatmap,
    distribution_caption,
    graph_caption,
    order_regions,
    series_caption,
    series_carpet,
)
from biobgt.graph import ConnectomeSettings

MATRIX = np.array([[1.0, 0.5, -0.2], [0.5, 1.0, 0.1], [-0.2, 0.1, 1.0]])
REGIONS = ("A", "B", "C")


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
    figure = connectivity_heatmap(MATRIX, REGIONS, order=order_regions(3, ["x", "y", "x"]), title="T", simulated=True)
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
    figure = connectivity_heatmap(MATRIX, names, title="<i>t</i>")
    assert list(figure.data[0].x) == ["&lt;b&gt;A&lt;/b&gt;", "B &amp; C", "C"]
    assert figure.layout.title.text == "&lt;i&gt;t&lt;/i&gt;"


@pytest.mark.parametrize(
    ("largest", "estimator", "limit"),
    [(0.9, "pearson", 1), (40.0, "pearson", 40), (2.5, "fisher-z", 1.5), (0.1, "partial", 0.3)],
)
def test_colour_limit_is_fixed_but_for_matrices_in_other_units(largest, estimator, limit) -> None:
    matrix = np.array([[99.0, -largest], [-largest, 99.0]])  # the diagonal does not count
    assert colour_limit(matrix, estimator) == limit


def test_carpet_is_standardised_by_region_and_a_silent_one_is_flat() -> None:
    series = np.array([[1.0, 10.0, 5.0], [3.0, 30.0, 5.0]])
    figure = series_carpet(series, REGIONS, tr=2.0)
    np.testing.assert_allclose(figure.data[0].z, [[-1, 1], [-1, 1], [0, 0]])
    np.testing.assert_allclose(figure.data[0].x, [0, 2])
    assert figure.layout.xaxis.title.text == "Time (s)"
    volumes = series_carpet(series, REGIONS)
    np.testing.assert_allclose(volumes.data[0].x, [1, 2])
    assert volumes.layout.xaxis.title.text == "Volume"


def test_distribution_counts_each_pair_once() -> None:
    kept = np.array([[False, True, False], [True, False, False], [False, False, False]])
    figure = connectivity_distribution(MATRIX, kept)
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
    in_graph, dropped = connectivity_distribution(matrix, kept).data
    assert in_graph.y.sum() == np.triu(kept, 1).sum()
    assert in_graph.y.sum() + dropped.y.sum() == 60 * 59 // 2
    assert not (in_graph.y * dropped.y).any()
    lowest = np.abs(in_graph.x[in_graph.y > 0]).min() - in_graph.width / 2
    assert lowest == pytest.approx(level)


def test_graph_of_all_pairs_or_of_none_has_the_usual_bins() -> None:
    matrix = np.array([[0.0, 1e-7], [1e-7, 0.0]])
    for kept in (matrix > 0, matrix > 1):
        figure = connectivity_distribution(matrix, kept)
        assert len(figure.data[0].x) == 50
        assert figure.data[0].y.sum() == kept[0, 1]


def test_title_starts_below_the_toolbar_and_ends_above_the_plot() -> None:
    for figure in (connectivity_heatmap(MATRIX, REGIONS, title="T"), connectivity_distribution(MATRIX, MATRIX > 0)):
        title = figure.layout.title
        assert (title.y, title.yanchor, title.yref) == (1, "top", "container")
        assert title.pad.t >= 26, "plotly's buttons end there"
        assert figure.layout.margin.t >= title.pad.t + 1.5 * title.font.size


def test_distribution_reaches_values_beyond_the_limit() -> None:
    matrix = np.array([[0.0, -3.3], [-3.3, 0.0]])
    figure = connectivity_distribution(matrix, matrix == 0)
    assert figure.data[1].y.sum() == 1
    assert figure.data[1].x[np.argmax(figure.data[1].y)] == pytest.approx(-3.3, abs=0.04)


def test_captions_say_whose_what_and_how_many() -> None:
    graph = graph_from_connectivity(MATRIX, ConnectomeSettings(level=0.3), subject="s1", simulated=True)
    assert graph_caption(graph).startswith("Simulated subject s1: brain graph of 3 regions with 1 connections (33.3%")
    assert "at least 0.3" in graph_caption(graph)
    assert connectivity_caption("s1", 3, estimator="partial").startswith("Subject s1: functional connectivity")
    assert "3 pairs" in distribution_caption(graph, mean=0.13, mean_strength=0.27)
    assert "Pearson mean 0.13, mean |r| 0.27." in distribution_caption(graph, mean=0.13, mean_strength=0.27)
    assert "7 time points of 3 regions" in series_caption("s1", 7, 3)
