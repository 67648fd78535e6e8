"""One region in the brain: where it looks, in a group or in all groups side by side, and how far that differs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from biobgt.base.kept import kept
from biobgt.base.options import Options, option
from biobgt.base.wording import listed, signed
from biobgt.figures import drawing as draw
from biobgt.figures import which_model
from biobgt.figures.attention.disorders import (
    MINUS,
    REACHED,
    Pair,
    difference_name,
    groups_in_a_row,
    model_differences,
    named,
    pairs_beside,
    reach,
)
from biobgt.figures.attention.maps import QUANTITY, AttentionPartOptions, Matrix, group_maps
from biobgt.figures.attention.own_groups import own_maps, own_name
from biobgt.figures.brain import Brain, Side, brains_beside, in_brain, side_option
from biobgt.figures.regions import region_number, region_option
from biobgt.figures.register import figure, model_figure
from biobgt.groups.compare import TwoGroups
from biobgt.model.pretrained import InstalledModel, installed_model

if TYPE_CHECKING:
    from biobgt.data.cohort import Cohort
    from biobgt.results.measured import Measured

Compared = Literal["groups", "differences"]
_LOOKS = "The region that looks; without one, the first of the atlas."
_DRAWN = "Regions were drawn with nilearn [@abraham2014]."


@dataclass(frozen=True, eq=False)
class _Looking:
    """Where regions look in groups, or in differences of groups, and one scale for all of them."""

    maps: Mapping[str, Matrix]
    limits: tuple[float, float]

    @classmethod
    def of(cls, maps: Mapping[str, Matrix], *, differences: bool) -> "_Looking":
        """Maps with their scale, beyond which few pairs of different regions lie."""
        if differences:
            most = max(map(reach, maps.values())) or 1.0
            return cls(maps, (-most, most))
        off = np.concatenate([matrix[~np.eye(len(matrix), dtype=bool)] for matrix in maps.values()])
        low, high = (float(end) for end in np.quantile(off, [1 - REACHED, REACHED]))
        return cls(maps, (low, high))

    @property
    def quantity(self) -> str:
        """What values are; those of differences lie on both sides of zero."""
        return QUANTITY if self.limits[0] >= 0 else "difference (× uniform)"


@kept(most=16, subject=False, graph=False, by=lambda measured, model, compared, part: (model.identity, compared, part))
def _looking(measured: "Measured", model: InstalledModel, compared: Compared, part: AttentionPartOptions) -> _Looking:
    differences = compared == "differences"
    maps = named(model_differences(model, part)) if differences else group_maps(model, part)
    return _Looking.of(maps, differences=differences)


def _shown_of(cohort: "Cohort") -> tuple[str, ...]:
    """Groups, and disorders minus their controls, of the model whose cohort this is."""
    model = installed_model(cohort.name)
    return (*groups_in_a_row(model), *map(difference_name, pairs_beside(model)))


@dataclass(frozen=True)
class _RegionAttentionOptions(AttentionPartOptions):
    """Which region looks, and in whom."""

    region: str = region_option(help=_LOOKS)
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
    compared: Compared = "differences" if shown in differences else "groups"
    looked = _looking(measured, model, compared, options.part(AttentionPartOptions))
    region = region_number(model.atlas, options.region) or 0
    values = looked.maps[shown][region]
    others = np.delete(np.abs(values), region)  # a region looks at itself most of all, and would make all others small
    sizes = np.minimum(np.abs(values), others.max())
    brain = Brain.of(model.atlas, "nodes", values=values, sizes=sizes, limits=looked.limits, quantity=looked.quantity)
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

    return in_brain(
        brain,
        caption,
        title=f"Attention of {name}, {shown}, {model.name}",
        line=f"{name} looks at: {most} ({shown}; {n})",
        simulated=model.simulates(groups),
        numbers=draw.table({"region": brain.regions, **brain.places, "attention": values}),
        methods=(*which_model.model_methods(model), _DRAWN),
    )


# The same in all groups, side by side on one scale.


@dataclass(frozen=True)
class _RowOptions(Options):
    """Which region looks, in every group or in every disorder minus its own controls, and from where it is seen."""

    region: str = region_option(help=_LOOKS)
    compared: Compared = option(
        "groups",
        title="Compared",
        help="Groups as they are, or disorders minus their own controls.",
        shown={"groups": "Groups", "differences": "Minus their own controls"},
    )
    side: Side = side_option()


@dataclass(frozen=True)
class _ModelRowOptions(_RowOptions, AttentionPartOptions):
    """The same in a part of the attention of a model."""


@dataclass(frozen=True)
class _OwnRowOptions(_RowOptions, which_model.ChosenModelOptions, TwoGroups):
    """The same with two groups of the cohort behind those of which model."""


@model_figure("region_attention_by_group", "Where a region looks, group by group", takes=_ModelRowOptions, least_mm=80)
def region_attention_by_group(measured: "Measured", options: _ModelRowOptions) -> draw.Drawing:
    """Attention that one region pays to all others in every group, or how far it differs, in brains side by side."""
    model = which_model.model_of(measured, "region_attention_by_group")
    looked = _looking(measured, model, options.compared, options.part(AttentionPartOptions))
    sizes = {group: f"{n:,} {group}" for group, n in model.groups.n.items()}
    whose: dict[str, tuple[str, ...]] = {group: (group,) for group in groups_in_a_row(model)}
    if options.compared == "differences":
        whose = {difference_name(pair): (*pair,) for pair in pairs_beside(model)}
    people = listed([" and ".join(sizes[group] for group in pair[::-1]) for pair in whose.values()])
    return _row(
        model,
        _Looking({name: looked.maps[name] for name in whose}, looked.limits),
        options,
        f"{which_model.model_opening(model)}: attention that {{region}} pays to every other region in {people}, "
        f"{options.words}",
        simulated=model.simulates([group for pair in whose.values() for group in pair]),
        methods=which_model.model_methods(model),
    )


@figure(
    "own_region_attention",
    "Where a region looks, in my groups and the model's",
    takes=_OwnRowOptions,
    of_subject=False,
    of_graph=False,
    least_mm=80,
)
def own_region_attention(measured: "Measured", options: _OwnRowOptions) -> draw.Drawing:
    """The same with two groups of the cohort behind those of a model, as they are or subtracted."""
    model = which_model.asked_model(options, "own_region_attention")
    looked, sizes = _own_looking(measured, model, options.groups, options.compared), measured.cohort.group_people
    people = " and ".join(f"{sizes[group]:,} {group}" for group in options.groups)
    return _row(
        model,
        looked,
        options,
        f"Attention that {{region}} pays to every other region in {people} of {measured.cohort.name}, behind the "
        f"groups of model {model.name}; mean over layers and heads. Own subjects were seen by all ensemble members, "
        f"each of the model's by {which_model.ONE_MEMBER}",
        simulated=measured.cohort.simulated or model.simulates(model.group_names),
        methods=which_model.subject_methods(model),
    )


@kept(
    most=8,
    subject=False,
    graph=False,
    by=lambda measured, model, groups, compared: (
        (model.identity, groups, compared, tuple((one.id, one.group) for one in measured.cohort))
    ),
)
def _own_looking(measured: "Measured", model: InstalledModel, groups: Pair, compared: Compared) -> _Looking:
    of_model, own = _looking(measured, model, compared, AttentionPartOptions()), own_maps(measured, model, groups)
    if compared == "groups":
        maps = {group: of_model.maps[group] for group in groups_in_a_row(model)}
        maps |= {own_name(group): matrix for group, matrix in own.items()}
    else:
        mine = (own_name(groups[0]), own_name(groups[1]))
        maps = {**of_model.maps, difference_name(mine): own[groups[1]] - own[groups[0]]}
    return _Looking.of(maps, differences=compared == "differences")


def _row(model: InstalledModel, looked: _Looking, options: _RowOptions, said: str, **about: Any) -> draw.Drawing:
    """The brain of every map, for one region, all on one scale of colours and of sizes."""
    atlas, (low, high) = model.atlas, looked.limits
    region = region_number(atlas, options.region) or 0
    values = {name: matrix[region] for name, matrix in looked.maps.items()}
    name, differ = atlas.regions[region], options.compared == "differences"
    look = {"limits": looked.limits, "quantity": looked.quantity, "side": options.side}
    brains = {
        title.replace(MINUS, f"\n{MINUS.lstrip()}"): Brain.of(
            atlas, "nodes", values=one, sizes=np.abs(one), size_limits=(0.0 if differ else low, high), **look
        )
        for title, one in values.items()
    }
    first = next(iter(brains.values()))
    what = "looks more or less than in the controls" if differ else "looks, group by group"
    return draw.Drawing(
        title=f"Attention of {name}, {model.name}",
        caption=f"{said.format(region=name)}. Colour and size are multiples of uniform attention on one scale, which "
        f"one in a hundred pairs of regions lie beyond. No pair of regions was tested.{first.left_out}",
        line=f"Where {name} {what}; one scale for all{'' if differ else ', 1 is uniform attention'}",
        numbers=draw.table({"region": atlas.regions, **first.places, **values}),
        **{**about, "methods": (*about["methods"], _DRAWN)},
        **brains_beside(brains),
    )
