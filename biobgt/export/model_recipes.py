"""Recipes of a trained model's group results: attention of its groups, their difference, the contrast, ROC curves.

Their cohort is the one that the model was trained on: its group results are shipped, its subjects are not.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd

from biobgt.atlas import LABELLINGS, Atlas
from biobgt.errors import InputError
from biobgt.export.connectome_recipes import ATLAS_ORDER, matrix_numbers
from biobgt.export.making import MadeFigure, Order, Recipe
from biobgt.export.references import ATLAS_KEYS
from biobgt.export.requests import Plain
from biobgt.figures import order_regions
from biobgt.figures.attention_captions import attention_caption, attention_part, contrast_caption, difference_caption
from biobgt.figures.frame import RegionOrder
from biobgt.figures.paper.attention import attention_difference, attention_heatmaps, contrast_points
from biobgt.figures.paper.performance import roc_curves
from biobgt.figures.paper.style import PaperStyle
from biobgt.figures.performance_captions import roc_caption
from biobgt.model.attention_views import (
    Matrix,
    block_tests,
    colour_limits,
    difference_limit,
    functional_labels,
    louvain_labels,
    select_attention,
)
from biobgt.model.pretrained import GroupResults, load_card, load_groups

LOUVAIN = "louvain"


@dataclass(frozen=True, eq=False)
class _Model:
    """A model's card and group results."""

    name: str
    card: Mapping[str, Any]
    groups: GroupResults

    @property
    def simulated(self) -> bool:
        return bool(self.card["simulated"])


def _model(order: Order) -> _Model:
    ref = order.request.cohort
    if not ref.model:
        raise InputError(f"The figure '{order.request.figure}' is of a model: name one, such as model:abide-cc200.")
    return order.measured.keep(("model",), lambda: _Model(ref.name, load_card(ref.name), load_groups(ref.name)))


def _regions(model: _Model, atlas: Atlas, order: str) -> tuple[RegionOrder, str]:
    """The order of regions, and what it is by."""
    if order == LOUVAIN:
        controls = next(iter(model.groups.connectivity.values()))
        labels = cast("list[str | None]", louvain_labels(controls, atlas))
        return order_regions(atlas.n_regions, labels), "Louvain modules of the controls' mean connectivity"
    if order == ATLAS_ORDER:
        return order_regions(atlas.n_regions), "their number in the atlas"
    words = f"functional module ({LABELLINGS.get(order, order)})"
    return order_regions(atlas.n_regions, functional_labels(atlas, order)), words


def _part(order: Order, model: _Model) -> tuple[int | None, int | None]:
    """Layer and head, counted from 0; a request counts from 1, and 0 is the mean."""
    shape = next(iter(model.groups.attention.values())).shape
    for what, number, most in zip(
        ("layer", "head"), (order.options["layer"], order.options["head"]), shape, strict=False
    ):
        if not 0 <= number <= most:
            raise InputError(f"Model {model.name} has no {what} {number}; choose 1 to {most}, or 0 for their mean.")
    layer, head = order.options["layer"] - 1, order.options["head"] - 1
    return (None if layer < 0 else layer), (None if head < 0 else head)


def _words(order: Order, model: _Model) -> dict[str, Any]:
    atlas = order.measured.atlas
    methods = (
        f"Attention and probabilities are those of the model {model.name}, an ensemble of Biologically Plausible Brain "
        f"Graph Transformers (Peng et al. 2025) on the {atlas.n_regions} regions of {atlas.title}. "
        f"{model.card['protocol']}"
    )
    keys = (ATLAS_KEYS[atlas.name],) if atlas.name in ATLAS_KEYS else ()
    return {"methods": (methods,), "citations": ("peng2025", *keys)}


def _maps(order: Order, style: PaperStyle) -> MadeFigure:
    model, atlas = _model(order), order.measured.atlas
    layer, head = _part(order, model)
    regions, words = _regions(model, atlas, order.options["order"])
    maps: dict[str, Matrix] = {
        group: select_attention(model.groups.attention[group], layer=layer, head=head) for group in model.groups.n
    }
    limits = colour_limits(list(maps.values()))
    figure = attention_heatmaps(
        {f"{group} (n = {model.groups.n[group]:,})": matrix for group, matrix in maps.items()},
        atlas.regions,
        order=regions,
        limits=limits,
        title=f"Attention of {model.name}",
        simulated=model.simulated,
        style=style,
    )
    frames = []
    for group, matrix in maps.items():
        frame = matrix_numbers(np.asarray(matrix, dtype=np.float64), atlas.regions, regions)
        frame.insert(0, "group", group, allow_duplicates=True)
        frames.append(frame)
    caption = attention_caption(
        model.name,
        model.groups.n,
        part=attention_part(layer, head),
        order=words,
        limits=limits,
        simulated=model.simulated,
    )
    return MadeFigure(figure, pd.concat(frames, ignore_index=True), caption, **_words(order, model))


def _difference(order: Order, style: PaperStyle) -> MadeFigure:
    model, atlas, options = _model(order), order.measured.atlas, order.options
    between = (options["first"], options["second"])
    if between[0] == between[1] or not set(between) <= set(model.groups.n):
        raise InputError(f"Name two different groups of model {model.name}: {', '.join(model.groups.n)}.")
    layer, head = _part(order, model)
    regions, _ = _regions(model, atlas, options["order"])
    first, second = (select_attention(model.groups.attention[group], layer=layer, head=head) for group in between)
    difference = second - first
    limit, tests = difference_limit(difference), block_tests(model.groups.tests, between, model.groups.n)
    framed = options["order"] == next(iter(atlas.labels), "")
    marked = [] if tests is None else list(zip(tests.marked["module"], tests.marked["other_module"], strict=True))
    figure = attention_difference(
        difference,
        atlas.regions,
        order=regions,
        limit=limit,
        marked=marked if framed else [],
        title=f"{between[1]} minus {between[0]}, {model.name}",
        simulated=model.simulated,
        style=style,
    )
    caption = difference_caption(
        model.name,
        between,
        tests,
        part=attention_part(layer, head),
        limit=limit,
        framed=framed,
        whole=layer is None and head is None,
        simulated=model.simulated,
    )
    numbers = matrix_numbers(np.asarray(difference, dtype=np.float64), atlas.regions, regions)
    return MadeFigure(figure, numbers, caption, **_words(order, model))


def _contrast(order: Order, style: PaperStyle) -> MadeFigure:
    model = _model(order)
    contrast = model.groups.contrast
    title = f"Module contrast of attention, {model.name}"
    figure = contrast_points(contrast, title=title, simulated=model.simulated, style=style)
    controls, *others = model.groups.n
    found = [block_tests(model.groups.tests, (controls, group), model.groups.n) for group in others]
    tests = [test for test in found if test is not None]
    rows = [
        {"group": group, "layer": layer + 1, "head": head + 1, "within / between": float(ratio)}
        for group, ratios in contrast.items()
        for (layer, head), ratio in np.ndenumerate(ratios)
    ]
    caption = contrast_caption(model.name, contrast, tests, simulated=model.simulated)
    return MadeFigure(figure, pd.DataFrame(rows), caption, **_words(order, model))


def _roc(order: Order, style: PaperStyle) -> MadeFigure:
    from biobgt.training.card_views import group_curves  # brings more than the other figures need

    model = _model(order)
    groups = model.groups
    curves = group_curves(groups.labels, groups.probabilities, model.card["groups"])
    figure = roc_curves(curves, title=f"ROC, {model.name}", simulated=model.simulated, style=style)
    numbers = pd.concat([curve.assign(curve=name) for name, curve in curves.items()], ignore_index=True)
    measured = model.card["results"]["BioBGT"]
    caption = roc_caption(model.name, measured["auc"], len(groups.labels), simulated=model.simulated)
    return MadeFigure(figure, numbers, caption, **_words(order, model))


_SHOWN: Mapping[str, Plain] = {"order": "dosenbach", "layer": 0, "head": 0}
MODEL_FIGURES: Mapping[str, Recipe] = {
    "attention_maps": Recipe("Attention of groups", _maps, _SHOWN, of_subject=False),
    "attention_difference": Recipe(
        "Difference of attention", _difference, {**_SHOWN, "first": "", "second": ""}, of_subject=False
    ),
    "attention_contrast": Recipe("Attention within and between modules", _contrast, {}, of_subject=False),
    "roc": Recipe("ROC curves", _roc, {}, of_subject=False),
}
