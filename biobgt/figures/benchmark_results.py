"""How well every system of the benchmark tells the groups of ABIDE apart, beside what the paper reports."""

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Self

from biobgt.base.errors import InputError
from biobgt.base.wording import counted
from biobgt.figures.figure import registered
from biobgt.figures.frame import LEGEND, Trace, error_bars, layout, vertical_line
from biobgt.figures.model_figure import (
    CHANCE_LINE,
    OTHER_COLOUR,
    OWN_COLOUR,
    ModelFigure,
    model_of,
    whose_model,
)
from biobgt.figures.register import NoOptions
from biobgt.model.benchmark.systems import benchmark_systems

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.results.measured import Measured

HERE, PAPER, AUC = "here, 95 % interval", "the paper, another selection of subjects", "AUC"
CHANCE_AUC = 0.5
_LONG = 50  # characters of a name that fit beside the marks of a narrow page; two lines in a row would overlap


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class BenchmarkResults(ModelFigure):
    """AUC of every row that was run or that the paper has, with intervals over splits.

    Attributes
    ----------
    rows : DataFrame
        Of :func:`biobgt.training.card_tables.beside_paper`, those that have a number.
    note : str
        What was run and what was not.
    """

    key = "benchmark_results"
    name = "The paper's comparison, done again"
    least_mm = 80
    example_of = "abide-cc200"

    options: NoOptions = field(default_factory=NoOptions)
    rows: "pd.DataFrame"
    note: str = ""

    @classmethod
    def of(cls, measured: "Measured", options: NoOptions) -> Self:
        """Take the committed results on the cohort that the model was trained on."""
        from biobgt.results.studies import abide_benchmark
        from biobgt.training.benchmark_tables import benchmark_words, beside_paper

        model = model_of(measured, cls)
        if model.name != cls.example_of:
            raise InputError(f"The benchmark was run on the subjects of model {cls.example_of} only: choose it.")
        results = abide_benchmark()
        rows = beside_paper(results)
        shown = rows[rows["auc"].notna() | rows["paper_auc"].notna()].reset_index(drop=True)
        systems = benchmark_systems()
        cited = dict.fromkeys(one for key in shown["model"] for one in systems[key].citations)
        return cls(
            **whose_model(model),
            methods=(
                "Systems were compared on the same random splits of the subjects into 80 % for training, 10 % for "
                "validation and 10 % for testing, stratified by site and group. The epoch and one temperature of each "
                "were chosen on the validation subjects. Intervals over splits are corrected for overlapping training "
                "sets (Nadeau and Bengio 2003).",
            ),
            citations=(*cited, "nadeau2003"),
            options=options,
            title="The paper's comparison on ABIDE, done again",
            rows=shown,
            note=benchmark_words(results),
        )

    @property
    def names(self) -> list[str]:
        """Each row's title with its number of splits, or why it has none."""
        rows = zip(self.rows["title"], self.rows["state"], self.rows["splits"], strict=True)
        return [f"{title} ({state or counted(splits, 'split')})" for title, state, splits in rows]

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per system."""
        from biobgt.training.benchmark_tables import PAPERS

        columns = ["model", "title", "state", "splits", "auc", "auc_low", "auc_high"]
        return self.rows[[*columns, *(name for name in PAPERS if name != "auc"), *(f"paper_{name}" for name in PAPERS)]]

    @property
    def caption(self) -> str:
        """What was compared, and how far the paper's numbers can be compared with it."""
        from biobgt.training.benchmark_tables import FEWEST_SPLITS, OTHER_SUBJECTS

        return (
            "AUC of each system on the test subjects of random splits of ABIDE. Filled marks are means over splits "
            "with 95 % intervals corrected for overlapping training sets; fewer than "
            f"{FEWEST_SPLITS} splits have none, and rows with different splits are not strictly comparable. Hollow "
            f"marks are the paper's numbers; the dotted line is chance level. {self.note} {OTHER_SUBJECTS}"
        )

    def plotly(self) -> "go.Figure":
        """Draw it for the screen."""
        import plotly.graph_objects as go

        places = [_wrapped(escape(name, quote=False)) for name in self.names]
        frame = {
            **layout(self.title, self.simulated, height=130 + 25 * len(places), top=80),
            "xaxis": {"title": {"text": AUC}, "tickformat": ".2f"},
            "yaxis": {
                "type": "category",
                "categoryorder": "array",
                "categoryarray": places[::-1],
                "showgrid": True,
                "dtick": 1,
                "tickfont": {"size": 11},
            },
            "shapes": [vertical_line(CHANCE_AUC, CHANCE_LINE)],
            "legend": LEGEND,
        }
        return go.Figure([self._ours(places), self._papers(places)], frame)

    def _ours(self, places: list[str]) -> Trace:
        rows = self.rows
        low, value, high = (rows[name].to_numpy() for name in ("auc_low", "auc", "auc_high"))
        return {
            "type": "scatter",
            "x": value,
            "y": places,
            "mode": "markers",
            "name": HERE,
            "marker": {"color": OWN_COLOUR, "size": 9},
            "error_x": error_bars(low, value, high, OWN_COLOUR),
            "hovertemplate": "%{y}<br>%{x:.3f}<extra></extra>",
        }

    def _papers(self, places: list[str]) -> Trace:
        return {
            "type": "scatter",
            "x": self.rows["paper_auc"].to_numpy(),
            "y": places,
            "mode": "markers",
            "name": PAPER,
            "marker": {"color": OTHER_COLOUR, "size": 9, "symbol": "circle-open", "line": {"width": 1.5}},
            "hovertemplate": "%{y}<br>the paper: %{x:.3f}<extra></extra>",
        }

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.benchmark_drawing import draw_benchmark

        return draw_benchmark(self, style)


def _wrapped(name: str) -> str:
    """A long name in two lines, so that a narrow page has room for the marks."""
    return name.replace(", ", ",<br>", 1) if len(name) > _LONG else name
