"""Recipes of modules: in the connectivity, in the brain, beside functional networks, by role, over the resolution."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from biobgt.analysis import ModuleOptions, SubjectModules, graph_for_modules
from biobgt.atlas import LABELLINGS, PAPER_MODULES, Atlas
from biobgt.export.connectome_recipes import QUANTITIES, connectome_citations, connectome_methods, matrix_numbers
from biobgt.export.hub_recipes import places_of
from biobgt.export.making import MadeFigure, Order, Recipe
from biobgt.export.references import named_labelling
from biobgt.export.requests import Plain
from biobgt.figures import (
    brain_caption,
    colour_limit,
    flow_caption,
    module_caption,
    module_colours,
    paper,
    resolution_caption,
    role_caption,
)
from biobgt.figures.brain import GLASS_BRAIN
from biobgt.figures.paper.module_flow import module_flow
from biobgt.figures.paper.module_heatmap import module_heatmap, module_order
from biobgt.figures.paper.module_sweep import resolution_curves
from biobgt.figures.paper.style import PaperStyle
from biobgt.modules import HUB_Z, module_agreement
from biobgt.modules.connections import strongest_within_modules
from biobgt.modules.naming import match_labels, module_names
from biobgt.modules.partition import Labels

HOW_TO_FIND: Mapping[str, Plain] = {"resolution": 1.0, "runs": 10, "seed": 0, "consensus": False, "signed": True}
HOW_TO_NAME: Mapping[str, Plain] = {**HOW_TO_FIND, "labelling": "dosenbach"}
_RESOLUTIONS = tuple(round(0.5 + 0.1 * step, 1) for step in range(16))


def module_options(order: Order) -> ModuleOptions:
    """How modules are sought."""
    return ModuleOptions(**{name: order.options[name] for name in HOW_TO_FIND})


def subject_modules(order: Order) -> SubjectModules:
    """The subject's modules."""
    return order.measured.modules(order.subject, order.request.settings, module_options(order))


def called_modules(atlas: Atlas, labelling: str, partition: Labels) -> dict[int, str]:
    """What modules are called, by the functional labels where the atlas has any."""
    labels = atlas.labels.get(labelling)
    return module_names(partition, labels and [label and PAPER_MODULES.get(label, label) for label in labels])


def module_words(order: Order) -> dict[str, Any]:
    """Methods and citations of modules."""
    options, settings, atlas = order.options, order.request.settings, order.measured.atlas
    kept = "their consensus (Lancichinetti and Fortunato 2012)" if options["consensus"] else "the one of highest Q"
    signs = ""
    if settings.sign == "signed":
        signs = (
            " Negative weights count against a module (Rubinov and Sporns 2011)."
            if options["signed"]
            else " Negative weights are left out."
        )
    methods = (
        f"Modules were found with the Louvain method (Blondel et al. 2008) as implemented in the Brain Connectivity "
        f"Toolbox for Python (Rubinov and Sporns 2010), at resolution {options['resolution']:g}; of "
        f"{options['runs']} runs (seed {options['seed']}), {kept} is shown.{signs}"
    )
    keys = ["blondel2008", "rubinov2010", *connectome_citations(atlas, settings)]
    keys += ["lancichinetti2012"] if options["consensus"] else []
    keys += ["rubinov2011"] if signs and options["signed"] else []
    return {"methods": (*connectome_methods(atlas, settings), methods), "citations": tuple(keys)}


def _heatmap(order: Order, style: PaperStyle) -> MadeFigure:
    subject, settings, atlas = order.subject, order.request.settings, order.measured.atlas
    found, connectivity = subject_modules(order), order.measured.connectivity(order.subject, order.request.settings)
    limit = colour_limit(connectivity, settings.estimator)
    labels, names = found.partition.labels.tolist(), called_modules(atlas, order.options["labelling"], found.partition)
    figure = module_heatmap(
        connectivity,
        atlas.regions,
        labels,
        names,
        limit=limit,
        title=f"Connectivity of {subject.id} by module",
        quantity=QUANTITIES[settings.estimator],
        simulated=subject.simulated,
        style=style,
    )
    regions = module_order(labels, names)
    numbers = matrix_numbers(connectivity, atlas.regions, regions)
    numbers.insert(1, "module", [labels[region] for region in regions.order], allow_duplicates=True)
    caption = module_caption(subject.id, found.partition, limit=limit, simulated=subject.simulated)
    return MadeFigure(figure, numbers, caption, **module_words(order))


def _brain(order: Order, style: PaperStyle) -> MadeFigure:
    subject, settings, atlas = order.subject, order.request.settings, order.measured.atlas
    places, found = places_of(atlas), subject_modules(order)
    graph = graph_for_modules(order.measured.graph(subject, settings), module_options(order))
    edges = strongest_within_modules(graph, found.partition, most=order.options["connections"])
    labels, names = found.partition.labels.tolist(), called_modules(atlas, order.options["labelling"], found.partition)
    called = [names[label] if label else None for label in labels]
    figure = paper.glass_brain(
        places,
        atlas.regions,
        groups=called,
        group_colours={names[number]: colour for number, colour in module_colours(sorted(names)).items()},
        edges=edges,
        title=f"Modules of {subject.id}",
        simulated=subject.simulated,
        style=style,
    )
    numbers = pd.DataFrame({"region": atlas.regions}).assign(module=labels, name=[name or "" for name in called])
    numbers[["x", "y", "z"]] = places
    caption = brain_caption(
        subject.id,
        atlas.n_regions,
        n_groups=len(names),
        n_edges=len(edges),
        where=GLASS_BRAIN,
        simulated=subject.simulated,
    )
    return MadeFigure(figure, numbers, caption, **module_words(order))


def _flow(order: Order, style: PaperStyle) -> MadeFigure:
    subject, atlas, labelling = order.subject, order.measured.atlas, order.options["labelling"]
    found = subject_modules(order)
    agreement = module_agreement(found.partition, atlas, labelling)
    names = called_modules(atlas, labelling, found.partition)
    figure = module_flow(
        agreement.contingency,
        names,
        targets=PAPER_MODULES,
        matched=match_labels(agreement.contingency),
        sides=("Modules", "Networks"),
        title=f"Modules and networks of {subject.id}",
        simulated=subject.simulated,
        style=style,
    )
    title = LABELLINGS.get(labelling, labelling)
    caption = flow_caption(subject.id, agreement, labelling=title, simulated=subject.simulated)
    words = module_words(order)
    named, keys = named_labelling(labelling)
    compared = (
        f"Agreement of modules with {named} is the adjusted mutual information (AMI; Vinh et al. 2010): 1 for equal "
        "divisions, about 0 by chance."
    )
    words["methods"] = (*words["methods"], compared)
    words["citations"] = (*words["citations"], "vinh2010", *keys)
    return MadeFigure(figure, _flow_numbers(agreement.contingency, names), caption, **words)


def _roles(order: Order, style: PaperStyle) -> MadeFigure:
    subject, atlas = order.subject, order.measured.atlas
    found = subject_modules(order)
    roles = found.roles
    figure = paper.role_map(
        roles["participation"].to_numpy(),
        roles["within_z"].to_numpy(),
        roles["module"].tolist(),
        atlas.regions,
        hub_z=HUB_Z,
        names=called_modules(atlas, order.options["labelling"], found.partition),
        title=f"Roles of the regions of {subject.id}",
        simulated=subject.simulated,
        style=style,
    )
    caption = role_caption(subject.id, int(roles["hub"].sum()), hub_z=HUB_Z, simulated=subject.simulated)
    words = module_words(order)
    words["methods"] = (
        *words["methods"],
        f"Regions have roles by participation and within-module z, with hubs from z = {HUB_Z:g} (Guimerà and Amaral "
        "2005).",
    )
    words["citations"] = (*words["citations"], "guimera2005")
    return MadeFigure(figure, roles, caption, **words)


def _sweep(order: Order, style: PaperStyle) -> MadeFigure:
    subject, settings, atlas, options = order.subject, order.request.settings, order.measured.atlas, order.options
    chosen = ModuleOptions(options["resolution"], options["runs"], seed=options["seed"], signed=options["signed"])
    steps = [
        order.measured.resolution_step(subject, settings, replace(chosen, resolution=value))
        for value in options["resolutions"]
    ]
    sweep = pd.DataFrame(steps)
    figure = resolution_curves(
        sweep,
        {name: LABELLINGS.get(name, name) for name in atlas.labels},
        chosen=chosen.resolution,
        title=f"Modules of {subject.id} over the resolution",
        simulated=subject.simulated,
        style=style,
    )
    caption = resolution_caption(
        subject.id, sweep, chosen=chosen.resolution, runs=chosen.runs, seed=chosen.seed, simulated=subject.simulated
    )
    return MadeFigure(figure, sweep, caption, **module_words(order))


def _flow_numbers(contingency: pd.DataFrame, names: Mapping[int, str]) -> pd.DataFrame:
    """One row a module and label that share regions."""
    rows = [
        {"module": module, "name": names[module], "label": label, "regions": int(contingency.loc[module, label])}
        for module in contingency.index
        for label in contingency.columns
    ]
    return pd.DataFrame(rows).query("regions > 0")


MODULE_FIGURES: Mapping[str, Recipe] = {
    "module_heatmap": Recipe("Connectivity by module", _heatmap, HOW_TO_NAME),
    "module_brain": Recipe("Modules in the brain", _brain, {**HOW_TO_NAME, "connections": 0}),
    "module_flow": Recipe("Modules beside functional networks", _flow, HOW_TO_NAME),
    "role_map": Recipe("Roles of regions", _roles, HOW_TO_NAME),
    "resolution_sweep": Recipe("Modules over the resolution", _sweep, {**HOW_TO_FIND, "resolutions": _RESOLUTIONS}),
}
