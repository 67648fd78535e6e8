"""Maps of attention side by side on one colour scale, or they could not be compared.

Attention is in multiples of uniform attention (1 is even); rows look, columns are looked at.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biobgt.base.colours import SEQUENTIAL
from biobgt.figures.figure import Figure
from biobgt.figures.frame import BAR_BOTTOM, TOOLBAR, bar_above, in_panel, layout, panel_titles
from biobgt.figures.region_order import RegionOrder, matrix_numbers
from biobgt.figures.screen import ScreenHeight
from biobgt.figures.square_maps import PANEL_GAP, block_shapes, square_axes
from biobgt.model.attention import BesideConnectivity, beside_connectivity

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.model.installed import InstalledModel

Matrix = NDArray[np.float64]
QUANTITY = "attention (1 = uniform)"
# Square maps are as high as they are wide. These are the widths of a page in windows of 1280 and 800 px; what is
# wider would only part the maps. On a narrower page the figure is lower: see ``screen_height``.
PAGE_WIDTH, NARROW_WIDTH = 820, 470
_NAMES_WIDTH, _LARGEST_MAP = 130, 408
_ROW_GAP = 0.1  # of the height of all maps, between two rows: titles of two lines fit there on a narrow page, too
_BAR_ROOM = BAR_BOTTOM + 18
_TITLES = {1: 22, 2: 42}  # px above the maps, by the lines of their titles


@dataclass(frozen=True, eq=False, kw_only=True)
class MapsBeside(Figure):
    """Maps of attention side by side, on one colour scale.

    Attributes
    ----------
    regions : sequence of str, length n_regions
        Named on the screen only.
    order : RegionOrder
        The same for all maps.
    limits : (float, float)
        Ends of the colour scale.
    rows : tuple of int
        How many maps stand in each row; empty for one row.
    """

    least_mm = 80

    regions: Sequence[str]
    order: RegionOrder
    limits: tuple[float, float]
    rows: tuple[int, ...] = ()

    @property
    @abstractmethod
    def panels(self) -> Mapping[str, Matrix]:
        """The maps, shape (n_regions, n_regions) each, by what stands above them."""

    def plotly(self) -> "go.Figure":
        """Draw them for the screen; regions show on hover."""
        import plotly.graph_objects as go

        names = [escape(self.regions[i], quote=False) for i in self.order.order]
        traces = [
            {
                "type": "heatmap",
                "z": matrix[np.ix_(self.order.order, self.order.order)].astype(np.float32),
                "x": names,
                "y": names,
                "name": name,
                "coloraxis": "coloraxis",
                "hovertemplate": "%{y} looks at<br>%{x}<br>%{z:.2f} × uniform<extra></extra>",
                **in_panel(panel),
            }
            for panel, (name, matrix) in enumerate(self.panels.items())
        ]
        n_panels, rows = len(traces), self._rows
        titles = [escape(name, quote=False).replace("\n", "<br>") for name in self.panels]
        axes = square_axes(self.order, names, panels=n_panels, rows=rows, row_gap=_ROW_GAP)
        height = self.screen_height.at(PAGE_WIDTH) - TOOLBAR
        # Its place is a share of the height: right below the title on a narrow page, and a little lower on a wide one.
        bar = bar_above(QUANTITY, self.screen_height.at(NARROW_WIDTH) - TOOLBAR)
        low, high = self.limits
        scale = {"colorscale": SEQUENTIAL, "cmin": low, "cmax": high, "colorbar": bar}
        frame = {
            **layout(self.title, self.simulated, height=height, top=_BAR_ROOM + self._above_maps),
            **axes,
            "shapes": [shape for panel in range(n_panels) for shape in block_shapes(self.order, panel)],
            "annotations": panel_titles(titles, axes),
            "coloraxis": scale,
        }
        return go.Figure(traces, frame)

    @property
    def screen_height(self) -> ScreenHeight:
        """Maps are square, as wide as the page lets them be."""
        n_rows, in_row = len(self._rows), max(self._rows)
        rows = n_rows / (1 - _ROW_GAP * (n_rows - 1))
        share = rows * (1 - PANEL_GAP * (in_row - 1)) / in_row
        around = TOOLBAR + _BAR_ROOM + self._above_maps + 8
        return ScreenHeight(around, _NAMES_WIDTH, share, round(rows * _LARGEST_MAP))

    @property
    def _rows(self) -> tuple[int, ...]:
        return self.rows or (len(self.panels),)

    @property
    def _above_maps(self) -> int:
        """Room for what stands above each map, in px."""
        return _TITLES[1 if len(self._rows) == 1 else 2]

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw them for paper."""
        from biobgt.figures.paper.attention_drawings import draw_maps_beside

        return draw_maps_beside(self, style)

    def _numbers(self, column: str, maps: Mapping[str, Matrix]) -> "pd.DataFrame":
        """One row per region of every map, the map's name in a column of its own."""
        import pandas as pd

        frames = []
        for name, matrix in maps.items():
            frame = matrix_numbers(np.asarray(matrix, dtype=np.float64), self.regions, self.order)
            frame.insert(0, column, name, allow_duplicates=True)
            frames.append(frame)
        return pd.concat(frames, ignore_index=True)


def beside_group(model: "InstalledModel", group: str, attention: Matrix, order: RegionOrder) -> BesideConnectivity:
    """A group's attention beside its mean connectivity, with the modules by which regions are ordered.

    Parameters
    ----------
    model : InstalledModel
    group : str
    attention : ndarray, shape (n_regions, n_regions)
    order : RegionOrder
    """
    return beside_connectivity(attention, model.groups.connectivity[group], order.labels)
