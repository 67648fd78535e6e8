"""Figures of attention and performance draw the numbers they are given, on the screen and for the paper."""

import inspect
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import Rectangle

from biobgt.figures import attention, attention_blocks, order_regions, performance
from biobgt.figures.attention_captions import (
    attention_caption,
    attention_part,
    comparison_sentence,
    contrast_caption,
    difference_caption,
    effects_caption,
    own_caption,
    received_caption,
)
from biobgt.figures.connectivity_words import contrast_of_card
from biobgt.figures.paper import PaperStyle
from biobgt.figures.paper import attention as paper_attention
from biobgt.figures.paper import performance as paper_performance
from biobgt.figures.performance_captions import (
    NOT_A_DIAGNOSIS,
    probabilities_caption,
    reliability_caption,
    results_caption,
)
from biobgt.model.attention_views import BesideConnectivity, BlockTests

STYLE = PaperStyle(dpi=100)
BESIDE = {"NC": BesideConnectivity(0.9, 1.68, 4.46), "AD": BesideConnectivity(-0.004, 1.0, float("nan"))}
REGIONS = ("A", "B", "C", "D")
ORDER = order_regions(4, ["x", "y", "x", None])  # A, C, B, D
MAPS = {"NC (n = 3)": np.arange(16.0).reshape(4, 4), "AD (n = 2)": np.ones((4, 4))}
PERMUTED = [0, 2, 1, 3]
BLOCKS = pd.DataFrame(
    {
        "module": ["x", "x", "y", "y"],
        "other_module": ["x", "y", "x", "y"],
        "d": [0.1, -0.6, 0.3, np.nan],
        "q": [0.5, 0.01, 0.2, np.nan],
        "d_unadjusted": [0.1, -0.7, 0.4, np.nan],
        "q_unadjusted": [0.5, 0.01, 0.03, np.nan],
    }
)
CONTRAST = {"NC": np.array([[1.5, 2.5]], dtype=np.float32), "AD": np.array([[1.0, 1.2]], dtype=np.float32)}
CURVES = {"AD against NC": pd.DataFrame({"false_positive_rate": [0, 0.5, 1], "true_positive_rate": [0, 0.8, 1]})}
RELIABILITY = pd.DataFrame(
    {
        "predicted": [0.2, 0.7],
        "observed": [0.25, 0.6],
        "observed_low": [0.1, 0.4],
        "observed_high": [0.5, 0.8],
        "n": [8, 9],
    }
)
POINTS = pd.DataFrame(
    {
        "metric": ["auc", "auc", "accuracy"],
        "model": ["BioBGT", "ridge", "BioBGT"],
        "value": [0.7, 0.65, 0.6],
        "low": [0.6, np.nan, 0.5],
        "high": [0.8, np.nan, 0.7],
    }
)
PROBABILITIES = np.array([0.11, 0.12, 0.61, 0.93])
LABELS = np.array([0, 0, 1, 1])


@pytest.mark.parametrize(
    ("screen", "paper", "names"),
    [
        (attention, paper_attention, ("attention_heatmaps", "attention_difference", "contrast_points")),
        (attention_blocks, paper_attention, ("block_effects",)),
        (performance, paper_performance, ("roc_curves", "reliability", "results_beside", "probabilities_by_group")),
    ],
)
def test_twins_take_the_same_arguments_and_a_style(screen: ModuleType, paper: ModuleType, names) -> None:
    for name in names:
        shown = inspect.signature(getattr(screen, name)).parameters
        printed = inspect.signature(getattr(paper, name)).parameters
        assert list(printed) == [*shown, "style"]
        assert [value.default for value in list(printed.values())[:-1]] == [value.default for value in shown.values()]


def test_heatmaps_share_order_and_scale() -> None:
    figure = attention.attention_heatmaps(MAPS, REGIONS, order=ORDER, limits=(0, 9), title="T", simulated=True)
    assert [trace.name for trace in figure.data] == list(MAPS)
    for trace, matrix in zip(figure.data, MAPS.values(), strict=True):
        np.testing.assert_array_equal(trace.z, matrix[np.ix_(PERMUTED, PERMUTED)])
        assert trace.coloraxis == "coloraxis"
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (0, 9)
    assert figure.layout.title.text == "T · simulated"
    assert [text.split(" ")[0] for text in figure.layout.yaxis.ticktext] == ["x", "y", "unlabelled"]
    assert len(set(figure.layout.yaxis.tickvals)) == 3
    printed = paper_attention.attention_heatmaps(MAPS, REGIONS, order=ORDER, limits=(0, 9), title="T", style=STYLE)
    for axes, matrix in zip(printed.axes[:2], MAPS.values(), strict=True):
        np.testing.assert_array_equal(axes.images[0].get_array(), matrix[np.ix_(PERMUTED, PERMUTED)])
        assert axes.images[0].get_clim() == (0, 9)
    assert [axes.get_title() for axes in printed.axes[:2]] == list(MAPS)


@pytest.mark.parametrize(("groups", "names"), [(2, 117), (3, 108)])
def test_square_maps_fill_the_height_they_are_given(groups: int, names: int) -> None:
    """``names`` is what the longest functional module took beside the maps in a browser, with the brackets."""
    maps = {f"group {i}": MAPS["AD (n = 2)"] for i in range(groups)}
    layout = attention.attention_heatmaps(maps, REGIONS, order=ORDER, limits=(0, 9)).layout
    start, end = layout.xaxis2.domain
    wide = (attention.PAGE_WIDTH - names - layout.margin.r) * (end - start)
    assert layout.height - layout.margin.t - layout.margin.b == pytest.approx(wide, abs=10)


def test_difference_frames_the_block_that_looks_and_the_one_looked_at() -> None:
    matrix = MAPS["NC (n = 3)"] - 7
    marked = [("x", "y"), ("nothing", "x")]
    figure = attention.attention_difference(matrix, REGIONS, order=ORDER, limit=5, marked=marked)
    (frame,) = [shape for shape in figure.layout.shapes if shape.name == "marked"]
    assert (frame.y0, frame.y1, frame.x0, frame.x1) == (-0.5, 1.5, 1.5, 2.5)
    assert (figure.data[0].zmin, figure.data[0].zmax) == (-5, 5)
    printed = paper_attention.attention_difference(matrix, REGIONS, order=ORDER, limit=5, marked=marked, style=STYLE)
    (patch,) = [patch for patch in printed.axes[0].patches if isinstance(patch, Rectangle)]
    assert (*patch.get_xy(), patch.get_width(), patch.get_height()) == (1.5, -0.5, 1, 2)


def test_blocks_are_marked_where_their_q_passes() -> None:
    figure = attention_blocks.block_effects(BLOCKS)
    held, plain = figure.data
    np.testing.assert_array_equal(held.z, [[0.1, -0.6], [0.3, np.nan]])
    assert list(map(list, held.text)) == [["0.10", "−0.60 ✱"], ["0.30", ""]]
    assert list(map(list, plain.text)) == [["0.10", "−0.70 ✱"], ["0.40 ✱", ""]]
    assert figure.layout.coloraxis.cmax == pytest.approx(0.7)
    printed = paper_attention.block_effects(BLOCKS, style=STYLE)
    assert [text.get_text() for text in printed.axes[0].texts] == ["0.10", "−0.60*", "0.30", ""]


def test_blocks_say_what_they_are_adjusted_for_and_have_room_for_their_numbers() -> None:
    named = BLOCKS.assign(covariates="age, sex")
    figure = attention_blocks.block_effects(named)
    assert [note.text for note in figure.layout.annotations] == ["adjusted for age and sex", "unadjusted"]
    assert figure.layout.xaxis.domain == figure.layout.xaxis2.domain == (0, 1)
    assert figure.layout.annotations[1].y == figure.layout.yaxis2.domain[1] < figure.layout.yaxis.domain[0]
    printed = paper_attention.block_effects(named, style=STYLE)
    assert [axes.get_title() for axes in printed.axes[:2]] == ["adjusted for age and sex", "unadjusted"]
    assert attention_blocks.block_effects(BLOCKS).layout.annotations[0].text == "adjusted"
    none = attention_blocks.block_effects(BLOCKS.assign(covariates=np.nan))
    assert none.layout.annotations[0].text == "adjusted for no covariate"


def test_contrast_has_a_point_a_head_and_their_mean() -> None:
    figure = attention.contrast_points(CONTRAST)
    np.testing.assert_allclose(figure.data[0].y, [1.5, 2.5])
    assert figure.data[1].y[0] == 2
    printed = paper_attention.contrast_points(CONTRAST, style=STYLE)
    np.testing.assert_allclose(printed.axes[0].collections[0].get_offsets()[:, 1], [1.5, 2.5])
    np.testing.assert_allclose(printed.axes[0].collections[3].get_offsets()[:, 1], [1.1], rtol=1e-6)


def test_roc_and_reliability_draw_their_tables() -> None:
    figure = performance.roc_curves(CURVES)
    np.testing.assert_array_equal(figure.data[1].y, [0, 0.8, 1])
    printed = paper_performance.roc_curves(CURVES, style=STYLE).axes[0]
    np.testing.assert_array_equal(printed.lines[1].get_ydata(), [0, 0.8, 1])
    shown = performance.reliability(RELIABILITY, event="AD").data[1]
    np.testing.assert_allclose(shown.error_y.array, [0.25, 0.2])
    np.testing.assert_allclose(shown.error_y.arrayminus, [0.15, 0.2])
    bars = paper_performance.reliability(RELIABILITY, event="AD", style=STYLE).axes[0].collections[0]
    np.testing.assert_allclose([segment[:, 1] for segment in bars.get_segments()], [[0.1, 0.5], [0.4, 0.8]])


def test_results_stand_beside_each_other_and_beside_chance() -> None:
    figure = performance.results_beside(POINTS, chance={"auc": 0.5})
    auc, accuracy = figure.data
    np.testing.assert_array_equal(auc.x, [0.7, 0.65])
    np.testing.assert_allclose(auc.error_x.array[0], 0.1)
    np.testing.assert_array_equal(accuracy.x, [0.6])
    assert [shape.x0 for shape in figure.layout.shapes] == [0.5]
    # On a page 800 px wide a panel has about 125 px, and a number with the room beside it takes 30.
    assert max(figure.layout.xaxis.nticks, figure.layout.xaxis2.nticks) <= 125 / 30
    printed = paper_performance.results_beside(POINTS, chance={"auc": 0.5}, style=STYLE).axes[0]
    assert [line.get_xdata()[0] for line in printed.lines if len(line.get_xdata()) == 1] == [0.7, 0.65]


def test_shares_of_each_group_and_the_subjects_line() -> None:
    given = (PROBABILITIES, LABELS, ("NC", "AD"))
    figure = performance.probabilities_by_group(*given, group="AD", marked=0.4, marked_name="<b>s1")
    controls, patients = (np.asarray(trace.y)[::2] for trace in figure.data)
    assert controls.tolist()[2] == 1
    assert (patients[12], patients[18], patients.sum()) == (0.5, 0.5, 1)
    assert figure.layout.shapes[0].x0 == 0.4
    assert figure.layout.annotations[0].text == "&lt;b&gt;s1"
    printed = paper_performance.probabilities_by_group(*given, group="AD", marked=0.4, marked_name="s1", style=STYLE)
    lines = {line.get_label(): line for line in printed.axes[0].lines}
    np.testing.assert_array_equal(lines["AD (n = 2)"].get_ydata()[::2], patients)
    assert lines["s1"].get_xdata()[0] == 0.4


def test_small_effects_have_no_minus_zero() -> None:
    d, q = np.array([[-0.004, -0.006]]), np.array([[0.01, 0.5]])
    assert attention_blocks.block_texts(d, q, 0.05) == [["0.00 ✱", "−0.01"]]


def test_prediction_is_said_to_be_no_diagnosis_and_doubtful_where_unlike() -> None:
    bare = probabilities_caption("m", ("NC", "AD"), group="AD")
    assert NOT_A_DIAGNOSIS not in bare
    said = probabilities_caption(
        "m", ("NC", "AD"), group="AD", subject="subject s1", value=0.614, where="All lie below.", warning="short"
    )
    assert "given 61% by the mean of all members' log-odds: All lie below. Its probability" in said
    assert "may mean nothing: short." in said
    assert said.endswith(NOT_A_DIAGNOSIS)


def test_captions_say_whose_probabilities_they_are() -> None:
    one = "one member (of the models that vote), from whose training the subject was left out"
    said = reliability_caption("m", 0.04, RELIABILITY, event="AD")
    assert one in said
    assert "mean of all members' log-odds instead" in said
    assert "17 subjects" in said
    assert one in probabilities_caption("m", ("NC", "AD"), group="AD")
    assert one in attention_caption("m", {"NC": 3}, part="p", order="o", limits=(0.5, 2), beside=BESIDE)
    assert "paper" not in results_caption("m", POINTS)
    assert results_caption("m", POINTS, note="The paper's.").endswith("The paper's.")


def test_heatmaps_caption_tells_what_lies_beyond_the_scale() -> None:
    said = attention_caption("m", {"NC": 3}, part="p", order="o", limits=(0.5, 2), beside=BESIDE)
    assert "from 0.50 to 2.00: 1 % of the pairs of regions lie beyond each end" in said
    assert "diagonal" in said
    shared = attention_caption("m", {"NC": 3}, part="p", order="o", limits=(0.5, 2), beside=BESIDE, shared=True)
    assert "for all groups of all models shown, from 0.50 to 2.00: taking all their maps together, 1 % of" in shared


def test_captions_of_attention_say_how_much_of_it_is_connectivity() -> None:
    told = (
        "with the functional connectivity of the same subjects at r = 0.90 (NC) and r = 0.00 (AD). Within over between"
    )
    ratios = "attention is 1.68 (NC) and 1.00 (AD); positive connectivity alone, with rows normalised as those of "
    for said in (
        attention_caption("m", {"NC": 3}, part="p", order="o", limits=(0.5, 2), beside=BESIDE),
        own_caption("m", "s1", "NC", correlation=0.5, beside=BESIDE, part="p", simulated=False, model_simulated=False),
    ):
        assert told in said
        assert f"{ratios}attention are, gives 4.46 (NC) and not defined (AD)." in said
    bare = {"NC": BesideConnectivity(0.9, float("nan"), float("nan"))}
    assert "Within over between" not in attention_caption(
        "m", {"NC": 3}, part="p", order="o", limits=(0.5, 2), beside=bare
    )
    card = {"preset": {}, "parts": {"connectivity": {"NC": {"correlation": 0.7, "contrast": 3.0, **NO_RATIO}}}}
    said = contrast_caption("m", CONTRAST, **contrast_of_card(card))
    assert "alone, with rows normalised as those of attention are, gives not defined (NC)" in said
    assert "its own connectivity at r = 0.70 (NC) on average" in said
    assert "connectivity" not in contrast_caption("m", CONTRAST, **contrast_of_card({"preset": {}}))


def test_an_order_of_regions_gives_back_the_labels_it_was_made_of() -> None:
    assert ORDER.labels == ["x", "y", "x", None]
    assert order_regions(4).labels is None


NO_RATIO = {"connectivity_contrast": None}
ROW = {"d": -0.004, "d_low": -0.2, "d_high": 0.19, "p": 0.9, "d_unadjusted": 0.1, "p_unadjusted": 0.3}


def test_contrast_caption_tells_the_figures_modules_from_the_tests() -> None:
    tests = BlockTests(("NC", "AD"), BLOCKS, pd.DataFrame([ROW]), "age", {"NC": 3, "AD": 2})
    said = contrast_caption("m", CONTRAST, [tests])
    assert said.index("own Louvain modules") < said.index("not tested in what the figure shows")
    assert "AD against NC: d = 0.00 [−0.20, 0.19], p = 0.9, adjusted for age" in said
    assert (
        "p = 0.3. Not adjusted for overall connectivity, motion, sex and site, so a difference may be one of that."
        in said
    )
    assert "tested" not in contrast_caption("m", CONTRAST)


def test_contrast_caption_tells_what_was_set_from_what_was_found() -> None:
    known = "mean_abs_fc, mean_fd, age, sex, site"
    everything = BlockTests(("NC", "AD"), BLOCKS, pd.DataFrame([ROW]), known, {"NC": 3, "AD": 2})
    said = contrast_caption("m", CONTRAST, [everything], start_contrast=2.5)
    assert "was set on training subjects, without their groups, so that this ratio is about 2.5" in said
    assert "its size is a choice, that it holds in held-out subjects is the result" in said
    assert "Not adjusted" not in said
    assert "choice" not in contrast_caption("m", CONTRAST)


def test_attention_received_gives_its_range_and_claims_nothing() -> None:
    received = np.array([0.95, 1.0, 1.05])
    said = received_caption("m", "3 NC", ["A"], part="p", where="a brain", received=received)
    assert "0.95 to 1.05, which is 10% of the mean" in said
    assert "No region was tested" in said


def test_captions_name_what_was_adjusted_for_and_what_was_not() -> None:
    tests = BlockTests(("NC", "AD"), BLOCKS, BLOCKS[:1], "mean_fd, age, sex", {"NC": 3, "AD": 2})
    said = comparison_sentence(tests)
    assert "4 module blocks among 3 NC, 2 AD, adjusted for motion, age and sex: 1 of them" in said
    assert "unadjusted, 2." in said
    assert "Not adjusted for overall connectivity and site" in said
    bare = BlockTests(("NC", "AD"), BLOCKS, BLOCKS[:1], "", {"NC": 3, "AD": 2})
    assert "adjusted for no covariate" in effects_caption("m", bare)
    not_compared = difference_caption(
        "m", ("NC", "AD"), None, part="p", limit=1, framed=True, whole=True, connectivity=0.8
    )
    assert "NC and AD were not compared by permutation" in not_compared
    assert attention_part(None, None) == "mean over layers and heads"
    assert attention_part(0, 3) == "layer 1, head 4"
    assert attention_part(None, 0) == "head 1, mean over layers"
