"""How closely a trained model's attention keeps to modules, group by group and head by head."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from biobgt.base.wording import adjusted_for, not_adjusted_for, signed
from biobgt.figures.attention_words import contrast_beside_words
from biobgt.figures.figure import registered
from biobgt.figures.frame import Trace, horizontal_line, layout, note_at_right
from biobgt.figures.model_figure import (
    OTHER_COLOUR,
    ModelFigure,
    compared_words,
    group_colour,
    model_of,
    model_words,
    whose_model,
)
from biobgt.figures.register import NoOptions
from biobgt.model.attention import WITHOUT_CONNECTIVITY, BlockTests, all_block_tests

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.results.measured import Measured

RATIO = "Attention within / between modules"


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class AttentionContrast(ModelFigure):
    """How much more regions look within their module than between modules, one point per head.

    Attributes
    ----------
    contrast : mapping of str to ndarray, shape (n_layers, n_heads)
        Mean over the subjects of each group.
    tests : sequence of BlockTests
        Of groups, in the atlas's functional modules.
    start_contrast : float
        The preset's: to which ratio the sharpness of attention was set before training; 0 where it was left as drawn.
    connectivity : mapping of str to mapping, or None
        Of each group, what the card says of attention beside connectivity; None where it was not measured.
    """

    key = "attention_contrast"
    name = "Attention within and between modules"

    options: NoOptions = field(default_factory=NoOptions)
    contrast: Mapping[str, NDArray[np.float32]]
    tests: Sequence[BlockTests] = ()
    start_contrast: float = 0.0
    connectivity: Mapping[str, Mapping[str, float | None]] | None = None

    @classmethod
    def of(cls, measured: "Measured", options: NoOptions) -> Self:
        """Take the model's groups."""
        model = model_of(measured, cls.key)
        tests = all_block_tests(model.groups.tests, model.groups.n)
        return cls(
            **whose_model(model),
            **(compared_words(model, blocks=False) if tests else model_words(model)),
            options=options,
            title=f"Module contrast of attention, {model.name}",
            contrast=model.groups.contrast,
            tests=tests,
            start_contrast=model.card["preset"].get("start_contrast", 0.0),
            connectivity=(model.card.get("parts") or {}).get("connectivity"),
        )

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per group and head."""
        import pandas as pd

        rows = [
            {"group": group, "layer": layer + 1, "head": head + 1, "within / between": float(ratio)}
            for group, ratios in self.contrast.items()
            for (layer, head), ratio in np.ndenumerate(ratios)
        ]
        return pd.DataFrame(rows)

    @property
    def caption(self) -> str:
        """How closely attention keeps to modules, and that the tests are of other modules than the figure."""
        means = ", ".join(f"{group} {np.nanmean(values):.2f}" for group, values in self.contrast.items())
        said = (
            f"{self.by_model}: ratio of mean attention within to between each subject's own Louvain modules; one dot "
            f"per head, a diamond for their mean: {means}. 1 would mean that modules make no difference."
        )
        if self.connectivity:
            said += f" {contrast_beside_words(self.connectivity)}"
        if self.start_contrast:
            said += (
                " The sharpness of attention was set on training subjects, without their groups, so that this ratio is "
                f"about {self.start_contrast:g}: its size is a choice; the result is that it holds in held-out "
                "subjects."
            )
        if self.tests:
            said += (
                " Groups were tested in another ratio, which is not drawn: attention within to between the atlas's "
                "functional modules, the same modules for every subject, mean over layers and heads."
            )
        return said + "".join(_tested(test) for test in self.tests)

    def plotly(self) -> "go.Figure":
        """Draw it for the screen."""
        import plotly.graph_objects as go

        frame = {
            **layout(self.title, self.simulated, height=400),
            "xaxis": {"type": "category", "range": [-0.5, len(self.contrast) - 0.5]},
            "yaxis": {"title": {"text": RATIO}},
            "shapes": [horizontal_line(1, {"color": OTHER_COLOUR, "dash": "dot"})],
            "annotations": [note_at_right(1, "no modules")],
        }
        traces = [trace for group, values in self.contrast.items() for trace in _points(group, values)]
        return go.Figure(traces, frame)

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.attention_drawings import draw_contrast

        return draw_contrast(self, style)


def _tested(test: BlockTests) -> str:
    """How two groups differ in the ratio that was tested."""
    row = test.contrast.iloc[0]
    return (
        f" In that ratio, {test.between[1]} against {test.between[0]}: d = {signed(row['d'])} "
        f"[{signed(row['d_low'])}, {signed(row['d_high'])}], p = {row['p']:.3g}, {adjusted_for(test.covariates)}; "
        f"{_without_connectivity(row)}unadjusted d = {signed(row['d_unadjusted'])}, p = {row['p_unadjusted']:.3g}."
        f"{not_adjusted_for(test.covariates)}"
    )


def _without_connectivity(row: "pd.Series[Any]") -> str:
    """The test that leaves overall connectivity as it is, where it was made."""
    if f"d{WITHOUT_CONNECTIVITY}" not in row:
        return ""
    d, p = row[f"d{WITHOUT_CONNECTIVITY}"], row[f"p{WITHOUT_CONNECTIVITY}"]
    return f"not adjusted for overall connectivity (mean |FC|) d = {signed(d)}, p = {p:.3g}; "


def _points(group: str, values: NDArray[np.float32]) -> list[Trace]:
    """A group's heads as points, and their mean with its number beside it."""
    shown, colour = escape(group, quote=False), group_colour(group)
    layers, heads = values.shape
    each = {
        "type": "scatter",
        "x": [shown] * values.size,
        "y": values.ravel().astype(float),
        "text": [f"layer {layer + 1}, head {head + 1}" for layer in range(layers) for head in range(heads)],
        "mode": "markers",
        "name": f"{shown}, each head",
        "marker": {"color": colour, "size": 8, "opacity": 0.45},
        "hovertemplate": "%{x}, %{text}<br>%{y:.2f}<extra></extra>",
        "showlegend": False,
    }
    mean = {
        "type": "scatter",
        "x": [shown],
        "y": [float(np.nanmean(values))],
        "mode": "markers+text",
        "name": f"{shown}, mean",
        "text": [f"  {np.nanmean(values):.2f}"],
        "textposition": "middle right",
        "marker": {"color": colour, "size": 15, "symbol": "diamond", "line": {"width": 1}},
        "hovertemplate": "%{x}, mean of heads<br>%{y:.2f}<extra></extra>",
        "showlegend": False,
    }
    return [each, mean]
