"""How far people of a group spread in how closely their attention keeps to modules, which a mean map hides."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from biobgt.base.wording import listed, percent, signed
from biobgt.figures.attention_contrast import RATIO
from biobgt.figures.figure import registered
from biobgt.figures.frame import horizontal_line, layout, note_at_right
from biobgt.figures.model_figure import (
    OTHER_COLOUR,
    ModelFigure,
    group_colour,
    model_of,
    model_words,
    spread_of_model,
    whose_model,
)
from biobgt.figures.register import NoOptions
from biobgt.model.pretrained import HIGHEST, people_summary

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.results.measured import Measured

JITTER = 0.16  # half the width over which people of a group are strewn, where groups are 1 apart


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class AttentionSpread(ModelFigure):
    """Every person's contrast of modules, group by group.

    Attributes
    ----------
    people : mapping of str to ndarray, shape (n_people, 2)
        Attention within over between each person's own Louvain modules, and mean |FC|.
    """

    key = "attention_spread"
    name = "Attention within and between modules, person by person"
    least_mm = 55
    example_of = "five-groups-aal90"

    options: NoOptions = field(default_factory=NoOptions)
    people: Mapping[str, NDArray[np.float64]]

    @classmethod
    def of(cls, measured: "Measured", options: NoOptions) -> Self:
        """Take the people of the model's groups."""
        model = model_of(measured, cls.key)
        people = spread_of_model(model).people
        return cls(
            **whose_model(model),
            **model_words(model),
            options=options,
            title=f"Module contrast of every person, {model.name}",
            people={group: people[group] for group in model.group_names},
        )

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per person, in no order that names anyone."""
        import pandas as pd

        rows = [
            {"group": group, "within / between": float(ratio), "mean |FC|": float(strength)}
            for group, people in self.people.items()
            for ratio, strength in people
        ]
        return pd.DataFrame(rows)

    @property
    def caption(self) -> str:
        """How mean and median compare, how few people it takes, and how the contrast goes with overall connectivity."""
        found = {group: people_summary(people) for group, people in self.people.items()}
        averages = listed([f"{one.mean:.2f} and {one.median:.2f} ({group})" for group, one in found.items()])
        top = listed([f"{percent(one.top_share)} ({group})" for group, one in found.items()])
        strength = listed([f"{signed(one.with_strength)} ({group})" for group, one in found.items()])
        return (
            f"{self.by_model}: mean attention within over between each person's own Louvain modules, mean over layers "
            "and heads; one dot per person, the box from the first to the third quartile with the median, a diamond "
            f"the mean. Mean and median: {averages}. Where the mean is far above the median, a few people make the "
            f"mean map: the {percent(HIGHEST)} of people with the highest contrast have this share of what lies above "
            f"1 in the whole group: {top}. Spearman's correlation with overall connectivity (mean |FC|): {strength}."
        )

    def strewn(self) -> dict[str, NDArray[np.float64]]:
        """Where each person's dot stands beside the middle of its group, the same at every drawing."""
        random = np.random.default_rng(0)
        return {group: random.uniform(-JITTER, JITTER, len(people)) for group, people in self.people.items()}

    def plotly(self) -> "go.Figure":
        """Draw it for the screen."""
        import plotly.graph_objects as go

        names = [escape(group, quote=False) for group in self.people]
        aside = self.strewn()
        traces: list[dict[str, Any]] = []
        for place, (group, people) in enumerate(self.people.items()):
            ratios, colour = people[:, 0], group_colour(group)
            about = {"name": names[place], "showlegend": False}
            box = {"type": "box", "x0": place, "y": ratios, "width": 0.5, "boxpoints": False, "hoverinfo": "skip"}
            traces.append({**box, **about, "line": {"color": colour, "width": 1.2}, "fillcolor": "rgba(0,0,0,0)"})
            dots = {"type": "scatter", "mode": "markers", "x": place + aside[group], "y": ratios, **about}
            traces.append(
                {
                    **dots,
                    "customdata": people[:, 1],
                    "marker": {"color": colour, "size": 4, "opacity": 0.45},
                    "hovertemplate": f"{names[place]}<br>%{{y:.2f}}, mean |FC| %{{customdata:.2f}}<extra></extra>",
                }
            )
            mean = {"type": "scatter", "mode": "markers", "x": [place], "y": [float(np.nanmean(ratios))], **about}
            diamond = {"color": colour, "size": 11, "symbol": "diamond", "line": {"width": 1, "color": "#FFFFFF"}}
            traces.append({**mean, "marker": diamond, "hovertemplate": "mean %{y:.2f}<extra></extra>"})
        frame = {
            **layout(self.title, self.simulated, height=420),
            "xaxis": {
                "tickvals": list(range(len(names))),
                "ticktext": [name.replace(" (", "<br>(") for name in names],
                "ticklabeloverflow": "allow",  # plotly would leave out a slanted name that reaches the edge
                "automargin": True,
                "range": [-0.6, len(names) - 0.4],
                "zeroline": False,
                "showgrid": False,
            },
            "yaxis": {"title": {"text": RATIO}},
            "shapes": [horizontal_line(1, {"color": OTHER_COLOUR, "dash": "dot"})],
            "annotations": [note_at_right(1, "no modules")],
        }
        return go.Figure(traces, frame)

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.attention_groups import draw_spread

        return draw_spread(self, style)
