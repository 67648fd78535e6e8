"""Whether one subject's graph is a small world: its clustering and path length beside those of null graphs.

Both indices, σ and ω, are those of :mod:`biobgt.modules.structure`.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from biobgt.base.wording import counted, signed
from biobgt.figures.figure import Figure, registered
from biobgt.figures.frame import layout, whose
from biobgt.figures.graph_words import graph_citations, graph_methods
from biobgt.figures.hub_words import HUB_COLOUR
from biobgt.figures.modules import NO_COLOUR
from biobgt.modules.measures import NEGATIVE_WEIGHTS, SmallWorldOptions

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.modules.structure import SmallWorld
    from biobgt.results.measured import Measured

CLUSTERING, LENGTH, SIGMA, OMEGA = "clustering C", "path length L", "small-world σ", "small-world ω"
OWN, RANDOM, LATTICES = "this subject", "random graphs", "lattices"
_GAP = 0.14  # between the panels, as a share of the width


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class SmallWorldness(Figure):
    """Clustering and path length of a subject's graph, of random graphs and of lattices.

    Attributes
    ----------
    subject : str
    found : SmallWorld
    """

    key = "small_worldness"
    name = "Small-worldness"
    least_mm = 55
    takes = SmallWorldOptions

    options: SmallWorldOptions = field(default_factory=SmallWorldOptions)
    subject: str = ""
    found: "SmallWorld"

    @classmethod
    def of(cls, measured: "Measured", options: SmallWorldOptions) -> Self:
        """Compare with one random graph and one lattice at a time."""
        from biobgt.modules.structure import pool_small_worlds

        subject, settings, seeds = measured.subject, measured.settings, options.null_seeds
        sentence = (
            "Small-worldness σ = (C/C random) / (L/L random) (Humphries and Gurney 2008) and ω = L random/L − C/C "
            "lattice (Telesford et al. 2011) were computed from the mean clustering coefficient C (Onnela et al. 2005) "
            "and the characteristic path length L, over connection lengths of 1/weight, of the largest component. C "
            f"and L of null graphs are means over {counted(len(seeds), 'random graph')} with the same degrees (Maslov "
            "and Sneppen 2002) and nearly the same strengths (Rubinov and Sporns 2011), and as many lattices (Sporns "
            f"and Zwi 2004), from seed {seeds[0]} on."
        )
        left_out = [NEGATIVE_WEIGHTS[False]] if settings.sign == "signed" and not options.signed else []
        cited = ("humphries2008", "telesford2011", "onnela2005", "maslov2002", "rubinov2011", "sporns2004")
        return cls(
            options=options,
            title=f"Small-worldness of {subject.id}",
            simulated=subject.simulated,
            subject=subject.id,
            found=pool_small_worlds([measured.null_small_world(options, seed) for seed in seeds]),
            methods=(*graph_methods(measured), *left_out, sentence),
            citations=(*graph_citations(measured), *cited),
        )

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per measure and kind of graph, then σ and ω."""
        import pandas as pd

        rows = [(measure, graph, value) for measure, bars in self.panels.items() for graph, value in bars.items()]
        rows += [(SIGMA, OWN, self.found.sigma), (OMEGA, OWN, self.found.omega)]
        return pd.DataFrame(rows, columns=["measure", "graph", "value"])

    @property
    def panels(self) -> dict[str, dict[str, float]]:
        """What is drawn: by measure, its value in each kind of graph; ω takes no path length of lattices."""
        found = self.found
        return {
            CLUSTERING: {
                OWN: found.clustering,
                RANDOM: found.random_clustering,
                LATTICES: found.lattice_clustering,
            },
            LENGTH: {OWN: found.path_length, RANDOM: found.random_path_length},
        }

    @property
    def indices(self) -> dict[str, str]:
        """σ and ω, as text by their names."""
        return {SIGMA.capitalize(): signed(self.found.sigma), OMEGA.capitalize(): signed(self.found.omega)}

    @property
    def caption(self) -> str:
        """What σ and ω are, and against how many graphs they were found."""
        found = self.found
        left_out = (
            f" {counted(found.n_left_out, 'region')} outside the largest component left out."
            if found.n_left_out
            else ""
        )
        return (
            f"{whose(self.subject, self.simulated)}: clustering C and path length L beside those of null graphs. σ = "
            f"(C/C random) / (L/L random) is {signed(found.sigma)}; it is above 1 in a small world (Humphries and "
            f"Gurney 2008). ω = L random/L − C/C lattice is {signed(found.omega)}; it is near 0 in a small world, −1 "
            f"in a lattice and 1 in a random graph (Telesford et al. 2011). Means over "
            f"{counted(found.n_nulls, 'null graph')} of each kind, seed {found.seed}.{left_out}"
        )

    def plotly(self) -> "go.Figure":
        """Draw it for the screen."""
        import plotly.graph_objects as go

        frame: dict[str, Any] = {**layout(self.title, self.simulated, height=300), "showlegend": False}
        traces, half = [], (1 - _GAP) / 2
        for number, (measure, bars) in enumerate(self.panels.items()):
            end = "" if number == 0 else "2"
            frame[f"xaxis{end}"] = {"domain": [number * (half + _GAP), number * (half + _GAP) + half]}
            frame[f"yaxis{end}"] = {
                "title": {"text": measure},
                "rangemode": "tozero",
                "anchor": f"x{end}",
            }
            traces.append(
                {
                    "type": "bar",
                    "name": measure,
                    "x": list(bars),
                    "y": list(bars.values()),
                    "text": [_written(value) for value in bars.values()],
                    "marker": {"color": [_colour(graph) for graph in bars]},
                    "hovertemplate": "%{x}: %{y:.3f}<extra></extra>",
                    "xaxis": f"x{end}",
                    "yaxis": f"y{end}",
                }
            )
        return go.Figure(traces, frame)

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.paper_frame import add_legend, finish, fit_height, new_figure, set_title
        from biobgt.figures.paper.saving import drawing

        hatches = {OWN: "", RANDOM: "", LATTICES: "///"}
        with drawing(style):
            figure = new_figure(style)
            set_title(figure, self.title, self.simulated, style)
            panels = figure.subplots(1, 2)
            for axes, (measure, bars) in zip(panels, self.panels.items(), strict=True):
                for place, (graph, value) in enumerate(bars.items()):
                    shade = style.colour(_colour(graph))
                    height = 0.0 if value != value else value
                    drawn = axes.bar(place, height, color=shade, hatch=hatches[graph], edgecolor="white", label=graph)
                    axes.bar_label(drawn, labels=[_written(value)])
                axes.set_xticks([])
                axes.margins(y=0.15)
                axes.set_ylabel(measure)
            handles, names = panels[0].get_legend_handles_labels()
            add_legend(figure, handles, names, style)
            fit_height(figure, panels[:1], style, panel_mm=0.4 * min(style.width_mm, 140))
            return finish(figure, style)


def _colour(graph: str) -> str:
    return HUB_COLOUR if graph == OWN else NO_COLOUR


def _written(value: float) -> str:
    return "not defined" if value != value else f"{value:.3f}"
