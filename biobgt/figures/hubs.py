"""One subject's hubs on the screen: node entanglement against another measure, and the γ-sweep.

Arrays in, a plotly figure out; the curves over regions are in :mod:`biobgt.figures.hub_curves`, and the captions, which
are also the figures' text for screen readers, in :mod:`biobgt.figures.hub_captions`. Colours are Okabe and Ito's, and
never the only way to tell two things apart.
"""

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from biobgt.figures.frame import Trace, layout

Values = NDArray[np.float64]

SHORT_NAMES: Mapping[str, str] = {"node_entanglement": "NE", "node_efficiency": "NEff", "fc_strength": "FC strength"}
UNITS: Mapping[str, str] = {
    "node_entanglement": "NE (bits)",
    "node_efficiency": "NEff",
    "fc_strength": "FC strength",
}
MEASURE_COLOURS: Mapping[str, str] = {
    "node_entanglement": "#0072B2",
    "node_efficiency": "#E69F00",
    "fc_strength": "#009E73",
}
_SYMBOLS: Mapping[str, str] = {"node_efficiency": "circle", "fc_strength": "square"}
HUB_COLOUR = "#D55E00"
CHOSEN_COLOUR = "#CC79A7"
# A click picks a point; the others do not fade, because all of them still count.
UNSELECTED = {"marker": {"opacity": 0.75}}
LEGEND = {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "title": {"text": ""}}


def hub_scatter(
    values: Values,
    entanglement: Values,
    regions: Sequence[str],
    hubs: NDArray[np.bool_],
    *,
    measure: str,
    subtitle: str,
    picked: int | None = None,
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
    picked : int, optional
        A region, counted from 0, to ring.
    simulated : bool
    """
    names = np.array([escape(name, quote=False) for name in regions], dtype=object)
    dots = {"size": 7, "opacity": 0.75}
    kinds = [
        ("other regions", np.flatnonzero(~hubs), {"color": MEASURE_COLOURS["node_entanglement"], **dots}),
        ("hubs by NE", np.flatnonzero(hubs), {"color": HUB_COLOUR, "symbol": "diamond", **dots}),
    ]
    if picked is not None:
        ring = {"color": CHOSEN_COLOUR, "symbol": "circle-open", "size": 15, "line": {"width": 3}}
        kinds.append((names[picked], np.array([picked]), ring))
    traces = [
        {
            "type": "scatter",
            "x": values[chosen],
            "y": entanglement[chosen],
            "mode": "markers",
            "name": name,
            "marker": marker,
            "unselected": UNSELECTED,
            "customdata": chosen,
            "text": names[chosen],
            "hovertemplate": f"%{{text}}<br>{SHORT_NAMES[measure]} %{{x:.3f}}<br>NE %{{y:.3g}} bits<extra></extra>",
        }
        for name, chosen, marker in kinds
    ]
    frame = layout(f"NE against {SHORT_NAMES[measure]}", simulated, height=440, top=64)
    frame["title"]["subtitle"] = {"text": subtitle, "font": {"size": 13}}
    xaxis = {"title": {"text": UNITS[measure]}, "zeroline": False}
    yaxis = {"title": {"text": UNITS["node_entanglement"]}, "zeroline": False, "automargin": True}
    # A long name takes a second line of legend, which above the plot would lie on the correlation.
    legend = LEGEND | {"y": -0.2, "yanchor": "top"}
    return go.Figure(traces, {**frame, "xaxis": xaxis, "yaxis": yaxis, "legend": legend})


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
    traces: list[Trace] = []
    for measure, reference in references.items():
        if study is not None:
            traces += _study_band(measure, study[study["reference"] == reference])
    traces.append(
        {
            "type": "scatter",
            "x": [chosen, chosen],
            "y": [-1, 1],
            "mode": "lines",
            "name": f"γ = {chosen:g}",
            "line": {"color": CHOSEN_COLOUR, "dash": "dot", "width": 2},
            "hoverinfo": "skip",
        }
    )
    traces += [
        _sweep_curve(measure, sweep[sweep["reference"] == reference]) for measure, reference in references.items()
    ]
    ticks = [0.1, 0.3, 1, 3, 10, 30, 100]
    gammas = {"type": "log", "tickvals": ticks, "title": {"text": "γ (in units of 1/mean(λ))"}, "zeroline": False}
    agreement = {"title": {"text": "Spearman's ρ with NE"}, "range": [-1.02, 1.02], "zeroline": True}
    # Two groups of curves need two lines of legend at 800 px; below the plot they push nothing away.
    legend = LEGEND | {"y": -0.2, "yanchor": "top"}
    frame = layout(title, simulated, height=500)
    return go.Figure(traces, {**frame, "xaxis": gammas, "yaxis": agreement, "legend": legend})


def _study_band(measure: str, study: pd.DataFrame) -> list[Trace]:
    """Mean ± 1 SD as one closed outline, and the mean as a dashed line."""
    low, high = study["mean"] - study["sd"], study["mean"] + study["sd"]
    name = SHORT_NAMES[measure]
    band = {
        "type": "scatter",
        "x": [*study["gamma"], *study["gamma"][::-1]],
        "y": [*high, *low[::-1]],
        "fill": "toself",
        "fillcolor": MEASURE_COLOURS[measure],
        "opacity": 0.18,
        "mode": "lines",
        "line": {"width": 0},
        "hoverinfo": "skip",
        "showlegend": False,
        "legendgroup": measure,
    }
    mean = {
        "type": "scatter",
        "x": study["gamma"],
        "y": study["mean"],
        "mode": "lines",
        "name": f"{name}, ABIDE mean ± SD",
        "line": {"color": MEASURE_COLOURS[measure], "dash": "dash", "width": 1.2},
        "customdata": study["sd"],
        "hovertemplate": f"ABIDE, {name}<br>γ %{{x}}: %{{y:.2f}} ± %{{customdata:.2f}}<extra></extra>",
        "legendgroup": measure,
    }
    return [band, mean]


def _sweep_curve(measure: str, sweep: pd.DataFrame) -> Trace:
    return {
        "type": "scatter",
        "x": sweep["gamma"],
        "y": sweep["spearman"],
        "mode": "lines+markers",
        "name": f"{SHORT_NAMES[measure]}, this subject",
        "line": {"color": MEASURE_COLOURS[measure], "width": 2.2},
        "marker": {"symbol": _SYMBOLS[measure], "size": 6},
        "hovertemplate": f"This subject, {SHORT_NAMES[measure]}<br>γ %{{x}}: ρ = %{{y:.2f}}<extra></extra>",
    }
