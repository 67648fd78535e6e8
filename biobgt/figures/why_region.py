"""Why this region? One region's surroundings before and after its perturbation, both spectra, the entropies over γ.

Arrays in, a plotly figure out. The words that go with them are in :mod:`biobgt.figures.why_captions`.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from biobgt.figures.frame import Trace, in_panel, layout, stacked_axes, vertical_line
from biobgt.figures.hubs import CHOSEN_COLOUR, HUB_COLOUR, LEGEND, MEASURE_COLOURS

Values = NDArray[np.float64]

MOST_DRAWN = 16  # neighbours: more names than these would lie on one another
BEFORE_COLOUR = MEASURE_COLOURS["node_entanglement"]
AFTER_COLOUR = HUB_COLOUR
_GREY = "#7A868C"
_WIDTHS = (0.6, 1.4, 2.4, 3.6, 5.0)
_LONGEST_NAME = 21
_GAMMA_TICKS = (0.1, 0.3, 1, 3, 10, 30, 100)


def neighbourhood_drawing(
    names: Sequence[str], weights: Values, *, largest: float, title: str, simulated: bool = False
) -> go.Figure:
    """Draw a region in the middle of its neighbours, with the connections among them.

    Parameters
    ----------
    names : sequence of str, length k + 1
        The region first, then its neighbours, clockwise from the top.
    weights : ndarray, shape (k + 1, k + 1)
        Among them; the thicker a line, the larger the weight.
    largest : float
        The weight of the thickest line, the same for drawings that are to be compared.
    title : str
    simulated : bool
    """
    places = _places(len(names) - 1)
    traces = _connections(places, weights, largest, colour=_GREY, of_region=False)
    traces += _connections(places, weights, largest, colour=BEFORE_COLOUR, of_region=True)
    traces.append(_circles(names, places, weights))
    frame = {
        **layout(title, simulated, height=380),
        "xaxis": {"visible": False, "range": [-2.5, 2.5], "fixedrange": True},
        "yaxis": {"visible": False, "range": [-1.25, 1.25], "fixedrange": True},
        "annotations": [_label(name, place) for name, place in zip(names, places, strict=True)],
        "showlegend": False,
    }
    return go.Figure(traces, frame)


def spectra_comparison(before: Values, after: Values, *, title: str = "", simulated: bool = False) -> go.Figure:
    """Draw the Laplacian eigenvalues before and after a perturbation, and by how much each moves.

    Parameters
    ----------
    before, after : ndarray, shape (n_regions,)
        Ascending.
    """
    numbers = np.arange(1, len(before) + 1)
    measured = {"color": BEFORE_COLOUR, "width": 2.2}
    perturbed = {"color": AFTER_COLOUR, "width": 1.6, "dash": "dash"}
    change = {
        "type": "bar",
        "x": numbers,
        "y": after - before,
        "name": "change",
        "marker": {"color": CHOSEN_COLOUR, "line": {"width": 0}},
        "hovertemplate": "change: %{y:.3g}<extra></extra>",
        **in_panel(1),
    }
    traces = [
        _line("as measured", numbers, before, measured, panel=0),
        _line("perturbed", numbers, after, perturbed, panel=0),
        change,
    ]
    axes = stacked_axes(2, gap=0.08, heights=[0.6, 0.4])
    axes["yaxis"] |= {"title": {"text": "eigenvalue λ"}, "rangemode": "tozero"}
    axes["yaxis2"] |= {"title": {"text": "change of λ"}}
    axes["xaxis2"] |= {"title": {"text": "eigenvalues from smallest to largest"}}
    frame = layout(title, simulated, height=440, top=84)
    return go.Figure(traces, {**frame, **axes, "hovermode": "x unified", "bargap": 0, "legend": LEGEND})


def entropy_comparison(
    gammas: Values,
    before: Values,
    after: Values,
    *,
    typical: Values,
    chosen: float,
    title: str = "",
    simulated: bool = False,
) -> go.Figure:
    """Draw the entropies before and after a perturbation over γ, and their difference.

    Parameters
    ----------
    gammas : ndarray, shape (n_gammas,)
        In units of 1/mean(λ).
    before, after : ndarray, shape (n_gammas,)
        In bits.
    typical : ndarray, shape (n_gammas,)
        The difference of a typical region, to compare with.
    chosen : float
        The γ to mark.
    """
    lines = (
        ("S(G), as measured", before, {"color": BEFORE_COLOUR, "width": 2.2}, 0),
        ("S(Gᵢ), perturbed", after, {"color": AFTER_COLOUR, "width": 1.6, "dash": "dash"}, 0),
        ("|ΔS| of this region", np.abs(after - before), {"color": CHOSEN_COLOUR, "width": 2.2}, 1),
        ("|ΔS|, median region", typical, {"color": _GREY, "width": 1.4, "dash": "dot"}, 1),
    )
    traces = [_line(name, gammas, values, line, panel=panel, unit=" bits") for name, values, line, panel in lines]
    mark = {"color": _GREY, "dash": "dot", "width": 2}
    axes = stacked_axes(2, gap=0.08)
    axes["xaxis"] |= {"type": "log", "tickvals": _GAMMA_TICKS}
    axes["xaxis2"] |= {"type": "log", "tickvals": _GAMMA_TICKS, "title": {"text": "γ (in units of 1/mean(λ))"}}
    axes["yaxis"] |= {"title": {"text": "entropy (bits)"}}
    axes["yaxis2"] |= {"title": {"text": "|ΔS| (bits)"}, "rangemode": "tozero"}
    frame = {
        **layout(title, simulated, height=500),
        **axes,
        "shapes": [vertical_line(chosen, mark, panel=panel) for panel in (0, 1)],
        "hovermode": "x unified",
        # Four names need two lines at 800 px; below the plot they push nothing away.
        "legend": LEGEND | {"y": -0.2, "yanchor": "top"},
    }
    return go.Figure(traces, frame)


def _line(name: str, x: NDArray[Any], y: Values, line: Mapping[str, object], *, panel: int, unit: str = "") -> Trace:
    return {
        "type": "scatter",
        "x": x,
        "y": y,
        "mode": "lines",
        "name": name,
        "line": line,
        "hovertemplate": f"{name}: %{{y:.4g}}{unit}<extra></extra>",
        **in_panel(panel),
    }


def _places(n_neighbours: int) -> Values:
    """The middle, then evenly round a circle; none stands straight above, where names would meet."""
    angles = (np.arange(n_neighbours) + 0.5) * 2 * np.pi / max(n_neighbours, 1)
    around = np.column_stack([np.sin(angles), np.cos(angles)])
    return np.vstack([np.zeros((1, 2)), around])


def _connections(places: Values, weights: Values, largest: float, *, colour: str, of_region: bool) -> list[Trace]:
    """Lines in a few widths, because a trace has one; None parts one line from the next."""
    rows, columns = np.nonzero(np.triu(weights))
    mine = rows == 0
    rows, columns = (rows[mine], columns[mine]) if of_region else (rows[~mine], columns[~mine])
    shares = weights[rows, columns] / largest if largest > 0 else np.zeros(len(rows))
    steps = np.clip((shares * len(_WIDTHS)).astype(int), 0, len(_WIDTHS) - 1)
    traces: list[Trace] = []
    for step in np.unique(steps):
        x: list[float | None] = []
        y: list[float | None] = []
        for i, j in zip(rows[steps == step], columns[steps == step], strict=True):
            x += [float(places[i, 0]), float(places[j, 0]), None]
            y += [float(places[i, 1]), float(places[j, 1]), None]
        line = {"color": colour, "width": _WIDTHS[step]}
        opacity = 0.85 if of_region else 0.4
        drawn = {"mode": "lines", "line": line, "opacity": opacity, "hoverinfo": "skip"}
        traces.append({"type": "scatter", "x": x, "y": y, **drawn})
    return traces


def _circles(names: Sequence[str], places: Values, weights: Values) -> Trace:
    colours = [CHOSEN_COLOUR] + [BEFORE_COLOUR] * (len(names) - 1)
    notes = ["the region itself"] + [f"weight {weight:.3g}" for weight in weights[0, 1:]]
    return {
        "type": "scatter",
        "x": places[:, 0],
        "y": places[:, 1],
        "mode": "markers",
        "name": "regions",
        "marker": {"color": colours, "size": [20] + [10] * (len(names) - 1), "opacity": 1, "line": {"width": 1}},
        "text": [f"{escape(name, quote=False)}<br>{note}" for name, note in zip(names, notes, strict=True)],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _label(name: str, place: Values) -> dict[str, object]:
    x, y = place.tolist()
    # Names of atlases end in what tells neighbours apart: the side, a number.
    shown = name if len(name) <= _LONGEST_NAME else f"{name[:10]}…{name[-10:]}"
    in_the_middle = x == y == 0
    return {
        "x": x,
        "y": y,
        "text": f"<b>{escape(shown, quote=False)}</b>" if in_the_middle else escape(shown, quote=False),
        "showarrow": False,
        "xanchor": "center" if in_the_middle else ("left" if x > 0 else "right"),
        "xshift": 0 if in_the_middle else (8 if x > 0 else -8),
        "yshift": 20 if in_the_middle else 0,
        # On lines of any colour, in a light and in a dark page.
        "font": {"size": 11, "color": "#000000"} if in_the_middle else {"size": 11},
        "bgcolor": CHOSEN_COLOUR if in_the_middle else "rgba(0, 0, 0, 0)",
    }
