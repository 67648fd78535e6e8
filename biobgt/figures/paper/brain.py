"""Brains for paper: nodes in nilearn's glass brain or a painted cortex, each from several sides.

From top to bottom a heading, rows of named brains, a colour bar, a legend. Everything is placed in mm from the lower
left corner, so that the brains fill what the words leave, without borders. A connection between the hemispheres does
not show in the views of one hemisphere, only from the front and from above.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle
from string import ascii_lowercase
from typing import Any, Literal, NamedTuple

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from mpl_toolkits.mplot3d.axes3d import Axes3D
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.colours import DARK_GREY
from biobgt.base.errors import InputError
from biobgt.figures.brain import NO_VALUE, NODES, VIEWS, Brain, NodeGroup, painted_triangles, seen_from_left
from biobgt.figures.drawing import GAP_COLOUR, Drawing, Shades
from biobgt.figures.paper.frame import (
    MARKERS,
    MM_PER_INCH,
    POINTS_PER_MM,
    add_legend,
    drawing,
    full_title,
    line_height,
    new_figure,
    scale_of,
    wrapped,
)
from biobgt.figures.paper_style import PaperStyle

_TWO_COLUMNS_MM = 120.0  # from this width on, brains stand in two columns
_GLASS_ASPECT, _CORTEX_ASPECT = 0.277, 0.23  # height over width of four views side by side
_MARGIN_MM, _GAP_MM, _BAR_MM, _LOWEST_BRAIN_MM = 1.0, 1.0, 2.0, 10.0
_EDGE_COLOUR = "#6A4C93"  # neither an outline's grey nor a module's colour
_EDGE_WIDTHS = (0.3, 0.7, 1.2)
_DIAMETERS, _PLAIN_DIAMETER = (1.3, 5.0), 2.8  # points, of nodes in a brain of 83 mm
_UNNAMED = "regions"


class _Box(NamedTuple):
    """A place in the figure, in mm from its lower left corner."""

    left: float
    bottom: float
    width: float
    height: float

    def share(self, figure: Figure) -> tuple[float, float, float, float]:
        """The same as shares of the figure."""
        width, height = (inches * MM_PER_INCH for inches in figure.get_size_inches())
        return self.left / width, self.bottom / height, self.width / width, self.height / height


def brains_on_paper(shown: Drawing, style: PaperStyle) -> Figure:
    """Draw the brain of every panel, with one colour bar and one legend; brains with a title have letters.

    Parameters
    ----------
    shown : Drawing
        Whose marks are brains of the same regions, on one colour scale.
    style : PaperStyle
    """
    brains, shades = [mark for mark in shown.marks if isinstance(mark, Brain)], shown.shades
    columns = 2 if style.width_mm >= _TWO_COLUMNS_MM and len(brains) > 1 else 1
    width = (style.width_mm - (columns + 1) * _MARGIN_MM) / columns
    room = (style.width_mm - 2 * _MARGIN_MM) * POINTS_PER_MM
    heading = wrapped(full_title(shown.title, shown.simulated, style), room, style.font_size + 1, style)
    panel_texts = [
        wrapped(f"{letter}  {panel.title}", width * POINTS_PER_MM, style.font_size, style) if panel.title else ""
        for letter, panel in zip(cycle(ascii_lowercase), shown.panels, strict=False)
    ]
    with drawing(style):
        figure = new_figure(style)
        figure.set_layout_engine("none")
        bottom = _MARGIN_MM + _add_node_legend(figure, brains, style)
        if shades is not None:
            quantity = wrapped(shades.quantity, _bar_length_mm(style) * POINTS_PER_MM, style.font_size, style)
            shades = replace(shades, quantity=quantity)
        top = _MARGIN_MM + _text_mm(heading, style.font_size + 1)
        texts_mm = max(_text_mm(text, style.font_size) for text in panel_texts)
        around_mm = top + bottom + (0 if shades is None else _bar_room_mm(shades, style))
        natural_mm = width * (_GLASS_ASPECT if brains[0].kind == NODES else _CORTEX_ASPECT)
        brain_mm = _settle_height(figure, style, around_mm, texts_mm, natural_mm, -(-len(brains) // columns))
        _write(figure, heading, _MARGIN_MM, _MARGIN_MM, style.font_size + 1)
        for i, (brain, text) in enumerate(zip(brains, panel_texts, strict=True)):
            row, column = divmod(i, columns)
            left, down = _MARGIN_MM + column * (width + _MARGIN_MM), top + row * (texts_mm + brain_mm)
            _write(figure, text, left, down, style.font_size)
            box = _Box(left, _height_mm(figure) - down - texts_mm - brain_mm, width, brain_mm)
            draw = _draw_glass if brain.kind == NODES else _draw_cortex
            draw(figure, box, brain, None if shades is None else scale_of(shades), style)
        if shades is not None:
            _add_colour_bar(figure, shades, style, bottom_mm=bottom)
        return figure


def _add_node_legend(figure: Figure, brains: Sequence[Brain], style: PaperStyle) -> float:
    """Name the groups and the connections; the height that takes, in mm."""
    dot: dict[str, Any] = {"linestyle": "none", "markersize": 0.6 * style.font_size, "markeredgewidth": 0.2}
    parts = {part.name: part for brain in brains for part in brain.parts if part.name != _UNNAMED}
    handles = {
        name: Line2D([], [], marker=MARKERS[part.symbol], color=style.colour(part.colour), mec=DARK_GREY, **dot)
        for name, part in parts.items()
    }
    for brain, weight in [(one, weight) for one in brains for _, _, weight in one.connections]:
        name, colour, dash = _edge_look(brain, style, negative=weight < 0)
        handles[name] = Line2D([], [], color=colour, linewidth=_EDGE_WIDTHS[1], linestyle=dash if brain.signs else "-")
    if not handles:
        return 0.0
    legend = add_legend(figure, list(handles.values()), list(handles), style, place="lower left")
    figure.draw_without_rendering()
    return legend.get_window_extent().height / figure.dpi * MM_PER_INCH + _GAP_MM


def _settle_height(
    figure: Figure, style: PaperStyle, around_mm: float, texts_mm: float, natural_mm: float, n_rows: int
) -> float:
    """Give the figure its height; the height that is left for a brain, in mm."""
    if style.height_mm is None:
        height = around_mm + n_rows * (texts_mm + natural_mm)
        figure.set_size_inches(style.width_mm / MM_PER_INCH, height / MM_PER_INCH)
        return natural_mm
    brain_mm = (style.height_mm - around_mm) / n_rows - texts_mm
    if brain_mm < _LOWEST_BRAIN_MM:
        needed = around_mm + n_rows * (texts_mm + _LOWEST_BRAIN_MM)
        raise InputError(
            f"A height of {style.height_mm:g} mm leaves no room for the brains; choose at least {np.ceil(needed):g}, "
            "or none to let the figure choose."
        )
    return brain_mm


def _add_colour_bar(figure: Figure, shades: Shades, style: PaperStyle, *, bottom_mm: float) -> None:
    length = _bar_length_mm(style)
    bottom = bottom_mm + _bar_room_mm(shades, style) - _GAP_MM - _BAR_MM
    axes = figure.add_axes(_Box((style.width_mm - length) / 2, bottom, length, _BAR_MM).share(figure))
    ticks = FixedLocator(list(shades.ticks)) if shades.ticks else MaxNLocator(4)
    bar = figure.colorbar(scale_of(shades), cax=axes, orientation="horizontal", ticks=ticks)
    bar.outline.set_linewidth(0.5)
    bar.ax.tick_params(pad=1)
    bar.set_label(shades.quantity, labelpad=1)


def _bar_length_mm(style: PaperStyle) -> float:
    return min(60.0, 0.6 * style.width_mm)


def _bar_room_mm(shades: Shades, style: PaperStyle) -> float:
    n_lines = shades.quantity.count("\n") + 1
    named = line_height(style.font_size) * n_lines + 1 if shades.quantity else 0
    return _BAR_MM + (line_height(style.tick_size) + 3 + named) / POINTS_PER_MM + _GAP_MM


def _write(figure: Figure, text: str, left_mm: float, down_mm: float, size: float) -> None:
    """Write text whose upper left corner lies so many mm from the figure's left and top."""
    x, y = left_mm / (figure.get_figwidth() * MM_PER_INCH), 1 - down_mm / _height_mm(figure)
    if text:
        figure.text(x, y, text, fontsize=size, ha="left", va="top", linespacing=1.25)


def _text_mm(text: str, size: float) -> float:
    return (text.count("\n") + 1) * line_height(size) / POINTS_PER_MM + _GAP_MM if text else 0.0


def _height_mm(figure: Figure) -> float:
    return float(figure.get_figheight()) * MM_PER_INCH


def _coloured(part: NodeGroup, brain: Brain, scale: ScalarMappable | None, style: PaperStyle) -> FloatArray:
    """RGBA of the members of a group, shape (n_members, 4)."""
    if scale is None or brain.values is None or part.name == NO_VALUE:
        return np.tile(to_rgba(style.colour(part.colour)), (len(part.members), 1))
    return np.asarray(scale.to_rgba(brain.values[part.members]))


# A glass brain, seen from left, front, right and above.


def _draw_glass(figure: Figure, box: _Box, brain: Brain, scale: ScalarMappable | None, style: PaperStyle) -> None:
    from nilearn.plotting import plot_glass_brain  # brings pyplot, which nothing else here needs

    place = box.share(figure)
    display = plot_glass_brain(None, display_mode="lyrz", figure=figure, axes=place, annotate=False)
    for view in display.axes.values():
        for outline in view.ax.patches:  # made for a screen's width
            outline.set_linewidth(outline.get_linewidth() * min(1.0, box.width / 174))
        if view.direction in ("y", "z"):  # from the front and from above the outline leaves the upper corners free
            for side, x, ha in (("L", 0.0, "left"), ("R", 1.0, "right")):
                view.ax.text(x, 1.0, side, transform=view.ax.transAxes, size=style.tick_size, ha=ha, va="top")
    _draw_edges(display, brain, style)
    smallest, largest, plain = (size * min(2.0, max(0.8, box.width / 83)) for size in (*_DIAMETERS, _PLAIN_DIAMETER))
    diameters = brain.diameters(smallest, largest, plain=plain)
    for part in brain.parts:
        if brain.shades is not None and brain.values is not None:
            # The strongest lie on top: the highest values, the lowest ranks.
            strength = -brain.values[part.members] if brain.ranked else brain.values[part.members]
            part = part._replace(members=part.members[np.argsort(strength, kind="stable")])
        display.add_markers(
            brain.coordinates[part.members],
            marker_color=_coloured(part, brain, scale, style),
            marker_size=diameters[part.members] ** 2,
            marker=MARKERS[part.symbol],
            edgecolors=DARK_GREY,
            linewidths=0.2,
        )


def _edge_look(brain: Brain, style: PaperStyle, *, negative: bool) -> tuple[str, str, Literal["-", "--"]]:
    """Name, colour and dash of a connection."""
    name, colour = brain.signs.get(-1 if negative else 1, ("connections", _EDGE_COLOUR))
    return name, style.colour(colour), "--" if negative else "-"


def _draw_edges(display: Any, brain: Brain, style: PaperStyle) -> None:
    """Lines in three widths by strength, dashed where negative."""
    strongest = max((abs(weight) for _, _, weight in brain.connections), default=0.0)
    classes: dict[tuple[int, bool], NDArray[np.float64]] = {}
    for i, j, weight in brain.connections:
        step = min(int(3 * abs(weight) / strongest), 2) if strongest else 0
        between = classes.setdefault((step, weight < 0), np.zeros((len(brain.regions),) * 2))
        between[i, j] = between[j, i] = 1
    for (step, negative), between in sorted(classes.items(), key=lambda one: one[0]):
        _, colour, dash = _edge_look(brain, style, negative=negative)
        line = {"color": colour, "linewidth": _EDGE_WIDTHS[step], "linestyle": dash}
        display.add_graph(between, np.nan_to_num(brain.coordinates), node_size=0, edge_kwargs=line)


# A painted cortex: both hemispheres from the side and from the middle, in a row.

_ORDER = (0, 2, 3, 1)  # of the views: left from the side and the middle, right from the middle and the side
_SOLID = {"rasterized": True, "antialiaseds": False}  # smoothed seams of triangles would show what is behind them
_CLOSER = 1.2  # matplotlib leaves wide borders around what it draws in 3-D


def _draw_cortex(figure: Figure, box: _Box, brain: Brain, scale: ScalarMappable | None, style: PaperStyle) -> None:
    """Draw the four views; they are pixels in a figure whose text stays text."""
    colours = np.tile(to_rgba(GAP_COLOUR), (len(brain.regions) + 1, 1))  # of each label; the bare cortex first
    for part in brain.parts:
        if part.name != NO_VALUE:
            colours[part.members + 1] = _coloured(part, brain, scale, style)
    side_mm = box.width / len(_ORDER)  # square, for matplotlib draws within one, and higher than the brain
    bottom = box.bottom + (box.height - side_mm) / 2
    for place, view in enumerate(_ORDER):
        hemisphere, side = VIEWS[view]
        where = _Box(box.left + place * side_mm, bottom, side_mm, side_mm).share(figure)
        axes: Any = figure.add_axes(where, projection=Axes3D.name)
        vertices, triangles, regions = painted_triangles(brain, hemisphere)
        from_left = seen_from_left(hemisphere, side)
        a, b, c = vertices[triangles].transpose(1, 0, 2)
        outward = np.cross(b - a, c - a)[:, 0]
        front = outward < 0 if from_left else outward > 0  # the other triangles are behind these
        painted = colours[regions[front]]
        look = {"facecolors": painted, "edgecolors": painted, "linewidths": 0.3, **_SOLID}
        axes.add_collection3d(Poly3DCollection(vertices[triangles[front]], **look))
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
        axes.set_box_aspect(high - low, zoom=_CLOSER)
        axes.set_proj_type("ortho")
        axes.view_init(elev=0, azim=180 if from_left else 0)
        axes.set_axis_off()
        axes.patch.set_alpha(0)
        axes.text2D(0.5, 0.05, f"{hemisphere} {side}", fontsize=style.tick_size, ha="center", transform=axes.transAxes)
