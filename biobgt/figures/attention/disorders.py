"""Every disorder of a model beside its own controls, in one row: differences on one scale.

Controls of one cohort minus controls of another are the yardstick: nobody among them has a diagnosis, so that what
differs there is the scanner, the preprocessing, the age or the motion of the cohorts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from biobgt.base.wording import listed, percent, signed
from biobgt.data.cohort import kind_of_group
from biobgt.figures import drawing as draw
from biobgt.figures import which_model
from biobgt.figures.attention.maps import (
    SQUARE_MAPS,
    AttentionOptions,
    AttentionPartOptions,
    Matrix,
    group_maps,
    map_panel,
    maps_table,
)
from biobgt.figures.attention.tested import marked_frames, tested_blocks
from biobgt.figures.regions import RegionOrder
from biobgt.figures.register import model_figure
from biobgt.model.attention import BlockTests, functional_labels
from biobgt.model.pretrained import InstalledModel

if TYPE_CHECKING:
    from biobgt.results.measured import Measured

_IN_ORDER = ("NC", "ADHD", "ASD", "MCI", "AD")  # the paper's; other groups come behind them
REACHED = 0.99  # share of the pairs of regions within the reach of a map
_ON_PAPER = 3  # maps in a row
MINUS = " − "

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
    return float(np.quantile(np.abs(difference[~np.eye(len(difference), dtype=bool)]), REACHED))


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
    return f"{second}{MINUS}{first}"


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
            title=f"{second}\n{MINUS.lstrip()}{first}: ±{reach(matrix):.2f}",
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
    said = f"Above each map stands within which {percent(REACHED)} of its pairs of regions are: {reached}; "
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
    return f"Minus their own controls, {percent(REACHED)} of pairs are within: {disorders}{beside}"


def block_words(model: InstalledModel, rows: Sequence[int], columns: Sequence[int]) -> str:
    """What was tested of a block of a model's maps: that of two functional modules, pair by pair of groups.

    Parameters
    ----------
    model : InstalledModel
    rows, columns : sequence of int
        Regions, counted from 0.
    """
    labels = np.array(functional_labels(model.atlas, next(iter(model.atlas.labels))), dtype=object)
    sides = [
        next((name for name in set(labels) if set(np.flatnonzero(labels == name)) == set(side)), None)
        for side in (rows, columns)
    ]
    said = []
    for pair in pairs_beside(model):
        if None in sides or (tests := tested_blocks(model, pair)) is None:
            continue
        own = tests.blocks[(tests.blocks["module"] == sides[0]) & (tests.blocks["other_module"] == sides[1])]
        found = zip(own["d"].tolist(), own["q"].tolist(), strict=True)
        said += [f"{difference_name(pair)} d = {signed(d, 2)}, q = {q:.2g}" for d, q in found]
    if not said:
        return "Blocks of functional modules were tested when the model was made; others cannot be, without its people."
    return f"Tested among all blocks: {'; '.join(said)}."
