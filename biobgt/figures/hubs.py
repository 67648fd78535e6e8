"""One subject's hubs on the screen: the curves over regions, node entanglement against another measure, the γ-sweep.

Arrays in, a plotly figure out; the captions, which are also the figures' text for screen readers, are in
:mod:`biobgt.figures.hub_captions`. Colours are Okabe and Ito's, and never the only way to tell two things apart.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from biobgt.figures.frame import RegionOrder, block_ticks, layout, order_regions

CurveScale = Literal["z", "rank", "raw"]
Values = NDArray[np.float64]

SHORT_NAMES: Mapping[str, str] = {"node_entanglement": "NE", "node_efficiency": "NEff", "fc_strength": "FC strength"}
UNITS: Mapping[str, str] = {
    "node_entanglement": "NE (bits)",
    "node_efficiency": "NEff",
    "fc_strength": "FC strength",
}
_COLOURS: Mapping[str, str] = {
    "node_entanglement": "#0072B2",
    "node_efficiency": "#E69F00",
    "fc_strength": "#009E73",
}
_SYMBOLS: Mapping[str, str] = {"node_efficiency": "circle", "fc_strength": "square"}
_HUB_COLOUR = "#D55E00"
_CHOSEN_COLOUR = "#CC79A7"
_SCALE_TITLES: Mapping[str, str] = {"z": "z-score over regions", "rank": "rank (1 is the strongest hub)"}
# Grey enough to be seen on a light and on a dark page.
_DIVIDER = {"color": "rgba(128, 128, 128, 0.6)", "width": 1}
_LEGEND = {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "title": {"text": ""}}


def order_by_value(values: Values) -> RegionOrder:
    """Put the highest region first; equal ones keep the atlas's order."""
    return RegionOrder(tuple(np.argsort(-values, kind="stable").tolist()))


def hub_curves(
    curves: Mapping[str, Values],
    regions: Sequence[str],
    hubs: NDArray[np.bool_],
    *,
    scale: CurveScale = "z",
    order: RegionOrder | None = None,
    order_title: str = "in atlas order",
    title: str = "",
    simulated: bool = False,
) -> go.Figure:
    """Draw several hub measures over all regions; names and values show on hover.

    Parameters
    ----------
    curves : mapping of str to ndarray, shape (n_regions,)
        By the measures of :data:`SHORT_NAMES`, already on the scale that is named.
    regions : sequence of str, length n_regions
    hubs : ndarray of bool, shape (n_regions,)
        Regions to mark on the first curve.
    scale : {"z", "rank", "raw"}
        Z-scores and ranks share an axis; raw values have a panel each, because their units differ.
    order : RegionOrder, optional
    order_title : str
        Says what the order is, where it has no blocks to name.
    title : str
    simulated : bool
    """
    order = order or order_regions(len(regions))
    names = [escape(regions[i], quote=False) for i in order.order]
    n_rows = len(curves) if scale == "raw" else 1
    figure = make_subplots(rows=n_rows, shared_xaxes=True, vertical_spacing=0.05)
    for i, (measure, values) in enumerate(curves.items()):
        where = {"row": i + 1 if scale == "raw" else 1, "col": 1}
        ordered = values[list(order.order)]
        figure.add_trace(_curve(measure, names, ordered, scale), **where)
        if i == 0:
            marked = hubs[list(order.order)]
            chosen = [name for name, hub in zip(names, marked, strict=True) if hub]
            figure.add_trace(_hub_marks(measure, chosen, ordered[marked]), **where)
        figure.update_yaxes(title_text=_SCALE_TITLES.get(scale, UNITS[measure]), zeroline=False, **where)
    if scale == "rank":
        figure.update_yaxes(autorange="reversed")
    figure.update_xaxes(type="category", categoryorder="array", categoryarray=names, showgrid=False, zeroline=False)
    figure.update_xaxes(range=[-1, len(names)])
    ticks = block_ticks(order, names)
    if not order.blocks:
        ticks["title"] = {"text": f"{len(names)} regions {order_title}"}
    figure.update_xaxes(row=n_rows, col=1, automargin=True, **ticks)
    figure.update_layout(
        shapes=[_divider(end) for _, _, end in order.blocks[:-1]],
        legend=_LEGEND,
        hovermode="x unified",
        hoversubplots="axis",
        **layout(title, simulated, height=620 if scale == "raw" else 440, top=84),
    )
    return figure


def hub_scatter(
    values: Values,
    entanglement: Values,
    regions: Sequence[str],
    hubs: NDArray[np.bool_],
    *,
    measure: str,
    subtitle: str,
    simulated: bool = False,
) -> go.Figure:
    """Draw node entanglement against another measure, a point a region.

    Parameters
    ----------
    values, entanglement : ndarray, shape (n_regions,)
        The other measure, and node entanglement in bits.
    regions : sequence of str, length n_regions
    hubs : ndarray of bool, shape (n_regions,)
    measure : str
        The other measure, of :data:`SHORT_NAMES`.
    subtitle : str
        The correlation, in words.
    simulated : bool
    """
    names = np.array([escape(name, quote=False) for name in regions], dtype=object)
    figure = go.Figure()
    for name, chosen, colour, symbol in (
        ("other regions", ~hubs, _COLOURS["node_entanglement"], "circle"),
        ("hubs by NE", hubs, _HUB_COLOUR, "diamond"),
    ):
        figure.add_scatter(
            x=values[chosen],
            y=entanglement[chosen],
            mode="markers",
            name=name,
            marker={"color": colour, "symbol": symbol, "size": 7, "opacity": 0.75},
            text=names[chosen],
            hovertemplate=f"%{{text}}<br>{SHORT_NAMES[measure]} %{{x:.3f}}<br>NE %{{y:.3g}} bits<extra></extra>",
        )
    figure.update_xaxes(title_text=UNITS[measure], zeroline=False)
    figure.update_yaxes(title_text=UNITS["node_entanglement"], zeroline=False, automargin=True)
    frame = layout(f"NE against {SHORT_NAMES[measure]}", simulated, height=440, top=104)
    figure.update_layout(legend=_LEGEND, **frame)
    figure.update_layout(title_subtitle={"text": subtitle, "font": {"size": 13}})
    return figure


def gamma_sweep(
    sweep: pd.DataFrame,
    references: Mapping[str, str],
    *,
    chosen: float,
    study: pd.DataFrame | None = None,
    title: str = "",
    simulated: bool = False,
) -> go.Figure:
    """Draw how well node entanglement agrees with other measures, over diffusion times.

    Parameters
    ----------
    sweep : DataFrame
        ``reference``, ``gamma`` (in units of 1/mean(λ)) and ``spearman`` of one subject.
    references : mapping of str to str
        Measures of :data:`SHORT_NAMES`, and what ``reference`` calls them.
    chosen : float
        The γ to mark.
    study : DataFrame, optional
        ``reference``, ``gamma``, ``mean`` and ``sd`` over the subjects of a study, drawn behind.
    title : str
    simulated : bool
    """
    figure = go.Figure()
    for measure, reference in references.items():
        if study is not None:
            figure.add_traces(_study_band(measure, study[study["reference"] == reference]))
    figure.add_scatter(
        x=[chosen, chosen],
        y=[-1, 1],
        mode="lines",
        name=f"γ = {chosen:g}",
        line={"color": _CHOSEN_COLOUR, "dash": "dot", "width": 2},
        hoverinfo="skip",
    )
    for measure, reference in references.items():
        figure.add_trace(_sweep_curve(measure, sweep[sweep["reference"] == reference]))
    ticks = [0.1, 0.3, 1, 3, 10, 30, 100]
    figure.update_xaxes(type="log", tickvals=ticks, title_text="γ (in units of 1/mean(λ))", zeroline=False)
    figure.update_yaxes(title_text="Spearman's ρ with NE", range=[-1.02, 1.02], zeroline=True)
    # Two groups of curves need two lines of legend at 800 px; below the plot they push nothing away.
    legend = _LEGEND | {"y": -0.2, "yanchor": "top"}
    figure.update_layout(legend=legend, **layout(title, simulated, height=500))
    return figure


def _curve(measure: str, names: Sequence[str], values: Values, scale: CurveScale) -> go.Scatter:
    number = {"z": "%{y:.2f}", "rank": "%{y}", "raw": "%{y:.3g}"}[scale]
    return go.Scatter(
        x=names,
        y=values,
        mode="lines",
        name=SHORT_NAMES[measure],
        line={"color": _COLOURS[measure], "width": 2.2 if measure == "node_entanglement" else 1.4},
        hovertemplate=f"{SHORT_NAMES[measure]} {number}<extra></extra>",
    )


def _hub_marks(measure: str, names: Sequence[str], values: Values) -> go.Scatter:
    return go.Scatter(
        x=names,
        y=values,
        mode="markers",
        name=f"hubs by {SHORT_NAMES[measure]}",
        marker={"color": _HUB_COLOUR, "symbol": "diamond", "size": 8},
        hovertemplate="a hub<extra></extra>",
    )


def _divider(end: int) -> dict[str, object]:
    return {"type": "line", "x0": end - 0.5, "x1": end - 0.5, "yref": "paper", "y0": 0, "y1": 1, "line": _DIVIDER}


def _study_band(measure: str, study: pd.DataFrame) -> list[go.Scatter]:
    """Mean ± 1 SD as one closed outline, and the mean as a dashed line."""
    low, high = study["mean"] - study["sd"], study["mean"] + study["sd"]
    band = go.Scatter(
        x=[*study["gamma"], *study["gamma"][::-1]],
        y=[*high, *low[::-1]],
        fill="toself",
        fillcolor=_COLOURS[measure],
        opacity=0.18,
        mode="lines",
        line={"width": 0},
        hoverinfo="skip",
        showlegend=False,
        legendgroup=measure,
    )
    mean = go.Scatter(
        x=study["gamma"],
        y=study["mean"],
        mode="lines",
        name=f"{SHORT_NAMES[measure]}, ABIDE mean ± SD",
        line={"color": _COLOURS[measure], "dash": "dash", "width": 1.2},
        customdata=study["sd"],
        hovertemplate=f"ABIDE, {SHORT_NAMES[measure]}<br>γ %{{x}}: %{{y:.2f}} ± %{{customdata:.2f}}<extra></extra>",
        legendgroup=measure,
    )
    return [band, mean]


def _sweep_curve(measure: str, sweep: pd.DataFrame) -> go.Scatter:
    return go.Scatter(
        x=sweep["gamma"],
        y=sweep["spearman"],
        mode="lines+markers",
        name=f"{SHORT_NAMES[measure]}, this subject",
        line={"color": _COLOURS[measure], "width": 2.2},
        marker={"symbol": _SYMBOLS[measure], "size": 6},
        hovertemplate=f"This subject, {SHORT_NAMES[measure]}<br>γ %{{x}}: ρ = %{{y:.2f}}<extra></extra>",
    )
