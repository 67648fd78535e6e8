"""How a trained model answers to noise: mean probability of each group over the noise that was added."""

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Self

from biobgt.base.errors import InputError
from biobgt.figures.curve import DASHES, Curve
from biobgt.figures.figure import registered
from biobgt.figures.frame import Trace, layout
from biobgt.figures.model_figure import OTHER_COLOUR, ModelFigure, group_colour, model_of, model_words, whose_model
from biobgt.figures.register import NoOptions

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.results.measured import Measured

WARNED = "share with a warning"
ADDED_NOISE, MEAN_PROBABILITY = "White noise added to z-scored series", "Mean probability"


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class NoiseResponse(ModelFigure):
    """The mean probability of each group, and the share of subjects with a warning, at every level of noise.

    Attributes
    ----------
    points : DataFrame
        ``noise``, ``group``, ``probability`` and ``warned``, of
        :func:`biobgt.training.card_tables.noise_points`.
    words : str
        Of :func:`biobgt.training.card_tables.noise_words`.
    """

    key = "noise_response"
    name = "Answers to noise"

    options: NoOptions = field(default_factory=NoOptions)
    points: "pd.DataFrame"
    words: str = ""

    @classmethod
    def of(cls, measured: "Measured", options: NoOptions) -> Self:
        """Take the card's answers to noise, where they were measured."""
        from biobgt.training.card_tables import noise_points
        from biobgt.training.card_text import noise_words

        model = model_of(measured, cls)
        points = noise_points(model.card)
        if points.empty:
            raise InputError(f"The card of model {model.name} has no noise response; `biobgt card` measures it.")
        return cls(
            **whose_model(model),
            **model_words(model),
            options=options,
            title=f"Noise, {model.name}",
            points=points,
            words=noise_words(model.card),
        )

    @property
    def groups(self) -> list[str]:
        """The groups, in order."""
        return list(dict.fromkeys(self.points["group"]))

    @property
    def curves(self) -> list[Curve]:
        """The mean probability of each group, and last the share of subjects with a warning."""
        found = []
        for k, group in enumerate(self.groups):
            rows = self.points[self.points["group"] == group]
            noise, dash = rows["noise"].to_numpy(), DASHES[k % len(DASHES)]
            found.append(Curve(group, noise, rows["probability"].to_numpy(), group_colour(group), dash=dash))
        warned = self.points[self.points["group"] == self.groups[0]]
        noise = warned["noise"].to_numpy()
        return [*found, Curve(WARNED, noise, warned["warned"].to_numpy(), OTHER_COLOUR, dash="dashdot")]

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per level of noise and group."""
        return self.points

    @property
    def caption(self) -> str:
        """What the lines show."""
        return (
            f"Model {self.model}{', simulated patients' if self.simulated else ''}: answers to noise. {self.words} "
            "Lines are mean probabilities; the grey line is the share of subjects who carry a warning or cannot be "
            "predicted."
        )

    def plotly(self) -> "go.Figure":
        """Draw it for the screen."""
        import plotly.graph_objects as go

        drawn = [_noise_line(curve) for curve in self.curves]
        frame = {
            **layout(self.title, self.simulated, height=420, top=90),
            "xaxis": {"title": {"text": ADDED_NOISE}, "type": "category"},
            "yaxis": {"title": {"text": MEAN_PROBABILITY}, "range": [-0.01, 1.01]},
            "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        }
        return go.Figure(drawn, frame)

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.performance_drawings import draw_noise

        return draw_noise(self, style)


def _noise_line(curve: Curve) -> Trace:
    return {
        "type": "scatter",
        "x": curve.x.tolist(),
        "y": curve.y,
        "mode": "lines+markers",
        "name": escape(curve.name, quote=False),
        "line": curve.line,
        "hovertemplate": "%{x}<br>%{y:.2f}<extra>%{fullData.name}</extra>",
    }
