"""The figures of hubs hold what they were given, in the order they say, and their captions name the numbers."""

import numpy as np
import pandas as pd
import pytest

from biobgt import InputError
from biobgt.figures import (
    RegionOrder,
    centralities_caption,
    correlation_text,
    curves_caption,
    gamma_sweep,
    hub_curves,
    hub_scatter,
    only_regions,
    order_by_value,
    order_regions,
    random_regions,
    scatter_caption,
    sweep_caption,
    table_caption,
)

REGIONS = ("A", "<b>B</b>", "C", "D")
CURVES = {
    "node_entanglement": np.array([0.1, 0.4, 0.2, 0.3]),
    "node_efficiency": np.array([1.0, 2.0, 3.0, 4.0]),
    "fc_strength": np.array([-1.0, 0.0, 1.0, 2.0]),
}
HUBS = np.array([False, True, False, False])
REFERENCES = {"node_efficiency": "node efficiency", "fc_strength": "FC strength"}
SWEEP = pd.DataFrame(
    {
        "reference": np.repeat(list(REFERENCES.values()), 3),
        "gamma": [0.1, 1.0, 10.0] * 2,
        "spearman": [0.7, 0.6, 0.1, 0.3, np.nan, -0.2],
    }
)
STUDY = pd.DataFrame(
    {
        "reference": np.repeat(list(REFERENCES.values()), 2),
        "gamma": [0.1, 10.0] * 2,
        "mean": [0.6, 0.2, 0.1, 0.0],
        "sd": [0.1, 0.2, 0.3, 0.4],
    }
)


def traces(figure):
    return {trace.name: trace for trace in figure.data if trace.name}


def test_highest_region_comes_first_and_ties_keep_the_atlas_order():
    assert order_by_value(np.array([1.0, 3.0, 1.0, 2.0])) == RegionOrder((1, 3, 0, 2))


def test_curves_share_an_axis_and_are_in_order():
    figure = hub_curves(CURVES, REGIONS, HUBS, order=order_by_value(CURVES["node_entanglement"]), order_title="by NE")
    drawn = traces(figure)
    assert list(drawn) == ["NE", "hubs by NE", "NEff", "FC strength"]
    assert list(drawn["NE"].x) == ["&lt;b&gt;B&lt;/b&gt;", "D", "C", "A"]
    np.testing.assert_allclose(drawn["NE"].y, [0.4, 0.3, 0.2, 0.1])
    np.testing.assert_allclose(drawn["NEff"].y, [2, 4, 3, 1])
    np.testing.assert_allclose(drawn["FC strength"].y, [0, 2, 1, -1])
    assert list(drawn["hubs by NE"].x) == ["&lt;b&gt;B&lt;/b&gt;"]
    np.testing.assert_allclose(drawn["hubs by NE"].y, [0.4])
    assert {trace.yaxis for trace in figure.data} == {"y"}
    assert figure.layout.xaxis.title.text == "4 regions by NE"
    assert figure.layout.yaxis.title.text == "z-score over regions"


def test_raw_values_have_a_panel_each_with_its_unit():
    figure = hub_curves(CURVES, REGIONS, HUBS, scale="raw", title="T", simulated=True)
    assert [trace.yaxis for trace in figure.data] == ["y", "y", "y2", "y3"]
    axes = [figure.layout[axis].title.text for axis in ("yaxis", "yaxis2", "yaxis3")]
    assert axes == ["NE (bits)", "NEff", "FC strength"]
    assert figure.layout.xaxis3.title.text == "4 regions in atlas order"
    assert figure.layout.title.text == "T · simulated"


def test_first_rank_is_on_top():
    assert hub_curves(CURVES, REGIONS, HUBS, scale="rank").layout.yaxis.autorange == "reversed"


def test_modules_are_named_and_parted():
    figure = hub_curves(CURVES, REGIONS, HUBS, order=order_regions(4, ["Vis", "MC", "Vis", None]))
    assert list(figure.data[0].x) == ["A", "C", "&lt;b&gt;B&lt;/b&gt;", "D"]
    assert list(figure.layout.xaxis.ticktext) == ["Vis", "MC", "unlabelled"]
    assert [line.x0 for line in figure.layout.shapes] == [1.5, 2.5]


def test_some_regions_keep_their_order_and_blocks():
    order = order_regions(5, ["Vis", "MC", "Vis", None, "MC"])
    assert only_regions(order, frozenset({2, 3, 0})) == RegionOrder((0, 2, 3), (("Vis", 0, 2), ("unlabelled", 2, 3)))
    assert only_regions(order_by_value(np.array([1.0, 3.0, 2.0])), frozenset({0, 2})) == RegionOrder((2, 0))
    figure = hub_curves(CURVES, REGIONS, HUBS, order=RegionOrder((3, 0)))
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
    with pytest.raises(InputError, match="seed is -1"):
        random_regions(200, 50, seed=-1)


def test_group_lies_behind_each_measure_in_a_panel_of_its_own():
    group = {measure: (values + 1, np.full(4, 0.5)) for measure, values in CURVES.items()}
    figure = hub_curves(CURVES, REGIONS, HUBS, group=group, group_name="<NC>", order=RegionOrder((3, 0)))
    band, mean, curve = figure.data[:3]
    np.testing.assert_allclose(mean.y, [1.3, 1.1])
    np.testing.assert_allclose(band.y, [1.8, 1.6, 0.6, 0.8])
    assert list(band.x) == ["D", "A", "A", "D"]
    assert mean.name == "&lt;NC&gt;, mean ± SD"
    assert curve.name == "NE"
    axes = [figure.layout[axis].title.text for axis in ("yaxis", "yaxis2", "yaxis3")]
    assert axes == ["NE, z", "NEff, z", "FC strength, z"]
    assert sum(trace.name == mean.name and trace.showlegend is not False for trace in figure.data) == 1


def test_picked_region_is_ringed_where_it_is_drawn():
    figure = hub_curves(CURVES, REGIONS, HUBS, picked=2)
    ring = traces(figure)["C"]
    assert (list(ring.x), list(ring.y), list(ring.customdata)) == (["C"], [0.2], [2])
    assert "C" not in traces(hub_curves(CURVES, REGIONS, HUBS, picked=2, order=RegionOrder((0, 1))))
    scatter = hub_scatter(
        CURVES["fc_strength"],
        CURVES["node_entanglement"],
        REGIONS,
        HUBS,
        measure="fc_strength",
        subtitle="",
        picked=2,
    )
    assert (list(scatter.data[2].x), list(scatter.data[2].y)) == ([1], [0.2])
    assert [list(trace.customdata) for trace in scatter.data] == [[0, 2, 3], [1], [2]]


def test_scatter_has_a_point_a_region_and_tells_hubs():
    figure = hub_scatter(
        CURVES["fc_strength"], CURVES["node_entanglement"], REGIONS, HUBS, measure="fc_strength", subtitle="ρ = 0.4"
    )
    others, hubs = figure.data
    np.testing.assert_allclose(others.x, [-1, 1, 2])
    np.testing.assert_allclose(others.y, [0.1, 0.2, 0.3])
    assert list(others.text) == ["A", "C", "D"]
    assert (list(hubs.x), list(hubs.y), list(hubs.text)) == ([0], [0.4], ["&lt;b&gt;B&lt;/b&gt;"])
    assert others.marker.symbol != hubs.marker.symbol
    assert figure.layout.title.text == "NE against FC strength"
    assert figure.layout.title.subtitle.text == "ρ = 0.4"
    legend = figure.layout.legend
    assert legend.y < 0, "a long name takes a second line, which must not lie on the correlation"
    assert legend.yanchor == "top"


def test_sweep_holds_the_subject_the_study_and_the_chosen_gamma():
    figure = gamma_sweep(SWEEP, REFERENCES, chosen=1.0, study=STUDY)
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
    figure = gamma_sweep(SWEEP, REFERENCES, chosen=0.1)
    assert list(traces(figure)) == ["γ = 0.1", "NEff, this subject", "FC strength, this subject"]


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ((0.716, 0.65, 0.781), "ρ = 0.72, 95% interval 0.65 to 0.78"),
        ((-0.1, -0.3, 0.1), "ρ = −0.10, 95% interval −0.30 to 0.10"),
        ((np.nan, np.nan, np.nan), "ρ is not defined"),
    ],
)
def test_correlation_in_words(values, text):
    assert correlation_text(*values) == text


def test_captions_name_the_numbers():
    curves = curves_caption("s", 200, 20, scale="rank", gamma=0.5, perturbation="control", rule="top", simulated=True)
    assert curves.startswith("Simulated subject s:")
    assert "of 200 regions, as ranks" in curves
    assert "γ = 0.5/mean(λ) when a region's neighbourhood becomes a clique" in curves
    assert "hubs by NE, 20 in all: the top 10% of regions" in curves
    some = curves_caption(
        "s", 200, 20, scale="z", gamma=0.5, perturbation="remove", rule="top", drawn=(50, 7), group=("NC", 12, 12)
    )
    assert "of 50 of 200 regions, drawn with seed 7, as z-scores over regions (of all 200)." in some
    assert "mean ± 1 SD of the 12 subjects of NC, this one among them" in some
    five = centralities_caption("s", {"DC": "degree", "NE": "node entanglement"}, gamma=3.0, perturbation="remove")
    assert "DC (degree), NE (node entanglement), as z-scores" in five
    assert "γ = 3/mean(λ), perturbation remove" in five
    scatter = scatter_caption("s", "node_efficiency", 198, rho=0.7, low=0.6, high=0.8, gamma=3.0)
    assert "against NEff" in scatter
    assert "0.70, 95% bootstrap interval 0.60 to 0.80, over the 198 regions with signal of this subject" in scatter
    undefined = scatter_caption("s", "fc_strength", 198, rho=np.nan, low=np.nan, high=np.nan, gamma=3.0)
    assert "not defined" in undefined
    assert "nan" not in undefined
    rhos = {"node_efficiency": 0.7, "fc_strength": float("nan")}
    sweep = sweep_caption("s", gamma=3.0, rhos=rhos, perturbation="remove", study="Behind it, nothing.")
    assert "At the chosen γ = 3, marked by the dotted line, ρ is 0.70 with NEff and not defined with FC" in sweep
    assert sweep.endswith("Behind it, nothing.")
    table = table_caption("s", {"NE": 3, "degree": 4}, gamma=0.5, perturbation="remove", rule="sd")
    assert "regions above the mean + 1 SD, by each measure on its own: 3 by NE, 4 by degree" in table
    assert "none is shown" in table_caption("s", {}, gamma=0.5, perturbation="remove", rule="sd")
