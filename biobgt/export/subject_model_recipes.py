"""Recipes of what a trained model says of one subject: its attention beside a group's, and where it lies among others.

The subject is of the request's cohort; the model is an option, by name and by the SHA-256 of its weights, so that
another model of the same name is refused. What runs is the whole ensemble, as on the pages of the app.
"""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.connectome import subject_connectivity
from biobgt.errors import InputError
from biobgt.export.connectome_recipes import matrix_numbers
from biobgt.export.making import MadeFigure, Order, Recipe
from biobgt.export.model_recipes import ModelResults, beside_group, chosen_part, load_results, model_words, regions_by
from biobgt.export.requests import Plain
from biobgt.figures.attention_captions import attention_part, own_caption
from biobgt.figures.paper.attention import attention_heatmaps
from biobgt.figures.paper.performance import probabilities_by_group
from biobgt.figures.paper.style import PaperStyle
from biobgt.figures.performance import group_shares
from biobgt.figures.performance_captions import probabilities_caption
from biobgt.model.attention_views import (
    beside_connectivity,
    colour_limits,
    group_beside,
    map_correlation,
    select_attention,
)
from biobgt.model.pretrained import load_pretrained, pretrained_names
from biobgt.training.card_views import share_below
from biobgt.wording import counted


def _asked_model(order: Order) -> ModelResults:
    """The model that the options name, if it is still the one that they mean."""
    name, sha256 = order.options["model"], order.options["model_sha256"]
    if name not in pretrained_names():
        known = ", ".join(pretrained_names()) or "none"
        raise InputError(f"The figure '{order.request.figure}' needs a model, such as model=NAME. Installed: {known}.")
    model = order.measured.keep(("model", name, sha256), lambda: load_results(name))
    if sha256 not in ("", model.card["sha256"]):
        raise InputError(
            f"The model '{name}' that is installed here is not the one the figure was made with: the SHA-256 of its "
            "weights differs. Use the version of BioBGT Explorer that provenance.json names."
        )
    return model


def _subject_words(order: Order, model: ModelResults) -> dict[str, Any]:
    """Methods and citations, and whom the model was trained on, which a cohort of one's own does not tell."""
    sizes = model.groups.n
    listed = ", ".join(f"{n:,} {group}" for group, n in sizes.items())
    simulated = " The patients among them are simulated, measured on nobody." if model.simulated else ""
    trained = f"The model {model.name} was trained on {counted(sum(sizes.values()), 'subject')} ({listed}).{simulated} "
    trained += "What it says of a subject is the mean over all its members."
    words = model_words(order, model)
    return {**words, "methods": (*words["methods"], trained)}


def _attention(order: Order, style: PaperStyle) -> MadeFigure:
    subject, atlas, model = order.subject, order.measured.atlas, _asked_model(order)
    group = _group_of(model, order.options["group"] or group_beside(subject.group, list(model.groups.n)))
    layer, head = chosen_part(order, model)
    regions, _ = regions_by(model, atlas, order.options["order"])
    own = select_attention(_seen(order, model), layer=layer, head=head)
    beside = select_attention(model.groups.attention[group], layer=layer, head=head)
    maps = {subject.id: own, f"mean of {group} (n = {model.groups.n[group]:,})": beside}
    figure = attention_heatmaps(
        maps,
        atlas.regions,
        order=regions,
        limits=colour_limits([own, beside]),
        title=f"Attention of {subject.id}",
        simulated=subject.simulated or model.simulated,
        style=style,
    )
    caption = own_caption(
        model.name,
        subject.id,
        group,
        correlation=map_correlation(own, beside),
        beside={
            subject.id: beside_connectivity(own, subject_connectivity(subject), regions.labels),
            f"mean of {group}": beside_group(model, group, beside, regions),
        },
        part=attention_part(layer, head),
        simulated=subject.simulated,
        model_simulated=model.simulated,
    )
    frames = []
    for name, matrix in maps.items():
        frame = matrix_numbers(matrix, atlas.regions, regions)
        frame.insert(0, "of", name, allow_duplicates=True)
        frames.append(frame)
    return MadeFigure(figure, pd.concat(frames, ignore_index=True), caption, **_subject_words(order, model))


def _probability(order: Order, style: PaperStyle) -> MadeFigure:
    subject, model = order.subject, _asked_model(order)
    names = list(model.card["groups"])
    group = _group_of(model, order.options["group"] or names[-1])
    said = _said(order, model)
    value, column = float(said[f"p_{group}"]), names.index(group)
    values, labels = model.groups.probabilities[:, column], model.groups.labels
    figure = probabilities_by_group(
        values,
        labels,
        names,
        group=group,
        marked=value,
        marked_name=subject.id,
        title=f"{subject.id} among the subjects of {model.name}",
        simulated=subject.simulated or model.simulated,
        style=style,
    )
    caption = probabilities_caption(
        model.name,
        names,
        group=group,
        subject=f"simulated subject {subject.id}" if subject.simulated else f"subject {subject.id}",
        value=value,
        where=share_below(labels, values, names, value),
        warning=said["warning"],
        simulated=model.simulated,
    )
    own = {"subject": subject.id} | {f"p_{name} of the subject": float(said[f"p_{name}"]) for name in names}
    numbers = group_shares(values, labels, names).assign(**own)
    return MadeFigure(figure, numbers, caption, **_subject_words(order, model))


def _group_of(model: ModelResults, group: str) -> str:
    if group not in model.groups.n:
        raise InputError(f"Model {model.name} has no group '{group}'; choose one of {', '.join(model.groups.n)}.")
    return group


def _seen(order: Order, model: ModelResults) -> NDArray[np.float32]:
    """The subject's attention, shape (n_layers, n_heads, n_regions, n_regions)."""

    def ask() -> NDArray[np.float32]:
        ensemble = load_pretrained(model.name)
        ensemble.check(order.measured.cohort)
        return np.asarray(ensemble.explain([order.subject]).attention[0])

    return order.measured.keep(("attention", model.name, model.card["sha256"], order.subject.id), ask)


def _said(order: Order, model: ModelResults) -> dict[str, Any]:
    """The subject's row of the table of predictions."""

    def ask() -> dict[str, Any]:
        alone = order.measured.cohort.select(lambda one: one.id == order.subject.id)
        return cast("dict[str, Any]", load_pretrained(model.name).predict(alone).iloc[0].to_dict())

    return order.measured.keep(("prediction", model.name, model.card["sha256"], order.subject.id), ask)


_MODEL: Mapping[str, Plain] = {"model": "", "model_sha256": "", "group": ""}
SUBJECT_MODEL_FIGURES: Mapping[str, Recipe] = {
    "subject_attention": Recipe(
        "A subject's attention beside its group's", _attention, {**_MODEL, "order": "dosenbach", "layer": 0, "head": 0}
    ),
    "subject_probability": Recipe("A subject among a model's groups", _probability, _MODEL),
}
