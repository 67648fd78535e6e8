"""Figures of modules: the numbers they are given are the numbers they hold, under the names and colours of modules."""

from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from drawn_figures import STYLE, drawn_by_both, measured_of, on_screen, traces
from paper_texts import texts_inside_and_apart

from biobgt.base.colours import MODULE_COLOURS
from biobgt.base.errors import InputError
from biobgt.base.references import cited
from biobgt.data.simulate import demo_cohort
from biobgt.figures import groups, module_colours
from biobgt.figures import modules as family
from biobgt.figures.groups import ModuleComparisonOptions, difference_caption, difference_numbers, group_module_methods
from biobgt.figures.modules import _strongest_within_modules
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.paper_style import PaperStyle
from biobgt.modules import ModularityTest, SmallWorld, compare_modules
from biobgt.modules.compare import UNADJUSTED, ModuleDifference
from biobgt.modules.measures import NamedModuleOptions, NullGraphOptions, SmallWorldOptions
from biobgt.modules.partition import ModuleAgreement
from biobgt.results.measured import Measured

BLUE, ORANGE, GREEN = MODULE_COLOURS[:3]
SWEEP = pd.DataFrame(
    [(1.5, 7, 0.3, 0.8, 0.4), (0.5, 2, 0.7, 0.7, 0.1), (1.0, 4, 0.5, 0.95, 0.3)],
    columns=["resolution", "n_modules", "q", "stability", "ami dosenbach"],
)
NULL = np.array([0.101, 0.119, 0.121, 0.139, 0.16])
TEST = ModularityTest(q=0.5, null=NULL, seed=7)


def heatmap_of(modules, names, *, matrix=None, q=0.5, resolution=1.0, **about):
    """Connectivity by module, and the matrix that it is made of."""
    n = len(modules)
    matrix = np.arange(n * n, dtype=float).reshape(n, n) if matrix is None else matrix
    found = SimpleNamespace(partition=SimpleNamespace(labels=np.array(modules), q=q))
    results = {"connectivity": lambda: matrix, "quantity": "r", "modules": lambda options: found}
    measured = measured_of([f"R{i}" for i in range(n)], **results, **about)
    with patch.object(family, "named_modules", return_value=names):
        return matrix, family.module_heatmap(measured, NamedModuleOptions(resolution=resolution))


def roles_of(modules, within_z, participation, *, names=None, hub_z=2.5, regions=None, **about):
    """Regions by role."""
    names = names or {module: f"Module {module}" for module in modules}
    regions = regions or [f"<{letter}>" for letter in "abcd"[: len(modules)]]
    found = {"within_z": np.array(within_z), "participation": np.array(participation), "hub": False}
    roles = pd.DataFrame({"region": regions, "module": modules, **found})
    results = {"modules": lambda options: SimpleNamespace(roles=roles, partition=None)}
    with patch.object(family, "named_modules", return_value=names):
        return family.role_map(measured_of(regions, **results, **about), NamedModuleOptions(hub_z=hub_z))


def sweep_of(sweep, *, simulated=False, **chosen):
    """Modules over the resolution."""
    rows = sweep.set_index("resolution", drop=False)
    measured = measured_of(simulated=simulated, resolution_step=lambda options, value: rows.loc[value].to_dict())
    measured.atlas.labels = {"dosenbach": ()}
    options = family.resolution_sweep.takes(resolutions=tuple(sweep["resolution"]), **chosen)
    return family.resolution_sweep(measured, options)


def chance_of(test, **about):
    """Modularity beside that of null graphs."""
    measured = measured_of(null_modularity=lambda options, seed: test, **about)
    with patch("biobgt.modules.structure.ModularityTest.pooled_with", return_value=test):
        return family.modularity_against_chance(measured, NullGraphOptions(null_graphs=3))


def small_world_of(found, **about):
    """Clustering and path length beside those of null graphs."""
    with patch.object(family, "pooled_small_world", return_value=found):
        return family.small_worldness(measured_of(**about), SmallWorldOptions())


def agreement_of(contingency):
    """Two divisions that share so many regions."""
    return ModuleAgreement(0.5, 0.5, 1.0, 0.5, contingency, int(contingency.to_numpy().sum()), 0, 0)


def flow_of(agreement, *, names=None, matched=None, labelling="L", **about):
    """Modules beside functional networks."""
    results = {
        "module_agreement": lambda options, labelling: agreement,
        "modules": lambda options: SimpleNamespace(partition=None),
    }
    names = names or {1: "Module 1 · mostly a", 2: "Module 2 · b"}
    with (
        patch.object(family, "named_modules", return_value=names),
        patch("biobgt.modules.partition.match_labels", return_value=matched or {}),
    ):
        return family.module_flow(measured_of(**results, **about), NamedModuleOptions(labelling=labelling))


def group_flow_of(difference, *, simulated=False):
    """Modules of two groups, NC and AD."""
    measured = measured_of("abcdef")
    measured.cohort = SimpleNamespace(simulated=simulated)
    options = groups.ModuleComparisonOptions(first="NC", second="AD")
    with (
        patch.object(groups, "changed_modules", return_value=difference),
        patch.object(groups, "named_modules", return_value={1: "1", 2: "2"}),
        patch.object(groups, "group_module_methods", return_value=()),
    ):
        return groups.group_module_flow(measured, options)


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


def test_names_of_many_modules_have_one_line_and_those_of_none_say_so():
    (name,) = on_screen(heatmap_of([0, 0, 0], {})[1]).layout.yaxis.ticktext
    assert name.startswith("no module")
    modules = np.repeat(range(1, 13), 10).tolist()
    figure = on_screen(heatmap_of(modules, {i: f"Module {i} · x & y" for i in range(1, 13)})[1])
    assert [text.split(" <span")[0] for text in figure.layout.yaxis.ticktext[:2]] == ["1 · x &amp; y", "2 · x &amp; y"]


def test_heatmap_on_paper_has_the_same_order_and_bars():
    names = {1: "Module 1 · x", 2: "Module 2 · y"}
    _, shown = heatmap_of([2, 0, 1, 2], names, matrix=np.arange(16.0).reshape(4, 4) / 16, q=0.456, resolution=1.3)
    axes = drawn_by_both(shown)[1].axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["1 · x", "2 · y", "no module"]
    marks = [line.get_color() for line in axes.lines if line.get_linewidth() == 2.5]
    assert marks == [BLUE, ORANGE, "#9AA5AB"]
    assert shown.numbers()["module"].tolist() == [1, 2, 2, 0]
    assert "2 Louvain modules at resolution 1.3, of 1, 2 regions, Q = 0.46" in shown.caption
    assert "In no module: 1 region without connections" in shown.caption


def test_roles_are_named_and_coloured_as_elsewhere():
    shown = on_screen(roles_of([3, 1, 0], [1.0, 2.0, np.nan], [0.1, 0.2, np.nan]))
    assert [(trace.name, trace.marker.color) for trace in shown.data] == [("Module 1", BLUE), ("Module 3", GREEN)]
    assert shown.data[0].text == ("&lt;b&gt;",)
    named = on_screen(roles_of([1, 1], [0.0, 0.0], [0.0, 0.0], names={1: "Module 1 · <i>"}))
    assert named.data[0].name == "Module 1 · &lt;i&gt;"


def test_roles_on_paper_are_those_on_the_screen():
    names = {1: "visual", 9: "Module 9"}
    shown = roles_of([1, 9, 0, 1], [1.0, -1.0, np.nan, 2.0], [0.1, 0.2, np.nan, 0.4], hub_z=1.5, names=names)
    axes = drawn_by_both(shown)[1].axes[0]
    markers = {line.get_marker() for line in axes.lines if line.get_label() in names.values()}
    assert len(markers) == 2, "modules 1 and 9 share a colour, and differ in their symbol"
    assert axes.lines[0].get_ydata()[0] == 1.5


def test_sweep_is_drawn_in_order_and_the_choice_is_marked():
    figure, _ = drawn_by_both(sweep_of(SWEEP))
    drawn = traces(figure)
    assert list(drawn["Number of modules"].x) == [0.5, 1.0, 1.5]
    assert list(drawn["Number of modules"].y) == [2, 4, 7]
    assert list(drawn["Modularity Q"].y) == [0.7, 0.5, 0.3]
    assert list(drawn["Stability: AMI between runs"].y) == [0.7, 0.95, 0.8]
    assert list(drawn["AMI with Dosenbach's six networks"].y) == [0.1, 0.3, 0.4]
    assert [(line.x0, line.x1) for line in figure.layout.shapes] == [(1.0, 1.0)] * 2
    caption = sweep_of(SWEEP, resolution=1.5, runs=10, seed=3, simulated=True).caption
    assert "Simulated subject s" in caption
    assert "agree best at 1 (AMI 0.95), with 4 modules" in caption
    assert "10 runs at each (seed 3)" in caption
    assert caption.endswith("chosen resolution, 1.5.")
    assert "nan" not in sweep_of(SWEEP.assign(stability=np.nan)).caption


def test_flow_has_every_region_once():
    counts = pd.DataFrame([[3, 0, 1], [0, 5, 2]], index=[1, 2], columns=["<a>", "b", "c"])
    figure = on_screen(flow_of(agreement_of(counts), matched={"<a>": 1, "b": 2}))
    sankey = figure.data[0]
    flows = set(zip(sankey.link.source, sankey.link.target, sankey.link.value, strict=True))
    assert flows == {(0, 2, 3), (0, 4, 1), (1, 3, 5), (1, 4, 2)}
    assert list(sankey.node.color) == [BLUE, ORANGE, BLUE, ORANGE, "#9AA5AB"]
    assert list(sankey.node.label) == ["Module 1 · mostly a", "Module 2 · b", "&lt;a&gt;", "b", "c"]
    texts = [note.text for note in figure.layout.annotations]
    assert texts == [
        *("Module 1<br>mostly a", "Module 2<br>b", "<b>Modules</b>"),
        *("&lt;a&gt;", "b", "c", "<b>Networks</b>"),
    ]


def test_names_stand_beside_their_nodes_which_do_not_overlap():
    counts = pd.DataFrame([[1, 0, 8], [20, 1, 0]], index=[1, 2], columns=["a", "b", "c"])
    figure = on_screen(flow_of(agreement_of(counts)))
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


def test_flow_captions_name_the_numbers():
    agreement = compare_modules([1, 1, 2, 2, 0, 1], ["a", "a", "b", "b", "a", None])
    caption = flow_of(agreement).caption
    assert "from Louvain modules to L." in caption
    assert "the 4 regions that have a module and a label" in caption
    assert "Left out: 1 region without a label and 1 region in no module. AMI = 1.00." in caption
    assert "Left out" not in flow_of(compare_modules([1, 1, 2, 2], ["a", "a", "b", "b"])).caption
    labels, both = np.ones(6, dtype=int), compare_modules([1, 1, 2, 2], [1, 1, 2, 2])
    difference = ModuleDifference(labels, labels, both, (0, 1, 2), 0.5, 0.4, 0.1, (3, 3), 10, 0)
    between = group_flow_of(difference, simulated=True).caption
    assert "simulated subjects of NC (left) and AD (right)" in between
    assert "3 of 4 regions change module; AMI" in between
    assert "not adjusted for motion, age, sex or site" in between
    by_chance = group_flow_of(replace(difference, shuffled=(1, 4, *[2] * 37))).caption
    assert "3 of 4 regions change module, and 1 to 4 in 39 permutations of the groups, seed 0 (p = 0.05);" in by_chance
    least = group_flow_of(replace(difference, shuffled=(2,) * 39)).caption
    assert "(p = 0.025, the smallest that 39 permutations can give)" in least


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
    methods = cited(" ".join(group_module_methods(measured, options, found)))
    assert caption.startswith("Simulated subjects: consensus modules of NC and of AD. ")
    assert "within their group (mean AMI 0.500) than between groups (0.250)" in caption
    for said in ("1,000 permutations of the groups, seed 7", UNADJUSTED):
        assert said in caption
        assert said in methods
    assert "the permutation p of that difference is 0.0312 (1,000" in methods
    assert "recordings" not in caption
    undefined = two_groups_compared(np.nan)
    assert difference_numbers(undefined)["Permutation p"] == "not defined"
    assert "difference is not defined (1,000" in cited(" ".join(group_module_methods(measured, options, undefined)))


def test_recordings_of_two_groups_are_counted_as_people():
    cohort = demo_cohort("ad", n_per_group=3)
    names = {"sim-AD-001": "sub-9_ses-1", "sim-AD-002": "sub-9_ses-2"}
    cohort = replace(cohort, subjects=tuple(replace(one, id=names.get(one.id, one.id)) for one in cohort))
    measured, options = Measured(cohort).of(cohort.ids[0]), ModuleComparisonOptions(first="NC", second="AD")
    assert difference_caption(measured, options, two_groups_compared(0.5)).endswith(
        " There are 6 recordings of 5 people; permutations keep a person's recordings together."
    )


def test_modularity_lies_beside_the_null():
    shown = chance_of(TEST)
    figure, printed = drawn_by_both(shown)
    axes, bars = printed.axes[0], list(printed.axes[0].containers[0])
    assert figure.layout.shapes[0].x0 == 0.5
    assert figure.layout.xaxis.range[1] > 0.5
    assert len(bars) <= 20
    for bar in bars:
        middle, half = bar.get_x() + bar.get_width() / 2, bar.get_width() / 0.95 / 2
        assert bar.get_height() == ((middle - half <= TEST.null) & (middle + half > TEST.null)).sum()
    assert sum(bar.get_height() for bar in bars) == len(TEST.null)
    np.testing.assert_allclose(axes.get_xlim(), figure.layout.xaxis.range)
    names = {text.get_text() for text in printed.legends[0].get_texts()}
    assert names == {"null graphs", "this subject, Q = 0.500"}
    assert "Q = 0.500 against 0.128 on average in 5 null graphs, z = 16.6, p = 0.167" in shown.caption
    assert "(seed 7)" in shown.caption
    assert shown.caption.endswith("5 null graphs can give is 0.17.")
    np.testing.assert_array_equal(shown.numbers()["modularity Q"], [0.5, *TEST.null])


def test_null_graphs_that_are_all_alike_are_one_bar():
    alike = replace(TEST, null=np.array([0.2, 0.2, 0.2]))
    assert list(chance_of(alike).marks[0].y) == [3]


def test_what_is_not_defined_is_refused():
    with pytest.raises(InputError, match="without connections"):
        chance_of(ModularityTest(q=np.nan, null=np.array([np.nan]), seed=0))
    with pytest.raises(InputError, match="no flow"):
        flow_of(agreement_of(pd.DataFrame(np.zeros((0, 0), dtype=int))))


WORLD = SmallWorld(0.4, 2.5, 0.2, 2.0, 0.4, n_left_out=2, n_nulls=5, seed=7)


def test_small_world_has_a_bar_for_each_kind_of_graph_and_says_what_is_not_defined():
    shown = small_world_of(WORLD)
    screen, paper = drawn_by_both(shown)
    assert [trace.y[0] for trace in screen.data] == [0.4, 0.2, 0.4, 2.5, 2.0]
    texts = [text.get_text() for axes in paper.axes for text in axes.texts]
    assert texts == [trace.text[0] for trace in screen.data]
    assert [trace.x[0] for trace in on_screen(shown).data[:3]] == ["this subject", "random graphs", "lattices"]
    assert "is 1.60; it is above 1" in shown.caption
    assert "is −0.20; it is near 0" in shown.caption
    assert shown.caption.endswith(
        "5 null graphs of each kind, seed 7. 2 regions outside the largest component left out."
    )
    undefined = replace(WORLD, random_clustering=np.nan, n_nulls=1, n_left_out=0)
    nothing = small_world_of(undefined)
    assert "is not defined; it is above 1" in nothing.caption
    texts = [text.get_text() for text in draw_on_paper(nothing, STYLE).axes[0].texts]
    assert texts == ["0.400", "not defined", "0.400"]
    assert nothing.caption.endswith("1 null graph of each kind, seed 7.")


@pytest.mark.parametrize(("width", "font_size"), [(85, 7), (85, 10), (174, 7)])
@pytest.mark.parametrize("case", ["chance", "small world", "roles"])
def test_texts_on_paper_lie_inside_the_figure_and_apart(case, width, font_size, monkeypatch):
    about = {"subject": "0051234 from a site with a long name, sorted by its functional networks", "simulated": True}
    if case == "roles":
        regions = [f"Temporal_Sup_Pole_L ({i})" for i in range(120)]
        modules = np.random.default_rng(0).integers(0, 15, 120)
        shown = roles_of(modules, np.linspace(-2, 3, 120), np.linspace(0, 0.99, 120), regions=regions, **about)
    else:
        shown = chance_of(TEST, **about) if case == "chance" else small_world_of(WORLD, **about)
    style = PaperStyle(width_mm=width, font_size=font_size, dpi=150, titles=True)
    texts = texts_inside_and_apart(draw_on_paper(shown, style), monkeypatch, style)
    assert any("simulated" in text for text in texts)


def test_strongest_connections_stay_within_modules():
    weights = np.zeros((5, 5))
    for i, j, weight in ((0, 1, 0.5), (0, 2, 0.9), (1, 2, 0.7), (3, 4, 0.6), (2, 3, 1.0), (0, 4, -0.8)):
        weights[i, j] = weights[j, i] = weight
    pairs, one, none = np.array([1, 1, 1, 2, 2]), np.ones(5, dtype=int), np.zeros(5, dtype=int)
    assert _strongest_within_modules(weights, pairs, most=3) == [(0, 2, 0.9), (1, 2, 0.7), (3, 4, 0.6)]
    for modules, most, n in ((pairs, 100, 4), (pairs, 0, 0), (none, 9, 0), (one, 9, 5)):  # a negative one is none
        assert len(_strongest_within_modules(weights, modules, most=most)) == n
