"""The pen for the screen: a drawing becomes plotly's dictionary of traces and layout.

No drawing needs plotly itself: it checks every value that it is given, which takes longer than drawing. Texts of a
drawing are plain, so here is the one place where they are escaped. Every mark has one function, in :data:`_PENS`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from math import ceil, floor, log10
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biobgt.base.colours import BLACK, BLACKISH, LINE_GREY, PALE_GREY, ink_on
from biobgt.base.wording import power_of_ten
from biobgt.figures import drawing as draw
from biobgt.figures.brain import Brain
from biobgt.figures.regions import RegionOrder
from biobgt.figures.screen.brain import brain_on_screen
from biobgt.figures.screen.flat import flat_brain, with_flat_brains

Dictionary = dict[str, Any]

TOOLBAR = 34  # px; plotly lays its buttons over the upper right of a figure, so the title starts below them
_TITLE, _SUBTITLE, _LEGEND, _LEGEND_LINE = 48, 16, 36, 20  # px above the panels
_MOST_IN_A_LINE = 4  # entries of a legend
_GAP, _TITLED_GAP = 0.06, 0.14  # between panels, as a share of the figure; with a title of an axis in it
_WIDTH, _THIN = 2.2, 1.4  # px, of lines
# Square maps are as high as they are wide. This is the width of a page in a window of 1280 px; what is wider would
# only part the maps. On a narrower page the figure is lower: see :func:`height_by_width`.
PAGE_WIDTH, _NARROW_WIDTH = 820, 470
_NAMES_WIDTH, _LARGEST_MAP, _MAP_GAP, _MAP_ROW_GAP = 130, 408, 0.03, 0.1
_BAR_TOP, _BAR_BOTTOM = 50, 104  # px below the toolbar, of a colour bar under the title with its numbers
_PANEL_TITLES = {0: 6, 1: 22, 2: 42}  # px above panels, by the lines of their titles
_SMALL_LINE = "<span style='font-size:3px'> </span>"  # plotly sets the last line of a bar's title onto the bar
_BLOCK_LINE = {"color": "rgba(60, 60, 60, 0.55)", "width": 1}
_BESIDE_WIDTH, _BESIDE_LETTER = 70, 6.2  # px, of what stands at the right of rows, at least, and of a letter of it
_FRAME_LINE = {"color": BLACKISH, "width": 2.5}
_DIVIDER = {"color": "rgba(128, 128, 128, 0.6)", "width": 1}  # seen on a light and on a dark page
# A click picks a point; the others do not fade, because all of them still count.
_UNSELECTED = {"marker": {"opacity": 0.75}}


@dataclass(frozen=True)
class _Sheet:
    """What is put together for plotly."""

    drawing: draw.Drawing
    traces: list[Dictionary] = field(default_factory=list)
    shapes: list[Dictionary] = field(default_factory=list)
    notes: list[Dictionary] = field(default_factory=list)
    around: Dictionary = field(default_factory=dict)  # height and margins, of a mark that needs its own

    def trace(self, mark: draw.Mark, at: "_Place", **about: Any) -> None:
        """Add a trace, named once for all marks of its name."""
        named = any(trace.get("name") == _plain(mark.name) for trace in self.traces)
        alike = sum(other.name == mark.name for other in self.drawing.marks) > 1
        self.traces.append(
            {
                "type": "scatter",
                **({"name": _plain(mark.name)} if mark.name else {}),
                "showlegend": bool(mark.name) and not named,
                **({"legendgroup": mark.name} if mark.name and alike else {}),
                **({"hovertemplate": f"{_plain(mark.hover)}<extra></extra>"} if mark.hover else {"hoverinfo": "skip"}),
                **({"text": [_plain(text) for text in mark.texts]} if mark.texts else {}),
                **({} if mark.ids is None else {"customdata": np.asarray(mark.ids), "unselected": _UNSELECTED}),
                **at.axes,
                **about,
            }
        )


@dataclass(frozen=True)
class _Place:
    """A panel and its number among all."""

    panel: draw.Panel
    number: int

    @property
    def suffix(self) -> str:
        """What plotly appends to the names of its axes: nothing for the first, then 2, 3 and so on."""
        return str(self.number + 1) if self.number else ""

    @property
    def axes(self) -> dict[str, str]:
        """The axes on which its traces lie."""
        return {"xaxis": f"x{self.suffix}", "yaxis": f"y{self.suffix}"}

    def xy(self, x: ArrayLike, y: ArrayLike) -> Dictionary:
        """Where points lie."""
        return {"x": _along(self.panel.x, x), "y": _along(self.panel.y, y)}


def draw_on_screen(drawing: draw.Drawing) -> Dictionary:
    """Draw for the screen.

    Parameters
    ----------
    drawing : Drawing

    Returns
    -------
    dict
        ``data`` and ``layout``, as plotly takes them. Arrays are arrays:
        :func:`biobgt.figures.screen.page.page_contents` makes bytes of them.
    """
    brains = [mark for mark in drawing.marks if isinstance(mark, Brain)]
    if len(brains) == 1:  # it takes the whole page
        return brain_on_screen(brains[0], _frame(drawing))
    drawing = with_flat_brains(drawing) if brains else drawing
    sheet = _Sheet(drawing)
    layout = _frame(drawing)
    for number, panel in enumerate(drawing.panels):
        at = _Place(panel, number)
        layout |= {} if any(isinstance(mark, draw.Flow) for mark in panel.marks) else _axes(drawing, at)
        if panel.title:
            middle, top = sum(layout[f"xaxis{at.suffix}"]["domain"]) / 2, layout[f"yaxis{at.suffix}"]["domain"][1]
            above = {"xref": "paper", "yref": "paper", "xanchor": "center", "yanchor": "bottom", "showarrow": False}
            sheet.notes.append({**above, "x": middle, "y": top, "text": _plain(panel.title), "font": {"size": 13}})
        if panel.y.beside:
            right = {"xref": f"x{at.suffix} domain", "x": 1, "xanchor": "left", "yref": f"y{at.suffix}"}
            right |= {"yanchor": "middle", "showarrow": False, "font": {"size": 11}}
            rows = zip(panel.y.beside, _along(panel.y, range(len(panel.y.names))), strict=True)
            sheet.notes.extend({**right, "y": y, "text": _plain(text)} for text, y in rows)
            longest = round(_BESIDE_LETTER * max(map(len, panel.y.beside)))
            sheet.around["margin"] = layout["margin"] | {"r": max(_BESIDE_WIDTH, longest)}
        for mark in panel.marks:
            _PENS[type(mark)](mark, at, sheet)
    order = drawing.panels[-1].x.order
    if order is not None and drawing.shades is None:
        across = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "line": _DIVIDER}
        sheet.shapes.extend({**across, "x0": end - 0.5, "x1": end - 0.5} for _, _, end in order.blocks[:-1])
    layout |= {**sheet.around, "shapes": sheet.shapes, "annotations": sheet.notes}
    return {"data": sheet.traces, "layout": layout}


def _plain(text: str) -> str:
    return escape(text, quote=False).replace("\n", "<br>")


def _along(axis: draw.Axis, values: ArrayLike) -> NDArray[Any]:
    """Places along an axis; one of names is told the names."""
    if not axis.names or axis.ticks is not None:
        return np.asarray(values)
    names = np.array([_plain(name) for name in axis.names], dtype=object)
    return names[np.asarray(values, dtype=int)]


# What is around panels: title, legend, colour bar, and the height of all.


def _frame(drawing: draw.Drawing) -> Dictionary:
    """Title, height, margins and legend; a simulated subject's title says so."""
    above, shades, by_width = drawing.legend == "above", drawing.shades, height_by_width(drawing)
    height = by_width.at(PAGE_WIDTH) if by_width else drawing.height + TOOLBAR
    title: Dictionary = {
        "text": _plain(drawing.title) + (" · simulated" if drawing.simulated else ""),
        "font": {"size": 15},
        "x": 0,
        "xanchor": "left",
        "y": 1,
        "yanchor": "top",
        "yref": "container",
        "pad": {"t": TOOLBAR},
    }
    if drawing.subtitle:
        title["subtitle"] = {"text": _plain(drawing.subtitle), "font": {"size": 13}}
    legend = {"orientation": "h", "x": 0, "title": {"text": ""}}
    colours: Dictionary = {}
    if shades is not None:
        # Its place is a share of the height: right below the title on a narrow page, a little lower on a wide one.
        colours["coloraxis"] = _colour_axis(shades, drawing, by_width.at(_NARROW_WIDTH) if by_width else height)
        of_regions = [mark for panel in drawing.panels if panel.y.order is not None for mark in panel.marks]
        if any(np.isnan(mark.z).any() for mark in of_regions if isinstance(mark, draw.Heatmap)):
            colours["plot_bgcolor"] = draw.GAP_COLOUR  # no value is not white, which is zero
    return {
        "title": title,
        "height": height,
        "margin": {"l": 8, "r": 12, "t": _top(drawing), "b": 8},
        **colours,
        # Below the plot further lines of a legend push nothing away.
        "legend": legend | ({"y": 1.0, "yanchor": "bottom"} if above else {"y": -0.2, "yanchor": "top"}),
        "showlegend": drawing.legend != "none",
        "barmode": "stack",
        "bargap": 0,
        **({"hovermode": "x unified", "hoversubplots": "axis"} if drawing.together else {}),
    }


def _top(drawing: draw.Drawing) -> int:
    """Room above the panels, in px: for toolbar, title, legend or colour bar, and titles of panels."""
    lines = max((1 + panel.title.count("\n") for panel in drawing.panels if panel.title), default=0)
    above = drawing.legend == "above"
    if drawing.shades is not None and above:
        return TOOLBAR + _BAR_BOTTOM + _PANEL_TITLES[lines] + (18 if drawing.square_mm and lines else 0)
    n_named = len({mark.name for mark in drawing.marks if mark.name})
    further = _LEGEND_LINE * (above and n_named > _MOST_IN_A_LINE)
    titles = _PANEL_TITLES[lines] if lines else 0
    return TOOLBAR + _TITLE + _SUBTITLE * bool(drawing.subtitle) + _LEGEND * above + further + titles


@dataclass(frozen=True)
class ScreenHeight:
    """How high a figure is on the screen by how wide it is, for one whose maps are square.

    Attributes
    ----------
    around : int
        What is around the maps takes of the height, in px.
    beside : int
        What is beside them takes of the width.
    share : float
        Height of all maps per width that is left.
    largest : int
        The most that all maps take of the height.
    """

    around: int
    beside: int
    share: float
    largest: int

    def at(self, width: float) -> int:
        """The height at a width, in px."""
        return round(self.around + min(self.largest, (width - self.beside) * self.share))


def height_by_width(drawing: draw.Drawing) -> ScreenHeight | None:
    """How the height on the screen follows the width; None where the height is always the same."""
    if drawing.height:
        return None
    n_rows, in_row = -(-len(drawing.panels) // drawing.columns), drawing.columns
    rows = n_rows / (1 - _MAP_ROW_GAP * (n_rows - 1))
    share = rows * (1 - _MAP_GAP * (in_row - 1)) / in_row
    return ScreenHeight(_top(drawing) + 8, _NAMES_WIDTH, share, round(rows * _LARGEST_MAP))


def _colour_axis(shades: draw.Shades, drawing: draw.Drawing, height: int) -> Dictionary:
    """The scale of colours with its bar: under the title, where no square shrinks away from it, or below."""
    bar: Dictionary = {"orientation": "h", "thickness": 10, "outlinewidth": 1, "outlinecolor": PALE_GREY}
    quantity = _plain(shades.quantity)
    if drawing.legend == "above":
        place = {"len": 0.6, "yref": "container", "y": 1 - _BAR_TOP / (height - TOOLBAR), "yanchor": "top", "ypad": 0}
        bar |= place | {"title": {"text": f"{quantity}<br>{_SMALL_LINE}", "side": "top"}}
    else:
        x = drawing.panels[-1].x
        y = -0.24 if not x.names else -0.03 if x.order is not None and x.order.blocks else -0.1
        bar |= {"len": 0.7, "y": y, "yanchor": "top", "title": {"text": quantity, "side": "bottom"}}
    low, high = (log10(shades.low), log10(shades.high)) if shades.log else (shades.low, shades.high)
    if shades.log:
        powers = _powers(low, high)
        bar |= {"tickvals": list(powers), "ticktext": [power_of_ten(power) for power in powers]}
    if shades.ticks:
        bar["tickvals"] = list(shades.ticks)
    colours = shades.colours if isinstance(shades.colours, str) else [[i, end] for i, end in enumerate(shades.colours)]
    return {"colorscale": colours, "cmin": low, "cmax": high, "colorbar": bar}


def _powers(low: float, high: float) -> range:
    """The powers of ten within a logarithmic scale, by the logarithms of its ends."""
    return range(ceil(low - 1e-9), floor(high + 1e-9) + 1)


# What lies along the sides of panels.


def _axes(drawing: draw.Drawing, at: _Place) -> Dictionary:
    """The two axes of a panel, in its row and column."""
    n, columns, square = len(drawing.panels), drawing.columns, bool(drawing.square_mm)
    row, column = divmod(at.number, columns)
    widths = _spans([1.0] * columns, _MAP_GAP if square else _TITLED_GAP if drawing.own_y else _GAP)
    heights = [drawing.panels[first].height for first in range(0, n, columns)]
    up = _spans(heights[::-1], _MAP_ROW_GAP if square else _GAP)[::-1]
    below, left = at.number + columns, at.number - column
    x: Dictionary = {"domain": widths[column], "anchor": f"y{at.suffix}"} | _axis(
        at.panel.x, shown=below >= n or square
    )
    y: Dictionary = {"domain": up[row], "anchor": f"x{at.suffix}", "automargin": True} | _axis(
        at.panel.y, shown=column == 0 or drawing.own_y
    )
    if not at.panel.marks:
        x["visible"] = y["visible"] = False
    if at.panel.y.order is not None:
        if at.panel.x.order is not None:  # names at the rows serve the columns too, and leave room for the map
            x["tickvals"] = []
            x.pop("title", None)  # plotly would leave room for an empty one
        y |= _names_apart(at.panel.y, columns) if column == 0 and at.panel.y.colours else {}
    if columns > 1 and not at.panel.x.names:
        x["nticks"] = 4  # on a narrow page a panel has room for no more
    if square:
        x["constrain"] = y["constrain"] = "domain"
        y |= {"scaleanchor": f"x{at.suffix}", "scaleratio": 1, "constraintoward": "top"}
        return {f"xaxis{at.suffix}": x, f"yaxis{at.suffix}": y}
    if below < n:
        last = _Place(at.panel, column + columns * ((n - 1 - column) // columns))
        x["matches"] = f"x{last.suffix}"
    if column and not drawing.own_y:
        y["matches"] = f"y{_Place(at.panel, left).suffix}"
    return {f"xaxis{at.suffix}": x, f"yaxis{at.suffix}": y}


def _spans(sizes: Sequence[float], gap: float) -> list[list[float]]:
    """Start and end of panels in a row, as shares of the figure."""
    filled, whole, start, spans = 1 - gap * (len(sizes) - 1), sum(sizes), 0.0, []
    for size in sizes:
        end = start + filled * size / whole
        spans.append([start, min(end, 1.0)])
        start = end + gap
    return spans


def _names_apart(axis: draw.Axis, columns: int) -> Dictionary:
    """One name per block in its colour, moved apart where panels side by side leave little height."""
    order = axis.order
    assert order is not None
    lines = max((1 + name.count("\n") for name, _, _ in order.blocks), default=1)
    share = min(lines * {1: 1 / 19, 2: 1 / 10}.get(columns, 1 / 7), 1 / max(len(order.blocks), 1))
    names = _along(axis, range(len(axis.names)))
    coloured = zip(order.blocks, axis.colours, strict=True)
    return {
        "tickvals": [names[row] for row in _rows_apart(order, share)],
        "ticktext": [f'{_plain(name)} <span style="color:{colour}">■</span>' for (name, _, _), colour in coloured],
        "ticks": "",
        "ticklabelstandoff": 14 if columns == 1 else 8,
        "tickfont": {"size": 11 if columns < 3 else 10},
    }


def _rows_apart(order: RegionOrder, share: float) -> list[int]:
    """The row at which each block's name stands: its middle, moved where small blocks would write over another."""
    step = max(1, round(len(order.order) * share))
    rows = [(start + end - 1) // 2 for _, start, end in order.blocks]
    for i in range(1, len(rows)):
        rows[i] = max(rows[i], rows[i - 1] + step)
    last = len(order.order) - 1
    for i in reversed(range(len(rows))):
        rows[i] = min(rows[i], last)
        last = rows[i] - step
    return [max(0, row) for row in rows]


def _axis(axis: draw.Axis, *, shown: bool) -> Dictionary:
    """Scale, ends and ticks; what is said beside it is said by one panel of those that share it."""
    found: Dictionary = {"visible": False, "fixedrange": True} if axis.hidden else {"zeroline": axis.zero}
    found["exponentformat"] = "power"  # and not µ or k
    low, high = (None if end is None else log10(end) if axis.log else end for end in axis.limits)
    if (low, high) == (0, None):
        found["rangemode"] = "tozero"
    elif low is not None or high is not None:
        found["range"] = [high, low] if axis.reversed else [low, high]
    elif axis.reversed:
        found["autorange"] = "reversed"
    if axis.log:
        found["type"] = "log"
    if axis.ticks is not None:
        found["tickvals"] = list(axis.ticks)
    elif axis.log and low is not None and high is not None:
        powers = _powers(low, high)
        found |= {"tickvals": [10.0**power for power in powers], "ticktext": [power_of_ten(power) for power in powers]}
    if axis.percent:
        found["tickformat"] = ".0%"
    if axis.names and axis.ticks is not None:
        # Plotly would leave out a slanted name that reaches the edge.
        found |= {"ticktext": [_plain(name) for name in axis.names], "ticklabeloverflow": "allow", "automargin": True}
        found["showgrid"] = False
    elif axis.names:
        names = _along(axis, range(len(axis.names)))
        found |= {"type": "category", "categoryorder": "array", "categoryarray": names, "showgrid": False}
        found |= {"dtick": 1, "tickfont": {"size": 11}} if axis.order is None else _block_ticks(axis, names)
    if not shown:
        return found | {"showticklabels": False}
    named = axis.order is not None and axis.order.blocks  # and needs no title
    return found | ({"title": {"text": _plain(axis.title)}} if axis.title and not named else {})


def _block_ticks(axis: draw.Axis, names: NDArray[Any]) -> Dictionary:
    """One tick per block, named; hundreds of region names would not be readable and show on hover instead."""
    assert axis.order is not None
    # Names of networks that do not fit stand upright: slanted ones lie below the network beside theirs.
    found: Dictionary = {"automargin": True, "autotickangles": [0, -90]}
    if not axis.order.blocks:
        return found | {"showticklabels": False, "ticks": ""}
    middles = [names[(start + end - 1) // 2] for _, start, end in axis.order.blocks]
    return found | {"tickvals": middles, "ticktext": [_plain(name) for name, _, _ in axis.order.blocks]}


# Marks.


def _curve(mark: draw.Curve, at: _Place, sheet: _Sheet) -> None:
    line: Dictionary = {"color": mark.colour, "width": _THIN if mark.thin else _WIDTH, "dash": mark.dash}
    about: Dictionary = {"mode": "lines", "line": line | ({"shape": "hv"} if mark.steps else {})}
    if mark.symbol or mark.ids is not None:
        # A line alone cannot be clicked: small points on it are what picks a region.
        size = 6 if mark.symbol else 3 if mark.thin else 4.5
        marker = {"color": mark.colour, "size": size, "symbol": mark.symbol or "circle"}
        about |= {"mode": "lines+markers", "marker": marker}
    if mark.filled:
        about |= {"fill": "tozeroy", "opacity": 0.8}
    sheet.trace(mark, at, **at.xy(mark.x, mark.y), **about)


def _band(mark: draw.Band, at: _Place, sheet: _Sheet) -> None:
    """One closed outline, shown and hidden with its curve."""
    x, low, high = np.asarray(mark.x), np.asarray(mark.low), np.asarray(mark.high)
    outline = at.xy(np.concatenate([x, x[::-1]]), np.concatenate([high, low[::-1]]))
    look = {"fill": "toself", "fillcolor": mark.colour, "opacity": 0.2, "mode": "lines", "line": {"width": 0}}
    sheet.trace(draw.Mark(), at, **outline, **look, legendgroup=mark.name)


def _points(mark: draw.Points, at: _Place, sheet: _Sheet) -> None:
    marker: Dictionary = {"color": mark.colour, "size": mark.size, "symbol": mark.symbol, "opacity": mark.opacity}
    if mark.hollow:
        marker |= {"symbol": f"{mark.symbol}-open", "line": {"width": mark.size / 5}}
    elif mark.edged:
        marker |= {"line": {"width": 1}}
    about: Dictionary = {"mode": "markers+lines" if mark.joined else "markers", "marker": marker}
    if mark.joined:
        about["line"] = {"color": mark.colour, "width": 1}
    if mark.low is not None and mark.high is not None:
        value, low, high = np.asarray(mark.x if mark.across == "x" else mark.y), np.asarray(mark.low), mark.high
        reach = {"type": "data", "array": np.asarray(high) - value, "arrayminus": value - low}
        about[f"error_{mark.across}"] = reach | {"color": mark.colour, "thickness": 1.5}
    if mark.labels:
        about |= {"mode": "markers+text", "text": [f"  {_plain(label)}" for label in mark.labels]}
        about |= {"textposition": "middle right", "cliponaxis": False}
    if mark.people:
        about["meta"] = {"people": list(mark.people)}
    sheet.trace(mark, at, **at.xy(mark.x, mark.y), **about)


def _bars(mark: draw.Bars, at: _Place, sheet: _Sheet) -> None:
    look = {"type": "bar", "width": mark.width, "marker": {"color": mark.colour, "line": {"width": 0}}}
    written: Dictionary = {"textposition": "none"}  # texts are for the pointer
    if mark.labels:
        written = {"text": [_plain(label) for label in mark.labels], "textposition": "outside"}
    sheet.trace(mark, at, **at.xy(mark.x, mark.y), **look, **written)


def _rule(mark: draw.Rule, at: _Place, sheet: _Sheet) -> None:
    """A line across the panel, with its name at the upper or the right end."""
    line = {"color": mark.colour, "dash": mark.dash, "width": 1 if mark.thin else 2}
    note = {"text": _plain(mark.name), "showarrow": False}
    if mark.x is not None:
        ends = {"xref": f"x{at.suffix}", "x0": mark.x, "x1": mark.x, "yref": f"y{at.suffix} domain", "y0": 0, "y1": 1}
        place = {"xref": ends["xref"], "x": mark.x, "yref": ends["yref"], "y": 1, "yanchor": "top"}
        low, high = at.panel.x.limits
        beyond_middle = low is None or high is None or mark.x > (low + high) / 2
        note |= place | {"xanchor": "right" if beyond_middle else "left"}
    else:
        ends = {"yref": f"y{at.suffix}", "y0": mark.y, "y1": mark.y, "xref": f"x{at.suffix} domain", "x0": 0, "x1": 1}
        place = {"xref": f"x{at.suffix} domain", "x": 1, "xanchor": "right", "yref": f"y{at.suffix}", "y": mark.y}
        note |= place | {"yanchor": "bottom"}
    sheet.shapes.append({"type": "line", **ends, "line": line, "opacity": mark.opacity})
    if mark.name:
        sheet.notes.append(note)


def _boxes(mark: draw.Boxes, at: _Place, sheet: _Sheet) -> None:
    look = {"line": {"color": mark.colour, "width": 1.2}, "fillcolor": "rgba(0,0,0,0)", "boxpoints": False}
    x = _along(at.panel.x, [mark.x])
    sheet.trace(mark, at, type="box", x0=x[0], y=np.asarray(mark.values), width=0.5, hoverinfo="skip", **look)


def _heatmap(mark: draw.Heatmap, at: _Place, sheet: _Sheet) -> None:
    shades, panel = mark.shades, at.panel
    shown = np.log10(np.clip(mark.z, shades.low, None)) if shades.log else mark.z
    rows = _along(panel.y, range(len(shown)))
    columns = np.asarray(mark.x) if mark.x is not None else _along(panel.x, range(shown.shape[1]))
    about: Dictionary = {"x": columns, "y": rows, "z": shown.astype(np.float32)}  # half the bytes to the browser
    if shades.log:
        about["customdata"] = mark.z.astype(np.float32)
        mark = replace(mark, hover=mark.hover.replace("%{z", "%{customdata"))
    if mark.hovers:
        about["text"] = [[_plain(text) for text in row] for row in mark.hovers]
    if mark.ids is not None:
        blocks = () if panel.y.order is None else panel.y.order.blocks
        about["meta"] = {"regions": np.asarray(mark.ids).tolist(), "blocks": [list(block) for block in blocks]}
        about["meta"]["title"] = panel.title.replace("\n", " ")
    sheet.trace(replace(mark, ids=None), at, type="heatmap", coloraxis="coloraxis", **about)
    sheet.traces[-1].pop("showlegend")
    sheet.shapes.extend(_block_shapes(panel, at))
    x, y = f"x{at.suffix}", f"y{at.suffix}"
    for top, bottom, left, right in mark.frames:
        corners = {"x0": left - 0.5, "x1": right - 0.5, "y0": top - 0.5, "y1": bottom - 0.5}
        sheet.shapes.append({"type": "rect", "xref": x, "yref": y, **corners, "line": _FRAME_LINE, "name": "marked"})
    reach = max(abs(shades.low), abs(shades.high))
    for row, texts in enumerate(mark.cells):
        for column, text in enumerate(texts):
            place = {"xref": x, "yref": y, "x": columns[column], "y": rows[row], "showarrow": False}
            ink = {"size": 12, "color": ink_on(float(mark.z[row, column]) / reach)}
            sheet.notes.extend([{**place, "text": _plain(text), "font": ink}] if text else [])


def _block_shapes(panel: draw.Panel, at: _Place) -> list[Dictionary]:
    """Lines between the blocks of a map, and bars in their colours beside its rows."""
    order, x, y = panel.y.order, f"x{at.suffix}", f"y{at.suffix}"
    if order is None:
        return []
    n, ends = len(order.order), [end - 0.5 for _, _, end in order.blocks[:-1]]
    both = panel.x.order is not None
    span = {"x0": -0.5, "x1": n - 0.5, "xref": x} if both else {"xref": f"{x} domain", "x0": 0, "x1": 1}
    lines = [{"type": "line", **span, "yref": y, "y0": end, "y1": end, "line": _BLOCK_LINE} for end in ends]
    if both:
        down = {"xref": x, "yref": y, "y0": -0.5, "y1": n - 0.5}
        lines += [{"type": "line", **down, "x0": end, "x1": end, "line": _BLOCK_LINE} for end in ends]
    # Beside the map wherever its square shape puts its edge.
    beside = {"type": "rect", "xref": f"{x} domain", "x0": -0.022, "x1": -0.008, "yref": y, "line": {"width": 0}}
    return lines + [
        {**beside, "y0": start - 0.3, "y1": end - 0.7, "fillcolor": colour}
        for (_, start, end), colour in zip(order.blocks, panel.y.colours, strict=False)
    ]


_CHORD_WIDTHS, _ARC_WIDTH, _LABEL_LINE = (0.8, 1.6, 2.6, 4.0), 7, 0.13  # px; and of a name, in radii

_RING, _RING_AND_NAMES = 1.35, 1.75  # half of what a ring of radius 1 takes, and its names beside it
_LONG_LABEL, _FEW_LABELS = 8, 9  # letters of a name that is broken, where there are so few names


def _chords(mark: draw.Chords, at: _Place, sheet: _Sheet) -> None:
    """Chords below the ring of regions; a trace has one width and one colour, and tells which regions it joins."""
    curves, n_widths, ids = mark.curves, len(_CHORD_WIDTHS), np.asarray(mark.ids)
    steps = np.clip((mark.shares * n_widths).astype(int), 0, n_widths - 1)
    for sign, (name, colour) in mark.signs.items():
        for step in np.unique(steps[np.sign(mark.weights) == sign]):
            chosen = (np.sign(mark.weights) == sign) & (steps == step)
            x, y = np.pad(curves[chosen], ((0, 0), (0, 1), (0, 0)), constant_values=np.nan).reshape(-1, 2).T
            look = {"mode": "lines", "line": {"color": colour, "width": _CHORD_WIDTHS[step]}, "opacity": 0.55}
            ends = {"meta": {"chords": ids[mark.pairs[chosen]].tolist()}, "legendgroup": name}
            sheet.trace(draw.Mark(name=name), at, x=x, y=y, **look, **ends)
    for _, colour, arc in mark.arcs:
        x, y = draw.round_circle(arc, draw.ARC_AT).T
        sheet.trace(draw.Mark(), at, x=x, y=y, mode="lines", line={"color": colour, "width": _ARC_WIDTH})
    x, y = mark.places.T
    look = {"mode": "markers", "marker": {"color": LINE_GREY, "size": 3}}
    sheet.trace(replace(mark, texts=mark.texts or mark.names), at, x=x, y=y, **look)
    broken = len(mark.arcs) <= _FEW_LABELS
    for name, ((x0, y0), (x1, y1)) in mark.labels(_LABEL_LINE * (1 + broken)):
        ends = {"xref": f"x{at.suffix}", "yref": f"y{at.suffix}", "x0": x0, "y0": y0, "x1": x1, "y1": y1}
        sheet.shapes.append({"type": "line", **ends, "line": _DIVIDER})
        side = {"xanchor": "left", "xshift": 2} if x1 > 0 else {"xanchor": "right", "xshift": -2}
        place = {"xref": f"x{at.suffix}", "yref": f"y{at.suffix}", "x": x1, "y": y1, "showarrow": False}
        words = name.replace("-", "-\n").replace(" ", "\n") if broken and len(name) > _LONG_LABEL else name
        anchor = "middle" if abs(y1) < 1 or words == name else "top" if y1 < 0 else "bottom"
        look = {"yanchor": anchor, "align": side["xanchor"], "text": _plain(words), "font": {"size": 11}}
        sheet.notes.append({**place, **side, **look})
    hidden = {"visible": False, "fixedrange": True}
    square = {"scaleanchor": f"x{at.suffix}", "scaleratio": 1, "range": [-_RING, _RING]}
    sheet.around[f"xaxis{at.suffix}"] = {**hidden, "range": [-_RING_AND_NAMES, _RING_AND_NAMES]}
    sheet.around[f"yaxis{at.suffix}"] = {**hidden, **square}


def _brain(mark: Brain, at: _Place, sheet: _Sheet) -> None:
    named = {trace["legendgroup"] for trace in sheet.traces if trace.get("showlegend")}
    sheet.traces.extend(flat_brain(mark, at.axes, named))


_LONGEST_NAME = 21
_WIDTHS = (0.6, 1.4, 2.4, 3.6, 5.0)  # px, of connections, by steps of their weight


def _surroundings(mark: draw.Surroundings, at: _Place, sheet: _Sheet) -> None:
    """The region and its neighbours in a circle, without axes."""
    own, near, among = mark.colours
    rows, columns = mark.connections
    steps = np.clip((mark.shares * len(_WIDTHS)).astype(int), 0, len(_WIDTHS) - 1)
    places, n_near = mark.places, len(mark.names) - 1
    for colour, opacity, kind in ((among, 0.4, rows != 0), (near, 0.85, rows == 0)):
        for step in np.unique(steps[kind]):  # a trace has one width; NaN parts one line from the next
            chosen = kind & (steps == step)
            ends = places[rows[chosen]], places[columns[chosen]]
            x, y = np.stack([*ends, np.full_like(ends[0], np.nan)], axis=1).reshape(-1, 2).T
            line = {"color": colour, "width": _WIDTHS[step]}
            sheet.trace(draw.Mark(), at, x=x, y=y, mode="lines", line=line, opacity=opacity)
    notes = ["the region itself", *(f"weight {weight:.3g}" for weight in mark.weights[0, 1:])]
    sheet.trace(
        draw.Mark(name="regions", hover="%{hovertext}", ids=mark.ids),
        at,
        x=places[:, 0],
        y=places[:, 1],
        mode="markers+text",
        marker={"color": [own] + [near] * n_near, "size": [20] + [10] * n_near, "opacity": 1, "line": {"width": 1}},
        text=["", *map(_shortened, mark.names[1:])],
        textposition=np.where(places[:, 0] > 0, "middle right", "middle left").tolist(),
        textfont={"size": 11},
        cliponaxis=False,  # a long name may reach beyond the plot
        hovertext=[f"{_plain(name)}<br>{note}" for name, note in zip(mark.names, notes, strict=True)],
    )
    # In black on its colour: readable on lines, in a light and in a dark page.
    look = {"font": {"size": 11, "color": BLACK}, "bgcolor": own, "showarrow": False}
    sheet.notes.append({"x": 0, "y": 0, "yshift": 20, "text": f"<b>{_shortened(mark.names[0])}</b>", **look})


def _shortened(name: str) -> str:
    """A name short enough to stand in the drawing, with both ends: names of atlases end in the side, or a number."""
    return _plain(name if len(name) <= _LONGEST_NAME else f"{name[:10]}…{name[-10:]}")


_FLOW_BOTTOM, _FLOW_LINE, _FLOW_LETTER, _FLOW_BESIDE = 16, 14, 6.4, 12  # px: below, of names, and from flow to names


def _flow(mark: draw.Flow, at: _Place, sheet: _Sheet) -> None:
    """A Sankey diagram; its names stand beside the nodes, not on the flows, where plotly would write them."""
    lines, n_left = mark.lines, len(mark.names[0])
    pad = 2 + _FLOW_LINE * max(name.count("\n") + 1 for side in lines for name in side)
    height = (pad + 18) * max(n_left, len(mark.names[1]), 4)
    middles = _node_middles(mark, height, pad)
    rows, columns = mark.counts.nonzero()
    colours = [*mark.colours[0], *mark.colours[1]]
    node = {
        "label": [_plain(name) for side in mark.names for name in side],
        "color": colours,
        "x": [0.001] * n_left + [0.999] * len(mark.names[1]),
        "y": [*middles[0], *middles[1]],
        "pad": pad,
        "thickness": 16,
        "line": {"width": 0},
        "hovertemplate": "%{label}<br>%{value} regions<extra></extra>",
    }
    link = {
        "source": rows,
        "target": n_left + columns,
        "value": mark.counts[rows, columns],
        "color": [_faded(colours[row]) for row in rows],
        "hovertemplate": "%{source.label} → %{target.label}<br>%{value} regions<extra></extra>",
    }
    unwritten = {"color": "rgba(0, 0, 0, 0)", "size": 1, "shadow": "none"}
    about = {"arrangement": "fixed", "node": node, "link": link, "valueformat": "d", "textfont": unwritten}
    sheet.traces.append({"type": "sankey", **about})
    longest = [max(len(line) for name in side for line in name.split("\n")) for side in lines]
    top, beside = _top(sheet.drawing), [_FLOW_BESIDE + 6 + round(_FLOW_LETTER * letters) for letters in longest]
    margin = {"l": beside[0], "r": beside[1], "t": top, "b": _FLOW_BOTTOM}
    sheet.around.update({"height": top + height + _FLOW_BOTTOM, "margin": margin})
    for x, anchor, names, places, side in zip((0, 1), ("right", "left"), lines, middles, mark.sides, strict=True):
        place = {"x": x, "xref": "paper", "yref": "paper", "xanchor": anchor, "showarrow": False}
        place["xshift"] = _FLOW_BESIDE if x else -_FLOW_BESIDE
        sheet.notes.extend(
            {**place, "text": _plain(name), "y": 1 - middle, "yanchor": "middle", "align": anchor}
            for name, middle in zip(names, places, strict=True)
        )
        sheet.notes.append({**place, "text": f"<b>{_plain(side)}</b>", "y": 1, "yanchor": "bottom", "yshift": 8})


def _node_middles(mark: draw.Flow, height: float, pad: float) -> tuple[list[float], list[float]]:
    """The middle of each node from the top, as a share of the height."""
    sizes = mark.counts.sum(axis=1), mark.counts.sum(axis=0)[mark.order]
    scale = min((height - pad * (len(size) - 1)) / size.sum() for size in sizes)
    middles = []
    for size in sizes:
        ends = np.cumsum(size * scale + pad) - pad
        middles.append((ends - size * scale / 2 + (height - ends[-1]) / 2) / height)
    placed = np.empty(len(mark.order))
    placed[mark.order] = middles[1]
    return middles[0].tolist(), placed.tolist()


def _faded(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, 0.45)"


_PENS: Mapping[type[draw.Mark], Callable[[Any, _Place, _Sheet], None]] = {
    draw.Curve: _curve,
    draw.Band: _band,
    draw.Points: _points,
    draw.Bars: _bars,
    draw.Boxes: _boxes,
    draw.Heatmap: _heatmap,
    draw.Rule: _rule,
    draw.Surroundings: _surroundings,
    draw.Flow: _flow,
    draw.Chords: _chords,
    Brain: _brain,
}
