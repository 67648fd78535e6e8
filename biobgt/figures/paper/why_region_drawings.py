"""Why this region? drawn for paper: one region's surroundings, both spectra, and the entropies over γ."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from biobgt.errors import InputError
from biobgt.figures.hub_words import CHOSEN_COLOUR, GROUP_COLOUR
from biobgt.figures.paper.hub_agreement_drawings import set_gamma_axis
from biobgt.figures.paper.paper_frame import (
    POINTS_PER_MM,
    add_legend,
    finish,
    fit_height,
    line_height,
    new_figure,
    set_title,
    text_width,
)
from biobgt.figures.paper.saving import MM_PER_INCH, drawing
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.region_surroundings import RegionSurroundings, circle_of_neighbours
from biobgt.figures.why_region import BEFORE_COLOUR, RegionCurves, RegionEntropy, RegionSpectra, Values

_THINNEST, _THICKEST = 0.3, 2.4  # lines, in points
_CIRCLE_MM, _NEIGHBOUR_MM = 4.0, 2.0  # across
_GAP_MM = 0.8  # between a circle and its name
_NARROWEST_MM, _WIDEST_MM, _LOWEST_MM = 12.0, 28.0, 18.0  # from the middle to a neighbour, aside and up


def draw_surroundings(shown: RegionSurroundings, style: PaperStyle) -> Figure:
    """Draw a region in the middle of its neighbours; names that are too long lose their middle."""
    names = shown.names
    places = circle_of_neighbours(len(names) - 1)
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, shown.title, shown.simulated, style)
        axes = figure.add_subplot()
        axes.set_axis_off()
        line = line_height(style.font_size) / POINTS_PER_MM
        up = max(_LOWEST_MM, line / _nearest_on_a_side(places))
        fit_height(figure, [axes], style, panel_mm=2 * up + line)
        up = _room_upwards(figure, axes, line, least=up if style.height_mm else 0.0)
        width = axes.get_position().width * style.width_mm
        longest = max((text_width(name, style.font_size, style) for name in names[1:]), default=0) / POINTS_PER_MM
        beside = _NEIGHBOUR_MM / 2 + _GAP_MM
        aside = float(np.clip(width / 2 - beside - longest, _NARROWEST_MM, _WIDEST_MM))
        # From here on the axes count in millimetres from the middle.
        axes.set(xlim=(-width / 2, width / 2), ylim=(-up - line / 2, up + line / 2))
        places = places * (aside, up)
        _draw_connections(axes, places, shown.weights, shown.largest, style)
        _draw_circles(axes, places, style)
        _write_names(axes, names, places, width / 2, style)
        return finish(figure, style)


def draw_spectra(shown: RegionSpectra, style: PaperStyle) -> Figure:
    """Draw both spectra, and below by how much each eigenvalue moves."""
    numbers = shown.numbers
    x, change = numbers["eigenvalue"].to_numpy(), numbers["change"].to_numpy()
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, shown.title, shown.simulated, style)
        panels = list(figure.subplots(2, sharex=True, height_ratios=[0.6, 0.4]))
        _draw_curves(panels, shown, style)
        panels[1].bar(x, change, width=1, color=style.colour(CHOSEN_COLOUR), label=shown.change_name)
        panels[0].set_ylim(bottom=0)
        panels[1].yaxis.set_major_locator(MaxNLocator(4))
        panels[1].set_xlabel(shown.x_title)
        panels[1].set_xlim(0, len(x) + 1)
        _finish_panels(figure, panels, style)
        return finish(figure, style)


def draw_entropies(shown: RegionEntropy, style: PaperStyle) -> Figure:
    """Draw both entropies over γ, and below their difference."""
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, shown.title, shown.simulated, style)
        panels = list(figure.subplots(2, sharex=True))
        _draw_curves(panels, shown, style)
        for axes in panels:
            axes.axvline(shown.story.gamma, color=GROUP_COLOUR, linestyle=":", linewidth=0.9, zorder=0)
        panels[1].set_ylim(bottom=0)
        set_gamma_axis(panels[1])
        _finish_panels(figure, panels, style)
        return finish(figure, style)


def _draw_curves(panels: Sequence[Axes], shown: RegionCurves, style: PaperStyle) -> None:
    """Draw a figure's curves, each in its panel, and name the panels' axes."""
    for curve in shown.curves:
        colour = style.colour(curve.colour)
        panels[curve.panel].plot(curve.x, curve.y, color=colour, label=curve.name, **curve.paper_line)
    for axes, title in zip(panels, shown.y_titles, strict=True):
        axes.set_ylabel(title)


def _nearest_on_a_side(places: Values) -> float:
    """How near two names on the same side come in height, in radii of the circle."""
    right = np.sort(places[1:][places[1:, 0] > 0, 1])
    return float(np.diff(right).min()) if len(right) > 1 else 2.0


def _room_upwards(figure: Figure, axes: Axes, line: float, *, least: float) -> float:
    """Millimetres from the middle to the highest neighbour; a height that was asked for may leave too few."""
    height = figure.get_figheight() * MM_PER_INCH
    up = (axes.get_position().height * height - line) / 2
    if up < least - 0.1:
        raise InputError(
            f"A height of {height:g} mm leaves no room for the regions' names; choose at least "
            f"{np.ceil(height + 2 * (least - up)):g} mm, or none to let the figure choose."
        )
    return up


def _draw_connections(axes: Axes, places: Values, weights: Values, largest: float, style: PaperStyle) -> None:
    rows, columns = np.nonzero(np.triu(weights))
    shares = weights[rows, columns] / largest if largest > 0 else np.zeros(len(rows))
    widths = _THINNEST + shares * (_THICKEST - _THINNEST)
    segments = np.stack([places[rows], places[columns]], axis=1)
    for name, chosen, colour, opacity in (
        ("among its neighbours", rows != 0, GROUP_COLOUR, 0.4),
        ("of the region", rows == 0, style.colour(BEFORE_COLOUR), 0.85),
    ):
        drawn = LineCollection(
            list(segments[chosen]), linewidths=widths[chosen].tolist(), colors=colour, alpha=opacity, label=name
        )
        axes.add_collection(drawn, autolim=False)


def _draw_circles(axes: Axes, places: Values, style: PaperStyle) -> None:
    across = np.array([_CIRCLE_MM] + [_NEIGHBOUR_MM] * (len(places) - 1)) * POINTS_PER_MM
    colours = [style.colour(CHOSEN_COLOUR)] + [style.colour(BEFORE_COLOUR)] * (len(places) - 1)
    look: dict[str, Any] = {"edgecolors": "white", "linewidths": 0.5, "zorder": 3, "clip_on": False}
    axes.scatter(places[:, 0], places[:, 1], s=across**2, c=colours, label="regions", **look)


def _write_names(axes: Axes, names: Sequence[str], places: Values, edge: float, style: PaperStyle) -> None:
    """Names beside their circles, up to ``edge``; that of the region itself above its own, on its colour."""
    beside = _NEIGHBOUR_MM / 2 + _GAP_MM
    for name, (x, y) in zip(names[1:], places[1:], strict=True):
        right = x > 0
        shown = _shortened(name, (edge - abs(x) - beside) * POINTS_PER_MM, style)
        axes.text(x + (beside if right else -beside), y, shown, ha="left" if right else "right", va="center")
    aside = places[1:, 0].max() if len(places) > 1 else edge
    own = _shortened(names[0], 2 * (aside - beside) * POINTS_PER_MM, style)
    box = {"facecolor": style.colour(CHOSEN_COLOUR), "edgecolor": "none", "pad": 1.0}
    axes.text(0, _CIRCLE_MM / 2 + _GAP_MM, own, ha="center", va="bottom", bbox=box, zorder=4)


def _shortened(name: str, room: float, style: PaperStyle) -> str:
    """A name that fits in ``room`` points; its middle goes, because the end tells the side or has a number."""
    shown, kept = name, len(name) - 1
    while text_width(shown, style.font_size, style) > room and kept > 1:
        kept -= 1
        shown = f"{name[: kept // 2]}…{name[-(kept - kept // 2) :]}"
    return shown


def _finish_panels(figure: Figure, panels: Sequence[Axes], style: PaperStyle) -> None:
    entries = [entry for axes in panels for entry in zip(*axes.get_legend_handles_labels(), strict=True)]
    add_legend(figure, [handle for handle, _ in entries], [label for _, label in entries], style)
    figure.align_ylabels(panels)
    fit_height(figure, panels, style, panel_mm=0.32 * min(style.width_mm, 140))
