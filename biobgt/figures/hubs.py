"""Figures of hubs: measures over the regions of one subject, also in the brain, and whether these agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.colours import LINE_GREY, PALE_GREY, PURPLE, VERMILION
from biobgt.base.errors import InputError
from biobgt.base.options import option
from biobgt.base.wording import capitalised, listed, signed
from biobgt.data.cohort import counted_people, person_of
from biobgt.data.graph import ESTIMATED, ConnectivityKind
from biobgt.figures import drawing as draw
from biobgt.figures.brain import GLASS_BRAIN, MOST_NAMED, NODES, Brain, BrainKind, brain_caption, brain_option, in_brain
from biobgt.figures.connectivity import graph_methods
from biobgt.figures.regions import (
    AS_IN_ATLAS,
    RegionOrder,
    gap_words,
    only_regions,
    order_by_value,
    order_option,
    random_regions,
    region_number,
    region_option,
    regions_in_order,
    with_gaps,
)
from biobgt.figures.register import figure
from biobgt.hubs.measures import (
    COMPARED,
    FC_STRENGTH,
    GAMMAS,
    HUB_MEASURES,
    LITTLE_MEAN_CONNECTIVITY,
    NE,
    NEFF,
    PERTURBATIONS,
    EntanglementOptions,
    HubMeasure,
    HubOptions,
    little_strength,
    notes_on,
)

if TYPE_CHECKING:
    import pandas as pd

    from biobgt.data.cohort import Subject
    from biobgt.figures.paper_style import PaperStyle
    from biobgt.results.measured import Measured

# Colours of what is marked, whatever the measure; Okabe and Ito's, and never the only way to tell two things apart.
HUB_COLOUR = VERMILION
CHOSEN_COLOUR = PURPLE
GROUP_COLOUR = LINE_GREY
RANK_1 = "1 is the strongest hub"
CurveScale = Literal["z", "rank", "raw"]
BY_NE = "by NE"
N_RANDOM = 50
_NARROWEST_MM = 1.0  # of a region on paper, in which curves on top of each other can be told apart
_AXES: Mapping[str, str] = {"z": "z-score over regions", "rank": f"rank ({RANK_1})"}
_HOVER: Mapping[str, str] = {"z": "%{y:.2f}", "rank": "%{y}", "raw": "%{y:.3g}"}
_SCALES: Mapping[str, str] = {
    "z": "as z-scores over regions",
    "rank": "as ranks, 1 the strongest hub",
    "raw": "in their own units, one panel each",
}


def hub_methods(measured: "Measured", options: EntanglementOptions, measures: Sequence[str]) -> tuple[str, ...]:
    """Methods of a figure that shows some hub measures, node entanglement among them or not.

    Parameters
    ----------
    measured : Measured
    options : EntanglementOptions
    measures : sequence of str
        Keys of :data:`biobgt.hubs.HUB_MEASURES`.
    """
    definitions = [HUB_MEASURES[key].in_words_of(measured.kind).definition for key in measures]
    if NE in measures:
        definitions.insert(
            1 + list(measures).index(NE),
            f"Under the perturbation, {PERTURBATIONS[options.perturbation]}; the diffusion time was "
            f"γ = {options.gamma:g}/mean(λ), with λ the eigenvalues of the graph's Laplacian.",
        )
    return (*graph_methods(measured), *definitions, *notes_on(measures))


def _strength_remark(measured: "Measured", measures: Sequence[str] = (FC_STRENGTH,)) -> str:
    """That FC strength has little left to compare with, with a space before it; empty where it has, or is not shown."""
    mean = measured.mean_connectivity()[0]
    if FC_STRENGTH not in measures or not (measured.kind.functional and mean < LITTLE_MEAN_CONNECTIVITY):
        return ""
    return " " + little_strength(f"this subject's mean connectivity is {signed(mean, 3)}")


def _by_measure() -> dict[str, HubMeasure]:
    """The measures by which regions can be ordered, each under the name of that order."""
    return {f"by {one.short}": one for one in HUB_MEASURES.values()}


def _hubs_first(about: HubMeasure) -> str:
    """How a measure orders regions: its strongest hub comes first."""
    return f"by {about.short}, {'lowest' if about.low_in_hubs else 'highest'} first"


def gammas_option() -> Any:
    """The option of a figure: over which diffusion times something is drawn."""
    return option(GAMMAS, title="Diffusion times", help="In units of 1/mean(λ).", above=0.0, fewest=1)


@dataclass(frozen=True)
class HubCurvesOptions(HubOptions):
    """Which measures of which regions are drawn, in which order and on which scale."""

    measures: tuple[str, ...] = option(
        COMPARED,
        title="Measures",
        help="Hub measures to show; hubs are marked by the first.",
        choices=HUB_MEASURES,
        shown=lambda key: HUB_MEASURES[key].heading,
        link="measures",
    )
    scale: CurveScale = option(
        "z",
        title="Values",
        help="Z-scores and ranks share an axis; raw values have a panel each, because their units differ.",
        shown={"z": "z-score", "rank": "Rank", "raw": "Raw"},
        link="curve_scale",
    )
    order: str = order_option(
        others=lambda: {
            **AS_IN_ATLAS,
            **{name: capitalised(_hubs_first(one)) for name, one in _by_measure().items()},
        },
        help="By functional network, in the atlas's order, or by a hub measure, its strongest hub first.",
        link="curve_order",
    )
    n_random: int = option(
        0,
        title="Regions",
        help="All regions, or some drawn at random.",
        steps=(0, N_RANDOM),
        low=0,
        shown={0: "All", N_RANDOM: f"{N_RANDOM} random"},
        link="curve_regions",
    )
    seed: int = option(0, title="Seed", help="The same seed draws the same regions.", low=0, link="curve_seed")
    group: bool = option(
        False,
        title="Group in the background",
        help="Mean ± SD of the subject's group in the background. Measures every subject of the group once; changing γ "
        "is then quick.",
        link="group_behind",
    )
    region: str = region_option()


def group_members(measured: "Measured") -> "tuple[Subject, ...]":
    """The subjects of the subject's group, itself among them; the whole cohort where it has no group."""
    group = measured.subject.group
    return tuple(subject for subject in measured.cohort if group is None or subject.group == group)


class _GroupBand(NamedTuple):
    """A group whose curves lie behind the subject's: its name, sizes, and mean and SD by measure, (n_regions,) each."""

    name: str
    n_people: int
    n_recordings: int
    mean: Mapping[str, FloatArray]
    sd: Mapping[str, FloatArray]

    @property
    def words(self) -> str:
        """What lies behind, as captions say it."""
        averaged = ", averaged for each person first" if self.n_recordings > self.n_people else ""
        return (
            " Behind each curve, dashed line and band are the mean ± 1 SD of the "
            f"{counted_people(self.n_people, self.n_recordings)} of {self.name}{averaged}, this one among them, each "
            "on its own scale and γ."
        )


def _group_band(measured: "Measured", options: HubCurvesOptions) -> _GroupBand:
    """Measure every subject of the subject's group."""
    from biobgt.hubs.table import group_curves

    members = group_members(measured)
    curves = [measured.of(member.id).hub_curves(options, options.measures) for member in members]
    persons = [person_of(member.id) for member in members]
    mean, sd = group_curves(curves, options.gamma, persons=persons, scale=options.scale)
    return _GroupBand(measured.subject.group or "whole cohort", len(set(persons)), len(members), mean, sd)


def _ring(name: str, x: float, y: float, region: int, *, hover: str) -> draw.Points:
    """A ring around the region that was picked, with its name in the legend."""
    look: dict[str, Any] = {"colour": CHOSEN_COLOUR, "size": 15, "hollow": True}
    return draw.Points(name=name, x=[x], y=[y], hover=hover, texts=[name], ids=[region], **look)


@dataclass(frozen=True, eq=False)
class _Curves:
    """Hub measures on the options' scale, by key, (n_regions,) each; hubs by the first; the regions that are drawn."""

    options: HubCurvesOptions
    kind: ConnectivityKind
    regions: Sequence[str]
    values: Mapping[str, FloatArray]
    hubs: NDArray[np.bool_]
    order: RegionOrder
    group: _GroupBand | None

    def measure(self, key: str = "") -> HubMeasure:
        """A measure in the words of the kind of connectivity, by default the first."""
        return HUB_MEASURES[key or next(iter(self.values))].in_words_of(self.kind)

    def panels(self, *, apart: bool, lines: bool = False) -> list[draw.Panel]:
        """All curves in one panel or each in its own, with lines at the hubs through all of them."""
        drawn, options = list(self.order.order), self.options
        at_hubs: list[draw.Mark] = [
            draw.Rule(x=place, colour=HUB_COLOUR, thin=True, opacity=0.35)
            for place in np.flatnonzero(self.hubs[drawn]).tolist()
        ]
        by = _by_measure().get(options.order)
        named = _hubs_first(by.in_words_of(self.kind)) if by else "in atlas order"
        regions = draw.Axis(
            title=f"{len(drawn)} regions {named}",
            names=[self.regions[region] for region in drawn],
            order=self.order,
            limits=(-1, len(drawn)),
        )
        panels = []
        for keys in [[key] for key in self.values] if apart else [list(self.values)]:
            about, marks = self.measure(keys[0]), [mark for key in keys for mark in self._marks(key)]
            title = f"{about.short}, {options.scale}" if apart else _AXES.get(options.scale, "")
            values = draw.Axis(title=about.axis if options.scale == "raw" else title, reversed=options.scale == "rank")
            panels.append(draw.Panel(marks=[*at_hubs, *marks] if lines else marks, x=regions, y=values))
        return panels

    def _marks(self, key: str) -> list[draw.Mark]:
        """The group behind, the curve and, on the first one, the hubs and the region that was picked."""
        drawn, about = np.array(self.order.order, dtype=int), self.measure(key)
        places, values = np.arange(len(drawn)), self.values[key]
        marks: list[draw.Mark] = []
        if self.group is not None:
            mean, sd, name = self.group.mean[key][drawn], self.group.sd[key][drawn], f"{self.group.name}, mean ± SD"
            marks += [
                draw.Band(name=name, colour=about.colour, x=places, low=mean - sd, high=mean + sd),
                draw.Curve(
                    name=name,
                    colour=GROUP_COLOUR,
                    x=places,
                    y=mean,
                    dash="dash",
                    thin=True,
                    hover=f"{self.group.name} %{{y:.3g}} ± %{{text}}",
                    texts=[f"{one:.2g}" for one in sd],
                ),
            ]
        hover = f"{about.short} {_HOVER[self.options.scale]}"
        curve: dict[str, Any] = {"name": about.short, "colour": about.colour, "hover": hover, "ids": drawn}
        marks.append(draw.Curve(x=places, y=values[drawn], thin=key != NE, **curve))
        if key == next(iter(self.values)):
            hubs = np.flatnonzero(self.hubs[drawn])
            diamonds: dict[str, Any] = {
                "name": f"hubs by {about.short}",
                "colour": HUB_COLOUR,
                "hover": "a hub",
                "ids": drawn[hubs],
            }
            marks.append(draw.Points(x=hubs, y=values[drawn][hubs], symbol="diamond", size=8, **diamonds))
            marks += [
                _ring(self.regions[region], place, values[region], region, hover="picked")
                for place, region in enumerate(drawn.tolist())
                if self.regions[region] == self.options.region
            ]
        return marks

    def numbers(self) -> "pd.DataFrame":
        """One row per region that is drawn, in the order of the figure."""
        import pandas as pd

        numbers = pd.DataFrame({"region": self.regions, **self.values, f"hub by {self.measure().short}": self.hubs})
        if self.group is not None:
            for key in self.values:
                numbers[f"{key} group mean"], numbers[f"{key} group SD"] = self.group.mean[key], self.group.sd[key]
        return numbers.iloc[list(self.order.order)]

    @property
    def words(self) -> str:
        """Which measures, on which scale, and what is marked."""
        options, n_regions, n_drawn = self.options, len(self.regions), len(self.order.order)
        some = n_drawn < n_regions
        which = f"{n_drawn} of {n_regions} regions, drawn with seed {options.seed}" if some else f"{n_regions} regions"
        over_all = f" (of all {n_regions})" if some and options.scale != "raw" else ""
        measures = [self.measure(key) for key in self.values]
        in_full = [one.title if one.short == one.title else f"{one.title} ({one.short})" for one in measures]
        scale = "in its own unit" if options.scale == "raw" and len(measures) == 1 else _SCALES[options.scale]
        perturbed = f"NE is |ΔS| at γ = {options.gamma:g}/mean(λ) when {PERTURBATIONS[options.perturbation]}"
        entanglement = f" {perturbed}." if NE in self.values else ""
        averaged = "Pearson correlation" if self.kind.key == ESTIMATED else f"{self.kind.title.lower()} (as given)"
        strength = f" {self.kind.named('FC strength is')} the mean {averaged} with all other regions."
        return (
            f"{listed(in_full)} of {which}, {scale}{over_all}.{entanglement}"
            f"{strength if FC_STRENGTH in self.values else ''} Diamonds mark hubs by {measures[0].short}, "
            f"{int(self.hubs.sum())} in all: {options.hubs_are}.{self.group.words if self.group else ''}"
        )

    def on_paper(self, style: "PaperStyle", *, screen: draw.Drawing) -> draw.Drawing:
        """One panel per measure also where regions are so narrow that curves would hide each other."""
        narrow = len(self.order.order) > style.width_mm / _NARROWEST_MM
        if len(self.values) == 1 or not (narrow or len(screen.panels) > 1):
            return screen
        return replace(
            screen,
            panels=self.panels(apart=True, lines=True),
            aspect=0.29,
            caption=f"{screen.caption} Vertical lines mark the same hubs in all panels.",
        )


@figure("hub_curves", "Hub curves", takes=HubCurvesOptions)
def hub_curves(measured: "Measured", options: HubCurvesOptions) -> draw.Drawing:
    """Several hub measures over regions, with the subject's group behind where that is asked for."""
    if not options.measures:
        raise InputError("Choose at least one hub measure.")
    subject, kind = measured.subject, measured.kind
    found = measured.hub_table(options, options.measures)
    suffix = "" if options.scale == "raw" else f"_{options.scale}"
    curves = _Curves(
        options,
        kind,
        measured.atlas.regions,
        {key: with_gaps(found[f"{key}{suffix}"].to_numpy(), subject) for key in options.measures},
        found[f"{options.measures[0]}_hub"].to_numpy(),
        _regions_shown(measured, options),
        _group_band(measured, options) if options.group else None,
    )
    apart = options.scale == "raw" or options.group
    remark = _strength_remark(measured, options.measures) + gap_words(subject)
    screen = draw.of_subject(
        subject,
        f"{curves.words}{remark}",
        title=f"{kind.named(listed([HUB_MEASURES[key].short for key in options.measures]))} of {subject.id}",
        panels=curves.panels(apart=apart),
        numbers=curves.numbers,
        legend="above",
        together=True,
        height=640 if apart else 460,
        aspect=0.5,
        methods=hub_methods(measured, options, options.measures),
    )
    return replace(screen, on_paper=partial(curves.on_paper, screen=screen))


def _regions_shown(measured: "Measured", options: HubCurvesOptions) -> RegionOrder:
    """The regions that are drawn, all or some at random, in the order that was asked for."""
    atlas = measured.atlas
    region_number(atlas, options.region)  # says so where there is no such region
    if by := _by_measure().get(options.order):
        values = measured.hub_table(options, (by.key,))[by.key].to_numpy()
        order = order_by_value(values, lowest_first=by.low_in_hubs)
    else:
        order = regions_in_order(atlas, options.order)
    if not 0 < options.n_random < atlas.n_regions:
        return order
    return only_regions(order, random_regions(atlas.n_regions, options.n_random, seed=options.seed))


@dataclass(frozen=True)
class _HubScatterOptions(HubOptions):
    """Which measure node entanglement is set against."""

    measure: str = option(NEFF, title="Hub measure", help="The measure that NE is compared with.", choices=HUB_MEASURES)
    region: str = region_option()


@figure("hub_scatter", "NE against another measure", takes=_HubScatterOptions)
def hub_scatter(measured: "Measured", options: _HubScatterOptions) -> draw.Drawing:
    """Node entanglement against another measure of one subject, one point per region."""
    subject, regions = measured.subject, measured.atlas.regions
    picked = region_number(measured.atlas, options.region)
    own_table = measured.hub_table(options, (NE,))
    other = measured.hubs(options.perturbation).values(options.gamma, (options.measure,))[options.measure]
    x, y, hubs = np.asarray(other, dtype=np.float64), own_table[NE].to_numpy(), own_table[f"{NE}_hub"].to_numpy()
    about = HUB_MEASURES[options.measure].in_words_of(measured.kind)
    hover = f"%{{text}}\n{about.short} %{{x:.3g}}\nNE %{{y:.3g}} bits"
    marks: list[draw.Mark] = [
        draw.Points(
            name=name,
            colour=colour,
            symbol=symbol,
            opacity=0.75,
            x=x[own],
            y=y[own],
            hover=hover,
            texts=[regions[region] for region in own],
            ids=own,
        )
        for name, own, colour, symbol in (
            ("other regions", np.flatnonzero(~hubs), HUB_MEASURES[NE].colour, "circle"),
            ("hubs by NE", np.flatnonzero(hubs), HUB_COLOUR, "diamond"),
        )
    ]
    if picked is not None:
        marks.append(_ring(regions[picked], x[picked], y[picked], picked, hover=hover))
    found = measured.hub_correlation(options, options.measure)
    opening = f"NE at γ = {options.gamma:g}/mean(λ) against {about.short}, one point per region."
    reach = f"{signed(found.low)} to {signed(found.high)}"
    if np.isnan(found.rho):
        correlation = "ρ is not defined"
        agreement = f"Spearman's ρ is not defined: NE or {about.short} is the same in all regions with signal."
    else:
        correlation = f"ρ = {signed(found.rho)}, 95 % interval {reach}"
        agreement = (
            f"Spearman's ρ = {signed(found.rho)}, 95 % bootstrap interval {reach}, over the {found.n_regions} regions "
            "with signal of this subject: it says nothing about other subjects, and neighbouring regions are not "
            f"independent.{_strength_remark(measured, (options.measure,))}"
        )
    return draw.of_subject(
        subject,
        f"{opening} {agreement}",
        title=f"NE against {about.short}",
        subtitle=correlation,
        panels=[draw.Panel(marks=marks, x=draw.Axis(title=about.axis), y=draw.Axis(title=HUB_MEASURES[NE].axis))],
        numbers=draw.table({"region": regions, options.measure: x, NE: y, f"{NE}_hub": hubs}),
        height=440,
        methods=hub_methods(measured, options, (NE, options.measure)),
    )


@dataclass(frozen=True)
class _GammaSweepOptions(EntanglementOptions):
    """Over which diffusion times, and with which measures, node entanglement is compared."""

    measures: tuple[str, ...] = option(
        COMPARED[1:],
        title="Measures",
        help="Measures that NE is compared with; those that depend on γ themselves are left out.",
        choices=HUB_MEASURES,
        fewest=1,
    )
    gammas: tuple[float, ...] = gammas_option()


def steady_over_gamma(measures: Sequence[str]) -> tuple[str, ...]:
    """Those measures that do not depend on γ themselves, with which NE is compared over γ."""
    return tuple(key for key in measures if not HUB_MEASURES[key].depends_on_gamma)


@figure("gamma_sweep", "Agreement over γ", takes=_GammaSweepOptions)
def gamma_sweep(measured: "Measured", options: _GammaSweepOptions) -> draw.Drawing:
    """How well node entanglement agrees with other measures over diffusion times, in one subject and in a study."""
    from biobgt.results.studies import study_sweep

    subject, kind = measured.subject, measured.kind
    measures = steady_over_gamma(options.measures)
    if not measures:
        raise InputError(
            "Agreement over γ compares NE with measures that do not depend on γ, and none of those named is one. "
            f"Name another, such as {COMPARED[1]}."
        )
    how: dict[str, Any] = {"perturbation": options.perturbation, "subject": subject, "kind": kind}
    study = study_sweep(measured.settings, measured.atlas, **how)
    sweep = measured.hub_sweep(options.perturbation, measures, options.gammas)
    about = {key: HUB_MEASURES[key].in_words_of(kind) for key in measures}
    chosen = draw.Curve(
        name=f"γ = {options.gamma:g}", colour=CHOSEN_COLOUR, x=[options.gamma] * 2, y=[-1, 1], dash="dot"
    )
    behind = [mark for one in about.values() for mark in _study_marks(study.agreement, one)]
    panel = draw.Panel(
        marks=[*behind, chosen, *(_subject_curve(sweep, one) for one in about.values())],
        x=draw.Axis(title=draw.GAMMA_TITLE, log=True, ticks=draw.GAMMA_TICKS),
        y=draw.Axis(title="Spearman's ρ with NE", limits=(-1.02, 1.02), zero=True),
    )

    def numbers() -> "pd.DataFrame":
        import pandas as pd

        numbers = sweep.assign(of=subject.id)
        if study.agreement is None:
            return numbers
        behind = study.agreement.rename(columns={"mean": "spearman", "sd": "spearman SD"}).assign(of="ABIDE mean")
        return pd.concat([numbers, behind], ignore_index=True)

    methods = hub_methods(measured, options, (NE, *measures))
    if study.agreement is not None:
        methods += ("Mean and SD behind agreement over γ are of the subjects of ABIDE [@dimartino2014].",)
    rhos = [f"{signed(measured.hub_correlation(options, key).rho)} with {one.short}" for key, one in about.items()]
    return draw.of_subject(
        subject,
        f"Spearman's ρ of NE ({options.perturbation}, |ΔS|) {listed([f'with {one.short}' for one in about.values()])} "
        f"over regions, at diffusion times γ in units of 1/mean(λ). At the chosen γ = {options.gamma:g}, marked by the "
        f"dotted line, ρ is {' and '.join(rhos)}. {study.note}{_strength_remark(measured, measures)}",
        title=f"Agreement over γ, {subject.id}",
        panels=[panel],
        numbers=numbers,
        height=500,
        methods=methods,
    )


def _study_marks(study: "pd.DataFrame | None", about: HubMeasure) -> list[draw.Mark]:
    """The study's mean ± SD of the agreement with a measure; nothing where the study has none."""
    rows = None if study is None else study[study["reference"] == HUB_MEASURES[about.key].title]
    if rows is None or rows.empty:
        return []
    gammas, mean, sd = (rows[name].to_numpy() for name in ("gamma", "mean", "sd"))
    look: dict[str, Any] = {"name": f"{about.short}, ABIDE mean ± SD", "colour": about.colour, "x": gammas}
    hover = f"ABIDE, {about.short}\nγ %{{x}}: %{{y:.2f}} ± %{{text}}"
    texts = [f"{one:.2f}" for one in sd]
    return [
        draw.Band(low=mean - sd, high=mean + sd, **look),
        draw.Curve(y=mean, dash="dash", thin=True, hover=hover, texts=texts, **look),
    ]


def _subject_curve(sweep: "pd.DataFrame", about: HubMeasure) -> draw.Curve:
    rows = sweep[sweep["reference"] == HUB_MEASURES[about.key].title]
    return draw.Curve(
        name=f"{about.short}, this subject",
        colour=about.colour,
        x=rows["gamma"].to_numpy(),
        y=rows["spearman"].to_numpy(),
        symbol=about.symbol,
        hover=f"This subject, {about.short}\nγ %{{x}}: ρ = %{{y:.2f}}",
    )


@dataclass(frozen=True)
class _HubBrainOptions(HubOptions):
    """By which measure regions are sized, and which of them are hubs."""

    measure: str = option(NE, title="Hub measure", help="The measure that is shown in the brain.", choices=HUB_MEASURES)
    brain: BrainKind = brain_option()


@figure("hub_brain", "Hubs in the brain", takes=_HubBrainOptions)
def hub_brain(measured: "Measured", options: _HubBrainOptions) -> draw.Drawing:
    """Regions in the brain, sized by a hub measure: hubs stand out and the strongest are named, others are grey."""
    subject, key, painted = measured.subject, options.measure, options.brain != NODES
    brain = Brain.of(measured.atlas, options.brain)
    found = measured.hub_table(options.part(HubOptions), (key,))
    values, ranks = (with_gaps(found[column].to_numpy(float), subject) for column in (key, f"{key}_rank"))
    hubs = found[f"{key}_hub"].to_numpy(bool)
    strongest = [int(region) for region in np.argsort(ranks, kind="stable") if hubs[region]][:MOST_NAMED]
    about = HUB_MEASURES[key].in_words_of(measured.kind)
    hub, other, none = f"hubs by {about.short}", "other regions", "no data"
    groups = [none if np.isnan(rank) else hub if is_hub else other for rank, is_hub in zip(ranks, hubs, strict=True)]
    brain = replace(
        brain,
        sizes=-values if about.low_in_hubs else values,
        values=ranks,
        groups=None if painted else groups,  # a cortex has no sizes, so that its colours are what is measured
        group_colours={none: draw.GAP_COLOUR, other: PALE_GREY, hub: HUB_COLOUR},
        ranked=painted,
        quantity=f"rank by {about.short}",
        named=strongest,
    )

    columns = {"region": brain.regions, **brain.places, key: values, f"{key}_rank": ranks, f"{key}_hub": hubs}

    at = f" at γ = {options.gamma:g}/mean(λ)" if key == NE else ""
    look = "colour is the rank" if painted else f"size is {about.short}"

    def caption(where: str) -> str:
        named = f"orange for the {int(hubs.sum())} {hub}{at} ({options.hubs_are}) and grey for the others"
        colour = f"the rank by {about.short}{at} ({RANK_1})" if painted else named
        said = brain_caption(brain, subject, where, colour=colour, size=f"{about.short} itself")
        names = f" The strongest: {', '.join(brain.regions[region] for region in strongest)}." if strongest else ""
        return f"{said}{names}{brain.left_out}{gap_words(subject)}"

    return in_brain(
        brain,
        caption,
        title=f"Hubs of {subject.id}",
        line=f"{int(hubs.sum())} {hub}{at}: {options.hubs_are}; the {look}",
        simulated=subject.simulated,
        numbers=lambda: draw.table(columns)().astype({f"{key}_rank": "Int64"}),
        methods=hub_methods(measured, options, (key,)),
    )


# The paper's five, by their names there.
PAPERS_FIVE = {"degree": "DC", "betweenness": "BC", "closeness": "CC", "eigenvector": "EC", NE: "NE"}


@figure(
    "five_brains",
    "Five hub measures in the brain",
    takes=EntanglementOptions,
    least_mm=55,
    on_paper_only=True,  # five brains to be turned are too many for a browser
)
def five_brains(measured: "Measured", options: EntanglementOptions) -> draw.Drawing:
    """The paper's five hub measures, each in a brain of its own, on one colour scale."""
    subject, plain = measured.subject, Brain.of(measured.atlas, NODES, quantity="z-score over regions")
    found = measured.hub_table(HubOptions(options.gamma, options.perturbation), tuple(PAPERS_FIVE))
    values = {key: found[f"{key}_z"].to_numpy() for key in PAPERS_FIVE}
    known = np.concatenate([z[np.isfinite(z)] for z in values.values()])
    limits = (float(known.min()), float(known.max())) if len(known) else None
    named = {PAPERS_FIVE[key]: z for key, z in values.items()}
    names = ", ".join(f"{name} ({HUB_MEASURES[key].title})" for key, name in PAPERS_FIVE.items())
    return draw.of_subject(
        subject,
        f"{names}, as z-scores over regions in {GLASS_BRAIN}. Larger and redder is higher, on one colour scale for "
        f"all. NE is |ΔS| at γ = {options.gamma:g}/mean(λ), perturbation {options.perturbation}.{plain.left_out}",
        title=f"Five hub measures of {subject.id}",
        panels=[
            draw.Panel(
                title=f"{PAPERS_FIVE[key]}: {HUB_MEASURES[key].title}",
                marks=[replace(plain, sizes=z, values=z, limits=limits)],
            )
            for key, z in values.items()
        ],
        numbers=draw.table({"region": plain.regions, **plain.places, **named}),
        methods=hub_methods(measured, options, tuple(PAPERS_FIVE)),
    )


def little_strength_reason(measured: "Measured") -> str:
    """Say the same with its reason and with the criterion, for the page; nothing where FC strength has enough."""
    if not (sentence := _strength_remark(measured).strip()):
        return ""
    from biobgt.hubs.reliability import ABIDE, CNI_2019, study_people

    regressed, others = (f"all {study_people()[cohort]} {cohort} subjects" for cohort in (ABIDE, CNI_2019))
    return (
        f"{sentence} FC strength is the mean over all connections of a region, in which positive and negative "
        f"connections then cancel out. This note appears below {LITTLE_MEAN_CONNECTIVITY:g}: {regressed}, with "
        f"global-signal regression, are below it, and {others}, without, are above."
    )
