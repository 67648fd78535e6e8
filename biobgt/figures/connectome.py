"""One subject on the screen: the connectivity heatmap, the carpet plot of its series, the spread of its connections.

Arrays in, a plotly figure out, and for each figure a caption in words, which is also its text for screen readers.
Colours mean the same for every subject: the scale depends on the estimator and never on the subject's own values,
except where a matrix was brought whose values lie outside it.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from biobgt.figures.frame import RegionOrder, Trace, block_lines, block_ticks, layout, order_regions, whose
from biobgt.graph import ESTIMATORS, BrainGraph, ConnectomeSettings

# ±limit of the colour scale; partial correlations of many regions are small, Fisher z may pass 1.
COLOUR_LIMITS: Mapping[str, float] = {
    "pearson": 1.0,
    "ledoit-wolf": 1.0,
    "fisher-z": 1.5,
    "partial": 0.3,
    "tangent": 1.0,
}
SERIES_LIMIT_SD = 2.5
_DIVERGING = "RdBu_r"  # safe for the colour-blind; white is zero, red positive, blue negative
_KEPT_COLOUR, _DROPPED_COLOUR = "#0072B2", "#B8BDC4"
_BINS_PER_SIDE = 25


def colour_limit(matrix: NDArray[np.float64], estimator: str = "pearson") -> float:
    """Half the width of the colour scale: fixed for an estimator, wider only for a matrix brought in other units."""
    limit = COLOUR_LIMITS[estimator]
    largest = float(np.abs(matrix[~np.eye(len(matrix), dtype=bool)]).max())
    return largest if estimator == "pearson" and largest > limit else limit


def connectivity_heatmap(
    matrix: NDArray[np.float64],
    regions: Sequence[str],
    *,
    order: RegionOrder | None = None,
    limit: float = 1.0,
    title: str = "",
    quantity: str = "r",
    simulated: bool = False,
) -> go.Figure:
    """Draw a connectivity matrix; region names and values show on hover.

    Parameters
    ----------
    matrix : ndarray, shape (n_regions, n_regions)
    regions : sequence of str, length n_regions
    order : RegionOrder, optional
        None draws the atlas's order.
    limit : float
        The colours run from −limit to limit.
    title, quantity : str
        The figure's title, and what the colours stand for.
    simulated : bool
        Adds the word to the title, so that a saved picture says so too.
    """
    order = order or order_regions(len(matrix))
    heatmap, square = heatmap_parts(matrix, regions, order, limit=limit, quantity=quantity)
    return go.Figure([heatmap], {**layout(title, simulated, height=520), **square})


def heatmap_parts(
    matrix: NDArray[np.float64], regions: Sequence[str], order: RegionOrder, *, limit: float, quantity: str
) -> tuple[Trace, dict[str, Any]]:
    """The trace of a connectivity matrix, and its axes with the lines between blocks; other figures add to them."""
    names = [escape(regions[i], quote=False) for i in order.order]
    heatmap = {
        "type": "heatmap",
        "z": matrix[np.ix_(order.order, order.order)].astype(np.float32),  # half the bytes to the browser
        "x": names,
        "y": names,
        "zmin": -limit,
        "zmax": limit,
        "colorscale": _DIVERGING,
        "hovertemplate": f"%{{y}}<br>%{{x}}<br>{quantity} = %{{z:.3f}}<extra></extra>",
        "colorbar": _colourbar(quantity, y=-0.03 if order.blocks else -0.1),
    }
    axis = {"type": "category", "showgrid": False, "zeroline": False, "constrain": "domain"}
    axis |= block_ticks(order, names)
    square = {
        # The matrix is symmetric: names at the rows serve the columns too, and leave room for the matrix.
        "xaxis": axis | {"tickvals": [], "title": {"text": ""}},
        "yaxis": axis | {"autorange": "reversed", "scaleanchor": "x"},
        "shapes": block_lines(order, both_ways=True),
    }
    return heatmap, square


def series_carpet(
    series: NDArray[np.float64],
    regions: Sequence[str],
    *,
    order: RegionOrder | None = None,
    tr: float | None = None,
    title: str = "",
    simulated: bool = False,
) -> go.Figure:
    """Draw region series as a carpet (Power 2017): a row a region, a column a time point, grey the signal.

    Parameters
    ----------
    series : ndarray, shape (n_timepoints, n_regions)
        Each region is drawn in its own standard deviations.
    regions : sequence of str, length n_regions
    order : RegionOrder, optional
    tr : float, optional
        Seconds between time points; without it time is counted in volumes.
    title : str
    simulated : bool
    """
    order = order or order_regions(series.shape[1])
    deviations = series.std(axis=0)
    standardised = (series - series.mean(axis=0)) / np.where(deviations > 0, deviations, 1)
    names = [escape(regions[i], quote=False) for i in order.order]
    steps = np.arange(len(series))
    when = "%{x:.0f} s" if tr else "volume %{x}"
    carpet = {
        "type": "heatmap",
        "z": standardised[:, order.order].T.astype(np.float32),
        "x": steps * tr if tr else steps + 1,
        "y": names,
        "zmin": -SERIES_LIMIT_SD,
        "zmax": SERIES_LIMIT_SD,
        "colorscale": "gray",
        "hovertemplate": f"%{{y}}<br>{when}<br>%{{z:.2f}} SD<extra></extra>",
        "colorbar": _colourbar("signal (SD)", y=-0.24),
    }
    frame = {
        **layout(title, simulated, height=440),
        "xaxis": {"title": {"text": "Time (s)" if tr else "Volume"}, "showgrid": False, "zeroline": False},
        "yaxis": {"type": "category", "autorange": "reversed", "showgrid": False, **block_ticks(order, names)},
        "shapes": block_lines(order, both_ways=False),
    }
    return go.Figure([carpet], frame)


def connectivity_distribution(
    matrix: NDArray[np.float64],
    kept: NDArray[np.bool_],
    *,
    limit: float = 1.0,
    title: str = "",
    quantity: str = "r",
    simulated: bool = False,
) -> go.Figure:
    """Draw how often each strength occurs among pairs of regions, and which pairs the brain graph keeps.

    Parameters
    ----------
    matrix : ndarray, shape (n_regions, n_regions)
    kept : ndarray of bool, shape (n_regions, n_regions)
        Pairs that are connected in the graph.
    limit : float
        The axis shows at least −limit to limit, in about 50 bins.
    title, quantity : str
    simulated : bool
    """
    pairs = np.triu_indices(len(matrix), 1)
    values, in_graph = matrix[pairs], kept[pairs]
    edges = strength_bins(values, in_graph, limit=limit)
    bars = [
        {
            "type": "bar",
            "x": (edges[:-1] + edges[1:]) / 2,
            "y": np.histogram(values[chosen], bins=edges)[0],
            "width": edges[1] - edges[0],
            "name": f"{name} in the graph" if name == "kept" else name,
            "marker": {"color": colour, "line": {"width": 0}},
            "hovertemplate": f"{quantity} about %{{x:.2f}}<br>%{{y:,}} pairs {name}<extra></extra>",
        }
        for name, chosen, colour in (("kept", in_graph, _KEPT_COLOUR), ("dropped", ~in_graph, _DROPPED_COLOUR))
    ]
    frame = {
        **layout(title, simulated, height=520, top=84),
        "xaxis": {"title": {"text": quantity}, "zeroline": False},
        "yaxis": {"title": {"text": "Pairs of regions"}, "rangemode": "tozero"},
        "legend": {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "title": {"text": ""}},
        "barmode": "stack",
        "bargap": 0,
    }
    return go.Figure(bars, frame)


def strength_bins(values: NDArray[np.float64], kept: NDArray[np.bool_], *, limit: float) -> NDArray[np.float64]:
    """Edges of about 50 bins from −limit to limit or farther, one of them where the graph's threshold cut.

    A bin that lay across the cut would hold pairs of both kinds, and say that weaker pairs were kept than were.

    Parameters
    ----------
    values : ndarray, shape (n_pairs,)
    kept : ndarray of bool, shape (n_pairs,)
    limit : float

    Returns
    -------
    ndarray, shape (n_bins + 1,)
        Even and the same on both sides of 0.
    """
    width = limit / _BINS_PER_SIDE
    cut = float(np.abs(values[kept]).min(initial=np.inf))
    per_cut = round(cut / width) if np.isfinite(cut) else 0
    if per_cut:
        width = cut / per_cut
    n_bins = int(np.ceil(max(limit, float(np.abs(values).max())) / width - 1e-9))
    edges = np.arange(-n_bins, n_bins + 1, dtype=np.float64) * width
    if per_cut:  # a bin holds its lower edge and not its upper one: the pair at the cut itself was kept
        edges[n_bins + per_cut] = cut
        edges[n_bins - per_cut] = np.nextafter(-cut, 0)
    return edges


def connectivity_caption(
    subject: str, n_regions: int, *, estimator: str, limit: float = 1.0, simulated: bool = False
) -> str:
    """Say in words what the connectivity heatmap shows."""
    return (
        f"{whose(subject, simulated)}: functional connectivity between {n_regions} regions "
        f"({ESTIMATORS[estimator]}). Red is positive, blue negative, white zero; the scale runs to ±{limit:.3g}."
    )


def graph_caption(graph: BrainGraph) -> str:
    """Say in words what the heatmap of a brain graph shows."""
    return (
        f"{whose(graph.subject, graph.simulated)}: brain graph of {graph.n_regions} regions with "
        f"{graph.n_edges:,} connections ({graph.density:.1%} of pairs). {_rules(graph.settings)}"
    )


def series_caption(subject: str, n_timepoints: int, n_regions: int, *, simulated: bool = False) -> str:
    """Say in words what the carpet plot shows."""
    return (
        f"{whose(subject, simulated)}: {n_timepoints} time points of {n_regions} regions, each in its own standard "
        f"deviations; white is high, black low. Vertical stripes across all regions hint at motion or breathing."
    )


def distribution_caption(graph: BrainGraph, *, mean: float, mean_strength: float) -> str:
    """Say in words what the distribution shows; the two means are those of all pairs with signal."""
    n_pairs = graph.n_regions * (graph.n_regions - 1) // 2
    return (
        f"{whose(graph.subject, graph.simulated)}: connectivity over {n_pairs:,} pairs of regions. Pearson mean "
        f"{mean:.2f}, mean |r| {mean_strength:.2f}. The graph keeps {graph.n_edges:,} of the pairs "
        f"({graph.density:.1%}), drawn in blue."
    )


def _rules(settings: ConnectomeSettings | None) -> str:
    if settings is None:
        return ""
    text = settings.describe()
    return f"{text[0].upper()}{text[1:]}."


def _colourbar(quantity: str, *, y: float) -> dict[str, object]:
    # Below the plot: beside it, a square plot in a wide column would leave the bar far away.
    return {
        "orientation": "h",
        "thickness": 10,
        "len": 0.7,
        "y": y,
        "yanchor": "top",
        "title": {"text": quantity, "side": "bottom"},
        "outlinewidth": 1,
        "outlinecolor": "#9AA5AB",
    }
