"""A figure for the paper has its exact size, keeps its text, states its dpi, and is the same whenever it is made."""

import io
import os
import re
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from xml.etree import ElementTree as ET

import matplotlib
import numpy as np
import pytest
from drawn_figures import glass_brain, scatter_of, written
from matplotlib.font_manager import FontProperties, findfont
from matplotlib.ft2font import FT2Font
from PIL import Image

from biobgt.base.colours import MODULE_COLOURS
from biobgt.base.errors import InputError
from biobgt.base.files import asset
from biobgt.export import CohortRef, FigureRequest
from biobgt.export.bundle import _make_figure
from biobgt.figures.paper.frame import installed_fonts, save_figure
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.paper_style import BUNDLED_FONT, PALETTES, PaperStyle
from biobgt.results.measured import Measured

REGIONS = ("A", "B", "C", "a $5 region of $6")


def scatter(style, *, simulated=False):
    values = np.array([0.1, 0.2, 0.4, 0.3])
    curves = {"fc_strength": values, "node_entanglement": values**2}
    shown = scatter_of(REGIONS, curves=curves, region=REGIONS[3], simulated=simulated)
    return draw_on_paper(shown, style)


@pytest.mark.parametrize(
    ("width", "height", "dpi"), [(85, 60, 300), (85, None, 600), (174, 101.3, 150), (114, 57, 299)]
)
@pytest.mark.parametrize("format", ["png", "tiff"])
def test_pixels_are_millimetres_times_dpi(width, height, dpi, format):
    style = PaperStyle(width_mm=width, height_mm=height, dpi=dpi)
    figure = scatter(style)
    picture = Image.open(io.BytesIO(written(figure, format, style)))
    height = height or figure.get_figheight() * 25.4
    assert picture.size == (round(width / 25.4 * dpi), round(height / 25.4 * dpi))
    assert picture.mode == "RGB"
    assert picture.info["dpi"] == pytest.approx((dpi, dpi), abs=0.02)
    assert picture.format == format.upper()


def test_svg_keeps_text_as_text_and_its_size():
    style = PaperStyle(width_mm=85, height_mm=60, titles=True)
    root = ET.fromstring(written(scatter(style, simulated=True), "svg", style))
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
    data = written(scatter(style), "pdf", style)
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


def test_a_file_is_as_a_buffer_and_settings_of_the_process_stay_as_they_were(tmp_path):
    before = dict(matplotlib.rcParams)
    style = PaperStyle(font_size=11, dpi=100)
    figure = scatter(style)
    for path in (tmp_path / "a.svg", str(tmp_path / "b.svg")):
        save_figure(figure, path, "svg", style)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes() == written(figure, "svg", style)
    assert dict(matplotlib.rcParams) == before


def test_two_users_at_once_get_their_own_sizes_of_type():
    def drawn(size):
        style = PaperStyle(font_size=size, dpi=100)
        return written(scatter(style), "svg", style)

    alone = {size: drawn(size) for size in (6.0, 12.0)}
    sizes = [6.0, 12.0] * 4
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(drawn, sizes)) == [alone[size] for size in sizes]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width_mm": 10}, "from 40 to 400 mm"),
        ({"height_mm": 1000}, "from 30 to 400 mm"),
        ({"font_size": 2}, "from 5 to 24 points"),
        ({"dpi": 5000}, "from 72 to 1200 dots per inch"),
        ({"width_mm": float("nan")}, "nan"),
        ({"palette": "rainbow"}, "rainbow"),
        ({"font": "No Such Font"}, f"choose '{BUNDLED_FONT}'"),
    ],
)
def test_a_style_that_cannot_be_is_refused_with_a_sentence(options, message):
    with pytest.raises(InputError, match=message):
        PaperStyle(**options)


def test_what_cannot_be_made_is_refused():
    style = PaperStyle(dpi=100)
    with pytest.raises(InputError, match="gif"):
        save_figure(scatter(style), io.BytesIO(), "gif", style)
    low = PaperStyle(height_mm=30, titles=True)
    with pytest.raises(InputError, match="brains"):
        glass_brain(np.zeros((4, 3)), REGIONS, groups=[f"m{i}" * 40 for i in range(4)], title="t", style=low)


def test_a_palette_has_a_counterpart_for_every_house_colour():
    style = PaperStyle(palette="tol-muted")
    assert [style.colour(colour) for colour in MODULE_COLOURS] == list(PALETTES["tol-muted"].colours)
    assert all(len(set(palette.colours)) == len(MODULE_COLOURS) for palette in PALETTES.values())
    assert style.colour("#123456") == "#123456"


# What a journal asks beyond size: a usual font, no title, marks that hide nothing, legible curves.

DEMO = CohortRef("ad", demo=True, n_per_group=1, seed=3)
SUBJECT = "sim-AD-001"
STYLE = PaperStyle(width_mm=85, dpi=100)


@pytest.fixture(scope="module")
def measured():
    return Measured(DEMO.draw())


def exported(measured, figure, style, **options):
    return _make_figure(measured, FigureRequest(figure, DEMO, SUBJECT, options=options), style).figure


def test_a_font_as_wide_as_arial_comes_with_the_project_and_its_licence(measured):
    assert PaperStyle().font == BUNDLED_FONT == installed_fonts()[0]
    found = findfont(FontProperties(family=BUNDLED_FONT), fallback_to_default=False)
    assert found.endswith("LiberationSans-Regular.ttf")
    assert "SIL OPEN FONT LICENSE Version 1.1" in asset("fonts", "LICENSE.txt").read_text()
    data = written(exported(measured, "hub_scatter", STYLE), "pdf", STYLE)
    assert b"LiberationSans" in data
    assert b"DejaVu" not in data, "Greek letters and signs are in the same font"


@pytest.mark.parametrize("weight", ["Regular", "Bold"])
def test_the_font_has_the_signs_that_figures_write(weight):
    has = FT2Font(asset("fonts", f"LiberationSans-{weight}.ttf")).get_charmap()
    assert [sign for sign in "ργλΔρ−±×·–…≤≥→²′°ä" if ord(sign) not in has] == []


def test_a_sign_that_the_font_lacks_comes_from_another_and_is_no_box(measured):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # matplotlib warns of a glyph that no font has
        figure = exported(measured, "hub_scatter", STYLE)
        figure.axes[0].set_xlabel("10⁻³ ∝ ⟨k⟩")
        written(figure, "pdf", STYLE)


@pytest.mark.parametrize(("figure", "title"), [("hub_scatter", "NE against NEff"), ("hub_brain", SUBJECT)])
@pytest.mark.parametrize("titles", [True, False])
def test_without_its_title_a_figure_still_says_that_it_is_simulated(measured, figure, title, titles):
    style = replace(STYLE, titles=titles)
    drawn = exported(measured, figure, style)
    said = " ".join([drawn.get_suptitle(), *(text.get_text() for text in drawn.texts)])
    assert (title in said, "simulated" in said) == (titles, True)
    assert ("--no-title" in style.command_line()) == (not titles)


def test_hubs_are_seen_in_the_curves_of_all_measures(measured):
    panels = exported(measured, "hub_curves", STYLE).axes
    first, *others = ({line.get_xdata()[0] for line in axes.lines if line.get_alpha() == 0.35} for axes in panels)
    assert len(first) == 9
    assert others == [first, first]


@pytest.mark.parametrize("width", [60, 85, 174])
def test_sides_are_marked_beside_the_outline(measured, width):
    figure = exported(measured, "hub_brain", replace(STYLE, width_mm=width))
    figure.draw_without_rendering()
    marks = [(axes, text) for axes in figure.axes for text in axes.texts if text.get_text() in ("L", "R")]
    assert [text.get_text() for _, text in marks] == ["L", "R", "L", "R"]
    for axes, text in marks:
        box = text.get_window_extent()
        for outline in axes.patches:
            path = outline.get_transform().transform_path(outline.get_path()).interpolated(20)
            assert not any(box.contains(x, y) for x, y in path.vertices)
