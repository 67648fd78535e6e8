"""Every disorder of a model beside its own controls, in one row: differences on one scale, and one region in the brain.

Controls of one cohort minus controls of another are the yardstick: nobody among them has a diagnosis, so that what
differs there is the scanner, the preprocessing, the age or the motion of the cohorts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from biobgt.base.kept import kept
from biobgt.base.options import option
from biobgt.base.wording import listed, percent, signed
from biobgt.data.cohort import kind_of_group
from biobgt.figures import drawing as draw
from biobgt.figures import which_model
from biobgt.figures.attention.maps import (
    QUANTITY,
    SQUARE_MAPS,
    AttentionOptions,
    AttentionPartOptions,
    Matrix,
    group_maps,
    map_panel,
    maps_table,
)
from biobgt.figures.attention.tested import marked_frames, tested_blocks
from biobgt.figures.brain import Brain, in_brain
from biobgt.figures.regions import RegionOrder, region_number, region_option
from biobgt.figures.register import model_figure
from biobgt.model.attention import BlockTests, functional_labels
from biobgt.model.pretrained import InstalledModel, installed_model

if TYPE_CHECKING:
    from biobgt.data.cohort import Cohort
    from biobgt.results.measured import Measured

_IN_ORDER = ("NC", "ADHD", "ASD", "MCI", "AD")  # the paper's; other groups come behind them
_REACHED = 0.99  # share of the pairs of regions within the reach of a map
_ON_PAPER = 3  # maps in a row
_MINUS = " − "

Pair = tuple[str, str]  # what is subtracted, and from what


def compared_controls(model: InstalledModel) -> Pair | None:
    """The controls of two cohorts, real ones if there are two; None where all groups are of one cohort.

    Parameters
    ----------
    model : InstalledModel
    """
    controls = [own[0] for own in model.readouts.values()]
    real = [group for group in controls if not model.simulates([group])]
    found = real if len(real) > 1 else controls
    return (found[0], found[1]) if len(found) > 1 else None


def pairs_beside(model: InstalledModel) -> list[Pair]:
    """Controls of two cohorts first, where there are two; then each disorder with its own controls, in one order."""
    disorders = [group for group in model.group_names if group != model.controls_of(group)]
    of_controls = compared_controls(model)
    return [
        *([of_controls] if of_controls else []),
        *((model.controls_of(group), group) for group in sorted(disorders, key=_place)),
    ]


def groups_in_a_row(model: InstalledModel) -> tuple[str, ...]:
    """Controls and then every disorder; above each difference of :func:`pairs_beside` stands what it is of."""
    pairs = pairs_beside(model)
    own = () if compared_controls(model) else (model.group_names[0],)
    return (*own, *(group for _, group in pairs))


def _place(group: str) -> int:
    kind = kind_of_group(group)
    return _IN_ORDER.index(kind) if kind in _IN_ORDER else len(_IN_ORDER)


def reach(difference: Matrix) -> float:
    """Within which so many of the pairs of different regions are that colours need not reach beyond."""
    return float(np.quantile(np.abs(difference[~np.eye(len(difference), dtype=bool)]), _REACHED))


@model_figure(
    "attention_minus_controls",
    "Disorders minus their own controls",
    takes=AttentionOptions,
    least_mm=80,
    example_of="five-groups-aal90",
)
def attention_minus_controls(measured: "Measured", options: AttentionOptions) -> draw.Drawing:
    """Each disorder minus the controls of its own cohort, beside controls minus controls, on one colour scale."""
    model = which_model.model_of(measured, "attention_minus_controls")
    differences = model_differences(model, options)
    order = options.regions(measured, model)
    framed = options.order == next(iter(model.atlas.labels), "")
    frames = {pair: marked_frames(tested_blocks(model, pair), order) if framed else [] for pair in differences}
    yardstick, sizes = compared_controls(model), model.groups.n
    people = "; ".join(f"{sizes[second]:,} {second} and {sizes[first]:,} {first}" for first, second in differences)
    screen = which_model.model_drawing(
        model,
        f"attention of each disorder minus that of the controls of its own cohort, {options.words} ({people}). "
        f"{difference_words(differences, yardstick)} Frames mark blocks of functional modules whose difference passes "
        "a false discovery rate of 5 % where those two groups were tested.",
        line=_line(differences, yardstick),
        methods=which_model.compared_methods(model),
        title=f"Disorders minus controls, {model.name}",
        numbers=lambda: maps_table("difference", named(differences), model.atlas.regions, order),
        **difference_maps(differences, model.atlas.regions, order, frames),
    )
    return replace(screen, on_paper=lambda style: in_rows(screen))


def in_rows(screen: draw.Drawing) -> draw.Drawing:
    """The same for paper, where a row has room for three maps."""
    empty = -len(screen.panels) % _ON_PAPER if len(screen.panels) > _ON_PAPER else 0
    panels = [*screen.panels, *[draw.Panel()] * empty]
    return replace(screen, panels=panels, columns=min(screen.columns, _ON_PAPER), on_paper=None)


def model_differences(model: InstalledModel, options: AttentionPartOptions) -> dict[Pair, Matrix]:
    """The attention of the second group minus that of the first, of every pair of :func:`pairs_beside`.

    Parameters
    ----------
    model : InstalledModel
    options : AttentionPartOptions
    """
    maps = group_maps(model, options)
    return {(first, second): maps[second] - maps[first] for first, second in pairs_beside(model)}


def difference_name(pair: Pair) -> str:
    """What a difference is called: what is subtracted comes last."""
    first, second = pair
    return f"{second}{_MINUS}{first}"


def named(differences: Mapping[Pair, Matrix]) -> dict[str, Matrix]:
    """Differences by what they are called."""
    return {difference_name(pair): matrix for pair, matrix in differences.items()}


def difference_maps(
    differences: Mapping[Pair, Matrix],
    regions: Sequence[str],
    order: RegionOrder,
    frames: Mapping[Pair, Sequence[tuple[int, int, int, int]]],
) -> dict[str, Any]:
    """Differences side by side on one colour scale, as a drawing takes them; each says how far it reaches.

    Parameters
    ----------
    differences : mapping of pairs of groups to ndarray, shape (n_regions, n_regions)
    regions : sequence of str, length n_regions
    order : RegionOrder
    frames : mapping of the same pairs to frames
        Around blocks.
    """
    limit = max(map(reach, differences.values()), default=0.0) or 1.0
    shades = draw.Shades(quantity="difference (× uniform)", low=-limit, high=limit)
    hover = "%{y} looks at\n%{x}\n%{z:+.3f} × uniform"
    panels = [
        map_panel(
            matrix,
            regions,
            order,
            shades,
            title=f"{second}\n{_MINUS.lstrip()}{first}: ±{reach(matrix):.2f}",
            hover=hover,
            frames=frames[first, second],
        )
        for (first, second), matrix in differences.items()
    ]
    return {"panels": panels, "columns": len(panels), "height": 0, **SQUARE_MAPS}


def block_rates(model: InstalledModel, pair: Pair) -> Matrix:
    """The false discovery rate of the block of functional modules that each pair of regions lies in.

    Parameters
    ----------
    model : InstalledModel
    pair : (str, str)

    Returns
    -------
    ndarray, shape (n_regions, n_regions)
        NaN where no block was tested.
    """
    return rates_of(model, tested_blocks(model, pair))


def rates_of(model: InstalledModel, tests: BlockTests | None) -> Matrix:
    """The same, of tests of two groups that may be none of the model's.

    Parameters
    ----------
    model : InstalledModel
    tests : BlockTests or None
    """
    rates = np.full((model.atlas.n_regions,) * 2, np.nan)
    if tests is None:
        return rates
    labels = np.array(functional_labels(model.atlas, next(iter(model.atlas.labels))), dtype=object)
    for looking, looked_at, q in tests.blocks[["module", "other_module", "q"]].itertuples(index=False):
        rates[np.ix_(labels == looking, labels == looked_at)] = q
    return rates


def difference_words(differences: Mapping[Pair, Matrix], yardstick: Pair | None) -> str:
    """How far each difference reaches, and what may be said of it beside controls minus controls."""
    reached = listed([f"±{reach(matrix):.2f} ({name})" for name, matrix in named(differences).items()])
    said = f"Above each map stands within which {percent(_REACHED)} of its pairs of regions are: {reached}; "
    said += "all maps have one colour scale, which runs as far as the widest."
    if yardstick is None:
        return said
    return (
        f"{said} {yardstick[1]} minus {yardstick[0]} is the yardstick: nobody there has a diagnosis, so that what "
        "differs is the scanner, the preprocessing, the age or the motion of the cohorts. Disorders of different "
        "cohorts whose maps differ by no more than that say nothing about the disorders."
    )


def _line(differences: Mapping[Pair, Matrix], yardstick: Pair | None) -> str:
    """The same in one line."""
    reached = {pair: f"±{reach(matrix):.2f}" for pair, matrix in differences.items()}
    disorders = ", ".join(f"{kind_of_group(pair[1])} {one}" for pair, one in reached.items() if pair != yardstick)
    beside = f"; controls minus controls {reached[yardstick]}" if yardstick else ""
    return f"Minus their own controls, {percent(_REACHED)} of pairs are within: {disorders}{beside}"


# One region: where it looks, group by group.


def _shown_of(cohort: "Cohort") -> tuple[str, ...]:
    """Groups, and disorders minus their controls, of the model whose cohort this is."""
    model = installed_model(cohort.name)
    return (*groups_in_a_row(model), *map(difference_name, pairs_beside(model)))


@dataclass(frozen=True)
class _RegionAttentionOptions(AttentionPartOptions):
    """Which region looks, and in whom."""

    region: str = region_option(help="The region that looks; without one, the first of the atlas.")
    shown: str = option(
        "",
        title="Shown in the brain",
        help="A group, or a disorder minus its own controls.",
        choices_of=_shown_of,
        of_model=True,
        link="attention_of",
    )


@model_figure("region_attention", "Where a region looks, in the brain", takes=_RegionAttentionOptions)
def region_attention(measured: "Measured", options: _RegionAttentionOptions) -> draw.Drawing:
    """Attention that one region pays to all others in a group, or how far that differs from the group's controls."""
    model = which_model.model_of(measured, "region_attention")
    shown = options.shown or groups_in_a_row(model)[0]
    differences = {difference_name(pair): pair for pair in pairs_beside(model)}
    groups = differences.get(shown) or (which_model.known_group(model, shown),)
    looked = _looking(measured, model, groups, options.part(AttentionPartOptions))
    region = region_number(model.atlas, options.region) or 0
    values = looked.matrix[region]
    others = np.delete(np.abs(values), region)  # a region looks at itself most of all, and would make all others small
    quantity = "difference (× uniform)" if shown in differences else QUANTITY
    sizes = np.minimum(np.abs(values), others.max())
    brain = Brain.of(model.atlas, "nodes", values=values, sizes=sizes, limits=looked.limits, quantity=quantity)
    name = model.atlas.regions[region]
    strongest = [int(i) for i in np.argsort(-np.abs(values), kind="stable") if i != region][:3]
    most = ", ".join(f"{model.atlas.regions[i]} {signed(values[i], 2)}" for i in strongest)
    n = ", ".join(f"{model.groups.n[group]:,} {group}" for group in groups)

    def caption(where: str) -> str:
        return (
            f"{which_model.model_opening(model, groups)}: attention that {name} pays to every other region, {shown} "
            f"({n}), {options.words}, on {where}; colour and size are multiples of uniform attention. No pair of "
            f"regions was tested; largest: {most}.{brain.left_out}"
        )

    drawn = in_brain(
        brain,
        caption,
        title=f"Attention of {name}, {shown}, {model.name}",
        simulated=model.simulates(groups),
        numbers=draw.table({"region": brain.regions, **brain.places, "attention": values}),
        methods=(*which_model.model_methods(model), "Regions were drawn with nilearn [@abraham2014]."),
    )
    return replace(drawn, line=f"{name} looks at: {most} ({shown}; {n})")


@dataclass(frozen=True, eq=False)
class _Looking:
    """Where regions look in a group, or a difference of that; and one scale for all groups, or for all differences."""

    matrix: Matrix
    limits: tuple[float, float]


@kept(
    most=64, subject=False, graph=False, by=lambda measured, model, groups, part: (model.identity, tuple(groups), part)
)
def _looking(
    measured: "Measured", model: InstalledModel, groups: Sequence[str], part: AttentionPartOptions
) -> _Looking:
    maps = group_maps(model, part)
    if len(groups) > 1:
        most = max(map(reach, model_differences(model, part).values())) or 1.0
        return _Looking(maps[groups[1]] - maps[groups[0]], (-most, most))
    off = np.concatenate([matrix[~np.eye(len(matrix), dtype=bool)] for matrix in maps.values()])
    low, high = (float(end) for end in np.quantile(off, [1 - _REACHED, _REACHED]))
    return _Looking(maps[groups[0]], (low, high))
