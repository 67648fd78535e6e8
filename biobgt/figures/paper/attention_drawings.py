"""Attention drawn for paper: maps side by side, the difference of two groups, tested module blocks, the contrast."""

import textwrap
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from biobgt.base.colours import BLACKISH, DIVERGING, SEQUENTIAL, ink_on
from biobgt.figures.attention_blocks import EFFECT, MARK, AttentionBlocks, Matrix
from biobgt.figures.attention_contrast import RATIO, AttentionContrast
from biobgt.figures.attention_difference import AttentionDifference
from biobgt.figures.maps_beside import QUANTITY, MapsBeside
from biobgt.figures.model_figure import OTHER_COLOUR, group_colour
from biobgt.figures.paper.block_names import name_blocks, reserve_names
from biobgt.figures.paper.paper_frame import (
    BLOCK_LINE,
    add_colour_bar,
    finish,
    fit_height,
    new_figure,
    set_title,
    text_width,
)
from biobgt.figures.paper.saving import drawing
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.region_order import RegionOrder

_LARGEST_MATRIX_MM, _STACKED_MATRIX_MM = 110.0, 60.0
UNIFORM = 1.0  # attention in which every region gets the same
_TITLE_LETTERS = 40  # of what was adjusted for, above a panel
_BESIDE_MM = 130.0  # from this width on, two panels of blocks stand side by side with room for their numbers


def draw_maps_beside(shown: MapsBeside, style: PaperStyle) -> Figure:
    """Draw maps of attention side by side on one colour scale."""
    order, (low, high) = shown.order, shown.limits
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, shown.title, shown.simulated, style)
        rows = shown.rows or (len(shown.panels),)
        grid = figure.subplots(len(rows), max(rows), squeeze=False)
        panels = [grid[row, column] for row, n in enumerate(rows) for column in range(n)]
        for empty in (grid[row, column] for row, n in enumerate(rows) for column in range(n, max(rows))):
            empty.set_axis_off()
        for axes, (name, matrix) in zip(panels, shown.panels.items(), strict=True):
            drawn = matrix[np.ix_(order.order, order.order)]
            picture = axes.imshow(drawn, cmap=SEQUENTIAL.lower(), vmin=low, vmax=high, interpolation="nearest")
            _frame(axes, order)
            axes.set_title(name)
        add_colour_bar(figure, picture, panels, QUANTITY, length_mm=_bar_mm(style), marked=UNIFORM)
        first = list(grid[:, 0])
        for axes in first:
            reserve_names(axes, order, along="y", otherwise=order.title)
        fit_height(figure, first, style, panel_mm=_LARGEST_MATRIX_MM, square=True)
        for axes in first:
            name_blocks(axes, order, style, along="y")
        return finish(figure, style)


def draw_difference(shown: AttentionDifference, style: PaperStyle) -> Figure:
    """Draw the difference of two groups' attention, with a frame around the blocks of modules that differ."""
    order, limit = shown.order, shown.limit
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, shown.title, shown.simulated, style)
        axes = figure.add_subplot()
        drawn = shown.difference[np.ix_(order.order, order.order)]
        picture = axes.imshow(drawn, cmap=DIVERGING, vmin=-limit, vmax=limit, interpolation="nearest")
        _frame(axes, order)
        add_colour_bar(figure, picture, axes, shown.quantity, length_mm=_bar_mm(style))
        reserve_names(axes, order, along="y", otherwise=order.title)
        fit_height(figure, [axes], style, panel_mm=_LARGEST_MATRIX_MM, square=True)
        name_blocks(axes, order, style, along="y")
        spans = {name: (start - 0.5, end - start) for name, start, end in order.blocks}
        for looking, looked_at in shown.marked:
            (y, height), (x, width) = spans[looking], spans[looked_at]
            axes.add_patch(Rectangle((x, y), width, height, fill=False, edgecolor=BLACKISH, linewidth=1.2))
        return finish(figure, style)


def draw_blocks(shown: AttentionBlocks, style: PaperStyle) -> Figure:
    """Draw the effect size of every pair of modules, adjusted and unadjusted, marked where FDR passes."""
    modules, sides, limit = shown.modules, shown.sides, shown.limit
    beside = style.width_mm >= _BESIDE_MM * len(sides) / 2
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, shown.title, shown.simulated, style)
        rows, columns = (1, len(sides)) if beside else (len(sides), 1)
        panels = list(figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel())
        for axes, (name, ending) in zip(panels, sides.items(), strict=True):
            d, texts = shown.panel(ending)
            picture = axes.imshow(d, cmap=DIVERGING, vmin=-limit, vmax=limit, interpolation="nearest")
            _write_effects(axes, d, texts, limit)
            axes.set_title(textwrap.fill(name, _TITLE_LETTERS))
            axes.spines[["top", "right"]].set_visible(True)
            axes.set_xticks(range(len(modules)), modules, rotation=90)
            axes.set_yticks(range(len(modules)), modules)
            axes.tick_params(length=0)
        add_colour_bar(figure, picture, panels, EFFECT, length_mm=_bar_mm(style))
        figure.axes[-1].xaxis.set_major_locator(MaxNLocator(2))  # more would collide below one narrow panel
        height = _LARGEST_MATRIX_MM if beside else _STACKED_MATRIX_MM
        fit_height(figure, panels[:1] if beside else panels, style, panel_mm=height, square=True)
        _fit_effects(figure, panels, len(modules), style)
        return finish(figure, style)


def draw_contrast(shown: AttentionContrast, style: PaperStyle) -> Figure:
    """Draw how much more regions look within their module than between modules, one point per head."""
    contrast = shown.contrast
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, shown.title, shown.simulated, style)
        axes = figure.add_subplot()
        for place, (group, values) in enumerate(contrast.items()):
            colour, mean = style.colour(group_colour(group)), float(np.nanmean(values))
            axes.scatter([place] * values.size, values.ravel(), s=12, color=colour, alpha=0.45, linewidths=0)
            axes.scatter([place], [mean], s=40, color=colour, marker="D", edgecolors="black", linewidths=0.5)
            axes.annotate(f"{mean:.2f}", (place, mean), xytext=(7, 0), textcoords="offset points", va="center")
        axes.axhline(1, color=OTHER_COLOUR, linestyle=":", linewidth=0.8)
        axes.set_xticks(range(len(contrast)), list(contrast))
        axes.set_xlim(-0.5, len(contrast) - 0.5)
        axes.set_ylabel(RATIO)
        fit_height(figure, [axes], style, panel_mm=0.55 * min(style.width_mm, 140))
        return finish(figure, style)


def _bar_mm(style: PaperStyle) -> float:
    """How long a colour bar is."""
    return 0.6 * min(style.width_mm, 120)


def _write_effects(axes: Axes, d: Matrix, texts: Sequence[Sequence[str]], limit: float) -> None:
    """Write every block's effect size into it, white on dark."""
    for row, words in enumerate(texts):
        for column, text in enumerate(words):
            colour = ink_on(d[row, column] / limit)
            written = axes.text(column, row, text.replace(f" {MARK}", "*"), ha="center", va="center", color=colour)
            written.set_in_layout(False)  # they take no room beside the panel, and are many


def _fit_effects(figure: Figure, panels: Sequence[Axes], n_modules: int, style: PaperStyle) -> None:
    """Make the numbers in blocks small enough to stand apart, once the panels' size is known."""
    figure.draw_without_rendering()
    room = 0.9 * panels[0].get_position().width * 72 * figure.get_figwidth() / n_modules
    written = [text for axes in panels for text in axes.texts]
    widest = max((text_width(text.get_text(), style.tick_size, style) for text in written), default=0.0)
    for text in written:
        text.set_fontsize(min(style.tick_size, style.tick_size * room / max(widest, 1e-9)))


def _frame(axes: Axes, order: RegionOrder) -> None:
    """Draw all four sides, and lines between blocks."""
    axes.spines[["top", "right"]].set_visible(True)
    axes.set_xticks([])
    axes.set_yticks([])
    for _, _, end in order.blocks[:-1]:
        axes.axhline(end - 0.5, **BLOCK_LINE)
        axes.axvline(end - 0.5, **BLOCK_LINE)
