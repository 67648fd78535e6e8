"""Recipes of a trained model's attention: of its groups, their difference, the blocks tested, the contrast.

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
from biobgt.export.references import ATLAS_KEYS, named_labelling
from biobgt.export.requests import Plain
from biobgt.figures import order_regions
from biobgt.figures.attention_blocks import adjustments, blocks_in_order
from biobgt.figures.attention_captions import (
    attention_caption,
    attention_part,
    contrast_caption,
    difference_caption,
    effects_caption,
)
from biobgt.figures.connectivity_words import contrast_of_card
from biobgt.figures.frame import RegionOrder
from biobgt.figures.paper.attention import attention_difference, attention_heatmaps, block_effects, contrast_points
from biobgt.figures.paper.style import PaperStyle
from biobgt.groups.comparison import EFFECT_COLUMNS
from biobgt.model.attention_views import (
    BesideConnectivity,
    Matrix,
    all_block_tests,
    beside_connectivity,
    block_tests,
    colour_limits,
    difference_limit,
    functional_labels,
    louvain_labels,
    map_correlation,
    select_attention,
)
from biobgt.model.pretrained import GroupResults, load_card, load_groups

LOUVAIN = "louvain"
_TEST = (
    "with a linear model, with covariates and without, by permuting its residuals (Freedman and Lane 1983). Overall "
    "connectivity (mean |FC|), from which attention is made, is one of the covariates where that is said, and the test "
    "without it stands beside"
)
_BLOCKS = (
    f"Groups were compared in each module block's mean attention over layers and heads {_TEST}. False discovery rates "
    "are over all blocks (Benjamini and Hochberg 1995)."
)
_CONTRAST = (
    "Groups were compared in the ratio of mean attention within to between functional modules, over layers and heads, "
    f"{_TEST}."
)


@dataclass(frozen=True, eq=False)
class ModelResults:
    """A model's card and group results."""

    name: str
    card: Mapping[str, Any]
    groups: GroupResults

    @property
    def simulated(self) -> bool:
        """Whether patients of this model are simulated."""
        return bool(self.card["simulated"])


def model_of(order: Order) -> ModelResults:
    """The model that the request's cohort is."""
    ref = order.request.cohort
    if not ref.model:
        raise InputError(f"The figure '{order.request.figure}' is of a model: name one, such as model:abide-cc200.")
    return order.measured.keep(("model", ref.name), lambda: load_results(ref.name))


def load_results(name: str) -> ModelResults:
    """Read a model's card and group results."""
    return ModelResults(name, load_card(name), load_groups(name))


def regions_by(model: ModelResults, atlas: Atlas, order: str) -> tuple[RegionOrder, str]:
    """The order of regions, and what it is by."""
    if order == LOUVAIN:
        controls = next(iter(model.groups.connectivity.values()))
        labels = cast("list[str | None]", louvain_labels(controls, atlas))
        return order_regions(atlas.n_regions, labels), "Louvain modules of the controls' mean connectivity"
    if order == ATLAS_ORDER:
        return order_regions(atlas.n_regions), "their number in the atlas"
    words = f"functional module ({LABELLINGS.get(order, order)})"
    return order_regions(atlas.n_regions, functional_labels(atlas, order)), words


def beside_group(model: ModelResults, group: str, attention: Matrix, regions: RegionOrder) -> BesideConnectivity:
    """A group's attention beside its mean connectivity, with the modules by which regions are ordered."""
    return beside_connectivity(attention, model.groups.connectivity[group], regions.labels)


def chosen_part(order: Order, model: ModelResults) -> tuple[int | None, int | None]:
    """Layer and head, counted from 0; a request counts from 1, and 0 is the mean."""
    shape = next(iter(model.groups.attention.values())).shape
    for what, number, most in zip(
        ("layer", "head"), (order.options["layer"], order.options["head"]), shape, strict=False
    ):
        if not 0 <= number <= most:
            raise InputError(f"Model {model.name} has no {what} {number}; choose 1 to {most}, or 0 for their mean.")
    layer, head = order.options["layer"] - 1, order.options["head"] - 1
    return (None if layer < 0 else layer), (None if head < 0 else head)


def model_words(order: Order, model: ModelResults) -> dict[str, Any]:
    """Methods and citations of a model."""
    atlas = order.measured.atlas
    methods = (
        f"Attention and probabilities are those of the model {model.name}, an ensemble of Biologically Plausible Brain "
        f"Graph Transformers (Peng et al. 2025) on the {atlas.n_regions} regions of {atlas.title}. "
        f"{model.card['protocol']}"
    )
    keys = (ATLAS_KEYS[atlas.name],) if atlas.name in ATLAS_KEYS else ()
    return {"methods": (methods,), "citations": ("peng2025", *keys)}


def _two_groups(order: Order, model: ModelResults) -> tuple[str, str]:
    first, second = order.options["first"], order.options["second"]
    if first == second or not {first, second} <= set(model.groups.n):
        raise InputError(f"Name two different groups of model {model.name}: {', '.join(model.groups.n)}.")
    return first, second


def _tested(order: Order, model: ModelResults, *, blocks: bool = True) -> dict[str, Any]:
    """Methods and citations of a model whose groups were compared, block by block or in one ratio."""
    words = model_words(order, model)
    named, keys = named_labelling(next(iter(order.measured.atlas.labels), ""))
    modules = f"Functional modules are {named}."
    rates = ("benjamini1995",) if blocks else ()
    return {
        "methods": (*words["methods"], modules, _BLOCKS if blocks else _CONTRAST),
        "citations": (*words["citations"], *keys, "freedman1983", *rates),
    }


def _maps(order: Order, style: PaperStyle) -> MadeFigure:
    model, atlas = model_of(order), order.measured.atlas
    layer, head = chosen_part(order, model)
    regions, words = regions_by(model, atlas, order.options["order"])
    maps: dict[str, Matrix] = {
        group: select_attention(model.groups.attention[group], layer=layer, head=head) for group in model.groups.n
    }
    limits = _limits(order, list(maps.values()))
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
        beside={group: beside_group(model, group, matrix, regions) for group, matrix in maps.items()},
        shared=bool(order.options["limits"]),
        simulated=model.simulated,
    )
    return MadeFigure(figure, pd.concat(frames, ignore_index=True), caption, **model_words(order, model))


def _limits(order: Order, maps: list[Matrix]) -> tuple[float, float]:
    """Ends of the colour scale: those asked for, which other models' maps share, or the maps' own."""
    asked = order.options["limits"]
    if not asked:
        return colour_limits(maps)
    if len(asked) != 2 or not asked[0] < asked[1]:
        raise InputError("The limits of the colour scale are two numbers, the lower one first.")
    return float(asked[0]), float(asked[1])


def _difference(order: Order, style: PaperStyle) -> MadeFigure:
    model, atlas, options = model_of(order), order.measured.atlas, order.options
    between = _two_groups(order, model)
    layer, head = chosen_part(order, model)
    regions, _ = regions_by(model, atlas, options["order"])
    first, second = (select_attention(model.groups.attention[group], layer=layer, head=head) for group in between)
    difference, connectivity = second - first, model.groups.connectivity
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
        connectivity=map_correlation(difference, connectivity[between[1]] - connectivity[between[0]]),
        simulated=model.simulated,
    )
    numbers = matrix_numbers(np.asarray(difference, dtype=np.float64), atlas.regions, regions)
    words = _tested(order, model) if tests is not None else model_words(order, model)
    return MadeFigure(figure, numbers, caption, **words)


def _contrast(order: Order, style: PaperStyle) -> MadeFigure:
    model = model_of(order)
    contrast = model.groups.contrast
    title = f"Module contrast of attention, {model.name}"
    figure = contrast_points(contrast, title=title, simulated=model.simulated, style=style)
    tests = all_block_tests(model.groups.tests, model.groups.n)
    rows = [
        {"group": group, "layer": layer + 1, "head": head + 1, "within / between": float(ratio)}
        for group, ratios in contrast.items()
        for (layer, head), ratio in np.ndenumerate(ratios)
    ]
    caption = contrast_caption(model.name, contrast, tests, **contrast_of_card(model.card), simulated=model.simulated)
    words = _tested(order, model, blocks=False) if tests else model_words(order, model)
    return MadeFigure(figure, pd.DataFrame(rows), caption, **words)


def _blocks(order: Order, style: PaperStyle) -> MadeFigure:
    model = model_of(order)
    between = _two_groups(order, model)
    tests = block_tests(model.groups.tests, between, model.groups.n)
    if tests is None:
        raise InputError(f"{between[0]} and {between[1]} were not compared when model {model.name} was made.")
    blocks = blocks_in_order(tests.blocks, order.measured.atlas)
    figure = block_effects(
        blocks,
        title=f"Module blocks, {between[1]} against {between[0]}",
        simulated=model.simulated,
        style=style,
    )
    means = [f"mean_{group}" for group in between]
    effects = [f"{name}{ending}" for ending in adjustments(blocks).values() for name in EFFECT_COLUMNS]
    numbers = blocks[["feature", "module", "other_module", *means, *effects]]
    return MadeFigure(
        figure, numbers, effects_caption(model.name, tests, simulated=model.simulated), **_tested(order, model)
    )


_SHOWN: Mapping[str, Plain] = {"order": "dosenbach", "layer": 0, "head": 0}
_BETWEEN: Mapping[str, Plain] = {"first": "", "second": ""}
MODEL_FIGURES: Mapping[str, Recipe] = {
    "attention_maps": Recipe("Attention of groups", _maps, {**_SHOWN, "limits": ()}, of_subject=False),
    "attention_difference": Recipe("Difference of attention", _difference, {**_SHOWN, **_BETWEEN}, of_subject=False),
    "attention_contrast": Recipe("Attention within and between modules", _contrast, {}, of_subject=False),
    "attention_blocks": Recipe("Attention between modules, tested", _blocks, _BETWEEN, of_subject=False),
}
