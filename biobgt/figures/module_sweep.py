"""One subject's modules over the resolution: how many, how good, how stable, and how like the functional networks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Self

from biobgt.base.colours import BLUE, GREEN, INDIGO, LINE_GREY, ORANGE, PURPLE, SKY, VERMILION, WINE
from biobgt.base.options import option
from biobgt.base.wording import capitalised
from biobgt.data.atlas import LABELLINGS
from biobgt.figures.figure import Figure, registered
from biobgt.figures.frame import in_panel, layout, stacked_axes, vertical_line, whose
from biobgt.figures.modules import module_words
from biobgt.modules.measures import AMI, MODULE_MEASURES, N_MODULES, RESOLUTIONS, ModuleOptions, Q

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.results.measured import Measured

MARK_COLOUR = LINE_GREY
_COUNT, _QUALITY, _STABLE = BLUE, VERMILION, GREEN
_LABELLINGS = (PURPLE, SKY, ORANGE, INDIGO, WINE)


@dataclass(frozen=True)
class ResolutionSweepOptions(ModuleOptions):
    """At which resolutions modules are sought."""

    resolutions: tuple[float, ...] = option(
        RESOLUTIONS, title="Resolutions", help="Resolutions at which modules are found.", above=0.0, fewest=1
    )


@dataclass(frozen=True)
class SweepCurve:
    """A curve over the resolution: its column, name, colour, panel from the top, and whether it is dotted."""

    column: str
    name: str
    colour: str
    panel: int
    dotted: bool = False


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class ResolutionSweep(Figure):
    """The number of modules, and below it Q, stability and agreement with functional labels, over the resolution.

    Attributes
    ----------
    subject : str
    sweep : DataFrame
        One row per resolution: ``resolution``, ``n_modules``, ``q``, ``stability``, and ``ami <labelling>``.
    labellings : mapping of str to str
        Title of each labelling whose agreement is drawn.
    """

    key = "resolution_sweep"
    name = "Modules over the resolution"
    takes = ResolutionSweepOptions

    options: ResolutionSweepOptions = field(default_factory=ResolutionSweepOptions)
    subject: str = ""
    sweep: "pd.DataFrame"
    labellings: Mapping[str, str]

    @classmethod
    def of(cls, measured: "Measured", options: ResolutionSweepOptions) -> Self:
        """Seek the subject's modules at every resolution."""
        import pandas as pd

        subject = measured.subject
        return cls(
            options=options,
            title=f"Modules of {subject.id} over the resolution",
            simulated=subject.simulated,
            subject=subject.id,
            sweep=pd.DataFrame([measured.resolution_step(options, value) for value in options.resolutions]),
            labellings={name: LABELLINGS.get(name, name) for name in measured.atlas.labels},
            **module_words(measured, options),
        )

    @property
    def curves(self) -> list[SweepCurve]:
        """What is drawn."""
        title = MODULE_MEASURES[N_MODULES].title
        return [
            SweepCurve("n_modules", capitalised(title), _COUNT, 0),
            SweepCurve(Q, MODULE_MEASURES[Q].short, _QUALITY, 1),
            SweepCurve("stability", "Stability: AMI between runs", _STABLE, 1),
            *(
                SweepCurve(f"{AMI} {name}", f"AMI with {label}", _LABELLINGS[i % len(_LABELLINGS)], 1, dotted=True)
                for i, (name, label) in enumerate(self.labellings.items())
            ),
        ]

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per resolution."""
        return self.sweep

    @property
    def caption(self) -> str:
        """What the curves are, and where the runs agree best."""
        ranked = self.sweep.dropna(subset="stability").sort_values("stability", ascending=False, kind="stable")
        where = ""
        if len(ranked):
            best = ranked.iloc[0]
            where = (
                f" The runs agree best at {best['resolution']:g} (AMI {best['stability']:.2f}), with "
                f"{int(best['n_modules'])} modules."
            )
        options = self.options
        return (
            f"{whose(self.subject, self.simulated)}: Louvain over the resolution, {options.runs} runs at each (seed "
            f"{options.seed}); modules and Q are the best run's. Stability is the mean agreement (AMI) of all pairs of "
            f"runs, 1 when all find the same.{where} The dotted line marks the chosen resolution, "
            f"{options.resolution:g}."
        )

    def plotly(self) -> "go.Figure":
        """Draw it for the screen."""
        import plotly.graph_objects as go

        sweep = self.sweep.sort_values("resolution")
        traces = [
            {
                "type": "scatter",
                "x": sweep["resolution"].to_list(),
                "y": sweep[curve.column].to_list(),
                "mode": "lines+markers",
                "name": escape(curve.name, quote=False),
                "line": {"color": curve.colour, "dash": "dot" if curve.dotted else "solid"},
                "hovertemplate": f"resolution %{{x:g}}: {'%{y}' if curve.panel == 0 else '%{y:.2f}'}",
                **in_panel(curve.panel),
            }
            for curve in self.curves
        ]
        axes = stacked_axes(2, gap=0.06, heights=[0.4, 0.6])
        axes["xaxis2"] |= {"title": {"text": "Resolution"}}
        axes["yaxis"] |= {"title": {"text": "Modules"}, "rangemode": "tozero"}
        axes["yaxis2"] |= {"title": {"text": "Q, AMI"}, "range": [-0.03, 1.03]}
        mark = {"dash": "dot", "color": MARK_COLOUR}
        marks = [vertical_line(self.options.resolution, mark, panel=panel) for panel in (0, 1)]
        legend = {"orientation": "h", "yanchor": "top", "y": -0.16, "x": 0, "title": {"text": ""}}
        frame = layout(self.title, self.simulated, height=560)
        return go.Figure(traces, {**frame, **axes, "shapes": marks, "legend": legend})

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.module_drawings import draw_resolution_sweep

        return draw_resolution_sweep(self, style)
