"""Figures of attention draw the numbers they are given, on the screen and for the paper, and say what they show."""

from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from drawn_figures import STYLE, drawn_by_both, on_screen
from matplotlib.patches import Rectangle
from paper_texts import texts_inside_and_apart

from biobgt.base.errors import InputError
from biobgt.data.atlas import Atlas, load_atlas
from biobgt.figures.attention.maps import (
    AttentionOrderOptions,
    AttentionPartOptions,
    _connectivity_words,
    _louvain_labels,
    attention_maps,
    attention_systems,
)
from biobgt.figures.attention.tested import (
    _comparison_sentence,
    attention_blocks,
    attention_contrast,
    attention_difference,
    attention_likeness,
    attention_spread,
)
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.regions import ATLAS_ORDER
from biobgt.figures.screen.pen import PAGE_WIDTH, height_by_width
from biobgt.model.attention import BesideConnectivity, block_tests, functional_labels, people_summary
from biobgt.model.pretrained import installed_model
from biobgt.results.measured import Measured

ATLAS = Atlas("toy", "a toy", ("A", "B", "C", "D"), labels={"dosenbach": ("x", "y", "x", None)})
PERMUTED = np.ix_([0, 2, 1, 3], [0, 2, 1, 3])  # A, C, B, D
MAPS = {"NC": np.arange(16.0).reshape(4, 4), "AD": np.ones((4, 4))}
COMPARED = {"first": "NC", "second": "AD"}
CONTRAST = {"NC": np.array([[1.5, 2.5]], dtype=np.float32), "AD": np.array([[1.0, 1.2]], dtype=np.float32)}
CONTRAST_ROW = {"d": -0.004, "d_low": -0.2, "d_high": 0.19, "p": 0.9, "d_unadjusted": 0.1, "p_unadjusted": 0.3}
PEOPLE = {
    "NC (ABIDE)": np.column_stack([np.linspace(1.2, 3, 10), np.linspace(0.4, 0.1, 10)]),
    "ASD": np.column_stack([[1.5] * 9 + [10.0], np.linspace(0.2, 0.3, 10)]),
}
PAIRS = [
    {"first": ["NC a", "ASD"], "second": ["NC b", "ADHD"], "r": -0.5, "expected": 0.01, "p": 0.04},
    {"first": ["NC a", "ASD"], "second": ["NC c", "AD"], "r": 0.25, "expected": 0.0, "p": 0.5},
    {"first": ["NC b", "ADHD"], "second": ["NC c", "AD"], "r": 0.0, "expected": 0.0, "p": 1.0},
]


def table_of(covariates: str = "", modules=("x", "y"), **columns) -> pd.DataFrame:
    """Tests of NC and AD as a model has them, one row per pair of modules and one for the contrast."""
    pairs = [(one, other) for one in modules for other in modules]
    blocks = pd.DataFrame(pairs, columns=["module", "other_module"]).assign(**columns)
    blocks = blocks.assign(family="block", feature=[f"{one} → {other}" for one, other in pairs])
    table = pd.concat([blocks, pd.DataFrame([{"family": "contrast", **CONTRAST_ROW}])], ignore_index=True)
    columns = [f"{name}{ending}" for name in ("difference", "t", "d_low", "d_high") for ending in ("", "_unadjusted")]
    table = table.reindex(columns=[*dict.fromkeys([*table, *columns])])
    return table.assign(between="NC - AD", covariates=covariates, mean_NC=1.0, mean_AD=1.0)


EFFECTS = {
    "d": [0.1, -0.6, 0.3, np.nan],
    "q": [0.5, 0.01, 0.2, np.nan],
    "d_unadjusted": [0.1, -0.7, 0.4, np.nan],
    "q_unadjusted": [0.5, 0.01, 0.03, np.nan],
}
TESTS = table_of(**EFFECTS)
NOT_COMPARED = TESTS[:0]


def model_of(maps=MAPS, tests=NOT_COMPARED, *, atlas=ATLAS, readouts=None, contrast=CONTRAST, people=None, **card):
    """A stand-in for a trained model; attention is in multiples of a region's even share of 1."""
    groups = SimpleNamespace(
        attention={group: matrix[None, None] / atlas.n_regions for group, matrix in maps.items()},
        connectivity=maps,
        n=dict(zip(maps, (3, 2, 2, 2, 2), strict=False)),
        tests=tests,
        contrast=contrast,
    )
    return SimpleNamespace(
        name="m",
        sha256="",
        atlas=atlas,
        groups=groups,
        group_names=tuple(people or maps),
        n_layers=1,
        n_heads=1,
        readouts=readouts or {},
        simulated=True,
        simulates=lambda groups: True,
        spread=people and SimpleNamespace(people=people),
        card={"protocol": "", "preset": {}, **card},
    )


def drawn(figure, model, **options):
    """A figure of the stand-in."""
    with patch("biobgt.figures.which_model.model_of", return_value=model):
        return figure(SimpleNamespace(), figure.takes(**options))


def maps_of(maps=MAPS, readouts=None, **options):
    return drawn(attention_maps, model_of(maps, readouts=readouts), **options)


def difference_of(tests=NOT_COMPARED, **options):
    return drawn(attention_difference, model_of(tests=tests), **COMPARED, **options)


def blocks_of(tests=TESTS, **about):
    return drawn(attention_blocks, model_of(tests=tests, **about), **COMPARED)


def contrast_of(tests=NOT_COMPARED, **card):
    return drawn(attention_contrast, model_of(tests=tests, **card))


def test_maps_share_order_and_scale() -> None:
    shown = maps_of(limits=(0, 9))
    figure = on_screen(shown)
    assert [note.text for note in figure.layout.annotations] == ["NC (n = 3)", "AD (n = 2)"]
    for trace, matrix in zip(figure.data, MAPS.values(), strict=True):
        np.testing.assert_allclose(trace.z, matrix[PERMUTED])
        assert trace.coloraxis == "coloraxis"
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (0, 9)
    assert figure.layout.title.text == "Attention of m · simulated"
    assert [text.split(" ")[0] for text in figure.layout.yaxis.ticktext] == ["x", "y", "unlabelled"]
    assert len(set(figure.layout.yaxis.tickvals)) == 3
    axes = draw_on_paper(shown, STYLE).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["x", "y", "unlabelled"]
    assert shown.numbers()["group"].tolist() == ["NC"] * 4 + ["AD"] * 4
    said = maps_of().caption
    assert "the one ensemble member that was not trained on that subject" in said
    assert "1 % of the pairs of regions lie beyond each of its ends, and so does most of the diagonal" in said


@pytest.mark.parametrize(("groups", "rows"), [(2, ()), (3, ()), (3, (2, 1))])
@pytest.mark.parametrize("width", [PAGE_WIDTH, 470])
def test_square_maps_fill_the_height_they_are_given(groups: int, rows: tuple[int, ...], width: int) -> None:
    """Names of modules and their colours take 130 px beside the maps at most."""
    maps = {f"group {i}": MAPS["AD"] for i in range(groups)}
    names = iter(maps)
    shown = maps_of(maps, {f"cohort {n}": [next(names) for _ in range(n)] for n in rows})
    layout = on_screen(shown).layout
    high = (height_by_width(shown).at(width) - layout.margin.t - layout.margin.b) * np.ptp(layout.yaxis.domain)
    assert high == pytest.approx((width - 130) * np.ptp(layout.xaxis.domain), abs=2)


def test_maps_of_several_cohorts_stand_in_rows() -> None:
    maps = {f"group {i}": i + MAPS["NC"] for i in range(5)}
    names = list(maps)
    shown = maps_of(maps, {"first": names[:2], "second": names[2:]})
    layout = on_screen(shown).layout
    assert layout.yaxis.domain == layout.yaxis2.domain
    assert layout.yaxis4.domain[1] < layout.yaxis.domain[0]
    assert layout.xaxis4.domain == layout.xaxis.domain  # below the first
    assert layout.xaxis3.visible is False
    assert layout.yaxis4.ticktext == layout.yaxis.ticktext  # names beside the first of each row
    assert not layout.yaxis5.showticklabels
    assert layout.annotations[0].text == "group 0<br>(n = 3)"
    _, printed = drawn_by_both(shown)
    assert [axes.get_title().split("\n")[0] for axes in printed.axes if axes.get_title()] == names
    assert "one cohort, its own controls first" in shown.caption


def test_scales_leave_the_diagonal_out_and_are_shared() -> None:
    maps = {name: np.full((4, 4), value) + 100 * np.eye(4) for name, value in (("NC", 0.5), ("AD", 2.0))}
    for some, ends in ((maps, (0.5, 2.0)), ({"NC": maps["NC"]}, (0.0, 1.0))):
        shades = maps_of(some).shades
        assert (shades.low, shades.high) == pytest.approx(ends)


def test_uniform_attention_has_a_tick_on_paper() -> None:
    for limits, ticks in (((0.5, 3.0), [1, 1.6, 2.4]), ((2.0, 4.0), [2, 2.5, 3, 3.5, 4])):
        *_, bar = draw_on_paper(maps_of(limits=limits), STYLE).axes
        np.testing.assert_allclose([tick for tick in bar.get_xticks() if limits[0] <= tick <= limits[1]], ticks)


def test_captions_of_attention_say_how_much_of_it_is_connectivity() -> None:
    beside = {"NC": BesideConnectivity(0.9, 1.68, 4.46), "AD": BesideConnectivity(-0.004, 1.0, float("nan"))}
    said = _connectivity_words(beside)
    assert "connectivity of the same subjects at r = 0.90 (NC) and r = 0.00 (AD). The ratio of" in said
    assert "is 1.68 (NC) and 1.00 (AD); positive connectivity alone" in said
    assert said.endswith("gives 4.46 (NC) and not defined (AD).")
    bare = {"NC": BesideConnectivity(0.9, float("nan"), float("nan"))}
    assert "ratio" not in _connectivity_words(bare)
    assert "connectivity of the same subjects at r = 1.00 (NC) and not defined (AD)" in maps_of().caption


def test_attention_of_other_networks_is_told_with_how_well_it_follows_modules() -> None:
    measured = Measured(installed_model("abide-cc200").cohort).of(None)
    shown = attention_systems(measured, AttentionOrderOptions())
    means = shown.numbers().groupby("network", sort=False).mean(numeric_only=True).mean(axis=1)
    assert list(means.index) == ["Graphormer", "SAT with positional encoding", "BioBGT, preset best"]
    np.testing.assert_allclose(means, 1, atol=0.01)  # multiples of uniform attention
    assert [panel.title.split("\n")[0] for panel in shown.panels] == ["Graphormer", "SAT", "BioBGT"]
    assert shown.panels[2].title == "BioBGT\nratio 1.69"
    assert "by design" in shown.caption
    plain = attention_systems(measured, AttentionOrderOptions(order=ATLAS_ORDER))
    assert plain.panels[2].title == "BioBGT"
    assert "by chance" not in plain.caption
    other = Measured(installed_model("cni-adhd-cc200").cohort).of(None)
    with pytest.raises(InputError, match="abide-cc200"):
        attention_systems(other, AttentionOrderOptions())


def test_difference_frames_the_block_that_looks_and_the_one_looked_at() -> None:
    tests = TESTS.assign(other_module=["x", "y", "x", "nothing", None], q=[0.5, 0.01, 0.2, 0.01, np.nan])
    shown = difference_of(tests)
    figure = on_screen(shown)
    np.testing.assert_allclose(figure.data[0].z, (MAPS["AD"] - MAPS["NC"])[PERMUTED], rtol=1e-6)
    (frame,) = [shape for shape in figure.layout.shapes if shape.name == "marked"]
    assert (frame.y0, frame.y1, frame.x0, frame.x1) == (-0.5, 1.5, 1.5, 2.5)
    assert figure.layout.coloraxis.cmin == -figure.layout.coloraxis.cmax < 0
    (framed,) = [one for one in draw_on_paper(shown, STYLE).axes[0].patches if isinstance(one, Rectangle)]
    assert (*framed.get_xy(), framed.get_width(), framed.get_height()) == (1.5, -0.5, 1, 2)
    assert "Frames mark those blocks." in shown.caption
    assert "mean over layers and heads, whatever is shown" in difference_of(tests, layer=1).caption
    unframed = difference_of(tests, order=ATLAS_ORDER)
    assert not [shape for shape in on_screen(unframed).layout.shapes if shape.name == "marked"]
    assert "framed only where" in unframed.caption
    assert "NC and AD were not compared by permutation" in difference_of().caption


def test_blocks_are_marked_where_their_q_passes() -> None:
    shown = blocks_of()
    figure = on_screen(shown)
    held, _ = figure.data
    np.testing.assert_allclose(held.z, [[0.1, -0.6], [0.3, np.nan]], rtol=1e-6)
    assert held.text[0][1] == "0.010"  # q, on hover
    assert figure.layout.coloraxis.cmax == pytest.approx(0.7)
    texts = {side: [note for note in figure.layout.annotations if note.yref == side] for side in ("y", "y2")}
    assert [note.text for note in texts["y"]] == ["0.10", "−0.60 ✱", "0.30"]
    assert [note.text for note in texts["y2"]] == ["0.10", "−0.70 ✱", "0.40 ✱"]
    # −0.70 is the end of the scale, dark blue
    assert [note.font.color for note in texts["y2"]] == ["black", "white", "black"]
    printed = draw_on_paper(shown, STYLE)
    assert [text.get_text() for text in printed.axes[0].texts] == ["0.10", "−0.60*", "0.30", ""]
    tiny = blocks_of(table_of(**EFFECTS | {"d": [-0.004, -0.006, 0.5, 0.5]}))
    assert tiny.panels[0].marks[0].cells[0] == ["0.00", "−0.01 ✱"], "no minus before zero"


def test_blocks_say_what_they_are_adjusted_for() -> None:
    figure = on_screen(blocks_of(table_of("age, sex", **EFFECTS)))
    assert [note.text for note in figure.layout.annotations if note.yref == "paper"] == [
        "adjusted for age and sex",
        "unadjusted",
    ]
    assert figure.layout.xaxis.domain == figure.layout.xaxis2.domain == (0, 1)
    assert figure.layout.yaxis2.domain[1] < figure.layout.yaxis.domain[0]
    assert blocks_of().panels[0].title == "adjusted for no covariate"
    with pytest.raises(InputError, match="not compared"):
        blocks_of(NOT_COMPARED)


NETWORKS = ("occipital", "cingulo-opercular", "default", "fronto-parietal", "sensorimotor", "cerebellum")


@pytest.mark.parametrize(("width", "font_size"), [(85, 7), (85, 10), (174, 7)])
def test_every_block_has_its_effect_with_room_on_paper(width: int, font_size: float, monkeypatch) -> None:
    effects = np.random.default_rng(0).uniform(-0.5, 0.5, (2, 36))
    q = np.where(np.repeat(NETWORKS, 6) == "default", 0.01, 0.5)
    tests = table_of(modules=NETWORKS, d=effects[0], d_unadjusted=effects[1], q=q, q_unadjusted=q)
    atlas = Atlas("toy", "a toy", NETWORKS, labels={"dosenbach": NETWORKS})
    figure = draw_on_paper(blocks_of(tests, atlas=atlas), PaperStyle(width_mm=width, font_size=font_size, dpi=150))
    assert figure.get_figwidth() * 25.4 == pytest.approx(width)
    said = [f"{d:.2f}".replace("-", "−") + ("*" if rate < 0.05 else "") for d, rate in zip(effects[0], q, strict=True)]
    assert [text.get_text() for text in figure.axes[0].texts] == [text.replace("−0.00", "0.00") for text in said]
    np.testing.assert_array_equal(np.ravel(figure.axes[1].images[0].get_array()), effects[1])
    assert any("simulated" in text for text in texts_inside_and_apart(figure, monkeypatch))


def test_captions_name_what_was_adjusted_for_and_what_was_not() -> None:
    tests = block_tests(table_of("log_mean_fd, age, sex", **EFFECTS), ("NC", "AD"), {"NC": 3, "AD": 2})
    said = _comparison_sentence(tests)
    assert said.startswith(
        "Permutation tests among 3 NC, 2 AD, adjusted for motion (log mean FD), age and sex: 1 of 4 module blocks "
        "differs at a false discovery rate of 5 %. Unadjusted, 2 differ. "
    )
    assert "Not adjusted for overall connectivity and site" in said
    assert "adjusted for no covariate" in blocks_of().caption


def test_parts_of_attention_in_words() -> None:
    said = [AttentionPartOptions(layer=layer, head=head).words for layer in (0, 1) for head in (0, 4)]
    assert said[:2] == ["mean over layers and heads", "head 4, mean over layers"]
    assert said[2:] == ["layer 1, mean over heads", "layer 1, head 4"]


def test_contrast_has_a_point_a_head_and_their_mean() -> None:
    figure, _ = drawn_by_both(contrast_of())
    np.testing.assert_allclose(figure.data[0].y, [1.5, 2.5])
    assert (figure.data[1].y[0], figure.data[1].text[0].strip()) == (2, "2.00")
    np.testing.assert_allclose([*figure.data[2].y, *figure.data[3].y], [1, 1.2, 1.1], rtol=1e-6)


def test_contrast_caption_tells_the_figures_modules_from_the_tests() -> None:
    said = contrast_of(table_of("age", **EFFECTS)).caption
    assert said.index("own Louvain modules") < said.index("tested in another ratio")
    assert "AD against NC: d = 0.00 [−0.20, 0.19], p = 0.9, adjusted for age" in said
    assert "p = 0.3. Not adjusted for overall connectivity, motion, sex and site" in said
    everything = table_of("mean_abs_fc, log_mean_fd, age, sex, site", **EFFECTS)
    assert "Not adjusted" not in contrast_of(everything).caption
    assert "tested" not in contrast_of().caption


def test_contrast_caption_tells_what_was_set_and_what_connectivity_gives() -> None:
    beside = {"NC": {"correlation": 0.7, "contrast": 3.0, "connectivity_contrast": None}}
    said = contrast_of(preset={"start_contrast": 2.5}, parts={"connectivity": beside}).caption
    assert "without their groups, so that this ratio is about 2.5: its size is a choice" in said
    assert "gives not defined (NC)" in said
    assert "its own connectivity at r = 0.70 (NC) on average" in said
    assert not {"choice", "connectivity"} & set(contrast_of().caption.split())


def test_one_person_can_make_a_mean() -> None:
    found = people_summary(PEOPLE["ASD"])
    assert found.mean == pytest.approx(2.35)
    assert found.median == 1.5
    assert found.top_share == pytest.approx(9 / 13.5)
    assert people_summary(PEOPLE["NC (ABIDE)"]).with_strength == pytest.approx(-1)
    assert np.isnan(people_summary(np.ones((3, 2))).top_share)
    with_gap = np.vstack([PEOPLE["ASD"], [np.nan, 0.2]])
    assert people_summary(with_gap) == found


def test_people_are_drawn_on_paper_where_they_are_on_the_screen() -> None:
    shown = drawn(attention_spread, model_of(people=PEOPLE))
    figure, _ = drawn_by_both(shown)
    assert "2.10 and 2.10 (NC (ABIDE)) and 2.35 and 1.50 (ASD)" in shown.caption
    assert "67 % (ASD)" in shown.caption
    assert "−1.00 (NC (ABIDE))" in shown.caption
    # Plotly leaves out a name that reaches the edge of the figure, unless told not to.
    assert figure.layout.xaxis.ticktext == ("NC<br>(ABIDE)", "ASD")
    assert figure.layout.xaxis.ticklabeloverflow == "allow"
    screen = [trace for trace in figure.data if trace.type == "scatter"]
    assert len(screen) == 4
    assert np.ptp(screen[0].x) > 0  # beside the middle of their group
    assert len(shown.numbers()) == 20


def test_disorders_are_compared_once_each() -> None:
    likeness = [{**one, "blocks": 36, "permutations": 99, "covariates": {}} for one in PAIRS]
    readouts = {"a": ("NC a", "ASD"), "b": ("NC b", "ADHD"), "c": ("NC c", "AD")}
    with patch("biobgt.training.card_text.CardText.likeness", "How alike. Details."):
        shown = drawn(attention_likeness, model_of(readouts=readouts, likeness=likeness))
    figure, printed = drawn_by_both(shown)
    (heatmap,) = figure.data
    expected = [[-0.5, np.nan], [0.25, 0.0]]
    np.testing.assert_array_equal(np.asarray(heatmap.z, dtype=float), expected)
    assert (list(heatmap.y), list(heatmap.x)) == (["ADHD", "AD"], ["ASD", "ADHD"])
    written = figure.layout.annotations[0]
    assert written.text == "r = −0.50<br>by chance 0.01<br>p = 0.040"
    assert (written.y, written.x, written.font.color) == ("ADHD", "ASD", "black")  # on a light blue
    assert printed.axes[0].texts[0].get_text() == "r = −0.50\nby chance 0.01\np = 0.040"
    assert shown.numbers()["difference"].tolist() == ["ASD minus NC a", "ASD minus NC a", "ADHD minus NC b"]
    with pytest.raises(InputError, match="no two disorders"):
        drawn(attention_likeness, model_of())


def test_labels_are_in_words_and_louvain_finds_what_was_planted():
    atlas = load_atlas("aal90")
    assert "visual cortex" in functional_labels(atlas, "paper")
    planted = np.arange(90) % 3
    connectivity = np.where(planted[:, None] == planted, 0.8, 0.05).astype(np.float32)
    connectivity[-1] = connectivity[:, -1] = 0
    np.fill_diagonal(connectivity, 1)
    names = _louvain_labels(connectivity, atlas)
    groups = {frozenset(np.flatnonzero(np.array(names[:89]) == name).tolist()) for name in names[:89]}
    assert groups == {frozenset(i for i in range(89) if i % 3 == k) for k in range(3)}
