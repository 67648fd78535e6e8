"""Every person of a cohort as one dot by group: in a hub measure of a region, or in a measure of the whole brain."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biobgt.base.options import option
from biobgt.base.wording import capitalised, signed
from biobgt.data.cohort import counted_people, person_of
from biobgt.figures.drawing import Axis, Curve, Drawing, Mark, Panel, Points, table
from biobgt.figures.hubs import CHOSEN_COLOUR, hub_methods
from biobgt.figures.modules import module_methods
from biobgt.figures.regions import region_number, region_option
from biobgt.figures.register import figure
from biobgt.figures.which_model import group_colour
from biobgt.groups.people import BRAIN_MEASURES, BrainMeasureOptions
from biobgt.hubs.measures import FC_STRENGTH, HUB_MEASURES, NE, EntanglementOptions, HubOptions
from biobgt.modules.measures import MODULE_MEASURES

if TYPE_CHECKING:
    import pandas as pd

    from biobgt.data.cohort import Cohort
    from biobgt.results.measured import Measured

_WIDTH = 0.6  # of a strip of people, as a share of the distance from group to group
_NO_GROUP = "in no group"


@dataclass(frozen=True)
class _PeopleOptions(EntanglementOptions):
    """In what people are compared, and where."""

    measure: str = option(
        FC_STRENGTH,
        title="Measure of people",
        help="The hub measure that is shown of every person.",
        choices=HUB_MEASURES,
        shown=lambda key: HUB_MEASURES[key].heading,
        link="people_measure",
    )
    region: str = region_option(help="Name of the region; without one, the strongest hub of the subject.")


@figure("people", "People", takes=_PeopleOptions)
def people(measured: "Measured", options: _PeopleOptions) -> Drawing:
    """One dot per recording by group: a hub measure in one region, and how far the groups are apart."""
    from biobgt.groups.people import regional_effects, regional_values

    about = HUB_MEASURES[options.measure].in_words_of(measured.kind)
    number = region_number(measured.atlas, options.region)
    region = measured.strongest_hub(HubOptions(options.gamma, options.perturbation)) if number is None else number
    name = measured.atlas.regions[region]
    gamma = f" at γ = {options.gamma:g}/mean(λ)" if about.depends_on_gamma else ""
    return _strips(
        measured,
        regional_values(measured, options, options.measure)[:, region],
        {pair: found.iloc[region] for pair, found in regional_effects(measured, options, options.measure).items()},
        title=f"{about.heading} of {name}",
        what=f"{about.heading}{gamma} of {name}",
        short=about.short,
        axis=about.axis,
        alone="this region alone",
        columns={"region": name},
        column=options.measure,
        methods=hub_methods(measured, options, (options.measure,)),
    )


@figure("people_brain", "People, whole brain", takes=BrainMeasureOptions)
def people_brain(measured: "Measured", options: BrainMeasureOptions) -> Drawing:
    """One dot per recording by group: a number of the whole brain, and how far the groups are apart."""
    from biobgt.groups.people import brain_measure_title, brain_value, effects_against_first

    values = np.array([brain_value(measured.of(name), options) for name in measured.cohort.ids])
    heading = measured.kind.named(BRAIN_MEASURES[options.brain_measure])
    if options.agrees_with:
        rho = "The agreement of node entanglement with another hub measure is Spearman's ρ over regions with signal."
        methods = (*hub_methods(measured, options, (NE, options.agrees_with)), rho)
    else:
        methods = module_methods(measured, options, MODULE_MEASURES[options.brain_measure].definition)
    return _strips(
        measured,
        values,
        {pair: found.iloc[0] for pair, found in effects_against_first(measured.cohort, values[:, None]).items()},
        title=heading,
        what=capitalised(brain_measure_title(measured, options)),
        short=heading,
        axis=heading,
        alone="",
        columns={},
        column=options.brain_measure.replace(" ", "_"),
        methods=methods,
    )


def _strips(
    measured: "Measured",
    values: "NDArray[np.float64]",
    found: Mapping[tuple[str, str], "pd.Series[Any]"],
    *,
    title: str,
    what: str,
    short: str,
    axis: str,
    alone: str,
    columns: Mapping[str, str],
    column: str,
    methods: tuple[str, ...],
) -> Drawing:
    """One value of every recording as a dot, a strip per group, and the subject's own in a ring."""
    cohort = measured.cohort
    groups = [*cohort.group_sizes, *({_NO_GROUP} if any(one.group is None for one in cohort) else ())]
    rows = [
        {"subject": one.id, "group": one.group or "", **columns, column: value}
        for one, value in zip(cohort, values, strict=True)
    ]
    marks: list[Mark] = []
    for place, group in enumerate(groups):
        members = [i for i, one in enumerate(cohort) if (one.group or _NO_GROUP) == group]
        marks += _strip(place, group, [cohort.ids[i] for i in members], values[members], short)
    own = cohort.ids.index(measured.subject.id)
    place = groups.index(measured.subject.group or _NO_GROUP)
    x = place + _beside(sum((one.group or _NO_GROUP) == groups[place] for one in cohort.subjects[:own]))
    marks.append(Points(x=[x], y=[values[own]], colour=CHOSEN_COLOUR, size=13, hollow=True, hover=measured.subject.id))
    effects = [
        f"{group} − {first}: d = {signed(one.d, 2)} [{signed(one.d_low, 2)}, {signed(one.d_high, 2)}]"
        for (first, group), one in found.items()
        if np.isfinite(one.d)
    ]
    how = f"{alone}, unadjusted" if alone else "unadjusted"
    apart = f" {'; '.join(effects)} (95 % interval), {how}." if effects else ""
    stands = _standing(cohort, values, own)
    whom = counted_people(len({person_of(one) for one in cohort.ids}), len(cohort))
    return Drawing(
        title=title,
        subtitle=cohort.name,
        simulated=cohort.simulated,
        caption=f"{what} in {whom} of {cohort.name}, one dot per recording, a line at each group's mean; the ring is "
        f"{measured.subject.id}{f', {stands}' if stands else ''}.{apart}",
        line="; ".join(
            [*(effects or [f"{what}, by person"]), *([how] if effects else [])]
            + ([f"{measured.subject.id} {stands}"] if stands else [])
        ),
        panels=[
            Panel(
                marks=marks,
                x=Axis(names=groups, ticks=range(len(groups)), limits=(-0.5, len(groups) - 0.5)),
                y=Axis(title=axis),
            )
        ],
        numbers=table(rows),
        methods=methods,
        legend="none",
    )


def _standing(cohort: "Cohort", values: "NDArray[np.float64]", own: int) -> str:
    """Above how many people of the first group a subject is, itself left out; empty where there is nobody else."""
    group, person = next(iter(cohort.group_sizes), None), person_of(cohort.ids[own])
    others: dict[str, list[float]] = {}
    for one, value in zip(cohort, values, strict=True):
        if one.group == group and person_of(one.id) != person and np.isfinite(value):
            others.setdefault(person_of(one.id), []).append(float(value))
    if not others or not np.isfinite(values[own]):
        return ""
    n_below = sum(float(np.mean(recordings)) < values[own] for recordings in others.values())
    other = "other " if cohort.subjects[own].group == group else ""
    return f"above {n_below} of {len(others)} {other}{group or 'people'}"


def _beside(number: int) -> float:
    """How far the so-manieth dot lies from the middle of its group: spread evenly, and the same at every drawing."""
    golden = 0.6180339887498949
    return _WIDTH * ((number * golden) % 1 - 0.5)


def _strip(place: int, group: str, names: list[str], values: "NDArray[np.float64]", short: str) -> list[Mark]:
    """A group's people, and a line at their mean."""
    colour = group_colour(group)
    dots = Points(
        name=group,
        colour=colour,
        x=[place + _beside(i) for i in range(len(names))],
        y=values,
        size=6,
        opacity=0.6,
        people=names,
        hover=f"%{{text}}\n{short} %{{y:.3g}}",
        texts=names,
    )
    mean = float(np.nanmean(values)) if np.isfinite(values).any() else np.nan
    line = Curve(colour=colour, x=[place - _WIDTH / 2, place + _WIDTH / 2], y=[mean, mean], hover="mean %{y:.3g}")
    return [dots, line]
