"""Attention of one group of a trained model minus that of another, with a frame around the blocks that differ."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from biobgt.base.colours import BLACKISH, DIVERGING
from biobgt.base.options import option
from biobgt.base.wording import percent, signed
from biobgt.figures.attention_maps import group_maps
from biobgt.figures.attention_options import AttentionGroupsOptions, AttentionOptions
from biobgt.figures.attention_words import comparison_sentence
from biobgt.figures.figure import registered
from biobgt.figures.frame import BAR_BOTTOM, bar_above, in_panel, layout
from biobgt.figures.model_figure import (
    ModelFigure,
    compared_words,
    model_of,
    model_words,
    spread_of_model,
    whose_model,
)
from biobgt.figures.region_order import RegionOrder, matrix_numbers
from biobgt.figures.square_maps import block_shapes, square_axes
from biobgt.model.attention import BlockTests, block_tests, difference_limit, map_correlation

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.model.installed import InstalledModel
    from biobgt.results.measured import Measured

Matrix = NDArray[np.float64]

DIFFERENCE = "difference (× uniform attention)"
IN_ERRORS = "difference (standard errors)"
_TWO_SIDED = 1.96
_MARK_LINE = {"color": BLACKISH, "width": 2.5}


DIFFERENCES, ERRORS = "difference", "errors"


@dataclass(frozen=True)
class AttentionDifferenceOptions(AttentionOptions, AttentionGroupsOptions):
    """Which groups are compared, in which part of attention, in which unit, and the order of regions."""

    unit: str = option(
        DIFFERENCES,
        title="Unit of the difference",
        help="Multiples of uniform attention; or standard errors of the difference, which show how uncertain it is.",
        choices=(DIFFERENCES, ERRORS),
        shown={DIFFERENCES: "Difference", ERRORS: "In standard errors"},
        link="difference_unit",
    )


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class AttentionDifference(ModelFigure):
    """The difference of two groups' mean attention.

    Attributes
    ----------
    between : (str, str)
    difference : ndarray, shape (n_regions, n_regions)
        Second group minus first, in multiples of uniform attention or in standard errors.
    regions : sequence of str, length n_regions
        Named on the screen only.
    order : RegionOrder
    limit : float
        The colours run from −limit to limit.
    tests : BlockTests or None
        None where these groups were not compared.
    framed : bool
        Whether the regions are in the order of the modules that were tested.
    connectivity : float
        Correlation with the difference of the groups' mean connectivity, over all pairs of regions.
    """

    key = "attention_difference"
    name = "Difference of attention"
    least_mm = 55
    takes = AttentionDifferenceOptions

    options: AttentionDifferenceOptions = field(default_factory=AttentionDifferenceOptions)
    between: tuple[str, str]
    difference: Matrix
    regions: Sequence[str]
    order: RegionOrder
    limit: float
    tests: BlockTests | None = None
    framed: bool = False
    connectivity: float = float("nan")

    @classmethod
    def of(cls, measured: "Measured", options: AttentionDifferenceOptions) -> Self:
        """Compare two of the model's groups."""
        model = model_of(measured, cls.key)
        between = options.between(model)
        maps, connectivity = group_maps(model, options), model.groups.connectivity
        difference = maps[between[1]] - maps[between[0]]
        if options.unit == ERRORS:
            difference = difference / _standard_error(model, options)
        tests = block_tests(model.groups.tests, between, model.groups.n)
        return cls(
            **whose_model(model, between),
            **(model_words(model) if tests is None else compared_words(model)),
            options=options,
            title=f"{between[1]} minus {between[0]}, {model.name}",
            between=between,
            difference=difference,
            regions=model.atlas.regions,
            order=options.regions(measured, model),
            limit=difference_limit(difference),
            tests=tests,
            framed=options.order == next(iter(model.atlas.labels), ""),
            connectivity=map_correlation(difference, connectivity[between[1]] - connectivity[between[0]]),
        )

    @property
    def quantity(self) -> str:
        """What the colours are of."""
        return IN_ERRORS if self.options.unit == ERRORS else DIFFERENCE

    @property
    def _short_unit(self) -> str:
        return "standard errors" if self.options.unit == ERRORS else "× uniform"

    @property
    def marked(self) -> list[tuple[str, str]]:
        """Modules of the blocks to frame, looking and looked at; those that are no block of the order are left out."""
        if self.tests is None or not self.framed:
            return []
        named = {name for name, _, _ in self.order.blocks}
        pairs = zip(self.tests.marked["module"], self.tests.marked["other_module"], strict=True)
        return [pair for pair in pairs if set(pair) <= named]

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per region that looks, one column per region that is looked at."""
        return matrix_numbers(np.asarray(self.difference, dtype=np.float64), self.regions, self.order)

    @property
    def caption(self) -> str:
        """What the difference shows, and what its frames mean."""
        first, second = self.between
        scale = f"±{self.limit:.2f} times uniform attention"
        if self.options.unit == ERRORS:
            off = ~np.eye(len(self.difference), dtype=bool)
            beyond = float((np.abs(self.difference[off]) > _TWO_SIDED).mean())
            scale = f"±{self.limit:.1f} standard errors"
            unit = (
                " Each pair of regions is divided by the standard error of its difference, over people and not "
                f"adjusted: {percent(beyond)} of the pairs lie beyond ±{_TWO_SIDED:g}, where 5 % would by chance alone "
                "if pairs were independent, which they are not."
            )
        else:
            unit = ""
        correlation = "r = " + signed(self.connectivity) if np.isfinite(self.connectivity) else "no defined r"
        said = (
            f"{self.by_model}: attention of {second} minus {first}, {self.options.words}. Red is more in {second}, "
            f"blue less; the scale runs to {scale}, beyond which lie 1 % of the pairs of regions.{unit} Over all pairs "
            "of regions, this difference correlates with that of the groups' mean functional connectivity at "
            f"{correlation}."
        )
        if self.tests is None:
            return f"{said} {first} and {second} were not compared by permutation, so no block is marked."
        said += f" {comparison_sentence(self.tests)}"
        if not self.framed:
            return (
                f"{said} Blocks are framed only where regions are ordered by the functional modules that were tested."
            )
        frames = " Frames mark those blocks." if len(self.tests.marked) else ""
        whole = not self.options.layer and not self.options.head
        of_mean = "" if whole else " The test is of the mean over layers and heads, whatever is shown."
        return f"{said}{frames}{of_mean}"

    def plotly(self) -> "go.Figure":
        """Draw it for the screen."""
        import plotly.graph_objects as go

        names, height = [escape(self.regions[i], quote=False) for i in self.order.order], 540
        heatmap = {
            "type": "heatmap",
            "z": self.difference[np.ix_(self.order.order, self.order.order)].astype(np.float32),
            "x": names,
            "y": names,
            "zmin": -self.limit,
            "zmax": self.limit,
            "colorscale": DIVERGING,
            "hovertemplate": f"%{{y}} looks at<br>%{{x}}<br>%{{z:+.3f}} {self._short_unit}<extra></extra>",
            "colorbar": bar_above(self.quantity, height),
            **in_panel(0),
        }
        frame = {
            **layout(self.title, self.simulated, height=height, top=BAR_BOTTOM + 6),
            **square_axes(self.order, names),
            "shapes": [*block_shapes(self.order, 0), *self._frames()],
        }
        return go.Figure([heatmap], frame)

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.attention_drawings import draw_difference

        return draw_difference(self, style)

    def _frames(self) -> list[dict[str, Any]]:
        """Frames around the marked blocks."""
        spans = {name: (start - 0.5, end - 0.5) for name, start, end in self.order.blocks}
        frames = []
        for looking, looked_at in self.marked:
            (y0, y1), (x0, x1) = spans[looking], spans[looked_at]
            place = {"x0": x0, "x1": x1, "y0": y0, "y1": y1}
            frames.append({"type": "rect", **place, "line": _MARK_LINE, "name": "marked"})
        return frames


def _standard_error(model: "InstalledModel", options: AttentionDifferenceOptions) -> Matrix:
    """Of the difference of two groups' means, over people."""
    options.check_whole("Standard errors")
    error = spread_of_model(model).error
    both = np.sqrt(error[options.first] ** 2 + error[options.second] ** 2)
    return np.where(both > 0, both, np.inf)
