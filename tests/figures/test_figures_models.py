"""Figures of attention and performance draw the numbers they are given, on the screen and for the paper."""

from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hub_figures import on_screen
from matplotlib.patches import Rectangle

from biobgt.base.errors import InputError
from biobgt.base.wording import NOT_A_DIAGNOSIS
from biobgt.figures import order_regions
from biobgt.figures.attention_blocks import AttentionBlocks, block_texts
from biobgt.figures.attention_contrast import AttentionContrast
from biobgt.figures.attention_difference import AttentionDifference
from biobgt.figures.attention_maps import AttentionMaps, AttentionMapsOptions
from biobgt.figures.attention_options import AttentionOrderOptions, AttentionPartOptions
from biobgt.figures.attention_received import AttentionReceived
from biobgt.figures.attention_systems import AttentionSystems
from biobgt.figures.attention_words import comparison_sentence
from biobgt.figures.catalogue import FIGURES
from biobgt.figures.drawing import Drawing
from biobgt.figures.graph_words import ATLAS_ORDER
from biobgt.figures.maps_beside import PAGE_WIDTH
from biobgt.figures.models import (
    OBSERVED,
    SubjectProbabilityOptions,
    claim_words,
    observed_shares,
    reliability,
    reliability_panel,
    results_panels,
    results_words,
    roc_panel,
    subject_probability,
)
from biobgt.figures.paper import PaperStyle
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.register import NoOptions
from biobgt.figures.subject_attention import SubjectAttention
from biobgt.model.attention import BesideConnectivity, BlockTests
from biobgt.model.installed import installed_model
from biobgt.results.measured import Measured

STYLE = PaperStyle(dpi=100)
BESIDE = {"NC": BesideConnectivity(0.9, 1.68, 4.46), "AD": BesideConnectivity(-0.004, 1.0, float("nan"))}
REGIONS = ("A", "B", "C", "D")
ORDER = order_regions(4, ["x", "y", "x", None])  # A, C, B, D
MAPS = {"NC": np.arange(16.0).reshape(4, 4), "AD": np.ones((4, 4))}
SIZES = {"NC": 3, "AD": 2}
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


def maps_of(**fields) -> AttentionMaps:
    given = {"model": "m", "maps": MAPS, "sizes": SIZES, "regions": REGIONS, "order": ORDER, "limits": (0, 9)}
    return AttentionMaps(**given | {"beside": BESIDE} | fields)


def compared(blocks: pd.DataFrame = BLOCKS, covariates: str = "", **fields) -> BlockTests:
    given = {"between": ("NC", "AD"), "blocks": blocks, "contrast": blocks[:1], "covariates": covariates}
    return BlockTests(**given | {"n_subjects": SIZES} | fields)


def difference_of(**fields) -> AttentionDifference:
    given = {"model": "m", "between": ("NC", "AD"), "difference": MAPS["NC"] - 7, "regions": REGIONS, "order": ORDER}
    return AttentionDifference(**given | {"limit": 5} | fields)


MODEL = SimpleNamespace(
    name="m",
    simulated=False,
    group_names=("NC", "AD"),
    groups=SimpleNamespace(labels=LABELS, probabilities=np.column_stack([1 - PROBABILITIES, PROBABILITIES])),
    atlas=SimpleNamespace(n_regions=4, title="a toy", cites=()),
    card={"protocol": "", "results": {"BioBGT": {"ece": {"value": 0.04}}}},
    simulates=lambda groups: False,
)


def shown(*panels, **about) -> Drawing:
    return Drawing(title="T", panels=panels, **about)


def probability_of(p_ad: float = 0.4, subject: str = "s1", warning: str = "") -> Drawing:
    said = {"prediction": "AD", "p_NC": 1 - p_ad, "p_AD": p_ad, "warning": warning}
    measured = SimpleNamespace(subject=SimpleNamespace(id=subject, simulated=False), prediction=lambda model: said)
    with patch("biobgt.figures.models.asked_model", return_value=MODEL):
        return subject_probability(measured, SubjectProbabilityOptions(model="m"))


def test_figures_of_models_are_in_the_register_and_of_no_subject() -> None:
    of_groups = {key for key, figure in FIGURES.items() if not figure.of_graph and not figure.of_subject}
    assert of_groups == {
        *("attention_maps", "attention_difference", "attention_blocks", "attention_contrast", "attention_received"),
        *("attention_spread", "attention_likeness", "attention_systems"),
        "benchmark_results",
        *("model_results", "roc", "reliability", "noise_response", "cohort_roc", "cohort_reliability"),
    }


def test_heatmaps_share_order_and_scale() -> None:
    shown = maps_of(title="T", simulated=True)
    figure = shown.plotly()
    assert [trace.name for trace in figure.data] == ["NC (n = 3)", "AD (n = 2)"]
    for trace, matrix in zip(figure.data, MAPS.values(), strict=True):
        np.testing.assert_array_equal(trace.z, matrix[np.ix_(PERMUTED, PERMUTED)])
        assert trace.coloraxis == "coloraxis"
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (0, 9)
    assert figure.layout.title.text == "T · simulated"
    assert [text.split(" ")[0] for text in figure.layout.yaxis.ticktext] == ["x", "y", "unlabelled"]
    assert len(set(figure.layout.yaxis.tickvals)) == 3
    printed = shown.matplotlib(STYLE)
    for axes, matrix in zip(printed.axes[:2], MAPS.values(), strict=True):
        np.testing.assert_array_equal(axes.images[0].get_array(), matrix[np.ix_(PERMUTED, PERMUTED)])
        assert axes.images[0].get_clim() == (0, 9)
    assert [axes.get_title() for axes in printed.axes[:2]] == ["NC (n = 3)", "AD (n = 2)"]
    assert shown.numbers["group"].tolist() == ["NC"] * 4 + ["AD"] * 4


@pytest.mark.parametrize(("groups", "names"), [(2, 117), (3, 108)])
def test_square_maps_fill_the_height_they_are_given(groups: int, names: int) -> None:
    """``names`` is what the longest functional module took beside the maps in a browser, with the brackets."""
    maps = {f"group {i}": MAPS["AD"] for i in range(groups)}
    layout = maps_of(maps=maps, sizes=dict.fromkeys(maps, 2)).plotly().layout
    start, end = layout.xaxis2.domain
    wide = (PAGE_WIDTH - names - layout.margin.r) * (end - start)
    assert layout.height - layout.margin.t - layout.margin.b == pytest.approx(wide, abs=10)


def test_maps_of_several_cohorts_stand_in_rows() -> None:
    maps = {f"group {i}": i + MAPS["NC"] for i in range(5)}
    shown = maps_of(maps=maps, sizes=dict.fromkeys(maps, 2), rows=(2, 3))
    layout = shown.plotly().layout
    assert layout.yaxis.domain == layout.yaxis2.domain
    assert layout.yaxis3.domain[1] < layout.yaxis.domain[0]
    assert layout.xaxis3.domain == layout.xaxis.domain  # below the first
    assert layout.yaxis3.ticktext == layout.yaxis.ticktext  # names beside the first of each row
    assert not layout.yaxis4.tickvals
    tops = [note.y for note in layout.annotations]
    assert tops[:2] == [1, 1]
    assert tops[2] == layout.yaxis3.domain[1]
    printed = shown.matplotlib(STYLE)
    named = [axes for axes in printed.axes if axes.get_title()]
    assert [axes.get_title() for axes in named] == [f"group {i}\n(n = 2)" for i in range(5)]
    assert layout.annotations[0].text == "group 0<br>(n = 2)"
    for axes, matrix in zip(named, maps.values(), strict=True):
        np.testing.assert_array_equal(axes.images[0].get_array(), matrix[np.ix_(PERMUTED, PERMUTED)])
    assert "one cohort, its own controls first" in shown.caption


def test_difference_frames_the_block_that_looks_and_the_one_looked_at() -> None:
    blocks = BLOCKS.assign(other_module=["x", "y", "x", "nothing"], q=[0.5, 0.01, 0.2, 0.01])
    shown = difference_of(tests=compared(blocks), framed=True)
    figure = shown.plotly()
    (frame,) = [shape for shape in figure.layout.shapes if shape.name == "marked"]
    assert (frame.y0, frame.y1, frame.x0, frame.x1) == (-0.5, 1.5, 1.5, 2.5)
    assert (figure.data[0].zmin, figure.data[0].zmax) == (-5, 5)
    printed = shown.matplotlib(STYLE)
    (patch,) = [patch for patch in printed.axes[0].patches if isinstance(patch, Rectangle)]
    assert (*patch.get_xy(), patch.get_width(), patch.get_height()) == (1.5, -0.5, 1, 2)
    unframed = difference_of(tests=compared(blocks))
    assert not [shape for shape in unframed.plotly().layout.shapes if shape.name == "marked"]


def test_blocks_are_marked_where_their_q_passes() -> None:
    shown = AttentionBlocks(tests=compared())
    figure = shown.plotly()
    held, plain = figure.data
    np.testing.assert_array_equal(held.z, [[0.1, -0.6], [0.3, np.nan]])
    assert list(map(list, held.text)) == [["0.10", "−0.60 ✱"], ["0.30", ""]]
    assert list(map(list, plain.text)) == [["0.10", "−0.70 ✱"], ["0.40 ✱", ""]]
    assert figure.layout.coloraxis.cmax == pytest.approx(0.7)
    written = [note for note in figure.layout.annotations if note.yref == "y2"]
    assert [note.text for note in written] == ["0.10", "−0.70 ✱", "0.40 ✱"]
    assert [note.font.color for note in written] == ["black", "white", "black"], (
        "−0.70 is the end of the scale, dark blue"
    )
    printed = shown.matplotlib(STYLE)
    assert [text.get_text() for text in printed.axes[0].texts] == ["0.10", "−0.60*", "0.30", ""]


def test_blocks_say_what_they_are_adjusted_for_and_have_room_for_their_numbers() -> None:
    named = AttentionBlocks(tests=compared(BLOCKS.assign(covariates="age, sex")))
    figure = named.plotly()
    assert [note.text for note in figure.layout.annotations[:2]] == ["adjusted for age and sex", "unadjusted"]
    assert figure.layout.xaxis.domain == figure.layout.xaxis2.domain == (0, 1)
    assert figure.layout.annotations[1].y == figure.layout.yaxis2.domain[1] < figure.layout.yaxis.domain[0]
    printed = named.matplotlib(STYLE)
    assert [axes.get_title() for axes in printed.axes[:2]] == ["adjusted for age and sex", "unadjusted"]
    assert AttentionBlocks(tests=compared()).plotly().layout.annotations[0].text == "adjusted"
    none = AttentionBlocks(tests=compared(BLOCKS.assign(covariates=np.nan))).plotly()
    assert none.layout.annotations[0].text == "adjusted for no covariate"


def test_contrast_has_a_point_a_head_and_their_mean() -> None:
    shown = AttentionContrast(contrast=CONTRAST)
    figure = shown.plotly()
    np.testing.assert_allclose(figure.data[0].y, [1.5, 2.5])
    assert figure.data[1].y[0] == 2
    printed = shown.matplotlib(STYLE)
    np.testing.assert_allclose(printed.axes[0].collections[0].get_offsets()[:, 1], [1.5, 2.5])
    np.testing.assert_allclose(printed.axes[0].collections[3].get_offsets()[:, 1], [1.1], rtol=1e-6)


def test_roc_and_reliability_draw_their_tables() -> None:
    roc = shown(roc_panel(CURVES), square_mm=70)
    np.testing.assert_array_equal(on_screen(roc).data[1].y, [0, 0.8, 1])
    np.testing.assert_array_equal(draw_on_paper(roc, STYLE).axes[0].lines[1].get_ydata(), [0, 0.8, 1])
    observed = shown(reliability_panel("AD", [observed_shares(OBSERVED, RELIABILITY, "#0072B2")]), square_mm=70)
    trace = on_screen(observed).data[1]
    np.testing.assert_allclose(trace.error_y.array, [0.25, 0.2])
    np.testing.assert_allclose(trace.error_y.arrayminus, [0.15, 0.2])
    bars = draw_on_paper(observed, STYLE).axes[0].collections[0]
    np.testing.assert_allclose([segment[:, 1] for segment in bars.get_segments()], [[0.1, 0.5], [0.4, 0.8]])


def test_results_stand_beside_each_other_and_beside_chance() -> None:
    results = shown(*results_panels(POINTS, {"auc": 0.5}), columns=2, legend="none")
    figure = on_screen(results)
    own, other, accuracy, _ = figure.data
    assert (list(own.x), list(other.x), list(accuracy.x)) == ([0.7], [0.65], [0.6])
    assert (list(own.y), list(other.y), accuracy.xaxis) == (["BioBGT"], ["ridge"], "x2")
    np.testing.assert_allclose(own.error_x.array[0], 0.1)
    assert [shape.x0 for shape in figure.layout.shapes] == [0.5]
    # On a page 800 px wide a panel has about 125 px, and a number with the room beside it takes 30.
    assert max(figure.layout.xaxis.nticks, figure.layout.xaxis2.nticks) <= 125 / 30
    printed = draw_on_paper(results, STYLE).axes[0]
    assert [line.get_xdata()[0] for line in printed.lines if len(line.get_xdata()) == 1] == [0.7, 0.65]


def test_shares_of_each_group_and_the_subjects_line() -> None:
    figure = on_screen(probability_of(subject="<b>s1"))
    controls, patients = (np.asarray(trace.y)[::2] for trace in figure.data)
    assert controls.tolist()[2] == 1
    assert (patients[12], patients[18], patients.sum()) == (0.5, 0.5, 1)
    assert figure.layout.shapes[0].x0 == 0.4
    assert figure.layout.annotations[0].text == "&lt;b&gt;s1"
    printed = draw_on_paper(probability_of(), STYLE)
    lines = {line.get_label(): line for line in printed.axes[0].lines}
    np.testing.assert_array_equal(lines["AD (n = 2)"].get_ydata()[::2], patients)
    assert lines["s1"].get_xdata()[0] == 0.4


def test_small_effects_have_no_minus_zero() -> None:
    d, q = np.array([[-0.004, -0.006]]), np.array([[0.01, 0.5]])
    assert block_texts(d, q) == [["0.00 ✱", "−0.01"]]


def test_prediction_is_said_to_be_no_diagnosis_and_doubtful_where_unlike() -> None:
    said = probability_of(0.614, warning="short").caption
    assert "subject s1, given 61 % by the mean of all members' log-odds: 100 % of NC, 50 % of AD lie below. Its" in said
    assert "may be meaningless: short." in said
    assert said.endswith(NOT_A_DIAGNOSIS)
    assert "may be meaningless" not in probability_of().caption


def test_captions_say_whose_probabilities_they_are() -> None:
    one = "the one ensemble member that was not trained on that subject"
    assert claim_words("the most probable group").startswith("how often the most probable group was the true one")
    with (
        patch("biobgt.figures.models.model_of", return_value=MODEL),
        patch("biobgt.training.metrics.reliability_curve", return_value=RELIABILITY),
        patch("biobgt.training.card_tables.claimed_event", return_value="AD"),
    ):
        said = reliability(SimpleNamespace(), NoOptions()).caption
    assert "how often subjects were AD, against the claimed probability of AD, in" in said
    assert "4.0 percentage points" in said
    assert one in said
    assert "mean log-odds of all members instead" in said
    assert "17 subjects" in said
    assert one in probability_of().caption
    assert one in maps_of().caption
    assert "paper" not in results_words(POINTS, "")
    assert results_words(POINTS, "The paper's.").endswith("The paper's.")


def test_heatmaps_caption_tells_what_lies_beyond_the_scale() -> None:
    said = maps_of(limits=(0.5, 2)).caption
    assert "from 0.50 to 2.00: 1 % of the pairs of regions lie beyond each of its ends" in said
    assert "diagonal" in said
    shared = maps_of(options=AttentionMapsOptions(limits=(0.5, 2)), limits=(0.5, 2)).caption
    assert "for all groups, from 0.50 to 2.00: as chosen." in shared


def test_captions_of_attention_say_how_much_of_it_is_connectivity() -> None:
    told = "with the functional connectivity of the same subjects at r = 0.90 (NC) and r = 0.00 (AD). The ratio of"
    ratios = "is 1.68 (NC) and 1.00 (AD); positive connectivity alone, with rows normalised like those of "
    own = SubjectAttention(
        subject="s1", group="NC", maps=MAPS, correlation=0.5, beside=BESIDE, regions=REGIONS, order=ORDER, limits=(0, 9)
    )
    for said in (maps_of().caption, own.caption):
        assert told in said
        assert f"{ratios}attention, gives 4.46 (NC) and not defined (AD)." in said
    bare = {"NC": BesideConnectivity(0.9, float("nan"), float("nan"))}
    assert "The ratio of attention" not in maps_of(beside=bare).caption
    beside = {"NC": {"correlation": 0.7, "contrast": 3.0, "connectivity_contrast": None}}
    said = AttentionContrast(contrast=CONTRAST, connectivity=beside).caption
    assert "alone, with rows normalised like those of attention, gives not defined (NC)" in said
    assert "its own connectivity at r = 0.70 (NC) on average" in said
    assert "connectivity" not in AttentionContrast(contrast=CONTRAST).caption


def test_an_order_of_regions_gives_back_the_labels_it_was_made_of() -> None:
    assert ORDER.labels == ["x", "y", "x", None]
    assert order_regions(4).labels is None


ROW = {"d": -0.004, "d_low": -0.2, "d_high": 0.19, "p": 0.9, "d_unadjusted": 0.1, "p_unadjusted": 0.3}


def test_contrast_caption_tells_the_figures_modules_from_the_tests() -> None:
    tests = compared(contrast=pd.DataFrame([ROW]), covariates="age")
    said = AttentionContrast(contrast=CONTRAST, tests=[tests]).caption
    assert said.index("own Louvain modules") < said.index("tested in another ratio")
    assert "AD against NC: d = 0.00 [−0.20, 0.19], p = 0.9, adjusted for age" in said
    assert (
        "p = 0.3. Not adjusted for overall connectivity, motion, sex and site, which may explain a difference." in said
    )
    assert "tested" not in AttentionContrast(contrast=CONTRAST).caption


def test_contrast_caption_tells_what_was_set_from_what_was_found() -> None:
    everything = compared(contrast=pd.DataFrame([ROW]), covariates="mean_abs_fc, log_mean_fd, age, sex, site")
    said = AttentionContrast(contrast=CONTRAST, tests=[everything], start_contrast=2.5).caption
    assert "was set on training subjects, without their groups, so that this ratio is about 2.5" in said
    assert "its size is a choice; the result is that it holds in held-out subjects" in said
    assert "Not adjusted" not in said
    assert "choice" not in AttentionContrast(contrast=CONTRAST).caption


def test_attention_received_gives_its_range_and_claims_nothing() -> None:
    shown = AttentionReceived(
        group="NC",
        n_subjects=3,
        coordinates=np.zeros((3, 3)),
        regions=REGIONS[:3],
        received=np.array([0.95, 1.0, 1.05]),
    )
    assert "in 3 NC, mean over layers and heads, on the fsaverage5 cortex;" in shown.caption
    assert "0.95 to 1.05, which is 10 % of the mean" in shown.caption
    assert "No region was tested; the highest values are those of C, B, A." in shown.caption
    assert shown.paper_caption(PaperStyle()) == shown.caption.replace("the fsaverage5 cortex", "nilearn's glass brain")


def test_captions_name_what_was_adjusted_for_and_what_was_not() -> None:
    said = comparison_sentence(compared(covariates="log_mean_fd, age, sex"))
    assert said.startswith(
        "Permutation tests among 3 NC, 2 AD, adjusted for motion (log mean FD), age and sex: 1 of 4 module blocks "
        "differs at a false discovery rate of 5 %. Unadjusted, 2 differ. "
    )
    assert "Not adjusted for overall connectivity and site" in said
    assert "adjusted for no covariate" in AttentionBlocks(tests=compared()).caption
    assert "NC and AD were not compared by permutation" in difference_of(connectivity=0.8).caption
    assert AttentionPartOptions().words == "mean over layers and heads"
    assert AttentionPartOptions(layer=1, head=4).words == "layer 1, head 4"
    assert AttentionPartOptions(layer=2).words == "layer 2, mean over heads"
    assert AttentionPartOptions(head=1).words == "head 1, mean over layers"


def test_attention_of_other_networks_is_told_with_how_well_it_follows_modules() -> None:
    measured = Measured(installed_model("abide-cc200").cohort).of(None)
    shown = AttentionSystems.of(measured, AttentionOrderOptions())
    assert list(shown.maps) == ["Graphormer", "SAT with positional encoding", "BioBGT, preset best"]
    for matrix in shown.maps.values():
        assert matrix.mean() == pytest.approx(1, abs=0.01)  # multiples of uniform attention
    assert [one.p < 0.05 for one in shown.follows.values()] == [False, False, True]
    assert "by design" in shown.caption
    plain = AttentionSystems.of(measured, AttentionOrderOptions(order=ATLAS_ORDER))
    assert plain.follows == {}
    assert list(plain.panels) == ["Graphormer", "SAT", "BioBGT"]
    assert list(shown.panels)[2] == "BioBGT\nratio 1.69"
    other = Measured(installed_model("cni-adhd-cc200").cohort).of(None)
    with pytest.raises(InputError, match="subjects of model abide-cc200 only"):
        AttentionSystems.of(other, AttentionOrderOptions())


def test_uniform_attention_has_a_tick_on_paper() -> None:
    for limits, ticks in (((0.5, 3.0), [1, 1.6, 2.4]), ((2.0, 4.0), [2, 2.5, 3, 3.5, 4])):
        *_, bar = maps_of(limits=limits).matplotlib(STYLE).axes
        np.testing.assert_allclose([tick for tick in bar.get_xticks() if limits[0] <= tick <= limits[1]], ticks)
