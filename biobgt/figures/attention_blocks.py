"""Attention between functional modules, on the screen: the effect size of every block, and which ones pass."""

from collections.abc import Sequence
from html import escape

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from biobgt.figures.attention import DIVERGING, PANEL_GAP, Matrix, bar_below, room_below

MARK = "✱"
_LIMIT_D = 0.5


def block_effects(
    blocks: pd.DataFrame, *, fdr: float = 0.05, title: str = "", simulated: bool = False, limit: float | None = None
) -> go.Figure:
    """Draw the effect size of every pair of modules, with covariates held and without, marked where FDR passes.

    Parameters
    ----------
    blocks : DataFrame
        ``module`` (looks), ``other_module`` (looked at), ``d`` and ``q``, and both with ``_unadjusted``.
    fdr : float
        Blocks with a q of at most this are marked.
    title : str
    simulated : bool
    limit : float, optional
        The colours run from −limit to limit; by default to half a standard deviation, or to the largest effect.
    """
    limit = limit or effect_limit(blocks)
    sides = {"covariates held": "", "unadjusted": "_unadjusted"}
    modules = list(dict.fromkeys([*blocks["module"], *blocks["other_module"]]))
    figure = make_subplots(
        rows=1, cols=2, subplot_titles=list(sides), shared_yaxes=True, horizontal_spacing=2 * PANEL_GAP
    )
    named = [escape(str(module), quote=False) for module in modules]
    for column, suffix in enumerate(sides.values(), start=1):
        d, q = (block_square(blocks, f"{name}{suffix}", modules) for name in ("d", "q"))
        heatmap = go.Heatmap(
            z=d,
            x=named,
            y=named,
            customdata=q,
            text=block_texts(d, q, fdr),
            texttemplate="%{text}",
            coloraxis="coloraxis",
            hovertemplate="%{y} looks at %{x}<br>d = %{z:.2f}, q = %{customdata:.3f}<extra></extra>",
        )
        figure.add_trace(heatmap, row=1, col=column)
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    figure.update_xaxes(type="category", showgrid=False, tickangle=-40)
    scale = {"colorscale": DIVERGING, "cmin": -limit, "cmax": limit, "colorbar": bar_below("effect size d", y=-0.42)}
    figure.update_layout(coloraxis=scale, **room_below(title, simulated, height=480, bar=150))
    figure.update_annotations(font_size=13)
    return figure


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
    return max(_LIMIT_D, float(np.nanmax(blocks[["d", "d_unadjusted"]].abs().to_numpy(), initial=0)))


def block_square(blocks: pd.DataFrame, column: str, modules: Sequence[str]) -> Matrix:
    """A matrix between modules; of symmetric ones, which come once, the other half stays empty."""
    at = {module: i for i, module in enumerate(modules)}
    square = np.full((len(at), len(at)), np.nan)
    rows, columns = ([at[name] for name in blocks[side]] for side in ("module", "other_module"))
    square[rows, columns] = blocks[column].to_numpy(dtype=float)
    return square
