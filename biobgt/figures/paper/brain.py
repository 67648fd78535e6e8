"""Brains for paper: nodes in nilearn's glass brain or a painted cortex, each from several sides.

From top to bottom a heading, rows of named brains, a colour bar, a legend. Everything is placed in mm from the lower
left corner, so that the brains fill what the words leave, without borders. A connection between the hemispheres does
not show in the views of one hemisphere, only from the front and from above.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Any, NamedTuple

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize, to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, Locator, MaxNLocator
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from mpl_toolkits.mplot3d.axes3d import Axes3D
from numpy.typing import NDArray

from biobgt.base.colours import DARK_GREY, SEQUENTIAL
from biobgt.base.errors import InputError
from biobgt.figures.brain import Brain, DisplayMode
from biobgt.figures.brain_nodes import (
    FIRST_COLOUR,
    LAST_COLOUR,
    NO_VALUE,
    NodeGroup,
    Values,
    colour_scale,
    node_diameters,
    rank_ticks,
)
from biobgt.figures.drawing import Drawing
from biobgt.figures.paper.paper_frame import (
    MARKERS,
    POINTS_PER_MM,
    add_legend,
    full_title,
    line_height,
    new_figure,
    wrapped,
)
from biobgt.figures.paper.saving import MM_PER_INCH, drawing
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.surface import (
    BARE,
    VIEWS,
    Surface,
    checked_labels,
    hemisphere_labels,
    hemisphere_mesh,
    triangle_regions,
)

_TWO_COLUMNS_MM = 120.0  # from this width on, brains stand in two columns
# Height over width of nilearn's outlines side by side.
_ASPECTS = {"lyrz": 0.277, "ortho": 0.385}
_SURFACE_ASPECT = 0.23  # of four views of the cortex side by side
_MARGIN_MM = 1.0
_BAR_MM = 2.0
_GAP_MM = 1.0
_LOWEST_BRAIN_MM = 10.0
_EDGE_COLOUR = "#6A4C93"  # neither an outline's grey nor a module's colour
_EDGE_WIDTHS = (0.3, 0.7, 1.2)
_UNNAMED = "regions"


class Box(NamedTuple):
    """A place in the figure, in mm from its lower left corner."""

    left: float
    bottom: float
    width: float
    height: float


@dataclass(frozen=True, eq=False)
class BrainPanel:
    """What one glass brain shows.

    Attributes
    ----------
    parts : tuple of NodeGroup
        Regions that are drawn alike.
    sizes, values : ndarray, shape (n_regions,), or None
        Sizes and continuous colours of the nodes.
    edges : tuple of (int, int, float)
        Two regions, counted from 0, and a weight.
    text : str
        Written above the brain, after the panel's letter; empty for nothing.
    surface : {"inflated", "pial"} or None
        The cortex that regions are painted on, in place of nodes in a glass brain.
    labels : ndarray of int, shape (20484,), or None
        Of its vertices: regions counted from 1.
    """

    parts: tuple[NodeGroup, ...]
    sizes: Values | None = None
    values: Values | None = None
    edges: tuple[tuple[int, int, float], ...] = ()
    text: str = ""
    surface: Surface | None = None
    labels: NDArray[np.int16] | None = None


def brains_on_paper(shown: Drawing, style: PaperStyle) -> Figure:
    """Draw the brain of every panel on one colour scale; those with a title have letters, and no region is named.

    Parameters
    ----------
    shown : Drawing
        Whose marks are brains of the same regions.
    style : PaperStyle
    """
    brains = [mark for mark in shown.marks if isinstance(mark, Brain)]
    panels = [
        BrainPanel(
            parts=tuple(brain.parts),
            sizes=brain.sizes,
            values=brain.shades,
            edges=tuple(brain.connections) if brain.brain == "nodes" else (),
            text=panel.title,
            surface=None if brain.brain == "nodes" else brain.brain,
            labels=None if brain.brain == "nodes" else checked_labels(brain),
        )
        for panel, brain in zip(shown.panels, brains, strict=True)
    ]
    return compose_brains(
        panels,
        brains[0].coordinates,
        heading=full_title(shown.title, shown.simulated, style),
        quantity=brains[0].quantity,
        limits=brains[0].limits,
        columns=2 if style.width_mm >= _TWO_COLUMNS_MM and len(brains) > 1 else 1,
        style=style,
        display_mode=brains[0].views,
        ranked=brains[0].ranked,
    )


def compose_brains(
    panels: Sequence[BrainPanel],
    coordinates: Values,
    *,
    heading: str,
    quantity: str,
    limits: tuple[float, float] | None,
    style: PaperStyle,
    display_mode: DisplayMode,
    columns: int = 1,
    ranked: bool = False,
) -> Figure:
    """Draw brains in rows and columns under a heading, with one colour bar and one legend.

    Parameters
    ----------
    panels : sequence of BrainPanel
    coordinates : ndarray, shape (n_regions, 3)
        MNI coordinates in mm.
    heading, quantity : str
        The figure's title, and what continuous colours stand for.
    limits : (float, float), optional
        Ends of the colour scale; where not given, those of all values.
    style : PaperStyle
    display_mode : {"lyrz", "ortho"}
    columns : int
    ranked : bool
        The values are ranks: 1 is the strongest, strikes the eye first and lies on top.
    """
    known = [panel.values for panel in panels if panel.values is not None]
    shades = _shades(np.concatenate(known), limits, ranked=ranked) if known else None
    width = (style.width_mm - (columns + 1) * _MARGIN_MM) / columns
    with drawing(style):
        figure = new_figure(style)
        figure.set_layout_engine("none")
        quantity = wrapped(quantity, _bar_length_mm(style) * POINTS_PER_MM, style.font_size, style)
        legend_mm = _add_node_legend(figure, panels, style)
        title = wrapped(heading, (style.width_mm - 2 * _MARGIN_MM) * POINTS_PER_MM, style.font_size + 1, style)
        texts = [_panel_text(i, panel, width, style) for i, panel in enumerate(panels)]
        texts_mm = max(_text_mm(text, style.font_size) for text in texts)
        top = _MARGIN_MM + _text_mm(title, style.font_size + 1)
        bottom = _MARGIN_MM + legend_mm + (_bar_room_mm(style, quantity) if shades else 0)
        n_rows = -(-len(panels) // columns)
        aspect = _ASPECTS[display_mode] if all(panel.surface is None for panel in panels) else _SURFACE_ASPECT
        brain_mm = _settle_height(figure, style, top + bottom, texts_mm, width * aspect, n_rows)
        _write(figure, title, _MARGIN_MM, _MARGIN_MM, style.font_size + 1)
        for i, (panel, text) in enumerate(zip(panels, texts, strict=True)):
            row, column = divmod(i, columns)
            left = _MARGIN_MM + column * (width + _MARGIN_MM)
            down = top + row * (texts_mm + brain_mm)
            _write(figure, text, left, down, style.font_size)
            box = Box(left, _height_mm(figure) - down - texts_mm - brain_mm, width, brain_mm)
            if panel.surface is None:
                _draw_brain(figure, box, panel, coordinates, shades, style, display_mode, ranked=ranked)
            else:
                draw_surface(figure, box, panel, shades, style)
        if shades:
            ticks = FixedLocator(rank_ticks(len(coordinates))) if ranked else MaxNLocator(4)
            _colour_bar(figure, shades, quantity, style, bottom_mm=_MARGIN_MM + legend_mm, ticks=ticks)
        return figure


def _draw_brain(
    figure: Figure,
    box: Box,
    panel: BrainPanel,
    coordinates: Values,
    shades: ScalarMappable | None,
    style: PaperStyle,
    display_mode: DisplayMode,
    *,
    ranked: bool,
) -> None:
    from nilearn.plotting import plot_glass_brain  # brings pyplot, which nothing else here needs

    width, height = style.width_mm, _height_mm(figure)
    place = (box.left / width, box.bottom / height, box.width / width, box.height / height)
    display = plot_glass_brain(None, display_mode=display_mode, figure=figure, axes=place, annotate=False)
    _thin_outlines(display, min(1.0, box.width / 174))
    _mark_sides(display, style)
    _draw_edges(display, coordinates, panel.edges)
    smallest, largest, plain = (points * min(2.0, max(0.8, box.width / 83)) for points in (1.3, 5.0, 2.8))
    diameters = node_diameters(len(coordinates), panel.sizes, smallest, largest, plain=plain)
    for part in panel.parts:
        members = list(part.members)
        colours = np.array([to_rgba(style.colour(part.colour))] * len(members))
        if shades is not None and panel.values is not None and part.name != NO_VALUE:
            # The strongest lie on top: the highest values, the lowest ranks.
            members.sort(key=lambda region: panel.values[region], reverse=ranked)  # type: ignore[index]
            colours = shades.to_rgba(panel.values[members])
        display.add_markers(
            coordinates[members],
            marker_color=colours,
            marker_size=diameters[members] ** 2,
            marker=MARKERS[part.symbol],
            edgecolors=DARK_GREY,
            linewidths=0.2,
        )


def _thin_outlines(display: Any, factor: float) -> None:
    """Draw nilearn's outlines, made for a screen's width, in the strength that suits a smaller brain."""
    for view in display.axes.values():
        for outline in view.ax.patches:
            outline.set_linewidth(outline.get_linewidth() * factor)


def _mark_sides(display: Any, style: PaperStyle) -> None:
    """Write L and R into the upper corners of views from the front and from above, which the outline leaves free."""
    for view in display.axes.values():
        if view.direction not in ("y", "z"):
            continue
        for side, x, place in (("L", 0.0, "left"), ("R", 1.0, "right")):
            view.ax.text(x, 1.0, side, transform=view.ax.transAxes, size=style.tick_size, ha=place, va="top")


def _draw_edges(display: Any, coordinates: Values, edges: Sequence[tuple[int, int, float]]) -> None:
    """Lines in three widths by strength, dashed where negative."""
    strongest = max((abs(weight) for _, _, weight in edges), default=0.0)
    classes: dict[tuple[int, bool], list[tuple[int, int]]] = {}
    for i, j, weight in edges:
        step = min(int(3 * abs(weight) / strongest), 2) if strongest else 0
        classes.setdefault((step, weight < 0), []).append((i, j))
    for (step, negative), pairs in sorted(classes.items()):
        between = np.zeros((len(coordinates),) * 2)
        for i, j in pairs:
            between[i, j] = between[j, i] = 1
        line = {"color": _EDGE_COLOUR, "linewidth": _EDGE_WIDTHS[step], "linestyle": "--" if negative else "-"}
        display.add_graph(between, np.nan_to_num(coordinates), node_size=0, edge_kwargs=line)


def _shades(values: Values, limits: tuple[float, float] | None, *, ranked: bool) -> ScalarMappable:
    scale, low, high = colour_scale(values, limits)
    if ranked:
        ranks = LinearSegmentedColormap.from_list("ranks", [FIRST_COLOUR, LAST_COLOUR])
        return ScalarMappable(Normalize(low, high), cmap=ranks)
    return ScalarMappable(Normalize(low, high), cmap=scale.lower() if scale == SEQUENTIAL else scale)


def _add_node_legend(figure: Figure, panels: Sequence[BrainPanel], style: PaperStyle) -> float:
    """Name the groups and the connections; the height that takes, in mm."""
    dot: dict[str, Any] = {"linestyle": "none", "markersize": 0.6 * style.font_size, "markeredgewidth": 0.2}
    parts = {part.name: part for panel in panels for part in panel.parts if part.name != _UNNAMED}
    handles = [
        Line2D([], [], marker=MARKERS[part.symbol], color=style.colour(part.colour), markeredgecolor=DARK_GREY, **dot)
        for part in parts.values()
    ]
    labels = list(parts)
    if any(panel.edges for panel in panels):
        handles.append(Line2D([], [], color=_EDGE_COLOUR, linewidth=_EDGE_WIDTHS[1]))
        labels.append("connections")
    if not handles:
        return 0.0
    legend = add_legend(figure, handles, labels, style, place="lower left")
    figure.draw_without_rendering()
    return legend.get_window_extent().height / figure.dpi * MM_PER_INCH + _GAP_MM


def _panel_text(i: int, panel: BrainPanel, width_mm: float, style: PaperStyle) -> str:
    if not panel.text:
        return ""
    return wrapped(f"{ascii_lowercase[i % 26]}  {panel.text}", width_mm * POINTS_PER_MM, style.font_size, style)


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


def _colour_bar(
    figure: Figure, shades: ScalarMappable, quantity: str, style: PaperStyle, *, bottom_mm: float, ticks: Locator
) -> None:
    width, height = style.width_mm, _height_mm(figure)
    length = _bar_length_mm(style)
    bottom = bottom_mm + _bar_room_mm(style, quantity) - _GAP_MM - _BAR_MM
    place = ((width - length) / 2 / width, bottom / height, length / width, _BAR_MM / height)
    bar = figure.colorbar(shades, cax=figure.add_axes(place), orientation="horizontal", ticks=ticks)
    bar.outline.set_linewidth(0.5)
    bar.ax.tick_params(pad=1)
    bar.set_label(quantity, labelpad=1)


def _bar_length_mm(style: PaperStyle) -> float:
    return min(60.0, 0.6 * style.width_mm)


def _bar_room_mm(style: PaperStyle, quantity: str) -> float:
    points = (
        line_height(style.tick_size)
        + 3
        + (line_height(style.font_size) * (quantity.count("\n") + 1) + 1 if quantity else 0)
    )
    return _BAR_MM + points / POINTS_PER_MM + _GAP_MM


def _write(figure: Figure, text: str, left_mm: float, down_mm: float, size: float) -> None:
    """Write text whose upper left corner lies so many mm from the figure's left and top."""
    x, y = left_mm / (figure.get_figwidth() * MM_PER_INCH), 1 - down_mm / _height_mm(figure)
    if text:
        figure.text(x, y, text, fontsize=size, ha="left", va="top", linespacing=1.25)


def _text_mm(text: str, size: float) -> float:
    return (text.count("\n") + 1) * line_height(size) / POINTS_PER_MM + _GAP_MM if text else 0.0


def _height_mm(figure: Figure) -> float:
    return float(figure.get_figheight()) * MM_PER_INCH


_ORDER = (0, 2, 3, 1)  # of the views: left from the side and the middle, right from the middle and the side
_SOLID = {"rasterized": True, "antialiaseds": False}  # smoothed seams of triangles would show what is behind them
_CLOSER = 1.2  # matplotlib leaves wide borders around what it draws in 3-D


def draw_surface(figure: Figure, box: Box, panel: BrainPanel, shades: ScalarMappable | None, style: PaperStyle) -> None:
    """Draw the four views of one painted cortex; they are pixels in a figure whose text stays text.

    Parameters
    ----------
    figure : Figure
    box : Box
        Where, in mm.
    panel : BrainPanel
        With a surface and labels.
    shades : ScalarMappable or None
        Of continuous colours.
    style : PaperStyle
    """
    assert panel.surface is not None
    assert panel.labels is not None
    width, height = style.width_mm, float(figure.get_figheight()) * MM_PER_INCH
    colours = _region_colours(panel, shades, style)
    for place, view in enumerate(_ORDER):
        hemisphere, side = VIEWS[view]
        side_mm = box.width / len(_ORDER)  # square, for matplotlib draws within one, and higher than the brain
        bottom = box.bottom + (box.height - side_mm) / 2
        where = ((box.left + place * side_mm) / width, bottom / height, side_mm / width, side_mm / height)
        axes: Any = figure.add_axes(where, projection=Axes3D.name)
        vertices, triangles = hemisphere_mesh(panel.surface, hemisphere)
        regions = triangle_regions(hemisphere_labels(panel.labels, hemisphere), triangles)
        front = _faces_the_eye(vertices, triangles, hemisphere, side)
        corners, painted = vertices[triangles[front]], colours[regions[front]]
        axes.add_collection3d(
            Poly3DCollection(corners, facecolors=painted, edgecolors=painted, linewidths=0.3, **_SOLID)
        )
        _look(axes, vertices, hemisphere, side)
        axes.text2D(0.5, 0.05, f"{hemisphere} {side}", fontsize=style.tick_size, ha="center", transform=axes.transAxes)


def _region_colours(panel: BrainPanel, shades: ScalarMappable | None, style: PaperStyle) -> NDArray[np.float64]:
    """RGBA of each label, shape (n_regions + 1, 4); the bare cortex first."""
    assert panel.labels is not None
    n = max(int(panel.labels.max()), *(max(part.members) + 1 for part in panel.parts))
    colours = np.tile(to_rgba(BARE), (n + 1, 1))
    for part in panel.parts:
        members = np.array(part.members, dtype=int)
        if shades is not None and panel.values is not None and part.name != NO_VALUE:
            colours[members + 1] = shades.to_rgba(panel.values[members])
        elif part.name != NO_VALUE:
            colours[members + 1] = to_rgba(style.colour(part.colour))
    return colours


def _from_left(hemisphere: str, side: str) -> bool:
    return (hemisphere == "left") == (side == "lateral")


def _faces_the_eye(
    vertices: NDArray[np.float32], triangles: NDArray[np.uint16], hemisphere: str, side: str
) -> NDArray[np.bool_]:
    """Which triangles are turned to the eye; the others are behind them. Shape (n_triangles,)."""
    a, b, c = vertices[triangles].transpose(1, 0, 2)
    outward: NDArray[np.float32] = np.cross(b - a, c - a)[:, 0]
    return outward < 0 if _from_left(hemisphere, side) else outward > 0


def _look(axes: Any, vertices: NDArray[np.float32], hemisphere: str, side: str) -> None:
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    axes.set_box_aspect(high - low, zoom=_CLOSER)
    axes.set_proj_type("ortho")
    axes.view_init(elev=0, azim=180 if _from_left(hemisphere, side) else 0)
    axes.set_axis_off()
    axes.patch.set_alpha(0)
