"""A figure of the register as small as a third of a page: the same drawing with less around it.

Its title, the names of networks, long legends and the toolbar's room are left out; whoever shows it says beside it
whose it is, and whether that is simulated. What the figure shows stays as it was drawn.
"""

from typing import TYPE_CHECKING, Any

from biobgt.figures.figure import Figure

if TYPE_CHECKING:
    import plotly.graph_objects as go

_MOST_NAMED = 5  # entries of a legend that fit below a third of a page
_SMALL, _SMALLER = 12, 10  # px, of letters
_BAR, _PANEL_TITLE = 52, 18  # px, of a colour bar with its words and numbers, and of what stands above a map
_EDGE = 4  # px


def compact(figure: Figure, *, height: int) -> "go.Figure":
    """Draw a figure for a third of a page.

    Parameters
    ----------
    figure : Figure
        That can be drawn for the screen.
    height : int
        In px.
    """
    drawn = figure.plotly()
    frame: dict[str, Any] = {"title": {"text": ""}, "height": height}
    named = [trace for trace in drawn.data if trace.name and trace.showlegend is not False]
    top = _EDGE
    if drawn.layout.coloraxis.colorscale is not None:
        frame["coloraxis"] = {"colorbar": _small_bar()}
        top += _BAR + _PANEL_TITLE
    elif not 0 < len(named) <= _MOST_NAMED:
        frame["showlegend"] = False
    else:
        flat = drawn.layout.scene.camera.eye.x is None
        frame["legend"] = {"font": {"size": _SMALLER}, "entrywidth": None, "y": -0.12 if flat else 0, "yanchor": "top"}
    drawn.update_layout(frame, margin={"l": _EDGE, "r": _EDGE, "t": top, "b": _EDGE})
    drawn.update_annotations(font={"size": _SMALL})
    words = {"tickfont": {"size": _SMALLER}, "title": {"font": {"size": _SMALLER}}}
    squares = any(trace.type == "heatmap" for trace in drawn.data)
    drawn.update_xaxes(words)
    drawn.update_yaxes(words, showticklabels=not squares)
    return drawn


def _small_bar() -> dict[str, Any]:
    """A colour bar at the top."""
    letters = {"size": _SMALLER}
    return {"thickness": 6, "len": 0.9, "y": 1, "tickfont": letters, "title": {"font": letters}}
