"""How good a model is, on the screen: ROC, reliability, results beside other models, where a subject lies.

Tables in, a plotly figure out, with a caption in words for each.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from biobgt.figures.attention import group_colour
from biobgt.figures.frame import (
    Trace,
    axis_suffix,
    in_panel,
    layout,
    note_at_top,
    panel_titles,
    side_by_side_axes,
    vertical_line,
)
from biobgt.figures.modules import MODULE_COLOURS

Values = NDArray[np.float64]

OWN_MODEL = "BioBGT"
OWN_COLOUR, OTHER_COLOUR = "#0072B2", "#7A868C"
TITLES: Mapping[str, str] = {"auc": "AUC", "accuracy": "Accuracy"}
BINS = 20
_CHANCE = {"color": OTHER_COLOUR, "dash": "dot", "width": 1.5}
_MARKED = {"color": "#D0021B", "width": 2.5}
_UNIT = {"range": [-0.01, 1.01], "constrain": "domain"}  # axes of shares, in a square


def roc_curves(curves: Mapping[str, pd.DataFrame], *, title: str = "", simulated: bool = False) -> go.Figure:
    """Draw ROC curves with the line of chance.

    Parameters
    ----------
    curves : mapping of str to DataFrame
        ``false_positive_rate`` and ``true_positive_rate``, of :func:`biobgt.training.roc_points`.
    title : str
    simulated : bool
        Adds the word to the title.
    """
    drawn = [
        {
            "type": "scatter",
            "x": curve["false_positive_rate"].to_numpy(),
            "y": curve["true_positive_rate"].to_numpy(),
            "mode": "lines",
            "name": escape(name, quote=False),
            "line": {"color": MODULE_COLOURS[i % len(MODULE_COLOURS)], "width": 2.5, "shape": "hv"},
            "hovertemplate": "1 − specificity %{x:.2f}<br>sensitivity %{y:.2f}<extra></extra>",
        }
        for i, (name, curve) in enumerate(curves.items())
    ]
    frame = layout(title, simulated, height=460, top=84)
    square = _square("1 − specificity", "Sensitivity")
    return go.Figure([_diagonal("chance"), *drawn], {**frame, **square, "legend": _legend()})


def reliability(curve: pd.DataFrame, *, event: str, title: str = "", simulated: bool = False) -> go.Figure:
    """Draw observed shares against claimed probabilities, with Wilson intervals.

    Parameters
    ----------
    curve : DataFrame
        ``predicted``, ``observed``, ``observed_low``, ``observed_high`` and ``n``, of
        :func:`biobgt.training.reliability_curve`.
    event : str
        What is claimed, such as ``ASD``.
    title : str
    simulated : bool
    """
    observed = curve["observed"].to_numpy()
    points = {
        "type": "scatter",
        "x": curve["predicted"].to_numpy(),
        "y": observed,
        "customdata": curve["n"].to_numpy(),
        "mode": "markers+lines",
        "name": "observed, 95 % interval",
        "marker": {"color": OWN_COLOUR, "size": 8},
        "line": {"color": OWN_COLOUR, "width": 1},
        "error_y": _interval(curve["observed_low"].to_numpy(), observed, curve["observed_high"].to_numpy(), OWN_COLOUR),
        "hovertemplate": "claimed %{x:.0%}<br>observed %{y:.0%}<br>%{customdata} subjects<extra></extra>",
    }
    shown = escape(event, quote=False)
    frame = layout(title, simulated, height=460, top=84)
    square = _square(f"Claimed probability of {shown}", f"Observed share of {shown}")
    return go.Figure([_diagonal("as claimed"), points], {**frame, **square, "legend": _legend()})


def results_beside(
    points: pd.DataFrame, *, chance: Mapping[str, float], title: str = "", simulated: bool = False
) -> go.Figure:
    """Draw a model's results beside those of other models, with intervals, a panel a metric.

    Parameters
    ----------
    points : DataFrame
        ``metric``, ``model``, ``value``, ``low`` and ``high`` (NaN for none).
    chance : mapping of str to float
        What guessing gives, by metric.
    title : str
    simulated : bool
    """
    metrics = list(dict.fromkeys(points["metric"]))
    models = list(dict.fromkeys(points["model"]))
    titles = [TITLES.get(metric, metric) for metric in metrics]
    traces = [_results(points[points["metric"] == metric], metric) | in_panel(i) for i, metric in enumerate(metrics)]
    axes = side_by_side_axes(len(metrics), gap=0.05, shared=True)
    for panel in range(len(metrics)):
        axes[f"xaxis{axis_suffix(panel)}"] |= {"tickformat": ".2f", "nticks": 4}
        axes[f"yaxis{axis_suffix(panel)}"] |= {"type": "category", "autorange": "reversed", "showgrid": False}
    guesses = [(i, chance[metric]) for i, metric in enumerate(metrics) if metric in chance]
    frame = {
        **layout(title, simulated, height=150 + 44 * len(models), top=80),
        **axes,
        "shapes": [vertical_line(value, _CHANCE, panel=panel) for panel, value in guesses],
        "annotations": panel_titles(titles, axes),
        "showlegend": False,
    }
    return go.Figure(traces, frame)


def _results(rows: pd.DataFrame, metric: str) -> Trace:
    """One metric of all models, with intervals."""
    value = rows["value"].to_numpy()
    own = [name == OWN_MODEL for name in rows["model"]]
    return {
        "type": "scatter",
        "x": value,
        "y": [_wrapped(name) for name in rows["model"]],
        "mode": "markers",
        "name": TITLES.get(metric, metric),
        "marker": {
            "color": [OWN_COLOUR if mine else OTHER_COLOUR for mine in own],
            "size": 11,
            "symbol": ["diamond" if mine else "circle" for mine in own],
        },
        "error_x": _interval(rows["low"].to_numpy(), value, rows["high"].to_numpy(), OTHER_COLOUR),
        "hovertemplate": "%{y}<br>%{x:.3f}<extra></extra>",
    }


def probabilities_by_group(
    values: NDArray[np.float64],
    labels: NDArray[np.int64],
    groups: Sequence[str],
    *,
    group: str,
    marked: float | None = None,
    marked_name: str = "",
    title: str = "",
    simulated: bool = False,
) -> go.Figure:
    """Draw how a group's probability spreads over the subjects of each true group, and where one subject lies.

    Parameters
    ----------
    values : ndarray, shape (n_subjects,)
        Out-of-fold probability of ``group``.
    labels : ndarray of int, shape (n_subjects,)
        True groups, as positions in ``groups``.
    groups : sequence of str
    group : str
    marked : float, optional
        One subject's probability.
    marked_name : str
        That subject.
    title : str
    simulated : bool
    """
    shares = group_shares(values, labels, groups)
    traces = [_spread(shares[shares["group"] == name], name, k) for k, name in enumerate(groups)]
    frame = {
        **layout(title, simulated, height=420, top=90),
        "xaxis": {"title": {"text": f"Probability of {escape(group, quote=False)}"}, "range": [0, 1]},
        "yaxis": {"title": {"text": "Share of each group"}, "tickformat": ".0%", "rangemode": "tozero"},
        "legend": _legend(),
    }
    if marked is not None:
        text, anchor = escape(marked_name, quote=False), "right" if marked > 0.5 else "left"
        frame["shapes"] = [vertical_line(marked, _MARKED)]
        frame["annotations"] = [note_at_top(marked, text, anchor=anchor, font={"size": 13})]
    return go.Figure(traces, frame)


def _spread(shares: pd.DataFrame, name: str, number: int) -> Trace:
    """One group's shares as steps; neighbours differ in the dashes of their lines."""
    return {
        "type": "scatter",
        "x": shares[["from", "to"]].to_numpy().ravel(),
        "y": np.repeat(shares["share"].to_numpy(), 2),
        "mode": "lines",
        "fill": "tozeroy",
        "opacity": 0.8,
        "name": f"{escape(name, quote=False)} (n = {shares['subjects'].sum():,})",
        "line": {"color": group_colour(name), "width": 2, "dash": ("solid", "dash", "dot")[number % 3]},
        "hovertemplate": "probability about %{x:.2f}<br>%{y:.1%} of the group<extra></extra>",
    }


def group_shares(values: NDArray[np.float64], labels: NDArray[np.int64], groups: Sequence[str]) -> pd.DataFrame:
    """Count how many subjects of each true group were given a probability in each of twenty bins.

    Parameters
    ----------
    values : ndarray, shape (n_subjects,)
    labels : ndarray of int, shape (n_subjects,)
        True groups, as positions in ``groups``.

    Returns
    -------
    DataFrame
        ``group``, ``from``, ``to``, ``subjects`` and ``share`` of the group.
    """
    edges = np.linspace(0, 1, BINS + 1)
    frames = []
    for k, name in enumerate(groups):
        found = np.histogram(values[labels == k], bins=edges)[0]
        share = found / max(1, found.sum())
        columns = {"group": name, "from": edges[:-1], "to": edges[1:], "subjects": found, "share": share}
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)


def _diagonal(name: str) -> Trace:
    drawn = {"mode": "lines", "name": name, "line": _CHANCE, "hoverinfo": "skip"}
    return {"type": "scatter", "x": [0, 1], "y": [0, 1], **drawn}


def _square(x: str, y: str) -> dict[str, Any]:
    """Axes from 0 to 1, as long as each other."""
    return {"xaxis": {**_UNIT, "title": {"text": x}}, "yaxis": {**_UNIT, "title": {"text": y}, "scaleanchor": "x"}}


def _interval(low: Values, value: Values, high: Values, colour: str) -> dict[str, Any]:
    """Error bars of different length on the two sides."""
    return {"type": "data", "array": high - value, "arrayminus": value - low, "color": colour, "thickness": 1.5}


def _legend() -> dict[str, Any]:
    return {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "title": {"text": ""}}


def _wrapped(name: str) -> str:
    """A model's name in two lines where it is long."""
    return escape(name, quote=False).replace(" (", "<br>(").replace(", ", ",<br>", 1)
