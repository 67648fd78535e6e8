"""Several figures as panels of one: exact sizes and places, letters, and text that stays text."""

import io
import re

import numpy as np
import pytest
from drawn_figures import curves_of, scatter_of, written
from PIL import Image

from biobgt import InputError
from biobgt.figures.paper.frame import compose, fitting_columns, panel_widths_mm
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.paper_style import PaperStyle

REGIONS = ("A", "B", "C", "D")
STYLE = PaperStyle(width_mm=180, dpi=100)


def panels(columns, n=3, style=STYLE):
    widths = panel_widths_mm(n, columns, style.width_mm)
    kinds = [curves_of(REGIONS), scatter_of(REGIONS), curves_of(REGIONS, scale="raw")]
    styles = [PaperStyle(width_mm=width, dpi=style.dpi) for width in widths]
    return [draw_on_paper(kinds[i % 3], one) for i, one in enumerate(styles)]


def test_rows_are_filled_and_the_last_shares_its_width():
    assert panel_widths_mm(5, 2, 180) == [88, 88, 88, 88, 180]
    assert panel_widths_mm(3, 2, 180) == [88, 88, 180]
    assert panel_widths_mm(2, 3, 180) == [88, 88], "two panels never stand in three columns"
    with pytest.raises(InputError, match="1 to 26 panels"):
        panel_widths_mm(27, 2, 180)


@pytest.mark.parametrize("width", [85, 120, 180])
def test_size_is_exact_and_panels_do_not_lie_on_each_other(width):
    style = PaperStyle(width_mm=width, dpi=100)
    columns = 1 if width == 85 else 2
    parts = panels(columns, style=style)
    sizes = [part.get_size_inches() * 25.4 for part in parts]
    whole = compose(parts, columns=columns, letters=False, style=style)
    assert whole.get_figwidth() * 25.4 == pytest.approx(width)
    rows = [max(sizes[0][1], sizes[1][1]), sizes[2][1]] if columns == 2 else [size[1] for size in sizes]
    assert whole.get_figheight() * 25.4 == pytest.approx(sum(rows) + 4 * (len(rows) - 1))
    boxes = [np.array(part.bbox_inches.get_points()) * 25.4 for part in parts]
    for box, size in zip(boxes, sizes, strict=True):
        np.testing.assert_allclose(box[1] - box[0], size)
        assert (box[0] >= -1e-9).all()
    for i, one in enumerate(boxes):
        for other in boxes[i + 1 :]:
            assert (one[1] <= other[0] + 1e-9).any() or (other[1] <= one[0] + 1e-9).any()


def test_letters_stand_above_and_text_stays_text():
    whole = compose(panels(2), columns=2, letters=True, style=STYLE)
    assert [text.get_text() for text in whole.texts] == ["a", "b", "c"]
    svg = written(whole, "svg", STYLE).decode()
    said = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    assert {"a", "b", "c", "hubs by NE", "other regions"} <= set(said)
    assert f'width="{180 / 25.4 * 72:.6g}' in svg[:900]
    assert b"/FontFile2" in written(whole, "pdf", STYLE)
    without = compose(panels(2), columns=2, letters=False, style=STYLE)
    assert without.texts == []
    assert without.get_figheight() < whole.get_figheight()


def test_a_panel_in_the_whole_is_the_panel_alone_at_any_density():
    for dpi in (100, 150):
        style = PaperStyle(width_mm=180, dpi=dpi)
        alone = Image.open(io.BytesIO(written(panels(1, n=2, style=style)[0], "png", style)))
        whole = compose(panels(1, n=2, style=style), columns=1, letters=False, style=style)
        picture = Image.open(io.BytesIO(written(whole, "png", style)))
        assert picture.width == alone.width == round(180 / 25.4 * dpi)
        one, other = (np.asarray(image.convert("L"), float) for image in (picture.crop((0, 0, *alone.size)), alone))
        assert np.abs(one - other).mean() < 6, "the same but for a shift of less than a pixel"
        assert (one < 128).sum() == pytest.approx((other < 128).sum(), rel=0.15)


def test_the_same_panels_give_the_same_bytes():
    first, second = (compose(panels(2), columns=2, letters=True, style=STYLE) for _ in range(2))
    for format in ("svg", "pdf", "png"):
        assert written(first, format, STYLE) == written(second, format, STYLE)
        assert written(first, format, STYLE) == written(first, format, STYLE), "written twice"


@pytest.mark.parametrize(
    ("least", "columns", "width", "expected"),
    [
        ([50, 50], 2, 85, 1),  # 40.5 mm each
        ([50, 50], 2, 104, 2),
        ([50, 50], 2, 103.9, 1),
        ([50, 50, 50], 3, 150, 2),  # 50, 50 and a row of its own
        ([50, 50, 150], 2, 150, 2),
        ([50, 90, 50, 50], 4, 180, 1),
        ([50, 85, 50, 50], 4, 180, 2),
    ],
)
def test_as_many_panels_stand_in_a_row_as_can_be_read(least, columns, width, expected):
    assert fitting_columns(least, columns, width) == expected
