"""How a model answers to noise, on the screen: mean probability of each group over the noise that was added."""

from html import escape

import pandas as pd
import plotly.graph_objects as go

from biobgt.figures.attention import group_colour
from biobgt.figures.frame import Trace, layout

WARNED_COLOUR = "#7A868C"
WARNED = "share with a warning"
DASHES = ("solid", "dash", "dot")
X_TITLE = "White noise added to z-scored series"
Y_TITLE = "Mean probability"


def noise_response(points: pd.DataFrame, *, title: str = "", simulated: bool = False) -> go.Figure:
    """Draw the mean probability of each group, and the share of subjects with a warning, at every level of noise.

    Parameters
    ----------
    points : DataFrame
        ``noise``, ``group``, ``probability`` and ``warned``, of
        :func:`biobgt.training.robustness_views.noise_points`.
    title : str
    simulated : bool
        Adds the word to the title.
    """
    groups = list(dict.fromkeys(points["group"]))
    drawn = [
        _line(points[points["group"] == group], "probability", group, group_colour(group), DASHES[k % len(DASHES)])
        for k, group in enumerate(groups)
    ]
    warned = points[points["group"] == groups[0]]
    drawn.append(_line(warned, "warned", WARNED, WARNED_COLOUR, "dashdot"))
    frame = {
        **layout(title, simulated, height=420, top=90),
        "xaxis": {"title": {"text": X_TITLE}, "type": "category"},
        "yaxis": {"title": {"text": Y_TITLE}, "range": [-0.01, 1.01]},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
    }
    return go.Figure(drawn, frame)


def noise_caption(model: str, words: str, *, simulated: bool = False) -> str:
    """Say in words what the curves show; ``words`` are those of :func:`biobgt.training.robustness_views.noise_words`.

    Parameters
    ----------
    model, words : str
    simulated : bool
    """
    return (
        f"Model {model}{', simulated patients' if simulated else ''}: answers to noise. {words} Lines are mean "
        "probabilities; the grey line is the share of subjects who carry a warning or cannot be predicted."
    )


def _line(rows: pd.DataFrame, column: str, name: str, colour: str, dash: str) -> Trace:
    return {
        "type": "scatter",
        "x": rows["noise"].tolist(),
        "y": rows[column].to_numpy(),
        "mode": "lines+markers",
        "name": escape(name, quote=False),
        "line": {"color": colour, "width": 2, "dash": dash},
        "hovertemplate": "%{x}<br>%{y:.2f}<extra>%{fullData.name}</extra>",
    }
