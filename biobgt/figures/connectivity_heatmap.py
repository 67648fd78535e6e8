"""One subject's connectivity, or the brain graph made of it, as a heatmap.

Colours mean the same for every subject: the scale depends on the estimator and never on the subject's own values,
except where a matrix was brought whose values lie outside it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from biobgt.colours import DIVERGING, PALE_GREY
from biobgt.figures.figure import Figure, registered
from biobgt.figures.frame import Trace, block_lines, block_ticks, layout, whose
from biobgt.figures.gaps import GAP_COLOUR, gap_words, with_gaps
from biobgt.figures.graph_words import graph_citations, graph_methods, regions_in_order
from biobgt.figures.region_order import RegionOrder, matrix_numbers
from biobgt.figures.shared_options import RegionOrderOptions
from biobgt.graph import ESTIMATORS, BrainGraph
from biobgt.options import option
from biobgt.wording import capitalised, percent

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.measured import Measured

Values = NDArray[np.float64]
MatrixShown = Literal["connectivity", "graph"]

_MATRICES: Mapping[str, str] = {"connectivity": "Functional connectivity", "graph": "Brain graph"}


def colour_limit(matrix: Values, estimator: str = "pearson") -> float:
    """Half the width of the colour scale: fixed for an estimator, wider only for a matrix brought in other units."""
    limit = ESTIMATORS[estimator].colour_limit
    largest = float(np.abs(matrix[~np.eye(len(matrix), dtype=bool)]).max())
    return largest if estimator == "pearson" and largest > limit else limit


@dataclass(frozen=True)
class HeatmapOptions(RegionOrderOptions):
    """Which matrix is drawn, with its regions in which order."""

    matrix: MatrixShown = option(
        "connectivity",
        title="Heatmap of",
        help="All connectivity, or what the brain graph keeps of it.",
        choices=get_args(MatrixShown),
        shown=_MATRICES,
        link="matrix_shown",
        earlier_links={title: matrix for matrix, title in _MATRICES.items()},
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
    limit : float
        The colours run from −limit to limit.
    estimator : str
        One of :data:`biobgt.graph.ESTIMATORS`.
    graph : BrainGraph or None
        The graph whose weights the matrix has; None where it is the connectivity itself.
    gaps : str
        Says how many regions are missing; their rows and columns are NaN.
    """

    key = "connectivity_heatmap"
    name = "Connectivity"
    takes = HeatmapOptions

    options: HeatmapOptions = field(default_factory=HeatmapOptions)
    subject: str = ""
    matrix: Values
    regions: Sequence[str]
    order: RegionOrder
    limit: float = 1.0
    estimator: str = "pearson"
    graph: BrainGraph | None = None
    gaps: str = ""

    @classmethod
    def of(cls, measured: "Measured", options: HeatmapOptions) -> Self:
        """Draw the subject's connectivity, or its graph on the same scale of colours."""
        subject, settings = measured.subject, measured.settings
        connectivity = measured.connectivity()
        graph = measured.graph() if options.matrix == "graph" else None
        return cls(
            options=options,
            title=f"{_MATRICES[options.matrix]} of {subject.id}",
            simulated=subject.simulated,
            methods=graph_methods(measured.atlas, settings),
            citations=graph_citations(measured.atlas, settings),
            subject=subject.id,
            matrix=with_gaps(connectivity if graph is None else graph.weights, subject),
            regions=measured.atlas.regions,
            order=regions_in_order(measured.atlas, options.order),
            limit=colour_limit(connectivity, settings.estimator),
            estimator=settings.estimator,
            graph=graph,
            gaps=gap_words(subject),
        )

    @property
    def quantity(self) -> str:
        """What the colours stand for."""
        return ESTIMATORS[self.estimator].quantity

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row and one column per region, in the order of the figure."""
        return matrix_numbers(self.matrix, self.regions, self.order)

    @property
    def caption(self) -> str:
        """Whose connectivity, by which estimator, or whose graph, made by which rules."""
        opening, n_regions, graph = whose(self.subject, self.simulated), len(self.regions), self.graph
        if graph is None:
            return (
                f"{opening}: functional connectivity between {n_regions} regions ({ESTIMATORS[self.estimator].words}). "
                f"Red is positive, blue negative, white zero; the scale runs to ±{self.limit:.3g}.{self.gaps}"
            )
        rules = "" if graph.settings is None else graph.settings.describe()
        return (
            f"{opening}: brain graph of {n_regions} regions with {graph.n_edges:,} connections "
            f"({percent(graph.density, 1)} of pairs). {capitalised(rules)}.{self.gaps}"
        )

    def plotly(self) -> "go.Figure":
        """Draw it for the screen; region names and values show on hover."""
        import plotly.graph_objects as go

        heatmap, square = heatmap_parts(self.matrix, self.regions, self.order, limit=self.limit, quantity=self.quantity)
        behind = {"plot_bgcolor": GAP_COLOUR} if self.gaps else {}
        return go.Figure([heatmap], {**layout(self.title, self.simulated, height=520), **square, **behind})

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.connectome_drawings import draw_connectivity_heatmap

        return draw_connectivity_heatmap(self, style)


def heatmap_parts(
    matrix: Values, regions: Sequence[str], order: RegionOrder, *, limit: float, quantity: str
) -> tuple[Trace, dict[str, Any]]:
    """The trace of a connectivity matrix, and its axes with the lines between blocks; other figures add to them.

    Parameters
    ----------
    matrix : ndarray, shape (n_regions, n_regions)
    regions : sequence of str, length n_regions
    order : RegionOrder
    limit : float
        Colours reach from -limit to limit.
    quantity : str
        What the values are, above the colour bar.
    """
    names = [escape(regions[i], quote=False) for i in order.order]
    heatmap = {
        "type": "heatmap",
        "z": matrix[np.ix_(order.order, order.order)].astype(np.float32),  # half the bytes to the browser
        "x": names,
        "y": names,
        "zmin": -limit,
        "zmax": limit,
        "colorscale": DIVERGING,
        "hovertemplate": f"%{{y}}<br>%{{x}}<br>{quantity} = %{{z:.3f}}<extra></extra>",
        "colorbar": colour_bar(quantity, y=-0.03 if order.blocks else -0.1),
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
