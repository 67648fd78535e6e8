"""The connectogram: which connections are drawn, where regions lie on its ring, and both pens."""

from dataclasses import replace

import numpy as np
import pytest
from drawn_figures import on_screen

from biobgt.base.colours import NEGATIVE, POSITIVE
from biobgt.base.errors import InputError
from biobgt.data.simulate import demo_cohort
from biobgt.figures import drawing as draw
from biobgt.figures.connectogram import connectogram, connectogram_panel, strongest_pairs
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.regions import order_regions
from biobgt.figures.screen import linked
from biobgt.results.measured import Measured

# Four regions; the atlas's order parts "a" from "b", the ring puts 0 and 2 beside each other.
REGIONS, LABELS = ["r0", "r1", "r2", "r3"], ["a", "b", "a", "b"]
MATRIX = np.array([[1, 0.2, -0.9, 0], [0.2, 1, 0.5, np.nan], [-0.9, 0.5, 1, 0.1], [0, np.nan, 0.1, 1]])


def drawn(n_strongest=3, labels=LABELS):
    order = order_regions(4, labels)
    pairs = strongest_pairs(MATRIX, n_strongest)
    panel = connectogram_panel(REGIONS, order, pairs, MATRIX[pairs[:, 0], pairs[:, 1]], "r")
    return draw.Drawing(title="A ring", panels=[panel], legend="above"), panel.marks[0]


def test_the_strongest_pairs_are_those_of_the_largest_absolute_values():
    assert strongest_pairs(MATRIX, 3).tolist() == [[0, 2], [1, 2], [0, 1]]
    assert len(strongest_pairs(MATRIX, 10)) == 4, "neither a gap nor a zero is a connection"


def test_regions_lie_clockwise_from_the_top_block_by_block_and_chords_end_at_them():
    _, ring = drawn()
    assert ring.names == ["r0", "r2", "r1", "r3"]
    np.testing.assert_allclose(np.linalg.norm(ring.places, axis=1), 1)
    assert np.sign(ring.places).astype(int).tolist() == [[1, 1], [1, -1], [-1, -1], [-1, 1]]
    for (first, last), curve in zip(ring.pairs, ring.curves, strict=True):
        np.testing.assert_allclose(curve[[0, -1]], ring.places[[first, last]])
    assert (np.linalg.norm(ring.curves[:, 1:-1], axis=2) < 1).all(), "a chord is within the ring"
    assert [[ring.names[place] for place in pair] for pair in ring.pairs] == [["r0", "r2"], ["r1", "r2"], ["r0", "r1"]]
    np.testing.assert_allclose(ring.shares, [1, 3 / 7, 0])


def test_blocks_are_arcs_that_do_not_meet_and_without_networks_the_ring_is_one():
    arcs = drawn()[1].arcs
    assert [name for name, _, _ in arcs] == ["a", "b"]
    assert arcs[0][2].max() < arcs[1][2].min()
    assert arcs[1][2].max() - 2 * np.pi < arcs[0][2].min()
    (_, _, whole), *others = drawn(labels=None)[1].arcs
    assert not others
    assert whole.max() - whole.min() == pytest.approx(2 * np.pi)


def test_names_on_a_side_are_a_line_apart():
    labels = [str(number) for number in range(30)]
    ring = replace(drawn()[1], names=labels, order=order_regions(30, labels), colours=["#000000"] * 30)
    ends = {name: end for name, (_, end) in ring.labels(0.2)}
    assert set(ends) == set(labels)
    for side in (1, -1):
        heights = sorted(y for x, y in ends.values() if np.sign(x) == side or x == 0)
        assert np.diff(heights).min() >= 0.2 - 1e-9


def test_both_pens_draw_every_chord_with_its_sign_and_tell_the_regions():
    drawing, ring = drawn()
    figure = on_screen(drawing)
    joined = {tuple(pair): trace for trace in figure.data if trace.meta for pair in trace.meta["chords"]}
    assert set(joined) == {(0, 2), (1, 2), (0, 1)}
    assert joined[0, 2].line.color == NEGATIVE
    assert joined[1, 2].line.color == POSITIVE
    assert joined[0, 2].line.width > joined[1, 2].line.width > joined[0, 1].line.width
    x, y = ring.curves[0].T
    np.testing.assert_allclose(joined[0, 2].x[:-1], x)
    np.testing.assert_allclose(joined[0, 2].y[:-1], y)
    (dots,) = [trace for trace in figure.data if trace.customdata is not None]
    assert (list(dots.customdata), list(dots.text)) == ([0, 2, 1, 3], ring.names)
    assert [note.text for note in figure.layout.annotations] == ["a", "b"]
    printed = draw_on_paper(drawing, PaperStyle(width_mm=85, dpi=72)).axes[0]
    segments = [segment for lines in printed.collections[:2] for segment in lines.get_segments()]
    assert sorted(map(str, segments)) == sorted(map(str, map(np.asarray, ring.curves)))
    assert {text.get_text() for text in printed.texts} == {"a", "b"}
    assert printed.get_aspect() == 1


def test_the_figure_tells_what_it_draws_and_its_marks_know_regions():
    cohort = demo_cohort("ad", n_per_group=1)
    measured = Measured(cohort).of(cohort.ids[0])
    drawing = connectogram(measured, connectogram.takes(order="dosenbach", connections=25))
    numbers, matrix = drawing.numbers(), measured.connectivity()
    found = np.abs(matrix[np.triu_indices(90, 1)])
    np.testing.assert_allclose(numbers["connectivity"].abs(), np.sort(found)[::-1][:25])
    assert "25 strongest connections" in drawing.caption
    tile = linked.tile_contents(drawing)
    assert any(trace.get("meta", {}).get("chords") for trace in tile["figure"]["data"])
    with pytest.raises(InputError, match="connections"):
        connectogram.takes(connections=0)


def test_a_matrix_without_negative_values_has_one_sign():
    drawing, _ = drawn()
    panel = connectogram_panel(REGIONS, order_regions(4), np.array([[0, 1]]), np.array([3.0]), "streamlines")
    figure = on_screen(replace(drawing, panels=[panel]))
    assert [trace.name for trace in figure.data if trace.name] == ["streamlines"]
