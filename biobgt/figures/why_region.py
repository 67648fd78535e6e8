"""Why this region? What node entanglement compares for one region: its surroundings, the spectra, and the entropies.

Each figure draws a part of one :class:`biobgt.hubs.region.RegionExplanation`, and :func:`story_sentences` tells it.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biobgt.base.options import option
from biobgt.base.wording import counted
from biobgt.data.graph import ESTIMATED, KINDS
from biobgt.figures import drawing as draw
from biobgt.figures.hubs import CHOSEN_COLOUR, GROUP_COLOUR, HUB_COLOUR, gammas_option, hub_methods
from biobgt.figures.regions import region_number, region_option
from biobgt.figures.register import figure
from biobgt.hubs.measures import GAMMAS, HUB_MEASURES, NE, HubOptions

if TYPE_CHECKING:
    from biobgt.data.graph import ConnectivityKind
    from biobgt.hubs.region import RegionExplanation
    from biobgt.results.measured import Measured

MOST_DRAWN = 16  # neighbours: more names than these would lie on one another
_BEFORE_COLOUR, _AFTER_COLOUR = HUB_MEASURES[NE].colour, HUB_COLOUR


@dataclass(frozen=True)
class _RegionOptions(HubOptions):
    """Which region is asked about."""

    region: str = region_option(help="The region to explain, by its name; by default the one with the highest NE.")


@dataclass(frozen=True)
class _EntropyOptions(_RegionOptions):
    """Over which diffusion times its entropies are shown."""

    gammas: tuple[float, ...] = gammas_option()


@dataclass(frozen=True)
class _SurroundingsOptions(_RegionOptions):
    """Whether its surroundings are shown as measured or perturbed."""

    perturbed: bool = option(False, title="Perturbed", help="The surroundings after the perturbation of the region.")


def story_of(measured: "Measured", options: _RegionOptions) -> "RegionExplanation":
    """The story of the region that is named, or of the one with the highest NE where none is."""
    region = region_number(measured.atlas, options.region)
    if region is None:
        region = measured.strongest_hub(options)
    gammas = options.gammas if isinstance(options, _EntropyOptions) else GAMMAS
    return measured.explain_region(options, region, gammas)


def _drawing(
    measured: "Measured", options: _RegionOptions, panels: list[draw.Panel], said: str, method: str, **about: Any
) -> draw.Drawing:
    """A figure of one region's story; ``said`` is its caption behind whose it is, ``method`` a sentence of its own."""
    methods = (*hub_methods(measured, options, (NE,)), method)
    return draw.of_subject(measured.subject, said, panels=panels, methods=methods, **about)


@figure("region_surroundings", "Surroundings of a region", takes=_SurroundingsOptions, least_mm=75)
def region_surroundings(measured: "Measured", options: _SurroundingsOptions) -> draw.Drawing:
    """A region in the middle of its neighbours, with the connections among them, as measured or perturbed."""
    story = story_of(measured, options)
    around, shown = story.neighbourhood, slice(0, MOST_DRAWN + 1)
    members = around.members[shown]
    names = [measured.atlas.regions[member] for member in members]
    before, after = around.before[shown, shown], around.after[shown, shown]
    first, second = np.nonzero(np.triu((before != 0) | (after != 0)))
    columns = {
        "region": [names[i] for i in first],
        "other region": [names[i] for i in second],
        "weight as measured": before[first, second],
        "weight perturbed": after[first, second],
    }
    circle = draw.Surroundings(
        names=names,
        ids=members,
        weights=after if options.perturbed else before,
        largest=float(max(around.before.max(), around.after.max())),  # the same before and after
        colours=(CHOSEN_COLOUR, _BEFORE_COLOUR, GROUP_COLOUR),
    )
    across, up = draw.Axis(hidden=True, limits=(-2.5, 2.5)), draw.Axis(hidden=True, limits=(-1.25, 1.25))
    return _drawing(
        measured,
        options,
        [draw.Panel(marks=[circle], x=across, y=up)],
        _surroundings_caption(story, perturbed=options.perturbed),
        "A region's surroundings are the regions it is connected with, and the connections among all of these.",
        title=f"{story.name}: {'perturbed' if options.perturbed else 'as measured'}",
        numbers=draw.table(columns),
        legend="none",
        height=380,
    )


def _surroundings_caption(story: "RegionExplanation", *, perturbed: bool) -> str:
    """Who is drawn, and what the perturbation did."""
    around = story.neighbourhood
    drawn = min(around.n_neighbours, MOST_DRAWN)
    some = f"the {drawn} strongest of its {around.n_neighbours} neighbours"
    who = some if drawn < around.n_neighbours else f"its {counted(drawn, 'neighbour')}"
    if not perturbed:
        done = "as measured"
    elif around.unchanged:
        done = "after the perturbation, which changes nothing here"
    elif story.perturbation == "control":
        done = "after the perturbation: every pair is connected with the same weight"
    else:
        done = "after the perturbation: it has lost all its connections"
    return (
        f"{story.name} in the middle and {who} around it, strongest first from the top, {done}. Blue lines are its own "
        "connections, grey ones those among its neighbours; thicker is stronger."
    )


@figure("region_spectra", "Laplacian spectra of a region", takes=_RegionOptions)
def region_spectra(measured: "Measured", options: _RegionOptions) -> draw.Drawing:
    """The Laplacian eigenvalues before and after a region's perturbation, and by how much each moves."""
    story = story_of(measured, options)
    before, after = story.spectrum_before, story.spectrum_after
    x, change = np.arange(1, len(before) + 1), after - before

    number = draw.Axis(title="eigenvalues from smallest to largest", limits=(0, len(x) + 1))
    spectra = [
        _line("as measured", x, before, _BEFORE_COLOUR),
        _line("perturbed", x, after, _AFTER_COLOUR, dash="dash", thin=True),
    ]
    changes = [draw.Bars(name="change", colour=CHOSEN_COLOUR, x=x, y=change, hover="change: %{y:.3g}")]
    return _drawing(
        measured,
        options,
        [
            draw.Panel(marks=spectra, x=number, y=draw.Axis(title="eigenvalue λ", limits=(0, None)), height=0.6),
            draw.Panel(marks=changes, x=number, y=draw.Axis(title="change of λ", zero=True), height=0.4),
        ],
        f"{story.n_regions} eigenvalues λ of the graph's Laplacian as measured (solid) and after the perturbation of "
        f"{story.name} (dashed), and below by how much each changes. Small λ are slow, brain-wide ways in which "
        "activity evens out, large λ fast and local ones.",
        "Eigenvalues of the Laplacian before and after the perturbation are paired from smallest to largest.",
        title=f"{story.name}: Laplacian spectra",
        numbers=draw.table({"eigenvalue": x, "as measured": before, "perturbed": after, "change": change}),
        legend="above",
        together=True,
        height=440,
        aspect=0.32,
    )


def _line(name: str, x: Any, y: Any, colour: str, *, unit: str = "", **look: Any) -> draw.Curve:
    return draw.Curve(name=name, x=x, y=y, colour=colour, hover=f"{name}: %{{y:.4g}}{unit}", **look)


@figure("region_entropy", "Entropy over γ of a region", takes=_EntropyOptions)
def region_entropy(measured: "Measured", options: _EntropyOptions) -> draw.Drawing:
    """The entropies before and after a region's perturbation over γ, and their difference."""
    story = story_of(measured, options)
    x, bits = story.gammas, " bits"
    columns = {
        "gamma": x,
        "entropy as measured (bits)": story.entropy_before,
        "entropy perturbed (bits)": story.entropy_after,
        "change (bits)": story.change,
        "change of the median region (bits)": story.typical_change,
    }
    entropies = [
        _line("S(G), as measured", x, story.entropy_before, _BEFORE_COLOUR, unit=bits),
        _line("S(Gᵢ), perturbed", x, story.entropy_after, _AFTER_COLOUR, unit=bits, dash="dash", thin=True),
    ]
    changes = [
        _line("|ΔS| of this region", x, story.change, CHOSEN_COLOUR, unit=bits),
        _line("|ΔS|, median region", x, story.typical_change, GROUP_COLOUR, unit=bits, dash="dashdot", thin=True),
    ]
    chosen = draw.Rule(x=story.gamma, colour=GROUP_COLOUR, dash="dot")
    gammas = draw.Axis(title=draw.GAMMA_TITLE, log=True, ticks=draw.GAMMA_TICKS)
    return _drawing(
        measured,
        options,
        [
            draw.Panel(marks=[chosen, *entropies], x=gammas, y=draw.Axis(title="entropy (bits)")),
            draw.Panel(marks=[chosen, *changes], x=gammas, y=draw.Axis(title="|ΔS| (bits)", limits=(0, None))),
        ],
        f"spectral entropy over the diffusion time γ, as measured and after the perturbation of {story.name}; below, "
        "their difference |ΔS|, which is node entanglement, beside the median of all regions. The dotted line marks "
        f"the chosen γ = {story.gamma:g}/mean(λ).",
        "The change of a typical region is the median of |ΔS| over all regions, at each γ on its own.",
        title=f"{story.name}: entropy over γ",
        numbers=draw.table(columns),
        together=True,
        height=500,
        aspect=0.32,
    )


def story_sentences(story: "RegionExplanation", kind: "ConnectivityKind" = KINDS[ESTIMATED]) -> tuple[str, ...]:
    """Tell why node entanglement gives a region the value it has, one thought per sentence.

    Parameters
    ----------
    story : RegionExplanation
    kind : ConnectivityKind
        Of the connectivity, by whose words measures are called.
    """
    return (
        _surroundings(story),
        _perturbation(story),
        _spectra(story),
        _entropies(story),
        _over_gamma(story),
        _standings(story, kind),
    )


def _surroundings(story: "RegionExplanation") -> str:
    around = story.neighbourhood
    if around.n_neighbours == 0:
        return f"{story.name} has no neighbours: no connection of it passed the threshold."
    strongest = "" if around.n_neighbours == 1 else f", the strongest connection being {around.before[0, 1]:.2g}"
    return (
        f"{story.name} has {counted(around.n_neighbours, 'neighbour')}{strongest}. Among these "
        f"{len(around.members)} regions {around.n_connected:,} of {counted(around.n_pairs, 'pair')} "
        f"{'is' if around.n_connected == 1 else 'are'} connected, with a total weight of {around.total_weight:.3g}."
    )


def _perturbation(story: "RegionExplanation") -> str:
    around = story.neighbourhood
    if around.n_neighbours == 0:
        return "There is nothing to perturb, so its node entanglement is 0."
    if around.unchanged:
        return "These surroundings are already a clique with equal weights, so replacing them by one changes nothing."
    if story.perturbation == "control":
        return (
            "Replacing its surroundings by a clique of equal weights with the same total connects all "
            f"{around.n_pairs:,} pairs with weight {around.after[0, 1]:.3g} each: the more uneven they were, the more "
            "changes."
        )
    lost = float(around.before[0].sum())
    return (
        f"Removing it takes away {counted(around.n_neighbours, 'connection')} with a total weight of {lost:.3g}; its "
        "neighbours keep theirs among each other."
    )


def _spectra(story: "RegionExplanation") -> str:
    if not story.n_changed:
        return f"None of the graph's {story.n_regions} Laplacian eigenvalues changes."
    change = story.spectrum_after - story.spectrum_before
    most = int(abs(change).argmax())
    return (
        f"This changes {story.n_changed} of the graph's {story.n_regions} Laplacian eigenvalues, the rates at which "
        f"activity that spreads along connections evens out, most of all one from {story.spectrum_before[most]:.3g} to "
        f"{story.spectrum_after[most]:.3g}."
    )


def _entropies(story: "RegionExplanation") -> str:
    before, after = story.chosen_entropies
    standing = story.standings[NE]
    where = f"rank {standing.rank} of {story.n_regions}, {'a hub' if standing.hub else 'not a hub'} by the chosen rule"
    if after == before:
        return f"At γ = {story.gamma:g}/mean(λ) the entropy stays at {before:.4f} bits: node entanglement 0, {where}."
    way = "up" if after > before else "down"
    digits = max(4, _digits(abs(after - before)))
    return (
        f"At γ = {story.gamma:g}/mean(λ) the entropy goes {way} from {before:.{digits}f} to {after:.{digits}f} bits. "
        f"The difference, {_bits(abs(after - before))}, is its node entanglement: {where}."
    )


def _over_gamma(story: "RegionExplanation") -> str:
    change = story.change
    if not change.any():
        return "That holds at every γ."
    top = int(change.argmax())
    typical = float(story.typical_change[top])
    beside = f", {change[top] / typical:.1f} times that of the median region" if typical > 0 else ""
    return f"Over all γ shown the difference is largest at γ = {story.gammas[top]:g}: {_bits(change[top])}{beside}."


def _standings(story: "RegionExplanation", kind: "ConnectivityKind") -> str:
    others = {measure: standing for measure, standing in story.standings.items() if measure != NE}
    named = {measure: HUB_MEASURES[measure].in_words_of(kind).title for measure in others}
    ranks = ", ".join(f"{standing.rank} by {named[measure]}" for measure, standing in others.items())
    agreeing = sum(standing.hub for standing in others.values())
    return f"By the other measures it has rank {ranks}; {agreeing} of these {len(others)} call it a hub."


def _digits(value: float) -> int:
    """Decimals that show the first two figures that are not zero."""
    return max(0, 1 - math.floor(math.log10(value))) if value > 0 else 0


def _bits(value: float) -> str:
    return f"{value:.{_digits(value)}f} bit"
