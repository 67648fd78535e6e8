"""One subject's connectivity, or the brain graph made of it, as a heatmap.

Colours mean the same for every subject: the scale depends on the estimator and never on the subject's own values,
except where a matrix was brought that is not of correlations: without negative values its colours are sequential, and
logarithmic where weights span decades.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from biobgt.base.colours import DIVERGING, PALE_GREY, SEQUENTIAL
from biobgt.base.options import option
from biobgt.base.wording import capitalised, percent, power_of_ten
from biobgt.data.graph import ESTIMATORS, PEARSON, BrainGraph, spans_decades
from biobgt.figures.figure import Figure, registered
from biobgt.figures.frame import Trace, block_lines, block_ticks, layout, whose
from biobgt.figures.gaps import GAP_COLOUR, gap_words, with_gaps
from biobgt.figures.graph_words import connectivity_words, graph_citations, graph_methods, regions_in_order
from biobgt.figures.region_order import RegionOrder, matrix_numbers
from biobgt.figures.shared_options import RegionOrderOptions

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.results.measured import Measured

Values = NDArray[np.float64]
MatrixShown = Literal["connectivity", "graph"]

_MATRICES: Mapping[str, str] = {"connectivity": "Connectivity", "graph": "Brain graph"}


@dataclass(frozen=True)
class ColourScale:
    """What colours of a connectivity matrix stand for.

    Attributes
    ----------
    low, high : float
        The ends of the scale.
    log : bool
        Whether colours follow the logarithm of weights; what is not above the low end has its colour.
    """

    low: float = -1.0
    high: float = 1.0
    log: bool = False

    @property
    def colours(self) -> str:
        """Diverging about zero, or sequential where nothing is negative."""
        return DIVERGING if self.low < 0 else SEQUENTIAL

    @property
    def words(self) -> str:
        """What colours mean, in a sentence of a caption."""
        if self.low < 0:
            return f"Red is positive, blue negative, white zero; the scale runs to ±{self.high:.3g}."
        if self.log:
            return (
                f"Bright is strong; the scale is logarithmic, from {self.low:.3g} to {self.high:.3g}, and pairs "
                "without a connection have its darkest colour."
            )
        return f"Bright is strong; the scale runs from {self.low:.3g} to {self.high:.3g}."

    def place(self, values: Values) -> Values:
        """Values as they lie along the scale."""
        return np.log10(np.clip(values, self.low, None)) if self.log else values

    @property
    def ticks(self) -> dict[str, Any]:
        """Tick marks of a logarithmic scale, at powers of ten; nothing for others, which a library ticks well."""
        if not self.log:
            return {}
        powers = range(ceil(log10(self.low) - 1e-9), floor(log10(self.high) + 1e-9) + 1)
        return {"tickvals": list(powers), "ticktext": [power_of_ten(power) for power in powers]}


def colour_scale(matrix: Values, quantity: str = "r", estimator: str = PEARSON) -> ColourScale:
    """The colours of a matrix: fixed for an estimator, and wider, or sequential, only for one in other units.

    Parameters
    ----------
    matrix : ndarray, shape (n_regions, n_regions)
    quantity : str
        What its values are called. Correlations have the same colours in every subject.
    estimator : str
        One of :data:`biobgt.data.graph.ESTIMATORS`.
    """
    limit, own = ESTIMATORS[estimator].colour_limit, estimator == PEARSON
    weights = matrix[~np.eye(len(matrix), dtype=bool)]
    largest = float(np.abs(weights).max())
    if not own or quantity == ESTIMATORS[PEARSON].quantity or weights.min() < 0:
        high = largest if own and largest > limit else limit
        return ColourScale(-high, high)
    log = spans_decades(weights)
    return ColourScale(float(weights[weights > 0].min()) if log else 0.0, largest or 1.0, log)


@dataclass(frozen=True)
class HeatmapOptions(RegionOrderOptions):
    """Which matrix is drawn, with its regions in which order."""

    matrix: MatrixShown = option(
        "connectivity",
        title="Heatmap of",
        help="All connectivity, or what the brain graph keeps of it.",
        shown=_MATRICES,
        link="matrix_shown",
    )


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class ConnectivityHeatmap(Figure):
    """A connectivity matrix, or the brain graph made of it.

    Attributes
    ----------
    subject : str
    matrix : ndarray, shape (n_regions, n_regions)
    regions : sequence of str, length n_regions
    order : RegionOrder
    scale : ColourScale
    quantity : str
        What the colours stand for.
    connectivity : str
        What the connectivity is, and where it came from in brackets.
    graph : BrainGraph or None
        The graph whose weights the matrix has; None where it is the connectivity itself.
    gaps : str
        Says how many regions are missing; their rows and columns are NaN.
    """

    key = "connectivity_heatmap"
    name = "Connectivity"
    least_mm = 55
    takes = HeatmapOptions

    options: HeatmapOptions = field(default_factory=HeatmapOptions)
    subject: str = ""
    matrix: Values
    regions: Sequence[str]
    order: RegionOrder
    scale: ColourScale = field(default_factory=ColourScale)
    quantity: str = "r"
    connectivity: str = "connectivity"
    graph: BrainGraph | None = None
    gaps: str = ""

    @classmethod
    def of(cls, measured: "Measured", options: HeatmapOptions) -> Self:
        """Draw the subject's connectivity, or its graph on the same scale of colours."""
        subject, settings = measured.subject, measured.settings
        connectivity, kind, quantity = measured.connectivity(), measured.kind, measured.quantity
        title = kind.title if options.matrix == "connectivity" else _MATRICES[options.matrix]
        graph = measured.graph() if options.matrix == "graph" else None
        return cls(
            options=options,
            title=f"{title} of {subject.id}",
            simulated=subject.simulated,
            methods=graph_methods(measured),
            citations=graph_citations(measured),
            subject=subject.id,
            matrix=with_gaps(connectivity if graph is None else graph.weights, subject),
            regions=measured.atlas.regions,
            order=regions_in_order(measured.atlas, options.order),
            scale=colour_scale(connectivity, quantity, settings.estimator),
            quantity=quantity,
            connectivity=connectivity_words(measured),
            graph=graph,
            gaps=gap_words(subject),
        )

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row and one column per region, in the order of the figure."""
        return matrix_numbers(self.matrix, self.regions, self.order)

    @property
    def caption(self) -> str:
        """Whose connectivity, by which estimator, or whose graph, made by which rules."""
        opening, n_regions, graph = whose(self.subject, self.simulated), len(self.regions), self.graph
        if graph is None:
            return f"{opening}: {self.connectivity}, between {n_regions} regions. {self.scale.words}{self.gaps}"
        rules = "" if graph.settings is None else graph.settings.describe(graph.kind)
        return (
            f"{opening}: brain graph of {n_regions} regions with {graph.n_edges:,} connections "
            f"({percent(graph.density, 1)} of pairs). {capitalised(rules)}.{self.gaps}"
        )

    def plotly(self) -> "go.Figure":
        """Draw it for the screen; region names and values show on hover."""
        import plotly.graph_objects as go

        heatmap, square = heatmap_parts(self.matrix, self.regions, self.order, scale=self.scale, quantity=self.quantity)
        behind = {"plot_bgcolor": GAP_COLOUR} if self.gaps else {}
        return go.Figure([heatmap], {**layout(self.title, self.simulated, height=520), **square, **behind})

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.connectome_drawings import draw_connectivity_heatmap

        return draw_connectivity_heatmap(self, style)


def heatmap_parts(
    matrix: Values, regions: Sequence[str], order: RegionOrder, *, scale: ColourScale, quantity: str
) -> tuple[Trace, dict[str, Any]]:
    """The trace of a connectivity matrix, and its axes with the lines between blocks; other figures add to them.

    Parameters
    ----------
    matrix : ndarray, shape (n_regions, n_regions)
    regions : sequence of str, length n_regions
    order : RegionOrder
    scale : ColourScale
    quantity : str
        What the values are, above the colour bar.
    """
    names = [escape(regions[i], quote=False) for i in order.order]
    shown = matrix[np.ix_(order.order, order.order)]
    low, high = scale.place(np.array([scale.low, scale.high]))
    heatmap: Trace = {
        "type": "heatmap",
        "z": scale.place(shown).astype(np.float32),  # half the bytes to the browser
        "x": names,
        "y": names,
        "zmin": float(low),
        "zmax": float(high),
        "colorscale": scale.colours,
        "hovertemplate": f"%{{y}}<br>%{{x}}<br>{quantity} = %{{z:{'.3f' if scale.low < 0 else '.3g'}}}<extra></extra>",
        "colorbar": colour_bar(quantity, y=-0.03 if order.blocks else -0.1) | scale.ticks,
    }
    if scale.log:
        heatmap["customdata"] = shown.astype(np.float32)
        heatmap["hovertemplate"] = heatmap["hovertemplate"].replace("%{z", "%{customdata")
    axis = {"type": "category", "showgrid": False, "zeroline": False, "constrain": "domain"}
    axis |= block_ticks(order, names)
    square = {
        # The matrix is symmetric: names at the rows serve the columns too, and leave room for the matrix.
        "xaxis": axis | {"tickvals": [], "title": {"text": ""}},
        "yaxis": axis | {"autorange": "reversed", "scaleanchor": "x"},
        "shapes": block_lines(order, both_ways=True),
    }
    return heatmap, square


def colour_bar(quantity: str, *, y: float) -> dict[str, object]:
    """A bar of colours below a heatmap."""
    # Below the plot: beside it, a square plot in a wide column would leave the bar far away.
    return {
        "orientation": "h",
        "thickness": 10,
        "len": 0.7,
        "y": y,
        "yanchor": "top",
        "title": {"text": quantity, "side": "bottom"},
        "outlinewidth": 1,
        "outlinecolor": PALE_GREY,
    }
