"""The resolution sweep on the screen: how modules change with the resolution, and where they are stable."""

from collections.abc import Mapping
from html import escape

import pandas as pd
import plotly.graph_objects as go

from biobgt.figures.frame import in_panel, layout, stacked_axes, vertical_line, whose

_COUNT, _QUALITY, _STABLE = "#0072B2", "#D55E00", "#009E73"
_LABELLINGS = ("#CC79A7", "#56B4E9", "#E69F00")
_MARK = "#7A868C"


def resolution_curves(
    sweep: pd.DataFrame,
    labellings: Mapping[str, str],
    *,
    chosen: float,
    title: str = "",
    simulated: bool = False,
) -> go.Figure:
    """Draw the number of modules, and below it Q, stability and agreement with functional labels, over the resolution.

    Parameters
    ----------
    sweep : DataFrame
        A row a resolution: ``resolution``, ``n_modules``, ``q``, ``stability``, and ``ami <labelling>``.
    labellings : mapping of str to str
        Title of each labelling whose agreement is drawn.
    chosen : float
        The resolution of the other figures, marked by a dotted line.
    title : str
    simulated : bool
    """
    sweep = sweep.sort_values("resolution")
    curves = [("n_modules", "Number of modules", _COUNT, 0), ("q", "Modularity Q", _QUALITY, 1)]
    curves.append(("stability", "Stability: AMI between runs", _STABLE, 1))
    for i, (name, label) in enumerate(labellings.items()):
        curves.append((f"ami {name}", f"AMI with {label}", _LABELLINGS[i % len(_LABELLINGS)], 1))
    traces = [
        {
            "type": "scatter",
            "x": sweep["resolution"].to_list(),
            "y": sweep[column].to_list(),
            "mode": "lines+markers",
            "name": escape(name, quote=False),
            "line": {"color": colour, "dash": "dot" if column.startswith("ami ") else "solid"},
            "hovertemplate": f"resolution %{{x:g}}: {'%{y}' if column == 'n_modules' else '%{y:.2f}'}",
            **in_panel(panel),
        }
        for column, name, colour, panel in curves
    ]
    axes = stacked_axes(2, gap=0.06, heights=[0.4, 0.6])
    axes["xaxis2"] |= {"title": {"text": "Resolution"}}
    axes["yaxis"] |= {"title": {"text": "Modules"}, "rangemode": "tozero"}
    axes["yaxis2"] |= {"title": {"text": "Q, AMI"}, "range": [-0.03, 1.03]}
    marks = [vertical_line(chosen, {"dash": "dot", "color": _MARK}, panel=panel) for panel in (0, 1)]
    legend = {"orientation": "h", "yanchor": "top", "y": -0.16, "x": 0, "title": {"text": ""}}
    frame = layout(title, simulated, height=560)
    return go.Figure(traces, {**frame, **axes, "shapes": marks, "legend": legend})


def resolution_caption(
    subject: str, sweep: pd.DataFrame, *, chosen: float, runs: int, seed: int, simulated: bool
) -> str:
    """Say what the sweep shows, and where the runs agree best."""
    ranked = sweep.dropna(subset="stability").sort_values("stability", ascending=False, kind="stable")
    where = ""
    if len(ranked):
        best = ranked.iloc[0]
        where = (
            f" The runs agree best at {best['resolution']:g} (AMI {best['stability']:.2f}), with "
            f"{int(best['n_modules'])} modules."
        )
    return (
        f"{whose(subject, simulated)}: Louvain over the resolution, {runs} runs at each (seed {seed}); modules and Q "
        f"are the best run's. Stability is the mean agreement (AMI) of all pairs of runs, 1 when all find the same."
        f"{where} The dotted line marks the chosen resolution, {chosen:g}."
    )
