"""Two groups of a cohort over all regions: their mean hub measure, their modules, how their connectivity differs."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from biobgt.base.arrays import FDR, FloatArray
from biobgt.base.colours import NEGATIVE, POSITIVE
from biobgt.base.options import option
from biobgt.base.wording import adjusted_for, capitalised, counted, not_ruled_out, percent
from biobgt.figures import drawing as draw
from biobgt.figures.brain import IN_NONE, NODES, Brain, Side, brains_beside, side_option
from biobgt.figures.connectivity import LARGEST_MATRIX_MM, matrix_panel
from biobgt.figures.connectogram import ConnectogramOptions, connectogram_panel, strongest_pairs
from biobgt.figures.groups import (
    ModuleComparisonOptions,
    compared_groups,
    compared_modules,
    connectivity_sentence,
    difference_caption,
    difference_methods,
    group_module_methods,
)
from biobgt.figures.hubs import HUB_COLOUR
from biobgt.figures.modules import in_modules
from biobgt.figures.regions import RegionOrderOptions, matrix_numbers, regions_in_order
from biobgt.figures.register import figure
from biobgt.figures.which_model import group_colour
from biobgt.groups.compare import HUBS, NETWORKS, Compared, ComparisonOptions
from biobgt.hubs.measures import HUB_MEASURES
from biobgt.inference.edges import FAMILY, EdgeOptions

if TYPE_CHECKING:
    from biobgt.results.measured import Measured

_Shown = Literal["difference", "d"]
_SHOWN = {"difference": "Difference", "d": "Effect size d"}


@dataclass(frozen=True)
class _GroupMeansOptions(ComparisonOptions, RegionOrderOptions):
    """Which groups are shown in which hub measure, over regions in which order."""

    of: Compared = option(HUBS, title="Compare", help="Only hubs are compared region by region.", choices=(HUBS,))


@figure("group_means", "Means of two groups", takes=_GroupMeansOptions, of_subject=False, least_mm=70)
def group_means(measured: "Measured", options: _GroupMeansOptions) -> draw.Drawing:
    """The mean of a hub measure in two groups over regions, with those in which they differ."""
    difference = compared_groups(measured, options.part(ComparisonOptions))
    tests, differs = difference.found.table, difference.differs
    atlas, about = measured.atlas, HUB_MEASURES[options.measure].in_words_of(measured.kind)
    drawn = regions_in_order(atlas, options.order)
    order, places = list(drawn.order), np.arange(atlas.n_regions)
    texts = [f"{atlas.regions[region]}\nd = {tests['d'][region]:.2f}, q = {tests['q'][region]:.2g}" for region in order]
    marks: list[draw.Mark] = []
    for group in options.groups:
        means = tests[f"mean_{group}"].to_numpy(float)[order]
        look: dict[str, Any] = {"name": group, "colour": group_colour(group), "texts": texts, "ids": order}
        marks.append(draw.Curve(x=places, y=means, hover=f"{group}: %{{y:.3g}}\n%{{text}}", **look))
    clear = np.flatnonzero(differs[order])
    if len(clear):
        higher = np.maximum(*(tests[f"mean_{group}"].to_numpy(float)[order] for group in options.groups))
        look = {"name": f"q ≤ {FDR:g}", "colour": HUB_COLOUR, "symbol": "diamond", "size": 9}
        marks.append(draw.Points(x=clear, y=higher[clear], ids=np.array(order)[clear], **look))
    first, second = options.groups
    return draw.Drawing(
        title=f"{about.heading} of {first} and {second}",
        simulated=difference.simulated,
        panels=[
            draw.Panel(
                marks=marks,
                x=draw.Axis(names=[atlas.regions[region] for region in order], order=drawn, title=drawn.title),
                y=draw.Axis(title=about.axis),
            )
        ],
        caption=(
            f"{difference.words} Curves are each group's mean, as measured; diamonds mark regions that differ at "
            f"that rate.{difference.remarks}"
        ),
        line=f"Mean {about.short} of {first} and {second}; diamonds: regions that differ at a false discovery rate of "
        f"{percent(FDR)}",
        numbers=difference.numbers,
        legend="above",
        together=True,
        height=460,
        aspect=0.5,
        methods=difference_methods(measured, options, difference.found),
    )


@dataclass(frozen=True)
class _MeanBrainsOptions(ComparisonOptions):
    """Which groups are shown in which hub measure, and from where their brains are seen."""

    of: Compared = option(HUBS, title="Compare", help="Only hubs are compared region by region.", choices=(HUBS,))
    side: Side = side_option()


@figure("group_mean_brains", "Means of two groups, in brains", takes=_MeanBrainsOptions, of_subject=False)
def group_mean_brains(measured: "Measured", options: _MeanBrainsOptions) -> draw.Drawing:
    """The mean of a hub measure in every region of two groups, in brains side by side."""
    plain = Brain.of(measured.atlas, NODES, side=options.side)
    difference = compared_groups(measured, options.part(ComparisonOptions))
    about, sizes = HUB_MEASURES[options.measure].in_words_of(measured.kind), difference.found.n_subjects
    means = {group: difference.found.table[f"mean_{group}"].to_numpy(float) for group in options.groups}
    known = np.concatenate([values[np.isfinite(values)] for values in means.values()])
    limits = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    brains = {
        f"{group} (n = {sizes[group]})": replace(
            plain, values=values, sizes=values, size_limits=limits, limits=limits, quantity=about.axis
        )
        for group, values in means.items()
    }
    first, second = options.groups
    return draw.Drawing(
        title=f"{about.heading} of {first} and {second}",
        simulated=difference.simulated,
        caption=(
            f"{difference.words} Brains show each group's mean, as measured: colour and size are {about.short}, on one "
            f"scale.{plain.left_out}{difference.remarks}"
        ),
        line=f"Mean {about.short} of {first} and {second} in every region, on one scale",
        numbers=difference.numbers,
        methods=difference_methods(measured, options, difference.found),
        **brains_beside(brains),
    )


@dataclass(frozen=True)
class _ModuleBrainsOptions(ModuleComparisonOptions):
    """Which groups are shown in their modules, and from where their brains are seen."""

    side: Side = side_option()


@figure("group_module_brains", "Modules of two groups, in brains", takes=_ModuleBrainsOptions, of_subject=False)
def group_module_brains(measured: "Measured", options: _ModuleBrainsOptions) -> draw.Drawing:
    """The modules that the people of each of two groups agree on, in brains side by side."""
    plain, (first, second) = Brain.of(measured.atlas, NODES, side=options.side), options.groups
    found = compared_modules(measured, options)
    modules = dict(zip(options.groups, (found.first, found.second), strict=True))
    none = IN_NONE if any(0 in own for own in modules.values()) else ""
    return draw.Drawing(
        title=f"Modules of {first} and {second}",
        simulated=measured.cohort.simulated,
        caption=f"{difference_caption(measured, options, found)} The second group's modules have the numbers and "
        f"colours of the first's with which they share the most regions{none}.{plain.left_out}",
        line=f"{len(found.changed)} of {counted(found.agreement.n_compared, 'region')} are in another module in "
        f"{second} than in {first}",
        numbers=draw.table({"region": measured.atlas.regions, **modules}),
        methods=group_module_methods(measured, options, found),
        **brains_beside(
            {
                f"{group} (n = {n})": in_modules(plain, measured.atlas, options.labelling, own)[0]
                for (group, own), n in zip(modules.items(), found.n_subjects, strict=True)
            }
        ),
    )


@dataclass(frozen=True)
class _ConnectivityDifferenceOptions(ComparisonOptions, RegionOrderOptions):
    """Which groups are compared, and what the colours of their difference are."""

    of: Compared = option(NETWORKS, title="Compare", help="Connectivity of regions.", choices=(NETWORKS,))
    shown: _Shown = option(
        "difference",
        title="Colour",
        help="The difference of the groups' means, or in residual standard deviations (d); both are adjusted.",
        shown=_SHOWN,
        link="connectivity_difference",
    )


@figure(
    "connectivity_difference",
    "Difference of connectivity",
    takes=_ConnectivityDifferenceOptions,
    of_subject=False,
    least_mm=55,
)
def connectivity_difference(measured: "Measured", options: _ConnectivityDifferenceOptions) -> draw.Drawing:
    """How two groups differ in every connection; nothing is tested."""
    from biobgt.groups.connections import connection_effects, connectivity_compared
    from biobgt.groups.features import plan_comparison

    found, (first, second), atlas = connection_effects(measured, options), options.groups, measured.atlas
    what = connectivity_compared(measured.cohort.kind)
    shown = found.difference if options.shown == "difference" else found.d
    known = np.abs(shown[np.isfinite(shown)])
    limit = (float(np.quantile(known, 0.99)) if len(known) else 0.0) or 1.0
    quantity = f"difference of {what}" if options.shown == "difference" else "effect size d"
    order = regions_in_order(atlas, options.order)
    sizes = ", ".join(f"{n} {group}" for group, n in found.n_subjects.items())
    people = "simulated people" if measured.cohort.simulated else "people"
    shades = draw.Shades(quantity=quantity, low=-limit, high=limit)
    planned = plan_comparison(measured.cohort, options)
    said = f"{capitalised(what)} of {second} minus {first}, {adjusted_for(found.covariates)}; no connection is tested"
    return draw.Drawing(
        title=f"Connectivity, {second} minus {first}",
        simulated=measured.cohort.simulated,
        panels=[matrix_panel(shown, atlas.regions, order, shades)],
        caption=(
            f"{said} ({people}: {sizes}). Colours are the {quantity}, red where higher in {second}, blue where lower; "
            f"one in a hundred pairs lies beyond the scale of ±{limit:.2g}. Pairs that are missing for somebody or the "
            f"same in all are gaps. {not_ruled_out(planned.covariates.absent)}"
        ),
        line=said,
        numbers=lambda: matrix_numbers(shown, atlas.regions, order),
        methods=(
            connectivity_sentence(measured),
            f"{second} and {first} ({sizes}) were compared connection by connection with a linear model, "
            f"{adjusted_for(found.covariates)}; connections were not tested. Several recordings of one person were "
            "averaged first.",
        ),
        height=520,
        square_mm=LARGEST_MATRIX_MM,
    )


@dataclass(frozen=True)
class _ConnectionRingOptions(ComparisonOptions, ConnectogramOptions):
    """Which groups are compared, and which of the connections in which they differ are drawn."""

    of: Compared = option(NETWORKS, title="Compare", help="Connectivity of regions.", choices=(NETWORKS,))
    chosen: Literal["strongest", "significant"] = option(
        "strongest",
        title="Connections",
        help="Those of the largest effect, of which none is tested; or those of components that a test finds (NBS).",
        shown={"strongest": "Strongest", "significant": "Significant"},
        link="connections_chosen",
    )
    edge_threshold: float = option(
        3.1, title="Edge threshold", help="Connections with |t| above it make components (NBS).", above=0
    )


@figure(
    "connection_differences",
    "Connections that differ, on a ring",
    takes=_ConnectionRingOptions,
    of_subject=False,
    least_mm=60,
)
def connection_differences(measured: "Measured", options: _ConnectionRingOptions) -> draw.Drawing:
    """The connections in which two groups differ, as chords among regions on a ring of networks."""
    from biobgt.groups.connections import connection_effects, connectivity_compared
    from biobgt.groups.features import plan_comparison

    found, (first, second), atlas = connection_effects(measured, options), options.groups, measured.atlas
    what = connectivity_compared(measured.cohort.kind)
    kept, said = found.d, "no connection is tested"
    tested: tuple[str, ...] = ()
    if options.chosen == "significant":
        kept, said, tested = _significant(measured, options, found.d)
    pairs = strongest_pairs(kept, options.connections)
    weights, names = kept[pairs[:, 0], pairs[:, 1]], np.asarray(atlas.regions, dtype=object)
    sizes = ", ".join(f"{n} {group}" for group, n in found.n_subjects.items())
    people = "simulated people" if measured.cohort.simulated else "people"
    drawn = f"{counted(len(pairs), 'connection')} of the largest effect" if len(pairs) else "none is drawn"
    line = f"{capitalised(said)}: {what} of {second} minus {first}, {adjusted_for(found.covariates)}; {drawn}"
    signs = {1: (f"higher in {second}", POSITIVE), -1: (f"lower in {second}", NEGATIVE)}
    ring = connectogram_panel(atlas.regions, regions_in_order(atlas, options.order), pairs, weights, "d", signs=signs)
    ends = {"region": names[pairs[:, 0]], "other region": names[pairs[:, 1]]}
    return draw.Drawing(
        title=f"Connections, {second} minus {first}",
        simulated=measured.cohort.simulated,
        panels=[ring],
        caption=f"{line} ({people}: {sizes}). A chord is thicker where the effect size d, in residual standard "
        f"deviations, is larger. {not_ruled_out(plan_comparison(measured.cohort, options).covariates.absent)}",
        line=line,
        numbers=draw.table(ends | {"d": weights, "difference": found.difference[pairs[:, 0], pairs[:, 1]]}),
        methods=(
            connectivity_sentence(measured),
            f"{second} and {first} ({sizes}) were compared connection by connection with a linear model, "
            f"{adjusted_for(found.covariates)}. Several recordings of one person were averaged first.",
            *tested,
        ),
        legend="above",
        height=520,
    )


def _significant(
    measured: "Measured", options: _ConnectionRingOptions, effects: FloatArray
) -> tuple[FloatArray, str, tuple[str, ...]]:
    """The effects of connections that a test finds, the others zero; what is said of it, and how it was done."""
    from biobgt.groups.connections import connections_tested

    how = EdgeOptions(edge_threshold=options.edge_threshold, permutations=options.n_permutations, seed=options.seed)
    tested = connections_tested(measured, options, how)
    passing = tested.networks.loc[tested.networks["p_family"] <= FAMILY] if len(tested.networks) else tested.networks
    own = tested.table[tested.table["component"].isin(passing.get("component", ()))]
    kept = np.zeros_like(effects)
    first, second = own["region"].to_numpy(int) - 1, own["other_region"].to_numpy(int) - 1
    kept[first, second] = kept[second, first] = effects[first, second]
    lowest = f", p {passing['p_family'].min():.2g}" if len(passing) else ""
    said = f"{counted(len(own), 'connection')} in {counted(len(passing), 'component')} found (NBS{lowest})"
    sentence = (
        f"Components of connections with |t| above {how.edge_threshold:g} were tested by their number of connections "
        f"[network-based statistic; @zalesky2010; {how.permutations:,} permutations, seed {how.seed}], at a "
        f"family-wise p of {FAMILY:g}; each group had its own variance, and the signs of residuals were turned."
    )
    return kept, said, (sentence,)
