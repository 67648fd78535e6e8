"""Whether node entanglement agrees with another hub measure in one subject, region by region."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from biobgt.figures.figure import Figure, registered
from biobgt.figures.frame import LEGEND_BELOW, UNSELECTED, Values, layout, whose
from biobgt.figures.graph_words import region_number
from biobgt.figures.hub_words import CHOSEN_COLOUR, HUB_COLOUR, hub_words, strength_remark
from biobgt.figures.shared_options import region_option
from biobgt.hubs.hub_options import HubOptions
from biobgt.hubs.measures import FC_STRENGTH, HUB_MEASURES, NE, NEFF
from biobgt.options import option
from biobgt.wording import signed

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.hubs.rank_correlation import RankCorrelation
    from biobgt.measured import Measured


@dataclass(frozen=True)
class HubScatterOptions(HubOptions):
    """Which measure node entanglement is set against."""

    measure: str = option(NEFF, title="Hub measure", help="The measure that NE is compared with.", choices=HUB_MEASURES)
    region: str = region_option()


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class HubScatter(Figure):
    """Node entanglement against another measure, one point per region.

    Attributes
    ----------
    subject : str
    values, entanglement : ndarray, shape (n_regions,)
        The other measure, and node entanglement in bits.
    regions : sequence of str, length n_regions
    hubs : ndarray of bool, shape (n_regions,)
        By node entanglement.
    correlation : RankCorrelation
        Over the regions with signal.
    remark : str
        Ends the caption.
    """

    key = "hub_scatter"
    name = "NE against another measure"
    takes = HubScatterOptions

    options: HubScatterOptions = field(default_factory=HubScatterOptions)
    subject: str = ""
    values: Values
    entanglement: Values
    regions: Sequence[str]
    hubs: NDArray[np.bool_]
    correlation: "RankCorrelation"
    remark: str = ""

    @classmethod
    def of(cls, measured: "Measured", options: HubScatterOptions) -> Self:
        """Set the subject's node entanglement against another of its measures."""
        subject, table = measured.subject, measured.hub_table(options, (NE,))
        others = measured.hubs(options.perturbation).values(options.gamma, (options.measure,))
        region_number(measured.atlas, options.region)  # says so where there is no such region
        return cls(
            options=options,
            title=f"NE against {HUB_MEASURES[options.measure].in_words_of(measured.kind).short}",
            simulated=subject.simulated,
            subject=subject.id,
            values=np.asarray(others[options.measure], dtype=np.float64),
            entanglement=table[NE].to_numpy(),
            regions=measured.atlas.regions,
            hubs=table[f"{NE}_hub"].to_numpy(),
            correlation=measured.hub_correlation(options, options.measure),
            remark=strength_remark(measured) if options.measure == FC_STRENGTH else "",
            **hub_words(measured, options, (NE, options.measure)),
        )

    @property
    def subtitle(self) -> str:
        """The correlation with its interval."""
        found = self.correlation
        if found.rho != found.rho:  # NaN
            return "ρ is not defined"
        return f"ρ = {signed(found.rho)}, 95 % interval {signed(found.low)} to {signed(found.high)}"

    @property
    def picked(self) -> int | None:
        """The region to ring, counted from 0."""
        return self.regions.index(self.options.region) if self.options.region in self.regions else None

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per region."""
        import pandas as pd

        columns = {self.options.measure: self.values, NE: self.entanglement, f"{NE}_hub": self.hubs}
        return pd.DataFrame({"region": self.regions, **columns})

    @property
    def caption(self) -> str:
        """The correlation, and what it does not say."""
        short, found = HUB_MEASURES[self.options.measure].in_words_of(self.kind).short, self.correlation
        opening = (
            f"{whose(self.subject, self.simulated)}: NE at γ = {self.options.gamma:g}/mean(λ) against {short}, one "
            "point per region. "
        )
        if found.rho != found.rho:
            return f"{opening}Spearman's ρ is not defined: NE or {short} is the same in all regions with signal."
        return (
            f"{opening}Spearman's ρ = {signed(found.rho)}, 95 % bootstrap interval {signed(found.low)} to "
            f"{signed(found.high)}, over the {found.n_regions} regions with signal of this subject: it says nothing "
            f"about other subjects, and neighbouring regions are not independent.{self.remark}"
        )

    def plotly(self) -> "go.Figure":
        """Draw it for the screen; every point carries its region, counted from 0, in ``customdata``."""
        import plotly.graph_objects as go

        about = HUB_MEASURES[self.options.measure].in_words_of(self.kind)
        names = np.array([escape(name, quote=False) for name in self.regions], dtype=object)
        dots = {"size": 7, "opacity": 0.75}
        kinds: list[tuple[str, Any, dict[str, Any]]] = [
            ("other regions", np.flatnonzero(~self.hubs), {"color": HUB_MEASURES[NE].colour, **dots}),
            ("hubs by NE", np.flatnonzero(self.hubs), {"color": HUB_COLOUR, "symbol": "diamond", **dots}),
        ]
        if self.picked is not None:
            ring = {"color": CHOSEN_COLOUR, "symbol": "circle-open", "size": 15, "line": {"width": 3}}
            kinds.append((names[self.picked], np.array([self.picked]), ring))
        traces = [
            {
                "type": "scatter",
                "x": self.values[chosen],
                "y": self.entanglement[chosen],
                "mode": "markers",
                "name": name,
                "marker": marker,
                "unselected": UNSELECTED,
                "customdata": chosen,
                "text": names[chosen],
                "hovertemplate": f"%{{text}}<br>{about.short} %{{x:.3g}}<br>NE %{{y:.3g}} bits<extra></extra>",
            }
            for name, chosen, marker in kinds
        ]
        frame = layout(self.title, self.simulated, height=440, top=64)
        frame["title"]["subtitle"] = {"text": self.subtitle, "font": {"size": 13}}
        xaxis = {"title": {"text": about.axis}, "zeroline": False}
        yaxis = {"title": {"text": HUB_MEASURES[NE].axis}, "zeroline": False, "automargin": True}
        return go.Figure(traces, {**frame, "xaxis": xaxis, "yaxis": yaxis, "legend": LEGEND_BELOW})

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.hub_agreement_drawings import draw_hub_scatter

        return draw_hub_scatter(self, style)
