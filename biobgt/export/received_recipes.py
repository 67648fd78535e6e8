"""The recipe of attention received: which regions of the brain a trained model's groups look at."""

from collections.abc import Mapping

import pandas as pd

from biobgt.errors import InputError
from biobgt.export.hub_recipes import places_of
from biobgt.export.making import MadeFigure, Order, Recipe
from biobgt.export.model_recipes import chosen_part, model_of, model_words
from biobgt.figures.attention import RECEIVED
from biobgt.figures.attention_captions import attention_part, received_caption
from biobgt.figures.paper import glass_brain
from biobgt.figures.paper.style import PaperStyle
from biobgt.model.attention_views import attention_received, select_attention, strongest_regions


def _received(order: Order, style: PaperStyle) -> MadeFigure:
    model, atlas = model_of(order), order.measured.atlas
    sizes = model.groups.n
    group = order.options["group"] or next(iter(sizes))
    if group not in sizes:
        raise InputError(f"Model {model.name} has no group '{group}'; choose one of {', '.join(sizes)}.")
    layer, head = chosen_part(order, model)
    received = attention_received(select_attention(model.groups.attention[group], layer=layer, head=head))
    places = places_of(atlas)
    figure = glass_brain(
        places,
        atlas.regions,
        sizes=received,
        values=received,
        quantity=RECEIVED,
        title=f"Attention received, {group}, {model.name}",
        simulated=model.simulated,
        style=style,
    )
    caption = received_caption(
        model.name,
        f"{sizes[group]:,} {group}",
        strongest_regions(received, atlas.regions),
        part=attention_part(layer, head),
        where="nilearn's glass brain",
        received=received,
        simulated=model.simulated,
    )
    numbers = pd.DataFrame({"region": atlas.regions, "x": places[:, 0], "y": places[:, 1], "z": places[:, 2]})
    words = model_words(order, model)
    words["citations"] = (*words["citations"], "abraham2014")
    return MadeFigure(figure, numbers.assign(**{"attention received": received}), caption, **words)


RECEIVED_FIGURES: Mapping[str, Recipe] = {
    "attention_received": Recipe(
        "Attention received, in the brain", _received, {"group": "", "layer": 0, "head": 0}, of_subject=False
    ),
}
