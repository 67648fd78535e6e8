"""One subject's region series as a carpet plot."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from biobgt.base.errors import InputError
from biobgt.figures.connectivity_heatmap import colour_bar
from biobgt.figures.figure import Figure, registered
from biobgt.figures.frame import block_lines, block_ticks, layout, whose
from biobgt.figures.graph_words import regions_in_order
from biobgt.figures.region_order import RegionOrder
from biobgt.figures.shared_options import RegionOrderOptions

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.results.measured import Measured

Values = NDArray[np.float64]

SERIES_LIMIT_SD = 2.5


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class SeriesCarpet(Figure):
    """Region series as a carpet (Power 2017): one row per region, one column per time point, the signal in grey.

    Attributes
    ----------
    subject : str
    series : ndarray, shape (n_timepoints, n_regions)
        Each region is drawn in its own standard deviations.
    regions : sequence of str, length n_regions
    order : RegionOrder
    tr : float or None
        Seconds between time points; without it time is counted in volumes.
    """

    key = "series_carpet"
    name = "Series"
    least_mm = 55
    takes = RegionOrderOptions

    options: RegionOrderOptions = field(default_factory=RegionOrderOptions)
    subject: str = ""
    series: Values
    regions: Sequence[str]
    order: RegionOrder
    tr: float | None = None

    @classmethod
    def of(cls, measured: "Measured", options: RegionOrderOptions) -> Self:
        """Draw the subject's series; one who was brought as a matrix has none."""
        subject, atlas = measured.subject, measured.atlas
        if subject.series is None:
            raise InputError(f"Subject '{subject.id}' was read from a connectivity matrix and has no series to draw.")
        return cls(
            options=options,
            title=f"Series of {subject.id}",
            simulated=subject.simulated,
            methods=("Series are shown as a carpet, each region in its own standard deviations (Power 2017).",),
            citations=("power2017",),
            subject=subject.id,
            series=subject.series,
            regions=atlas.regions,
            order=regions_in_order(atlas, options.order),
            tr=subject.tr,
        )

    @property
    def standardised(self) -> Values:
        """The series as drawn, shape (n_drawn, n_timepoints), in standard deviations; a silent region is 0."""
        deviations = self.series.std(axis=0)
        standardised = (self.series - self.series.mean(axis=0)) / np.where(deviations > 0, deviations, 1)
        drawn: Values = standardised[:, self.order.order].T
        return drawn

    @property
    def time_title(self) -> str:
        """What the axis of time is called."""
        return "Time (s)" if self.tr else "Volume"

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per time point, one column per region in the order of the figure."""
        import pandas as pd

        drawn = self.order.order
        numbers = pd.DataFrame(self.series[:, drawn], columns=[self.regions[i] for i in drawn])
        numbers.insert(0, "time point", np.arange(1, len(numbers) + 1), allow_duplicates=True)
        return numbers

    @property
    def caption(self) -> str:
        """Whose series, and what to look for."""
        n_timepoints, n_regions = self.series.shape
        return (
            f"{whose(self.subject, self.simulated)}: {n_timepoints} time points of {n_regions} regions, each in its "
            "own standard deviations; white is high, black low. Vertical stripes across all regions hint at motion or "
            "breathing."
        )

    def plotly(self) -> "go.Figure":
        """Draw it for the screen."""
        import plotly.graph_objects as go

        names = [escape(self.regions[i], quote=False) for i in self.order.order]
        steps = np.arange(len(self.series))
        when = "%{x:.0f} s" if self.tr else "volume %{x}"
        carpet = {
            "type": "heatmap",
            "z": self.standardised.astype(np.float32),
            "x": steps * self.tr if self.tr else steps + 1,
            "y": names,
            "zmin": -SERIES_LIMIT_SD,
            "zmax": SERIES_LIMIT_SD,
            "colorscale": "gray",
            "hovertemplate": f"%{{y}}<br>{when}<br>%{{z:.2f}} SD<extra></extra>",
            "colorbar": colour_bar("signal (SD)", y=-0.24),
        }
        frame = {
            **layout(self.title, self.simulated, height=440),
            "xaxis": {"title": {"text": self.time_title}, "showgrid": False, "zeroline": False},
            "yaxis": {"type": "category", "autorange": "reversed", "showgrid": False, **block_ticks(self.order, names)},
            "shapes": block_lines(self.order, both_ways=False),
        }
        return go.Figure([carpet], frame)

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.connectome_drawings import draw_series_carpet

        return draw_series_carpet(self, style)
