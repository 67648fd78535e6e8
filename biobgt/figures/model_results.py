"""A trained model's results beside those of other models.

All numbers are the card's: every subject was seen by a member that had not met it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Self

from biobgt.figures.figure import registered
from biobgt.figures.frame import (
    Trace,
    axis_suffix,
    error_bars,
    in_panel,
    layout,
    panel_titles,
    side_by_side_axes,
    vertical_line,
)
from biobgt.figures.model_figure import (
    CHANCE_LINE,
    OTHER_COLOUR,
    OWN_COLOUR,
    OWN_MODEL,
    ModelFigure,
    model_of,
    model_words,
    whose_model,
)
from biobgt.figures.register import NoOptions
from biobgt.model.benchmark.linear import BASELINES, kinds_of_baselines

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.results.measured import Measured

TITLES: Mapping[str, str] = {"auc": "AUC", "accuracy": "Accuracy"}


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class ResultsBeside(ModelFigure):
    """A model's results beside those of other models, with intervals, one panel per metric.

    Attributes
    ----------
    points : DataFrame
        ``metric``, ``model``, ``value``, ``low`` and ``high`` (NaN for none).
    chance : mapping of str to float
        What guessing gives, by metric.
    note : str
        On the paper's numbers, where they are shown.
    """

    key = "model_results"
    name = "Results beside other models"
    least_mm = 55

    options: NoOptions = field(default_factory=NoOptions)
    points: "pd.DataFrame"
    chance: Mapping[str, float]
    note: str = ""

    @classmethod
    def of(cls, measured: "Measured", options: NoOptions) -> Self:
        """Take the card's results."""
        from biobgt.training.card_tables import chance_level, results_points
        from biobgt.training.card_text import paper_note

        model = model_of(measured, cls)
        words, points = model_words(model), results_points(model.card)
        shown = [baseline for baseline in BASELINES.values() if baseline.title in set(points["model"])]
        cited = dict.fromkeys(citation for baseline in shown for citation in baseline.citations)
        return cls(
            **whose_model(model),
            methods=words["methods"],
            citations=(*words["citations"], *cited),
            options=options,
            title=f"{model.name} beside other models",
            points=points,
            chance=chance_level(model.card),
            note=paper_note(model.card),
        )

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per metric and model."""
        return self.points.assign(chance=self.points["metric"].map(self.chance))

    @property
    def caption(self) -> str:
        """How the model stands beside others."""
        auc = self.points[self.points["metric"] == "auc"]
        listed = "; ".join(f"{row.model} {row.value:.2f}" for row in auc.itertuples())
        return (
            f"{self.by_model}: out-of-fold results beside {kinds_of_baselines(auc['model'])} on the same folds. AUC: "
            f"{listed}. Bars are 95 % bootstrap intervals over subjects; dotted lines are chance level."
            f"{f' {self.note}' if self.note else ''}"
        )

    def plotly(self) -> "go.Figure":
        """Draw it for the screen."""
        import plotly.graph_objects as go

        points = self.points
        metrics, models = (list(dict.fromkeys(points[column])) for column in ("metric", "model"))
        traces = [
            _results(points[points["metric"] == metric], metric) | in_panel(i) for i, metric in enumerate(metrics)
        ]
        axes = side_by_side_axes(len(metrics), gap=0.05, shared=True)
        for panel in range(len(metrics)):
            axes[f"xaxis{axis_suffix(panel)}"] |= {"tickformat": ".2f", "nticks": 4}
            axes[f"yaxis{axis_suffix(panel)}"] |= {"type": "category", "autorange": "reversed", "showgrid": False}
        guesses = [(i, self.chance[metric]) for i, metric in enumerate(metrics) if metric in self.chance]
        frame = {
            **layout(self.title, self.simulated, height=150 + 44 * len(models), top=80),
            **axes,
            "shapes": [vertical_line(value, CHANCE_LINE, panel=panel) for panel, value in guesses],
            "annotations": panel_titles([TITLES.get(metric, metric) for metric in metrics], axes),
            "showlegend": False,
        }
        return go.Figure(traces, frame)

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.performance_drawings import draw_results

        return draw_results(self, style)


def _results(rows: "pd.DataFrame", metric: str) -> Trace:
    """One metric of all models, with intervals."""
    value = rows["value"].to_numpy()
    own = [name == OWN_MODEL for name in rows["model"]]
    return {
        "type": "scatter",
        "x": value,
        "y": [_wrapped(name) for name in rows["model"]],
        "mode": "markers",
        "name": TITLES.get(metric, metric),
        "marker": {
            "color": [OWN_COLOUR if mine else OTHER_COLOUR for mine in own],
            "size": 11,
            "symbol": ["diamond" if mine else "circle" for mine in own],
        },
        "error_x": error_bars(rows["low"].to_numpy(), value, rows["high"].to_numpy(), OTHER_COLOUR),
        "hovertemplate": "%{y}<br>%{x:.3f}<extra></extra>",
    }


def _wrapped(name: str) -> str:
    """A model's name in two lines where it is long."""
    return escape(name, quote=False).replace(" (", "<br>(").replace(", ", ",<br>", 1)
