"""Recipes of why this region: what node entanglement compares for one region of one subject.

They draw the story of :func:`biobgt.hubs.region_story.region_story`: the region's surroundings as measured and
perturbed, the Laplacian spectra of both graphs, and their entropies over γ.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from biobgt.export.hub_recipes import AT_GAMMA, GAMMAS, NE, hub_words, picked_region, subject_hubs
from biobgt.export.making import MadeFigure, Order, Recipe
from biobgt.export.requests import Plain
from biobgt.figures import paper
from biobgt.figures.paper.style import PaperStyle
from biobgt.figures.why_captions import entropy_caption, neighbourhood_caption, spectra_caption
from biobgt.figures.why_region import MOST_DRAWN
from biobgt.hubs.region_story import RegionStory, region_story

_REGION: Mapping[str, Plain] = {**AT_GAMMA, "region": ""}


def _story(order: Order) -> RegionStory:
    """The story of the region that is named, or of the one with the highest NE where none is."""
    options, measured = order.options, order.measured
    hubs = subject_hubs(order)
    region = picked_region(measured.atlas, options["region"])
    if region is None:
        region = int(hubs.table(options["gamma"])[f"{NE}_rank"].to_numpy().argmin())
    graph = measured.graph(order.subject, order.request.settings)
    gammas = options.get("gammas", (options["gamma"],))
    return region_story(graph, hubs, region, gamma=options["gamma"], gammas=gammas)


def _words(order: Order, sentence: str) -> dict[str, Any]:
    words = hub_words(order)
    words["methods"] = (*words["methods"], sentence)
    return words


def _surroundings(order: Order, style: PaperStyle) -> MadeFigure:
    subject, story, after = order.subject, _story(order), order.options["perturbed"]
    around, shown = story.neighbourhood, slice(0, MOST_DRAWN + 1)
    names = [order.measured.atlas.regions[member] for member in around.members[shown]]
    before_weights, after_weights = around.before[shown, shown], around.after[shown, shown]
    figure = paper.neighbourhood_drawing(
        names,
        after_weights if after else before_weights,
        largest=float(max(around.before.max(), around.after.max())),
        title=f"Surroundings of {story.name} {'perturbed' if after else 'as measured'}",
        simulated=subject.simulated,
        style=style,
    )
    first, second = np.nonzero(np.triu((before_weights != 0) | (after_weights != 0)))
    numbers = pd.DataFrame(
        {
            "region": [names[i] for i in first],
            "other region": [names[i] for i in second],
            "weight as measured": before_weights[first, second],
            "weight perturbed": after_weights[first, second],
        }
    )
    caption = neighbourhood_caption(story, after=after, subject=subject.id, simulated=subject.simulated)
    sentence = "A region's surroundings are the regions it is connected with, and the connections among all of these."
    return MadeFigure(figure, numbers, caption, **_words(order, sentence))


def _spectra(order: Order, style: PaperStyle) -> MadeFigure:
    subject, story = order.subject, _story(order)
    before, after = story.spectrum_before, story.spectrum_after
    title = f"Laplacian spectra, {story.name} perturbed"
    figure = paper.spectra_comparison(before, after, title=title, simulated=subject.simulated, style=style)
    numbers = pd.DataFrame(
        {
            "eigenvalue": np.arange(1, len(before) + 1),
            "as measured": before,
            "perturbed": after,
            "change": after - before,
        }
    )
    caption = spectra_caption(story, subject=subject.id, simulated=subject.simulated)
    sentence = "Eigenvalues of the Laplacian before and after the perturbation are paired from smallest to largest."
    return MadeFigure(figure, numbers, caption, **_words(order, sentence))


def _entropy(order: Order, style: PaperStyle) -> MadeFigure:
    subject, story = order.subject, _story(order)
    figure = paper.entropy_comparison(
        story.gammas,
        story.entropy_before,
        story.entropy_after,
        typical=story.typical_change,
        chosen=story.gamma,
        title=f"Entropy over γ, {story.name} perturbed",
        simulated=subject.simulated,
        style=style,
    )
    numbers = pd.DataFrame(
        {
            "gamma": story.gammas,
            "entropy as measured (bits)": story.entropy_before,
            "entropy perturbed (bits)": story.entropy_after,
            "change (bits)": story.change,
            "change of the median region (bits)": story.typical_change,
        }
    )
    caption = entropy_caption(story, subject=subject.id, simulated=subject.simulated)
    sentence = "The change of a typical region is the median of |ΔS| over all regions, at each γ on its own."
    return MadeFigure(figure, numbers, caption, **_words(order, sentence))


WHY_FIGURES: Mapping[str, Recipe] = {
    "region_surroundings": Recipe("Surroundings of a region", _surroundings, {**_REGION, "perturbed": False}),
    "region_spectra": Recipe("Laplacian spectra of a region", _spectra, _REGION),
    "region_entropy": Recipe("Entropy over γ of a region", _entropy, {**_REGION, "gammas": GAMMAS}),
}
