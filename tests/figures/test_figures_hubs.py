"""The figures of hubs hold what they were given, in the order they say, and their captions name the numbers."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from drawn_figures import (
    CURVES,
    STUDY,
    STYLE,
    curves_of,
    drawn_by_both,
    group_behind,
    measured_of,
    on_screen,
    scatter_of,
    sweep_of,
    traces,
)

from biobgt import InputError
from biobgt.data.simulate import demo_cohort
from biobgt.figures import RegionOrder, only_regions, order_by_value, order_regions, random_regions
from biobgt.figures.hubs import BY_NE, PAPERS_FIVE, HubCurvesOptions, five_brains, hub_curves
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.paper_style import PaperStyle
from biobgt.hubs.measures import HUB_MEASURES, EntanglementOptions
from biobgt.results.measured import Measured

REGIONS = ("A", "<b>B</b>", "C", "D")


def test_highest_region_comes_first_and_ties_keep_the_atlas_order():
    assert order_by_value(np.array([1.0, 3.0, 1.0, 2.0])) == RegionOrder((1, 3, 0, 2))


@pytest.mark.parametrize(("key", "named"), [("degree", "highest first"), ("vertex_entanglement", "lowest first")])
def test_regions_are_ordered_by_any_measure_its_strongest_hub_first(key, named):
    cohort = demo_cohort("asd")
    measured, about = Measured(cohort).of(cohort.ids[0]), HUB_MEASURES[key]
    order = f"by {about.short}"
    assert HubCurvesOptions.declared()["order"].text(order) == f"By {about.short}, {named}"
    drawing = hub_curves(measured, HubCurvesOptions(order=order, measures=(key,), scale="raw"))
    values = drawing.numbers()[key].to_numpy()
    assert np.array_equal(values, np.sort(values)[:: 1 if about.low_in_hubs else -1])
    assert drawing.panels[0].x.title == f"200 regions {order}, {named}"


def test_curves_share_an_axis_and_are_in_order():
    figure = on_screen(curves_of(REGIONS, order=order_by_value(CURVES["node_entanglement"]), in_order=BY_NE))
    drawn = traces(figure)
    assert list(drawn) == ["NE", "hubs by NE", "NEff", "FC strength"]
    assert list(drawn["NE"].x) == ["&lt;b&gt;B&lt;/b&gt;", "D", "C", "A"]
    np.testing.assert_allclose(drawn["NE"].y, [0.4, 0.3, 0.2, 0.1])
    np.testing.assert_allclose(drawn["NEff"].y, [2, 4, 3, 1])
    np.testing.assert_allclose(drawn["FC strength"].y, [0, 2, 1, -1])
    assert list(drawn["hubs by NE"].x) == ["&lt;b&gt;B&lt;/b&gt;"]
    np.testing.assert_allclose(drawn["hubs by NE"].y, [0.4])
    assert {trace.yaxis for trace in figure.data} == {"y"}
    assert figure.layout.xaxis.title.text == "4 regions by NE, highest first"
    assert figure.layout.yaxis.title.text == "z-score over regions"


def test_raw_values_have_a_panel_each_with_its_unit():
    figure = on_screen(curves_of(REGIONS, scale="raw", subject="T", simulated=True))
    assert [trace.yaxis for trace in figure.data] == ["y", "y", "y2", "y3"]
    axes = [figure.layout[axis].title.text for axis in ("yaxis", "yaxis2", "yaxis3")]
    assert axes == ["NE (bits)", "NEff", "FC strength"]
    assert figure.layout.xaxis3.title.text == "4 regions in atlas order"
    assert figure.layout.title.text == "NE, NEff and FC strength of T · simulated"


def test_modules_are_named_and_parted():
    figure = on_screen(curves_of(REGIONS, order=order_regions(4, ["Vis", "MC", "Vis", None])))
    assert list(figure.data[0].x) == ["A", "C", "&lt;b&gt;B&lt;/b&gt;", "D"]
    assert list(figure.layout.xaxis.ticktext) == ["Vis", "MC", "unlabelled"]
    assert [line.x0 for line in figure.layout.shapes] == [1.5, 2.5]
    assert figure.layout.xaxis.autotickangles == (0, -90), "slanted names lie below the module beside theirs"


def test_some_regions_keep_their_order_and_blocks():
    order = order_regions(5, ["Vis", "MC", "Vis", None, "MC"])
    assert only_regions(order, frozenset({2, 3, 0})) == RegionOrder((0, 2, 3), (("Vis", 0, 2), ("unlabelled", 2, 3)))
    assert only_regions(order_by_value(np.array([1.0, 3.0, 2.0])), frozenset({0, 2})) == RegionOrder((2, 0))
    figure = on_screen(curves_of(REGIONS, order=RegionOrder((3, 0))))
    assert list(traces(figure)["NE"].x) == ["D", "A"]
    assert list(traces(figure)["NE"].customdata) == [3, 0]
    assert list(traces(figure)["hubs by NE"].x) == []
    assert figure.layout.xaxis.title.text == "2 regions in atlas order"


def test_random_regions_are_those_of_their_seed():
    drawn = random_regions(200, 50, seed=3)
    assert len(drawn) == 50
    assert drawn <= frozenset(range(200))
    assert drawn == random_regions(200, 50, seed=3) != random_regions(200, 50, seed=4)
    assert random_regions(30, 50, seed=0) == frozenset(range(30))
    with pytest.raises(InputError, match="'seed' is -1"):
        HubCurvesOptions(seed=-1)


def test_captions_speak_of_panels_only_where_there_are_several():
    several = curves_of(REGIONS, scale="raw")
    assert "one panel each" in several.caption
    assert several.for_paper(PaperStyle()).caption.endswith("Vertical lines mark the same hubs in all panels.")
    for one in (
        curves_of(REGIONS, scale="z"),
        curves_of(REGIONS, scale="raw", curves={"fc_strength": CURVES["fc_strength"]}),
    ):
        assert len(draw_on_paper(one, PaperStyle()).axes) == 1
        assert one.for_paper(PaperStyle()).caption == one.caption
        assert "panel" not in one.caption
    many = {measure: np.arange(89.0) for measure in CURVES}
    narrow = curves_of(tuple(map(str, range(89))), scale="z", curves=many, hubs=np.arange(89) > 80)
    for width, n_panels in ((88, 3), (89, 1)):  # a millimetre for each region, or less
        style = PaperStyle(width_mm=width)
        assert len(draw_on_paper(narrow, style).axes) == n_panels
        assert ("panels" in narrow.for_paper(style).caption) == (n_panels > 1)


def test_group_lies_behind_each_measure_in_a_panel_of_its_own():
    mean, sd = ({name: values + 1 for name, values in CURVES.items()}, dict.fromkeys(CURVES, np.full(4, 0.5)))
    shown = curves_of(REGIONS, group=group_behind("<NC>", 2, mean, sd), order=RegionOrder((3, 0)))
    figure = on_screen(shown)
    band, mean, curve = figure.data[:3]
    np.testing.assert_allclose(mean.y, [1.3, 1.1])
    np.testing.assert_allclose(band.y, [1.8, 1.6, 0.6, 0.8])
    assert list(band.x) == ["D", "A", "A", "D"]
    assert mean.name == "&lt;NC&gt;, mean ± SD"
    assert curve.name == "NE"
    axes = [figure.layout[axis].title.text for axis in ("yaxis", "yaxis2", "yaxis3")]
    assert axes == ["NE, z", "NEff, z", "FC strength, z"]
    assert sum(trace.name == mean.name and trace.showlegend is not False for trace in figure.data) == 1
    np.testing.assert_allclose(shown.numbers()["fc_strength group mean"], [3, 0])
    np.testing.assert_allclose(shown.numbers()["fc_strength group SD"], 0.5)


def test_picked_region_is_ringed_where_it_is_drawn():
    ring = traces(on_screen(curves_of(REGIONS, region="C")))["C"]
    assert (list(ring.x), list(ring.y), list(ring.customdata)) == (["C"], [0.2], [2])
    assert "C" not in traces(on_screen(curves_of(REGIONS, region="C", order=RegionOrder((0, 1)))))
    scatter = on_screen(scatter_of(REGIONS, region="C"))
    assert (list(scatter.data[2].x), list(scatter.data[2].y)) == ([1], [0.2])
    assert [list(trace.customdata) for trace in scatter.data] == [[0, 2, 3], [1], [2]]


def test_scatter_has_a_point_a_region_and_tells_hubs():
    figure = on_screen(scatter_of(REGIONS))
    others, hubs = figure.data
    np.testing.assert_allclose(others.x, [-1, 1, 2])
    np.testing.assert_allclose(others.y, [0.1, 0.2, 0.3])
    assert list(others.text) == ["A", "C", "D"]
    assert (list(hubs.x), list(hubs.y), list(hubs.text)) == ([0], [0.4], ["&lt;b&gt;B&lt;/b&gt;"])
    assert others.marker.symbol != hubs.marker.symbol
    assert figure.layout.title.text == "NE against FC strength"
    assert figure.layout.title.subtitle.text == "ρ = 0.40, 95 % interval 0.10 to 0.60"
    legend = figure.layout.legend
    assert legend.y < 0, "a long name takes a second line, which must not lie on the correlation"
    assert legend.yanchor == "top"


def test_sweep_holds_the_subject_the_study_and_the_chosen_gamma():
    figure, _ = drawn_by_both(sweep_of(1.0, study=STUDY))
    drawn = traces(figure)
    np.testing.assert_allclose(drawn["NEff, this subject"].y, [0.7, 0.6, 0.1])
    np.testing.assert_allclose(drawn["FC strength, this subject"].y, [0.3, np.nan, -0.2])
    np.testing.assert_allclose(drawn["FC strength, this subject"].x, [0.1, 1, 10])
    np.testing.assert_allclose(drawn["NEff, ABIDE mean ± SD"].y, [0.6, 0.2])
    assert list(drawn["γ = 1"].x) == [1, 1]
    neff_band, fc_band = (trace for trace in figure.data if trace.fill == "toself")
    np.testing.assert_allclose(neff_band.x, [0.1, 10, 10, 0.1])
    np.testing.assert_allclose(neff_band.y, [0.7, 0.4, 0.0, 0.5])
    np.testing.assert_allclose(fc_band.y, [0.4, 0.4, -0.4, -0.2])
    assert figure.layout.xaxis.type == "log"
    # What lies behind is drawn first.
    assert figure.data[-1].name == "FC strength, this subject"


def test_sweep_without_a_study_has_nothing_behind():
    figure = on_screen(sweep_of(0.1))
    assert list(traces(figure)) == ["γ = 0.1", "NEff, this subject", "FC strength, this subject"]


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ((0.716, 0.65, 0.781), "ρ = 0.72, 95 % interval 0.65 to 0.78"),
        ((-0.1, -0.3, 0.1), "ρ = −0.10, 95 % interval −0.30 to 0.10"),
        ((np.nan, np.nan, np.nan), "ρ is not defined"),
    ],
)
def test_correlation_in_words(values, text):
    assert scatter_of(REGIONS, *values).subtitle == text


def test_captions_name_the_numbers():
    curves = curves_of(REGIONS, scale="rank", subject="s", simulated=True, share=0.2).caption
    assert curves.startswith("Simulated subject s: node entanglement (NE), node efficiency (NEff) and FC strength of 4")
    assert "of 4 regions, as ranks" in curves
    assert "γ = 0.5/mean(λ) when a region and its neighbours become a clique of the same total weight" in curves
    assert "hubs by NE, 1 in all: the top 20 % of regions" in curves
    group = group_behind("NC", 12, CURVES, CURVES)
    some = curves_of(
        REGIONS, order=RegionOrder((3, 0)), perturbation="remove", seed=7, group=group, subject="s"
    ).caption
    assert "of 2 of 4 regions, drawn with seed 7, as z-scores over regions (of all 4)." in some
    assert "when a region loses its connections" in some
    assert "mean ± 1 SD of the 12 subjects of NC, this one among them" in some
    table = pd.DataFrame({f"{key}_z": np.zeros(4) for key in PAPERS_FIVE})
    measured = measured_of(REGIONS, hub_table=lambda options, measures: table)
    measured.atlas.coordinates, measured.atlas.placed = np.zeros((4, 3)), np.ones(4, dtype=bool)
    five = five_brains(measured, EntanglementOptions(3.0, "remove")).caption
    assert "DC (degree), BC (betweenness)" in five
    assert "NE (node entanglement), as z-scores" in five
    assert "γ = 3/mean(λ), perturbation remove" in five
    scatter = scatter_of(REGIONS, 0.7, 0.6, 0.8, measure="node_efficiency", n_regions=198, gamma=3.0).caption
    assert "NE at γ = 3/mean(λ) against NEff, one point per region" in scatter
    assert "0.70, 95 % bootstrap interval 0.60 to 0.80, over the 198 regions with signal of this subject" in scatter
    undefined = scatter_of(REGIONS, *[np.nan] * 3, gamma=3.0).caption
    assert "not defined" in undefined
    assert "nan" not in undefined
    rhos = {"node_efficiency": 0.7, "fc_strength": float("nan")}
    sweep = sweep_of(3.0, rhos=rhos, note="Behind it, nothing.", perturbation="remove").caption
    assert "Spearman's ρ of NE (remove, |ΔS|) with NEff and with FC strength" in sweep
    assert "At the chosen γ = 3, marked by the dotted line, ρ is 0.70 with NEff and not defined with FC" in sweep
    assert sweep.endswith("Behind it, nothing.")


def test_figures_are_made_of_any_measures():
    curves = {"degree": np.array([3, 1, 2, 2]), "vertex_entanglement": -CURVES["node_entanglement"]}
    shown = curves_of(REGIONS, curves=curves, scale="raw", subject="s")
    assert list(traces(on_screen(shown))) == ["degree", "hubs by degree", "VE"]
    assert [panel.y.title for panel in shown.panels] == ["degree", "VE"]
    assert "Subject s: degree and vertex entanglement (VE) of 4 regions, in their own units" in shown.caption
    assert "NE" not in shown.caption.replace("NEff", "")
    assert "hub by degree" in shown.numbers()


# On paper as on the screen.

LETTERS = ("A", "B", "C", "D")
ORDER = order_regions(4, ["x", "y", "x", None])


def test_what_is_above_a_scatter():
    shown = scatter_of(LETTERS, region="A")
    assert draw_on_paper(shown, STYLE).get_suptitle() == shown.subtitle
    titled = draw_on_paper(shown, replace(STYLE, titles=True))
    assert titled.get_suptitle() == f"NE against FC strength\n{shown.subtitle}"


@pytest.mark.parametrize("scale", ["z", "rank", "raw"])
@pytest.mark.parametrize("with_group", [False, True])
def test_first_rank_is_on_top_and_the_palette_is_that_of_the_style(scale, with_group):
    group = group_behind("NC", 2, CURVES, {name: values**2 for name, values in CURVES.items()}) if with_group else None
    shown = curves_of(LETTERS, scale=scale, order=ORDER, group=group, region="D")
    screen, printed = drawn_by_both(shown, replace(STYLE, palette="tol-muted"))
    assert len(printed.axes) == (3 if with_group or scale == "raw" else 1)
    assert (screen.layout.yaxis.autorange == "reversed") == (scale == "rank")
    assert "#332288" in [line.get_color() for line in printed.axes[0].lines if line.get_label() == "NE"]


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(InputError, match="A height of 30 mm leaves no room"):
        draw_on_paper(curves_of(LETTERS, scale="raw"), PaperStyle(height_mm=30))
