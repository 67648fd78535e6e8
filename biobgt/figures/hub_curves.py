"""Hub measures over the regions of one subject, all or a random few, with its group's mean and spread behind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.figures.figure import Figure, registered
from biobgt.figures.frame import (
    LEGEND,
    UNSELECTED,
    Trace,
    Values,
    axis_suffix,
    block_ticks,
    in_panel,
    layout,
    spread_band,
    stacked_axes,
    whose,
)
from biobgt.figures.gaps import gap_words, with_gaps
from biobgt.figures.graph_words import region_number, regions_in_order
from biobgt.figures.group_behind import GroupBehind, group_behind
from biobgt.figures.hub_curve_options import BY_NE, HubCurvesOptions
from biobgt.figures.hub_words import (
    CHOSEN_COLOUR,
    GROUP_COLOUR,
    HUB_COLOUR,
    RANK_1,
    entanglement_words,
    hub_words,
    strength_remark,
)
from biobgt.figures.region_order import RegionOrder, only_regions, order_by_value, random_regions
from biobgt.graph import ESTIMATED
from biobgt.hubs.measures import FC_STRENGTH, HUB_MEASURES, NE, HubMeasure
from biobgt.wording import listed

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.measured import Measured


SCALE_TITLES: Mapping[str, str] = {"z": "z-score over regions", "rank": f"rank ({RANK_1})"}
PANEL_TITLES: Mapping[str, str] = {"z": "z", "rank": "rank"}
_SCALES: Mapping[str, str] = {
    "z": "as z-scores over regions",
    "rank": "as ranks, 1 the strongest hub",
    "raw": "in their own units, one panel each",
}
_ONE_RAW = "in its own unit"
NARROWEST_MM = 1.0  # of a region on paper, in which curves on top of each other can be told apart
_NUMBERS: Mapping[str, str] = {"z": "%{y:.2f}", "rank": "%{y}", "raw": "%{y:.3g}"}
# Grey enough to be seen on a light and on a dark page.
_DIVIDER = {"color": "rgba(128, 128, 128, 0.6)", "width": 1}


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class HubCurves(Figure):
    """Several hub measures over regions.

    Attributes
    ----------
    subject : str
    curves : mapping of str to ndarray, shape (n_regions,)
        By the measures of :data:`biobgt.hubs.HUB_MEASURES`, already on the options' scale.
    regions : sequence of str, length n_regions
    hubs : ndarray of bool, shape (n_regions,)
        Regions to mark on the first curve.
    order : RegionOrder
        Regions that are not in it are not drawn.
    group : GroupBehind or None
        Drawn behind, on the same scale; then every measure has a panel.
    remark : str
        Ends the caption.
    """

    key = "hub_curves"
    name = "Hub curves"
    takes = HubCurvesOptions

    options: HubCurvesOptions = field(default_factory=HubCurvesOptions)
    subject: str = ""
    curves: Mapping[str, Values]
    regions: Sequence[str]
    hubs: NDArray[np.bool_]
    order: RegionOrder
    group: GroupBehind | None = None
    remark: str = ""

    @classmethod
    def of(cls, measured: "Measured", options: HubCurvesOptions) -> Self:
        """Draw the subject's measures, with its group behind where that is asked for."""
        if not options.measures:
            raise InputError("Choose at least one hub measure.")
        subject, atlas = measured.subject, measured.atlas
        table = measured.hub_table(options, options.measures)
        shown = measured.kind.named(listed([HUB_MEASURES[key].short for key in options.measures]))
        suffix = "" if options.scale == "raw" else f"_{options.scale}"
        return cls(
            options=options,
            title=f"{shown} of {subject.id}",
            simulated=subject.simulated,
            subject=subject.id,
            curves={key: with_gaps(table[f"{key}{suffix}"].to_numpy(), subject) for key in options.measures},
            regions=atlas.regions,
            hubs=table[f"{options.measures[0]}_hub"].to_numpy(),
            order=_regions_shown(measured, options),
            group=group_behind(measured, options) if options.group else None,
            remark=(strength_remark(measured) if FC_STRENGTH in options.measures else "") + gap_words(subject),
            **hub_words(measured, options, options.measures),
        )

    @property
    def in_panels(self) -> bool:
        """Whether every measure has a panel of its own."""
        return self.options.scale == "raw" or self.group is not None

    @property
    def picked(self) -> int | None:
        """The region to ring on the first curve, counted from 0, if it is drawn."""
        names = [self.regions[region] for region in self.order.order]
        return self.regions.index(self.options.region) if self.options.region in names else None

    @property
    def order_title(self) -> str:
        """What the order is, where it has no blocks to name."""
        return "by NE, highest first" if self.options.order == BY_NE else "in atlas order"

    def axis_title(self, measure: str, *, in_panels: bool) -> str:
        """What the axis of a measure's panel, or of the one panel, is called; paper may part what a screen does not."""
        if self.options.scale == "raw":
            return HUB_MEASURES[measure].in_words_of(self.kind).axis
        if in_panels:
            return f"{HUB_MEASURES[measure].in_words_of(self.kind).short}, {PANEL_TITLES[self.options.scale]}"
        return SCALE_TITLES[self.options.scale]

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per region that is drawn, in the order of the figure."""
        import pandas as pd

        marked = HUB_MEASURES[next(iter(self.curves))].in_words_of(self.kind).short
        numbers = pd.DataFrame({"region": self.regions, **self.curves, f"hub by {marked}": self.hubs})
        if self.group is not None:
            for key in self.curves:
                numbers[f"{key} group mean"], numbers[f"{key} group SD"] = self.group.mean[key], self.group.sd[key]
        return numbers.iloc[list(self.order.order)]

    @property
    def _averaged(self) -> str:
        """What FC strength is the mean of."""
        return "Pearson correlation" if self.kind.key == ESTIMATED else f"{self.kind.title.lower()} (as given)"

    @property
    def caption(self) -> str:
        """Which measures of whom, on which scale, and what is marked."""
        options, n_regions, n_drawn = self.options, len(self.regions), len(self.order.order)
        some = n_drawn < n_regions
        which = f"{n_drawn} of {n_regions} regions, drawn with seed {options.seed}" if some else f"{n_regions} regions"
        over_all = f" (of all {n_regions})" if some and options.scale != "raw" else ""
        named = listed([_in_full(HUB_MEASURES[key].in_words_of(self.kind)) for key in self.curves])
        entanglement = f" {entanglement_words(options)}." if NE in self.curves else ""
        strength = (
            f" {self.kind.named('FC strength is')} the mean {self._averaged} with all other regions."
            if FC_STRENGTH in self.curves
            else ""
        )
        marked = HUB_MEASURES[next(iter(self.curves))].in_words_of(self.kind).short
        scale = _ONE_RAW if options.scale == "raw" and len(self.curves) == 1 else _SCALES[options.scale]
        return (
            f"{whose(self.subject, self.simulated)}: {named} of {which}, {scale}{over_all}."
            f"{entanglement}{strength} Diamonds mark hubs by {marked}, {int(self.hubs.sum())} in all: "
            f"{options.hubs_are}.{self.group.words if self.group else ''}{self.remark}"
        )

    def paper_caption(self, style: "PaperStyle") -> str:
        """The caption, and what marks hubs where paper has several panels."""
        lines = " Vertical lines mark the same hubs in all panels." if self.paper_panels(style) > 1 else ""
        return f"{self.caption}{lines}"

    def paper_panels(self, style: "PaperStyle") -> int:
        """Panels on paper: one per measure also where regions are so narrow that curves would hide each other."""
        apart = self.in_panels or len(self.order.order) > style.width_mm / NARROWEST_MM
        return len(self.curves) if apart else 1

    def plotly(self) -> "go.Figure":
        """Draw it for the screen; every point carries its region, counted from 0, in ``customdata``."""
        import plotly.graph_objects as go

        traces: list[Trace] = []
        for i, measure in enumerate(self.curves):
            drawn = [*self._group_band(measure, first=i == 0), self._curve(measure)]
            if i == 0:
                drawn += self._marks(measure)
            traces += [trace | in_panel(i if self.in_panels else 0) for trace in drawn]
        frame = layout(self.title, self.simulated, height=640 if self.in_panels else 460, top=104)
        divider = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "line": _DIVIDER}
        dividers = [{**divider, "x0": end - 0.5, "x1": end - 0.5} for _, _, end in self.order.blocks[:-1]]
        hovering = {"hovermode": "x unified", "hoversubplots": "axis"}
        return go.Figure(traces, {**frame, **self._axes(), **hovering, "shapes": dividers, "legend": LEGEND})

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.hub_curve_drawing import draw_hub_curves

        return draw_hub_curves(self, style)

    @property
    def _names(self) -> NDArray[np.str_]:
        return np.array([escape(self.regions[region], quote=False) for region in self.order.order])

    def _axes(self) -> dict[str, Any]:
        """A panel for each title of a y-axis; regions are named below the lowest."""
        titles = [self.axis_title(measure, in_panels=self.in_panels) for measure in self.curves]
        titles = titles if self.in_panels else titles[:1]
        names = self._names
        axes = stacked_axes(len(titles), gap=0.05)
        regions = {"type": "category", "categoryorder": "array", "categoryarray": names, "range": [-1, len(names)]}
        for panel, title in enumerate(titles):
            axes[f"xaxis{axis_suffix(panel)}"] |= regions | {"showgrid": False, "zeroline": False}
            axes[f"yaxis{axis_suffix(panel)}"] |= {"title": {"text": title}, "zeroline": False}
            if self.options.scale == "rank":
                axes[f"yaxis{axis_suffix(panel)}"]["autorange"] = "reversed"
        ticks = block_ticks(self.order, names.tolist())
        if not self.order.blocks:
            ticks["title"] = {"text": f"{len(names)} regions {self.order_title}"}
        # Names of networks that do not fit stand upright: slanted ones lie below the network beside theirs.
        axes[f"xaxis{axis_suffix(len(titles) - 1)}"] |= {"automargin": True, "autotickangles": [0, -90], **ticks}
        return axes

    def _curve(self, measure: str) -> Trace:
        about, main = HUB_MEASURES[measure].in_words_of(self.kind), measure == NE
        return {
            "type": "scatter",
            "x": self._names,
            "y": self.curves[measure][list(self.order.order)],
            # A line alone cannot be clicked: the points are what picks a region.
            "mode": "lines+markers",
            "name": about.short,
            "line": {"color": about.colour, "width": 2.2 if main else 1.4},
            "marker": {"color": about.colour, "size": 4.5 if main else 3},
            "unselected": UNSELECTED,
            "customdata": np.array(self.order.order),
            "hovertemplate": f"{about.short} {_NUMBERS[self.options.scale]}<extra></extra>",
        }

    def _marks(self, measure: str) -> list[Trace]:
        """Diamonds on the hubs, and a ring around the region that was picked."""
        marked = [region for region in self.order.order if self.hubs[region]]
        diamond = {"color": HUB_COLOUR, "symbol": "diamond", "size": 8}
        kinds = [(f"hubs by {HUB_MEASURES[measure].in_words_of(self.kind).short}", marked, diamond, "a hub")]
        if self.picked is not None:
            ring = {"color": CHOSEN_COLOUR, "symbol": "circle-open", "size": 15, "line": {"width": 3}}
            kinds.append((escape(self.regions[self.picked], quote=False), [self.picked], ring, "picked"))
        return [
            {
                "type": "scatter",
                "x": [escape(self.regions[i], quote=False) for i in chosen],
                "y": self.curves[measure][chosen],
                "mode": "markers",
                "name": name,
                "marker": marker,
                "unselected": UNSELECTED,
                "customdata": np.array(chosen),
                "hovertemplate": f"{text}<extra></extra>",
            }
            for name, chosen, marker, text in kinds
        ]

    def _group_band(self, measure: str, *, first: bool) -> list[Trace]:
        """Mean ± 1 SD as one closed outline, and the mean as a dashed line."""
        if self.group is None:
            return []
        drawn, names = list(self.order.order), self._names
        mean, sd = self.group.mean[measure][drawn], self.group.sd[measure][drawn]
        name = escape(self.group.name, quote=False)
        band = spread_band(names, mean, sd, HUB_MEASURES[measure].colour, group="group")
        middle = {
            "type": "scatter",
            "x": names,
            "y": mean,
            "mode": "lines",
            "name": f"{name}, mean ± SD",
            "line": {"color": GROUP_COLOUR, "dash": "dash", "width": 1.3},
            "customdata": sd,
            "hovertemplate": f"{name} %{{y:.3g}} ± %{{customdata:.2g}}<extra></extra>",
            "showlegend": first,
            "legendgroup": "group",
        }
        return [band, middle]


def _regions_shown(measured: "Measured", options: HubCurvesOptions) -> RegionOrder:
    atlas = measured.atlas
    region_number(atlas, options.region)  # says so where there is no such region
    if options.order == BY_NE:
        order = order_by_value(measured.hub_table(options, (NE,))[NE].to_numpy())
    else:
        order = regions_in_order(atlas, options.order)
    if not 0 < options.n_random < atlas.n_regions:
        return order
    return only_regions(order, random_regions(atlas.n_regions, options.n_random, seed=options.seed))


def _in_full(measure: HubMeasure) -> str:
    return measure.title if measure.short == measure.title else f"{measure.title} ({measure.short})"
