"""What pages show beyond the view of the sidebar: orders, layers, groups, kinds of brain, as an address names them.

Only what differs from the default stands in an address, so that it stays short, and nothing of a user's own subjects:
their groups and the labels of their atlas are theirs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st
from link_values import Value, as_text, instead, read_choices, read_seed
from loaded import View
from model_results import ATLAS_ORDER, LOUVAIN, atlas_of, card_of, chosen_model, fitting_model, model_names
from state import (
    ATTENTION_GROUPS,
    ATTENTION_HEAD,
    ATTENTION_LAYER,
    ATTENTION_ORDER,
    BRAIN_EDGES,
    BRAIN_KIND,
    BRAIN_KINDS,
    BRAIN_SHOWN,
    COMPARED_GROUPS,
    CURVE_ORDER,
    CURVE_ORDERS,
    CURVE_REGION_CHOICES,
    CURVE_REGIONS,
    CURVE_SCALE,
    CURVE_SCALES,
    CURVE_SEED,
    EDGE_NUMBERS,
    FEWEST_COMPARED,
    GROUP_BEHIND,
    GROUP_BRAIN,
    HUB_BRAINS,
    LARGEST_SEED,
    MATRICES,
    MATRIX_SHOWN,
    MODELS_SHOWN,
    OWN,
    OWN_ATTENTION,
    PROBABILITY_OF,
    RECEIVED_BRAIN,
    RECEIVED_GROUP,
    REGION_ORDER,
)

from biobgt import Cohort

# Those that are one of a list, whatever is looked at; the first is the default.
_ALWAYS: Mapping[str, Sequence[Value]] = {
    MATRIX_SHOWN: MATRICES,
    CURVE_SCALE: CURVE_SCALES,
    CURVE_REGIONS: CURVE_REGION_CHOICES,
    GROUP_BEHIND: (False, True),
    BRAIN_SHOWN: HUB_BRAINS,
    BRAIN_KIND: BRAIN_KINDS,
    BRAIN_EDGES: EDGE_NUMBERS,
    GROUP_BRAIN: BRAIN_KINDS,
    RECEIVED_BRAIN: BRAIN_KINDS,
    OWN_ATTENTION: (False, True),
}
PAGE_CHOICES = (
    *_ALWAYS,
    *(REGION_ORDER, CURVE_ORDER, CURVE_SEED, *COMPARED_GROUPS),
    *(MODELS_SHOWN, ATTENTION_ORDER, ATTENTION_LAYER, ATTENTION_HEAD, *ATTENTION_GROUPS, RECEIVED_GROUP),
    PROBABILITY_OF,
)


@dataclass(frozen=True)
class _Offer:
    """What a page lets choose, and what it shows where nothing was chosen."""

    allowed: Sequence[Value]
    default: Value


def read_pages(
    params: Mapping[str, str], cohort: Cohort, model: str, problems: list[str]
) -> dict[str, Value | list[str]]:
    """Read what pages shall show of a cohort, and of a model or of the one that fits; what is not said stays unsaid."""
    asked = {name: params[name] for name in PAGE_CHOICES if name in params}
    if not asked:
        return {}
    model = model if model in model_names() else fitting_model(cohort)
    offers = _offers(cohort, model)
    if CURVE_SEED in asked:
        offers[CURVE_SEED] = _Offer(read_seed(asked[CURVE_SEED], LARGEST_SEED), 0)
    known = {name: offer for name, offer in offers.items() if name in asked}
    read = read_choices(
        asked,
        {name: offer.default for name, offer in known.items()},
        {name: offer.allowed for name, offer in known.items()},
        problems,
    )
    values: dict[str, Value | list[str]] = dict(zip(known, read, strict=True))
    if MODELS_SHOWN in asked:
        values[MODELS_SHOWN] = _read_models(asked[MODELS_SHOWN], model, problems)
    return values


def link_of_pages(view: View) -> dict[str, str]:
    """Write what pages show, where it is not the default, as the parameters of an address."""
    if view.loaded.key == OWN:
        return {}
    model, said = chosen_model(view), {}
    for name, offer in _offers(view.cohort, model).items():
        value = st.session_state.get(name, offer.default)
        if value != offer.default and value in offer.allowed:
            said[name] = as_text(value)
    shown = st.session_state.get(MODELS_SHOWN)
    if shown and list(shown) != models_in_order(model):
        said[MODELS_SHOWN] = ",".join(shown)
    return said


def models_in_order(chosen: str) -> list[str]:
    """All models, the chosen one first, as the page of attention shows them."""
    names = model_names()
    return sorted(names, key=lambda name: name != chosen)


def _offers(cohort: Cohort, model: str) -> dict[str, _Offer]:
    """What pages offer; choices that such a cohort or model does not leave are not among it."""
    offers = {name: _Offer(values, values[0]) for name, values in _ALWAYS.items()}
    orders = [*cohort.atlas.labels, ATLAS_ORDER]
    offers[REGION_ORDER] = _Offer(orders, orders[0])
    offers[CURVE_ORDER] = _Offer([*CURVE_ORDERS, *cohort.atlas.labels], CURVE_ORDERS[0])
    offers[CURVE_SEED] = _Offer(range(LARGEST_SEED + 1), 0)
    groups = [group for group, size in cohort.group_people.items() if size >= FEWEST_COMPARED]
    offers |= {name: _Offer(groups, default) for name, default in zip(COMPARED_GROUPS, groups, strict=False)}
    return offers | (_model_offers(model or model_names()[0]) if model_names() else {})


def _model_offers(model: str) -> dict[str, _Offer]:
    cards = [card_of(name) for name in model_names()]
    layers, heads = (max(card["preset"][part] for card in cards) for part in ("layers", "heads"))
    orders, groups = [*atlas_of(model).labels, LOUVAIN, ATLAS_ORDER], card_of(model)["groups"]
    return {
        ATTENTION_ORDER: _Offer(orders, orders[0]),
        ATTENTION_LAYER: _Offer(range(layers + 1), 0),
        ATTENTION_HEAD: _Offer(range(heads + 1), 0),
        **{name: _Offer(groups, default) for name, default in zip(ATTENTION_GROUPS, groups, strict=False)},
        RECEIVED_GROUP: _Offer(groups, groups[0]),
        PROBABILITY_OF: _Offer(groups, groups[-1]),
    }


def _read_models(text: str, chosen: str, problems: list[str]) -> list[str]:
    """Read which models are shown; names without a model are named, the others are shown."""
    names = [name for name in dict.fromkeys(text.split(",")) if name in model_names()]
    if names and ",".join(names) == text:
        return names
    shown = names or models_in_order(chosen)
    problems.append(instead(MODELS_SHOWN, text, ", ".join(shown) or "none"))
    return shown
