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
from plotly.subplots import make_subplots

from biobgt.figures.attention import group_colour
from biobgt.figures.frame import layout
from biobgt.figures.modules import MODULE_COLOURS

OWN_MODEL = "BioBGT"
OWN_COLOUR, OTHER_COLOUR = "#0072B2", "#7A868C"
TITLES: Mapping[str, str] = {"auc": "AUC", "accuracy": "Accuracy"}
BINS = 20
_CHANCE = {"color": OTHER_COLOUR, "dash": "dot", "width": 1.5}


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
    figure = go.Figure()
    figure.add_scatter(x=[0, 1], y=[0, 1], mode="lines", name="chance", line=_CHANCE, hoverinfo="skip")
    for i, (name, curve) in enumerate(curves.items()):
        figure.add_scatter(
            x=curve["false_positive_rate"].to_numpy(),
            y=curve["true_positive_rate"].to_numpy(),
            mode="lines",
            name=escape(name, quote=False),
            line={"color": MODULE_COLOURS[i % len(MODULE_COLOURS)], "width": 2.5, "shape": "hv"},
            hovertemplate="1 − specificity %{x:.2f}<br>sensitivity %{y:.2f}<extra></extra>",
        )
    figure.update_xaxes(title_text="1 − specificity", range=[-0.01, 1.01], constrain="domain")
    figure.update_yaxes(title_text="Sensitivity", range=[-0.01, 1.01], scaleanchor="x", constrain="domain")
    figure.update_layout(legend=_legend(), **layout(title, simulated, height=460, top=84))
    return figure


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
    figure = go.Figure()
    figure.add_scatter(x=[0, 1], y=[0, 1], mode="lines", name="as claimed", line=_CHANCE, hoverinfo="skip")
    figure.add_scatter(
        x=curve["predicted"].to_numpy(),
        y=observed,
        customdata=curve["n"].to_numpy(),
        mode="markers+lines",
        name="observed, 95 % interval",
        marker={"color": OWN_COLOUR, "size": 8},
        line={"color": OWN_COLOUR, "width": 1},
        error_y={
            "type": "data",
            "array": curve["observed_high"].to_numpy() - observed,
            "arrayminus": observed - curve["observed_low"].to_numpy(),
            "color": OWN_COLOUR,
            "thickness": 1.5,
        },
        hovertemplate="claimed %{x:.0%}<br>observed %{y:.0%}<br>%{customdata} subjects<extra></extra>",
    )
    shown = escape(event, quote=False)
    figure.update_xaxes(title_text=f"Claimed probability of {shown}", range=[-0.01, 1.01], constrain="domain")
    figure.update_yaxes(
        title_text=f"Observed share of {shown}", range=[-0.01, 1.01], scaleanchor="x", constrain="domain"
    )
    figure.update_layout(legend=_legend(), **layout(title, simulated, height=460, top=84))
    return figure


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
    figure = make_subplots(rows=1, cols=len(metrics), subplot_titles=titles, shared_yaxes=True, horizontal_spacing=0.05)
    for column, metric in enumerate(metrics, start=1):
        rows = points[points["metric"] == metric]
        value = rows["value"].to_numpy()
        figure.add_trace(
            go.Scatter(
                x=value,
                y=[_wrapped(name) for name in rows["model"]],
                mode="markers",
                name=TITLES.get(metric, metric),
                marker={
                    "color": [OWN_COLOUR if name == OWN_MODEL else OTHER_COLOUR for name in rows["model"]],
                    "size": 11,
                    "symbol": ["diamond" if name == OWN_MODEL else "circle" for name in rows["model"]],
                },
                error_x={
                    "type": "data",
                    "array": rows["high"].to_numpy() - value,
                    "arrayminus": value - rows["low"].to_numpy(),
                    "color": OTHER_COLOUR,
                    "thickness": 1.5,
                },
                hovertemplate="%{y}<br>%{x:.3f}<extra></extra>",
            ),
            row=1,
            col=column,
        )
        if metric in chance:
            figure.add_vline(x=chance[metric], line=_CHANCE, row=1, col=column)
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    figure.update_xaxes(tickformat=".2f", nticks=6)
    figure.update_layout(showlegend=False, **layout(title, simulated, height=150 + 44 * len(models), top=80))
    figure.update_annotations(font_size=13)
    return figure


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
    figure = go.Figure()
    for k, name in enumerate(groups):
        own = shares[shares["group"] == name]
        figure.add_scatter(
            x=own[["from", "to"]].to_numpy().ravel(),
            y=np.repeat(own["share"].to_numpy(), 2),
            mode="lines",
            fill="tozeroy",
            opacity=0.8,
            name=f"{escape(name, quote=False)} (n = {own['subjects'].sum():,})",
            line={"color": group_colour(name), "width": 2, "dash": ("solid", "dash", "dot")[k % 3]},
            hovertemplate="probability about %{x:.2f}<br>%{y:.1%} of the group<extra></extra>",
        )
    if marked is not None:
        text = escape(marked_name, quote=False)
        figure.add_vline(
            x=marked,
            line={"color": "#D0021B", "width": 2.5},
            annotation={"text": text, "font": {"size": 13}, "xanchor": "right" if marked > 0.5 else "left"},
        )
    figure.update_xaxes(title_text=f"Probability of {escape(group, quote=False)}", range=[0, 1])
    figure.update_yaxes(title_text="Share of each group", tickformat=".0%", rangemode="tozero")
    figure.update_layout(legend=_legend(), **layout(title, simulated, height=420, top=90))
    return figure


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


def _legend() -> dict[str, Any]:
    return {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "title": {"text": ""}}


def _wrapped(name: str) -> str:
    """A model's name in two lines where it is long."""
    return escape(name, quote=False).replace(" (", "<br>(").replace(", ", ",<br>", 1)
