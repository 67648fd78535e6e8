"""A figure for the paper has its exact size, keeps its text, states its dpi, and is the same whenever it is made."""

import hashlib
import io
import os
import re
import subprocess
import sys
from threading import Thread
from xml.etree import ElementTree as ET

import matplotlib
import numpy as np
import pytest
from brain_drawings import glass_brain
from hub_figures import scatter_of
from PIL import Image

from biobgt import InputError
from biobgt.base.colours import MODULE_COLOURS
from biobgt.figures.paper.frame import save_figure
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.paper_style import PALETTES, PaperStyle

REGIONS = ("A", "B", "C", "a $5 region of $6")


def scatter(style, *, simulated=False):
    values = np.array([0.1, 0.2, 0.4, 0.3])
    curves = {"fc_strength": values, "node_entanglement": values**2}
    shown = scatter_of(REGIONS, curves=curves, region=REGIONS[3], simulated=simulated)
    return draw_on_paper(shown, style)


def saved(figure, format, style):
    buffer = io.BytesIO()
    save_figure(figure, buffer, format, style)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("width", "height", "dpi"), [(85, 60, 300), (85, None, 600), (174, 101.3, 150), (114, 57, 299)]
)
@pytest.mark.parametrize("format", ["png", "tiff"])
def test_pixels_are_millimetres_times_dpi(width, height, dpi, format):
    style = PaperStyle(width_mm=width, height_mm=height, dpi=dpi)
    figure = scatter(style)
    picture = Image.open(io.BytesIO(saved(figure, format, style)))
    height = height or figure.get_figheight() * 25.4
    assert picture.size == (round(width / 25.4 * dpi), round(height / 25.4 * dpi))
    assert picture.mode == "RGB"
    assert picture.info["dpi"] == pytest.approx((dpi, dpi), abs=0.02)
    assert picture.format == format.upper()


def test_svg_keeps_text_as_text_and_its_size():
    style = PaperStyle(width_mm=85, height_mm=60, titles=True)
    root = ET.fromstring(saved(scatter(style, simulated=True), "svg", style))
    texts = ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "NE against FC strength · simulated" in texts
    assert "ρ = 0.40, 95 % interval 0.10 to 0.60" in texts
    assert REGIONS[3] in texts, "a dollar sign opens no formula"
    assert "FC strength" in texts
    assert root.attrib["width"].endswith("pt")
    assert float(root.attrib["width"][:-2]) == pytest.approx(85 / 25.4 * 72, abs=1e-3)
    assert float(root.attrib["height"][:-2]) == pytest.approx(60 / 25.4 * 72, abs=1e-3)
    assert not list(root.iter("{http://purl.org/dc/elements/1.1/}date"))


def test_pdf_embeds_truetype_fonts_and_has_its_size():
    style = PaperStyle(width_mm=174, height_mm=60)
    data = saved(scatter(style), "pdf", style)
    assert b"/FontFile2" in data
    assert b"/CIDFontType2" in data or b"/TrueType" in data
    assert b"/Type3" not in data
    assert b"LiberationSans" in data
    box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+) ?\]", data)
    assert box is not None
    assert [float(side) for side in box.groups()] == pytest.approx([174 / 25.4 * 72, 60 / 25.4 * 72], abs=1e-2)
    assert b"CreationDate" not in data


_MAKE = """
import hashlib, io, sys
import numpy as np
from biobgt.figures.brain import Brain
from biobgt.figures.drawing import Axis, Drawing, Panel, Points
from biobgt.figures.paper import PaperStyle, save_figure
from biobgt.figures.paper.pen import draw_on_paper
style = PaperStyle(dpi=100)
places = np.array([[-40.0, 0, 10], [40, 5, 10], [0, 50, 20], [10, -60, 0]])
values = np.array([0.1, 0.2, 0.4, 0.3])
brain = Brain(coordinates=places, regions="ABCD", values=values, edges=[(0, 1, 1.0)], quantity="q")
for figure in (
    draw_on_paper(
        Drawing(title="T", panels=[Panel(marks=[Points(x=values, y=values, colour="#0072B2")], x=Axis(title="x"))]),
        style,
    ),
    draw_on_paper(Drawing(title="T", panels=[Panel(marks=[brain])]), style),
):
    for format in ("svg", "pdf", "png", "tiff"):
        for _ in range(2):
            buffer = io.BytesIO()
            save_figure(figure, buffer, format, style)
            print(format, hashlib.sha256(buffer.getvalue()).hexdigest())
if "matplotlib.pyplot" in sys.modules:
    assert not sys.modules["matplotlib.pyplot"].get_fignums()
"""


def test_same_figure_gives_the_same_bytes_in_any_process():
    runs = [
        subprocess.run(
            [sys.executable, "-c", _MAKE],
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]
    lines = runs[0].split("\n")[:-1]
    assert lines[::2] == lines[1::2], "written twice"
    assert len(set(lines)) == 8


def test_screen_figures_do_without_matplotlib():
    code = "import biobgt.figures, sys; print('matplotlib' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == "False"


def test_file_and_buffer_get_the_same(tmp_path):
    style = PaperStyle(dpi=100)
    figure = scatter(style)
    save_figure(figure, tmp_path / "a.svg", "svg", style)
    save_figure(figure, str(tmp_path / "b.svg"), "svg", style)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes() == saved(figure, "svg", style)


def test_settings_of_the_process_stay_as_they_were():
    before = dict(matplotlib.rcParams)
    style = PaperStyle(font_size=11, dpi=100)
    saved(scatter(style), "svg", style)
    assert dict(matplotlib.rcParams) == before


def test_two_users_at_once_get_their_own_sizes_of_type():
    alone = {}
    for size in (6.0, 12.0):
        style = PaperStyle(font_size=size, dpi=100)
        alone[size] = hashlib.sha256(saved(scatter(style), "svg", style)).hexdigest()
    found = {6.0: set(), 12.0: set()}

    def draw(size):
        style = PaperStyle(font_size=size, dpi=100)
        for _ in range(4):
            found[size].add(hashlib.sha256(saved(scatter(style), "svg", style)).hexdigest())

    threads = [Thread(target=draw, args=(size,)) for size in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {size: {digest} for size, digest in alone.items()}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width_mm": 10}, "The option 'width_mm' is 10; it must be from 40 to 400 mm."),
        ({"height_mm": 1000}, "The option 'height_mm' is 1000; it must be from 30 to 400 mm."),
        ({"font_size": 2}, "The option 'font_size' is 2; it must be from 5 to 24 points."),
        ({"dpi": 5000}, "The option 'dpi' is 5000; it must be from 72 to 1200 dots per inch."),
        ({"width_mm": float("nan")}, "The option 'width_mm' is nan"),
        ({"palette": "rainbow"}, "The option 'palette' cannot be 'rainbow'. Choose one of: okabe-ito, tol-muted."),
        ({"font": "No Such Font"}, "The font 'No Such Font' is not installed"),
    ],
)
def test_a_style_that_cannot_be_is_refused_with_a_sentence(options, message):
    with pytest.raises(InputError) as error:
        PaperStyle(**options)
    assert message in str(error.value)


def test_unknown_format_is_refused():
    style = PaperStyle(dpi=100)
    with pytest.raises(InputError, match="cannot be written as 'gif'; choose one of svg, pdf, png, tiff"):
        save_figure(scatter(style), io.BytesIO(), "gif", style)


def test_height_without_room_for_brains_is_refused():
    places = np.zeros((4, 3))
    style = PaperStyle(height_mm=30, titles=True)
    with pytest.raises(InputError, match="leaves no room for the brains; choose at least"):
        glass_brain(places, REGIONS, groups=[f"m{i}" * 40 for i in range(4)], title="t", style=style)


def test_a_palette_has_a_counterpart_for_every_house_colour():
    style = PaperStyle(palette="tol-muted")
    assert [style.colour(colour) for colour in MODULE_COLOURS] == list(PALETTES["tol-muted"].colours)
    assert all(len(set(palette.colours)) == len(MODULE_COLOURS) for palette in PALETTES.values())
    assert style.colour("#123456") == "#123456"
