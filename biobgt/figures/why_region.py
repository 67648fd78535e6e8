"""Why this region? What node entanglement compares for one region: the spectra, and the entropies over γ.

Each figure draws a part of the same :class:`biobgt.hubs.region_story.RegionStory`; :mod:`biobgt.figures.why_words`
tells it in sentences.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from biobgt.figures.curve import Curve
from biobgt.figures.figure import Figure, registered
from biobgt.figures.frame import (
    GAMMA_TICKS,
    GAMMA_TITLE,
    LEGEND,
    LEGEND_BELOW,
    Trace,
    in_panel,
    layout,
    stacked_axes,
    vertical_line,
    whose,
)
from biobgt.figures.graph_words import region_number
from biobgt.figures.hub_words import CHOSEN_COLOUR, GROUP_COLOUR, HUB_COLOUR, hub_words
from biobgt.figures.shared_options import gammas_option, region_option
from biobgt.hubs.hub_options import GAMMAS, HubOptions
from biobgt.hubs.measures import HUB_MEASURES, NE

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.hubs.region_story import RegionStory
    from biobgt.measured import Measured

Values = NDArray[np.float64]

BEFORE_COLOUR = HUB_MEASURES[NE].colour
AFTER_COLOUR = HUB_COLOUR


@dataclass(frozen=True)
class RegionOptions(HubOptions):
    """Which region is asked about."""

    region: str = region_option(help="The region to explain, by its name; by default the one with the highest NE.")


@dataclass(frozen=True)
class EntropyOptions(RegionOptions):
    """Over which diffusion times its entropies are shown."""

    gammas: tuple[float, ...] = gammas_option()


def story_of(measured: "Measured", options: RegionOptions) -> "RegionStory":
    """The story of the region that is named, or of the one with the highest NE where none is."""
    region = region_number(measured.atlas, options.region)
    if region is None:
        region = measured.strongest_hub(options)
    gammas = options.gammas if isinstance(options, EntropyOptions) else GAMMAS
    return measured.region_story(options, region, gammas)


@dataclass(frozen=True, eq=False, kw_only=True)
class RegionFigure(Figure):
    """A figure of one region's story."""

    subject: str = ""
    story: "RegionStory"
    regions: Sequence[str] = ()

    @classmethod
    def of(cls, measured: "Measured", options: RegionOptions) -> Self:
        """Tell the story of the region that the options name."""
        subject, story = measured.subject, story_of(measured, options)
        words = hub_words(measured, options, (NE,))
        return cls(
            options=options,
            title=cls._titled(story, options),
            simulated=subject.simulated,
            subject=subject.id,
            story=story,
            regions=measured.atlas.regions,
            methods=(*words["methods"], cls._sentence),
            citations=words["citations"],
        )

    _sentence = ""

    @classmethod
    @abstractmethod
    def _titled(cls, story: "RegionStory", options: RegionOptions) -> str:
        """What stands above the drawing."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RegionCurves(RegionFigure):
    """A figure of one region's story with curves in two panels.

    Attributes
    ----------
    x_title : str
    y_titles : tuple of str
        Of the upper and the lower panel.
    """

    x_title: ClassVar[str]
    y_titles: ClassVar[tuple[str, str]]

    @property
    @abstractmethod
    def curves(self) -> list[Curve]:
        """What both drawings draw."""


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class RegionSpectra(RegionCurves):
    """The Laplacian eigenvalues before and after a region's perturbation, and by how much each moves."""

    key = "region_spectra"
    name = "Laplacian spectra of a region"
    takes = RegionOptions
    x_title = "eigenvalues from smallest to largest"
    y_titles = ("eigenvalue λ", "change of λ")
    change_name: ClassVar[str] = "change"  # of the bars in the lower panel
    _sentence = "Eigenvalues of the Laplacian before and after the perturbation are paired from smallest to largest."

    @classmethod
    def _titled(cls, story: "RegionStory", options: RegionOptions) -> str:
        return f"{story.name}: Laplacian spectra"

    @property
    def curves(self) -> list[Curve]:
        """Both spectra."""
        numbers = self.numbers
        x, before, after = (numbers[name].to_numpy() for name in ("eigenvalue", "as measured", "perturbed"))
        return [
            Curve("as measured", x, before, BEFORE_COLOUR),
            Curve("perturbed", x, after, AFTER_COLOUR, dash="dash", thin=True),
        ]

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per eigenvalue."""
        import pandas as pd

        before, after = self.story.spectrum_before, self.story.spectrum_after
        counted_up = np.arange(1, len(before) + 1)
        return pd.DataFrame(
            {"eigenvalue": counted_up, "as measured": before, "perturbed": after, "change": after - before}
        )

    @property
    def caption(self) -> str:
        """What eigenvalues are, and which are which."""
        return (
            f"{whose(self.subject, self.simulated)}: {self.story.n_regions} eigenvalues λ of the graph's Laplacian as "
            f"measured (solid) and after the perturbation of {self.story.name} (dashed), and below by how much each "
            "changes. Small λ are slow, brain-wide ways in which activity evens out, large λ fast and local ones."
        )

    def plotly(self) -> "go.Figure":
        """Draw it for the screen."""
        import plotly.graph_objects as go

        numbers = self.numbers
        change = {
            "type": "bar",
            "x": numbers["eigenvalue"].to_numpy(),
            "y": numbers["change"].to_numpy(),
            "name": self.change_name,
            "marker": {"color": CHOSEN_COLOUR, "line": {"width": 0}},
            "hovertemplate": f"{self.change_name}: %{{y:.3g}}<extra></extra>",
            **in_panel(1),
        }
        traces = [*map(_line, self.curves), change]
        axes = stacked_axes(2, gap=0.08, heights=[0.6, 0.4])
        axes["yaxis"] |= {"title": {"text": self.y_titles[0]}, "rangemode": "tozero"}
        axes["yaxis2"] |= {"title": {"text": self.y_titles[1]}}
        axes["xaxis2"] |= {"title": {"text": self.x_title}}
        frame = layout(self.title, self.simulated, height=440, top=84)
        return go.Figure(traces, {**frame, **axes, "hovermode": "x unified", "bargap": 0, "legend": LEGEND})

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.why_region_drawings import draw_spectra

        return draw_spectra(self, style)


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class RegionEntropy(RegionCurves):
    """The entropies before and after a region's perturbation over γ, and their difference."""

    key = "region_entropy"
    name = "Entropy over γ of a region"
    takes = EntropyOptions
    x_title = GAMMA_TITLE
    y_titles = ("entropy (bits)", "|ΔS| (bits)")
    _sentence = "The change of a typical region is the median of |ΔS| over all regions, at each γ on its own."

    @classmethod
    def _titled(cls, story: "RegionStory", options: RegionOptions) -> str:
        return f"{story.name}: entropy over γ"

    @property
    def curves(self) -> list[Curve]:
        """Both entropies, and below their difference beside that of the median region."""
        story, x = self.story, self.story.gammas
        return [
            Curve("S(G), as measured", x, story.entropy_before, BEFORE_COLOUR),
            Curve("S(Gᵢ), perturbed", x, story.entropy_after, AFTER_COLOUR, dash="dash", thin=True),
            Curve("|ΔS| of this region", x, story.change, CHOSEN_COLOUR, panel=1),
            Curve("|ΔS|, median region", x, story.typical_change, GROUP_COLOUR, panel=1, dash="dashdot", thin=True),
        ]

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per γ."""
        import pandas as pd

        story = self.story
        return pd.DataFrame(
            {
                "gamma": story.gammas,
                "entropy as measured (bits)": story.entropy_before,
                "entropy perturbed (bits)": story.entropy_after,
                "change (bits)": story.change,
                "change of the median region (bits)": story.typical_change,
            }
        )

    @property
    def caption(self) -> str:
        """What the curves are."""
        return (
            f"{whose(self.subject, self.simulated)}: spectral entropy over the diffusion time γ, as measured and after "
            f"the perturbation of {self.story.name}; below, their difference |ΔS|, which is node entanglement, beside "
            f"the median of all regions. The dotted line marks the chosen γ = {self.story.gamma:g}/mean(λ)."
        )

    def plotly(self) -> "go.Figure":
        """Draw it for the screen."""
        import plotly.graph_objects as go

        traces = [_line(curve, unit=" bits") for curve in self.curves]
        mark = {"color": GROUP_COLOUR, "dash": "dot", "width": 2}
        axes = stacked_axes(2, gap=0.08)
        axes["xaxis"] |= {"type": "log", "tickvals": GAMMA_TICKS}
        axes["xaxis2"] |= {"type": "log", "tickvals": GAMMA_TICKS, "title": {"text": self.x_title}}
        axes["yaxis"] |= {"title": {"text": self.y_titles[0]}}
        axes["yaxis2"] |= {"title": {"text": self.y_titles[1]}, "rangemode": "tozero"}
        frame = {
            **layout(self.title, self.simulated, height=500),
            **axes,
            "shapes": [vertical_line(self.story.gamma, mark, panel=panel) for panel in (0, 1)],
            "hovermode": "x unified",
            # Four names need two lines at 800 px; below the plot they push nothing away.
            "legend": LEGEND_BELOW,
        }
        return go.Figure(traces, frame)

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.why_region_drawings import draw_entropies

        return draw_entropies(self, style)


def _line(curve: Curve, unit: str = "") -> Trace:
    return {
        "type": "scatter",
        "x": curve.x,
        "y": curve.y,
        "mode": "lines",
        "name": curve.name,
        "line": curve.line,
        "hovertemplate": f"{curve.name}: %{{y:.4g}}{unit}<extra></extra>",
        **in_panel(curve.panel),
    }
