"""Figures of modules: the numbers they are given are the numbers they hold, under the names and colours of modules."""

import numpy as np
import pandas as pd
import pytest

from biobgt.errors import InputError
from biobgt.figures import (
    chance_caption,
    flow_caption,
    group_flow_caption,
    modularity_against_chance,
    module_caption,
    module_colours,
    module_flow,
    module_heatmap,
    resolution_caption,
    resolution_curves,
    role_map,
)
from biobgt.figures.modules import MODULE_COLOURS
from biobgt.modules import ModularityTest, Partition, compare_modules

BLUE, ORANGE, GREEN = MODULE_COLOURS[:3]
SWEEP = pd.DataFrame(
    {
        "resolution": [1.5, 0.5, 1.0],
        "n_modules": [7, 2, 4],
        "q": [0.3, 0.7, 0.5],
        "stability": [0.8, 0.7, 0.95],
        "ami dosenbach": [0.4, 0.1, 0.3],
    }
)
TEST = ModularityTest(q=0.5, null=np.array([0.1, 0.2, 0.3]), z=3.0, p=0.25, refitted=True, seed=7)


def traces(figure):
    return {trace.name: trace for trace in figure.data}


def test_a_module_has_the_colour_of_its_number():
    assert module_colours([2, 1, 10, 0]) == {2: ORANGE, 1: BLUE, 10: ORANGE, 0: "#9AA5AB"}
    assert len(set(MODULE_COLOURS)) == 8


def heatmap(modules, names, **options):
    n = len(modules)
    matrix = np.arange(n * n, dtype=float).reshape(n, n)
    return matrix, module_heatmap(matrix, [f"R{i}" for i in range(n)], modules, names, **options)


def test_heatmap_is_sorted_and_its_brackets_are_named():
    modules = [2, 0, 1, 2, 1] * 6
    names = {1: "Module 1 · mostly <b>", 2: "Module 2 · default"}
    matrix, figure = heatmap(modules, names, title="T", simulated=True)
    order = sorted(range(30), key=lambda i: (modules[i] or 9, i))
    assert list(figure.data[0].y) == [f"R{i}" for i in order]
    np.testing.assert_allclose(figure.data[0].z, matrix[np.ix_(order, order)])
    brackets = [shape for shape in figure.layout.shapes if shape.type == "rect"]
    assert [shape.fillcolor for shape in brackets] == [BLUE, ORANGE, "#9AA5AB"]
    assert [(round(shape.y0 + 0.3), round(shape.y1 + 0.7)) for shape in brackets] == [(0, 12), (12, 24), (24, 30)]
    first, second, third = figure.layout.yaxis.ticktext
    assert first.endswith("Module 1<br>mostly &lt;b&gt;")
    assert BLUE in first
    assert second.endswith("Module 2<br>default")
    assert third.endswith("no module")
    assert figure.layout.title.text == "T · simulated"


def test_names_of_small_modules_do_not_lie_on_each_other():
    modules = [1] * 50 + [2] * 45 + [3, 4, 5, 6, 7]
    _, figure = heatmap(modules, {i: f"Module {i} · x" for i in range(1, 8)})
    rows = [list(figure.data[0].y).index(name) for name in figure.layout.yaxis.tickvals]
    assert min(np.diff(rows)) >= 100 / 9 - 1
    assert max(rows) < 100


def test_heatmap_of_a_graph_without_modules():
    _, figure = heatmap([0, 0, 0], {})
    (name,) = figure.layout.yaxis.ticktext
    assert name.endswith("no module")


def test_roles_are_named_and_coloured_as_elsewhere():
    figure = role_map(np.array([0.1, 0.2, np.nan]), np.array([1.0, 2.0, np.nan]), [3, 1, 0], list("abc"), hub_z=2.5)
    assert [(trace.name, trace.marker.color) for trace in figure.data] == [("Module 1", BLUE), ("Module 3", GREEN)]
    named = role_map(np.zeros(2), np.zeros(2), [1, 1], list("ab"), hub_z=2.5, names={1: "Module 1 · <i>"})
    assert named.data[0].name == "Module 1 · &lt;i&gt;"


def test_sweep_is_drawn_in_order_and_the_choice_is_marked():
    figure = resolution_curves(SWEEP, {"dosenbach": "Dosenbach's six networks"}, chosen=1.0)
    drawn = traces(figure)
    assert list(drawn["Number of modules"].x) == [0.5, 1.0, 1.5]
    assert list(drawn["Number of modules"].y) == [2, 4, 7]
    assert list(drawn["Modularity Q"].y) == [0.7, 0.5, 0.3]
    assert list(drawn["Stability: AMI between runs"].y) == [0.7, 0.95, 0.8]
    assert list(drawn["AMI with Dosenbach's six networks"].y) == [0.1, 0.3, 0.4]
    assert [(line.x0, line.x1) for line in figure.layout.shapes] == [(1.0, 1.0)] * 2
    caption = resolution_caption("s", SWEEP, chosen=1.5, runs=10, seed=3, simulated=True)
    assert "Simulated subject s" in caption
    assert "agree best at 1 (AMI 0.95), with 4 modules" in caption
    assert "10 runs at each (seed 3)" in caption
    assert caption.endswith("chosen resolution, 1.5.")
    empty = resolution_caption("s", SWEEP.assign(stability=np.nan), chosen=1.0, runs=10, seed=0, simulated=False)
    assert "nan" not in empty


def flow(contingency, **options):
    arguments = {"matched": {}, "sides": ("A", "B")} | options
    return module_flow(contingency, {1: "Module 1 · mostly a", 2: "Module 2 · b"}, **arguments)


def test_flow_has_every_region_once():
    counts = pd.DataFrame([[3, 0, 1], [0, 5, 2]], index=[1, 2], columns=["a", "b", "c"])
    figure = flow(counts, matched={"a": 1, "b": 2}, targets={"a": "<a>"})
    sankey = figure.data[0]
    flows = set(zip(sankey.link.source, sankey.link.target, sankey.link.value, strict=True))
    assert flows == {(0, 2, 3), (0, 4, 1), (1, 3, 5), (1, 4, 2)}
    assert list(sankey.node.color) == [BLUE, ORANGE, BLUE, ORANGE, "#9AA5AB"]
    assert list(sankey.node.label) == ["Module 1 · mostly a", "Module 2 · b", "&lt;a&gt;", "b", "c"]
    texts = [note.text for note in figure.layout.annotations]
    assert texts == ["Module 1<br>mostly a", "Module 2<br>b", "<b>A</b>", "&lt;a&gt;", "b", "c", "<b>B</b>"]


def test_names_stand_beside_their_nodes_which_do_not_overlap():
    counts = pd.DataFrame([[1, 0, 8], [20, 1, 0]], index=[1, 2], columns=["a", "b", "c"])
    figure = flow(counts)
    node, notes = figure.data[0].node, figure.layout.annotations
    np.testing.assert_allclose([1 - note.y for note in notes if note.yanchor == "middle"], node.y)
    # What comes from the first module lies highest on the right.
    assert node.y[4] < node.y[2] < node.y[3]
    room = figure.layout.height - figure.layout.margin.t - figure.layout.margin.b
    scale = (room - 2 * node.pad) / 30
    sizes = np.array([9, 21, 21, 1, 8]) * scale / room
    tops, bottoms = np.array(node.y) - sizes / 2, np.array(node.y) + sizes / 2
    assert tops.min() >= -1e-9
    assert bottoms.max() <= 1 + 1e-9
    for side in ([0, 1], [4, 2, 3]):
        gaps = tops[side[1:]] - bottoms[side[:-1]]
        assert (gaps >= node.pad / room - 1e-9).all()


def test_flow_of_nothing_is_refused():
    with pytest.raises(InputError, match="no flow"):
        flow(pd.DataFrame(np.zeros((0, 0), dtype=int)))


def test_flow_captions_name_the_numbers():
    agreement = compare_modules([1, 1, 2, 2, 0, 1], ["a", "a", "b", "b", "a", None])
    caption = flow_caption("s", agreement, labelling="L", simulated=True)
    assert "the 4 regions with a module and a label" in caption
    assert "1 region without a label and 1 in no module are left out. AMI = 1.00." in caption
    between = group_flow_caption(("NC", "AD"), agreement, 3, simulated=True)
    assert "simulated subjects of NC (left) and AD (right)" in between
    assert "3 of 4 regions are in another module" in between
    assert "not adjusted for motion, age, sex or site" in between


def test_modularity_lies_beside_the_null():
    figure = modularity_against_chance(TEST, title="T", simulated=True)
    assert list(figure.data[0].x) == [0.1, 0.2, 0.3]
    assert figure.layout.shapes[0].x0 == 0.5
    assert figure.layout.xaxis.range[1] > 0.5
    caption = chance_caption("s", TEST, simulated=False)
    assert "Q = 0.500 against 0.200 on average in 3 null graphs, z = 3.0, p = 0.25" in caption
    assert "(seed 7)" in caption
    assert caption.endswith("3 null graphs can give is 0.25.")


def test_module_caption_counts():
    partition = Partition(np.array([1, 1, 2, 0]), q=0.456, resolution=1.3, seed=0, signed=False)
    caption = module_caption("s", partition, limit=1.0, simulated=False)
    assert "2 Louvain modules at resolution 1.3, of 2, 1 regions, Q = 0.46" in caption
    assert "1 region without any connection" in caption


def test_names_of_many_modules_have_one_line():
    modules = np.repeat(range(1, 13), 10).tolist()
    _, figure = heatmap(modules, {i: f"Module {i} · x & y" for i in range(1, 13)})
    assert [text.split("</span> ")[1] for text in figure.layout.yaxis.ticktext[:2]] == [
        "1 · x &amp; y",
        "2 · x &amp; y",
    ]
