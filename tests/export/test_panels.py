"""Figures of several panels: asked for, made, bundled and made again, with one caption and one methods text."""

import io
import json
import zipfile

import pandas as pd
import pytest
from export_requests import DEMO, request_of
from paper_texts import texts_inside_and_apart
from test_bundle import STYLE, run_script, unpack

from biobgt import InputError
from biobgt.export import bundle
from biobgt.export.bundle import make_files, make_panels, write_bundle
from biobgt.export.request import PanelOptions, PanelsRequest
from biobgt.figures.paper_style import PaperStyle

ASKED = PanelsRequest((request_of("hub_scatter"), request_of("module_flow")), PanelOptions(columns=1))


def test_request_is_read_back():
    assert PanelsRequest.from_json(ASKED.to_json()) == ASKED
    document = json.loads(ASKED.to_json())
    for damage, sentence in (
        ({"format": "x"}, "no request of panels"),
        ({"version": 2}, "newer version"),
        ({"panels": 5}, "damaged"),
        ({"options": {"columns": 9, "letters": True}}, "'columns' cannot be '9'"),
        ({"panels": document["panels"][:1]}, "at least 2"),
    ):
        with pytest.raises(InputError, match=sentence):
            PanelsRequest.from_json(json.dumps(document | damage))
    with pytest.raises(InputError, match="no request of panels"):
        PanelsRequest.from_json("{")


def test_captions_are_joined_behind_letters(measured):
    made = make_panels({DEMO: measured}, ASKED, style=STYLE, formats=["png"])
    first, second = (panel.caption.rstrip(".") for panel in made.panels)
    assert made.caption == f"a, {first}; b, {second}."
    assert made.size_mm[0] == pytest.approx(85)
    plain = PanelsRequest(ASKED.panels, PanelOptions(columns=1, letters=False))
    assert make_panels({DEMO: measured}, plain, style=STYLE, formats=["png"]).caption == f"{first}; {second}."
    with pytest.raises(InputError, match="height of a figure of several panels"):
        make_panels({DEMO: measured}, ASKED, style=PaperStyle(height_mm=90), formats=["png"])


def drawn_panels(measured, monkeypatch, *figures, style, columns=2):
    """The whole figure of panels, as it is about to be written, and what is said of its size."""
    seen = []
    monkeypatch.setattr(bundle, "save_figure", lambda figure, *how: seen.append(figure))
    asked = PanelsRequest(tuple(map(request_of, figures)), PanelOptions(columns=columns))
    made = make_panels({DEMO: measured}, asked, style=style, formats=["png"])
    return seen[0], made


@pytest.mark.parametrize(
    "figures",
    [
        ("hub_curves", "module_brain"),
        ("module_flow", "hub_scatter"),
        ("module_heatmap", "connectivity_heatmap", "small_worldness"),
        ("series_carpet", "hub_brain", "role_map", "region_surroundings"),
    ],
)
@pytest.mark.parametrize(("width", "columns"), [(85, 2), (114, 2), (180, 2), (180, 3)])
def test_no_text_of_panels_is_cut_or_lies_on_another(measured, monkeypatch, figures, width, columns):
    """At the defaults, 85 mm and two columns, panels of 40 mm were drawn whose names and numbers could not be read."""
    style = PaperStyle(width_mm=width, dpi=100)
    whole, made = drawn_panels(measured, monkeypatch, *figures, style=style, columns=columns)
    assert whole.get_figwidth() * 25.4 == pytest.approx(width)
    texts_inside_and_apart(whole, monkeypatch, style)
    assert ("mm, in " in made.size) == (made.columns < min(columns, len(figures)))


def test_fewer_columns_than_asked_for_are_told_with_what_would_fit(measured, monkeypatch):
    _, made = drawn_panels(measured, monkeypatch, "module_flow", "hub_scatter", style=PaperStyle(dpi=72))
    assert made.columns == 1
    assert made.size.endswith("mm, in 1 column: 2 columns need 144 mm")
    _, made = drawn_panels(measured, monkeypatch, "module_flow", "hub_scatter", style=PaperStyle(width_mm=144, dpi=72))
    assert made.columns == 2
    assert ":" not in made.size


def test_a_figure_that_cannot_be_read_at_a_width_says_which_it_needs(measured):
    with pytest.raises(InputError, match="needs 75 mm"):
        make_files(measured, request_of("module_heatmap"), style=PaperStyle(width_mm=74), formats=["png"])
    large = PaperStyle(width_mm=85, font_size=14)
    with pytest.raises(InputError, match="needs 150 mm"):
        make_files(measured, request_of("module_heatmap"), style=large, formats=["png"])


def test_a_flow_diagram_is_no_higher_than_it_is_wide(measured, monkeypatch):
    whole, _ = drawn_panels(measured, monkeypatch, "hub_scatter", "module_flow", style=PaperStyle(dpi=72), columns=1)
    scatter, flow = (panel.get_figheight() * 25.4 for panel in whole.panels)
    assert flow < 85
    assert flow < scatter, "it took two thirds of both"


def test_bundle_has_the_panels_and_its_script_makes_them_again(measured, tmp_path):
    figures = [make_files(measured, request, style=STYLE, formats=["svg"]) for request in ASKED.panels]
    together = make_panels({DEMO: measured}, ASKED, style=STYLE, formats=["svg"])
    stream = io.BytesIO()
    write_bundle(figures, {DEMO: measured.cohort}, stream, style=STYLE, panels=together)
    assert "requests/panels.json" in zipfile.ZipFile(stream).namelist()
    folder = unpack(stream.getvalue(), tmp_path)
    assert "**Several panels in one figure.** a, Simulated subject" in (folder / "captions.md").read_text()
    ended = run_script(folder)
    assert ended.returncode == 0, ended.stderr
    again = folder / "remade" / "figures" / "panels.svg"
    assert again.read_bytes() == (folder / "figures" / "panels.svg").read_bytes()
    numbers = pd.read_csv(folder / "remade" / "numbers" / "panels_b.csv")
    pd.testing.assert_frame_equal(numbers, pd.read_csv(folder / "numbers" / "02_module_flow.csv"))
    said = (folder / "remade" / "methods" / "panels.md").read_text()
    for sentence in {sentence for panel in together.panels for sentence in panel.methods}:
        assert sentence.partition(" (")[0].partition(" [")[0] in said
