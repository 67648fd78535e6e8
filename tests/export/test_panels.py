"""Figures of several panels: asked for, made, bundled and made again, with one caption and one methods text."""

import io
import json
import zipfile

import pandas as pd
import pytest
from export_requests import DEMO, request_of
from test_bundle import STYLE, run_script, unpack

from biobgt import InputError
from biobgt.export.bundle import make_files, write_bundle
from biobgt.export.panels import PanelOptions, PanelsRequest, make_panels
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


def test_bundle_has_the_panels_and_its_script_makes_them_again(measured, tmp_path):
    figures = [make_files(measured, request, style=STYLE, formats=["svg"]) for request in ASKED.panels]
    panels = make_panels({DEMO: measured}, ASKED, style=STYLE, formats=["svg"])
    stream = io.BytesIO()
    write_bundle(figures, {DEMO: measured.cohort}, stream, style=STYLE, panels=panels)
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
    for sentence in {sentence for panel in panels.panels for sentence in panel.methods}:
        assert sentence.split(" (")[0] in said
