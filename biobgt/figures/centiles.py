"""Centiles: curves over age of people of the same sex, and where the subject lies among them."""

from typing import TYPE_CHECKING

import numpy as np

from biobgt.base.colours import BLUE
from biobgt.base.references import in_brackets
from biobgt.base.wording import capitalised
from biobgt.data.atlas import LABELLINGS
from biobgt.data.quality import OVERALL_CONNECTIVITY
from biobgt.figures.drawing import Axis, Band, Curve, Dash, Drawing, Mark, Panel, Points, Rule, of_subject, table
from biobgt.figures.hubs import CHOSEN_COLOUR, hub_methods
from biobgt.figures.modules import module_methods
from biobgt.figures.register import figure
from biobgt.groups.centiles import (
    BRAIN_NUMBERS,
    MEAN_CONNECTIVITY,
    NETWORK_SEGREGATION,
    STRONGEST,
    STRONGEST_WORDS,
    WHOLE,
    BrainCentileOptions,
    CentileOptions,
    HubCentileOptions,
    networks_of,
)
from biobgt.hubs.measures import HUB_MEASURES
from biobgt.modules.measures import MODULE_MEASURES, SEGREGATION

if TYPE_CHECKING:
    from biobgt.groups.standing import CentileReference, Standing
    from biobgt.results.measured import Measured

_AGES = 61  # points of a curve
_LINES: tuple[tuple[str, tuple[int, ...], Dash], ...] = (
    ("5th and 95th centile", (5, 95), "dot"),
    ("25th and 75th centile", (25, 75), "dash"),
    ("50th centile", (50,), "solid"),
)
_TINTED = (5, 50, 95)  # the intervals of all five would lie on each other


@figure("centiles", "Centile of a hub measure", takes=HubCentileOptions, least_mm=85)
def centiles(measured: "Measured", options: HubCentileOptions) -> Drawing:
    """Centile curves of a hub measure over age by sex, and the subject among them."""
    about = HUB_MEASURES[options.measure].in_words_of(measured.kind)
    gamma = f" at γ = {options.gamma:g}/mean(λ)" if about.depends_on_gamma else ""
    return _drawn(
        measured,
        options,
        what=f"{about.heading}, {_short(options.place)}",
        full=f"{about.title}{gamma}, mean over {_place_words(measured, options.place)}",
        axis=about.axis,
        methods=hub_methods(measured, options, (options.measure,)),
    )


def _short(place: str) -> str:
    return place if place in (WHOLE, STRONGEST) else f"{place} network"


def _place_words(measured: "Measured", place: str) -> str:
    if place == WHOLE:
        return "all regions with signal"
    labelling = networks_of(measured.atlas)
    named = f"the regions of the network {place} ({LABELLINGS.get(labelling, labelling)})"
    return STRONGEST_WORDS.get(place, named)


@figure("centiles_brain", "Centile of modules and connectivity", takes=BrainCentileOptions, least_mm=85)
def centiles_brain(measured: "Measured", options: BrainCentileOptions) -> Drawing:
    """Centile curves of a number of the whole brain over age by sex, and the subject among them."""
    key = options.brain_number
    name = BRAIN_NUMBERS[key]
    labelling = networks_of(measured.atlas)
    named = f" ({LABELLINGS.get(labelling, labelling)})" if key == NETWORK_SEGREGATION and labelling else ""
    if key in (MEAN_CONNECTIVITY, OVERALL_CONNECTIVITY):
        absolute = "the absolute values of " if key == OVERALL_CONNECTIVITY else ""
        methods: tuple[str, ...] = (
            f"Mean connectivity is the mean of {absolute}the connectivity of all pairs of regions with signal.",
        )
    else:
        measure = MODULE_MEASURES[SEGREGATION if key == NETWORK_SEGREGATION else key]
        methods = module_methods(measured, options, measure.definition)
    full = f"{name[:1].lower()}{name[1:]}{named}"
    return _drawn(measured, options, what=name, full=full, axis=name, methods=methods)


def _drawn(
    measured: "Measured", options: CentileOptions, *, what: str, full: str, axis: str, methods: tuple[str, ...]
) -> Drawing:
    """The curves of every sex side by side, and the subject in its own."""
    from biobgt.groups.standing import centile_words, reference_of, standing_of

    reference, found = reference_of(measured, options), standing_of(measured, options)
    whom = f"{reference.title} ({reference.people_words})"
    if found.why_not:
        stands, line = f"{found.why_not} {capitalised(full)} is {found.value:.3g}.", found.why_not
    else:
        centile, low, high = map(centile_words, (found.centile, found.low, found.high))
        stands = (
            f"{found.person.words}, is at centile {centile} (95 % interval {low} to {high}) of {full}, among {whom}."
        )
        line = f"{what}: centile {centile} [{low}, {high}] among {whom}"
    tints = "the tints of three are their 95 % intervals, over samples of people and over sites"
    ends = [end for limits in reference.ages.values() for end in limits]
    known = [found.person.age] if found.person.age > 0 and found.person.sex in reference.ages else []
    limits = (float(np.floor(min(ends + known))), float(np.ceil(max(ends + known))))
    return of_subject(
        measured.subject,
        f"{stands} Lines are centiles of the same sex over age; {tints}.",
        line=line,
        title=f"{what}, by age",
        subtitle=measured.subject.id,
        panels=[
            Panel(
                title=capitalised(sex),
                marks=[*_curves(reference, options.curve, sex), *_subject(found, sex, measured.subject.id)],
                x=Axis(title="Age (years)", limits=limits),
                y=Axis(title=axis),
            )
            for sex in reference.ages
        ],
        columns=len(reference.ages),
        numbers=table(_numbers(reference, options.curve, found, measured.subject.id)),
        methods=(*methods, *_methods(reference, options.curve)),
        legend="below",
    )


def _curves(reference: "CentileReference", key: str, sex: str) -> list[Mark]:
    """Tints first, then lines on them."""
    ages = np.linspace(*reference.ages[sex], _AGES)
    tints: list[Mark] = []
    lines: list[Mark] = []
    for name, centiles_of, dash in _LINES:
        for centile in centiles_of:
            middle, low, high = reference.curves[key].curve(centile, ages, sex).T
            if centile in _TINTED:
                tints.append(Band(name=name, colour=BLUE, x=ages, low=low, high=high))
            hover = f"centile {centile}: %{{y:.3g}}\n%{{x:.1f}} years"
            lines.append(Curve(name=name, colour=BLUE, x=ages, y=middle, dash=dash, hover=hover))
    return [*tints, *lines]


def _subject(found: "Standing", sex: str, name: str) -> list[Mark]:
    """A dot at the subject's age; where age or sex is not known, a line at its value in every panel."""
    if not np.isfinite(found.value):
        return []
    if not (found.person.age > 0 and found.person.sex):
        return [Rule(name=name, colour=CHOSEN_COLOUR, y=found.value, hover=name)]
    if found.person.sex != sex:
        return []
    hover = f"{name}\n%{{y:.3g}}"
    dot = Points(
        x=[found.person.age], y=[found.value], name=name, colour=CHOSEN_COLOUR, size=11, edged=True, hover=hover
    )
    return [dot]


def _numbers(reference: "CentileReference", key: str, found: "Standing", name: str) -> list[dict[str, object]]:
    """A row of the subject, then one per sex, centile and age."""
    own = {"centile": found.centile, "centile_low": found.low, "centile_high": found.high, "value": found.value}
    rows: list[dict[str, object]] = [{"subject": name, "sex": found.person.sex, "age": found.person.age, **own}]
    for sex, (low, high) in reference.ages.items():
        ages = np.linspace(low, high, _AGES)
        for centile in sorted(one for _, several, _ in _LINES for one in several):
            for age, values in zip(
                ages.tolist(), reference.curves[key].curve(centile, ages, sex).tolist(), strict=True
            ):
                of_curve = dict(zip(("value", "value_low", "value_high"), values, strict=True))
                rows.append({"subject": "", "sex": sex, "age": age, "centile": centile, **of_curve})
    return rows


def _methods(reference: "CentileReference", key: str) -> tuple[str, ...]:
    curve = reference.curves[key]
    model = (
        "Centiles are those of a sinh-arcsinh distribution [@jones2009] over age and sex; of eight forms the one with "
        f"the lowest corrected AIC [@hurvich1989] was kept: {curve.form}. Sites are not modelled: the spread of their "
        f"means, {curve.site_sd:.2f} standard deviations, is part of the intervals."
    )
    size = f"{curve.n_people:,} people with this measure"
    whom = f"The reference is {reference.title}: {size}{in_brackets(reference.cites)}."
    licence = f"Licence of the reference's data: {reference.licence}" if reference.licence else ""
    return tuple(filter(None, (model, whom, reference.about, licence)))
