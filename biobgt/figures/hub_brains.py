"""One subject's hubs in the brain: node entanglement at the regions' places, and five measures side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from biobgt.base.colours import PALE_GREY
from biobgt.base.options import option
from biobgt.figures.brain import CORTEX, GLASS_BRAIN, BrainDrawing, brain_caption
from biobgt.figures.brain_nodes import left_out_words
from biobgt.figures.figure import Figure, registered
from biobgt.figures.frame import whose
from biobgt.figures.gaps import GAP_COLOUR, gap_words, with_gaps
from biobgt.figures.graph_words import coordinates_of
from biobgt.figures.hub_words import HUB_COLOUR, RANK_1, hub_words
from biobgt.figures.surface import NODES, BrainKind, brain_option, n_drawn, not_drawn_words, surface_labels_of
from biobgt.hubs.measures import HUB_MEASURES, NE
from biobgt.hubs.options import EntanglementOptions, HubOptions

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.results.measured import Measured

Values = NDArray[np.float64]

MOST_NAMED = 10  # names in a brain; more would lie on each other
# The paper's five, by their names there.
PAPERS_FIVE: Mapping[str, str] = {
    "degree": "DC",
    "betweenness": "BC",
    "closeness": "CC",
    "eigenvector": "EC",
    NE: "NE",
}


@dataclass(frozen=True)
class HubBrainOptions(HubOptions):
    """By which measure regions are sized, and which of them are hubs."""

    measure: str = option(NE, title="Hub measure", help="The measure that is shown in the brain.", choices=HUB_MEASURES)
    brain: BrainKind = brain_option()


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class HubBrain(Figure):
    """Regions in the brain, sized by a hub measure: hubs stand out and the strongest are named, others are grey.

    Attributes
    ----------
    subject : str
    coordinates : ndarray, shape (n_regions, 3)
        MNI coordinates in mm.
    regions : sequence of str, length n_regions
    values : ndarray, shape (n_regions,)
    ranks : ndarray, shape (n_regions,)
        1 is the strongest hub.
    hubs : ndarray of bool, shape (n_regions,)
    surface_labels : ndarray of int, shape (20484,), or None
        Of the vertices of fsaverage5, for a painted cortex.
    gaps : str
        Says how many regions are missing; their values and ranks are NaN.
    """

    key = "hub_brain"
    name = "Hubs in the brain"
    takes = HubBrainOptions

    options: HubBrainOptions = field(default_factory=HubBrainOptions)
    subject: str = ""
    coordinates: Values
    regions: Sequence[str]
    values: Values
    ranks: Values
    hubs: NDArray[np.bool_]
    surface_labels: NDArray[np.int16] | None = None
    gaps: str = ""

    @classmethod
    def of(cls, measured: "Measured", options: HubBrainOptions) -> Self:
        """Put the subject's regions at their places."""
        subject, key = measured.subject, options.measure
        coordinates = coordinates_of(measured.atlas)
        table = measured.hub_table(options.part(HubOptions), (key,))
        return cls(
            options=options,
            title=f"Hubs of {subject.id}",
            simulated=subject.simulated,
            subject=subject.id,
            coordinates=coordinates,
            regions=measured.atlas.regions,
            values=with_gaps(table[key].to_numpy(float), subject),
            ranks=with_gaps(table[f"{key}_rank"].to_numpy(float), subject),
            hubs=table[f"{key}_hub"].to_numpy(bool),
            gaps=gap_words(subject),
            surface_labels=surface_labels_of(measured.atlas, options.brain),
            kind=measured.kind,
            **hub_words(measured, options, (key,)),
        )

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per region."""
        import pandas as pd

        x, y, z = self.coordinates.T
        key = self.options.measure
        return pd.DataFrame(
            {"region": self.regions, "x": x, "y": y, "z": z, key: self.values, f"{key}_rank": self.ranks}
            | {f"{key}_hub": self.hubs}
        ).astype({f"{key}_rank": "Int64"})

    @property
    def named(self) -> list[int]:
        """The strongest hubs, counted from 0, whose names are written beside them."""
        return [int(region) for region in np.argsort(self.ranks, kind="stable") if self.hubs[region]][:MOST_NAMED]

    @property
    def caption(self) -> str:
        """What colour and size stand for."""
        return self._caption(CORTEX)

    def paper_caption(self, style: "PaperStyle") -> str:
        """The same of the glass brain."""
        return self._caption(GLASS_BRAIN)

    def _caption(self, where: str) -> str:
        short, n_hubs = HUB_MEASURES[self.options.measure].in_words_of(self.kind).short, int(self.hubs.sum())
        at = f" at γ = {self.options.gamma:g}/mean(λ)" if self.options.measure == NE else ""
        hubs = f"orange for the {n_hubs} hubs by {short}{at} ({self.options.hubs_are}) and grey for the others"
        ranked = f"the rank by {short}{at} ({RANK_1})"
        said = brain_caption(
            self.subject,
            n_drawn(self.coordinates, self.surface_labels),
            quantity=hubs if self.options.brain == NODES else ranked,
            size=f"{short} itself",
            where=where,
            brain=self.options.brain,
            simulated=self.simulated,
        )
        strongest = [self.regions[region] for region in self.named]
        names = f" The strongest: {', '.join(strongest)}." if strongest else ""
        return f"{said}{names}{not_drawn_words(self.coordinates, self.surface_labels)}{self.gaps}"

    def plotly(self) -> "go.Figure":
        """Draw it for the screen, to be turned."""
        return self._drawing.plotly()

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper, in a glass brain."""
        return self._drawing.matplotlib(style)

    @property
    def _drawing(self) -> BrainDrawing:
        measure = HUB_MEASURES[self.options.measure].in_words_of(self.kind)
        hub, other, none = f"hubs by {measure.short}", "other regions", "no data"
        groups = [
            none if np.isnan(rank) else hub if is_hub else other
            for rank, is_hub in zip(self.ranks, self.hubs, strict=True)
        ]
        painted = self.options.brain != NODES  # a cortex has no sizes, so that its colours are what is measured
        return BrainDrawing(
            self.coordinates,
            self.regions,
            sizes=-self.values if measure.low_in_hubs else self.values,
            values=self.ranks,
            groups=None if painted else groups,
            group_colours={none: GAP_COLOUR, other: PALE_GREY, hub: HUB_COLOUR},
            ranked=painted,
            quantity=f"rank by {measure.short}",
            named=self.named,
            title=self.title,
            simulated=self.simulated,
            brain=self.options.brain,
            surface_labels=self.surface_labels,
        )


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class FiveBrains(Figure):
    """The paper's five hub measures, each in a brain of its own, on one colour scale.

    Attributes
    ----------
    subject : str
    coordinates : ndarray, shape (n_regions, 3)
        MNI coordinates in mm.
    regions : sequence of str, length n_regions
    values : mapping of str to ndarray, shape (n_regions,)
        By measure, as z-scores over regions.
    """

    key = "five_brains"
    name = "Five hub measures in the brain"
    least_mm = 55
    takes = EntanglementOptions
    on_paper_only = True  # five brains to be turned are too many for a browser

    options: EntanglementOptions = field(default_factory=EntanglementOptions)
    subject: str = ""
    coordinates: Values
    regions: Sequence[str]
    values: Mapping[str, Values]

    @classmethod
    def of(cls, measured: "Measured", options: EntanglementOptions) -> Self:
        """Take the five measures of the subject."""
        subject = measured.subject
        coordinates = coordinates_of(measured.atlas)
        table = measured.hub_table(HubOptions(options.gamma, options.perturbation), tuple(PAPERS_FIVE))
        return cls(
            options=options,
            title=f"Five hub measures of {subject.id}",
            simulated=subject.simulated,
            subject=subject.id,
            coordinates=coordinates,
            regions=measured.atlas.regions,
            values={key: table[f"{key}_z"].to_numpy() for key in PAPERS_FIVE},
            kind=measured.kind,
            **hub_words(measured, options, tuple(PAPERS_FIVE)),
        )

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per region."""
        import pandas as pd

        x, y, z = self.coordinates.T
        named = {PAPERS_FIVE[key]: values for key, values in self.values.items()}
        return pd.DataFrame({"region": self.regions, "x": x, "y": y, "z": z, **named})

    @property
    def caption(self) -> str:
        """What the five are."""
        names = ", ".join(f"{name} ({HUB_MEASURES[key].title})" for key, name in PAPERS_FIVE.items())
        return (
            f"{whose(self.subject, self.simulated)}: {names}, as z-scores over regions in nilearn's glass brain. "
            f"Larger and redder is higher, on one colour scale for all. NE is |ΔS| at γ = "
            f"{self.options.gamma:g}/mean(λ), perturbation {self.options.perturbation}."
            f"{left_out_words(self.coordinates)}"
        )

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.brain_drawing import five_brains

        return five_brains(
            {PAPERS_FIVE[key]: values for key, values in self.values.items()},
            self.coordinates,
            self.regions,
            captions={name: HUB_MEASURES[key].title for key, name in PAPERS_FIVE.items()},
            quantity="z-score over regions",
            title=self.title,
            simulated=self.simulated,
            style=style,
        )
