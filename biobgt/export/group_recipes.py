"""Recipes of the modules of two groups: each group's in the brain, and the flow of regions from one to the other."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from biobgt.errors import InputError
from biobgt.export.hub_recipes import places_of
from biobgt.export.making import MadeFigure, Order, Recipe
from biobgt.export.module_recipes import HOW_TO_NAME, called_modules, module_options, module_words
from biobgt.export.requests import Plain
from biobgt.figures import group_flow_caption, module_colours, paper
from biobgt.figures.brain import GLASS_BRAIN
from biobgt.figures.module_captions import group_brain_caption
from biobgt.figures.paper.style import PaperStyle
from biobgt.groups.design import confounding_notes
from biobgt.modules.difference import UNADJUSTED, ModuleDifference, group_module_difference

_TWO_GROUPS: Mapping[str, Plain] = {**HOW_TO_NAME, "first": "", "second": ""}


def _difference(order: Order) -> tuple[tuple[str, str], ModuleDifference]:
    """Both groups, and their modules compared; the second group's have the numbers of the first's."""
    cohort, settings, options = order.measured.cohort, order.request.settings, order.options
    groups = options["first"], options["second"]
    if groups[0] == groups[1]:
        raise InputError("A comparison needs two different groups: name the first and the second.")

    def compare() -> ModuleDifference:
        members = [subject for group in groups for subject in cohort.group(group)]
        labels = {one.id: order.measured.labels(one, settings, module_options(order)) for one in members}
        return group_module_difference(cohort, groups, labels, seed=options["seed"])

    return groups, order.measured.keep(("difference", groups, settings, module_options(order)), compare)


def _words(order: Order, groups: tuple[str, str], found: ModuleDifference) -> dict[str, Any]:
    words = module_words(order)
    words["methods"] = (
        *words["methods"],
        f"The modules of {groups[0]} and {groups[1]} are the consensus over each group's subjects (Lancichinetti and "
        "Fortunato 2012). The mean adjusted mutual information (AMI; Vinh et al. 2010) of two subjects is "
        f"{found.within:.3f} within a group and {found.between:.3f} between groups; that difference has a permutation "
        f"p of {found.p:.3g} ({found.n_permutations:,} shuffles, seed {found.seed}; Alexander-Bloch et al. 2012). "
        f"Several recordings of one person count as one subject. "
        + " ".join((UNADJUSTED, *confounding_notes(order.measured.cohort, groups))),
    )
    words["citations"] = (*words["citations"], "lancichinetti2012", "vinh2010", "alexanderbloch2012")
    return words


def _flow(order: Order, style: PaperStyle) -> MadeFigure:
    atlas, simulated = order.measured.atlas, order.measured.cohort.simulated
    groups, found = _difference(order)
    names = [called_modules(atlas, order.options["labelling"], side) for side in (found.first, found.second)]
    figure = paper.module_flow(
        found.agreement.contingency,
        names[0],
        targets=names[1],
        matched={module: module for module in names[1]},
        sides=groups,
        title=f"Modules of {groups[0]} and {groups[1]}",
        simulated=simulated,
        style=style,
    )
    caption = group_flow_caption(groups, found.agreement, len(found.changed), simulated=simulated)
    numbers = pd.DataFrame({"region": atlas.regions, groups[0]: found.first, groups[1]: found.second})
    return MadeFigure(figure, numbers, caption, **_words(order, groups, found))


def _brain(order: Order, style: PaperStyle) -> MadeFigure:
    atlas, cohort, options = order.measured.atlas, order.measured.cohort, order.options
    places = places_of(atlas)
    groups, found = _difference(order)
    group = options["group"] or groups[0]
    if group not in groups:
        raise InputError(f"'{group}' is neither of the groups that are compared: name {groups[0]} or {groups[1]}.")
    labels = (found.first if group == groups[0] else found.second).tolist()
    names = called_modules(atlas, options["labelling"], labels)
    called = [names[label] if label else None for label in labels]
    figure = paper.glass_brain(
        places,
        atlas.regions,
        groups=called,
        group_colours={names[number]: colour for number, colour in module_colours(sorted(names)).items()},
        title=f"Modules of {group}",
        simulated=cohort.simulated,
        style=style,
    )
    numbers = pd.DataFrame({"region": atlas.regions}).assign(module=labels, name=[name or "" for name in called])
    numbers[["x", "y", "z"]] = places
    caption = group_brain_caption(
        group,
        groups[1] if group == groups[0] else groups[0],
        n_modules=len(names),
        n_subjects=found.n_subjects[groups.index(group)],
        n_regions=atlas.n_regions,
        where=GLASS_BRAIN,
        simulated=cohort.simulated,
    )
    return MadeFigure(figure, numbers, caption, **_words(order, groups, found))


GROUP_FIGURES: Mapping[str, Recipe] = {
    "group_module_brain": Recipe(
        "A group's modules in the brain", _brain, {**_TWO_GROUPS, "group": ""}, of_subject=False
    ),
    "group_module_flow": Recipe("Modules of two groups", _flow, _TWO_GROUPS, of_subject=False),
}
