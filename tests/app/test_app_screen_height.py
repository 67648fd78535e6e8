"""Square maps on the screen: the figure is as high as they need, on a wide page as on a narrow one."""

from collections.abc import Mapping

import numpy as np
import pytest

from biobgt.figures import order_regions
from biobgt.figures.maps_beside import NARROW_WIDTH, PAGE_WIDTH, MapsBeside
from biobgt.figures.register import NoOptions
from biobgt.figures.screen import ScreenHeight
from biobgt.figures.subject_attention import SubjectAttention
from views.shared.widgets import _height_rule

NAMES_WIDTH = 130


class Maps(MapsBeside):
    """Two groups in a row, or three in two rows."""

    key, name, caption, numbers = "maps", "Maps", "", None

    @property
    def panels(self) -> Mapping[str, np.ndarray]:
        return {f"g{i}": np.eye(4) for i in range(sum(self.rows) or 2)}

    @classmethod
    def of(cls, measured, options):
        raise NotImplementedError


@pytest.mark.parametrize("rows", [(), (2, 1)])
@pytest.mark.parametrize("width", [PAGE_WIDTH, NARROW_WIDTH])
def test_what_is_left_of_the_height_is_that_of_square_maps(rows, width):
    shown = Maps(options=NoOptions(), regions=list("abcd"), order=order_regions(4), limits=(0.0, 2.0), rows=rows)
    layout = shown.plotly().layout
    left = shown.screen_height.at(width) - layout.margin.t - layout.margin.b
    maps = (width - NAMES_WIDTH) * (layout.xaxis.domain[1] - layout.xaxis.domain[0])
    assert left * (layout.yaxis.domain[1] - layout.yaxis.domain[0]) == pytest.approx(maps, abs=2)


def test_rule_of_style_says_the_same_and_takes_no_foreign_words():
    rule = _height_rule("maps_<b>{}", ScreenHeight(around=100, beside=30, share=0.5, largest=300))
    assert ".st-key-maps_-b---_frame {container-type: inline-size}" in rule
    assert "calc(100px + min(300px, (100cqw - 30px) * 0.50000))" in rule
    assert ScreenHeight(100, 30, 0.5, 300).at(230) == 200
    assert ScreenHeight(100, 30, 0.5, 300).at(2000) == 400


def test_figures_of_maps_have_it():
    assert issubclass(SubjectAttention, MapsBeside)
