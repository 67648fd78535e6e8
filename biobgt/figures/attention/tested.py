"""Attention of a model's groups compared: differences, tests of module blocks, contrasts, people, likeness."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FDR, passes
from biobgt.base.beyond import BEYOND, GIVEN_FC, beyond_words
from biobgt.base.errors import InputError
from biobgt.base.options import Options, option
from biobgt.base.wording import COVARIATES, adjusted_for, counted, listed, percent, signed
from biobgt.figures import drawing as draw
from biobgt.figures import which_model
from biobgt.figures.attention.maps import SQUARE_MAPS, AttentionOptions, contrast_beside_words, group_maps, map_panel
from biobgt.figures.regions import RegionOrder, matrix_numbers, order_regions
from biobgt.figures.register import NoOptions, model_figure
from biobgt.model.attention import (
    HIGHEST,
    SIMPLER_THAN_BLOCKS,
    WITHOUT_CONNECTIVITY,
    BlockTests,
    all_block_tests,
    block_tests,
    map_correlation,
    people_summary,
)
from biobgt.model.pretrained import InstalledModel

if TYPE_CHECKING:
    import pandas as pd

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.results.measured import Measured

Matrix = NDArray[np.float64]
DIFFERENCES, ERRORS = "difference", "errors"
EFFECT, RATIO = "effect size d", "Attention within / between modules"
UNADJUSTED = "unadjusted"
GIVEN, OF_CONNECTIVITY = "attention given FC of the same block", "FC of the same block, not adjusted for overall FC"
_JITTER = 0.16  # half the width over which people of a group are strewn, where groups are 1 apart
_TWO_SIDED = 1.96
_LEAST_REACH = 0.5  # of the scale of effect sizes: small ones look small
_BESIDE_MM = 65.0  # from this width per panel on, panels of blocks stand side by side with room for their numbers
_STACKED_MM, _LIKENESS_MM = 60.0, 80.0
_ABOVE = 104 + 40  # px, of title and colour bar


@dataclass(frozen=True)
class AttentionGroupsOptions(Options):
    """Two groups of a model that are compared."""

    first: str = option(
        "",
        title="Reference group",
        help="Its attention is subtracted from that of the other group.",
        choices_of=which_model.groups_of,
        of_model=True,
        link="attention_first_group",
    )
    second: str = option(
        "",
        title="Compared group",
        help="A positive difference is more attention in this group.",
        choices_of=which_model.groups_of,
        default_of=lambda cohort: which_model.groups_of(cohort)[1],
        of_model=True,
        link="attention_second_group",
    )

    def between(self, model: InstalledModel) -> tuple[str, str]:
        """The two groups, if they are two of the model's."""
        if self.first == self.second or not {self.first, self.second} <= set(model.group_names):
            raise InputError(f"Name two different groups of model {model.name}: {', '.join(model.group_names)}.")
        return self.first, self.second


def tested_blocks(model: InstalledModel, between: tuple[str, str]) -> BlockTests | None:
    """The tests of two groups that were made when the model was, in the order that modules have in maps of attention.

    Parameters
    ----------
    model : InstalledModel
    between : (str, str)

    Returns
    -------
    BlockTests or None
        None where the two were not compared.
    """
    tests = block_tests(model.groups.tests, between, model.groups.n)
    if tests is None:
        return None
    atlas = model.atlas
    mapped = order_regions(atlas.n_regions, atlas.labelling(next(iter(atlas.labels)))).blocks
    place = {module: i for i, (module, _, _) in enumerate(mapped)}
    by = ["module", "other_module"]
    return replace(tests, blocks=tests.blocks.sort_values(by, key=lambda names: names.map(place), ignore_index=True))


def _comparison_sentence(tests: BlockTests) -> str:
    """Say how many blocks differ, adjusted for covariates and not, in whom, and what was not adjusted for."""
    sizes = ", ".join(f"{n} {group}" for group, n in tests.n_subjects.items())
    n_marked, unadjusted = len(tests.marked), tests.n_marked_unadjusted
    without = tests.n_marked_without_connectivity
    beside = (
        f"Unadjusted, {unadjusted} {_differ(unadjusted)}."
        if without is None
        else f"Without adjusting for overall connectivity (mean |FC|), {without} {_differ(without)}; unadjusted, "
        f"{unadjusted}."
    )
    given, found = "", tests.beside
    if found is not None:
        alike = "" if np.isnan(found.correlation) else f" (effect sizes correlate at r = {signed(found.correlation)})"
        given = (
            f" Given FC of the same block, attention differs in {found.given_connectivity} of {len(tests.blocks)} "
            f"blocks; FC itself in {found.of_connectivity}{alike}."
        )
        beyond = beyond_words(tests.beyond_fc.tolist(), SIMPLER_THAN_BLOCKS)
        given += f" {beyond}" if beyond else ""
    return (
        f"Permutation tests among {sizes}, {adjusted_for(tests.covariates)}: {n_marked} of "
        f"{counted(len(tests.blocks), 'module block')} {_differ(n_marked)} at a false discovery rate of "
        f"{100 * FDR:g} %. {beside}{given}{_not_adjusted_for(tests.covariates)}{f' {tests.note}' if tests.note else ''}"
    )


def _differ(count: int) -> str:
    return "differs" if count == 1 else "differ"


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


@model_figure("attention_difference", "Difference of attention", takes=AttentionDifferenceOptions, least_mm=55)
def attention_difference(measured: "Measured", options: AttentionDifferenceOptions) -> draw.Drawing:
    """Attention of one group minus that of another, with a frame around the blocks of modules that differ."""
    model = which_model.model_of(measured, "attention_difference")
    first, second = between = options.between(model)
    maps, connectivity = group_maps(model, options), model.groups.connectivity
    difference = maps[second] - maps[first]
    unit, short = "× uniform attention", "× uniform"
    if options.unit == ERRORS:
        options.check_whole("Standard errors")
        error = which_model.spread_of_model(model).error
        of_both = np.sqrt(error[first] ** 2 + error[second] ** 2)
        difference, unit = difference / np.where(of_both > 0, of_both, np.inf), "standard errors"
        short = unit
    tests, order = tested_blocks(model, between), options.regions(measured, model)
    # One in a hundred pairs lies beyond the scale, which is white at no difference.
    limit = float(np.quantile(np.abs(difference[~np.eye(len(difference), dtype=bool)]), 0.99)) or 1.0
    framed = options.order == next(iter(model.atlas.labels), "")
    hover = f"%{{y}} looks at\n%{{x}}\n%{{z:+.3f}} {short}"
    shades = draw.Shades(quantity=f"difference ({unit})", low=-limit, high=limit)
    frames = marked_frames(tests, order) if framed else []
    alike = map_correlation(difference, connectivity[second] - connectivity[first])
    correlation = "r = " + signed(alike) if np.isfinite(alike) else "no defined r"
    return which_model.model_drawing(
        model,
        f"attention of {second} minus {first}, {options.words}. Red is more in {second}, blue less; "
        f"{_reach_words(difference, limit, options)} Over all pairs of regions, this difference correlates with that "
        f"of the groups' mean functional connectivity at {correlation}. {_tested_words(tests, options, framed=framed)}",
        groups=between,
        methods=() if tests is None else which_model.compared_methods(model),
        title=f"{second} minus {first}, {model.name}",
        panels=[map_panel(difference, model.atlas.regions, order, shades, hover=hover, frames=frames)],
        numbers=lambda: matrix_numbers(np.asarray(difference, dtype=np.float64), model.atlas.regions, order),
        height=540,
        **SQUARE_MAPS,
    )


def marked_frames(tests: BlockTests | None, order: RegionOrder) -> list[tuple[int, int, int, int]]:
    """Where in a map the blocks are that differ; what is no block of the order is left out.

    Parameters
    ----------
    tests : BlockTests or None
    order : RegionOrder
        By the functional modules that were tested.
    """
    if tests is None:
        return []
    spans = {name: (start, end) for name, start, end in order.blocks}
    pairs = zip(tests.marked["module"], tests.marked["other_module"], strict=True)
    return [(*spans[looking], *spans[looked_at]) for looking, looked_at in pairs if {looking, looked_at} <= set(spans)]


def _reach_words(difference: Matrix, limit: float, options: AttentionDifferenceOptions) -> str:
    """How far the scale of colours reaches, and how many pairs lie beyond what chance gives."""
    beyond_it = "beyond which lie 1 % of the pairs of regions."
    if options.unit != ERRORS:
        return f"the scale runs to ±{limit:.2f} times uniform attention, {beyond_it}"
    off = ~np.eye(len(difference), dtype=bool)
    share = float((np.abs(difference[off]) > _TWO_SIDED).mean())
    return (
        f"the scale runs to ±{limit:.1f} standard errors, {beyond_it} Each pair of regions is divided by the standard "
        f"error of its difference, over people and not adjusted: {percent(share)} of the pairs lie beyond "
        f"±{_TWO_SIDED:g}, where 5 % would by chance alone if pairs were independent, which they are not."
    )


def _tested_words(tests: BlockTests | None, options: AttentionDifferenceOptions, *, framed: bool) -> str:
    """What was tested, and what frames mean."""
    if tests is None:
        return f"{options.first} and {options.second} were not compared by permutation, so no block is marked."
    said = _comparison_sentence(tests)
    if not framed:
        return f"{said} Blocks are framed only where regions are ordered by the functional modules that were tested."
    frames = " Frames mark those blocks." if len(tests.marked) else ""
    part = bool(options.layer or options.head)
    return f"{said}{frames}{' The test is of the mean over layers and heads, whatever is shown.' if part else ''}"


@model_figure("attention_blocks", "Attention between modules, tested", takes=AttentionGroupsOptions, least_mm=65)
def attention_blocks(measured: "Measured", options: AttentionGroupsOptions) -> draw.Drawing:
    """The effect size of every pair of modules, adjusted and unadjusted, marked where FDR passes."""
    model = which_model.model_of(measured, "attention_blocks")
    first, second = between = options.between(model)
    tests = tested_blocks(model, between)
    if tests is None:
        raise InputError(f"{first} and {second} were not compared when the model {model.name} was made.")
    sides = _sides(tests)
    screen = which_model.model_drawing(
        model,
        f"difference of {second} and {first} in mean attention from one functional module (row) to another (column), "
        f"in standard deviations (d; positive is more in {second}). An asterisk marks a false discovery rate of at "
        f"most {percent(FDR)}. {_comparison_sentence(tests)} A block that is marked only with fewer adjustments may "
        "differ because of the others: attention follows connectivity and differs where connectivity is stronger "
        "overall. Where a disorder itself weakens overall connectivity, the adjustment hides this, too.",
        groups=between,
        methods=which_model.compared_methods(model),
        title=f"Module blocks, {second} against {first}",
        panels=_block_panels(tests, mark=" ✱"),
        numbers=lambda: _block_table(tests),
        legend="above",
        height=300 * len(sides),  # one above the other: side by side, the numbers would have no room
    )

    def on_paper(style: "PaperStyle") -> draw.Drawing:
        beside = style.width_mm >= _BESIDE_MM * len(sides)
        return replace(
            screen,
            panels=_block_panels(tests, mark="*"),
            columns=len(sides) if beside else 1,
            square_mm=SQUARE_MAPS["square_mm"] if beside else _STACKED_MM,
        )

    return replace(screen, on_paper=on_paper)


def _sides(tests: BlockTests) -> dict[str, str]:
    """What each panel shows, in words, and what its columns end in: connectivity beside, the unadjusted last."""
    sides = {_adjustment(tests.blocks, "covariates"): ""}
    without = f"covariates{WITHOUT_CONNECTIVITY}"
    if tests.beside is not None:
        sides |= {GIVEN: GIVEN_FC, OF_CONNECTIVITY: tests.of_connectivity}
    elif without in tests.blocks and tests.blocks[without].notna().any():  # else it is the unadjusted test
        sides[_adjustment(tests.blocks, without)] = WITHOUT_CONNECTIVITY
    return {**sides, UNADJUSTED: "_unadjusted"}


def _adjustment(blocks: "pd.DataFrame", column: str) -> str:
    """What stands above adjusted effects: what was adjusted for."""
    named = blocks[column].dropna()
    return adjusted_for(str(named.iloc[0]) if len(named) else "")


def _block_panels(tests: BlockTests, *, mark: str) -> list[draw.Panel]:
    """Effect sizes between modules, with and without adjustments, on one scale.

    Parameters
    ----------
    tests : BlockTests
        Its blocks have ``module`` (looks), ``other_module`` (looked at), ``d`` and ``q``, both with several endings.
    mark : str
        Behind an effect whose q passes.
    """
    blocks, sides = tests.blocks, _sides(tests)
    effects = blocks[[f"d{ending}" for ending in sides.values()]].abs().to_numpy()
    reach = max(_LEAST_REACH, float(np.nanmax(effects, initial=0)))
    modules = [str(module) for module in dict.fromkeys([*blocks["module"], *blocks["other_module"]])]
    places = [[modules.index(name) for name in blocks[side]] for side in ("module", "other_module")]
    shades, panels = draw.Shades(quantity=EFFECT, low=-reach, high=reach), []
    for title, ending in sides.items():
        d, q = np.full((2, len(modules), len(modules)), np.nan)  # symmetric blocks come once: the other half is empty
        for square, name in ((d, "d"), (q, "q")):
            square[tuple(places)] = blocks[f"{name}{ending}"].to_numpy(dtype=float)
        cells = [[_effect(*pair, mark) for pair in zip(*rows, strict=True)] for rows in zip(d, q, strict=True)]
        rates = [[f"{rate:.3f}" for rate in row] for row in q]
        hover = "%{y} looks at %{x}\nd = %{z:.2f}, q = %{text}"
        drawn = draw.Heatmap(z=d, shades=shades, cells=cells, hover=hover, hovers=rates)
        panels.append(
            draw.Panel(
                title=title, marks=[drawn], x=draw.Axis(names=modules), y=draw.Axis(names=modules, reversed=True)
            )
        )
    return panels


def _effect(d: float, q: float, mark: str) -> str:
    """What stands in a block: its effect size, with a mark where its q passes."""
    return "" if not np.isfinite(d) else signed(d) + (mark if passes(q) else "")


def _block_table(tests: BlockTests) -> "pd.DataFrame":
    """One row per block."""
    from biobgt.inference.permutation import EFFECT_COLUMNS

    means = [f"mean_{group}" for group in tests.between]
    endings = dict.fromkeys([*_sides(tests).values(), WITHOUT_CONNECTIVITY])
    effects = [name for ending in endings for column in EFFECT_COLUMNS if (name := column + ending) in tests.blocks]
    table = tests.blocks[["feature", "module", "other_module", *means, *effects]]
    return table.assign(**{BEYOND: tests.beyond_fc}) if tests.beside is not None else table


@model_figure("attention_contrast", "Attention within and between modules")
def attention_contrast(measured: "Measured", options: NoOptions) -> draw.Drawing:
    """How much more regions look within their module than between modules, one point per head."""
    model = which_model.model_of(measured, "attention_contrast")
    tests, contrast = all_block_tests(model.groups.tests, model.groups.n), model.groups.contrast
    marks = [mark for place, one in enumerate(contrast.items()) for mark in _heads(place, *one)]
    rows = [
        {"group": group, "layer": layer + 1, "head": head + 1, "within / between": float(ratio)}
        for group, ratios in contrast.items()
        for (layer, head), ratio in np.ndenumerate(ratios)
    ]
    return which_model.model_drawing(
        model,
        _contrast_words(model, tests),
        methods=which_model.compared_methods(model, blocks=False) if tests else (),
        title=f"Module contrast of attention, {model.name}",
        panels=[_contrast_panel(marks, draw.Axis(names=list(contrast), limits=(-0.5, len(contrast) - 0.5)))],
        numbers=draw.table(rows),
        legend="none",
        height=400,
    )


def _contrast_panel(marks: Sequence[draw.Mark], x: draw.Axis) -> draw.Panel:
    """A ratio of attention by group, with a line where modules make no difference."""
    none = draw.Rule(name="no modules", colour=which_model.OTHER_COLOUR, y=1, dash="dot")
    return draw.Panel(marks=[none, *marks], x=x, y=draw.Axis(title=RATIO))


def _heads(place: int, group: str, ratios: NDArray[np.float32]) -> list[draw.Points]:
    """A group's heads as points, and their mean with its number beside it."""
    colour, mean = which_model.group_colour(group), float(np.nanmean(ratios))
    return [
        draw.Points(
            colour=colour,
            x=[place] * ratios.size,
            y=ratios.ravel().astype(float),
            size=8,
            opacity=0.45,
            hover="%{x}, %{text}\n%{y:.2f}",
            texts=[f"layer {layer + 1}, head {head + 1}" for layer, head in np.ndindex(*ratios.shape)],
        ),
        draw.Points(
            colour=colour,
            x=[place],
            y=[mean],
            symbol="diamond",
            size=15,
            edged=True,
            labels=[f"{mean:.2f}"],
            hover="%{x}, mean of heads\n%{y:.2f}",
        ),
    ]


def _contrast_words(model: InstalledModel, tests: Sequence[BlockTests]) -> str:
    """How closely attention keeps to modules, and that the tests are of other modules than the figure."""
    means = ", ".join(f"{group} {np.nanmean(values):.2f}" for group, values in model.groups.contrast.items())
    said = (
        "ratio of mean attention within to between each subject's own Louvain modules; one dot per head, a diamond for "
        f"their mean: {means}. 1 would mean that modules make no difference."
    )
    if beside := (model.card.get("parts") or {}).get("connectivity"):
        said += f" {contrast_beside_words(beside)}"
    if start := model.card["preset"].get("start_contrast", 0.0):
        said += (
            " The sharpness of attention was set on training subjects, without their groups, so that this ratio is "
            f"about {start:g}: its size is a choice; the result is that it holds in held-out subjects."
        )
    if tests:
        said += (
            " Groups were tested in another ratio, which is not drawn: attention within to between the atlas's "
            "functional modules, the same modules for every subject, mean over layers and heads."
        )
    return said + "".join(_contrast_sentence(test) for test in tests)


def _contrast_sentence(test: BlockTests) -> str:
    """How two groups differ in the ratio that was tested."""
    row, without = test.contrast.iloc[0], ""
    if f"d{WITHOUT_CONNECTIVITY}" in row:
        d, p = row[f"d{WITHOUT_CONNECTIVITY}"], row[f"p{WITHOUT_CONNECTIVITY}"]
        without = f"not adjusted for overall connectivity (mean |FC|) d = {signed(d)}, p = {p:.3g}; "
    return (
        f" In that ratio, {test.between[1]} against {test.between[0]}: d = {signed(row['d'])} [{signed(row['d_low'])}, "
        f"{signed(row['d_high'])}], p = {row['p']:.3g}, {adjusted_for(test.covariates)}; {without}unadjusted d = "
        f"{signed(row['d_unadjusted'])}, p = {row['p_unadjusted']:.3g}.{_not_adjusted_for(test.covariates)}"
    )


@model_figure(
    "attention_spread",
    "Attention within and between modules, person by person",
    least_mm=55,
    example_of="five-groups-aal90",
)
def attention_spread(measured: "Measured", options: NoOptions) -> draw.Drawing:
    """How far people of a group spread in how closely their attention keeps to modules, which a mean map hides."""
    model = which_model.model_of(measured, "attention_spread")
    spread = which_model.spread_of_model(model).people
    people = {group: spread[group] for group in model.group_names}
    found = {group: people_summary(own) for group, own in people.items()}
    averages = listed([f"{one.mean:.2f} and {one.median:.2f} ({group})" for group, one in found.items()])
    top = listed([f"{percent(one.top_share)} ({group})" for group, one in found.items()])
    strength = listed([f"{signed(one.with_strength)} ({group})" for group, one in found.items()])
    names = [group.replace(" (", "\n(") for group in people]
    x = draw.Axis(names=names, ticks=range(len(names)), limits=(-0.6, len(names) - 0.4))
    rows = [
        {"group": group, "within / between": float(ratio), "mean |FC|": float(overall)}
        for group, own in people.items()
        for ratio, overall in own
    ]
    return which_model.model_drawing(
        model,
        "mean attention within over between each person's own Louvain modules, mean over layers and heads; one dot per "
        "person, the box from the first to the third quartile with the median, a diamond the mean. Mean and median: "
        f"{averages}. Where the mean is far above the median, a few people make the mean map: the {percent(HIGHEST)} "
        f"of people with the highest contrast have this share of what lies above 1 in the whole group: {top}. "
        f"Spearman's correlation with overall connectivity (mean |FC|): {strength}.",
        title=f"Module contrast of every person, {model.name}",
        panels=[_contrast_panel(_strewn(people), x)],
        numbers=draw.table(rows),
        legend="none",
    )


def _strewn(people: Mapping[str, Matrix]) -> list[draw.Mark]:
    """A box, every person beside the middle of the group, the same at every drawing, and the mean."""
    random, marks = np.random.default_rng(0), list[draw.Mark]()
    for place, (group, own) in enumerate(people.items()):
        ratios, colour = own[:, 0], which_model.group_colour(group)
        marks += [
            draw.Boxes(colour=colour, x=place, values=ratios),
            draw.Points(
                colour=colour,
                x=place + random.uniform(-_JITTER, _JITTER, len(own)),
                y=ratios,
                size=4,
                opacity=0.45,
                hover=f"{group}\n%{{y:.2f}}, mean |FC| %{{text}}",
                texts=[f"{strength:.2f}" for strength in own[:, 1]],
            ),
            draw.Points(
                colour=colour,
                x=[place],
                y=[float(np.nanmean(ratios))],
                symbol="diamond",
                size=11,
                edged=True,
                hover="mean %{y:.2f}",
            ),
        ]
    return marks


@model_figure("attention_likeness", "How alike disorders' differences are", least_mm=70, example_of="five-groups-aal90")
def attention_likeness(measured: "Measured", options: NoOptions) -> draw.Drawing:
    """How alike disorders are in how their attention differs from that of their own controls, in one network."""
    from biobgt.training.card_text import CardText

    model = which_model.model_of(measured, "attention_likeness")
    pairs = model.card.get("likeness", ())
    if not pairs:
        raise InputError(f"Model {model.name} has no two disorders of which it was measured how alike they are.")
    disorders = [group for own in model.readouts.values() for group in own[1:]]
    words = CardText(model.card).likeness
    rows = [
        {
            "difference": f"{one['first'][1]} minus {one['first'][0]}",
            "beside": f"{one['second'][1]} minus {one['second'][0]}",
            **{name: one[name] for name in ("r", "expected", "p", "blocks", "permutations")},
        }
        for one in pairs
    ]
    screen = which_model.model_drawing(
        model,
        f"{words[0].lower()}{words[1:]} Two disorders that share their controls are alike by that alone, which is why "
        "chance gives more than 0 there. A difference that is mostly noise correlates with nothing, so that a low r "
        "does not show that two disorders differ.",
        methods=which_model.compared_methods(model),
        title=f"How alike the differences are, {model.name}",
        panels=[_likeness_panel(pairs, disorders)],
        numbers=draw.table(rows),
        legend="above",
        height=_ABOVE + 84 * len(disorders),
    )
    return replace(screen, on_paper=lambda style: replace(screen, square_mm=_LIKENESS_MM))


def _likeness_panel(pairs: Sequence[Mapping[str, Any]], disorders: Sequence[str]) -> draw.Panel:
    """Correlations between disorders, each pair once, with what chance gives and p."""
    at, n = {disorder: i for i, disorder in enumerate(disorders)}, len(disorders) - 1
    square, cells = np.full((n, n), np.nan), [[""] * n for _ in range(n)]
    for one in pairs:
        i, j = sorted((at[one["first"][1]], at[one["second"][1]]))
        if one["r"] is not None:
            square[j - 1, i] = one["r"]
            cells[j - 1][i] = f"r = {signed(one['r'])}\nby chance {signed(one['expected'])}\np = {one['p']:.3f}"
    shades = draw.Shades(quantity="correlation of differences, r", low=-1, high=1)
    return draw.Panel(
        marks=[draw.Heatmap(z=square, shades=shades, cells=cells)],
        x=draw.Axis(names=disorders[:-1]),
        y=draw.Axis(names=disorders[1:], reversed=True),
    )


def _not_adjusted_for(covariates: str) -> str:
    """Say which of the known covariates were not adjusted for, as a further sentence; nothing where all were."""
    missing = [word for name, word in COVARIATES.items() if name not in map(str.strip, covariates.split(","))]
    return f" Not adjusted for {listed(missing)}, which may explain a difference." if missing else ""
