"""A figure as small as a third of a page: drawn from the same numbers, with less around it."""

import plotly.graph_objects as go
import pytest

from biobgt import ConnectomeSettings
from biobgt.base.errors import InputError
from biobgt.data.simulate import demo_cohort
from biobgt.figures.attention import AttentionMapsOptions, attention_maps
from biobgt.figures.drawing import Drawing
from biobgt.figures.hubs import HubCurvesOptions, hub_curves
from biobgt.figures.screen import compact, draw_on_screen
from biobgt.model.installed import installed_model
from biobgt.results.measured import Measured

HEIGHT = 300


def groups_of(name: str, *groups: str) -> Drawing:
    model = installed_model(name)
    return attention_maps(Measured(model.cohort).of(None), AttentionMapsOptions(groups=groups))


def test_it_shows_the_same_numbers_in_less_room() -> None:
    cohort = demo_cohort("ad", n_per_group=1)
    curves = hub_curves(Measured(cohort).of(cohort.ids[0], ConnectomeSettings()), HubCurvesOptions())
    large = draw_on_screen(curves)
    small = compact(large, height=HEIGHT)
    go.Figure(small)  # plotly knows every name
    assert small["layout"]["height"] == HEIGHT < large["layout"]["height"]
    assert not small["layout"]["title"]["text"]
    assert small["data"] == large["data"]
    assert large["layout"]["title"]["text"]  # that of the other drawing is as it was


def test_maps_lose_the_names_of_networks_and_keep_the_scale() -> None:
    figure = groups_of("adsim-aal90", "NC", "AD")
    small = go.Figure(compact(draw_on_screen(figure), height=HEIGHT))
    assert small.layout.yaxis.showticklabels is False
    assert (small.layout.coloraxis.cmin, small.layout.coloraxis.cmax) == (figure.shades.low, figure.shades.high)


def test_groups_are_shown_in_the_order_asked_for() -> None:
    figure = groups_of("adsim-aal90", "AD", "NC")
    assert [panel.title.split()[0] for panel in figure.panels] == ["AD", "NC"]
    assert [panel.title.split()[0] for panel in groups_of("adsim-aal90").panels] == ["NC", "MCI", "AD"]
    assert "MCI" not in figure.caption
    with pytest.raises(InputError, match="no group 'ADHD'"):
        groups_of("adsim-aal90", "ADHD")


@pytest.mark.parametrize(
    ("name", "group", "pair"),
    [
        ("adsim-aal90", "AD", ("NC", "AD")),
        ("adsim-aal90", "NC", ("NC", "MCI")),
        ("adsim-aal90", None, ("NC", "MCI")),
        ("abide-cc200", "ADHD", ("NC", "ASD")),
    ],
)
def test_a_subjects_group_stands_beside_its_controls(name, group, pair) -> None:
    assert installed_model(name).pair_with(group) == pair


def test_of_a_shared_network_a_group_stands_beside_the_controls_of_its_cohort() -> None:
    from biobgt.model.installed import installed_models

    networks = [model for model in installed_models().values() if model.readouts]
    for model in networks:
        for controls, *others in model.readouts.values():
            assert [model.pair_with(group) for group in others] == [(controls, group) for group in others]
