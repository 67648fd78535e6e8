"""Attention between functional modules, on the screen: the effect size of every block, and which ones pass."""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from biobgt.atlas import Atlas
from biobgt.figures.attention import DIVERGING, Matrix
from biobgt.figures.attention_captions import adjusted_for
from biobgt.figures.frame import (
    BAR_BOTTOM,
    Axes,
    axis_suffix,
    bar_above,
    in_panel,
    layout,
    order_regions,
    stacked_axes,
)
from biobgt.model.attention_views import WITHOUT_CONNECTIVITY

MARK = "✱"
UNADJUSTED = "unadjusted"
_LIMIT_D = 0.5
_HEIGHT = 600


def blocks_in_order(blocks: pd.DataFrame, atlas: Atlas) -> pd.DataFrame:
    """Blocks in the order that functional modules have in the maps of attention."""
    mapped = order_regions(atlas.n_regions, atlas.labelling(next(iter(atlas.labels)))).blocks
    place = {module: i for i, (module, _, _) in enumerate(mapped)}
    return blocks.sort_values(["module", "other_module"], key=lambda names: names.map(place), ignore_index=True)


def block_effects(
    blocks: pd.DataFrame, *, fdr: float = 0.05, title: str = "", simulated: bool = False, limit: float | None = None
) -> go.Figure:
    """Draw the effect size of every pair of modules, adjusted and unadjusted, marked where FDR passes.

    Parameters
    ----------
    blocks : DataFrame
        ``module`` (looks), ``other_module`` (looked at), ``d`` and ``q``, and both with each ending of
        :func:`adjustments`; ``covariates`` names what was adjusted for.
    fdr : float
        Blocks with a q of at most this are marked.
    title : str
    simulated : bool
    limit : float, optional
        The colours run from −limit to limit; by default to half a standard deviation, or to the largest effect.
    """
    limit = limit or effect_limit(blocks)
    sides = adjustments(blocks)
    modules = list(dict.fromkeys([*blocks["module"], *blocks["other_module"]]))
    named = [escape(str(module), quote=False) for module in modules]
    height = _HEIGHT * len(sides) // 2
    axes = stacked_axes(len(sides), gap=0.2 / len(sides))  # side by side, the numbers would have no room
    traces = []
    for panel, suffix in enumerate(sides.values()):
        d, q = (block_square(blocks, f"{name}{suffix}", modules) for name in ("d", "q"))
        heatmap = {
            "type": "heatmap",
            "z": d,
            "x": named,
            "y": named,
            "customdata": q,
            "text": block_texts(d, q, fdr),
            "texttemplate": "%{text}",
            "coloraxis": "coloraxis",
            "hovertemplate": "%{y} looks at %{x}<br>d = %{z:.2f}, q = %{customdata:.3f}<extra></extra>",
            **in_panel(panel),
        }
        traces.append(heatmap)
        across = {"type": "category", "showgrid": False, "tickangle": -40, "automargin": True}
        axes[f"xaxis{axis_suffix(panel)}"] |= across
        axes[f"yaxis{axis_suffix(panel)}"] |= {"type": "category", "showgrid": False, "autorange": "reversed"}
    scale = {"colorscale": DIVERGING, "cmin": -limit, "cmax": limit, "colorbar": bar_above("effect size d", height)}
    frame = layout(title, simulated, height=height, top=BAR_BOTTOM + 22)
    titles = _titles_above([escape(side, quote=False) for side in sides], axes)
    return go.Figure(traces, {**frame, **axes, "annotations": titles, "coloraxis": scale})


def adjustments(blocks: pd.DataFrame) -> dict[str, str]:
    """What was adjusted for in each panel, in words, and what its columns end in: most first, nothing last."""
    sides = {_adjustment(blocks, "covariates"): ""}
    without = f"covariates{WITHOUT_CONNECTIVITY}"
    if without in blocks and blocks[without].notna().any():  # without any other covariate it is the unadjusted test
        sides[_adjustment(blocks, without)] = WITHOUT_CONNECTIVITY
    return {**sides, UNADJUSTED: "_unadjusted"}


def _adjustment(blocks: pd.DataFrame, column: str) -> str:
    """What stands above adjusted effects: what was adjusted for, where the table says it."""
    if column not in blocks:
        return "adjusted"
    named = blocks[column].dropna()
    return adjusted_for(str(named.iloc[0]) if len(named) else "")


def block_texts(d: Matrix, q: Matrix, fdr: float) -> list[list[str]]:
    """What stands in each block: its effect size, with a mark where its q passes."""

    def text(effect: float, rate: float) -> str:
        if not np.isfinite(effect):
            return ""
        rounded = round(effect, 2) or 0.0  # a small negative effect is no minus zero
        return f"{rounded:.2f}".replace("-", "−") + (f" {MARK}" if rate <= fdr else "")

    return [[text(*pair) for pair in zip(*rows, strict=True)] for rows in zip(d.tolist(), q.tolist(), strict=True)]


def effect_limit(blocks: pd.DataFrame) -> float:
    """Half the width of the scale of effect sizes: small ones look small, large ones stay apart."""
    effects = [f"d{ending}" for ending in adjustments(blocks).values()]
    return max(_LIMIT_D, float(np.nanmax(blocks[effects].abs().to_numpy(), initial=0)))


def block_square(blocks: pd.DataFrame, column: str, modules: Sequence[str]) -> Matrix:
    """A matrix between modules; of symmetric ones, which come once, the other half stays empty."""
    at = {module: i for i, module in enumerate(modules)}
    square = np.full((len(at), len(at)), np.nan)
    rows, columns = ([at[name] for name in blocks[side]] for side in ("module", "other_module"))
    square[rows, columns] = blocks[column].to_numpy(dtype=float)
    return square


def _titles_above(titles: Sequence[str], axes: Axes) -> list[dict[str, Any]]:
    """What stands above each of the panels that are one above the other."""
    above = {"x": 0.5, "xref": "paper", "yref": "paper", "xanchor": "center", "yanchor": "bottom", "showarrow": False}
    tops = [axes[f"yaxis{axis_suffix(panel)}"]["domain"][1] for panel in range(len(titles))]
    return [{**above, "y": top, "text": title, "font": {"size": 13}} for top, title in zip(tops, titles, strict=True)]
