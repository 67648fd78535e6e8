"""Recipes of one subject's hubs: curves over regions, scatters, the γ-sweep, hubs in the brain, five measures."""

from collections.abc import Mapping
from typing import Any, get_args

import numpy as np
import pandas as pd

from biobgt.atlas import Atlas
from biobgt.cohort import person_of
from biobgt.errors import InputError
from biobgt.export.connectome_recipes import (
    ATLAS_ORDER,
    connectome_citations,
    connectome_methods,
    regions_in_order,
)
from biobgt.export.making import MadeFigure, Order, Recipe
from biobgt.export.requests import Plain
from biobgt.figures import (
    SHORT_NAMES,
    brain_caption,
    centralities_caption,
    correlation_text,
    curves_caption,
    only_regions,
    order_by_value,
    paper,
    random_regions,
    scatter_caption,
    sweep_caption,
)
from biobgt.figures.agreement_words import little_strength_sentence
from biobgt.figures.brain import GLASS_BRAIN
from biobgt.figures.paper.style import PaperStyle
from biobgt.graph import Matrix, check_choice
from biobgt.hubs.group_curves import CurveScale, GroupCurves, group_curves
from biobgt.hubs.perturbation import Perturbation
from biobgt.hubs.sweep import REFERENCES, SubjectHubs, hub_correlations, subject_sweep
from biobgt.hubs.table import HubRule
from biobgt.quality import mean_connectivity
from biobgt.studies import study_sweep

NE = "node_entanglement"
BY_NE = "by NE"
# The paper's five, by their names there, with their columns of the hub table and what they are.
FIVE_MEASURES: Mapping[str, tuple[str, str]] = {
    "DC": ("degree", "degree"),
    "BC": ("betweenness", "betweenness"),
    "CC": ("closeness", "closeness"),
    "EC": ("eigenvector", "eigenvector centrality"),
    "NE": ("node_entanglement", "node entanglement"),
}
AT_GAMMA: Mapping[str, Plain] = {"gamma": 0.5, "perturbation": "control"}
_HUBS: Mapping[str, Plain] = {**AT_GAMMA, "rule": "top"}
GAMMAS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)


def subject_hubs(order: Order) -> SubjectHubs:
    """The subject's hubs, with the options that all figures of hubs share checked."""
    check_choice("perturbation", order.options["perturbation"], get_args(Perturbation))
    check_choice("rule", order.options.get("rule", "top"), get_args(HubRule))
    return order.measured.hubs(order.subject, order.request.settings, order.options["perturbation"])


def hub_words(order: Order) -> dict[str, Any]:
    """Methods and citations of node entanglement."""
    options, settings, atlas = order.options, order.request.settings, order.measured.atlas
    way = {
        "control": "replaces the region's closed neighbourhood by a clique of the same total weight",
        "remove": "takes the region's connections away",
    }[options["perturbation"]]
    methods = (
        f"Node entanglement (NE) of a region is the absolute change, in bits, of the graph's spectral entropy when the "
        f"region is perturbed (Peng et al. 2025; Huang et al. 2024). The perturbation {way}; the diffusion time is "
        f"γ = {options['gamma']:g}/mean(λ), with λ the eigenvalues of the graph's Laplacian. Node efficiency (NEff) is "
        "the mean inverse weighted path length from a region to all others (Latora and Marchiori 2001), FC strength "
        "the mean connectivity of a region with all others."
    )
    citations = ("peng2025", "huang2024", "latora2001", "rubinov2010", *connectome_citations(atlas, settings))
    return {"methods": (*connectome_methods(atlas, settings), methods), "citations": citations}


def picked_region(atlas: Atlas, name: str) -> int | None:
    """The region to ring, counted from 0; an empty name is none."""
    if name and name not in atlas.regions:
        raise InputError(f"Atlas {atlas.name} has no region '{name}'.")
    return atlas.regions.index(name) if name else None


def _curves(order: Order, style: PaperStyle) -> MadeFigure:
    subject, atlas, options = order.subject, order.measured.atlas, order.options
    check_choice("scale", options["scale"], get_args(CurveScale))
    table = subject_hubs(order).table(options["gamma"], rule=options["rule"])
    by_ne = options["order"] == BY_NE
    regions = order_by_value(table[NE].to_numpy()) if by_ne else regions_in_order(atlas, options["order"])
    drawn = 0 < options["n_random"] < atlas.n_regions
    if drawn:
        regions = only_regions(regions, random_regions(atlas.n_regions, options["n_random"], seed=options["seed"]))
    group = _group(order) if options["group"] else None
    name = subject.group or "whole cohort"
    suffix = "" if options["scale"] == "raw" else f"_{options['scale']}"
    curves = {measure: table[f"{measure}{suffix}"].to_numpy() for measure in SHORT_NAMES}
    figure = paper.hub_curves(
        curves,
        atlas.regions,
        table[f"{NE}_hub"].to_numpy(),
        scale=options["scale"],
        order=regions,
        order_title="by NE, highest first" if by_ne else "in atlas order",
        group=None if group is None else {measure: (group.mean[measure], group.sd[measure]) for measure in SHORT_NAMES},
        group_name=name,
        picked=picked_region(atlas, options["region"]),
        title=f"NE, NEff and FC strength of {subject.id}",
        simulated=subject.simulated,
        style=style,
    )
    numbers = pd.DataFrame({"region": atlas.regions, **curves, "hub by NE": table[f"{NE}_hub"].to_numpy()})
    if group is not None:
        for measure in SHORT_NAMES:
            numbers[f"{measure} group mean"], numbers[f"{measure} group SD"] = group.mean[measure], group.sd[measure]
    caption = curves_caption(
        subject.id,
        len(table),
        int(table[f"{NE}_hub"].sum()),
        scale=options["scale"],
        gamma=options["gamma"],
        perturbation=options["perturbation"],
        rule=options["rule"],
        drawn=(len(regions.order), options["seed"]) if drawn else None,
        group=None if group is None else (name, group.n_subjects, group.n_recordings),
        remark=_on_strength(order),
        simulated=subject.simulated,
    )
    return MadeFigure(figure, numbers.iloc[list(regions.order)], caption, **hub_words(order))


def _on_strength(order: Order) -> str:
    """On FC strength, where it has little to compare with."""
    return little_strength_sentence(mean_connectivity(order.subject)[0])


def _group(order: Order) -> GroupCurves:
    """The curves of the subject's group, itself among them; of the whole cohort where it has no group."""
    own, options = order.subject.group, order.options
    members = [subject for subject in order.measured.cohort if own is None or subject.group == own]
    measured = [
        order.measured.curves(subject, order.request.settings, options["perturbation"], options["gamma"])
        for subject in members
    ]
    persons = [person_of(subject.id) for subject in members]
    return group_curves(measured, options["gamma"], persons=persons, scale=options["scale"])


def _scatter(order: Order, style: PaperStyle) -> MadeFigure:
    subject, atlas, options = order.subject, order.measured.atlas, order.options
    measure = options["measure"]
    check_choice("measure", measure, tuple(REFERENCES))
    hubs = subject_hubs(order)
    table, found = hubs.table(options["gamma"], rule=options["rule"]), hub_correlations(hubs, options["gamma"])[measure]
    interval = {"rho": found.rho, "low": found.low, "high": found.high}
    figure = paper.hub_scatter(
        table[measure].to_numpy(),
        table[NE].to_numpy(),
        atlas.regions,
        table[f"{NE}_hub"].to_numpy(),
        measure=measure,
        subtitle=correlation_text(**interval),
        picked=picked_region(atlas, options["region"]),
        simulated=subject.simulated,
        style=style,
    )
    caption = scatter_caption(
        subject.id,
        measure,
        found.n_regions,
        **interval,
        gamma=options["gamma"],
        remark=_on_strength(order) if measure == "fc_strength" else "",
        simulated=subject.simulated,
    )
    return MadeFigure(figure, table[["region", measure, NE, f"{NE}_hub"]], caption, **hub_words(order))


def _sweep(order: Order, style: PaperStyle) -> MadeFigure:
    subject, options, settings = order.subject, order.options, order.request.settings
    hubs = subject_hubs(order)
    sweep = subject_sweep(hubs, options["gammas"])
    study = study_sweep(settings, order.measured.atlas, perturbation=options["perturbation"], subject=subject)
    figure = paper.gamma_sweep(
        sweep,
        REFERENCES,
        chosen=options["gamma"],
        study=study.agreement,
        title=f"Agreement over γ, {subject.id}",
        simulated=subject.simulated,
        style=style,
    )
    caption = sweep_caption(
        subject.id,
        gamma=options["gamma"],
        rhos={measure: found.rho for measure, found in hub_correlations(hubs, options["gamma"]).items()},
        perturbation=options["perturbation"],
        study=study.note,
        remark=_on_strength(order),
        simulated=subject.simulated,
    )
    numbers = sweep.assign(of=subject.id)
    words = hub_words(order)
    if study.agreement is not None:
        behind = study.agreement.rename(columns={"mean": "spearman", "sd": "spearman SD"}).assign(of="ABIDE mean")
        numbers = pd.concat([numbers, behind], ignore_index=True)
        words["methods"] = (
            *words["methods"],
            "Mean and SD that stand behind agreement over γ are of the subjects of ABIDE (Di Martino et al. 2014).",
        )
        words["citations"] = (*words["citations"], "dimartino2014")
    return MadeFigure(figure, numbers, caption, **words)


def _brain(order: Order, style: PaperStyle) -> MadeFigure:
    subject, atlas, options = order.subject, order.measured.atlas, order.options
    table = subject_hubs(order).table(options["gamma"])
    places = places_of(atlas)
    figure = paper.glass_brain(
        places,
        atlas.regions,
        sizes=table[NE].to_numpy(),
        values=table[f"{NE}_rank"].to_numpy(float),
        quantity="rank by NE",
        ranked=True,
        title=f"Hubs of {subject.id}",
        simulated=subject.simulated,
        style=style,
    )
    quantity = f"the rank by NE at γ = {options['gamma']:g}/mean(λ) (1 is the strongest hub)"
    caption = brain_caption(
        subject.id,
        atlas.n_regions,
        quantity=quantity,
        size="NE itself",
        where=GLASS_BRAIN,
        simulated=subject.simulated,
    )
    return MadeFigure(figure, table[["region", "x", "y", "z", NE, f"{NE}_rank"]], caption, **hub_words(order))


def _five(order: Order, style: PaperStyle) -> MadeFigure:
    subject, atlas, options = order.subject, order.measured.atlas, order.options
    table = subject_hubs(order).table(options["gamma"])
    meanings = {name: title for name, (_, title) in FIVE_MEASURES.items()}
    values: dict[str, np.ndarray] = {
        name: table[f"{measure}_z"].to_numpy() for name, (measure, _) in FIVE_MEASURES.items()
    }
    figure = paper.five_brains(
        values,
        places_of(atlas),
        atlas.regions,
        captions=meanings,
        quantity="z-score over regions",
        title=f"Five hub measures of {subject.id}",
        simulated=subject.simulated,
        style=style,
    )
    caption = centralities_caption(
        subject.id,
        meanings,
        gamma=options["gamma"],
        perturbation=options["perturbation"],
        simulated=subject.simulated,
    )
    numbers = table[["region", "x", "y", "z"]].assign(**values)
    return MadeFigure(figure, numbers, caption, **hub_words(order))


def places_of(atlas: Atlas) -> Matrix:
    """MNI coordinates of the regions, or a sentence where they are not known."""
    if atlas.coordinates is None:
        raise InputError(f"The coordinates of atlas {atlas.name} are not known, so nothing can be drawn on a brain.")
    return atlas.coordinates


_RING: Mapping[str, Plain] = {"region": ""}
_CURVES: Mapping[str, Plain] = {"scale": "z", "order": ATLAS_ORDER, "n_random": 0, "seed": 0, "group": False}
HUB_FIGURES: Mapping[str, Recipe] = {
    "hub_curves": Recipe("Hub curves", _curves, {**_HUBS, **_CURVES, **_RING}),
    "hub_scatter": Recipe("NE against another measure", _scatter, {**_HUBS, "measure": "node_efficiency", **_RING}),
    "gamma_sweep": Recipe("Agreement over γ", _sweep, {**AT_GAMMA, "gammas": GAMMAS}),
    "hub_brain": Recipe("Hubs in the brain", _brain, AT_GAMMA),
    "five_brains": Recipe("Five hub measures in the brain", _five, AT_GAMMA),
}
