"""Figure of how faithful a trained model's attention is: regions removed or kept, parts shuffled, members compared."""

from typing import TYPE_CHECKING

import numpy as np

from biobgt.base.colours import BLUE, GREEN, VERMILION
from biobgt.base.errors import InputError
from biobgt.figures.drawing import DASHES, Axis, Band, Curve, Drawing, Mark, Panel, Points, Rule
from biobgt.figures.register import NoOptions, model_figure
from biobgt.figures.which_model import OTHER_COLOUR, model_drawing, model_methods, model_of
from biobgt.model.pretrained import InstalledModel

if TYPE_CHECKING:
    import pandas as pd

    from biobgt.results.measured import Measured

_TITLES = {"deletion": "Removed", "insertion": "Kept alone"}
_COLOURS = (BLUE, OTHER_COLOUR, GREEN, VERMILION)  # of the orders
_METHODS = (
    "Regions were removed in the order of the attention that they receive, at random, by the sum of absolute "
    "correlations (FC strength), and by gradient × input, the absolute value of the gradient of the log-odds of the "
    "called group times the distance from the training subjects' mean [@samek2017]. A removed region has that mean in "
    "all that the model reads of it: its correlations, log-Euclidean connectivity, edges and node entanglement. "
    "Weights were shuffled part by part [@adebayo2018]. Each subject was asked of the member that was not trained on "
    "it; intervals are 95 % bootstrap intervals over people."
)


@model_figure("attention_faithfulness", "Is the attention faithful?", least_mm=140)
def attention_faithfulness(measured: "Measured", options: NoOptions) -> Drawing:
    """How far predictions move with the regions that are attended to, and how much of attention is training's."""
    from biobgt.training.card_text import CardText
    from biobgt.training.faithfulness_tables import likeness_points, removal_points

    model = model_of(measured, "attention_faithfulness")
    removed, alike = removal_points(model.card), likeness_points(model.card)
    if removed.empty:
        raise _not_measured(model)
    text = CardText(model.card)
    beside = f" {text.beside_line}" if text.beside_line else ""
    return model_drawing(
        model,
        f"{text.faithfulness}{beside} Curves are the mean distance of probabilities from those of the whole "
        "scan, where some regions were removed, or where all others were: a faithful order is high where regions are "
        "removed, and low where they are kept. On the left, correlations of maps and shares of regions.",
        methods=(*model_methods(model), _METHODS),
        line=text.faithfulness,
        title=f"Is the attention of {model.name} faithful?",
        panels=[_likeness(alike), *(_curves(kind, removed[removed["kind"] == kind]) for kind in _TITLES)],
        numbers=lambda: _stacked(removed, alike),
        columns=3,
        own_y=True,
        legend="below",
        height=440,
    )


def _not_measured(model: InstalledModel) -> InputError:
    """What is said of a card without these numbers."""
    from biobgt.training.card_text import CardText

    how = "" if model.readouts else " 'biobgt card' measures it from the data that the model was trained on."
    return InputError(f"Model {model.name}: {CardText(model.card).faithfulness}{how}")


def _curves(kind: str, points: "pd.DataFrame") -> Panel:
    """How far probabilities move with the share of regions, a curve for each order."""
    marks: list[Mark] = []
    for place, (order, rows) in enumerate(points.groupby("order", sort=False)):
        name, colour, shares = str(order), _COLOURS[place % len(_COLOURS)], rows["share"].to_numpy()
        marks += [
            Band(name=name, colour=colour, x=shares, low=rows["low"].to_numpy(), high=rows["high"].to_numpy()),
            Curve(
                name=name,
                colour=colour,
                x=shares,
                y=rows["value"].to_numpy(),
                dash=DASHES[place % len(DASHES)],
                symbol="circle",
                hover=f"{name}, %{{x:.0%}} of regions\nchange of p %{{y:.3f}}",
            ),
        ]
    x = Axis(title=f"Regions {_TITLES[kind].lower()}", limits=(0, None), percent=True)
    return Panel(marks=marks, x=x, y=Axis(title="Mean |change of p|", limits=(0, None)), title=_TITLES[kind])


def _likeness(points: "pd.DataFrame") -> Panel:
    """How alike maps stay, row by row."""
    marks: list[Mark] = [Rule(x=0, colour=OTHER_COLOUR, dash="dot", thin=True)]
    for kind, colour in (("randomised", BLUE), ("agreement", VERMILION)):
        rows = np.flatnonzero(points["kind"] == kind)
        own = points.iloc[rows]
        value, low, high = (own[end].to_numpy() for end in ("value", "low", "high"))
        marks.append(
            Points(
                colour=colour,
                size=9,
                x=value,
                y=rows,
                low=np.where(np.isfinite(low), np.minimum(low, value), value),
                high=np.where(np.isfinite(high), np.maximum(high, value), value),
                across="x",
                hover="%{y}\n%{x:.2f}",
            )
        )
    x = Axis(title="Correlation, or share", limits=(None, 1.03))
    return Panel(marks=marks, x=x, y=Axis(names=list(points["what"]), reversed=True), title="Alike")


def _stacked(removed: "pd.DataFrame", alike: "pd.DataFrame") -> "pd.DataFrame":
    """All numbers, one row per point."""
    import pandas as pd

    return pd.concat([removed, alike], ignore_index=True)
