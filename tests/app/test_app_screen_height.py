"""Square maps on the screen: the figure is as high as they need, on a wide page as on a narrow one."""

from biobgt.figures.screen import ScreenHeight
from views.shared.widgets import _height_rule


def test_rule_of_style_says_the_same_and_takes_no_foreign_words():
    rule = _height_rule("maps_<b>{}", ScreenHeight(around=100, beside=30, share=0.5, largest=300))
    assert ".st-key-maps_-b---_frame {container-type: inline-size}" in rule
    assert "calc(100px + min(300px, (100cqw - 30px) * 0.50000))" in rule
    assert ScreenHeight(100, 30, 0.5, 300).at(230) == 200
    assert ScreenHeight(100, 30, 0.5, 300).at(2000) == 400
