"""How good a trained model's probabilities are: ROC curves and reliability.

All numbers are out of fold: every subject was seen by a member that had not met it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Self

from biobgt.figures.figure import registered
from biobgt.figures.frame import LEGEND, Trace, error_bars, layout
from biobgt.figures.model_figure import (
    CHANCE_LINE,
    ONE_MEMBER,
    OWN_COLOUR,
    OWN_MODEL,
    ModelFigure,
    model_of,
    model_words,
    whose_model,
)
from biobgt.figures.register import NoOptions

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.results.measured import Measured

CHANCE, AS_CLAIMED, OBSERVED = "chance", "as claimed", "observed, 95 % interval"
FALSE_POSITIVES, TRUE_POSITIVES = "1 − specificity", "Sensitivity"
_UNIT = {"range": [-0.01, 1.01], "constrain": "domain"}  # axes of shares, in a square


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class RocCurves(ModelFigure):
    """ROC curves with the line of chance.

    Attributes
    ----------
    curves : mapping of str to DataFrame
        ``false_positive_rate`` and ``true_positive_rate``, of :func:`biobgt.training.roc_points`.
    auc : mapping of str to float or None
        ``value``, ``low`` and ``high``, as the card has them; a mean over groups where there are three.
    n_subjects : int
    """

    key = "roc"
    name = "ROC curves"

    options: NoOptions = field(default_factory=NoOptions)
    curves: "Mapping[str, pd.DataFrame]"
    auc: Mapping[str, float | None]
    n_subjects: int

    @classmethod
    def of(cls, measured: "Measured", options: NoOptions) -> Self:
        """Take the probabilities out of fold."""
        from biobgt.training.card_tables import group_curves

        model = model_of(measured, cls)
        groups = model.groups
        return cls(
            **whose_model(model),
            **model_words(model),
            options=options,
            title=f"ROC, {model.name}",
            curves=group_curves(groups.labels, groups.probabilities, model.group_names),
            auc=model.card["results"][OWN_MODEL]["auc"],
            n_subjects=len(groups.labels),
        )

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per threshold of every curve."""
        import pandas as pd

        return pd.concat([curve.assign(curve=name) for name, curve in self.curves.items()], ignore_index=True)

    @property
    def what(self) -> str:
        """What a curve is, for captions."""
        return "sensitivity against 1 − specificity over all thresholds"

    @property
    def caption(self) -> str:
        """What the curves show, and the area under them."""
        value, low, high = (self.auc[key] for key in ("value", "low", "high"))
        area = "not defined" if value is None else f"{value:.2f}"
        reach = f" (95 % interval {low:.2f} to {high:.2f})" if low is not None and high is not None else ""
        return (
            f"{self.by_model}: {self.what}, in {self.n_subjects:,} subjects, with probabilities from {ONE_MEMBER}. "
            f"Area under the curve {area}{reach}; the dotted line is chance."
        )

    def plotly(self) -> "go.Figure":
        """Draw it for the screen."""
        import plotly.graph_objects as go

        from biobgt.base.colours import MODULE_COLOURS

        drawn = [
            {
                "type": "scatter",
                "x": curve["false_positive_rate"].to_numpy(),
                "y": curve["true_positive_rate"].to_numpy(),
                "mode": "lines",
                "name": escape(name, quote=False),
                "line": {"color": MODULE_COLOURS[i % len(MODULE_COLOURS)], "width": 2.5, "shape": "hv"},
                "hovertemplate": "1 − specificity %{x:.2f}<br>sensitivity %{y:.2f}<extra></extra>",
            }
            for i, (name, curve) in enumerate(self.curves.items())
        ]
        frame = layout(self.title, self.simulated, height=460, top=84)
        square = _square(FALSE_POSITIVES, TRUE_POSITIVES)
        return go.Figure([_diagonal(CHANCE), *drawn], {**frame, **square, "legend": LEGEND})

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.performance_drawings import draw_roc

        return draw_roc(self, style)


@dataclass(frozen=True, eq=False)
class ObservedShares:
    """What was observed where a probability was claimed, of one set of subjects, and how it is drawn.

    Attributes
    ----------
    name : str
        In the legend.
    curve : DataFrame
        ``predicted``, ``observed``, ``observed_low``, ``observed_high`` and ``n``, of
        :func:`biobgt.training.reliability_curve`.
    colour : str
    symbol : str
        Of the points, as plotly names it.
    joined : bool
        Whether a line joins the points.
    """

    name: str
    curve: "pd.DataFrame"
    colour: str
    symbol: str = "circle"
    joined: bool = True

    def trace(self) -> Trace:
        """Points with intervals, for the screen."""
        low, observed, high = (self.curve[name].to_numpy() for name in ("observed_low", "observed", "observed_high"))
        return {
            "type": "scatter",
            "x": self.curve["predicted"].to_numpy(),
            "y": observed,
            "customdata": self.curve["n"].to_numpy(),
            "mode": "markers+lines" if self.joined else "markers",
            "name": self.name,
            "marker": {"color": self.colour, "size": 8, "symbol": self.symbol},
            "line": {"color": self.colour, "width": 1},
            "error_y": error_bars(low, observed, high, self.colour),
            "hovertemplate": "claimed %{x:.0%}<br>observed %{y:.0%}<br>%{customdata} subjects<extra></extra>",
        }


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class Reliability(ModelFigure):
    """Observed shares against claimed probabilities, with Wilson intervals.

    Attributes
    ----------
    curve : DataFrame
        ``predicted``, ``observed``, ``observed_low``, ``observed_high`` and ``n``, of
        :func:`biobgt.training.reliability_curve`.
    event : str
        What is claimed, such as ``ASD``.
    error : float or None
        Mean distance of what is claimed from what is observed.
    observed_name : str
        Of the curve, in the legend.
    beside : tuple of ObservedShares
        Of others, drawn beside it.
    """

    key = "reliability"
    name = "Reliability of probabilities"

    options: NoOptions = field(default_factory=NoOptions)
    curve: "pd.DataFrame"
    event: str
    error: float | None = None
    observed_name: str = OBSERVED
    beside: tuple[ObservedShares, ...] = ()

    @classmethod
    def of(cls, measured: "Measured", options: NoOptions) -> Self:
        """Take the probabilities out of fold."""
        from biobgt.training.card_tables import claimed_event
        from biobgt.training.metrics import reliability_curve

        model = model_of(measured, cls)
        return cls(
            **whose_model(model),
            **model_words(model),
            options=options,
            title=f"Reliability, {model.name}",
            curve=reliability_curve(model.groups.labels, model.groups.probabilities),
            event=claimed_event(model.card),
            error=model.card["results"][OWN_MODEL]["ece"]["value"],
        )

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per bin of probabilities."""
        return self.curve

    @property
    def observed(self) -> tuple[ObservedShares, ...]:
        """All that is drawn."""
        return (ObservedShares(self.observed_name, self.curve, OWN_COLOUR), *self.beside)

    @property
    def axis_titles(self) -> tuple[str, str]:
        """What is claimed, and what was observed."""
        return f"Claimed probability of {self.event}", f"Observed share of {self.event}"

    @property
    def what(self) -> str:
        """What is observed against what is claimed, for captions."""
        from biobgt.training.card_tables import MOST_PROBABLE

        if self.event == MOST_PROBABLE:
            return "how often the most probable group was the true one, against its probability"
        return f"how often subjects were {self.event}, against the claimed probability of {self.event}"

    @property
    def caption(self) -> str:
        """What the curve shows, and of whose probabilities."""
        error = self.error
        off = "" if error is None else f" Mean distance from the dotted line {100 * error:.1f} percentage points."
        return (
            f"{self.by_model}: {self.what}, in {len(self.curve)} bins of {int(self.curve['n'].sum()):,} subjects, with "
            f"95 % Wilson intervals.{off} Probabilities are out of fold, each from {ONE_MEMBER}. New subjects get the "
            "mean log-odds of all members instead, so for them this curve holds only approximately."
        )

    def plotly(self) -> "go.Figure":
        """Draw it for the screen."""
        import plotly.graph_objects as go

        points = [shares.trace() for shares in self.observed]
        frame = layout(self.title, self.simulated, height=460, top=84)
        square = _square(*(escape(title, quote=False) for title in self.axis_titles))
        return go.Figure([_diagonal(AS_CLAIMED), *points], {**frame, **square, "legend": LEGEND})

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.performance_drawings import draw_reliability

        return draw_reliability(self, style)


def _diagonal(name: str) -> Trace:
    drawn = {"mode": "lines", "name": name, "line": CHANCE_LINE, "hoverinfo": "skip"}
    return {"type": "scatter", "x": [0, 1], "y": [0, 1], **drawn}


def _square(x: str, y: str) -> dict[str, Any]:
    """Axes from 0 to 1, as long as each other."""
    return {"xaxis": {**_UNIT, "title": {"text": x}}, "yaxis": {**_UNIT, "title": {"text": y}, "scaleanchor": "x"}}
