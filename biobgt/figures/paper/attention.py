"""Attention in the paper: groups side by side, the difference of two, tested blocks of modules, the contrast.

Each function is the twin of the one of the same name in :mod:`biobgt.figures.attention` or
:mod:`biobgt.figures.attention_blocks`, and draws the same numbers.
"""

import textwrap
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from biobgt.figures.attention import QUANTITY, Matrix, group_colour
from biobgt.figures.attention_blocks import MARK, adjustments, block_square, block_texts, effect_limit
from biobgt.figures.frame import RegionOrder
from biobgt.figures.paper.frame import (
    BLOCK_LINE,
    add_colour_bar,
    finish,
    fit_height,
    name_blocks,
    new_figure,
    reserve_names,
    set_title,
    text_width,
)
from biobgt.figures.paper.style import PaperStyle, drawing

_PLAIN = PaperStyle()
_SEQUENTIAL, _DIVERGING = "viridis", "RdBu_r"
_LARGEST_MATRIX_MM, _STACKED_MATRIX_MM = 110.0, 60.0
_TITLE_LETTERS = 40  # of what was adjusted for, above a panel
_BESIDE_MM = 130.0  # from this width on, two panels of blocks stand side by side with room for their numbers


def attention_heatmaps(
    maps: Mapping[str, Matrix],
    regions: Sequence[str],
    *,
    order: RegionOrder,
    limits: tuple[float, float],
    title: str = "",
    quantity: str = QUANTITY,
    simulated: bool = False,
    style: PaperStyle = _PLAIN,
) -> Figure:
    """Draw attention of several groups side by side on one colour scale.

    Parameters
    ----------
    maps : mapping of str to ndarray, shape (n_regions, n_regions)
        By what stands above each, such as ``NC (n = 462)``.
    regions : sequence of str, length n_regions
        Named on the screen only.
    order : RegionOrder
    limits : (float, float)
    title, quantity : str
    simulated : bool
        Adds the word to the title.
    style : PaperStyle
    """
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, title, simulated, style)
        panels = list(np.atleast_1d(figure.subplots(1, len(maps), squeeze=False)[0]))
        for axes, (name, matrix) in zip(panels, maps.items(), strict=True):
            picture = axes.imshow(
                matrix[np.ix_(order.order, order.order)],
                cmap=_SEQUENTIAL,
                vmin=limits[0],
                vmax=limits[1],
                interpolation="nearest",
            )
            _frame(axes, order)
            axes.set_title(name)
        bar_mm = 0.6 * min(style.width_mm, 120)
        add_colour_bar(figure, picture, panels, quantity, length_mm=bar_mm)  # type: ignore[arg-type]
        reserve_names(panels[0], order, along="y", otherwise=f"{len(order.order)} regions in atlas order")
        _fit_row(figure, panels, style)
        name_blocks(panels[0], order, style, along="y")
        return finish(figure, style)


def attention_difference(
    difference: Matrix,
    regions: Sequence[str],
    *,
    order: RegionOrder,
    limit: float,
    marked: Sequence[tuple[str, str]] = (),
    title: str = "",
    simulated: bool = False,
    style: PaperStyle = _PLAIN,
) -> Figure:
    """Draw the difference of two groups' attention, with a frame around the blocks of modules that differ.

    Parameters
    ----------
    difference : ndarray, shape (n_regions, n_regions)
        Second group minus first, in multiples of even attention.
    regions : sequence of str, length n_regions
        Named on the screen only.
    order : RegionOrder
    limit : float
    marked : sequence of (str, str)
        Modules of blocks to frame, looking and looked at.
    title : str
    simulated : bool
    style : PaperStyle
    """
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, title, simulated, style)
        axes = figure.add_subplot()
        shown = difference[np.ix_(order.order, order.order)]
        picture = axes.imshow(shown, cmap=_DIVERGING, vmin=-limit, vmax=limit, interpolation="nearest")
        _frame(axes, order)
        bar_mm = 0.6 * min(style.width_mm, 120)
        add_colour_bar(figure, picture, axes, "difference (× even attention)", length_mm=bar_mm)
        reserve_names(axes, order, along="y", otherwise=f"{len(order.order)} regions in atlas order")
        fit_height(figure, [axes], style, panel_mm=_LARGEST_MATRIX_MM, square=True)
        name_blocks(axes, order, style, along="y")
        spans = {name: (start - 0.5, end - start) for name, start, end in order.blocks}
        for looking, looked_at in marked:
            if looking in spans and looked_at in spans:
                (y, height), (x, width) = spans[looking], spans[looked_at]
                axes.add_patch(Rectangle((x, y), width, height, fill=False, edgecolor="#111111", linewidth=1.2))
        return finish(figure, style)


def block_effects(
    blocks: pd.DataFrame,
    *,
    fdr: float = 0.05,
    title: str = "",
    simulated: bool = False,
    limit: float | None = None,
    style: PaperStyle = _PLAIN,
) -> Figure:
    """Draw the effect size of every pair of modules, adjusted and unadjusted, marked where FDR passes.

    Parameters
    ----------
    blocks : DataFrame
        ``module``, ``other_module``, ``d`` and ``q``, and the last two with each ending of
        :func:`biobgt.figures.attention_blocks.adjustments`; ``covariates`` names what was adjusted for.
    fdr : float
    title : str
    simulated : bool
    limit : float, optional
    style : PaperStyle
    """
    limit = limit or effect_limit(blocks)
    modules = list(dict.fromkeys([*blocks["module"], *blocks["other_module"]]))
    sides = adjustments(blocks)
    beside = style.width_mm >= _BESIDE_MM * len(sides) / 2
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, title, simulated, style)
        rows, columns = (1, len(sides)) if beside else (len(sides), 1)
        panels = list(figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel())
        for axes, (name, suffix) in zip(panels, sides.items(), strict=True):
            d, q = (block_square(blocks, f"{column}{suffix}", modules) for column in ("d", "q"))
            picture = axes.imshow(d, cmap=_DIVERGING, vmin=-limit, vmax=limit, interpolation="nearest")
            _write_effects(axes, d, block_texts(d, q, fdr), limit)
            axes.set_title(textwrap.fill(name, _TITLE_LETTERS))
            axes.spines[["top", "right"]].set_visible(True)
            axes.set_xticks(range(len(modules)), modules, rotation=90)
            axes.set_yticks(range(len(modules)), modules)
            axes.tick_params(length=0)
        bar_mm = 0.6 * min(style.width_mm, 120)
        add_colour_bar(figure, picture, panels, "effect size d", length_mm=bar_mm)  # type: ignore[arg-type]
        figure.axes[-1].xaxis.set_major_locator(MaxNLocator(2))  # more would collide below one narrow panel
        height = _LARGEST_MATRIX_MM if beside else _STACKED_MATRIX_MM
        fit_height(figure, panels[:1] if beside else panels, style, panel_mm=height, square=True)
        _fit_effects(figure, panels, len(modules), style)
        return finish(figure, style)


def contrast_points(
    contrast: Mapping[str, NDArray[np.float32]],
    *,
    title: str = "",
    simulated: bool = False,
    style: PaperStyle = _PLAIN,
) -> Figure:
    """Draw how much more regions look within their module than between modules, a point a head.

    Parameters
    ----------
    contrast : mapping of str to ndarray, shape (n_layers, n_heads)
    title : str
    simulated : bool
    style : PaperStyle
    """
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, title, simulated, style)
        axes = figure.add_subplot()
        for place, (group, values) in enumerate(contrast.items()):
            colour, mean = style.colour(group_colour(group)), float(np.nanmean(values))
            axes.scatter([place] * values.size, values.ravel(), s=12, color=colour, alpha=0.45, linewidths=0)
            axes.scatter([place], [mean], s=40, color=colour, marker="D", edgecolors="black", linewidths=0.5)
            axes.annotate(f"{mean:.2f}", (place, mean), xytext=(7, 0), textcoords="offset points", va="center")
        axes.axhline(1, color="#7A868C", linestyle=":", linewidth=0.8)
        axes.set_xticks(range(len(contrast)), list(contrast))
        axes.set_xlim(-0.5, len(contrast) - 0.5)
        axes.set_ylabel("Attention within / between modules")
        fit_height(figure, [axes], style, panel_mm=0.55 * min(style.width_mm, 140))
        return finish(figure, style)


def _write_effects(axes: Axes, d: Matrix, texts: Sequence[Sequence[str]], limit: float) -> None:
    """Write every block's effect size into it, white on dark."""
    for row, words in enumerate(texts):
        for column, text in enumerate(words):
            colour = "white" if abs(d[row, column]) > 0.7 * limit else "black"
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


def _fit_row(figure: Figure, panels: Sequence[Axes], style: PaperStyle) -> None:
    """Make the figure as high as one of its panels, which stand side by side, and the words around them need."""
    fit_height(figure, panels[:1], style, panel_mm=_LARGEST_MATRIX_MM, square=True)


def _frame(axes: Axes, order: RegionOrder) -> None:
    """Draw all four sides, and lines between blocks."""
    axes.spines[["top", "right"]].set_visible(True)
    axes.set_xticks([])
    axes.set_yticks([])
    for _, _, end in order.blocks[:-1]:
        axes.axhline(end - 0.5, **BLOCK_LINE)
        axes.axvline(end - 0.5, **BLOCK_LINE)
