"""Modularity against chance on the screen: Q of the subject's modules beside Q of null graphs."""

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from biobgt.figures.frame import layout, note_at_top, vertical_line, whose
from biobgt.wording import counted

if TYPE_CHECKING:  # it brings scikit-learn, which the start of the app does without
    from biobgt.modules import ModularityTest

_NULL, _OWN = "#9AA5AB", "#D55E00"


def modularity_against_chance(test: "ModularityTest", *, title: str = "", simulated: bool = False) -> go.Figure:
    """Draw how Q spreads over null graphs, and where the subject's lies.

    Parameters
    ----------
    test : ModularityTest
    title : str
    simulated : bool
    """
    histogram = {
        "type": "histogram",
        "x": test.null.tolist(),
        "nbinsx": 20,
        "name": "null graphs",
        "marker": {"color": _NULL},
        "hovertemplate": "Q %{x}: %{y} null graphs<extra></extra>",
    }
    note = note_at_top(test.q, f"this subject, Q = {test.q:.3f}", anchor="right", font={"color": _OWN})
    low, high = min([*test.null.tolist(), test.q]), max([*test.null.tolist(), test.q])
    room = 0.08 * (high - low) or 0.01
    frame = {
        **layout(title, simulated, height=320),
        "xaxis": {"title": {"text": "Modularity Q"}, "range": [low - room, high + room]},
        "yaxis": {"title": {"text": "Null graphs"}},
        "shapes": [vertical_line(test.q, {"color": _OWN, "width": 3})],
        "annotations": [note],
        "showlegend": False,
        "bargap": 0.05,
    }
    return go.Figure([histogram], frame)


def chance_caption(subject: str, test: "ModularityTest", *, simulated: bool) -> str:
    """Say what the test found."""
    n = len(test.null)
    z = f", z = {test.z:.1f}" if test.z == test.z else ""  # NaN where the nulls do not vary
    return (
        f"{whose(subject, simulated)}: Q = {test.q:.3f} against {test.null.mean():.3f} on average in "
        f"{counted(n, 'null graph')}{z}, p = {test.p:.3g}. Null graphs keep every region's number of connections and, "
        f"nearly, its strength; modules were sought in each anew (seed {test.seed}). The smallest p that "
        f"{counted(n, 'null graph')} can give is {1 / (n + 1):.2g}."
    )
