"""Whether one subject's modularity is more than chance: Q of its modules beside Q of null graphs."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np

from biobgt.base.colours import PALE_GREY, VERMILION
from biobgt.base.errors import InputError
from biobgt.base.wording import counted
from biobgt.figures.figure import Figure, registered
from biobgt.figures.frame import layout, note_at_top, vertical_line, whose
from biobgt.figures.graph_words import NULL_GRAPHS_KEEP
from biobgt.figures.modules import module_words
from biobgt.modules.measures import MODULE_MEASURES, NullGraphOptions, Q

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.modules.structure import ModularityTest
    from biobgt.results.measured import Measured

_NULL, _OWN = PALE_GREY, VERMILION
_AXES = (MODULE_MEASURES[Q].short, "Null graphs")
_MOST_BARS = 20


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class ModularityAgainstChance(Figure):
    """How Q spreads over null graphs, and where the subject's lies.

    Attributes
    ----------
    subject : str
    test : ModularityTest
    """

    key = "modularity_against_chance"
    name = "Modularity against chance"
    takes = NullGraphOptions

    options: NullGraphOptions = field(default_factory=NullGraphOptions)
    subject: str = ""
    test: "ModularityTest"

    def __post_init__(self) -> None:
        if np.isnan([*self.test.null, self.test.q]).any():
            raise InputError("Modularity is not defined in a graph without connections, so there is nothing to test.")

    @classmethod
    def of(cls, measured: "Measured", options: NullGraphOptions) -> Self:
        """Take the test, one null graph at a time."""
        from biobgt.modules.structure import pool_modularity_tests

        subject, seeds = measured.subject, options.null_seeds
        runs = counted(options.runs, "Louvain run")
        sentence = (
            f"Modularity Q was compared with that of {len(seeds)} null graphs, in each of which modules were found "
            f"anew, as the best of {runs}, because random graphs have modules, too (Guimerà et al. 2004). A null graph "
            "has the same number of connections of every region, by swaps (Maslov and Sneppen 2002), and the same "
            "weights, handed out so that strengths are nearly kept (Rubinov and Sporns 2011); their seeds are "
            f"{seeds[0]} to {seeds[-1]}. p is the share of these graphs, the subject's own among them, with at least "
            "its Q."
        )
        return cls(
            options=options,
            title=f"Modularity of {subject.id}",
            simulated=subject.simulated,
            subject=subject.id,
            test=pool_modularity_tests([measured.null_modularity(options, seed) for seed in seeds]),
            **module_words(measured, options, sentence, cited=("guimera2004", "maslov2002", "rubinov2011")),
        )

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per graph, the subject's own first."""
        import pandas as pd

        test, n = self.test, len(self.test.null)
        return pd.DataFrame(
            {
                "graph": [self.subject, *(f"null graph {number}" for number in range(1, n + 1))],
                "seed": [test.seed, *range(test.seed, test.seed + n)],
                "modularity Q": [test.q, *test.null.tolist()],
            }
        )

    @property
    def caption(self) -> str:
        """What the test found."""
        test, n = self.test, len(self.test.null)
        z = f", z = {test.z:.1f}" if test.z == test.z else ""  # NaN where the nulls do not vary
        return (
            f"{whose(self.subject, self.simulated)}: Q = {test.q:.3f} against {test.null.mean():.3f} on average in "
            f"{counted(n, 'null graph')}{z}, p = {test.p:.3g}. Null graphs {NULL_GRAPHS_KEEP}; "
            f"modules were found anew in each, the best of {counted(self.options.runs, 'Louvain run')} (seed "
            f"{test.seed}). The smallest p that "
            f"{counted(n, 'null graph')} can give is {1 / (n + 1):.2g}."
        )

    @property
    def limits(self) -> tuple[float, float]:
        """The ends of the axis of Q, with some room beyond the numbers."""
        values = np.append(self.test.null, self.test.q)
        room = 0.08 * float(np.ptp(values)) or 0.01
        return float(values.min()) - room, float(values.max()) + room

    def plotly(self) -> "go.Figure":
        """Draw it for the screen."""
        import plotly.graph_objects as go

        test = self.test
        histogram = {
            "type": "histogram",
            "x": test.null.tolist(),
            "nbinsx": _MOST_BARS,
            "name": "null graphs",
            "marker": {"color": _NULL},
            "hovertemplate": "Q %{x}: %{y} null graphs<extra></extra>",
        }
        frame = {
            **layout(self.title, self.simulated, height=320),
            "xaxis": {"title": {"text": _AXES[0]}, "range": list(self.limits)},
            "yaxis": {"title": {"text": _AXES[1]}},
            "shapes": [vertical_line(test.q, {"color": _OWN, "width": 3})],
            "annotations": [note_at_top(test.q, self._own, anchor="right", font={"color": _OWN})],
            "showlegend": False,
            "bargap": 0.05,
        }
        return go.Figure([histogram], frame)

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper; bars begin at round numbers, as on the screen."""
        from matplotlib.ticker import MaxNLocator

        from biobgt.figures.paper.paper_frame import add_legend, finish, fit_height, new_figure, set_title
        from biobgt.figures.paper.saving import drawing

        null = self.test.null
        edges = list(MaxNLocator(_MOST_BARS, steps=[1, 2, 5, 10]).tick_values(null.min(), null.max()))
        with drawing(style):
            figure = new_figure(style)
            set_title(figure, self.title, self.simulated, style)
            axes = figure.add_subplot()
            axes.hist(null, bins=edges, rwidth=0.95, color=_NULL, label="null graphs")
            axes.axvline(self.test.q, color=style.colour(_OWN), linewidth=1.4, label=self._own)
            axes.set_xlim(*self.limits)
            axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
            axes.set_xlabel(_AXES[0])
            axes.set_ylabel(_AXES[1])
            add_legend(figure, *axes.get_legend_handles_labels(), style)
            fit_height(figure, [axes], style, panel_mm=0.45 * min(style.width_mm, 140))
            return finish(figure, style)

    @property
    def _own(self) -> str:
        return f"this subject, Q = {self.test.q:.3f}"
