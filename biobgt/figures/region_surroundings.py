"""Why this region? A region in the middle of its neighbours, as measured and perturbed."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from biobgt.figures.figure import registered
from biobgt.figures.frame import Trace, layout, whose
from biobgt.figures.hub_words import CHOSEN_COLOUR, GROUP_COLOUR
from biobgt.figures.why_region import BEFORE_COLOUR, RegionFigure, RegionOptions, Values
from biobgt.options import option
from biobgt.wording import counted

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.hubs.region_story import RegionStory

MOST_DRAWN = 16  # neighbours: more names than these would lie on one another
_WIDTHS = (0.6, 1.4, 2.4, 3.6, 5.0)
_LONGEST_NAME = 21


@dataclass(frozen=True)
class SurroundingsOptions(RegionOptions):
    """Whether its surroundings are shown as measured or perturbed."""

    perturbed: bool = option(False, title="Perturbed", help="The surroundings after the perturbation of the region.")


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class RegionSurroundings(RegionFigure):
    """A region in the middle of its neighbours, with the connections among them."""

    key = "region_surroundings"
    name = "Surroundings of a region"
    least_mm = 75
    takes = SurroundingsOptions
    _sentence = "A region's surroundings are the regions it is connected with, and the connections among all of these."

    options: SurroundingsOptions

    @classmethod
    def _titled(cls, story: "RegionStory", options: RegionOptions) -> str:
        perturbed = isinstance(options, SurroundingsOptions) and options.perturbed
        return f"{story.name}: {'perturbed' if perturbed else 'as measured'}"

    @property
    def names(self) -> list[str]:
        """The region, then the neighbours that are drawn, strongest first."""
        return [self.regions[member] for member in self.story.neighbourhood.members[: MOST_DRAWN + 1]]

    @property
    def weights(self) -> Values:
        """Weights among them, shape (k + 1, k + 1)."""
        around = self.story.neighbourhood
        return (around.after if self.options.perturbed else around.before)[: MOST_DRAWN + 1, : MOST_DRAWN + 1]

    @property
    def largest(self) -> float:
        """The weight of the thickest line, the same before and after."""
        around = self.story.neighbourhood
        return float(max(around.before.max(), around.after.max()))

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per connection, before or after."""
        import pandas as pd

        around, shown, names = self.story.neighbourhood, slice(0, MOST_DRAWN + 1), self.names
        before, after = around.before[shown, shown], around.after[shown, shown]
        first, second = np.nonzero(np.triu((before != 0) | (after != 0)))
        return pd.DataFrame(
            {
                "region": [names[i] for i in first],
                "other region": [names[i] for i in second],
                "weight as measured": before[first, second],
                "weight perturbed": after[first, second],
            }
        )

    @property
    def caption(self) -> str:
        """Who is drawn, and what the perturbation did."""
        story = self.story
        around = story.neighbourhood
        drawn = min(around.n_neighbours, MOST_DRAWN)
        some = f"the {drawn} strongest of its {around.n_neighbours} neighbours"
        who = some if drawn < around.n_neighbours else f"its {counted(drawn, 'neighbour')}"
        opening = (
            f"{whose(self.subject, self.simulated)}: {story.name} in the middle and {who} around it, strongest first "
            "from the top"
        )
        lines = "Blue lines are its own connections, grey ones those among its neighbours; thicker is stronger."
        if not self.options.perturbed:
            return f"{opening}, as measured. {lines}"
        if around.unchanged:
            return f"{opening}, after the perturbation, which changes nothing here. {lines}"
        if story.perturbation == "control":
            return f"{opening}, after the perturbation: every pair is connected with the same weight. {lines}"
        return f"{opening}, after the perturbation: it has lost all its connections. {lines}"

    def plotly(self) -> "go.Figure":
        """Draw it for the screen."""
        import plotly.graph_objects as go

        places = circle_of_neighbours(len(self.names) - 1)
        traces = _connections(places, self.weights, self.largest, colour=GROUP_COLOUR, of_region=False)
        traces += _connections(places, self.weights, self.largest, colour=BEFORE_COLOUR, of_region=True)
        traces.append(_circles(self.names, places, self.weights))
        frame = {
            **layout(self.title, self.simulated, height=380),
            "xaxis": {"visible": False, "range": [-2.5, 2.5], "fixedrange": True},
            "yaxis": {"visible": False, "range": [-1.25, 1.25], "fixedrange": True},
            "annotations": [_middle_label(self.names[0])],
            "showlegend": False,
        }
        return go.Figure(traces, frame)

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.why_region_drawings import draw_surroundings

        return draw_surroundings(self, style)


def circle_of_neighbours(n_neighbours: int) -> Values:
    """The middle, then evenly round a circle; none stands straight above or below, where names would meet."""
    angles = (np.arange(n_neighbours) + (0.25 if n_neighbours % 2 else 0.5)) * 2 * np.pi / max(n_neighbours, 1)
    around = np.column_stack([np.sin(angles), np.cos(angles)])
    return np.vstack([np.zeros((1, 2)), around])


def _connections(places: Values, weights: Values, largest: float, *, colour: str, of_region: bool) -> list[Trace]:
    """Lines in a few widths, because a trace has one; NaN parts one line from the next."""
    rows, columns = np.nonzero(np.triu(weights))
    mine = rows == 0
    rows, columns = (rows[mine], columns[mine]) if of_region else (rows[~mine], columns[~mine])
    shares = weights[rows, columns] / largest if largest > 0 else np.zeros(len(rows))
    steps = np.clip((shares * len(_WIDTHS)).astype(int), 0, len(_WIDTHS) - 1)
    traces: list[Trace] = []
    for step in np.unique(steps):
        ends = places[rows[steps == step]], places[columns[steps == step]]
        x, y = np.stack([*ends, np.full_like(ends[0], np.nan)], axis=1).reshape(-1, 2).T
        line = {"color": colour, "width": _WIDTHS[step]}
        opacity = 0.85 if of_region else 0.4
        drawn = {"mode": "lines", "line": line, "opacity": opacity, "hoverinfo": "skip"}
        traces.append({"type": "scatter", "x": x, "y": y, **drawn})
    return traces


def _circles(names: Sequence[str], places: Values, weights: Values) -> Trace:
    colours = [CHOSEN_COLOUR] + [BEFORE_COLOUR] * (len(names) - 1)
    notes = ["the region itself"] + [f"weight {weight:.3g}" for weight in weights[0, 1:]]
    return {
        "type": "scatter",
        "x": places[:, 0],
        "y": places[:, 1],
        "mode": "markers+text",
        "name": "regions",
        "marker": {"color": colours, "size": [20] + [10] * (len(names) - 1), "opacity": 1, "line": {"width": 1}},
        "text": ["", *map(_label, names[1:])],
        "textposition": np.where(places[:, 0] > 0, "middle right", "middle left").tolist(),
        "textfont": {"size": 11},
        "cliponaxis": False,  # a long name may reach beyond the plot
        "hovertext": [f"{escape(name, quote=False)}<br>{note}" for name, note in zip(names, notes, strict=True)],
        "hovertemplate": "%{hovertext}<extra></extra>",
    }


def _middle_label(name: str) -> dict[str, object]:
    """The name of the region itself, in black on its colour: readable on lines, in a light and in a dark page."""
    where = {"x": 0, "y": 0, "yshift": 20, "showarrow": False}
    return {
        **where,
        "text": f"<b>{_label(name)}</b>",
        "font": {"size": 11, "color": "#000000"},
        "bgcolor": CHOSEN_COLOUR,
    }


def _label(name: str) -> str:
    """A name short enough to stand in the drawing, with both ends: names of atlases end in the side, or a number."""
    return escape(name if len(name) <= _LONGEST_NAME else f"{name[:10]}…{name[-10:]}", quote=False)
