"""Several figures as the lettered panels of one, exact in millimetres.

Every panel is a whole figure, drawn for its own width and at the height that suits it; the composed figure draws it at
its place. Text stays text, because the panels go through the same renderer as everything else.
"""

from collections.abc import Iterator, Sequence
from string import ascii_lowercase
from typing import Any

from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from biobgt.base.errors import InputError
from biobgt.figures.paper.frame import MM_PER_INCH, POINTS_PER_MM, drawing, line_height
from biobgt.figures.paper_style import PaperStyle

MOST_PANELS = len(ascii_lowercase)
_GAP_MM = 4.0  # between panels
_LETTER_GAP_MM = 0.5


class _ComposedFigure(Figure):
    """A figure that draws others at their places."""

    def __init__(self, **how: Any) -> None:
        self.panels: list[Figure] = []
        super().__init__(**how)

    @property
    def dpi(self) -> float:
        """Dots per inch; the panels always have the same, also where a part of a vector file is made of pixels."""
        return float(super().dpi)

    @dpi.setter
    def dpi(self, dpi: float) -> None:
        Figure.dpi.fset(self, dpi)  # type: ignore[attr-defined]  # the stubs take a property for a function
        for panel in self.panels:
            panel.dpi = dpi

    def place(self, panel: Figure, left_mm: float, top_mm: float) -> None:
        """Put a finished figure at its place.

        Parameters
        ----------
        panel : Figure
        left_mm, top_mm : float
            From the left and from the top of this figure to those of the panel.
        """
        width, height = panel.get_size_inches()
        left, bottom = left_mm / MM_PER_INCH, self.get_figheight() - top_mm / MM_PER_INCH - height
        panel.bbox_inches.p0 = (left, bottom)
        panel.bbox_inches.p1 = (left + width, bottom + height)
        self.panels.append(panel)
        panel.dpi = self.dpi

    def draw(self, renderer: RendererBase) -> None:
        """Draw what is its own, then the panels."""
        super().draw(renderer)
        for panel in self.panels:
            panel.draw(renderer)


def _panel_rows(n_panels: int, columns: int) -> list[int]:
    """How many panels stand in each row; those of a last row that is not full share its width."""
    full, rest = divmod(n_panels, columns)
    return [columns] * full + ([rest] if rest else [])


def panel_widths_mm(n_panels: int, columns: int, width_mm: float) -> list[float]:
    """Width of each panel.

    Parameters
    ----------
    n_panels : int
    columns : int
    width_mm : float
        Of the whole figure.
    """
    if not 1 <= n_panels <= MOST_PANELS:
        raise InputError(f"A figure has 1 to {MOST_PANELS} panels, one for each letter, not {n_panels}.")
    return [
        (width_mm - _GAP_MM * (in_row - 1)) / in_row for in_row in _panel_rows(n_panels, columns) for _ in range(in_row)
    ]


def width_needed_mm(least_mm: Sequence[float], columns: int) -> float:
    """Width that the whole figure needs for every panel to be as wide as it must be.

    Parameters
    ----------
    least_mm : sequence of float, length n_panels
        The least width of each panel.
    columns : int
    """
    rows = _rows(least_mm, columns)
    return max(max(row) * len(row) + _GAP_MM * (len(row) - 1) for row in rows)


def fitting_columns(least_mm: Sequence[float], columns: int, width_mm: float) -> int:
    """The most panels in a row, up to ``columns``, that leave each of them as wide as it must be; at least one.

    Parameters
    ----------
    least_mm : sequence of float, length n_panels
        The least width of each panel.
    columns : int
    width_mm : float
        Of the whole figure.
    """
    fits = (fewer for fewer in range(columns, 1, -1) if width_needed_mm(least_mm, fewer) <= width_mm)
    return next(fits, 1)


def compose(panels: Sequence[Figure], *, columns: int, letters: bool, style: PaperStyle) -> _ComposedFigure:
    """Arrange finished figures row by row, with a letter above each.

    Parameters
    ----------
    panels : sequence of matplotlib Figure
        Each as wide as :func:`panel_widths_mm` says.
    columns : int
        Panels in a row.
    letters : bool
        Whether a, b, c … stand above the panels.
    style : PaperStyle
        Of the whole figure.
    """
    size = style.font_size + 1
    above_mm = line_height(size) / POINTS_PER_MM + _LETTER_GAP_MM if letters else 0.0
    heights = [float(panel.get_figheight()) * MM_PER_INCH + above_mm for panel in panels]
    rows = list(_rows(heights, columns))
    total = sum(map(max, rows)) + _GAP_MM * (len(rows) - 1)
    with drawing(style):
        whole = _ComposedFigure(figsize=(style.width_mm / MM_PER_INCH, total / MM_PER_INCH), dpi=style.dpi)
        FigureCanvasAgg(whole)
        top, number = 0.0, 0
        for row in rows:
            left = 0.0
            for _ in row:
                if letters:
                    x, y = left / style.width_mm, 1 - top / total
                    whole.text(x, y, ascii_lowercase[number], fontsize=size, fontweight="bold", ha="left", va="top")
                whole.place(panels[number], left, top + above_mm)
                left += float(panels[number].bbox_inches.width) * MM_PER_INCH + _GAP_MM
                number += 1
            top += max(row) + _GAP_MM
    return whole


def _rows(sizes: Sequence[float], columns: int) -> Iterator[Sequence[float]]:
    """Sizes of the panels, row by row."""
    start = 0
    for in_row in _panel_rows(len(sizes), columns):
        yield sizes[start : start + in_row]
        start += in_row
