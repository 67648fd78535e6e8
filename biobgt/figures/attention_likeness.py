"""How alike disorders are in how their attention differs from that of their own controls, in one network."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from biobgt.base.colours import DIVERGING
from biobgt.base.errors import InputError
from biobgt.base.wording import signed
from biobgt.figures.figure import registered
from biobgt.figures.frame import BAR_BOTTOM, bar_above, cell_texts, layout
from biobgt.figures.model_figure import ModelFigure, compared_words, model_of, whose_model
from biobgt.figures.register import NoOptions

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.results.measured import Measured

CORRELATION = "correlation of differences, r"


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class AttentionLikeness(ModelFigure):
    """Correlations between the differences of disorders from their own controls.

    Attributes
    ----------
    pairs : sequence of mapping
        As a network's card holds them: ``first`` and ``second`` difference, ``r``, ``expected`` and ``p``.
    disorders : sequence of str
        In the order of cohorts.
    words : str
        How they were measured.
    """

    key = "attention_likeness"
    name = "How alike disorders' differences are"
    least_mm = 70
    example_of = "five-groups-aal90"

    options: NoOptions = field(default_factory=NoOptions)
    pairs: Sequence[Mapping[str, Any]]
    disorders: Sequence[str]
    words: str

    @classmethod
    def of(cls, measured: "Measured", options: NoOptions) -> Self:
        """Take what a network's card says of its disorders."""
        from biobgt.training.card_text import likeness_words

        model = model_of(measured, cls.key)
        pairs = model.card.get("likeness", ())
        if not pairs:
            raise InputError(f"Model {model.name} has no two disorders of which it was measured how alike they are.")
        return cls(
            **whose_model(model),
            **compared_words(model),
            options=options,
            title=f"How alike the differences are, {model.name}",
            pairs=pairs,
            disorders=[group for own in model.readouts.values() for group in own[1:]],
            words=likeness_words(model.card),
        )

    def square(self, what: str) -> NDArray[np.float64]:
        """One of the numbers between disorders, shape (n_disorders, n_disorders); NaN on the diagonal and above it."""
        at = {disorder: i for i, disorder in enumerate(self.disorders)}
        found = np.full((len(at), len(at)), np.nan)
        for one in self.pairs:
            i, j = sorted((at[one["first"][1]], at[one["second"][1]]))
            found[j, i] = np.nan if one[what] is None else one[what]
        return found

    def texts(self, line: str) -> list[list[str]]:
        """What stands in each cell, lines parted by ``line``."""
        cells = zip(self.square("r").ravel(), self.square("expected").ravel(), self.square("p").ravel(), strict=True)
        said = [
            "" if np.isnan(r) else f"r = {signed(r)}{line}by chance {signed(expected)}{line}p = {p:.3f}"
            for r, expected, p in cells
        ]
        n = len(self.disorders)
        return [said[row * n : (row + 1) * n] for row in range(n)]

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per pair of disorders."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "difference": f"{one['first'][1]} minus {one['first'][0]}",
                    "beside": f"{one['second'][1]} minus {one['second'][0]}",
                    **{name: one[name] for name in ("r", "expected", "p", "blocks", "permutations")},
                }
                for one in self.pairs
            ]
        )

    @property
    def caption(self) -> str:
        """What is correlated, and what chance gives."""
        return (
            f"{self.by_model}: {self.words[0].lower()}{self.words[1:]} Two disorders that share their controls are "
            "alike by that alone, which is why chance gives more than 0 there. A difference that is mostly noise "
            "correlates with nothing, so that a low r does not show that two disorders differ."
        )

    def plotly(self) -> "go.Figure":
        """Draw it for the screen."""
        import plotly.graph_objects as go

        named = [escape(name, quote=False) for name in self.disorders]
        height = BAR_BOTTOM + 40 + 84 * len(named)
        values = self.square("r")
        heatmap = {
            "type": "heatmap",
            "z": values,
            "x": named,
            "y": named,
            "zmin": -1,
            "zmax": 1,
            "colorscale": DIVERGING,
            "hoverinfo": "skip",
            "colorbar": bar_above(CORRELATION, height),
        }
        across = {"type": "category", "showgrid": False}
        frame = {
            **layout(self.title, self.simulated, height=height, top=BAR_BOTTOM + 6),
            "annotations": cell_texts(values, self.texts("<br>"), named, {}),
            "xaxis": {**across, "range": [-0.5, len(named) - 1.5]},
            "yaxis": {**across, "range": [len(named) - 0.5, 0.5]},
        }
        return go.Figure([heatmap], frame)

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.attention_groups import draw_likeness

        return draw_likeness(self, style)
