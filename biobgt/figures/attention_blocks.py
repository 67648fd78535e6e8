"""Attention between functional modules: the effect size of every block, and which ones pass."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from biobgt.base.colours import DIVERGING
from biobgt.base.errors import InputError
from biobgt.base.statistics import FDR, passes
from biobgt.base.wording import adjusted_for, percent
from biobgt.figures.attention_options import AttentionGroupsOptions
from biobgt.figures.attention_words import comparison_sentence
from biobgt.figures.figure import registered
from biobgt.figures.frame import BAR_BOTTOM, Axes, axis_suffix, bar_above, cell_texts, in_panel, layout, stacked_axes
from biobgt.figures.model_figure import ModelFigure, compared_words, model_of, whose_model
from biobgt.figures.region_order import order_regions
from biobgt.model.attention import GIVEN_FC, WITHOUT_CONNECTIVITY, BlockTests, block_tests

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.data.atlas import Atlas
    from biobgt.figures.paper_style import PaperStyle
    from biobgt.results.measured import Measured

Matrix = NDArray[np.float64]

EFFECT = "effect size d"
MARK = "✱"
UNADJUSTED = "unadjusted"
GIVEN, OF_CONNECTIVITY = "attention given FC of the same block", "FC of the same block, not adjusted for overall FC"
_LIMIT_D = 0.5
_HEIGHT = 600


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class AttentionBlocks(ModelFigure):
    """The effect size of every pair of modules, adjusted and unadjusted, marked where FDR passes.

    Attributes
    ----------
    tests : BlockTests
        Its blocks have ``module`` (looks), ``other_module`` (looked at), ``d`` and ``q``, and both with each ending of
        :attr:`sides`; ``covariates`` names what was adjusted for.
    """

    key = "attention_blocks"
    name = "Attention between modules, tested"
    least_mm = 65
    takes = AttentionGroupsOptions

    options: AttentionGroupsOptions = field(default_factory=AttentionGroupsOptions)
    tests: BlockTests

    @classmethod
    def of(cls, measured: "Measured", options: AttentionGroupsOptions) -> Self:
        """Take the tests that were made when the model was."""
        model = model_of(measured, cls.key)
        between = options.between(model)
        tests = block_tests(model.groups.tests, between, model.groups.n)
        if tests is None:
            raise InputError(f"{between[0]} and {between[1]} were not compared when the model {model.name} was made.")
        return cls(
            **whose_model(model, between),
            **compared_words(model),
            options=options,
            title=f"Module blocks, {between[1]} against {between[0]}",
            tests=_in_order(tests, model.atlas),
        )

    @property
    def blocks(self) -> "pd.DataFrame":
        """The tests, one row per block."""
        return self.tests.blocks

    @property
    def modules(self) -> list[str]:
        """The modules, in the order of the maps of attention."""
        return list(dict.fromkeys([*self.blocks["module"], *self.blocks["other_module"]]))

    @property
    def sides(self) -> dict[str, str]:
        """What each panel shows, in words, and what its columns end in: connectivity beside, the unadjusted last."""
        sides = {_adjustment(self.blocks, "covariates"): ""}
        without = f"covariates{WITHOUT_CONNECTIVITY}"
        if self.tests.beside is not None:
            sides |= {GIVEN: GIVEN_FC, OF_CONNECTIVITY: self.tests.of_connectivity}
        elif without in self.blocks and self.blocks[without].notna().any():  # else it is the unadjusted test
            sides[_adjustment(self.blocks, without)] = WITHOUT_CONNECTIVITY
        return {**sides, UNADJUSTED: "_unadjusted"}

    @property
    def limit(self) -> float:
        """Half the width of the scale of effect sizes: small ones look small, large ones stay apart."""
        effects = [f"d{ending}" for ending in self.sides.values()]
        return max(_LIMIT_D, float(np.nanmax(self.blocks[effects].abs().to_numpy(), initial=0)))

    def panel(self, ending: str) -> tuple[Matrix, list[list[str]]]:
        """Effect sizes between modules, shape (n_modules, n_modules), and what stands in each block."""
        d, q = (block_square(self.blocks, f"{name}{ending}", self.modules) for name in ("d", "q"))
        return d, block_texts(d, q)

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per block."""
        from biobgt.groups.compare import EFFECT_COLUMNS

        means = [f"mean_{group}" for group in self.tests.between]
        endings = dict.fromkeys([*self.sides.values(), WITHOUT_CONNECTIVITY])
        effects = [name for ending in endings for column in EFFECT_COLUMNS if (name := column + ending) in self.blocks]
        return self.blocks[["feature", "module", "other_module", *means, *effects]]

    @property
    def caption(self) -> str:
        """What the effect sizes show."""
        first, second = self.tests.between
        return (
            f"{self.by_model}: difference of {second} and {first} in mean attention from one functional module (row) "
            f"to another (column), in standard deviations (d; positive is more in {second}). An asterisk marks a "
            f"false discovery rate of at most {percent(FDR)}. {comparison_sentence(self.tests)} A block that is "
            "marked only with fewer adjustments may differ because of the others: attention follows connectivity and "
            "differs where connectivity is stronger overall. Where a disorder itself weakens overall connectivity, the "
            "adjustment hides this, too."
        )

    def plotly(self) -> "go.Figure":
        """Draw it for the screen, panels one above the other: side by side, the numbers would have no room."""
        import plotly.graph_objects as go

        sides, limit = self.sides, self.limit
        named = [escape(str(module), quote=False) for module in self.modules]
        height = _HEIGHT * len(sides) // 2
        axes = stacked_axes(len(sides), gap=0.2 / len(sides))
        traces: list[dict[str, Any]] = []
        written: list[dict[str, Any]] = []
        for panel, ending in enumerate(sides.values()):
            d, texts = self.panel(ending)
            heatmap = {
                "type": "heatmap",
                "z": d,
                "x": named,
                "y": named,
                "customdata": block_square(self.blocks, f"q{ending}", self.modules),
                "text": texts,
                "coloraxis": "coloraxis",
                "hovertemplate": "%{y} looks at %{x}<br>d = %{z:.2f}, q = %{customdata:.3f}<extra></extra>",
                **in_panel(panel),
            }
            traces.append(heatmap)
            written += cell_texts(d / limit, texts, named, in_panel(panel))
            across = {"type": "category", "showgrid": False, "tickangle": -40, "automargin": True}
            axes[f"xaxis{axis_suffix(panel)}"] |= across
            axes[f"yaxis{axis_suffix(panel)}"] |= {"type": "category", "showgrid": False, "autorange": "reversed"}
        scale = {"colorscale": DIVERGING, "cmin": -limit, "cmax": limit, "colorbar": bar_above(EFFECT, height)}
        frame = layout(self.title, self.simulated, height=height, top=BAR_BOTTOM + 22)
        titles = _titles_above([escape(side, quote=False) for side in sides], axes)
        return go.Figure(traces, {**frame, **axes, "annotations": [*titles, *written], "coloraxis": scale})

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.attention_drawings import draw_blocks

        return draw_blocks(self, style)


def _in_order(tests: BlockTests, atlas: "Atlas") -> BlockTests:
    """Blocks in the order that functional modules have in the maps of attention."""
    mapped = order_regions(atlas.n_regions, atlas.labelling(next(iter(atlas.labels)))).blocks
    place = {module: i for i, (module, _, _) in enumerate(mapped)}
    by = ["module", "other_module"]
    return replace(tests, blocks=tests.blocks.sort_values(by, key=lambda names: names.map(place), ignore_index=True))


def _adjustment(blocks: "pd.DataFrame", column: str) -> str:
    """What stands above adjusted effects: what was adjusted for, where the table says it."""
    if column not in blocks:
        return "adjusted"
    named = blocks[column].dropna()
    return adjusted_for(str(named.iloc[0]) if len(named) else "")


def block_texts(d: Matrix, q: Matrix) -> list[list[str]]:
    """What stands in each block: its effect size, with a mark where its q passes."""

    def text(effect: float, rate: float) -> str:
        if not np.isfinite(effect):
            return ""
        rounded = round(effect, 2) or 0.0  # a small negative effect is no minus zero
        return f"{rounded:.2f}".replace("-", "−") + (f" {MARK}" if passes(rate) else "")

    return [[text(*pair) for pair in zip(*rows, strict=True)] for rows in zip(d.tolist(), q.tolist(), strict=True)]


def block_square(blocks: "pd.DataFrame", column: str, modules: Sequence[str]) -> Matrix:
    """A matrix between modules; of symmetric ones, which come once, the other half stays empty.

    Parameters
    ----------
    blocks : DataFrame
        With ``module`` and ``other_module``.
    column : str
        What stands in the matrix.
    modules : sequence of str

    Returns
    -------
    ndarray, shape (n_modules, n_modules)
    """
    at = {module: i for i, module in enumerate(modules)}
    square = np.full((len(at), len(at)), np.nan)
    rows, columns = ([at[name] for name in blocks[side]] for side in ("module", "other_module"))
    square[rows, columns] = blocks[column].to_numpy(dtype=float)
    return square


def _titles_above(titles: Sequence[str], axes: Axes) -> list[dict[str, Any]]:
    """What stands above each of the panels that are one above the other."""
    above = {"x": 0.5, "xref": "paper", "yref": "paper", "xanchor": "center", "yanchor": "bottom", "showarrow": False}
    tops = [axes[f"yaxis{axis_suffix(panel)}"]["domain"][1] for panel in range(len(titles))]
    return [{**above, "y": top, "text": title, "font": {"size": 13}} for top, title in zip(tops, titles, strict=True)]
