"""Effects of a study in regions and in numbers of the network: sorted with their intervals, in the brain, over levels.

Measures of graphs depend on the threshold. They are tested by the area under their curve over all levels, and what a
single level would have found stands beside it: effects that turn round between levels are seen.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FDR, passes
from biobgt.base.beyond import BEYOND, OVERALL, beyond_beside, beyond_methods, beyond_words
from biobgt.base.colours import BLUE, DIVERGING, LINE_GREY, SEQUENTIAL, VERMILION
from biobgt.base.errors import InputError
from biobgt.base.options import option
from biobgt.base.references import in_brackets
from biobgt.base.wording import capitalised, counted, percent
from biobgt.figures.brain import MOST_NAMED, NODES, Brain, BrainKind, brain_option
from biobgt.figures.drawing import Axis, Band, Curve, Drawing, Heatmap, Mark, Panel, Points, Rule, Shades
from biobgt.figures.regions import ATLAS_ORDER, region_number, regions_in_order
from biobgt.figures.studies.shown import ShownContrast, StudyFigureOptions, measure_words, study_figure, study_of
from biobgt.hubs.measures import NE
from biobgt.study.subject import simpler_than

if TYPE_CHECKING:
    import pandas as pd

    from biobgt.results.measured import Measured

_MOST_DRAWN = 25  # features; more cannot be told apart
_ROW, _AROUND = 22, 138  # px
_FOUND, _NOT_FOUND = VERMILION, LINE_GREY
_EFFECTS = {"d": "effect size d", "partial r": "partial r", "partial eta squared": "partial η²"}
_CURVES_IN_A_ROW = 3


@dataclass(frozen=True)
class _MeasureOptions(StudyFigureOptions):
    """Which measure of regions is shown."""

    measure: str = option("", title="Measure", help="A measure of regions that the study tested. Default: the first.")


@dataclass(frozen=True, eq=False)
class _ShownEffects(ShownContrast):
    """A contrast of a study in regions, or in numbers of the network."""

    @property
    def quantity(self) -> str:
        """What effects are in."""
        return _EFFECTS.get(self.contrast.effect, self.contrast.effect)

    @property
    def levels_words(self) -> str:
        """Over which levels of the threshold the area was taken; empty where there is one."""
        levels = self.study.data.levels
        if len(levels) < 2:
            return ""
        what = "densities" if self.study.settings.threshold == "proportional" else "thresholds"
        return f", by the area under the curve over {len(levels)} {what} from {levels[0]:g} to {levels[-1]:g}"

    def effects(self, table: "pd.DataFrame", **chosen: Any) -> "pd.DataFrame":
        """Rows of regions or of the network, of the area under the curve."""
        own = self.rows(table)
        own = own[own["level"].isna()]
        for column, value in chosen.items():
            own = own[own[column] == value]
        return own.reset_index(drop=True)

    def at_levels(self, table: "pd.DataFrame", **chosen: Any) -> "pd.DataFrame":
        """The same at each level."""
        own = self.rows(table)
        for column, value in chosen.items():
            own = own[own[column] == value]
        return own[own["level"].notna()].sort_values("level", kind="stable").reset_index(drop=True)

    def simpler(self, measure: str) -> tuple[str, ...]:
        """What is simpler than a measure."""
        return simpler_than(measure, self.study.atlas)

    def measure(self, options: _MeasureOptions) -> str:
        """The key of the measure that the options name."""
        known = list(dict.fromkeys(self.study.findings.regions["measure"]))
        if options.measure and options.measure not in known:
            raise InputError(f"The study tested no measure '{options.measure}'. It tested: {', '.join(known)}.")
        return options.measure or (NE if NE in known else known[0])

    def found_words(self, rows: "pd.DataFrame", noun: str) -> str:
        """How many of how many are found."""
        n, n_tested = int(passes(rows["q"]).sum()), int(rows["p"].notna().sum())
        return f"{n or 'none'} of {counted(n_tested, noun)} at a false discovery rate of {percent(FDR)}"

    def beyond(self, rows: "pd.DataFrame", simpler: Sequence[str]) -> str:
        """How many of what is found goes beyond what is simpler, behind a full stop; empty where none is found."""
        said = beyond_words(rows[BEYOND].tolist(), simpler)
        return f". {self.study.kind.named(said).removesuffix('.')}" if said else ""

    def methods_given(self, simpler: Sequence[str]) -> tuple[str, ...]:
        """How measures were tested, and tested again given what is simpler."""
        return (*self.effect_methods, self.study.kind.named(beyond_methods(simpler)))

    @property
    def effect_methods(self) -> tuple[str, ...]:
        """How measures over levels were tested."""
        levels = [f"{one:g}" for one in self.study.data.levels]
        area = (
            f"Measures of graphs were taken at {len(levels)} levels of the threshold ({', '.join(levels)}) and tested "
            "by the area under the curve, divided by the range of levels. "
        )
        several = area if len(levels) > 1 else ""
        return (*self.methods, f"{several}The false discovery rate was controlled over features{_BH}.")


_BH = in_brackets(["benjamini1995"])


def _forest(
    rows: "pd.DataFrame",
    names: Sequence[str],
    effect: str,
    *,
    simpler: Sequence[str] = (),
    ids: Any = None,
    title: str = "",
) -> Panel:
    """Effects with their intervals, one below the other; filled where they are found.

    Parameters
    ----------
    rows : DataFrame
    names : sequence of str, length n_rows
    effect : str
        What effects are in.
    simpler : sequence of str
        What is simpler than they are; then the word stands beside what is found.
    ids : ndarray of int, shape (n_rows,), optional
        Regions, counted from 0.
    title : str
    """
    found = passes(rows["q"])
    marks: list[Mark] = [Rule(x=0, colour=LINE_GREY, dash="dot")]
    looks: tuple[tuple[NDArray[np.bool_], str, dict[str, Any]], ...] = (
        (found, f"q ≤ {FDR:g}", {"colour": _FOUND, "symbol": "diamond"}),
        (~found, f"q > {FDR:g}", {"colour": _NOT_FOUND, "hollow": True}),
    )
    for chosen, name, look in looks:
        if not chosen.any():
            continue
        own, places = rows[chosen], np.flatnonzero(chosen)
        texts = [
            f"{names[place]}\n{effect} {row.effect:.2f} [{row.effect_low:.2f}, {row.effect_high:.2f}]\n"
            f"p {row.p:.2g}, q {row.q:.2g}"
            for place, row in zip(places, own.itertuples(), strict=True)
        ]
        about: dict[str, Any] = {"name": name, "texts": texts, "ids": None if ids is None else ids[chosen], **look}
        effects, low, high = (own[column].to_numpy(float) for column in ("effect", "effect_low", "effect_high"))
        marks.append(Points(x=effects, y=places, low=low, high=high, across="x", size=9, hover="%{text}", **about))
    return Panel(
        marks=marks,
        title=title,
        x=Axis(title=capitalised(effect)),
        y=Axis(
            names=names,
            beside=[
                f"q {q:.2g}{beyond_beside(word, simpler) if simpler else ''}"
                for q, word in zip(rows["q"], rows[BEYOND], strict=True)
            ],
            limits=(-0.6, max(len(rows), 1) - 0.4),
            reversed=True,
        ),
    )


@study_figure("study_regions", "Regions of a study", takes=_MeasureOptions, least_mm=60)
def study_regions(measured: "Measured", options: _MeasureOptions) -> Drawing:
    """Effects of a contrast in every region, the clearest first, with their intervals."""
    shown = _ShownEffects.of(measured, options)
    measure = shown.measure(options)
    rows = shown.effects(shown.study.findings.regions, measure=measure)
    tested = rows[rows["p"].notna()].assign(_size=lambda own: -own["statistic"].abs())
    drawn = tested.sort_values(["p", "_size"], kind="stable")[:_MOST_DRAWN]
    words = measure_words(shown.study, measure)
    said, simpler = f"{capitalised(words)}, {shown.title}: {shown.found_words(rows, 'region')}", shown.simpler(measure)
    few = f", of which the {_MOST_DRAWN} of the smallest p are drawn" if len(tested) > _MOST_DRAWN else ""
    names, ids = drawn["name"].astype(str).tolist(), drawn["region"].to_numpy(int) - 1
    return shown.drawing(
        f"{said}{shown.levels_words}{few}{shown.beyond(rows, simpler)}. Points are {shown.quantity} with 95 % "
        f"intervals, filled where q is at most {FDR:g}",
        title=f"{capitalised(words)}, {shown.title}",
        line=said,
        panels=[_forest(drawn, names, shown.quantity, simpler=simpler, ids=ids)],
        numbers=lambda: rows,
        legend="above",
        height=_AROUND + _ROW * max(len(drawn), 3),
        methods=shown.methods_given(simpler),
    )


@dataclass(frozen=True)
class _RegionBrainOptions(_MeasureOptions):
    """Which measure is shown, and how its brain is drawn."""

    only_found: bool = option(
        False,
        title="Only regions that are found",
        help=f"Leave the regions grey that are not found at a false discovery rate of {percent(FDR)}.",
    )
    brain: BrainKind = brain_option()


@study_figure("study_region_brain", "Regions of a study in the brain", takes=_RegionBrainOptions)
def study_region_brain(measured: "Measured", options: _RegionBrainOptions) -> Drawing:
    """Where in the brain a contrast shows an effect in a measure."""
    shown = _ShownEffects.of(measured, options)
    measure, n_regions = shown.measure(options), shown.study.atlas.n_regions
    rows = shown.effects(shown.study.findings.regions, measure=measure).set_index("region")
    rows = rows.reindex(range(1, n_regions + 1))
    found, effects = passes(rows["q"]), rows["effect"].to_numpy(float)
    tests = zip(rows["p"].to_numpy(float), rows["q"].to_numpy(float), strict=True)
    clear = [int(place) for place in np.argsort(rows["p"].to_numpy(float), kind="stable") if found[place]][:MOST_NAMED]
    several = shown.contrast.statistic == "F"
    reach = float(np.nanmax(np.abs(effects))) if np.isfinite(effects).any() else 1.0
    brain = Brain.of(
        shown.study.atlas,
        options.brain,
        sizes=np.abs(effects),
        values=np.where(found, effects, np.nan) if options.only_found else effects,
        quantity=shown.quantity,
        limits=(0.0 if several else -reach, reach),
        texts=["not tested" if np.isnan(p) else f"p {p:.2g}, q {q:.2g}" for p, q in tests],
        named=clear,
    )
    words = measure_words(shown.study, measure)
    said = f"{capitalised(words)}, {shown.title}: {shown.found_words(rows, 'region')}"
    colours = "" if several else f", red where {shown.sides[1][0]}"
    names = f" Found most clearly: {', '.join(brain.regions[place] for place in clear)}." if clear else ""
    grey = "; regions that are not found are grey" if options.only_found else ""
    size = ", and the size its absolute value" if options.brain == NODES else ""
    simpler = shown.simpler(measure)
    beyond = shown.beyond(rows[rows["p"].notna()], simpler)

    def caption(where: str) -> str:
        return (
            f"{said}{shown.levels_words}{beyond}. {brain.regions_in(where)}; the colour is {shown.quantity}{colours}"
            f"{size}{grey}.{names}{brain.left_out}"
        )

    return shown.in_brain(
        brain,
        caption,
        title=f"{capitalised(words)}, {shown.title}",
        line=said,
        numbers=lambda: rows.reset_index(),
        methods=shown.methods_given(simpler),
    )


# Over the levels of the threshold.


@study_figure("study_region_levels", "Regions of a study over levels", takes=_MeasureOptions, least_mm=70)
def study_region_levels(measured: "Measured", options: _MeasureOptions) -> Drawing:
    """The effect in every region at each level of the threshold, and of the area under the curve."""
    shown = _ShownEffects.of(measured, options)
    study, measure = shown.study, shown.measure(options)
    at = shown.at_levels(study.findings.regions, measure=measure)
    whole = shown.effects(study.findings.regions, measure=measure).set_index("region")
    n_regions, levels = study.atlas.n_regions, study.data.levels
    maps = np.full((n_regions, len(levels) + 1), np.nan)
    for place, level in enumerate(levels):
        own = at[np.isclose(at["level"], level)]
        maps[own["region"].to_numpy(int) - 1, place] = own["effect"]
    maps[whole.index.to_numpy(int) - 1, -1] = whole["effect"]
    order = regions_in_order(study.atlas, study.labelling or ATLAS_ORDER)
    reach = float(np.nanmax(np.abs(maps), initial=0.0)) or 1.0
    several = shown.contrast.statistic == "F"
    shades = Shades(
        quantity=shown.quantity,
        low=0.0 if several else -reach,
        high=reach,
        colours=SEQUENTIAL if several else DIVERGING,
    )
    places = list(order.order)
    names = [study.atlas.regions[region] for region in places]
    heat = Heatmap(z=maps[places], shades=shades, ids=places, hover=f"%{{y}}\n%{{x}}\n{shown.quantity} %{{z:.2f}}")
    words, turned = measure_words(study, measure), int((_turning(maps[:, :-1]) & passes(whole["q"])).sum())
    said = f"{capitalised(words)}, {shown.title}, at every level"
    turning = f"effects of {counted(turned, 'region')} found by the area change sign between levels" if turned else ""
    return shown.drawing(
        f"{said} and by the area under the curve (right). Colours are {shown.quantity}"
        f"{f'; {turning}' if turning else ''}",
        title=f"{capitalised(words)} over levels, {shown.title}",
        line=f"{said}{f'; {turning}' if turning else ''}",
        panels=[
            Panel(
                marks=[heat],
                x=Axis(
                    names=[*(f"{level:g}" for level in levels), "area"], title=_level_title(study.settings.threshold)
                ),
                y=Axis(names=names, order=order, title=order.title, reversed=True),
            )
        ],
        numbers=lambda: shown.rows(study.findings.regions.loc[lambda table: table["measure"] == measure]),
        legend="above",
        height=560,
        aspect=0.9,
        methods=shown.effect_methods,
    )


def _turning(effects: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which rows have effects on both sides of zero."""
    known = np.nan_to_num(effects)
    return np.asarray((known > 0).any(axis=1) & (known < 0).any(axis=1))


def _level_title(threshold: str) -> str:
    return "Density (share of pairs kept)" if threshold == "proportional" else "Threshold"


def _curve_panel(rows: "pd.DataFrame", whole: "pd.DataFrame", shown: _ShownEffects, title: str) -> Panel:
    """One effect over levels with its interval, points where it is found, and the effect of the area as a line."""
    levels, effects = rows["level"].to_numpy(float), rows["effect"].to_numpy(float)
    low, high, found = rows["effect_low"].to_numpy(float), rows["effect_high"].to_numpy(float), passes(rows["q"])
    area = float(whole["effect"].iloc[0]) if len(whole) else np.nan
    marks: list[Mark] = [
        Rule(y=0, colour=LINE_GREY, dash="dot"),
        Band(name="95 % interval", colour=BLUE, x=levels, low=low, high=high),
        Curve(
            name="each level",
            colour=BLUE,
            x=levels,
            y=effects,
            symbol="circle",
            hover="level %{x:g}\n%{text}",
            texts=[f"{shown.quantity} {one:.2f}, q {q:.2g}" for one, q in zip(effects, rows["q"], strict=True)],
        ),
        Curve(name="area under the curve", colour=_FOUND, dash="dash", x=levels[[0, -1]], y=[area, area]),
    ]
    if found.any():
        look: dict[str, Any] = {"name": f"q ≤ {FDR:g} at the level", "colour": _FOUND, "symbol": "diamond", "size": 9}
        marks.append(Points(x=levels[found], y=effects[found], **look))
    return Panel(
        marks=marks,
        title=title,
        x=Axis(title=_level_title(shown.study.settings.threshold)),
        y=Axis(title=capitalised(shown.quantity)),
    )


@dataclass(frozen=True)
class _RegionCurveOptions(_MeasureOptions):
    """Which region's effect is shown."""

    region: str = option("", title="Region", help="Name of a region. Default: the one of the clearest effect.")


@study_figure("study_region_curve", "A region of a study over levels", takes=_RegionCurveOptions, least_mm=55)
def study_region_curve(measured: "Measured", options: _RegionCurveOptions) -> Drawing:
    """The effect in one region at each level of the threshold with its interval."""
    shown = _ShownEffects.of(measured, options)
    table, measure = shown.study.findings.regions, shown.measure(options)
    number = region_number(shown.study.atlas, options.region)
    whole = shown.effects(table, measure=measure)
    if number is None:
        clearest = int(whole["statistic"].abs().fillna(-1).to_numpy().argmax())
        number = int(whole["region"].to_numpy()[clearest]) - 1
    rows = shown.at_levels(table, measure=measure, region=number + 1)
    own, name = whole[whole["region"] == number + 1], shown.study.atlas.regions[number]
    words = measure_words(shown.study, measure)
    said = f"{capitalised(words)} of {name}, {shown.title}{_area_words(own, shown)}"
    return shown.drawing(
        f"{said}. The band is the 95 % interval of each level; diamonds are levels found at {percent(FDR)}",
        title=f"{capitalised(words)} of {name}",
        line=said,
        panels=[_curve_panel(rows, own, shown, "")],
        numbers=lambda: rows,
        legend="above",
        methods=shown.effect_methods,
    )


def _area_words(own: "pd.DataFrame", shown: _ShownEffects) -> str:
    """The effect of the area with its interval, behind a colon."""
    if not len(own) or np.isnan(own["effect"].iloc[0]):
        return ": not tested"
    row = own.iloc[0]
    return (
        f": {shown.quantity} {row['effect']:.2f} [{row['effect_low']:.2f}, {row['effect_high']:.2f}], q {row['q']:.2g}"
    ).replace("-", "−")


# Numbers of the network.


@study_figure("study_network", "Network numbers of a study", takes=StudyFigureOptions, least_mm=90)
def study_network(measured: "Measured", options: StudyFigureOptions) -> Drawing:
    """Effects in numbers of the whole network, with overall connectivity as a covariate and without, side by side."""
    study, pairs = study_of(measured), []
    main = _ShownEffects.of(measured, options)
    order: list[str] = []
    for design in sorted(study.findings.designs, key=lambda one: one.adjusted != main.design.adjusted):
        shown = _ShownEffects(study, main.contrast, design)
        rows = shown.effects(study.findings.network)
        rows = rows[rows["p"].notna()]
        order = order or rows.sort_values("p", kind="stable")["measure"].tolist()
        rows = rows.set_index("measure").reindex([key for key in order if key in set(rows["measure"])]).reset_index()
        names = [capitalised(measure_words(study, key)) for key in rows["measure"]]
        title = "Adjusted" if design.adjusted else "Not adjusted"
        pairs.append((rows, _forest(rows, names, shown.quantity, title=title)))
    rows = pairs[0][0]
    said = f"Numbers of the whole network, {main.title}: {main.found_words(rows, 'number')}"
    return main.drawing(
        f"{said}{main.levels_words}{main.beyond(rows, (OVERALL,))}. Points are {main.quantity} with 95 % intervals, "
        f"filled where q is at most {FDR:g}; on the left as the study asks, on the right the other way, adjusted for "
        "overall connectivity or not",
        title=f"Network numbers, {main.title}",
        line=said,
        panels=[panel for _, panel in pairs],
        columns=len(pairs),
        numbers=lambda: study.findings.network[study.findings.network["contrast"] == main.contrast.name],
        height=_AROUND + 40 + _ROW * max(len(rows), 3),
        methods=main.methods_given((OVERALL,)),
    )


@study_figure("study_network_levels", "Network numbers of a study over levels", takes=StudyFigureOptions, least_mm=110)
def study_network_levels(measured: "Measured", options: StudyFigureOptions) -> Drawing:
    """The effect in each number of the network at each level of the threshold with its interval."""
    shown = _ShownEffects.of(measured, options)
    table = shown.study.findings.network
    rows, whole = shown.at_levels(table), shown.effects(table)
    keys = [key for key in whole.sort_values("p", kind="stable")["measure"] if (rows["measure"] == key).any()]
    panels = []
    for key in keys:
        own = rows[rows["measure"] == key]
        if own["effect"].notna().any():
            title = capitalised(measure_words(shown.study, key)).replace(", ", ",\n")
            panels.append(_curve_panel(own, whole[whole["measure"] == key], shown, title))
    if not panels:
        raise InputError("The study was measured at one level of the threshold, so there is no curve over levels.")
    said = f"Effects in {counted(len(panels), 'number')} of the network over levels, {shown.title}"
    return shown.drawing(
        f"{said}. Bands are 95 % intervals, the dashed line is the effect of the area under the curve, and diamonds "
        f"are levels found at a false discovery rate of {percent(FDR)}",
        title=f"Network numbers over levels, {shown.title}",
        line=said,
        panels=panels,
        columns=min(_CURVES_IN_A_ROW, len(panels)),
        numbers=lambda: rows,
        height=120 + 220 * -(-len(panels) // _CURVES_IN_A_ROW),
        aspect=0.25,
        methods=shown.effect_methods,
    )
