"""How two groups of a cohort differ: effect sizes with intervals, and region by region in the brain."""

from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from biobgt.base.errors import InputError
from biobgt.base.options import option
from biobgt.base.statistics import FDR, passes
from biobgt.base.wording import (
    UNADJUSTED_DIFFERENCE,
    USUAL_COVARIATES,
    adjusted_for,
    capitalised,
    counted,
    not_ruled_out,
    percent,
)
from biobgt.figures.brain import MOST_NAMED, NODES, Brain, BrainKind, brain_option, in_brain
from biobgt.figures.drawing import Drawing
from biobgt.figures.figure import Figure, registered
from biobgt.figures.frame import LEGEND, Trace, error_bars, layout, vertical_line
from biobgt.figures.group_difference_words import comparison_words
from biobgt.figures.hub_words import GROUP_COLOUR, HUB_COLOUR
from biobgt.figures.register import figure
from biobgt.groups.compare import HUBS, MODULES, Compared, ComparisonOptions
from biobgt.hubs.measures import HUB_MEASURES

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.groups.compare import GroupComparison
    from biobgt.results.measured import Measured

Values = NDArray[np.float64]

Effect = Literal["d", "t"]
_EFFECTS = {"d": "effect size d", "t": "statistic t of the difference"}
MOST_DRAWN = 25  # features; more cannot be told apart
EFFECT = "Effect size d (residual standard deviations)"
_ROW, _AROUND = 22, 120  # px


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class GroupDifferences(Figure):
    """Effect sizes of two groups' differences with their intervals, the clearest first.

    Attributes
    ----------
    measured : str
        What groups were compared in, in words.
    found : GroupComparison
    absent : tuple of str
        Usual covariates that are not known of these subjects.
    """

    key = "group_differences"
    name = "Differences of two groups"
    least_mm = 55
    of_subject = False
    takes = ComparisonOptions

    options: ComparisonOptions = field(default_factory=ComparisonOptions)
    measured: str
    found: "GroupComparison"
    absent: tuple[str, ...] = ()

    @classmethod
    def of(cls, measured: "Measured", options: ComparisonOptions) -> Self:
        """Compare two groups of the cohort."""
        from biobgt.groups.features import compare_measured, plan_comparison

        if options.of == MODULES:
            raise InputError("Modules are not compared feature by feature: take the figure 'group_module_flow'.")
        planned = plan_comparison(measured.cohort, options)
        words, found = compare_measured(measured, options)
        first, second = options.groups
        return cls(
            title=f"{second} against {first}",
            options=replace(options, covariates_sha256=planned.covariates_sha256),
            simulated=planned.cohort.simulated,
            measured=words,
            found=found,
            absent=planned.covariates.absent,
            **comparison_words(measured, options, found),
        )

    @property
    def table(self) -> "pd.DataFrame":
        """What was found, one row per feature."""
        return self.found.table

    @property
    def differs(self) -> NDArray[np.bool_]:
        """Which features differ at a false discovery rate of 5 %, shape (n_features,)."""
        return passes(self.table["q"])

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per feature: the test, n of both groups, covariates, permutations and seed."""
        from biobgt.groups.features import comparison_rows

        return comparison_rows(self.found, simulated=self.simulated)

    @property
    def compared_words(self) -> str:
        """Who was compared in what, adjusted for what, and how many features differ; for captions."""
        first, second = self.found.between
        sizes = ", ".join(f"{n} {group}" for group, n in self.found.n_subjects.items())
        people = "simulated people" if self.simulated else "people"
        n_tested, n_differ = int(self.table["p"].notna().sum()), int(self.differs.sum())
        return (
            f"{capitalised(self.measured)}, {second} against {first} ({people}: {sizes}), "
            f"{adjusted_for(self.found.covariates)}, with {self.found.design.degrees} residual degrees of "
            f"freedom. Of {counted(n_tested, 'feature')}, {n_differ or 'none'} "
            f"{'differs' if n_differ == 1 else 'differ'} at a false discovery rate of {percent(FDR)} "
            f"({self.found.permutations:,} permutations, seed {self.found.seed})."
        )

    @property
    def remarks(self) -> str:
        """What cannot be ruled out, and what else a reader must know; ends a caption."""
        said = [*self.found.notes, not_ruled_out(self.absent)]
        if set(self.absent) == set(USUAL_COVARIATES):  # the last sentence says it of each of them
            said = [sentence for sentence in said if sentence != UNADJUSTED_DIFFERENCE]
        return "".join(f" {sentence}" for sentence in said if sentence)

    @property
    def drawn(self) -> "pd.DataFrame":
        """The features that are drawn, those of the smallest p first."""
        tested = self.table[self.table["p"].notna()]
        size = -tested["t"].abs()
        return tested.assign(_size=size).sort_values(["p", "_size"], kind="stable").drop(columns="_size")[:MOST_DRAWN]

    @property
    def caption(self) -> str:
        """What was compared, what is drawn, and what it rests on."""
        n_tested = int(self.table["p"].notna().sum())
        clearest = f" The {MOST_DRAWN} features of the smallest p are drawn." if n_tested > MOST_DRAWN else ""
        return (
            f"{self.compared_words}{clearest} Points are effect sizes d, in residual standard deviations, with 95 % "
            f"intervals; those right of 0 are higher in {self.found.between[1]}. Filled diamonds are below that rate; "
            f"q is the false discovery rate.{self.remarks}"
        )

    def plotly(self) -> "go.Figure":
        """Draw it for the screen."""
        import plotly.graph_objects as go

        drawn = self.drawn
        rows = np.arange(len(drawn))
        frame = layout(self.title, self.simulated, height=_AROUND + _ROW * max(len(drawn), 3), top=66)
        frame["margin"] |= {"r": 70}
        frame |= {
            "xaxis": {"title": {"text": EFFECT}, "zeroline": False},
            "yaxis": {
                "tickvals": rows,
                "ticktext": [escape(name, quote=False) for name in drawn["feature"]],
                "range": [len(drawn) - 0.4, -0.6],
                "automargin": True,
                "showgrid": False,
                "zeroline": False,
            },
            "legend": LEGEND,
            "shapes": [vertical_line(0, {"color": GROUP_COLOUR, "dash": "dot", "width": 1})],
            "annotations": [_beside(row, f"q {q:.2g}") for row, q in enumerate(drawn["q"])],
        }
        differs = passes(drawn["q"])
        marks = [_points(drawn, rows, chosen, passed=passed) for chosen, passed in ((differs, True), (~differs, False))]
        return go.Figure([mark for mark in marks if mark is not None], frame)

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.group_difference_drawing import draw_group_differences

        return draw_group_differences(self, style)


@dataclass(frozen=True)
class DifferenceBrainOptions(ComparisonOptions):
    """Which hub measure is compared in every region, and how its brain is drawn."""

    of: Compared = option(HUBS, title="Compare", help="Only hubs are compared region by region.", choices=(HUBS,))
    effect: Effect = option(
        "d",
        title="Colour",
        help="d is the difference in residual standard deviations and t its statistic; both are adjusted.",
        shown={"d": "Effect size d", "t": "Statistic t"},
        link="difference_effect",
    )
    only_different: bool = option(
        False,
        title="Only regions that differ",
        help=f"Leave the regions grey that do not differ at a false discovery rate of {percent(FDR)}.",
        link="only_different",
    )
    brain: BrainKind = brain_option()


@figure(
    "group_difference_brain", "Differences of two groups, in the brain", takes=DifferenceBrainOptions, of_subject=False
)
def group_difference_brain(measured: "Measured", options: DifferenceBrainOptions) -> Drawing:
    """Where in the brain two groups differ in a hub measure."""
    compared = GroupDifferences.of(measured, options.part(ComparisonOptions))
    table, differs, (first, second) = compared.table, compared.differs, options.groups
    effects = table[options.effect].to_numpy(float)
    reach = float(np.nanmax(np.abs(effects))) if np.isfinite(effects).any() else 1.0
    values = np.where(differs, effects, np.nan) if options.only_different else effects
    clearest = [int(region) for region in table.sort_values("p", kind="stable").index if differs[region]][:MOST_NAMED]
    tests = zip(table["p"], table["q"], strict=True)
    brain = Brain.of(
        measured.atlas,
        options.brain,
        sizes=np.abs(values),
        values=values,
        quantity=_EFFECTS[options.effect],
        limits=(-reach, reach),
        texts=["not tested" if np.isnan(p) else f"p = {p:.2g}, q = {q:.2g}" for p, q in tests],
        named=clearest,
    )

    def caption(where: str) -> str:
        size = ", and the size its absolute value" if options.brain == NODES else ""
        grey = "; regions that do not differ at that rate are grey" if options.only_different else ""
        names = ", ".join(brain.regions[region] for region in clearest)
        strongest = f" Those that differ most clearly: {names}." if names else ""
        return (
            f"{compared.compared_words} {brain.regions_in(where)}; the colour is the {_EFFECTS[options.effect]}, red "
            f"where higher in {second}, blue where lower{size}{grey}.{strongest}{brain.left_out}{compared.remarks}"
        )

    return in_brain(
        brain,
        caption,
        title=f"{HUB_MEASURES[options.measure].in_words_of(measured.kind).short}, {second} against {first}",
        simulated=compared.simulated,
        numbers=lambda: compared.numbers,
        methods=compared.methods,
        citations=compared.citations,
    )


def _points(drawn: "pd.DataFrame", rows: NDArray[np.int_], chosen: NDArray[np.bool_], *, passed: bool) -> Trace | None:
    """Effect sizes with intervals of the features that differ, or of the others; None where there are none."""
    if not chosen.any():
        return None
    own, colour = drawn[chosen], HUB_COLOUR if passed else GROUP_COLOUR
    d = own["d"].to_numpy(float)
    return {
        "type": "scatter",
        "x": d,
        "y": rows[chosen],
        "mode": "markers",
        "name": f"q {'≤' if passed else '>'} {FDR:g}",
        "marker": {"color": colour, "size": 9, "symbol": "diamond" if passed else "circle-open"},
        "error_x": error_bars(own["d_low"].to_numpy(float), d, own["d_high"].to_numpy(float), colour),
        "text": [
            f"{escape(str(row.feature), quote=False)}<br>d = {row.d:.2f} [{row.d_low:.2f}, {row.d_high:.2f}]<br>"
            f"p = {row.p:.3g}, q = {row.q:.3g}"
            for row in own.itertuples()
        ],
        "hovertemplate": "%{text}<extra></extra>",
        "showlegend": True,
    }


def _beside(row: int, text: str) -> dict[str, Any]:
    """Words right of a row."""
    place = {"x": 1, "xref": "paper", "xanchor": "left", "y": row, "yref": "y", "yanchor": "middle"}
    return {**place, "text": text, "showarrow": False, "font": {"size": 11}}
