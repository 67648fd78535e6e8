"""Widgets of options that stay with their page are made of the options: title, help, bounds and default."""

import pytest
from page_contents import assert_no_error

from biobgt import ImageOptions
from biobgt.export import CohortRef, FigureRequest
from biobgt.figures.paper_style import PaperStyle
from biobgt.readers.fetch import FetchOptions
from session.view import EXPORT_LIST, EXPORT_LOOK

WIDGETS = ("number_input", "selectbox", "segmented_control", "toggle", "select_slider")
# By page: the group, how keys are made of names, and what the page does not ask for.
PAGES = {
    "images": ("subjects", ImageOptions, "{}0", {"labels"}),
    "fetching": ("subjects", FetchOptions, "fetch_{}", {"mirror"}),
    "look": ("export", PaperStyle, EXPORT_LOOK + "{}", {"height_mm"}),
}
STARTS = {"n_subjects": 20}  # where a page starts elsewhere than a script


def widgets_of(page):
    return {widget.key: widget for kind in WIDGETS for widget in getattr(page, kind)}


@pytest.mark.parametrize("case", PAGES)
def test_every_option_is_asked_for_as_it_is_declared(open_page, case):
    where, kind, key, left_out = PAGES[case]
    page = open_page("subjects")
    if where == "export":
        page.session_state[EXPORT_LIST] = [FigureRequest("hub_curves", CohortRef("ad", demo=True), "sim-NC-001")]
        page.switch_page("views/export/page.py").run()
    assert_no_error(page)
    shown = widgets_of(page)
    for name, one in kind.declared().items():
        if name in left_out:
            assert key.format(name) not in shown
            continue
        widget = shown[key.format(name)]
        assert (widget.label, widget.help or "") == (one.title, one.help)
        assert widget.value == STARTS.get(name, one.default)
        if widget.type == "number_input" and one.low is not None:
            assert (widget.min, widget.max) == (one.low, one.high)
        if widget.type == "number_input" and one.above is not None:
            assert widget.min > one.above
        if one.choices is not None:
            texts = [one.text(choice) for choice in one.choices]
            assert list(widget.options)[-len(texts) :] == texts


def test_what_was_answered_stays_and_can_be_taken_back(open_page):
    page = open_page("subjects")
    page.number_input(key="tr0").set_value(2.0).run()
    page.selectbox(key="confounds0").set_value("compcor").run()
    page.number_input(key="high_pass0").set_value(0.01).run()
    shown = widgets_of(page)
    assert [shown[key].value for key in ("tr0", "confounds0", "high_pass0", "low_pass0")] == [
        2.0,
        "compcor",
        0.01,
        None,
    ]
    page.number_input(key="tr0").set_value(None).run()
    page.selectbox(key="confounds0").set_value(None).run()
    shown = widgets_of(page)
    assert [shown[key].value for key in ("tr0", "confounds0", "high_pass0")] == [None, None, 0.01]
    assert_no_error(page)
