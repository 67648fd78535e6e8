"""How strong the connections of one subject are, and which of them the brain graph keeps."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from biobgt.base.colours import BLUE
from biobgt.base.wording import percent
from biobgt.data.graph import PEARSON
from biobgt.figures.connectivity_heatmap import ColourScale, colour_scale
from biobgt.figures.figure import Figure, registered
from biobgt.figures.frame import layout, whose
from biobgt.figures.gaps import with_gaps
from biobgt.figures.graph_words import graph_citations, graph_methods
from biobgt.figures.register import NoOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.results.measured import Measured

Values = NDArray[np.float64]

_KEPT_COLOUR, _DROPPED_COLOUR = BLUE, "#B8BDC4"
_BINS_PER_SIDE = 25
PAIRS_TITLE = "Pairs of regions"


@dataclass(frozen=True)
class Bars:
    """Pairs of one kind: ``name``, ``colour`` and how many there are in each bin, ``counts``, shape (n_bins,)."""

    name: str
    colour: str
    counts: NDArray[np.int64]


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class ConnectivityDistribution(Figure):
    """How often each strength occurs among pairs of regions, and which pairs the brain graph keeps.

    Attributes
    ----------
    subject : str
    matrix : ndarray, shape (n_regions, n_regions)
    kept : ndarray of bool, shape (n_regions, n_regions)
        Pairs that are connected in the graph.
    regions : sequence of str, length n_regions
    scale : ColourScale
        The axis shows at least its range, in about 50 bins; pairs without a connection lie off a logarithmic one.
    quantity : str
        What the axis stands for.
    mean, mean_strength : float
        Of the Pearson or the given connectivity, and of its absolute values, over all pairs of regions with signal.
    mean_of : str
        What these means are of: r, or what the given values are called.
    """

    key = "connectivity_distribution"
    name = "Distribution of connections"

    options: NoOptions = field(default_factory=NoOptions)
    subject: str = ""
    matrix: Values
    kept: NDArray[np.bool_]
    regions: "Sequence[str]" = ()
    scale: ColourScale = field(default_factory=ColourScale)
    quantity: str = "r"
    mean: float = float("nan")
    mean_strength: float = float("nan")
    mean_of: str = "r"

    @classmethod
    def of(cls, measured: "Measured", options: NoOptions) -> Self:
        """Count the subject's connections by their strength."""
        subject, settings = measured.subject, measured.settings
        connectivity = measured.connectivity()
        mean, mean_strength = measured.mean_connectivity()
        return cls(
            options=options,
            title=f"Connections of {subject.id}",
            simulated=subject.simulated,
            methods=graph_methods(measured),
            citations=graph_citations(measured),
            subject=subject.id,
            matrix=with_gaps(connectivity, subject),
            kept=measured.graph().weights != 0,
            regions=measured.atlas.regions,
            scale=colour_scale(connectivity, measured.quantity, settings.estimator),
            quantity=measured.quantity,
            mean=mean,
            mean_strength=mean_strength,
            mean_of=replace(measured, settings=replace(settings, estimator=PEARSON)).quantity,
        )

    @property
    def pairs(self) -> tuple[Values, NDArray[np.bool_]]:
        """Strength of every pair of regions with data, and whether the graph keeps it, shape (n_pairs,) each."""
        return self.matrix[self._measured], self.kept[self._measured]

    @property
    def _measured(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The two regions of each pair of which there are data, shape (n_pairs,) each."""
        first, second = np.triu_indices(len(self.matrix), 1)
        known = np.isfinite(self.matrix[first, second])
        return first[known], second[known]

    @property
    def bins(self) -> Values:
        """Edges of the bins, shape (n_bins + 1,)."""
        return strength_bins(*self.pairs, scale=self.scale)

    @property
    def bars(self) -> tuple[Bars, Bars]:
        """The pairs that are kept, and those that are not, in the bins."""
        (values, kept), edges = self.pairs, self.bins
        counts = [np.histogram(values[chosen], bins=edges)[0] for chosen in (kept, ~kept)]
        return Bars("kept in the graph", _KEPT_COLOUR, counts[0]), Bars("dropped", _DROPPED_COLOUR, counts[1])

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per pair of regions."""
        import pandas as pd

        first, second = self._measured
        names = np.asarray(self.regions, dtype=object)
        values, kept = self.pairs
        return pd.DataFrame(
            {"region": names[first], "other region": names[second], "connectivity": values, "kept": kept}
        )

    @property
    def caption(self) -> str:
        """How strong connections are on average, and how many of them are kept."""
        (values, kept), of = self.pairs, self.mean_of
        mean = (
            f"Mean {of} {self.mean:.2f}, mean |{of}| {self.mean_strength:.2f}."
            if self.scale.low < 0
            else f"Mean {of} {self.mean:.3g}."
        )
        none = f" {(values == 0).sum():,} of them have no connection, and are not drawn." if self.scale.log else ""
        return (
            f"{whose(self.subject, self.simulated)}: connectivity over {len(kept):,} pairs of regions.{none} {mean} "
            f"The graph keeps {kept.sum():,} of the pairs ({percent(kept.mean(), 1)}), drawn in blue."
        )

    def plotly(self) -> "go.Figure":
        """Draw it for the screen."""
        import plotly.graph_objects as go

        edges, log = self.scale.place(self.bins), self.scale.log
        about = "10^%{x:.1f}" if log else "%{x:.2f}" if self.scale.low < 0 else "%{x:.3g}"
        bars = [
            {
                "type": "bar",
                "x": (edges[:-1] + edges[1:]) / 2,
                "y": one.counts,
                "width": np.diff(edges),
                "name": one.name,
                "marker": {"color": one.colour, "line": {"width": 0}},
                "hovertemplate": f"{self.quantity} about {about}<br>%{{y:,}} pairs {one.name}<extra></extra>",
            }
            for one in self.bars
        ]
        frame = {
            **layout(self.title, self.simulated, height=520, top=84),
            "xaxis": {"title": {"text": self.quantity}, "zeroline": False, **self.scale.ticks},
            "yaxis": {"title": {"text": PAIRS_TITLE}, "rangemode": "tozero"},
            "legend": {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "title": {"text": ""}},
            "barmode": "stack",
            "bargap": 0,
        }
        return go.Figure(bars, frame)

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.connectome_drawings import draw_connectivity_distribution

        return draw_connectivity_distribution(self, style)


def strength_bins(values: Values, kept: NDArray[np.bool_], *, scale: ColourScale) -> Values:
    """Edges of about 50 bins over a scale or farther, one of them where the graph's threshold cut.

    A bin that lay across the cut would hold pairs of both kinds, and say that weaker pairs were kept than were.

    Parameters
    ----------
    values : ndarray, shape (n_pairs,)
    kept : ndarray of bool, shape (n_pairs,)
    scale : ColourScale

    Returns
    -------
    ndarray, shape (n_bins + 1,)
        Even and the same on both sides of 0; from 0 on where nothing is negative; of a logarithmic scale, even in
        logarithms.
    """
    cut = float(np.abs(values[kept]).min(initial=np.inf))
    if scale.log:
        edges = np.geomspace(scale.low, np.nextafter(max(scale.high, float(values.max())), np.inf), 2 * _BINS_PER_SIDE)
        if edges[0] < cut < edges[-1]:
            edges[max(int(np.searchsorted(edges, cut, side="right")) - 1, 1)] = cut
        return edges
    width = scale.high / _BINS_PER_SIDE
    per_cut = round(cut / width) if np.isfinite(cut) else 0
    if per_cut:
        width = cut / per_cut
    n_bins = int(np.ceil(max(scale.high, float(np.abs(values).max())) / width - 1e-9))
    edges = np.arange(-n_bins, n_bins + 1, dtype=np.float64) * width
    if per_cut:  # a bin holds its lower edge and not its upper one: the pair at the cut itself was kept
        edges[n_bins + per_cut] = cut
        edges[n_bins - per_cut] = np.nextafter(-cut, 0)
    return edges if scale.low < 0 else edges[n_bins:]
