"""Figures of connectivity hold what they were given, in the order they say, and their captions name the numbers."""

import numpy as np
import pytest
from drawn_figures import STYLE, drawn_by_both, measured_matrix, on_screen
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex

from biobgt.data.atlas import Atlas
from biobgt.data.cohort import Cohort, Subject
from biobgt.data.graph import ConnectomeSettings
from biobgt.data.simulate import demo_cohort
from biobgt.figures import (
    RegionOrder,
    connectivity_distribution,
    connectivity_heatmap,
    connectivity_shades,
    order_regions,
    series_carpet,
)
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.regions import RegionOrderOptions
from biobgt.figures.register import NoOptions
from biobgt.results.measured import Measured

MATRIX = np.array([[1.0, 0.5, -0.2], [0.5, 1.0, 0.1], [-0.2, 0.1, 1.0]])
REGIONS = ("A", "B", "C")


def heatmap_of(matrix=MATRIX, regions=REGIONS, *, shown="connectivity", networks=None, **about):
    options = connectivity_heatmap.takes("networks" if networks else "atlas", shown)
    return connectivity_heatmap(measured_matrix(matrix, regions, networks=networks, **about), options)


def carpet_of(series, *, tr=None):
    cohort = Cohort("toy", (Subject("s1", series, tr=tr),), Atlas("toy", "a toy", REGIONS))
    return series_carpet(Measured(cohort).of("s1"), RegionOrderOptions("atlas"))


def distribution_of(matrix=MATRIX, **settings):
    regions = [f"R{i}" for i in range(len(matrix))]
    return connectivity_distribution(measured_matrix(matrix, regions, backbone=False, **settings), NoOptions())


def test_regions_of_a_label_stand_together_and_unlabelled_ones_last() -> None:
    order = order_regions(5, ["Vis", None, "MC", "Vis", "MC"])
    assert order == RegionOrder((0, 3, 2, 4, 1), (("Vis", 0, 2), ("MC", 2, 4), ("unlabelled", 4, 5)))
    assert order.labels == ["Vis", None, "MC", "Vis", "MC"], "those that it was made of"
    assert order_regions(3) == RegionOrder((0, 1, 2))
    assert order_regions(3).labels is None


@given(labels=st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=30))
def test_order_is_a_permutation_and_blocks_cover_it(labels) -> None:
    order = order_regions(len(labels), labels)
    assert sorted(order.order) == list(range(len(labels)))
    for name, start, end in order.blocks:
        assert {labels[i] or "unlabelled" for i in order.order[start:end]} == {name}
    assert [end for *_, end in order.blocks[:-1]] == [start for _, start, _ in order.blocks[1:]]
    assert (order.blocks[0][1], order.blocks[-1][2]) == (0, len(labels))


def test_heatmap_is_the_matrix_in_order() -> None:
    figure = on_screen(heatmap_of(networks=("x", "y", "x"), simulated=True))
    heatmap = figure.data[0]
    np.testing.assert_allclose(heatmap.z, [[1, -0.2, 0.5], [-0.2, 1, 0.1], [0.5, 0.1, 1]], atol=1e-7)
    assert list(heatmap.x) == list(heatmap.y) == ["A", "C", "B"]
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (-1, 1)
    assert list(figure.layout.yaxis.ticktext) == ["x", "y"]
    assert list(figure.layout.yaxis.tickvals) == ["A", "B"]  # the middle region of each block
    assert next((line.y0, line.y1) for line in figure.layout.shapes) == (1.5, 1.5)
    assert figure.layout.title.text.endswith(" · simulated")


def test_names_from_a_file_are_text_in_the_figure() -> None:
    figure = on_screen(heatmap_of(regions=("<b>A</b>", "B & C", "C"), subject="<i>t</i>"))
    assert list(figure.data[0].x) == ["&lt;b&gt;A&lt;/b&gt;", "B &amp; C", "C"]
    assert figure.layout.title.text.endswith("&lt;i&gt;t&lt;/i&gt;")


@pytest.mark.parametrize(
    ("largest", "estimator", "limit"),
    [(0.9, "pearson", 1), (40.0, "pearson", 40), (2.5, "fisher-z", 1.5), (0.1, "partial", 0.3)],
)
def test_colours_are_fixed_but_for_matrices_in_other_units(largest, estimator, limit) -> None:
    matrix = np.array([[99.0, -largest], [-largest, 99.0]])  # the diagonal does not count
    shades = connectivity_shades(matrix, estimator=estimator)
    assert (shades.low, shades.high, shades.log) == (-limit, limit, False)


def test_carpet_is_standardised_by_region_and_a_silent_one_is_flat() -> None:
    series = np.array([[1.0, 10.0, 5.0], [3.0, 30.0, 5.0]])
    figure, _ = drawn_by_both(carpet_of(series, tr=2.0))
    np.testing.assert_allclose(figure.data[0].z, [[-1, 1], [-1, 1], [0, 0]])
    np.testing.assert_allclose(figure.data[0].x, [0, 2])
    assert [colour for _, colour in figure.layout.coloraxis.colorscale] == ["#000000", "#FFFFFF"], "as the caption says"
    assert figure.layout.xaxis.title.text == "Time (s)"
    volumes, _ = drawn_by_both(carpet_of(series))
    np.testing.assert_allclose(volumes.data[0].x, [1, 2])
    assert volumes.layout.xaxis.title.text == "Volume"


def test_distribution_counts_each_pair_once() -> None:
    in_graph, dropped = drawn_by_both(distribution_of(level=0.5))[0].data
    assert (in_graph.y.sum(), dropped.y.sum()) == (1, 2)
    assert in_graph.x[np.argmax(in_graph.y)] == pytest.approx(0.5, abs=0.04)
    assert len(in_graph.x) == 48, "12 bins of the 0.5 that was kept, as near to 50 in all as there is"


@pytest.mark.parametrize("sign", ["positive", "absolute"])
@pytest.mark.parametrize("level", [0.05, 0.3, 0.77])
def test_no_bin_lies_across_the_threshold(sign, level, rng) -> None:
    matrix = np.triu(rng.uniform(-1, 1, (60, 60)), 1)
    matrix[0, 1], matrix[0, 2] = level, -level  # the threshold itself is kept
    matrix += matrix.T + np.eye(60)
    kept = np.triu(np.abs(matrix) >= level if sign == "absolute" else matrix >= level, 1)
    in_graph, dropped = on_screen(distribution_of(matrix, level=level, sign=sign)).data
    assert in_graph.y.sum() == kept.sum()
    assert in_graph.y.sum() + dropped.y.sum() == 60 * 59 // 2
    assert not (in_graph.y * dropped.y).any()
    first = np.abs(in_graph.x[in_graph.y > 0]).argmin()
    lowest = np.abs(in_graph.x - np.sign(in_graph.x) * in_graph.width / 2)[in_graph.y > 0][first]
    assert lowest == pytest.approx(level)


def test_graph_of_all_pairs_has_the_usual_bins() -> None:
    kept, dropped = on_screen(distribution_of(np.array([[1.0, 1e-7], [1e-7, 1.0]]), threshold="none")).data
    assert len(kept.x) == 50
    assert (kept.y.sum(), dropped.y.sum()) == (1, 0)


def test_distribution_reaches_values_beyond_the_limit() -> None:
    dropped = on_screen(distribution_of(np.array([[0.0, -3.3, 1], [-3.3, 0.0, 1], [1, 1, 0]]), level=0.3)).data[1]
    assert dropped.y.sum() == 1
    assert dropped.x[np.argmax(dropped.y)] == pytest.approx(-3.3, abs=0.1)


def test_title_starts_below_the_toolbar_and_ends_above_the_plot() -> None:
    for drawing in (heatmap_of(), distribution_of()):
        layout = on_screen(drawing).layout
        assert (layout.title.y, layout.title.yanchor, layout.title.yref) == (1, "top", "container")
        assert layout.title.pad.t >= 34, "plotly's buttons end at 28, and letters begin 5 above"
        assert layout.margin.t >= layout.title.pad.t + 1.5 * layout.title.font.size


def test_captions_say_whose_what_and_how_many() -> None:
    of_graph = heatmap_of(shown="graph", simulated=True, level=0.3, backbone=False).caption
    assert of_graph.startswith("Simulated subject s1: brain graph of 3 regions with 1 connections (33.3 %")
    assert "at least 0.3" in of_graph
    assert "between 3 regions. Red" in heatmap_of().caption
    spread = distribution_of(level=0.3).caption
    assert "3 pairs" in spread
    assert "Mean r 0.13, mean |r| 0.27. The graph keeps 1 of the pairs (33.3 %)" in spread
    assert "7 time points of 3 regions" in carpet_of(np.eye(7)[:, :3]).caption


def test_heatmap_on_paper_is_red_at_the_top_and_says_its_order():
    plain, parted = (
        draw_on_paper(heatmap_of(networks=networks), STYLE).axes[0] for networks in (None, ("x", "y", "x"))
    )
    assert to_hex(plain.images[0].to_rgba(1)) == "#67001f"
    assert plain.get_ylabel() == "3 regions in atlas order"
    assert 1.5 in {line.get_ydata()[0] for line in parted.lines if len(set(line.get_xdata())) > 1}


@pytest.fixture(scope="module")
def measured():
    return Measured(demo_cohort("ad", n_per_group=1)).of("sim-NC-001", ConnectomeSettings(level=0.4))


def test_figures_of_a_subject_hold_what_was_measured_of_it(measured) -> None:
    regions = measured.atlas.regions
    order = order_regions(90, measured.atlas.labelling("dosenbach"))
    shown = connectivity_heatmap(measured, connectivity_heatmap.takes(matrix="graph", order="dosenbach"))
    assert shown.title == "Brain graph of sim-NC-001"
    assert shown.simulated
    numbers = shown.numbers()
    np.testing.assert_array_equal(
        numbers.drop(columns="region"), measured.graph().weights[np.ix_(order.order, order.order)]
    )
    assert list(numbers["region"]) == [regions[i] for i in order.order]
    carpet = series_carpet(measured, RegionOrderOptions()).numbers()
    np.testing.assert_array_equal(carpet[list(regions)], measured.subject.series)
    pairs = connectivity_distribution(measured, NoOptions()).numbers()
    assert pairs["kept"].sum() == measured.graph().n_edges
    first, second = pairs.loc[0, ["region", "other region"]]
    assert pairs.loc[0, "connectivity"] == measured.connectivity()[regions.index(first), regions.index(second)]


def test_page_starts_with_functional_networks_and_a_script_with_the_atlas(measured) -> None:
    order = connectivity_heatmap.takes.declared()["order"]
    assert order.default_for(measured.cohort) == next(iter(measured.atlas.labels))
    assert order.default == "atlas"
    assert order.text("our own networks") == "By our own networks"
