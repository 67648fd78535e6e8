"""Why this region, in words: sentences built from the numbers of its story."""

import math
from typing import TYPE_CHECKING

from biobgt.graph import ESTIMATED, KINDS
from biobgt.hubs.measures import HUB_MEASURES, NE
from biobgt.wording import counted

if TYPE_CHECKING:
    from biobgt.graph import ConnectivityKind
    from biobgt.hubs.region_story import RegionStory


def story_sentences(story: "RegionStory", kind: "ConnectivityKind" = KINDS[ESTIMATED]) -> tuple[str, ...]:
    """Tell why node entanglement gives a region the value it has, one thought per sentence.

    Parameters
    ----------
    story : RegionStory
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


def _surroundings(story: "RegionStory") -> str:
    around = story.neighbourhood
    if around.n_neighbours == 0:
        return f"{story.name} has no neighbours: no connection of it passed the threshold."
    strongest = "" if around.n_neighbours == 1 else f", the strongest connection being {around.before[0, 1]:.2g}"
    return (
        f"{story.name} has {counted(around.n_neighbours, 'neighbour')}{strongest}. Among these "
        f"{len(around.members)} regions {around.n_connected:,} of {counted(around.n_pairs, 'pair')} "
        f"{'is' if around.n_connected == 1 else 'are'} connected, with a total weight of {around.total_weight:.3g}."
    )


def _perturbation(story: "RegionStory") -> str:
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


def _spectra(story: "RegionStory") -> str:
    if not story.n_changed:
        return f"None of the graph's {story.n_regions} Laplacian eigenvalues changes."
    change = story.spectrum_after - story.spectrum_before
    most = int(abs(change).argmax())
    return (
        f"This changes {story.n_changed} of the graph's {story.n_regions} Laplacian eigenvalues, the rates at which "
        f"activity that spreads along connections evens out, most of all one from {story.spectrum_before[most]:.3g} to "
        f"{story.spectrum_after[most]:.3g}."
    )


def _entropies(story: "RegionStory") -> str:
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


def _over_gamma(story: "RegionStory") -> str:
    change = story.change
    if not change.any():
        return "That holds at every γ."
    top = int(change.argmax())
    typical = float(story.typical_change[top])
    beside = f", {change[top] / typical:.1f} times that of the median region" if typical > 0 else ""
    return f"Over all γ shown the difference is largest at γ = {story.gammas[top]:g}: {_bits(change[top])}{beside}."


def _standings(story: "RegionStory", kind: "ConnectivityKind") -> str:
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
