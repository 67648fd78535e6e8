"""Figures of modules: the numbers they are given are the numbers they hold, under the names and colours of modules."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hub_figures import on_screen
from module_figures import heatmap_of

from biobgt.base.colours import MODULE_COLOURS
from biobgt.base.errors import InputError
from biobgt.data.simulate import demo_cohort
from biobgt.figures import module_colours
from biobgt.figures.module_chance import ModularityAgainstChance
from biobgt.figures.module_flow import GroupModuleFlow, ModuleFlow
from biobgt.figures.module_groups import ModuleComparisonOptions, difference_caption, difference_numbers, group_words
from biobgt.figures.module_sweep import ResolutionSweep, ResolutionSweepOptions
from biobgt.figures.paper import PaperStyle
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.role_map import RoleMap
from biobgt.modules import ModularityTest, compare_modules
from biobgt.modules.compare import UNADJUSTED, ModuleDifference
from biobgt.modules.measures import NamedModuleOptions, NullGraphOptions
from biobgt.modules.partition import ModuleAgreement
from biobgt.results.measured import Measured

STYLE = PaperStyle(dpi=100)
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


def test_heatmap_is_sorted_and_its_bars_are_named():
    modules = [2, 0, 1, 2, 1] * 6
    names = {1: "Module 1 · mostly <b>", 2: "Module 2 · default"}
    matrix, drawing = heatmap_of(modules, names)
    figure = on_screen(drawing)
    order = sorted(range(30), key=lambda i: (modules[i] or 9, i))
    assert list(figure.data[0].y) == [f"R{i}" for i in order]
    np.testing.assert_allclose(figure.data[0].z, matrix[np.ix_(order, order)])
    bars = [shape for shape in figure.layout.shapes if shape.type == "rect"]
    assert [shape.fillcolor for shape in bars] == [BLUE, ORANGE, "#9AA5AB"]
    assert [(round(shape.y0 + 0.3), round(shape.y1 + 0.7)) for shape in bars] == [(0, 12), (12, 24), (24, 30)]
    first, second, third = figure.layout.yaxis.ticktext
    assert first.startswith("Module 1<br>mostly &lt;b&gt;")
    assert BLUE in first
    assert second.startswith("Module 2<br>default")
    assert third.startswith("no module")


def test_names_of_small_modules_do_not_lie_on_each_other():
    modules = [1] * 50 + [2] * 45 + [3, 4, 5, 6, 7]
    figure = on_screen(heatmap_of(modules, {i: f"Module {i} · x" for i in range(1, 8)})[1])
    rows = [list(figure.data[0].y).index(name) for name in figure.layout.yaxis.tickvals]
    assert min(np.diff(rows)) >= 100 / 9 - 2
    assert max(rows) < 100


def test_heatmap_of_a_graph_without_modules():
    (name,) = on_screen(heatmap_of([0, 0, 0], {})[1]).layout.yaxis.ticktext
    assert name.startswith("no module")


def test_names_of_many_modules_have_one_line():
    modules = np.repeat(range(1, 13), 10).tolist()
    figure = on_screen(heatmap_of(modules, {i: f"Module {i} · x & y" for i in range(1, 13)})[1])
    assert [text.split(" <span")[0] for text in figure.layout.yaxis.ticktext[:2]] == ["1 · x &amp; y", "2 · x &amp; y"]


def test_heatmap_on_paper_has_the_same_order_and_bars():
    names = {1: "Module 1 · x", 2: "Module 2 · y"}
    _, shown = heatmap_of([2, 0, 1, 2], names, matrix=np.arange(16.0).reshape(4, 4) / 16, q=0.456, resolution=1.3)
    axes = draw_on_paper(shown, STYLE).axes[0]
    np.testing.assert_allclose(axes.images[0].get_array(), on_screen(shown).data[0].z, rtol=1e-6)
    assert [text.get_text() for text in axes.get_yticklabels()] == ["1 · x", "2 · y", "no module"]
    marks = [line.get_color() for line in axes.lines if line.get_linewidth() == 2.5]
    assert marks == [BLUE, ORANGE, "#9AA5AB"]
    assert shown.numbers()["module"].tolist() == [1, 2, 2, 0]
    assert "2 Louvain modules at resolution 1.3, of 1, 2 regions, Q = 0.46" in shown.caption
    assert "In no module: 1 region without connections" in shown.caption


def role_map(modules, within_z, participation, **about):
    roles = {"region": [f"<{letter}>" for letter in "abcd"[: len(modules)]], "module": modules}
    found = {"within_z": np.array(within_z), "participation": np.array(participation), "hub": False}
    return RoleMap(roles=pd.DataFrame({**roles, **found}), **about)


def test_roles_are_named_and_coloured_as_elsewhere():
    shown = role_map([3, 1, 0], [1.0, 2.0, np.nan], [0.1, 0.2, np.nan]).plotly()
    assert [(trace.name, trace.marker.color) for trace in shown.data] == [("Module 1", BLUE), ("Module 3", GREEN)]
    assert shown.data[0].text == ("&lt;b&gt;",)
    named = role_map([1, 1], [0.0, 0.0], [0.0, 0.0], names={1: "Module 1 · <i>"}).plotly()
    assert named.data[0].name == "Module 1 · &lt;i&gt;"


def test_roles_on_paper_are_those_on_the_screen():
    shown = role_map([1, 9, 0, 1], [1.0, -1.0, np.nan, 2.0], [0.1, 0.2, np.nan, 0.4], hub_z=1.5, names={1: "visual"})
    screen, axes = traces(shown.plotly()), shown.matplotlib(STYLE).axes[0]
    drawn = {dots.get_label(): np.asarray(dots.get_offsets()) for dots in axes.collections}
    assert set(drawn) == set(screen) == {"visual", "Module 9"}
    for name, offsets in drawn.items():
        np.testing.assert_array_equal(offsets, np.column_stack([screen[name].x, screen[name].y]))
    shapes = [dots.get_paths()[0].vertices.shape for dots in axes.collections]
    assert shapes[0] != shapes[1], "modules 1 and 9 share a colour, and differ in their symbol"
    assert axes.lines[0].get_ydata()[0] == 1.5


def resolution_sweep(sweep, **chosen):
    about = {"simulated": chosen.pop("simulated", False), "labellings": {"dosenbach": "Dosenbach's six networks"}}
    return ResolutionSweep(subject="s", sweep=sweep, options=ResolutionSweepOptions(**chosen), **about)


def test_sweep_is_drawn_in_order_and_the_choice_is_marked():
    shown = resolution_sweep(SWEEP)
    figure, paper = shown.plotly(), shown.matplotlib(STYLE)
    drawn = traces(figure)
    assert list(drawn["Number of modules"].x) == [0.5, 1.0, 1.5]
    assert list(drawn["Number of modules"].y) == [2, 4, 7]
    assert list(drawn["Modularity Q"].y) == [0.7, 0.5, 0.3]
    assert list(drawn["Stability: AMI between runs"].y) == [0.7, 0.95, 0.8]
    assert list(drawn["AMI with Dosenbach's six networks"].y) == [0.1, 0.3, 0.4]
    assert [(line.x0, line.x1) for line in figure.layout.shapes] == [(1.0, 1.0)] * 2
    lines = {line.get_label(): line for axes in paper.axes for line in axes.lines}
    for name, trace in drawn.items():
        np.testing.assert_array_equal(lines[name].get_xydata(), np.column_stack([trace.x, trace.y]))
    caption = resolution_sweep(SWEEP, resolution=1.5, runs=10, seed=3, simulated=True).caption
    assert "Simulated subject s" in caption
    assert "agree best at 1 (AMI 0.95), with 4 modules" in caption
    assert "10 runs at each (seed 3)" in caption
    assert caption.endswith("chosen resolution, 1.5.")
    assert "nan" not in resolution_sweep(SWEEP.assign(stability=np.nan)).caption


def flow(contingency, **about):
    agreement = ModuleAgreement(0.5, 0.5, 1.0, 0.5, contingency, int(contingency.to_numpy().sum()), 0, 0)
    named = {"names": {1: "Module 1 · mostly a", 2: "Module 2 · b"}, "matched": {}, "sides": ("A", "B")}
    return ModuleFlow(agreement=agreement, **(named | about)).plotly()


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
    about = {"agreement": agreement, "names": {1: "1", 2: "2"}, "matched": {}, "simulated": True}
    caption = ModuleFlow(subject="s", options=NamedModuleOptions(labelling="L"), **about).caption
    assert "from Louvain modules to L." in caption
    assert "the 4 regions that have a module and a label" in caption
    assert "Left out: 1 region without a label and 1 region in no module. AMI = 1.00." in caption
    whole = {**about, "agreement": compare_modules([1, 1, 2, 2], ["a", "a", "b", "b"])}
    assert "Left out" not in ModuleFlow(subject="s", options=NamedModuleOptions(labelling="L"), **whole).caption
    labels = np.ones(6, dtype=int)
    difference = ModuleDifference(labels, labels, agreement, (0, 1, 2), 0.5, 0.4, 0.1, (3, 3), 10, 0)
    groups = {
        "options": ModuleComparisonOptions(first="NC", second="AD"),
        "sides": ("NC", "AD"),
        "regions": list("abcdef"),
    }
    between = GroupModuleFlow(difference=difference, **groups, **about).caption
    assert "simulated subjects of NC (left) and AD (right)" in between
    assert "3 of 4 regions change module; AMI" in between
    by_chance = replace(difference, shuffled=(1, 4, *[2] * 37))
    between = GroupModuleFlow(difference=by_chance, **groups, **about).caption
    assert "3 of 4 regions change module, and 1 to 4 in 39 permutations of the groups, seed 0 (p = 0.05);" in between
    least = GroupModuleFlow(difference=replace(difference, shuffled=(2,) * 39), **groups, **about).caption
    assert "(p = 0.025, the smallest that 39 permutations can give)" in least
    assert "not adjusted for motion, age, sex or site" in between


def two_groups_compared(p: float) -> ModuleDifference:
    labels = np.array([1, 1, 2, 2])
    agreement = compare_modules(labels, [1, 1, 2, 2])
    return ModuleDifference(labels, labels, agreement, (0, 3), 0.5, 0.25, p, (3, 2), 1000, 7)


def test_two_groups_are_said_alike_on_the_page_and_in_the_methods():
    cohort = demo_cohort("ad", n_per_group=3).select(lambda one: one.id != "sim-AD-003")
    measured, options = Measured(cohort).of(cohort.ids[0]), ModuleComparisonOptions(first="NC", second="AD")
    found = two_groups_compared(0.0312)
    assert difference_numbers(found) == {
        "AMI": "1.00",
        "ARI": "1.00",
        "VI (bits)": "0.00",
        "Regions that change": "2 of 4",
        "Permutation p": "0.0312",
    }
    caption = difference_caption(measured, options, found)
    methods = " ".join(group_words(measured, options, found)["methods"])
    assert caption.startswith("Simulated subjects: consensus modules of NC and of AD. ")
    assert "within their group (mean AMI 0.500) than between groups (0.250)" in caption
    for said in ("1,000 permutations of the groups, seed 7", UNADJUSTED):
        assert said in caption
        assert said in methods
    assert "the permutation p of that difference is 0.0312 (1,000" in methods
    assert "recordings" not in caption
    undefined = two_groups_compared(np.nan)
    assert difference_numbers(undefined)["Permutation p"] == "not defined"
    assert "difference is not defined (1,000" in " ".join(group_words(measured, options, undefined)["methods"])


def test_recordings_of_two_groups_are_counted_as_people():
    cohort = demo_cohort("ad", n_per_group=3)
    names = {"sim-AD-001": "sub-9_ses-1", "sim-AD-002": "sub-9_ses-2"}
    cohort = replace(cohort, subjects=tuple(replace(one, id=names.get(one.id, one.id)) for one in cohort))
    measured, options = Measured(cohort).of(cohort.ids[0]), ModuleComparisonOptions(first="NC", second="AD")
    assert difference_caption(measured, options, two_groups_compared(0.5)).endswith(
        " There are 6 recordings of 5 people; permutations keep a person's recordings together."
    )


def test_modularity_lies_beside_the_null():
    shown = ModularityAgainstChance(subject="s", test=TEST, title="T", options=NullGraphOptions(null_graphs=3))
    figure = shown.plotly()
    assert list(figure.data[0].x) == [0.1, 0.2, 0.3]
    assert figure.layout.shapes[0].x0 == 0.5
    assert figure.layout.xaxis.range[1] > 0.5
    bars = shown.matplotlib(STYLE).axes[0]
    assert sum(bar.get_height() for bar in bars.patches) == 3
    assert bars.lines[0].get_xdata()[0] == 0.5
    caption = shown.caption
    assert "Q = 0.500 against 0.200 on average in 3 null graphs, z = 3.0, p = 0.25" in caption
    assert "(seed 7)" in caption
    assert caption.endswith("3 null graphs can give is 0.25.")


def test_modularity_that_is_not_defined_is_refused():
    empty = ModularityTest(q=np.nan, null=np.array([np.nan]), z=np.nan, p=np.nan, refitted=True, seed=0)
    with pytest.raises(InputError, match="without connections"):
        ModularityAgainstChance(test=empty)
