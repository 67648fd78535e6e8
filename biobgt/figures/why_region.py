"""Why this region? One region's surroundings before and after its perturbation, both spectra, the entropies over γ.

Arrays in, a plotly figure out. The words that go with them are in :mod:`biobgt.figures.why_captions`.
"""

from collections.abc import Sequence
from html import escape

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from biobgt.figures.frame import layout
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
    figure = go.Figure()
    figure.add_traces(_connections(places, weights, largest, colour=_GREY, of_region=False))
    figure.add_traces(_connections(places, weights, largest, colour=BEFORE_COLOUR, of_region=True))
    figure.add_trace(_circles(names, places, weights))
    figure.update_xaxes(visible=False, range=[-2.5, 2.5], fixedrange=True)
    figure.update_yaxes(visible=False, range=[-1.25, 1.25], fixedrange=True)
    figure.update_layout(
        annotations=[_label(name, place) for name, place in zip(names, places, strict=True)],
        showlegend=False,
        **layout(title, simulated, height=380),
    )
    return figure


def spectra_comparison(before: Values, after: Values, *, title: str = "", simulated: bool = False) -> go.Figure:
    """Draw the Laplacian eigenvalues before and after a perturbation, and by how much each moves.

    Parameters
    ----------
    before, after : ndarray, shape (n_regions,)
        Ascending.
    """
    numbers = np.arange(1, len(before) + 1)
    figure = make_subplots(rows=2, shared_xaxes=True, vertical_spacing=0.08, row_heights=[0.6, 0.4])
    for name, values, colour, style in (
        ("as measured", before, BEFORE_COLOUR, {"width": 2.2}),
        ("perturbed", after, AFTER_COLOUR, {"width": 1.6, "dash": "dash"}),
    ):
        figure.add_scatter(
            x=numbers,
            y=values,
            mode="lines",
            name=name,
            line={"color": colour, **style},
            hovertemplate=f"{name}: %{{y:.4g}}<extra></extra>",
            row=1,
            col=1,
        )
    figure.add_bar(
        x=numbers,
        y=after - before,
        name="change",
        marker={"color": CHOSEN_COLOUR, "line": {"width": 0}},
        hovertemplate="change: %{y:.3g}<extra></extra>",
        row=2,
        col=1,
    )
    figure.update_yaxes(title_text="eigenvalue λ", rangemode="tozero", row=1, col=1)
    figure.update_yaxes(title_text="change of λ", row=2, col=1)
    figure.update_xaxes(title_text="eigenvalues from smallest to largest", row=2, col=1)
    figure.update_layout(hovermode="x unified", bargap=0, legend=LEGEND, **layout(title, simulated, height=440, top=84))
    return figure


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
    figure = make_subplots(rows=2, shared_xaxes=True, vertical_spacing=0.08)
    lines = (
        ("S(G), as measured", before, {"color": BEFORE_COLOUR, "width": 2.2}, 1),
        ("S(Gᵢ), perturbed", after, {"color": AFTER_COLOUR, "width": 1.6, "dash": "dash"}, 1),
        ("|ΔS| of this region", np.abs(after - before), {"color": CHOSEN_COLOUR, "width": 2.2}, 2),
        ("|ΔS|, median region", typical, {"color": _GREY, "width": 1.4, "dash": "dot"}, 2),
    )
    for name, values, line, row in lines:
        hover = f"{name}: %{{y:.4g}} bits<extra></extra>"
        figure.add_scatter(x=gammas, y=values, mode="lines", name=name, line=line, hovertemplate=hover, row=row, col=1)
    figure.add_vline(x=chosen, line={"color": _GREY, "dash": "dot", "width": 2})
    figure.update_yaxes(title_text="entropy (bits)", row=1, col=1)
    figure.update_yaxes(title_text="|ΔS| (bits)", rangemode="tozero", row=2, col=1)
    figure.update_xaxes(type="log", tickvals=_GAMMA_TICKS)
    figure.update_xaxes(title_text="γ (in units of 1/mean(λ))", row=2, col=1)
    # Four names need two lines at 800 px; below the plot they push nothing away.
    legend = LEGEND | {"y": -0.2, "yanchor": "top"}
    figure.update_layout(hovermode="x unified", legend=legend, **layout(title, simulated, height=500))
    return figure


def _places(n_neighbours: int) -> Values:
    """The middle, then evenly round a circle; none stands straight above, where names would meet."""
    angles = (np.arange(n_neighbours) + 0.5) * 2 * np.pi / max(n_neighbours, 1)
    around = np.column_stack([np.sin(angles), np.cos(angles)])
    return np.vstack([np.zeros((1, 2)), around])


def _connections(places: Values, weights: Values, largest: float, *, colour: str, of_region: bool) -> list[go.Scatter]:
    """Lines in a few widths, because a trace has one; None parts one line from the next."""
    rows, columns = np.nonzero(np.triu(weights))
    mine = rows == 0
    rows, columns = (rows[mine], columns[mine]) if of_region else (rows[~mine], columns[~mine])
    shares = weights[rows, columns] / largest if largest > 0 else np.zeros(len(rows))
    steps = np.clip((shares * len(_WIDTHS)).astype(int), 0, len(_WIDTHS) - 1)
    traces = []
    for step in np.unique(steps):
        x: list[float | None] = []
        y: list[float | None] = []
        for i, j in zip(rows[steps == step], columns[steps == step], strict=True):
            x += [float(places[i, 0]), float(places[j, 0]), None]
            y += [float(places[i, 1]), float(places[j, 1]), None]
        line = {"color": colour, "width": _WIDTHS[step]}
        opacity = 0.85 if of_region else 0.4
        traces.append(go.Scatter(x=x, y=y, mode="lines", line=line, opacity=opacity, hoverinfo="skip"))
    return traces


def _circles(names: Sequence[str], places: Values, weights: Values) -> go.Scatter:
    colours = [CHOSEN_COLOUR] + [BEFORE_COLOUR] * (len(names) - 1)
    notes = ["the region itself"] + [f"weight {weight:.3g}" for weight in weights[0, 1:]]
    return go.Scatter(
        x=places[:, 0],
        y=places[:, 1],
        mode="markers",
        name="regions",
        marker={"color": colours, "size": [20] + [10] * (len(names) - 1), "opacity": 1, "line": {"width": 1}},
        text=[f"{escape(name, quote=False)}<br>{note}" for name, note in zip(names, notes, strict=True)],
        hovertemplate="%{text}<extra></extra>",
    )


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
